/*
 * cli.h - the sandbash program: one function per thing it does.
 *
 * Each returns the exit status.
 */
#ifndef SB_CLI_CLI_H
#define SB_CLI_CLI_H

#include "audit/trail.h"
#include "base/buf.h"
#include "base/json.h"
#include "consent/names.h"
#include "enforce/layers.h"
#include "options/complain.h"
#include "options/set_up.h"

/* --- run.c, dry_run.c (run.h) ------------------------------------------------- */
int sb_cli_run(const struct sb_command_line *line);
int sb_cli_dry_run(const struct sb_command_line *line);

/* --- explain.c, preview.c, look.c -------------------------------------------- */
int sb_cli_explain(const struct sb_command_line *line);
int sb_cli_explain_host(const struct sb_command_line *line);
bool sb_explains_host(const char *text); /* "github.com:443" */
int sb_cli_preview(const struct sb_command_line *line);
int sb_cli_print_policy(const struct sb_command_line *line);
int sb_cli_list_paths(const struct sb_command_line *line);
int sb_cli_print_profile(const struct sb_command_line *line);

struct sb_spot;

/* What a decision rests on, in words. */
const char *sb_origin_of(const struct sb_policy *policy, const struct sb_decision *decision);
/* What is at a canonical path, for the judge; sb_spot_done() ends it, after an error too. */
int sb_look_at(const char *path, struct sb_spot *out, struct sb_error *err);

/* --- ask_first.c -------------------------------------------------------------- */

struct sb_agreed_list;
struct sb_run;

/* --ask-first: one question about what the command's text shows; 0 or an exit status. */
int sb_cli_ask_first(const struct sb_command_line *line, const struct sb_run *run,
		     struct sb_agreed_list *out);

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

/* --- profiles.c -------------------------------------------------------------- */
int sb_cli_profiles(const struct sb_command_line *line);
int sb_cli_profile_show(const struct sb_command_line *line);

/* A line with the names of the tools that the project has, if any. */
void sb_tools_print(const struct sb_profile *profile, const char *label, struct sb_buf *out);

/* --- zones.c ------------------------------------------------------------------ */
int sb_cli_zones(const struct sb_command_line *line);
int sb_cli_worker_check(const struct sb_command_line *line);

/* --- git.c, git_ask.c ---------------------------------------------------------- */
int sb_cli_git(const struct sb_command_line *line);

/* One question to whoever sits at this terminal; SB_E_REFUSED: nobody does, or it is not to be asked. */
struct sb_question;
int sb_ask_here(const struct sb_command_line *line, const struct sb_home *home,
		const struct sb_question *question, bool *out_yes, struct sb_error *err);

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

/* --- mcp.c -------------------------------------------------------------------- */
int sb_cli_mcp(const struct sb_command_line *line);

/* Where it lies: beside this program, or where a prefix keeps programs that are not typed; up to NULL. */
extern const char *const sb_server_places[];

/* --- login.c ------------------------------------------------------------------ */

/*
 * An agent's own login is as hidden as any other secret.  If program is such an agent and has
 * one, say so, and how it can be read.
 */
void sb_login_tell(const struct sb_setup *setup, const char *program);

/* --- help.c ------------------------------------------------------------------ */
int sb_cli_help(const struct sb_command_line *line);
int sb_cli_version(const struct sb_command_line *line);
int sb_cli_completion(const struct sb_command_line *line);

/* --- print.c ------------------------------------------------------------------ */

/* Was standard output closed when we were started?  (main.c) */
extern bool sb_stdout_closed;

/* Write a finished text to standard output; the exit status: 0, or 125 when it failed. */
int sb_print(struct sb_buf *text);

struct sb_json sb_json_object(struct sb_buf *out); /* its beginning */
void sb_json_access(struct sb_json *json, const struct sb_access *access);
void sb_json_rule(struct sb_json *json, const struct sb_rule *rule);
/* "rules": all of them. */
void sb_json_rules(struct sb_json *json, const struct sb_policy *policy);

void sb_json_guard(struct sb_json *json, const struct sb_guard_row *row); /* NULL is fine */

/* What a policy says about the network: as pairs, and as lines behind the word for it. */
struct sb_connect_rule;
void sb_json_connect(struct sb_json *json, const struct sb_connect_rule *rule);
void sb_json_network(struct sb_json *json, const struct sb_policy *policy);
void sb_print_hosts(const struct sb_policy *policy, struct sb_buf *out);
void sb_json_layers(struct sb_json *json, const struct sb_layers *layers);

#define SB_OUTPUT_LIMIT (16 * 1024 * 1024) /* a policy of many thousand rules, as JSON */

#endif
