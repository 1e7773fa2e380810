/*
 * abstract.h - abstract unix sockets of the run's own, where the kernel does not keep them apart.
 *
 * Landlock does since ABI 6 (Linux 6.12), and a network namespace always did.  Elsewhere a connect()
 * to an abstract name is made only if the run has bound it: bind() is held anyway, and the name is
 * remembered with the socket that got it.  Bounded: the oldest gives way.
 */
#ifndef SB_SUPERVISE_ABSTRACT_H
#define SB_SUPERVISE_ABSTRACT_H

#include "supervise/call.h"

/* The caller has bound this socket; to an abstract name or not. */
void sb_abstract_bound(const struct sb_call *call, int socket);

/*
 * The run's socket that has this name: a copy, which keeps the name from becoming another's while the
 * caller of this function connects.  -ECONNREFUSED: there is none, or it may not be reached.
 */
int sb_abstract_pin(int proc, const struct sb_call *call);

#endif
