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

struct sb_config_added {
	char *pattern; /* what was written; malloc'ed */
	bool changed;  /* false: it was there */
	int missing;   /* 0, or why the path cannot be found */
};

/*
 * A rule in file that gives path (relative to the current directory, "~" is home) exactly this access.  Wildcards are characters
 * of a name.
 */
int sb_config_add_rule(const struct sb_home *home, const char *file, const struct sb_access *access,
		       const char *path, struct sb_config_added *out, struct sb_error *err);

/*
 * A line "connect HOST" (text: as policy/network.h prints it), unless it is there.  SB_E_CONFLICT: the file has another
 * rule with this text.
 */
int sb_config_add_host(const char *file, const char *text, struct sb_error *err);

/* Remove every rule for path; if there is none, every rule whose pattern that is.  *out_changed false: there was none. */
int sb_config_remove_path(const struct sb_home *home, const char *file, const char *path,
			  char **out_pattern, bool *out_changed, struct sb_error *err);

/* Make the file, empty, if it is not there. */
int sb_config_touch(const char *file, struct sb_error *err);

#endif
