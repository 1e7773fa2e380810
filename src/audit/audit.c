/*
 * audit.c - the writer: one file, one record after the other.
 *
 * The file is held with flock(2) as long as the writer lives, which is how others know
 * (prune, verify).  The shared file of a day is held for each record alone: its writers go on
 * where the last one was, whose hash and number they read there.  Nothing is synced: a record survives the end of any process, and a
 * power cut may cost the last seconds.
 */
#include "audit/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "audit/chain.h"
#include "audit/log.h"
#include "base/auto.h"
#include "base/buf.h"
#include "base/write.h"

#define SHARED_BYTES (4 * 1024 * 1024) /* of a day's file: then the next one begins */
#define RESERVED (16 * 1024)           /* a start with a long command line, and an end */
#define LOCK_WAIT_MS 1000
#define LOCK_TRIES 500

struct sb_audit {
	int fd;
	char session[SB_SESSION_SIZE];
	char *name;
	char *path; /* for messages */
	const char *worker;
	bool shared;
	bool reserved; /* more of the disk than it is long */
	struct sb_chain chain;
	unsigned long seq;  /* of the last record, written or not */
	unsigned long lost; /* since the last one that was written */
	enum {
		AT_LINE,   /* the file ends with a newline */
		IN_RECORD, /* in the middle of a record: the next begins with a newline */
		IN_LINE,   /* after a whole record whose newline is missing: the same */
	} end;
};

static int64_t now_us(void)
{
	struct timespec now;

	/* not through the vDSO: a static run asks once or twice, and finding the way there takes 5 us */
	syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
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

/* Can a record be added?  What a full disk or a killed writer left half done is left alone. */
static bool is_usable(int fd)
{
	struct stat info;
	char last;

	return fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_nlink == 1 &&
	       info.st_size < SHARED_BYTES &&
	       (info.st_size == 0 || (pread(fd, &last, 1, info.st_size - 1) == 1 && last == '\n'));
}

/* "20261115T000000-1-0000", and -2- when that is full. */
static void name_day(struct sb_audit *audit, unsigned number)
{
	char now[SB_TIME_SIZE];

	sb_time_print(now_us(), now);
	snprintf(audit->session, sizeof audit->session, "%.4s%.2s%.2sT000000-%u-0000", now, now + 5,
		 now + 8, number);
}

/* As it is nearly always: there, and the first. */
static bool open_day_at_once(struct sb_audit *audit, const char *log_dir)
{
	SB_AUTO_FREE char *path = NULL;
	SB_AUTO_FD int fd = -1;

	name_day(audit, 1);
	path = sb_text_print("%s/%s.jsonl", log_dir, audit->session);
	if (!path)
		return false;
	/* each writer reads the last record: else that would write a time of reading as well */
	fd = openat(AT_FDCWD, path,
		    O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOATIME | O_CLOEXEC);
	if (fd < 0 || !is_usable(fd))
		return false;
	audit->fd = sb_take_fd(&fd);
	audit->path = sb_take_ptr(&path);
	return true;
}

static int open_day(int dir, struct sb_audit *audit)
{
	char name[SB_LOG_NAME_SIZE];

	for (unsigned number = 1; number < 1000; number++) {
		SB_AUTO_FD int fd = -1;

		name_day(audit, number);
		sb_log_name(audit->session, name);
		fd = openat(dir, name,
			    O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
			    0600);
		if (fd < 0)
			return -errno;
		if (!is_usable(fd))
			continue;
		audit->fd = sb_take_fd(&fd);
		return 0;
	}
	return -EMFILE;
}

static int open_file(struct sb_audit *audit, const char *state_dir, struct sb_error *err)
{
	SB_AUTO_FREE char *log_dir = sb_text_print("%s/log", state_dir);
	SB_AUTO_FD int dir = -1;
	int status;

	if (!log_dir)
		return sb_no_memory(err);
	if (audit->shared && open_day_at_once(audit, log_dir))
		return SB_OK;
	dir = open(log_dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0 && errno == ENOENT) {
		status = sb_make_dirs(log_dir, 0700, "create", err);
		if (status != SB_OK)
			return status;
		dir = open(log_dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	}
	if (dir < 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot use '%s'", log_dir);
	status = audit->shared ? open_day(dir, audit) : create_file(dir, audit);
	if (status < 0)
		return sb_fail(err, SB_E_SYSTEM, -status, "cannot create a record in '%s'",
			       log_dir);
	audit->path = sb_text_print("%s/%s.jsonl", log_dir, audit->session);
	return audit->path ? SB_OK : sb_no_memory(err);
}

static int open_audit(const char *state_dir, const char *name, bool shared, struct sb_audit **out,
		      struct sb_error *err)
{
	struct sb_audit *audit = calloc(1, sizeof *audit);
	int status = SB_OK;

	if (!audit)
		return sb_no_memory(err);
	audit->fd = -1;
	audit->shared = shared;
	sb_chain_start(&audit->chain);
	if (name) {
		audit->name = strdup(name);
		if (!audit->name)
			status = sb_no_memory(err);
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

int sb_audit_open(const char *state_dir, const char *name, struct sb_audit **out,
		  struct sb_error *err)
{
	return open_audit(state_dir, name, false, out, err);
}

int sb_audit_open_shared(const char *state_dir, const char *name, struct sb_audit **out,
			 struct sb_error *err)
{
	return open_audit(state_dir, name, true, out, err);
}

/* Where room cannot be held it can be tried: nobody reads the file yet. */
static int try_to_fill(int fd)
{
	static const char blanks[RESERVED];
	ssize_t put = write(fd, blanks, sizeof blanks);
	int error = put < 0 ? errno : put < (ssize_t)sizeof blanks ? ENOSPC : 0;

	if (ftruncate(fd, 0) != 0 && !error)
		error = errno;
	return -error;
}

static int reserve(int fd)
{
	struct rlimit limit;

	/* room that is only held is not measured by it, and the signal is not for us */
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < RESERVED)
		return -EFBIG;
	if (fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, RESERVED) == 0)
		return 0;
	return errno == EOPNOTSUPP || errno == ENOSYS ? try_to_fill(fd) : -errno;
}

int sb_audit_reserve(struct sb_audit *audit, struct sb_error *err)
{
	int status = reserve(audit->fd);

	audit->reserved = status == 0;
	return status == 0
		       ? SB_OK
		       : sb_fail(err, SB_E_SYSTEM, -status, "cannot write to '%s'", audit->path);
}

/* What was held and not used. */
static void give_back(int fd)
{
	struct stat info;

	if (fstat(fd, &info) == 0)
		(void)!ftruncate(fd, info.st_size);
}

static bool is_empty(int fd)
{
	struct stat info;

	return fstat(fd, &info) == 0 && info.st_size == 0;
}

void sb_audit_close(struct sb_audit *audit)
{
	ssize_t ignored;

	if (!audit)
		return;
	if (audit->end == IN_LINE && !audit->shared) {
		ignored = write(audit->fd, "\n", 1);
		(void)ignored; /* readers take it for torn then, which it nearly is */
	}
	if (audit->reserved)
		give_back(audit->fd);
	if (audit->path && !audit->shared && is_empty(audit->fd)) /* the run did not come about */
		unlink(audit->path);
	sb_auto_close(&audit->fd);
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

/* --- the file of the day ---------------------------------------------------------------- */

/* Nobody holds it for longer than one record takes, but a stranger could for ever. */
static int lock_shared(int fd)
{
	const struct timespec pause = {0, LOCK_WAIT_MS * 1000000L / LOCK_TRIES};

	for (int i = 0; i < LOCK_TRIES; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno == ENOLCK || errno == ENOSYS ||
		    errno == EOPNOTSUPP)
			return 0;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		nanosleep(&pause, NULL);
	}
	return -EWOULDBLOCK;
}

/*
 * The last line of the file, which has size bytes: in *out_bytes, which is the caller's to free,
 * from what is returned on.  NULL: there is none.
 */
static const char *find_last_line(int fd, size_t size, char **out_bytes, size_t *out_length)
{
	/* mostly the first look is enough; a line has at most SB_RECORD_MAX bytes */
	for (size_t want = 2048; want <= 4 * SB_RECORD_MAX; want *= 4) {
		size_t part = size < want ? size : want;
		char *bytes = realloc(*out_bytes, part);
		const char *before;

		if (!bytes)
			return NULL;
		*out_bytes = bytes;
		if (pread(fd, bytes, part, (off_t)(size - part)) != (ssize_t)part ||
		    bytes[part - 1] != '\n')
			return NULL;
		before = memrchr(bytes, '\n', part - 1);
		if (before || part == size) {
			before = before ? before + 1 : bytes;
			*out_length = (size_t)(bytes + part - 1 - before);
			return before;
		}
	}
	return NULL;
}

/* Go on behind the record that is the last one by now, whoever wrote it. */
static int follow(struct sb_audit *audit, off_t *out_size)
{
	SB_AUTO_FREE char *bytes = NULL;
	char hash[SB_SHA256_HEX];
	const char *line;
	struct stat info;
	size_t length;

	if (fstat(audit->fd, &info) != 0)
		return -errno;
	sb_chain_start(&audit->chain);
	audit->seq = audit->lost = 0;
	audit->end = AT_LINE;
	*out_size = info.st_size;
	if (info.st_size == 0)
		return info.st_nlink ? 0 : -ESTALE;
	line = find_last_line(audit->fd, (size_t)info.st_size, &bytes, &length);
	if (!line || !sb_record_link(line, length, hash, &audit->seq))
		return -EBADMSG;
	sb_chain_link(&audit->chain, hash, audit->seq);
	return info.st_nlink ? 0 : -ESTALE;
}

static int write_own(struct sb_audit *audit, const struct sb_event *event, struct sb_error *err);

void sb_audit_of_worker(struct sb_audit *audit, const char *worker)
{
	audit->worker = worker;
}

int sb_audit_write(struct sb_audit *audit, const struct sb_event *event, struct sb_error *err)
{
	off_t before = 0;
	int status;

	if (!audit->shared)
		return write_own(audit, event, err);
	status = lock_shared(audit->fd);
	if (status == 0)
		status = follow(audit, &before);
	if (status < 0) {
		flock(audit->fd, LOCK_UN);
		return sb_fail(err, SB_E_SYSTEM, -status, "cannot add to '%s'", audit->path);
	}
	status = write_own(audit, event, err);
	/* half a record would be in the way of the next; nobody else writes meanwhile */
	if (audit->end != AT_LINE) {
		(void)!ftruncate(audit->fd, before); /* if not, the next file is begun */
		if (status == SB_OK)
			status = sb_fail(err, SB_E_SYSTEM, ENOSPC, "cannot write to '%s'",
					 audit->path);
	}
	flock(audit->fd, LOCK_UN);
	return status;
}

/* --- one record ----------------------------------------------------------------------------- */

static int write_own(struct sb_audit *audit, const struct sb_event *event, struct sb_error *err)
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
	if (!record.event.worker)
		record.event.worker = audit->worker;
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
