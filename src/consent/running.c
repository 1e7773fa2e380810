#include "consent/running.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/list.h"
#include "config/file.h"
#include "path/path.h"

#define TEMPORARY ".new." /* the beginning of a file's name while it is made */
#define HEADER "sandbash run 1"
#define FILE_BYTES (4 * SB_RUNNING_TEXT)
#define HALF_MADE_S 60 /* an empty file this old is nobody's any more */
#define ATTEMPTS 100

static bool is_id(const char *text)
{
	static const char fine[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789-";

	return text[0] && strlen(text) < SB_RUNNING_ID && strspn(text, fine) == strlen(text);
}

/* When a process began, in the kernel's own units; 0: there is none, or it cannot be told. */
static unsigned long long born(pid_t process)
{
	char name[32], text[1024];
	const char *at;
	ssize_t length;
	SB_AUTO_FD int fd = -1;

	snprintf(name, sizeof name, "/proc/%d/stat", process);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (length <= 0)
		return 0;
	text[length] = '\0';
	at = strrchr(text, ')'); /* the name before it may hold anything */
	for (int field = 2; at && field < 22; field++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	return at ? strtoull(at, NULL, 10) : 0;
}

/* --- the file -------------------------------------------------------------------------- */

static int write_file(int fd, const struct sb_running *running)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(FILE_BYTES);

	sb_buf_printf(&text,
		      HEADER "\nsocket %s\nprocess %d\nborn %llu\nname %s\ndirectory %s\n"
			     "command %s\nmode %s\n",
		      running->socket, running->process, running->born, running->name,
		      running->directory, running->command, running->mode);
	if (sb_buf_failed(&text))
		return -ENOMEM;
	if (write(fd, text.data, text.length) != (ssize_t)text.length)
		return errno ? -errno : -ENOSPC;
	return 0;
}

/* The rest of the next line, which begins with name and a space. */
static bool take_line(char **at, const char *name, char *out, size_t size)
{
	char *end = strchr(*at, '\n');
	size_t skip = strlen(name) + 1, length;

	if (!end || strncmp(*at, name, skip - 1) != 0 || (*at)[skip - 1] != ' ')
		return false;
	length = (size_t)(end - *at) - skip;
	if (length >= size)
		return false;
	memcpy(out, *at + skip, length);
	out[length] = '\0';
	*at = end + 1;
	return true;
}

static bool take_number(char **at, const char *name, unsigned long long *out)
{
	char text[24], *end;

	if (!take_line(at, name, text, sizeof text) || text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	*out = strtoull(text, &end, 10);
	return !errno && !*end;
}

static bool read_file(int fd, struct sb_running *out)
{
	char text[FILE_BYTES + 1], *at = text;
	ssize_t length = pread(fd, text, sizeof text - 1, 0);
	unsigned long long process;

	if (length <= 0)
		return false;
	text[length] = '\0';
	if (strlen(text) != (size_t)length || strncmp(text, HEADER "\n", strlen(HEADER "\n")) != 0)
		return false;
	at += strlen(HEADER "\n");
	if (!take_line(&at, "socket", out->socket, sizeof out->socket) ||
	    strspn(out->socket, "0123456789abcdef") != SB_RUNNING_SOCKET - 1 ||
	    !take_number(&at, "process", &process) || process == 0 || process > INT_MAX ||
	    !take_number(&at, "born", &out->born) ||
	    !take_line(&at, "name", out->name, sizeof out->name) ||
	    !take_line(&at, "directory", out->directory, sizeof out->directory) ||
	    !take_line(&at, "command", out->command, sizeof out->command))
		return false;
	if (!take_line(&at, "mode", out->mode, sizeof out->mode))
		out->mode[0] = '\0'; /* of an older sandbash */
	out->process = (pid_t)process;
	return true;
}

/* --- announcing ------------------------------------------------------------------------- */

static char *file_of(const char *state_dir, const char *session)
{
	SB_AUTO_FREE char *dir = sb_path_join(state_dir, SB_RUNNING_DIRECTORY);

	return dir ? sb_path_join(dir, session) : NULL;
}

/*
 * A file that has its name only once it is held and whole.  A command that sees it come could
 * be faster and hold it first: then another one is made.
 */
static int make_held(const char *dir, char **out_name, int *out_fd)
{
	int status = -EAGAIN;

	for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
		SB_AUTO_FREE char *name = sb_path_join(dir, TEMPORARY "XXXXXX");
		SB_AUTO_FD int fd = name ? mkostemp(name, O_CLOEXEC) : -1;

		if (fd < 0)
			return name ? -errno : -ENOMEM;
		if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
			*out_name = sb_take_ptr(&name);
			*out_fd = sb_take_fd(&fd);
			return 0;
		}
		status = -errno;
		unlink(name);
	}
	return status;
}

/* Of runs that were killed: it may be long until somebody lists them. */
static void sweep(const char *state_dir)
{
	SB_AUTO_FREE struct sb_running *others = NULL;
	size_t count;

	(void)sb_running_list(state_dir, &others, &count, NULL);
}

int sb_running_announce(const char *state_dir, struct sb_running *running, int *out_fd,
			struct sb_error *err)
{
	SB_AUTO_FREE char *dir = sb_path_join(state_dir, SB_RUNNING_DIRECTORY);
	SB_AUTO_FREE char *file = file_of(state_dir, running->session);
	SB_AUTO_FREE char *temporary = NULL;
	SB_AUTO_FD int fd = -1;
	int status;

	if (!dir || !file)
		return sb_no_memory(err);
	if (!is_id(running->session))
		return sb_fail(err, SB_E_INVALID, 0, "'%s' is no session", running->session);
	status = sb_config_make_dirs(dir, 0700, err);
	if (status != SB_OK)
		return status;
	running->born = born(running->process);
	status = make_held(dir, &temporary, &fd);
	if (status == 0)
		status = write_file(fd, running);
	if (status == 0 && rename(temporary, file) != 0)
		status = -errno;
	if (status < 0) {
		if (temporary)
			unlink(temporary);
		return sb_fail(err, SB_E_SYSTEM, -status, "cannot write '%s'", file);
	}
	*out_fd = sb_take_fd(&fd);
	sweep(state_dir);
	return SB_OK;
}

void sb_running_withdraw(const char *state_dir, const char *session, int fd)
{
	SB_AUTO_FREE char *file = file_of(state_dir, session);

	if (file)
		unlink(file);
	sb_auto_close(&fd);
}

/* --- listing ------------------------------------------------------------------------------ */

static bool is_abandoned(int fd, const struct stat *info)
{
	if (flock(fd, LOCK_EX | LOCK_NB) != 0)
		return false;
	flock(fd, LOCK_UN);
	return info->st_size > 0 || time(NULL) - info->st_mtime > HALF_MADE_S;
}

/* False: no run, or one that is gone, whose file is removed. */
static bool look_at(int dir, const char *name, struct sb_running *out)
{
	struct stat info;
	SB_AUTO_FD int fd = -1;

	if (!is_id(name) && strncmp(name, TEMPORARY, strlen(TEMPORARY)) != 0)
		return false;
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
		return false;
	if (is_abandoned(fd, &info)) {
		unlinkat(dir, name, 0);
		return false;
	}
	*out = (struct sb_running){.owner = info.st_uid, .started = info.st_mtime};
	if (!is_id(name))
		return false;
	memcpy(out->session, name, strlen(name) + 1);
	return read_file(fd, out) && born(out->process) == out->born;
}

static int by_session(const void *a, const void *b)
{
	return strcmp(((const struct sb_running *)a)->session,
		      ((const struct sb_running *)b)->session);
}

int sb_running_list(const char *state_dir, struct sb_running **out, size_t *out_count,
		    struct sb_error *err)
{
	SB_AUTO_FREE char *path = sb_path_join(state_dir, SB_RUNNING_DIRECTORY);
	SB_AUTO_FREE struct sb_running *list = NULL;
	SB_AUTO_DIR DIR *dir = path ? opendir(path) : NULL;
	const struct dirent *entry;
	size_t count = 0;

	if (!path)
		return sb_no_memory(err);
	if (!dir && errno != ENOENT && errno != EACCES)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot read '%s'", path);
	while (dir && (entry = readdir(dir))) {
		if (!SB_GROW(list, count))
			return sb_no_memory(err);
		count += look_at(dirfd(dir), entry->d_name, &list[count]);
	}
	if (count)
		qsort(list, count, sizeof *list, by_session);
	*out = sb_take_ptr(&list);
	*out_count = count;
	return SB_OK;
}
