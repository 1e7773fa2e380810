/*
 * run.c - commands: started by the keeper, watched here.
 *
 * A run lives apart from the call that began it: a call in the background is answered at once,
 * one that asks (2026-07-28) ends and comes back, one that is cancelled takes its run along.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/write.h"
#include "files/foreign.h"
#include "mcp/server/server.h"
#include "path/path.h"

#define KEPT_RUNS 32       /* that have ended, for command_status and resources */
#define KILL_AFTER_MS 2000 /* between TERM and KILL */
#define DRAIN_MS 1000      /* how long output may come after the end */
#define READ_SIZE (64 * 1024)

static void free_run(struct sb_mcp_run *run)
{
	for (int i = 0; i < 2; i++) {
		sb_auto_close(&run->streams[i]);
		sb_spool_done(&run->spools[i]);
	}
	json_decref(run->report);
	json_decref(run->error);
	free(run->command);
	free(run->session);
	free(run->failed);
	free(run->attach);
	free(run);
}

/* The oldest that have ended give way. */
static void make_room(struct sb_mcp *mcp)
{
	size_t ended = 0;

	for (struct sb_mcp_run **at = &mcp->runs; *at;) { /* newest first */
		struct sb_mcp_run *run = *at;

		if (run->ended && !run->call && ++ended > KEPT_RUNS) {
			*at = run->next;
			free_run(run);
		} else {
			at = &run->next;
		}
	}
}

/* --- starting ------------------------------------------------------------------------------------ */

/* What the command reads, in a file that has no name. */
static int make_input(const struct sb_mcp_call *call)
{
	const char *text = sb_get_text(call->args, "stdin");
	int fd = text ? memfd_create("stdin", MFD_CLOEXEC) : -1;

	if (fd >= 0) {
		sb_write_all(fd, text, sb_get_length(call->args, "stdin"));
		lseek(fd, 0, SEEK_SET);
	}
	return fd;
}

/* The same of a worker: as the file tools see it, and so does the command. */
static json_t *find_seen(const struct sb_mcp *mcp, const char *wanted, char **out)
{
	struct sb_files_error why;
	struct sb_files_info info;

	if (sb_files_stat(mcp->view->files, NULL, wanted, true, &info, &why) != 0)
		return sb_tool_files_error(&why);
	if (info.type != SB_FILES_DIRECTORY)
		return sb_tool_failure("NOT_A_DIRECTORY", "'cwd' is no directory",
				       "Use a directory.", false, NULL);
	*out = strdup(info.path);
	return NULL;
}

/* F7, F8 */
static json_t *refuse_cwd(struct sb_mcp *mcp, const char *wanted, char **out)
{
	const char *root = sb_files_root(mcp->view->files, 0);
	json_t *failure = sb_tool_failure(
		"PATH_OUTSIDE_PROJECT", "'cwd' is outside the allowed directories",
		"Use a cwd inside them (list_allowed_directories), relative to the project root, as "
		"\"src\"; the command itself can read elsewhere.",
		true,
		json_pack("{s:o, s:o, s:o}", "given", sb_rpc_string(wanted), "path",
			  sb_rpc_string(*out), "root", sb_rpc_string(root)));

	sb_mcp_tell(mcp, json_pack("{s:s, s:s, s:o, s:o, s:o, s:s}", "k", "deny", "op", "read",
				   "path", sb_rpc_string(*out), "given", sb_rpc_string(wanted),
				   "root", sb_rpc_string(root), "tool", "run_command"));
	free(*out);
	*out = NULL;
	return failure;
}

/* F5: as a file tool says it, and records it. */
static json_t *refuse_foreign(struct sb_mcp *mcp, struct sb_mcp_call *call, const char *wanted,
			      char **out)
{
	struct sb_files_caller caller = {
		.size = sizeof caller, .tool = call->tool->name, .context = call};
	struct sb_files_error why = {0};
	struct sb_files_info info;

	free(*out);
	*out = NULL;
	if (sb_files_stat(mcp->view->files, &caller, wanted, true, &info, &why) == 0)
		return sb_tool_failure("CHANGED", "'cwd' was made meanwhile", "Call again.", false,
				       NULL);
	sb_call_tell_events(mcp, call);
	return sb_tool_files_error(&why);
}

/*
 * Where to run it.  Only a directory inside the roots: others would have to be asked about.  The
 * command itself goes there, inside the sandbox, so nothing depends on this being right.
 */
static json_t *find_cwd(struct sb_mcp *mcp, struct sb_mcp_call *call, char **out)
{
	const char *wanted = sb_get_text(call->args, "cwd");
	const char *first = sb_files_root(mcp->view->files, 0);
	SB_AUTO_FREE char *absolute = NULL;
	struct sb_error err;
	int missing = 0;

	*out = NULL;
	if (mcp->worker)
		return wanted ? find_seen(mcp, wanted, out) : NULL;
	if (!wanted) {
		if (strcmp(first, mcp->setup->home.cwd) != 0)
			*out = strdup(first);
		return NULL;
	}
	if (sb_path_expand(wanted, first, mcp->setup->home.home, &absolute, &err) != SB_OK ||
	    sb_path_canonical(absolute, out, &missing, &err) != SB_OK)
		return sb_tool_sb_error(&err);
	if (missing && sb_foreign_name(wanted, 0))
		return refuse_foreign(mcp, call, wanted, out);
	return sb_roots_have(mcp, *out) ? NULL : refuse_cwd(mcp, wanted, out);
}

static struct sb_mcp_run *make_run(struct sb_mcp *mcp, struct sb_mcp_call *call)
{
	struct sb_mcp_run *run = calloc(1, sizeof *run);
	long timeout;

	if (!run)
		return NULL;
	run->background = sb_get_true(call->args, "background");
	timeout = sb_arg_int(call->args, "timeoutMs", run->background ? 0 : 120000);
	run->number = ++mcp->last_run;
	snprintf(run->id, sizeof run->id, "run-%lu", run->number);
	run->command = strdup(sb_get_text(call->args, "command"));
	run->streams[0] = run->streams[1] = -1;
	sb_spool_init(&run->spools[0]);
	sb_spool_init(&run->spools[1]);
	run->started_ms = sb_now_ms();
	run->deadline_ms = timeout ? run->started_ms + timeout : 0;
	run->output_limit = (size_t)sb_arg_int(call->args, "outputLimit", 30000);
	run->elicit = call->elicit;
	run->next = mcp->runs;
	mcp->runs = run;
	return run;
}

void sb_run_start(struct sb_mcp *mcp, struct sb_mcp_call *call)
{
	SB_AUTO_FREE char *cwd = NULL;
	const json_t *command = json_object_get(call->args, "command");
	json_t *wrong = find_cwd(mcp, call, &cwd), *message;
	SB_AUTO_FD int in = -1;

	if (!wrong && strlen(json_string_value(command)) != json_string_length(command))
		wrong = sb_tool_failure("INVALID_ARGUMENT", "'command' has a NUL in it",
					"A command line cannot hold NUL.", false, NULL);
	/* execve(2): one word has at most 32 pages, with its NUL */
	if (!wrong && json_string_length(command) >= 32 * (size_t)sysconf(_SC_PAGESIZE))
		wrong = sb_tool_failure(
			"TOO_LARGE", "'command' is longer than a word can be",
			"Write it into a file and run that, or use stdin: 'bash -s'.", false, NULL);
	make_room(mcp);
	call->run = wrong ? NULL : make_run(mcp, call);
	if (wrong || !call->run) {
		sb_call_finish(mcp, call, wrong);
		return;
	}
	call->run->call = call;
	call->state = SB_CALL_RUN;
	in = make_input(call);
	message = json_pack("{s:s, s:I, s:O, s:o, s:b}", "k", "run", "run",
			    (json_int_t)call->run->number, "command", command, "roots",
			    sb_roots_json(mcp), "elicit", call->elicit);
	sb_put_text(message, "cwd", cwd);
	json_object_set_new(message, "needs",
			    json_pack("{s:O*, s:O*, s:O*, s:O*, s:O*, s:O*}", "reason",
				      json_object_get(call->args, "reason"), "stdin",
				      json_object_get(call->args, "stdin"), "askFirst",
				      json_object_get(call->args, "askFirst"), "access",
				      json_object_get(call->args, "access"), "network",
				      json_object_get(call->args, "network"), "writableRoots",
				      json_object_get(call->args, "writableRoots")));
	sb_link_send(&mcp->link, message, &in, in >= 0);
}

/* --- ending ------------------------------------------------------------------------------------------ */

static void send_signal(struct sb_mcp *mcp, const struct sb_mcp_run *run, bool hard)
{
	sb_mcp_tell(mcp, json_pack("{s:s, s:I, s:b}", "k", "signal", "run", (json_int_t)run->number,
				   "kill", hard));
}

/* TERM to the command; what is left after a while is killed with everything beneath it. */
static void stop(struct sb_mcp *mcp, struct sb_mcp_run *run)
{
	if (run->ended || run->kill_ms)
		return;
	run->kill_ms = sb_now_ms() + KILL_AFTER_MS;
	send_signal(mcp, run, false);
}

void sb_run_abandon(struct sb_mcp *mcp, struct sb_mcp_run *run)
{
	run->stopped = true;
	run->call = NULL;
	sb_ask_drop(mcp, NULL, run);
	stop(mcp, run);
}

static void conclude(struct sb_mcp *mcp, struct sb_mcp_run *run)
{
	struct sb_mcp_call *call = run->call;

	if (!sb_run_finished(run))
		return;
	sb_ask_drop(mcp, NULL, run);
	/* a parked call hears of it when its client comes back */
	if (call && call->state == SB_CALL_RUN) {
		sb_run_progress(mcp, run, INT64_MAX);
		sb_run_status(mcp, call);
	}
}

/* --- from the keeper --------------------------------------------------------------------------------- */

static void started(struct sb_mcp *mcp, struct sb_mcp_run *run, int fds[SB_LINK_FDS])
{
	int64_t waited = sb_now_ms() - run->started_ms;

	run->started = true;
	run->started_ms += waited; /* for an answer */
	if (run->deadline_ms)
		run->deadline_ms += waited;
	run->streams[0] = sb_take_fd(&fds[0]);
	run->streams[1] = sb_take_fd(&fds[1]);
	if (run->background && run->call) {
		struct sb_mcp_call *call = run->call;

		run->call = NULL;
		/* one that was answered by others hears of it when its client comes back */
		if (call->state == SB_CALL_PARKED)
			call->result = sb_run_result(run, 0, 0);
		else
			sb_call_finish(mcp, call, sb_run_result(run, 0, 0));
	}
}

static void ended(struct sb_mcp *mcp, struct sb_mcp_run *run, const json_t *message)
{
	const char *failed = sb_get_text(message, "failed");
	const char *attach = sb_get_text(message, "attach");

	run->ended = true;
	run->ended_ms = sb_now_ms();
	run->status = (int)json_integer_value(json_object_get(message, "status"));
	run->report = json_incref(json_object_get(message, "report"));
	run->error = json_incref(json_object_get(message, "error"));
	if (run->error)
		failed = sb_get_text(run->error, "person");
	if (failed)
		run->failed = strdup(failed);
	if (attach)
		run->attach = strdup(attach);
	conclude(mcp, run);
}

void sb_run_message(struct sb_mcp *mcp, const char *kind, const json_t *message,
		    int fds[SB_LINK_FDS])
{
	struct sb_mcp_run *run = sb_run_by_number(mcp, sb_get_number(message, "run"));
	const char *session = sb_get_text(message, "session");

	if (!run)
		return;
	if (strcmp(kind, "started") == 0) {
		started(mcp, run, fds);
	} else if (strcmp(kind, "ended") == 0) {
		ended(mcp, run, message);
	} else if (strcmp(kind, "session") == 0 && session) {
		free(run->session);
		run->session = strdup(session);
	}
}

/* --- its output ----------------------------------------------------------------------------------------- */

static void close_stream(struct sb_mcp_run *run, int stream)
{
	sb_auto_close(&run->streams[stream]);
	run->streams[stream] = -1;
}

void sb_run_read(struct sb_mcp *mcp, struct sb_mcp_run *run, int stream)
{
	static char bytes[READ_SIZE];
	ssize_t got = read(run->streams[stream], bytes, sizeof bytes);

	if (got > 0) {
		sb_spool_add(&run->spools[stream], bytes, (size_t)got);
		sb_run_progress(mcp, run, sb_now_ms());
		return;
	}
	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	close_stream(run, stream);
	conclude(mcp, run);
}

/* --- time -------------------------------------------------------------------------------------------------- */

static void earlier(int64_t *next, int64_t when)
{
	if (when && when < *next)
		*next = when;
}

static int64_t tick_one(struct sb_mcp *mcp, struct sb_mcp_run *run, int64_t now)
{
	int64_t next = INT64_MAX;

	if (run->started && !run->ended && run->deadline_ms && now >= run->deadline_ms &&
	    !run->kill_ms) {
		run->timed_out = true;
		stop(mcp, run);
	}
	if (!run->ended && run->kill_ms && now >= run->kill_ms) {
		send_signal(mcp, run, true);
		run->kill_ms = now + KILL_AFTER_MS;
	}
	if (run->ended && !sb_run_finished(run) && now >= run->ended_ms + DRAIN_MS) {
		/* somebody else has its pipe: what it printed is here */
		for (int i = 0; i < 2; i++)
			close_stream(run, i);
		conclude(mcp, run);
	}
	if (!run->ended) {
		earlier(&next, run->kill_ms ? run->kill_ms : run->started ? run->deadline_ms : 0);
	} else if (!sb_run_finished(run)) {
		earlier(&next, run->ended_ms + DRAIN_MS);
	}
	return next;
}

int64_t sb_run_tick(struct sb_mcp *mcp, int64_t now)
{
	int64_t next = INT64_MAX;
	struct sb_mcp_run *run, *after;

	for (run = mcp->runs; run; run = after) {
		int64_t when;

		after = run->next;
		when = tick_one(mcp, run, now);
		earlier(&next, when);
	}
	return next;
}

/* --- the two other tools --------------------------------------------------------------------------------- */

static json_t *no_run(void)
{
	return sb_tool_failure("NOT_FOUND", "there is no such run",
			       "Use a runId from run_command; command_status without runId lists "
			       "them.",
			       false, NULL);
}

/* Also the end of run_command itself. */
void sb_run_status(struct sb_mcp *mcp, struct sb_mcp_call *call)
{
	const char *id = sb_get_text(call->args, "runId");
	long wait = sb_arg_int(call->args, "waitMs", 0);
	struct sb_mcp_run *run = call->run ? call->run : id ? sb_run_by_id(mcp, id) : NULL;

	if (!run) {
		sb_call_finish(mcp, call, id ? no_run() : sb_run_list(mcp));
		return;
	}
	/* whoever waits for it already was asked, and comes back with the answers */
	if (!sb_run_finished(run) && !call->until_ms && call->modern &&
	    (!run->call || run->call == call)) {
		call->run = run;
		if (sb_ask_open(mcp, call)) { /* a question waits for somebody who asks */
			call->state = SB_CALL_RUN;
			run->call = call;
			sb_ask_park(mcp, call);
			return;
		}
	}
	if (!sb_run_finished(run) && wait && !call->until_ms && (!run->call || run->call == call)) {
		call->run = run;
		run->call = call;
		call->state = SB_CALL_RUN;
		call->until_ms = sb_now_ms() + wait;
		return;
	}
	sb_call_finish(mcp, call,
		       sb_run_result(run, (uint64_t)sb_arg_int(call->args, "stdoutOffset", 0),
				     (uint64_t)sb_arg_int(call->args, "stderrOffset", 0)));
}

void sb_run_stop(struct sb_mcp *mcp, struct sb_mcp_call *call)
{
	struct sb_mcp_run *run = sb_run_by_id(mcp, sb_get_text(call->args, "runId"));

	if (!run) {
		sb_call_finish(mcp, call, no_run());
		return;
	}
	if (sb_run_finished(run) || run->call) {
		/* whoever waits for it is told by its end */
		if (!run->ended)
			run->stopped = true;
		stop(mcp, run);
		sb_call_finish(mcp, call, sb_run_result(run, 0, 0));
		return;
	}
	run->stopped = !run->ended;
	stop(mcp, run);
	call->run = run;
	run->call = call;
	call->state = SB_CALL_RUN;
}
