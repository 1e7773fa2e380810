/*
 * linux_view_net.c - making a network namespace takes the kernel 0.4 ms, more than all other namespaces together, and
 * holds up nobody but whoever asked for it.  Namespaces are a thread's, so another one can ask, and as early as a view is
 * expected; that the worker has the network after all is seldom, and known late.
 */
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <unistd.h>

#include "enforce/view_impl.h"
#include "sys/process.h"

#define STACK (64 * 1024)

static void *make(void *argument)
{
	struct sb_view_net *net = argument;

	if (unshare(CLONE_NEWNET) == 0 && sb_sys_loopback_up() >= 0)
		net->made = openat(net->proc, "thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	return NULL;
}

/* Of the one run that a process starts. */
static struct sb_view_net only = {.proc = -1, .made = -1};

bool sb_view_expect(void)
{
	if (!sb_sys_has_capability(CAP_SYS_ADMIN))
		return false;
	only.proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (only.proc >= 0)
		sb_work_begin(&only.work, make, &only, STACK);
	return true;
}

struct sb_view_net *sb_view_net_begin(bool wanted, int proc)
{
	only.wanted = wanted;
	if (wanted && only.proc < 0) {
		only.proc = fcntl(proc, F_DUPFD_CLOEXEC, 0);
		sb_work_begin(&only.work, make, &only, STACK);
	}
	return &only;
}

void sb_view_net_end(struct sb_view_net *net, struct sb_view_made *made)
{
	bool done = sb_work_done(&net->work) && net->made >= 0;

	made->own_net = done && net->wanted;
	made->net = made->own_net ? net->made : -1;
	if (done && !net->wanted)
		close(net->made);
	if (net->proc >= 0)
		close(net->proc);
}
