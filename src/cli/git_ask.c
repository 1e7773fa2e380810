/*
 * git_ask.c - a question of ours, not of a run's, on the terminal that we were started from.
 */
#include <errno.h>
#include <poll.h>

#include "base/clock.h"
#include "cli/cli.h"
#include "cli/own_tty.h"
#include "enforce/inside.h"

struct asking {
	struct sb_own_tty here;
	bool over, yes;
};

static void answered(void *context, unsigned long id, enum sb_answer answer)
{
	struct asking *asking = context;

	(void)id;
	asking->over = true;
	asking->yes = answer == SB_ANSWER_ONCE && !sb_terminal_gone(asking->here.terminal);
}

static void wait_for(struct asking *asking, int timeout_ms)
{
	struct sb_terminal *terminal = asking->here.terminal;
	int64_t end = sb_now_ms() + timeout_ms;

	while (!asking->over) {
		struct pollfd wait[1 + SB_TERMINAL_FDS] = {{asking->here.signals, POLLIN, 0}};
		size_t count = 1 + sb_terminal_poll(terminal, wait + 1);
		int patience = sb_terminal_timeout_ms(terminal);
		int64_t left = end - sb_now_ms();

		if (timeout_ms && left <= 0)
			return;
		if (timeout_ms && (patience < 0 || patience > left))
			patience = (int)left;
		if (poll(wait, count, patience) < 0 && errno != EINTR)
			return;
		if (wait[0].revents)
			asking->over |= sb_tty_ended(asking->here.signals, terminal);
		sb_terminal_handle(terminal, wait + 1, count - 1);
		if (sb_terminal_left(terminal) || sb_terminal_gone(terminal))
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
	struct asking asking = {.here = SB_OWN_TTY};
	bool mounts;
	int status;

	if (line->consent == SB_CONSENT_DENY)
		return nobody(err, "--consent=deny");
	if (sb_inside(&mounts))
		return nobody(err, "this is inside a sandbox");
	asking.here.tty = sb_tty_find();
	if (asking.here.tty < 0)
		return nobody(err, "there is no terminal");
	status = sb_own_tty_open(
		&asking.here, home,
		(struct sb_terminal_options){.answered = answered, .context = &asking}, err);
	if (status == SB_OK)
		status = sb_terminal_ask(asking.here.terminal, question, err);
	if (status == SB_OK)
		wait_for(&asking, line->ask_timeout_ms);
	if (asking.here.terminal)
		sb_terminal_drain(asking.here.terminal);
	sb_own_tty_close(&asking.here);
	*out_yes = asking.yes;
	return status;
}
