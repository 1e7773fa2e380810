#include "consent/modes.h"

#include <string.h>

#include "base/buf.h"

enum {
	CAN = 0x18,
	SUB = 0x1a,
	ESC = 0x1b,
};

/*
 * The modes that a question changes.  `wanted` is what it needs.  A `rare` one is only touched
 * when the command has: not every terminal knows the sequence, and some would print it.
 * sb_modes_enter() goes down the table, sb_modes_leave() up.
 *
 * SECURITY: bracketed paste is on during a question, so that the terminal marks what is pasted
 * and it never counts as a key: keys.c.  Held by: tests/cli/terminal_asker.py
 */
static const struct mode {
	unsigned number; /* of CSI ? number h; 0: has sequences of its own */
	bool usual, wanted, rare;
	const char *set, *reset;
} table[] = {
	{2, true, true, true, "\033<", "\033[?2l"},         /* ANSI, not VT52 */
	{0, false, false, true, "\033[5i", "\033[4i"},      /* all goes to the printer */
	{0, false, false, true, "\033[1$}", "\033[0$}"},    /* all goes to the status line */
	{0, false, false, true, "\033 G", "\033 F"},        /* replies begin with 8-bit controls */
	{0, true, true, true, "\033%G", "\033%@"},          /* UTF-8 */
	{0, false, false, false, "\033[4h", "\033[4l"},     /* insert */
	{0, false, false, true, "\033[20h", "\033[20l"},    /* line feed returns, too */
	{0, false, false, false, "\033=", "\033>"},         /* keypad sends no digits */
	{5, false, false, false, "\033[?5h", "\033[?5l"},   /* reverse screen */
	{69, false, false, true, "\033[?69h", "\033[?69l"}, /* margins left and right */
	{6, false, false, false, "\033[?6h", "\033[?6l"},   /* origin in the region */
	{7, true, false, false, "\033[?7h", "\033[?7l"},    /* wrap */
	{1003, false, false, false, "\033[?1003h", "\033[?1003l"}, /* mouse: every move, */
	{1002, false, false, false, "\033[?1002h", "\033[?1002l"}, /* dragging, */
	{1001, false, false, true, "\033[?1001h", "\033[?1001l"},  /* highlighting, */
	{1000, false, false, false, "\033[?1000h", "\033[?1000l"}, /* buttons, */
	{9, false, false, false, "\033[?9h",
	 "\033[?9l"}, /* X10; set again in the order of their reach */
	{1004, false, false, false, "\033[?1004h", "\033[?1004l"}, /* focus */
	{2004, false, true, false, "\033[?2004h", "\033[?2004l"},  /* bracketed paste */
	{2026, false, false, true, "\033[?2026h", "\033[?2026l"},  /* drawing is held back */
	{2031, false, false, true, "\033[?2031h", "\033[?2031l"},  /* colour scheme reports */
	{2048, false, false, true, "\033[?2048h", "\033[?2048l"},  /* size reports */
	{9001, false, false, true, "\033[?9001h", "\033[?9001l"},  /* win32 key codes */
	{25, true, true, false, "\033[?25h", "\033[?25l"},         /* cursor shows */
};

#define MODES (sizeof table / sizeof table[0])

/* The first rows, which sequences of their own change. */
enum own_mode {
	MODE_ANSI,
	MODE_PRINTER,
	MODE_STATUS_LINE,
	MODE_8BIT,
	MODE_UTF8,
	MODE_INSERT,
	MODE_NEW_LINE,
	MODE_KEYPAD,
};

static uint32_t usual_modes(void)
{
	uint32_t on = 0;

	for (size_t i = 0; i < MODES; i++)
		if (table[i].usual)
			on |= 1u << i;
	return on;
}

void sb_modes_init(struct sb_modes *modes)
{
	*modes = (struct sb_modes){.on = usual_modes(), .saved = usual_modes()};
}

static void set_mode(struct sb_modes *modes, size_t row, bool on)
{
	modes->on = on ? modes->on | 1u << row : modes->on & ~(1u << row);
}

void sb_modes_resized(struct sb_modes *modes)
{
	modes->top = modes->bottom = modes->left = modes->right = 0;
}

/* --- what sequences do ------------------------------------------------------------- */

struct numbers {
	unsigned value[16];
	size_t count; /* at least one: an absent number is 0 */
};

static struct numbers parse_numbers(const char *text, size_t length)
{
	struct numbers found = {.count = 1};

	for (size_t i = 0; i < length; i++) {
		unsigned *value = &found.value[found.count - 1];

		if (text[i] >= '0' && text[i] <= '9') {
			if (*value < 100000)
				*value = *value * 10 + (unsigned)(text[i] - '0');
		} else if (text[i] == ';' &&
			   found.count < sizeof found.value / sizeof found.value[0]) {
			found.count++;
		} else {
			break;
		}
	}
	return found;
}

/* CSI ? ... with final h, l (set, reset), s, r (save, restore) */
static void private_modes(struct sb_modes *modes, const struct numbers *numbers, char final)
{
	for (size_t n = 0; n < numbers->count; n++) {
		unsigned number = numbers->value[n];

		if (number == 47 || number == 1047 || number == 1049) {
			if (final == 'h' || final == 'l')
				modes->alternate = final == 'h';
			continue;
		}
		for (size_t i = 0; number && i < MODES; i++) {
			uint32_t bit = 1u << i;

			if (table[i].number != number)
				continue;
			if (final == 's')
				modes->saved = (modes->saved & ~bit) | (modes->on & bit);
			else if (final == 'r')
				modes->on = (modes->on & ~bit) | (modes->saved & bit);
			else if (number != 2 || final == 'l') /* back from VT52 is ESC < */
				set_mode(modes, i, final == 'h');
		}
	}
}

static void region(unsigned *first, unsigned *last, const struct numbers *numbers)
{
	unsigned from = numbers->value[0] ? numbers->value[0] : 1;
	unsigned to = numbers->count > 1 ? numbers->value[1] : 0;
	bool whole = (from == 1 && to == 0) || (to && from >= to);

	*first = whole ? 0 : from;
	*last = whole ? 0 : to;
}

/* CSI ... m: remember its text, so that it can be said again. */
static void attributes(struct sb_modes *modes)
{
	const char *text = modes->parameters;
	size_t length = modes->length;

	/* "0;1;31" resets first; what stood before it no longer matters. */
	if (length == 0 || text[0] == ';' || (text[0] == '0' && (length == 1 || text[1] == ';'))) {
		modes->attributes_length = 0;
		modes->attributes_lost = false;
		if (length <= 1 && (length == 0 || text[0] == '0'))
			return;
	}
	if (modes->attributes_length + length + 1 > sizeof modes->attributes) {
		modes->attributes_lost = true;
		return;
	}
	memcpy(modes->attributes + modes->attributes_length, text, length);
	modes->attributes_length += (unsigned char)length;
	modes->attributes[modes->attributes_length++] = 'm';
}

/* DECSTR, CSI ! p */
static void soft_reset(struct sb_modes *modes)
{
	set_mode(modes, MODE_INSERT, false);
	set_mode(modes, MODE_KEYPAD, false);
	private_modes(modes, &(struct numbers){{6}, 1}, 'l');
	private_modes(modes, &(struct numbers){{7, 25}, 2}, 'h');
	sb_modes_resized(modes);
	modes->attributes_length = 0;
	modes->attributes_lost = false;
}

static void csi_plain(struct sb_modes *modes, const struct numbers *numbers, char final)
{
	switch (final) {
	case 'h':
	case 'l':
		for (size_t n = 0; n < numbers->count; n++) {
			if (numbers->value[n] == 4)
				set_mode(modes, MODE_INSERT, final == 'h');
			if (numbers->value[n] == 20)
				set_mode(modes, MODE_NEW_LINE, final == 'h');
		}
		break;
	case 'i':
		if (numbers->value[0] == 4 || numbers->value[0] == 5)
			set_mode(modes, MODE_PRINTER, numbers->value[0] == 5);
		break;
	case 'm':
		attributes(modes);
		break;
	case 'r':
		region(&modes->top, &modes->bottom, numbers);
		break;
	case 's': /* without margins left and right it saves the cursor */
		if (modes->length)
			region(&modes->left, &modes->right, numbers);
		break;
	default:
		break;
	}
}

static void dispatch_csi(struct sb_modes *modes, char final)
{
	const char *text = modes->parameters;
	size_t length = modes->length;
	char prefix = length && text[0] >= '<' && text[0] <= '?' ? text[0] : '\0';
	char last = length ? text[length - 1] : '\0';
	char intermediate = last >= ' ' && last <= '/' ? last : '\0';
	struct numbers numbers;

	if (modes->overflow)
		return;
	numbers = parse_numbers(text + (prefix ? 1 : 0), length - (prefix ? 1 : 0));
	if (intermediate == '!' && final == 'p')
		soft_reset(modes);
	else if (intermediate == '$' && final == '}')
		set_mode(modes, MODE_STATUS_LINE, numbers.value[0] == 1);
	else if (intermediate)
		return;
	else if (prefix == '?' && strchr("hlsr", final))
		private_modes(modes, &numbers, final);
	else if (prefix == '>' && final == 'm' && numbers.value[0] == 4)
		modes->other_keys = numbers.count > 1 ? numbers.value[1] : 0;
	else if (prefix == '>' && final == 'n' && numbers.value[0] == 4)
		modes->other_keys = 0;
	else if (!prefix)
		csi_plain(modes, &numbers, final);
}

/* ESC with or without one intermediate byte, and its final one */
static void dispatch_escape(struct sb_modes *modes, char final)
{
	if (modes->intermediate == ' ' && (final == 'F' || final == 'G'))
		set_mode(modes, MODE_8BIT, final == 'G');
	else if (modes->intermediate == '%' && (final == '@' || final == 'G'))
		set_mode(modes, MODE_UTF8, final == 'G');
	else if (modes->intermediate)
		return;
	else if (final == '=' || final == '>')
		set_mode(modes, MODE_KEYPAD, final == '=');
	else if (final == '<')
		set_mode(modes, MODE_ANSI, true);
	else if (final == 'c')
		sb_modes_init(modes);
}

/* --- reading ----------------------------------------------------------------------- */

static void begin_csi(struct sb_modes *modes)
{
	modes->state = SB_MODES_CSI;
	modes->length = 0;
	modes->overflow = false;
}

static void begin_escape(struct sb_modes *modes)
{
	modes->state = SB_MODES_ESCAPE;
	modes->intermediate = '\0';
}

static void begin_string(struct sb_modes *modes, enum sb_modes_state state)
{
	modes->state = state;
	modes->string_c2 = false;
}

static void escape_byte(struct sb_modes *modes, unsigned char c)
{
	if (c >= ' ' && c <= '/') {
		modes->intermediate = (char)c;
		modes->state = SB_MODES_INTERMEDIATE;
	} else if (modes->state == SB_MODES_ESCAPE && c == '[') {
		begin_csi(modes);
	} else if (modes->state == SB_MODES_ESCAPE && c == ']') {
		begin_string(modes, SB_MODES_OSC);
	} else if (modes->state == SB_MODES_ESCAPE && strchr("PX^_", c) && c) {
		begin_string(modes, SB_MODES_STRING);
	} else if (c >= ' ') {
		modes->state = SB_MODES_GROUND;
		if (c < 0x7f)
			dispatch_escape(modes, (char)c);
	} /* controls act at once, and the sequence goes on */
}

static void csi_byte(struct sb_modes *modes, unsigned char c)
{
	if (c >= 0x40 && c <= 0x7e) {
		modes->state = SB_MODES_GROUND;
		dispatch_csi(modes, (char)c);
	} else if (c >= ' ' && c < 0x40) {
		if (modes->length < sizeof modes->parameters)
			modes->parameters[modes->length++] = (char)c;
		else
			modes->overflow = true;
	} else if (c >= 0x80) {
		modes->state = SB_MODES_GROUND; /* no terminal knows such a sequence */
	}
}

/* After 0xc2: the controls of ISO 6429 as two bytes, which xterm and VTE obey. */
static void c2_byte(struct sb_modes *modes, unsigned char c)
{
	modes->state = SB_MODES_GROUND;
	if (c == 0x9b)
		begin_csi(modes);
	else if (c == 0x9d)
		begin_string(modes, SB_MODES_OSC);
	else if (c == 0x90 || c == 0x98 || c == 0x9e || c == 0x9f)
		begin_string(modes, SB_MODES_STRING);
	else
		modes->line_start = false;
}

static void string_byte(struct sb_modes *modes, unsigned char c)
{
	if ((c == '\a' && modes->state == SB_MODES_OSC) || (c == 0x9c && modes->string_c2))
		modes->state = SB_MODES_GROUND;
	modes->string_c2 = c == 0xc2;
}

static void feed_byte(struct sb_modes *modes, unsigned char c)
{
	if (c == ESC) { /* ends whatever it stands in; ESC \ does nothing more */
		begin_escape(modes);
		return;
	}
	if ((c == CAN || c == SUB) && modes->state != SB_MODES_GROUND) {
		modes->state = SB_MODES_GROUND;
		return;
	}
	switch (modes->state) {
	case SB_MODES_GROUND: /* plain text is handled in runs, so this is 0xc2 */
		modes->state = SB_MODES_C2;
		break;
	case SB_MODES_UTF8:
		if ((c & 0xc0) != 0x80 || --modes->utf8_left == 0)
			modes->state = SB_MODES_GROUND;
		break;
	case SB_MODES_C2:
		c2_byte(modes, c);
		break;
	case SB_MODES_ESCAPE:
	case SB_MODES_INTERMEDIATE:
		escape_byte(modes, c);
		break;
	case SB_MODES_CSI:
		csi_byte(modes, c);
		break;
	case SB_MODES_OSC:
	case SB_MODES_STRING:
		string_byte(modes, c);
		break;
	}
}

/* Length of plain text at bytes: up to ESC or 0xc2. */
static size_t plain_run(const char *bytes, size_t length)
{
	const char *escape = memchr(bytes, ESC, length);
	size_t run = escape ? (size_t)(escape - bytes) : length;
	const char *c2 = memchr(bytes, 0xc2, run);

	return c2 ? (size_t)(c2 - bytes) : run;
}

/* How many of the last bytes begin a character that is not complete; `left` are to come. */
static size_t cut_character(const char *bytes, size_t length, unsigned char *left)
{
	for (size_t back = 1; back <= 3 && back <= length; back++) {
		unsigned char c = (unsigned char)bytes[length - back];
		size_t need = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;

		if ((c & 0xc0) == 0x80)
			continue;
		if (need <= back)
			return 0;
		*left = (unsigned char)(need - back);
		return back;
	}
	return 0;
}

/* Plain text of run bytes; returns how many of them end at a safe place. */
static size_t read_run(struct sb_modes *modes, const char *bytes, size_t run, bool more)
{
	unsigned char left = 0;
	size_t cut = cut_character(bytes, run, &left);

	modes->line_start = bytes[run - 1] == '\n';
	if (cut && !more) { /* otherwise ESC or 0xc2 breaks it, and it is over */
		modes->state = SB_MODES_UTF8;
		modes->utf8_left = left;
	}
	return run - cut;
}

size_t sb_modes_feed(struct sb_modes *modes, const char *bytes, size_t length)
{
	size_t at = 0, safe = 0;

	while (at < length) {
		if (modes->state == SB_MODES_GROUND) {
			size_t run = plain_run(bytes + at, length - at);

			if (run) {
				size_t whole = read_run(modes, bytes + at, run, at + run < length);

				safe = whole ? at + whole : safe;
				at += run;
				continue;
			}
		} else if ((modes->state == SB_MODES_UTF8 || modes->state == SB_MODES_C2) &&
			   ((unsigned char)bytes[at] & 0xc0) != 0x80) {
			modes->state = SB_MODES_GROUND; /* broken; this byte starts anew */
			continue;
		}
		feed_byte(modes, (unsigned char)bytes[at++]);
		if (modes->state == SB_MODES_GROUND)
			safe = at;
	}
	return safe;
}

/* --- around a question ------------------------------------------------------------- */

void sb_modes_attributes(const struct sb_modes *modes, struct sb_buf *out)
{
	const char *at = modes->attributes;
	const char *end = at + modes->attributes_length;

	while (!modes->attributes_lost && at < end) {
		const char *stop = memchr(at, 'm', (size_t)(end - at));

		sb_buf_puts(out, "\033[");
		sb_buf_append(out, at, (size_t)(stop + 1 - at));
		at = stop + 1;
	}
}

void sb_modes_enter(const struct sb_modes *modes, struct sb_buf *out)
{
	/* Out of any sequence that the command has begun and we took for none. */
	sb_buf_puts(out, "\030\033\\");
	for (size_t i = 0; i < MODES; i++) {
		bool on = modes->on >> i & 1;

		if (i == MODE_8BIT) /* from here on the terminal listens */
			sb_buf_puts(out, modes->alternate ? "\0337" : "\033[?1049h");
		if (!table[i].rare || on != table[i].wanted)
			sb_buf_puts(out, table[i].wanted ? table[i].set : table[i].reset);
	}
	/* Whole screen, plain letters from ASCII, keys as plain as they come (kitty, xterm). */
	sb_buf_puts(out, "\033[r\033[0m\017\033(B\033[>0u");
	if (modes->other_keys)
		sb_buf_puts(out, "\033[>4;0m");
}

void sb_modes_leave(const struct sb_modes *modes, struct sb_buf *out)
{
	if (modes->other_keys)
		sb_buf_printf(out, "\033[>4;%um", modes->other_keys);
	sb_buf_puts(out, "\033[<u\033[0m");
	if (modes->top && modes->bottom)
		sb_buf_printf(out, "\033[%u;%ur", modes->top, modes->bottom);
	else if (modes->top)
		sb_buf_printf(out, "\033[%ur", modes->top);
	for (size_t i = MODES; i-- > 0;) {
		bool on = modes->on >> i & 1;

		if (i == MODE_STATUS_LINE) {
			/* Nothing stays that the command could bring back by CSI ? 47 h: the word. */
			sb_buf_puts(out, modes->alternate ? "\033[2J\0338" : "\033[2J\033[?1049l");
			if (!modes->attributes_lost) {
				sb_buf_puts(out, "\033[0m");
				sb_modes_attributes(modes, out);
			}
		}
		if (on == table[i].wanted)
			continue;
		sb_buf_puts(out, on ? table[i].set : table[i].reset);
		if (table[i].number == 69 && on && modes->left)
			sb_buf_printf(out, "\033[%u;%us", modes->left, modes->right);
	}
}
