#include "terminal/cells.h"

#include <string.h>

#include "base/buf.h"
#include "base/escape.h"

#define GAP "[...]"

size_t sb_cells_character(const char *text, size_t length, size_t *cells)
{
	size_t bytes = sb_utf8_length(text, length);

	*cells = bytes > 1 ? 2 : 1;
	return bytes ? bytes : 1;
}

size_t sb_cells(const char *text, size_t length)
{
	size_t total = 0;

	for (size_t at = 0, cells; at < length; total += cells)
		at += sb_cells_character(text + at, length - at, &cells);
	return total;
}

size_t sb_cells_head(const char *text, size_t length, size_t cells)
{
	size_t at = 0;

	while (at < length) {
		size_t width, step = sb_cells_character(text + at, length - at, &width);

		if (width > cells)
			break;
		cells -= width;
		at += step;
	}
	return at;
}

/* How many bytes at the end fit into cells. */
static size_t tail_bytes(const char *text, size_t length, size_t cells)
{
	size_t total = sb_cells(text, length);
	size_t at = 0;

	while (at < length && total > cells) {
		size_t width;

		at += sb_cells_character(text + at, length - at, &width);
		total -= width;
	}
	return length - at;
}

void sb_cells_fit(struct sb_buf *out, const char *text, size_t length, size_t cells)
{
	size_t head, tail;

	if (sb_cells(text, length) <= cells) {
		sb_buf_append(out, text, length);
		return;
	}
	if (cells < strlen(GAP) + 4) { /* the end says most: it is the file's name */
		tail = tail_bytes(text, length, cells);
		sb_buf_append(out, text + length - tail, tail);
		return;
	}
	cells -= strlen(GAP);
	head = sb_cells_head(text, length, cells * 2 / 5);
	tail = tail_bytes(text, length, cells - cells * 2 / 5);
	sb_buf_append(out, text, head);
	sb_buf_puts(out, GAP);
	sb_buf_append(out, text + length - tail, tail);
}

/* Marks that stand on the letter before them; the last ones are drawn around it or through it. */
static bool is_mark(uint32_t point)
{
	return (point >= 0x300 && point <= 0x36f) || (point >= 0x483 && point <= 0x489) ||
	       (point >= 0x1ab0 && point <= 0x1aff) || (point >= 0x1dc0 && point <= 0x1dff) ||
	       (point >= 0xfe20 && point <= 0xfe2f) || (point >= 0x20d0 && point <= 0x20ff);
}

void sb_cells_escape(struct sb_buf *out, const char *text, size_t length, bool ascii)
{
	SB_AUTO_BUF struct sb_buf escaped = SB_BUF(SB_CELLS_TEXT);
	bool marked = true; /* nothing to stand on */
	size_t at = 0;

	sb_escape_append(&escaped, text, length);
	while (at < escaped.length) {
		size_t step = sb_utf8_length(escaped.data + at, escaped.length - at);
		uint32_t point = sb_utf8_point(escaped.data + at, step);
		bool mark = is_mark(point);

		if ((step > 1 && ascii) || (mark && (marked || point >= 0x20d0)))
			sb_buf_printf(out, "\\u{%x}", point);
		else
			sb_buf_append(out, escaped.data + at, step);
		marked = mark || point == '/' || point == ' ';
		at += step;
	}
	if (sb_buf_failed(&escaped))
		out->failed = true;
}

void sb_cells_put(struct sb_buf *out, const char *text, size_t cells, bool ascii)
{
	SB_AUTO_BUF struct sb_buf escaped = SB_BUF(SB_CELLS_TEXT);

	sb_cells_escape(&escaped, text, strlen(text), ascii);
	sb_cells_fit(out, escaped.data, escaped.length, cells);
}
