/*
 * ruled.c - one operation at one name, by what is written: policy, bounds of tools, what git ignores, and whose a
 * temporary file is.
 */
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/words.h"
#include "judge/judge_impl.h"

/*
 * Names in the real /tmp where programs outside look for a service.  "#" at the end stands for digits, "*" for
 * anything.  Names with a random part are found by nobody.
 */
static const char services[] =
	"tmux-# emacs# zellij-# tmate-# screens uscreens .X* .ICE-unix .s.PGSQL.* hypr mysql.sock "
	"runtime-* podman-run-* containers-user-*";

/* width: of the pattern without its last character. */
static bool fits(const char *pattern, size_t width, const char *name, size_t length)
{
	if (length < width || strncmp(name, pattern, width) != 0)
		return false;
	if (pattern[width] == '*')
		return true;
	if (pattern[width] == '#')
		return length > width && strspn(name + width, "0123456789") >= length - width;
	return length == width + 1 && name[width] == pattern[width];
}

/*
 * SECURITY: what is made at such a name is believed.
 *
 * Danger: a server at /tmp/tmux-1000/default tells whoever attaches to run a command, outside; a display takes
 * what is typed; a database asks for a password.  Only where /tmp is everybody's: without namespaces, or as
 * the user wished (--shared-tmp).
 * Price: such a server inside asks there.
 * Held by: tests/supervise/services.py
 */
static bool is_where_services_are(const char *path)
{
	static const char temp[] = "/tmp/";
	size_t width;
	/* deeper, where TMUX_TMPDIR or TMPDIR may lead, only what has a user's number */
	bool top = true;

	if (strncmp(path, temp, sizeof temp - 1) != 0)
		return false;
	for (const char *name = path + sizeof temp - 1; *name; top = false) {
		size_t length = strcspn(name, "/");

		for (const char *word, *words = services; (word = sb_words_next(&words, &width));)
			if ((top || word[width - 1] == '#') && fits(word, width - 1, name, length))
				return true;
		name += length + (name[length] == '/');
	}
	return false;
}

static void object(struct sb_judged *judged, enum sb_why why)
{
	judged->decision = (struct sb_decision){SB_ASK, NULL};
	judged->why = why;
}

/*
 * Outside the roots a rule of the user's own may allow.  Built-in ones do not: they speak of
 * what commands need (devices, temporary directories), and let everything be read.
 */
static bool is_granted(const struct sb_decision *decision)
{
	return decision->verdict == SB_ALLOW && decision->rule &&
	       decision->rule->tier != SB_TIER_BUILTIN;
}

static void heed_bounds(const struct sb_grounds *grounds, struct sb_judged *judged)
{
	const struct sb_bounds *bounds = &grounds->bounds;
	const struct sb_decision *decision = &judged->decision;
	const struct sb_site *site = judged->site;
	bool granted = is_granted(decision);

	if (decision->verdict == SB_DENY || (decision->verdict == SB_ASK && decision->rule) ||
	    sb_is_danger(grounds))
		return;
	if (bounds->roots && site->outside && !granted)
		object(judged, SB_WHY_OUTSIDE);
	else if (decision->verdict == SB_ASK)
		return;
	else if (bounds->mounts && site->other_mount && !granted)
		object(judged, SB_WHY_MOUNT);
	else if (bounds->hard_links && site->has_more_names)
		object(judged, SB_WHY_HARD_LINK);
}

static const struct sb_rule service = {
	.tier = SB_TIER_BUILTIN,
	.access = {{SB_ALLOW, SB_ASK, SB_ASK, SB_ASK}},
	.pattern = "/tmp",
	.origin = "built-in: programs outside would take what is there for a service of yours",
};

static const struct sb_rule temporary = {
	.tier = SB_TIER_BUILTIN,
	.access = {{SB_ALLOW, SB_ASK, SB_ASK, SB_ASK}},
	.pattern = "/tmp",
	.origin = "built-in: another program's temporary file",
};

/* Through a pipe one talks to a program that waits for others than us.  fish tries it at each start: no question. */
static const struct sb_rule foreign_pipe = {
	.tier = SB_TIER_BUILTIN,
	.access = {{SB_ALLOW, SB_DENY, SB_ASK, SB_ASK}, .quiet = 1u << SB_MODIFY},
	.pattern = "/tmp",
	.origin = "built-in: another program's pipe",
};

/*
 * A file without a name is made in the directory itself, and changes nothing of it; and whoever asks whether
 * that can be written wants to make names in it (gcc, which else takes the current directory).
 */
static bool is_foreign(const struct sb_grounds *grounds, const struct sb_decision *decision,
		       bool makes, const char *path)
{
	return grounds->own_temp && decision->rule &&
	       sb_own_temp_is_foreign(grounds->own_temp, decision->rule, path) &&
	       !(makes && strcmp(path, decision->rule->pattern) == 0);
}

/*
 * What may not be read is hidden, also where reading asks, as nobody can be asked while a command reads.  Tools can ask, and do
 * so before they change what nobody let them see.
 */
static void heed_unread(const struct sb_grounds *grounds, const char *path,
			struct sb_decision *decision)
{
	struct sb_decision read = sb_decide(grounds->policy, SB_READ, path);

	if (read.verdict == SB_ASK && !grounds->bounds.roots)
		read.verdict = SB_DENY;
	*decision = sb_stricter(*decision, read);
}

/*
 * A directory that is hidden shows what rules open in it, and nothing is taken away from it.  Commands meet that in the kernel where
 * there are namespaces, before anybody could be asked; so it is said everywhere.
 */
static void heed_hidden_holder(const struct sb_grounds *grounds, const char *path,
			       struct sb_decision *decision)
{
	const char *slash = strrchr(path, '/');
	size_t length = slash > path ? (size_t)(slash - path) : 1;
	char holder[PATH_MAX];

	if (length >= sizeof holder)
		return;
	memcpy(holder, path, length);
	holder[length] = '\0';
	heed_unread(grounds, holder, decision);
}

/* In a /tmp that is everybody's, by a rule that does not mean this very place. */
static bool is_service(const struct sb_grounds *grounds, const struct sb_decision *decision,
		       const struct sb_site *site)
{
	return (grounds->own_temp || sb_policy_tmp(grounds->policy) == SB_TMP_SHARED) &&
	       is_where_services_are(site->path) &&
	       !(decision->rule && is_where_services_are(decision->rule->pattern)) &&
	       !sb_own_temp_is_kept(grounds->own_temp, site->directory, site->path);
}

/* A place of services (/tmp/.X11-unix), in a /tmp of the run's own: whoever listens there is inside. */
static bool is_own_service(const struct sb_grounds *grounds, const struct sb_decision *decision,
			   const struct sb_site *site)
{
	const struct sb_rule *rule = decision->rule;

	return decision->verdict == SB_DENY && rule && rule->sockets && !rule->hard &&
	       rule->tier == SB_TIER_BUILTIN &&
	       sb_own_temp_is_kept(grounds->own_temp, site->directory, site->path);
}

void sb_judge_rules(const struct sb_grounds *grounds, const struct sb_case *what,
		    const struct sb_site *other, struct sb_judged *judged)
{
	struct sb_decision *decision = &judged->decision;
	const char *path = judged->site->path;
	enum sb_op op = judged->op;
	bool own_service;

	if (judged->site->nameless)
		return;
	*decision = sb_decide(grounds->policy, op, path);
	own_service = is_own_service(grounds, decision, judged->site);
	if (own_service)
		*decision = (struct sb_decision){SB_ALLOW, NULL};
	if (other)
		*decision = sb_stricter(*decision,
					sb_decide_moved(grounds->policy, op, path, other->path));
	else if (what->tree)
		*decision = sb_stricter(*decision, sb_decide_beneath(grounds->policy, op, path));
	/* another rule than the one for this may say that it is hidden: "tighten modify" */
	if (op == SB_MODIFY && decision->verdict != SB_DENY && !own_service)
		heed_unread(grounds, path, decision);
	if (op == SB_DELETE && decision->rule && decision->verdict != SB_DENY)
		heed_hidden_holder(grounds, path, decision);
	if (judged->site->bound)
		*decision = sb_stricter(
			*decision, (struct sb_decision){
					   (enum sb_verdict)judged->site->bound->access.verdict[op],
					   judged->site->bound});
	judged->why = decision->rule ? SB_WHY_RULE : SB_WHY_NO_RULE;
	heed_bounds(grounds, judged);
	/* connecting changes nothing of the file, whether git ignores it or not */
	if (decision->verdict == SB_ALLOW && !what->ignored_too && what->deed != SB_DEED_CONNECT &&
	    sb_ignored_asks(&grounds->ignored, grounds->policy, op, judged->site, other != NULL,
			    decision))
		judged->why = SB_WHY_IGNORED;
	if (decision->verdict == SB_ALLOW && op != SB_READ &&
	    is_foreign(grounds, decision, op == SB_CREATE || what->deed == SB_DEED_PROBE, path)) {
		object(judged, SB_WHY_TEMPORARY);
		decision->rule = &temporary;
		if (op == SB_MODIFY && S_ISFIFO(judged->site->mode))
			*decision = (struct sb_decision){SB_DENY, &foreign_pipe};
	}
	if (decision->verdict == SB_ALLOW && op == SB_CREATE &&
	    is_service(grounds, decision, judged->site)) {
		object(judged, SB_WHY_RULE);
		decision->rule = &service;
	}
}

bool sb_rules_are_plain(const struct sb_grounds *grounds, const struct sb_site *site)
{
	struct sb_decision create = sb_decide(grounds->policy, SB_CREATE, site->path);

	return create.verdict == SB_ALLOW &&
	       sb_decide(grounds->policy, SB_MODIFY, site->path).verdict == SB_ALLOW &&
	       !is_foreign(grounds, &create, true, site->path) &&
	       !is_service(grounds, &create, site);
}
