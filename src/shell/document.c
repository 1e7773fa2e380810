/*
 * Between words: blanks, comments, line ends, and the documents that begin behind one.
 */
#include <string.h>

#include "shell/reader.h"

void sb_skip_blanks(struct sb_reader *reader)
{
	while (reader->at < reader->end) {
		if (sb_is_blank(*reader->at)) {
			reader->at++;
		} else if (sb_reader_sees(reader, "\\\n")) {
			reader->at += 2;
		} else if (*reader->at == '#') {
			const char *line =
				memchr(reader->at, '\n', (size_t)(reader->end - reader->at));

			reader->at = line ? line : reader->end;
		} else {
			break;
		}
	}
}

/* What ends a document, without its quotes. */
static const char *ending(struct sb_reader *reader, struct sb_redirect *document,
			  size_t *out_length)
{
	const struct sb_word *word = document->target;
	char *text = sb_reader_alloc(reader, word->length + 1);
	size_t length = 0;

	if (!text)
		return NULL;
	for (const struct sb_part *part = word->parts; part; part = part->next) {
		document->quoted |= part->kind == SB_PART_QUOTED;
		if (part->kind != SB_PART_TEXT && part->kind != SB_PART_QUOTED) {
			/* nothing is expanded in it */
			memcpy(text, word->text, word->length);
			*out_length = word->length;
			return text;
		}
		memcpy(text + length, part->text, part->length);
		length += part->length;
	}
	*out_length = length;
	return text;
}

/* An odd number of backslashes before the line's end joins it with the next. */
static bool is_joined(const char *start, const char *end)
{
	size_t count = 0;

	while (end - count > start && end[-1 - (ptrdiff_t)count] == '\\')
		count++;
	return count % 2;
}

static void read_document(struct sb_reader *reader, struct sb_redirect *document)
{
	const char *start = reader->at, *line = start, *stop = reader->end;
	size_t length;
	const char *ends = ending(reader, document, &length);
	bool joined = false;

	if (!ends)
		return;
	for (;;) {
		const char *end = memchr(line, '\n', (size_t)(reader->end - line));
		const char *from = line;

		if (!end)
			end = reader->end;
		while (document->strips && from < end && *from == '\t')
			from++;
		if (!joined && (size_t)(end - from) == length && memcmp(from, ends, length) == 0) {
			stop = line;
			line = end < reader->end ? end + 1 : end;
			break;
		}
		joined = !document->quoted && is_joined(line, end);
		line = end < reader->end ? end + 1 : end;
		if (line >= reader->end) /* bash warns, and takes it */
			break;
	}
	if (!document->quoted)
		document->document = sb_parts_span(reader, start, stop);
	if (!reader->problem)
		reader->at = line;
}

void sb_skip_lines(struct sb_reader *reader)
{
	for (;;) {
		sb_skip_blanks(reader);
		if (!sb_reader_sees(reader, "\n"))
			break;
		reader->at++;
		while (reader->waiting && !reader->problem) {
			struct sb_redirect *document = reader->waiting;

			reader->waiting = document->waiting;
			read_document(reader, document);
		}
		if (!reader->waiting)
			reader->waiting_tail = &reader->waiting;
	}
}
