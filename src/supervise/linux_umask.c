/*
 * linux_umask.c - the umask of whoever makes something, and when it has to be looked up anew.
 *
 * It is what the command began with until somebody changes his own, which is held and let through.  From
 * then on it stands in a file of /proc that takes the kernel 5 us to write; tar and cp -a change theirs
 * first of all.  So the last caller's is known for a while, as his current directory is (linux_cwd.c):
 * until somebody changes one, and not at all where one was that several threads share.
 */
#include <sys/stat.h>

#include "base/clock.h"
#include "supervise/performer.h"
#include "supervise/thread.h"

#define FRESH_NS 500000

void sb_broker_umask_changes(struct sb_broker *broker, pid_t thread)
{
	if (!sb_thread_is_alone(broker->performer->proc, thread))
		__atomic_store_n(&broker->umask_shared, true, __ATOMIC_RELEASE);
	__atomic_fetch_add(&broker->umask_changes, 1, __ATOMIC_ACQ_REL);
}

mode_t sb_broker_umask(const struct sb_broker *broker, pid_t thread)
{
	static _Thread_local struct {
		pid_t thread;
		unsigned changes;
		uint64_t looked_ns;
		mode_t mask;
	} last;
	unsigned changes = __atomic_load_n(&broker->umask_changes, __ATOMIC_ACQUIRE);
	uint64_t now_ns;
	long mask;

	if (!changes)
		return broker->performer->umask;
	now_ns = sb_now_ns();
	if (last.thread == thread && last.changes == changes &&
	    now_ns - last.looked_ns < FRESH_NS &&
	    !__atomic_load_n(&broker->umask_shared, __ATOMIC_ACQUIRE))
		return last.mask;
	mask = sb_thread_field(broker->performer->proc, thread, "\nUmask:\t", 8);
	last.thread = mask < 0 ? 0 : thread;
	last.changes = changes;
	last.looked_ns = now_ns;
	last.mask = mask < 0 ? 077 : (mode_t)mask;
	return last.mask;
}

/* The thread's own (sb_broker_enter), and mostly the right one already. */
void sb_broker_set_umask(const struct sb_broker *broker, pid_t thread)
{
	static _Thread_local mode_t last = (mode_t)-1;
	mode_t mask = sb_broker_umask(broker, thread);

	if (mask != last)
		umask(mask);
	last = mask;
}
