/*
 * notes.h - what a person is told at the end of a run although nothing was refused.
 *
 *     zeroed -> add ... -> text, json -> done
 *
 * One line each, every line once.  SB_NOTES_MAX are kept, the rest is counted.  Lines are about names
 * from inside: they are escaped here, whoever made them.  Not for several threads at a time.
 */
#ifndef SB_CONSENT_NOTES_H
#define SB_CONSENT_NOTES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/json.h"

#define SB_NOTES_MAX 32
#define SB_NOTES_KNOWN 1024 /* lines that are told apart; what comes after them counts as known */
#define SB_NOTE_SIZE 1024   /* a longer line is cut */

struct sb_notes {
	char *lines[SB_NOTES_MAX];
	size_t count;  /* of lines */
	size_t beyond; /* further ones */
	uint64_t known[SB_NOTES_KNOWN];
	size_t known_count;
};

/* True: it is new.  Never fails: what cannot be kept is counted. */
bool sb_notes_add(struct sb_notes *notes, const char *line);
void sb_notes_done(struct sb_notes *notes);

/* A headline and a line each; nothing if there are none. */
void sb_notes_text(const struct sb_notes *notes, struct sb_buf *out);

/* An array of strings, then the number of further ones: two pairs of an open object. */
void sb_notes_json(const struct sb_notes *notes, struct sb_json *json);

#endif
