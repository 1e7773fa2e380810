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
#include "base/escape.h"
#include "guard/git_files.h"
#include "guard/guard_impl.h"
#include "sys/directory.h"

#define MAX_FILES 4096
#define MAX_DEPTH 12

struct walk {
	const struct sb_guard *guard;
	struct sb_guard_answer *out;
	char path[4096]; /* where what is looked at will be */
	size_t start;    /* of path, what is shown */
	unsigned left;
	bool was_git; /* by what is in it: known names were guarded all the time, and may be the user's */
};

static bool found(struct walk *walk, const struct sb_guard_row *row, const char *why)
{
	char text[sizeof walk->out->detail];

	snprintf(text, sizeof text, "%.160s%s%.100s", walk->path + walk->start,
		 why && *why ? ": " : "", why ? why : "");
	sb_escape_line(walk->out->detail, sizeof walk->out->detail, text);
	walk->out->row = row;
	return true;
}

/* The bytes of a file that has got a form to keep. */
static bool has_bad_bytes(struct walk *walk, int directory, const char *name,
			  const struct sb_guard_row *row)
{
	size_t length;
	SB_AUTO_FREE char *bytes =
		sb_look_read_settled(directory, name, sb_guard_limit(row->kind), &length);
	char why[160] = "";

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

static bool is_bad(struct walk *walk, int directory, const char *name, size_t end, unsigned depth)
{
	int length = snprintf(walk->path + end, sizeof walk->path - end, "/%s", name);
	const char *inner;
	SB_AUTO_FD int next = -1;
	struct stat info;

	if (length < 0 || (size_t)length >= sizeof walk->path - end || walk->left-- == 0 ||
	    fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
		return found(walk, sb_row_of_git(walk->guard), NULL);
	if (!S_ISDIR(info.st_mode))
		return is_bad_file(walk, directory, name, info.st_mode);
	inner = sb_place_inner(walk->path);
	if (inner && sb_git_is_free(inner))
		return false; /* links in it are looked for by others */
	next = openat(directory, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return next < 0 || depth == 0 ? found(walk, sb_row_of_git(walk->guard), NULL)
				      : has_bad(walk, next, end + (size_t)length, depth - 1);
}

static bool has_bad(struct walk *walk, int directory, size_t end, unsigned depth)
{
	SB_AUTO_FD int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct dirent64 *entry;
	struct sb_sys_dir dir;

	if (fd < 0)
		return found(walk, sb_row_of_git(walk->guard), NULL);
	sb_sys_dir_init(&dir, fd);
	while ((entry = sb_sys_dir_next(&dir))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (is_bad(walk, fd, entry->d_name, end, depth))
			return true;
	}
	walk->path[end] = '\0';
	return dir.error != 0 && found(walk, sb_row_of_git(walk->guard), NULL);
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

bool sb_look_at_git_tree(const struct sb_guard *guard, int directory, const char *path,
			 struct sb_guard_answer *out)
{
	struct walk walk = {.guard = guard,
			    .out = out,
			    .left = MAX_FILES,
			    .was_git = directory >= 0 && sb_look_is_git(directory, "")};

	out->row = sb_row_of_git(guard);
	return directory < 0 || !start(&walk, path) ||
	       has_bad(&walk, directory, walk.start - 1, MAX_DEPTH);
}

bool sb_look_for_git_files(const struct sb_guard *guard, int directory, const char *path,
			   const char *prefix, struct sb_guard_answer *out)
{
	struct walk walk = {.guard = guard, .out = out};
	const struct sb_guard_row *row;
	size_t position = 0, length = strlen(prefix);

	if (directory < 0 || !start(&walk, path)) {
		out->row = sb_row_of_git(guard);
		return true;
	}
	while ((row = sb_git_next_fixed(&position))) {
		const char *name = sb_git_fixed_name(row) + length;
		struct stat info;

		if (strncmp(sb_git_fixed_name(row), prefix, length) != 0 ||
		    fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
		    S_ISDIR(info.st_mode))
			continue;
		snprintf(walk.path + walk.start - 1, sizeof walk.path - walk.start + 1, "/%s",
			 name);
		if (!S_ISREG(info.st_mode) ? found(&walk, row, NULL)
					   : has_bad_bytes(&walk, directory, name, row))
			return true;
	}
	return false;
}
