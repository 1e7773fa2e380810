/* judge_impl.h - between the files of this room. */
#ifndef SB_JUDGE_JUDGE_IMPL_H
#define SB_JUDGE_JUDGE_IMPL_H

#include "judge/judge.h"

/* A guard's row as a rule, for decisions. */
const struct sb_rule *sb_row_rule(const struct sb_guard_row *row);

/*
 * Is rule, which allows something at path, about the very name that is guarded?  named: what a link or a
 * git config names (struct sb_guard_answer); or NULL.
 */
bool sb_rule_opens(const struct sb_rule *rule, const char *path, const struct sb_guard_row *row,
		   const char *named);

/* placed.c: something of this mode gets the name; may a link have it? */
void sb_heed_placed(const struct sb_grounds *grounds, mode_t mode, struct sb_judged *judged);

#endif
