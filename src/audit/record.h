/*
 * record.h - one line of the log: from an event to text, and strictly back.
 *
 *     {"v":1,"time":"2026-11-15T18:03:01.000123Z","seq":7,"session":"...","event":"deny",...,
 *      "hash":"..."}                                             (one line in the file)
 *
 * Fields stand in a fixed order and are left out when they do not apply.  The last is the
 * hash; what it covers is chain.h's business.  The reader takes what the writer makes and
 * nothing else, so that a line is either ours or not.
 *
 * A parsed record owns its strings: sb_record_done().  It points into itself: pass it by
 * pointer, never copy it.  One that is filled by hand owns nothing.
 */
#ifndef SB_AUDIT_RECORD_H
#define SB_AUDIT_RECORD_H

#include <stdint.h>

#include "audit/audit.h"
#include "base/hash.h"

struct sb_buf;

/* "20261115T180301-1234-9f3c" and a NUL, with room for the longest process id */
#define SB_SESSION_SIZE 36

/*
 * No line is longer.  A path that the kernel takes has 4095 bytes, each at worst \udcXX;
 * texts beyond TEXT_MAX and commands beyond WORDS_MAX are cut, and the record says so.
 */
#define SB_RECORD_MAX (1024 * 1024)
#define SB_RECORD_TEXT_MAX (16 * 1024)
#define SB_RECORD_WORDS_MAX (48 * 1024)

/* ,"hash":"64 digits"} */
#define SB_RECORD_TAIL (sizeof ",\"hash\":\"" - 1 + 64 + sizeof "\"}" - 1)

struct sb_record {
	int64_t time_us;    /* since 1970, UTC */
	unsigned long seq;  /* 1, 2, ...; a record that could not be written has used one up */
	unsigned long lost; /* how many before this one could not be written */
	unsigned long cut;  /* bytes left out because they were too many */
	char session[SB_SESSION_SIZE];
	const char *name; /* of the session, in its start record; or NULL */
	struct sb_event event;
	struct sb_counters counters; /* what event.counters points at after parsing */
	char hash[SB_SHA256_HEX];
	void *memory; /* what a parsed record owns */
};

/* Append all of the line that the hash covers: up to and without ,"hash":... */
void sb_record_print(const struct sb_record *record, struct sb_buf *out);

/* Append the rest of the line, with its newline. */
void sb_record_print_tail(const char *hash, struct sb_buf *out);

/*
 * Read one line (without its newline; it may hold any byte).  SB_E_INVALID: it is no
 * record of ours; the reason says at which byte.
 */
int sb_record_parse(const char *bytes, size_t length, struct sb_record *out, struct sb_error *err);
/*
 * The two of a line that the next record needs, and no more: for a writer in a hurry.  False: it is
 * no record, as far as that shows.
 */
bool sb_record_link(const char *bytes, size_t length, char out_hash[SB_SHA256_HEX],
		    unsigned long *out_seq);

void sb_record_done(struct sb_record *record); /* NULL and zeroed are fine */

/* The start of a run without a supervisor, of whose end there is no record. */
bool sb_record_is_static(const struct sb_record *start);

const char *sb_event_name(enum sb_event_kind kind);

/* "2026-11-15T18:03:01.000123Z"; out has room for SB_TIME_SIZE bytes. */
#define SB_TIME_SIZE 32
void sb_time_print(int64_t time_us, char out[SB_TIME_SIZE]);

/* Has id the form of a session's?  Then it holds only digits, '-', 'T' and 'a' to 'f'. */
bool sb_session_valid(const char *id, size_t length);

/* The second in which a session began, in microseconds since 1970, as its id tells. */
int64_t sb_session_begin(const char *id);

#endif
