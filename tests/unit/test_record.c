/* test_record.c - R1: a record comes back as it was written, and nothing else is taken for one. */
#include "session_log.h"

#include <errno.h>

#include "base/buf.h"

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
	comes_back(&(struct sb_event){.kind = SB_EVENT_CONNECT,
				      .op = "connect",
				      .host = "xn--\x1b[2J",
				      .port = 65535,
				      .protocol = "udp",
				      .address = "2001:db8::1",
				      .tls_name = "\xff",
				      .sent = LONG_MAX,
				      .received = 1,
				      .milliseconds = 12,
				      .rule = "r"});
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

static bool links(const char *line, unsigned long seq)
{
	char hash[SB_SHA256_HEX];
	unsigned long found = 0;
	size_t length = strlen(line);
	char *copy = malloc(length ? length : 1);
	bool links;

	memcpy(copy, line, length);
	links = sb_record_link(copy, length, hash, &found);
	free(copy);
	if (links) {
		assert_int_equal(found, seq);
		assert_memory_equal(hash, line + length - 66, 64);
	}
	return links;
}

static void the_next_record_finds_what_it_needs(void **state)
{
	static const char *const others[] = {
		"",
		"{}",
		HASH,
		HEAD HASH,
		HEAD SESSION,
		"{\"v\":1,\"time\":\"2025-11-15T18:03:01.000123Z\",\"seq\":0" SESSION HASH,
		"{\"v\":1,\"time\":\"2025-11-15T18:03:01.000123Z\",\"seq\":-1" SESSION HASH,
		"{\"v\":1,\"time\":\"2025-11-15T18:03:01.000123Z\"" SESSION ",\"seq\":7" HASH,
		"{\"v\":2,\"time\":\"2025-11-15T18:03:01.000123Z\",\"seq\":7" SESSION HASH,
		HEAD SESSION
		",\"hash\":\"0123456789abcdef0123456789abcdef0123456789abcdef0123456789"
		"abcdeg\"}",
	};

	(void)state;
	assert_true(links(HEAD SESSION HASH, 7));
	assert_true(links(HEAD "3" SESSION ",\"path\":\",\\\"seq\\\":9\"" HASH, 73));
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		assert_false(links(others[i], 0));
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

#define WITH_TREE(test) cmocka_unit_test_setup_teardown(test, tree_setup, tree_teardown)

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(records_come_back),
	cmocka_unit_test(random_bytes_come_back),
	cmocka_unit_test(only_our_own_is_taken),
	cmocka_unit_test(the_next_record_finds_what_it_needs),
	WITH_TREE(huge_texts_are_cut_and_say_so),
};

UNIT_MAIN("record")
