/*
 * windows.c - Windows' grammar of paths, as Win32 reads them: RtlDetermineDosPathNameType_U and
 * GetFullPathNameW, and what NTFS makes of names.  Where versions of Windows differ, a path is odd in one
 * that is odd in any.
 */
#include "path/windows.h"

#include <stdint.h>
#include <string.h>

#include "base/escape.h"
#include "base/words.h"

static bool is_separator(char c)
{
	return c == '\\' || c == '/';
}

static char upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 0x20) : c;
}

/* --- where a path starts ------------------------------------------------------------------------ */

/* "C:", and "C:\" where a separator follows. */
static size_t drive(const char *path, struct sb_parsed *out)
{
	bool root = is_separator(path[2]);

	out->start = root ? SB_START_ROOT : SB_START_DRIVE;
	out->text[0] = upper(path[0]);
	memcpy(out->text + 1, ":\\", 2);
	out->root = root ? 3 : 2;
	return out->root;
}

/* "server\share", with or without a separator behind it; 0: one of them is missing. */
static size_t share(const char *path, struct sb_parsed *out)
{
	size_t server = strcspn(path, "\\/"), name, length;

	if (!server || !path[server])
		return 0;
	name = strcspn(path + server + 1, "\\/");
	if (!name)
		return 0;
	length = server + 1 + name;
	out->start = SB_START_SHARE;
	memcpy(out->text, "\\\\", 2);
	memcpy(out->text + 2, path, length);
	out->text[2 + server] = '\\';
	out->text[2 + length] = '\\';
	out->root = length + 3;
	out->odd |= sb_windows_odd(path, server) | sb_windows_odd(path + server + 1, name);
	return length + (path[length] != '\0');
}

/* Behind \\?\ and its like: a drive, a share, or something else that has a name there. */
static size_t device(const char *path, struct sb_parsed *out)
{
	size_t length;

	if (sb_is_letter(path[0]) && path[1] == ':' && is_separator(path[2]))
		return drive(path, out);
	if (sb_windows_begins(path, "UNC") == 3 && is_separator(path[3])) {
		length = share(path + 4, out);
		if (length)
			return 4 + length;
	}
	out->start = SB_START_DEVICE;
	memcpy(out->text, "\\\\.\\", 4);
	out->root = 4;
	return 0;
}

long sb_windows_start(const char *path, struct sb_parsed *out, bool *out_verbatim,
		      struct sb_error *err)
{
	bool two = is_separator(path[0]) && is_separator(path[1]);
	size_t length;

	*out_verbatim = strncmp(path, "\\\\?\\", 4) == 0 || strncmp(path, "\\??\\", 4) == 0;
	if (*out_verbatim ||
	    (two && (path[2] == '.' || path[2] == '?') && (is_separator(path[3]) || !path[3]))) {
		out->odd |= path[0] == '\\' ? SB_ODD_BACK : 0;
		length = path[3] ? 4 : 3;
		return (long)(length + device(path + length, out));
	}
	if (two) {
		length = share(path + 2, out);
		out->odd |= path[0] == '\\' ? SB_ODD_BACK : 0;
		return length ? (long)(2 + length)
			      : sb_fail(err, SB_E_INVALID, 0, "'%s' has a server but no share",
					path);
	}
	if (is_separator(path[0])) {
		out->start = SB_START_ROOTED;
		out->odd |= path[0] == '\\' ? SB_ODD_BACK : 0;
		out->text[0] = '\\';
		out->root = 1;
		return 1;
	}
	if (sb_is_letter(path[0]) && path[1] == ':') {
		out->odd |= path[2] == '\\' ? SB_ODD_BACK : 0;
		return (long)drive(path, out);
	}
	return 0;
}

/* --- names -------------------------------------------------------------------------------------- */

bool sb_windows_is_device(const char *name, size_t length)
{
	size_t end = 0;

	while (end < length && name[end] != '.' && name[end] != ':')
		end++;
	while (end && name[end - 1] == ' ')
		end--;
	if (sb_words_have_like("CON PRN AUX NUL CONIN$ CONOUT$ CLOCK$", name, end))
		return true;
	if (end < 4 || !sb_words_have_like("COM LPT", name, 3))
		return false;
	return (end == 4 && sb_is_digit(name[3])) ||
	       (end == 5 &&
		/* a raised 1, 2 or 3 */ sb_words_have("\xc2\xb9 \xc2\xb2 \xc2\xb3", name + 3, 2));
}

/* Up to eight characters that end in ~ and digits, and up to three behind a dot. */
static bool is_short(const char *name, size_t length)
{
	const char *dot = memchr(name, '.', length);
	size_t stem = dot ? (size_t)(dot - name) : length, at = stem;

	if (stem > 8 || (dot && (length - stem > 4 || memchr(dot + 1, '.', length - stem - 1))))
		return false;
	while (at && sb_is_digit(name[at - 1]))
		at--;
	return at < stem && at > 1 && name[at - 1] == '~';
}

unsigned sb_windows_odd(const char *name, size_t length)
{
	unsigned odd = 0;

	if (sb_windows_is_device(name, length))
		odd |= SB_ODD_RESERVED;
	if (memchr(name, ':', length))
		odd |= SB_ODD_STREAM;
	if (is_short(name, length))
		odd |= SB_ODD_SHORT;
	if (length && (name[length - 1] == '.' || name[length - 1] == ' '))
		odd |= SB_ODD_TRIMMED;
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)name[i] < 0x20 || strchr("<>\"|?*", name[i]))
			odd |= SB_ODD_CHARACTER;
	/* nothing but dots and blanks: "...", ".. "; what it is depends on where it stands */
	for (size_t i = 0; i < length; i++)
		if (name[i] != '.' && name[i] != ' ')
			return odd;
	return odd | SB_ODD_CHARACTER;
}

size_t sb_windows_trim(const char *name, size_t length)
{
	size_t end = length;

	while (end && (name[end - 1] == '.' || name[end - 1] == ' '))
		end--;
	return end ? end : length;
}

/* --- case --------------------------------------------------------------------------------------- */

/*
 * The large letter, as NTFS' table has it: one character for one.  Of the alphabets that names are mostly
 * written in; what is missing here makes two names of one, and a path lies outside that could lie inside.
 */
uint32_t sb_windows_large(uint32_t point)
{
	static const struct {
		uint16_t first, last;
		int16_t step; /* every character, or every second */
		int16_t distance;
	} rows[] = {
		{'a', 'z', 1, -0x20},       {0x00e0, 0x00f6, 1, -0x20}, {0x00f8, 0x00fe, 1, -0x20},
		{0x00ff, 0x00ff, 1, 0x79},  {0x0101, 0x012f, 2, -1},    {0x0133, 0x0137, 2, -1},
		{0x013a, 0x0148, 2, -1},    {0x014b, 0x0177, 2, -1},    {0x017a, 0x017e, 2, -1},
		{0x03ac, 0x03ac, 1, -0x26}, {0x03ad, 0x03af, 1, -0x25}, {0x03b1, 0x03c1, 1, -0x20},
		{0x03c3, 0x03cb, 1, -0x20}, {0x03cc, 0x03cc, 1, -0x40}, {0x03cd, 0x03ce, 1, -0x3f},
		{0x0430, 0x044f, 1, -0x20}, {0x0450, 0x045f, 1, -0x50}, {0x0461, 0x0481, 2, -1},
		{0x048b, 0x04bf, 2, -1},    {0x0561, 0x0586, 1, -0x30}, {0xff41, 0xff5a, 1, -0x20},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (point >= rows[i].first && point <= rows[i].last &&
		    (point - rows[i].first) % (uint32_t)rows[i].step == 0)
			return (uint32_t)((int32_t)point + rows[i].distance);
	return point;
}

/* The character at text, large; *length is how long it is.  A byte that is no text is itself. */
static uint32_t character(const char *text, size_t *length)
{
	size_t step = sb_utf8_length(text, strnlen(text, 4));

	*length = step ? step : 1;
	return step ? sb_windows_large(sb_utf8_point(text, step))
		    : 0x110000u + (unsigned char)*text;
}

size_t sb_windows_begins(const char *text, const char *begins)
{
	size_t at = 0;

	while (*begins) {
		size_t length, other;

		if (!text[at] || character(text + at, &length) != character(begins, &other))
			return 0;
		at += length;
		begins += other;
	}
	return at;
}
