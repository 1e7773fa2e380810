/*
 * linux_attempt.c - steps 2 to 5 of a held call (linux_broker.c): resolved, judged, done.
 *
 * All of it once more when a name has changed meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/auto.h"
#include "path/path.h"
#include "policy/fast.h"
#include "supervise/acts.h"
#include "supervise/approve.h"
#include "supervise/case.h"
#include "supervise/constrained.h"
#include "supervise/domains.h"
#include "supervise/land.h"
#include "supervise/linger.h"
#include "supervise/links.h"
#include "supervise/meaning.h"
#include "supervise/owed.h"
#include "supervise/perform.h"
#include "supervise/performer.h"
#include "supervise/proc_name.h"
#include "supervise/thread.h"
#include "supervise/unseen.h"
#include "sys/notify.h"

#define HOLD_MS 2 /* between looks at a name that is on hold: meaning.h */

/*
 * SECURITY: a descriptor the caller has open for writing may be opened again by its name in
 * /proc (/dev/stdout does that).
 *
 * Danger: the caller may put another file at that number while we look.  So a copy of the
 * very descriptor says both how it is open and that it is the file we are about to open.
 * Price: without pidfd_getfd (some containers) such an open is decided by path alone.
 * Held by: tests/enforce/fds.py
 */
static bool holds_already(int proc, const struct sb_call *call, const struct sb_spot *file)
{
	int has, wants = call->flags & O_ACCMODE;
	struct stat info;
	SB_AUTO_FD int fd = -1;

	if (!file->through_fd)
		return false;
	fd = sb_thread_take_descriptor(proc, call->thread, file->fd_number);
	has = fd < 0 ? -1 : fcntl(fd, F_GETFL);
	if (has < 0 || (has & O_PATH) || fstat(fd, &info) != 0 ||
	    info.st_dev != file->info.st_dev || info.st_ino != file->info.st_ino)
		return false;
	return (has & O_ACCMODE) == O_RDWR || ((has & O_ACCMODE) == O_WRONLY && wants == O_WRONLY);
}

/*
 * Is a name given or taken away where this process has no right to?  A rule for one file or
 * directory opens its name, too, which is its parent's.  (Not that of a project: it stays.)
 */
static bool is_name_out_of_reach(const struct sb_performer *performer,
				 const struct sb_judged *judged)
{
	SB_AUTO_FREE char *parent = NULL;

	if ((judged->op != SB_CREATE && judged->op != SB_DELETE) || !judged->decision.rule ||
	    judged->decision.rule->tier == SB_TIER_BUILTIN)
		return false;
	parent = sb_path_parent(judged->site->path);
	return parent && sb_plan_state_at(performer->plan, parent) != SB_STATE_WRITABLE;
}

/*
 * A file that a rule names is a mount point, and stays one where it is moved to: there it is in the
 * way of this process alone.  Whatever the plan has put where it is stays.
 */
static bool is_moved_mount(const struct sb_performer *performer, const char *path)
{
	const struct sb_plan *plan = performer->plan;

	for (size_t i = 0; i < plan->node_count; i++)
		if (strcmp(plan->nodes[i].path, path) == 0)
			return false;
	return true;
}

/*
 * A user namespace that nobody with privileges has set up knows one user and one group, and takes any
 * other for invalid, the caller's further groups among them: user_namespaces(7).  Outside the
 * kernel decides as without a sandbox.  The numbers are the same there.
 */
static bool is_unknown_owner(const struct sb_call *call, int error)
{
	static const char lists[] = "system.posix_acl_";

	return error == EINVAL &&
	       (call->act == SB_ACT_CHOWN || (call->act == SB_ACT_SETXATTR &&
					      strncmp(call->text, lists, sizeof lists - 1) == 0));
}

bool sb_broker_is_out_of_reach(const struct sb_performer *performer, const struct sb_call *call,
			       const struct sb_judgement *judgement, int error)
{
	if (is_unknown_owner(call, error))
		return true;
	if (error != EROFS && error != EACCES && error != EPERM && error != EXDEV && error != EBUSY)
		return false;
	if (call->act == SB_ACT_ACCESS && error != EROFS)
		return false;
	if (error == EBUSY &&
	    (sb_perform_is_dots(judgement->sites[0].name) ||
	     (judgement->sites[1].name && sb_perform_is_dots(judgement->sites[1].name))))
		return false;
	/* of a directory that was removed and made anew the mount is gone */
	if (error == EROFS)
		return true;
	for (size_t i = 0; i < judgement->count; i++) {
		const struct sb_judged *judged = &judgement->all[i];
		const char *path = judged->site->path;

		if (path[0] && (sb_plan_state_at(performer->plan, path) != SB_STATE_WRITABLE ||
				is_name_out_of_reach(performer, judged) ||
				(error == EBUSY && is_moved_mount(performer, path))))
			return true;
	}
	return false;
}

int sb_broker_resolve(const struct sb_broker *broker, struct sb_cwd *cwd,
		      const struct sb_call *call, const struct sb_named *named,
		      enum sb_lookup lookup, struct sb_spot *out)
{
	const struct sb_caller caller = {call->thread, broker->performer->proc, cwd};

	if (named->by_descriptor) {
		int status = sb_resolve_descriptor(&caller, named->fd, out);

		if (status == 0 && named->open_only &&
		    !sb_thread_has_open(broker->performer->proc, call->thread, named->fd)) {
			sb_spot_done(out);
			return -EBADF;
		}
		return status;
	}
	if (call->resolve && named == &call->file)
		return sb_resolve_constrained(&caller, call, out);
	return sb_resolve(&caller, named->fd, named->path, lookup, out);
}

bool sb_broker_inner_allows(const struct sb_call *call, const struct sb_spot *file,
			    const struct sb_spot *target)
{
	const struct sb_domain *domain;

	if (!sb_domain_of(call->thread, &domain))
		return false;
	for (; domain; domain = domain->outer) {
		const struct sb_grounds grounds = {.policy = domain->policy};
		struct sb_judgement judgement;

		sb_judge_call(&grounds, call, file, target, &judgement);
		if (judgement.strictest->decision.verdict != SB_ALLOW)
			return false;
	}
	return true;
}

/* A name is looked up in a directory that can be searched, and only then minded otherwise. */
static bool may_search(const struct sb_spot *file)
{
	return file->directory < 0 || faccessat(file->directory, ".", X_OK, AT_EACCESS) == 0;
}

/*
 * In procfs no attribute can be set, but who may not is told that first (xattr(7)): some names
 * are not for everybody, and links have none of the user's.
 */
static int attribute_error_in_proc(const struct sb_call *call, const struct sb_spot *file)
{
	bool plain = S_ISREG(file->info.st_mode) || S_ISDIR(file->info.st_mode);
	char name[SB_PROC_NAME];

	if (strncmp(call->text, "trusted.", 8) == 0 || strncmp(call->text, "security.", 9) == 0 ||
	    (strncmp(call->text, "user.", 5) == 0 && !plain))
		return EPERM;
	sb_proc_self_fd(name, file->object);
	if (strncmp(call->text, "system.", 7) != 0 &&
	    faccessat(AT_FDCWD, name, W_OK, AT_EACCESS) != 0)
		return errno;
	return sb_acts[call->act].in_proc;
}

/* Renamed to itself: nothing to do, and nobody minds whether it could be done. */
static bool is_same_name(const struct sb_spot *file, const struct sb_spot *target)
{
	struct stat from, to;

	return file->directory >= 0 && target->directory >= 0 &&
	       strcmp(file->name, target->name) == 0 && !strchr(file->name, '/') &&
	       fstat(file->directory, &from) == 0 && fstat(target->directory, &to) == 0 &&
	       from.st_dev == to.st_dev && from.st_ino == to.st_ino;
}

static bool is_missing(const struct sb_spot *spot)
{
	struct stat info;

	return spot->object < 0 && spot->directory >= 0 &&
	       fstatat(spot->directory, spot->name, &info, AT_SYMLINK_NOFOLLOW) != 0 &&
	       errno == ENOENT;
}

/* Names in procfs: switches are for Landlock to refuse, which it does; the rest is as it is. */
static void answer_in_proc(const struct sb_broker *broker, const struct sb_call *call,
			   const struct sb_spot *file, const struct sb_spot *target)
{
	int error = target->directory >= 0 && !(may_search(file) && may_search(target))
			    ? EACCES
			    : sb_perform_precheck(call, file, target);

	if (!error)
		error = sb_perform_postcheck(call, file);
	if (!error && call->act == SB_ACT_LINK && !target->in_proc)
		error = EXDEV;
	if (call->act == SB_ACT_OPEN) {
		/* nothing is made in /proc, and where nothing is there is nothing to empty */
		if ((call->flags & O_TRUNC) && is_missing(file)) {
			sb_broker_answer_error(broker, call, ENOENT);
			return;
		}
		/* a swap gains no more than at a device: sb_broker_let_through() */
		if (S_ISLNK(file->info.st_mode)) /* one that is not followed */
			sb_broker_answer_error(broker, call, error ? error : ELOOP);
		else
			sb_broker_let_through(broker, call);
		return;
	}
	/* the mode of a link is how its descriptor is open, and asking for it changes nothing */
	if (!error && call->act == SB_ACT_ACCESS && S_ISLNK(file->info.st_mode)) {
		struct sb_outcome outcome = sb_perform(call, file, NULL);

		sb_broker_answer(broker, call, NULL, NULL, &outcome);
		return;
	}
	if (error)
		sb_broker_fail(broker, call, error);
	else if (call->act == SB_ACT_RENAME && is_same_name(file, target))
		sb_sys_notify_return(broker->performer->listener, call->id, 0);
	else if (call->act == SB_ACT_SETXATTR || call->act == SB_ACT_REMOVEXATTR)
		sb_broker_fail(broker, call, attribute_error_in_proc(call, file));
	else
		sb_broker_fail(broker, call, sb_acts[call->act].in_proc);
}

/* Longer than the caller may make files: the signal and the answer that the kernel gives. */
static bool is_too_long(const struct sb_performer *performer, const struct sb_call *call,
			const struct sb_spot *file)
{
	struct rlimit limit;
	char name[SB_PROC_NAME];

	if (call->act != SB_ACT_TRUNCATE || !S_ISREG(file->info.st_mode) ||
	    call->length <= file->info.st_size ||
	    prlimit(call->thread, RLIMIT_FSIZE, NULL, &limit) != 0 ||
	    limit.rlim_cur == RLIM_INFINITY || (rlim_t)call->length <= limit.rlim_cur)
		return false;
	sb_proc_self_fd(name, file->object);
	if (faccessat(AT_FDCWD, name, W_OK, AT_EACCESS) != 0 ||
	    !sb_sys_notify_alive(performer->listener, call->id))
		return false;
	syscall(SYS_tkill, call->thread, SIGXFSZ);
	return true;
}

/*
 * A file takes a guarded name: what lands are the bytes that were looked at (land.h).  False:
 * that is not ours to do, or has to be asked; also if the name is another one by now (meaning.h).
 */
static bool landed(struct sb_broker *broker, const struct sb_call *call, const struct sb_spot *file,
		   struct sb_spot *target, struct sb_judgement *judgement)
{
	const struct sb_performer *performer = broker->performer;
	struct sb_source source;
	bool allowed = false;
	int status;

	/* without mounts modes are the asker's business: linux_seccomp.c */
	if (judgement->strictest->decision.verdict != SB_ALLOW || !performer->layers->mounts ||
	    sb_source_read(call, file, target, sb_judged_kind(judgement), &source) < 0)
		return false;
	if (sb_judge_bytes(performer->grounds, judgement, sb_bytes_seen(&source.old),
			   sb_bytes_seen(&source.bytes)) &&
	    sb_sys_notify_alive(performer->listener, call->id)) {
		struct sb_leaving from = sb_links_look(file->directory, file->name);
		struct sb_leaving to = sb_links_look(target->directory, target->name);

		status = sb_source_land(call, &source, file, target);
		allowed = status == 0;
		if (allowed && sb_spot_is_old(target) &&
		    !sb_spot_confirm(performer->proc, target)) {
			sb_source_take_back(call, &source, file, target);
			allowed = false;
		}
		if (allowed && call->act == SB_ACT_RENAME)
			sb_links_left(&from);
		if (allowed)
			sb_links_left(&to);
	}
	if (allowed) {
		const struct sb_telling telling = sb_broker_telling(broker);

		sb_linger_landed(&telling, judgement, sb_bytes_seen(&source.old));
		sb_broker_done(broker, judgement->strictest->op);
		sb_resolve_renamed();
		sb_owed_return(performer->listener, call, file, target);
	}
	sb_source_done(&source);
	return allowed;
}

/* Bytes are about to land on a guarded name.  Answers the call, or hands it on. */
static void answer_landing(struct sb_broker *broker, const struct sb_call *call,
			   struct sb_spot *file, struct sb_spot *target,
			   struct sb_judgement *judgement)
{
	if (call->act != SB_ACT_OPEN) {
		if (!landed(broker, call, file, target, judgement))
			sb_broker_forward(broker, call, file, target, -1);
	} else if (judgement->strictest->decision.verdict == SB_ALLOW) {
		sb_stage_open(broker, call, file);
	} else {
		sb_stage_ask(broker, call, file);
	}
}

/*
 * SECURITY: contents are changed in place only where no name from before leads to them.
 *
 * Danger: such a name may be a guarded one, or lie outside the roots.
 * Price: a link from before is a copy once it has been written to.
 * Held by: tests/supervise/guard.py
 */
static struct sb_outcome own_links(int proc, const struct sb_call *call, struct sb_spot *file,
				   const struct sb_spot *target)
{
	bool writes = call->act == SB_ACT_TRUNCATE ||
		      (call->act == SB_ACT_OPEN && (call->flags & (O_ACCMODE | O_TRUNC)));
	struct sb_outcome outcome = {.fd = -1};

	if (writes && file->object >= 0 && sb_links_foreign(file) &&
	    !sb_perform_precheck(call, file, target) && !holds_already(proc, call, file))
		outcome.error = -sb_links_break(file);
	return outcome;
}

/* A rename between two names of one file does nothing, and both stay: rename(2). */
static bool stays(const struct sb_leaving *leaving, const struct sb_spot *file)
{
	struct sb_leaving old = leaving->counts ? sb_links_look(file->directory, file->name)
						: (struct sb_leaving){false, 0, 0};

	return old.counts && old.device == leaving->device && old.inode == leaving->inode;
}

/* Carry it out, and keep count of the names that files have. */
static struct sb_outcome perform(const struct sb_performer *performer, const struct sb_call *call,
				 struct sb_spot *file, struct sb_spot *target,
				 const struct sb_judgement *judgement, bool *out_changed)
{
	const struct sb_acting acting = {performer->grounds, performer->proc};
	struct sb_leaving leaving = {false, 0, 0};
	struct sb_outcome outcome = {.fd = -1};

	*out_changed = false;
	/* there, links come and go without us */
	if (sb_fast_holds(performer->policy, file->path))
		return sb_perform(call, file, target);
	outcome = own_links(performer->proc, call, file, target);
	if (outcome.error)
		return outcome;
	if (call->act == SB_ACT_UNLINK)
		leaving = sb_links_look(file->directory, file->name);
	else if (call->act == SB_ACT_RENAME && !(call->flags & RENAME_EXCHANGE))
		leaving = sb_links_look(target->directory, target->name);
	outcome = sb_act(&acting, call, file, target, judgement, out_changed);
	if (*out_changed)
		return outcome;
	if (!outcome.error && call->act == SB_ACT_LINK)
		sb_links_made(file);
	else if (!outcome.error && !(call->act == SB_ACT_RENAME && stays(&leaving, file)))
		sb_links_left(&leaving);
	return outcome;
}

/* Rules about terminals mean the host's; in a /dev/pts of our own everything is the run's. */
static bool is_own_terminal(const struct sb_performer *performer, const struct sb_spot *file)
{
	return performer->layers->terminals && file->object >= 0 && S_ISCHR(file->info.st_mode) &&
	       file->info.st_dev == performer->layers->terminals;
}

/*
 * Would it empty a file that it opens neither for reading nor for writing (open(2), "3")?  That
 * exists for drivers, and nobody empties anything so but to be overlooked.
 */
static bool empties_unseen(const struct sb_call *call, const struct sb_spot *file)
{
	return call->act == SB_ACT_OPEN && file->object >= 0 && (call->flags & 3) == 3 &&
	       (call->flags & O_TRUNC);
}

/* /dev/ptmx beside a /dev/pts of our own: what it makes is in there, too. */
static bool makes_terminals(const struct sb_performer *performer, const struct sb_spot *file)
{
	return performer->layers->terminals && S_ISCHR(file->info.st_mode) &&
	       file->info.st_rdev == makedev(5, 2);
}

/*
 * Open a device for the caller, so that no path is looked up twice: those of every script, and
 * where there is no Landlock to hold the second look, the run's own terminals.  False: it is the
 * kernel's to open.
 */
static bool opened_device(struct sb_broker *broker, const struct sb_call *call,
			  const struct sb_spot *file)
{
	const struct sb_performer *performer = broker->performer;
	struct sb_outcome outcome = {.fd = -1};
	char name[SB_PROC_NAME];

	if ((call->flags & (O_NOFOLLOW | O_DIRECTORY)) ||
	    (call->flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL) ||
	    !sb_broker_inner_allows(call, file, NULL))
		return false;
	if (sb_is_harmless_device(&file->info)
		    ? sb_decide(performer->policy, SB_MODIFY, file->path).verdict != SB_ALLOW
		    : performer->layers->landlock_abi > 0 || !(is_own_terminal(performer, file) ||
							       makes_terminals(performer, file)))
		return false;
	if (!sb_sys_notify_alive(performer->listener, call->id))
		return true;
	outcome.fd = openat(AT_FDCWD, sb_proc_self_fd(name, file->object),
			    (call->flags & ~(O_CREAT | O_EXCL | O_TRUNC)) | O_NOCTTY);
	if (outcome.fd < 0) {
		sb_broker_answer_error(broker, call, errno);
		return true;
	}
	sb_broker_seen(broker, SB_MODIFY);
	sb_broker_done(broker, SB_MODIFY);
	sb_broker_answer(broker, call, NULL, NULL, &outcome);
	return true;
}

static void pause_for_hold(void)
{
	nanosleep(&(struct timespec){0, HOLD_MS * 1000000L}, NULL);
}

/*
 * Across the border of a fast root (policy/fast.h): what the kernel says of two disks.  It says so
 * of a rename before it looks at the last names, of a link after.
 */
static void answer_border(const struct sb_broker *broker, const struct sb_call *call,
			  const struct sb_spot *file, const struct sb_spot *target)
{
	int error = 0;

	if (!may_search(file) || !may_search(target))
		error = EACCES;
	else if (call->act == SB_ACT_LINK)
		error = sb_perform_precheck(call, file, target);
	sb_broker_fail(broker, call, error ? error : EXDEV);
}

static bool is_directory(const struct sb_spot *spot)
{
	struct stat info;

	return fstatat(spot->directory, spot->name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISDIR(info.st_mode);
}

/*
 * A directory that has, or would get, a name longer than a path: what it brings along has names that
 * nobody judges.  Who is told of two disks copies.
 */
static bool moves_deep(const struct sb_call *call, const struct sb_spot *file,
		       const struct sb_spot *target)
{
	return call->act == SB_ACT_RENAME && (file->whole || target->whole) &&
	       (is_directory(file) || ((call->flags & RENAME_EXCHANGE) && is_directory(target)));
}

/* A directory that may have links in it, to where not each may be: judge.h. */
static bool moves_links(const struct sb_policy *policy, const struct sb_call *call,
			const struct sb_spot *file, const struct sb_spot *target)
{
	return call->act == SB_ACT_RENAME &&
	       ((sb_judge_brings_links(policy, file->path, target->path) && is_directory(file)) ||
		((call->flags & RENAME_EXCHANGE) &&
		 sb_judge_brings_links(policy, target->path, file->path) && is_directory(target)));
}

static int resolve_target(const struct sb_broker *broker, struct sb_cwd *cwd,
			  const struct sb_call *call, const struct sb_spot *file,
			  struct sb_spot *out)
{
	const struct sb_named *from = &call->file, *to = &call->target;
	enum sb_lookup lookup = sb_perform_lookup(call);

	if (!from->by_descriptor && !to->by_descriptor && from->fd == to->fd &&
	    (lookup == SB_LOOKUP_NAME || lookup == SB_LOOKUP_NOFOLLOW) &&
	    sb_resolve_beside(file, from->path, to->path, out))
		return 0;
	return sb_broker_resolve(broker, cwd, call, to, SB_LOOKUP_NAME, out);
}

/* A call that comes again, since a signal ended it when it was done: owed.h. */
static bool answered_before(struct sb_broker *broker, const struct sb_call *call,
			    struct sb_spot *file, struct sb_spot *target)
{
	if (file->directory < 0 || !sb_broker_inner_allows(call, file, target))
		return false;
	if (sb_owed_pays(broker->performer->listener, call, file, target))
		return true;
	if (!sb_owed_by_asker(call, file, target))
		return false;
	sb_broker_forward(broker, call, file, target, -1);
	return true;
}

/* Does a umask count for it? */
static bool makes(const struct sb_call *call)
{
	return call->act == SB_ACT_OPEN || call->act == SB_ACT_MKDIR || call->act == SB_ACT_MKNOD;
}

/*
 * A file that the caller has just closed may be open here for a moment longer, and what may still be written to
 * counts as dangerous: perform.h.
 */
static void judge(const struct sb_performer *performer, const struct sb_call *call,
		  const struct sb_spot *file, const struct sb_spot *target,
		  struct sb_judgement *out)
{
	sb_judge_call(performer->grounds, call, file, target, out);
	if (out->strictest->decision.verdict == SB_ASK && out->strictest->guard.found) {
		sb_deliver_settle();
		sb_judge_call(performer->grounds, call, file, target, out);
	}
}

/* True: answered.  False: the name changed meanwhile, look again. */
bool sb_broker_attempt(struct sb_broker *broker, struct sb_cwd *cwd, const struct sb_call *call)
{
	const struct sb_performer *performer = broker->performer;
	bool two = call->act == SB_ACT_RENAME || call->act == SB_ACT_LINK;
	struct sb_spot file, target;
	struct sb_judgement judgement;
	struct sb_outcome outcome;
	bool judged = false; /* counted, once for each call */
	bool answered = true, changed, inner, allowed, metadata = sb_act_is_metadata(call->act);
	int status =
		sb_broker_resolve(broker, cwd, call, &call->file, sb_perform_lookup(call), &file);

	sb_spot_clear(&target);
	if (status == 0 && two) {
		status = call->target_error ? -call->target_error
					    : resolve_target(broker, cwd, call, &file, &target);
		/* the first path's last directory must be searchable before the second counts */
		if (status < 0 && !may_search(&file))
			status = -EACCES;
		if (status < 0)
			sb_spot_done(&file);
	}
	if (status < 0) {
		if (status == -EACCES)
			sb_unseen_tell(broker, cwd, call, NULL);
		sb_broker_answer_error(broker, call, -status);
		return true;
	}
	if (sb_owed_interrupts() && answered_before(broker, call, &file, two ? &target : NULL))
		goto out;
	if (two && !file.in_proc && !target.in_proc &&
	    (sb_fast_crosses(performer->policy, file.path, target.path) ||
	     moves_deep(call, &file, &target) ||
	     moves_links(performer->policy, call, &file, &target))) {
		answer_border(broker, call, &file, &target);
		goto out;
	}
	if (sb_guard_is_held(sb_spot_path(&file)) || sb_guard_is_held(sb_spot_path(&target))) {
		pause_for_hold();
		answered = false;
		goto out;
	}
	/* whose other names may be anywhere; but who can write to it already may do so again */
	if (file.lost && !sb_links_are_ours(&file) &&
	    !sb_fast_holds(performer->policy, file.path) &&
	    !(call->act == SB_ACT_OPEN && holds_already(performer->proc, call, &file))) {
		sb_broker_fail(broker, call, metadata ? EPERM : EACCES);
		goto out;
	}
	/* without a /dev/pts of its own the run has some terminals in it, and others not */
	if (call->act == SB_ACT_OPEN && !performer->layers->mounts &&
	    performer->plan->own_terminals && sb_is_terminal(&file)) {
		sb_broker_forward(broker, call, &file, &target, -1);
		goto out;
	}
	if (empties_unseen(call, &file)) {
		int error = sb_perform_precheck(call, &file, &target);

		sb_broker_answer_error(broker, call, error ? error : EACCES);
		goto out;
	}
	if (sb_perform_is_native(call, &file)) {
		if (!opened_device(broker, call, &file))
			sb_broker_let_through(broker, call); /* which says why it may */
		goto out;
	}
	if (metadata && sb_stage_metadata(broker, call, &file))
		goto out;
	inner = sb_broker_inner_allows(call, &file, two ? &target : NULL);
	judge(performer, call, &file, two ? &target : NULL, &judgement);
	allowed = inner && judgement.strictest->decision.verdict == SB_ALLOW && !judgement.lands;
	if (!allowed && inner &&
	    ((call->act == SB_ACT_OPEN && holds_already(performer->proc, call, &file)) ||
	     (!two && is_own_terminal(performer, &file))))
		allowed = true;
	judged = call->act != SB_ACT_ACCESS; /* which does nothing */
	if (!allowed && (file.in_proc || target.in_proc)) {
		answer_in_proc(broker, call, &file, &target);
		goto out;
	}
	if (!allowed) {
		int error = two && !(may_search(&file) && may_search(&target))
				    ? EACCES
				    : sb_perform_precheck(call, &file, &target);

		if (error) {
			sb_broker_answer_error(broker, call, error);
			goto out;
		}
	}
	if (!inner) {
		sb_broker_fail(broker, call, metadata ? EPERM : EACCES);
		goto out;
	}
	if (!allowed && judgement.lands) {
		answer_landing(broker, call, &file, &target, &judgement);
		goto out;
	}
	/* what becomes a program nobody may have open for writing, nor what is about to be shown */
	if (call->act == SB_ACT_CHMOD || (call->act == SB_ACT_RENAME && !allowed))
		sb_deliver_settle();
	/* without mounts nothing but the asker may touch metadata: linux_seccomp.c */
	if (!allowed || (metadata && !performer->layers->mounts)) {
		sb_broker_forward(broker, call, &file, &target, -1);
		goto out;
	}
	if (makes(call))
		sb_broker_set_umask(broker, call->thread);
	/* was what we read the caller's?  Its number may be another's by now */
	if (!sb_sys_notify_alive(performer->listener, call->id))
		goto out;
	if (is_too_long(performer, call, &file)) {
		sb_broker_fail(broker, call, EFBIG);
		goto out;
	}
	outcome = perform(performer, call, &file, &target, &judgement, &changed);
	if (call->act == SB_ACT_RENAME)
		sb_resolve_renamed();
	if (call->act == SB_ACT_RMDIR)
		sb_fast_removed(&broker->fast);
	if (changed ||
	    (outcome.error == EEXIST && call->act == SB_ACT_OPEN && !(call->flags & O_EXCL))) {
		answered = false;
	} else if (outcome.again) {
		sb_broker_wait_at_fifo(broker, call, &file);
	} else if (outcome.error &&
		   sb_broker_is_out_of_reach(performer, call, &judgement, outcome.error)) {
		sb_broker_forward(broker, call, &file, &target, -1);
	} else if (outcome.error) {
		sb_broker_answer_error(broker, call, outcome.error);
	} else {
		const struct sb_telling telling = sb_broker_telling(broker);

		sb_tell_act(&telling, call, &file, &target);
		if (judged)
			sb_broker_done(broker, judgement.strictest->op);
		sb_broker_answer(broker, call, &file, &target, &outcome);
	}
out:
	if (answered && judged)
		sb_broker_seen(broker, judgement.strictest->op);
	sb_spot_done(&file);
	sb_spot_done(&target);
	return answered;
}
