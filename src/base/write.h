/*
 * write.h - all of some bytes, to a descriptor.
 */
#ifndef SB_BASE_WRITE_H
#define SB_BASE_WRITE_H

#include <stddef.h>

/* 0, or a negative errno; where it would have to wait, -EAGAIN. */
int sb_write_all(int fd, const void *bytes, size_t length);

#endif
