/*
 * escape.h - foreign bytes made safe to show.
 *
 * File names may hold newlines, terminal escapes and bytes that are no text.
 * What a person sees must be one line that cannot steer the terminal.
 */
#ifndef SB_BASE_ESCAPE_H
#define SB_BASE_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sb_buf;

/*
 * Length of the well-formed UTF-8 character at bytes (1 to 4), or 0 when there
 * is none: cut short, overlong, a surrogate or above U+10FFFF.
 */
size_t sb_utf8_length(const char *bytes, size_t length);

/* The same, but 0 as well for what steers a terminal, shows as nothing or turns the line. */
size_t sb_utf8_visible(const char *bytes, size_t length);

/* The same, but 0 as well for blanks other than ' ', which look like it or like nothing. */
size_t sb_utf8_plain(const char *bytes, size_t length);

/* Is all of it such visible characters? */
bool sb_utf8_all_visible(const char *bytes, size_t length);

/* The code point of the character at bytes, whose length sb_utf8_length has told. */
uint32_t sb_utf8_point(const char *bytes, size_t length);

/* The bytes of a code point below U+200000, also of what is no character; returns how many. */
size_t sb_utf8_put(char out[4], uint32_t point);

/* The value of a hexadecimal digit; -1: it is none. */
int sb_hex_digit(char c);

/*
 * Append bytes with control characters, direction overrides, other invisible
 * formatting, blanks other than ' ' and invalid UTF-8 written as \n, \e, \xNN, \u{...}.
 * Escaped twice, a text stays as it is: so this is for texts that may have escaped parts.
 */
void sb_escape_append(struct sb_buf *out, const char *bytes, size_t length);

/*
 * The same for a name, once: two names that differ never look alike.  A backslash is written as \\, and
 * N blanks in a row as \x20{N}.  Whoever shows a text in which a name stands escapes the name like this,
 * then all of it as above.
 */
void sb_escape_name(struct sb_buf *out, const char *bytes, size_t length);

/* Both of a whole string. */
void sb_escape_puts(struct sb_buf *out, const char *text);
void sb_escape_puts_name(struct sb_buf *out, const char *name);

/* The same between two texts of ours, "" for none.  NULL: nothing at all. */
void sb_escape_put(struct sb_buf *out, const char *before, const char *text, const char *after);
void sb_escape_put_name(struct sb_buf *out, const char *before, const char *name,
			const char *after);

/*
 * The same for a value, of which a person has to see what it does, in at most so many bytes, 64 at least: many
 * blanks in a row as [N blanks]; of what is longer the beginning and the end, and how long it is.
 */
void sb_escape_value(struct sb_buf *out, const char *bytes, size_t length, size_t most);

/* The same into a fixed array, cut with "..." when it does not fit; returns out. */
char *sb_escape_line(char *out, size_t size, const char *text);

/*
 * Any text as one word of a shell command, which a terminal shows as what it is: what steers a terminal, shows as
 * nothing or turns the line is written as $'\xNN'.
 */
void sb_shell_quote(struct sb_buf *out, const char *text);
void sb_shell_quote_all(struct sb_buf *out, const char *const *words); /* up to NULL, with blanks */

/* Bytes as text: RFC 4648, with the digits "+" and "/" and padding. */
void sb_base64_append(struct sb_buf *out, const char *bytes, size_t length);

#endif
