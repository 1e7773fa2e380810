#include "policy/builtin.h"

#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/each.h"
#include "base/words.h"
#include "path/path.h"
#include "policy/builtin_impl.h"
#include "policy/remembered.h"
#include "policy/start.h"
#include "policy/text.h"

static const struct sb_access use_device = {{SB_ALLOW, SB_ALLOW, SB_DENY, SB_DENY}};

#define DENIED(path, reason, none)                                                                 \
	{                                                                                          \
		path, &sb_access_deny, reason                                                      \
	}

/* Beneath /run and /var: services that do for a client what the client may not do itself. */
static const struct sb_builtin_row run_sockets[] = {
	DENIED("docker.sock", "docker gives root on this machine", ),
	SB_NAMED(DENIED, "container runtime", , "docker", "containerd", "podman", "crio",
		 "buildkit", "k3s"),
	SB_NAMED(DENIED, "types into the user's other terminals", , "tmux", "screen"),
	DENIED("libvirt", "virtual machines", ),
	DENIED("incus", "container manager", ),
	DENIED("snapd.socket", "package installer", ),
	DENIED("systemd/private", "starts services outside", ),
	DENIED("dbus/system_bus_socket", "system bus: starts services outside", ),
};

static const struct sb_builtin_row temp_sockets[] = {
	DENIED(".X11-unix", "types into any window", ),
	DENIED(".ICE-unix", "session manager", ),
};

static const struct sb_builtin_row var_sockets[] = {
	SB_NAMED(DENIED, "container manager", , "lib/incus/unix.socket", "lib/lxd/unix.socket",
		 "snap/lxd/common/lxd/unix.socket"),
};

/* Not even with the whole root opened: these are no files. */
static const struct sb_builtin_row kernel[] = {
	{"proc", &sb_access_ask, "settings of the kernel and of other programs"},
	{"sys", &sb_access_ask, "settings of the kernel and its devices"},
};

static const struct sb_builtin_row devices[] = {
	{"null", &use_device, "device"},        {"zero", &use_device, "device"},
	{"full", &use_device, "device"},        {"random", &use_device, "device"},
	{"urandom", &use_device, "device"},     {"tty", &use_device, "terminal"},
	{"ptmx", &use_device, "new terminals"}, {"pts", &use_device, "terminals"},
};

/*
 * A temp directory that holds the home directory, a project or our own files is
 * writable around that entry only: what lies there is no temporary file.
 */
static int keep_entry(struct sb_policy *policy, const char *temp, const char *path,
		      struct sb_error *err)
{
	SB_AUTO_FREE char *entry = NULL;
	size_t length;

	if (!path || !sb_path_within(temp, path) || strcmp(temp, path) == 0)
		return SB_OK;
	length = strlen(temp) + 1;
	entry = strndup(path, length + sb_first_name_length(path + length));
	if (!entry)
		return sb_no_memory(err);
	/* where the user hides what is around it, it is hidden as the rest of that */
	return sb_builtin_literal(
		policy, entry, sb_start_user_hides(policy, temp) ? &sb_access_deny : &sb_access_ask,
		"holds more than temporary files", 0, err);
}

static int add_temp_dir(struct sb_policy *policy, const struct sb_surroundings *place,
			const char *temp, const char *reason, unsigned flags, struct sb_error *err)
{
	int status = sb_builtin_literal(policy, temp, &sb_access_write, reason, flags, err);

	if (status == SB_OK)
		status = keep_entry(policy, temp, place->home, err);
	if (status == SB_OK)
		status = keep_entry(policy, temp, place->config_dir, err);
	if (status == SB_OK)
		status = keep_entry(policy, temp, place->state_dir, err);
	for (size_t i = 0; place->projects[i] && status == SB_OK; i++) {
		SB_AUTO_FREE char *parent = sb_path_parent(place->projects[i]);

		status = keep_entry(policy, temp, parent, err);
	}
	return status;
}

static bool holds_more(const struct sb_surroundings *place, const char *temp)
{
	bool more = (place->home && sb_path_within(temp, place->home)) ||
		    (place->config_dir && sb_path_within(temp, place->config_dir)) ||
		    (place->state_dir && sb_path_within(temp, place->state_dir));

	for (size_t i = 0; place->projects[i] && !more; i++)
		more = sb_path_within(temp, place->projects[i]);
	return more;
}

/*
 * The second one, for what outlives a restart; on some systems a link to the first.  Whoever lives or
 * works in it keeps it as it is: nothing needs it as programs need the first.
 */
static int add_var_tmp(struct sb_policy *policy, const struct sb_surroundings *place,
		       const char *tmp, unsigned flags, struct sb_error *err)
{
	SB_AUTO_FREE char *path = NULL;
	struct stat info;
	int status = sb_path_canonical("/var/tmp", &path, NULL, err);

	if (status != SB_OK || strcmp(path, tmp) == 0 || stat(path, &info) != 0 ||
	    !S_ISDIR(info.st_mode) || !(info.st_mode & S_ISVTX) || holds_more(place, path))
		return status;
	return add_temp_dir(policy, place, path, "temporary files", flags, err);
}

static int add_temp(struct sb_policy *policy, const struct sb_surroundings *place,
		    struct sb_error *err)
{
	SB_AUTO_FREE char *tmp = NULL;
	unsigned flags = sb_policy_tmp(policy) == SB_TMP_PRIVATE ? SB_BUILTIN_TEMP
								 : SB_BUILTIN_SHARED;
	int status = SB_OK;

	if (sb_policy_tmp(policy) != SB_TMP_OFF) {
		status = sb_path_canonical("/tmp", &tmp, NULL, err);
		if (status == SB_OK)
			status = add_temp_dir(policy, place, tmp, "temporary files", flags, err);
		if (status == SB_OK)
			status = add_var_tmp(policy, place, tmp, flags, err);
		if (status == SB_OK && place->tmpdir)
			status = add_temp_dir(policy, place, place->tmpdir,
					      "temporary files ($TMPDIR)", flags, err);
	}
	/* With the real /tmp these would be there: whoever reaches them types into any window. */
	if (status == SB_OK && sb_policy_tmp(policy) != SB_TMP_OFF)
		status = sb_builtin_table(policy, tmp, temp_sockets, SB_COUNT(temp_sockets),
					  place->existing_only
						  ? SB_BUILTIN_EXISTING_ONLY | SB_BUILTIN_SOCKETS
						  : SB_BUILTIN_SOCKETS,
					  err);
	if (status == SB_OK)
		status = add_temp_dir(policy, place, "/dev/shm", "shared memory",
				      SB_BUILTIN_ANY_MODE | SB_BUILTIN_TEMP, err);
	return status;
}

/*
 * Our own files: no rule and no mode opens them for changes (S9).  The record, sessions and sockets
 * are not even read: command lines hold passwords.
 */
static int add_config(struct sb_policy *policy, const char *directory, struct sb_error *err)
{
	SB_AUTO_FREE char *word = sb_path_join(directory, "word");
	int status = word ? sb_builtin_literal(policy, directory, &sb_access_read,
					       "sandbash's own files", SB_BUILTIN_HARD, err)
			  : sb_no_memory(err);

	return status == SB_OK ? sb_builtin_literal(policy, word, &sb_access_deny,
						    "the words that mark sandbash's own questions",
						    SB_BUILTIN_HARD, err)
			       : status;
}

static int add_state(struct sb_policy *policy, const char *directory, struct sb_error *err)
{
	return sb_builtin_literal(policy, directory, &sb_access_deny, "sandbash's own record",
				  SB_BUILTIN_HARD, err);
}

static int add_refused(struct sb_policy *policy, const char *directory, struct sb_error *err)
{
	return sb_builtin_literal(policy, directory, &sb_access_read,
				  "a place for sandbash's own files", SB_BUILTIN_HARD, err);
}

static int add_own(struct sb_policy *policy, const struct sb_surroundings *place,
		   struct sb_error *err)
{
	static int (*const add_unused[SB_UNUSED_COUNT])(
		struct sb_policy * policy, const char *directory,
		struct sb_error *err) = {add_refused, add_config, add_state};
	int status = place->state_dir ? add_state(policy, place->state_dir, err) : SB_OK;

	if (status == SB_OK && place->config_dir)
		status = add_config(policy, place->config_dir, err);
	if (status == SB_OK)
		status = sb_builtin_literal(policy, "/etc/sandbash", &sb_access_read,
					    "sandbash's own files", SB_BUILTIN_HARD, err);
	for (int kind = 0; place->unused && kind < SB_UNUSED_COUNT; kind++)
		for (char **pair = place->unused[kind]; pair && *pair && status == SB_OK; pair += 2)
			status = add_unused[kind](policy, pair[1], err);
	return status;
}

/*
 * Sockets of services, and the user's own: session bus, service manager, agents, editors and window managers listen there; any
 * one of them runs what it is told, outside.  The variable may be unset (sudo, cron) or
 * name another directory; the usual one is closed in any case.
 */
static int add_run(struct sb_policy *policy, const struct sb_surroundings *place, unsigned flags,
		   struct sb_error *err)
{
	static const char reason[] = "sockets of the user's session";
	struct sb_builtin_row rows[SB_COUNT(run_sockets) + 1];
	char name[32];
	int status = SB_OK;

	memcpy(rows, run_sockets, sizeof run_sockets);
	snprintf(name, sizeof name, "user/%u", place->uid);
	rows[SB_COUNT(run_sockets)] = (struct sb_builtin_row){name, &sb_access_deny, reason};
	if (place->runtime_dir)
		status = sb_builtin_literal(policy, place->runtime_dir, &sb_access_deny, reason, 0,
					    err);
	return status == SB_OK ? sb_builtin_table(policy, "/run", rows, SB_COUNT(rows), flags, err)
			       : status;
}

int sb_builtin_guard_links(struct sb_policy *policy, const char *path, struct sb_error *err)
{
	const struct sb_builtin_row row = {path, &sb_access_read, "leads to sandbash's own files"};

	return sb_builtin_links(policy, path, &row, SB_BUILTIN_HARD, err);
}

/*
 * A project that is not open to changes can be read as any other directory; also where a rule
 * of the user's hides what is around it.
 */
static int add_closed_project(struct sb_policy *policy, const char *project, struct sb_error *err)
{
	SB_AUTO_FREE char *parent = sb_path_parent(project);

	if (!parent || !sb_start_user_hides(policy, parent))
		return SB_OK;
	return sb_builtin_literal(policy, project, &sb_access_read, "project", 0, err);
}

/* What lies around the project, or is all of it, would close it; what lies elsewhere is closed. */
static int add_obeyed(struct sb_policy *policy, const struct sb_surroundings *place,
		      const char *project, unsigned flags, struct sb_error *err)
{
	int status = SB_OK;

	for (size_t i = 0; place->obeyed && place->obeyed[i] && status == SB_OK; i++)
		if (sb_path_within(project, place->obeyed[i]) &&
		    strcmp(project, place->obeyed[i]) != 0)
			status = sb_builtin_literal(
				policy, place->obeyed[i], &sb_access_ask,
				"obeyed outside by what the environment says: a variable, "
				"as $PATH or $EDITOR, names it",
				flags, err);
	return status;
}

int sb_builtin_add(struct sb_policy *policy, const struct sb_surroundings *place,
		   struct sb_error *err)
{
	unsigned flags = place->existing_only ? SB_BUILTIN_EXISTING_ONLY : 0;
	/* while only the user's rules are there */
	int status = place->guarded ? SB_OK : sb_builtin_guard_opened(policy, place, flags, err);

	if (status == SB_OK)
		status = sb_start_add(policy, err);
	if (status == SB_OK)
		status = sb_builtin_table(policy, "/", kernel, SB_COUNT(kernel), 0, err);
	if (status == SB_OK)
		status = add_own(policy, place, err);
	if (status == SB_OK)
		status = sb_builtin_table(policy, "/dev", devices, SB_COUNT(devices),
					  SB_BUILTIN_ANY_MODE, err);
	for (size_t i = 0; place->projects[i] && status == SB_OK; i++) {
		bool open = !place->within || sb_path_within_any(place->within, place->projects[i]);

		if (open)
			status = sb_builtin_literal(policy, place->projects[i], &sb_access_write,
						    i ? "project" : "current directory", 0, err);
		else
			status = add_closed_project(policy, place->projects[i], err);
		if (status == SB_OK && open)
			status = add_obeyed(policy, place, place->projects[i], flags, err);
		if (status == SB_OK && !place->guarded)
			status = sb_builtin_guard_root(policy, place->projects[i], flags, err);
		if (status == SB_OK && open)
			status = sb_builtin_guard_parts(policy, place, place->projects[i], flags,
							err);
	}
	for (size_t i = 0; place->within && place->within[i] && status == SB_OK; i++) {
		status = sb_builtin_literal(policy, place->within[i], &sb_access_write, "--within",
					    0, err);
		if (status == SB_OK && !place->guarded)
			status = sb_builtin_guard_root(policy, place->within[i], flags, err);
	}
	if (status == SB_OK)
		status = add_temp(policy, place, err);
	if (status == SB_OK)
		status = sb_builtin_secrets(policy, place, flags, err);
	if (status == SB_OK)
		status = sb_builtin_behind(policy, place, err);
	if (status == SB_OK)
		status = sb_remembered_add(policy, place, err);
	if (status == SB_OK)
		status = add_run(policy, place, flags, err);
	if (status == SB_OK)
		status = sb_builtin_table(policy, "/var", var_sockets, SB_COUNT(var_sockets), flags,
					  err);
	for (size_t i = 0; place->terminals && place->terminals[i] && status == SB_OK; i++)
		status = sb_builtin_literal(policy, place->terminals[i], &sb_access_deny,
					    "another terminal of the user", 0, err);
	for (size_t i = 0; place->sockets && place->sockets[i] && status == SB_OK; i++)
		status = sb_builtin_literal(policy, place->sockets[i], &sb_access_deny,
					    "a service the environment names", 0, err);
	return status;
}
