/*
 * A read-only bind on a directory protects it, but not its name: renaming the parent
 * succeeds and a fresh one can be put in its place.  When the parent is a mount point
 * itself (bound onto itself, writable), renaming it is EBUSY, and so is removing it.
 */
#include "fact.h"

static bool pinned;

static int prepare(void)
{
	if ((errno = enter_namespaces(CLONE_NEWNS)))
		return broken("namespaces");
	if (pinned && (errno = bind_self("repo", false)))
		return broken("bind of the ancestor");
	if ((errno = bind_self("repo/hooks", true)))
		return broken("read-only bind");
	return 0;
}

static int write_leaf(void)
{
	int result = prepare();

	return result ? result : write_text("repo/hooks/evil", "x");
}

static int rename_leaf(void)
{
	int result = prepare();

	if (result)
		return result;
	return rename("repo/hooks", "repo/away") < 0 ? errno : 0;
}

static int rename_parent(void)
{
	int result = prepare();

	if (result)
		return result;
	if (rename("repo", "away") < 0)
		return errno;
	if (mkdir("repo", 0755) < 0 || mkdir("repo/hooks", 0755) < 0)
		result = broken("mkdir of the fresh one");
	else
		result = write_text("repo/hooks/evil", "x");
	unlink("repo/hooks/evil");
	rmdir("repo/hooks");
	rmdir("repo");
	return rename("away", "repo") < 0 ? broken("rename back") : result;
}

static int write_beside(void)
{
	int result = prepare();

	return result ? result : write_text("repo/HEAD", "x");
}

int main(void)
{
	need_mounts();
	fact_dir();
	mkdir("repo", 0755);
	mkdir("repo/hooks", 0755);

	expect(attempt(write_leaf), EROFS, "the bound directory is read-only");
	expect(attempt(rename_leaf), EBUSY, "a mount point cannot be renamed");
	expect(attempt(rename_parent), 0, "its parent can: the protection is walked around");
	pinned = true;
	expect(attempt(rename_parent), EBUSY, "a parent that is a mount point cannot");
	expect(attempt(write_leaf), EROFS, "the leaf is still read-only");
	expect(attempt(write_beside), 0, "a file beside it can be written");
	return fact_done();
}
