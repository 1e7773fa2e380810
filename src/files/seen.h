/*
 * seen.h - what a view of the files is made for: a user's home; a worker, who sees "/" with the directories that it has.
 */
#ifndef SB_FILES_SEEN_H
#define SB_FILES_SEEN_H

#include "base/buf.h"
#include "files/mapped.h"
#include "config/place.h"
#include "zones/zones.h"

/* inner NULL: the disk.  Directories that are not there are made. */
int sb_zones_see(const struct sb_zones *zones, struct sb_files_backend *inner,
		 struct sb_files_backend **out, struct sb_error *err);

/* What a worker may hear of a text: real paths of its directories become the names that it knows. */
void sb_zones_reword(const struct sb_zones *zones, const char *text, struct sb_buf *out);

/* A view for the user whose home this is; audit, of what rules allow, too, and consent may be NULL. */
struct sb_files_options sb_files_for(const struct sb_home *home, sb_files_consent consent,
				     sb_files_audit audit, void *context);

#endif
