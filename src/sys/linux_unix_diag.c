#include "sys/unix_diag.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

struct question {
	struct nlmsghdr head;
	struct unix_diag_req body;
};

/* The kernel answers within send(): whatever it has to say is there by then. */
static ssize_t ask(const struct question *question, void *answer, size_t size)
{
	int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	ssize_t length = -1;

	if (netlink < 0)
		return -errno;
	if (send(netlink, question, sizeof *question, 0) == (ssize_t)sizeof *question)
		length = recv(netlink, answer, size, MSG_DONTWAIT);
	if (length < 0)
		length = -errno;
	close(netlink);
	return length;
}

int sb_sys_unix_bound(int socket, uint32_t *out_inode)
{
	struct question question = {.head = {.nlmsg_len = sizeof question,
					     .nlmsg_type = SOCK_DIAG_BY_FAMILY,
					     .nlmsg_flags = NLM_F_REQUEST},
				    .body = {.sdiag_family = AF_UNIX,
					     .udiag_states = ~0u,
					     .udiag_show = UDIAG_SHOW_VFS,
					     .udiag_cookie = {~0u, ~0u}}};
	union {
		struct nlmsghdr head;
		char bytes[1024];
	} answer;
	const struct unix_diag_msg *found = NLMSG_DATA(&answer.head);
	struct stat info;
	ssize_t length;
	int left;

	if (fstat(socket, &info) != 0)
		return -errno;
	question.body.udiag_ino = (uint32_t)info.st_ino;
	length = ask(&question, &answer, sizeof answer);
	if (length < 0)
		return (int)length;
	if (!NLMSG_OK(&answer.head, (size_t)length) ||
	    answer.head.nlmsg_type != SOCK_DIAG_BY_FAMILY ||
	    answer.head.nlmsg_len < NLMSG_LENGTH(sizeof *found) ||
	    found->udiag_ino != (uint32_t)info.st_ino)
		return -ENOENT;
	left = (int)(answer.head.nlmsg_len - NLMSG_LENGTH(sizeof *found));
	for (const struct rtattr *next = (const void *)(found + 1); RTA_OK(next, left);
	     next = RTA_NEXT(next, left)) {
		const struct unix_diag_vfs *file = RTA_DATA(next);

		if (next->rta_type == UNIX_DIAG_VFS && RTA_PAYLOAD(next) >= sizeof *file) {
			*out_inode = file->udiag_vfs_ino;
			return 0;
		}
	}
	return -ENODATA;
}
