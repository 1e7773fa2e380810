#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "network/network.h"
#include "sys/rights.h"

int sb_gate_send(int channel, const struct sb_gate_message *message, const int *fds, size_t count)
{
	struct iovec bytes = {(void *)message, sizeof *message};
	ssize_t sent = sb_sys_send_rights(channel, &bytes, 1, fds, count, 0);

	return sent < 0 ? (int)sent : 0;
}

int sb_gate_receive(int channel, struct sb_gate_message *message, int out_fds[2])
{
	struct iovec bytes = {message, sizeof *message};
	struct sb_sys_received came;
	ssize_t got = sb_sys_receive_rights(channel, &bytes, 1, 2, 0, &came);
	bool whole = got == sizeof *message && !(came.flags & (MSG_TRUNC | MSG_CTRUNC));

	out_fds[0] = out_fds[1] = -1;
	for (size_t i = 0; got >= 0 && i < came.fd_count; i++)
		if (whole)
			out_fds[i] = came.fds[i];
		else
			close(came.fds[i]);
	if (!whole)
		return got < 0 ? (int)got : got == 0 ? -EPIPE : -EBADMSG;
	message->peer.name[sizeof message->peer.name - 1] = '\0';
	message->tls[sizeof message->tls - 1] = '\0';
	message->variable[sizeof message->variable - 1] = '\0';
	return 0;
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
