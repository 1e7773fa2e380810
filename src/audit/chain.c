#include "audit/chain.h"

#include <stdio.h>
#include <string.h>

#include "audit/log.h"
#include "base/auto.h"

static const char zeros[] = "0000000000000000000000000000000000000000000000000000000000000000";

void sb_chain_start(struct sb_chain *chain)
{
	sb_chain_link(chain, zeros, 0);
}

void sb_chain_add(struct sb_chain *chain, const char *bytes, size_t length)
{
	sb_sha256_add(&chain->since, bytes, length);
}

void sb_chain_hash(const struct sb_chain *chain, const char *bytes, size_t length,
		   char out[SB_SHA256_HEX])
{
	struct sb_sha256 sum = chain->since;

	sb_sha256_add(&sum, bytes, length);
	sb_sha256_end(&sum, out);
}

void sb_chain_link(struct sb_chain *chain, const char *hash, unsigned long seq)
{
	sb_sha256_init(&chain->since);
	sb_sha256_add(&chain->since, hash, strlen(hash));
	chain->seq = seq;
}

/* --- checking ---------------------------------------------------------------- */

struct checker {
	struct sb_check *result;
	struct sb_chain chain;
	size_t strange; /* first line since the last record that is none; 0: there is none */
	size_t strange_count;
};

static void broken(struct checker *checker, size_t line, const char *what)
{
	checker->result->bad_line = line;
	snprintf(checker->result->what, sizeof checker->result->what, "%s", what);
}

/* The record does not follow the one before: say in what way, the likeliest cause first. */
static void diagnose(struct checker *checker, size_t line, const struct sb_record *record,
		     const char *session)
{
	unsigned long expected = checker->chain.seq + record->lost + 1;
	char *what = checker->result->what;
	size_t size = sizeof checker->result->what;

	checker->result->bad_line = line;
	if (checker->strange)
		broken(checker, checker->strange, "this line is no record");
	else if (strcmp(record->session, session) != 0)
		snprintf(what, size, "record %lu is from another session, %s", record->seq,
			 record->session);
	else if (record->seq > expected && record->seq == expected + 1)
		snprintf(what, size, "record %lu is missing before record %lu", expected,
			 record->seq);
	else if (record->seq > expected)
		snprintf(what, size, "records %lu to %lu are missing before record %lu", expected,
			 record->seq - 1, record->seq);
	else if (record->seq < expected)
		snprintf(what, size, "record %lu stands where record %lu belongs", record->seq,
			 expected);
	else
		snprintf(what, size, "record %lu was changed, or what stands before it",
			 record->seq);
}

static void check_record(struct checker *checker, size_t line, const char *bytes, size_t length,
			 const struct sb_record *record, const char *session)
{
	struct sb_check *result = checker->result;
	char hash[SB_SHA256_HEX];

	sb_chain_hash(&checker->chain, bytes, length - SB_RECORD_TAIL, hash);
	if (strcmp(hash, record->hash) != 0 || strcmp(record->session, session) != 0 ||
	    record->seq != checker->chain.seq + record->lost + 1) {
		diagnose(checker, line, record, session);
		return;
	}
	sb_chain_link(&checker->chain, record->hash, record->seq);
	result->records++;
	result->lost += record->lost;
	result->torn += checker->strange_count;
	result->exited = record->event.kind == SB_EVENT_EXIT;
	if (record->event.kind == SB_EVENT_START)
		result->unsupervised = sb_record_is_static(record);
	checker->strange = checker->strange_count = 0;
}

static int check_line(struct checker *checker, size_t line, const char *bytes, size_t length,
		      const char *session, struct sb_error *err)
{
	SB_AUTO(sb_record_done) struct sb_record record = {0};
	int status = sb_record_parse(bytes, length, &record, err);

	if (status == SB_OK) {
		check_record(checker, line, bytes, length, &record, session);
		return SB_OK;
	}
	if (status != SB_E_INVALID)
		return status;
	/* The next record's hash tells whether it was torn or put there. */
	sb_chain_add(&checker->chain, bytes, length);
	sb_chain_add(&checker->chain, "\n", 1);
	if (!checker->strange)
		checker->strange = line;
	checker->strange_count++;
	return SB_OK;
}

int sb_check_session(int dir, const char *session, struct sb_check *out, struct sb_error *err)
{
	struct sb_check result = {0};
	struct checker checker = {.result = &result};
	enum sb_line_state state = SB_LINES_LINE;
	struct sb_lines lines;
	int status = SB_OK;

	sb_chain_start(&checker.chain);
	sb_lines_open(&lines, dir, session);
	while (status == SB_OK && !result.bad_line) {
		const char *bytes;
		size_t length;

		status = sb_lines_next(&lines, &state, &bytes, &length, err);
		if (status != SB_OK || state == SB_LINES_END || state == SB_LINES_PART)
			break;
		if (state == SB_LINES_LONG)
			broken(&checker, checker.strange ? checker.strange : lines.number,
			       "this line is no record");
		else
			status = check_line(&checker, lines.number, bytes, length, session, err);
	}
	/* What no record vouches for was not left there by a torn write: that ends the file. */
	if (status == SB_OK && !result.bad_line && checker.strange)
		broken(&checker, checker.strange, "this line is no record");
	result.torn_end = state == SB_LINES_PART;
	sb_lines_done(&lines);
	if (status == SB_OK)
		*out = result;
	return status;
}
