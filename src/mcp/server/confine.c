/*
 * confine.c - Landlock for the server itself.
 *
 * SECURITY: the process that parses a client's bytes and works on files.
 *
 * Danger: a mistake in our path code would read or write anywhere in the user's name.  After
 * this, reading and writing end at the projects (and at what rules open to changes), whatever
 * the code believes; approved operations elsewhere, and what rules let be read or made there, are
 * the keeper's.  Rules inside a project
 * are held by the path code alone, since Landlock cannot take back what a parent grants.
 * Price: files that libraries would load later cannot be: there are none.
 * Held by: tests/mcp/confined.py
 *
 * Stages: no core and nobody's to look into (also without Landlock), no_new_privs (Landlock wants
 * it), then the domain.  Metadata (chmod, utimes) is not Landlock's; descriptors that are open
 * stay: the client's pipes and the keeper's link.
 *
 * Where the user has turned the sandbox off (P1) there is no domain, since tools then have every file of
 * the user's.  A worker's server has one all the same: what a worker has is no matter of the mode.
 */
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "mcp/server/server.h"
#include "policy/policy_impl.h"
#include "sys/landlock.h"
#include "sys/process.h"

#define READS (SB_LL_READ_FILE | SB_LL_READ_DIR)

static uint64_t all_rights(int abi)
{
	uint64_t rights = SB_LL_EXECUTE | READS | SB_LL_WRITE_FILE | SB_LL_REMOVE_DIR |
			  SB_LL_REMOVE_FILE | SB_LL_MAKE_CHAR | SB_LL_MAKE_DIR | SB_LL_MAKE_REG |
			  SB_LL_MAKE_SOCK | SB_LL_MAKE_FIFO | SB_LL_MAKE_BLOCK | SB_LL_MAKE_SYM;

	if (abi >= 2)
		rights |= SB_LL_REFER;
	if (abi >= 3)
		rights |= SB_LL_TRUNCATE;
	if (abi >= 5)
		rights |= SB_LL_IOCTL_DEV;
	return rights;
}

/* Never devices, sockets or programs to run, whoever owns the directory. */
#define NEVER                                                                                      \
	(SB_LL_EXECUTE | SB_LL_MAKE_CHAR | SB_LL_MAKE_BLOCK | SB_LL_MAKE_SOCK | SB_LL_MAKE_FIFO |  \
	 SB_LL_IOCTL_DEV)

static int grant(int ruleset, const char *path, uint64_t rights, struct sb_error *err)
{
	SB_AUTO_FD int fd = sb_sys_open_path(path);
	struct stat info;
	int status;

	if (fd < 0 || fstat(fd, &info) != 0 || S_ISLNK(info.st_mode))
		return SB_OK; /* not there: nothing to open */
	if (!S_ISDIR(info.st_mode))
		rights &= SB_LL_READ_FILE | SB_LL_WRITE_FILE | SB_LL_TRUNCATE;
	status = sb_sys_landlock_add_path(ruleset, fd, rights);
	return status < 0 ? sb_fail(err, SB_E_SYSTEM, -status, "cannot confine the server to '%s'",
				    path)
			  : SB_OK;
}

static bool opens_changes(const struct sb_rule *rule)
{
	return rule->access.verdict[SB_MODIFY] == SB_ALLOW ||
	       rule->access.verdict[SB_CREATE] == SB_ALLOW ||
	       rule->access.verdict[SB_DELETE] == SB_ALLOW;
}

/* What it has: all that its calls here are about. */
static int grant_worker(int ruleset, const struct sb_tool_worker *worker, uint64_t rights,
			struct sb_error *err)
{
	int status = SB_OK;

	for (size_t i = 0; i < worker->has.count && status == SB_OK; i++) {
		const struct sb_zone *zone = &worker->has.all[i];

		status = grant(ruleset, zone->path, zone->mode == SB_ZONE_RW ? rights : READS, err);
	}
	return status;
}

static int grant_projects(int ruleset, const struct sb_setup *setup, uint64_t rights,
			  struct sb_error *err)
{
	bool read_only = sb_policy_mode(setup->policy) == SB_MODE_READ_ONLY;
	int status = SB_OK;

	for (size_t i = 0; setup->projects[i] && status == SB_OK; i++)
		status = grant(ruleset, setup->projects[i], read_only ? READS : rights, err);
	for (size_t i = 0; i < sb_policy_count(setup->policy) && status == SB_OK; i++) {
		const struct sb_rule *rule = sb_policy_rule(setup->policy, i);
		const struct sb_pattern *pattern = sb_policy_pattern(setup->policy, i);

		if (rule->tier != SB_TIER_BUILTIN && opens_changes(rule) && !pattern->glob)
			status = grant(ruleset, pattern->prefix, rights, err);
	}
	return status;
}

int sb_mcp_confine(const struct sb_setup *setup, const struct sb_tool_worker *worker,
		   struct sb_error *err)
{
	int abi = sb_sys_landlock_abi(), status = SB_OK;
	struct sb_ll_ruleset rules = {0};
	SB_AUTO_FD int ruleset = -1;
	uint64_t granted;

	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (sb_policy_mode(setup->policy) == SB_MODE_DANGER_FULL_ACCESS && !worker)
		return SB_OK;
	if (abi < 1) {
		sb_fail(err, SB_E_UNSUPPORTED, -abi,
			"the server cannot confine itself: no Landlock");
		return sb_hint(err, "--best-effort serves without");
	}
	rules.handled_fs = all_rights(abi);
	if (abi >= 4)
		rules.handled_net = SB_LL_NET_BIND_TCP | SB_LL_NET_CONNECT_TCP;
	if (abi >= 6)
		rules.scoped = SB_LL_SCOPE_ABSTRACT_UNIX | SB_LL_SCOPE_SIGNAL;
	ruleset = sb_sys_landlock_create(&rules, abi);
	if (ruleset < 0)
		return sb_fail(err, SB_E_SYSTEM, -ruleset, "cannot make a Landlock ruleset");
	granted = rules.handled_fs & ~NEVER;
	status = worker ? grant_worker(ruleset, worker, granted, err)
			: grant_projects(ruleset, setup, granted, err);
	if (status != SB_OK)
		return status;
	status = sb_sys_no_new_privs();
	if (status >= 0)
		status = sb_sys_landlock_restrict(ruleset);
	return status < 0 ? sb_fail(err, SB_E_SYSTEM, -status, "cannot enter the Landlock domain")
			  : SB_OK;
}
