#include "terminal/modes.h"

#include <string.h>

#include "base/buf.h"
#include "terminal/sequences.h"

/*
 * The modes that a question changes.  `wanted` is what it needs.  sb_modes_enter() goes down the
 * table, sb_modes_leave() up.
 *
 * SECURITY: bracketed paste is on during a question, so that the terminal marks what is pasted
 * and it never counts as a key: keys.c.  Held by: tests/cli/terminal_keys.py
 */
static const struct mode {
	unsigned number; /* of CSI ? number h; 0: has sequences of its own */
	bool usual, wanted;
	const char *set, *reset;
	bool lines; /* without its usual state a line may not be seen, or not where it belongs */
} table[] = {
	{0, false, false, "\033[4h", "\033[4l", true},   /* insert */
	{0, false, false, "\033[20h", "\033[20l", true}, /* line feed returns, too */
	{0, true, false, "\033[8h", "\033[8l"}, /* words from right to left are turned around */
	{0, false, false, "\033=", "\033>"},    /* keypad sends no digits */
	{5, false, false, "\033[?5h", "\033[?5l", true},    /* reverse screen */
	{69, false, false, "\033[?69h", "\033[?69l", true}, /* margins left and right */
	{6, false, false, "\033[?6h", "\033[?6l"},          /* origin in the region */
	{7, true, false, "\033[?7h", "\033[?7l", true},     /* wrap */
	{1003, false, false, "\033[?1003h", "\033[?1003l"}, /* mouse: every move, */
	{1002, false, false, "\033[?1002h", "\033[?1002l"}, /* dragging, */
	{1000, false, false, "\033[?1000h", "\033[?1000l"}, /* buttons, */
	{9, false, false, "\033[?9h", "\033[?9l"}, /* X10; set again in the order of their reach */
	{1004, false, false, "\033[?1004h", "\033[?1004l"},       /* focus */
	{2004, false, true, "\033[?2004h", "\033[?2004l"},        /* bracketed paste */
	{2026, false, false, "\033[?2026h", "\033[?2026l", true}, /* drawing is held back */
	{2031, false, false, "\033[?2031h", "\033[?2031l"},       /* colour scheme reports */
	{2048, false, false, "\033[?2048h", "\033[?2048l"},       /* size reports */
	{7727, false, false, "\033[?7727h", "\033[?7727l"}, /* Esc sends more than that (mintty) */
	{9001, false, false, "\033[?9001h", "\033[?9001l"}, /* win32 key codes */
	{25, true, true, "\033[?25h", "\033[?25l"},         /* cursor shows */
};

#define MODES (sizeof table / sizeof table[0])

/* The first rows, which sequences of their own change. */
enum own_mode {
	MODE_INSERT,
	MODE_NEW_LINE,
	MODE_TURNED,
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
	*modes = (struct sb_modes){.on = usual_modes(), .saved = usual_modes(), .sets = {'B', 'B'}};
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

/* CSI ? ... with final h, l (set, reset), s, r (save, restore) */
static void private_modes(struct sb_modes *modes, const struct sb_csi *csi, char final)
{
	for (size_t n = 0; n < csi->count; n++) {
		unsigned number = csi->value[n];

		if (number == 47 || number == 1047 || number == 1049) {
			if (final == 'h' || final == 'l')
				modes->alternate = final == 'h';
			modes->line_start = false;
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
			else
				set_mode(modes, i, final == 'h');
		}
	}
}

static void region(unsigned *first, unsigned *last, const struct sb_csi *csi)
{
	unsigned from = csi->value[0] ? csi->value[0] : 1;
	unsigned to = csi->count > 1 ? csi->value[1] : 0;
	bool whole = (from == 1 && to == 0) || (to && from >= to);

	*first = whole ? 0 : from;
	*last = whole ? 0 : to;
}

/* CSI ... m: remember its text, so that it can be said again. */
static void attributes(struct sb_modes *modes, const char *text, size_t length)
{
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
	private_modes(modes, &(struct sb_csi){.value = {6}, .count = 1}, 'l');
	private_modes(modes, &(struct sb_csi){.value = {7, 25}, .count = 2}, 'h');
	sb_modes_resized(modes);
	modes->sets[0] = modes->sets[1] = 'B';
	modes->shifted = false;
	modes->attributes_length = 0;
	modes->attributes_lost = false;
}

static void csi_plain(struct sb_modes *modes, const struct sb_csi *csi)
{
	switch (csi->final) {
	case 'h':
	case 'l':
		for (size_t n = 0; n < csi->count; n++) {
			if (csi->value[n] == 4)
				set_mode(modes, MODE_INSERT, csi->final == 'h');
			if (csi->value[n] == 20)
				set_mode(modes, MODE_NEW_LINE, csi->final == 'h');
		}
		break;
	case 'm':
		attributes(modes, csi->text, csi->length);
		break;
	case 'r':
		region(&modes->top, &modes->bottom, csi);
		break;
	case 's': /* without margins left and right it saves the cursor */
		if (csi->length)
			region(&modes->left, &modes->right, csi);
		break;
	default:
		break;
	}
}

void sb_modes_csi(struct sb_modes *modes, const struct sb_csi *csi)
{
	if (csi->intermediate == '!' && csi->final == 'p')
		soft_reset(modes);
	else if (csi->intermediate)
		return;
	else if (csi->prefix == '?' && strchr("hlsr", csi->final))
		private_modes(modes, csi, csi->final);
	else if (csi->prefix == '>' && csi->final == 'm')
		modes->other_keys = csi->count > 1 ? csi->value[1] : 0;
	else if (csi->prefix == '>' && csi->final == 'n')
		modes->other_keys = 0;
	else if (!csi->prefix)
		csi_plain(modes, csi);
	/* those that move the cursor */
	if (!csi->prefix && !csi->intermediate && strchr("ABCDEFGHIZ`adefjkru", csi->final))
		modes->line_start = false;
}

void sb_modes_escape(struct sb_modes *modes, char intermediate, char final)
{
	bool pictures = modes->pictures;

	if (intermediate == '(' || intermediate == ')')
		modes->sets[intermediate == ')'] = final;
	else if (intermediate)
		return;
	else if (final == '=' || final == '>')
		set_mode(modes, MODE_KEYPAD, final == '=');
	else if (final == 'c')
		sb_modes_init(modes);
	else if (final == '8' || final == 'M')
		modes->line_start = false;
	modes->pictures = pictures; /* some keep them through a reset */
}

void sb_modes_string(struct sb_modes *modes, char kind, const char *text, size_t length)
{
	if (kind == '_')
		modes->pictures = true;
	else if (kind == ']' && length >= 2 && memcmp(text, "8;", 2) == 0)
		modes->link = length < 3 || text[length - 1] != ';';
}

/* --- around a question ------------------------------------------------------------- */

static void put_attributes(const struct sb_modes *modes, struct sb_buf *out)
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

/*
 * What a command cannot have set, since sieve.h does not let it through, but whoever had the
 * terminal before us can: all that would keep a question from being seen.  Terminals that do not
 * know one of these swallow it, or show letters that are written over.
 */
static const char floor_first[] = "\030\033\\" /* out of any sequence */
				  "\033<"      /* and of VT52, */
				  "\033[4i"    /* not to the printer */
				  "\033[0$}";  /* nor to the status line */
static const char floor_then[] = "\033%G"      /* UTF-8 */
				 "\033 F"      /* replies in seven bits */
				 "\033[2l"     /* the keyboard is not locked, */
				 "\033[12h";   /* and what is typed is not shown */
static const char whole_screen[] = "\033[r";
static const char plain_letters[] = "\033W\033[0\"q"    /* none is protected, */
				    "\033[10m\033[0m"   /* no colours and fonts, */
				    "\033(B\033)B\017"; /* from ASCII */
static const char plain_keys[] = "\033[>0u";            /* as they come (kitty) */

/* What a link and pictures of the command's would do to our letters. */
static void put_apart(const struct sb_modes *modes, struct sb_buf *out)
{
	if (modes->link)
		sb_buf_puts(out, "\033]8;;\033\\");
	/* They may stand above the letters.  Only where the command has sent some: not every
	 * terminal swallows this. */
	if (modes->pictures)
		sb_buf_puts(out, "\033_Ga=d,d=a,q=2\033\\");
}

static void put_region(const struct sb_modes *modes, struct sb_buf *out)
{
	if (modes->top && modes->bottom)
		sb_buf_printf(out, "\033[%u;%ur", modes->top, modes->bottom);
	else if (modes->top)
		sb_buf_printf(out, "\033[%ur", modes->top);
}

static void put_mode(const struct sb_modes *modes, size_t row, struct sb_buf *out)
{
	bool on = modes->on >> row & 1;

	sb_buf_puts(out, on ? table[row].set : table[row].reset);
	if (table[row].number == 69 && modes->left)
		sb_buf_printf(out, "\033[%u;%us", modes->left, modes->right);
}

static void put_letters(const struct sb_modes *modes, struct sb_buf *out)
{
	sb_buf_printf(out, "\033(%c\033)%c%c", modes->sets[0], modes->sets[1],
		      modes->shifted ? '\016' : '\017');
	if (!modes->attributes_lost) {
		sb_buf_puts(out, "\033[0m");
		put_attributes(modes, out);
	}
}

void sb_modes_enter(const struct sb_modes *modes, struct sb_buf *out)
{
	sb_buf_puts(out, floor_first);
	sb_buf_puts(out, modes->alternate ? "\0337" : "\033[?1049h");
	for (size_t i = 0; i < MODES; i++)
		sb_buf_puts(out, table[i].wanted ? table[i].set : table[i].reset);
	sb_buf_puts(out, floor_then);
	sb_buf_puts(out, whole_screen);
	sb_buf_puts(out, plain_letters);
	sb_buf_puts(out, plain_keys);
	if (modes->other_keys) /* otherwise it is as the person wants it */
		sb_buf_puts(out, "\033[>4;0m");
	put_apart(modes, out);
}

void sb_modes_leave(const struct sb_modes *modes, struct sb_buf *out)
{
	if (modes->other_keys)
		sb_buf_printf(out, "\033[>4;%um", modes->other_keys);
	sb_buf_puts(out, "\033[<u\033[0m");
	put_region(modes, out);
	for (size_t i = MODES; i-- > 0;)
		if ((modes->on >> i & 1) != table[i].wanted)
			put_mode(modes, i, out);
	/* Nothing stays that the command could bring back by CSI ? 47 h: the word. */
	sb_buf_puts(out, modes->alternate ? "\033[2J\0338" : "\033[2J\033[?1049l");
	put_letters(modes, out);
}

/* --- around lines of ours ------------------------------------------------------------ */

void sb_modes_unfollowed(struct sb_modes *modes)
{
	sb_modes_init(modes);
	modes->unfollowed = modes->alternate = modes->link = modes->pictures = true;
}

/*
 * SECURITY: a line of ours is seen, whatever the command has made of the terminal.
 *
 * Danger: it changes something that is told and not asked about, and ends with letters that are black
 * on black, drawn lines or concealed, inside a string, with drawing held back, in the last column.
 * Cursor keys and the like are not ours to change.  Of the origin nothing is seen when the region is the
 * whole screen, and setting it would move the cursor.
 * Price: where we have something to tell, what stands below the cursor goes, and pictures do.
 * Held by: tests/cli/told_screen.py
 */
void sb_modes_seen(struct sb_modes *modes, unsigned columns, struct sb_buf *out)
{
	sb_buf_puts(out, floor_first);
	/* Who was not followed is mostly on the main screen: there 1049 moves the cursor, in tmux to where a program
	 * that is long gone had it, and all that came since would be erased. */
	if (modes->alternate)
		sb_buf_puts(out, modes->unfollowed ? "\033[?1047l" : "\033[?1049l");
	for (size_t i = 0; i < MODES; i++)
		if (table[i].lines)
			sb_buf_puts(out, table[i].usual ? table[i].set : table[i].reset);
	/* Margins take the cursor home. */
	sb_buf_printf(out, "\0337%s\0338%s", whole_screen, plain_letters);
	/* So many blanks fill a line that is empty, and end any other. */
	if (modes->unfollowed)
		sb_buf_printf(out, "%*s", (int)columns, "");
	else if (!modes->line_start)
		sb_buf_puts(out, "\r\n");
	put_apart(modes, out);
	sb_buf_puts(out, "\r\033[J");
	modes->alternate = modes->link = modes->pictures = false;
	modes->line_start = true;
}

void sb_modes_unseen(const struct sb_modes *modes, struct sb_buf *out)
{
	struct sb_modes usual;

	sb_modes_init(&usual);
	if (modes->top || modes->left)
		sb_buf_puts(out, "\0337");
	put_region(modes, out);
	for (size_t i = MODES; i-- > 0;)
		if (table[i].lines && (modes->on >> i & 1) != table[i].usual)
			put_mode(modes, i, out);
	if (modes->top || modes->left)
		sb_buf_puts(out, "\0338");
	if (modes->attributes_length || modes->shifted || memcmp(modes->sets, usual.sets, 2) != 0)
		put_letters(modes, out);
}
