#include "base/escape.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"

size_t sb_utf8_length(const char *bytes, size_t length)
{
	const unsigned char *b = (const unsigned char *)bytes;
	size_t need;
	uint32_t point;

	if (length == 0)
		return 0;
	if (b[0] < 0x80)
		return 1;
	if (b[0] >= 0xc2 && b[0] <= 0xdf)
		need = 2, point = b[0] & 0x1f;
	else if ((b[0] & 0xf0) == 0xe0)
		need = 3, point = b[0] & 0x0f;
	else if (b[0] >= 0xf0 && b[0] <= 0xf4)
		need = 4, point = b[0] & 0x07;
	else
		return 0;
	if (length < need)
		return 0;
	for (size_t i = 1; i < need; i++) {
		if ((b[i] & 0xc0) != 0x80)
			return 0;
		point = point << 6 | (b[i] & 0x3f);
	}
	if ((need == 3 && point < 0x800) || (need == 4 && point < 0x10000) || point > 0x10ffff ||
	    (point >= 0xd800 && point <= 0xdfff))
		return 0;
	return need;
}

uint32_t sb_utf8_point(const char *bytes, size_t length)
{
	const unsigned char *b = (const unsigned char *)bytes;

	switch (length) {
	case 2:
		return (b[0] & 0x1fu) << 6 | (b[1] & 0x3fu);
	case 3:
		return (b[0] & 0x0fu) << 12 | (b[1] & 0x3fu) << 6 | (b[2] & 0x3fu);
	case 4:
		return (b[0] & 0x07u) << 18 | (b[1] & 0x3fu) << 12 | (b[2] & 0x3fu) << 6 |
		       (b[3] & 0x3fu);
	default:
		return b[0];
	}
}

size_t sb_utf8_put(char out[4], uint32_t point)
{
	size_t length = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;

	for (size_t i = length - 1; i > 0; i--, point >>= 6)
		out[i] = (char)(0x80 | (point & 0x3f));
	out[0] = (char)(length == 1 ? point : (0xf00u >> length & 0xf0) | point);
	return length;
}

int sb_hex_digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

/*
 * Characters that show as nothing or turn the line around: controls, zero width,
 * fillers, direction marks and overrides ("Trojan Source"), line and paragraph
 * separators, byte order mark, tags, variation selectors.  Unicode calls most of
 * them Default_Ignorable_Code_Point.
 */
static bool is_invisible(uint32_t point)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{0x0, 0x1f},        {0x7f, 0x9f},       {0xad, 0xad},       {0x34f, 0x34f},
		{0x61c, 0x61c},     {0x115f, 0x1160},   {0x17b4, 0x17b5},   {0x180b, 0x180f},
		{0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},   {0x3164, 0x3164},
		{0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff0, 0xfffb},
		{0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
	};

	for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
		if (point >= ranges[i].first && point <= ranges[i].last)
			return true;
	return false;
}

/* Shown as a gap, or as nothing between two letters, like ' ' but another one. */
static bool is_other_blank(uint32_t point)
{
	return point == 0xa0 || point == 0x1680 || (point >= 0x2000 && point <= 0x200a) ||
	       point == 0x202f || point == 0x205f || point == 0x2800 || point == 0x3000;
}

size_t sb_utf8_visible(const char *bytes, size_t length)
{
	size_t step = sb_utf8_length(bytes, length);

	return step && is_invisible(sb_utf8_point(bytes, step)) ? 0 : step;
}

bool sb_utf8_all_visible(const char *bytes, size_t length)
{
	while (length) {
		size_t step = *bytes >= ' ' && *bytes <= '~' ? 1 : sb_utf8_visible(bytes, length);

		if (!step)
			return false;
		bytes += step;
		length -= step;
	}
	return true;
}

size_t sb_utf8_plain(const char *bytes, size_t length)
{
	size_t step = sb_utf8_visible(bytes, length);

	return step > 1 && is_other_blank(sb_utf8_point(bytes, step)) ? 0 : step;
}

static void escape_ascii(struct sb_buf *out, unsigned char c)
{
	switch (c) {
	case '\n':
		sb_buf_puts(out, "\\n");
		return;
	case '\r':
		sb_buf_puts(out, "\\r");
		return;
	case '\t':
		sb_buf_puts(out, "\\t");
		return;
	case 0x1b:
		sb_buf_puts(out, "\\e");
		return;
	default:
		if (c < 0x20 || c >= 0x7f)
			sb_buf_printf(out, "\\x%02x", c);
		else
			sb_buf_putc(out, (char)c);
	}
}

/* One character; returns how many bytes it takes. */
static size_t escape_one(struct sb_buf *out, const char *bytes, size_t length)
{
	size_t step = sb_utf8_length(bytes, length);

	if (step <= 1) {
		escape_ascii(out, (unsigned char)*bytes);
		return 1;
	}
	if (!sb_utf8_plain(bytes, step))
		sb_buf_printf(out, "\\u{%x}", sb_utf8_point(bytes, step));
	else
		sb_buf_append(out, bytes, step);
	return step;
}

void sb_escape_append(struct sb_buf *out, const char *bytes, size_t length)
{
	while (length) {
		size_t step = escape_one(out, bytes, length);

		bytes += step;
		length -= step;
	}
}

/* How many of the bytes in set there are at the beginning. */
static size_t run_of(const char *set, const char *bytes, size_t length)
{
	size_t count = 0;

	while (count < length && bytes[count] && strchr(set, bytes[count]))
		count++;
	return count;
}

void sb_escape_name(struct sb_buf *out, const char *bytes, size_t length)
{
	while (length) {
		size_t step = run_of(" ", bytes, length);

		if (step > 1) {
			sb_buf_printf(out, "\\x20{%zu}", step);
		} else if (*bytes == '\\') {
			sb_buf_puts(out, "\\\\");
			step = 1;
		} else {
			step = escape_one(out, bytes, length);
		}
		bytes += step;
		length -= step;
	}
}

#define FEW_BLANKS 4 /* as texts have them, to stand in columns */
#define LONG_VALUE (16 * 1024)

static void escape_text(struct sb_buf *out, const char *bytes, size_t length)
{
	while (length) {
		size_t step = run_of(" \t", bytes, length);

		if (step > FEW_BLANKS)
			sb_buf_printf(out, "[%zu blanks]", step);
		else
			step = escape_one(out, bytes, length);
		bytes += step;
		length -= step;
	}
}

/* The longest beginning of text, escaped already, that is no longer than most and ends with a character. */
static size_t whole_before(const char *text, size_t most)
{
	while (most && ((unsigned char)text[most] & 0xc0) == 0x80)
		most--;
	return most;
}

void sb_escape_puts(struct sb_buf *out, const char *text)
{
	sb_escape_append(out, text, strlen(text));
}

void sb_escape_puts_name(struct sb_buf *out, const char *name)
{
	sb_escape_name(out, name, strlen(name));
}

void sb_escape_put(struct sb_buf *out, const char *before, const char *text, const char *after)
{
	if (!text)
		return;
	sb_buf_puts(out, before);
	sb_escape_puts(out, text);
	sb_buf_puts(out, after);
}

void sb_escape_put_name(struct sb_buf *out, const char *before, const char *name, const char *after)
{
	if (!name)
		return;
	sb_buf_puts(out, before);
	sb_escape_puts_name(out, name);
	sb_buf_puts(out, after);
}

void sb_escape_value(struct sb_buf *out, const char *bytes, size_t length, size_t most)
{
	/* of what is very long the middle is not looked at; each byte becomes \xNN at most */
	size_t part = length > LONG_VALUE ? LONG_VALUE / 2 : length, head, tail;
	SB_AUTO_BUF struct sb_buf first = SB_BUF(4 * LONG_VALUE + 64);
	SB_AUTO_BUF struct sb_buf last = SB_BUF(4 * LONG_VALUE + 64);
	const struct sb_buf *end = part < length ? &last : &first;
	char gap[64];

	escape_text(&first, bytes, part);
	if (part < length)
		escape_text(&last, bytes + length - part, part);
	if (part == length && first.length <= most) {
		sb_buf_append(out, first.data, first.length);
		return;
	}
	snprintf(gap, sizeof gap, " ... (%zu characters) ... ", length);
	most = most > strlen(gap) ? most - strlen(gap) : 0;
	head = first.length < most / 2 ? first.length : whole_before(first.data, most / 2);
	tail = end->length < most - most / 2 ? 0 : end->length - (most - most / 2);
	while (((unsigned char)end->data[tail] & 0xc0) == 0x80)
		tail++;
	sb_buf_append(out, first.data, head);
	sb_buf_puts(out, gap);
	sb_buf_puts(out, end->data + tail);
	out->failed |= first.failed || last.failed;
}

char *sb_escape_line(char *out, size_t size, const char *text)
{
	SB_AUTO_BUF struct sb_buf buf =
		SB_BUF(16 * 1024); /* four times the longest path: each byte may become \xNN */
	size_t cut;

	if (size == 0)
		return out;
	sb_escape_append(&buf, text, strlen(text));
	if (!sb_buf_failed(&buf) && buf.length < size) {
		memcpy(out, buf.data, buf.length + 1);
		return out;
	}
	if (size < 4) {
		out[0] = '\0';
		return out;
	}
	cut = buf.length < size - 4 ? buf.length : size - 4;
	while (cut > 0 && ((unsigned char)buf.data[cut] & 0xc0) == 0x80)
		cut--; /* do not end inside a character */
	memcpy(out, buf.data, cut);
	memcpy(out + cut, "...", 4);
	return out;
}

void sb_shell_quote(struct sb_buf *out, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-+=./:,@%^~";
	size_t length = strlen(text);
	bool visible = true;

	if (length && strspn(text, plain) == length && text[0] != '~') {
		sb_buf_puts(out, text);
		return;
	}
	for (size_t i = 0; i < length;) {
		size_t step = sb_utf8_plain(text + i, length - i);

		visible &= step > 0;
		i += step ? step : 1;
	}
	if (visible) {
		sb_buf_putc(out, '\'');
		for (; *text; text++) {
			if (*text == '\'')
				sb_buf_puts(out, "'\\''");
			else
				sb_buf_putc(out, *text);
		}
		sb_buf_putc(out, '\'');
		return;
	}
	/* bash, zsh, fish-compatible enough for what no one types: $'...' */
	sb_buf_puts(out, "$'");
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '\'' || c == '\\')
			sb_buf_printf(out, "\\%c", c);
		else if (c < 0x20 || c >= 0x7f)
			sb_buf_printf(out, "\\x%02x", c);
		else
			sb_buf_putc(out, (char)c);
	}
	sb_buf_putc(out, '\'');
}

void sb_base64_append(struct sb_buf *out, const char *bytes, size_t length)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t at = 0; at < length; at += 3) {
		unsigned long bits = 0;
		char group[4];

		for (size_t i = 0; i < 3; i++)
			bits = bits << 8 | (at + i < length ? (unsigned char)bytes[at + i] : 0);
		for (size_t i = 0; i < 4; i++)
			group[i] = at + i <= length ? digits[bits >> (18 - 6 * i) & 63] : '=';
		sb_buf_append(out, group, sizeof group);
	}
}

void sb_shell_quote_all(struct sb_buf *out, const char *const *words)
{
	for (size_t i = 0; words[i]; i++) {
		if (i)
			sb_buf_putc(out, ' ');
		sb_shell_quote(out, words[i]);
	}
}
