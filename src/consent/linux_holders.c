#include "consent/holders.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "consent/peer.h"

static bool has_open(pid_t process, dev_t device)
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
			S_ISCHR(info.st_mode) && info.st_rdev == device;
	}
	if (dir)
		closedir(dir);
	return found;
}

pid_t sb_terminal_held_inside(dev_t device)
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
		    sb_is_more_confined(&theirs, &own) && has_open(process, device))
			found = process;
	}
	closedir(dir);
	return found;
}
