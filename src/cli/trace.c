#include "cli/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/words.h"
#include "cli/cli.h"
#include "enforce/inside.h"

#define SUFFIX ".trace"
#define HEAD "# held calls of sandbash\n"

/*
 * SECURITY: a process that no sandbox holds writes names there that come from inside.
 *
 * Danger: the variable may come from a file of the project (.env, direnv), and name one that a program
 * runs or obeys: ~/.bashrc, or a new one in ~/.bashrc.d.
 * Price: the name ends in ".trace", the file is new or a trace of the same user's, and each line is a
 * comment where there are such.
 * Held by: tests/supervise/trace.py
 */
static int check_old(int fd)
{
	char head[sizeof HEAD - 1];
	struct stat info;

	if (fstat(fd, &info) != 0)
		return -errno;
	if (!S_ISREG(info.st_mode) || info.st_uid != geteuid() || info.st_nlink != 1 ||
	    (info.st_mode & 077) || pread(fd, head, sizeof head, 0) != sizeof head ||
	    memcmp(head, HEAD, sizeof head) != 0)
		return -EEXIST;
	return 0;
}

static int open_file(const char *path)
{
	const int flags = O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	SB_AUTO_FD int fd = open(path, flags | O_CREAT | O_EXCL, 0600);
	int status;

	if (fd >= 0)
		return write(fd, HEAD, sizeof HEAD - 1) == sizeof HEAD - 1 ? sb_take_fd(&fd) : -EIO;
	if (errno != EEXIST)
		return -errno;
	fd = open(path, flags);
	status = fd < 0 ? -errno : check_old(fd);
	return status < 0 ? status : sb_take_fd(&fd);
}

static int refuse(const char *path, int error)
{
	struct sb_error err;

	sb_fail(&err, SB_E_INVALID, error == EEXIST ? 0 : error,
		"cannot trace to '%s' (SANDBASH_TRACE)%s", path,
		error == EEXIST ? ": it is there, and no trace of yours" : "");
	return sb_report(&err);
}

int sb_trace_open(struct sb_command_line *line)
{
	SB_AUTO_FREE char *path = getenv("SANDBASH_TRACE") ? strdup(getenv("SANDBASH_TRACE"))
							   : NULL;
	static char real[PATH_MAX]; /* what the rules call it */
	char link[32];
	ssize_t length;
	bool mounts;

	unsetenv("SANDBASH_TRACE");
	if (!path || !path[0] || sb_inside(&mounts))
		return 0;
	if (!sb_is_supervised(line) ||
	    (line->has_mode && line->mode == SB_MODE_DANGER_FULL_ACCESS)) {
		sb_warn("only a supervised run holds calls: SANDBASH_TRACE is ignored");
		return 0;
	}
	if (!sb_text_ends(path, SUFFIX) || strcmp(path, SUFFIX) == 0)
		return refuse(path, EINVAL);
	line->trace_fd = open_file(path);
	if (line->trace_fd < 0)
		return refuse(path, -line->trace_fd);
	snprintf(link, sizeof link, "/proc/self/fd/%d", line->trace_fd);
	length = readlink(link, real, sizeof real - 1);
	if (length <= 0)
		return refuse(path, errno);
	real[length] = '\0';
	line->trace = real;
	return 0;
}
