#include "enforce/inside.h"

#include <errno.h>
#include <sys/prctl.h>

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
