/*
 * leaks.c - linked into each unit of the sanitizer tree: the leak checker runs where bytes are left.
 *
 * The checker walks every region that its allocator could have: elsewhere than on x86-64 that is
 * four seconds at the end of each process, whatever the program did.  A program that ends with as
 * many bytes as it began with has lost none, and needs no walk.  tests/unit/test_leaks.c holds it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of gcc's libasan, which comes without <sanitizer/...>; it asks for the last. */
size_t __sanitizer_get_current_allocated_bytes(void);
void __lsan_do_leak_check(void);
/* Of glibc, for programs like this one: frees what the C library keeps (setenv(), tzset(), stacks of threads). */
void __libc_freeres(void);
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "leak_check_at_exit=0";
}

static size_t at_first;

/* What would be allocated had the C library kept nothing: asked of a child, since there is no way back. */
static size_t without_libc(void)
{
	size_t bytes = 0;
	int ends[2];
	pid_t child;

	if (pipe(ends) != 0 || (child = fork()) < 0)
		abort();
	if (child == 0) {
		__libc_freeres();
		bytes = __sanitizer_get_current_allocated_bytes();
		_exit(write(ends[1], &bytes, sizeof bytes) != sizeof bytes);
	}
	if (read(ends[0], &bytes, sizeof bytes) != sizeof bytes || waitpid(child, NULL, 0) != child)
		abort();
	close(ends[0]);
	close(ends[1]);
	return bytes;
}

__attribute__((constructor)) static void begin(void)
{
	static char out[BUFSIZ], err[BUFSIZ];

	/* else the C library allocates one at the first line, and keeps it */
	setvbuf(stdout, out, _IOFBF, sizeof out);
	setvbuf(stderr, err, _IOLBF, sizeof err);
	at_first = without_libc();
}

__attribute__((destructor)) static void end(void)
{
	fflush(stdout);
	fflush(stderr);
	__libc_freeres();
	if (__sanitizer_get_current_allocated_bytes() != at_first)
		__lsan_do_leak_check();
}
