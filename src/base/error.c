#include "sandbash/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"

/*
 * Names in a message may come from anywhere, so the finished text is escaped as a
 * whole.  raw is longer than any out: what is cut here is cut again there, with
 * dots and between characters.
 */
__attribute__((format(printf, 3, 0))) static void format_safe(char *out, size_t size,
							      const char *format, va_list args)
{
	char raw[sizeof((struct sb_error *)NULL)->message + 8];

	vsnprintf(raw, sizeof raw, format, args);
	sb_escape_line(out, size, raw);
}

int sb_fail(struct sb_error *err, enum sb_code code, int sys_errno, const char *format, ...)
{
	va_list args;

	if (!err)
		return code;
	err->code = code;
	err->sys_errno = sys_errno;
	err->hint[0] = '\0';
	va_start(args, format);
	format_safe(err->message, sizeof err->message, format, args);
	va_end(args);
	return code;
}

int sb_no_memory(struct sb_error *err)
{
	return sb_fail(err, SB_E_NOMEM, 0, "out of memory");
}

int sb_hint(struct sb_error *err, const char *format, ...)
{
	va_list args;

	if (!err)
		return SB_E_INVALID;
	va_start(args, format);
	format_safe(err->hint, sizeof err->hint, format, args);
	va_end(args);
	return err->code;
}

const char *sb_code_name(enum sb_code code)
{
	static const char names[][12] = {
		[-SB_OK] = "OK",
		[-SB_E_INVALID] = "INVALID",
		[-SB_E_MISSING] = "MISSING",
		[-SB_E_NOMEM] = "NOMEM",
		[-SB_E_SYSTEM] = "SYSTEM",
		[-SB_E_UNSUPPORTED] = "UNSUPPORTED",
		[-SB_E_REFUSED] = "REFUSED",
		[-SB_E_CONFLICT] = "CONFLICT",
		[-SB_E_BROKEN] = "BROKEN",
		[-SB_E_USAGE] = "USAGE",
		[-SB_E_PLACE] = "PLACE",
	};

	return code <= 0 && code >= SB_E_PLACE ? names[-code] : "UNKNOWN";
}
