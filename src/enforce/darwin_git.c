/*
 * The files of a git directory in a profile: a list of good names, as in guard/git_files.c.
 */
#include <stdio.h>
#include <string.h>

#include "enforce/darwin_guard.h"
#include "guard/git_files.h"

static void put_git_name(struct sb_buf *out, const char *name, size_t length)
{
	if (length == 1 && (*name == '#' || *name == '*')) {
		sb_buf_puts(out, *name == '#' ? "[0-9]+" : "[^/]+");
		return;
	}
	for (size_t i = 0; i < length; i++)
		if (name[i] == '*')
			sb_buf_puts(out, "[^/]*");
		else if (name[i] == '?')
			sb_buf_puts(out, "[^/]");
		else
			sb_regex_bytes(out, name + i, 1);
}

/* The rest of a path in a git directory that a row of git_files.c means; the last means all there is. */
static void put_git_row(struct sb_buf *out, const char *pattern)
{
	size_t length = strlen(pattern);

	if (strcmp(pattern, "*") == 0) {
		sb_buf_puts(out, "[^/]+(/[^/]+)*");
	} else if (strncmp(pattern, "**", 2) == 0) {
		sb_buf_puts(out, "(([^/]+/)+[^/]*|[^/]+)");
		put_git_name(out, pattern + 2, length - 2);
	} else if (length > 3 && strcmp(pattern + length - 3, "/**") == 0) {
		put_git_name(out, pattern, length - 3);
		sb_buf_puts(out, "(/[^/]+)+");
	} else if (length > 2 && strcmp(pattern + length - 2, "**") == 0) {
		put_git_name(out, pattern, length - 2);
		sb_buf_puts(out, "[^/]*(/[^/]+)*");
	} else {
		for (size_t size; *pattern; pattern += size + (pattern[size] == '/')) {
			size = strcspn(pattern, "/");
			put_git_name(out, pattern, size);
			if (pattern[size])
				sb_buf_putc(out, '/');
		}
	}
}

/* "^.../.git": the beginning of a regular expression about what is in a git directory. */
static void put_in_git(struct sb_buf *out)
{
	sb_buf_puts(out, SB_ANYWHERE);
	sb_item_put_name(out, (struct sb_span){"<git>/", 5});
	sb_buf_puts(out, "/(");
}

static void define(struct sb_guarding *guarding, const char *name, struct sb_buf *regex)
{
	guarding->seatbelt->text.failed |= sb_buf_failed(regex);
	sb_buf_printf(&guarding->seatbelt->text, "(define %s (regex ", name);
	sb_seatbelt_string(guarding->seatbelt, regex->data);
	sb_buf_puts(&guarding->seatbelt->text, "))\n");
}

/* Directories in which git keeps files that are open: it makes them itself. */
static void define_git_directories(struct sb_guarding *guarding)
{
	SB_AUTO_BUF struct sb_buf regex = SB_BUF(SB_GUARDING_REGEX);
	size_t count, done = 0;
	const struct sb_guard_row *rows = sb_guard_git_rows(&count);
	const char *seen[64];

	put_in_git(&regex);
	for (size_t i = 0; i < count; i++) {
		const char *name = strchr(rows[i].pattern, '/') + 1;

		for (const char *slash = name; (slash = strchr(slash, '/')); slash++) {
			size_t length = (size_t)(slash - name), at = 0;

			while (at < done && (strncmp(seen[at], name, length + 1) != 0))
				at++;
			if (at < done || done == sizeof seen / sizeof seen[0] ||
			    sb_seatbelt_holds(&rows[i]))
				continue;
			sb_buf_puts(&regex, done ? "|" : "");
			put_git_name(&regex, name, length);
			seen[done++] = name;
		}
	}
	sb_buf_puts(&regex, ")$");
	define(guarding, "git-directories", &regex);
}

/* In that of a submodule such a directory might be a part of the submodule's name. */
static bool is_of_git_alone(const struct sb_guard_row *row)
{
	const char *inner = strchr(row->pattern, '/') + 1;

	return !sb_seatbelt_holds(row) && strchr(inner, '/') && !sb_git_is_known_directory(inner);
}

static void define_git_alone(struct sb_guarding *guarding)
{
	SB_AUTO_BUF struct sb_buf regex = SB_BUF(SB_GUARDING_REGEX);
	size_t count;
	const struct sb_guard_row *rows = sb_guard_git_rows(&count);
	const char *before = "/(";

	sb_buf_puts(&regex, SB_ANYWHERE);
	sb_item_put_name(&regex, (struct sb_span){"<git>", 5});
	sb_buf_puts(&regex, "(/worktrees/[^/]+|/modules(/[^/]+)+/worktrees/[^/]+)*");
	for (size_t i = 0; i < count; i++) {
		if (!is_of_git_alone(&rows[i]))
			continue;
		sb_buf_puts(&regex, before);
		put_git_row(&regex, strchr(rows[i].pattern, '/') + 1);
		before = "|";
	}
	sb_buf_puts(&regex, ")$");
	define(guarding, "git-alone", &regex);
}

/* Rows that follow each other and are all held, or all open, as one filter: git-1, git-2, ... */
static unsigned define_runs(struct sb_guarding *guarding)
{
	size_t count, at = 0;
	const struct sb_guard_row *rows = sb_guard_git_rows(&count);
	unsigned run = 0;

	while (at < count) {
		SB_AUTO_BUF struct sb_buf regex = SB_BUF(SB_GUARDING_REGEX);
		bool held = sb_seatbelt_holds(&rows[at]);
		const char *before = "";
		char name[16];

		put_in_git(&regex);
		for (; at < count && sb_seatbelt_holds(&rows[at]) == held; at++) {
			if (is_of_git_alone(&rows[at]))
				continue;
			sb_buf_puts(&regex, before);
			before = "|";
			put_git_row(&regex, strchr(rows[at].pattern, '/') + 1);
		}
		sb_buf_puts(&regex, ")$");
		snprintf(name, sizeof name, "git-%u", ++run);
		define(guarding, name, &regex);
	}
	return run;
}

void sb_guarding_define_git(struct sb_guarding *guarding)
{
	define_git_directories(guarding);
	define_git_alone(guarding);
	guarding->git_runs = define_runs(guarding);
}

/* Every other run is held. */
void sb_guarding_git(struct sb_guarding *guarding)
{
	struct sb_buf *text = &guarding->seatbelt->text;
	size_t count;
	unsigned first = sb_seatbelt_holds(sb_guard_git_rows(&count)) ? 1 : 2;

	for (unsigned run = first; run <= guarding->git_runs; run += 2) {
		sb_buf_printf(text, "(deny %s (require-all git-%u", guarding->operations, run);
		for (unsigned open = 3 - first; open < run; open += 2)
			sb_buf_printf(text, "\n  (require-not git-%u)", open);
		sb_buf_puts(text, "\n  (require-not git-directories)\n  (require-not git-alone)");
		sb_buf_puts(text, "\n  (require-not checked)");
		/* rows of the table come first, open or not */
		for (size_t i = 0; i < guarding->count; i++)
			if (guarding->items[i].held)
				sb_opened_by_name(guarding, &guarding->items[i]);
		sb_opened_files(guarding);
		sb_buf_puts(text, "))\n");
	}
}
