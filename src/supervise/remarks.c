#include "supervise/remarks.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "consent/names.h"
#include "supervise/acts.h"
#include "supervise/wording.h"

__attribute__((format(printf, 2, 3))) static void add(struct sb_remarks *notes, const char *format,
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
static void add_name(struct sb_remarks *notes, const char *format, const char *name)
{
	SB_AUTO_BUF struct sb_buf shown = SB_BUF(4 * PATH_MAX);
	const char *gap = strstr(format, "%s");

	sb_escape_name(&shown, name, strlen(name));
	notes->broken |= sb_buf_failed(&shown);
	add(notes, "%.*s%s%s", (int)(gap - format), format, shown.data, gap + 2);
}

void sb_remarks_done(struct sb_remarks *notes)
{
	for (size_t i = 0; i < notes->count; i++)
		free(notes->all[i]);
	*notes = (struct sb_remarks){0};
}

/* What the call itself says: wording.h. */
static void add_words(const struct sb_pending *pending, struct sb_remarks *notes)
{
	char text[4 * PATH_MAX + 64]; /* a name, escaped */

	sb_wording_note(&pending->request->call, text, sizeof text);
	if (text[0])
		add(notes, "%s", text);
}

/* How much it is, and what nobody can promise about it. */
static void add_directory(const struct sb_seal *seal, struct sb_remarks *notes)
{
	char lines[SB_SEAL_NOTES][SB_SEAL_NOTE], words[SB_SEAL_WORDS];
	size_t count = seal ? sb_seal_notes(seal, lines) : 0;

	add(notes, SB_SEAL_SAYS, "comes along",
	    seal ? sb_seal_words(seal, words) : "nobody has looked");
	for (size_t i = 0; i < count; i++)
		add(notes, "%s", lines[i]);
}

/* Nobody sees from two paths what goes from one to the other. */
static void add_moved(const struct sb_pending *pending, struct sb_remarks *notes)
{
	static const char *const moved[] = {
		[SB_THING_NODE] = "it is no file, but a FIFO, a socket or a device",
	};
	const struct sb_looked *looked = &pending->looked[1]; /* what arrives at the target */

	if (pending->request->call.act != SB_ACT_RENAME)
		return;
	if (looked->leads_to)
		add_name(notes, "it is a link, which leads to '%s'", looked->leads_to);
	else if (looked->thing == SB_THING_DIRECTORY)
		add_directory(sb_sealed_moved(&pending->directories), notes);
	else if (looked->thing < sizeof moved / sizeof moved[0] && moved[looked->thing])
		add(notes, "%s", moved[looked->thing]);
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
		      struct sb_remarks *notes)
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
static void add_rules(const struct sb_pending *pending, struct sb_remarks *notes)
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
static void add_subjects(const struct sb_pending *pending, struct sb_remarks *notes)
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

void sb_remarks_of(const struct sb_approver *approver, const struct sb_pending *pending,
		   struct sb_remarks *notes)
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
