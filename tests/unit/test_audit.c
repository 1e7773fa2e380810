/* test_audit.c - the log: records there and back, the chain, and every way to tamper with it. */
#include "tree.h"

#include <errno.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "audit/audit.h"
#include "audit/chain.h"
#include "audit/log.h"
#include "audit/record.h"
#include "base/auto.h"
#include "base/buf.h"

static struct sb_audit *open_audit(const char *root, const char *name)
{
	struct sb_audit *audit = NULL;
	struct sb_error err;

	assert_int_equal(sb_audit_open(root, name, &audit, &err), SB_OK);
	return audit;
}

static void deny(struct sb_audit *audit, const char *path)
{
	struct sb_event event = {
		.kind = SB_EVENT_DENY, .op = "create", .path = path, .verdict = "deny"};

	assert_int_equal(sb_audit_write(audit, &event, NULL), SB_OK);
}

static void leave(struct sb_audit *audit)
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

static void load(struct text *text, const char *root, const char *session)
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
static void store_lines(const struct text *text, const int *numbers)
{
	FILE *stream = fopen(text->path, "we");

	assert_non_null(stream);
	for (; *numbers; numbers++)
		fwrite(text->line[*numbers - 1], 1,
		       (size_t)(text->line[*numbers] - text->line[*numbers - 1]), stream);
	fclose(stream);
}

static void store(const struct text *text, const char *bytes, size_t length)
{
	FILE *stream = fopen(text->path, "we");

	assert_non_null(stream);
	assert_int_equal(fwrite(bytes, 1, length, stream), length);
	fclose(stream);
}

static struct sb_check verify(const char *root, const char *session)
{
	SB_AUTO_FD int dir = -1;
	struct sb_check check;
	struct sb_error err;

	assert_int_equal(sb_log_open(root, &dir, &err), SB_OK);
	assert_int_equal(sb_check_session(dir, session, &check, &err), SB_OK);
	return check;
}

static void is_broken(const char *root, const struct text *text, size_t line, const char *what)
{
	struct sb_check check = verify(root, text->session);

	assert_int_equal(check.bad_line, line);
	assert_string_equal(check.what, what);
}

static void holds(const char *root, const struct text *text, size_t records)
{
	struct sb_check check = verify(root, text->session);

	assert_string_equal(check.what, "");
	assert_int_equal(check.bad_line, 0);
	assert_int_equal(check.records, records);
}

/* start, three denials, exit */
static void five_records(const char *root, struct text *out)
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

/* --- records ----------------------------------------------------------------- */

static void same_text(const char *a, const char *b)
{
	assert_true(!a == !b);
	if (a)
		assert_string_equal(a, b);
}

static void comes_back(const struct sb_event *event)
{
	SB_AUTO_BUF struct sb_buf line = SB_BUF(SB_RECORD_MAX), again = SB_BUF(SB_RECORD_MAX);
	struct sb_record given = {.time_us = 1763229781000123,
				  .seq = 7,
				  .session = "20251115T180301-1234-9f3c",
				  .event = *event},
			 got;
	struct sb_error err;

	sb_record_print(&given, &line);
	sb_record_print_tail("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
			     &line);
	assert_false(sb_buf_failed(&line));
	assert_ptr_equal(strchr(line.data, '\n'), line.data + line.length - 1);
	assert_int_equal(sb_record_parse(line.data, line.length - 1, &got, &err), SB_OK);
	assert_int_equal(got.time_us, given.time_us);
	assert_int_equal(got.seq, 7);
	assert_string_equal(got.session, given.session);
	assert_int_equal(got.event.kind, event->kind);
	assert_int_equal(got.event.question, event->question);
	same_text(got.event.path, event->path);
	same_text(got.event.target, event->target);
	same_text(got.event.program, event->program);
	same_text(got.event.by, event->by);
	assert_int_equal(got.event.process, event->process);
	assert_int_equal(got.event.error, event->error);
	assert_int_equal(got.event.has_status, event->has_status);
	assert_int_equal(got.event.status, event->status);
	for (size_t i = 0; event->command && event->command[i]; i++)
		assert_string_equal(got.event.command[i], event->command[i]);
	if (event->counters)
		assert_memory_equal(got.event.counters, event->counters, sizeof *event->counters);
	sb_record_print(&got, &again);
	sb_record_print_tail(got.hash, &again);
	assert_string_equal(again.data, line.data);
	sb_record_done(&got);
}

static void records_come_back(void **state)
{
	static const char *const command[] = {"make", "", "a b", "\xff\n\"\\", NULL};
	static const char *const none[] = {NULL};
	struct sb_counters counters = {.seen = {1, 2, 3, 4}, .denied = {LONG_MAX, 0, 0, 1}};

	(void)state;
	for (int kind = 0; kind < SB_EVENT_COUNT; kind++)
		comes_back(&(struct sb_event){.kind = (enum sb_event_kind)kind});
	comes_back(&(struct sb_event){.kind = SB_EVENT_ASK,
				      .question = 12,
				      .op = "modify",
				      .act = "rename",
				      .path = "/a\x1b[2J\n\t\x7f",
				      .target = "\xff\xfe/\xc3\x28/\xed\xa0\x80/\xf5",
				      .program = "\xe2\x80\xae"
						 "gpj.exe",
				      .process = 4194304,
				      .rule = "built-in: \xf3\xa0\x80\x81 tags",
				      .verdict = "allow",
				      .answer = "once",
				      .by = "",
				      .error = EACCES});
	comes_back(&(struct sb_event){
		.kind = SB_EVENT_START, .command = command, .policy_hash = "ab", .mode = "m"});
	comes_back(&(struct sb_event){.kind = SB_EVENT_START, .command = none});
	comes_back(&(struct sb_event){
		.kind = SB_EVENT_EXIT, .has_status = true, .status = 0, .counters = &counters});
	comes_back(&(struct sb_event){.kind = SB_EVENT_EXIT, .has_status = true, .status = -9});
}

static void random_bytes_come_back(void **state)
{
	char path[300];

	(void)state;
	unit_seed();
	for (int round = 0; round < 3000; round++) {
		size_t length = unit_below(sizeof path);

		for (size_t i = 0; i < length; i++)
			path[i] = (char)(1 + unit_below(255));
		path[length] = '\0';
		comes_back(&(struct sb_event){.kind = SB_EVENT_DENY, .path = path});
	}
}

#define HEAD "{\"v\":1,\"time\":\"2025-11-15T18:03:01.000123Z\",\"seq\":7"
#define SESSION ",\"session\":\"20251115T180301-1234-9f3c\",\"event\":\"deny\""
#define HASH ",\"hash\":\"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"}"

static bool parses(const char *line)
{
	struct sb_record record;
	struct sb_error err;
	/* an exact copy, so that ASan sees one byte too far */
	size_t length = strlen(line);
	char *copy = malloc(length ? length : 1);
	int status;

	memcpy(copy, line, length);
	status = sb_record_parse(copy, length, &record, &err);
	free(copy);
	if (status == SB_OK)
		sb_record_done(&record);
	else
		assert_int_equal(status, SB_E_INVALID);
	return status == SB_OK;
}

static void only_our_own_is_taken(void **state)
{
	static const char whole[] = HEAD SESSION ",\"path\":\"/a\",\"process\":3" HASH;
	static const char *const others[] = {
		"",
		"{}",
		"null",
		HEAD SESSION HASH " ",
		HEAD SESSION HASH HASH,
		" " HEAD SESSION HASH,
		HEAD SESSION ",\"path\": \"/a\"" HASH,
		HEAD SESSION ",\"process\":3,\"path\":\"/a\"" HASH, /* another order */
		HEAD SESSION ",\"path\":\"/a\",\"path\":\"/b\"" HASH,
		HEAD SESSION ",\"unknown\":1" HASH,
		HEAD SESSION ",\"path\":null" HASH,
		HEAD SESSION ",\"path\":\"\\u0000\"" HASH,
		HEAD SESSION ",\"path\":\"\\ud800\"" HASH,
		HEAD SESSION ",\"path\":\"\\udc00\"" HASH,
		HEAD SESSION ",\"path\":\"\\ud800\\u0041\"" HASH,
		HEAD SESSION ",\"path\":\"\\uDC80\"" HASH,
		HEAD SESSION ",\"path\":\"\\n\"" HASH,
		HEAD SESSION ",\"path\":\"\n\"" HASH,
		HEAD SESSION ",\"path\":\"\xff\"" HASH,
		HEAD SESSION ",\"path\":\"\x7f\"" HASH,
		HEAD SESSION ",\"path\":\"\\u00" HASH,
		HEAD SESSION ",\"path\":\"\\" HASH,
		HEAD SESSION ",\"process\":0" HASH,
		HEAD SESSION ",\"process\":03" HASH,
		HEAD SESSION ",\"process\":-0" HASH,
		HEAD SESSION ",\"process\":1e3" HASH,
		HEAD SESSION ",\"process\":2147483648" HASH,
		HEAD SESSION ",\"question\":99999999999999999999" HASH,
		HEAD SESSION ",\"question\":-1" HASH,
		HEAD SESSION ",\"command\":[\"a\",]" HASH,
		HEAD SESSION ",\"command\":[,]" HASH,
		HEAD SESSION ",\"command\":[\"a\"" HASH,
		HEAD SESSION ",\"counters\":{}" HASH,
		HEAD SESSION ",\"counters\":{\"seen\":[1,2,3,4,5]}" HASH,
		HEAD ",\"lost\":0" SESSION HASH,
		HEAD ",\"session\":\"../../etc/passwd\",\"event\":\"deny\"" HASH,
		HEAD ",\"session\":\"20251115T180301--9f3c\",\"event\":\"deny\"" HASH,
		HEAD ",\"session\":\"20251115T180301-1234-9f3c\",\"event\":\"other\"" HASH,
		"{\"v\":2,\"time\":\"2025-11-15T18:03:01.000123Z\",\"seq\":7" SESSION HASH,
		"{\"v\":1,\"time\":\"2025-13-15T18:03:01.000123Z\",\"seq\":7" SESSION HASH,
		"{\"v\":1,\"time\":\"2025-02-30T18:03:01.000123Z\",\"seq\":7" SESSION HASH,
		"{\"v\":1,\"time\":\"2025-11-15 18:03:01.000123Z\",\"seq\":7" SESSION HASH,
		"{\"v\":1,\"time\":\"2025-11-15T18:03:01.000123Z\",\"seq\":0" SESSION HASH,
	};
	char cut[sizeof whole];

	(void)state;
	assert_true(parses(whole));
	assert_true(parses(HEAD SESSION HASH));
	for (size_t i = 0; i < COUNT(others); i++) {
		if (parses(others[i]))
			fail_msg("taken: %s", others[i]);
	}
	for (size_t length = 0; length < strlen(whole); length++) {
		memcpy(cut, whole, length);
		cut[length] = '\0';
		assert_false(parses(cut));
	}
}

static void huge_texts_are_cut_and_say_so(void **state)
{
	size_t length = 3 * 1024 * 1024;
	char *huge = malloc(length + 1);
	const char *const command[] = {"a", huge, "b", NULL};
	struct sb_audit *audit = open_audit(*state, NULL);
	struct sb_event event = {.kind = SB_EVENT_START,
				 .path = huge,
				 .target = huge,
				 .program = huge,
				 .rule = huge,
				 .directory = huge,
				 .command = command};
	struct sb_record record;
	struct text text;

	memset(huge, 0xff, length); /* each byte becomes six */
	huge[length] = '\0';
	assert_int_equal(sb_audit_write(audit, &event, NULL), SB_OK);
	deny(audit, "/x");
	load(&text, *state, sb_audit_session(audit));
	assert_int_equal(sb_record_parse(text.line[0], (size_t)(text.line[1] - text.line[0]) - 1,
					 &record, NULL),
			 SB_OK);
	assert_int_equal(strlen(record.event.path), SB_RECORD_TEXT_MAX);
	assert_int_equal(record.cut, 5 * (length - SB_RECORD_TEXT_MAX) + length -
					     (SB_RECORD_WORDS_MAX - 2) + 2);
	assert_string_equal(record.event.command[0], "a");
	assert_null(record.event.command[2]);
	sb_record_done(&record);
	holds(*state, &text, 2);

	/* the longest path that the kernel takes is whole; a character is never cut in two */
	huge[4095] = '\0';
	deny(audit, huge);
	huge[4095] = (char)0xff;
	for (size_t i = 0; i + 1 < length; i += 2)
		memcpy(huge + i, "\xc3\xa9", 2);
	memmove(huge + 1, huge, length - 1);
	huge[0] = 'x';
	deny(audit, huge);
	free(text.bytes);
	load(&text, *state, sb_audit_session(audit));
	assert_int_equal(sb_record_parse(text.line[2], (size_t)(text.line[3] - text.line[2]) - 1,
					 &record, NULL),
			 SB_OK);
	assert_int_equal(strlen(record.event.path), 4095);
	assert_int_equal(record.cut, 0);
	sb_record_done(&record);
	assert_int_equal(sb_record_parse(text.line[3], (size_t)(text.line[4] - text.line[3]) - 1,
					 &record, NULL),
			 SB_OK);
	assert_int_equal(strlen(record.event.path), SB_RECORD_TEXT_MAX - 1);
	sb_record_done(&record);
	holds(*state, &text, 4);
	sb_audit_close(audit);
	free(text.bytes);
	free(huge);
}

/* --- the chain --------------------------------------------------------------- */

static void an_untouched_log_holds(void **state)
{
	struct text text;
	struct sb_check check;
	struct stat info;

	five_records(*state, &text);
	check = verify(*state, text.session);
	assert_int_equal(check.bad_line, 0);
	assert_int_equal(check.records, 5);
	assert_true(check.exited);
	assert_false(check.torn_end);
	assert_int_equal(check.lost, 0);
	assert_int_equal(stat(text.path, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0600);
	assert_int_equal(stat(in(*state, "log"), &info), 0);
	assert_int_equal(info.st_mode & 07777, 0700);
	free(text.bytes);
}

static void tampering_shows(void **state)
{
	static const struct {
		int lines[8];
		size_t at;
		const char *what;
	} cases[] = {
		{{2, 3, 4, 5}, 1, "record 1 is missing before record 2"},
		{{1, 3, 4, 5}, 2, "record 2 is missing before record 3"},
		{{1, 4, 5}, 2, "records 2 to 3 are missing before record 4"},
		{{1, 2, 3, 5}, 4, "record 4 is missing before record 5"},
		{{1, 3, 2, 4, 5}, 2, "record 2 is missing before record 3"},
		{{1, 2, 2, 3, 4, 5}, 3, "record 2 stands where record 3 belongs"},
		{{1, 2, 3, 4, 5, 5}, 6, "record 5 stands where record 6 belongs"},
		{{1, 2, 3, 4, 5, 1}, 6, "record 1 stands where record 6 belongs"},
		{{5}, 1, "records 1 to 4 are missing before record 5"},
	};
	struct text text;

	five_records(*state, &text);
	for (size_t i = 0; i < COUNT(cases); i++) {
		store_lines(&text, cases[i].lines);
		is_broken(*state, &text, cases[i].at, cases[i].what);
	}
	free(text.bytes);
}

/* Whatever single byte before the last newline is changed, added or taken away, it shows. */
static void every_byte_is_covered(void **state)
{
	struct text text;
	char *changed;

	five_records(*state, &text);
	changed = malloc(text.length + 2);
	for (size_t i = 0; i < text.length; i++) {
		memcpy(changed, text.bytes, text.length);
		changed[i] = changed[i] == '1' ? '2' : '1';
		store(&text, changed, text.length);
		if (i == text.length - 1) { /* the last newline: then it is a torn end */
			struct sb_check check = verify(*state, text.session);

			assert_true(check.torn_end);
			continue;
		}
		assert_int_not_equal(verify(*state, text.session).bad_line, 0);

		memcpy(changed, text.bytes, i);
		changed[i] = '\n';
		memcpy(changed + i + 1, text.bytes + i, text.length - i);
		store(&text, changed, text.length + 1);
		assert_int_not_equal(verify(*state, text.session).bad_line, 0);

		memcpy(changed, text.bytes, i);
		memcpy(changed + i, text.bytes + i + 1, text.length - i - 1);
		store(&text, changed, text.length - 1);
		assert_int_not_equal(verify(*state, text.session).bad_line, 0);
	}
	free(changed);
	free(text.bytes);
}

static void edits_are_named(void **state)
{
	SB_AUTO_BUF struct sb_buf bytes = SB_BUF(1 << 20);
	struct text text, other;
	char *path;

	five_records(*state, &text);
	path = strstr(text.line[2], "\"/b\"");
	path[2] = 'z';
	store(&text, text.bytes, text.length);
	is_broken(*state, &text, 3, "record 3 was changed, or what stands before it");
	path[2] = 'b';

	path = strstr(text.line[3], "\"/c\"");
	*path = 'x';
	store(&text, text.bytes, text.length);
	is_broken(*state, &text, 4, "this line is no record");
	*path = '"';

	/* a line put between; a record cut in its middle; an empty line */
	sb_buf_append(&bytes, text.bytes, (size_t)(text.line[2] - text.bytes));
	sb_buf_puts(&bytes, "hello\n");
	sb_buf_puts(&bytes, text.line[2]);
	store(&text, bytes.data, bytes.length);
	is_broken(*state, &text, 3, "this line is no record");
	sb_buf_done(&bytes);
	sb_buf_append(&bytes, text.bytes, (size_t)(text.line[2] - text.bytes) - 40);
	sb_buf_putc(&bytes, '\n');
	sb_buf_puts(&bytes, text.line[2]);
	store(&text, bytes.data, bytes.length);
	is_broken(*state, &text, 2, "this line is no record");
	sb_buf_done(&bytes);
	sb_buf_puts(&bytes, text.bytes);
	sb_buf_putc(&bytes, '\n');
	store(&text, bytes.data, bytes.length);
	is_broken(*state, &text, 6, "this line is no record");

	/* a record of another session with the right number */
	five_records(*state, &other);
	sb_buf_done(&bytes);
	sb_buf_append(&bytes, text.bytes, (size_t)(text.line[4] - text.bytes));
	sb_buf_puts(&bytes, other.line[4]);
	store(&text, bytes.data, bytes.length);
	assert_int_equal(verify(*state, text.session).bad_line, 5);
	assert_non_null(strstr(verify(*state, text.session).what, "is from another session"));
	/* and a whole file under another name */
	store(&text, other.bytes, other.length);
	assert_int_equal(verify(*state, text.session).bad_line, 1);
	free(other.bytes);
	free(text.bytes);
}

static void an_overlong_line_is_no_record(void **state)
{
	size_t length = 2 * SB_RECORD_MAX + 77;
	struct text text;
	char *bytes;

	five_records(*state, &text);
	bytes = malloc(length + 1 + text.length);
	memset(bytes, 'x', length);
	bytes[length] = '\n';
	memcpy(bytes + length + 1, text.bytes, text.length);
	store(&text, bytes, length + 1 + text.length);
	is_broken(*state, &text, 1, "this line is no record");
	free(bytes);
	free(text.bytes);
}

/* Cut anywhere: what is left of whole records holds, and the rest is a torn end. */
static void cut_ends_are_told(void **state)
{
	struct text text;

	five_records(*state, &text);
	for (size_t length = 0; length < text.length; length++) {
		struct sb_check check;
		size_t whole = 0;

		while (text.line[whole + 1] - text.bytes <= (ptrdiff_t)length)
			whole++;
		store(&text, text.bytes, length);
		check = verify(*state, text.session);
		assert_int_equal(check.bad_line, 0);
		assert_int_equal(check.records, whole);
		assert_int_equal(check.torn_end, length != (size_t)(text.line[whole] - text.bytes));
		assert_false(check.exited);
	}
	free(text.bytes);
}

/* --- a full disk ------------------------------------------------------------- */

static void limit_file(rlim_t bytes)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/*
 * Room runs out at every possible byte of the second record, comes back, and the file holds.
 * twice: it runs out again a few bytes later.
 */
static void full_disk_at_every_byte(void **state)
{
	struct sb_event event = {.kind = SB_EVENT_DENY, .path = "/lost"};
	size_t first = 0, second = 0;

	signal(SIGXFSZ, SIG_IGN);
	for (size_t room = 0; room == 0 || room <= second; room++) {
		struct sb_audit *audit = open_audit(*state, NULL);
		struct sb_check check;
		struct text text;
		struct sb_error err;
		char session[SB_SESSION_SIZE];
		int status;

		snprintf(session, sizeof session, "%s", sb_audit_session(audit));
		deny(audit, "/first");
		load(&text, *state, session);
		first = text.length;
		free(text.bytes);
		limit_file(first + room);
		status = sb_audit_write(audit, &event, &err);
		if (status != SB_OK) {
			assert_int_equal(err.sys_errno, EFBIG);
			/* a little more room, not enough */
			limit_file(first + room + room % 5);
			assert_int_equal(sb_audit_write(audit, &event, NULL), SB_E_SYSTEM);
		}
		limit_file(RLIM_INFINITY);
		deny(audit, "/third");
		leave(audit);
		load(&text, *state, session);
		check = verify(*state, session);
		assert_string_equal(check.what, "");
		assert_true(check.exited);
		assert_int_equal(check.records, status == SB_OK ? 4 : 3);
		assert_int_equal(check.lost, status == SB_OK ? 0 : 2);
		if (room && room % 5 == 0 && status != SB_OK)
			assert_int_equal(check.torn, 1);
		assert_false(check.torn_end);
		if (room == 0) { /* how long it would have been */
			SB_AUTO_BUF struct sb_buf line = SB_BUF(SB_RECORD_MAX);
			struct sb_record record = {.seq = 2, .event = event};

			snprintf(record.session, sizeof record.session, "%s", session);
			sb_record_print(&record, &line);
			second = line.length + SB_RECORD_TAIL + 1;
		}
		/* what a full disk left is covered too */
		if (check.torn) {
			text.line[1][0] ^= 1;
			store(&text, text.bytes, text.length);
			assert_int_not_equal(verify(*state, session).bad_line, 0);
		}
		free(text.bytes);
	}
}

static void a_killed_writer_leaves_one_torn_line(void **state)
{
	static char path[4000];

	unit_seed();
	memset(path, 'p', sizeof path - 1);
	for (int round = 0; round < 30; round++) {
		struct timespec pause = {.tv_nsec = 300000 + unit_below(3000000)};
		struct sb_session_list list;
		struct sb_check check;
		struct sb_error err;
		pid_t child = fork();

		SB_AUTO_FD int dir = -1;

		assert_true(child >= 0);
		if (child == 0) {
			struct sb_audit *audit = open_audit(*state, NULL);

			for (;;)
				deny(audit, path + unit_below(sizeof path));
		}
		nanosleep(&pause, NULL);
		kill(child, SIGKILL);
		assert_int_equal(waitpid(child, NULL, 0), child);
		assert_int_equal(sb_log_open(*state, &dir, &err), SB_OK);
		if (dir < 0)
			continue; /* it had no time */
		assert_int_equal(sb_log_list(dir, &list, &err), SB_OK);
		for (size_t i = 0; i < list.count; i++) {
			check = verify(*state, list.sessions[i].id);
			assert_string_equal(check.what, "");
			assert_int_equal(check.bad_line, 0);
			assert_false(check.exited);
			assert_false(sb_log_writer_lives(dir, list.sessions[i].id));
		}
		sb_log_list_done(&list);
	}
}

/* --- sessions, pruning ------------------------------------------------------- */

static void sessions_are_told_from_other_names(void **state)
{
	static const char *const good[] = {"20261115T180301-1234-9f3c", "00000000T000000-1-0000"};
	static const char *const bad[] = {
		"",
		".",
		"20261115T180301-1234-9f3g",
		"20261115T180301-1234-9F3C",
		"20261115T180301--9f3c",
		"20261115T180301-12-4-9f3c",
		"20261115t180301-1234-9f3c",
		"20261115T180301-1234567890123456-9f3c",
		"20261115T180301-1234-9f3c.jsonl",
	};
	struct sb_session_list list;
	struct sb_audit *audit;
	struct sb_error err;

	SB_AUTO_FD int dir = -1;

	for (size_t i = 0; i < COUNT(good); i++)
		assert_true(sb_session_valid(good[i], strlen(good[i])));
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_false(sb_session_valid(bad[i], strlen(bad[i])));
	assert_int_equal(sb_log_open(*state, &dir, &err), SB_OK);
	assert_int_equal(dir, -1);
	audit = open_audit(*state, NULL);
	assert_true(sb_session_valid(sb_audit_session(audit), strlen(sb_audit_session(audit))));
	make_file(*state, "log/notes.txt");
	make_file(*state, "log/20261115T180301-1234-9f3c");
	make_file(*state, "log/x.jsonl");
	make_link(*state, "log/20261115T180301-1234-9f3c.jsonl", "/etc/passwd");
	make_dir(*state, "log/20261115T180301-1234-9f3d.jsonl");
	assert_int_equal(sb_log_open(*state, &dir, &err), SB_OK);
	assert_int_equal(sb_log_list(dir, &list, &err), SB_OK);
	assert_int_equal(list.count, 1);
	assert_string_equal(list.sessions[0].id, sb_audit_session(audit));
	assert_true(sb_log_writer_lives(dir, sb_audit_session(audit)));
	sb_audit_close(audit);
	assert_false(sb_log_writer_lives(dir, list.sessions[0].id));
	sb_log_list_done(&list);
}

struct removals {
	size_t count;
	char ids[8][SB_SESSION_SIZE];
	char why[8];
};

static void note_removal(void *context, const struct sb_session_file *session, const char *why,
			 int error)
{
	struct removals *removals = context;

	assert_int_equal(error, 0);
	removals->why[removals->count] = why[0];
	snprintf(removals->ids[removals->count++], SB_SESSION_SIZE, "%s", session->id);
}

/* Write n bytes of records in a session that was last written days ago. */
static struct sb_audit *aged(const char *root, int days, bool open)
{
	struct sb_audit *audit = open_audit(root, NULL);
	struct timespec times[2] = {{.tv_sec = 1000000000L - days * 86400L},
				    {.tv_sec = 1000000000L - days * 86400L}};
	char name[128];

	deny(audit, "/x");
	snprintf(name, sizeof name, "log/%s.jsonl", sb_audit_session(audit));
	assert_int_equal(utimensat(AT_FDCWD, in(root, name), times, 0), 0);
	if (!open) {
		sb_audit_close(audit);
		audit = NULL;
	}
	return audit;
}

static void prune_takes_the_oldest_and_spares_the_living(void **state)
{
	struct sb_audit *alive = aged(*state, 100, true);
	struct removals removals = {0};
	struct sb_prune prune = {.before_us = (1000000000L - 50 * 86400L) * 1000000,
				 .removed = note_removal,
				 .context = &removals};
	struct sb_session_list list;
	struct sb_error err;

	SB_AUTO_FD int dir = -1;

	aged(*state, 10, false);
	aged(*state, 60, false);
	aged(*state, 30, false);
	aged(*state, 70, false);
	assert_int_equal(sb_log_open(*state, &dir, &err), SB_OK);
	assert_int_equal(sb_log_prune(dir, &prune, &err), SB_OK);
	assert_int_equal(removals.count, 2);
	assert_memory_equal(removals.why, "aa", 2);
	assert_int_equal(prune.kept, 3);

	assert_int_equal(sb_log_list(dir, &list, &err), SB_OK);
	assert_int_equal(list.count, 3);
	prune.before_us = 0;
	prune.total_bytes = prune.kept_bytes - 1;
	assert_int_equal(sb_log_prune(dir, &prune, &err), SB_OK);
	assert_int_equal(removals.count, 3);
	assert_int_equal(removals.why[2], 's');
	sb_log_list_done(&list);
	assert_int_equal(sb_log_list(dir, &list, &err), SB_OK);
	assert_int_equal(list.count, 2);
	/* of those that may go, the one of 30 days went before the one of 10 */
	for (size_t i = 0; i < list.count; i++)
		assert_string_not_equal(list.sessions[i].id, removals.ids[2]);
	sb_log_list_done(&list);

	prune.total_bytes = 1;
	assert_int_equal(sb_log_prune(dir, &prune, &err), SB_OK);
	assert_int_equal(prune.kept, 1);
	deny(alive, "/still here");
	leave(alive);
	prune.total_bytes = 0;
	assert_int_equal(sb_log_prune(dir, &prune, &err), SB_OK); /* no limit at all */
	assert_int_equal(prune.kept, 1);
	assert_int_equal(removals.count, 4);
}

static void a_place_that_cannot_be_written_is_an_error(void **state)
{
	struct sb_audit *audit = NULL;
	struct sb_error err;

	make_file(*state, "file");
	assert_int_equal(sb_audit_open(in(*state, "file/state"), NULL, &audit, &err), SB_E_SYSTEM);
	assert_int_equal(err.sys_errno, ENOTDIR);
	make_link(*state, "log", "/tmp");
	assert_int_equal(sb_audit_open(*state, NULL, &audit, &err), SB_E_SYSTEM);
	assert_null(audit);
	sb_audit_close(NULL);
}

#define WITH_TREE(test) cmocka_unit_test_setup_teardown(test, tree_setup, tree_teardown)

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(records_come_back),
	cmocka_unit_test(random_bytes_come_back),
	cmocka_unit_test(only_our_own_is_taken),
	WITH_TREE(huge_texts_are_cut_and_say_so),
	WITH_TREE(an_untouched_log_holds),
	WITH_TREE(tampering_shows),
	WITH_TREE(every_byte_is_covered),
	WITH_TREE(edits_are_named),
	WITH_TREE(an_overlong_line_is_no_record),
	WITH_TREE(cut_ends_are_told),
	WITH_TREE(full_disk_at_every_byte),
	WITH_TREE(a_killed_writer_leaves_one_torn_line),
	WITH_TREE(sessions_are_told_from_other_names),
	WITH_TREE(prune_takes_the_oldest_and_spares_the_living),
	WITH_TREE(a_place_that_cannot_be_written_is_an_error),
};

UNIT_MAIN("audit")
