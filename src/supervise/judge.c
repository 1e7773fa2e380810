#include "supervise/judge.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "path/pattern.h"
#include "policy/fast.h"

/* --- the guard's rows as rules ---------------------------------------------------------- */

/*
 * A guard's row as a rule, for decisions.  Made when it is first needed, and never let go: the
 * rows are the same for every run.
 */
static const struct sb_rule *rule_of(const struct sb_guard_row *row)
{
	static const struct sb_rule nameless = {.access = {{SB_ALLOW, SB_ASK, SB_ASK, SB_ASK}},
						.tier = SB_TIER_BUILTIN,
						.pattern = "",
						.origin = "built-in"};
	static struct sb_rule *made[SB_GUARD_MAX_ROWS];
	size_t count;
	const struct sb_guard_row *rows = sb_guard_rows(&count);
	struct sb_rule **place, *rule, *other = NULL;
	char *origin = NULL;

	if (row < rows || row >= rows + count)
		row = rows;
	place = &made[row - rows];
	rule = __atomic_load_n(place, __ATOMIC_ACQUIRE);
	if (rule)
		return rule;
	rule = malloc(sizeof *rule);
	if (!rule || asprintf(&origin, "built-in: %s: %s", row->who, row->why) < 0) {
		free(rule);
		return &nameless;
	}
	*rule = (struct sb_rule){.access = nameless.access,
				 .tier = SB_TIER_BUILTIN,
				 .pattern = row->pattern,
				 .origin = origin};
	if (!__atomic_compare_exchange_n(place, &other, rule, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE)) {
		free(origin); /* another thread was faster */
		free(rule);
		return other;
	}
	return rule;
}

void sb_grounds_init(struct sb_grounds *grounds, const struct sb_policy *policy,
		     const struct sb_guard *guard)
{
	*grounds = (struct sb_grounds){.policy = policy, .guard = guard};
	if (sb_policy_protect_ignored(policy))
		sb_ignored_begin(&grounds->ignored);
}

/* Whatever may be made there unasked is guarded, but in fast roots. */
static bool in_guarded_root(void *policy, const char *path)
{
	return sb_decide(policy, SB_CREATE, path).verdict == SB_ALLOW &&
	       !sb_fast_is_or_holds(policy, path);
}

/* The temporary directories that the run has for itself, where it can. */
static bool is_private(void *policy, const char *path)
{
	struct sb_decision decision = sb_decide(policy, SB_CREATE, path);

	return decision.rule && decision.rule->temp;
}

int sb_grounds_guard(const struct sb_policy *policy, const char *const *projects,
		     const struct sb_home *home, struct sb_guard **out, struct sb_error *err)
{
	struct sb_guard_options options = {
		.size = sizeof options,
		.in_guarded_root = in_guarded_root,
		.is_private = is_private,
		.context = (void *)policy,
		.projects = projects,
		.home = home->home,
		.git_settings = (const char *const *)home->git_settings,
		.protect_ignored = sb_policy_protect_ignored(policy),
	};

	return sb_guard_new(&options, out, err);
}

/* --- rules that open a guarded name --------------------------------------------------------- */

/* Where the component begins that ends before end; 0 at the root. */
static size_t component_before(const char *path, size_t end)
{
	while (end && path[end - 1] != '/')
		end--;
	return end;
}

static size_t count_components(const char *pattern)
{
	size_t count = 1;

	for (; *pattern; pattern++)
		count += *pattern == '/';
	return count;
}

/*
 * The directory that holds what a row is about: for ".claude/skills/X" and P/.claude/skills/a/b
 * that is P.  Written into out, PATH_MAX bytes.
 */
static void find_holder(const char *path, const char *pattern, char *out)
{
	size_t left = count_components(pattern), end = strlen(path);
	const char *deep = strstr(pattern, "/**");

	if (deep && !deep[3]) { /* everything beneath: go up to the name before it */
		const char *name = deep;
		size_t length, at = end;

		while (name > pattern && name[-1] != '/')
			name--;
		length = (size_t)(deep - name);
		do {
			size_t from = component_before(path, at);

			if (at - from == length && strncasecmp(path + from, name, length) == 0) {
				end = at;
				break;
			}
			at = from ? from - 1 : 0;
		} while (at);
		left--;
	}
	while (left-- && end) {
		end = component_before(path, end);
		end -= end > 0;
	}
	memcpy(out, path, end);
	out[end] = '\0';
	if (!end)
		memcpy(out, "/", 2);
}

/*
 * SECURITY: a rule of the user's opens a guarded name only if it is about that name.
 *
 * Danger: every project is writable by some rule, on the command line or in a file.  So the
 * rule must not cover the directory around the name as well; and where it has wildcards, its
 * last component must be a name, or "write *.json" would open .mcp.json.
 * Held by: tests/supervise/guard.py
 */
static bool opens(const struct sb_rule *rule, const char *path, const struct sb_guard_row *row)
{
	const char *last = strrchr(rule->pattern, '/');
	struct sb_pattern pattern;
	char holder[PATH_MAX];
	bool names;

	if (rule->tier == SB_TIER_BUILTIN || (last && strpbrk(last, "*?[")))
		return false;
	if (sb_pattern_parse(rule->pattern, &pattern, NULL) != SB_OK)
		return false;
	find_holder(path, row->pattern, holder);
	names = !sb_pattern_covers(&pattern, holder);
	sb_pattern_done(&pattern);
	return names;
}

/* --- one operation ----------------------------------------------------------------------------- */

static struct sb_judged *add(struct sb_judgement *out, enum sb_op op, const struct sb_spot *spot,
			     struct sb_decision decision)
{
	struct sb_judged *next = &out->all[out->count++];

	next->op = op;
	next->spot = spot;
	next->decision = decision;
	next->guard.verdict = SB_GUARD_PLAIN;
	next->guard.row = NULL;
	next->guard.looked = 0;
	return next;
}

static void start(struct sb_judgement *out)
{
	out->count = 0;
	out->strictest = NULL;
	out->lands = NULL;
	out->looked = 0;
	out->movers[0].known = out->movers[1].known = false;
}

static void find_strictest(struct sb_judgement *out)
{
	out->strictest = &out->all[0];
	out->looked = 0;
	for (size_t i = 0; i < out->count; i++)
		if (out->all[i].guard.verdict == SB_GUARD_PLAIN)
			out->looked |= out->all[i].guard.looked;
	for (size_t i = 1; i < out->count; i++)
		if (out->all[i].decision.verdict > out->strictest->decision.verdict)
			out->strictest = &out->all[i];
}

/*
 * A file that no path leads to any more, or never did (O_TMPFILE, pipes, memfd): changing it
 * changes nothing that has a name, and the caller holds it open already.
 */
static bool is_nameless(const struct sb_spot *spot)
{
	return spot->object >= 0 && spot->directory < 0 &&
	       (!spot->path[0] || sb_path_is_gone(spot->path, spot->info.st_nlink));
}

static struct sb_decision decide(const struct sb_grounds *grounds, enum sb_op op,
				 const struct sb_spot *spot)
{
	return sb_ignored_decide(&grounds->ignored, grounds->policy, op, spot);
}

static struct sb_judged *judge_one(const struct sb_grounds *grounds, enum sb_op op,
				   const struct sb_spot *spot, struct sb_judgement *out)
{
	return add(out, op, spot,
		   is_nameless(spot) ? (struct sb_decision){SB_ALLOW, NULL}
				     : decide(grounds, op, spot));
}

static bool exists(const struct sb_spot *spot, struct stat *info)
{
	return fstatat(spot->directory, spot->name, info, AT_SYMLINK_NOFOLLOW) == 0;
}

static struct sb_decision stricter(struct sb_decision a, struct sb_decision b)
{
	return b.verdict > a.verdict ? b : a;
}

/* A directory takes what is in it along: rules beneath either name count as well. */
static struct sb_judged *judge_moved(const struct sb_grounds *grounds, enum sb_op op,
				     const struct sb_spot *spot, const struct sb_spot *other,
				     bool directory, struct sb_judgement *out)
{
	struct sb_decision decision;

	if (!directory)
		return add(out, op, spot, decide(grounds, op, spot));
	decision = sb_ignored_decide_tree(&grounds->ignored, grounds->policy, op, spot);
	return add(
		out, op, spot,
		stricter(decision, sb_decide_moved(grounds->policy, op, spot->path, other->path)));
}

/* --- guarded names -------------------------------------------------------------------------------- */

static bool has_guard(const struct sb_grounds *grounds, const struct sb_spot *spot)
{
	return grounds->guard && !spot->in_proc && spot->path[0] == '/' && !is_nameless(spot) &&
	       !sb_fast_holds(grounds->policy, spot->path);
}

static struct sb_guard_place place_of(const struct sb_spot *spot, mode_t mode)
{
	const char *last = strrchr(spot->path, '/');

	return (struct sb_guard_place){
		spot->directory, spot->path,
		spot->directory >= 0 && strcmp(spot->name, ".") != 0 ? spot->name : last + 1, mode};
}

/* No yes of an earlier question about the place, and no rule but one for this name, counts. */
static void ask_for(struct sb_judged *judged)
{
	struct sb_decision *decision = &judged->decision;

	if (decision->verdict < SB_ASK || (decision->verdict == SB_ASK && !decision->rule))
		*decision = (struct sb_decision){SB_ASK, rule_of(judged->guard.row)};
}

/* What the guard said becomes part of the decision.  bytes: some land there, and can be seen. */
static void heed(struct sb_judged *judged, bool bytes, struct sb_judgement *out)
{
	struct sb_guard_answer *guard = &judged->guard;

	if (guard->verdict == SB_GUARD_PLAIN)
		return;
	if (judged->decision.verdict == SB_ALLOW && judged->decision.rule &&
	    opens(judged->decision.rule, judged->spot->path, guard->row)) {
		guard->verdict = SB_GUARD_PLAIN;
		guard->looked = 0; /* whatever is there */
		return;
	}
	if (bytes)
		out->lands = judged;
	if (!bytes || guard->verdict == SB_GUARD_ASK || judged->decision.verdict != SB_ALLOW)
		ask_for(judged);
	/* no inode of a guarded file is ever handed out, and without a directory of ours nothing
	 * can be put in its place */
	if (bytes && judged->spot->directory < 0)
		judged->decision = (struct sb_decision){SB_DENY, rule_of(judged->guard.row)};
}

static void guard_one(const struct sb_grounds *grounds, struct sb_judged *judged,
		      enum sb_guard_act act, bool bytes, struct sb_judgement *out)
{
	struct sb_guard_place place;

	if (!has_guard(grounds, judged->spot))
		return;
	place = place_of(judged->spot, judged->spot->object >= 0 ? judged->spot->info.st_mode : 0);
	sb_guard_judge(grounds->guard, act, &place, &judged->guard);
	heed(judged, bytes, out);
}

void sb_judge_name(const struct sb_grounds *grounds, enum sb_op op, const struct sb_spot *spot,
		   struct sb_judged *out)
{
	bool directory = spot->object >= 0 && S_ISDIR(spot->info.st_mode);
	struct sb_judgement judgement = {0};
	struct sb_judged *judged = judge_one(grounds, op, spot, &judgement);

	if (op == SB_DELETE)
		guard_one(grounds, judged, SB_GUARD_UNLINK, false, &judgement);
	else if (op != SB_READ && directory)
		guard_one(grounds, judged, op == SB_CREATE ? SB_GUARD_MKDIR : SB_GUARD_METADATA,
			  false, &judgement);
	else if (op != SB_READ)
		guard_one(grounds, judged, SB_GUARD_WRITE, true, &judgement);
	*out = *judged;
}

bool sb_judge_is_plain(const struct sb_grounds *grounds, const struct sb_spot *file)
{
	struct sb_guard_answer answer;
	struct sb_guard_place place;

	if (!has_guard(grounds, file))
		return true;
	place = place_of(file, 0);
	return sb_guard_judge(grounds->guard, SB_GUARD_WRITE, &place, &answer) == SB_GUARD_PLAIN &&
	       !answer.looked;
}

static void judge_rename(const struct sb_grounds *grounds, const struct sb_call *call,
			 const struct sb_spot *file, const struct sb_spot *target,
			 struct sb_judgement *out)
{
	struct stat from, to;
	bool there = exists(target, &to), here = exists(file, &from);
	bool directory = here && S_ISDIR(from.st_mode);
	bool swap = call->flags & RENAME_EXCHANGE, regular = here && S_ISREG(from.st_mode);
	struct sb_judged *first, *second;

	if (here)
		out->movers[0] = (struct sb_mover){true, from.st_dev, from.st_ino};
	if (swap && there)
		out->movers[1] = (struct sb_mover){true, to.st_dev, to.st_ino};
	if (swap && there && S_ISDIR(to.st_mode))
		directory = true;
	first = judge_moved(grounds, SB_DELETE, file, target, directory, out);
	second = judge_moved(grounds, there ? SB_MODIFY : SB_CREATE, target, file, directory, out);
	if (swap) {
		judge_moved(grounds, SB_MODIFY, file, target, directory, out);
		judge_moved(grounds, SB_DELETE, target, file, directory, out);
	}
	if (here && has_guard(grounds, file) && has_guard(grounds, target)) {
		struct sb_guard_place old = place_of(file, from.st_mode);
		struct sb_guard_place new = place_of(target, there ? to.st_mode : 0);

		sb_guard_rename(grounds->guard, &old, &new, swap, &first->guard, &second->guard);
		heed(first, false, out);
		heed(second, regular && !(call->flags & ~RENAME_NOREPLACE), out);
	}
}

static enum sb_guard_act guard_act(const struct sb_call *call)
{
	switch (call->act) {
	case SB_ACT_MKDIR:
		return SB_GUARD_MKDIR;
	case SB_ACT_MKNOD:
	case SB_ACT_BIND:
		return SB_GUARD_MKNOD;
	case SB_ACT_SYMLINK:
		return SB_GUARD_SYMLINK;
	case SB_ACT_UNLINK:
	case SB_ACT_RMDIR:
		return SB_GUARD_UNLINK;
	case SB_ACT_CHMOD:
		return (call->mode & 0500) == 0500 ? SB_GUARD_METADATA : SB_GUARD_HIDE;
	case SB_ACT_SETXATTR: /* an access list sets the owner's rights as well */
		return strcmp(call->text, "system.posix_acl_access") == 0 ? SB_GUARD_HIDE
									  : SB_GUARD_METADATA;
	default:
		return sb_act_is_metadata(call->act) ? SB_GUARD_METADATA : SB_GUARD_WRITE;
	}
}

static void judge_open(const struct sb_grounds *grounds, const struct sb_call *call,
		       const struct sb_spot *file, struct sb_judgement *out)
{
	bool unnamed = (call->flags & O_TMPFILE) == O_TMPFILE;
	struct sb_judged *judged =
		judge_one(grounds, file->object < 0 || unnamed ? SB_CREATE : SB_MODIFY, file, out);

	if (!unnamed && (file->object < 0 || S_ISREG(file->info.st_mode)))
		guard_one(grounds, judged, SB_GUARD_WRITE, true, out);
	else if (!unnamed && !S_ISDIR(file->info.st_mode))
		guard_one(grounds, judged, SB_GUARD_WRITE, false, out);
}

/* Whether a write would get through: what is checked first may well do so. */
static void judge_access(const struct sb_grounds *grounds, const struct sb_spot *file,
			 struct sb_judgement *out)
{
	struct sb_judged *judged = judge_one(grounds, SB_MODIFY, file, out);

	if (S_ISREG(file->info.st_mode))
		guard_one(grounds, judged, SB_GUARD_WRITE, true, out);
	out->lands = NULL;
}

void sb_judge(const struct sb_grounds *grounds, const struct sb_call *call,
	      const struct sb_spot *file, const struct sb_spot *target, struct sb_judgement *out)
{
	struct stat info;

	start(out);
	switch (call->act) {
	case SB_ACT_OPEN:
		judge_open(grounds, call, file, out);
		break;
	case SB_ACT_CLOSE:
		guard_one(
			grounds,
			judge_one(grounds, exists(file, &info) ? SB_MODIFY : SB_CREATE, file, out),
			SB_GUARD_WRITE, true, out);
		break;
	case SB_ACT_ACCESS:
		judge_access(grounds, file, out);
		break;
	case SB_ACT_MKDIR:
	case SB_ACT_MKNOD:
	case SB_ACT_SYMLINK:
	case SB_ACT_BIND:
		guard_one(grounds, judge_one(grounds, SB_CREATE, file, out), guard_act(call), false,
			  out);
		break;
	case SB_ACT_UNLINK:
	case SB_ACT_RMDIR:
		guard_one(grounds, judge_one(grounds, SB_DELETE, file, out), SB_GUARD_UNLINK, false,
			  out);
		break;
	case SB_ACT_RENAME:
		judge_rename(grounds, call, file, target, out);
		break;
	case SB_ACT_LINK:
		/* a second name is a second way to write the same file */
		guard_one(grounds, judge_one(grounds, SB_MODIFY, file, out), SB_GUARD_LINK_FROM,
			  false, out);
		guard_one(grounds, judge_one(grounds, SB_CREATE, target, out),
			  S_ISLNK(file->info.st_mode) ? SB_GUARD_SYMLINK : SB_GUARD_LINK_TO,
			  S_ISREG(file->info.st_mode), out);
		break;
	case SB_ACT_CONNECT: /* changes nothing of the file, whether git ignores it or not */
		add(out, SB_MODIFY, file,
		    is_nameless(file) ? (struct sb_decision){SB_ALLOW, NULL}
				      : sb_decide(grounds->policy, SB_MODIFY, file->path));
		break;
	default:
		guard_one(grounds, judge_one(grounds, SB_MODIFY, file, out), guard_act(call), false,
			  out);
		break;
	}
	find_strictest(out);
}

/* What has arrived at spot, by an operation that was judged before. */
static void judge_arrived(const struct sb_grounds *grounds, enum sb_op op,
			  const struct sb_spot *spot, struct sb_judgement *out)
{
	struct sb_judged *judged = judge_one(grounds, op, spot, out);
	struct sb_guard_place place;
	struct stat info;

	if (!has_guard(grounds, spot) || !exists(spot, &info))
		return;
	place = place_of(spot, info.st_mode);
	sb_guard_landed(grounds->guard, &place, &judged->guard);
	heed(judged, S_ISREG(info.st_mode), out);
}

void sb_judge_renamed(const struct sb_grounds *grounds, const struct sb_call *call,
		      const struct sb_spot *file, const struct sb_spot *target,
		      const struct sb_judgement *before, struct sb_judgement *out)
{
	start(out);
	judge_arrived(grounds, before->all[1].op, target, out); /* as judge_rename() has put it */
	if (call->flags & RENAME_EXCHANGE)
		judge_arrived(grounds, SB_MODIFY, file, out);
	find_strictest(out);
}

static enum sb_guard_verdict guard_verdict(const struct sb_judgement *judgement)
{
	enum sb_guard_verdict verdict = SB_GUARD_PLAIN;

	for (size_t i = 0; i < judgement->count; i++)
		if (judgement->all[i].guard.verdict > verdict)
			verdict = judgement->all[i].guard.verdict;
	return verdict;
}

bool sb_judgement_stands(const struct sb_judgement *before, const struct sb_judgement *now)
{
	return now->strictest->decision.verdict <= before->strictest->decision.verdict &&
	       guard_verdict(now) <= guard_verdict(before);
}

bool sb_judge_bytes(const struct sb_grounds *grounds, struct sb_judgement *judgement,
		    struct sb_guard_bytes old_bytes, struct sb_guard_bytes new_bytes)
{
	struct sb_judged *lands = judgement->lands;
	struct sb_guard_answer *guard = &lands->guard;
	enum sb_guard_kind kind = guard->verdict == SB_GUARD_CHECK ? guard->kind : SB_GUARD_SAME;
	char why[sizeof guard->detail];

	why[0] = '\0';
	if (grounds->guard && sb_guard_content(grounds->guard, kind, lands->spot->path, old_bytes,
					       new_bytes, why, sizeof why) == SB_GUARD_PLAIN) {
		/* the guard has nothing against it; what the policy says stays */
		guard->verdict = SB_GUARD_PLAIN;
		lands->decision = decide(grounds, lands->op, lands->spot);
	} else {
		ask_for(lands);
		if (why[0])
			memcpy(guard->detail, why, sizeof why);
	}
	find_strictest(judgement);
	return judgement->strictest->decision.verdict == SB_ALLOW;
}
