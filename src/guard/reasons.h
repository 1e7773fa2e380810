/*
 * reasons.h - why bytes may not land unasked: all reasons, as far as a person can read them.
 *
 *     sb_reasons_init() -> sb_reasons_add() ... -> sb_reasons_text()
 *
 * SECURITY: a yes is to all that is in a file, so the question names more than what was found first.
 *
 * Danger: "alias.st = status" is shown, and core.sshCommand, two lines further down, lands with it.
 * So each reason counts once; SB_GUARD_LINES are told, one of each kind before a second of any (twenty aliases hide
 * nothing), and how many more there are.  What a program runs by itself takes the place of what it runs for some
 * command, and that of what runs when a person types its name (a git alias).  What is long is shown with its
 * end, and with a sign where it is cut.
 * Held by: tests/unit/test_guard_content.c, tests/cli/guard_consent.py
 */
#ifndef SB_GUARD_REASONS_H
#define SB_GUARD_REASONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guard/guard.h"

#define SB_REASONS_MAX 256 /* nobody looks for more */
#define SB_REASON_LINE 160 /* of several; one alone has SB_GUARD_DETAIL */

enum sb_reason_weight {                      /* when what the reason names is run */
			SB_REASON_TYPED,     /* by its name */
			SB_REASON_SOMETIMES, /* an editor, a tool for merging */
			SB_REASON_BY_ITSELF, /* or nobody knows when */
};

struct sb_reasons {
	char alone[SB_GUARD_DETAIL];
	char lines[SB_GUARD_LINES][SB_REASON_LINE];
	enum sb_reason_weight weights[SB_GUARD_LINES];
	uint64_t kinds[SB_GUARD_LINES]; /* how they begin, hashed */
	uint64_t known[SB_REASONS_MAX]; /* what was said already, hashed */
	size_t count;
	size_t most; /* bytes of a line that the caller has room for */
};

/* most: bytes that one line may take, with its end; 80 at least. */
void sb_reasons_init(struct sb_reasons *reasons, size_t most);

/* What it is, in our words, and what of the file is meant. */
void sb_reasons_add(struct sb_reasons *reasons, const char *what, const char *text, size_t length,
		    enum sb_reason_weight weight);

static inline bool sb_reasons_full(const struct sb_reasons *reasons)
{
	return reasons->count == SB_REASONS_MAX;
}

/* The lines, escaped, with newlines between them; more is what further ones are called. */
void sb_reasons_text(const struct sb_reasons *reasons, const char *more, char *out, size_t size);

#endif
