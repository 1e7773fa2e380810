/* test_socket.c - who may attach to a run, and what a client can do to it: nothing but answer. */
#include "tree.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "consent/peer.h"
#include "consent/running.h"
#include "consent/socket.h"
#include "question_made.h"

/* --- a run in a process of its own, which the test is no child of ------------------------------ */

struct order {
	char what; /* 'a'sk, 'w'ithdraw, 'i'nside: connect from a child; 'o'rphan: from a daemon;
		    * 'c'lients; 's': the answers up to id hold, 'f': none does */
	unsigned long id;
};

struct run {
	pid_t process;
	int control; /* orders go in, answers and results come out */
	char *state_dir;
	int given; /* the other end of what it was started with; -1: nothing */
};

static int control_of_server, given_to_server = -1;

static void report(unsigned long id, int what)
{
	unsigned long told[2] = {id, (unsigned long)what};

	if (write(control_of_server, told, sizeof told) != sizeof told)
		_exit(1);
}

static void answered(void *context, unsigned long id, enum sb_answer answer)
{
	(void)context;
	report(id, (int)answer);
}

#define TAKEN_BACK 1000
#define ADDED 2000

static void take_back(void *context, unsigned long number)
{
	(void)context;
	report(number, TAKEN_BACK);
}

static void add_rule(void *context, const char *rule)
{
	(void)context;
	report(strlen(rule), ADDED);
}

/* Order 's' or 'f'. */
static void stand(struct sb_socket *s, unsigned long last)
{
	sb_socket_standing_begin(s);
	for (unsigned long number = 1; number <= last; number++)
		sb_socket_stands(s, number, SB_ANSWER_DENY, "denied: /x");
	sb_socket_standing_end(s);
	report(last, 0);
}

static int dial(const char *state_dir)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct sb_running *list = NULL;
	size_t count = 0;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), length;

	if (sb_running_list(state_dir, &list, &count, NULL) != SB_OK || count != 1)
		return -1;
	length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, SB_RUNNING_PREFIX "%s",
			  list[0].socket);
	free(list);
	if (connect(fd, (const void *)&address,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)) != 0)
		return -1;
	return fd;
}

static void say(int fd, enum sb_attach_kind kind, unsigned long id, int number)
{
	SB_AUTO_BUF struct sb_buf bytes = SB_BUF(SB_ATTACH_BYTES);
	struct sb_attach_message message = {.kind = kind, .id = id, .number = number};

	assert_true(sb_attach_encode(&message, &bytes));
	send(fd, bytes.data, bytes.length, MSG_NOSIGNAL);
}

/* The next message's kind; -1: the end; -2: nothing comes. */
static int hear(int fd, struct sb_attach_message *out, int wait_ms)
{
	static char bytes[SB_ATTACH_BYTES];
	struct pollfd wait = {fd, POLLIN, 0};
	ssize_t got;

	if (poll(&wait, 1, wait_ms) == 0)
		return -2;
	got = recv(fd, bytes, sizeof bytes, 0);
	if (got < 0 && errno == ECONNRESET) /* a refusal that did not wait for what we said */
		got = recv(fd, bytes, sizeof bytes, 0);
	if (got <= 0)
		return -1;
	assert_true(sb_attach_decode(bytes, (size_t)got, out));
	return (int)out->kind;
}

/* What a process that connects is told: WELCOME, or REFUSED, or -1. */
static int try_to_attach(const char *state_dir)
{
	struct sb_attach_message message;
	int fd = dial(state_dir), kind;

	if (fd < 0)
		return -3;
	say(fd, SB_ATTACH_HELLO, 0, 0);
	kind = hear(fd, &message, 5000);
	close(fd);
	return kind;
}

static void attach_from_inside(const char *state_dir, bool orphan)
{
	if (fork() != 0)
		return;
	if (orphan) {
		pid_t parent = getpid();

		setsid();
		if (fork() != 0)
			_exit(0);
		while (getppid() == parent)
			poll(NULL, 0, 5);
	}
	report(0, try_to_attach(state_dir));
	_exit(0);
}

static void serve(const char *state_dir)
{
	struct sb_socket_options options = {.size = sizeof options,
					    .state_dir = state_dir,
					    .session = "20260101T000000-1-abcd",
					    .asks = true,
					    .has_client = given_to_server >= 0,
					    .client = given_to_server,
					    .answered = answered,
					    .take_back = take_back,
					    .add = add_rule};
	struct sb_socket *s;
	struct order order;

	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	if (sb_socket_open(&options, &s, NULL) != SB_OK)
		_exit(1);
	report(0, 0);
	for (;;) {
		struct pollfd wait[1 + SB_SOCKET_FDS] = {{control_of_server, POLLIN, 0}};
		size_t count = 1 + sb_socket_poll(s, wait + 1);

		poll(wait, count, -1);
		sb_socket_handle(s, wait + 1, count - 1);
		if (!wait[0].revents)
			continue;
		if (read(control_of_server, &order, sizeof order) != sizeof order)
			break;
		if (order.what == 'a') {
			struct sb_question question = question_of(order.id);

			report(order.id, sb_socket_ask(s, &question, NULL));
		} else if (order.what == 'w') {
			sb_socket_withdraw(s, order.id, "gone");
			report(order.id, 0);
		} else if (order.what == 'c') {
			report(0, (int)sb_socket_clients(s));
		} else if (order.what == 's' || order.what == 'f') {
			stand(s, order.what == 's' ? order.id : 0);
		} else {
			attach_from_inside(state_dir, order.what == 'o');
		}
	}
	sb_socket_close(s);
	_exit(0);
}

static void hear_report(const struct run *run, unsigned long *out_id, int *out_what)
{
	unsigned long told[2];
	struct pollfd wait = {run->control, POLLIN, 0};

	assert_int_equal(poll(&wait, 1, 10000), 1);
	assert_int_equal(read(run->control, told, sizeof told), sizeof told);
	*out_id = told[0];
	*out_what = (int)told[1];
}

static int order(const struct run *run, char what, unsigned long id)
{
	struct order one = {what, id};
	unsigned long about;
	int result;

	assert_int_equal(write(run->control, &one, sizeof one), sizeof one);
	hear_report(run, &about, &result);
	return result;
}

static int run_setup_with(void **state, int given, int given_here)
{
	struct run *run = calloc(1, sizeof *run);
	int ends[2], result;
	unsigned long id;

	if (tree_setup(state) != 0 || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0)
		return -1;
	run->given = given_here;
	run->state_dir = *state;
	*state = run;
	run->process = fork();
	if (run->process == 0) {
		close(ends[0]);
		control_of_server = ends[1];
		given_to_server = given;
		if (given_here >= 0)
			close(given_here);
		serve(run->state_dir);
	}
	if (given >= 0)
		close(given);
	close(ends[1]);
	run->control = ends[0];
	hear_report(run, &id, &result);
	return 0;
}

static int run_setup(void **state)
{
	return run_setup_with(state, -1, -1);
}

/* Started by somebody who is connected from the start. */
static int served_setup(void **state)
{
	int ends[2], yes = 1;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0 ||
	    setsockopt(ends[0], SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) != 0 ||
	    setsockopt(ends[1], SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) != 0)
		return -1;
	return run_setup_with(state, ends[0], ends[1]);
}

static int run_teardown(void **state)
{
	struct run *run = *state;
	char path[PATH_MAX];
	void *tree = run->state_dir;

	close(run->control);
	waitpid(run->process, NULL, 0);
	snprintf(path, sizeof path, "%s/run/20260101T000000-1-abcd", run->state_dir);
	assert_int_equal(access(path, F_OK), -1); /* nothing is left */
	free(run);
	return tree_teardown(&tree);
}

/* Attach in a process of our own that does something first. */
static int attach_after(const struct run *run, void (*prepare)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (prepare)
			prepare();
		_exit(try_to_attach(run->state_dir) + 10);
	}
	waitpid(pid, &status, 0);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status) - 10;
}

/* --- who may attach ------------------------------------------------------------------------------ */

static void no_new_privs(void)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		_exit(99);
}

static void filtered(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = {1, &allow};

	no_new_privs();
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		_exit(99);
}

static void only_who_is_outside(void **state)
{
	struct run *run = *state;

	assert_int_equal(attach_after(run, NULL), SB_ATTACH_WELCOME);
	assert_int_equal(order(run, 'i', 0), SB_ATTACH_REFUSED);
	assert_int_equal(order(run, 'o', 0), SB_ATTACH_REFUSED);
	assert_int_equal(attach_after(run, NULL), SB_ATTACH_WELCOME);
}

static void only_who_is_free(void **state)
{
	struct run *run = *state;
	struct sb_confinement own;

	assert_true(sb_confinement_of(0, &own));
	if (own.no_new_privs)
		skip(); /* this test itself is confined: the first says nothing */
	assert_int_equal(attach_after(run, no_new_privs), SB_ATTACH_REFUSED);
	assert_int_equal(attach_after(run, filtered), SB_ATTACH_REFUSED);
	assert_int_equal(attach_after(run, NULL), SB_ATTACH_WELCOME);
}

static void only_who_connected(void **state)
{
	struct run *run = *state;
	struct sb_attach_message message;
	int fd = dial(run->state_dir), status;
	pid_t pid;

	/* somebody else who has the connection says hello */
	pid = fork();
	if (pid == 0) {
		say(fd, SB_ATTACH_HELLO, 0, 0);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(hear(fd, &message, 5000), -1);
	close(fd);

	/* the one who connected says hello, somebody else answers */
	fd = dial(run->state_dir);
	say(fd, SB_ATTACH_HELLO, 0, 0);
	assert_int_equal(hear(fd, &message, 5000), SB_ATTACH_WELCOME);
	assert_int_equal(order(run, 'a', 1), SB_OK);
	assert_int_equal(hear(fd, &message, 5000), SB_ATTACH_QUESTION);
	pid = fork();
	if (pid == 0) {
		say(fd, SB_ATTACH_ANSWER, 1, SB_ANSWER_ONCE);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(hear(fd, &message, 5000), -1);
	assert_int_equal(order(run, 'c', 0),
			 0); /* the next report is this one: none of an answer */
	close(fd);
}

/* --- questions --------------------------------------------------------------------------------------- */

static int attached_as(const struct run *run, enum sb_attach_role role)
{
	struct sb_attach_message message;
	int fd = dial(run->state_dir);

	say(fd, SB_ATTACH_HELLO, 0, (int)role);
	assert_int_equal(hear(fd, &message, 5000), SB_ATTACH_WELCOME);
	return fd;
}

static int attached(const struct run *run)
{
	return attached_as(run, SB_ATTACH_ASKED);
}

static void the_first_answer_counts(void **state)
{
	struct run *run = *state;
	struct sb_attach_message message;
	int first, second, answer;
	unsigned long id;

	assert_int_equal(order(run, 'a', 1), SB_OK); /* before anybody is there */
	first = attached(run);
	second = attached(run);
	assert_int_equal(hear(first, &message, 5000), SB_ATTACH_QUESTION);
	assert_string_equal(message.question.verb, "create");
	assert_int_equal(hear(second, &message, 5000), SB_ATTACH_QUESTION);
	say(second, SB_ATTACH_ANSWER, 1, SB_ANSWER_DIRECTORY);
	hear_report(run, &id, &answer);
	assert_int_equal(id, 1);
	assert_int_equal(answer, SB_ANSWER_DIRECTORY);
	assert_int_equal(hear(first, &message, 5000), SB_ATTACH_WITHDRAWN);
	assert_int_equal(message.id, 1);
	say(first, SB_ATTACH_ANSWER, 1, SB_ANSWER_DENY); /* too late, and no harm */
	assert_int_equal(order(run, 'a', 2), SB_OK);
	assert_int_equal(hear(first, &message, 5000), SB_ATTACH_QUESTION);
	assert_int_equal(hear(second, &message, 5000), SB_ATTACH_QUESTION);
	assert_int_equal(order(run, 'w', 2), 0);
	assert_int_equal(hear(first, &message, 5000), SB_ATTACH_WITHDRAWN);
	assert_int_equal(hear(second, &message, 5000), SB_ATTACH_WITHDRAWN);
	close(first);
	close(second);
}

/* A client may have nobody to ask; the question is over only when no other has somebody. */
static void nobody_is_no_answer(void **state)
{
	struct run *run = *state;
	struct sb_attach_message message;
	int first = attached(run), second = attached(run), answer;
	unsigned long id;

	assert_int_equal(order(run, 'a', 1), SB_OK);
	assert_int_equal(hear(first, &message, 5000), SB_ATTACH_QUESTION);
	assert_int_equal(hear(second, &message, 5000), SB_ATTACH_QUESTION);
	say(first, SB_ATTACH_ANSWER, 1, SB_ANSWER_NONE);
	assert_int_equal(order(run, 'c', 0), 2); /* the next report is this one */
	say(second, SB_ATTACH_ANSWER, 1, SB_ANSWER_ONCE);
	hear_report(run, &id, &answer);
	assert_int_equal(answer, SB_ANSWER_ONCE);
	close(second);
	assert_int_equal(hear(first, &message, 5000), SB_ATTACH_WITHDRAWN);
	while (order(run, 'c', 0) != 1)
		;
	assert_int_equal(order(run, 'a', 2), SB_OK);
	assert_int_equal(hear(first, &message, 5000), SB_ATTACH_QUESTION);
	say(first, SB_ATTACH_ANSWER, 2, SB_ANSWER_NONE);
	hear_report(run, &id, &answer);
	assert_int_equal(id, 2);
	assert_int_equal(answer, SB_ANSWER_NONE);
	close(first);
}

/* Each of these ends the connection and answers nothing. */
static void nonsense_ends_it(void **state)
{
	struct run *run = *state;
	const struct {
		enum sb_attach_kind kind;
		unsigned long id;
		int number;
	} wrong[] = {
		{SB_ATTACH_ANSWER, 2, SB_ANSWER_DIRECTORY}, /* not offered: it has no directory */
		{SB_ATTACH_ANSWER, 2, SB_ANSWER_ALWAYS},
		{SB_ATTACH_ANSWER, 2, 77},
		{SB_ATTACH_ANSWER, 2, -1},
		{SB_ATTACH_ANSWER, 3, SB_ANSWER_ONCE}, /* not asked yet */
		{SB_ATTACH_ANSWER, 0, SB_ANSWER_ONCE},
		{SB_ATTACH_HELLO, 0, 0},
		{SB_ATTACH_QUESTION, 2, 0},
		{SB_ATTACH_WELCOME, 0, 0},
	};
	struct sb_attach_message message;
	int fd;

	assert_int_equal(order(run, 'a', 2), SB_OK);
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		fd = attached(run);
		assert_int_equal(hear(fd, &message, 5000), SB_ATTACH_QUESTION);
		say(fd, wrong[i].kind, wrong[i].id, wrong[i].number);
		assert_int_equal(hear(fd, &message, 5000), -1);
		close(fd);
	}
	fd = attached(run);
	send(fd, "hello", 5, 0);
	assert_int_equal(hear(fd, &message, 5000), SB_ATTACH_QUESTION);
	assert_int_equal(hear(fd, &message, 5000), -1);
	close(fd);
	assert_int_equal(order(run, 'c', 0), 0);
}

/* Others are served meanwhile; and when it reads at last, nothing is open that is not. */
static void who_does_not_read_keeps_nobody_waiting(void **state)
{
	struct run *run = *state;
	struct sb_attach_message message;
	int slow = attached(run), quick = attached(run), kind;
	unsigned long open = 0, seen = 0;

	for (unsigned long id = 1; id <= 2000; id++) {
		assert_int_equal(order(run, 'a', id), SB_OK);
		assert_int_equal(hear(quick, &message, 5000), SB_ATTACH_QUESTION);
		assert_int_equal(message.question.id, id);
		assert_int_equal(order(run, 'w', id), 0);
		assert_int_equal(hear(quick, &message, 5000), SB_ATTACH_WITHDRAWN);
	}
	assert_int_equal(order(run, 'a', 2001), SB_OK);
	while ((kind = hear(slow, &message, 500)) >= 0) {
		if (kind == SB_ATTACH_QUESTION) {
			assert_int_equal(open, 0);
			assert_true(message.question.id > seen);
			open = seen = message.question.id;
		} else {
			assert_int_equal(kind, SB_ATTACH_WITHDRAWN);
			assert_int_equal(message.id, open);
			open = 0;
		}
	}
	assert_int_equal(kind, -2);
	assert_int_equal(open, 2001);
	close(slow);
	close(quick);
}

static void there_is_an_end_to_clients(void **state)
{
	struct run *run = *state;
	int clients[SB_SOCKET_CLIENTS];

	for (int i = 0; i < SB_SOCKET_CLIENTS; i++)
		clients[i] = attached(run);
	assert_int_equal(try_to_attach(run->state_dir), SB_ATTACH_REFUSED);
	close(clients[3]);
	while (order(run, 'c', 0) == SB_SOCKET_CLIENTS)
		;
	assert_int_equal(try_to_attach(run->state_dir), SB_ATTACH_WELCOME);
	for (int i = 0; i < SB_SOCKET_CLIENTS; i++)
		if (i != 3)
			close(clients[i]);
}

/* --- who watches ----------------------------------------------------------------------------------------- */

static void who_watches_hears_what_holds_and_can_change_it(void **state)
{
	struct run *run = *state;
	struct sb_attach_message message;
	int watcher, other, what;
	unsigned long id;

	assert_int_equal(order(run, 's', 1), 0);
	watcher = attached_as(run, SB_ATTACH_WATCHES);
	other = attached(run);
	assert_int_equal(order(run, 'c', 0), 2);
	assert_int_equal(hear(watcher, &message, 5000), SB_ATTACH_STANDS);
	assert_int_equal(message.id, 1);
	assert_int_equal(message.number, SB_ANSWER_DENY);
	assert_int_equal(order(run, 's', 2), 0);
	assert_int_equal(hear(watcher, &message, 5000), SB_ATTACH_STANDS);
	assert_int_equal(message.id, 2); /* and not the first one again */
	say(watcher, SB_ATTACH_TAKE_BACK, 2, 0);
	hear_report(run, &id, &what);
	assert_int_equal(id, 2);
	assert_int_equal(what, TAKEN_BACK);
	assert_int_equal(order(run, 'f', 0), 0);
	for (unsigned long number = 1; number <= 2; number++) {
		assert_int_equal(hear(watcher, &message, 5000), SB_ATTACH_FALLS);
		assert_int_equal(message.id, number);
	}
	/* --attach is a language of its own: it hears none of this */
	assert_int_equal(order(run, 'a', 1), SB_OK);
	assert_int_equal(hear(other, &message, 5000), SB_ATTACH_QUESTION);
	close(watcher);
	close(other);
}

static void say_text(int fd, enum sb_attach_kind kind, const char *text)
{
	SB_AUTO_BUF struct sb_buf bytes = SB_BUF(SB_ATTACH_BYTES);
	struct sb_attach_message message = {.kind = kind, .text = text};

	assert_true(sb_attach_encode(&message, &bytes));
	send(fd, bytes.data, bytes.length, MSG_NOSIGNAL);
}

static void a_rule_comes_whole_or_not_at_all(void **state)
{
	struct run *run = *state;
	struct sb_attach_message message;
	char rule[SB_ATTACH_TEXT];
	int watcher = attached_as(run, SB_ATTACH_WATCHES), what;
	unsigned long id;

	memset(rule, 'x', sizeof rule - 1);
	rule[sizeof rule - 1] = '\0';
	say_text(watcher, SB_ATTACH_ADD, rule);
	hear_report(run, &id, &what);
	assert_int_equal(id, sizeof rule - 1);
	assert_int_equal(what, ADDED);
	say(watcher, SB_ATTACH_ADD, 0, 0); /* none at all */
	assert_int_equal(hear(watcher, &message, 5000), -1);
	close(watcher);
}

static void who_only_looks_is_nobody(void **state)
{
	struct run *run = *state;
	struct sb_attach_message message;
	const enum sb_attach_kind acts[] = {SB_ATTACH_ANSWER, SB_ATTACH_TAKE_BACK, SB_ATTACH_ADD};

	assert_int_equal(order(run, 'a', 1), SB_OK);
	for (size_t i = 0; i < sizeof acts / sizeof acts[0]; i++) {
		int looker = attached_as(run, SB_ATTACH_LOOKS);

		assert_int_equal(hear(looker, &message, 5000), SB_ATTACH_QUESTION);
		assert_int_equal(order(run, 'c', 0), 0);
		say(looker, acts[i], 1, SB_ANSWER_ONCE);
		assert_int_equal(hear(looker, &message, 5000), -1);
		close(looker);
	}
	assert_int_equal(order(run, 'c', 0), 0); /* the next report: nothing was answered */
	/* there are no other roles */
	for (int role = -1; role <= SB_ATTACH_ROLES; role += SB_ATTACH_ROLES + 1) {
		int fd = dial(run->state_dir);

		say(fd, SB_ATTACH_HELLO, 0, role);
		assert_int_equal(hear(fd, &message, 5000), -1);
		close(fd);
	}
}

static void a_servers_run_asks_who_watches_through_the_server(void **state)
{
	struct run *run = *state;
	struct sb_attach_message message;
	int watcher = attached_as(run, SB_ATTACH_WATCHES), person;

	assert_int_equal(order(run, 'c', 0), 0); /* the server has not said that it can ask */
	say(run->given, SB_ATTACH_HELLO, 0, SB_ATTACH_ASKED);
	assert_int_equal(hear(run->given, &message, 5000), SB_ATTACH_WELCOME);
	person = attached(run); /* who means this run is asked by it */
	assert_int_equal(order(run, 'c', 0), 2);
	assert_int_equal(order(run, 'a', 1), SB_OK);
	assert_int_equal(hear(run->given, &message, 5000), SB_ATTACH_QUESTION);
	assert_int_equal(hear(person, &message, 5000), SB_ATTACH_QUESTION);
	assert_int_equal(order(run, 's', 1), 0);
	assert_int_equal(hear(watcher, &message, 5000), SB_ATTACH_STANDS);
	close(run->given); /* it is gone: then the watcher is asked here */
	assert_int_equal(hear(watcher, &message, 5000), SB_ATTACH_QUESTION);
	assert_int_equal(order(run, 'c', 0), 2);
	close(watcher);
	close(person);
}

/* --- the list ------------------------------------------------------------------------------------------ */

static void what_the_dead_left_is_removed_by_the_next(void **state)
{
	struct run *run = *state;
	struct sb_running *list = NULL, next = {.session = "20260101T000000-2-abcd"};
	size_t count = 0;
	char path[PATH_MAX];
	int fd;

	assert_int_equal(sb_running_list(run->state_dir, &list, &count, NULL), SB_OK);
	assert_int_equal(count, 1);
	assert_int_equal(list[0].process, run->process);
	free(list);
	kill(run->process, SIGKILL);
	waitpid(run->process, NULL, 0);
	snprintf(path, sizeof path, "%s/run/20260101T000000-1-abcd", run->state_dir);
	assert_int_equal(access(path, F_OK), 0);
	next.process = getpid();
	assert_int_equal(sb_running_announce(run->state_dir, &next, &fd, NULL), SB_OK);
	assert_int_equal(access(path, F_OK), -1);
	sb_running_withdraw(run->state_dir, next.session, fd);
}

#define RUN_TEST(test) cmocka_unit_test_setup_teardown(test, run_setup, run_teardown)

static const struct CMUnitTest tests[] = {
	RUN_TEST(only_who_is_outside),
	RUN_TEST(only_who_is_free),
	RUN_TEST(only_who_connected),
	RUN_TEST(the_first_answer_counts),
	RUN_TEST(nobody_is_no_answer),
	RUN_TEST(nonsense_ends_it),
	RUN_TEST(who_does_not_read_keeps_nobody_waiting),
	RUN_TEST(there_is_an_end_to_clients),
	RUN_TEST(who_watches_hears_what_holds_and_can_change_it),
	RUN_TEST(a_rule_comes_whole_or_not_at_all),
	RUN_TEST(who_only_looks_is_nobody),
	cmocka_unit_test_setup_teardown(a_servers_run_asks_who_watches_through_the_server,
					served_setup, run_teardown),
	RUN_TEST(what_the_dead_left_is_removed_by_the_next),
};

UNIT_MAIN("socket")
