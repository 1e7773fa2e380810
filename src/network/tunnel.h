/*
 * tunnel.h - a connection to a proxy becomes one to a host behind it.
 */
#ifndef SB_NETWORK_TUNNEL_H
#define SB_NETWORK_TUNNEL_H

#include "network/proxy.h"

/*
 * fd is connected to the proxy, and waits for nothing.  The status of its answer, of which nothing is left to be read; or a
 * negative errno: there is none until then, or what it says is none.
 */
int sb_tunnel_make(int fd, const struct sb_proxy *proxy, const struct sb_peer *peer,
		   int64_t until_ms);

#endif
