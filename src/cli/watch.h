/*
 * watch.h - --watch: all runs of this user in one place (C9).
 *
 *     watch.c        the loop: which runs there are, what they say, what they record
 *     watch_runs.c   each run: its connection, its questions, its answers that hold
 *     watch_board.c  on a terminal: a list, and one question at a time as --attach shows it
 *     watch_draw.c   what that list looks like
 *     watch_lines.c  elsewhere: a line for each thing that happens
 *
 * Runs are found where --attach finds them (consent/running.h), reached as it reaches them
 * (reach.h), and what they do is read from their record (audit/trail.h).  So nothing that a run
 * tells is believed that --attach would not believe, and everything that came from inside one is
 * escaped when it is shown.
 *
 * A question shows in full, and can be answered, only after a person has opened it from the list:
 * whatever happens elsewhere changes neither what shows nor what is in focus.
 */
#ifndef SB_CLI_WATCH_H
#define SB_CLI_WATCH_H

#include <poll.h>

#include "audit/record.h"
#include "consent/attach_wire.h"
#include "consent/queue.h"
#include "consent/running.h"

struct sb_watch_standing { /* an answer that holds */
	struct sb_watch_standing *next;
	unsigned long number;
	enum sb_answer answer;
	char text[];
};

struct sb_watch_run {
	struct sb_watch_run *next; /* in the order in which they came */
	struct sb_running running;
	int fd;        /* -1: it cannot be reached, */
	char why[160]; /* because of this */
	bool welcomed, asks;
	bool closed; /* it was reached, and hung up: gone, or to be reached anew */
	bool listed; /* it was, when the directory was looked at last */
	struct sb_queue questions;
	struct sb_watch_standing *standing;
};

enum sb_watch_kind {
	SB_WATCH_RUN,       /* there is one more; id 1: it can be reached, else text says why not */
	SB_WATCH_ENDED,     /* it is gone */
	SB_WATCH_QUESTION,  /* id, question */
	SB_WATCH_WITHDRAWN, /* id, text: why */
	SB_WATCH_STANDS,    /* id, answer, text */
	SB_WATCH_FALLS,     /* id */
	SB_WATCH_NOTICE,    /* text */
	SB_WATCH_RECORD,    /* record; run is NULL */
};

/* Something has happened; everything in it is only lent, and to be escaped when it is shown. */
struct sb_watch_event {
	enum sb_watch_kind kind;
	const struct sb_watch_run *run;
	unsigned long id;
	enum sb_answer answer;
	const char *text;
	const struct sb_question *question;
	const struct sb_record *record;
};

typedef void (*sb_watch_tell)(void *context, const struct sb_watch_event *event);

struct sb_watch_runs {
	const char *state_dir;
	enum sb_attach_role role;
	struct sb_watch_run *first;
	sb_watch_tell tell;
	void *context;
};

/* --- watch_runs.c ------------------------------------------------------------------- */

/* Look which runs there are: connect to new ones, forget those that are gone. */
int sb_watch_look(struct sb_watch_runs *runs, struct sb_error *err);
size_t sb_watch_count(const struct sb_watch_runs *runs);
/* One for each run, in order. */
void sb_watch_poll(const struct sb_watch_runs *runs, struct pollfd *out);
void sb_watch_handle(struct sb_watch_runs *runs, const struct pollfd *fds, size_t count);
/* Is one of them closed, so that it has to be looked again soon? */
bool sb_watch_unsettled(const struct sb_watch_runs *runs);
void sb_watch_done(struct sb_watch_runs *runs);

/* A person has answered; the question is not open any more. */
void sb_watch_answer(struct sb_watch_run *run, unsigned long id, enum sb_answer answer);
void sb_watch_take_back(struct sb_watch_run *run, unsigned long number);
void sb_watch_add(struct sb_watch_run *run, const char *rule);

/* --- watch_board.c -------------------------------------------------------------------- */

struct sb_board;
struct sb_setup;

int sb_board_open(const struct sb_setup *setup, struct sb_watch_runs *runs, struct sb_board **out,
		  struct sb_error *err);
void sb_board_close(struct sb_board *board); /* the terminal is as it was; NULL is fine */

#define SB_BOARD_FDS 3
size_t sb_board_poll(const struct sb_board *board, struct pollfd *out);
int sb_board_timeout_ms(const struct sb_board *board);
/* False: the person, or a signal, wants to go. */
bool sb_board_handle(struct sb_board *board, const struct pollfd *fds, size_t count);
void sb_board_tell(void *board, const struct sb_watch_event *event);

/* --- watch_lines.c -------------------------------------------------------------------- */

struct sb_lines_out {
	bool json;
	int status; /* 0, or the exit status of a failure to print */
};
void sb_lines_tell(void *lines, const struct sb_watch_event *event);

#endif
