#include "consent/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/buf.h"
#include "consent/draw.h"
#include "consent/keys.h"
#include "consent/modes.h"
#include "consent/queue.h"
#include "consent/relay.h"
#include "consent/tty.h"

/* How long a terminal may take to tell where its cursor is: before it has done so once, and
 * after.  The second is for a slow line; without an answer a lone key still has to be alone. */
#define FIRST_REPLY_MS 500
#define REPLY_MS 3000
#define BLIND_MS 60 /* input dropped after a question when the terminal does not reply */

/* A sequence longer than this is not held back any more: pictures, the clipboard. */
#define HOLD_BYTES 4096
/* How long a question waits for the end of such a sequence before it cuts it off. */
#define CUT_AFTER_MS 200

/* A full-screen program sees a window that is one column smaller for at least so long, and
 * until it has drawn something, or for at most so long.  Many compare the size when they get to
 * it and do nothing when it is what it was. */
#define REDRAW_LEAST_MS 80
#define REDRAW_MOST_MS 1000

#define REPAINT_MS 200      /* between two drawings of one question, for its "1 of N" */
#define ENTER_MS 300        /* a habitual Enter after the digit is not for the command */
#define MASTER_RETRY_MS 100 /* when nobody holds the command's side open */

enum phase {
	RELAYING,
	PAUSING, /* a question waits for the output to come to a safe place */
	SHOWING,
};

struct sb_terminal {
	int tty;       /* a descriptor of our own, or the caller's */
	bool borrowed; /* the caller's, */
	int tty_flags; /* with these flags before */
	int master;
	bool raw, gone, suspended, ended;
	struct termios settings;
	struct winsize size;
	char *word;
	void (*answered)(void *context, unsigned long id, enum sb_answer answer);
	void *context;

	enum phase phase;
	struct sb_modes modes;
	bool inside;  /* the output stopped inside a sequence too long to hold */
	bool swallow; /* the rest of that sequence is dropped: a question has cut it off */
	int64_t cut_ms;
	int64_t retry_ms;

	struct sb_buf drawing; /* what we ourselves write; goes before the command's output */
	size_t drawn;
	struct sb_queue queue;
	bool stale, undrawable;
	int64_t repaint_ms;

	struct sb_keys keys;
	bool leaving; /* input is dropped until the terminal has left the question */
	bool replies; /* the terminal has answered once */
	int64_t enter_ms;

	bool narrowed, redrawn; /* the pty is one column smaller; something was drawn since */
	int64_t narrowed_ms;

	struct sb_relay output, input;
};

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* --- the real terminal's settings -------------------------------------------------------------- */

static int make_raw(struct sb_terminal *t)
{
	struct termios raw = t->settings;

	cfmakeraw(&raw);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	/* Not TCSADRAIN: it would wait for a terminal that has been stopped. */
	if (tcsetattr(t->tty, TCSANOW, &raw) < 0)
		return -errno;
	t->raw = true;
	return 0;
}

static void restore_settings(struct sb_terminal *t)
{
	if (t->raw)
		tcsetattr(t->tty, TCSANOW, &t->settings);
	t->raw = false;
}

static void set_size(struct sb_terminal *t, bool narrow)
{
	struct winsize size = t->size;

	if (narrow && size.ws_col > 2)
		size.ws_col--;
	else if (narrow && size.ws_row > 1)
		size.ws_row--;
	ioctl(t->master, TIOCSWINSZ, &size);
	t->narrowed = narrow;
}

/* --- writing ----------------------------------------------------------------------------------- */

static bool drawing_pending(const struct sb_terminal *t)
{
	return t->drawn < t->drawing.length;
}

static bool wants_to_write(const struct sb_terminal *t)
{
	return drawing_pending(t) || (t->phase != SHOWING && sb_relay_pending(&t->output));
}

static void write_drawing(struct sb_terminal *t)
{
	while (drawing_pending(t)) {
		ssize_t put =
			write(t->tty, t->drawing.data + t->drawn, t->drawing.length - t->drawn);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0) {
			t->gone = t->gone || errno != EAGAIN;
			return;
		}
		t->drawn += (size_t)put;
	}
	t->drawing.length = t->drawn = 0;
}

/* To the real terminal: what we draw, then what the command wrote. */
static void write_out(struct sb_terminal *t)
{
	write_drawing(t);
	if (!drawing_pending(t) && t->phase != SHOWING && sb_relay_drain(&t->output, t->tty) < 0)
		t->gone = true;
}

static void write_out_within(struct sb_terminal *t, int limit_ms)
{
	int64_t deadline = now_ms() + limit_ms;

	for (;;) {
		struct pollfd fd = {.fd = t->tty, .events = POLLOUT};
		int64_t left = deadline - now_ms();

		write_out(t);
		if (t->gone || !wants_to_write(t) || left <= 0)
			return;
		poll(&fd, 1, (int)left);
	}
}

/* --- notices ----------------------------------------------------------------------------------- */

/* May a line of ours stand between what the command writes? */
static bool at_rest(const struct sb_terminal *t)
{
	return t->phase == RELAYING && !t->inside && !sb_relay_pending(&t->output) &&
	       !drawing_pending(t);
}

static void show_notices(struct sb_terminal *t)
{
	char *text;

	while ((text = sb_queue_take_notice(&t->queue))) {
		SB_AUTO_FREE char *mine = text;

		sb_buf_puts(&t->drawing, t->modes.line_start ? "\033[0m" : "\033[0m\r\n");
		sb_draw_fitted(&t->drawing, mine, t->size.ws_col > 1 ? t->size.ws_col - 1 : 1);
		sb_buf_puts(&t->drawing, "\r\n");
		t->modes.line_start = true;
	}
	sb_modes_attributes(&t->modes, &t->drawing);
}

void sb_terminal_notice(struct sb_terminal *t, const char *text)
{
	sb_queue_add_notice(&t->queue, text);
}

/* --- questions on the screen ------------------------------------------------------------------- */

/*
 * Draw the first question and, unless only its looks have changed, put up a fence after it:
 * what comes before the terminal's reply was not typed in answer to it.
 */
static void draw_first(struct sb_terminal *t, bool fence)
{
	struct sb_view view = {.rows = t->size.ws_row,
			       .columns = t->size.ws_col,
			       .word = t->word,
			       .count = t->queue.count};
	SB_AUTO_BUF struct sb_buf page = SB_BUF(256 * 1024); /* several very large screens */
	SB_AUTO_BUF struct sb_buf probe = SB_BUF(256);
	int64_t now = now_ms();

	if (fence) {
		tcflush(t->tty, TCIFLUSH);
		sb_keys_begin(&t->keys, &probe, t->size.ws_row, t->size.ws_col, now,
			      t->replies ? REPLY_MS : FIRST_REPLY_MS);
		t->leaving = false;
		view.probe = probe.data;
	}
	sb_draw_question(&page, &t->queue.first->question, &view);
	sb_buf_append(&t->drawing, page.data, page.length);
	t->undrawable = sb_buf_failed(&page) || sb_buf_failed(&probe) || sb_buf_failed(&t->drawing);
	t->stale = false;
	t->repaint_ms = now + REPAINT_MS;
}

/* The output has come to a safe place: the question takes the screen. */
static void show(struct sb_terminal *t)
{
	if (t->inside)
		t->swallow = true;
	t->inside = false;
	sb_modes_enter(&t->modes, &t->drawing);
	t->phase = SHOWING;
	draw_first(t, true);
}

/* No question is left: give the screen back. */
static void leave(struct sb_terminal *t)
{
	t->phase = RELAYING;
	t->leaving = true;
	sb_buf_puts(&t->drawing, "\033[?25l");
	if (t->replies)
		sb_keys_begin(&t->keys, &t->drawing, t->size.ws_row, t->size.ws_col, now_ms(),
			      REPLY_MS);
	else
		sb_keys_begin_blind(&t->keys, now_ms(), BLIND_MS);
	sb_modes_leave(&t->modes, &t->drawing);
	tcflush(t->tty, TCIFLUSH);
	if (t->modes.alternate) {
		set_size(t, true);
		t->narrowed_ms = now_ms();
		t->redrawn = false;
	}
}

/* The first question is gone: on with the next one, if it was on the screen. */
static void advance(struct sb_terminal *t)
{
	if (t->phase == PAUSING && !t->queue.first)
		t->phase = RELAYING;
	if (t->phase != SHOWING)
		return;
	t->undrawable = false;
	if (t->queue.first)
		draw_first(t, true);
	else
		leave(t);
}

static void answer(struct sb_terminal *t, enum sb_answer given)
{
	struct sb_waiting *asked = sb_queue_take(&t->queue);
	unsigned long id = asked->question.id;

	sb_queue_add_answer(&t->queue, &asked->question, given);
	sb_waiting_free(asked);
	advance(t);
	t->enter_ms = now_ms() + ENTER_MS;
	/* Last: it may ask again. */
	t->answered(t->context, id, given);
}

/* Nobody can answer any more. */
static void deny_all(struct sb_terminal *t)
{
	struct sb_waiting *asked;

	while ((asked = sb_queue_take(&t->queue))) {
		unsigned long id = asked->question.id;

		sb_waiting_free(asked);
		t->answered(t->context, id, SB_ANSWER_DENY);
	}
}

static void key_pressed(struct sb_terminal *t, char key)
{
	bool directory = t->queue.first->question.directory;

	if (key == '1')
		answer(t, SB_ANSWER_ONCE);
	else if (key == '2' && directory)
		answer(t, SB_ANSWER_DIRECTORY);
	else if (key == '4' && directory)
		answer(t, SB_ANSWER_ALWAYS);
	else if (key == '3' || key == SB_KEYS_ESCAPE || key == SB_KEYS_INTERRUPT ||
		 key == SB_KEYS_END)
		answer(t, SB_ANSWER_DENY);
	else if (key == '\f') /* Ctrl-L */
		t->stale = true;
}

int sb_terminal_ask(struct sb_terminal *t, const struct sb_question *question, struct sb_error *err)
{
	int status = sb_queue_add(&t->queue, question, err);

	if (status != SB_OK)
		return status;
	t->stale = true; /* "1 of N" */
	if (t->phase == RELAYING && !t->suspended) {
		t->phase = PAUSING;
		t->cut_ms = now_ms() + CUT_AFTER_MS;
	}
	return SB_OK;
}

void sb_terminal_withdraw(struct sb_terminal *t, unsigned long id)
{
	bool first = t->queue.first && t->queue.first->question.id == id;

	sb_queue_remove(&t->queue, id);
	if (first)
		advance(t);
	else
		t->stale = true;
}

/* --- input: from the person -------------------------------------------------------------------- */

static void relay_input(struct sb_terminal *t, const char *bytes, size_t length)
{
	if (length && t->enter_ms) {
		bool enter = (bytes[0] == '\r' || bytes[0] == '\n') && now_ms() < t->enter_ms;

		t->enter_ms = 0;
		bytes += enter;
		length -= enter;
	}
	/* We have not read more than there is room for. */
	sb_relay_add(&t->input, bytes, length);
	sb_relay_release(&t->input, 0);
}

static bool wants_input(const struct sb_terminal *t)
{
	return t->phase == SHOWING || sb_relay_room(&t->input) > 0;
}

static void take_input(struct sb_terminal *t)
{
	char bytes[4096];
	size_t room = sb_relay_room(&t->input);
	ssize_t got;
	size_t length, before = 0;

	if (t->phase == SHOWING || room > sizeof bytes)
		room = sizeof bytes;
	if (room == 0)
		return;
	got = read(t->tty, bytes, room);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		t->gone = true;
		return;
	}
	length = (size_t)got;
	if (t->phase == SHOWING) {
		char key = sb_keys_feed(&t->keys, bytes, length, now_ms());

		t->replies = t->replies || t->keys.replied;
		if (key && drawing_pending(t))
			return; /* not before it can be read */
		if (key)
			key_pressed(t, key);
		return;
	}
	if (t->leaving) {
		before = sb_keys_pass(&t->keys, bytes, length, now_ms());
		t->leaving = !t->keys.passed;
	}
	relay_input(t, bytes + before, length - before);
}

static void write_input(struct sb_terminal *t)
{
	/* Nobody holds the other side: what was typed has no reader and never will. */
	if (sb_relay_drain(&t->input, t->master) < 0)
		t->input.start = t->input.ready = t->input.end = 0;
}

/* --- output: from the command ------------------------------------------------------------------ */

/* Drop the rest of a sequence that a question has cut off; n bytes have come. */
static size_t drop_rest(struct sb_terminal *t, size_t n)
{
	char *fresh = t->output.bytes + t->output.end - n;
	size_t dropped = 0;

	while (dropped < n && t->swallow) {
		sb_modes_feed(&t->modes, fresh + dropped++, 1);
		t->swallow = t->modes.state != SB_MODES_GROUND;
	}
	memmove(fresh, fresh + dropped, n - dropped);
	t->output.end -= dropped;
	return n - dropped;
}

/* Read along in n fresh bytes, and release what ends outside a sequence. */
static void track(struct sb_terminal *t, size_t n)
{
	size_t safe;

	if (t->swallow)
		n = drop_rest(t, n);
	safe = sb_modes_feed(&t->modes, t->output.bytes + t->output.end - n, n);
	if (safe) {
		t->inside = false;
		sb_relay_release(&t->output, n - safe);
	}
	if (sb_relay_held(&t->output) > HOLD_BYTES || (t->inside && !safe)) {
		t->inside = true;
		sb_relay_release(&t->output, 0);
	}
}

static bool wants_output(const struct sb_terminal *t)
{
	return (t->phase == RELAYING || (t->phase == PAUSING && t->inside)) &&
	       sb_relay_room(&t->output) > 0;
}

/* False when the command has written nothing more. */
static bool take_output(struct sb_terminal *t)
{
	/* While a question waits for the end of a sequence, not far beyond it. */
	size_t limit = t->phase == PAUSING ? 256 : SB_RELAY_BYTES;
	bool some = false;

	while (wants_output(t)) {
		ssize_t got = sb_relay_fill(&t->output, t->master, limit);

		if (got <= 0) {
			/* EIO: no process has the slave open just now. */
			if (got == 0 || got == -EIO)
				t->retry_ms = now_ms() + MASTER_RETRY_MS;
			break;
		}
		track(t, (size_t)got);
		some = t->redrawn = true;
		if (t->phase == PAUSING)
			break;
	}
	return some;
}

/* --- the caller's loop ------------------------------------------------------------------------- */

size_t sb_terminal_poll(const struct sb_terminal *t, struct pollfd *out)
{
	size_t count = 0;
	short events = 0;

	if (t->gone || t->suspended || t->ended)
		return 0;
	out[count++] = (struct pollfd){.fd = t->tty,
				       .events = (short)((wants_input(t) ? POLLIN : 0) |
							 (wants_to_write(t) ? POLLOUT : 0))};
	if (wants_output(t) && now_ms() >= t->retry_ms)
		events |= POLLIN;
	if (sb_relay_pending(&t->input))
		events |= POLLOUT;
	if (events) /* without, POLLHUP would still be reported, over and over */
		out[count++] = (struct pollfd){.fd = t->master, .events = events};
	return count;
}

static void sooner(int64_t *deadline, int64_t when)
{
	if (*deadline < 0 || when < *deadline)
		*deadline = when;
}

int sb_terminal_timeout_ms(const struct sb_terminal *t)
{
	int64_t now = now_ms(), deadline = -1;

	if (t->gone)
		return t->queue.first ? 0 : -1;
	if (t->suspended || t->ended)
		return -1;
	if (t->phase == SHOWING || t->leaving) {
		int64_t keys = sb_keys_deadline_ms(&t->keys);

		if (keys >= 0)
			sooner(&deadline, keys);
	}
	if (t->phase == SHOWING && t->stale)
		sooner(&deadline, t->repaint_ms);
	if (t->phase == SHOWING && t->undrawable)
		return 0;
	if (t->phase == PAUSING && !wants_to_write(t))
		sooner(&deadline, t->inside ? t->cut_ms : now);
	if (t->narrowed)
		sooner(&deadline, t->narrowed_ms + (t->redrawn ? REDRAW_LEAST_MS : REDRAW_MOST_MS));
	if (wants_output(t) && t->retry_ms > now)
		sooner(&deadline, t->retry_ms);
	if (t->queue.notice_count && at_rest(t) && !t->modes.alternate)
		return 0;
	if (deadline < 0)
		return -1;
	return deadline > now ? (int)(deadline - now) : 0;
}

static void tick(struct sb_terminal *t)
{
	int64_t now = now_ms();

	if (t->phase == PAUSING && !wants_to_write(t) && (!t->inside || now >= t->cut_ms))
		show(t);
	if (t->phase == SHOWING) {
		char key = sb_keys_tick(&t->keys, now);

		if (t->undrawable) {
			sb_buf_done(&t->drawing);
			sb_buf_init(&t->drawing, t->drawing.limit);
			t->drawn = 0;
			answer(t, SB_ANSWER_DENY);
		} else if (key && !drawing_pending(t)) {
			key_pressed(t, key);
		} else if (t->stale && now >= t->repaint_ms && !drawing_pending(t)) {
			draw_first(t, false);
		}
	} else if (t->leaving) {
		sb_keys_tick(&t->keys, now);
		t->leaving = !t->keys.passed;
	}
	if (t->narrowed && now >= t->narrowed_ms + (t->redrawn ? REDRAW_LEAST_MS : REDRAW_MOST_MS))
		set_size(t, false);
	if (t->queue.notice_count && at_rest(t) && !t->modes.alternate)
		show_notices(t);
}

void sb_terminal_handle(struct sb_terminal *t, const struct pollfd *fds, size_t count)
{
	short from_tty = 0, from_master = 0;

	if (t->suspended || t->ended)
		return;
	for (size_t i = 0; i < count; i++) {
		if (fds[i].fd == t->tty)
			from_tty = fds[i].revents;
		else if (fds[i].fd == t->master)
			from_master = fds[i].revents;
	}
	if (!t->gone && from_tty & ~POLLOUT)
		take_input(t);
	if (!t->gone && sb_relay_pending(&t->input))
		write_input(t);
	if (!t->gone && from_master & ~POLLOUT)
		take_output(t);
	if (!t->gone && wants_to_write(t))
		write_out(t);
	if (!t->gone)
		tick(t);
	if (!t->gone && wants_to_write(t))
		write_out(t);
	if (t->gone)
		deny_all(t);
}

bool sb_terminal_gone(const struct sb_terminal *t)
{
	return t->gone;
}

/* --- life -------------------------------------------------------------------------------------- */

void sb_terminal_resized(struct sb_terminal *t)
{
	sb_tty_size(t->tty, &t->size);
	set_size(t, false);
	sb_modes_resized(&t->modes);
	if (t->phase == SHOWING) /* the cells we asked for may be gone: ask again */
		draw_first(t, !t->keys.passed);
}

void sb_terminal_suspend(struct sb_terminal *t)
{
	if (t->suspended || t->gone)
		return;
	if (t->phase == SHOWING) {
		t->replies = false; /* nobody is there to take the reply */
		leave(t);
	}
	t->phase = RELAYING;
	t->leaving = false;
	if (t->narrowed)
		set_size(t, false);
	write_out_within(t, 500);
	restore_settings(t);
	t->suspended = true;
}

void sb_terminal_resume(struct sb_terminal *t)
{
	struct termios now;

	if (!t->suspended)
		return;
	t->suspended = false;
	/* The shell may have changed them meanwhile; those are what it wants back. */
	if (tcgetattr(t->tty, &now) == 0)
		t->settings = now;
	if (make_raw(t) < 0)
		t->gone = true;
	sb_terminal_resized(t);
	if (t->queue.first) {
		t->phase = PAUSING;
		t->cut_ms = now_ms() + CUT_AFTER_MS;
	}
}

void sb_terminal_drain(struct sb_terminal *t)
{
	int64_t deadline = now_ms() + 1000;

	if (t->phase == SHOWING) {
		t->replies = false;
		leave(t);
	}
	t->phase = RELAYING;
	deny_all(t);
	t->phase = RELAYING; /* whatever was asked in between */
	while (!t->gone && !t->suspended && !t->ended && now_ms() < deadline) {
		/* What was written last may still be on its way through the kernel. */
		struct pollfd fds[2] = {{.fd = t->master, .events = POLLIN},
					{.fd = wants_to_write(t) ? t->tty : -1, .events = POLLOUT}};
		bool idle = poll(fds, 2, 20) <= 0;

		if (!take_output(t) && (idle || fds[0].revents & POLLHUP) && !wants_to_write(t))
			break;
		write_out(t);
	}
	sb_relay_release(&t->output, 0);
	show_notices(t);
	if (!t->gone && !t->suspended)
		write_out_within(t, 500);
	t->ended = true;
}

int sb_terminal_open(const struct sb_terminal_options *options, struct sb_terminal **out,
		     struct sb_error *err)
{
	struct sb_terminal *t;
	int tty = sb_tty_reopen(options->tty);
	int status = SB_OK, flags;

	if (tty == -ENOTTY)
		return sb_fail(err, SB_E_INVALID, ENOTTY, "cannot ask on this terminal");
	t = calloc(1, sizeof *t);
	if (!t) {
		sb_auto_close(&tty);
		return sb_fail(err, SB_E_NOMEM, 0, "no memory to relay the terminal");
	}
	t->borrowed = tty < 0; /* not ours to open again: share it, and put its flags back */
	t->tty = t->borrowed ? options->tty : tty;
	t->tty_flags = fcntl(t->tty, F_GETFL);
	t->master = options->master;
	t->answered = options->answered;
	t->context = options->context;
	sb_modes_init(&t->modes);
	t->modes.line_start = true;
	sb_queue_init(&t->queue);
	sb_buf_init(&t->drawing, 1024 * 1024); /* a few screens, and room for a slow line */
	if (options->word) {
		t->word = strdup(options->word);
		if (!t->word)
			status = sb_fail(err, SB_E_NOMEM, 0, "no memory to relay the terminal");
	}
	if (status == SB_OK &&
	    (tcgetattr(t->tty, &t->settings) < 0 || (flags = fcntl(t->master, F_GETFL)) < 0 ||
	     fcntl(t->master, F_SETFL, flags | O_NONBLOCK) < 0 ||
	     fcntl(t->tty, F_SETFL, t->tty_flags | O_NONBLOCK) < 0 || make_raw(t) < 0))
		status = sb_fail(err, SB_E_SYSTEM, errno, "cannot relay the terminal");
	if (status != SB_OK) {
		sb_terminal_close(t);
		return status;
	}
	sb_tty_size(t->tty, &t->size);
	set_size(t, false);
	*out = t;
	return SB_OK;
}

void sb_terminal_close(struct sb_terminal *t)
{
	if (!t)
		return;
	if (t->phase == SHOWING && !t->gone) {
		t->replies = false;
		leave(t);
		write_out_within(t, 500);
	}
	restore_settings(t);
	if (t->borrowed)
		fcntl(t->tty, F_SETFL, t->tty_flags);
	else
		sb_auto_close(&t->tty);
	sb_queue_done(&t->queue);
	sb_buf_done(&t->drawing);
	free(t->word);
	free(t);
}
