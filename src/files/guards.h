/*
 * guards.h - what the file tools ask about beyond the policy's rules: names that a program
 * outside would run or obey (src/guard), and what git ignores (P8).
 *
 * This is the only file of the room that knows either.
 */
#ifndef SB_FILES_GUARDS_H
#define SB_FILES_GUARDS_H

#include "files/view.h"

/* For the roots as they are now; called again when one is added. */
int sb_guards_open(struct sb_files *view, struct sb_files_error *err);
void sb_guards_close(struct sb_files *view);

/* Must somebody be asked, whatever the contents?  Then reason is a clause that says why. */
bool sb_guards_name(const struct sb_files *view, const struct sb_wish *wish,
		    const struct sb_place *place, char *reason, size_t size);

/* The same for contents: old NULL: there is no file yet. */
bool sb_guards_content(const struct sb_files *view, const struct sb_place *place, const char *old,
		       size_t old_length, const char *data, size_t length, char *reason,
		       size_t size);

/*
 * Is this a name where contents are looked at?  Then what lands there must be a fresh file: one
 * that is moved there may be open for writing elsewhere.
 */
bool sb_guards_checks(const struct sb_files *view, const struct sb_place *place);

/* Does git ignore what is there?  What cannot be told counts as yes. */
bool sb_guards_ignored(const struct sb_files *view, const struct sb_root *root,
		       const struct sb_place *place);

#endif
