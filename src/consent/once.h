/*
 * once.h - "once": one process, one file, and the names under which it is saved.
 *
 *     {0} -> add / find / made ... -> done
 *
 * Also the other side of a denial: whoever may not make ".notes.txt.swp" would next be
 * asked about "notes.txt", so the names around a denied one are denied to that process.
 * Bounded: the oldest gives way, and is asked about again.  A grant pins its directory.
 */
#ifndef SB_CONSENT_ONCE_H
#define SB_CONSENT_ONCE_H

#include "consent/grants.h"
#include "consent/identity.h"

/* What may be done to a file, as bits: one per operation, and one for metadata. */
enum {
	SB_ACT_READ = 1u << SB_READ,
	SB_ACT_DELETE = 1u << SB_DELETE,
	SB_ACT_METADATA = 1u << SB_OP_COUNT,
	SB_ACT_CHANGE = 1u << SB_MODIFY | 1u << SB_CREATE | SB_ACT_DELETE | SB_ACT_METADATA,
};

/* What stands at a wish's name at this moment, and what the wish would do to it. */
struct sb_sight {
	struct stat info;               /* if it exists; a link is not followed */
	struct sb_identity where, self; /* the directory; the file, if it exists */
	bool exists;
	bool barred; /* nobody knows whether it does: a name too long, a directory closed */
};

/* False, with errno: not even the directory can be looked at. */
bool sb_look(const struct sb_wish *wish, struct sb_sight *out);

static inline unsigned sb_act_of(const struct sb_wish *wish)
{
	return wish->metadata ? SB_ACT_METADATA : 1u << wish->op;
}

#define SB_ONCE_MAX 128 /* a person answers questions; nobody has answered that many */

struct sb_once;

struct sb_once_list {
	struct sb_once *list[SB_ONCE_MAX]; /* oldest first */
	size_t count;
	unsigned long number; /* what is added gets it: the answer's (grants.h) */
};

void sb_once_done(struct sb_once_list *list);

/* SB_ANSWER_ONCE, SB_ANSWER_DENY, or SB_ANSWER_NONE. */
enum sb_answer sb_once_find(const struct sb_once_list *list, const struct sb_wish *wish,
			    const struct sb_sight *sight);

/* answer is SB_ANSWER_ONCE or SB_ANSWER_DENY. */
int sb_once_add(struct sb_once_list *list, const struct sb_wish *wish, const struct sb_sight *sight,
		enum sb_answer answer, struct sb_error *err);

/* Is this the writing of a file, so that the names count under which one is saved? */
bool sb_once_saves(const struct sb_wish *wish, const struct sb_sight *sight);

void sb_once_made(struct sb_once_list *list, const struct sb_wish *wish);
void sb_once_exited(struct sb_once_list *list, pid_t process);

/* Those that are a yes: grants.h. */
void sb_once_each(const struct sb_once_list *list, sb_standing_found found, void *context);
/* All with this number; false: there is none. */
bool sb_once_take_back(struct sb_once_list *list, unsigned long number);

#endif
