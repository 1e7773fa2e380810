/*
 * walk.h - a walk through a tree by several threads, its results in order.
 *
 *     sb_walk(source, scope, visitor) -> visit() in any thread -> deliver() in the caller's
 *
 * What is still to do is a list in the order of the walk.  A worker takes the first item that
 * nobody works at; a directory is replaced, in its place, by what is in it.  The caller's
 * thread delivers from the front of the list what is done.  So results come in order, early, and
 * what waits is never more than the directories along the way and a bounded backlog.
 */
#ifndef SB_SEARCH_WALK_H
#define SB_SEARCH_WALK_H

#include "search/search.h"

struct sb_walk;

struct sb_walk_file {
	const char *path;
	const char *name;
	sb_search_handle directory;
};

struct sb_walk_visitor {
	void *context;
	unsigned kinds; /* of what is wanted */
	/*
	 * Look into a file, in the thread of this worker (0, 1, ...).  Returns something to
	 * deliver and how many bytes it takes, or NULL.  A walk without visit delivers names.
	 */
	void *(*visit)(void *context, struct sb_walk *walk, unsigned worker,
		       const struct sb_walk_file *file, size_t *out_bytes);
	/* false: enough.  Takes over what visit returned. */
	bool (*deliver)(void *context, const char *path, enum sb_search_kind kind, void *visited);
	void (*discard)(void *visited);
};

enum { SB_WALK_WORKERS = 8 };

unsigned sb_walk_workers(const struct sb_search_scope *scope);

int sb_walk(const struct sb_search_source *source, const struct sb_search_scope *scope,
	    const struct sb_walk_visitor *visitor, struct sb_search_end *out_end,
	    struct sb_error *err);

/* For visit(), often: should it return at once? */
bool sb_walk_stopped(const struct sb_walk *walk);
/* For visit(): end the walk for this reason. */
void sb_walk_stop(struct sb_walk *walk, enum sb_search_why why);
/* For visit(): count something that went wrong. */
void sb_walk_unreadable(struct sb_walk *walk);

#endif
