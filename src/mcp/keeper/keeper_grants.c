/* keeper_grants.c - what was answered before, for the session and for one call, and what an answer covers. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/list.h"
#include "consent/always.h"
#include "mcp/keeper/keeper_impl.h"
#include "options/set_up.h"
#include "path/path.h"
#include "sys/process.h"

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
	/* and "everything" there was changes, too: what only lies outside, and no rule hides, is read then */
	if (answer == SB_ANSWER_NONE && op == SB_READ &&
	    sb_decide(keeper->options->setup->policy, SB_READ, path).verdict == SB_ALLOW &&
	    (find(keeper, SB_MODIFY, path, path, false) == SB_ANSWER_DIRECTORY ||
	     (itself && find(keeper, SB_MODIFY, path, itself, false) == SB_ANSWER_DIRECTORY)))
		answer = SB_ANSWER_DIRECTORY;
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

enum sb_answer sb_keeper_known(struct keeper *keeper, const struct keeper_approval *agreed,
			       const struct sb_question *shown)
{
	struct keeper_subject subject = {.op = shown->op,
					 .guarded = shown->about == SB_ABOUT_RUN_LATER,
					 .thing = shown->thing,
					 .path = asked_about(shown)};

	if (!subject.path || shown->about == SB_ABOUT_SERVICE || shown->about == SB_ABOUT_HOST)
		return SB_ANSWER_NONE;
	/* a yes before there were bytes is none to those of a command, which the question shows */
	if (subject.guarded)
		return sb_keeper_recall(keeper, shown->op, subject.path, true) == SB_ANSWER_DENY
			       ? SB_ANSWER_DENY
			       : SB_ANSWER_NONE;
	if (sb_approvals_find(agreed, &subject, true))
		return SB_ANSWER_ONCE;
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

	/* about a host the run itself keeps it, under the session's name */
	if (answer == SB_ANSWER_ONCE || shown->about == SB_ABOUT_HOST || !name ||
	    !make_wish(keeper, shown->op, asked_in(lasting ? shown->directory : NULL, path), name,
		       &wish))
		return;
	/* what is harmless lands there all the same */
	wish.shows_content = shown->about == SB_ABOUT_RUN_LATER;
	if (answer == SB_ANSWER_ALWAYS &&
	    (sb_guard_of(setup, setup->policy, &guard, NULL) != SB_OK ||
	     sb_always_write(
		     &(struct sb_always){&setup->home, setup->policy, guard, keeper->grants}, &wish,
		     &file, &rule, NULL) != SB_OK))
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
 * is written there.  The first yes must not be the second.  And a yes to a file that is made is none to a
 * link, which leads anywhere, nor to a directory.
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
		    (subject->op == SB_READ || list->subject.thing == subject->thing) &&
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
			at->next = NULL;
			sb_approvals_free(at);
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

/* --- which directories ---------------------------------------------------------------------------- */

const char **sb_keeper_roots(const struct keeper *keeper, const json_t *given)
{
	const struct sb_setup *setup = keeper->options->setup;
	char **open = sb_setup_open_roots(setup);
	size_t count = json_array_size(given), own = sb_list_count(setup->projects), kept = 0,
	       extra = sb_list_count(keeper->opened);
	const char **roots = calloc(count + own + extra + 1, sizeof *roots);

	for (size_t i = 0; roots && i < count; i++) {
		const char *root = json_string_value(json_array_get(given, i));

		for (size_t p = 0; root && open[p]; p++)
			if (sb_path_within(open[p], root)) {
				roots[kept++] = root;
				break;
			}
	}
	if (roots && !kept)
		memcpy(roots, setup->projects, own * sizeof *roots);
	else if (roots &&
		 extra) /* what was opened on request, the client's roots do not take away */
		memcpy(roots + kept, keeper->opened, extra * sizeof *roots);
	return roots;
}
