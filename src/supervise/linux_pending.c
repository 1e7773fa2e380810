#include "supervise/pending.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/hash.h"
#include "supervise/acts.h"
#include "supervise/linger.h"
#include "supervise/meaning.h"
#include "supervise/owed.h"
#include "supervise/perform.h"
#include "supervise/tell.h"
#include "supervise/spares.h"
#include "supervise/thread.h"
#include "supervise/wording.h"
#include "sys/notify.h"

const char *sb_pending_origin(const struct sb_decision *decision)
{
	return decision->rule ? decision->rule->origin : NULL;
}

struct sb_event sb_pending_event(const struct sb_pending *pending, enum sb_event_kind kind)
{
	const struct sb_judged *judged = pending->judgement.strictest;

	return (struct sb_event){
		.kind = kind,
		.question = pending->question,
		.op = sb_op_name(judged->op),
		.act = sb_acts[pending->request->call.act].name,
		.path = pending->file.path,
		.target = pending->target.path[0] ? pending->target.path : NULL,
		.program = pending->program,
		.worker = pending->worker,
		.process = pending->request->process,
		.rule = sb_pending_origin(&judged->decision),
	};
}

static struct sb_pending *kept; /* for the next: see sb_wire_request_new() */

struct sb_pending *sb_pending_new(void)
{
	struct sb_pending *pending = kept ? kept : malloc(sizeof *pending);

	kept = NULL;
	return pending ? memset(pending, 0, sizeof *pending) : NULL;
}

void sb_pending_free(struct sb_pending *pending)
{
	if (!pending)
		return;
	sb_wire_request_done(pending->request);
	sb_wire_request_free(pending->request);
	sb_spot_done(&pending->file);
	sb_spot_done(&pending->target);
	sb_source_done(&pending->source);
	sb_sealed_done(&pending->directories);
	free(pending->worker);
	free(kept);
	kept = pending;
}

bool sb_pending_shows_bytes(const struct sb_pending *pending)
{
	return pending->judgement.lands && pending->source.bytes.data &&
	       pending->judgement.lands->guard.verdict != SB_GUARD_PLAIN;
}

bool sb_pending_asks_early(const struct sb_pending *pending)
{
	return pending->request->call.act == SB_ACT_OPEN && pending->judgement.lands &&
	       pending->judgement.lands->guard.verdict == SB_GUARD_ASK;
}

/* --- what it is about ------------------------------------------------------------------- */

static enum sb_thing thing_of(mode_t mode)
{
	return S_ISDIR(mode)            ? SB_THING_DIRECTORY
	       : S_ISLNK(mode)          ? SB_THING_LINK
	       : S_ISREG(mode) || !mode ? SB_THING_FILE
					: SB_THING_NODE;
}

/* The mode of what has this name now; 0: nothing. */
static mode_t mode_at(const struct sb_spot *spot)
{
	char name[NAME_MAX + 2];
	struct stat info;

	if (spot->directory < 0)
		return spot->object >= 0 ? spot->info.st_mode : 0;
	return fstatat(spot->directory, sb_spot_plain_name(spot, name), &info,
		       AT_SYMLINK_NOFOLLOW) == 0
		       ? info.st_mode
		       : 0;
}

/* Where the link leads; one that cannot be read leads nowhere that was shown to anybody. */
static const char *read_link(const struct sb_spot *spot, char out[PATH_MAX])
{
	char name[NAME_MAX + 2];
	ssize_t length;

	length = readlinkat(spot->directory, sb_spot_plain_name(spot, name), out, PATH_MAX - 1);
	if (length < 0)
		return "?";
	out[length] = '\0';
	return out;
}

/* Where it is, as it was resolved. */
static const struct sb_spot *spot_of(const struct sb_pending *pending,
				     const struct sb_judged *judged)
{
	return judged->site == &pending->judgement.sites[0] ? &pending->file : &pending->target;
}

static void look_at_moved(struct sb_pending *pending, size_t i)
{
	const struct sb_judged *judged = &pending->judgement.all[i];
	const struct sb_spot *spot = spot_of(pending, judged);
	const struct sb_spot *other = spot == &pending->file ? &pending->target : &pending->file;
	const struct sb_spot *from = judged->op == SB_DELETE ? spot : other;
	struct sb_looked *looked = &pending->looked[i];

	looked->thing = thing_of(mode_at(from));
	looked->sets_id = judged->brings_bits;
	if (judged->op == SB_DELETE)
		looked->moved_to = other->path;
	else if (looked->thing == SB_THING_LINK)
		looked->leads_to = read_link(from, pending->links[from == &pending->target]);
}

static const char *named_thing(mode_t mode)
{
	static const char *const names[] = {[SB_THING_FILE] = "the file",
					    [SB_THING_DIRECTORY] = "the directory",
					    [SB_THING_LINK] = "the link",
					    [SB_THING_NODE] = "what"};

	return mode ? names[thing_of(mode)] : NULL;
}

static enum sb_thing made_thing(const struct sb_call *call)
{
	switch (call->act) {
	case SB_ACT_MKDIR:
		return SB_THING_DIRECTORY;
	case SB_ACT_SYMLINK:
		return SB_THING_LINK;
	case SB_ACT_MKNOD:
		return thing_of(call->mode & S_IFMT);
	case SB_ACT_LINK:
		return SB_THING_NAME;
	default:
		return SB_THING_NODE;
	}
}

void sb_pending_look(struct sb_pending *pending)
{
	const struct sb_call *call = &pending->request->call;

	memset(pending->looked, 0, sizeof pending->looked);
	pending->exchanges = call->act == SB_ACT_RENAME && (call->flags & RENAME_EXCHANGE);
	pending->replaces = call->act == SB_ACT_RENAME ? named_thing(mode_at(&pending->target))
						       : NULL;
	for (size_t i = 0; i < pending->judgement.count; i++) {
		struct sb_looked *looked = &pending->looked[i];

		switch (call->act) {
		case SB_ACT_RENAME:
			look_at_moved(pending, i);
			break;
		case SB_ACT_MKDIR:
		case SB_ACT_SYMLINK:
		case SB_ACT_MKNOD:
		case SB_ACT_LINK:
		case SB_ACT_BIND:
		case SB_ACT_CONNECT:
			looked->thing = made_thing(call);
			looked->sets_id = pending->judgement.all[i].brings_bits;
			if (call->act == SB_ACT_SYMLINK)
				looked->leads_to = call->text;
			break;
		case SB_ACT_CLOSE: /* a file lands there */
			break;
		default:
			looked->thing = pending->judgement.all[i].op == SB_CREATE
						? SB_THING_FILE
						: thing_of(mode_at(spot_of(
							  pending, &pending->judgement.all[i])));
			break;
		}
	}
}

/* ---------------------------------------------------------------------------------------- */

struct sb_wish sb_pending_wish(const struct sb_pending *pending, const struct sb_judged *judged)
{
	const struct sb_looked *looked = &pending->looked[judged - pending->judgement.all];
	struct sb_wish wish = {
		.op = judged->op,
		.thing = looked->thing,
		.leads_to = looked->leads_to,
		.moved_to = looked->moved_to,
		.arrives = pending->request->call.act == SB_ACT_RENAME && judged->op != SB_DELETE &&
			   looked->thing == SB_THING_DIRECTORY,
		.guard = judged->guard.verdict != SB_GUARD_PLAIN ? judged->guard.row : NULL,
		.metadata = sb_act_is_metadata(pending->request->call.act),
		.sets_id = looked->sets_id || sb_wording_sets_id(&pending->request->call),
		.shows_content = judged == pending->judgement.lands &&
				 sb_pending_shows_bytes(pending),
		.path = judged->site->path,
		.directory = judged->site->directory,
		.name = judged->site->name,
		.decision = judged->decision,
		.process = pending->request->process,
		.started = pending->started,
		.inner = pending->request->inner.domain,
		.apart = pending->of_worker || pending->request->inner.workers[0],
	};

	/* what a worker's file asks about is a file of the worker's, whichever of its programs writes it */
	if (pending->of_worker && !wish.guard && !wish.sets_id) {
		wish.process = 0;
		wish.started = 0;
	}
	/* services that a built-in rule keeps out of sight are asked about, not refused */
	if (pending->request->call.act == SB_ACT_CONNECT && wish.decision.verdict == SB_DENY &&
	    wish.decision.rule && wish.decision.rule->tier == SB_TIER_BUILTIN &&
	    !wish.decision.rule->hard)
		wish.decision.verdict = SB_ASK;
	return wish;
}

void sb_pending_fail(const struct sb_approver *approver, const struct sb_call *call, int error)
{
	/* Who puts another file at a descriptor has lost the old one whatever we say.  Only numbers
	 * go on, here and below, nothing that lies in memory. */
	if (call->act == SB_ACT_CLOSE && call->replaces)
		sb_sys_notify_continue(approver->listener, call->id);
	else
		sb_sys_notify_fail(approver->listener, call->id, error);
}

bool sb_call_is_orphan(const struct sb_call *call)
{
	return call->act == SB_ACT_CLOSE && !call->id;
}

/* What a rule or an earlier answer allows was shown to nobody. */
static const struct sb_sealed *sealed(const struct sb_pending *pending)
{
	return pending->shown && pending->directories.any ? &pending->directories : NULL;
}

static struct sb_acting acting(const struct sb_approver *approver, const struct sb_pending *pending)
{
	return (struct sb_acting){approver->grounds, approver->proc, sealed(pending)};
}

/* Is it still the name that was judged, and shown?  What was plain then must still be plain. */
static bool stays(const struct sb_approver *approver, struct sb_pending *pending)
{
	const struct sb_call *call = &pending->request->call;
	const struct sb_acting by_us = acting(approver, pending);

	if (pending->judgement.lands)
		return sb_spot_confirm(approver->proc,
				       sb_call_is_two(call) ? &pending->target : &pending->file);
	return sb_act_may_begin(&by_us, call, &pending->file, &pending->target,
				&pending->judgement);
}

/* A file called "refs" may be what makes a git directory, too. */
static bool is_as_shown(const struct sb_pending *pending, bool done)
{
	if (!sealed(pending))
		return true;
	if (done)
		sb_hold_settle();
	return sb_sealed_holds(&pending->directories, &pending->file, &pending->target, done);
}

/* Let the bytes that were looked at become the guarded file.  Returns an errno. */
static int land(const struct sb_approver *approver, struct sb_pending *pending)
{
	const struct sb_call *call = &pending->request->call;
	const struct sb_source *source = &pending->source;
	struct sb_spot *spot = sb_call_is_two(call) ? &pending->target : &pending->file;
	const struct sb_landing landing = {.directory = pending->file.directory,
					   .name = pending->file.name,
					   .bytes = &pending->source.bytes,
					   .mode = call->mode,
					   .owner = call->owner,
					   .group = call->group};

	int error;

	if (!stays(approver, pending) || !is_as_shown(pending, false))
		return EACCES;
	error = call->act == SB_ACT_CLOSE
			? -sb_land(&landing)
			: -sb_source_land(call, source, &pending->file, &pending->target);
	if (error ||
	    ((!sb_spot_is_old(spot) || stays(approver, pending)) && is_as_shown(pending, true)))
		return error;
	if (call->act == SB_ACT_CLOSE)
		sb_land_take_back(&landing, &source->old);
	else
		sb_source_take_back(call, source, &pending->file, &pending->target);
	return EACCES;
}

static int perform_landing(struct sb_approver *approver, struct sb_pending *pending)
{
	const struct sb_call *call = &pending->request->call;
	struct sb_wire_message stage = {.kind = SB_WIRE_STAGE, .id = call->id};
	int error;

	if (call->act == SB_ACT_OPEN) {
		if (pending->by && sb_pending_asks_early(pending)) {
			sb_permits_add(&approver->permits, call->id, pending->judgement.lands);
			stage.number = 1;
		}
		if (sb_wire_send(approver->channel, &stage, -1) < 0)
			sb_pending_fail(approver, call, EACCES);
		return 0;
	}
	error = pending->source.bytes.data ? land(approver, pending) : EACCES;
	if (error)
		sb_pending_fail(approver, call, error);
	else if (call->act == SB_ACT_CLOSE)
		sb_sys_notify_continue(approver->listener, call->id);
	else
		sb_owed_return(approver->listener, call, &pending->file, &pending->target);
	return error;
}

static struct sb_outcome bind_for(const struct sb_approver *approver, struct sb_pending *pending)
{
	const struct sb_call *call = &pending->request->call;
	const struct sb_acting by_us = acting(approver, pending);
	struct sb_outcome outcome = {.error = EACCES, .fd = -1};

	if (!sb_act_may_begin(&by_us, call, &pending->file, NULL, &pending->judgement))
		return outcome;
	outcome.error = sb_connect_for(pending->request, &pending->file);
	if (!outcome.error &&
	    !sb_act_stands(&by_us, call, &pending->file, NULL, &pending->judgement)) {
		sb_act_take_back(call, &pending->file, NULL, &outcome);
		outcome.error = EACCES;
	}
	return outcome;
}

/* What was judged, unless the names mean something else by now: then it was another question. */
static struct sb_outcome act(const struct sb_approver *approver, struct sb_pending *pending)
{
	const struct sb_call *call = &pending->request->call;
	const struct sb_acting by_us = acting(approver, pending);
	bool changed;
	struct sb_outcome outcome = sb_act(&by_us, call, &pending->file, &pending->target,
					   &pending->judgement, &changed);

	pending->changed = changed && by_us.shown;
	if (!changed && !outcome.error)
		sb_judge_landed(approver->grounds, &pending->judgement);
	return changed ? (struct sb_outcome){.error = sb_call_refusal(call), .fd = -1} : outcome;
}

/*
 * Carry it out; returns the errno it ended with.  EAGAIN with *again set: a FIFO without a
 * reader, for which the caller waits and nobody else.
 */
static int perform(struct sb_approver *approver, struct sb_pending *pending, bool *again)
{
	const struct sb_call *call = &pending->request->call;
	struct sb_outcome outcome = {.fd = -1};
	int error;

	*again = false;
	if (!sb_call_is_orphan(call) && !sb_sys_notify_alive(approver->listener, call->id))
		return ESRCH;
	sb_spares_calm(!approver->pending && !approver->waiting);
	if (pending->judgement.lands || call->act == SB_ACT_CLOSE)
		return perform_landing(approver, pending);
	umask(pending->request->umask);
	if (call->act == SB_ACT_CONNECT)
		outcome.error = sb_connect_for(pending->request, &pending->file);
	else if (call->act == SB_ACT_BIND)
		outcome = bind_for(approver, pending);
	else if (pending->file.object >= 0 &&
		 (S_ISCHR(pending->file.info.st_mode) || S_ISBLK(pending->file.info.st_mode)))
		outcome.error = EACCES; /* never a device */
	else
		outcome = act(approver, pending);
	if (pending->changed)
		return outcome.error;
	if (outcome.again) {
		*again = true;
		return EAGAIN;
	}
	error = outcome.error;
	if (!error && (call->act == SB_ACT_CONNECT || call->act == SB_ACT_BIND))
		sb_owed_return_socket(approver->listener, call, pending->request->socket);
	else
		sb_deliver(approver->listener, call, &pending->file, &pending->target, &outcome);
	return error;
}

int sb_pending_perform(struct sb_approver *approver, struct sb_pending *pending, bool *again)
{
	const struct sb_call *call = &pending->request->call;
	int error;

	sb_owed_begins(call, &pending->file, sb_call_is_two(call) ? &pending->target : NULL);
	error = perform(approver, pending, again);
	sb_owed_ends();
	return error;
}

/* What else the call needs that is not allowed, beside what was told already. */
static const struct sb_judged *find_other(const struct sb_pending *pending)
{
	const struct sb_judgement *judgement = &pending->judgement;

	for (size_t i = 0; i < judgement->count; i++)
		if (judgement->all[i].decision.verdict != SB_ALLOW &&
		    strcmp(judgement->all[i].site->path, judgement->strictest->site->path) != 0)
			return &judgement->all[i];
	return NULL;
}

/* Is all that forbids it a rule that says so quietly? */
static bool is_quiet(const struct sb_judgement *judgement)
{
	bool quiet = false;

	for (size_t i = 0; i < judgement->count; i++) {
		const struct sb_judged *judged = &judgement->all[i];

		if (judged->decision.verdict != SB_DENY)
			continue;
		quiet = sb_decision_is_quiet(&judged->decision, judged->op);
		if (!quiet)
			return false;
	}
	return quiet;
}

/* For the summary; by as it is recorded. */
static struct sb_refusal refusal_of(const struct sb_approver *approver,
				    const struct sb_pending *pending, const char *by)
{
	const struct sb_judged *judged = pending->judgement.strictest, *other = find_other(pending);
	const struct sb_call *call = &pending->request->call;
	const char *slash = strrchr(pending->program, '/');
	struct sb_refusal refused = {
		.op = judged->op,
		.metadata = sb_act_is_metadata(call->act),
		.read_only = sb_policy_mode(approver->policy) == SB_MODE_READ_ONLY,
		.path = judged->site->path,
		.program = slash ? slash + 1 : NULL,
		.worker = pending->worker,
		.rule = judged->decision.rule,
		.no_rule = judged->no_rule_opens,
		.directory = call->act == SB_ACT_MKDIR,
		.by = by && (strcmp(by, "terminal") == 0 || strcmp(by, "attach") == 0) ? "person"
										       : by,
	};

	if (call->act == SB_ACT_LINK) { /* both names are told by the new one's directory */
		refused.op = SB_CREATE;
		refused.path = pending->target.path;
		refused.linked = pending->file.path;
	} else if (other) {
		refused.other = other->site->path;
		refused.other_rule = other->decision.rule;
		refused.no_rule |= other->no_rule_opens;
	}
	/* a rule follows links: one for the name of a link is about what that leads to */
	refused.is_link = call->act == SB_ACT_SYMLINK || call->act == SB_ACT_LINK ||
			  pending->looked[judged - pending->judgement.all].thing == SB_THING_LINK;
	return refused;
}

/*
 * In a worker's run what is read-only says so, as the mount does that a program would find there: what knows how to go
 * on without writing goes on.  A service outside whose name the run does not have is not there: tmux begins its own.
 */
int sb_pending_refusal(const struct sb_approver *approver, const struct sb_pending *pending)
{
	const struct sb_call *call = &pending->request->call;
	const struct sb_rule *rule = pending->judgement.strictest->decision.rule;
	const unsigned char *verdict = rule ? rule->access.verdict : NULL;
	bool read_only = verdict && rule->tier == SB_TIER_DIRECTORY &&
			 verdict[SB_READ] == SB_ALLOW && verdict[SB_MODIFY] == SB_DENY &&
			 verdict[SB_CREATE] == SB_DENY && verdict[SB_DELETE] == SB_DENY;

	if (call->act == SB_ACT_CONNECT)
		return call->target_error == ENOENT ? ENOENT : EACCES;
	read_only &= pending->judgement.strictest->decision.verdict == SB_DENY;
	return approver->worker && read_only ? EROFS : sb_call_refusal(call);
}

void sb_pending_deny(struct sb_approver *approver, struct sb_pending *pending, const char *by)
{
	const struct sb_judged *judged = pending->judgement.strictest;
	const struct sb_call *call = &pending->request->call;
	struct sb_event event = sb_pending_event(pending, SB_EVENT_DENY);
	bool quiet = is_quiet(&pending->judgement);
	const struct sb_refusal refused = refusal_of(approver, pending, by);

	event.error = sb_pending_refusal(approver, pending);
	sb_pending_fail(approver, call, event.error);
	approver->counters.denied[judged->op]++;
	event.verdict = "deny";
	event.by = quiet ? "quiet" : by;
	sb_approver_record(approver, &event);
	if (approver->summary && !quiet)
		sb_summary_add(approver->summary, &refused);
	sb_pending_free(pending);
}

/* An open that only made a copy: it is done when its bytes land. */
static bool is_staging(const struct sb_pending *pending)
{
	return pending->judgement.lands && pending->request->call.act == SB_ACT_OPEN;
}

/* What was done because a person said yes, now or earlier. */
static void note_performed(struct sb_approver *approver, struct sb_pending *pending, int error)
{
	struct sb_event event = sb_pending_event(pending, SB_EVENT_PERFORM);
	const struct sb_bytes *bytes = &pending->source.bytes;
	char content[SB_SHA256_HEX];

	if (!error && pending->judgement.lands && bytes->data) {
		sb_sha256_hex(bytes->data, bytes->length, content);
		event.content = content;
		if (pending->unseen && approver->summary)
			sb_summary_wrote(approver->summary, pending->judgement.lands->site->path,
					 bytes->length);
	}
	approver->counters.approved[pending->judgement.strictest->op] += !error;
	if (!error && approver->summary) {
		struct sb_refusal asked = refusal_of(approver, pending, NULL);

		asked.approved = true;
		sb_summary_add(approver->summary, &asked);
	}
	for (size_t i = 0; !error && i < pending->judgement.count; i++) {
		struct sb_wish wish = sb_pending_wish(pending, &pending->judgement.all[i]);

		if (wish.op == SB_CREATE)
			sb_grants_made(approver->grants, &wish);
	}
	event.verdict = "allow";
	event.by = pending->by;
	event.error = error;
	sb_approver_record(approver, &event);
}

/* For the end of the run. */
static void tell(struct sb_approver *approver, const struct sb_pending *pending)
{
	const struct sb_telling telling = {approver->policy, sb_approver_note, approver};

	if (!pending->judgement.lands)
		sb_tell_act(&telling, &pending->request->call, &pending->file, &pending->target);
	sb_tell_links(&telling, &pending->judgement);
	sb_linger_landed(&telling, &pending->judgement, sb_bytes_seen(&pending->source.old));
}

/* For the counters and the record. */
static void account(struct sb_approver *approver, struct sb_pending *pending, int error)
{
	if (is_staging(pending))
		return;
	if (pending->by)
		note_performed(approver, pending, error);
	else
		approver->counters.allowed[pending->judgement.strictest->op] += !error;
}

/* What was shown is not what is there: the yes was to something else. */
static void ask_again(struct sb_approver *approver, struct sb_pending *pending)
{
	char line[PATH_MAX + 128], shown[PATH_MAX];

	pending->changed = pending->shown = false;
	if (++pending->changes < SB_MAX_CHANGES) {
		sb_pending_keep(approver, pending);
		return;
	}
	snprintf(line, sizeof line,
		 "'%s' changed while you were asked about it, again and again: refused",
		 sb_escape_line(shown, sizeof shown, pending->file.path));
	if (approver->asking.notice)
		approver->asking.notice(approver->asking.context, line);
	sb_pending_deny(approver, pending, "changed");
}

/*
 * Try it, and take the call over: it is done, or waits at a FIFO.  by: who allowed it; NULL: a
 * rule, which is not recorded.
 */
void sb_pending_carry_out(struct sb_approver *approver, struct sb_pending *pending, const char *by)
{
	bool again;
	int error;

	pending->by = by;
	error = sb_pending_perform(approver, pending, &again);
	if (pending->changed) {
		ask_again(approver, pending);
		return;
	}
	if (again && approver->waiting_count < SB_MAX_PENDING) {
		pending->next = approver->waiting;
		approver->waiting = pending;
		approver->waiting_count++;
		return;
	}
	if (again)
		sb_pending_fail(approver, &pending->request->call, error);
	if (!error)
		tell(approver, pending);
	account(approver, pending, error);
	sb_pending_free(pending);
}

/*
 * A held call is not interrupted by signals, but one that waits at a FIFO is: the kernel then
 * runs the handler, and restarts the call or not, as the program asked.  The answer is known
 * when it comes again.
 */
static bool is_interrupted(const struct sb_approver *approver, const struct sb_pending *pending)
{
	const struct sb_call *call = &pending->request->call;

	if (!sb_thread_has_signal(approver->proc, call->thread))
		return false;
	sb_pending_fail(approver, call, SB_RESTART);
	return true;
}

/* Look whether the FIFOs have readers by now. */
void sb_pending_try_waiting(struct sb_approver *approver)
{
	struct sb_pending **link = &approver->waiting;

	while (*link) {
		struct sb_pending *pending = *link;
		bool again;
		int error = sb_pending_perform(approver, pending, &again);

		if (again && !is_interrupted(approver, pending)) {
			link = &pending->next;
			continue;
		}
		*link = pending->next;
		approver->waiting_count--;
		if (!again)
			account(approver, pending, error);
		sb_pending_free(pending);
	}
}

void sb_pending_keep(struct sb_approver *approver, struct sb_pending *pending)
{
	pending->next = approver->pending;
	approver->pending = pending;
	approver->pending_count++;
}
