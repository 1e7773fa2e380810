/*
 * ports.h - which ports of this machine have a server.
 */
#ifndef SB_SUPERVISE_PORTS_H
#define SB_SUPERVISE_PORTS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Does something outside listen there at all?  Programs try ports of this machine to see what there is,
 * and the answer to that is the same as without us.  proc: a descriptor of /proc.
 */
bool sb_port_is_listened_to(int proc, uint16_t port);

#endif
