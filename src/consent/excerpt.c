#include "consent/excerpt.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"

struct line {
	const char *text;
	size_t length;
};

static int compare(const void *left, const void *right)
{
	const struct line *a = left, *b = right;
	int order = memcmp(a->text, b->text, a->length < b->length ? a->length : b->length);

	return order ? order : (a->length > b->length) - (a->length < b->length);
}

/* The line at *at, without its newline; *at moves behind it. */
static struct line take_line(const char **at, const char *end)
{
	const char *newline = memchr(*at, '\n', (size_t)(end - *at));
	struct line line = {*at, (size_t)((newline ? newline : end) - *at)};

	*at = newline ? newline + 1 : end;
	return line;
}

/* Sorted; NULL: no memory. */
static struct line *lines_of(const char *text, size_t length, size_t *out_count)
{
	const char *at = text, *end = text + length;
	struct line *lines;
	size_t count = 0;

	while (at < end) {
		take_line(&at, end);
		count++;
	}
	lines = calloc(count + 1, sizeof *lines);
	if (!lines)
		return NULL;
	for (at = text, count = 0; at < end; count++)
		lines[count] = take_line(&at, end);
	qsort(lines, count, sizeof *lines, compare);
	*out_count = count;
	return lines;
}

bool sb_excerpt(const char *old, size_t old_length, const char *bytes, size_t length,
		struct sb_buf *out)
{
	const char *at = bytes, *end = bytes ? bytes + length : NULL;
	SB_AUTO_FREE struct line *lines = NULL;
	size_t count = 0, start = out->length;
	bool left_out = false;

	if (!old || !bytes || old_length > SB_EXCERPT_MAX || length > SB_EXCERPT_MAX ||
	    !(lines = lines_of(old, old_length, &count)))
		return false;
	while (at < end) {
		struct line line = take_line(&at, end);

		if (bsearch(&line, lines, count, sizeof line, compare)) {
			left_out = true;
		} else if (!sb_buf_failed(out)) {
			sb_buf_append(out, line.text, line.length);
			sb_buf_putc(out, '\n');
		}
	}
	return left_out && out->length > start;
}

/* Not within a character; bytes that are none are cut anywhere. */
static size_t whole_before(const char *text, size_t most)
{
	size_t at = most;

	while (at && most - at < 4 && ((unsigned char)text[at] & 0xc0) == 0x80)
		at--;
	return most - at < 4 ? at : most;
}

void sb_excerpt_shown(const char *old, size_t old_length, const char *bytes, size_t length,
		      struct sb_buf *out)
{
	SB_AUTO_BUF struct sb_buf lines = SB_BUF(SB_EXCERPT_MAX + 1);
	const size_t part = (SB_EXCERPT_SHOWN - 96) / 2; /* with the line between, not longer */
	size_t head, tail;

	if (sb_excerpt(old, old_length, bytes, length, &lines) && !sb_buf_failed(&lines)) {
		bytes = lines.data;
		length = lines.length;
	}
	if (length <= SB_EXCERPT_SHOWN) {
		sb_buf_append(out, bytes, length);
		return;
	}
	head = whole_before(bytes, part);
	tail = whole_before(bytes, length - part);
	sb_buf_append(out, bytes, head);
	sb_buf_printf(out, "\n... (%zu of %zu bytes are not shown) ...\n", tail - head, length);
	sb_buf_append(out, bytes + tail, length - tail);
}
