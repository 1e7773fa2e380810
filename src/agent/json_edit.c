#include "agent/json_text.h"

#include <string.h>

#include "base/auto.h"
#include "base/json.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The blanks at the beginning of the line that at is in. */
static void line_indent(const struct sb_json_text *doc, size_t at, struct sb_buf *out)
{
	size_t begin = at, end;

	while (begin && doc->text[begin - 1] != '\n')
		begin--;
	for (end = begin; end < at && (doc->text[end] == ' ' || doc->text[end] == '\t');)
		end++;
	sb_buf_append(out, doc->text + begin, end - begin);
}

/* Where a value begins, its name included. */
static size_t begin_of(const struct sb_json_place *value)
{
	return value->key_end ? value->key_start : value->start;
}

static bool on_own_line(const struct sb_json_text *doc, size_t at)
{
	while (at && (doc->text[at - 1] == ' ' || doc->text[at - 1] == '\t'))
		at--;
	return at && doc->text[at - 1] == '\n';
}

/* One step of indentation, as the outermost object has it; "": all of it is one line. */
static void indent_step(const struct sb_json_text *doc, struct sb_buf *out)
{
	size_t first = doc->values[SB_JSON_ROOT].first;

	if (!first || on_own_line(doc, begin_of(&doc->values[first]))) {
		if (first)
			line_indent(doc, begin_of(&doc->values[first]), out);
		if (!out->length)
			sb_buf_puts(out, "  ");
	}
}

/* A value of another text with line breaks, or without where step is "". */
static void print(const struct sb_json_text *doc, size_t at, const char *indent, const char *step,
		  struct sb_buf *out)
{
	const struct sb_json_place *value = &doc->values[at];
	bool object = value->kind == '{';

	SB_AUTO_BUF struct sb_buf deeper = SB_BUF(4096);

	if ((!object && value->kind != '[') || !value->first) {
		sb_buf_append(out, doc->text + value->start, value->end - value->start);
		return;
	}
	sb_buf_printf(&deeper, "%s%s", indent, step);
	sb_buf_putc(out, object ? '{' : '[');
	for (size_t child = value->first; child; child = doc->values[child].next) {
		const struct sb_json_place *inner = &doc->values[child];

		if (*step)
			sb_buf_printf(out, "\n%s", deeper.data);
		if (object) {
			sb_buf_append(out, doc->text + inner->key_start,
				      inner->key_end - inner->key_start);
			sb_buf_puts(out, *step ? ": " : ":");
		}
		print(doc, child, deeper.data, step, out);
		if (inner->next)
			sb_buf_putc(out, ',');
	}
	if (*step)
		sb_buf_printf(out, "\n%s", indent);
	sb_buf_putc(out, object ? '}' : ']');
}

static void put_member(const char *key, const char *value, const char *indent, const char *step,
		       struct sb_buf *out)
{
	SB_AUTO(sb_json_text_done) struct sb_json_text doc = {0};
	struct sb_json json;

	if (key) {
		sb_json_init_compact(&json, out);
		sb_json_string(&json, key);
		sb_buf_puts(out, *step ? ": " : ":");
	}
	if (sb_json_text_read(value, strlen(value), SB_JSON_STRICT, &doc, NULL) != SB_OK) {
		out->failed = true;
		return;
	}
	print(&doc, SB_JSON_ROOT, indent, step, out);
}

static size_t last_of(const struct sb_json_text *doc, size_t container)
{
	size_t last = 0;

	for (size_t at = doc->values[container].first; at; at = doc->values[at].next)
		last = at;
	return last;
}

void sb_json_add(const struct sb_json_text *doc, size_t container, const char *key,
		 const char *value, struct sb_buf *out)
{
	const struct sb_json_place *box = &doc->values[container];
	SB_AUTO_BUF struct sb_buf step = SB_BUF(4096);
	SB_AUTO_BUF struct sb_buf indent = SB_BUF(4096);
	size_t last = last_of(doc, container), end = box->end - 1, at, comma;
	bool lines;

	indent_step(doc, &step);
	if (!last) { /* nothing but blanks and comments: these stay in front */
		line_indent(doc, box->start, &indent);
		at = sb_json_text_skip(doc->text, end, box->start + 1);
		while (at > box->start + 1 && is_blank(doc->text[at - 1]))
			at--;
		if (at > box->start + 1 &&
		    !step.length) /* a comment may go on to the end of its line */
			sb_buf_puts(&step, "  ");
		sb_buf_append(out, doc->text, at);
		sb_buf_puts(&indent, step.data);
		if (step.length)
			sb_buf_printf(out, "\n%s", indent.data);
		put_member(key, value, indent.data, step.data, out);
		if (step.length) {
			sb_buf_putc(out, '\n');
			line_indent(doc, box->start, out);
		}
		sb_buf_append(out, doc->text + end, doc->length - end);
		return;
	}
	lines = on_own_line(doc, begin_of(&doc->values[last]));
	if (lines)
		line_indent(doc, begin_of(&doc->values[last]), &indent);
	/* behind comments that follow the last value; its comma may be there already */
	comma = sb_json_text_skip(doc->text, end, doc->values[last].end);
	at = end;
	while (is_blank(doc->text[at - 1]))
		at--;
	if (!lines && at > doc->values[last].end + (comma != end)) { /* a comment, as above */
		lines = true;
		line_indent(doc, box->start, &indent);
		sb_buf_puts(&indent, step.length ? step.data : "  ");
	}
	sb_buf_append(out, doc->text, doc->values[last].end);
	if (comma == end)
		sb_buf_putc(out, ',');
	sb_buf_append(out, doc->text + doc->values[last].end, at - doc->values[last].end);
	if (lines)
		sb_buf_printf(out, "\n%s", indent.data);
	else
		sb_buf_putc(out, ' ');
	put_member(key, value, indent.data, lines ? step.data : "", out);
	if (comma != end) /* whoever ends lists with a comma goes on to do so */
		sb_buf_putc(out, ',');
	sb_buf_append(out, doc->text + at, doc->length - at);
}

void sb_json_put(const struct sb_json_text *doc, size_t value, const char *text, struct sb_buf *out)
{
	const struct sb_json_place *old = &doc->values[value];
	SB_AUTO_BUF struct sb_buf step = SB_BUF(4096);
	SB_AUTO_BUF struct sb_buf indent = SB_BUF(4096);

	if (memchr(doc->text + old->start, '\n', old->end - old->start))
		indent_step(doc, &step);
	line_indent(doc, old->start, &indent);
	sb_buf_append(out, doc->text, old->start);
	put_member(NULL, text, indent.data, step.data, out);
	sb_buf_append(out, doc->text + old->end, doc->length - old->end);
}

/* Back over blanks and comments: where the text before at that counts ends. */
static size_t skip_back(const struct sb_json_text *doc, size_t from, size_t at)
{
	size_t end = from;

	/* comments can only be told from the front */
	for (size_t i = from; i < at;) {
		size_t next = sb_json_text_skip(doc->text, at, i);

		if (next == i)
			end = ++i;
		else
			i = next;
	}
	return end;
}

/*
 * Blanks before a value go with it, unless they end a comment that would go on then.  One that
 * only looks closed is found out when the result is read again.
 */
static size_t strip_back(const struct sb_json_text *doc, size_t floor, size_t from, size_t behind)
{
	size_t at = from;

	while (at > floor && is_blank(doc->text[at - 1]))
		at--;
	if (skip_back(doc, floor, at) != at && doc->text[at - 1] != '/' &&
	    doc->text[behind] != '\n' && doc->text[behind] != '\r')
		return from;
	return at;
}

void sb_json_drop(const struct sb_json_text *doc, size_t container, size_t value,
		  struct sb_buf *out)
{
	const struct sb_json_place *gone = &doc->values[value];
	size_t floor = doc->values[container].start + 1, before = 0, comma, from, to = gone->end;
	size_t behind = sb_json_text_skip(doc->text, doc->length, to);

	for (size_t at = doc->values[container].first; at && at != value; at = doc->values[at].next)
		before = at;
	if (before)
		floor = doc->values[before].end;
	if (doc->text[behind] == ',') {
		/* its own comma; what stands between is a comment, and stays */
		from = strip_back(doc, floor, begin_of(gone), to < behind ? to : behind + 1);
		sb_buf_append(out, doc->text, from);
		sb_buf_append(out, doc->text + to, behind - to);
		sb_buf_append(out, doc->text + behind + 1, doc->length - behind - 1);
		return;
	}
	from = strip_back(doc, floor, begin_of(gone), to);
	comma = skip_back(doc, floor, from);
	if (before && comma > floor && doc->text[comma - 1] == ',') {
		sb_buf_append(out, doc->text, comma - 1);
		sb_buf_append(out, doc->text + comma, from - comma);
	} else {
		sb_buf_append(out, doc->text, from);
	}
	/* the only one, without comments: brackets with nothing between them */
	if (!before && from == floor && behind == doc->values[container].end - 1)
		to = behind;
	sb_buf_append(out, doc->text + to, doc->length - to);
}
