#include "consent/always.h"

#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/escape.h"
#include "config/edit.h"
#include "consent/identity.h"
#include "consent/overrule.h"
#include "path/path.h"
#include "path/pattern.h"
#include "policy/text.h"

/* A rule is text: it must mean the directory that the person was asked about. */
static bool still_there(const struct sb_wish *wish, const char *path)
{
	SB_AUTO_FREE char *canonical = NULL;
	struct stat now, asked;
	int missing;

	return sb_path_canonical(path, &canonical, &missing, NULL) == SB_OK && !missing &&
	       strcmp(canonical, path) == 0 && lstat(path, &now) == 0 &&
	       fstat(wish->directory, &asked) == 0 &&
	       sb_same_file(sb_identity_of(&now), sb_identity_of(&asked));
}

static int describe(const struct sb_access *access, const char *pattern, char **out,
		    struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(8 * PATH_MAX); /* a path, each byte as \xNN */

	sb_rule_print(access, pattern, &text);
	*out = sb_buf_take(&text);
	return *out ? SB_OK : sb_no_memory(err);
}

static int hint_add_path(const char *path, struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf word = SB_BUF(sizeof err->hint);

	sb_shell_quote(&word, path);
	if (!sb_buf_failed(&word)) /* half a path would be another one */
		sb_hint(err, "if that is meant: sandbash --add-path %s", word.data);
	return SB_E_CONFLICT;
}

/*
 * SECURITY: an answer that becomes a rule opens no name that was asked about one by one.
 *
 * Danger: a rule for "X/.vscode" is one about that name, and opens X/.vscode/tasks.json; the
 * question was about X/.vscode/notes.txt.
 * Price: such a directory is opened for the session only.
 * Held by: tests/cli/guard_consent.py
 */
static int refuse_guarded(const struct sb_guard *guard, const struct sb_access *access,
			  const char *path, struct sb_error *err)
{
	const struct sb_guard_row *row;

	if (!guard || access->verdict[SB_MODIFY] != SB_ALLOW)
		return SB_OK;
	row = sb_guard_row_in(guard, path);
	if (!row)
		return SB_OK;
	sb_fail(err, SB_E_CONFLICT, 0, "a rule for '%s' would open what %s obeys there", path,
		row->who);
	return hint_add_path(path, err);
}

int sb_always_write(const struct sb_always *always, const struct sb_wish *wish, char **out_file,
		    char **out_rule, struct sb_error *err)
{
	const struct sb_home *home = always->home;
	SB_AUTO_FREE char *file = home->config_dir ? sb_directory_config(home, home->cwd) : NULL;
	SB_AUTO_FREE char *expected = NULL;
	SB_AUTO_FREE char *pattern = NULL;
	const struct sb_rule *overruled;
	struct sb_config_added added;
	struct sb_access access;
	char path[PATH_MAX];
	int status;

	if (!home->config_dir)
		return sb_fail(err, SB_E_REFUSED, 0, "a worker's file says what it may always do");
	if (!file)
		return sb_no_memory(err);
	if (!sb_grants_may_open_directory(always->grants, wish) ||
	    !sb_grants_as_rule(wish, SB_ANSWER_ALWAYS, &access, path))
		return sb_fail(err, SB_E_REFUSED, 0,
			       "the directory of '%s' cannot be opened as a whole", wish->path);
	expected = sb_pattern_escape(path);
	if (!expected)
		return sb_no_memory(err);
	if (!still_there(wish, path))
		return sb_fail(err, SB_E_REFUSED, 0, "'%s' is no longer the directory asked about",
			       path);
	overruled = sb_overruled(always->policy, path, &access, NULL);
	if (overruled) {
		sb_fail(err, SB_E_CONFLICT, 0, "a rule for '%s' would overrule %s", path,
			overruled->origin);
		return hint_add_path(path, err);
	}
	status = refuse_guarded(always->guard, &access, path, err);
	if (status != SB_OK)
		return status;
	status = sb_config_add_rule(home, file, &access, path, &added, err);
	if (status != SB_OK)
		return status;
	pattern = added.pattern;
	/* it was a link just now: take that back */
	if (strcmp(pattern, expected) != 0) {
		SB_AUTO_FREE char *removed = NULL;

		sb_config_remove_path(home, file, pattern, &removed, &added.changed, NULL);
		return sb_fail(err, SB_E_REFUSED, 0, "'%s' is no longer the directory asked about",
			       path);
	}
	status = describe(&access, pattern, out_rule, err);
	if (status == SB_OK)
		*out_file = sb_take_ptr(&file);
	return status;
}
