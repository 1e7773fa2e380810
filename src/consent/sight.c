#include "consent/sight.h"

#include <errno.h>
#include <fcntl.h>

bool sb_look(const struct sb_wish *wish, struct sb_sight *out)
{
	struct stat where;

	if (fstat(wish->directory, &where) != 0)
		return false;
	out->where = sb_identity_of(&where);
	out->self = (struct sb_identity){0};
	out->exists = fstatat(wish->directory, wish->name, &out->info, AT_SYMLINK_NOFOLLOW) == 0;
	if (!out->exists && errno != ENOENT)
		return false;
	if (out->exists)
		out->self = sb_identity_of(&out->info);
	return true;
}
