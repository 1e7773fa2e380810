/*
 * jail.h - a process of ours that reads hostile bytes gives up every system call but a few.
 */
#ifndef SB_NETWORK_JAIL_H
#define SB_NETWORK_JAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sandbash/error.h"

struct sb_jail {
	const int *calls;
	size_t count;
	bool sockets;          /* also socket(), of the internet's families */
	uint64_t capabilities; /* that stay, in this process's user namespace: sys/process.h */
};

/*
 * Of system calls these, and all others fail with EPERM; no new privilege.  Memory, the clock and the
 * end of the process stay.
 */
int sb_jail_enter(const struct sb_jail *jail, struct sb_error *err);

/* Close every descriptor from 3 on but these; negative ones are none. */
void sb_jail_keep_only(const int *fds, size_t count);

#endif
