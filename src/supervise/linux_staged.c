/*
 * linux_staged.c - one staged file: the copy that a program writes to, and how it lands.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/auto.h"
#include "supervise/land.h"
#include "supervise/linger.h"
#include "supervise/links.h"
#include "supervise/meaning.h"
#include "supervise/proc_name.h"
#include "supervise/stage_impl.h"
#include "supervise/unseen.h"

#define NO_EXEC 0x8u /* MFD_NOEXEC_SEAL, Linux 6.3 */
#define TRIES 40     /* how often, and long, one waits for a name that is on hold */
#define HOLD_MS 2

void sb_stage_free(struct sb_stage *stage)
{
	if (!stage)
		return;
	sb_auto_close(&stage->reader);
	sb_spot_done(&stage->place);
	free(stage);
}

int sb_stage_copy_place(const struct sb_spot *from, struct sb_spot *out)
{
	*out = SB_SPOT_EMPTY;
	out->directory = fcntl(from->directory, F_DUPFD_CLOEXEC, 3);
	memcpy(out->name, from->name, sizeof out->name);
	memcpy(out->path, from->path, sizeof out->path);
	return out->directory < 0 ? -errno : 0;
}

static int make_memory(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC | NO_EXEC);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(name, MFD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* How long it may be to land there. */
static size_t limit_at(const struct sb_performer *performer, const struct sb_call *call,
		       const struct sb_spot *place)
{
	struct sb_judgement judgement;

	sb_judge_call(performer->grounds, call, place, NULL, &judgement);
	return sb_land_limit(sb_judged_kind(&judgement));
}

static bool put(int memory, const struct sb_bytes *bytes)
{
	for (size_t done = 0; done < bytes->length;) {
		ssize_t part = write(memory, bytes->data + done, bytes->length - done);

		if (part <= 0)
			return false;
		done += (size_t)part;
	}
	return true;
}

static int fill(int memory, const struct sb_spot *file, size_t limit)
{
	struct sb_bytes bytes = {0};
	int status = sb_bytes_read(file->object, limit, &bytes);

	if (status == 0 && !put(memory, &bytes))
		status = -ENOSPC;
	sb_bytes_done(&bytes);
	return status;
}

/*
 * The descriptor that is handed over, opened by name: only such a one counts as a writer when a
 * lease is asked for, the one that memfd_create() gave does not.
 */
static int reopen(int memory, int flags)
{
	char name[SB_PROC_NAME];
	int fd;

	sb_proc_self_fd(name, memory);
	fd = openat(AT_FDCWD, name, flags);
	return fd < 0 ? -errno : fd;
}

int sb_stage_make(const struct sb_broker *broker, const struct sb_call *call,
		  const struct sb_spot *file, struct sb_stage **out, int *out_fd)
{
	mode_t umask_of = sb_broker_umask(broker, call->thread);
	SB_AUTO_FD int memory = make_memory(file->name);
	struct sb_stage *stage = memory < 0 ? NULL : calloc(1, sizeof *stage);
	struct stat info;
	int status = memory < 0 ? memory : -ENOMEM;

	if (!stage)
		return status;
	stage->reader = -1;
	status = sb_stage_copy_place(file, &stage->place);
	stage->mode = file->object >= 0 ? file->info.st_mode & 07777 : call->mode & ~umask_of;
	stage->owner = file->object >= 0 ? file->info.st_uid : geteuid();
	stage->group = file->object >= 0 ? file->info.st_gid : getegid();
	if (status == 0 && file->object >= 0 && !(call->flags & O_TRUNC))
		status = fill(memory, file, limit_at(broker->performer, call, file));
	if (status == 0)
		(void)!fchmod(memory, stage->mode & 0777); /* as far as it goes: for fstat() only */
	if (status == 0)
		status = stage->reader = reopen(memory, O_RDONLY | O_CLOEXEC);
	if (status >= 0 && fstat(memory, &info) != 0)
		status = -errno;
	if (status >= 0)
		status = *out_fd = reopen(memory, (call->flags & ~(O_CREAT | O_EXCL | O_TRUNC |
								   O_NOFOLLOW | O_CLOEXEC)) |
							  O_CLOEXEC);
	if (status < 0) {
		sb_stage_free(stage);
		return status;
	}
	stage->device = info.st_dev;
	stage->inode = info.st_ino;
	*out = stage;
	return 0;
}

/* --- landing ------------------------------------------------------------------------------------- */

bool sb_stage_has_writers(const struct sb_stage *stage)
{
	bool writers = fcntl(stage->reader, F_SETLEASE, F_RDLCK) != 0 && errno == EAGAIN;

	if (!writers)
		fcntl(stage->reader, F_SETLEASE, F_UNLCK);
	return writers;
}

bool sb_stage_find_place(const struct sb_broker *broker, struct sb_spot *place)
{
	int tries = TRIES;

	while (sb_spot_renew(broker->performer->proc, place) == 0) {
		/* still on hold (meaning.h): then it is asked about, and not landed */
		if (!sb_guard_is_held(place->path) || --tries == 0)
			return true;
		nanosleep(&(struct timespec){0, HOLD_MS * 1000000L}, NULL);
	}
	return false;
}

static bool same_bytes(const struct sb_bytes *a, const struct sb_bytes *b)
{
	return a->data && b->data && a->length == b->length &&
	       memcmp(a->data, b->data, a->length) == 0;
}

/* The bytes go along: what the asker shows and lets land is what we have looked at, too. */
static void forward(struct sb_broker *broker, struct sb_call *call, struct sb_stage *stage,
		    const struct sb_bytes *bytes)
{
	SB_AUTO_FD int memory = make_memory(stage->place.name);

	if (memory < 0 || !put(memory, bytes)) {
		sb_broker_fail(broker, call, EACCES);
		return;
	}
	call->mode = stage->mode;
	call->owner = stage->owner;
	call->group = stage->group;
	call->permit = stage->permit;
	sb_broker_forward_for(broker, call, stage->process, &stage->place, NULL, memory);
}

/* By the name that the place has now. */
static bool may_land(const struct sb_performer *performer, const struct sb_call *call,
		     const struct sb_spot *place, const struct sb_bytes *old,
		     const struct sb_bytes *bytes, struct sb_judgement *judgement)
{
	sb_judge_call(performer->grounds, call, place, NULL, judgement);
	return judgement->lands ? sb_judge_bytes(performer->grounds, judgement, sb_bytes_seen(old),
						 sb_bytes_seen(bytes))
				: judgement->strictest->decision.verdict == SB_ALLOW;
}

/* What took long is judged once more, and taken back if need be: meaning.h. */
static bool land_at(struct sb_broker *broker, const struct sb_call *call, struct sb_spot *place,
		    const struct sb_landing *landing, const struct sb_bytes *old,
		    struct sb_judgement *judgement)
{
	const struct sb_performer *performer = broker->performer;
	const struct sb_telling telling = sb_broker_telling(broker);
	struct sb_leaving leaving = sb_links_look(landing->directory, landing->name);

	if (sb_land(landing) < 0)
		return false;
	if (sb_spot_is_old(place) &&
	    (sb_spot_renew(performer->proc, place) < 0 ||
	     !may_land(performer, call, place, old, landing->bytes, judgement))) {
		sb_land_take_back(landing, old);
		return false;
	}
	sb_links_left(&leaving);
	sb_linger_landed(&telling, judgement, sb_bytes_seen(old));
	return true;
}

bool sb_stage_land(struct sb_broker *broker, struct sb_call *call, struct sb_stage *stage)
{
	const struct sb_performer *performer = broker->performer;
	struct sb_bytes bytes = {0}, old = {0};
	struct sb_landing landing = {.directory = stage->place.directory,
				     .name = stage->place.name,
				     .bytes = &bytes,
				     .mode = stage->mode,
				     .owner = stage->owner,
				     .group = stage->group};
	struct sb_judgement judgement;
	bool landed = false, allowed;
	size_t limit;

	if (!sb_stage_find_place(broker, &stage->place))
		return true;
	limit = limit_at(performer, call, &stage->place);
	if (sb_bytes_read(stage->reader, limit, &bytes) == 0) {
		int status =
			sb_bytes_read_named(landing.directory, landing.name, limit, &old, NULL);

		/* what cannot be compared with what is there is not for us to let land */
		allowed = status == 0 &&
			  may_land(performer, call, &stage->place, &old, &bytes, &judgement);
		if (status == 0 && same_bytes(&old, &bytes))
			landed = true;
		/* without mounts modes are the asker's business: linux_seccomp.c */
		else if (allowed && performer->layers->mounts)
			landed = land_at(broker, call, &stage->place, &landing, &old, &judgement);
		if (!landed)
			forward(broker, call, stage, &bytes);
	} else if (call->id) {
		sb_broker_fail(broker, call, EFBIG);
	}
	if (landed) {
		enum sb_op op = old.data ? SB_MODIFY : SB_CREATE;

		sb_broker_done(broker, op);
		sb_allowed_tell(broker, call, op, &stage->place, NULL);
	}
	sb_bytes_done(&bytes);
	sb_bytes_done(&old);
	return landed;
}
