#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/escape.h"
#include "cli/cli.h"
#include "cli/own_tty.h"
#include "cli/watch_draw.h"
#include "terminal/terminal.h"

#define RULE_BYTES 4096 /* "write " and a path */

struct sb_board {
	struct sb_watch_runs *runs;
	struct sb_own_tty here;
	bool left, dirty;
	bool entered; /* the alternate screen is ours */
	bool pasting; /* the terminal has marked the beginning of a paste */
	bool touched; /* a key was pressed: from now on only keys move the focus */
	struct sb_focus focus;
	size_t top;
	/* the question that has the screen; its id is 0: none */
	struct sb_focus shown;
	unsigned long shown_id; /* its number for the terminal */
	/* a rule that is being typed for this run; its kind is NONE: none is */
	struct sb_focus adding;
	char rule[RULE_BYTES];
	size_t rule_length;
	char *messages[SB_MESSAGES];
	struct sb_activity activities[SB_ACTIVITIES];
};

static void say(struct sb_board *board, char *text)
{
	if (!text)
		return;
	free(board->messages[0]);
	memmove(board->messages, board->messages + 1,
		(SB_MESSAGES - 1) * sizeof board->messages[0]);
	board->messages[SB_MESSAGES - 1] = text;
	board->dirty = true;
}

static struct sb_watch_run *run_of(const struct sb_board *board, const struct sb_focus *focus)
{
	struct sb_watch_run *run = focus->kind == SB_ROW_NONE ? NULL : board->runs->first;

	while (run && strcmp(run->running.session, focus->session) != 0)
		run = run->next;
	return run;
}

static void set_focus(struct sb_focus *focus, enum sb_row_kind kind, const struct sb_watch_run *run,
		      unsigned long id)
{
	*focus = (struct sb_focus){.kind = kind, .id = id};
	memcpy(focus->session, run->running.session, sizeof focus->session);
}

/* --- what happens (watch.h) ------------------------------------------------------------- */

static void note_record(struct sb_board *board, const struct sb_record *record)
{
	SB_AUTO_BUF struct sb_buf line = SB_BUF(SB_OUTPUT_LIMIT);
	struct sb_activity *newest = &board->activities[SB_ACTIVITIES - 1];
	const char *at;

	if (record->event.kind == SB_EVENT_START) /* the run's own row says it */
		return;
	sb_log_text(record, &line);
	if (sb_buf_failed(&line) || !line.length)
		return;
	line.data[line.length - 1] = '\0'; /* its newline */
	free(board->activities[0].text);
	memmove(board->activities, board->activities + 1,
		(SB_ACTIVITIES - 1) * sizeof board->activities[0]);
	memcpy(newest->session, record->session, sizeof newest->session);
	/* "DATE HH:MM:SS.MICROSECONDS SESSION ...": the time of day, and what follows the session */
	at = strchr(line.data + 11, ' ');
	at = at ? strchr(at + 1, ' ') : NULL;
	newest->text = NULL;
	if (at && asprintf(&newest->text, "%.8s%s", line.data + 11, at) < 0)
		newest->text = NULL;
}

static char *sentence(const struct sb_watch_run *run, const char *what, const char *text)
{
	SB_AUTO_BUF struct sb_buf line = SB_BUF(16 * SB_ATTACH_TEXT);

	sb_buf_printf(&line, "%s: %s", run->running.session, what);
	sb_escape_puts(&line, text);
	return sb_buf_take(&line);
}

void sb_board_tell(void *context, const struct sb_watch_event *event)
{
	struct sb_board *board = context;
	bool is_shown = event->run && board->shown.id && board->shown.id == event->id &&
			strcmp(board->shown.session, event->run->running.session) == 0;

	board->dirty = true;
	switch (event->kind) {
	case SB_WATCH_RUN:
		if (!board->touched && board->focus.kind == SB_ROW_NONE)
			set_focus(&board->focus, SB_ROW_RUN, event->run, 0);
		break;
	case SB_WATCH_QUESTION:
		if (!board->touched && board->focus.kind != SB_ROW_QUESTION)
			set_focus(&board->focus, SB_ROW_QUESTION, event->run, event->id);
		break;
	case SB_WATCH_RECORD:
		note_record(board, event->record);
		break;
	case SB_WATCH_ENDED:
		say(board, sentence(event->run, "ended: ", event->run->running.command));
		break;
	case SB_WATCH_NOTICE:
		if (event->text)
			say(board, sentence(event->run, "", event->text));
		break;
	case SB_WATCH_WITHDRAWN:
		say(board, sentence(event->run, "the question is gone: ",
				    event->text ? event->text : "withdrawn"));
		if (is_shown) {
			board->shown.id = 0;
			sb_terminal_withdraw(board->here.terminal, board->shown_id);
		}
		break;
	default:
		break;
	}
}

/* --- questions ---------------------------------------------------------------------------- */

static void open_question(struct sb_board *board)
{
	struct sb_watch_run *run = run_of(board, &board->focus);
	const struct sb_question *asked = run ? sb_queue_find(&run->questions, board->focus.id)
					      : NULL;
	struct sb_question question;

	if (!asked || board->focus.kind != SB_ROW_QUESTION || board->shown.id)
		return;
	question = *asked;
	question.id = ++board->shown_id;
	if (sb_terminal_ask(board->here.terminal, &question, NULL) == SB_OK)
		board->shown = board->focus;
}

/* After one's own answer the next question is in focus, or what the last one was about. */
static void focus_after(struct sb_board *board, struct sb_watch_run *answered)
{
	for (struct sb_watch_run *run = board->runs->first; run; run = run->next)
		if (run->questions.first) {
			set_focus(&board->focus, SB_ROW_QUESTION, run,
				  run->questions.first->question.id);
			return;
		}
	set_focus(&board->focus, SB_ROW_RUN, answered, 0);
}

static void answered(void *context, unsigned long id, enum sb_answer answer)
{
	struct sb_board *board = context;
	struct sb_watch_run *run = run_of(board, &board->shown);
	const struct sb_question *question =
		run && board->shown.id ? sb_queue_find(&run->questions, board->shown.id) : NULL;
	struct sb_queue words;

	/* a terminal that hung up, or that we leave, has answered nothing: others may */
	if (id != board->shown_id || board->left || sb_terminal_gone(board->here.terminal))
		return;
	if (question && answer != SB_ANSWER_NONE) {
		sb_queue_init(&words);
		sb_queue_add_answer(&words, question, answer);
		say(board, sb_queue_take_notice(&words));
		sb_queue_done(&words);
		sb_watch_answer(run, board->shown.id, answer);
		focus_after(board, run);
	}
	board->shown.id = 0;
	board->dirty = true;
}

/* --- keys ------------------------------------------------------------------------------------ */

/* To the next row that can have the focus, or the one before; at either end it stays. */
static void move(struct sb_board *board, int step, bool wraps)
{
	struct sb_rows list;
	size_t at;

	if (!sb_rows_make(board->runs, &board->focus, board->activities, &list))
		return;
	at = sb_rows_find(&list, &board->focus);
	if (at == list.count && step < 0)
		at = 0; /* nothing has it: the first */
	for (size_t tried = 0; tried < list.count; tried++) {
		if (at == list.count)
			at = 0;
		else if (step > 0)
			at = at + 1 < list.count ? at + 1 : wraps ? 0 : list.count;
		else
			at = at ? at - 1 : list.count;
		if (at == list.count)
			break;
		if (list.rows[at].kind != SB_ROW_TEXT) {
			set_focus(&board->focus, list.rows[at].kind, list.rows[at].run,
				  list.rows[at].id);
			break;
		}
	}
	sb_rows_done(&list);
	board->dirty = true;
}

static void take_key(struct sb_board *board, char key)
{
	struct sb_watch_run *run = run_of(board, &board->focus);

	switch (key) {
	case 'q':
	case '\003':
	case '\004':
		board->left = true;
		break;
	case 'j':
		move(board, 1, false);
		break;
	case 'k':
		move(board, -1, false);
		break;
	case '\t':
		move(board, 1, true);
		break;
	case '\r':
		open_question(board);
		break;
	case 't':
		if (run && board->focus.kind == SB_ROW_STANDING)
			sb_watch_take_back(run, board->focus.id);
		break;
	case 'a':
		if (run) {
			board->adding = board->focus;
			board->rule_length = 0;
		}
		break;
	default:
		break;
	}
	board->dirty = true;
}

static void add_text(struct sb_board *board, const char *bytes, size_t length)
{
	for (size_t i = 0; i < length && board->rule_length < RULE_BYTES - 1; i++)
		if ((unsigned char)bytes[i] >= ' ' && bytes[i] != 0x7f)
			board->rule[board->rule_length++] = bytes[i];
}

/* A rule is being typed: what is pasted may be a part of it, and never its end. */
static void take_rule(struct sb_board *board, const char *bytes, size_t length)
{
	struct sb_watch_run *run = run_of(board, &board->adding);

	board->dirty = true;
	if (length == 1 && (*bytes == '\033' || *bytes == '\003' || *bytes == '\004')) {
		board->adding.kind = SB_ROW_NONE;
	} else if (length == 1 && *bytes == '\r') {
		board->rule[board->rule_length] = '\0';
		if (run && board->rule_length)
			sb_watch_add(run, board->rule);
		board->adding.kind = SB_ROW_NONE;
	} else if (length == 1 && (*bytes == '\b' || *bytes == 0x7f)) {
		while (board->rule_length &&
		       ((unsigned char)board->rule[--board->rule_length] & 0xc0) == 0x80)
			;
	} else if (*bytes != '\033') {
		add_text(board, bytes, length);
	}
}

/* What the terminal marks as pasted is text for a rule, or nothing; however it is cut. */
static bool take_paste(struct sb_board *board, const char *bytes, size_t length)
{
	static const char begin[] = "\033[200~", end[] = "\033[201~";
	const size_t size = sizeof begin - 1;
	const char *first = memmem(bytes, length, begin, size), *last;

	if (!board->pasting && !first)
		return false;
	if (first) {
		length -= (size_t)(first + size - bytes);
		bytes = first + size;
	}
	last = memmem(bytes, length, end, size);
	board->pasting = !last;
	if (board->adding.kind != SB_ROW_NONE)
		add_text(board, bytes, last ? (size_t)(last - bytes) : length);
	board->dirty = true;
	return true;
}

/*
 * SECURITY: on the list, too, only a lone key counts, and no key there allows anything.
 *
 * Danger: a paste, or what somebody types who believes to be elsewhere, opens, adds and answers.
 * Price: none; arrows are sequences, and may come in a row.
 * Held by: tests/cli/watch.py
 */
static void typed(void *context, const char *bytes, size_t length)
{
	struct sb_board *board = context;

	board->touched = true;
	if (length == 1 && *bytes == '\003') /* whatever was thought to be going on */
		board->pasting = false;
	if (take_paste(board, bytes, length))
		return;
	if (board->adding.kind != SB_ROW_NONE) {
		take_rule(board, bytes, length);
		return;
	}
	if (length == 1) {
		take_key(board, *bytes);
		return;
	}
	for (; length >= 3 && bytes[0] == '\033' && (bytes[1] == '[' || bytes[1] == 'O') &&
	       (bytes[2] == 'A' || bytes[2] == 'B');
	     bytes += 3, length -= 3)
		take_key(board, bytes[2] == 'A' ? 'k' : 'j');
}

/* --- the screen ----------------------------------------------------------------------------- */

static void draw(struct sb_board *board)
{
	SB_AUTO_BUF struct sb_buf out = SB_BUF(4 * 1024 * 1024); /* many large screens */
	struct sb_scene scene = {.messages = (const char *const *)board->messages,
				 .top = &board->top};
	struct sb_rows list;
	char prompt[SB_RUNNING_ID + 64];
	bool utf8;

	if (!board->dirty || !sb_rows_make(board->runs, &board->focus, board->activities, &list))
		return;
	/* what is gone is not followed by another: the next key would be meant for the old one */
	if (sb_rows_find(&list, &board->focus) == list.count)
		board->focus.kind = SB_ROW_NONE;
	sb_terminal_window(board->here.terminal, &scene.rows, &scene.columns, &utf8);
	scene.ascii = !utf8;
	scene.list = &list;
	scene.focus = board->focus;
	if (board->adding.kind != SB_ROW_NONE) {
		snprintf(prompt, sizeof prompt,
			 "rule for %s (e.g. write DIRECTORY): ", board->adding.session);
		board->rule[board->rule_length] = '\0';
		scene.prompt = prompt;
		scene.typed = board->rule;
	}
	if (!board->entered)
		sb_buf_puts(&out, "\033[?1049h\033[?2004h");
	sb_scene_draw(&scene, &out);
	if (!sb_buf_failed(&out) && sb_terminal_show(board->here.terminal, out.data, out.length)) {
		board->entered = true;
		board->dirty = false;
	}
	sb_rows_done(&list);
}

size_t sb_board_poll(const struct sb_board *board, struct pollfd *out)
{
	out[0] = (struct pollfd){board->here.signals, POLLIN, 0};
	return 1 + sb_terminal_poll(board->here.terminal, out + 1);
}

int sb_board_timeout_ms(const struct sb_board *board)
{
	return sb_terminal_timeout_ms(board->here.terminal);
}

bool sb_board_handle(struct sb_board *board, const struct pollfd *fds, size_t count)
{
	if (fds[0].revents) {
		board->left |= sb_tty_ended(board->here.signals, board->here.terminal);
		board->dirty = true;
	}
	sb_terminal_handle(board->here.terminal, fds + 1, count - 1);
	draw(board);
	return !board->left && !sb_terminal_gone(board->here.terminal);
}

/* --- life -------------------------------------------------------------------------------------- */

int sb_board_open(const struct sb_setup *setup, struct sb_watch_runs *runs, struct sb_board **out,
		  struct sb_error *err)
{
	struct sb_board *board = calloc(1, sizeof *board);
	int status;

	if (!board)
		return sb_no_memory(err);
	*board = (struct sb_board){.runs = runs, .here = SB_OWN_TTY, .dirty = true};
	board->here.tty = sb_tty_find();
	status = sb_own_tty_open(&board->here, &setup->home,
				 (struct sb_terminal_options){
					 .answered = answered, .typed = typed, .context = board},
				 err);
	if (status == SB_OK)
		*out = board;
	else
		sb_board_close(board);
	return status;
}

void sb_board_close(struct sb_board *board)
{
	static const char as_it_was[] = "\033[0m\033[?2004l\033[?25h\033[?1049l";
	ssize_t put;

	if (!board)
		return;
	board->left = true;
	sb_own_tty_close(&board->here);
	put = board->entered ? write(board->here.tty, as_it_was, sizeof as_it_was - 1) : 0;
	(void)put; /* a terminal that is gone needs nothing */
	for (size_t i = 0; i < SB_MESSAGES; i++)
		free(board->messages[i]);
	for (size_t i = 0; i < SB_ACTIVITIES; i++)
		free(board->activities[i].text);
	free(board);
}
