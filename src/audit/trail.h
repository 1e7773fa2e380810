/*
 * trail.h - the events of many sessions as one: in the order of their time.
 *
 *     new -> { next ... NULL } -> refresh -> { next ... NULL } ... -> free
 *
 * Within a session the order is that of its file, whatever the clock did.  Sessions are
 * opened when their time comes and hold no descriptor, so their number does not matter.
 */
#ifndef SB_AUDIT_TRAIL_H
#define SB_AUDIT_TRAIL_H

#include "audit/log.h"

struct sb_trail_options {
	size_t size;         /* sizeof this struct */
	const char *session; /* only this one: see sb_session_is() */
	int64_t since_us;    /* only events from then on */
	/* Called for a line that is no record and was skipped; torn: it ends the file. */
	void (*skipped)(void *context, const char *session, size_t line, bool torn);
	void *context;
};

struct sb_trail;

/* Strings in options are not copied. */
int sb_trail_new(const char *state_dir, const struct sb_trail_options *options,
		 struct sb_trail **out, struct sb_error *err);
void sb_trail_free(struct sb_trail *trail); /* NULL is fine */

/* *out stays valid until the next call; NULL: nothing more for now. */
int sb_trail_next(struct sb_trail *trail, const struct sb_record **out, struct sb_error *err);

/* Look for new sessions, and for more in the known ones. */
int sb_trail_refresh(struct sb_trail *trail, struct sb_error *err);

/*
 * Is session, by its id, the end of its id ("1234-9f3c") or its name, the one that wanted
 * means?  NULL wants all.  The second looks the name up in the session's first record.
 */
bool sb_session_is(const char *session, const char *name, const char *wanted);
bool sb_session_wanted(int dir, const char *session, const char *wanted);

#endif
