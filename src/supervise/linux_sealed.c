#include "supervise/sealed.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "supervise/land.h"

/* Is something to arrive at this site that has to be asked about?  exchanged: what leaves it makes room for that. */
static bool is_asked(const struct sb_judgement *judgement, int site, bool exchanged)
{
	for (size_t i = 0; i < judgement->count; i++)
		if (judgement->all[i].site == &judgement->sites[site] &&
		    (exchanged || judgement->all[i].op != SB_DELETE) &&
		    judgement->all[i].decision.verdict == SB_ASK)
			return true;
	return false;
}

/* Does the question list what is beside it? */
static bool lists_beside(const struct sb_judgement *judgement, int site)
{
	for (size_t i = 0; i < judgement->count; i++)
		if (judgement->all[i].site == &judgement->sites[site] &&
		    judgement->all[i].guard.verdict != SB_GUARD_PLAIN &&
		    (judgement->all[i].guard.looked & SB_LOOKED_BESIDE))
			return true;
	return false;
}

static bool is_directory(const struct sb_spot *spot, struct stat *info)
{
	char name[NAME_MAX + 2];

	return spot->directory >= 0 &&
	       fstatat(spot->directory, sb_spot_plain_name(spot, name), info,
		       AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISDIR(info->st_mode);
}

static void seal_at(const struct sb_spot *spot, struct sb_seal *out)
{
	char name[NAME_MAX + 2];

	sb_seal_take(spot->directory, sb_spot_plain_name(spot, name), NULL, out);
}

/* Names that come and go there by the act are not looked at. */
static void seal_around(const struct sb_spot *spot, const struct sb_seal_skip *skip,
			struct sb_seal *out)
{
	struct sb_seal_skip here = *skip;
	char name[NAME_MAX + 2];

	here.name = sb_spot_plain_name(spot, name);
	sb_seal_take(spot->directory, ".", &here, out);
}

bool sb_sealed_take(const struct sb_call *call, const struct sb_spot *file,
		    const struct sb_spot *target, const struct sb_judgement *judgement,
		    struct sb_sealed *out)
{
	bool renames = call->act == SB_ACT_RENAME;
	bool two = renames && (call->flags & RENAME_EXCHANGE);
	const struct sb_spot *spots[] = {file, target};
	bool asked = is_asked(judgement, 1, two) || (two && is_asked(judgement, 0, two));

	*out = (struct sb_sealed){0};
	for (int i = 0; i < 2; i++) {
		struct stat info;

		if (renames && asked && (i == 0 || two) && is_directory(spots[i], &info)) {
			out->any = out->at[i].moves = true;
			out->skip.device = info.st_dev;
			out->skip.inodes[i] = info.st_ino;
			seal_at(spots[i], &out->at[i].moved);
		}
	}
	for (int i = 0; i < 2; i++) {
		if (!lists_beside(judgement, i) || spots[i]->directory < 0)
			continue;
		out->any = out->at[i].beside = true;
		seal_around(spots[i], &out->skip, &out->at[i].around);
	}
	return out->any;
}

void sb_sealed_done(struct sb_sealed *shown)
{
	for (int i = 0; i < 2; i++) {
		sb_seal_done(&shown->at[i].moved);
		sb_seal_done(&shown->at[i].around);
	}
	*shown = (struct sb_sealed){0};
}

bool sb_sealed_moves(const struct sb_sealed *shown)
{
	return shown && (shown->at[0].moves || shown->at[1].moves);
}

const struct sb_seal *sb_sealed_moved(const struct sb_sealed *shown)
{
	return shown->at[0].moves ? &shown->at[0].moved : NULL;
}

static int copy_shared(void *context, int directory, const char *name)
{
	SB_AUTO_FD int from = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct stat info;
	struct timespec times[2];
	struct sb_landing landing = {
		.directory = directory, .name = name, .copy_of = &from, .times = times};

	(void)context;
	if (from < 0 || fstat(from, &info) != 0)
		return -1;
	landing.mode = info.st_mode;
	landing.owner = info.st_uid;
	landing.group = info.st_gid;
	times[0] = info.st_atim;
	times[1] = info.st_mtim;
	return sb_land(&landing);
}

bool sb_sealed_unshare(const struct sb_sealed *shown, const struct sb_spot *file,
		       const struct sb_spot *target)
{
	const struct sb_spot *spots[] = {file, target};

	for (int i = 0; i < 2; i++) {
		const struct sb_seal *moved = &shown->at[i].moved;
		char name[NAME_MAX + 2];

		if (shown->at[i].moves && moved->whole && moved->by_bytes &&
		    sb_seal_unshare(spots[i]->directory, sb_spot_plain_name(spots[i], name),
				    copy_shared, NULL) != 0)
			return false;
	}
	return true;
}

static bool holds(const struct sb_seal *shown, struct sb_seal *now)
{
	bool same = sb_seal_holds(shown, now);

	sb_seal_done(now);
	return same;
}

bool sb_sealed_holds(const struct sb_sealed *shown, const struct sb_spot *file,
		     const struct sb_spot *target, bool done)
{
	const struct sb_spot *spots[] = {file, target};
	bool same = true;
	struct sb_seal now;

	for (int i = 0; i < 2 && same; i++) {
		if (shown->at[i].moves && !done) {
			seal_at(spots[i], &now);
			same = holds(&shown->at[i].moved, &now);
		}
		if (same && shown->at[i].beside) {
			seal_around(spots[i], &shown->skip, &now);
			same = holds(&shown->at[i].around, &now);
		}
	}
	return same;
}
