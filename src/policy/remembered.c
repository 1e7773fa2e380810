#include "policy/remembered.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "path/path.h"
#include "path/pattern.h"
#include "policy/builtin.h"
#include "policy/start.h"
#include "policy/text.h"

static const struct {
	const char *directory; /* beneath the home directory */
	const char *names;     /* NULL: the directory itself */
	bool made;             /* the program makes the directory, too */
} rows[] = {
	/* also with what is written first, and renamed: .lesshsQ, .viminfz.tmp, .bash_history-123.tmp */
	{"", ".*hist*"},
	{"", ".lesshs*"},
	{"", ".viminf*"},
	{".local/state", "lesshs*"},
	{".local/state", "*/*hist*"},
	{".local/share", "*/*hist*"},
	{".local/share", "nano"},
	{".local/share/fish", NULL},
	{".cache/fish", NULL},
	/* its settings lie beside: they ask, where there are any */
	{".config/fish", "fish_variables*", true},
};

static int add_one(struct sb_policy *policy, const char *directory, const char *names,
		   struct sb_error *err)
{
	SB_AUTO_FREE char *escaped = sb_pattern_escape(directory), *text = NULL;
	struct sb_rule rule = {.access = sb_access_quiet,
			       .tier = SB_TIER_BUILTIN,
			       .absent = true, /* the broker holds it; no mount has to */
			       .origin = "built-in: what a program remembers of its last use"};

	text = escaped ? sb_text_print("%s%s%s", escaped, names ? "/" : "", names ? names : "")
		       : NULL;
	if (!text)
		return sb_no_memory(err);
	rule.pattern = text;
	return sb_policy_add(policy, &rule, err);
}

static int add_rows(struct sb_policy *policy, const struct sb_surroundings *place, const char *home,
		    struct sb_error *err)
{
	SB_AUTO_FREE char *directory = NULL;
	int missing = 0, status = SB_OK;

	/* quiet opens for reading, and the most specific rule wins: "deny ~" means histories, too */
	if (!home || strcmp(home, "/") == 0 || sb_path_within_any(place->projects, home) ||
	    sb_start_user_hides(policy, home))
		return SB_OK;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0] && status == SB_OK; i++) {
		/* rows of one directory stand together */
		if (i == 0 || strcmp(rows[i].directory, rows[i - 1].directory) != 0) {
			free(sb_take_ptr(&directory));
			/* NULL: a link in a circle leads nowhere */
			sb_path_canonical_beneath(home, rows[i].directory, &directory, &missing,
						  NULL);
		}
		if (directory)
			status = add_one(policy, directory,
					 missing && rows[i].made ? NULL : rows[i].names, err);
	}
	return status;
}

int sb_remembered_add(struct sb_policy *policy, const struct sb_surroundings *place,
		      struct sb_error *err)
{
	int status;

	/* what asks without these rules a static run refuses anyway */
	if (place->existing_only)
		return SB_OK;
	status = add_rows(policy, place, place->home, err);
	/* sqlite3 asks the account before $HOME */
	if (status == SB_OK && place->account_home &&
	    (!place->home || strcmp(place->home, place->account_home) != 0))
		status = add_rows(policy, place, place->account_home, err);
	return status;
}

const struct sb_rule *sb_remembered_behind(const struct sb_policy *policy, const char *path,
					   const char *program)
{
	const struct sb_rule *rule;

	for (size_t i = 0; i < sb_policy_count(policy); i++) {
		const char *name;

		rule = sb_policy_rule(policy, i);
		name = strrchr(rule->pattern, '/');
		if (rule->tier == SB_TIER_BUILTIN && rule->access.quiet && name &&
		    strcmp(name + 1, program) == 0 && sb_path_within(path, rule->pattern))
			return rule;
	}
	return NULL;
}
