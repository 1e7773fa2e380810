/*
 * audit.h - the record of a run, outside the sandbox's reach (R1, R2).
 *
 *     open -> event ... -> close          one file per session, one writer
 *
 * JSON Lines: one write(2) per event, fields in a fixed order (record.h), each record chained
 * to the one before by SHA-256, so that an edit or a cut shows (chain.h).  A crash leaves at
 * worst one torn last line.  The file is held with flock(2) while the writer lives.
 *
 * One thread writes.  The file's descriptor is close-on-exec; a forked child that goes on
 * without exec keeps the session "running".
 */
#ifndef SB_AUDIT_AUDIT_H
#define SB_AUDIT_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "sandbash/error.h"

enum sb_event_kind {
	SB_EVENT_START,   /* policy hash, layers in force, command */
	SB_EVENT_ASK,     /* a question was put */
	SB_EVENT_ANSWER,  /* and answered */
	SB_EVENT_DENY,    /* refused: by rule, by an answer, or because nobody could be asked */
	SB_EVENT_GRANT,   /* an answer now covers more than one operation */
	SB_EVENT_PERFORM, /* an approved operation was carried out */
	SB_EVENT_NOTE,    /* something a person is told at the end */
	SB_EVENT_EXIT,    /* status and counters */
	SB_EVENT_REVOKE,  /* an answer holds no more: a person has taken it back */
	SB_EVENT_CONNECT, /* a host was reached: told when the connection ends, or fails */
	SB_EVENT_ALLOW,   /* rules allow it: on request (log-allowed) */
	SB_EVENT_COUNT,
};

/* Zero or NULL in a field: it does not apply and is left out. */
struct sb_event {
	enum sb_event_kind kind;
	unsigned long question; /* ties ask, answer and perform together */
	const char *op;         /* "create", "modify", ...: in all but start and exit */
	const char *act;        /* the system call in words: "rename", "open" */
	const char *path;
	const char *given; /* how a call of a file tool has put it */
	const char *target;
	/* about a host, with op "connect": whom, where that was found, and what went to and fro */
	const char *host; /* the name, or the address that was given */
	unsigned long port;
	const char *protocol; /* "tcp", "udp" */
	const char *address;  /* of the name, once it was looked up */
	const char *tls_name; /* that the client asked for, where it is seen */
	unsigned long sent, received, milliseconds;
	const char *program;
	const char *worker; /* for whom; NULL: for no worker */
	pid_t process;
	const char *rule;    /* origin of the rule */
	const char *verdict; /* "allow", "deny" */
	const char *answer;  /* "once", "directory", "deny", "always" */
	/* who answered: "terminal", "attach", "nobody", "grant", "flood", "timeout", "changed"; or
	 * "quiet" */
	const char *by;
	int error;           /* errno of a performed or refused operation */
	const char *content; /* SHA-256, hex, of the bytes that landed on a guarded name */
	const char *note;    /* one line */
	/* start; in a shared file the process as well, which an exit names again */
	const char *const *command; /* NULL-terminated */
	const char *directory;
	const char *mode;
	const char *layers;
	const char *policy_hash;
	/* exit */
	bool has_status;
	int status;
	const struct sb_counters *counters;
};

/* R2: by operation (enum sb_op) */
struct sb_counters {
	unsigned long seen[4], allowed[4], denied[4], asked[4], approved[4];
};

struct sb_audit;

/*
 * Make the session's file under state_dir (".../sandbash"); directories are made, mode 0700.
 * name may be NULL.  SB_E_SYSTEM: unwritable or full.
 */
int sb_audit_open(const char *state_dir, const char *name, struct sb_audit **out,
		  struct sb_error *err);

/*
 * The same in the file of the day, which many write to, a record at a time: for runs of which only
 * the start is recorded.  A file of its own would cost more than all the rest of the record.
 */
int sb_audit_open_shared(const char *state_dir, const char *name, struct sb_audit **out,
			 struct sb_error *err);
void sb_audit_close(struct sb_audit *audit); /* one without records vanishes; NULL is fine */

/*
 * See that the first records can be written, and hold room for them: for whoever must not run
 * without.  SB_E_SYSTEM: no space, a quota, a limit on how long files may be.
 */
int sb_audit_reserve(struct sb_audit *audit, struct sb_error *err);

/* "20261115T180301-1234-9f3c": names the file, sorts by time. */
const char *sb_audit_session(const struct sb_audit *audit);

/*
 * Append one record.  After a failure (full disk) further ones are still tried, and the next
 * that succeeds says how many were lost.  SIGXFSZ is the caller's to ignore.
 */
/* From now on records name the worker for whom it is; the name stays the caller's. */
void sb_audit_of_worker(struct sb_audit *audit, const char *worker);

int sb_audit_write(struct sb_audit *audit, const struct sb_event *event, struct sb_error *err);

#endif
