#include "network/here.h"

#include <unistd.h>

#include "network/gate_impl.h"

/*
 * The kernel's own word: to an address that is local it sends from that address, or from one of loopback (ip-route(8),
 * type local).  Connecting a socket for datagrams sends nothing.
 */
void sb_here_look(const struct sb_policy *policy, struct sb_address *address)
{
	union place place;
	socklen_t length;
	int fd;

	address->here = false;
	if (!address->family || !sb_network_closes_here(policy))
		return;
	fd = socket(address->family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return; /* nor can anybody connect */
	length = sb_place_make(&place, address, 9);
	if (connect(fd, &place.any, length) == 0 && getsockname(fd, &place.any, &length) == 0) {
		const struct sb_address from = sb_place_address(&place);

		address->here = sb_address_equal(&from, address) ||
				sb_address_class(&from) == SB_ADDRESS_LOOPBACK;
	}
	close(fd);
}
