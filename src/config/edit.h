/*
 * edit.h - adding and removing a path in a rule file (S10).
 *
 * Every other byte of the file stays: comments, order, lines we do not understand.
 * A second sandbash waits; a crash leaves the old file.
 */
#ifndef SB_CONFIG_EDIT_H
#define SB_CONFIG_EDIT_H

#include <stdbool.h>

#include "config/place.h"

struct sb_access;

/*
 * Make path (relative to the current directory, "~" is home) writable in file.
 * *out_pattern, malloc'ed, is what was written.  *out_changed false: it was there.
 */
int sb_config_add_path(const struct sb_home *home, const char *file, const char *path,
		       char **out_pattern, bool *out_changed, int *out_missing,
		       struct sb_error *err);

/* The same with any access: a rule that gives path exactly this. */
int sb_config_add_rule(const struct sb_home *home, const char *file, const struct sb_access *access,
		       const char *path, char **out_pattern, bool *out_changed, int *out_missing,
		       struct sb_error *err);

/*
 * A line "connect HOST" (text: as policy/network.h prints it), unless it is there.  SB_E_CONFLICT: the file has another
 * rule with this text.
 */
int sb_config_add_host(const char *file, const char *text, struct sb_error *err);

/* Remove every rule for path.  *out_changed false: there was none. */
int sb_config_remove_path(const struct sb_home *home, const char *file, const char *path,
			  char **out_pattern, bool *out_changed, struct sb_error *err);

/* Make the file, empty, if it is not there. */
int sb_config_touch(const char *file, struct sb_error *err);

#endif
