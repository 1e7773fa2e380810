#include "consent/holders.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/auto.h"
#include "consent/peer.h"

/* /dev/ptmx: the other side of any terminal in /dev/pts. */
#define MASTER makedev(5, 2)

/* What is looked for among the descriptors of a process. */
struct wanted {
	dev_t device;
	dev_t filesystem; /* of a terminal in /dev/pts; else 0 */
	bool is_master;   /* then of this terminal: */
	unsigned number;
};

/* Which terminal a master is of: "tty-index" of its fdinfo (Linux 4.14). */
static bool is_master_of(pid_t process, const char *fd, unsigned number)
{
	static const char field[] = "tty-index:";
	char name[64], text[512];
	const char *found;
	ssize_t length;
	SB_AUTO_FD int file = -1;

	snprintf(name, sizeof name, "/proc/%d/fdinfo/%.16s", process, fd);
	file = open(name, O_RDONLY | O_CLOEXEC);
	length = file < 0 ? -1 : read(file, text, sizeof text - 1);
	text[length > 0 ? length : 0] = '\0';
	found = strstr(text, field);
	return found && strtoul(found + strlen(field), NULL, 10) == number;
}

static bool has_open(pid_t process, const struct wanted *wanted)
{
	char name[32];
	const struct dirent *entry;
	bool found = false;
	DIR *dir;

	snprintf(name, sizeof name, "/proc/%d/fd", process);
	dir = opendir(name);
	while (dir && !found && (entry = readdir(dir))) {
		struct stat info;

		found = fstatat(dirfd(dir), entry->d_name, &info, 0) == 0 &&
			S_ISCHR(info.st_mode) && info.st_rdev == wanted->device &&
			(!wanted->filesystem || info.st_dev == wanted->filesystem) &&
			(!wanted->is_master ||
			 is_master_of(process, entry->d_name, wanted->number));
	}
	if (dir)
		closedir(dir);
	return found;
}

/* The first process that is more confined than we are and has it open; 0: none. */
static pid_t find_holder(const struct wanted *wanted, bool family_only)
{
	struct sb_confinement own, theirs;
	const struct dirent *entry;
	pid_t found = 0;
	DIR *dir = opendir("/proc");

	if (!dir || !sb_confinement_of(0, &own)) {
		if (dir)
			closedir(dir);
		return 0;
	}
	while (!found && (entry = readdir(dir))) {
		pid_t process = (pid_t)strtol(entry->d_name, NULL, 10);

		if (process > 0 && sb_confinement_of(process, &theirs) &&
		    sb_is_more_confined(&theirs, &own) && has_open(process, wanted) &&
		    (!family_only || sb_is_family(process)))
			found = process;
	}
	closedir(dir);
	return found;
}

/*
 * A run has a /dev/pts of its own, with numbers of its own: its "pts/0" has the same device number
 * as ours, and lies in another filesystem.  (Elsewhere such a device cannot be opened.)
 */
static bool is_in_pts(dev_t device)
{
	return major(device) >= 136 && major(device) <= 143;
}

pid_t sb_terminal_held_inside(const struct stat *terminal)
{
	struct wanted wanted = {.device = terminal->st_rdev};

	if (is_in_pts(terminal->st_rdev))
		wanted.filesystem = terminal->st_dev;
	return find_holder(&wanted, false);
}

bool sb_terminal_made_inside(unsigned number)
{
	return find_holder(&(struct wanted){.device = MASTER, .is_master = true, .number = number},
			   true) != 0;
}
