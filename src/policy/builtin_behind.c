/*
 * SECURITY: what a link in a hidden directory leads to is hidden as well.
 *
 * Danger: who keeps ~/.aws/credentials as a link into a directory of such files (stow, chezmoi) has a hidden name and
 * a readable file; and where nothing can be mounted, Landlock looks at the file alone, so that it is read by that name.
 * Price: hidden directories are listed at every launch: the names in them and, of those that are built in, the names
 * in the first directories in them.  Links deeper than that are not known.
 * Held by: tests/enforce/secrets.py
 *
 * Of files of the system (a link to /usr/share) nothing is hidden: only what lies in a home directory, and files
 * that not everybody may read.  Nor is a directory in which a project lies.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/words.h"
#include "path/path.h"
#include "policy/access.h"
#include "policy/builtin_impl.h"
#include "policy/policy_impl.h"
#include "sys/directory.h"

enum { MAX_NAMES = 500, MAX_DEEPER = 16 };

struct behind {
	struct sb_policy *policy;
	const struct sb_surroundings *place;
	const char *hidden; /* the directory that a rule names */
	const char *reason;
	unsigned deeper; /* directories in it that may still be listed */
	struct sb_error *err;
};

static bool is_at_home(const struct sb_surroundings *place, const char *path)
{
	return (place->home && sb_path_within(place->home, path)) ||
	       (place->account_home && sb_path_within(place->account_home, path));
}

static bool holds_more(const struct sb_surroundings *place, const char *path)
{
	return sb_path_holds_any(path, place->projects) ||
	       (place->home && sb_path_within(path, place->home)) ||
	       (place->account_home && sb_path_within(path, place->account_home));
}

static bool is_meant(const struct behind *behind, const char *target)
{
	struct stat info;

	if (sb_path_within(behind->hidden, target) || stat(target, &info) != 0 ||
	    holds_more(behind->place, target))
		return false;
	/* what has a rule keeps it: ~/.ssh/config can be read, and where it leads */
	for (size_t i = 0; i < behind->policy->count; i++)
		if (!behind->policy->entries[i].pattern.glob &&
		    strcmp(behind->policy->entries[i].pattern.prefix, target) == 0)
			return false;
	return is_at_home(behind->place, target) ||
	       (S_ISREG(info.st_mode) && !(info.st_mode & S_IROTH));
}

static int hide_target(const struct behind *behind, const char *link)
{
	SB_AUTO_FREE char *target = NULL;
	int missing;

	if (sb_path_canonical(link, &target, &missing, NULL) != SB_OK || missing ||
	    !is_meant(behind, target))
		return SB_OK;
	return sb_builtin_literal(behind->policy, target, &sb_access_deny, behind->reason, 0,
				  behind->err);
}

/* The links in one directory, and in those in it. */
static int hide_behind(struct behind *behind, const char *directory)
{
	int status = SB_OK, left = MAX_NAMES;

	/* none of a file, or where nobody lists it */
	SB_EACH_ENTRY(dir, AT_FDCWD, directory, status == SB_OK && left--) {
		const struct dirent64 *entry = dir.entry;
		bool goes_on = entry->d_type == DT_DIR && entry->d_name[0] != '.' &&
			       behind->deeper && strcmp(directory, behind->hidden) == 0;
		/* not every file system says what it is; what is no link leads nowhere else */
		bool may_link = entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN;
		SB_AUTO_FREE char *path = NULL;

		if ((!may_link && !goes_on) || sb_is_dots(entry->d_name))
			continue;
		path = sb_path_join(directory, entry->d_name);
		if (!path)
			status = sb_no_memory(behind->err);
		else if (!goes_on)
			status = hide_target(behind, path);
		else if (behind->deeper--)
			status = hide_behind(behind, path);
	}
	return status;
}

int sb_builtin_behind(struct sb_policy *policy, const struct sb_surroundings *place,
		      struct sb_error *err)
{
	static const char prefix[] = "built-in: ";
	size_t count = policy->count; /* what is added here leads nowhere else */
	int status = SB_OK;

	for (size_t i = 0; i < count && status == SB_OK; i++) {
		const struct sb_entry *entry = &policy->entries[i];
		const struct sb_rule *rule = &entry->rule;
		bool built_in = rule->tier == SB_TIER_BUILTIN;
		char reason[160];
		struct behind behind = {
			policy, place, entry->pattern.prefix, reason, built_in ? MAX_DEEPER : 0,
			err};

		if (rule->access.verdict[SB_READ] != SB_DENY || rule->hard || rule->link ||
		    rule->absent || rule->sockets || entry->pattern.glob ||
		    (rule->seen && rule->seen != S_IFDIR) || !is_at_home(place, behind.hidden))
			continue;
		snprintf(reason, sizeof reason, "%s",
			 built_in && rule->origin ? rule->origin + sizeof prefix - 1
						  : "where a link leads that a rule hides");
		status = hide_behind(&behind, behind.hidden);
	}
	return status;
}
