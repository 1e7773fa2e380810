/*
 * linux_place.h - from a path to a place on the real filesystem.
 *
 * What lies beneath the start is found by the kernel in one step (openat2 with BENEATH and
 * NO_MAGICLINKS); all else by walking name by name on O_PATH descriptors, following links
 * ourselves: absolute links, other spellings of a root, paths outside, old kernels.  Neither
 * opens anything for reading.  Where it led is told by the kernel (/proc/self/fd), so the two
 * need not agree on anything: what counts is what is held in the end.
 *
 * Links of /proc are never followed: they lead to what a process has open.
 */
#ifndef SB_FILES_LINUX_PLACE_H
#define SB_FILES_LINUX_PLACE_H

#include "files/backend.h"

int sb_place_find(const struct sb_root *start, const char *path, unsigned flags,
		  struct sb_place *out);

/* The name of a descriptor, canonical; -ESTALE: it has none any more. */
int sb_place_kernel_name(int fd, char out[PATH_MAX]);

/* name in a directory whose path is known: sets out->path, or -ENAMETOOLONG. */
int sb_place_join(struct sb_place *out, const char *directory, const char *name);

/*
 * Does what is held still have the path that was decided about?  Asked right before an act: a
 * directory that was moved meanwhile may lie where other rules hold.
 */
bool sb_place_is_named(const struct sb_place *place);

/* What is at place->name in place->directory; fills object, exists and facts. */
int sb_place_look(struct sb_place *place);

struct sb_sys_file;
void sb_disk_facts(const struct sb_sys_file *file, struct sb_facts *out);

void sb_place_release(struct sb_place *place);

#endif
