#include "guard/git_keys.h"

#include <stddef.h>
#include <string.h>

#include "guard/git_config.h"
#include "guard/git_files.h"
#include "guard/git_url.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum test {
	ANY_VALUE,
	URL,     /* git_url.h: no remote helper, nothing that looks like an option */
	WORD,    /* nothing that looks like an option */
	NO_BANG, /* no command */
	BRANCH,  /* a name that no shell expands: prompts show it */
	INSIDE,  /* a path in guarded roots */
};

/* "section.*.name" has a subsection, "section.name" has none. */
static const struct {
	const char *section;
	bool sub;
	const char *name;
	enum test test;
} harmless[] = {
	/* what init and clone write */
	{"core", false, "repositoryformatversion", ANY_VALUE},
	{"core", false, "filemode", ANY_VALUE},
	{"core", false, "bare", ANY_VALUE},
	{"core", false, "logallrefupdates", ANY_VALUE},
	{"core", false, "ignorecase", ANY_VALUE},
	{"core", false, "precomposeunicode", ANY_VALUE},
	{"core", false, "symlinks", ANY_VALUE},
	{"core", false, "sharedrepository", ANY_VALUE},
	{"core", false, "worktree", INSIDE}, /* git checkout writes there */
	{"extensions", false, "worktreeconfig", ANY_VALUE},
	{"extensions", false, "objectformat", ANY_VALUE},
	{"extensions", false, "compatobjectformat", ANY_VALUE},
	{"extensions", false, "refstorage", ANY_VALUE},
	{"extensions", false, "relativeworktrees", ANY_VALUE},
	{"extensions", false, "partialclone", URL}, /* a remote's name */
	{"receive", false, "denynonfastforwards", ANY_VALUE},
	{"receive", false, "denycurrentbranch", ANY_VALUE},
	/* how files are checked out */
	{"core", false, "autocrlf", ANY_VALUE},
	{"core", false, "eol", ANY_VALUE},
	{"core", false, "safecrlf", ANY_VALUE},
	{"core", false, "sparsecheckout", ANY_VALUE},
	{"core", false, "sparsecheckoutcone", ANY_VALUE},
	{"index", false, "sparse", ANY_VALUE},
	{"index", false, "version", ANY_VALUE},
	{"core", false, "untrackedcache", ANY_VALUE},
	{"core", false, "quotepath", ANY_VALUE},
	{"core", false, "abbrev", ANY_VALUE},
	{"core", false, "longpaths", ANY_VALUE},
	/* remotes and branches; uploadpack, receivepack, vcs, proxy and mergeoptions are not here */
	{"remote", true, "url", URL},
	{"remote", true, "pushurl", URL},
	{"remote", true, "fetch", WORD},
	{"remote", true, "push", WORD},
	{"remote", true, "tagopt", ANY_VALUE},
	{"remote", true, "prune", ANY_VALUE},
	{"remote", true, "prunetags", ANY_VALUE},
	{"remote", true, "mirror", ANY_VALUE},
	{"remote", true, "promisor", ANY_VALUE},
	{"remote", true, "partialclonefilter", WORD},
	{"remote", true, "skipdefaultupdate", ANY_VALUE},
	{"remote", true, "skipfetchall", ANY_VALUE},
	{"remote", true, "followremotehead", ANY_VALUE},
	{"remote", true, "gh-resolved", WORD},
	{"remote", false, "pushdefault", URL},
	{"branch", true, "remote", URL}, /* may be a URL itself */
	{"branch", true, "pushremote", URL},
	{"branch", true, "merge", BRANCH},
	{"branch", true, "rebase", ANY_VALUE},
	{"branch", true, "description", ANY_VALUE},
	{"branch", false, "autosetupmerge", ANY_VALUE},
	{"branch", false, "autosetuprebase", ANY_VALUE},
	{"submodule", true, "url", URL},
	{"submodule", true, "active", ANY_VALUE},
	{"submodule", true, "branch", WORD},
	{"submodule", true, "update", NO_BANG},
	{"submodule", true, "ignore", ANY_VALUE},
	{"submodule", true, "fetchrecursesubmodules", ANY_VALUE},
	{"submodule", false, "active", WORD},
	/* who commits, and how commands behave */
	{"user", false, "name", ANY_VALUE},
	{"user", false, "email", ANY_VALUE},
	{"user", false, "useconfigonly", ANY_VALUE},
	{"author", false, "name", ANY_VALUE},
	{"author", false, "email", ANY_VALUE},
	{"committer", false, "name", ANY_VALUE},
	{"committer", false, "email", ANY_VALUE},
	{"init", false, "defaultbranch", WORD},
	{"pull", false, "rebase", ANY_VALUE},
	{"pull", false, "ff", ANY_VALUE},
	{"push", false, "default", ANY_VALUE},
	{"push", false, "autosetupremote", ANY_VALUE},
	{"push", false, "followtags", ANY_VALUE},
	{"fetch", false, "prune", ANY_VALUE},
	{"merge", false, "ff", ANY_VALUE},
	{"merge", false, "conflictstyle", ANY_VALUE},
	{"merge", false, "renames", ANY_VALUE},
	{"rebase", false, "autostash", ANY_VALUE},
	{"rebase", false, "autosquash", ANY_VALUE},
	{"rebase", false, "updaterefs", ANY_VALUE},
	{"rerere", false, "enabled", ANY_VALUE},
	{"rerere", false, "autoupdate", ANY_VALUE},
	{"diff", false, "algorithm", ANY_VALUE},
	{"diff", false, "renames", ANY_VALUE},
	{"status", false, "showuntrackedfiles", ANY_VALUE},
	{"checkout", false, "defaultremote", URL},
	{"gc", false, "auto", ANY_VALUE},
	{"gc", false, "autodetach", ANY_VALUE},
	{"maintenance", false, "auto", ANY_VALUE},
	{"color", false, "ui", ANY_VALUE},
	{"lfs", false, "repositoryformatversion", ANY_VALUE},
};

static bool passes(enum test test, const char *value)
{
	switch (test) {
	case URL:
		return sb_git_url_is_plain(value);
	case WORD:
		return value[0] != '-';
	case BRANCH:
		return sb_git_ref_is_plain(value, strlen(value));
	case NO_BANG:
		return !strchr(value, '!');
	default:
		return true;
	}
}

static bool has_subsection(const char *key)
{
	return strchr(key, '.') != strrchr(key, '.');
}

/*
 * SECURITY: the name in "section.NAME.key" is a value, too.
 *
 * Danger: git fetches by itself what a remote has promised, and hands the remote's name to another
 * git without "--" before it: [remote "--upload-pack=PROGRAM"] runs PROGRAM at the next checkout.
 * Price: whoever calls a remote, a branch or a submodule like that is asked.
 * Held by: tests/supervise/guard.py
 */
static bool has_plain_subsection(const char *key)
{
	const char *first = strchr(key, '.'), *last = strrchr(key, '.');

	if (first == last)
		return true;
	if (first[1] == '-')
		return false;
	for (const char *at = first + 1; at + 1 < last; at++)
		if (at[0] == ':' && at[1] == ':')
			return false;
	return true;
}

enum sb_key_verdict sb_git_key_judge(const char *key, const char *value)
{
	if (!has_plain_subsection(key))
		return SB_KEY_ASK;
	for (size_t i = 0; i < COUNT(harmless); i++) {
		if (!sb_git_key_is(key, harmless[i].section, harmless[i].name) ||
		    has_subsection(key) != harmless[i].sub)
			continue;
		if (harmless[i].test == INSIDE)
			return SB_KEY_PATH;
		return passes(harmless[i].test, value) ? SB_KEY_HARMLESS : SB_KEY_ASK;
	}
	return SB_KEY_ASK;
}

bool sb_gitmodules_key_is_harmless(const char *key, const char *value)
{
	if (!has_plain_subsection(key))
		return false;
	if (sb_git_key_is(key, "submodule", "update"))
		return passes(NO_BANG, value);
	if (sb_git_key_is(key, "submodule", "url"))
		return passes(URL, value);
	if (sb_git_key_is(key, "submodule", "path"))
		return passes(WORD, value);
	return true; /* git looks at no other key that could name a program */
}

bool sb_git_strategy_is_known(const char *name)
{
	static const char *const known[] = {"octopus", "ort",     "ours",  "recursive",
					    "resolve", "subtree", "theirs"};

	for (size_t i = 0; i < COUNT(known); i++)
		if (strcmp(name, known[i]) == 0)
			return true;
	return false;
}
