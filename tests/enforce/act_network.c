/* act_network.c - the network, sockets, shared memory and queues. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <unistd.h>

#include "act.h"

#define PROTO_MPTCP 262
#define FAMILY_SMC 43

/* --- the network and sockets ------------------------------------------------------------- */

/* How a socket is meant to reach the other side. */
static const struct reach {
	const char *name;
	int family, type, protocol;
} reaches[] = {
	{"tcp", AF_INET, SOCK_STREAM, 0},
	{"tcp6", AF_INET6, SOCK_STREAM, 0},
	{"mapped", AF_INET6, SOCK_STREAM, 0}, /* IPv4 by way of an IPv6 socket */
	{"udp", AF_INET, SOCK_DGRAM, 0},
	{"udp6", AF_INET6, SOCK_DGRAM, 0},
	{"udp-sendto", AF_INET, SOCK_DGRAM, 0},
	{"udp-sendmsg", AF_INET, SOCK_DGRAM, 0},
	{"udp-sendmmsg", AF_INET, SOCK_DGRAM, 0},
	{"udplite", AF_INET, SOCK_DGRAM, IPPROTO_UDPLITE},
	{"mptcp", AF_INET, SOCK_STREAM, PROTO_MPTCP},
	{"fastopen", AF_INET, SOCK_STREAM, 0},
	{"fastopen-sendmsg", AF_INET, SOCK_STREAM, 0},
	{"fastopen-connect", AF_INET, SOCK_STREAM, 0},
	{"unspec", AF_INET, SOCK_STREAM, 0},
	{NULL, 0, 0, 0},
};

/* reach HOW ADDRESS PORT */
static int do_reach(char **arg)
{
	const struct reach *how = reaches;
	struct sockaddr_in to = {.sin_family = AF_INET};
	struct sockaddr_in6 to6 = {.sin6_family = AF_INET6};
	const struct sockaddr *address = (const struct sockaddr *)&to;
	socklen_t size = sizeof to;
	struct iovec data = {(char[1]){'X'}, 1};
	struct mmsghdr message = {
		{.msg_name = &to, .msg_namelen = sizeof to, .msg_iov = &data, .msg_iovlen = 1}, 0};
	int fd, one = 1;

	while (how->name && strcmp(how->name, arg[0]) != 0)
		how++;
	if (!how->name) {
		errno = EINVAL;
		die(arg[0]);
	}
	to.sin_port = to6.sin6_port = htons((uint16_t)number(arg[2]));
	if (how->family == AF_INET6) {
		char mapped[64];

		snprintf(mapped, sizeof mapped, "%s%s",
			 strcmp(arg[0], "mapped") ? "" : "::ffff:", arg[1]);
		if (inet_pton(AF_INET6, mapped, &to6.sin6_addr) != 1)
			die(mapped);
		address = (const struct sockaddr *)&to6;
		size = sizeof to6;
	} else if (inet_pton(AF_INET, arg[1], &to.sin_addr) != 1) {
		die(arg[1]);
	}
	fd = socket(how->family, how->type, how->protocol);
	if (fd < 0)
		return -1;
	if (strcmp(arg[0], "udp-sendto") == 0)
		return sendto(fd, "X", 1, 0, address, size) == 1 ? 0 : -1;
	if (strcmp(arg[0], "udp-sendmsg") == 0)
		return sendmsg(fd, &message.msg_hdr, 0) == 1 ? 0 : -1;
	if (strcmp(arg[0], "udp-sendmmsg") == 0)
		return sendmmsg(fd, &message, 1, 0) == 1 ? 0 : -1;
	if (strcmp(arg[0], "fastopen") == 0)
		return sendto(fd, "X", 1, MSG_FASTOPEN, address, size) == 1 ? 0 : -1;
	if (strcmp(arg[0], "fastopen-sendmsg") == 0)
		return sendmsg(fd, &message.msg_hdr, MSG_FASTOPEN) == 1 ? 0 : -1;
	if (strcmp(arg[0], "fastopen-connect") == 0 &&
	    setsockopt(fd, IPPROTO_TCP, 30 /* TCP_FASTOPEN_CONNECT */, &one, sizeof one) < 0)
		return -1;
	if (connect(fd, address, size) < 0)
		return -1;
	return put(fd);
}

static const struct name families[] = {
	{"unix", AF_UNIX},     {"inet", AF_INET},
	{"inet6", AF_INET6},   {"netlink", AF_NETLINK},
	{"packet", AF_PACKET}, {"vsock", AF_VSOCK},
	{"alg", AF_ALG},       {"smc", FAMILY_SMC},
	{"can", AF_CAN},       {"bluetooth", AF_BLUETOOTH},
	{"xdp", 44},           {"key", AF_KEY},
	{"tipc", 30},          {"rds", 21},
	{"qipcrtr", 42},       {NULL, 0},
};

static const struct name types[] = {{"stream", SOCK_STREAM}, {"dgram", SOCK_DGRAM},
				    {"raw", SOCK_RAW},       {"seqpacket", SOCK_SEQPACKET},
				    {"packet", SOCK_PACKET}, {NULL, 0}};

/* socket FAMILY TYPE PROTOCOL */
static int do_socket(char **arg)
{
	return zero(socket((int)look_up(families, arg[0], "family"),
			   (int)look_up(types, arg[1], "type"), (int)number(arg[2])));
}

/* loopback HOW: both ends are ours */
static int do_loopback(char **arg)
{
	int type = strcmp(arg[0], "udp") == 0 ? SOCK_DGRAM : SOCK_STREAM;
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof address;
	int server = socket(AF_INET, type, 0), client = socket(AF_INET, type, 0), peer;
	char byte;

	if (server < 0 || client < 0 || bind(server, (struct sockaddr *)&address, size) < 0 ||
	    getsockname(server, (struct sockaddr *)&address, &size) < 0)
		return -1;
	if (type == SOCK_STREAM && listen(server, 1) < 0)
		return -1;
	if (connect(client, (struct sockaddr *)&address, size) < 0 || put(client) < 0)
		return -1;
	peer = type == SOCK_STREAM ? accept(server, NULL, NULL) : server;
	return peer < 0 || read(peer, &byte, 1) != 1 ? -1 : 0;
}

/* listen PORT: a server of ours on the machine's own address */
static int do_listen(char **arg)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
				      .sin_port = htons((uint16_t)number(arg[0]))};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) < 0)
		return -1;
	return listen(fd, 1);
}

/* unix HOW ADDRESS: ADDRESS is a path, or @NAME for an abstract one */
static int do_unix(char **arg)
{
	struct sockaddr_un to;
	socklen_t size = sizeof to;
	const char *how = arg[0];
	int fd, pair[2];
	char byte;

	if (unix_address(&to, arg[1]) < 0)
		return -1;
	if (arg[1][0] == '@') {
		to.sun_path[0] = '\0';
		size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(arg[1]));
	}
	if (strcmp(how, "pair") == 0) { /* a socketpair can address anybody */
		if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) < 0)
			return -1;
		if (sendto(pair[0], "X", 1, 0, (struct sockaddr *)&to, size) != 1)
			return -1;
		if (recv(pair[1], &byte, 1, MSG_DONTWAIT) != 1)
			return 0;
		errno = ECONNREFUSED; /* it went to the other end, whatever the address said */
		return -1;
	}
	if (strcmp(how, "sendto") == 0) {
		fd = socket(AF_UNIX, SOCK_DGRAM, 0);
		if (fd < 0)
			return -1;
		return sendto(fd, "X", 1, 0, (struct sockaddr *)&to, size) == 1 ? 0 : -1;
	}
	fd = socket(AF_UNIX, (int)look_up(types, how, "type"), 0);
	return fd < 0 ? -1 : connect(fd, (struct sockaddr *)&to, size);
}

/* abstract: both ends ours */
static int do_abstract(char **arg)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 16);
	int server = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)arg;
	snprintf(address.sun_path + 1, 15, "act-%d", getpid());
	if (server < 0 || client < 0 || bind(server, (struct sockaddr *)&address, size) < 0 ||
	    listen(server, 1) < 0)
		return -1;
	return connect(client, (struct sockaddr *)&address, size);
}

/* --- shared memory and queues ------------------------------------------------------------ */

static int tell(int id)
{
	return id < 0 || printf("%d\n", id) < 0 ? -1 : 0;
}

/* ipc HOW NAME: write into what somebody made; "make-*" is that somebody and prints the id */
static int do_ipc(char **arg)
{
	const char *how = arg[0];
	struct {
		long type;
		char byte;
	} message = {1, 'X'};
	char *memory;
	int id;

	if (strcmp(how, "make-shm") == 0)
		return tell(shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600));
	if (strcmp(how, "make-msg") == 0)
		return tell(msgget(IPC_PRIVATE, IPC_CREAT | 0600));
	if (strcmp(how, "make-sem") == 0)
		return tell(semget(IPC_PRIVATE, 1, IPC_CREAT | 0600));
	if (strcmp(how, "make-mq") == 0)
		return mq_open(arg[1], O_RDWR | O_CREAT | O_EXCL, 0600, NULL) < 0 ? -1 : 0;
	if (strcmp(how, "mq") == 0) {
		id = mq_open(arg[1], O_WRONLY);
		return id < 0 ? -1 : mq_send(id, "X", 1, 0);
	}
	if (strcmp(how, "remove-mq") == 0)
		return mq_unlink(arg[1]);
	if (strcmp(how, "own-shm") == 0) {
		id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
		if (id < 0 || (memory = shmat(id, NULL, 0)) == (void *)-1)
			return -1;
		memory[0] = 'X';
		return shmctl(id, IPC_RMID, NULL);
	}
	id = (int)number(arg[1]);
	if (strcmp(how, "shm") == 0) {
		memory = shmat(id, NULL, 0);
		if (memory == (void *)-1)
			return -1;
		memory[0] = 'X';
		return 0;
	}
	if (strcmp(how, "msg") == 0)
		return msgsnd(id, &message, 1, IPC_NOWAIT);
	if (strcmp(how, "sem") == 0)
		return semop(id, &(struct sembuf){0, 1, IPC_NOWAIT}, 1);
	if (strcmp(how, "remove-shm") == 0)
		return shmctl(id, IPC_RMID, NULL);
	if (strcmp(how, "remove-msg") == 0)
		return msgctl(id, IPC_RMID, NULL);
	if (strcmp(how, "remove-sem") == 0)
		return semctl(id, 0, IPC_RMID);
	errno = EINVAL;
	die(how);
	return -1;
}

const struct act network_acts[] = {
	{"reach", 3, do_reach},   {"socket", 3, do_socket}, {"loopback", 1, do_loopback},
	{"listen", 1, do_listen}, {"unix", 2, do_unix},     {"abstract", 0, do_abstract},
	{"ipc", 2, do_ipc},       {NULL, 0, NULL},
};
