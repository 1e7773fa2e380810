/*
 * edit.c - --add-path, --remove-path, --edit (S10).  They never enter a sandbox.
 */
#include "config/edit.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/escape.h"
#include "cli/cli.h"
#include "enforce/inside.h"
#include "policy/access.h"

/* The rule file that is meant, and the places around it. */
static int find_file(const struct sb_command_line *line, struct sb_home *home, char **out_file)
{
	struct sb_setup_request request = sb_request(line, true);
	struct sb_error err;

	if (sb_home_find(&request.environment, home, &err) != SB_OK)
		return sb_report(&err);
	for (size_t i = 0; home->warnings && home->warnings[i]; i++)
		sb_warn("%s", home->warnings[i]);
	*out_file = line->global ? sb_global_config(home) : sb_directory_config(home, home->cwd);
	return *out_file ? 0 : sb_end_with(SB_E_NOMEM, NULL, "out of memory");
}

/* Report a failed change; inside a run the reason is known. */
static int report_change(struct sb_error *err)
{
	bool mounts;

	if ((err->sys_errno == EROFS || err->sys_errno == EACCES || err->sys_errno == EPERM) &&
	    !err->hint[0] && sb_inside(&mounts))
		sb_hint(err, "inside a sandbox its rules cannot be changed");
	return sb_report(err);
}

/* "Added '/x' to FILE": what was done and where. */
static int confirm(const char *did, const char *pattern, const char *how, const char *file)
{
	SB_AUTO_BUF struct sb_buf out = SB_BUF(SB_OUTPUT_LIMIT);

	sb_buf_printf(&out, "%s '", did);
	sb_escape_puts(&out, pattern);
	sb_buf_printf(&out, "' %s ", how);
	sb_escape_put_name(&out, "", file, "\n");
	return sb_print(&out);
}

int sb_cli_add_path(const struct sb_command_line *line)
{
	SB_AUTO_FREE char *file = NULL;
	struct sb_config_added added = {0};
	SB_AUTO_HOME struct sb_home home = {0};
	struct sb_error err;
	int status = find_file(line, &home, &file);

	if (status)
		return status;
	if (sb_config_add_rule(&home, file, &sb_access_write, line->action_value, &added, &err) !=
	    SB_OK)
		return report_change(&err);
	if (added.missing == ENOENT)
		sb_warn("'%s' is not there yet; only static runs skip it until it is",
			added.pattern);
	else if (added.missing)
		sb_warn("'%s': %s; it is skipped until it is there", added.pattern,
			strerror(added.missing));
	if (added.missing && strpbrk(line->action_value, "*?["))
		sb_warn("'*', '?' and '[' are characters of a name here; --edit is for rules with wildcards");
	status = added.changed ? confirm("Added", added.pattern, "to", file)
			       : confirm("Nothing to do:", added.pattern, "is already in", file);
	free(added.pattern);
	return status;
}

int sb_cli_remove_path(const struct sb_command_line *line)
{
	SB_AUTO_FREE char *file = NULL;
	SB_AUTO_FREE char *pattern = NULL;
	SB_AUTO_HOME struct sb_home home = {0};
	struct sb_error err;
	bool changed;
	int status = find_file(line, &home, &file);

	if (status)
		return status;
	if (sb_config_remove_path(&home, file, line->action_value, &pattern, &changed, &err) !=
	    SB_OK)
		return report_change(&err);
	if (changed)
		return confirm("Removed", pattern, "from", file);
	return sb_end_with(SB_E_MISSING, "sandbash --list-paths shows what is",
			   "'%s' is not in '%s'", pattern, file);
}

/* Start the user's editor on file and wait.  Its value may hold options, so a shell splits it. */
static int run_editor(const char *editor, const char *file, struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf script = SB_BUF(64 * 1024); /* a command with options */
	struct sigaction ignore = {.sa_handler = SIG_IGN}, interrupt, quit;
	pid_t pid;
	int status;

	/* "exec" where it can be: else the shell, too, gets the Ctrl-C meant for the editor */
	sb_buf_printf(&script, "%s%s \"$1\"", strpbrk(editor, "=;&|<>()$`\\\"'#") ? "" : "exec ",
		      editor);
	if (sb_buf_failed(&script))
		return sb_fail(err, SB_E_INVALID, 0, "the name of the editor is too long");
	/* Ctrl-C and Ctrl-\\ are typed at the editor, not at us: as system(3) has it. */
	sigaction(SIGINT, &ignore, &interrupt);
	sigaction(SIGQUIT, &ignore, &quit);
	pid = fork();
	if (pid == 0) {
		sigaction(SIGINT, &interrupt, NULL);
		sigaction(SIGQUIT, &quit, NULL);
		execl("/bin/sh", "sh", "-c", script.data, "sh", file, (char *)NULL);
		_exit(SB_EXIT_NOT_FOUND);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	sigaction(SIGINT, &interrupt, NULL);
	sigaction(SIGQUIT, &quit, NULL);
	if (pid < 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot start the editor '%s'", editor);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return sb_fail(err, SB_E_SYSTEM, 0, "the editor '%s' failed", editor);
	return SB_OK;
}

int sb_cli_edit(const struct sb_command_line *line)
{
	const char *editor = getenv("VISUAL");
	SB_AUTO_FREE char *file = NULL;
	SB_AUTO_HOME struct sb_home home = {0};
	SB_AUTO_SETUP struct sb_setup setup = {0};
	struct sb_error err;
	int status = find_file(line, &home, &file);

	if (status)
		return status;
	if (!editor || !*editor)
		editor = getenv("EDITOR");
	if (!editor || !*editor)
		editor = "vi";
	if (sb_config_touch(file, &err) != SB_OK || run_editor(editor, file, &err) != SB_OK)
		return report_change(&err);
	/* Say at once what the next run would say. */
	return sb_set_up(line, true, &setup);
}
