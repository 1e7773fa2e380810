/*
 * land.h - bytes that were looked at become a file.
 *
 * Whoever checks a file and then lets its inode take a guarded name has checked nothing: its
 * writer may still have it open.  So the bytes are copied, the copy is checked, and the copy
 * lands as a fresh file.  Whoever has the old one open writes to a file without a name.
 *
 * The file is made without a name (O_TMPFILE) and gets one when it is complete.  Where another
 * file has to give way it has a name of its own for the moment between link and rename; a
 * process killed in that moment leaves it.  The process's current directory is /proc (perform.h).
 */
#ifndef SB_SUPERVISE_LAND_H
#define SB_SUPERVISE_LAND_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "guard/guard.h"
#include "supervise/call.h"
#include "supervise/resolve.h"

#define SB_LAND_MAX (8u * 1024 * 1024) /* guarded files are settings and scripts; but see below */
#define SB_LAND_MAX_ALL (1024u * 1024 * 1024) /* of all that are longer, at a time, in a process */

struct sb_bytes {
	char *data; /* malloc'ed; NULL: there is no such file */
	size_t length, room;
};

void sb_bytes_done(struct sb_bytes *bytes);
struct sb_guard_bytes sb_bytes_seen(const struct sb_bytes *bytes);

/* How long bytes of a kind may be to land: an index of git's has an entry for every file. */
size_t sb_land_limit(enum sb_guard_kind kind);

/*
 * All of a descriptor's file (O_PATH will do), from its beginning.  0, or a negative errno: -EFBIG if it is
 * longer than limit, -ENOMEM if too many long ones are read at a time.
 */
int sb_bytes_read(int fd, size_t limit, struct sb_bytes *out);

/*
 * Of the file with this name, which must be a regular one; info is optional.  What is no regular
 * file is -EINVAL, none at all no error: data stays NULL.
 */
int sb_bytes_read_named(int directory, const char *name, size_t limit, struct sb_bytes *out,
			struct stat *info);

struct sb_landing {
	int directory; /* O_PATH */
	const char *name;
	const struct sb_bytes *bytes; /* or, of any length, */
	const int *copy_of;           /* a file that is open for reading, from its beginning */
	mode_t mode;                  /* permissions; setuid and setgid bits are left out */
	uid_t owner;                  /* kept as far as this user can */
	gid_t group;
	const struct timespec *times; /* as utimensat(); NULL: now */
};

/* Put the bytes there, in place of what has the name.  0, or a negative errno. */
int sb_land(const struct sb_landing *landing);

/* Put back what was there before: old, or nothing. */
void sb_land_take_back(const struct sb_landing *landing, const struct sb_bytes *old);

/* --- a file that takes a guarded name by rename or link ------------------------------- */

struct sb_source {
	struct sb_bytes bytes, old; /* what would land, and what is there, if that counts; */
	bool unread;                /* else only */
	int old_file;               /* O_PATH, should it be put back */
	struct stat info;           /* of the file that would get the name */
};

/*
 * Read both; what is there only if bytes of this kind are compared with it (guard.h).  0, or a
 * negative errno; -EALREADY: the two are one file, nothing is to be done.
 */
int sb_source_read(const struct sb_call *call, const struct sb_spot *file,
		   const struct sb_spot *target, enum sb_guard_kind kind, struct sb_source *out);

/* Let exactly these bytes land, with the source's mode, owner and times. */
int sb_source_land(const struct sb_call *call, const struct sb_source *source,
		   const struct sb_spot *file, const struct sb_spot *target);

/* And back: each name has what it had, as a fresh file. */
void sb_source_take_back(const struct sb_call *call, const struct sb_source *source,
			 const struct sb_spot *file, const struct sb_spot *target);

void sb_source_done(struct sb_source *source);

#endif
