/*
 * A held call that was received waits for its answer whatever signals come
 * (SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, Linux 5.19).  One that nobody has received yet
 * is interrupted: with SA_RESTART it begins again, without it the program sees EINTR.
 */
#include "fact.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/time.h>

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

#define SIGNAL_US 20000
#define LATE_US 100000

static int listener = -1;
static bool late; /* receive only after the signal; else answer only after it */
static int handler_flags;

static void on_alarm(int number)
{
	(void)number;
}

static void *serve(void *unused)
{
	struct seccomp_notif request = {0};
	struct seccomp_notif_resp answer = {0};

	if (late)
		usleep(LATE_US);
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &request) == 0) {
		if (!late)
			usleep(LATE_US);
		answer.id = request.id; /* value 0, error 0: it "worked" */
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
	}
	return unused;
}

static int hold_mkdirat(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mkdirat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof code / sizeof code[0], code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			    SECCOMP_FILTER_FLAG_NEW_LISTENER |
				    SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
			    &program);
}

static int held_call(void)
{
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = handler_flags};
	struct itimerval timer = {.it_value = {0, SIGNAL_US}};
	pthread_t server;
	sigset_t alarm_only;
	int result;

	listener = hold_mkdirat();
	if (listener < 0)
		return broken("a listener");
	/* the signal must come to the caller, not to who serves it */
	sigemptyset(&alarm_only);
	sigaddset(&alarm_only, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm_only, NULL);
	if (pthread_create(&server, NULL, serve, NULL) != 0)
		return broken("a thread");
	pthread_sigmask(SIG_UNBLOCK, &alarm_only, NULL);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	result = syscall(SYS_mkdirat, AT_FDCWD, "held", 0700) < 0 ? errno : 0;
	if (result == 0)
		pthread_join(server, NULL);
	return result;
}

static int probe(void)
{
	return hold_mkdirat() < 0 ? errno : 0;
}

int main(void)
{
	int missing = attempt(probe);

	if (missing)
		skip_all("no seccomp listener that waits killably: %s", strerror(missing));
	expect(attempt(held_call), 0, "a signal does not interrupt a call that was received");
	late = true;
	expect(attempt(held_call), EINTR, "it interrupts one that was not, without SA_RESTART");
	handler_flags = SA_RESTART;
	expect(attempt(held_call), 0, "with SA_RESTART that one begins again");
	return fact_done();
}
