/*
 * rules.h - rules as people write them, made absolute and canonical.
 */
#ifndef SB_CONFIG_RULES_H
#define SB_CONFIG_RULES_H

#include <stdbool.h>

#include "sandbash/error.h"

struct sb_resolved {
	char *pattern; /* absolute pattern text, its literal part canonical */
	char *path;    /* the same as a plain path; NULL for a pattern with wildcards */
	char *link;    /* the name as written, when a symbolic link stands there; else NULL */
	char *written; /* the way to its literal part as written, where links may stand in it; or NULL */
	char *through;  /* a link in one of roots that was followed on the way, or NULL */
	bool leads_out; /* ... and led out of that root */
	int missing;    /* 0, or why a literal path cannot be found: ENOENT, ENOTDIR, EACCES */
	bool is_glob;
};

/* What the text of a rule is read against. */
struct sb_rule_base {
	const char *directory; /* canonical; text is relative to it */
	const char *home;      /* is "~" */
	/* Text that names an existing file as it stands is taken for that file even if it holds wildcard
	 * characters.  For grants only: with a rule that takes away, a file called "*" could otherwise disarm
	 * it. */
	bool may_be_literal;
	bool is_literal; /* text is a path, whether it is there or not */
	const char *const
		*roots; /* that commands can write to; NULL: links in them do not matter */
};

int sb_rule_resolve(const struct sb_rule_base *base, const char *text, struct sb_resolved *out,
		    struct sb_error *err);
void sb_resolved_done(struct sb_resolved *resolved);

#endif
