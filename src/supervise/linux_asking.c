/*
 * linux_asking.c - whom the asker asks: its terminal, and other terminals that are attached.
 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "supervise/asker_impl.h"

static bool can_ask(void *context)
{
	struct asker *asker = context;

	if (asker->supervision->consent == SB_CONSENT_DENY)
		return false;
	if (asker->terminal && !sb_terminal_gone(asker->terminal))
		return true;
	if (asker->supervision->consent == SB_CONSENT_AUTO) /* the others wait */
		return asker->socket && sb_socket_clients(asker->socket);
	if (!asker->socket)
		sb_asker_open_socket(asker);
	return asker->socket;
}

/* Does the command take each key as it comes?  Then a line of ours would stand in its screen. */
static bool is_raw(const struct asker *asker)
{
	struct termios settings;

	return asker->tty >= 0 && tcgetattr(asker->tty, &settings) == 0 &&
	       !(settings.c_lflag & ICANON);
}

/* Nothing of the question shows here: say once where it waits, unless somebody is there. */
static void point_to_watch(struct asker *asker)
{
	const struct sb_supervision *supervision = asker->supervision;

	if (asker->pointed || !supervision->warn || !asker->socket ||
	    sb_socket_clients(asker->socket) || is_raw(asker))
		return;
	asker->pointed = true;
	supervision->warn(supervision->context,
			  "a question waits; answer it in another terminal: sandbash --watch");
}

static bool ask(void *context, const struct sb_question *question)
{
	struct asker *asker = context;
	bool put = asker->terminal && sb_terminal_ask(asker->terminal, question, NULL) == SB_OK;

	if (!asker->socket) /* who attaches later finds it there */
		sb_asker_open_socket(asker);
	if (asker->socket && sb_socket_ask(asker->socket, question, NULL) == SB_OK)
		put = true;
	if (put && asker->supervision->consent == SB_CONSENT_WATCH)
		point_to_watch(asker);
	return put;
}

static void withdraw(void *context, unsigned long id)
{
	const struct asker *asker = context;

	if (asker->terminal)
		sb_terminal_withdraw(asker->terminal, id);
	if (asker->socket)
		sb_socket_withdraw(asker->socket, id, "its time is up, or nobody waits for it");
}

static void notice(void *context, const char *text)
{
	const struct asker *asker = context;

	if (asker->terminal)
		sb_terminal_notice(asker->terminal, text);
	else if (asker->supervision->warn &&
		 !(asker->supervision->consent == SB_CONSENT_WATCH && is_raw(asker)))
		asker->supervision->warn(asker->supervision->context, text);
	if (asker->socket)
		sb_socket_notice(asker->socket, text);
}

static void answered(void *context, unsigned long id, enum sb_answer answer)
{
	struct asker *asker = context;

	if (asker->socket)
		sb_socket_withdraw(asker->socket, id, "answered on the run's own terminal");
	if (!sb_peers_answer(asker->peers, id, answer, "terminal"))
		sb_approver_answer(&asker->approver, id, answer, "terminal");
}

struct sb_asking sb_asker_asking(struct asker *asker)
{
	return (struct sb_asking){can_ask, ask, withdraw, notice, asker};
}

/* --- other terminals (socket.h) --------------------------------------------------------- */

/* Nobody is left who could answer it. */
static void abandon(struct asker *asker, unsigned long id)
{
	if (!sb_peers_answer(asker->peers, id, SB_ANSWER_NONE, "nobody"))
		sb_approver_abandon(&asker->approver, id);
}

static void answered_elsewhere(void *context, unsigned long id, enum sb_answer answer)
{
	struct asker *asker = context;

	if (answer == SB_ANSWER_NONE) {
		if (!asker->terminal)
			abandon(asker, id);
		return;
	}
	if (asker->terminal) {
		sb_terminal_withdraw(asker->terminal, id);
		sb_terminal_notice(asker->terminal, "sandbash: answered on another terminal");
	}
	if (!sb_peers_answer(asker->peers, id, answer, "attach"))
		sb_approver_answer(&asker->approver, id, answer, "attach");
}

static void take_back(void *context, unsigned long number)
{
	struct asker *asker = context;

	sb_approver_take_back(&asker->approver, number);
}

static void add_rule(void *context, const char *rule)
{
	struct asker *asker = context;

	sb_approver_add(&asker->approver, rule);
}

void sb_asker_open_socket(struct asker *asker)
{
	const struct sb_supervision *supervision = asker->supervision;
	struct sb_socket_options options = {
		.size = sizeof options,
		.state_dir = supervision->home->state_dir,
		.session = asker->approver.audit ? sb_audit_session(asker->approver.audit) : NULL,
		.name = supervision->session_name,
		.directory = sb_supervision_directory(supervision),
		.command = supervision->command,
		.mode = sb_mode_name(sb_policy_mode(supervision->policy)),
		.asks = supervision->consent != SB_CONSENT_DENY,
		.has_client = supervision->has_client,
		.client = supervision->client,
		.answered = answered_elsewhere,
		.take_back = take_back,
		.add = add_rule,
		.context = asker,
	};
	struct sb_error err;

	if (!asker->socket_ms)
		return;
	asker->socket_ms = 0;
	/* without it the run goes on; only who relies on it is told */
	if (sb_socket_open(&options, &asker->socket, &err) != SB_OK &&
	    (supervision->consent == SB_CONSENT_ASK || supervision->consent == SB_CONSENT_WATCH))
		notice(asker, err.message);
}

/* C6: the last one who could be asked has gone. */
static void abandon_questions(struct asker *asker)
{
	unsigned long id;

	while (!can_ask(asker) && (id = sb_socket_first(asker->socket))) {
		sb_socket_withdraw(asker->socket, id, "nobody can be asked");
		abandon(asker, id);
	}
}

void sb_asker_tend_socket(struct asker *asker, const struct pollfd *fds, size_t count)
{
	if (asker->socket_ms && sb_now_ms() >= asker->socket_ms) {
		sb_asker_open_socket(asker);
	} else if (asker->socket) {
		sb_socket_handle(asker->socket, fds, count);
		abandon_questions(asker);
	}
}

int sb_asker_socket_timeout_ms(const struct asker *asker)
{
	int64_t left;

	if (!asker->socket_ms)
		return -1;
	left = asker->socket_ms - sb_now_ms();
	return left > 0 ? (int)left : 0;
}

/* --- the terminal ------------------------------------------------------------------------------ */

void sb_asker_take_terminal(struct asker *asker, struct sb_birth *birth)
{
	asker->tty = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (asker->tty < 0)
		return;
	if (tcgetpgrp(asker->tty) != getpgrp()) {
		close(asker->tty);
		asker->tty = -1;
	} else if (!sb_consent_on_terminal(asker->supervision->consent)) {
		birth->job_control = true;
	} else {
		birth->tty = asker->tty;
		asker->own_terminal = true;
	}
}

void sb_asker_note_terminals(struct asker *asker)
{
	dev_t *out = asker->approver.terminals;
	unsigned number;
	struct stat info;

	if (asker->own_terminal)
		return;
	for (int fd = 0; fd <= 2; fd++)
		if (fstat(fd, &info) == 0 && S_ISCHR(info.st_mode) && isatty(fd))
			*out++ = info.st_rdev;
	/* /dev/tty itself says nothing: new_encode_dev() of the kernel */
	if (asker->tty >= 0 && ioctl(asker->tty, TIOCGDEV, &number) == 0)
		*out = makedev(number >> 8 & 0xfff, (number & 0xff) | (number >> 12 & 0xfff00));
}

int sb_asker_open_terminal(struct asker *asker, struct sb_error *err)
{
	struct sb_terminal_options options = {
		.size = sizeof options,
		.tty = asker->tty,
		.master = asker->master,
		.colour = asker->supervision->colour,
		.kept = asker->supervision->session_name != NULL,
		.word = asker->supervision->word,
		.answered = answered,
		.context = asker,
	};

	return sb_terminal_open(&options, &asker->terminal, err);
}
