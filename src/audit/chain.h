/*
 * chain.h - what ties the records of a session together, so that an edit shows.
 *
 *     hash of record N = SHA-256(hash of record N-1, every byte of the file since its line)
 *
 * "Every byte": a record that a full disk tore apart stays in the file, the next one begins
 * on a new line, and its hash covers the torn piece.  So there is no byte before the last
 * record that could be changed unseen.  Before the first record the hash is 64 zeros.
 *
 * There is no secret in it: whoever may write the file can make the whole chain anew.  It
 * shows accidents and clumsy hands; what keeps the sandbox out is the policy.  What was cut
 * off at the end shows as a missing exit record, as a killed writer does.
 *
 * Plain data, nothing to release.
 */
#ifndef SB_AUDIT_CHAIN_H
#define SB_AUDIT_CHAIN_H

#include "audit/record.h"

struct sb_chain {
	struct sb_sha256 since; /* the last hash and the bytes after its line */
	unsigned long seq;      /* of the last record */
};

void sb_chain_start(struct sb_chain *chain);

/* Bytes that lie in the file and are no record. */
void sb_chain_add(struct sb_chain *chain, const char *bytes, size_t length);

/* The hash that a record would have whose covered bytes are these; the chain stays. */
void sb_chain_hash(const struct sb_chain *chain, const char *bytes, size_t length,
		   char out[SB_SHA256_HEX]);

/* A record with this hash and number is in the file. */
void sb_chain_link(struct sb_chain *chain, const char *hash, unsigned long seq);

/* --- checking ---------------------------------------------------------------- */

struct sb_check {
	size_t records;
	size_t torn;        /* records that were only half written, told by the next one */
	unsigned long lost; /* records that are told to be missing (full disk) */
	bool torn_end;      /* the file ends in the middle of a record */
	bool exited;        /* the last record is an exit */
	bool unsupervised;  /* a static run: whoever wrote the first became the command */
	size_t bad_line;    /* 0: the chain holds */
	char what[200];     /* what is wrong there */
};

/*
 * Check the whole file of a session in the directory dir.  The file may grow meanwhile.
 * SB_E_SYSTEM: it cannot be read.
 */
int sb_check_session(int dir, const char *session, struct sb_check *out, struct sb_error *err);

#endif
