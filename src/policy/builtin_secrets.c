/*
 * Credentials: hidden where they are.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "path/path.h"
#include "policy/builtin_impl.h"
#include "policy/policy_impl.h"
#include "policy/secrets.h"
#include "policy/text.h"

/* One name with wildcards: the plan finds what it means.  around: its directory, canonical. */
static int add_secret_pattern(struct sb_policy *policy, const char *around, const char *wild,
			      const char *reason, struct sb_error *err)
{
	SB_AUTO_FREE char *escaped = sb_pattern_escape(around);
	SB_AUTO_FREE char *text = escaped ? sb_path_join(escaped, wild) : NULL;
	char origin[160];
	struct sb_rule rule = {.access = sb_access_deny,
			       .tier = SB_TIER_BUILTIN,
			       .pattern = text,
			       .origin = origin};

	if (!text)
		return sb_no_memory(err);
	snprintf(origin, sizeof origin, "built-in: %s", reason);
	return sb_policy_add(policy, &rule, err);
}

/* One look, where the walk would take one for each name on the way. */
static bool is_gone(const struct sb_base *base, const char *directory)
{
	return base->fd >= 0 && faccessat(base->fd, directory, F_OK, 0) != 0 && errno == ENOENT;
}

static int add_secret_patterns(struct sb_policy *policy, struct sb_base *base, struct sb_error *err)
{
	size_t count, last_length = 0;
	const struct sb_secret *secrets = sb_secrets(SB_SECRETS_PATTERNS, &count);
	const char *last = "";
	int status = SB_OK;

	for (size_t i = 0; i < count && status == SB_OK; i++) {
		const char *path = secrets[i].path, *wild = path + strcspn(path, "*");
		SB_AUTO_FREE char *around = NULL, *canonical = NULL;
		int missing = 0;
		size_t length;

		while (wild[-1] != '/')
			wild--;
		length = (size_t)(wild - 1 - path);
		/* rows of one directory stand together, and mostly it is not there */
		if (sb_base_lacks(base, path) ||
		    (length == last_length && memcmp(path, last, length) == 0))
			continue;
		around = strndup(path, length);
		if (!around)
			return sb_no_memory(err);
		if (is_gone(base, around) ||
		    sb_path_canonical_beneath(base->path, around, &canonical, &missing, NULL) !=
			    SB_OK ||
		    missing) {
			last = path;
			last_length = length;
			continue;
		}
		status = add_secret_pattern(policy, canonical, wild, secrets[i].reason, err);
	}
	return status;
}

#define MOST_ROWS 2048 /* of a table; those beyond are looked at as if they were there */

/* Rows of a table whose first name may be there: found in one walk, since the table is long and few are. */
struct maybe {
	uint64_t bits[MOST_ROWS / 64];
};

static void find_maybe(const struct sb_base *base, const struct sb_secret_table *table,
		       struct maybe *out)
{
	*out = (struct maybe){0};
	for (size_t i = 0; i < table->count && i < MOST_ROWS; i++)
		if (!sb_base_lacks(base, table->rows[i].path))
			out->bits[i / 64] |= UINT64_C(1) << i % 64;
}

static bool may_be(const struct maybe *maybe, size_t row)
{
	return row >= MOST_ROWS || maybe->bits[row / 64] & UINT64_C(1) << row % 64;
}

/* The next row from this one on that may be there; or the number of rows. */
static size_t next_maybe(const struct maybe *maybe, size_t row, size_t count)
{
	while (row < count && row < MOST_ROWS) {
		uint64_t left = maybe->bits[row / 64] >> row % 64;

		if (left)
			return row + (size_t)__builtin_ctzll(left);
		row += 64 - row % 64;
	}
	return row < count ? row : count;
}

/*
 * Is the row the first of the table in its directory?  Length: of that one's path, with its slash.  Those that share
 * it may all be there, or none.
 */
static bool is_first(const struct sb_secret_table *table, const struct maybe *maybe, size_t row,
		     size_t length)
{
	const char *path = table->rows[row].path;

	for (size_t i = next_maybe(maybe, 0, row); i < row; i = next_maybe(maybe, i + 1, row))
		if (strncmp(table->rows[i].path, path, length) == 0 &&
		    !strchr(table->rows[i].path + length, '/'))
			return false;
	return true;
}

/* Copies beside the rows of a table. */
static int add_copies(struct sb_policy *policy, struct sb_base *base,
		      const struct sb_secret_table *table, const struct maybe *maybe,
		      struct sb_error *err)
{
	size_t count = table->count;
	int status = base->listed && !base->copies
			     ? SB_OK
			     : sb_builtin_beside(policy, base, table, "", err);

	for (size_t i = next_maybe(maybe, 0, count); i < count && status == SB_OK;
	     i = next_maybe(maybe, i + 1, count)) {
		const char *path = table->rows[i].path, *slash = strrchr(path, '/');

		if (slash && is_first(table, maybe, i, (size_t)(slash - path) + 1))
			status = sb_builtin_beside(policy, base, table, path, err);
	}
	return status;
}

/* The secrets of one table, relative to its base. */
static int add_rows_of(struct sb_policy *policy, struct sb_base *base, enum sb_secret_base kind,
		       unsigned flags, struct sb_error *err)
{
	struct sb_secret_table table;
	struct maybe maybe;
	bool all = !(flags & SB_BUILTIN_EXISTING_ONLY);
	int status = SB_OK;

	table.rows = sb_secrets(kind, &table.count);
	find_maybe(base, &table, &maybe);
	for (size_t i = 0; i < table.count && status == SB_OK; i++) {
		const struct sb_secret *one;
		unsigned how = flags;
		struct sb_builtin_row row;

		if (!all && (i = next_maybe(&maybe, i, table.count)) == table.count)
			break;
		one = &table.rows[i];
		if (!(one->flags & SB_SECRET_ALWAYS) && !may_be(&maybe, i))
			continue;
		if (!(one->flags & SB_SECRET_ALWAYS))
			how |= SB_BUILTIN_EXISTING_ONLY;
		if ((one->flags & SB_SECRET_MIXED) &&
		    (base->fd < 0 || !sb_may_hold_password(base->fd, one->path, one->flags)))
			continue;
		row = (struct sb_builtin_row){one->path,
					      one->flags & SB_SECRET_PUBLIC ? &sb_access_read
									    : &sb_access_deny,
					      one->reason};
		status = sb_builtin_add_row(policy, base, &row, how, err);
	}
	return status == SB_OK ? add_copies(policy, base, &table, &maybe, err) : status;
}

/* The same, relative to path (canonical). */
static int add_secrets(struct sb_policy *policy, const char *path, enum sb_secret_base kind,
		       unsigned flags, struct sb_error *err)
{
	struct sb_base base;
	size_t count;
	int status;

	sb_secrets(kind, &count);
	sb_base_begin(&base, path, count);
	status = add_rows_of(policy, &base, kind, flags, err);
	sb_base_end(&base);
	return status;
}

/* The same in a directory of the home's, which may be a link; or not be there. */
static int add_secrets_in(struct sb_policy *policy, const struct sb_base *home,
			  enum sb_secret_base kind, unsigned flags, struct sb_error *err)
{
	const char *directory = sb_secrets_directory(kind);
	SB_AUTO_FREE char *canonical = NULL;
	struct sb_error why;
	int status;

	if ((flags & SB_BUILTIN_EXISTING_ONLY) && sb_base_lacks(home, directory))
		return SB_OK;
	status = sb_path_canonical_beneath(home->path, directory, &canonical, NULL, &why);
	if (sb_builtin_leads_nowhere(status, &why))
		return SB_OK;
	if (status != SB_OK)
		return sb_fail(err, why.code, why.sys_errno, "%s", why.message);
	return add_secrets(policy, canonical, kind, flags, err);
}

static int add_secrets_of(struct sb_policy *policy, const char *home, unsigned flags,
			  struct sb_error *err)
{
	struct sb_base base;
	size_t count;
	int status;

	sb_secrets(SB_SECRETS_HOME, &count);
	sb_base_begin(&base, home, count);
	status = add_rows_of(policy, &base, SB_SECRETS_HOME, flags, err);
	if (status == SB_OK)
		status = add_secret_patterns(policy, &base, err);
	if (status == SB_OK)
		status = add_secrets_in(policy, &base, SB_SECRETS_CONFIG, flags, err);
	if (status == SB_OK)
		status = add_secrets_in(policy, &base, SB_SECRETS_DATA, flags, err);
	if (status == SB_OK && !sb_base_lacks(&base, "snap"))
		status = add_secrets_in(policy, &base, SB_SECRETS_SNAP, flags, err);
	sb_base_end(&base);
	return status;
}

int sb_builtin_secrets(struct sb_policy *policy, const struct sb_surroundings *place,
		       unsigned flags, struct sb_error *err)
{
	int status = place->home ? add_secrets_of(policy, place->home, flags, err) : SB_OK;

	/* HOME may be changed (CI, agents, sudo); the account's keys stay where they are. */
	if (status == SB_OK && place->account_home &&
	    (!place->home || strcmp(place->home, place->account_home) != 0))
		status = add_secrets_of(policy, place->account_home, flags, err);
	if (status == SB_OK && place->config_home)
		status = add_secrets(policy, place->config_home, SB_SECRETS_CONFIG,
				     flags | SB_BUILTIN_EXISTING_ONLY, err);
	if (status == SB_OK && place->data_home)
		status = add_secrets(policy, place->data_home, SB_SECRETS_DATA,
				     flags | SB_BUILTIN_EXISTING_ONLY, err);
	for (size_t i = 0; place->secrets && place->secrets[i] && status == SB_OK; i++)
		status = sb_builtin_literal(policy, place->secrets[i], &sb_access_deny,
					    "credentials that the environment names", 0, err);
	return status;
}
