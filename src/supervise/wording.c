#include "supervise/wording.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/escape.h"
#include "supervise/acts.h"

const char *sb_wording_verb(const struct sb_call *call, enum sb_op op)
{
	if (op == SB_CREATE && (call->act == SB_ACT_OPEN || call->act == SB_ACT_CLOSE))
		return "create";
	if (call->act == SB_ACT_OPEN && (call->flags & O_TRUNC))
		return "overwrite";
	return sb_acts[call->act].verb;
}

#define AS_OWNER "whoever runs it gets its owner's rights"

bool sb_wording_sets_id(const struct sb_call *call)
{
	switch (call->act) {
	case SB_ACT_OPEN:
		return (call->flags & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))) &&
		       (call->mode & (S_ISUID | S_ISGID));
	case SB_ACT_CHMOD:
	case SB_ACT_MKNOD:
		return call->mode & (S_ISUID | S_ISGID);
	default:
		return false;
	}
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
			 sb_wording_sets_id(call) ? ": " AS_OWNER : "");
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
			 S_ISFIFO(call->mode)       ? "a FIFO"
			 : S_ISSOCK(call->mode)     ? "a socket"
			 : sb_wording_sets_id(call) ? AS_OWNER
						    : "");
		break;
	case SB_ACT_OPEN:
		if (sb_wording_sets_id(call))
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
