/*
 * Directories that move: what they bring to a name, and what they take away from one.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "guard/git_files.h"
#include "guard/named.h"
#include "guard/option_name.h"
#include "guard/verdict.h"
#include "path/path.h"

/* A hooks directory or an included file of some repository, in a directory that moves in. */
static bool brings_extra(const struct sb_guard *guard, const struct sb_extras *extras,
			 int directory, const char *path, struct sb_guard_answer *out)
{
	bool any = false;

	for (size_t i = 0; i < extras->count; i++) {
		const struct sb_extra *extra = &extras->all[i];
		const char *rest = extra->path + strlen(path);

		if (!sb_path_within(path, extra->path))
			continue;
		out->looked |= SB_LOOKED_INTO;
		if (sb_look_leads_to(directory, *rest ? rest + 1 : "."))
			any |= sb_look_found(guard, out, sb_row_of_extra(guard, extra), extra->path,
					     0, NULL);
	}
	return any;
}

/* A .git file with a relative way in it leads elsewhere once its directory has moved. */
static bool leads_elsewhere(const struct sb_guard *guard, int directory, const char *path,
			    struct sb_guard_answer *out)
{
	const struct sb_table *table = sb_table_of(guard);
	static const char absolute[] = "gitdir: /";
	char start[sizeof absolute - 1];
	SB_AUTO_FD int fd = -1;
	struct stat info;

	if (directory < 0 || fstatat(directory, ".git", &info, AT_SYMLINK_NOFOLLOW) != 0 ||
	    !S_ISREG(info.st_mode))
		return false;
	/* what cannot be read may say anything, and is asked about below */
	fd = openat(directory, ".git", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && pread(fd, start, sizeof start, 0) == (ssize_t)sizeof start &&
	    memcmp(start, absolute, sizeof start) == 0)
		return false;
	for (size_t i = 0; i < table->count; i++)
		if (table->rows[i].row->kind == SB_GUARD_GITFILE)
			return sb_look_inside(guard, directory, path, &table->rows[i], 0, out);
	return false;
}

/*
 * SECURITY: was all that is in it guarded, or obeyed, before?
 *
 * Danger: a directory that looks like git's is guarded from this run; but a clone may have brought it, hooks
 * and config included, and nobody obeys it until it is called .git.
 * Price: a bare repository that becomes a .git asks, if it has hooks or such settings.
 * Held by: tests/supervise/detours.py
 */
static bool was_obeyed(const struct sb_stand *stand, const char *source, int directory)
{
	return directory >= 0 && sb_look_is_git(directory, "") &&
	       (sb_place_is_called_git(source) || !sb_place_is_called_git(stand->place->path));
}

/*
 * SECURITY: a directory becomes somebody's .git.
 *
 * Danger: its config names hooks and files beside it, which were nobody's while it was away; and what git
 * obeys in it by words like "sequencer" was nobody's if it was no git directory before.
 * Price: moving a .git away and back asks where it names such.
 * Held by: tests/supervise/detours.py
 */
static bool names_more(const struct sb_guard *guard, const struct sb_stand *stand,
		       const char *source, int directory, struct sb_guard_answer *out)
{
	const char *path = stand->place->path;
	SB_AUTO_FREE char *top = sb_path_parent(path);
	struct sb_repository repository = {
		.own = (char *)source, .common = (char *)source, .becomes = path};
	struct sb_moving moving = {directory, path, false}; /* what will be in it is in it now */
	bool blind = !top || directory < 0;
	bool found = blind || sb_obeyed_asks(guard, &repository, top, &moving, out);

	out->looked |= SB_LOOKED_INTO;
	if (!blind)
		found |= sb_obeyed_by_user(guard, top, out);
	if (!blind && !was_obeyed(stand, source, directory))
		found |= sb_look_for_git(guard, directory, path, NULL, out);
	return found;
}

/* A git directory was guarded all along, and has no links but the user's. */
static bool brings_links_to_git(struct sb_stand *stand, const char *source, int directory,
				struct sb_guard_answer *out)
{
	if (!(sb_stand_is_dot_git(stand, 0) || sb_place_is_in_git(stand->place)) ||
	    was_obeyed(stand, source, directory))
		return false;
	out->looked |= SB_LOOKED_INTO;
	return directory < 0 || sb_look_for_links(directory, NULL);
}

/*
 * Does a directory bring what git does not know, or not in this form?  What was called .git all the time was
 * guarded all the time; a submodule's was so by a name whose end nobody can tell: modules/a/b/c.
 */
static bool brings_unknown(const struct sb_guard *guard, struct sb_stand *stand, const char *source,
			   int directory, struct sb_guard_answer *out)
{
	static const char *const steps[] = {"rebase-merge", "rebase-apply", "sequencer"};
	const char *path = stand->place->path, *inner;
	char prefix[32];
	bool any = false;

	if (stand->in_git || sb_stand_is_dot_git(stand, 0)) {
		/* one that has its name already had nobody knows which before */
		if (sb_place_is_git_root(path) && source != path && sb_place_is_called_git(source))
			return false;
		out->looked |= SB_LOOKED_INTO;
		return sb_look_at_git_tree(guard, directory, path, out);
	}
	inner = sb_place_inner_open(stand->place, true);
	if (inner) {
		out->looked |= SB_LOOKED_INTO;
		return sb_look_at_git_part(guard, directory, path, inner, out);
	}
	/*
	 * What was called .git was guarded; of another, nobody knows where it comes from.  One that cannot be
	 * entered was looked at before it was closed, or is the user's, and may get an ordinary name.
	 */
	if (directory >= 0 && !sb_place_is_called_git(source) && sb_look_is_git(directory, "") &&
	    (sb_place_is_called_git(path) || faccessat(directory, ".", X_OK, 0) == 0)) {
		out->looked |= SB_LOOKED_INTO;
		any |= sb_look_for_git_files(guard, directory, path, "", NULL, out);
	}
	for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
		if (stand->at[0].length != strlen(steps[i]) ||
		    strncasecmp(stand->at[0].text, steps[i], stand->at[0].length) != 0)
			continue;
		out->looked |= SB_LOOKED_INTO;
		snprintf(prefix, sizeof prefix, "%s/", steps[i]);
		if (sb_place_is_git_above(stand->place->directory, 1))
			any |= sb_look_for_git_files(guard, directory, path, prefix, NULL, out);
		break;
	}
	return any;
}

/* Links that a directory brings into .hg, or as .hg. */
static bool brings_links_to_hg(const struct sb_stand *stand, int directory,
			       struct sb_guard_answer *out)
{
	char beneath[PATH_MAX];

	if (!stand->has_dot ||
	    (snprintf(beneath, sizeof beneath, "%s/x", stand->place->path) < (int)sizeof beneath &&
	     !sb_hg_wants_no_link(beneath)))
		return false;
	out->looked |= SB_LOOKED_INTO;
	return directory < 0 || sb_look_for_links(directory, NULL);
}

static bool is_dots(const struct sb_name *name)
{
	return (name->length == 1 || name->length == 2) &&
	       memcmp(name->text, "..", name->length) == 0;
}

/*
 * SECURITY: a directory gets a name, and takes what is in it along.
 *
 * Danger: "x/hooks/evil" is nothing until x is called .git.
 * Price: a few lookups beneath the directory, for names of the table only; a walk to the
 * repositories around for every directory.
 * Held by: tests/unit/test_guard_structure.c
 */
enum sb_guard_verdict sb_judge_arrival(const struct sb_guard *guard, struct sb_stand *stand,
				       const char *source, int directory,
				       struct sb_guard_answer *out)
{
	const char *path = stand->place->path;
	const struct sb_pattern_row *pattern = sb_stand_tree(guard, stand, NULL, false);
	const struct sb_guard_row *row;
	const struct sb_extras late = sb_named_late(guard);
	struct sb_extras around = {0};
	SB_AUTO_FREE char *parent = NULL;
	unsigned position;
	size_t from = 0;
	bool found = false;

	if (stand->at[0].length > NAME_MAX || is_dots(&stand->at[0]))
		return sb_say_plain(out); /* nobody can have that name, as the kernel will say */
	if (stand->held)
		return sb_say_on_hold(guard, out);
	if (sb_commons_ask(guard, SB_GUARD_WRITE, path))
		return sb_say(out, sb_row_of_common(), SB_GUARD_ASK);
	if (pattern)
		return sb_say(out, pattern->row, SB_GUARD_ASK);
	if (sb_is_option_name(stand->at[0].text, stand->at[0].length))
		return sb_say(out, sb_row_named(guard, "<option>"), SB_GUARD_ASK);
	row = sb_named_row(guard, path, out); /* beneath what a link leads to */
	if (!row)
		row = sb_system_beneath(&guard->system, path);
	if (row)
		return sb_say(out, row, SB_GUARD_ASK);
	if (stand->in_git && sb_place_is_odd_directory(stand->place->directory, path))
		return sb_say(out, sb_git_unknown_row(), SB_GUARD_ASK);
	if (sb_stand_is_dot_git(stand, 0) && names_more(guard, stand, source, directory, out))
		return sb_say(out, out->row ? out->row : sb_row_of_git(guard), SB_GUARD_ASK);
	if (brings_unknown(guard, stand, source, directory, out))
		return sb_say(out, out->row, SB_GUARD_ASK);
	if (brings_links_to_git(stand, source, directory, out))
		return sb_say(out, sb_row_named(guard, ".git"), SB_GUARD_ASK);
	if (brings_links_to_hg(stand, directory, out))
		return sb_say(out, sb_row_named(guard, ".hg/sharedpath"), SB_GUARD_ASK);
	if ((sb_stand_roles(guard, stand, 0) & SB_ROLE_STRUCTURE) &&
	    sb_judge_structure(guard, stand, directory < 0 || sb_look_for_links(directory, NULL),
			       out) != SB_GUARD_PLAIN)
		return out->verdict;
	if (leads_elsewhere(guard, directory, path, out) ||
	    sb_obeyed_moved(guard, source, directory, path, out))
		return sb_say(out, out->row, SB_GUARD_ASK);
	if (sb_named_anywhere(guard, path, strlen(path)))
		return sb_say(out,
			      sb_row_of_extra(guard, sb_named_anywhere(guard, path, strlen(path))),
			      SB_GUARD_ASK);
	while ((pattern = sb_stand_part(guard, stand, &from, &position))) {
		out->looked |= SB_LOOKED_INTO;
		/* a git directory was guarded all along, whatever it was called */
		if (pattern->at[position].kind == SB_COMPONENT_GIT &&
		    was_obeyed(stand, source, directory))
			continue;
		if (directory < 0)
			return sb_say(out, pattern->row, SB_GUARD_ASK);
		found |= sb_look_inside(guard, directory, path, pattern, position + 1, out);
	}
	parent = sb_path_parent(path);
	if (!parent || sb_extras_around(guard, parent, &around) != SB_OK)
		found = true;
	found |= brings_extra(guard, &guard->extras, directory, path, out);
	found |= brings_extra(guard, &late, directory, path, out);
	found |= brings_extra(guard, &around, directory, path, out);
	found |= sb_obeyed_beneath(guard, directory, path, out);
	sb_extras_done(&around);
	return found ? sb_say(out, out->row ? out->row : sb_row_of_git(guard), SB_GUARD_ASK)
		     : sb_say_plain(out);
}

/* Is what the rest of the pattern names, from first on, in directory?  Unknown counts as yes. */
static bool holds_rest(int directory, const struct sb_pattern_row *pattern, unsigned first)
{
	char name[SB_MAX_NAMES * (SB_FOLD_MAX + 1)] = "";
	size_t length = 0;

	for (unsigned i = first; i < pattern->count; i++) {
		char spelled[SB_FOLD_MAX];

		sb_pattern_spells(pattern, i, spelled);
		length += (size_t)snprintf(name + length, sizeof name - length, "%s%s",
					   i > first ? "/" : "", spelled);
	}
	return sb_look_exists(directory, name);
}

/* Does the directory that leaves take away something of this pattern that has to stay? */
static bool takes_away(const struct sb_guard *guard, const struct sb_guard_place *place,
		       const struct sb_pattern_row *pattern, unsigned position,
		       struct sb_guard_answer *out)
{
	SB_AUTO_FD int directory = -1;
	bool hooks = (pattern->row->flags & SB_GUARD_IF_EXECUTABLE) &&
		     pattern->at[position].kind == SB_COMPONENT_NAME;

	if (!hooks && !(pattern->row->flags & SB_GUARD_IF_PROTECTING))
		return false;
	directory = openat(place->directory, place->name,
			   O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (directory < 0)
		return true;
	return hooks ? sb_look_inside(guard, directory, place->path, pattern, position + 1, out)
		     : holds_rest(directory, pattern, position + 1);
}

enum sb_guard_verdict sb_judge_departure(const struct sb_guard *guard,
					 const struct sb_guard_place *place,
					 struct sb_guard_answer *out)
{
	const struct sb_guard_row *first = NULL, *row;
	const struct sb_pattern_row *pattern;
	struct sb_stand stand;
	unsigned position;
	size_t from = 0;

	sb_say_nothing(out);
	sb_stand_split(place, &stand);
	if (stand.held)
		return sb_say_on_hold(guard, out);
	if (sb_commons_ask(guard, SB_GUARD_HIDE, place->path))
		return sb_say(out, sb_row_of_common(), SB_GUARD_ASK);
	row = sb_system_row(&guard->system, place->path, &out->named);
	if (row)
		return sb_say(out, row, SB_GUARD_ASK);
	if (sb_obeyed_leaves(guard, place, out) || sb_obeyed_goes_along(guard, place->path, out))
		return sb_say(out, out->row ? out->row : sb_row_of_git(guard), SB_GUARD_ASK);
	if (!(sb_stand_roles(guard, &stand, 0) & SB_ROLE_HOLDER) && !guard->options.protect_ignored)
		return sb_say_plain(out);
	while ((pattern = sb_stand_part(guard, &stand, &from, &position)))
		if (takes_away(guard, place, pattern, position, out))
			first = first ? first : pattern->row;
	return first ? sb_say(out, first, SB_GUARD_ASK) : sb_say_plain(out);
}
