#include "files/encoding.h"

#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"

static const char utf8_mark[] = "\xef\xbb\xbf";

const char *sb_files_encoding_name(enum sb_files_encoding encoding)
{
	static const char *const names[] = {"utf-8",    "utf-8-bom",     "utf-16le",
					    "utf-16be", "utf-16le-bare", "utf-16be-bare",
					    "latin-1",  "binary"};

	return names[encoding];
}

const char *sb_files_eol_name(enum sb_files_eol eol)
{
	static const char *const names[] = {"none", "lf", "crlf", "cr", "mixed"};

	return names[eol];
}

static bool is_utf8(const char *bytes, size_t length, bool whole)
{
	for (size_t at = 0; at < length;) {
		uint64_t eight;
		size_t size;

		if (length - at >= sizeof eight) {
			memcpy(&eight, bytes + at, sizeof eight);
			if (!(eight & UINT64_C(0x8080808080808080))) {
				at += sizeof eight;
				continue;
			}
		}
		size = sb_utf8_length(bytes + at, length - at);
		if (size == 0)
			return !whole && length - at < 4 && (unsigned char)bytes[at] >= 0xc2;
		at += size;
	}
	return true;
}

static unsigned unit_at(const char *bytes, bool big)
{
	unsigned first = (unsigned char)bytes[0], second = (unsigned char)bytes[1];

	return big ? first << 8 | second : second << 8 | first;
}

static bool is_high(unsigned unit)
{
	return unit >= 0xd800 && unit < 0xdc00;
}

static bool is_low(unsigned unit)
{
	return unit >= 0xdc00 && unit < 0xe000;
}

/* Half characters and half surrogate pairs have no UTF-8 that leads back to them. */
static bool is_utf16(const char *bytes, size_t length, bool big, bool whole)
{
	if (length % 2 && whole)
		return false;
	for (size_t at = 0; at + 1 < length; at += 2) {
		unsigned unit = unit_at(bytes + at, big);

		if (is_low(unit))
			return false;
		if (!is_high(unit))
			continue;
		if (at + 3 >= length)
			return !whole;
		at += 2;
		if (!is_low(unit_at(bytes + at, big)))
			return false;
	}
	return true;
}

/* Latin letters in UTF-16: every other byte is NUL.  Only where that is plain to see. */
static bool looks_like_utf16(const char *bytes, size_t length, bool big)
{
	size_t pairs = length / 2, zero = 0;

	for (size_t i = 0; i < pairs; i++) {
		char high = bytes[2 * i + !big], low = bytes[2 * i + big];

		if (low == '\0')
			return false;
		zero += high == '\0';
	}
	return pairs >= 2 && zero * 10 >= pairs * 7;
}

static bool is_text_byte(unsigned char byte)
{
	return byte >= 0x20 ? byte != 0x7f : (byte >= '\b' && byte <= '\r') || byte == 0x1b;
}

static bool is_latin1(const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!is_text_byte((unsigned char)bytes[i]))
			return false;
	return true;
}

enum sb_files_encoding sb_encoding_detect(const char *bytes, size_t length, bool whole)
{
	if (length >= 2 && memcmp(bytes, "\xff\xfe", 2) == 0)
		return is_utf16(bytes, length, false, whole) ? SB_FILES_UTF16_LE
							     : SB_FILES_BINARY_DATA;
	if (length >= 2 && memcmp(bytes, "\xfe\xff", 2) == 0)
		return is_utf16(bytes, length, true, whole) ? SB_FILES_UTF16_BE
							    : SB_FILES_BINARY_DATA;
	if (length && memchr(bytes, '\0', length)) {
		for (int big = 0; big < 2; big++)
			if (looks_like_utf16(bytes, length, big) &&
			    is_utf16(bytes, length, big, whole))
				return big ? SB_FILES_UTF16_BE_BARE : SB_FILES_UTF16_LE_BARE;
		return SB_FILES_BINARY_DATA;
	}
	if (is_utf8(bytes, length, whole))
		return length >= 3 && memcmp(bytes, utf8_mark, 3) == 0 ? SB_FILES_UTF8_BOM
								       : SB_FILES_UTF8;
	return is_latin1(bytes, length) ? SB_FILES_LATIN1 : SB_FILES_BINARY_DATA;
}

static void put_point(struct sb_buf *out, uint32_t point)
{
	char bytes[4];

	sb_buf_append(out, bytes, sb_utf8_put(bytes, point));
}

static void decode_utf16(const char *bytes, size_t length, bool big, struct sb_buf *out)
{
	for (size_t at = 0; at + 1 < length; at += 2) {
		uint32_t point = unit_at(bytes + at, big);

		if (is_high(point) && at + 3 < length) {
			at += 2;
			point = 0x10000 + ((point - 0xd800) << 10) +
				(unit_at(bytes + at, big) - 0xdc00);
		}
		put_point(out, point);
	}
}

static bool is_big(enum sb_files_encoding encoding)
{
	return encoding == SB_FILES_UTF16_BE || encoding == SB_FILES_UTF16_BE_BARE;
}

void sb_encoding_decode(enum sb_files_encoding encoding, const char *bytes, size_t length,
			struct sb_buf *out)
{
	switch (encoding) {
	case SB_FILES_UTF8_BOM:
		if (length >= 3 && memcmp(bytes, utf8_mark, 3) == 0)
			sb_buf_append(out, bytes + 3, length - 3);
		else
			sb_buf_append(out, bytes, length);
		return;
	case SB_FILES_UTF16_LE:
	case SB_FILES_UTF16_BE:
		if (length >= 2 && unit_at(bytes, is_big(encoding)) == 0xfeff)
			decode_utf16(bytes + 2, length - 2, is_big(encoding), out);
		else
			decode_utf16(bytes, length, is_big(encoding), out);
		return;
	case SB_FILES_UTF16_LE_BARE:
	case SB_FILES_UTF16_BE_BARE:
		decode_utf16(bytes, length, is_big(encoding), out);
		return;
	case SB_FILES_LATIN1:
		for (size_t i = 0; i < length; i++)
			put_point(out, (unsigned char)bytes[i]);
		return;
	case SB_FILES_UTF8:
	case SB_FILES_BINARY_DATA:
		sb_buf_append(out, bytes, length);
		return;
	}
}

static void put_unit(struct sb_buf *out, unsigned unit, bool big)
{
	char bytes[2] = {(char)(big ? unit >> 8 : unit), (char)(big ? unit : unit >> 8)};

	sb_buf_append(out, bytes, 2);
}

static void put_utf16(struct sb_buf *out, uint32_t point, bool big)
{
	if (point >= 0x10000) {
		put_unit(out, 0xd800 + ((point - 0x10000) >> 10), big);
		point = 0xdc00 + ((point - 0x10000) & 0x3ff);
	}
	put_unit(out, point, big);
}

bool sb_encoding_encode(enum sb_files_encoding encoding, const char *text, size_t length,
			struct sb_buf *out)
{
	if (encoding == SB_FILES_UTF8 || encoding == SB_FILES_BINARY_DATA) {
		sb_buf_append(out, text, length);
		return true;
	}
	/* a mark the caller wrote would stand behind the file's own */
	if (encoding != SB_FILES_LATIN1 && length >= 3 && memcmp(text, utf8_mark, 3) == 0) {
		text += 3;
		length -= 3;
	}
	if (encoding == SB_FILES_UTF8_BOM) {
		sb_buf_append(out, utf8_mark, 3);
		sb_buf_append(out, text, length);
		return true;
	}
	if (encoding == SB_FILES_UTF16_LE || encoding == SB_FILES_UTF16_BE)
		put_unit(out, 0xfeff, is_big(encoding));
	for (size_t at = 0, size; at < length; at += size) {
		uint32_t point;

		size = sb_utf8_length(text + at, length - at);
		if (size == 0)
			return false;
		point = sb_utf8_point(text + at, size);
		if (encoding != SB_FILES_LATIN1)
			put_utf16(out, point, is_big(encoding));
		else if (point > 0xff)
			return false;
		else
			sb_buf_putc(out, (char)point);
	}
	return true;
}

enum sb_files_eol sb_eol_detect(const char *text, size_t length)
{
	size_t lf = 0, crlf = 0, cr = 0;

	for (const char *at = text, *end = text + length; at < end; at++) {
		if (*at == '\n') {
			lf++;
		} else if (*at == '\r') {
			if (at + 1 < end && at[1] == '\n')
				crlf++, at++;
			else
				cr++;
		}
	}
	if (!lf && !crlf && !cr)
		return SB_FILES_EOL_NONE;
	if ((lf != 0) + (crlf != 0) + (cr != 0) > 1)
		return SB_FILES_EOL_MIXED;
	return lf ? SB_FILES_EOL_LF : crlf ? SB_FILES_EOL_CRLF : SB_FILES_EOL_CR;
}

void sb_eol_to_lf(const char *text, size_t length, struct sb_buf *out)
{
	const char *end = text + length;

	while (text < end) {
		const char *cr = memchr(text, '\r', (size_t)(end - text));
		const char *stop = cr ? cr : end;

		sb_buf_append(out, text, (size_t)(stop - text));
		if (cr && !(cr + 1 < end && cr[1] == '\n'))
			sb_buf_putc(out, '\r');
		text = cr ? cr + 1 : end;
	}
}

void sb_eol_to_crlf(const char *text, size_t length, struct sb_buf *out)
{
	const char *end = text + length, *start = text;

	while (text < end) {
		const char *lf = memchr(text, '\n', (size_t)(end - text));
		const char *stop = lf ? lf : end;

		sb_buf_append(out, text, (size_t)(stop - text));
		if (lf)
			sb_buf_append(out, lf > start && lf[-1] == '\r' ? "\n" : "\r\n",
				      lf > start && lf[-1] == '\r' ? 1 : 2);
		text = lf ? lf + 1 : end;
	}
}
