/*
 * write.h - all of some bytes, to a descriptor; all of a path, as directories.
 */
#ifndef SB_BASE_WRITE_H
#define SB_BASE_WRITE_H

#include <stddef.h>

struct sb_error;

/* 0, or a negative errno; where it would have to wait, -EAGAIN. */
int sb_write_all(int fd, const void *bytes, size_t length);

/* mkdir -p, whatever the umask; what is missing gets this mode.  An error is that one "cannot VERB" a directory. */
int sb_make_dirs(const char *dir, unsigned mode, const char *verb, struct sb_error *err);

#endif
