#include "supervise/proc_name.h"

#include <string.h>

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

int sb_proc_named_fd(const char *path)
{
	static const char prefix[] = "/proc/self/fd/";
	int number = 0;

	if (strncmp(path, prefix, sizeof prefix - 1) != 0)
		return -1;
	path += sizeof prefix - 1;
	/* as the kernel takes it: no sign, no zero in front */
	for (int i = 0; *path; i++, path++) {
		if (*path < '0' || *path > '9' || i > 7 || (i && !number))
			return -1;
		number = number * 10 + (*path - '0');
	}
	return path[-1] == '/' ? -1 : number;
}
