/*
 * An index: its names, how it can be read, and what it hides.
 */
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "guard/check.h"
#include "guard/git_config.h"
#include "guard/git_index.h"
#include "guard/read.h"

/* The value of key in the config at name, in the directory of check->path, or NULL; false: there is none. */
static bool read_beside(const struct sb_check *check, const char *name, const char *key,
			char *value, size_t size)
{
	const char *slash = strrchr(check->path, '/'), *found;
	SB_AUTO_BUF struct sb_buf path = SB_BUF(2 * SB_CHECK_MAX_LINE);
	SB_AUTO_FREE char *text = NULL;
	SB_AUTO(sb_git_config_done) struct sb_git_config config = {0};
	size_t length;

	sb_buf_append(&path, check->path, slash ? (size_t)(slash + 1 - check->path) : 0);
	sb_buf_puts(&path, name);
	text = sb_buf_failed(&path) ? NULL : sb_read_text(path.data, SB_GUARD_MAX_BYTES, &length);
	if (!text)
		return false;
	sb_git_config_parse(text, length, &config);
	found = sb_git_config_get(&config, key);
	snprintf(value, size, "%s", found ? found : "");
	return !config.failed && !config.no_memory;
}

static bool is_sparse(const struct sb_check *check)
{
	static const char *const names[] = {"config.worktree", "config", "../../config"};
	char value[8];

	for (size_t i = 0; i < (sb_check_is_in_worktrees(check->path) ? 3 : 2); i++)
		if (read_beside(check, names[i], "core.sparsecheckout", value, sizeof value) &&
		    strcmp(value, "true") == 0) /* as git sparse-checkout writes it */
			return true;
	return false;
}

/* Are hashes short there?  If that is not known, no; nor if they are long: without a config they would not be. */
static bool is_short_repository(const struct sb_check *check)
{
	char value[8];

	return read_beside(check, sb_check_is_in_worktrees(check->path) ? "../../config" : "config",
			   SB_GIT_HASH_KEY, value, sizeof value) &&
	       (!value[0] || strcmp(value, "sha1") == 0);
}

#define CHEAP_INDEX                                                                                \
	(64 * 1024) /* so long that to read it otherwise takes no longer than a config */

/* Either of the two will do, so the cheaper one is asked first. */
static bool is_unclear(const struct sb_check *check, bool is_long)
{
	if (is_long)
		return sb_git_index_is_ambiguous(check->new_bytes, true);
	if (check->new_bytes.length > CHEAP_INDEX && is_short_repository(check))
		return false;
	return sb_git_index_is_ambiguous(check->new_bytes, false) && !is_short_repository(check);
}

void sb_check_index(const struct sb_check *check)
{
	struct sb_index_facts facts;
	char why[SB_GUARD_DETAIL];

	/* "worktrees" may be anybody's directory, and what does not begin like this git never reads */
	if (sb_check_is_in_worktrees(check->path) &&
	    (check->new_bytes.length < 4 || memcmp(check->new_bytes.bytes, "DIRC", 4) != 0))
		return;
	if (!sb_git_index_is_harmless(check->new_bytes, &facts, why, sizeof why))
		sb_check_ask(check, why, "", 0);
	else if (is_unclear(check, facts.is_long))
		sb_check_ask(check, "can be read as an index of another kind", "", 0);
	else if (facts.hides)
		sb_git_index_note(check->old_bytes, check->new_bytes, is_sparse(check), check->why,
				  sb_check_note_size(check));
}
