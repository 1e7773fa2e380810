/*
 * reader.h - where the parser stands, and what its files share.
 *
 * Scannerless: the rules of bash's tokens depend on the grammar around them, so each rule reads bytes.
 * A mistake is noted once and puts the end where the reader stands: all loops end then.
 */
#ifndef SB_SHELL_READER_H
#define SB_SHELL_READER_H

#include "shell/syntax.h"

struct sb_reader {
	struct sb_arena *arena;
	const char *text;     /* all of it, for the line of a mistake */
	const char *at, *end; /* of what is being read: all, or a part inside */
	unsigned depth;
	const char *problem, *problem_at;
	struct sb_redirect *waiting, **waiting_tail; /* documents that begin at the next line */
	size_t simple, nodes;
	/* Commands up to what cannot belong to them; a pointer, since words hold commands. */
	struct sb_node *(*commands)(struct sb_reader *reader);
};

/* How text is read: what ends it, and which signs mean something. */
enum sb_reading {
	SB_READING_WORD,
	SB_READING_DOUBLE,       /* "..." */
	SB_READING_BRACE,        /* ${x#...} */
	SB_READING_BRACE_DOUBLE, /* "${x-...}" */
	SB_READING_SPAN,         /* all there is: a document, an expression */
	SB_READING_REGEX,
	SB_READING_SUBSCRIPT,
	SB_READING_PATTERN, /* inside @(...) */
};

/* --- reader.c ------------------------------------------------------------------ */

/* Note a mistake here, unless one is noted. */
void sb_reader_fail(struct sb_reader *reader, const char *problem);
void *sb_reader_alloc(struct sb_reader *reader, size_t size);
bool sb_reader_enter(struct sb_reader *reader); /* false: too deep; else depth-- ends it */
/* Does text stand here? */
bool sb_reader_sees(const struct sb_reader *reader, const char *text);
bool sb_is_blank(char c);
bool sb_is_meta(char c);
bool sb_is_name(char c, bool first);
/* How many bytes from here are a name. */
size_t sb_name_length(const char *at, const char *end);
/* The "))" that ends the expression at start, or NULL: these are brackets in brackets. */
const char *sb_arithmetic_end(const struct sb_reader *reader, const char *start);

/* --- parts.c --------------------------------------------------------------------- */

/* Up to what ends it in this mode, which stays. */
struct sb_part *sb_parts_read(struct sb_reader *reader, enum sb_reading mode, bool quoted);
/* All bytes from start to end, which lie inside what is read. */
struct sb_part *sb_parts_span(struct sb_reader *reader, const char *start, const char *end);
/* NULL: no word is here, and that is noted. */
struct sb_word *sb_word_read(struct sb_reader *reader, enum sb_reading mode);

/* --- document.c ------------------------------------------------------------------- */

void sb_skip_blanks(struct sb_reader *reader); /* and comments */
/* And line ends; behind the first the documents that wait are read. */
void sb_skip_lines(struct sb_reader *reader);

/* --- simple.c ---------------------------------------------------------------------- */

/* Those that stand here, into *tail; the new tail. */
struct sb_redirect **sb_redirects_read(struct sb_reader *reader, struct sb_redirect **tail);
/* A simple command, or a function without its body. */
struct sb_node *sb_simple_read(struct sb_reader *reader);

/* --- condition.c --------------------------------------------------------------------- */

/* From behind "[[" to behind "]]". */
struct sb_word *sb_condition_read(struct sb_reader *reader);

#endif
