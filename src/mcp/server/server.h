/*
 * server.h - the server's own state, shared by its files.
 *
 *     standard input -> frame -> rpc -> session (methods) -> call -> worker | keeper | run
 *
 * One thread at a time owns all of it, the one that leads (worker.c): it reads the client, the
 * keeper and the output of runs, and answers.  Others only run file tools; they take a call and
 * give it back.  A call that waits for a person keeps nobody else waiting.
 *
 * Two eras.  Up to 2025-11-25 a client says initialize, and the server can send it requests.
 * From 2026-07-28 on every request carries what the client is and can, and a question ends the
 * call with "input_required"; the client repeats it with the answer and a token (token.h).  One
 * server speaks both: the era is a property of the request.
 */
#ifndef SB_MCP_SERVER_SERVER_H
#define SB_MCP_SERVER_SERVER_H

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "config/setup.h"
#include "mcp/server/spool.h"
#include "mcp/server/token.h"
#include "mcp/tools/tools.h"
#include "mcp/wire/frame.h"
#include "mcp/wire/link.h"
#include "mcp/wire/out.h"
#include "mcp/wire/rpc.h"
#include "options/options.h"

#define SB_MCP_MODERN "2026-07-28"

/* A view with the calls that use it: roots can change while calls are under way. */
struct sb_mcp_view {
	struct sb_files *files;
	struct sb_outside *outside; /* NULL: made when the server could no longer look there */
	size_t users;
	bool retired; /* closed with its last user */
};

/* The answers to one batch, sent together (JSON-RPC; protocol 2025-03-26 and before). */
struct sb_batch {
	json_t *answers;
	size_t open;
};

enum sb_call_state {
	SB_CALL_WORKER, /* a worker has it */
	SB_CALL_KEEPER, /* the keeper has it */
	SB_CALL_RUN,    /* waits for a run */
	SB_CALL_PARKED, /* answered "input_required": its client will come back */
};

struct sb_mcp_call {
	struct sb_mcp_call *next;     /* in the server's list */
	struct sb_mcp_call *next_job; /* in a queue of workers */
	unsigned long number;         /* ours; the keeper knows it by this */
	json_t *id;                   /* the client's */
	const struct sb_tool *tool;
	json_t *args;
	json_t *progress; /* token; or NULL */
	bool modern, elicit;
	enum sb_call_state state;
	atomic_bool cancel;
	struct sb_batch *batch; /* or NULL */
	struct sb_mcp_view *view;
	struct sb_mcp_run *run;
	int64_t until_ms; /* parked: when it is given up; command_status: how long it waits */
	char subject[SB_SHA256_HEX];
	unsigned long token; /* number of the token that is good for it; 0: none */
	/* from a worker; the result of one that is parked may also come from the keeper */
	json_t *events; /* what rules refused, for the record */
	json_t *result;
	bool needs_keeper;
	bool answered;                      /* from the worker's thread */
	unsigned long allowed[SB_OP_COUNT]; /* by rules, as far as it was done here */
};

/* A question of the keeper's that the client's user is to answer. */
struct sb_ask {
	struct sb_ask *next;
	unsigned long q;
	json_t *facts;
	struct sb_mcp_call *call; /* one of these two */
	struct sb_mcp_run *run;
	unsigned long request; /* number of our elicitation/create; 0: not sent, or modern */
	int64_t sent_ms;       /* when the client got it */
};

struct sb_mcp_run {
	struct sb_mcp_run *next;
	unsigned long number;
	char id[24];
	char *command;
	struct sb_mcp_call *call; /* who waits for its end; or NULL */
	bool background, started, ended, timed_out, stopped, elicit;
	int streams[2]; /* output, error; -1: at its end */
	struct sb_spool spools[2];
	int64_t started_ms, ended_ms, deadline_ms, kill_ms;
	int64_t told_ms; /* last progress */
	uint64_t told[2];
	size_t output_limit;
	int status;
	json_t *report;
	json_t *error; /* why it was not started, as a failed call has it; or NULL */
	char *session, *failed;
	char *attach; /* what a person types to be asked; NULL: nothing helps */
};

struct sb_mcp {
	const struct sb_command_line *line;
	const struct sb_setup *setup;
	const struct sb_tool_worker *worker; /* of --worker; or NULL */
	struct sb_out *out;
	struct sb_frame frame;
	struct sb_link link;
	struct sb_token_key key;
	struct sb_mcp_view *view;
	char **roots;   /* that the client narrowed us to; NULL: the projects */
	json_t *opened; /* projects that a person opened since; out of our own reach */

	/* the legacy client */
	const char *version; /* negotiated; NULL: no initialize yet */
	bool initialized, elicit, has_roots;

	bool begun; /* a tool was called, and the keeper knows */
	atomic_ulong allowed[SB_OP_COUNT];

	struct sb_mcp_call *calls;
	struct sb_ask *asks;
	struct sb_mcp_run *runs;
	unsigned long last_call, last_run, last_request, last_token;
	unsigned long roots_request; /* number of our roots/list; 0: none is open */
	struct sb_batch *batch;      /* that is being read */
	json_t *results;             /* large ones, by the number of their resource */
	unsigned long last_result;

	/* threads; under the lock */
	pthread_mutex_t lock;
	pthread_cond_t more;
	bool leaderless; /* whoever waits is to take the lead */
	struct sb_mcp_call *jobs, **last_job, *done;
	size_t job_count, thread_count, waiting;

	int wake;       /* eventfd: done has a call that waits for its answer */
	bool ending;    /* standard input has ended */
	int64_t end_ms; /* when calls under way are given up then */
};

/* --- server.c ------------------------------------------------------------------------------------ */
_Noreturn void sb_mcp_run(struct sb_mcp *mcp); /* the life of every thread, the first too */

/* --- reply.c ------------------------------------------------------------------------------------- */

/* Answer a request: into its batch, or at once.  Takes the answer over. */
void sb_mcp_answer(struct sb_mcp *mcp, struct sb_batch *batch, json_t *answer);
void sb_batch_close(struct sb_mcp *mcp, struct sb_batch *batch); /* if nothing in it is open */

/* A result with what its era adds to it. */
json_t *sb_mcp_finish_result(json_t *result, bool modern, bool cacheable);
json_t *sb_mcp_server_info(void);

json_t *sb_mcp_request_id(unsigned long number);       /* of one of ours to the client */
void sb_mcp_tell(struct sb_mcp *mcp, json_t *message); /* the keeper */
/* How a person comes to be asked next time; attach: their command, what: "the call". */
void sb_mcp_way_in(struct sb_buf *out, const char *attach, const char *what);

/* --- shorten.c ----------------------------------------------------------------------------------- */

/* A result that is too large to be sent whole: its beginning, and where the rest is. */
json_t *sb_resources_shorten(struct sb_mcp *mcp, json_t *result);
bool sb_resources_must_shorten(const json_t *result);

/* --- calls.c ------------------------------------------------------------------------------------- */

struct sb_mcp_call *sb_call_new(struct sb_mcp *mcp, json_t *id, bool modern); /* NULL: no memory */
struct sb_mcp_call *sb_call_by_number(const struct sb_mcp *mcp, unsigned long number);
struct sb_mcp_call *sb_call_by_id(const struct sb_mcp *mcp,
				  const json_t *id);            /* not a parked one */
void sb_call_end(struct sb_mcp *mcp, struct sb_mcp_call *call); /* without an answer */
void sb_call_finish(struct sb_mcp *mcp, struct sb_mcp_call *call, json_t *result);
void sb_call_tell_events(struct sb_mcp *mcp, struct sb_mcp_call *call); /* F7: to the keeper */
void sb_call_answer(struct sb_mcp *mcp, struct sb_mcp_call *call, json_t *message);
/*
 * In the worker's thread: answer the call if nothing but the call is needed for that.  Saves the
 * client a change of threads, which is a good part of what a small call takes.
 */
void sb_call_answer_early(struct sb_mcp *mcp, struct sb_mcp_call *call);

struct sb_mcp_run *sb_run_by_number(const struct sb_mcp *mcp, unsigned long number);
struct sb_mcp_run *sb_run_by_id(const struct sb_mcp *mcp, const char *id);
bool sb_run_finished(const struct sb_mcp_run *run); /* ended, and all its output is here */

bool sb_ask_is_of(const struct sb_ask *ask, const struct sb_mcp_call *call);
bool sb_ask_open(const struct sb_mcp *mcp, const struct sb_mcp_call *call);
void sb_ask_forget(struct sb_mcp *mcp, struct sb_ask *ask);
void sb_ask_withdrawn(struct sb_mcp *mcp, unsigned long q); /* and the client is told */
void sb_ask_drop(struct sb_mcp *mcp, const struct sb_mcp_call *call, const struct sb_mcp_run *run);

/* --- session.c: the methods ---------------------------------------------------------------------- */
void sb_mcp_message(struct sb_mcp *mcp, const struct sb_message *message);

/* --- call.c -------------------------------------------------------------------------------------- */
void sb_call_start(struct sb_mcp *mcp, json_t *id, json_t *params, bool modern, bool elicit);
void sb_call_worked(struct sb_mcp *mcp, struct sb_mcp_call *call); /* a worker is done with it */
void sb_call_cancel(struct sb_mcp *mcp, const json_t *id);

/* --- keeper_talk.c: messages of the keeper ------------------------------------------------------- */
void sb_mcp_keeper_message(struct sb_mcp *mcp, const json_t *message, int fds[SB_LINK_FDS]);

/* --- ask.c --------------------------------------------------------------------------------------- */
void sb_ask_take(struct sb_mcp *mcp, const json_t *facts);                  /* a new question */
bool sb_ask_answered(struct sb_mcp *mcp, const struct sb_message *message); /* elicitation */

/* Modern: end the call with its open questions, to be repeated. */
void sb_ask_park(struct sb_mcp *mcp, struct sb_mcp_call *call);

/* The call was repeated: what its inputResponses say goes to the keeper. */
void sb_ask_resume(struct sb_mcp *mcp, struct sb_mcp_call *call, const json_t *responses);

/* --- worker.c ------------------------------------------------------------------------------------ */
void sb_worker_give(struct sb_mcp *mcp, struct sb_mcp_call *call);
/*
 * Let threads take what was given; life is that of new ones.  Not NULL: work on this one, you have
 * lost the lead.
 */
struct sb_mcp_call *sb_workers_dispatch(struct sb_mcp *mcp, void *(*life)(void *));
struct sb_mcp_call *sb_worker_take(struct sb_mcp *mcp); /* one that is done; NULL: none */
/* Wait for a call to work on, or for the lead: then NULL. */
struct sb_mcp_call *sb_worker_next(struct sb_mcp *mcp, bool *out_leads);
void sb_worker_work(struct sb_mcp *mcp, struct sb_mcp_call *call);

/* --- run.c, run_result.c ------------------------------------------------------------------------------ */
void sb_run_start(struct sb_mcp *mcp, struct sb_mcp_call *call);
void sb_run_status(struct sb_mcp *mcp, struct sb_mcp_call *call);
void sb_run_stop(struct sb_mcp *mcp, struct sb_mcp_call *call);
void sb_run_abandon(struct sb_mcp *mcp, struct sb_mcp_run *run); /* nobody wants it any more */
void sb_run_message(struct sb_mcp *mcp, const char *kind, const json_t *message,
		    int fds[SB_LINK_FDS]);
void sb_run_read(struct sb_mcp *mcp, struct sb_mcp_run *run, int stream);
int64_t sb_run_tick(struct sb_mcp *mcp, int64_t now_ms); /* when to look again; INT64_MAX: never */
json_t *sb_run_result(const struct sb_mcp_run *run, uint64_t out_offset, uint64_t err_offset);
json_t *sb_run_list(const struct sb_mcp *mcp);

/* --- refused.c ------------------------------------------------------------------------------- */
json_t *sb_run_refused(const struct sb_mcp_run *run); /* with the grant that would do; a new list */
void sb_run_put_refused(const struct sb_mcp_run *run, struct sb_buf *out);
bool sb_run_lacked_person(const struct sb_mcp_run *run); /* and one could come: run->attach */
void sb_run_progress(struct sb_mcp *mcp, struct sb_mcp_run *run, int64_t now_ms);

/* --- resources.c ---------------------------------------------------------------------------------------- */
json_t *sb_resources_list(const struct sb_mcp *mcp);
json_t *sb_resources_templates(const struct sb_mcp *mcp);
/* An answer to resources/read, now or (the log) later. */
void sb_resources_read(struct sb_mcp *mcp, json_t *id, const char *uri, bool modern);
void sb_resources_log(struct sb_mcp *mcp, unsigned long number, int fd);

/* --- roots.c ------------------------------------------------------------------------------------------------ */
void sb_roots_ask(struct sb_mcp *mcp);
bool sb_roots_answered(struct sb_mcp *mcp, const struct sb_message *message);
void sb_roots_opened(struct sb_mcp *mcp, const char *project);  /* by a person, on request */
bool sb_roots_have(const struct sb_mcp *mcp, const char *path); /* a canonical one */
json_t *sb_roots_json(const struct sb_mcp *mcp); /* for the keeper: empty, or what they leave */
int sb_mcp_open_view(struct sb_mcp *mcp, const char *const *roots, struct sb_files_error *err);
void sb_view_release(struct sb_mcp_view *view);

/* --- outside.c ------------------------------------------------------------------------------------------------ */
struct sb_outside *sb_outside_look(const struct sb_home *home, const struct sb_files *files);
bool sb_outside_is_same(const struct sb_outside *outside); /* NULL is not */
void sb_outside_free(struct sb_outside *outside);

/* --- confine.c ------------------------------------------------------------------------------------------------ */

/*
 * Landlock for this process: the projects and what rules open to changes, or what the worker (or NULL) has, and
 * nothing else.
 */
int sb_mcp_confine(const struct sb_setup *setup, const struct sb_tool_worker *worker,
		   struct sb_error *err);

#endif
