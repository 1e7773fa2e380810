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
#include "config/file.h"
#include "path/path.h"

#define DIRECTORY "run" /* also in policy/builtin.c, which hides it */
#define HEADER "sandbash run 1"
#define FILE_BYTES (4 * SB_RUNNING_TEXT)
#define HALF_MADE_S 60 /* an empty file this old is nobody's any more */

static int out_of_memory(struct sb_error *err)
{
	return sb_fail(err, SB_E_NOMEM, 0, "out of memory");
}

static bool is_id(const char *text)
{
	static const char fine[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789-";

	return text[0] && strlen(text) < SB_RUNNING_ID && strspn(text, fine) == strlen(text);
}

int sb_running_make_dir(const char *state_dir, struct sb_error *err)
{
	SB_AUTO_FREE char *dir = sb_path_join(state_dir, DIRECTORY);

	if (!dir)
		return out_of_memory(err);
	if (access(dir, W_OK) == 0) /* mostly: one call of every launch */
		return SB_OK;
	return sb_config_make_dirs(dir, 0700, err);
}

/* --- the file -------------------------------------------------------------------------- */

static int write_file(int fd, const struct sb_running *running)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(FILE_BYTES);

	sb_buf_printf(&text, HEADER "\nsocket %s\nprocess %d\nname %s\ndirectory %s\ncommand %s\n",
		      running->socket, running->process, running->name, running->directory,
		      running->command);
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

static bool read_file(int fd, struct sb_running *out)
{
	char text[FILE_BYTES + 1], number[24], *at = text, *end;
	ssize_t length = pread(fd, text, sizeof text - 1, 0);
	long process;

	if (length <= 0)
		return false;
	text[length] = '\0';
	if (strlen(text) != (size_t)length || strncmp(text, HEADER "\n", strlen(HEADER "\n")) != 0)
		return false;
	at += strlen(HEADER "\n");
	if (!take_line(&at, "socket", out->socket, sizeof out->socket) ||
	    strspn(out->socket, "0123456789abcdef") != SB_RUNNING_SOCKET - 1 ||
	    !take_line(&at, "process", number, sizeof number) ||
	    !take_line(&at, "name", out->name, sizeof out->name) ||
	    !take_line(&at, "directory", out->directory, sizeof out->directory) ||
	    !take_line(&at, "command", out->command, sizeof out->command))
		return false;
	errno = 0;
	process = strtol(number, &end, 10);
	out->process = (pid_t)process;
	return !errno && end != number && !*end && process > 0 && process <= INT_MAX;
}

/* --- announcing ------------------------------------------------------------------------- */

static char *file_of(const char *state_dir, const char *session)
{
	SB_AUTO_FREE char *dir = sb_path_join(state_dir, DIRECTORY);

	return dir ? sb_path_join(dir, session) : NULL;
}

int sb_running_announce(const char *state_dir, struct sb_running *running, int *out_fd,
			struct sb_error *err)
{
	SB_AUTO_FREE char *file = file_of(state_dir, running->session);
	SB_AUTO_FD int fd = -1;
	struct stat info;
	int status;

	if (!file)
		return out_of_memory(err);
	if (!is_id(running->session))
		return sb_fail(err, SB_E_INVALID, 0, "'%s' is no session", running->session);
	fd = open(file, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot create '%s'", file);
	/* held before it has content: who finds content and no holder may remove it */
	status = flock(fd, LOCK_EX | LOCK_NB) == 0 ? write_file(fd, running) : -errno;
	if (status == 0 && fstat(fd, &info) != 0)
		status = -errno;
	if (status < 0) {
		unlink(file);
		return sb_fail(err, SB_E_SYSTEM, -status, "cannot write '%s'", file);
	}
	running->owner = info.st_uid;
	running->started = info.st_mtime;
	*out_fd = sb_take_fd(&fd);
	return SB_OK;
}

void sb_running_withdraw(const char *state_dir, const char *session, int fd)
{
	SB_AUTO_FREE char *file = file_of(state_dir, session);

	if (file)
		unlink(file);
	if (fd >= 0)
		close(fd);
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

	if (!is_id(name))
		return false;
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
		return false;
	if (is_abandoned(fd, &info)) {
		unlinkat(dir, name, 0);
		return false;
	}
	*out = (struct sb_running){.owner = info.st_uid, .started = info.st_mtime};
	snprintf(out->session, sizeof out->session, "%s", name);
	return read_file(fd, out);
}

static int by_session(const void *a, const void *b)
{
	return strcmp(((const struct sb_running *)a)->session,
		      ((const struct sb_running *)b)->session);
}

int sb_running_list(const char *state_dir, struct sb_running **out, size_t *out_count,
		    struct sb_error *err)
{
	SB_AUTO_FREE char *path = sb_path_join(state_dir, DIRECTORY);
	SB_AUTO_FREE struct sb_running *list = NULL;
	DIR *dir = path ? opendir(path) : NULL;
	const struct dirent *entry;
	size_t count = 0;

	if (!path)
		return out_of_memory(err);
	if (!dir && errno != ENOENT && errno != EACCES)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot read '%s'", path);
	while (dir && (entry = readdir(dir))) {
		struct sb_running *grown = reallocarray(list, count + 1, sizeof *grown);

		if (!grown) {
			closedir(dir);
			return out_of_memory(err);
		}
		list = grown;
		count += look_at(dirfd(dir), entry->d_name, &list[count]);
	}
	if (dir)
		closedir(dir);
	if (count)
		qsort(list, count, sizeof *list, by_session);
	*out = sb_take_ptr(&list);
	*out_count = count;
	return SB_OK;
}
