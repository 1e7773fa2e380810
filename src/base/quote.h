/* quote.h - any bytes as one word of a shell command. */
#ifndef SB_BASE_QUOTE_H
#define SB_BASE_QUOTE_H

struct sb_buf;

/*
 * Append text so that a shell reads it as one word and a terminal shows what it is: what
 * steers a terminal, shows as nothing or turns the line is written as $'\xNN'.
 */
void sb_shell_quote(struct sb_buf *out, const char *text);

#endif
