#include "consent/sight.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

bool sb_look(const struct sb_wish *wish, struct sb_sight *out)
{
	struct stat where;

	if (fstat(wish->directory, &where) != 0)
		return false;
	*out = (struct sb_sight){.where = sb_identity_of(&where)};
	if (strchr(wish->name, '/'))
		out->barred = true;
	else if (fstatat(wish->directory, wish->name, &out->info, AT_SYMLINK_NOFOLLOW) == 0)
		out->exists = true;
	else
		out->barred = errno != ENOENT;
	if (out->exists)
		out->self = sb_identity_of(&out->info);
	return true;
}
