/*
 * decide.c - may this operation be done to this path?
 *
 * Rules hang in a tree of names, each at the node of its literal prefix.  A
 * decision walks the path's names down the tree once and looks only at rules on
 * the way, so its cost grows with the depth of the path, not with the number of
 * rules (bench: decide).  Globs on the way are many where a project has them; most
 * need a name that the path does not hold, and are put aside by comparing bits.
 */
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/list.h"
#include "base/words.h"
#include "policy/folding.h"

/*
 * A set of names, each remembered as one bit.  It may seem to hold a name that was
 * never put in, but never lacks one that was.
 */
struct names {
	uint64_t bits[4];
};

struct glob {
	const struct sb_entry *entry;
	struct names needs; /* what a path must hold to match */
};

struct node {
	const char *name; /* points into an entry's prefix; not terminated */
	size_t name_length;
	struct node *children; /* sorted by name */
	size_t child_count;
	const struct sb_entry *literal;
	struct glob *globs;
	size_t glob_count;
};

struct sb_index {
	struct node root;
};

static void put_bit(struct names *names, uint32_t key)
{
	uint32_t mixed = key * 2654435769u; /* Knuth's multiplier: the high bits depend on all */

	names->bits[mixed >> 30] |= UINT64_C(1) << (mixed >> 24 & 63);
}

/* The last two bytes stand for an ending, these with the first and the length for the name. */
static uint32_t ending(const char *name, size_t length)
{
	return (uint32_t)(unsigned char)name[length - 1] << 8 |
	       (unsigned char)name[length > 1 ? length - 2 : 0];
}

static void put_ending(struct names *names, const char *name, size_t length)
{
	put_bit(names, ending(name, length));
}

static void put_name(struct names *names, const char *name, size_t length)
{
	put_bit(names, ending(name, length) | (uint32_t)(unsigned char)name[0] << 16 |
			       (uint32_t)(length & 0x7f) << 24 | UINT32_C(1) << 31);
}

static bool has_special(const char *glob, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (strchr("*?[]\\", glob[i]))
			return true;
	return false;
}

static void find_needs(struct names *needs, const char *glob)
{
	for (size_t length; *glob; glob += length, glob += *glob == '/') {
		length = sb_first_name_length(glob);
		if (!has_special(glob, length))
			put_name(needs, glob, length);
		else if (length > 2 && !has_special(glob + length - 2, 2))
			put_ending(needs, glob, length); /* X.txt with X an asterisk */
	}
}

static void find_names(struct names *names, const char *path)
{
	for (size_t length; *path; path += length, path += *path == '/') {
		length = sb_first_name_length(path);
		if (length)
			put_name(names, path, length);
		if (length > 1)
			put_ending(names, path, length);
	}
}

static bool all_there(const struct names *needs, const struct names *names)
{
	uint64_t lacking = 0;

	for (size_t i = 0; i < sizeof names->bits / sizeof names->bits[0]; i++)
		lacking |= needs->bits[i] & ~names->bits[i];
	return lacking == 0;
}

static int compare_name(const struct node *node, const char *name, size_t length)
{
	size_t shorter = node->name_length < length ? node->name_length : length;
	int order = memcmp(node->name, name, shorter);

	if (order)
		return order;
	return (node->name_length > length) - (node->name_length < length);
}

/* Where name is among the children, or where it belongs; *found says which. */
static size_t search(const struct node *node, const char *name, size_t length, bool *found)
{
	size_t low = 0, high = node->child_count;

	*found = false;
	while (low < high) {
		size_t middle = (low + high) / 2;
		int order = compare_name(&node->children[middle], name, length);

		if (order == 0) {
			*found = true;
			return middle;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct node *child(struct node *node, const char *name, size_t length)
{
	size_t at = node->child_count;
	struct node *grown = node->children;
	/* rules come in order, so it is mostly the last one or a new last one */
	int order = at ? compare_name(&grown[at - 1], name, length) : -1;
	bool found = order == 0;

	if (order >= 0)
		at = found ? at - 1 : search(node, name, length, &found);
	if (found)
		return &node->children[at];
	if (!SB_GROW(node->children, node->child_count))
		return NULL;
	grown = node->children;
	memmove(grown + at + 1, grown + at, (node->child_count - at) * sizeof *grown);
	grown[at] = (struct node){.name = name, .name_length = length};
	node->child_count++;
	return &grown[at];
}

static bool insert(struct sb_index *index, const struct sb_entry *entry)
{
	struct node *node = &index->root;

	for (const char *name = entry->pattern.prefix + 1; *name;) {
		size_t length = sb_first_name_length(name);

		node = child(node, name, length);
		if (!node)
			return false;
		name += length;
		name += *name == '/';
	}
	if (!entry->pattern.glob) {
		if (!node->literal) {
			node->literal = entry;
			return true;
		}
		/* another that folds alike: one more that covers all beneath */
	}
	if (!SB_GROW(node->globs, node->glob_count))
		return false;
	node->globs[node->glob_count] = (struct glob){.entry = entry};
	if (entry->pattern.glob)
		find_needs(&node->globs[node->glob_count].needs, entry->pattern.glob);
	node->glob_count++;
	return true;
}

struct sb_index *sb_index_new(const struct sb_entry *entries, size_t count)
{
	struct sb_index *index = calloc(1, sizeof *index);

	for (size_t i = 0; index && i < count; i++) {
		if (!insert(index, &entries[i])) {
			sb_index_free(index);
			return NULL;
		}
	}
	return index;
}

static void free_node(struct node *node)
{
	for (size_t i = 0; i < node->child_count; i++)
		free_node(&node->children[i]);
	free(node->children);
	free(node->globs);
}

void sb_index_free(struct sb_index *index)
{
	if (!index)
		return;
	free_node(&index->root);
	free(index);
}

/* The most specific rule of one kind so far. */
struct best {
	const struct sb_pattern *pattern;
	const struct sb_rule *rule;
};

/* What covers a path. */
struct covering {
	struct best plain;
	struct best guard;          /* only ever makes stricter */
	struct best system;         /* binds where it denies */
	const struct sb_rule *hard; /* one that denies, however specific others are */
	bool without_profiles;
};

static void compete(struct best *best, const struct sb_pattern *pattern, const struct sb_rule *rule,
		    enum sb_op op)
{
	int order = best->rule ? sb_pattern_compare(pattern, best->pattern) : 1;

	if (order > 0 || (order == 0 && sb_strictness(&rule->access, op) >
						sb_strictness(&best->rule->access, op)))
		*best = (struct best){pattern, rule};
}

static void consider(const struct sb_entry *entry, enum sb_op op, struct covering *covering)
{
	if (!covering->without_profiles || !sb_gives_way(&entry->rule))
		compete(entry->only_guards ? &covering->guard : &covering->plain, &entry->pattern,
			&entry->rule, op);
	if (entry->system)
		compete(&covering->system, &entry->pattern, entry->system, op);
	if (entry->hard && entry->hard->access.verdict[op] == SB_DENY &&
	    (!covering->hard ||
	     sb_strictness(&entry->hard->access, op) >= sb_strictness(&covering->hard->access, op)))
		covering->hard = entry->hard;
}

static struct sb_decision without_rule(const struct sb_policy *policy, enum sb_op op)
{
	struct sb_decision decision = {SB_ASK, NULL};

	if (op == SB_READ)
		decision.verdict = SB_ALLOW;
	else if (sb_mode_of(policy) == SB_MODE_READ_ONLY)
		decision.verdict = SB_DENY;
	return decision;
}

static struct sb_decision decide(const struct sb_policy *policy, enum sb_op op,
				 const struct covering *covering)
{
	const struct best *plain = &covering->plain, *guard = &covering->guard;
	struct sb_decision decision = without_rule(policy, op);
	enum sb_verdict verdict;

	if (covering->hard)
		return (struct sb_decision){SB_DENY, covering->hard};
	if (covering->system.rule && covering->system.rule->access.verdict[op] == SB_DENY)
		return (struct sb_decision){SB_DENY, covering->system.rule};
	if (plain->rule)
		decision = (struct sb_decision){plain->rule->access.verdict[op], plain->rule};
	if (!guard->rule || (plain->rule && sb_pattern_compare(plain->pattern, guard->pattern) > 0))
		return decision;
	verdict = guard->rule->access.verdict[op];
	if (verdict > decision.verdict || (!plain->rule && verdict == decision.verdict))
		decision = (struct sb_decision){verdict, guard->rule};
	return decision;
}

/* What is asked about a path: count operations, from first on. */
struct question {
	enum sb_op first;
	size_t count;
	bool without_profiles;
};

static void consider_all(const struct sb_entry *entry, const struct question *question,
			 struct covering *coverings)
{
	for (size_t i = 0; i < question->count; i++)
		consider(entry, (enum sb_op)(question->first + i), &coverings[i]);
}

/* False: path is not canonical.  For each operation one, in coverings. */
static bool find_covering(const struct sb_index *index, const struct question *question,
			  const char *path, struct covering *coverings)
{
	struct names names = {{0}};
	bool have_names = false;
	const struct node *node = &index->root;
	const char *rest = path + 1;

	for (size_t i = 0; i < question->count; i++)
		coverings[i] = (struct covering){.without_profiles = question->without_profiles};
	for (;;) {
		size_t length, at;
		bool found;

		if (node->literal)
			consider_all(node->literal, question, coverings);
		if (node->glob_count && !have_names) {
			find_names(&names, rest);
			have_names = true;
		}
		for (size_t i = 0; i < node->glob_count; i++)
			if (all_there(&node->globs[i].needs, &names) &&
			    (!node->globs[i].entry->pattern.glob ||
			     sb_glob_covers(node->globs[i].entry->pattern.glob, rest)))
				consider_all(node->globs[i].entry, question, coverings);
		if (*rest == '\0')
			break;
		length = sb_first_name_length(rest);
		if (length == 0) /* "//x" is not canonical: the walk would miss rules */
			return false;
		at = search(node, rest, length, &found);
		if (!found)
			break;
		node = &node->children[at];
		rest += length;
		rest += *rest == '/';
	}
	return true;
}

static void answer_all(const struct question *question, struct sb_decision decision,
		       struct sb_decision *out)
{
	for (size_t i = 0; i < question->count; i++)
		out[i] = decision;
}

/* Where names are the same in small and capital letters, the stricter of what both say. */
static void decide_folded(const struct sb_policy *policy, const struct question *question,
			  const char *path, struct sb_decision *out)
{
	struct covering coverings[SB_OP_COUNT];
	char small[PATH_MAX];

	/* while the policy is being sealed there is no index yet */
	if (!policy->folding || !policy->folding->index || !sb_folding_covers(policy, path) ||
	    strlen(path) >= sizeof small)
		return;
	sb_folding_path(path, small);
	if (!find_covering(policy->folding->index, question, small, coverings)) {
		answer_all(question, (struct sb_decision){SB_DENY, NULL}, out);
		return;
	}
	for (size_t i = 0; i < question->count; i++) {
		struct sb_decision other =
			decide(policy, (enum sb_op)(question->first + i), &coverings[i]);

		if (other.verdict <= out[i].verdict)
			continue;
		other.rule = sb_folding_rule(policy, other.rule);
		out[i] = other;
	}
}

static void decide_question(const struct sb_policy *policy, const struct question *question,
			    const char *path, struct sb_decision *out)
{
	struct covering coverings[SB_OP_COUNT];

	if (sb_mode_of(policy) == SB_MODE_DANGER_FULL_ACCESS) {
		answer_all(question, (struct sb_decision){SB_ALLOW, NULL}, out);
		return;
	}
	if (path[0] != '/' || !find_covering(policy->index, question, path, coverings)) {
		answer_all(question, (struct sb_decision){SB_DENY, NULL}, out);
		return;
	}
	for (size_t i = 0; i < question->count; i++)
		out[i] = decide(policy, (enum sb_op)(question->first + i), &coverings[i]);
	decide_folded(policy, question, path, out);
}

struct sb_decision sb_decide(const struct sb_policy *policy, enum sb_op op, const char *path)
{
	struct sb_decision decision;

	decide_question(policy, &(struct question){op, 1, false}, path, &decision);
	return decision;
}

struct sb_decision sb_decide_without_profiles(const struct sb_policy *policy, enum sb_op op,
					      const char *path)
{
	struct sb_decision decision;

	decide_question(policy, &(struct question){op, 1, true}, path, &decision);
	return decision;
}

/* Is the rule about a part of top alone? */
static bool is_for_part(const struct sb_rule *rule, const char *top)
{
	SB_AUTO(sb_pattern_done) struct sb_pattern pattern = {0};

	if (!rule || rule->tier == SB_TIER_BUILTIN ||
	    sb_pattern_parse(rule->pattern, &pattern, NULL) != SB_OK)
		return false;
	return !sb_pattern_covers(&pattern, top);
}

struct sb_decision sb_decide_ignored(const struct sb_policy *policy, enum sb_op op,
				     const char *path, const char *top)
{
	static const struct sb_rule protect = {
		.access = {{SB_ALLOW, SB_ASK, SB_ALLOW, SB_ASK}},
		.tier = SB_TIER_BUILTIN,
		.pattern = "<git-ignored>",
		.origin = "protect-ignored: git ignores it, so git could not bring it back",
	};
	struct sb_decision decision = sb_decide(policy, op, path);

	if (sb_mode_of(policy) == SB_MODE_DANGER_FULL_ACCESS ||
	    decision.verdict >= protect.access.verdict[op] || is_for_part(decision.rule, top))
		return decision;
	return (struct sb_decision){(enum sb_verdict)protect.access.verdict[op], &protect};
}

bool sb_decision_is_quiet(const struct sb_decision *decision, enum sb_op op)
{
	return decision->verdict == SB_DENY && decision->rule &&
	       (decision->rule->access.quiet & 1u << op);
}

struct sb_access sb_decide_all(const struct sb_policy *policy, const char *path)
{
	struct sb_access access = {0};
	struct sb_decision decisions[SB_OP_COUNT];

	decide_question(policy, &(struct question){0, SB_OP_COUNT, false}, path, decisions);
	for (int op = 0; op < SB_OP_COUNT; op++) {
		access.verdict[op] = (unsigned char)decisions[op].verdict;
		if (sb_decision_is_quiet(&decisions[op], (enum sb_op)op))
			access.quiet |= (unsigned char)(1u << op);
	}
	return access;
}

struct sb_decision sb_decide_rename(const struct sb_policy *policy, const char *from,
				    const char *to, bool to_exists)
{
	struct sb_decision away = sb_decide(policy, SB_DELETE, from);
	struct sb_decision onto = sb_decide(policy, to_exists ? SB_MODIFY : SB_CREATE, to);

	return onto.verdict > away.verdict ? onto : away;
}

static void strictest_beneath(const struct sb_policy *policy, const struct node *node,
			      enum sb_op op, struct sb_decision *strictest)
{
	for (size_t i = 0; i < node->child_count; i++) {
		const struct node *child = &node->children[i];

		if (child->literal) {
			struct sb_decision decision =
				sb_decide(policy, op, child->literal->pattern.prefix);

			if (decision.verdict > strictest->verdict)
				*strictest = decision;
		}
		strictest_beneath(policy, child, op, strictest);
	}
}

struct sb_decision sb_decide_beneath(const struct sb_policy *policy, enum sb_op op,
				     const char *path)
{
	struct sb_decision strictest = {SB_ALLOW, NULL};
	const struct node *node = &policy->index->root;

	if (sb_mode_of(policy) == SB_MODE_DANGER_FULL_ACCESS)
		return strictest;
	for (const char *rest = path + 1; *rest;) {
		size_t length = sb_first_name_length(rest), at;
		bool found;

		at = search(node, rest, length, &found);
		if (!found)
			return strictest;
		node = &node->children[at];
		rest += length;
		rest += *rest == '/';
	}
	strictest_beneath(policy, node, op, &strictest);
	return strictest;
}
