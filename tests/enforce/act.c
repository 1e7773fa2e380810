/*
 * act.c - what an attacker would try, one system call at a time.
 *
 *     act NAME ARGUMENT...        do it; exit 0: it worked, 1: refused (errno name on stderr)
 *     act answer CALL=ERROR[,CALL=ERROR...] -- CMD ARGS...
 *                                 run CMD on a machine where CALL answers ERROR; "0" is a
 *                                 lie: the call claims success and does nothing
 *
 * A shell or Python would do some of these in another way than the one under test (libc
 * picks the call, falls back, retries), so each act names its system call.  Where an
 * argument is a file, "fd:N" stands for descriptor N, which the act inherited.
 *
 * Other exit statuses: 2 usage, 3 the act worked but its effect was not seen, and the
 * signal's when the kernel killed it.  Built as build/tests/act; plain libc.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "act.h"

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#error "tell act.c the audit architecture of this machine"
#endif

void die(const char *what)
{
	fprintf(stderr, "act: %s: %s\n", what, strerror(errno));
	exit(2);
}

unsigned long look_up(const struct name *names, const char *word, const char *what)
{
	for (; names->name; names++) {
		if (strcmp(names->name, word) == 0)
			return names->value;
	}
	fprintf(stderr, "act: no such %s: '%s'\n", what, word);
	exit(2);
}

unsigned long bits(const struct name *names, const char *words, const char *what)
{
	char copy[256], *rest = copy, *word;
	unsigned long all = 0;

	snprintf(copy, sizeof copy, "%s", words);
	while ((word = strsep(&rest, "+")))
		all |= look_up(names, word, what);
	return all;
}

long number(const char *word)
{
	char *end;
	long value = strtol(word, &end, 0);

	if (*end || end == word) {
		fprintf(stderr, "act: not a number: '%s'\n", word);
		exit(2);
	}
	return value;
}

int file(const char *path, int flags)
{
	if (strncmp(path, "fd:", 3) == 0)
		return (int)number(path + 3);
	return open(path, flags | O_CLOEXEC);
}

int put(int fd)
{
	return write(fd, "X", 1) == 1 ? 0 : -1;
}

int zero(long result)
{
	return result < 0 ? -1 : 0;
}

/* --- a machine that answers wrongly ------------------------------------------------------ */

static const struct name calls[] = {
	{"unshare", SYS_unshare},
	{"clone", SYS_clone},
	{"clone3", NR_CLONE3},
	{"mount", SYS_mount},
	{"umount2", SYS_umount2},
	{"open_tree", NR_OPEN_TREE},
	{"move_mount", NR_MOVE_MOUNT},
	{"fsopen", NR_FSOPEN},
	{"fsconfig", NR_FSCONFIG},
	{"fsmount", NR_FSMOUNT},
	{"mount_setattr", NR_MOUNT_SETATTR},
	{"landlock_create_ruleset", NR_LANDLOCK_CREATE_RULESET},
	{"landlock_add_rule", NR_LANDLOCK_ADD_RULE},
	{"landlock_restrict_self", NR_LANDLOCK_RESTRICT_SELF},
	{"seccomp", SYS_seccomp},
	{"capset", SYS_capset},
	{"capget", SYS_capget},
	{"prctl", SYS_prctl},
	{"close_range", SYS_close_range},
	{"openat2", NR_OPENAT2},
	{"setgroups", SYS_setgroups},
	{"chdir", SYS_chdir},
	{"fchdir", SYS_fchdir},
	{"getcwd", SYS_getcwd},
	{"readlinkat", SYS_readlinkat},
	{"statx", SYS_statx},
	{"getdents64", SYS_getdents64},
	{"fcntl", SYS_fcntl},
	{NULL, 0},
};

static int answer(int argc, char **argv)
{
	static struct sock_filter filter[256];
	unsigned short length = 0;
	struct sock_fprog program = {.filter = filter};
	char *rest = argv[0], *word;

#define ADD(...) (filter[length++] = (struct sock_filter){__VA_ARGS__})
	if (argc < 3 || strcmp(argv[1], "--") != 0) {
		fprintf(stderr, "usage: act answer CALL=ERROR[,...] -- CMD ARGS...\n");
		return 2;
	}
	ADD(BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, arch));
	ADD(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, NATIVE_ARCH);
	ADD(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
	ADD(BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr));
	while ((word = strsep(&rest, ",")) && length < 240) {
		char *error = strchr(word, '=');
		unsigned value = 0;

		if (!error)
			die(word);
		*error++ = '\0';
		while (value < 134 && strcmp(error, "0") != 0 &&
		       strcmp(error, value ? (strerrorname_np((int)value) ?: "") : "") != 0)
			value++;
		if (value == 134)
			die(error);
		ADD(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (uint32_t)look_up(calls, word, "call"));
		ADD(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | value);
	}
	ADD(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
#undef ADD
	program.len = length;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		die("filter");
	execvp(argv[2], argv + 2);
	die(argv[2]);
	return 127;
}

static const struct act *const tables[] = {file_acts,    metadata_acts, door_acts, process_acts,
					   network_acts, kernel_acts,   ioctl_acts};

static const struct act *find(const char *name)
{
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		for (const struct act *act = tables[i]; act->name; act++)
			if (strcmp(act->name, name) == 0)
				return act;
	return NULL;
}

int main(int argc, char **argv)
{
	const struct act *act = argc > 1 ? find(argv[1]) : NULL;

	if (argc > 2 && strcmp(argv[1], "answer") == 0)
		return answer(argc - 2, argv + 2);
	if (!act || argc - 2 != act->arguments) {
		fprintf(stderr, "usage: act NAME ARGUMENT...\n");
		return 2;
	}
	if (act->run(argv + 2) == 0)
		return 0;
	fprintf(stderr, "%s\n", strerrorname_np(errno));
	return 1;
}
