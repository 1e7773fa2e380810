/*
 * file.h - rule files on disk: read whole, changed atomically.
 */
#ifndef SB_CONFIG_FILE_H
#define SB_CONFIG_FILE_H

#include <stdbool.h>

#include "base/buf.h"
#include "sandbash/error.h"

#define SB_CONFIG_LIMIT (1024 * 1024) /* a rule file of a megabyte is a mistake */

/*
 * Read a regular file into out (initialised by the caller).  A missing file is
 * SB_OK with *out_found false; what is no regular file, unreadable or too large is
 * an error.  Never waits on a FIFO.
 */
int sb_config_read(const char *path, struct sb_buf *out, bool *out_found, struct sb_error *err);

/*
 * Hold the directory of a rule file against a second sandbash while it is changed;
 * makes the directory first.  *out_fd: close it to let go.
 */
int sb_config_lock(const char *path, int *out_fd, struct sb_error *err);

/*
 * Replace the file's contents: all of it or, after a crash or on a full disk,
 * nothing.  Keeps its mode; follows a symbolic link to the file it means.  Under the
 * lock only.
 */
int sb_config_replace(const char *path, const char *bytes, size_t length, struct sb_error *err);

/* mkdir -p, whatever the umask; what is missing gets this mode. */
int sb_config_make_dirs(const char *dir, unsigned mode, struct sb_error *err);

#endif
