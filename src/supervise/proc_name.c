#include "supervise/proc_name.h"

static char *put_text(char *out, const char *text)
{
	while (*text)
		*out++ = *text++;
	return out;
}

static char *put_number(char *out, int number)
{
	char digits[12];
	unsigned left = (unsigned)number;
	int count = 0;

	if (number < 0) {
		*out++ = '-';
		left = -left;
	}
	do
		digits[count++] = (char)('0' + left % 10);
	while (left /= 10);
	while (count)
		*out++ = digits[--count];
	return out;
}

const char *sb_proc_self_fd(char out[SB_PROC_NAME], int number)
{
	*put_number(put_text(out, "self/fd/"), number) = '\0';
	return out;
}

const char *sb_proc_thread(char out[SB_PROC_NAME], int thread)
{
	*put_number(out, thread) = '\0';
	return out;
}

const char *sb_proc_cwd(char out[SB_PROC_NAME], int thread)
{
	*put_text(put_number(out, thread), "/cwd") = '\0';
	return out;
}

const char *sb_proc_fd(char out[SB_PROC_NAME], int thread, int number)
{
	*put_number(put_text(put_number(out, thread), "/fd/"), number) = '\0';
	return out;
}
