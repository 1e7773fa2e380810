/*
 * journals.h - journals of SQLite that a run has made or opened for writing: what they delete if they are left behind.
 *
 *     notice ... -> end
 *
 * By descriptors of directories, as linger.h, and for several threads.  Most are gone long before the end: a place
 * is used again when there is nothing by its name any more.
 */
#ifndef SB_SUPERVISE_JOURNALS_H
#define SB_SUPERVISE_JOURNALS_H

#include <stdbool.h>

/* An act on this name in directory was done.  Does nothing if it is none of a journal: a few ns. */
void sb_journals_notice(int directory, const char *name, const char *path);

/* Is any of them still there? */
bool sb_journals_are_left(void);

/* Tell about those that would delete something.  proc: the host's /proc. */
void sb_journals_end(int proc, void (*tell)(void *context, const char *path, const char *what),
		     void *context);

#endif
