/*
 * covered.h - what was allowed so far, for the gates of entries.
 *
 * By operation: a yes to reading out there is none to writing out there, and the two ends of a move or
 * copy are different operations.
 */
#ifndef SB_FILES_COVERED_H
#define SB_FILES_COVERED_H

#include <stdbool.h>
#include <stddef.h>

#include "sandbash/policy.h"

struct sb_covered {
	unsigned whys[SB_OP_COUNT]; /* bits: 1 << enum sb_files_why */
	char **paths;               /* asked about one by one, allowed; the first byte is the op */
	size_t count;
	struct sb_said *said; /* bytes that were asked about ahead, allowed */
};

void sb_covered_done(struct sb_covered *covered);

/* Bytes that land at path were, or are, allowed by somebody who was asked.  data NULL: unseen ones. */
bool sb_covered_has_bytes(const struct sb_covered *covered, const char *path, const char *data,
			  size_t length);
int sb_covered_add_bytes(struct sb_covered *covered, const char *path, const char *data,
			 size_t length);

#endif
