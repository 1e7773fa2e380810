/*
 * zones.h - what a project offers to workers, what a worker asks for, and what it gets.
 *
 *     sb_project_load() -> what there is ----------------+
 *                                                        +-> sb_worker_grant() -> what a worker has
 *     sb_worker_load()  -> what it declares -------------+        |
 *                                                                 v
 *     sb_worker_load()  -> what a child declares --------> sb_worker_grant() -> what the child has
 *
 * A zone is a directory of the project that workers know as "/NAME".  What somebody has is the ceiling for
 * whoever he calls: asking for more is an error, asking for nothing gives nothing.  Mode is capability,
 * approval is consent; of two approvals the stricter counts.
 */
#ifndef SB_ZONES_ZONES_H
#define SB_ZONES_ZONES_H

#include <stdbool.h>
#include <stddef.h>

#include "sandbash/error.h"

enum sb_zone_mode { SB_ZONE_RO, SB_ZONE_RW }; /* in order of what they allow */

enum sb_approval { SB_PRE_APPROVED, SB_APPROVAL_ASK, SB_APPROVAL_BLOCKED }; /* strictest last */

/* Of a zone: what a program outside obeys for where it lies, whatever it is called in a view. */
struct sb_zone_part {
	char *pattern; /* behind the zone's path and a slash */
	char *origin;  /* who does: "git: ..." */
};

struct sb_zone {
	char *name;
	char *path; /* the directory: canonical, may not be there yet; of a declaration NULL */
	enum sb_zone_mode mode;
	enum sb_approval write, remove;
	unsigned line, column;      /* where a file says so; 0: none does */
	struct sb_zone_part *parts; /* sb_zones_obeyed() */
	size_t part_count;
};

struct sb_zones {
	struct sb_zone *all; /* sorted by name */
	size_t count;
};

struct sb_project {
	char *directory; /* canonical */
	char *file;      /* NULL: there is none, and the default zones count */
	bool direct;     /* zones are directories of the project, not of root */
	char *root;      /* canonical; of zones that are not direct */
	struct sb_zones zones;
};

/* Who made what the worker reads decides how far it is trusted. */
enum sb_isolation {
	SB_ISOLATION_CONTAINER, /* the default: sees its zones and a read-only system, nothing else */
	SB_ISOLATION_ZONES,     /* its files are the user's own, or a collaborator's */
};

struct sb_worker {
	char *file, *name, *description;
	struct sb_zones declared;
	enum sb_isolation isolation;
	bool network;
	char **commands; /* NULL-terminated; NULL: any.  Names or absolute paths */
	char **workers;  /* files of those that it may call, canonical; NULL-terminated, or NULL */
	char *text;      /* behind the front matter */
};

extern const char *const sb_project_files[]; /* their names; NULL-terminated */

/*
 * The project that directory (canonical) lies in: the nearest upward with a file, in directories of the same owner and on
 * the same disk, beneath home; if none has, directory itself.  SB_E_REFUSED: one has that others can write to.
 */
int sb_project_find(const char *directory, const char *home, char **out, struct sb_error *err);
/* directory is canonical.  Two files, a zone outside, two that overlap: SB_E_INVALID, with the line. */
int sb_project_load(const char *directory, struct sb_project *out, struct sb_error *err);
void sb_project_done(struct sb_project *project);

int sb_worker_load(const char *file, struct sb_worker *out, struct sb_error *err);
void sb_worker_done(struct sb_worker *worker);

/*
 * What the worker has if it is called by parent, which has so much; parent NULL: by the user, in a project that
 * offers it.  SB_E_REFUSED: "Child requests 'rw' but parent only has 'ro'".
 */
int sb_worker_grant(const struct sb_worker *worker, const struct sb_zones *has,
		    const struct sb_worker *parent, struct sb_zones *out, struct sb_error *err);

/*
 * The zone's directory as an O_PATH descriptor.  What is not there yet is made, step by step from the project down,
 * through no link: SB_E_REFUSED, there is one now.
 */
int sb_zone_open(const struct sb_project *project, const struct sb_zone *zone, int *out_fd,
		 struct sb_error *err);

/* Takes what zone holds, also if that fails; a NULL name is "out of memory". */
int sb_zones_add(struct sb_zones *zones, struct sb_zone zone, struct sb_error *err);

const struct sb_zone *sb_zones_find(const struct sb_zones *zones, const char *name);
void sb_zones_done(struct sb_zones *zones);

const char *sb_zone_mode_name(enum sb_zone_mode mode);
const char *sb_approval_name(enum sb_approval approval);
const char *sb_isolation_name(enum sb_isolation isolation);

#endif
