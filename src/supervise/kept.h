/*
 * kept.h - copies of the command's sockets, where its descriptors cannot be copied.
 *
 *     socket(): made here, given, kept  -->  connect(), bind() on the copy
 *
 * Docker's default profile refuses pidfd_getfd().  Without a copy connect() would have to go on by
 * itself, and the number or the address could mean a service outside by then.  So there socket() is
 * held as well.  A copy is found by the number of its inode, which /proc tells of the command's.
 * It is dropped as soon as it would be noticed: a connection must end when the command closes it,
 * and a socket that listens must be gone then.
 */
#ifndef SB_SUPERVISE_KEPT_H
#define SB_SUPERVISE_KEPT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SB_KEPT_MAX 1024 /* the oldest goes first; connect() on that one is then refused */

struct sb_kept {
	pthread_mutex_t lock;
	struct sb_kept_socket {
		uint64_t inode;
		int fd; /* -1: it has been connected, or listens */
	} sockets[SB_KEPT_MAX];
	size_t next; /* the oldest, or one that was never used */
};

void sb_kept_init(struct sb_kept *kept);

/* Keep a copy of socket, which stays the caller's. */
void sb_kept_add(struct sb_kept *kept, int socket);

/*
 * A copy of what thread has at number: >= 0 and the caller's.  -EISCONN: it has been dropped.
 * -EACCES: none of those made here.  -ENOTSOCK, -EBADF: nor a socket at all.
 */
int sb_kept_take(struct sb_kept *kept, int proc, pid_t thread, int number);

/* The command connects it, or it is to listen: whoever holds it now would be noticed. */
void sb_kept_drop(struct sb_kept *kept, int socket);

/* Drop those that no process has any more: they may still have an address. */
void sb_kept_sweep(struct sb_kept *kept, int proc);

#endif
