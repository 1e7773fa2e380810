/*
 * What of an agent's own JSON file runs something.
 *
 * SECURITY: known by names, at any depth, and not by a list of all that is harmless.
 *
 * Danger: a new version of the agent reads a new name from this file that runs something.  So names count by
 * what is in them ("mcp", "hook", "trust"), whatever stands around that.  What is known to be remembered only
 * (below, by full name and place) is left out: caches of what servers have answered have names of everything.
 * Price: an answer of the user's inside ("trust this folder") asks once more; flags in such caches land.
 * Held by: tests/unit/test_agent_json.c, tests/supervise/agent_settings.py
 */
#include "guard/agent_json.h"

#include <ctype.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/json_read.h"
#include "base/words.h"

#define MAX_NAME 128  /* nobody has a longer one, but for paths */
#define MAX_SHOWN 512 /* of a path */
#define MAX_VALUES 8  /* more than are shown: of further changes the name will do */
#define MAX_ASKED 256 /* nobody looks for more */

/* Where in the file a name stands. */
enum place {
	PLACE_TOP,
	PLACE_PROJECTS, /* names are paths */
	PLACE_PROJECT,
	PLACE_OTHER,
};

enum meaning {
	MEANS_NOTHING, /* what is in it may */
	MEANS_STATE,   /* nor does anything in it */
	MEANS_RUN,     /* more of it asks */
	MEANS_STOP,    /* less of it asks */
	MEANS_BOTH,    /* any other asks: "disabledHooks" */
};

struct side {
	struct sb_json_tree tree;
	const struct sb_json_node *top; /* NULL: there is nothing */
};

struct compare {
	struct side old, new;
	sb_agent_json_fn ask;
	void *context;
	struct sb_buf path;
	unsigned asked;
};

/* --- names ------------------------------------------------------------------------------------ */

/* A "*" in a word of list stands for something. */
static bool is_listed(const char *list, const char *name, size_t length)
{
	size_t width;

	for (const char *word; (word = sb_words_next(&list, &width));) {
		const char *star = memchr(word, '*', width);
		size_t before = star ? (size_t)(star - word) : width;
		size_t after = star ? width - before - 1 : 0;

		if ((star ? length > before + after : length == before) &&
		    memcmp(name, word, before) == 0 &&
		    memcmp(name + length - after, word + width - after, after) == 0)
			return true;
	}
	return false;
}

/* In the whole file: counters, and answers of the agent's maker, which it gets anew all the time. */
static bool is_state(const char *name, size_t length)
{
	return is_listed("cached* *Cache *CacheSlots tipsHistory tipLifetimeShownCounts *Usage "
			 "agentLastUsed announcementImpressions seenNotifications "
			 "pluginSuggestion*Counts officialMarketplaceAutoInstall* "
			 "claudeAiMcpEverConnected claudeCodeHints githubRepoPaths editorMode "
			 "externalEditorContext",
			 name, length);
}

/* Yes, no, and how often: what was shown to somebody or done once, however it is called. */
static bool is_counter(const struct sb_json_node *value, const char *name, size_t length)
{
	static const char names[] =
		"*Count *Counts *At *Ms *Time *Timestamp *Date *Shown *Seen *Dismissed *Attempted "
		"*Complete hasUsed* hasSeen* hasOpened* hasVisited* hasCompleted* hasReset* num*";

	return (!value || value->type == SB_JSON_NUMBER || value->type == SB_JSON_TRUE ||
		value->type == SB_JSON_FALSE || value->type == SB_JSON_NULL) &&
	       is_listed(names, name, length);
}

static bool has_part(const char *parts, const char *small)
{
	size_t width;

	for (const char *part; (part = sb_words_next(&parts, &width));)
		if (memmem(small, strlen(small), part, width))
			return true;
	return false;
}

static bool runs(const char *small)
{
	return sb_is_word("env constructor prototype", small) ||
	       has_part("mcp hook tool permission trust approv helper statusline command plugin "
			"marketplace bypass shell editor exec program proxy gateway apikey "
			"credential authrefresh baseurl sandbox remotecontrol bridge daemon chrome "
			"allow accept autoconnectide server __proto__ automode danger unsafe "
			"endpoint",
			small);
}

static bool stops(const char *small)
{
	return has_part("deny denied disable disallow reject block never forbid ignore restrict",
			small);
}

/* Into room for MAX_NAME.  False: it is too long, or odd. */
static bool make_small(const char *name, size_t length, char *out)
{
	if (length >= MAX_NAME || (length && memchr(name, '\0', length)))
		return false;
	for (size_t i = 0; i < length; i++)
		out[i] = (char)tolower((unsigned char)name[i]);
	out[length] = '\0';
	return true;
}

static enum meaning meaning_of(enum place place, const char *name, size_t length,
			       const struct sb_json_node *old, const struct sb_json_node *new)
{
	char small[MAX_NAME];
	bool run, stop;

	if (place == PLACE_PROJECTS && !(length == 9 && memcmp(name, "__proto__", 9) == 0))
		return MEANS_NOTHING; /* a path, whatever is in it */
	if (!make_small(name, length, small))
		return MEANS_BOTH;
	if ((place == PLACE_TOP && is_state(name, length)) ||
	    (place == PLACE_PROJECT && is_listed("last* history exampleFiles", name, length)) ||
	    (is_counter(old, name, length) && is_counter(new, name, length)))
		return MEANS_STATE;
	run = runs(small);
	stop = stops(small);
	if (run && stop)
		/* adding to these only takes away: servers that are not started */
		return sb_words_have("disabledMcpServers disabledMcpjsonServers", name, length)
			       ? MEANS_STOP
			       : MEANS_BOTH;
	return run ? MEANS_RUN : stop ? MEANS_STOP : MEANS_NOTHING;
}

static enum place place_in(enum place place, const struct sb_json_node *member)
{
	if (place == PLACE_PROJECTS)
		return PLACE_PROJECT;
	if (place == PLACE_TOP && member->key_length == 8 &&
	    memcmp(member->key, "projects", 8) == 0)
		return PLACE_PROJECTS;
	return PLACE_OTHER;
}

/* --- values ----------------------------------------------------------------------------------- */

/* Does it say nothing: no, none, empty, or nothing but such? */
static bool is_empty(const struct sb_json_tree *tree, const struct sb_json_node *node)
{
	if (!node || node->type == SB_JSON_NULL || node->type == SB_JSON_FALSE)
		return true;
	if (node->type == SB_JSON_TRUE)
		return false;
	if (node->type == SB_JSON_NUMBER)
		return node->raw_length == 1 && *node->raw == '0';
	if (node->type == SB_JSON_STRING)
		return node->length == 0;
	if (node->type == SB_JSON_ARRAY)
		return node->count == 0;
	SB_EACH_CHILD(member, tree, node)
		if (!is_empty(tree, member))
			return false;
	return true;
}

/* Hooks and permissions may be there to stop something, too. */
static bool may_stop(const char *name, size_t length)
{
	char small[MAX_NAME];

	return !make_small(name, length, small) || stops(small) || strstr(small, "hook") ||
	       strstr(small, "permissions");
}

/* Is something in it that may be there to stop something? */
static bool holds_stop(const struct sb_json_tree *tree, const struct sb_json_node *node,
		       const char *name, size_t length)
{
	if (is_empty(tree, node))
		return false;
	if (name && may_stop(name, length))
		return true;
	SB_EACH_CHILD(child, tree, node)
		if (holds_stop(tree, child, child->key, child->key_length))
			return true;
	return false;
}

static bool is_same(const struct compare *compare, const struct sb_json_node *old,
		    const struct sb_json_node *new)
{
	return sb_json_same(&compare->old.tree, old, &compare->new.tree, new);
}

/* Are the things of less all in more, in that order? */
static bool is_part_of(const struct sb_json_tree *less_tree, const struct sb_json_node *less,
		       const struct sb_json_tree *more_tree, const struct sb_json_node *more)
{
	const struct sb_json_node *at;

	if (less->type != SB_JSON_ARRAY || more->type != SB_JSON_ARRAY)
		return false;
	at = sb_json_first(more);
	SB_EACH_CHILD(one, less_tree, less) {
		while (at && !sb_json_same(less_tree, one, more_tree, at))
			at = sb_json_next(more_tree, more, at);
		if (!at)
			return false;
		at = sb_json_next(more_tree, more, at);
	}
	return true;
}

/* --- what is said ----------------------------------------------------------------------------- */

static size_t push(struct compare *compare, const char *name, size_t length)
{
	size_t before = compare->path.length;

	if (before)
		sb_buf_putc(&compare->path, '.');
	sb_buf_append(&compare->path, name, length < MAX_SHOWN ? length : MAX_SHOWN);
	return before;
}

static void pop(struct compare *compare, size_t before)
{
	if (sb_buf_failed(&compare->path) || compare->path.length == before)
		return;
	compare->path.length = before;
	compare->path.data[before] = '\0';
}

/* Without the blanks between things. */
static void put_value(struct sb_buf *out, const struct sb_json_node *node)
{
	bool quoted = false;

	for (size_t i = 0; i < node->raw_length; i++) {
		char c = node->raw[i];

		if (c == '"')
			quoted = !quoted;
		if (!quoted && (c == ' ' || c == '\t' || c == '\n' || c == '\r'))
			continue;
		sb_buf_putc(out, c);
		if (quoted && c == '\\' && i + 1 < node->raw_length)
			sb_buf_putc(out, node->raw[++i]);
	}
}

/* new NULL: it is gone */
static void say(struct compare *compare, const struct sb_json_node *new)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(2 * SB_GUARD_MAX_AGENT_BYTES);

	if (compare->asked == MAX_ASKED)
		return;
	sb_buf_append(&text, compare->path.data, compare->path.length);
	if (compare->asked++ < MAX_VALUES && new) {
		sb_buf_puts(&text, " = ");
		put_value(&text, new);
	}
	if (sb_buf_failed(&compare->path) || sb_buf_failed(&text))
		compare->ask(compare->context, "out of memory", "", 0);
	else
		compare->ask(compare->context, new ? "" : "no longer set: ", text.data,
			     text.length);
}

static void say_member(struct compare *compare, const struct sb_json_node *member,
		       const struct sb_json_node *new)
{
	size_t before = push(compare, member->key, member->key_length);

	say(compare, new);
	pop(compare, before);
}

/* --- two versions ----------------------------------------------------------------------------- */

/* Of servers and their like each counts by itself: one that is gone runs nothing. */
static void compare_run_members(struct compare *compare, const struct sb_json_node *old,
				const struct sb_json_node *new, bool stops_by_name)
{
	SB_EACH_CHILD(member, &compare->new.tree, new) {
		const struct sb_json_node *was =
			sb_json_member(&compare->old.tree, old, member->key, member->key_length);

		if (was ? !is_same(compare, was, member) : !is_empty(&compare->new.tree, member))
			say_member(compare, member, member);
	}
	SB_EACH_CHILD(member, &compare->old.tree, old)
		if (!sb_json_member(&compare->new.tree, new, member->key, member->key_length) &&
		    (stops_by_name ||
		     holds_stop(&compare->old.tree, member, member->key, member->key_length)))
			say_member(compare, member, NULL);
}

static void compare_run(struct compare *compare, const char *name, size_t length,
			const struct sb_json_node *old, const struct sb_json_node *new)
{
	bool holds = new && (new->type == SB_JSON_ARRAY || new->type == SB_JSON_OBJECT);
	/* to JavaScript an empty list is true, so where an agent wants yes or no it is a yes */
	static const char lists[] =
		"*Servers *Tools *Uris *Responses approved hooks env plugins permissions";
	bool gone = is_empty(&compare->new.tree, new) &&
		    (!holds || is_listed(lists, name, length) || (old && old->type == new->type));
	bool guards = old && holds_stop(&compare->old.tree, old, name, length);

	if (old && new &&is_same(compare, old, new))
		return;
	if (gone) {
		if (guards)
			say(compare, new);
	} else if (is_empty(&compare->new.tree, new)) {
		say(compare, new);
	} else if (new->type == SB_JSON_OBJECT && (!old || old->type == SB_JSON_OBJECT)) {
		static const struct sb_json_node nothing = {.type = SB_JSON_OBJECT};

		compare_run_members(compare, old ? old : &nothing, new, may_stop(name, length));
	} else if (!old || guards ||
		   !is_part_of(&compare->new.tree, new, &compare->old.tree, old)) {
		say(compare, new);
	}
}

static bool is_plain(const struct sb_json_node *node)
{
	return !node || node->type != SB_JSON_OBJECT;
}

static void compare_stop(struct compare *compare, const struct sb_json_node *old,
			 const struct sb_json_node *new)
{
	if (old && new &&is_same(compare, old, new))
		return;
	if (is_empty(&compare->old.tree, old)
		    ? is_plain(new) || is_empty(&compare->new.tree, new)
		    : new &&is_part_of(&compare->old.tree, old, &compare->new.tree, new))
		return;
	say(compare, new);
}

static void compare_both(struct compare *compare, const struct sb_json_node *old,
			 const struct sb_json_node *new)
{
	if (old && new ? is_same(compare, old, new)
		       : is_empty(&compare->old.tree, old) && is_empty(&compare->new.tree, new))
		return;
	say(compare, new);
}

static void compare_inside(struct compare *compare, enum place place,
			   const struct sb_json_node *old, const struct sb_json_node *new);

/* One name; either may be missing. */
static void compare_member(struct compare *compare, enum place place,
			   const struct sb_json_node *old, const struct sb_json_node *new)
{
	const struct sb_json_node *member = new ? new : old;
	const char *name = member->key;
	size_t length = member->key_length, before = push(compare, name, length);

	switch (meaning_of(place, name, length, old, new)) {
	case MEANS_STATE:
		break;
	case MEANS_RUN:
		compare_run(compare, name, length, old, new);
		break;
	case MEANS_STOP:
		compare_stop(compare, old, new);
		break;
	case MEANS_BOTH:
		compare_both(compare, old, new);
		break;
	case MEANS_NOTHING:
		compare_inside(compare, place_in(place, member), old, new);
	}
	pop(compare, before);
}

static void compare_objects(struct compare *compare, enum place place,
			    const struct sb_json_node *old, const struct sb_json_node *new)
{
	SB_EACH_CHILD(member, &compare->new.tree, new)
		compare_member(
			compare, place,
			sb_json_member(&compare->old.tree, old, member->key, member->key_length),
			member);
	SB_EACH_CHILD(member, &compare->old.tree, old)
		if (!sb_json_member(&compare->new.tree, new, member->key, member->key_length))
			compare_member(compare, place, member, NULL);
}

/* By position: names in a list mean as much as others. */
static void compare_arrays(struct compare *compare, const struct sb_json_node *old,
			   const struct sb_json_node *new)
{
	const struct sb_json_node *was = sb_json_first(old);
	const struct sb_json_node *is = sb_json_first(new);

	while (was || is) {
		compare_inside(compare, PLACE_OTHER, was, is);
		was = was ? sb_json_next(&compare->old.tree, old, was) : NULL;
		is = is ? sb_json_next(&compare->new.tree, new, is) : NULL;
	}
}

static const struct sb_json_node *if_type(const struct sb_json_node *node, enum sb_json_type type)
{
	return node && node->type == type ? node : NULL;
}

/* One that has become of another type is gone, and the other is new. */
static void compare_inside(struct compare *compare, enum place place,
			   const struct sb_json_node *old, const struct sb_json_node *new)
{
	compare_objects(compare, place, if_type(old, SB_JSON_OBJECT), if_type(new, SB_JSON_OBJECT));
	compare_arrays(compare, if_type(old, SB_JSON_ARRAY), if_type(new, SB_JSON_ARRAY));
}

/* --- settings proper -------------------------------------------------------------------------- */

static bool is_looks(const struct sb_json_node *member)
{
	static const char names[] = "theme syntaxHighlightingDisabled prefersReducedMotion "
				    "spinnerTipsEnabled terminalProgressBarEnabled "
				    "showTurnDuration";

	return !member || (member->type != SB_JSON_OBJECT && member->type != SB_JSON_ARRAY &&
			   sb_words_have(names, member->key, member->key_length));
}

/* Here a new name may mean anything: what is not known to be about looks asks. */
static void compare_looks(struct compare *compare, const struct sb_json_node *old,
			  const struct sb_json_node *new)
{
	SB_EACH_CHILD(member, &compare->new.tree, new) {
		const struct sb_json_node *was =
			sb_json_member(&compare->old.tree, old, member->key, member->key_length);

		if (!(was && is_same(compare, was, member)) && !(is_looks(member) && is_looks(was)))
			say_member(compare, member, member);
	}
	SB_EACH_CHILD(member, &compare->old.tree, old)
		if (!sb_json_member(&compare->new.tree, new, member->key, member->key_length) &&
		    !is_looks(member))
			say_member(compare, member, NULL);
}

static const char *read_side(struct sb_guard_bytes bytes, struct side *out)
{
	const char *wrong = sb_json_read(bytes.bytes, bytes.length, &out->tree);

	if (wrong)
		return wrong;
	out->top = out->tree.nodes;
	return out->top->type == SB_JSON_OBJECT ? NULL : "not an object of JSON";
}

void sb_agent_json_compare(struct sb_guard_bytes old_bytes, struct sb_guard_bytes new_bytes,
			   bool settings, sb_agent_json_fn ask, void *context)
{
	/* each character of a name counts once on the way down */
	struct compare compare = {
		.ask = ask, .context = context, .path = SB_BUF(SB_GUARD_MAX_AGENT_BYTES)};
	const char *wrong = NULL;

	/* what could not be read was no setting */
	if (old_bytes.bytes && old_bytes.length <= SB_GUARD_MAX_AGENT_BYTES)
		read_side(old_bytes, &compare.old);
	if (new_bytes.length) /* a file with nothing in it says nothing */
		wrong = read_side(new_bytes, &compare.new);
	if (wrong)
		ask(context, wrong, "", 0);
	else if (settings)
		compare_looks(&compare, compare.old.top, compare.new.top);
	else
		compare_inside(&compare, PLACE_TOP, compare.old.top, compare.new.top);
	sb_json_tree_done(&compare.old.tree);
	sb_json_tree_done(&compare.new.tree);
	sb_buf_done(&compare.path);
}
