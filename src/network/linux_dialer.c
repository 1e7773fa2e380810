/*
 * linux_dialer.c - the process outside that looks names up and connects.
 *
 * Both take their time, and a name server's answer is read by the C library: neither belongs into the
 * asker.  It is started with the first connection, and each takes a thread while it lasts.
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <resolv.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "network/dns.h"
#include "network/gate_impl.h"
#include "network/jail.h"
#include "network/proxy.h"
#include "sys/landlock.h"
#include "sys/process.h"

#define CONNECT_MS 20000 /* for all addresses of a host together */
#define NEXT_MS 2500     /* for one of them, while there are others */
#define MAX_ADDRESSES 16
#define MAX_REQUEST 8192 /* to a proxy */
#define MAX_THREADS 256
#define STACK (128 * 1024)

static struct {
	const struct sb_policy *policy;
	struct sb_proxies proxies;
	int channel;
	unsigned threads, idle;
} dialer;

/* Is it one that this machine's own list has?  Then no server is asked. */
static bool is_in_hosts(const char *name)
{
	FILE *file = fopen("/etc/hosts", "re");
	char line[1024];
	bool found = false;

	while (file && !found && fgets(line, sizeof line, file)) {
		char *rest = line, *word;

		line[strcspn(line, "#\n")] = '\0';
		while (!found && (word = strsep(&rest, " \t")))
			found = strcasecmp(word, name) == 0;
	}
	if (file)
		fclose(file);
	return found;
}

/* The addresses of a name.  0, or a code of dns.h. */
static int find_addresses(const struct sb_peer *peer, struct sb_address *out, size_t *out_count)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
	char name[SB_HOST_NAME_SIZE + 1];
	int status;

	*out_count = 0;
	if (peer->address.family) {
		out[(*out_count)++] = peer->address;
		return SB_DNS_FINE;
	}
	if (strcmp(peer->name, SB_HOST_LOCAL) == 0) {
		out[(*out_count)++] = sb_address_make(AF_INET, (const uint8_t[4]){127, 0, 0, 1});
		out[(*out_count)++] = sb_address_make(AF_INET6, (const uint8_t[16]){[15] = 1});
		return SB_DNS_FINE;
	}
	/* a name with a dot means itself, and not what a list of endings makes of it */
	snprintf(name, sizeof name, "%s%s", peer->name,
		 strchr(peer->name, '.') && !is_in_hosts(peer->name) ? "." : "");
	status = getaddrinfo(name, NULL, &hints, &found);
	if (status != 0)
		return status == EAI_NONAME ? SB_DNS_NXDOMAIN : SB_DNS_SERVFAIL;
	for (struct addrinfo *one = found; one && *out_count < MAX_ADDRESSES; one = one->ai_next)
		if (one->ai_family == AF_INET || one->ai_family == AF_INET6)
			out[(*out_count)++] = sb_place_address((const union place *)one->ai_addr);
	freeaddrinfo(found);
	return *out_count ? SB_DNS_FINE : SB_DNS_NXDOMAIN;
}

/* 0, or a negative errno. */
static int await(int fd, short events, int64_t until_ms)
{
	struct pollfd wait = {fd, events, 0};
	int ready;

	do {
		int64_t left = until_ms - sb_now_ms();

		ready = left > 0 ? poll(&wait, 1, (int)left) : 0;
	} while (ready < 0 && errno == EINTR);
	return ready > 0 ? 0 : ready < 0 ? -errno : -ETIMEDOUT;
}

/* The error of connecting within this time, or 0. */
static int await_connection(int fd, int64_t milliseconds)
{
	int error = -await(fd, POLLOUT, sb_now_ms() + milliseconds);
	socklen_t size = sizeof error;

	if (!error && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
		error = errno;
	return error;
}

/* A connected socket, or a negative errno. */
static int connect_to(enum sb_protocol protocol, const struct sb_address *address, uint16_t port,
		      int64_t milliseconds)
{
	union place place;
	socklen_t length = sb_place_make(&place, address, port);
	int one = 1, error = 0,
	    fd = socket(address->family,
			(protocol == SB_UDP ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC |
				SOCK_NONBLOCK,
			0);

	if (fd < 0)
		return -errno;
	if (connect(fd, &place.any, length) != 0)
		error = errno == EINPROGRESS ? await_connection(fd, milliseconds) : errno;
	if (protocol == SB_TCP) { /* the command's own are answered by the pump's side */
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
		setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
	}
	if (!error)
		return fd;
	close(fd);
	return -error;
}

/*
 * SECURITY: a name is the word of whoever owns it.
 *
 * Danger: a host that was said yes to is made to mean 169.254.169.254, or a printer in the office, by a
 * record that its owner changes.  Such addresses are not tried; the asker hears of the first one.
 * Price: a second question where a name is meant to lead to the own network.
 * Held by: tests/supervise/network_attacks.py
 */
static bool may_try(struct sb_gate_message *answer, const struct sb_gate_message *request,
		    const struct sb_address *address)
{
	if (request->peer.address.family || strcmp(request->peer.name, SB_HOST_LOCAL) == 0 ||
	    sb_decide_address(dialer.policy, &request->peer, address).verdict == SB_ALLOW)
		return true;
	if (answer->kind == SB_GATE_DIALLED) {
		answer->kind = SB_GATE_UNLIKELY;
		answer->peer.address = *address;
	}
	return false;
}

/* A connection to one of these, or a negative errno; the first of them that answers. */
static int connect_any(const struct sb_gate_message *request, struct sb_gate_message *answer,
		       int64_t until)
{
	struct sb_address addresses[MAX_ADDRESSES];
	size_t count;
	int fd = -EHOSTUNREACH;

	find_addresses(&request->peer, addresses, &count);
	for (size_t i = 0; i < count && fd < 0; i++) {
		int64_t left = until - sb_now_ms();

		if (left <= 0)
			break;
		sb_here_look(dialer.policy, &addresses[i]);
		if (answer && !may_try(answer, request, &addresses[i]))
			continue;
		fd = connect_to(request->peer.protocol, &addresses[i], request->peer.port,
				i + 1 < count && left > NEXT_MS ? NEXT_MS : left);
		if (answer) {
			answer->kind = SB_GATE_DIALLED;
			answer->peer.address = addresses[i];
		}
	}
	return fd;
}

/* --- proxies ------------------------------------------------------------------------------------- */

static int send_all(int fd, const struct sb_buf *text, int64_t until_ms)
{
	for (size_t done = 0; done < text->length;) {
		ssize_t sent = send(fd, text->data + done, text->length - done, MSG_NOSIGNAL);
		int status = sent >= 0         ? 0
			     : errno == EAGAIN ? await(fd, POLLOUT, until_ms)
					       : -errno;

		if (status < 0 && status != -EINTR)
			return status;
		done += sent > 0 ? (size_t)sent : 0;
	}
	return 0;
}

/* What follows the answer is the host's, who may be the first to speak: it stays where it is. */
static int receive_answer(int fd, struct sb_proxy_talk *talk, int64_t until_ms)
{
	uint8_t bytes[SB_PROXY_ANSWER_MAX];
	size_t have = 0;
	int code = 0;

	while (code == 0) {
		ssize_t got = recv(fd, bytes + have, sizeof bytes - have, MSG_PEEK);
		size_t end = 0;
		int status = got > 0           ? 0
			     : got == 0        ? -ECONNRESET
			     : errno == EAGAIN ? await(fd, POLLIN, until_ms)
					       : -errno;

		if (status < 0 && status != -EINTR)
			return status;
		if (got <= 0)
			continue;
		code = sb_proxy_hear(talk, bytes, have + (size_t)got, &end);
		if (code < 0)
			return -EPROTO;
		got = recv(fd, bytes + have, code ? end - have : (size_t)got, 0);
		if (got <= 0)
			return -EPROTO;
		have += (size_t)got;
	}
	return code;
}

/*
 * fd is connected to the proxy, and waits for nothing.  The status of its answer, of which nothing is left to be read; or a
 * negative errno: there is none until then, or what it says is none.
 */
static int make_tunnel(int fd, const struct sb_proxy *proxy, const struct sb_peer *peer,
		       int64_t until_ms)
{
	struct sb_proxy_talk talk = {.proxy = proxy, .peer = peer};
	int status;

	do {
		SB_AUTO_BUF struct sb_buf request = SB_BUF(MAX_REQUEST);

		sb_proxy_say(&talk, &request);
		status = sb_buf_failed(&request) ? -ENOMEM : send_all(fd, &request, until_ms);
		if (status == 0)
			status = receive_answer(fd, &talk, until_ms);
	} while (status == SB_PROXY_NEXT);
	return status;
}

/* The same by a proxy, which hears the name.  Its own is the user's word, and may be anywhere. */
static int connect_by(const struct sb_proxy *proxy, const struct sb_gate_message *request,
		      struct sb_gate_message *answer, int64_t until)
{
	const struct sb_gate_message to_proxy = {.peer = proxy->peer};
	int fd = proxy->kind == SB_PROXY_UNKNOWN ? -EPROTONOSUPPORT
						 : connect_any(&to_proxy, NULL, until);
	int status = fd < 0 ? fd : make_tunnel(fd, proxy, &request->peer, until);

	if (sb_proxy_error(status) == 0)
		return fd;
	sb_auto_close(&fd);
	answer->proxy = status;
	memcpy(answer->variable, proxy->variable, sizeof answer->variable);
	return sb_proxy_error(status);
}

/*
 * Ports that are not the web's programs reach natively without a proxy, and many of HTTP lead to none of them.  One of
 * SOCKS leads to all: who set it up may want nobody to see where this machine goes.
 */
static bool may_go_past(const struct sb_proxy *proxy, int status, const struct sb_peer *peer)
{
	return proxy->kind == SB_PROXY_HTTP && status >= 400 && status < 500 && peer->port != 80 &&
	       peer->port != 443;
}

static void dial(const struct sb_gate_message *request)
{
	struct sb_gate_message answer = {.kind = SB_GATE_DIALLED,
					 .id = request->id,
					 .process = request->process,
					 .peer = request->peer};
	/* what has both a name and an address was found to lead there, without one */
	const struct sb_proxy *proxy = request->peer.name[0] && request->peer.address.family
					       ? NULL
					       : sb_proxy_for(&dialer.proxies, &request->peer);
	int64_t until = sb_now_ms() + CONNECT_MS;
	int fd = proxy ? connect_by(proxy, request, &answer, until) : -1;

	if (!proxy || may_go_past(proxy, answer.proxy, &request->peer)) {
		answer.proxy = 0;
		fd = connect_any(request, &answer, until);
	}
	answer.number = fd < 0 ? -fd : 0;
	sb_gate_send(dialer.channel, &answer, &fd, fd >= 0);
	sb_auto_close(&fd);
}

/*
 * What a name server says about a name, which the gate reads: as the end of a pipe.  -1: none says anything.
 * Of an answer that does not fit into a datagram not every C library asks for the rest.
 */
static int ask_server(const char *name, int type)
{
	static const unsigned char edns[] = {0, 0, 41, SB_DNS_ANSWER_MAX >> 8, 0, 0, 0, 0, 0, 0, 0};
	unsigned char query[SB_DNS_QUERY_MAX], answer[SB_DNS_ANSWER_MAX];
	int ends[2], got = -1,
		     length = res_mkquery(0, name, 1 /* IN */, type, NULL, 0, NULL, query,
					  (int)(sizeof query - sizeof edns));

	if (length < 12)
		return -1;
	memcpy(query + length, edns, sizeof edns);
	query[11] = 1; /* one more record */
	got = res_send(query, length + (int)sizeof edns, answer, sizeof answer);
	/* a page is what a pipe always has */
	if (got <= 0 || got > (int)sizeof answer || pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
		return -1;
	if (write(ends[1], answer, (size_t)got) != got) {
		sb_auto_close(&ends[0]);
	}
	close(ends[1]);
	return ends[0];
}

static void look(const struct sb_gate_message *request)
{
	struct sb_gate_message answer = {.kind = SB_GATE_LOOKED, .id = request->id};
	struct sb_address addresses[MAX_ADDRESSES];
	size_t count;
	int said = -1;

	if (request->number) {
		said = ask_server(request->peer.name, request->number);
		answer.number = said < 0 ? SB_DNS_SERVFAIL : SB_DNS_FINE;
	} else {
		answer.number = sb_proxy_for(&dialer.proxies, &request->peer)
					? SB_DNS_FINE /* the proxy will know */
					: find_addresses(&request->peer, addresses, &count);
	}
	sb_gate_send(dialer.channel, &answer, &said, said >= 0);
	sb_auto_close(&said);
}

static void start_thread(void);

/* Who takes a message sees to it that somebody waits for the next. */
static void *work(void *unused)
{
	for (;;) {
		struct sb_gate_message message;
		int fds[2], status;

		__atomic_add_fetch(&dialer.idle, 1, __ATOMIC_RELAXED);
		status = sb_gate_receive(dialer.channel, &message, fds);
		if (__atomic_sub_fetch(&dialer.idle, 1, __ATOMIC_RELAXED) == 0)
			start_thread();
		for (int i = 0; i < 2; i++)
			sb_auto_close(&fds[i]);
		if (status == 0 && message.kind == SB_GATE_DIAL)
			dial(&message);
		else if (status == 0)
			look(&message);
		else if (status != -EBADMSG)
			_exit(0);
	}
	return unused;
}

static void start_thread(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	if (__atomic_fetch_add(&dialer.threads, 1, __ATOMIC_RELAXED) >= MAX_THREADS) {
		__atomic_fetch_sub(&dialer.threads, 1, __ATOMIC_RELAXED);
		return;
	}
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK);
	if (pthread_create(&thread, &attributes, work, NULL) != 0)
		__atomic_fetch_sub(&dialer.threads, 1, __ATOMIC_RELAXED);
	pthread_attr_destroy(&attributes);
}

/*
 * SECURITY: name servers are strangers, and the C library reads their answers here.
 *
 * Danger: a mistake there would be one in a process of the user's own.  So it changes no file, runs no
 * program and signals nobody outside.  Where the kernel has no Landlock, nothing of that holds but
 * no_new_privs.
 * Price: none.
 * Held by: tests/supervise/network_attacks.py, which looks at its state
 */
static void confine(void)
{
	int abi = sb_sys_landlock_abi(), fd;
	struct sb_ll_ruleset rules = {.handled_fs =
					      SB_LL_EXECUTE | SB_LL_WRITE_FILE | SB_LL_REMOVE_DIR |
					      SB_LL_REMOVE_FILE | SB_LL_MAKE_CHAR | SB_LL_MAKE_DIR |
					      SB_LL_MAKE_REG | SB_LL_MAKE_SOCK | SB_LL_MAKE_FIFO |
					      SB_LL_MAKE_BLOCK | SB_LL_MAKE_SYM};

	if (abi >= 3)
		rules.handled_fs |= SB_LL_REFER | SB_LL_TRUNCATE;
	if (abi >= 6)
		rules.scoped = SB_LL_SCOPE_ABSTRACT_UNIX | SB_LL_SCOPE_SIGNAL;
	if (sb_sys_no_new_privs() < 0 || sb_sys_keep_capabilities(0) < 0)
		_exit(1);
	fd = abi > 0 ? sb_sys_landlock_create(&rules, abi) : -1;
	if (fd >= 0) {
		sb_sys_landlock_restrict(fd);
		close(fd);
	}
}

static void dialer_main(int channel, const struct sb_policy *policy,
			const char *(*variable)(const char *name))
{
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	prctl(PR_SET_NAME, "sandbash-dialer", 0, 0, 0);
	sb_jail_keep_only(&channel, 1);
	dialer.channel = channel;
	dialer.policy = policy;
	if (variable)
		sb_proxies_find(variable, &dialer.proxies);
	confine();
	work(NULL);
}

int sb_dialer_start(const struct sb_policy *policy, const char *(*variable)(const char *name),
		    int *out_channel, struct sb_error *err)
{
	int ends[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot make a socket pair");
	/* whoever asks for more than it can do hears so, and waits for nobody */
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	pid = fork();
	if (pid == 0)
		dialer_main(ends[1], policy, variable);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot start a process");
	}
	*out_channel = ends[0];
	return SB_OK;
}
