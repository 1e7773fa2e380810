#include "cli/reach.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/auto.h"

int sb_reach_tell(int run, const struct sb_attach_message *message)
{
	SB_AUTO_BUF struct sb_buf bytes = SB_BUF(SB_ATTACH_BYTES);

	if (!sb_attach_encode(message, &bytes))
		return -ENOMEM;
	return send(run, bytes.data, bytes.length, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int sb_reach_hear(int run, struct sb_attach_message *out)
{
	static char bytes[SB_ATTACH_BYTES];
	ssize_t got = recv(run, bytes, sizeof bytes, MSG_DONTWAIT | MSG_TRUNC);

	/* a refusal that did not wait for what we said: the error comes first, then the words */
	if (got < 0 && errno == ECONNRESET)
		got = recv(run, bytes, sizeof bytes, MSG_DONTWAIT | MSG_TRUNC);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (got <= 0 || (size_t)got > sizeof bytes || !sb_attach_decode(bytes, (size_t)got, out))
		return -1;
	return 1;
}

/*
 * SECURITY: the name is in a file of ours, but an abstract name that its run has left is free
 * for everybody.  Who listens must be the process that the file names, of the user who owns it.
 */
static bool is_the_run(int fd, const struct sb_running *running)
{
	struct ucred who = {.pid = 0};
	socklen_t length = sizeof who;

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &length) == 0 &&
	       who.uid == running->owner && who.pid == running->process;
}

int sb_reach(const struct sb_running *running, int *out_fd, struct sb_error *err)
{
	SB_AUTO_FD int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1,
			      SB_RUNNING_PREFIX "%s", running->socket);

	if (fd < 0 ||
	    connect(fd, (const void *)&address,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)) != 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot reach the session '%s'",
			       running->session);
	if (!is_the_run(fd, running))
		return sb_fail(err, SB_E_REFUSED, 0, "somebody else listens in place of '%s'",
			       running->session);
	*out_fd = sb_take_fd(&fd);
	return SB_OK;
}
