/*
 * audit.c - the writer: one file, one record after the other.
 *
 * The file is held with flock(2) as long as the writer lives, which is how others know
 * (prune, verify).  Nothing is synced: a record survives the end of any process, and a
 * power cut may cost the last seconds.
 */
#include "audit/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "audit/chain.h"
#include "audit/log.h"
#include "base/auto.h"
#include "base/buf.h"

struct sb_audit {
	int fd;
	char session[SB_SESSION_SIZE];
	char *name;
	char *path; /* for messages */
	struct sb_chain chain;
	unsigned long seq;  /* of the last record, written or not */
	unsigned long lost; /* since the last one that was written */
	enum {
		AT_LINE,   /* the file ends with a newline */
		IN_RECORD, /* in the middle of a record: the next begins with a newline */
		IN_LINE,   /* after a whole record whose newline is missing: the same */
	} end;
};

static int out_of_memory(struct sb_error *err)
{
	return sb_fail(err, SB_E_NOMEM, 0, "out of memory");
}

static int64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* mkdir -p, mode 0700 whatever the umask. */
static int make_dirs(const char *dir, struct sb_error *err)
{
	SB_AUTO_FREE char *path = strdup(dir);

	if (!path)
		return out_of_memory(err);
	for (char *slash = path;;) {
		struct stat info;

		slash = strchr(slash + 1, '/');
		if (slash)
			*slash = '\0';
		if (mkdir(path, 0700) == 0) {
			if (chmod(path, 0700) != 0)
				return sb_fail(err, SB_E_SYSTEM, errno, "cannot create '%s'", path);
		} else if (errno != EEXIST) {
			int error = errno;

			/* on a read-only mount mkdir says EROFS even for what is there */
			if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
				return sb_fail(err, SB_E_SYSTEM, error, "cannot create '%s'", path);
		}
		if (!slash)
			return SB_OK;
		*slash = '/';
	}
}

static void new_session_id(char out[SB_SESSION_SIZE])
{
	char now[SB_TIME_SIZE];
	unsigned short random = 0;

	if (getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random)
		random = (unsigned short)(now_us() / 7);
	sb_time_print(now_us(), now);
	/* "2026-11-15T18:03:01": the digits alone */
	snprintf(out, SB_SESSION_SIZE, "%.4s%.2s%.2sT%.2s%.2s%.2s-%u-%04x", now, now + 5, now + 8,
		 now + 11, now + 14, now + 17, (unsigned)getpid(), (unsigned)random);
}

/*
 * A new file with a name of its own, held.  Between its creation and the lock somebody who
 * prunes can take it for abandoned and remove it; then it has no name left, and we try again.
 */
static int create_file(int dir, struct sb_audit *audit)
{
	for (int attempt = 0; attempt < 100; attempt++) {
		char name[SB_LOG_NAME_SIZE];
		struct stat info;

		SB_AUTO_FD int fd = -1;

		new_session_id(audit->session);
		sb_log_name(audit->session, name);
		fd = openat(dir, name,
			    O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0 && errno == EEXIST)
			continue;
		if (fd < 0)
			return -errno;
		/* Where there are no locks (some network file systems) a record without one is
		 * better than none: it only looks abandoned to --verify and --prune. */
		if (flock(fd, LOCK_EX) != 0 && errno != ENOLCK && errno != ENOSYS &&
		    errno != EOPNOTSUPP)
			return -errno;
		if (fstat(fd, &info) != 0)
			return -errno;
		if (info.st_nlink == 0)
			continue;
		audit->fd = sb_take_fd(&fd);
		return 0;
	}
	return -EEXIST;
}

static int open_file(struct sb_audit *audit, const char *state_dir, struct sb_error *err)
{
	SB_AUTO_FREE char *log_dir = NULL;
	SB_AUTO_FD int dir = -1;
	int status;

	if (asprintf(&log_dir, "%s/log", state_dir) < 0) {
		log_dir = NULL;
		return out_of_memory(err);
	}
	dir = open(log_dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0 && errno == ENOENT) {
		status = make_dirs(log_dir, err);
		if (status != SB_OK)
			return status;
		dir = open(log_dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	}
	if (dir < 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot use '%s'", log_dir);
	status = create_file(dir, audit);
	if (status < 0)
		return sb_fail(err, SB_E_SYSTEM, -status, "cannot create a record in '%s'",
			       log_dir);
	if (asprintf(&audit->path, "%s/%s.jsonl", log_dir, audit->session) < 0) {
		audit->path = NULL;
		return out_of_memory(err);
	}
	return SB_OK;
}

int sb_audit_open(const char *state_dir, const char *name, struct sb_audit **out,
		  struct sb_error *err)
{
	struct sb_audit *audit = calloc(1, sizeof *audit);
	int status = SB_OK;

	if (!audit)
		return out_of_memory(err);
	audit->fd = -1;
	sb_chain_start(&audit->chain);
	if (name) {
		audit->name = strdup(name);
		if (!audit->name)
			status = out_of_memory(err);
	}
	if (status == SB_OK)
		status = open_file(audit, state_dir, err);
	if (status != SB_OK) {
		sb_audit_close(audit);
		return status;
	}
	*out = audit;
	return SB_OK;
}

void sb_audit_close(struct sb_audit *audit)
{
	ssize_t ignored;

	if (!audit)
		return;
	if (audit->end == IN_LINE) {
		ignored = write(audit->fd, "\n", 1);
		(void)ignored; /* readers take it for torn then, which it nearly is */
	}
	if (audit->path && audit->seq == 0) /* the run did not come about */
		unlink(audit->path);
	if (audit->fd >= 0)
		close(audit->fd);
	free(audit->name);
	free(audit->path);
	free(audit);
}

const char *sb_audit_session(const struct sb_audit *audit)
{
	return audit->session;
}

/* All of it, or as much as there is room for: the number of bytes, and why no more. */
static size_t append(int fd, const char *bytes, size_t length, int *out_error)
{
	size_t done = 0;

	*out_error = 0;
	while (done < length) {
		ssize_t put = write(fd, bytes + done, length - done);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0) {
			*out_error = errno;
			break;
		}
		done += (size_t)put;
	}
	return done;
}

/* The line for record; *out_own is where the bytes begin that are not the last record's. */
static void make_line(const struct sb_audit *audit, struct sb_record *record, struct sb_buf *line,
		      size_t *out_own)
{
	if (audit->end != AT_LINE)
		sb_buf_putc(line, '\n');
	*out_own = audit->end == IN_LINE;
	sb_record_print(record, line);
	if (sb_buf_failed(line))
		return;
	sb_chain_hash(&audit->chain, line->data + *out_own, line->length - *out_own, record->hash);
	sb_record_print_tail(record->hash, line);
}

int sb_audit_write(struct sb_audit *audit, const struct sb_event *event, struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf line = SB_BUF(SB_RECORD_MAX);
	struct sb_record record = {.time_us = now_us(),
				   .seq = ++audit->seq,
				   .lost = audit->lost,
				   .name = event->kind == SB_EVENT_START ? audit->name : NULL,
				   .event = *event};
	size_t written, own;
	int error;

	memcpy(record.session, audit->session, sizeof record.session);
	audit->lost++; /* until it is there */
	make_line(audit, &record, &line, &own);
	if (sb_buf_failed(&line))
		return sb_fail(err, SB_E_NOMEM, 0, "no room for a record of this run");
	written = append(audit->fd, line.data, line.length, &error);
	if (written + 1 >= line.length) { /* without its newline it is whole all the same */
		sb_chain_link(&audit->chain, record.hash, record.seq);
		audit->lost = 0;
		audit->end = written == line.length ? AT_LINE : IN_LINE;
		return SB_OK;
	}
	if (written) {
		sb_chain_add(&audit->chain, line.data + own, written - own);
		audit->end = line.data[written - 1] == '\n' ? AT_LINE : IN_RECORD;
	}
	return sb_fail(err, SB_E_SYSTEM, error, "cannot write to '%s'", audit->path);
}
