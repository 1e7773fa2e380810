/*
 * cli.h - the sandbash program: one function per thing it does.
 *
 * Each returns the exit status.  Only this room prints, exits, or reads the
 * environment.
 */
#ifndef SB_CLI_CLI_H
#define SB_CLI_CLI_H

#include "base/buf.h"
#include "base/json.h"
#include "cli/options.h"
#include "config/setup.h"
#include "enforce/layers.h"

enum { /* STYLE: exit statuses of our own */
       SB_EXIT_USAGE = 2,
       SB_EXIT_FAILURE = 125,
       SB_EXIT_CANNOT_EXECUTE = 126,
       SB_EXIT_NOT_FOUND = 127,
};

/* --- run.c ------------------------------------------------------------------- */
int sb_cli_run(const struct sb_command_line *line);
int sb_cli_dry_run(const struct sb_command_line *line);

/* --- look.c ------------------------------------------------------------------ */
int sb_cli_explain(const struct sb_command_line *line);
int sb_cli_print_policy(const struct sb_command_line *line);
int sb_cli_list_paths(const struct sb_command_line *line);

/* --- status.c, doctor.c ------------------------------------------------------ */
int sb_cli_status(const struct sb_command_line *line);
int sb_cli_doctor(const struct sb_command_line *line);

/* --- edit.c ------------------------------------------------------------------ */
int sb_cli_add_path(const struct sb_command_line *line);
int sb_cli_remove_path(const struct sb_command_line *line);
int sb_cli_edit(const struct sb_command_line *line);

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

/* sb_setup_make() with its warnings and errors printed; 0 or an exit status. */
int sb_set_up(const struct sb_command_line *line, bool looking, struct sb_setup *out);

void sb_json_access(struct sb_json *json, const struct sb_access *access);
void sb_json_rule(struct sb_json *json, const struct sb_rule *rule);
void sb_json_layers(struct sb_json *json, const struct sb_layers *layers);
void sb_json_weaknesses(struct sb_json *json, const struct sb_weaknesses *weak);

#define SB_OUTPUT_LIMIT (16 * 1024 * 1024) /* a policy of many thousand rules, as JSON */

#endif
