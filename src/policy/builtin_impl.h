/*
 * builtin_impl.h - how built-in rules are added: rows beneath a directory, as far as they are there.
 */
#ifndef SB_POLICY_BUILTIN_IMPL_H
#define SB_POLICY_BUILTIN_IMPL_H

#include <stdint.h>

#include "policy/builtin.h"
#include "policy/secrets.h"
#include "sandbash/policy.h"

struct sb_builtin_row {
	const char *path; /* relative to what the table says */
	const struct sb_access *access;
	const char *reason;
};

enum sb_builtin_flags {
	SB_BUILTIN_HARD = 1,
	SB_BUILTIN_ANY_MODE = 2,
	SB_BUILTIN_ABSENT = 4,
	SB_BUILTIN_TEMP = 8,
	SB_BUILTIN_EXISTING_ONLY = 16,
	SB_BUILTIN_IS_LINK = 32,
	SB_BUILTIN_CHECKED = 64,
	SB_BUILTIN_SOCKETS = 128,
	SB_BUILTIN_SHARED = 256,
};

/*
 * A directory whose names are looked up, and what its last looked-up entry was: the
 * rows of a table share their first components, and most of them are not there.
 */
struct sb_base {
	const char *path; /* canonical */
	int fd;           /* -1: cannot be opened */
	bool gone;        /* it is not there, nor anything in it */
	char entry[64];
	int kind;           /* of that entry */
	unsigned seen;      /* the kind of what was looked at last, as st_mode says it */
	char written[512];  /* path, a slash, and the row's name behind it */
	size_t prefix;      /* how long path is with the slash; 0: too long for written */
	bool copies;        /* some of those that were listed look like copies */
	bool listed;        /* all its names are in these two: */
	uint64_t begin[4];  /* a bit per name, by two letters, which tell most apart; */
	uint64_t maybe[64]; /* one by more letters; a name whose bit is not set is not there */
};

/* The directory of a table with so many rows. */
void sb_base_begin(struct sb_base *base, const char *path, size_t rows);

void sb_base_end(struct sb_base *base);

/* The bit of the first name in path, which is not empty, by two letters. */
static inline unsigned sb_base_begin_bit(const char *path)
{
	unsigned char second = (unsigned char)path[1];

	return (31u * (unsigned char)path[0] + (second == '/' ? 0u : second)) % 256;
}

/* sb_base_lacks() of a path by more than its first letters. */
bool sb_base_lacks_name(const struct sb_base *base, const char *path);

/* Is it known without a look that path is not there?  Here, as a launch asks this of some thousand rows. */
static inline bool sb_base_lacks(const struct sb_base *base, const char *path)
{
	unsigned bit;

	if (!base->listed)
		return base->gone;
	bit = sb_base_begin_bit(path);
	return !(base->begin[bit / 64] & UINT64_C(1) << bit % 64) || sb_base_lacks_name(base, path);
}

int sb_builtin_literal(struct sb_policy *policy, const char *path, const struct sb_access *access,
		       const char *reason, unsigned flags, struct sb_error *err);

int sb_builtin_links(struct sb_policy *policy, const char *written,
		     const struct sb_builtin_row *row, unsigned flags, struct sb_error *err);

int sb_builtin_add_row(struct sb_policy *policy, struct sb_base *base,
		       const struct sb_builtin_row *row, unsigned flags, struct sb_error *err);

/* The rows of a table, relative to path (canonical). */
int sb_builtin_table(struct sb_policy *policy, const char *path, const struct sb_builtin_row *rows,
		     size_t count, unsigned flags, struct sb_error *err);

/* Links in a circle lead nowhere, for programs outside too: nothing behind them to protect. */
bool sb_builtin_leads_nowhere(int status, const struct sb_error *err);

/* builtin_secrets.c: what nobody in a run reads */
int sb_builtin_secrets(struct sb_policy *policy, const struct sb_surroundings *place,
		       unsigned flags, struct sb_error *err);

/* Rows of credentials that lie beneath one base. */
struct sb_secret_table {
	const struct sb_secret *rows;
	size_t count;
};

/* builtin_beside.c: copies of what the table names, in the directory of one of its rows ("": in the base) */
int sb_builtin_beside(struct sb_policy *policy, struct sb_base *base,
		      const struct sb_secret_table *table, const char *row, struct sb_error *err);

/* How long is the name of what *name, by its own, is a copy of, and where does it begin?  0: it says no such thing. */
size_t sb_copy_stem(const char **name);

/* builtin_behind.c: and where links in hidden directories lead.  With all rules that hide anything in place. */
int sb_builtin_behind(struct sb_policy *policy, const struct sb_surroundings *place,
		      struct sb_error *err);

/* builtin_guard.c: names that the guard knows, where no guard watches */
int sb_builtin_guard_root(struct sb_policy *policy, const char *root, unsigned flags,
			  struct sb_error *err);
int sb_builtin_guard_opened(struct sb_policy *policy, const struct sb_surroundings *place,
			    unsigned flags, struct sb_error *err);
int sb_builtin_guard_parts(struct sb_policy *policy, const struct sb_surroundings *place,
			   const char *project, unsigned flags, struct sb_error *err);

#endif
