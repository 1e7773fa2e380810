#include "enforce/linux_landlock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/words.h"
#include "path/path.h"
#include "sys/landlock.h"
#include "sys/process.h"

/* One row per right: the ABI that brought it and the operation that needs it. */
static const struct {
	uint64_t right;
	int abi;
	unsigned needs; /* bits of enum sb_op, all of which must be allowed */
	bool for_files; /* may be granted on a single file */
} rights[] = {
	{SB_LL_WRITE_FILE, 1, 1u << SB_MODIFY, true},
	{SB_LL_TRUNCATE, 3, 1u << SB_MODIFY, true},
	{SB_LL_IOCTL_DEV, 5, 1u << SB_MODIFY, true},
	{SB_LL_MAKE_CHAR, 1, 1u << SB_CREATE, false},
	{SB_LL_MAKE_DIR, 1, 1u << SB_CREATE, false},
	{SB_LL_MAKE_REG, 1, 1u << SB_CREATE, false},
	{SB_LL_MAKE_SOCK, 1, 1u << SB_CREATE, false},
	{SB_LL_MAKE_FIFO, 1, 1u << SB_CREATE, false},
	{SB_LL_MAKE_BLOCK, 1, 1u << SB_CREATE, false},
	{SB_LL_MAKE_SYM, 1, 1u << SB_CREATE, false},
	{SB_LL_REMOVE_DIR, 1, 1u << SB_DELETE, false},
	{SB_LL_REMOVE_FILE, 1, 1u << SB_DELETE, false},
	{SB_LL_REFER, 2, 1u << SB_CREATE | 1u << SB_DELETE, false},
};

#define READ_CONTENT (SB_LL_READ_FILE | SB_LL_EXECUTE)

static uint64_t rights_for(unsigned allow, int abi, bool is_file)
{
	uint64_t granted = 0;

	for (size_t i = 0; i < sizeof rights / sizeof rights[0]; i++)
		if (rights[i].abi <= abi && (rights[i].needs & ~allow) == 0 &&
		    (rights[i].for_files || !is_file))
			granted |= rights[i].right;
	return granted;
}

struct domain {
	int fd;
	int abi;
	uint64_t handled;  /* the rights it rules over */
	uint64_t reads;    /* reading is ruled, too, where something is hidden and no mount hides
			    * it: READ_CONTENT, or SB_LL_READ_DIR; 0: it is not */
	bool no_terminals; /* a supervisor opens those of the run: linux_terminals.c */
};

#define TERMINALS "/dev/pts"

static int cannot(struct sb_error *err, int negative_errno, const char *path)
{
	return sb_fail(err, SB_E_SYSTEM, -negative_errno, "cannot add '%s' to the Landlock rules",
		       path);
}

/* Grant rights at a path.  What is gone or a link by now is not granted: that is the safe side. */
static int grant(const struct domain *domain, const char *path, uint64_t granted,
		 struct sb_error *err)
{
	SB_AUTO_FD int fd = sb_sys_open_path(path);
	struct stat info;
	int status;

	if (fd < 0)
		return SB_OK;
	if (fstat(fd, &info) != 0)
		return cannot(err, -errno, path);
	if (S_ISLNK(info.st_mode))
		return SB_OK;
	if (!S_ISDIR(info.st_mode))
		granted &= rights_for(~0u, domain->abi, true) | READ_CONTENT;
	granted &= domain->handled; /* others need no grant, and are no valid one */
	if (!granted)
		return SB_OK;
	status = sb_sys_landlock_add_path(domain->fd, fd, granted);
	return status < 0 ? cannot(err, status, path) : SB_OK;
}

/*
 * Is everything in /dev for writing?  In one of our own is nothing but what rules open, so one
 * grant serves for all; each of the eight would take 4 us of a launch.
 */
static bool dev_is_one(const struct domain *domain, const struct sb_plan *plan,
		       const struct sb_layers *layers)
{
	if (!layers->own_dev || domain->no_terminals)
		return false;
	for (size_t i = 1; i < plan->node_count; i++) {
		const struct sb_plan_node *node = &plan->nodes[i];

		if (plan->own_terminals && sb_path_within(TERMINALS, node->path))
			continue; /* names of those outside */
		if (sb_path_within("/dev", node->path) && node->path[sizeof "/dev" - 1] &&
		    (node->state != SB_STATE_WRITABLE || !(node->allow & 1u << SB_MODIFY)))
			return false;
	}
	return true;
}

/*
 * To make and remove a name is a right at the directory around it.  A static run has no other judge than
 * these grants; where there is one, the directory is open for what is open in it.
 */
static int grant_around(const struct domain *domain, const struct sb_plan *plan,
			const struct sb_plan_node *node, struct sb_error *err)
{
	const struct sb_plan_node *parent = &plan->nodes[node->parent];
	unsigned names = node->allow & ~parent->allow & (1u << SB_CREATE | 1u << SB_DELETE);

	if (!names || parent->state != SB_STATE_WRITABLE)
		return SB_OK;
	return grant(domain, parent->path, rights_for(names, domain->abi, false), err);
}

/*
 * What a profile opens.  Where nobody can look where links lead, there are none (judge/leads.c), nor is a directory
 * moved there that has some; between mounts nothing is.
 */
static bool is_state(const struct sb_plan_node *node)
{
	return node->rule && node->rule->tier == SB_TIER_PROFILE && !node->rule->cache;
}

/*
 * Rights add up on the way down: what is to be kept in it would be open as well.  In a nested run a broker makes
 * what may be made, so nothing is lost by that; and where grant_cores() opens something, it alone would hold.
 */
static bool is_closed(const struct sb_plan *plan, const struct sb_layers *layers, size_t node)
{
	size_t stricter;

	if (!layers->supervised)
		return sb_plan_temp_is_closed(plan, node);
	stricter = layers->outer ? sb_plan_next_stricter(plan, node + 1) : plan->node_count;
	return stricter < plan->node_count &&
	       sb_path_within(plan->nodes[node].path, plan->nodes[stricter].path);
}

static int grant_changes(const struct domain *domain, const struct sb_plan *plan,
			 const struct sb_layers *layers, struct sb_error *err)
{
	bool one_dev = dev_is_one(domain, plan, layers);
	int status = SB_OK;

	if (one_dev)
		status =
			grant(domain, "/dev", rights_for(1u << SB_MODIFY, domain->abi, false), err);
	for (size_t i = 0; i < plan->node_count && status == SB_OK; i++) {
		const struct sb_plan_node *node = &plan->nodes[i];

		uint64_t granted;

		if (node->state != SB_STATE_WRITABLE)
			continue;
		if (one_dev && node->kind == SB_KIND_SPECIAL && sb_path_within("/dev", node->path))
			continue;
		if (domain->no_terminals && sb_path_within(TERMINALS, node->path))
			continue;
		if (!layers->mounts && is_closed(plan, layers, i))
			continue;
		granted = rights_for(node->allow, domain->abi, false);
		if (!layers->supervised && is_state(node))
			granted &= ~(SB_LL_MAKE_SYM | SB_LL_MAKE_FIFO |
				     (layers->mounts ? 0 : SB_LL_REFER));
		status = grant(domain, node->path, granted, err);
		if (status == SB_OK && layers->supervised)
			status = grant_around(domain, plan, node, err);
	}
	return status;
}

/* Devices and the like are used through the kernel even where a broker makes every change. */
static bool is_native(const struct sb_plan_node *node)
{
	return node->kind == SB_KIND_SPECIAL || sb_path_within("/dev/pts", node->path) ||
	       (sb_path_within("/dev", node->path) && !(node->allow & 1u << SB_CREATE));
}

static int grant_devices(const struct domain *domain, const struct sb_plan *plan,
			 struct sb_error *err)
{
	int status = SB_OK;

	for (size_t i = 0; i < plan->node_count && status == SB_OK; i++) {
		const struct sb_plan_node *node = &plan->nodes[i];

		if (domain->no_terminals && sb_path_within(TERMINALS, node->path))
			continue;
		if (node->state == SB_STATE_WRITABLE && is_native(node))
			status = grant(
				domain, node->path,
				rights_for(node->allow & 1u << SB_MODIFY, domain->abi, false), err);
	}
	return status;
}

#define FAST_ABI 3

bool sb_landlock_holds_fast(const struct sb_layers *layers)
{
	return layers->landlock_abi >= FAST_ABI;
}

/*
 * SECURITY: all that may be done in a fast root, and nothing that reaches beyond it.
 *
 * Danger: whatever the supervisor lets through (linux_fast.h), the kernel resolves a path that the
 * command may have changed meanwhile.  This is what holds it then.  No device nodes, and no device
 * is driven through one that lies there: that is no matter of building something.
 * Held by: tests/supervise/fast.py
 */
static int grant_fast(const struct domain *domain, const struct sb_plan *plan, struct sb_error *err)
{
	const uint64_t devices = SB_LL_MAKE_CHAR | SB_LL_MAKE_BLOCK | SB_LL_IOCTL_DEV;
	int status = SB_OK;

	for (size_t i = 0; i < plan->node_count && status == SB_OK; i++) {
		const struct sb_plan_node *node = &plan->nodes[i];

		if (node->fast)
			status = grant(domain, node->path,
				       rights_for(node->allow, domain->abi, false) & ~devices, err);
	}
	return status;
}

/* Does one of the plan's other mounts lie in what this step mounts?  Landlock's rights go through it. */
static bool has_mount_in(const struct sb_plan *plan, const struct sb_mount_step *step)
{
	for (size_t i = 0; i < plan->mount_count; i++)
		if (&plan->mounts[i] != step && sb_path_within(step->path, plan->mounts[i].path))
			return true;
	return false;
}

/*
 * SECURITY: core dumps are left in temp directories of the run's own, and nowhere else but in fast roots.
 *
 * Danger: the kernel makes them with the rights of the command, in its current directory, and by no call
 * that could be held (core(5)).  With these rights in a project a crash in .git/remotes leaves a file whose
 * lines git obeys, and what sb_broker_let_through() lets through makes a hook: both were tried.  Nobody
 * outside ever sees a name in these directories, and a broker makes whatever is wanted there (own_temp.h).
 * Price: none in a project; with log-allowed none at all, since nobody would have seen it.
 * Held by: tests/supervise/cores.py
 */
static int grant_cores(const struct domain *domain, const struct sb_plan *plan,
		       const struct sb_layers *layers, struct sb_error *err)
{
	struct rlimit limit;
	int status = SB_OK;

	if (!layers->mounts || plan->tells_allowed || getrlimit(RLIMIT_CORE, &limit) != 0 ||
	    !limit.rlim_max)
		return SB_OK;
	for (size_t i = 0; i < plan->mount_count && status == SB_OK; i++)
		if (plan->mounts[i].kind == SB_MOUNT_TMPFS && !has_mount_in(plan, &plan->mounts[i]))
			status = grant(domain, plan->mounts[i].path,
				       SB_LL_MAKE_REG | SB_LL_WRITE_FILE | SB_LL_REMOVE_FILE, err);
	return status;
}

/*
 * Standard output and error may be files that the caller opened outside the roots.
 * They can be written through the descriptor anyway; programs also open them by
 * name (/dev/stdout), and that works without the sandbox.
 */
static int grant_stdio(const struct domain *domain, struct sb_error *err)
{
	for (int fd = 1; fd <= 2; fd++) {
		struct stat info;
		int flags = fcntl(fd, F_GETFL), status;

		if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY || (flags & O_PATH) ||
		    fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
			continue;
		status = sb_sys_landlock_add_path(domain->fd, fd,
						  rights_for(1u << SB_MODIFY, domain->abi, true) &
							  domain->handled & ~SB_LL_IOCTL_DEV);
		/* EBADFD: an inode of no visible filesystem (memfd), which is never restricted */
		if (status < 0 && status != -EBADFD)
			return cannot(err, status, fd == 1 ? "standard output" : "standard error");
	}
	return SB_OK;
}

/* The same for terminals that the command has from the start, if /dev/pts has no rule. */
static int grant_terminals(const struct domain *domain, const struct sb_layers *layers,
			   struct sb_error *err)
{
	uint64_t granted = (rights_for(1u << SB_MODIFY, domain->abi, true) | READ_CONTENT) &
			   domain->handled;

	if (domain->no_terminals && grant(domain, TERMINALS "/ptmx", granted, err) != SB_OK)
		return err->code;
	for (int fd = 0; fd <= 2 && (layers->terminals || domain->no_terminals); fd++) {
		int flags = fcntl(fd, F_GETFL), status;
		struct stat info;

		if (flags < 0 || (flags & O_PATH) || fstat(fd, &info) != 0 ||
		    !S_ISCHR(info.st_mode) || !isatty(fd))
			continue;
		status = sb_sys_landlock_add_path(domain->fd, fd, granted);
		if (status < 0)
			return cannot(err, status, "the terminal");
	}
	return SB_OK;
}

/*
 * POSIX message queues are files, of a file system that is mounted nowhere (mq_overview(7)), and Landlock asks what is
 * granted at its root.  They are those of the run's own ipc namespace: nobody outside can open one.  Not granted, they
 * answer EACCES, which is the safe side.
 */
static void grant_queues(const struct domain *domain, const struct sb_layers *layers)
{
	if (layers->queues >= 0)
		sb_sys_landlock_add_path(domain->fd, layers->queues, SB_LL_WRITE_FILE);
}

/* Terminals have contents, but no names that anybody hides. */
static bool closes_terminals(const struct domain *domain)
{
	return domain->no_terminals && (domain->reads & SB_LL_READ_FILE);
}

static bool hides(const struct domain *domain, const struct sb_plan_node *node)
{
	return (domain->reads & SB_LL_READ_FILE) ? sb_plan_hides_content(node)
						 : sb_plan_hides_names(node);
}

/*
 * Is there something at path or beneath it that reading must leave out?  Single terminals are
 * not: new ones would be left out as well, and a run makes its own.
 */
static bool leads_to_hidden(const struct domain *domain, const struct sb_plan *plan,
			    const char *path)
{
	if (closes_terminals(domain) && sb_path_within(path, TERMINALS))
		return true;
	for (size_t i = 0; i < plan->node_count; i++)
		if (sb_path_within(path, plan->nodes[i].path) && hides(domain, &plan->nodes[i]) &&
		    (!sb_path_within(TERMINALS, plan->nodes[i].path) ||
		     strcmp(TERMINALS, plan->nodes[i].path) == 0))
			return true;
	return false;
}

static bool is_hidden(const struct domain *domain, const struct sb_plan *plan, const char *path)
{
	if (closes_terminals(domain) && strcmp(path, TERMINALS) == 0)
		return true;
	for (size_t i = 1; i < plan->node_count; i++)
		if (strcmp(plan->nodes[i].path, path) == 0)
			return hides(domain, &plan->nodes[i]);
	return false;
}

static int grant_reads_around(const struct domain *domain, const struct sb_plan *plan,
			      const char *path, struct sb_error *err);

/* The way through a directory that cannot be listed: only the names that rules know. */
static int grant_reads_known(const struct domain *domain, const struct sb_plan *plan,
			     const char *path, struct sb_error *err)
{
	size_t skip = strlen(path) + (strcmp(path, "/") != 0);
	SB_AUTO_FREE char *last = NULL;
	int status = SB_OK;

	for (size_t i = 1; i < plan->node_count && status == SB_OK; i++) {
		const char *node = plan->nodes[i].path;
		char *inside;

		if (!sb_path_within(path, node) || strcmp(path, node) == 0)
			continue;
		inside = strndup(node, skip + strcspn(node + skip, "/"));
		if (!inside)
			return sb_no_memory(err);
		if (last && strcmp(last, inside) == 0) { /* nodes are ordered as a tree */
			free(inside);
			continue;
		}
		free(last);
		last = inside;
		if (!leads_to_hidden(domain, plan, inside))
			status = grant(domain, inside, domain->reads, err);
		else if (!is_hidden(domain, plan, inside))
			status = grant_reads_around(domain, plan, inside, err);
	}
	return status;
}

/* What lies in a "/" that cannot be listed, as that of a worker which another one called: programs. */
static int grant_reads_system(const struct domain *domain, const struct sb_plan *plan,
			      struct sb_error *err)
{
	static const char *const places[] = {"/usr",   "/bin",    "/sbin", "/lib", "/lib32",
					     "/lib64", "/libx32", "/etc",  "/proc"};
	int status = SB_OK;

	for (size_t i = 0; i < sizeof places / sizeof places[0] && status == SB_OK; i++)
		if (access(places[i], F_OK) == 0 && !leads_to_hidden(domain, plan, places[i]))
			status = grant(domain, places[i], domain->reads, err);
	return status;
}

/*
 * Hiding without mounts: reading is granted on every entry beside the way to a
 * hidden one.  What is created beside it later cannot be read (KERNEL.md E), unless it is a spare.
 */
static int grant_reads_around(const struct domain *domain, const struct sb_plan *plan,
			      const char *path, struct sb_error *err)
{
	SB_AUTO_DIR DIR *dir = opendir(path);
	const struct dirent *entry;
	int status = SB_OK;

	if (!dir) {
		status = grant_reads_known(domain, plan, path, err);
		return status == SB_OK && !path[1] ? grant_reads_system(domain, plan, err) : status;
	}
	while (status == SB_OK && (entry = readdir(dir))) {
		SB_AUTO_FREE char *inside = NULL;

		if (sb_is_dots(entry->d_name) ||
		    (domain->reads == SB_LL_READ_DIR && entry->d_type != DT_DIR &&
		     entry->d_type != DT_UNKNOWN))
			continue;
		inside = sb_path_join(path, entry->d_name);
		if (!inside)
			return sb_no_memory(err);
		if (!leads_to_hidden(domain, plan, inside)) {
			status = grant(domain, inside, domain->reads, err);
			continue;
		}
		if (!is_hidden(domain, plan, inside))
			status = grant_reads_around(domain, plan, inside, err);
	}
	return status;
}

/*
 * SECURITY: reading is granted where the plan shows something, and nowhere above.
 *
 * Danger: rights add up on the way down.  What is granted at "/" cannot be taken back in a hidden
 * directory, nor what is granted at a directory shown in a hidden one from a file hidden in it.
 * Price: names can be listed wherever something around them can be read.  Of a supervised run that
 * is true of the performer alone: the command has a layer more, by which it lists what lies beside
 * the way to hidden directories, and the broker opens the others that it may see (layers->listings).
 * A worker that another one calls has no names of what is hidden, and cannot list "/" for that.
 * Held by: tests/enforce/ancestors.py, tests/supervise/hidden_names.py
 */
static int grant_reads(const struct domain *domain, const struct sb_plan *plan,
		       struct sb_error *err)
{
	int status = SB_OK;

	for (size_t i = 0; i < plan->node_count && status == SB_OK; i++) {
		const struct sb_plan_node *node = &plan->nodes[i];

		if (node->state == SB_STATE_HIDDEN ||
		    (i && plan->nodes[node->parent].state != SB_STATE_HIDDEN))
			continue;
		if (!(domain->reads & SB_LL_READ_DIR))
			status = grant(domain, node->path, SB_LL_READ_DIR, err);
		if (status != SB_OK)
			break;
		status = leads_to_hidden(domain, plan, node->path)
				 ? grant_reads_around(domain, plan, node->path, err)
				 : grant(domain, node->path, domain->reads, err);
	}
	return status;
}

/* Empty now, and the run's own: what they will be, the asker decides. */
static int grant_spares(const struct domain *domain, const struct sb_layers *layers,
			struct sb_error *err)
{
	int status = SB_OK;

	for (int i = 0; layers->spares >= 0 && i < SB_SPARES + SB_SPARE_DIRECTORIES; i++) {
		uint64_t granted = i < SB_SPARES ? domain->reads & ~SB_LL_READ_DIR : domain->reads;
		char name[SB_SPARE_NAME];
		SB_AUTO_FD int fd = openat(layers->spares, sb_spare_name(name, i),
					   O_PATH | O_NOFOLLOW | O_CLOEXEC);

		if (fd >= 0 && granted)
			status = sb_sys_landlock_add_path(domain->fd, fd, granted);
		if (status < 0)
			return cannot(err, status, name);
	}
	return SB_OK;
}

const char *const sb_loaders[] = {
	"/lib64/ld-linux-x86-64.so.2",
	"/lib/ld-linux-aarch64.so.1",
	"/lib/ld-linux.so.2",
	"/lib/ld-linux-armhf.so.3",
	"/lib64/ld64.so.2",
	"/lib/ld-linux-riscv64-lp64d.so.1",
	"/lib/ld-musl-x86_64.so.1",
	"/lib/ld-musl-aarch64.so.1",
	NULL,
};

/*
 * Programs that may be executed, by file and not by name.  The kernel opens the loader of a program as if that were
 * executed, too (load_elf_binary()); what it could be told to run instead: linux_view_programs.c.
 */
static int grant_programs(const struct domain *domain, const struct sb_plan *plan,
			  struct sb_error *err)
{
	const char *const *const lists[] = {plan->programs, sb_loaders};
	int status = SB_OK;

	for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
		for (size_t j = 0; lists[i][j] && status == SB_OK; j++) {
			SB_AUTO_FREE char *file = NULL;

			status = sb_path_canonical(lists[i][j], &file, NULL, err);
			if (status == SB_OK)
				status = grant(domain, file, SB_LL_EXECUTE, err);
		}
	return status;
}

/*
 * Which changes are ruled.  Truncation is looked up at every open, also for reading, and
 * a walk to the root each time is most of what Landlock costs (a sixth of open+read+close).
 * Read-only mounts hold it as well, unless something writable may be created in but not modified;
 * inside the roots of a supervised run sb_broker_let_through() does.
 */
static uint64_t handled_changes(const struct sb_plan *plan, const struct sb_layers *layers)
{
	uint64_t all = rights_for(~0u, layers->landlock_abi, false);

	if (!layers->mounts)
		return all;
	for (size_t i = 0; i < plan->node_count; i++)
		if (plan->nodes[i].state == SB_STATE_WRITABLE &&
		    !(plan->nodes[i].allow & 1u << SB_MODIFY))
			return all;
	return all & ~SB_LL_TRUNCATE;
}

int sb_landlock_enter(const struct sb_plan *plan, const struct sb_layers *layers, bool floor,
		      struct sb_error *err)
{
	struct domain domain = {.fd = -1, .abi = layers->landlock_abi};
	struct sb_ll_ruleset ruleset = {0};
	SB_AUTO_FD int fd = -1;
	int status;

	domain.no_terminals = layers->supervised && !layers->mounts && !layers->outer &&
			      plan->own_terminals;
	domain.reads = floor ? SB_LL_READ_DIR : READ_CONTENT;
	if (floor ? !layers->listings : layers->mounts || !leads_to_hidden(&domain, plan, "/"))
		domain.reads = 0;
	if (domain.reads && plan->view)
		domain.reads |= SB_LL_READ_DIR;
	ruleset.handled_fs = handled_changes(plan, layers);
	if (domain.reads)
		ruleset.handled_fs |= domain.reads | SB_LL_READ_DIR;
	if (plan->programs) { /* to read is not to execute then */
		ruleset.handled_fs |= SB_LL_EXECUTE;
		domain.reads &= ~SB_LL_EXECUTE;
	}
	if (domain.abi >= 4 && !plan->network)
		ruleset.handled_net = SB_LL_NET_BIND_TCP | SB_LL_NET_CONNECT_TCP;
	if (domain.abi >= 6)
		ruleset.scoped = SB_LL_SCOPE_ABSTRACT_UNIX | SB_LL_SCOPE_SIGNAL;
	/* A network of our own needs no TCP rule, and loopback is to work in it. */
	if (layers->net_namespace)
		ruleset.handled_net = 0;

	fd = sb_sys_landlock_create(&ruleset, domain.abi);
	if (fd < 0)
		return sb_fail(err, SB_E_SYSTEM, -fd, "cannot make a Landlock ruleset");
	domain.fd = fd;
	domain.handled = ruleset.handled_fs;
	status = floor ? grant_devices(&domain, plan, err)
		       : grant_changes(&domain, plan, layers, err);
	if (status == SB_OK && floor && sb_landlock_holds_fast(layers))
		status = grant_fast(&domain, plan, err);
	if (status == SB_OK && floor)
		status = grant_cores(&domain, plan, layers, err);
	grant_queues(&domain, layers);
	if (status == SB_OK && !floor)
		status = grant_stdio(&domain, err);
	if (status == SB_OK)
		status = grant_terminals(&domain, layers, err);
	if (status == SB_OK && domain.reads)
		status = grant_reads(&domain, plan, err);
	if (status == SB_OK && domain.reads)
		status = grant_spares(&domain, layers, err);
	if (status == SB_OK && plan->programs)
		status = grant_programs(&domain, plan, err);
	if (status != SB_OK)
		return status;
	status = sb_sys_landlock_restrict(fd);
	if (status == -E2BIG)
		return sb_fail(err, SB_E_UNSUPPORTED, E2BIG,
			       "cannot enter another Landlock domain: sixteen are stacked already");
	if (status < 0)
		return sb_fail(err, SB_E_SYSTEM, -status, "cannot enter the Landlock domain");
	return SB_OK;
}
