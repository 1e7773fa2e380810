/*
 * main.c - sandbash-mcp: an MCP server on standard input and output.
 *
 *     sandbash --mcp [OPTION]... [DIRECTORY]...
 *
 * The directories are the projects, the first being the current one; without any, the current
 * directory is.  Starting is quick and leaves nothing behind: a client may start a second
 * server only to see whether it answers.  The record and the socket come with the first call
 * that needs them.
 *
 * Birth: rules from all tiers, the keeper (fork), the view of the files, Landlock, then bytes
 * of the client.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/list.h"
#include "mcp/keeper/keeper.h"
#include "mcp/server/server.h"
#include "options/complain.h"
#include "options/environ.h"
#include "options/set_up.h"
#include "path/path.h"

static const char *keep_env(const struct sb_command_line *line)
{
	static char all[16 * 1024];

	if (!line->keep_env)
		return SB_ENVIRON_USUAL;
	if (snprintf(all, sizeof all, "%s,%s", SB_ENVIRON_USUAL, line->keep_env) >= (int)sizeof all)
		return line->keep_env;
	return all;
}

/* Files are named relative to where we were started, rules to the project. */
static int make_absolute(const char **files, size_t count, struct sb_error *err)
{
	char cwd[PATH_MAX];

	for (size_t i = 0; i < count; i++) {
		char *absolute;

		if (!getcwd(cwd, sizeof cwd))
			return sb_fail(err, SB_E_SYSTEM, errno, "no current directory");
		if (sb_path_expand(files[i], cwd, getenv("HOME"), &absolute, err) != SB_OK)
			return SB_E_INVALID;
		files[i] = absolute;
	}
	return SB_OK;
}

/*
 * Directories on the command line are projects, the first one the current directory.  Whoever
 * writes them into a configuration means them, also outside of the home directory.
 */
static int take_directories(struct sb_command_line *line, struct sb_error *err)
{
	size_t count = sb_list_count(line->command), more;
	const char **projects;
	const struct {
		const char **all;
		size_t count;
	} lists[] = {{line->policy_files, line->policy_file_count},
		     {line->projects, line->project_count},
		     {line->within, line->within_count},
		     {&line->worker, line->worker != NULL}};
	int status = SB_OK;

	for (size_t i = 0; i < sizeof lists / sizeof lists[0] && status == SB_OK; i++)
		status = make_absolute(lists[i].all, lists[i].count, err);
	for (size_t i = 0; i < line->given_count && status == SB_OK; i++)
		if (line->given[i].option->is_file) /* commands get it, too */
			status = make_absolute(&line->given[i].value, 1, err);
	if (status != SB_OK || !count)
		return status;
	if (line->command[0][0] == '-')
		return sb_fail(err, SB_E_USAGE, 0, "--mcp takes no option '%s'", line->command[0]);
	status = make_absolute((const char **)line->command, count, err);
	if (status != SB_OK)
		return status;
	more = line->project_count + count - 1;
	projects = reallocarray(line->projects, more + 1, sizeof *projects);
	if (!projects)
		return sb_no_memory(err);
	memcpy(projects + line->project_count, line->command + 1, (count - 1) * sizeof *projects);
	projects[more] = NULL;
	line->projects = projects;
	line->project_count = more;
	line->anywhere = true;
	status = sb_command_line_give(line, "anywhere", NULL, err);
	if (status != SB_OK)
		return status;
	if (chdir(line->command[0]) != 0)
		return sb_fail(err, SB_E_MISSING, errno, "cannot serve '%s'", line->command[0]);
	return SB_OK;
}

/* The program that runs commands: beside this one; held, so that no other can take its place. */
static int find_sandbash(void)
{
	static const char *const places[] = {"sandbash", "../bin/sandbash", "../../bin/sandbash"};
	char directory[PATH_MAX], program[PATH_MAX + 32];
	ssize_t length = readlink("/proc/self/exe", directory, sizeof directory - 1);
	char *slash;

	directory[length > 0 ? length : 0] = '\0';
	slash = strrchr(directory, '/');
	if (!slash)
		return -1;
	*slash = '\0';
	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
		int fd;

		snprintf(program, sizeof program, "%s/%s", directory, places[i]);
		fd = open(program, O_PATH | O_CLOEXEC);
		if (fd >= 0)
			return fd;
	}
	return -1;
}

static int fork_keeper(const struct sb_command_line *line, const struct sb_setup *setup,
		       struct sb_mcp *mcp, struct sb_error *err)
{
	struct sb_keeper_options options = {.line = line,
					    .setup = setup,
					    .worker = mcp->worker,
					    .session = sb_session_in_use(),
					    .sandbash = find_sandbash(),
					    .keep_env = keep_env(line)};
	const char *project;
	int ends[2], status;
	pid_t keeper;

	if (line->require_audit) {
		status = sb_keeper_require_record(&options, &options.audit, err);
		if (status != SB_OK)
			return status;
	}
	if (!sb_link_pair(ends))
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot make a socket");
	keeper = fork();
	if (keeper < 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot start a process");
	if (keeper == 0) {
		close(ends[0]);
		options.link = ends[1];
		sb_keeper_main(&options);
	}
	for (size_t i = 0; options.session &&
			   (project = sb_session_project(options.session, i, setup->home.home));
	     i++)
		if (*project)
			sb_roots_opened(mcp, project);
	close(ends[1]);
	sb_audit_close(options.audit); /* the keeper has it open, and holds it */
	sb_auto_close(&options.sandbash);
	sb_link_init(&mcp->link, ends[0]);
	return SB_OK;
}

static int prepare(struct sb_mcp *mcp, struct sb_error *err)
{
	signal(SIGPIPE, SIG_IGN);
	mcp->last_job = &mcp->jobs;
	mcp->leaderless = true; /* until this thread takes the lead */
	mcp->thread_count = mcp->waiting = 1;
	pthread_mutex_init(&mcp->lock, NULL);
	pthread_cond_init(&mcp->more, NULL);
	sb_frame_init(&mcp->frame, SB_RPC_LINE_MAX);
	mcp->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	mcp->out = sb_out_new(STDOUT_FILENO);
	if (mcp->wake < 0 || !mcp->out)
		return sb_no_memory(err);
	if (!sb_token_key_make(&mcp->key))
		return sb_fail(err, SB_E_SYSTEM, errno, "no randomness");
	return SB_OK;
}

static int serve(struct sb_command_line *line, struct sb_setup *setup)
{
	static struct sb_tool_worker worker;
	static struct sb_mcp mcp;
	struct sb_files_error why = {0};
	struct sb_error err;
	int status;

	mcp.line = line;
	mcp.setup = setup;
	json_object_seed(0); /* before the source of randomness is out of reach */
	status = sb_setup_protect(setup, &err);
	if (status == SB_OK && line->worker) {
		status = sb_tool_worker_open(setup, line->worker, &worker, &err);
		mcp.worker = &worker;
	}
	if (status == SB_OK)
		status = fork_keeper(line, setup, &mcp, &err);
	if (status == SB_OK)
		status = prepare(&mcp, &err);
	if (status != SB_OK)
		return sb_report(&err);
	if (sb_mcp_open_view(&mcp, (const char *const *)setup->projects, &why) != 0) {
		fprintf(stderr, "sandbash: %s\n", why.person);
		return SB_EXIT_FAILURE;
	}
	if (sb_mcp_confine(setup, mcp.worker, &err) != SB_OK) {
		if (!line->best_effort)
			return sb_report(&err);
		sb_warn("%s", err.message);
	}
	sb_mcp_run(&mcp);
}

int main(int argc, char **argv)
{
	/* never freed: at the end a worker may still be at a slow disk, with these in its hands */
	static struct sb_command_line line;
	static struct sb_setup setup;
	struct sb_error err;
	int status;

	if (argc < 1)
		return SB_EXIT_USAGE;
	if (sb_command_line_parse(argc, argv, &line, &err) != SB_OK ||
	    take_directories(&line, &err) != SB_OK) {
		sb_report(&err);
		return SB_EXIT_USAGE;
	}
	status = sb_set_up(&line, false, &setup);
	if (status)
		return status;
	return serve(&line, &setup);
}
