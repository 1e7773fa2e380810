/*
 * policy.c - collecting rules and settings, and the order they end up in.
 *
 * Deciding is in decide.c; both share the layout in policy_impl.h.
 */
#include "sandbash/policy.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "policy/access.h"
#include "policy/fast.h"
#include "policy/folding.h"
#include "policy/settings.h"

/* More than the built-in rules with one project: what is not used is not touched either. */
#define FIRST_RULES 512

struct sb_policy *sb_policy_new(void)
{
	struct sb_policy *policy = calloc(1, sizeof *policy);

	if (!policy)
		return NULL;
	for (int i = 0; i < SB_SETTING_COUNT; i++)
		policy->settings[i] = sb_settings[i].normal;
	return policy;
}

static void free_rule(struct sb_rule *rule)
{
	if (rule)
		free((char *)rule->origin);
	free(rule);
}

void sb_policy_free(struct sb_policy *policy)
{
	if (!policy)
		return;
	sb_index_free(policy->folding ? policy->folding->index : NULL);
	sb_folding_free(policy->folding);
	sb_index_free(policy->index);
	free(policy->fast);
	for (size_t i = 0; i < policy->count; i++) {
		sb_pattern_done(&policy->entries[i].pattern);
		free((char *)policy->entries[i].rule.origin);
		free_rule(policy->entries[i].hard);
		free_rule(policy->entries[i].system);
	}
	free(policy->entries);
	free(policy->hashes);
	sb_network_done(&policy->hosts);
	free(policy);
}

static unsigned hash_text(const char *text)
{
	unsigned hash = 2166136261u; /* FNV-1a; a collision only costs a strcmp */

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619u;
	return hash;
}

static struct sb_entry *find(struct sb_policy *policy, const char *pattern_text, unsigned hash)
{
	for (size_t i = 0; i < policy->count; i++)
		if (policy->hashes[i] == hash &&
		    strcmp(policy->entries[i].pattern.text, pattern_text) == 0)
			return &policy->entries[i];
	return NULL;
}

static struct sb_entry *append(struct sb_policy *policy, unsigned hash)
{
	if (policy->count == policy->capacity) {
		size_t capacity = policy->capacity ? 2 * policy->capacity : FIRST_RULES;
		struct sb_entry *entries =
			reallocarray(policy->entries, capacity, sizeof *policy->entries);
		unsigned *hashes;

		if (!entries)
			return NULL;
		policy->entries = entries;
		hashes = reallocarray(policy->hashes, capacity, sizeof *policy->hashes);
		if (!hashes)
			return NULL;
		policy->hashes = hashes;
		policy->capacity = capacity;
	}
	policy->entries[policy->count] = (struct sb_entry){0};
	policy->hashes[policy->count] = hash;
	return &policy->entries[policy->count++];
}

/* Replace *slot by rule; its strings then belong to the entry. */
static int put(struct sb_entry *entry, struct sb_rule *slot, const struct sb_rule *rule,
	       struct sb_error *err)
{
	char *origin = strdup(rule->origin);

	if (!origin)
		return sb_no_memory(err);
	free((char *)slot->origin);
	*slot = *rule;
	slot->origin = origin;
	slot->pattern = entry->pattern.text;
	return SB_OK;
}

static bool stricter(const struct sb_access *a, const struct sb_access *b)
{
	for (int op = 0; op < SB_OP_COUNT; op++)
		if (sb_strictness(a, (enum sb_op)op) > sb_strictness(b, (enum sb_op)op))
			return true;
	return false;
}

static void tighten(struct sb_access *access, const struct sb_access *by)
{
	for (int op = 0; op < SB_OP_COUNT; op++)
		if (sb_strictness(by, (enum sb_op)op) > sb_strictness(access, (enum sb_op)op)) {
			access->verdict[op] = by->verdict[op];
			access->quiet &= (unsigned char)~(1u << op);
			access->quiet |= (unsigned char)(by->quiet & 1u << op);
		}
}

/* Make *slot as strict as rule too, in every operation: neither takes away what the other holds. */
static int merge(struct sb_entry *entry, struct sb_rule *slot, const struct sb_rule *rule,
		 struct sb_error *err)
{
	struct sb_rule both = *rule;

	if (!slot->origin)
		return put(entry, slot, rule, err);
	if (!stricter(&rule->access, &slot->access))
		return SB_OK;
	tighten(&both.access, &slot->access);
	return put(entry, slot, &both, err);
}

/* The same for a rule that binds, on top of taking its place among the tiers. */
static int bind(struct sb_entry *entry, struct sb_rule **slot, const struct sb_rule *rule,
		struct sb_error *err)
{
	if (!*slot)
		*slot = calloc(1, sizeof **slot);
	return *slot ? merge(entry, *slot, rule, err) : sb_no_memory(err);
}

/* What a rule gives as a number from 1 to 2592. */
static unsigned short pack(const struct sb_rule *rule)
{
	unsigned packed = rule->fast << SB_OP_COUNT | rule->access.quiet;

	for (int op = 0; op < SB_OP_COUNT; op++)
		packed = 3 * packed + rule->access.verdict[op];
	return (unsigned short)(packed + 1);
}

/*
 * SECURITY: a built-in rule that asks before changes, or is hard, guards: it makes
 * decisions stricter and never looser.
 *
 * Danger: its path may be what a link in the project leads to.  Were it a rule like
 * others, ".vscode -> ../.ssh/id_rsa" would make the key readable, being more
 * specific than "deny ~/.ssh"; and no "deny *.pem" would hold inside .vscode.
 * Price: a rule that repeats a guard word for word (as a printed policy does) says
 * no more than the guard.
 * Held by: tests/unit/test_builtin.c
 */
static bool is_guard(const struct sb_rule *rule)
{
	return rule->tier == SB_TIER_BUILTIN &&
	       (rule->hard || rule->access.verdict[SB_MODIFY] == SB_ASK);
}

/* The project's own rule, or what stands for it where only a part of a project is open. */
static bool opens_project(const struct sb_rule *rule)
{
	return rule->tier == SB_TIER_BUILTIN && !rule->hard && !rule->temp && !rule->link &&
	       !rule->checked && !rule->any_mode &&
	       sb_access_equal(&rule->access, &sb_access_write);
}

/* Would a rule of a profile open what the other, of the same pattern, hides? */
static bool opens_hidden(const struct sb_rule *rule, const struct sb_rule *other)
{
	bool opens = false;

	for (int op = 0; op < SB_OP_COUNT; op++)
		opens |= rule->access.verdict[op] < other->access.verdict[op];
	return opens && sb_gives_way(rule) && sb_hides(other);
}

int sb_policy_add(struct sb_policy *policy, const struct sb_rule *rule, struct sb_error *err)
{
	struct sb_pattern pattern;
	struct sb_entry *entry;
	unsigned short *given;
	unsigned hash;
	bool tightens;
	int status;

	if (policy->sealed)
		return sb_fail(err, SB_E_INVALID, 0, "the policy is sealed");
	status = sb_pattern_parse(rule->pattern, &pattern, err);
	if (status != SB_OK)
		return status;
	hash = hash_text(pattern.text);
	entry = find(policy, pattern.text, hash);
	if (!entry) {
		entry = append(policy, hash);
		if (!entry) {
			sb_pattern_done(&pattern);
			return sb_no_memory(err);
		}
		entry->pattern = pattern;
	} else {
		sb_pattern_done(&pattern);
	}

	given = &entry->given[rule->tier];
	if (rule->tier != SB_TIER_BUILTIN && !rule->hard) {
		/* variables may lead two lines of a profile to one place: the stricter counts */
		if (*given && *given != pack(rule) && rule->tier != SB_TIER_PROFILE) {
			sb_fail(err, SB_E_CONFLICT, 0,
				"two rules for '%s' contradict each other: %s and %s",
				entry->pattern.text,
				entry->rule.tier == rule->tier ? entry->rule.origin
							       : "an earlier one",
				rule->origin);
			sb_hint(err,
				"remove one of them, or say both in one rule: read+ask:delete ...");
			return SB_E_CONFLICT;
		}
		*given = pack(rule);
	}
	if (is_guard(rule)) {
		tighten(&entry->guard, &rule->access);
		entry->has_guard = true;
	}
	entry->own |= opens_project(rule);
	entry->project |= opens_project(rule) && !rule->shared;
	/* These two bind, on top of taking their place among the tiers. */
	if (rule->hard) {
		tightens = (entry->hard && entry->hard->tightens) || rule->tightens;
		status = bind(entry, &entry->hard, rule, err);
		if (status != SB_OK)
			return status;
		entry->hard->tightens = tightens;
	}
	if (rule->tier == SB_TIER_SYSTEM) {
		status = bind(entry, &entry->system, rule, err);
		if (status != SB_OK)
			return status;
	}
	if (entry->rule.origin && opens_hidden(rule, &entry->rule))
		return SB_OK;
	if (!entry->rule.origin || rule->tier > entry->rule.tier ||
	    opens_hidden(&entry->rule, rule))
		return put(entry, &entry->rule, rule, err);
	/* Two built-in rows may name one path (a project that is the home): the stricter counts. */
	if (rule->tier != entry->rule.tier)
		return SB_OK;
	tightens = entry->rule.tightens && rule->tightens;
	status = merge(entry, &entry->rule, rule, err);
	entry->rule.tightens = tightens;
	return status;
}

void sb_policy_set(struct sb_policy *policy, enum sb_setting setting, int value)
{
	policy->settings[setting] = value;
}

int sb_policy_get(const struct sb_policy *policy, enum sb_setting setting)
{
	return policy->settings[setting];
}

enum sb_mode sb_policy_mode(const struct sb_policy *policy)
{
	return sb_mode_of(policy);
}

enum sb_tmp sb_policy_tmp(const struct sb_policy *policy)
{
	return (enum sb_tmp)policy->settings[SB_SETTING_TMP];
}

bool sb_policy_protect_ignored(const struct sb_policy *policy)
{
	return policy->settings[SB_SETTING_PROTECT_IGNORED];
}

bool sb_policy_clean_env(const struct sb_policy *policy)
{
	return policy->settings[SB_SETTING_CLEAN_ENV];
}

/* An entry as it is sorted: entries themselves are large, and are moved once. */
struct place {
	const char *text;
	size_t length;
	size_t from; /* where the entry is now; DONE: already here */
};

#define DONE SIZE_MAX

/* strcmp(a, b) <= 0, eight bytes at a time: most patterns begin with the same directories. */
static bool in_order(const struct place *a, const struct place *b)
{
	size_t shorter = a->length < b->length ? a->length : b->length, i = 0;

	for (uint64_t x, y; i + sizeof x <= shorter; i += sizeof x) {
		memcpy(&x, a->text + i, sizeof x);
		memcpy(&y, b->text + i, sizeof y);
		if (x != y)
			break;
	}
	while (i < shorter && a->text[i] == b->text[i])
		i++;
	return (unsigned char)a->text[i] <= (unsigned char)b->text[i];
}

/* Where the part that is in order already, and begins at from, ends. */
static size_t run_end(const struct place *order, size_t from, size_t count)
{
	size_t end = from + 1;

	while (end < count && in_order(&order[end - 1], &order[end]))
		end++;
	return end < count ? end : count;
}

/*
 * Merge neighbouring parts that are in order until there is one.  Rules come from tables and
 * files that mostly are: a third of the comparisons of qsort(3), each launch.
 */
static void sort_places(struct place *order, struct place *spare, size_t count)
{
	while (run_end(order, 0, count) < count) {
		size_t to = 0;

		while (to < count) {
			size_t left = to, middle = run_end(order, left, count);
			size_t right = middle, end = middle;

			if (middle < count)
				end = run_end(order, middle, count);
			while (to < end)
				spare[to++] =
					right == end || (left < middle &&
							 in_order(&order[left], &order[right]))
						? order[left++]
						: order[right++];
		}
		memcpy(order, spare, count * sizeof *order);
	}
}

/* Move each entry to its place, around one circle of moves after the other. */
static void move_entries(struct sb_entry *entries, struct place *order, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct sb_entry first;
		size_t hole = i;

		if (order[i].from == DONE || order[i].from == i)
			continue;
		first = entries[i];
		for (;;) {
			size_t from = order[hole].from;

			order[hole].from = DONE;
			if (from == i)
				break;
			entries[hole] = entries[from];
			hole = from;
		}
		entries[hole] = first;
	}
}

static int sort_entries(struct sb_policy *policy, struct sb_error *err)
{
	size_t count = policy->count;
	struct place *order = reallocarray(NULL, 2 * count + 1, sizeof *order);

	if (!order)
		return sb_no_memory(err);
	for (size_t i = 0; i < count; i++) {
		const char *text = policy->entries[i].pattern.text;

		order[i] = (struct place){text, strlen(text), i};
	}
	if (count)
		sort_places(order, order + count, count);
	move_entries(policy->entries, order, count);
	free(order);
	return SB_OK;
}

/* True: there were some.  What was denied quietly still is. */
static bool take_changes(struct sb_access *access)
{
	bool taken = false;

	for (int op = SB_MODIFY; op < SB_OP_COUNT; op++) {
		taken |= access->verdict[op] != SB_DENY;
		access->verdict[op] = SB_DENY;
	}
	return taken;
}

/*
 * Read-only mode takes changes away rule by rule, before rules compete, so that a
 * printed policy read back decides alike.
 */
static void cap(struct sb_entry *entry)
{
	struct sb_rule *rule = &entry->rule;

	take_changes(&entry->guard);
	if (rule->any_mode || rule->tier >= SB_TIER_FILE)
		return;
	rule->capped = take_changes(&rule->access);
	rule->fast = false;
}

/*
 * A policy file that repeats a project's own rule word for word says no more than that: a printed policy does,
 * and is to be the policy that was printed.
 */
static bool repeats_own(const struct sb_entry *entry)
{
	return entry->own && entry->rule.tier == SB_TIER_FILE && !entry->rule.fast &&
	       sb_access_equal(&entry->rule.access, &sb_access_write);
}

/* Entries are in order, so that a root comes before those inside it. */
static int list_fast(struct sb_policy *policy, struct sb_error *err)
{
	size_t count = 0;

	for (size_t i = 0; i < policy->count; i++)
		count += policy->entries[i].rule.fast;
	if (!count || sb_policy_mode(policy) == SB_MODE_DANGER_FULL_ACCESS)
		return SB_OK;
	policy->fast = calloc(count, sizeof *policy->fast);
	if (!policy->fast)
		return sb_no_memory(err);
	for (size_t i = 0; i < policy->count; i++) {
		const struct sb_entry *entry = &policy->entries[i];

		if (entry->rule.fast && !sb_fast_is_or_holds(policy, entry->pattern.prefix))
			policy->fast[policy->fast_count++] = entry->pattern.prefix;
	}
	return SB_OK;
}

/* The rule that hides what an entry of a profile would open; NULL: none. */
static const struct sb_rule *find_hiding(const struct sb_policy *policy,
					 const struct sb_entry *entry)
{
	const struct sb_pattern *pattern = &entry->pattern;
	const struct sb_rule *rule =
		sb_decide_without_profiles(policy, SB_READ, pattern->prefix).rule;

	if (rule && !rule->hard && opens_hidden(&entry->rule, rule))
		return rule;
	for (size_t i = 0; i < policy->count && pattern->glob; i++) {
		const struct sb_entry *other = &policy->entries[i];

		if (opens_hidden(&entry->rule, &other->rule) &&
		    sb_pattern_compare(pattern, &other->pattern) > 0 &&
		    (sb_pattern_covers(pattern, other->pattern.prefix) ||
		     sb_pattern_reaches(pattern, other->pattern.prefix)))
			return &other->rule;
	}
	return NULL;
}

/* Rule by rule, so that a printed policy read back decides alike. */
static int close_hidden(struct sb_policy *policy, struct sb_error *err)
{
	int status = SB_OK;

	for (size_t i = 0; i < policy->count && status == SB_OK; i++) {
		struct sb_entry *entry = &policy->entries[i];
		const struct sb_rule *hiding =
			sb_gives_way(&entry->rule) ? find_hiding(policy, entry) : NULL;
		struct sb_rule closed;

		if (!hiding)
			continue;
		closed = (struct sb_rule){.access = entry->rule.access,
					  .tier = SB_TIER_BUILTIN,
					  .origin = hiding->origin};
		tighten(&closed.access, &hiding->access);
		status = put(entry, &entry->rule, &closed, err);
		entry->only_guards = entry->has_guard &&
				     sb_access_equal(&entry->guard, &entry->rule.access);
	}
	return status;
}

static int seal_folding(struct sb_policy *policy, struct sb_error *err)
{
	struct sb_folding *folding = policy->folding;
	int status = folding ? sb_folding_seal(policy, err) : SB_OK;

	if (!folding || status != SB_OK)
		return status;
	folding->index = sb_index_new(folding->entries, folding->count);
	return folding->index ? SB_OK : sb_no_memory(err);
}

int sb_policy_seal(struct sb_policy *policy, struct sb_error *err)
{
	int status;

	if (policy->sealed)
		return SB_OK;
	status = sort_entries(policy, err);
	if (status != SB_OK)
		return status;
	for (size_t i = 0; i < policy->count; i++) {
		struct sb_entry *entry = &policy->entries[i];

		if (sb_policy_mode(policy) == SB_MODE_READ_ONLY)
			cap(entry);
		else if (repeats_own(entry))
			entry->rule.tier = SB_TIER_BUILTIN;
		entry->only_guards = entry->has_guard &&
				     sb_access_equal(&entry->guard, &entry->rule.access);
	}
	policy->index = sb_index_new(policy->entries, policy->count);
	if (!policy->index)
		return sb_no_memory(err);
	policy->sealed = true;
	status = close_hidden(policy, err);
	if (status == SB_OK)
		status = seal_folding(policy, err);
	return status == SB_OK ? list_fast(policy, err) : status;
}

size_t sb_policy_count(const struct sb_policy *policy)
{
	return policy->count;
}

const struct sb_rule *sb_policy_rule(const struct sb_policy *policy, size_t i)
{
	return &policy->entries[i].rule;
}

const struct sb_pattern *sb_policy_pattern(const struct sb_policy *policy, size_t i)
{
	return &policy->entries[i].pattern;
}

bool sb_policy_is_project(const struct sb_policy *policy, const char *path)
{
	for (size_t i = 0; i < policy->count; i++)
		if (policy->entries[i].project &&
		    sb_pattern_covers(&policy->entries[i].pattern, path))
			return true;
	return false;
}
