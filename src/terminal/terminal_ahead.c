/*
 * terminal_ahead.c - what was typed and never read goes back to whoever has the terminal next.
 *
 * A shell reads what was typed during a command that did not read it.  We have read it, since
 * Ctrl-C and the like must not wait, and put it into the command's terminal; at the end it lies
 * there still.  Whether a command is about to read cannot be known, so it cannot be left where
 * it was.  TIOCSTI puts it back; a kernel may forbid that (dev.tty.legacy_tiocsti, Linux 6.2).
 *
 * All of it or nothing: a shell that gets the second half of a line would do something else
 * than what was typed.
 *
 * SECURITY: only what people type as text is put back.
 *
 * Danger: a command can make a terminal send replies, some with text of its choice, and end
 * without reading them.  They would be typed into the shell.
 * Price: what was typed ahead is lost when an arrow key is among it.
 * Held by: tests/cli/consent_jobs.py
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "terminal/terminal_impl.h"

#define AHEAD_BYTES 4096 /* as much as a terminal keeps for a reader */

void sb_terminal_open_ahead(struct sb_terminal *t)
{
	/* never by its name, which is another terminal's where we are; and not at the end, when
	 * the mount it lies on may be gone */
	t->slave = t->master < 0 ? -1
				 : ioctl(t->master, TIOCGPTPEER,
					 O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
}

/* What lies unread in the command's terminal; it has no reader any more. */
static size_t take_unread(int slave, char *out, size_t room)
{
	struct termios settings;
	size_t length = 0;
	ssize_t got;

	if (slave < 0 || tcgetattr(slave, &settings) < 0)
		return 0;
	/* an unfinished line counts as well */
	settings.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	settings.c_cc[VMIN] = settings.c_cc[VTIME] = 0;
	if (tcsetattr(slave, TCSANOW, &settings) < 0)
		return 0;
	while (length < room && (got = read(slave, out + length, room - length)) > 0)
		length += (size_t)got;
	return length;
}

static bool is_typed_text(const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if ((c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\b') || c == 0x9b)
			return false;
	}
	return true;
}

void sb_terminal_take_ahead(struct sb_terminal *t)
{
	char bytes[AHEAD_BYTES];
	size_t length = take_unread(t->slave, bytes, sizeof bytes);

	sb_buf_init(&t->ahead, sizeof bytes + SB_RELAY_BYTES + 1);
	sb_buf_append(&t->ahead, bytes, length);
	sb_buf_append(&t->ahead, t->input.bytes + t->input.start, t->input.end - t->input.start);
	t->input.start = t->input.ready = t->input.end = 0;
	/* so that the end of the command's output can be seen */
	sb_auto_close(&t->slave);
	t->slave = -1;
}

void sb_terminal_give_back(struct sb_terminal *t)
{
	char more[AHEAD_BYTES];
	ssize_t got;
	bool text;

	if (t->ahead.length == 0)
		return; /* whatever came since is where it belongs */
	got = read(t->tty, more, sizeof more);
	text = !sb_buf_failed(&t->ahead) && is_typed_text(t->ahead.data, t->ahead.length) &&
	       (got <= 0 || is_typed_text(more, (size_t)got));
	for (size_t i = 0; text && i < t->ahead.length; i++)
		text = ioctl(t->tty, TIOCSTI, t->ahead.data + i) == 0;
	for (ssize_t i = 0; text && i < got; i++)
		text = ioctl(t->tty, TIOCSTI, more + i) == 0;
}
