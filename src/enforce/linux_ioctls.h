/*
 * linux_ioctls.h - what may be asked of a file system by ioctl().
 *
 * An ioctl on a file or a directory reaches its file system past everything else: Landlock rules
 * those on devices alone, no broker sees it, and a mount holds only what is written through it.
 */
#ifndef SB_ENFORCE_LINUX_IOCTLS_H
#define SB_ENFORCE_LINUX_IOCTLS_H

#include <stddef.h>

#include "enforce/linux_filter.h"

/* For every kind of run, behind the rows that refuse more.  Their when is 0. */
extern const struct sb_filter_row sb_file_ioctls[];
extern const size_t sb_file_ioctl_count;
#define SB_FILE_IOCTLS_MAX 80

/* What SB_FILTER_MASKED compares with: a type, and the bits of a number that mask has. */
#define SB_IOCTL_AMONG(type, number, mask)                                                         \
	((0xff00u | (mask)) << 16 | (uint32_t)(type) << 8 | (number))
#define SB_IOCTL_TYPE(type) SB_IOCTL_AMONG(type, 0, 0)

#define SB_IOCTL_GETFLAGS 0x80086601u /* FS_IOC_GETFLAGS */
/* The commands that change a file's flags: refused where no mount holds them. */
#define SB_IOCTL_SETFLAGS 0x40086602u      /* FS_IOC_SETFLAGS */
#define SB_IOCTL_SETXATTR 0x401c5820u      /* FS_IOC_FSSETXATTR */
#define SB_IOCTL_SETVERSION 0x40087602u    /* FS_IOC_SETVERSION */
#define SB_IOCTL_SETVERSION4 0x40086604u   /* EXT4_IOC_SETVERSION, the same */
#define SB_IOCTL_ENABLE_VERITY 0x40806685u /* FS_IOC_ENABLE_VERITY: never writable again */
#define SB_IOCTL_DEDUPE 0xc0189436u        /* FIDEDUPERANGE: the blocks of a file */

#endif
