#include "enforce/devices.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "enforce/inside.h"
#include "path/path.h"
#include "sys/directory.h"
#include "sys/landlock.h"
#include "sys/process.h"

#define DEPTH 4 /* /dev/bus/usb/001 */

static bool can_read_disk(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISBLK(info.st_mode) && access(path, R_OK) == 0;
}

/* Nearly every machine has one of these: listing all devices takes five times as long. */
static bool can_read_usual_disk(void)
{
	static const char *const usual[] = {"/dev/nvme0n1", "/dev/sda", "/dev/vda"};

	for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
		if (can_read_disk(usual[i]))
			return true;
	return false;
}

bool sb_devices_disks_readable(void)
{
	struct sb_sys_dir dev;
	const struct dirent64 *entry;
	bool can = false, root = geteuid() == 0;

	if (root && can_read_usual_disk())
		return true;
	if (sb_sys_dir_open(&dev, "/dev") < 0) /* who may not list them may know a name */
		return !root && can_read_usual_disk();
	while (!can && (entry = sb_sys_dir_next(&dev)))
		can = entry->d_type == DT_BLK && faccessat(dev.fd, entry->d_name, R_OK, 0) == 0;
	sb_sys_dir_close(&dev);
	return can;
}

bool sb_devices_can_be_own(void)
{
	return geteuid() == 0 && sb_sys_has_capability(CAP_SYS_ADMIN);
}

#define IOCTL_ABI 5

bool sb_devices_are_drivable(void)
{
	bool mounts;

	return sb_sys_landlock_abi() < IOCTL_ABI && !sb_inside(&mounts);
}

struct search {
	int (*found)(void *context, const char *path, struct sb_error *err);
	void *context;
	int depth;
};

/* Filesystems of their own, with rules of their own. */
static bool is_elsewhere(const char *path)
{
	static const char *const places[] = {"/dev/pts", "/dev/shm", "/dev/mqueue",
					     "/dev/hugepages"};

	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
		if (strcmp(path, places[i]) == 0)
			return true;
	return false;
}

static int search_in(const struct search *search, const char *path, struct sb_error *err)
{
	const struct search deeper = {search->found, search->context, search->depth + 1};
	int status = SB_OK;

	if (search->depth == DEPTH || is_elsewhere(path))
		return SB_OK;
	SB_EACH_ENTRY(dir, AT_FDCWD, path, status == SB_OK) {
		const struct dirent64 *entry = dir.entry;
		SB_AUTO_FREE char *inside = NULL;

		if (entry->d_name[0] == '.' ||
		    (entry->d_type != DT_CHR && entry->d_type != DT_BLK && entry->d_type != DT_DIR))
			continue;
		inside = sb_path_join(path, entry->d_name);
		if (!inside)
			status = sb_no_memory(err);
		else if (entry->d_type == DT_DIR)
			status = search_in(&deeper, inside, err);
		else if (faccessat(dir.fd, entry->d_name, R_OK, 0) == 0)
			status = search->found(search->context, inside, err);
	}
	return status;
}

int sb_devices_readable(int (*found)(void *context, const char *path, struct sb_error *err),
			void *context, struct sb_error *err)
{
	return search_in(&(struct search){found, context, 0}, "/dev", err);
}
