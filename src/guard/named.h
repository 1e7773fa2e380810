/*
 * named.h - paths that some settings name: sb_extras, compared with a path.
 */
#ifndef SB_GUARD_NAMED_H
#define SB_GUARD_NAMED_H

#include "guard/stand.h"

/* The table's row with this pattern. */
const struct sb_guard_row *sb_row_named(const struct sb_guard *guard, const char *pattern);

/* What is said about an extra. */
const struct sb_guard_row *sb_row_of_extra(const struct sb_guard *guard,
					   const struct sb_extra *extra);

/* Of path, if it was named when the run began; out->named then says where it leads. */
const struct sb_guard_row *sb_named_row(const struct sb_guard *guard, const char *path,
					struct sb_guard_answer *out);

/* Beside guard->extras, what links lead to that a person has let in since; not to be released. */
struct sb_extras sb_named_late(const struct sb_guard *guard);

/* Does path lead to what a git config names? */
const struct sb_extra *sb_named_beneath(const struct sb_extras *extras, const char *path);

/* Is path a directory that the user's own core.hooksPath means, in whatever repository? */
const struct sb_extra *sb_named_anywhere(const struct sb_guard *guard, const char *path,
					 size_t length);

/* Git runs names like this one wherever core.hooksPath of a repository around it says. */
const struct sb_guard_row *sb_named_hook(const struct sb_guard *guard,
					 const struct sb_stand *stand);

/* Would a link there stand for, or on the way to, what was named when the run began, or is by a repository around? */
const struct sb_guard_row *sb_named_link(const struct sb_guard *guard,
					 const struct sb_stand *stand);

/* Is path one that the run began with, or on the way to one? */
bool sb_extras_have(const struct sb_guard *guard, const char *path);

#endif
