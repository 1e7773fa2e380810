#include "supervise/approve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "supervise/judge.h"
#include "supervise/perform.h"
#include "sys/notify.h"
#include "sys/process.h"

static bool same_file(int fd, int other)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

/* Open path's directory part ourselves; it must be the one the performer means. */
static int reopen_directory(const struct sb_spot *theirs)
{
	char directory[PATH_MAX];
	char *slash;
	int fd;

	memcpy(directory, theirs->path, sizeof directory);
	if (strcmp(theirs->name, ".") != 0) {
		slash = strrchr(directory, '/');
		if (!slash)
			return -EACCES;
		slash[slash == directory] = '\0';
	}
	fd = sb_sys_open_path(directory);
	if (fd >= 0 && !same_file(fd, theirs->directory)) {
		close(fd);
		fd = -EACCES;
	}
	return fd;
}

/*
 * The same place as theirs, on descriptors of our own.  A file that has no name any more is
 * taken as it is: the command holds it open, and no name can be changed through it.
 */
static int reopen(const struct sb_spot *theirs, struct sb_spot *out)
{
	*out = SB_SPOT_EMPTY;
	memcpy(out->name, theirs->name, sizeof out->name);
	memcpy(out->path, theirs->path, sizeof out->path);
	out->through_fd = theirs->through_fd;
	if (theirs->directory >= 0) {
		out->directory = reopen_directory(theirs);
		if (out->directory < 0)
			return -EACCES;
		if (theirs->object >= 0) {
			char name[NAME_MAX + 2];

			memcpy(name, out->name, sizeof name);
			name[strcspn(name, "/")] = '\0';
			out->object = openat(out->directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		}
	} else if (theirs->object >= 0) {
		struct stat info;

		if (fstat(theirs->object, &info) != 0)
			return -EACCES;
		out->object = !theirs->path[0] || info.st_nlink == 0
				      ? fcntl(theirs->object, F_DUPFD_CLOEXEC, 3)
				      : sb_sys_open_path(theirs->path);
	}
	if (theirs->object >= 0 &&
	    (out->object < 0 || !same_file(out->object, theirs->object) ||
	     fstat(out->object, &out->info) != 0))
		return -EACCES;
	return 0;
}

static int refusal(const struct sb_call *call)
{
	return sb_act_is_metadata(call->act) ? EPERM : EACCES;
}

void sb_approve(struct sb_approver *approver, struct sb_wire_request *request)
{
	const struct sb_call *call = &request->call;
	bool two = call->act == SB_ACT_RENAME || call->act == SB_ACT_LINK;
	struct sb_spot file = SB_SPOT_EMPTY, target = SB_SPOT_EMPTY;
	struct sb_judgement judgement;
	struct sb_outcome outcome = {.error = refusal(call), .fd = -1};
	int status = reopen(&request->file, &file);

	if (status == 0 && two)
		status = reopen(&request->target, &target);
	if (status == 0) {
		sb_judge(approver->policy, call, &file, two ? &target : NULL, &judgement);
		if (judgement.strictest->decision.verdict == SB_ALLOW &&
		    sb_sys_notify_alive(approver->listener, call->id)) {
			umask(request->umask);
			outcome = sb_perform(call, &file, &target);
		}
	}
	sb_deliver(approver->listener, call, &file, &outcome);
	sb_spot_done(&file);
	sb_spot_done(&target);
}
