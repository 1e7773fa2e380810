/*
 * view.h - inside a view: one call under way, its way through the gate, its errors.
 *
 *     sb_job_find() -> sb_gate() -> the backend acts on the place -> sb_job_release()
 */
#ifndef SB_FILES_VIEW_H
#define SB_FILES_VIEW_H

#include <pthread.h>

#include "files/backend.h"
#include "judge/judge.h"
#include "judge/seal.h"

#define SB_FILES_STRIPES 32
#define SB_FILES_TRIES 200 /* of a change whose file changes under its hands */

struct sb_files {
	const struct sb_policy *policy;
	struct sb_files_options options; /* defaults filled in */
	struct sb_files_backend *backend;
	struct sb_root *roots;
	size_t root_count;
	struct sb_guard *guard; /* NULL: in memory, where nothing outside runs anything */
	struct sb_grounds grounds;
	/* Between the last look at a file and its replacement; by path. */
	pthread_mutex_t stripes[SB_FILES_STRIPES];
};

/*
 * What a call removes, moves or copies with all that is in it.  Sealed by its first question; what is done
 * then is done to what was sealed: judge/seal.h.
 */
struct sb_whole {
	const struct sb_place *place;
	bool sealed;
	struct sb_seal seal;
};

/* One call. */
struct sb_job {
	struct sb_files *view;
	enum sb_files_call call;
	const struct sb_files_caller *caller;
	struct sb_files_error *err; /* or NULL */
	struct sb_covered *said;    /* answers to what was asked ahead; or NULL */
	struct sb_whole *whole;     /* or NULL */
};

/* --- error.c: each returns the negative code --- */

/* Says what failed; the sentence for the model is the code's own until sb_advise(). */
int sb_refuse(struct sb_files_error *err, enum sb_files_code code, int sys_errno,
	      const char *format, ...) __attribute__((format(printf, 4, 5)));
int sb_advise(struct sb_files_error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * PATH_OUTSIDE_PROJECT (F8): given as this (NULL: as it is), which is path.  Says what to do
 * instead.
 */
int sb_refuse_outside(struct sb_files_error *err, enum sb_op op, const char *given,
		      const char *path, const char *root);

int sb_refuse_memory(struct sb_files_error *err);

/* A system call that failed, or a negative errno of the backend: "cannot VERB 'PATH': WHY". */
int sb_refuse_errno(struct sb_files_error *err, int error, const char *verb, const char *path);

/* --- job.c --- */

/* What path, as the view shows it, is called where rules are made: path itself, or in out.  out_bound: or NULL. */
const char *sb_files_real(const struct sb_files *view, const char *path, char out[PATH_MAX],
			  const struct sb_rule **out_bound);

/* The root that path lies in, the innermost; NULL: in none. */
const struct sb_root *sb_files_root_of(const struct sb_files *view, const char *path);

void sb_job_release(struct sb_job *job, struct sb_place *place);
bool sb_job_cancelled(const struct sb_job *job);

/* Why the way ended early, or that nothing is there, as an error; 0: the place exists. */
int sb_job_must_exist(struct sb_job *job, const struct sb_place *place, const char *verb);

/* The last name of a place whose parents are missing, as a path. */
int sb_place_last(const struct sb_place *place, char out[PATH_MAX]);

static inline bool sb_place_is_directory(const struct sb_place *place)
{
	return place->exists && place->facts.type == SB_FILES_DIRECTORY;
}

/* Has the policy a rule with wildcards that does not allow one of these, a bit for each enum sb_op? */
bool sb_files_has_wildcard(const struct sb_policy *policy, unsigned ops);

/* The backend's replace(), while no other call is at the same path.  0 or a negative errno. */
int sb_files_replace(struct sb_files *view, struct sb_place *place,
		     const struct sb_replacement *with);

/* --- resolve.c --- */

/* Find what path means.  On success the place must be released. */
int sb_job_find(struct sb_job *job, const char *path, unsigned flags, struct sb_place *out);

/* --- gate.c --- */

/* What calls are judged by, for the roots as they are now; again when one is added. */
int sb_gate_open(struct sb_files *view, struct sb_files_error *err);
void sb_gate_close(struct sb_files *view);

struct sb_intent {
	enum sb_op op;
	enum sb_deed deed;            /* RENAME: op says which end, DELETE the old name */
	bool tree;                    /* all beneath moves along: rules there count as well */
	const struct sb_place *other; /* of RENAME, and of a copy what is copied */
	/* Decide about this path, which will lie beneath the place once that is made; or NULL. */
	const char *beneath;
	bool ignored_too;   /* somebody said yes to what git ignores */
	bool content_later; /* sb_gate_content() follows: leave guarded names to it */
	/* what would land there, for the question; or NULL */
	const char *content;
	size_t content_length;
	const char *old; /* what content would replace, where that counts */
	size_t old_length;
	const char *leads_to; /* where a link leads that lands there; or NULL */
};

/*
 * An entry of what was sealed is about to land elsewhere: is it what it was?  0 at once where nothing was asked.
 * stream: what its bytes are read from; data NULL: those are not at hand.
 */
int sb_gate_entry(struct sb_job *job, const struct sb_place *entry, const struct sb_stream *stream,
		  const char *data, size_t length, const char *leads_to);

/* May this be done to the place?  Asks, records.  0 or a negative code. */
int sb_gate(struct sb_job *job, const struct sb_intent *wish, const struct sb_place *place);

/* Rules allow it, as sb_gate_look() has said: for the record. */
void sb_gate_allowed(struct sb_job *job, const struct sb_intent *wish,
		     const struct sb_place *place);

/* Refuses and records a path that no rule can bring into the project: another system's. */
int sb_gate_outside(struct sb_job *job, const struct sb_place *place);

/*
 * The bytes that are about to land on a name whose contents matter: those that are harmless
 * pass, others are a question.  Of old NULL: no file, of new: not at hand; from: whose copy it is, or NULL.  0 at once for
 * other names.
 */
int sb_gate_content(struct sb_job *job, const struct sb_place *place, const struct sb_place *from,
		    struct sb_guard_bytes old, struct sb_guard_bytes new);

/*
 * Is this a name where contents are looked at?  Then what lands there must be a fresh file: one
 * that is moved there may be open for writing elsewhere.
 */
bool sb_gate_checks(const struct sb_files *view, const struct sb_place *place);

/* Is one of them in a fast root and the other not, or one such a root?  Nothing is renamed then. */
bool sb_gate_crosses(const struct sb_files *view, const struct sb_place *from,
		     const struct sb_place *to);

/* What may be done there before anybody is asked; a write whose bytes are looked at counts as one. */
struct sb_access sb_gate_access(const struct sb_files *view, const struct sb_place *place);

/* What rules say about reading it. */
enum sb_verdict sb_gate_read(const struct sb_files *view, const char *path);

/* For entries of a directory that passed: would reading path be refused without a question? */
bool sb_gate_hides(const struct sb_files *view, const char *path);

/*
 * May op be done to what is there, for those who only tell?  out_checked: it is allowed as far as
 * the contents are harmless.
 */
enum sb_verdict sb_gate_tell(struct sb_job *job, enum sb_op op, const struct sb_place *place,
			     bool *out_checked);

/* What a call would get before anybody is asked; fills why. */
enum sb_verdict sb_gate_look(struct sb_job *job, const struct sb_intent *wish,
			     const struct sb_place *place);

/* --- parents.c --- */

/*
 * Directories that are missing above a file or directory to be made, place->rest.  First the
 * last name is decided about, so that none are made for what may not be; a yes to it is one
 * to those above it.  Then the place is that last name, with its directory there.
 */
struct sb_parents {
	bool asked;          /* somebody said yes to the last name ... */
	char path[PATH_MAX]; /* ... which is this */
};

int sb_parents_gate(struct sb_job *job, const struct sb_intent *wish, const struct sb_place *place,
		    struct sb_parents *out);
/* The gate for the last name, or one above it, when it is made. */
int sb_parents_pass(struct sb_job *job, const struct sb_parents *parents,
		    const struct sb_intent *wish, const struct sb_place *place);
int sb_parents_make(struct sb_job *job, const struct sb_parents *parents, struct sb_place *place);

#endif
