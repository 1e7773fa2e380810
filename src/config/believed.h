/*
 * believed.h - whether sandbash's own files are where a variable says.
 *
 * own.c knows projects; here it is about what rules open, in this run or in one before it.
 */
#ifndef SB_CONFIG_BELIEVED_H
#define SB_CONFIG_BELIEVED_H

#include "sandbash/error.h"

struct sb_maker;

/* Before any rule is read.  SB_E_REFUSED: a run with a profile could have written the rules. */
int sb_believed_by_profiles(struct sb_maker *maker, struct sb_error *err);

/* When all rules are read, and no built-in one.  SB_E_REFUSED: this run could write the next one's. */
int sb_believed_by_rules(struct sb_maker *maker, struct sb_error *err);

#endif
