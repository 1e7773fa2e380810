#include "config/place.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/hash.h"
#include "path/path.h"

/* $NAME/sandbash if NAME is absolute (the XDG rule), else $HOME/fallback/sandbash. */
static int own_dir(const char *xdg, const char *home, const char *fallback, char **out,
		   struct sb_error *err)
{
	SB_AUTO_FREE char *base = NULL;
	SB_AUTO_FREE char *dir = NULL;

	base = xdg && xdg[0] == '/' ? strdup(xdg) : sb_path_join(home, fallback);
	dir = base ? sb_path_join(base, "sandbash") : NULL;
	if (!dir)
		return sb_fail(err, SB_E_NOMEM, 0, "out of memory");
	return sb_path_canonical(dir, out, NULL, err);
}

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

static bool is_dir(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static int temp_dir(const char *tmpdir, const struct sb_home *home, char **out, struct sb_error *err)
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
	    !is_dir(path))
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

static bool is_socket(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISSOCK(info.st_mode);
}

static int find_sockets(const char *const *services, char ***out, struct sb_error *err)
{
	size_t count = 0;

	for (size_t i = 0; services && services[i]; i++)
		count++;
	*out = calloc(count + 1, sizeof **out);
	if (!*out)
		return sb_fail(err, SB_E_NOMEM, 0, "out of memory");
	count = 0;
	for (size_t i = 0; services && services[i]; i++) {
		SB_AUTO_FREE char *path = socket_path(services[i]);
		char *canonical = NULL;

		if (path && is_socket(path) &&
		    sb_path_canonical(path, &canonical, NULL, NULL) == SB_OK)
			(*out)[count++] = canonical;
	}
	return SB_OK;
}

int sb_home_find(const struct sb_environment *environment, struct sb_home *out, struct sb_error *err)
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
	if (status == SB_OK)
		status = own_dir(environment->xdg_config_home, home.home, ".config", &home.config_dir,
				 err);
	if (status == SB_OK)
		status = own_dir(environment->xdg_state_home, home.home, ".local/state",
				 &home.state_dir, err);
	if (status == SB_OK)
		status = temp_dir(environment->tmpdir, &home, &home.tmpdir, err);
	if (status == SB_OK && runtime && runtime[0] == '/')
		status = sb_path_canonical(runtime, &home.runtime_dir, NULL, err);
	if (status == SB_OK)
		status = find_sockets(environment->services, &home.sockets, err);
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
	free(home->state_dir);
	free(home->tmpdir);
	free(home->runtime_dir);
	for (size_t i = 0; home->sockets && home->sockets[i]; i++)
		free(home->sockets[i]);
	free(home->sockets);
	*home = (struct sb_home){0};
}

char *sb_global_config(const struct sb_home *home)
{
	return sb_path_join(home->config_dir, "config");
}

char *sb_directory_config(const struct sb_home *home, const char *directory)
{
	char hash[SB_SHA256_HEX], name[sizeof "projects/" + 16];

	sb_sha256_hex(directory, strlen(directory), hash);
	snprintf(name, sizeof name, "projects/%.16s", hash);
	return sb_path_join(home->config_dir, name);
}
