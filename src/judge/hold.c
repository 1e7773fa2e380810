#include "judge/hold.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "guard/guard.h"
#include "sys/beneath.h"

/* Twice as long as a name counts: clocks of two processors, and rounding, do not matter. */
#define SETTLE_NS (2 * SB_NAME_COUNTS_NS)

static void invent_name(char out[SB_HOLD_NAME])
{
	uint64_t number = 0;
	struct timespec now;

	if (getrandom(&number, sizeof number, 0) != sizeof number) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		number = (uint64_t)getpid() << 32 ^ (uint64_t)now.tv_nsec;
	}
	snprintf(out, SB_HOLD_NAME, ".%016llx" SB_GUARD_HOLD_ENDING, (unsigned long long)number);
}

int sb_hold_put(int from_directory, const char *from, int directory, char out[SB_HOLD_NAME])
{
	invent_name(out);
	return renameat(from_directory, from, directory, out) != 0 ? errno : 0;
}

void sb_hold_settle(void)
{
	struct timespec left = {0, SETTLE_NS};

	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		;
}

int sb_hold_end(int from_directory, const char *from, int directory, const char *name)
{
	int status = sb_sys_rename(from_directory, from, directory, name, RENAME_NOREPLACE);
	char plain[NAME_MAX + 2];
	struct stat info;

	if (status != -EINVAL && status != -ENOSYS)
		return -status;
	memcpy(plain, name, strlen(name) + 1);
	plain[strcspn(plain, "/")] = '\0';
	if (fstatat(directory, plain, &info, AT_SYMLINK_NOFOLLOW) == 0)
		return EEXIST;
	return renameat(from_directory, from, directory, name) != 0 ? errno : 0;
}
