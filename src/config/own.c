#include "config/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/list.h"
#include "path/path.h"

/* One of our directories, and how it came to be the one. */
struct own {
	const char *variable; /* "XDG_CONFIG_HOME" */
	const char *value;    /* its value; NULL: unset */
	const char *fallback; /* ".config" in the home directory */
	bool rules;           /* there are rules in it, not records alone */
};

/* Of find_places(), made when first needed: without and with the projects themselves. */
struct places {
	const struct sb_environment *environment;
	char **around[2];
};

struct found {
	char *dir;   /* canonical */
	char *named; /* as the environment says it: links may stand in it */
	bool given;  /* by the variable, not by the home directory */
};

static void found_done(struct found *found)
{
	free(found->dir);
	free(found->named);
	*found = (struct found){0};
}

static void free_paths(char ***list)
{
	for (size_t i = 0; *list && (*list)[i]; i++)
		free((*list)[i]);
	free(*list);
}

/* $NAME/sandbash if NAME is absolute (the XDG rule), else home/fallback/sandbash. */
static int find(const struct own *own, const char *value, const char *home, struct found *out,
		struct sb_error *err)
{
	bool given = value && value[0] == '/';
	SB_AUTO_FREE char *base = given ? strdup(value) : sb_path_join(home, own->fallback);
	SB_AUTO_FREE char *dir = base ? sb_path_join(base, "sandbash") : NULL;
	int status;

	*out = (struct found){.given = given};
	if (!dir)
		return sb_no_memory(err);
	if (given)
		status = sb_path_canonical(dir, &out->dir, NULL, err);
	else /* home is canonical: walk only what lies beneath */
		status = sb_path_canonical_beneath(home, dir + strlen(home), &out->dir, NULL, err);
	if (status == SB_OK)
		out->named = sb_take_ptr(&dir);
	return status;
}

/* --- what may be a project's ---------------------------------------------------------------- */

static const char *own_home(const struct sb_home *home)
{
	return home->account_home ? home->account_home : home->home;
}

static bool is_repository(const char *path)
{
	SB_AUTO_FREE char *git = sb_path_join(path, ".git");
	struct stat info;

	return git && lstat(git, &info) == 0;
}

/* The repositories around root: who works in a part of one has its files from all of it. */
static int push_repositories(const char *root, const char *home, char ***list, size_t *count,
			     struct sb_error *err)
{
	SB_AUTO_FREE char *at = strdup(root);
	int status = at ? SB_OK : sb_no_memory(err);

	/* nobody's home directory is a project for having a .git in it */
	while (status == SB_OK && !sb_path_within(at, home)) {
		char *parent = sb_path_parent(at);

		if (is_repository(at))
			status = sb_list_push(list, count, strdup(at), err);
		if (status == SB_OK && !parent)
			status = sb_no_memory(err);
		free(at);
		at = parent;
	}
	return status;
}

/* The projects, as far as they can be told before any rule is read. */
static int find_places(const struct sb_environment *environment, const struct sb_home *home,
		       bool given, char ***out, struct sb_error *err)
{
	size_t count = 0;
	int status = SB_OK;

	*out = calloc(1, sizeof **out);
	if (!*out)
		return sb_no_memory(err);
	for (size_t i = 0; status == SB_OK; i++) {
		const char *const *named = environment->projects;
		SB_AUTO_FREE char *absolute = NULL, *root = NULL;

		if (i && (!named || !named[i - 1]))
			break;
		/* one that is none is refused later, with a reason */
		if (i && (sb_path_expand(named[i - 1], home->cwd, home->home, &absolute, NULL) !=
				  SB_OK ||
			  sb_path_canonical(absolute, &root, NULL, NULL) != SB_OK))
			continue;
		/* a home directory that is the project itself, or in it, was allowed by a flag */
		if (given)
			status = sb_list_push(out, &count, strdup(i ? root : home->cwd), err);
		if (status == SB_OK)
			status = push_repositories(i ? root : home->cwd, own_home(home), out,
						   &count, err);
	}
	return status;
}

/* Is it the account's own place after all?  Then *out becomes false. */
static int is_usual(const struct sb_home *home, const struct own *own, const struct found *found,
		    bool *out, struct sb_error *err)
{
	struct found usual;
	int status = find(own, NULL, own_home(home), &usual, err);

	if (status == SB_OK)
		*out = strcmp(usual.dir, found->dir) != 0;
	found_done(&usual);
	return status;
}

static int has_link(const struct found *found, const char *const *places, bool *out,
		    struct sb_error *err)
{
	SB_AUTO_FREE char *link = NULL, *canonical = NULL;
	int status = sb_path_canonical_watched(found->named, places, &canonical, NULL, &link, err);

	*out = link != NULL;
	return status;
}

/*
 * SECURITY: no project tells where its own rules are.
 *
 * Danger: a repository's .env sets XDG_CONFIG_HOME to a directory that came with it, or that an
 * earlier run has written: "mode danger-full-access" (CVE-2025-61260).  HOME does the same.
 * Price: who keeps the configuration in a project says so with --config-dir.
 * Held by: tests/cli/config_place.py
 *
 * The account's own place is always believed: no run can change what is there (S9), also one that
 * is started in the home directory or around it.
 */
static int is_doubtful(struct places *known, const struct sb_home *home, const struct own *own,
		       const struct found *found, bool *out, struct sb_error *err)
{
	bool near = found->given;
	char **places;
	int status = SB_OK;

	*out = false;
	if (!found->given && strcmp(own_home(home), home->home) == 0)
		return SB_OK;
	if (!known->around[near])
		status = find_places(known->environment, home, near, &known->around[near], err);
	places = known->around[near];
	for (size_t i = 0; status == SB_OK && places[i]; i++) {
		*out |= sb_path_within(places[i], found->dir);
		near |= sb_path_within(places[i], found->named);
	}
	if (status == SB_OK && *out)
		status = is_usual(home, own, found, out, err);
	/* a link that lies in a project leads where the project wants */
	if (status == SB_OK && !*out && near && places[0])
		status = has_link(found, (const char *const *)places, out, err);
	return status;
}

/* --- finding them ----------------------------------------------------------------------------- */

/* As it is named, and as it is. */
static int push_pair(char ***list, const struct found *found, struct sb_error *err)
{
	size_t count = sb_list_count(*list);
	int status = sb_list_push(list, &count, strdup(found->named), err);
	return status == SB_OK ? sb_list_push(list, &count, strdup(found->dir), err) : status;
}

static int refuse(struct sb_home *home, const struct own *own, const struct found *found,
		  struct sb_error *err)
{
	size_t warned = sb_list_count(home->warnings);
	int status = push_pair(&home->unused[SB_UNUSED_REFUSED], found, err);

	if (status != SB_OK)
		return status;
	return sb_list_push(
		&home->warnings, &warned,
		sb_text_print("%s leads to '%s', in a project: %s; %s%s",
			      found->given ? own->variable : "HOME", found->named,
			      own->rules ? "its rules are not obeyed"
					 : "no record is kept there, and no kept answer counts",
			      own->rules ? "if they are yours: --config-dir="
					 : "set it to another place",
			      own->rules ? found->named : ""),
		err);
}

static int choose(struct places *known, struct sb_home *home, const struct own *own,
		  struct found *out, struct sb_error *err)
{
	/* what the variable says; else the home directory's; else that of the account */
	const char *const values[] = {own->value, NULL, NULL};
	const char *const homes[] = {home->home, home->home, own_home(home)};
	bool doubtful = true;
	int status = SB_OK;

	for (size_t i = 0; i < 3 && doubtful && status == SB_OK; i++) {
		if (i == 1 && !out->given)
			continue; /* it was that already */
		found_done(out);
		status = find(own, values[i], homes[i], out, err);
		if (status == SB_OK)
			status = is_doubtful(known, home, own, out, &doubtful, err);
		if (status == SB_OK && doubtful && i < 2)
			status = refuse(home, own, out, err);
	}
	return status;
}

/*
 * SECURITY: the usual places are ours, whatever this run uses.
 *
 * Danger: an editor starts its server with XDG_STATE_HOME, HOME or --config-dir of its own, a shell does not.  What the one
 * runs would read the record and the words of all others, and in an opened ~/.config write their rules.
 * Price: nothing; but what is not there yet is not made there to be covered.
 * Held by: tests/cli/config_place.py
 */
static int keep_usual(struct sb_home *home, const struct own *own, bool by_variable,
		      struct sb_error *err)
{
	const char *const homes[] = {home->home, own_home(home)};
	const char *chosen = own->rules ? home->config_dir : home->state_dir;
	bool same = strcmp(homes[0], homes[1]) == 0;
	int status = SB_OK;

	if (same && !by_variable)
		return SB_OK;
	for (size_t i = 0; i < (same ? 1 : 2) && status == SB_OK; i++) {
		struct found usual;

		status = find(own, NULL, homes[i], &usual, err);
		if (status == SB_OK && strcmp(usual.dir, chosen) != 0)
			status = push_pair(
				&home->unused[own->rules ? SB_UNUSED_CONFIG : SB_UNUSED_STATE],
				&usual, err);
		found_done(&usual);
	}
	return status;
}

/* Said on the command line: obeyed wherever it lies. */
static int take_given(const struct sb_environment *environment, struct sb_home *home,
		      struct sb_error *err)
{
	int status;

	status = sb_path_expand(environment->config_dir, home->cwd, home->home, &home->config_named,
				err);
	return status == SB_OK ? sb_path_canonical(home->config_named, &home->config_dir, NULL, err)
			       : status;
}

int sb_own_find(const struct sb_environment *environment, struct sb_home *home,
		struct sb_error *err)
{
	const struct own config = {"XDG_CONFIG_HOME", environment->xdg_config_home, ".config",
				   true};
	const struct own state = {"XDG_STATE_HOME", environment->xdg_state_home, ".local/state",
				  false};
	struct places known = {.environment = environment};
	struct found found = {0};
	int status;

	if (environment->config_dir) {
		status = take_given(environment, home, err);
	} else {
		status = choose(&known, home, &config, &found, err);
		home->config_dir = sb_take_ptr(&found.dir);
		home->config_named = sb_take_ptr(&found.named);
	}
	if (status == SB_OK) {
		found_done(&found);
		status = choose(&known, home, &state, &found, err);
		home->state_dir = sb_take_ptr(&found.dir);
	}
	if (status == SB_OK)
		status = keep_usual(home, &config, environment->config_dir || config.value, err);
	if (status == SB_OK)
		status = keep_usual(home, &state, state.value, err);
	found_done(&found);
	free_paths(&known.around[false]);
	free_paths(&known.around[true]);
	return status;
}
