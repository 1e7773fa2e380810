/*
 * load.h - reading rule files into a setup that is being made.
 *
 *     struct sb_maker  --> sb_load_file() for each file, sb_load_rule() for each flag
 *                      --> sb_load_check_grants() when all are read
 *
 * Only for setup.c, which owns the maker, decides which files are read in which order,
 * and releases what the maker holds.
 */
#ifndef SB_CONFIG_LOAD_H
#define SB_CONFIG_LOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

#include "config/rules.h"
#include "config/setup.h"
#include "path/path.h"
#include "policy/text.h"
#include "sandbash/error.h"

/* What one tier says beside its rules; the origin tells whether it was said at all. */
struct sb_settings {
	char *origins[SB_SETTING_COUNT]; /* of the table: policy/settings.h */
	int values[SB_SETTING_COUNT];
	char *shell_origin, *keep_days_origin, *keep_megabytes_origin, *log_static_origin;
};

#define SB_MAKER_NAMES 32

struct sb_maker {
	const struct sb_setup_request *request;
	struct sb_setup setup;
	struct sb_settings tiers[SB_TIER_COUNT];
	size_t file_count, warning_count, watched_count;
	char **watched; /* where commands may have made links: projects and temp directories */
	size_t granted_count;
	char **granted; /* what rules open, as it is written but absolute: pairs with ... */
	char **opened;  /* ... what it was resolved to */
	size_t opened_count;
	struct sb_fast_note *fast; /* what is to be fast (fast.c) */
	size_t fast_count;
	size_t within_count;
	uint64_t names[SB_MAKER_NAMES]; /* at the top of the projects: tools.c */
	bool names_listed;
	struct sb_own_host *hosts; /* of profiles of our own: hosts.c */
	size_t host_count;
	bool asks;         /* such a profile says "network ask" */
	unsigned left_out; /* variables that lead elsewhere, and this was said: profile.c */
};

/* Where a rule was found. */
struct sb_rule_source {
	enum sb_tier tier;
	const char *base;  /* what relative patterns are relative to */
	const char *scope; /* only rules inside this directory count; NULL: all */
	const char *origin;
	const char *file; /* that the rule stands in; NULL: the command line */
	bool may_be_literal;
	bool makes; /* it names a directory, which is made before the run */
	bool cache; /* the project's own: tools.c */
	bool login; /* of a "login" line */
};

/* Add to what the user is told before the run. */
int sb_maker_warn(struct sb_maker *maker, struct sb_error *err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* One rule; line->text is its pattern as written. */
int sb_load_rule(struct sb_maker *maker, const struct sb_rule_source *source,
		 const struct sb_line *line, struct sb_error *err);

/*
 * A rule file and what it includes.  only: rules count inside this directory, and settings
 * do not; NULL: all do.  Errors name file and line.
 */
int sb_load_file(struct sb_maker *maker, enum sb_tier tier, const char *path, const char *only,
		 bool must_exist, struct sb_error *err);

/* The text of a --policy file that is none yet. */
int sb_load_text(struct sb_maker *maker, const char *text, struct sb_error *err);

/* The rules of the profile that was chosen and of the project's tools, and all that they say. */
int sb_load_profiles(struct sb_maker *maker, struct sb_error *err);

/* A link may also have been planted in a directory that another rule opens. */
int sb_load_check_grants(const struct sb_maker *maker, struct sb_error *err);

/* Put these words before what went wrong; returns its code. */
int sb_load_say_where(struct sb_error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Is a canonical path in a project, and not in our own directory?  A project must not bring its own rules. */
static inline bool sb_load_is_projects(const struct sb_maker *maker, const char *path)
{
	return sb_path_within_any((const char *const *)maker->setup.projects, path) &&
	       !sb_path_within(maker->setup.home.config_dir, path);
}

/* Say that a link leads out, and what to write instead. */
int sb_load_refuse_planted(const char *text, const char *link, const char *target,
			   struct sb_error *err);

/*
 * within.c: --within: of the projects, only these directories are open to changes.
 *
 * The built-in rule that opens a project is left out, and one for each directory stands in its
 * place; elsewhere in the project changes ask, as they do outside.  The user's own rules stay
 * what they are.
 */

/*
 * After all rules but the built-in ones.  Sets setup.within to the directories that may be
 * opened: fewer than given, with a warning, where opening one would loosen a rule.
 * SB_E_INVALID: one lies in no project.  SB_E_MISSING: one is not there.
 */
int sb_within_find(struct sb_maker *maker, struct sb_error *err);

/*
 * believed.c: whether sandbash's own files are where a variable says.
 *
 * own.c knows projects; here it is about what rules open, in this run or in one before it.
 */

/* Before any rule is read.  SB_E_REFUSED: a run with a profile could have written the rules. */
int sb_believed_by_profiles(struct sb_maker *maker, struct sb_error *err);

/* When all rules are read, and no built-in one.  SB_E_REFUSED: this run could write the next one's. */
int sb_believed_by_rules(struct sb_maker *maker, struct sb_error *err);

/* folds.c: which directories that rules speak of take names in any case (F8). */

/*
 * Looks at the home directory, the projects, and where the user's own rules begin; a directory deeper in a tree
 * that folds by itself (chattr +F) and that no rule names is not found.  Before the policy is sealed.
 */
int sb_folds_find(struct sb_setup *setup, struct sb_error *err);

/*
 * hosts.c: rules about hosts, into a setup that is being made; and which hosts a tool is set up for.
 *
 *     connect @npm
 *
 * means the hosts in npm's own settings, read when the run starts: those of the user and of the machine
 * are allowed, and what variables say; those that only a file of the project names ask, and say so.  No host is known by
 * itself.  @claude and the like are the same for agents.
 */

/* line is SB_LINE_CONNECT or SB_LINE_LISTEN. */
int sb_load_host(struct sb_maker *maker, const struct sb_rule_source *source,
		 const struct sb_line *line, struct sb_error *err);

/*
 * A host that a profile of sandbash's own names, and the end of these: they count where hosts are asked about, with
 * what tools are set up for; where the network is open, they would only ask.
 */
int sb_hosts_defer(struct sb_maker *maker, const struct sb_rule_source *source,
		   const struct sb_line *line, struct sb_error *err);
int sb_hosts_settle(struct sb_maker *maker, struct sb_error *err);
void sb_hosts_forget(struct sb_maker *maker);

/*
 * tools.c: profiles for package managers and builders, chosen by what is in the project.
 *
 *     sb_tools_find() when a profile is chosen -> sb_tool_cache() as one is read
 *                                             -> sb_tools_settle() when all rules are known
 *
 * SECURITY: a project chooses its tools, so what they open is worth nothing outside.
 *
 * Danger: a file that is named package.json would open the caches that programs outside run code
 * from: a package that lies there is unpacked, compiled and run without another look.
 * Price: each project fetches its packages itself.
 * Held by: tests/cli/tool_profiles.py
 *
 * A tool gets one directory of the project's own, which no program outside knows of, by variables.
 */

/* Those that the projects have files of, beside the one that was chosen. */
int sb_tools_find(struct sb_maker *maker, struct sb_error *err);

/* A line "PATH NAME=VALUE". */
int sb_tool_cache(struct sb_maker *maker, const struct sb_rule_source *source, const char *text,
		  struct sb_error *err);

/* Which of the variables are set: those whose usual place is closed. */
int sb_tools_settle(struct sb_setup *setup, struct sb_error *err);

/*
 * fast.c: which directories may be fast roots (policy/fast.h).
 *
 *     sb_fast_note() for each rule that says so -> sb_fast_check() when the policy is sealed
 *
 * Nobody looks at what happens in a fast root, so it must not hold anything that another rule,
 * built in or the user's, is about; and nobody but the user may have chosen it.  What cannot be
 * held is refused, with both rules named.
 */

struct sb_fast_note {
	char *written; /* absolute, links not resolved */
	char *path;    /* canonical */
	char *origin;
	bool cache; /* the project's own, which nobody works in: no guarded name is about it */
};

/*
 * One rule: SB_E_INVALID: no single directory.  SB_E_REFUSED: it stands in a file that lies
 * in a project.
 */
int sb_fast_note(struct sb_maker *maker, const struct sb_rule_source *source, const char *text,
		 const struct sb_resolved *resolved, struct sb_error *err);

/* All of them, against the whole policy.  SB_E_REFUSED. */
int sb_fast_check(const struct sb_maker *maker, struct sb_error *err);

void sb_fast_forget(struct sb_maker *maker);

#endif
