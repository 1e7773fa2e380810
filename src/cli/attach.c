/*
 * attach.c - --attach: answer the questions of a run from another terminal.
 *
 * The other side decides who may (consent/peer.h); here is only what a person sees.  The
 * terminal draws and reads exactly as the run's own would, so that what holds for a question
 * there holds here: only a lone key pressed while it showed answers it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/auto.h"
#include "cli/cli.h"
#include "consent/attach_wire.h"
#include "consent/holders.h"
#include "consent/running.h"
#include "consent/terminal.h"
#include "enforce/linux_seccomp.h"

#define PATIENCE_MS 5000 /* for a run that is stopped, or busy performing */

struct client {
	int tty;
	int run; /* connection */
	int signals;
	int guard; /* closing it lets others open the terminal again; -1: nobody looks after that */
	struct sb_terminal *terminal;
	const char *ended; /* why we go; NULL: not yet */
	bool failed;       /* and that is a failure */
};

/* --- to the run --------------------------------------------------------------------------- */

static int tell(int run, const struct sb_attach_message *message)
{
	SB_AUTO_BUF struct sb_buf bytes = SB_BUF(SB_ATTACH_BYTES);

	if (!sb_attach_encode(message, &bytes))
		return -ENOMEM;
	return send(run, bytes.data, bytes.length, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static void answered(void *context, unsigned long id, enum sb_answer answer)
{
	struct client *client = context;

	/* a terminal that hung up has answered nothing: others may */
	if (client->ended || sb_terminal_gone(client->terminal))
		return;
	if (tell(client->run, &(struct sb_attach_message){.kind = SB_ATTACH_ANSWER,
							  .id = id,
							  .number = (int)answer}) < 0)
		client->ended = "the run has ended";
}

/* --- from the run -------------------------------------------------------------------------- */

/* 1: a message; 0: nothing now; -1: the end, or nonsense. */
static int hear(int run, struct sb_attach_message *out)
{
	static char bytes[SB_ATTACH_BYTES];
	ssize_t got = recv(run, bytes, sizeof bytes, MSG_DONTWAIT | MSG_TRUNC);

	/* a refusal that did not wait for what we said: the error comes first, then the words */
	if (got < 0 && errno == ECONNRESET)
		got = recv(run, bytes, sizeof bytes, MSG_DONTWAIT | MSG_TRUNC);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (got <= 0 || (size_t)got > sizeof bytes || !sb_attach_decode(bytes, (size_t)got, out))
		return -1;
	return 1;
}

static void take_message(struct client *client, const struct sb_attach_message *message)
{
	char line[512];

	switch (message->kind) {
	case SB_ATTACH_QUESTION:
		if (sb_terminal_ask(client->terminal, &message->question, NULL) != SB_OK)
			client->ended = "too many questions are open";
		break;
	case SB_ATTACH_WITHDRAWN:
		sb_terminal_withdraw(client->terminal, message->id);
		snprintf(line, sizeof line, "sandbash: the question is gone: %s",
			 message->text ? message->text : "withdrawn");
		sb_terminal_notice(client->terminal, line);
		break;
	case SB_ATTACH_NOTICE:
		if (message->text)
			sb_terminal_notice(client->terminal, message->text);
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

	while (!client->ended && (status = hear(client->run, &message)) > 0)
		take_message(client, &message);
	if (status < 0 && !client->ended)
		client->ended = "the run has ended";
}

/* --- connecting ------------------------------------------------------------------------------ */

/*
 * SECURITY: the name is in a file of ours, but an abstract name that its run has left is free
 * for everybody.  Who listens must be the process that the file names, of the user who owns it.
 */
static bool is_the_run(int fd, const struct sb_running *running)
{
	struct ucred who = {.pid = 0};
	socklen_t length = sizeof who;

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &length) == 0 &&
	       who.uid == running->owner && who.pid == running->process;
}

static int connect_to(const struct sb_running *running, int *out_fd, struct sb_error *err)
{
	SB_AUTO_FD int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1,
			      SB_RUNNING_PREFIX "%s", running->socket);

	if (fd < 0 ||
	    connect(fd, (const void *)&address,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)) != 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot reach the session '%s'",
			       running->session);
	if (!is_the_run(fd, running))
		return sb_fail(err, SB_E_REFUSED, 0, "somebody else listens in place of '%s'",
			       running->session);
	*out_fd = sb_take_fd(&fd);
	return SB_OK;
}

static int greet(int run, const struct sb_running *running, bool *out_asks, struct sb_error *err)
{
	struct pollfd wait = {run, POLLIN, 0};
	struct sb_attach_message message;
	int status = tell(run, &(struct sb_attach_message){.kind = SB_ATTACH_HELLO});

	/* a refusal may have come already, and the connection be closed */
	if (status < 0 && status != -EPIPE)
		return sb_fail(err, SB_E_SYSTEM, -status, "cannot reach the session '%s'",
			       running->session);
	if (poll(&wait, 1, PATIENCE_MS) == 0) {
		sb_fail(err, SB_E_SYSTEM, 0, "the session '%s' does not answer", running->session);
		return sb_hint(err, "is it stopped (Ctrl-Z)?");
	}
	status = hear(run, &message);
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

static int find_tty(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (isatty(fd))
			return fd;
	return open("/dev/tty", O_RDWR | O_CLOEXEC);
}

/*
 * SECURITY: a terminal that was opened after the run began is in sight of the command.
 *
 * Danger: it could open it by its name, read the keys and draw over a question.  In exclusive
 * mode nobody can who has no CAP_SYS_ADMIN: ioctl_tty(2).  What had it open before still has:
 * then there is no attaching from here (holders.h).
 * Price: while we are attached, no other program can open this terminal.  A process of its own
 * ends that when we are gone, however we went.
 * Held by: tests/cli/attach.py
 */
static int keep_others_out(int tty)
{
	int ends[2];
	char byte;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return -1;
	if (fork() == 0) {
		sigset_t all;

		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, NULL);
		close(ends[1]);
		while (read(ends[0], &byte, 1) < 0 && errno == EINTR)
			;
		ioctl(tty, TIOCNXCL);
		_exit(0);
	}
	close(ends[0]);
	ioctl(tty, TIOCEXCL);
	return ends[1];
}

static int check_tty(int tty, struct sb_error *err)
{
	struct stat info;
	pid_t holder = fstat(tty, &info) == 0 ? sb_terminal_held_inside(&info) : 0;

	if (!holder)
		return SB_OK;
	sb_fail(err, SB_E_REFUSED, 0,
		"process %d, which is in a sandbox, has this terminal open and could change what "
		"you see",
		holder);
	return sb_hint(err, "attach from another terminal");
}

static void let_others_in(int tty, int guard)
{
	ioctl(tty, TIOCNXCL);
	if (guard < 0)
		return;
	close(guard);
	while (wait(NULL) < 0 && errno == EINTR)
		;
}

static void take_signals(struct client *client)
{
	struct signalfd_siginfo info;

	while (read(client->signals, &info, sizeof info) == sizeof info) {
		if (info.ssi_signo == SIGWINCH)
			sb_terminal_resized(client->terminal);
		else
			client->ended = "detached";
	}
}

static void loop(struct client *client)
{
	while (!client->ended) {
		struct pollfd wait[2 + SB_TERMINAL_FDS] = {{client->run, POLLIN, 0},
							   {client->signals, POLLIN, 0}};
		size_t count = 2 + sb_terminal_poll(client->terminal, wait + 2);

		if (poll(wait, count, sb_terminal_timeout_ms(client->terminal)) < 0 &&
		    errno != EINTR)
			break;
		if (wait[1].revents)
			take_signals(client);
		if (wait[0].revents)
			take_messages(client);
		sb_terminal_handle(client->terminal, wait + 2, count - 2);
		if (sb_terminal_left(client->terminal) || sb_terminal_gone(client->terminal))
			client->ended = "detached";
	}
}

static int watch_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGWINCH);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGQUIT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Make this terminal one to ask on; nothing of the run is needed for that. */
static int open_here(struct client *client, const char *word, struct sb_error *err)
{
	struct sb_terminal_options options = {.size = sizeof options,
					      .tty = client->tty,
					      .master = -1,
					      .colour = sb_has_colours(),
					      .word = word,
					      .answered = answered,
					      .context = client};
	int status;

	client->signals = watch_signals();
	if (client->signals < 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot wait for signals");
	status = sb_terminal_open(&options, &client->terminal, err);
	if (status != SB_OK)
		return status;
	client->guard = keep_others_out(client->tty);
	return check_tty(client->tty, err);
}

static void close_here(struct client *client)
{
	if (client->terminal) {
		sb_terminal_drain(client->terminal);
		let_others_in(client->tty, client->guard);
		sb_terminal_close(client->terminal);
	}
	sb_auto_close(&client->signals);
}

static void serve(struct client *client, const struct sb_running *running, bool asks)
{
	char line[128];

	snprintf(line, sizeof line, "sandbash: attached to %s", running->session);
	sb_terminal_notice(client->terminal, line);
	sb_terminal_notice(client->terminal, running->command);
	sb_terminal_notice(client->terminal,
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
	struct client client = {.tty = find_tty(), .run = -1, .signals = -1, .guard = -1};
	SB_AUTO_FREE char *word = sb_word(&setup->home);
	struct sb_error err;
	bool asks = false;
	int status = open_here(&client, word, &err);

	if (status == SB_OK)
		status = connect_to(running, &client.run, &err);
	if (status == SB_OK)
		status = greet(client.run, running, &asks, &err);
	if (status == SB_OK)
		serve(&client, running, asks);
	close_here(&client);
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
	struct sb_setup setup = {0};
	struct sb_error err;
	size_t count = 0;
	bool mounts;
	int status;

	if (sb_inside(&mounts)) {
		sb_fail(&err, SB_E_REFUSED, 0, "nobody inside a sandbox can answer its questions");
		return sb_report(&err);
	}
	if (!isatty(STDIN_FILENO) && !isatty(STDOUT_FILENO) && !isatty(STDERR_FILENO)) {
		sb_fail(&err, SB_E_INVALID, 0, "--attach needs a terminal");
		sb_report(&err);
		return SB_EXIT_USAGE;
	}
	status = sb_set_up(line, true, &setup);
	if (status)
		return status;
	if (sb_running_list(setup.home.state_dir, &list, &count, &err) != SB_OK) {
		status = sb_report(&err);
	} else {
		running = pick(list, count, line->action_value);
		status = running ? attach(&setup, running) : SB_EXIT_USAGE;
	}
	sb_setup_done(&setup);
	return status;
}
