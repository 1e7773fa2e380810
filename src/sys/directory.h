/*
 * directory.h - the names in a directory, without asking for memory; and what else there is to a directory.
 *
 *     open (or init) -> next ... next (NULL) -> close
 *     SB_EACH_ENTRY (list, directory, path, status == SB_OK) ... list.entry->d_name ...
 *
 * For the few directories that every launch lists: opendir(3) costs two mappings and
 * their page faults, more than the listing.  The reader lives on the caller's stack and
 * owns its descriptor; an entry is valid until the next call.
 */
#ifndef SB_SYS_DIRECTORY_H
#define SB_SYS_DIRECTORY_H

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>

struct sb_sys_dir {
	int fd;
	int error;                    /* why there are no more; 0: these were all */
	size_t at, end;               /* of the entries not given out yet */
	const struct dirent64 *entry; /* SB_EACH_ENTRY */
	_Alignas(struct dirent64) char entries[2048];
};

/* Returns the descriptor, or a negative errno; then there is nothing to close. */
int sb_sys_dir_open(struct sb_sys_dir *dir, const char *path);

/* Read what fd, an open directory, has left.  It stays the caller's: do not call close. */
void sb_sys_dir_init(struct sb_sys_dir *dir, int fd);

/* The next entry, "." and ".." among them.  NULL: there are no more, or dir->error says why. */
const struct dirent64 *sb_sys_dir_next(struct sb_sys_dir *dir);

void sb_sys_dir_close(struct sb_sys_dir *dir);

/*
 * Each entry of a directory, as long as that holds: none of one that cannot be opened.  What the loop declares is closed
 * however it is left.
 */
#define SB_EACH_ENTRY(list, directory, path, holds)                                                \
	for (struct sb_sys_dir list __attribute__((cleanup(sb_sys_dir_close))),                    \
	     *list##_ = sb_sys_dir_begin(&list, directory, path);                                  \
	     (holds) && list.fd >= 0 && (list##_->entry = sb_sys_dir_next(list##_));)
struct sb_sys_dir *sb_sys_dir_begin(struct sb_sys_dir *dir, int directory, const char *path);

/* --- about a directory ----------------------------------------------------------------------------- */

/*
 * May two names that differ in case only be one file in this directory?  It says so itself (ext4, f2fs, tmpfs:
 * chattr +F), or its file system does so or may do so: vfat, exfat, hfs, and those whose server decides (9p, which
 * WSL has for drives, smb, nfs, fuse).  False for what is no directory.
 */
bool sb_sys_folds(const char *path);

/*
 * A descriptor that polls readable once something in the directory was made, written or removed; what, is not told: look
 * again.  -EMFILE, -ENOSPC: the user's share of watches is used up.  Changes that other machines make on a network file
 * system are not seen: inotify(7).
 */
int sb_sys_watch(const char *directory);

/* Forget what was reported so far. */
void sb_sys_watch_clear(int watch);

/*
 * Remove everything beneath it, whoever filled it.  System calls alone, so also in a process that was made beside
 * threads.  No link is followed, and no directory left by ".." unless that leads to where it was entered from: who moves
 * one meanwhile ends this.  0, or a negative errno: something is left.
 */
int sb_sys_sweep(int directory);

#endif
