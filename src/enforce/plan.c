#include "enforce/plan.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/list.h"
#include "base/words.h"
#include "enforce/devices.h"
#include "enforce/expand.h"
#include "path/path.h"
#include "policy/fast.h"
#include "policy/network.h"
#include "policy/policy_impl.h"
#include "sys/directory.h"

#define CHANGES (1u << SB_MODIFY | 1u << SB_CREATE | 1u << SB_DELETE)

/* A program that needs more mounts than this has a rule that is no longer a rule. */
#define MAX_NODES 20000

#define MAX_BLANKS 256 /* names in ~/.ssh; further ones answer ENOENT */

struct maker {
	const struct sb_policy *policy;
	const struct sb_plan_request *request;
	struct sb_plan plan;
	size_t node_capacity, mount_capacity;
	const struct sb_rule *rule; /* whose pattern is being expanded */
	bool devices_apart;         /* those that no rule opens are hidden, one by one */
	int blanks_left;            /* of the directory whose names are being added */
};

static enum sb_kind kind_from(mode_t mode)
{
	if (S_ISDIR(mode))
		return SB_KIND_DIR;
	if (S_ISREG(mode))
		return SB_KIND_FILE;
	return S_ISLNK(mode) ? SB_KIND_LINK : SB_KIND_SPECIAL;
}

static enum sb_kind look(const char *path)
{
	struct stat info;

	return lstat(path, &info) == 0 ? kind_from(info.st_mode) : SB_KIND_ABSENT;
}

/* A grant for something that the command may make: no mount and no Landlock rule can hold it. */
static int note_absent(struct maker *maker, const char *path, const struct sb_rule *rule,
		       struct sb_error *err)
{
	struct sb_plan *plan = &maker->plan;

	if (!rule || rule->tier == SB_TIER_BUILTIN || rule->access.verdict[SB_CREATE] != SB_ALLOW)
		return SB_OK;
	if (!SB_GROW(plan->absent, plan->absent_count))
		return sb_no_memory(err);
	plan->absent[plan->absent_count] = strdup(path);
	return plan->absent[plan->absent_count++] ? SB_OK : sb_no_memory(err);
}

/* What is not there, the kernel cannot be told about. */
static int add_node(struct maker *maker, const char *path, const struct sb_rule *rule,
		    struct sb_error *err)
{
	struct sb_plan *plan = &maker->plan;
	enum sb_kind kind = rule && rule->seen ? kind_from(rule->seen) : look(path);

	if (kind == SB_KIND_ABSENT)
		return note_absent(maker, path, rule, err);
	if (plan->node_count == maker->node_capacity) {
		size_t capacity = maker->node_capacity ? 2 * maker->node_capacity : 24;
		struct sb_plan_node *grown =
			reallocarray(plan->nodes, capacity, sizeof *plan->nodes);

		if (!grown)
			return sb_no_memory(err);
		plan->nodes = grown;
		maker->node_capacity = capacity;
	}
	if (plan->node_count == MAX_NODES)
		return sb_fail(err, SB_E_REFUSED, 0, "the rules name more than %d existing files",
			       MAX_NODES);
	plan->nodes[plan->node_count] =
		(struct sb_plan_node){.path = strdup(path), .rule = rule, .kind = kind};
	return plan->nodes[plan->node_count++].path ? SB_OK : sb_no_memory(err);
}

static int found(void *context, const char *path, struct sb_error *err)
{
	struct maker *maker = context;

	return add_node(maker, path, maker->rule, err);
}

static int found_device(void *context, const char *path, struct sb_error *err)
{
	struct maker *maker = context;
	int status = add_node(maker, path, NULL, err);

	if (status == SB_OK)
		maker->plan.nodes[maker->plan.node_count - 1].driven = true;
	return status;
}

static int collect(struct maker *maker, struct sb_error *err)
{
	int status = add_node(maker, "/", NULL, err);

	if (status == SB_OK && maker->devices_apart)
		status = sb_devices_readable(found_device, maker, err);

	for (size_t i = 0; i < sb_policy_count(maker->policy) && status == SB_OK; i++) {
		const struct sb_pattern *pattern = sb_policy_pattern(maker->policy, i);

		maker->rule = sb_policy_rule(maker->policy, i);
		if (maker->rule->absent)
			continue;
		status = pattern->glob
				 ? sb_expand(pattern->prefix, pattern->glob, found, maker, err)
				 : add_node(maker, pattern->prefix, maker->rule, err);
	}
	return status;
}

static int by_path(const void *a, const void *b)
{
	return sb_path_compare(((const struct sb_plan_node *)a)->path,
			       ((const struct sb_plan_node *)b)->path);
}

/* Order by path and keep one node per path; the root's has no rule unless one names it. */
static void sort_nodes(struct sb_plan *plan)
{
	size_t kept = 0;

	qsort(plan->nodes, plan->node_count, sizeof *plan->nodes, by_path);
	for (size_t i = 0; i < plan->node_count; i++) {
		if (kept && strcmp(plan->nodes[kept - 1].path, plan->nodes[i].path) == 0) {
			if (!plan->nodes[kept - 1].rule)
				plan->nodes[kept - 1].rule = plan->nodes[i].rule;
			plan->nodes[kept - 1].driven |= plan->nodes[i].driven;
			free(plan->nodes[i].path);
			continue;
		}
		plan->nodes[kept++] = plan->nodes[i];
	}
	plan->node_count = kept;
}

static enum sb_state state_of(unsigned allow)
{
	if (!(allow & 1u << SB_READ))
		return SB_STATE_HIDDEN;
	return allow & CHANGES ? SB_STATE_WRITABLE : SB_STATE_READABLE;
}

/* A directory whose real contents are none of the run's business, unless a project holds it. */
static bool is_temp(const struct maker *maker, const struct sb_plan_node *node)
{
	return node->rule && node->rule->temp && node->kind == SB_KIND_DIR &&
	       node->state == SB_STATE_WRITABLE &&
	       !sb_path_within_any(maker->request->projects, node->path);
}

/* Devices are used through their names, whatever may be done to the names. */
static bool is_device(const struct sb_plan_node *node)
{
	return sb_path_within("/dev", node->path) && !(node->allow & 1u << SB_CREATE);
}

static bool is_fast(const struct maker *maker, const struct sb_plan_node *node)
{
	return maker->request->supervised && node->kind == SB_KIND_DIR &&
	       node->state == SB_STATE_WRITABLE && sb_fast_is_or_holds(maker->policy, node->path);
}

/* What Landlock grants to all that is around node, wherever in between something takes it away. */
static unsigned changes_above(const struct sb_plan *plan, const struct sb_plan_node *node)
{
	unsigned changes = 0;

	for (size_t at = node->parent;; at = plan->nodes[at].parent) {
		if (plan->nodes[at].state == SB_STATE_WRITABLE)
			changes |= plan->nodes[at].allow & CHANGES;
		if (!at)
			return changes;
	}
}

static void judge(struct maker *maker)
{
	struct sb_plan *plan = &maker->plan;

	for (size_t i = 0; i < plan->node_count; i++) {
		struct sb_plan_node *node = &plan->nodes[i];
		struct sb_access access = sb_decide_all(maker->policy, node->path);

		for (int op = 0; op < SB_OP_COUNT; op++)
			if (access.verdict[op] == SB_ALLOW)
				node->allow |= 1u << op;
		if (node->driven && !(node->allow & 1u << SB_MODIFY))
			node->allow = 0;
		node->parent = i ? i - 1 : 0;
		while (node->parent && !sb_path_within(plan->nodes[node->parent].path, node->path))
			node->parent = plan->nodes[node->parent].parent;
		/*
		 * Landlock makes a new file before it says that nobody may write to it.  The
		 * performer is to write new ones; what may be made and written the judge decides.
		 */
		if ((node->allow & 1u << SB_CREATE) && maker->request->supervised)
			node->allow |= 1u << SB_MODIFY;
		node->state = state_of(node->allow);
		/*
		 * Landlock rights add up from the root down, and a mount is writable or
		 * not: inside a writable directory the kernel cannot take away one
		 * operation and leave another.  Take all changes away instead.
		 */
		if (i && !maker->request->supervised && node->state == SB_STATE_WRITABLE &&
		    !is_device(node) && node->kind != SB_KIND_SPECIAL &&
		    (changes_above(plan, node) & ~node->allow)) {
			node->allow &= 1u << SB_READ;
			node->state = SB_STATE_READABLE;
			node->simplified = true;
		}
		node->temp = is_temp(maker, node);
		node->fast = is_fast(maker, node);
		/*
		 * What lands in a file's place is renamed there, which Landlock takes for removing both names.
		 * The performer does that; what may be removed the judge decides.
		 */
		if (maker->request->supervised && !node->fast &&
		    (node->allow & CHANGES) == (1u << SB_CREATE | 1u << SB_MODIFY))
			node->allow |= 1u << SB_DELETE;
	}
}

static int add_step(struct maker *maker, enum sb_mount_kind kind, const char *path, bool is_dir,
		    const char *inside, struct sb_error *err)
{
	struct sb_plan *plan = &maker->plan;

	if (plan->mount_count == maker->mount_capacity) {
		size_t capacity = maker->mount_capacity ? 2 * maker->mount_capacity : 24;
		struct sb_mount_step *grown =
			reallocarray(plan->mounts, capacity, sizeof *plan->mounts);

		if (!grown)
			return sb_no_memory(err);
		plan->mounts = grown;
		maker->mount_capacity = capacity;
	}
	plan->mounts[plan->mount_count] = (struct sb_mount_step){
		.kind = kind, .path = strdup(path), .is_dir = is_dir, .inside = inside};
	return plan->mounts[plan->mount_count++].path ? SB_OK : sb_no_memory(err);
}

/*
 * SECURITY: every directory between a writable root and a protected name becomes a
 * mount point itself.
 *
 * Danger: with a mount on the leaf alone, its parent can be renamed away and built
 * anew without it (KERNEL.md, trap 2).  Renaming a mount point answers EBUSY.
 * Price: a rename across a pinned directory's border answers EXDEV.
 * Held by: tests/enforce/guard.py
 */
static int add_pins(struct maker *maker, size_t index, struct sb_error *err)
{
	const struct sb_plan *plan = &maker->plan;
	const struct sb_plan_node *node = &plan->nodes[index];
	size_t root = node->parent;
	int status = SB_OK;

	while (root && plan->nodes[plan->nodes[root].parent].state == SB_STATE_WRITABLE &&
	       !plan->nodes[plan->nodes[root].parent].temp)
		root = plan->nodes[root].parent;
	for (const char *slash = node->path + strlen(plan->nodes[root].path) + 1;
	     status == SB_OK && (slash = strchr(slash, '/')); slash++) {
		SB_AUTO_FREE char *between = strndup(node->path, (size_t)(slash - node->path));

		if (!between)
			return sb_no_memory(err);
		status = add_step(maker, SB_MOUNT_PIN, between, true, NULL, err);
	}
	return status;
}

/* In a /dev of our own there is a place only for what asks for one. */
static const char *in_own_dev(const struct sb_plan *plan, const char *path)
{
	return plan->own_dev && sb_path_within("/dev", path) && strcmp(path, "/dev") != 0 ? "/dev"
											  : NULL;
}

static bool is_hidden_dir(const struct sb_plan_node *node)
{
	return node->state == SB_STATE_HIDDEN && node->kind == SB_KIND_DIR;
}

/*
 * What covers the hidden directory that a node lies in, and needs a place for it: the outermost of
 * those inside each other, since the others have no mount of their own; a private temp directory,
 * which shows none of them at all.  NULL: it lies in no hidden directory.
 */
static struct sb_plan_node *cover_of(const struct sb_plan *plan, const struct sb_plan_node *node)
{
	struct sb_plan_node *cover = &plan->nodes[node->parent];

	if (!is_hidden_dir(cover))
		return NULL;
	while (!cover->temp && cover->parent != (size_t)(cover - plan->nodes) &&
	       (is_hidden_dir(&plan->nodes[cover->parent]) || plan->nodes[cover->parent].temp))
		cover = &plan->nodes[cover->parent];
	return cover;
}

/* Where a place has to be made for a node; NULL: there is one. */
static const char *place_for(const struct sb_plan *plan, const struct sb_plan_node *node)
{
	const char *own = in_own_dev(plan, node->path);
	const struct sb_plan_node *cover = own ? NULL : cover_of(plan, node);

	return cover ? cover->path : own;
}

#define TERMINALS "/dev/pts"

/*
 * The run gets terminals of its own, unless a rule of the user's is about the real ones, or
 * takes them away.
 */
static bool may_own_terminals(const struct sb_plan *plan)
{
	bool usable = false;

	for (size_t i = 1; i < plan->node_count; i++) {
		const struct sb_plan_node *node = &plan->nodes[i];

		if (!sb_path_within(TERMINALS, node->path))
			continue;
		if (node->rule && node->rule->tier != SB_TIER_BUILTIN)
			return false;
		if (strcmp(node->path, TERMINALS) == 0)
			usable = node->kind == SB_KIND_DIR && node->state == SB_STATE_WRITABLE;
	}
	return usable;
}

/*
 * A link itself can carry a mount; then it cannot be replaced, and following it
 * still works.  What it leads to has a node of its own.
 */
static int plan_link(struct maker *maker, size_t index, struct sb_error *err)
{
	const struct sb_plan *plan = &maker->plan;
	const struct sb_plan_node *node = &plan->nodes[index], *parent = &plan->nodes[node->parent];
	int status;

	if (parent->state == SB_STATE_HIDDEN && node->state != SB_STATE_HIDDEN)
		return add_step(maker, SB_MOUNT_LINK, node->path, false, place_for(plan, node),
				err);
	if (maker->request->supervised || parent->state != SB_STATE_WRITABLE || parent->temp ||
	    node->state == SB_STATE_WRITABLE)
		return SB_OK;
	status = add_pins(maker, index, err);
	return status == SB_OK ? add_step(maker, SB_MOUNT_PIN, node->path, false, NULL, err)
			       : status;
}

/* The mounts that one node needs, given what surrounds it. */
static int plan_mounts_of(struct maker *maker, size_t index, struct sb_error *err)
{
	const struct sb_plan *plan = &maker->plan;
	const struct sb_plan_node *node = &plan->nodes[index], *parent = &plan->nodes[node->parent];
	bool is_dir = node->kind == SB_KIND_DIR;
	int status = SB_OK;

	if (node->kind == SB_KIND_LINK)
		return plan_link(maker, index, err);
	if (node->temp) {
		/* a TMPDIR inside a private /tmp is only a directory there */
		return parent->temp ? SB_OK
				    : add_step(maker, SB_MOUNT_TMPFS, node->path, true,
					       place_for(plan, node), err);
	}
	if (plan->own_terminals && sb_path_within(TERMINALS, node->path))
		return strcmp(node->path, TERMINALS) == 0
			       ? add_step(maker, SB_MOUNT_TERMINALS, node->path, true,
					  place_for(plan, node), err)
			       : SB_OK; /* not there */
	/* Devices and sockets are used, not written: a read-only mount does not stop that. */
	if (node->state == SB_STATE_WRITABLE &&
	    (node->kind == SB_KIND_SPECIAL || is_device(node)) && !parent->temp &&
	    parent->state != SB_STATE_HIDDEN) {
		if (plan->own_dev && sb_path_within("/dev", node->path))
			status = add_step(maker, is_dir ? SB_MOUNT_WRITABLE : SB_MOUNT_DEVICE,
					  node->path, is_dir, "/dev", err);
		return status;
	}

	if (parent->temp) {
		if (node->state == SB_STATE_HIDDEN)
			return SB_OK; /* the private temp does not show it at all */
		return add_step(
			maker, node->state == SB_STATE_WRITABLE ? SB_MOUNT_WRITABLE : SB_MOUNT_KEEP,
			node->path, is_dir, parent->path, err);
	}
	if (parent->state == SB_STATE_HIDDEN) {
		if (node->state == SB_STATE_HIDDEN || parent->kind != SB_KIND_DIR)
			return SB_OK;
		status = add_step(maker, SB_MOUNT_SHOW, node->path, is_dir, place_for(plan, node),
				  err);
		if (status == SB_OK)
			plan->mounts[plan->mount_count - 1].writable = node->state ==
								       SB_STATE_WRITABLE;
		return status;
	}
	if (node->state == parent->state)
		return node->state == SB_STATE_READABLE && in_own_dev(plan, node->path)
			       ? add_step(maker, SB_MOUNT_KEEP, node->path, is_dir, "/dev", err)
			       : SB_OK;
	if (maker->request->supervised && parent->state == SB_STATE_WRITABLE &&
	    node->state != SB_STATE_HIDDEN)
		return SB_OK;
	if (parent->state == SB_STATE_WRITABLE && !maker->request->supervised)
		status = add_pins(maker, index, err);
	if (status != SB_OK)
		return status;
	if (node->state == SB_STATE_HIDDEN)
		return add_step(maker, SB_MOUNT_HIDE, node->path, is_dir, NULL, err);
	return add_step(maker,
			node->state == SB_STATE_WRITABLE ? SB_MOUNT_WRITABLE : SB_MOUNT_READONLY,
			node->path, is_dir, in_own_dev(plan, node->path), err);
}

/* Is something shown at path or beneath it? */
static bool leads_to_shown(const struct sb_plan *plan, const char *path)
{
	for (size_t i = 1; i < plan->node_count; i++)
		if (plan->nodes[i].state != SB_STATE_HIDDEN &&
		    sb_path_within(path, plan->nodes[i].path))
			return true;
	return false;
}

/* Does a link lead to something that is shown?  Then it is as needed as a directory on the way. */
static bool is_way(const struct sb_plan *plan, const char *link)
{
	SB_AUTO_FREE char *target = NULL;

	return sb_path_canonical(link, &target, NULL, NULL) == SB_OK &&
	       (sb_plan_state_at(plan, target) != SB_STATE_HIDDEN || leads_to_shown(plan, target));
}

/* Behind a blank link, too, names are refused and not missing. */
static bool leads_to_dir(int dirfd, const struct dirent64 *entry)
{
	struct stat info;

	if (entry->d_type != DT_LNK && entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return fstatat(dirfd, entry->d_name, &info, 0) == 0 && S_ISDIR(info.st_mode);
}

/* One name in a hidden directory that can be passed through. */
static int add_blank(struct maker *maker, const struct sb_plan_node *cover, const char *dir,
		     int dirfd, const struct dirent64 *entry, struct sb_error *err)
{
	SB_AUTO_FREE char *path = sb_path_join(dir, entry->d_name);

	if (!path)
		return sb_no_memory(err);
	if (entry->d_type == DT_LNK && is_way(&maker->plan, path))
		return add_step(maker, SB_MOUNT_LINK, path, false, cover->path, err);
	if (maker->blanks_left == 0 || leads_to_shown(&maker->plan, path))
		return SB_OK;
	maker->blanks_left--;
	return add_step(maker, SB_MOUNT_BLANK, path, leads_to_dir(dirfd, entry), cover->path, err);
}

/*
 * A hidden directory that shows something can be passed through, so its other names
 * would answer ENOENT, as if a key were not there.  They are there, blank: EACCES.
 * The same goes for directories in it on the way to what is shown.
 */
static int add_blanks(struct maker *maker, const struct sb_plan_node *cover, const char *path,
		      struct sb_error *err)
{
	int status = SB_OK;

	maker->blanks_left = MAX_BLANKS;
	/* one that is not ours to list has nothing that could be read anyway */
	SB_EACH_ENTRY(dir, AT_FDCWD, path, status == SB_OK)
		if (!sb_is_dots(dir.entry->d_name))
			status = add_blank(maker, cover, path, dir.fd, dir.entry, err);
	return status;
}

/* For the directories between a hidden one and what it shows, each once. */
static int add_blanks_between(struct maker *maker, const struct sb_plan_node *cover,
			      const char *shown, const char *shown_before, struct sb_error *err)
{
	size_t skip = strlen(cover->path) + (strcmp(cover->path, "/") != 0);
	int status = SB_OK;

	for (const char *slash = shown + skip; status == SB_OK && (slash = strchr(slash, '/'));
	     slash++) {
		SB_AUTO_FREE char *between = strndup(shown, (size_t)(slash - shown));

		if (!between)
			return sb_no_memory(err);
		/* nodes are ordered as a tree */
		if (!shown_before || !sb_path_within(between, shown_before))
			status = add_blanks(maker, cover, between, err);
	}
	return status;
}

static int add_all_blanks(struct maker *maker, struct sb_error *err)
{
	const struct sb_plan *plan = &maker->plan;
	int status = SB_OK;

	for (size_t i = 1; i < plan->node_count && status == SB_OK; i++) {
		struct sb_plan_node *cover = cover_of(plan, &plan->nodes[i]);

		if (plan->nodes[i].state == SB_STATE_HIDDEN || !cover || cover->temp)
			continue;
		if (!cover->shown) /* the first of those it shows */
			status = add_blanks(maker, cover, cover->path, err);
		if (status == SB_OK)
			status = add_blanks_between(maker, cover, plan->nodes[i].path, cover->shown,
						    err);
		cover->shown = plan->nodes[i].path;
	}
	return status;
}

static int by_step(const void *a, const void *b)
{
	const struct sb_mount_step *first = a, *second = b;
	int order = sb_path_compare(first->path, second->path);

	return order ? order : (int)first->kind - (int)second->kind;
}

/* Is it mounted in something that has to be passed through to get there? */
static bool needs_passage(const struct sb_mount_step *step)
{
	return step->inside && step->kind != SB_MOUNT_BLANK && step->kind != SB_MOUNT_LINK;
}

/* Order the steps and drop a pin that is there twice or on something already mounted. */
static void sort_steps(struct sb_plan *plan)
{
	size_t kept = 0;

	if (plan->mount_count)
		qsort(plan->mounts, plan->mount_count, sizeof *plan->mounts, by_step);
	for (size_t i = 0; i < plan->mount_count; i++) {
		if (kept && plan->mounts[i].kind == SB_MOUNT_PIN &&
		    strcmp(plan->mounts[kept - 1].path, plan->mounts[i].path) == 0) {
			free(plan->mounts[i].path);
			continue;
		}
		plan->mounts[kept++] = plan->mounts[i];
	}
	plan->mount_count = kept;
	for (size_t i = 0; i < kept; i++)
		for (size_t j = 0; needs_passage(&plan->mounts[i]) && j < i; j++)
			if (strcmp(plan->mounts[j].path, plan->mounts[i].inside) == 0)
				plan->mounts[j].has_shown = true;
}

/* The command itself may lie in what a private temp covers. */
static int show_command(struct maker *maker, struct sb_error *err)
{
	const char *command = maker->request->command;
	struct sb_plan *plan = &maker->plan;
	const struct sb_plan_node *nearest = command ? sb_plan_node_at(plan, command) : NULL;

	if (!nearest || !nearest->temp || plan->nodes[nearest->parent].temp)
		return SB_OK;
	return add_step(maker, SB_MOUNT_KEEP, command, false, nearest->path, err);
}

static bool writable_at(const struct sb_plan *plan, const char *path)
{
	return sb_plan_state_at(plan, path) == SB_STATE_WRITABLE;
}

/* TMPDIR must name a directory that exists and can be written: gcc and others rely on it. */
static int plan_tmpdir(struct maker *maker, struct sb_error *err)
{
	struct sb_plan *plan = &maker->plan;
	const char *wanted = maker->request->tmpdir;
	const char *temp = NULL;

	for (size_t i = 0; wanted && i < plan->node_count; i++)
		if (plan->nodes[i].temp && sb_path_within(plan->nodes[i].path, wanted) &&
		    strcmp(plan->nodes[i].path, wanted) != 0)
			temp = plan->nodes[i].path;
	if (temp && writable_at(plan, wanted)) {
		plan->tmpdir_private = strdup(wanted);
		return plan->tmpdir_private ? SB_OK : sb_no_memory(err);
	}
	if (wanted && look(wanted) == SB_KIND_DIR && writable_at(plan, wanted))
		return SB_OK;
	if (writable_at(plan, "/tmp")) {
		if (!wanted)
			return SB_OK; /* the default of every program is fine */
		plan->tmpdir = strdup("/tmp");
	} else {
		plan->tmpdir = strdup("/dev/shm");
	}
	return plan->tmpdir ? SB_OK : sb_no_memory(err);
}

int sb_plan_make(const struct sb_policy *policy, const struct sb_plan_request *request,
		 struct sb_plan *out, struct sb_error *err)
{
	struct maker maker = {.policy = policy, .request = request};
	bool disks;
	int status;

	maker.plan.network = sb_policy_network(policy);
	maker.plan.gate = sb_policy_needs_gate(policy);
	maker.plan.tells_allowed = request->supervised &&
				   sb_policy_get(policy, SB_SETTING_LOG_ALLOWED);
	maker.plan.tells_hidden = maker.plan.tells_allowed ||
				  (request->supervised && request->tells_hidden);
	maker.plan.holds_reads = maker.plan.tells_hidden ||
				 (request->supervised && sb_plan_holds_reads(policy));
	if (request->view) {
		maker.plan.view = true;
		maker.plan.shadowed = request->view->shadowed;
		maker.plan.programs = request->view->programs;
	}
	disks = sb_devices_disks_readable();
	maker.plan.own_dev = disks && sb_devices_can_be_own();
	maker.devices_apart = (disks || sb_devices_are_drivable()) && !maker.plan.own_dev;
	maker.plan.cwd = strdup(request->cwd);
	status = maker.plan.cwd ? collect(&maker, err) : sb_no_memory(err);
	if (status == SB_OK) {
		sort_nodes(&maker.plan);
		judge(&maker);
		maker.plan.own_terminals = may_own_terminals(&maker.plan);
		maker.plan.caller_terminal = !request->other_terminal;
		for (size_t i = 1; i < maker.plan.node_count && status == SB_OK; i++)
			status = plan_mounts_of(&maker, i, err);
	}
	if (status == SB_OK)
		status = add_all_blanks(&maker, err);
	if (status == SB_OK && maker.plan.nodes[0].state == SB_STATE_HIDDEN)
		status = add_step(&maker, SB_MOUNT_HIDE, "/", true, NULL, err);
	if (status == SB_OK && maker.plan.own_dev)
		status = add_step(&maker, SB_MOUNT_DEV, "/dev", true,
				  maker.plan.nodes[0].state == SB_STATE_HIDDEN ? "/" : NULL, err);
	if (status == SB_OK)
		status = show_command(&maker, err);
	if (status == SB_OK)
		status = plan_tmpdir(&maker, err);
	if (status != SB_OK) {
		sb_plan_done(&maker.plan);
		return status;
	}
	sort_steps(&maker.plan);
	*out = maker.plan;
	return SB_OK;
}
