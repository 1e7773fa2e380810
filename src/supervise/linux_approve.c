#include "supervise/approve.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/auto.h"
#include "consent/always.h"
#include "path/path.h"
#include "supervise/land.h"
#include "supervise/perform.h"
#include "supervise/thread.h"
#include "supervise/wording.h"
#include "sys/notify.h"

#define MAX_PENDING 1000 /* calls that wait for answers at a time */
#define SHOWN_BYTES 4096 /* more than fits on a screen */
#define LOOK_MS 500      /* how often we look whether those who wait still live, */
#define FIFO_MS 10       /* and whether a FIFO has got a reader */

struct sb_pending {
	struct sb_pending *next;
	struct sb_wire_request *request;
	struct sb_spot file, target; /* ours */
	struct sb_judgement judgement;
	struct sb_source source; /* what would land on a guarded name: these bytes and no others */
	unsigned long question;  /* several may wait for one */
	uint64_t deadline_ms;    /* 0: none */
	uint64_t started;        /* when the process started */
	const char *by;          /* who allowed it; a literal, or NULL */
	char program[PATH_MAX];  /* its file */
};

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int sb_approver_init(struct sb_approver *approver, struct sb_error *err)
{
	approver->grants = sb_grants_new(approver->home->home);
	approver->flood = sb_flood_new();
	return approver->grants && approver->flood ? SB_OK
						   : sb_fail(err, SB_E_NOMEM, 0, "out of memory");
}

/* --- telling ------------------------------------------------------------------------ */

void sb_approver_record(struct sb_approver *approver, const struct sb_event *event)
{
	struct sb_error err;

	if (!approver->audit || sb_audit_write(approver->audit, event, &err) == SB_OK)
		return;
	if (approver->asking.notice)
		approver->asking.notice(approver->asking.context, err.message);
}

static const char *origin(const struct sb_decision *decision)
{
	return decision->rule ? decision->rule->origin : NULL;
}

static struct sb_event event_of(const struct sb_pending *pending, enum sb_event_kind kind)
{
	const struct sb_judged *judged = pending->judgement.strictest;

	return (struct sb_event){
		.kind = kind,
		.question = pending->question,
		.op = sb_op_name(judged->op),
		.act = sb_act_name(pending->request->call.act),
		.path = pending->file.path,
		.target = pending->target.path[0] ? pending->target.path : NULL,
		.program = pending->program,
		.process = pending->request->process,
		.rule = origin(&judged->decision),
	};
}

/* --- doing ------------------------------------------------------------------------------ */

static void pending_free(struct sb_pending *pending)
{
	if (!pending)
		return;
	sb_wire_request_done(pending->request);
	free(pending->request);
	sb_spot_done(&pending->file);
	sb_spot_done(&pending->target);
	sb_source_done(&pending->source);
	free(pending);
}

/* Would bytes land on a guarded name that are not harmless?  A yes is one to these alone. */
static bool shows_bytes(const struct sb_pending *pending)
{
	return pending->judgement.lands && pending->source.bytes.data &&
	       pending->judgement.lands->guard.verdict != SB_GUARD_PLAIN;
}

static struct sb_wish wish_of(const struct sb_pending *pending, const struct sb_judged *judged)
{
	struct sb_wish wish = {
		.op = judged->op,
		.metadata = sb_act_is_metadata(pending->request->call.act),
		.shows_content = judged == pending->judgement.lands && shows_bytes(pending),
		.path = judged->spot->path,
		.directory = judged->spot->directory,
		.name = judged->spot->name,
		.decision = judged->decision,
		.process = pending->request->process,
		.started = pending->started,
	};

	/* services that a built-in rule keeps out of sight are asked about, not refused */
	if (pending->request->call.act == SB_ACT_CONNECT && wish.decision.verdict == SB_DENY &&
	    wish.decision.rule && wish.decision.rule->tier == SB_TIER_BUILTIN &&
	    !wish.decision.rule->hard)
		wish.decision.verdict = SB_ASK;
	return wish;
}

static bool is_two(const struct sb_call *call)
{
	return call->act == SB_ACT_RENAME || call->act == SB_ACT_LINK;
}

static int refusal(const struct sb_call *call)
{
	return sb_act_is_metadata(call->act) ? EPERM : EACCES;
}

static void fail(const struct sb_approver *approver, const struct sb_call *call, int error)
{
	/* who puts another file at a descriptor has lost the old one whatever we say */
	if (call->act == SB_ACT_CLOSE && call->replaces)
		sb_sys_notify_continue(approver->listener, call->id);
	else
		sb_sys_notify_fail(approver->listener, call->id, error);
}

/* Nobody waits: the file was closed by the end of its writer (stage.h). */
static bool is_orphan(const struct sb_call *call)
{
	return call->act == SB_ACT_CLOSE && !call->id;
}

/* Let the bytes that were looked at become the guarded file.  Returns an errno. */
static int land(const struct sb_pending *pending)
{
	const struct sb_call *call = &pending->request->call;
	const struct sb_landing landing = {.directory = pending->file.directory,
					   .name = pending->file.name,
					   .bytes = &pending->source.bytes,
					   .mode = call->mode,
					   .owner = call->owner,
					   .group = call->group};

	if (call->act == SB_ACT_CLOSE)
		return -sb_land(&landing);
	return -sb_source_land(call, &pending->source, &pending->file, &pending->target);
}

static int perform_landing(const struct sb_approver *approver, const struct sb_pending *pending)
{
	const struct sb_call *call = &pending->request->call;
	struct sb_wire_message stage = {.kind = SB_WIRE_STAGE, .id = call->id};
	int error;

	if (call->act == SB_ACT_OPEN) {
		if (sb_wire_send(approver->channel, &stage, -1) < 0)
			fail(approver, call, EACCES);
		return 0;
	}
	error = pending->source.bytes.data ? land(pending) : EACCES;
	if (error)
		fail(approver, call, error);
	else if (call->act == SB_ACT_CLOSE)
		sb_sys_notify_continue(approver->listener, call->id);
	else
		sb_sys_notify_return(approver->listener, call->id, 0);
	return error;
}

/*
 * Carry it out; returns the errno it ended with.  EAGAIN with *again set: a FIFO without a
 * reader, for which the caller waits and nobody else.
 */
static int perform(const struct sb_approver *approver, struct sb_pending *pending, bool *again)
{
	const struct sb_call *call = &pending->request->call;
	struct sb_outcome outcome = {.fd = -1};
	int error;

	*again = false;
	if (!is_orphan(call) && !sb_sys_notify_alive(approver->listener, call->id))
		return ESRCH;
	if (pending->judgement.lands || call->act == SB_ACT_CLOSE)
		return perform_landing(approver, pending);
	umask(pending->request->umask);
	if (call->act == SB_ACT_CONNECT || call->act == SB_ACT_BIND)
		outcome.error = sb_connect_for(pending->request, &pending->file);
	else if (pending->file.object >= 0 &&
		 (S_ISCHR(pending->file.info.st_mode) || S_ISBLK(pending->file.info.st_mode)))
		outcome.error = EACCES; /* never a device */
	else
		outcome = sb_perform(call, &pending->file, &pending->target);
	if (outcome.again) {
		*again = true;
		return EAGAIN;
	}
	error = outcome.error;
	sb_deliver(approver->listener, call, &pending->file, &outcome);
	return error;
}

/* Refused for good: answered, recorded, kept for the summary. */
static void deny(struct sb_approver *approver, struct sb_pending *pending, const char *by)
{
	const struct sb_judged *judged = pending->judgement.strictest;
	const struct sb_call *call = &pending->request->call;
	struct sb_event event = event_of(pending, SB_EVENT_DENY);
	const char *slash = strrchr(pending->program, '/');
	struct sb_refusal refused = {
		.op = judged->op,
		.metadata = sb_act_is_metadata(call->act),
		.read_only = sb_policy_mode(approver->policy) == SB_MODE_READ_ONLY,
		.path = judged->spot->path,
		.program = slash ? slash + 1 : NULL,
		.rule = judged->decision.rule,
		.by = by && (strcmp(by, "terminal") == 0 || strcmp(by, "attach") == 0) ? "person"
										       : by,
	};

	fail(approver, call, refusal(call));
	approver->counters.denied[judged->op]++;
	event.verdict = "deny";
	event.by = by;
	event.error = refusal(call);
	sb_approver_record(approver, &event);
	if (approver->summary)
		sb_summary_add(approver->summary, &refused);
}

/* What was done because a person said yes, now or earlier. */
static void note_performed(struct sb_approver *approver, struct sb_pending *pending, int error)
{
	struct sb_event event = event_of(pending, SB_EVENT_PERFORM);

	approver->counters.approved[pending->judgement.strictest->op]++;
	if (!error)
		for (size_t i = 0; i < pending->judgement.count; i++) {
			struct sb_wish wish = wish_of(pending, &pending->judgement.all[i]);

			if (wish.op == SB_CREATE)
				sb_grants_made(approver->grants, &wish);
		}
	event.verdict = "allow";
	event.by = pending->by;
	event.error = error;
	sb_approver_record(approver, &event);
}

/*
 * Try it, and take the call over: it is done, or waits at a FIFO.  by: who allowed it; NULL: a
 * rule, which is not recorded.
 */
static void carry_out(struct sb_approver *approver, struct sb_pending *pending, const char *by)
{
	bool again;
	int error;

	pending->by = by;
	error = perform(approver, pending, &again);
	if (again && approver->waiting_count < MAX_PENDING) {
		pending->next = approver->waiting;
		approver->waiting = pending;
		approver->waiting_count++;
		return;
	}
	if (again)
		fail(approver, &pending->request->call, error);
	if (by)
		note_performed(approver, pending, error);
	pending_free(pending);
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
	fail(approver, call, SB_RESTART);
	return true;
}

/* Look whether the FIFOs have readers by now. */
static void try_waiting(struct sb_approver *approver)
{
	struct sb_pending **link = &approver->waiting;

	while (*link) {
		struct sb_pending *pending = *link;
		bool again;
		int error = perform(approver, pending, &again);

		if (again && !is_interrupted(approver, pending)) {
			link = &pending->next;
			continue;
		}
		*link = pending->next;
		approver->waiting_count--;
		if (!again && pending->by)
			note_performed(approver, pending, error);
		pending_free(pending);
	}
}

/* --- asking -------------------------------------------------------------------------------- */

/*
 * A program that the command can have written itself is shown with its whole path: "git" may be
 * anything.
 */
static const char *program_shown(const struct sb_approver *approver, const char *program)
{
	const char *name = strrchr(program, '/');

	if (!name || !name[1])
		return "a program";
	return program[0] == '/' &&
			       sb_decide(approver->policy, SB_MODIFY, program).verdict == SB_ALLOW
		       ? program
		       : name + 1;
}

/*
 * Directory answers are for all that is asked, or not offered: a rename from one directory to
 * another would open both, and the question names one.
 */
static bool may_open_directory(const struct sb_approver *approver, const struct sb_pending *pending,
			       const char *directory)
{
	if (pending->request->call.act == SB_ACT_CONNECT)
		return false;
	for (size_t i = 0; i < pending->judgement.count; i++) {
		struct sb_wish wish = wish_of(pending, &pending->judgement.all[i]);

		if (wish.decision.verdict != SB_ALLOW &&
		    (!sb_grants_may_open_directory(approver->grants, &wish) ||
		     !sb_path_within(directory, wish.path)))
			return false;
	}
	return true;
}

/* What the guard found there, after what else there is to say. */
static void describe_guarded(const struct sb_pending *pending, char *note, size_t size)
{
	size_t length = strlen(note);

	for (size_t i = 0; i < pending->judgement.count; i++) {
		const struct sb_guard_answer *guard = &pending->judgement.all[i].guard;

		if (guard->verdict == SB_GUARD_PLAIN || !guard->detail[0] || length >= size)
			continue;
		length += (size_t)snprintf(note + length, size - length, "%s%s", length ? "; " : "",
					   guard->detail);
	}
}

/* Put the question; false: nobody can be asked after all. */
static bool put_question(struct sb_approver *approver, struct sb_pending *pending)
{
	const struct sb_judged *judged = pending->judgement.strictest;
	struct sb_wish wish = wish_of(pending, judged);
	const struct sb_wire_request *request = pending->request;
	char directory[PATH_MAX], subject[NAME_MAX + 1], note[PATH_MAX + 64];
	const char *why = NULL;
	struct sb_question question = {
		.id = pending->question,
		.op = judged->op,
		.verb = sb_wording_verb(&pending->request->call, pending->judgement.strictest->op),
		.path = pending->file.path,
		.target = is_two(&request->call) ? pending->target.path : NULL,
		.program = program_shown(approver, pending->program),
		.process = request->process,
		.rule = origin(&judged->decision),
	};
	struct sb_event event = event_of(pending, SB_EVENT_ASK);

	memcpy(directory, wish.path, sizeof directory);
	*(strrchr(directory, '/') == directory ? directory + 1 : strrchr(directory, '/')) = '\0';
	if (may_open_directory(approver, pending, directory))
		question.directory = directory;
	sb_grants_subject(&wish, subject, &why);
	sb_wording_note(&request->call, &pending->target, note, sizeof note);
	describe_guarded(pending, note, sizeof note);
	if (note[0])
		question.note = note;
	if (shows_bytes(pending)) {
		question.content = pending->source.bytes.data;
		question.content_length = pending->source.bytes.length < SHOWN_BYTES
						  ? pending->source.bytes.length
						  : SHOWN_BYTES;
	}
	if (request->call.act == SB_ACT_CONNECT) {
		question.note =
			sb_socket_in_words(wish.path, approver->sockets, approver->socket_count);
	} else if (why) {
		snprintf(note, sizeof note, "%s of '%s', which a yes covers too", why, subject);
		question.note = note;
	}
	if (!approver->asking.ask(approver->asking.context, &question))
		return false;
	approver->counters.asked[judged->op]++;
	sb_approver_record(approver, &event);
	return true;
}

static void keep(struct sb_approver *approver, struct sb_pending *pending)
{
	pending->next = approver->pending;
	approver->pending = pending;
	approver->pending_count++;
}

/* Ask, join an open question, or refuse. */
static void ask(struct sb_approver *approver, struct sb_pending *pending)
{
	struct sb_wish first = wish_of(pending, &pending->judgement.all[0]), second;
	bool two = pending->judgement.count > 1;
	unsigned long open = 0;
	struct sb_flood_key key;
	char detail[PATH_MAX + 128]; /* what is shown beside the paths */
	size_t length;
	const char *line = NULL;

	if (approver->pending_count >= MAX_PENDING) {
		deny(approver, pending, "flood");
		pending_free(pending);
		return;
	}
	if (!approver->asking.can_ask(approver->asking.context)) {
		deny(approver, pending, "nobody");
		pending_free(pending);
		return;
	}
	if (two)
		second = wish_of(pending, &pending->judgement.all[1]);
	pending->question = approver->last_question + 1;
	length = (size_t)snprintf(
		detail, sizeof detail, "%s ",
		sb_wording_verb(&pending->request->call, pending->judgement.strictest->op));
	sb_wording_note(&pending->request->call, &pending->target, detail + length,
			sizeof detail - length);
	if (shows_bytes(pending)) {
		length = strlen(detail);
		if (length + SB_SHA256_HEX < sizeof detail)
			sb_sha256_hex(pending->source.bytes.data, pending->source.bytes.length,
				      detail + length);
	}
	if (sb_flood_key(&first, two ? &second : NULL, detail, strlen(detail), &key, NULL) !=
	    SB_OK) {
		deny(approver, pending, NULL);
		pending_free(pending);
		return;
	}
	if (approver->timeout_ms)
		pending->deadline_ms = now_ms() + (uint64_t)approver->timeout_ms;
	switch (sb_flood_ask(approver->flood, &key, pending->question, pending->program, now_ms(),
			     &open, &line)) {
	case SB_FLOOD_JOIN:
		pending->question = open;
		keep(approver, pending);
		return;
	case SB_FLOOD_DENY:
		if (line && approver->asking.notice)
			approver->asking.notice(approver->asking.context, line);
		deny(approver, pending, "flood");
		pending_free(pending);
		return;
	case SB_FLOOD_ASK:
		break;
	}
	approver->last_question++;
	if (put_question(approver, pending)) {
		keep(approver, pending);
		return;
	}
	sb_flood_answered(approver->flood, pending->question, SB_ANSWER_NONE);
	deny(approver, pending, "nobody");
	pending_free(pending);
}

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
		struct sb_wish wish = wish_of(pending, &pending->judgement.all[i]);
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

/* "Always": into the configuration, and said so. */
static void write_always(struct sb_approver *approver, const struct sb_wish *wish)
{
	SB_AUTO_FREE char *file = NULL;
	SB_AUTO_FREE char *rule = NULL;
	char line[2 * PATH_MAX];
	struct sb_error err;

	if (sb_always_write(approver->home, approver->policy, approver->grants, wish, &file, &rule,
			    &err) == SB_OK)
		snprintf(line, sizeof line, "added '%s' to %s", rule, file);
	else
		snprintf(line, sizeof line, "%s; allowed for this session only", err.message);
	if (approver->asking.notice)
		approver->asking.notice(approver->asking.context, line);
}

static void remember(struct sb_approver *approver, const struct sb_pending *pending,
		     enum sb_answer answer, bool first)
{
	struct sb_event event = event_of(pending, SB_EVENT_GRANT);

	for (size_t i = 0; i < pending->judgement.count; i++) {
		struct sb_wish wish = wish_of(pending, &pending->judgement.all[i]);

		if (wish.decision.verdict == SB_ALLOW)
			continue;
		if (first && answer == SB_ANSWER_ALWAYS)
			write_always(approver, &wish);
		if (sb_grants_remember(approver->grants, &wish, answer, NULL) == SB_OK &&
		    approver->session)
			sb_session_keep(approver->session, &wish, answer, NULL);
	}
	if (!first || answer == SB_ANSWER_DENY)
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

/* What an answer has settled need not be asked any more: ten files of one directory, say. */
static void answer_others(struct sb_approver *approver)
{
	struct sb_pending **link = &approver->pending;

	while (*link) {
		struct sb_pending *pending = *link;
		unsigned long question = pending->question;
		enum sb_answer answer = find_answer(approver, pending);

		if (answer == SB_ANSWER_NONE) {
			link = &pending->next;
			continue;
		}
		*link = pending->next;
		approver->pending_count--;
		if (answer == SB_ANSWER_DENY) {
			deny(approver, pending, "grant");
			pending_free(pending);
		} else {
			carry_out(approver, pending, "grant");
		}
		if (!waits_for(approver, question)) {
			approver->asking.withdraw(approver->asking.context, question);
			sb_flood_answered(approver->flood, question, SB_ANSWER_NONE);
		}
	}
}

void sb_approver_answer(struct sb_approver *approver, unsigned long question, enum sb_answer answer,
			const char *by)
{
	struct sb_pending **link = &approver->pending;
	bool first = true;

	while (*link) {
		struct sb_pending *pending = *link;
		struct sb_event event;

		if (pending->question != question) {
			link = &pending->next;
			continue;
		}
		*link = pending->next;
		approver->pending_count--;
		if (first) {
			event = event_of(pending, SB_EVENT_ANSWER);
			event.answer = sb_answer_name(answer);
			event.by = by;
			sb_approver_record(approver, &event);
		}
		remember(approver, pending, answer, first);
		first = false;
		if (answer == SB_ANSWER_DENY) {
			deny(approver, pending, by);
			pending_free(pending);
		} else {
			carry_out(approver, pending, by);
		}
	}
	sb_flood_answered(approver->flood, question, answer);
	answer_others(approver);
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
		deny(approver, pending, "nobody");
		pending_free(pending);
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

	if (status == 0 && is_two(call))
		status = sb_reopen(&pending->request->target, &pending->target);
	/* theirs have served: many may wait at a time, and descriptors are few */
	sb_spot_done(&pending->request->file);
	sb_spot_done(&pending->request->target);
	if (status == 0)
		return true;
	fail(approver, call, hidden ? call->target_error : refusal(call));
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
		fail(approver, &pending->request->call, EACCES);
	else
		perform(approver, pending, &again);
}

/* Does the judgement, with denied services to be asked about, end in a plain no? */
static bool is_denied(const struct sb_pending *pending)
{
	for (size_t i = 0; i < pending->judgement.count; i++)
		if (wish_of(pending, &pending->judgement.all[i]).decision.verdict == SB_DENY)
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

/*
 * The bytes that would land on a guarded name, read here and looked at here.  False: answered
 * already.
 */
static bool look_at_bytes(struct sb_approver *approver, struct sb_pending *pending)
{
	const struct sb_call *call = &pending->request->call;
	struct sb_source *source = &pending->source;
	int status;

	if (call->act == SB_ACT_CLOSE) {
		status = sb_bytes_read(pending->request->socket, &source->bytes);
		/* what cannot be read is compared with nothing */
		if (status == 0)
			sb_bytes_read_named(pending->file.directory, pending->file.name,
					    &source->old, NULL);
	} else {
		status = sb_source_read(call, &pending->file, &pending->target, source);
	}
	if (status == -EALREADY)
		sb_sys_notify_return(approver->listener, call->id, 0);
	else if (status < 0)
		fail(approver, call, -status);
	else if (pending->judgement.lands)
		sb_judge_bytes(approver->grounds, &pending->judgement, sb_bytes_seen(&source->old),
			       sb_bytes_seen(&source->bytes));
	return status == 0;
}

/* Does a guarded file have to be seen by a person, and there is none?  Then not even opened. */
static bool is_for_nobody(const struct sb_approver *approver, const struct sb_pending *pending)
{
	const struct sb_call *call = &pending->request->call;

	return is_orphan(call) ||
	       (call->act == SB_ACT_OPEN && !approver->asking.can_ask(approver->asking.context));
}

static void open_terminal(const struct sb_approver *approver, const struct sb_pending *pending)
{
	const struct sb_call *call = &pending->request->call;
	struct sb_outcome outcome = sb_open_terminal(approver, call, &pending->file);

	sb_deliver(approver->listener, call, &pending->file, &outcome);
}

void sb_approve(struct sb_approver *approver, struct sb_wire_request *request)
{
	const struct sb_call *call = &request->call;
	struct sb_pending *pending = calloc(1, sizeof *pending);
	int error;

	if (!pending) {
		fail(approver, call, refusal(call));
		sb_wire_request_done(request);
		free(request);
		return;
	}
	pending->request = request;
	pending->file = pending->target = SB_SPOT_EMPTY;
	if (!find_spots(approver, pending)) {
		pending_free(pending);
		return;
	}
	if (call->act == SB_ACT_OPEN && sb_is_terminal(&pending->file)) {
		open_terminal(approver, pending);
		pending_free(pending);
		return;
	}
	sb_judge(approver->grounds, call, &pending->file, is_two(call) ? &pending->target : NULL,
		 &pending->judgement);
	if (is_hidden(pending))
		doubt_hidden(&pending->judgement);
	if ((call->act == SB_ACT_CLOSE || (pending->judgement.lands && call->act != SB_ACT_OPEN)) &&
	    !look_at_bytes(approver, pending)) {
		pending_free(pending);
		return;
	}
	if (pending->judgement.strictest->decision.verdict == SB_ALLOW) {
		carry_out(approver, pending, NULL);
		return;
	}
	pending->started = sb_process_start(approver->proc, request->process);
	sb_process_program(approver->proc, request->process, pending->program,
			   sizeof pending->program);
	if (call->act == SB_ACT_ACCESS) {
		answer_access(approver, pending);
		pending_free(pending);
		return;
	}
	error = sb_user_may(call, &pending->file, &pending->target);
	if (!error)
		error = sb_perform_postcheck(call, &pending->file);
	if (error) {
		fail(approver, call, error);
		pending_free(pending);
		return;
	}
	approver->counters.seen[pending->judgement.strictest->op]++;
	if (is_denied(pending)) {
		deny(approver, pending, NULL);
		pending_free(pending);
		return;
	}
	switch (find_answer(approver, pending)) {
	case SB_ANSWER_DENY:
		deny(approver, pending, "grant");
		pending_free(pending);
		break;
	case SB_ANSWER_NONE:
		if (pending->judgement.lands && is_for_nobody(approver, pending)) {
			deny(approver, pending, "nobody");
			pending_free(pending);
		} else if (pending->judgement.lands && call->act == SB_ACT_OPEN) {
			carry_out(approver, pending, NULL); /* the question comes with the bytes */
		} else {
			ask(approver, pending);
		}
		break;
	default:
		carry_out(approver, pending, "grant");
		break;
	}
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
	uint64_t now = now_ms();
	unsigned long late = 0;

	try_waiting(approver);
	while (*link) {
		struct sb_pending *pending = *link;
		unsigned long question = pending->question;

		if (sb_sys_notify_alive(approver->listener, pending->request->call.id)) {
			if (pending->deadline_ms && pending->deadline_ms <= now)
				late = question;
			link = &pending->next;
			continue;
		}
		*link = pending->next;
		approver->pending_count--;
		sb_grants_exited(approver->grants, pending->request->process);
		pending_free(pending);
		if (!waits_for(approver, question)) {
			approver->asking.withdraw(approver->asking.context, question);
			sb_flood_answered(approver->flood, question, SB_ANSWER_NONE);
		}
	}
	if (late) {
		approver->asking.withdraw(approver->asking.context, late);
		sb_approver_answer(approver, late, SB_ANSWER_DENY, "timeout");
	}
}

static void refuse_all(const struct sb_approver *approver, struct sb_pending *pending)
{
	while (pending) {
		struct sb_pending *next = pending->next;

		fail(approver, &pending->request->call, refusal(&pending->request->call));
		pending_free(pending);
		pending = next;
	}
}

void sb_approver_done(struct sb_approver *approver)
{
	refuse_all(approver, approver->pending);
	refuse_all(approver, approver->waiting);
	approver->pending = approver->waiting = NULL;
	sb_grants_free(approver->grants);
	sb_flood_free(approver->flood);
}
