/*
 * pattern.h - which paths a rule means.
 *
 *     /home/u/logs            the directory and everything beneath it
 *     /home/u/logs/X.txt      with X one asterisk: any name ending in .txt
 *     /home/u/XX/.env         with XX two asterisks: at any depth
 *
 * One asterisk is any run of characters in one name, ? one character, [a-z] or
 * [!a-z] one of a set, two asterisks alone in a component any number of
 * directories; a backslash takes the next character literally.  Hidden names
 * match like others.  A pattern covers what it matches and everything beneath.
 *
 * Specificity decides between rules (DESIGN: the most specific wins): more
 * literal components first, then more components with wildcards.
 */
#ifndef SB_PATH_PATTERN_H
#define SB_PATH_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "sandbash/error.h"

struct sb_pattern {
	char *text;   /* canonical pattern text; parses back to an equal pattern */
	char *prefix; /* the leading literal components as a real path; may be text itself */
	char *glob;   /* the components after prefix, or NULL for a literal pattern */
	unsigned literals;
	unsigned wildcards;
};

/*
 * Parse absolute pattern text.  SB_E_INVALID: relative, a "." or ".." component,
 * an open "[", a trailing backslash, or longer than PATH_MAX.
 */
int sb_pattern_parse(const char *text, struct sb_pattern *out, struct sb_error *err);
void sb_pattern_done(struct sb_pattern *pattern);

/* The pattern that means exactly this path: its special characters get backslashes. */
char *sb_pattern_escape(const char *path);

/* Is text that pattern?  Without memory, yes. */
bool sb_pattern_names(const char *text, const char *path);

/* Does text hold an unescaped wildcard? */
bool sb_pattern_is_glob(const char *text);

/* Does the pattern cover path (canonical, absolute)? */
bool sb_pattern_covers(const struct sb_pattern *pattern, const char *path);

/* The same for a path already known to lie beneath prefix: rest is what follows "prefix/". */
bool sb_glob_covers(const char *glob, const char *rest);

/* Could the pattern, which has wildcards, mean something beneath path?  Path itself does not count. */
bool sb_pattern_reaches(const struct sb_pattern *pattern, const char *path);

/* Does one name match one component of a pattern? */
bool sb_glob_name(const char *glob, size_t glob_length, const char *name, size_t name_length);

/* >0: a is more specific than b, <0: less, 0: equally. */
int sb_pattern_compare(const struct sb_pattern *a, const struct sb_pattern *b);

#endif
