#include "guard/git_hides.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/words.h"
#include "guard/git_config.h"

#define SMALLEST_BIG_FILE (1024 * 1024) /* bytes of text that nobody reads in a diff anyway */
#define MIN_DAYS 7

/* git_parse_maybe_bool(): words, nothing at all, or a number that is none. */
bool sb_git_is_no(const char *value)
{
	char *end;

	if (!*value || sb_words_have_like("no false off", value, strlen(value)))
		return true;
	if (strtoll(value, &end, 0) != 0 || end == value)
		return false;
	return !*end || sb_words_have_like("k m g", end, strlen(end));
}

/* A check that somebody may have asked for, or what git shows, in this file or in the user's own. */
static bool hides_when_off(const char *key)
{
	return sb_is_word("commit.gpgsign tag.gpgsign tag.forcesignannotated push.gpgsign "
			  "merge.verifysignatures transfer.fsckobjects fetch.fsckobjects "
			  "receive.fsckobjects receive.denynonfastforwards receive.denydeletes "
			  "push.useforceifincludes lfs.locksverify lfs.setlockablereadonly "
			  "status.showuntrackedfiles commit.status merge.stat stash.showstat "
			  "fetch.showforcedupdates log.showroot log.decorate core.filemode "
			  "core.symlinks core.safecrlf core.warnambiguousrefs "
			  "core.logallrefupdates extensions.preciousobjects",
			  key);
}

/* Less is shown, more is published, or what is nowhere else is deleted. */
static bool hides_when_on(const char *key)
{
	return sb_is_word("diff.relative sparse.expectfilesoutsideofpatterns core.autocrlf "
			  "core.sparsecheckout rerere.autoupdate push.followtags submodule.recurse "
			  "lfs.allowincompletepush fetch.prune fetch.prunetags",
			  key) ||
	       sb_git_key_is(key, "remote", "prune prunetags");
}

/* The values of a key with which nothing is hidden.  NULL: of another key, or whatever it is. */
static const char *plain_values_of(const char *key)
{
	/* "matching" pushes all branches, "upstream" a new one to where the old one goes */
	if (strcmp(key, "push.default") == 0)
		return "simple current nothing";
	if (strcmp(key, "push.recursesubmodules") == 0) /* others push them, too, or look no more */
		return "check";
	if (strcmp(key, "diff.ignoresubmodules") == 0 || sb_git_key_is(key, "submodule", "ignore"))
		return "none";
	if (strcmp(key, "log.diffmerges") == 0)
		return "on m separate 1 first-parent c combined cc dense-combined r remerge";
	if (strcmp(key, "rebase.missingcommitscheck") == 0)
		return "warn error";
	if (strcmp(key, "core.eol") == 0)
		return "lf native";
	/* iconv leaves out, or replaces, what another has not */
	if (sb_is_word("i18n.logoutputencoding i18n.commitencoding", key))
		return "utf-8 utf8";
	return NULL;
}

/*
 * What git init finds out about the file system.  core.fileMode and core.symlinks are told also where a file system
 * has neither: that cannot be told by looking.
 */
static bool is_wrong_here(const char *key, const char *value, bool folds)
{
	bool on = !sb_git_is_no(value);

	if (strcmp(key, "core.ignorecase") == 0)
		return on != folds;
	return strcmp(key, "core.precomposeunicode") == 0 && on && !folds;
}

/* git_parse_ulong(): digits, and k, m or g.  Files above it are binary to git diff. */
static bool is_small(const char *value)
{
	char *end;
	unsigned long long number = strtoull(value, &end, 0);
	unsigned shift = *end == 'k' || *end == 'K'   ? 10
			 : *end == 'm' || *end == 'M' ? 20
			 : *end == 'g' || *end == 'G' ? 30
						      : 0;

	return number >> 40 == 0 && number << shift < SMALLEST_BIG_FILE;
}

/*
 * color.COMMAND.SLOT: which colours a terminal has is not known here, so all that may be those of its background
 * count: black and white, those by number, and every one behind the text.
 */
static bool may_be_unseen(const char *value)
{
	static const char seen[] = "red green yellow blue magenta cyan brightred brightgreen "
				   "brightblue brightmagenta brightcyan brightyellow";
	static const char looks[] = "bold ul blink reverse italic strike nobold noul nodim "
				    "noreverse no-dim no-bold";
	unsigned colours = 0;

	for (const char *at = value; *at; at += strspn(at, " \t")) {
		size_t length = strcspn(at, " \t");

		if (sb_words_have_like("normal default reset", at, length))
			colours++;
		else if (!colours && sb_words_have_like(seen, at, length))
			colours++;
		else if (length && !sb_words_have_like(looks, at, length))
			return true;
		at += length;
	}
	return false;
}

/* "2 weeks ago", "90.days": longer than somebody is away.  "now" and what is not understood is not. */
static bool is_long_ago(const char *value)
{
	char *end;
	unsigned long number = strtoul(value, &end, 10);

	if (strcmp(value, "false") == 0 || strcasecmp(value, "never") == 0)
		return true;
	end += strspn(end, ". ");
	if (strncasecmp(end, "day", 3) == 0)
		return number >= MIN_DAYS;
	return number && (strncasecmp(end, "week", 4) == 0 || strncasecmp(end, "month", 5) == 0 ||
			  strncasecmp(end, "year", 4) == 0);
}

static bool is_expiry(const char *key)
{
	return sb_is_word("gc.pruneexpire gc.worktreepruneexpire splitindex.sharedindexexpire",
			  key) ||
	       sb_git_key_is(key, "gc", "reflogexpire reflogexpireunreachable");
}

/* "%Cred", "%C(auto)", "%C(bold blue)": at is behind the "C". */
static bool is_seen_colour(const char *at)
{
	char inner[64] = "";
	size_t length = strcspn(at, ")");

	if (sb_words_begin("red green blue reset", at))
		return true;
	if (*at != '(' || at[length] != ')' || length > sizeof inner)
		return false;
	memcpy(inner, at + 1, length - 1);
	return strcmp(inner, "auto") == 0 || !may_be_unseen(inner);
}

/* How git log shows a commit: one of git's own ways, or with its id and its message, both whole and to be seen. */
static bool is_telling_format(const char *value)
{
	static const char known[] = "oneline short medium full fuller reference email raw";
	bool id = false, message = false;

	for (const char *at = strchr(value, '%'); at; at = strchr(at, '%')) {
		char c = *++at;

		c = c == '-' || c == '+' || c == ' ' ? *++at : c;
		id |= c == 'h' || c == 'H';
		message |= c == 's' || c == 'B';
		/* columns and widths cut, or come before more of what is not known here */
		if (!c || strchr("<>w", c) || (c == 'C' && !is_seen_colour(at + 1)))
			return false;
		at++;
	}
	return (id && message) || sb_words_have_like(known, value, strlen(value));
}

/*
 * Gone through with what lands unasked (git_keys.c), key by key.  Left out although they sound like it:
 *     remote.*.tagOpt, fetch.all            fetch more; what a fetch deletes is said by prune
 *     submodule.*.active, update            git status shows a submodule all the same
 *     push.autoSetupRemote                  with a new branch that is pushed by hand
 *     core.untrackedCache, index.*          caches, which git checks by times that nobody can set
 *     core.quotePath, log.date, diff.*Prefix, columns, dates: other looks of what is shown anyway
 *     core.fsync                            takes a crash
 *     receive.denyCurrentBranch, uploadpack.*  what others push here, and fetch
 *     merge.*, notes.mergeStrategy, pull.rebase, rebase.*  what is replaced stays in the reflog
 *     gc.rerere*                            conflicts that were resolved, not work
 */
bool sb_git_key_hides(const char *key, const char *value, bool folds)
{
	const char *last = strrchr(key, '.'), *plain = plain_values_of(key);

	if (hides_when_off(key))
		return sb_git_is_no(value);
	if (hides_when_on(key))
		return !sb_git_is_no(value);
	if (plain)
		return !sb_words_have_like(plain, value, strlen(value));
	if (strcmp(key, "core.bigfilethreshold") == 0)
		return is_small(value);
	if (strcmp(key, "blame.ignorerevsfile") == 0) /* the name that everybody knows it by */
		return *value && strcmp(value, ".git-blame-ignore-revs") != 0;
	if (strcmp(key, "log.excludedecoration") == 0)
		return *value != '\0';
	if (strcmp(key, "format.pretty") == 0 || strncmp(key, "pretty.", 7) == 0)
		return !is_telling_format(value);
	if (strncmp(key, "color.", 6) == 0 && last > key + 5)
		return may_be_unseen(value);
	if (sb_git_key_is(key, "remote", "fetch"))
		return sb_git_fetch_judge(value) != SB_GIT_FETCH_PLAIN;
	/* another remote that git checkout takes a branch from, or that missing objects come from */
	if (sb_is_word("checkout.defaultremote extensions.partialclone", key))
		return true;
	return is_wrong_here(key, value, folds) || (is_expiry(key) && !is_long_ago(value));
}

/*
 * What git does as ever, or shows otherwise.  Others keep what a file says out of git diff ("ident" what is between
 * "$Id:" and "$", an encoding what git reads otherwise), or make something else of it.
 */
static bool is_plain_attribute(const char *word, size_t length)
{
	static const char plain[] =
		"text -text text=auto eol=lf diff merge -merge -filter -ident -eol "
		"-working-tree-encoding filter=annex delta -delta lockable";
	static const char begin[] =
		"! whitespace -whitespace linguist- -linguist- export- -export- "
		"conflict-marker-size= encoding= diff= gitlab-";

	if (sb_words_have_like("diff=false", word, length))
		return false;
	return !length || sb_words_have(plain, word, length) || sb_words_begin(begin, word);
}

bool sb_git_attributes_hide(const char *line, size_t length)
{
	/* the pattern is one of the words, but a quoted one may have spaces: what is like an attribute in it counts */
	for (size_t at = 0, width; at < length; at += width + 1) {
		for (width = 0; at + width < length && !strchr(" \t\r", line[at + width]);)
			width++;
		if (at && !is_plain_attribute(line + at, width))
			return true;
	}
	return false;
}

/*
 * SECURITY: what a plain git fetch outside writes is a remote's, not the user's.
 *
 * Danger: if what ends in refs/heads is taken from where nothing is, a fetch that prunes deletes all branches,
 * those with work that is nowhere else included; without prune it replaces those that are not checked out.
 * Price: git remote add --mirror=fetch asks in a repository that has branches.
 * Held by: tests/supervise/git_told.py, tests/unit/test_guard_content.c
 */
enum sb_git_fetch sb_git_fetch_judge(const char *refspec)
{
	/* and what people fetch besides, which no checkout is on */
	static const char others[] =
		"refs/remotes/ refs/tags/ refs/notes/ refs/pull/ refs/merge-requests/";
	const char *left = refspec + (*refspec == '+'), *right = strrchr(left, ':'), *tail;
	size_t length, width;

	if (*left == '^' || !right || !right[1])
		return SB_GIT_FETCH_PLAIN;
	length = (size_t)(right++ - left);
	if (!sb_words_begin(others, right))
		return SB_GIT_FETCH_ASK;
	if (strlen(right) == length && strncmp(left, right, length) == 0)
		return SB_GIT_FETCH_PLAIN;
	if (strncmp(right, "refs/remotes/", 13) != 0)
		return SB_GIT_FETCH_TOLD;
	if (strncmp(left, "refs/heads/", 11) !=
	    0) { /* "refs/pull/.../head:refs/remotes/origin/pr/..." */
		tail = strchr(right + 13, '/');
		return tail && strchr(tail + 1, '/') ? SB_GIT_FETCH_PLAIN : SB_GIT_FETCH_TOLD;
	}
	tail = left + 10;
	width = length - 10;
	length = strlen(right);
	return length > width && memcmp(right + length - width, tail, width) == 0
		       ? SB_GIT_FETCH_PLAIN
		       : SB_GIT_FETCH_TOLD;
}
