/*
 * mount_setattr(AT_RECURSIVE, RDONLY) in a private namespace refuses with EROFS what
 * Landlock lets through: metadata, by path and by descriptor.  A root cloned with
 * open_tree() before and moved onto its place afterwards stays writable, and reading
 * and device files still work.
 */
#include "fact.h"

#include <sys/xattr.h>

static int (*the_act)(void);

static int write_outside(void)
{
	return write_text("outside/file", "x");
}

static int create_outside(void)
{
	return write_text("outside/new", "x");
}

static int chmod_outside(void)
{
	return chmod("outside/file", 0600) < 0 ? errno : 0;
}

static int chown_outside(void)
{
	return chown("outside/file", getuid(), getgid()) < 0 ? errno : 0;
}

static int touch_outside(void)
{
	return utimensat(AT_FDCWD, "outside/file", NULL, 0) < 0 ? errno : 0;
}

static int label_outside(void)
{
	return setxattr("outside/file", "user.fact", "1", 1, 0) < 0 ? errno : 0;
}

static int chmod_descriptor(void)
{
	int fd = open("outside/file", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return broken("open for reading");
	return fchmod(fd, 0600) < 0 ? errno : 0;
}

static int write_root(void)
{
	return write_text("root/file", "x");
}

static int chmod_root(void)
{
	return chmod("root/file", 0600) < 0 ? errno : 0;
}

static int write_null(void)
{
	return write_text("/dev/null", "x");
}

static int confined(void)
{
	int tree;

	if ((errno = enter_namespaces(CLONE_NEWNS)))
		return broken("namespaces");
	tree = (int)syscall(NR_OPEN_TREE, AT_FDCWD, "root", OPEN_TREE_CLONE | O_CLOEXEC);
	if (tree < 0)
		return broken("open_tree");
	if ((errno = all_read_only()))
		return broken("mount_setattr");
	if (syscall(NR_MOVE_MOUNT, tree, "", AT_FDCWD, "root", FACT_MOVE_F_EMPTY_PATH) < 0)
		return broken("move_mount");
	return the_act();
}

static int try(int (*act)(void))
{
	the_act = act;
	return attempt(confined);
}

int main(void)
{
	need_mounts();
	fact_dir();
	mkdir("root", 0755);
	mkdir("outside", 0755);
	write_text("root/file", "old");
	write_text("outside/file", "old");

	expect(try(write_outside), EROFS, "a write outside");
	expect(try(create_outside), EROFS, "a new file outside");
	expect(try(chmod_outside), EROFS, "chmod outside");
	expect(try(chown_outside), EROFS, "chown outside");
	expect(try(touch_outside), EROFS, "setting times outside");
	expect(try(label_outside), EROFS, "setxattr outside");
	expect(try(chmod_descriptor), EROFS, "fchmod of a read-only descriptor");
	expect(try(write_root), 0, "a write in the root works");
	expect(try(chmod_root), 0, "chmod in the root works");
	expect(try(write_null), 0, "/dev/null works");
	return fact_done();
}
