/*
 * doctor.c - --doctor: each kernel feature, there or not, what is weaker or different without it
 * and how to get it.  Exit status 0 only where a plain run keeps every promise: what one feature
 * lacks another may hold.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "cli/cli.h"
#include "cli/shell.h"
#include "enforce/confine.h"
#include "supervise/supervise.h"
#include "sys/landlock.h"
#include "sys/notify.h"
#include "sys/process.h"

struct finding {
	const char *name;
	bool there;
	bool needed; /* for a full sandbox */
	char detail[200];
	const char *without; /* what is weaker */
	const char *remedy;
};

/* Is this a container?  Its runtime leaves one of these; who has neither is told all. */
static bool in_container(void)
{
	return access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0;
}

/* ID or ID_LIKE of os-release(5) names the distribution. */
static bool is_like(const char *distribution)
{
	SB_AUTO_FILE FILE *file = fopen("/etc/os-release", "re");
	char line[256];
	bool found = false;

	while (file && !found && fgets(line, sizeof line, file))
		found = strncmp(line, "ID", 2) == 0 && strstr(line, distribution);
	return found;
}

/* A setting that is one number; -1: this kernel does not have it. */
static long setting(const char *name)
{
	char path[128];
	long value = -1;
	SB_AUTO_FILE FILE *file = NULL;

	snprintf(path, sizeof path, "/proc/sys/%s", name);
	file = fopen(path, "re");
	if (file && fscanf(file, "%ld", &value) != 1)
		value = -1;
	return value;
}

static bool is_wsl(void)
{
	struct utsname kernel;

	return uname(&kernel) == 0 && strstr(kernel.release, "microsoft");
}

/* Boot parameters are set in other ways by each family of distributions. */
static const char *landlock_remedy(int error)
{
	if (error == -EOPNOTSUPP && (is_like("rhel") || is_like("fedora") || is_like("amzn")))
		return "put landlock first in the kernel's list of security modules: grubby "
		       "--update-kernel=ALL --args=lsm=landlock,... with the names in "
		       "/sys/kernel/security/lsm, and reboot";
	if (error == -EOPNOTSUPP && is_like("debian"))
		return "put landlock first in the kernel's list of security modules: "
		       "lsm=landlock,... with the names in /sys/kernel/security/lsm, in "
		       "GRUB_CMDLINE_LINUX of /etc/default/grub; update-grub, and reboot";
	if (error == -EOPNOTSUPP)
		return "add landlock to the kernel's lsm= boot parameter";
	if (is_wsl())
		return "a kernel of your own with CONFIG_SECURITY_LANDLOCK, named in .wslconfig "
		       "(kernel=)";
	return "use Linux 5.13 or newer with CONFIG_SECURITY_LANDLOCK; in a container, let the "
	       "landlock system calls through";
}

/* The first reason that is one: settings that allow it are none. */
static const char *namespace_remedy(void)
{
	if (setting("user/max_user_namespaces") == 0)
		return "sysctl user.max_user_namespaces=15000; and in a file of /etc/sysctl.d";
	if (setting("kernel/unprivileged_userns_clone") == 0)
		return "sysctl kernel.unprivileged_userns_clone=1; and in a file of /etc/sysctl.d";
	if (getenv("KUBERNETES_SERVICE_HOST"))
		return "a Pod with seccompProfile and appArmorProfile of type Unconfined in its "
		       "securityContext";
	if (in_container())
		return "start the container with --security-opt seccomp=unconfined --security-opt "
		       "apparmor=unconfined, or with --cap-add SYS_ADMIN";
	if (access("/dev/lxd", F_OK) == 0 || access("/dev/.lxc", F_OK) == 0)
		return "outside the container: lxc config set NAME security.nesting=true";
	if (setting("kernel/apparmor_restrict_unprivileged_userns") == 1)
		return "sandbash's AppArmor profile: the Debian package loads it, "
		       "PREFIX/share/sandbash/apparmor says how; or sysctl "
		       "kernel.apparmor_restrict_unprivileged_userns=0";
	if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 0)
		return "a seccomp filter is in force here; in a container: --security-opt "
		       "seccomp=unconfined or --cap-add SYS_ADMIN";
	return "a kernel with CONFIG_USER_NS, and a security module that allows them";
}

static bool can_read_child(void)
{
	static const char byte = 'x';
	char copy;
	pid_t child = fork();
	ssize_t got;

	if (child < 0)
		return true; /* who knows */
	if (child == 0) {
		pause();
		_exit(0);
	}
	sb_sys_read_memory_by(open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	got = sb_sys_read_memory(child, (uintptr_t)&byte, &copy, 1);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return got == 1;
}

/* With a user namespace of its own the supervisor has the capability that Yama's 2 asks for. */
static bool can_read_memory(const struct sb_layers *layers)
{
	long scope = setting("kernel/yama/ptrace_scope");

	if (scope == 2)
		return layers->user_namespace || sb_sys_has_capability(CAP_SYS_PTRACE);
	return scope < 2 && can_read_child();
}

static const char *memory_remedy(void)
{
	switch (setting("kernel/yama/ptrace_scope")) {
	case 3:
		return "kernel.yama.ptrace_scope=1 in a file of /etc/sysctl.d, and reboot: from 3 "
		       "it cannot be lowered";
	case 2:
		return "sysctl kernel.yama.ptrace_scope=1, or user namespaces";
	default:
		return access("/sys/fs/selinux", F_OK) == 0
			       ? "setsebool -P deny_ptrace off"
			       : "in a container: let process_vm_readv and reading /proc/PID/mem "
				 "through";
	}
}

enum feature {
	MOUNTS,
	LANDLOCK,
	SCOPES,
	DEVICES,
	SECCOMP,
	HELD,
	WAITING,
	COPYING,
	MEMORY,
	NETWORK,
	FEATURES,
};

/* What is known beforehand of each; examine() fills in the rest. */
static const struct finding features[FEATURES] = {
	[MOUNTS] = {.name = "mount namespace",
		    .without = "the real /tmp is used, in which others' names are closed; POSIX "
			       "message queues are refused, core dumps are left in fast roots "
			       "alone, processes outside are seen, and --static needs "
			       "--best-effort, which holds much less there"},
	[LANDLOCK] = {.name = "Landlock",
		      .without =
			      "no second layer beneath the supervisor's, no core dumps, and fast "
			      "roots are no faster"},
	[SCOPES] = {.name = "Landlock scopes",
		    .detail = "signals and abstract unix sockets, ABI 6",
		    .without = "only a pid namespace or the supervisor keeps signals inside, and "
			       "static runs have neither; so with abstract sockets",
		    .remedy = "use Linux 6.12 or newer"},
	[DEVICES] = {.name = "Landlock devices",
		     .detail = "ioctl on device files, ABI 5",
		     .without = "devices that no rule opens are hidden",
		     .remedy = "use Linux 6.10 or newer"},
	[SECCOMP] = {.name = "seccomp filter",
		     .needed = true,
		     .detail = "refuses little-used and dangerous system calls",
		     .without = "keystrokes can be faked on the terminal",
		     .remedy = "use a kernel with CONFIG_SECCOMP_FILTER"},
	[HELD] = {.name = "held system calls",
		  .needed = true,
		  .detail = "for asking at the moment of the operation",
		  .without = "only --static runs are possible, which ask nobody",
		  .remedy = "use Linux 5.14 or newer (gVisor has none of it), and start it where "
			    "no other program holds system calls"},
	[WAITING] = {.name = "calls that wait",
		     .detail = "for their answer when a signal comes",
		     .without = "a program whose handlers have no SA_RESTART sees EINTR from calls "
				"such as open, mkdir and rename",
		     .remedy = "use Linux 5.19 or newer"},
	[COPYING] = {.name = "pidfd_getfd",
		     .detail = "for connecting the command's sockets in its place",
		     .without = "sockets are made in its place, too; of more than a thousand that "
				"are open and not connected the oldest can no longer be",
		     .remedy = "in a container: --security-opt seccomp=unconfined, or --cap-add "
			       "SYS_PTRACE"},
	[MEMORY] = {.name = "reading memory",
		    .needed = true,
		    .detail = "of the command, for the supervisor",
		    .without = "no system call can be looked at: only --static runs are possible"},
	[NETWORK] = {.name = "network namespace",
		     .detail = "for --network=off with a loopback, and --network=ask",
		     .without = "--network=off still holds, but leaves no loopback either; "
				"--network=ask and rules about hosts are refused, and agents have "
				"the network on",
		     .remedy = "the same as for the mount namespace"},
};

static int examine(struct finding *found, struct sb_layers *layers, struct sb_error *err)
{
	int abi = sb_sys_landlock_abi();
	struct sb_error unsupervised;
	struct sb_layers net;
	int status = sb_layers_probe(false, layers, err);

	if (status == SB_OK)
		status = sb_layers_probe(true, &net, err);
	if (status != SB_OK)
		return status;
	memcpy(found, features, sizeof features);
	found[MOUNTS].there = layers->mounts;
	found[MOUNTS].needed = abi < 1; /* else Landlock and the supervisor hold the same */
	found[MOUNTS].remedy = namespace_remedy();
	snprintf(found[MOUNTS].detail, sizeof found->detail, "%s",
		 !layers->mounts          ? layers->no_mounts
		 : layers->user_namespace ? "through a user namespace"
					  : "with CAP_SYS_ADMIN");
	found[LANDLOCK].there = abi > 0;
	found[LANDLOCK].needed = !layers->mounts;
	found[LANDLOCK].remedy = landlock_remedy(abi);
	if (abi > 0)
		snprintf(found[LANDLOCK].detail, sizeof found->detail, "ABI %d", abi);
	else
		snprintf(found[LANDLOCK].detail, sizeof found->detail, "%s", strerror(-abi));
	found[SCOPES].there = abi >= 6;
	found[DEVICES].there = abi >= 5;
	found[SECCOMP].there = layers->seccomp;
	found[HELD].there = layers->outer || sb_supervise_possible(&unsupervised) == SB_OK;
	found[WAITING].there = layers->outer || !sb_sys_signals_end_held_calls();
	found[COPYING].there = layers->outer || sb_sys_can_copy_descriptors();
	found[MEMORY].there = layers->outer || can_read_memory(layers);
	found[MEMORY].remedy = memory_remedy();
	found[NETWORK].there = net.net_namespace;
	return SB_OK;
}

static bool is_full(const struct finding *found)
{
	for (size_t i = 0; i < FEATURES; i++)
		if (found[i].needed && !found[i].there)
			return false;
	return true;
}

static const char *what_is_left(const struct finding *found, const struct sb_layers *layers)
{
	if (!layers->mounts && layers->landlock_abi < 1)
		return "nor is a lesser one";
	if (!found[MEMORY].there)
		return "--static runs with the kernel layers only";
	return "--best-effort runs with what there is";
}

static void doctor_text(const struct finding *found, const struct sb_layers *layers,
			const char *alias, struct sb_buf *out)
{
	for (size_t i = 0; i < FEATURES; i++) {
		sb_buf_printf(out, "%-4s %-18s %s\n",
			      found[i].there    ? "ok"
			      : found[i].needed ? "MISS"
						: "less",
			      found[i].name, found[i].detail);
		if (!found[i].there)
			sb_buf_printf(out, "     without it: %s\n     to get it:  %s\n",
				      found[i].without, found[i].remedy);
	}
	if (alias[0])
		sb_buf_printf(out,
			      "note %s makes 'sandbash' an alias or function; 'command sandbash' "
			      "avoids it\n",
			      alias);
	if (layers->outer)
		sb_buf_puts(
			out,
			"this is inside a sandbash run: its layers hold, a run inside stacks on "
			"them\n");
	else if (is_full(found))
		sb_buf_puts(out, "a full sandbox is possible here\n");
	else
		sb_buf_printf(out, "a full sandbox is not possible here; %s\n",
			      what_is_left(found, layers));
}

static void doctor_json(const struct finding *found, const struct sb_layers *layers,
			const char *alias, struct sb_buf *out)
{
	struct sb_json json = sb_json_object(out);

	sb_json_pair_bool(&json, "full", is_full(found));
	sb_json_pair_int(&json, "inside", layers->outer);
	sb_json_pair(&json, "alias", alias[0] ? alias : NULL);
	sb_json_open_at(&json, "features", '[');
	for (size_t i = 0; i < FEATURES; i++) {
		sb_json_open(&json, '{');
		sb_json_pair(&json, "name", found[i].name);
		sb_json_pair_bool(&json, "there", found[i].there);
		sb_json_pair_bool(&json, "needed", found[i].needed);
		sb_json_pair(&json, "detail", found[i].detail);
		sb_json_pair(&json, "without", found[i].without);
		sb_json_pair(&json, "remedy", found[i].remedy);
		sb_json_close(&json, '}');
	}
	sb_json_close(&json, ']');
	sb_json_close(&json, '}');
}

int sb_cli_doctor(const struct sb_command_line *line)
{
	SB_AUTO_BUF struct sb_buf out = SB_BUF(SB_OUTPUT_LIMIT);
	struct finding found[FEATURES];
	struct sb_setup_request request = sb_request(line, true);
	struct sb_layers layers;
	SB_AUTO_HOME struct sb_home home = {0};
	struct sb_error err;
	char alias[4200] = "";
	int status = examine(found, &layers, &err);

	if (status != SB_OK)
		return sb_report(&err);
	if (sb_home_find(&request.environment, &home, NULL) == SB_OK)
		sb_shell_alias(home.home, alias, sizeof alias);
	if (line->json)
		doctor_json(found, &layers, alias, &out);
	else
		doctor_text(found, &layers, alias, &out);
	status = sb_print(&out);
	if (status)
		return status;
	return is_full(found) ? 0 : 1;
}
