#include "policy/network.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/list.h"
#include "policy/policy_impl.h"

struct sb_connect { /* one per text */
	struct sb_connect_rule rule;
	struct sb_peer_pattern pattern;
};

void sb_network_done(struct sb_network_rules *rules)
{
	for (size_t i = 0; i < rules->connect_count; i++) {
		free((char *)rules->connects[i]->rule.origin);
		free(rules->connects[i]);
	}
	free(rules->connects);
	for (size_t i = 0; i < rules->listen_count; i++)
		free(rules->listens[i].origin);
	free(rules->listens);
}

static int put(struct sb_connect *connect, const struct sb_connect_rule *rule, struct sb_error *err)
{
	char *origin = strdup(rule->origin);

	if (!origin)
		return sb_no_memory(err);
	free((char *)connect->rule.origin);
	connect->rule = *rule;
	connect->rule.text = connect->pattern.text;
	connect->rule.origin = origin;
	return SB_OK;
}

/* No other rule counts then. */
static bool is_final(const struct sb_connect_rule *rule)
{
	return rule->tier == SB_TIER_SYSTEM && rule->verdict == SB_DENY;
}

/* A second rule with the same text. */
static int replace(struct sb_connect *connect, const struct sb_connect_rule *rule,
		   struct sb_error *err)
{
	const struct sb_connect_rule *old = &connect->rule;

	if (rule->tier == old->tier && (rule->derived || old->derived))
		return old->derived && !rule->derived ? put(connect, rule, err) : SB_OK;
	if (rule->tier == old->tier && rule->verdict != old->verdict &&
	    rule->tier != SB_TIER_PROFILE)
		return sb_fail(err, SB_E_CONFLICT, 0,
			       "two rules for '%s' contradict each other: %s and %s", old->text,
			       old->origin, rule->origin);
	if (is_final(old))
		return SB_OK;
	if (rule->tier < old->tier || (rule->tier == old->tier && rule->verdict <= old->verdict))
		return SB_OK;
	return put(connect, rule, err);
}

int sb_connect_add(struct sb_policy *policy, const struct sb_connect_rule *rule,
		   struct sb_error *err)
{
	struct sb_network_rules *rules = &policy->hosts;
	SB_AUTO_FREE struct sb_connect *connect = calloc(1, sizeof *connect);
	struct sb_connect **grown;
	size_t at = 0;
	int status;

	if (policy->sealed)
		return sb_fail(err, SB_E_INVALID, 0, "the policy is sealed");
	if (!connect)
		return sb_no_memory(err);
	status = sb_peer_pattern_parse(rule->text, &connect->pattern, err);
	if (status != SB_OK)
		return status;
	while (at < rules->connect_count &&
	       strcmp(rules->connects[at]->pattern.text, connect->pattern.text) < 0)
		at++;
	if (at < rules->connect_count &&
	    strcmp(rules->connects[at]->pattern.text, connect->pattern.text) == 0)
		return replace(rules->connects[at], rule, err);
	if (!SB_GROW(rules->connects, rules->connect_count))
		return sb_no_memory(err);
	grown = rules->connects;
	status = put(connect, rule, err);
	if (status != SB_OK)
		return status;
	memmove(grown + at + 1, grown + at, (rules->connect_count++ - at) * sizeof *grown);
	grown[at] = sb_take_ptr(&connect);
	return SB_OK;
}

int sb_listen_add(struct sb_policy *policy, const char *text, const char *origin,
		  struct sb_error *err)
{
	struct sb_network_rules *rules = &policy->hosts;
	unsigned port = sb_port_parse(text, strlen(text));

	if (policy->sealed)
		return sb_fail(err, SB_E_INVALID, 0, "the policy is sealed");
	if (!port)
		return sb_fail(err, SB_E_INVALID, 0, "a port is a number from 1 to 65535, not '%s'",
			       text);
	for (size_t i = 0; i < rules->listen_count; i++)
		if (rules->listens[i].port == port)
			return SB_OK;
	if (!SB_GROW(rules->listens, rules->listen_count))
		return sb_no_memory(err);
	rules->listens[rules->listen_count] = (struct sb_listen){(uint16_t)port, strdup(origin)};
	return rules->listens[rules->listen_count].origin ? (rules->listen_count++, SB_OK)
							  : sb_no_memory(err);
}

size_t sb_connect_count(const struct sb_policy *policy)
{
	return policy->hosts.connect_count;
}

const struct sb_connect_rule *sb_connect_at(const struct sb_policy *policy, size_t i)
{
	return &policy->hosts.connects[i]->rule;
}

size_t sb_listen_count(const struct sb_policy *policy)
{
	return policy->hosts.listen_count;
}

const struct sb_listen *sb_listen_at(const struct sb_policy *policy, size_t i)
{
	return &policy->hosts.listens[i];
}

enum sb_network sb_network_of(const struct sb_policy *policy)
{
	return (enum sb_network)policy->settings[SB_SETTING_NETWORK];
}

bool sb_policy_needs_gate(const struct sb_policy *policy)
{
	enum sb_network network = sb_network_of(policy);

	if (sb_mode_of(policy) == SB_MODE_DANGER_FULL_ACCESS || network == SB_NETWORK_OFF)
		return false;
	for (size_t i = 0; i < policy->hosts.connect_count; i++)
		if (policy->hosts.connects[i]->rule.verdict != SB_ALLOW)
			return true;
	return network != SB_NETWORK_ON;
}

bool sb_policy_network(const struct sb_policy *policy)
{
	return sb_network_of(policy) == SB_NETWORK_ON && !sb_policy_needs_gate(policy);
}

static const struct sb_connect_rule *find_same(const struct sb_policy *policy,
					       const struct sb_connect_rule *rule)
{
	for (size_t i = 0; i < sb_connect_count(policy); i++)
		if (strcmp(sb_connect_at(policy, i)->text, rule->text) == 0)
			return sb_connect_at(policy, i);
	return NULL;
}

/*
 * Every rule of outer is in inner, and says no more there; of inner's own rules only such that open are not in outer.
 * Then, for any peer, the rule that decides in outer is at least as strict as what decides in inner.
 */
bool sb_network_covers(const struct sb_policy *outer, const struct sb_policy *inner)
{
	enum sb_network network = sb_network_of(outer), wanted = sb_network_of(inner);
	bool covers = wanted == SB_NETWORK_LEARN ? network == wanted : network >= wanted;

	for (size_t i = 0; covers && i < sb_connect_count(outer); i++) {
		const struct sb_connect_rule *rule = sb_connect_at(outer, i),
					     *same = find_same(inner, rule);

		/* the same text means more ports where it takes away */
		covers = same && same->verdict <= rule->verdict &&
			 (same->verdict == SB_ALLOW) == (rule->verdict == SB_ALLOW) &&
			 (is_final(rule) || !is_final(same));
	}
	for (size_t i = 0; covers && i < sb_connect_count(inner); i++)
		covers = sb_connect_at(inner, i)->verdict == SB_ALLOW ||
			 find_same(outer, sb_connect_at(inner, i));
	return covers;
}

bool sb_network_closes_here(const struct sb_policy *policy)
{
	for (size_t i = 0; i < policy->hosts.connect_count; i++)
		if (policy->hosts.connects[i]->rule.verdict != SB_ALLOW &&
		    sb_peer_pattern_is_here(&policy->hosts.connects[i]->pattern))
			return true;
	return false;
}

bool sb_network_is_by_name(const struct sb_policy *policy)
{
	if (sb_network_closes_here(policy))
		return false;
	for (size_t i = 0; i < policy->hosts.connect_count; i++)
		if (policy->hosts.connects[i]->rule.verdict != SB_ALLOW &&
		    !policy->hosts.connects[i]->pattern.name[0])
			return false;
	return true;
}

static enum sb_verdict without_rule(const struct sb_policy *policy)
{
	static const enum sb_verdict verdicts[] = {
		[SB_NETWORK_ON] = SB_ALLOW,
		[SB_NETWORK_LEARN] = SB_ALLOW,
		[SB_NETWORK_ASK] = SB_ASK,
		[SB_NETWORK_OFF] = SB_DENY,
	};

	return verdicts[sb_network_of(policy)];
}

struct sb_reach sb_decide_connect(const struct sb_policy *policy, const struct sb_peer *peer)
{
	const struct sb_network_rules *rules = &policy->hosts;
	const struct sb_connect_rule *best = NULL;
	int most = -1;

	if (sb_mode_of(policy) == SB_MODE_DANGER_FULL_ACCESS)
		return (struct sb_reach){SB_ALLOW, NULL};
	if (sb_network_of(policy) == SB_NETWORK_OFF)
		return (struct sb_reach){SB_DENY, NULL};
	for (size_t i = 0; i < rules->connect_count; i++) {
		const struct sb_connect *connect = rules->connects[i];
		const struct sb_connect_rule *rule = &connect->rule;
		int weight;

		if (!sb_peer_pattern_covers(&connect->pattern, rule->verdict == SB_ALLOW, peer))
			continue;
		if (is_final(rule))
			return (struct sb_reach){SB_DENY, rule};
		weight = sb_peer_pattern_weight(&connect->pattern);
		if (weight > most || (weight == most && rule->verdict > best->verdict)) {
			most = weight;
			best = rule;
		}
	}
	return (struct sb_reach){best ? best->verdict : without_rule(policy), best};
}

/*
 * SECURITY: a name that was allowed opens addresses of the internet, no others.
 *
 * Danger: whoever owns the name says what address it has: this machine, a router, the metadata of a cloud, which
 * has credentials for whoever asks (rebinding).
 * Price: for names of a private network the addresses need a rule, too.
 * Held by: tests/unit/test_network.c
 */
struct sb_reach sb_decide_address(const struct sb_policy *policy, const struct sb_peer *peer,
				  const struct sb_address *address)
{
	struct sb_peer literal = sb_peer_of_address(peer->protocol, address, peer->port);
	struct sb_reach reach = sb_decide_connect(policy, &literal);

	if (!reach.rule && reach.verdict == SB_ASK &&
	    sb_address_class(address) == SB_ADDRESS_PUBLIC)
		reach.verdict = SB_ALLOW;
	return reach;
}

enum sb_verdict sb_decide_lookup(const struct sb_policy *policy, const char *name)
{
	const struct sb_network_rules *rules = &policy->hosts;
	struct sb_peer peer = {.port = 0}; /* no rule is about this one alone */
	enum sb_verdict loosest;

	if (strlen(name) >= sizeof peer.name)
		return SB_DENY;
	memcpy(peer.name, name, strlen(name) + 1);
	loosest = sb_decide_connect(policy, &peer).verdict;
	peer.protocol = SB_UDP;
	if (sb_decide_connect(policy, &peer).verdict < loosest)
		loosest = sb_decide_connect(policy, &peer).verdict;
	for (size_t i = 0; i < rules->connect_count; i++) {
		const struct sb_peer_pattern *pattern = &rules->connects[i]->pattern;
		struct sb_reach reach;

		if (!sb_peer_pattern_means(pattern, &peer))
			continue;
		peer.protocol = pattern->protocol == SB_UDP ? SB_UDP : SB_TCP;
		peer.port = (uint16_t)(pattern->port > 0 ? pattern->port : 443);
		reach = sb_decide_connect(policy, &peer);
		if (reach.verdict < loosest)
			loosest = reach.verdict;
	}
	return loosest;
}
