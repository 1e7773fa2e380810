/*
 * socketpair(): of a pair for datagrams.
 *
 * Before Linux 5.19 a signal may end the wait when one or both ends have their numbers in the caller already.
 * Then these are kept for when it comes again with the same call, as in owed.h.
 */
#include <errno.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/lock.h"
#include "supervise/owed.h"
#include "supervise/performer.h"
#include "supervise/proc_name.h"
#include "sys/notify.h"

#define SOCKET_TYPES 0xf /* the rest are flags: socket(2) */
#define MAX_OWED 16      /* the oldest gives way */

struct pair {
	pid_t thread; /* 0: none */
	__u64 args[3];
	int numbers[2]; /* in the caller; -1: not there yet */
	ino_t inodes[2];
	int ends[2]; /* ours; -1: closed */
};

static struct pair owed[MAX_OWED];
static unsigned owed_next;
static pthread_mutex_t owed_lock = PTHREAD_MUTEX_INITIALIZER;

static void done(struct pair *pair)
{
	for (int i = 0; i < 2; i++) {
		sb_auto_close(&pair->ends[i]);
	}
}

static void keep(const struct pair *pair)
{
	struct pair *place;

	SB_AUTO_LOCK(&owed_lock);
	place = &owed[owed_next++ % MAX_OWED];
	if (place->thread)
		done(place);
	*place = *pair;
}

static bool take(const struct seccomp_notif *notification, struct pair *out)
{
	bool found = false;

	SB_AUTO_LOCK(&owed_lock);
	for (int i = 0; i < MAX_OWED && !found; i++) {
		found = owed[i].thread == (pid_t)notification->pid &&
			memcmp(owed[i].args, notification->data.args, sizeof owed[i].args) == 0;
		if (found) {
			*out = owed[i];
			owed[i].thread = 0;
		}
	}
	return found;
}

/* Does the caller have it still? */
static bool is_there(int proc, const struct pair *pair, int end)
{
	char name[SB_PROC_NAME];
	struct stat info;

	sb_proc_fd(name, pair->thread, pair->numbers[end]);
	return fstatat(proc, name, &info, 0) == 0 && info.st_ino == pair->inodes[end];
}

/* The numbers first: what was placed cannot be taken back.  0 or a negative errno. */
static int place(int listener, const struct seccomp_notif *notification, struct pair *pair)
{
	const __u64 *args = notification->data.args;
	int status = sb_sys_notify_alive(listener, notification->id)
			     ? sb_sys_write_memory(pair->thread, args[3], pair->numbers,
						   sizeof pair->numbers)
			     : -ENOENT;

	for (int i = 0; i < 2 && status == 0; i++) {
		if (pair->numbers[i] >= 0)
			continue;
		pair->numbers[i] = sb_sys_notify_place(listener, notification->id, pair->ends[i],
						       (int)args[1] & SOCK_CLOEXEC);
		if (pair->numbers[i] < 0) {
			status = pair->numbers[i];
			pair->numbers[i] = -1;
			break;
		}
		sb_auto_close(&pair->ends[i]);
	}
	return status == 0 ? sb_sys_write_memory(pair->thread, args[3], pair->numbers,
						 sizeof pair->numbers)
			   : status;
}

/* Place what is not there yet, and answer; or keep it for the next try. */
static void hand_over(int listener, const struct seccomp_notif *notification, struct pair *pair)
{
	int status = place(listener, notification, pair);
	bool heard = true;
	struct sb_call call;

	if (status == 0) {
		call.id = notification->id;
		call.thread = pair->thread;
		heard = sb_owed_say(listener, &call, 0);
	} else if (sb_sys_notify_fail(listener, notification->id,
				      status == -EPERM ? EACCES : -status) < 0) {
		heard = false; /* it cannot be written to is EPERM: as where no pair can be made */
	}
	if (sb_owed_interrupts() && !heard && pair->numbers[0] >= 0)
		keep(pair);
	else
		done(pair);
}

/*
 * SECURITY: of a pair for datagrams the caller gets one that cannot be addressed.
 *
 * Danger: from either end of a datagram pair a message can be sent to any path, without connect().
 * A SEQPACKET pair keeps messages apart just so, and the kernel takes no notice of an address there.
 * The two numbers go where the kernel would have written them.  The call is held meanwhile; should
 * its thread be gone and the number another's, that is one of the run's own: a Landlock domain
 * writes to no memory outside itself, and without one the performer's filter refuses it.
 * Price: an end that was closed is noticed by the other (0 bytes, EPIPE); SO_TYPE says SEQPACKET.  In
 * a table with room for one descriptor that one is lost.
 * Held by: tests/enforce/sockets.py ("pair"), tests/supervise/everyday.py
 */
void sb_broker_make_pair(struct sb_broker *broker, const struct seccomp_notif *notification)
{
	const __u64 *args = notification->data.args;
	int listener = broker->performer->listener, type = (int)args[1];
	struct pair pair;
	struct stat info;

	if ((type & SOCKET_TYPES) != SOCK_DGRAM && (type & SOCKET_TYPES) != SOCK_RAW) {
		sb_sys_notify_fail(listener, notification->id, ESOCKTNOSUPPORT);
		return;
	}
	if (sb_owed_interrupts() && take(notification, &pair)) {
		if (is_there(broker->performer->proc, &pair, 0) &&
		    (pair.numbers[1] < 0 || is_there(broker->performer->proc, &pair, 1))) {
			hand_over(listener, notification, &pair);
			return;
		}
		done(&pair); /* closed meanwhile, by somebody who closes everything */
	}
	pair = (struct pair){.thread = (pid_t)notification->pid, .numbers = {-1, -1}};
	memcpy(pair.args, args, sizeof pair.args);
	if (socketpair((int)args[0], (type & ~SOCKET_TYPES) | SOCK_SEQPACKET | SOCK_CLOEXEC,
		       (int)args[2], pair.ends) != 0) {
		sb_sys_notify_fail(listener, notification->id, errno);
		return;
	}
	for (int i = 0; i < 2; i++)
		pair.inodes[i] = fstat(pair.ends[i], &info) == 0 ? info.st_ino : 0;
	hand_over(listener, notification, &pair);
}
