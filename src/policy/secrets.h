/*
 * secrets.h - what is unreadable inside: credentials, and tokens of services that run code.
 *
 * A table of names, no more; builtin.c makes rules of it.
 */
#ifndef SB_POLICY_SECRETS_H
#define SB_POLICY_SECRETS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/each.h"

enum sb_secret_flags {
	SB_SECRET_PUBLIC = 1, /* can be read, although what is around it cannot */
	/*
	 * Closed also where it is not there yet.  Others are where they are: what is not there has nothing
	 * to hide, no mount could stand on it, and so many rules would be a part of every launch.
	 */
	SB_SECRET_ALWAYS = 2,
	/* Settings that builds need: closed if they look as if a password were in them. */
	SB_SECRET_MIXED = 4,
	/* MIXED, and they name users and public keys all day (username = me <me@x>), which is no reason. */
	SB_SECRET_NEEDED = 8 | SB_SECRET_MIXED,
	/* MIXED, and its program writes it: its login opens a file for all but deleting, a directory for all. */
	SB_SECRET_STATE = 16 | SB_SECRET_MIXED,
};

/* Without pointers, for the reason in guard/guard.h; tests/unit/test_builtin.c finds cut texts. */
struct sb_secret {
	char path[48];   /* relative to the base */
	char reason[88]; /* whose it is */
	unsigned flags;
	char program[16]; /* that needs it for its own work; or "" */
};

/* For SB_NAMED(): names that have reason and flags in common; those that have none. */
#define SB_SECRET(path, reason, flags)                                                             \
	{                                                                                          \
		path, reason, flags                                                                \
	}
#define SB_SECRETS(reason, ...) SB_NAMED(SB_SECRET, reason, 0, __VA_ARGS__)

/* CONFIG and DATA count also where XDG_CONFIG_HOME and XDG_DATA_HOME put them. */
enum sb_secret_base {
	SB_SECRETS_HOME,
	SB_SECRETS_CONFIG,
	SB_SECRETS_DATA,
	SB_SECRETS_SNAP,
	SB_SECRETS_PATTERNS, /* beneath the home directory; some component has a wildcard */
};

/* Those of SB_SECRETS_HOME. */
extern const struct sb_secret sb_home_secrets[];
extern const size_t sb_home_secret_count;

const struct sb_secret *sb_secrets(enum sb_secret_base base, size_t *out_count);

/* Relative to the home directory: "", ".config", ".local/share", "snap". */
const char *sb_secrets_directory(enum sb_secret_base base);

/* passwords.c: does the file look as if a password were in it?  One that cannot be read does.  flags: of the row. */
bool sb_may_hold_password(int directory, const char *name, unsigned flags);

#endif
