/*
 * content.h - the text of a file, from bytes and back.
 */
#ifndef SB_FILES_CONTENT_H
#define SB_FILES_CONTENT_H

#include "base/buf.h"
#include "files/encoding.h"
#include "files/view.h"

/*
 * A file as it is edited: its bytes, and its text with plain \n where all its lines end in
 * \r\n.
 */
struct sb_content {
	struct sb_buf bytes;
	struct sb_buf text; /* empty for binary data */
	enum sb_files_encoding encoding;
	enum sb_files_eol eol;
};

void sb_content_init(struct sb_content *content, size_t limit_bytes);
void sb_content_done(struct sb_content *content);

/* Read all of a regular file; more than limit_bytes is TOO_LARGE. */
int sb_content_bytes(struct sb_job *job, const struct sb_place *place, size_t limit_bytes,
		     struct sb_buf *out);

/* The same, of a file that is open already. */
int sb_content_stream(struct sb_job *job, const struct sb_place *place, struct sb_stream *stream,
		      size_t limit_bytes, struct sb_buf *out);

/* The same, and what it means.  limit_bytes: that of init. */
int sb_content_load(struct sb_job *job, const struct sb_place *place, size_t limit_bytes,
		    struct sb_content *out);

/* text, with lines ending in \n, as bytes in the encoding and with the line ends of like. */
int sb_content_encode(struct sb_job *job, const struct sb_content *like, const char *path,
		      const char *text, size_t length, struct sb_buf *out);

/* Is this a regular file that can be read?  The error says what it is instead. */
int sb_content_check(struct sb_job *job, const struct sb_place *place, const char *verb);

#endif
