/*
 * fact.h - what the programs of tests/facts share.
 *
 * Each program checks one behaviour of the running kernel that the sandbox leans
 * on, so that a kernel where it is otherwise shows here and not in a user's run.
 * It prints TAP:
 *
 *     int main(void)
 *     {
 *             need_landlock(3);                        probe; skip with the reason
 *             fact_dir();                              cd into a fresh directory
 *             expect(attempt(truncate_it), EACCES, "truncate is refused");
 *             return fact_done();
 *     }
 *
 * Restrictions cannot be lifted and mounts must not stay, so every act runs in a
 * child: attempt() forks, runs a function and returns what it returned: 0, an errno,
 * or one of the values below when the surroundings could not be made.  A function
 * that fails to make them says so with `return broken("what")`.
 *
 * Only for programs of one file; everything is static.
 */
#ifndef FACT_H
#define FACT_H

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNUSED __attribute__((unused))

/* Debian 12's headers stop at Landlock ABI 2 and lack some call numbers. */
#define NR_LANDLOCK_CREATE_RULESET 444
#define NR_LANDLOCK_ADD_RULE 445
#define NR_LANDLOCK_RESTRICT_SELF 446
#define NR_OPEN_TREE 428
#define NR_MOVE_MOUNT 429
#define NR_MOUNT_SETATTR 442

#define LL_WRITE_FILE (1ull << 1)
#define LL_MAKE_REG (1ull << 8)
#define LL_REFER (1ull << 13)
#define LL_TRUNCATE (1ull << 14)
#define LL_WRITES_ABI1 (0x1fffull & ~(1ull | 1ull << 2 | 1ull << 3)) /* all but exec and reads */
#define LL_SCOPE_ABSTRACT_UNIX 1ull
#define LL_SCOPE_SIGNAL 2ull

struct ll_ruleset {
	uint64_t fs, net, scoped;
};

struct ll_path {
	uint64_t access;
	int32_t fd;
} __attribute__((packed));

#ifndef OPEN_TREE_CLONE
#define OPEN_TREE_CLONE 1
#endif
#define FACT_AT_RECURSIVE 0x8000
#define FACT_MOVE_F_EMPTY_PATH 4
#define FACT_ATTR_RDONLY 1ull

struct fact_mount_attr {
	uint64_t set, clear, propagation, userns_fd;
};

enum { /* beside errno values; a wait status holds 8 bits */
       FACT_BROKEN = 254,
       FACT_DIED = 255,
};

static unsigned fact_count, fact_failures;
static char fact_path[64]; /* the fresh directory, removed at the end */
static pid_t fact_main;

/* --- TAP --------------------------------------------------------------------------- */

UNUSED static const char *fact_name(int result)
{
	if (result == 0)
		return "success";
	if (result == FACT_BROKEN)
		return "broken surroundings";
	if (result == FACT_DIED)
		return "death";
	return strerrorname_np(result) ? strerrorname_np(result) : "?";
}

UNUSED __attribute__((format(printf, 2, 3))) static void check(bool good, const char *format, ...)
{
	va_list args;

	if (!good)
		fact_failures++;
	printf("%sok %u - ", good ? "" : "not ", ++fact_count);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
}

UNUSED static void expect(int got, int want, const char *what)
{
	check(got == want, "%s", what);
	if (got != want)
		printf("#   got %s, want %s\n", fact_name(got), fact_name(want));
}

UNUSED __attribute__((format(printf, 1, 2), noreturn)) static void skip_all(const char *format, ...)
{
	va_list args;

	printf("1..0 # SKIP ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	exit(0);
}

UNUSED static int broken(const char *what)
{
	printf("#   cannot set up: %s: %s\n", what, strerror(errno));
	return FACT_BROKEN;
}

UNUSED static int fact_done(void)
{
	printf("1..%u\n", fact_count);
	return fact_failures ? 1 : 0;
}

/* --- children ---------------------------------------------------------------------- */

UNUSED static int reap(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return FACT_DIED;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : FACT_DIED;
}

UNUSED static int attempt(int (*act)(void))
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		return FACT_DIED;
	if (pid == 0) {
		int result = act();

		fflush(stdout);
		_exit(result);
	}
	return reap(pid);
}

/* --- a place to work ---------------------------------------------------------------- */

UNUSED static void remove_dir(void)
{
	char command[128];

	if (getpid() != fact_main || !fact_path[0] || chdir("/") < 0)
		return;
	snprintf(command, sizeof command, "rm -rf '%s'", fact_path);
	if (system(command) != 0) /* NOLINT(cert-env33-c): our own fixed text */
		fprintf(stderr, "fact: %s is left behind\n", fact_path);
}

/* Make a fresh directory away from /tmp and go there; relative names are in it. */
UNUSED static void fact_dir(void)
{
	const char *base = getenv("SANDBASH_TEST_BASE");

	fact_main = getpid();
	if (!base || strlen(base) > 40)
		base = "/var/tmp";
	snprintf(fact_path, sizeof fact_path, "%s/fact-XXXXXX", base);
	if (!mkdtemp(fact_path) || chdir(fact_path) < 0) {
		printf("Bail out! cannot make %s: %s\n", fact_path, strerror(errno));
		exit(1);
	}
	atexit(remove_dir);
}

UNUSED static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	int result = 0;

	if (fd < 0)
		return errno;
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		result = errno;
	close(fd);
	return result;
}

/* What can be read at path now, cut to a line's length. */
UNUSED static const char *read_text(const char *path)
{
	static char text[64];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	if (fd >= 0)
		close(fd);
	text[length < 0 ? 0 : length] = '\0';
	return text;
}

/* --- Landlock ------------------------------------------------------------------------ */

UNUSED static int landlock_abi(void)
{
	return (int)syscall(NR_LANDLOCK_CREATE_RULESET, NULL, 0, 1u);
}

UNUSED static void need_landlock(int abi)
{
	int have = landlock_abi();

	if (have < 0)
		skip_all("no Landlock here: %s", strerror(errno));
	if (have < abi)
		skip_all("Landlock ABI %d here, %d needed", have, abi);
}

/*
 * Put this process under a domain that handles fs and scoped, with fs allowed
 * beneath each of the NULL-terminated paths.  0 or an errno.
 */
UNUSED static int landlock(uint64_t fs, uint64_t scoped, const char *const *allowed)
{
	struct ll_ruleset attr = {.fs = fs, .scoped = scoped};
	size_t size = scoped ? sizeof attr : sizeof attr.fs; /* what an old kernel knows too */
	int ruleset = (int)syscall(NR_LANDLOCK_CREATE_RULESET, &attr, size, 0u);
	int result = 0;

	if (ruleset < 0)
		return errno;
	for (; allowed && *allowed && !result; allowed++) {
		struct ll_path rule = {.access = fs, .fd = open(*allowed, O_PATH | O_CLOEXEC)};

		if (rule.fd < 0 || syscall(NR_LANDLOCK_ADD_RULE, ruleset, 1, &rule, 0u) < 0)
			result = errno;
		if (rule.fd >= 0)
			close(rule.fd);
	}
	if (!result && (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
			syscall(NR_LANDLOCK_RESTRICT_SELF, ruleset, 0u) < 0))
		result = errno;
	close(ruleset);
	return result;
}

/* --- namespaces ---------------------------------------------------------------------- */

UNUSED static int map_ids(uid_t inside_uid, uid_t uid, gid_t inside_gid, gid_t gid)
{
	char line[64];
	int result = write_text("/proc/self/setgroups", "deny");

	if (result)
		return result;
	snprintf(line, sizeof line, "%u %u 1", inside_uid, uid);
	result = write_text("/proc/self/uid_map", line);
	if (result)
		return result;
	snprintf(line, sizeof line, "%u %u 1", inside_gid, gid);
	return write_text("/proc/self/gid_map", line);
}

/*
 * Move this process into new namespaces, always with a user namespace, its ids
 * mapped to themselves; 0 or an errno.  Nothing may be mounted when this fails:
 * as root it would be mounted on the machine itself.
 */
UNUSED static int enter_namespaces(int flags)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int result;

	if (unshare(CLONE_NEWUSER | flags) < 0)
		return errno;
	result = map_ids(uid, uid, gid, gid);
	if (!result && (flags & CLONE_NEWNS) &&
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		result = errno;
	return result;
}

UNUSED static int probe_mount(void)
{
	int result = enter_namespaces(CLONE_NEWNS);

	if (!result && mount("none", "/dev/shm", "tmpfs", 0, NULL) < 0)
		result = errno;
	return result;
}

/* Namespaces in which something can really be mounted. */
UNUSED static void need_mounts(void)
{
	int result = attempt(probe_mount);

	if (result)
		skip_all("cannot mount in a user namespace here: %s", strerror(result));
}

UNUSED static int mount_setattr_at(int fd, const char *path, unsigned flags, uint64_t set,
				   uint64_t clear)
{
	struct fact_mount_attr attr = {.set = set, .clear = clear};

	return syscall(NR_MOUNT_SETATTR, fd, path, flags, &attr, sizeof attr) < 0 ? errno : 0;
}

/* Everything read-only, as the sandbox does it first. */
UNUSED static int all_read_only(void)
{
	return mount_setattr_at(AT_FDCWD, "/", FACT_AT_RECURSIVE, FACT_ATTR_RDONLY, 0);
}

/* Bind path onto itself, read-only or not. */
UNUSED static int bind_self(const char *path, bool read_only)
{
	if (mount(path, path, NULL, MS_BIND, NULL) < 0)
		return errno;
	return mount_setattr_at(AT_FDCWD, path, 0, read_only ? FACT_ATTR_RDONLY : 0,
				read_only ? 0 : FACT_ATTR_RDONLY);
}

#endif
