/*
 * git_url.h - what git takes a remote's URL for.
 */
#ifndef SB_GUARD_GIT_URL_H
#define SB_GUARD_GIT_URL_H

#include <stdbool.h>

/*
 * A scheme that git itself speaks, host:path or a path: nothing for which git starts a helper called
 * git-remote-NAME, and nothing that looks like an option.  A remote's name is as well.
 */
bool sb_git_url_is_plain(const char *url);

/*
 * The path of a repository on this machine, absolute, as git in the work tree or bare repository that the
 * config file at path belongs to would take it; links in it are followed as far as they are there.  NULL: it is on
 * another machine, or too long (*out_failed).  The caller frees it.
 */
char *sb_git_url_path(const char *url, const char *config, bool *out_failed);

#endif
