#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "network/network.h"

union control {
	struct cmsghdr align;
	char room[CMSG_SPACE(2 * sizeof(int))];
};

int sb_gate_send(int channel, const struct sb_gate_message *message, const int *fds, size_t count)
{
	union control control = {0};
	struct iovec bytes = {(void *)message, sizeof *message};
	struct msghdr header = {.msg_iov = &bytes, .msg_iovlen = 1};
	ssize_t sent;

	if (count) {
		struct cmsghdr *rights;

		header.msg_control = control.room;
		header.msg_controllen = CMSG_SPACE(count * sizeof *fds);
		rights = CMSG_FIRSTHDR(&header);
		rights->cmsg_level = SOL_SOCKET;
		rights->cmsg_type = SCM_RIGHTS;
		rights->cmsg_len = CMSG_LEN(count * sizeof *fds);
		memcpy(CMSG_DATA(rights), fds, count * sizeof *fds);
	}
	do {
		sent = sendmsg(channel, &header, MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : 0;
}

int sb_gate_receive(int channel, struct sb_gate_message *message, int out_fds[2])
{
	union control control;
	struct iovec bytes = {message, sizeof *message};
	struct msghdr header = {.msg_iov = &bytes,
				.msg_iovlen = 1,
				.msg_control = control.room,
				.msg_controllen = sizeof control.room};
	ssize_t got;
	size_t count = 0;

	out_fds[0] = out_fds[1] = -1;
	do {
		got = recvmsg(channel, &header, MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	for (struct cmsghdr *one = CMSG_FIRSTHDR(&header); one; one = CMSG_NXTHDR(&header, one)) {
		size_t length = one->cmsg_len - CMSG_LEN(0);

		if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i + sizeof(int) <= length; i += sizeof(int)) {
			int fd;

			memcpy(&fd, CMSG_DATA(one) + i, sizeof fd);
			if (count < 2)
				out_fds[count++] = fd;
			else
				close(fd);
		}
	}
	if (got == sizeof *message && !(header.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) {
		message->peer.name[sizeof message->peer.name - 1] = '\0';
		message->tls[sizeof message->tls - 1] = '\0';
		message->variable[sizeof message->variable - 1] = '\0';
		return 0;
	}
	for (size_t i = 0; i < count; i++)
		close(out_fds[i]);
	out_fds[0] = out_fds[1] = -1;
	return got == 0 ? -EPIPE : -EBADMSG;
}

#define MAX_NOTES 8192 /* who has not listened for that long hears no more */

struct sb_outbox_note {
	struct sb_outbox_note *next;
	struct sb_gate_message message;
};

bool sb_outbox_flush(struct sb_outbox *box, int channel)
{
	while (box->first) {
		struct sb_outbox_note *note = box->first;

		if (sb_gate_send(channel, &note->message, NULL, 0) == -EAGAIN)
			return false;
		box->first = note->next;
		box->count--;
		free(note);
	}
	return true;
}

void sb_outbox_post(struct sb_outbox *box, int channel, const struct sb_gate_message *message)
{
	struct sb_outbox_note *note;

	if (sb_outbox_flush(box, channel) && sb_gate_send(channel, message, NULL, 0) != -EAGAIN)
		return;
	note = box->count < MAX_NOTES ? malloc(sizeof *note) : NULL;
	if (!note)
		return;
	*note = (struct sb_outbox_note){NULL, *message};
	*(box->first ? box->last : &box->first) = note;
	box->last = &note->next;
	box->count++;
}
