/*
 * view.h - a world of its own for a run: a few directories by new names, a read-only system, nothing else.
 *
 *     sb_view_expect() -> the network is begun, if that can be done so early
 *     sb_view_begin()  -> namespaces; other threads make what is to be seen, and files are where they were
 *     sb_view_enter()  -> this process stands in it; what it opened before stays open
 *     sb_view_settle() -> what was there before is gone.  Before that it makes no process
 *                      -> rules, plan, run: as anywhere else, by the names that are seen there
 *
 *     /NAME ...                      what is shown, read-only or not
 *     /usr /bin /sbin /lib*          this machine's, read-only; with programs only those of /usr/bin and the like
 *     /etc                           what programs need to start: no accounts but this one, no settings
 *     /dev                           null zero full random urandom tty; places for pts and shm
 *     /proc                          this machine's until the run mounts its own (supervise/birth.h)
 *     /tmp /var/tmp                  empty; the run has its own
 *
 * Everything before it is gone from here: no path and no "..", only descriptors lead there.
 */
#ifndef SB_ENFORCE_VIEW_H
#define SB_ENFORCE_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "sandbash/error.h"

#define SB_VIEW_NOTE "/etc/sandbash/worker"
#define SB_VIEW_WORKERS "/etc/sandbash/workers" /* files of those that it may call */

struct sb_view_dir {
	const char *name; /* in "/" */
	const char *path; /* canonical: what is shown, */
	int fd;           /* ... if it is still this directory; O_PATH */
	bool writable;
};

struct sb_view_file {
	char *name; /* in SB_VIEW_WORKERS */
	char *text;
};

struct sb_view {
	const struct sb_view_dir *dirs;
	size_t dir_count;
	const struct sb_view_file *workers;
	size_t worker_count;
	bool network;
	/* absolute paths of files and directories; NULL-terminated; NULL: all.  Then nothing else can be executed,
	 * also in the directories and /tmp: sb_plan.programs */
	const char *const *programs;
};

/*
 * What entering it made beside the files.  own_ids: a user namespace, in which we have every capability.  own_net: net
 * is a network with nothing but loopback, where no network was wanted, for the run to enter.  Not for whoever asks:
 * who attaches is found by a look at the sockets of one's own network.
 */
struct sb_view_made {
	bool own_ids;
	bool own_net;
	int net; /* open as long as the process lives */
};

struct sb_view_begun;

/*
 * Soon a view is begun, or the process ends.  False: until then there must be no other thread, as a user namespace is
 * needed, which the kernel makes for processes of one thread.
 */
bool sb_view_expect(void);

/*
 * SB_E_UNSUPPORTED of each: this machine cannot, and the process must end.
 *
 * From the first to the last other threads may be at work: one makes a network, which takes the kernel longer than all
 * else, one the files until they are entered.  So the first comes early and the last late.  view lasts until it is
 * entered.  Meanwhile nobody makes files, which could get any mode, or changes the directory, and /proc/self/task may
 * lead elsewhere; what is opened by a path is gone then.
 *
 * note: text of SB_VIEW_NOTE, what a sandbash in there has to know.
 */
int sb_view_begin(const struct sb_view *view, struct sb_view_begun **out, struct sb_error *err);
int sb_view_enter(struct sb_view_begun *begun, const char *note, struct sb_error *err);
int sb_view_settle(struct sb_view_begun *begun, struct sb_view_made *out, struct sb_error *err);

#endif
