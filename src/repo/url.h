/*
 * url.h - which URLs git gets to see, and whom they lead to.
 */
#ifndef SB_REPO_URL_H
#define SB_REPO_URL_H

#include "policy/peer.h"

/* Is it meant as one?  Else it is a path. */
bool sb_repo_is_url(const char *name);

/* SB_E_INVALID: it is none that is used here. */
int sb_repo_peer(const char *url, struct sb_peer *out, struct sb_error *err);

#endif
