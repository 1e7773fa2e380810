/*
 * linux_ioctls.c - the table of file systems' ioctls.
 *
 * SECURITY: of what a file system does by ioctl() only what is listed here goes on.
 *
 * Danger: one call makes a whole tree (btrfs and bcachefs subvolumes and snapshots: a prepared
 * one becomes `.git`, a copy of the home directory shows what mounts hide), a file of another
 * name (ocfs2 reflink), opens by handle (XFS), swaps contents of two files, freezes a file system
 * or sends raw requests to a file server (cifs).  What comes next year nobody knows, so a list of
 * bad commands would always miss one.
 *
 * A filter sees the command and not what the descriptor is.  So it goes by the type of a command,
 * bits 8 to 15 (ioctl-number.rst of the kernel): types of file systems are refused but for the
 * commands below; types of terminals, sockets and devices are left alone, since Landlock holds
 * devices (ABI 5).  Of types that both use, the numbers that a file system has are refused.
 *
 * What is allowed changes nothing (queries), or only what the descriptor is open for, as write()
 * could (clone, preallocate).
 *
 * Price: no defragmenting, snapshots, quotas, encryption policies from inside.  A FUSE file system
 * may give any number a meaning of its own; those of other types reach its server.
 * Held by: tests/enforce/ioctls.py, tests/unit/test_filter.c
 */
#include "enforce/linux_ioctls.h"

#include <errno.h>
#include <linux/btrfs.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/msdos_fs.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "base/each.h"

#define ALLOWED(command)                                                                           \
	{                                                                                          \
		SYS_ioctl, SECCOMP_RET_ALLOW, 0,                                                   \
		{                                                                                  \
			{                                                                          \
				SB_FILTER_EQUAL, 1, (command)                                      \
			}                                                                          \
		}                                                                                  \
	}

/* All commands of a type; or those whose number begins with the bits that mask leaves. */
#define REFUSED_AMONG(type, number, mask)                                                          \
	{                                                                                          \
		SYS_ioctl, SECCOMP_RET_ERRNO | EPERM, 0,                                           \
		{                                                                                  \
			{                                                                          \
				SB_FILTER_MASKED, 1, SB_IOCTL_AMONG(type, number, mask)            \
			}                                                                          \
		}                                                                                  \
	}
#define REFUSED(type) REFUSED_AMONG(type, 0, 0)

/* By direction, type, number and size of the argument: some are newer than the headers. */
#define QUERY(type, number, size) ALLOWED(_IOC(_IOC_READ, type, number, size))
#define SET(type, number, size) ALLOWED(_IOC(_IOC_WRITE, type, number, size))
#define BOTH(type, number, size) ALLOWED(_IOC(_IOC_READ | _IOC_WRITE, type, number, size))

/* For SB_NAMED(). */
#define EACH(command, none, neither) ALLOWED(command)
#define SETS(number, type, size) SET(type, number, size)

const struct sb_filter_row sb_file_ioctls[] = {
	/* Terminals, pipes and the flags of a descriptor: by far the most.  So they come first. */
	{SYS_ioctl, SECCOMP_RET_ALLOW, 0, {{SB_FILTER_MASKED, 1, SB_IOCTL_TYPE('T')}}},

	/* Every file system's, through the VFS. */
	SB_NAMED(EACH, , , FS_IOC_GETFLAGS, FS_IOC_FIEMAP, FS_IOC_GETVERSION, FS_IOC_FSGETXATTR,
		 FS_IOC_GETFSLABEL),
	SB_NAMED(EACH, , , FICLONE, FICLONERANGE), /* to a descriptor that is open for writing */
	ALLOWED(SB_IOCTL_DEDUPE), /* nobody's contents change; without mounts refused, too */
	/* FS_IOC_RESVSP and what is like it: fallocate() by other names */
	SB_NAMED(SETS, 'X', 48, 40, 41, 42, 43, 57),
	QUERY(0x15, 0, 17),  /* FS_IOC_GETFSUUID */
	QUERY(0x15, 1, 129), /* FS_IOC_GETFSSYSFSPATH */
	/* Changes of flags.  Where mounts do not hold them, rows before these refuse. */
	SB_NAMED(EACH, , , SB_IOCTL_SETFLAGS, SB_IOCTL_SETXATTR, SB_IOCTL_SETVERSION,
		 SB_IOCTL_SETVERSION4, SB_IOCTL_ENABLE_VERITY),

	/* 'f' is ext4's, and shared by encryption, verity and procfs. */
	QUERY('f', 3, 8),   /* EXT4_IOC_GETVERSION */
	SET('f', 41, 4),    /* EXT4_IOC_GETSTATE */
	BOTH('f', 42, 32),  /* EXT4_IOC_GET_ES_CACHE */
	QUERY('f', 44, 8),  /* EXT4_IOC_GETFSUUID */
	SET('f', 21, 12),   /* FS_IOC_GET_ENCRYPTION_POLICY */
	BOTH('f', 22, 9),   /* FS_IOC_GET_ENCRYPTION_POLICY_EX */
	BOTH('f', 26, 128), /* FS_IOC_GET_ENCRYPTION_KEY_STATUS */
	BOTH('f', 134, 4),  /* FS_IOC_MEASURE_VERITY */
	BOTH('f', 135, 40), /* FS_IOC_READ_VERITY_METADATA */
	BOTH('f', 16, 96),  /* PAGEMAP_SCAN: /proc/PID/pagemap */
	BOTH('f', 17, 104), /* PROCMAP_QUERY: /proc/PID/maps */

	QUERY('X', 30, 12),   /* XFS_IOC_DIOINFO: what databases and emulators ask for */
	BOTH('X', 38, 32),    /* XFS_IOC_GETBMAP */
	BOTH('X', 56, 48),    /* XFS_IOC_GETBMAPX */
	QUERY('X', 45, 28),   /* XFS_IOC_FSGETXATTRA */
	QUERY('X', 100, 112), /* XFS_IOC_FSGEOMETRY_V1 */
	QUERY('X', 126, 256), /* XFS_IOC_FSGEOMETRY */

	ALLOWED(BTRFS_IOC_INO_LOOKUP), /* without rights: only which subvolume this is */
	SB_NAMED(EACH, , , BTRFS_IOC_SUBVOL_GETFLAGS, BTRFS_IOC_GET_SUBVOL_INFO, BTRFS_IOC_FS_INFO,
		 BTRFS_IOC_DEV_INFO, BTRFS_IOC_SPACE_INFO, BTRFS_IOC_GET_FEATURES),

	SB_NAMED(EACH, , , VFAT_IOCTL_READDIR_BOTH, VFAT_IOCTL_READDIR_SHORT,
		 FAT_IOCTL_GET_ATTRIBUTES, FAT_IOCTL_GET_VOLUME_ID),

	QUERY(0xf5, 12, 4), /* F2FS_IOC_GET_FEATURES: sqlite asks */
	QUERY(0xf5, 14, 4), /* F2FS_IOC_GET_PIN_FILE */
	QUERY(0x97, 1, 40), /* CEPH_IOC_GET_LAYOUT */
	QUERY(0x83, 1, 8),  /* ZFS_IOC_GETDOSFLAGS */

	REFUSED('f'),
	REFUSED('X'),  /* XFS, and freezing and trimming any */
	REFUSED(0x94), /* btrfs */
	REFUSED('r'),  /* FAT and what stands in for it */
	REFUSED(0x15),
	REFUSED(0x83), /* ZFS */
	REFUSED(0x93), /* autofs */
	REFUSED(0x97), /* Ceph */
	REFUSED(0xbc), /* bcachefs */
	REFUSED(0xcd), /* reiserfs */
	REFUSED(0xcf), /* SMB */
	REFUSED(0xf5), /* F2FS */
	/* shared with devices: media ('v', 'o'), clocks ('h'), graphics ('n') */
	REFUSED_AMONG('v', 0x00, 0xe0), /* the VFS */
	REFUSED_AMONG('o', 0x00, 0xe0), /* ocfs2 */
	REFUSED_AMONG('n', 0x80, 0xe0), /* nilfs2 */
	REFUSED_AMONG('h', 0x80, 0xf0), /* HFS+ */
	REFUSED_AMONG('l', 0x40, 0xc0), /* UDF */
};

const size_t sb_file_ioctl_count = sizeof sb_file_ioctls / sizeof sb_file_ioctls[0];
_Static_assert(sizeof sb_file_ioctls / sizeof sb_file_ioctls[0] <= SB_FILE_IOCTLS_MAX,
	       "whoever makes a list of rows has room for these");
