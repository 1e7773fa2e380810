#include "guard/git_ways.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/words.h"
#include "guard/check.h"
#include "guard/git_hides.h"
#include "guard/repository.h"
#include "path/path.h"
#include "sys/directory.h"

#define MAX_TEXT 2048 /* of URLs, in a line */
#define MAX_PATTERNS 3
#define MAX_LOOKS 256

/* --- looking things up ---------------------------------------------------------------------------- */

/* A config's entries by key, those of one key in their order. */
struct ranked {
	const struct sb_git_entry **all;
	size_t count;
};

static bool rank(const struct sb_git_config *config, struct ranked *out)
{
	*out = (struct ranked){calloc(config->count + 1, sizeof *out->all), config->count};
	for (size_t i = 0; out->all && i < config->count; i++)
		out->all[i] = &config->entries[i];
	if (out->all)
		qsort(out->all, out->count, sizeof *out->all, sb_git_entry_order);
	return out->all != NULL;
}

/* The first entry whose key is no less. */
static size_t find(const struct ranked *ranked, const char *key)
{
	size_t low = 0, high = ranked->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(ranked->all[middle]->key, key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* section.name.last, or without a name; all values of it, ", " between; false: there is none. */
static bool get(const struct ranked *ranked, const char *section, const char *name,
		const char *last, bool all, struct sb_buf *out)
{
	SB_AUTO_BUF struct sb_buf key = SB_BUF(SB_GUARD_MAX_BYTES);
	size_t length = out->length;
	bool found = false;

	sb_buf_printf(&key, "%s.%s%s%s", section, name ? name : "", name ? "." : "", last);
	if (sb_buf_failed(&key))
		return false;
	for (size_t i = find(ranked, key.data);
	     i < ranked->count && strcmp(ranked->all[i]->key, key.data) == 0; i++) {
		if (!all && found) {
			out->length = length; /* the last one counts */
			out->data[length] = '\0';
		}
		if (all && found)
			sb_buf_puts(out, ", ");
		sb_buf_puts(out, sb_git_entry_meaning(ranked->all[i]));
		found = true;
	}
	return found && !sb_buf_failed(out);
}

/* --- where it goes --------------------------------------------------------------------------------- */

/* remote.c of git, remote_for_branch() and pushremote_for_branch(); branch may be NULL. */
static void remote_of(const struct ranked *ranked, const char *branch, bool push,
		      struct sb_buf *out)
{
	if ((push && branch && get(ranked, "branch", branch, "pushremote", false, out)) ||
	    (push && get(ranked, "remote", NULL, "pushdefault", false, out)) ||
	    (branch && get(ranked, "branch", branch, "remote", false, out)))
		return;
	sb_buf_puts(out, "origin");
}

/* What is no remote's name is a URL itself.  False: it leads nowhere. */
static bool url_of(const struct ranked *ranked, const char *remote, bool push, struct sb_buf *out)
{
	if ((push && get(ranked, "remote", remote, "pushurl", true, out)) ||
	    get(ranked, "remote", remote, "url", true, out))
		return true;
	sb_buf_puts(out, remote);
	return strpbrk(remote, "/:") != NULL;
}

struct comparison {
	struct ranked before, after;
	sb_git_tell_fn tell;
	void *context;
	bool of_project;
	bool folds;    /* git init would set core.ignoreCase there */
	unsigned left; /* how often all remotes are gone through: what is beyond is told */
};

static void say(const struct comparison *comparison, const char *what, const char *now,
		const char *old)
{
	SB_AUTO_BUF struct sb_buf line = SB_BUF(4 * MAX_TEXT);

	sb_buf_printf(&line, "%.200s is now %.400s", what, now);
	if (old)
		sb_buf_printf(&line, ", was %.400s", old);
	if (!sb_buf_failed(&line))
		comparison->tell(comparison->context, line.data);
}

/* Is it a URL of some remote before? */
static bool was_known(struct comparison *comparison, const char *url)
{
	comparison->left -= comparison->left > 0;
	for (size_t i = 0; comparison->left && i < comparison->before.count; i++) {
		const struct sb_git_entry *entry = comparison->before.all[i];

		if (sb_git_key_is(entry->key, "remote", "url pushurl") &&
		    strcmp(sb_git_entry_value(entry), url) == 0)
			return true;
	}
	return false;
}

/*
 * branch NULL: one without settings.  is_new: it had none before, as a branch that was made just now, for which only
 * a place that nobody knew is news.
 */
static void compare_branch(struct comparison *comparison, const char *branch, bool is_new,
			   bool push)
{
	SB_AUTO_BUF struct sb_buf old_remote = SB_BUF(SB_GUARD_MAX_BYTES),
				  remote = SB_BUF(SB_GUARD_MAX_BYTES),
				  old_url = SB_BUF(SB_GUARD_MAX_BYTES),
				  url = SB_BUF(SB_GUARD_MAX_BYTES), line = SB_BUF(MAX_TEXT);

	remote_of(&comparison->before, branch, push, &old_remote);
	remote_of(&comparison->after, branch, push, &remote);
	/* of one remote the URL is told */
	if (strcmp(old_remote.data, remote.data) == 0 ||
	    !url_of(&comparison->before, old_remote.data, push, &old_url) ||
	    !url_of(&comparison->after, remote.data, push, &url) ||
	    strcmp(old_url.data, url.data) == 0 || (is_new && was_known(comparison, url.data)))
		return;
	sb_buf_printf(&line, "git %s%s%.100s%s now goes to %.400s, not to %.400s",
		      push ? "push" : "pull", branch ? " of '" : "", branch ? branch : "",
		      branch ? "'" : "", url.data, old_url.data);
	if (!sb_buf_failed(&line))
		comparison->tell(comparison->context, line.data);
}

/* The name in "section.NAME.last"; false: there is none, or of another section. */
static bool name_in(const char *key, const char *section, struct sb_buf *out)
{
	size_t start = strlen(section) + 1;
	const char *last = strrchr(key, '.');

	if (out->length)
		out->data[out->length = 0] = '\0';
	if (strncmp(key, section, start - 1) != 0 || key[start - 1] != '.' || last < key + start)
		return false;
	sb_buf_append(out, key + start, (size_t)(last - key) - start);
	return !sb_buf_failed(out);
}

static bool has_section(const struct ranked *ranked, const char *key)
{
	size_t length = (size_t)(strrchr(key, '.') - key) + 1;
	SB_AUTO_BUF struct sb_buf start = SB_BUF(SB_GUARD_MAX_BYTES);
	size_t i;

	sb_buf_append(&start, key, length);
	i = sb_buf_failed(&start) ? ranked->count : find(ranked, start.data);
	return i < ranked->count && strncmp(ranked->all[i]->key, key, length) == 0;
}

/* A remote that was there leads elsewhere, or a branch ends in another one there. */
static void compare_value(const struct comparison *comparison, const char *section,
			  const char *name, const char *last)
{
	SB_AUTO_BUF struct sb_buf old = SB_BUF(SB_GUARD_MAX_BYTES),
				  now = SB_BUF(SB_GUARD_MAX_BYTES), what = SB_BUF(MAX_TEXT);
	bool had = get(&comparison->before, section, name, last, true, &old);

	if (!get(&comparison->after, section, name, last, true, &now) ||
	    (had && strcmp(old.data, now.data) == 0))
		return;
	sb_buf_printf(&what, "%s.%.100s.%s", section, name, last);
	say(comparison, what.data, now.data, had ? old.data : NULL);
}

/* git fetches missing objects from it by itself, in status and diff as well: whatever the URL says is sent. */
static void compare_promisor(const struct comparison *comparison, const char *remote)
{
	SB_AUTO_BUF struct sb_buf old = SB_BUF(SB_GUARD_MAX_BYTES),
				  now = SB_BUF(SB_GUARD_MAX_BYTES),
				  url = SB_BUF(SB_GUARD_MAX_BYTES), line = SB_BUF(MAX_TEXT);

	get(&comparison->before, "remote", remote, "promisor", false, &old);
	if (!get(&comparison->after, "remote", remote, "promisor", false, &now) ||
	    sb_git_is_no(now.data) || (old.length && !sb_git_is_no(old.data)) ||
	    !url_of(&comparison->after, remote, false, &url))
		return;
	sb_buf_printf(&line, "git now fetches what it misses by itself, from %.400s", url.data);
	if (!sb_buf_failed(&line))
		comparison->tell(comparison->context, line.data);
}

/* What a push to it does there, beside the branch that it is given: of a new remote, too. */
static void compare_push(const struct comparison *comparison, const char *remote)
{
	SB_AUTO_BUF struct sb_buf mirror = SB_BUF(SB_GUARD_MAX_BYTES);

	compare_value(comparison, "remote", remote, "push");
	if (get(&comparison->after, "remote", remote, "mirror", false, &mirror) &&
	    !sb_git_is_no(mirror.data))
		compare_value(comparison, "remote", remote, "mirror");
}

/*
 * The repository that gh opens pull requests in, which a remote has from "gh repo set-default".  A remote that is renamed
 * takes it along.
 */
static void compare_resolved(struct comparison *comparison, const char *remote)
{
	SB_AUTO_BUF struct sb_buf now = SB_BUF(SB_GUARD_MAX_BYTES),
				  url = SB_BUF(SB_GUARD_MAX_BYTES),
				  name = SB_BUF(SB_GUARD_MAX_BYTES);
	bool known = false;

	if (!get(&comparison->after, "remote", remote, "gh-resolved", true, &now))
		return;
	url_of(&comparison->after, remote, false, &url);
	comparison->left -= comparison->left > 0;
	for (size_t i = 0; comparison->left && !known && i < comparison->before.count; i++) {
		const struct sb_git_entry *entry = comparison->before.all[i];
		SB_AUTO_BUF struct sb_buf old = SB_BUF(SB_GUARD_MAX_BYTES);

		known = sb_git_key_is(entry->key, "remote", "gh-resolved") &&
			strcmp(sb_git_entry_value(entry), now.data) == 0 &&
			name_in(entry->key, "remote", &name) && strcmp(name.data, remote) != 0 &&
			url_of(&comparison->before, name.data, false, &old) &&
			strcmp(old.data, url.data) == 0;
	}
	if (!known)
		compare_value(comparison, "remote", remote, "gh-resolved");
}

/* Of each section in ranked once: its first entry is the one that says so. */
static bool is_first(const struct ranked *ranked, size_t i, const struct sb_buf *name,
		     const char *section)
{
	SB_AUTO_BUF struct sb_buf before = SB_BUF(SB_GUARD_MAX_BYTES);

	return i == 0 || !name_in(ranked->all[i - 1]->key, section, &before) ||
	       strcmp(before.data, name->data) != 0;
}

/* Of a branch. */
static bool has_value(const struct ranked *ranked, const char *name, const char *last)
{
	SB_AUTO_BUF struct sb_buf value = SB_BUF(SB_GUARD_MAX_BYTES);

	return get(ranked, "branch", name, last, false, &value);
}

static void compare_ways(struct comparison *comparison)
{
	SB_AUTO_BUF struct sb_buf name = SB_BUF(SB_GUARD_MAX_BYTES);

	for (size_t i = 0; i < comparison->before.count; i++) {
		if (!name_in(comparison->before.all[i]->key, "remote", &name) ||
		    !is_first(&comparison->before, i, &name, "remote"))
			continue;
		compare_value(comparison, "remote", name.data, "url");
		compare_value(comparison, "remote", name.data, "pushurl");
	}
	for (size_t i = 0; i < comparison->after.count; i++)
		if (name_in(comparison->after.all[i]->key, "remote", &name) &&
		    is_first(&comparison->after, i, &name, "remote")) {
			compare_push(comparison, name.data);
			compare_promisor(comparison, name.data);
			compare_resolved(comparison, name.data);
		}
	compare_branch(comparison, NULL, false, true);
	for (int pass = 0; pass < 2; pass++) {
		const struct ranked *ranked = pass ? &comparison->after : &comparison->before;

		for (size_t i = 0; i < ranked->count; i++) {
			const char *key = ranked->all[i]->key;

			if (!name_in(key, "branch", &name) ||
			    !is_first(ranked, i, &name, "branch") ||
			    (pass && has_section(&comparison->before, key)))
				continue;
			compare_branch(comparison, name.data, pass > 0, true);
			compare_branch(comparison, name.data, pass > 0, false);
			if (has_value(&comparison->before, name.data, "merge"))
				compare_value(comparison, "branch", name.data, "merge");
		}
	}
}

/* --- what is hidden ---------------------------------------------------------------------------------- */

/* Whose name stands in the next commits, or pushes; in a repository that a test has just made, only another one is news. */
static bool is_of_somebody(const char *key)
{
	return sb_is_word("user.name user.email user.signingkey author.name author.email "
			  "committer.name committer.email",
			  key) ||
	       sb_git_key_is(key, "credential", "username");
}

/*
 * Does git init find that case does not matter there (setup.c, "CoNfIg")?  HEAD is in worktrees, too.  A second name
 * that somebody made is listed.
 */
static bool is_folding(const char *config)
{
	SB_AUTO_FREE char *git = config ? sb_path_parent(config) : NULL;
	SB_AUTO_FREE char *other = git ? sb_path_join(git, "hEaD") : NULL;
	const struct dirent64 *entry;
	struct sb_sys_dir dir;
	struct stat info;
	bool made = false;

	if (!other || lstat(other, &info) != 0 || sb_sys_dir_open(&dir, git) < 0)
		return false;
	while (!made && (entry = sb_sys_dir_next(&dir)))
		made = strcmp(entry->d_name, "hEaD") == 0;
	made |= dir.error != 0;
	sb_sys_dir_close(&dir);
	return !made;
}

static void compare_hiding(const struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->after.count; i++) {
		const struct sb_git_entry *entry = comparison->after.all[i], *old = NULL;
		const char *now = sb_git_entry_meaning(entry);
		bool is_list = sb_git_key_is(entry->key, "remote", "fetch"), was_there = false;
		bool is_name = is_of_somebody(entry->key);

		if (!is_name && !sb_git_key_hides(entry->key, now, comparison->folds))
			continue;
		for (size_t n = find(&comparison->before, entry->key);
		     n < comparison->before.count &&
		     strcmp(comparison->before.all[n]->key, entry->key) == 0;
		     n++) {
			old = comparison->before.all[n];
			was_there = (is_list && was_there) ||
				    strcmp(sb_git_entry_meaning(old), now) == 0;
		}
		if (!was_there && (!is_name || old || comparison->of_project))
			say(comparison, entry->key, now, old ? sb_git_entry_meaning(old) : NULL);
	}
}

static void compare(const char *config, const struct sb_git_config *before,
		    const struct sb_git_config *after, struct comparison comparison)
{
	comparison.left = MAX_LOOKS;
	comparison.folds = is_folding(config);
	if (rank(before, &comparison.before) && rank(after, &comparison.after)) {
		compare_ways(&comparison);
		compare_hiding(&comparison);
	}
	free(comparison.before.all);
	free(comparison.after.all);
}

void sb_git_ways_compare(const char *config, const struct sb_git_config *before,
			 const struct sb_git_config *after, sb_git_tell_fn tell, void *context)
{
	compare(config, before, after, (struct comparison){.tell = tell, .context = context});
}

void sb_git_exclude_compare(const char *path, struct sb_guard_bytes before,
			    struct sb_guard_bytes after, sb_git_tell_fn tell, void *context)
{
	struct sb_text_lines line = sb_text_lines(after.bytes, after.length);
	SB_AUTO_BUF struct sb_buf note = SB_BUF(2 * SB_GUARD_MAX_BYTES);
	unsigned count = 0, looked = 0;
	bool is_attributes = strcmp(strrchr(path, '/') + 1, "attributes") == 0;

	while (looked++ < 10000 && sb_next_line(&line)) {
		if (!line.length || *line.text == '#' || *line.text == '!' ||
		    count > MAX_PATTERNS ||
		    (is_attributes && !sb_git_attributes_hide(line.text, line.length)) ||
		    sb_check_has_line(before, line.text, line.length))
			continue;
		if (!count)
			sb_buf_printf(&note, "%s now hides ", path);
		if (count++ < MAX_PATTERNS)
			sb_buf_printf(&note, "%s%.*s", count > 1 ? ", " : "",
				      (int)(line.length < 80 ? line.length : 80), line.text);
		else
			sb_buf_puts(&note, ", ...");
	}
	if (count && !sb_buf_failed(&note))
		tell(context, note.data);
}

/* --- a project ------------------------------------------------------------------------------------------ */

static struct sb_guard_bytes bytes_of(const struct sb_shown *shown, size_t i)
{
	return (struct sb_guard_bytes){shown->text[i], shown->text[i] ? shown->length[i] : 0};
}

/* Both configs as one: the second overrules the first. */
static bool parse(const struct sb_shown *shown, struct sb_git_config *out)
{
	SB_AUTO_BUF struct sb_buf whole = SB_BUF(2 * SB_GUARD_MAX_BYTES + 16);

	for (size_t i = 0; i < 2; i++) {
		sb_buf_append(&whole, shown->text[i] ? shown->text[i] : "",
			      shown->text[i] ? shown->length[i] : 0);
		sb_buf_putc(&whole, '\n');
	}
	if (sb_buf_failed(&whole))
		return false;
	sb_git_config_parse(whole.data, whole.length, out);
	return !out->no_memory;
}

static bool is_same(struct sb_guard_bytes a, struct sb_guard_bytes b)
{
	return a.length == b.length && (!a.length || memcmp(a.bytes, b.bytes, a.length) == 0);
}

void sb_shown_compare(const struct sb_shown *shown, sb_git_tell_fn tell, void *context)
{
	static const char *const patterns[] = {"info/exclude", "info/attributes"};
	struct sb_git_config before = {0}, after = {0};
	SB_AUTO(sb_repository_done) struct sb_repository repository = {0};
	struct sb_shown now;

	if (!shown->top)
		return;
	/* a later run would take what it finds there for what was there all the time */
	if (!sb_repository_find(shown->top, &repository)) {
		SB_AUTO_BUF struct sb_buf line = SB_BUF(MAX_TEXT + 64);

		sb_buf_printf(&line, "%.1000s/.git is gone: where git push goes is not known",
			      shown->top);
		if (!sb_buf_failed(&line))
			tell(context, line.data);
		return;
	}
	sb_shown_take(&now, shown->top, repository.common, repository.own);
	if ((!is_same(bytes_of(shown, 0), bytes_of(&now, 0)) ||
	     !is_same(bytes_of(shown, 1), bytes_of(&now, 1))) &&
	    parse(shown, &before) && parse(&now, &after))
		compare(now.config, &before, &after,
			(struct comparison){.tell = tell, .context = context, .of_project = true});
	for (size_t i = 0; i < 2; i++) {
		SB_AUTO_FREE char *path = sb_path_join(repository.common, patterns[i]);

		if (!is_same(bytes_of(shown, 2 + i), bytes_of(&now, 2 + i)))
			sb_git_exclude_compare(path ? path : patterns[i], bytes_of(shown, 2 + i),
					       bytes_of(&now, 2 + i), tell, context);
	}
	if (!shown->text[4] && now.text[4] && now.length[4]) {
		SB_AUTO_BUF struct sb_buf line = SB_BUF(MAX_TEXT);

		sb_buf_printf(&line, SB_SHALLOW_TOLD "%.1000s/shallow", repository.common);
		tell(context, sb_buf_failed(&line) ? "shallow" : line.data);
	}
	sb_git_config_done(&before);
	sb_git_config_done(&after);
	sb_shown_done(&now);
}
