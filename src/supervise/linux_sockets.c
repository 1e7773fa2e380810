/*
 * linux_sockets.c - connect and bind of the command.
 *
 * Neither Landlock nor a read-only mount rules where a unix socket leads, so a path decides,
 * as for files.  Which family a socket is of the kernel says, not the address: the address
 * lies in memory that another thread may change, and the number may mean another socket by
 * the time the kernel looks.  So every connect() and bind() is made here, on a copy of the socket.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "network/network.h"
#include "supervise/abstract.h"
#include "supervise/case.h"
#include "supervise/connecting.h"
#include "supervise/domains.h"
#include "supervise/meaning.h"
#include "supervise/owed.h"
#include "supervise/perform.h"
#include "supervise/performer.h"
#include "supervise/thread.h"
#include "sys/notify.h"
#include "sys/process.h"

#define PATH_AT offsetof(struct sockaddr_un, sun_path)

/* A connect() that is under way, or to be tried again when a queue is full. */
struct pending {
	struct sb_connecting wait; /* first: what it waits for */
	struct sb_broker *broker;
	struct sb_call call;
	int socket;
	int object; /* what address leads to: a file, by its number ("self/fd/N"), or a socket that
		     * has an abstract name; -1: something else */
	bool retry;
	int64_t until_ms; /* SO_SNDTIMEO; 0: for ever */
	int late;         /* what it is answered then */
	struct sockaddr_storage address;
	socklen_t length;
	struct sockaddr_storage own; /* the socket's, where a gate may know why it failed */
};

static void answer(const struct sb_broker *broker, const struct sb_call *call, int socket,
		   int error)
{
	if (error)
		sb_broker_fail(broker, call, error);
	else
		sb_owed_return_socket(broker->performer->listener, call, socket);
}

/*
 * It is connected, or has an address: a copy would be noticed.  But of one without a connection
 * (UDP) it may be changed where it leads, again and again.
 */
static void let_go(struct sb_broker *broker, int socket)
{
	int type;

	if (!broker->performer->layers->no_copies)
		return;
	type = sb_sys_socket_option(socket, SO_TYPE);
	if (type != SOCK_DGRAM && type != SOCK_RAW)
		sb_kept_drop(&broker->kept, socket);
}

/* connect() without waiting; *flags are put back at once, since the command shares them. */
static int try_connect(int socket, const void *address, socklen_t length, int flags)
{
	int error = 0;

	if (!(flags & O_NONBLOCK))
		fcntl(socket, F_SETFL, flags | O_NONBLOCK);
	if (connect(socket, address, length) != 0)
		error = errno;
	if (!(flags & O_NONBLOCK))
		fcntl(socket, F_SETFL, flags);
	return error;
}

static void pending_free(struct pending *pending)
{
	if (!pending)
		return;
	sb_auto_close(&pending->socket);
	sb_auto_close(&pending->object);
	free(pending);
}

/* The address of a socket file that we hold open. */
static struct sockaddr_un address_of(int object)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	snprintf(address.sun_path, sizeof address.sun_path, "self/fd/%d", object);
	return address;
}

static bool is_abstract(const struct sb_call *call)
{
	return call->address_length > PATH_AT &&
	       ((const struct sockaddr_un *)&call->address)->sun_path[0] == '\0';
}

/* Does the address lead to a file? */
static bool is_file(const struct sb_call *call, int object)
{
	return object >= 0 && !is_abstract(call);
}

/* With descriptors of its own: those of the call are closed, and given anew, before it ends. */
static struct pending *pending_new(struct sb_broker *broker, const struct sb_call *call, int socket,
				   int object, const void *address, socklen_t length)
{
	struct pending *pending = malloc(sizeof *pending);

	if (!pending)
		return NULL;
	*pending = (struct pending){.broker = broker,
				    .socket = fcntl(socket, F_DUPFD_CLOEXEC, 3),
				    .object = -1,
				    .length = length};
	pending->call.id = call->id;
	pending->call.thread = call->thread;
	pending->call.act = call->act;
	pending->call.address = call->address;
	pending->call.address_length = call->address_length;
	memcpy(&pending->address, address, length);
	if (object >= 0)
		pending->object = fcntl(object, F_DUPFD_CLOEXEC, 3);
	if (is_file(call, object)) {
		struct sockaddr_un own;

		own = address_of(pending->object);
		memcpy(&pending->address, &own, sizeof own);
	}
	if (pending->socket < 0 || (object >= 0 && pending->object < 0)) {
		pending_free(pending);
		return NULL;
	}
	return pending;
}

/* connect(2) of the kernel's then says that it is under way. */
static int64_t end_of_wait(int socket)
{
	struct timeval limit;
	socklen_t length = sizeof limit;

	if (getsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, &length) != 0 ||
	    (!limit.tv_sec && !limit.tv_usec))
		return 0;
	return sb_now_ms() + limit.tv_sec * 1000 + limit.tv_usec / 1000;
}

/* What a caller who waited hears: a gate that refused has no packet that says why. */
static int explain(const struct pending *pending, int error)
{
	struct sb_gate *gate = pending->broker->performer->gate;

	return gate && error ? sb_gate_why(gate, &pending->own, &pending->address, error) : error;
}

/* True: it has its answer, or nobody waits for one any more. */
static bool look_at(struct pending *pending, bool ready)
{
	struct sb_broker *broker = pending->broker;
	int error;

	if (!sb_sys_notify_alive(broker->performer->listener, pending->call.id) ||
	    /* one with a limit of its own is not begun again, however the handler was set: socket(7) */
	    (!ready &&
	     sb_broker_interrupted(broker, &pending->call, pending->until_ms ? EINTR : SB_RESTART)))
		return true;
	if (!ready && pending->until_ms && sb_now_ms() >= pending->until_ms) {
		answer(broker, &pending->call, pending->socket, pending->late);
		return true;
	}
	if (!ready && !pending->retry)
		return false;
	/* not SO_ERROR: a socket that is told so cannot be connected once more */
	error = try_connect(pending->socket, &pending->address, pending->length,
			    fcntl(pending->socket, F_GETFL));
	if (error == EAGAIN || error == EALREADY || error == EINPROGRESS)
		return false;
	if (error == EISCONN)
		error = 0;
	if (!error)
		let_go(broker, pending->socket);
	if (!error && is_file(&pending->call, pending->object))
		sb_broker_done(broker, SB_MODIFY);
	answer(broker, &pending->call, pending->socket, explain(pending, error));
	return true;
}

static bool look_at_connection(struct sb_connecting *wait, bool ready)
{
	return look_at((struct pending *)wait, ready);
}

static void end_connection(struct sb_connecting *wait)
{
	pending_free((struct pending *)wait);
}

/* The kernel tells nobody when the queue of a unix socket has room again. */
static void *wait_for_room(void *argument)
{
	struct pending *pending = argument;

	while (!look_at(pending, false))
		poll(NULL, 0, 5);
	pending_free(pending);
	return NULL;
}

struct place {
	const void *address;
	socklen_t length;
};

/*
 * The caller hears what connect() has said; when it has to wait, it waits with us.  object is what the
 * address leads to, as in struct pending.
 */
static void conclude(struct sb_broker *broker, const struct sb_call *call, int socket, int object,
		     const struct place *place, int error)
{
	int flags = fcntl(socket, F_GETFL), late = error;
	struct pending *pending;

	/* begun before a signal came: the caller goes on waiting for it, as connect(2) does */
	if (error == EALREADY && !(flags & O_NONBLOCK))
		error = EINPROGRESS;
	if (!error || (error == EINPROGRESS && (flags & O_NONBLOCK)))
		let_go(broker, socket);
	if ((error != EINPROGRESS && error != EAGAIN) || (flags & O_NONBLOCK)) {
		if (!error && is_file(call, object))
			sb_broker_done(broker, SB_MODIFY);
		answer(broker, call, socket, error);
		return;
	}
	pending = pending_new(broker, call, socket, object, place->address, place->length);
	if (pending) {
		socklen_t size = sizeof pending->own;

		pending->retry = error == EAGAIN;
		pending->until_ms = end_of_wait(socket);
		pending->late = late;
		getsockname(socket, (void *)&pending->own, &size);
		pending->wait = (struct sb_connecting){.socket = pending->socket,
						       .look = look_at_connection,
						       .finish = end_connection};
		if (pending->retry ? sb_broker_wait(broker, wait_for_room, pending)
				   : sb_connecting_add(broker, &pending->wait))
			return;
		pending_free(pending);
	}
	sb_broker_fail(broker, call, ENOMEM);
}

static void connect_for(struct sb_broker *broker, const struct sb_call *call, int socket,
			int object, const void *address, socklen_t length)
{
	int flags = fcntl(socket, F_GETFL);

	if (sb_sys_notify_alive(broker->performer->listener, call->id))
		conclude(broker, call, socket, object, &(struct place){address, length},
			 try_connect(socket, address, length, flags));
}

/* connect() as the command gave it. */
static void connect_as_given(struct sb_broker *broker, const struct sb_call *call, int socket)
{
	connect_for(broker, call, socket, -1, &call->address, call->address_length);
}

/* What a run inside does not allow is in the record, as what we do not. */
static bool allowed_inside(const struct sb_broker *broker, const struct sb_call *call,
			   const struct sockaddr_storage *address)
{
	const struct sb_performer *performer = broker->performer;
	struct sb_wire_message message = {.kind = SB_WIRE_HOST};
	char peer[SB_PEER_TEXT_SIZE], program[PATH_MAX] = "", text[sizeof peer + NAME_MAX + 1];
	struct sb_peer refused;
	long process;

	if (sb_inner_hosts_allow(performer->gate, performer->grounds->policy, call->thread, address,
				 call->address_length, &refused))
		return true;
	if (refused.port) {
		process = sb_thread_process(performer->proc, call->thread);
		if (process > 0) { /* now: it may have ended when the asker hears of it */
			message.init = (pid_t)process;
			sb_process_program(performer->proc, message.init, program, sizeof program);
		}
		sb_peer_print(&refused, peer);
		snprintf(text, sizeof text, "%s %s", peer,
			 strrchr(program, '/') ? strrchr(program, '/') + 1 : "");
		sb_wire_send_text(performer->channel, &message, text);
	}
	return false;
}

/*
 * To a host, where hosts are told apart.  The gate stands there before the first packet; it is asked
 * about what that packet says.  A socket that has begun already is the kernel's to answer.
 */
static void connect_at_gate(struct sb_broker *broker, const struct sb_call *call, int socket,
			    int type)
{
	struct sockaddr_storage address = call->address;
	struct tcp_info info;
	socklen_t length = sizeof info;
	bool begun = type == SOCK_STREAM &&
		     getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 &&
		     info.tcpi_state != TCP_CLOSE;
	int error = begun ? 0
		    : type == SOCK_STREAM && !allowed_inside(broker, call, &address)
			    ? EACCES
			    : sb_gate_prepare(broker->performer->gate, type, &address,
					      call->address_length, call->thread);

	if (error) {
		sb_broker_fail(broker, call, error);
		return;
	}
	if (!sb_sys_notify_alive(broker->performer->listener, call->id)) {
		if (!begun)
			sb_gate_begun(broker->performer->gate, -1, &address, call->thread);
		return;
	}
	error = try_connect(socket, &address, call->address_length, fcntl(socket, F_GETFL));
	if (!begun)
		sb_gate_begun(broker->performer->gate, socket, &address, call->thread);
	conclude(broker, call, socket, -1, &(struct place){&address, call->address_length}, error);
}

/* The path in an address of length bytes: it may lack its NUL. */
static void address_path(const struct sb_call *call, char *out, size_t size)
{
	const struct sockaddr_un *address = (const void *)&call->address;
	size_t length = call->address_length - PATH_AT;

	if (length > size - 1)
		length = size - 1;
	memcpy(out, address->sun_path, length);
	out[length] = '\0';
}

/*
 * Abstract names have no path to decide about; the kernel must keep them apart.  Those of a nested run it keeps from
 * the run's own for their processes, and not for us, who connect for them.
 */
static bool abstract_is_held(const struct sb_layers *layers, const struct sb_call *call)
{
	const struct sb_domain *domain;

	return (layers->landlock_abi >= 6 || layers->net_namespace) &&
	       sb_domain_of(call->thread, &domain) && !domain;
}

/* To the asker, which answers with a copy of its own. */
static void forward(struct sb_broker *broker, const struct sb_call *call, struct sb_spot *file,
		    int socket)
{
	let_go(broker, socket);
	sb_broker_forward(broker, call, file, NULL, socket);
}

/*
 * A service that this run does not show (the session's runtime directory, the real /tmp): if
 * there is one, a person can be asked.  The asker looks whether there is; else it answers
 * with error.
 */
static void forward_hidden(struct sb_broker *broker, struct sb_call *call, struct sb_spot *file,
			   int socket, int error)
{
	struct sb_spot nowhere = SB_SPOT_EMPTY;

	call->target_error = error;
	if ((error != ENOENT && error != EACCES) || !file->path[0] ||
	    sb_inner_verdict(call, file, NULL) != SB_ALLOW) {
		sb_broker_fail(broker, call, error);
		return;
	}
	memcpy(nowhere.path, file->path, sizeof nowhere.path);
	forward(broker, call, &nowhere, socket);
}

/* By an abstract name that the run itself has bound.  All others are as if nobody had them. */
static void connect_own(struct sb_broker *broker, const struct sb_call *call, int socket)
{
	SB_AUTO_FD int pinned = sb_abstract_pin(broker->performer->proc, call);

	if (pinned < 0)
		sb_broker_fail(broker, call, -pinned);
	else
		connect_for(broker, call, socket, pinned, &call->address, call->address_length);
}

static void connect_unix(struct sb_broker *broker, struct sb_call *call, int socket)
{
	const struct sb_performer *performer = broker->performer;
	const struct sb_caller caller = {call->thread, performer->proc, NULL};
	struct sockaddr_un address;
	struct sb_judgement judgement;
	struct sb_spot file;
	bool allowed;
	int status;

	if (is_abstract(call)) {
		if (abstract_is_held(performer->layers, call))
			connect_as_given(broker, call, socket);
		else
			connect_own(broker, call, socket);
		return;
	}
	address_path(call, call->file.path, sizeof address.sun_path + 1);
	status = sb_resolve(&caller, AT_FDCWD, call->file.path, SB_LOOKUP_SOCKET, &file);
	if (status == 0 && !S_ISSOCK(file.info.st_mode) &&
	    sb_judge_read(performer->grounds, file.path) == SB_DENY) {
		sb_spot_done(&file); /* what hides it */
		status = -EACCES;
	}
	if (status < 0) {
		forward_hidden(broker, call, &file, socket, -status);
		return;
	}
	sb_judge_call(performer->grounds, call, &file, NULL, &judgement);
	allowed = judgement.strictest->decision.verdict == SB_ALLOW;
	sb_broker_seen(broker, SB_MODIFY);
	if (sb_inner_verdict(call, &file, NULL) != SB_ALLOW) {
		sb_broker_fail(broker, call, EACCES);
	} else if (!allowed && S_ISSOCK(file.info.st_mode)) {
		forward(broker, call, &file, socket);
	} else {
		address = address_of(file.object);
		connect_for(broker, call, socket, file.object, &address, sizeof address);
	}
	sb_spot_done(&file);
}

static void bind_unix(struct sb_broker *broker, struct sb_call *call, int socket)
{
	const struct sb_performer *performer = broker->performer;
	const struct sb_caller caller = {call->thread, performer->proc, NULL};
	const struct sb_acting acting = {performer->grounds, performer->proc};
	struct sb_judgement judgement;
	struct sb_outcome outcome = {.fd = -1};
	struct sb_spot file;
	int status;

	address_path(call, call->file.path, sizeof((struct sockaddr_un *)0)->sun_path + 1);
	status = sb_resolve(&caller, AT_FDCWD, call->file.path, SB_LOOKUP_NAME, &file);
	if (status < 0) {
		sb_broker_fail(broker, call, -status);
		return;
	}
	sb_judge_call(performer->grounds, call, &file, NULL, &judgement);
	if (sb_inner_verdict(call, &file, NULL) != SB_ALLOW) {
		sb_broker_fail(broker, call, EACCES);
	} else if (judgement.strictest->decision.verdict != SB_ALLOW) {
		int error = sb_owed_by_asker(call, NULL, NULL)
				    ? 0
				    : sb_perform_precheck(call, &file, NULL);

		if (!error && file.in_proc)
			error = ENOENT;

		sb_broker_seen(broker, SB_CREATE);
		if (error)
			sb_broker_fail(broker, call, error);
		else
			forward(broker, call, &file, socket);
	} else {
		sb_broker_seen(broker, SB_CREATE);
		sb_broker_set_umask(broker, call->thread);
		if (sb_sys_notify_alive(performer->listener, call->id)) {
			outcome.error = sb_bind_at(call, &file, socket);
			if (!outcome.error)
				sb_perform_made(file.directory, file.name);
			if (!outcome.error &&
			    !sb_act_stands(&acting, call, &file, NULL, &judgement)) {
				sb_act_take_back(call, &file, NULL, &outcome);
				outcome.error = EACCES;
			}
			if (!outcome.error) {
				sb_broker_done(broker, SB_CREATE);
				let_go(broker, socket);
			}
			if (sb_broker_is_out_of_reach(performer, call, &judgement, outcome.error))
				forward(broker, call, &file, socket);
			else
				answer(broker, call, socket, outcome.error);
		}
	}
	sb_spot_done(&file);
}

/* socket(family, type, protocol), held where descriptors cannot be copied: kept.h. */
void sb_broker_make_socket(struct sb_broker *broker, const struct seccomp_notif *notification)
{
	const __u64 *args = notification->data.args;
	int listener = broker->performer->listener, type = (int)args[1];
	SB_AUTO_FD int made = socket((int)args[0], type | SOCK_CLOEXEC, (int)args[2]);
	int status = made < 0 ? -errno : 0;

	if (status == 0) {
		/* before it is given: the next call may be about it */
		sb_kept_add(&broker->kept, made);
		status = sb_sys_notify_give(listener, notification->id, made, type & SOCK_CLOEXEC);
		if (status < 0)
			sb_kept_drop(&broker->kept, made);
	}
	if (status < 0)
		sb_sys_notify_fail(listener, notification->id, -status);
}

static int take_socket(struct sb_broker *broker, const struct sb_call *call)
{
	const struct sb_performer *performer = broker->performer;

	return performer->layers->no_copies
		       ? sb_kept_take(&broker->kept, performer->proc, call->thread, call->socket)
		       : sb_thread_take_descriptor(performer->proc, call->thread, call->socket);
}

static int bind_as_given(struct sb_broker *broker, const struct sb_call *call, int socket)
{
	const void *address = &call->address;
	struct sb_gate *gate = broker->performer->gate;
	int error;

	if (gate)
		sb_gate_give_way(gate, sb_sys_socket_option(socket, SO_TYPE), &call->address,
				 call->address_length);
	error = bind(socket, address, call->address_length) != 0 ? errno : 0;

	if (error == EADDRINUSE && broker->performer->layers->no_copies) { /* by a copy? */
		sb_kept_sweep(&broker->kept, broker->performer->proc);
		error = bind(socket, address, call->address_length) != 0 ? errno : 0;
	}
	if (!error && !abstract_is_held(broker->performer->layers, call))
		sb_abstract_bound(call, socket);
	if (!error)
		let_go(broker, socket);
	return error;
}

/*
 * SECURITY: a run has no abstract name that programs outside look for.
 *
 * Danger: without a network namespace names are everybody's.  X clients try "@/tmp/.X11-unix/X0" before the file,
 * and hand their cookie and their keyboard to whoever has it; old clients of ICE and the buses do alike.  Such names
 * are those of files.
 * Price: servers that have both go on with the file, in the run's own /tmp.
 * Held by: tests/supervise/abstract.py
 */
static bool is_looked_for(const struct sb_layers *layers, const struct sb_call *call)
{
	const struct sockaddr_un *address = (const void *)&call->address;

	return is_abstract(call) && call->address_length > PATH_AT + 1 &&
	       address->sun_path[1] == '/' && !layers->net_namespace;
}

void sb_broker_socket(struct sb_broker *broker, struct sb_call *call)
{
	SB_AUTO_FD int socket = -1;
	const struct sockaddr_un *address = (const void *)&call->address;
	bool named = call->address_length > PATH_AT && address->sun_family == AF_UNIX;
	int family, type;

	if (sb_owed_pays_socket(broker->performer->listener, call))
		return;
	socket = take_socket(broker, call);
	if (socket < 0) {
		sb_broker_fail(broker, call, -socket);
		return;
	}
	family = sb_sys_socket_option(socket, SO_DOMAIN);
	if (family < 0) {
		sb_broker_fail(broker, call, ENOTSOCK);
		return;
	}
	type = sb_sys_socket_option(socket, SO_TYPE);
	named = named && family == AF_UNIX;
	if (family == AF_UNIX && type != SOCK_STREAM && type != SOCK_SEQPACKET)
		sb_broker_fail(broker, call, EACCES);
	else if (call->act == SB_ACT_BIND && named &&
		 is_looked_for(broker->performer->layers, call))
		sb_broker_fail(broker, call, EACCES);
	else if (call->act == SB_ACT_CONNECT && named)
		connect_unix(broker, call, socket);
	else if (call->act == SB_ACT_BIND && named && !is_abstract(call))
		bind_unix(broker, call, socket);
	else if (call->act == SB_ACT_CONNECT && broker->performer->gate && family != AF_UNIX)
		connect_at_gate(broker, call, socket, type);
	else if (call->act == SB_ACT_CONNECT) /* the network; or dissolving a connection */
		connect_as_given(broker, call, socket);
	else if (sb_sys_notify_alive(broker->performer->listener, call->id))
		answer(broker, call, socket, bind_as_given(broker, call, socket));
}
