/*
 * peer.h - who is at the other end of a local socket, and may they answer questions?
 *
 * Only a process of the user (or root) that is as free as we are ourselves: a run cannot be
 * left, so whoever is inside one, ours or another, is known by what it carries.
 *
 *   - another user                                            SO_PEERCRED
 *   - the asker, or a descendant of it: the run itself.  The asker is a subreaper, so
 *     a process whose parents are gone is still one           parents in /proc
 *   - more seccomp filters than we have, or no_new_privs where we have none: a run of
 *     another asker, a static one, or any other sandbox       /proc/PID/status
 *   - another pid namespace                                   NSpid there
 *
 * What cannot be found out counts against it.  The process is pinned with a pidfd; every
 * message is checked to come from that very process (SCM_CREDENTIALS), so that a connection
 * handed on to somebody inside is worth nothing.
 */
#ifndef SB_CONSENT_PEER_H
#define SB_CONSENT_PEER_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

/* How confined a process is. */
struct sb_confinement {
	bool no_new_privs;
	unsigned filters;
	unsigned namespaces; /* pid namespaces below the one that /proc shows */
};

/* 0 is the calling process.  False: it cannot be told. */
bool sb_confinement_of(pid_t process, struct sb_confinement *out);

struct sb_pinned {
	pid_t process;
	int pidfd;
};

/*
 * NULL: the peer of a connection that was accepted is fine, and pinned in *out.  Otherwise why
 * it is refused, in words.  own is the calling process's confinement.
 */
const char *sb_peer_refusal(int connection, const struct sb_confinement *own,
			    struct sb_pinned *out);

/* Does the process still live, so that its number means nobody else? */
bool sb_peer_alive(const struct sb_pinned *peer);

void sb_peer_done(struct sb_pinned *peer);

/*
 * A process that is more confined than we are and has this terminal (fstat(2)) open; 0: none that can be seen.  It could
 * read what is typed there and draw over what is shown, so no question belongs on such a terminal.  A run that was started
 * in the background keeps the caller's, for one.  A descriptor on its way between two processes is not seen, nor are
 * those of a process that is none of ours to look at.
 */
pid_t sb_terminal_held_inside(const struct stat *terminal);

/*
 * Has a process that descends from us, and is more confined, the other side of /dev/pts/number
 * open?  Then a run of ours has made it.
 */
bool sb_terminal_made_inside(unsigned number);

#endif
