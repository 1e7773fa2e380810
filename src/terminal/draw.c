#include "terminal/draw.h"

#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/words.h"
#include "terminal/cells.h"

#define BOLD "\033[1m"
#define REVERSE "\033[7m"
#define PLAIN "\033[0m"
#define BAR "\033[1;97;44m"
#define ALLOWS "\033[1;32m"
#define DENIES "\033[1;31m"

#define MOST_CONTENT 100 /* lines of it */

/* --- lines ------------------------------------------------------------------------- */

/* A SPACE goes when there are too few rows; nothing else does. */
enum weight { KEEP, SPACE };

struct page {
	struct sb_buf text;
	struct {
		size_t start, end;
		enum weight weight;
	} lines[256];
	size_t count;
	unsigned rows, columns;
	bool ascii, colour;
	int choices;    /* how many have a key */
	bool too_large; /* for the window: too many lines, or one too wide */
};

static void begin_line(struct page *page, enum weight weight)
{
	if (page->count == sizeof page->lines / sizeof page->lines[0]) {
		page->count--;
		page->too_large = true;
	}
	page->lines[page->count].weight = weight;
	page->lines[page->count].start = page->text.length;
}

/* Cells of a line, in which our own attributes take none. */
static size_t line_cells(const char *text, size_t length)
{
	size_t total = 0;

	for (size_t at = 0, cells; at < length; total += cells) {
		if (text[at] == '\033') { /* each is ESC [ numbers m */
			at += strcspn(text + at, "m") + 1;
			cells = 0;
		} else {
			at += sb_cells_character(text + at, length - at, &cells);
		}
	}
	return total;
}

static void end_line(struct page *page)
{
	size_t start = page->lines[page->count].start;

	sb_buf_puts(&page->text, PLAIN);
	if (sb_buf_failed(&page->text))
		return;
	if (line_cells(page->text.data + start, page->text.length - start) > page->columns)
		page->too_large = true;
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

static void append_path(struct sb_buf *out, const char *path, bool ascii)
{
	SB_AUTO_BUF struct sb_buf name = SB_BUF(SB_CELLS_TEXT);
	const char *quote = wants_quotes(path) ? "'" : "";

	sb_escape_name(&name, path, strlen(path));
	sb_buf_puts(out, quote);
	sb_cells_escape(out, name.data, name.length, ascii);
	sb_buf_puts(out, quote);
	out->failed |= name.failed;
}

/* A path in bold on as many lines as it needs; lead stands before the first. */
static void path_lines(struct page *page, const char *lead, const char *path)
{
	SB_AUTO_BUF struct sb_buf escaped = SB_BUF(SB_CELLS_TEXT);
	size_t indent = page->columns >= 60 ? 6 : 4;
	size_t width = room(page, indent + 1);
	size_t at = 0;

	append_path(&escaped, path, page->ascii);
	if (sb_buf_failed(&escaped))
		page->text.failed = true; /* half a path is none: whoever asked is refused */
	do {
		size_t part = sb_cells_head(escaped.data + at, escaped.length - at, width);

		begin_line(page, KEEP);
		sb_buf_printf(&page->text, "%*s%-4s" BOLD, (int)(indent - 4), "", lead);
		sb_buf_append(&page->text, escaped.data + at, part);
		end_line(page);
		lead = "";
		at += part;
	} while (at < escaped.length && !page->too_large);
}

static void bar(struct page *page, const struct sb_view *view)
{
	SB_AUTO_BUF struct sb_buf left = SB_BUF(SB_CELLS_TEXT);
	SB_AUTO_BUF struct sb_buf right = SB_BUF(SB_CELLS_TEXT);
	size_t columns = page->columns, used;

	sb_buf_puts(&left, columns >= 60 ? " sandbash asks you" : " sandbash");
	if (view->count > 1)
		sb_buf_printf(&left, "  1 of %zu", view->count);
	if (view->word) {
		sb_buf_puts(&right, columns >= 60 ? "your word: " : "");
		sb_cells_escape(&right, view->word, strlen(view->word), page->ascii);
		sb_buf_putc(&right, ' ');
	}
	used = left.length + sb_cells(right.data, right.length);
	begin_line(page, KEEP);
	sb_buf_puts(&page->text, page->colour ? BAR : REVERSE);
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
	while (texts[1] && used + sb_cells(texts[0], strlen(texts[0])) >= page->columns)
		texts++;
	return texts[0];
}

static void who(struct page *page, const struct sb_question *question)
{
	SB_AUTO_BUF struct sb_buf verb = SB_BUF(SB_CELLS_TEXT);
	SB_AUTO_BUF struct sb_buf name = SB_BUF(SB_CELLS_TEXT);
	SB_AUTO_BUF struct sb_buf place = SB_BUF(SB_CELLS_TEXT);
	SB_AUTO_BUF struct sb_buf placed = SB_BUF(2 * SB_CELLS_TEXT);
	SB_AUTO_BUF struct sb_buf full = SB_BUF(SB_CELLS_TEXT);
	SB_AUTO_BUF struct sb_buf shorter = SB_BUF(SB_CELLS_TEXT);
	SB_AUTO_BUF struct sb_buf shortest = SB_BUF(SB_CELLS_TEXT);
	const char *program = question->program ? question->program : "a program";
	size_t indent = page->columns >= 60 ? 2 : 1;
	const char *rest;

	sb_cells_escape(&verb, question->verb, strlen(question->verb), page->ascii);
	sb_cells_escape(&name, program, strlen(program), page->ascii);
	if (question->project) {
		sb_buf_puts(&place, " in ");
		append_path(&place, question->project, page->ascii);
	}
	sb_buf_printf(&placed, " (process %ld)%s wants to %s", (long)question->process, place.data,
		      verb.data);
	sb_buf_printf(&full, " (process %ld) wants to %s", (long)question->process, verb.data);
	sb_buf_printf(&shorter, " (%ld) wants to %s", (long)question->process, verb.data);
	sb_buf_printf(&shortest, ": %s", verb.data);
	/* Enough of the name to know it by. */
	rest = wording(
		page, indent + 12,
		(const char *const[]){placed.data, full.data, shorter.data, shortest.data, NULL});
	begin_line(page, KEEP);
	sb_buf_printf(&page->text, "%*s" BOLD, (int)indent, "");
	sb_cells_fit(&page->text, name.data, name.length, room(page, indent + strlen(rest) + 1));
	sb_buf_printf(&page->text, PLAIN "%s", rest);
	end_line(page);
}

#define LABEL 11 /* width of "Directory" and space */
#define CONTENT "Content"

static void label(struct page *page, const char *name)
{
	begin_line(page, KEEP);
	if (page->columns >= 60)
		sb_buf_printf(&page->text, "  %-*s", LABEL, name);
	else
		sb_buf_printf(&page->text, *name ? " %s: " : "   %s", name);
}

static size_t label_room(const struct page *page, const char *name)
{
	return room(page, page->columns >= 60 ? 2 + LABEL + 1 : strlen(name) + 4);
}

/* Where to end a line of so many cells: behind a space, if one is not too far back. */
static size_t break_at(const char *text, size_t length, size_t cells)
{
	size_t most = sb_cells_head(text, length, cells), at = most;

	if (most == length)
		return most;
	while (at > most / 2 && text[at - 1] != ' ')
		at--;
	return at > most / 2 ? at : most;
}

/* A text on as many lines as it needs. */
static void fact(struct page *page, const char *name, const char *text)
{
	SB_AUTO_BUF struct sb_buf escaped = SB_BUF(SB_CELLS_TEXT);
	size_t at = 0;

	sb_cells_escape(&escaped, text, strlen(text), page->ascii);
	if (sb_buf_failed(&escaped))
		page->text.failed = true;
	do {
		size_t part =
			break_at(escaped.data + at, escaped.length - at, label_room(page, name));

		label(page, at ? "" : name);
		sb_buf_append(&page->text, escaped.data + at, part);
		end_line(page);
		at += part;
	} while (at < escaped.length && !page->too_large);
}

static void directory_fact(struct page *page, const char *directory)
{
	SB_AUTO_BUF struct sb_buf name = SB_BUF(SB_CELLS_TEXT);

	sb_escape_name(&name, directory, strlen(directory));
	fact(page, "Directory", name.data);
	page->text.failed |= name.failed;
}

static bool is_empty(const struct sb_text_lines *line)
{
	for (size_t i = 0; i < line->length; i++)
		if (!strchr(" \t\r", line->text[i]))
			return false;
	return true;
}

static void content_line(struct page *page, const char *name, const struct sb_text_lines *line)
{
	SB_AUTO_BUF struct sb_buf escaped = SB_BUF(SB_CELLS_TEXT);
	SB_AUTO_BUF struct sb_buf value = SB_BUF(SB_CELLS_TEXT);

	sb_escape_value(&value, line->text, line->length,
			SB_CELLS_TEXT / 16); /* longer than any row */
	sb_cells_escape(&escaped, value.data, value.length, page->ascii);
	label(page, name);
	sb_buf_puts(&page->text, "| ");
	sb_cells_fit(&page->text, escaped.data, escaped.length, label_room(page, CONTENT) - 2);
	end_line(page);
}

/*
 * What would be written, each line behind a bar, so that none poses as ours; of more than the lines that there is room
 * for those with something in them, from the beginning and from the end, where what was added often stands.
 */
static void content(struct page *page, const struct sb_question *question, size_t lines)
{
	const struct sb_text_lines all = sb_text_lines(question->content, question->content_length);
	size_t count = 0, full = 0, head = lines, tail = 0, at = 0;
	struct sb_text_lines line = all;
	bool skip;

	while (sb_next_line(&line)) {
		count++;
		full += !is_empty(&line);
	}
	skip = count > lines && full;
	if (skip && full > lines) {
		head = (lines + 1) / 2;
		tail = lines - head;
	}
	line = all;
	for (size_t i = 0; i < count && sb_next_line(&line); i++) {
		if (skip && is_empty(&line))
			continue;
		if (at < head || at + tail >= full)
			content_line(page, at ? "" : CONTENT, &line);
		if (++at == head && (skip ? full : count) > lines) {
			label(page, "");
			sb_buf_puts(&page->text, "| ... (there is more)");
			end_line(page);
		}
	}
}

/* --- choices ----------------------------------------------------------------------- */

static void choice(struct page *page, enum sb_answer answer, const char *const *texts)
{
	size_t indent = page->columns >= 60 ? 4 : 1;
	const char *look = !page->colour ? BOLD : answer == SB_ANSWER_DENY ? DENIES : ALLOWS;

	begin_line(page, KEEP);
	sb_buf_printf(&page->text, "%*s%s%d" PLAIN "  %s", (int)indent, "", look, ++page->choices,
		      wording(page, indent + 3, texts));
	end_line(page);
}

/* Does the longest line with the directory's name fit? */
static bool name_fits(const struct page *page, const struct sb_question *question)
{
	const char *longest =
		question->opens
			? "    2  allow all writing and deleting in  for the rest of this run"
			: "    4  always allow everything in  (written to the config)";
	SB_AUTO_BUF struct sb_buf shown = SB_BUF(SB_CELLS_TEXT);

	append_path(&shown, question->directory, page->ascii);
	return !sb_buf_failed(&shown) &&
	       sb_cells(shown.data, shown.length) + strlen(longest) < page->columns;
}

/* One of the choices about a directory, with its name when that fits. */
static void directory_choice(struct page *page, enum sb_answer answer,
			     const struct sb_question *question, const char *before,
			     const char *after, const char *const *nameless)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(SB_CELLS_TEXT);

	if (!name_fits(page, question)) {
		choice(page, answer, nameless);
		return;
	}
	sb_buf_puts(&text, before);
	append_path(&text, question->directory, page->ascii);
	sb_buf_puts(&text, after);
	choice(page, answer, (const char *const[]){text.data, NULL});
}

/* "allow once (until vim exits)" */
static void once_choice(struct page *page, const struct sb_question *question)
{
	SB_AUTO_BUF struct sb_buf name = SB_BUF(SB_CELLS_TEXT);
	SB_AUTO_BUF struct sb_buf full = SB_BUF(SB_CELLS_TEXT);

	if (question->about == SB_ABOUT_PROJECT) {
		choice(page, SB_ANSWER_ONCE,
		       (const char *const[]){"allow until this session ends", "allow, session",
					     "allow", NULL});
		return;
	}
	if (question->lasting) {
		choice(page, SB_ANSWER_ONCE,
		       (const char *const[]){"allow this (for the rest of this run)", "allow this",
					     NULL});
		return;
	}
	sb_buf_puts(&name, "it");
	if (question->program) {
		name.length = 0;
		sb_cells_escape(&name, question->program, strlen(question->program), page->ascii);
	}
	sb_buf_printf(&full, "allow once (until %s exits)", name.data);
	choice(page, SB_ANSWER_ONCE,
	       (const char *const[]){full.data, "allow once (until it exits)", "allow once", NULL});
}

/* How long an answer lasts that is not for ever. */
static const char *const *lasts(const struct sb_view *view)
{
	static const char *const run[] = {" for the rest of this run",
					  "deny for the rest of this run"};
	static const char *const session[] = {" for this session", "deny for this session"};

	return view->kept ? session : run;
}

static void choices(struct page *page, const struct sb_question *question,
		    const struct sb_view *view)
{
	static const char *const always[] = {
		"always allow everything in this directory (written to the config)",
		"always allow this directory (in the config)", "always allow directory (config)",
		"directory, always", NULL};
	static const char *const always_host[] = {"always allow this host (written to the config)",
						  "always allow this host", "host, always", NULL};
	const char *const *words = lasts(view);
	bool host = question->about == SB_ABOUT_HOST;
	SB_AUTO_BUF struct sb_buf nameless = SB_BUF(256);
	SB_AUTO_BUF struct sb_buf before = SB_BUF(256);
	SB_AUTO_BUF struct sb_buf shorter = SB_BUF(256);
	const char *covers = sb_question_covers(question);

	sb_buf_printf(&before, host ? "allow " : "allow %s in ", covers);
	sb_buf_printf(&nameless, "%s%s%s", before.data, host ? "this host" : "this directory",
		      words[0]);
	sb_buf_printf(&shorter, "%s, this run", covers);
	page->choices = 0;
	once_choice(page, question);
	if (question->directory)
		directory_choice(page, SB_ANSWER_DIRECTORY, question, before.data, words[0],
				 host ? (const char *const[]){nameless.data, "host, this run", NULL}
				 : question->opens
					 ? (const char *const[]){nameless.data, shorter.data, NULL}
					 : (const char *const[]){nameless.data,
								 "allow directory, this run",
								 "directory, this run", NULL});
	choice(page, SB_ANSWER_DENY, (const char *const[]){words[1], "deny", NULL});
	if (sb_question_offers_always(question))
		directory_choice(page, SB_ANSWER_ALWAYS, question,
				 host ? "always allow " : "always allow everything in ",
				 " (written to the config)", host ? always_host : always);
}

/* Fewer rows than one each: all of them in one. */
static void short_choices(struct page *page, const struct sb_question *question)
{
	static const char *const four[] = {"1 once, 2 directory, 3 deny, 4 always",
					   "1once 2dir 3no 4always", NULL};
	static const char *const host[] = {"1 once, 2 host, 3 deny, 4 always",
					   "1once 2host 3no 4always", NULL};
	static const char *const three[SB_OPENS_ALL + 1][4] = {
		{"1 this, 2 all in it, 3 deny", "1this 2all 3no", NULL},
		{"1 this, 2 all writing, 3 deny", "1this 2write 3no", NULL},
		{"1 this, 2 all deleting, 3 deny", "1this 2delete 3no", NULL},
		{"1 this, 2 all writing and deleting, 3 deny", "1this 2write+delete 3no",
		 "1this 2wr+del 3no", NULL}};
	static const char *const two[] = {"1 once, 2 deny", NULL};
	static const char *const session[] = {"1 allow, 2 deny", NULL};

	begin_line(page, KEEP);
	sb_buf_puts(&page->text, wording(page, 0,
					 question->about == SB_ABOUT_PROJECT ? session
					 : question->directory && question->worker
						 ? three[question->opens & SB_OPENS_ALL]
					 : question->about == SB_ABOUT_HOST ? host
					 : question->directory              ? four
									    : two));
	end_line(page);
}

/* The last line, behind which the cursor stands. */
static void prompt(struct page *page, const struct sb_question *question,
		   const struct sb_view *view)
{
	static const char *const hurried[] = {"That was too fast to count. ", "Too fast. ", "",
					      NULL};
	static const char *const fours[2][3] = {
		{"Press 1, 2, 3 or 4 (Esc denies): ", "1, 2, 3 or 4: ", NULL},
		{"Press 1, 2, 3 or 4 (Esc: later): ", "1, 2, 3 or 4: ", NULL}};
	static const char *const twos[2][3] = {{"Press 1 or 2 (Esc denies): ", "1 or 2: ", NULL},
					       {"Press 1 or 2 (Esc: later): ", "1 or 2: ", NULL}};
	static const char *const threes[2][3] = {
		{"Press 1, 2 or 3 (Esc denies): ", "1, 2 or 3: ", NULL},
		{"Press 1, 2 or 3 (Esc: later): ", "1, 2 or 3: ", NULL}};
	const char *const *four = question->worker ? threes[view->later] : fours[view->later];
	const char *const *two = twos[view->later];
	size_t indent = page->columns >= 60 ? 2 : 1;

	begin_line(page, KEEP);
	sb_buf_printf(&page->text, "%*s%s%s", (int)indent, "",
		      view->hurried ? wording(page, indent + strlen(four[0]), hurried) : "",
		      wording(page, indent, question->directory ? four : two));
	end_line(page);
}

/* The same where a key alone allows nothing: keys.h. */
static void code_prompt(struct page *page, const struct sb_view *view)
{
	static const char *const why[] = {
		"This terminal does not answer, so one key is not enough. "
		"Or answer by sandbash --attach.",
		"One key is not enough here. Or: sandbash --attach", "One key is not enough.",
		NULL};
	SB_AUTO_BUF struct sb_buf full = SB_BUF(256);
	SB_AUTO_BUF struct sb_buf shorter = SB_BUF(256);
	size_t indent = page->columns >= 60 ? 2 : 1;

	sb_buf_printf(&full, "Type the number, then %s, then Enter (Esc alone%s): ", view->code,
		      view->later ? ": later" : " denies");
	sb_buf_printf(&shorter, "1%s Enter (Esc%s): ", view->code,
		      view->later ? ": later" : " denies");
	begin_line(page, KEEP);
	sb_buf_printf(&page->text, "%*s%s", (int)indent, "", wording(page, indent, why));
	end_line(page);
	begin_line(page, KEEP);
	sb_buf_printf(&page->text, "%*s%s", (int)indent, "",
		      wording(page, indent + strlen(view->code) + 1,
			      (const char *const[]){full.data, shorter.data, NULL}));
	sb_buf_puts(&page->text, view->typed ? view->typed : ""); /* keys.h lets letters in only */
	end_line(page);
}

/* Instead of a question that does not fit; in a few columns only the end of the last is cut. */
static void small_window(struct page *page, const struct sb_view *view)
{
	static const char *const later[] = {"sandbash asks: enlarge the window (Esc: later)",
					    "enlarge (Esc: later)", "enlarge", NULL};
	static const char *const denies[] = {
		"sandbash asks: enlarge the window, or sandbash --attach (Esc denies)",
		"sandbash asks: enlarge the window (Esc denies)",
		"sandbash: enlarge the window (Esc denies)",
		"enlarge (Esc denies)",
		"enlarge",
		NULL};

	page->count = 0;
	page->text.length = 0;
	begin_line(page, KEEP);
	sb_buf_puts(&page->text, wording(page, 0, view->later ? later : denies));
	end_line(page);
}

/* --- the page ---------------------------------------------------------------------- */

static void drop_spaces(struct page *page)
{
	for (size_t i = page->count; i-- > 0 && page->count > page->rows;) {
		if (page->lines[i].weight != SPACE)
			continue;
		page->count--;
		memmove(&page->lines[i], &page->lines[i + 1],
			(page->count - i) * sizeof page->lines[0]);
	}
}

/* One layout; true when all of it can be read in the window. */
static bool lay_out(struct page *page, const struct sb_question *question,
		    const struct sb_view *view, size_t content_lines, bool shortly)
{
	page->count = 0;
	page->text.length = 0;
	page->too_large = false;
	bar(page, view);
	space(page);
	who(page, question);
	space(page);
	path_lines(page, "", question->path);
	if (question->target)
		path_lines(page, "to", question->target);
	space(page);
	fact(page, "Why",
	     question->rule ? question->rule
			    : wording(page, 2 + LABEL,
				      (const char *const[]){
					      "it lies outside the project, and no rule allows it",
					      "no rule allows it", NULL}));
	for (size_t i = 0; i < SB_QUESTION_NOTES && question->notes[i]; i++)
		fact(page, i ? "and" : "Note", question->notes[i]);
	if (!shortly)
		fact(page, "A yes", sb_question_means(question));
	if (question->directory && question->about != SB_ABOUT_HOST &&
	    (shortly || !name_fits(page, question)))
		directory_fact(page, question->directory);
	if (question->content)
		content(page, question, content_lines);
	space(page);
	if (shortly)
		short_choices(page, question);
	else
		choices(page, question, view);
	if (view->code) {
		space(page);
		code_prompt(page, view);
	} else {
		if (!shortly)
			space(page);
		prompt(page, question, view);
	}
	drop_spaces(page);
	return !page->too_large && page->count <= page->rows;
}

/* As much of the content as there is room for; then the choices in one line. */
static bool find_layout(struct page *page, const struct sb_question *question,
			const struct sb_view *view)
{
	size_t most = view->rows >= 24 ? view->rows - 18 : view->rows >= 18 ? 3 : 1;

	if (most > MOST_CONTENT)
		most = MOST_CONTENT;

	for (size_t lines = most; lines > 0; lines--)
		if (lay_out(page, question, view, lines, false))
			return true;
	return lay_out(page, question, view, 1, true);
}

static void emit_line(struct sb_buf *out, const struct page *page, size_t line)
{
	sb_buf_printf(out, "\033[%zu;1H", line + 1);
	sb_buf_append(out, page->text.data + page->lines[line].start,
		      page->lines[line].end - page->lines[line].start);
}

/* Letters of one size, and a blank in every cell: what is protected stays when it is erased. */
static void emit_blank(struct sb_buf *out, const struct page *page, size_t line)
{
	sb_buf_printf(out, "\033[%zu;1H\033#5\033[%zu;1H", line + 1, line + 1);
	for (size_t i = 0; i < page->columns; i++)
		sb_buf_putc(out, ' ');
}

static void emit(struct sb_buf *out, const struct page *page, const struct sb_view *view)
{
	sb_buf_puts(out, "\033[?25l" PLAIN "\033[2J");
	for (size_t i = 0; i < page->rows && !view->again; i++)
		emit_blank(out, page, i);
	for (size_t i = 0; i < page->count; i++)
		emit_line(out, page, i);
	if (view->probe) {
		sb_buf_puts(out, view->probe);
		emit_blank(out, page, page->rows - 1); /* it has left a letter there */
		if (page->count == page->rows)
			emit_line(out, page, page->rows - 1);
	}
	emit_line(out, page, page->count - 1); /* the cursor ends behind it */
	sb_buf_puts(out, "\033[?25h");
}

bool sb_draw_question(struct sb_buf *out, const struct sb_question *question,
		      const struct sb_view *view)
{
	struct page page = {.text = SB_BUF(1024 * 1024), /* 256 lines, each at most a wide row */
			    .rows = view->rows,
			    .columns = view->columns,
			    .ascii = view->ascii,
			    .colour = view->colour};
	bool fits = find_layout(&page, question, view);

	if (!fits)
		small_window(&page, view);
	if (sb_buf_failed(&page.text))
		out->failed = true;
	else
		emit(out, &page, view);
	sb_buf_done(&page.text);
	return fits;
}
