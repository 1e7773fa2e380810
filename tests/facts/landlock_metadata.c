/*
 * Landlock refuses writes outside its roots but has no right for metadata: chmod,
 * times and extended attributes go through.  Hence the read-only mounts, and hence
 * a run without namespaces is called weaker.
 */
#include "fact.h"

#include <sys/xattr.h>

static int (*the_act)(const char *path);
static const char *the_path;

static int write_it(const char *path)
{
	return write_text(path, "changed");
}

static int chmod_it(const char *path)
{
	return chmod(path, 0600) < 0 ? errno : 0;
}

static int touch_it(const char *path)
{
	return utimensat(AT_FDCWD, path, NULL, 0) < 0 ? errno : 0;
}

static int label_it(const char *path)
{
	return setxattr(path, "user.fact", "1", 1, 0) < 0 ? errno : 0;
}

static int chmod_descriptor(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return broken("open for reading");
	return fchmod(fd, 0640) < 0 ? errno : 0;
}

static int confined(void)
{
	static const char *const roots[] = {"inside", NULL};
	int result = landlock(LL_WRITES_ABI1, 0, roots);

	if (result) {
		errno = result;
		return broken("Landlock");
	}
	return the_act(the_path);
}

static int try(int (*act)(const char *path), const char *path)
{
	the_act = act;
	the_path = path;
	return attempt(confined);
}

static int label_outside(void)
{
	return label_it("outside/file");
}

int main(void)
{
	need_landlock(1);
	fact_dir();
	mkdir("inside", 0755);
	mkdir("outside", 0755);
	write_text("inside/file", "old");
	write_text("outside/file", "old");

	expect(try(write_it, "inside/file"), 0, "a write inside works");
	expect(try(write_it, "outside/file"), EACCES, "a write outside is refused");
	expect(try(chmod_it, "outside/file"), 0, "chmod outside works: the hole");
	expect(try(chmod_descriptor, "outside/file"), 0, "fchmod of a read-only descriptor works");
	expect(try(touch_it, "outside/file"), 0, "setting times outside works");
	if (attempt(label_outside) == 0) /* not every filesystem has user attributes */
		expect(try(label_it, "outside/file"), 0, "setxattr outside works");
	return fact_done();
}
