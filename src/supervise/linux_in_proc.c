/*
 * linux_in_proc.c - names in procfs that no rule allows to change: what the kernel says of them.
 *
 * Switches are for Landlock to refuse, which it does; the rest is as it is.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervise/acts.h"
#include "supervise/perform.h"
#include "supervise/performer.h"
#include "supervise/proc_name.h"
#include "sys/beneath.h"
#include "sys/notify.h"

/*
 * In procfs no attribute can be set, but who may not is told that first (xattr(7)): some names
 * are not for everybody, and links have none of the user's.
 */
static int attribute_error_in_proc(const struct sb_call *call, const struct sb_spot *file)
{
	bool plain = S_ISREG(file->info.st_mode) || S_ISDIR(file->info.st_mode);
	char name[SB_PROC_NAME];

	if (strncmp(call->text, "trusted.", 8) == 0 || strncmp(call->text, "security.", 9) == 0 ||
	    (strncmp(call->text, "user.", 5) == 0 && !plain))
		return EPERM;
	sb_proc_self_fd(name, file->object);
	if (strncmp(call->text, "system.", 7) != 0 &&
	    faccessat(AT_FDCWD, name, W_OK, AT_EACCESS) != 0)
		return errno;
	return sb_acts[call->act].in_proc;
}

/* Renamed to itself: nothing to do, and nobody minds whether it could be done. */
static bool is_same_name(const struct sb_spot *file, const struct sb_spot *target)
{
	return file->directory >= 0 && target->directory >= 0 &&
	       strcmp(file->name, target->name) == 0 && !strchr(file->name, '/') &&
	       sb_sys_same_file(file->directory, target->directory);
}

static bool is_missing(const struct sb_spot *spot)
{
	struct stat info;

	return spot->object < 0 && spot->directory >= 0 &&
	       fstatat(spot->directory, spot->name, &info, AT_SYMLINK_NOFOLLOW) != 0 &&
	       errno == ENOENT;
}

void sb_broker_answer_in_proc(const struct sb_broker *broker, const struct sb_call *call,
			      const struct sb_spot *file, const struct sb_spot *target)
{
	int error = sb_perform_precheck(call, file, target);

	if (!error)
		error = sb_perform_postcheck(call, file);
	if (!error && call->act == SB_ACT_LINK && !target->in_proc)
		error = EXDEV;
	if (call->act == SB_ACT_OPEN) {
		/* nothing is made in /proc, and where nothing is there is nothing to empty */
		if ((call->flags & O_TRUNC) && is_missing(file)) {
			sb_broker_answer_error(broker, call, ENOENT);
			return;
		}
		/* a swap gains no more than at a device: sb_broker_let_through() */
		if (S_ISLNK(file->info.st_mode)) /* one that is not followed */
			sb_broker_answer_error(broker, call, error ? error : ELOOP);
		else
			sb_broker_let_through(broker, call);
		return;
	}
	/* the mode of a link is how its descriptor is open, and asking for it changes nothing */
	if (!error && call->act == SB_ACT_ACCESS && S_ISLNK(file->info.st_mode)) {
		struct sb_outcome outcome = sb_perform(call, file, NULL);

		sb_broker_answer(broker, call, NULL, NULL, &outcome);
		return;
	}
	if (error)
		sb_broker_fail(broker, call, error);
	else if (call->act == SB_ACT_RENAME && is_same_name(file, target))
		sb_sys_notify_return(broker->performer->listener, call->id, 0);
	else if (call->act == SB_ACT_SETXATTR || call->act == SB_ACT_REMOVEXATTR)
		sb_broker_fail(broker, call, attribute_error_in_proc(call, file));
	else
		sb_broker_fail(broker, call, sb_acts[call->act].in_proc);
}
