/*
 * Settings of git: what is added, changed, or no longer there.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/each.h"
#include "base/list.h"
#include "base/words.h"
#include "guard/check.h"
#include "guard/git_config.h"
#include "guard/git_forms.h"
#include "guard/git_keys.h"
#include "guard/git_ways.h"
#include "path/path.h"

#define VERSION_KEY "core.repositoryformatversion" /* git sets it first, and never takes it away */

static bool is_of_module(const char *path)
{
	return strstr(path, "/.git/modules/") != NULL;
}

/* core.worktree: where a submodule lies, or a project, by its full name or by what it is anyway. */
static bool is_work_tree(const struct sb_check *check, const char *value)
{
	if (is_of_module(check->path))
		return sb_leads_to_submodule(check, value);
	return (strcmp(value, "..") == 0 || sb_list_has(check->guard->options.projects, value)) &&
	       sb_leads_to_work_tree(check, value);
}

/* A key that stands alone is a yes, one with nothing behind "=" a no. */
static int compare_values(const struct sb_git_entry *a, const struct sb_git_entry *b)
{
	int order = strcmp(sb_git_entry_value(a), sb_git_entry_value(b));

	return order ? order : (a->value != NULL) - (b->value != NULL);
}

static int compare_entries(const void *left, const void *right)
{
	const struct sb_git_entry *a = left, *b = right;
	int order = strcmp(a->key, b->key);

	return order ? order : compare_values(a, b);
}

/* When git runs what the key names; a pager it starts all day. */
static enum sb_reason_weight weigh(const char *key)
{
	static const char *const sometimes[] = {
		"core.editor", "sequence.editor", "difftool.", "mergetool.",
		"guitool.",    "browser.",        "man.",      "web.",
		"instaweb.",   "sendemail."};

	if (sb_text_begins(key, "alias."))
		return SB_REASON_TYPED;
	for (size_t i = 0; i < SB_COUNT(sometimes); i++)
		if (sb_text_begins(key, sometimes[i]))
			return SB_REASON_SOMETIMES;
	return SB_REASON_BY_ITSELF;
}

static void ask_about_key(const struct sb_check *check, const char *key, const char *value)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(2 * SB_GUARD_MAX_BYTES + 4); /* of one file both */

	sb_buf_puts(&text, key);
	sb_buf_puts(&text, " = ");
	sb_buf_puts(&text, value);
	sb_reasons_add(check->reasons, "", text.data, text.length, weigh(key));
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
	return sb_git_key_is(key, "remote", "url pushurl") ||
	       sb_git_key_is(key, "submodule", "url") ||
	       sb_git_key_is(key, "branch", "remote pushremote") ||
	       sb_is_word("remote.pushdefault extensions.partialclone", key);
}

/* Is there anything of this name in the directory of check->path?  Unknown counts as yes. */
static bool is_beside(const struct sb_check *check, const char *name)
{
	const char *slash = strrchr(check->path, '/');
	SB_AUTO_BUF struct sb_buf path = SB_BUF(2 * SB_CHECK_MAX_LINE);
	struct stat info;

	sb_buf_append(&path, check->path, slash ? (size_t)(slash + 1 - check->path) : 0);
	sb_buf_puts(&path, name);
	return sb_buf_failed(&path) || lstat(path.data, &info) == 0 || errno != ENOENT;
}

bool sb_check_has_no_refs(const struct sb_check *check)
{
	SB_AUTO_FREE char *git = sb_path_parent(check->path);
	SB_AUTO_FREE char *heads = git ? sb_path_join(git, "refs/heads") : NULL;
	DIR *directory;
	size_t count = 0;

	if (is_beside(check, "packed-refs") || !heads)
		return false;
	directory = opendir(heads);
	if (!directory)
		return errno == ENOENT;
	while (count < 3 && readdir(directory))
		count++;
	closedir(directory);
	return count < 3; /* "." and ".." */
}

/* What git clone --mirror writes, before there is a branch that could be lost. */
static bool is_new_mirror(const struct sb_check *check, const char *key, const char *value)
{
	return sb_git_key_is(key, "remote", "fetch") && strcmp(value, "+refs/*:refs/*") == 0 &&
	       sb_check_has_no_refs(check);
}

static void check_key(const struct sb_check *check, const char *key, const char *value)
{
	enum sb_key_verdict verdict;

	switch (check->kind) {
	case SB_GUARD_GITMODULES:
		verdict = sb_gitmodules_key_is_harmless(key, value) &&
					  !(sb_git_key_is(key, "submodule", "path") &&
					    sb_leads_to_guarded(check, value))
				  ? SB_KEY_HARMLESS
				  : SB_KEY_ASK;
		break;
	case SB_GUARD_LFSCONFIG:
		verdict = sb_lfsconfig_key_is_harmless(key, value) &&
					  !(sb_lfsconfig_key_is_url(key) &&
					    sb_leads_to_this_machine(check, value))
				  ? SB_KEY_HARMLESS
				  : SB_KEY_ASK;
		break;
	case SB_GUARD_SEQUENCER:
		verdict = is_harmless_pick(key, value) ? SB_KEY_HARMLESS : SB_KEY_ASK;
		break;
	default:
		verdict = is_new_mirror(check, key, value) ? SB_KEY_HARMLESS
							   : sb_git_key_judge(key, value);
	}
	/* .gitmodules, too: git submodule init and sync copy what it says into the config; all of .lfsconfig's is above */
	if (verdict == SB_KEY_HARMLESS && is_url_key(key) && sb_leads_to_unguarded(check, value))
		verdict = SB_KEY_ASK;
	if (verdict != SB_KEY_HARMLESS && (verdict != SB_KEY_PATH || !is_work_tree(check, value)))
		ask_about_key(check, key, value);
	else if (verdict == SB_KEY_PATH)
		sb_check_work_tree(check, value, "");
}

/* Only what is added or changed: the rest was the user's before, in whatever order. */
static void check_changes(const struct sb_check *check, struct sb_git_config *before,
			  struct sb_git_config *after)
{
	size_t old = 0;

	if (before->count)
		qsort(before->entries, before->count, sizeof *before->entries, compare_entries);
	if (after->count)
		qsort(after->entries, after->count, sizeof *after->entries, compare_entries);
	for (size_t i = 0; i < after->count; i++) {
		const struct sb_git_entry *entry = &after->entries[i];
		int order = 1;

		while (old < before->count &&
		       (order = compare_entries(&before->entries[old], entry)) < 0)
			old++;
		if (old < before->count && order == 0) {
			old++; /* each counts once */
			continue;
		}
		check_key(check, entry->key, sb_git_entry_value(entry));
	}
}

/* Whole sections of these come and go with git's own commands. */
static bool comes_and_goes(const char *key)
{
	return strncmp(key, "remote.", 7) == 0 || strncmp(key, "branch.", 7) == 0 ||
	       strncmp(key, "submodule.", 10) == 0;
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
	qsort(ranks, config->count, sizeof *ranks, sb_git_entry_order);
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
static void check_effective(const struct sb_check *check, const struct sb_git_config *before,
			    const struct sb_git_config *after)
{
	size_t count = 0, new_count = 0, at = 0;
	SB_AUTO_FREE const struct sb_git_entry **old = effective(before, &count);
	SB_AUTO_FREE const struct sb_git_entry **new = effective(after, &new_count);

	if (!old || !new) {
		sb_check_ask(check, "out of memory", "", 0);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		const char *key = old[i]->key;
		int order = 1;

		while (at < new_count && (order = strcmp(new[at]->key, key)) < 0)
			at++;
		if (at == new_count || order != 0) {
			if (check->kind == SB_GUARD_GIT_CONFIG && !comes_and_goes(key) &&
			    (sb_git_key_judge(key, "") == SB_KEY_ASK ||
			     strcmp(key, VERSION_KEY) == 0))
				sb_check_ask(check, "no longer set: ", key, strlen(key));
		} else if (compare_values(old[i], new[at]) != 0) {
			check_key(check, key, sb_git_entry_value(new[at]));
		}
	}
}

bool sb_check_is_of_project(const struct sb_check *check)
{
	for (size_t i = 0; i < check->guard->shown_count; i++) {
		const char *config = check->guard->shown[i].config;
		size_t length = config ? strlen(config) - strlen("config") : 0;

		/* what sb_shown has */
		if (config && strncmp(check->path, config, length) == 0 &&
		    (strncmp(check->path + length, "config", 6) == 0 ||
		     strcmp(check->path + length, "shallow") == 0 ||
		     strcmp(check->path + length, "info/attributes") == 0 ||
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
static void note_ways(const struct sb_check *check, const struct sb_git_config *before,
		      const struct sb_git_config *after, struct sb_buf *out)
{
	if (check->old_bytes.bytes && !sb_check_is_of_project(check))
		sb_git_ways_compare(check->path, before, after, add_note, out);
}

void sb_check_exclude(const struct sb_check *check)
{
	SB_AUTO_BUF struct sb_buf note = SB_BUF(4 * SB_CHECK_MAX_LINE);

	if (!sb_check_is_of_project(check))
		sb_git_exclude_compare(check->path, check->old_bytes, check->new_bytes, add_note,
				       &note);
	if (note.length)
		sb_check_say(check, "", note.data, note.length);
}

/*
 * SECURITY: with an index there, hashes stay as long as they are.
 *
 * Danger: read with hashes of another length, an index may have other names in it (git_index_other.c).
 * Price: none; git itself does not change that.
 * Held by: tests/supervise/git_index.py
 */
static bool changes_hash(const struct sb_check *check, const struct sb_git_config *before,
			 const struct sb_git_config *after)
{
	const char *old = sb_git_config_get(before, SB_GIT_HASH_KEY);
	const char *new = sb_git_config_get(after, SB_GIT_HASH_KEY);

	return strcmp(old ? old : "sha1", new ? new : "sha1") != 0 &&
	       (is_beside(check, "index") || is_beside(check, "worktrees"));
}

/* Where large files go from now on. */
static void note_servers(const struct sb_git_config *before, const struct sb_git_config *after,
			 struct sb_buf *out)
{
	for (size_t i = 0; i < after->count; i++) {
		const char *key = after->entries[i].key,
			   *value = sb_git_entry_value(&after->entries[i]);
		const char *old = sb_git_config_get(before, key);

		if (sb_lfsconfig_key_is_url(key) && !(old && strcmp(old, value) == 0))
			sb_buf_printf(out, "%s%s = %s", out->length ? "; " : "", key, value);
	}
}

void sb_check_config(const struct sb_check *check)
{
	SB_AUTO_BUF struct sb_buf note = SB_BUF(2 * SB_GUARD_MAX_BYTES);
	struct sb_git_config before = {0}, after;

	sb_git_config_parse(check->new_bytes.bytes, check->new_bytes.length, &after);
	if (check->old_bytes.bytes && check->old_bytes.length <= SB_GUARD_MAX_BYTES)
		sb_git_config_parse(check->old_bytes.bytes, check->old_bytes.length, &before);
	if (before.no_memory || after.no_memory)
		sb_check_ask(check, "out of memory", "", 0);
	if (after.failed) /* then git reads nothing of it */
		sb_check_ask(check, "not in git's config format", "", 0);
	if (check->kind == SB_GUARD_GIT_CONFIG && changes_hash(check, &before, &after))
		sb_check_ask(check, SB_GIT_HASH_KEY " is changed", "", 0);
	check_effective(check, &before, &after);
	if (check->kind == SB_GUARD_GIT_CONFIG)
		note_ways(check, &before, &after, &note);
	if (check->kind == SB_GUARD_LFSCONFIG)
		note_servers(&before, &after, &note);
	check_changes(check, &before, &after); /* sorts both */
	if (note.length && !sb_buf_failed(&note) && check->kind == SB_GUARD_LFSCONFIG)
		sb_check_say_about_path(check, note.data, note.length);
	else if (note.length && !sb_buf_failed(&note))
		sb_check_say(check, "", note.data, note.length);
	sb_git_config_done(&before);
	sb_git_config_done(&after);
}
