/*
 * MERGE_AUTOSTASH and its like: a stash that git applies without a word from anybody.
 *
 * SECURITY: what an autostash writes is judged name by name before it lands.
 *
 * Danger: the next "git commit" or "git pull" outside applies MERGE_AUTOSTASH, and so does the end of a rebase with
 * its own, to the work tree: a stash is a commit, and a run makes commits of any names unasked.  git status shows nothing.
 * Price: a read of the directories in which the stash differs from the commit that it was made on.  What git makes of
 * files that were renamed since then, and replaced objects, nobody foresees: so one that is left behind is told.
 * Held by: tests/supervise/git_autostash.py
 */
#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/words.h"
#include "guard/check.h"
#include "guard/git_forms.h"
#include "guard/git_objects.h"
#include "guard/read.h"
#include "path/path.h"

#define MAX_TREE (8 * 1024 * 1024)
#define MAX_COMMIT (1024 * 1024)
#define MAX_NAMES 65536
#define MAX_DEPTH 64

/* A commit of a stash: the tree that was saved, and what it was made on. */
struct stash {
	unsigned char tree[SB_GIT_MAX_ID], base[SB_GIT_MAX_ID], index[SB_GIT_MAX_ID];
};

struct walk {
	const struct sb_check *check;
	struct sb_git_objects *objects;
	size_t id_length;
	unsigned left;
	char path[PATH_MAX]; /* of what is looked at, in the work tree */
	size_t top;          /* of path, where names of the tree begin */
	struct sb_guard_answer answer;
};

static bool parse_id(const char *hex, size_t length, unsigned char *out)
{
	for (size_t i = 0; i < length; i++) {
		int c = tolower((unsigned char)hex[i]), digit = c <= '9' ? c - '0' : c - 'a' + 10;

		if (!isxdigit(c))
			return false;
		out[i / 2] = (unsigned char)(i % 2 ? out[i / 2] | digit : digit << 4);
	}
	return true;
}

/* --- trees --------------------------------------------------------------------------------------------- */

struct entry {
	const char *name;
	size_t length;
	unsigned mode;
	const unsigned char *id;
};

struct tree {
	char *bytes;
	size_t at, length;
	bool more;
	struct entry entry;
};

static bool is_tree(const struct entry *entry)
{
	return entry->mode == S_IFDIR;
}

/* Git's order: a directory as if a slash were behind its name. */
static int compare(const struct entry *a, const struct entry *b)
{
	size_t least = a->length < b->length ? a->length : b->length;
	int order = memcmp(a->name, b->name, least);
	unsigned char x, y;

	if (order)
		return order;
	x = (unsigned char)(a->length > least ? a->name[least] : is_tree(a) ? '/' : 0);
	y = (unsigned char)(b->length > least ? b->name[least] : is_tree(b) ? '/' : 0);
	return x - y;
}

static bool is_name(const struct entry *entry)
{
	return entry->length && entry->length <= NAME_MAX &&
	       !memchr(entry->name, '/', entry->length) &&
	       !(entry->length <= 2 && memcmp(entry->name, "..", entry->length) == 0);
}

/* The next entry, or more is false.  False: git would not have written this. */
static bool advance(struct walk *walk, struct tree *tree)
{
	const char *end = tree->bytes + tree->length, *at = tree->bytes + tree->at, *nul;
	struct entry before = tree->entry, *entry = &tree->entry;

	tree->more = at < end;
	if (!tree->more)
		return true;
	if (walk->left-- == 0)
		return walk->left = 0, false;
	*entry = (struct entry){0};
	for (; *at >= '0' && *at <= '7' && entry->mode < 1u << 20; at++)
		entry->mode = entry->mode * 8 + (unsigned)(*at - '0');
	if (*at != ' ')
		return false;
	entry->name = ++at;
	nul = memchr(at, '\0', (size_t)(end - at));
	if (!nul || (size_t)(end - nul) <= walk->id_length)
		return false;
	entry->length = (size_t)(nul - at);
	entry->id = (const unsigned char *)nul + 1;
	tree->at = (size_t)(nul + 1 - tree->bytes) + walk->id_length;
	return is_name(entry) && (!before.name || compare(&before, entry) < 0);
}

/* id NULL: one that has nothing in it. */
static bool begin(struct walk *walk, const unsigned char *id, struct tree *out)
{
	struct sb_git_object object;

	*out = (struct tree){0};
	if (!id)
		return true;
	if (!sb_git_object_read(walk->objects, id, SB_GIT_TREE, MAX_TREE, &object))
		return false;
	out->bytes = object.bytes;
	out->length = object.length;
	return advance(walk, out);
}

static void end_tree(struct tree *tree)
{
	free(tree->bytes);
}

/* --- what is judged ------------------------------------------------------------------------------------ */

static void ask(const struct walk *walk, const char *what)
{
	const char *inner = walk->path + walk->top;

	sb_check_ask(walk->check, what, inner, strlen(inner));
}

/* The directory of a name, or the innermost one on the way that is there and none of git's; -1: unknown. */
static int open_around(const char *path)
{
	char directory[PATH_MAX];
	bool missing = false;

	snprintf(directory, sizeof directory, "%s", path);
	for (char *slash; (slash = strrchr(directory, '/')) && slash != directory; missing = true) {
		SB_AUTO_FD int fd = -1;

		*slash = '\0';
		fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0)
			return missing && sb_look_is_git(fd, "") ? -1 : sb_take_fd(&fd);
	}
	return -1;
}

/* Would the contents land there if they were written? */
static bool is_harmless(struct walk *walk, const unsigned char *id)
{
	enum sb_guard_kind kind = walk->answer.kind;
	const struct sb_guard *guard = walk->check->guard;
	char why[(SB_GUARD_LINES + 1) * SB_REASON_LINE];
	struct sb_git_object blob;
	struct sb_guard_landing landing = {.kind = kind, .path = walk->path};
	SB_AUTO_FREE char *new = NULL, *old = NULL;
	size_t length = 0;

	/* a stash in a stash could be itself, as nobody holds objects against their hash */
	if (kind == SB_GUARD_GIT_STASH ||
	    !sb_git_object_read(walk->objects, id, SB_GIT_BLOB, sb_guard_limit(kind), &blob))
		return false;
	new = blob.bytes;
	old = sb_read_text(walk->path, sb_guard_limit(kind), &length);
	landing.new_bytes = (struct sb_guard_bytes){new, blob.length};
	landing.old_bytes = (struct sb_guard_bytes){old, old ? length : 0};
	return guard->whole.content(guard, &landing, why, sizeof why) == SB_GUARD_PLAIN;
}

static void judge(struct walk *walk, enum sb_guard_act act, const unsigned char *id)
{
	const struct sb_guard *guard = walk->check->guard;
	SB_AUTO_FD int directory = open_around(walk->path);
	struct sb_guard_place place = {
		.directory = directory, .path = walk->path, .name = strrchr(walk->path, '/') + 1};
	enum sb_guard_verdict verdict = guard->whole.judge(guard, act, &place, &walk->answer);

	if (verdict == SB_GUARD_PLAIN ||
	    (guard->options.is_opened &&
	     guard->options.is_opened(guard, walk->path, walk->answer.row)))
		return;
	if (verdict == SB_GUARD_ASK || !id || !is_harmless(walk, id))
		ask(walk, act == SB_GUARD_UNLINK ? "a stash without " : "a stash with ");
}

static bool differ(struct walk *walk, const unsigned char *old, const unsigned char *new,
		   size_t end, unsigned depth);

/* One name of the old tree (came false), or of the new one. */
static bool look_at(struct walk *walk, const struct entry *entry, bool came, size_t end,
		    unsigned depth)
{
	int length = snprintf(walk->path + end, sizeof walk->path - end, "/%.*s",
			      (int)entry->length, entry->name);
	bool done = true;

	if ((size_t)length >= sizeof walk->path - end)
		return false;
	if (is_tree(entry))
		done = differ(walk, came ? NULL : entry->id, came ? entry->id : NULL,
			      end + (size_t)length, depth - 1);
	else if (!came)
		judge(walk, SB_GUARD_UNLINK, NULL);
	else if (S_ISREG(entry->mode))
		judge(walk, SB_GUARD_WRITE, entry->id);
	else if (entry->mode == (S_IFDIR | S_IFLNK)) /* a submodule */
		judge(walk, SB_GUARD_MKDIR, NULL);
	else
		judge(walk, SB_GUARD_SYMLINK, NULL);
	walk->path[end] = '\0';
	return done;
}

/* In both trees by the same name, and not the same. */
static bool look_at_both(struct walk *walk, const struct entry *old, const struct entry *new,
			 size_t end, unsigned depth)
{
	int length;
	bool done;

	if (!is_tree(new))
		return look_at(walk, new, true, end, depth);
	length = snprintf(walk->path + end, sizeof walk->path - end, "/%.*s", (int)new->length,
			  new->name);
	if ((size_t)length >= sizeof walk->path - end)
		return false;
	done = differ(walk, old->id, new->id, end + (size_t)length, depth - 1);
	walk->path[end] = '\0';
	return done;
}

/* A directory with both is a git directory, and whoever steps into it runs its hooks. */
static unsigned part_of_git(const struct entry *entry)
{
	struct sb_folded name;

	sb_fold(entry->name, entry->length, &name);
	return name.length == 7 && memcmp(name.text, "objects", 7) == 0 ? 1u
	       : name.length == 4 && memcmp(name.text, "refs", 4) == 0  ? 2u
									: 0u;
}

/* False: it cannot be told. */
static bool differ(struct walk *walk, const unsigned char *old_id, const unsigned char *new_id,
		   size_t end, unsigned depth)
{
	SB_AUTO(end_tree) struct tree old = {0}, new = {0};
	bool good = depth > 0 && begin(walk, old_id, &old) && begin(walk, new_id, &new);
	unsigned parts = 0;

	while (good && (old.more || new.more) && !sb_reasons_full(walk->check->reasons)) {
		int order = !old.more ? 1 : !new.more ? -1 : compare(&old.entry, &new.entry);

		if (order >= 0)
			parts |= part_of_git(&new.entry);
		if (order < 0)
			good = look_at(walk, &old.entry, false, end, depth);
		else if (order > 0)
			good = look_at(walk, &new.entry, true, end, depth);
		else if (old.entry.mode != new.entry.mode ||
			 memcmp(old.entry.id, new.entry.id, walk->id_length) != 0)
			good = look_at_both(walk, &old.entry, &new.entry, end, depth);
		good = good && (order > 0 || advance(walk, &old)) &&
		       (order < 0 || advance(walk, &new));
	}
	if (parts == 3)
		ask(walk, "a stash with a git directory: ");
	return good;
}

/* --- the stash ----------------------------------------------------------------------------------------- */

/* "tree ID", "parent ID", and one parent more: the index.  With another one it has untracked files, which git never takes. */
static bool read_stash(struct walk *walk, const unsigned char *id, struct stash *out)
{
	static const char *const words[] = {"tree ", "parent ", "parent ", "author "};
	unsigned char *const ids[] = {out->tree, out->base, out->index};
	size_t digits = 2 * walk->id_length;
	struct sb_git_object commit;
	SB_AUTO_FREE char *text = NULL;
	const char *at;

	if (!sb_git_object_read(walk->objects, id, SB_GIT_COMMIT, MAX_COMMIT, &commit))
		return false;
	at = text = commit.bytes;
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		if (strncmp(at, words[i], strlen(words[i])) != 0)
			return false;
		at += strlen(words[i]);
		if (i == sizeof ids / sizeof ids[0])
			break;
		if (strnlen(at, digits + 1) <= digits || at[digits] != '\n' ||
		    !parse_id(at, digits, ids[i]))
			return false;
		at += digits + 1;
	}
	return true;
}

static bool read_base(struct walk *walk, const unsigned char *id, unsigned char *out_tree)
{
	size_t digits = 2 * walk->id_length;
	struct sb_git_object commit;
	bool good;

	if (!sb_git_object_read(walk->objects, id, SB_GIT_COMMIT, MAX_COMMIT, &commit))
		return false;
	good = commit.length > 5 + digits && memcmp(commit.bytes, "tree ", 5) == 0 &&
	       parse_id(commit.bytes + 5, digits, out_tree);
	free(commit.bytes);
	return good;
}

/* The git directory that the file is in, of this checkout. */
static char *git_of(const char *path)
{
	char *git = sb_path_parent(path);

	if (git && (sb_text_ends(git, "/rebase-merge") || sb_text_ends(git, "/rebase-apply")))
		*strrchr(git, '/') = '\0';
	return git;
}

static bool look_through(struct walk *walk, const unsigned char *id)
{
	SB_AUTO_FREE char *git = git_of(walk->check->path);
	SB_AUTO_FREE char *common = git ? sb_read_path(git, "commondir", "") : NULL;
	SB_AUTO_FREE char *top = git ? sb_git_work_tree_of(git) : NULL;
	unsigned char base[SB_GIT_MAX_ID];
	struct stash stash;

	if (!top || strlen(top) >= sizeof walk->path / 2)
		return false;
	walk->top = strlen(top) + 1;
	memcpy(walk->path, top, walk->top);
	walk->objects = sb_git_objects_open(common ? common : git, walk->id_length);
	return walk->objects && read_stash(walk, id, &stash) && read_base(walk, stash.base, base) &&
	       differ(walk, base, stash.tree, walk->top - 1, MAX_DEPTH);
}

bool sb_git_is_stash(struct sb_guard_bytes bytes, size_t *out_digits)
{
	size_t length = bytes.length;

	if (length && bytes.bytes[length - 1] == '\n')
		length--;
	*out_digits = length;
	for (size_t i = 0; i < length; i++)
		if (!isxdigit((unsigned char)bytes.bytes[i]))
			return false;
	return length == 40 || length == 64;
}

void sb_git_say_stash(struct sb_guard_bytes id, char *note, size_t size)
{
	snprintf(note, size,
		 "is left behind; the next git commit, or the end of the rebase, applies it to the "
		 "work tree: git stash show %.12s",
		 id.bytes);
}

void sb_check_autostash(const struct sb_check *check)
{
	unsigned char id[SB_GIT_MAX_ID];
	struct walk *walk;
	size_t digits;

	if (!sb_git_is_stash(check->new_bytes, &digits) ||
	    !parse_id(check->new_bytes.bytes, digits, id)) {
		sb_check_ask(check, "", check->new_bytes.bytes, check->new_bytes.length);
		return;
	}
	walk = calloc(1, sizeof *walk);
	if (walk)
		*walk = (struct walk){.check = check, .id_length = digits / 2, .left = MAX_NAMES};
	if (!walk || (!look_through(walk, id) && !check->reasons->count))
		sb_check_ask(check, "a stash that cannot be looked into: ", check->new_bytes.bytes,
			     digits);
	if (walk)
		sb_git_objects_close(walk->objects);
	free(walk);
	*check->lingers = true;
	sb_git_say_stash(check->new_bytes, check->why, sb_check_note_size(check));
}
