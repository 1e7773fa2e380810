#include "supervise/sysv.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/syscall.h>

#include "supervise/performer.h"
#include "sys/notify.h"
#include "sys/share.h"

enum kind { MEMORY, SEMAPHORES, QUEUE };

struct object {
	enum kind kind;
	int id;
	int key; /* of the run's; IPC_PRIVATE: none leads to it */
};

/* A run that leaves more than this behind has forgotten them. */
#define MAX_OBJECTS 1024
/*
 * SECURITY: a number means nobody else's object while the run remembers it.
 *
 * Danger: the kernel gives the number of a removed object again after some four million others (64 places, each
 * with a 16-bit count: ipc/util.c); a run that made so many could wait for a stranger to get one of its own.
 * Price: a run can make a million.
 * Held by: nothing; it takes minutes.
 */
#define MAX_MADE 1000000

/* Of all processes of the supervisor; only the performer writes. */
struct list {
	size_t count;
	struct object objects[MAX_OBJECTS];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct list *list;
static size_t made;

struct state {
	unsigned mode;
	size_t size; /* bytes, semaphores, or 0 */
};

/* False: it is gone, though nobody of the run removed it here (or detached memory that was). */
static bool look(const struct object *object, struct state *out)
{
	struct shmid_ds memory = {0};
	struct semid_ds semaphores = {0};
	struct msqid_ds queue = {0};
	int done = object->kind == MEMORY       ? shmctl(object->id, IPC_STAT, &memory)
		   : object->kind == SEMAPHORES ? semctl(object->id, 0, IPC_STAT, &semaphores)
						: msgctl(object->id, IPC_STAT, &queue);

	if (done != 0) /* one that its owner may not read is there */
		*out = (struct state){0, SIZE_MAX};
	else if (object->kind == MEMORY)
		*out = (struct state){memory.shm_perm.mode, memory.shm_segsz};
	else if (object->kind == SEMAPHORES)
		*out = (struct state){semaphores.sem_perm.mode, semaphores.sem_nsems};
	else
		*out = (struct state){queue.msg_perm.mode, 0};
	return done == 0 || errno == EACCES;
}

static void forget(struct object *object)
{
	*object = list->objects[list->count -
				1]; /* killed between the two, twice is better than never */
	list->count--;
}

static void forget_gone(void)
{
	struct state state;

	for (size_t i = list->count; i-- > 0;)
		if (!look(&list->objects[i], &state))
			forget(&list->objects[i]);
}

static struct object *find_key(enum kind kind, int key)
{
	for (size_t i = 0; i < list->count && key != IPC_PRIVATE; i++)
		if (list->objects[i].kind == kind && list->objects[i].key == key)
			return &list->objects[i];
	return NULL;
}

static struct object *find_id(enum kind kind, int id)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->objects[i].kind == kind && list->objects[i].id == id)
			return &list->objects[i];
	return NULL;
}

static long remove_object(const struct object *object)
{
	int done = object->kind == MEMORY       ? shmctl(object->id, IPC_RMID, NULL)
		   : object->kind == SEMAPHORES ? semctl(object->id, 0, IPC_RMID)
						: msgctl(object->id, IPC_RMID, NULL);

	return done != 0 ? -errno : 0;
}

bool sb_sysv_begin(void)
{
	list = sb_sys_share(sizeof *list);
	return list != NULL;
}

void sb_sysv_end(void)
{
	for (; list->count; list->count--)
		remove_object(&list->objects[list->count - 1]);
}

/* A number, or a negative errno.  size: of memory in bytes, of semaphores how many. */
static long make(enum kind kind, int key, size_t size, int flags)
{
	int id;

	if (list->count == MAX_OBJECTS)
		forget_gone();
	if (list->count == MAX_OBJECTS || made == MAX_MADE)
		return -ENOSPC;
	id = kind == MEMORY       ? shmget(IPC_PRIVATE, size, flags)
	     : kind == SEMAPHORES ? semget(IPC_PRIVATE, (int)size, flags)
				  : msgget(IPC_PRIVATE, flags);
	if (id < 0)
		return -errno;
	made++;
	list->objects[list->count] = (struct object){kind, id, key};
	list->count++;
	return id;
}

/* shmget(2), semget(2), msgget(2). */
static long get(enum kind kind, int key, size_t size, int flags)
{
	struct object *old = find_key(kind, key);
	unsigned wanted = (unsigned)(flags >> 6 | flags >> 3 | flags) & 7;
	struct state state;

	if (old && !look(old, &state)) {
		forget(old);
		old = NULL;
	}
	if (!old)
		return key == IPC_PRIVATE || (flags & IPC_CREAT) ? make(kind, key, size, flags)
								 : -ENOENT;
	if ((flags & IPC_CREAT) && (flags & IPC_EXCL))
		return -EEXIST;
	if (wanted & ~(state.mode >> 6)) /* it is the caller's own */
		return -EACCES;
	return size > state.size && kind != QUEUE ? -EINVAL : old->id;
}

/* 0: the kernel shall do it; or a negative errno. */
static long use(enum kind kind, int id)
{
	return find_id(kind, id) ? 0 : -EINVAL;
}

/* Commands that mean no object, by kind: limits of the machine, and objects by their place in a table. */
static const struct {
	int info, by_place, by_place_any;
} others[] = {
	[MEMORY] = {SHM_INFO, SHM_STAT, 15},
	[SEMAPHORES] = {SEM_INFO, SEM_STAT, 20},
	[QUEUE] = {MSG_INFO, MSG_STAT, 13},
};

static long control(enum kind kind, int id, int command, bool *out_through)
{
	struct object *object = find_id(kind, id);
	long result;

	if (command == IPC_INFO || command == others[kind].info)
		return 0;
	if (!object || command == others[kind].by_place || command == others[kind].by_place_any)
		return -EINVAL;
	if (command != IPC_RMID)
		return 0;
	/* done here: a call that a signal interrupts before it is let through would leave it there */
	*out_through = false;
	result = remove_object(object);
	if (kind == MEMORY) /* lives on until it is detached; its key leads there no more */
		object->key = IPC_PRIVATE;
	else
		forget(object);
	return result;
}

/* A number, 0 for what the kernel shall do, or a negative errno. */
static long serve(int number, const __u64 *args, bool *out_through)
{
	*out_through = true;
	switch (number) {
	case SYS_shmat:
		return use(MEMORY, (int)args[0]);
	case SYS_semop:
	case SYS_semtimedop:
		return use(SEMAPHORES, (int)args[0]);
	case SYS_msgsnd:
	case SYS_msgrcv:
		return use(QUEUE, (int)args[0]);
	case SYS_shmctl:
		return control(MEMORY, (int)args[0], (int)args[1], out_through);
	case SYS_semctl:
		return control(SEMAPHORES, (int)args[0], (int)args[2], out_through);
	case SYS_msgctl:
		return control(QUEUE, (int)args[0], (int)args[1], out_through);
	default:
		break;
	}
	*out_through = false;
	switch (number) {
	case SYS_shmget:
		return get(MEMORY, (int)args[0], args[1], (int)args[2]);
	case SYS_semget:
		if ((int)args[1] < 0)
			return -EINVAL;
		return get(SEMAPHORES, (int)args[0], (size_t)args[1] & 0x7fffffff, (int)args[2]);
	default:
		return get(QUEUE, (int)args[0], 0, (int)args[1]);
	}
}

static bool is_one(int number)
{
	static const int numbers[] = {SYS_shmget,     SYS_shmat,  SYS_shmctl, SYS_semget,
				      SYS_semop,      SYS_semctl, SYS_msgget, SYS_msgsnd,
				      SYS_semtimedop, SYS_msgrcv, SYS_msgctl};

	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
		if (numbers[i] == number)
			return true;
	return false;
}

/* The caller did not hear of what was made for it: dead, or (before Linux 5.19) it comes again. */
static void unmake(int number, int id)
{
	enum kind kind = number == SYS_shmget ? MEMORY : number == SYS_semget ? SEMAPHORES : QUEUE;
	struct object *object = find_id(kind, id);

	if (object) {
		remove_object(object);
		forget(object);
	}
}

bool sb_broker_sysv(const struct sb_broker *broker, const struct seccomp_notif *notification)
{
	int listener = broker->performer->listener, number = notification->data.nr;
	bool through;
	size_t before;
	long result;

	if (!is_one(number))
		return false;
	pthread_mutex_lock(&lock);
	before = made;
	result = serve(number, notification->data.args, &through);
	if (result < 0)
		sb_sys_notify_fail(listener, notification->id, (int)-result);
	else if (through)
		sb_sys_notify_continue(listener, notification->id);
	else if (sb_sys_notify_return(listener, notification->id, result) < 0 && made != before)
		unmake(number, (int)result);
	pthread_mutex_unlock(&lock);
	return true;
}
