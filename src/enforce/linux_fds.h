/*
 * linux_fds.h - descriptors the caller left open.
 *
 * A descriptor opened outside leads past mounts and Landlock, so above standard
 * error only what cannot do harm stays: pipes (process substitution) and regular
 * files open for reading.  The rest is closed unless the user named it.  In a view, which
 * has files of its own, not even these stay.
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
	bool only_named; /* of those above standard error */
};

/*
 * Close what must not stay.  SB_E_REFUSED: standard input, output or error is a
 * directory or an O_PATH descriptor; or one of them, or of keep, is a socket that is not
 * bound to one peer (below), or a handle on something outside (a pidfd).  SB_E_MISSING: a descriptor in keep is not open.
 *
 * SECURITY: a socket that stays is connected, or waits for connections.
 *
 * Danger: a datagram socket sends to any address without connect(): to any unix socket outside,
 * or, when the network is off, to any host, since it belongs to the network that it was made in.
 * So does a stream that is not connected yet, and one of TCP that dissolves its connection first.
 * Price: none of the network's when that is off, nor of datagrams, as in `sandbash cmd <socket`.
 * Held by: tests/enforce/fds.py
 */
int sb_fds_settle(const int *keep, size_t keep_count, const struct sb_plan *plan,
		  struct sb_fds *out, struct sb_error *err);

/*
 * Open the files that stay again, through the sandbox's mounts, at the same position.
 *
 * SECURITY: a descriptor from outside leads through the writable mounts of outside.
 * Danger: with one opened for reading, modes and times can be changed (fchmod), and
 * /proc/self/fd/N opens a protected file inside a writable directory for writing.
 * Price: the position is no longer shared with the caller.  A standard descriptor of
 * a file that the run may change anyway is therefore left alone.
 * Held by: tests/enforce/fds.py.  A file that cannot be found again by name (deleted,
 * as here-documents are) is left as it is.  Without mounts only a standard input that is open for writing.
 */
void sb_fds_reopen(const struct sb_fds *fds, const struct sb_plan *plan, bool mounts);
void sb_fds_done(struct sb_fds *fds);

#endif
