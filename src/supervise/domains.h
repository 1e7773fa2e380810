/*
 * domains.h - nested runs: whose rules bind a process besides our own.
 *
 * A sandbash inside this run cannot have a supervisor of its own (one listener per process),
 * and its Landlock layer does not bind a broker that acts for its processes.  So it tells us
 * its rules, and from then on they bind that process and all it starts.
 *
 * Who belongs where is told by a mark that is inherited by every child, survives execve and
 * cannot be changed from inside: the hard limit RLIMIT_LOCKS, which the kernel has not used
 * since 2.4.  The filter forbids the command to set it; only we do.
 *
 * Rules only ever add up: a process in a domain is bound by its rules, those of the domain
 * that one was made in, and ours.
 */
#ifndef SB_SUPERVISE_DOMAINS_H
#define SB_SUPERVISE_DOMAINS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "network/network.h"
#include "sandbash/policy.h"

#define SB_DOMAIN_WORKER 65 /* a name, and NUL */

struct sb_domain {
	const struct sb_policy *policy;
	const struct sb_domain *outer; /* NULL: the run itself */
	unsigned number;               /* from 1 */
	char worker[SB_DOMAIN_WORKER]; /* its name, as its caller says; "": it is no worker's */
	const char *note;              /* enforce/inside.h; "": none */
};

/*
 * The domain of a process (any of its threads); NULL: the run itself.  False: it cannot be
 * told, so nothing may be done for it.
 */
bool sb_domain_of(pid_t thread, const struct sb_domain **out);

/*
 * Give the run a mark of its own, and its first process that mark, before it starts others: then it
 * can be told who belongs to the run.  0 or a negative errno.
 */
int sb_domain_begin(pid_t first);

/* Is it that one (NULL: the run itself), or one inside it? */
bool sb_domain_is_within(const struct sb_domain *domain, const struct sb_domain *around);

/* Is process of the caller's run, and of its domain or one inside it?  Only where the run has begun so. */
bool sb_domain_reaches(pid_t caller, pid_t process);

/*
 * Put the process, whose held call id is, into a new domain with these rules: its note, NUL, policy (encode.h).
 * 0 or a negative errno.
 */
int sb_domain_enter(int listener, uint64_t id, pid_t process, const char *bytes, size_t length);

/*
 * Rules about hosts, at the gate that this run has.  Where our own are at least as strict they hold the inner ones as
 * well.  Else the broker judges each connection by the inner run's rules before the gate hears of it: what these do not
 * allow is refused, since nobody is asked for a run inside.  Who sends a datagram nobody knows, so there are none then,
 * for nobody in the run.
 */

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
