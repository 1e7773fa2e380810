/*
 * inner_hosts.h - rules about hosts of runs inside this one (domains.h), at the gate that this one has.
 *
 * Where our own rules are at least as strict they hold the inner ones as well.  Else the broker judges each connection
 * by the inner run's rules before the gate hears of it: what these do not allow is refused, since nobody is
 * asked for a run inside.  Who sends a datagram nobody knows, so there are none then, for nobody in the run.
 */
#ifndef SB_SUPERVISE_INNER_HOSTS_H
#define SB_SUPERVISE_INNER_HOSTS_H

#include "network/network.h"
#include "supervise/domains.h"

/* Are the hosts of this run inside held from now on?  own: the rules of the run around it. */
bool sb_inner_hosts_hold(struct sb_gate *gate, const struct sb_policy *own,
			 const struct sb_domain *domain);

/*
 * May this thread connect a stream there, as far as runs inside this one say?  *out_refused: whom they do not allow;
 * port 0: that is not known.
 */
bool sb_inner_hosts_allow(struct sb_gate *gate, const struct sb_policy *own, pid_t thread,
			  const struct sockaddr_storage *address, socklen_t length,
			  struct sb_peer *out_refused);

#endif
