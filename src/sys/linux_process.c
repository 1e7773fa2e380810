#include "sys/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/beneath.h"

#define NO_LINKS (RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS)

static int result(long value)
{
	return value < 0 ? -errno : (int)value;
}

/*
 * The same name by name, for where openat2() is refused (a root's own filter in a nested
 * run, older container profiles).
 */
static int open_path_stepwise(const char *path)
{
	int dir = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	char name[NAME_MAX + 1];

	while (dir >= 0) {
		size_t length;
		struct stat info;
		int next;

		path += strspn(path, "/");
		length = strcspn(path, "/");
		if (length == 0)
			return dir;
		if (length > NAME_MAX) {
			close(dir);
			return -ENAMETOOLONG;
		}
		memcpy(name, path, length);
		name[length] = '\0';
		path += length;
		next = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		close(dir);
		if (next < 0)
			return -errno;
		/* a link in the last place is given back as itself, as openat2() does */
		if (path[strspn(path, "/")] && (fstat(next, &info) != 0 || S_ISLNK(info.st_mode))) {
			close(next);
			return -ELOOP;
		}
		dir = next;
	}
	return -errno;
}

int sb_sys_open_path(const char *path)
{
	int fd = sb_sys_openat2(AT_FDCWD, path, O_PATH | O_NOFOLLOW, NO_LINKS);

	return fd == -ENOSYS ? open_path_stepwise(path) : fd;
}

bool sb_sys_is_plain_path(const char *path)
{
	/* no O_NOFOLLOW: a link in the last place fails, too */
	int fd = sb_sys_openat2(AT_FDCWD, path, O_PATH, NO_LINKS);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int sb_sys_no_new_privs(void)
{
	return result(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
}

bool sb_sys_has_capability(int capability)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data) != 0)
		return false;
	return data[capability / 32].effective & 1u << capability % 32;
}

int sb_sys_keep_capabilities(uint64_t set)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct kept[2] = {{0}};

	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); /* before 4.3 there are none */
	/* of those that cannot be seen none is kept */
	if (set && syscall(SYS_capget, &header, kept) != 0)
		set = 0;
	for (int i = 0; i < 2; i++) {
		kept[i].effective &= (uint32_t)(set >> 32 * i);
		kept[i].permitted = kept[i].effective;
		kept[i].inheritable = 0;
	}
	return result(syscall(SYS_capset, &header, kept));
}

int sb_sys_drop_capabilities(uint64_t but)
{
	if (sb_sys_has_capability(CAP_SETPCAP)) {
		/* Else a later execve as uid 0 would fill the sets again: capabilities(7). */
		if (prctl(PR_SET_SECUREBITS,
			  SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
				  SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED) != 0)
			return -errno;
		for (int capability = 0; capability < 64; capability++) {
			if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) {
				if (errno == EINVAL) /* past the last one this kernel has */
					break;
				return -errno;
			}
		}
	}
	return sb_sys_keep_capabilities(but);
}

bool sb_sys_filter_available(void)
{
	uint32_t action = SECCOMP_RET_ERRNO;

	return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

int sb_sys_load_filter(const struct sock_fprog *program)
{
	return result(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, program));
}

void sb_sys_end_children(int proc)
{
	for (;;) {
		char name[64], text[4096];
		char *from = text, *end;
		ssize_t length;
		pid_t ended;
		int fd;

		do {
			ended = waitpid(-1, NULL, WNOHANG | __WALL);
		} while (ended > 0);
		if (ended < 0 && errno == ECHILD)
			return;
		/* children of any thread: they are all listed with the one that made them, and
		 * what we adopt as subreaper with the first */
		snprintf(name, sizeof name, "self/task/%d/children", getpid());
		fd = openat(proc, name, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return;
		length = read(fd, text, sizeof text - 1);
		close(fd);
		if (length <= 0)
			return;
		text[length] = '\0';
		for (long pid; (pid = strtol(from, &end, 10)) > 0; from = end)
			kill((pid_t)pid, SIGKILL);
		poll(NULL, 0, 1);
	}
}

void sb_sys_close_later(const int *fds, size_t count)
{
	char byte = 0, room[CMSG_SPACE(4 * sizeof(int))] = {0};
	struct iovec bytes = {&byte, 1};
	struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = room};
	struct cmsghdr *header = (struct cmsghdr *)room;
	int ends[2], *place = (int *)CMSG_DATA(header), used = 0;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0) {
		/* A socket that waits to be received from itself is garbage once it is closed, and what lies beside it:
		 * collected by a thread of the kernel's since Linux 6.10, and before at once, as if closed by us. */
		place[used++] = ends[1];
		for (size_t i = 0; i < count && used < 4; i++)
			if (fds[i] >= 0)
				place[used++] = fds[i];
		message.msg_controllen = CMSG_SPACE((size_t)used * sizeof(int));
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN((size_t)used * sizeof(int));
		if (used > 1)
			sendmsg(ends[0], &message, MSG_NOSIGNAL | MSG_DONTWAIT);
	} else {
		ends[0] = ends[1] = -1;
	}
	for (size_t i = 0; i < count; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	if (ends[1] >= 0) {
		close(ends[1]);
		close(ends[0]); /* last: it is this one's end that has the kernel look for garbage */
	}
}

/* linux/pidfd.h since Linux 6.11 */
#define PIDFD_GET_IPC _IO(0xff, 2)
#define PIDFD_GET_MNT _IO(0xff, 3)
#define PIDFD_GET_NET _IO(0xff, 4)
#define PIDFD_GET_USER _IO(0xff, 9)

int sb_sys_open_process(pid_t process)
{
	return result(syscall(SYS_pidfd_open, process, 0));
}

int sb_sys_open_self(void)
{
	return sb_sys_open_process(getpid());
}

int sb_sys_signal_process(int process, int number, siginfo_t *info)
{
	return result(syscall(SYS_pidfd_send_signal, process, number, info, 0));
}

/*
 * A process that has just been started is not known in /proc yet: every file that is opened there
 * is made for it, and taken away when it ends.  Asking its descriptor takes a third of the time.
 */
int sb_sys_open_namespace(int self, int flag)
{
	static const struct {
		int flag;
		unsigned long request;
		const char *file;
	} known[] = {
		{CLONE_NEWUSER, PIDFD_GET_USER, "/proc/self/ns/user"},
		{CLONE_NEWNS, PIDFD_GET_MNT, "/proc/self/ns/mnt"},
		{CLONE_NEWIPC, PIDFD_GET_IPC, "/proc/self/ns/ipc"},
		{CLONE_NEWNET, PIDFD_GET_NET, "/proc/self/ns/net"},
	};

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		int opened;

		if (known[i].flag != flag)
			continue;
		opened = self < 0 ? self : result(ioctl(self, (int)known[i].request, 0));
		return opened >= 0 ? opened : result(open(known[i].file, O_RDONLY | O_CLOEXEC));
	}
	return -EINVAL;
}

int sb_sys_loopback_up(void)
{
	struct ifreq request = {.ifr_name = "lo"};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), status;

	if (fd < 0)
		return -errno;
	request.ifr_flags = IFF_UP | IFF_RUNNING;
	status = result(ioctl(fd, SIOCSIFFLAGS, &request));
	close(fd);
	return status;
}

void sb_sys_raise_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

#define FIRST_FIELD 48 /* proc_pid_stat(5): arg_start, arg_end, env_start, env_end */
#define MOST_ARGUMENTS ((uintptr_t)8 << 20)

int sb_sys_find_arguments(int proc, struct sb_sys_arguments *out)
{
	int fd = openat(proc, "self/stat", O_RDONLY | O_CLOEXEC);
	uintptr_t ends[4];
	char text[2048], *at;
	ssize_t got;

	if (fd < 0)
		return -errno;
	got = read(fd, text, sizeof text - 1);
	close(fd);
	if (got < 0)
		return -ENODATA;
	text[got] = '\0';
	at = strrchr(text, ')'); /* behind the second, which may have anything in it */
	for (int field = 2; at && field < FIRST_FIELD; field++)
		at = strchr(at + 1, ' ');
	for (int i = 0; i < 4; i++) {
		if (!at)
			return -ENODATA;
		ends[i] = (uintptr_t)strtoull(at, &at, 10);
	}
	for (int i = 0; i < 2; i++) {
		uintptr_t from = ends[2 * i], to = ends[2 * i + 1];

		/* the kernel takes six megabytes of both: execve(2) */
		if (!from || to < from || to - from > MOST_ARGUMENTS)
			return -ENODATA;
		out->bytes[i] = (char *)from;
		out->size[i] = to - from;
	}
	return 0;
}

int sb_sys_write_text(int directory, const char *path, const char *text)
{
	int fd = openat(directory, path, O_WRONLY | O_CLOEXEC), status;

	if (fd < 0)
		return -errno;
	status = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	close(fd);
	return status;
}

int sb_sys_socket_option(int socket, int option)
{
	int value = -1;
	socklen_t length = sizeof value;

	return getsockopt(socket, SOL_SOCKET, option, &value, &length) == 0 ? value : -1;
}
