/*
 * worker.h - workers: each sees the directories that it declares, and never more than who calls it.
 *
 *     sb_workshop_open() --> sb_worker_open() --> sb_worker_read(), ... --> sb_worker_close()
 *                                   |
 *                                   +--> sb_worker_delegate() --> a child, with its own declaration
 *
 * A project offers directories by name (golem-forge.config.yaml, sandbash.yaml), a worker's file (NAME.worker)
 * declares which of them it needs.  To a worker "/" holds these and nothing else: "/data/a.txt" is a.txt in the
 * directory that the project calls data, ".." ends at "/", a link leads nowhere else, and no result or error has
 * a path of this machine in it.  Who declares nothing sees an empty "/".
 *
 * Mode is capability (ro, rw), approval is consent (preApproved, ask, blocked; writing and deleting apart).  What
 * asks goes to the consent callback, each time; without one the answer is no.  The rules of the user's
 * configuration, and guarded names, count on top: a file of a project makes them stricter, never looser.
 *
 * All of sandbash/files.h works on a worker's files, edit and grep among them: sb_worker_files().
 */
#ifndef SANDBASH_WORKER_H
#define SANDBASH_WORKER_H

#include <stdbool.h>
#include <stddef.h>

#include "sandbash/error.h"
#include "sandbash/files.h"
#include "sandbash/sandbox.h"

struct sb_workshop; /* a project, as workers see it */
struct sb_worker_view;

/*
 * directory: a project of the sandbox, or beneath one; NULL: the first.  backend: where its directories
 * are, on this machine (NULL) or in memory (sb_files_memory_new(), sb_files_memory_limit(): what does not fit is
 * SB_FILES_NO_SPACE).  Sandbox and backend outlive it.  Mistakes in the file are told with line and column.
 */
int sb_workshop_open(struct sb_sandbox *sandbox, const char *directory,
		     struct sb_files_backend *backend, struct sb_workshop **out,
		     struct sb_error *err);
void sb_workshop_close(struct sb_workshop *workshop); /* NULL is fine; no worker may be open */

/* The names that the project offers, sorted; NULL for i beyond the last. */
const char *sb_workshop_zone(const struct sb_workshop *workshop, size_t i);

/*
 * The worker of a file, called by the user; relative to the current directory.  Its directories are made if they are
 * not there.  files: callbacks and limits, or NULL; it is copied, and holds for children, too.
 */
int sb_worker_open(struct sb_workshop *workshop, const char *file,
		   const struct sb_files_options *files, struct sb_worker_view **out,
		   struct sb_error *err);

/*
 * A child: exactly what its file declares, of what parent has.  SB_E_REFUSED: it declares more, "Child requests 'rw'
 * but parent only has 'ro'".  Independent of the parent from then on.
 */
int sb_worker_delegate(const struct sb_worker_view *parent, const char *file,
		       struct sb_worker_view **out, struct sb_error *err);
void sb_worker_close(struct sb_worker_view *view); /* NULL is fine */

const char *sb_worker_name(const struct sb_worker_view *view);
const char *sb_worker_text(const struct sb_worker_view *view); /* behind the front matter */

/* Does what it reads come from others ("container", the default), or from the user and those he works with? */
bool sb_worker_needs_container(const struct sb_worker_view *view);

enum sb_zone_access { SB_ZONE_ACCESS_NONE, SB_ZONE_ACCESS_RO, SB_ZONE_ACCESS_RW };

enum sb_zone_access sb_worker_access(const struct sb_worker_view *view, const char *zone);
const char *sb_worker_zone(const struct sb_worker_view *view, size_t i); /* NULL: no more */

/* Its files, for sandbash/files.h; closed with the worker. */
struct sb_files *sb_worker_files(const struct sb_worker_view *view);

/*
 * The usual ones in short; each returns 0 or a negative enum sb_files_code, and fills err (may be NULL).  read
 * and write are about bytes; write and mkdir make missing directories; delete takes files and empty directories.
 */
int sb_worker_read(const struct sb_worker_view *view, const char *path, struct sb_files_text *out,
		   struct sb_files_error *err);
int sb_worker_write(const struct sb_worker_view *view, const char *path, const char *data,
		    size_t length, struct sb_files_error *err);
int sb_worker_delete(const struct sb_worker_view *view, const char *path,
		     struct sb_files_error *err);
int sb_worker_exists(const struct sb_worker_view *view, const char *path, bool *out_exists,
		     struct sb_files_error *err);
int sb_worker_list(const struct sb_worker_view *view, const char *path,
		   struct sb_files_entries *out, struct sb_files_error *err);
int sb_worker_stat(const struct sb_worker_view *view, const char *path, struct sb_files_info *out,
		   struct sb_files_error *err);
int sb_worker_mkdir(const struct sb_worker_view *view, const char *path,
		    struct sb_files_error *err);

#endif
