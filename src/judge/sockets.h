/*
 * sockets.h - whose is a socket: the run's own, the project's, or a service's outside?
 *
 * Connecting does nothing to a file: somebody behind it acts, with rights that the run has not.  So a yes to the
 * files of a place (a rule, an answer, a grant, a shared /tmp) is none to the sockets among them.  Unasked a
 * command connects
 *
 *     - to what the run has bound itself, wherever that is: whoever binds for it notes the file
 *     - in the temporary directories that it has for itself
 *     - in the project
 *     - to a socket that a rule of the user's names, and not a directory around it
 *
 * A file is known as in own_temp.h: by its number and the time of its birth.  The list is shared by the processes
 * of a supervisor.  Bounded: the oldest gives way, and is asked about.
 */
#ifndef SB_JUDGE_SOCKETS_H
#define SB_JUDGE_SOCKETS_H

#include <stdbool.h>

#include "sys/beneath.h"

struct sb_own_sockets;

/* Before the processes part.  NULL: no memory. */
struct sb_own_sockets *sb_own_sockets_new(void);

/* The run has bound a socket, and this is its file. */
void sb_own_sockets_bound(struct sb_own_sockets *own, const struct sb_sys_file *file);

#endif
