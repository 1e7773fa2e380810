#include <stdlib.h>
#include <string.h>
#include <termios.h>

#include "base/auto.h"
#include "base/clock.h"
#include "terminal/cells.h"
#include "terminal/draw.h"
#include "terminal/terminal_impl.h"

/*
 * How long a terminal may take to tell where its cursor is: before it has done so once, and
 * after.  Nearly every terminal does.  One that has not yet may be mute, or kept busy by the
 * command while a person presses the digit that the command asked for: so not too short.
 */
#define FIRST_REPLY_MS 2000
#define REPLY_MS 5000
#define BLIND_MS 60 /* input dropped after a question when the terminal does not reply */

/* How long a question waits for the end of a long sequence before it cuts it off. */
#define CUT_AFTER_MS 200

/* A full-screen program sees a window that is one column smaller for at least so long, and
 * until it has drawn a good part of it, or for at most so long.  Many compare the size when they get to
 * it and do nothing when it is what it was; some wait for the last of many sizes (opencode: 100 ms), and
 * turn something small meanwhile. */
#define REDRAW_LEAST_MS 300
#define REDRAW_MOST_MS 1000
#define REDRAW_PART 4 /* a byte for each fourth letter of the screen */

/*
 * SECURITY: a question that takes the place of another on the screen is not answered at once.
 *
 * Danger: a command asks something harmless, waits until a person is about to press the key,
 * ends the process that asked, and something else is shown and answered.
 * Price: a key within this time, which is more than it takes to see the change, is dropped.
 * Held by: tests/enforce/consent_tmux.py
 */
#define EXCHANGED_MS 1000

#define REPAINT_MS 200    /* between two drawings of one question, for its "1 of N" */
#define NOTICE_COLUMNS 80 /* a notice may wrap on a screen with fewer */

/* --- notices ----------------------------------------------------------------------- */

/*
 * Does the command draw for itself?  With the alternate screen, or inline: then it takes each key as
 * it comes and shows it, and counts on every line being its own (tcgetattr() on the master tells
 * the command's settings: pty(7)).
 */
static bool draws_itself(const struct sb_terminal *t)
{
	struct termios settings;

	return t->sieve.modes.alternate ||
	       (t->master >= 0 && tcgetattr(t->master, &settings) == 0 &&
		!(settings.c_lflag & (ICANON | ECHO)));
}

/* May a line of ours stand between what the command writes? */
static bool notices_due(const struct sb_terminal *t)
{
	return t->queue.notice_count && t->phase == RELAYING && !draws_itself(t) &&
	       !sb_sieve_inside(&t->sieve) && !sb_terminal_writing(t);
}

void sb_terminal_show_notices(struct sb_terminal *t)
{
	unsigned columns = t->size.ws_col > NOTICE_COLUMNS ? t->size.ws_col : NOTICE_COLUMNS;
	char *text;

	if (!t->queue.notice_count && !t->queue.dropped)
		return;
	sb_modes_seen(&t->sieve.modes, columns, &t->drawing);
	while ((text = sb_queue_take_notice(&t->queue))) {
		SB_AUTO_FREE char *mine = text;

		sb_cells_put(&t->drawing, mine, columns - 1, false);
		sb_buf_puts(&t->drawing, "\r\n");
	}
	sb_modes_unseen(&t->sieve.modes, &t->drawing);
}

void sb_terminal_notice(struct sb_terminal *t, const char *text)
{
	sb_queue_add_notice(&t->queue, text);
}

/* --- on the screen and off --------------------------------------------------------- */

/*
 * SECURITY: the fence comes after the question.
 *
 * Danger: a digit typed for the command, or a reply to a request that the command has sent,
 * arrives when the question is already open.
 * What comes before the terminal's reply to our request was sent before it had drawn the
 * question; all of that is dropped.  Price: type-ahead is lost when a question opens.
 * Held by: tests/cli/terminal_keys.py
 */
void sb_terminal_draw(struct sb_terminal *t, bool fence)
{
	struct sb_view view = {.rows = t->size.ws_row,
			       .columns = t->size.ws_col,
			       .word = t->word,
			       .count = t->queue.count,
			       .again = t->drawn_once,
			       .colour = t->colour,
			       .kept = t->kept,
			       .later = t->typed,
			       .ascii = !t->replies};
	SB_AUTO_BUF struct sb_buf page = SB_BUF(1024 * 1024); /* several very large screens */
	SB_AUTO_BUF struct sb_buf probe = SB_BUF(256);
	int64_t now = sb_now_ms();

	if (fence) {
		tcflush(t->tty, TCIFLUSH);
		sb_keys_begin(&t->keys, &probe, t->size.ws_row, t->size.ws_col, now,
			      t->replies ? REPLY_MS : FIRST_REPLY_MS);
		t->keys.typing = t->typed_ms && now - t->typed_ms < SB_KEYS_TYPED_MS;
		t->leaving = false;
		view.probe = probe.data;
	}
	t->hurried = view.hurried = t->keys.hurried;
	if (t->keys.mute) {
		view.code = t->keys.code;
		view.typed = t->keys.typed;
	}
	t->coded = t->keys.mute;
	t->small = !sb_draw_question(&page, &t->queue.first->question, &view);
	sb_buf_append(&t->drawing, page.data, page.length);
	t->undrawable = sb_buf_failed(&page) || sb_buf_failed(&probe) || sb_buf_failed(&t->drawing);
	t->stale = false;
	t->drawn_once = true;
	t->repaint_ms = now + REPAINT_MS;
}

/* After input and time: has the terminal answered? */
static void fence_changed(struct sb_terminal *t)
{
	bool first = t->keys.replied && !t->replies;

	t->replies = t->replies || t->keys.replied;
	if (t->keys.replied)
		t->again = false;
	/* A hand on the keys can come between its replies: once more, before it counts as mute. */
	if (t->keys.mute && !t->coded && t->replies && !t->again) {
		t->again = true;
		sb_terminal_draw(t, true);
	} else if (first || t->keys.mute != t->coded) {
		sb_terminal_draw(t, false);
	}
}

/* The output has come to a safe place: the question takes the screen. */
static void show(struct sb_terminal *t)
{
	sb_modes_enter(&t->sieve.modes, &t->drawing);
	sb_sieve_cut(&t->sieve);
	t->phase = SHOWING;
	t->again = t->drawn_once = false;
	sb_terminal_draw(t, true);
}

void sb_terminal_pause(struct sb_terminal *t)
{
	t->phase = PAUSING;
	t->cut_ms = sb_now_ms() + CUT_AFTER_MS;
}

/* A fence here, too: what was typed before the terminal has left the question was not meant for
 * the command.  It stands on the alternate screen, where moving the cursor does no harm. */
void sb_terminal_leave(struct sb_terminal *t, bool wait)
{
	int64_t now = sb_now_ms();

	t->phase = RELAYING;
	t->leaving = true;
	sb_buf_puts(&t->drawing, "\033[?25l");
	if (wait && t->replies)
		sb_keys_begin(&t->keys, &t->drawing, t->size.ws_row, t->size.ws_col, now, REPLY_MS);
	else
		sb_keys_begin_blind(&t->keys, now, BLIND_MS);
	sb_buf_puts(&t->drawing, "\033[?25h"); /* as sb_modes_enter() left it */
	sb_modes_leave(&t->sieve.modes, &t->drawing);
	tcflush(t->tty, TCIFLUSH);
	if (t->sieve.modes.alternate) {
		sb_terminal_set_size(t, true);
		t->narrowed_ms = now;
		t->redrawn = 0;
	} else if (!draws_itself(t)) {
		/* before whatever the command writes next: behind its prompt they would hide it */
		sb_terminal_show_notices(t);
	}
}

/* The first question is gone: on with the next one, if it was on the screen. */
static void advance(struct sb_terminal *t)
{
	if (t->phase == PAUSING && !t->queue.first)
		t->phase = RELAYING;
	if (t->phase != SHOWING || t->answering)
		return;
	t->undrawable = t->again = false;
	if (t->queue.first)
		sb_terminal_draw(t, true);
	else
		sb_terminal_leave(t, true);
}

/* --- asking and answering ---------------------------------------------------------- */

int sb_terminal_ask(struct sb_terminal *t, const struct sb_question *question, struct sb_error *err)
{
	int status = sb_queue_add(&t->queue, question, err);

	if (status != SB_OK)
		return status;
	t->stale = true; /* "1 of N" */
	if (t->background)
		sb_terminal_notice(t, "a question waits: bring this job to the foreground (fg)");
	else if (t->phase == RELAYING && !t->suspended)
		sb_terminal_pause(t);
	return SB_OK;
}

void sb_terminal_withdraw(struct sb_terminal *t, unsigned long id)
{
	bool first = t->queue.first && t->queue.first->question.id == id;
	bool shown = first && t->phase == SHOWING && !t->answering;

	sb_queue_remove(&t->queue, id);
	if (first)
		advance(t);
	else
		t->stale = true;
	if (shown && t->phase == SHOWING)
		t->keys.hold_ms = EXCHANGED_MS;
}

static void answer(struct sb_terminal *t, enum sb_answer given)
{
	struct sb_waiting *asked = sb_queue_take(&t->queue);
	unsigned long id = asked->question.id;

	if (!t->typed) /* else the caller says it on its own screen */
		sb_queue_add_answer(&t->queue, &asked->question, given);
	free(asked);
	/* It may ask again, and take back what this answers too: the screen waits for that. */
	t->answering = true;
	t->answered(t->context, id, given);
	t->answering = false;
	advance(t);
	t->surplus_ms = sb_now_ms() + SB_SURPLUS_MS;
}

void sb_terminal_deny_all(struct sb_terminal *t)
{
	struct sb_waiting *asked;

	while ((asked = sb_queue_take(&t->queue))) {
		unsigned long id = asked->question.id;

		free(asked);
		t->answered(t->context, id, SB_ANSWER_DENY);
	}
}

/*
 * SECURITY: no key allows what nobody has seen.
 *
 * Danger: the question does not show, or not all of it: it has not been written yet, the window is
 * too small, the terminal does not answer.
 * Price: another way to answer there: the code, a larger window, sandbash --attach.
 * Held by: tests/cli/terminal_keys.py, tests/cli/terminal_asker.py
 */
static bool may_allow(const struct sb_terminal *t)
{
	return !sb_terminal_drawing(t) && !t->small &&
	       (t->keys.mute ? t->coded && t->keys.confirmed : t->keys.replied);
}

/* What a digit stands for: draw.c numbers what it offers.  3 is a no in every question. */
static enum sb_answer meant(char key, const struct sb_question *question)
{
	switch (key) {
	case '1':
		return SB_ANSWER_ONCE;
	case '2':
		return question->directory ? SB_ANSWER_DIRECTORY : SB_ANSWER_DENY;
	case '4':
		return sb_question_offers_always(question) ? SB_ANSWER_ALWAYS : SB_ANSWER_NONE;
	case '3':
	case SB_KEYS_ESCAPE:
	case SB_KEYS_INTERRUPT:
	case SB_KEYS_END:
		return SB_ANSWER_DENY;
	default:
		return SB_ANSWER_NONE;
	}
}

void sb_terminal_key(struct sb_terminal *t, char key)
{
	enum sb_answer given = meant(key, &t->queue.first->question);

	if (sb_terminal_drawing(t))
		return; /* not before it can be read */
	if (t->typed && given == SB_ANSWER_DENY && !memchr("23", key, 2)) {
		answer(t, SB_ANSWER_NONE); /* put off */
	} else if (given == SB_ANSWER_DENY || (given != SB_ANSWER_NONE && may_allow(t))) {
		answer(t, given);
	} else if (key == '\f') { /* Ctrl-L: somebody has painted over it; or does it answer now? */
		t->drawn_once = false;
		sb_terminal_draw(t, t->keys.mute);
	}
}

/* --- time -------------------------------------------------------------------------- */

/* No memory, or a name too long to show whole: nobody can judge it, so it is refused. */
static void refuse_undrawable(struct sb_terminal *t)
{
	size_t limit = t->drawing.limit;

	sb_buf_done(&t->drawing);
	sb_buf_init(&t->drawing, limit);
	t->drawn = 0;
	sb_modes_enter(&t->sieve.modes, &t->drawing); /* it may not have been written yet */
	t->drawn_once = false;
	answer(t, SB_ANSWER_DENY);
}

/* Is what shows no longer quite right? */
static bool repaint_due(const struct sb_terminal *t)
{
	return t->stale || t->hurried != t->keys.hurried;
}

static void tick_question(struct sb_terminal *t, int64_t now)
{
	char key = sb_keys_tick(&t->keys, now);

	if (!t->undrawable)
		fence_changed(t);
	if (t->undrawable)
		refuse_undrawable(t);
	else if (key)
		sb_terminal_key(t, key);
	else if (repaint_due(t) && now >= t->repaint_ms && !sb_terminal_drawing(t))
		sb_terminal_draw(t, false);
}

static int64_t redraw_deadline(const struct sb_terminal *t)
{
	size_t letters = (size_t)t->size.ws_row * t->size.ws_col;

	return t->narrowed_ms +
	       (t->redrawn >= letters / REDRAW_PART ? REDRAW_LEAST_MS : REDRAW_MOST_MS);
}

void sb_terminal_tick(struct sb_terminal *t)
{
	int64_t now = sb_now_ms();

	if (t->phase == PAUSING && !sb_terminal_writing(t) &&
	    (!sb_sieve_inside(&t->sieve) || now >= t->cut_ms))
		show(t);
	if (t->phase == SHOWING) {
		tick_question(t, now);
	} else if (t->leaving) {
		sb_keys_tick(&t->keys, now);
		t->leaving = !t->keys.passed && !t->keys.mute;
	}
	if (t->narrowed && now >= redraw_deadline(t))
		sb_terminal_set_size(t, false);
	if (notices_due(t))
		sb_terminal_show_notices(t);
}

static void sooner(int64_t *deadline, int64_t when)
{
	if (when >= 0 && (*deadline < 0 || when < *deadline))
		*deadline = when;
}

int64_t sb_terminal_deadline_ms(const struct sb_terminal *t)
{
	int64_t deadline = -1;

	if (notices_due(t) || (t->phase == SHOWING && t->undrawable))
		return 0;
	if (t->phase == PAUSING && !sb_terminal_writing(t))
		sooner(&deadline, sb_sieve_inside(&t->sieve) ? t->cut_ms : 0);
	if (t->phase == SHOWING || t->leaving)
		sooner(&deadline, sb_keys_deadline_ms(&t->keys));
	if (t->phase == SHOWING && repaint_due(t) && !sb_terminal_drawing(t))
		sooner(&deadline, t->repaint_ms);
	if (t->narrowed)
		sooner(&deadline, redraw_deadline(t));
	return deadline;
}

void sb_terminal_set_size(struct sb_terminal *t, bool narrow)
{
	struct winsize size = t->size;

	/* Columns, not rows: an editor whose cursor is on the last row would scroll. */
	if (narrow && size.ws_col > 2)
		size.ws_col--;
	else if (narrow && size.ws_row > 1)
		size.ws_row--;
	if (t->master >= 0)
		ioctl(t->master, TIOCSWINSZ, &size);
	t->narrowed = narrow;
}
