/*
 * Whoever makes a user namespace inside ours has all capabilities there, but cannot
 * undo our mounts: they came from a more privileged mount namespace and are locked.
 */
#include "fact.h"

static int (*the_act)(void);

static int write_outside(void)
{
	return write_text("outside/file", "x");
}

static int remount(void)
{
	return mount(NULL, "outside", NULL, MS_REMOUNT | MS_BIND, NULL) < 0 ? errno : 0;
}

static int setattr(void)
{
	return mount_setattr_at(AT_FDCWD, "outside", 0, 0, FACT_ATTR_RDONLY);
}

static int unmount(void)
{
	return umount2("outside", MNT_DETACH) < 0 ? errno : 0;
}

static int rebind(void)
{
	if (mount("outside", "other", NULL, MS_BIND, NULL) < 0)
		return broken("bind");
	return mount(NULL, "other", NULL, MS_REMOUNT | MS_BIND, NULL) < 0 ? errno : 0;
}

static int own_tmpfs(void)
{
	if (mount("none", "other", "tmpfs", 0, NULL) < 0)
		return errno;
	return write_text("other/file", "x");
}

static int nested(void)
{
	if ((errno = enter_namespaces(CLONE_NEWNS)) || (errno = bind_self("outside", true)))
		return broken("namespaces");
	if ((errno = enter_namespaces(CLONE_NEWNS)))
		return broken("nested namespaces");
	return the_act();
}

static int try(int (*act)(void))
{
	the_act = act;
	return attempt(nested);
}

int main(void)
{
	need_mounts();
	fact_dir();
	mkdir("outside", 0755);
	mkdir("other", 0755);
	write_text("outside/file", "old");

	expect(try(own_tmpfs), 0, "the nested one can mount things of its own");
	expect(try(write_outside), EROFS, "our read-only mount holds there");
	expect(try(remount), EPERM, "remounting it writable");
	expect(try(setattr), EPERM, "mount_setattr to writable");
	expect(try(unmount), EINVAL, "unmounting it");
	expect(try(rebind), EPERM, "binding it elsewhere and making that writable");
	return fact_done();
}
