/*
 * ignored.h - is this a file that git ignores, and that was there before the run (P8)?
 *
 * Only asked where the policy protects such files.  A file that was made since the run began is
 * the run's own: nothing of the user's is lost with it, and builds write theirs again and again.
 * When a file was made the kernel says, and nobody can change that; where a filesystem does not
 * keep it, every file counts as old.
 *
 * SECURITY: the rules lie in the project, and whoever is to be held by them writes there.
 *
 * Danger: ".env" is protected until a "!.env" is in some .gitignore, or until a repository of
 * its own begins around it, or until a directory above it has another name.
 * So the guard looks at changes of .gitignore and info/exclude, a .git that was made in the run
 * begins nothing, all old repositories from the file up to the writable root count, and a
 * directory from before is looked through before it is renamed.
 * Price: a few opens per level for each change of an old file, and a person who lists
 * a repository inside an ignored directory has that protected as well.
 * Held by: tests/supervise/ignored.py
 */
#ifndef SB_JUDGE_IGNORED_H
#define SB_JUDGE_IGNORED_H

#include <stdbool.h>
#include <time.h>

#include "sandbash/policy.h"
#include "judge/site.h"

struct sb_ignored {
	bool on;
	bool all_old; /* nothing is anybody's own: a server lives long, and others work meanwhile */
	struct timespec since; /* else what was made later is the run's own */
	/* For a tree that is not on a disk: the root whose rules ignore path; NULL: none.  Or NULL. */
	const char *(*off_disk)(void *context, const char *path, bool directory);
	void *context;
};

/* From now on.  Waits for the next tick of the clock that files are stamped with. */
void sb_ignored_begin(struct sb_ignored *ignored);

/*
 * Does op on what is at site have to be asked about, because git ignores it?  Then *decision, which
 * the policy allowed, becomes what it says about such files.  moved: a directory that is renamed, with
 * all that is in it.
 */
bool sb_ignored_asks(const struct sb_ignored *ignored, const struct sb_policy *policy,
		     enum sb_op op, const struct sb_site *site, bool moved,
		     struct sb_decision *decision);

#endif
