/*
 * The policy's rules in the order of a profile, where the last rule that fits counts.
 *
 * sb_decide() takes the most specific rule, the stricter of equals, and lets guards, the system's
 * rules and hard ones take away from that.  Said in order:
 *
 *   1. from the least to the most specific: what allows, what denies, and guards that deny
 *   2. the system's that deny, without what a more specific one of the system's leaves open
 *   3. hard ones that deny
 *   4. directories around something stricter stay where they are
 *
 * A guard that is more specific than another takes its place, and may say less: so what the other denies
 * leaves that out.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/auto.h"
#include "enforce/darwin_impl.h"
#include "path/path.h"
#include "policy/folding.h"
#include "policy/policy_impl.h"

#define ALL_OPS ((1u << SB_OP_COUNT) - 1)

typedef const struct sb_rule *(*sb_kind_of)(const struct sb_entry *entry);

struct rules {
	struct sb_seatbelt *seatbelt;
	const struct sb_policy *policy;
	const struct sb_entry **sorted; /* the least specific first */
	unsigned char *rest;            /* for each: what is left to say about it */
	struct sb_error *err;
	int status;
};

/* The operations about which it says that. */
static unsigned ops_of(const struct sb_access *access, enum sb_verdict verdict)
{
	unsigned ops = 0;

	for (int op = 0; op < SB_OP_COUNT; op++)
		ops |= (unsigned)(access->verdict[op] == verdict) << op;
	return ops;
}

static void keep(struct rules *rules, int status)
{
	if (rules->status == SB_OK)
		rules->status = status;
}

static void put_filter(struct rules *rules, const struct sb_entry *entry)
{
	sb_buf_puts(&rules->seatbelt->text, "\n  ");
	keep(rules, sb_seatbelt_filter(rules->seatbelt, &entry->pattern, rules->err));
}

/* Can something beneath the root be meant, in whatever case? */
static bool may_fold(const char *root, const struct sb_pattern *pattern)
{
	size_t length = strlen(root), other = strlen(pattern->prefix);

	return strncasecmp(root, pattern->prefix, length < other ? length : other) == 0;
}

/*
 * Beneath roots where the case of names does not matter, what is denied is denied in any case, and what is allowed
 * as it is written alone, and then in one case as well: [!a] is A, but not a.  So nothing is allowed that sb_decide()
 * refuses (policy/folding.h).
 */
static void put_folding(struct rules *rules, const struct sb_entry *entry, bool allow)
{
	const struct sb_folding *folding = rules->policy->folding;
	const struct sb_pattern *pattern = &entry->pattern;
	struct sb_buf *text = &rules->seatbelt->text;

	if (!folding || (allow && !(pattern->glob && strchr(pattern->glob, '[')))) {
		put_filter(rules, entry);
		return;
	}
	sb_buf_puts(text, allow ? "\n  (require-all" : "\n  (require-any");
	put_filter(rules, entry);
	for (size_t i = 0; i < folding->root_count; i++) {
		if (!may_fold(folding->roots[i], pattern))
			continue;
		sb_buf_puts(text, allow ? "\n  (require-any (require-not " : "\n  (require-all ");
		sb_seatbelt_path(rules->seatbelt, "subpath", folding->roots[i]);
		sb_buf_puts(text, allow ? ") " : " ");
		keep(rules, sb_seatbelt_folded(rules->seatbelt, pattern, rules->err));
		sb_buf_putc(text, ')');
	}
	sb_buf_putc(text, ')');
}

/* Entries whose rest is the same, in one rule of the profile. */
static void put_alike(struct rules *rules, size_t from, size_t to, bool allow)
{
	struct sb_buf *text = &rules->seatbelt->text;

	for (unsigned ops = 1; ops <= ALL_OPS; ops++) {
		bool begun = false;

		for (size_t i = from; i < to; i++) {
			if (rules->rest[i] != ops)
				continue;
			if (!begun) {
				sb_buf_puts(text, allow ? "(allow" : "(deny");
				sb_seatbelt_operations(rules->seatbelt, ops);
			}
			begun = true;
			put_folding(rules, rules->sorted[i], allow);
		}
		if (begun)
			sb_buf_puts(text, ")\n");
	}
}

/* Of entries that are equally specific, those that say the same. */
static void put_class(struct rules *rules, size_t from, size_t to, bool allow)
{
	for (size_t i = from; i < to; i++) {
		const struct sb_entry *entry = rules->sorted[i];
		unsigned own = ops_of(&entry->rule.access, SB_ALLOW);

		rules->rest[i] = (unsigned char)(entry->only_guards ? 0
						 : allow            ? own
								    : ALL_OPS & ~own);
	}
	put_alike(rules, from, to, allow);
}

static const struct sb_rule *guard_of(const struct sb_entry *entry)
{
	return entry->only_guards ? &entry->rule : NULL;
}

static const struct sb_rule *system_of(const struct sb_entry *entry)
{
	return entry->system;
}

static const struct sb_rule *hard_of(const struct sb_entry *entry)
{
	return entry->hard;
}

static unsigned taken(const struct sb_entry *entry, sb_kind_of kind)
{
	const struct sb_rule *rule = kind(entry);

	if (!rule)
		return 0;
	return kind == guard_of ? ALL_OPS & ~ops_of(&rule->access, SB_ALLOW)
				: ops_of(&rule->access, SB_DENY);
}

/* Does other, of the same kind, take entry's place where it takes op away, and leave it? */
static bool takes_place(const struct sb_entry *entry, const struct sb_entry *other, sb_kind_of kind,
			enum sb_op op)
{
	return kind(other) && !(taken(other, kind) & 1u << op) &&
	       sb_pattern_compare(&other->pattern, &entry->pattern) > 0 &&
	       sb_seatbelt_overlap(&other->pattern, &entry->pattern);
}

/* Of what an entry takes away, what a more specific one of its kind takes its place in; the other operations. */
static unsigned put_apart(struct rules *rules, const struct sb_entry *entry, sb_kind_of kind)
{
	struct sb_buf *text = &rules->seatbelt->text;
	unsigned ops = taken(entry, kind), rest = ops;

	for (unsigned op = 0; op < SB_OP_COUNT && kind != hard_of; op++) {
		bool begun = false;

		for (size_t i = 0; ops & 1u << op && i < rules->policy->count; i++) {
			if (!takes_place(entry, rules->sorted[i], kind, op))
				continue;
			if (!begun) {
				sb_buf_puts(text, "(deny");
				sb_seatbelt_operations(rules->seatbelt, 1u << op);
				sb_buf_puts(text, " (require-all");
				put_folding(rules, entry, false);
			}
			begun = true;
			sb_buf_puts(text, "\n  (require-not");
			put_filter(rules, rules->sorted[i]);
			sb_buf_putc(text, ')');
		}
		if (begun)
			sb_buf_puts(text, "))\n");
		rest &= begun ? ~(1u << op) : ALL_OPS;
	}
	return rest;
}

/* What entries take away from others. */
static void put_taking(struct rules *rules, size_t from, size_t to, sb_kind_of kind)
{
	for (size_t i = from; i < to; i++)
		rules->rest[i] = (unsigned char)put_apart(rules, rules->sorted[i], kind);
	put_alike(rules, from, to, false);
}

static void put_by_specificity(struct rules *rules)
{
	size_t count = rules->policy->count;

	for (size_t from = 0, to; from < count; from = to) {
		for (to = from + 1;
		     to < count && sb_pattern_compare(&rules->sorted[from]->pattern,
						      &rules->sorted[to]->pattern) == 0;)
			to++;
		put_class(rules, from, to, true);
		put_class(rules, from, to, false);
		put_taking(rules, from, to, guard_of);
	}
}

/* Is a directory around one of the first entries that count around another of them as well? */
static bool is_around_earlier(const struct rules *rules, size_t i, const char *directory)
{
	while (i--)
		if (rules->rest[i] && sb_path_within(directory, rules->sorted[i]->pattern.prefix) &&
		    strcmp(directory, rules->sorted[i]->pattern.prefix) != 0)
			return true;
	return false;
}

/* A rule about all directories around entries that count, where op is allowed, or where it is not. */
static void put_around(struct rules *rules, enum sb_op op, bool is_allowed, const char *begin)
{
	struct sb_buf *text = &rules->seatbelt->text;
	bool begun = false;

	for (size_t i = 0; i < rules->policy->count; i++) {
		SB_AUTO_FREE char *up = rules->rest[i] ? strdup(rules->sorted[i]->pattern.prefix)
						       : NULL;

		while (up && up[1]) {
			char *next = sb_path_parent(up);

			free(up);
			up = next;
			if (!up || is_around_earlier(rules, i, up) ||
			    (sb_decide(rules->policy, op, up).verdict == SB_ALLOW) != is_allowed)
				continue;
			sb_buf_puts(text, begun ? "\n  " : begin);
			sb_seatbelt_path(rules->seatbelt, "literal", up);
			begun = true;
		}
	}
	if (begun)
		sb_buf_puts(text, ")\n");
}

/*
 * SECURITY: a directory around something that is closed is not renamed.
 *
 * Danger: "mv project/sub x" takes project/sub/vendor along, to where no rule is about it.
 * Price: such a directory keeps its name for the run.  Patterns with wildcards are about names, which
 * a rename mostly keeps; one that takes them out of the directory that the pattern begins with is not held.
 * Held by: tests/cli/macos.py
 */
static void put_pins(struct rules *rules)
{
	for (size_t i = 0; i < rules->policy->count; i++) {
		const struct sb_pattern *pattern = &rules->sorted[i]->pattern;
		struct sb_access access = sb_decide_all(rules->policy, pattern->prefix);

		rules->rest[i] = !pattern->glob && ops_of(&access, SB_ALLOW) != ALL_OPS;
	}
	put_around(rules, SB_DELETE, true, "(deny " SB_SEATBELT_DELETE "\n  ");
}

/* What leads to something that can be read is seen to be there. */
static void put_ways(struct rules *rules)
{
	for (size_t i = 0; i < rules->policy->count; i++)
		rules->rest[i] = rules->sorted[i]->rule.access.verdict[SB_READ] == SB_ALLOW;
	put_around(rules, SB_READ, false, "(allow file-read-metadata\n  ");
}

static int compare(const void *a, const void *b)
{
	const struct sb_entry *first = *(const struct sb_entry *const *)a;
	const struct sb_entry *second = *(const struct sb_entry *const *)b;
	int order = sb_pattern_compare(&first->pattern, &second->pattern);

	return order ? order : strcmp(first->pattern.text, second->pattern.text);
}

int sb_seatbelt_rules(struct sb_seatbelt *seatbelt, const struct sb_policy *policy,
		      struct sb_error *err)
{
	size_t count = policy->count;
	SB_AUTO_FREE const struct sb_entry **sorted = calloc(count + 1, sizeof *sorted);
	SB_AUTO_FREE unsigned char *rest = calloc(count + 1, sizeof *rest);
	struct rules rules = {seatbelt, policy, sorted, rest, err, SB_OK};

	if (!sorted || !rest)
		return sb_no_memory(err);
	for (size_t i = 0; i < count; i++)
		sorted[i] = &policy->entries[i];
	qsort(sorted, count, sizeof *sorted, compare);
	put_by_specificity(&rules);
	put_taking(&rules, 0, count, system_of);
	put_taking(&rules, 0, count, hard_of);
	put_pins(&rules);
	put_ways(&rules);
	return rules.status;
}
