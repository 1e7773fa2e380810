/*
 * linux_fds.h - descriptors the caller left open.
 *
 * A descriptor opened outside leads past mounts and Landlock, so above standard
 * error only what cannot do harm stays: pipes (process substitution) and regular
 * files open for reading.  The rest is closed unless the user named it.
 */
#ifndef SB_ENFORCE_LINUX_FDS_H
#define SB_ENFORCE_LINUX_FDS_H

#include <stdbool.h>
#include <stddef.h>

#include "sandbash/error.h"

struct sb_fds {
	int *files; /* regular files that stay open for reading */
	size_t count;
};

/*
 * Close what must not stay.  SB_E_REFUSED: standard input, output or error is a
 * directory or an O_PATH descriptor.  SB_E_MISSING: a descriptor in keep is not open.
 */
int sb_fds_settle(const int *keep, size_t keep_count, struct sb_fds *out, struct sb_error *err);

/*
 * Open the files that stay again, through the read-only mounts, at the same
 * position: their old descriptors could change modes and times through the
 * writable ones.  A file that cannot be found again by name is left as it is.
 */
void sb_fds_reopen(const struct sb_fds *fds);
void sb_fds_done(struct sb_fds *fds);

#endif
