/*
 * linux_confine.c - the stages of a static run, in the order they are taken.
 *
 *   1. descriptors   closes what leads out; leaves stdio, pipes, files open for reading
 *   2. namespaces    everything read-only but the roots (linux_mounts.c)
 *   3. verdict       what is not held now never will be: refuse, or go on as told
 *   4. privileges    no_new_privs, no capability in any set
 *   5. Landlock      after all mounts, since a domain forbids mounting
 *   6. seccomp       last, since the earlier stages need what it forbids
 *   7. proof         a write outside fails, a write inside works, the filter answers
 */
#include "enforce/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/buf.h"
#include "enforce/inside.h"
#include "enforce/layers.h"
#include "enforce/linux_fds.h"
#include "enforce/linux_landlock.h"
#include "enforce/linux_mounts.h"
#include "enforce/linux_seccomp.h"
#include "enforce/stages.h"
#include "path/path.h"
#include "policy/encode.h"
#include "sys/landlock.h"
#include "sys/notify.h"
#include "sys/process.h"

/* Our own files inside something writable can be held by mounts only, and must be (S9). */
static int check_own_files(const struct sb_plan *plan, const struct sb_layers *layers,
			   struct sb_error *err)
{
	if (layers->mounts || layers->outer_mounts || layers->supervised)
		return SB_OK;
	for (size_t i = sb_plan_next_stricter(plan, 0); i < plan->node_count;
	     i = sb_plan_next_stricter(plan, i + 1)) {
		const struct sb_plan_node *node = &plan->nodes[i];

		if (!node->rule || !node->rule->hard || plan->nodes[node->parent].temp)
			continue;
		sb_fail(err, SB_E_UNSUPPORTED, 0,
			"cannot protect '%s', which lies inside a writable directory (%s)",
			node->path, layers->no_mounts);
		return sb_hint(err, "start in a directory that does not contain it");
	}
	return SB_OK;
}

int sb_stages_give_verdict(const struct sb_stages *stages, struct sb_error *err)
{
	const struct sb_plan *plan = stages->plan;
	const struct sb_layers *layers = stages->layers;
	struct sb_weaknesses *weak = stages->weak;
	int status;

	sb_weaknesses_find(layers, plan, weak);
	if (!layers->mounts && layers->landlock_abi < 1) {
		sb_fail(err, SB_E_UNSUPPORTED, 0,
			"this machine offers neither Landlock nor mount namespaces (%s)",
			layers->no_mounts);
		return sb_hint(err, "sandbash --doctor says what is missing and how to get it");
	}
	status = check_own_files(plan, layers, err);
	if (status != SB_OK)
		return status;
	if (!plan->network && !layers->net_namespace && !layers->seccomp)
		return sb_fail(
			err, SB_E_UNSUPPORTED, 0,
			"this machine offers neither network namespaces nor seccomp filters: "
			"the network cannot be closed");
	if (plan->gate && !layers->gate && !stages->options->best_effort) {
		sb_fail(err, SB_E_UNSUPPORTED, 0,
			"rules about hosts, and 'network ask', cannot be held: %s",
			sb_layers_why_no_gate(layers));
		return sb_hint(err, "--network=on or --network=off; --best-effort closes the "
				    "network");
	}
	/* Inside another run its layers still hold; ours can only tighten. */
	if (layers->outer)
		sb_weaknesses_nested(layers, plan, weak);
	if (weak->open && !stages->options->best_effort && !layers->outer) {
		sb_fail(err, SB_E_UNSUPPORTED, 0,
			"this machine cannot hold everything a sandbox promises");
		return sb_hint(err, "sandbash --doctor says how to get it all; "
				    "--best-effort runs with less");
	}
	if (layers->stuck) { /* whatever was allowed to be missing */
		sb_fail(err, SB_E_BROKEN, 0,
			"the mounts failed half way, and there is no way back: %s",
			layers->no_mounts);
		return stages->supervised ? sb_hint(err, "--best-effort does without them")
					  : SB_E_BROKEN;
	}
	return SB_OK;
}

/* The current directory once more, now as the sandbox sees it. */
static int return_to(const char *cwd, const struct stat *before, struct sb_error *err)
{
	struct stat after;

	if (chdir(cwd) != 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot enter '%s' inside the sandbox",
			       cwd);
	if (stat(".", &after) != 0 || after.st_dev != before->st_dev ||
	    after.st_ino != before->st_ino)
		return sb_fail(err, SB_E_BROKEN, 0, "'%s' is another directory inside the sandbox",
			       cwd);
	return SB_OK;
}

/* An unnamed file: the attempt leaves nothing behind even where it succeeds. */
static int try_write(const char *dir)
{
	SB_AUTO_FD int fd = open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);

	return fd < 0 ? errno : 0;
}

static bool name_probe(char *out, size_t size, const char *dir)
{
	return snprintf(out, size, "%s/.sandbash-probe", dir) < (int)size;
}

/*
 * A new name, where that must be refused: the kernel says so before it makes anything.  Of an
 * unnamed file Landlock is asked when it is there already, which on a disk takes ten times as long.
 */
static int try_create(const char *dir)
{
	char path[PATH_MAX];
	SB_AUTO_FD int fd = -1;

	if (!name_probe(path, sizeof path, dir))
		return try_write(dir);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno == EEXIST ? try_write(dir) : errno;
	unlink(path);
	return 0;
}

/*
 * Would a new name in dir be allowed?  Of a device file the kernel asks last whether the caller may
 * make such a thing (vfs_mknod()), which without capabilities nobody may.  So EPERM says that all
 * else agreed: permissions, mounts, Landlock.  An unnamed file takes ten times as long on a disk.
 */
static int try_name(const char *dir)
{
	char path[PATH_MAX];

	if (!name_probe(path, sizeof path, dir))
		return try_write(dir);
	if (mknod(path, S_IFCHR, makedev(1, 3)) == 0) {
		unlink(path); /* we have more rights than we should: see what else they do */
		return try_write(dir);
	}
	return errno == EPERM ? 0 : errno == EEXIST ? try_write(dir) : errno;
}

/* Could the user write here, and must the run not?  Not inside something writable: that
 * part may be one that only mounts can hold, and then was said not to be held. */
static bool is_outside(const struct sb_plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->node_count; i++)
		if (plan->nodes[i].state == SB_STATE_WRITABLE &&
		    sb_path_within(plan->nodes[i].path, path))
			return false;
	return sb_plan_state_at(plan, path) == SB_STATE_READABLE && access(path, W_OK | X_OK) == 0;
}

/*
 * Where a write proves something: outside, a directory where it would have worked
 * without us (access() asks the kernel, so before the sandbox is set up); inside,
 * the first writable one that is not temporary.  buffer is for the former's name.
 */
static struct sb_probes choose_probes(const struct sb_plan *plan, char *buffer, size_t size)
{
	struct sb_probes probes = {0};

	for (size_t i = 0; i < plan->node_count; i++) {
		const struct sb_plan_node *node = &plan->nodes[i];

		if (node->kind != SB_KIND_DIR)
			continue;
		if (!probes.outside && is_outside(plan, node->path))
			probes.outside = node->path;
		if (!probes.inside && node->state == SB_STATE_WRITABLE && !node->temp &&
		    !node->fast && (node->allow & 1u << SB_CREATE) &&
		    (node->allow & 1u << SB_MODIFY) && !sb_path_within("/dev", node->path) &&
		    access(node->path, W_OK | X_OK) == 0)
			probes.inside = node->path;
	}
	/* No rule names such a directory: try those around the current one. */
	snprintf(buffer, size, "%s", plan->cwd);
	while (!probes.outside && strcmp(buffer, "/") != 0) {
		char *slash = strrchr(buffer, '/');

		slash[slash == buffer] = '\0';
		if (is_outside(plan, buffer))
			probes.outside = buffer;
	}
	return probes;
}

static bool is_readonly(const char *path)
{
	struct statvfs info;

	return statvfs(path, &info) == 0 && (info.f_flag & ST_RDONLY);
}

/* Other layers may refuse what these were to hold, so ask for each what it is. */
static bool mounts_hold(const struct sb_plan *plan)
{
	if (plan->nodes[0].state != SB_STATE_WRITABLE && !is_readonly("/"))
		return false;
	for (size_t i = 0; i < plan->mount_count; i++)
		if (plan->mounts[i].kind == SB_MOUNT_READONLY && !is_readonly(plan->mounts[i].path))
			return false;
	return true;
}

static int prove_layers(const struct sb_stages *stages, struct sb_error *err)
{
	const struct sb_layers *layers = stages->layers;

	if (layers->mounts && !mounts_hold(stages->plan))
		return sb_fail(err, SB_E_BROKEN, 0,
			       "the sandbox does not hold: a mount is not read-only");
	/* Our parent is outside.  (0: it is in another pid namespace, out of reach anyway.) */
	if (layers->landlock_abi >= 6 && getppid() > 0 && kill(getppid(), 0) == 0)
		return sb_fail(err, SB_E_BROKEN, 0,
			       "the sandbox does not hold: a program outside can be signalled");
	return SB_OK;
}

static int prove_filter(const struct sb_layers *layers, struct sb_error *err)
{
	bool mounts;

	if (layers->seccomp && sb_inside(&mounts) != layers->outer + 1)
		return sb_fail(err, SB_E_BROKEN, 0, "the system call filter does not answer");
	return SB_OK;
}

static int prove_refused(const char *dir, int (*attempt)(const char *dir), struct sb_error *err)
{
	int error = dir ? attempt(dir) : EACCES;

	if (error != EACCES && error != EPERM && error != EROFS)
		return sb_fail(err, SB_E_BROKEN, error,
			       "the sandbox does not hold: a write in '%s' was not refused", dir);
	return SB_OK;
}

/* Full disks, filesystems without O_TMPFILE and spent descriptors are not the sandbox's doing. */
static bool is_excused(int error)
{
	return error == ENOSPC || error == EDQUOT || error == EIO || error == EOPNOTSUPP ||
	       error == EISDIR || error == EMFILE || error == ENFILE;
}

static int prove_allowed(const char *dir, int (*attempt)(const char *dir), struct sb_error *err)
{
	int error = dir ? attempt(dir) : 0;

	if (error && !is_excused(error))
		return sb_fail(err, SB_E_BROKEN, error,
			       "the sandbox is too tight: '%s' cannot be written", dir);
	return SB_OK;
}

static int prove_inside(const struct sb_stages *stages, struct sb_error *err)
{
	/* inside another run a supervisor may answer, and for other reasons */
	return prove_allowed(stages->probes.inside, stages->layers->outer ? try_write : try_name,
			     err);
}

/*
 * SECURITY: before the command starts, this very process proves that it is confined.
 *
 * Danger: a layer that reported success and holds nothing (a kernel bug, a mistake
 * of ours, an emulated kernel) would let the command run free.
 * Price: a handful of system calls.
 * Held by: tests/enforce/proof.py
 */
static int prove(const struct sb_stages *stages, struct sb_error *err)
{
	int status = prove_layers(stages, err);

	if (status == SB_OK)
		status = prove_filter(stages->layers, err);
	if (status == SB_OK)
		status = prove_refused(stages->probes.outside, try_write, err);
	return status == SB_OK ? prove_inside(stages, err) : status;
}

/* The same for a command whose changes a broker makes: by itself it can make none. */
int sb_stages_prove_floor(const struct sb_stages *stages, struct sb_error *err)
{
	int status = prove_layers(stages, err);

	if (status == SB_OK)
		status = prove_refused(stages->probes.outside, try_write, err);
	if (status == SB_OK && stages->layers->landlock_abi)
		status = prove_refused(stages->probes.inside, try_create, err);
	return status;
}

int sb_stages_prove_broker(const struct sb_stages *stages, struct sb_error *err)
{
	static const struct timespec both_stay[2] = {{0, UTIME_OMIT}, {0, UTIME_OMIT}};
	int status = prove_filter(stages->layers, err);

	/* what the kernel would answer otherwise: nobody has a layer of his own in a supervised run */
	if (status == SB_OK && stages->layers->landlock_abi && sb_sys_landlock_abi() > 0)
		status = sb_fail(err, SB_E_BROKEN, 0, "the supervisor holds nothing");
	if (status == SB_OK && sb_layers_hold_signals(stages->layers) && kill(getppid(), 0) == 0)
		status = sb_fail(err, SB_E_BROKEN, 0,
				 "the sandbox does not hold: a program outside can be signalled");
	/* changes nothing, and is held like any other: there is somebody who reads our memory */
	if (status == SB_OK && utimensat(AT_FDCWD, ".", both_stay, 0) != 0)
		status = sb_fail(err, SB_E_BROKEN, errno, "the supervisor does not answer");
	return status;
}

int sb_stages_prove_performer(const struct sb_stages *stages, struct sb_error *err)
{
	return prove_inside(stages, err);
}

static int no_privileges(int status, struct sb_error *err)
{
	return status < 0 ? sb_fail(err, SB_E_SYSTEM, -status, "cannot give up privileges") : SB_OK;
}

uint64_t sb_stages_filter_rights(const struct sb_layers *layers)
{
	return layers->user_namespace ? 0 : SB_CAPABILITY(CAP_SYS_ADMIN);
}

int sb_stages_drop_privileges(const struct sb_layers *layers, struct sb_error *err)
{
	int status = sb_sys_no_new_privs();

	if (status == 0)
		status = sb_sys_drop_capabilities(sb_stages_filter_rights(layers));
	return no_privileges(status, err);
}

int sb_stages_drop_last(struct sb_error *err)
{
	return no_privileges(sb_sys_keep_capabilities(0), err);
}

static void start_layers(struct sb_layers *layers)
{
	int abi = sb_sys_landlock_abi();

	*layers = (struct sb_layers){.landlock_abi = abi > 0 ? abi : 0, .queues = -1, .spares = -1};
	layers->outer = sb_inside(&layers->outer_mounts);
	layers->seccomp = sb_sys_filter_available();
}

int sb_stages_begin(struct sb_stages *stages, struct sb_error *err)
{
	start_layers(stages->layers);
	stages->layers->supervised = stages->supervised;
	stages->layers->no_copies = stages->supervised && !sb_sys_can_copy_descriptors();
	stages->layers->interrupts = stages->supervised && sb_sys_signals_end_held_calls();
	if (stat(".", &stages->cwd) != 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot look at the current directory");
	stages->probes =
		choose_probes(stages->plan, stages->probe_buffer, sizeof stages->probe_buffer);
	/* a worker that another one called: the supervisor around it would ask somebody about that */
	if (stages->plan->view && stages->layers->outer)
		stages->probes.outside = NULL;
	return SB_OK;
}

int sb_stages_enter(struct sb_stages *stages, struct sb_error *err)
{
	struct sb_fds fds = {0};
	int status = sb_fds_settle(stages->options->keep_fds, stages->options->keep_fd_count,
				   stages->plan, &fds, err);

	/* a supervisor can do without mounts, if it is not stuck among those that failed */
	if (status == SB_OK)
		status = sb_mounts_enter(stages->plan,
					 !stages->options->best_effort && !stages->layers->outer &&
						 !(stages->supervised && sb_mounts_are_doubtful()),
					 stages->layers, err);
	if (status == SB_OK)
		sb_fds_reopen(&fds, stages->plan, stages->layers->mounts);
	if (status == SB_OK && stages->layers->mounts)
		status = return_to(stages->plan->cwd, &stages->cwd, err);
	sb_fds_done(&fds);
	stages->layers->listings = sb_layers_hold_listings(stages->layers, stages->plan);
	return status;
}

/*
 * Inside a supervised run: its broker acts for us and is bound by its own rules only, so it
 * has to know ours.  *out_held: it holds them from now on; *out_hosts: also those about hosts.
 */
static int register_rules(const struct sb_stages *stages, bool *out_held, bool *out_hosts,
			  struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf bytes = SB_BUF(SB_POLICY_BYTES);
	int answer;

	*out_held = *out_hosts = false;
	if (!stages->layers->outer || !stages->options->policy)
		return SB_OK;
	sb_buf_puts(&bytes, stages->options->note ? stages->options->note : "");
	sb_buf_putc(&bytes, '\0');
	sb_policy_encode(stages->options->policy, &bytes);
	if (sb_buf_failed(&bytes))
		return sb_fail(err, SB_E_NOMEM, 0, "too many rules for a nested run");
	answer = prctl((int)SB_REGISTER, bytes.data, bytes.length, 0, 0);
	*out_held = answer >= 0;
	*out_hosts = answer == SB_HOLDS_HOSTS;
	if (answer < 0 && errno != EINVAL) /* EINVAL: the outer run has no supervisor */
		return sb_fail(err, SB_E_SYSTEM, errno,
			       "cannot tell the outer supervisor the rules");
	return SB_OK;
}

int sb_confine(const struct sb_plan *plan, const struct sb_confine_options *options,
	       struct sb_layers *out_layers, struct sb_weaknesses *out_weak, struct sb_error *err)
{
	struct sb_stages stages = {
		.plan = plan, .options = options, .layers = out_layers, .weak = out_weak};
	struct sb_plan inherited = *plan;
	bool held, hosts;
	int status = sb_stages_begin(&stages, err);

	if (status == SB_OK)
		status = register_rules(&stages, &held, &hosts, err);
	if (status == SB_OK && held) { /* Landlock was not to be had before */
		start_layers(out_layers);
		out_layers->supervised = true;
	}
	/* the network around us is the one that is meant */
	if (status == SB_OK && plan->gate && hosts) {
		inherited.network = out_layers->gate = true;
		stages.plan = plan = &inherited;
	}
	if (status == SB_OK)
		status = sb_stages_enter(&stages, err);
	if (status == SB_OK)
		status = sb_stages_give_verdict(&stages, err);
	if (status == SB_OK)
		status = sb_stages_drop_privileges(out_layers, err);
	if (status == SB_OK && out_layers->landlock_abi)
		status = sb_landlock_enter(plan, out_layers, false, err);
	if (status == SB_OK && out_layers->seccomp)
		status = sb_filter_enter(plan, out_layers, err);
	if (status == SB_OK)
		status = sb_stages_drop_last(err);
	if (status == SB_OK)
		status = prove(&stages, err);
	return status;
}

int sb_layers_probe(bool network_off, struct sb_layers *out_layers, struct sb_error *err)
{
	start_layers(out_layers);
	return sb_mounts_probe(!network_off, out_layers, err);
}
