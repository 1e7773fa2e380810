/*
 * way.h - how something that was refused can be allowed: the option that would, or why none does.
 */
#ifndef SB_CONSENT_WAY_H
#define SB_CONSENT_WAY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "sandbash/policy.h"

/* What was refused, once or often. */
struct sb_stopped {
	enum sb_op op; /* of the first refusal */
	unsigned ops;  /* of all */
	bool metadata, read_only;
	bool beneath;      /* path is a directory, and the refusals were in it */
	const char *cache; /* static */
	char *path, *program, *by;
	char *worker;  /* that was called inside, and by whom; or NULL */
	char *other;   /* a name that has to be allowed as well, or NULL */
	char *rule;    /* origin; NULL: none covers it */
	bool final;    /* no flag allows it */
	bool own_flag; /* the rule is for this very path, and was said on the command line */
	bool approved;
	bool directory;   /* one was to be made, at least once */
	bool in_hidden;   /* its directory is hidden: what is not there cannot be made */
	bool needs_place; /* only a rule for its directory allows it */
	bool no_place;    /* and there is none, or no rule at all does */
	unsigned long count;
};

struct sb_way {
	const char *none; /* it cannot, and why; NULL: it can */
	const char *flag; /* "--allow-write"; NULL: leave out the flag that forbids it */
	char *paths[2];   /* what the flag is for; the second may be NULL */
	bool make_first;  /* a directory for many files: they need nobody's help if it is there */
};

/* home is never opened for it; NULL: of a worker. */
struct sb_way sb_way_find(const char *home, const struct sb_stopped *stopped);
void sb_way_done(struct sb_way *way);

/* Who refused it ("person", "nobody"), and the rule, or what stands for one: "nobody could be asked; no rule covers it". */
void sb_refused_why(const char *by, const char *rule, const char *no_rule, struct sb_buf *out);

/* As a person types it. */
void sb_way_put(const struct sb_stopped *stopped, const struct sb_way *way, struct sb_buf *out);

/* "--allow-write=PATTERN", for a shell or, quoted by who reads it, as it is. */
void sb_way_put_flag(const struct sb_way *way, size_t which, bool for_shell, struct sb_buf *out);

/*
 * Where package managers and build tools keep what they have downloaded.  They write beneath the home directory, outside
 * every project, in many places at once.  A refusal there is about one directory, and has one flag that makes the tool work.
 *
 * Whose cache holds path (canonical)?  "npm's cache", static; NULL: nobody's we know.
 * *out_directory, relative to home and static, is what has to be writable.
 */
const char *sb_cache_of(const char *home, const char *path, const char **out_directory);

#endif
