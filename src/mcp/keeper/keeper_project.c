/*
 * keeper_project.c - open_project (P5): a session gains a root, when a person says so.
 *
 * The rules are read again as if the server had been started with this project, too: its scope is its own, and
 * what the user's rules and the guard keep stays kept in it.  The server itself stays confined to what it
 * was born with: calls that are about the new project are done by processes of the keeper's.
 */
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/escape.h"
#include "base/list.h"
#include "files/foreign.h"
#include "mcp/keeper/keeper_child.h"
#include "mcp/wire/rpc.h"
#include "options/set_up.h"
#include "path/path.h"

#define MAX_OPENED 16

static json_t *opened(const char *path)
{
	return sb_ahead_outcome(
		sb_tool_text(
			sb_rpc_string("It is open, until this session ends. What a rule keeps, and "
				      "names that a program outside would obey (git hooks, "
				      "settings), still ask. Use absolute paths."),
			json_pack("{s:o}", "project", sb_rpc_string(path))),
		"granted", "session");
}

/*
 * SECURITY: what may become a project.
 *
 * Danger: the model chooses the path.  A project is open to changes, and read without a question: the home
 * directory or what holds it would be everything, a directory with keys all of them.
 * Price: whoever wants such a project starts the server with it.
 * Held by: tests/mcp/ahead.py
 */
static const char *never(const struct keeper *keeper, const char *path)
{
	static const char *const kernel[] = {"/proc", "/sys",
					     "/dev"}; /* no files, but what it makes up */
	const struct sb_setup *setup = keeper->options->setup;

	for (size_t i = 0; i < sizeof kernel / sizeof kernel[0]; i++)
		if (sb_path_within(kernel[i], path))
			return "it is the kernel's";
	if (sb_path_within(path, setup->home.home))
		return "it holds the home directory";
	for (size_t i = 0; setup->projects[i]; i++)
		if (sb_path_within(path, setup->projects[i]))
			return "it holds a project";
	if (sb_decide(setup->policy, SB_READ, path).verdict != SB_ALLOW)
		return "a rule hides it";
	for (int op = SB_MODIFY; op < SB_OP_COUNT; op++)
		if (sb_decide(setup->policy, (enum sb_op)op, path).verdict == SB_DENY)
			return sb_policy_mode(setup->policy) == SB_MODE_READ_ONLY
				       ? NULL /* it will be read and not changed */
				       : "a rule keeps it as it is";
	return NULL;
}

/* The refusal that holds where nobody can be asked (F8), with what a person would start the server with. */
static json_t *outside(const char *given, const char *path)
{
	SB_AUTO_BUF struct sb_buf option = SB_BUF(16 * 1024);
	SB_AUTO_BUF struct sb_buf allow = SB_BUF(32 * 1024);

	sb_buf_printf(&option, "--project=%s", path);
	sb_buf_puts(&allow, "sandbash --mcp ");
	sb_shell_quote(&allow, option.data);
	return sb_ahead_outcome(
		sb_tool_failure("PATH_OUTSIDE_PROJECT",
				"the directory is no project of this session",
				"Work in the allowed directories (list_allowed_directories).", true,
				json_pack("{s:o, s:o, s:o}", "given", sb_rpc_string(given), "path",
					  sb_rpc_string(path), "allow", sb_rpc_buf(&allow))),
		"nobody", NULL);
}

static void put_question(struct child *child, const char *path, const json_t *args)
{
	json_t *notes = json_array();

	sb_child_note(notes,
		      "file tools and commands would read and change everything in it, until this "
		      "session ends");
	sb_child_note(
		notes,
		"not what a rule of yours keeps, nor names that a program outside would obey");
	sb_ahead_reason(notes, args);
	child->question = json_pack("{s:i, s:s, s:o, s:b, s:b, s:b, s:o}", "op", SB_MODIFY, "verb",
				    "open as a project", "path", sb_rpc_string(path), "guarded", 0,
				    "ahead", 1, "session", 1, "notes", notes);
}

static json_t *answer(struct child *child, struct sb_tool_call *call, const char *path)
{
	const char *given = sb_get_text(call->args, "path"), *why;
	const char **roots = sb_keeper_roots(child->keeper, child->perform->roots);
	struct keeper_subject subject = {.op = SB_MODIFY, .path = path};
	const struct keeper_approval *said;
	bool inside = false;

	for (size_t i = 0; roots && roots[i]; i++)
		inside |= sb_path_within(roots[i], path);
	free(roots);
	if (inside)
		return opened(path);
	if (!sb_path_is_directory(path))
		return sb_ahead_no("refused", "NOT_FOUND", "there is no such directory",
				   "Name one that is there.");
	why = never(child->keeper, path);
	if (why)
		return sb_ahead_no("refused", "BLOCKED", why,
				   "Nobody can allow it here. Name a directory in it.");
	said = sb_approvals_find(child->perform->approvals, &subject, true);
	if (!said)
		said = sb_approvals_find(child->keeper->refused_needs, &subject, true);
	if (said && !said->yes)
		return sb_ahead_no("denied", "DENIED", "the user was asked and said no",
				   "Work in the allowed directories.");
	if (said) {
		child->open = sb_rpc_string(path);
		return opened(path);
	}
	call->err.code = SB_FILES_NEEDS_CONSENT;
	if (!child->perform->nobody)
		put_question(child, path, call->args);
	return outside(given, path);
}

json_t *sb_project_request(struct child *child, struct sb_tool_call *call)
{
	const struct sb_home *home = &child->keeper->options->setup->home;
	SB_AUTO_FREE char *absolute = NULL;
	SB_AUTO_FREE char *path = NULL;
	const char *given = sb_get_text(call->args, "path");
	struct sb_error err;
	int missing = 0, status = sb_path_expand(given, home->cwd, home->home, &absolute, &err);

	if (status == SB_OK)
		status = sb_path_canonical(absolute, &path, &missing, &err);
	if (status == SB_OK && missing && sb_foreign_name(given, 0))
		status = sb_fail(&err, SB_E_INVALID, 0, "'%s' is written as on Windows", given);
	return status == SB_OK ? answer(child, call, path)
			       : sb_ahead_outcome(sb_tool_sb_error(&err), "refused", NULL);
}

/* --- in the keeper -------------------------------------------------------------------------------------- */

static bool grow(const char ***list, size_t count, const char *more)
{
	const char **grown = calloc(count + 2, sizeof *grown);

	if (!grown)
		return false;
	if (count)
		memcpy(grown, *list, count * sizeof *grown);
	grown[count] = more;
	*list = grown;
	return true;
}

/* The command line as if it had named the project.  What it had stays others', and is not freed. */
static bool add_project(struct sb_command_line *line, const char *path)
{
	struct sb_given *given = calloc(line->given_count + 1, sizeof *given);

	if (!given || !grow(&line->projects, line->project_count, path))
		return false;
	line->project_count++;
	if (line->within_count && !grow(&line->within, line->within_count++, path))
		return false;
	if (line->given_count)
		memcpy(given, line->given, line->given_count * sizeof *given);
	line->given = given;
	line->anywhere = true; /* the person has seen where it is */
	return sb_command_line_give(line, "anywhere", NULL, NULL) == SB_OK;
}

bool sb_keeper_open_project(struct keeper *keeper, const char *path)
{
	struct sb_command_line *line = malloc(sizeof *line);
	struct sb_setup *setup = calloc(1, sizeof *setup);
	char *own = strdup(path);
	size_t count = sb_list_count(keeper->opened), last;

	if (!line || !setup || !own || count >= MAX_OPENED)
		return false;
	*line = *keeper->options->line;
	if (!add_project(line, own) || sb_set_up(line, false, setup) != 0)
		return false;
	last = sb_list_count(setup->projects) - 1;
	/* a link may have taken its place since it was shown */
	if (strcmp(setup->projects[last], own) != 0 || sb_setup_protect(setup, NULL) != SB_OK ||
	    !grow(&keeper->opened, count, own))
		return false;
	keeper->own.line = line;
	keeper->own.setup = setup;
	return true;
}
