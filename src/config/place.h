/*
 * place.h - where this run lives: home, current directory, and sandbash's own files.
 *
 * Nothing here reads the environment behind the caller's back: the program passes
 * in what it found.  All resulting paths are canonical (P9).
 */
#ifndef SB_CONFIG_PLACE_H
#define SB_CONFIG_PLACE_H

#include <stdbool.h>

#include "guard/guard.h"
#include "policy/builtin.h"
#include "sandbash/error.h"

struct sb_environment { /* raw values; NULL when unset */
	const char *home;
	const char *xdg_config_home;
	const char *xdg_state_home;
	const char *xdg_data_home;
	const char *xdg_cache_home;
	const char *xdg_runtime_dir;
	const char *tmpdir;
	const char *git_global, *git_system; /* GIT_CONFIG_GLOBAL, GIT_CONFIG_SYSTEM */
	const char *mode, *network;          /* SANDBASH_MODE, SANDBASH_NETWORK */
	const char *const *secrets;          /* paths of credentials that variables name; or NULL */
	const char *const
		*obeyed; /* directories that are obeyed outside by what variables say; or NULL */
	const char *const *services; /* values that name sockets (SSH_AUTH_SOCK, ...); or NULL */
	bool other_terminal;         /* the command gets another one than the caller's */
	const char *config_dir;      /* --config-dir, which is no variable: it is obeyed; or NULL */
	const char *const *projects; /* --project: no variable leads into these; or NULL */
	/* Any other, by its name, for who needs one of many; or NULL. */
	const char *(*variable)(const char *name);
};

struct sb_home {
	char *home;
	char *cwd;
	char *config_dir;
	char *config_named; /* the same as the environment names it: links may stand in it */
	char *state_dir;
	/* Others of the kind (own.c): for each the path as it is named, and the canonical one. */
	char **unused[SB_UNUSED_COUNT];
	char **warnings;    /* about them, for the person; both NULL-terminated, or NULL */
	char *tmpdir;       /* NULL: unset, or no place for temporary files */
	char *runtime_dir;  /* NULL: unset */
	char *account_home; /* from /etc/passwd; NULL: none */
	char *config_home; /* $XDG_CONFIG_HOME, where that is another place than ~/.config; or NULL */
	char *data_home;   /* the same of $XDG_DATA_HOME and ~/.local/share */
	char **obeyed;     /* those of the environment, canonical; NULL-terminated */
	char **secrets;    /* existing files and directories among the secrets; NULL-terminated */
	char **sockets;    /* existing sockets that services name; NULL-terminated */
	char **git_settings; /* files of git's that variables name; NULL-terminated */
	/* the variables as they are, where absolute; or NULL */
	char *xdg_config, *xdg_data, *xdg_cache, *xdg_state;
	char **terminals;    /* the user's, but for the one the command has; NULL-terminated */
	bool other_terminal; /* the command gets another one than the caller's */
};

/*
 * SB_E_INVALID: HOME is unset or relative.  SB_E_MISSING: the current directory is
 * gone.  A TMPDIR that is no directory for temporary files is ignored.
 */
int sb_home_find(const struct sb_environment *environment, struct sb_home *out,
		 struct sb_error *err);
void sb_home_done(struct sb_home *home);
#define SB_AUTO_HOME __attribute__((cleanup(sb_home_done)))

/* What the guard has to know beside its path. */
struct sb_guard_homes sb_home_others(const struct sb_home *home);

/* The account's own, if that is another directory; or NULL. */
const char *sb_home_of_account(const struct sb_home *home);

/* The rule files of each tier; malloc'ed, NULL: out of memory. */
#define SB_SYSTEM_DIR "/etc/sandbash"
#define SB_SYSTEM_CONFIG SB_SYSTEM_DIR "/config"
char *sb_global_config(const struct sb_home *home);
char *sb_directory_config(const struct sb_home *home, const char *directory);

/* What one directory has in another, under a name of its own; malloc'ed. */
char *sb_directory_in(const char *base, const char *directory);

/*
 * own.c: where sandbash's own directories are, and which variables are believed about it.
 *
 * A variable may come from a project: direnv, an editor or an agent takes it from a file that lies
 * there.  Rules and kept answers in a directory that such a variable names would be the project's
 * own word about itself.  So a directory that lies in a project, and is named by nothing but the
 * environment, is protected from changes like any of ours, and not obeyed.
 */

/*
 * Fill config_dir, config_named, state_dir, unused and warnings of home, whose home, cwd and
 * account_home are known.
 */
int sb_own_find(const struct sb_environment *environment, struct sb_home *home,
		struct sb_error *err);

/* linux_terminals.c: the user's other terminals. */

/*
 * Terminals that this user could open and that are not the command's: whoever reads one gets
 * what is typed there.  When questions are asked on ours, it is not the command's either: whoever
 * writes there could draw over a question.  A NULL-terminated list, the caller's.
 */
int sb_terminals_find(bool other, char ***out, struct sb_error *err);

#endif
