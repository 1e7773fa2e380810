/*
 * O_TMPFILE makes a file without a name, so a rule about names could miss it; both
 * Landlock and a read-only mount refuse it in a directory outside.
 */
#include "fact.h"

static bool with_landlock, with_mount;
static const char *where;

static int open_tmpfile(void)
{
	static const char *const roots[] = {"inside", NULL};
	int fd;

	if (with_mount && ((errno = enter_namespaces(CLONE_NEWNS)) || (errno = all_read_only()) ||
			   (errno = bind_self("inside", false))))
		return broken("read-only mounts");
	if (with_landlock && (errno = landlock(LL_WRITES_ABI1, 0, roots)))
		return broken("Landlock");
	fd = open(where, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	return fd < 0 ? errno : 0;
}

int main(void)
{
	fact_dir();
	mkdir("inside", 0755);
	mkdir("outside", 0755);
	where = "outside";
	if (attempt(open_tmpfile))
		skip_all("this filesystem has no O_TMPFILE");
	if (landlock_abi() >= 1) {
		with_landlock = true;
		expect(attempt(open_tmpfile), EACCES, "Landlock refuses O_TMPFILE outside");
		where = "inside";
		expect(attempt(open_tmpfile), 0, "and allows it inside");
	}
	if (attempt(probe_mount) == 0) {
		with_landlock = false;
		with_mount = true;
		where = "outside";
		expect(attempt(open_tmpfile), EROFS, "a read-only mount refuses it outside");
		where = "inside";
		expect(attempt(open_tmpfile), 0, "a writable bind allows it inside");
	}
	if (fact_count == 0)
		skip_all("neither Landlock nor mounts here");
	return fact_done();
}
