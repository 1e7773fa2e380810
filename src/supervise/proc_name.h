/*
 * proc_name.h - names in /proc, for the calls that every held one needs, and what the kernel calls a descriptor of ours.
 *
 * Why not snprintf(): two of these names took a fifth of the time that the broker itself spends on
 * a small file (docs/performance.md).
 */
#ifndef SB_SUPERVISE_PROC_NAME_H
#define SB_SUPERVISE_PROC_NAME_H

#include <stdbool.h>
#include <stddef.h>

#define SB_PROC_NAME 48 /* room for any of them */

/* "self/fd/NUMBER" */
const char *sb_proc_self_fd(char out[SB_PROC_NAME], int number);
/* "THREAD/cwd" */
const char *sb_proc_cwd(char out[SB_PROC_NAME], int thread);
/* "THREAD/fd/NUMBER" */
const char *sb_proc_fd(char out[SB_PROC_NAME], int thread, int number);

/* The number of "/proc/self/fd/NUMBER"; -1: it is another path. */
int sb_proc_named_fd(const char *path);

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
