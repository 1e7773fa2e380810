/*
 * watch.h - learn that files in a directory were made, written or removed.
 *
 * Each returns >= 0 or a negative errno.  What changed is not told: look again.
 */
#ifndef SB_SYS_WATCH_H
#define SB_SYS_WATCH_H

/*
 * A descriptor that polls readable once something in the directory changed.
 * -EMFILE, -ENOSPC: the user's share of watches is used up.  Changes that other machines
 * make on a network file system are not seen: inotify(7).
 */
int sb_sys_watch(const char *directory);

/* Forget what was reported so far. */
void sb_sys_watch_clear(int watch);

#endif
