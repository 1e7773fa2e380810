/*
 * The guard's rows as rules, for runs that no guard watches.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/each.h"
#include "base/words.h"
#include "guard/guard.h"
#include "path/path.h"
#include "policy/builtin_impl.h"
#include "policy/policy_impl.h"
#include "policy/text.h"
#include "sys/directory.h"

/* Git takes a directory for its own by what is in it, whatever it is called. */
static bool is_git_dir(const char *path)
{
	static const char *const parts[] = {"HEAD", "objects", "refs"};

	for (size_t i = 0; i < SB_COUNT(parts); i++) {
		SB_AUTO_FREE char *part = sb_path_join(path, parts[i]);

		if (!part || access(part, F_OK) != 0)
			return false;
	}
	return true;
}

/* How far the guard's rows were looked at, and for which: those of git directories, or the others. */
struct held {
	bool git;
	const struct sb_base *only; /* of these what may be there; NULL: all */
	size_t next;
	const char *last;
};

/*
 * The next name that is held for the guard's rows (without "<git>/").  Rows that are held by one
 * directory stand together in the table, and a name that comes twice all the same is one rule:
 * the policy knows it already.
 */
static bool next_held(struct held *held, struct sb_builtin_row *out)
{
	static const char prefix[] = "<git>/";
	size_t rows;
	const struct sb_guard_row *table = sb_guard_rows(&rows);

	while (held->next < rows) {
		const struct sb_guard_row *row = &table[held->next++];
		const char *name = row->held;

		if (!*name || (*name == prefix[0]) != held->git)
			continue;
		name += held->git ? sizeof prefix - 1 : 0;
		if (held->only && sb_base_lacks(held->only, name))
			continue;
		if (held->last && strcmp(held->last, name) == 0)
			continue;
		held->last = name;
		*out = (struct sb_builtin_row){name, &sb_access_ask, row->why};
		return true;
	}
	return false;
}

/* All of them in root (canonical): at its top, or what git obeys in root/.git, which may be a link. */
static int add_held(struct sb_policy *policy, const char *root, struct held held, bool in_dot_git,
		    unsigned flags, struct sb_error *err)
{
	char name[sizeof ".git/" + sizeof((struct sb_guard_row *)0)->held];
	struct sb_base base;
	struct sb_builtin_row row;
	int status = SB_OK;

	sb_base_begin(&base, root, held.git ? 0 : SB_GUARD_MAX_ROWS);
	held.only = (flags & SB_BUILTIN_EXISTING_ONLY) && !in_dot_git ? &base : NULL;
	while (status == SB_OK && next_held(&held, &row)) {
		if (in_dot_git) {
			snprintf(name, sizeof name, ".git/%s", row.path);
			row.path = name;
		}
		status = sb_builtin_add_row(policy, &base, &row, flags, err);
	}
	sb_base_end(&base);
	return status;
}

/* What the row names in directory, where it is. */
static int add_system_row(struct sb_policy *policy, const char *directory,
			  const struct sb_guard_row *row, unsigned flags, struct sb_error *err)
{
	const char *start = sb_path_name(row->pattern);
	size_t length = strcspn(start, "*");
	int status = SB_OK;

	SB_EACH_ENTRY(dir, AT_FDCWD, directory, status == SB_OK) {
		const struct dirent64 *entry = dir.entry;
		SB_AUTO_FREE char *path = NULL;

		/* through a link it is found by its own name */
		if (strncmp(entry->d_name, start, length) != 0 || sb_is_dots(entry->d_name) ||
		    (!start[length] && entry->d_name[length]) || entry->d_type == DT_LNK)
			continue;
		path = sb_path_join(directory, entry->d_name);
		if (!path)
			status = sb_no_memory(err);
		else if (sb_guard_system_first(path) == row)
			status = sb_builtin_literal(policy, path, &sb_access_ask, row->why, flags,
						    err);
	}
	return status;
}

/* What the machine obeys, beneath a directory that root may write to. */
static int guard_system(struct sb_policy *policy, const char *root, unsigned flags,
			struct sb_error *err)
{
	size_t count, length = strlen(root);
	const struct sb_guard_row *rows = sb_guard_system_rows(&count);
	int status = SB_OK;

	if (geteuid() != 0)
		return SB_OK;
	for (size_t i = 0; i < count && status == SB_OK; i++) {
		SB_AUTO_FREE char *directory = NULL;

		if (strncmp(rows[i].pattern, root, length) != 0)
			continue;
		directory = sb_path_parent(rows[i].pattern);
		if (!directory)
			status = sb_no_memory(err);
		else if (sb_path_within(root, directory))
			status = add_system_row(policy, directory, &rows[i], flags, err);
	}
	return status;
}

/* What a program outside would run or obey, at the top of a writable directory. */
int sb_builtin_guard_root(struct sb_policy *policy, const char *root, unsigned flags,
			  struct sb_error *err)
{
	SB_AUTO_FREE char *git = sb_path_join(root, ".git");
	struct stat info;
	int status = SB_OK;
	bool there, missing;

	if (!git)
		return sb_no_memory(err);
	there = lstat(git, &info) == 0;
	missing = !there && errno == ENOENT;
	/* In a linked worktree or a submodule it is a file with the way to the rest. */
	if (there && S_ISREG(info.st_mode))
		status = sb_builtin_literal(policy, git, &sb_access_ask,
					    "leads git to its hooks and config", 0, err);
	if (status == SB_OK && is_git_dir(root))
		status = add_held(policy, root, (struct held){.git = true}, false, flags, err);
	/* where there is no repository, git init has to be able to make one */
	if (status == SB_OK && !missing)
		status = add_held(policy, root, (struct held){.git = true}, true,
				  access(git, F_OK) == 0 ? flags : flags | SB_BUILTIN_EXISTING_ONLY,
				  err);
	if (status == SB_OK)
		status = guard_system(policy, root, flags, err);
	return status == SB_OK ? add_held(policy, root, (struct held){0}, false, flags, err)
			       : status;
}

/*
 * Did the user close a directory around path?  Then it stays closed.  A wildcard may mean something in it, but for
 * those of histories (remembered.h), which a printed policy has: they are about what they cover.
 */
static bool is_closed(const struct sb_policy *policy, const char *path)
{
	for (size_t i = 0; i < sb_policy_count(policy); i++) {
		const struct sb_rule *rule = sb_policy_rule(policy, i);
		const struct sb_pattern *pattern = sb_policy_pattern(policy, i);

		if (rule->tier != SB_TIER_BUILTIN && sb_path_within(pattern->prefix, path) &&
		    (!rule->access.quiet || sb_pattern_covers(pattern, path)) &&
		    (rule->access.verdict[SB_CREATE] != SB_ALLOW ||
		     rule->access.verdict[SB_MODIFY] != SB_ALLOW))
			return true;
	}
	return false;
}

/* In a part that is opened: what leads git elsewhere, where no guard looks at it. */
static int guard_part(struct sb_policy *policy, const struct sb_guard_part *part, unsigned flags,
		      struct sb_error *err)
{
	static const struct sb_builtin_row leads[] = {
		{"gitdir", &sb_access_ask, "leads git to another worktree"},
		{"commondir", &sb_access_ask, "leads git to other hooks and config"},
		{"config.worktree", &sb_access_ask, "git config can name programs to run"},
	};
	/* the main checkout's own: git writes other lists beside them */
	static const struct sb_builtin_row lists[] = {
		{"exclude", &sb_access_ask, "what git ignores in every worktree"},
		{"attributes", &sb_access_ask,
		 "how git shows and converts files in every worktree"},
	};
	SB_AUTO_FREE char *commondir = sb_path_join(part->path, "commondir");
	const char *name = strrchr(part->path, '/');

	if (!commondir)
		return sb_no_memory(err);
	if (is_git_dir(part->path))
		return add_held(policy, part->path, (struct held){.git = true}, false, flags, err);
	if (name && strcmp(name, "/info") == 0)
		return sb_builtin_table(policy, part->path, lists, SB_COUNT(lists),
					flags | SB_BUILTIN_EXISTING_ONLY, err);
	if (access(commondir, F_OK) == 0) /* the worktree's own directory */
		return sb_builtin_table(policy, part->path, leads, SB_COUNT(leads), flags, err);
	return SB_OK;
}

/* A linked worktree or submodule whose git data lies elsewhere: exactly what git needs there. */
int sb_builtin_guard_parts(struct sb_policy *policy, const struct sb_surroundings *place,
			   const char *project, unsigned flags, struct sb_error *err)
{
	struct sb_guard_parts parts;
	int status = sb_guard_parts_find(project, &parts, err);

	for (size_t i = 0; i < parts.count && status == SB_OK; i++) {
		const struct sb_guard_part *part = &parts.all[i];
		bool missing = access(part->path, F_OK) != 0;
		char reason[96];

		if ((part->checked && !place->guarded) || is_closed(policy, part->path))
			continue;
		snprintf(reason, sizeof reason, "git data of this checkout: %s", part->why);
		status = sb_builtin_literal(policy, part->path, &sb_access_write, reason,
					    flags | (missing ? SB_BUILTIN_ABSENT : 0) |
						    (place->guarded ? SB_BUILTIN_CHECKED : 0),
					    err);
		if (status == SB_OK && part->directory && !missing && !place->guarded)
			status = guard_part(policy, part, flags, err);
	}
	sb_guard_parts_done(&parts);
	return status;
}

/* Directories that the user's rules open need the same care as a project. */
/* Nobody keeps settings there; a printed policy with the real /tmp must read back alike. */
static bool is_temp(const struct sb_surroundings *place, const char *path)
{
	return strcmp(path, "/tmp") == 0 || strcmp(path, "/var/tmp") == 0 ||
	       strcmp(path, "/dev/shm") == 0 || (place->tmpdir && strcmp(path, place->tmpdir) == 0);
}

int sb_builtin_guard_opened(struct sb_policy *policy, const struct sb_surroundings *place,
			    unsigned flags, struct sb_error *err)
{
	size_t count = sb_policy_count(policy);
	int status = SB_OK;

	for (size_t i = 0; i < count && status == SB_OK; i++) {
		const struct sb_rule *rule = sb_policy_rule(policy, i);
		const struct sb_pattern *pattern = sb_policy_pattern(policy, i);
		SB_AUTO_FREE char *root = NULL;
		struct stat info;

		/* a run that has fast roots guards nothing there; a static run has none */
		if (rule->fast && !place->existing_only)
			continue;
		if (rule->tier == SB_TIER_BUILTIN || rule->access.verdict[SB_CREATE] != SB_ALLOW ||
		    pattern->glob || is_temp(place, pattern->prefix) ||
		    stat(pattern->prefix, &info) != 0 || !S_ISDIR(info.st_mode))
			continue;
		root = strdup(pattern->prefix); /* adding rules may move the others */
		status = root ? sb_builtin_guard_root(policy, root, flags, err) : sb_no_memory(err);
	}
	return status;
}
