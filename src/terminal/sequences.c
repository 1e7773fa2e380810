#include "terminal/sequences.h"

#include <string.h>

#include "base/words.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static bool is_one_of(char c, const char *set)
{
	return c && strchr(set, c);
}

/* --- CSI --------------------------------------------------------------------------- */

/* Numbers between ; into out.  False: too many, too large, or something else among them. */
static bool parse_numbers(struct sb_csi *out)
{
	size_t digits = 0;

	out->count = 1;
	out->value[0] = 0;
	for (size_t i = 0; i < out->length; i++) {
		char c = out->text[i];

		if (sb_is_digit(c) && ++digits <= 6) {
			unsigned *value = &out->value[out->count - 1];

			*value = *value * 10 + (unsigned)(c - '0');
		} else if (c == ';' && out->count < SB_CSI_NUMBERS) {
			out->value[out->count++] = 0;
			digits = 0;
		} else {
			return false;
		}
	}
	return true;
}

/* Colours have colons; what they say matters to letters only. */
static bool are_attributes(const char *text, size_t length)
{
	size_t numbers = 1;

	for (size_t i = 0; i < length; i++) {
		if (text[i] == ';' || text[i] == ':')
			numbers++;
		else if (!sb_is_digit(text[i]))
			return false;
	}
	return numbers <= SB_CSI_NUMBERS; /* one more, and libvterm 0.1 crashes */
}

bool sb_csi_parse(struct sb_csi *out, const char *text, size_t length)
{
	*out = (struct sb_csi){.final = text[--length]};
	if (length && is_one_of(text[0], "<=>?")) {
		out->prefix = *text++;
		length--;
	}
	if (length && text[length - 1] >= ' ' && text[length - 1] <= '/')
		out->intermediate = text[--length];
	out->text = text;
	out->length = length;
	if (out->final == 'm' && !out->prefix && !out->intermediate) {
		out->count = 1;
		return are_attributes(text, length);
	}
	return parse_numbers(out);
}

/*
 * CSI ? number h.  Left out on purpose, among others: 2 (VT52), 3 and 40 (132 columns), 34 and
 * 2500 (right to left), 38 (Tektronix), 42 (national letters), 46 (writes a file), 1001 (the
 * terminal waits for the program), 1046 (no alternate screen), 1050 to 1061 (other keyboards).
 */
static const unsigned private_modes[] = {
	1,    5,    6,    7,    9,    12,   25,   47,   69,   80,   1000,
	1002, 1003, 1004, 1005, 1006, 1007, 1015, 1016, 1034, 1036, 1039,
	1047, 1048, 1049, 1070, 2004, 2026, 2031, 2048, 7727, 8452, 9001,
};

/* CSI number h.  34 is the cursor's shape.  Not 2, which locks the keyboard, nor 12, which shows
 * what is typed. */
static const unsigned ansi_modes[] = {4, 20, 34};

/* CSI number t: a new size, reports, and the stack of titles.  Not the title as a report. */
static const unsigned window_acts[] = {8, 11, 13, 14, 15, 16, 18, 19, 22, 23};

static bool contains(const unsigned *list, size_t count, unsigned number)
{
	for (size_t i = 0; i < count; i++)
		if (list[i] == number)
			return true;
	return false;
}

bool sb_csi_is_modes(const struct sb_csi *csi)
{
	return !csi->intermediate && ((!csi->prefix && is_one_of(csi->final, "hl")) ||
				      (csi->prefix == '?' && is_one_of(csi->final, "hlsr")));
}

/* Take out the modes that may not be changed; false when none is left. */
static bool sift_modes(struct sb_csi *csi)
{
	size_t kept = 0;

	for (size_t i = 0; i < csi->count; i++) {
		unsigned number = csi->value[i];
		bool fine = csi->prefix ? contains(private_modes, COUNT(private_modes), number)
					: contains(ansi_modes, COUNT(ansi_modes), number);

		/* Which screen shows is changed in one way only, so that we know. */
		if (is_one_of(csi->final, "sr") &&
		    (number == 47 || (number >= 1047 && number <= 1049)))
			fine = false;
		if (fine)
			csi->value[kept++] = number;
	}
	csi->count = kept;
	return kept > 0;
}

/* Those that depend on their numbers. */
static bool numbers_allowed(const struct sb_csi *csi)
{
	switch (csi->final) {
	case 't':
		return !csi->prefix && contains(window_acts, COUNT(window_acts), csi->value[0]);
	case 'T': /* with more numbers it is about the mouse */
		return !csi->prefix && csi->count == 1;
	case 'S': /* with ? it asks about pictures: 1 and 4 read */
		return !csi->prefix || (csi->prefix == '?' && csi->count > 1 &&
					(csi->value[1] == 1 || csi->value[1] == 4));
	case 'm': /* modifyOtherKeys; with ? the question how it stands */
	case 'n':
		return (csi->prefix == '>' && csi->value[0] == 4) || csi->prefix == '?' ||
		       !csi->prefix;
	default:
		return true;
	}
}

/*
 * By prefix and intermediate: the last bytes.  Not among them: SP k and SP S (direction of the
 * text), " p (level of the terminal), " q (protected letters), # P (colours), $ } (the status
 * line), * y (what stands on the screen), i (to the printer), ] (Linux: colours and consoles).
 */
static const struct {
	char prefix, intermediate;
	const char *finals;
} forms[] = {
	{'\0', '\0', "@ABCDEFGHIJKLMPSTXZ^`abcdefgmnrstu"},
	{'?', '\0', "JKScmnu"},
	{'>', '\0', "cmnqu"},
	{'=', '\0', "cu"},
	{'<', '\0', "u"},
	{'\0', ' ', "q@A"},
	{'\0', '!', "p"},
	{'\0', '$', "prtvxz{"},
	{'?', '$', "p"},
	{'\0', '\'', "}~"},
};

bool sb_csi_allowed(struct sb_csi *csi)
{
	if (csi->final == 'm' && !csi->prefix && !csi->intermediate)
		return true; /* colours: by far the most */
	if (sb_csi_is_modes(csi))
		return sift_modes(csi);
	for (size_t i = 0; i < COUNT(forms); i++)
		if (forms[i].prefix == csi->prefix && forms[i].intermediate == csi->intermediate)
			return is_one_of(csi->final, forms[i].finals) &&
			       (csi->intermediate || numbers_allowed(csi));
	return false;
}

/*
 * Not among them: V W (protected letters), N O n o | } ~ (other letters), l m (the lines above
 * are locked), # (letters of double size), SP (form of replies), % @ (no UTF-8).
 */
bool sb_escape_allowed(char intermediate, char final)
{
	switch (intermediate) {
	case '\0':
		return is_one_of(final, "78=>DEHMZc");
	case '(':
	case ')':
	case '*':
	case '+':
		return is_one_of(final, "0AB");
	case '%':
		return final == 'G';
	default:
		return false;
	}
}

/* --- strings ----------------------------------------------------------------------- */

static bool begins(const char *text, size_t length, const char *with)
{
	return length >= strlen(with) && memcmp(text, with, strlen(with)) == 0;
}

/* "?" or "1;?;2;?": asked for, not set */
static bool only_asks(const char *text, size_t length, bool pairs)
{
	size_t fields = 0, start = 0;

	for (size_t i = 0; i <= length; i++) {
		if (i < length && text[i] != ';')
			continue;
		if ((!pairs || fields % 2) && !(i == start + 1 && text[start] == '?'))
			return false;
		fields++;
		start = i + 1;
	}
	return !pairs || fields % 2 == 0;
}

enum osc_rule {
	ANYTHING,
	ASKS,       /* a colour: only the question which it is */
	ASKS_PAIRS, /* with a number each */
	ONE_COLOUR, /* further ones would be other colours' */
	NOTICE,     /* 9: ConEmu does a lot more with it, down to starting programs */
	FORMS,      /* 1337, 50, 51: those in osc_forms */
	CLIPBOARD,  /* set, not asked for */
};

/*
 * SECURITY: a command does not change the terminal's colours.
 *
 * Danger: letters in the colour of what is behind them cannot be read, and what stays readable
 * is the command's choice.  Not every terminal that sets a colour can set it back, and colours
 * by number are, on some, the nearest of those that can be set.
 * Price: programs that set a colour scheme by OSC 4, 10 or 11 have no effect.
 * Held by: tests/cli/question_screen.py
 */
static const struct {
	unsigned first, last;
	enum osc_rule rule;
} osc_rules[] = {
	{0, 2, ANYTHING},     {4, 5, ASKS_PAIRS},   {7, 8, ANYTHING},       {9, 9, NOTICE},
	{12, 12, ONE_COLOUR}, {10, 19, ASKS},       {22, 22, ANYTHING},     {30, 31, ANYTHING},
	{50, 51, FORMS},      {52, 52, CLIPBOARD},  {99, 99, ANYTHING},     {104, 105, ANYTHING},
	{110, 119, ANYTHING}, {133, 133, ANYTHING}, {176, 176, ANYTHING},   {633, 633, ANYTHING},
	{777, 777, ANYTHING}, {1337, 1337, FORMS},  {3008, 3008, ANYTHING}, {5522, 5522, CLIPBOARD},
};

static const struct {
	unsigned number;
	const char *text;
} osc_forms[] = {
	{50, "CursorShape="}, /* otherwise it sets the font */
	{51, "A"},            /* where we are; E runs something in Emacs */
	{1337, "File="},      /* these two: inline_allowed() */
	{1337, "MultipartFile="},
	{1337, "FilePart="},
	{1337, "FileEnd"},
	{1337, "SetMark"},
	{1337, "SetUserVar="},
	{1337, "CurrentDir="},
	{1337, "RemoteHost="},
	{1337, "ShellIntegrationVersion="},
	{1337, "ReportCellSize"},
	{1337, "Capabilities"},
};

static bool notice_allowed(const char *text, size_t length)
{
	return !length || !sb_is_digit(text[0]) || begins(text, length, "4;") ||
	       begins(text, length, "9;");
}

/*
 * SECURITY: the terminal, which nothing confines, reads and writes no file for a command.
 *
 * Danger: kitty reads a picture from any path that it is told, says whether there is one, and removes files of /tmp
 * and shared memory by their names; iTerm2 keeps what is not shown inline in a file; and many give away the
 * clipboard, where passwords lie.
 * Price: a program in a run pastes by the terminal's own key, and shows pictures by sending them.
 * Held by: tests/unit/test_sieve.c
 */
static bool has(const char *text, size_t length, const char *part)
{
	return memmem(text, length, part, strlen(part)) != NULL;
}

/* What is said before the data.  False: it is too long to be seen. */
static bool head_of(const char *text, size_t length, char before, bool whole, size_t *out_length)
{
	const char *end = memchr(text, before, length);

	*out_length = end ? (size_t)(end - text) : length;
	return end || whole;
}

static bool inline_allowed(const char *text, size_t length, bool whole)
{
	size_t head;

	return (!begins(text, length, "File=") && !begins(text, length, "MultipartFile=")) ||
	       (head_of(text, length, ':', whole, &head) && has(text, head, "inline=1") &&
		!has(text, head, "inline=0"));
}

static bool clipboard_allowed(const char *text, size_t length, bool whole)
{
	size_t head;

	return head_of(text, length, ';', whole, &head) && !has(text, head, "type=read") &&
	       !begins(text + head, length - head, ";?");
}

/* Kitty's keys, up to ";": no other way to the data than to send it along, "t=d". */
static bool picture_allowed(const char *text, size_t length, bool whole)
{
	size_t keys;

	if (!head_of(text, length, ';', whole, &keys))
		return false;
	for (size_t i = 1; i + 2 < keys; i++)
		if ((i == 1 || text[i - 1] == ',') && text[i] == 't' && text[i + 1] == '=' &&
		    (text[i + 2] != 'd' || (i + 3 < keys && text[i + 3] != ',')))
			return false;
	return true;
}

static bool form_allowed(unsigned number, const char *text, size_t length, bool whole)
{
	if (!inline_allowed(text, length, whole))
		return false;
	for (size_t i = 0; i < COUNT(osc_forms); i++)
		if (osc_forms[i].number == number && begins(text, length, osc_forms[i].text))
			return true;
	return false;
}

static bool osc_allowed(const char *text, size_t length, bool whole)
{
	unsigned number = 0;
	size_t digits = 0;

	while (digits < length && digits < 6 && sb_is_digit(text[digits]))
		number = number * 10 + (unsigned)(text[digits++] - '0');
	if (digits == 0 || (digits < length && text[digits] != ';'))
		return false;
	text += digits + (digits < length);
	length -= digits + (digits < length);
	for (size_t i = 0; i < COUNT(osc_rules); i++) {
		if (number < osc_rules[i].first || number > osc_rules[i].last)
			continue;
		switch (osc_rules[i].rule) {
		case ANYTHING:
			return true;
		case ASKS:
		case ASKS_PAIRS:
			return whole && only_asks(text, length, osc_rules[i].rule == ASKS_PAIRS);
		case ONE_COLOUR:
			return whole && !memchr(text, ';', length);
		case NOTICE:
			return notice_allowed(text, length);
		case FORMS:
			return form_allowed(number, text, length, whole);
		case CLIPBOARD:
			return clipboard_allowed(text, length, whole);
		}
	}
	return false;
}

/*
 * Pictures (sixel), and the questions which attributes and which capabilities there are.  Not:
 * letters' shapes, keys, macros, what was saved of the screen, held drawing, and what tmux and
 * screen hand on unread to the terminal around them.
 */
static bool dcs_allowed(const char *text, size_t length)
{
	size_t at = 0;

	while (at < length && (sb_is_digit(text[at]) || text[at] == ';'))
		at++;
	return begins(text + at, length - at, "q") || begins(text, length, "$q") ||
	       begins(text, length, "+q");
}

bool sb_string_allowed(char kind, const char *text, size_t length, bool whole)
{
	switch (kind) {
	case ']':
		return osc_allowed(text, length, whole);
	case 'P':
		return dcs_allowed(text, length);
	case '_': /* pictures: kitty */
		return begins(text, length, "G") && picture_allowed(text, length, whole);
	case 'k': /* the title of a window of screen or tmux */
		return whole;
	default:
		return false;
	}
}
