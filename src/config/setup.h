/*
 * setup.h - from all the places rules come from to one sealed policy.
 *
 *     environment + flags --> sb_setup_make() --> setup->policy
 *
 * Tiers, weakest first: built-in, /etc/sandbash/config, a profile, global, per-directory,
 * --policy files, flags.  No rule is read from inside a project.  Every rule file
 * that was read is protected from the run (S9).
 */
#ifndef SB_CONFIG_SETUP_H
#define SB_CONFIG_SETUP_H

#include <stdbool.h>
#include <stddef.h>

#include "config/place.h"
#include "config/profile.h"
#include "sandbash/policy.h"

/* A rule from the command line, e.g. "--deny=secret". */
struct sb_flag_rule {
	const struct sb_access *access; /* NULL: text is a whole line, "ACCESS PATTERN" ... */
	const char *word;               /* ... or, where this is not NULL, what stands behind it */
	const char *text;
	const char *origin; /* how the user wrote it */
};

struct sb_setup_request {
	struct sb_environment environment;
	const char *const *projects; /* --project; NULL-terminated or NULL */
	const char *const *within;   /* --within; NULL-terminated or NULL */
	const struct sb_flag_rule *rules;
	size_t rule_count;
	const char *profile;             /* --profile; NULL: found by the program */
	bool makes;                      /* a run follows: its directories may be made */
	bool guarded_cache;              /* the project's cache is as any other directory */
	bool only_tools;                 /* no profile for the program: it may be planted */
	const char *program;             /* as it was typed; NULL: none is started */
	const char *program_file;        /* what was found under that name; or NULL */
	const char *const *policy_files; /* --policy; NULL-terminated or NULL */
	const char *policy_text;         /* what another such file would hold; or NULL */
	int settings[SB_SETTING_COUNT];  /* what options say: a value and 1; 0: nothing */
	bool allow_home;                 /* the home directory itself may be a project */
	bool anywhere;                   /* projects outside the home directory too */
	bool looking;                    /* nothing will be run: where we stand does not matter */
	bool existing_only; /* leave out built-in rules for what is not there (builtin.h) */
	bool guarded;       /* a guard judges run-later names: leave them out (builtin.h) */
	const char *const *arguments; /* of the program; NULL-terminated or NULL */
	bool agent;                   /* an agent's commands follow: hosts are asked about */
	/* Can hosts be told apart here?  Looked at where nobody has said so, but an agent's profile; NULL: no. */
	bool (*holds_hosts)(void);
	/* Adds rules of its own (SB_TIER_SESSION) after all others but the built-in ones; or NULL. */
	int (*more_rules)(void *context, const struct sb_home *home, struct sb_policy *policy,
			  struct sb_error *err);
	void *context;
	const char
		*closed; /* a file of this run that its command neither sees nor changes; or NULL */
};

struct sb_listed { /* one rule as a source gave it, for --list-paths */
	enum sb_tier tier;
	struct sb_access access;
	bool fast;
	bool tightens;
	bool missing; /* nothing is there yet */
	char *pattern;
};

#define SB_LOG_KEEP_DAYS 90       /* without a log-keep-days line */
#define SB_LOG_KEEP_MEGABYTES 100 /* without a log-keep-megabytes line */

struct sb_setup {
	struct sb_home home;
	char **projects; /* canonical, NULL-terminated; the first is the current directory */
	char **within;   /* all of them that is open to changes; NULL: they are (within.c) */
	struct sb_policy *policy;
	int least[SB_SETTING_COUNT]; /* what the system's file keeps: no option chooses less */
	bool network_assumed; /* hosts are asked about since an agent is run: nobody has said so */
	struct sb_profile profile;
	struct sb_listed *listed;
	size_t listed_count;
	char **files;    /* every rule file that was read; NULL-terminated */
	char **warnings; /* NULL-terminated */
	char *shell;     /* from a "shell" line, or NULL */
	unsigned long log_keep_days, log_keep_megabytes; /* 0: no limit */
	bool log_static;                                 /* static runs leave a record, too */
};

/*
 * SB_E_PLACE: the current directory is not beneath the home directory (S5); then
 * out->home is filled for the message.  Every other error names file and line or flag.
 */
int sb_setup_make(const struct sb_setup_request *request, struct sb_setup *out,
		  struct sb_error *err);
void sb_setup_done(struct sb_setup *setup);
#define SB_AUTO_SETUP __attribute__((cleanup(sb_setup_done)))

/* What of the projects is open to changes: all of them, or what --within says. */
char **sb_setup_open_roots(const struct sb_setup *setup);

/*
 * Before a run: a directory of ours that does not exist yet but could be created
 * from inside is made now, since only what exists can be protected; so are those of a profile.
 */
int sb_setup_protect(const struct sb_setup *setup, struct sb_error *err);

#endif
