#include "supervise/case.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>

#include "supervise/acts.h"
#include "supervise/wording.h"

/*
 * A file that no path leads to any more, or never did (O_TMPFILE, pipes, memfd): changing it
 * changes nothing that has a name, and the caller holds it open already.
 */
static bool is_nameless(const struct sb_spot *spot)
{
	return spot->object >= 0 && spot->directory < 0 &&
	       (!spot->path[0] || sb_path_is_gone(spot->path, spot->info.st_nlink));
}

static bool has_more_names(const struct sb_spot *spot)
{
	return spot->object >= 0 && S_ISREG(spot->info.st_mode) && spot->info.st_nlink > 1;
}

struct sb_site sb_spot_site(const struct sb_spot *spot)
{
	return (struct sb_site){.directory = spot->directory,
				.object = spot->object,
				.name = spot->name,
				.path = spot->path,
				.whole = spot->whole,
				.mode = spot->object >= 0 ? spot->info.st_mode : 0,
				.in_proc = spot->in_proc,
				.has_more_names = has_more_names(spot),
				.nameless = is_nameless(spot)};
}

static enum sb_deed deed_of(const struct sb_call *call)
{
	bool hides = false;

	if (call->act == SB_ACT_OPEN && (call->flags & O_TMPFILE) == O_TMPFILE)
		return SB_DEED_UNNAMED;
	if (call->act == SB_ACT_CHMOD)
		hides = (call->mode & 0500) != 0500;
	else if (call->act == SB_ACT_SETXATTR) /* an access list sets the owner's rights as well */
		hides = strcmp(call->text, "system.posix_acl_access") == 0;
	return hides ? SB_DEED_HIDE : sb_acts[call->act].deed;
}

struct sb_case sb_call_case(const struct sb_call *call, const struct sb_spot *file,
			    const struct sb_spot *target)
{
	struct sb_case what = {.deed = deed_of(call), .site = sb_spot_site(file)};

	if (target)
		what.target = sb_spot_site(target);
	if (call->act == SB_ACT_SYMLINK)
		what.text = call->text;
	if (call->act == SB_ACT_MKNOD)
		what.node = call->mode;
	what.sets_id = sb_wording_sets_id(call);
	if (call->act == SB_ACT_RENAME) {
		what.exchange = call->flags & RENAME_EXCHANGE;
		what.whiteout = call->flags & ~(RENAME_NOREPLACE | RENAME_EXCHANGE);
	}
	return what;
}

void sb_judge_call(const struct sb_grounds *grounds, const struct sb_call *call,
		   const struct sb_spot *file, const struct sb_spot *target,
		   struct sb_judgement *out)
{
	const struct sb_case what = sb_call_case(call, file, target);

	sb_judge(grounds, &what, out);
}

void sb_judge_call_renamed(const struct sb_grounds *grounds, const struct sb_call *call,
			   const struct sb_spot *file, const struct sb_spot *target,
			   const struct sb_judgement *before, struct sb_judgement *out)
{
	const struct sb_case what = sb_call_case(call, file, target);

	sb_judge_renamed(grounds, &what, before, out);
}
