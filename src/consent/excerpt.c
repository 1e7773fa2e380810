#include "consent/excerpt.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/list.h"
#include "base/words.h"

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

/* Sorted; false: no memory. */
static bool lines_of(const char *text, size_t length, struct line **out, size_t *out_count)
{
	struct sb_text_lines line = sb_text_lines(text, length);

	while (sb_next_line(&line)) {
		if (!SB_GROW(*out, *out_count))
			return false;
		(*out)[(*out_count)++] = (struct line){line.text, line.length};
	}
	if (*out)
		qsort(*out, *out_count, sizeof **out, compare);
	return true;
}

/* Append the lines of bytes that old has not.  False: these would be all, or none; then bytes themselves say more. */
static bool put_new(const char *old, size_t old_length, const char *bytes, size_t length,
		    struct sb_buf *out)
{
	struct sb_text_lines line = sb_text_lines(bytes, length);
	SB_AUTO_FREE struct line *lines = NULL;
	size_t count = 0, start = out->length;
	bool left_out = false;

	if (!old || !bytes || old_length > SB_EXCERPT_MAX || length > SB_EXCERPT_MAX ||
	    !lines_of(old, old_length, &lines, &count))
		return false;
	while (sb_next_line(&line)) {
		struct line key = {line.text, line.length};

		if (lines && bsearch(&key, lines, count, sizeof key, compare)) {
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

	if (put_new(old, old_length, bytes, length, &lines) && !sb_buf_failed(&lines)) {
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
