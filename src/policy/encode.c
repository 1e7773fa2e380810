/*
 * encode.c - a digit per setting, then one line per pattern:
 *
 *     TIER FLAGS RULE HARD SYSTEM GUARD PATTERN NUL
 *
 * and before them one for each host and each port that leads inside:
 *
 *     c TIER VERDICT TEXT NUL
 *     l PORT NUL
 *
 * Each access is four digits, one verdict per operation (3: a quiet no), or "-" when there is none.
 */
#include "policy/encode.h"

#include <stdlib.h>
#include <string.h>

#include "policy/network.h"
#include "policy/policy_impl.h"
#include "policy/settings.h"

#define MAGIC "sandbash policy 4\n"
#define NESTED "the rules of a nested run"
#define QUIET (SB_DENY + 1)
#define FIELDS 4

/* The longest head of a line: six numbers, and a space after each. */
#define HEAD_SIZE (2 * 2 + FIELDS * (SB_OP_COUNT + 1) + 1)

static char *put_access(char *at, const struct sb_access *access)
{
	if (!access)
		*at++ = '-';
	for (int op = 0; access && op < SB_OP_COUNT; op++)
		*at++ = (char)('0' + (access->quiet & 1u << op ? QUIET : access->verdict[op]));
	*at++ = ' ';
	return at;
}

/* By hand: each launch prints some two hundred lines, and printf() takes a microsecond. */
static void put_line(struct sb_buf *out, const struct sb_entry *entry)
{
	char head[HEAD_SIZE], *at = head;

	/* a login is opened, as what the user says: policy_impl.h */
	*at++ = (char)('0' + (entry->rule.login ? SB_TIER_GLOBAL : entry->rule.tier));
	*at++ = ' ';
	*at++ = (char)('0' + entry->rule.any_mode);
	*at++ = ' ';
	at = put_access(at, &entry->rule.access);
	at = put_access(at, entry->hard ? &entry->hard->access : NULL);
	at = put_access(at, entry->system ? &entry->system->access : NULL);
	at = put_access(at, entry->has_guard ? &entry->guard : NULL);
	sb_buf_append(out, head, (size_t)(at - head));
	sb_buf_append(out, entry->pattern.text, strlen(entry->pattern.text) + 1);
}

static void put_hosts(struct sb_buf *out, const struct sb_policy *policy)
{
	for (size_t i = 0; i < sb_connect_count(policy); i++) {
		const struct sb_connect_rule *rule = sb_connect_at(policy, i);

		sb_buf_printf(out, "c %d %d ", rule->tier, rule->verdict);
		sb_buf_append(out, rule->text, strlen(rule->text) + 1);
	}
	for (size_t i = 0; i < sb_listen_count(policy); i++) {
		sb_buf_printf(out, "l %u", sb_listen_at(policy, i)->port);
		sb_buf_putc(out, '\0');
	}
}

_Static_assert(SB_TIER_COUNT <= 10, "a tier is one digit");

void sb_policy_encode(const struct sb_policy *policy, struct sb_buf *out)
{
	sb_buf_puts(out, MAGIC);
	for (int i = 0; i < SB_SETTING_COUNT; i++)
		sb_buf_putc(out, (char)('0' + policy->settings[i]));
	sb_buf_putc(out, '\n');
	put_hosts(out, policy);
	for (size_t i = 0; i < policy->count; i++)
		put_line(out, &policy->entries[i]);
}

/* A small number up to and with its last digit; -1: none there. */
static int take_number(const char **at, int most)
{
	if (**at < '0' || **at > '0' + most)
		return -1;
	return *(*at)++ - '0';
}

static bool take_access(const char **at, struct sb_access *out, bool *out_given)
{
	if (*(*at)++ != ' ')
		return false;
	*out_given = **at != '-';
	if (!*out_given) {
		++*at;
		return true;
	}
	for (int op = 0; op < SB_OP_COUNT; op++) {
		int verdict = take_number(at, QUIET);

		if (verdict < 0)
			return false;
		if (verdict == QUIET) {
			out->quiet |= (unsigned char)(1u << op);
			verdict = SB_DENY;
		}
		out->verdict[op] = (unsigned char)verdict;
	}
	return true;
}

static int copy_rule(struct sb_entry *entry, const struct sb_access *access, struct sb_rule **out)
{
	struct sb_rule *rule = malloc(sizeof *rule);

	if (!rule)
		return SB_E_NOMEM;
	*rule = (struct sb_rule){.access = *access,
				 .tier = SB_TIER_BUILTIN,
				 .hard = true,
				 .pattern = entry->pattern.text,
				 .origin = strdup(NESTED)};
	*out = rule;
	return rule->origin ? SB_OK : SB_E_NOMEM;
}

static int take_host(struct sb_policy *policy, const char *line, struct sb_error *err)
{
	const char *at = line + 2;
	int tier, verdict = -1;

	if (line[1] != ' ')
		return sb_fail(err, SB_E_INVALID, 0, "these are not the bytes of a policy");
	if (line[0] == 'l')
		return sb_listen_add(policy, at, NESTED, err);
	tier = take_number(&at, SB_TIER_COUNT - 1);
	if (tier >= 0 && *at++ == ' ')
		verdict = take_number(&at, SB_DENY);
	if (verdict < 0 || *at++ != ' ')
		return sb_fail(err, SB_E_INVALID, 0, "these are not the bytes of a policy");
	return sb_connect_add(policy,
			      &(struct sb_connect_rule){.verdict = (enum sb_verdict)verdict,
							.tier = (enum sb_tier)tier,
							.text = at,
							.origin = NESTED},
			      err);
}

static int take_line(struct sb_policy *policy, const char *line, struct sb_error *err)
{
	struct sb_rule rule = {.origin = NESTED};
	struct sb_access access[FIELDS] = {0};
	bool given[FIELDS];
	struct sb_entry *entry;
	size_t before = policy->count;
	int tier = take_number(&line, SB_TIER_COUNT - 1), any_mode = -1, status;

	if (tier >= 0 && *line++ == ' ')
		any_mode = take_number(&line, 1);
	for (int i = 0; i < FIELDS && any_mode >= 0; i++)
		if (!take_access(&line, &access[i], &given[i]))
			any_mode = -1;
	if (any_mode < 0 || !given[0] || *line++ != ' ')
		return sb_fail(err, SB_E_INVALID, 0, "these are not the bytes of a policy");
	rule.tier = (enum sb_tier)tier;
	rule.any_mode = any_mode;
	rule.access = access[0];
	rule.pattern = line;
	status = sb_policy_add(policy, &rule, err);
	if (status != SB_OK)
		return status;
	if (policy->count == before)
		return sb_fail(err, SB_E_INVALID, 0, "one pattern is there twice");
	entry = &policy->entries[policy->count - 1];
	if (given[1] && copy_rule(entry, &access[1], &entry->hard) != SB_OK)
		return sb_no_memory(err);
	if (given[2] && !entry->system && copy_rule(entry, &access[2], &entry->system) != SB_OK)
		return sb_no_memory(err);
	if (given[2])
		entry->system->access = access[2];
	entry->has_guard = given[3];
	if (given[3])
		entry->guard = access[3];
	return SB_OK;
}

int sb_policy_decode(const char *bytes, size_t length, struct sb_policy **out, struct sb_error *err)
{
	const char *at = bytes, *end = bytes + length;
	struct sb_policy *policy;
	int status = SB_OK, settings[SB_SETTING_COUNT];

	if (length < sizeof MAGIC + SB_SETTING_COUNT || memcmp(bytes, MAGIC, sizeof MAGIC - 1) != 0)
		return sb_fail(err, SB_E_INVALID, 0, "these are not the bytes of a policy");
	at += sizeof MAGIC - 1;
	for (int i = 0; i < SB_SETTING_COUNT; i++) {
		settings[i] = take_number(&at, SB_SETTING_VALUES - 1);
		if (settings[i] < 0 || !sb_settings[i].values[settings[i]])
			return sb_fail(err, SB_E_INVALID, 0, "these are not the bytes of a policy");
	}
	if (*at++ != '\n')
		return sb_fail(err, SB_E_INVALID, 0, "these are not the bytes of a policy");
	policy = sb_policy_new();
	if (!policy)
		return sb_no_memory(err);
	for (int i = 0; i < SB_SETTING_COUNT; i++)
		sb_policy_set(policy, (enum sb_setting)i, settings[i]);
	while (at < end && status == SB_OK) {
		const char *nul = memchr(at, '\0', (size_t)(end - at));

		if (!nul) {
			status = sb_fail(err, SB_E_INVALID, 0, "the policy is cut");
			break;
		}
		status = *at == 'c' || *at == 'l' ? take_host(policy, at, err)
						  : take_line(policy, at, err);
		at = nul + 1;
	}
	if (status == SB_OK)
		status = sb_policy_seal(policy, err);
	if (status != SB_OK) {
		sb_policy_free(policy);
		return status;
	}
	*out = policy;
	return SB_OK;
}
