/*
 * seen.h - what a worker sees of the files: "/" with the directories that it has.
 */
#ifndef SB_FILES_SEEN_H
#define SB_FILES_SEEN_H

#include "base/buf.h"
#include "files/mapped.h"
#include "zones/zones.h"

/* inner NULL: the disk.  Directories that are not there are made. */
int sb_zones_see(const struct sb_zones *zones, struct sb_files_backend *inner,
		 struct sb_files_backend **out, struct sb_error *err);

/* What a worker may hear of a text: real paths of its directories become the names that it knows. */
void sb_zones_reword(const struct sb_zones *zones, const char *text, struct sb_buf *out);

#endif
