/*
 * act.h - what the files of act share: words as numbers, and how an act is written.
 *
 * An act is a function of its arguments that returns 0, or -1 with errno set.
 */
#ifndef TEST_ACT_H
#define TEST_ACT_H

#include <sys/un.h>

/* Numbers that Debian 12's headers may lack; the same on every architecture. */
#define NR_PIDFD_SEND_SIGNAL 424
#define NR_IO_URING_SETUP 425
#define NR_IO_URING_ENTER 426
#define NR_OPEN_TREE 428
#define NR_MOVE_MOUNT 429
#define NR_FSOPEN 430
#define NR_FSCONFIG 431
#define NR_FSMOUNT 432
#define NR_FSPICK 433
#define NR_PIDFD_OPEN 434
#define NR_CLONE3 435
#define NR_OPENAT2 437
#define NR_PIDFD_GETFD 438
#define NR_PROCESS_MADVISE 440
#define NR_MOUNT_SETATTR 442
#define NR_QUOTACTL_FD 443
#define NR_LANDLOCK_CREATE_RULESET 444
#define NR_LANDLOCK_ADD_RULE 445
#define NR_LANDLOCK_RESTRICT_SELF 446
#define NR_FCHMODAT2 452
#define NR_SETXATTRAT 463
#define NR_REMOVEXATTRAT 466
#define NR_OPEN_TREE_ATTR 467
#define NR_FILE_SETATTR 469

struct act {
	const char *name; /* NULL ends a table */
	int arguments;
	int (*run)(char **arguments);
};

extern const struct act file_acts[], metadata_acts[], door_acts[], process_acts[], network_acts[],
	kernel_acts[], ioctl_acts[];

struct name {
	const char *name;
	unsigned long value;
};

/* A mistake of the test: says so and exits with 2. */
void die(const char *what);

unsigned long look_up(const struct name *names, const char *word, const char *what);
/* Words joined by '+' to the bits they stand for. */
unsigned long bits(const struct name *names, const char *words, const char *what);
long number(const char *word);
/* Descriptor of a file argument: N of "fd:N", else the path opened with flags. */
int file(const char *path, int flags);
int put(int fd);
/* What an open gave: a byte goes there if it was for writing. */
int put_if_writable(long fd, int flags);
/* The syscall() results of calls that answer 0. */
int zero(long result);
int unix_address(struct sockaddr_un *to, const char *path);

#endif
