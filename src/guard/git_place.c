/*
 * Where in git's directories a name lies.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/words.h"
#include "guard/fold.h"
#include "guard/git_files.h"
#include "guard/guard_impl.h"
#include "path/path.h"

bool sb_is_dot_git(const char *name, size_t length)
{
	struct sb_folded folded;

	if (sb_is_ascii(name, length))
		return length == 4 && strncasecmp(name, ".git", 4) == 0;
	sb_fold(name, length, &folded);
	return folded.length == 4 && memcmp(folded.text, ".git", 4) == 0;
}

const char *sb_place_inner(const char *path)
{
	for (const char *slash; *path == '/'; path = slash) {
		slash = strchrnul(++path, '/');
		if (slash[0] && slash[1] && sb_is_dot_git(path, (size_t)(slash - path)))
			return sb_git_inner(slash + 1);
	}
	return NULL;
}

bool sb_place_is_called_git(const char *path)
{
	const char *name = strrchr(path, '/');

	return name && sb_is_dot_git(name + 1, strlen(name + 1));
}

bool sb_place_is_git_root(const char *path)
{
	const char *inner = sb_place_inner(path);
	char beneath[4096];

	if (sb_place_is_called_git(path))
		return true;
	/* .git/worktrees/ID, .git/modules/NAME: what is in it would begin there */
	return inner && snprintf(beneath, sizeof beneath, "%s/x", inner) < (int)sizeof beneath &&
	       strcmp(sb_git_inner(beneath), "x") == 0;
}

/* A directory that cannot be looked into counts as git's, one that is not there does not. */
static bool is_git_at(const char *path)
{
	SB_AUTO_FD int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd >= 0 ? sb_look_is_git(fd, "") : errno != ENOENT && errno != ENOTDIR;
}

bool sb_place_is_odd_directory(int directory, const char *path)
{
	const char *name = strrchr(path, '/'), *above, *inner;

	if (!name || name == path || !name[1])
		return false;
	above = memrchr(path, '/', (size_t)(name - path));
	if (above && sb_is_dot_git(above + 1, (size_t)(name - above) - 1))
		return !sb_git_expects_directory(name + 1);
	/* of a worktree or a submodule: modules/a/b is a name as well */
	inner = sb_place_inner(path);
	return inner == name + 1 && !sb_git_expects_directory(inner) && directory >= 0 &&
	       sb_place_is_git_above(directory, 1);
}

bool sb_place_is_gits(const char *path)
{
	SB_AUTO_FREE char *parent = sb_path_parent(path);
	const char *name = strrchr(path, '/') + 1;

	return !parent || sb_place_inner(path) || sb_is_dot_git(name, strlen(name)) ||
	       is_git_at(path) || is_git_at(parent);
}

bool sb_place_is_git_above(int directory, unsigned levels)
{
	char name[1024];
	size_t up = 0;

	if (levels * 3 + sizeof "commondir" > sizeof name)
		return true; /* nobody needs that many */
	while (--levels)
		up += (size_t)snprintf(name + up, sizeof name - up, "../");
	memcpy(name + up, "commondir", sizeof "commondir");
	if (sb_look_exists(directory, name))
		return true;
	memcpy(name + up, "objects", sizeof "objects");
	if (!sb_look_exists(directory, name))
		return false;
	memcpy(name + up, "refs", sizeof "refs");
	return sb_look_exists(directory, name);
}

unsigned sb_place_depth(const char *path)
{
	unsigned depth = 1;

	while ((path = strchr(path, '/')))
		depth += *++path != '\0';
	return depth;
}

static bool is_worktrees(const char *name, size_t length)
{
	struct sb_folded folded;

	sb_fold(name, length, &folded);
	return folded.length == 9 && memcmp(folded.text, "worktrees", 9) == 0;
}

/*
 * Is inner, the end of place->path, in a git directory?  A directory that arrives as its refs may be what it
 * lacks; .../worktrees/ID is one once a commondir is there, which may come last.
 */
static bool begins_in_git(const struct sb_guard_place *place, const char *inner, bool arrives,
			  bool in_worktree)
{
	unsigned levels = sb_place_depth(inner);

	return sb_place_is_git_above(place->directory, levels) ||
	       (arrives && levels == 1 && sb_look_exists(place->directory, "objects")) ||
	       (in_worktree && sb_place_is_git_above(place->directory, levels + 2));
}

enum arrival { FILE_WITH_FORM, DIRECTORY, LINK };

/* Is it the first name in a git directory of what can be told by it? */
static bool may_begin(const char *name, size_t length, enum arrival what)
{
	return sb_git_is_open_ended(name, length) ||
	       (what == DIRECTORY && is_worktrees(name, length)) ||
	       (what == LINK && sb_git_is_known_directory(name));
}

/*
 * SECURITY: a git directory has any name, and names in it that anybody invents are found from below.
 *
 * Danger: c/refs/heads/main is a branch as soon as a .git file says "gitdir: ../c", and prompts show which
 * one it leads to.
 * Price: a few looks at the disk, for names with such a component (refs, svn) alone; and for every
 * directory that is renamed into worktrees.
 * Held by: tests/supervise/git_unnamed.py
 */
static const char *find_inner(const struct sb_guard_place *place, enum arrival what)
{
	const char *slash;
	unsigned since_worktrees = 0; /* names behind one that is called so, and it; 0: none */

	for (const char *start = place->path; *start == '/'; start = slash) {
		size_t length;

		slash = strchrnul(++start, '/');
		length = (size_t)(slash - start);
		if (!length)
			continue;
		if (since_worktrees)
			since_worktrees++;
		if (may_begin(start, length, what) &&
		    begins_in_git(place, start, what == DIRECTORY, since_worktrees == 3))
			return start;
		if (is_worktrees(start, length))
			since_worktrees = 1;
	}
	return NULL;
}

const char *sb_place_inner_open(const struct sb_guard_place *place, bool arrives)
{
	const char *inner = find_inner(place, arrives ? DIRECTORY : FILE_WITH_FORM);

	/* a file that is called refs itself is no branch */
	return inner && !arrives && sb_git_is_known_directory(inner) && !strchr(inner, '/') ? NULL
											    : inner;
}

/* What the names of the directories above say. */
struct way {
	bool git;    /* one of them is .git, */
	bool in_git; /* the last one is */
	bool listed; /* beneath that, one is where git keeps lists of what anybody names: branches */
	bool modules; /* the last one has git directories in it */
};

static bool is_list(const char *name)
{
	return sb_is_word("logs refs worktrees rr-cache lfs info objects hooks remotes", name);
}

static struct way look_at_way(const char *path)
{
	struct way way = {0};
	const char *start = path, *slash;

	for (; *start == '/'; start = slash) {
		struct sb_folded name;

		slash = strchrnul(++start, '/');
		if (!*slash) /* the name itself */
			break;
		sb_fold(start, (size_t)(slash - start), &name);
		if (name.length == SB_FOLD_MAX)
			name.text[0] = '\0'; /* longer than any of these */
		way.in_git = strcmp(name.text, ".git") == 0;
		way.git |= way.in_git;
		way.listed = !way.in_git && (way.listed || is_list(name.text));
		way.modules = strcmp(name.text, "modules") == 0;
	}
	return way;
}

/*
 * SECURITY: no links in git's directories, at any depth.
 *
 * Danger: git writes through them: logs/HEAD, COMMIT_EDITMSG or FETCH_HEAD as a link to ~/.bashrc, and the
 * next commit outside puts text there that was prepared.
 * Price: a link there asks, wherever it leads.
 * Held by: tests/supervise/git_links.py
 */
bool sb_place_is_in_git(const struct sb_guard_place *place)
{
	static const char *const ups[] = {"", "../", "../../", "../../../", "../../../../"};

	if (look_at_way(place->path).git)
		return true;
	/* where no name can be looked up none can be made */
	if (place->directory < 0 || faccessat(place->directory, ".", X_OK, AT_EACCESS) != 0)
		return false;
	for (size_t i = 0; i < sizeof ups / sizeof ups[0]; i++) {
		char objects[32], refs[32];

		snprintf(objects, sizeof objects, "%sobjects", ups[i]);
		snprintf(refs, sizeof refs, "%srefs", ups[i]);
		if (sb_look_exists(place->directory, objects) &&
		    sb_look_exists(place->directory, refs))
			return true;
	}
	/* deeper down, by what git calls its directories */
	return find_inner(place, LINK) != NULL;
}

bool sb_place_is_trial(const struct sb_guard_place *place)
{
	const char *slash = strrchr(place->path, '/');
	const char *name = place->name && place->name[0] ? place->name : slash ? slash + 1 : "";
	struct way way = look_at_way(place->path);
	size_t letters = 0;

	while (isalnum((unsigned char)name[letters]))
		letters++;
	return letters == 7 && !name[7] && name[0] == 't' && place->directory >= 0 &&
	       (way.in_git || (sb_look_exists(place->directory, "HEAD") &&
			       sb_look_exists(place->directory, "refs"))) &&
	       !way.listed && !way.modules;
}
