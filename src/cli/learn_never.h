/*
 * learn_never.h - what --learn proposes no rule for, whatever a program needs.
 *
 *     open -> why ... -> done
 *
 * SECURITY: a program chooses what it is refused, and so could choose the rules that a person is shown.
 *
 * Danger: it touches three names beside ~/.ssh, or in ~/.config, or makes .envrc where no rule
 * reaches: a rule for the directory, or for that very name, would let it plant what runs later.
 * So the one judge is asked as if everything were open, and what it still would not let happen unseen
 * has no rule; nor has a directory in or around which something is singled out.
 * Price: such a thing is a line for a person, who writes the rule by hand.
 * Held by: tests/cli/learn.py
 */
#ifndef SB_CLI_LEARN_NEVER_H
#define SB_CLI_LEARN_NEVER_H

#include "base/buf.h"
#include "config/setup.h"
#include "judge/judge.h"

struct sb_never {
	const struct sb_setup *setup;
	const char *learned;   /* the file of an earlier run, whose rules may be widened; or NULL */
	struct sb_policy *all; /* everything is open */
	struct sb_guard *guard;
	struct sb_grounds grounds; /* of these two */
};

/* setup and learned, a canonical path or NULL, stay the caller's, and live as long.  sb_never_done() ends it, after an error too. */
int sb_never_open(const struct sb_setup *setup, const char *learned, struct sb_never *out,
		  struct sb_error *err);
void sb_never_done(struct sb_never *never);

/* Is the rule with this origin one of that file? */
bool sb_never_is_learned(const struct sb_never *never, const char *origin);

/*
 * Why is there no rule for path (canonical) that allows these operations, a bit for each enum sb_op?  whole:
 * it is a directory, or will be, and so the rule is about all beneath it.  False: there may be one.  True: out,
 * emptied first, says why, in words without a full stop.
 */
bool sb_never_why(const struct sb_never *never, const char *path, unsigned ops, bool whole,
		  struct sb_buf *out);

#endif
