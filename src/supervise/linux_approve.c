#include "supervise/approve.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "consent/always.h"
#include "policy/remembered.h"
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
	return approver->grants && approver->flood ? SB_OK
						   : sb_fail(err, SB_E_NOMEM, 0, "out of memory");
}

static void answer_others(struct sb_approver *approver);
static void decide(struct sb_approver *approver, struct sb_pending *pending);
static void ask_for_others(struct sb_approver *approver);

/* --- answers ---------------------------------------------------------------------------------- */

/* A file that runs as its owner for everybody is more than any earlier yes was about. */
static bool sets_id(const struct sb_call *call)
{
	bool has_mode = call->act == SB_ACT_CHMOD || call->act == SB_ACT_MKNOD ||
			(call->act == SB_ACT_OPEN &&
			 (call->flags & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))));

	return has_mode && (call->mode & (S_ISUID | S_ISGID));
}

/* What earlier answers say about all that the call needs. */
static enum sb_answer find_answer(const struct sb_approver *approver,
				  const struct sb_pending *pending)
{
	enum sb_answer answer = SB_ANSWER_ONCE;

	for (size_t i = 0; i < pending->judgement.count; i++) {
		struct sb_wish wish = sb_pending_wish(pending, &pending->judgement.all[i]);
		enum sb_answer one;

		if (wish.decision.verdict == SB_ALLOW)
			continue;
		one = sb_grants_find(approver->grants, &wish);
		if (one == SB_ANSWER_DENY)
			return one;
		if (one == SB_ANSWER_NONE)
			answer = SB_ANSWER_NONE;
	}
	return sets_id(&pending->request->call) ? SB_ANSWER_NONE : answer;
}

/* "Always": into the configuration, and said so.  False: it holds for the session only. */
static bool write_always(struct sb_approver *approver, const struct sb_wish *wish)
{
	SB_AUTO_FREE char *file = NULL;
	SB_AUTO_FREE char *rule = NULL;
	char line[2 * PATH_MAX];
	struct sb_error err;
	bool written = sb_always_write(approver->home, approver->policy, approver->grounds->guard,
				       approver->grants, wish, &file, &rule, &err) == SB_OK;

	if (written)
		snprintf(line, sizeof line, "added '%s' to %s", rule, file);
	else
		snprintf(line, sizeof line, "%s; allowed for this session only", err.message);
	if (approver->asking.notice)
		approver->asking.notice(approver->asking.context, line);
	return written;
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
		    !shown->offers_directory)
			answer = SB_ANSWER_DENY;
		record_answer(approver, shown, answer, by);
		remember(approver, shown, answer);
		if (answer == SB_ANSWER_DENY) {
			sb_pending_deny(approver, shown, by);
			sb_pending_free(shown);
		} else if (is_lost(approver, shown)) {
			keep_allowed(approver, shown, by);
		} else {
			sb_pending_carry_out(approver, shown, by);
		}
	}
	sb_flood_answered(approver->flood, question, answer);
	sb_approver_reconsider(approver);
}

void sb_approver_abandon(struct sb_approver *approver, unsigned long question)
{
	struct sb_pending **link = &approver->pending;

	while (*link) {
		struct sb_pending *pending = *link;

		if (pending->question != question) {
			link = &pending->next;
			continue;
		}
		*link = pending->next;
		approver->pending_count--;
		sb_pending_deny(approver, pending, "nobody");
		sb_pending_free(pending);
	}
	sb_flood_answered(approver->flood, question, SB_ANSWER_NONE);
}

/* --- a forwarded call ------------------------------------------------------------------------- */

/* A socket that the command cannot see, but we may. */
static bool is_hidden(const struct sb_pending *pending)
{
	return pending->request->call.act == SB_ACT_CONNECT && pending->request->file.object < 0;
}

/* Where it leads, in our view.  False: answered already. */
static bool find_spots(struct sb_approver *approver, struct sb_pending *pending)
{
	const struct sb_call *call = &pending->request->call;
	bool hidden = is_hidden(pending);
	int status = hidden ? sb_reopen_hidden_socket(pending->request->file.path, &pending->file)
			    : sb_reopen(&pending->request->file, &pending->file);

	if (status == 0 && sb_call_is_two(call))
		status = sb_reopen(&pending->request->target, &pending->target);
	/* theirs have served: many may wait at a time, and descriptors are few */
	sb_spot_done(&pending->request->file);
	sb_spot_done(&pending->request->target);
	if (status == 0)
		return true;
	sb_pending_fail(approver, call, hidden ? call->target_error : sb_call_refusal(call));
	return false;
}

/* access() tells what the write will get: yes, also if that means a question. */
static void answer_access(struct sb_approver *approver, struct sb_pending *pending)
{
	bool asked = find_answer(approver, pending) == SB_ANSWER_NONE &&
		     !approver->asking.can_ask(approver->asking.context);
	bool denied = pending->judgement.strictest->decision.verdict == SB_DENY ||
		      find_answer(approver, pending) == SB_ANSWER_DENY;

	bool again;

	if (denied || asked)
		sb_pending_fail(approver, &pending->request->call, EACCES);
	else
		sb_pending_perform(approver, pending, &again);
}

/* Does the judgement, with denied services to be asked about, end in a plain no? */
static bool is_denied(const struct sb_pending *pending)
{
	for (size_t i = 0; i < pending->judgement.count; i++)
		if (sb_pending_wish(pending, &pending->judgement.all[i]).decision.verdict ==
		    SB_DENY)
			return true;
	return false;
}

/*
 * SECURITY: what a rule allows is the file that the command sees.
 *
 * Danger: "write /tmp" means a temp directory of the run's own.  Read as being about the one
 * outside, which only we see, it would lead to the sockets of X11, tmux and ssh-agent there.
 * Price: a question.
 * Held by: tests/enforce/sockets.py
 */
static void doubt_hidden(struct sb_judgement *judgement)
{
	for (size_t i = 0; i < judgement->count; i++)
		if (judgement->all[i].decision.verdict == SB_ALLOW)
			judgement->all[i].decision = (struct sb_decision){SB_ASK, NULL};
}

/* In the places that rules name; 0 or an errno. */
static int refuse_placed(const struct sb_approver *approver, const struct sb_pending *pending)
{
	const struct sb_call *call = &pending->request->call;
	const struct sb_case what =
		sb_call_case(call, &pending->file, sb_call_is_two(call) ? &pending->target : NULL);

	return sb_judge_placed(approver->policy, &what, approver->home->cwd);
}

/*
 * The bytes that would land on a guarded name, read here and looked at here.  False: answered
 * already.
 */
static bool look_at_bytes(struct sb_approver *approver, struct sb_pending *pending)
{
	const struct sb_call *call = &pending->request->call;
	struct sb_source *source = &pending->source;
	enum sb_guard_kind kind = sb_judged_kind(&pending->judgement);
	int status;

	if (call->act == SB_ACT_CLOSE) {
		size_t limit = sb_land_limit(kind);

		status = sb_bytes_read(pending->request->socket, limit, &source->bytes);
		if (status == 0)
			status = sb_bytes_read_named(pending->file.directory, pending->file.name,
						     limit, &source->old, NULL);
	} else {
		status = sb_source_read(call, &pending->file, &pending->target, kind, source);
	}
	if (status == -EALREADY)
		sb_sys_notify_return(approver->listener, call->id, 0);
	else if (status < 0)
		sb_pending_fail(approver, call, -status);
	else if (pending->judgement.lands)
		sb_judge_bytes(approver->grounds, &pending->judgement, sb_bytes_seen(&source->old),
			       sb_bytes_seen(&source->bytes));
	return status == 0;
}

/* Does a guarded file have to be seen by a person, and there is none?  Then not even opened. */
static bool is_for_nobody(const struct sb_approver *approver, const struct sb_pending *pending)
{
	const struct sb_call *call = &pending->request->call;

	return sb_call_is_orphan(call) ||
	       (call->act == SB_ACT_OPEN && !approver->asking.can_ask(approver->asking.context));
}

/* Was the open asked about, because no content is harmless? */
static bool is_permitted(struct sb_approver *approver, const struct sb_pending *pending)
{
	return pending->judgement.lands && pending->request->call.act == SB_ACT_CLOSE &&
	       sb_permits_take(&approver->permits, pending->request->call.permit,
			       pending->judgement.lands);
}

/*
 * SECURITY: where no content is harmless the open asks, so that whoever is refused notices.
 *
 * Danger: a refused close is what most programs never see.  They go on as if the file were
 * there.
 * Price: the question cannot show the bytes.  A file that is there already is opened unasked, as
 * a copy: tools write their hooks again at every start, and the same bytes are no question.
 * What a shell does with it asks all the same (asks_to_share() in linux_stage.c).
 * Held by: tests/supervise/noticed.py
 */
static bool question_comes_with_bytes(const struct sb_pending *pending)
{
	const struct sb_call *call = &pending->request->call;

	return call->act == SB_ACT_OPEN && pending->judgement.lands &&
	       (!sb_pending_asks_early(pending) || (pending->file.object >= 0 && !call->shares));
}

static void open_terminal(const struct sb_approver *approver, const struct sb_pending *pending)
{
	const struct sb_call *call = &pending->request->call;
	struct sb_outcome outcome = sb_open_terminal(approver, call, &pending->file);

	sb_deliver(approver->listener, call, &pending->file, NULL, &outcome);
}

/* Look what the rules say about where it leads; do it if they allow.  True: that was all. */
static bool settled_at_once(struct sb_approver *approver, struct sb_pending *pending)
{
	const struct sb_call *call = &pending->request->call;
	int error;

	/* the performer waits for such a name, we do not: meaning.h */
	if (sb_guard_is_held(pending->file.path) || sb_guard_is_held(pending->target.path)) {
		sb_pending_fail(approver, call, sb_call_refusal(call));
		sb_pending_free(pending);
		return true;
	}
	if (call->act == SB_ACT_OPEN && sb_is_terminal(&pending->file)) {
		open_terminal(approver, pending);
		sb_pending_free(pending);
		return true;
	}
	sb_judge_call(approver->grounds, call, &pending->file,
		      sb_call_is_two(call) ? &pending->target : NULL, &pending->judgement);
	sb_pending_look(pending);
	if (is_hidden(pending))
		doubt_hidden(&pending->judgement);
	if ((call->act == SB_ACT_CLOSE || (pending->judgement.lands && call->act != SB_ACT_OPEN)) &&
	    !look_at_bytes(approver, pending)) {
		sb_pending_free(pending);
		return true;
	}
	if (pending->judgement.strictest->decision.verdict != SB_ALLOW)
		return false;
	error = refuse_placed(approver, pending);
	if (error) {
		sb_pending_fail(approver, call, error);
		sb_pending_free(pending);
		return true;
	}
	sb_pending_carry_out(approver, pending, NULL);
	return true;
}

/*
 * SECURITY: what a question says of a directory was seen after it was sealed (judge/seal.h).
 *
 * Danger: what changes between a look and the seal would be sealed and not shown.
 * Price: it is judged twice.
 * Held by: tests/supervise/shown.py
 */
static void look_anew(struct sb_approver *approver, struct sb_pending *pending)
{
	sb_source_done(&pending->source);
	pending->source = (struct sb_source){0};
	if (!settled_at_once(approver, pending))
		decide(approver, pending);
}

/* Does a program make the directories in which it would remember something?  Then they are as little asked about. */
static bool is_quiet_way(const struct sb_approver *approver, struct sb_pending *pending)
{
	const char *program = strrchr(pending->program, '/');
	struct sb_judged *judged = &pending->judgement.all[0];
	const struct sb_rule *rule;

	if (pending->request->call.act != SB_ACT_MKDIR || pending->judgement.count != 1 ||
	    !program || judged->guard.verdict != SB_GUARD_PLAIN)
		return false;
	rule = sb_remembered_behind(approver->policy, judged->site->path, program + 1);
	if (rule)
		judged->decision = (struct sb_decision){SB_DENY, rule};
	return rule;
}

/* What is not simply allowed: refused, asked about, or done by an earlier yes. */
static void decide(struct sb_approver *approver, struct sb_pending *pending)
{
	const struct sb_wire_request *request = pending->request;
	const struct sb_call *call = &request->call;
	int error;

	pending->started = sb_process_start(approver->proc, request->process);
	sb_process_program(approver->proc, request->process, pending->program,
			   sizeof pending->program);
	if (call->act == SB_ACT_ACCESS) {
		answer_access(approver, pending);
		sb_pending_free(pending);
		return;
	}
	error = sb_user_may(call, &pending->file, &pending->target);
	if (!error)
		error = sb_perform_postcheck(call, &pending->file);
	if (error) {
		sb_pending_fail(approver, call, error);
		sb_pending_free(pending);
		return;
	}
	if (!pending->counted)
		approver->counters.seen[pending->judgement.strictest->op]++;
	pending->counted = true;
	if (is_denied(pending)) {
		sb_pending_deny(approver, pending, NULL);
		sb_pending_free(pending);
		return;
	}
	switch (find_answer(approver, pending)) {
	case SB_ANSWER_DENY:
		sb_pending_deny(approver, pending, "grant");
		sb_pending_free(pending);
		break;
	case SB_ANSWER_NONE:
		if (is_quiet_way(approver, pending)) {
			sb_pending_deny(approver, pending, NULL);
			sb_pending_free(pending);
		} else if (is_permitted(approver, pending)) {
			pending->unseen = true;
			sb_pending_carry_out(approver, pending, "grant");
		} else if (pending->judgement.lands && is_for_nobody(approver, pending)) {
			sb_pending_deny(approver, pending, "nobody");
			sb_pending_free(pending);
		} else if (question_comes_with_bytes(pending)) {
			sb_pending_carry_out(approver, pending, NULL);
		} else if (!pending->directories.any &&
			   approver->asking.can_ask(approver->asking.context) &&
			   sb_sealed_take(call, &pending->file, &pending->target,
					  &pending->judgement, &pending->directories)) {
			look_anew(approver, pending);
		} else {
			sb_pending_ask(approver, pending);
		}
		break;
	default:
		sb_pending_carry_out(approver, pending, "grant");
		break;
	}
}

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
	struct sb_pending *pending = calloc(1, sizeof *pending);

	sb_trace_taken_on(request);
	if (!pending) {
		sb_pending_fail(approver, call, sb_call_refusal(call));
		sb_wire_request_done(request);
		free(request);
		return;
	}
	pending->request = request;
	pending->file = pending->target = SB_SPOT_EMPTY;
	if (!find_spots(approver, pending) || came_again(approver, pending))
		sb_pending_free(pending);
	else if (!settled_at_once(approver, pending))
		decide(approver, pending);
}

/* --- whose question was another's ---------------------------------------------------------------- */

/* The file that it wanted to make may be there by now.  0 or errno. */
static int look_again(struct sb_pending *pending)
{
	const struct sb_call *call = &pending->request->call;
	struct sb_spot *file = &pending->file;

	if (call->act != SB_ACT_OPEN || file->object >= 0 || file->directory < 0 ||
	    (call->flags & O_TMPFILE) == O_TMPFILE)
		return 0;
	file->object = openat(file->directory, file->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (file->object < 0)
		return errno == ENOENT ? 0 : errno;
	if (fstat(file->object, &file->info) != 0)
		return errno;
	if (call->flags & O_EXCL)
		return EEXIST;
	/* where another thing leads has to be found out from the beginning */
	return S_ISREG(file->info.st_mode) ? 0 : sb_call_refusal(call);
}

/* As if the call came now: others have acted since. */
static void reconsider(struct sb_approver *approver, struct sb_pending *pending)
{
	int error = look_again(pending);

	sb_sealed_done(&pending->directories);
	pending->shown = false;
	if (!error) {
		look_anew(approver, pending);
		return;
	}
	sb_pending_fail(approver, &pending->request->call, error);
	sb_pending_free(pending);
}

/* What an answer has settled need not be asked any more: ten files of one directory, say. */
static void answer_others(struct sb_approver *approver)
{
	struct sb_pending **link = &approver->pending;

	while (*link) {
		struct sb_pending *pending = *link;
		unsigned long question = pending->question;

		if (find_answer(approver, pending) == SB_ANSWER_NONE) {
			link = &pending->next;
			continue;
		}
		reconsider(approver, take(approver, link));
		if (!waits_for(approver, question)) {
			approver->asking.withdraw(approver->asking.context, question);
			sb_flood_answered(approver->flood, question, SB_ANSWER_NONE);
		}
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

		approver->asking.withdraw(approver->asking.context, pending->question);
		sb_flood_answered(approver->flood, pending->question, SB_ANSWER_NONE);
		reconsider(approver, pending);
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

		if (sb_sys_notify_alive(approver->listener, pending->request->call.id)) {
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
		*link = pending->next;
		approver->pending_count--;
		sb_grants_exited(approver->grants, pending->request->process);
		sb_pending_free(pending);
		if (!waits_for(approver, question)) {
			approver->asking.withdraw(approver->asking.context, question);
			sb_flood_answered(approver->flood, question, SB_ANSWER_NONE);
		}
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
