/* What is there already, seen through a descriptor; nothing is followed in the last place. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/escape.h"
#include "base/words.h"
#include "guard/findings.h"
#include "guard/git_files.h"
#include "guard/guard_impl.h"
#include "guard/reasons.h"
#include "sys/directory.h"

#define MAX_ENTRIES 256 /* of one directory; with more it is asked about */
#define MAX_LOOKED_THROUGH 4096
#define MAX_DEPTH 12

bool sb_look_exists(int directory, const char *name)
{
	struct stat info;

	return directory < 0 || fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) == 0 ||
	       (errno != ENOENT && errno != ENOTDIR);
}

bool sb_look_leads_to(int directory, const char *name)
{
	char way[PATH_MAX];
	struct stat info;

	if (sb_look_exists(directory, name))
		return true;
	for (const char *slash = name; (slash = strchr(slash, '/')); slash++) {
		if (snprintf(way, sizeof way, "%.*s", (int)(slash - name), name) >=
			    (int)sizeof way ||
		    (fstatat(directory, way, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
		     S_ISLNK(info.st_mode)))
			return true;
	}
	return false;
}

/*
 * Git asks for HEAD as well, but HEAD may lie elsewhere: a directory that only has a HEAD and
 * a commondir borrows the rest, hooks and config included, from one that has just these two.
 */
bool sb_look_is_git(int directory, const char *up)
{
	return *up ? sb_look_exists(directory, "../objects") && sb_look_exists(directory, "../refs")
		   : sb_look_exists(directory, "objects") && sb_look_exists(directory, "refs");
}

bool sb_look_is_sample(const struct sb_guard_row *row, const char *name, size_t length)
{
	if (!(row->flags & SB_GUARD_IF_EXECUTABLE))
		return false;
	name += sb_git_is_temporary(name, &length);
	return length > 7 && memcmp(name + length - 7, ".sample", 7) == 0;
}

/*
 * SECURITY: its name was nothing special so far, so its writer may still hold it open and
 * change it once we have looked.  A read lease is granted only while no descriptor and no
 * mapping of the file can write (fcntl(2), F_SETLEASE).  Afterwards the name is guarded.  Where
 * leases do not work (some network file systems) a person is asked.
 * Held by: tests/unit/test_guard_structure.c
 */
char *sb_look_read_settled(int directory, const char *name, size_t limit, size_t *out_length)
{
	SB_AUTO_FD int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	SB_AUTO_FREE char *bytes = NULL;
	struct stat info;
	size_t length = 0;

	if (fd < 0 || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_nlink > 1 ||
	    (uint64_t)info.st_size > limit)
		return NULL;
	/* should somebody outside open it just now, a signal that is ignored by default */
	if (fcntl(fd, F_SETSIG, SIGURG) != 0 || fcntl(fd, F_SETLEASE, F_RDLCK) != 0)
		return NULL;
	bytes = malloc((size_t)info.st_size + 1);
	while (bytes && length < (size_t)info.st_size) {
		ssize_t got =
			pread(fd, bytes + length, (size_t)info.st_size - length, (off_t)length);

		if (got <= 0)
			return NULL;
		length += (size_t)got;
	}
	if (bytes)
		bytes[length] = '\0'; /* so that it can be read as a string, too */
	*out_length = length;
	return sb_take_ptr(&bytes);
}

/* One more line: what it is about, and why, which is escaped; length bytes. */
static void add_line(struct sb_guard_answer *out, const struct sb_guard_row *row,
		     enum sb_finding_weight weight, const char *inner, const char *why,
		     size_t length)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(4 * SB_GUARD_DETAIL);
	char line[SB_GUARD_DETAIL];

	sb_escape_value(&text, inner, strlen(inner), SB_GUARD_DETAIL - SB_REASON_LINE - 4);
	sb_buf_puts(&text, *inner && length ? ": " : "");
	sb_buf_append(&text, why, length);
	sb_escape_line(line, sizeof line, text.data);
	sb_findings_add(out, row, weight, line, length > 0);
}

static void add(struct sb_guard_answer *out, const struct sb_guard_row *row,
		enum sb_finding_weight weight, const char *inner, const char *why)
{
	do {
		size_t length = why ? strcspn(why, "\n") : 0;

		add_line(out, row, weight, inner, why, length);
		why = length && why[length] ? why + length + 1 : NULL;
	} while (why);
}

static const char *inner_of(const char *path, size_t start)
{
	return start < strlen(path) ? path + start : "";
}

bool sb_look_failed(struct sb_guard_answer *out, const struct sb_guard_row *row, const char *path,
		    size_t start)
{
	const char *inner = inner_of(path, start);

	add(out, row, SB_FINDING_STATE, inner, *inner ? "not looked into" : NULL);
	return true;
}

bool sb_look_ended(struct sb_guard_answer *out, const struct sb_guard_row *row)
{
	add(out, row, SB_FINDING_UNSEEN, "", "more than can be looked through");
	return true;
}

bool sb_look_found(const struct sb_guard *guard, struct sb_guard_answer *out,
		   const struct sb_guard_row *row, const char *path, size_t start, const char *why)
{
	if (guard->options.is_opened && guard->options.is_opened(guard, path, row))
		return false;
	add(out, row, sb_finding_weigh(row, path), inner_of(path, start), why);
	return true;
}

struct look {
	const struct sb_guard *guard;
	const struct sb_pattern_row *pattern;
	struct sb_guard_answer *out;
	char path[4096]; /* of what is looked at */
};

static bool found(const struct look *look, size_t start, const char *why)
{
	return sb_look_found(look->guard, look->out, look->pattern->row, look->path, start, why);
}

/* It cannot be looked at. */
static bool failed(const struct look *look, size_t start)
{
	return sb_look_failed(look->out, look->pattern->row, look->path, start);
}

static bool is_harmful(struct look *look, int directory, const char *name, size_t start)
{
	const struct sb_guard_row *row = look->pattern->row;
	SB_AUTO_FREE char *bytes = NULL;
	char why[(SB_GUARD_LINES + 1) * SB_REASON_LINE] = "";
	struct stat info;
	size_t length;

	if (sb_look_is_sample(row, name, strlen(name)))
		return false;
	if (fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT ? false : failed(look, start);
	if (S_ISDIR(info.st_mode))
		return false; /* a file was meant */
	if (!S_ISREG(info.st_mode) || row->kind == SB_GUARD_SAME)
		return found(look, start, NULL);
	bytes = sb_look_read_settled(directory, name, sb_guard_limit(row->kind), &length);
	if (!bytes)
		return found(look, start, "it may still be written to");
	return look->guard->whole.content(look->guard,
					  &(struct sb_guard_landing){.kind = row->kind,
								     .path = look->path,
								     .new_bytes = {bytes, length}},
					  why, sizeof why) != SB_GUARD_PLAIN &&
	       found(look, start, why);
}

static bool look_in(struct look *look, int directory, size_t start, size_t end, unsigned at);

/* One name that the component at position at means; path has room for it from end on. */
static bool look_at(struct look *look, int directory, const char *name, size_t start, size_t end,
		    unsigned at)
{
	int length = snprintf(look->path + end, sizeof look->path - end, "/%s", name);
	SB_AUTO_FD int next = -1;

	if (length < 0 || (size_t)length >= sizeof look->path - end)
		return failed(look, start);
	if (at + 1 == look->pattern->count)
		return is_harmful(look, directory, name, start);
	next = openat(directory, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (next < 0) {
		struct stat info;

		/* a link to a directory (ENOTDIR with O_DIRECTORY) leads somewhere as well */
		if (fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
			return errno != ENOENT && failed(look, start);
		return !S_ISREG(info.st_mode) && failed(look, start);
	}
	return look_in(look, next, start, end + (size_t)length, at + 1);
}

static bool means(const struct sb_component *component, const char *name)
{
	return component->kind != SB_COMPONENT_SUFFIX ||
	       sb_component_ends(component, name, strlen(name));
}

/* What a component like "*" or "**" means, in one name of the directory. */
static bool look_at_each(struct look *look, int directory, const char *name, size_t start,
			 size_t end, unsigned at)
{
	const struct sb_component *component = &look->pattern->at[at];
	int length;

	if (component->kind != SB_COMPONENT_BENEATH)
		return means(component, name) && look_at(look, directory, name, start, end, at);
	length = snprintf(look->path + end, sizeof look->path - end, "/%s", name);
	return length < 0 || (size_t)length >= sizeof look->path - end ? failed(look, start)
								       : found(look, start, NULL);
}

static bool look_at_all(struct look *look, int directory, size_t start, size_t end, unsigned at)
{
	SB_AUTO_FD int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct dirent64 *entry;
	struct sb_sys_dir dir;
	bool any = false;

	if (fd < 0)
		return failed(look, start);
	sb_sys_dir_init(&dir, fd);
	for (int left = MAX_ENTRIES; (entry = sb_sys_dir_next(&dir)); left--) {
		if (sb_is_dots(entry->d_name))
			continue;
		if (left <= 0)
			break;
		any |= look_at_each(look, directory, entry->d_name, start, end, at);
	}
	look->path[end] = '\0';
	return (entry && sb_look_ended(look->out, look->pattern->row)) ||
	       (dir.error != 0 && failed(look, start)) || any;
}

/*
 * SECURITY: a name of the table, in whatever letters it stands in the directory.
 *
 * Danger: the table compares folded names, and a lookup of "root" does not find the Root that becomes CVS/Root.
 * Price: the directory is listed.  What the list does not show is asked for by its name: where case does
 * not count the kernel finds what it takes for the same.
 * Held by: tests/unit/test_guard_renamed.c, tests/supervise/renamed.py
 */
static bool look_at_same(struct look *look, int directory, size_t start, size_t end, unsigned at)
{
	const struct sb_folded *folded = &look->pattern->at[at].text;
	SB_AUTO_FD int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct dirent64 *entry = NULL;
	bool any = false, seen = false, all = false;
	char spelled[SB_FOLD_MAX];
	struct sb_sys_dir dir;

	if (fd >= 0) {
		int left = MAX_ENTRIES;

		sb_sys_dir_init(&dir, fd);
		while (left-- && (entry = sb_sys_dir_next(&dir))) {
			struct sb_folded name;

			sb_fold(entry->d_name, strlen(entry->d_name), &name);
			if (!sb_folded_same(&name, folded))
				continue;
			seen = true;
			any |= look_at(look, directory, entry->d_name, start, end, at);
		}
		all = !entry && !dir.error;
	}
	if (!seen || !all) {
		sb_pattern_spells(look->pattern, at, spelled);
		any |= look_at(look, directory, spelled, start, end, at);
		if (strcmp(spelled, folded->text) != 0)
			any |= look_at(look, directory, folded->text, start, end, at);
	}
	look->path[end] = '\0';
	return any;
}

static bool look_in(struct look *look, int directory, size_t start, size_t end, unsigned at)
{
	if (look->pattern->at[at].kind == SB_COMPONENT_NAME)
		return look_at_same(look, directory, start, end, at);
	return look_at_all(look, directory, start, end, at);
}

bool sb_look_inside(const struct sb_guard *guard, int directory, const char *path,
		    const struct sb_pattern_row *pattern, unsigned first,
		    struct sb_guard_answer *out)
{
	struct look look = {.guard = guard, .pattern = pattern, .out = out};
	size_t length = strlen(path);

	if (length >= sizeof look.path - 512)
		return sb_look_failed(out, pattern->row, path, length);
	memcpy(look.path, path, length + 1);
	return look_in(&look, directory, length + 1, length, first);
}

/* Kinds that the filesystem does not tell with the name are asked for. */
mode_t sb_look_kind(int directory, const struct dirent64 *entry)
{
	struct stat info;

	if (entry->d_type != DT_UNKNOWN)
		return DTTOIF(entry->d_type);
	return fstatat(directory, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 ? info.st_mode
										  : S_IFLNK;
}

static bool has_links(int directory, const char *without, unsigned depth, unsigned *left)
{
	SB_AUTO_FD int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct dirent64 *entry;
	struct sb_sys_dir dir;

	if (fd < 0 || depth == 0)
		return true;
	sb_sys_dir_init(&dir, fd);
	while ((entry = sb_sys_dir_next(&dir))) {
		mode_t kind;
		SB_AUTO_FD int next = -1;

		if (sb_is_dots(entry->d_name))
			continue;
		kind = sb_look_kind(fd, entry);
		if (S_ISLNK(kind) || (*left)-- == 0)
			return true;
		if (!S_ISDIR(kind) || (without && strcmp(entry->d_name, without) == 0))
			continue;
		next = openat(fd, entry->d_name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (next < 0 || has_links(next, NULL, depth - 1, left))
			return true;
	}
	return dir.error != 0;
}

bool sb_look_for_links(int directory, const char *without)
{
	unsigned left = MAX_LOOKED_THROUGH;

	return has_links(directory, without, MAX_DEPTH, &left);
}
