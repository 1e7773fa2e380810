/*
 * perform.h - carry out a held call on descriptors of our own.
 *
 * Both supervisor processes use this: the performer for what the policy allows in the roots,
 * the asker for what a person approved.  The caller has resolved the path, decided, and
 * checked that the command still waits.  The process's current directory must be the host's
 * /proc, since some calls know files by path only ("self/fd/N"); its umask the command's.
 */
#ifndef SB_SUPERVISE_PERFORM_H
#define SB_SUPERVISE_PERFORM_H

#include "judge/own_temp.h"
#include "judge/sockets.h"
#include "supervise/call.h"
#include "supervise/resolve.h"

/* ERESTARTSYS: the kernel's own, which it turns into EINTR or a restart. */
#define SB_RESTART 512

struct sb_outcome {
	int error;     /* positive errno; 0: done */
	int fd;        /* to hand over as the call's result; -1: the result is 0 */
	bool created;  /* fd is of a file that did not exist before */
	bool again;    /* nobody reads this FIFO yet: try again later */
	bool truncate; /* fd was opened as it was: empty it once it has been handed over */
};

/* How the last name is looked up for an act. */
enum sb_lookup sb_perform_lookup(const struct sb_call *call);

/* Open to read, whatever the call's flags say beside. */
struct sb_outcome sb_perform_read(const struct sb_call *call, const struct sb_spot *file);

/* file and target as resolved; target only for rename and link. */
struct sb_outcome sb_perform(const struct sb_call *call, const struct sb_spot *file,
			     const struct sb_spot *target);

/* bind() of a unix socket at file, by the caller's own text where that can be.  A positive errno, or 0. */
int sb_bind_at(const struct sb_call *call, const struct sb_spot *file, int socket);

/* From now on what it binds is noted in own. */
void sb_bind_note(struct sb_own_sockets *own);

/*
 * From now on names that are made and removed are noted in own, for temporary directories that are
 * everybody's; made: by other means than sb_perform().
 */
void sb_perform_note(struct sb_own_temp *own);
void sb_perform_made(int directory, const char *name);

/*
 * What the kernel would answer whoever may do it or not: ENOENT, EEXIST, EISDIR, ...; 0 when
 * only permission decides.  Such a call is neither refused nor asked about.  (postcheck: what
 * it answers only to those who have permission.)
 */
int sb_perform_precheck(const struct sb_call *call, const struct sb_spot *file,
			const struct sb_spot *target);
int sb_perform_postcheck(const struct sb_call *call, const struct sb_spot *file);

/* A name is looked up in a directory that can be searched, and only then minded otherwise. */
bool sb_perform_may_search(const struct sb_spot *spot);

/* Who renames these is told EBUSY whatever is there, and at the other name. */
bool sb_perform_is_dots(const char *name);

/*
 * Answer the call with what came out of it; closes outcome's descriptor.  target: of rename and link.
 * Before the caller goes on,
 * or, quickly, right after: see is_nobodys().  settle waits until the latter is done; in this process.
 */
void sb_deliver(int listener, const struct sb_call *call, const struct sb_spot *file,
		const struct sb_spot *target, struct sb_outcome *outcome);
void sb_deliver_quickly(int listener, const struct sb_call *call, const struct sb_spot *file,
			const struct sb_spot *target, struct sb_outcome *outcome);
void sb_deliver_settle(void);

/* Is this open for the kernel to do itself: a device, a pipe, or no content at all (O_PATH)? */
bool sb_perform_is_native(const struct sb_call *call, const struct sb_spot *file);

/* /dev/null, zero, full, random, urandom: they never wait, and are the same for everybody. */
bool sb_is_harmless_device(const struct stat *info);

#endif
