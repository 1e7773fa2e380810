#include "supervise/meaning.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "judge/hold.h"
#include "supervise/acts.h"

#define FINISH_MS 200

static int unfinished; /* acts that may have to be taken back */

static void pause_until(uint64_t when_ns)
{
	const struct timespec when = {(time_t)(when_ns / 1000000000u),
				      (long)(when_ns % 1000000000u)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL) == EINTR)
		;
}

void sb_acts_finish(void)
{
	for (int left = FINISH_MS; left > 0 && __atomic_load_n(&unfinished, __ATOMIC_ACQUIRE);
	     left--)
		pause_until(sb_now_ns() + 1000000u);
}

bool sb_spot_is_old(const struct sb_spot *spot)
{
	return sb_now_ns() - spot->named_ns > SB_NAME_COUNTS_NS;
}

bool sb_spot_confirm(int proc, struct sb_spot *spot)
{
	struct sb_spot now = *spot;
	int status = sb_spot_renew(proc, &now);

	/* a directory that is gone stays so, and the kernel says it to whoever acts there */
	if (status != -ENOENT && (status < 0 || strcmp(now.path, spot->path) != 0))
		return false;
	spot->named_ns = now.named_ns;
	return true;
}

/* Does it put something under a name, or hand something out that has one?  The rest harms nobody:
 * what is removed is gone, and nobody gives a guarded name to a file that is there unseen. */
static bool is_about_names(const struct sb_call *call)
{
	return call->act == SB_ACT_OPEN ? (call->flags & O_TMPFILE) != O_TMPFILE
					: sb_act_has(call->act, SB_TRAIT_NAMES);
}

static bool are_old(const struct sb_call *call, const struct sb_spot *file,
		    const struct sb_spot *target)
{
	uint64_t oldest_ns = file->named_ns;

	if (sb_call_is_two(call) && target->named_ns < oldest_ns)
		oldest_ns = target->named_ns;
	return sb_now_ns() - oldest_ns > SB_NAME_COUNTS_NS;
}

/* A file in a directory that is on hold, or was renamed, is judged by where it is now. */
static bool is_still_allowed(const struct sb_acting *acting, const struct sb_call *call,
			     const struct sb_spot *file, const struct sb_spot *target,
			     const struct sb_judgement *judged)
{
	struct sb_spot file_now = *file, target_now = SB_SPOT_EMPTY;
	struct sb_judgement now;

	if (sb_spot_renew(acting->proc, &file_now) < 0)
		return false;
	if (sb_call_is_two(call)) {
		target_now = *target;
		if (sb_spot_renew(acting->proc, &target_now) < 0)
			return false;
	}
	if (call->act == SB_ACT_RENAME)
		sb_judge_call_renamed(acting->grounds, call, &file_now, &target_now, judged, &now);
	else
		sb_judge_call(acting->grounds, call, &file_now,
			      call->act == SB_ACT_LINK ? &target_now : NULL, &now);
	return sb_judgement_stands(judged, &now);
}

/* --- objects and refs -------------------------------------------------------------------- */

/* Nothing is in it that nobody has looked at. */
static bool is_fresh(const struct sb_call *call, const struct sb_spot *spot)
{
	char name[NAME_MAX + 2];
	struct stat info;

	if (call->act == SB_ACT_MKDIR)
		return true;
	return fstatat(spot->directory, sb_spot_plain_name(spot, name), &info,
		       AT_SYMLINK_NOFOLLOW) == 0 &&
	       !S_ISDIR(info.st_mode) && !S_ISLNK(info.st_mode);
}

static bool is_harmless_beside(const struct sb_acting *acting, const struct sb_call *call,
			       const struct sb_spot *spot, bool *out_complete)
{
	const struct sb_guard_place place = {.directory = spot->directory,
					     .path = spot->path,
					     .name = spot->name,
					     .fresh = is_fresh(call, spot)};
	struct sb_guard_answer answer;

	return sb_guard_completed(acting->grounds->guard, &place, out_complete, &answer) ==
	       SB_GUARD_PLAIN;
}

/*
 * Whoever makes the second of the two sees both.  Then those who judged a file beside them before
 * have time to make it.
 */
static bool completes_harmlessly(const struct sb_acting *acting, const struct sb_call *call,
				 const struct sb_spot *file, const struct sb_spot *target)
{
	bool swap = call->act == SB_ACT_RENAME && (call->flags & RENAME_EXCHANGE);
	const struct sb_spot *spots[] = {sb_call_is_two(call) ? target : file, file};
	bool harmless = true, complete;

	for (int i = 0; harmless && i < (swap ? 2 : 1); i++) {
		harmless = is_harmless_beside(acting, call, spots[i], &complete);
		if (harmless && complete) {
			sb_hold_settle();
			harmless = is_harmless_beside(acting, call, spots[i], &complete);
		}
	}
	return harmless;
}

static bool is_at(const struct sb_spot *spot, const struct sb_mover *mover)
{
	char name[NAME_MAX + 2];
	struct stat info;

	if (!mover->known)
		return true;
	return fstatat(spot->directory, sb_spot_plain_name(spot, name), &info,
		       AT_SYMLINK_NOFOLLOW) == 0 &&
	       info.st_ino == mover->inode && info.st_dev == mover->device;
}

/*
 * SECURITY: what a rename has moved is what was judged.
 *
 * Danger: it goes by name, and what has the name may be exchanged after the look at it: a directory
 * called "pre-commit" is nobody's business, the file that has taken its place is.  And a person who
 * was shown a file, and thought about it, has said nothing about the link that is there now.
 * Held by: tests/supervise/two_runs.py
 */
static bool has_moved(const struct sb_call *call, const struct sb_spot *file,
		      const struct sb_spot *target, const struct sb_judgement *judged)
{
	return call->act != SB_ACT_RENAME ||
	       (is_at(target, &judged->movers[0]) && is_at(file, &judged->movers[1]));
}

/* Whoever has judged something by what the names were before has time to do it. */
static bool still_is_as_shown(const struct sb_acting *acting, const struct sb_spot *file,
			      const struct sb_spot *target)
{
	if (!acting->shown->at[0].beside && !acting->shown->at[1].beside)
		return true;
	sb_hold_settle();
	return sb_sealed_holds(acting->shown, file, target, true);
}

bool sb_act_stands(const struct sb_acting *acting, const struct sb_call *call,
		   const struct sb_spot *file, const struct sb_spot *target,
		   const struct sb_judgement *judged)
{
	if ((judged->looked & SB_LOOKED_BESIDE) &&
	    !completes_harmlessly(acting, call, file, target))
		return false;
	if (acting->shown && !still_is_as_shown(acting, file, target))
		return false;
	if (judged->strictest->decision.verdict != SB_ALLOW &&
	    !has_moved(call, file, target, judged))
		return false;
	return (!are_old(call, file, target) && has_moved(call, file, target, judged)) ||
	       is_still_allowed(acting, call, file, target, judged);
}

/* --- taking back ----------------------------------------------------------------------------- */

/* Where its name is taken by now, what was to get it stays on hold: it must not stay where it is. */
static void move_back(const struct sb_spot *from, const struct sb_spot *to)
{
	char name[SB_HOLD_NAME];

	if (sb_hold_end(from->directory, from->name, to->directory, to->name) != 0 &&
	    sb_hold_put(from->directory, from->name, to->directory, name) != 0)
		sb_hold_put(from->directory, from->name, from->directory, name);
}

void sb_act_take_back(const struct sb_call *call, const struct sb_spot *file,
		      const struct sb_spot *target, struct sb_outcome *outcome)
{
	char name[SB_HOLD_NAME];

	if (outcome->fd >= 0)
		close(outcome->fd);
	outcome->fd = -1;
	switch (call->act) {
	case SB_ACT_OPEN:
		if (outcome->created)
			unlinkat(file->directory, file->name, 0);
		break;
	case SB_ACT_MKDIR: /* somebody may have put something into it */
		if (sb_hold_put(file->directory, file->name, file->directory, name) == 0)
			unlinkat(file->directory, name, AT_REMOVEDIR);
		break;
	case SB_ACT_RENAME:
		if (call->flags & RENAME_EXCHANGE)
			syscall(SYS_renameat2, file->directory, file->name, target->directory,
				target->name, RENAME_EXCHANGE);
		else
			move_back(target, file);
		break;
	case SB_ACT_LINK:
		unlinkat(target->directory, target->name, 0);
		break;
	default:
		unlinkat(file->directory, file->name, 0);
		break;
	}
}

/* --- a directory that gets a name of the table ------------------------------------------------- */

static bool is_as_shown(const struct sb_acting *acting, const struct sb_spot *file,
			const struct sb_spot *target)
{
	const struct sb_sealed *shown = acting->shown;

	return !shown || (sb_sealed_unshare(shown, file, target) &&
			  sb_sealed_holds(shown, file, target, false));
}

/* It is on hold, by the names of file and target: may it go on?  Those of the places are judged. */
static bool may_go_on(const struct sb_acting *acting, const struct sb_call *call,
		      const struct sb_spot *file, const struct sb_spot *target,
		      const struct sb_judgement *judged)
{
	struct sb_judgement now;

	if (!is_as_shown(acting, file, target))
		return false;
	sb_judge_call(acting->grounds, call, file, target, &now);
	return sb_judgement_stands(judged, &now);
}

static struct sb_outcome rename_on_hold(const struct sb_acting *acting, const struct sb_call *call,
					struct sb_spot *file, struct sb_spot *target,
					const struct sb_judgement *judged, bool *out_changed)
{
	struct sb_spot held = *file; /* judged by its old path, found by its new name */
	struct sb_outcome outcome = {.fd = -1};

	outcome.error = sb_hold_put(file->directory, file->name, file->directory, held.name);
	if (outcome.error)
		return outcome;
	sb_hold_settle();
	*out_changed =
		!(sb_spot_confirm(acting->proc, file) && sb_spot_confirm(acting->proc, target) &&
		  may_go_on(acting, call, &held, target, judged));
	if (!*out_changed)
		outcome = sb_perform(call, &held, target);
	if (*out_changed || outcome.error) {
		move_back(&held, file);
	} else if (!sb_act_stands(acting, call, file, target, judged)) {
		sb_act_take_back(call, file, target, &outcome);
		*out_changed = true;
	}
	return outcome;
}

/*
 * SECURITY: two that change places are both on hold, and get their names one after the other.
 *
 * Danger: exchanged at once and looked at then, the one would have to go back; and what has got into it
 * meanwhile, by a name that nobody minds, would be where it counts.
 * Price: for some milliseconds neither name is there.  Only where somebody was asked.
 * Held by: tests/supervise/shown.py
 */
static struct sb_outcome exchange_on_hold(const struct sb_acting *acting,
					  const struct sb_call *call, struct sb_spot *file,
					  struct sb_spot *target, const struct sb_judgement *judged,
					  bool *out_changed)
{
	struct sb_spot first = *file, second = *target;
	struct sb_outcome outcome = {.fd = -1};

	outcome.error = sb_hold_put(file->directory, file->name, file->directory, first.name);
	if (outcome.error)
		return outcome;
	outcome.error =
		sb_hold_put(target->directory, target->name, target->directory, second.name);
	if (outcome.error) {
		move_back(&first, file);
		return outcome;
	}
	sb_hold_settle();
	*out_changed =
		!(sb_spot_confirm(acting->proc, file) && sb_spot_confirm(acting->proc, target) &&
		  may_go_on(acting, call, &first, &second, judged));
	if (*out_changed) {
		move_back(&first, file);
		move_back(&second, target);
		return outcome;
	}
	move_back(&first, target); /* or it stays on hold, where the name is taken */
	move_back(&second, file);
	if (!sb_act_stands(acting, call, file, target, judged)) { /* nor is there a safe way back */
		sb_hold_put(target->directory, target->name, target->directory, first.name);
		sb_hold_put(file->directory, file->name, file->directory, second.name);
		*out_changed = true;
	}
	return outcome;
}

/* After a person has thought about it, say: is all as it was when that began? */
bool sb_act_may_begin(const struct sb_acting *acting, const struct sb_call *call,
		      struct sb_spot *file, struct sb_spot *target,
		      const struct sb_judgement *judged)
{
	struct sb_judgement now;

	if (!are_old(call, file, target))
		return true;
	if (!sb_spot_confirm(acting->proc, file) ||
	    (sb_call_is_two(call) && !sb_spot_confirm(acting->proc, target)))
		return false;
	sb_judge_call(acting->grounds, call, file, sb_call_is_two(call) ? target : NULL, &now);
	return sb_judgement_stands(judged, &now);
}

struct sb_outcome sb_act(const struct sb_acting *acting, const struct sb_call *call,
			 struct sb_spot *file, struct sb_spot *target,
			 const struct sb_judgement *judged, bool *out_changed)
{
	struct sb_outcome outcome = {.fd = -1};

	*out_changed = false;
	if (!is_about_names(call))
		return sb_perform(call, file, target);
	if (!sb_act_may_begin(acting, call, file, target, judged)) {
		*out_changed = true;
		return outcome;
	}
	__atomic_fetch_add(&unfinished, 1, __ATOMIC_ACQ_REL);
	if (call->act == SB_ACT_RENAME && !(call->flags & RENAME_EXCHANGE) &&
	    ((judged->looked & (SB_LOOKED_INTO | SB_LOOKED_THROUGH)) ||
	     sb_sealed_moves(acting->shown))) {
		outcome = rename_on_hold(acting, call, file, target, judged, out_changed);
	} else if (call->act == SB_ACT_RENAME && sb_sealed_moves(acting->shown)) {
		outcome = exchange_on_hold(acting, call, file, target, judged, out_changed);
	} else if (acting->shown && !sb_sealed_holds(acting->shown, file, target, false)) {
		*out_changed = true;
	} else {
		outcome = sb_perform(call, file, target);
		if (!outcome.error && !outcome.again &&
		    !sb_act_stands(acting, call, file, target, judged)) {
			sb_act_take_back(call, file, target, &outcome);
			*out_changed = true;
		}
	}
	__atomic_fetch_sub(&unfinished, 1, __ATOMIC_ACQ_REL);
	return outcome;
}
