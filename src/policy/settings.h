/*
 * settings.h - what a policy says beside its rules, in one table.
 *
 * A row feeds the config format and --print-policy (word and values), the choice between tiers (which
 * value is stricter, and what the system's file keeps), what a nested run tells the broker
 * around it, and what a server hands to its commands.  A new setting is a new row.
 */
#ifndef SB_POLICY_SETTINGS_H
#define SB_POLICY_SETTINGS_H

#include <stdbool.h>

#include "sandbash/policy.h"

#define SB_SETTING_VALUES 4 /* at most, of one setting */

struct sb_setting_row {
	const char *word; /* in config files and in print */
	const char
		*values[SB_SETTING_VALUES]; /* a value is its place here: the later, the stricter */
	const char *options
		[SB_SETTING_VALUES]; /* that choose it on the command line; NULL: none does */
	int normal;                  /* when nobody says anything */
	int floor; /* from this value on the system's word stays, whatever others say; SB_SETTING_VALUES: never */
	bool system_first; /* below that it counts as the first of all, which others change */
	bool strictest;    /* of all that tiers say, not what the last one says */
};

extern const struct sb_setting_row sb_settings[SB_SETTING_COUNT];

/* SB_E_INVALID, with the values that there are. */
int sb_setting_parse(enum sb_setting setting, const char *text, int *out_value,
		     struct sb_error *err);

/* What holds, from weakest to strongest: the system's file, what others chose, an option. */
int sb_setting_choose(enum sb_setting setting, const int *system, int chosen);

#endif
