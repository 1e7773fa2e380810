/*
 * wire.c - fuzz target: the input is a message of the performer to the asker, behind a byte that says how
 * many descriptors come with it.
 *
 * The asker runs unconfined, and the performer works for hostile callers.  Whatever comes, each string ends
 * within its array, each number is one that the asker knows, and no descriptor stays open.
 */
#include "fuzz.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/auto.h"
#include "supervise/acts.h"
#include "supervise/wire.h"

static void post(int channel, const uint8_t *data, size_t size, size_t fd_count)
{
	union {
		char bytes[CMSG_SPACE((SB_WIRE_FDS + 2) * sizeof(int))];
		struct cmsghdr align;
	} control = {{0}};
	struct iovec part = {(void *)data, size};
	struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
	struct cmsghdr *rights;

	if (fd_count) {
		int fds[SB_WIRE_FDS + 2];

		for (size_t i = 0; i < fd_count; i++)
			fds[i] = STDERR_FILENO;
		header.msg_control = control.bytes;
		header.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
		rights = CMSG_FIRSTHDR(&header);
		rights->cmsg_level = SOL_SOCKET;
		rights->cmsg_type = SCM_RIGHTS;
		rights->cmsg_len = CMSG_LEN(fd_count * sizeof(int));
		memcpy(CMSG_DATA(rights), fds, fd_count * sizeof(int));
	}
	CHECK(sendmsg(channel, &header, MSG_NOSIGNAL) == (ssize_t)size);
}

static void check(const struct sb_wire_request *request)
{
	const struct sb_call *call = &request->call;
	unsigned sum = 0;

	CHECK(call->act < SB_ACT_COUNT && sb_acts[call->act].name);
	CHECK(memchr(request->file.path, 0, sizeof request->file.path));
	CHECK(memchr(request->target.path, 0, sizeof request->target.path));
	CHECK(memchr(request->file.name, 0, sizeof request->file.name));
	CHECK(memchr(request->target.name, 0, sizeof request->target.name));
	CHECK(memchr(call->text, 0, sizeof call->text));
	CHECK(!call->file.path[0] && !call->target.path[0]);
	CHECK(call->address_length <= sizeof call->address);
	CHECK(call->value || !call->value_length);
	for (size_t i = 0; i < call->value_length; i++)
		sum += ((const unsigned char *)call->value)[i];
	CHECK(sum <= call->value_length * 255); /* and each byte of it is there */
}

/* The lowest number that is free: the same before and after, or something stays open. */
static int lowest(void)
{
	int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);

	CHECK(fd >= 0);
	close(fd);
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct sb_wire_request request;
	struct sb_wire_message message;
	int channel[2], fd = -1, before = lowest();

	if (size < 2 || size > 100000)
		return 0;
	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel) == 0);
	post(channel[0], data + 1, size - 1, data[0] % (SB_WIRE_FDS + 2));
	request = SB_WIRE_REQUEST_EMPTY;
	if (sb_wire_receive(channel[1], &message, &request, &fd) == 0) {
		if (message.kind == SB_WIRE_REQUEST)
			check(&request);
		if (message.kind == SB_WIRE_NOTE || message.kind == SB_WIRE_UNSEEN ||
		    message.kind == SB_WIRE_ALLOWED || message.kind == SB_WIRE_HOST)
			CHECK(memchr(request.call.text, 0, sizeof request.call.text));
		(void)sb_wire_weight(&message);
	}
	sb_wire_request_done(&request);
	if (fd >= 0)
		close(fd);
	close(channel[0]);
	close(channel[1]);
	CHECK(lowest() == before);
	return 0;
}
