#include "search/grep_result.h"

#include <stdlib.h>

#include "base/list.h"

struct sb_grep_result *sb_grep_result_new(void)
{
	struct sb_grep_result *result = calloc(1, sizeof(*result));

	if (result)
		sb_buf_init(&result->text, SB_RESULT_BYTES);
	return result;
}

void sb_grep_result_free(struct sb_grep_result *result)
{
	if (!result)
		return;
	free(result->lines);
	free(result->offsets);
	sb_buf_done(&result->text);
	free(result);
}

static bool inside_character(char c)
{
	return (c & 0xc0) == 0x80;
}

/* Where to begin and end what is shown of a long line; never within a character. */
static void cut(struct sb_grep_line *line, size_t limit, size_t *from, size_t *to)
{
	size_t start = line->start, length = line->length;
	const char *text = line->text;

	/* A quarter of what is shown comes before the match. */
	if (start > limit / 4 * 3)
		*from = start - limit / 4;
	if (length - *from < limit)
		*from = length - limit;
	if (*from > start)
		*from = start;
	for (int i = 0; i < 3 && *from > 0 && inside_character(text[*from]); i++)
		--*from;
	*to = length - *from > limit ? *from + limit : length;
	for (int i = 0; i < 3 && *to<length && * to> * from && inside_character(text[*to]); i++)
		--*to;
	line->cut_before = *from > 0;
	line->cut_after = *to < length;
}

static size_t within(size_t place, size_t from, size_t to)
{
	return place < from ? 0 : place > to ? to - from : place - from;
}

bool sb_grep_result_add(struct sb_grep_result *result, struct sb_grep_line line, size_t limit)
{
	size_t from = 0, to = line.length;

	if (!SB_GROW(result->lines, result->file.line_count) ||
	    !SB_GROW(result->offsets, result->file.line_count))
		return false;
	if (line.length > limit)
		cut(&line, limit, &from, &to);
	line.length = to - from;
	if (line.match) {
		line.column = line.start + 1;
		line.start = within(line.start, from, to);
		line.end = within(line.end, from, to);
	}
	result->offsets[result->file.line_count] = result->text.length;
	sb_buf_append(&result->text, line.text + from, line.length);
	if (sb_buf_failed(&result->text)) {
		result->text.failed = false;
		return false;
	}
	result->lines[result->file.line_count++] = line;
	return true;
}

size_t sb_grep_result_finish(struct sb_grep_result *result)
{
	for (size_t i = 0; i < result->file.line_count; i++)
		result->lines[i].text = result->text.data + result->offsets[i];
	result->file.lines = result->lines;
	return sizeof(*result) + result->text.capacity +
	       result->file.line_count * (sizeof(*result->lines) + sizeof(*result->offsets));
}

void sb_grep_result_trim(struct sb_grep_result *result, uint64_t matches, unsigned after)
{
	uint64_t seen = 0, last = 0;
	size_t keep = 0;

	for (; keep < result->file.line_count; keep++) {
		const struct sb_grep_line *line = &result->lines[keep];

		if (line->match && seen == matches)
			break;
		if (line->match) {
			seen++;
			last = line->number;
		} else if (seen == matches && line->number > last + after) {
			break;
		}
	}
	result->file.line_count = keep;
	result->file.matches = matches;
	result->file.more = true;
}
