/*
 * git_commands.c - programs that git settings name: the words of a command, as paths.
 */
#include "guard/git_commands.h"

#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/words.h"
#include "guard/extras.h"
#include "guard/git_keys.h"
#include "path/path.h"

#define WORD_COST 1 /* a stat or three */

/* Is path where the run may make something: in the project, or where the user's rules and answers may let it? */
static bool may_come(const struct sb_git_commands *collector, const char *path)
{
	const struct sb_guard_options *options = collector->out->options;

	if (sb_path_within(collector->top, path))
		return true;
	/* "> /tmp/x" in an alias is another place outside */
	if (!options || (options->is_private && options->is_private(options->context, path)))
		return false;
	return (collector->home && sb_path_within(collector->home, path)) ||
	       (options->in_guarded_root && options->in_guarded_root(options->context, path));
}

/*
 * SECURITY: a file that a command names, seen from base or absolute, counts also while it is not there.
 *
 * Danger: core.pager=~/tools/page of a machine on which nobody has made it yet; a rule opens ~/tools, a command
 * makes the file, and the next git outside runs it.
 * Price: must, whether it looks like a path at all; a name that nobody has is compared with others.
 * Held by: tests/supervise/opened.py
 */
static int add_program(const struct sb_git_commands *collector, const char *word, const char *base,
		       bool must, bool *out_found)
{
	SB_AUTO_FREE char *path = NULL;
	struct stat info;
	bool there;

	if (!base || sb_path_expand(word, base, collector->home, &path, NULL) != SB_OK)
		return SB_OK;
	there = stat(path, &info) == 0;
	if (there ? !S_ISREG(info.st_mode) : !must || !may_come(collector, path))
		return SB_OK;
	*out_found = true;
	if (sb_extras_spend(collector->out, SB_EXTRA_FILE_COST) != SB_OK)
		return SB_E_REFUSED;
	return sb_extras_add_path(collector->out, sb_extras_follow(collector->out, path),
				  SB_EXTRA_HOOK);
}

/*
 * One word of a command.  The first is looked for on the PATH, if it is no path; others may be anything, and
 * count if there is such a file.  before: what it follows, without a space, in the command.
 */
static int collect_word(const struct sb_git_commands *collector, const char *word, bool first,
			char before)
{
	bool slash = strchr(word, '/') != NULL, found = false;
	int status;

	if (word[0] == '-' || strstr(word, "://") || (first && !slash))
		return SB_OK;
	/* one with a slash may be away for a while, with the directory that it is in; "%h/%s" is a format */
	status = add_program(collector, word, collector->top,
			     (slash || word[0] == '~') && !strchr(word, '%'), &found);
	if (status == SB_OK && (slash || found))
		status = sb_extras_add_anywhere(collector->out, word,
						collector->user ? SB_EXTRA_AT_TOPS
								: SB_EXTRA_AT_WORKTREES);
	/* "$(git rev-parse --show-toplevel)/x", "${HOME}/x" */
	if (status == SB_OK && !found && word[0] == '/') {
		const char *rest = word + strspn(word, "/");
		bool must = before == ')' || before == '}';

		if (*rest)
			status = add_program(collector, rest, collector->top, must, &found);
		if (status == SB_OK && *rest && (!found || must))
			status = add_program(collector, rest, collector->home, must, &found);
	}
	if (status == SB_OK && before == '$' && strncmp(word, "HOME/", 5) == 0)
		status = add_program(collector, word + 5, collector->home, true, &found);
	if (status == SB_OK && before == '$' && strncmp(word, "PWD/", 4) == 0)
		status = add_program(collector, word + 4, collector->top, true, &found);
	return status;
}

/* --- as a shell reads it --------------------------------------------------------------------------- */

#define MAX_NESTED 3 /* sh -c "sh -c ..." */

/* The next word without its quotes.  False: none, or it is too long. */
static bool next_word(const char **at, struct sb_buf *out, bool *out_quoted)
{
	static const char ends[] = " \t\r\n;&|()<>";
	char quote = '\0';

	sb_buf_done(out);
	*out = (struct sb_buf)SB_BUF(8192);
	*out_quoted = false;
	*at += strspn(*at, ends);
	for (const char *c = *at; *c && (quote || !strchr(ends, *c)); *at = ++c) {
		if (*c == quote || (!quote && (*c == '"' || *c == '\''))) {
			quote = quote ? '\0' : *c;
			*out_quoted = true;
			continue;
		}
		if (*c == '\\' && quote != '\'' && c[1]) {
			c++;
			*out_quoted = true;
		}
		sb_buf_putc(out, *c);
	}
	return out->length && !sb_buf_failed(out);
}

/* What stands for a directory that is known, in quotes with the rest. */
static const char *behind_top(const char *word)
{
	static const char *const tops[] = {"$PWD/", "${PWD}/", "$(git rev-parse --show-toplevel)/"};

	for (size_t i = 0; i < sizeof tops / sizeof tops[0]; i++)
		if (sb_text_begins(word, tops[i]))
			return word + strlen(tops[i]);
	return word;
}

/* python -m a.b: a/b.py, or a/b/__main__.py; and what it runs on the way there. */
static int collect_module(const struct sb_git_commands *collector, const char *module)
{
	static const char *const files[] = {".py", "/__main__.py", "/__init__.py"};
	SB_AUTO_FREE char *path = strdup(module);
	int status = path ? SB_OK : SB_E_NOMEM;
	bool found;

	for (char *dot = path; status == SB_OK && (dot = strchr(dot, '.')); dot++)
		*dot = '/';
	for (size_t i = 0; status == SB_OK && i < sizeof files / sizeof files[0]; i++) {
		SB_AUTO_BUF struct sb_buf file = SB_BUF(8192);

		sb_buf_printf(&file, "%s%s", path, files[i]);
		if (!sb_buf_failed(&file))
			status = add_program(collector, file.data, collector->top, true, &found);
	}
	return status;
}

/* Where a cd leads, from where the last one did; "": to a place that is not known. */
static void enter(struct sb_buf *base, const char *word)
{
	word = behind_top(word);
	if (strpbrk(word, "$`*?[") || strcmp(word, "-") == 0 || *word == '/' || *word == '~') {
		sb_buf_done(base);
		*base = (struct sb_buf)SB_BUF(8192);
	}
	if (!strpbrk(word, "$`*?[") && strcmp(word, "-") != 0)
		sb_buf_printf(base, "%s%s", base->length ? "/" : "", word);
}

static int collect_there(const struct sb_git_commands *collector, const struct sb_buf *base,
			 const char *word)
{
	SB_AUTO_BUF struct sb_buf whole = SB_BUF(16384);
	bool found;

	word = behind_top(word);
	if (*word == '-' || strpbrk(word, "$`"))
		return SB_OK;
	if (!base->length || *word == '/' || *word == '~')
		return collect_word(collector, word, true, '\0');
	sb_buf_printf(&whole, "%s/%s", base->data, word);
	if (sb_buf_failed(&whole))
		return SB_OK;
	return strchr(word, '/')
		       ? collect_word(collector, whole.data, true, '\0')
		       : add_program(collector, whole.data, collector->top, false, &found);
}

/*
 * SECURITY: quotes within a word, cd, and python -m.
 *
 * Danger: "my tools"/f, cd tools; ./f and python3 -m tools.f name files by other words than these.
 * Price: none but for settings that have such words.  What only a shell can tell, tools/[f], PATH=tools:$PATH or $X/f, is
 * not known (docs/security.md).
 * Held by: tests/supervise/home_links.py
 */
static int collect_as_shell(const struct sb_git_commands *collector, const char *command,
			    unsigned depth)
{
	enum { WORD, DIRECTORY, MODULE } means = WORD;
	SB_AUTO_BUF struct sb_buf word = SB_BUF(8192), base = SB_BUF(8192);
	bool quoted, python = false;
	int status = SB_OK;

	while (status == SB_OK && next_word(&command, &word, &quoted)) {
		const char *slash = strrchr(word.data, '/');

		status = sb_extras_spend(collector->out, WORD_COST);
		if (means == DIRECTORY)
			enter(&base, word.data);
		else if (means == MODULE && status == SB_OK)
			status = collect_module(collector, word.data);
		else if (status == SB_OK && (quoted || base.length))
			status = collect_there(collector, &base, word.data);
		if (status == SB_OK && quoted && depth && strpbrk(word.data, " \t;"))
			status = collect_as_shell(collector, word.data, depth - 1);
		python |= sb_words_begin("python pypy", slash ? slash + 1 : word.data) > 0;
		means = means != WORD                            ? WORD
			: strcmp(word.data, "cd") == 0           ? DIRECTORY
			: python && strcmp(word.data, "-m") == 0 ? MODULE
								 : WORD;
	}
	return status;
}

/* Most commands are plain words. */
static bool wants_shell(const char *command)
{
	return strpbrk(command, "\"'\\") || strstr(command, "cd ") || strstr(command, "-m ");
}

/* What is before a word in a command, but for quotes; '\0': nothing. */
static char before_word(const char *command, size_t at)
{
	while (at && strchr("\"'", command[at - 1]))
		at--;
	return at ? command[at - 1] : '\0';
}

/*
 * SECURITY: files that git runs because a setting names them: an editor, a filter, an alias.
 *
 * Danger: such a file of the project is run by the next git outside.
 * Price: changing it asks, also where the repository's own config names it, as with its hooks.  A word that is
 * no path is taken for one if there is a file of that name.
 * Held by: tests/supervise/home_links.py
 */
int sb_git_commands_collect(const struct sb_git_commands *collector,
			    const struct sb_git_entry *entry)
{
	static const char between[] = " \t\r\n;&|()<>\"'`${}=,";
	SB_AUTO_FREE char *words = NULL;
	const char *command;
	char *rest, *word;
	bool first = true, alias = strncmp(entry->key, "alias.", 6) == 0;
	int status = SB_OK;

	/* "-c core.pager=x log": an alias that names no command has options of git before it */
	if (!entry->value || (alias && entry->value[0] != '!' && entry->value[0] != '-') ||
	    sb_git_key_is_text(entry->key) ||
	    sb_git_key_judge(entry->key, entry->value) != SB_KEY_ASK)
		return SB_OK;
	command = entry->value + (entry->value[0] == '!');
	rest = words = strdup(command);
	if (!words)
		return SB_E_NOMEM;
	while (status == SB_OK && (word = strsep(&rest, between))) {
		if (!*word)
			continue;
		status = sb_extras_spend(collector->out, WORD_COST);
		if (status == SB_OK)
			status = collect_word(collector, word, first,
					      before_word(command, (size_t)(word - words)));
		first = false;
	}
	return status == SB_OK && wants_shell(command)
		       ? collect_as_shell(collector, command, MAX_NESTED)
		       : status;
}
