/*
 * complain.h - what both programs say on standard error, and the exit statuses of sandbash's own.
 */
#ifndef SB_OPTIONS_COMPLAIN_H
#define SB_OPTIONS_COMPLAIN_H

#include <stdbool.h>

#include "sandbash/error.h"

struct sb_modes;

enum {
	SB_EXIT_USAGE = 2,
	SB_EXIT_FAILURE = 125,
	SB_EXIT_CANNOT_EXECUTE = 126,
	SB_EXIT_NOT_FOUND = 127,
};

/* Print an error in the house form; returns the exit status that fits its code. */
int sb_report(const struct sb_error *err);
/* The same of an error that is made here. */
int sb_end_with(enum sb_code code, const char *hint, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void sb_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

void sb_warn_of(void *context, const char *text); /* as a callback */

/*
 * A command has had the terminal, and left it so (NULL: not followed); with piped its output went elsewhere,
 * perhaps to a pager.  Before our next line the terminal is made one on which it is seen.
 */
void sb_complain_after(const struct sb_modes *modes, bool piped);
/* Before a line that is not of the two above. */
void sb_complain_begin(void);

#endif
