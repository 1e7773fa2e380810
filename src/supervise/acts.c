#include "supervise/acts.h"

#include <errno.h>

#define TWO SB_TRAIT_TWO
#define NAMES SB_TRAIT_NAMES
#define REMOVES SB_TRAIT_REMOVES
#define ITSELF SB_TRAIT_FILE

#define ATTRIBUTES "change attributes of"

/* clang-format off: one row, one line */
const struct sb_act_facts sb_acts[SB_ACT_COUNT] = {
	[SB_ACT_OPEN] = {"open", "write to", SB_DEED_WRITE, SB_MODIFY, ENOENT, 0},
	[SB_ACT_MKDIR] = {"mkdir", "make the directory", SB_DEED_MKDIR, SB_CREATE, ENOENT, NAMES},
	[SB_ACT_MKNOD] = {"mknod", "create", SB_DEED_MKNOD, SB_CREATE, ENOENT, NAMES},
	[SB_ACT_SYMLINK] = {"symlink", "make the link", SB_DEED_SYMLINK, SB_CREATE, ENOENT, NAMES},
	[SB_ACT_LINK] = {"link", "give another name to", SB_DEED_LINK, SB_MODIFY, ENOENT,
			 TWO | NAMES | ITSELF},
	[SB_ACT_RENAME] = {"rename", "rename", SB_DEED_RENAME, SB_DELETE, ENOENT, TWO | NAMES},
	[SB_ACT_UNLINK] = {"unlink", "delete", SB_DEED_REMOVE, SB_DELETE, EPERM, REMOVES},
	[SB_ACT_RMDIR] = {"rmdir", "delete the directory", SB_DEED_REMOVE, SB_DELETE, EPERM,
			  REMOVES},
	[SB_ACT_TRUNCATE] = {"truncate", "cut off", SB_DEED_TRUNCATE, SB_MODIFY, EACCES, ITSELF},
	[SB_ACT_CHMOD] = {"chmod", "change the mode of", SB_DEED_METADATA, SB_MODIFY, EPERM,
			  ITSELF},
	[SB_ACT_CHOWN] = {"chown", "change the owner of", SB_DEED_METADATA, SB_MODIFY, EPERM,
			  ITSELF},
	[SB_ACT_TIMES] = {"utimensat", "change the times of", SB_DEED_METADATA, SB_MODIFY, EPERM,
			  ITSELF},
	[SB_ACT_SETXATTR] = {"setxattr", ATTRIBUTES, SB_DEED_METADATA, SB_MODIFY, EOPNOTSUPP,
			     ITSELF},
	[SB_ACT_REMOVEXATTR] = {"removexattr", ATTRIBUTES, SB_DEED_METADATA, SB_MODIFY, EOPNOTSUPP,
				ITSELF},
	[SB_ACT_FLAGS] = {"chattr", ATTRIBUTES, SB_DEED_METADATA, SB_MODIFY, EPERM, ITSELF},
	[SB_ACT_ACCESS] = {"access", "change", SB_DEED_PROBE, SB_MODIFY, EACCES, ITSELF},
	[SB_ACT_CONNECT] = {"connect", "connect to", SB_DEED_CONNECT, SB_MODIFY, ENOENT, 0},
	[SB_ACT_BIND] = {"bind", "make the socket", SB_DEED_MKNOD, SB_CREATE, ENOENT, NAMES},
	[SB_ACT_CLOSE] = {"close", "overwrite", SB_DEED_LAND, SB_MODIFY, ENOENT, 0},
	/* the rest is about no file, and nobody is asked */
	[SB_ACT_UMASK] = {"umask", "change", SB_DEED_TRUNCATE, SB_MODIFY, ENOENT, 0},
	[SB_ACT_CHDIR] = {"chdir", "change", SB_DEED_TRUNCATE, SB_MODIFY, ENOENT, 0},
	[SB_ACT_LOCK] = {"lock", "change", SB_DEED_TRUNCATE, SB_MODIFY, ENOENT, 0},
	[SB_ACT_OWNER] = {"owner", "change", SB_DEED_TRUNCATE, SB_MODIFY, ENOENT, 0},
	[SB_ACT_LANDLOCK] = {"landlock", "change", SB_DEED_TRUNCATE, SB_MODIFY, ENOENT, 0},
	[SB_ACT_EXEC] = {"exec", "change", SB_DEED_TRUNCATE, SB_MODIFY, ENOENT, 0},
	[SB_ACT_REGISTER] = {"register", "change", SB_DEED_TRUNCATE, SB_MODIFY, ENOENT, 0},
};
/* clang-format on */

int sb_call_refusal(const struct sb_call *call)
{
	return sb_act_is_metadata(call->act) ? EPERM : EACCES;
}
