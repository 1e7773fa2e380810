/*
 * linux_device.c - devices and terminals that the caller opens.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "supervise/perform.h"
#include "supervise/performer.h"
#include "supervise/proc_name.h"
#include "sys/notify.h"

bool sb_broker_is_own_terminal(const struct sb_performer *performer, const struct sb_spot *file)
{
	return performer->layers->terminals && file->object >= 0 && S_ISCHR(file->info.st_mode) &&
	       file->info.st_dev == performer->layers->terminals;
}

/* /dev/ptmx beside a /dev/pts of our own: what it makes is in there, too. */
static bool makes_terminals(const struct sb_performer *performer, const struct sb_spot *file)
{
	return performer->layers->terminals && S_ISCHR(file->info.st_mode) &&
	       file->info.st_rdev == makedev(5, 2);
}

/*
 * Open a device for the caller, so that no path is looked up twice: those of every script, and
 * where there is no Landlock to hold the second look, the run's own terminals.  False: it is the
 * kernel's to open.
 */
static bool opened(struct sb_broker *broker, const struct sb_call *call, const struct sb_spot *file)
{
	const struct sb_performer *performer = broker->performer;
	struct sb_outcome outcome = {.fd = -1};
	char name[SB_PROC_NAME];

	if ((call->flags & (O_NOFOLLOW | O_DIRECTORY)) ||
	    (call->flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL) ||
	    sb_inner_verdict(call, file, NULL) != SB_ALLOW)
		return false;
	if (sb_is_harmless_device(&file->info)
		    ? sb_decide(performer->policy, SB_MODIFY, file->path).verdict != SB_ALLOW
		    : performer->layers->landlock_abi > 0 ||
			      !(sb_broker_is_own_terminal(performer, file) ||
				makes_terminals(performer, file)))
		return false;
	if (!sb_sys_notify_alive(performer->listener, call->id))
		return true;
	outcome.fd = openat(AT_FDCWD, sb_proc_self_fd(name, file->object),
			    (call->flags & ~(O_CREAT | O_EXCL | O_TRUNC)) | O_NOCTTY);
	if (outcome.fd < 0) {
		sb_broker_answer_error(broker, call, errno);
		return true;
	}
	sb_broker_seen(broker, SB_MODIFY);
	sb_broker_done(broker, SB_MODIFY);
	sb_broker_answer(broker, call, NULL, NULL, &outcome);
	return true;
}

void sb_broker_open_device(struct sb_broker *broker, const struct sb_call *call,
			   const struct sb_spot *file)
{
	if (!opened(broker, call, file))
		sb_broker_let_through(broker, call); /* which says why it may */
}
