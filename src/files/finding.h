/*
 * finding.h - what was judged about one wish, in words.
 */
#ifndef SB_FILES_FINDING_H
#define SB_FILES_FINDING_H

#include "files/view.h"

#define SB_REASON 3072 /* a reason, and all lines about a directory */

/* What was found out about one wish. */
struct sb_finding {
	enum sb_verdict verdict;
	enum sb_files_why why;
	const struct sb_root *root;
	const struct sb_rule *rule;
	bool by_itself; /* no answer for a directory counts */
	bool bound;     /* rule is that of the place in the view, whose origin may be told */
	char reason[SB_GUARD_DETAIL + 88]; /* a row's why, and what was found */
	char found[sizeof((struct sb_guard_answer *)0)->detail]; /* in a directory: lines; or "" */
};

/* Whoever sees other names than those of this machine hears no origin of a rule, nor what a guard has found. */
bool sb_files_is_mapped(const struct sb_files *view);

/* path: as the view shows it. */
void sb_finding_of(const struct sb_files *view, const struct sb_judged *judged, const char *path,
		   struct sb_finding *out);

/* Why, with what was found in a directory, as one line. */
const char *sb_finding_line(const struct sb_files *view, const struct sb_finding *finding,
			    char out[SB_REASON]);

#endif
