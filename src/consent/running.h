/*
 * running.h - which supervised runs there are, and where each listens.
 *
 *     announce (holds the file) -> withdraw          list: by anybody of the same user
 *
 * STATE/run has one file per run, named by its session.  Its run holds it with flock(2), so
 * that a file nobody holds is of a run that was killed: whoever lists, or announces another, removes it.  A command
 * can read these files, and hold one that its run has left, but change nothing there; so a run
 * is listed only if its process lives.
 */
#ifndef SB_CONSENT_RUNNING_H
#define SB_CONSENT_RUNNING_H

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "consent/session.h"
#include "sandbash/error.h"

#define SB_RUNNING_ID 64     /* size of a session's ID */
#define SB_RUNNING_SOCKET 33 /* 128 bits in hex */
#define SB_RUNNING_TEXT 1024 /* escaped, cut: for people to read */

struct sb_running {
	char session[SB_RUNNING_ID];
	char name[SB_SESSION_NAME_MAX + 1]; /* of --session; "": none */
	char socket[SB_RUNNING_SOCKET];     /* abstract: after SB_RUNNING_PREFIX */
	pid_t process;                      /* who listens, */
	unsigned long long born;            /* and when it began: a number may go to another */
	uid_t owner;
	time_t started;
	char directory[SB_RUNNING_TEXT], command[SB_RUNNING_TEXT];
	char mode[32]; /* "": not told */
};

#define SB_RUNNING_PREFIX "sandbash/"
#define SB_RUNNING_DIRECTORY "run" /* in the state directory */

/* *out_fd holds the file; born is filled in. */
int sb_running_announce(const char *state_dir, struct sb_running *running, int *out_fd,
			struct sb_error *err);
void sb_running_withdraw(const char *state_dir, const char *session, int fd);

/* Every run, in order of session; *out is malloc'ed. */
int sb_running_list(const char *state_dir, struct sb_running **out, size_t *out_count,
		    struct sb_error *err);

#endif
