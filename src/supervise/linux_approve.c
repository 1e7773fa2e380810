#include "supervise/approve.h"

#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "consent/always.h"
#include "supervise/acts.h"
#include "supervise/owed.h"
#include "supervise/pending.h"
#include "supervise/perform.h"
#include "supervise/thread.h"
#include "supervise/trace.h"
#include "sys/notify.h"

#define LOOK_MS 500 /* how often we look whether those who wait still live, */
#define FIFO_MS 10  /* and whether a FIFO has got a reader */
/* The kernel walks a list for each that it is asked about: of many who wait, one look costs their square. */
#define MANY 64
#define LOST_MS 3000 /* how long a caller whose wait was ended by a signal may take to come again */

int sb_approver_init(struct sb_approver *approver, struct sb_error *err)
{
	approver->grants = sb_grants_new(approver->home->home);
	approver->flood = sb_flood_new();
	return approver->grants && approver->flood ? SB_OK : sb_no_memory(err);
}

/* --- answers ---------------------------------------------------------------------------------- */

bool sb_approver_tell_always(const struct sb_approver *approver, int status, const char *rule,
			     const char *file, const struct sb_error *err)
{
	char line[2 * PATH_MAX];

	if (status == SB_OK)
		snprintf(line, sizeof line, "added '%s' to %s", rule, file);
	else
		snprintf(line, sizeof line, "%s; allowed for this session only", err->message);
	if (approver->asking.notice)
		approver->asking.notice(approver->asking.context, line);
	return status == SB_OK;
}

/* "Always": into the configuration, and said so.  False: it holds for the session only. */
static bool write_always(struct sb_approver *approver, const struct sb_wish *wish)
{
	SB_AUTO_FREE char *file = NULL, *rule = NULL;
	struct sb_error err;
	const struct sb_always always = {approver->home, approver->policy, approver->grounds->guard,
					 approver->grants};
	int status = sb_always_write(&always, wish, &file, &rule, &err);

	return sb_approver_tell_always(approver, status, rule, file, &err);
}

static void remember(struct sb_approver *approver, const struct sb_pending *pending,
		     enum sb_answer answer)
{
	struct sb_event event = sb_pending_event(pending, SB_EVENT_GRANT);

	for (size_t i = 0; i < pending->judgement.count; i++) {
		struct sb_wish wish = sb_pending_wish(pending, &pending->judgement.all[i]);

		enum sb_answer kept = answer;

		if (wish.decision.verdict == SB_ALLOW)
			continue;
		if (answer == SB_ANSWER_ALWAYS && !write_always(approver, &wish))
			kept = SB_ANSWER_DIRECTORY;
		if (sb_grants_remember(approver->grants, &wish, kept, NULL) == SB_OK &&
		    approver->session)
			sb_session_keep(approver->session, &wish, kept, NULL);
	}
	if (answer == SB_ANSWER_DENY)
		return;
	event.answer = sb_answer_name(answer);
	sb_approver_record(approver, &event);
}

static bool waits_for(const struct sb_approver *approver, unsigned long question)
{
	for (const struct sb_pending *one = approver->pending; one; one = one->next)
		if (one->question == question)
			return true;
	return false;
}

/* The call that a question shows; NULL: who made it is gone. */
static struct sb_pending **find_shown(struct sb_approver *approver, unsigned long question)
{
	struct sb_pending **link = &approver->pending;

	while (*link && ((*link)->question != question || !(*link)->shown))
		link = &(*link)->next;
	return link;
}

static struct sb_pending *take(struct sb_approver *approver, struct sb_pending **link)
{
	struct sb_pending *pending = *link;

	if (pending) {
		*link = pending->next;
		approver->pending_count--;
	}
	return pending;
}

static void record_answer(struct sb_approver *approver, const struct sb_pending *pending,
			  enum sb_answer answer, const char *by)
{
	struct sb_event event = sb_pending_event(pending, SB_EVENT_ANSWER);

	event.answer = sb_answer_name(answer);
	event.by = by;
	sb_approver_record(approver, &event);
}

/* Did a signal end its wait, so that it may come again?  owed.h */
static bool is_lost(const struct sb_approver *approver, const struct sb_pending *pending)
{
	return sb_owed_interrupts() && !sb_call_is_orphan(&pending->request->call) &&
	       !sb_sys_notify_alive(approver->listener, pending->request->call.id);
}

/* Until it does: no question is about it any more. */
static void keep_allowed(struct sb_approver *approver, struct sb_pending *pending, const char *by)
{
	pending->by = by;
	pending->question = 0;
	pending->next = approver->pending;
	approver->pending = pending;
	approver->pending_count++;
}

/*
 * SECURITY: an answer is for the process that was shown, and only what was offered is one.
 *
 * Danger: whoever asks the same while a question is open waits for its answer.  The person reads
 * "cp (process 12)" and says yes to that one; the other is a program that nobody has seen.
 * Price: each further process is a question of its own, unless the answer that is kept covers it.
 * Held by: tests/cli/once.py
 */
void sb_approver_answer(struct sb_approver *approver, unsigned long question, enum sb_answer answer,
			const char *by)
{
	struct sb_pending *shown = take(approver, find_shown(approver, question));

	if (shown) {
		if ((answer == SB_ANSWER_DIRECTORY || answer == SB_ANSWER_ALWAYS) &&
		    (!shown->offers_directory || (answer == SB_ANSWER_ALWAYS && shown->of_worker)))
			answer = SB_ANSWER_DENY;
		record_answer(approver, shown, answer, by);
		remember(approver, shown, answer);
		if (answer == SB_ANSWER_DENY)
			sb_pending_deny(approver, shown, by);
		else if (is_lost(approver, shown))
			keep_allowed(approver, shown, by);
		else
			sb_pending_carry_out(approver, shown, by);
	}
	sb_flood_answered(approver->flood, question, answer);
	sb_approver_reconsider(approver);
}

void sb_approver_abandon(struct sb_approver *approver, unsigned long question)
{
	struct sb_pending **link = &approver->pending;

	while (*link)
		if ((*link)->question == question)
			sb_pending_deny(approver, take(approver, link), "nobody");
		else
			link = &(*link)->next;
	sb_flood_answered(approver->flood, question, SB_ANSWER_NONE);
}

/* --- a forwarded call ------------------------------------------------------------------------- */

static bool is_same_call(const struct sb_pending *one, const struct sb_pending *other)
{
	const struct sb_call *a = &one->request->call, *b = &other->request->call;

	return a->thread == b->thread && a->act == b->act && a->flags == b->flags &&
	       a->mode == b->mode && strcmp(a->text, b->text) == 0 &&
	       strcmp(one->file.path, other->file.path) == 0 &&
	       strcmp(one->target.path, other->target.path) == 0;
}

/*
 * A signal has ended the wait of this call before (owed.h).  It gets the answer of what was done
 * then, or its place at the question that is open, or the yes to it.  True: answered, or waits there.
 */
static bool came_again(struct sb_approver *approver, const struct sb_pending *pending)
{
	const struct sb_call *call = &pending->request->call;
	struct sb_pending **link = &approver->pending;

	if (!sb_owed_interrupts())
		return false;
	if (call->act == SB_ACT_CONNECT || call->act == SB_ACT_BIND
		    ? sb_owed_pays_socket(approver->listener, call)
		    : sb_owed_pays(approver->listener, call, &pending->file,
				   sb_call_is_two(call) ? &pending->target : NULL))
		return true;
	while (*link && (!is_same_call(*link, pending) ||
			 sb_sys_notify_alive(approver->listener, (*link)->request->call.id)))
		link = &(*link)->next;
	if (!*link)
		return false;
	(*link)->request->call.id = call->id;
	(*link)->lost_ms = 0;
	if ((*link)->by) {
		struct sb_pending *allowed = take(approver, link);

		sb_pending_carry_out(approver, allowed, allowed->by);
	}
	return true;
}

void sb_approve(struct sb_approver *approver, struct sb_wire_request *request)
{
	const struct sb_call *call = &request->call;
	struct sb_pending *pending = sb_pending_new();

	sb_trace_taken_on(request);
	if (!pending) {
		sb_pending_fail(approver, call, sb_call_refusal(call));
		sb_wire_request_done(request);
		sb_wire_request_free(request);
		return;
	}
	pending->request = request;
	pending->file = pending->target = SB_SPOT_EMPTY;
	pending->of_worker = approver->worker;
	if (request->inner.workers[0] &&
	    asprintf(&pending->worker, "%s%s%s", approver->worker ? approver->worker : "",
		     approver->worker ? " > " : "", request->inner.workers) < 0)
		pending->worker = NULL;
	if (!sb_pending_find_spots(approver, pending) || came_again(approver, pending))
		sb_pending_free(pending);
	else
		sb_pending_decide(approver, pending);
}

/* --- whose question was another's ---------------------------------------------------------------- */

static void withdraw(const struct sb_approver *approver, unsigned long question)
{
	approver->asking.withdraw(approver->asking.context, question);
	sb_flood_answered(approver->flood, question, SB_ANSWER_NONE);
}

/* What an answer has settled need not be asked any more: ten files of one directory, say. */
static void answer_others(struct sb_approver *approver)
{
	struct sb_pending **link = &approver->pending;

	while (*link) {
		struct sb_pending *pending = *link;
		unsigned long question = pending->question;

		if (sb_pending_find_answer(approver, pending) == SB_ANSWER_NONE) {
			link = &pending->next;
			continue;
		}
		sb_pending_reconsider(approver, take(approver, link));
		if (!waits_for(approver, question))
			withdraw(approver, question);
		link = &approver->pending; /* it may have been asked about once more */
	}
}

/* Who has waited longest for a question that is answered or gone. */
static struct sb_pending **find_left(struct sb_approver *approver)
{
	struct sb_pending **oldest = NULL; /* the list begins with the newest */
	unsigned long question = 0;        /* none; hundreds in a row may wait for one */
	bool is_shown = true;

	for (struct sb_pending **link = &approver->pending; *link; link = &(*link)->next) {
		if (!(*link)->question)
			continue;
		if ((*link)->question != question) {
			question = (*link)->question;
			is_shown = *find_shown(approver, question);
		}
		if (!is_shown)
			oldest = link;
	}
	return oldest;
}

/* The others' questions are put next, one each; or the answer covers them, too. */
static void ask_for_others(struct sb_approver *approver)
{
	struct sb_pending **link;

	while ((link = find_left(approver))) {
		struct sb_pending *pending = take(approver, link);

		withdraw(approver, pending->question);
		sb_pending_reconsider(approver, pending);
	}
}

void sb_approver_reconsider(struct sb_approver *approver)
{
	answer_others(approver);
	ask_for_others(approver);
}

/* --- time --------------------------------------------------------------------------------------- */

int sb_approver_timeout_ms(const struct sb_approver *approver)
{
	if (approver->waiting)
		return FIFO_MS;
	return approver->pending ? LOOK_MS : -1;
}

/*
 * A signal that ends the program ends a held call at once (WAIT_KILLABLE_RECV), but not when one
 * that the program handles waits already: the kernel then leaves both for the return from the call
 * (wants_signal() in kernel/signal.c).  At a question that may be never, and Ctrl-C would do
 * nothing.  So the call returns.
 */
static bool is_waiting(const struct sb_approver *approver, const struct sb_pending *pending)
{
	const struct sb_call *call = &pending->request->call;

	if (!sb_sys_notify_alive(approver->listener, call->id))
		return false;
	if (!sb_thread_is_ending(approver->proc, call->thread))
		return true;
	sb_pending_fail(approver, call, SB_RESTART);
	return false;
}

void sb_approver_tick(struct sb_approver *approver)
{
	struct sb_pending **link = &approver->pending;
	uint64_t now = sb_now_ms();
	unsigned long late = 0;

	sb_pending_try_waiting(approver);
	if (approver->pending_count > MANY && now - approver->looked_ms < LOOK_MS)
		return;
	approver->looked_ms = now;
	while (*link) {
		struct sb_pending *pending = *link;
		unsigned long question = pending->question;

		if (is_waiting(approver, pending)) {
			if (pending->deadline_ms && pending->deadline_ms <= now)
				late = question;
			link = &pending->next;
			continue;
		}
		if (sb_owed_interrupts() && !pending->lost_ms)
			pending->lost_ms = now;
		if (sb_owed_interrupts() && now - pending->lost_ms < LOST_MS) {
			link = &pending->next;
			continue;
		}
		sb_grants_exited(approver->grants, pending->request->process);
		sb_pending_free(take(approver, link));
		if (!waits_for(approver, question))
			withdraw(approver, question);
	}
	ask_for_others(approver);
	if (late) {
		approver->asking.withdraw(approver->asking.context, late);
		sb_approver_answer(approver, late, SB_ANSWER_DENY, "timeout");
	}
}

static void refuse_all(const struct sb_approver *approver, struct sb_pending *pending)
{
	while (pending) {
		struct sb_pending *next = pending->next;

		sb_pending_fail(approver, &pending->request->call,
				sb_call_refusal(&pending->request->call));
		sb_pending_free(pending);
		pending = next;
	}
}

void sb_approver_done(struct sb_approver *approver)
{
	refuse_all(approver, approver->pending);
	refuse_all(approver, approver->waiting);
	approver->pending = approver->waiting = NULL;
	sb_permits_done(&approver->permits);
	sb_grants_free(approver->grants);
	sb_flood_free(approver->flood);
}
