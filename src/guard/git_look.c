/*
 * What a directory that moves into a git directory, or becomes one, brings along.
 *
 * Every file in it is judged as if it were written where it will be, so that there is one list of what
 * may lie there.  What cannot be looked at, and more than can be looked through, counts as bad.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "guard/git_files.h"
#include "guard/guard_impl.h"
#include "guard/reasons.h"
#include "sys/directory.h"

#define MAX_FILES 4096
#define MAX_DEPTH 12
/* Of one that moves to where other rules hold: some 50 ms.  Two descriptors and 2 KiB of stack a level. */
#define MAX_TREE_FILES 65536
#define MAX_TREE_DEPTH 48

struct walk {
	const struct sb_guard *guard;
	struct sb_guard_answer *out;
	char path[4096]; /* where what is looked at will be */
	size_t start;    /* of path, what is shown */
	unsigned left;
	bool everywhere; /* not only in a git directory */
	bool was_git; /* by what is in it: known names were guarded all the time, and may be the user's */
};

static bool found(const struct walk *walk, const struct sb_guard_row *row, const char *why)
{
	return sb_look_found(walk->guard, walk->out, row, walk->path, walk->start, why);
}

/* It cannot be looked at, or there is too much of it. */
static bool failed(const struct walk *walk, const char *why)
{
	return sb_look_failed(walk->out, sb_row_of_git(walk->guard), walk->path, walk->start, why);
}

/* The bytes of a file that has got a form to keep. */
static bool has_bad_bytes(struct walk *walk, int directory, const char *name,
			  const struct sb_guard_row *row)
{
	size_t length;
	SB_AUTO_FREE char *bytes =
		sb_look_read_settled(directory, name, sb_guard_limit(row->kind), &length);
	char why[(SB_GUARD_LINES + 1) * SB_REASON_LINE] = "";

	if (!bytes)
		return found(walk, row, "it may still be written to");
	return sb_guard_content(walk->guard, row->kind, walk->path, (struct sb_guard_bytes){0},
				(struct sb_guard_bytes){bytes, length}, why,
				sizeof why) != SB_GUARD_PLAIN &&
	       found(walk, row, why);
}

static bool was_guarded(const struct walk *walk, const struct sb_guard_row *row)
{
	size_t count;

	sb_guard_rows(&count);
	return walk->was_git && (sb_guard_row_number(row) < count || sb_git_row_is_fixed(row));
}

static bool is_bad_file(struct walk *walk, int directory, const char *name, mode_t kind)
{
	struct sb_guard_place place = {directory, walk->path, name, kind};
	enum sb_guard_act act = S_ISREG(kind)   ? SB_GUARD_WRITE
				: S_ISLNK(kind) ? SB_GUARD_SYMLINK
						: SB_GUARD_MKNOD;
	struct sb_guard_answer answer;

	if (sb_guard_judge(walk->guard, act, &place, &answer) == SB_GUARD_PLAIN ||
	    was_guarded(walk, answer.row))
		return false;
	switch (answer.verdict) {
	case SB_GUARD_CHECK:
		return has_bad_bytes(walk, directory, name, answer.row);
	default:
		return found(walk, answer.row, answer.detail);
	}
}

static bool has_bad(struct walk *walk, int directory, size_t end, unsigned depth);

/* Nobody obeys a name in it: links in it are looked for by others. */
static bool is_free(const struct walk *walk)
{
	const char *inner = sb_place_inner(walk->path);

	return inner && sb_git_is_free(inner);
}

static bool is_bad(struct walk *walk, int directory, const struct dirent64 *entry, size_t end,
		   unsigned depth)
{
	const char *name = entry->d_name;
	int length = snprintf(walk->path + end, sizeof walk->path - end, "/%s", name);
	mode_t kind = sb_look_kind(directory, entry);
	SB_AUTO_FD int next = -1;

	if (length < 0 || (size_t)length >= sizeof walk->path - end)
		return failed(walk, NULL);
	if (!S_ISDIR(kind))
		return is_bad_file(walk, directory, name, kind);
	if (!walk->everywhere && is_free(walk))
		return false;
	next = openat(directory, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return next < 0     ? failed(walk, NULL)
	       : depth == 0 ? failed(walk, "more than can be looked through")
			    : has_bad(walk, next, end + (size_t)length, depth - 1);
}

static bool has_bad(struct walk *walk, int directory, size_t end, unsigned depth)
{
	SB_AUTO_FD int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct dirent64 *entry;
	struct sb_sys_dir dir;
	bool any = false;

	if (fd < 0)
		return failed(walk, NULL);
	sb_sys_dir_init(&dir, fd);
	while ((entry = sb_sys_dir_next(&dir))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (walk->left == 0)
			break;
		walk->left--;
		any |= is_bad(walk, fd, entry, end, depth);
	}
	walk->path[end] = '\0';
	if (entry)
		any |= failed(walk, "more than can be looked through");
	else if (dir.error)
		any |= failed(walk, NULL);
	return any;
}

static bool start(struct walk *walk, const char *path)
{
	walk->start = strlen(path);
	if (walk->start >= sizeof walk->path - 512)
		return false;
	memcpy(walk->path, path, walk->start + 1);
	walk->start++;
	return true;
}

static bool look_at_all(struct walk *walk, int directory, const char *path, unsigned depth)
{
	if (directory < 0 || !start(walk, path))
		return sb_look_failed(walk->out, sb_row_of_git(walk->guard), path, strlen(path),
				      NULL);
	return has_bad(walk, directory, walk->start - 1, depth);
}

bool sb_look_at_git_tree(const struct sb_guard *guard, int directory, const char *path,
			 struct sb_guard_answer *out)
{
	struct walk walk = {.guard = guard,
			    .out = out,
			    .left = MAX_FILES,
			    .was_git = directory >= 0 && sb_look_is_git(directory, "")};

	return look_at_all(&walk, directory, path, MAX_DEPTH);
}

bool sb_look_at_tree(const struct sb_guard *guard, int directory, const char *path,
		     struct sb_guard_answer *out)
{
	struct walk walk = {.guard = guard, .out = out, .left = MAX_TREE_FILES, .everywhere = true};

	return look_at_all(&walk, directory, path, MAX_TREE_DEPTH);
}

bool sb_look_for_git_files(const struct sb_guard *guard, int directory, const char *path,
			   const char *prefix, struct sb_guard_answer *out)
{
	struct walk walk = {.guard = guard, .out = out};
	const struct sb_guard_row *row;
	size_t position = 0, length = strlen(prefix);
	bool any = false;

	if (directory < 0 || !start(&walk, path))
		return sb_look_failed(out, sb_row_of_git(guard), path, strlen(path), NULL);
	while ((row = sb_git_next_fixed(&position))) {
		const char *name = sb_git_fixed_name(row) + length;
		struct stat info;

		if (strncmp(sb_git_fixed_name(row), prefix, length) != 0 ||
		    fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
		    S_ISDIR(info.st_mode))
			continue;
		snprintf(walk.path + walk.start - 1, sizeof walk.path - walk.start + 1, "/%s",
			 name);
		any |= !S_ISREG(info.st_mode) ? found(&walk, row, NULL)
					      : has_bad_bytes(&walk, directory, name, row);
	}
	return any;
}
