/*
 * modes.c - fuzz target: the input is what a command writes to its terminal.
 *
 * However it is cut, the same modes are read; a safe place is outside every sequence and
 * character, so a plain letter there is safe as well; and what a question switches off and sets
 * again leaves the tracker, as the terminal, as it was.
 */
#include "fuzz.h"

#include <string.h>

#include "base/buf.h"
#include "consent/modes.h"

static void check_same(const struct sb_modes *a, const struct sb_modes *b)
{
	CHECK(a->on == b->on && a->saved == b->saved && a->alternate == b->alternate);
	CHECK(a->top == b->top && a->bottom == b->bottom);
	CHECK(a->left == b->left && a->right == b->right && a->other_keys == b->other_keys);
	CHECK(a->state == b->state && a->line_start == b->line_start);
	CHECK(a->attributes_lost == b->attributes_lost);
	CHECK(a->attributes_length == b->attributes_length);
	CHECK(memcmp(a->attributes, b->attributes, a->attributes_length) == 0);
}

static void check_question(const struct sb_modes *modes)
{
	struct sb_modes now = *modes;
	SB_AUTO_BUF struct sb_buf text = SB_BUF(8192);

	/* Outside a sequence, and with attributes that are known. */
	now.state = SB_MODES_GROUND;
	if (modes->attributes_lost)
		return;
	sb_modes_enter(modes, &text);
	sb_modes_leave(modes, &text);
	CHECK(!sb_buf_failed(&text));
	CHECK(sb_modes_feed(&now, text.data, text.length) == text.length);
	now.state = modes->state;
	now.line_start = modes->line_start;
	check_same(&now, modes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *bytes = (const char *)data;
	struct sb_modes whole, single, two;
	size_t safe, last = 0, middle = size ? data[0] % size : 0;

	sb_modes_init(&whole);
	safe = sb_modes_feed(&whole, bytes, size);
	CHECK(safe <= size);
	sb_modes_init(&single);
	for (size_t i = 0; i < size; i++)
		if (sb_modes_feed(&single, bytes + i, 1))
			last = i + 1;
	check_same(&single, &whole);
	sb_modes_init(&two);
	sb_modes_feed(&two, bytes, middle);
	sb_modes_feed(&two, bytes + middle, size - middle);
	check_same(&two, &whole);
	sb_modes_init(&two);
	if (safe) {
		sb_modes_feed(&two, bytes, safe);
		/* Single bytes do not tell that a character is broken before the next one comes. */
		CHECK(two.state == SB_MODES_GROUND || two.state == SB_MODES_UTF8 ||
		      two.state == SB_MODES_C2);
		CHECK(safe <= last || two.state != SB_MODES_GROUND);
		CHECK(sb_modes_feed(&two, "x", 1) == 1);
	}
	check_question(&whole);
	return 0;
}
