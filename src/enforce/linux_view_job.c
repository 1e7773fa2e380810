/*
 * linux_view_job.c - what is done again and again while a view is made.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "enforce/view_impl.h"
#include "sys/mount.h"

bool sb_view_failed(struct sb_view_job *job, int negative_errno, const char *step, const char *name)
{
	if (negative_errno >= 0)
		return false;
	if (!job->step) {
		job->step = step;
		job->name = name;
		job->error = -negative_errno;
	}
	return true;
}

bool sb_view_mkdir(struct sb_view_job *job, const char *name, mode_t mode)
{
	return !sb_view_failed(job, mkdirat(job->root, name, mode) != 0 ? -errno : 0, "make", name);
}

bool sb_view_attach(struct sb_view_job *job, int tree, const char *name)
{
	SB_AUTO_FD int place = openat(job->root, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	int status = place < 0 ? -errno : sb_sys_attach(tree, place);

	return !sb_view_failed(job, status, "mount", name);
}

/* What lies at path, read-only, at name, where a place for it is; what is not there is left out by the caller. */
bool sb_view_show(struct sb_view_job *job, const char *path, const char *name)
{
	SB_AUTO_FD int tree = sb_sys_clone_tree(AT_FDCWD, path);

	return !sb_view_failed(job, tree, "copy", path) &&
	       !sb_view_failed(job, sb_sys_make_readonly(tree), "close", path) &&
	       sb_view_attach(job, tree, name);
}

bool sb_view_put(struct sb_view_job *job, const char *name, const char *bytes, size_t length)
{
	SB_AUTO_FD int fd = openat(job->root, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	return !sb_view_failed(
		job, fd < 0 || (length && write(fd, bytes, length) != (ssize_t)length) ? -errno : 0,
		"make", name);
}
