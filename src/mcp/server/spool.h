/*
 * spool.h - what a command prints: all of the beginning, the end, and how much it was.
 *
 * The first SB_SPOOL_HEAD bytes are kept in a memfd, the last SB_SPOOL_TAIL in a ring; what
 * lies between is counted and gone.  So a command that prints for ever costs no more.
 */
#ifndef SB_MCP_SERVER_SPOOL_H
#define SB_MCP_SERVER_SPOOL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SB_SPOOL_HEAD (16 * 1024 * 1024)
#define SB_SPOOL_TAIL (1024 * 1024)

struct sb_spool {
	int fd; /* memfd; -1: nothing came yet */
	uint64_t total;
	size_t head; /* bytes in the memfd */
	char *tail;  /* ring; NULL: all is in the memfd */
};

void sb_spool_init(struct sb_spool *spool);
void sb_spool_done(struct sb_spool *spool);
void sb_spool_add(struct sb_spool *spool, const char *bytes, size_t length);

/*
 * At most length bytes from offset on, as far as they are kept.  *out_offset is where they
 * really begin: later than asked for when the middle is gone.
 */
size_t sb_spool_read(const struct sb_spool *spool, uint64_t offset, char *out, size_t length,
		     uint64_t *out_offset);

/*
 * What came from offset on, in at most limit bytes: its beginning and its end, with a line
 * that says how much was left out between.  *out_cut tells whether something was.
 */
json_t *sb_spool_text(const struct sb_spool *spool, uint64_t offset, size_t limit, bool *out_cut);

#endif
