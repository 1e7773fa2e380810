#include "supervise/judge.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>

static void add(struct sb_judgement *out, enum sb_op op, const struct sb_spot *spot,
		struct sb_decision decision)
{
	struct sb_judged *next = &out->all[out->count++];

	*next = (struct sb_judged){op, spot, decision};
	if (!out->strictest || decision.verdict > out->strictest->decision.verdict)
		out->strictest = next;
}

/*
 * A file that no path leads to any more, or never did (O_TMPFILE, pipes, memfd): changing it
 * changes nothing that has a name, and the caller holds it open already.
 */
static bool is_nameless(const struct sb_spot *spot)
{
	return spot->object >= 0 && spot->directory < 0 &&
	       (!spot->path[0] || spot->info.st_nlink == 0);
}

static void judge_one(const struct sb_policy *policy, enum sb_op op, const struct sb_spot *spot,
		      struct sb_judgement *out)
{
	add(out, op, spot,
	    is_nameless(spot) ? (struct sb_decision){SB_ALLOW, NULL}
			      : sb_decide(policy, op, spot->path));
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
static void judge_moved(const struct sb_policy *policy, enum sb_op op, const struct sb_spot *spot,
			bool directory, struct sb_judgement *out)
{
	struct sb_decision decision = sb_decide(policy, op, spot->path);

	if (directory)
		decision = stricter(decision, sb_decide_beneath(policy, op, spot->path));
	add(out, op, spot, decision);
}

static void judge_rename(const struct sb_policy *policy, const struct sb_call *call,
			 const struct sb_spot *file, const struct sb_spot *target,
			 struct sb_judgement *out)
{
	struct stat from, to;
	bool there = exists(target, &to);
	bool directory = exists(file, &from) && S_ISDIR(from.st_mode);
	bool swap = call->flags & RENAME_EXCHANGE;

	if (swap && there && S_ISDIR(to.st_mode))
		directory = true;
	judge_moved(policy, SB_DELETE, file, directory, out);
	judge_moved(policy, there ? SB_MODIFY : SB_CREATE, target, directory, out);
	if (swap) {
		judge_moved(policy, SB_MODIFY, file, directory, out);
		judge_moved(policy, SB_DELETE, target, directory, out);
	}
}

void sb_judge(const struct sb_policy *policy, const struct sb_call *call,
	      const struct sb_spot *file, const struct sb_spot *target, struct sb_judgement *out)
{
	out->count = 0;
	out->strictest = NULL;
	switch (call->act) {
	case SB_ACT_OPEN:
		judge_one(policy,
			  file->object < 0 || (call->flags & O_TMPFILE) == O_TMPFILE ? SB_CREATE
										     : SB_MODIFY,
			  file, out);
		return;
	case SB_ACT_MKDIR:
	case SB_ACT_MKNOD:
	case SB_ACT_SYMLINK:
	case SB_ACT_BIND:
		judge_one(policy, SB_CREATE, file, out);
		return;
	case SB_ACT_UNLINK:
	case SB_ACT_RMDIR:
		judge_one(policy, SB_DELETE, file, out);
		return;
	case SB_ACT_RENAME:
		judge_rename(policy, call, file, target, out);
		return;
	case SB_ACT_LINK:
		/* a second name is a second way to write the same file */
		judge_one(policy, SB_MODIFY, file, out);
		judge_one(policy, SB_CREATE, target, out);
		return;
	default:
		judge_one(policy, SB_MODIFY, file, out);
		return;
	}
}
