/*
 * call.h - a held system call, copied out of the command once.
 *
 * What is decided about and carried out is this copy.  The command may change its memory as
 * it likes: nothing is ever read from there twice (seccomp_unotify(2), "time of check").
 * By which arguments: enforce/held.h.
 */
#ifndef SB_SUPERVISE_CALL_H
#define SB_SUPERVISE_CALL_H

#include <limits.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>
#include <time.h>

#include "enforce/held.h"

/* How a file is named: by path from a directory, or as an open descriptor. */
struct sb_named {
	bool by_descriptor; /* fd is the file itself, path is not used */
	bool open_only;     /* ... and O_PATH does not do */
	int fd;             /* AT_FDCWD or a descriptor of the command */
	bool follow;        /* a link in the last place */
	char path[PATH_MAX];
};

#define SB_XATTR_NAME 256         /* XATTR_NAME_MAX and a NUL */
#define SB_XATTR_SIZE (64 * 1024) /* XATTR_SIZE_MAX */

struct sb_call {
	uint64_t id;  /* of the notification */
	pid_t thread; /* as we see it */
	enum sb_act act;
	struct sb_named file;   /* the only one, or the source */
	struct sb_named target; /* of rename and link */
	int target_error;       /* errno: it could not be read; comes after file's own */
	int flags;              /* open flags, RENAME_*, XATTR_*, FS_*_FL, access mode */
	bool flags_in_memory;   /* ... of openat2(): the kernel would read them once more */
	uint64_t resolve;       /* RESOLVE_* of openat2() */
	int at_flags;           /* AT_EACCESS of faccessat2() */
	mode_t mode;
	dev_t device;
	off_t length;
	uid_t owner;
	gid_t group;
	struct timespec times[2];
	char text[PATH_MAX]; /* where a symbolic link leads; or the attribute's name */
	void *value;         /* of an extended attribute; malloc'ed */
	size_t value_length;
	unsigned first, last; /* close: the descriptors */
	pid_t owner_process;  /* owner: as the caller numbers it; negative: a group */
	bool replaces;        /* ... by dup2(), which cannot be refused any more */
	/*
	 * dup(): of this descriptor.  As an open that is passed on to the asker: of a file that was
	 * opened already, which gets a number whose closing tells nobody anything (stage.h).
	 */
	bool shares;
	unsigned shared;
	uint64_t permit; /* close: the number of the call that a person said yes to; 0: none */
	int socket;      /* connect, bind */
	struct sockaddr_storage address;
	socklen_t address_length;
};

/* Copy the call out.  0, or a negative errno: what the kernel would have answered. */
int sb_call_decode(const struct seccomp_notif *notification, struct sb_call *out);
void sb_call_done(struct sb_call *call);

#endif
