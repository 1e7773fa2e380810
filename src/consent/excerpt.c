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
