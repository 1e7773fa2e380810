/*
 * holders.h - has a process inside a sandbox a terminal open?
 *
 * It could read what is typed there and draw over what is shown, so no question belongs on
 * such a terminal.  A run that was started in the background keeps the caller's, for one.
 */
#ifndef SB_CONSENT_HOLDERS_H
#define SB_CONSENT_HOLDERS_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * A process that is more confined than we are (peer.h) and has this terminal (fstat(2)) open; 0: none that can be seen.  A descriptor on its way between two processes is
 * not seen, nor are those of a process that is none of ours to look at.
 */
pid_t sb_terminal_held_inside(const struct stat *terminal);

/*
 * Has a process that descends from us, and is more confined, the other side of /dev/pts/number
 * open?  Then a run of ours has made it.
 */
bool sb_terminal_made_inside(unsigned number);

#endif
