/*
 * session_log.h - what tests of the record share: a session that is written, and its file as bytes.
 */
#ifndef UNIT_SESSION_LOG_H
#define UNIT_SESSION_LOG_H

#include "tree.h"

#include "audit/audit.h"
#include "audit/chain.h"
#include "audit/log.h"
#include "base/auto.h"

static inline struct sb_audit *open_audit(const char *root, const char *name)
{
	struct sb_audit *audit = NULL;
	struct sb_error err;

	assert_int_equal(sb_audit_open(root, name, &audit, &err), SB_OK);
	return audit;
}

static inline void deny(struct sb_audit *audit, const char *path)
{
	struct sb_event event = {
		.kind = SB_EVENT_DENY, .op = "create", .path = path, .verdict = "deny"};

	assert_int_equal(sb_audit_write(audit, &event, NULL), SB_OK);
}

static inline void leave(struct sb_audit *audit)
{
	struct sb_counters counters = {.seen = {1, 2, 3, 4}, .approved = {0, 0, 0, 9}};
	struct sb_event event = {.kind = SB_EVENT_EXIT, .has_status = true, .counters = &counters};

	assert_int_equal(sb_audit_write(audit, &event, NULL), SB_OK);
	sb_audit_close(audit);
}

/* --- the file as bytes ------------------------------------------------------- */

struct text {
	char path[PATH_MAX];
	char session[SB_SESSION_SIZE];
	char *bytes;
	size_t length;
	char *line[64]; /* start of each, and of what follows the last */
	size_t count;
};

static inline void load(struct text *text, const char *root, const char *session)
{
	char name[128];
	struct stat info;
	FILE *stream;

	*text = (struct text){0};
	snprintf(text->session, sizeof text->session, "%s", session);
	snprintf(name, sizeof name, "log/%s.jsonl", session);
	snprintf(text->path, sizeof text->path, "%s", in(root, name));
	assert_int_equal(stat(text->path, &info), 0);
	text->length = (size_t)info.st_size;
	text->bytes = malloc(text->length + 1);
	stream = fopen(text->path, "re");
	assert_non_null(stream);
	assert_int_equal(fread(text->bytes, 1, text->length, stream), text->length);
	fclose(stream);
	text->bytes[text->length] = '\0';
	text->line[0] = text->bytes;
	for (char *at = text->bytes; *at && text->count < COUNT(text->line) - 1; at++)
		if (*at == '\n')
			text->line[++text->count] = at + 1;
}

/* Write lines (their numbers from 1, ended by 0) of the original, in this order. */
static inline void store_lines(const struct text *text, const int *numbers)
{
	FILE *stream = fopen(text->path, "we");

	assert_non_null(stream);
	for (; *numbers; numbers++)
		fwrite(text->line[*numbers - 1], 1,
		       (size_t)(text->line[*numbers] - text->line[*numbers - 1]), stream);
	fclose(stream);
}

static inline void store(const struct text *text, const char *bytes, size_t length)
{
	FILE *stream = fopen(text->path, "we");

	assert_non_null(stream);
	assert_int_equal(fwrite(bytes, 1, length, stream), length);
	fclose(stream);
}

static inline struct sb_check verify(const char *root, const char *session)
{
	SB_AUTO_FD int dir = -1;
	struct sb_check check;
	struct sb_error err;

	assert_int_equal(sb_log_open(root, &dir, &err), SB_OK);
	assert_int_equal(sb_check_session(dir, session, &check, &err), SB_OK);
	return check;
}

static inline void is_broken(const char *root, const struct text *text, size_t line,
			     const char *what)
{
	struct sb_check check = verify(root, text->session);

	assert_int_equal(check.bad_line, line);
	assert_string_equal(check.what, what);
}

static inline void holds(const char *root, const struct text *text, size_t records)
{
	struct sb_check check = verify(root, text->session);

	assert_string_equal(check.what, "");
	assert_int_equal(check.bad_line, 0);
	assert_int_equal(check.records, records);
}

/* start, three denials, exit */
static inline void five_records(const char *root, struct text *out)
{
	struct sb_audit *audit = open_audit(root, "job");
	struct sb_event start = {.kind = SB_EVENT_START, .directory = "/d"};
	char session[SB_SESSION_SIZE];

	snprintf(session, sizeof session, "%s", sb_audit_session(audit));
	assert_int_equal(sb_audit_write(audit, &start, NULL), SB_OK);
	deny(audit, "/a");
	deny(audit, "/b");
	deny(audit, "/c");
	leave(audit);
	load(out, root, session);
	assert_int_equal(out->count, 5);
}

#endif
