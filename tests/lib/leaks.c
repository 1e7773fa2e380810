/*
 * leaks.c - linked into each unit of the sanitizer tree: the leak checker runs where bytes are left.
 *
 * The checker walks every region that its allocator could have: elsewhere than on x86-64 that is
 * four seconds at the end of each process, whatever the program did.  A program that ends with as
 * many bytes as it began with has lost none, and needs no walk.  tests/unit/test_leaks.c holds it.
 */
#include <stdio.h>

/* Of gcc's libasan, which comes without <sanitizer/...>; it asks for the last. */
size_t __sanitizer_get_current_allocated_bytes(void);
void __lsan_do_leak_check(void);
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "leak_check_at_exit=0";
}

static size_t at_first;

__attribute__((constructor)) static void begin(void)
{
	static char out[BUFSIZ], err[BUFSIZ];

	/* else the C library allocates one at the first line, and keeps it */
	setvbuf(stdout, out, _IOFBF, sizeof out);
	setvbuf(stderr, err, _IOLBF, sizeof err);
	at_first = __sanitizer_get_current_allocated_bytes();
}

__attribute__((destructor)) static void end(void)
{
	fflush(stdout);
	fflush(stderr);
	if (__sanitizer_get_current_allocated_bytes() != at_first)
		__lsan_do_leak_check();
}
