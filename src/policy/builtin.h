/*
 * builtin.h - the rules every run starts with.  One table per kind, a reason per row.
 */
#ifndef SB_POLICY_BUILTIN_H
#define SB_POLICY_BUILTIN_H

#include "sandbash/policy.h"

/* Places for sandbash's own files that this run does not use. */
enum sb_unused {
	SB_UNUSED_REFUSED, /* what a variable names and is not obeyed */
	SB_UNUSED_CONFIG,  /* the usual ones where a variable or an option names another: */
	SB_UNUSED_STATE,   /* other runs have their rules and records there */
	SB_UNUSED_COUNT
};

/* Where this run lives.  All paths canonical; strings stay the caller's. */
struct sb_surroundings {
	const char *home;
	const char *account_home;     /* the account's own, where $HOME is another; or NULL */
	const char *config_home;      /* $XDG_CONFIG_HOME, where it is not ~/.config; or NULL */
	const char *data_home;        /* $XDG_DATA_HOME, where it is not ~/.local/share; or NULL */
	const char *const *secrets;   /* that the environment names; NULL-terminated, or NULL */
	const char *const *obeyed;    /* outside, by what the environment says; the same */
	const char *const *projects;  /* NULL-terminated; the first is the current directory */
	const char *const *within;    /* directories that are open in their place; NULL: they are */
	const char *tmpdir;           /* $TMPDIR, or NULL */
	const char *runtime_dir;      /* $XDG_RUNTIME_DIR, or NULL */
	unsigned uid;                 /* whose /run/user/UID is closed as well */
	const char *const *terminals; /* other terminals of the user; NULL-terminated, or NULL */
	const char *const *sockets;   /* that the environment names; NULL-terminated, or NULL */
	const char *config_dir;       /* sandbash's own; changes are denied, always */
	const char *state_dir;
	char **const *unused; /* SB_UNUSED_COUNT lists: each as it is named and as it is; or NULL */
	/*
	 * Leave out rules for what is not there.  No existing path is decided otherwise
	 * without them, and a static run, which can hold nothing else, starts sooner.
	 */
	bool existing_only;
	/*
	 * The run asks a guard (guard/guard.h) about every change, at any depth: leave out the
	 * rules for run-later names, which know the top of a project only.
	 */
	bool guarded;
};

/*
 * Add the built-in rules to a policy whose settings are final.  Order and files
 * on disk do not matter, except that patterns are made canonical.
 */
int sb_builtin_add(struct sb_policy *policy, const struct sb_surroundings *place,
		   struct sb_error *err);

/*
 * Close every symbolic link in a path (absolute, as it is written) against being
 * replaced, for good: what it leads to is ours or was obeyed by us.
 */
int sb_builtin_guard_links(struct sb_policy *policy, const char *path, struct sb_error *err);

#endif
