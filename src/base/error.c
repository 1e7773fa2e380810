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
	switch (code) {
	case SB_OK:
		return "OK";
	case SB_E_INVALID:
		return "INVALID";
	case SB_E_MISSING:
		return "MISSING";
	case SB_E_NOMEM:
		return "NOMEM";
	case SB_E_SYSTEM:
		return "SYSTEM";
	case SB_E_UNSUPPORTED:
		return "UNSUPPORTED";
	case SB_E_REFUSED:
		return "REFUSED";
	case SB_E_CONFLICT:
		return "CONFLICT";
	case SB_E_BROKEN:
		return "BROKEN";
	case SB_E_USAGE:
		return "USAGE";
	case SB_E_PLACE:
		return "PLACE";
	}
	return "UNKNOWN";
}
