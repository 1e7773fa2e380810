/*
 * main.c - sandbash: reads the command line and calls what it asks for.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/cli.h"

/*
 * A closed standard descriptor would be taken by the first file we open, and then
 * be written to.  Fill the gap; close-on-exec, so that the command still sees it
 * closed, as it would without us.
 */
static void fill_stdio(void)
{
	sb_stdout_closed = fcntl(STDOUT_FILENO, F_GETFD) < 0;
	if (!sb_stdout_closed && fcntl(STDIN_FILENO, F_GETFD) >= 0 &&
	    fcntl(STDERR_FILENO, F_GETFD) >= 0)
		return;
	for (;;) {
		int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

		if (fd > 2) {
			close(fd);
			return;
		}
		if (fd < 0)
			return;
	}
}

static int on_log(const struct sb_command_line *line)
{
	return (line->verify ? sb_cli_verify : line->prune ? sb_cli_prune : sb_cli_log)(line);
}

/* By what the command line asks for. */
static int (*const acts[])(const struct sb_command_line *line) = {
	[SB_ACTION_RUN] = sb_cli_run,
	[SB_ACTION_DRY_RUN] = sb_cli_dry_run,
	[SB_ACTION_EXPLAIN] = sb_cli_explain,
	[SB_ACTION_PREVIEW] = sb_cli_preview,
	[SB_ACTION_PRINT_POLICY] = sb_cli_print_policy,
	[SB_ACTION_PRINT_PROFILE] = sb_cli_print_profile,
	[SB_ACTION_LIST_PATHS] = sb_cli_list_paths,
	[SB_ACTION_STATUS] = sb_cli_status,
	[SB_ACTION_DOCTOR] = sb_cli_doctor,
	[SB_ACTION_SESSIONS] = sb_cli_sessions,
	[SB_ACTION_ATTACH] = sb_cli_attach,
	[SB_ACTION_WATCH] = sb_cli_watch,
	[SB_ACTION_LOG] = on_log,
	[SB_ACTION_STATS] = sb_cli_stats,
	[SB_ACTION_PROFILES] = sb_cli_profiles,
	[SB_ACTION_PROFILE_SHOW] = sb_cli_profile_show,
	[SB_ACTION_ZONES] = sb_cli_zones,
	[SB_ACTION_WORKER_CHECK] = sb_cli_worker_check,
	[SB_ACTION_GIT] = sb_cli_git,
	[SB_ACTION_ADD_PATH] = sb_cli_add_path,
	[SB_ACTION_REMOVE_PATH] = sb_cli_remove_path,
	[SB_ACTION_EDIT] = sb_cli_edit,
	[SB_ACTION_HELP] = sb_cli_help,
	[SB_ACTION_VERSION] = sb_cli_version,
	[SB_ACTION_COMPLETION] = sb_cli_completion,
	[SB_ACTION_MCP] = sb_cli_mcp,
	[SB_ACTION_HOOK] = sb_cli_hook,
	[SB_ACTION_SETUP] = sb_cli_integrate,
};

int main(int argc, char **argv)
{
	struct sb_command_line line;
	struct sb_error err;
	int status;

	fill_stdio();
	if (argc < 1) /* execve() with no argument at all */
		return SB_EXIT_USAGE;
	if (sb_command_line_parse(argc, argv, &line, &err) != SB_OK) {
		sb_report(&err);
		return SB_EXIT_USAGE;
	}
	status = acts[line.action](&line);
	sb_command_line_done(&line);
	return status;
}
