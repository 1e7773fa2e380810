/*
 * placed.c - the places that rules name: roots, and what "write ~/new" is about.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "judge/judge_impl.h"
#include "path/path.h"
#include "path/pattern.h"

/*
 * Is this the very path of the rule that opens it: one of the user's, or a built-in one?  (Not one
 * for a part of another repository: git replaces such files.)
 */
static bool is_named(const struct sb_policy *policy, const char *path, bool builtin)
{
	const struct sb_rule *rule = sb_decide(policy, SB_CREATE, path).rule;

	return rule && !rule->checked && (rule->tier == SB_TIER_BUILTIN) == builtin &&
	       sb_pattern_names(rule->pattern, path);
}

/* A project, or a temp directory: what is in it is open, its name is not the command's to change. */
static bool is_root(const struct sb_policy *policy, const char *cwd, const char *path)
{
	return is_named(policy, path, true) || strcmp(path, cwd) == 0;
}

/*
 * Is this no link, and in a directory that only its mover can change?  Then it is none either when it is
 * moved: that does one thing after the other.
 */
static bool stays_no_link(const struct sb_policy *policy, const struct sb_site *site)
{
	SB_AUTO_FREE char *parent = sb_path_parent(site->path);
	struct stat info;

	return parent && sb_decide(policy, SB_CREATE, parent).verdict != SB_ALLOW &&
	       fstatat(site->directory, site->name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
	       !S_ISLNK(info.st_mode);
}

/*
 * SECURITY: roots keep their names; and in the place that a rule names, outside the roots, only
 * new things are made: no link, and nothing is moved there that could become one on the way.
 *
 * Danger: a project renamed by us could be built anew around what is protected in it.  And
 * "write ~/new" may be about something that is not there.  A command makes it a link to
 * ~/.profile, and the next run with the same rule, which follows links, opens that.  A link inside
 * a root is found when the rule is read (sb_load_refuse_planted()).
 * Price: renaming something from a root to there answers EXDEV, as onto another disk: mv copies.
 * Held by: tests/supervise/absent.py
 */
int sb_judge_placed(const struct sb_policy *policy, const struct sb_case *what, const char *cwd)
{
	const char *site = what->site.path, *target = what->target.path;

	switch (what->deed) {
	case SB_DEED_SYMLINK:
		return is_named(policy, site, false) ? EACCES : 0;
	case SB_DEED_LINK:
		return is_named(policy, target, false) ? EXDEV : 0;
	case SB_DEED_REMOVE:
		return is_root(policy, cwd, site) ? EBUSY : 0;
	case SB_DEED_RENAME:
		if (is_root(policy, cwd, site) || is_root(policy, cwd, target))
			return EBUSY;
		if (what->exchange && is_named(policy, site, false))
			return EXDEV;
		return is_named(policy, target, false) && !stays_no_link(policy, &what->site)
			       ? EXDEV
			       : 0;
	default:
		return 0;
	}
}

/*
 * The same of those with bounds, who look at what they move once more just before: only a link is
 * refused.  Roots they know by themselves.
 * Held by: tests/mcp/rules.py
 */
void sb_heed_placed(const struct sb_grounds *grounds, mode_t mode, struct sb_judged *judged)
{
	if (grounds->bounds.unheld && S_ISLNK(mode) && judged->decision.verdict != SB_DENY &&
	    is_named(grounds->policy, judged->site->path, false))
		judged->decision.verdict = SB_DENY;
}
