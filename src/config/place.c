#include "config/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/each.h"
#include "base/hash.h"
#include "base/list.h"
#include "path/path.h"

static int current_directory(char **out, struct sb_error *err)
{
	char path[PATH_MAX];

	if (!getcwd(path, sizeof path) || path[0] != '/') {
		sb_fail(err, SB_E_MISSING, errno, "cannot tell the current directory");
		return errno == ENOENT ? sb_hint(err, "it was deleted: cd to one that exists")
				       : (int)SB_E_MISSING;
	}
	return sb_path_canonical(path, out, NULL, err);
}

/*
 * Does this look like a place for temporary files: everybody's (sticky) or the user's
 * alone?  TMPDIR may name any directory by mistake, or by a project's .env file; /etc
 * must neither be opened nor be hidden for that.
 */
static bool is_temp_dir(const char *path)
{
	struct stat info;

	if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
		return false;
	if ((info.st_mode & (S_ISVTX | S_IWOTH)) == (S_ISVTX | S_IWOTH))
		return true;
	return info.st_uid == geteuid() && (info.st_mode & 077) == 0;
}

static int temp_dir(const char *tmpdir, const struct sb_home *home, char **out,
		    struct sb_error *err)
{
	SB_AUTO_FREE char *path = NULL;
	int status;

	if (!tmpdir || tmpdir[0] != '/')
		return SB_OK;
	status = sb_path_canonical(tmpdir, &path, NULL, err);
	if (status != SB_OK)
		return status;
	if (sb_path_within(path, home->home) || sb_path_within(path, home->cwd) ||
	    sb_path_within(path, home->config_dir) || sb_path_within(path, home->state_dir) ||
	    !is_temp_dir(path))
		return SB_OK;
	*out = sb_take_ptr(&path);
	return SB_OK;
}

/*
 * The path in a value that names a socket: "/path", "/path,pid,n" (tmux),
 * "unix:path=/path,guid=..." (D-Bus), "unix:///path" (docker).  NULL: none.
 */
static char *socket_path(const char *value)
{
	const char *path = strstr(value, "path=");
	size_t length;

	if (path)
		path += strlen("path=");
	else
		path = strncmp(value, "unix:", 5) == 0 ? value + 5 : value;
	while (path[0] == '/' && path[1] == '/')
		path++;
	length = strcspn(path, ",;");
	return path[0] == '/' ? strndup(path, length) : NULL;
}

static int find_sockets(const char *const *services, char ***out, struct sb_error *err)
{
	size_t count = 0;

	*out = calloc(sb_list_count(services) + 1, sizeof **out);
	if (!*out)
		return sb_no_memory(err);
	for (size_t i = 0; services && services[i]; i++) {
		SB_AUTO_FREE char *path = socket_path(services[i]);
		char *canonical = NULL;

		if (path && sb_path_is_socket(path) &&
		    sb_path_canonical(path, &canonical, NULL, NULL) == SB_OK)
			(*out)[count++] = canonical;
	}
	return SB_OK;
}

/* Of credentials that variables name: is it there, and not the project's own? */
static bool is_secret(const struct sb_home *home, const char *named, const char *path)
{
	struct stat info;

	return named[0] == '/' && stat(named, &info) == 0 &&
	       (S_ISREG(info.st_mode) || S_ISDIR(info.st_mode)) &&
	       !sb_path_within(home->cwd, path) && !sb_path_within(path, home->cwd) &&
	       !sb_path_within(path, home->home);
}

/* Where the named paths lead, of those that are taken; NULL takes all. */
static int find_places(const char *const *named, const struct sb_home *home,
		       bool (*takes)(const struct sb_home *, const char *, const char *),
		       char ***out, struct sb_error *err)
{
	size_t count = 0;

	*out = calloc(sb_list_count(named) + 1, sizeof **out);
	if (!*out)
		return sb_no_memory(err);
	for (size_t i = 0; named && named[i]; i++) {
		SB_AUTO_FREE char *path = NULL;

		if (sb_path_canonical(named[i], &path, NULL, NULL) == SB_OK &&
		    (!takes || takes(home, named[i], path)))
			(*out)[count++] = sb_take_ptr(&path);
	}
	return SB_OK;
}

/*
 * Is this line of /etc/passwd the account's?  Then it is cut up, and *out_home is its home directory, or
 * stays NULL if it is none.
 */
static bool is_account(char *line, uid_t uid, char **out_home)
{
	char *number = strchr(line, ':'), *field[6];
	size_t i = 0;

	number = number ? strchr(number + 1, ':') : NULL;
	if (!number || strtoul(number + 1, NULL, 10) != uid) /* most */
		return false;
	for (; i < 6 && line; i++)
		field[i] = strsep(&line, ":");
	if (i < 6 || field[5][0] != '/')
		return false;
	if (strcmp(field[5], "/") != 0)
		(void)sb_path_canonical(field[5], out_home, NULL, NULL);
	return true;
}

/*
 * The home directory that /etc/passwd gives for this account; NULL: it has none there.
 * (Accounts may come from elsewhere, too; $HOME must do then.)
 */
static char *find_account_home(void)
{
	SB_AUTO_FD int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	char text[2048], *home = NULL; /* the start of a line, and what was read after it */
	uid_t uid = getuid();
	size_t length = 0;
	ssize_t got;

	while (fd >= 0 && (got = read(fd, text + length, sizeof text - 1 - length)) > 0) {
		char *line = text, *end;

		length += (size_t)got;
		text[length] = '\0';
		for (; (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			if (is_account(line, uid, &home))
				return home;
		}
		length = (size_t)(text + length - line);
		if (length == sizeof text - 1) /* no account's line is that long */
			length = 0;
		memmove(text, line, length);
	}
	text[length] = '\0';
	(void)is_account(text, uid, &home); /* the last line may lack its end */
	return home;
}

/* Where git looks for settings because a variable says so: git-config(1), FILES. */
static int find_git_settings(const struct sb_environment *environment, char ***out,
			     struct sb_error *err)
{
	const char *named[] = {environment->git_global, environment->git_system};
	const char *config = environment->xdg_config_home;
	char **list = calloc(4, sizeof *list);
	size_t count = 0;
	bool complete = list != NULL;

	*out = list;
	if (complete && config && config[0] == '/')
		complete = (list[count++] = sb_path_join(config, "git/config")) != NULL;
	for (size_t i = 0; i < 2 && complete; i++)
		if (named[i] && named[i][0] == '/')
			complete = (list[count++] = strdup(named[i])) != NULL;
	return complete ? SB_OK : sb_no_memory(err);
}

/* A directory that holds the home or the project is no place for sockets alone. */
static int runtime_dir(const char *named, const struct sb_home *home, char **out,
		       struct sb_error *err)
{
	SB_AUTO_FREE char *path = NULL;
	int status = sb_path_canonical(named, &path, NULL, err);

	if (status == SB_OK && !sb_path_within(path, home->home) &&
	    !sb_path_within(path, home->cwd))
		*out = sb_take_ptr(&path);
	return status;
}

/* Where programs keep what they would keep in home/usual; a place in the project is its own. */
static char *other_dir(const char *named, const struct sb_home *home, const char *usual)
{
	SB_AUTO_FREE char *path = NULL, *normal = NULL;

	if (!named || named[0] != '/' || sb_path_canonical(named, &path, NULL, NULL) != SB_OK ||
	    sb_path_canonical_beneath(home->home, usual, &normal, NULL, NULL) != SB_OK)
		return NULL;
	if (strcmp(path, normal) == 0 || sb_path_within(home->cwd, path))
		return NULL;
	return sb_take_ptr(&path);
}

/* The variables as they are, where absolute. */
static int keep_named(const struct sb_environment *environment, struct sb_home *home,
		      struct sb_error *err)
{
	const struct {
		const char *named;
		char **out;
	} all[] = {{environment->xdg_config_home, &home->xdg_config},
		   {environment->xdg_data_home, &home->xdg_data},
		   {environment->xdg_cache_home, &home->xdg_cache},
		   {environment->xdg_state_home, &home->xdg_state}};

	for (size_t i = 0; i < SB_COUNT(all); i++)
		if (all[i].named && all[i].named[0] == '/' && !(*all[i].out = strdup(all[i].named)))
			return sb_no_memory(err);
	return SB_OK;
}

int sb_home_find(const struct sb_environment *environment, struct sb_home *out,
		 struct sb_error *err)
{
	struct sb_home home = {0};
	const char *runtime = environment->xdg_runtime_dir;
	int status;

	if (!environment->home || !environment->home[0]) {
		sb_fail(err, SB_E_INVALID, 0, "HOME is not set");
		return sb_hint(err, "set it to your home directory: HOME=/home/you sandbash ...");
	}
	if (environment->home[0] != '/') {
		sb_fail(err, SB_E_INVALID, 0, "HOME is '%s', which is no absolute path",
			environment->home);
		return sb_hint(err, "set it to your home directory: HOME=/home/you sandbash ...");
	}
	status = sb_path_canonical(environment->home, &home.home, NULL, err);
	if (status == SB_OK)
		status = current_directory(&home.cwd, err);
	home.account_home = find_account_home();
	if (status == SB_OK)
		status = sb_own_find(environment, &home, err);
	if (status == SB_OK)
		status = temp_dir(environment->tmpdir, &home, &home.tmpdir, err);
	if (status == SB_OK && runtime && runtime[0] == '/')
		status = runtime_dir(runtime, &home, &home.runtime_dir, err);
	if (status == SB_OK)
		status = find_sockets(environment->services, &home.sockets, err);
	if (status == SB_OK)
		status = find_git_settings(environment, &home.git_settings, err);
	if (status == SB_OK)
		status = sb_terminals_find(environment->other_terminal, &home.terminals, err);
	if (status == SB_OK)
		status = find_places(environment->secrets, &home, is_secret, &home.secrets, err);
	if (status == SB_OK)
		status = find_places(environment->obeyed, &home, NULL, &home.obeyed, err);
	if (status == SB_OK) {
		home.config_home = other_dir(environment->xdg_config_home, &home, ".config");
		home.data_home = other_dir(environment->xdg_data_home, &home, ".local/share");
		status = keep_named(environment, &home, err);
	}
	home.other_terminal = environment->other_terminal;
	if (status != SB_OK) {
		sb_home_done(&home);
		return status;
	}
	*out = home;
	return SB_OK;
}

void sb_home_done(struct sb_home *home)
{
	if (!home)
		return;
	free(home->home);
	free(home->cwd);
	free(home->config_dir);
	free(home->config_named);
	free(home->state_dir);
	free(home->tmpdir);
	free(home->runtime_dir);
	free(home->account_home);
	free(home->config_home);
	free(home->data_home);
	free(home->xdg_config);
	free(home->xdg_data);
	free(home->xdg_cache);
	free(home->xdg_state);
	for (int kind = 0; kind < SB_UNUSED_COUNT; kind++)
		sb_list_free(home->unused[kind]);
	sb_list_free(home->warnings);
	sb_list_free(home->secrets);
	sb_list_free(home->obeyed);
	sb_list_free(home->sockets);
	sb_list_free(home->git_settings);
	sb_list_free(home->terminals);
	*home = (struct sb_home){0};
}

const char *sb_home_of_account(const struct sb_home *home)
{
	return home->account_home && strcmp(home->account_home, home->home) != 0
		       ? home->account_home
		       : NULL;
}

struct sb_guard_homes sb_home_others(const struct sb_home *home)
{
	return (struct sb_guard_homes){.config = home->xdg_config,
				       .data = home->xdg_data,
				       .cache = home->xdg_cache,
				       .state = home->xdg_state,
				       .obeyed = (const char *const *)home->obeyed,
				       .account = sb_home_of_account(home)};
}

char *sb_global_config(const struct sb_home *home)
{
	return sb_path_join(home->config_dir, "config");
}

char *sb_directory_in(const char *base, const char *directory)
{
	char hash[SB_SHA256_HEX], name[sizeof "projects/" + 16];

	sb_sha256_hex(directory, strlen(directory), hash);
	snprintf(name, sizeof name, "projects/%.16s", hash);
	return sb_path_join(base, name);
}

char *sb_directory_config(const struct sb_home *home, const char *directory)
{
	return sb_directory_in(home->config_dir, directory);
}
