/*
 * modes.c - fuzz target: the input is what a command writes to its terminal.
 *
 * However it is cut, the same passes and the same modes are read; what passes holds no control
 * but those that may, and passes again unchanged; and what a question switches off and sets
 * again leaves the terminal, as the tracker knows it, as it was.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "terminal/sieve.h"

static void check_same(const struct sb_modes *a, const struct sb_modes *b)
{
	CHECK(a->on == b->on && a->saved == b->saved && a->alternate == b->alternate);
	CHECK(a->top == b->top && a->bottom == b->bottom);
	CHECK(a->left == b->left && a->right == b->right && a->other_keys == b->other_keys);
	CHECK(a->attributes_lost == b->attributes_lost);
	CHECK(a->attributes_length == b->attributes_length);
	CHECK(memcmp(a->attributes, b->attributes, a->attributes_length) == 0);
}

/* Sift bytes in two pieces, or one by one; what passes goes to out. */
static struct sb_sieve sift(struct sb_buf *out, const char *bytes, size_t size, size_t piece)
{
	SB_AUTO_FREE char *buffer = malloc(size + SB_SIEVE_HOLD + 2);
	struct sb_sieve sieve;
	size_t held = 0;

	CHECK(buffer);
	sb_sieve_init(&sieve);
	for (size_t at = 0; at < size; at += piece) {
		size_t count = size - at < piece ? size - at : piece, passed;

		memcpy(buffer + held, bytes + at, count);
		passed = sb_sieve_run(&sieve, buffer, held + count, &held);
		CHECK(held <= SB_SIEVE_HOLD + 2);
		sb_buf_append(out, buffer, passed);
		memmove(buffer, buffer + passed, held);
	}
	return sieve;
}

static void check_question(const struct sb_modes *modes)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(8192);
	struct sb_sieve sieve = {.modes = *modes};
	size_t held;

	if (modes->attributes_lost)
		return;
	sb_modes_enter(modes, &text);
	sb_modes_leave(modes, &text);
	CHECK(!sb_buf_failed(&text));
	sb_sieve_run(&sieve, text.data, text.length, &held);
	CHECK(held == 0 && sieve.state == SB_SIEVE_TEXT);
	check_same(&sieve.modes, modes);
}

static void check_clean(const struct sb_buf *passed)
{
	for (size_t i = 0; i < passed->length; i++) {
		unsigned char c = (unsigned char)passed->data[i];

		CHECK((c >= ' ' && c != 0x7f) || (c >= '\a' && c <= 0x0f) || c == 0x1b);
		/* never a control of eight bits, in one byte or in two */
		CHECK(c != 0xc2 || i + 1 == passed->length ||
		      (unsigned char)passed->data[i + 1] >= 0xa0 ||
		      (unsigned char)passed->data[i + 1] < 0x80);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *bytes = (const char *)data;
	SB_AUTO_BUF struct sb_buf whole = SB_BUF(1 << 24);
	SB_AUTO_BUF struct sb_buf single = SB_BUF(1 << 24);
	SB_AUTO_BUF struct sb_buf two = SB_BUF(1 << 24);
	SB_AUTO_BUF struct sb_buf again = SB_BUF(1 << 24);
	struct sb_sieve first = sift(&whole, bytes, size, size ? size : 1);
	struct sb_sieve other = sift(&single, bytes, size, 1);

	CHECK(whole.length <= size);
	CHECK(single.length == whole.length && memcmp(single.data, whole.data, whole.length) == 0);
	CHECK(first.state == other.state && first.passing == other.passing);
	check_same(&first.modes, &other.modes);
	sift(&two, bytes, size, size / 2 + 1);
	CHECK(two.length == whole.length && memcmp(two.data, whole.data, whole.length) == 0);
	check_clean(&whole);
	other = sift(&again, whole.data, whole.length, whole.length ? whole.length : 1);
	CHECK(again.length <= whole.length && memcmp(again.data, whole.data, again.length) == 0);
	check_same(&first.modes, &other.modes);
	check_question(&first.modes);
	return 0;
}
