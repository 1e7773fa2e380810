/*
 * verdict.h - what an act on one name means, and what is said about it.
 */
#ifndef SB_GUARD_VERDICT_H
#define SB_GUARD_VERDICT_H

#include "guard/stand.h"

/* Into out; both return the verdict. */
enum sb_guard_verdict sb_say(struct sb_guard_answer *out, const struct sb_guard_row *row,
			     enum sb_guard_verdict verdict);
enum sb_guard_verdict sb_say_plain(struct sb_guard_answer *out);

/* About a name that is on hold. */
enum sb_guard_verdict sb_say_on_hold(const struct sb_guard *guard, struct sb_guard_answer *out);

/* Before the first word. */
void sb_say_nothing(struct sb_guard_answer *out);

enum sb_guard_verdict sb_judge_name(const struct sb_guard *guard, enum sb_guard_act act,
				    struct sb_stand *stand, struct sb_guard_answer *out);

/* Is there, beside the name, what git would obey in a git directory? */
enum sb_guard_verdict sb_judge_beside(const struct sb_guard *guard, const struct sb_stand *stand,
				      struct sb_guard_answer *out);

/* "refs" or "objects" is made.  links: what gets the name is a link, or brings some. */
enum sb_guard_verdict sb_judge_structure(const struct sb_guard *guard, struct sb_stand *stand,
					 bool links, struct sb_guard_answer *out);

/* moved.c: what is in directory (-1: nobody knows), now at source, gets the name of stand. */
enum sb_guard_verdict sb_judge_arrival(const struct sb_guard *guard, struct sb_stand *stand,
				       const char *source, int directory,
				       struct sb_guard_answer *out);

/* A directory leaves, and takes away what may be there to stop something: hooks. */
enum sb_guard_verdict sb_judge_departure(const struct sb_guard *guard,
					 const struct sb_guard_place *place,
					 struct sb_guard_answer *out);

#endif
