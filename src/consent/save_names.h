/*
 * save_names.h - under which other names programs save a file.
 *
 * Nobody writes to a file just so: vim makes ".X.swp", tries "4913", renames X to "X~" and
 * creates X anew; sed writes "sedAbCdEf" and renames it onto X.  A person who is asked
 * about each of these stops reading.  One table says which names belong to one save.
 */
#ifndef SB_CONSENT_SAVE_NAMES_H
#define SB_CONSENT_SAVE_NAMES_H

#include <limits.h>
#include <stdbool.h>

enum sb_save_match {
	SB_SAVE_NOT,  /* has nothing to do with it */
	SB_SAVE_NEW,  /* belongs to it if nothing is there yet */
	SB_SAVE_SURE, /* the same, and can mean nothing else: an editor's own form */
};

/* May name be used while file, in the same directory, is saved? */
enum sb_save_match sb_save_match(const char *file, const char *name);

/*
 * To which file in this directory does name, about to be created, belong?  False: to
 * none that can be told.  A file that does not exist is told only from a name that can
 * mean nothing else.  *out_why, static: "vim's swap file".
 */
bool sb_save_file(int directory, const char *name, char out_file[NAME_MAX + 1],
		  const char **out_why);

/* What a name without the file's in it looks like ("sed's temporary file"), or NULL. */
const char *sb_save_temporary(const char *name);

/* Is name, used while file is saved, always the same one? */
bool sb_save_is_fixed(const char *file, const char *name);

#endif
