/*
 * Git's own files, by path: where a checkout keeps its data, and what its config names.
 *
 * Read before a run begins, or for the few names that need it.  What is not there names nothing;
 * whatever leads outside the guarded roots leads to what the run cannot change.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "guard/extras.h"
#include "guard/git_commands.h"
#include "guard/git_config.h"
#include "guard/git_keys.h"
#include "guard/guard_impl.h"
#include "guard/read.h"
#include "guard/repository.h"
#include "path/path.h"
#include "sys/directory.h"

#define MAX_PARENTS 64
#define MAX_HOOKS 256     /* names in a directory of hooks that are looked at */
#define INCLUDE_COST 1024 /* may name the next */
#define MAX_CONFIG (4 * SB_GUARD_MAX_BYTES)

/*
 * SECURITY: COMMON/worktrees/ID borrows from COMMON, also while it does not say so.
 *
 * Danger: no other commondir lands unasked, but that one does, at any time: in one run it is removed, in the
 * next nobody knows the hooks.
 * Held by: tests/supervise/obeyed.py
 */
static char *common_by_name(const char *own)
{
	SB_AUTO_FREE char *parent = sb_path_parent(own);
	SB_AUTO_FREE char *common = parent ? sb_path_parent(parent) : NULL;
	SB_AUTO_FD int fd = -1;

	if (!common || strcmp(strrchr(parent, '/'), "/worktrees") != 0)
		return NULL;
	fd = open(common, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd >= 0 && sb_look_is_git(fd, "") ? sb_take_ptr(&common) : NULL;
}

/* out->own is there, or NULL. */
static bool find_common(struct sb_repository *out)
{
	struct stat info;

	if (!out->own || stat(out->own, &info) != 0 || !S_ISDIR(info.st_mode)) {
		sb_repository_done(out);
		return false;
	}
	out->common = sb_read_path(out->own, "commondir", "");
	out->is_linked = out->common != NULL;
	if (!out->common)
		out->common = common_by_name(out->own);
	if (!out->common)
		out->common = strdup(out->own);
	if (!out->common) {
		sb_repository_done(out);
		return false;
	}
	return true;
}

bool sb_repository_find(const char *top, struct sb_repository *out)
{
	SB_AUTO_FREE char *dot_git = sb_path_join(top, ".git");
	struct stat info;
	int missing;

	*out = (struct sb_repository){0};
	if (!dot_git || lstat(dot_git, &info) != 0)
		return false;
	if (S_ISREG(info.st_mode)) {
		out->is_file = true;
		out->own = sb_read_path(top, ".git", "gitdir: ");
	} else if (sb_path_canonical(dot_git, &out->own, &missing, NULL) != SB_OK) {
		out->own = NULL;
	}
	return find_common(out);
}

bool sb_repository_at(const char *own, struct sb_repository *out)
{
	*out = (struct sb_repository){.own = strdup(own), .is_file = true};
	return find_common(out);
}

void sb_repository_done(struct sb_repository *repository)
{
	free(repository->own);
	free(repository->common);
	*repository = (struct sb_repository){0};
}

/* A path in a config: "~/x", absolute, or seen from base. */
static char *config_path(struct sb_extras *extras, const char *value, const char *base,
			 const char *home)
{
	SB_AUTO_FREE char *absolute = NULL;

	if (!value || !*value || (*value == '~' && !home) ||
	    sb_path_expand(value, base, home, &absolute, NULL) != SB_OK)
		return NULL;
	return sb_extras_follow(extras, absolute);
}

struct collector {
	const char *top; /* what a relative core.hooksPath starts from */
	const char *home;
	struct sb_extras *out;
	bool strict; /* what may not be read is an error */
	bool user;   /* it is the user's own, and counts for all repositories */
	bool hooks;  /* a core.hooksPath that is seen from the top: found */
	const struct sb_repository *repository; /* or NULL */
};

static bool is_missing(int error)
{
	return error == ENOENT || error == ENOTDIR || error == ELOOP;
}

static int collect(struct collector *collector, const char *file);

/* Where a relative way in a config begins. */
static char *config_directory(const struct collector *collector, const char *file)
{
	SB_AUTO_FREE char *directory = sb_path_parent(file);
	const struct sb_repository *repository = collector->repository;

	if (directory && repository && repository->becomes &&
	    strcmp(directory, repository->common) == 0)
		return strdup(repository->becomes);
	return sb_take_ptr(&directory);
}

/* A link that stands where hooks or config should: what it leads to counts as that. */
static int collect_link(struct sb_extras *out, const char *directory, const char *name,
			enum sb_extra_kind kind)
{
	SB_AUTO_FREE char *path = sb_path_join(directory, name);
	struct stat info;

	if (!path || lstat(path, &info) != 0 || !S_ISLNK(info.st_mode))
		return path ? SB_OK : SB_E_NOMEM;
	return sb_extras_add_path(out, sb_extras_follow(out, path), kind);
}

/* Links among the hooks: git runs what they lead to, say scripts/pre-commit of the project. */
static int collect_hook_links(struct sb_extras *out, const char *hooks)
{
	int status = SB_OK, left = MAX_HOOKS;

	SB_EACH_ENTRY(dir, AT_FDCWD, hooks, status == SB_OK && left--)
		if (dir.entry->d_type == DT_LNK || dir.entry->d_type == DT_UNKNOWN)
			status = collect_link(out, hooks, dir.entry->d_name, SB_EXTRA_HOOK);
	return status;
}

/* The directory that a core.hooksPath means, from top. */
static int add_hooks(struct sb_extras *out, const char *value, const char *top, const char *home)
{
	SB_AUTO_FREE char *path = config_path(out, value, top, home);
	int status = path ? collect_hook_links(out, path) : SB_OK;

	return status == SB_OK ? sb_extras_add_path(out, sb_take_ptr(&path), SB_EXTRA_HOOKS)
			       : status;
}

static int collect_hooks(struct collector *collector, const char *value)
{
	return sb_extras_spend(collector->out, SB_EXTRA_FILE_COST) == SB_OK
		       ? add_hooks(collector->out, value, collector->top, collector->home)
		       : SB_E_REFUSED;
}

static int collect_entry(struct collector *collector, const char *file,
			 const struct sb_git_entry *entry)
{
	SB_AUTO_FREE char *directory = NULL, *included = NULL;
	int status;

	if (strcmp(entry->key, "core.hookspath") == 0 && collector->user &&
	    sb_extras_add_anywhere(collector->out, entry->value, SB_EXTRA_ANYWHERE) != SB_OK)
		return SB_E_NOMEM;
	if (strcmp(entry->key, "core.hookspath") == 0)
		collector->hooks |= entry->value && *entry->value != '/' && *entry->value != '~';
	if (strcmp(entry->key, "core.hookspath") == 0)
		return collect_hooks(collector, entry->value);
	/* hooks and config for every new repository */
	if (strcmp(entry->key, "init.templatedir") == 0 && !collector->strict)
		return collect_hooks(collector, entry->value);
	if (strcmp(entry->key, "include.path") != 0 &&
	    !sb_git_key_is(entry->key, "includeif", "path"))
		return sb_git_commands_collect(
			&(struct sb_git_commands){collector->top, collector->home, collector->out,
						  collector->user},
			entry);
	if (sb_extras_spend(collector->out, SB_EXTRA_FILE_COST) != SB_OK)
		return SB_E_REFUSED;
	directory = config_directory(collector, file);
	included = directory ? config_path(collector->out, entry->value, directory, collector->home)
			     : NULL;
	if (!included || sb_extras_know(collector->out, included))
		return SB_OK;
	if (sb_extras_spend(collector->out, INCLUDE_COST) != SB_OK)
		return SB_E_REFUSED;
	status = sb_extras_add_path(collector->out, strdup(included), SB_EXTRA_CONFIG);
	return status == SB_OK ? collect(collector, included) : status;
}

static int collect(struct collector *collector, const char *file)
{
	SB_AUTO(sb_git_config_done) struct sb_git_config config = {0};
	size_t length;
	SB_AUTO_FREE char *text = sb_read_text(file, MAX_CONFIG, &length);
	int status = SB_OK;

	if (!text) /* what is too long git reads all the same */
		return errno == EFBIG || (collector->strict && !is_missing(errno)) ? SB_E_REFUSED
										   : SB_OK;
	sb_git_config_parse(text, length, &config);
	for (size_t i = 0; i < config.count && status == SB_OK; i++)
		status = collect_entry(collector, file, &config.entries[i]);
	return status;
}

static int collect_file(struct collector *collector, const char *directory, const char *name)
{
	SB_AUTO_FREE char *path = sb_path_join(directory, name);

	return path ? collect(collector, path) : SB_E_NOMEM;
}

/*
 * SECURITY: a file that $GIT_CONFIG_GLOBAL names is a git config, whatever it is called.
 *
 * Danger: it lies in a project of dotfiles.  A command adds core.fsmonitor, and git runs that in every repository.
 * Price: none but for keys that ask anywhere.
 * Held by: tests/cli/variables.py
 */
static int collect_named(struct collector *collector, const char *file)
{
	struct stat info;
	int status = SB_OK;

	if (stat(file, &info) != 0 || S_ISREG(info.st_mode)) /* not /dev/null */
		status = sb_extras_add_path(collector->out, sb_extras_follow(collector->out, file),
					    SB_EXTRA_CONFIG);
	return status == SB_OK ? collect(collector, file) : status;
}

/*
 * The settings of the user and the machine, wherever git looks for them (git-config(1), FILES).  More
 * than git reads at a time is no harm: it only adds names that ask.
 */
static int collect_user(struct collector *collector, const char *const *settings)
{
	int status = collect_file(collector, collector->home, ".gitconfig");

	if (status == SB_OK)
		status = collect_file(collector, collector->home, ".config/git/config");
	if (status == SB_OK)
		status = collect(collector, "/etc/gitconfig");
	for (; settings && *settings && status == SB_OK; settings++)
		status = collect_named(collector, *settings);
	return status;
}

static int collect_settings(struct collector *collector, const char *common, const char *own)
{
	int status = collect_file(collector, common, "config");

	return status == SB_OK ? collect_file(collector, own, "config.worktree") : status;
}

/* What git's directories, common and own, name. */
static int collect_repository(struct collector *collector, const char *common, const char *own)
{
	SB_AUTO_FREE char *hooks = sb_path_join(common, "hooks");
	int status = hooks ? collect_settings(collector, common, own) : SB_E_NOMEM;

	if (status == SB_OK)
		status = collect_link(collector->out, common, "hooks", SB_EXTRA_HOOKS);
	if (status == SB_OK)
		status = collect_link(collector->out, common, "config", SB_EXTRA_CONFIG);
	return status == SB_OK ? collect_hook_links(collector->out, hooks) : status;
}

int sb_extras_named(const struct sb_repository *repository, const char *top, const char *home,
		    bool strict, struct sb_extras *out)
{
	struct collector collector = {
		.top = top,
		.home = home,
		.out = out,
		.strict = strict,
		.repository = repository,
	};

	return collect_repository(&collector, repository->common, repository->own);
}

int sb_repository_has_hooks_path(const struct sb_repository *repository, const char *top, bool *out)
{
	struct sb_extras named = {0};
	struct collector collector = {.top = top, .out = &named, .repository = repository};
	int status = collect_settings(&collector, repository->common, repository->own);

	sb_extras_done(&named);
	*out = collector.hooks;
	return status;
}

/* Is the way from top to git's config forbidden, and not just missing? */
static bool is_closed(const char *top)
{
	static const char *const names[] = {".git", ".git/config"};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		SB_AUTO_FREE char *path = sb_path_join(top, names[i]);
		struct stat info;

		if (!path)
			return true;
		if (stat(path, &info) != 0)
			return !is_missing(errno);
		if (i == 0 && S_ISREG(info.st_mode))
			return access(path, R_OK) != 0 && !is_missing(errno);
	}
	return false;
}

static void read_into(struct sb_shown *shown, size_t i, const char *directory, const char *name)
{
	SB_AUTO_FREE char *path = sb_path_join(directory, name);

	shown->text[i] = path ? sb_read_text(path, SB_GUARD_MAX_BYTES, &shown->length[i]) : NULL;
}

void sb_shown_take(struct sb_shown *shown, const char *top, const char *common, const char *own)
{
	*shown = (struct sb_shown){.top = strdup(top), .config = sb_path_join(common, "config")};
	read_into(shown, 0, common, "config");
	read_into(shown, 1, own, "config.worktree");
	read_into(shown, 2, common, "info/exclude");
	read_into(shown, 3, common, "info/attributes");
	read_into(shown, 4, common, "shallow");
}

void sb_shown_done(struct sb_shown *shown)
{
	free(shown->top);
	free(shown->config);
	for (size_t i = 0; i < 5; i++)
		free(shown->text[i]);
	*shown = (struct sb_shown){0};
}

int sb_extras_of(const char *top, const struct sb_guard_options *user, struct sb_extras *out,
		 struct sb_shown *shown)
{
	struct collector collector = {top, user ? user->home : NULL, out, !user};
	SB_AUTO(sb_repository_done) struct sb_repository repository = {0};
	int status = SB_OK;

	collector.user = true;
	if (collector.home)
		status = collect_user(&collector, user->git_settings);
	if (collector.home && user->homes.account && status == SB_OK) {
		collector.home = user->homes.account;
		status = collect_user(&collector, NULL);
		collector.home = user->home;
	}
	collector.user = false;

	if (status == SB_OK && collector.strict && is_closed(top))
		return SB_E_REFUSED;
	if (status != SB_OK || !sb_repository_find(top, &repository))
		return status;
	status = collect_repository(&collector, repository.common, repository.own);
	if (shown)
		sb_shown_take(shown, top, repository.common, repository.own);
	return status;
}

/* What the user's own core.hooksPath means in top: where links lead that are there. */
static int add_own_hooks(const struct sb_guard *guard, const char *top, struct sb_extras *out)
{
	int status = SB_OK;

	for (size_t i = 0; i < guard->extras.count && status == SB_OK; i++)
		if (guard->extras.all[i].kind == SB_EXTRA_ANYWHERE)
			status = add_hooks(out, guard->extras.all[i].path, top, NULL);
	return status;
}

int sb_extras_around(const struct sb_guard *guard, const char *directory, struct sb_extras *out)
{
	SB_AUTO_FREE char *top = strdup(directory);
	int status = top ? SB_OK : SB_E_NOMEM;

	for (int left = MAX_PARENTS; status == SB_OK && top[0]; left--) {
		status = left ? sb_extras_of(top, NULL, out, NULL) : SB_E_REFUSED;
		if (status == SB_OK)
			status = add_own_hooks(guard, top, out);
		*strrchr(top, '/') = '\0';
	}
	return status;
}
