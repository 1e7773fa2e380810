#include "supervise/wording.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>

const char *sb_wording_verb(const struct sb_call *call, enum sb_op op)
{
	switch (call->act) {
	case SB_ACT_OPEN:
		if (op == SB_CREATE)
			return "create";
		return call->flags & O_TRUNC ? "overwrite" : "write to";
	case SB_ACT_CLOSE:
		return op == SB_CREATE ? "create" : "overwrite";
	case SB_ACT_TRUNCATE:
		return "cut off";
	case SB_ACT_MKDIR:
		return "make the directory";
	case SB_ACT_MKNOD:
		return "create";
	case SB_ACT_BIND:
		return "make the socket";
	case SB_ACT_SYMLINK:
		return "make the link";
	case SB_ACT_LINK:
		return "give another name to";
	case SB_ACT_RENAME:
		return "rename";
	case SB_ACT_UNLINK:
		return "delete";
	case SB_ACT_RMDIR:
		return "delete the directory";
	case SB_ACT_CHMOD:
		return "change the mode of";
	case SB_ACT_CHOWN:
		return "change the owner of";
	case SB_ACT_TIMES:
		return "change the times of";
	case SB_ACT_SETXATTR:
	case SB_ACT_REMOVEXATTR:
		return "change attributes of";
	case SB_ACT_CONNECT:
		return "connect to";
	default:
		return "change";
	}
}

void sb_wording_note(const struct sb_call *call, const struct sb_spot *target, char *out,
		     size_t size)
{
	struct stat info;

	out[0] = '\0';
	switch (call->act) {
	case SB_ACT_CHMOD:
		snprintf(out, size, "to mode %04o%s", call->mode & 07777,
			 call->mode & (S_ISUID | S_ISGID)
				 ? ": whoever runs it gets its owner's rights"
				 : "");
		break;
	case SB_ACT_CHOWN:
		snprintf(out, size, "to owner %d, group %d (-1: as it is)", (int)call->owner,
			 (int)call->group);
		break;
	case SB_ACT_SYMLINK:
		snprintf(out, size, "it leads to '%s'", call->text);
		break;
	case SB_ACT_MKNOD:
		snprintf(out, size, "%s", S_ISFIFO(call->mode) ? "a FIFO" : "");
		break;
	case SB_ACT_SETXATTR:
	case SB_ACT_REMOVEXATTR:
		snprintf(out, size, "the attribute '%s'", call->text);
		break;
	case SB_ACT_RENAME:
		if (call->flags & RENAME_EXCHANGE)
			snprintf(out, size, "the two change places");
		else if (fstatat(target->directory, target->name, &info, AT_SYMLINK_NOFOLLOW) == 0)
			snprintf(out, size, "what has that name now is replaced");
		break;
	default:
		break;
	}
}
