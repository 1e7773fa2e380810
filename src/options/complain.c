#include "options/complain.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"

static int exit_status(enum sb_code code)
{
	if (code == SB_E_USAGE)
		return SB_EXIT_USAGE;
	return code == SB_OK ? 0 : SB_EXIT_FAILURE;
}

int sb_report(const struct sb_error *err)
{
	fprintf(stderr, "sandbash: %s", err->message);
	if (err->sys_errno)
		fprintf(stderr, ": %s", strerror(err->sys_errno));
	fputc('\n', stderr);
	if (err->hint[0])
		fprintf(stderr, "hint: %s\n", err->hint);
	return exit_status(err->code);
}

void sb_warn(const char *format, ...)
{
	char raw[2048], safe[4096];
	va_list args;

	va_start(args, format);
	vsnprintf(raw, sizeof raw, format, args);
	va_end(args);
	fprintf(stderr, "sandbash: warning: %s\n", sb_escape_line(safe, sizeof safe, raw));
}
