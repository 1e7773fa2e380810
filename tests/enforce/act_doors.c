/* act_doors.c - other doors to the same calls: io_uring, other architectures, old calls. */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "act.h"

#define XATTR "user.act"

/* --- other doors to the same calls ------------------------------------------------------- */

/* One operation through io_uring: the kernel does it without a system call of its own. */
static int submit(struct io_uring_sqe *operation)
{
	struct io_uring_params params = {0};
	int ring = (int)syscall(NR_IO_URING_SETUP, 1, &params);
	unsigned char *requests, *answers;
	struct io_uring_sqe *sqe;
	struct io_uring_cqe *cqe;

	if (ring < 0)
		return -1;
	requests = mmap(NULL, params.sq_off.array + params.sq_entries * 4, PROT_READ | PROT_WRITE,
			MAP_SHARED, ring, IORING_OFF_SQ_RING);
	answers = mmap(NULL, params.cq_off.cqes + params.cq_entries * sizeof *cqe,
		       PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_CQ_RING);
	sqe = mmap(NULL, params.sq_entries * sizeof *sqe, PROT_READ | PROT_WRITE, MAP_SHARED, ring,
		   IORING_OFF_SQES);
	if (requests == MAP_FAILED || answers == MAP_FAILED || sqe == MAP_FAILED)
		return -1;
	sqe[0] = *operation;
	((unsigned *)(void *)(requests + params.sq_off.array))[0] = 0;
	__atomic_store_n((unsigned *)(void *)(requests + params.sq_off.tail), 1, __ATOMIC_RELEASE);
	if (syscall(NR_IO_URING_ENTER, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
		return -1;
	cqe = (struct io_uring_cqe *)(void *)(answers + params.cq_off.cqes);
	if (cqe->res < 0) {
		errno = -cqe->res;
		return -1;
	}
	return cqe->res;
}

/* uring HOW PATH */
static int do_uring(char **arg)
{
	struct io_uring_sqe sqe = {.fd = AT_FDCWD, .addr = (uintptr_t)arg[1]};

	if (strcmp(arg[0], "nop") == 0) {
		sqe = (struct io_uring_sqe){.opcode = IORING_OP_NOP};
	} else if (strcmp(arg[0], "open") == 0) {
		sqe.opcode = IORING_OP_OPENAT;
		sqe.open_flags = O_WRONLY | O_CREAT | O_TRUNC;
		sqe.len = 0644;
	} else if (strcmp(arg[0], "mkdir") == 0) {
		sqe.opcode = IORING_OP_MKDIRAT;
		sqe.len = 0755;
	} else if (strcmp(arg[0], "unlink") == 0) {
		sqe.opcode = IORING_OP_UNLINKAT;
	} else if (strcmp(arg[0], "setxattr") == 0) {
		sqe = (struct io_uring_sqe){.opcode = 42 /* IORING_OP_SETXATTR */,
					    .addr = (uintptr_t)XATTR,
					    .len = 1,
					    .off = (uintptr_t) "X"};
		((uint64_t *)&sqe)[6] = (uintptr_t)arg[1]; /* addr3 */
	} else if (strcmp(arg[0], "socket") == 0) {
		sqe = (struct io_uring_sqe){
			.opcode = 45 /* IORING_OP_SOCKET */, .fd = AF_INET, .off = SOCK_DGRAM};
	} else {
		errno = EINVAL;
		die(arg[0]);
	}
	return submit(&sqe) < 0 ? -1 : 0;
}

#if defined(__x86_64__)
static long call_i386(long call, uint32_t a, uint32_t b, uint32_t c)
{
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(call), "b"(a), "c"(b), "d"(c)
			 : "memory", "r8", "r9", "r10", "r11");
	return (int)result;
}

/* i386 HOW PATH: the 32-bit table, whose numbers mean something else */
static int do_i386(char **arg)
{
	size_t size = strlen(arg[1]) + 1;
	char *low = mmap(NULL, size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	uint32_t path = (uint32_t)(uintptr_t)low;
	long result;

	if (low == MAP_FAILED)
		return -1;
	memcpy(low, arg[1], size);
	if (strcmp(arg[0], "open") == 0)
		result = call_i386(5, path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	else if (strcmp(arg[0], "chmod") == 0)
		result = call_i386(15, path, 0604, 0);
	else if (strcmp(arg[0], "unlink") == 0)
		result = call_i386(10, path, 0, 0);
	else /* getpid */
		result = call_i386(20, 0, 0, 0);
	if (result < 0) {
		errno = (int)-result;
		return -1;
	}
	return 0;
}

/* x32 PATH: native numbers with bit 30 set */
static int do_x32(char **arg)
{
	return zero(syscall(SYS_open | 0x40000000L, arg[0], O_WRONLY | O_CREAT | O_TRUNC, 0644));
}

/* legacy HOW A B: calls that newer architectures left out */
static int do_legacy(char **arg)
{
	const char *how = arg[0];

	if (strcmp(how, "open") == 0)
		return put_if_writable(syscall(SYS_open, arg[1], O_WRONLY), O_WRONLY);
	if (strcmp(how, "creat") == 0)
		return put_if_writable(syscall(SYS_creat, arg[1], 0644), O_WRONLY);
	if (strcmp(how, "mkdir") == 0)
		return zero(syscall(SYS_mkdir, arg[1], 0755));
	if (strcmp(how, "rmdir") == 0)
		return zero(syscall(SYS_rmdir, arg[1]));
	if (strcmp(how, "unlink") == 0)
		return zero(syscall(SYS_unlink, arg[1]));
	if (strcmp(how, "mknod") == 0)
		return zero(syscall(SYS_mknod, arg[1], S_IFREG | 0644, 0));
	if (strcmp(how, "rename") == 0)
		return zero(syscall(SYS_rename, arg[1], arg[2]));
	if (strcmp(how, "link") == 0)
		return zero(syscall(SYS_link, arg[1], arg[2]));
	if (strcmp(how, "symlink") == 0)
		return zero(syscall(SYS_symlink, arg[1], arg[2]));
	if (strcmp(how, "chmod") == 0)
		return zero(syscall(SYS_chmod, arg[1], 0604));
	if (strcmp(how, "chown") == 0)
		return zero(syscall(SYS_chown, arg[1], geteuid(), getegid()));
	if (strcmp(how, "lchown") == 0)
		return zero(syscall(SYS_lchown, arg[1], geteuid(), getegid()));
	if (strcmp(how, "utime") == 0)
		return zero(syscall(SYS_utime, arg[1], (long[2]){1000000000, 1000000000}));
	if (strcmp(how, "utimes") == 0)
		return zero(syscall(SYS_utimes, arg[1], (long[4]){1000000000, 0, 1000000000, 0}));
	if (strcmp(how, "futimesat") == 0)
		return zero(syscall(SYS_futimesat, AT_FDCWD, arg[1],
				    (long[4]){1000000000, 0, 1000000000, 0}));
	errno = EINVAL;
	die(how);
	return -1;
}
#endif

const struct act door_acts[] = {
	{"uring", 2, do_uring},
#if defined(__x86_64__)
	{"i386", 2, do_i386},   {"x32", 1, do_x32}, {"legacy", 3, do_legacy},
#endif
	{NULL, 0, NULL},
};
