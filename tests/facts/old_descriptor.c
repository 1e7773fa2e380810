/*
 * A directory descriptor from before the namespace belongs to the old, writable mount:
 * openat() through it ignores the read-only mounts.  Landlock still refuses there, but
 * a file that was opened for writing before stays writable under both.  Hence
 * inherited descriptors are closed.
 */
#include "fact.h"

static bool with_landlock, with_file;

static int confined(void)
{
	static const char *const roots[] = {"inside", NULL};
	int directory = open("outside", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int file = open("outside/file", O_WRONLY | O_CLOEXEC);

	if (directory < 0 || file < 0)
		return broken("open");
	if ((errno = enter_namespaces(CLONE_NEWNS)) || (errno = all_read_only()))
		return broken("read-only mounts");
	if (with_landlock && (errno = landlock(LL_WRITES_ABI1, 0, roots)))
		return broken("Landlock");
	if (with_file)
		return write(file, "x", 1) == 1 ? 0 : errno;
	if (write_text("outside/file", "x") == 0)
		return FACT_BROKEN; /* by its path it must fail */
	file = openat(directory, "file", O_WRONLY | O_CLOEXEC);
	return file < 0 ? errno : 0;
}

int main(void)
{
	need_landlock(1);
	need_mounts();
	fact_dir();
	mkdir("inside", 0755);
	mkdir("outside", 0755);
	write_text("outside/file", "old");

	expect(attempt(confined), 0, "an old directory descriptor leads around read-only mounts");
	with_landlock = true;
	expect(attempt(confined), EACCES, "Landlock refuses through it");
	with_file = true;
	expect(attempt(confined), 0, "a file opened for writing before stays writable");
	return fact_done();
}
