/*
 * plan_query.c - what a plan that is made says about a path.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "enforce/plan.h"
#include "path/path.h"
#include "policy/policy_impl.h"

static const char *const kind_names[] = {
	"own devices", "device",    "private", "own terminals", "shown read-only", "writable",
	"pinned",      "read-only", "hidden",  "shown",         "blank",           "link",
};

const char *sb_mount_kind_name(enum sb_mount_kind kind)
{
	return kind_names[kind];
}

const struct sb_plan_node *sb_plan_node_at(const struct sb_plan *plan, const char *path)
{
	/* ordered as a tree: the last one that holds it is the nearest, the first is "/" */
	for (size_t i = plan->node_count; i-- > 0;)
		if (sb_path_within(plan->nodes[i].path, path))
			return &plan->nodes[i];
	return NULL;
}

enum sb_state sb_plan_state_at(const struct sb_plan *plan, const char *path)
{
	const struct sb_plan_node *node = sb_plan_node_at(plan, path);

	return node ? node->state : SB_STATE_READABLE;
}

/* The operations that Landlock leaves, bit per enum sb_op; 0 where nothing is writable. */
static unsigned changes_at(const struct sb_plan *plan, const char *path)
{
	const struct sb_plan_node *node = sb_plan_node_at(plan, path);

	return node && node->state == SB_STATE_WRITABLE ? node->allow : 0;
}

static bool is_mount(const struct sb_plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->mount_count; i++)
		if (strcmp(plan->mounts[i].path, path) == 0)
			return true;
	return false;
}

bool sb_plan_lets(const struct sb_plan *plan, enum sb_op op, const char *path)
{
	/* a new file is written, too */
	unsigned needs = 1u << op | (op == SB_CREATE ? 1u << SB_MODIFY : 0);
	SB_AUTO_FREE char *directory = NULL;

	if (op == SB_READ)
		return sb_plan_state_at(plan, path) != SB_STATE_HIDDEN;
	if (op == SB_MODIFY)
		return (changes_at(plan, path) & needs) == needs;
	directory = sb_path_parent(path);
	return directory && (changes_at(plan, directory) & needs) == needs && !is_mount(plan, path);
}

bool sb_plan_hides_content(const struct sb_plan_node *node)
{
	struct stat info;

	if (node->state != SB_STATE_HIDDEN || (node->rule && node->rule->sockets))
		return false;
	return node->kind != SB_KIND_SPECIAL || lstat(node->path, &info) != 0 ||
	       !S_ISSOCK(info.st_mode);
}

bool sb_plan_hides_names(const struct sb_plan_node *node)
{
	return node->state == SB_STATE_HIDDEN && node->kind == SB_KIND_DIR &&
	       !(node->rule && node->rule->sockets);
}

bool sb_plan_is_beside_hidden(const struct sb_plan *plan, const char *path)
{
	SB_AUTO_FREE char *parent = sb_path_parent(path);

	for (size_t i = 1; parent && i < plan->node_count; i++)
		if (sb_path_within(parent, plan->nodes[i].path) &&
		    sb_plan_hides_content(&plan->nodes[i]))
			return true;
	return false;
}

const char *sb_plan_makes_beside_hidden(const struct sb_plan *plan)
{
	for (size_t i = 1; i < plan->node_count; i++) {
		const struct sb_plan_node *node = &plan->nodes[i];

		if (node->kind == SB_KIND_FILE && (node->allow & 1u << SB_CREATE) &&
		    plan->nodes[node->parent].state == SB_STATE_READABLE &&
		    sb_plan_is_beside_hidden(plan, node->path))
			return node->path;
	}
	for (size_t i = 0; i < plan->absent_count; i++)
		if (sb_plan_state_at(plan, plan->absent[i]) == SB_STATE_READABLE &&
		    sb_plan_is_beside_hidden(plan, plan->absent[i]))
			return plan->absent[i];
	return NULL;
}

bool sb_plan_is_temp_at(const struct sb_plan *plan, const char *path)
{
	const struct sb_plan_node *node = sb_plan_node_at(plan, path);

	return node && node->temp;
}

bool sb_plan_temp_is_closed(const struct sb_plan *plan, size_t node)
{
	if (!plan->nodes[node].temp)
		return false;
	for (size_t i = node + 1; i < plan->node_count; i++)
		if (plan->nodes[i].parent == node && plan->nodes[i].state == SB_STATE_READABLE)
			return true;
	return false;
}

/* The same for the temp directory that holds path, if one does. */
static bool is_temp_closed_at(const struct sb_plan *plan, const char *path)
{
	const struct sb_plan_node *node = sb_plan_node_at(plan, path);

	return node && sb_plan_temp_is_closed(plan, (size_t)(node - plan->nodes));
}

const char *sb_plan_tmpdir(const struct sb_plan *plan, bool mounts, const char *old, bool is_usable)
{
	const char *is = plan->tmpdir ? plan->tmpdir : old && !is_usable ? "/tmp" : old;

	return !mounts && is_temp_closed_at(plan, is ? is : "/tmp") ? "/dev/shm" : is;
}

size_t sb_plan_next_stricter(const struct sb_plan *plan, size_t start)
{
	for (size_t i = start ? start : 1; i < plan->node_count; i++) {
		const struct sb_plan_node *node = &plan->nodes[i];
		const struct sb_plan_node *parent = &plan->nodes[node->parent];

		if (parent->state == SB_STATE_WRITABLE && (parent->allow & ~node->allow))
			return i;
	}
	return plan->node_count;
}

/*
 * SECURITY: what a rule of the user's hides is hidden by its name, whoever puts something there.
 *
 * Danger: a cover is a mount, and goes with what it covers: an editor outside that saves by rename, or `git checkout`,
 * leaves a file that can be read.  Only "/" cannot be replaced.
 * Price: every open of such a run is held.  Built-in rules do not make every run pay it: docs/security.md.
 * Held by: tests/supervise/hidden.py; the kernel's part by tests/facts/bind_vanishes.c
 */
bool sb_plan_holds_reads(const struct sb_policy *policy)
{
	for (size_t i = 0; i < sb_policy_count(policy); i++) {
		const struct sb_rule *rule = sb_policy_rule(policy, i);
		const struct sb_pattern *pattern = sb_policy_pattern(policy, i);

		if (rule->tier != SB_TIER_BUILTIN && rule->access.verdict[SB_READ] != SB_ALLOW &&
		    (pattern->glob || pattern->literals))
			return true;
	}
	return false;
}

void sb_plan_done(struct sb_plan *plan)
{
	if (!plan)
		return;
	for (size_t i = 0; i < plan->node_count; i++)
		free(plan->nodes[i].path);
	for (size_t i = 0; i < plan->mount_count; i++)
		free(plan->mounts[i].path);
	for (size_t i = 0; i < plan->absent_count; i++)
		free(plan->absent[i]);
	free(plan->absent);
	free(plan->nodes);
	free(plan->mounts);
	free(plan->cwd);
	free(plan->tmpdir);
	free(plan->tmpdir_private);
	*plan = (struct sb_plan){0};
}
