/*
 * git.h - the git program, started so that nothing of a repository's decides what it does.
 *
 *     sb_git_open() -> sb_git_say() / sb_git_start() ... sb_git_finish() -> sb_git_close()
 *
 * Objects are looked at and made with a git directory of our own, which borrows the repository's objects: none of
 * its settings, attributes, grafts or promises of more objects elsewhere is even read.  Refs are the repository's
 * own; there its settings are read, and those that name a program are overruled.  Either way git runs in a sandbox
 * (enforce/confine.h) in which nobody's files are but the repository's, and no network is but for a URL.
 */
#ifndef SB_REPO_GIT_H
#define SB_REPO_GIT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "sandbash/error.h"

enum sb_git_use {
	SB_GIT_LOOK,      /* at objects */
	SB_GIT_ADD,       /* objects */
	SB_GIT_LOOK_REFS, /* of the repository */
	SB_GIT_SET_REFS,
	SB_GIT_FETCH, /* from url, into the copy of it that is ours */
	SB_GIT_SEND,  /* to url */
};

struct sb_git {
	char *program;   /* absolute */
	char *own;       /* the git directory of our own */
	int lock;        /* held on it, as long as somebody works there */
	char *directory; /* the repository's */
	char *objects;
	char *url;         /* NULL: the repository is on this machine, and directory is it */
	char *login;       /* a header for its server (login.c); or NULL */
	const char *agent; /* the socket of ssh-agent(1), for a URL of ssh's; or NULL */
	const char *home;
	bool best_effort;
};

#define SB_GIT_NOT_STARTED 125 /* the exit status of one that became no git */

struct sb_git_child {
	pid_t process;
	int in, out, errors; /* in and out are pipes; -1: closed */
	size_t at, end;      /* of what was read and not taken yet */
	char bytes[16 * 1024];
};

/* The git on this search path, not one that lies in a project.  SB_E_MISSING: there is none. */
int sb_git_find(const char *search, const char *const *projects, char **out, struct sb_error *err);

/* Make git->own in directory; and say which format its objects have: "sha1", "sha256". */
int sb_git_make_own(struct sb_git *git, const char *directory, struct sb_error *err);
int sb_git_set_format(const struct sb_git *git, const char *format, struct sb_error *err);
void sb_git_close(struct sb_git *git); /* removes own; zeroed is fine */

/* args: behind "git", NULL-terminated.  out is to be finished only after SB_OK. */
int sb_git_start(const struct sb_git *git, enum sb_git_use use, const char *const *args,
		 struct sb_git_child *out, struct sb_error *err);

/* write(2) to a pipe, whose reader may be gone: EPIPE, and no signal. */
ssize_t sb_git_put(int pipe, const void *bytes, size_t length);

/* Bytes for it; SB_E_SYSTEM: it does not read any more.  Then there are no more. */
int sb_git_write(struct sb_git_child *child, const void *bytes, size_t length,
		 struct sb_error *err);
void sb_git_end_input(struct sb_git_child *child);

/*
 * What it says, up to a byte which is not kept (out is emptied first); so many bytes; all, as far as it fits out.
 * *out_more false: it said no more.  SB_E_SYSTEM: it says nothing for ten minutes, or what does not fit.
 */
int sb_git_read_to(struct sb_git_child *child, char end, struct sb_buf *out, bool *out_more,
		   struct sb_error *err);
int sb_git_read(struct sb_git_child *child, char *out, size_t length, struct sb_error *err);
int sb_git_read_all(struct sb_git_child *child, struct sb_buf *out, bool *out_cut,
		    struct sb_error *err);

/*
 * Wait for its end.  A bad one is SB_E_SYSTEM with its own words; but if out_status is not NULL, an exit status
 * below 125 goes there and is none.
 */
int sb_git_finish(struct sb_git_child *child, const char *what, int *out_status,
		  struct sb_error *err);
void sb_git_kill(struct sb_git_child *child); /* the same, whatever it does */
/* One or the other, by what came of talking to it. */
int sb_git_end(struct sb_git_child *child, const char *what, int status, struct sb_error *err);

/* All of that for a command without input; out gets what it says, without a newline at the end. */
int sb_git_say(const struct sb_git *git, enum sb_git_use use, const char *const *args,
	       struct sb_buf *out, int *out_status, struct sb_error *err);

/* login.c: what a server wants to know before it lets somebody in. */

/*
 * Of an https URL: what the user's own git would say, by the helpers of the user's own settings.  Kept in git->login and
 * given to git as a header for this server alone; none is found: git->login stays NULL.
 *
 * SECURITY: a helper is asked before git is, by us.
 *
 * Danger: git itself would ask whichever helper a repository's settings name, in the sandbox or not, and once more after
 * a redirect to another server.
 * Price: helpers that have to ask a person at a terminal are of no use here, and none is told whether it was right.
 * Held by: tests/cli/zone_git_far.py
 */
int sb_git_log_in(struct sb_git *git, const char *search, struct sb_error *err);

#endif
