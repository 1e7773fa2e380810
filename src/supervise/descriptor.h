/*
 * descriptor.h - what the kernel calls a descriptor of ours.
 */
#ifndef SB_SUPERVISE_DESCRIPTOR_H
#define SB_SUPERVISE_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The kernel's name for a descriptor of ours, absolute; or a negative errno.  -ENODATA: it has none, as
 * pipes have none; -ENAMETOOLONG: it has one that we cannot decide about.  Whoever wants many calls
 * begin once: one name to look up instead of three.  Not before a fork: each process has its own.
 */
int sb_descriptor_paths_begin(int proc);
int sb_descriptor_path(int proc, int fd, char *out, size_t size);

/* Is "/proc" a procfs for those who call?  Nobody who is held mounts anything; known from paths_begin on. */
bool sb_callers_have_procfs(void);

bool sb_is_procfs(int fd);

#endif
