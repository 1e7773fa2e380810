/*
 * What a directory that moves into a git directory, or becomes one, brings along.
 *
 * Every file in it is judged as if it were written where it will be, so that there is one list of what
 * may lie there.  What cannot be looked at, and more than can be looked through, counts as bad.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/words.h"
#include "guard/git_files.h"
#include "guard/guard_impl.h"
#include "guard/reasons.h"
#include "path/path.h"
#include "sys/directory.h"

#define MAX_FILES 4096
#define MAX_NAMES 20000 /* branches and tags of a large project */
#define MAX_DEPTH 12
/* Of one that moves to where other rules hold: some 50 ms.  Two descriptors and 2 KiB of stack a level. */
#define MAX_TREE_FILES 65536
#define MAX_TREE_DEPTH 48

struct walk {
	const struct sb_guard *guard;
	struct sb_guard_answer *out;
	char path[4096]; /* where what is looked at will be */
	size_t start;    /* of path, what is shown */
	size_t git; /* of path, where what lies in the git directory begins; 0: its name says so */
	unsigned left;
	bool everywhere; /* not only in a git directory */
	bool was_git; /* by what is in it: known names were guarded all the time, and may be the user's */
};

static bool found(const struct walk *walk, const struct sb_guard_row *row, const char *why)
{
	return sb_look_found(walk->guard, walk->out, row, walk->path, walk->start, why);
}

/* It cannot be looked at; or there is too much of it. */
static bool failed(const struct walk *walk)
{
	return sb_look_failed(walk->out, sb_row_of_git(walk->guard), walk->path, walk->start);
}

static bool ended(const struct walk *walk)
{
	return sb_look_ended(walk->out, sb_row_of_git(walk->guard));
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
	return walk->guard->whole.content(walk->guard,
					  &(struct sb_guard_landing){.kind = row->kind,
								     .path = walk->path,
								     .new_bytes = {bytes, length}},
					  why, sizeof why) != SB_GUARD_PLAIN &&
	       found(walk, row, why);
}

static bool was_guarded(const struct walk *walk, const struct sb_guard_row *row)
{
	size_t count;

	sb_guard_rows(&count);
	return walk->was_git && (sb_guard_row_number(row) < count || sb_git_row_is_fixed(row));
}

/* By the list of git's files alone: the disk does not say yet that this is a git directory. */
static bool is_bad_listed(struct walk *walk, int directory, const char *name, mode_t kind)
{
	const char *inner = sb_git_inner(walk->path + walk->git);
	const struct sb_guard_row *row = sb_git_row_of(inner);

	if (sb_git_row_is_unknown(row))
		return false; /* nobody notices that there */
	if (sb_git_ref_is_odd(row, inner))
		return found(walk, row, SB_ODD_REF);
	if (!S_ISREG(kind) || row->kind == SB_GUARD_SAME)
		return found(walk, row, NULL);
	return row->kind != SB_GUARD_ANYTHING && has_bad_bytes(walk, directory, name, row);
}

/* An answer is long, and this is no level of the walk. */
__attribute__((noinline)) static bool is_bad_file(struct walk *walk, int directory,
						  const char *name, mode_t kind)
{
	struct sb_guard_place place = {directory, walk->path, name, kind};
	enum sb_guard_act act = S_ISREG(kind)   ? SB_GUARD_WRITE
				: S_ISLNK(kind) ? SB_GUARD_SYMLINK
						: SB_GUARD_MKNOD;
	struct sb_guard_answer answer;

	if (walk->git)
		return is_bad_listed(walk, directory, name, kind);
	if (walk->guard->whole.judge(walk->guard, act, &place, &answer) == SB_GUARD_PLAIN ||
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
	const char *inner = walk->git ? sb_git_inner(walk->path + walk->git)
				      : sb_place_inner(walk->path);

	return inner && sb_git_is_free(inner);
}

static bool is_bad(struct walk *walk, int directory, const struct dirent64 *entry, size_t end,
		   unsigned depth)
{
	const char *name = entry->d_name;
	int length = snprintf(walk->path + end, sizeof walk->path - end, "/%s", name);
	mode_t kind = sb_look_kind(directory, entry);
	SB_AUTO_FD int next = -1;
	bool odd;

	if (length < 0 || (size_t)length >= sizeof walk->path - end)
		return failed(walk);
	if (!S_ISDIR(kind))
		return is_bad_file(walk, directory, name, kind);
	odd = !walk->git && sb_place_is_odd_directory(directory, walk->path) &&
	      found(walk, sb_git_unknown_row(), NULL);
	if (!walk->everywhere && is_free(walk))
		return odd;
	next = openat(directory, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	odd |= next < 0     ? failed(walk)
	       : depth == 0 ? ended(walk)
			    : has_bad(walk, next, end + (size_t)length, depth - 1);
	return odd;
}

static bool has_bad(struct walk *walk, int directory, size_t end, unsigned depth)
{
	SB_AUTO_FD int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct dirent64 *entry;
	struct sb_sys_dir dir;
	bool any = false;

	if (fd < 0)
		return failed(walk);
	sb_sys_dir_init(&dir, fd);
	while ((entry = sb_sys_dir_next(&dir))) {
		if (sb_is_dots(entry->d_name))
			continue;
		if (walk->left == 0)
			break;
		walk->left--;
		any |= is_bad(walk, fd, entry, end, depth);
	}
	walk->path[end] = '\0';
	if (entry)
		any |= ended(walk);
	else if (dir.error)
		any |= failed(walk);
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
		return sb_look_failed(walk->out, sb_row_of_git(walk->guard), path, strlen(path));
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

bool sb_look_at_git_part(const struct sb_guard *guard, int directory, const char *path,
			 const char *inner, struct sb_guard_answer *out)
{
	struct walk walk = {
		.guard = guard, .out = out, .git = (size_t)(inner - path), .left = MAX_NAMES};

	return look_at_all(&walk, directory, path, MAX_DEPTH);
}

/* Names that anybody may invent: branches, and worktrees with their own.  Not in the one called without. */
static bool has_bad_open(struct walk *walk, int directory, const char *without)
{
	SB_AUTO_FD int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct dirent64 *entry;
	struct sb_sys_dir dir;
	bool any = false;

	walk->path[walk->start - 1] = '\0';
	if (fd < 0)
		return failed(walk);
	walk->git = walk->start;
	walk->left = MAX_NAMES;
	sb_sys_dir_init(&dir, fd);
	while ((entry = sb_sys_dir_next(&dir))) {
		const char *name = entry->d_name;

		if ((sb_git_is_open_ended(name, strlen(name)) ||
		     strcasecmp(name, "worktrees") == 0) &&
		    !(without && strcmp(name, without) == 0))
			any |= is_bad(walk, fd, entry, walk->start - 1, MAX_DEPTH);
	}
	walk->path[walk->start - 1] = '\0';
	if (dir.error)
		any |= failed(walk);
	return any;
}

bool sb_look_for_git_files(const struct sb_guard *guard, int directory, const char *path,
			   const char *prefix, const char *without, struct sb_guard_answer *out)
{
	struct walk walk = {.guard = guard, .out = out};
	const struct sb_guard_row *row;
	size_t position = 0, length = strlen(prefix);
	bool any = false;

	if (directory < 0 || !start(&walk, path))
		return sb_look_failed(out, sb_row_of_git(guard), path, strlen(path));
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
	if (!*prefix)
		any |= has_bad_open(&walk, directory, without);
	return any;
}

bool sb_is_word_of_git(const struct sb_pattern_row *pattern)
{
	return pattern->at[0].kind == SB_COMPONENT_NAME && pattern->at[0].text.text[0] != '.' &&
	       strcmp(pattern->row->who, "git") == 0;
}

bool sb_look_for_git(const struct sb_guard *guard, int directory, const char *path,
		     const char *without, struct sb_guard_answer *out)
{
	const struct sb_table *table = sb_table_of(guard);
	bool any = false;

	for (size_t i = 0; i < table->count; i++) {
		const struct sb_pattern_row *pattern = &table->rows[i];
		bool within = pattern->at[0].kind == SB_COMPONENT_GIT;
		const struct sb_component *first = &pattern->at[within ? 1 : 0];

		if (without && first->kind == SB_COMPONENT_NAME &&
		    strcmp(first->text.text, without) == 0)
			continue;
		if (within || sb_is_word_of_git(pattern))
			any |= sb_look_inside(guard, directory, path, pattern, within ? 1 : 0, out);
	}
	any |= sb_look_for_git_files(guard, directory, path, "", without, out);
	return any;
}

/* One that is called .git, or lies in one, was guarded all the time; a project's own is the user's. */
bool sb_look_was_obeyed(const struct sb_guard *guard, const char *path)
{
	char beneath[4096];

	return sb_commons_has(&guard->commons, path) ||
	       (snprintf(beneath, sizeof beneath, "%s/x", path) < (int)sizeof beneath &&
		sb_place_inner(beneath));
}

bool sb_look_at_led(const struct sb_guard *guard, const char *path, struct sb_guard_answer *out)
{
	SB_AUTO_FD int fd = -1;
	SB_AUTO_FREE char *parent = NULL, *common = NULL;
	bool any;

	if (sb_look_was_obeyed(guard, path))
		return false;
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) /* whoever makes it a git directory is looked at then */
		return errno != ENOENT && errno != ENOTDIR;
	if (sb_look_is_git(fd, ""))
		return sb_look_for_git(guard, fd, path, NULL, out) || sb_look_for_links(fd, NULL);
	if (!sb_look_exists(fd, "commondir"))
		return false;
	parent = sb_path_parent(path); /* COMMON/worktrees/ID: no other commondir lands unasked */
	common = parent ? sb_path_parent(parent) : NULL;
	if (!common)
		return true;
	any = sb_look_for_git_files(guard, fd, path, "", NULL, out);
	any |= sb_look_at_led(guard, common, out);
	return any;
}
