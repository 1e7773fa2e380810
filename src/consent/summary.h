/*
 * summary.h - what was refused in a run, told once at its end, with the way to allow it; and what was
 * done that a person should look at.
 *
 *     new -> add ... -> text, json -> free
 *     new -> keep_apart -> add ... -> each -> free          for --learn
 *
 * Refusals of one path are one entry, those of one package cache are one, and several in one
 * directory become one about the directory.  At most SB_SUMMARY_MAX entries are kept; what
 * comes later is counted.  Paths and program names come from inside: the text is escaped.
 */
#ifndef SB_CONSENT_SUMMARY_H
#define SB_CONSENT_SUMMARY_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/json.h"
#include "consent/notes.h"
#include "consent/reached.h"
#include "sandbash/policy.h"

#define SB_SUMMARY_MAX 256
#define SB_SUMMARY_APART 2048 /* of a summary that is kept apart: some 300 KB */

struct sb_refusal {
	enum sb_op op;
	bool metadata;
	bool read_only;      /* the mode refuses all changes */
	const char *path;    /* canonical */
	const char *program; /* NULL: unknown */
	const char *worker;  /* one that the run's called, and by whom; or NULL */
	/* Which rule stopped it; NULL: none covers the path.  Need not live on. */
	const struct sb_rule *rule;
	const char *
		by; /* as in the record: "person", "nobody", "timeout", "flood", "changed"; NULL: the rule */
	/* rename: the other name, if that is not allowed either; else NULL */
	const char *other;
	const struct sb_rule *other_rule;
	bool no_rule; /* none opens it, or the other: a directory that becomes git's */
	/*
	 * A link: a rule for its own name does not let it be made (judge/placed.c), and means what it leads
	 * to if it is there; one for its directory does; of a hard link if linked, which gets another name, lies there as well.
	 */
	bool is_link;
	const char *linked;
	bool directory; /* that was to be made */
	bool approved;  /* it was done, since a person said yes: for a summary that is kept apart */
};

struct sb_summary;

struct sb_summary *sb_summary_new(const char *home); /* NULL: out of memory */

/* No option allows what its file does not. */
void sb_summary_of_worker(struct sb_summary *summary);
void sb_summary_free(struct sb_summary *summary);

/*
 * Every path is an entry of its own, whatever lies beside it, and what was approved is one, too.  Before
 * the first is added.  The text has no refusals then: who wants this tells them otherwise.  SB_E_NOMEM.
 */
int sb_summary_keep_apart(struct sb_summary *summary, struct sb_error *err);

/* Never fails: what cannot be kept is counted. */
void sb_summary_add(struct sb_summary *summary, const struct sb_refusal *refusal);

/*
 * These bytes have landed at path, by a yes that was given before they were known: told as well,
 * once for each path.
 */
void sb_summary_wrote(struct sb_summary *summary, const char *path, size_t length);

/* A host that was refused, or, where "network learn" wants rules, reached. */
void sb_summary_contact(struct sb_summary *summary, const struct sb_contact *contact);

/* Lines "connect HOST" for those that were reached and, if refused is set, for those that no rule speaks of. */
void sb_summary_hosts(const struct sb_summary *summary, bool refused, struct sb_buf *out);

/* Something that was done, and that a person should look at (notes.h).  True: it is new. */
bool sb_summary_note(struct sb_summary *summary, enum sb_note_weight weight, const char *line);

/* Is there anything to tell? */
bool sb_summary_is_empty(const struct sb_summary *summary);

/* Was something refused because nobody could be asked? */
bool sb_summary_nobody(const struct sb_summary *summary);

unsigned long sb_summary_count(const struct sb_summary *summary);

/*
 * For standard error; nothing when there is nothing to tell.  A line per entry, at most lines of
 * them, those refused most often first.  What is told to allow it does: tests/cli/remedies.py.
 */
void sb_summary_text(const struct sb_summary *summary, size_t lines, struct sb_buf *out);

/* One entry of a summary that is kept apart; strings live until each() returns. */
struct sb_refused {
	unsigned ops; /* a bit for each enum sb_op that was refused */
	bool approved, read_only;
	bool directory; /* was to be made */
	unsigned long count;
	const char *path, *program, *by; /* as in sb_refusal */
	const char *rule;                /* origin; NULL: none covers it */
	bool in_hidden;                  /* and it hides the directory of it */
	const char *
		paths[2]; /* what has to be open; the second, or both, may be NULL: nothing helps */
	const char *verb; /* "create", "change files in" */
	const char *way;  /* what allows it, or that nothing does, as the summary says it */
};

void sb_summary_each(const struct sb_summary *summary,
		     void (*each)(void *context, const struct sb_refused *refused), void *context);

/* Refused, and not kept. */
unsigned long sb_summary_beyond(const struct sb_summary *summary);

/* The same as an object, with at most so many entries; of the others "not_listed" tells how many refusals. */
void sb_summary_json(const struct sb_summary *summary, size_t most, struct sb_json *json);

#endif
