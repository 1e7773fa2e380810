/*
 * act_ioctls.c - what a file system does by ioctl(), past all rules about names and contents.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <linux/fs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "act.h"

/* ioctl FILE COMMAND: any command, with a page of zeros.  All 64 bits of it go to the kernel. */
static int do_ioctl(char **arguments)
{
	static uint64_t zeros[8192] __attribute__((aligned(4096)));
	int fd = file(arguments[0], O_RDONLY | O_NONBLOCK);
	char *end;
	unsigned long command = strtoul(arguments[1], &end, 0);

	if (fd < 0 || *end)
		die(arguments[0]);
	return zero(syscall(SYS_ioctl, fd, command, zeros));
}

/* btrfs HOW SOURCE DIRECTORY NAME: make DIRECTORY/NAME, a copy of the subvolume SOURCE or empty. */
static int do_btrfs(char **arguments)
{
	const char *how = arguments[0];
	int source = open(arguments[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int directory = open(arguments[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct btrfs_ioctl_vol_args old = {.fd = source};
	struct btrfs_ioctl_vol_args_v2 new = {.fd = source};

	if (source < 0 || directory < 0)
		return -1;
	snprintf(old.name, sizeof old.name, "%s", arguments[3]);
	snprintf(new.name, sizeof new.name, "%s", arguments[3]);
	if (strcmp(how, "snapshot") == 0)
		return ioctl(directory, BTRFS_IOC_SNAP_CREATE, &old);
	if (strcmp(how, "snapshot2") == 0)
		return ioctl(directory, BTRFS_IOC_SNAP_CREATE_V2, &new);
	old.fd = new.fd = 0;
	if (strcmp(how, "subvolume") == 0)
		return ioctl(directory, BTRFS_IOC_SUBVOL_CREATE, &old);
	if (strcmp(how, "subvolume2") == 0)
		return ioctl(directory, BTRFS_IOC_SUBVOL_CREATE_V2, &new);
	if (strcmp(how, "destroy") == 0)
		return ioctl(directory, BTRFS_IOC_SNAP_DESTROY, &old);
	errno = EINVAL;
	die(how);
	return -1;
}

/* dedupe SOURCE TARGET: let the first 64 KiB of TARGET be those of SOURCE, which are the same.  Both are opened
 * for reading. */
static int do_dedupe(char **arguments)
{
	union {
		struct file_dedupe_range range;
		char room[sizeof(struct file_dedupe_range) + sizeof(struct file_dedupe_range_info)];
	} asked = {.range = {.src_length = 65536, .dest_count = 1}};
	int source = open(arguments[0], O_RDONLY | O_CLOEXEC);

	asked.range.info[0].dest_fd = open(arguments[1], O_RDONLY | O_CLOEXEC);
	if (source < 0 || asked.range.info[0].dest_fd < 0 ||
	    ioctl(source, FIDEDUPERANGE, &asked.range) != 0)
		return -1;
	errno = asked.range.info[0].status < 0 ? -asked.range.info[0].status : 0;
	return errno ? -1 : 0;
}

const struct act ioctl_acts[] = {
	{"ioctl", 2, do_ioctl},
	{"btrfs", 4, do_btrfs},
	{"dedupe", 2, do_dedupe},
	{NULL, 0, NULL},
};
