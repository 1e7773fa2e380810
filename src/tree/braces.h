/*
 * braces.h - {a,b} and {1..9} taken apart: one pattern becomes several without braces.
 *
 * A brace that opens no alternatives stands for itself.
 */
#ifndef SB_TREE_BRACES_H
#define SB_TREE_BRACES_H

#include <stddef.h>

#include "sandbash/error.h"

struct sb_braces {
	char **all; /* NUL-terminated, in the order a shell would write them */
	size_t count;
};

/* SB_E_INVALID: more than limit patterns, or one of them longer than length_limit. */
#define SB_BRACES_BYTES (256 * 1024)

int sb_braces_expand(const char *pattern, size_t limit, size_t length_limit, struct sb_braces *out,
		     struct sb_error *err);
void sb_braces_done(struct sb_braces *braces);

#endif
