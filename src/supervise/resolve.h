/*
 * resolve.h - where a path of the command leads, as the kernel would find it.
 *
 * The command shares our root directory and mounts, so one walk from its current directory
 * (or a directory descriptor of its own) is the walk the kernel would make.  The result is a
 * directory that we hold open and a name in it: whatever is done happens there, however the
 * path changes meanwhile.  The canonical name comes from the kernel, not from the path.
 *
 * Magic links of /proc (self, fd/N, cwd) mean the command's, never ours.
 */
#ifndef SB_SUPERVISE_RESOLVE_H
#define SB_SUPERVISE_RESOLVE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "sys/beneath.h"

/*
 * The current directory of whoever called last: most calls of a program come in a row from the
 * same one.  Asking the kernel each time whether it still is that directory costs as much as all the
 * rest of a look-up; so that is done every half millisecond, when anybody has changed his, and
 * always once two threads of a process have been seen to share one.  Its name is taken for half
 * a millisecond, too, and not at all after the performer has renamed a directory.
 * For one thread.
 *
 * Processes that share a current directory without being threads (clone(2), CLONE_FS alone) may
 * have the old one for that half millisecond: judged and done there, as if they had called before.
 */
struct sb_cwd {
	int fd; /* O_PATH; -1: none yet.  Keeps the inode, so that its number stays its own */
	struct sb_sys_identity identity;
	bool settled;       /* fd is what it is for the call at hand */
	uint64_t looked_ns; /* when the kernel said so ... */
	unsigned moves;     /* ... and how often anybody had changed his by then */
	uint64_t named_ns;  /* 0: path is not known */
	unsigned renames;
	char path[PATH_MAX];
	pid_t thread; /* whose it is; 0: nobody's */
};

#define SB_CWD_NONE ((struct sb_cwd){.fd = -1})

/*
 * Begin a call, or the same one anew: spots that have borrowed from it are done with.  Until the next
 * one a call has one current directory, whatever its threads do: both of its paths start there.
 */
void sb_cwd_next(struct sb_cwd *cwd);

/* Keep nothing: it would pin a directory as long as nobody calls. */
void sb_cwd_forget(struct sb_cwd *cwd);

/* A thread is about to change its current directory: before it is let through. */
void sb_resolve_moving(int proc, pid_t thread);

/* Some directory was renamed by us: names of others may have changed with it. */
void sb_resolve_renamed(void);

/* Whose path it is.  proc is the host's /proc, whatever is mounted there by now. */
struct sb_caller {
	pid_t thread;
	int proc;
	struct sb_cwd *cwd; /* or NULL */
};

enum sb_lookup {
	SB_LOOKUP_NAME,     /* the name itself: to make, remove or rename it */
	SB_LOOKUP_NOFOLLOW, /* what is there; a link in the last place is meant itself */
	SB_LOOKUP_FOLLOW,   /* what is there, links followed */
	SB_LOOKUP_CREATE,   /* as FOLLOW, but a missing last name is no error */
	SB_LOOKUP_CREATE_NOFOLLOW,
	/*
	 * As FOLLOW; but where it ends with ENOENT or EACCES, out->path is the path it would
	 * have if it were in sight.
	 */
	SB_LOOKUP_SOCKET,
};

struct sb_spot {
	int directory;           /* O_PATH; -1: the object has no name we could use */
	bool borrowed;           /* directory is the caller's cwd->fd, until sb_cwd_next() */
	char name[NAME_MAX + 2]; /* in directory; a slash behind it stays: "sub/" */
	int object;              /* O_PATH of what is there, -1: nothing or not looked up */
	struct stat info;        /* of object */
	bool in_proc;            /* a name in procfs: nothing can be made or removed there */
	bool lost;               /* it has names, but path, where it was opened, is none of them */
	bool through_fd;         /* the caller named one of its own open descriptors ... */
	int fd_number;           /* ... this one */
	uint64_t named_ns;       /* path was true then, or later; 0: long ago (meaning.h) */
	char *whole;             /* or NULL: longer than path, which is cut then (deep.h); ours */
	char path[PATH_MAX];     /* canonical, for deciding; may end in " (deleted)" */
};

#define SB_SPOT_EMPTY ((struct sb_spot){.directory = -1, .object = -1})

/* The same for every held call: without wiping 4 KB for a path that is a few bytes long. */
static inline void sb_spot_clear(struct sb_spot *spot)
{
	memset(spot, 0, offsetof(struct sb_spot, path) + 1);
	spot->directory = spot->object = -1;
}

/* Its name, without the slash that may stand behind it. */
static inline const char *sb_spot_plain_name(const struct sb_spot *spot, char out[NAME_MAX + 2])
{
	memcpy(out, spot->name, strlen(spot->name) + 1);
	out[strcspn(out, "/")] = '\0';
	return out;
}

/* The whole of its path. */
static inline const char *sb_spot_path(const struct sb_spot *spot)
{
	return spot->whole ? spot->whole : spot->path;
}

/*
 * The caller's current directory, on a descriptor that stays ours, or a negative errno; and then its
 * name in cwd->path.  caller->cwd must not be NULL.
 */
int sb_cwd_find(const struct sb_caller *caller);
int sb_cwd_name(const struct sb_caller *caller);

/*
 * The name of the caller's current directory, in *out until the next call with the same
 * caller->cwd, which must not be NULL; and its descriptor, which stays ours.
 */
int sb_resolve_cwd(const struct sb_caller *caller, const char **out);

/* 0 or a negative errno, the one the kernel would have given. */
int sb_resolve(const struct sb_caller *caller, int dirfd, const char *path, enum sb_lookup lookup,
	       struct sb_spot *out);

/*
 * Two names in one directory, spelled alike up to the last one: first is what first_path led to, with
 * no link followed in the last place.  False: path has to be resolved by itself.
 */
bool sb_resolve_beside(const struct sb_spot *first, const char *first_path, const char *path,
		       struct sb_spot *out);

/* The file that the caller has open as number; AT_FDCWD: its current directory. */
int sb_resolve_descriptor(const struct sb_caller *caller, int number, struct sb_spot *out);

void sb_spot_done(struct sb_spot *spot);

/* For a spot that outlives its call.  0, or a negative errno. */
int sb_spot_own(struct sb_spot *spot);

/* Does no path lead there any more?  Some filesystems say so of the number of links always. */
bool sb_path_is_gone(const char *path, nlink_t links);

/*
 * What its name is by now.  0, or a negative errno: -ENOENT when the directory is gone, -EACCES when it has
 * a whole name and that has changed.
 */
int sb_spot_renew(int proc, struct sb_spot *spot);

#endif
