/*
 * view_impl.h - what the files that make a view share.
 */
#ifndef SB_ENFORCE_VIEW_IMPL_H
#define SB_ENFORCE_VIEW_IMPL_H

#include <sys/types.h>

#include "base/each.h"
#include "enforce/view.h"
#include "sys/work.h"

struct sb_view_job {
	const struct sb_view *view;
	int root;                /* of the new world */
	const char *step, *name; /* of the first failure; NULL: there was none */
	int error;
};

/* Notes the first failure; is it one? */
bool sb_view_failed(struct sb_view_job *job, int negative_errno, const char *step,
		    const char *name);

/* Names are relative to the new root.  Each is false when it failed. */
bool sb_view_mkdir(struct sb_view_job *job, const char *name, mode_t mode);
bool sb_view_put(struct sb_view_job *job, const char *name, const char *bytes, size_t length);
bool sb_view_attach(struct sb_view_job *job, int tree, const char *name);
bool sb_view_show(struct sb_view_job *job, const char *path, const char *name);

/*
 * linux_view_net.c: a network of its own, made by a second thread while this one goes on.
 * proc leads to /proc, whatever is mounted there.
 */
struct sb_view_net {
	struct sb_work work;
	bool wanted;
	int proc;
	int made; /* the namespace; -1: none */
};

struct sb_view_begun {
	struct sb_view_made made;
	struct sb_view_net *net;
	struct sb_view_job job; /* of the thread that makes the files, until it has done so */
	struct sb_work builder;
	mode_t mask; /* the caller's umask */
	int proc;    /* a copy of /proc, to be mounted in the view */
};

/* The one that was expected; otherwise it is made if it is wanted, from now on. */
struct sb_view_net *sb_view_net_begin(bool wanted, int proc);

/* It is done; what was made, if it is wanted? */
void sb_view_net_end(struct sb_view_net *net, struct sb_view_made *made);

/* linux_view_etc.c: an /etc with what programs need to start. */
bool sb_view_make_etc(struct sb_view_job *job);

/* linux_view_programs.c: of the directories for programs only those that may be run. */
bool sb_view_keep_programs(struct sb_view_job *job);

#endif
