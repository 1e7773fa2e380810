#include "sys/rights.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(SB_SYS_RIGHTS * sizeof(int))];
};

ssize_t sb_sys_send_rights(int socket, struct iovec *parts, size_t count, const int *fds,
			   size_t fd_count, int flags)
{
	union control control = {0};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = count};
	ssize_t sent;

	if (fd_count) {
		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(fd_count * sizeof *fds);
		control.align.cmsg_level = SOL_SOCKET;
		control.align.cmsg_type = SCM_RIGHTS;
		control.align.cmsg_len = CMSG_LEN(fd_count * sizeof *fds);
		memcpy(CMSG_DATA(&control.align), fds, fd_count * sizeof *fds);
	}
	do
		sent = sendmsg(socket, &message, MSG_NOSIGNAL | flags);
	while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : sent;
}

ssize_t sb_sys_receive_rights(int socket, struct iovec *parts, size_t count, size_t most, int flags,
			      struct sb_sys_received *out)
{
	union control control;
	struct msghdr message = {.msg_iov = parts,
				 .msg_iovlen = count,
				 .msg_control = &control,
				 .msg_controllen = CMSG_SPACE(most * sizeof(int))};
	ssize_t got;

	out->fd_count = 0;
	do
		got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | flags);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	out->flags = message.msg_flags;
	for (struct cmsghdr *one = CMSG_FIRSTHDR(&message); one; one = CMSG_NXTHDR(&message, one)) {
		size_t length = one->cmsg_len - CMSG_LEN(0);

		if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i + sizeof(int) <= length; i += sizeof(int)) {
			int fd;

			memcpy(&fd, CMSG_DATA(one) + i, sizeof fd);
			if (out->fd_count < most) {
				out->fds[out->fd_count++] = fd;
			} else { /* there is room for an even number */
				close(fd);
				out->flags |= MSG_CTRUNC;
			}
		}
	}
	return got;
}
