/*
 * What the looks at bytes have in common: lines, notes, reasons.
 */
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/escape.h"
#include "base/words.h"
#include "guard/check.h"

size_t sb_check_note_size(const struct sb_check *check)
{
	return check->why_size < SB_GUARD_NOTE ? check->why_size : SB_GUARD_NOTE;
}

void sb_check_say(const struct sb_check *check, const char *what, const char *text, size_t length)
{
	SB_AUTO_BUF struct sb_buf line = SB_BUF(4 * SB_CHECK_MAX_LINE);

	sb_buf_puts(&line, what);
	sb_escape_value(&line, text, length, SB_GUARD_NOTE / 2);
	sb_escape_line(check->why, sb_check_note_size(check), line.data);
}

void sb_check_say_about_path(const struct sb_check *check, const char *text, size_t length)
{
	SB_AUTO_BUF struct sb_buf line = SB_BUF(8 * SB_CHECK_MAX_LINE);

	sb_buf_putc(&line, '\'');
	sb_escape_name(&line, check->path, strlen(check->path));
	sb_buf_puts(&line, "' now says ");
	sb_escape_value(&line, text, length, SB_GUARD_NOTE / 2);
	sb_escape_line(check->why, sb_check_note_size(check), line.data);
}

void sb_check_ask(const struct sb_check *check, const char *what, const char *text, size_t length)
{
	sb_reasons_add(check->reasons, what, text, length, SB_REASON_BY_ITSELF);
}

bool sb_check_has_line(struct sb_guard_bytes text, const char *line, size_t length)
{
	struct sb_text_lines one = sb_text_lines(text.bytes, text.length);

	while (sb_next_line(&one))
		if (one.length == length && memcmp(one.text, line, length) == 0)
			return true;
	return false;
}

char *sb_check_only_line(const struct sb_check *check)
{
	size_t length = check->new_bytes.length;

	while (length && check->new_bytes.bytes[length - 1] == '\n')
		length--;
	if (memchr(check->new_bytes.bytes, '\n', length))
		return NULL;
	return strndup(check->new_bytes.bytes, length);
}

bool sb_check_is_in_worktrees(const char *path)
{
	static const char parent[] = "/worktrees";
	const char *end = strrchr(path, '/');

	for (int up = 0; up < 1 && end && end > path; up++) {
		for (end--; end > path && *end != '/'; end--)
			;
	}
	return end && (size_t)(end - path) > sizeof parent - 1 &&
	       memcmp(end - (sizeof parent - 1), parent, sizeof parent - 1) == 0;
}
