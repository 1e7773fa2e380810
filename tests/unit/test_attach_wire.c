/* test_attach_wire.c - a message to those who attach is read as it was written, and nothing else is one. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "question_made.h"

static void a_question_survives_the_way(void **state)
{
	SB_AUTO_BUF struct sb_buf bytes = SB_BUF(SB_ATTACH_BYTES);
	struct sb_attach_message in = {.kind = SB_ATTACH_QUESTION, .question = question_of(5)}, out;

	(void)state;
	assert_true(sb_attach_encode(&in, &bytes));
	assert_true(sb_attach_decode(bytes.data, bytes.length, &out));
	assert_int_equal(out.question.id, 5);
	assert_string_equal(out.question.path, in.question.path);
	assert_string_equal(out.question.directory, "/home/anna");
	assert_null(out.question.target);
	assert_int_equal(out.question.content_length, 3);
	assert_memory_equal(out.question.content, "a\0b", 3);
	assert_int_equal(out.question.process, 77);
}

static void nothing_else_is_a_message(void **state)
{
	SB_AUTO_BUF struct sb_buf bytes = SB_BUF(SB_ATTACH_BYTES);
	struct sb_attach_message in = {.kind = SB_ATTACH_QUESTION, .question = question_of(5)}, out;
	char longest[SB_ATTACH_TEXT + 1], *copy;

	(void)state;
	assert_true(sb_attach_encode(&in, &bytes));
	for (size_t cut = 0; cut < bytes.length; cut++)
		assert_false(sb_attach_decode(bytes.data, cut, &out));
	/* every byte changed in every way: taken or not, it never reaches outside (ASan) */
	copy = malloc(bytes.length);
	assert_non_null(copy);
	for (size_t at = 0; at < bytes.length; at++) {
		static const unsigned char bits[] = {0x01, 0x80, 0xff};

		for (size_t i = 0; i < sizeof bits; i++) {
			memcpy(copy, bytes.data, bytes.length);
			copy[at] = (char)(copy[at] ^ bits[i]);
			if (sb_attach_decode(copy, bytes.length, &out) && out.question.path)
				assert_true(strlen(out.question.path) < bytes.length);
		}
	}
	free(copy);
	sb_buf_putc(&bytes, 0);
	assert_false(sb_attach_decode(bytes.data, bytes.length, &out));

	memset(longest, 'x', sizeof longest);
	longest[sizeof longest - 1] = '\0';
	in.question.path = longest;
	bytes.length = 0;
	assert_false(sb_attach_encode(&in, &bytes));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_question_survives_the_way),
	cmocka_unit_test(nothing_else_is_a_message),
};

UNIT_MAIN("attach wire")
