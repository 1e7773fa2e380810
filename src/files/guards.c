#include "files/guards.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "guard/guard.h"
#include "policy/fast.h"

static bool in_guarded_root(void *context, const char *path)
{
	const struct sb_files *view = context;

	return sb_files_root_of(view, path) != NULL && !sb_fast_is_or_holds(view->policy, path);
}

int sb_guards_open(struct sb_files *view, struct sb_files_error *err)
{
	struct sb_guard_options options = {.size = sizeof options,
					   .in_guarded_root = in_guarded_root,
					   .context = view,
					   .home = view->options.home,
					   .git_settings = view->options.git_settings};
	const char **projects;
	struct sb_guard *guard;
	struct sb_error why;
	int status;

	/* what lies in memory is run by nobody until it is written to a disk */
	if (view->options.backend)
		return 0;
	projects = calloc(view->root_count + 1, sizeof *projects);
	if (!projects)
		return sb_refuse(err, SB_FILES_NO_MEMORY, 0, "out of memory");
	for (size_t i = 0; i < view->root_count; i++)
		projects[i] = view->roots[i].path;
	options.projects = projects;
	status = sb_guard_new(&options, &guard, &why);
	free(projects);
	if (status < 0)
		return sb_refuse(err, SB_FILES_SANDBOX_UNAVAILABLE, why.sys_errno,
				 "cannot guard names in the project: %s", why.message);
	/* only now: a view that goes on after this failed keeps the guard it had */
	sb_guards_close(view);
	view->guard = guard;
	return 0;
}

void sb_guards_close(struct sb_files *view)
{
	sb_guard_free(view->guard);
	view->guard = NULL;
}

static mode_t mode_of(const struct sb_place *place)
{
	static const mode_t types[] = {S_IFREG, S_IFDIR, S_IFLNK, S_IFIFO};

	return place->exists ? types[place->facts.type] | place->facts.mode : 0;
}

static struct sb_guard_place guard_place(const struct sb_place *place)
{
	return (struct sb_guard_place){.directory = place->directory,
				       .path = place->path,
				       .name = place->name,
				       .mode = mode_of(place)};
}

static bool give_reason(const struct sb_guard_answer *answer, char *reason, size_t size)
{
	snprintf(reason, size, "%s%s%s%s", answer->row ? answer->row->why : "a guarded name",
		 answer->detail[0] ? " (" : "", answer->detail, answer->detail[0] ? ")" : "");
	return true;
}

static bool is_rename_guarded(const struct sb_files *view, const struct sb_wish *wish,
			      const struct sb_place *place, char *reason, size_t size)
{
	bool away = wish->act == SB_ACT_MOVE_AWAY;
	struct sb_guard_place from = guard_place(away ? place : wish->other);
	struct sb_guard_place to = guard_place(away ? wish->other : place);
	struct sb_guard_answer left, landed, *mine = away ? &left : &landed;

	sb_guard_rename(view->guard, &from, &to, false, &left, &landed);
	/* CHECK: a file lands there, as a fresh one, and its contents are looked at then.  LOOKED: a
	 * run may put something into the directory before it has its name (supervise/meaning.h) */
	return (mine->verdict == SB_GUARD_ASK || (mine->looked & SB_LOOKED_INTO)) &&
	       give_reason(mine, reason, size);
}

static enum sb_guard_act guard_act(enum sb_wish_act act)
{
	return act == SB_ACT_PUT_DIRECTORY ? SB_GUARD_MKDIR
	       : act == SB_ACT_PUT_LINK    ? SB_GUARD_SYMLINK
	       : act == SB_ACT_REMOVE      ? SB_GUARD_UNLINK
					   : SB_GUARD_WRITE;
}

/* A place with a name in a directory: others cannot be acted on anyway. */
static bool is_judged(const struct sb_files *view, const struct sb_place *place)
{
	return view->guard && place->directory >= 0 && place->name[0] && !place->error;
}

bool sb_guards_name(const struct sb_files *view, const struct sb_wish *wish,
		    const struct sb_place *place, char *reason, size_t size)
{
	struct sb_guard_place where = guard_place(place);
	struct sb_guard_answer answer;

	/* a name whose directory is still to be made is judged when that is there */
	if (!is_judged(view, place) || wish->beneath || wish->act == SB_ACT_LOOK)
		return false;
	if (wish->act == SB_ACT_MOVE_AWAY || wish->act == SB_ACT_MOVE_HERE)
		return is_judged(view, wish->other) &&
		       is_rename_guarded(view, wish, place, reason, size);
	if (wish->act == SB_ACT_PUT_FILE && wish->content_later)
		return false;
	return sb_guard_judge(view->guard, guard_act(wish->act), &where, &answer) !=
		       SB_GUARD_PLAIN &&
	       give_reason(&answer, reason, size);
}

bool sb_guards_checks(const struct sb_files *view, const struct sb_place *place)
{
	struct sb_guard_place where = guard_place(place);
	struct sb_guard_answer answer;

	return is_judged(view, place) &&
	       sb_guard_judge(view->guard, SB_GUARD_WRITE, &where, &answer) != SB_GUARD_PLAIN;
}

bool sb_guards_content(const struct sb_files *view, const struct sb_place *place, const char *old,
		       size_t old_length, const char *data, size_t length, char *reason,
		       size_t size)
{
	struct sb_guard_place where = guard_place(place);
	struct sb_guard_answer answer;

	if (!is_judged(view, place))
		return false;
	switch (sb_guard_judge(view->guard, SB_GUARD_WRITE, &where, &answer)) {
	case SB_GUARD_PLAIN:
		return false;
	case SB_GUARD_CHECK:
		if (data && sb_guard_content(view->guard, answer.kind, place->path,
					     (struct sb_guard_bytes){old, old_length},
					     (struct sb_guard_bytes){data, length}, answer.detail,
					     sizeof answer.detail) == SB_GUARD_PLAIN)
			return false;
		return give_reason(&answer, reason, size);
	default:
		return give_reason(&answer, reason, size);
	}
}
