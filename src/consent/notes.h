/*
 * notes.h - what a person is told at the end of a run although nothing was refused.
 *
 *     zeroed -> add ... -> text, json -> done
 *
 * One line each, every line once, the gravest first.  SB_NOTES_MAX are kept, and SB_NOTES_GRAVE beside
 * them; the rest is counted.  Lines are about names from inside: they are escaped here, whoever made
 * them.  Not for several threads at a time.
 *
 * SECURITY: nobody can push a line out by making many others.
 *
 * Danger: d1/CLAUDE.md to d2000/CLAUDE.md are changed, and then CLAUDE.md.
 * So a line about a path takes the place of one about a deeper path: names in the top of a project stay.
 * And what weighs more takes the place of what weighs less; what is grave has room of its own.
 * Held by: tests/cli/told.py
 */
#ifndef SB_CONSENT_NOTES_H
#define SB_CONSENT_NOTES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/json.h"

#define SB_NOTES_MAX 32
#define SB_NOTES_GRAVE 96   /* as many as one run is looked after for at its end, and some */
#define SB_NOTES_KNOWN 1024 /* lines that are told apart; after them only those that are kept */
#define SB_NOTE_SIZE 1024   /* a longer line is cut */

enum sb_note_weight {
	SB_NOTE_TOLD,   /* an agent follows it */
	SB_NOTE_LANDED, /* bytes that have landed mean something */
	SB_NOTE_GRAVE, /* what was left behind runs something, or leads elsewhere, when git is used next */
};

struct sb_note {
	char *text;
	enum sb_note_weight weight;
};

struct sb_notes {
	struct sb_note grave[SB_NOTES_GRAVE], lines[SB_NOTES_MAX];
	size_t grave_count, count;
	size_t beyond; /* further ones; more than that if known is full */
	uint64_t known[SB_NOTES_KNOWN];
	size_t known_count;
};

/* True: it is new, as far as that can be told.  Never fails: what cannot be kept is counted. */
bool sb_notes_add(struct sb_notes *notes, enum sb_note_weight weight, const char *line);
void sb_notes_done(struct sb_notes *notes);

/* A headline and a line each; nothing if there are none. */
void sb_notes_text(const struct sb_notes *notes, struct sb_buf *out);

/* An array of strings, then the number of further ones: two pairs of an open object. */
void sb_notes_json(const struct sb_notes *notes, struct sb_json *json);

#endif
