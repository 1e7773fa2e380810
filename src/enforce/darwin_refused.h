/*
 * darwin_refused.h - what the sandbox of macOS has refused, as the system's log tells it.
 *
 *     Sandbox: touch(4242) deny(1) file-write-create /Users/u/x
 *
 * There is no other way to learn of it: the command sees an errno, and nothing waits for an answer.
 */
#ifndef SB_ENFORCE_DARWIN_REFUSED_H
#define SB_ENFORCE_DARWIN_REFUSED_H

#include <stdbool.h>
#include <stddef.h>

#include "sandbash/policy.h"

#define SB_REFUSED_MAX 32 /* whoever is refused more has to write rules */

struct sb_refused {
	enum sb_op op;
	char program[64];
	char path[1024];
};

/*
 * One line of the log.  False: it tells of no change to a file.  It comes from a program that was refused, which
 * chooses names: whoever shows them escapes them, and a yes opens no more than the path that was shown.
 */
bool sb_refused_parse(const char *line, struct sb_refused *out);

/*
 * Is it one that a person may allow: a change which policy asks about?  What it denies stays refused, and what
 * it allows was refused by a guarded name, which a rule for that very file opens.
 */
bool sb_refused_may_be_asked(const struct sb_policy *policy, const struct sb_refused *refused);

#endif
