/*
 * Where a file of git's leads, and who would obey what lies there.
 */
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "guard/check.h"
#include "guard/git_url.h"
#include "guard/read.h"
#include "guard/repository.h"
#include "path/path.h"

/*
 * A worktree that git made in the run's own temporary directory is gone afterwards, and git
 * prunes it: worktrees/ID/gitdir may name that.  Nothing else may lead there from elsewhere.
 */
static bool leads_to_private(const struct sb_check *check, const char *target)
{
	const struct sb_guard_options *options = &check->guard->options;

	return options->is_private && check->kind != SB_GUARD_GITDIR &&
	       options->is_private(options->context, target) &&
	       !options->is_private(options->context, check->path);
}

/*
 * Where target leads, seen from the directory that path's file is in.  ".." only at the start, where it means
 * what it says: path is canonical.  False: it cannot be told, or would be a project's caches.
 */
static bool find_target(const struct sb_check *check, const char *target, struct sb_buf *whole)
{
	const struct sb_guard_options *options = &check->guard->options;
	SB_AUTO_FREE char *path = strdup(check->path);
	SB_AUTO_BUF struct sb_buf out = SB_BUF(2 * SB_CHECK_MAX_LINE);
	bool named = false;

	if (!path || *path != '/' || !*target || sb_guard_passes_caches(target))
		return false;
	*strrchr(path, '/') = '\0';
	if (*target == '/') {
		if (options->shadowed)
			return false;
		*path = '\0';
		named = true; /* no ".." at all */
	}
	while (*target) {
		size_t length = strcspn(target, "/");

		if (length == 2 && memcmp(target, "..", 2) == 0) {
			char *slash = strrchr(path, '/');

			if (named || !slash)
				return false;
			*slash = '\0';
			if (options->view && !*path)
				return false; /* out of its directory, which lies elsewhere outside */
		} else if (length && !(length == 1 && *target == '.')) {
			named = true;
			sb_buf_putc(&out, '/');
			sb_buf_append(&out, target, length);
		}
		target += length;
		target += strspn(target, "/");
	}
	sb_buf_puts(whole, path);
	sb_buf_append(whole, out.data, out.length);
	return !sb_buf_failed(&out) && !sb_buf_failed(whole) && whole->length;
}

/* Does target lie in guarded roots? */
static bool leads_inside(const struct sb_check *check, const char *target)
{
	const struct sb_guard_options *options = &check->guard->options;
	SB_AUTO_BUF struct sb_buf whole = SB_BUF(4 * SB_CHECK_MAX_LINE);

	return options->in_guarded_root && find_target(check, target, &whole) &&
	       options->in_guarded_root(options->context, whole.data) &&
	       !leads_to_private(check, whole.data);
}

bool sb_leads_to_work_tree(const struct sb_check *check, const char *value)
{
	SB_AUTO_BUF struct sb_buf whole = SB_BUF(4 * SB_CHECK_MAX_LINE);

	return leads_inside(check, value) && find_target(check, value, &whole) &&
	       !sb_place_is_gits(whole.data);
}

/* Git follows a file with "gitdir: PATH" in it, whatever its name; a bundle it does not. */
static bool is_gitfile(const char *path)
{
	size_t length;
	SB_AUTO_FREE char *text = sb_read_text(path, 4 * SB_CHECK_MAX_LINE, &length);

	return text && strncmp(text, "gitdir:", 7) == 0;
}

static bool is_unguarded(const struct sb_check *check, const char *path)
{
	const struct sb_guard_options *options = &check->guard->options;

	return options->is_unguarded && options->is_unguarded(options->context, path);
}

/*
 * "../x" in .gitmodules begins where a remote leads, which may be another place tomorrow: so what is behind the dots
 * is looked for in each directory above the work tree.
 */
static bool leads_from_above(const struct sb_check *check, const char *url)
{
	SB_AUTO_FREE char *above = sb_path_parent(check->path);

	while (strncmp(url, "./", 2) == 0 || strncmp(url, "../", 3) == 0) {
		url += strcspn(url, "/");
		url += strspn(url, "/");
	}
	if (!above || sb_guard_passes_caches(url))
		return true;
	for (char *slash; (slash = strrchr(above, '/')) && *above;) {
		SB_AUTO_FREE char *path = NULL, *canonical = NULL;
		int missing;

		*slash = '\0';
		path = sb_path_join(*above ? above : "/", url);
		if (!path || sb_path_canonical(path, &canonical, &missing, NULL) != SB_OK ||
		    is_unguarded(check, canonical) ||
		    (!*above && leads_to_private(check, canonical)))
			return true;
	}
	return false;
}

/*
 * SECURITY: a push to a repository on this machine runs that repository's hooks.
 *
 * Danger: in a fast root, and in the run's own temporary directory, anybody of the run may make such
 * hooks; the URL leads git outside there.
 * Price: a remote in such a place asks.
 * Held by: tests/supervise/git_urls.py
 */
bool sb_leads_to_unguarded(const struct sb_check *check, const char *url)
{
	/* of hg every relative one */
	bool failed, from_remote = (check->kind == SB_GUARD_GITMODULES &&
				    (strncmp(url, "./", 2) == 0 || strncmp(url, "../", 3) == 0)) ||
				   (check->kind == SB_GUARD_HG_SUBS && *url != '/');
	SB_AUTO_FREE char *path = sb_git_url_path(url, check->path, &failed);

	/* git expands "~", and /proc is another one for it */
	if (*url == '~' || (path && is_gitfile(path)))
		return true;
	if (!path)
		return failed;
	if (strncmp(path, "/proc/", 6) == 0 || sb_guard_passes_caches(path) ||
	    is_unguarded(check, path))
		return true;
	return from_remote ? leads_from_above(check, url) : leads_to_private(check, path);
}

/*
 * A submodule called .vscode, CVS or in .claude/skills: its next checkout brings what programs outside obey.  One
 * in "tools" is what everybody has.
 */
bool sb_leads_to_guarded(const struct sb_check *check, const char *value)
{
	SB_AUTO_BUF struct sb_buf whole = SB_BUF(4 * SB_CHECK_MAX_LINE);

	return sb_guard_passes_caches(value) ||
	       (find_target(check, value, &whole) &&
		sb_guard_row_of_checkout(check->guard, whole.data));
}

/* Does the .git there lead to the git directory that path's file is in?  Then that is where it lies. */
static bool is_own_checkout(const struct sb_check *check, const char *top)
{
	SB_AUTO_FREE char *own = sb_path_parent(check->path);
	struct sb_repository repository;
	bool is_own;

	if (!own || !sb_repository_find(top, &repository))
		return false;
	is_own = strcmp(repository.own, own) == 0;
	sb_repository_done(&repository);
	return is_own;
}

/*
 * SECURITY: git itself sets core.worktree for submodules, in .git/modules/NAME/config: to where they lie.
 *
 * Danger: elsewhere it makes the next checkout of one of the submodule's branches, outside, write where it says: file by file
 * with names of the submodule's, so that "post-commit" comes into .husky.
 * So it leads, by no link, to a directory in the work tree of that .git which nobody obeys anything of, and in which there is
 * neither git directory nor project, unless the project is the submodule itself.  A link that comes there later is judged when it is made.
 * Price: none known; git submodule writes nothing else.
 * Held by: tests/supervise/git_links.py
 */
bool sb_leads_to_submodule(const struct sb_check *check, const char *value)
{
	const char *git = strstr(check->path, "/.git/modules/");
	const char *const *projects = check->guard->options.projects;
	SB_AUTO_BUF struct sb_buf whole = SB_BUF(4 * SB_CHECK_MAX_LINE);
	SB_AUTO_FREE char *canonical = NULL;
	size_t top = git ? (size_t)(git - check->path) : 0;

	if (!git || !sb_leads_to_work_tree(check, value) || !find_target(check, value, &whole) ||
	    strncmp(whole.data, check->path, top) != 0 || whole.data[top] != '/' ||
	    sb_path_canonical(whole.data, &canonical, NULL, NULL) != SB_OK ||
	    strcmp(canonical, whole.data) != 0)
		return false;
	for (; projects && *projects; projects++)
		if (sb_path_within(whole.data, *projects) &&
		    !(strcmp(whole.data, *projects) == 0 && is_own_checkout(check, *projects)))
			return false;
	return !sb_guard_row_of_checkout(check->guard, whole.data);
}

bool sb_leads_to_this_machine(const struct sb_check *check, const char *url)
{
	bool failed = false;
	SB_AUTO_FREE char *path = sb_git_url_path(url, check->path, &failed);

	return path || failed;
}

/* What is said about the git directory that a .git file leads to, or its work tree, and how much more there is. */
static void ask_about_led(const struct sb_check *check, const char *what,
			  const struct sb_guard_answer *led)
{
	const char *line = led->detail, *end = line + (led->found ? led->listed : 0);

	if (line == end) /* links in it, or nobody can look */
		sb_check_ask(check, "", check->new_bytes.bytes, check->new_bytes.length);
	while (line < end) {
		size_t length = strcspn(line, "\n");

		sb_check_ask(check, what, line, length);
		line += length + 1;
	}
	for (unsigned more = SB_GUARD_LINES; more < led->found; more++) {
		char text[32];

		snprintf(text, sizeof text, "finding %u", more + 1);
		sb_check_ask(check, what, text, strlen(text));
	}
}

/*
 * The git directory at own, and what it borrows from, counts for top from now on: does something stand there
 * that it names (obeyed.c)?
 */
static void check_obeyed(const struct sb_check *check, const char *own, const char *top)
{
	struct sb_guard_answer answer = {.verdict = SB_GUARD_PLAIN};
	struct sb_repository repository = {0}, before;
	bool had = sb_repository_find(top, &before), found;

	found = !had && sb_obeyed_by_user(check->guard, top, &answer);
	/* whoever makes it a git directory is looked at then */
	if (sb_repository_at(own, &repository) && (!had || strcmp(before.own, repository.own) != 0))
		found |= sb_obeyed_asks(check->guard, &repository, top, NULL, &answer);
	if (found)
		ask_about_led(check, "git would obey ", &answer);
	sb_repository_done(&before);
	sb_repository_done(&repository);
}

void sb_check_work_tree(const struct sb_check *check, const char *value, const char *ending)
{
	SB_AUTO_BUF struct sb_buf top = SB_BUF(4 * SB_CHECK_MAX_LINE);
	SB_AUTO_FREE char *own = sb_path_parent(check->path);

	if (!own || !find_target(check, value, &top) || top.length < strlen(ending)) {
		sb_check_ask(check, "", value, strlen(value));
		return;
	}
	top.data[top.length - strlen(ending)] = '\0';
	check_obeyed(check, own, top.data);
}

/*
 * SECURITY: from now on somebody obeys the git directory that a .git file names.
 *
 * Danger: a clone may have brought it, with hooks, config and branches that nobody has looked at.
 * Price: a look through it; a bare repository with hooks or such settings of the user's that gets a work
 * tree asks, unless a project's own .git file led there when the run began.
 * Held by: tests/supervise/git_unnamed.py
 */
void sb_check_gitfile(const struct sb_check *check)
{
	SB_AUTO_FREE char *line = sb_check_only_line(check), *top = sb_path_parent(check->path);
	SB_AUTO_BUF struct sb_buf whole = SB_BUF(4 * SB_CHECK_MAX_LINE);
	struct sb_guard_answer answer = {.verdict = SB_GUARD_PLAIN};

	if (!line || strncmp(line, "gitdir: ", 8) != 0 || !leads_inside(check, line + 8) ||
	    !find_target(check, line + 8, &whole))
		sb_check_ask(check, "", check->new_bytes.bytes, check->new_bytes.length);
	else if (sb_look_at_led(check->guard, whole.data, &answer))
		ask_about_led(check, "it leads to ", &answer);
	else if (top)
		check_obeyed(check, whole.data, top);
}

void sb_check_gitdir(const struct sb_check *check)
{
	SB_AUTO_FREE char *line = sb_check_only_line(check);
	size_t length = line ? strlen(line) : 0;

	if (!(length > 5 && strcmp(line + length - 5, "/.git") == 0 && leads_inside(check, line)))
		sb_check_ask(check, "", check->new_bytes.bytes, check->new_bytes.length);
	else
		sb_check_work_tree(check, line, "/.git");
}

void sb_check_commondir(const struct sb_check *check)
{
	SB_AUTO_FREE char *line = sb_check_only_line(check);

	if (!(line && strcmp(line, "../..") == 0 && sb_check_is_in_worktrees(check->path)))
		sb_check_ask(check, "", check->new_bytes.bytes, check->new_bytes.length);
}
