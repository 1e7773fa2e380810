/*
 * followed.c - links through which somebody outside would write.
 *
 * SECURITY: no link leads unasked to what a program outside obeys, or to what is hidden from the run.
 *
 * Danger: a command makes CHANGELOG a link to ~/.bash_aliases, which need not be there.  Whoever writes CHANGELOG
 * outside, an editor or `git log > CHANGELOG`, writes what the next shell runs.  The same of a directory in which
 * every name is obeyed (dist -> ~/.config/autostart).
 * So the end of a link is judged as a write to it would be.  A link to a name of the same place, by the same rule,
 * is as it ever was: who writes there finds the guard at that name.  A relative link is judged from
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

#define PROC "/proc"

static const struct sb_rule to_obeyed =
	SB_ASKS("built-in: a link to what a program outside obeys; who writes there writes "
		"through it");

static const struct sb_rule to_hidden =
	SB_ASKS("built-in: a link to what is hidden from commands; programs outside would follow "
		"it");

static const struct sb_rule to_system =
	SB_ASKS("built-in: a link to what the machine obeys; root outside would write through it");

static const struct sb_rule to_anywhere =
	SB_ASKS("built-in: a link of which nobody can say where it leads others");

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

	/* about what the machine obeys heed_system() has the last word */
	return sb_guard_judge(grounds->guard, SB_GUARD_WRITE, &place, &answer) == SB_GUARD_PLAIN ||
			       sb_is_system_row(answer.row)
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

/* What sandbash itself obeys: its rules, and those of all users. */
static bool is_ours(const struct sb_grounds *grounds, const char *path)
{
	struct sb_decision change = sb_decide(grounds->policy, SB_MODIFY, path);

	return change.verdict == SB_DENY && change.rule && change.rule->hard &&
	       change.rule->tier == SB_TIER_BUILTIN;
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

	if (is_hidden(grounds, link, path) || is_ours(grounds, path) || is_named(grounds, path))
		return true;
	return snprintf(inner, sizeof inner, "%s/x", path) >= (int)sizeof inner ||
	       is_named(grounds, inner);
}

/* A yes is about this link alone: no directory is offered for it, and no rule.  True. */
static bool ask_about(const struct sb_rule *rule, const struct sb_guard_row *row, const char *path,
		      struct sb_judged *judged)
{
	SB_AUTO_BUF struct sb_buf name = SB_BUF(4 * PATH_MAX + 1);

	/* where it asks already, an answer for the directory is none for this */
	if (judged->decision.verdict == SB_ALLOW || !judged->decision.rule)
		judged->decision = (struct sb_decision){SB_ASK, rule};
	judged->why = row ? SB_WHY_GUARDED : SB_WHY_RULE;
	judged->no_rule_opens = true;
	if (!row)
		return true;
	sb_escape_value(&name, path, strlen(path), SB_GUARD_DETAIL - 64);
	judged->guard.verdict = SB_GUARD_ASK;
	judged->guard.kind = SB_GUARD_SAME;
	judged->guard.row = row;
	snprintf(judged->guard.detail, SB_GUARD_DETAIL, "it is a link, which leads to '%s'",
		 sb_buf_failed(&name) ? "?" : name.data);
	return true;
}

/* It leads to path, which is canonical: is that against it? */
static bool heed_end(const struct sb_grounds *grounds, const char *path, struct sb_judged *judged)
{
	const char *link = judged->site->path;
	const struct sb_guard_row *row;
	struct stat info;
	bool hidden, ours;

	if (is_same_place(grounds, link, path) || !may_matter(grounds, link, path))
		return false;
	if (lstat(path, &info) != 0)
		info.st_mode = 0;
	hidden = is_hidden(grounds, link, path);
	ours = is_ours(grounds, path);
	row = obeyed_at(grounds, path, info.st_mode);
	if (!row && !info.st_mode) /* it may become a directory */
		row = obeyed_at(grounds, path, S_IFDIR);
	if (row && !hidden && !ours &&
	    (sb_row_is_opened(grounds->guard, grounds->policy, path, row) ||
	     is_program(link, path, info.st_mode, row)))
		return false;
	if (row || hidden || ours)
		ask_about(row || ours ? &to_obeyed : &to_hidden, row, path, judged);
	return row || hidden || ours;
}

/* A directory with guarded names among others: links may lead through it. */
static bool is_holder(const struct sb_grounds *grounds, const char *path)
{
	SB_AUTO_FD int directory = -1;
	struct stat info;

	/* it has fd, a way to all of a process; and what root's machine obeys */
	if (strcmp(path, "/dev") == 0 || (strcmp(path, "/etc") == 0 && geteuid() == 0))
		return true;
	if (lstat(path, &info) != 0 || !S_ISDIR(info.st_mode))
		return false;
	directory = sb_site_holder(path);
	return sb_guard_is_holder(grounds->guard, directory, path);
}

/* Do the rules let it be written, as what it is? */
static bool may_write(const struct sb_grounds *grounds, const char *path)
{
	const struct sb_guard_place place = {
		.directory = -1, .path = path, .name = sb_path_name(path)};
	const struct sb_site site = {.path = path};
	struct sb_judged judged = {.op = SB_MODIFY,
				   .site = &site,
				   .decision = sb_decide(grounds->policy, SB_MODIFY, path)};

	if (judged.decision.verdict != SB_ALLOW)
		return false;
	return sb_guard_judge(grounds->guard, SB_GUARD_WRITE, &place, &judged.guard) ==
		       SB_GUARD_PLAIN ||
	       !sb_is_system_row(judged.guard.row) || !judged.decision.rule ||
	       sb_rules_open(grounds->guard, grounds->policy, &judged, true);
}

static bool heed_system(const struct sb_grounds *grounds, const char *path, bool possible,
			struct sb_judged *judged)
{
	/* of where it only may lead, not all that could be there: most names are nowhere in /etc */
	if ((!sb_is_system_end(path) && (possible || !sb_is_system_place(path))) ||
	    is_same_place(grounds, judged->site->path, path) || may_write(grounds, path))
		return false;
	ask_about(&to_system, NULL, path, judged);
	return true;
}

/* One that it leads to when something else is moved or turned. */
static bool heed_possible_end(const struct sb_grounds *grounds, const char *path,
			      struct sb_judged *judged)
{
	SB_AUTO_FREE char *real = NULL;
	int missing;

	if (heed_system(grounds, path, true, judged))
		return true;
	if (!may_matter(grounds, judged->site->path, path) ||
	    sb_path_canonical(path, &real, &missing, NULL) != SB_OK)
		return false;
	if (heed_end(grounds, real, judged))
		return true;
	judged->leads_home = judged->leads_home || is_holder(grounds, real);
	return false;
}

/*
 * A link in a directory: where does it lead when that is moved up?  One to something that is there, of the same
 * name, is what people make (packages/app/.env -> ../../.env), and no file that they take for another.
 */
static bool heed_moved_up(const struct sb_grounds *grounds, const char *text, bool is_there,
			  struct sb_judged *judged)
{
	unsigned up;
	SB_AUTO_FREE char *rest = sb_link_rest(text, &up),
			  *above = sb_path_parent(judged->site->path);
	bool found = false, leads_home = judged->leads_home;

	if (up < 2 || !rest || /* from a directory in the project that leads to the project */
	    (is_there && strcmp(sb_path_name(rest), sb_path_name(judged->site->path)) == 0))
		return false;
	while (above && !found) {
		char *next = sb_path_parent(above);
		SB_AUTO_FREE char *end = next && *rest ? sb_path_join(next, rest + 1)
					 : next        ? strdup(next)
						       : NULL;

		free(above);
		above = next;
		found = end && heed_possible_end(grounds, end, judged);
	}
	if (is_there) /* node_modules/@me/own -> ../..: nobody is told what it is not yet */
		judged->leads_home = leads_home;
	return found;
}

/* Takes a name from *text, "." and slashes left out; its length, 0 at the end. */
static size_t take_name(const char **text, const char **out)
{
	size_t length;

	do {
		*text += strspn(*text, "/");
		*out = *text;
		length = strcspn(*text, "/");
		*text += length;
	} while (length == 1 && **out == '.');
	return length;
}

static bool is_name(const char *at, size_t length, const char *name)
{
	return length == strlen(name) && memcmp(at, name, length) == 0;
}

static bool is_number(const char *at, size_t length)
{
	return length && strspn(at, "0123456789") == length;
}

/* "/proc/PID/cwd/NAME": whoever follows it may be anywhere, so the name is looked at as if he were at home. */
static bool heed_at_home(const struct sb_grounds *grounds, const char *text,
			 struct sb_judged *judged)
{
	const char *home = sb_guard_home_of(grounds->guard), *at, *more;
	size_t length = take_name(&text, &at);
	SB_AUTO_FREE char *name = strndup(at, length), *there = NULL, *real = NULL;

	if (!home || !name || !length || take_name(&text, &more))
		return false;
	there = sb_path_join(home, name);
	if (!there || sb_path_canonical(there, &real, NULL, NULL) != SB_OK)
		return false;
	heed_end(grounds, real, judged);
	return true;
}

/*
 * Text is what a link says behind "/proc/".  Where root, cwd and fd/N of a process lead is that process's to say, and
 * whoever follows the link is another one, in another tree: so only the text counts, nothing is looked up.  What the
 * process has open already (fd/1, exe), and files of its own (mounts), are no way to others.
 * False: where it leads cannot be told.
 */
static bool heed_process(const struct sb_grounds *grounds, const char *text,
			 struct sb_judged *judged)
{
	const char *at, *more;
	size_t length;

	for (const char *rest = text; (length = take_name(&rest, &at));)
		if (is_name(at, length, ".."))
			return false;
	length = take_name(&text, &at);
	if (length && !is_name(at, length, "self") && !is_name(at, length, "thread-self") &&
	    !is_number(at, length))
		return true; /* of the system */
	if (length)
		length = take_name(&text, &at);
	if (is_name(at, length, "task") && take_name(&text, &more))
		length = take_name(&text, &at);
	if (is_name(at, length, "cwd"))
		return heed_at_home(grounds, text, judged);
	if (is_name(at, length, "root") || is_name(at, length, "map_files"))
		return false;
	if (is_name(at, length, "fd") && take_name(&text, &more))
		return !take_name(&text, &more);
	/* a directory that has them: other links may lead through it */
	judged->leads_home = !length || is_name(at, length, "task") || is_name(at, length, "fd");
	return true;
}

/* One in a directory that may be moved up: it would be the user's home that it leads to then. */
static bool leads_home_if_moved(const struct sb_grounds *grounds, const char *text, bool is_there,
				struct sb_judged *judged)
{
	unsigned up;
	SB_AUTO_FREE char *rest = sb_link_rest(text, &up), *end = NULL;
	const char *home = sb_guard_home_of(grounds->guard);

	if (up < 2)
		return false;
	if (!rest || !home || !*rest)
		return true;
	if (is_there && strcmp(sb_path_name(rest), sb_path_name(judged->site->path)) == 0)
		return false;
	if (strncmp(rest, "/.", 2) == 0)
		return true;
	end = sb_path_join(home, rest + (*rest == '/'));
	if (end)
		heed_end(grounds, end, judged);
	return !end;
}

/* With slashes behind them, too. */
static bool is_dots(const char *name)
{
	size_t dots = name ? strspn(name, ".") : 0;

	return (dots == 1 || dots == 2) && strspn(name + dots, "/") == strlen(name + dots);
}

/* What is said of where it leads, as it stands; true: it is asked about. */
static bool heed_link(const struct sb_grounds *grounds, const struct sb_link *link,
		      struct sb_judged *judged)
{
	const char *text = link->text, *behind = sb_behind_turn(text);
	SB_AUTO_FREE char *joined = text[0] == '/' ? strdup(text)
						   : sb_path_join(link->parent, text);
	SB_AUTO_FREE char *real = NULL;
	/* when it is moved again it is looked at again */
	bool climbs = text[0] != '/' && !link->brought;
	struct sb_error err = {0};
	int missing;

	if (!joined || sb_path_canonical_up_to(joined, PROC, &real, &missing, &err) != SB_OK) {
		/* links in a circle lead nowhere, for whoever follows them, unless it is another way outside */
		return (!joined || err.sys_errno != ELOOP ||
			(grounds->view && sb_leads_out_of_view(grounds, link, NULL, 0))) &&
		       ask_about(&to_anywhere, NULL, text, judged);
	}
	if (heed_system(grounds, real, false, judged))
		return true;
	if (grounds->view && (behind || sb_leads_out_of_view(grounds, link, real, missing)))
		return ask_about(&to_anywhere, NULL, text, judged);
	if (sb_path_within(PROC, real))
		return !heed_process(grounds, real + strlen(PROC), judged) &&
		       ask_about(&to_anywhere, NULL, text, judged);
	if (grounds->view && climbs && leads_home_if_moved(grounds, text, !missing, judged))
		return ask_about(&to_anywhere, NULL, text, judged);
	if (heed_end(grounds, real, judged))
		return true;
	if (!missing && !is_same_place(grounds, judged->site->path, real))
		judged->leads_home = is_holder(grounds, real);
	else if (!grounds->view && climbs && heed_moved_up(grounds, text, !missing, judged))
		return true;
	if (behind && *behind)
		return sb_heed_turned(grounds, behind, heed_possible_end, judged);
	judged->leads_home = judged->leads_home || behind;
	return false;
}

void sb_heed_followed(const struct sb_grounds *grounds, const char *text, struct sb_judged *judged)
{
	const struct sb_site *site = judged->site;
	SB_AUTO_FREE char *parent = NULL;

	/* "." and ".." are there; a name beside it was judged when it came there */
	if (judged->decision.verdict == SB_DENY || is_dots(site->name) ||
	    (!strchr(text, '/') && strcmp(text, "..") != 0) || !sb_has_guard(grounds, site))
		return;
	parent = sb_path_parent(site->path);
	if (parent)
		heed_link(grounds, &(struct sb_link){site, parent, text, false}, judged);
}

/* Of which: the question is about the directory. */
static void say_which(const char *name, struct sb_guard_answer *guard)
{
	static const char it[] = "it is a link";
	char rest[SB_GUARD_DETAIL];

	if (strncmp(guard->detail, it, sizeof it - 1) != 0)
		return;
	snprintf(rest, sizeof rest, "%s", guard->detail + sizeof it - 1);
	snprintf(guard->detail, SB_GUARD_DETAIL, "'");
	sb_escape_line(guard->detail + 1, 64, name);
	snprintf(guard->detail + strlen(guard->detail), SB_GUARD_DETAIL - strlen(guard->detail),
		 "' in it is a link%s", rest);
}

bool sb_heed_brought_link(const struct sb_grounds *grounds, const char *name, const char *text,
			  unsigned depth, struct sb_judged *judged)
{
	const struct sb_site *site = judged->site;
	const char *behind = sb_behind_turn(text);
	SB_AUTO_FREE char *parent = sb_path_parent(site->path), *path = NULL, *rest = NULL;
	char end[PATH_MAX];
	struct sb_site as = *site;
	size_t length = 1;
	bool asked = false, leads_home = judged->leads_home;
	unsigned up;

	rest = sb_link_rest(text, &up);
	path = sb_path_join(site->path, name);
	if (text[0] == '/' || (up < depth && !behind))
		return false; /* wherever the directory lies */
	if (!parent || !rest || !path || (size_t)3 * (up + 1) + strlen(rest) >= sizeof end)
		return ask_about(&to_anywhere, NULL, text, judged);
	end[0] = '.';
	for (unsigned i = depth; i < up; i++, length += 3)
		memcpy(end + length, "/..", 3);
	memcpy(end + length, rest, strlen(rest) + 1);
	as.path = path;
	as.name = name;
	judged->site = &as;
	if (behind && grounds->view)
		asked = ask_about(&to_anywhere, NULL, text, judged);
	else if (up >= depth)
		asked = heed_link(grounds, &(struct sb_link){site, parent, end, true}, judged);
	if (!asked && behind && *behind)
		asked = sb_heed_turned(grounds, behind, heed_possible_end, judged);
	judged->site = site;
	judged->leads_home = leads_home; /* it is no link that would be told */
	if (asked)
		say_which(name, &judged->guard);
	return asked;
}
