/*
 * agreed.h - what a command would change, agreed to before it starts (C7).
 *
 *     find (by its text) -> a person says yes -> covers ... -> done
 *
 * Which files these are the preview says (sandbash/preview.h), which of them need a person the policy.  A yes is for
 * these names alone: it answers the command's own questions, which come as ever.  So nothing that is enforced
 * rests on the preview.
 */
#ifndef SB_CONSENT_AGREED_H
#define SB_CONSENT_AGREED_H

#include "consent/grants.h"
#include "sandbash/preview.h"

struct sb_agreed {
	enum sb_op op;
	enum sb_thing thing;
	char *path; /* canonical */
};

struct sb_agreed_list {
	struct sb_agreed *all;
	size_t count;
	bool unsaid; /* it may change more than its text shows */
};

/* What policy would ask about.  sb_agreed_done() ends it, after an error too. */
int sb_agreed_find(const struct sb_policy *policy, const char *command,
		   const struct sb_preview_options *options, struct sb_agreed_list *out,
		   struct sb_error *err);
void sb_agreed_done(struct sb_agreed_list *list);

/* Does a yes to these answer the wish?  Never one about a guarded name, a link that is made, or whose rights a file has. */
bool sb_agreed_covers(const struct sb_agreed_list *list, const struct sb_wish *wish);

/* "create", "change", "delete or move": what would be done, in a question. */
const char *sb_agreed_verb(enum sb_op op);

#endif
