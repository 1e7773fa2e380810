/*
 * brought.c - links in a directory that is moved up.
 *
 * SECURITY: a directory that moves up in a worker's directory brings no link that leads out of that unasked.
 *
 * Danger: a/b/l is made a link to ../../x, which is the worker's own.  Once b lies beside a, it leads to x beside
 * the worker's directory, for whoever follows it outside.
 * So each link whose ".." are more than the directories it moves with is judged as if it were made where these end.
 * Price: a walk through a directory that moves up, in a worker's run only; one with more than MAX_LOOKED_AT names asks.
 * Held by: tests/cli/worker_links.py
 */
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/words.h"
#include "judge/judge_impl.h"
#include "sys/directory.h"

enum { MAX_LOOKED_AT = 4096, MAX_DEPTH = 64 };

static const struct sb_rule unseen = SB_ASKS(
	"built-in: links in it may lead elsewhere from there, and not all can be looked at");

struct bringing {
	const struct sb_grounds *grounds;
	struct sb_judged *judged;
	unsigned left;
};

/* It lies depth directories beneath the one that gets the name's. */
static bool heed(struct bringing *bringing, int directory, const char *name, unsigned depth)
{
	char text[PATH_MAX];
	ssize_t length = readlinkat(directory, name, text, sizeof text - 1);
	const char *rest = text;

	if (length <= 0)
		return false;
	text[length] = '\0';
	while (depth && strncmp(rest, "..", 2) == 0 && (!rest[2] || rest[2] == '/')) {
		rest += 2;
		rest += strspn(rest, "/");
		depth--;
	}
	if (sb_behind_turn(text) || (depth == 0 && strncmp(rest, "..", 2) == 0))
		sb_heed_followed(bringing->grounds, rest, bringing->judged);
	return true;
}

/* False: there is more than can be looked at. */
static bool walk(struct bringing *bringing, int directory, const char *name, unsigned depth)
{
	SB_AUTO_FD int fd =
		openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const struct dirent64 *entry;
	struct sb_sys_dir dir;

	if (fd < 0 || depth > MAX_DEPTH)
		return false;
	sb_sys_dir_init(&dir, fd);
	while (bringing->judged->decision.verdict == SB_ALLOW && (entry = sb_sys_dir_next(&dir))) {
		struct stat info;

		if (sb_is_dots(entry->d_name))
			continue;
		if (bringing->left-- == 0 ||
		    fstatat(fd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0)
			return false;
		if ((S_ISLNK(info.st_mode) && !heed(bringing, fd, entry->d_name, depth)) ||
		    (S_ISDIR(info.st_mode) && !walk(bringing, fd, entry->d_name, depth + 1)))
			return false;
	}
	return dir.error == 0;
}

static unsigned depth_of(const char *path)
{
	unsigned depth = 0;

	for (; *path; path++)
		depth += *path == '/';
	return depth;
}

void sb_heed_brought(const struct sb_grounds *grounds, const struct sb_site *at,
		     const struct sb_site *from, struct sb_judged *judged)
{
	struct bringing bringing = {grounds, judged, MAX_LOOKED_AT};

	if (!grounds->view || judged->decision.verdict != SB_ALLOW ||
	    (!from->nameless && depth_of(from->path) <= depth_of(judged->site->path)))
		return;
	if (!walk(&bringing, at->directory, at->name, 1) && judged->decision.verdict == SB_ALLOW) {
		judged->decision = (struct sb_decision){SB_ASK, &unseen};
		judged->no_rule_opens = true;
	}
}
