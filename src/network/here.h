/*
 * here.h - is an address one of this machine's own?  Asked of the kernel, by who connects outside.
 */
#ifndef SB_NETWORK_HERE_H
#define SB_NETWORK_HERE_H

#include "policy/network.h"

/* Sets address->here.  Where no rule is about it nothing is asked, and it is false. */
void sb_here_look(const struct sb_policy *policy, struct sb_address *address);

#endif
