#include "config/load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/list.h"
#include "guard/guard.h"
#include "path/path.h"
#include "policy/fast.h"
#include "policy/text.h"

/*
 * SECURITY: a project brings no fast roots along.
 *
 * Danger: a rule file in the project, which the user names with --policy, may have been changed
 * by the run before this one.  What such a file can open is guarded; a fast root is not.
 * Price: the rule has to stand in a file elsewhere, or on the command line.
 * Held by: tests/cli/fast.py
 */
static int refuse_project_file(const struct sb_maker *maker, const char *file, struct sb_error *err)
{
	if (!file || !sb_load_is_projects(maker, file))
		return SB_OK;
	sb_fail(err, SB_E_REFUSED, 0, "'fast' in a file that lies inside the project");
	return sb_hint(err, "a command could have written it; move the file out of the project, "
			    "or pass the rule with --rule");
}

int sb_fast_note(struct sb_maker *maker, const struct sb_rule_source *source, const char *text,
		 const struct sb_resolved *resolved, struct sb_error *err)
{
	struct sb_fast_note note = {.cache = source->cache};
	struct stat info;
	int status = refuse_project_file(maker, source->file, err);

	if (status != SB_OK)
		return status;
	if (resolved->is_glob) {
		sb_fail(err, SB_E_INVALID, 0, "cannot make '%s' fast: it has wildcards", text);
		return sb_hint(err, "a fast root is one directory: write a line for each");
	}
	if (stat(resolved->path, &info) != 0)
		return sb_fail(err, SB_E_INVALID, errno, "cannot make '%s' fast", text);
	if (!S_ISDIR(info.st_mode))
		return sb_fail(err, SB_E_INVALID, ENOTDIR, "cannot make '%s' fast", text);
	status = sb_path_expand(text, source->base, maker->setup.home.home, &note.written, err);
	if (status != SB_OK)
		return status;
	note.path = strdup(resolved->path);
	note.origin = strdup(source->origin);
	if (!note.path || !note.origin || !SB_GROW(maker->fast, maker->fast_count)) {
		free(note.written);
		free(note.path);
		free(note.origin);
		return sb_no_memory(err);
	}
	maker->fast[maker->fast_count++] = note;
	return SB_OK;
}

void sb_fast_forget(struct sb_maker *maker)
{
	for (size_t i = 0; i < maker->fast_count; i++) {
		free(maker->fast[i].written);
		free(maker->fast[i].path);
		free(maker->fast[i].origin);
	}
	free(maker->fast);
	maker->fast = NULL;
	maker->fast_count = 0;
}

/* --- one root -------------------------------------------------------------------------- */

struct check {
	const struct sb_policy *policy;
	const struct sb_fast_note *note;
};

/*
 * SECURITY: no link that a command could have made chooses a fast root.
 *
 * Danger: a command replaces "build" by a link to "src".  For a rule that merely opens it that is
 * no gain, since src is open anyway; but a fast root has no guard.
 * Held by: tests/cli/fast.py
 */
static int refuse_link(void *context, const char *link, struct sb_error *err)
{
	const struct check *check = context;

	if (sb_decide(check->policy, SB_CREATE, link).verdict != SB_ALLOW)
		return SB_OK;
	sb_fail(err, SB_E_REFUSED, 0,
		"cannot make '%s' fast: a command could have made the link '%s'",
		check->note->written, link);
	return sb_hint(err, "name what it leads to: '%s'", check->note->path);
}

static int refuse_around(const struct check *check, const char *inside, const char *what,
			 struct sb_error *err)
{
	if (!inside || !sb_path_within(check->note->path, inside))
		return SB_OK;
	sb_fail(err, SB_E_REFUSED, 0, "cannot make '%s' fast: it %s %s", check->note->path,
		strcmp(check->note->path, inside) == 0 ? "is" : "holds", what);
	return sb_hint(err, "nothing is guarded in a fast root; name a directory for output, such "
			    "as 'build'");
}

/* A rule, in its own words, that is about the root or something in it. */
static int refuse_rule(const struct check *check, const struct sb_rule *rule, struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(16 * 1024);

	if (rule)
		sb_rule_print_whole(rule, &text);
	sb_fail(err, SB_E_REFUSED, 0, "cannot make '%s' fast (%s): rule '%s' (%s) holds there",
		check->note->path, check->note->origin, rule ? text.data : "none",
		rule ? rule->origin : "mode");
	return sb_hint(err, "a fast root can have no other rules inside; say 'write' instead of "
			    "'fast', or remove that rule");
}

/* Guarded names at the top of what is opened, where no guard runs: that of a static run. */
static bool is_static_guard(const struct sb_rule *rule)
{
	return rule && rule->tier == SB_TIER_BUILTIN && !rule->hard &&
	       rule->access.verdict[SB_READ] == SB_ALLOW &&
	       rule->access.verdict[SB_MODIFY] == SB_ASK;
}

static int refuse_rules(const struct check *check, struct sb_error *err)
{
	const char *path = check->note->path;

	for (enum sb_op op = 0; op < SB_OP_COUNT; op++) {
		struct sb_decision here = sb_decide(check->policy, op, path);
		struct sb_decision inside = sb_decide_moved(check->policy, op, path, NULL);

		if (here.verdict != SB_ALLOW)
			return refuse_rule(check, here.rule, err);
		if (inside.verdict != SB_ALLOW && !is_static_guard(inside.rule))
			return refuse_rule(check, inside.rule, err);
	}
	return SB_OK;
}

static int refuse_guarded(const struct check *check, const struct sb_guard *guard,
			  struct sb_error *err)
{
	const struct sb_guard_row *row = sb_guard_row_in(guard, check->note->path);

	if (!row)
		return SB_OK;
	sb_fail(err, SB_E_REFUSED, 0, "cannot make '%s' fast: '%s' is guarded there (%s: %s)",
		check->note->path, row->pattern, row->who, row->why);
	return sb_hint(err, "nothing is guarded in a fast root; say 'write' instead of 'fast'");
}

static int check_root(const struct sb_maker *maker, const struct check *check,
		      const struct sb_guard *guard, struct sb_error *err)
{
	const struct sb_setup *setup = &maker->setup;
	int status = sb_path_links(check->note->written, refuse_link, (void *)check, err);

	for (size_t i = 0; status == SB_OK && setup->projects[i]; i++)
		status = refuse_around(check, setup->projects[i], "the project", err);
	if (status == SB_OK)
		status = refuse_around(check, setup->home.home, "your home directory", err);
	if (status == SB_OK)
		status = refuse_around(check, setup->home.account_home, "your home directory", err);
	if (status == SB_OK && guard)
		status = refuse_guarded(check, guard, err);
	return status == SB_OK ? refuse_rules(check, err) : status;
}

/* In ~/.cache the directory of ours has no guarded names; elsewhere (XDG_CACHE_HOME=~/.vim/cache) that has to be seen. */
static bool is_usual_cache(const struct sb_setup *setup, const struct sb_fast_note *note)
{
	SB_AUTO_FREE char *usual = sb_path_join(setup->home.home, ".cache");

	return note->cache && usual && sb_path_within(usual, note->path);
}

int sb_fast_check(const struct sb_maker *maker, struct sb_error *err)
{
	const struct sb_setup *setup = &maker->setup;
	struct sb_guard_options options = {.size = sizeof options,
					   .projects = (const char *const *)setup->projects,
					   .home = setup->home.home,
					   .git_settings =
						   (const char *const *)setup->home.git_settings,
					   .homes = sb_home_others(&setup->home)};
	struct sb_guard *guard = NULL;
	int status = SB_OK;

	if (!sb_fast_count(setup->policy))
		return SB_OK;
	for (size_t i = 0; i < maker->fast_count && status == SB_OK; i++) {
		const struct check check = {setup->policy, &maker->fast[i]};
		bool usual = is_usual_cache(setup, &maker->fast[i]);

		if (!guard && !usual)
			status = sb_guard_new(&options, &guard, err);
		/* a later tier may have said otherwise, or the mode have taken it away */
		if (status == SB_OK && sb_fast_is_or_holds(setup->policy, maker->fast[i].path))
			status = check_root(maker, &check, usual ? NULL : guard, err);
	}
	sb_guard_free(guard);
	return status;
}
