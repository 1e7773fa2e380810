/*
 * Paths compared with the table's patterns: by hash and first letter, then name by name.
 */
#include <string.h>
#include <strings.h>

#include "guard/git_files.h"
#include "guard/stand.h"

bool sb_name_is_on_hold(const char *name, size_t length)
{
	const size_t ending = sizeof SB_GUARD_HOLD_ENDING - 1;

	return length >= ending &&
	       strncasecmp(name + length - ending, SB_GUARD_HOLD_ENDING, ending) == 0;
}

void sb_stand_split(const struct sb_guard_place *place, struct sb_stand *out)
{
	const char *start = place->path, *slash;

	out->place = place;
	out->has_dot = out->held = out->has_open = false;
	out->directory_length = 0;
	out->in_git = out->in_bare = NULL;
	for (unsigned i = 0; i < SB_MAX_NAMES; i++) {
		out->is_folded[i] = false;
		out->at[i] = (struct sb_name){"", 0};
	}
	while (*start == '/') {
		slash = strchrnul(++start, '/');
		if (slash == start)
			continue; /* a slash too many */
		/* not ASCII: something invisible may stand before the dot */
		if (*start == '.' || (signed char)*start < 0) {
			out->has_dot = true;
			out->held |= sb_name_is_on_hold(start, (size_t)(slash - start));
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
		out->at[0] = (struct sb_name){start, (size_t)(slash - start)};
		out->directory_length = (size_t)(start - place->path) - 1;
		start = slash;
	}
	if (place->name && place->name[0]) { /* the broker's own copy of the last name */
		size_t length = strlen(place->name);

		while (length > 1 && place->name[length - 1] == '/')
			length--;
		out->at[0] = (struct sb_name){place->name, length};
	}
}

const struct sb_folded *sb_stand_name(struct sb_stand *stand, unsigned index)
{
	if (!stand->is_folded[index]) {
		sb_fold(stand->at[index].text, stand->at[index].length, &stand->folded[index]);
		stand->is_folded[index] = true;
	}
	return &stand->folded[index];
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
		if (sb_folded_same(slot->name, name))
			return slot->roles;
	}
}

/* Length and first character alone rule most names out. */
static bool may_have_roles(const struct sb_guard *guard, const struct sb_name *name)
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

unsigned sb_stand_roles(const struct sb_guard *guard, struct sb_stand *stand, unsigned index)
{
	return may_have_roles(guard, &stand->at[index])
		       ? roles_of(guard, sb_stand_name(stand, index))
		       : 0;
}

bool sb_stand_is_dot_git(struct sb_stand *stand, unsigned index)
{
	const struct sb_folded *name = sb_stand_name(stand, index);

	return name->length == 4 && memcmp(name->text, ".git", 4) == 0;
}

/* The directory that is index levels above the name (1: the one that holds it). */
static bool is_git_directory(struct sb_stand *stand, unsigned index)
{
	static const char *const ups[SB_MAX_NAMES] = {NULL, "", "../", "../../"};

	return sb_stand_is_dot_git(stand, index) ||
	       (stand->in_git && sb_place_depth(stand->in_git) == index) ||
	       sb_look_is_git(stand->place->directory, ups[index]);
}

/* Does the name that is index levels up match? */
static bool matches(struct sb_stand *stand, unsigned index, const struct sb_component *component)
{
	const struct sb_name *name = &stand->at[index];

	switch (component->kind) {
	case SB_COMPONENT_NAME:
		return sb_folded_same(sb_stand_name(stand, index), &component->text);
	case SB_COMPONENT_ANY:
		return name->length > 0;
	case SB_COMPONENT_SUFFIX:
		return sb_component_ends(component, name->text, name->length);
	case SB_COMPONENT_GIT:
		return index ? is_git_directory(stand, index) : sb_stand_is_dot_git(stand, 0);
	default:
		return false;
	}
}

/*
 * Does the name stand where the pattern's component at position is?  From the last one back,
 * so that git's structure is asked of the disk after everything else agrees.
 */
static bool stands_at(struct sb_stand *stand, const struct sb_pattern_row *pattern,
		      unsigned position)
{
	for (unsigned i = 0; i <= position; i++)
		if (!matches(stand, i, &pattern->at[position - i]))
			return false;
	return true;
}

const struct sb_pattern_row *sb_stand_row(const struct sb_guard *guard, struct sb_stand *stand)
{
	const struct sb_table *table = sb_table_of(guard);

	for (size_t i = 0; i < table->count; i++) {
		const struct sb_pattern_row *pattern = &table->rows[i];

		if (pattern->keyed == SB_KEYED_TREE ||
		    (pattern->keyed == SB_KEYED_LAST &&
		     pattern->key != sb_stand_name(stand, 0)->hash))
			continue;
		if (stands_at(stand, pattern, pattern->count - 1u))
			return sb_look_is_sample(pattern->row, stand->at[0].text,
						 stand->at[0].length)
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

	for (size_t i = 0; i < table->tree_count; i++) {
		const struct sb_pattern_row *pattern = &table->rows[table->trees[i].row];
		const char *at = next;
		unsigned last;
		bool all;

		if (table->trees[i].key != first->hash)
			continue;
		last = pattern->count - 1u;
		all = sb_folded_same(&pattern->at[0].text, first);

		for (unsigned n = 1; n < last && all; n++) {
			struct sb_folded name;
			size_t length;

			if (*at != '/') {
				all = false;
				break;
			}
			length = strcspn(++at, "/");
			sb_fold(at, length, &name);
			all = sb_folded_same(&name, &pattern->at[n].text);
			at += length;
		}
		if (all && at[0] == '/' && at[1])
			return pattern;
	}
	return NULL;
}

bool sb_pattern_is_state(const struct sb_pattern_row *pattern)
{
	return pattern->row->kind == SB_GUARD_ANYTHING;
}

const struct sb_pattern_row *sb_stand_tree(const struct sb_guard *guard,
					   const struct sb_stand *stand,
					   const struct sb_pattern_row *state, bool of_state)
{
	const char *start = stand->place->path, *slash;

	if (!stand->has_dot)
		return NULL;
	for (; *start == '/'; start = slash) {
		const struct sb_pattern_row *found;
		struct sb_folded name;

		slash = strchrnul(++start, '/');
		if (*start != '.' && (signed char)*start >= 0)
			continue;
		sb_fold(start, (size_t)(slash - start), &name);
		if (!(roles_of(guard, &name) & SB_ROLE_TREE) ||
		    (state && start == stand->at[state->count - 1].text))
			continue;
		found = tree_at(guard, start, &name);
		if (found && (!sb_pattern_is_state(found) ||
			      (of_state && !(found->row->flags & SB_GUARD_MAY_LINK))))
			return found;
	}
	return NULL;
}

bool sb_stand_has_ending(const struct sb_guard *guard, const struct sb_stand *stand)
{
	const struct sb_name *name = &stand->at[0];
	const struct sb_table *table = sb_table_of(guard);

	for (size_t i = 0; i < table->ending_count; i++) {
		const struct sb_pattern_row *pattern = table->endings[i];

		if (sb_component_ends(&pattern->at[pattern->count - 1], name->text, name->length))
			return true;
	}
	return false;
}

static bool is_gits_own(struct sb_stand *stand)
{
	return is_git_directory(stand, 1) || sb_look_exists(stand->place->directory, "commondir");
}

/* history, in which agents have git's settings for checkpoints: many a project has one, too. */
static bool is_word_of_agents(const struct sb_pattern_row *pattern)
{
	return pattern->row->kind == SB_GUARD_GIT_CONFIG &&
	       pattern->at[0].kind == SB_COMPONENT_NAME && pattern->at[0].text.text[0] != '.' &&
	       !sb_is_word_of_git(pattern);
}

static bool is_dotted(struct sb_stand *stand, unsigned index)
{
	const struct sb_folded *name = sb_stand_name(stand, index);

	return name->length && name->text[0] == '.';
}

const struct sb_pattern_row *sb_stand_part(const struct sb_guard *guard, struct sb_stand *stand,
					   size_t *from, unsigned *out_position)
{
	const struct sb_table *table = sb_table_of(guard);

	for (; *from < table->count * SB_MAX_COMPONENTS; (*from)++) {
		const struct sb_pattern_row *pattern = &table->rows[*from / SB_MAX_COMPONENTS];
		unsigned position = *from % SB_MAX_COMPONENTS;

		if (position + 1 >= pattern->count || sb_pattern_is_state(pattern) ||
		    !stands_at(stand, pattern, position))
			continue;
		if (position == 0 && sb_is_word_of_git(pattern) && !is_gits_own(stand))
			continue;
		if (is_word_of_agents(pattern) && !is_dotted(stand, position + 1))
			continue;
		(*from)++;
		*out_position = position;
		return pattern;
	}
	return NULL;
}
