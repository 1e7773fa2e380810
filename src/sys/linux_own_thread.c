/*
 * unshare(CLONE_FS) gives a thread that part of a process (clone(2)), and needs no right.  But
 * Docker's default profile refuses unshare() whatever its flags say, and a libc makes its threads
 * with CLONE_FS always.  There the new thread makes another one without, which works in its place:
 * with its thread-local storage, on the rest of its stack, while it waits for the other's end.
 */
#include "sys/process.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LEFT 4096u /* of the stack, to the one that waits */

struct start {
	void *(*work)(void *);
	void *argument;
};

/* clone() as libc has it, but that libc need not know: flags that it keeps to itself are refused. */
static long make_thread(unsigned long flags, char *stack, pid_t *thread, struct start *start)
{
#if defined(__aarch64__)
	register long x0 __asm__("x0") = (long)flags;
	register char *x1 __asm__("x1") = stack;
	register pid_t *x2 __asm__("x2") = thread;
	register long x3 __asm__("x3") = 0;
	register pid_t *x4 __asm__("x4") = thread;
	register long x8 __asm__("x8") = SYS_clone;

	__asm__ volatile("svc #0\n\t"
			 "cbnz x0, 1f\n\t"
			 "mov x29, #0\n\t"
			 "mov x30, #0\n\t"
			 "mov x0, %[argument]\n\t"
			 "blr %[work]\n\t"
			 "mov x0, #0\n\t"
			 "mov x8, %[exit]\n\t"
			 "svc #0\n"
			 "1:"
			 : "+r"(x0)
			 : "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x8), [work] "r"(start->work),
			   [argument] "r"(start->argument), [exit] "i"(SYS_exit)
			 : "memory", "cc");
	return x0;
#elif defined(__x86_64__)
	register pid_t *r10 __asm__("r10") = thread;
	register long r8 __asm__("r8") = 0;
	register void *(*r12)(void *)__asm__("r12") = start->work;
	register void *r13 __asm__("r13") = start->argument;
	long result = SYS_clone;

	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "mov %%r13, %%rdi\n\t"
			 "call *%%r12\n\t"
			 "xor %%edi, %%edi\n\t"
			 "mov %[exit], %%eax\n\t"
			 "syscall\n"
			 "1:"
			 : "+a"(result)
			 : "D"(flags), "S"(stack), "d"(thread), "r"(r10), "r"(r8), "r"(r12),
			   "r"(r13), [exit] "i"(SYS_exit)
			 : "rcx", "r11", "memory", "cc");
	return result;
#else
#error "say how a thread is made on this architecture"
#endif
}

static void work_in_another(struct start *start)
{
	const unsigned long flags = CLONE_VM | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
				    CLONE_SYSVSEM | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	pid_t thread = 0, known;

	if (make_thread(flags, (char *)((here - LEFT) & ~(uintptr_t)15), &thread, start) < 0)
		_exit(1); /* whoever started us counts on the work being done */
	while ((known = __atomic_load_n(&thread, __ATOMIC_ACQUIRE)) != 0)
		syscall(SYS_futex, &thread, FUTEX_WAIT, known, NULL, NULL, 0);
}

static void *begin(void *argument)
{
	struct start start = *(struct start *)argument;

	free(argument);
	if (unshare(CLONE_FS) == 0)
		return start.work(start.argument);
	work_in_another(&start);
	return NULL;
}

bool sb_sys_start_own_thread(size_t stack, void *(*work)(void *), void *argument)
{
	struct start *start = malloc(sizeof *start);
	pthread_attr_t attributes;
	pthread_t thread;
	bool started;

	if (!start)
		return false;
	*start = (struct start){work, argument};
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, stack);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	started = pthread_create(&thread, &attributes, begin, start) == 0;
	pthread_attr_destroy(&attributes);
	if (!started)
		free(start);
	return started;
}
