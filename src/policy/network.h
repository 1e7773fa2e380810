/*
 * network.h - which hosts a run may reach: rules by name, address and port, and the functions that decide.
 *
 *     sb_connect_add ... -> sb_policy_seal -> sb_decide_connect(), sb_decide_address(), sb_decide_lookup()
 *
 * The setting "network" says what happens where no rule does: on allows, learn allows and is recorded, ask
 * asks, off denies.  Off denies whatever rules say.  Rules compete as those for paths: the most specific
 * one that covers a peer counts, of different ones equally specific the stricter, of two with the same
 * text the later tier's; what the system's tier denies stays denied.  More specific is an exact name or
 * address, then the longer suffix or prefix, then a port, then a protocol.
 *
 * This is the only place where sandbash decides about hosts.
 */
#ifndef SB_POLICY_NETWORK_H
#define SB_POLICY_NETWORK_H

#include "policy/peer.h"
#include "sandbash/policy.h"

struct sb_connect_rule {
	enum sb_verdict verdict;
	enum sb_tier tier;
	const char *text;   /* as it is printed: "*.example.org:443" */
	const char *origin; /* as of sb_rule */
	bool derived;       /* from a tool's settings: what is written in its tier counts instead */
};

struct sb_reach {
	enum sb_verdict verdict;
	const struct sb_connect_rule *rule; /* NULL: the setting decided */
};

/*
 * Does the kernel have to be helped: ask, learn, or a rule that on alone does not hold?  Without it, all is
 * open or all is closed: sb_policy_network() is true only where all is open.
 */
bool sb_policy_needs_gate(const struct sb_policy *policy);
enum sb_network sb_network_of(const struct sb_policy *policy);

/* Whatever inner does not allow, does outer not allow it either, and ask or deny as strictly?  False: perhaps not. */
bool sb_network_covers(const struct sb_policy *outer, const struct sb_policy *inner);

/* Does a rule take this machine away, so that its own addresses have to be known (sb_here_look())? */
bool sb_network_closes_here(const struct sb_policy *policy);

/* What takes away is about names, so that nothing has to be looked up to decide? */
bool sb_network_is_by_name(const struct sb_policy *policy);

/* May this peer be reached?  Nothing has been looked up. */
struct sb_reach sb_decide_connect(const struct sb_policy *policy, const struct sb_peer *peer);

/*
 * May a peer with a name, which was allowed, be reached at this address, which it was found to have?  An
 * address of the internet may, unless a rule about it says otherwise; any other asks, unless a rule allows
 * that very address, since a name is the word of whoever owns it (rebinding).
 */
struct sb_reach sb_decide_address(const struct sb_policy *policy, const struct sb_peer *peer,
				  const struct sb_address *address);

/*
 * May a name be looked up outside?  SB_ALLOW: a rule allows some port of it already; SB_DENY: none can be
 * reached, not even by a yes; SB_ASK: not before somebody has said yes to a connection.
 */
enum sb_verdict sb_decide_lookup(const struct sb_policy *policy, const char *name);

/* A port of 127.0.0.1 outside that leads inside: "listen 3000". */
struct sb_listen {
	uint16_t port;
	char *origin;
};

size_t sb_listen_count(const struct sb_policy *policy);
const struct sb_listen *sb_listen_at(const struct sb_policy *policy, size_t i);

/*
 * Add "connect TEXT", "ask connect TEXT" or "deny connect TEXT", and "listen TEXT"; text and origin are
 * copied.  SB_E_INVALID: the text is no host, SB_E_CONFLICT: the same tier says something else about it.
 */
int sb_connect_add(struct sb_policy *policy, const struct sb_connect_rule *rule,
		   struct sb_error *err);
int sb_listen_add(struct sb_policy *policy, const char *text, const char *origin,
		  struct sb_error *err);

/* The rules in the order in which they are printed; one for each text. */
size_t sb_connect_count(const struct sb_policy *policy);
const struct sb_connect_rule *sb_connect_at(const struct sb_policy *policy, size_t i);

#endif
