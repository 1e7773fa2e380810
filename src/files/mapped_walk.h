/*
 * mapped_walk.h - from a path in a mapped tree (mapped.h) to a place.
 */
#ifndef SB_FILES_MAPPED_WALK_H
#define SB_FILES_MAPPED_WALK_H

#include "files/mapped.h"

struct sb_mapped_part {
	char *name, *path, *says;
	struct sb_root root;
	struct sb_rule bound;
};

struct sb_mapped_tree {
	struct sb_files_backend base, *inner;
	struct sb_mapped_part *all;
	size_t count;
	char **roots;
};

/* The one that path, "/NAME/...", lies in; NULL: in none. */
struct sb_mapped_part *sb_mapped_part_of(const struct sb_mapped_tree *mapped, const char *path);
const char *sb_mapped_rest(const struct sb_mapped_part *part, const char *path); /* "" or "/..." */

/* Its directory itself, by its real name.  -ESTALE: it has another by now. */
int sb_mapped_open(const struct sb_mapped_tree *mapped, const struct sb_mapped_part *part,
		   struct sb_place *out);

/* The place as the inner backend knows it.  -EROFS: it is in "/". */
int sb_mapped_inner(const struct sb_mapped_tree *mapped, const struct sb_place *place,
		    struct sb_place *out);
int sb_mapped_join(const char *head, const char *tail, char out[PATH_MAX]);

/* Of the table: backend.h. */
int sb_mapped_resolve(struct sb_files_backend *self, const struct sb_root *start, const char *path,
		      unsigned flags, struct sb_place *out);
int sb_mapped_enter(struct sb_files_backend *self, const struct sb_place *dir, const char *name,
		    struct sb_place *out);

#endif
