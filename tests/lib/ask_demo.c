/*
 * ask_demo.c - the terminal asker without a sandbox: a command on a pty, questions on demand.
 *
 *     ask_demo [--word=WORD] FIFO ANSWERS COMMAND [ARGUMENT...]
 *
 * Each line that is written to FIFO is one order; fields are separated by tabs, and \xNN in
 * them is a byte:
 *
 *     ask ID VERB PATH [DIRECTORY [PROGRAM [PROCESS [RULE [NOTE [CONTENT [TARGET]]]]]]]
 *     withdraw ID
 *     notice TEXT
 *     suspend | resume
 *
 * An empty field is absent.  Each answer becomes a line "ID NAME" in ANSWERS.  Ends like the
 * command; when the terminal hangs up, so does the command's.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "terminal/terminal.h"

static int answers;

static void die(const char *what)
{
	fprintf(stderr, "ask_demo: %s: %s\n", what, strerror(errno));
	exit(125);
}

static void answered(void *context, unsigned long id, enum sb_answer answer)
{
	(void)context;
	dprintf(answers, "%lu %s\n", id, sb_answer_name(answer));
}

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* \xNN becomes a byte; returns the length. */
static size_t decode(char *text)
{
	char *out = text;

	for (const char *in = text; *in; out++) {
		if (in[0] == '\\' && in[1] == 'x' && hex(in[2]) >= 0 && hex(in[3]) >= 0) {
			*out = (char)(hex(in[2]) << 4 | hex(in[3]));
			in += 4;
		} else {
			*out = *in++;
		}
	}
	*out = '\0';
	return (size_t)(out - text);
}

static void obey(struct sb_terminal *terminal, char *line)
{
	char *field[12] = {NULL};
	size_t length[12] = {0};
	struct sb_question question;
	struct sb_error err;

	for (size_t i = 0; i < 12 && line; i++) {
		field[i] = strsep(&line, "\t");
		length[i] = decode(field[i]);
		if (!length[i])
			field[i] = NULL;
	}
	if (!field[0])
		return;
	if (strcmp(field[0], "suspend") == 0)
		sb_terminal_suspend(terminal);
	else if (strcmp(field[0], "resume") == 0)
		sb_terminal_resume(terminal);
	else if (strcmp(field[0], "notice") == 0)
		sb_terminal_notice(terminal, field[1] ? field[1] : "");
	else if (strcmp(field[0], "withdraw") == 0)
		sb_terminal_withdraw(terminal, strtoul(field[1], NULL, 10));
	if (strcmp(field[0], "ask") != 0)
		return;
	question = (struct sb_question){
		.id = strtoul(field[1], NULL, 10),
		.op = SB_MODIFY, /* whatever the verb is called */
		.verb = field[2],
		.path = field[3],
		.directory = field[4],
		.program = field[5],
		.process = field[6] ? (pid_t)strtol(field[6], NULL, 10) : 4711,
		.rule = field[7],
		.notes = {field[8], field[11]},
		.content = field[9],
		.content_length = length[9],
		.target = field[10],
	};
	if (sb_terminal_ask(terminal, &question, &err) != SB_OK)
		dprintf(answers, "%lu refused: %s\n", question.id, err.message);
}

static void read_orders(struct sb_terminal *terminal, int fifo)
{
	static char pending[64 * 1024];
	static size_t length;
	ssize_t got = read(fifo, pending + length, sizeof pending - length);
	char *start = pending, *end;

	if (got > 0)
		length += (size_t)got;
	while ((end = memchr(start, '\n', length - (size_t)(start - pending)))) {
		*end = '\0';
		obey(terminal, start);
		start = end + 1;
	}
	length -= (size_t)(start - pending);
	memmove(pending, start, length);
}

static pid_t start_command(char **argv, int slave)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	setsid();
	ioctl(slave, TIOCSCTTY, 0);
	dup2(slave, 0);
	dup2(slave, 1);
	dup2(slave, 2);
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(argv[0], argv);
	_exit(127);
}

static int exit_status(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Returns the command's exit status. */
static int loop(struct sb_terminal *terminal, int signals, int fifo, int master, pid_t command)
{
	for (;;) {
		struct pollfd fds[SB_TERMINAL_FDS + 2];
		struct signalfd_siginfo info;
		size_t count = sb_terminal_poll(terminal, fds);
		int status;

		fds[count] = (struct pollfd){.fd = signals, .events = POLLIN};
		fds[count + 1] = (struct pollfd){.fd = fifo, .events = POLLIN};
		if (poll(fds, count + 2, sb_terminal_timeout_ms(terminal)) < 0 && errno != EINTR)
			die("poll");
		if (fds[count].revents && read(signals, &info, sizeof info) == sizeof info) {
			if (info.ssi_signo == SIGWINCH)
				sb_terminal_resized(terminal);
			if (info.ssi_signo == SIGCHLD &&
			    waitpid(command, &status, WNOHANG) == command)
				return exit_status(status);
		}
		if (fds[count + 1].revents)
			read_orders(terminal, fifo);
		sb_terminal_handle(terminal, fds, count);
		if (sb_terminal_gone(terminal)) {
			close(master);
			waitpid(command, &status, 0);
			dprintf(answers, "gone %d\n", exit_status(status));
			return exit_status(status);
		}
	}
}

int main(int argc, char **argv)
{
	struct sb_terminal_options options = {
		.size = sizeof options, .tty = 0, .answered = answered};
	struct sb_terminal *terminal;
	struct sb_error err;
	int slave, signals, fifo, status;
	sigset_t set;
	pid_t command;

	if (argc > 1 && strncmp(argv[1], "--word=", 7) == 0) {
		options.word = argv[1] + 7;
		argv++;
		argc--;
	}
	if (argc < 4) {
		fprintf(stderr, "usage: ask_demo [--word=WORD] FIFO ANSWERS COMMAND...\n");
		return 2;
	}
	/* Read and write: then it has no end when a writer closes it. */
	fifo = open(argv[1], O_RDWR | O_NONBLOCK | O_CLOEXEC);
	answers = open(argv[2], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fifo < 0 || answers < 0)
		die("open");
	sigemptyset(&set);
	sigaddset(&set, SIGWINCH);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (sb_terminal_pty(0, &options.master, &slave, &err) != SB_OK) {
		fprintf(stderr, "ask_demo: %s\n", err.message);
		return 125;
	}
	command = start_command(argv + 3, slave);
	close(slave);
	signal(SIGHUP, SIG_IGN); /* the terminal's end is seen on the terminal */
	if (sb_terminal_open(&options, &terminal, &err) != SB_OK) {
		fprintf(stderr, "ask_demo: %s\n", err.message);
		return 125;
	}
	status = loop(terminal, signals, fifo, options.master, command);
	sb_terminal_drain(terminal);
	sb_terminal_close(terminal);
	return status;
}
