/*
 * brought.c - links in a directory that is moved.
 *
 * SECURITY: a directory that moves to another one brings no link to where no link may be made unasked.
 *
 * Danger: notes/a/l, from before the run, leads to ../../.bashrc, which is the project's own.  Once a lies beside
 * notes, it leads to ~/.bashrc, for whoever follows it outside; in a worker's directory, to what lies beside that.
 * So each relative link that leads out of the directory is judged as if it were made where its first ".." end
 * (followed.c).  What another process of the run moves into it in the same millisecond is not seen.
 * Price: a walk through a directory that moves to another one, some 30 us for each directory in it, and once more if
 * that took long (supervise/meaning.h); where there is more than BUDGET allows (some 16,000 directories, or a million
 * files) it asks.  One that gets another name in the same directory leads nowhere else.
 * Held by: tests/supervise/followed.py, tests/cli/worker_links.py, tests/mcp/guarded.py
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/words.h"
#include "judge/judge_impl.h"
#include "sys/directory.h"

/* What looking costs: a name in a list next to nothing, a link that goes up behind a name milliseconds. */
enum { BUDGET = 1 << 20, DIRECTORY_COSTS = 64, TURNED_COSTS = 8192, MAX_DEPTH = 64 };

static const struct sb_rule unseen = SB_ASKS(
	"built-in: links in it may lead elsewhere from there, and not all can be looked at");

struct bringing {
	const struct sb_grounds *grounds;
	struct sb_judged *judged;
	unsigned left;
	bool asked;
};

/* False: there is more than can be looked at. */
static bool spend(struct bringing *bringing, unsigned cost)
{
	bool enough = bringing->left >= cost;

	bringing->left -= enough ? cost : bringing->left;
	return enough;
}

/* It lies depth directories beneath the one that holds the name. */
static bool heed(struct bringing *bringing, int directory, const char *name, unsigned depth)
{
	char text[PATH_MAX];
	ssize_t length = readlinkat(directory, name, text, sizeof text - 1);

	if (length <= 0)
		return length < 0 && errno == ENOENT; /* whoever moved it was judged */
	text[length] = '\0';
	if (!spend(bringing, sb_behind_turn(text) ? TURNED_COSTS : DIRECTORY_COSTS))
		return false;
	bringing->asked =
		sb_heed_brought_link(bringing->grounds, name, text, depth, bringing->judged);
	return true;
}

static mode_t kind_of(int directory, const struct dirent64 *entry)
{
	struct stat info;

	if (entry->d_type != DT_UNKNOWN)
		return DTTOIF(entry->d_type);
	return fstatat(directory, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 ? info.st_mode
										  : S_IFLNK;
}

/* False: there is more than can be looked at. */
static bool walk(struct bringing *bringing, int directory, const char *name, unsigned depth)
{
	SB_AUTO_FD int fd =
		openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const struct dirent64 *entry;
	struct sb_sys_dir dir;

	/* no directory by now: whoever put something else there was judged, and nothing is taken back for that */
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP))
		return true;
	if (fd < 0 || depth > MAX_DEPTH || !spend(bringing, DIRECTORY_COSTS))
		return false;
	sb_sys_dir_init(&dir, fd);
	while (!bringing->asked && (entry = sb_sys_dir_next(&dir))) {
		mode_t kind;

		if (sb_is_dots(entry->d_name))
			continue;
		if (!spend(bringing, 1))
			return false;
		kind = kind_of(fd, entry);
		if ((S_ISLNK(kind) && !heed(bringing, fd, entry->d_name, depth)) ||
		    (S_ISDIR(kind) && !walk(bringing, fd, entry->d_name, depth + 1)))
			return false;
	}
	return dir.error == 0;
}

/* Does what lay at the one path lie in the same directory by the other? */
static bool stays_beside(const char *from, const char *to)
{
	const char *end = strrchr(from, '/');
	size_t length = end ? (size_t)(end - from) + 1 : 0;

	return end && strncmp(from, to, length) == 0 && !strchr(to + length, '/');
}

void sb_heed_brought(const struct sb_grounds *grounds, const struct sb_site *at,
		     const struct sb_site *from, struct sb_judged *judged)
{
	struct bringing bringing = {grounds, judged, BUDGET, false};

	if (judged->decision.verdict == SB_DENY ||
	    (!from->nameless && stays_beside(from->path, judged->site->path)) ||
	    !sb_has_guard(grounds, judged->site))
		return;
	if (walk(&bringing, at->directory, at->name, 1) || bringing.asked)
		return;
	if (judged->decision.verdict == SB_ALLOW || !judged->decision.rule)
		judged->decision = (struct sb_decision){SB_ASK, &unseen};
	judged->no_rule_opens = true;
}
