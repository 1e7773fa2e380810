/*
 * ask.c - put the question about a call that waits, join one that is open, or refuse.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "path/path.h"
#include "supervise/pending.h"
#include "supervise/wording.h"

#define SHOWN_BYTES 4096 /* more than fits on a screen */

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
		struct sb_wish wish = sb_pending_wish(pending, &pending->judgement.all[i]);

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
	struct sb_wish wish = sb_pending_wish(pending, judged);
	const struct sb_wire_request *request = pending->request;
	char directory[PATH_MAX], subject[NAME_MAX + 1], note[PATH_MAX + 64];
	const char *why = NULL;
	struct sb_question question = {
		.id = pending->question,
		.op = judged->op,
		.verb = sb_wording_verb(&pending->request->call, pending->judgement.strictest->op),
		.path = pending->file.path,
		.target = sb_call_is_two(&request->call) ? pending->target.path : NULL,
		.program = program_shown(approver, pending->program),
		.process = request->process,
		.rule = sb_pending_origin(&judged->decision),
	};
	struct sb_event event = sb_pending_event(pending, SB_EVENT_ASK);

	memcpy(directory, wish.path, sizeof directory);
	*(strrchr(directory, '/') == directory ? directory + 1 : strrchr(directory, '/')) = '\0';
	if (may_open_directory(approver, pending, directory))
		question.directory = directory;
	sb_grants_subject(&wish, subject, &why);
	sb_wording_note(&request->call, &pending->target, note, sizeof note);
	describe_guarded(pending, note, sizeof note);
	if (note[0])
		question.note = note;
	if (sb_pending_shows_bytes(pending)) {
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
void sb_pending_ask(struct sb_approver *approver, struct sb_pending *pending)
{
	struct sb_wish first = sb_pending_wish(pending, &pending->judgement.all[0]), second;
	bool two = pending->judgement.count > 1;
	unsigned long open = 0;
	struct sb_flood_key key;
	char detail[PATH_MAX + 128]; /* what is shown beside the paths */
	size_t length;
	const char *line = NULL;

	if (approver->pending_count >= SB_MAX_PENDING) {
		sb_pending_deny(approver, pending, "flood");
		sb_pending_free(pending);
		return;
	}
	if (!approver->asking.can_ask(approver->asking.context)) {
		sb_pending_deny(approver, pending, "nobody");
		sb_pending_free(pending);
		return;
	}
	if (two)
		second = sb_pending_wish(pending, &pending->judgement.all[1]);
	pending->question = approver->last_question + 1;
	length = (size_t)snprintf(
		detail, sizeof detail, "%s ",
		sb_wording_verb(&pending->request->call, pending->judgement.strictest->op));
	sb_wording_note(&pending->request->call, &pending->target, detail + length,
			sizeof detail - length);
	if (sb_pending_shows_bytes(pending)) {
		length = strlen(detail);
		if (length + SB_SHA256_HEX < sizeof detail)
			sb_sha256_hex(pending->source.bytes.data, pending->source.bytes.length,
				      detail + length);
	}
	if (sb_flood_key(&first, two ? &second : NULL, detail, strlen(detail), &key, NULL) !=
	    SB_OK) {
		sb_pending_deny(approver, pending, NULL);
		sb_pending_free(pending);
		return;
	}
	if (approver->timeout_ms)
		pending->deadline_ms = sb_pending_now_ms() + (uint64_t)approver->timeout_ms;
	switch (sb_flood_ask(approver->flood, &key, pending->question, pending->program,
			     sb_pending_now_ms(), &open, &line)) {
	case SB_FLOOD_JOIN:
		pending->question = open;
		keep(approver, pending);
		return;
	case SB_FLOOD_DENY:
		if (line && approver->asking.notice)
			approver->asking.notice(approver->asking.context, line);
		sb_pending_deny(approver, pending, "flood");
		sb_pending_free(pending);
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
	sb_pending_deny(approver, pending, "nobody");
	sb_pending_free(pending);
}
