#include "consent/draw.h"

#include <string.h>

#include "base/buf.h"
#include "base/escape.h"

#define BOLD "\033[1m"
#define REVERSE "\033[7m"
#define PLAIN "\033[0m"
#define GAP "[...]"

/* Each byte of a name of 4 KiB may become \xNN. */
#define TEXT_LIMIT (32 * 1024)

/* --- cells ------------------------------------------------------------------------- */

/* Letters that take two cells, and those that do in some fonts and terminals. */
static bool is_wide(uint32_t point)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{0x1100, 0x115f}, {0x231a, 0x2328},   {0x23e9, 0x23f3},   {0x25fd, 0x27bf},
		{0x2b05, 0x2b55}, {0x2e80, 0x303e},   {0x3041, 0xa4cf},   {0xa960, 0xa97c},
		{0xac00, 0xd7a3}, {0xf900, 0xfaff},   {0xfe10, 0xfe6f},   {0xff01, 0xff60},
		{0xffe0, 0xffe6}, {0x16fe0, 0x1b2ff}, {0x1f000, 0x1faff}, {0x20000, 0x3fffd},
	};

	for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
		if (point >= ranges[i].first && point <= ranges[i].last)
			return true;
	return false;
}

/* Length in bytes of the character at text, which was escaped before; its cells in *cells. */
static size_t character(const char *text, size_t length, size_t *cells)
{
	size_t bytes = sb_utf8_length(text, length);

	*cells = bytes > 2 && is_wide(sb_utf8_point(text, bytes)) ? 2 : 1;
	return bytes ? bytes : 1;
}

size_t sb_draw_cells(const char *text, size_t length)
{
	size_t total = 0;

	for (size_t at = 0, cells; at < length; total += cells)
		at += character(text + at, length - at, &cells);
	return total;
}

/* How many bytes from the beginning fit into cells. */
static size_t head_bytes(const char *text, size_t length, size_t cells)
{
	size_t at = 0;

	while (at < length) {
		size_t width, step = character(text + at, length - at, &width);

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
	size_t total = sb_draw_cells(text, length);
	size_t at = 0;

	while (at < length && total > cells) {
		size_t width;

		at += character(text + at, length - at, &width);
		total -= width;
	}
	return length - at;
}

/* Append text, which is escaped already, with its middle left out if need be. */
static void fit(struct sb_buf *out, const char *text, size_t length, size_t cells)
{
	size_t head, tail;

	if (sb_draw_cells(text, length) <= cells) {
		sb_buf_append(out, text, length);
		return;
	}
	if (cells < strlen(GAP) + 4) { /* the end says most: it is the file's name */
		tail = tail_bytes(text, length, cells);
		sb_buf_append(out, text + length - tail, tail);
		return;
	}
	cells -= strlen(GAP);
	head = head_bytes(text, length, cells * 2 / 5);
	tail = tail_bytes(text, length, cells - cells * 2 / 5);
	sb_buf_append(out, text, head);
	sb_buf_puts(out, GAP);
	sb_buf_append(out, text + length - tail, tail);
}

void sb_draw_fitted(struct sb_buf *out, const char *text, size_t cells)
{
	SB_AUTO_BUF struct sb_buf escaped = SB_BUF(TEXT_LIMIT);

	sb_escape_append(&escaped, text, strlen(text));
	fit(out, escaped.data, escaped.length, cells);
}

/* --- lines ------------------------------------------------------------------------- */

/* What goes first when there are too few rows: the highest number.  KEEP never goes. */
enum weight { KEEP, NOTE, RULE, PROMPT, CONTENT, SPACE };

struct page {
	struct sb_buf text;
	struct {
		size_t start, end;
		enum weight weight;
	} lines[96];
	size_t count;
	unsigned rows, columns;
};

static void begin_line(struct page *page, enum weight weight)
{
	if (page->count == sizeof page->lines / sizeof page->lines[0])
		page->count--; /* cannot happen: each part is bounded */
	page->lines[page->count].weight = weight;
	page->lines[page->count].start = page->text.length;
}

static void end_line(struct page *page)
{
	sb_buf_puts(&page->text, PLAIN);
	page->lines[page->count++].end = page->text.length;
}

static void space(struct page *page)
{
	begin_line(page, SPACE);
	end_line(page);
}

/* Cells left of the columns, never below a handful. */
static size_t room(const struct page *page, size_t used)
{
	return page->columns > used + 5 ? page->columns - used : 5;
}

/* A path that begins or ends in a blank, or looks escaped, is told from its surroundings. */
static bool wants_quotes(const char *path)
{
	return strpbrk(path, " '\"\\") != NULL;
}

static void append_path(struct sb_buf *out, const char *path)
{
	const char *quote = wants_quotes(path) ? "'" : "";

	sb_buf_puts(out, quote);
	sb_escape_append(out, path, strlen(path));
	sb_buf_puts(out, quote);
}

/* A path in bold on as many lines as it needs, at most max; lead stands before the first. */
static void path_lines(struct page *page, const char *lead, const char *path, size_t max)
{
	SB_AUTO_BUF struct sb_buf escaped = SB_BUF(TEXT_LIMIT);
	SB_AUTO_BUF struct sb_buf fitted = SB_BUF(TEXT_LIMIT);
	size_t indent = page->columns >= 60 ? 6 : 4;
	size_t width = room(page, indent + 1);
	size_t at = 0;

	append_path(&escaped, path);
	if (sb_buf_failed(&escaped))
		page->text.failed = true; /* half a path is none: whoever asked is refused */
	/* One cell a line may stay empty, before a letter of two. */
	fit(&fitted, escaped.data, escaped.length, max == 1 ? width : max * (width - 1));
	do {
		size_t part = head_bytes(fitted.data + at, fitted.length - at, width);

		begin_line(page, KEEP);
		sb_buf_printf(&page->text, "%*s%-4s" BOLD, (int)(indent - 4), "", lead);
		sb_buf_append(&page->text, fitted.data + at, part);
		end_line(page);
		lead = "";
		at += part;
	} while (at < fitted.length);
}

static void bar(struct page *page, const struct sb_view *view)
{
	SB_AUTO_BUF struct sb_buf left = SB_BUF(TEXT_LIMIT);
	SB_AUTO_BUF struct sb_buf right = SB_BUF(TEXT_LIMIT);
	size_t columns = page->columns, used;

	sb_buf_puts(&left, columns >= 60 ? " sandbash asks you" : " sandbash");
	if (view->count > 1)
		sb_buf_printf(&left, "  1 of %zu", view->count);
	if (view->word) {
		sb_buf_puts(&right, columns >= 60 ? "your word: " : "");
		sb_draw_fitted(&right, view->word, columns / 3);
		sb_buf_putc(&right, ' ');
	}
	used = left.length + sb_draw_cells(right.data, right.length);
	begin_line(page, page->rows >= 5 ? KEEP : RULE);
	sb_buf_puts(&page->text, REVERSE);
	if (used < columns) {
		sb_buf_printf(&page->text, "%s%*s%s", left.data, (int)(columns - used), "",
			      right.data);
	} else {
		sb_buf_append(&page->text, right.data, right.length);
	}
	end_line(page);
}

/* The first of some wordings, longest first, that leaves a column free; the last if none does. */
static const char *wording(const struct page *page, size_t used, const char *const *texts)
{
	while (texts[1] && used + sb_draw_cells(texts[0], strlen(texts[0])) >= page->columns)
		texts++;
	return texts[0];
}

static void who(struct page *page, const struct sb_question *question)
{
	SB_AUTO_BUF struct sb_buf verb = SB_BUF(TEXT_LIMIT);
	SB_AUTO_BUF struct sb_buf full = SB_BUF(TEXT_LIMIT);
	SB_AUTO_BUF struct sb_buf shorter = SB_BUF(TEXT_LIMIT);
	SB_AUTO_BUF struct sb_buf shortest = SB_BUF(TEXT_LIMIT);
	const char *program = question->program ? question->program : "a program";
	size_t indent = page->columns >= 60 ? 2 : 1;
	const char *rest;

	sb_escape_append(&verb, question->verb, strlen(question->verb));
	sb_buf_printf(&full, " (process %ld) wants to %s", (long)question->process, verb.data);
	sb_buf_printf(&shorter, " (%ld) wants to %s", (long)question->process, verb.data);
	sb_buf_printf(&shortest, ": %s", verb.data);
	/* Enough of the name to know it by. */
	rest = wording(page, indent + 12,
		       (const char *const[]){full.data, shorter.data, shortest.data, NULL});
	begin_line(page, KEEP);
	sb_buf_printf(&page->text, "%*s" BOLD, (int)indent, "");
	sb_draw_fitted(&page->text, program, room(page, indent + strlen(rest) + 1));
	sb_buf_printf(&page->text, PLAIN "%s", rest);
	end_line(page);
}

#define LABEL 11 /* width of "Directory" and space */

static void label(struct page *page, enum weight weight, const char *name)
{
	begin_line(page, weight);
	if (page->columns >= 60)
		sb_buf_printf(&page->text, "  %-*s", LABEL, name);
	else
		sb_buf_printf(&page->text, " %s: ", name);
}

static size_t label_room(const struct page *page, const char *name)
{
	return room(page, page->columns >= 60 ? 2 + LABEL + 1 : strlen(name) + 4);
}

static void fact(struct page *page, enum weight weight, const char *name, const char *text)
{
	label(page, weight, name);
	sb_draw_fitted(&page->text, text, label_room(page, name));
	end_line(page);
}

/* One of the notes, on as many lines as it needs: one that is cut in the middle may say nothing. */
static void note(struct page *page, const char *text, bool first)
{
	static const char *const name = "Note";
	SB_AUTO_BUF struct sb_buf escaped = SB_BUF(TEXT_LIMIT);
	SB_AUTO_BUF struct sb_buf fitted = SB_BUF(TEXT_LIMIT);
	size_t width = label_room(page, name), lines = page->rows >= 20 ? 3 : 1, at = 0;

	sb_escape_append(&escaped, text, strlen(text));
	if (sb_buf_failed(&escaped))
		page->text.failed = true;
	fit(&fitted, escaped.data, escaped.length, lines == 1 ? width : lines * (width - 1));
	do {
		size_t part = head_bytes(fitted.data + at, fitted.length - at, width);

		label(page, NOTE, first && at == 0 ? name : at == 0 ? "and" : "");
		sb_buf_append(&page->text, fitted.data + at, part);
		end_line(page);
		at += part;
	} while (at < fitted.length);
}

/* The first lines of what would be written, each behind a bar, so that none poses as ours. */
static void content(struct page *page, const struct sb_question *question)
{
	static const char *const name = "Content";
	const char *at = question->content;
	const char *end = at + question->content_length;
	size_t lines = page->rows >= 24 ? 5 : page->rows >= 18 ? 3 : 1;

	for (size_t i = 0; i < lines && at < end; i++) {
		SB_AUTO_BUF struct sb_buf escaped = SB_BUF(TEXT_LIMIT);
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t length = (size_t)((stop ? stop : end) - at);
		size_t cells = label_room(page, name) - 2;

		/* Longer than any row; the rest is not shown anyhow. */
		sb_escape_append(&escaped, at, length < 2048 ? length : 2048);
		label(page, CONTENT, i ? "" : name);
		sb_buf_puts(&page->text, "| ");
		if (sb_draw_cells(escaped.data, escaped.length) > cells) {
			sb_buf_append(&page->text, escaped.data,
				      head_bytes(escaped.data, escaped.length, cells - 3));
			sb_buf_puts(&page->text, "...");
		} else {
			sb_buf_append(&page->text, escaped.data, escaped.length);
		}
		end_line(page);
		at = stop ? stop + 1 : end;
	}
	if (at < end) {
		label(page, CONTENT, "");
		sb_buf_puts(&page->text, "| ... (there is more)");
		end_line(page);
	}
}

/* --- choices ----------------------------------------------------------------------- */

static void choice(struct page *page, char digit, const char *const *texts)
{
	size_t indent = page->columns >= 60 ? 4 : 1;

	begin_line(page, KEEP);
	sb_buf_printf(&page->text, "%*s" BOLD "%c" PLAIN "  %s", (int)indent, "", digit,
		      wording(page, indent + 3, texts));
	end_line(page);
}

/* Does the longest line with the directory's name fit? */
static bool name_fits(const struct page *page, const char *directory)
{
	SB_AUTO_BUF struct sb_buf shown = SB_BUF(TEXT_LIMIT);

	append_path(&shown, directory);
	return !sb_buf_failed(&shown) &&
	       sb_draw_cells(shown.data, shown.length) +
			       strlen("    4  always allow everything in  (written to the config)") <
		       page->columns;
}

/* One of the choices about a directory, with its name when that fits. */
static void directory_choice(struct page *page, char digit, const char *directory,
			     const char *before, const char *after, const char *const *nameless)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(TEXT_LIMIT);

	if (!name_fits(page, directory)) {
		choice(page, digit, nameless);
		return;
	}
	sb_buf_puts(&text, before);
	append_path(&text, directory);
	sb_buf_puts(&text, after);
	choice(page, digit, (const char *const[]){text.data, NULL});
}

static void choices(struct page *page, const struct sb_question *question)
{
	static const char *const once[] = {"allow once: this process, this file", "allow once",
					   NULL};
	static const char *const session[] = {"allow everything in this directory for this session",
					      "allow directory, this session", "directory, session",
					      NULL};
	static const char *const deny[] = {"deny, and do not ask again in this session", "deny",
					   NULL};
	static const char *const always[] = {
		"always allow everything in this directory (written to the config)",
		"always allow this directory (in the config)", "always allow directory (config)",
		"directory, always", NULL};
	static const char *const four[] = {
		"Press 1, 2, 3 or 4 (Esc denies): ", "1, 2, 3 or 4: ", NULL};
	static const char *const two[] = {"Press 1 or 3 (Esc denies): ", "1 or 3: ", NULL};
	const char *directory = question->directory;
	size_t indent = page->columns >= 60 ? 2 : 1;

	choice(page, '1', once);
	if (directory)
		directory_choice(page, '2', directory, "allow everything in ", " for this session",
				 session);
	choice(page, '3', deny);
	if (directory)
		directory_choice(page, '4', directory, "always allow everything in ",
				 " (written to the config)", always);
	space(page);
	begin_line(page, PROMPT);
	sb_buf_printf(&page->text, "%*s%s", (int)indent, "",
		      wording(page, indent, directory ? four : two));
	end_line(page);
}

/* Fewer rows than one each: all of them in one. */
static void short_choices(struct page *page, const struct sb_question *question)
{
	static const char *const four[] = {
		"1 once 2 directory 3 deny 4 always: ", "1once 2dir 3no 4all: ", "1 2 3 4: ", NULL};
	static const char *const two[] = {"1 once 3 deny: ", "1 3: ", NULL};

	begin_line(page, KEEP);
	sb_buf_puts(&page->text, wording(page, 0, question->directory ? four : two));
	end_line(page);
}

/* --- the page ---------------------------------------------------------------------- */

static size_t heaviest(const struct page *page)
{
	size_t found = page->count;

	for (size_t i = 0; i < page->count; i++)
		if (page->lines[i].weight != KEEP &&
		    (found == page->count || page->lines[i].weight >= page->lines[found].weight))
			found = i;
	return found;
}

static void drop_lines(struct page *page)
{
	while (page->count > page->rows) {
		size_t victim = heaviest(page);

		if (victim == page->count)
			victim = 0; /* the choices come last: they stay */
		page->count--;
		memmove(&page->lines[victim], &page->lines[victim + 1],
			(page->count - victim) * sizeof page->lines[0]);
	}
}

static void emit_line(struct sb_buf *out, const struct page *page, size_t line)
{
	sb_buf_printf(out, "\033[%zu;1H", line + 1);
	sb_buf_append(out, page->text.data + page->lines[line].start,
		      page->lines[line].end - page->lines[line].start);
}

static void emit(struct sb_buf *out, const struct page *page, const char *probe)
{
	sb_buf_puts(out, "\033[?25l" PLAIN "\033[2J");
	for (size_t i = 0; i < page->count; i++)
		emit_line(out, page, i);
	if (probe) {
		sb_buf_puts(out, probe);
		emit_line(out, page, page->count - 1); /* the cursor ends behind it */
	}
	sb_buf_puts(out, "\033[?25h");
}

void sb_draw_question(struct sb_buf *out, const struct sb_question *question,
		      const struct sb_view *view)
{
	struct page page = {.text = SB_BUF(384 * 1024), /* 96 lines, each at most a wide row */
			    .rows = view->rows,
			    .columns = view->columns};
	size_t most = view->rows >= 20 ? 4 : view->rows >= 14 ? 3 : view->rows >= 9 ? 2 : 1;
	bool narrow = view->rows < (question->directory ? 9 : 7);

	if (question->target && most > 1)
		most--;
	bar(&page, view);
	space(&page);
	who(&page, question);
	space(&page);
	path_lines(&page, "", question->path, most);
	if (question->target)
		path_lines(&page, "to", question->target, most);
	space(&page);
	fact(&page, RULE, "Stopped",
	     question->rule ? question->rule
			    : wording(&page, 2 + LABEL,
				      (const char *const[]){
					      "it lies outside the project, and no rule allows it",
					      "no rule allows it", NULL}));
	for (size_t i = 0; i < SB_QUESTION_NOTES && question->notes[i]; i++)
		note(&page, question->notes[i], i == 0);
	if (question->directory && !name_fits(&page, question->directory))
		fact(&page, RULE, "Directory", question->directory);
	if (question->content)
		content(&page, question);
	space(&page);
	if (narrow)
		short_choices(&page, question);
	else
		choices(&page, question);
	drop_lines(&page);
	emit(out, &page, view->probe);
	if (sb_buf_failed(&page.text))
		out->failed = true;
	sb_buf_done(&page.text);
}
