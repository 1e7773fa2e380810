/*
 * options.h - the command line, from one table.
 *
 * The table feeds parsing, --help, the completions and the check of the man page.
 * The first word that is no option of ours ends our options (S11): a command, or
 * an option meant for the shell.
 */
#ifndef SB_OPTIONS_OPTIONS_H
#define SB_OPTIONS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "config/setup.h"
#include "sandbash/error.h"
#include "supervise/supervise.h"

enum sb_action {
	SB_ACTION_RUN,
	SB_ACTION_DRY_RUN,
	SB_ACTION_EXPLAIN,
	SB_ACTION_PREVIEW,
	SB_ACTION_PRINT_POLICY,
	SB_ACTION_PRINT_PROFILE,
	SB_ACTION_LIST_PATHS,
	SB_ACTION_STATUS,
	SB_ACTION_DOCTOR,
	SB_ACTION_SESSIONS,
	SB_ACTION_LOG,
	SB_ACTION_STATS,
	SB_ACTION_WATCH,
	SB_ACTION_PROFILES,
	SB_ACTION_ZONES,
	SB_ACTION_WORKER_CHECK, /* the last that --json goes with */
	SB_ACTION_PROFILE_SHOW,
	SB_ACTION_GIT,
	SB_ACTION_ATTACH,
	SB_ACTION_ADD_PATH,
	SB_ACTION_REMOVE_PATH,
	SB_ACTION_EDIT,
	SB_ACTION_HELP,
	SB_ACTION_VERSION,
	SB_ACTION_COMPLETION,
	SB_ACTION_MCP,
	SB_ACTION_HOOK,
	SB_ACTION_SETUP,
};

enum sb_group {
	SB_GROUP_RULES,
	SB_GROUP_RUN,
	SB_GROUP_LOOK,
	SB_GROUP_MORE, /* these two in --help by their names alone */
	SB_GROUP_LOG,
	SB_GROUP_CONFIG,
	SB_GROUP_COUNT,
};

struct sb_option;
struct sb_command_line;
typedef int sb_take_fn(struct sb_command_line *line, const struct sb_option *option,
		       const char *value, struct sb_error *err);

struct sb_option {
	const char *name;    /* without the dashes */
	const char *value;   /* what it takes, for help; NULL: nothing */
	const char *choices; /* the values it takes, separated by spaces, or NULL: any */
	enum sb_group group;
	const char *brief; /* for --help, which fits one screen; NULL: no place of its own there */
	const char *help;  /* for completions: a whole sentence; NULL: not offered */
	bool optional;     /* the value may be left out, and follows "=" only */
	bool inherited;    /* a server hands it to every command that it starts */
	bool is_file;      /* the value names a file, from where we were started */
	bool restricts;    /* is nothing without a sandbox */
	/* What it does is one of these: */
	enum sb_action action;
	size_t flag,
		text; /* a note there in struct sb_command_line: that it was given, its value */
	size_t list, count; /* one more of this list there */
	bool rule, word; /* a rule: of this access, or a line, with the option's name before it */
	const struct sb_access *access;
	sb_take_fn *take;
};

struct sb_given { /* an option as it was given */
	const struct sb_option *option;
	const char *value; /* or NULL */
};

extern const struct sb_option sb_options[];
extern const size_t sb_option_count;
const char *sb_group_title(enum sb_group group);

struct sb_command_line {
	enum sb_action action;
	const char *action_name;  /* "--explain"; NULL for a plain run */
	const char *action_value; /* PATH of --explain, --add-path, ... */
	bool json, global, best_effort, allow_home, anywhere, static_run, keep_background;
	bool ask_first; /* about what the command's text shows */
	bool quiet, require_audit, protect_ignored, clean_env, log_allowed;

	struct sb_flag_rule *rules;
	size_t rule_count;
	const char **projects, **within, **grants, **policy_files; /* NULL-terminated */
	size_t project_count, within_count, grant_count, policy_file_count;
	int *keep_fds;
	size_t keep_fd_count;

	bool has_mode, has_network, has_tmp;
	enum sb_mode mode;
	enum sb_network network;
	enum sb_tmp tmp;
	const char *shell;
	bool has_consent;
	enum sb_consent consent;
	const char *keep_env; /* --keep-env=NAMES; NULL: all */
	bool has_ask_fd;
	int ask_fd;
	const char *forget; /* --sessions --forget=NAME */
	int ask_timeout_ms;
	const char *session;    /* --session=NAME */
	bool learn;             /* --learn */
	const char *learn_file; /* --learn=FILE; or NULL */
	const char *report;     /* --report=FILE */
	bool agent_report;      /* --agent-report, */
	bool agent_auto;        /* ... =auto: where it can be written */
	int agent_fd;           /* ... to this descriptor */
	const char *trace;      /* SANDBASH_TRACE, open for writing; or NULL */
	int trace_fd;
	const char *config_dir; /* --config-dir=DIR */
	const char *profile;    /* --profile=NAME */
	const char *worker;     /* --worker=FILE */

	bool apply, undo;           /* what --setup does; neither: show */
	bool follow, verify, prune; /* what --log does; none: print */
	const char *log_session, *log_path, *log_host, *log_verdict, *since;

	struct sb_given *given; /* all of them, in order */
	size_t given_count;

	char **own;       /* our own options as they were written ... */
	size_t own_count; /* ... for SANDBASH_FLAGS */
	char **command;   /* the rest; NULL-terminated, may be empty */
	bool for_shell;   /* the rest begins with an option: it goes to the shell */
};

/* SB_E_INVALID: a usage mistake (exit 2). */
int sb_command_line_parse(int argc, char **argv, struct sb_command_line *out, struct sb_error *err);
void sb_command_line_done(struct sb_command_line *line);

/* As if it had been given, for those who hand options on: name is one of the table's. */
int sb_command_line_give(struct sb_command_line *line, const char *name, const char *value,
			 struct sb_error *err);

#endif
