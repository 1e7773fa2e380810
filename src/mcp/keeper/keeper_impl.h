/*
 * keeper_impl.h - what the keeper's files share.  See keeper.h.
 *
 * Messages from the server ("k" is their kind):
 *
 *     perform  call tool arguments roots elicit  do it, asking as needed
 *     cancel   call                          nobody waits for it any more
 *     run      run command cwd needs roots elicit
 *                                            start a command; stdin as descriptor 0, or none
 *     signal   run signal                    TERM or KILL
 *     answer   q answer                      what the client's user said
 *     deny     op path tool rule root        a refusal for the record
 *     allow    the same                      what rules allow, with "log-allowed on"
 *     begin                                  a tool is called: the session is on record
 *     count    allowed                       how often rules allowed what, at the end
 *     log      call                          the record so far, as a descriptor
 *
 * and to it:
 *
 *     question  q call|run ...               put it to the client's user
 *     withdrawn q                            no longer
 *     performed call nobody declined attach opened
 *                                            descriptor 0 holds the result
 *     started   run                          descriptors: its output and error streams
 *     session   run session                  its name in the log
 *     ended     run status report attach | failed | error
 *     log       call                         descriptor 0, if there is a record
 */
#ifndef SB_MCP_KEEPER_KEEPER_IMPL_H
#define SB_MCP_KEEPER_KEEPER_IMPL_H

#include <jansson.h>
#include <sys/types.h>

#include "audit/audit.h"
#include "base/hash.h"
#include "consent/agreed.h"
#include "consent/grants.h"
#include "consent/question.h"
#include "consent/session.h"
#include "consent/socket.h"
#include "guard/guard.h"
#include "mcp/keeper/keeper.h"
#include "mcp/wire/link.h"
#include "mcp/wire/rpc.h"
#include "sandbash/files.h"

#define SB_KEEPER_WAY_IN 128

/*
 * What a question of a call was about.  A yes is for this: the same operation on the same path,
 * on the same kind of thing, with these bytes where bytes were shown, and for a guarded name only if that was said.
 */
struct keeper_subject {
	enum sb_op op;
	bool guarded;
	bool by_itself;            /* no answer for a directory counts */
	enum sb_thing thing;       /* of what is made, changed or removed; of what is read any */
	char bytes[SB_SHA256_HEX]; /* "": none were shown */
	const char *path;
};

/* One open question, and whose it is. */
struct keeper_question {
	struct keeper_question *next;
	struct sb_question shown;       /* its texts follow in the same allocation */
	struct keeper_subject subject;  /* path is shown.path; of perform only */
	struct keeper_perform *perform; /* one of these two */
	struct keeper_run *run;
	unsigned long run_id; /* the run's own number of it */
	bool declined;        /* by the client, which has shown it to nobody */
	bool act;             /* of git's tools: an answer is for this call alone */
	unsigned ops;         /* that it is about, a bit each; 0: shown.op */
};

/* What was answered about one path in one call: covers that call only. */
struct keeper_approval {
	struct keeper_approval *next;
	struct keeper_subject subject;
	bool yes;
	char *path;           /* subject.path */
	unsigned long number; /* of those in worker_said: for who watches */
};

/* A call that is done here. */
struct keeper_perform {
	struct keeper_perform *next;
	unsigned long call;
	char *tool;
	json_t *args;
	json_t *roots; /* that the client narrowed the session to; or NULL */
	bool elicit, cancelled;
	bool nobody;   /* can be asked: what has no answer yet is refused by the call itself */
	bool declined; /* the client could, and has answered by itself */
	struct keeper_approval *approvals;
	struct keeper_question *question;
	pid_t child; /* 0: none at present */
	int report;  /* pipe from it */
	int result;  /* memfd that it fills */
	unsigned rounds;
	unsigned long asked; /* number of its last question; 0: there was none */
};

#define SB_NEEDS_ROOTS 16
#define SB_NEEDS_WRITES 18 /* with the roots: as many as a question has lines for */

/* What a command says that it needs (keeper_needs.c). */
struct keeper_needs {
	int settings[SB_SETTING_COUNT]; /* a value and 1; 0: as the session has it */
	char *inside[SB_NEEDS_ROOTS];   /* of the projects: all of them that may change */
	char *outside[SB_NEEDS_ROOTS];  /* to be granted */
	size_t inside_count, outside_count;
	struct sb_agreed_list writes; /* what its text shows, to be allowed */
	bool asks;                    /* it is more than the session's rules allow */
	bool unsandboxed;             /* all of it: keeper_unsandboxed.c */
};

struct keeper_run {
	struct keeper_run *next;
	unsigned long run;
	struct keeper_needs needs;
	struct keeper_approval *agreed; /* what was said yes to before it started: while it runs */
	/* until it starts, while a person is asked whether it may: in keeper->asking */
	json_t *message;
	int in;
	struct keeper_question *question;
	pid_t process;
	int pidfd;
	int attached; /* our end of its --ask-fd; -1: closed */
	bool greeted, elicit;
	bool group;   /* it has no sandbox that ends what it started: its process group is ended */
	char *report; /* path of its file */
};

struct keeper {
	const struct sb_keeper_options *options; /* own */
	struct sb_keeper_options own;            /* what opened projects change of them */
	const char **opened;                     /* such projects; NULL-terminated, or NULL */
	struct sb_link link;
	struct sb_grants *grants;
	struct keeper_approval *ahead;       /* once, asked for by request_access */
	struct keeper_approval *worker_said; /* for the session: keeper_worker.c */
	unsigned long worker_number,
		worker_changes; /* of the last, and how often there were others */
	struct sb_session *session;
	char session_name[SB_SESSION_NAME_MAX + 1];
	bool own_session; /* made by us: forgotten at the end */
	struct sb_audit *audit;
	bool audit_tried;
	struct sb_counters counters;
	struct sb_socket_options people; /* what they say goes here */
	struct sb_socket *socket;        /* for --attach; NULL: not yet, or it cannot be */
	bool socket_tried;
	struct keeper_question *questions;
	struct keeper_perform *performs;
	struct keeper_run *runs;
	struct keeper_run *asking;             /* that are not started yet */
	struct keeper_approval *refused_needs; /* of commands and of open_project */
	unsigned long last_question;
	unsigned long told_changes; /* of the grants, to who watches */
	unsigned run_count;
	unsigned unsandboxed_refused; /* how often a person has said no to that */
};

static inline void sb_keeper_tell(struct keeper *keeper, json_t *message) /* the server */
{
	sb_link_send(&keeper->link, message, NULL, 0);
}

/* --- keeper_record.c ---------------------------------------------------------------------- */
void sb_keeper_open_record(struct keeper *keeper); /* and the socket; from the first real call */
void sb_keeper_record(struct keeper *keeper, struct sb_event *event);
void sb_keeper_count(struct keeper *keeper, const json_t *allowed); /* by operation */
void sb_keeper_close_record(struct keeper *keeper);

/* What a person types to be asked from now on: "sandbash --attach=SESSION".  False: nothing helps. */
bool sb_keeper_way_in(const struct keeper *keeper, char out[SB_KEEPER_WAY_IN]);

/* What a record has of a message or report: who asked for what, where, and by which rule. */
struct sb_event sb_keeper_event(enum sb_event_kind kind, const json_t *told);
/* The same of a question.  by: who answered; or NULL. */
struct sb_event sb_keeper_event_of(const struct keeper_question *question, enum sb_event_kind kind,
				   const char *by);

/* --- keeper_grants.c --------------------------------------------------------------------------- */

/*
 * What was answered before, where the run that asks now cannot know it; "once" is used up by this.  agreed: yes to
 * that for this run.
 */
enum sb_answer sb_keeper_known(struct keeper *keeper, const struct keeper_approval *agreed,
			       const struct sb_question *shown);

/*
 * An answer, remembered for the session where it is of that kind.  "directory" and "always" are
 * only for a question that has shown a directory.
 */
void sb_keeper_remember(struct keeper *keeper, const struct sb_question *shown,
			enum sb_answer answer);

/* What was answered before: grants of the session.  guarded: those for its directory do not count. */
enum sb_answer sb_keeper_recall(const struct keeper *keeper, enum sb_op op, const char *path,
				bool guarded);

/* May "directory" and "always" be offered for this directory: that of path, or path itself? */
bool sb_keeper_may_open(const struct keeper *keeper, enum sb_op op, const char *path,
			const char *directory);

void sb_approvals_add(struct keeper_approval **list, const struct keeper_subject *subject,
		      bool yes);

/* any_bytes: a yes that was given before there were any. */
const struct keeper_approval *sb_approvals_find(const struct keeper_approval *list,
						const struct keeper_subject *subject,
						bool any_bytes);
void sb_approvals_remove(struct keeper_approval **list, enum sb_op op, const char *path);
void sb_approvals_free(struct keeper_approval *list);

/*
 * The roots that the client narrowed the session to, as far as they lie in the user's own; or
 * those.  The array is to be freed; what is in it is others'.
 */
const char **sb_keeper_roots(const struct keeper *keeper, const json_t *roots);

/* --- keeper_ask.c --------------------------------------------------------------------------- */

/* Copies shown; its id is set here. */
struct keeper_question *sb_keeper_question(struct keeper *keeper, const struct sb_question *shown);

/* Put it to everybody who can be asked; elicit: the client can.  False: nobody. */
bool sb_keeper_put(struct keeper *keeper, struct keeper_question *question, bool elicit);
/* Out of the list; and then the end of it. */
void sb_keeper_unlink_question(struct keeper *keeper, struct keeper_question *question);
/* Both, and whoever has it is told. */
void sb_keeper_withdraw(struct keeper *keeper, struct keeper_question *question, const char *why);
bool sb_keeper_people(const struct keeper *keeper); /* is somebody attached? */

/* Does a question wait for somebody to attach? */
bool sb_keeper_waits(const struct keeper *keeper);
/* Is the client asked, who says that it can be? */
bool sb_keeper_elicits(const struct keeper *keeper, const json_t *message);

/* --- keeper_answer.c --------------------------------------------------------------------------- */

/* SB_ANSWER_NONE: whoever it was put to has nobody to ask.  That is no answer, and not remembered. */
void sb_keeper_answer(struct keeper *keeper, unsigned long id, enum sb_answer answer,
		      const char *by);

/* --- keeper_worker.c --------------------------------------------------------------------------- */

/* As sb_standing_tell() and sb_override_take_back(), of what holds for the session. */
void sb_keeper_worker_tell_standing(struct keeper *keeper);
int sb_keeper_worker_take_back(struct keeper *keeper, unsigned long number, struct sb_buf *out,
			       struct sb_error *err);

/*
 * What was answered for longer than once, in a session with --worker.  Returns what whoever asked is to hear: a run knows
 * no answer for writing alone, so it hears "once" each time.
 */
enum sb_answer sb_keeper_worker_remember(struct keeper *keeper,
					 const struct keeper_question *question,
					 enum sb_answer answer);

/* What a run asks, whose paths are those that the worker sees: was it answered for the session? */
enum sb_answer sb_keeper_worker_recall(const struct keeper *keeper,
				       const struct sb_question *shown);

/* --- keeper_watch.c: for sb_socket_options, and at every turn of the loop --------------------- */
void sb_keeper_take_back(void *keeper, unsigned long number);
void sb_keeper_add(void *keeper, const char *rule);
void sb_keeper_tell_standing(struct keeper *keeper);

/* --- keeper_perform.c ------------------------------------------------------------------------- */
void sb_keeper_perform(struct keeper *keeper, const json_t *message);
void sb_keeper_cancel(struct keeper *keeper, unsigned long call);
void sb_keeper_perform_report(struct keeper *keeper, struct keeper_perform *perform);
void sb_keeper_perform_answered(struct keeper *keeper, struct keeper_perform *perform);

/* --- keeper_project.c ------------------------------------------------------------------------------ */

/* From now on, if a person said so: it is as if it had been given at the start.  False: it is not open. */
bool sb_keeper_open_project(struct keeper *keeper, const char *path);

/* --- keeper_child.c: the process that does one operation ---------------------------------------- */
_Noreturn void sb_keeper_child(const struct keeper *keeper, const struct keeper_perform *perform,
			       int report);

/* --- keeper_run.c ------------------------------------------------------------------------------- */
void sb_keeper_run(struct keeper *keeper, const json_t *message, int in);
void sb_keeper_signal(struct keeper *keeper, const json_t *message);
void sb_keeper_run_heard(struct keeper *keeper, struct keeper_run *run); /* its questions */
void sb_keeper_run_ended(struct keeper *keeper, struct keeper_run *run);
void sb_keeper_run_greet(struct keeper *keeper, struct keeper_run *run); /* if we can answer */
void sb_keeper_run_answered(struct keeper_run *run, unsigned long id, enum sb_answer answer);
void sb_keeper_end_runs(struct keeper *keeper);
/* A run that was not started yet may be (ONCE), or not; NONE: nobody was asked. */
void sb_keeper_run_decided(struct keeper *keeper, struct keeper_run *run, enum sb_answer answer);

/* --- keeper_needs.c ----------------------------------------------------------------------------- */

/* NULL: fine.  Else the error for the model, and out is to be let go all the same. */
json_t *sb_needs_read(const struct keeper *keeper, const json_t *message, struct keeper_needs *out);
void sb_needs_done(struct keeper_needs *needs);

/* The question about all of it; NULL: no memory, or *out_refused: it was answered with no before. */
struct keeper_question *sb_needs_question(struct keeper *keeper, const struct keeper_needs *needs,
					  const char *command, bool *out_refused);
/* A yes to the writes of it; sb_approvals_free() ends it. */
struct keeper_approval *sb_needs_agreed(const struct keeper_needs *needs);
void sb_needs_refused(struct keeper *keeper, const struct keeper_needs *needs);
void sb_needs_allow(const struct keeper *keeper, const struct keeper_needs *needs,
		    struct sb_buf *out);
json_t *sb_needs_denied(void);
#define SB_COMMAND_SHOWN 1000 /* bytes: without the sandbox all of it, or it is not asked about */
void sb_needs_put_command(json_t *notes, const char *command);
json_t *sb_needs_error(const char *code, const char *model, bool violation, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* --- keeper_unsandboxed.c ------------------------------------------------------------------------- */

/* Does it ask for no sandbox? */
bool sb_unsandboxed_wanted(const json_t *message);
/* As sb_needs_read(), of a command that is to run without a sandbox. */
json_t *sb_unsandboxed_read(const struct keeper *keeper, const json_t *message,
			    struct keeper_needs *out);
/* As sb_needs_question(), and a no to it. */
struct keeper_question *sb_unsandboxed_question(struct keeper *keeper, const json_t *message,
						bool *out_refused);
void sb_unsandboxed_refused(struct keeper *keeper, const json_t *message);

#endif
