#include "enforce/inside.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

#include "enforce/linux_seccomp.h"

int sb_inside(bool *out_mounts)
{
	int answer;

	*out_mounts = false;
	if (prctl((int)SB_INSIDE_QUERY, 0, 0, 0, 0) == 0)
		return 0;
	answer = errno;
	if (answer < (int)SB_INSIDE_BASE || answer > 0xfff)
		return 0;
	*out_mounts = answer & 1;
	return (answer - (int)SB_INSIDE_BASE) / 2;
}

int sb_inside_note(void)
{
	int fd = prctl((int)SB_REGISTER, "", 0, SB_OP_COUNT + 1, 0);

	return fd < 0 ? -ENOENT : fd;
}

enum sb_verdict sb_inside_verdict(enum sb_op op, const char *path)
{
	int answer = prctl((int)SB_REGISTER, path, strlen(path), op + 1, 0);

	return answer == SB_ALLOW || answer == SB_ASK ? (enum sb_verdict)answer : SB_DENY;
}
