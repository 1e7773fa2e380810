/*
 * names.h - which address stands for which name, for one run.
 *
 * Inside, a name has an address out of a range that nobody routes (RFC 2544): 198.18.x.y, the same one
 * for the whole run, so a connection says which name it means.  Nobody else learns of the name.
 */
#ifndef SB_NETWORK_NAMES_H
#define SB_NETWORK_NAMES_H

#include "policy/host.h"

/* A thousand names are a page of advertisements; beyond that somebody is counting. */
#define SB_NAMES_MAX 4096

struct sb_names;

struct sb_names *sb_names_new(void); /* NULL: out of memory */
void sb_names_free(struct sb_names *names);

/* The address of a name, in its one spelling; a new one if need be.  False: there are too many. */
bool sb_names_address(struct sb_names *names, const char *name, uint8_t out[4]);

/* NULL: it stands for none. */
const char *sb_names_of(const struct sb_names *names, const struct sb_address *address);

#endif
