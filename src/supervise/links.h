/*
 * links.h - files with other names that we do not know.
 *
 * Every link that the command makes goes through us, so a file with more names than those has
 * one from before, maybe a guarded one or one outside the roots.  Writing to it in place would
 * write to that, too.  So the name gets a copy of its own first, and the others stay as they are.
 *
 * One table per performer.  When in doubt a file has other names.  A file is known by its number and
 * the time it was made, where the filesystem keeps that: numbers are used again.
 */
#ifndef SB_SUPERVISE_LINKS_H
#define SB_SUPERVISE_LINKS_H

#include <stdbool.h>
#include <sys/stat.h>

#include "supervise/resolve.h"

/* The command made another link to this file; what is known of it is from before. */
void sb_links_made(const struct sb_spot *file);

/* Look at a name that is about to be removed or replaced; and tell that it was. */
struct sb_leaving {
	bool counts;
	dev_t device;
	ino_t inode;
};
struct sb_leaving sb_links_look(int directory, const char *name);
void sb_links_left(const struct sb_leaving *leaving);

/* Does the file, which we have found by one of its names, have names from before? */
bool sb_links_foreign(const struct sb_spot *file);

/* Have all the names that it has been made by the command, whatever they are?  For spots that are lost. */
bool sb_links_are_ours(const struct sb_spot *file);

/* Give the name a copy of its own.  spot leads to the copy then.  0, or a negative errno. */
int sb_links_break(struct sb_spot *spot);

#endif
