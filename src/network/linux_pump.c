#include "network/network.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "network/jail.h"
#include "network/sni.h"

#define PIPE_SIZE (256 * 1024) /* 64 pages: a bigger one makes nothing faster */
#define SPARE_PIPES 32
#define TURNS 16           /* that many pipefuls, and others have their turn */
#define DATAGRAM_MS 120000 /* of silence, and a pair of UDP sockets is given up (RFC 4787) */
#define LOOK_MS 10000      /* how often silence is looked for */
#define MAX_FLOWS 8192

enum { INSIDE, OUTSIDE };

struct way { /* from one socket to the other */
	int pipe[2];
	size_t held;    /* bytes in the pipe */
	bool ended;     /* nothing more comes */
	bool done;      /* and the other side was told */
	uint64_t total; /* bytes that went out */
};

/* What of TLS is looked at next. */
enum look {
	LOOK_HELLO,  /* what the command says first */
	LOOK_ANSWER, /* whether the server wants another hello */
	LOOK_AGAIN,  /* that one */
	LOOK_DONE,   /* nothing more */
};

struct flow {
	struct flow *next, *previous; /* of all */
	struct flow *behind;          /* of those that have more to do */
	bool queued, closed;
	enum look look;
	size_t seen; /* until it is done: bytes of the command's that may go on */
	bool refused;
	bool half; /* the command says no more than has come */
	bool datagrams;
	int fd[2];
	struct way way[2];
	uint32_t id;
	int64_t began_ms, heard_ms;
	char name[SB_HOST_NAME_SIZE]; /* that TLS may give; "": any */
	char tls[SB_HOST_NAME_SIZE];
};

struct pump {
	int channel, epoll;
	struct flow *flows;
	size_t count, datagrams;
	struct flow *queue, **queue_end;
	int pipes[SPARE_PIPES][2];
	size_t pipe_count;
	struct sb_outbox outbox;    /* ends, for the gate */
	bool writing;               /* epoll says when the channel takes more */
	uint8_t buffer[SB_SNI_MAX]; /* a datagram, or a ClientHello */
};

static bool lend_pipe(struct pump *pump, struct way *way)
{
	if (way->pipe[0] >= 0)
		return true;
	if (pump->pipe_count) {
		memcpy(way->pipe, pump->pipes[--pump->pipe_count], sizeof way->pipe);
		return true;
	}
	if (pipe2(way->pipe, O_NONBLOCK | O_CLOEXEC) != 0) {
		way->pipe[0] = way->pipe[1] = -1;
		return false;
	}
	fcntl(way->pipe[1], F_SETPIPE_SZ, PIPE_SIZE); /* else it has 16 pages, or two */
	return true;
}

static void take_pipe_back(struct pump *pump, struct way *way)
{
	if (way->pipe[0] < 0)
		return;
	if (!way->held && pump->pipe_count < SPARE_PIPES) {
		memcpy(pump->pipes[pump->pipe_count++], way->pipe, sizeof way->pipe);
	} else {
		close(way->pipe[0]);
		close(way->pipe[1]);
	}
	way->pipe[0] = way->pipe[1] = -1;
}

static void end(struct pump *pump, struct flow *flow, bool reset)
{
	const struct linger at_once = {1, 0};
	struct sb_gate_message message = {.kind = SB_GATE_ENDED,
					  .id = flow->id,
					  .sent = flow->way[INSIDE].total,
					  .received = flow->way[OUTSIDE].total,
					  .refused = flow->refused};

	if (flow->closed)
		return;
	flow->closed = true;
	message.milliseconds = (uint32_t)(sb_now_ms() - flow->began_ms);
	memcpy(message.tls, flow->tls, sizeof message.tls);
	for (int i = 0; i < 2; i++) {
		if (reset)
			setsockopt(flow->fd[i], SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
		/* whoever passed it to us may still have it open, and events would go on */
		epoll_ctl(pump->epoll, EPOLL_CTL_DEL, flow->fd[i], NULL);
		close(flow->fd[i]);
		take_pipe_back(pump, &flow->way[i]);
	}
	*(flow->previous ? &flow->previous->next : &pump->flows) = flow->next;
	if (flow->next)
		flow->next->previous = flow->previous;
	pump->count--;
	pump->datagrams -= flow->datagrams;
	sb_outbox_post(&pump->outbox, pump->channel, &message);
	if (!flow->queued)
		free(flow);
}

/* It has more to do, but others too. */
static void queue(struct pump *pump, struct flow *flow)
{
	if (flow->queued)
		return;
	flow->queued = true;
	flow->behind = NULL;
	*pump->queue_end = flow;
	pump->queue_end = &flow->behind;
}

static void look_at_hello(struct pump *pump, struct flow *flow, size_t length)
{
	size_t end;

	switch (sb_sni_read(pump->buffer, length, flow->tls, &end)) {
	case SB_SNI_MORE:
		return;
	case SB_SNI_NONE: /* no TLS, after it was some, is none that a server takes */
		flow->refused = !end && flow->look == LOOK_AGAIN;
		break;
	case SB_SNI_FOUND:
		flow->refused = strcmp(flow->tls, flow->name) != 0;
		break;
	case SB_SNI_BAD:
		flow->tls[0] = '\0'; /* an earlier hello's */
		flow->refused = true;
		break;
	}
	if (flow->refused)
		return;
	flow->seen = end;
	flow->look = end && flow->look == LOOK_HELLO ? LOOK_ANSWER : LOOK_DONE;
}

/* What is no whole hello waits for the rest.  If none will come it is dropped, and the other side hears the end. */
static size_t give_up_half(struct pump *pump, const struct flow *flow)
{
	if (!flow->half)
		return 0;
	while (recv(flow->fd[INSIDE], pump->buffer, SB_SNI_MAX, MSG_DONTWAIT) > 0)
		;
	return PIPE_SIZE;
}

/*
 * SECURITY: who said yes to a name said no to others that the same machine serves.
 *
 * Danger: behind one address of a network for content lie thousands of hosts, and TLS says which one is
 * meant.  So the first bytes are looked at, and go on only if they are no TLS, or a ClientHello that names this host
 * or none.  A server may want a second hello, of which the same holds: until its answer says that it does not, no other
 * handshake goes on.  Early data does, in whole records.
 * Price: one more copy of the ClientHello, and of the answer's beginning; the rest is never read.
 * Held by: tests/supervise/network_attacks.py, tests/unit/test_sni.c
 *
 * Returns how many bytes of the command's may be taken.
 */
static size_t may_take(struct pump *pump, struct flow *flow)
{
	ssize_t got;

	if (flow->look == LOOK_DONE)
		return PIPE_SIZE;
	if (flow->seen)
		return flow->seen;
	got = recv(flow->fd[INSIDE], pump->buffer, SB_SNI_MAX, MSG_PEEK | MSG_DONTWAIT);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (got <= 0) /* splice() will say the same */
		return PIPE_SIZE;
	if (flow->look != LOOK_HELLO) {
		if (got < SB_SNI_HEAD)
			return give_up_half(pump, flow);
		flow->seen = sb_sni_other_record(pump->buffer);
	}
	if (!flow->seen && flow->look != LOOK_ANSWER) {
		look_at_hello(pump, flow, (size_t)got);
		if (!flow->refused && !flow->seen && flow->look != LOOK_DONE)
			return give_up_half(pump, flow);
	}
	return flow->look == LOOK_DONE ? PIPE_SIZE : flow->seen;
}

/* The same of the server's. */
static size_t may_answer(struct pump *pump, struct flow *flow)
{
	enum sb_sni retry;
	ssize_t got;

	if (flow->look != LOOK_ANSWER)
		return PIPE_SIZE;
	got = recv(flow->fd[OUTSIDE], pump->buffer, SB_SNI_RETRY, MSG_PEEK | MSG_DONTWAIT);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	retry = got > 0 ? sb_sni_is_retry(pump->buffer, (size_t)got) : SB_SNI_NONE;
	if (retry == SB_SNI_MORE)
		return 0;
	flow->look = retry == SB_SNI_FOUND ? LOOK_AGAIN : LOOK_DONE;
	return PIPE_SIZE;
}

enum progress { IDLE, BUSY, BROKEN };

/* Bytes from one side to the other, as many as there are and fit. */
static enum progress carry(struct pump *pump, struct flow *flow, int from)
{
	struct way *way = &flow->way[from];
	int in = flow->fd[from], out = flow->fd[!from];

	for (int turn = 0; !way->done; turn++) {
		ssize_t moved;

		if (turn == TURNS)
			return BUSY;
		if (!way->held && !way->ended) {
			size_t most = from == INSIDE ? may_take(pump, flow)
						     : may_answer(pump, flow);

			if (!most)
				break;
			if (!lend_pipe(pump, way))
				return BROKEN;
			moved = splice(in, NULL, way->pipe[1], NULL, most,
				       SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
			if (moved < 0 && errno == EAGAIN)
				break;
			if (moved < 0)
				return BROKEN;
			way->held = (size_t)moved;
			way->ended = moved == 0;
			if (from == INSIDE && flow->look != LOOK_DONE)
				flow->seen -= (size_t)moved;
		}
		while (way->held) {
			moved = splice(way->pipe[0], NULL, out, NULL, way->held,
				       SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
			if (moved < 0 && errno == EAGAIN)
				return IDLE; /* until there is room: the pipe stays its */
			if (moved <= 0)
				return BROKEN;
			way->held -= (size_t)moved;
			way->total += (uint64_t)moved;
		}
		if (way->ended) {
			shutdown(out, SHUT_WR);
			way->done = true;
		}
	}
	take_pipe_back(pump, way);
	return IDLE;
}

/* One datagram each, whole: what does not fit is lost, as on any way. */
static enum progress carry_datagrams(struct pump *pump, struct flow *flow, int from)
{
	for (int turn = 0; turn < 4 * TURNS; turn++) {
		ssize_t got = recv(flow->fd[from], pump->buffer, sizeof pump->buffer, MSG_DONTWAIT);

		if (got < 0)
			return errno == EAGAIN || errno == EINTR ? IDLE : BROKEN;
		flow->heard_ms = sb_now_ms();
		flow->way[from].total += (uint64_t)got;
		/* nobody is there any more: whoever sends again is asked about again */
		if (send(flow->fd[!from], pump->buffer, (size_t)got, MSG_DONTWAIT | MSG_NOSIGNAL) <
			    0 &&
		    errno == ECONNREFUSED)
			return BROKEN;
	}
	return BUSY;
}

static void serve(struct pump *pump, struct flow *flow)
{
	enum progress progress[2] = {IDLE, IDLE};

	/* what the server answers says what may be said to it */
	for (int from = OUTSIDE; from >= INSIDE; from--)
		progress[from] = flow->datagrams ? carry_datagrams(pump, flow, from)
						 : carry(pump, flow, from);
	if (flow->refused || progress[0] == BROKEN || progress[1] == BROKEN)
		end(pump, flow, true);
	else if (flow->way[0].done && flow->way[1].done)
		end(pump, flow, false);
	else if (progress[0] == BUSY || progress[1] == BUSY)
		queue(pump, flow);
}

static void begin(struct pump *pump, const struct sb_gate_message *message, const int fds[2])
{
	struct flow *flow = pump->count < MAX_FLOWS ? calloc(1, sizeof *flow) : NULL;
	struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET};

	if (!flow || fds[0] < 0 || fds[1] < 0) {
		for (int i = 0; i < 2; i++)
			if (fds[i] >= 0)
				close(fds[i]);
		free(flow);
		return;
	}
	*flow = (struct flow){.fd = {fds[0], fds[1]},
			      .way = {{.pipe = {-1, -1}}, {.pipe = {-1, -1}}},
			      .id = message->id,
			      .datagrams = message->peer.protocol == SB_UDP,
			      .began_ms = sb_now_ms(),
			      .next = pump->flows};
	flow->heard_ms = flow->began_ms;
	memcpy(flow->name, message->peer.name, sizeof flow->name);
	flow->look = flow->datagrams || !flow->name[0] ? LOOK_DONE : LOOK_HELLO;
	if (flow->next)
		flow->next->previous = flow;
	pump->flows = flow;
	pump->count++;
	pump->datagrams += flow->datagrams;
	event.data.ptr = flow;
	for (int i = 0; i < 2;
	     i++, event.events &= ~(uint32_t)EPOLLRDHUP) /* of the inner one only */
		if (epoll_ctl(pump->epoll, EPOLL_CTL_ADD, fds[i], &event) != 0) {
			end(pump, flow, true);
			return;
		}
	serve(pump, flow);
}

static void serve_queue(struct pump *pump)
{
	struct flow *flow = pump->queue;

	pump->queue = NULL;
	pump->queue_end = &pump->queue;
	while (flow) {
		struct flow *behind = flow->behind;

		flow->queued = false;
		if (flow->closed)
			free(flow);
		else
			serve(pump, flow);
		flow = behind;
	}
}

static void end_silent(struct pump *pump)
{
	int64_t now = sb_now_ms();

	for (struct flow *flow = pump->flows, *next; flow; flow = next) {
		next = flow->next;
		if (flow->datagrams && now - flow->heard_ms > DATAGRAM_MS)
			end(pump, flow, false);
	}
}

/* What the gate has not heard yet. */
static void tell(struct pump *pump)
{
	bool left = !sb_outbox_flush(&pump->outbox, pump->channel);
	struct epoll_event event = {.events = EPOLLIN | (left ? EPOLLOUT : 0)};

	if (left != pump->writing)
		epoll_ctl(pump->epoll, EPOLL_CTL_MOD, pump->channel, &event);
	pump->writing = left;
}

/* The run is over: what was carried is told. */
static int end_all(struct pump *pump)
{
	fcntl(pump->channel, F_SETFL, 0); /* now there is time */
	while (pump->flows)
		end(pump, pump->flows, true);
	sb_outbox_flush(&pump->outbox, pump->channel);
	return 0;
}

static const int calls[] = {
	SYS_read,        SYS_write,   SYS_splice,     SYS_shutdown,  SYS_close,
	SYS_epoll_pwait, SYS_recvmsg, SYS_sendmsg,    SYS_recvfrom,  SYS_sendto,
	SYS_pipe2,       SYS_fcntl,   SYS_setsockopt, SYS_epoll_ctl,
#ifdef SYS_epoll_wait
	SYS_epoll_wait,
#endif
};

int sb_pump_main(int channel)
{
	static struct pump pump;
	struct epoll_event event = {.events = EPOLLIN};
	struct sb_error err;

	signal(SIGPIPE, SIG_IGN); /* splice() raises it, whatever flags say */
	pump.channel = channel;
	pump.queue_end = &pump.queue;
	pump.epoll = epoll_create1(EPOLL_CLOEXEC);
	if (pump.epoll < 0 || epoll_ctl(pump.epoll, EPOLL_CTL_ADD, channel, &event) != 0 ||
	    sb_jail_enter(&(struct sb_jail){calls, sizeof calls / sizeof calls[0], false, 0},
			  &err) != SB_OK)
		return 1;
	for (;;) {
		/* one at a time: an earlier event may end what a later one is about */
		int ready = epoll_wait(pump.epoll, &event, 1,
				       pump.queue       ? 0
				       : pump.datagrams ? LOOK_MS
							: -1);

		if (ready > 0 && event.data.ptr) {
			((struct flow *)event.data.ptr)->half |= (event.events & EPOLLRDHUP) != 0;
			serve(&pump, event.data.ptr);
		} else if (ready > 0) {
			struct sb_gate_message message;
			int fds[2], status = sb_gate_receive(channel, &message, fds);

			if (status == 0)
				begin(&pump, &message, fds);
			else if (status != -EAGAIN && status != -EBADMSG)
				return end_all(&pump);
		} else if (ready < 0 && errno != EINTR) {
			return 1;
		} else if (!pump.queue && pump.datagrams) {
			end_silent(&pump);
		}
		if (pump.queue)
			serve_queue(&pump);
		tell(&pump);
	}
}
