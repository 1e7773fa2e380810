/*
 * grep_input.h - a file's text in a window that moves over it.
 *
 *     begin -> fill, search data[0..usable), move -> ... until at_end
 *
 * The window always holds whole lines, but for lines longer than it can become: those are
 * cut there, as if a line ended.  UTF-16 with a byte order mark is turned into UTF-8.  Files are read, never
 * mapped: a mapped file that someone shortens kills the reader (SIGBUS, mmap(2)).
 */
#ifndef SB_SEARCH_GREP_INPUT_H
#define SB_SEARCH_GREP_INPUT_H

#include "search/search.h"

enum {
	SB_INPUT_WINDOW = 128 * 1024,
	SB_INPUT_LONGEST = 4 * 1024 * 1024, /* the window grows up to this for a long line */
	SB_INPUT_WHOLE = 16 * 1024 * 1024,  /* or this, when the whole file is wanted */
};

enum sb_input_encoding { SB_INPUT_BYTES, SB_INPUT_UTF16LE, SB_INPUT_UTF16BE };

struct sb_input {
	const struct sb_search_source *source;
	sb_search_handle file;
	char *data; /* kept from file to file */
	size_t capacity;
	size_t length; /* of text in data */
	size_t usable; /* up to the end of its last whole line; all of it at the end */
	bool at_end;
	bool whole;   /* the window must hold everything */
	bool too_big; /* it cannot */
	int error;
	uint64_t bytes; /* read from the file */
	enum sb_input_encoding encoding;
	unsigned char *raw; /* of UTF-16, not decoded yet */
	size_t raw_length;
	bool begun;
};

void sb_input_begin(struct sb_input *input, const struct sb_search_source *source,
		    sb_search_handle file, bool whole);

/* Read more.  false: error is set (a negative errno), or too_big. */
bool sb_input_fill(struct sb_input *input);

/* Forget the first bytes of the window. */
void sb_input_move(struct sb_input *input, size_t bytes);
void sb_input_done(struct sb_input *input);

#endif
