/*
 * connecting.h - calls that wait for a socket to be ready: one thread waits for all of them.
 *
 * A thousand connections may wait for one answer of a person, each in a thread of the command's own.
 */
#ifndef SB_SUPERVISE_CONNECTING_H
#define SB_SUPERVISE_CONNECTING_H

#include <stdbool.h>
#include <stddef.h>

struct sb_broker;

struct sb_connecting {
	int socket;
	size_t place; /* among all of them */
	/*
	 * The socket is ready; or it is not, and it is time to look whether anybody still waits.
	 * True: it is over.  Then finish() closes the socket and frees this.
	 */
	bool (*look)(struct sb_connecting *it, bool ready);
	void (*finish)(struct sb_connecting *it);
};

/* Takes it over.  False: too many wait already. */
bool sb_connecting_add(struct sb_broker *broker, struct sb_connecting *it);

#endif
