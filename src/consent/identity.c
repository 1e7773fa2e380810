#include "consent/identity.h"

#include <errno.h>
#include <fcntl.h>

#include "base/auto.h"

/* Deeper than any path; directories that keep moving below us must not hold us for ever. */
#define MAX_DEPTH 4096

int sb_walk_up(int directory, sb_above_found found, void *context)
{
	SB_AUTO_FD int here = -1;
	struct stat info;

	if (fstat(directory, &info) != 0)
		return -errno;
	for (int depth = 0; depth < MAX_DEPTH; depth++) {
		struct sb_identity last = sb_identity_of(&info);
		int above;

		if (found(context, last))
			return 1;
		above = openat(here < 0 ? directory : here, "..",
			       O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (above < 0)
			return -errno;
		sb_auto_close(&here);
		here = above;
		if (fstat(here, &info) != 0)
			return -errno;
		if (sb_same_file(last, sb_identity_of(&info))) /* "/" is its own parent */
			return 0;
	}
	return -ELOOP;
}
