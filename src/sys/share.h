/*
 * share.h - memory that this process and those it forks later have in common.
 *
 * It lives as long as the last of them.  Several users get their parts of one mapping: the kernel makes a
 * file for each, which takes 10 us of a launch, and as long at its end.
 */
#ifndef SANDBASH_SYS_SHARE_H
#define SANDBASH_SYS_SHARE_H

#include <stddef.h>

/* Zeros, aligned for anything; pages that nobody touches cost nothing.  NULL: out of memory. */
void *sb_sys_share(size_t size);

#endif
