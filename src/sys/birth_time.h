/* birth_time.h - when a file was made, which stat(2) does not tell. */
#ifndef SB_SYS_BIRTH_TIME_H
#define SB_SYS_BIRTH_TIME_H

#include <time.h>

/*
 * No program can change it: statx(2).  0, or a negative errno; -ENODATA: this filesystem
 * does not keep it.
 */
int sb_sys_birth(int fd, struct timespec *out);

#endif
