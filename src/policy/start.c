#include "policy/start.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/each.h"
#include "path/path.h"
#include "policy/policy_impl.h"
#include "policy/text.h"

#define ROW(path, reason, none)                                                                    \
	{                                                                                          \
		path, reason                                                                       \
	}

/*
 * Links are followed, so /lib may be /usr/lib.  What lies in a row above is not repeated.  No row
 * holds anything of a person: neither /etc as a whole, which has keys and passwords, nor /var,
 * /run, /opt, /srv or a home directory.
 */
static const struct {
	const char *path, *reason;
} rows[] = {
	{"/usr", "programs and libraries"},
	SB_NAMED(ROW, "programs", , "/bin", "/sbin"),
	SB_NAMED(ROW, "libraries and the loader", , "/lib", "/lib32", "/lib64", "/libx32"),
	SB_NAMED(ROW, "programs and libraries", , "/nix/store", "/gnu/store"),
	{"/proc", "programs look at themselves there"},
	{"/dev", "devices"},
	{"/sys/devices/system/cpu", "how many processors there are"},
	SB_NAMED(ROW, "where the loader finds libraries", , "/etc/ld.so.cache", "/etc/ld.so.conf",
		 "/etc/ld.so.conf.d"),
	{"/etc/ld.so.preload", "libraries for every program"},
	{"/etc/ld-musl-aarch64.path", "where the loader finds libraries"},
	{"/etc/ld-musl-x86_64.path", "where the loader finds libraries"},
	{"/etc/alternatives", "which program a name means"},
	{"/etc/passwd", "names of accounts"},
	{"/etc/group", "names of groups"},
	SB_NAMED(ROW, "how names are looked up", , "/etc/nsswitch.conf", "/etc/hosts",
		 "/etc/host.conf", "/etc/gai.conf", "/etc/resolv.conf"),
	{"/etc/services", "names of ports"},
	{"/etc/protocols", "names of protocols"},
	SB_NAMED(ROW, "the time zone", , "/etc/localtime", "/etc/timezone"),
	{"/etc/locale.alias", "languages"},
	{"/etc/terminfo", "terminals"},
	{"/etc/ssl/certs", "certificates of authorities"},
	{"/etc/ssl/openssl.cnf", "settings of openssl"},
	SB_NAMED(ROW, "certificates of authorities", , "/etc/ca-certificates", "/etc/pki/tls/certs",
		 "/etc/pki/ca-trust"),
	{"/etc/crypto-policies", "settings of openssl and others"},
	{"/etc/gitconfig", "git stops where it may not read it"},
};

/* The most specific rule of the user's about path; of two alike the stricter. */
static const struct sb_rule *user_rule(const struct sb_policy *policy, const char *path,
				       const struct sb_pattern **out_pattern)
{
	const struct sb_rule *best = NULL;

	for (size_t i = 0; i < sb_policy_count(policy); i++) {
		const struct sb_rule *rule = sb_policy_rule(policy, i);
		const struct sb_pattern *pattern = sb_policy_pattern(policy, i);
		int order;

		if (rule->tier == SB_TIER_BUILTIN || !sb_pattern_covers(pattern, path))
			continue;
		order = best ? sb_pattern_compare(pattern, *out_pattern) : 1;
		if (order < 0 ||
		    (order == 0 && rule->access.verdict[SB_READ] <= best->access.verdict[SB_READ]))
			continue;
		best = rule;
		*out_pattern = pattern;
	}
	return best;
}

bool sb_start_user_hides(const struct sb_policy *policy, const char *path)
{
	const struct sb_pattern *pattern;
	const struct sb_rule *rule = user_rule(policy, path, &pattern);

	return rule && rule->access.verdict[SB_READ] != SB_ALLOW;
}

/* The same by a rule that means everything: "/", or wildcards alone. */
static bool hidden_with_all(const struct sb_policy *policy, const char *path)
{
	const struct sb_pattern *pattern;
	const struct sb_rule *rule = user_rule(policy, path, &pattern);

	return rule && rule->access.verdict[SB_READ] != SB_ALLOW && pattern->literals == 0;
}

/* Most runs have no such rule, and are not to pay for it. */
static bool is_anything_hidden(const struct sb_policy *policy)
{
	for (size_t i = 0; i < sb_policy_count(policy); i++) {
		const struct sb_rule *rule = sb_policy_rule(policy, i);

		if (rule->tier != SB_TIER_BUILTIN && rule->access.verdict[SB_READ] != SB_ALLOW &&
		    sb_policy_pattern(policy, i)->literals == 0)
			return true;
	}
	return false;
}

static int add_one(struct sb_policy *policy, const char *path, const char *reason,
		   struct sb_error *err)
{
	SB_AUTO_FREE char *pattern = sb_pattern_escape(path);
	char origin[96];
	struct sb_rule rule = {.access = sb_access_read,
			       .tier = SB_TIER_BUILTIN,
			       .pattern = pattern,
			       .origin = origin};

	if (!pattern)
		return sb_no_memory(err);
	snprintf(origin, sizeof origin, "built-in: needed to start: %s", reason);
	return sb_policy_add(policy, &rule, err);
}

static bool is_known(char *const *added, size_t count, const char *path)
{
	for (size_t i = 0; i < count; i++)
		if (sb_path_within(added[i], path))
			return true;
	return false;
}

int sb_start_add(struct sb_policy *policy, struct sb_error *err)
{
	char *added[SB_COUNT(rows)];
	size_t count = 0;
	int status = SB_OK;

	if (!is_anything_hidden(policy))
		return SB_OK;
	for (size_t i = 0; i < SB_COUNT(rows) && status == SB_OK; i++) {
		SB_AUTO_FREE char *path = NULL;
		int missing = 0;

		/* links in a circle lead to nothing that a program could need */
		if (sb_path_canonical(rows[i].path, &path, &missing, NULL) != SB_OK || missing ||
		    is_known(added, count, path) || !hidden_with_all(policy, path))
			continue;
		status = add_one(policy, path, rows[i].reason, err);
		added[count++] = sb_take_ptr(&path);
	}
	while (count)
		free(added[--count]);
	return status;
}
