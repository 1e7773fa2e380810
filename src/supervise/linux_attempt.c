/*
 * linux_attempt.c - steps 2 to 5 of a held call (linux_broker.c): resolved, judged, done.
 *
 * A list of checks, at the end of the file: each answers the call or leaves it to the next one.
 * All of it once more when a name has changed meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/auto.h"
#include "policy/fast.h"
#include "supervise/acts.h"
#include "supervise/constrained.h"
#include "supervise/land.h"
#include "supervise/linger.h"
#include "supervise/inner.h"
#include "supervise/links.h"
#include "supervise/meaning.h"
#include "supervise/owed.h"
#include "supervise/perform.h"
#include "supervise/performer.h"
#include "supervise/proc_name.h"
#include "supervise/thread.h"
#include "supervise/unseen.h"
#include "sys/beneath.h"
#include "sys/notify.h"

#define HOLD_MS 2 /* between looks at a name that is on hold: meaning.h */

struct attempt {
	struct sb_broker *broker;
	const struct sb_performer *performer;
	struct sb_cwd *cwd;
	const struct sb_call *call;
	struct sb_spot file, target;
	const struct sb_spot *second; /* target, or NULL: the act has one name */
	struct sb_judgement judgement;
	bool judged;           /* counted, once for each call */
	enum sb_verdict inner; /* what the rules of the caller's nested runs say */
	bool allowed;          /* and those of this run, as it is */
	bool idle;             /* it is what it would become: nothing has to be done */
};

enum answer {
	OPEN, /* the next check's */
	ANSWERED,
	AGAIN, /* the name changed meanwhile */
};

/*
 * SECURITY: a descriptor the caller has open for writing may be opened again by its name in
 * /proc (/dev/stdout does that).
 *
 * Danger: the caller may put another file at that number while we look.  So a copy of the
 * very descriptor says both how it is open and that it is the file we are about to open.
 * Price: without pidfd_getfd (some containers) such an open is decided by path alone.
 * Held by: tests/enforce/fds.py
 */
static bool holds_already(const struct attempt *it)
{
	const struct sb_spot *file = &it->file;
	int has, wants = it->call->flags & O_ACCMODE;
	struct stat info;
	SB_AUTO_FD int fd = -1;

	if (!file->through_fd)
		return false;
	fd = sb_thread_take_descriptor(it->performer->proc, it->call->thread, file->fd_number);
	has = fd < 0 ? -1 : fcntl(fd, F_GETFL);
	if (has < 0 || (has & O_PATH) || fstat(fd, &info) != 0 ||
	    info.st_dev != file->info.st_dev || info.st_ino != file->info.st_ino)
		return false;
	return (has & O_ACCMODE) == O_RDWR || ((has & O_ACCMODE) == O_WRONLY && wants == O_WRONLY);
}

static bool opens_again(const struct attempt *it)
{
	return it->call->act == SB_ACT_OPEN && holds_already(it);
}

/*
 * A file takes a guarded name: what lands are the bytes that were looked at (land.h).  False:
 * that is not ours to do, or has to be asked; also if the name is another one by now (meaning.h).
 */
static bool landed(struct attempt *it)
{
	const struct sb_performer *performer = it->performer;
	const struct sb_call *call = it->call;
	const struct sb_telling telling = sb_broker_telling(it->broker);
	struct sb_spot *file = &it->file, *target = &it->target;
	struct sb_leaving from = {0}, to = {0};
	struct sb_source source;
	bool done = false;

	/* without mounts modes are the asker's business: linux_seccomp.c */
	if (it->judgement.strictest->decision.verdict != SB_ALLOW || !performer->layers->mounts ||
	    sb_source_read(call, file, target, sb_judged_kind(&it->judgement), &source) < 0)
		return false;
	if (sb_judge_bytes(performer->grounds, &it->judgement, sb_bytes_seen(&source.old),
			   sb_bytes_seen(&source.bytes)) &&
	    sb_sys_notify_alive(performer->listener, call->id)) {
		from = sb_links_look(file->directory, file->name);
		to = sb_links_look(target->directory, target->name);
		done = sb_source_land(call, &source, file, target) == 0;
	}
	if (done && sb_spot_is_old(target) && !sb_spot_confirm(performer->proc, target)) {
		sb_source_take_back(call, &source, file, target);
		done = false;
	}
	if (done) {
		if (call->act == SB_ACT_RENAME)
			sb_links_left(&from);
		sb_links_left(&to);
		sb_linger_landed(&telling, &it->judgement, sb_bytes_seen(&source.old));
		sb_broker_done(it->broker, it->judgement.strictest->op);
		sb_allowed_tell(it->broker, call, it->judgement.strictest->op, file, it->second);
		sb_resolve_renamed();
		sb_owed_return(performer->listener, call, file, target);
	}
	sb_source_done(&source);
	return done;
}

/*
 * SECURITY: contents are changed in place only where no name from before leads to them.
 *
 * Danger: such a name may be a guarded one, or lie outside the roots.
 * Price: a link from before is a copy once it has been written to.
 * Held by: tests/supervise/guard.py
 */
static int own_links(struct attempt *it)
{
	const struct sb_call *call = it->call;
	bool writes = call->act == SB_ACT_TRUNCATE ||
		      (call->act == SB_ACT_OPEN && (call->flags & (O_ACCMODE | O_TRUNC)));

	return writes && it->file.object >= 0 && sb_links_foreign(&it->file) &&
			       !sb_perform_precheck(call, &it->file, &it->target) &&
			       !holds_already(it)
		       ? -sb_links_break(&it->file)
		       : 0;
}

/* A rename between two names of one file does nothing, and both stay: rename(2). */
static bool stays(const struct sb_leaving *leaving, const struct sb_spot *file)
{
	struct sb_leaving old = leaving->counts ? sb_links_look(file->directory, file->name)
						: (struct sb_leaving){false, 0, 0};

	return old.counts && old.device == leaving->device && old.inode == leaving->inode;
}

/* Carry it out, and keep count of the names that files have. */
static struct sb_outcome perform(struct attempt *it, bool *out_changed)
{
	const struct sb_acting acting = {it->performer->grounds, it->performer->proc};
	const struct sb_call *call = it->call;
	struct sb_spot *file = &it->file, *target = &it->target;
	struct sb_leaving leaving = {false, 0, 0};
	struct sb_outcome outcome = {.fd = -1};

	*out_changed = false;
	if (it->idle)
		return outcome;
	/* there, links come and go without us */
	if (sb_fast_holds(it->performer->policy, file->path))
		return sb_perform(call, file, target);
	outcome.error = own_links(it);
	if (outcome.error)
		return outcome;
	if (call->act == SB_ACT_UNLINK)
		leaving = sb_links_look(file->directory, file->name);
	else if (call->act == SB_ACT_RENAME && !(call->flags & RENAME_EXCHANGE))
		leaving = sb_links_look(target->directory, target->name);
	outcome = sb_act(&acting, call, file, target, &it->judgement, out_changed);
	if (*out_changed)
		return outcome;
	if (!outcome.error && call->act == SB_ACT_LINK)
		sb_links_made(file);
	else if (!outcome.error && !(call->act == SB_ACT_RENAME && stays(&leaving, file)))
		sb_links_left(&leaving);
	return outcome;
}

static bool is_directory(const struct sb_spot *spot)
{
	struct stat info;

	return fstatat(spot->directory, spot->name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISDIR(info.st_mode);
}

/*
 * A directory takes along what nobody judges: names longer than a path, or links, to where not each may
 * be (judge.h).  Who is told of two disks copies.
 */
static bool takes_along(const struct attempt *it, const struct sb_spot *from,
			const struct sb_spot *to)
{
	const struct sb_policy *policy = it->performer->policy;

	return (from->whole || to->whole || sb_judge_brings_links(policy, from->path, to->path) ||
		sb_judge_brings_bits(policy, from->path, to->path)) &&
	       is_directory(from);
}

static bool crosses_border(const struct attempt *it)
{
	const struct sb_spot *file = &it->file, *target = &it->target;
	bool swaps = it->call->flags & RENAME_EXCHANGE;

	if (!it->second || file->in_proc || target->in_proc)
		return false;
	return sb_fast_crosses(it->performer->policy, file->path, target->path) ||
	       (it->call->act == SB_ACT_LINK &&
		sb_judge_brings_bits(it->performer->policy, file->path, target->path)) ||
	       (it->call->act == SB_ACT_RENAME &&
		(takes_along(it, file, target) || (swaps && takes_along(it, target, file))));
}

/* --- the checks ---------------------------------------------------------------------------------- */

static enum answer fail(const struct attempt *it, int error)
{
	sb_broker_fail(it->broker, it->call, error);
	return ANSWERED;
}

/* The kernel's own answer, not a refusal of ours. */
static enum answer fail_as_kernel(const struct attempt *it, int error)
{
	sb_broker_answer_error(it->broker, it->call, error);
	return ANSWERED;
}

static enum answer forward(struct attempt *it)
{
	sb_broker_forward(it->broker, it->call, &it->file, &it->target, -1);
	return ANSWERED;
}

static int resolve_target(struct attempt *it)
{
	const struct sb_named *from = &it->call->file, *to = &it->call->target;
	enum sb_lookup lookup = sb_perform_lookup(it->call);

	if (it->call->target_error)
		return -it->call->target_error;
	if (!from->by_descriptor && !to->by_descriptor && from->fd == to->fd &&
	    (lookup == SB_LOOKUP_NAME || lookup == SB_LOOKUP_NOFOLLOW) &&
	    sb_resolve_beside(&it->file, from->path, to->path, &it->target))
		return 0;
	return sb_broker_resolve(it->broker, it->cwd, it->call, to, SB_LOOKUP_NAME, &it->target);
}

static enum answer resolve(struct attempt *it)
{
	const struct sb_call *call = it->call;
	int status = sb_broker_resolve(it->broker, it->cwd, call, &call->file,
				       sb_perform_lookup(call), &it->file);

	sb_spot_clear(&it->target);
	if (status < 0)
		sb_spot_clear(&it->file);
	if (status == 0 && it->second) {
		status = resolve_target(it);
		/* the first path's last directory must be searchable before the second counts */
		if (status < 0 && !sb_perform_may_search(&it->file))
			status = -EACCES;
		if (status < 0)
			sb_spot_clear(&it->target);
	}
	if (status == -EACCES)
		sb_unseen_tell(it->broker, it->cwd, call, NULL);
	return status < 0 ? fail_as_kernel(it, -status) : OPEN;
}

/* A call that comes again, since a signal ended it when it was done: owed.h. */
static enum answer pay_debt(struct attempt *it)
{
	if (!sb_owed_interrupts() || it->file.directory < 0 ||
	    sb_inner_verdict(it->call, &it->file, it->second) == SB_DENY)
		return OPEN;
	if (sb_owed_pays(it->performer->listener, it->call, &it->file, it->second))
		return ANSWERED;
	return sb_owed_by_asker(it->call, &it->file, it->second) ? forward(it) : OPEN;
}

/*
 * Across the border of a fast root (policy/fast.h), and what is too much to judge: what the kernel
 * says of two disks.  It says so of a rename before it looks at the last names, of a link after.
 */
static enum answer stop_at_border(struct attempt *it)
{
	const struct sb_spot *file = &it->file, *target = &it->target;
	int error = 0;

	if (!crosses_border(it))
		return OPEN;
	if (it->call->act == SB_ACT_LINK)
		error = sb_perform_precheck(it->call, file, target);
	else if (!sb_perform_may_search(file) || !sb_perform_may_search(target))
		error = EACCES;
	return fail(it, error ? error : EXDEV);
}

static enum answer wait_for_hold(struct attempt *it)
{
	if (!sb_guard_is_held(sb_spot_path(&it->file)) &&
	    !sb_guard_is_held(sb_spot_path(&it->target)))
		return OPEN;
	nanosleep(&(struct timespec){0, HOLD_MS * 1000000L}, NULL);
	return AGAIN;
}

/* Its other names may be anywhere.  But who can write to it already may do so again. */
static enum answer refuse_lost(struct attempt *it)
{
	if (!it->file.lost || sb_links_are_ours(&it->file) ||
	    sb_fast_holds(it->performer->policy, it->file.path) || opens_again(it))
		return OPEN;
	return fail(it, sb_call_refusal(it->call));
}

/* Without a /dev/pts of its own the run has some terminals in it, and others not. */
static enum answer pass_terminal_on(struct attempt *it)
{
	return it->call->act == SB_ACT_OPEN && !it->performer->layers->mounts &&
			       it->performer->plan->own_terminals && sb_is_terminal(&it->file)
		       ? forward(it)
		       : OPEN;
}

/*
 * Would it empty a file that it opens neither for reading nor for writing (open(2), "3")?  That
 * exists for drivers, and nobody empties anything so but to be overlooked.
 */
static enum answer refuse_unseen_emptying(struct attempt *it)
{
	const struct sb_call *call = it->call;
	int error;

	if (call->act != SB_ACT_OPEN || it->file.object < 0 || (call->flags & 3) != 3 ||
	    !(call->flags & O_TRUNC))
		return OPEN;
	error = sb_perform_precheck(call, &it->file, &it->target);
	return fail_as_kernel(it, error ? error : EACCES);
}

static enum answer open_device(struct attempt *it)
{
	if (!sb_perform_is_native(it->call, &it->file))
		return OPEN;
	sb_broker_open_device(it->broker, it->call, &it->file);
	return ANSWERED;
}

static enum answer change_stage(struct attempt *it)
{
	return sb_act_is_metadata(it->call->act) &&
			       sb_stage_metadata(it->broker, it->call, &it->file)
		       ? ANSWERED
		       : OPEN;
}

/*
 * A file that the caller has just closed may be open here for a moment longer, and what may still be
 * written to counts as dangerous: perform.h.
 */
static enum answer judge(struct attempt *it)
{
	const struct sb_grounds *grounds = it->performer->grounds;
	const struct sb_judged *worst;

	it->inner = sb_inner_verdict(it->call, &it->file, it->second);
	sb_judge_call(grounds, it->call, &it->file, it->second, &it->judgement);
	worst = it->judgement.strictest;
	if (worst->decision.verdict == SB_ASK && worst->guard.found) {
		sb_deliver_settle();
		sb_judge_call(grounds, it->call, &it->file, it->second, &it->judgement);
	}
	it->judged = it->call->act != SB_ACT_ACCESS; /* which does nothing */
	it->allowed =
		it->inner == SB_ALLOW &&
		((it->judgement.strictest->decision.verdict == SB_ALLOW && !it->judgement.lands) ||
		 opens_again(it) ||
		 (!it->second && sb_broker_is_own_terminal(it->performer, &it->file)));
	return OPEN;
}

static enum answer answer_in_proc(struct attempt *it)
{
	if (it->allowed || !(it->file.in_proc || it->target.in_proc))
		return OPEN;
	sb_broker_answer_in_proc(it->broker, it->call, &it->file, &it->target);
	return ANSWERED;
}

/* Nobody is asked about what cannot work. */
static enum answer answer_to_anybody(struct attempt *it)
{
	int error = it->allowed ? 0 : sb_perform_precheck(it->call, &it->file, &it->target);

	return error ? fail_as_kernel(it, error) : OPEN;
}

/* What a worker that another one called asks about, or is refused, the person is told of. */
static enum answer refuse_nested(struct attempt *it)
{
	struct sb_inner inner;

	if (it->inner == SB_ALLOW)
		return OPEN;
	if (it->call->act == SB_ACT_ACCESS && it->inner == SB_ASK)
		return OPEN;
	if (it->inner == SB_DENY) {
		sb_inner_look(it->call, &it->file, it->second, &inner);
		if (!inner.workers[0] || it->call->act == SB_ACT_ACCESS)
			return fail(it, inner.workers[0] && inner.read_only
						? EROFS
						: sb_call_refusal(it->call));
	}
	return forward(it);
}

/* Bytes are about to land on a guarded name. */
static enum answer land(struct attempt *it)
{
	const struct sb_judgement *judgement = &it->judgement;

	if (it->allowed || !judgement->lands)
		return OPEN;
	if (it->call->act != SB_ACT_OPEN)
		return landed(it) ? ANSWERED : forward(it);
	if (judgement->strictest->decision.verdict == SB_ALLOW)
		sb_stage_open(it->broker, it->call, &it->file);
	else
		sb_stage_ask(it->broker, it->call, &it->file);
	return ANSWERED;
}

/*
 * tar as root, install and package managers set modes and owners that a file mostly has.  Not where a change
 * of the owner takes something away (chown(2)): bits, and capabilities of programs.
 */
static bool changes_nothing(const struct attempt *it)
{
	const struct sb_call *call = it->call;
	const struct stat *info = &it->file.info;
	bool directory = S_ISDIR(info->st_mode), same = false;

	if (it->file.object < 0 || !(directory || S_ISREG(info->st_mode)) ||
	    info->st_uid != geteuid() || (info->st_mode & (S_ISUID | S_ISGID)))
		return false;
	if (call->act == SB_ACT_CHMOD)
		same = (call->mode & 07777) == (info->st_mode & 07777);
	else if (call->act == SB_ACT_CHOWN)
		same = (call->owner == (uid_t)-1 || call->owner == info->st_uid) &&
		       (call->group == (gid_t)-1 || call->group == info->st_gid) &&
		       (directory || !(info->st_mode & 0111));
	return same && !sb_sys_is_frozen(it->file.object);
}

/* Without mounts nothing but the asker may touch metadata: linux_seccomp.c. */
static enum answer ask(struct attempt *it)
{
	enum sb_act act = it->call->act;

	/* Drop our copies: of what becomes a program, or execve() gives ETXTBSY, and of what is
	 * about to be shown. */
	if (act == SB_ACT_CHMOD || (act == SB_ACT_RENAME && !it->allowed))
		sb_deliver_settle();
	if (!it->allowed)
		return forward(it);
	if (!sb_act_is_metadata(act) || it->performer->layers->mounts)
		return OPEN;
	it->idle = changes_nothing(it);
	return it->idle ? OPEN : forward(it);
}

/* Was what we read the caller's?  Its number may be another's by now. */
static enum answer look_whether_alive(struct attempt *it)
{
	enum sb_act act = it->call->act;

	if (act == SB_ACT_OPEN || act == SB_ACT_MKDIR || act == SB_ACT_MKNOD)
		sb_broker_set_umask(it->broker, it->call->thread);
	return sb_sys_notify_alive(it->performer->listener, it->call->id) ? OPEN : ANSWERED;
}

/* Longer than the caller may make files: the signal and the answer that the kernel gives. */
static enum answer refuse_too_long(struct attempt *it)
{
	const struct sb_call *call = it->call;
	struct rlimit limit;
	char name[SB_PROC_NAME];

	if (call->act != SB_ACT_TRUNCATE || !S_ISREG(it->file.info.st_mode) ||
	    call->length <= it->file.info.st_size ||
	    prlimit(call->thread, RLIMIT_FSIZE, NULL, &limit) != 0 ||
	    limit.rlim_cur == RLIM_INFINITY || (rlim_t)call->length <= limit.rlim_cur)
		return OPEN;
	sb_proc_self_fd(name, it->file.object);
	if (faccessat(AT_FDCWD, name, W_OK, AT_EACCESS) != 0 ||
	    !sb_sys_notify_alive(it->performer->listener, call->id))
		return OPEN;
	syscall(SYS_tkill, call->thread, SIGXFSZ);
	return fail(it, EFBIG);
}

static enum answer do_it(struct attempt *it)
{
	const struct sb_call *call = it->call;
	const struct sb_telling telling = sb_broker_telling(it->broker);
	bool changed;
	struct sb_outcome outcome = perform(it, &changed);

	if (call->act == SB_ACT_RENAME)
		sb_resolve_renamed();
	if (call->act == SB_ACT_RMDIR)
		sb_fast_removed(&it->broker->fast);
	if (changed ||
	    (outcome.error == EEXIST && call->act == SB_ACT_OPEN && !(call->flags & O_EXCL)))
		return AGAIN;
	if (outcome.again) {
		sb_broker_wait_at_fifo(it->broker, call, &it->file);
		return ANSWERED;
	}
	if (outcome.error)
		return sb_broker_is_out_of_reach(it->performer, call, &it->judgement, outcome.error)
			       ? forward(it)
			       : fail_as_kernel(it, outcome.error);
	sb_tell_act(&telling, call, &it->file, &it->target);
	if (it->judged) {
		sb_tell_links(&telling, &it->judgement);
		sb_broker_done(it->broker, it->judgement.strictest->op);
		sb_allowed_tell(it->broker, call, it->judgement.strictest->op, &it->file,
				it->second);
	}
	sb_broker_answer(it->broker, call, &it->file, &it->target, &outcome);
	return ANSWERED;
}

/* In the order in which the kernel would mind, and before anything is done.  The last one answers. */
static enum answer (*const checks[])(struct attempt *it) = {
	resolve,
	pay_debt,
	stop_at_border,
	wait_for_hold,
	refuse_lost,
	pass_terminal_on,
	refuse_unseen_emptying,
	open_device,
	change_stage,
	judge,
	answer_in_proc,
	answer_to_anybody,
	refuse_nested,
	land,
	ask,
	look_whether_alive,
	refuse_too_long,
	do_it,
};

bool sb_broker_attempt(struct sb_broker *broker, struct sb_cwd *cwd, const struct sb_call *call)
{
	enum answer answer = OPEN;
	struct attempt it; /* not all of it: the paths are 8 KB, written only where used */

	it.broker = broker;
	it.performer = broker->performer;
	it.cwd = cwd;
	it.call = call;
	it.second = sb_call_is_two(call) ? &it.target : NULL;
	it.judged = it.idle = false;
	for (size_t i = 0; answer == OPEN; i++)
		answer = checks[i](&it);
	if (answer == ANSWERED && it.judged)
		sb_broker_seen(broker, it.judgement.strictest->op);
	sb_spot_done(&it.file);
	sb_spot_done(&it.target);
	return answer == ANSWERED;
}
