/*
 * flags.h - options carried in the environment, so that --status inside a run can
 * show the policy it was started with.
 *
 * Words are separated by spaces; a space, a percent sign and whatever is not plain
 * visible ASCII is written %XX.  What comes back is only shown, never obeyed: the
 * inside can write anything there.
 */
#ifndef SB_OPTIONS_FLAGS_H
#define SB_OPTIONS_FLAGS_H

#include <stddef.h>

struct sb_buf;

void sb_flags_encode(char *const *words, size_t count, struct sb_buf *out);

/* NULL-terminated, with a "sandbash" in front; one malloc'ed block.  NULL: out of memory. */
char **sb_flags_decode(const char *text, int *out_count);

#endif
