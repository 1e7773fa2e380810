#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "files/view.h"
#include "path/path.h"

/* One row per code: its name, and what the model should do about it when we know no better. */
#define ROW(code, text) [SB_FILES_##code] = {#code, text}
static const struct {
	const char *name;
	const char *advice;
} codes[SB_FILES_CODE_COUNT] = {
	ROW(OK, ""),
	ROW(PATH_OUTSIDE_PROJECT,
	    "Use a path inside the project. Do not retry this one: nobody can allow it now."),
	ROW(READ_ONLY, "This file may be read but not changed. Do not retry; "
		       "write to another file or tell the user."),
	ROW(BLOCKED, "A rule of the user denies this path. Do not retry and do "
		     "not look for a way around it; tell the user if it is needed."),
	ROW(DENIED, "The user was asked and said no. Do not retry; go on without "
		    "it or ask the user what to do instead."),
	ROW(NEEDS_CONSENT, "The user has to allow this first. Tell the user "
			   "what is needed and why, and go on without it."),
	ROW(NOT_FOUND, "Check the spelling; list the directory above it to see "
		       "what is there."),
	ROW(EXISTS, "Choose another name, or say that it may be replaced."),
	ROW(NOT_A_FILE, "Only regular files can be used; FIFOs, devices, "
			"sockets and kernel files cannot."),
	ROW(NOT_A_DIRECTORY, "Use the path of a directory, or remove what "
			     "follows the name of the file."),
	ROW(IS_A_DIRECTORY, "Use the path of a file in it; list the "
			    "directory to see what is there."),
	ROW(NOT_EMPTY, "Remove what is in it first, or delete recursively."),
	ROW(TOO_LARGE, "Ask for a part: a range of lines, head, tail or bytes."),
	ROW(TOO_MANY_LINKS, "Symbolic links lead in a circle; use the path "
			    "of the file itself."),
	ROW(NAME_TOO_LONG, "A name has at most 255 bytes, a path at most "
			   "4095; use a shorter one."),
	ROW(BINARY, "This is not a text file. Read it as bytes, or use a program "
		    "that knows its format."),
	ROW(ENCODING, "The file's encoding cannot hold one of the new characters. "
		      "Use characters it has, or write the file anew as UTF-8."),
	ROW(NO_MATCH, "Read the file again and copy the old text exactly, with "
		      "its white space."),
	ROW(AMBIGUOUS_MATCH, "Add lines before or after to the old text until it occurs "
			     "only once, or ask to replace all."),
	ROW(INVALID_ARGUMENT, "Correct the argument and call again."),
	ROW(INVALID_PATTERN, "Correct the pattern and call again."),
	ROW(CHANGED, "Somebody else changed it at the same time. Read it again, "
		     "then repeat the call."),
	ROW(PERMISSION, "The operating system refuses this to the user's "
			"account. Do not retry; tell the user."),
	ROW(NO_SPACE, "The disk is full or a quota is used up. Tell the user."),
	ROW(CANCELLED, "The call was cancelled; nothing more to do."),
	ROW(TIMEOUT, "Narrow the search: a smaller directory or a simpler "
		     "pattern."),
	ROW(UNSUPPORTED, "This cannot be done here; do it another way."),
	ROW(SANDBOX_UNAVAILABLE, "File tools cannot work safely on this system. Tell the user."),
	ROW(NO_MEMORY, "Ask for less at once."),
	ROW(SYSTEM, "The operating system reported an unexpected error. Tell the "
		    "user."),
};

const char *sb_files_code_name(enum sb_files_code code)
{
	return code < SB_FILES_CODE_COUNT ? codes[code].name : "UNKNOWN";
}

/* Names in a sentence may come from anywhere: the whole is escaped. */
__attribute__((format(printf, 3, 0))) static void format_safe(char *out, size_t size,
							      const char *format, va_list args)
{
	char raw[1024 + 8];

	vsnprintf(raw, sizeof raw, format, args);
	sb_escape_line(out, size, raw);
}

int sb_refuse(struct sb_files_error *err, enum sb_files_code code, int sys_errno,
	      const char *format, ...)
{
	va_list args;

	if (!err)
		return -(int)code;
	err->code = code;
	err->violation = err->allowable = false;
	err->sys_errno = sys_errno;
	err->op = SB_READ;
	err->why = SB_FILES_WHY_RULE;
	err->path[0] = err->given[0] = err->root[0] = err->rule[0] = '\0';
	va_start(args, format);
	format_safe(err->person, sizeof err->person, format, args);
	va_end(args);
	snprintf(err->model, sizeof err->model, "%s", codes[code].advice);
	return -(int)code;
}

int sb_advise(struct sb_files_error *err, const char *format, ...)
{
	va_list args;

	if (!err)
		return -SB_FILES_SYSTEM;
	va_start(args, format);
	format_safe(err->model, sizeof err->model, format, args);
	va_end(args);
	return -(int)err->code;
}

#define SHOWN 250 /* of each path in a sentence that has three; the fields have them whole */

/* Beginning and end of a long path. */
static const char *shorten(const char *path, char out[SHOWN + 8])
{
	size_t length = strlen(path);

	if (length <= SHOWN)
		return path;
	snprintf(out, SHOWN + 8, "%.*s[...]%s", SHOWN / 2, path, path + length - SHOWN / 2);
	return out;
}

/* How to work with it all the same. */
static void say_how(struct sb_buf *out, enum sb_op op, const char *path, const char *root)
{
	if (op == SB_DELETE) {
		sb_buf_puts(out, "Leave it, and tell the user what should be removed.");
	} else if (op != SB_READ) {
		sb_buf_puts(out, "Write inside the project, and tell the user where it belongs.");
	} else if (sb_path_within(path, root) || sb_path_within("/proc", path)) {
		sb_buf_puts(out, "Files from elsewhere have to be copied or moved into the project "
				 "by the user first.");
	} else {
		sb_buf_puts(out, "Files from elsewhere have to be copied or moved into the project "
				 "by the user first, for example with: cp -R ");
		sb_shell_quote(out, path);
		sb_buf_putc(out, ' ');
		sb_shell_quote(out, root);
	}
}

int sb_refuse_outside(struct sb_files_error *err, enum sb_op op, const char *given,
		      const char *path, const char *root)
{
	SB_AUTO_BUF struct sb_buf how = SB_BUF(64 * 1024);
	char buffers[3][SHOWN + 8];
	const char *shown = shorten(given ? given : path, buffers[0]);

	sb_refuse(err, SB_FILES_PATH_OUTSIDE_PROJECT, 0,
		  "\"%s\" is \"%s\", which lies outside the project root \"%s\"", shown,
		  shorten(path, buffers[1]), shorten(root, buffers[2]));
	say_how(&how, op, path, root);
	sb_advise(err,
		  "This path leads out of the project. Give one that is relative to the project "
		  "root, as \"src/file.ts\", instead of \"%s\". %s",
		  shown, sb_buf_failed(&how) || how.length > 2 * SHOWN ? "" : how.data);
	return -SB_FILES_PATH_OUTSIDE_PROJECT;
}

static enum sb_files_code code_of(int error)
{
	static const struct {
		int error;
		enum sb_files_code code;
	} rows[] = {
		{ENOENT, SB_FILES_NOT_FOUND},
		{EEXIST, SB_FILES_EXISTS},
		{ENOTDIR, SB_FILES_NOT_A_DIRECTORY},
		{EISDIR, SB_FILES_IS_A_DIRECTORY},
		{ENOTEMPTY, SB_FILES_NOT_EMPTY},
		{ELOOP, SB_FILES_TOO_MANY_LINKS},
		{ENAMETOOLONG, SB_FILES_NAME_TOO_LONG},
		{ESTALE, SB_FILES_CHANGED},
		{EACCES, SB_FILES_PERMISSION},
		{EPERM, SB_FILES_PERMISSION},
		{EROFS, SB_FILES_PERMISSION},
		{ETXTBSY, SB_FILES_PERMISSION},
		{EBUSY, SB_FILES_PERMISSION},
		{ENOSPC, SB_FILES_NO_SPACE},
		{EDQUOT, SB_FILES_NO_SPACE},
		{EFBIG, SB_FILES_NO_SPACE},
		{ENOMEM, SB_FILES_NO_MEMORY},
		{ECANCELED, SB_FILES_CANCELLED},
		{EMLINK, SB_FILES_UNSUPPORTED},
		{EOPNOTSUPP, SB_FILES_UNSUPPORTED},
		{E2BIG, SB_FILES_TOO_LARGE},
		{EXDEV, SB_FILES_PATH_OUTSIDE_PROJECT},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (rows[i].error == error)
			return rows[i].code;
	return SB_FILES_SYSTEM;
}

int sb_refuse_errno(struct sb_files_error *err, int error, const char *verb, const char *path)
{
	error = error < 0 ? -error : error;
	return sb_refuse(err, code_of(error), error, "cannot %s '%s': %s", verb, path,
			 error == ESTALE ? "it changed meanwhile" : strerror(error));
}

int sb_refuse_memory(struct sb_files_error *err)
{
	return sb_refuse(err, SB_FILES_NO_MEMORY, 0, "out of memory");
}
