#include "repo/place.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/hash.h"
#include "base/words.h"
#include "guard/read.h"
#include "path/path.h"
#include "repo/git.h"
#include "policy/network.h"
#include "repo/zone.h"
#include "sys/directory.h"

/* --- a URL ------------------------------------------------------------------------------------------ */

/* Our copy of what is there: made at one moment, then filled by fetching. */
static int open_url(const char *state, const char *url, struct sb_git *git, struct sb_error *err)
{
	char hash[SB_SHA256_HEX], name[48];
	SB_AUTO_FREE char *copy = NULL;
	struct sb_git made = {0};
	int status;

	sb_sha256_hex(url, strlen(url), hash);
	snprintf(name, sizeof name, "%.32s.git", hash);
	copy = sb_path_join(state, name);
	git->url = strdup(url);
	git->directory = copy ? strdup(copy) : NULL;
	if (!git->url || !git->directory)
		return sb_no_memory(err);
	if (access(copy, F_OK) == 0)
		return SB_OK;
	status = sb_git_make_own(&made, state, err);
	if (status == SB_OK)
		status = sb_git_set_format(&made, "sha1", err);
	if (status == SB_OK && rename(made.own, copy) != 0 && access(copy, F_OK) != 0)
		status = sb_fail(err, SB_E_SYSTEM, errno, "cannot make '%s'", copy);
	sb_git_close(&made);
	return status;
}

/* --- on this machine -------------------------------------------------------------------------------- */

static bool is_directory(const char *parent, const char *name)
{
	SB_AUTO_FREE char *path = sb_path_join(parent, name);

	return path && sb_path_is_directory(path);
}

static bool is_there(const char *parent, const char *name)
{
	SB_AUTO_FREE char *path = sb_path_join(parent, name);
	struct stat info;

	return !path || lstat(path, &info) == 0;
}

/*
 * SECURITY: all of a repository lies in its git directory.
 *
 * Danger: a file .git, a link, "commondir" and "objects/info/alternates" each lead git to another directory, which
 * whoever named this one has not named: files of a hidden repository would be pulled out of it.
 * Price: a linked worktree, a submodule and a clone made with --shared are named by where their objects are.
 * Held by: tests/cli/zone_git.py
 */
static int check_whole(const char *directory, const char *name, struct sb_error *err)
{
	const char *borrows = is_there(directory, "commondir") ? "commondir"
			      : is_there(directory, "objects/info/alternates")
				      ? "objects/info/alternates"
			      : is_there(directory, "objects/info/http-alternates")
				      ? "objects/info/http-alternates"
				      : NULL;

	if (borrows) {
		sb_fail(err, SB_E_REFUSED, 0, "'%s' takes objects from another repository (%s)",
			name, borrows);
		return sb_hint(err, "name that one, or make this one whole: git repack -a -d, then "
				    "remove the file");
	}
	return SB_OK;
}

/* By text alone where it leads nowhere: what is there is seen by open_path(). */
static int name_path(const struct sb_repo_session *session, const char *name, char **out_name,
		     struct sb_error *err)
{
	SB_AUTO_FREE char *whole = NULL;
	const struct sb_zone *zone;
	const char *rest;
	int status = SB_OK;

	/* a model knows its own directories by their names */
	if (session->asks && name[0] == '/' &&
	    sb_repo_zone(session, name, &zone, &rest, err) == SB_OK)
		whole = sb_path_join(zone->path, rest);
	else
		status = sb_path_expand(name, session->setup->home.cwd, session->setup->home.home,
					&whole, err);
	if (status != SB_OK)
		return status;
	if (whole && sb_path_canonical(whole, out_name, NULL, err) != SB_OK)
		*out_name = strdup(whole);
	return *out_name ? SB_OK : sb_no_memory(err);
}

/* path is what was asked about, name what it was called. */
static int open_path(const char *path, const char *name, struct sb_git *git, struct sb_error *err)
{
	SB_AUTO_FREE char *now = NULL;
	int missing = 0, status = sb_path_canonical(path, &now, &missing, err);

	if (status != SB_OK)
		return status;
	if (missing || strcmp(now, path) != 0)
		return sb_fail(err, SB_E_MISSING, missing, "no repository '%s'", name);
	if (is_directory(path, ".git")) {
		git->directory = sb_path_join(path, ".git");
	} else if (is_there(path, ".git")) {
		sb_fail(err, SB_E_REFUSED, 0, "'%s' is a linked worktree or a submodule", name);
		return sb_hint(err, "name the repository itself");
	} else {
		git->directory = strdup(path);
	}
	if (!git->directory)
		return sb_no_memory(err);
	if (!is_directory(git->directory, "objects") || !is_there(git->directory, "HEAD"))
		return sb_fail(err, SB_E_MISSING, 0, "'%s' is no git repository", name);
	return check_whole(git->directory, name, err);
}

static bool is_open(const struct sb_repo_session *session, const char *path)
{
	for (size_t i = 0; session->open && session->open[i]; i++)
		if (sb_path_within(session->open[i], path))
			return true;
	return false;
}

/* What the user's rules say about hosts; where they ask, a person who has typed the URL has answered. */
static int check_host(const struct sb_repo_session *session, const char *url, struct sb_error *err)
{
	struct sb_peer peer;
	char text[SB_PEER_TEXT_SIZE];
	int status = sb_repo_peer(url, &peer, err);

	if (status != SB_OK)
		return status;
	if (session->network_off || sb_network_of(session->setup->policy) == SB_NETWORK_OFF)
		return sb_fail(err, SB_E_REFUSED, 0, "the network is off: '%s' is not used", url);
	if (sb_decide_connect(session->setup->policy, &peer).verdict != SB_DENY)
		return SB_OK;
	sb_peer_print(&peer, text);
	return sb_fail(err, SB_E_REFUSED, 0, "a rule denies connections to %s", text);
}

/* --- either ----------------------------------------------------------------------------------------- */

static int ask(const struct sb_repo_session *session, const struct sb_git *git, const char *name,
	       enum sb_repo_use use, struct sb_error *err)
{
	static const char *const online[] = {
		"its name goes to a server, and what it answers is read"};
	static const char *const verbs[] = {[SB_REPO_READS] = "read the repository",
					    [SB_REPO_STAGES] = "add a commit, on no branch, to",
					    [SB_REPO_DROPS] = "drop what it has staged in",
					    [SB_REPO_PUSHES] = "push to"};
	const struct sb_repo_about about = {.op = use == SB_REPO_READS ? SB_READ : SB_MODIFY,
					    .verb = git->url ? "fetch from" : verbs[use],
					    .path = name,
					    .notes = online,
					    .note_count = git->url != NULL};

	if (git->url) {
		int status = check_host(session, name, err);

		if (status != SB_OK)
			return status;
	}
	if (!session->asks || (!git->url && (use == SB_REPO_PUSHES || is_open(session, name))))
		return SB_OK;
	return session->ask(session->context, &about, err);
}

static int find_format(const struct sb_git *git, struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf format = SB_BUF(256);
	int status = sb_git_say(git, SB_GIT_LOOK_REFS,
				(const char *const[]){"rev-parse", "--show-object-format", NULL},
				&format, NULL, err);

	return status == SB_OK ? sb_git_set_format(git, format.data, err) : status;
}

/*
 * SECURITY: before a person has said yes nothing of what a model named is looked at.
 *
 * Danger: "no repository", "is no git repository" and a question are three answers, and tell a worker, which sees its own
 * directories and nothing else, of any path of the machine what is there.
 * Price: a misspelt path is asked about, too.
 * Held by: tests/mcp/git.py
 */
int sb_repo_open(const struct sb_repo_session *session, const char *name, enum sb_repo_use use,
		 struct sb_git *git, char **out_name, struct sb_error *err)
{
	SB_AUTO_FREE char *state = sb_path_join(session->setup->home.state_dir, "git");
	int status;

	*git = (struct sb_git){.home = session->setup->home.home,
			       .agent = session->ssh_agent,
			       .best_effort = session->best_effort};
	if (!state)
		return sb_no_memory(err);
	status = sb_git_find(session->search, (const char *const *)session->setup->projects,
			     &git->program, err);
	if (status == SB_OK)
		status = sb_git_make_own(git, state, err);
	if (status != SB_OK)
		return status;
	if (sb_repo_is_url(name)) {
		struct sb_peer peer;

		status = sb_repo_peer(name, &peer, err);
		*out_name = strdup(name);
		if (status == SB_OK)
			status = open_url(state, name, git, err);
	} else {
		status = name_path(session, name, out_name, err);
	}
	if (status == SB_OK)
		status = ask(session, git, *out_name, use, err);
	if (status == SB_OK && !git->url)
		status = open_path(*out_name, name, git, err);
	if (status == SB_OK && git->url)
		status = sb_git_set_format(git, "sha1", err);
	if (status == SB_OK && git->url)
		status = sb_git_log_in(git, session->search, err);
	git->objects = status == SB_OK ? sb_path_join(git->directory, "objects") : NULL;
	if (status == SB_OK && (!git->objects || !*out_name))
		status = sb_no_memory(err);
	return status == SB_OK && !git->url ? find_format(git, err) : status;
}

/* --- refs --------------------------------------------------------------------------------------------- */

static bool is_oid(const char *text)
{
	size_t length = strspn(text, "0123456789abcdef");

	return !text[length] && (length == 40 || length == 64);
}

int sb_repo_ref(const struct sb_git *git, const char *ref, char out[SB_REPO_OID_SIZE],
		struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf said = SB_BUF(1024);
	int ended = 0;
	int status =
		sb_git_say(git, SB_GIT_LOOK_REFS,
			   (const char *const[]){"rev-parse", "--quiet", "--verify", ref, NULL},
			   &said, &ended, err);

	if (status != SB_OK)
		return status;
	out[0] = '\0';
	if (ended == 0 && is_oid(said.data))
		memcpy(out, said.data, said.length + 1);
	return SB_OK;
}

int sb_repo_check_branch(const struct sb_git *git, const char *name, struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf ref = SB_BUF(1024);
	int ended = 0, status;

	sb_buf_printf(&ref, "refs/heads/%s", name);
	if (sb_buf_failed(&ref) || name[0] == '-')
		return sb_fail(err, SB_E_INVALID, 0, "'%s' is no name of a branch", name);
	status = sb_git_say(git, SB_GIT_LOOK,
			    (const char *const[]){"check-ref-format", ref.data, NULL}, NULL, &ended,
			    err);
	if (status == SB_OK && ended)
		return sb_fail(err, SB_E_INVALID, 0, "'%s' is no name of a branch", name);
	return status;
}

/* Where HEAD leads: "main", or nowhere.  Of a URL its server says so. */
static int find_head(const struct sb_git *git, char **out, struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf said = SB_BUF(64 * 1024);
	const char *const remote[] = {"ls-remote", "--symref", "--", git->url, "HEAD", NULL};
	const char *const here[] = {"symbolic-ref", "--quiet", "HEAD", NULL};
	static const char heads[] = "refs/heads/";
	const char *name;
	int ended = 0;
	int status = git->url ? sb_git_say(git, SB_GIT_SEND, remote, &said, NULL, err)
			      : sb_git_say(git, SB_GIT_LOOK_REFS, here, &said, &ended, err);

	*out = NULL;
	if (status != SB_OK || ended)
		return status;
	name = said.data;
	if (git->url)
		name = strncmp(name, "ref: ", 5) == 0 ? name + 5
		       : said.length                  ? ""
						      : "refs/heads/main";
	if (strncmp(name, heads, strlen(heads)) == 0)
		*out = strndup(name + strlen(heads), strcspn(name + strlen(heads), "\t\n"));
	return SB_OK;
}

/* Bring our copy to where the branch is now; a branch that is gone there goes here. */
static int fetch(const struct sb_git *git, const char *name, struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf ref = SB_BUF(1024), said = SB_BUF(64 * 1024), both = SB_BUF(4096);
	int status;

	sb_buf_printf(&ref, "refs/heads/%s", name);
	sb_buf_printf(&both, "+%s:%s", ref.data, ref.data);
	status = sb_git_say(git, SB_GIT_SEND,
			    (const char *const[]){"ls-remote", "--", git->url, ref.data, NULL},
			    &said, NULL, err);
	if (status != SB_OK)
		return status;
	if (!said.length)
		return sb_git_say(git, SB_GIT_SET_REFS,
				  (const char *const[]){"update-ref", "-d", ref.data, NULL}, NULL,
				  NULL, err);
	return sb_git_say(git, SB_GIT_FETCH,
			  (const char *const[]){"fetch", "--quiet", "--depth=1", "--no-tags",
						"--no-recurse-submodules", "--no-write-fetch-head",
						"--no-auto-maintenance", "--", git->url, both.data,
						NULL},
			  NULL, NULL, err);
}

int sb_repo_branch(const struct sb_git *git, const char *name, struct sb_branch *out,
		   struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf ref = SB_BUF(1024);
	int status;

	*out = (struct sb_branch){0};
	if (name) {
		out->name = strdup(name);
		status = out->name ? SB_OK : sb_no_memory(err);
	} else {
		status = find_head(git, &out->name, err);
	}
	if (status == SB_OK && out->name)
		status = sb_repo_check_branch(git, out->name, err);
	if (status == SB_OK && git->url && !out->name)
		return sb_fail(err, SB_E_MISSING, 0, "its HEAD leads to no branch: name one");
	if (status == SB_OK && git->url)
		status = fetch(git, out->name, err);
	if (status != SB_OK)
		return status;
	sb_buf_puts(&ref, out->name ? "refs/heads/" : "HEAD");
	sb_buf_puts(&ref, out->name ? out->name : "");
	return sb_repo_ref(git, ref.data, out->oid, err);
}

/* Does a file HEAD lead to this branch? */
static bool leads_to(const char *file, const char *ref)
{
	size_t length = 0;
	SB_AUTO_FREE char *text = sb_read_text(file, 4096, &length);

	if (!text || !sb_text_begins(text, "ref: "))
		return false;
	text[strcspn(text, "\n")] = '\0';
	return strcmp(text + strlen("ref: "), ref) == 0;
}

/* In a worktree beside the repository's own. */
static bool is_in_worktree(const char *directory, const char *ref)
{
	SB_AUTO_FREE char *all = sb_path_join(directory, "worktrees");
	struct sb_sys_dir list;
	const struct dirent64 *entry;
	bool found = false;

	if (!all || sb_sys_dir_open(&list, all) < 0)
		return false;
	while (!found && (entry = sb_sys_dir_next(&list))) {
		SB_AUTO_BUF struct sb_buf head = SB_BUF(PATH_MAX);

		sb_buf_printf(&head, "%s/%s/HEAD", all, entry->d_name);
		found = !sb_buf_failed(&head) && leads_to(head.data, ref);
	}
	sb_sys_dir_close(&list);
	return found;
}

int sb_repo_is_checked_out(const struct sb_git *git, const char *branch, bool *out,
			   struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf ref = SB_BUF(1024);
	SB_AUTO_FREE char *head = NULL;
	int status = find_head(git, &head, err);

	sb_buf_printf(&ref, "refs/heads/%s", branch);
	/* not what its settings say: they may call it bare */
	*out = sb_text_ends(git->directory, "/.git") && head && strcmp(head, branch) == 0;
	*out |= is_in_worktree(git->directory, ref.data);
	return status;
}
