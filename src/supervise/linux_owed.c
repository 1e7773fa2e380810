#include "supervise/owed.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/lock.h"
#include "supervise/acts.h"
#include "supervise/proc_name.h"
#include "supervise/thread.h"
#include "sys/notify.h"
#include "sys/share.h"

#define MAX_DEBTS 64  /* threads that are between two tries of a call; the oldest gives way */
#define MAX_SERVED 80 /* more threads do not serve: performer.c */
#define LOOKS 100     /* of 0.2 ms, until a signal that has come has ended the wait */

struct debt {
	pid_t thread; /* 0: none */
	enum sb_act act;
	int flags;
	mode_t mode;
	dev_t device; /* of mknod */
	uint64_t names;
	dev_t directory_device; /* where the name is or was */
	ino_t directory;
	struct stat thing; /* what has the name since; the socket; the file that was opened */
	int fd;            /* to be handed over; or keeps thing's number from being another's */
	bool give;         /* ... the former */
	int number;        /* the caller has it already; -1: the answer is 0 */
};

/* Whom the asker owes: for the performer, which would answer EEXIST before it asks. */
struct notice {
	pid_t thread;
	uint64_t names;
};

static struct {
	bool interrupts, asker;
	int proc;
	struct notice *notices; /* shared; at the places of the asker's debts, and what it is at */
	pthread_mutex_t lock;   /* of: */
	struct debt debts[MAX_DEBTS];
	unsigned next, count;
	pid_t served[MAX_SERVED]; /* whose calls threads are at */
	pthread_cond_t left;
} owed = {.proc = -1, .lock = PTHREAD_MUTEX_INITIALIZER, .left = PTHREAD_COND_INITIALIZER};

int sb_owed_begin(bool interrupts, int proc)
{
	owed.interrupts = interrupts;
	owed.proc = proc;
	if (!interrupts)
		return 0;
	owed.notices = sb_sys_share((MAX_DEBTS + 1) * sizeof *owed.notices);
	return owed.notices ? 0 : -ENOMEM;
}

bool sb_owed_interrupts(void)
{
	return owed.interrupts;
}

void sb_owed_is_asker(void)
{
	owed.asker = true;
}

/* --- telling one call from another -------------------------------------------------------- */

static uint64_t mix(uint64_t hash, const char *text)
{
	return sb_fnv(hash, text, strlen(text) + 1);
}

/* The last names, and what a link leads to: where they are, is compared by number.  Or the address. */
static uint64_t names_of(const struct sb_call *call, const struct sb_spot *file,
			 const struct sb_spot *target)
{
	uint64_t hash = SB_FNV + (uint64_t)call->act;

	if (call->act == SB_ACT_CONNECT || call->act == SB_ACT_BIND)
		return sb_fnv(hash, &call->address, call->address_length);
	if (file)
		hash = mix(hash, file->name);
	if (target)
		hash = mix(hash, target->name);
	return call->act == SB_ACT_SYMLINK ? mix(hash, call->text) : hash;
}

static bool is_same(const struct stat *one, const struct stat *other)
{
	return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

static bool look(const struct sb_spot *spot, struct stat *out)
{
	char name[NAME_MAX + 2];

	return fstatat(spot->directory, sb_spot_plain_name(spot, name), out, AT_SYMLINK_NOFOLLOW) ==
	       0;
}

static bool looks_at_call(const struct debt *debt, const struct sb_call *call)
{
	return debt->thread == call->thread && debt->act == call->act &&
	       debt->flags == call->flags && debt->mode == call->mode &&
	       debt->device == call->device;
}

/* Is it this call, and is what it did still so? */
static bool is_for(const struct debt *debt, const struct sb_call *call, const struct sb_spot *file,
		   const struct sb_spot *target)
{
	struct stat directory, info;

	if (!looks_at_call(debt, call))
		return false;
	if (call->act == SB_ACT_OPEN) {
		if (file->object >= 0)
			info = file->info;
		else if (!look(file, &info))
			return false;
		return is_same(&info, &debt->thing);
	}
	if (debt->names != names_of(call, file, target) ||
	    fstat(file->directory, &directory) != 0 || directory.st_ino != debt->directory ||
	    directory.st_dev != debt->directory_device)
		return false;
	switch (call->act) {
	case SB_ACT_UNLINK:
	case SB_ACT_RMDIR:
		return !look(file, &info);
	case SB_ACT_RENAME:
		return ((call->flags & RENAME_EXCHANGE) || !look(file, &info)) &&
		       look(target, &info) && is_same(&info, &debt->thing);
	case SB_ACT_LINK:
		return look(target, &info) && is_same(&info, &debt->thing);
	default:
		return look(file, &info) && is_same(&info, &debt->thing);
	}
}

/* --- the table ------------------------------------------------------------------------------ */

static void notice(ptrdiff_t place, pid_t thread, uint64_t names)
{
	if (!owed.asker || !owed.notices)
		return;
	__atomic_store_n(&owed.notices[place].names, names, __ATOMIC_RELAXED);
	__atomic_store_n(&owed.notices[place].thread, thread, __ATOMIC_SEQ_CST);
}

/* Under the lock. */
static void forget(struct debt *debt)
{
	if (debt->thread && debt->fd >= 0)
		close(debt->fd);
	if (debt->thread)
		__atomic_fetch_sub(&owed.count, 1, __ATOMIC_RELEASE);
	debt->thread = 0;
	notice(debt - owed.debts, 0, 0);
}

static void keep(const struct debt *new)
{
	struct debt *debt;

	SB_AUTO_LOCK(&owed.lock);
	debt = &owed.debts[owed.next++ % MAX_DEBTS];
	forget(debt);
	*debt = *new;
	__atomic_fetch_add(&owed.count, 1, __ATOMIC_RELEASE);
	notice(debt - owed.debts, debt->thread, debt->names);
}

static struct debt debt_of(const struct sb_call *call)
{
	return (struct debt){.thread = call->thread,
			     .act = call->act,
			     .flags = call->flags,
			     .mode = call->mode,
			     .device = call->device,
			     .fd = -1,
			     .number = -1};
}

/* What others than these do twice comes to the same. */
static bool counts(enum sb_act act)
{
	return sb_act_has(act, SB_TRAIT_NAMES | SB_TRAIT_REMOVES) && act != SB_ACT_BIND;
}

static void keep_done(const struct sb_call *call, const struct sb_spot *file,
		      const struct sb_spot *target)
{
	bool two = sb_call_is_two(call);
	const struct sb_spot *made = two ? target : file;
	struct debt debt = debt_of(call);
	struct stat directory;

	if (!counts(call->act) || !made || fstat(file->directory, &directory) != 0)
		return;
	debt.names = names_of(call, file, two ? target : NULL);
	debt.directory = directory.st_ino;
	debt.directory_device = directory.st_dev;
	if (!sb_act_has(call->act, SB_TRAIT_REMOVES)) {
		char name[NAME_MAX + 2];

		debt.fd = openat(made->directory, sb_spot_plain_name(made, name),
				 O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (debt.fd < 0 || fstat(debt.fd, &debt.thing) != 0) {
			if (debt.fd >= 0)
				close(debt.fd);
			return; /* gone already: then it is done anew */
		}
	}
	keep(&debt);
}

/* --- one after the other --------------------------------------------------------------------- */

static pid_t *find_served(pid_t caller)
{
	for (size_t i = 0; i < MAX_SERVED; i++)
		if (owed.served[i] == caller)
			return &owed.served[i];
	return NULL;
}

void sb_owed_enter(pid_t caller)
{
	pid_t *place;

	if (!owed.interrupts)
		return;
	SB_AUTO_LOCK(&owed.lock);
	while (find_served(caller))
		pthread_cond_wait(&owed.left, &owed.lock);
	place = find_served(0);
	if (place)
		*place = caller;
}

void sb_owed_leave(pid_t caller)
{
	pid_t *place;

	if (!owed.interrupts)
		return;
	SB_AUTO_LOCK(&owed.lock);
	place = find_served(caller);
	if (place)
		*place = 0;
	pthread_cond_broadcast(&owed.left);
}

void sb_owed_begins(const struct sb_call *call, const struct sb_spot *file,
		    const struct sb_spot *target)
{
	if (owed.interrupts)
		notice(MAX_DEBTS, call->thread, names_of(call, file, target));
}

void sb_owed_ends(void)
{
	notice(MAX_DEBTS, 0, 0);
}

/* --- answers ---------------------------------------------------------------------------------- */

/*
 * The kernel takes an answer also when a signal has ended the wait already and the caller is on its
 * way out, without a word.  That moment is short, but for a signal that has come before; so those
 * are waited for.  One for the whole process may be another thread's.
 */
static bool waits(int listener, const struct sb_call *call)
{
	const struct timespec pause = {0, 200000};

	for (int i = 0; i < LOOKS && sb_thread_has_signal(owed.proc, call->thread); i++) {
		if (!sb_sys_notify_alive(listener, call->id))
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

bool sb_owed_say(int listener, const struct sb_call *call, long value)
{
	if (!owed.interrupts) {
		sb_sys_notify_return(listener, call->id, value);
		return true;
	}
	return waits(listener, call) && sb_sys_notify_return(listener, call->id, value) >= 0;
}

void sb_owed_return(int listener, const struct sb_call *call, const struct sb_spot *file,
		    const struct sb_spot *target)
{
	if (!owed.interrupts || !counts(call->act))
		sb_sys_notify_return(listener, call->id, 0);
	else if (!sb_owed_say(listener, call, 0))
		keep_done(call, file, target);
}

void sb_owed_return_socket(int listener, const struct sb_call *call, int socket)
{
	struct debt debt = debt_of(call);

	debt.names = names_of(call, NULL, NULL);
	if (!sb_owed_say(listener, call, 0) && fstat(socket, &debt.thing) == 0)
		keep(&debt);
}

void sb_owed_keep(const struct sb_call *call, const struct sb_spot *file, int fd)
{
	struct debt debt = debt_of(call);

	debt.names = names_of(call, file, NULL);
	debt.fd = fd;
	debt.give = true;
	if (fstat(fd, &debt.thing) == 0)
		keep(&debt);
	else
		close(fd);
}

static bool look_at_number(const struct sb_call *call, int number, struct stat *out)
{
	char name[SB_PROC_NAME];

	sb_proc_fd(name, call->thread, number);
	return fstatat(owed.proc, name, out, 0) == 0;
}

void sb_owed_keep_number(const struct sb_call *call, const struct sb_spot *file, int number)
{
	struct debt debt = debt_of(call);

	debt.names = names_of(call, file, NULL);
	debt.number = number;
	if (look_at_number(call, number, &debt.thing))
		keep(&debt);
}

/* Take it out of the table, and over. */
static bool take(const struct sb_call *call, const struct sb_spot *file,
		 const struct sb_spot *target, const struct stat *socket, struct debt *out)
{
	bool found = false;

	SB_AUTO_LOCK(&owed.lock);
	for (unsigned i = 0; i < MAX_DEBTS && !found; i++) {
		struct debt *debt = &owed.debts[i];

		found = socket ? looks_at_call(debt, call) && is_same(socket, &debt->thing) &&
					 debt->names == names_of(call, NULL, NULL)
			       : is_for(debt, call, file, target);
		if (found) {
			*out = *debt;
			debt->fd = -1;
			forget(debt);
		}
	}
	return found;
}

static void pay_open(int listener, const struct sb_call *call, struct debt *debt)
{
	struct stat info;

	if (!debt->give) {
		/* closed meanwhile, by somebody who closes everything: there is nothing to lose */
		if (!look_at_number(call, debt->number, &info) || !is_same(&info, &debt->thing))
			sb_sys_notify_fail(listener, call->id, EINTR);
		else if (!sb_owed_say(listener, call, debt->number))
			keep(debt);
		return;
	}
	if (sb_sys_notify_give(listener, call->id, debt->fd, call->flags & O_CLOEXEC) >= 0)
		close(debt->fd);
	else if (sb_sys_notify_fail(listener, call->id, EMFILE) < 0)
		keep(debt);
	else
		close(debt->fd);
}

bool sb_owed_pays(int listener, const struct sb_call *call, const struct sb_spot *file,
		  const struct sb_spot *target)
{
	struct debt debt;

	if (!owed.interrupts || !__atomic_load_n(&owed.count, __ATOMIC_ACQUIRE) ||
	    !(counts(call->act) || call->act == SB_ACT_OPEN) ||
	    !take(call, file, target, NULL, &debt))
		return false;
	if (call->act == SB_ACT_OPEN)
		pay_open(listener, call, &debt);
	else if (!sb_owed_say(listener, call, 0))
		keep(&debt);
	else if (debt.fd >= 0)
		close(debt.fd);
	return true;
}

bool sb_owed_pays_socket(int listener, const struct sb_call *call)
{
	struct debt debt;
	struct stat socket;

	if (!owed.interrupts || !__atomic_load_n(&owed.count, __ATOMIC_ACQUIRE) ||
	    !look_at_number(call, call->socket, &socket) || !take(call, NULL, NULL, &socket, &debt))
		return false;
	if (!sb_owed_say(listener, call, 0))
		keep(&debt);
	return true;
}

bool sb_owed_by_asker(const struct sb_call *call, const struct sb_spot *file,
		      const struct sb_spot *target)
{
	uint64_t names = 0;

	for (unsigned i = 0; owed.notices && i <= MAX_DEBTS; i++) {
		if (__atomic_load_n(&owed.notices[i].thread, __ATOMIC_ACQUIRE) != call->thread)
			continue;
		if (!names)
			names = names_of(call, file, target);
		if (__atomic_load_n(&owed.notices[i].names, __ATOMIC_RELAXED) == names)
			return true;
	}
	return false;
}
