/*
 * grants.h - the session's answers, looked up by file and not by spelling.
 *
 *     new -> find / remember ... -> free
 *
 * "Once" covers one process and one file, with the names under which programs save it (backup,
 * swap, temporary file renamed onto it), until the process exits.  "Directory" covers everything
 * beneath a directory, "deny" a file or directory; both last the session.  Each grant pins
 * its directory with an O_PATH descriptor, so that its inode number cannot be reused, and is
 * found by (device, inode) of the directories on the way up, whatever the path is called now.
 *
 * A directory grant never covers what a rule other than "no rule covers it" stops: guarded
 * names, credentials; and is never given for the home directory or "/".
 */
#ifndef SB_CONSENT_GRANTS_H
#define SB_CONSENT_GRANTS_H

#include <stdint.h>

#include "consent/question.h"

struct sb_grants;

/* One thing that one process wants to do to one path. */
struct sb_wish {
	enum sb_op op;
	bool metadata;    /* modes, times, attributes: not the contents */
	const char *path; /* canonical */
	int directory;    /* O_PATH descriptor of the directory that holds the last name */
	const char *name; /* the last name */
	struct sb_decision decision; /* of the policy: never SB_ALLOW here */
	pid_t process;               /* thread group id, as seen outside */
	uint64_t started;            /* when that process started: ids are used again */
};

struct sb_grants *sb_grants_new(const char *home); /* NULL: out of memory */
void sb_grants_free(struct sb_grants *grants);

/* What was answered before: SB_ANSWER_NONE when this has to be asked. */
enum sb_answer sb_grants_find(const struct sb_grants *grants, const struct sb_wish *wish);

/* May answers 2 and 4 be offered for this wish?  See above. */
bool sb_grants_may_open_directory(const struct sb_grants *grants, const struct sb_wish *wish);

/* Remember an answer.  The directory descriptor is duplicated. */
int sb_grants_remember(struct sb_grants *grants, const struct sb_wish *wish, enum sb_answer answer,
		       struct sb_error *err);

/* An act under a "once" grant made this new name: it belongs to the grant from now on. */
void sb_grants_made(struct sb_grants *grants, const struct sb_wish *wish);

/* The process is gone: its "once" grants end. */
void sb_grants_exited(struct sb_grants *grants, pid_t process);

#endif
