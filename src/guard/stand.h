/*
 * stand.h - where in the table a path stands.
 *
 * The first look is at the name and its parent's name alone: one lookup each, no system call.
 * Only names that the table knows go further, and only git's ask the disk.
 */
#ifndef SB_GUARD_STAND_H
#define SB_GUARD_STAND_H

#include "guard/guard_impl.h"

/* One of the last components of a path, as it is written. */
struct sb_name {
	const char *text;
	size_t length;
};

struct sb_stand {
	const struct sb_guard_place *place;
	struct sb_name at[SB_MAX_NAMES]; /* 0: the name itself, 1: its directory, ... */
	struct sb_folded folded[SB_MAX_NAMES];
	bool is_folded[SB_MAX_NAMES];
	size_t directory_length; /* of place->path without the name */
	bool has_dot;            /* some component may begin with a dot */
	bool held;               /* some component is on hold: sb_guard_is_held() */
	bool has_open;           /* some component is open-ended: git_files.h */
	const char *in_git;  /* of the path what lies in its innermost git directory in a .git */
	const char *in_bare; /* behind a directory called NAME.git, maybe a bare repository */
};

/* One pass over the path: its last names, and whether any begins with a dot. */
void sb_stand_split(const struct sb_guard_place *place, struct sb_stand *out);

/* Is the name one that means: on hold? */
bool sb_name_is_on_hold(const char *name, size_t length);

/* The name that is index levels up, folded. */
const struct sb_folded *sb_stand_name(struct sb_stand *stand, unsigned index);

/* What it may be: enum sb_roles. */
unsigned sb_stand_roles(const struct sb_guard *guard, struct sb_stand *stand, unsigned index);

/* Is it called .git? */
bool sb_stand_is_dot_git(struct sb_stand *stand, unsigned index);

/* "*.code-workspace", "<git>/sharedindex.*" and their like: the few patterns without such a name */
bool sb_stand_has_ending(const struct sb_guard *guard, const struct sb_stand *stand);

/* The pattern that the name fits; of one that is state, anything may lie there.  NULL: none. */
const struct sb_pattern_row *sb_stand_row(const struct sb_guard *guard, struct sb_stand *stand);
bool sb_pattern_is_state(const struct sb_pattern_row *pattern);

/*
 * The guarded tree ("**") that the path lies in; they all begin with a dot.  What is state in one may lie in
 * another all the same.  state: a pattern that the name itself fits, or NULL.  Trees of state count if that
 * is asked for.
 */
const struct sb_pattern_row *sb_stand_tree(const struct sb_guard *guard,
					   const struct sb_stand *stand,
					   const struct sb_pattern_row *state, bool of_state);

/* The pattern in which the name would stand for a directory; start at *from, which moves on. */
const struct sb_pattern_row *sb_stand_part(const struct sb_guard *guard, struct sb_stand *stand,
					   size_t *from, unsigned *out_position);

#endif
