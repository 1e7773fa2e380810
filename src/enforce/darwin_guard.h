/*
 * darwin_guard.h - rows of the guard on their way into a profile, and rules of the user's that open them.
 */
#ifndef SB_ENFORCE_DARWIN_GUARD_H
#define SB_ENFORCE_DARWIN_GUARD_H

#include "enforce/darwin_impl.h"
#include "guard/guard.h"

#define SB_GUARDING_REGEX (256 * 1024) /* what all names of the table take is a fifth of it */

#define SB_ANYWHERE "^(/[^/]+)*" /* what a regular expression about names begins with */

struct sb_span {
	const char *text;
	size_t length;
};

/* A row, or the beginning of one. */
struct sb_item {
	const struct sb_guard_row *row;
	char text[64]; /* its names, without the ** of a tree */
	unsigned count;
	bool tree;
	bool held;
};

struct sb_guarding {
	struct sb_seatbelt *seatbelt;
	const struct sb_policy *policy;
	struct sb_item *items;
	size_t count;
	const char *operations;
	unsigned git_runs; /* of rows of git directories */
	enum sb_op op;     /* what rules of the user's have to allow */
	struct sb_error *err;
	int status;
};

/* --- darwin_item.c ------------------------------------------------------------------------------- */

struct sb_span sb_item_name(const struct sb_item *item, unsigned i);

/* One name behind a slash; all from one on; a name that is not its first. */
void sb_item_put_name(struct sb_buf *out, struct sb_span name);
void sb_item_names(struct sb_buf *out, const struct sb_item *item, unsigned from);
void sb_item_other(struct sb_buf *out, const struct sb_item *item);

/* Can two rows about one name mean the same?  Does what state means lie in tree? */
bool sb_items_overlap(const struct sb_item *a, const struct sb_item *b);
bool sb_item_is_state_of(const struct sb_item *tree, const struct sb_item *state);

/* --- darwin_git.c: filters that rules name, and rules -------------------------------------------- */

void sb_guarding_define_git(struct sb_guarding *guarding);
void sb_guarding_git(struct sb_guarding *guarding);

/*
 * darwin_opened.c: a rule of the user's opens a guarded name if it spells it out, or a directory on the way that is
 * called as the row says; and a file that it names itself (judge/opened.c, which decides the same at run time).
 */
bool sb_opens_any(const struct sb_guarding *guarding);
bool sb_is_opened(const struct sb_guarding *guarding, const struct sb_item *item);

/* (require-not ...) of what is opened of item, and of all files that are named by rules. */
void sb_opened_by_name(struct sb_guarding *guarding, const struct sb_item *item);
void sb_opened_files(struct sb_guarding *guarding);

#endif
