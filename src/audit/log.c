#include "audit/log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/list.h"

#define SUFFIX ".jsonl"
#define CHUNK (64 * 1024)

void sb_log_name(const char *session, char out[SB_LOG_NAME_SIZE])
{
	snprintf(out, SB_LOG_NAME_SIZE, "%s" SUFFIX, session);
}

int sb_log_open(const char *state_dir, int *out_fd, struct sb_error *err)
{
	SB_AUTO_FREE char *path = sb_text_print("%s/log", state_dir);
	int fd;

	if (!path)
		return sb_no_memory(err);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno != ENOENT)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot read '%s'", path);
	*out_fd = fd;
	return SB_OK;
}

/* A session's file, regular; nothing is waited for. */
static int open_session(int dir, const char *session)
{
	char name[SB_LOG_NAME_SIZE];
	struct stat info;
	int fd;

	sb_log_name(session, name);
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
		close(fd);
		return -EINVAL;
	}
	return fd;
}

bool sb_log_writer_lives(int dir, const char *session)
{
	SB_AUTO_FD int fd = open_session(dir, session);

	/* our own shared lock goes with the descriptor, at once */
	return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

/* --- which sessions there are ------------------------------------------------ */

static int by_id(const void *a, const void *b)
{
	const struct sb_session_file *first = a, *second = b;

	return strcmp(first->id, second->id);
}

static bool session_of(int dir, const char *name, struct sb_session_file *out)
{
	size_t length = strlen(name), suffix = sizeof SUFFIX - 1;
	struct stat info;

	if (length <= suffix || strcmp(name + length - suffix, SUFFIX) != 0 ||
	    !sb_session_valid(name, length - suffix) ||
	    fstatat(dir, name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode))
		return false;
	*out = (struct sb_session_file){.bytes = (uint64_t)info.st_size,
					.changed_us = (int64_t)info.st_mtim.tv_sec * 1000000 +
						      info.st_mtim.tv_nsec / 1000};
	memcpy(out->id, name, length - suffix);
	return true;
}

int sb_log_list(int dir, struct sb_session_list *out, struct sb_error *err)
{
	struct sb_session_list list = {0};
	const struct dirent *entry;
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	SB_AUTO_DIR DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;

	if (!stream) {
		int error = errno;

		sb_auto_close(&fd);
		return sb_fail(err, SB_E_SYSTEM, error, "cannot list the log");
	}
	while ((entry = readdir(stream))) {
		struct sb_session_file found;

		if (!session_of(dir, entry->d_name, &found))
			continue;
		if (!SB_GROW(list.sessions, list.count)) {
			sb_log_list_done(&list);
			return sb_no_memory(err);
		}
		list.sessions[list.count++] = found;
	}
	if (list.count)
		qsort(list.sessions, list.count, sizeof *list.sessions, by_id);
	*out = list;
	return SB_OK;
}

void sb_log_list_done(struct sb_session_list *list)
{
	if (!list)
		return;
	free(list->sessions);
	*list = (struct sb_session_list){0};
}

/* --- the lines of one -------------------------------------------------------- */

void sb_lines_open(struct sb_lines *lines, int dir, const char *session)
{
	*lines = (struct sb_lines){.dir = dir};
	snprintf(lines->session, sizeof lines->session, "%s", session);
}

void sb_lines_done(struct sb_lines *lines)
{
	if (!lines)
		return;
	free(lines->bytes);
	lines->bytes = NULL;
	lines->start = lines->length = lines->capacity = lines->searched = 0;
}

/* More bytes into the buffer; *out_more is false at the end of the file. */
static int fill(struct sb_lines *lines, bool *out_more, struct sb_error *err)
{
	SB_AUTO_FD int fd = -1;
	ssize_t got;

	if (lines->start) {
		lines->length -= lines->start;
		lines->searched -= lines->start;
		memmove(lines->bytes, lines->bytes + lines->start, lines->length);
		lines->start = 0;
	}
	if (lines->capacity - lines->length < CHUNK) {
		char *grown = realloc(lines->bytes, lines->length + CHUNK);

		if (!grown)
			return sb_no_memory(err);
		lines->bytes = grown;
		lines->capacity = lines->length + CHUNK;
	}
	*out_more = false;
	fd = open_session(lines->dir, lines->session);
	if (fd == -ENOENT)
		return SB_OK;
	if (fd < 0)
		return sb_fail(err, SB_E_SYSTEM, -fd, "cannot read '%s" SUFFIX "'", lines->session);
	do
		got = pread(fd, lines->bytes + lines->length, CHUNK, (off_t)lines->offset);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot read '%s" SUFFIX "'",
			       lines->session);
	lines->length += (size_t)got;
	lines->offset += (uint64_t)got;
	*out_more = got > 0;
	return SB_OK;
}

int sb_lines_next(struct sb_lines *lines, enum sb_line_state *out_state, const char **out_bytes,
		  size_t *out_length, struct sb_error *err)
{
	for (;;) {
		char *newline = NULL;
		bool more = false;
		int status;

		if (lines->searched < lines->length)
			newline = memchr(lines->bytes + lines->searched, '\n',
					 lines->length - lines->searched);
		if (newline) {
			bool was_long = lines->skipping;

			*out_bytes = lines->bytes + lines->start;
			*out_length = (size_t)(newline - *out_bytes);
			lines->start = lines->searched = (size_t)(newline - lines->bytes) + 1;
			lines->number++;
			lines->skipping = false;
			*out_state = was_long || *out_length > SB_RECORD_MAX ? SB_LINES_LONG
									     : SB_LINES_LINE;
			return SB_OK;
		}
		lines->searched = lines->length;
		if (lines->length - lines->start > SB_RECORD_MAX) {
			lines->start = lines->length;
			lines->skipping = true;
		}
		status = fill(lines, &more, err);
		if (status != SB_OK)
			return status;
		if (more)
			continue;
		*out_bytes = lines->bytes + lines->start;
		*out_length = lines->length - lines->start;
		*out_state = *out_length || lines->skipping ? SB_LINES_PART : SB_LINES_END;
		return SB_OK;
	}
}

/* --- pruning ----------------------------------------------------------------- */

static int by_age(const void *a, const void *b)
{
	const struct sb_session_file *first = a, *second = b;

	if (first->changed_us != second->changed_us)
		return first->changed_us < second->changed_us ? -1 : 1;
	return strcmp(first->id, second->id);
}

/* 0, -EWOULDBLOCK when its writer lives, or why not. */
static int remove_session(int dir, const char *session)
{
	SB_AUTO_FD int fd = open_session(dir, session);
	char name[SB_LOG_NAME_SIZE];

	if (fd < 0)
		return fd;
	/* held while it is removed: a writer that made it just now sees that it has no name */
	if (flock(fd, LOCK_EX | LOCK_NB) != 0)
		return -errno;
	sb_log_name(session, name);
	return unlinkat(dir, name, 0) == 0 ? 0 : -errno;
}

int sb_log_prune(int dir, struct sb_prune *prune, struct sb_error *err)
{
	SB_AUTO(sb_log_list_done) struct sb_session_list list = {0};
	int status = sb_log_list(dir, &list, err);

	if (status != SB_OK)
		return status;
	prune->kept = list.count;
	prune->kept_bytes = 0;
	for (size_t i = 0; i < list.count; i++)
		prune->kept_bytes += list.sessions[i].bytes;
	if (list.count)
		qsort(list.sessions, list.count, sizeof *list.sessions, by_age);
	for (size_t i = 0; i < list.count; i++) {
		const struct sb_session_file *session = &list.sessions[i];
		bool too_old = prune->before_us && session->changed_us < prune->before_us;
		bool too_much = prune->total_bytes && prune->kept_bytes > prune->total_bytes;
		int error;

		if (!too_old && !too_much)
			continue;
		error = -remove_session(dir, session->id);
		if (error == EWOULDBLOCK)
			continue;
		if (!error || error == ENOENT) {
			prune->kept--;
			prune->kept_bytes -= session->bytes;
		}
		if (error != ENOENT) /* somebody else prunes, too, and tells */
			prune->removed(prune->context, session, too_old ? "age" : "size", error);
	}
	return SB_OK;
}
