#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "path/path.h"
#include "sys/process.h"
#include "zones/zones.h"

/* One step down, which is made if nothing is there. */
static int step(int directory, const char *name)
{
	const int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(directory, name, flags);

	if (fd < 0 && errno == ENOENT) {
		if (mkdirat(directory, name, 0777) != 0 && errno != EEXIST)
			return -errno;
		fd = openat(directory, name, flags);
	}
	return fd < 0 ? -errno : fd;
}

int sb_zone_open(const struct sb_project *project, const struct sb_zone *zone, int *out_fd,
		 struct sb_error *err)
{
	SB_AUTO_FD int fd = sb_sys_open_path(project->directory);
	const char *at = zone->path + strlen(project->directory);

	if (!sb_path_within(project->directory, zone->path))
		return sb_fail(err, SB_E_REFUSED, 0, "/%s: '%s' is not in the project", zone->name,
			       zone->path);
	while (fd >= 0 && *at) {
		char name[NAME_MAX + 1];
		size_t length = strcspn(at, "/");
		int next;

		if (length && length < sizeof name) {
			memcpy(name, at, length);
			name[length] = '\0';
			next = step(fd, name);
			close(fd);
			fd = next;
		}
		at += length + (at[length] == '/');
	}
	if (fd == -ENOTDIR || fd == -ELOOP)
		return sb_fail(err, SB_E_REFUSED, 0, "/%s: '%s' is no directory, or behind a link",
			       zone->name, zone->path);
	if (fd < 0)
		return sb_fail(err, SB_E_SYSTEM, -fd, "/%s: cannot open '%s'", zone->name,
			       zone->path);
	*out_fd = sb_take_fd(&fd);
	return SB_OK;
}
