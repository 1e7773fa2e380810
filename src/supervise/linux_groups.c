#include "supervise/groups.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "supervise/performer.h"
#include "sys/notify.h"

static gid_t *groups;
static int count;

void sb_groups_note(void)
{
	int most = getgroups(0, NULL);

	free(groups);
	groups = most > 0 ? malloc((size_t)most * sizeof *groups) : NULL;
	count = groups ? getgroups(most, groups) : 0;
}

void sb_broker_groups(const struct sb_broker *broker, const struct seccomp_notif *notification)
{
	const __u64 *args = notification->data.args;
	int listener = broker->performer->listener, room = (int)args[0], status = 0;

	if (room && room < count)
		status = -EINVAL;
	else if (room && sb_sys_notify_alive(listener, notification->id))
		status = sb_sys_write_memory((pid_t)notification->pid, args[1], groups,
					     (size_t)count * sizeof *groups);
	if (count <= 0 || (status < 0 && status != -EINVAL && status != -EFAULT))
		sb_sys_notify_continue(listener, notification->id); /* as the namespace has them */
	else if (status < 0)
		sb_sys_notify_fail(listener, notification->id, -status);
	else
		sb_sys_notify_return(listener, notification->id, count);
}
