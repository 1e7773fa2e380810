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
#include <sys/types.h>

/* How confined a process is. */
struct sb_confinement {
	bool no_new_privs;
	unsigned filters;
	unsigned namespaces; /* pid namespaces below the one that /proc shows */
};

/* 0 is the calling process.  False: it cannot be told. */
bool sb_confinement_of(pid_t process, struct sb_confinement *out);

/* By a seccomp filter or no_new_privs; every run has both. */
bool sb_is_more_confined(const struct sb_confinement *a, const struct sb_confinement *than);

/* Is it the calling process, or has it descended from it?  Doubt means yes. */
bool sb_is_family(pid_t process);

struct sb_peer {
	pid_t process;
	int pidfd;
};

/*
 * NULL: the peer of a connection that was accepted is fine, and pinned in *out.  Otherwise why
 * it is refused, in words.  own is the calling process's confinement.
 */
const char *sb_peer_refusal(int connection, const struct sb_confinement *own, struct sb_peer *out);

/* Does the process still live, so that its number means nobody else? */
bool sb_peer_alive(const struct sb_peer *peer);

void sb_peer_done(struct sb_peer *peer);

#endif
