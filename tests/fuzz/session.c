/*
 * session.c - fuzz target: the input is a session's file.
 *
 * Whatever it holds, it is taken whole or refused with a harmless sentence; what was taken
 * prints to a file that parses back to the same answers.
 */
#include "fuzz.h"

#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "consent/session_file.h"
#include "policy/text.h"

static void check_refusal(const struct sb_error *err)
{
	const char *text = err->message;

	CHECK(err->code < 0 && text[0]);
	for (size_t length = strlen(text), step; length; text += step, length -= step) {
		step = sb_utf8_visible(text, length);
		CHECK(step);
	}
}

static void check_same(const struct sb_kept_answer *a, const struct sb_kept_answer *b)
{
	CHECK(a->path[0] == '/' && strcmp(a->path, b->path) == 0);
	CHECK(sb_access_equal(&a->access, &b->access));
	CHECK(a->file.known == b->file.known);
	CHECK(!a->file.known || sb_kept_same(&a->file, &b->file));
	CHECK(a->file.device == b->file.device && a->file.has_birth == b->file.has_birth);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sb_kept_list list = {0}, again = {0};
	SB_AUTO_BUF struct sb_buf text = SB_BUF(64 * 1024 * 1024); /* all paths as \xNN */
	struct sb_error err = {0};

	if (sb_session_parse((const char *)data, size, &list, &err) != SB_OK) {
		check_refusal(&err);
		CHECK(list.count == 0 && !list.entries);
		return 0;
	}
	CHECK(list.count <= SB_SESSION_MAX);
	sb_session_print(&list, &text);
	CHECK(!sb_buf_failed(&text));
	CHECK(sb_session_parse(text.data, text.length, &again, &err) == SB_OK);
	CHECK(again.count == list.count);
	for (size_t i = 0; i < list.count; i++)
		check_same(&list.entries[i], &again.entries[i]);
	sb_kept_list_done(&list);
	sb_kept_list_done(&again);
	return 0;
}
