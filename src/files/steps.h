/*
 * steps.h - a path taken apart, name by name, while links are put in front of it.
 */
#ifndef SB_FILES_STEPS_H
#define SB_FILES_STEPS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#define SB_MAX_LINKS 40 /* as many as the kernel follows: path_resolution(7) */

struct sb_steps {
	bool slash; /* the caller wrote one behind the last name */
	unsigned links;
	char rest[2 * PATH_MAX]; /* what is still to be walked */
};

int sb_steps_init(struct sb_steps *steps, const char *path); /* or -ENAMETOOLONG */

/* 1: the next name; *last: nothing but slashes follows.  0: there is none.  -ENAMETOOLONG. */
int sb_steps_next(struct sb_steps *steps, char name[NAME_MAX + 1], bool *last);

/* A link's target comes next.  -ELOOP: that was one too many; -ENAMETOOLONG, -ENOENT (empty). */
int sb_steps_follow(struct sb_steps *steps, const char *target, size_t length);

/* What is left where a path does not exist: plain names, one slash between.  False: ".." in it. */
bool sb_steps_keep(struct sb_steps *steps, char out[PATH_MAX]);

/*
 * Behind a name that is not there: up again, past what was wanted in it ("a/../b" is "b", as whoever wrote it
 * means: where there is nothing, no link leads elsewhere).  False: it does not come back up.
 */
bool sb_steps_cancel(struct sb_steps *steps);

#endif
