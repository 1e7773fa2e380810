/*
 * log.h - the log as its readers see it: a directory of sessions, each a file of lines.
 *
 *     sb_log_open() -> descriptor of the directory; the caller closes it
 *     sb_log_list() -> its sessions, oldest first
 *     sb_lines_open() -> { sb_lines_next() }... -> sb_lines_done()
 *
 * Readers take no lock that a writer waits for and keep no file open between two reads, so
 * that any number of sessions can be followed at once.
 */
#ifndef SB_AUDIT_LOG_H
#define SB_AUDIT_LOG_H

#include <stdint.h>

#include "audit/record.h"

/*
 * state_dir + "/log".  *out_fd is -1 when it is not there: nothing was recorded yet.
 */
int sb_log_open(const char *state_dir, int *out_fd, struct sb_error *err);

struct sb_session_file {
	char id[SB_SESSION_SIZE];
	uint64_t bytes;
	int64_t changed_us; /* when it was last written */
};

struct sb_session_list {
	struct sb_session_file *sessions; /* ordered by id: by the second in which they began */
	size_t count;
};

int sb_log_list(int dir, struct sb_session_list *out, struct sb_error *err);
void sb_log_list_done(struct sb_session_list *list);

/* id + ".jsonl" */
#define SB_LOG_NAME_SIZE (SB_SESSION_SIZE + 8)
void sb_log_name(const char *session, char out[SB_LOG_NAME_SIZE]);

/* Does somebody hold the file for writing?  False also when it is gone. */
bool sb_log_writer_lives(int dir, const char *session);

/* --- the lines of one file --------------------------------------------------- */

enum sb_line_state {
	SB_LINES_LINE, /* a whole line */
	SB_LINES_PART, /* the end of the file: bytes without a newline; asked again, it may be whole */
	SB_LINES_LONG, /* a line that is too long to be a record; it was skipped */
	SB_LINES_END,  /* nothing more, for now */
};

struct sb_lines {
	int dir; /* borrowed */
	char session[SB_SESSION_SIZE];
	uint64_t offset; /* in the file, of the first byte that is not in bytes */
	char *bytes;     /* read and not handed out: from start to length */
	size_t start, length, capacity;
	size_t searched; /* no newline before this */
	size_t number;   /* of the line that was handed out last, from 1 */
	bool skipping;   /* inside a line that is too long */
};

void sb_lines_open(struct sb_lines *lines, int dir, const char *session);
void sb_lines_done(struct sb_lines *lines);

/*
 * The next line.  *out_bytes (without the newline) stays valid until the next call.
 * A file that is gone has ended.
 */
int sb_lines_next(struct sb_lines *lines, enum sb_line_state *out_state, const char **out_bytes,
		  size_t *out_length, struct sb_error *err);

/* --- pruning ----------------------------------------------------------------- */

struct sb_prune {
	int64_t before_us;    /* sessions last written before this are removed; 0: no limit */
	uint64_t total_bytes; /* of the rest, the oldest until this holds; 0: no limit */
	/* Called for each session that was removed, or that could not be (error != 0). */
	void (*removed)(void *context, const struct sb_session_file *session, const char *why,
			int error);
	void *context;
	/* out */
	size_t kept;
	uint64_t kept_bytes;
};

/* Sessions whose writer lives are never removed. */
int sb_log_prune(int dir, struct sb_prune *prune, struct sb_error *err);

#endif
