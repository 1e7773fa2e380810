#include "supervise/inner_hosts.h"

static bool is_apart(const struct sb_policy *own, const struct sb_policy *inner)
{
	return sb_policy_needs_gate(inner) && !sb_network_covers(own, inner);
}

/*
 * SECURITY: a run inside is told that its rules hold only where they do.
 *
 * Danger: "deny connect 10.0.0.0/8" is about where a name leads, which only the dialer finds out, by our rules; what was
 * learned would be told by nobody.  Such a run does not start.
 * Price: a run inside with rules of its own about hosts ends datagrams for all of the run.
 * Held by: tests/cli/network_consent.py
 */
bool sb_inner_hosts_hold(struct sb_gate *gate, const struct sb_policy *own,
			 const struct sb_domain *domain)
{
	const struct sb_policy *inner = domain->policy;

	return !is_apart(own, inner) ||
	       (sb_network_of(inner) != SB_NETWORK_LEARN && sb_network_is_by_name(inner) &&
		sb_gate_end_datagrams(gate));
}

bool sb_inner_hosts_allow(struct sb_gate *gate, const struct sb_policy *own, pid_t thread,
			  const struct sockaddr_storage *address, socklen_t length,
			  struct sb_peer *out_refused)
{
	const struct sb_domain *domain;
	struct sb_peer peer;
	bool known = false;

	out_refused->port = 0;
	if (!sb_domain_of(thread, &domain))
		return false;
	for (; domain; domain = domain->outer) {
		if (!is_apart(own, domain->policy))
			continue;
		if (!known && !sb_gate_who(gate, address, length, &peer))
			return false;
		known = true;
		if (peer.port && sb_decide_connect(domain->policy, &peer).verdict != SB_ALLOW) {
			*out_refused = peer;
			return false;
		}
	}
	return true;
}
