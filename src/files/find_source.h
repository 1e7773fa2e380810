/*
 * find_source.h - what the search engine (search.h) walks: a part of a view.
 *
 * A search that starts in a project has the project as its root, so that the .gitignore files
 * above the start count.  What the policy does not let be read without a question is out of
 * sight: names, contents and all beneath.
 */
#ifndef SB_FILES_FIND_SOURCE_H
#define SB_FILES_FIND_SOURCE_H

#include "files/view.h"
#include "search/search.h"

struct sb_find {
	struct sb_job *job; /* NULL: of sb_find_root() */
	const struct sb_files *view;
	struct sb_place place;      /* the start, held, let through the gate */
	const struct sb_root *root; /* it lies in; NULL: in none */
	char base[PATH_MAX];        /* the path of the source's root */
	char start[PATH_MAX];       /* relative to it */
	bool globs_hide;            /* a rule with wildcards hides something */
	struct sb_search_disk disk;
	struct sb_search_source source;
};

/* path NULL: the first root. */
int sb_find_open(struct sb_job *job, const char *path, struct sb_find *out);
void sb_find_close(struct sb_find *find);

/* A path of the engine relative to the start: "" when it is the start. */
const char *sb_find_relative(const struct sb_find *find, const char *path);

/* An error of the engine. */
int sb_find_fail(struct sb_find *find, const struct sb_error *why);

/* --- find_backend.c --- */

/* Search from this directory of the view's backend. */
void sb_find_use_backend(struct sb_find *find, int directory);

/* The source of a root alone, all of it in sight: for .gitignore files. */
void sb_find_root(const struct sb_files *view, const struct sb_root *root, struct sb_find *out);

#endif
