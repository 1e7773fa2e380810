#include "terminal/sieve.h"

#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "terminal/sequences.h"

enum {
	BEL = 0x07,
	SO = 0x0e,
	SI = 0x0f,
	CAN = 0x18,
	SUB = 0x1a,
	ESC = 0x1b,
};

/* Bytes on their way: what is before `out` is for the terminal, what is from `at` on is to come. */
struct stream {
	char *bytes;
	size_t length, at, out;
};

static size_t left(const struct stream *s)
{
	return s->length - s->at;
}

static unsigned char peek(const struct stream *s, size_t ahead)
{
	return (unsigned char)s->bytes[s->at + ahead];
}

static void keep(struct stream *s, size_t count)
{
	if (s->out != s->at)
		memmove(s->bytes + s->out, s->bytes + s->at, count);
	s->out += count;
	s->at += count;
}

static void drop(struct stream *s, size_t count)
{
	s->at += count;
}

/* text in the place of the next count bytes; it is no longer than they are */
static void replace(struct stream *s, size_t count, const char *text, size_t length)
{
	s->at += count;
	memcpy(s->bytes + s->out, text, length);
	s->out += length;
}

void sb_sieve_init(struct sb_sieve *sieve)
{
	*sieve = (struct sb_sieve){.state = SB_SIEVE_TEXT};
	sb_modes_init(&sieve->modes);
}

bool sb_sieve_inside(const struct sb_sieve *sieve)
{
	return sieve->passing && sieve->state != SB_SIEVE_TEXT;
}

void sb_sieve_cut(struct sb_sieve *sieve)
{
	sieve->passing = false;
}

/* --- characters -------------------------------------------------------------------- */

/* Letters of ASCII, and the controls from BEL to CR: bell, tabulators and lines. */
static bool is_plain(unsigned char c)
{
	return (unsigned char)(c - 0x20) < 0x5f || (unsigned char)(c - BEL) < 7;
}

static inline bool continues(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

/*
 * Bytes of the letter or plain control at b, 0 for anything else: the same as sb_utf8_length()
 * without the controls, here for its speed, since most of what programs write is this.
 */
static inline size_t letter(const unsigned char *b, size_t length)
{
	if (is_plain(b[0]))
		return 1;
	if (b[0] < 0xc2 || length < 2 || !continues(b[1]))
		return 0;
	if (b[0] < 0xe0)
		return b[0] > 0xc2 || b[1] >= 0xa0 ? 2 : 0;
	if (length < 3 || !continues(b[2]))
		return 0;
	if (b[0] < 0xf0) /* not overlong, and no surrogate */
		return (b[0] == 0xe0 && b[1] < 0xa0) || (b[0] == 0xed && b[1] >= 0xa0) ? 0 : 3;
	if (length < 4 || !continues(b[3]) || b[0] > 0xf4)
		return 0;
	return (b[0] == 0xf0 && b[1] < 0x90) || (b[0] == 0xf4 && b[1] >= 0x90) ? 0 : 4;
}

enum { BLOCK = 64, FEW = 16 };

/* Of a size that compilers turn into vectors. */
static bool is_plain_block(const unsigned char *bytes)
{
	unsigned char strange = 0;

	for (size_t i = 0; i < BLOCK; i++)
		strange |= (unsigned char)!is_plain(bytes[i]);
	return !strange;
}

/* How many bytes of letters and plain controls there are. */
static size_t text_run(const char *text, size_t length)
{
	const unsigned char *bytes = (const unsigned char *)text;
	size_t at = 0;

	while (at < length) {
		size_t stop = length - at > BLOCK ? at + BLOCK : length;

		/* Between colours the runs are short: not before a few letters. */
		if (at && length - at >= BLOCK && is_plain_block(bytes + at))
			at = stop;
		else if (!at && length > FEW)
			stop = FEW;
		while (at < stop) {
			size_t step = letter(bytes + at, length - at);

			if (!step)
				return at;
			at += step;
		}
	}
	return at;
}

/* Do the last bytes there are begin a character, whose rest may come? */
static bool is_cut_character(const struct stream *s)
{
	unsigned char c = peek(s, 0);
	size_t need = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;

	if (c < 0xc2 || c > 0xf4 || left(s) >= need)
		return false;
	for (size_t i = 1; i < left(s); i++)
		if ((peek(s, i) & 0xc0) != 0x80)
			return false;
	return true;
}

/* A control of eight bits, written as a character of two bytes? */
static bool is_c1(const struct stream *s, size_t step)
{
	return step == 2 && peek(s, 0) == 0xc2 && peek(s, 1) < 0xa0;
}

/* --- sequences --------------------------------------------------------------------- */

static void finish_csi(struct sb_sieve *sieve, struct stream *s, size_t length)
{
	struct sb_csi csi;
	char text[3 + SB_CSI_NUMBERS * 7 + 1];
	size_t at = 0;

	/* CSI b repeats the letter before it; without one libvterm 0.1 hangs. */
	if (!sb_csi_parse(&csi, s->bytes + s->at + 2, length - 2) || !sb_csi_allowed(&csi) ||
	    (csi.final == 'b' && !sieve->letter)) {
		drop(s, length);
		return;
	}
	sb_modes_csi(&sieve->modes, &csi);
	if (!sb_csi_is_modes(&csi)) {
		keep(s, length);
		return;
	}
	/* Written anew: without those that may not pass, and 1049 for 0001049. */
	text[at++] = ESC;
	text[at++] = '[';
	if (csi.prefix)
		text[at++] = csi.prefix;
	for (size_t i = 0; i < csi.count; i++)
		at += (size_t)snprintf(text + at, sizeof text - at, i ? ";%u" : "%u", csi.value[i]);
	text[at++] = csi.final;
	replace(s, length, text, at);
}

/* False, here and below: the rest has not come yet. */
static bool csi(struct sb_sieve *sieve, struct stream *s)
{
	size_t length = 2;

	while (length < left(s) && length < SB_SIEVE_HOLD && peek(s, length) >= ' ' &&
	       peek(s, length) < '@')
		length++;
	if (length == SB_SIEVE_HOLD) {
		sieve->state = SB_SIEVE_CSI;
		sieve->passing = false;
		drop(s, length);
	} else if (length == left(s)) {
		return false;
	} else if (peek(s, length) >= '@' && peek(s, length) <= '~') {
		finish_csi(sieve, s, length + 1);
	} else { /* a control in the middle: what was begun is none */
		drop(s, length);
	}
	return true;
}

static bool short_escape(struct sb_sieve *sieve, struct stream *s)
{
	size_t last = 1;

	while (last < left(s) && last < SB_SIEVE_HOLD && peek(s, last) >= ' ' &&
	       peek(s, last) <= '/')
		last++;
	if (last == left(s))
		return false;
	if (peek(s, last) < '0' || peek(s, last) > '~') {
		drop(s, last);
	} else if (last > 2 ||
		   !sb_escape_allowed(last == 2 ? (char)peek(s, 1) : '\0', (char)peek(s, last))) {
		drop(s, last + 1);
	} else {
		sb_modes_escape(&sieve->modes, last == 2 ? (char)peek(s, 1) : '\0',
				(char)peek(s, last));
		keep(s, last + 1);
	}
	return true;
}

/* Where a string of those bytes ends, or length. */
static size_t string_end(const char *text, size_t length, bool osc)
{
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == ESC || (osc && (c == BEL || c == CAN || c == SUB)))
			return i;
		if (c == 0x9c && i && (unsigned char)text[i - 1] == 0xc2)
			return i - 1;
	}
	return length;
}

/* The beginning of a string as the terminal would get it: string_body() drops the rest. */
static size_t clean(char *out, const char *text, size_t length)
{
	size_t count = 0;

	for (size_t i = 0, step; i < length; i += step ? step : 1) {
		unsigned char c = (unsigned char)text[i];

		step = sb_utf8_length(text + i, length - i);
		if (c < ' ' || c == 0x7f ||
		    (step == 2 && c == 0xc2 && (unsigned char)text[i + 1] < 0xa0))
			continue;
		memcpy(out + count, text + i, step);
		count += step;
	}
	return count;
}

/* The beginning of a string: its first bytes tell whether it passes. */
static bool string(struct sb_sieve *sieve, struct stream *s)
{
	char kind = (char)peek(s, 1);
	size_t most = left(s) < SB_SIEVE_HOLD ? left(s) : SB_SIEVE_HOLD;
	size_t length = string_end(s->bytes + s->at + 2, most - 2, kind == ']');
	char text[SB_SIEVE_HOLD];
	size_t cleaned;

	if (length == most - 2 && most < SB_SIEVE_HOLD)
		return false;
	sieve->state = kind == ']' ? SB_SIEVE_OSC : SB_SIEVE_STRING;
	cleaned = clean(text, s->bytes + s->at + 2, length);
	sieve->passing = sb_string_allowed(kind, text, cleaned, length < most - 2);
	if (sieve->passing) {
		sb_modes_string(&sieve->modes, kind, text, cleaned);
		keep(s, 2);
	} else {
		drop(s, 2);
	}
	return true;
}

/*
 * On Linux' console, ESC ] R and ESC ] P with seven digits set colours, and end there; elsewhere they
 * begin a string.  They are dropped, but what comes after them is no part of them.
 */
static size_t console_colours(const struct stream *s)
{
	return peek(s, 2) == 'R' ? 3 : peek(s, 2) == 'P' ? 10 : 0;
}

/* At ESC. */
static bool escape(struct sb_sieve *sieve, struct stream *s)
{
	if (left(s) < 2)
		return false;
	switch (peek(s, 1)) {
	case '[':
		return csi(sieve, s);
	case ']':
		if (left(s) < 3)
			return false;
		if (console_colours(s)) {
			if (left(s) < console_colours(s))
				return false;
			drop(s, console_colours(s));
			return true;
		}
		return string(sieve, s);
	case 'P':
	case '_':
	case '^':
	case 'X':
	case 'k':
		return string(sieve, s);
	default:
		return short_escape(sieve, s);
	}
}

/* --- where in the stream we are ---------------------------------------------------- */

static bool text(struct sb_sieve *sieve, struct stream *s)
{
	size_t run = text_run(s->bytes + s->at, left(s)), step;

	if (run) {
		char last = s->bytes[s->at + run - 1];

		sieve->modes.line_start = last == '\n';
		sieve->letter = last >= ' ' && last <= '~';
		keep(s, run);
		return true;
	}
	if (peek(s, 0) == ESC) {
		bool whole = escape(sieve, s);

		sieve->letter = sieve->letter && !whole;
		return whole;
	}
	if (peek(s, 0) == SO || peek(s, 0) == SI) {
		sieve->letter = false;
		sieve->modes.shifted = peek(s, 0) == SO;
		keep(s, 1);
		return true;
	}
	if (peek(s, 0) < 0x80) {
		drop(s, 1);
		return true;
	}
	step = sb_utf8_length(s->bytes + s->at, left(s));
	if (step == 0 && is_cut_character(s))
		return false;
	if (is_c1(s, step)) { /* the same in seven bits takes two bytes as well */
		s->bytes[s->at + 1] = (char)(peek(s, 1) - 0x40);
		s->bytes[s->at] = ESC;
		return true;
	}
	sieve->modes.line_start = false;
	/* No UTF-8: terminals differ in where the next letter begins, and some obey controls. */
	replace(s, 1, "?", 1);
	return true;
}

/* The rest of a sequence that is dropped for its length. */
static void overlong(struct sb_sieve *sieve, struct stream *s)
{
	unsigned char c = peek(s, 0);

	if (c >= ' ' && c < '@') {
		drop(s, 1);
		return;
	}
	sieve->state = SB_SIEVE_TEXT;
	if (c >= '@' && c <= '~')
		drop(s, 1);
}

static void end_string(struct sb_sieve *sieve, struct stream *s, size_t count, const char *end)
{
	if (sieve->passing)
		replace(s, count, end, strlen(end));
	else
		drop(s, count);
	sieve->state = SB_SIEVE_TEXT;
	sieve->passing = false;
}

/*
 * ESC inside a string.  Most terminals end it there and begin what comes next; tmux and screen go
 * on until ESC \.  So that all agree, what comes next gives its place to that end.
 */
static bool escape_in_string(struct sb_sieve *sieve, struct stream *s)
{
	size_t before = s->at, kept = s->out;
	bool passing = sieve->passing;

	if (left(s) < 2)
		return false;
	if (!passing || peek(s, 1) == '\\') {
		end_string(sieve, s, peek(s, 1) == '\\' ? 2 : 0, "\033\\");
		return true;
	}
	if (peek(s, 1) == ESC) {
		drop(s, 1);
		return true;
	}
	/* The string was let through for what stands before: nothing more may come to it. */
	if (peek(s, 1) < ' ' || peek(s, 1) > '~') {
		end_string(sieve, s, 2, "\033\\");
		return true;
	}
	{
		struct sb_sieve ignored = *sieve;

		/* read it, to know where it ends; nothing of it counts */
		ignored.state = SB_SIEVE_TEXT;
		ignored.passing = false;
		if (!escape(&ignored, s)) {
			s->at = before;
			return false;
		}
		sieve->state = ignored.state;
	}
	s->out = kept;
	memcpy(s->bytes + s->out, "\033\\", 2);
	s->out += 2;
	sieve->passing = false;
	return true;
}

/* Inside a string: letters pass, controls do not. */
static bool string_body(struct sb_sieve *sieve, struct stream *s)
{
	unsigned char c = peek(s, 0);
	size_t run = 0, step;

	while (run < left(s) && peek(s, run) >= ' ' && peek(s, run) < 0x7f)
		run++;
	if (run) {
		if (sieve->passing)
			keep(s, run);
		else
			drop(s, run);
		return true;
	}
	if (c == ESC)
		return escape_in_string(sieve, s);
	if (sieve->state == SB_SIEVE_OSC && (c == BEL || c == CAN || c == SUB)) {
		end_string(sieve, s, 1, "\a");
		return true;
	}
	if (c < 0x80) {
		drop(s, 1);
		return true;
	}
	step = sb_utf8_length(s->bytes + s->at, left(s));
	if (step == 0 && is_cut_character(s))
		return false;
	if (is_c1(s, step) && peek(s, 1) == 0x9c)
		end_string(sieve, s, 2, "\033\\");
	else if (is_c1(s, step) || (step && !sieve->passing))
		drop(s, step);
	else if (step)
		keep(s, step);
	else
		drop(s, 1);
	return true;
}

/*
 * SECURITY: what the tracker cannot read whole, the terminal does not get.
 *
 * Danger: a sequence that two readers take for different things sets what a question does not
 * undo: the question is drawn in one cell, in no colour or behind other text, and a key grants.
 * Price: sequences outside the lists of sequences.c have no effect; 0.2 s per gigabyte of plain
 * text, 1.5 s of letters beyond ASCII.
 * Held by: tests/unit/test_sieve.c, tests/unit/test_screen.c, tests/cli/question_screen.py
 */
size_t sb_sieve_run(struct sb_sieve *sieve, char *bytes, size_t length, size_t *out_held)
{
	struct stream s = {.bytes = bytes, .length = length};
	bool more = true;

	while (more && left(&s)) {
		switch (sieve->state) {
		case SB_SIEVE_TEXT:
			more = text(sieve, &s);
			break;
		case SB_SIEVE_CSI:
			overlong(sieve, &s);
			break;
		case SB_SIEVE_OSC:
		case SB_SIEVE_STRING:
			more = string_body(sieve, &s);
			break;
		}
	}
	*out_held = left(&s);
	memmove(bytes + s.out, bytes + s.at, *out_held);
	return s.out;
}
