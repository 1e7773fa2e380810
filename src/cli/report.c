#include "cli/report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/write.h"
#include "path/path.h"
#include "sys/process.h"

int sb_report_find(const char *path, const char *cwd, const char *home, struct sb_report_file *out,
		   struct sb_error *err)
{
	SB_AUTO_FREE char *absolute = NULL;
	SB_AUTO_FREE char *real = NULL;
	struct sb_report_file file = {0};
	struct stat info;
	int status = sb_path_expand(path, cwd, home, &absolute, err);

	if (status == SB_OK)
		status = sb_path_canonical(absolute, &real, NULL, err);
	if (status != SB_OK)
		return status;
	if (stat(real, &info) == 0 && !S_ISREG(info.st_mode))
		return sb_fail(err, SB_E_INVALID, 0, "cannot write a report to '%s': not a file",
			       real);
	file.directory = sb_path_parent(real);
	file.name = strdup(strrchr(real, '/') + 1);
	if (!file.directory || !file.name) {
		sb_report_done(&file);
		return sb_no_memory(err);
	}
	if (!file.name[0] || stat(file.directory, &info) != 0 || !S_ISDIR(info.st_mode)) {
		sb_fail(err, SB_E_MISSING, 0, "cannot write a report to '%s': no such directory",
			file.directory);
		sb_report_done(&file);
		return SB_E_MISSING;
	}
	file.device = info.st_dev;
	file.inode = info.st_ino;
	*out = file;
	return SB_OK;
}

/*
 * SECURITY: the report is written by a process that no sandbox holds.
 *
 * Danger: a command that may change the directory puts a link in its place, or in the file's,
 * and some other file of the user is overwritten.
 * Price: a report whose directory was exchanged during the run is not written.
 * Held by: tests/enforce/consent_around.py
 */
int sb_report_write(const struct sb_report_file *file, const char *bytes, size_t length,
		    struct sb_error *err)
{
	SB_AUTO_FD int directory = file->is_held ? fcntl(file->held, F_DUPFD_CLOEXEC, 3)
						 : sb_sys_open_path(file->directory);
	SB_AUTO_FD int fd = -1;
	char temporary[64];
	struct stat info;
	int status;

	if (directory < 0 || fstat(directory, &info) != 0 || info.st_dev != file->device ||
	    info.st_ino != file->inode)
		return sb_fail(err, SB_E_REFUSED, 0,
			       "no report: '%s' is another directory than before the run",
			       file->directory);
	snprintf(temporary, sizeof temporary, ".sandbash-report-%d", (int)getpid());
	unlinkat(directory, temporary, 0);
	fd = openat(directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	status = fd < 0 ? -errno : sb_write_all(fd, bytes, length);
	if (status == 0 && renameat(directory, temporary, directory, file->name) != 0)
		status = -errno;
	if (status == 0)
		return SB_OK;
	if (fd >= 0)
		unlinkat(directory, temporary, 0);
	return sb_fail(err, SB_E_SYSTEM, -status, "cannot write the report to '%s/%s'",
		       file->directory, file->name);
}

void sb_report_done(struct sb_report_file *file)
{
	free(file->directory);
	free(file->name);
	if (file->is_held)
		close(file->held);
	*file = (struct sb_report_file){0};
}
