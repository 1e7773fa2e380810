#include "config/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/list.h"
#include "path/path.h"
#include "sys/directory.h"

/* The first bytes of a small file, NUL-terminated; 0 when it cannot be read. */
static size_t read_start(const char *path, char *buffer, size_t size)
{
	SB_AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? 0 : read(fd, buffer, size - 1);

	buffer[length > 0 ? length : 0] = '\0';
	return length > 0 ? (size_t)length : 0;
}

/* A device number as the kernel writes it for programs: new_encode_dev(). */
static dev_t decode_device(unsigned long number)
{
	return makedev(number >> 8 & 0xfff, (number & 0xff) | (number >> 12 & 0xfff00));
}

/* The same as below without opening a terminal: proc(5), field tty_nr. */
static dev_t controlling_terminal_by_proc(void)
{
	char line[1024], *rest;
	unsigned long number = 0;

	/* the name may hold anything, so count from the last parenthesis */
	if (!read_start("/proc/self/stat", line, sizeof line) || !(rest = strrchr(line, ')')))
		return 0;
	for (int field = 2; field < 7 && rest; field++) {
		rest = strchr(rest + 1, ' ');
		if (field == 6 && rest)
			number = strtoul(rest + 1, NULL, 10);
	}
	return decode_device(number);
}

/* The device of our controlling terminal, 0 when there is none. */
static dev_t controlling_terminal(void)
{
	SB_AUTO_FD int fd = open("/dev/tty", O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	unsigned number;

	if (fd < 0 && errno == ENXIO) /* tty(4) */
		return 0;
	if (fd >= 0 && ioctl(fd, TIOCGDEV, &number) == 0)
		return decode_device(number);
	return controlling_terminal_by_proc();
}

static bool is_ours(dev_t terminal, dev_t controlling)
{
	struct stat info;

	for (int fd = 0; fd <= 2; fd++)
		if (fstat(fd, &info) == 0 && S_ISCHR(info.st_mode) && info.st_rdev == terminal)
			return true;
	return terminal == controlling;
}

int sb_terminals_find(bool other, char ***out, struct sb_error *err)
{
	struct sb_sys_dir dir;
	bool listing = sb_sys_dir_open(&dir, "/dev/pts") >= 0;
	dev_t controlling = 0;
	bool known = false; /* asked for only when there is a terminal to compare with */
	const struct dirent64 *entry;
	size_t count = 0;
	char **list = calloc(1, sizeof *list);

	while (list && listing && (entry = sb_sys_dir_next(&dir))) {
		struct stat info;

		if (entry->d_name[0] < '0' || entry->d_name[0] > '9' ||
		    fstatat(dir.fd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
		    info.st_uid != geteuid())
			continue;
		if (!known && !other)
			controlling = controlling_terminal();
		known = true;
		if (!other && is_ours(info.st_rdev, controlling))
			continue;
		if (sb_list_push(&list, &count, sb_path_join("/dev/pts", entry->d_name), NULL) !=
		    SB_OK)
			break;
	}
	if (listing)
		sb_sys_dir_close(&dir);
	*out = list;
	return list ? SB_OK : sb_no_memory(err);
}
