/* keeper.c - the keeper's life and its loop. */
#include "mcp/keeper/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "audit/log.h"
#include "base/auto.h"
#include "mcp/keeper/keeper_impl.h"

#define MAX_FDS 256

/* --- from the server ------------------------------------------------------------------------------ */

static void answer(struct keeper *keeper, const json_t *message)
{
	static const enum sb_answer answers[] = {SB_ANSWER_ONCE, SB_ANSWER_DIRECTORY,
						 SB_ANSWER_ALWAYS, SB_ANSWER_DENY, SB_ANSWER_NONE};
	const char *word = sb_get_text(message, "answer");

	for (size_t i = 0; word && i < sizeof answers / sizeof answers[0]; i++)
		if (strcmp(sb_answer_name(answers[i]), word) == 0) {
			sb_keeper_answer(keeper, sb_get_number(message, "q"), answers[i], "client");
			return;
		}
}

/* A rule refused it in the server, or allowed it; nobody was asked. */
static void record_ruled(struct keeper *keeper, const json_t *message, bool allowed)
{
	struct sb_event event = sb_keeper_event(allowed ? SB_EVENT_ALLOW : SB_EVENT_DENY, message);

	if (event.op && event.path)
		sb_keeper_record(keeper, &event);
}

/* The server cannot open the record itself: it lies where no project reaches. */
static void send_log(struct keeper *keeper, unsigned long call)
{
	SB_AUTO_FD int dir = -1;
	SB_AUTO_FD int fd = -1;
	char name[SB_LOG_NAME_SIZE];

	sb_keeper_open_record(keeper);
	if (keeper->audit &&
	    sb_log_open(keeper->options->setup->home.state_dir, &dir, NULL) == SB_OK && dir >= 0) {
		sb_log_name(sb_audit_session(keeper->audit), name);
		fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	}
	sb_link_send(&keeper->link, sb_rpc_about("log", "call", call), &fd, fd >= 0);
}

static void take(struct keeper *keeper, const json_t *message, int fds[SB_LINK_FDS])
{
	const char *kind = sb_get_text(message, "k");

	if (!kind)
		keeper->link.broken = true;
	else if (strcmp(kind, "perform") == 0)
		sb_keeper_perform(keeper, message);
	else if (strcmp(kind, "cancel") == 0)
		sb_keeper_cancel(keeper, sb_get_number(message, "call"));
	else if (strcmp(kind, "run") == 0)
		sb_keeper_run(keeper, message, sb_take_fd(&fds[0]));
	else if (strcmp(kind, "signal") == 0)
		sb_keeper_signal(keeper, message);
	else if (strcmp(kind, "answer") == 0)
		answer(keeper, message);
	else if (strcmp(kind, "deny") == 0 || strcmp(kind, "allow") == 0)
		record_ruled(keeper, message, strcmp(kind, "allow") == 0);
	else if (strcmp(kind, "begin") == 0)
		sb_keeper_open_record(keeper);
	else if (strcmp(kind, "count") == 0)
		sb_keeper_count(keeper, json_object_get(message, "allowed"));
	else if (strcmp(kind, "log") == 0)
		send_log(keeper, sb_get_number(message, "call"));
	for (size_t i = 0; i < SB_LINK_FDS; i++)
		sb_auto_close(&fds[i]);
}

static void take_all(struct keeper *keeper)
{
	int fds[SB_LINK_FDS];
	json_t *message;

	while ((message = sb_link_next(&keeper->link, fds))) {
		take(keeper, message, fds);
		json_decref(message);
	}
}

/* --- people ------------------------------------------------------------------------------------------ */

static void attach_answered(void *context, unsigned long id, enum sb_answer answer)
{
	sb_keeper_answer(context, id, answer, "attach");
}

/* Who attaches can answer for runs that had nobody; when the last one goes, nobody is left. */
static void tend_people(struct keeper *keeper, const struct pollfd *fds, size_t count)
{
	struct keeper_question *at;
	struct keeper_run *run;

	if (!keeper->socket)
		return;
	sb_socket_handle(keeper->socket, fds, count);
	for (run = keeper->runs; run; run = run->next)
		sb_keeper_run_greet(keeper, run);
	if (sb_keeper_people(keeper) || sb_keeper_waits(keeper))
		return;
	for (run = keeper->runs; run; run = run->next)
		if (run->greeted && !run->elicit && run->attached >= 0 && !keeper->ahead) {
			close(run->attached); /* the run sees that nobody can be asked */
			run->attached = -1;
		}
	for (at = keeper->questions; at; at = at->next)
		if (at->declined || (at->perform && !at->perform->elicit) ||
		    (at->run && at->run->question && !at->run->elicit)) {
			sb_keeper_answer(keeper, at->shown.id, SB_ANSWER_NONE, "nobody");
			return; /* the list has changed; the rest has its turn */
		}
}

/* --- the loop ------------------------------------------------------------------------------------------ */

static void loop(struct keeper *keeper)
{
	while (!keeper->link.broken) {
		struct pollfd wait[MAX_FDS] = {{keeper->link.fd, sb_link_events(&keeper->link), 0}};
		struct keeper_perform *perform, *next_perform;
		struct keeper_run *run, *next_run;
		size_t count = 1, people;

		for (perform = keeper->performs; perform; perform = perform->next)
			if (perform->child)
				wait[count++] = (struct pollfd){perform->report, POLLIN, 0};
		for (run = keeper->runs; run; run = run->next) {
			wait[count++] = (struct pollfd){run->pidfd, POLLIN, 0};
			wait[count++] = (struct pollfd){run->attached, POLLIN, 0};
		}
		people = count;
		if (keeper->socket)
			count += sb_socket_poll(keeper->socket, wait + people);
		if (poll(wait, count, -1) < 0 && errno != EINTR)
			break;
		count -= people;
		/* each looks for itself: the lists change as they are worked on */
		for (perform = keeper->performs; perform; perform = next_perform) {
			struct pollfd ready = {perform->report, POLLIN, 0};

			next_perform = perform->next;
			if (perform->child && poll(&ready, 1, 0) == 1)
				sb_keeper_perform_report(keeper, perform);
		}
		for (run = keeper->runs; run; run = next_run) {
			struct pollfd ready[2] = {{run->attached, POLLIN, 0},
						  {run->pidfd, POLLIN, 0}};

			next_run = run->next;
			poll(ready, 2, 0);
			if (run->attached >= 0 && ready[0].revents)
				sb_keeper_run_heard(keeper, run);
			if (ready[1].revents)
				sb_keeper_run_ended(keeper, run);
		}
		tend_people(keeper, wait + people, count);
		if (wait[0].revents)
			sb_link_handle(&keeper->link, wait[0].revents);
		take_all(keeper);
		sb_keeper_tell_standing(keeper);
	}
}

/* --- life --------------------------------------------------------------------------------------------- */

/*
 * Nothing of ours is on the client's descriptors: it waits for their end.  No terminal either:
 * a run would take the one of the agent's host for its own, and ask there.
 */
static void let_go(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setsid();
	for (int fd = 0; null >= 0 && fd <= 2; fd++)
		dup2(null, fd);
	if (null > 2)
		close(null);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
}

/* Under this name the runs of one server share answers (C3). */
static void name_session(struct keeper *keeper)
{
	const struct sb_keeper_options *options = keeper->options;
	unsigned chance = 0;

	if (options->session) {
		keeper->session = options->session;
		snprintf(keeper->session_name, sizeof keeper->session_name, "%s",
			 options->line->session);
		return;
	}
	(void)!getrandom(&chance, sizeof chance, 0);
	snprintf(keeper->session_name, sizeof keeper->session_name, "mcp-%d-%08x", getpid(),
		 chance);
	keeper->own_session = true;
	if (sb_session_open(options->setup->home.state_dir, keeper->session_name, &keeper->session,
			    NULL) != SB_OK)
		keeper->session = NULL;
}

/* What a person opened in this session before: main.c has told the server of the same ones. */
static void open_kept(struct keeper *keeper)
{
	const char *home = keeper->options->setup->home.home, *path;

	for (size_t i = 0; !keeper->own_session && keeper->session &&
			   (path = sb_session_project(keeper->session, i, home));
	     i++)
		if (*path)
			sb_keeper_open_project(keeper, path);
}

_Noreturn void sb_keeper_main(const struct sb_keeper_options *options)
{
	static struct keeper keeper;

	let_go();
	keeper = (struct keeper){.options = &keeper.own,
				 .own = *options,
				 .audit = options->audit,
				 .audit_tried = options->audit != NULL,
				 .people = {.answered = attach_answered,
					    .take_back = sb_keeper_take_back,
					    .add = sb_keeper_add,
					    .context = &keeper}};
	sb_link_init(&keeper.link, options->link);
	keeper.grants = sb_grants_new(options->setup->home.home);
	if (!keeper.grants)
		_exit(125);
	name_session(&keeper);
	open_kept(&keeper);
	loop(&keeper);
	/* All that came is on record: the server may end.  close() says that only with the last copy. */
	shutdown(keeper.link.fd, SHUT_RDWR);
	sb_keeper_end_runs(&keeper);
	sb_keeper_close_record(&keeper);
	if (keeper.own_session)
		sb_session_forget(options->setup->home.state_dir, keeper.session_name, NULL);
	exit(0); /* not _exit(): a build that looks for leaks does it then */
}
