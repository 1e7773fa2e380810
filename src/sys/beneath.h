/*
 * beneath.h - lookups that libc has no call for, or not every libc.
 */
#ifndef SB_SYS_BENEATH_H
#define SB_SYS_BENEATH_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/*
 * openat2(2), close-on-exec.  resolve: RESOLVE_* of linux/openat2.h.  -ENOSYS: before Linux
 * 5.6; -EPERM or -ENOSYS: a container's filter; -EAGAIN: a rename came in between.
 */
int sb_sys_openat2(int directory, const char *path, uint64_t flags, uint64_t resolve);

/* What statx(2) tells. */
struct sb_sys_file {
	uint32_t mode; /* type and permissions */
	uint32_t uid, gid, links;
	uint64_t bytes, device, inode;
	uint64_t mount; /* id of the mount; before Linux 5.8 the device, which bind mounts share */
	struct timespec modified, accessed, changed,
		born; /* born, which no program can change, 0: the filesystem keeps none */
};

/* Of name in directory, links not followed; name "": of the descriptor itself. */
int sb_sys_look(int directory, const char *name, struct sb_sys_file *out);

/* What makes a directory the one it is, seen from where it is seen: bind mounts share the rest. */
struct sb_sys_identity {
	uint64_t device, inode;
	uint64_t mount; /* 0 before Linux 5.8 */
};

/* Of what name in directory leads to.  Servers of network file systems are not asked. */
int sb_sys_identify(int directory, const char *name, struct sb_sys_identity *out);

/* Are both descriptors of one file? */
bool sb_sys_same_file(int fd, int other);

/* Would the kernel refuse to change it, whoever asks: immutable, append-only, on what is read-only?  In doubt yes. */
bool sb_sys_is_frozen(int fd);

/* renameat2(2), which musl lacks. */
int sb_sys_rename(int from_directory, const char *from, int to_directory, const char *to,
		  unsigned flags);

/* Does it lie on a /proc?  What cannot be told is taken for it. */
bool sb_sys_is_procfs(int fd);

#endif
