/*
 * zone.h - a zone as git's files come and go: which one is meant, and the file tools on it.
 */
#ifndef SB_REPO_ZONE_H
#define SB_REPO_ZONE_H

#include "repo/repo.h"

/* The file tools on one directory: whatever leads out of it is refused. */
struct sb_zone_view {
	struct sb_files *files;
	struct sb_files_options options;
	const struct sb_repo_session *session;
	bool asks_nobody; /* what would be a question is refused */
};

/*
 * Could it be a name, relative, in a tree and in a directory?  No empty, "." and ".." component and none that is
 * .git on some file system.
 */
bool sb_repo_is_plain(const char *path);

/* A path as the caller knows it, "/zone/sub": the zone, and what follows its name ("": itself). */
int sb_repo_zone(const struct sb_repo_session *session, const char *path,
		 const struct sb_zone **out, const char **out_rest, struct sb_error *err);

/* May the caller write there?  Asks for so many files, if that is to be asked. */
int sb_repo_may_write(const struct sb_repo_session *session, const struct sb_zone *zone,
		      const char *what, struct sb_error *err);

/* writes: the directory is made if it is missing.  Else that is SB_E_MISSING. */
int sb_zone_view_open(struct sb_zone_view *view, const struct sb_repo_session *session,
		      const struct sb_zone *zone, bool writes, struct sb_error *err);
void sb_zone_view_close(struct sb_zone_view *view);

/* What the file tools say, as an error of ours. */
int sb_repo_files_failed(const struct sb_files_error *why, struct sb_error *err);

#endif
