/*
 * approve.h - what the performer may not do: decided once more, asked, and done outside.
 *
 *     init -> { sb_approve, sb_approver_answer, sb_approver_tick }... -> done
 *
 * The asker takes no descriptor of the performer's for an effect.  It opens the directory
 * again by its canonical name, in its own view of the files and through no link, and goes on
 * only if that is the same file.  While a question is open only its caller waits.
 */
#ifndef SB_SUPERVISE_APPROVE_H
#define SB_SUPERVISE_APPROVE_H

#include "audit/audit.h"
#include "config/place.h"
#include "consent/flood.h"
#include "consent/grants.h"
#include "consent/names.h"
#include "consent/session.h"
#include "consent/summary.h"
#include "supervise/case.h"
#include "supervise/perform.h"
#include "supervise/permits.h"
#include "supervise/wire.h"

/* How a question reaches a person.  Everything in question is copied. */
struct sb_asking {
	bool (*can_ask)(void *context);
	bool (*ask)(void *context,
		    const struct sb_question *question); /* false: it cannot be put */
	void (*withdraw)(void *context, unsigned long id);
	void (*notice)(void *context, const char *text); /* one line for the person */
	void *context;
};

#define SB_OWN_TERMINALS 4

struct sb_pending; /* a call that waits for an answer: approve.c */

struct sb_approver {
	const struct sb_policy *policy;
	const struct sb_grounds *grounds;
	const struct sb_home *home;
	const char *project; /* shown with every question */
	const char *worker;  /* whose run it is; or NULL */
	/* to what was said yes before the command started; or NULL */
	const struct sb_agreed_list *agreed;
	struct sb_asking asking;
	int timeout_ms;             /* how long a question may stay open; 0: for ever */
	struct sb_summary *summary; /* what was refused */
	struct sb_session *session; /* named: keeps answers; or NULL */
	const struct sb_named_socket *sockets;
	size_t socket_count;
	const char *(*variable)(const char *name); /* of the environment outside; or NULL */
	int proc;                          /* the host's /proc; also the current directory */
	dev_t terminals[SB_OWN_TERMINALS]; /* the command's from the start; 0: none */

	int channel;            /* to the performer */
	int listener;           /* -1: not there yet */
	struct sb_audit *audit; /* NULL: no record */
	struct sb_counters counters;
	struct sb_grants *grants;
	unsigned long told_changes; /* of the grants, to who watches */
	struct sb_permits permits;
	struct sb_flood *flood;
	struct sb_pending *pending;
	size_t pending_count;
	uint64_t looked_ms;         /* when it was looked whether they live */
	struct sb_pending *waiting; /* allowed, at FIFOs without a reader */
	size_t waiting_count;
	unsigned long last_question;
};

int sb_approver_init(struct sb_approver *approver, struct sb_error *err);
void sb_approver_done(struct sb_approver *approver); /* refuses what still waits */

/* Answer a forwarded call, now or later.  Takes the request over. */
void sb_approve(struct sb_approver *approver, struct sb_wire_request *request);

/* A person has answered; by: "terminal", "attach", "timeout". */
void sb_approver_answer(struct sb_approver *approver, unsigned long question, enum sb_answer answer,
			const char *by);

/* Nobody is left who could answer: refused, and not remembered as an answer. */
void sb_approver_abandon(struct sb_approver *approver, unsigned long question);

/*
 * C9: a person outside takes back an answer, or adds a rule (override.h).  What then needs no
 * question is not asked any more.  Both say what they did, or why not, as a notice.
 */
void sb_approver_take_back(struct sb_approver *approver, unsigned long number);
void sb_approver_add(struct sb_approver *approver, const char *rule);

/* Tell who watches which answers hold, if that has changed.  No socket is fine. */
struct sb_socket;
void sb_approver_tell_standing(struct sb_approver *approver, struct sb_socket *socket);

/* Forget calls whose callers are gone; end questions whose time is up. */
void sb_approver_tick(struct sb_approver *approver);
int sb_approver_timeout_ms(const struct sb_approver *approver); /* until the next tick; -1: none */

/* Answers have changed: whom they cover waits no longer. */
void sb_approver_reconsider(struct sb_approver *approver);

/* --- approve_tell.c -------------------------------------------------------------------- */

/* A line for the end of the run: kept for the summary, and recorded. */
void sb_approver_note(void *approver, enum sb_note_weight weight, const char *line);

/* What went wrong, with its cause, as one line for the person. */
void sb_approver_tell(const struct sb_approver *approver, const struct sb_error *err);

/* Write a record; a failure is said once. */
void sb_approver_record(struct sb_approver *approver, const struct sb_event *event);

/* --- linux_terminals.c ---------------------------------------------------------------- */

/* Is it one of /dev/pts? */
bool sb_is_terminal(const struct sb_spot *file);
/* The device whose other side this is; 0: of none. */
dev_t sb_terminal_of_master(int master);
/* Open it for the command, or EACCES: it is none of the run's. */
struct sb_outcome sb_open_terminal(const struct sb_approver *approver, const struct sb_call *call,
				   const struct sb_spot *file);

/* --- linux_reopen.c ---------------------------------------------------------------- */

/* The same place as the performer's, on descriptors of our own.  0, or a negative errno. */
int sb_reopen(const struct sb_spot *theirs, struct sb_spot *out);

/* A socket that the command cannot see, by the name it would have.  0, or a negative errno. */
int sb_reopen_hidden_socket(const char *path, struct sb_spot *out);

/* Could this user do it at all, without a sandbox?  0, or the kernel's errno. */
int sb_user_may(const struct sb_call *call, const struct sb_spot *file,
		const struct sb_spot *target);

/* Connect (or bind) the command's socket, which is not made to wait.  0 or errno. */
int sb_connect_for(const struct sb_wire_request *request, const struct sb_spot *file);

/* Says what came of writing an "always" to the configuration.  False: it was not written. */
bool sb_approver_tell_always(const struct sb_approver *approver, int status, const char *rule,
			     const char *file, const struct sb_error *err);

#endif
