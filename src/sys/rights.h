/*
 * rights.h - messages with descriptors, on unix sockets: SCM_RIGHTS in unix(7).
 */
#ifndef SB_SYS_RIGHTS_H
#define SB_SYS_RIGHTS_H

#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

#define SB_SYS_RIGHTS 8 /* as many as go with one message */

/* As sendmsg(2), without SIGPIPE; what was sent, or a negative errno. */
ssize_t sb_sys_send_rights(int socket, struct iovec *parts, size_t count, const int *fds,
			   size_t fd_count, int flags);

struct sb_sys_received {
	int fds[SB_SYS_RIGHTS];
	size_t fd_count;
	int flags; /* MSG_TRUNC; MSG_CTRUNC: there were more descriptors than most, or than we may have */
};

/* As recvmsg(2); what came, or a negative errno.  Descriptors are close-on-exec. */
ssize_t sb_sys_receive_rights(int socket, struct iovec *parts, size_t count, size_t most, int flags,
			      struct sb_sys_received *out);

#endif
