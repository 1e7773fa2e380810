/*
 * git_hides.h - settings with which git outside shows less than there is, publishes more, or throws work away.
 *
 * They run nothing, and most have honest uses, so a person is told of them when the run ends.  Refspecs by which
 * a plain git fetch would replace or delete branches are the exception: these ask.
 */
#ifndef SB_GUARD_GIT_HIDES_H
#define SB_GUARD_GIT_HIDES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * key as sb_git_config has it: section and last part in small letters; value "true" for one that stands alone.  folds:
 * the file system of the repository does not tell "a" from "A".
 */
bool sb_git_key_hides(const char *key, const char *value, bool folds);

/* What git takes for no. */
bool sb_git_is_no(const char *value);

/* A line of info/attributes with which git diff takes files for binary, or does not show what they say. */
bool sb_git_attributes_hide(const char *line, size_t length);

enum sb_git_fetch {
	SB_GIT_FETCH_PLAIN, /* what is there ends under its own name, or nowhere */
	SB_GIT_FETCH_TOLD,  /* under another name of a remote or a tag */
	SB_GIT_FETCH_ASK,   /* in branches and the like, which a fetch that prunes deletes */
};

/* remote.NAME.fetch; the names in it are not looked at. */
enum sb_git_fetch sb_git_fetch_judge(const char *refspec);

#endif
