/*
 * followed.c - links through which somebody outside would write.
 *
 * SECURITY: no link leads unasked to what a program outside obeys, or to what is hidden from the run.
 *
 * Danger: a command makes CHANGELOG a link to ~/.bash_aliases, which need not be there.  Whoever writes CHANGELOG
 * outside, an editor or `git log > CHANGELOG`, writes what the next shell runs.  The same of a directory in which
 * every name is obeyed (dist -> ~/.config/autostart).
 * So the end of a link is judged as a write to it would be.  A link to a name of the same place, by the same rule,
 * is as it ever was: who writes there finds the guard at that name.  A relative link to nothing is judged from
 * the directories further up as well: a directory that holds it may be moved up.
 * Price: some 10 us for a link with a slash in it.  A link to a program on the PATH that is there already and is
 * called as the link is (.venv/bin/python -> ~/.local/bin/python3.12) asks nobody.  One to a directory that
 * holds such names among others (~, ~/.config) is told at the end of the run: others may lead through it by then.
 * Held by: tests/supervise/followed.py
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/escape.h"
#include "judge/judge_impl.h"
#include "path/path.h"

static const struct sb_rule to_obeyed = {
	.tier = SB_TIER_BUILTIN,
	.access = {{SB_ALLOW, SB_ASK, SB_ASK, SB_ASK}},
	.pattern = "/",
	.origin = "built-in: a link to what a program outside obeys; who writes there writes "
		  "through it",
};

static const struct sb_rule to_hidden = {
	.tier = SB_TIER_BUILTIN,
	.access = {{SB_ALLOW, SB_ASK, SB_ASK, SB_ASK}},
	.pattern = "/",
	.origin = "built-in: a link to what is hidden from commands; programs outside would follow "
		  "it",
};

static const struct sb_rule to_anywhere = {
	.tier = SB_TIER_BUILTIN,
	.access = {{SB_ALLOW, SB_ASK, SB_ASK, SB_ASK}},
	.pattern = "/",
	.origin = "built-in: a link of which nobody can say where it leads others",
};

/* Does a program that is there already get another name, or one without its version: python, python3.12? */
static bool is_program(const char *link, const char *target, mode_t mode,
		       const struct sb_guard_row *row)
{
	const char *name = sb_path_name(link), *own = sb_path_name(target);
	size_t length = strlen(name);

	return S_ISREG(mode) && (mode & 0111) && strcmp(row->who, "git") != 0 && length &&
	       strncmp(own, name, length) == 0 &&
	       strspn(own + length, "0123456789.") == strlen(own + length);
}

/* Who obeys what is written at path, or beneath it if that is a directory?  Or NULL. */
static const struct sb_guard_row *obeyed_at(const struct sb_grounds *grounds, const char *path,
					    mode_t mode)
{
	SB_AUTO_FREE char *inner = S_ISDIR(mode) ? sb_path_join(path, "x") : NULL;
	const char *whole = inner ? inner : path;
	SB_AUTO_FD int directory = sb_site_holder(whole);
	const struct sb_guard_place place = {
		.directory = directory, .path = whole, .name = sb_path_name(whole)};
	struct sb_guard_answer answer;

	return sb_guard_judge(grounds->guard, SB_GUARD_WRITE, &place, &answer) == SB_GUARD_PLAIN
		       ? NULL
		       : answer.row;
}

/* Does the rule that lets the link be made mean path as well? */
static bool is_same_place(const struct sb_grounds *grounds, const char *link, const char *path)
{
	struct sb_decision at = sb_decide(grounds->policy, SB_CREATE, path);

	return at.verdict == SB_ALLOW && at.rule &&
	       at.rule == sb_decide(grounds->policy, SB_CREATE, link).rule;
}

static bool is_hidden(const struct sb_grounds *grounds, const char *link, const char *path)
{
	struct sb_decision read = sb_decide(grounds->policy, SB_READ, path);
	SB_AUTO_FREE char *parent = NULL;

	if (read.verdict == SB_ALLOW || !read.rule)
		return false;
	parent = sb_path_parent(path);
	return !parent || !is_same_place(grounds, link, parent);
}

static bool is_named(const struct sb_grounds *grounds, const char *path)
{
	const struct sb_guard_place place = {
		.directory = -1, .path = path, .name = sb_path_name(path)};
	struct sb_guard_answer answer;

	return sb_guard_judge(grounds->guard, SB_GUARD_WRITE, &place, &answer) != SB_GUARD_PLAIN;
}

/* Without a look at what is there: that costs more than all else, and most links lead to nothing special. */
static bool may_matter(const struct sb_grounds *grounds, const char *link, const char *path)
{
	char inner[PATH_MAX + 2];

	if (is_hidden(grounds, link, path) || is_named(grounds, path))
		return true;
	return snprintf(inner, sizeof inner, "%s/x", path) >= (int)sizeof inner ||
	       is_named(grounds, inner);
}

/* A yes is about this link alone: no directory is offered for it, and no rule. */
static void ask_about(const struct sb_rule *rule, const struct sb_guard_row *row, const char *path,
		      struct sb_judged *judged)
{
	SB_AUTO_BUF struct sb_buf name = SB_BUF(4 * PATH_MAX + 1);

	/* where it asks already, an answer for the directory is none for this */
	if (judged->decision.verdict == SB_ALLOW || !judged->decision.rule)
		judged->decision = (struct sb_decision){SB_ASK, rule};
	judged->why = row ? SB_WHY_GUARDED : SB_WHY_RULE;
	judged->no_rule_opens = true;
	if (!row)
		return;
	sb_escape_value(&name, path, strlen(path), SB_GUARD_DETAIL - 64);
	judged->guard.verdict = SB_GUARD_ASK;
	judged->guard.kind = SB_GUARD_SAME;
	judged->guard.row = row;
	snprintf(judged->guard.detail, SB_GUARD_DETAIL, "it is a link, which leads to '%s'",
		 sb_buf_failed(&name) ? "?" : name.data);
}

/* It leads to path, which is canonical: is that against it? */
static bool heed_end(const struct sb_grounds *grounds, const char *path, struct sb_judged *judged)
{
	const char *link = judged->site->path;
	const struct sb_guard_row *row;
	struct stat info;
	bool hidden;

	if (is_same_place(grounds, link, path) || !may_matter(grounds, link, path))
		return false;
	if (lstat(path, &info) != 0)
		info.st_mode = 0;
	hidden = is_hidden(grounds, link, path);
	row = obeyed_at(grounds, path, info.st_mode);
	if (row && !hidden &&
	    (sb_row_is_opened(grounds->guard, grounds->policy, path, row) ||
	     is_program(link, path, info.st_mode, row)))
		return false;
	if (row || hidden)
		ask_about(row ? &to_obeyed : &to_hidden, row, path, judged);
	return row || hidden;
}

/* What follows the ".." that text begins with, by text alone; *out_up: how many these are. */
static char *rest_of(const char *text, unsigned *out_up)
{
	char *rest = calloc(1, strlen(text) + 2);
	size_t length = 0;

	*out_up = 0;
	while (rest && *text) {
		size_t width = strcspn(text, "/");

		if (width == 2 && memcmp(text, "..", 2) == 0) {
			const char *slash = memrchr(rest, '/', length);

			*out_up += !slash;
			length = slash ? (size_t)(slash - rest) : 0;
		} else if (width && !(width == 1 && *text == '.')) {
			rest[length++] = '/';
			memcpy(rest + length, text, width);
			length += width;
		}
		text += width;
		text += strspn(text, "/");
	}
	if (rest)
		rest[length] = '\0';
	return rest;
}

/* A link to nothing, in a directory: where does it lead when that is moved up? */
static void heed_moved_up(const struct sb_grounds *grounds, const char *text,
			  struct sb_judged *judged)
{
	unsigned up;
	SB_AUTO_FREE char *rest = rest_of(text, &up), *above = sb_path_parent(judged->site->path);
	bool found = false;

	if (up < 2) /* from a directory in the project that leads to the project */
		return;
	while (rest && above && !found) {
		char *next = sb_path_parent(above), *real = NULL;
		SB_AUTO_FREE char *end = sb_path_join(next ? next : "/", rest + (*rest == '/'));
		int missing;

		free(above);
		above = next;
		if (end && next && may_matter(grounds, judged->site->path, end) &&
		    sb_path_canonical(end, &real, &missing, NULL) == SB_OK)
			found = heed_end(grounds, real, judged);
		free(real);
	}
}

static bool is_name(const char *path, const char *name)
{
	return strcmp(sb_path_name(path), name) == 0;
}

/* Where /proc/PID/cwd leads is that process's to say, and whoever follows the link is another one. */
static int refuse_process(void *context, const char *link, struct sb_error *err)
{
	(void)context;
	(void)err;
	return sb_path_within("/proc", link) && strcmp(link, "/proc/self") != 0 &&
			       strcmp(link, "/proc/thread-self") != 0 &&
			       strcmp(link, "/proc/mounts") != 0 && strcmp(link, "/proc/net") != 0
		       ? SB_E_REFUSED
		       : SB_OK;
}

/* /dev/stdout, /proc/self/fd/1, /proc/self/exe: what the process has open already, and nothing beneath. */
static bool is_own_file(const char *path)
{
	SB_AUTO_FREE char *parent = sb_path_parent(path);

	return parent && (sb_path_within("/dev", path) || sb_path_within("/proc", path)) &&
	       (is_name(path, "exe") || strncmp(path, "/dev/std", 8) == 0 ||
		(is_name(parent, "fd") &&
		 !sb_path_name(path)[strspn(sb_path_name(path), "0123456789")]));
}

/*
 * "/proc/PID/cwd/x": whoever follows it may be anywhere, so one name there is looked at as if he were at home.  False:
 * what the text means cannot be told.
 */
static bool heed_process(const struct sb_grounds *grounds, const char *text,
			 struct sb_judged *judged)
{
	const char *home = sb_guard_home_of(grounds->guard), *name = sb_path_name(text);
	SB_AUTO_FREE char *way = sb_path_parent(text), *process = way ? sb_path_parent(way) : NULL;
	SB_AUTO_FREE char *proc = process ? sb_path_parent(process) : NULL, *there = NULL;
	SB_AUTO_FREE char *real = NULL;

	if (!home || !proc || strcmp(proc, "/proc") != 0 || !is_name(way, "cwd") || !*name ||
	    strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return false;
	there = sb_path_join(home, name);
	if (!there || sb_path_canonical(there, &real, NULL, NULL) != SB_OK)
		return false;
	heed_end(grounds, real, judged);
	return true;
}

/* A directory with guarded names among others: links may lead through it. */
static bool is_holder(const struct sb_grounds *grounds, const char *path)
{
	SB_AUTO_FD int directory = -1;
	struct stat info;

	if (lstat(path, &info) != 0 || !S_ISDIR(info.st_mode))
		return false;
	directory = sb_site_holder(path);
	return sb_guard_is_holder(grounds->guard, directory, path);
}

void sb_heed_followed(const struct sb_grounds *grounds, const char *text, struct sb_judged *judged)
{
	const struct sb_site *site = judged->site;
	SB_AUTO_FREE char *parent = NULL, *joined = NULL, *real = NULL, *process = NULL;
	static const char *const proc[] = {"/proc", NULL};
	struct sb_error err = {0};
	int missing;

	/* a name beside it was judged when it came there */
	if (judged->decision.verdict == SB_DENY ||
	    (!strchr(text, '/') && strcmp(text, "..") != 0) || !sb_has_guard(grounds, site))
		return;
	parent = sb_path_parent(site->path);
	if (!parent)
		return;
	joined = text[0] == '/' ? strdup(text) : sb_path_join(parent, text);
	if (!joined ||
	    sb_path_canonical_through(joined, proc, &real, &missing, &process, &err) != SB_OK ||
	    (process && sb_path_links(joined, refuse_process, NULL, NULL) == SB_E_REFUSED)) {
		/* links in a circle lead nowhere, for whoever follows them */
		if (!joined || !(is_own_file(joined) || (!real && err.sys_errno == ELOOP) ||
				 heed_process(grounds, joined, judged)))
			ask_about(&to_anywhere, NULL, text, judged);
		return;
	}
	if (heed_end(grounds, real, judged))
		return;
	if (missing == ENOENT && text[0] != '/')
		heed_moved_up(grounds, text, judged);
	else if (!missing && !is_same_place(grounds, site->path, real))
		judged->leads_home = is_holder(grounds, real);
}
