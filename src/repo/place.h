/*
 * place.h - a repository that somebody has named: where it is, and its refs.
 *
 * On this machine it is used where it lies; of a URL there is a copy in sandbash's own directory, with as much of
 * the branch at hand as its last commit needs.
 */
#ifndef SB_REPO_PLACE_H
#define SB_REPO_PLACE_H

#include "policy/peer.h"
#include "repo/git.h"
#include "repo/repo.h"

/* A branch and the commit that it is at. */
struct sb_branch {
	char *name;                 /* "main"; NULL: HEAD is at a commit and no branch */
	char oid[SB_REPO_OID_SIZE]; /* "": no commit yet */
};

/* What for: so it is asked about. */
enum sb_repo_use {
	SB_REPO_READS,
	SB_REPO_STAGES,
	SB_REPO_DROPS,
	SB_REPO_PUSHES, /* what was staged: that is one question, with the diff, and the pusher's */
};

/* name as it was given.  *out_name: canonical, or the URL.  git is to be closed after an error, too. */
int sb_repo_open(const struct sb_repo_session *session, const char *name, enum sb_repo_use use,
		 struct sb_git *git, char **out_name, struct sb_error *err);

/* name NULL: the repository's own.  Of a URL it is fetched.  SB_E_MISSING: there is no such branch. */
int sb_repo_branch(const struct sb_git *git, const char *name, struct sb_branch *out,
		   struct sb_error *err);

/* Could a branch be called so? */
int sb_repo_check_branch(const struct sb_git *git, const char *name, struct sb_error *err);

/* What a ref is at; "": there is none of this name. */
int sb_repo_ref(const struct sb_git *git, const char *ref, char out[SB_REPO_OID_SIZE],
		struct sb_error *err);

/* Is it the work of somebody who has it checked out?  Then he would see his files as changed. */
int sb_repo_is_checked_out(const struct sb_git *git, const char *branch, bool *out,
			   struct sb_error *err);

/* url.c: which URLs git gets to see, and whom they lead to. */
/* Is it meant as one?  Else it is a path. */
bool sb_repo_is_url(const char *name);

/* SB_E_INVALID: it is none that is used here. */
int sb_repo_peer(const char *url, struct sb_peer *out, struct sb_error *err);

#endif
