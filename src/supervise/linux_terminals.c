/*
 * linux_terminals.c - which terminals are the run's, where it has no /dev/pts of its own.
 *
 * SECURITY: without mounts every terminal of the user's has a name inside.
 *
 * Danger: whoever opens one reads what is typed there, or draws over a question.
 * Landlock gives the command none of /dev/pts but the terminal it was started with, so an open
 * for writing ends here: we open the terminal for it if it is the command's, or if a process
 * of the run holds its other side, having made it.
 * Price: a terminal that was made inside cannot be opened for reading alone, since such opens
 * are not held; and an open by name never makes it the controlling terminal.
 * Held by: tests/enforce/terminals.py
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "consent/peer.h"
#include "supervise/approve.h"
#include "supervise/perform.h"
#include "supervise/proc_name.h"

#define FIRST_MAJOR 136 /* of the terminals in /dev/pts: Documentation/admin-guide/devices.txt */
#define LAST_MAJOR 143
#define PER_MAJOR 256

bool sb_is_terminal(const struct sb_spot *file)
{
	return file->object >= 0 && S_ISCHR(file->info.st_mode) &&
	       major(file->info.st_rdev) >= FIRST_MAJOR && major(file->info.st_rdev) <= LAST_MAJOR;
}

dev_t sb_terminal_of_master(int master)
{
	unsigned number;

	if (ioctl(master, TIOCGPTN, &number) != 0)
		return 0;
	return makedev(FIRST_MAJOR + number / PER_MAJOR, number % PER_MAJOR);
}

static bool is_the_runs(const struct sb_approver *approver, dev_t device)
{
	for (size_t i = 0; i < SB_OWN_TERMINALS; i++)
		if (approver->terminals[i] == device)
			return true;
	return sb_terminal_made_inside((major(device) - FIRST_MAJOR) * PER_MAJOR + minor(device));
}

struct sb_outcome sb_open_terminal(const struct sb_approver *approver, const struct sb_call *call,
				   const struct sb_spot *file)
{
	struct sb_outcome outcome = {.error = EACCES, .fd = -1};
	int flags = call->flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW | O_TRUNC);
	char name[SB_PROC_NAME];

	if (call->act != SB_ACT_OPEN || !is_the_runs(approver, file->info.st_rdev))
		return outcome;
	sb_proc_self_fd(name, file->object);
	outcome.fd = openat(AT_FDCWD, name, flags | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	outcome.error = outcome.fd < 0 ? errno : 0;
	if (outcome.fd >= 0 && !(flags & O_NONBLOCK))
		fcntl(outcome.fd, F_SETFL, flags);
	return outcome;
}
