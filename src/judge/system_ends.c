/*
 * SECURITY: where commands are root's, no link leads unasked to what the machine obeys.
 *
 * Danger: CHANGELOG is made a link to /etc/cron.d/x, and root outside writes CHANGELOG.  Others could not write there.
 * What that is says the table of guard/system.c.
 * Price: as root such links ask, also in a tree that is to be another machine's.  So do all to /etc and to programs that are not
 * there.  Certificates, /etc/alternatives, programs that are there and files that are only read are none of these.
 * Held by: tests/supervise/followed.py
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/each.h"
#include "judge/judge_impl.h"
#include "path/path.h"

#define PLACE(path, asks, none)                                                                    \
	{                                                                                          \
		path, asks                                                                         \
	}

/* Directories where a name is obeyed, or may be once it is there; the first that fits counts. */
static const struct {
	const char *path;
	enum { ONLY_READ, MISSING, NO_PROGRAM, ALL } asks;
} places[] = {
	SB_NAMED(PLACE, ONLY_READ, , "/etc/alternatives", "/etc/ca-certificates", "/etc/fonts",
		 "/etc/localtime", "/etc/mime.types", "/etc/mtab", "/etc/os-release", "/etc/pki",
		 "/etc/protocols", "/etc/services", "/etc/ssl"),
	{"/etc", ALL},
	SB_NAMED(PLACE, NO_PROGRAM, , "/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin",
		 "/usr/local/sbin", "/lib/systemd", "/lib/udev", "/usr/lib/systemd",
		 "/usr/lib/udev"),
	SB_NAMED(PLACE, MISSING, , "/usr/lib/python3", "/usr/local/lib"),
	SB_NAMED(PLACE, ALL, , "/var/lib/dpkg", "/var/lib/systemd"),
	{"/var/lib", MISSING},
	{"/var/spool", ALL},
};

bool sb_is_system_place(const char *path)
{
	struct stat info;
	size_t i = 0;

	if (geteuid() != 0)
		return false;
	while (i < sizeof places / sizeof *places && !sb_path_within(places[i].path, path))
		i++;
	if (i == sizeof places / sizeof *places || places[i].asks == ONLY_READ)
		return false;
	if (places[i].asks == ALL || lstat(path, &info) != 0)
		return true;
	return places[i].asks == NO_PROGRAM && !(S_ISREG(info.st_mode) && info.st_mode & 0111);
}

const char *sb_system_end(size_t number)
{
	size_t count;
	const struct sb_guard_row *rows = sb_guard_system_rows(&count);

	return geteuid() == 0 && number < count ? rows[number].pattern : NULL;
}

bool sb_is_system_end(const char *path)
{
	size_t count;
	const struct sb_guard_row *rows = sb_guard_system_rows(&count);
	struct stat info;

	if (geteuid() != 0)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!(rows[i].flags & SB_GUARD_MAY_LEAD) && sb_guard_system_has(&rows[i], path))
			return true;
	if (!sb_path_within("/dev", path) || sb_path_within("/dev/shm", path))
		return false;
	/* a run that has a /dev of its own sees no disks there */
	return lstat(path, &info) != 0 || S_ISBLK(info.st_mode);
}

bool sb_is_system_row(const struct sb_guard_row *row)
{
	size_t count;
	const struct sb_guard_row *rows = sb_guard_system_rows(&count);

	return row >= rows && row < rows + count;
}
