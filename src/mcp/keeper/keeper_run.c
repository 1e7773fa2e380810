/*
 * keeper_run.c - commands: sandbash, started with the server's own rules.
 *
 * The keeper is attached to each run from its start (--ask-fd), so that its questions can be
 * put to the client's user, or to people who attached to the server.  A run that nobody can be
 * asked for is not greeted, and refuses at once, as it would without us.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/write.h"
#include "consent/attach_wire.h"
#include "mcp/keeper/keeper_impl.h"
#include "mcp/wire/rpc.h"
#include "policy/network.h"
#include "policy/settings.h"
#include "sys/process.h"

#define ASK_FD "3"     /* in the run */
#define MAX_RUNS 32    /* at one time */
#define MAX_WORDS 1024 /* of a run's command line */
#define REPORT_MAX (16 * 1024 * 1024)
#define GRACE_MS 2000 /* between TERM and KILL when the server is gone */

struct words {
	char *all[MAX_WORDS + 1];
	size_t count;
	bool failed;
};

static void add_word(struct words *words, const char *before, const char *text)
{
	SB_AUTO_BUF struct sb_buf word = SB_BUF(256 * 1024);
	char *taken;

	sb_buf_printf(&word, "%s%s", before, text);
	taken = words->count < MAX_WORDS ? sb_buf_take(&word) : NULL;
	if (taken)
		words->all[words->count++] = taken;
	else
		words->failed = true;
}

static void free_words(struct words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->all[i]);
}

/* The server's own options, as far as the table of options says that commands get them (options.h). */
static void add_options(struct words *words, const struct sb_command_line *line,
			const struct sb_setup *setup, const struct keeper_run *run)
{
	const struct keeper_needs *needs = &run->needs;

	for (size_t i = 0; i < line->given_count; i++) {
		const struct sb_given *given = &line->given[i];
		SB_AUTO_BUF struct sb_buf option = SB_BUF(4096);

		/* without a sandbox no rule holds, and none is to be promised */
		if (!given->option->inherited ||
		    (run->group && strcmp(given->option->name, "require-audit") != 0))
			continue;
		sb_buf_printf(&option, "--%s%s", given->option->name, given->value ? "=" : "");
		add_word(words, option.data, given->value ? given->value : "");
	}
	/* settings as they hold here, whoever has said so, or as this command is to have them */
	for (int i = 0; i < SB_SETTING_COUNT; i++) {
		int held = sb_policy_get(setup->policy, (enum sb_setting)i),
		    value = needs->settings[i] ? needs->settings[i] - 1 : held;

		if (run->group && i != SB_SETTING_MODE)
			continue;
		if (sb_settings[i].options[value] &&
		    (value != sb_settings[i].normal || value != held))
			add_word(words, "", sb_settings[i].options[value]);
	}
	/* a command is no agent by itself: it hears what it may reach unasked */
	for (size_t i = 0;
	     setup->network_assumed && !run->group && !needs->settings[SB_SETTING_NETWORK] &&
	     i < sb_connect_count(setup->policy);
	     i++) {
		const struct sb_connect_rule *rule = sb_connect_at(setup->policy, i);

		if (rule->tier == SB_TIER_PROFILE && rule->verdict == SB_ALLOW)
			add_word(words, "--connect=", rule->text);
	}
	/* by the directories that they were when the server started */
	for (size_t i = 1; setup->projects[0] && setup->projects[i]; i++)
		add_word(words, "--project=", setup->projects[i]);
	/* what was refused to a variable is refused once, and said once: by the server */
	if (line->config_dir || setup->home.unused[SB_UNUSED_REFUSED])
		add_word(words, "--config-dir=", setup->home.config_dir);
}

/*
 * The command runs where it was asked for, but the run stands in the project: a run may change
 * its own directory, whatever rules say about that directory from further up.
 */
static void add_command(struct words *words, const struct keeper *keeper, const char *command,
			const char *cwd)
{
	add_word(words, "", "--");
	if (cwd) {
		/* a worker may be limited to the one shell */
		add_word(words, "", keeper->options->worker ? "bash" : "/bin/sh");
		add_word(words, "", "-c");
		add_word(words, "", "cd -- \"$1\" && exec bash -c \"$2\"");
		add_word(words, "", "sh");
		add_word(words, "", cwd);
	} else {
		add_word(words, "", "bash");
		add_word(words, "", "-c");
	}
	add_word(words, "", command);
}

/* What the client's roots leave, or the server's own --within, or nothing: all projects. */
static void add_within(struct words *words, const struct keeper *keeper, const json_t *given,
		       const struct keeper_needs *needs)
{
	const struct sb_command_line *line = keeper->options->line;
	SB_AUTO_FREE const char **roots = sb_keeper_roots(keeper, given);

	for (size_t i = 0; i < needs->outside_count; i++)
		add_word(words, "--grant=", needs->outside[i]);
	for (size_t i = 0; i < needs->inside_count; i++)
		add_word(words, "--within=", needs->inside[i]);
	if (needs->inside_count)
		return; /* they lie in what follows */

	words->failed |= !roots;
	for (size_t i = 0; roots && json_array_size(given) && roots[i]; i++)
		add_word(words, "--within=", roots[i]);
	for (size_t i = 0; !json_array_size(given) && i < line->within_count; i++)
		add_word(words, "--within=", line->within[i]);
}

static void make_words(struct keeper *keeper, const struct keeper_run *run, const json_t *message,
		       struct words *words)
{
	const struct sb_keeper_options *options = keeper->options;

	add_word(words, "", "sandbash");
	add_options(words, options->line, options->setup, run);
	if (!options->worker && !run->group)
		add_within(words, keeper, json_object_get(message, "roots"), &run->needs);
	add_word(words, "--session=", keeper->session_name);
	add_word(words, "--report=", run->report);
	/* what is usual names directories of this machine: a worker gets what was asked for */
	if (!options->worker || options->line->keep_env)
		add_word(words, "--keep-env=",
			 options->worker ? options->line->keep_env : options->keep_env);
	add_word(words, "", "--quiet");
	if (run->attached >= 0)
		add_word(words, "", "--ask-fd=" ASK_FD);
	add_command(words, keeper, sb_get_text(message, "command"), sb_get_text(message, "cwd"));
}

/* --- starting ------------------------------------------------------------------------------------- */

struct ends { /* of a run's descriptors: what it gets, and what stays here */
	int in, out[2], err[2], ask[2];
	int project; /* where it starts */
};

static void close_ends(struct ends *ends)
{
	int *all[] = {&ends->in,     &ends->out[0], &ends->out[1], &ends->err[0],
		      &ends->err[1], &ends->ask[0], &ends->ask[1], &ends->project};

	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		sb_auto_close(all[i]);
}

static bool open_ends(struct ends *ends)
{
	int yes = 1;

	/* every message is to carry its sender, also those that wait before the run reads */
	return pipe2(ends->out, O_CLOEXEC) == 0 && pipe2(ends->err, O_CLOEXEC) == 0 &&
	       socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends->ask) == 0 &&
	       setsockopt(ends->ask[0], SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) == 0 &&
	       setsockopt(ends->ask[1], SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) == 0 &&
	       (ends->in >= 0 || (ends->in = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0);
}

/*
 * SECURITY: a run is started in the directory that was the project when the server started.
 *
 * Danger: a run's own directory is its project, open to changes.  Where that lies in another
 * project, or in what a rule opens, a command can rename it and put a link there: the next one
 * would be started where the link leads, with all rights to that.
 * Price: until the directory is back, no command runs.
 * Held by: tests/mcp/hostile.py
 */
static int open_project(const struct keeper *keeper)
{
	/* follows no link on the way, and holds one at its end as what it is */
	SB_AUTO_FD int fd = sb_sys_open_path(keeper->options->setup->home.cwd);
	struct stat info;

	return fd >= 0 && fstat(fd, &info) == 0 && S_ISDIR(info.st_mode) ? sb_take_fd(&fd) : -1;
}

/* In the new process.  Its ends may have the numbers that they are to get: high ones first. */
static _Noreturn void become(const struct keeper *keeper, const struct keeper_run *run,
			     const struct ends *ends, char *const *words, pid_t parent)
{
	int high[4] = {fcntl(ends->in, F_DUPFD_CLOEXEC, 100),
		       fcntl(ends->out[1], F_DUPFD_CLOEXEC, 100),
		       fcntl(ends->err[1], F_DUPFD_CLOEXEC, 100),
		       fcntl(ends->ask[1], F_DUPFD_CLOEXEC, 100)};
	int program = fcntl(keeper->options->sandbash, F_DUPFD_CLOEXEC, 100);
	sigset_t none;

	/* kept over execve(2): if the keeper dies, the run's asker does, and all with it */
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != parent || (run->group && setpgid(0, 0) != 0))
		_exit(125);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	for (int fd = 0; fd < 4; fd++)
		if (dup2(high[fd], fd) < 0)
			_exit(125);
	if (fchdir(ends->project) != 0)
		_exit(125);
	fexecve(program, words, environ);
	_exit(126);
}

static void send_failed(struct keeper *keeper, unsigned long run, const char *why)
{
	sb_keeper_tell(keeper, json_pack("{s:s, s:I, s:s}", "k", "ended", "run", (json_int_t)run,
					 "failed", why));
}

/* Takes the error over. */
static void send_error(struct keeper *keeper, unsigned long run, json_t *error)
{
	sb_keeper_tell(keeper, json_pack("{s:s, s:I, s:o}", "k", "ended", "run", (json_int_t)run,
					 "error", error));
}

static void free_run(struct keeper_run *run)
{
	sb_approvals_free(run->agreed);
	sb_auto_close(&run->pidfd);
	sb_auto_close(&run->attached);
	sb_auto_close(&run->in);
	if (run->report)
		unlink(run->report);
	free(run->report);
	sb_needs_done(&run->needs);
	json_decref(run->message);
	free(run);
}

static char *report_path(struct keeper *keeper)
{
	const char *state = keeper->options->setup->home.state_dir;
	SB_AUTO_BUF struct sb_buf path = SB_BUF(8192);

	/* below the state directory, which no run can read or change */
	sb_buf_printf(&path, "%s/mcp", state);
	sb_make_dirs(path.data, 0700, "make", NULL);
	sb_buf_printf(&path, "/%d-%u.json", getpid(), ++keeper->run_count);
	return sb_buf_take(&path);
}

static const char *start(struct keeper *keeper, struct keeper_run *run, struct ends *ends,
			 const json_t *message)
{
	static struct words words; /* large; one at a time */
	pid_t parent = getpid();

	if (!open_ends(ends))
		return "cannot make pipes";
	run->attached = sb_take_fd(&ends->ask[0]);
	/* before it is there: its first question may come before we have another turn */
	sb_keeper_run_greet(keeper, run);
	memset(&words, 0, sizeof words);
	make_words(keeper, run, message, &words);
	run->process = words.failed ? -1 : fork();
	if (run->process == 0)
		become(keeper, run, ends, words.all, parent);
	free_words(&words);
	if (run->process < 0)
		return "cannot start a process";
	if (run->group) /* whoever is first: it may be ended before it had its turn */
		setpgid(run->process, run->process);
	run->pidfd = (int)syscall(SYS_pidfd_open, run->process, 0);
	return run->pidfd < 0 ? "cannot watch the process" : NULL;
}

/* What keeps it from starting; NULL: it has started. */
static const char *launch(struct keeper *keeper, struct keeper_run *run)
{
	struct ends ends = {sb_take_fd(&run->in), {-1, -1}, {-1, -1}, {-1, -1}, -1};
	const char *why;
	size_t count = 0;

	for (const struct keeper_run *at = keeper->runs; at; at = at->next)
		count++;
	if (keeper->options->sandbash < 0)
		why = "the program 'sandbash' is not beside the server";
	else if (!json_is_string(json_object_get(run->message, "command")) || !run->report)
		why = "out of memory";
	else if (count >= MAX_RUNS)
		why = "too many commands run at once: stop one first";
	else if ((ends.project = open_project(keeper)) < 0)
		why = "the project's directory was moved, or replaced by a link";
	else
		why = start(keeper, run, &ends, run->message);
	if (why && run->process > 0) {
		kill(run->process, SIGKILL);
		waitpid(run->process, NULL, 0);
	}
	if (!why) {
		int streams[] = {ends.out[0], ends.err[0]};

		run->next = keeper->runs;
		keeper->runs = run;
		sb_link_send(&keeper->link, sb_rpc_about("started", "run", run->run), streams, 2);
	}
	close_ends(&ends);
	return why;
}

static void launch_or_say(struct keeper *keeper, struct keeper_run *run)
{
	const char *why = launch(keeper, run);

	if (!why)
		return;
	send_failed(keeper, run->run, why);
	free_run(run);
}

/* C6 */
static json_t *nobody_error(const struct keeper *keeper, const struct keeper_run *run)
{
	SB_AUTO_BUF struct sb_buf allow = SB_BUF(256 * 1024);
	char attach[SB_KEEPER_WAY_IN];
	bool helps = sb_keeper_way_in(keeper, attach);
	json_t *error = sb_needs_error(
		"NEEDS_CONSENT",
		helps ? "Nobody was asked. Tell the user: to answer such questions, run 'sandbash "
			"--watch', or what 'attach' says, in another terminal, and let the call be repeated."
		      : "Nobody is asked in this session. Run it with what the rules allow.",
		true, "the command asks for more than the session's rules allow");

	if (!run->needs.unsandboxed) { /* which no option is to make a habit of */
		sb_needs_allow(keeper, &run->needs, &allow);
		json_object_set_new(error, "allow", sb_rpc_buf(&allow));
	}
	if (helps)
		json_object_set_new(error, "attach", json_string(attach));
	return error;
}

/* C10: asked once, up front.  False: it cannot be, and that is said. */
static bool ask_first(struct keeper *keeper, struct keeper_run *run)
{
	const char *command = sb_get_text(run->message, "command");
	struct sb_event event;
	bool refused = !command;
	struct keeper_question *question = NULL;

	if (command && run->needs.unsandboxed)
		question = sb_unsandboxed_question(keeper, run->message, &refused);
	else if (command)
		question = sb_needs_question(keeper, &run->needs, command, &refused);
	if (!question) {
		send_error(keeper, run->run,
			   refused ? sb_needs_denied() : nobody_error(keeper, run));
		return false;
	}
	question->run = run;
	run->question = question;
	if (!sb_keeper_put(keeper, question, run->elicit)) {
		sb_keeper_withdraw(keeper, question, "nobody can be asked");
		send_error(keeper, run->run, nobody_error(keeper, run));
		return false;
	}
	event = sb_keeper_event_of(question, SB_EVENT_ASK, NULL);
	event.note = run->needs.unsandboxed ? question->shown.notes[0] : NULL;
	sb_keeper_record(keeper, &event);
	run->next = keeper->asking;
	keeper->asking = run;
	return true;
}

void sb_keeper_run_decided(struct keeper *keeper, struct keeper_run *run, enum sb_answer answer)
{
	SB_UNLINK(keeper->asking, run);
	if (answer == SB_ANSWER_ONCE) {
		run->agreed = sb_needs_agreed(&run->needs);
		launch_or_say(keeper, run);
		return;
	}
	if (answer == SB_ANSWER_DENY && run->needs.unsandboxed)
		sb_unsandboxed_refused(keeper, run->message);
	else if (answer == SB_ANSWER_DENY)
		sb_needs_refused(keeper, &run->needs);
	send_error(keeper, run->run,
		   answer == SB_ANSWER_DENY ? sb_needs_denied() : nobody_error(keeper, run));
	free_run(run);
}

void sb_keeper_run(struct keeper *keeper, const json_t *message, int in)
{
	struct keeper_run *run = calloc(1, sizeof *run);
	json_t *wrong;

	sb_keeper_open_record(keeper);
	if (!run) {
		sb_auto_close(&in);
		return;
	}
	*run = (struct keeper_run){
		.run = sb_get_number(message, "run"),
		.message = json_incref((json_t *)message),
		.in = in,
		.pidfd = -1,
		.attached = -1,
		.elicit = sb_keeper_elicits(keeper, message),
		.report = report_path(keeper),
	};
	wrong = sb_unsandboxed_wanted(message) ? sb_unsandboxed_read(keeper, message, &run->needs)
					       : sb_needs_read(keeper, message, &run->needs);
	run->group = run->needs.unsandboxed ||
		     sb_policy_mode(keeper->options->setup->policy) == SB_MODE_DANGER_FULL_ACCESS;
	if (wrong) {
		send_error(keeper, run->run, wrong);
		free_run(run);
	} else if (!run->needs.asks) {
		launch_or_say(keeper, run);
	} else if (!ask_first(keeper, run)) {
		free_run(run);
	}
}

/* --- its questions ---------------------------------------------------------------------------------- */

static void tell(struct keeper_run *run, const struct sb_attach_message *message)
{
	SB_AUTO_BUF struct sb_buf bytes = SB_BUF(SB_ATTACH_BYTES);

	if (run->attached >= 0 && sb_attach_encode(message, &bytes))
		send(run->attached, bytes.data, bytes.length, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void sb_keeper_run_greet(struct keeper *keeper, struct keeper_run *run)
{
	if (run->greeted ||
	    (!run->elicit && !sb_keeper_people(keeper) && !keeper->ahead && !run->agreed))
		return;
	run->greeted = true;
	tell(run, &(struct sb_attach_message){.kind = SB_ATTACH_HELLO});
}

void sb_keeper_run_answered(struct keeper_run *run, unsigned long id, enum sb_answer answer)
{
	tell(run, &(struct sb_attach_message){
			  .kind = SB_ATTACH_ANSWER, .id = id, .number = (int)answer});
}

static struct keeper_question *find(struct keeper *keeper, const struct keeper_run *run,
				    unsigned long id)
{
	struct keeper_question *at = keeper->questions;

	while (at && (at->run != run || at->run_id != id))
		at = at->next;
	return at;
}

static void put(struct keeper *keeper, struct keeper_run *run, const struct sb_question *shown)
{
	enum sb_answer known = keeper->options->worker
				       ? sb_keeper_worker_recall(keeper, shown)
				       : sb_keeper_known(keeper, run->agreed, shown);
	struct keeper_question *question =
		known == SB_ANSWER_NONE ? sb_keeper_question(keeper, shown) : NULL;

	if (question) {
		question->run = run;
		question->run_id = shown->id;
		if (sb_keeper_put(keeper, question, run->elicit))
			return;
		sb_keeper_withdraw(keeper, question, "nobody can be asked");
	}
	sb_keeper_run_answered(run, shown->id, known);
}

static void take(struct keeper *keeper, struct keeper_run *run,
		 const struct sb_attach_message *message)
{
	struct keeper_question *question;

	if (message->kind == SB_ATTACH_QUESTION) {
		put(keeper, run, &message->question);
	} else if (message->kind == SB_ATTACH_WITHDRAWN) {
		question = find(keeper, run, message->id);
		if (question)
			sb_keeper_withdraw(keeper, question, "no longer open in the run");
	} else if (message->kind == SB_ATTACH_WELCOME && message->text) {
		sb_keeper_tell(keeper, json_pack("{s:s, s:I, s:o}", "k", "session", "run",
						 (json_int_t)run->run, "session",
						 sb_rpc_string(message->text)));
	}
}

static void drop_questions(struct keeper *keeper, const struct keeper_run *run)
{
	struct keeper_question *at = keeper->questions;

	while (at) {
		struct keeper_question *next = at->next;

		if (at->run == run)
			sb_keeper_withdraw(keeper, at, "the command has ended");
		at = next;
	}
}

void sb_keeper_run_heard(struct keeper *keeper, struct keeper_run *run)
{
	static char bytes[SB_ATTACH_BYTES];
	struct sb_attach_message message;
	ssize_t got = recv(run->attached, bytes, sizeof bytes, MSG_DONTWAIT | MSG_TRUNC);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got > 0 && (size_t)got <= sizeof bytes &&
	    sb_attach_decode(bytes, (size_t)got, &message)) {
		take(keeper, run, &message);
		return;
	}
	sb_auto_close(&run->attached);
	run->attached = -1;
	drop_questions(keeper, run);
}

/* --- its end ------------------------------------------------------------------------------------------ */

static json_t *read_report(const char *path)
{
	SB_AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat info;
	SB_AUTO_FREE char *text = NULL;
	ssize_t got;

	if (fd < 0 || fstat(fd, &info) != 0 || info.st_size <= 0 || info.st_size > REPORT_MAX)
		return NULL;
	text = malloc((size_t)info.st_size);
	got = text ? read(fd, text, (size_t)info.st_size) : -1;
	return got > 0 ? json_loadb(text, (size_t)got, 0, NULL) : NULL;
}

void sb_keeper_run_ended(struct keeper *keeper, struct keeper_run *run)
{
	char attach[SB_KEEPER_WAY_IN];
	int status = 0;
	json_t *message;

	if (waitpid(run->process, &status, WNOHANG) != run->process)
		return;
	/* its last words */
	while (run->attached >= 0) {
		struct pollfd ready = {run->attached, POLLIN, 0};

		if (poll(&ready, 1, 0) != 1)
			break;
		sb_keeper_run_heard(keeper, run);
	}
	drop_questions(keeper, run);
	message = json_pack("{s:s, s:I, s:i}", "k", "ended", "run", (json_int_t)run->run, "status",
			    WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
	json_object_set_new(message, "report", read_report(run->report));
	if (sb_keeper_way_in(keeper, attach))
		json_object_set_new(message, "attach", json_string(attach));
	sb_keeper_tell(keeper, message);
	SB_UNLINK(keeper->runs, run);
	free_run(run);
}

/* A sandbox ends all that is in it; without one it is the group, as a terminal would. */
static void end(const struct keeper_run *run, int signal)
{
	kill(run->group ? -run->process : run->process, signal);
}

void sb_keeper_signal(struct keeper *keeper, const json_t *message)
{
	unsigned long number = sb_get_number(message, "run");
	bool hard = sb_get_true(message, "kill");

	for (const struct keeper_run *run = keeper->runs; run; run = run->next)
		if (run->run == number)
			end(run, hard ? SIGKILL : SIGTERM);
	for (struct keeper_run *run = keeper->asking; run; run = run->next)
		if (run->run == number) {
			sb_keeper_withdraw(keeper, run->question, "the call was cancelled");
			SB_UNLINK(keeper->asking, run);
			send_failed(keeper, run->run, "it was stopped before it started");
			free_run(run);
			return;
		}
}

void sb_keeper_end_runs(struct keeper *keeper)
{
	int64_t until = sb_now_ms() + GRACE_MS;

	while (keeper->asking) {
		struct keeper_run *run = keeper->asking;

		keeper->asking = run->next;
		free_run(run);
	}
	for (const struct keeper_run *run = keeper->runs; run; run = run->next)
		end(run, SIGTERM);
	while (keeper->runs) {
		struct keeper_run *run = keeper->runs;
		struct pollfd ended = {run->pidfd, POLLIN, 0};
		int64_t left = until - sb_now_ms();

		if (poll(&ended, 1, left > 0 ? (int)left : 0) == 0) {
			end(run, SIGKILL);
			poll(&ended, 1, -1);
		}
		keeper->runs = run->next;
		waitpid(run->process, NULL, 0);
		free_run(run);
	}
}
