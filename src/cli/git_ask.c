/*
 * git_ask.c - a question of ours, not of a run's, on the terminal that we were started from.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "cli/cli.h"
#include "cli/own_tty.h"
#include "config/word.h"
#include "enforce/inside.h"
#include "terminal/terminal.h"

struct asking {
	struct sb_terminal *terminal;
	bool over, yes;
};

static void answered(void *context, unsigned long id, enum sb_answer answer)
{
	struct asking *asking = context;

	(void)id;
	asking->over = true;
	asking->yes = answer == SB_ANSWER_ONCE && !sb_terminal_gone(asking->terminal);
}

static void take_signals(struct asking *asking, int signals)
{
	struct signalfd_siginfo info;

	while (read(signals, &info, sizeof info) == sizeof info) {
		if (info.ssi_signo == SIGWINCH)
			sb_terminal_resized(asking->terminal);
		else
			asking->over = true;
	}
}

static void wait_for(struct asking *asking, int signals, int timeout_ms)
{
	int64_t end = sb_now_ms() + timeout_ms;

	while (!asking->over) {
		struct pollfd wait[1 + SB_TERMINAL_FDS] = {{signals, POLLIN, 0}};
		size_t count = 1 + sb_terminal_poll(asking->terminal, wait + 1);
		int patience = sb_terminal_timeout_ms(asking->terminal);
		int64_t left = end - sb_now_ms();

		if (timeout_ms && left <= 0)
			return;
		if (timeout_ms && (patience < 0 || patience > left))
			patience = (int)left;
		if (poll(wait, count, patience) < 0 && errno != EINTR)
			return;
		if (wait[0].revents)
			take_signals(asking, signals);
		sb_terminal_handle(asking->terminal, wait + 1, count - 1);
		if (sb_terminal_left(asking->terminal) || sb_terminal_gone(asking->terminal))
			return;
	}
}

static int nobody(struct sb_error *err, const char *why)
{
	sb_fail(err, SB_E_REFUSED, 0, "nobody can be asked: %s", why);
	return sb_hint(err, "a person has to say yes to this, on a terminal");
}

int sb_ask_here(const struct sb_command_line *line, const struct sb_home *home,
		const struct sb_question *question, bool *out_yes, struct sb_error *err)
{
	SB_AUTO_FREE char *word = sb_word(home);
	SB_AUTO_FD int signals = -1;
	struct asking asking = {0};
	struct sb_terminal_options options = {.size = sizeof options,
					      .tty = sb_tty_find(),
					      .master = -1,
					      .colour = sb_has_colours(),
					      .word = word,
					      .answered = answered,
					      .context = &asking};
	bool mounts;
	int guard, status;

	if (line->consent == SB_CONSENT_DENY)
		return nobody(err, "--consent=deny");
	if (sb_inside(&mounts))
		return nobody(err, "this is inside a sandbox");
	if (options.tty < 0)
		return nobody(err, "there is no terminal");
	signals = sb_tty_signals();
	if (signals < 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot wait for signals");
	status = sb_terminal_open(&options, &asking.terminal, err);
	if (status != SB_OK)
		return status;
	guard = sb_tty_keep_others_out(options.tty);
	status = sb_tty_check(options.tty, err);
	if (status == SB_OK)
		status = sb_terminal_ask(asking.terminal, question, err);
	if (status == SB_OK)
		wait_for(&asking, signals, line->ask_timeout_ms);
	sb_terminal_drain(asking.terminal);
	sb_tty_let_others_in(options.tty, guard);
	sb_terminal_close(asking.terminal);
	*out_yes = asking.yes;
	return status;
}
