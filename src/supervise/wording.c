#include "supervise/wording.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/escape.h"

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
	case SB_ACT_FLAGS:
		return "change attributes of";
	case SB_ACT_CONNECT:
		return "connect to";
	default:
		return "change";
	}
}

#define AS_OWNER "whoever runs it gets its owner's rights"

static bool sets_id(const struct sb_call *call)
{
	return call->mode & (S_ISUID | S_ISGID);
}

static void put_name(char *out, size_t size, const char *words, const char *name)
{
	SB_AUTO_BUF struct sb_buf shown = SB_BUF(4 * PATH_MAX);

	sb_escape_name(&shown, name, strlen(name));
	snprintf(out, size, "%s '%s'", words, shown.data);
}

void sb_wording_note(const struct sb_call *call, char *out, size_t size)
{
	out[0] = '\0';
	switch (call->act) {
	case SB_ACT_CHMOD:
		snprintf(out, size, "to mode %04o%s", call->mode & 07777,
			 sets_id(call) ? ": " AS_OWNER : "");
		break;
	case SB_ACT_CHOWN:
		snprintf(out, size, "to owner %d, group %d (-1: as it is)", (int)call->owner,
			 (int)call->group);
		break;
	case SB_ACT_SYMLINK:
		put_name(out, size, "it leads to", call->text);
		break;
	case SB_ACT_MKNOD:
		snprintf(out, size, "%s",
			 S_ISFIFO(call->mode)   ? "a FIFO"
			 : S_ISSOCK(call->mode) ? "a socket"
			 : sets_id(call)        ? AS_OWNER
						: "");
		break;
	case SB_ACT_OPEN:
		if ((call->flags & O_CREAT) && sets_id(call))
			snprintf(out, size, AS_OWNER);
		break;
	case SB_ACT_SETXATTR:
	case SB_ACT_REMOVEXATTR:
		put_name(out, size, "the attribute", call->text);
		break;
	default:
		break;
	}
}
