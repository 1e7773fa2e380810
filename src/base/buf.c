#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char sb_buf_empty[1];

void sb_buf_init(struct sb_buf *buf, size_t limit_bytes)
{
	*buf = SB_BUF(limit_bytes);
}

void sb_buf_done(struct sb_buf *buf)
{
	if (!buf)
		return;
	if (buf->data != sb_buf_empty)
		free(buf->data);
	*buf = (struct sb_buf){.data = sb_buf_empty, .limit = buf->limit};
}

/* Room for length more bytes and the NUL, or false with the buffer marked failed. */
static bool reserve(struct sb_buf *buf, size_t length)
{
	size_t needed, capacity;
	char *grown;

	if (buf->failed)
		return false;
	if (__builtin_add_overflow(buf->length, length, &needed) || needed > buf->limit ||
	    __builtin_add_overflow(needed, 1, &needed)) {
		buf->failed = true;
		return false;
	}
	if (needed <= buf->capacity)
		return true;

	capacity = buf->capacity ? buf->capacity : 256;
	while (capacity < needed && !__builtin_mul_overflow(capacity, 2, &capacity))
		;
	grown = capacity < needed ? NULL
				  : realloc(buf->data == sb_buf_empty ? NULL : buf->data, capacity);
	if (!grown) {
		buf->failed = true;
		return false;
	}
	buf->data = grown;
	buf->capacity = capacity;
	return true;
}

void sb_buf_append(struct sb_buf *buf, const void *bytes, size_t length)
{
	if (!reserve(buf, length))
		return;
	if (length)
		memcpy(buf->data + buf->length, bytes, length);
	buf->length += length;
	buf->data[buf->length] = '\0';
}

void sb_buf_puts(struct sb_buf *buf, const char *text)
{
	sb_buf_append(buf, text, strlen(text));
}

void sb_buf_putc(struct sb_buf *buf, char c)
{
	sb_buf_append(buf, &c, 1);
}

void sb_buf_printf(struct sb_buf *buf, const char *format, ...)
{
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (length < 0 || !reserve(buf, (size_t)length)) {
		buf->failed = true;
		return;
	}
	va_start(args, format);
	vsnprintf(buf->data + buf->length, (size_t)length + 1, format, args);
	va_end(args);
	buf->length += (size_t)length;
}

bool sb_buf_failed(const struct sb_buf *buf)
{
	return buf->failed;
}

char *sb_buf_take(struct sb_buf *buf)
{
	char *taken;

	if (!reserve(buf, 0)) /* an empty buffer gives away a real "" */
		return NULL;
	taken = buf->data;
	taken[buf->length] = '\0';
	*buf = (struct sb_buf){.data = sb_buf_empty, .limit = buf->limit};
	return taken;
}

char *sb_text_print(const char *format, ...)
{
	char *text;
	va_list args;
	int length;

	va_start(args, format);
	length = vasprintf(&text, format, args);
	va_end(args);
	return length < 0 ? NULL : text;
}
