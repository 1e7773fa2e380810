/*
 * groups.h - the groups of the run's processes, as the user has them outside.
 *
 * A user namespace that nobody with privileges has set up knows one group; getgroups() says 65534 for every
 * further one (user_namespaces(7)), though they count.  Nobody inside can change his own, so what the first
 * process had is every process's answer.
 */
#ifndef SB_SUPERVISE_GROUPS_H
#define SB_SUPERVISE_GROUPS_H

#include <linux/seccomp.h>

struct sb_broker;

/* Before the namespace is made. */
void sb_groups_note(void);

/* Answer a held getgroups(). */
void sb_broker_groups(const struct sb_broker *broker, const struct seccomp_notif *notification);

#endif
