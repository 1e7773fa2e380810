#include "sys/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The same numbers on every architecture: asm-generic. */
#define NR_OPEN_TREE 428
#define NR_MOVE_MOUNT 429
#define NR_FSOPEN 430
#define NR_FSCONFIG 431
#define NR_FSMOUNT 432
#define NR_MOUNT_SETATTR 442

#define AT_RECURSIVE_FLAG 0x8000u
#define PROPAGATION_PRIVATE (1u << 18)
#define DETACH_LAZILY 2

static int result(long value)
{
	return value < 0 ? -errno : (int)value;
}

int sb_sys_clone_tree(int dirfd, const char *path)
{
	return result(syscall(NR_OPEN_TREE, dirfd, path,
			      OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE_FLAG |
				      AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW));
}

int sb_sys_attach(int tree_fd, int target_fd)
{
	return result(syscall(NR_MOVE_MOUNT, tree_fd, "", target_fd, "",
			      MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH));
}

static int setattr(int dirfd, const char *path, unsigned flags, const struct mount_attr *attr)
{
	return result(syscall(NR_MOUNT_SETATTR, dirfd, path, flags, attr, sizeof *attr));
}

int sb_sys_make_readonly(int tree_fd)
{
	const struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};

	return setattr(tree_fd, "", AT_EMPTY_PATH | AT_RECURSIVE_FLAG, &attr);
}

int sb_sys_close_devices(int tree_fd)
{
	const struct mount_attr attr = {.attr_set = MOUNT_ATTR_NODEV};

	return setattr(tree_fd, "", AT_EMPTY_PATH | AT_RECURSIVE_FLAG, &attr);
}

int sb_sys_close_programs(int tree_fd)
{
	const struct mount_attr attr = {.attr_set = MOUNT_ATTR_NOEXEC};

	return setattr(tree_fd, "", AT_EMPTY_PATH | AT_RECURSIVE_FLAG, &attr);
}

int sb_sys_open_devices(int tree_fd)
{
	const struct mount_attr attr = {.attr_clr = MOUNT_ATTR_NODEV};

	return setattr(tree_fd, "", AT_EMPTY_PATH, &attr);
}

int sb_sys_cut_off(void)
{
	const struct mount_attr attr = {.propagation = PROPAGATION_PRIVATE};

	return setattr(AT_FDCWD, "/", AT_RECURSIVE_FLAG, &attr);
}

int sb_sys_settle_root(bool readonly, bool no_devices)
{
	const struct mount_attr attr = {.attr_set = (readonly ? MOUNT_ATTR_RDONLY : 0) |
						    (no_devices ? MOUNT_ATTR_NODEV : 0)};

	return setattr(AT_FDCWD, "/", AT_RECURSIVE_FLAG, &attr);
}

/* A new filesystem, not mounted anywhere; options are pairs of a name and a value. */
static int new_filesystem(const char *type, const char *const (*options)[2], unsigned attributes)
{
	int context = result(syscall(NR_FSOPEN, type, FSOPEN_CLOEXEC)), tree = 0;

	if (context < 0)
		return context;
	for (; (*options)[0] && tree >= 0; options++)
		tree = result(syscall(NR_FSCONFIG, context, FSCONFIG_SET_STRING, (*options)[0],
				      (*options)[1], 0));
	if (tree >= 0)
		tree = result(syscall(NR_FSCONFIG, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0));
	if (tree >= 0)
		tree = result(syscall(NR_FSMOUNT, context, FSMOUNT_CLOEXEC, attributes));
	close(context);
	return tree;
}

int sb_sys_new_tmpfs(const char *mode)
{
	const char *const options[][2] = {{"source", "sandbash"}, {"mode", mode}, {NULL, NULL}};

	return new_filesystem("tmpfs", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
}

int sb_sys_new_devpts(void)
{
	/* for its owner alone; /dev/ptmx may be a link to the one in it */
	static const char *const options[][2] = {
		{"mode", "0600"}, {"ptmxmode", "0666"}, {NULL, NULL}};

	return new_filesystem("devpts", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
}

int sb_sys_new_queues(void)
{
	static const char *const options[][2] = {{NULL, NULL}};

	return new_filesystem("mqueue", options, 0);
}

int sb_sys_detach(const char *path)
{
	return result(syscall(SYS_umount2, path, DETACH_LAZILY));
}

bool sb_sys_mounts_filtered(void)
{
	/* without OPEN_TREE_CLONE it needs no right: it is open() with O_PATH */
	int tree = result(syscall(NR_OPEN_TREE, AT_FDCWD, "/", OPEN_TREE_CLOEXEC));

	if (tree >= 0)
		close(tree);
	return tree < 0;
}

int sb_sys_mount_proc(const char *path, int pid_namespace)
{
	int context = result(syscall(NR_FSOPEN, "proc", FSOPEN_CLOEXEC)), tree, target, status;

	if (context < 0)
		return context;
	tree = pid_namespace < 0 ? 0
				 : result(syscall(NR_FSCONFIG, context, FSCONFIG_SET_FD, "pidns",
						  NULL, pid_namespace));
	if (tree >= 0)
		tree = result(syscall(NR_FSCONFIG, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0));
	if (tree >= 0)
		tree = result(syscall(NR_FSMOUNT, context, FSMOUNT_CLOEXEC,
				      MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
					      MOUNT_ATTR_NOEXEC));
	close(context);
	if (tree < 0)
		return tree;
	target = result(openat(AT_FDCWD, path, O_PATH | O_DIRECTORY | O_CLOEXEC));
	status = target < 0 ? target : sb_sys_attach(tree, target);
	close(tree);
	if (target >= 0)
		close(target);
	return status;
}
