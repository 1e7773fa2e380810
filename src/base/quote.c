#include "base/quote.h"

#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"

void sb_shell_quote(struct sb_buf *out, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-+=./:,@%^~";
	size_t length = strlen(text);
	bool visible = true;

	if (length && strspn(text, plain) == length && text[0] != '~') {
		sb_buf_puts(out, text);
		return;
	}
	for (size_t i = 0; i < length;) {
		size_t step = sb_utf8_plain(text + i, length - i);

		visible &= step > 0;
		i += step ? step : 1;
	}
	if (visible) {
		sb_buf_putc(out, '\'');
		for (; *text; text++) {
			if (*text == '\'')
				sb_buf_puts(out, "'\\''");
			else
				sb_buf_putc(out, *text);
		}
		sb_buf_putc(out, '\'');
		return;
	}
	/* bash, zsh, fish-compatible enough for what no one types: $'...' */
	sb_buf_puts(out, "$'");
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '\'' || c == '\\')
			sb_buf_printf(out, "\\%c", c);
		else if (c < 0x20 || c >= 0x7f)
			sb_buf_printf(out, "\\x%02x", c);
		else
			sb_buf_putc(out, (char)c);
	}
	sb_buf_putc(out, '\'');
}
