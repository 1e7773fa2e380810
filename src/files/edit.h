/*
 * edit.h - exact replacements in a text, one after the other.
 */
#ifndef SB_FILES_EDIT_H
#define SB_FILES_EDIT_H

#include "base/buf.h"
#include "files/view.h"

/*
 * Apply all edits to text, or none.  eol: that of the file; lines of text end in \n unless it
 * is MIXED.  path is for errors.  *out_count: how many places changed.
 */
int sb_edit_apply(struct sb_job *job, const char *path, const struct sb_files_edit *edits,
		  size_t count, enum sb_files_eol eol, struct sb_buf *text, size_t *out_count);

#endif
