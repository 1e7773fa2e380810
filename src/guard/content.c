/* Which bytes are harmless where. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/escape.h"
#include "guard/agent_json.h"
#include "guard/dotenv.h"
#include "guard/git_alternates.h"
#include "guard/git_config.h"
#include "guard/git_forms.h"
#include "guard/git_index.h"
#include "guard/git_keys.h"
#include "guard/git_todo.h"
#include "guard/git_url.h"
#include "guard/git_ways.h"
#include "guard/guard_impl.h"
#include "guard/reasons.h"
#include "guard/repository.h"
#include "path/path.h"

#define HASH_KEY "extensions.objectformat"
#define VERSION_KEY "core.repositoryformatversion" /* git sets it first, and never takes it away */
#define MAX_LINE 4096 /* git itself knows no limit; nobody needs more */

#define MAX_OLD_NAMES 1000 /* odd names of branches that are looked for in a long list */

struct check {
	const struct sb_guard *guard;
	const char *path; /* where the bytes land */
	struct sb_guard_bytes old_bytes, new_bytes;
	char *why; /* a note about what lands, or lines from reasons */
	size_t why_size;
	enum sb_guard_kind kind;
	struct sb_reasons *reasons; /* any: it is asked */
	bool lingers;               /* has to be looked at again at the end of the run */
};

static size_t note_size(const struct check *check)
{
	return check->why_size < SB_GUARD_NOTE ? check->why_size : SB_GUARD_NOTE;
}

static void say(const struct check *check, const char *what, const char *text, size_t length)
{
	SB_AUTO_BUF struct sb_buf line = SB_BUF(4 * MAX_LINE);

	sb_buf_puts(&line, what);
	sb_escape_value(&line, text, length, SB_GUARD_NOTE / 2);
	sb_escape_line(check->why, note_size(check), line.data);
}

/* The path first, whole: by that notes are told apart (consent/notes.h). */
static void say_about_path(const struct check *check, const char *text, size_t length)
{
	SB_AUTO_BUF struct sb_buf line = SB_BUF(8 * MAX_LINE);

	sb_buf_putc(&line, '\'');
	sb_escape_name(&line, check->path, strlen(check->path));
	sb_buf_puts(&line, "' now says ");
	sb_escape_value(&line, text, length, SB_GUARD_NOTE / 2);
	sb_escape_line(check->why, note_size(check), line.data);
}

#define LEFT "is left behind; git rebase --continue runs "

/* The first command, and how many more there are: a harmless one hides none. */
static void say_left(const struct check *check, const char *text, size_t length, size_t more)
{
	SB_AUTO_BUF struct sb_buf line = SB_BUF(4 * MAX_LINE);

	sb_buf_puts(&line, LEFT);
	sb_escape_value(&line, text, length, SB_GUARD_NOTE / 2);
	if (more)
		sb_buf_printf(&line, ", and %zu more", more);
	sb_escape_line(check->why, note_size(check), line.data);
}

/* The rest is looked at all the same: a person is told of all of it. */
static void ask(const struct check *check, const char *what, const char *text, size_t length)
{
	sb_reasons_add(check->reasons, what, text, length, false);
}

static bool are_same(struct sb_guard_bytes a, struct sb_guard_bytes b)
{
	return a.bytes && b.bytes && a.length == b.length &&
	       (a.length == 0 || memcmp(a.bytes, b.bytes, a.length) == 0);
}

static bool has_long_line(struct sb_guard_bytes text)
{
	const char *at = text.bytes, *end = at + text.length;

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		if ((newline ? newline : end) - at > MAX_LINE)
			return true;
		at = newline ? newline + 1 : end;
	}
	return false;
}

/* Bytes that programs read differently: C strings end at NUL, and CR has fooled git before. */
static bool is_odd(const struct check *check)
{
	return memchr(check->new_bytes.bytes, '\0', check->new_bytes.length) ||
	       memchr(check->new_bytes.bytes, '\r', check->new_bytes.length) ||
	       has_long_line(check->new_bytes);
}

/*
 * A worktree that git made in the run's own temporary directory is gone afterwards, and git
 * prunes it: worktrees/ID/gitdir may name that.  Nothing else may lead there from elsewhere.
 */
static bool leads_to_private(const struct check *check, const char *target)
{
	const struct sb_guard_options *options = &check->guard->options;

	return options->is_private && check->kind != SB_GUARD_GITDIR &&
	       options->is_private(options->context, target) &&
	       !options->is_private(options->context, check->path);
}

/*
 * SECURITY: git itself sets core.worktree for submodules, in .git/modules/NAME/config.
 *
 * Danger: elsewhere it makes checkout and reset write where it says, and what lies there may be made a
 * link, or the repository moved, after it was judged.  That is left for submodules: security.md.
 * Held by: tests/supervise/git_links.py
 */
static bool is_of_module(const char *path)
{
	return strstr(path, "/.git/modules/") != NULL;
}

/* What it is anyway. */
static bool is_around(const char *value)
{
	return value && strcmp(value, "..") == 0;
}

/*
 * Agents keep earlier versions of a project's files in repositories of their own.  A project stays where
 * it is, and is no link: what was judged is where git will write.
 */
static bool is_project(const struct check *check, const char *value)
{
	const char *const *projects = check->guard->options.projects;

	for (; projects && *projects; projects++)
		if (value && strcmp(value, *projects) == 0)
			return true;
	return false;
}

/*
 * Where target leads, seen from the directory that path's file is in.  ".." only at the start, where it means
 * what it says: path is canonical.  False: it cannot be told, or would be a project's caches.
 */
static bool find_target(const struct check *check, const char *target, struct sb_buf *whole)
{
	SB_AUTO_FREE char *path = strdup(check->path);
	SB_AUTO_BUF struct sb_buf out = SB_BUF(2 * MAX_LINE);
	bool named = false;

	if (!path || *path != '/' || !*target || sb_guard_passes_caches(target))
		return false;
	*strrchr(path, '/') = '\0';
	if (*target == '/') {
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
static bool leads_inside(const struct check *check, const char *target)
{
	const struct sb_guard_options *options = &check->guard->options;
	SB_AUTO_BUF struct sb_buf whole = SB_BUF(4 * MAX_LINE);

	return options->in_guarded_root && find_target(check, target, &whole) &&
	       options->in_guarded_root(options->context, whole.data) &&
	       !leads_to_private(check, whole.data);
}

/* A work tree is none of git's own directories: a checkout would write hooks. */
static bool leads_to_work_tree(const struct check *check, const char *value)
{
	SB_AUTO_BUF struct sb_buf whole = SB_BUF(4 * MAX_LINE);

	return leads_inside(check, value) && find_target(check, value, &whole) &&
	       !sb_place_is_gits(whole.data);
}

/* Is this line, as it stands, in the old bytes? */
static bool was_there(const struct check *check, const char *line, size_t length)
{
	const char *at = check->old_bytes.bytes;
	const char *end = at ? at + check->old_bytes.length : NULL;

	while (at && at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t size = (size_t)((newline ? newline : end) - at);

		if (size == length && memcmp(at, line, length) == 0)
			return true;
		at = newline ? newline + 1 : end;
	}
	return false;
}

static const char *value_of(const struct sb_git_entry *entry)
{
	return entry->value ? entry->value : "";
}

static int compare_entries(const void *left, const void *right)
{
	const struct sb_git_entry *a = left, *b = right;
	int order = strcmp(a->key, b->key);

	return order ? order : strcmp(value_of(a), value_of(b));
}

static void ask_about_key(const struct check *check, const char *key, const char *value)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(2 * SB_GUARD_MAX_BYTES + 4); /* of one file both */

	sb_buf_printf(&text, "%s = %s", key, value);
	/* an alias runs when it is typed, but all of it then */
	sb_reasons_add(check->reasons, "", text.data, text.length,
		       strncmp(key, "alias.", 6) == 0 && *value != '!');
}

/* sequencer/opts, as git cherry-pick and git revert keep their options (sequencer.c, save_opts) */
static bool is_harmless_pick(const char *key, const char *value)
{
	if (strcmp(key, "options.strategy") == 0)
		return sb_git_strategy_is_known(value);
	if (strcmp(key, "options.strategy-option") == 0)
		return sb_git_strategy_option_is_known(value, strlen(value));
	if (strcmp(key, "options.gpg-sign") == 0) {
		char option[128];

		return snprintf(option, sizeof option, "-S%s", value) < (int)sizeof option &&
		       sb_git_sign_option_is_plain(option, strlen(option));
	}
	return value[0] != '-'; /* yes and no, a number, how to clean a message */
}

/* A branch's remote may be a path as well: any name that no remote has. */
static bool is_url_key(const char *key)
{
	return sb_git_key_is(key, "remote", "url") || sb_git_key_is(key, "remote", "pushurl") ||
	       sb_git_key_is(key, "submodule", "url") || sb_git_key_is(key, "branch", "remote") ||
	       sb_git_key_is(key, "branch", "pushremote") ||
	       strcmp(key, "remote.pushdefault") == 0 ||
	       strcmp(key, "extensions.partialclone") == 0;
}

/* Git follows a file with "gitdir: PATH" in it, whatever its name; a bundle it does not. */
static bool is_gitfile(const char *path)
{
	size_t length;
	SB_AUTO_FREE char *text = sb_read_text(path, 4 * MAX_LINE, &length);

	return text && strncmp(text, "gitdir:", 7) == 0;
}

/*
 * SECURITY: a push to a repository on this machine runs that repository's hooks.
 *
 * Danger: in a fast root, and in the run's own temporary directory, anybody of the run may make such
 * hooks; the URL leads git outside there.
 * Price: a remote in such a place asks.
 * Held by: tests/supervise/git_urls.py
 */
static bool leads_to_unguarded(const struct check *check, const char *url)
{
	const struct sb_guard_options *options = &check->guard->options;
	bool failed;
	SB_AUTO_FREE char *path = sb_git_url_path(url, check->path, &failed);

	/* git expands "~", and /proc is another one for it */
	if (*url == '~' || (path && is_gitfile(path)))
		return true;
	if (!path)
		return failed;
	if (strncmp(path, "/proc/", 6) == 0 || sb_guard_passes_caches(path))
		return true;
	return (options->is_unguarded && options->is_unguarded(options->context, path)) ||
	       leads_to_private(check, path);
}

/* What is said about the git directory that a .git file leads to, or its work tree, and how much more there is. */
static void ask_about_led(const struct check *check, const char *what,
			  const struct sb_guard_answer *led)
{
	const char *line = led->detail, *end = line + (led->found ? led->listed : 0);

	if (line == end) /* links in it, or nobody can look */
		ask(check, "", check->new_bytes.bytes, check->new_bytes.length);
	while (line < end) {
		size_t length = strcspn(line, "\n");

		ask(check, what, line, length);
		line += length + 1;
	}
	for (unsigned more = SB_GUARD_LINES; more < led->found; more++) {
		char text[32];

		snprintf(text, sizeof text, "finding %u", more + 1);
		ask(check, what, text, strlen(text));
	}
}

/*
 * The git directory at own, and what it borrows from, counts for top from now on: does something stand there
 * that it names (obeyed.c)?
 */
static void check_obeyed(const struct check *check, const char *own, const char *top)
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

/* value, which the file of a git directory says, is its work tree, or the .git in it. */
static void check_work_tree(const struct check *check, const char *value, const char *ending)
{
	SB_AUTO_BUF struct sb_buf top = SB_BUF(4 * MAX_LINE);
	SB_AUTO_FREE char *own = sb_path_parent(check->path);

	if (!own || !find_target(check, value, &top) || top.length < strlen(ending)) {
		ask(check, "", value, strlen(value));
		return;
	}
	top.data[top.length - strlen(ending)] = '\0';
	check_obeyed(check, own, top.data);
}

/*
 * A submodule called .vscode or in .claude/skills: its next checkout brings what programs outside obey.  One
 * in "tools" is what everybody has.
 */
static bool leads_to_guarded(const struct check *check, const char *value)
{
	SB_AUTO_BUF struct sb_buf whole = SB_BUF(4 * MAX_LINE);

	return sb_guard_passes_caches(value) ||
	       ((value[0] == '.' || strstr(value, "/.")) && find_target(check, value, &whole) &&
		sb_guard_row_in(check->guard, whole.data));
}

/* git-lfs copies what is pushed to such a place, and takes what is there. */
static bool is_of_this_machine(const struct check *check, const char *url)
{
	bool failed = false;
	SB_AUTO_FREE char *path = sb_git_url_path(url, check->path, &failed);

	return path || failed;
}

static void check_key(const struct check *check, enum sb_guard_kind kind, const char *key,
		      const char *value)
{
	enum sb_key_verdict verdict;

	switch (kind) {
	case SB_GUARD_GITMODULES:
		verdict = sb_gitmodules_key_is_harmless(key, value) &&
					  !(sb_git_key_is(key, "submodule", "path") &&
					    leads_to_guarded(check, value))
				  ? SB_KEY_HARMLESS
				  : SB_KEY_ASK;
		break;
	case SB_GUARD_LFSCONFIG:
		verdict = sb_lfsconfig_key_is_harmless(key, value) &&
					  !(sb_lfsconfig_key_is_url(key) &&
					    is_of_this_machine(check, value))
				  ? SB_KEY_HARMLESS
				  : SB_KEY_ASK;
		break;
	case SB_GUARD_SEQUENCER:
		verdict = is_harmless_pick(key, value) ? SB_KEY_HARMLESS : SB_KEY_ASK;
		break;
	default:
		verdict = sb_git_key_judge(key, value);
	}
	if (verdict == SB_KEY_HARMLESS && kind == SB_GUARD_GIT_CONFIG && is_url_key(key) &&
	    leads_to_unguarded(check, value))
		verdict = SB_KEY_ASK;
	if (verdict != SB_KEY_HARMLESS &&
	    (verdict != SB_KEY_PATH ||
	     !(is_of_module(check->path) || is_around(value) || is_project(check, value)) ||
	     !leads_to_work_tree(check, value)))
		ask_about_key(check, key, value);
	else if (verdict == SB_KEY_PATH)
		check_work_tree(check, value, "");
}

/* Only what is added or changed: the rest was the user's before, in whatever order. */
static void check_changes(const struct check *check, enum sb_guard_kind kind,
			  struct sb_git_config *before, struct sb_git_config *after)
{
	size_t old = 0;

	if (before->count)
		qsort(before->entries, before->count, sizeof *before->entries, compare_entries);
	if (after->count)
		qsort(after->entries, after->count, sizeof *after->entries, compare_entries);
	for (size_t i = 0; i < after->count && !sb_reasons_full(check->reasons); i++) {
		const struct sb_git_entry *entry = &after->entries[i];
		int order = 1;

		while (old < before->count &&
		       (order = compare_entries(&before->entries[old], entry)) < 0)
			old++;
		if (old < before->count && order == 0) {
			old++; /* each counts once */
			continue;
		}
		check_key(check, kind, entry->key, value_of(entry));
	}
}

/* Whole sections of these come and go with git's own commands. */
static bool comes_and_goes(const char *key)
{
	return strncmp(key, "remote.", 7) == 0 || strncmp(key, "branch.", 7) == 0 ||
	       strncmp(key, "submodule.", 10) == 0;
}

static int compare_ranks(const void *left, const void *right)
{
	const struct sb_git_entry *a = *(const struct sb_git_entry *const *)left;
	const struct sb_git_entry *b = *(const struct sb_git_entry *const *)right;
	int order = strcmp(a->key, b->key);

	return order ? order : (a > b) - (a < b);
}

/* The entry of each key that counts, which is the last, by key.  NULL: out of memory. */
static const struct sb_git_entry **effective(const struct sb_git_config *config, size_t *out_count)
{
	const struct sb_git_entry **ranks = calloc(config->count + 1, sizeof *ranks);
	size_t count = 0;

	if (!ranks)
		return NULL;
	for (size_t i = 0; i < config->count; i++)
		ranks[i] = &config->entries[i];
	qsort(ranks, config->count, sizeof *ranks, compare_ranks);
	for (size_t i = 0; i < config->count; i++)
		if (i + 1 == config->count || strcmp(ranks[i]->key, ranks[i + 1]->key) != 0)
			ranks[count++] = ranks[i];
	*out_count = count;
	return ranks;
}

/*
 * One that goes away, or its place, may make another count: an earlier one of this file, or one
 * of the user's own files, which this one was to overrule.
 */
static void check_effective(const struct check *check, enum sb_guard_kind kind,
			    const struct sb_git_config *before, const struct sb_git_config *after)
{
	size_t count = 0, new_count = 0, at = 0;
	SB_AUTO_FREE const struct sb_git_entry **old = effective(before, &count);
	SB_AUTO_FREE const struct sb_git_entry **new = effective(after, &new_count);

	if (!old || !new) {
		ask(check, "out of memory", "", 0);
		return;
	}
	for (size_t i = 0; i < count && !sb_reasons_full(check->reasons); i++) {
		const char *key = old[i]->key;
		int order = 1;

		while (at < new_count && (order = strcmp(new[at]->key, key)) < 0)
			at++;
		if (at == new_count || order != 0) {
			if (kind == SB_GUARD_GIT_CONFIG && !comes_and_goes(key) &&
			    (sb_git_key_judge(key, "") == SB_KEY_ASK ||
			     strcmp(key, VERSION_KEY) == 0))
				ask(check, "no longer set: ", key, strlen(key));
		} else if (strcmp(value_of(old[i]), value_of(new[at])) != 0) {
			check_key(check, kind, key, value_of(new[at]));
		}
	}
}

/* Is it a project's own?  Of that it is told when the run ends what has become of it: sb_guard_changes(). */
static bool is_of_project(const struct check *check)
{
	for (size_t i = 0; i < check->guard->shown_count; i++) {
		const char *config = check->guard->shown[i].config;
		size_t length = config ? strlen(config) - strlen("config") : 0;

		/* config, config.worktree, info/exclude */
		if (config && strncmp(check->path, config, length) == 0 &&
		    (strncmp(check->path + length, "config", 6) == 0 ||
		     strcmp(check->path + length, "info/exclude") == 0))
			return true;
	}
	return false;
}

static void add_note(void *context, const char *line)
{
	struct sb_buf *note = context;

	sb_buf_printf(note, "%s%s", note->length ? "; " : "", line);
}

/* Where it leads is told, not asked about: git_ways.h. */
static void note_ways(const struct check *check, const struct sb_git_config *before,
		      const struct sb_git_config *after, struct sb_buf *out)
{
	if (check->old_bytes.bytes && !is_of_project(check))
		sb_git_ways_compare(before, after, add_note, out);
}

static void check_exclude(const struct check *check)
{
	SB_AUTO_BUF struct sb_buf note = SB_BUF(4 * MAX_LINE);

	if (!is_of_project(check))
		sb_git_exclude_compare(check->path, check->old_bytes, check->new_bytes, add_note,
				       &note);
	if (note.length)
		say(check, "", note.data, note.length);
}

/* Is there anything of this name in the directory of check->path?  Unknown counts as yes. */
static bool is_beside(const struct check *check, const char *name)
{
	const char *slash = strrchr(check->path, '/');
	SB_AUTO_BUF struct sb_buf path = SB_BUF(2 * MAX_LINE);
	struct stat info;

	sb_buf_append(&path, check->path, slash ? (size_t)(slash + 1 - check->path) : 0);
	sb_buf_puts(&path, name);
	return sb_buf_failed(&path) || lstat(path.data, &info) == 0 || errno != ENOENT;
}

/*
 * SECURITY: with an index there, hashes stay as long as they are.
 *
 * Danger: read with hashes of another length, an index may have other names in it (git_index_other.c).
 * Price: none; git itself does not change that.
 * Held by: tests/supervise/git_index.py
 */
static bool changes_hash(const struct check *check, const struct sb_git_config *before,
			 const struct sb_git_config *after)
{
	const char *old = sb_git_config_get(before, HASH_KEY);
	const char *new = sb_git_config_get(after, HASH_KEY);

	return strcmp(old ? old : "sha1", new ? new : "sha1") != 0 &&
	       (is_beside(check, "index") || is_beside(check, "worktrees"));
}

/* Where large files go from now on. */
static void note_servers(const struct sb_git_config *before, const struct sb_git_config *after,
			 struct sb_buf *out)
{
	for (size_t i = 0; i < after->count; i++) {
		const char *key = after->entries[i].key, *value = value_of(&after->entries[i]);
		const char *old = sb_git_config_get(before, key);

		if (sb_lfsconfig_key_is_url(key) && !(old && strcmp(old, value) == 0))
			sb_buf_printf(out, "%s%s = %s", out->length ? "; " : "", key, value);
	}
}

static void check_config(const struct check *check, enum sb_guard_kind kind)
{
	SB_AUTO_BUF struct sb_buf note = SB_BUF(2 * SB_GUARD_MAX_BYTES);
	struct sb_git_config before = {0}, after;

	sb_git_config_parse(check->new_bytes.bytes, check->new_bytes.length, &after);
	if (check->old_bytes.bytes && check->old_bytes.length <= SB_GUARD_MAX_BYTES)
		sb_git_config_parse(check->old_bytes.bytes, check->old_bytes.length, &before);
	if (before.no_memory || after.no_memory)
		ask(check, "out of memory", "", 0);
	if (after.failed) /* then git reads nothing of it */
		ask(check, "not in git's config format", "", 0);
	if (kind == SB_GUARD_GIT_CONFIG && changes_hash(check, &before, &after))
		ask(check, HASH_KEY " is changed", "", 0);
	check_effective(check, kind, &before, &after);
	if (kind == SB_GUARD_GIT_CONFIG)
		note_ways(check, &before, &after, &note);
	if (kind == SB_GUARD_LFSCONFIG)
		note_servers(&before, &after, &note);
	check_changes(check, kind, &before, &after); /* sorts both */
	if (note.length && !sb_buf_failed(&note) && kind == SB_GUARD_LFSCONFIG)
		say_about_path(check, note.data, note.length);
	else if (note.length && !sb_buf_failed(&note))
		say(check, "", note.data, note.length);
	sb_git_config_done(&before);
	sb_git_config_done(&after);
}

/* The one line of the file, without its newlines; NULL: there are more, or it is too long. */
static char *only_line(const struct check *check)
{
	size_t length = check->new_bytes.length;

	while (length && check->new_bytes.bytes[length - 1] == '\n')
		length--;
	if (memchr(check->new_bytes.bytes, '\n', length))
		return NULL;
	return strndup(check->new_bytes.bytes, length);
}

/*
 * SECURITY: from now on somebody obeys the git directory that a .git file names.
 *
 * Danger: a clone may have brought it, with hooks, config and branches that nobody has looked at.
 * Price: a look through it; a bare repository with hooks or such settings of the user's that gets a work
 * tree asks, unless a project's own .git file led there when the run began.
 * Held by: tests/supervise/git_unnamed.py
 */
static void check_gitfile(const struct check *check)
{
	SB_AUTO_FREE char *line = only_line(check), *top = sb_path_parent(check->path);
	SB_AUTO_BUF struct sb_buf whole = SB_BUF(4 * MAX_LINE);
	struct sb_guard_answer answer = {.verdict = SB_GUARD_PLAIN};

	if (!line || strncmp(line, "gitdir: ", 8) != 0 || !leads_inside(check, line + 8) ||
	    !find_target(check, line + 8, &whole))
		ask(check, "", check->new_bytes.bytes, check->new_bytes.length);
	else if (sb_look_at_led(check->guard, whole.data, &answer))
		ask_about_led(check, "it leads to ", &answer);
	else if (top)
		check_obeyed(check, whole.data, top);
}

static void check_gitdir(const struct check *check)
{
	SB_AUTO_FREE char *line = only_line(check);
	size_t length = line ? strlen(line) : 0;

	if (!(length > 5 && strcmp(line + length - 5, "/.git") == 0 && leads_inside(check, line)))
		ask(check, "", check->new_bytes.bytes, check->new_bytes.length);
	else
		check_work_tree(check, line, "/.git");
}

/* ".../worktrees/ID/commondir": "../.." is the directory around worktrees. */
static bool is_in_worktrees(const char *path)
{
	static const char parent[] = "/worktrees";
	const char *end = strrchr(path, '/');

	for (int up = 0; up < 1 && end && end > path; up++) {
		for (end--; end > path && *end != '/'; end--)
			;
	}
	return end && (size_t)(end - path) > sizeof parent - 1 &&
	       memcmp(end - (sizeof parent - 1), parent, sizeof parent - 1) == 0;
}

static void check_commondir(const struct check *check)
{
	SB_AUTO_FREE char *line = only_line(check);

	if (!(line && strcmp(line, "../..") == 0 && is_in_worktrees(check->path)))
		ask(check, "", check->new_bytes.bytes, check->new_bytes.length);
}

static bool is_harmless_alternate(const struct check *check, const char *line, size_t length)
{
	return sb_git_alternate_is_harmless(check->guard, check->path, line, length);
}

/* asdf's "path:DIR", rustup's "path = DIR", templates of mise */
static bool is_harmless_version(const struct check *check, const char *line, size_t length)
{
	SB_AUTO_FREE char *text = strndup(line, length);

	(void)check;
	/* versions have neither; a backslash may stand for any letter of a key */
	if (!text || strpbrk(text, "/\\") || strstr(text, "{{") || strstr(text, "{%") ||
	    strstr(text, "{#"))
		return false;
	for (const char *at = strstr(text, "path"); at; at = strstr(at + 1, "path")) {
		const char *next = at + 4 + strspn(at + 4, " \t\"'");

		if (*next == ':' || *next == '=')
			return false;
	}
	return true;
}

/* The line at *at, without its newline; *at moves behind it.  False: there is none. */
static bool next_line(const char **at, const char *end, const char **out, size_t *out_length)
{
	const char *newline = *at < end ? memchr(*at, '\n', (size_t)(end - *at)) : NULL;

	if (!*at || *at >= end)
		return false;
	*out = *at;
	*out_length = (size_t)((newline ? newline : end) - *at);
	*at = newline ? newline + 1 : end;
	return true;
}

static void check_lines(const struct check *check,
			bool (*is_harmless)(const struct check *, const char *, size_t))
{
	const char *at = check->new_bytes.bytes, *end = at + check->new_bytes.length, *line;
	size_t length;

	while (!sb_reasons_full(check->reasons) && next_line(&at, end, &line, &length))
		if (!is_harmless(check, line, length) && !was_there(check, line, length))
			ask(check, "", line, length);
}

/*
 * Every line that was there is there still, in that order, and no new one takes something out
 * ("!pattern").  Then all that was ignored still is: a later line wins, and these only add.
 */
static void check_ignore(const struct check *check)
{
	const char *old_at = check->old_bytes.bytes, *at = check->new_bytes.bytes;
	const char *old_end = old_at ? old_at + check->old_bytes.length : NULL;
	const char *end = at + check->new_bytes.length;
	const char *old = NULL, *line;
	size_t old_length = 0, length;
	bool more = next_line(&old_at, old_end, &old, &old_length);

	while (next_line(&at, end, &line, &length)) {
		if (more && length == old_length && memcmp(line, old, length) == 0)
			more = next_line(&old_at, old_end, &old, &old_length);
		else if (length && *line == '!')
			ask(check, "", line, length);
	}
	if (more)
		ask(check, "without the line ", old, old_length);
}

/*
 * SECURITY: steps that run a command land, but are looked at again when the run ends.
 *
 * Danger: "git rebase --continue" outside runs what is left of the list.
 * Price: "git rebase --exec" stopped in the middle is told at the end of the run.  Whoever goes on with a rebase
 * outside that a run has left behind runs its commands; git status names them.
 * Held by: tests/supervise/git_rebase.py
 */
static void check_todo(struct check *check)
{
	const char *at = check->new_bytes.bytes, *end = at + check->new_bytes.length, *line;
	const char *first = NULL;
	size_t length, first_length = 0, count = 0;

	while (next_line(&at, end, &line, &length)) {
		enum sb_git_step step = sb_git_step_of(line, length);

		if (step == SB_GIT_STEP_PLAIN || was_there(check, line, length))
			continue;
		if (step != SB_GIT_STEP_RUNS || !sb_git_todo_is_of_rebase(check->path)) {
			ask(check, "", line, length);
			continue;
		}
		if (!count++) {
			first = line;
			first_length = length;
		}
	}
	check->lingers = count;
	if (count)
		say_left(check, first, first_length, count - 1);
}

/* git replace: it lands, as git log and git show outside then tell another story, a person is told. */
static bool hides_history(const char *path)
{
	return strstr(path, "/refs/replace/") || strstr(path, "/info/grafts");
}

/* Git's own state: the part that has not the form is shown. */
static void check_form(const struct check *check)
{
	struct sb_guard_bytes bad;

	if (sb_git_form_holds(check->kind, check->path, check->new_bytes, &bad)) {
		if (hides_history(check->path))
			say(check, "git shows other commits in place of some: ", check->path,
			    strlen(check->path));
		return;
	}
	ask(check, "", bad.bytes, bad.length);
}

/* Was the branch of a line "ID NAME" of packed-refs in the old ones? */
static bool had_name(const struct check *check, const char *line, size_t length)
{
	const char *space = memchr(line, ' ', length);
	size_t rest = space ? length - (size_t)(space - line) : 0;
	const char *at = check->old_bytes.bytes, *end = at ? at + check->old_bytes.length : NULL;

	while (rest > 1 && at && (at = memmem(at, (size_t)(end - at), space, rest))) {
		at += rest;
		if (at == end || *at == '\n')
			return true;
	}
	return false;
}

/* Names that were there before are not held against the list: git gc writes all of it anew. */
static void check_packed(const struct check *check)
{
	const char *at = check->new_bytes.bytes, *end = at + check->new_bytes.length, *line;
	unsigned old_names = MAX_OLD_NAMES;
	size_t length;

	while (!sb_reasons_full(check->reasons) && next_line(&at, end, &line, &length)) {
		struct sb_guard_bytes bad;

		if (sb_git_form_holds(check->kind, check->path,
				      (struct sb_guard_bytes){line, length}, &bad))
			continue;
		if (old_names && had_name(check, line, length))
			old_names--;
		else
			ask(check, "", line, length);
	}
}

/* A list of branches is long in some repositories; nothing else of this is. */
static void check_strategy(const struct check *check)
{
	SB_AUTO_FREE char *line = only_line(check);

	if (!(line && sb_git_strategy_is_known(line)))
		ask(check, "", check->new_bytes.bytes, check->new_bytes.length);
}

/* The value of key in the config at name, in the directory of check->path, or NULL; false: there is none. */
static bool read_beside(const struct check *check, const char *name, const char *key, char *value,
			size_t size)
{
	const char *slash = strrchr(check->path, '/'), *found;
	SB_AUTO_BUF struct sb_buf path = SB_BUF(2 * MAX_LINE);
	SB_AUTO_FREE char *text = NULL;
	struct sb_git_config config;
	size_t length;
	bool read;

	sb_buf_append(&path, check->path, slash ? (size_t)(slash + 1 - check->path) : 0);
	sb_buf_puts(&path, name);
	text = sb_buf_failed(&path) ? NULL : sb_read_text(path.data, SB_GUARD_MAX_BYTES, &length);
	if (!text)
		return false;
	sb_git_config_parse(text, length, &config);
	found = sb_git_config_get(&config, key);
	snprintf(value, size, "%s", found ? found : "");
	read = !config.failed && !config.no_memory;
	sb_git_config_done(&config);
	return read;
}

static bool is_sparse(const struct check *check)
{
	static const char *const names[] = {"config.worktree", "config", "../../config"};
	char value[8];

	for (size_t i = 0; i < (is_in_worktrees(check->path) ? 3 : 2); i++)
		if (read_beside(check, names[i], "core.sparsecheckout", value, sizeof value) &&
		    strcmp(value, "true") == 0) /* as git sparse-checkout writes it */
			return true;
	return false;
}

/* Are hashes short there?  If that is not known, no; nor if they are long: without a config they would not be. */
static bool is_short_repository(const struct check *check)
{
	char value[8];

	return read_beside(check, is_in_worktrees(check->path) ? "../../config" : "config",
			   HASH_KEY, value, sizeof value) &&
	       (!value[0] || strcmp(value, "sha1") == 0);
}

#define CHEAP_INDEX                                                                                \
	(64 * 1024) /* so long that to read it otherwise takes no longer than a config */

/* Either of the two will do, so the cheaper one is asked first. */
static bool is_unclear(const struct check *check, bool is_long)
{
	if (is_long)
		return sb_git_index_is_ambiguous(check->new_bytes, true);
	if (check->new_bytes.length > CHEAP_INDEX && is_short_repository(check))
		return false;
	return sb_git_index_is_ambiguous(check->new_bytes, false) && !is_short_repository(check);
}

static void check_index(const struct check *check)
{
	struct sb_index_facts facts;
	char why[SB_GUARD_DETAIL];

	/* "worktrees" may be anybody's directory, and what does not begin like this git never reads */
	if (is_in_worktrees(check->path) &&
	    (check->new_bytes.length < 4 || memcmp(check->new_bytes.bytes, "DIRC", 4) != 0))
		return;
	if (!sb_git_index_is_harmless(check->new_bytes, &facts, why, sizeof why))
		ask(check, why, "", 0);
	else if (is_unclear(check, facts.is_long))
		ask(check, "can be read as an index of another kind", "", 0);
	else if (facts.hides)
		sb_git_index_note(check->old_bytes, check->new_bytes, is_sparse(check), check->why,
				  note_size(check));
}

bool sb_guard_left(struct sb_guard_bytes old_bytes, struct sb_guard_bytes now_bytes, char *note,
		   size_t size)
{
	const struct check check = {.old_bytes = old_bytes, .why = note, .why_size = size};
	const char *at = now_bytes.bytes, *end = at ? at + now_bytes.length : NULL, *line;
	const char *first = NULL;
	size_t length, first_length = 0, count = 0;

	while (next_line(&at, end, &line, &length)) {
		if (sb_git_step_of(line, length) == SB_GIT_STEP_PLAIN ||
		    was_there(&check, line, length) || count++)
			continue;
		first = line;
		first_length = length;
	}
	if (count)
		say_left(&check, first, first_length, count - 1);
	return count;
}

bool sb_guard_compares(enum sb_guard_kind kind, struct sb_guard_bytes new_bytes)
{
	return kind != SB_GUARD_INDEX || sb_git_index_hides(new_bytes);
}

/* Is each line of the old file one by itself?  Else one that was there may have meant something else. */
static bool was_line_by_line(const struct check *check)
{
	const char *at = check->old_bytes.bytes, *end = at ? at + check->old_bytes.length : NULL;
	const char *line;
	size_t length;

	while (at && next_line(&at, end, &line, &length))
		if (sb_dotenv_line(line, length) == SB_DOTENV_OPEN)
			return false;
	return true;
}

#define MAX_DOTENV (64 * 1024) /* each line may have to be looked for in the old file */
#define MAX_TOLD 120           /* of a line */

static void check_dotenv(const struct check *check)
{
	const char *at = check->new_bytes.bytes, *end = at + check->new_bytes.length, *line;
	SB_AUTO_BUF struct sb_buf note = SB_BUF(4 * MAX_DOTENV);
	bool lines = was_line_by_line(check);
	size_t length;

	if (check->new_bytes.length > MAX_DOTENV) {
		ask(check, "too long to be looked at", "", 0);
		return;
	}
	while (!sb_reasons_full(check->reasons) && next_line(&at, end, &line, &length)) {
		enum sb_dotenv kind = sb_dotenv_line(line, length);

		if (kind == SB_DOTENV_PLAIN ||
		    (kind != SB_DOTENV_OPEN && lines && was_there(check, line, length)))
			continue;
		if (kind != SB_DOTENV_TOLD) {
			ask(check, "", line, length);
			continue;
		}
		sb_buf_puts(&note, note.length ? "; " : "");
		sb_escape_value(&note, line, length, MAX_TOLD);
	}
	if (note.length && !sb_buf_failed(&note))
		say_about_path(check, note.data, note.length);
}

static void check_kind(struct check *check)
{
	switch (check->kind) {
	case SB_GUARD_GIT_CONFIG:
	case SB_GUARD_GITMODULES:
	case SB_GUARD_LFSCONFIG:
	case SB_GUARD_SEQUENCER:
		check_config(check, check->kind);
		break;
	case SB_GUARD_GITFILE:
		check_gitfile(check);
		break;
	case SB_GUARD_GITDIR:
		check_gitdir(check);
		break;
	case SB_GUARD_COMMONDIR:
		check_commondir(check);
		break;
	case SB_GUARD_REBASE_TODO:
		check_todo(check);
		break;
	case SB_GUARD_STRATEGY:
		check_strategy(check);
		break;
	case SB_GUARD_ALTERNATES:
		check_lines(check, is_harmless_alternate);
		break;
	case SB_GUARD_TOOL_VERSIONS:
		check_lines(check, is_harmless_version);
		break;
	case SB_GUARD_DOTENV:
		check_dotenv(check);
		break;
	case SB_GUARD_IGNORE:
		check_ignore(check);
		break;
	case SB_GUARD_GIT_PACKED:
		check_packed(check);
		break;
	default:
		check_form(check);
	}
}

static void ask_about_setting(void *context, const char *what, const char *text, size_t length)
{
	ask(context, what, text, length);
}

static void check_bytes(struct check *check)
{
	struct sb_guard_bytes bytes = check->new_bytes;

	if (check->kind == SB_GUARD_SAME || !bytes.bytes) {
		ask(check, "", bytes.bytes ? bytes.bytes : "", bytes.bytes ? bytes.length : 0);
	} else if (bytes.length > sb_guard_limit(check->kind)) {
		ask(check, "too long to be looked at", "", 0);
	} else if (check->kind == SB_GUARD_AGENT_JSON || check->kind == SB_GUARD_AGENT_LOOKS) {
		sb_agent_json_compare(check->old_bytes, bytes, check->kind == SB_GUARD_AGENT_LOOKS,
				      ask_about_setting, check);
	} else if (bytes.length == 0 && check->kind != SB_GUARD_IGNORE &&
		   check->kind != SB_GUARD_GIT_CONFIG) {
		return; /* says nothing */
	} else if (check->kind == SB_GUARD_INDEX) {
		check_index(check);
	} else if (check->kind == SB_GUARD_GIT_EXCLUDE) {
		check_exclude(check);
	} else {
		if (!sb_git_form_has_nul(check->kind) && is_odd(check))
			ask(check, "holds control characters or very long lines", "", 0);
		if (!check->reasons->count || !memchr(bytes.bytes, '\0', bytes.length))
			check_kind(check);
	}
}

/* What reasons beyond those that are told are called. */
static const char *more_of(enum sb_guard_kind kind)
{
	return kind == SB_GUARD_GIT_CONFIG || kind == SB_GUARD_GITMODULES ||
			       kind == SB_GUARD_LFSCONFIG || kind == SB_GUARD_SEQUENCER ||
			       kind == SB_GUARD_DOTENV || kind == SB_GUARD_AGENT_JSON ||
			       kind == SB_GUARD_AGENT_LOOKS
		       ? "settings that run something or lead elsewhere"
		       : "lines that are not harmless";
}

enum sb_guard_verdict sb_guard_content(const struct sb_guard *guard, enum sb_guard_kind kind,
				       const char *path, struct sb_guard_bytes old_bytes,
				       struct sb_guard_bytes new_bytes, char *why, size_t why_size)
{
	struct sb_reasons reasons;
	struct check check = {guard, path, old_bytes, new_bytes, why, why_size, kind, &reasons};

	sb_guard_need(guard);
	why[0] = '\0';
	if (are_same(old_bytes, new_bytes))
		return SB_GUARD_PLAIN;
	sb_reasons_init(&reasons, why_size / (SB_GUARD_LINES + 1));
	check_bytes(&check);
	if (!reasons.count)
		return check.lingers ? SB_GUARD_CHECK : SB_GUARD_PLAIN;
	sb_reasons_text(&reasons, more_of(kind), why, why_size);
	return SB_GUARD_ASK;
}
