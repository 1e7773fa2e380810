/*
 * ask.c - put the question about a call that waits, join one that is open, or refuse.
 */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/escape.h"
#include "consent/excerpt.h"
#include "consent/names.h"
#include "path/path.h"
#include "supervise/acts.h"
#include "supervise/pending.h"
#include "supervise/wording.h"

/* --- what a question says beside the paths ------------------------------------------------------- */

/*
 * Two calls whose notes differ are two questions, or a harmless one on the screen would be the
 * answer to another.  Nothing is ever left out: a list that is not whole is no question.
 */
struct remarks {
	char *all[SB_QUESTION_NOTES]; /* not escaped */
	size_t count;
	bool broken; /* no memory, or more than a question has room for */
};

__attribute__((format(printf, 2, 3))) static void add(struct remarks *notes, const char *format,
						      ...)
{
	va_list arguments;
	char *text = NULL;

	va_start(arguments, format);
	if (notes->count == SB_QUESTION_NOTES || vasprintf(&text, format, arguments) < 0)
		notes->broken = true;
	else
		notes->all[notes->count++] = text;
	va_end(arguments);
}

/* About a name, which stands in it as %s; two that differ look different. */
static void add_name(struct remarks *notes, const char *format, const char *name)
{
	SB_AUTO_BUF struct sb_buf shown = SB_BUF(4 * PATH_MAX);
	const char *gap = strstr(format, "%s");

	sb_escape_name(&shown, name, strlen(name));
	notes->broken |= sb_buf_failed(&shown);
	add(notes, "%.*s%s%s", (int)(gap - format), format, shown.data, gap + 2);
}

static void remarks_done(struct remarks *notes)
{
	for (size_t i = 0; i < notes->count; i++)
		free(notes->all[i]);
	*notes = (struct remarks){0};
}

/* What the call itself says: wording.h. */
static void add_words(const struct sb_pending *pending, struct remarks *notes)
{
	char text[4 * PATH_MAX + 64]; /* a name, escaped */

	sb_wording_note(&pending->request->call, text, sizeof text);
	if (text[0])
		add(notes, "%s", text);
}

static void add_links(const struct sb_seal *seal, struct remarks *notes)
{
	char lines[SB_SEAL_LINKS + 1][SB_SEAL_LINK + sizeof SB_SEAL_LINK_SAYS];
	size_t count = seal ? sb_seal_links(seal, lines) : 0;

	for (size_t i = 0; i < count; i++)
		add(notes, "%s", lines[i]);
}

/* How much it is, and what nobody can promise about it. */
static void add_directory(const struct sb_seal *seal, struct remarks *notes)
{
	char lines[SB_SEAL_NOTES][SB_SEAL_NOTE], words[SB_SEAL_WORDS];
	size_t count = seal ? sb_seal_notes(seal, lines) : 0;

	add_links(seal, notes);
	add(notes, SB_SEAL_SAYS, "comes along",
	    seal ? sb_seal_words(seal, words) : "nobody has looked");
	for (size_t i = 0; i < count; i++)
		add(notes, "%s", lines[i]);
}

/* Nobody sees from two paths what goes from one to the other. */
static void add_moved(const struct sb_pending *pending, struct remarks *notes)
{
	const struct sb_looked *looked = &pending->looked[1]; /* what arrives at the target */

	if (pending->request->call.act != SB_ACT_RENAME)
		return;
	if (looked->leads_to)
		add_name(notes, "it is a link, which leads to '%s'", looked->leads_to);
	else if (looked->thing == SB_THING_DIRECTORY)
		add_directory(sb_sealed_moved(&pending->directories), notes);
	else if (looked->thing == SB_THING_NODE)
		add(notes, "it is no file, but a FIFO, a socket or a device");
	if (pending->exchanges && pending->directories.at[1].moves)
		add_links(&pending->directories.at[1].moved, notes);
	if (pending->changes)
		add(notes, "it has changed %ssince you said yes",
		    pending->changes > 1 ? "again " : "");
	if (pending->exchanges)
		add(notes, "the two change places");
	else if (pending->replaces)
		add(notes, "%s that has that name now is replaced", pending->replaces);
}

/* Which of the two paths is meant; they stand above, whole. */
static const char *which(const struct sb_pending *pending, const struct sb_judged *judged)
{
	if (!sb_call_is_two(&pending->request->call))
		return "";
	return judged->site == &pending->judgement.sites[1] ? "the new name: " : "the old name: ";
}

/* Is the rule that the question shows the guard's own, about this name? */
static bool is_shown(const struct sb_pending *pending, const struct sb_judged *judged)
{
	const struct sb_rule *rule = judged->decision.rule;

	return judged == pending->judgement.strictest && rule && rule->tier == SB_TIER_BUILTIN &&
	       strcmp(rule->pattern, judged->guard.row->pattern) == 0;
}

/* Where all of the content asks, the guard's words are its beginning, which the question shows anyway. */
static bool says_content(const struct sb_pending *pending, const struct sb_judged *judged)
{
	return judged == pending->judgement.lands && judged->guard.row->kind == SB_GUARD_SAME &&
	       sb_pending_shows_bytes(pending);
}

static void add_guard(const struct sb_pending *pending, const struct sb_judged *judged,
		      struct remarks *notes)
{
	const struct sb_guard_answer *guard = &judged->guard;

	if (!is_shown(pending, judged))
		add(notes, "%s%s obeys it later, outside: %s", which(pending, judged),
		    guard->row->who, guard->row->why);
	for (const char *line = says_content(pending, judged) ? "" : guard->detail; *line;
	     line += *line == '\n') {
		size_t length = strcspn(line, "\n");

		add(notes, "%.*s", (int)length, line);
		line += length;
	}
	if (judged == pending->judgement.lands && sb_pending_asks_early(pending))
		add(notes, "a yes is to whatever it writes there");
}

/* What stops it beside the rule that the question shows. */
static void add_rules(const struct sb_pending *pending, struct remarks *notes)
{
	const struct sb_judged *shown = pending->judgement.strictest;

	for (size_t i = 0; i < pending->judgement.count; i++) {
		const struct sb_judged *judged = &pending->judgement.all[i];
		const struct sb_rule *rule = judged->decision.rule;

		if (judged->guard.verdict != SB_GUARD_PLAIN)
			add_guard(pending, judged, notes);
		else if (judged != shown && judged->decision.verdict != SB_ALLOW &&
			 rule != shown->decision.rule)
			add(notes, "%s%s", which(pending, judged),
			    rule ? rule->origin
				 : "it lies outside the project, and no rule allows it");
	}
}

/* A yes to a name of a save is one to the file that is saved. */
static void add_subjects(const struct sb_pending *pending, struct remarks *notes)
{
	for (size_t i = 0; i < pending->judgement.count; i++) {
		struct sb_wish wish = sb_pending_wish(pending, &pending->judgement.all[i]);
		char subject[NAME_MAX + 1];
		const char *why;

		if (wish.decision.verdict == SB_ALLOW)
			continue;
		sb_grants_subject(&wish, subject, &why);
		if (why && strcmp(subject, wish.name) != 0)
			add(notes, "%s of '%s', which a yes covers too", why, subject);
		else if (why)
			add(notes, "%s", why);
	}
}

/*
 * Of a call that was judged: where a link leads, what is moved and what is replaced; which other
 * rule stops it; who obeys a guarded name, and what was found there; what a yes covers besides.
 */
static void make_remarks(const struct sb_approver *approver, const struct sb_pending *pending,
			 struct remarks *notes)
{
	const struct sb_call *call = &pending->request->call;
	const char *service = call->act == SB_ACT_CONNECT
				      ? sb_socket_in_words(pending->file.path, approver->sockets,
							   approver->socket_count)
				      : NULL;

	add_words(pending, notes);
	add_moved(pending, notes);
	add_rules(pending, notes);
	add_subjects(pending, notes);
	if (service)
		add(notes, "%s", service);
}

/* --- the question ------------------------------------------------------------------------------- */

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
			       const char *directory, unsigned *out_opens)
{
	if (pending->request->call.act == SB_ACT_CONNECT)
		return false;
	for (size_t i = 0; i < pending->judgement.count; i++) {
		struct sb_wish wish = sb_pending_wish(pending, &pending->judgement.all[i]);

		if (wish.decision.verdict != SB_ALLOW && wish.apart)
			*out_opens |= sb_opens_of(wish.metadata ? SB_MODIFY : wish.op);
		if (wish.decision.verdict != SB_ALLOW &&
		    (!sb_grants_may_open_directory(approver->grants, &wish) ||
		     !sb_path_within(directory, wish.path)))
			return false;
	}
	return true;
}

/* What would land, as far as it is shown. */
static void show_bytes(const struct sb_pending *pending, struct sb_buf *lines,
		       struct sb_question *question)
{
	const struct sb_bytes *bytes = &pending->source.bytes, *old = &pending->source.old;

	if (!sb_pending_shows_bytes(pending))
		return;
	sb_excerpt_shown(old->data, old->length, bytes->data, bytes->length, lines);
	question->content = lines->data;
	question->content_length = lines->length;
}

static enum sb_about about(const struct sb_pending *pending)
{
	if (pending->request->call.act == SB_ACT_CONNECT)
		return SB_ABOUT_SERVICE;
	for (size_t i = 0; i < pending->judgement.count; i++)
		if (pending->judgement.all[i].guard.verdict != SB_GUARD_PLAIN)
			return SB_ABOUT_RUN_LATER;
	return SB_ABOUT_FILE;
}

/* A yes that was given before is for a thing of a kind: its bytes, its making, its removal. */
static enum sb_thing thing(const struct sb_pending *pending)
{
	const struct sb_wish wish = sb_pending_wish(pending, pending->judgement.strictest);

	/* moved from where may be deleted to where may be written, it is neither more than these two */
	return wish.metadata || wish.sets_id ||
			       (sb_call_is_two(&pending->request->call) &&
				!(wish.apart && pending->request->call.act == SB_ACT_RENAME))
		       ? SB_THING_NAME
		       : wish.thing;
}

/* Put the question; false: nobody can be asked after all. */
static bool put_question(struct sb_approver *approver, struct sb_pending *pending,
			 const struct remarks *notes)
{
	const struct sb_judged *judged = pending->judgement.strictest;
	const struct sb_wire_request *request = pending->request;
	SB_AUTO_BUF struct sb_buf lines = SB_BUF(2 * SB_EXCERPT_SHOWN);
	char directory[PATH_MAX], title[2 * SB_INNER_WORKERS];
	struct sb_question question = {
		.id = pending->question,
		.op = judged->op,
		.verb = sb_wording_verb(&request->call, judged->op),
		.path = pending->file.path,
		.target = sb_call_is_two(&request->call) ? pending->target.path : NULL,
		.program = program_shown(approver, pending->program),
		.process = request->process,
		.rule = sb_pending_origin(&judged->decision),
		.project = pending->worker ? title : approver->project,
		.worker = pending->of_worker,
		.lasting = pending->of_worker && about(pending) == SB_ABOUT_FILE,
		.about = about(pending),
		.thing = thing(pending),
	};
	struct sb_event event = sb_pending_event(pending, SB_EVENT_ASK);

	if (pending->worker)
		snprintf(title, sizeof title, "worker %s", pending->worker);
	memcpy(directory, judged->site->path, sizeof directory);
	*(strrchr(directory, '/') == directory ? directory + 1 : strrchr(directory, '/')) = '\0';
	pending->offers_directory =
		may_open_directory(approver, pending, directory, &question.opens);
	if (pending->offers_directory)
		question.directory = directory;
	memcpy(question.notes, notes->all, sizeof question.notes);
	show_bytes(pending, &lines, &question);
	if (!approver->asking.ask(approver->asking.context, &question))
		return false;
	approver->counters.asked[judged->op]++;
	sb_approver_record(approver, &event);
	return true;
}

/* What makes this question another one than the next about the same names.  False: no memory. */
static bool make_key(const struct sb_pending *pending, const struct remarks *notes,
		     struct sb_flood_key *out)
{
	struct sb_wish first = sb_pending_wish(pending, &pending->judgement.all[0]), second;
	SB_AUTO_BUF struct sb_buf shown = SB_BUF(256 * 1024); /* a question's notes, whole */
	bool two = pending->judgement.count > 1;
	char hash[SB_SHA256_HEX];

	if (two)
		second = sb_pending_wish(pending, &pending->judgement.all[1]);
	sb_buf_puts(&shown,
		    sb_wording_verb(&pending->request->call, pending->judgement.strictest->op));
	for (size_t i = 0; i < notes->count; i++)
		sb_buf_append(&shown, notes->all[i], strlen(notes->all[i]) + 1);
	if (sb_pending_shows_bytes(pending)) {
		sb_sha256_hex(pending->source.bytes.data, pending->source.bytes.length, hash);
		sb_buf_puts(&shown, hash);
	}
	return !notes->broken && !sb_buf_failed(&shown) &&
	       sb_flood_key(&first, two ? &second : NULL, shown.data, shown.length, out, NULL) ==
		       SB_OK;
}

void sb_pending_ask(struct sb_approver *approver, struct sb_pending *pending)
{
	struct remarks notes = {0};
	struct sb_flood_answer flood;
	struct sb_flood_key key;
	bool put;

	if (approver->pending_count >= SB_MAX_PENDING) {
		sb_pending_deny(approver, pending, "flood");
		return;
	}
	if (!approver->asking.can_ask(approver->asking.context)) {
		sb_pending_deny(approver, pending, "nobody");
		return;
	}
	make_remarks(approver, pending, &notes);
	pending->question = approver->last_question + 1;
	pending->shown = false;
	if (!make_key(pending, &notes, &key)) {
		remarks_done(&notes);
		sb_pending_deny(approver, pending, NULL);
		return;
	}
	if (approver->timeout_ms)
		pending->deadline_ms = sb_now_ms() + (uint64_t)approver->timeout_ms;
	flood = sb_flood_ask(approver->flood, &key, pending->question, pending->program,
			     sb_now_ms());
	switch (flood.verdict) {
	case SB_FLOOD_JOIN:
		remarks_done(&notes);
		pending->question = flood.question;
		sb_pending_keep(approver, pending);
		return;
	case SB_FLOOD_DENY:
		remarks_done(&notes);
		if (flood.line && approver->asking.notice)
			approver->asking.notice(approver->asking.context, flood.line);
		sb_pending_deny(approver, pending, "flood");
		return;
	case SB_FLOOD_ASK:
		break;
	}
	approver->last_question++;
	pending->shown = true;
	put = put_question(approver, pending, &notes);
	remarks_done(&notes);
	if (put) {
		sb_pending_keep(approver, pending);
		return;
	}
	sb_flood_answered(approver->flood, pending->question, SB_ANSWER_NONE);
	sb_pending_deny(approver, pending, "nobody");
}
