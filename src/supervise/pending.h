/*
 * pending.h - a forwarded call on its way: looked at, asked about, carried out or refused.
 *
 * Shared by approve.c (what becomes of it), ask.c (the question) and pending.c (doing it, or
 * not, and telling); for nobody else.
 */
#ifndef SB_SUPERVISE_PENDING_H
#define SB_SUPERVISE_PENDING_H

#include "supervise/approve.h"
#include "supervise/land.h"
#include "supervise/sealed.h"

#define SB_MAX_PENDING 1000 /* calls that wait for answers at a time */
#define SB_MAX_CHANGES 3    /* that often what was shown may change, and is asked about again */

/* What one operation of the call is about, beside its path: grants.h. */
struct sb_looked {
	enum sb_thing thing;
	const char *leads_to, *moved_to;
	bool sets_id; /* what is moved or linked brings such bits, or may */
};

struct sb_pending {
	struct sb_pending *next;
	struct sb_wire_request *request;
	struct sb_spot file, target; /* ours */
	struct sb_judgement judgement;
	struct sb_rule inner_rule; /* ... where runs inside say no */
	bool of_worker;            /* whose run it is */
	char *worker;              /* one that another one called: "first > second"; else NULL */
	struct sb_looked looked[SB_MAX_JUDGED]; /* for each of judgement.all */
	char links[2][PATH_MAX];                /* where links that are moved lead */
	const char *replaces;                   /* rename: "the file", "the directory"; or NULL */
	bool exchanges;
	struct sb_source source; /* what would land on a guarded name: these bytes and no others */
	unsigned long question;  /* several may wait for one; its text names the one that is */
	bool shown;              /* ... shown: "once" is for that process and no other */
	bool offers_directory;   /* the question of the one that is shown */
	struct sb_sealed directories; /* what the question has said about these */
	bool changed;                 /* they are others by now: nothing was done */
	unsigned changes;             /* how often they were */
	bool counted;
	uint64_t
		lost_ms; /* since when no caller waits for it, who may come again: owed.h; 0: one does */
	uint64_t deadline_ms;   /* 0: none */
	uint64_t started;       /* when the process started */
	const char *by;         /* who allowed it; a literal, or NULL */
	bool unseen;            /* ... before its bytes were known */
	char program[PATH_MAX]; /* its file */
};

struct sb_pending *sb_pending_new(void); /* all zero; NULL: no memory */
void sb_pending_free(struct sb_pending *pending);

/* Nobody waits: the file was closed by the end of its writer (stage.h). */
bool sb_call_is_orphan(const struct sb_call *call);

void sb_pending_fail(const struct sb_approver *approver, const struct sb_call *call, int error);

/* Would bytes land on a guarded name that are not harmless?  A yes is one to these alone. */
bool sb_pending_shows_bytes(const struct sb_pending *pending);

/* Is it an open of a guarded name where no content is harmless? */
bool sb_pending_asks_early(const struct sb_pending *pending);

/* After sb_judge(): what things the operations are about, as they are now. */
void sb_pending_look(struct sb_pending *pending);

/* One operation of the call, as the grants know it. */
struct sb_wish sb_pending_wish(const struct sb_pending *pending, const struct sb_judged *judged);

/* For the record. */
const char *sb_pending_origin(const struct sb_decision *decision);
struct sb_event sb_pending_event(const struct sb_pending *pending, enum sb_event_kind kind);

/* Where it leads, in our view.  False: answered already. */
bool sb_pending_find_spots(struct sb_approver *approver, struct sb_pending *pending);

/* What earlier answers say about all that the call needs. */
enum sb_answer sb_pending_find_answer(const struct sb_approver *approver,
				      const struct sb_pending *pending);

/* Judge it and do, refuse or ask; takes pending over.  reconsider: others have acted since. */
void sb_pending_decide(struct sb_approver *approver, struct sb_pending *pending);
void sb_pending_reconsider(struct sb_approver *approver, struct sb_pending *pending);

/* The errno of a no. */
int sb_pending_refusal(const struct sb_approver *approver, const struct sb_pending *pending);

/* Refused for good: answered, recorded, kept for the summary; takes pending over. */
void sb_pending_deny(struct sb_approver *approver, struct sb_pending *pending, const char *by);

/* Carry it out and answer; *again: a FIFO that nobody reads yet, nothing was answered. */
int sb_pending_perform(struct sb_approver *approver, struct sb_pending *pending, bool *again);

/* Done because a person said yes, now or earlier; takes pending over.  It may have to wait. */
void sb_pending_carry_out(struct sb_approver *approver, struct sb_pending *pending, const char *by);
void sb_pending_try_waiting(struct sb_approver *approver);

/* Wait for others' questions, and be asked about as they are (sb_approver_answer()). */
void sb_pending_keep(struct sb_approver *approver, struct sb_pending *pending);

/* Ask, join an open question, or refuse; takes pending over. */
void sb_pending_ask(struct sb_approver *approver, struct sb_pending *pending);

#endif
