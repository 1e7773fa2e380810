#include "terminal/keys.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/buf.h"

#define CELLS 3

/* --- the fence --------------------------------------------------------------------- */

static unsigned random_below(unsigned limit)
{
	uint32_t bits = 0;

	/* Never fails for so few bytes once the system is up: getrandom(2).  If it did, the
	 * cells would be known, and the lone key is what is left. */
	if (getrandom(&bits, sizeof bits, 0) != sizeof bits)
		bits = 0;
	return bits % limit;
}

static void prepare_search(struct sb_keys *keys)
{
	size_t k = 0;

	keys->failure[0] = 0;
	for (size_t i = 1; i < keys->expected_length; i++) {
		while (k && keys->expected[i] != keys->expected[k])
			k = keys->failure[k - 1];
		if (keys->expected[i] == keys->expected[k])
			k++;
		keys->failure[i] = (unsigned char)k;
	}
}

static void expect(struct sb_keys *keys, unsigned row, unsigned column)
{
	keys->expected_length += (size_t)snprintf(keys->expected + keys->expected_length,
						  sizeof keys->expected - keys->expected_length,
						  "\033[%u;%uR", row, column);
}

void sb_keys_begin_blind(struct sb_keys *keys, int64_t now_ms, int64_t wait_ms)
{
	*keys = (struct sb_keys){.give_up_ms = now_ms + wait_ms, .last_ms = now_ms, .blind = true};
}

/*
 * SECURITY: the cells are random and three in a row.
 *
 * Danger: replies to cursor requests of the command may still be on their way.  Taken for
 * ours, they would open the fence early, and what was typed before the question would count.
 * With 40 x 10 cells a command would have to have 64 million requests under way.
 * Price: about 40 bytes each way per question.
 * Held by: tests/unit/test_keys.c, tests/cli/terminal_keys.py
 */
void sb_keys_begin(struct sb_keys *keys, struct sb_buf *out, unsigned rows, unsigned columns,
		   int64_t now_ms, int64_t wait_ms)
{
	sb_keys_begin_blind(keys, now_ms, wait_ms);
	keys->blind = false;
	for (int i = 0; i < CELLS; i++) {
		unsigned row = 1 + random_below(rows < 1000 ? rows : 1000);
		unsigned column = 1 + random_below(columns < 1000 ? columns : 1000);

		sb_buf_printf(out, "\033[%u;%uH\033[6n", row, column);
		expect(keys, row, column);
	}
	/* An a with two dots: one cell in all fonts, while some have two for other accents. */
	sb_buf_printf(out, "\033[%u;1H\303\244\033[6n", rows);
	expect(keys, rows, 2);
	prepare_search(keys);
	for (size_t i = 0; i < SB_KEYS_CODE; i++) /* no digit, no word, no two alike */
		keys->code[i] = "bcdfghjkmnpqrtvwxz"[random_below(18)];
}

static void pass(struct sb_keys *keys, int64_t now_ms, bool replied)
{
	keys->passed = true;
	keys->replied = replied;
	keys->mute = false;
	keys->state = SB_KEYS_GROUND;
	keys->last_ms = keys->passed_ms = now_ms;
	keys->from_ms = now_ms + keys->hold_ms;
}

size_t sb_keys_pass(struct sb_keys *keys, const char *bytes, size_t length, int64_t now_ms)
{
	for (size_t i = 0; !keys->passed && i < length; i++) {
		while (keys->matched && bytes[i] != keys->expected[keys->matched])
			keys->matched = keys->failure[keys->matched - 1];
		if (keys->expected_length && bytes[i] == keys->expected[keys->matched])
			keys->matched++;
		if (keys->expected_length && keys->matched == keys->expected_length) {
			pass(keys, now_ms, true);
			return i + 1;
		}
	}
	return keys->passed ? 0 : length;
}

/* --- keys -------------------------------------------------------------------------- */

static void end_csi(struct sb_keys *keys, char final)
{
	keys->state = SB_KEYS_GROUND;
	if (final == '~' && (keys->number == 200 || keys->number == 201))
		keys->pasting = keys->number == 200;
}

static void after_escape(struct sb_keys *keys, char c)
{
	keys->state = SB_KEYS_GROUND; /* Alt with a key */
	if (c == '[') {
		keys->state = SB_KEYS_CSI;
		keys->number = 0;
	} else if (c == 'O') {
		keys->state = SB_KEYS_SS3;
	} else if (c && strchr("]PX^_", c)) {
		keys->state = SB_KEYS_STRING;
	} else if (c == '\033') {
		keys->state = SB_KEYS_AFTER_ESCAPE;
	}
}

static bool is_choice(char c)
{
	return c >= '1' && c <= '4';
}

static bool is_early(const struct sb_keys *keys, char c, int64_t now_ms)
{
	int64_t quiet = keys->typing && is_choice(c) ? SB_KEYS_TYPING_MS : SB_KEYS_QUIET_MS;
	bool wider = c == '2' || c == '4';

	return now_ms < keys->from_ms || now_ms - keys->last_ms < quiet ||
	       (wider && keys->passed && now_ms - keys->passed_ms < SB_KEYS_WIDER_MS);
}

/* A byte outside every sequence, or ESC: may it be the key? */
static void ground(struct sb_keys *keys, char c, int64_t now_ms)
{
	if (c == '\033')
		keys->state = SB_KEYS_AFTER_ESCAPE;
	if (!keys->pasting && !is_early(keys, c, now_ms))
		keys->candidate = c;
	else
		keys->hurried |= is_choice(c);
	keys->typing |= !keys->pasting && !is_choice(c) && c != '\033' && c != '\f';
}

static void take(struct sb_keys *keys, char c, int64_t now_ms)
{
	keys->hurried |= is_choice(keys->candidate);
	keys->candidate = '\0'; /* it is not alone */
	switch (keys->state) {
	case SB_KEYS_GROUND:
		ground(keys, c, now_ms);
		break;
	case SB_KEYS_AFTER_ESCAPE:
		after_escape(keys, c);
		break;
	case SB_KEYS_CSI:
		if (c >= '0' && c <= '9' && keys->number < 10000)
			keys->number = keys->number * 10 + (unsigned)(c - '0');
		else if (c == '\033')
			keys->state = SB_KEYS_AFTER_ESCAPE;
		else if (c >= 0x40 && c <= 0x7e)
			end_csi(keys, c);
		break;
	case SB_KEYS_SS3:
		keys->state = SB_KEYS_GROUND;
		break;
	case SB_KEYS_STRING:
		if (c == '\a')
			keys->state = SB_KEYS_GROUND;
		else if (c == '\033')
			keys->state = SB_KEYS_STRING_ESCAPE;
		break;
	case SB_KEYS_STRING_ESCAPE:
		keys->state = SB_KEYS_GROUND;
		if (c != '\\')
			after_escape(keys, c);
		break;
	}
	keys->last_ms = now_ms;
}

/*
 * SECURITY: on a mute terminal a key needs the code that the question shows.
 *
 * Danger: a command keeps the terminal from answering, or has made it show something else, and
 * asks for the very key that would grant.  The code is in no place but the question.
 * Price: five keys more, on terminals that do not tell where their cursor is.
 * Held by: tests/unit/test_keys.c, tests/cli/terminal_keys.py
 */
static char type(struct sb_keys *keys, char c)
{
	char digit = keys->typed[0];
	bool whole = keys->typed_length == SB_KEYS_CODE + 1 &&
		     memcmp(keys->typed + 1, keys->code, SB_KEYS_CODE) == 0;

	if (c >= 'A' && c <= 'Z')
		c = (char)(c - 'A' + 'a');
	if (c == '\r' || c == '\n' || c == '\025') { /* Ctrl-U */
		memset(keys->typed, 0, sizeof keys->typed);
		keys->typed_length = 0;
		keys->confirmed = whole && c != '\025';
		return keys->confirmed ? digit : '\0';
	}
	if ((c == '\b' || c == 0x7f) && keys->typed_length)
		keys->typed[--keys->typed_length] = '\0';
	else if (((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) &&
		 keys->typed_length < sizeof keys->typed - 1)
		keys->typed[keys->typed_length++] = c;
	return '\0';
}

/* A sequence that stays open has lost its end: a key after so long a silence is a key again. */
static void forget_sequence(struct sb_keys *keys, int64_t now_ms)
{
	if (now_ms - keys->last_ms < SB_KEYS_QUIET_MS)
		return;
	keys->state = SB_KEYS_GROUND;
	if (now_ms - keys->last_ms >= 10L * SB_KEYS_QUIET_MS)
		keys->pasting = false;
}

/* Before the fence: a letter that was typed, not what a terminal has answered. */
static bool is_text(const char *bytes, size_t length)
{
	return length && bytes[0] > ' ' && bytes[0] < 0x7f && !is_choice(bytes[0]) &&
	       !memchr(bytes, '\033', length);
}

char sb_keys_feed(struct sb_keys *keys, const char *bytes, size_t length, int64_t now_ms)
{
	size_t skip = sb_keys_pass(keys, bytes, length, now_ms);

	if (!keys->passed && keys->mute)
		skip = 0; /* all of it may be keys */
	else if (!keys->passed)
		keys->last_ms = now_ms;
	if (!keys->passed && !keys->matched)
		keys->typing |= is_text(bytes, length);
	keys->confirmed = false;
	for (size_t i = skip; i < length; i++) {
		bool alone;
		char key;

		forget_sequence(keys, now_ms);
		alone = keys->state == SB_KEYS_GROUND && !keys->pasting;
		if (alone && (bytes[i] == SB_KEYS_INTERRUPT || bytes[i] == SB_KEYS_END))
			return bytes[i];
		key = alone && keys->mute ? type(keys, bytes[i]) : '\0';
		if (key)
			return key;
		take(keys, bytes[i], now_ms);
	}
	return '\0';
}

char sb_keys_tick(struct sb_keys *keys, int64_t now_ms)
{
	char key = keys->candidate;

	if (!keys->passed && !keys->mute && now_ms >= keys->give_up_ms) {
		if (keys->blind) {
			pass(keys, now_ms, false);
		} else {
			keys->mute = true;
			keys->state = SB_KEYS_GROUND;
			keys->last_ms = now_ms;
		}
	}
	if (!key || now_ms - keys->last_ms < SB_KEYS_LONE_MS)
		return '\0';
	keys->candidate = '\0';
	keys->confirmed = false;
	if (keys->state == SB_KEYS_AFTER_ESCAPE)
		keys->state = SB_KEYS_GROUND;
	return key;
}

int64_t sb_keys_deadline_ms(const struct sb_keys *keys)
{
	if (!keys->passed && !keys->mute)
		return keys->give_up_ms;
	return keys->candidate ? keys->last_ms + SB_KEYS_LONE_MS : -1;
}
