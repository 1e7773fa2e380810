/*
 * links.h - files with other names that we do not know.
 *
 * Every link that the command makes goes through us, so a file with more names than those has
 * one from before, maybe a guarded one or one outside the roots.  Writing to it in place would
 * write to that, too.  So the name gets a copy of its own first, and the others stay as they are.
 *
 * One table per performer.  When in doubt a file has other names.
 */
#ifndef SB_SUPERVISE_LINKS_H
#define SB_SUPERVISE_LINKS_H

#include <stdbool.h>
#include <sys/stat.h>

#include "supervise/resolve.h"

/* The command made another link to this file; info is from before. */
void sb_links_made(const struct stat *info);

/* Look at a name that is about to be removed or replaced; and tell that it was. */
struct sb_leaving {
	bool counts;
	dev_t device;
	ino_t inode;
};
struct sb_leaving sb_links_look(int directory, const char *name);
void sb_links_left(const struct sb_leaving *leaving);

/* Does the file have names from before? */
bool sb_links_foreign(const struct stat *info);

/* Give the name a copy of its own.  spot leads to the copy then.  0, or a negative errno. */
int sb_links_break(struct sb_spot *spot);

#endif
