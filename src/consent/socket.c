#include "consent/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/escape.h"
#include "consent/attach_wire.h"
#include "consent/peer.h"
#include "consent/queue.h"
#include "consent/running.h"

#define WITHDRAWN 256 /* that a client has not been told of; more than it can hold */
#define ACCEPTS 4     /* at one time: whoever connects over and over is not all we do */

struct gone {
	enum sb_attach_kind kind; /* WITHDRAWN, FALLS */
	unsigned long id;
	const char *why; /* static text */
};

struct standing {
	struct standing *next;
	unsigned long number;
	enum sb_answer answer;
	bool kept; /* it was named since sb_socket_standing_begin() */
	char text[];
};

struct client {
	int fd; /* -1: free */
	struct sb_pinned peer;
	bool given;   /* the run was started with it */
	bool greeted; /* it said HELLO */
	enum sb_attach_role role;
	unsigned long last_told; /* answers that hold, up to this one it has */
	unsigned long last_sent; /* questions up to this one it has; ids only grow */
	struct gone gone[WITHDRAWN];
	size_t gone_count;
	bool full; /* it takes nothing at present */
};

struct sb_socket {
	int listener, file;
	char *state_dir;
	struct sb_running running;
	struct sb_confinement own;
	bool asks;
	struct sb_queue queue;     /* open questions, oldest first */
	struct standing *standing; /* answers that hold, oldest first */
	struct client clients[SB_SOCKET_CLIENTS];
	void (*answered)(void *context, unsigned long id, enum sb_answer answer);
	void (*take_back)(void *context, unsigned long number);
	void (*add)(void *context, const char *rule);
	void *context;
};

/* --- to a client ------------------------------------------------------------------------- */

static void drop(struct client *client)
{
	if (client->fd < 0)
		return;
	close(client->fd);
	sb_peer_done(&client->peer);
	client->fd = -1;
	client->given = client->greeted = client->full = false;
	client->gone_count = 0;
}

/* 0, -EAGAIN: not now; another negative errno: never. */
static int put(int fd, const struct sb_attach_message *message)
{
	SB_AUTO_BUF struct sb_buf bytes = SB_BUF(SB_ATTACH_BYTES);

	if (!sb_attach_encode(message, &bytes))
		return -EMSGSIZE;
	if (send(fd, bytes.data, bytes.length, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	return 0;
}

/* True: it is sent.  A client that can be told nothing more is dropped. */
static bool tell(struct client *client, const struct sb_attach_message *message)
{
	int status = put(client->fd, message);

	client->full = status == -EAGAIN;
	if (status < 0 && status != -EAGAIN)
		drop(client);
	return status == 0;
}

/* Is there somebody, a server, who asks in our place whoever watches? */
static bool is_served(const struct sb_socket *s)
{
	for (size_t i = 0; i < SB_SOCKET_CLIENTS; i++)
		if (s->clients[i].fd >= 0 && s->clients[i].given)
			return true;
	return false;
}

/* Does it hear our questions? */
static bool hears(const struct sb_socket *s, const struct client *client)
{
	return client->role == SB_ATTACH_ASKED || !is_served(s);
}

static void tell_questions(const struct sb_socket *s, struct client *client)
{
	for (const struct sb_waiting *at = s->queue.first; at; at = at->next) {
		struct sb_attach_message message = {.kind = SB_ATTACH_QUESTION,
						    .question = at->question};

		if (at->question.id <= client->last_sent)
			continue;
		if (!tell(client, &message))
			return;
		client->last_sent = at->question.id;
	}
}

static void tell_standing(const struct sb_socket *s, struct client *client)
{
	for (const struct standing *at = s->standing; at; at = at->next) {
		if (at->number <= client->last_told)
			continue;
		if (!tell(client, &(struct sb_attach_message){.kind = SB_ATTACH_STANDS,
							      .id = at->number,
							      .number = (int)at->answer,
							      .text = at->text}))
			return;
		client->last_told = at->number;
	}
}

/* Send what this client does not have yet, as far as it takes it. */
static void pump(const struct sb_socket *s, struct client *client)
{
	size_t told = 0;

	while (told < client->gone_count &&
	       tell(client, &(struct sb_attach_message){.kind = client->gone[told].kind,
							.id = client->gone[told].id,
							.text = client->gone[told].why}))
		told++;
	if (client->fd < 0)
		return;
	client->gone_count -= told;
	memmove(client->gone, client->gone + told, client->gone_count * sizeof client->gone[0]);
	if (client->gone_count)
		return;
	if (hears(s, client))
		tell_questions(s, client);
	if (client->fd >= 0 && !client->full && client->role != SB_ATTACH_ASKED)
		tell_standing(s, client);
}

static void pump_all(struct sb_socket *s)
{
	for (size_t i = 0; i < SB_SOCKET_CLIENTS; i++)
		if (s->clients[i].fd >= 0 && s->clients[i].greeted && !s->clients[i].full)
			pump(s, &s->clients[i]);
}

/* --- questions ------------------------------------------------------------------------------ */

unsigned long sb_socket_first(const struct sb_socket *s)
{
	return s->queue.first ? s->queue.first->question.id : 0;
}

int sb_socket_ask(struct sb_socket *s, const struct sb_question *question, struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf bytes = SB_BUF(SB_ATTACH_BYTES);
	struct sb_attach_message message = {.kind = SB_ATTACH_QUESTION, .question = *question};
	int status;

	/* what cannot be sent in full is not asked: nobody could judge it */
	if (!sb_attach_encode(&message, &bytes))
		return sb_fail(err, SB_E_INVALID, 0, "the question is too long");
	status = sb_queue_add(&s->queue, question, err);
	if (status == SB_OK)
		pump_all(s);
	return status;
}

static void note_gone(struct client *client, const struct gone *gone)
{
	if (client->gone_count == WITHDRAWN)
		drop(client); /* it has not read for hundreds of questions */
	else
		client->gone[client->gone_count++] = *gone;
}

/* Everybody hears of it but except, who may be NULL. */
static void withdraw(struct sb_socket *s, unsigned long id, const char *why,
		     const struct client *except)
{
	if (!sb_queue_find(&s->queue, id))
		return;
	sb_queue_remove(&s->queue, id);
	for (size_t i = 0; i < SB_SOCKET_CLIENTS; i++) {
		struct client *client = &s->clients[i];

		if (client->fd >= 0 && client->last_sent >= id && client != except)
			note_gone(client, &(struct gone){SB_ATTACH_WITHDRAWN, id, why});
	}
	pump_all(s);
}

void sb_socket_withdraw(struct sb_socket *s, unsigned long id, const char *why)
{
	withdraw(s, id, why, NULL);
}

void sb_socket_notice(struct sb_socket *s, const char *text)
{
	struct sb_attach_message message = {.kind = SB_ATTACH_NOTICE, .text = text};

	/* to those who listen now: a line is no question, and may be lost */
	for (size_t i = 0; i < SB_SOCKET_CLIENTS; i++)
		if (s->clients[i].fd >= 0 && s->clients[i].greeted && !s->clients[i].full)
			tell(&s->clients[i], &message);
}

/* --- answers that hold ------------------------------------------------------------------------ */

void sb_socket_standing_begin(struct sb_socket *s)
{
	for (struct standing *at = s->standing; at; at = at->next)
		at->kept = false;
}

void sb_socket_stands(struct sb_socket *s, unsigned long number, enum sb_answer answer,
		      const char *text)
{
	size_t length = strnlen(text, SB_ATTACH_TEXT - 1); /* a path fits: only words are cut */
	struct standing **at = &s->standing, *added;

	while (*at && (*at)->number < number)
		at = &(*at)->next;
	if (*at && (*at)->number == number) {
		(*at)->kept = true;
		return;
	}
	added = malloc(sizeof *added + length + 1);
	if (!added)
		return; /* it is not shown, and holds */
	*added = (struct standing){.next = *at, .number = number, .answer = answer, .kept = true};
	memcpy(added->text, text, length);
	added->text[length] = '\0';
	*at = added;
}

static void falls(struct sb_socket *s, unsigned long number)
{
	for (size_t i = 0; i < SB_SOCKET_CLIENTS; i++)
		if (s->clients[i].fd >= 0 && s->clients[i].last_told >= number)
			note_gone(&s->clients[i], &(struct gone){SB_ATTACH_FALLS, number, NULL});
}

void sb_socket_standing_end(struct sb_socket *s)
{
	struct standing **at = &s->standing;

	while (*at) {
		struct standing *one = *at;

		if (one->kept) {
			at = &one->next;
			continue;
		}
		falls(s, one->number);
		*at = one->next;
		free(one);
	}
	pump_all(s);
}

/* --- from a client --------------------------------------------------------------------------- */

static void greet(struct sb_socket *s, struct client *client, int role)
{
	struct sb_attach_message welcome = {
		.kind = SB_ATTACH_WELCOME, .number = s->asks, .text = s->running.session};

	if (role < 0 || role >= SB_ATTACH_ROLES) {
		drop(client);
		return;
	}
	client->role = (enum sb_attach_role)role;
	client->greeted = tell(client, &welcome);
	if (client->greeted)
		pump(s, client);
}

static bool is_offered(const struct sb_question *question, int answer)
{
	switch (answer) {
	case SB_ANSWER_ONCE:
	case SB_ANSWER_DENY:
	case SB_ANSWER_NONE:
		return true;
	case SB_ANSWER_DIRECTORY:
		return question->directory;
	case SB_ANSWER_ALWAYS:
		return sb_question_offers_always(question);
	default:
		return false;
	}
}

static void take_answer(struct sb_socket *s, struct client *client,
			const struct sb_attach_message *message)
{
	const struct sb_question *asked = sb_queue_find(&s->queue, message->id);

	/* answered already, by somebody else: it will hear of it */
	if (!asked && message->id && message->id <= client->last_sent)
		return;
	if (!asked || message->id > client->last_sent || client->role == SB_ATTACH_LOOKS ||
	    !is_offered(asked, message->number)) {
		drop(client); /* not a client of ours */
		return;
	}
	if (message->number == SB_ANSWER_NONE && sb_socket_clients(s) > 1)
		return; /* others may have somebody */
	withdraw(s, message->id, "answered on another terminal", client);
	/* Last: it may ask again. */
	s->answered(s->context, message->id, (enum sb_answer)message->number);
}

/*
 * SECURITY: a message counts only from the process that was looked at when it connected.
 *
 * Danger: a connection can be handed on, by SCM_RIGHTS or fork, to a process inside.  The
 * kernel stamps every message with its sender (SO_PASSCRED), which needs CAP_SYS_ADMIN to be
 * forged; and while the pidfd says that the process lives, nobody else has its number.
 * Held by: tests/unit/test_socket.c
 */
static bool is_from(const struct client *client, struct msghdr *message)
{
	const struct cmsghdr *control = CMSG_FIRSTHDR(message);
	struct ucred who;

	if (!control || control->cmsg_level != SOL_SOCKET ||
	    control->cmsg_type != SCM_CREDENTIALS || control->cmsg_len != CMSG_LEN(sizeof who))
		return false;
	memcpy(&who, CMSG_DATA(control), sizeof who);
	return who.pid == client->peer.process && sb_peer_alive(&client->peer);
}

/* Anything but HELLO, from a client that has said that. */
static void take_message(struct sb_socket *s, struct client *client,
			 const struct sb_attach_message *message)
{
	bool may_change = client->role != SB_ATTACH_LOOKS;

	if (message->kind == SB_ATTACH_ANSWER)
		take_answer(s, client, message);
	else if (message->kind == SB_ATTACH_TAKE_BACK && s->take_back && may_change)
		s->take_back(s->context, message->id);
	else if (message->kind == SB_ATTACH_ADD && s->add && message->text && may_change)
		s->add(s->context, message->text);
	else
		drop(client);
}

/* The next message; false: nothing more, or the client is gone. */
static bool hear(struct sb_socket *s, struct client *client)
{
	char bytes[SB_ATTACH_TEXT + 512]; /* a client has no longer ones: a rule, and the head */
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(struct ucred))];
	} control;
	struct iovec part = {bytes, sizeof bytes};
	struct msghdr header = {.msg_iov = &part,
				.msg_iovlen = 1,
				.msg_control = &control,
				.msg_controllen = sizeof control};
	struct sb_attach_message message;
	/* descriptors that come along do not fit in control, and are closed by the kernel */
	ssize_t got = recvmsg(client->fd, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (got <= 0 || (header.msg_flags & MSG_TRUNC) || !is_from(client, &header) ||
	    !sb_attach_decode(bytes, (size_t)got, &message)) {
		drop(client);
		return false;
	}
	if (message.kind == SB_ATTACH_HELLO && !client->greeted)
		greet(s, client, message.number);
	else if (client->greeted)
		take_message(s, client, &message);
	else
		drop(client);
	return client->fd >= 0;
}

static struct client *free_place(struct sb_socket *s)
{
	for (size_t i = 0; i < SB_SOCKET_CLIENTS; i++)
		if (s->clients[i].fd < 0)
			return &s->clients[i];
	return NULL;
}

/* Look at who is there, and let them in or say why not.  Takes the connection over. */
static struct client *welcome(struct sb_socket *s, int connection)
{
	SB_AUTO_FD int fd = connection;
	struct client *client = free_place(s);
	struct sb_pinned peer;
	const char *why = sb_peer_refusal(fd, &s->own, &peer);

	if (!why && !client) {
		sb_peer_done(&peer);
		why = "too many are attached";
	}
	if (why) {
		put(fd, &(struct sb_attach_message){.kind = SB_ATTACH_REFUSED, .text = why});
		return NULL;
	}
	client->fd = sb_take_fd(&fd);
	client->peer = peer;
	client->last_sent = client->last_told = 0;
	client->role = SB_ATTACH_ASKED;
	return client;
}

/* False: nobody else wants to connect. */
static bool welcome_one(struct sb_socket *s)
{
	int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return false;
	welcome(s, fd);
	return true;
}

/* The one the run was started with; what it has said already counts from the start. */
static void welcome_given(struct sb_socket *s, int fd)
{
	struct client *client;
	int yes = 1, kind = 0;
	socklen_t length = sizeof kind;

	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &kind, &length) != 0 || kind != SOCK_SEQPACKET ||
	    setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) != 0 ||
	    fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 || fcntl(fd, F_SETFL, O_NONBLOCK) != 0) {
		close(fd);
		return;
	}
	client = welcome(s, fd);
	if (client) {
		client->given = true;
		hear(s, client);
	}
}

/* --- the caller's loop -------------------------------------------------------------------------- */

size_t sb_socket_poll(const struct sb_socket *s, struct pollfd *out)
{
	size_t count = 0;

	out[count++] = (struct pollfd){.fd = s->listener, .events = POLLIN};
	for (size_t i = 0; i < SB_SOCKET_CLIENTS; i++)
		if (s->clients[i].fd >= 0)
			out[count++] = (struct pollfd){
				.fd = s->clients[i].fd,
				.events = (short)(POLLIN | (s->clients[i].full ? POLLOUT : 0))};
	return count;
}

static void handle_client(struct sb_socket *s, int fd, short events)
{
	for (size_t i = 0; i < SB_SOCKET_CLIENTS; i++) {
		struct client *client = &s->clients[i];

		if (client->fd != fd)
			continue;
		if (events & POLLOUT) {
			client->full = false;
			pump(s, client);
		}
		/* one at a time: others have a turn, and poll() comes back for the rest */
		if (client->fd == fd && (events & ~POLLOUT))
			hear(s, client);
		return;
	}
}

void sb_socket_handle(struct sb_socket *s, const struct pollfd *fds, size_t count)
{
	bool served = is_served(s);

	/* clients first: one that is accepted below may get the number of one dropped here */
	for (size_t i = 0; i < count; i++)
		if (fds[i].revents && fds[i].fd != s->listener)
			handle_client(s, fds[i].fd, fds[i].revents);
	for (size_t i = 0; i < count; i++)
		if (fds[i].revents && fds[i].fd == s->listener)
			for (int accepted = 0; accepted < ACCEPTS && welcome_one(s);)
				accepted++;
	if (served && !is_served(s)) /* who watches is asked here from now on */
		pump_all(s);
}

size_t sb_socket_clients(const struct sb_socket *s)
{
	size_t count = 0;

	for (size_t i = 0; i < SB_SOCKET_CLIENTS; i++)
		count += s->clients[i].fd >= 0 && s->clients[i].greeted &&
			 s->clients[i].role != SB_ATTACH_LOOKS && hears(s, &s->clients[i]);
	return count;
}

/* --- life ------------------------------------------------------------------------------------------ */

static int listen_on(struct sb_socket *s, struct sb_error *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	unsigned char chance[(SB_RUNNING_SOCKET - 1) / 2];
	int length, yes = 1;

	if (getrandom(chance, sizeof chance, 0) != sizeof chance)
		return sb_fail(err, SB_E_SYSTEM, errno, "no randomness");
	for (size_t i = 0; i < sizeof chance; i++)
		snprintf(s->running.socket + 2 * i, 3, "%02x", chance[i]);
	length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, SB_RUNNING_PREFIX "%s",
			  s->running.socket);
	s->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* the option is handed on to what is accepted: no message comes without its sender */
	if (s->listener < 0 ||
	    setsockopt(s->listener, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) != 0 ||
	    bind(s->listener, (const void *)&address,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)) != 0 ||
	    listen(s->listener, SB_SOCKET_CLIENTS) != 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot listen for other terminals");
	return SB_OK;
}

static void describe(struct sb_running *running, const struct sb_socket_options *options)
{
	SB_AUTO_BUF struct sb_buf words = SB_BUF(64 * 1024);

	for (size_t i = 0; options->command && options->command[i] && i < 64; i++) {
		if (i)
			sb_buf_putc(&words, ' ');
		sb_shell_quote(&words, options->command[i]);
	}
	sb_escape_line(running->command, sizeof running->command, words.data);
	sb_escape_line(running->directory, sizeof running->directory,
		       options->directory ? options->directory : "");
	snprintf(running->name, sizeof running->name, "%s", options->name ? options->name : "");
	snprintf(running->mode, sizeof running->mode, "%s", options->mode ? options->mode : "");
	if (options->session)
		snprintf(running->session, sizeof running->session, "%s", options->session);
	else
		snprintf(running->session, sizeof running->session, "%lld-%d",
			 (long long)time(NULL), getpid());
	running->process = getpid();
}

int sb_socket_open(const struct sb_socket_options *options, struct sb_socket **out,
		   struct sb_error *err)
{
	struct sb_socket *s = calloc(1, sizeof *s);
	int status = SB_OK;

	if (!s)
		return sb_no_memory(err);
	s->listener = s->file = -1;
	for (size_t i = 0; i < SB_SOCKET_CLIENTS; i++)
		s->clients[i] = (struct client){.fd = -1, .peer = {.pidfd = -1}};
	sb_queue_init(&s->queue);
	s->asks = options->asks;
	s->answered = options->answered;
	s->take_back = options->take_back;
	s->add = options->add;
	s->context = options->context;
	s->state_dir = strdup(options->state_dir);
	describe(&s->running, options);
	if (options->size < sizeof *options || !options->answered)
		status = sb_fail(err, SB_E_INVALID, 0, "a socket needs its options in full");
	else if (!s->state_dir)
		status = sb_no_memory(err);
	else if (!sb_confinement_of(0, &s->own))
		status = sb_fail(err, SB_E_SYSTEM, 0, "cannot read /proc/self/status");
	if (status == SB_OK)
		status = listen_on(s, err);
	if (status == SB_OK)
		status = sb_running_announce(s->state_dir, &s->running, &s->file, err);
	if (status != SB_OK) {
		sb_socket_close(s);
		return status;
	}
	if (options->has_client)
		welcome_given(s, options->client);
	*out = s;
	return SB_OK;
}

void sb_socket_close(struct sb_socket *s)
{
	if (!s)
		return;
	for (struct standing *next; s->standing; s->standing = next) {
		next = s->standing->next;
		free(s->standing);
	}
	if (s->file >= 0)
		sb_running_withdraw(s->state_dir, s->running.session, s->file);
	for (size_t i = 0; i < SB_SOCKET_CLIENTS; i++)
		drop(&s->clients[i]);
	sb_auto_close(&s->listener);
	sb_queue_done(&s->queue);
	free(s->state_dir);
	free(s);
}
