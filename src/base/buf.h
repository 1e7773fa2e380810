/*
 * buf.h - text that grows, up to a limit its creator picked.
 *
 *     SB_AUTO_BUF struct sb_buf text = SB_BUF(64 * 1024);
 *     sb_buf_printf(&text, "%s=%d\n", name, value);
 *     if (sb_buf_failed(&text)) ...
 *
 * A buffer remembers its first failure (limit or memory) and ignores every later
 * append, so a caller checks once at the end.  data is always NUL-terminated.
 */
#ifndef SB_BASE_BUF_H
#define SB_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

struct sb_buf {
	char *data; /* never NULL after init; "" when empty */
	size_t length;
	size_t capacity;
	size_t limit;
	bool failed;
};

extern char sb_buf_empty[1]; /* what data points at before the first append */

/* An empty buffer of at most limit bytes. */
#define SB_BUF(limit_bytes) ((struct sb_buf){.data = sb_buf_empty, .limit = (limit_bytes)})

void sb_buf_init(struct sb_buf *buf, size_t limit_bytes);
void sb_buf_done(struct sb_buf *buf); /* NULL and half-built are fine */

void sb_buf_append(struct sb_buf *buf, const void *bytes, size_t length);
void sb_buf_puts(struct sb_buf *buf, const char *text);
void sb_buf_putc(struct sb_buf *buf, char c);
void sb_buf_printf(struct sb_buf *buf, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

bool sb_buf_failed(const struct sb_buf *buf);

/* Give the text away (free it with free()); the buffer is empty afterwards.  NULL: it failed. */
char *sb_buf_take(struct sb_buf *buf);

/* A text of its own, malloc'ed; NULL: out of memory. */
char *sb_text_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Always with its initialiser: a return in between would release garbage. */
#define SB_AUTO_BUF __attribute__((cleanup(sb_buf_done)))

#endif
