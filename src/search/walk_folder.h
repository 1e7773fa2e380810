/*
 * walk_folder.h - one directory of a walk: which names in it are wanted.
 *
 * A folder is counted: each piece of work that names something in it holds it.  Its handle is
 * closed as soon as no file in it waits to be opened.
 */
#ifndef SB_SEARCH_WALK_FOLDER_H
#define SB_SEARCH_WALK_FOLDER_H

#include <stdatomic.h>

#include "search/search.h"
#include "tree/ignore.h"

struct sb_folder {
	atomic_uint holders;
	atomic_uint openers; /* those among them that need the handle */
	bool open;
	sb_search_handle handle;
	const struct sb_search_source *source;
	char *path;
	size_t depth;
	bool all_seen; /* the sight need not be asked any more */
	struct sb_ignore_level *level;
};

struct sb_folder_name {
	char *name;
	enum sb_search_kind kind;
	bool wanted, enter, all_seen;
};

struct sb_folder_names {
	struct sb_folder_name *all; /* sorted by name; those neither wanted nor entered are gone */
	size_t count;
	size_t files; /* regular files among the wanted */
	size_t skipped, unreadable;
	char *text; /* holds the names */
};

/* The scope, looked through once. */
struct sb_folder_scope {
	const struct sb_search_scope *scope;
	unsigned kinds;
	size_t start_length; /* bytes of a path before what is relative to start */
	size_t max_depth;
	const atomic_bool *stopped; /* the walk is over: what is chosen matters no more */
};

/* NULL: out of memory.  path is copied, level is held. */
struct sb_folder *sb_folder_new(const struct sb_search_source *source, const char *path,
				size_t depth, bool all_seen, struct sb_ignore_level *level);
void sb_folder_hold(struct sb_folder *folder);
void sb_folder_drop(struct sb_folder *folder); /* NULL is fine */

/* A negative errno, or 0. */
int sb_folder_open(struct sb_folder *folder);
void sb_folder_close(struct sb_folder *folder); /* when it is open */

/* List an open folder, read its .gitignore and choose.  SB_E_NOMEM, SB_E_SYSTEM, SB_OK. */
int sb_folder_list(struct sb_folder *folder, const struct sb_folder_scope *scope,
		   struct sb_folder_names *out);
void sb_folder_names_done(struct sb_folder_names *names);

/* path/name, malloc'ed */
char *sb_folder_path(const char *path, const char *name);

#endif
