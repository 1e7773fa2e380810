/*
 * ask_first.c - --ask-first: one question about what the command's text shows, before it starts (C7).
 *
 * Nothing of the command runs yet, so nobody inside can see, forge or answer it (C5).
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/escape.h"
#include "cli/run.h"
#include "config/word.h"
#include "consent/agreed.h"

extern char **environ;

static int find(const struct sb_run *run, struct sb_agreed_list *out, struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf command = SB_BUF(SB_OUTPUT_LIMIT);
	const struct sb_preview_options options = {.size = sizeof options,
						   .directory = run->setup.home.cwd,
						   .home = sb_own_variable("HOME"),
						   .environment = (const char *const *)environ};

	sb_shell_quote_all(&command, (const char *const *)run->argv);
	if (sb_buf_failed(&command))
		return sb_no_memory(err);
	return sb_agreed_find(run->setup.policy, command.data, &options, out, err);
}

static void put_question(const struct sb_run *run, const struct sb_agreed_list *list,
			 struct sb_buf *out)
{
	SB_AUTO_FREE char *word = sb_word(&run->setup.home);

	sb_buf_puts(out, "sandbash");
	if (word)
		sb_buf_printf(out, " (%s)", word);
	sb_buf_puts(out, ": this command would\n");
	for (size_t i = 0; i < list->count; i++) {
		sb_buf_printf(out, "  %s '", sb_agreed_verb(list->all[i].op));
		sb_escape_put_name(out, "", list->all[i].path, "'\n");
	}
	if (list->unsaid)
		sb_buf_puts(out, "it may change more, which its words do not tell: that asks when "
				 "it happens\n");
	sb_buf_puts(out, "allow these, for this command only? [y/N] ");
}

/* -1: nobody can be asked. */
static int ask(const struct sb_command_line *line, const struct sb_run *run,
	       const struct sb_agreed_list *list)
{
	SB_AUTO_FD int tty = -1;
	SB_AUTO_FILE FILE *stream = NULL;
	SB_AUTO_BUF struct sb_buf text = SB_BUF(SB_OUTPUT_LIMIT);
	char answer[16] = "";

	if (sb_consent_on_terminal(line->consent))
		tty = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (tty < 0 || tcgetpgrp(tty) != getpgrp())
		return -1;
	put_question(run, list, &text);
	if (sb_buf_failed(&text))
		return -1;
	tcflush(tty, TCIFLUSH); /* what was typed before it was asked answers nothing */
	stream = fdopen(tty, "r+");
	if (!stream)
		return -1;
	tty = -1;
	fputs(text.data, stream);
	fflush(stream);
	if (!fgets(answer, sizeof answer, stream))
		return 0;
	return strcmp(answer, "y\n") == 0 || strcmp(answer, "yes\n") == 0;
}

int sb_cli_ask_first(const struct sb_command_line *line, const struct sb_run *run,
		     struct sb_agreed_list *out)
{
	struct sb_error err;
	int said;

	if (!sb_is_supervised(line))
		return sb_end_with(SB_E_UNSUPPORTED, NULL, "--ask-first takes a supervised run");
	if (find(run, out, &err) != SB_OK)
		return sb_report(&err);
	if (!out->count)
		return 0;
	said = ask(line, run, out);
	if (said > 0)
		return 0;
	if (said == 0)
		return sb_end_with(SB_E_REFUSED, NULL, "not started: you said no");
	return sb_end_with(SB_E_REFUSED, "--preview shows all of it, --allow-write=PATH allows it",
			   "not started: it would %s '%s', and nobody can be asked",
			   sb_agreed_verb(out->all[0].op), out->all[0].path);
}
