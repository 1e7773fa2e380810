/*
 * git_keys.h - which git settings run nothing and lead nowhere.
 *
 * An allow-list: git has hundreds of keys, gains more with every version, and dozens of them
 * name a program.  What is not known to be harmless is asked about.
 */
#ifndef SB_GUARD_GIT_KEYS_H
#define SB_GUARD_GIT_KEYS_H

#include <stdbool.h>

enum sb_key_verdict {
	SB_KEY_ASK,
	SB_KEY_HARMLESS,
	SB_KEY_PATH, /* harmless if the path, from the git directory, stays in guarded roots */
};

/* value is "" for a key that stands alone. */
enum sb_key_verdict sb_git_key_judge(const char *key, const char *value);

/* What git only reads where this names it: text, patterns, a key. */
bool sb_git_key_is_text(const char *key);

/* sb_git_key_judge() for .gitmodules, where git itself refuses or ignores most. */
bool sb_gitmodules_key_is_harmless(const char *key, const char *value);

/*
 * The same for .lfsconfig: git-lfs-config(5), "LFSCONFIG", has the few keys that git-lfs obeys there.  None runs
 * something, but some say where large files are sent and fetched.
 */
bool sb_lfsconfig_key_is_harmless(const char *key, const char *value);
bool sb_lfsconfig_key_is_url(const char *key);

/* A merge strategy that is part of git. */
bool sb_git_strategy_is_known(const char *name);

#endif
