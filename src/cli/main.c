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

static int dispatch(const struct sb_command_line *line)
{
	switch (line->action) {
	case SB_ACTION_RUN:
		return sb_cli_run(line);
	case SB_ACTION_DRY_RUN:
		return sb_cli_dry_run(line);
	case SB_ACTION_EXPLAIN:
		return sb_explains_host(line->action_value) ? sb_cli_explain_host(line)
							    : sb_cli_explain(line);
	case SB_ACTION_PREVIEW:
		return sb_cli_preview(line);
	case SB_ACTION_PRINT_POLICY:
		return sb_cli_print_policy(line);
	case SB_ACTION_PRINT_PROFILE:
		return sb_cli_print_profile(line);
	case SB_ACTION_LIST_PATHS:
		return sb_cli_list_paths(line);
	case SB_ACTION_STATUS:
		return sb_cli_status(line);
	case SB_ACTION_DOCTOR:
		return sb_cli_doctor(line);
	case SB_ACTION_SESSIONS:
		return sb_cli_sessions(line);
	case SB_ACTION_ATTACH:
		return sb_cli_attach(line);
	case SB_ACTION_WATCH:
		return sb_cli_watch(line);
	case SB_ACTION_LOG:
		if (line->verify)
			return sb_cli_verify(line);
		return line->prune ? sb_cli_prune(line) : sb_cli_log(line);
	case SB_ACTION_STATS:
		return sb_cli_stats(line);
	case SB_ACTION_PROFILES:
		return sb_cli_profiles(line);
	case SB_ACTION_PROFILE_SHOW:
		return sb_cli_profile_show(line);
	case SB_ACTION_ZONES:
		return sb_cli_zones(line);
	case SB_ACTION_WORKER_CHECK:
		return sb_cli_worker_check(line);
	case SB_ACTION_GIT:
		return sb_cli_git(line);
	case SB_ACTION_ADD_PATH:
		return sb_cli_add_path(line);
	case SB_ACTION_REMOVE_PATH:
		return sb_cli_remove_path(line);
	case SB_ACTION_EDIT:
		return sb_cli_edit(line);
	case SB_ACTION_HELP:
		return sb_cli_help();
	case SB_ACTION_VERSION:
		return sb_cli_version();
	case SB_ACTION_COMPLETION:
		return sb_cli_completion(line->action_value);
	case SB_ACTION_MCP:
		return sb_cli_mcp(line);
	case SB_ACTION_HOOK:
		return sb_cli_hook(line);
	case SB_ACTION_SETUP:
		return sb_cli_integrate(line);
	}
	return SB_EXIT_FAILURE;
}

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
	status = dispatch(&line);
	sb_command_line_done(&line);
	return status;
}
