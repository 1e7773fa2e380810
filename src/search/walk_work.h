/*
 * walk_work.h - what a walk has still to do: a list in the order of the results.
 *
 * A piece of work is a directory to list, or some names in one directory.  A directory that
 * was listed is replaced, in its place, by what is in it.  The list is a ring through
 * walk->ends; who changes it holds walk->lock.
 */
#ifndef SB_SEARCH_WALK_WORK_H
#define SB_SEARCH_WALK_WORK_H

#include <pthread.h>

#include "search/walk.h"
#include "search/walk_folder.h"

struct sb_work_item {
	char *name;
	enum sb_search_kind kind;
	void *visited;
};

enum sb_work_state { SB_WORK_WAITS, SB_WORK_TAKEN, SB_WORK_DONE };

/* A piece of the list: a directory to list, or names in one directory. */
struct sb_work {
	struct sb_work *next, *previous;
	enum sb_work_state state;
	struct sb_folder *folder;   /* of the names, or the directory itself */
	struct sb_work_item *items; /* NULL: a directory */
	size_t count;
	char *text;   /* holds the names */
	size_t bytes; /* that wait for delivery */
	bool opener;  /* needs the folder's handle */
};

struct sb_walk {
	const struct sb_search_source *source;
	const struct sb_walk_visitor *visitor;
	struct sb_folder_scope scope;
	unsigned workers;

	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t more;  /* for workers: something waits, or it is over */
	pthread_cond_t front; /* for the caller: the front is done, or it is over */
	struct sb_work ends;  /* the list is a ring through this */
	size_t backlog;       /* bytes done and not delivered */
	struct sb_search_end end;
	atomic_bool nomem;

	atomic_bool stopped;
	atomic_uint open_folders;
	atomic_uint_fast64_t unreadable;
};

/* The list that takes a directory's place. */
struct sb_work_cut {
	struct sb_walk *walk;
	struct sb_folder *folder;
	struct sb_work first; /* a ring of its own */
};

void sb_work_insert(struct sb_work *place, struct sb_work *work); /* before place */
void sb_work_unlink(struct sb_work *work);

/* NULL: out of memory.  names 0: the folder itself, to be listed.  The folder is held. */
struct sb_work *sb_work_new(struct sb_folder *folder, size_t names);
void sb_work_free(struct sb_walk *walk, struct sb_work *work); /* NULL is fine */
void sb_work_drop_all(struct sb_walk *walk, struct sb_work *ring);

/* It needs the folder's handle no more; the last one closes it. */
void sb_work_release_opener(struct sb_walk *walk, struct sb_work *work);

/* Those of the names that are wanted, as one piece.  false: out of memory. */
bool sb_work_add_names(struct sb_work_cut *cut, const struct sb_folder_name *from, size_t count);

/* In a worker: list the directory, put what is in it in its place, free it. */
void sb_walk_list_directory(struct sb_walk *walk, struct sb_work *directory);

#endif
