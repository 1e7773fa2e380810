/*
 * The guard's answers: about one name, about two that change places, about what has landed.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "guard/named.h"
#include "guard/verdict.h"

bool sb_guard_is_held(const char *path)
{
	/* asked for every held call: no more of sb_stand_split() than this */
	for (const char *slash = path; *slash == '/';) {
		const char *start = slash + 1;

		slash = strchrnul(start, '/');
		if ((*start == '.' || (signed char)*start < 0) &&
		    sb_name_is_on_hold(start, (size_t)(slash - start)))
			return true;
	}
	return false;
}

enum sb_guard_verdict sb_guard_completed(const struct sb_guard *guard,
					 const struct sb_guard_place *place, bool *out_complete,
					 struct sb_guard_answer *out)
{
	struct sb_stand stand;

	sb_guard_need(guard);
	sb_say_nothing(out);
	sb_stand_split(place, &stand);
	*out_complete = sb_look_is_git(place->directory, "");
	return *out_complete && !sb_stand_is_dot_git(&stand, 1)
		       ? sb_judge_beside(guard, &stand, out)
		       : sb_say_plain(out);
}

/*
 * SECURITY: git is told something by a file that could not be read.
 *
 * Danger: a run closes it; the next one does not know the hooks that it names, makes them, and opens it.
 * Price: who has closed a config opens it himself.
 * Held by: tests/supervise/obeyed.py
 */
static enum sb_guard_verdict judge_reopened(const struct sb_guard *guard, struct sb_stand *stand,
					    struct sb_guard_answer *out)
{
	const struct sb_guard_place *place = stand->place;
	const struct sb_pattern_row *pattern =
		sb_stand_roles(guard, stand, 0) & SB_ROLE_LAST ? sb_stand_row(guard, stand) : NULL;
	const struct sb_guard_row *row = pattern ? pattern->row
						 : sb_named_row(guard, place->path, out);

	if (!row || (row->kind != SB_GUARD_GIT_CONFIG && row->kind != SB_GUARD_GITFILE) ||
	    place->directory < 0 ||
	    faccessat(place->directory, place->name, R_OK, AT_EACCESS) == 0 || errno != EACCES)
		return sb_say_plain(out);
	return sb_say(out, row, SB_GUARD_ASK);
}

/*
 * SECURITY: what nothing else is said about may still be the machine's.
 *
 * Danger: a rule that names /etc/myapp opens what the machine obeys there; it says nothing of a git directory in it.
 * Price: none.
 * Held by: tests/supervise/system.py
 */
static enum sb_guard_verdict heed_rest(const struct sb_guard *guard, const char *path,
				       struct sb_guard_answer *out)
{
	const char *named = NULL;
	const struct sb_guard_row *row = out->verdict == SB_GUARD_PLAIN
						 ? sb_system_rest(&guard->system, path, &named)
						 : NULL;

	if (!row)
		return out->verdict;
	out->named = named;
	return sb_say(out, row, SB_GUARD_ASK);
}

enum sb_guard_verdict sb_guard_judge(const struct sb_guard *guard, enum sb_guard_act act,
				     const struct sb_guard_place *place,
				     struct sb_guard_answer *out)
{
	struct sb_stand stand;

	sb_guard_need(guard);
	if (act == SB_GUARD_HIDE && S_ISDIR(place->mode)) {
		sb_judge_departure(guard, place, out);
		return heed_rest(guard, place->path, out);
	}
	sb_say_nothing(out);
	if (act == SB_GUARD_HIDE && sb_commons_ask(guard, act, place->path))
		return sb_say(out, sb_row_of_common(), SB_GUARD_ASK);
	sb_stand_split(place, &stand);
	if (act == SB_GUARD_HIDE)
		act = SB_GUARD_METADATA;
	if (sb_judge_name(guard, act, &stand, out) == SB_GUARD_PLAIN && act == SB_GUARD_METADATA)
		judge_reopened(guard, &stand, out);
	return act == SB_GUARD_MKDIR ? out->verdict : heed_rest(guard, place->path, out);
}

/* What is at source gets the name of target. */
static enum sb_guard_verdict judge_landing(const struct sb_guard *guard,
					   const struct sb_guard_place *source,
					   const struct sb_guard_place *target,
					   struct sb_guard_answer *out)
{
	struct sb_stand stand;

	sb_say_nothing(out);
	sb_stand_split(target, &stand);
	if (S_ISDIR(source->mode)) {
		SB_AUTO_FD int directory =
			source->directory < 0
				? -1
				: openat(source->directory, source->name,
					 O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		sb_judge_arrival(guard, &stand, source->path, directory, out);
	} else {
		sb_judge_name(guard,
			      S_ISREG(source->mode)   ? SB_GUARD_WRITE
			      : S_ISLNK(source->mode) ? SB_GUARD_SYMLINK
						      : SB_GUARD_MKNOD,
			      &stand, out);
	}
	return heed_rest(guard, target->path, out);
}

/* What is at place goes away. */
static enum sb_guard_verdict judge_leaving(const struct sb_guard *guard,
					   const struct sb_guard_place *place,
					   struct sb_guard_answer *out)
{
	return sb_guard_judge(guard, S_ISDIR(place->mode) ? SB_GUARD_HIDE : SB_GUARD_UNLINK, place,
			      out);
}

enum sb_guard_verdict sb_guard_rename(const struct sb_guard *guard,
				      const struct sb_guard_place *from,
				      const struct sb_guard_place *to, bool exchange,
				      struct sb_guard_answer *out_from,
				      struct sb_guard_answer *out_to)
{
	enum sb_guard_verdict at_from, at_to;
	unsigned looked;

	sb_guard_need(guard);
	at_from = judge_leaving(guard, from, out_from);
	if (exchange && at_from == SB_GUARD_PLAIN)
		at_from = judge_landing(guard, to, from, out_from);
	at_to = judge_landing(guard, from, to, out_to);
	/* two directories cannot be put on hold at a time, and nobody needs that */
	if (exchange && ((out_from->looked | out_to->looked) & SB_LOOKED_INTO) &&
	    at_from == SB_GUARD_PLAIN && at_to == SB_GUARD_PLAIN)
		at_to = sb_say(out_to, sb_row_of_git(guard), SB_GUARD_ASK);
	/* what is replaced is gone as well; a hook that is renamed onto asks already */
	looked = out_to->looked;
	if (at_to == SB_GUARD_PLAIN && exchange)
		at_to = judge_leaving(guard, to, out_to);
	out_to->looked = looked;
	return at_from > at_to ? at_from : at_to;
}

/*
 * SECURITY: a directory leaves the place whose rules it was under, with all that is in it.
 *
 * Danger: what lay in it from before the run, vendor/x/.vscode, was nobody's while it lay there; a rule for
 * ~/out, or an answer for it, is about no guarded name that comes along.
 * Price: such a directory is walked through, and on hold meanwhile; two of them do not change places
 * unasked.
 * Held by: tests/supervise/moved.py, tests/mcp/guarded.py
 */
enum sb_guard_verdict sb_guard_brings(const struct sb_guard *guard,
				      const struct sb_guard_place *from,
				      const struct sb_guard_place *to, struct sb_guard_answer *out)
{
	SB_AUTO_FD int directory = from->directory < 0
					   ? -1
					   : openat(from->directory, from->name,
						    O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	out->looked |= SB_LOOKED_THROUGH;
	/* what is said already, about its name, stays said */
	if (out->verdict != SB_GUARD_PLAIN && !out->found && out->detail[0])
		return out->verdict;
	if (sb_look_at_tree(guard, directory, to->path, out) && out->verdict == SB_GUARD_PLAIN)
		sb_say(out, out->row, SB_GUARD_ASK);
	return out->verdict;
}

enum sb_guard_verdict sb_guard_landed(const struct sb_guard *guard,
				      const struct sb_guard_place *place,
				      struct sb_guard_answer *out)
{
	sb_guard_need(guard);
	return judge_landing(guard, place, place, out);
}
