/*
 * watch_draw.h - the list that --watch shows, as rows and as a screen.
 *
 * Every text is escaped as in a question (terminal/draw.h), and fits its line.
 */
#ifndef SB_CLI_WATCH_DRAW_H
#define SB_CLI_WATCH_DRAW_H

#include "base/buf.h"
#include "cli/watch.h"

enum sb_row_kind {
	SB_ROW_NONE,     /* of a focus: nothing has it */
	SB_ROW_TEXT,     /* cannot have the focus */
	SB_ROW_QUESTION, /* run, id */
	SB_ROW_RUN,      /* run */
	SB_ROW_STANDING, /* run, id */
};

/* What has the focus, by what it is and not by where it stands. */
struct sb_focus {
	enum sb_row_kind kind;
	char session[SB_RUNNING_ID];
	unsigned long id;
};

struct sb_row {
	enum sb_row_kind kind;
	struct sb_watch_run *run;
	unsigned long id;
	bool heading;
	char *text;
};

struct sb_rows {
	struct sb_row *rows;
	size_t count;
};

struct sb_activity { /* the newest records of all runs */
	char session[SB_SESSION_SIZE];
	char *text;
};

#define SB_ACTIVITIES 64
#define SB_MESSAGES 3

struct sb_scene {
	unsigned rows, columns;
	bool ascii; /* draw.h */
	const struct sb_rows *list;
	struct sb_focus focus;
	const char *const *messages; /* SB_MESSAGES, oldest first; NULL: none */
	const char *prompt, *typed;  /* a rule is being typed; or NULL */
	size_t *top;                 /* first row that shows; changed to show the focus */
};

/* The rows as things are now; the run with the focus is shown in full.  False: no memory. */
bool sb_rows_make(const struct sb_watch_runs *runs, const struct sb_focus *focus,
		  const struct sb_activity activities[SB_ACTIVITIES], struct sb_rows *out);
void sb_rows_done(struct sb_rows *rows);

/* Which row has the focus; list->count: none. */
size_t sb_rows_find(const struct sb_rows *list, const struct sb_focus *focus);

/* Append the whole screen.  A window that is too small says so. */
void sb_scene_draw(const struct sb_scene *scene, struct sb_buf *out);

#endif
