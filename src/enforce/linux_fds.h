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

struct sb_plan;

struct sb_fds {
	int *files; /* regular files that stay open for reading, standard ones too */
	size_t count;
};

/*
 * Close what must not stay.  SB_E_REFUSED: standard input, output or error is a
 * directory or an O_PATH descriptor.  SB_E_MISSING: a descriptor in keep is not open.
 */
int sb_fds_settle(const int *keep, size_t keep_count, struct sb_fds *out, struct sb_error *err);

/*
 * Open the files that stay again, through the sandbox's mounts, at the same position.
 *
 * SECURITY: a descriptor from outside leads through the writable mounts of outside.
 * Danger: with one opened for reading, modes and times can be changed (fchmod), and
 * /proc/self/fd/N opens a protected file inside a writable directory for writing.
 * Price: the position is no longer shared with the caller.  A standard descriptor of
 * a file that the run may change anyway is therefore left alone.
 * Held by: tests/enforce/fds.py.  A file that cannot be found again by name (deleted,
 * as here-documents are) is left as it is.
 */
void sb_fds_reopen(const struct sb_fds *fds, const struct sb_plan *plan);
void sb_fds_done(struct sb_fds *fds);

#endif
