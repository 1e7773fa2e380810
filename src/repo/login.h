/*
 * login.h - what a server wants to know before it lets somebody in.
 */
#ifndef SB_REPO_LOGIN_H
#define SB_REPO_LOGIN_H

#include "repo/git.h"

/*
 * Of an https URL: what the user's own git would say, by the helpers of the user's own settings.  Kept in git->login and
 * given to git as a header for this server alone; none is found: git->login stays NULL.
 *
 * SECURITY: a helper is asked before git is, by us.
 *
 * Danger: git itself would ask whichever helper a repository's settings name, in the sandbox or not, and once more after
 * a redirect to another server.
 * Price: helpers that have to ask a person at a terminal are of no use here, and none is told whether it was right.
 * Held by: tests/cli/zone_git_far.py
 */
int sb_git_log_in(struct sb_git *git, const char *search, struct sb_error *err);

#endif
