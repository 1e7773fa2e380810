/*
 * learn_set.h - the smallest set of rules for what a run needed.
 *
 *     zeroed -> add ... -> group -> all of them are rules -> done
 *
 * A need is a path and the operations that a rule for it has to allow.  Needs for one path are one;
 * several in one directory become one for the directory, if whoever asks lets that be opened as a
 * whole; what another one covers is left out.  Nothing here looks at the disk.
 */
#ifndef SB_CLI_LEARN_SET_H
#define SB_CLI_LEARN_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "sandbash/policy.h"

#define SB_LEARN_CROWD 3 /* so many names in one directory are about the directory */

#define SB_LEARN_ALL ((1u << SB_OP_COUNT) - 1)

struct sb_need {
	char *path;   /* canonical */
	unsigned ops; /* what its rule allows: a bit for each enum sb_op, reading among them */
	unsigned long count; /* of operations that it is for */
	size_t names;        /* of paths that it is for */
	bool known;          /* from an earlier run: count is 0 then */
	bool alone;          /* its directory cannot be opened as a whole */
	const char *cache;   /* "npm's cache", static; or NULL */
	char *overrules;     /* origin of the rule that it makes an exception to; or NULL */
	char programs[96];   /* who needed it, escaped: "npm, node" */
};

struct sb_learned {
	struct sb_need *all;
	size_t count;
};

/* path, overrules and the program's name, which may be NULL, are copied.  SB_E_NOMEM. */
int sb_learned_add(struct sb_learned *needs, const struct sb_need *need, const char *program,
		   struct sb_error *err);
void sb_learned_done(struct sb_learned *needs);

/* May there be a rule for this directory that allows these operations? */
typedef bool (*sb_may_open)(void *context, const char *directory, unsigned ops);

/* Afterwards they are ordered as a tree is walked, and no rule of them takes away what another one gives. */
int sb_learned_group(struct sb_learned *needs, sb_may_open may_open, void *context,
		     struct sb_error *err);

struct sb_access sb_learned_access(const struct sb_need *need);

#endif
