/*
 * excerpt.h - of a file that is about to be replaced, the lines that are new.
 *
 * A question has room for a few lines.  Those that were there before, and were the person's own, would fill it.
 */
#ifndef SB_CONSENT_EXCERPT_H
#define SB_CONSENT_EXCERPT_H

#include <stddef.h>

struct sb_buf;

#define SB_EXCERPT_SHOWN 4096        /* bytes in a question: more than fits on a screen */
#define SB_EXCERPT_MAX (1024 * 1024) /* longer files are not compared */

/*
 * What a question shows of bytes that would replace old: these, or the new lines; of more than
 * SB_EXCERPT_SHOWN the beginning and the end, and between them how much it is.  old NULL: there is no such file.
 */
void sb_excerpt_shown(const char *old, size_t old_length, const char *bytes, size_t length,
		      struct sb_buf *out);

#endif
