#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "judge/judge_impl.h"
#include "path/path.h"

/* --- a judgement ------------------------------------------------------------------------------ */

static void start(struct sb_judgement *out, const struct sb_case *what)
{
	out->sites[0] = what->site;
	out->sites[1] = what->target;
	out->count = 0;
	out->strictest = NULL;
	out->lands = NULL;
	out->looked = 0;
	out->note[0] = out->lingers[0] = '\0';
	out->movers[0].known = out->movers[1].known = false;
}

static struct sb_judged *add(struct sb_judgement *out, enum sb_op op, const struct sb_site *site)
{
	struct sb_judged *next = &out->all[out->count++];

	next->op = op;
	next->site = site;
	next->decision = (struct sb_decision){SB_ALLOW, NULL};
	next->why = SB_WHY_RULE;
	next->no_rule_opens = next->leads_home = next->brings_bits = false;
	next->guard.verdict = SB_GUARD_PLAIN;
	next->guard.row = NULL;
	next->guard.looked = next->guard.found = 0;
	next->guard.named = NULL;
	return next;
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

/* What is at site now; false: nothing. */
static bool look(const struct sb_site *site, struct stat *info)
{
	return fstatat(site->directory, site->name, info, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Its mode; 0: nothing is there.  out_mover: who it is, where we had to look. */
static mode_t mode_at(const struct sb_site *site, struct sb_mover *out_mover)
{
	struct stat info;

	if (site->looked)
		return site->mode;
	if (!look(site, &info))
		return 0;
	*out_mover = (struct sb_mover){true, info.st_dev, info.st_ino};
	return info.st_mode;
}

/* --- guarded names -------------------------------------------------------------------------------- */

static struct sb_guard_place place_of(const struct sb_site *site, mode_t mode)
{
	bool named = site->directory >= 0 && site->name[0] && strcmp(site->name, ".") != 0;

	return (struct sb_guard_place){site->directory, site->path,
				       named ? site->name : strrchr(site->path, '/') + 1, mode};
}

/* No yes of an earlier question about the place, and no rule but one for this name, counts. */
static void ask_for(struct sb_judged *judged)
{
	struct sb_decision *decision = &judged->decision;

	if (decision->verdict == SB_DENY)
		return;
	judged->why = SB_WHY_GUARDED;
	if (decision->verdict < SB_ASK || !decision->rule)
		*decision = (struct sb_decision){SB_ASK, sb_row_rule(judged->guard.row)};
}

/* Nothing was found in it, and nobody holds it so that this stays true. */
static void doubt(const struct sb_grounds *grounds, struct sb_judged *judged)
{
	struct sb_guard_answer *guard = &judged->guard;
	size_t count;

	guard->verdict = SB_GUARD_ASK;
	guard->row = sb_guard_row_in(grounds->guard, judged->site->path);
	if (!guard->row) /* a git directory by what is in it */
		guard->row = sb_guard_rows(&count);
	guard->detail[0] = '\0';
	guard->found = 0;
}

/*
 * What the guard said becomes part of the decision.  bytes: some land there, and can be seen.  file: whatever
 * happens there is about one file, and no link or directory gets that name.
 */
static void heed_guard(const struct sb_grounds *grounds, struct sb_judged *judged, bool bytes,
		       bool file, struct sb_judgement *out)
{
	struct sb_guard_answer *guard = &judged->guard;

	if (guard->verdict == SB_GUARD_PLAIN && grounds->bounds.unheld &&
	    (guard->looked & SB_LOOKED_INTO))
		doubt(grounds, judged);
	if (guard->verdict == SB_GUARD_PLAIN)
		return;
	/* of what it has found in a directory, names that a rule opens are left out already */
	if (!guard->found && judged->decision.verdict == SB_ALLOW && judged->decision.rule &&
	    sb_rules_open(grounds->guard, grounds->policy, judged, file)) {
		guard->verdict = SB_GUARD_PLAIN;
		if (!(guard->row->flags & SB_GUARD_REST))
			guard->looked = 0; /* whatever is there */
		return;
	}
	judged->no_rule_opens = !file && !guard->named &&
				!sb_rules_can_name(grounds->guard, judged->site->path, guard->row);
	if (bytes)
		out->lands = judged;
	if (!bytes || guard->verdict == SB_GUARD_ASK || judged->decision.verdict != SB_ALLOW)
		ask_for(judged);
	/* no inode of a guarded file is ever handed out, and without a directory of ours nothing
	 * can be put in its place */
	if (bytes && judged->site->directory < 0)
		judged->decision = (struct sb_decision){SB_DENY, sb_row_rule(judged->guard.row)};
}

/* --- one operation, one name ------------------------------------------------------------------------ */

/* The operation in the words of the rules, and in those of the guard. */
struct step {
	enum sb_op op;
	enum sb_guard_act act;
	bool bytes; /* are what lands */
};

static void judge_one(const struct sb_grounds *grounds, const struct sb_case *what,
		      const struct sb_site *site, struct step step, struct sb_judgement *out)
{
	struct sb_judged *judged = add(out, step.op, site);
	struct sb_guard_place place;

	sb_judge_rules(grounds, what, NULL, judged);
	if (what->rules_only || !sb_has_guard(grounds, site))
		return;
	place = place_of(site, site->mode);
	sb_guard_judge(grounds->guard, step.act, &place, &judged->guard);
	heed_guard(grounds, judged, step.bytes,
		   step.bytes || ((step.act == SB_GUARD_UNLINK || step.act == SB_GUARD_METADATA) &&
				  !S_ISDIR(site->mode)),
		   out);
}

/* What a rule lets be used and not made, as those for devices do, is not one's own: its mode and owner are everybody's. */
static void heed_device(const struct sb_grounds *grounds, struct sb_judged *judged)
{
	const struct sb_site *site = judged->site;

	if ((S_ISCHR(site->mode) || S_ISBLK(site->mode)) && !site->nameless)
		judged->decision = sb_stricter(judged->decision,
					       sb_decide(grounds->policy, SB_CREATE, site->path));
}

static void judge_rules_alone(const struct sb_grounds *grounds, const struct sb_case *what,
			      enum sb_op op, struct sb_judgement *out)
{
	sb_judge_rules(grounds, what, NULL, add(out, op, &out->sites[0]));
}

/* A directory or a link cannot be replaced by bytes; what is neither nor a file has none. */
static void judge_write(const struct sb_grounds *grounds, const struct sb_case *what,
			struct sb_judgement *out)
{
	const struct sb_site *site = &out->sites[0];
	enum sb_op op = site->mode ? SB_MODIFY : SB_CREATE;

	if (S_ISDIR(site->mode))
		judge_rules_alone(grounds, what, op, out);
	else
		judge_one(grounds, what, site,
			  (struct step){op, SB_GUARD_WRITE, !site->mode || S_ISREG(site->mode)},
			  out);
}

static void judge_landing(const struct sb_grounds *grounds, const struct sb_case *what,
			  struct sb_judgement *out)
{
	struct stat info;

	judge_one(grounds, what, &out->sites[0],
		  (struct step){look(&out->sites[0], &info) ? SB_MODIFY : SB_CREATE, SB_GUARD_WRITE,
				true},
		  out);
}

/* What is checked first may well get through. */
static void judge_probe(const struct sb_grounds *grounds, const struct sb_case *what,
			struct sb_judgement *out)
{
	if (S_ISREG(out->sites[0].mode))
		judge_one(grounds, what, &out->sites[0],
			  (struct step){SB_MODIFY, SB_GUARD_WRITE, true}, out);
	else
		judge_rules_alone(grounds, what, SB_MODIFY, out);
	out->lands = NULL;
}

/* A second name is a second way to write the same file. */
static void judge_link(const struct sb_grounds *grounds, const struct sb_case *what,
		       struct sb_judgement *out)
{
	mode_t mode = out->sites[0].mode;

	judge_one(grounds, what, &out->sites[0], (struct step){SB_MODIFY, SB_GUARD_LINK_FROM}, out);
	judge_one(grounds, what, &out->sites[1],
		  (struct step){SB_CREATE,
				S_ISLNK(mode)   ? SB_GUARD_SYMLINK
				: S_ISREG(mode) ? SB_GUARD_LINK_TO
						: SB_GUARD_MKNOD,
				S_ISREG(mode)},
		  out);
	if (out->lands) { /* a copy gets a guarded name: no second way to what is at the first (land.h) */
		out->count = 0;
		judge_rules_alone(grounds, what, SB_MODIFY, out);
		out->count = 2;
	}
	sb_heed_moved(grounds, &out->sites[0], &out->sites[0], mode, &out->all[1]);
	/* the bits that the file gets later its second name has as well */
	out->all[1].brings_bits = sb_may_get_bits(grounds, &out->sites[0]);
}

static struct sb_judged *judge_end(const struct sb_grounds *grounds, const struct sb_case *what,
				   enum sb_op op, int end, bool directory, struct sb_judgement *out)
{
	struct sb_judged *judged = add(out, op, &out->sites[end]);

	/* a directory takes what is in it along: rules beneath either name count as well */
	sb_judge_rules(grounds, what, directory ? &out->sites[!end] : NULL, judged);
	return judged;
}

/* What may be removed and not be read could be read by its new name. */
static void heed_reading(const struct sb_grounds *grounds, const struct sb_site *from,
			 const struct sb_site *to, struct sb_judged *judged)
{
	struct sb_decision read = sb_decide(grounds->policy, SB_READ, from->path);

	if (read.verdict > judged->decision.verdict && !sb_is_danger(grounds) &&
	    sb_decide(grounds->policy, SB_READ, to->path).verdict < read.verdict) {
		judged->decision = read;
		judged->why = SB_WHY_RULE;
	}
}

/* Do other rules hold at the one than at the other?  Where none does, nobody knows what holds. */
static bool is_other_place(const struct sb_grounds *grounds, const struct sb_site *from,
			   const struct sb_site *to)
{
	const struct sb_rule *rule = sb_decide(grounds->policy, SB_CREATE, from->path).rule;

	return !rule || rule != sb_decide(grounds->policy, SB_CREATE, to->path).rule;
}

/* To another disk nothing is renamed: who moves it there copies, name by name. */
static bool is_other_disk(const struct sb_site *from, const struct sb_site *to)
{
	struct stat moved, there;

	return look(from, &moved) && to->directory >= 0 && fstat(to->directory, &there) == 0 &&
	       moved.st_dev != there.st_dev;
}

/* A directory takes guarded names along that lay in it before the run: guard.h. */
static void heed_brought(const struct sb_grounds *grounds, const struct sb_site *from, mode_t mode,
			 const struct sb_guard_place *to, struct sb_judged *judged)
{
	struct sb_guard_place moved = place_of(from, mode);

	if (S_ISDIR(mode))
		sb_guard_brings(grounds->guard, &moved, to, &judged->guard);
}

static void judge_rename(const struct sb_grounds *grounds, const struct sb_case *what,
			 struct sb_judgement *out)
{
	const struct sb_site *file = &out->sites[0], *target = &out->sites[1];
	struct sb_mover replaced = {0};
	mode_t from = mode_at(file, &out->movers[0]), to = mode_at(target, &replaced);
	bool directory = S_ISDIR(from) || (what->exchange && S_ISDIR(to));
	struct sb_judged *first, *second;

	if (what->exchange)
		out->movers[1] = replaced;
	first = judge_end(grounds, what, SB_DELETE, 0, directory, out);
	second = judge_end(grounds, what, to ? SB_MODIFY : SB_CREATE, 1, directory, out);
	heed_reading(grounds, file, target, first);
	if (what->exchange) {
		judge_end(grounds, what, SB_MODIFY, 0, directory, out);
		heed_reading(grounds, target, file,
			     judge_end(grounds, what, SB_DELETE, 1, directory, out));
	}
	if (from && !what->rules_only && sb_has_guard(grounds, file) &&
	    sb_has_guard(grounds, target)) {
		struct sb_guard_place old = place_of(file, from), new = place_of(target, to);
		bool bytes = S_ISREG(from) && !what->exchange && !what->whiteout;

		sb_guard_rename(grounds->guard, &old, &new, what->exchange, &first->guard,
				&second->guard);
		if (directory && is_other_place(grounds, file, target) &&
		    !is_other_disk(S_ISDIR(from) ? file : target, S_ISDIR(from) ? target : file)) {
			heed_brought(grounds, file, from, &new, second);
			if (what->exchange)
				heed_brought(grounds, target, to, &old, first);
			if (what->exchange && first->guard.verdict == SB_GUARD_PLAIN &&
			    second->guard.verdict == SB_GUARD_PLAIN) {
				/* two directories cannot be put on hold at a time */
				doubt(grounds, second);
				second->guard.found =
					1; /* no rule is about what nobody has looked at */
			}
		}
		heed_guard(grounds, first, false, false, out);
		heed_guard(grounds, second, bytes, bytes, out);
	}
	sb_heed_gone_service(grounds, from, first);
	if (to)
		sb_heed_gone_service(grounds, to, second);
	sb_heed_placed(grounds, from, second);
	sb_heed_moved(grounds, file, file, from, second);
	if (what->exchange)
		sb_heed_moved(grounds, target, target, to, &out->all[2]);
}

/* What was cut out, from some names before it on, to the directory of the name. */
static char *cut_names(const struct sb_site *site)
{
	const char *start = site->whole;
	unsigned names = 4; /* more than a row has */

	for (const char *path = site->path; *start && *start == *path; start++)
		path++;
	while (start > site->whole && (*start != '/' || names--))
		start--;
	return sb_path_parent(start);
}

/*
 * SECURITY: a name that is longer than a path may be.
 *
 * Danger: of such a name the guard sees the beginning and the end.  Between them may stand a directory
 * with which a row of the table goes on (.git, .vscode), and what is looked for by its path is not found.
 * Price: nothing but plain files and directories is made there; removing is judged as ever.
 * Held by: tests/supervise/deep.py
 */
static void judge_depth(const struct sb_grounds *grounds, const struct sb_case *what,
			struct sb_judged *judged)
{
	const struct sb_site *site = judged->site;
	SB_AUTO_FREE char *between = cut_names(site);

	judged->decision =
		sb_stricter(judged->decision, sb_decide(grounds->policy, judged->op, site->whole));
	if (sb_decide(grounds->policy, SB_READ, site->whole).verdict != SB_ALLOW)
		judged->decision.verdict = SB_DENY;
	if (what->deed != SB_DEED_REMOVE && sb_has_guard(grounds, site) &&
	    (!between || judged->guard.verdict != SB_GUARD_PLAIN ||
	     sb_guard_row_in(grounds->guard, between)))
		judged->decision.verdict = SB_DENY;
}

static void heed_depth(const struct sb_grounds *grounds, const struct sb_case *what,
		       struct sb_judgement *out)
{
	for (size_t i = 0; i < out->count; i++) {
		if (!out->all[i].site->whole || sb_is_danger(grounds))
			continue;
		judge_depth(grounds, what, &out->all[i]);
		if (out->lands == &out->all[i])
			out->lands = NULL; /* no bytes are good enough */
	}
}

void sb_judge(const struct sb_grounds *grounds, const struct sb_case *what,
	      struct sb_judgement *out)
{
	const struct sb_site *site = &out->sites[0];

	start(out, what);
	switch (what->deed) {
	case SB_DEED_LOOK:
		judge_rules_alone(grounds, what, SB_READ, out);
		break;
	case SB_DEED_WRITE:
		judge_write(grounds, what, out);
		break;
	case SB_DEED_LAND:
		judge_landing(grounds, what, out);
		break;
	case SB_DEED_TRUNCATE:
		judge_one(grounds, what, site, (struct step){SB_MODIFY, SB_GUARD_WRITE}, out);
		break;
	case SB_DEED_UNNAMED:
		judge_rules_alone(grounds, what, SB_CREATE, out);
		break;
	case SB_DEED_PROBE:
		judge_probe(grounds, what, out);
		break;
	case SB_DEED_MKDIR:
		judge_one(grounds, what, site, (struct step){SB_CREATE, SB_GUARD_MKDIR}, out);
		break;
	case SB_DEED_MKNOD:
		judge_one(grounds, what, site, (struct step){SB_CREATE, SB_GUARD_MKNOD}, out);
		sb_heed_moved(grounds, site, site, what->node, &out->all[0]);
		break;
	case SB_DEED_SYMLINK:
		judge_one(grounds, what, site, (struct step){SB_CREATE, SB_GUARD_SYMLINK}, out);
		sb_heed_placed(grounds, S_IFLNK, &out->all[0]);
		sb_heed_link(grounds, what->text, &out->all[0]);
		break;
	case SB_DEED_REMOVE:
		judge_one(grounds, what, site, (struct step){SB_DELETE, SB_GUARD_UNLINK}, out);
		sb_heed_gone_service(grounds, 0, &out->all[0]);
		break;
	case SB_DEED_RENAME:
		judge_rename(grounds, what, out);
		break;
	case SB_DEED_LINK:
		judge_link(grounds, what, out);
		break;
	case SB_DEED_METADATA:
	case SB_DEED_HIDE:
		judge_one(grounds, what, site,
			  (struct step){SB_MODIFY, what->deed == SB_DEED_HIDE ? SB_GUARD_HIDE
									      : SB_GUARD_METADATA},
			  out);
		heed_device(grounds, &out->all[0]);
		break;
	case SB_DEED_CONNECT:
		judge_rules_alone(grounds, what, SB_MODIFY, out);
		sb_heed_service(grounds, site->mode, &out->all[0]);
		break;
	}
	/* the mode of an open counts where a file is made */
	if (what->sets_id && (what->deed != SB_DEED_WRITE || out->all[0].op == SB_CREATE))
		sb_heed_set_bits(grounds, &out->all[0]);
	heed_depth(grounds, what, out);
	find_strictest(out);
}

/* --- before and after ---------------------------------------------------------------------------------- */

/* What has arrived at site, by an operation that was judged before. */
static void judge_arrived(const struct sb_grounds *grounds, const struct sb_case *what,
			  enum sb_op op, const struct sb_site *site, struct sb_judgement *out)
{
	struct sb_judged *judged = add(out, op, site);
	struct sb_guard_place place;
	struct stat info;

	sb_judge_rules(grounds, what, NULL, judged);
	if (!look(site, &info))
		return;
	if (sb_has_guard(grounds, site)) {
		place = place_of(site, info.st_mode);
		sb_guard_landed(grounds->guard, &place, &judged->guard);
		if (S_ISDIR(info.st_mode) &&
		    is_other_place(grounds, &out->sites[0], &out->sites[1]))
			sb_guard_brings(grounds->guard, &place, &place, &judged->guard);
		heed_guard(grounds, judged, S_ISREG(info.st_mode), S_ISREG(info.st_mode), out);
	}
	sb_heed_moved(grounds, site, &out->sites[site == &out->sites[0]], info.st_mode, judged);
}

void sb_judge_renamed(const struct sb_grounds *grounds, const struct sb_case *what,
		      const struct sb_judgement *before, struct sb_judgement *out)
{
	start(out, what);
	/* as judge_rename() has put it */
	judge_arrived(grounds, what, before->all[1].op, &out->sites[1], out);
	if (what->exchange)
		judge_arrived(grounds, what, SB_MODIFY, &out->sites[0], out);
	heed_depth(grounds, what, out);
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

enum sb_guard_kind sb_judged_kind(const struct sb_judgement *judgement)
{
	const struct sb_judged *lands = judgement->lands;

	return lands && lands->guard.verdict == SB_GUARD_CHECK ? lands->guard.kind : SB_GUARD_SAME;
}

bool sb_judge_bytes(const struct sb_grounds *grounds, struct sb_judgement *judgement,
		    struct sb_guard_bytes old_bytes, struct sb_guard_bytes new_bytes)
{
	static const struct sb_case rules = {.deed = SB_DEED_WRITE};
	struct sb_judged *lands = judgement->lands;
	struct sb_guard_answer *guard = &lands->guard;
	enum sb_guard_kind kind = sb_judged_kind(judgement);
	enum sb_guard_verdict verdict = SB_GUARD_ASK;
	char why[sizeof guard->detail];

	why[0] = judgement->note[0] = judgement->lingers[0] = '\0';
	if (grounds->guard)
		verdict = sb_guard_content(
			grounds->guard,
			&(struct sb_guard_landing){kind, lands->site->path, old_bytes, new_bytes},
			why, sizeof why);
	if (verdict == SB_GUARD_PLAIN ||
	    (verdict == SB_GUARD_CHECK && grounds->watches && grounds->watches())) {
		/* the guard has nothing against it; what the rules say stays */
		memcpy(verdict == SB_GUARD_PLAIN ? judgement->note : judgement->lingers, why,
		       sizeof judgement->note);
		guard->verdict = SB_GUARD_PLAIN;
		sb_judge_rules(grounds, &rules, NULL, lands);
	} else {
		ask_for(lands);
		if (why[0]) {
			memcpy(guard->detail, why, sizeof why);
			guard->found = 1;
			for (const char *at = why; (at = strchr(at, '\n')); at++)
				guard->found++;
		}
	}
	find_strictest(judgement);
	return judgement->strictest->decision.verdict == SB_ALLOW;
}

/* --- for those who only tell -------------------------------------------------------------------------- */

void sb_judge_op(const struct sb_grounds *grounds, enum sb_op op, const struct sb_case *what,
		 struct sb_judged *out)
{
	bool directory = S_ISDIR(what->site.mode);
	struct sb_judgement judgement;

	start(&judgement, what);
	if (op == SB_READ || what->deed == SB_DEED_LOOK)
		judge_rules_alone(grounds, what, op, &judgement);
	else if (op == SB_DELETE)
		judge_one(grounds, what, &what->site, (struct step){op, SB_GUARD_UNLINK},
			  &judgement);
	else if (directory)
		judge_one(grounds, what, &what->site,
			  (struct step){op, op == SB_CREATE ? SB_GUARD_MKDIR : SB_GUARD_METADATA},
			  &judgement);
	else
		judge_one(grounds, what, &what->site, (struct step){op, SB_GUARD_WRITE, true},
			  &judgement);
	if (op == SB_MODIFY) /* which of a socket is connecting */
		sb_heed_service(grounds, what->site.mode, &judgement.all[0]);
	*out = judgement.all[0];
	out->site = &what->site;
}

bool sb_judge_is_plain(const struct sb_grounds *grounds, const struct sb_site *site)
{
	struct sb_guard_answer answer;
	struct sb_guard_place place;

	if (site->whole || !sb_rules_are_plain(grounds, site))
		return false;
	if (!sb_has_guard(grounds, site))
		return true;
	place = place_of(site, 0);
	return sb_guard_judge(grounds->guard, SB_GUARD_WRITE, &place, &answer) == SB_GUARD_PLAIN &&
	       !answer.looked;
}

enum sb_verdict sb_judge_read(const struct sb_grounds *grounds, const char *path)
{
	return sb_decide(grounds->policy, SB_READ, path).verdict;
}
