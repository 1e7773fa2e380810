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

#include "config/setup.h"
#include "policy/text.h"

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
	struct sb_fast_note *fast; /* what is to be fast (fast.h) */
	size_t fast_count;
	size_t within_count;
	uint64_t names[SB_MAKER_NAMES]; /* at the top of the projects: tools.c */
	bool names_listed;
	struct sb_own_host *hosts; /* of profiles of our own: hosts.h */
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
	bool cache; /* the project's own: tools.h */
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

/* Say that a link leads out, and what to write instead. */
int sb_load_refuse_planted(const char *text, const char *link, const char *target,
			   struct sb_error *err);

#endif
