/*
 * What an act on a name means.
 *
 * The first look is at the name and its parent's name alone: one lookup each, no system call.
 * Only names that the table knows go further, and only git's ask the disk.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/escape.h"
#include "guard/git_files.h"
#include "guard/guard_impl.h"
#include "path/path.h"

/* The last components of a path, as they are written. */
struct name {
	const char *text;
	size_t length;
};

struct spot {
	const struct sb_guard_place *place;
	struct name at[SB_MAX_NAMES]; /* 0: the name itself, 1: its directory, ... */
	struct sb_folded folded[SB_MAX_NAMES];
	bool is_folded[SB_MAX_NAMES];
	size_t directory_length; /* of place->path without the name */
	bool has_dot;            /* some component may begin with a dot */
	bool held;               /* some component is on hold: sb_guard_is_held() */
	const char *
		in_git; /* of the path what lies in a .git, seen from its innermost git directory */
	const char
		*in_bare; /* behind a directory called NAME.git, which may be a bare repository */
	bool has_open;    /* some component is open-ended: git_files.h */
};

static bool ends_in_hold(const char *name, size_t length)
{
	const size_t ending = sizeof SB_GUARD_HOLD_ENDING - 1;

	return length >= ending &&
	       strncasecmp(name + length - ending, SB_GUARD_HOLD_ENDING, ending) == 0;
}

/* One pass over the path: its last names, and whether any begins with a dot. */
static void split(const struct sb_guard_place *place, struct spot *out)
{
	const char *start = place->path, *slash;

	out->place = place;
	out->has_dot = out->held = out->has_open = false;
	out->directory_length = 0;
	out->in_git = out->in_bare = NULL;
	for (unsigned i = 0; i < SB_MAX_NAMES; i++) {
		out->is_folded[i] = false;
		out->at[i] = (struct name){"", 0};
	}
	while (*start == '/') {
		slash = strchrnul(++start, '/');
		if (slash == start)
			continue; /* a slash too many */
		/* not ASCII: something invisible may stand before the dot */
		if (*start == '.' || (signed char)*start < 0) {
			out->has_dot = true;
			out->held |= ends_in_hold(start, (size_t)(slash - start));
			if (!out->in_git && slash[0] && slash[1] &&
			    sb_is_dot_git(start, (size_t)(slash - start)))
				out->in_git = sb_git_inner(slash + 1);
		} else if (slash[-1] == 't' && slash - start > 4 && slash[0] && slash[1] &&
			   memcmp(slash - 4, ".git", 4) == 0) {
			out->in_bare = slash + 1;
		}
		if (sb_git_may_be_open_ended(start) &&
		    sb_git_is_open_ended(start, (size_t)(slash - start)))
			out->has_open = true;
		for (unsigned i = SB_MAX_NAMES - 1; i > 0; i--)
			out->at[i] = out->at[i - 1];
		out->at[0] = (struct name){start, (size_t)(slash - start)};
		out->directory_length = (size_t)(start - place->path) - 1;
		start = slash;
	}
	if (place->name && place->name[0]) { /* the broker's own copy of the last name */
		size_t length = strlen(place->name);

		while (length > 1 && place->name[length - 1] == '/')
			length--;
		out->at[0] = (struct name){place->name, length};
	}
}

static const struct sb_folded *folded(struct spot *spot, unsigned index)
{
	if (!spot->is_folded[index]) {
		sb_fold(spot->at[index].text, spot->at[index].length, &spot->folded[index]);
		spot->is_folded[index] = true;
	}
	return &spot->folded[index];
}

static bool same(const struct sb_folded *a, const struct sb_folded *b)
{
	return a->length == b->length && a->length != SB_FOLD_MAX && a->hash == b->hash &&
	       memcmp(a->text, b->text, a->length) == 0;
}

static unsigned roles_of(const struct sb_guard *guard, const struct sb_folded *name)
{
	const struct sb_table *table = sb_table_of(guard);

	if (name->length == SB_FOLD_MAX)
		return 0;
	for (uint32_t at = name->hash;; at++) {
		const struct sb_slot *slot = &table->slots[at % SB_SLOTS];

		if (!slot->name)
			return 0;
		if (same(slot->name, name))
			return slot->roles;
	}
}

/* Length and first character alone rule most names out. */
static bool may_have_roles(const struct sb_guard *guard, const struct name *name)
{
	const struct sb_table *table = sb_table_of(guard);
	unsigned char first = (unsigned char)name->text[0];

	if (!sb_is_ascii(name->text, name->length))
		return true;
	if (first >= 'A' && first <= 'Z')
		first |= 0x20;
	return name->length < SB_FOLD_MAX &&
	       (table->maybe[name->length][first / 64] & UINT64_C(1) << first % 64);
}

static unsigned roles_at(const struct sb_guard *guard, struct spot *spot, unsigned index)
{
	return may_have_roles(guard, &spot->at[index]) ? roles_of(guard, folded(spot, index)) : 0;
}

static bool is_dot_git(struct spot *spot, unsigned index)
{
	const struct sb_folded *name = folded(spot, index);

	return name->length == 4 && memcmp(name->text, ".git", 4) == 0;
}

/* The directory that is index levels above the name (1: the one that holds it). */
static bool is_git_directory(struct spot *spot, unsigned index)
{
	static const char *const ups[SB_MAX_NAMES] = {NULL, "", "../", "../../"};

	return is_dot_git(spot, index) || (spot->in_git && sb_place_depth(spot->in_git) == index) ||
	       sb_look_is_git(spot->place->directory, ups[index]);
}

/* Does the name that is index levels up match? */
static bool matches(struct spot *spot, unsigned index, const struct sb_component *component)
{
	const struct name *name = &spot->at[index];

	switch (component->kind) {
	case SB_COMPONENT_NAME:
		return same(folded(spot, index), &component->text);
	case SB_COMPONENT_ANY:
		return name->length > 0;
	case SB_COMPONENT_SUFFIX:
		return sb_component_ends(component, name->text, name->length);
	case SB_COMPONENT_GIT:
		return index ? is_git_directory(spot, index) : is_dot_git(spot, 0);
	default:
		return false;
	}
}

/*
 * Does the name stand where the pattern's component at position is?  From the last one back,
 * so that git's structure is asked of the disk after everything else agrees.
 */
static bool stands_at(struct spot *spot, const struct sb_pattern_row *pattern, unsigned position)
{
	for (unsigned i = 0; i <= position; i++)
		if (!matches(spot, i, &pattern->at[position - i]))
			return false;
	return true;
}

static const struct sb_pattern_row *row_of(const struct sb_guard *guard, struct spot *spot)
{
	const struct sb_table *table = sb_table_of(guard);

	for (size_t i = 0; i < table->count; i++) {
		const struct sb_pattern_row *pattern = &table->rows[i];

		if (pattern->keyed == SB_KEYED_TREE ||
		    (pattern->keyed == SB_KEYED_LAST && pattern->key != folded(spot, 0)->hash))
			continue;
		if (stands_at(spot, pattern, pattern->count - 1u))
			return sb_look_is_sample(pattern->row, spot->at[0].text, spot->at[0].length)
				       ? NULL
				       : pattern;
	}
	return NULL;
}

/* Has the path, from the component at text on, the names of a "**" pattern, and more beneath? */
static const struct sb_pattern_row *tree_at(const struct sb_guard *guard, const char *text,
					    const struct sb_folded *first)
{
	const struct sb_table *table = sb_table_of(guard);
	const char *next = text + strcspn(text, "/");

	for (size_t i = 0; i < table->count; i++) {
		const struct sb_pattern_row *pattern = &table->rows[i];
		const char *at = next;
		unsigned last = pattern->count - 1u;
		bool all = pattern->keyed == SB_KEYED_TREE && pattern->key == first->hash &&
			   same(&pattern->at[0].text, first);

		for (unsigned n = 1; n < last && all; n++) {
			struct sb_folded name;
			size_t length;

			if (*at != '/') {
				all = false;
				break;
			}
			length = strcspn(++at, "/");
			sb_fold(at, length, &name);
			all = same(&name, &pattern->at[n].text);
			at += length;
		}
		if (all && at[0] == '/' && at[1])
			return pattern;
	}
	return NULL;
}

static bool is_state(const struct sb_pattern_row *pattern)
{
	return pattern->row->kind == SB_GUARD_ANYTHING;
}

/*
 * Guarded trees all begin with a dot.  What is state in one may lie in another all the same.  state: a
 * pattern that the name itself fits, or NULL.
 */
static const struct sb_pattern_row *tree_of(const struct sb_guard *guard, const struct spot *spot,
					    const struct sb_pattern_row *state)
{
	const char *start = spot->place->path, *slash;

	if (!spot->has_dot)
		return NULL;
	for (; *start == '/'; start = slash) {
		const struct sb_pattern_row *found;
		struct sb_folded name;

		slash = strchrnul(++start, '/');
		if (*start != '.' && (signed char)*start >= 0)
			continue;
		sb_fold(start, (size_t)(slash - start), &name);
		if (!(roles_of(guard, &name) & SB_ROLE_TREE) ||
		    (state && start == spot->at[state->count - 1].text))
			continue;
		found = tree_at(guard, start, &name);
		if (found && !is_state(found))
			return found;
	}
	return NULL;
}

/* "*.code-workspace", "<git>/sharedindex.*" and their like: the few patterns without such a name */
static bool has_ending(const struct sb_guard *guard, const struct name *name)
{
	const struct sb_table *table = sb_table_of(guard);

	for (size_t i = 0; i < table->ending_count; i++) {
		const struct sb_pattern_row *pattern = table->endings[i];

		if (sb_component_ends(&pattern->at[pattern->count - 1], name->text, name->length))
			return true;
	}
	return false;
}

static const struct sb_guard_row *row_named(const struct sb_guard *guard, const char *pattern)
{
	const struct sb_table *table = sb_table_of(guard);

	for (size_t i = 0; i < table->count; i++)
		if (strcmp(table->rows[i].row->pattern, pattern) == 0)
			return table->rows[i].row;
	return sb_row_of_git(guard);
}

static const struct sb_guard_row *row_of_extra(const struct sb_guard *guard,
					       const struct sb_extra *extra)
{
	if (extra->row)
		return extra->row;
	return row_named(guard, extra->kind == SB_EXTRA_CONFIG ? "<git>/config" : "<git>/hooks/*");
}

/* Does it count for what is beneath its path? */
static bool has_inside(const struct sb_extra *extra)
{
	return extra->kind == SB_EXTRA_HOOKS || extra->kind == SB_EXTRA_ROW;
}

/* Is name, which may have a directory in it, what it means of what is beneath its path? */
static bool means_inside(const struct sb_extra *extra, const char *name)
{
	struct sb_component component = {0};

	if (!has_inside(extra) || !extra->wild)
		return has_inside(extra);
	sb_component_make(extra->wild, strlen(extra->wild), &component);
	return !strchr(name, '/') && (component.kind == SB_COMPONENT_ANY ||
				      sb_component_ends(&component, name, strlen(name)));
}

/* Is path what a git config names: a hook, or an included file; or what a link leads to? */
static const struct sb_extra *extra_of(const struct sb_guard *guard, const struct sb_extras *extras,
				       const char *path)
{
	for (size_t i = 0; i < extras->count; i++) {
		const struct sb_extra *extra = &extras->all[i];
		size_t length = strlen(extra->path);

		if (strncmp(path, extra->path, length) == 0 &&
		    ((path[length] == '/' && means_inside(extra, path + length + 1)) ||
		     (path[length] == '\0' && extra->kind != SB_EXTRA_HOOKS && !extra->wild))) {
			const char *name = strrchr(path, '/') + 1;

			return sb_look_is_sample(row_of_extra(guard, extra), name, strlen(name))
				       ? NULL
				       : extra;
		}
	}
	return NULL;
}

/* The same where the run began: what is said about it holds for as long as the guard. */
static const struct sb_guard_row *named_row(const struct sb_guard *guard, const char *path,
					    struct sb_guard_answer *out)
{
	const struct sb_extra *extra = extra_of(guard, &guard->extras, path);

	if (!extra)
		return NULL;
	out->named = extra->row ? extra->path : NULL;
	return row_of_extra(guard, extra);
}

/* Does path lead to what a git config names? */
static const struct sb_extra *extra_beneath(const struct sb_extras *extras, const char *path)
{
	for (size_t i = 0; i < extras->count; i++)
		if (sb_path_within(path, extras->all[i].path))
			return &extras->all[i];
	return NULL;
}

const struct sb_guard_row *sb_row_of_extra(const struct sb_guard *guard,
					   const struct sb_extra *extra)
{
	return row_of_extra(guard, extra);
}

bool sb_extras_have(const struct sb_guard *guard, const char *path)
{
	return extra_of(guard, &guard->extras, path) || extra_beneath(&guard->extras, path);
}

/* Is path a directory that the user's own core.hooksPath means, in whatever repository? */
static const struct sb_extra *hooks_anywhere(const struct sb_guard *guard, const char *path,
					     size_t length)
{
	for (size_t i = 0; i < guard->extras.count; i++) {
		const struct sb_extra *extra = &guard->extras.all[i];
		size_t size = strlen(extra->path);

		if (extra->kind == SB_EXTRA_ANYWHERE && length > size &&
		    path[length - size - 1] == '/' &&
		    memcmp(path + length - size, extra->path, size) == 0)
			return extra;
	}
	return NULL;
}

/* Git runs names like this one wherever core.hooksPath of a repository around it says. */
static const struct sb_guard_row *hook_of(const struct sb_guard *guard, const struct spot *spot)
{
	SB_AUTO_FREE char *directory = strndup(spot->place->path, spot->directory_length);
	struct sb_extras around = {0};
	const struct sb_guard_row *row;
	const struct sb_extra *extra;

	if (!directory || sb_extras_around(directory, &around) != SB_OK) {
		row = sb_row_of_git(guard); /* out of memory: ask */
	} else {
		extra = extra_of(guard, &around, spot->place->path);
		row = extra ? row_of_extra(guard, extra) : NULL;
	}
	sb_extras_done(&around);
	extra = row ? NULL : hooks_anywhere(guard, spot->place->path, spot->directory_length);
	return extra ? row_of_extra(guard, extra) : row;
}

static enum sb_guard_verdict answer(struct sb_guard_answer *out, const struct sb_guard_row *row,
				    enum sb_guard_verdict verdict)
{
	out->verdict = verdict;
	out->row = verdict == SB_GUARD_PLAIN ? NULL : row;
	out->kind = verdict == SB_GUARD_PLAIN ? SB_GUARD_SAME : row->kind;
	return verdict;
}

static void start_answer(struct sb_guard_answer *out)
{
	out->row = NULL;
	out->looked = out->found = 0;
	out->named = NULL;
	out->detail[0] = '\0';
}

static enum sb_guard_verdict plain(struct sb_guard_answer *out)
{
	out->detail[0] = '\0';
	out->found = 0;
	return answer(out, NULL, SB_GUARD_PLAIN);
}

static enum sb_guard_verdict judge_row(enum sb_guard_act act, const struct sb_guard_row *row,
				       struct sb_guard_answer *out)
{
	switch (act) {
	case SB_GUARD_WRITE:
	case SB_GUARD_LINK_TO: /* what lands is a copy of what was looked at: land.h */
		return answer(out, row, row->kind == SB_GUARD_SAME ? SB_GUARD_ASK : SB_GUARD_CHECK);
	case SB_GUARD_UNLINK: /* gone runs nothing; but a hook may be there to stop something */
		if (row->flags & SB_GUARD_IF_PROTECTING)
			return answer(out, row, SB_GUARD_ASK);
		/* fall through */
	case SB_GUARD_METADATA:
		return row->flags & SB_GUARD_IF_EXECUTABLE ? answer(out, row, SB_GUARD_ASK)
							   : plain(out);
	case SB_GUARD_MKDIR:
		return plain(out);
	default:
		return answer(out, row, SB_GUARD_ASK);
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

static enum sb_guard_verdict on_hold(const struct sb_guard *guard, struct sb_guard_answer *out)
{
	return answer(out, row_named(guard, "*" SB_GUARD_HOLD_ENDING), SB_GUARD_ASK);
}

bool sb_guard_is_held(const char *path)
{
	/* asked for every held call: no more of split() than this */
	for (const char *slash = path; *slash == '/';) {
		const char *start = slash + 1;

		slash = strchrnul(start, '/');
		if ((*start == '.' || (signed char)*start < 0) &&
		    ends_in_hold(start, (size_t)(slash - start)))
			return true;
	}
	return false;
}

/* Is there, beside the name, what git would obey in a git directory? */
static enum sb_guard_verdict look_beside(const struct sb_guard *guard, const struct spot *spot,
					 struct sb_guard_answer *out)
{
	const struct sb_guard_place *place = spot->place;
	char path[4096], name[SB_FOLD_MAX];
	const char *fresh = NULL;

	if (place->fresh) {
		snprintf(name, sizeof name, "%.*s", (int)strcspn(place->name, "/"), place->name);
		fresh = name;
	}

	if (spot->directory_length >= sizeof path)
		return answer(out, sb_row_of_git(guard), SB_GUARD_ASK);
	memcpy(path, place->path, spot->directory_length);
	path[spot->directory_length] = '\0';
	return place->directory < 0 || sb_look_for_git(guard, place->directory, path, fresh, out) ||
			       sb_look_for_links(place->directory, fresh)
		       ? answer(out, out->row ? out->row : sb_row_of_git(guard), SB_GUARD_ASK)
		       : plain(out);
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
static enum sb_guard_verdict judge_structure(const struct sb_guard *guard, struct spot *spot,
					     bool links, struct sb_guard_answer *out)
{
	const struct sb_guard_place *place = spot->place;
	bool is_refs = folded(spot, 0)->length == 4;

	/* in .git all names were guarded from the start */
	if (is_dot_git(spot, 1) || (place->directory >= 0 && sb_look_is_git(place->directory, "")))
		return plain(out);
	/* also if the other one is missing: somebody may be making that */
	out->looked |= SB_LOOKED_BESIDE;
	if (place->directory >= 0 &&
	    !sb_look_exists(place->directory, is_refs ? "objects" : "refs"))
		return plain(out);
	return look_beside(guard, spot, out) == SB_GUARD_PLAIN && links
		       ? answer(out, sb_row_of_git(guard), SB_GUARD_ASK)
		       : out->verdict;
}

enum sb_guard_verdict sb_guard_completed(const struct sb_guard *guard,
					 const struct sb_guard_place *place, bool *out_complete,
					 struct sb_guard_answer *out)
{
	struct spot spot;

	sb_guard_need(guard);
	start_answer(out);
	split(place, &spot);
	*out_complete = sb_look_is_git(place->directory, "");
	return *out_complete && !is_dot_git(&spot, 1) ? look_beside(guard, &spot, out) : plain(out);
}

static bool is_gits_own(struct spot *spot)
{
	return is_git_directory(spot, 1) || sb_look_exists(spot->place->directory, "commondir");
}

/* history, in which agents have git's settings for checkpoints: many a project has one, too. */
static bool is_word_of_agents(const struct sb_pattern_row *pattern)
{
	return pattern->row->kind == SB_GUARD_GIT_CONFIG &&
	       pattern->at[0].kind == SB_COMPONENT_NAME && pattern->at[0].text.text[0] != '.' &&
	       !sb_is_word_of_git(pattern);
}

static bool is_dotted(struct spot *spot, unsigned index)
{
	const struct sb_folded *name = folded(spot, index);

	return name->length && name->text[0] == '.';
}

/* The pattern in which the name would stand for a directory; start at *from, which moves on. */
static const struct sb_pattern_row *part_of(const struct sb_guard *guard, struct spot *spot,
					    size_t *from, unsigned *out_position)
{
	const struct sb_table *table = sb_table_of(guard);

	for (; *from < table->count * SB_MAX_COMPONENTS; (*from)++) {
		const struct sb_pattern_row *pattern = &table->rows[*from / SB_MAX_COMPONENTS];
		unsigned position = *from % SB_MAX_COMPONENTS;

		if (position + 1 >= pattern->count || is_state(pattern) ||
		    !stands_at(spot, pattern, position))
			continue;
		if (position == 0 && sb_is_word_of_git(pattern) && !is_gits_own(spot))
			continue;
		if (is_word_of_agents(pattern) && !is_dotted(spot, position + 1))
			continue;
		(*from)++;
		*out_position = position;
		return pattern;
	}
	return NULL;
}

/* A link in the place of a directory leads to files whose own names are not guarded. */
static enum sb_guard_verdict judge_link(const struct sb_guard *guard, struct spot *spot,
					struct sb_guard_answer *out)
{
	const struct sb_extra *extra = extra_beneath(&guard->extras, spot->place->path);
	const struct sb_pattern_row *pattern;
	unsigned position;
	size_t from = 0;

	if (extra)
		return answer(out, row_of_extra(guard, extra), SB_GUARD_ASK);
	pattern = part_of(guard, spot, &from, &position);
	return pattern ? answer(out, pattern->row, SB_GUARD_ASK) : plain(out);
}

/*
 * In a bare repository there may be work trees as well, so that what lies in a directory that git does not
 * know is nothing of git's.
 */
static const char *inner_of_bare(const struct spot *spot)
{
	const char *inner = spot->in_bare ? sb_git_inner(spot->in_bare) : NULL;

	if (!inner || (strchr(inner, '/') && !sb_git_is_known_directory(inner)) ||
	    !sb_place_is_git_above(spot->place->directory, sb_place_depth(spot->in_bare)))
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
static const struct sb_guard_row *fixed_row_of(const struct spot *spot)
{
	const struct sb_guard_row *row;
	size_t position = 0;

	while ((row = sb_git_next_fixed(&position))) {
		const char *name = sb_git_fixed_name(row);
		size_t length = strlen(name), whole = strlen(spot->place->path);

		if (whole > length && spot->place->path[whole - length - 1] == '/' &&
		    strcasecmp(spot->place->path + whole - length, name) == 0 &&
		    (is_of_worktree(spot->place->path, name) ||
		     sb_place_is_git_above(spot->place->directory, sb_place_depth(name))))
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
static enum sb_guard_verdict judge_in_git(enum sb_guard_act act, struct spot *spot, unsigned roles,
					  struct sb_guard_answer *out)
{
	const char *inner = spot->in_git ? spot->in_git : inner_of_bare(spot);
	const struct sb_guard_row *row = NULL;

	/* what goes away has no form */
	if (!inner && spot->has_open && act != SB_GUARD_UNLINK && act != SB_GUARD_METADATA)
		inner = sb_place_inner_open(spot->place, false);
	if (inner)
		row = sb_git_row_of(inner);
	else if (roles & SB_ROLE_GIT_FILE)
		row = fixed_row_of(spot);
	if (!row)
		return plain(out);
	if (inner && sb_git_ref_is_odd(row, inner) &&
	    (act == SB_GUARD_WRITE || act == SB_GUARD_LINK_TO)) {
		snprintf(out->detail, sizeof out->detail, "%s", SB_ODD_REF);
		return answer(out, row, SB_GUARD_ASK);
	}
	/* a FIFO or socket is none of git's, whatever its name; links see below */
	if (row->kind == SB_GUARD_ANYTHING)
		return act == SB_GUARD_MKNOD ? answer(out, row, SB_GUARD_ASK) : plain(out);
	return judge_row(act, row, out);
}

/* A program of the user's own settings that is there already is run once there is a .git. */
static enum sb_guard_verdict judge_new_directory(const struct sb_guard *guard, struct spot *spot,
						 struct sb_guard_answer *out)
{
	SB_AUTO_FREE char *top = NULL;

	if (!spot->has_dot || !guard->extras.count || !is_dot_git(spot, 0))
		return plain(out);
	top = sb_path_parent(spot->place->path);
	return !top || sb_obeyed_by_user(guard, top, out)
		       ? answer(out, out->row ? out->row : sb_row_of_git(guard), SB_GUARD_ASK)
		       : plain(out);
}

static const struct sb_guard_row *program_row(const struct sb_guard *guard, const char *path)
{
	const struct sb_extra *extra = sb_obeyed_program(guard, path);

	return extra ? row_of_extra(guard, extra) : NULL;
}

static enum sb_guard_verdict judge_spot(const struct sb_guard *guard, enum sb_guard_act act,
					struct spot *spot, struct sb_guard_answer *out)
{
	unsigned roles = roles_at(guard, spot, 0);
	const struct sb_pattern_row *pattern = NULL, *state = NULL;
	const struct sb_guard_row *row = NULL;
	bool lands = act != SB_GUARD_UNLINK && act != SB_GUARD_METADATA &&
		     act != SB_GUARD_LINK_FROM;

	if (spot->held)
		return on_hold(guard, out);
	if (sb_commons_ask(guard, act, spot->place->path))
		return answer(out, sb_row_of_common(), SB_GUARD_ASK);
	if ((roles & SB_ROLE_STRUCTURE) && lands &&
	    judge_structure(guard, spot, act == SB_GUARD_SYMLINK, out) != SB_GUARD_PLAIN)
		return out->verdict;
	if (act == SB_GUARD_MKDIR)
		return judge_new_directory(guard, spot, out);
	if ((roles & SB_ROLE_LAST) || (roles_at(guard, spot, 1) & SB_ROLE_HOLDER) ||
	    has_ending(guard, &spot->at[0]))
		pattern = row_of(guard, spot);
	if (pattern && is_state(pattern)) {
		/* through a link the agent outside would write elsewhere */
		if (act != SB_GUARD_WRITE && lands)
			return answer(out, pattern->row, SB_GUARD_ASK);
		state = pattern;
		pattern = NULL;
	}
	if (!pattern)
		pattern = tree_of(guard, spot, state);
	if (pattern)
		row = pattern->row;
	if (!row && guard->extras.count)
		row = named_row(guard, spot->place->path, out);
	if (!row && guard->extras.count)
		row = program_row(guard, spot->place->path);
	if (!row && (roles & SB_ROLE_HOOK))
		row = hook_of(guard, spot);
	if (row && judge_row(act, row, out) != SB_GUARD_PLAIN)
		return row->kind == SB_GUARD_AGENT_LOOKS && is_in_project(guard, spot->place->path)
			       ? answer(out, row, SB_GUARD_ASK)
			       : out->verdict;
	if (!row &&
	    (spot->in_git || spot->in_bare || spot->has_open || (roles & SB_ROLE_GIT_FILE)) &&
	    act != SB_GUARD_SYMLINK && judge_in_git(act, spot, roles, out) != SB_GUARD_PLAIN)
		return out->verdict;
	if (act == SB_GUARD_SYMLINK &&
	    (((roles | roles_at(guard, spot, 1)) & SB_ROLE_PART) || guard->extras.count ||
	     is_dot_git(spot, 0)) &&
	    judge_link(guard, spot, out) != SB_GUARD_PLAIN)
		return out->verdict;
	if (act == SB_GUARD_SYMLINK && sb_place_is_in_git(spot->place) &&
	    !sb_place_is_trial(spot->place))
		return answer(out, row_named(guard, ".git"), SB_GUARD_ASK);
	return plain(out);
}

static enum sb_guard_verdict judge_leaving(const struct sb_guard *guard,
					   const struct sb_guard_place *place,
					   struct sb_guard_answer *out);

/*
 * SECURITY: git is told something by a file that could not be read.
 *
 * Danger: a run closes it; the next one does not know the hooks that it names, makes them, and opens it.
 * Price: who has closed a config opens it himself.
 * Held by: tests/supervise/obeyed.py
 */
static enum sb_guard_verdict judge_reopened(const struct sb_guard *guard, struct spot *spot,
					    struct sb_guard_answer *out)
{
	const struct sb_guard_place *place = spot->place;
	const struct sb_pattern_row *pattern =
		roles_at(guard, spot, 0) & SB_ROLE_LAST ? row_of(guard, spot) : NULL;
	const struct sb_guard_row *row = pattern ? pattern->row
						 : named_row(guard, place->path, out);

	if (!row || (row->kind != SB_GUARD_GIT_CONFIG && row->kind != SB_GUARD_GITFILE) ||
	    place->directory < 0 ||
	    faccessat(place->directory, place->name, R_OK, AT_EACCESS) == 0 || errno != EACCES)
		return plain(out);
	return answer(out, row, SB_GUARD_ASK);
}

enum sb_guard_verdict sb_guard_judge(const struct sb_guard *guard, enum sb_guard_act act,
				     const struct sb_guard_place *place,
				     struct sb_guard_answer *out)
{
	struct spot spot;

	sb_guard_need(guard);
	if (act == SB_GUARD_HIDE && S_ISDIR(place->mode))
		return judge_leaving(guard, place, out);
	start_answer(out);
	if (act == SB_GUARD_HIDE && sb_commons_ask(guard, act, place->path))
		return answer(out, sb_row_of_common(), SB_GUARD_ASK);
	split(place, &spot);
	if (act == SB_GUARD_HIDE)
		act = SB_GUARD_METADATA;
	if (judge_spot(guard, act, &spot, out) != SB_GUARD_PLAIN || act != SB_GUARD_METADATA)
		return out->verdict;
	return judge_reopened(guard, &spot, out);
}

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
		if (sb_look_exists(directory, *rest ? rest + 1 : "."))
			any |= sb_look_found(guard, out, row_of_extra(guard, extra), extra->path, 0,
					     NULL);
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
static bool was_obeyed(const struct spot *spot, const char *source, int directory)
{
	return directory >= 0 && sb_look_is_git(directory, "") &&
	       (sb_place_is_called_git(source) || !sb_place_is_called_git(spot->place->path));
}

/*
 * SECURITY: a directory becomes somebody's .git.
 *
 * Danger: its config names hooks and files beside it, which were nobody's while it was away; and what git
 * obeys in it by words like "sequencer" was nobody's if it was no git directory before.
 * Price: moving a .git away and back asks where it names such.
 * Held by: tests/supervise/detours.py
 */
static bool names_more(const struct sb_guard *guard, const struct spot *spot, const char *source,
		       int directory, struct sb_guard_answer *out)
{
	const char *path = spot->place->path;
	SB_AUTO_FREE char *top = sb_path_parent(path);
	struct sb_repository repository = {
		.own = (char *)source, .common = (char *)source, .becomes = path};
	struct sb_moving moving = {directory, path, false}; /* what will be in it is in it now */
	bool blind = !top || directory < 0;
	bool found = blind || sb_obeyed_asks(guard, &repository, top, &moving, out);

	out->looked |= SB_LOOKED_INTO;
	if (!blind)
		found |= sb_obeyed_by_user(guard, top, out);
	if (!blind && !was_obeyed(spot, source, directory))
		found |= sb_look_for_git(guard, directory, path, NULL, out);
	return found;
}

/* A git directory was guarded all along, and has no links but the user's. */
static bool brings_links_to_git(struct spot *spot, const char *source, int directory,
				struct sb_guard_answer *out)
{
	if (!(is_dot_git(spot, 0) || sb_place_is_in_git(spot->place)) ||
	    was_obeyed(spot, source, directory))
		return false;
	out->looked |= SB_LOOKED_INTO;
	return directory < 0 || sb_look_for_links(directory, NULL);
}

/*
 * Does a directory bring what git does not know, or not in this form?  What was called .git all the time was
 * guarded all the time; a submodule's was so by a name whose end nobody can tell: modules/a/b/c.
 */
static bool brings_unknown(const struct sb_guard *guard, struct spot *spot, const char *source,
			   int directory, struct sb_guard_answer *out)
{
	static const char *const steps[] = {"rebase-merge", "rebase-apply", "sequencer"};
	const char *path = spot->place->path, *inner;
	char prefix[32];
	bool any = false;

	if (spot->in_git || is_dot_git(spot, 0)) {
		/* one that has its name already had nobody knows which before */
		if (sb_place_is_git_root(path) && source != path && sb_place_is_called_git(source))
			return false;
		out->looked |= SB_LOOKED_INTO;
		return sb_look_at_git_tree(guard, directory, path, out);
	}
	inner = sb_place_inner_open(spot->place, true);
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
		if (spot->at[0].length != strlen(steps[i]) ||
		    strncasecmp(spot->at[0].text, steps[i], spot->at[0].length) != 0)
			continue;
		out->looked |= SB_LOOKED_INTO;
		snprintf(prefix, sizeof prefix, "%s/", steps[i]);
		if (sb_place_is_git_above(spot->place->directory, 1))
			any |= sb_look_for_git_files(guard, directory, path, prefix, NULL, out);
		break;
	}
	return any;
}

static bool is_dots(const struct name *name)
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
static enum sb_guard_verdict judge_arrival(const struct sb_guard *guard, struct spot *spot,
					   const char *source, int directory,
					   struct sb_guard_answer *out)
{
	const char *path = spot->place->path;
	const struct sb_pattern_row *pattern = tree_of(guard, spot, NULL);
	const struct sb_guard_row *row;
	struct sb_extras around = {0};
	SB_AUTO_FREE char *parent = NULL;
	unsigned position;
	size_t from = 0;
	bool found = false;

	if (spot->at[0].length > NAME_MAX || is_dots(&spot->at[0]))
		return plain(out); /* nobody can have that name, as the kernel will say */
	if (spot->held)
		return on_hold(guard, out);
	if (sb_commons_ask(guard, SB_GUARD_WRITE, path))
		return answer(out, sb_row_of_common(), SB_GUARD_ASK);
	if (pattern)
		return answer(out, pattern->row, SB_GUARD_ASK);
	row = named_row(guard, path, out); /* beneath what a link leads to */
	if (row)
		return answer(out, row, SB_GUARD_ASK);
	if (is_dot_git(spot, 0) && names_more(guard, spot, source, directory, out))
		return answer(out, out->row ? out->row : sb_row_of_git(guard), SB_GUARD_ASK);
	if (brings_unknown(guard, spot, source, directory, out))
		return answer(out, out->row, SB_GUARD_ASK);
	if (brings_links_to_git(spot, source, directory, out))
		return answer(out, row_named(guard, ".git"), SB_GUARD_ASK);
	if ((roles_at(guard, spot, 0) & SB_ROLE_STRUCTURE) &&
	    judge_structure(guard, spot, directory < 0 || sb_look_for_links(directory, NULL),
			    out) != SB_GUARD_PLAIN)
		return out->verdict;
	if (leads_elsewhere(guard, directory, path, out) ||
	    sb_obeyed_moved(guard, source, directory, path, out))
		return answer(out, out->row, SB_GUARD_ASK);
	if (hooks_anywhere(guard, path, strlen(path)))
		return answer(out, row_of_extra(guard, hooks_anywhere(guard, path, strlen(path))),
			      SB_GUARD_ASK);
	while ((pattern = part_of(guard, spot, &from, &position))) {
		out->looked |= SB_LOOKED_INTO;
		/* a git directory was guarded all along, whatever it was called */
		if (pattern->at[position].kind == SB_COMPONENT_GIT &&
		    was_obeyed(spot, source, directory))
			continue;
		if (directory < 0)
			return answer(out, pattern->row, SB_GUARD_ASK);
		found |= sb_look_inside(guard, directory, path, pattern, position + 1, out);
	}
	parent = sb_path_parent(path);
	if (!parent || sb_extras_around(parent, &around) != SB_OK)
		found = true;
	found |= brings_extra(guard, &guard->extras, directory, path, out);
	found |= brings_extra(guard, &around, directory, path, out);
	found |= sb_obeyed_beneath(guard, directory, path, out);
	sb_extras_done(&around);
	return found ? answer(out, out->row ? out->row : sb_row_of_git(guard), SB_GUARD_ASK)
		     : plain(out);
}

/* What is at source gets the name of target. */
static enum sb_guard_verdict judge_landing(const struct sb_guard *guard,
					   const struct sb_guard_place *source,
					   const struct sb_guard_place *target,
					   struct sb_guard_answer *out)
{
	struct spot spot;

	start_answer(out);
	split(target, &spot);
	if (S_ISDIR(source->mode)) {
		SB_AUTO_FD int directory =
			source->directory < 0
				? -1
				: openat(source->directory, source->name,
					 O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		return judge_arrival(guard, &spot, source->path, directory, out);
	}
	return judge_spot(guard,
			  S_ISREG(source->mode)   ? SB_GUARD_WRITE
			  : S_ISLNK(source->mode) ? SB_GUARD_SYMLINK
						  : SB_GUARD_MKNOD,
			  &spot, out);
}

/* Is what the rest of the pattern names, from first on, in directory?  Unknown counts as yes. */
static bool holds_rest(int directory, const struct sb_pattern_row *pattern, unsigned first)
{
	char name[SB_MAX_NAMES * (SB_FOLD_MAX + 1)] = "";
	size_t length = 0;

	for (unsigned i = first; i < pattern->count; i++) {
		length += (size_t)snprintf(name + length, sizeof name - length, "%s%s",
					   i > first ? "/" : "", pattern->at[i].text.text);
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

/* A directory that leaves takes away what may be there to stop something: hooks. */
static enum sb_guard_verdict judge_leaving(const struct sb_guard *guard,
					   const struct sb_guard_place *place,
					   struct sb_guard_answer *out)
{
	const struct sb_guard_row *first = NULL;
	const struct sb_pattern_row *pattern;
	struct spot spot;
	unsigned position;
	size_t from = 0;

	if (!S_ISDIR(place->mode))
		return sb_guard_judge(guard, SB_GUARD_UNLINK, place, out);
	start_answer(out);
	split(place, &spot);
	if (spot.held)
		return on_hold(guard, out);
	if (sb_commons_ask(guard, SB_GUARD_HIDE, place->path))
		return answer(out, sb_row_of_common(), SB_GUARD_ASK);
	if (sb_obeyed_leaves(guard, place, out))
		return answer(out, out->row ? out->row : sb_row_of_git(guard), SB_GUARD_ASK);
	if (!(roles_at(guard, &spot, 0) & SB_ROLE_HOLDER) && !guard->options.protect_ignored)
		return plain(out);
	while ((pattern = part_of(guard, &spot, &from, &position)))
		if (takes_away(guard, place, pattern, position, out))
			first = first ? first : pattern->row;
	return first ? answer(out, first, SB_GUARD_ASK) : plain(out);
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
		at_to = answer(out_to, sb_row_of_git(guard), SB_GUARD_ASK);
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
		answer(out, out->row, SB_GUARD_ASK);
	return out->verdict;
}

enum sb_guard_verdict sb_guard_landed(const struct sb_guard *guard,
				      const struct sb_guard_place *place,
				      struct sb_guard_answer *out)
{
	sb_guard_need(guard);
	return judge_landing(guard, place, place, out);
}
