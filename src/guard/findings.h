/*
 * findings.h - what was found in a directory, as far as a person can read it: what matters most first.
 *
 *     sb_findings_add() ...; sb_guard_answer.detail is the text at any time
 *
 * SECURITY: whoever made the directory chose its names and their order, and a question has room for some.
 *
 * Danger: four names that nobody runs stand in it, and the hook that git runs is among "and 96 more".  So
 * a finding weighs what the table says of its row; one of a row that is not shown yet takes the place of
 * one whose row is; and of the rest it is told how many each program obeys.
 * Held by: tests/unit/test_guard_structure.c, tests/cli/guard_consent.py, tests/mcp/guarded.py
 */
#ifndef SB_GUARD_FINDINGS_H
#define SB_GUARD_FINDINGS_H

#include "guard/guard.h"

enum sb_finding_weight {
	SB_FINDING_UNKNOWN, /* nobody is known to obey that name */
	SB_FINDING_SPARE,   /* a hook by a name that git does not use */
	SB_FINDING_STATE,   /* a file of git's with another form; or nobody could look at it */
	SB_FINDING_OBEYED,
	SB_FINDING_UNSEEN, /* there is more than was looked at */
};

/* By its row and its path. */
enum sb_finding_weight sb_finding_weigh(const struct sb_guard_row *row, const char *path);

/* line: escaped; says_why: also why, so that the row's own words are not needed. */
void sb_findings_add(struct sb_guard_answer *out, const struct sb_guard_row *row,
		     enum sb_finding_weight weight, const char *line, bool says_why);

#endif
