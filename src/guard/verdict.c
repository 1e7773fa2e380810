/*
 * What an act on one name means: the rows that fit, and what lies around it.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/auto.h"
#include "base/words.h"
#include "guard/git_files.h"
#include "guard/named.h"
#include "guard/option_name.h"
#include "guard/verdict.h"
#include "path/path.h"

enum sb_guard_verdict sb_say(struct sb_guard_answer *out, const struct sb_guard_row *row,
			     enum sb_guard_verdict verdict)
{
	out->verdict = verdict;
	out->row = verdict == SB_GUARD_PLAIN ? NULL : row;
	out->kind = verdict == SB_GUARD_PLAIN ? SB_GUARD_SAME : row->kind;
	return verdict;
}

void sb_say_nothing(struct sb_guard_answer *out)
{
	out->row = NULL;
	out->looked = out->found = 0;
	out->named = NULL;
	out->detail[0] = '\0';
}

enum sb_guard_verdict sb_say_plain(struct sb_guard_answer *out)
{
	out->detail[0] = '\0';
	out->found = 0;
	return sb_say(out, NULL, SB_GUARD_PLAIN);
}

enum sb_guard_verdict sb_say_on_hold(const struct sb_guard *guard, struct sb_guard_answer *out)
{
	return sb_say(out, sb_row_named(guard, "*" SB_GUARD_HOLD_ENDING), SB_GUARD_ASK);
}

static enum sb_guard_verdict judge_row(enum sb_guard_act act, const struct sb_guard_row *row,
				       struct sb_guard_answer *out)
{
	switch (act) {
	case SB_GUARD_WRITE:
	case SB_GUARD_LINK_TO: /* what lands is a copy of what was looked at: land.h */
		return sb_say(out, row, row->kind == SB_GUARD_SAME ? SB_GUARD_ASK : SB_GUARD_CHECK);
	case SB_GUARD_UNLINK: /* gone runs nothing; but a hook may be there to stop something */
		if (row->flags & SB_GUARD_IF_PROTECTING)
			return sb_say(out, row, SB_GUARD_ASK);
		/* fall through */
	case SB_GUARD_METADATA:
		return row->flags & SB_GUARD_IF_EXECUTABLE ? sb_say(out, row, SB_GUARD_ASK)
							   : sb_say_plain(out);
	case SB_GUARD_MKDIR:
		return sb_say_plain(out);
	default:
		return sb_say(out, row, SB_GUARD_ASK);
	}
}

/*
 * Looks are chosen in the home directory.  No change to a project's own settings is harmless enough to let a
 * program believe, until it closes the file, that it has made one.
 */
static bool is_in_project(const struct sb_guard *guard, const char *path)
{
	const char *const *projects = guard->options.projects;

	for (; projects && *projects; projects++)
		if (sb_path_within(*projects, path))
			return true;
	return false;
}

/* Agents make links in their state, too; but that is in the home directory, which may be a project. */
static bool is_of_project(const struct sb_guard *guard, const char *path)
{
	const char *home = guard->options.home;

	return is_in_project(guard, path) &&
	       !(home && sb_path_within(home, path) && path[strlen(home)] == '/' &&
		 path[strlen(home) + 1] == '.');
}

enum sb_guard_verdict sb_judge_beside(const struct sb_guard *guard, const struct sb_stand *stand,
				      struct sb_guard_answer *out)
{
	const struct sb_guard_place *place = stand->place;
	char path[4096], name[SB_FOLD_MAX];
	const char *fresh = NULL;

	if (place->fresh) {
		snprintf(name, sizeof name, "%.*s", (int)strcspn(place->name, "/"), place->name);
		fresh = name;
	}

	if (stand->directory_length >= sizeof path)
		return sb_say(out, sb_row_of_git(guard), SB_GUARD_ASK);
	memcpy(path, place->path, stand->directory_length);
	path[stand->directory_length] = '\0';
	return place->directory < 0 || sb_look_for_git(guard, place->directory, path, fresh, out) ||
			       sb_look_for_links(place->directory, fresh)
		       ? sb_say(out, out->row ? out->row : sb_row_of_git(guard), SB_GUARD_ASK)
		       : sb_say_plain(out);
}

/*
 * SECURITY: the act that makes a directory a git directory.
 *
 * Danger: hooks and config are prepared while the directory is nothing special, then "refs"
 * or "objects" makes git believe it.  links: what gets the name is a link, or brings some, and those ask in
 * a git directory.
 * Price: none but for these two names.
 * Held by: tests/unit/test_guard_structure.c
 */
enum sb_guard_verdict sb_judge_structure(const struct sb_guard *guard, struct sb_stand *stand,
					 bool links, struct sb_guard_answer *out)
{
	const struct sb_guard_place *place = stand->place;
	bool is_refs = sb_stand_name(stand, 0)->length == 4;

	/* in .git all names were guarded from the start */
	if (sb_stand_is_dot_git(stand, 1) ||
	    (place->directory >= 0 && sb_look_is_git(place->directory, "")))
		return sb_say_plain(out);
	/* also if the other one is missing: somebody may be making that */
	out->looked |= SB_LOOKED_BESIDE;
	if (place->directory >= 0 &&
	    !sb_look_exists(place->directory, is_refs ? "objects" : "refs"))
		return sb_say_plain(out);
	return sb_judge_beside(guard, stand, out) == SB_GUARD_PLAIN && links
		       ? sb_say(out, sb_row_of_git(guard), SB_GUARD_ASK)
		       : out->verdict;
}

/* A link in the place of a directory leads to files whose own names are not guarded. */
static enum sb_guard_verdict judge_link(const struct sb_guard *guard, struct sb_stand *stand,
					struct sb_guard_answer *out)
{
	const struct sb_extra *extra = sb_obeyed_link(guard, stand->place->path);
	const struct sb_guard_row *row = extra ? sb_row_of_extra(guard, extra)
					       : sb_named_link(guard, stand);
	const struct sb_pattern_row *pattern;
	unsigned position;
	size_t from = 0;

	if (row)
		return sb_say(out, row, SB_GUARD_ASK);
	pattern = sb_stand_part(guard, stand, &from, &position);
	return pattern ? sb_say(out, pattern->row, SB_GUARD_ASK) : sb_say_plain(out);
}

/*
 * In a bare repository there may be work trees as well, so that what lies in a directory that git does not
 * know is nothing of git's.
 */
static const char *inner_of_bare(const struct sb_stand *stand)
{
	const char *inner = stand->in_bare ? sb_git_inner(stand->in_bare) : NULL;

	if (!inner || (strchr(inner, '/') && !sb_git_is_known_directory(inner)) ||
	    !sb_place_is_git_above(stand->place->directory, sb_place_depth(stand->in_bare)))
		return NULL;
	return inner;
}

/*
 * Is the directory that holds inner, the end of path, .../worktrees/ID?  A commondir that comes last makes it a git
 * directory.  There only names that nobody else uses count: projects have such directories, too.
 */
static bool is_of_worktree(const char *path, const char *inner)
{
	static const char word[] = "/worktrees/";
	size_t length = strlen(path) - strlen(inner);
	const char *id;

	if (!strchr(inner, '/') && !isupper((unsigned char)inner[0]))
		return false;
	while (length && path[length - 1] == '/')
		length--;
	id = length ? memrchr(path, '/', length) : NULL;
	return id && (size_t)(id - path) + 1 >= sizeof word - 1 &&
	       memcmp(id + 1 - (sizeof word - 1), word, sizeof word - 1) == 0;
}

/* A name that git keeps in a git directory of any name: "HEAD", "rebase-merge/msgnum". */
static const struct sb_guard_row *fixed_row_of(const struct sb_stand *stand)
{
	const struct sb_guard_row *row;
	size_t position = 0;

	while ((row = sb_git_next_fixed(&position))) {
		const char *name = sb_git_fixed_name(row);
		size_t length = strlen(name), whole = strlen(stand->place->path);

		if (whole > length && stand->place->path[whole - length - 1] == '/' &&
		    strcasecmp(stand->place->path + whole - length, name) == 0 &&
		    (is_of_worktree(stand->place->path, name) ||
		     sb_place_is_git_above(stand->place->directory, sb_place_depth(name))))
			return row;
	}
	return NULL;
}

/*
 * SECURITY: in a git directory, what is not known asks.
 *
 * Danger, price, held by: see git_files.c.  Outside of a .git, and of a NAME.git that is one, only the known
 * names and what lies in refs are recognized, by what lies around them: to look around every name there is
 * would cost too much.
 */
static enum sb_guard_verdict judge_in_git(enum sb_guard_act act, struct sb_stand *stand,
					  unsigned roles, struct sb_guard_answer *out)
{
	const char *inner = stand->in_git ? stand->in_git : inner_of_bare(stand);
	const struct sb_guard_row *row = NULL;

	/* what goes away has no form */
	if (!inner && stand->has_open && act != SB_GUARD_UNLINK && act != SB_GUARD_METADATA)
		inner = sb_place_inner_open(stand->place, false);
	if (inner)
		row = sb_git_row_of(inner);
	else if (roles & SB_ROLE_GIT_FILE)
		row = fixed_row_of(stand);
	if (!row)
		return sb_say_plain(out);
	if (inner && sb_git_ref_is_odd(row, inner) &&
	    (act == SB_GUARD_WRITE || act == SB_GUARD_LINK_TO)) {
		snprintf(out->detail, sizeof out->detail, "%s", SB_ODD_REF);
		return sb_say(out, row, SB_GUARD_ASK);
	}
	/* a FIFO or socket is none of git's, whatever its name; links see below */
	if (row->kind == SB_GUARD_ANYTHING)
		return act == SB_GUARD_MKNOD ? sb_say(out, row, SB_GUARD_ASK) : sb_say_plain(out);
	return judge_row(act, row, out);
}

/* A program of the user's own settings that is there already is run once there is a .git. */
static enum sb_guard_verdict judge_new_directory(const struct sb_guard *guard,
						 struct sb_stand *stand,
						 struct sb_guard_answer *out)
{
	SB_AUTO_FREE char *top = NULL;

	if (stand->in_git &&
	    sb_place_is_odd_directory(stand->place->directory, stand->place->path)) {
		out->named = stand->place->path; /* a rule that is about it alone opens it */
		return sb_say(out, sb_git_unknown_row(), SB_GUARD_ASK);
	}
	if (!stand->has_dot || !guard->extras.count || !sb_stand_is_dot_git(stand, 0))
		return sb_say_plain(out);
	top = sb_path_parent(stand->place->path);
	return !top || sb_obeyed_by_user(guard, top, out)
		       ? sb_say(out, out->row ? out->row : sb_row_of_git(guard), SB_GUARD_ASK)
		       : sb_say_plain(out);
}

static const struct sb_guard_row *program_row(const struct sb_guard *guard, const char *path)
{
	const struct sb_extra *extra = sb_obeyed_program(guard, path);

	return extra ? sb_row_of_extra(guard, extra) : NULL;
}

static const struct sb_guard_row *of_system(const struct sb_guard *guard, const char *path,
					    const struct sb_guard_row *otherwise,
					    struct sb_guard_answer *out)
{
	const struct sb_guard_row *row = sb_system_row(&guard->system, path, &out->named);

	return row ? row : otherwise;
}

/*
 * SECURITY: what git opens in every directory of a work tree is a file, if anything.
 *
 * Danger: at a FIFO "git status" outside, and with it every prompt, waits for ever.  Contents are no matter here.
 * Price: such nodes have other names.
 * Held by: tests/supervise/git_files.py
 */
static bool is_read_by_git(struct sb_stand *stand)
{
	const struct sb_folded *name = sb_stand_name(stand, 0);

	return sb_words_have(".gitignore .gitattributes .mailmap", name->text, name->length);
}

enum sb_guard_verdict sb_judge_name(const struct sb_guard *guard, enum sb_guard_act act,
				    struct sb_stand *stand, struct sb_guard_answer *out)
{
	unsigned roles = sb_stand_roles(guard, stand, 0);
	const struct sb_pattern_row *pattern = NULL, *state = NULL;
	const struct sb_guard_row *row = NULL;
	bool lands = act != SB_GUARD_UNLINK && act != SB_GUARD_METADATA &&
		     act != SB_GUARD_LINK_FROM;

	if (stand->held)
		return sb_say_on_hold(guard, out);
	if (sb_commons_ask(guard, act, stand->place->path))
		return sb_say(out, sb_row_of_common(), SB_GUARD_ASK);
	if ((roles & SB_ROLE_STRUCTURE) && lands &&
	    sb_judge_structure(guard, stand, act == SB_GUARD_SYMLINK, out) != SB_GUARD_PLAIN)
		return out->verdict;
	if (act == SB_GUARD_MKNOD && is_read_by_git(stand)) {
		snprintf(out->detail, sizeof out->detail, "git opens it, and would wait for ever");
		return sb_say(out, sb_row_named(guard, ".gitmodules"), SB_GUARD_ASK);
	}
	if (act == SB_GUARD_MKDIR && sb_is_option_name(stand->at[0].text, stand->at[0].length))
		return sb_say(out, sb_row_named(guard, "<option>"), SB_GUARD_ASK);
	if (act == SB_GUARD_MKDIR)
		return judge_new_directory(guard, stand, out);
	if ((roles & SB_ROLE_LAST) || (sb_stand_roles(guard, stand, 1) & SB_ROLE_HOLDER) ||
	    sb_stand_has_ending(guard, stand))
		pattern = sb_stand_row(guard, stand);
	if (pattern && sb_pattern_is_state(pattern)) {
		/* through a link the agent outside would write elsewhere */
		if (act != SB_GUARD_WRITE && lands)
			return sb_say(out, pattern->row, SB_GUARD_ASK);
		state = pattern;
		pattern = NULL;
	}
	if (!pattern)
		pattern = sb_stand_tree(guard, stand, state,
					act == SB_GUARD_SYMLINK &&
						is_of_project(guard, stand->place->path));
	if (pattern && sb_pattern_is_state(pattern))
		return sb_say(out, pattern->row, SB_GUARD_ASK);
	if (pattern)
		row = pattern->row;
	if (!row)
		row = sb_named_row(guard, stand->place->path, out);
	else if (row->kind != SB_GUARD_SAME) /* no contents are harmless to the machine */
		row = of_system(guard, stand->place->path, row, out);
	if (!row && guard->extras.count)
		row = program_row(guard, stand->place->path);
	if (!row && (roles & SB_ROLE_HOOK))
		row = sb_named_hook(guard, stand);
	if (row && judge_row(act, row, out) != SB_GUARD_PLAIN)
		return row->kind == SB_GUARD_AGENT_LOOKS && is_in_project(guard, stand->place->path)
			       ? sb_say(out, row, SB_GUARD_ASK)
			       : out->verdict;
	if (!row &&
	    (stand->in_git || stand->in_bare || stand->has_open || (roles & SB_ROLE_GIT_FILE)) &&
	    act != SB_GUARD_SYMLINK && judge_in_git(act, stand, roles, out) != SB_GUARD_PLAIN)
		return out->verdict;
	if (act == SB_GUARD_SYMLINK && judge_link(guard, stand, out) != SB_GUARD_PLAIN)
		return out->verdict;
	if (act == SB_GUARD_SYMLINK && sb_place_is_in_git(stand->place) &&
	    !sb_place_is_trial(stand->place))
		return sb_say(out, sb_row_named(guard, ".git"), SB_GUARD_ASK);
	if (act == SB_GUARD_SYMLINK && stand->has_dot && sb_hg_wants_no_link(stand->place->path))
		return sb_say(out, sb_row_named(guard, ".hg/sharedpath"), SB_GUARD_ASK);
	return sb_say_plain(out);
}
