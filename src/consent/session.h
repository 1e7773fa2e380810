/*
 * session.h - answers that outlive the run, under a name (C3).
 *
 *     open -> sb_session_apply (at the start) -> sb_session_keep (at each answer) -> free
 *
 * --session=NAME keeps directory grants and denials, never "once", in
 * STATE/sessions/NAME; without a name nothing persists.  What was kept comes back as rules of
 * SB_TIER_SESSION.  The file lies where no sandbox can write, is changed under a lock
 * and atomically, and two runs of one name add to each other's answers.
 */
#ifndef SB_CONSENT_SESSION_H
#define SB_CONSENT_SESSION_H

#include <time.h>

#include "consent/grants.h"

#define SB_SESSION_NAME_MAX 64

struct sb_session;

/* Letters, digits, "." "_" "-", at most 64, beginning with a letter or digit; else SB_E_INVALID. */
int sb_session_check_name(const char *name, struct sb_error *err);

/*
 * Read what the session has kept; a new name is an empty one, and nothing is made on disk
 * until there is something to keep.  SB_E_INVALID names file and line.
 */
int sb_session_open(const char *state_dir, const char *name, struct sb_session **out,
		    struct sb_error *err);
void sb_session_free(struct sb_session *session);

/* One sentence about an answer that does not come back. */
typedef void (*sb_session_warn)(void *context, const char *text);

/*
 * Add the kept answers to a policy that has all other rules of the user (files and flags) and
 * none of the built-in ones yet.  Left out with a sentence: a grant whose directory is gone, is
 * another one, is reached by a link or holds the home directory; and a grant that would be
 * stronger than a rule of the user's, since the answer was given where that rule did not speak.
 */
int sb_session_apply(const struct sb_session *session, struct sb_policy *policy, const char *home,
		     sb_session_warn warn, void *context, struct sb_error *err);

/* The kept answers, one after the other; false: there is no such number. */
bool sb_session_kept(const struct sb_session *session, size_t number, const char **out_path,
		     struct sb_access *out_access);

/* A directory that was opened as a project: it is one again the next time. */
int sb_session_keep_project(struct sb_session *session, const char *path, struct sb_error *err);
/* Such a one, if it is still what it was; "" for any other answer.  NULL: there is no such number. */
const char *sb_session_project(const struct sb_session *session, size_t number, const char *home);

/* Keep this answer if it is of the kind that is kept. */
int sb_session_keep(struct sb_session *session, const struct sb_wish *wish, enum sb_answer answer,
		    struct sb_error *err);

/* The same about a host, unless it was about an address that its name led to. */
int sb_session_keep_host(struct sb_session *session, const struct sb_host_wish *wish,
			 enum sb_answer answer, struct sb_error *err);

/* Forget what was kept for this path, if something was. */
int sb_session_drop(struct sb_session *session, const char *path, struct sb_error *err);

/* Every session, in order of name.  answers is -1 for a file that cannot be read as one. */
typedef int (*sb_session_found)(void *context, const char *name, long answers, time_t changed,
				struct sb_error *err);
int sb_session_list(const char *state_dir, sb_session_found found, void *context,
		    struct sb_error *err);

/* SB_E_MISSING: there is none of that name. */
int sb_session_forget(const char *state_dir, const char *name, struct sb_error *err);

#endif
