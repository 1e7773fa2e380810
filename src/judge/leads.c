/*
 * leads.c - links, and what they would be followed to by programs outside.
 *
 * SECURITY: no link gets there that leads out of what the same rule covers.
 *
 * Danger: ~/.claude/debug is open for the agent's logs.  A command makes ~/.claude/debug/x a link to ~/.bashrc, and
 * the agent outside, which nothing confines, writes its log through it.
 * So a link there names what the rule covers, by its full name or by names beneath its own directory.  With ".." it
 * would lead elsewhere as soon as a directory is moved; through a link that a command may change, as soon as it does.
 * Price: other links ask.  A directory that comes from elsewhere is copied name by name: for what is in it
 * nobody looks.  In a project's directory for caches, which no agent outside uses, links are as everywhere.
 * Held by: tests/supervise/state_links.py
 */
/*
 * SECURITY: no link leads to the caches of a project, or through them.
 *
 * Danger: they are a fast root, so commands make a git directory there with core.fsmonitor.  Then vendor is made a
 * link to it, or a directory that a .git file of the project's passes is: plain git outside runs what was
 * planted.  Whoever gets there from elsewhere has to name the directory of all caches, in a link or in a text of
 * git's (guard/content.c); so it is the name that counts, and no directory that is moved later changes that.
 * Price: such a link asks.
 * Held by: tests/cli/tool_profiles.py
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "judge/judge_impl.h"
#include "path/path.h"

static const struct sb_rule leading = SB_ASKS(
	"built-in: a link that leads out of a program's state, which would write through it");

static const struct sb_rule to_caches =
	SB_ASKS("built-in: a link to caches of sandbash's projects, in which nothing is guarded");

/* Whoever opens it for writing waits for a reader: fifo(7). */
static const struct sb_rule waiting =
	SB_ASKS("built-in: a FIFO in a program's state, which would wait at it for ever");

static const struct sb_rule brought = SB_ASKS(
	"built-in: it may bring links into a program's state, which would write through them");

/* The rule of a profile that opens path, for what a program outside goes on with; or NULL. */
static const struct sb_rule *state_rule(const struct sb_policy *policy, const char *path)
{
	struct sb_decision decision = sb_decide(policy, SB_CREATE, path);

	return decision.verdict == SB_ALLOW && decision.rule &&
			       decision.rule->tier == SB_TIER_PROFILE && !decision.rule->cache
		       ? decision.rule
		       : NULL;
}

static bool climbs(const char *text)
{
	for (const char *at = text; *at; at += strspn(at, "/")) {
		size_t length = strcspn(at, "/");

		if (length == 2 && memcmp(at, "..", 2) == 0)
			return true;
		at += length;
	}
	return false;
}

struct way {
	const struct sb_policy *policy;
	const struct sb_rule *rule;
};

static int refuse_changeable(void *context, const char *link, struct sb_error *err)
{
	const struct way *way = context;
	struct sb_decision decision = sb_decide(way->policy, SB_CREATE, link);

	(void)err;
	/* where /proc/PID/cwd leads is that process's to say */
	return sb_path_within("/proc", link) ||
			       (decision.verdict == SB_ALLOW && decision.rule != way->rule)
		       ? SB_E_INVALID
		       : SB_OK;
}

/* Does a link with this text, at path, lead to what rule covers, whatever commands change meanwhile? */
static bool stays(const struct sb_policy *policy, const struct sb_rule *rule, const char *path,
		  const char *text)
{
	SB_AUTO_FREE char *directory = sb_path_parent(path), *joined = NULL, *real = NULL;
	struct way way = {policy, rule};
	int missing;

	if (!directory || climbs(text))
		return false;
	joined = text[0] == '/' ? strdup(text) : sb_path_join(directory, text);
	return joined && sb_path_links(joined, refuse_changeable, &way, NULL) == SB_OK &&
	       sb_path_canonical(joined, &real, &missing, NULL) == SB_OK &&
	       (missing == 0 || missing == ENOENT) && state_rule(policy, real) == rule;
}

void sb_heed_link(const struct sb_grounds *grounds, const char *text, struct sb_judged *judged)
{
	const struct sb_site *site = judged->site;
	const struct sb_rule *rule = state_rule(grounds->policy, site->path);

	if (judged->decision.verdict == SB_ALLOW && text && sb_guard_passes_caches(text))
		judged->decision = (struct sb_decision){SB_ASK, &to_caches};
	if (judged->decision.verdict == SB_ALLOW && rule &&
	    (site->whole || !text || !stays(grounds->policy, rule, site->path, text)))
		judged->decision = (struct sb_decision){SB_ASK, &leading};
	if (text)
		sb_heed_followed(grounds, text, judged);
}

bool sb_judge_brings_links(const struct sb_policy *policy, const char *from, const char *to)
{
	const struct sb_rule *rule = state_rule(policy, to);

	return rule && sb_decide(policy, SB_CREATE, from).rule != rule;
}

void sb_heed_moved(const struct sb_grounds *grounds, const struct sb_site *at,
		   const struct sb_site *from, mode_t mode, struct sb_judged *judged)
{
	const struct sb_found found = sb_site_found(at);
	char text[PATH_MAX];
	ssize_t length;

	sb_heed_moved_service(grounds, at, from, mode, judged);
	if (S_ISLNK(mode)) {
		length = readlinkat(found.at, found.name, text, sizeof text - 1);
		text[length > 0 ? length : 0] = '\0';
		sb_heed_link(grounds, length > 0 ? text : NULL, judged);
	}
	if (S_ISDIR(mode))
		sb_heed_brought(grounds, at, from, judged);
	sb_heed_brought_bits(grounds, from, mode, judged);
	if (judged->decision.verdict != SB_ALLOW || !judged->decision.rule ||
	    judged->decision.rule->tier != SB_TIER_PROFILE)
		return; /* the usual case, without another look at the rules */
	if (S_ISFIFO(mode) && !judged->decision.rule->cache)
		judged->decision = (struct sb_decision){SB_ASK, &waiting};
	if (S_ISDIR(mode) && sb_judge_brings_links(grounds->policy, from->path, judged->site->path))
		judged->decision = (struct sb_decision){SB_ASK, &brought};
}
