/*
 * directory.h - the names in a directory, without asking for memory.
 *
 *     open (or init) -> next ... next (NULL) -> close
 *
 * For the few directories that every launch lists: opendir(3) costs two mappings and
 * their page faults, more than the listing.  The reader lives on the caller's stack and
 * owns its descriptor; an entry is valid until the next call.
 */
#ifndef SB_SYS_DIRECTORY_H
#define SB_SYS_DIRECTORY_H

#include <dirent.h>
#include <stddef.h>

struct sb_sys_dir {
	int fd;
	int error;      /* why there are no more; 0: these were all */
	size_t at, end; /* of the entries not given out yet */
	_Alignas(struct dirent64) char entries[2048];
};

/* Returns the descriptor, or a negative errno; then there is nothing to close. */
int sb_sys_dir_open(struct sb_sys_dir *dir, const char *path);

/* Read what fd, an open directory, has left.  It stays the caller's: do not call close. */
void sb_sys_dir_init(struct sb_sys_dir *dir, int fd);

/* The next entry, "." and ".." among them.  NULL: there are no more, or dir->error says why. */
const struct dirent64 *sb_sys_dir_next(struct sb_sys_dir *dir);

void sb_sys_dir_close(struct sb_sys_dir *dir);

#endif
