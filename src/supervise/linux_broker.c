/*
 * linux_broker.c - one held call: copied, resolved, decided, done.
 *
 *   1. copy      everything out of the command's memory, once (call.h)
 *   2. resolve   to a directory of ours and a name in it (resolve.h)
 *   3. judge     what the policy says (judge.h)
 *   4. alive?    after the last look at the command, before the first effect
 *   5. perform   on our own descriptors (perform.h), and hand over the result
 *
 * Whatever step 3 does not simply allow goes to the asker instead.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/auto.h"
#include "enforce/linux_landlock.h"
#include "enforce/linux_seccomp.h"
#include "policy/network.h"
#include "supervise/acts.h"
#include "supervise/case.h"
#include "supervise/constrained.h"
#include "supervise/proc_name.h"
#include "supervise/domains.h"
#include "supervise/meaning.h"
#include "supervise/owed.h"
#include "supervise/pending.h"
#include "supervise/perform.h"
#include "supervise/performer.h"
#include "supervise/sysv.h"
#include "supervise/thread.h"
#include "supervise/trace.h"
#include "supervise/unseen.h"
#include "supervise/wording.h"
#include "sys/notify.h"

#define TRIES 40 /* names come and go while we look: then give up */

/* --- groups --------------------------------------------------------------------------------- */

static gid_t *groups;
static int group_count;

void sb_groups_note(void)
{
	int most = getgroups(0, NULL);

	free(groups);
	groups = most > 0 ? malloc((size_t)most * sizeof *groups) : NULL;
	group_count = groups ? getgroups(most, groups) : 0;
}

/* Answer a held getgroups(). */
static void answer_groups(const struct sb_broker *broker, const struct seccomp_notif *notification)
{
	const __u64 *args = notification->data.args;
	int listener = broker->performer->listener, room = (int)args[0], status = 0;

	if (room && room < group_count)
		status = -EINVAL;
	else if (room && sb_sys_notify_alive(listener, notification->id))
		status = sb_sys_write_memory((pid_t)notification->pid, args[1], groups,
					     (size_t)group_count * sizeof *groups);
	if (group_count <= 0 || (status < 0 && status != -EINVAL && status != -EFAULT))
		sb_sys_notify_continue(listener, notification->id); /* as the namespace has them */
	else if (status < 0)
		sb_sys_notify_fail(listener, notification->id, -status);
	else
		sb_sys_notify_return(listener, notification->id, group_count);
}

/* --- opening ------------------------------------------------------------------------------ */

/* openat2() is held whatever it wants, since its flags are in memory.  This one only reads. */
static void open_to_read(const struct sb_broker *broker, const struct sb_call *call)
{
	const struct sb_caller caller = {call->thread, broker->performer->proc, NULL};
	struct sb_outcome outcome = sb_open_constrained(&caller, call);

	if (outcome.error)
		sb_broker_answer_error(broker, call, outcome.error);
	else
		sb_broker_answer(broker, call, NULL, NULL, &outcome);
}

/*
 * SECURITY: a program inside cannot put a Landlock layer on itself, unless it is a nested
 * sandbash that has told us its rules.
 *
 * Danger: its own layer would not bind us, who act for it: it would believe itself confined
 * and reach, through us, everything this run may change (KERNEL facts, M, "Nested").
 * Price: such programs see a kernel without Landlock.
 * Held by: tests/enforce/nested.py
 */
static void allow_own_landlock(const struct sb_broker *broker, const struct sb_call *call)
{
	const struct sb_domain *domain;

	/* a swap gains nothing: whatever it asks for, a layer of its own only takes away */
	if (sb_domain_of(call->thread, &domain) && domain)
		sb_broker_let_through(broker, call);
	else
		sb_broker_fail(broker, call, EOPNOTSUPP);
}

static bool holds_hosts(const struct sb_broker *broker, const struct sb_call *call)
{
	const struct sb_domain *domain;

	return broker->performer->gate && sb_domain_of(call->thread, &domain) && domain &&
	       sb_inner_hosts_hold(broker->performer->gate, broker->performer->grounds->policy,
				   domain);
}

static void enter_domain(const struct sb_broker *broker, const struct sb_call *call)
{
	int status = sb_domain_enter(broker->performer->listener, call->id, call->thread,
				     call->value, call->value_length);

	if (status < 0)
		sb_broker_fail(broker, call, -status);
	else
		sb_sys_notify_return(broker->performer->listener, call->id,
				     holds_hosts(broker, call) ? SB_HOLDS_HOSTS : 0);
}

static bool is_loader(const struct stat *file)
{
	for (size_t i = 0; sb_loaders[i]; i++) {
		struct stat loader;

		if (stat(sb_loaders[i], &loader) == 0 && loader.st_dev == file->st_dev &&
		    loader.st_ino == file->st_ino)
			return true;
	}
	return false;
}

/*
 * SECURITY: the dynamic loader is no program that could be run by itself.
 *
 * Danger: Landlock has to let it be executed, and it runs what it is told.  A caller that puts another path there after
 * our look gets it started, and finds with it programs among the libraries alone (enforce/linux_view_programs.c).
 * Price: a look at each program that is started, where only some may be.
 * Held by: tests/cli/worker.py
 */
static void refuse_loader(const struct sb_broker *broker, struct sb_cwd *cwd,
			  const struct sb_call *call)
{
	struct sb_spot file;
	int status = sb_broker_resolve(broker, cwd, call, &call->file,
				       call->file.follow ? SB_LOOKUP_FOLLOW : SB_LOOKUP_NOFOLLOW,
				       &file);

	if (status < 0) {
		sb_broker_answer_error(broker, call, -status);
		return;
	}
	if (is_loader(&file.info))
		sb_broker_fail(broker, call, EACCES);
	else
		sb_broker_let_through(broker, call);
	sb_spot_done(&file);
}

/* The strictest of what binds the caller: nothing in its own memory can make it less. */
static void tell_verdict(const struct sb_broker *broker, const struct sb_call *call)
{
	enum sb_op op = (enum sb_op)(call->flags - 1);
	const struct sb_domain *domain;
	char path[PATH_MAX];
	enum sb_verdict verdict;

	if (call->flags < 1 || call->flags > SB_OP_COUNT || call->value_length >= sizeof path ||
	    !sb_domain_of(call->thread, &domain)) {
		sb_broker_fail(broker, call, EINVAL);
		return;
	}
	memcpy(path, call->value, call->value_length);
	path[call->value_length] = '\0';
	verdict = sb_decide(broker->performer->grounds->policy, op, path).verdict;
	for (; domain; domain = domain->outer) {
		enum sb_verdict inner = sb_decide(domain->policy, op, path).verdict;

		verdict = inner > verdict ? inner : verdict;
	}
	sb_sys_notify_return(broker->performer->listener, call->id, verdict);
}

/* What the innermost worker has told that the caller belongs to: inside.h. */
static void tell_note(const struct sb_broker *broker, const struct sb_call *call)
{
	const struct sb_domain *domain;
	SB_AUTO_FD int fd = -1;
	size_t length;

	if (!sb_domain_of(call->thread, &domain))
		domain = NULL;
	while (domain && !domain->note[0])
		domain = domain->outer;
	if (!domain) {
		sb_broker_fail(broker, call, ENOENT);
		return;
	}
	length = strlen(domain->note);
	fd = memfd_create("worker", MFD_CLOEXEC);
	if (fd < 0 || pwrite(fd, domain->note, length, 0) != (ssize_t)length ||
	    sb_sys_notify_give(broker->performer->listener, call->id, fd, true) < 0)
		sb_broker_fail(broker, call, EIO);
}

/* May the caller read this?  There is nobody to ask about reading. */
static bool may_read(const struct sb_broker *broker, const struct sb_call *call, const char *path)
{
	const struct sb_domain *domain;

	if (sb_judge_read(broker->performer->grounds, path) != SB_ALLOW ||
	    !sb_domain_of(call->thread, &domain))
		return false;
	for (; domain; domain = domain->outer)
		if (sb_decide(domain->policy, SB_READ, path).verdict != SB_ALLOW)
			return false;
	return true;
}

/*
 * SECURITY: files that rules hide by name although no mount can: they may appear later.
 *
 * Danger: between our look and the kernel's the caller could put another path there.  So the
 * descriptor that was looked at is handed over.  Devices, FIFOs and procfs are the kernel's to
 * open (in us they would wait, or be ours), and there that race stays: a caller that wins it
 * reads a file that came to match after the start; what was there before is covered by mounts.
 * docs/security.md says so.
 * Price: every open goes through here.
 * Held by: tests/supervise/hidden.py
 */
static void open_if_shown(struct sb_broker *broker, struct sb_cwd *cwd, const struct sb_call *call)
{
	struct sb_spot file;
	struct sb_outcome outcome;
	int status = sb_broker_resolve(broker, cwd, call, &call->file,
				       call->file.follow ? SB_LOOKUP_FOLLOW : SB_LOOKUP_NOFOLLOW,
				       &file);

	if (status < 0) {
		if (status == -EACCES)
			sb_unseen_tell(broker, cwd, call, NULL);
		sb_broker_answer_error(broker, call, -status);
		return;
	}
	if (!(S_ISREG(file.info.st_mode) || S_ISDIR(file.info.st_mode) ||
	      S_ISLNK(file.info.st_mode) || sb_is_harmless_device(&file.info)) ||
	    sb_is_procfs(file.object)) {
		sb_broker_let_through(broker, call);
	} else if (file.path[0] && !sb_path_is_gone(file.path, file.info.st_nlink) &&
		   !may_read(broker, call, sb_spot_path(&file))) {
		sb_unseen_tell(broker, cwd, call, file.path);
		sb_broker_fail(broker, call, EACCES);
	} else if (sb_sys_notify_alive(broker->performer->listener, call->id)) {
		outcome = sb_perform_read(call, &file);
		if (outcome.error) {
			sb_broker_answer_error(broker, call, outcome.error);
		} else {
			sb_allowed_tell(broker, call, SB_READ, &file, NULL);
			sb_broker_answer(broker, call, &file, NULL, &outcome);
		}
	}
	sb_spot_done(&file);
}

/*
 * Only the caller itself may own a descriptor, or be given limits and a priority, where outside can be named:
 * linux_seccomp.c says why.  The number is an argument and stays what it was, and as long as the caller waits here it
 * is nobody else's.
 */
static void set_owner(const struct sb_broker *broker, const struct sb_call *call)
{
	long process = sb_thread_process(broker->performer->proc, call->thread);

	if (process > 0 && (call->owner_process == process || call->owner_process == call->thread))
		sb_broker_let_through(broker, call);
	else
		sb_broker_fail(broker, call, EPERM);
}

/* Could this process open for the command what the command may not read? */
static bool holds_reads(const struct sb_performer *performer)
{
	return performer->plan->holds_reads || performer->layers->listings;
}

static bool answered_at_once(struct sb_broker *broker, struct sb_cwd *cwd,
			     const struct sb_call *call)
{
	switch (call->act) {
	/* The next three have nothing in memory that counts.  umask: a number, for new files that
	 * we make and then look up.  chdir: one may stand anywhere, and where, is looked up anew.
	 * Locks change nothing but who waits. */
	case SB_ACT_UMASK:
		sb_broker_umask_changes(broker, call->thread);
		sb_broker_let_through(broker, call);
		return true;
	case SB_ACT_CHDIR:
		sb_resolve_moving(broker->performer->proc, call->thread);
		sb_broker_let_through(broker, call);
		return true;
	case SB_ACT_LOCK:
		sb_deliver_settle();
		sb_broker_let_through(broker, call);
		return true;
	case SB_ACT_OWNER:
		set_owner(broker, call);
		return true;
	case SB_ACT_LANDLOCK:
		allow_own_landlock(broker, call);
		return true;
	case SB_ACT_REGISTER:
		if (call->flags == SB_OP_COUNT + 1)
			tell_note(broker, call);
		else if (call->flags)
			tell_verdict(broker, call);
		else
			enter_domain(broker, call);
		return true;
	case SB_ACT_EXEC:
		refuse_loader(broker, cwd, call);
		return true;
	case SB_ACT_CLOSE:
		sb_stage_close(broker, call);
		return true;
	case SB_ACT_TIMES:
		if (call->flags) /* both times stay: the kernel does not even look at the path */
			sb_sys_notify_return(broker->performer->listener, call->id, 0);
		return call->flags;
	case SB_ACT_OPEN:
		/* No access to contents at all, wherever a swapped path leads; and such a
		 * descriptor cannot be handed over.  openat2(): ENOSYS. */
		if (call->flags & O_PATH)
			sb_broker_let_through(broker, call);
		else if (!(call->flags & SB_OPENS_TO_CHANGE) && holds_reads(broker->performer))
			open_if_shown(broker, cwd, call);
		else if (!(call->flags & SB_OPENS_TO_CHANGE))
			open_to_read(broker, call);
		return (call->flags & O_PATH) || !(call->flags & SB_OPENS_TO_CHANGE);
	default:
		return false;
	}
}

/* May anything be made there, or be changed if it is there already? */
static bool is_plain(const struct sb_performer *performer, const struct sb_spot *file)
{
	const struct sb_site site = sb_spot_site(file);

	return sb_judge_is_plain(performer->grounds, &site);
}

/*
 * Most opens with O_CREAT make a new file.  If the rules allow that and changing an old one,
 * try it at once: O_EXCL tells whether it is new.  False: look closer.
 */
static bool created_at_once(struct sb_broker *broker, struct sb_cwd *cwd,
			    const struct sb_call *call)
{
	const struct sb_performer *performer = broker->performer;
	const struct sb_domain *domain;
	struct sb_outcome outcome = {.error = EEXIST, .fd = -1};
	struct sb_spot file;

	if (call->act != SB_ACT_OPEN || call->resolve ||
	    (call->flags & (O_CREAT | O_EXCL)) != O_CREAT || sb_wording_sets_id(call))
		return false;
	if (sb_broker_resolve(broker, cwd, call, &call->file, SB_LOOKUP_NAME, &file) < 0)
		return false;
	if (is_plain(performer, &file) && sb_domain_of(call->thread, &domain) && !domain) {
		sb_broker_set_umask(broker, call->thread);
		if (sb_sys_notify_alive(performer->listener, call->id))
			outcome = sb_perform(call, &file, NULL);
	}
	/* if it took so long that the name may mean something else by now: meaning.h */
	if (!outcome.error && sb_spot_is_old(&file) &&
	    !(sb_spot_renew(performer->proc, &file) == 0 && is_plain(performer, &file))) {
		sb_act_take_back(call, &file, NULL, &outcome);
		outcome.error = EAGAIN;
	}
	if (!outcome.error) {
		const struct sb_telling telling = sb_broker_telling(broker);

		sb_broker_seen(broker, SB_CREATE);
		sb_broker_done(broker, SB_CREATE);
		sb_allowed_tell(broker, call, SB_CREATE, &file, NULL);
		sb_tell_act(&telling, call, &file, NULL);
		sb_broker_answer(broker, call, &file, NULL, &outcome);
	}
	sb_spot_done(&file);
	return !outcome.error;
}

/* In a fast root the kernel goes on by itself: fast.h says why it may. */
static bool is_fast(struct sb_broker *broker, struct sb_cwd *cwd, const struct sb_call *call)
{
	const struct sb_caller caller = {call->thread, broker->performer->proc, cwd};
	enum sb_op op;

	/* what openat2() wants lies in memory, and may be something else by now */
	if (!broker->fast.count || call->flags_in_memory ||
	    broker->performer->plan->tells_allowed ||
	    !sb_fast_lets_through(&broker->fast, &caller, call, &op))
		return false;
	sb_broker_seen(broker, op);
	sb_broker_done(broker, op); /* what the kernel says to it nobody hears */
	return true;
}

static void serve(struct sb_broker *broker, struct sb_cwd *cwd,
		  const struct seccomp_notif *notification)
{
	struct sb_call call;
	int status, tries = TRIES;

	if (notification->data.nr == SYS_socket) {
		sb_broker_make_socket(broker, notification);
		return;
	}
	if (sb_layers_hold_signals(broker->performer->layers) &&
	    sb_broker_signal(broker, notification))
		return;
	if (notification->data.nr == SYS_socketpair) {
		sb_broker_make_pair(broker, notification);
		return;
	}
	if (notification->data.nr == SYS_getgroups) {
		answer_groups(broker, notification);
		return;
	}
	if (!broker->performer->layers->ipc_namespace && sb_broker_sysv(broker, notification))
		return;
	status = sb_call_decode(notification, &call);
	if (status == 0)
		sb_trace_call(&call);
	sb_cwd_next(cwd);
	if (status < 0) {
		sb_broker_fail(broker, &call, -status);
	} else if (call.act == SB_ACT_CONNECT || call.act == SB_ACT_BIND) {
		sb_broker_socket(broker, &call);
	} else if (is_fast(broker, cwd, &call)) {
		/* a swap ends in the fast root or at Landlock: fast.h */
		sb_broker_let_through(broker, &call);
	} else if (!answered_at_once(broker, cwd, &call) && !created_at_once(broker, cwd, &call)) {
		while (!sb_broker_attempt(broker, cwd, &call)) {
			if (--tries == 0) {
				sb_broker_fail(broker, &call, sb_call_refusal(&call));
				break;
			}
			sb_cwd_next(cwd);
		}
	}
	sb_call_done(&call);
}

void sb_broker_serve(struct sb_broker *broker, struct sb_cwd *cwd,
		     const struct seccomp_notif *notification)
{
	pid_t caller = (pid_t)notification->pid;

	sb_trace_held(notification);
	sb_owed_enter(caller);
	serve(broker, cwd, notification);
	sb_owed_leave(caller);
}
