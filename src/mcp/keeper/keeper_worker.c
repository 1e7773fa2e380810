/*
 * keeper_worker.c - answers about a worker's directories (--worker).
 *
 * What "ask" stops is asked about each time: neither a yes nor a no is kept, unless it is for the session.  Then
 * it is for one directory of the worker's, and for writing or for deleting there; for both only where something is
 * moved in it.
 */
#include <string.h>

#include "base/escape.h"
#include "mcp/keeper/keeper_child.h"
#include "path/path.h"

static const enum sb_op kinds[] = {SB_MODIFY, SB_DELETE};
#define KINDS (sizeof kinds / sizeof *kinds)

/* Of the two that are approved apart. */
static enum sb_op kind_of(enum sb_op op)
{
	return op == SB_CREATE ? SB_MODIFY : op;
}

/*
 * What the worker calls path, as rules and the record have it; NULL: it is in none of its directories, or may be a name
 * of this machine, by which a run without namespaces sees them.
 */
static const char *real_of(const struct keeper *keeper, const char *path, char out[PATH_MAX])
{
	const struct sb_keeper_options *options = keeper->options;
	struct sb_files_backend *seen = options->worker->seen;
	const struct sb_rule *bound = seen->ops->real(seen, path, out);

	return options->line->best_effort || strcmp(bound->pattern, "/") == 0 ? NULL : out;
}

enum sb_answer sb_keeper_worker_remember(struct keeper *keeper,
					 const struct keeper_question *question,
					 enum sb_answer answer)
{
	const struct sb_question *shown = &question->shown;
	struct keeper_subject subject = {.path = shown->directory};
	char real[PATH_MAX];

	/* "always" would be a rule of the user's, and no rule loosens what a worker's file says */
	if ((answer != SB_ANSWER_DIRECTORY && answer != SB_ANSWER_ALWAYS) || !subject.path ||
	    (shown->about != SB_ABOUT_FILE && shown->about != SB_ABOUT_REPO))
		return answer;
	if (question->run)
		subject.path = real_of(keeper, shown->directory, real);
	for (size_t i = 0; subject.path && i < KINDS; i++) {
		const struct keeper_approval *before = keeper->worker_said;

		subject.op = kinds[i];
		if (!(shown->opens & sb_opens_of(subject.op)))
			continue;
		sb_approvals_add(&keeper->worker_said, &subject, true);
		if (keeper->worker_said != before)
			keeper->worker_said->number = ++keeper->worker_number;
		keeper->worker_changes++;
	}
	return question->run ? SB_ANSWER_ONCE : answer;
}

static bool was_allowed(const struct keeper *keeper, enum sb_op op, const char *path)
{
	for (const struct keeper_approval *one = keeper->worker_said; path && one; one = one->next)
		if (one->subject.op == kind_of(op) && sb_path_within(one->path, path))
			return true;
	return false;
}

enum sb_answer sb_keeper_worker_recall(const struct keeper *keeper, const struct sb_question *shown)
{
	char real[PATH_MAX], to[PATH_MAX];
	const char *path, *target;

	/* modes, which may give rights, and second names are asked about each time */
	if (shown->about != SB_ABOUT_FILE || !shown->opens || !shown->directory ||
	    shown->thing == SB_THING_NAME)
		return SB_ANSWER_NONE;
	path = real_of(keeper, shown->path, real);
	target = shown->target ? real_of(keeper, shown->target, to) : path;
	for (size_t i = 0; i < KINDS; i++)
		if ((shown->opens & sb_opens_of(kinds[i])) &&
		    !(was_allowed(keeper, kinds[i], path) && was_allowed(keeper, kinds[i], target)))
			return SB_ANSWER_NONE;
	return SB_ANSWER_ONCE;
}

enum sb_answer sb_keeper_worker_known(const struct child *child,
				      const struct keeper_subject *subject)
{
	const struct keeper_approval *found =
		sb_approvals_find(child->perform->approvals, subject, false);

	if (found)
		return found->yes ? SB_ANSWER_ONCE : SB_ANSWER_DENY;
	return !subject->guarded && !subject->by_itself &&
			       was_allowed(child->keeper, subject->op, subject->path)
		       ? SB_ANSWER_DIRECTORY
		       : SB_ANSWER_NONE;
}

/* --- who watches ------------------------------------------------------------------------------------- */

static void put_words(const struct keeper_approval *one, struct sb_buf *out)
{
	sb_buf_printf(out, "allowed for this session: %s in ",
		      one->subject.op == SB_DELETE ? "delete everything" : "write everything");
	sb_escape_puts_name(out, one->path);
}

void sb_keeper_worker_tell_standing(struct keeper *keeper)
{
	if (!keeper->socket || keeper->told_changes == keeper->worker_changes)
		return;
	keeper->told_changes = keeper->worker_changes;
	sb_socket_standing_begin(keeper->socket);
	for (const struct keeper_approval *one = keeper->worker_said; one; one = one->next) {
		SB_AUTO_BUF struct sb_buf words = SB_BUF(8 * PATH_MAX);

		put_words(one, &words);
		sb_socket_stands(keeper->socket, one->number, SB_ANSWER_DIRECTORY, words.data);
	}
	sb_socket_standing_end(keeper->socket);
}

int sb_keeper_worker_take_back(struct keeper *keeper, unsigned long number, struct sb_buf *out,
			       struct sb_error *err)
{
	struct keeper_approval **at = &keeper->worker_said, *found;

	while (*at && (*at)->number != number)
		at = &(*at)->next;
	found = *at;
	if (!found)
		return sb_fail(err, SB_E_MISSING, 0, "no answer has the number %lu", number);
	*at = found->next;
	found->next = NULL;
	sb_buf_puts(out, "taken back: ");
	put_words(found, out);
	sb_approvals_free(found);
	keeper->worker_changes++;
	return SB_OK;
}

/* --- what_may_i_do ---------------------------------------------------------------------------------- */

int sb_keeper_worker_said(const void *context, enum sb_op op, const char *path)
{
	const struct child *child = context;
	struct sb_files_backend *seen = child->keeper->options->worker->seen;
	json_auto_t *notes = json_array();
	char real[PATH_MAX];

	seen->ops->real(seen, path, real);
	return !sb_child_is_guarded(child, op, real, NULL, notes, NULL) &&
	       was_allowed(child->keeper, op, real);
}

json_t *sb_keeper_worker_grants(const struct keeper *keeper)
{
	json_t *list = json_array();

	for (const struct keeper_approval *one = keeper->worker_said; one; one = one->next)
		json_array_append_new(
			list, json_pack("{s:o, s:s, s:s}", "path",
					sb_tool_worker_words(keeper->options->worker, one->path),
					"access", one->subject.op == SB_DELETE ? "delete" : "write",
					"until", "session"));
	return list;
}
