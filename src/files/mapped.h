/*
 * mapped.h - a filesystem put together of directories of another: "/" holds nothing but their names.
 *
 *     "/data/a.txt" --> the directory that is held for "data", and "a.txt" in it
 *
 * Whoever sees it this way finds nothing else: ".." ends at "/", and a link leads to where its text does in this
 * tree, absolute or not.  Rules are made for the real names (sb_backend_ops.real); agents hear and say the others.
 * The directories are held from the start: one that is moved away fails with CHANGED.
 */
#ifndef SB_FILES_MAPPED_H
#define SB_FILES_MAPPED_H

#include "files/backend.h"

struct sb_mapped {
	const char *name;        /* in "/" */
	const char *path;        /* the directory: canonical; made if it is not there */
	struct sb_access access; /* at most this may be done in it, and what rules allow */
	bool read_only;          /* it is the mode that lets nothing be changed, not an approval */
	const char *says;        /* why not more, for whoever sees it so: "/data is read-only" */
};

/*
 * inner NULL: the disk; else it outlives what is made here.  0 or a negative errno; -ESTALE: a link stands in
 * the place of a directory.
 */
int sb_files_mapped_new(struct sb_files_backend *inner, const struct sb_mapped *all, size_t count,
			struct sb_files_backend **out);

/* "/", and the name of each; NULL-terminated, and the backend's own: the roots of a view. */
const char *const *sb_files_mapped_roots(const struct sb_files_backend *mapped);

#endif
