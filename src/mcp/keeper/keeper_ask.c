/* keeper_ask.c - questions: who is asked, what an answer covers, what was answered before. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "consent/always.h"
#include "judge/judge.h"
#include "mcp/keeper/keeper_impl.h"
#include "mcp/wire/rpc.h"
#include "path/path.h"
#include "sys/process.h"

bool sb_keeper_guard(const struct keeper *keeper, struct sb_guard **out)
{
	const struct sb_setup *setup = keeper->options->setup;
	const struct sb_guard_home home = {setup->home.home,
					   (const char *const *)setup->home.git_settings,
					   {setup->home.xdg_config, setup->home.xdg_data}};

	return sb_grounds_guard(setup->policy, (const char *const *)setup->projects, &home, out,
				NULL) == SB_OK;
}

/* --- answers that last (grants.h) ------------------------------------------------------------- */

/*
 * A path as grants know it: its directory pinned by a descriptor.  The tools' roots bound
 * reading too, so what the policy would allow may still be a question here.  asked: the path
 * that the policy is to decide about.
 */
static bool make_wish(const struct keeper *keeper, enum sb_op op, const char *asked,
		      const char *path, struct sb_wish *out)
{
	SB_AUTO_FREE char *parent = sb_path_parent(path);
	struct sb_decision decision = sb_decide(keeper->options->setup->policy, op, asked);
	int directory = parent ? sb_sys_open_path(parent) : -1;

	if (directory < 0)
		return false;
	if (decision.verdict == SB_ALLOW)
		decision = (struct sb_decision){.verdict = SB_ASK};
	*out = (struct sb_wish){.op = op,
				.path = path,
				.directory = directory,
				.name = strrchr(path, '/') + 1,
				.decision = decision,
				.process = getpid()};
	return true;
}

static bool holds(const char *directory, const char *path)
{
	SB_AUTO_FREE char *parent = sb_path_parent(path);

	return parent && strcmp(parent, directory) == 0;
}

/*
 * SECURITY: an answer about a directory is one about the directory that was shown.
 *
 * Danger: grants open the directory that holds a path.  Whoever lists or searches a directory is
 * asked about that one, and would open the one above it; whoever moves a file is asked about
 * where it goes, and would open where it was.
 * Price: none.  Held by: tests/mcp/hostile.py
 *
 * Returns a name that directory holds: path, or directory itself as "DIRECTORY/.".
 */
static char *name_in(const char *directory, const char *path)
{
	return holds(directory, path) ? strdup(path) : sb_path_join(directory, ".");
}

/* And what the policy is to decide about then. */
static const char *asked_in(const char *directory, const char *path)
{
	return !directory || holds(directory, path) ? path : directory;
}

static enum sb_answer find(const struct keeper *keeper, enum sb_op op, const char *asked,
			   const char *path, bool guarded)
{
	struct sb_wish wish;
	enum sb_answer answer;
	size_t count;

	if (!make_wish(keeper, op, asked, path, &wish))
		return SB_ANSWER_NONE;
	if (guarded) /* which row it is does not matter: no answer for a place counts */
		wish.guard = sb_guard_rows(&count);
	answer = sb_grants_find(keeper->grants, &wish);
	close(wish.directory);
	return answer;
}

enum sb_answer sb_keeper_recall(const struct keeper *keeper, enum sb_op op, const char *path,
				bool guarded)
{
	SB_AUTO_FREE char *itself = sb_path_join(path, ".");
	enum sb_answer answer = find(keeper, op, path, path, guarded);

	/* who may read everything in a directory may list it */
	if (answer == SB_ANSWER_NONE && op == SB_READ && itself)
		answer = find(keeper, op, path, itself, guarded);
	return answer;
}

bool sb_keeper_may_open(const struct keeper *keeper, enum sb_op op, const char *path,
			const char *directory)
{
	SB_AUTO_FREE char *name = name_in(directory, path);
	struct sb_wish wish;
	bool may;

	if (!name || !make_wish(keeper, op, asked_in(directory, path), name, &wish))
		return false;
	may = sb_grants_may_open_directory(keeper->grants, &wish);
	close(wish.directory);
	return may;
}

/* What was asked about; where bytes get a name, they were shown for that one.  NULL: only the run knows. */
static const char *asked_about(const struct sb_question *shown)
{
	if (shown->target)
		return shown->content ? shown->target : NULL;
	return shown->path;
}

enum sb_answer sb_keeper_known(struct keeper *keeper, const struct sb_question *shown)
{
	struct keeper_subject subject = {.op = shown->op,
					 .guarded = shown->about == SB_ABOUT_RUN_LATER,
					 .path = asked_about(shown)};

	if (!subject.path || shown->about == SB_ABOUT_SERVICE)
		return SB_ANSWER_NONE;
	/* a yes before there were bytes is none to those of a command, which the question shows */
	if (subject.guarded)
		return sb_keeper_recall(keeper, shown->op, subject.path, true) == SB_ANSWER_DENY
			       ? SB_ANSWER_DENY
			       : SB_ANSWER_NONE;
	/* answers that last, the session's rules have told the run when it started */
	if (!sb_approvals_find(keeper->ahead, &subject, true))
		return SB_ANSWER_NONE;
	sb_approvals_remove(&keeper->ahead, subject.op, subject.path);
	return SB_ANSWER_ONCE;
}

void sb_keeper_remember(struct keeper *keeper, const struct sb_question *shown,
			enum sb_answer answer)
{
	const struct sb_setup *setup = keeper->options->setup;
	bool lasting = answer == SB_ANSWER_DIRECTORY || answer == SB_ANSWER_ALWAYS;
	const char *path = lasting ? shown->path : asked_about(shown);
	SB_AUTO_FREE char *name = lasting ? name_in(shown->directory, path)
				  : path  ? strdup(path)
					  : NULL;
	SB_AUTO_FREE char *file = NULL;
	SB_AUTO_FREE char *rule = NULL;
	struct sb_guard *guard = NULL;
	struct sb_wish wish;

	if (answer == SB_ANSWER_ONCE || !name ||
	    !make_wish(keeper, shown->op, asked_in(lasting ? shown->directory : NULL, path), name,
		       &wish))
		return;
	/* what is harmless lands there all the same */
	wish.shows_content = shown->about == SB_ABOUT_RUN_LATER;
	if (answer == SB_ANSWER_ALWAYS &&
	    (!sb_keeper_guard(keeper, &guard) ||
	     sb_always_write(&setup->home, setup->policy, guard, keeper->grants, &wish, &file,
			     &rule, NULL) != SB_OK))
		answer = SB_ANSWER_DIRECTORY; /* where it cannot be for good, for the session */
	sb_guard_free(guard);
	/* commands that are started later know it by the session's name */
	if (sb_grants_remember(keeper->grants, &wish, answer, NULL) == SB_OK && keeper->session)
		sb_session_keep(keeper->session, &wish, answer, NULL);
	close(wish.directory);
}

/* --- answers for one call ------------------------------------------------------------------------ */

void sb_approvals_add(struct keeper_approval **list, const struct keeper_subject *subject, bool yes)
{
	struct keeper_approval *added = calloc(1, sizeof *added);

	if (!added)
		return; /* then it is asked again */
	*added = (struct keeper_approval){
		.next = *list, .subject = *subject, .yes = yes, .path = strdup(subject->path)};
	added->subject.path = added->path;
	if (!added->path)
		free(added);
	else
		*list = added;
}

/*
 * SECURITY: a yes is for the question that was read.
 *
 * Danger: one call asks twice about one path: that it lies outside, then that git would run what
 * is written there.  The first yes must not be the second.
 * Price: none where the first question says both, as sb_keeper_child() sees to.
 * Held by: tests/mcp/guarded.py
 */
const struct keeper_approval *sb_approvals_find(const struct keeper_approval *list,
						const struct keeper_subject *subject,
						bool any_bytes)
{
	for (; list; list = list->next)
		if (list->subject.op == subject->op && strcmp(list->path, subject->path) == 0 &&
		    list->subject.guarded >= subject->guarded &&
		    (any_bytes || strcmp(list->subject.bytes, subject->bytes) == 0))
			return list;
	return NULL;
}

void sb_approvals_remove(struct keeper_approval **list, enum sb_op op, const char *path)
{
	while (*list) {
		struct keeper_approval *at = *list;

		if (at->subject.op == op && strcmp(at->path, path) == 0) {
			*list = at->next;
			free(at->path);
			free(at);
		} else {
			list = &at->next;
		}
	}
}

void sb_approvals_free(struct keeper_approval *list)
{
	while (list) {
		struct keeper_approval *next = list->next;

		free(list->path);
		free(list);
		list = next;
	}
}

/* --- questions ------------------------------------------------------------------------------------- */

static char *copy(const char *text)
{
	return text ? strdup(text) : NULL;
}

static void free_question(struct keeper_question *question)
{
	struct sb_question *shown = &question->shown;

	free((char *)shown->verb);
	free((char *)shown->path);
	free((char *)shown->target);
	free((char *)shown->directory);
	free((char *)shown->program);
	free((char *)shown->rule);
	free((char *)shown->project);
	for (size_t i = 0; i < SB_QUESTION_NOTES; i++)
		free((char *)shown->notes[i]);
	free((char *)shown->content);
	free(question);
}

struct keeper_question *sb_keeper_question(struct keeper *keeper, const struct sb_question *shown)
{
	struct keeper_question *question = calloc(1, sizeof *question);
	struct sb_question *own;
	char *content = NULL;
	bool whole = true;

	if (!question)
		return NULL;
	own = &question->shown;
	*own = *shown;
	own->id = ++keeper->last_question;
	own->verb = copy(shown->verb);
	own->path = copy(shown->path);
	own->target = copy(shown->target);
	own->directory = copy(shown->directory);
	own->program = copy(shown->program);
	own->rule = copy(shown->rule);
	own->project = copy(shown->project);
	for (size_t i = 0; i < SB_QUESTION_NOTES; i++) {
		own->notes[i] = copy(shown->notes[i]);
		whole &= !shown->notes[i] || own->notes[i];
	}
	if (shown->content && (content = malloc(shown->content_length + 1)))
		memcpy(content, shown->content, shown->content_length);
	own->content = content;
	/* a question without one of its lines would be another one */
	if (!whole || !own->verb || !own->path || !own->program || !own->target != !shown->target ||
	    !own->content != !shown->content) {
		free_question(question);
		return NULL;
	}
	question->next = keeper->questions;
	keeper->questions = question;
	return question;
}

static void unlink_question(struct keeper *keeper, struct keeper_question *question)
{
	struct keeper_question **at = &keeper->questions;

	while (*at && *at != question)
		at = &(*at)->next;
	if (*at)
		*at = question->next;
}

bool sb_keeper_people(const struct keeper *keeper)
{
	return keeper->socket && sb_socket_clients(keeper->socket) &&
	       keeper->options->line->consent != SB_CONSENT_DENY;
}

bool sb_keeper_waits(const struct keeper *keeper)
{
	return keeper->options->line->consent == SB_CONSENT_ASK ||
	       keeper->options->line->consent == SB_CONSENT_WATCH;
}

bool sb_keeper_elicits(const struct keeper *keeper, const json_t *message)
{
	return json_is_true(json_object_get(message, "elicit")) &&
	       keeper->options->line->consent != SB_CONSENT_WATCH;
}

static void set_text(json_t *object, const char *key, const char *text)
{
	if (text)
		json_object_set_new(object, key, sb_rpc_string(text));
}

/* What the client's user is to see; the server words it. */
static void send_question(struct keeper *keeper, const struct keeper_question *question)
{
	const struct sb_question *shown = &question->shown;
	json_t *message = json_pack("{s:s, s:I, s:s}", "k", "question", "q", (json_int_t)shown->id,
				    "op", sb_op_name(shown->op));
	json_t *notes = json_array();

	if (question->perform)
		json_object_set_new(message, "call",
				    json_integer((json_int_t)question->perform->call));
	else
		json_object_set_new(message, "run", json_integer((json_int_t)question->run->run));
	set_text(message, "verb", shown->verb);
	set_text(message, "path", shown->path);
	set_text(message, "target", shown->target);
	set_text(message, "directory", shown->directory);
	set_text(message, "program", shown->program);
	set_text(message, "rule", shown->rule);
	set_text(message, "means", sb_question_means(shown));
	json_object_set_new(message, "ahead", json_boolean(shown->about == SB_ABOUT_AHEAD));
	json_object_set_new(message, "session", json_boolean(question->session));
	for (size_t i = 0; i < SB_QUESTION_NOTES && shown->notes[i]; i++)
		json_array_append_new(notes, sb_rpc_string(shown->notes[i]));
	json_object_set_new(message, "notes", notes);
	if (shown->content)
		json_object_set_new(message, "content",
				    sb_rpc_shown(shown->content, shown->content_length));
	sb_link_send(&keeper->link, message, NULL, 0);
}

bool sb_keeper_put(struct keeper *keeper, struct keeper_question *question, bool elicit)
{
	bool put = false;

	if (keeper->options->line->consent == SB_CONSENT_DENY)
		return false;
	if (elicit) {
		send_question(keeper, question);
		put = true;
	}
	if (keeper->socket && (put || sb_keeper_people(keeper) || sb_keeper_waits(keeper)) &&
	    sb_socket_ask(keeper->socket, &question->shown, NULL) == SB_OK)
		put = true;
	return put;
}

void sb_keeper_withdraw(struct keeper *keeper, struct keeper_question *question, const char *why)
{
	if (keeper->socket)
		sb_socket_withdraw(keeper->socket, question->shown.id, why);
	sb_link_send(&keeper->link,
		     json_pack("{s:s, s:I}", "k", "withdrawn", "q", (json_int_t)question->shown.id),
		     NULL, 0);
	unlink_question(keeper, question);
	if (question->perform)
		question->perform->question = NULL;
	else if (question->run)
		question->run->question = NULL;
	free_question(question);
}

static bool asks_to_start(const struct keeper_question *question)
{
	return question->run && question->run->question == question;
}

/* Reading and changing are remembered apart; a change comes last, since its rule is the wider one. */
static void remember_all(struct keeper *keeper, const struct keeper_question *question,
			 enum sb_answer answer)
{
	struct sb_question read = question->shown;

	read.op = SB_READ;
	if (question->ops & 1U << SB_READ && question->shown.op != SB_READ)
		sb_keeper_remember(keeper, &read, answer);
	sb_keeper_remember(keeper, &question->shown, answer);
}

/* What was answered, for the call that asked; and for those that request_access was asked for. */
static void approve(struct keeper *keeper, struct keeper_perform *perform,
		    const struct keeper_question *question, enum sb_answer answer)
{
	unsigned ops = question->ops ? question->ops : 1U << question->subject.op;

	for (int op = 0; op < SB_OP_COUNT; op++) {
		struct keeper_subject subject = question->subject;

		if (!(ops & 1U << op))
			continue;
		subject.op = (enum sb_op)op;
		sb_approvals_add(&perform->approvals, &subject, answer != SB_ANSWER_DENY);
		if (answer == SB_ANSWER_ONCE && question->ops)
			sb_approvals_add(&keeper->ahead, &subject, true);
		if (answer == SB_ANSWER_DENY && question->session)
			sb_approvals_add(&keeper->refused_needs, &subject, false);
	}
}

static void record_answer(struct keeper *keeper, const struct keeper_question *question,
			  const char *act, enum sb_answer answer, const char *by)
{
	struct sb_event event = {.kind = SB_EVENT_ANSWER,
				 .question = question->shown.id,
				 .op = sb_op_name(question->shown.op),
				 .act = act,
				 .path = question->shown.path,
				 .answer = sb_answer_name(answer),
				 .by = by};

	sb_keeper_record(keeper, &event);
	if (answer != SB_ANSWER_DIRECTORY && answer != SB_ANSWER_ALWAYS)
		return;
	event.kind = SB_EVENT_GRANT;
	event.path = question->shown.directory;
	sb_keeper_record(keeper, &event);
}

/*
 * SECURITY: a client that declines by itself is not a person who said no.
 *
 * Danger: the refusal would be told as the person's, and kept for the session: who attaches
 * afterwards is not asked any more.
 * Price: a person who declines faster than they could have read it is asked again.
 * Held by: tests/mcp/consent.py
 */
static void unanswered(struct keeper *keeper, struct keeper_question *question, const char *by)
{
	struct keeper_perform *perform = question->perform;
	struct keeper_run *starts = asks_to_start(question) ? question->run : NULL;

	question->declined |= strcmp(by, "client") == 0;
	if (sb_keeper_people(keeper) || (keeper->socket && sb_keeper_waits(keeper)))
		return; /* they have it, or find it when they come */
	if (perform) {
		perform->nobody = true;
		perform->declined |= question->declined;
	} else if (!starts) {
		sb_keeper_run_answered(question->run, question->run_id, SB_ANSWER_NONE);
	}
	sb_keeper_withdraw(keeper, question, "nobody can be asked");
	if (perform)
		sb_keeper_perform_answered(keeper, perform);
	else if (starts)
		sb_keeper_run_decided(keeper, starts, SB_ANSWER_NONE);
}

void sb_keeper_answer(struct keeper *keeper, unsigned long id, enum sb_answer answer,
		      const char *by)
{
	struct keeper_question *question = keeper->questions;
	struct keeper_perform *perform;
	bool lasting = answer == SB_ANSWER_DIRECTORY || answer == SB_ANSWER_ALWAYS;

	while (question && question->shown.id != id)
		question = question->next;
	if (!question)
		return; /* withdrawn meanwhile, or answered elsewhere */
	if (answer == SB_ANSWER_NONE) {
		unanswered(keeper, question, by);
		return;
	}
	/* what was not offered is no answer */
	if (lasting && !question->shown.directory)
		answer = SB_ANSWER_DENY;
	unlink_question(keeper, question);
	if (keeper->socket && strcmp(by, "attach") != 0)
		sb_socket_withdraw(keeper->socket, id, "answered in the client");
	if (strcmp(by, "client") != 0)
		sb_link_send(&keeper->link,
			     json_pack("{s:s, s:I}", "k", "withdrawn", "q", (json_int_t)id), NULL,
			     0);
	if (asks_to_start(question)) {
		struct keeper_run *run = question->run;

		record_answer(keeper, question, "run_command", answer, by);
		run->question = NULL;
		free_question(question);
		sb_keeper_run_decided(keeper, run, answer);
		return;
	}
	perform = question->perform;
	if (!question->session)
		remember_all(keeper, question, answer);
	if (perform) {
		record_answer(keeper, question, perform->tool, answer, by);
		approve(keeper, perform, question, answer);
		perform->question = NULL;
		free_question(question);
		sb_keeper_perform_answered(keeper, perform);
		return;
	}
	sb_keeper_run_answered(question->run, question->run_id, answer);
	free_question(question);
}
