/*
 * encoding.h - what bytes mean as text, and back.
 *
 * Text inside the file tools is UTF-8.  Decoding and encoding again gives the same bytes:
 * what could not be had back exactly counts as binary.
 */
#ifndef SB_FILES_ENCODING_H
#define SB_FILES_ENCODING_H

#include <stdbool.h>
#include <stddef.h>

#include "sandbash/files.h"

struct sb_buf;

/* whole: these are all bytes; else a character may be cut at the end. */
enum sb_files_encoding sb_encoding_detect(const char *bytes, size_t length, bool whole);

/* Append as UTF-8, without byte order mark. */
void sb_encoding_decode(enum sb_files_encoding encoding, const char *bytes, size_t length,
			struct sb_buf *out);

/* Append text, with the mark if the encoding has one.  False: it cannot be written so. */
bool sb_encoding_encode(enum sb_files_encoding encoding, const char *text, size_t length,
			struct sb_buf *out);

enum sb_files_eol sb_eol_detect(const char *text, size_t length);

/* Append text with \r\n as \n, or with \n (and \r\n) as \r\n. */
void sb_eol_to_lf(const char *text, size_t length, struct sb_buf *out);
void sb_eol_to_crlf(const char *text, size_t length, struct sb_buf *out);

#endif
