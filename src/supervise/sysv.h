/*
 * sysv.h - System V memory, semaphores and queues of a run, where there is no namespace for them.
 *
 * They have neither paths nor owners among the user's programs: whoever knows a key or guesses a number has
 * them.  So the broker makes them in the command's place, always as new ones without a key (IPC_PRIVATE), and
 * remembers which key of the run's each one is: keys are the run's own, as in a namespace, and a number that is
 * not in the list does not exist.  Key and number are in registers; what is let through is what was looked at.
 * What is left when the run ends is removed (leftovers.h): their list is memory that the processes of the
 * supervisor share.
 */
#ifndef SB_SUPERVISE_SYSV_H
#define SB_SUPERVISE_SYSV_H

#include <linux/seccomp.h>
#include <stdbool.h>

struct sb_broker;

/* Before the first of the supervisor's processes is made.  False: no memory. */
bool sb_sysv_begin(void);

/* Answer a held call of this kind; false: it is none. */
bool sb_broker_sysv(const struct sb_broker *broker, const struct seccomp_notif *notification);

/* Nobody of the run is alive any more. */
void sb_sysv_end(void);

#endif
