/*
 * edit.h - exact replacements in a text, one after the other.
 */
#ifndef SB_FILES_EDIT_H
#define SB_FILES_EDIT_H

#include "base/buf.h"
#include "files/view.h"

/* A text, and how often it was changed. */
struct sb_edited {
	const char *path;      /* for errors */
	enum sb_files_eol eol; /* of the file; lines of text end in \n unless it is MIXED */
	struct sb_buf *text;
	size_t count;
};

/* Apply all edits, or none. */
int sb_edit_apply(struct sb_job *job, const struct sb_files_edit *edits, size_t count,
		  struct sb_edited *edited);

#endif
