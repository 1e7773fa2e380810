/*
 * override.h - a person's hand on a run that goes on: which answers hold, one taken back, a rule
 * added (C9).
 *
 * Nothing here has rules of its own.  A rule that is added becomes the answer that a question
 * would have got, in the one list of answers (grants.h); so it covers what that would have
 * covered, and a name that a program outside obeys stays a question of its own.  The policy of a
 * run never changes: what it allows cannot be closed, and what it denies cannot be opened.
 */
#ifndef SB_CONSENT_OVERRIDE_H
#define SB_CONSENT_OVERRIDE_H

#include "base/buf.h"
#include "config/place.h"
#include "consent/grants.h"
#include "consent/session.h"
#include "consent/socket.h"
#include "guard/guard.h"

struct sb_override {
	const struct sb_policy *policy;
	const struct sb_guard *guard; /* or NULL */
	const struct sb_home *home;   /* what "~" and relative paths mean */
	struct sb_grants *grants;
	struct sb_session *session; /* forgets what is taken back; or NULL */
	bool keeps;                 /* ... and keeps what is added: for a server's later commands */
	bool bounded; /* what the policy allows may be a question all the same: file tools (F1) */
};

/* "allowed for this run: change everything in /srv/out"; the path is escaped as a name. */
void sb_standing_words(const struct sb_standing *standing, struct sb_buf *out);

/*
 * Tell who watches which answers hold, if that may have changed since *told, which is 0 at first.
 * holds: does it still?  NULL: all do.
 */
void sb_standing_tell(const struct sb_grants *grants, struct sb_socket *socket, unsigned long *told,
		      bool (*holds)(void *context, const struct sb_standing *standing),
		      void *context);

/*
 * text: "write DIRECTORY", "read DIRECTORY" or "deny PATH", of something that is there; "connect HOST:PORT" or
 * "deny connect HOST:PORT".  A line of what
 * holds now is appended to out, as above.  SB_E_INVALID, SB_E_REFUSED, SB_E_CONFLICT: it cannot
 * hold, and why.
 */
int sb_override_add(const struct sb_override *override, const char *text, struct sb_buf *out,
		    struct sb_error *err);

/* A line of what holds no longer is appended to out.  SB_E_MISSING: no answer has that number. */
int sb_override_take_back(const struct sb_override *override, unsigned long number,
			  struct sb_buf *out, struct sb_error *err);

#endif
