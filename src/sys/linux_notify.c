#include "sys/notify.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Newer than Debian 12's linux/seccomp.h, or than some machine's. */
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif
#ifndef SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif
#define THREAD_PIDFD O_EXCL /* PIDFD_THREAD, Linux 6.9 */

#define PAGE 4096u /* the smallest there is: never reads across more than is there */

static int result(long value)
{
	return value < 0 ? -errno : (int)value;
}

/*
 * WAIT_KILLABLE_RECV (Linux 5.19): once we have received a call, only a fatal signal ends its
 * wait.  Without it every signal does: supervise/owed.h.
 */
static int load_held_filter(const struct sock_fprog *program, unsigned long flags)
{
	return result(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			      SECCOMP_FILTER_FLAG_NEW_LISTENER | flags, program));
}

int sb_sys_load_held_filter(const struct sock_fprog *program)
{
	int status = load_held_filter(program, SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);

	return status == -EINVAL ? load_held_filter(program, 0) : status;
}

bool sb_sys_signals_end_held_calls(void)
{
	/* flags are looked at first */
	return load_held_filter(NULL, SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV) == -EINVAL;
}

/* Can a call be answered with a descriptor in one step (Linux 5.14)?  Flags are looked at first. */
static int try_listener(int listener)
{
	struct seccomp_notif_addfd none = {.flags = SECCOMP_ADDFD_FLAG_SEND, .srcfd = (uint32_t)-1};

	if (listener < 0)
		return listener;
	return ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &none) < 0 && errno == EBADF ? 0
										       : -EINVAL;
}

int sb_sys_listener_probe(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = {1, &allow};
	int status = load_held_filter(NULL, SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);
	bool old = status == -EINVAL;
	pid_t child;

	if (old)
		status = load_held_filter(NULL, 0);
	if (status != -EFAULT)
		return status;
	/* only under a filter can somebody have a listener on us; and a kernel may be too old */
	if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 0 && !old)
		return 0;
	/* without a signal at its end: where the caller ignores SIGCHLD, nobody could wait for it */
	child = (pid_t)syscall(SYS_clone, 0, 0, 0, 0, 0);
	if (child == 0) {
		status = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
				 ? -errno
				 : try_listener(sb_sys_load_held_filter(&program));
		_exit(status < 0 ? -status : 0);
	}
	if (child < 0 || waitpid(child, &status, __WALL) != child)
		return -errno;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EPERM;
}

int sb_sys_notify_receive(int listener, struct seccomp_notif *out)
{
	memset(out, 0, sizeof *out); /* the kernel insists */
	return result(ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, out));
}

bool sb_sys_notify_alive(int listener, uint64_t id)
{
	return ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

static void (*tell)(uint64_t id, long value, bool goes_on);

void sb_sys_notify_tell(void (*told)(uint64_t id, long value, bool goes_on))
{
	tell = told;
}

static int respond(int listener, struct seccomp_notif_resp response)
{
	int status = result(ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response));

	if (tell && status >= 0)
		tell(response.id, response.error ? response.error : response.val, response.flags);
	return status;
}

int sb_sys_notify_fail(int listener, uint64_t id, int error)
{
	return respond(listener, (struct seccomp_notif_resp){.id = id, .error = -error});
}

int sb_sys_notify_return(int listener, uint64_t id, long value)
{
	return respond(listener, (struct seccomp_notif_resp){.id = id, .val = value});
}

int sb_sys_notify_continue(int listener, uint64_t id)
{
	return respond(listener, (struct seccomp_notif_resp){
					 .id = id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE});
}

static int add_descriptor(int listener, struct seccomp_notif_addfd request, bool close_on_exec)
{
	request.newfd_flags = close_on_exec ? O_CLOEXEC : 0;
	return result(ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &request));
}

int sb_sys_notify_give(int listener, uint64_t id, int fd, bool close_on_exec)
{
	int status = add_descriptor(listener,
				    (struct seccomp_notif_addfd){.id = id,
								 .flags = SECCOMP_ADDFD_FLAG_SEND,
								 .srcfd = (uint32_t)fd},
				    close_on_exec);

	if (tell && status >= 0)
		tell(id, status, false);
	return status;
}

int sb_sys_notify_place(int listener, uint64_t id, int fd, bool close_on_exec)
{
	return add_descriptor(listener,
			      (struct seccomp_notif_addfd){.id = id, .srcfd = (uint32_t)fd},
			      close_on_exec);
}

int sb_sys_notify_replace(int listener, uint64_t id, int fd, int number, bool close_on_exec)
{
	return add_descriptor(listener,
			      (struct seccomp_notif_addfd){.id = id,
							   .flags = SECCOMP_ADDFD_FLAG_SETFD,
							   .srcfd = (uint32_t)fd,
							   .newfd = (uint32_t)number},
			      close_on_exec);
}

void sb_sys_notify_sync(int listener, bool on)
{
	uint64_t flags = on ? SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP : 0;

	ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, flags);
}

static int memory_proc = -1;

void sb_sys_read_memory_by(int proc)
{
	memory_proc = proc;
}

/* Slower, and the same permissions: proc_pid_mem(5). */
static ssize_t read_memory_file(pid_t thread, uint64_t address, void *out, size_t length)
{
	char name[32];
	ssize_t got;
	int fd;

	snprintf(name, sizeof name, "%d/mem", thread);
	fd = openat(memory_proc, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -EACCES;
	got = pread(fd, out, length, (off_t)address);
	if (got < 0)
		got = errno == EIO ? -EFAULT : -errno;
	close(fd);
	return got;
}

ssize_t sb_sys_read_memory(pid_t thread, uint64_t address, void *out, size_t length)
{
	struct iovec local = {out, length};
	struct iovec remote[2]; /* split at a page, so that an unmapped one costs only itself */
	size_t first = PAGE - address % PAGE;
	ssize_t got;

	if (first > length)
		first = length;
	remote[0] = (struct iovec){(void *)(uintptr_t)address, first};
	remote[1] = (struct iovec){(void *)(uintptr_t)(address + first), length - first};
	got = process_vm_readv(thread, &local, 1, remote, length > first ? 2 : 1, 0);
	/* it does not want to be looked at (PR_SET_DUMPABLE); or a container refuses this call */
	if (got < 0 && (errno == EPERM || errno == ENOSYS))
		return read_memory_file(thread, address, out, length);
	return got < 0 ? -errno : got;
}

int sb_sys_write_memory(pid_t thread, uint64_t address, const void *from, size_t length)
{
	struct iovec local = {(void *)(uintptr_t)from, length};
	struct iovec remote = {(void *)(uintptr_t)address, length};
	ssize_t done = process_vm_writev(thread, &local, 1, &remote, 1, 0);

	if (done < 0)
		return -errno;
	return (size_t)done == length ? 0 : -EFAULT;
}

int sb_sys_read_string(pid_t thread, uint64_t address, char *out, size_t size)
{
	size_t have = 0;

	while (have < size) {
		/* most paths are short, and copying 4 KB costs more than the call */
		size_t want = have ? size - have : 256;
		ssize_t got;

		if (want > size - have)
			want = size - have;
		if (want > PAGE)
			want = PAGE;
		got = sb_sys_read_memory(thread, address + have, out + have, want);
		if (got < 0)
			return (int)got;
		if (got == 0)
			return -EFAULT;
		if (memchr(out + have, '\0', (size_t)got))
			return 0;
		have += (size_t)got;
	}
	return -ENAMETOOLONG;
}

int sb_sys_take_descriptor(pid_t thread, int number)
{
	int handle = result(syscall(SYS_pidfd_open, thread, THREAD_PIDFD)), taken;

	/* before 6.9 only whole processes have one; a thread that leads one is the same */
	if (handle == -EINVAL)
		handle = result(syscall(SYS_pidfd_open, thread, 0));
	if (handle < 0)
		return handle;
	taken = result(syscall(SYS_pidfd_getfd, handle, number, 0));
	close(handle);
	return taken;
}

bool sb_sys_can_copy_descriptors(void)
{
	/* no such descriptor: refused before anything is looked at, or found to be wrong */
	return syscall(SYS_pidfd_getfd, -1, 0, 0) < 0 && errno == EBADF;
}
