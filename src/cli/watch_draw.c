#include "cli/watch_draw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/escape.h"
#include "base/list.h"
#include "terminal/cells.h"

#define ACTIVITY_ROWS 6 /* of the run in focus */
#define LEAST_ROWS 6
#define LEAST_COLUMNS 30

/* --- rows ----------------------------------------------------------------------------- */

/* Takes the text, and leaves an empty one. */
static bool add(struct sb_rows *list, struct sb_row row, struct sb_buf *text)
{
	row.text = sb_buf_take(text);
	if (!row.text || !SB_GROW(list->rows, list->count)) {
		free(row.text);
		return false;
	}
	list->rows[list->count++] = row;
	return true;
}

static bool add_text(struct sb_rows *list, bool heading, const char *text)
{
	SB_AUTO_BUF struct sb_buf line = SB_BUF(SB_RECORD_MAX);

	sb_buf_printf(&line, "%s%s", heading ? "" : "    ", text);
	return add(list, (struct sb_row){.kind = SB_ROW_TEXT, .heading = heading}, &line);
}

static bool add_question(struct sb_rows *list, struct sb_watch_run *run,
			 const struct sb_question *question)
{
	SB_AUTO_BUF struct sb_buf line = SB_BUF(8 * SB_ATTACH_TEXT);

	sb_escape_puts_name(&line, question->program);
	sb_buf_printf(&line, " (process %d)", question->process);
	sb_question_wants(question, &line);
	sb_buf_printf(&line, "  [%s]", run->running.session);
	return add(list, (struct sb_row){.kind = SB_ROW_QUESTION, .run = run, .id = question->id},
		   &line);
}

static bool add_run(struct sb_rows *list, struct sb_watch_run *run)
{
	SB_AUTO_BUF struct sb_buf line = SB_BUF(8 * SB_ATTACH_TEXT);
	const struct sb_running *running = &run->running;
	struct tm broken;
	char since[16] = "?";

	if (localtime_r(&running->started, &broken))
		strftime(since, sizeof since, "%H:%M", &broken);
	sb_buf_printf(&line, "%s  pid %d  since %s  %s  ", running->session, running->process,
		      since, running->mode);
	if (run->fd < 0)
		sb_buf_printf(&line, "(%s)  ", run->why);
	else if (!run->welcomed)
		sb_buf_puts(&line, "(does not answer yet)  ");
	else if (!run->asks)
		sb_buf_puts(&line, "(asks nobody)  ");
	if (!add(list, (struct sb_row){.kind = SB_ROW_RUN, .run = run}, &line))
		return false;
	sb_buf_printf(&line, "    %s  in %s", running->command, running->directory);
	return add(list, (struct sb_row){.kind = SB_ROW_TEXT}, &line);
}

static bool add_details(struct sb_rows *list, struct sb_watch_run *run,
			const struct sb_activity activities[SB_ACTIVITIES])
{
	size_t wanted = 0, skip;

	for (const struct sb_watch_standing *at = run->standing; at; at = at->next) {
		SB_AUTO_BUF struct sb_buf line = SB_BUF(2 * SB_ATTACH_TEXT);

		sb_buf_printf(&line, "    %lu  %s", at->number, at->text);
		if (!add(list,
			 (struct sb_row){.kind = SB_ROW_STANDING, .run = run, .id = at->number},
			 &line))
			return false;
	}
	for (size_t i = 0; i < SB_ACTIVITIES; i++)
		wanted += activities[i].text &&
			  strcmp(activities[i].session, run->running.session) == 0;
	skip = wanted > ACTIVITY_ROWS ? wanted - ACTIVITY_ROWS : 0;
	for (size_t i = 0; i < SB_ACTIVITIES; i++) {
		if (!activities[i].text ||
		    strcmp(activities[i].session, run->running.session) != 0 || (skip && skip--))
			continue;
		if (!add_text(list, false, activities[i].text))
			return false;
	}
	return true;
}

bool sb_rows_make(const struct sb_watch_runs *runs, const struct sb_focus *focus,
		  const struct sb_activity activities[SB_ACTIVITIES], struct sb_rows *out)
{
	struct sb_rows list = {0};
	bool fine = true, any = false;

	for (struct sb_watch_run *run = runs->first; run && fine; run = run->next)
		for (const struct sb_waiting *at = run->questions.first; at && fine;
		     at = at->next) {
			if (!any)
				fine = add_text(&list, true, "Questions");
			any = true;
			fine = fine && add_question(&list, run, &at->question);
		}
	fine = fine && add_text(&list, true, runs->first ? "Runs" : "No run is there");
	for (struct sb_watch_run *run = runs->first; run && fine; run = run->next) {
		fine = add_run(&list, run);
		if (fine && focus->kind != SB_ROW_NONE &&
		    strcmp(focus->session, run->running.session) == 0)
			fine = add_details(&list, run, activities);
	}
	if (fine)
		*out = list;
	else
		sb_rows_done(&list);
	return fine;
}

void sb_rows_done(struct sb_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		free(rows->rows[i].text);
	free(rows->rows);
	*rows = (struct sb_rows){0};
}

size_t sb_rows_find(const struct sb_rows *list, const struct sb_focus *focus)
{
	size_t i = 0;

	while (i < list->count &&
	       (focus->kind <= SB_ROW_TEXT || list->rows[i].kind != focus->kind ||
		list->rows[i].id != focus->id ||
		strcmp(list->rows[i].run->running.session, focus->session) != 0))
		i++;
	return i;
}

/* --- the screen ------------------------------------------------------------------------- */

static void put_line(const struct sb_scene *scene, unsigned row, const char *look, const char *mark,
		     const char *text, struct sb_buf *out)
{
	sb_buf_printf(out, "\033[%u;1H\033[0m%s\033[K%s", row, look, mark);
	sb_cells_put(out, text, scene->columns - 1 - strlen(mark), scene->ascii);
	sb_buf_puts(out, "\033[0m");
}

static void put_list(const struct sb_scene *scene, unsigned height, struct sb_buf *out)
{
	size_t focused = sb_rows_find(scene->list, &scene->focus);

	if (focused < scene->list->count && focused < *scene->top)
		*scene->top = focused;
	if (focused < scene->list->count && focused >= *scene->top + height)
		*scene->top = focused - height + 1;
	if (*scene->top >= scene->list->count)
		*scene->top = 0;
	for (unsigned i = 0; i < height; i++) {
		size_t at = *scene->top + i;

		if (at >= scene->list->count)
			sb_buf_printf(out, "\033[%u;1H\033[0m\033[K", i + 2);
		else
			put_line(scene, i + 2,
				 at == focused                   ? "\033[7m"
				 : scene->list->rows[at].heading ? "\033[1m"
								 : "",
				 at == focused ? "> " : "  ", scene->list->rows[at].text, out);
	}
}

static const char *keys_for(const struct sb_scene *scene)
{
	switch (scene->focus.kind) {
	case SB_ROW_QUESTION:
		return "Enter: read and answer   a: add a rule   j, k, Tab: move   q: leave";
	case SB_ROW_STANDING:
		return "t: take it back   a: add a rule   j, k, Tab: move   q: leave";
	case SB_ROW_RUN:
		return "a: add a rule   j, k, Tab: move   q: leave";
	default:
		return "j, k, Tab: move   q: leave";
	}
}

static void put_foot(const struct sb_scene *scene, struct sb_buf *out)
{
	for (unsigned i = 0; i < SB_MESSAGES; i++)
		put_line(scene, scene->rows - SB_MESSAGES + i, "", "",
			 scene->messages[i] ? scene->messages[i] : "", out);
	if (scene->prompt) {
		put_line(scene, scene->rows, "\033[1m", "", scene->prompt, out);
		sb_cells_put(out, scene->typed,
			     scene->columns - 1 - sb_cells(scene->prompt, strlen(scene->prompt)),
			     scene->ascii);
		sb_buf_puts(out, "\033[?25h");
	} else {
		put_line(scene, scene->rows, "", "", keys_for(scene), out);
	}
}

void sb_scene_draw(const struct sb_scene *scene, struct sb_buf *out)
{
	size_t questions = 0, runs = 0;
	char title[96];

	sb_buf_puts(out, "\033[?25l");
	if (scene->rows < LEAST_ROWS || scene->columns < LEAST_COLUMNS) {
		sb_buf_puts(out, "\033[2J\033[1;1Henlarge the window");
		return;
	}
	for (size_t i = 0; i < scene->list->count; i++) {
		questions += scene->list->rows[i].kind == SB_ROW_QUESTION;
		runs += scene->list->rows[i].kind == SB_ROW_RUN;
	}
	snprintf(title, sizeof title, "sandbash --watch: %zu run%s, %zu question%s", runs,
		 runs == 1 ? "" : "s", questions, questions == 1 ? "" : "s");
	put_line(scene, 1, "\033[1m", "", title, out);
	put_list(scene, scene->rows - 2 - SB_MESSAGES, out);
	put_foot(scene, out);
}
