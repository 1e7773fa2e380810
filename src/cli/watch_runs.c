#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/list.h"
#include "cli/reach.h"
#include "cli/watch.h"

static void tell(const struct sb_watch_runs *runs, struct sb_watch_event event)
{
	runs->tell(runs->context, &event);
}

/* --- one run ------------------------------------------------------------------------ */

static void drop_standing(struct sb_watch_run *run)
{
	for (struct sb_watch_standing *next; run->standing; run->standing = next) {
		next = run->standing->next;
		free(run->standing);
	}
}

static void free_run(struct sb_watch_run *run)
{
	sb_auto_close(&run->fd);
	sb_queue_done(&run->questions);
	drop_standing(run);
	free(run);
}

/* The connection has ended, or is not ours to trust any more.  What was asked is gone with it. */
static void hang_up(struct sb_watch_runs *runs, struct sb_watch_run *run, const char *why)
{
	sb_auto_close(&run->fd);
	run->fd = -1;
	run->closed = false;
	snprintf(run->why, sizeof run->why, "%s", why);
	while (run->questions.first) {
		unsigned long id = run->questions.first->question.id;

		sb_queue_remove(&run->questions, id);
		tell(runs, (struct sb_watch_event){
				   .kind = SB_WATCH_WITHDRAWN, .run = run, .id = id, .text = why});
	}
	drop_standing(run);
}

static void add_standing(struct sb_watch_run *run, const struct sb_attach_message *message)
{
	size_t size = strlen(message->text) + 1;
	struct sb_watch_standing **at = &run->standing, *added = malloc(sizeof *added + size);

	if (!added)
		return;
	while (*at)
		at = &(*at)->next;
	*added = (struct sb_watch_standing){.number = message->id,
					    .answer = (enum sb_answer)message->number};
	memcpy(added->text, message->text, size);
	*at = added;
}

static void remove_standing(struct sb_watch_run *run, unsigned long number)
{
	struct sb_watch_standing *gone = run->standing;

	while (gone && gone->number != number)
		gone = gone->next;
	SB_UNLINK(run->standing, gone);
	free(gone);
}

/* False: it is no message of a run. */
static bool take_message(struct sb_watch_runs *runs, struct sb_watch_run *run,
			 const struct sb_attach_message *message)
{
	struct sb_watch_event event = {.run = run, .id = message->id, .text = message->text};

	if (!run->welcomed && message->kind == SB_ATTACH_REFUSED) {
		snprintf(run->why, sizeof run->why, "it refused: %s",
			 message->text ? message->text : "no");
		return false;
	}
	if (run->welcomed == (message->kind == SB_ATTACH_WELCOME))
		return false;
	switch (message->kind) {
	case SB_ATTACH_WELCOME:
		run->welcomed = true;
		run->asks = message->number;
		event.kind = SB_WATCH_RUN;
		event.id = 1;
		break;
	case SB_ATTACH_QUESTION:
		if (sb_queue_add(&run->questions, &message->question, NULL) != SB_OK)
			return false;
		event.kind = SB_WATCH_QUESTION;
		event.question = &message->question;
		break;
	case SB_ATTACH_WITHDRAWN:
		sb_queue_remove(&run->questions, message->id);
		event.kind = SB_WATCH_WITHDRAWN;
		break;
	case SB_ATTACH_STANDS:
		if (!message->text)
			return false;
		add_standing(run, message);
		event.kind = SB_WATCH_STANDS;
		event.answer = (enum sb_answer)message->number;
		break;
	case SB_ATTACH_FALLS:
		remove_standing(run, message->id);
		event.kind = SB_WATCH_FALLS;
		break;
	case SB_ATTACH_NOTICE:
		event.kind = SB_WATCH_NOTICE;
		break;
	default:
		return false;
	}
	tell(runs, event);
	return true;
}

static void hear(struct sb_watch_runs *runs, struct sb_watch_run *run)
{
	struct sb_attach_message message;
	int status = 1;

	while (run->fd >= 0 && (status = sb_reach_hear(run->fd, &message)) > 0)
		if (!take_message(runs, run, &message))
			hang_up(runs, run, run->why[0] ? run->why : "it speaks another language");
	if (status < 0 && run->fd >= 0) {
		hang_up(runs, run,
			run->welcomed ? "the run has ended" : "it ends, or is another version's");
		run->closed = run->welcomed;
	}
}

/*
 * SECURITY: only runs of this very user are asked about here.
 *
 * Danger: the directory is ours, but root may watch where another user can put files, and a
 * question of that user's process would be answered with root's eyes.
 * Price: none.
 */
static void reach(struct sb_watch_run *run, enum sb_attach_role role)
{
	struct sb_error err;

	run->welcomed = false;
	if (run->running.owner != geteuid())
		snprintf(run->why, sizeof run->why, "its file is another user's");
	else if (sb_reach(&run->running, &run->fd, &err) != SB_OK)
		snprintf(run->why, sizeof run->why, "%.120s", err.message);
	else if (sb_reach_tell(run->fd, &(struct sb_attach_message){.kind = SB_ATTACH_HELLO,
								    .number = (int)role}) < 0)
		snprintf(run->why, sizeof run->why, "it does not listen");
}

/* --- all of them ---------------------------------------------------------------------- */

static struct sb_watch_run *find(const struct sb_watch_runs *runs, const struct sb_running *running)
{
	struct sb_watch_run *run = runs->first;

	while (run &&
	       (strcmp(run->running.session, running->session) != 0 ||
		run->running.process != running->process || run->running.born != running->born))
		run = run->next;
	return run;
}

static int add(struct sb_watch_runs *runs, const struct sb_running *running, struct sb_error *err)
{
	struct sb_watch_run *run = calloc(1, sizeof *run), **end = &runs->first;

	if (!run)
		return sb_no_memory(err);
	run->running = *running;
	run->fd = -1;
	run->listed = true;
	sb_queue_init(&run->questions);
	while (*end)
		end = &(*end)->next;
	*end = run;
	reach(run, runs->role);
	if (run->fd < 0)
		tell(runs,
		     (struct sb_watch_event){.kind = SB_WATCH_RUN, .run = run, .text = run->why});
	return SB_OK;
}

/* Those that are neither listed nor reached. */
static void forget_gone(struct sb_watch_runs *runs)
{
	struct sb_watch_run **at = &runs->first;

	while (*at) {
		struct sb_watch_run *run = *at;

		if (run->listed || run->fd >= 0) {
			at = &run->next;
			continue;
		}
		*at = run->next;
		tell(runs, (struct sb_watch_event){.kind = SB_WATCH_ENDED, .run = run});
		free_run(run);
	}
}

int sb_watch_look(struct sb_watch_runs *runs, struct sb_error *err)
{
	SB_AUTO_FREE struct sb_running *list = NULL;
	size_t count = 0;
	/* a file that nobody holds is of a run that was killed: this removes it */
	int status = sb_running_list(runs->state_dir, &list, &count, err);

	if (status != SB_OK)
		return status;
	for (struct sb_watch_run *run = runs->first; run; run = run->next)
		run->listed = false;
	for (size_t i = 0; i < count && status == SB_OK; i++) {
		struct sb_watch_run *known = find(runs, &list[i]);

		if (known)
			known->listed = true;
		else
			status = add(runs, &list[i], err);
		if (known && known->closed && known->fd < 0) /* it dropped us, or is about to end */
			reach(known, runs->role);
	}
	forget_gone(runs);
	return status;
}

size_t sb_watch_count(const struct sb_watch_runs *runs)
{
	size_t count = 0;

	for (const struct sb_watch_run *run = runs->first; run; run = run->next)
		count++;
	return count;
}

void sb_watch_poll(const struct sb_watch_runs *runs, struct pollfd *out)
{
	for (const struct sb_watch_run *run = runs->first; run; run = run->next)
		*out++ = (struct pollfd){.fd = run->fd, .events = POLLIN};
}

void sb_watch_handle(struct sb_watch_runs *runs, const struct pollfd *fds, size_t count)
{
	struct sb_watch_run *run = runs->first;
	struct sb_error err;
	bool ended = false;

	for (size_t i = 0; i < count && run; i++, run = run->next)
		if (run->fd >= 0 && fds[i].revents) {
			hear(runs, run);
			ended |= run->fd < 0;
		}
	if (ended)
		sb_watch_look(runs, &err);
}

bool sb_watch_unsettled(const struct sb_watch_runs *runs)
{
	for (const struct sb_watch_run *run = runs->first; run; run = run->next)
		if (run->closed && run->fd < 0)
			return true;
	return false;
}

void sb_watch_done(struct sb_watch_runs *runs)
{
	for (struct sb_watch_run *next; runs->first; runs->first = next) {
		next = runs->first->next;
		free_run(runs->first);
	}
}

/* What cannot be said is not lost silently: the end of the connection is what comes next. */
static void say(const struct sb_watch_run *run, const struct sb_attach_message *message)
{
	if (run->fd >= 0)
		sb_reach_tell(run->fd, message);
}

void sb_watch_answer(struct sb_watch_run *run, unsigned long id, enum sb_answer answer)
{
	sb_queue_remove(&run->questions, id);
	say(run,
	    &(struct sb_attach_message){.kind = SB_ATTACH_ANSWER, .id = id, .number = (int)answer});
}

void sb_watch_take_back(struct sb_watch_run *run, unsigned long number)
{
	say(run, &(struct sb_attach_message){.kind = SB_ATTACH_TAKE_BACK, .id = number});
}

void sb_watch_add(struct sb_watch_run *run, const char *rule)
{
	say(run, &(struct sb_attach_message){.kind = SB_ATTACH_ADD, .text = rule});
}
