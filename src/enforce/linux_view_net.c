/*
 * linux_view_net.c - making a network namespace takes the kernel 0.4 ms, more than all other namespaces together, and
 * holds up nobody but whoever asked for it.  Namespaces are a thread's, so another one can ask.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>

#include "enforce/view_impl.h"
#include "sys/process.h"

#define STACK (64 * 1024)

/* Nothing that allocates: the other thread does, and our memory is made for one. */
static void *make(void *argument)
{
	struct sb_view_net *net = argument;

	if (unshare(CLONE_NEWNET) == 0 && sb_sys_loopback_up() >= 0)
		net->made = openat(net->proc, "thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	return NULL;
}

void sb_view_net_begin(struct sb_view_net *net, int proc)
{
	pthread_attr_t attributes;
	sigset_t all, old;

	*net = (struct sb_view_net){.proc = proc, .made = -1};
	sigfillset(&all);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	net->started = pthread_create(&net->thread, &attributes, make, net) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attributes);
}

void sb_view_net_end(struct sb_view_net *net, struct sb_view_made *made)
{
	made->own_net = net->started && pthread_join(net->thread, NULL) == 0 && net->made >= 0;
	made->net = net->made;
}
