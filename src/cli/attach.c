/*
 * attach.c - --attach: answer the questions of a run from another terminal.
 *
 * The other side decides who may (consent/peer.h); here is only what a person sees.  The
 * terminal draws and reads exactly as the run's own would, so that what holds for a question
 * there holds here: only a lone key pressed while it showed answers it.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "cli/cli.h"
#include "cli/own_tty.h"
#include "cli/reach.h"
#include "enforce/inside.h"
#include "terminal/terminal.h"

#define PATIENCE_MS 5000 /* for a run that is stopped, or busy performing */

struct client {
	struct sb_own_tty here;
	int run;           /* connection */
	const char *ended; /* why we go; NULL: not yet */
	bool failed;       /* and that is a failure */
};

/* --- to the run --------------------------------------------------------------------------- */

static void answered(void *context, unsigned long id, enum sb_answer answer)
{
	struct client *client = context;

	/* a terminal that hung up has answered nothing: others may */
	if (client->ended || sb_terminal_gone(client->here.terminal))
		return;
	if (sb_reach_tell(client->run, &(struct sb_attach_message){.kind = SB_ATTACH_ANSWER,
								   .id = id,
								   .number = (int)answer}) < 0)
		client->ended = "the run has ended";
}

/* --- from the run -------------------------------------------------------------------------- */

static void take_message(struct client *client, const struct sb_attach_message *message)
{
	char line[512];

	switch (message->kind) {
	case SB_ATTACH_QUESTION:
		if (sb_terminal_ask(client->here.terminal, &message->question, NULL) != SB_OK)
			client->ended = "too many questions are open";
		break;
	case SB_ATTACH_WITHDRAWN:
		sb_terminal_withdraw(client->here.terminal, message->id);
		snprintf(line, sizeof line, "sandbash: the question is gone: %s",
			 message->text ? message->text : "withdrawn");
		sb_terminal_notice(client->here.terminal, line);
		break;
	case SB_ATTACH_NOTICE:
		if (message->text)
			sb_terminal_notice(client->here.terminal, message->text);
		break;
	default:
		client->ended = "the run speaks another language";
		client->failed = true;
		break;
	}
}

static void take_messages(struct client *client)
{
	struct sb_attach_message message;
	int status = 1;

	while (!client->ended && (status = sb_reach_hear(client->run, &message)) > 0)
		take_message(client, &message);
	if (status < 0 && !client->ended)
		client->ended = "the run has ended";
}

/* --- connecting ------------------------------------------------------------------------------ */

static int greet(int run, const struct sb_running *running, bool *out_asks, struct sb_error *err)
{
	struct pollfd wait = {run, POLLIN, 0};
	struct sb_attach_message message;
	int status = sb_reach_tell(run, &(struct sb_attach_message){.kind = SB_ATTACH_HELLO});

	/* a refusal may have come already, and the connection be closed */
	if (status < 0 && status != -EPIPE)
		return sb_fail(err, SB_E_SYSTEM, -status, "cannot reach the session '%s'",
			       running->session);
	if (poll(&wait, 1, PATIENCE_MS) == 0) {
		sb_fail(err, SB_E_SYSTEM, 0, "the session '%s' does not answer", running->session);
		return sb_hint(err, "is it stopped (Ctrl-Z)?");
	}
	status = sb_reach_hear(run, &message);
	if (status > 0 && message.kind == SB_ATTACH_WELCOME) {
		*out_asks = message.number;
		return SB_OK;
	}
	if (status > 0 && message.kind == SB_ATTACH_REFUSED)
		return sb_fail(err, SB_E_REFUSED, 0, "the session '%s' refused: %s",
			       running->session, message.text ? message.text : "no");
	return sb_fail(err, SB_E_SYSTEM, 0, "the session '%s' has ended, or is another version's",
		       running->session);
}

/* --- the terminal ------------------------------------------------------------------------------ */

static void loop(struct client *client)
{
	struct sb_terminal *terminal = client->here.terminal;

	while (!client->ended) {
		struct pollfd wait[2 + SB_TERMINAL_FDS] = {{client->run, POLLIN, 0},
							   {client->here.signals, POLLIN, 0}};
		size_t count = 2 + sb_terminal_poll(terminal, wait + 2);

		if (poll(wait, count, sb_terminal_timeout_ms(terminal)) < 0 && errno != EINTR)
			break;
		if (wait[1].revents && sb_tty_ended(client->here.signals, terminal))
			client->ended = "detached";
		if (wait[0].revents)
			take_messages(client);
		sb_terminal_handle(terminal, wait + 2, count - 2);
		if (sb_terminal_left(terminal) || sb_terminal_gone(terminal))
			client->ended = "detached";
	}
}

static void serve(struct client *client, const struct sb_running *running, bool asks)
{
	char line[128];

	snprintf(line, sizeof line, "sandbash: attached to %s", running->session);
	sb_terminal_notice(client->here.terminal, line);
	sb_terminal_notice(client->here.terminal, running->command);
	sb_terminal_notice(client->here.terminal,
			   asks ? "sandbash: its questions appear here; Ctrl-C detaches"
				: "sandbash: it asks nobody (--consent=deny); Ctrl-C detaches");
	loop(client);
}

/* --- which run ------------------------------------------------------------------------------------ */

static bool is_called(const struct sb_running *running, const char *name)
{
	size_t whole = strlen(running->session), end = strlen(name);

	return strcmp(running->session, name) == 0 || strcmp(running->name, name) == 0 ||
	       (end < whole && running->session[whole - end - 1] == '-' &&
		strcmp(running->session + whole - end, name) == 0);
}

/* The only one (of that name), or NULL with what is said about it. */
static const struct sb_running *pick(const struct sb_running *list, size_t count, const char *name)
{
	const struct sb_running *found = NULL;
	SB_AUTO_BUF struct sb_buf text = SB_BUF(SB_OUTPUT_LIMIT);
	size_t fitting = 0;

	for (size_t i = 0; i < count; i++)
		if (!name || is_called(&list[i], name)) {
			found = &list[i];
			fitting++;
			sb_running_print(&list[i], &text);
		}
	if (fitting == 1)
		return found;
	if (fitting)
		fprintf(stderr, "sandbash: which one?  --attach=SESSION\n%s", text.data);
	else if (name)
		fprintf(stderr,
			"sandbash: no session '%s' is running\nhint: --sessions lists them\n",
			name);
	else
		fprintf(stderr, "sandbash: no session is running\n");
	return NULL;
}

static int attach(const struct sb_setup *setup, const struct sb_running *running)
{
	struct client client = {.here = SB_OWN_TTY, .run = -1};
	struct sb_error err;
	bool asks = false;
	int status;

	client.here.tty = sb_tty_find();
	status = sb_own_tty_open(
		&client.here, &setup->home,
		(struct sb_terminal_options){.answered = answered, .context = &client}, &err);
	if (status == SB_OK)
		status = sb_reach(running, &client.run, &err);
	if (status == SB_OK)
		status = greet(client.run, running, &asks, &err);
	if (status == SB_OK)
		serve(&client, running, asks);
	if (client.here.terminal)
		sb_terminal_drain(client.here.terminal);
	sb_own_tty_close(&client.here);
	sb_auto_close(&client.run);
	if (status != SB_OK)
		return sb_report(&err);
	fprintf(stderr, "sandbash: %s\n", client.ended ? client.ended : "detached");
	return client.failed ? SB_EXIT_FAILURE : 0;
}

int sb_cli_attach(const struct sb_command_line *line)
{
	SB_AUTO_FREE struct sb_running *list = NULL;
	const struct sb_running *running;
	SB_AUTO_SETUP struct sb_setup setup = {0};
	struct sb_error err;
	size_t count = 0;
	bool mounts;
	int status;

	if (sb_inside(&mounts))
		return sb_end_with(SB_E_REFUSED, NULL,
				   "nobody inside a sandbox can answer its questions");
	if (!isatty(STDIN_FILENO) && !isatty(STDOUT_FILENO) && !isatty(STDERR_FILENO))
		return sb_end_with(SB_E_USAGE, NULL, "--attach needs a terminal");
	status = sb_set_up(line, true, &setup);
	if (status)
		return status;
	if (sb_running_list(setup.home.state_dir, &list, &count, &err) != SB_OK)
		return sb_report(&err);
	running = pick(list, count, line->action_value);
	return running ? attach(&setup, running) : SB_EXIT_USAGE;
}
