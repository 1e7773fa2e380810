/*
 * linux_decide.c - one call that the performer has passed on: allowed, refused or asked about.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "consent/agreed.h"
#include "policy/remembered.h"
#include "supervise/acts.h"
#include "supervise/approve.h"
#include "supervise/pending.h"
#include "supervise/perform.h"
#include "supervise/thread.h"
#include "sys/notify.h"

enum sb_answer sb_pending_find_answer(const struct sb_approver *approver,
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
		if (one == SB_ANSWER_NONE && !sb_agreed_covers(approver->agreed, &wish))
			answer = SB_ANSWER_NONE;
	}
	return answer;
}

/* A socket that the command cannot see, but we may. */
static bool is_hidden(const struct sb_pending *pending)
{
	return pending->request->call.act == SB_ACT_CONNECT && pending->request->file.object < 0;
}

bool sb_pending_find_spots(struct sb_approver *approver, struct sb_pending *pending)
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
	bool asked = sb_pending_find_answer(approver, pending) == SB_ANSWER_NONE &&
		     !approver->asking.can_ask(approver->asking.context);
	bool denied = pending->judgement.strictest->decision.verdict == SB_DENY ||
		      sb_pending_find_answer(approver, pending) == SB_ANSWER_DENY;

	bool again;

	if (denied || asked)
		sb_pending_fail(approver, &pending->request->call,
				denied ? sb_pending_refusal(approver, pending) : EACCES);
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
static void doubt_hidden(struct sb_judgement *judgement, const struct sb_rule *rule)
{
	for (size_t i = 0; i < judgement->count; i++)
		if (judgement->all[i].decision.verdict == SB_ALLOW)
			judgement->all[i].decision = (struct sb_decision){SB_ASK, rule};
}

/* What a worker's rules say that was called by the one whose rules are ours. */
static void obey_inner(struct sb_pending *pending)
{
	static const struct sb_rule asks = {.access = {{SB_ALLOW, SB_ASK, SB_ASK, SB_ASK}},
					    .tier = SB_TIER_DIRECTORY,
					    .pattern = "/",
					    .origin = "the worker that was called asks"};
	const struct sb_inner *inner = &pending->request->inner;

	if (inner->verdict == SB_ASK)
		doubt_hidden(&pending->judgement, &asks);
	if (inner->verdict != SB_DENY)
		return;
	pending->inner_rule = (struct sb_rule){
		.access = {{inner->read_only ? SB_ALLOW : SB_DENY, SB_DENY, SB_DENY, SB_DENY}},
		.tier = SB_TIER_DIRECTORY,
		.pattern = "/",
		.origin = inner->says};
	for (size_t i = 0; i < pending->judgement.count; i++)
		if (pending->judgement.all[i].decision.verdict != SB_DENY)
			pending->judgement.all[i].decision =
				(struct sb_decision){SB_DENY, &pending->inner_rule};
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

/* An errno is the answer. */
static bool fail(const struct sb_approver *approver, struct sb_pending *pending, int error)
{
	sb_pending_fail(approver, &pending->request->call, error);
	sb_pending_free(pending);
	return true;
}

/* Look what the rules say about where it leads; do it if they allow.  True: that was all. */
static bool settled_at_once(struct sb_approver *approver, struct sb_pending *pending)
{
	const struct sb_call *call = &pending->request->call;
	int error;

	/* the performer waits for such a name, we do not: meaning.h */
	if (sb_guard_is_held(pending->file.path) || sb_guard_is_held(pending->target.path))
		return fail(approver, pending, sb_call_refusal(call));
	if (call->act == SB_ACT_OPEN && sb_is_terminal(&pending->file)) {
		open_terminal(approver, pending);
		sb_pending_free(pending);
		return true;
	}
	sb_judge_call(approver->grounds, call, &pending->file,
		      sb_call_is_two(call) ? &pending->target : NULL, &pending->judgement);
	sb_pending_look(pending);
	if (is_hidden(pending))
		doubt_hidden(&pending->judgement, NULL);
	obey_inner(pending);
	if ((call->act == SB_ACT_CLOSE || (pending->judgement.lands && call->act != SB_ACT_OPEN)) &&
	    !look_at_bytes(approver, pending)) {
		sb_pending_free(pending);
		return true;
	}
	if (pending->judgement.strictest->decision.verdict != SB_ALLOW)
		return false;
	error = refuse_placed(approver, pending);
	if (error)
		return fail(approver, pending, error);
	sb_pending_carry_out(approver, pending, NULL);
	return true;
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
	/* what rules deny they deny, also on a file system that is read-only */
	if (error && !(error == EROFS && is_denied(pending))) {
		fail(approver, pending, error);
		return;
	}
	if (!pending->counted)
		approver->counters.seen[pending->judgement.strictest->op]++;
	pending->counted = true;
	if (is_denied(pending)) {
		sb_pending_deny(approver, pending, NULL);
		return;
	}
	switch (sb_pending_find_answer(approver, pending)) {
	case SB_ANSWER_DENY:
		sb_pending_deny(approver, pending, "grant");
		break;
	case SB_ANSWER_NONE:
		if (is_quiet_way(approver, pending)) {
			sb_pending_deny(approver, pending, NULL);
		} else if (is_permitted(approver, pending)) {
			pending->unseen = true;
			sb_pending_carry_out(approver, pending, "grant");
		} else if (pending->judgement.lands && is_for_nobody(approver, pending)) {
			sb_pending_deny(approver, pending, "nobody");
		} else if (question_comes_with_bytes(pending)) {
			sb_pending_carry_out(approver, pending, NULL);
		} else if (!pending->directories.any &&
			   approver->asking.can_ask(approver->asking.context) &&
			   sb_sealed_take(call, &pending->file, &pending->target,
					  &pending->judgement, &pending->directories)) {
			sb_pending_decide(approver, pending);
		} else {
			sb_pending_ask(approver, pending);
		}
		break;
	default:
		sb_pending_carry_out(approver, pending, "grant");
		break;
	}
}

/*
 * SECURITY: what a question says of a directory was seen after it was sealed (judge/seal.h).
 *
 * Danger: what changes between a look and the seal would be sealed and not shown.
 * Price: it is judged twice.
 * Held by: tests/supervise/shown.py
 */
void sb_pending_decide(struct sb_approver *approver, struct sb_pending *pending)
{
	sb_source_done(&pending->source);
	pending->source = (struct sb_source){0};
	if (!settled_at_once(approver, pending))
		decide(approver, pending);
}

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

void sb_pending_reconsider(struct sb_approver *approver, struct sb_pending *pending)
{
	int error = look_again(pending);

	sb_sealed_done(&pending->directories);
	pending->shown = false;
	if (error)
		fail(approver, pending, error);
	else
		sb_pending_decide(approver, pending);
}
