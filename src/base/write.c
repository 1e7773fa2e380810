#include "base/write.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "sandbash/error.h"

int sb_write_all(int fd, const void *bytes, size_t length)
{
	for (const char *at = bytes; length;) {
		ssize_t put = write(fd, at, length);

		if (put < 0 && errno != EINTR)
			return -errno;
		if (put > 0) {
			at += put;
			length -= (size_t)put;
		}
	}
	return 0;
}

int sb_make_dirs(const char *dir, unsigned mode, const char *verb, struct sb_error *err)
{
	SB_AUTO_FREE char *path = strdup(dir);

	if (!path)
		return sb_no_memory(err);
	for (char *slash = path;;) {
		slash = strchr(slash + 1, '/');
		if (slash)
			*slash = '\0';
		if (mkdir(path, 0700) == 0) {
			/* whatever the umask says, we must be able to enter it, as mkdir -p does */
			if (chmod(path, mode) != 0)
				return sb_fail(err, SB_E_SYSTEM, errno, "cannot %s '%s'", verb,
					       path);
		} else if (errno != EEXIST) {
			int error = errno;
			struct stat info;

			/* On a read-only mount mkdir says EROFS even for what is there. */
			if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
				return sb_fail(err, SB_E_SYSTEM, error, "cannot %s '%s'", verb,
					       path);
		}
		if (!slash)
			return SB_OK;
		*slash = '/';
	}
}
