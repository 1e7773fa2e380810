/*
 * The forms of git's state files.
 *
 * SECURITY: what others evaluate may only be what git itself writes there.
 *
 * Danger: git-sh-prompt puts msgnum, end, next and last into PS1, which bash expands; zsh's vcs_info takes
 * them as arithmetic, which runs $(...) in a subscript, and hands lines of rewritten to git log; git am hands
 * apply-opt to git apply; rerere reads and rewrites the paths of MERGE_RR, through links and "..".
 * Price: a branch with quotes or parentheses in its name asks.  A link that is made in the work tree
 * after MERGE_RR has landed is followed by rerere all the same: docs/security.md.
 * Held by: tests/supervise/git_files.py, tests/unit/test_guard_forms.c
 */
#include "guard/git_forms.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/escape.h"
#include "base/words.h"
#include "guard/fold.h"
#include "guard/git_files.h"
#include "guard/read.h"
#include "path/path.h"

/* Part of the bytes. */
struct part {
	const char *at;
	size_t length;
};

typedef bool (*test_fn)(struct part part);

static bool begins(struct part part, const char *text)
{
	size_t length = strlen(text);

	return part.length >= length && memcmp(part.at, text, length) == 0;
}

static bool is_text(struct part part, const char *text)
{
	return part.length == strlen(text) && memcmp(part.at, text, part.length) == 0;
}

static struct part without(struct part part, size_t skipped)
{
	return (struct part){part.at + skipped, part.length - skipped};
}

/* Only bytes of this kind, and some. */
static bool are_all(struct part part, int (*is)(int))
{
	for (size_t i = 0; i < part.length; i++)
		if (!is((unsigned char)part.at[i]))
			return false;
	return part.length > 0;
}

static bool is_id(struct part part)
{
	return are_all(part, isxdigit);
}

/* Cut at the separator, which *rest loses as well; false: nothing is left. */
static bool cut(struct part *rest, char separator, struct part *out)
{
	const char *end = rest->length ? memchr(rest->at, separator, rest->length) : NULL;

	if (!rest->length)
		return false;
	out->at = rest->at;
	out->length = end ? (size_t)(end - rest->at) : rest->length;
	*rest = without(*rest, out->length + (end ? 1 : 0));
	return true;
}

static bool holds_for_lines(struct part all, test_fn test, struct part *out_bad)
{
	while (cut(&all, '\n', out_bad))
		if (!test(*out_bad))
			return false;
	return true;
}

/* --- lines ----------------------------------------------------------------------------------- */

static bool is_line_of_ids(struct part line)
{
	struct part word;

	while (cut(&line, ' ', &word))
		if (!is_id(word))
			return false;
	return true;
}

static bool is_number(struct part line)
{
	return are_all(line, isdigit) && line.length < 10;
}

/* "detached HEAD", "refs/heads/x", "fixup 1234": no shell and no option parser sees more in it. */
static bool is_line_of_names(struct part line)
{
	if (line.length && (line.at[0] == '-' || line.at[0] == ' '))
		return false;
	for (size_t i = 0; i < line.length; i++)
		if (strchr("$`;|&<>'\"()\\*?[!", line.at[i]))
			return false;
	return sb_utf8_all_visible(line.at, line.length);
}

static bool is_line_of_text(struct part line)
{
	struct part word;

	while (cut(&line, '\t', &word))
		if (!sb_utf8_all_visible(word.at, word.length))
			return false;
	return true;
}

/* "x.patch -p1 # why": whoever shows the names takes none from behind a "#" at the start of a word. */
static bool is_line_of_series(struct part line)
{
	for (size_t i = 0; i < line.length; i++)
		if (line.at[i] == '#' && (i == 0 || line.at[i - 1] == ' '))
			return is_line_of_text(without(line, i)) &&
			       is_line_of_names((struct part){line.at, i});
	return is_line_of_names(line);
}

static bool is_ref_line(struct part line)
{
	if (!begins(line, "ref: "))
		return is_line_of_ids(line) && line.length;
	line = without(line, 5);
	/* what repositories with reftable have in HEAD, for older programs */
	if (is_text(line, "refs/heads/.invalid"))
		return true;
	/* nothing but refs/ may be led to: "ref: config" would be read, and written */
	return begins(line, "refs/") && sb_git_ref_is_plain(line.at, line.length);
}

static bool is_packed_line(struct part line)
{
	struct part id;

	if (begins(line, "#"))
		return is_line_of_text(line);
	if (begins(line, "^"))
		return is_id(without(line, 1));
	return cut(&line, ' ', &id) && is_id(id) && sb_git_ref_is_plain(line.at, line.length);
}

/* --- words of a shell --------------------------------------------------------------------------- */

/*
 * What sq_quote of git makes: '...', with \' and \! between.  Moves *rest behind it; false: it is not closed.
 */
static bool take_quoted(struct part *rest)
{
	while (rest->length) {
		if (rest->at[0] == '\'') {
			const char *end = memchr(rest->at + 1, '\'', rest->length - 1);

			if (!end)
				return false;
			*rest = without(*rest, (size_t)(end - rest->at) + 1);
		} else if (begins(*rest, "\\'") || begins(*rest, "\\!")) {
			*rest = without(*rest, 2);
		} else {
			return true;
		}
	}
	return true;
}

static bool is_quoted(struct part all, struct part *out_bad)
{
	bool starts = true; /* a line */

	while (all.length) {
		char c = all.at[0];

		*out_bad = all;
		if (starts && c == '#') {
			cut(&all, '\n', out_bad);
			continue;
		}
		starts = c == '\n';
		if (c == '\'' || c == '\\') {
			struct part before = all;

			if (!take_quoted(&all) || all.length == before.length)
				return false;
		} else if (isalnum((unsigned char)c) || strchr(" \n/._-+@=:,%~^{}#", c)) {
			all = without(all, 1);
		} else {
			return false;
		}
	}
	return true;
}

static bool is_author_script(struct part all, struct part *out_bad)
{
	while (all.length) {
		const char *sign = memchr(all.at, '=', all.length);
		size_t name = sign ? (size_t)(sign - all.at) : 0;

		*out_bad = all;
		if (!sb_words_have("GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_AUTHOR_DATE", all.at,
				   name))
			return false;
		all = without(all, name + 1);
		if (!begins(all, "'") || !take_quoted(&all) || (all.length && all.at[0] != '\n'))
			return false;
		all = without(all, all.length ? 1 : 0);
	}
	return true;
}

/* --- options ----------------------------------------------------------------------------------- */

static int is_in_value(int c)
{
	return isalnum(c) || (c && strchr("/._%+@-", c));
}

bool sb_git_sign_option_is_plain(const char *text, size_t length)
{
	struct part option = {text, length};

	if (is_text(option, "--no-gpg-sign") || is_text(option, "--gpg-sign"))
		return true;
	if (begins(option, "--gpg-sign="))
		option = without(option, 11);
	else if (begins(option, "-S"))
		option = without(option, 2);
	else
		return false;
	/* the name of a key; with a slash ssh takes it for a file */
	return !option.length || (are_all(option, is_in_value) &&
				  !memchr(option.at, '/', option.length) && option.at[0] != '-');
}

/* A pattern or directory of git apply: in the work tree. */
static bool is_inner_path(struct part path)
{
	struct part name;

	if (begins(path, "/") || begins(path, "~") || !path.length)
		return false;
	while (cut(&path, '/', &name))
		if (is_text(name, ".."))
			return false;
	return true;
}

static bool is_option(struct part option)
{
	static const char whole[] = "--ignore-space-change --ignore-whitespace --reject "
				    "--rerere-autoupdate --no-rerere-autoupdate --signoff "
				    "--no-signoff -R --whitespace=nowarn --whitespace=warn "
				    "--whitespace=fix --whitespace=strip --whitespace=error "
				    "--whitespace=error-all";

	if (sb_words_have(whole, option.at, option.length))
		return true;
	if (begins(option, "-C") || begins(option, "-p"))
		return is_number(without(option, 2));
	if (begins(option, "--exclude=") || begins(option, "--include="))
		return is_inner_path(without(option, 10));
	if (begins(option, "--directory="))
		return is_inner_path(without(option, 12));
	return sb_git_sign_option_is_plain(option.at, option.length);
}

bool sb_git_strategy_option_is_known(const char *text, size_t length)
{
	static const char known[] =
		"ours theirs patience histogram diff-algorithm renormalize no-renormalize "
		"find-renames no-renames rename-threshold subtree ignore-space-change "
		"ignore-all-space ignore-space-at-eol ignore-cr-at-eol";
	struct part option = {text, length}, name;

	if (begins(option, "--"))
		option = without(option, 2);
	return cut(&option, '=', &name) && (!option.length || are_all(option, is_in_value)) &&
	       sb_words_have(known, name.at, name.length);
}

static bool is_strategy_option(struct part option)
{
	return sb_git_strategy_option_is_known(option.at, option.length);
}

/* Words with a space between them, in '' or not; what is in '' has neither ' nor spaces. */
static bool are_options(struct part all, test_fn test, struct part *out_bad)
{
	while (all.length && all.at[all.length - 1] == '\n')
		all.length--;
	while (cut(&all, ' ', out_bad)) {
		struct part word = *out_bad;

		if (word.length >= 2 && begins(word, "'") && word.at[word.length - 1] == '\'')
			word = (struct part){word.at + 1, word.length - 2};
		if (memchr(word.at, '\'', word.length) || memchr(word.at, '\n', word.length) ||
		    memchr(word.at, '\\', word.length) || memchr(word.at, '"', word.length) ||
		    (word.length && !test(word)))
			return false;
	}
	return true;
}

/* --- rerere -------------------------------------------------------------------------------------- */

char *sb_git_work_tree_of(const char *git)
{
	SB_AUTO_FREE char *file = sb_path_join(git, "gitdir");
	const char *name = strrchr(git, '/');

	if (file && sb_path_exists(file)) { /* of a linked worktree: PATH/.git */
		SB_AUTO_FREE char *dot_git = sb_read_path(git, "gitdir", "");

		return dot_git ? sb_path_parent(dot_git) : NULL;
	}
	if (name && strcmp(name, "/.git") == 0)
		return sb_path_parent(git);
	return sb_read_work_tree(git, true);
}

/* Is there a link on the way to path, or at it?  What cannot be looked at counts as one. */
static bool meets_link(const char *top, struct part path)
{
	char way[PATH_MAX];
	size_t start = strlen(top);
	int length = snprintf(way, sizeof way, "%s/%.*s", top, (int)path.length, path.at);
	struct stat info;

	if (path.length >= sizeof way || length < 0 || (size_t)length >= sizeof way)
		return true;
	for (char *at = way + start + 1;; at++) {
		char c = *at;

		if (c && c != '/')
			continue;
		*at = '\0';
		if (lstat(way, &info) != 0)
			return false; /* nor is there anything beneath */
		if (S_ISLNK(info.st_mode))
			return true;
		if (!c)
			return false;
		*at = c;
	}
}

static bool stays_in_work_tree(struct part path)
{
	struct part name;

	if (!path.length || begins(path, "/") || memchr(path.at, '\n', path.length))
		return false;
	while (cut(&path, '/', &name)) {
		struct sb_folded folded;

		sb_fold(name.at, name.length, &folded);
		if (!name.length || is_text(name, ".") || is_text(name, "..") ||
		    (folded.length == 4 && memcmp(folded.text, ".git", 4) == 0))
			return false;
	}
	return true;
}

/* "ID\tPATH" or "ID.VARIANT\tPATH", each with a NUL behind it (rerere.c, write_rr). */
static bool is_rerere(const char *path, struct part all, struct part *out_bad)
{
	SB_AUTO_FREE char *git = sb_path_parent(path);
	SB_AUTO_FREE char *top = git ? sb_git_work_tree_of(git) : NULL;
	struct part entry = {0}, id, number;

	if (all.at[all.length - 1] != '\0')
		*out_bad = all;
	else
		while (cut(&all, '\0', &entry)) {
			struct part name = entry;

			*out_bad = entry;
			if (!cut(&name, '\t', &id) || !cut(&id, '.', &number) || !is_id(number) ||
			    (id.length && !is_number(id)) || !stays_in_work_tree(name) || !top ||
			    meets_link(top, name))
				return false;
		}
	return entry.length > 0;
}

/* --- all of them --------------------------------------------------------------------------------- */

bool sb_git_form_has_nul(enum sb_guard_kind kind)
{
	return kind == SB_GUARD_GIT_RERERE || kind == SB_GUARD_GIT_PACKS ||
	       kind == SB_GUARD_HG_JOURNAL;
}

bool sb_git_form_holds(enum sb_guard_kind kind, const char *path, struct sb_guard_bytes bytes,
		       struct sb_guard_bytes *out_bad)
{
	/* Of each line, of each option, or of all. */
	static const struct {
		test_fn line, option;
		bool (*all)(struct part all, struct part *out_bad);
	} forms[] = {
		[SB_GUARD_GIT_REF] = {.line = is_ref_line},
		[SB_GUARD_GIT_IDS] = {.line = is_line_of_ids},
		[SB_GUARD_GIT_NUMBER] = {.line = is_number},
		[SB_GUARD_GIT_NAMES] = {.line = is_line_of_names},
		[SB_GUARD_SERIES] = {.line = is_line_of_series},
		[SB_GUARD_GIT_PACKED] = {.line = is_packed_line},
		[SB_GUARD_GIT_TEXT] = {.line = is_line_of_text},
		[SB_GUARD_GIT_QUOTED] = {.all = is_quoted},
		[SB_GUARD_GIT_AUTHOR] = {.all = is_author_script},
		[SB_GUARD_GIT_OPTIONS] = {.option = is_option},
		[SB_GUARD_GIT_STRATEGY_OPTIONS] = {.option = is_strategy_option},
	};
	struct part all = {bytes.bytes, bytes.length}, bad = all;
	bool holds = false;

	if (kind == SB_GUARD_ANYTHING)
		return true;
	if (kind == SB_GUARD_GIT_PACKS)
		return sb_git_packs_are_beside(bytes, out_bad);
	if (kind == SB_GUARD_GIT_RERERE)
		holds = is_rerere(path, all, &bad);
	else if (kind >= sizeof forms / sizeof forms[0])
		holds = false;
	else if (forms[kind].line)
		holds = holds_for_lines(all, forms[kind].line, &bad);
	else if (forms[kind].option)
		holds = are_options(all, forms[kind].option, &bad);
	else if (forms[kind].all)
		holds = forms[kind].all(all, &bad);
	*out_bad = (struct sb_guard_bytes){bad.at, bad.length};
	return holds;
}
