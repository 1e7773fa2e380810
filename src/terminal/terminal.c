#include "terminal/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "terminal/terminal_impl.h"

#define MASTER_RETRY_MS 100 /* when nobody holds the command's side open */
#define PATIENCE_MS 1000    /* for a real terminal that takes nothing, when we must be done */
#define REPLIES_MS 500      /* how long we wait for the terminal before we let go of it */

/* --- the terminals' settings ------------------------------------------------------- */

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

/* --- to the real terminal ---------------------------------------------------------- */

static void write_drawing(struct sb_terminal *t)
{
	while (sb_terminal_drawing(t)) {
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

/* What we draw, then what the command wrote. */
static void write_out(struct sb_terminal *t)
{
	write_drawing(t);
	if (!sb_terminal_drawing(t) && t->phase != SHOWING &&
	    sb_relay_drain(&t->output, t->tty) < 0)
		t->gone = true;
}

/* Write all of it; give up when the terminal takes nothing for a while. */
static void flush_out(struct sb_terminal *t)
{
	struct pollfd fd = {.fd = t->tty, .events = POLLOUT};

	do {
		write_out(t);
	} while (!t->gone && sb_terminal_writing(t) && poll(&fd, 1, PATIENCE_MS) > 0);
}

/* --- from the person --------------------------------------------------------------- */

/*
 * How many bytes at the beginning are one answer too many: a digit pressed twice, a key that is held
 * down, Enter by habit.  In a menu of the command "1" may mean yes.
 */
static size_t surplus(struct sb_terminal *t, const char *bytes, size_t length)
{
	int64_t now = sb_now_ms();
	size_t count = 0;

	if (!length || !t->surplus_ms)
		return 0;
	if (now < t->surplus_ms)
		while (count < length && memchr("1234\r\n", bytes[count], 6))
			count++;
	t->surplus_ms = count == length ? now + SB_SURPLUS_MS : 0;
	return count;
}

/* One key alone, as a pager takes, is no text; and the end of a line ends it. */
static void note_typed(struct sb_terminal *t, char last, int64_t now)
{
	bool text = (unsigned char)last >= ' ';

	t->typed_ms = text && t->touched_ms && now - t->touched_ms < SB_KEYS_TYPED_MS ? now : 0;
	t->touched_ms = text ? now : 0;
}

static void relay_input(struct sb_terminal *t, const char *bytes, size_t length)
{
	size_t skip = surplus(t, bytes, length);

	bytes += skip;
	length -= skip;
	if (length && !memchr(bytes, SB_KEYS_ESCAPE, length)) /* no reply of the terminal's */
		note_typed(t, bytes[length - 1], sb_now_ms());
	/* We have not read more than there is room for. */
	sb_relay_add(&t->input, bytes, length);
	sb_relay_release(&t->input, 0);
}

/* No command to type to: all that counts is the wish to go. */
static void look_for_leave(struct sb_terminal *t, const char *bytes, size_t length)
{
	if (t->phase == RELAYING && t->typed) {
		size_t skip = surplus(t, bytes, length);

		if (skip < length)
			t->typed(t->context, bytes + skip, length - skip);
	} else if (t->phase == RELAYING &&
		   (memchr(bytes, SB_KEYS_INTERRUPT, length) || memchr(bytes, SB_KEYS_END, length)))
		t->left = true;
}

/* How much may be read now. */
static size_t input_room(const struct sb_terminal *t)
{
	return t->phase == SHOWING ? SB_RELAY_BYTES : sb_relay_room(&t->input);
}

static void take_input(struct sb_terminal *t, bool hung_up)
{
	char bytes[4096];
	size_t room = input_room(t), before = 0;
	ssize_t got;

	if (room == 0) {
		t->gone = hung_up;
		return;
	}
	got = read(t->tty, bytes, room < sizeof bytes ? room : sizeof bytes);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		t->gone = true;
		return;
	}
	if (t->phase == SHOWING) {
		size_t typed = t->keys.typed_length;
		char key = sb_keys_feed(&t->keys, bytes, (size_t)got, sb_now_ms());

		if (key)
			sb_terminal_key(t, key);
		else if (t->keys.typed_length != typed)
			t->stale = true;
		return;
	}
	if (t->leaving) {
		before = sb_keys_pass(&t->keys, bytes, (size_t)got, sb_now_ms());
		t->leaving = !t->keys.passed;
	}
	if (t->master >= 0)
		relay_input(t, bytes + before, (size_t)got - before);
	else
		look_for_leave(t, bytes + before, (size_t)got - before);
}

static void write_input(struct sb_terminal *t)
{
	/* Nobody holds the other side: what was typed has no reader and never will. */
	if (sb_relay_drain(&t->input, t->master) < 0)
		t->input.start = t->input.ready = t->input.end = 0;
}

/* --- from the command -------------------------------------------------------------- */

/* Sift what has come and was not released yet; the beginning of a sequence stays held. */
static void sift(struct sb_terminal *t)
{
	size_t held;
	size_t ready = sb_sieve_run(&t->sieve, t->output.bytes + t->output.ready,
				    sb_relay_held(&t->output), &held);

	sb_relay_shrink(&t->output, ready + held);
	sb_relay_release(&t->output, held);
}

static bool wants_output(const struct sb_terminal *t)
{
	return t->master >= 0 &&
	       (t->phase == RELAYING || (t->phase == PAUSING && sb_sieve_inside(&t->sieve))) &&
	       sb_relay_room(&t->output) > 0;
}

/* False when the command has written nothing more. */
static bool take_output(struct sb_terminal *t)
{
	bool some = false;

	while (wants_output(t)) {
		/* While a question waits for the end of a sequence, not far beyond it. */
		bool careful = t->phase == PAUSING;
		ssize_t got = sb_relay_fill(&t->output, t->master, careful ? 256 : SB_RELAY_BYTES);

		if (got <= 0) {
			/* EIO: no process has the slave open just now. */
			if (got == 0 || got == -EIO)
				t->retry_ms = sb_now_ms() + MASTER_RETRY_MS;
			break;
		}
		sift(t);
		some = true;
		t->redrawn += (size_t)got;
		if (careful)
			break;
	}
	return some;
}

/* --- the caller's loop ------------------------------------------------------------- */

size_t sb_terminal_poll(const struct sb_terminal *t, struct pollfd *out)
{
	size_t count = 0;
	short events = 0;

	if (t->gone || t->suspended || t->ended)
		return 0;
	if (input_room(t) > 0 && !t->background)
		events |= POLLIN;
	if (sb_terminal_writing(t))
		events |= POLLOUT;
	out[count++] = (struct pollfd){.fd = t->tty, .events = events};
	events = 0;
	if (wants_output(t) && sb_now_ms() >= t->retry_ms)
		events |= POLLIN;
	if (sb_relay_pending(&t->input))
		events |= POLLOUT;
	if (events) /* without, POLLHUP would still be reported, over and over */
		out[count++] = (struct pollfd){.fd = t->master, .events = events};
	return count;
}

int sb_terminal_timeout_ms(const struct sb_terminal *t)
{
	int64_t now = sb_now_ms(), deadline;

	if (t->gone || t->ended)
		return t->queue.first ? 0 : -1;
	if (t->suspended)
		return -1;
	deadline = sb_terminal_deadline_ms(t);
	if (wants_output(t) && t->retry_ms > now && (deadline < 0 || deadline > t->retry_ms))
		deadline = t->retry_ms;
	if (deadline < 0)
		return -1;
	return deadline > now ? (int)(deadline - now) : 0;
}

static void handle_ready(struct sb_terminal *t, short from_tty, short from_master)
{
	/* It takes nothing at present: poll() will tell when it does. */
	bool blocked = sb_terminal_writing(t) && !(from_tty & POLLOUT);

	if (from_tty & ~POLLOUT)
		take_input(t, from_tty & (POLLHUP | POLLERR | POLLNVAL));
	if (sb_relay_pending(&t->input))
		write_input(t);
	if (!t->gone && from_master & ~POLLOUT)
		take_output(t);
	if (!t->gone && !blocked && sb_terminal_writing(t))
		write_out(t);
	if (!t->gone)
		sb_terminal_tick(t);
	if (!t->gone && !blocked && sb_terminal_drawing(t))
		write_out(t);
}

void sb_terminal_handle(struct sb_terminal *t, const struct pollfd *fds, size_t count)
{
	short from_tty = 0, from_master = 0;

	for (size_t i = 0; i < count; i++) {
		if (fds[i].fd == t->tty)
			from_tty = fds[i].revents;
		else if (fds[i].fd == t->master)
			from_master = fds[i].revents;
	}
	if (!t->gone && !t->ended && !t->suspended)
		handle_ready(t, from_tty, from_master);
	if (t->gone || t->ended)
		sb_terminal_deny_all(t);
}

bool sb_terminal_gone(const struct sb_terminal *t)
{
	return t->gone;
}

bool sb_terminal_show(struct sb_terminal *t, char *bytes, size_t length)
{
	size_t held;

	if (t->phase != RELAYING || t->suspended || t->gone || sb_terminal_drawing(t))
		return false;
	sb_buf_append(&t->drawing, bytes, sb_sieve_run(&t->sieve, bytes, length, &held));
	return true;
}

const struct sb_modes *sb_terminal_modes(const struct sb_terminal *t)
{
	return &t->sieve.modes;
}

void sb_terminal_window(const struct sb_terminal *t, unsigned *out_rows, unsigned *out_columns,
			bool *out_utf8)
{
	*out_utf8 = t->replies;
	*out_rows = t->size.ws_row;
	*out_columns = t->size.ws_col;
}

bool sb_terminal_left(const struct sb_terminal *t)
{
	return t->left;
}

void sb_terminal_resized(struct sb_terminal *t)
{
	sb_tty_size(t->tty, &t->size);
	sb_terminal_set_size(t, false);
	sb_modes_resized(&t->sieve.modes);
	t->drawn_once = false;
	if (t->phase == SHOWING) /* the cells we asked for may be gone: ask again */
		sb_terminal_draw(t, !t->keys.passed || t->small);
}

/* --- life -------------------------------------------------------------------------- */

/*
 * The terminal still owes us its replies: read them before somebody else has it, or they appear
 * there as if typed.  Also those that are there when the time is up: we may have slept through it.
 */
static void await_replies(struct sb_terminal *t)
{
	int64_t until = sb_now_ms() + REPLIES_MS;
	bool owed = (t->phase == SHOWING || t->leaving) && t->keys.expected_length;

	while (owed && !t->keys.passed && !t->gone) {
		struct pollfd fd = {.fd = t->tty, .events = POLLIN};
		int64_t left = until - sb_now_ms();
		char bytes[512];
		ssize_t got;

		flush_out(t); /* the request itself, perhaps */
		if (poll(&fd, 1, left > 0 ? (int)left : 0) <= 0)
			return;
		got = read(t->tty, bytes, sizeof bytes);
		if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
			return;
		if (got > 0)
			sb_keys_pass(&t->keys, bytes, (size_t)got, sb_now_ms());
	}
}

/* A string that the command has left open would swallow what others write after it. */
static void end_string(struct sb_terminal *t)
{
	if (sb_sieve_inside(&t->sieve))
		sb_buf_puts(&t->drawing, "\030\033\\");
	sb_sieve_cut(&t->sieve);
}

/* Take a question off the screen without waiting for a person. */
static void leave_at_once(struct sb_terminal *t)
{
	await_replies(t);
	if (t->phase == SHOWING)
		sb_terminal_leave(t, false);
	t->phase = RELAYING;
	t->leaving = false;
	if (t->narrowed)
		sb_terminal_set_size(t, false);
}

void sb_terminal_suspend(struct sb_terminal *t)
{
	if (t->suspended || t->gone)
		return;
	leave_at_once(t);
	take_output(t); /* a screen that the command has given back belongs to the shell now */
	flush_out(t);
	end_string(t);
	flush_out(t);
	if (!t->background) /* else they are another's */
		restore_settings(t);
	t->suspended = true;
	t->background = false;
}

void sb_terminal_background(struct sb_terminal *t)
{
	if (!t->suspended)
		return;
	t->suspended = false;
	t->background = true;
}

bool sb_terminal_in_background(const struct sb_terminal *t)
{
	return t->background;
}

void sb_terminal_resume(struct sb_terminal *t)
{
	struct termios now;

	if (!t->suspended && !t->background)
		return;
	t->suspended = t->background = false;
	/* The shell may have changed them meanwhile; those are what it wants back. */
	if (tcgetattr(t->tty, &now) == 0)
		t->settings = now;
	if (make_raw(t) < 0)
		t->gone = true;
	sb_terminal_resized(t);
	if (t->queue.first)
		sb_terminal_pause(t);
}

/* Carry what the command wrote before its end, until nothing comes and nothing is taken. */
static void drain_output(struct sb_terminal *t)
{
	for (;;) {
		struct pollfd fds[] = {
			{.fd = wants_output(t) ? t->master : -1, .events = POLLIN},
			{.fd = sb_terminal_writing(t) ? t->tty : -1, .events = POLLOUT}};
		/* What was written last may still be on its way through the kernel. */
		int ready = poll(fds, 2, sb_terminal_writing(t) ? PATIENCE_MS : 20);
		bool some = fds[0].revents && take_output(t);

		write_out(t);
		if (t->gone || ready <= 0 || (!some && !sb_terminal_writing(t)))
			return;
		if (!some && !fds[1].revents)
			return; /* hung up, and the rest is left to flush_out() */
	}
}

void sb_terminal_drain(struct sb_terminal *t)
{
	leave_at_once(t);
	sb_terminal_deny_all(t);
	t->phase = RELAYING; /* whatever was asked meanwhile */
	if (!t->gone && !t->suspended && !t->ended) {
		sb_terminal_take_ahead(t);
		drain_output(t);
		sb_relay_shrink(&t->output, 0); /* half a sequence */
		flush_out(t);
		end_string(t);
		if (!t->background)
			sb_terminal_give_back(t);
		sb_terminal_show_notices(t);
		flush_out(t);
	}
	t->ended = true;
}

static int begin(struct sb_terminal *t, const char *word, struct sb_error *err)
{
	int flags = t->master < 0 ? 0 : fcntl(t->master, F_GETFL);

	if (word && !(t->word = strdup(word)))
		return sb_fail(err, SB_E_NOMEM, 0, "no memory to relay the terminal");
	if (flags < 0 || (t->master >= 0 && fcntl(t->master, F_SETFL, flags | O_NONBLOCK) < 0) ||
	    t->tty_flags < 0 || fcntl(t->tty, F_SETFL, t->tty_flags | O_NONBLOCK) < 0 ||
	    tcgetattr(t->tty, &t->settings) < 0 || make_raw(t) < 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot relay the terminal");
	sb_tty_size(t->tty, &t->size);
	sb_terminal_set_size(t, false);
	return SB_OK;
}

int sb_terminal_open(const struct sb_terminal_options *options, struct sb_terminal **out,
		     struct sb_error *err)
{
	SB_AUTO_FD int own = sb_tty_reopen(options->tty);
	struct sb_terminal *t;
	int status;

	if (options->size < sizeof *options || !options->answered)
		return sb_fail(err, SB_E_INVALID, 0, "a terminal needs its options in full");
	if (own == -ENOTTY)
		return sb_fail(err, SB_E_INVALID, ENOTTY, "cannot ask on this terminal");
	t = calloc(1, sizeof *t);
	if (!t)
		return sb_fail(err, SB_E_NOMEM, 0, "no memory to relay the terminal");
	t->borrowed = own < 0; /* not ours to open again: share it, and put its flags back */
	t->tty = t->borrowed ? options->tty : sb_take_fd(&own);
	t->tty_flags = fcntl(t->tty, F_GETFL);
	t->master = options->master;
	sb_terminal_open_ahead(t);
	t->colour = options->colour;
	t->kept = options->kept;
	t->answered = options->answered;
	t->typed = options->typed;
	t->context = options->context;
	sb_sieve_init(&t->sieve);
	t->sieve.modes.line_start = true;
	sb_queue_init(&t->queue);
	sb_buf_init(&t->drawing, 4 * 1024 * 1024); /* a few screens, and room for a slow line */
	status = begin(t, options->word, err);
	if (status != SB_OK)
		sb_terminal_close(t);
	else
		*out = t;
	return status;
}

void sb_terminal_close(struct sb_terminal *t)
{
	if (!t)
		return;
	if (!t->gone && !t->ended && !t->suspended) {
		leave_at_once(t);
		flush_out(t);
	}
	restore_settings(t);
	if (t->borrowed)
		fcntl(t->tty, F_SETFL, t->tty_flags);
	else
		sb_auto_close(&t->tty);
	sb_auto_close(&t->slave);
	sb_queue_done(&t->queue);
	sb_buf_done(&t->drawing);
	sb_buf_done(&t->ahead);
	free(t->word);
	free(t);
}
