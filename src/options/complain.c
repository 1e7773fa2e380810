#include "options/complain.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/escape.h"
#include "terminal/modes.h"
#include "terminal/terminal.h"

static int exit_status(enum sb_code code)
{
	if (code == SB_E_USAGE)
		return SB_EXIT_USAGE;
	return code == SB_OK ? 0 : SB_EXIT_FAILURE;
}

/* What is to be undone before the next line. */
static struct sb_modes left_by_command;
static bool is_left;

void sb_complain_after(const struct sb_modes *modes, bool piped)
{
	/* a terminal that is not ours to control is not the one that was followed */
	if (modes && tcgetpgrp(STDERR_FILENO) >= 0) {
		left_by_command = *modes;
		left_by_command.unfollowed = piped; /* tee(1) writes there, too */
	} else {
		sb_modes_unfollowed(&left_by_command);
		left_by_command.alternate = !piped; /* else it may be the pager's */
	}
	is_left = true;
}

/* Does our line go to a terminal, and nobody else is using that?  A shell that has put us in the
 * background has written there since, and what it runs now may draw there. */
static bool is_ours(void)
{
	const char *kind = getenv("TERM");
	pid_t group = tcgetpgrp(STDERR_FILENO);

	return isatty(STDERR_FILENO) && (group < 0 || group == getpgrp()) &&
	       !(kind && strcmp(kind, "dumb") == 0);
}

void sb_complain_begin(void)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(128 * 1024); /* the widest window, and some */
	struct winsize size;

	if (!is_left)
		return;
	is_left = false;
	if (!is_ours())
		return;
	sb_tty_size(STDERR_FILENO, &size);
	sb_modes_seen(&left_by_command, size.ws_col, &text);
	if (!sb_buf_failed(&text))
		fputs(text.data, stderr);
}

int sb_report(const struct sb_error *err)
{
	sb_complain_begin();
	fprintf(stderr, "sandbash: %s", err->message);
	if (err->sys_errno)
		fprintf(stderr, ": %s", strerror(err->sys_errno));
	fputc('\n', stderr);
	if (err->hint[0])
		fprintf(stderr, "hint: %s\n", err->hint);
	return exit_status(err->code);
}

int sb_end_with(enum sb_code code, const char *hint, const char *format, ...)
{
	struct sb_error err;
	char message[sizeof err.message + 8]; /* what is cut here is cut again there */
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof message, format, args);
	va_end(args);
	sb_fail(&err, code, 0, "%s", message);
	if (hint)
		sb_hint(&err, "%s", hint);
	return sb_report(&err);
}

void sb_warn_of(void *context, const char *text)
{
	(void)context;
	sb_warn("%s", text);
}

void sb_warn(const char *format, ...)
{
	char raw[2048], safe[4096];
	va_list args;

	va_start(args, format);
	vsnprintf(raw, sizeof raw, format, args);
	va_end(args);
	sb_complain_begin();
	fprintf(stderr, "sandbash: warning: %s\n", sb_escape_line(safe, sizeof safe, raw));
}
