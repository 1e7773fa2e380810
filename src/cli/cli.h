/*
 * cli.h - the sandbash program: one function per thing it does.
 *
 * Each returns the exit status.  Only this room prints, exits, or reads the
 * environment.
 */
#ifndef SB_CLI_CLI_H
#define SB_CLI_CLI_H

#include "audit/trail.h"
#include "base/buf.h"
#include "base/json.h"
#include "cli/options.h"
#include "config/setup.h"
#include "consent/names.h"
#include "enforce/layers.h"

enum { /* STYLE: exit statuses of our own */
       SB_EXIT_USAGE = 2,
       SB_EXIT_FAILURE = 125,
       SB_EXIT_CANNOT_EXECUTE = 126,
       SB_EXIT_NOT_FOUND = 127,
};

/* --- run.c, dry_run.c (run.h) ------------------------------------------------- */
int sb_cli_run(const struct sb_command_line *line);
int sb_cli_dry_run(const struct sb_command_line *line);

/* --- explain.c, look.c ------------------------------------------------------- */
int sb_cli_explain(const struct sb_command_line *line);
int sb_cli_print_policy(const struct sb_command_line *line);
int sb_cli_list_paths(const struct sb_command_line *line);

struct sb_guard;
struct sb_spot;

/* What a decision rests on, in words. */
const char *sb_origin_of(const struct sb_policy *policy, const struct sb_decision *decision);
/* What is at a canonical path, for the judge; sb_spot_done() ends it, after an error too. */
int sb_look_at(const char *path, struct sb_spot *out, struct sb_error *err);
/* The guard of the run that setup is for; sb_guard_free() ends it. */
int sb_guard_of(const struct sb_setup *setup, struct sb_guard **out, struct sb_error *err);

/* --- hook.c, integrate.c ------------------------------------------------------ */
int sb_cli_hook(const struct sb_command_line *line);
int sb_cli_integrate(const struct sb_command_line *line);

/* This program, absolute; NULL: /proc does not say. */
const char *sb_own_program(void);

/*
 * The options that were given beside the one which asks for this, "--name=value" each, for a
 * command line that is written down.  NULL-terminated; NULL: no memory.
 */
char **sb_options_given(const struct sb_command_line *line);
void sb_options_given_done(char **options);

/* --- profiles.c -------------------------------------------------------------- */
int sb_cli_profiles(const struct sb_command_line *line);
int sb_cli_profile_show(const struct sb_command_line *line);

/* A line with the names of the tools that the project has, if any. */
void sb_tools_print(const struct sb_profile *profile, const char *label, struct sb_buf *out);

/* --- status.c, doctor.c ------------------------------------------------------ */
int sb_cli_status(const struct sb_command_line *line);
int sb_cli_doctor(const struct sb_command_line *line);

/* --- log.c, log_text.c, log_checks.c, stats.c --------------------------------- */
int sb_cli_log(const struct sb_command_line *line);
int sb_cli_verify(const struct sb_command_line *line);
int sb_cli_prune(const struct sb_command_line *line);
int sb_cli_stats(const struct sb_command_line *line);

/* One event as one line for a person. */
void sb_log_text(const struct sb_record *record, struct sb_buf *out);

/* --since: "2026-11-15", "2026-11-15T18:03", "90m"; SB_E_USAGE when it is neither. */
int sb_parse_since(const char *text, int64_t now_us, int64_t *out_us, struct sb_error *err);

/* Where the log lies, and the filters of the command line; 0 or an exit status. */
struct sb_log_request {
	struct sb_home home;
	struct sb_trail_options options;
};
int sb_log_request(const struct sb_command_line *line, struct sb_log_request *out);

/* --- edit.c ------------------------------------------------------------------ */
int sb_cli_add_path(const struct sb_command_line *line);
int sb_cli_remove_path(const struct sb_command_line *line);
int sb_cli_edit(const struct sb_command_line *line);

/* --- sessions.c, attach.c, watch.c ------------------------------------------------------- */
struct sb_running;

int sb_cli_sessions(const struct sb_command_line *line);
int sb_cli_attach(const struct sb_command_line *line);
int sb_cli_watch(const struct sb_command_line *line);

/* One running session as one line for a person. */
void sb_running_print(const struct sb_running *running, struct sb_buf *out);

/* --- word.c ------------------------------------------------------------------- */

/*
 * The words that sandbash shows with its questions, so that an imitation is recognised: made
 * once per user, kept where no command can read them.  malloc'ed; NULL: there are none.
 */
char *sb_word(const struct sb_home *home);

/* Does the terminal have colours, and does the user want them ($TERM, $NO_COLOR)? */
bool sb_has_colours(void);

/* --- mcp.c -------------------------------------------------------------------- */
int sb_cli_mcp(const struct sb_command_line *line);

/* --- environ.c ---------------------------------------------------------------- */

/* What a command needs to work, and nothing that could be a secret: names as below. */
#define SB_ENVIRON_USUAL                                                                           \
	"PATH,HOME,USER,LOGNAME,SHELL,LANG,LANGUAGE,LC_*,TZ,TERM,COLORTERM,NO_COLOR,"              \
	"XDG_RUNTIME_DIR,XDG_CONFIG_HOME,XDG_CACHE_HOME,XDG_DATA_HOME,XDG_STATE_HOME,EDITOR,"      \
	"PAGER,GOPATH,GOROOT,CARGO_HOME,RUSTUP_HOME,JAVA_HOME,NVM_DIR,PYENV_ROOT,VIRTUAL_ENV,"     \
	"CONDA_PREFIX,NODE_PATH,PKG_CONFIG_PATH,LD_LIBRARY_PATH,MAKEFLAGS,CC,CXX,CFLAGS,CXXFLAGS," \
	"LDFLAGS"

/*
 * Names of variables, separated by commas; a "*" at the end stands for the rest of a name.  What
 * sandbash itself tells the command belongs to them.
 */
struct sb_environ_names {
	bool usual;       /* --clean-env: those of SB_ENVIRON_USUAL, and */
	const char *more; /* --keep-env; or NULL */
};

/* Remove every other variable; neither of the two: none. */
void sb_environ_keep(const struct sb_environ_names *names);

/* Is this variable ("NAME=value") removed? */
bool sb_environ_removes(const struct sb_environ_names *names, const char *variable);

/* --- login.c ------------------------------------------------------------------ */

/*
 * An agent's own login is as hidden as any other secret.  If program is such an agent and has
 * one, say so, and how it can be read.
 */
void sb_login_tell(const struct sb_setup *setup, const char *program);

/* --- help.c ------------------------------------------------------------------ */
int sb_cli_help(void);
int sb_cli_version(void);
int sb_cli_completion(const char *shell);

/* --- common.c ---------------------------------------------------------------- */

/* Was standard output closed when we were started?  (main.c) */
extern bool sb_stdout_closed;

/* Print an error in the house form; returns the exit status that fits its code. */
int sb_report(const struct sb_error *err);
void sb_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Write a finished text to standard output; the exit status: 0, or 125 when it failed. */
int sb_print(struct sb_buf *text);

/* The request that flags and environment make; strings stay the command line's. */
struct sb_setup_request sb_request(const struct sb_command_line *line, bool looking);

/* The session that --session names; NULL: none.  Opened by sb_set_up(). */
struct sb_session *sb_session_in_use(void);

/* getenv(), for many names in a row. */
const char *sb_cli_variable(const char *name);

/* Does this command line start a supervised run here? */
bool sb_is_supervised(const struct sb_command_line *line);

/* Does a guard judge names in the run that this command line starts, or would start? */
bool sb_is_guarded(const struct sb_command_line *line, const struct sb_setup *setup);

/*
 * sb_setup_make() with its warnings and errors printed; 0 or an exit status.  file: what was found for
 * the command, whose profile counts; or NULL.
 */
int sb_set_up(const struct sb_command_line *line, bool looking, struct sb_setup *out);
int sb_set_up_for(const struct sb_command_line *line, const char *file, bool looking,
		  struct sb_setup *out);

/*
 * The same of a run that was, for those who judge it once more: with text, lines as in a file of --policy, and
 * nothing printed.
 */
int sb_set_up_again(const struct sb_command_line *line, const char *file, const char *text,
		    struct sb_setup *out, struct sb_error *err);

void sb_json_access(struct sb_json *json, const struct sb_access *access);
void sb_json_rule(struct sb_json *json, const struct sb_rule *rule);
/* "rules": all of them. */
void sb_json_rules(struct sb_json *json, const struct sb_policy *policy);
void sb_json_layers(struct sb_json *json, const struct sb_layers *layers);
void sb_json_weaknesses(struct sb_json *json, const struct sb_weaknesses *weak);

#define SB_OUTPUT_LIMIT (16 * 1024 * 1024) /* a policy of many thousand rules, as JSON */

#endif
