#include "network/jail.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys/process.h"

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCH AUDIT_ARCH_RISCV64
#endif

#define CALLS 48

#define LOAD(field)                                                                                \
	((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,                                    \
				      offsetof(struct seccomp_data, field)))
#define JUMP_IF(value, yes, no)                                                                    \
	((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value),                \
				      (uint8_t)(yes), no))
#define ANSWER(value) ((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, value))

static const int common[] = {SYS_brk,          SYS_mmap,          SYS_munmap,         SYS_mremap,
			     SYS_madvise,      SYS_clock_gettime, SYS_exit_group,     SYS_exit,
			     SYS_rt_sigreturn, SYS_futex,         SYS_restart_syscall};

static void put(struct sock_filter *code, size_t *at, struct sock_filter one)
{
	code[(*at)++] = one;
}

/*
 * architecture, number; a jump for each call that is allowed, and for each family of socket(); the two
 * answers behind them.
 */
int sb_jail_enter(const struct sb_jail *jail, struct sb_error *err)
{
	const size_t fixed = sizeof common / sizeof common[0];
	struct sock_filter code[CALLS + 12];
	struct sock_fprog program = {.filter = code};
	size_t at = 0, all = jail->count + fixed, behind = jail->sockets ? 4 : 0;
	int status;

	if (all > CALLS)
		return sb_fail(err, SB_E_SYSTEM, 0, "the system call filter does not fit");
	put(code, &at, LOAD(arch));
	put(code, &at, JUMP_IF(ARCH, 1, 0));
	put(code, &at, ANSWER(SECCOMP_RET_KILL_PROCESS));
	put(code, &at, LOAD(nr));
	for (size_t i = 0; i < all; i++)
		put(code, &at,
		    JUMP_IF(i < jail->count ? jail->calls[i] : common[i - jail->count],
			    all - i + behind, 0));
	if (jail->sockets) {
		put(code, &at, JUMP_IF(SYS_socket, 0, 3));
		put(code, &at, LOAD(args[0])); /* the kernel looks at an int, which comes first */
		put(code, &at, JUMP_IF(AF_INET, 2, 0));
		put(code, &at, JUMP_IF(AF_INET6, 1, 0));
	}
	put(code, &at, ANSWER(SECCOMP_RET_ERRNO | EPERM));
	put(code, &at, ANSWER(SECCOMP_RET_ALLOW));
	program.len = (unsigned short)at;
	status = sb_sys_no_new_privs();
	if (status == 0)
		status = sb_sys_keep_capabilities(jail->capabilities);
	if (status == 0)
		status = sb_sys_load_filter(&program);
	return status < 0 ? sb_fail(err, SB_E_SYSTEM, -status, "cannot give up privileges") : SB_OK;
}

void sb_jail_keep_only(const int *fds, size_t count)
{
	unsigned from = 3;

	/* fds is short: take the next one above from, close what lies between */
	for (;;) {
		unsigned next = ~0u;

		for (size_t i = 0; i < count; i++)
			if (fds[i] >= 0 && (unsigned)fds[i] >= from && (unsigned)fds[i] < next)
				next = (unsigned)fds[i];
		if (next > from)
			syscall(SYS_close_range, from, next - 1, 0);
		if (next == ~0u)
			return;
		from = next + 1;
	}
}
