/*
 * performer.h - the process that holds the listener and does what the policy allows.
 *
 * It is confined to the writable roots itself, so that a mistake in its path code cannot
 * reach outside them, and it asks nobody: whatever the policy does not simply allow goes to
 * the asker (wire.h).  It never waits for a file, a FIFO or an answer while others wait for
 * it: one thread serves, and when it is stuck another takes over.
 */
#ifndef SB_SUPERVISE_PERFORMER_H
#define SB_SUPERVISE_PERFORMER_H

#include "consent/notes.h"
#include "enforce/plan.h"
#include "supervise/case.h"
#include "supervise/fast.h"
#include "supervise/kept.h"
#include "supervise/stage.h"
#include "supervise/tell.h"
#include "supervise/wire.h"

struct sb_performer {
	const struct sb_policy *policy;
	const struct sb_grounds *grounds;
	const struct sb_plan *plan;
	const struct sb_layers *layers;
	int listener;
	int channel;          /* to the asker */
	int proc;             /* the host's /proc */
	struct sb_gate *gate; /* where hosts are told apart: network/network.h; or NULL */
	int lifeline; /* closing it ends everything in the pid namespace; -1: there is none */
	int tty;      /* the command's terminal, whose foreground we manage; -1: none */
	pid_t target; /* the command */
	pid_t init;   /* first process of its pid namespace; 0: there is none */
	mode_t umask; /* the command's at the start */
	bool keep_background;
};

/*
 * Confine this process and make its threads; the listener is not needed yet.  0, or a
 * negative errno: nothing may run.
 */
int sb_performer_prepare(struct sb_performer *performer);

/* Serve until the command has ended; returns the exit status of this process. */
int sb_performer_run(struct sb_performer *performer);

/* --- broker.c: one held call ---------------------------------------------------- */

struct sb_broker {
	const struct sb_performer *performer;
	unsigned umask_changes; /* 0: everybody has the umask of the start */
	bool umask_shared;      /* one of them was that of several threads */
	struct sb_wire_counters counters;
	int waiting; /* threads that wait for a FIFO or a connection on a caller's behalf */
	struct sb_staging staging;
	struct sb_fast_roots fast;
	pthread_mutex_t notes_lock; /* of: */
	struct sb_kept kept;        /* sockets of the command, where they cannot be copied */
	struct sb_notes notes;      /* what the asker was told for the end of the run */
};

struct seccomp_notif;
/* cwd is the calling thread's own (resolve.h). */
void sb_broker_serve(struct sb_broker *broker, struct sb_cwd *cwd,
		     const struct seccomp_notif *notification);

/* Prepare the calling thread, which has a current directory and a umask of its own. */
int sb_broker_enter(const struct sb_broker *broker);

/* --- sockets.c: connect and bind ---------------------------------------------------- */

void sb_broker_socket(struct sb_broker *broker, struct sb_call *call);
void sb_broker_make_socket(struct sb_broker *broker, const struct seccomp_notif *notification);

/* --- pair.c: socketpair -------------------------------------------------------------- */

void sb_broker_make_pair(struct sb_broker *broker, const struct seccomp_notif *notification);

/* --- signals.c --------------------------------------------------------------------- */

/* True: it was a call that sends a signal, and is answered. */
bool sb_broker_signal(const struct sb_broker *broker, const struct seccomp_notif *notification);

/* --- answer.c: what becomes of a call ---------------------------------------------------- */

void sb_broker_fail(const struct sb_broker *broker, const struct sb_call *call, int error);
void sb_broker_forward(struct sb_broker *broker, const struct sb_call *call, struct sb_spot *file,
		       struct sb_spot *target, int socket);
/* The same for a process that may be gone. */
void sb_broker_forward_for(struct sb_broker *broker, const struct sb_call *call, pid_t process,
			   struct sb_spot *file, struct sb_spot *target, int socket);
/* This one is about to change its umask. */
void sb_broker_umask_changes(struct sb_broker *broker, pid_t thread);
/* Give the calling thread the umask of this one. */
void sb_broker_set_umask(const struct sb_broker *broker, pid_t thread);
mode_t sb_broker_umask(const struct sb_broker *broker, pid_t thread);
/* R2.  A call was judged; and, then or later, it was carried out as the rules allow. */
void sb_broker_seen(struct sb_broker *broker, enum sb_op op);
void sb_broker_done(struct sb_broker *broker, enum sb_op op);
/* For the end of the run; before the caller gets its answer. */
struct sb_telling sb_broker_telling(struct sb_broker *broker);
/* The kernel goes on with the call itself. */
void sb_broker_let_through(const struct sb_broker *broker, const struct sb_call *call);
struct sb_outcome;
void sb_broker_answer(const struct sb_broker *broker, const struct sb_call *call,
		      const struct sb_spot *file, const struct sb_spot *target,
		      struct sb_outcome *outcome);
/* The kernel's own answer, not a refusal of ours. */
void sb_broker_answer_error(const struct sb_broker *broker, const struct sb_call *call, int error);
/* Where a name of the call leads.  0, or a negative errno. */
int sb_broker_resolve(const struct sb_broker *broker, struct sb_cwd *cwd,
		      const struct sb_call *call, const struct sb_named *named,
		      enum sb_lookup lookup, struct sb_spot *out);

/* --- reach.c: what bounds a call beside the policy ------------------------------------- */

/*
 * The policy allows it, and yet this process could not: it lies where it has no right to change
 * anything (a rule for something that did not exist at the start).  The other one can.
 */
bool sb_broker_is_out_of_reach(const struct sb_performer *performer, const struct sb_call *call,
			       const struct sb_judgement *judgement, int error);

/* --- attempt.c: one call that is neither answered nor let through at once --------------- */

/* True: answered.  False: the name changed meanwhile, look again. */
bool sb_broker_attempt(struct sb_broker *broker, struct sb_cwd *cwd, const struct sb_call *call);

/* --- in_proc.c ------------------------------------------------------------------------- */

/* A change in procfs, or from there, that no rule allows. */
void sb_broker_answer_in_proc(const struct sb_broker *broker, const struct sb_call *call,
			      const struct sb_spot *file, const struct sb_spot *target);

/* --- device.c --------------------------------------------------------------------------- */

/* An open that is the kernel's own to do (perform.h), unless that is better done here. */
void sb_broker_open_device(struct sb_broker *broker, const struct sb_call *call,
			   const struct sb_spot *file);
/* Rules about terminals mean the host's; in a /dev/pts of our own everything is the run's. */
bool sb_broker_is_own_terminal(const struct sb_performer *performer, const struct sb_spot *file);

/* --- wait.c: waiting on a caller's behalf -------------------------------------------- */

/* Did a signal end the wait of this call?  Then it has been answered; error: SB_RESTART, or what is never restarted. */
bool sb_broker_interrupted(const struct sb_broker *broker, const struct sb_call *call, int error);

/* Run work(argument) in a thread of its own; false: too many wait already. */
bool sb_broker_wait(struct sb_broker *broker, void *(*work)(void *), void *argument);

/* A FIFO that nobody reads yet.  Takes file over. */
void sb_broker_wait_at_fifo(struct sb_broker *broker, const struct sb_call *call,
			    struct sb_spot *file);

/*
 * The groups of the run's processes, as the user has them outside.  A user namespace that nobody with privileges has set
 * up knows one group; getgroups() says 65534 for every further one (user_namespaces(7)), though they count.  Nobody
 * inside can change his own, so what the first process had, noted before the namespace is made, is every process's answer.
 */
void sb_groups_note(void);

#endif
