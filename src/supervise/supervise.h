/*
 * supervise.h - a run with a supervisor: every change held, decided, and performed outside.
 *
 *     policy + plan --> sb_supervise() --> the command's status
 *
 * The calling process becomes the asker.  It stays unconfined, owns the terminal, the answers
 * and the record, and does what a person approves, one operation at a time.
 */
#ifndef SB_SUPERVISE_SUPERVISE_H
#define SB_SUPERVISE_SUPERVISE_H

#include "audit/audit.h"
#include "base/hash.h"
#include "config/place.h"
#include "consent/names.h"
#include "consent/session.h"
#include "consent/summary.h"
#include "enforce/stages.h"
#include "sandbash/policy.h"

enum sb_consent {
	SB_CONSENT_AUTO,  /* ask when someone can be asked */
	SB_CONSENT_ASK,   /* ask, and wait for someone to attach */
	SB_CONSENT_DENY,  /* never ask */
	SB_CONSENT_WATCH, /* ask only where somebody watches or is attached, and wait for that */
};

/* Are questions put on the run's own terminal?  If not, the command has that to itself. */
static inline bool sb_consent_on_terminal(enum sb_consent consent)
{
	return consent == SB_CONSENT_AUTO || consent == SB_CONSENT_ASK;
}

struct sb_modes; /* terminal/modes.h */

struct sb_supervision {
	size_t size; /* sizeof this struct */
	const struct sb_policy *policy;
	const struct sb_plan *plan;
	const struct sb_confine_options *confine;
	bool keep_background; /* wait for what the command leaves running */

	/* to what was said yes before it starts; or NULL */
	const struct sb_agreed_list *agreed;
	enum sb_consent consent;
	int ask_timeout_ms; /* 0: a question stays open */
	bool has_client;    /* somebody is attached from the start, */
	int client;         /* on this connection: socket.h */
	bool colour;        /* the terminal has colours */
	const char *word;   /* shown with every question; or NULL */
	const struct sb_home *home;
	const char *const *projects; /* canonical, NULL-terminated: whose guarded names count */
	const char *title;  /* what a question names beside the program; NULL: the first project */
	const char *worker; /* whose run it is, for the record; or NULL */
	const char *directory; /* and where the caller stands, if home->cwd is no path out there */
	const char *session_name;              /* or NULL */
	struct sb_session *session;            /* what the name keeps; or NULL */
	struct sb_summary *summary;            /* filled with what was refused; or NULL */
	bool require_audit;                    /* no record, no run */
	const char *const *command;            /* for the record; NULL-terminated */
	bool has_trace;                        /* held calls are told ... */
	int trace;                             /* ... here: trace.h */
	const struct sb_named_socket *sockets; /* that the environment names */
	size_t socket_count;
	const char *(*variable)(const char *name); /* of the environment: a proxy's; or NULL */
	void (*warn)(void *context,
		     const char *text); /* a line for the person, without a terminal */
	/* The command is over, and has left the terminal so; NULL: that was not followed.  Or NULL. */
	void (*left)(void *context, const struct sb_modes *modes);

	/* birth.h */
	int (*failed)(void *context, const struct sb_error *err, const struct sb_weaknesses *weak);
	int (*start)(void *context, const struct sb_layers *layers,
		     const struct sb_weaknesses *weak);
	void *context;
};

/* Where the run is for the person. */
static inline const char *sb_supervision_directory(const struct sb_supervision *supervision)
{
	return supervision->directory ? supervision->directory : supervision->home->cwd;
}

/* Can a run be supervised here?  SB_E_UNSUPPORTED: no, and why. */
int sb_supervise_possible(struct sb_error *err);

/*
 * *out_status: how the command ended, as waitpid(2) gives it; if failed() was called, what it
 * returned.  An error means that nothing runs (any more).
 */
int sb_supervise(const struct sb_supervision *supervision, int *out_status, struct sb_error *err);

/* --- the record of a run begins: record.c ------------------------------------------------------- */

/* Of the rules; apart, since there is time for it while others set up the run. */
void sb_record_hash(const struct sb_policy *policy, char out[SB_SHA256_HEX]);

/*
 * run: its command, directory, policy_hash, and process, 0: the session's file is its own.  layers NULL: none hold
 * (danger-full-access).
 */
int sb_record_start(struct sb_audit *audit, struct sb_event run, const struct sb_policy *policy,
		    const struct sb_layers *layers, struct sb_error *err);

#endif
