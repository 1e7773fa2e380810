#include "options/flags.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

void sb_flags_encode(char *const *words, size_t count, struct sb_buf *out)
{
	for (size_t i = 0; i < count; i++) {
		if (i)
			sb_buf_putc(out, ' ');
		for (const char *c = words[i]; *c; c++) {
			unsigned char byte = (unsigned char)*c;

			if (byte <= ' ' || byte >= 0x7f || byte == '%')
				sb_buf_printf(out, "%%%02X", byte);
			else
				sb_buf_putc(out, *c);
		}
	}
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

char **sb_flags_decode(const char *text, int *out_count)
{
	size_t length = strlen(text), words = 2; /* "sandbash" and the NULL */
	char **list, *to;
	int count = 1;

	for (size_t i = 0; i < length; i++)
		words += text[i] == ' ';
	words++;
	list = malloc(words * sizeof *list + length + 1);
	if (!list)
		return NULL;
	to = (char *)(list + words);
	list[0] = "sandbash";
	if (length)
		list[count++] = to;
	for (size_t i = 0; i < length; i++) {
		int high, low;

		if (text[i] == ' ') {
			*to++ = '\0';
			list[count++] = to;
		} else if (text[i] == '%' && i + 2 < length && (high = digit(text[i + 1])) >= 0 &&
			   (low = digit(text[i + 2])) >= 0) {
			*to++ = (char)(high << 4 | low);
			i += 2;
		} else {
			*to++ = text[i];
		}
	}
	*to = '\0';
	list[count] = NULL;
	*out_count = count;
	return list;
}
