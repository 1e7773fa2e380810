#include "judge/site.h"

#include <fcntl.h>

#include "base/auto.h"
#include "path/path.h"

int sb_site_holder(const char *path)
{
	SB_AUTO_FREE char *parent = sb_path_parent(path);
	SB_AUTO_FREE char *above = parent ? sb_path_parent(parent) : NULL;
	SB_AUTO_FREE char *sibling = above ? sb_path_join(above, "objects") : NULL;
	int fd = parent ? open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;

	if (fd < 0 && sibling)
		fd = open(sibling, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd >= 0 ? fd : open("/dev/null", O_PATH | O_CLOEXEC);
}
