/*
 * repo.h - files between git repositories and the directories that workers have.
 *
 *     sb_repo_pull()      REPO's files at a commit  -> /zone
 *     sb_repo_stage()     /zone -> a commit in REPO, at refs/sandbash/ID: no branch has it
 *     sb_repo_show()      what is staged
 *     sb_repo_push()      a person says yes -> a branch has it
 *     sb_repo_discard()   the ref goes
 *
 * A repository and what lies in a zone are somebody else's: of the one nothing but objects and refs is used,
 * of the other nothing but names and bytes.  No checkout, index, attribute, hook, filter or setting of a repository
 * takes part, git runs where it reaches nothing but the repository (git.h), and files are read and written by the
 * file tools, with all that they ask and refuse (sandbash/files.h).
 *
 * What is staged is a commit with a ref from the first moment on.  Beside it stands a note in sandbash's own
 * directory of where that is (staged.h), which a command in a sandbox cannot change.  A crash between any two
 * steps leaves what was there before, or more.
 */
#ifndef SB_REPO_REPO_H
#define SB_REPO_REPO_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "sandbash/error.h"
#include "sandbash/files.h"
#include "config/setup.h"
#include "zones/zones.h"

#define SB_REPO_ID_SIZE 13 /* the first twelve digits of the commit, and a NUL */
#define SB_REPO_OID_SIZE 65

/* What a person is asked; foreign bytes in all of it. */
struct sb_repo_about {
	enum sb_op op;
	const char *verb;      /* "push to" */
	const char *path;      /* the repository, or the directory of a zone */
	const char *directory; /* what a yes for longer than once would be for; or NULL */
	const char *const *notes;
	size_t note_count;
	const char *content; /* a diff; or NULL */
	size_t content_length;
};

/* Who acts, on what, and who is asked. */
struct sb_repo_session {
	const struct sb_setup *
		setup; /* no git of its projects is run; by its policy the file tools judge names */
	const char *search;    /* $PATH: where git is */
	const char *ssh_agent; /* $SSH_AUTH_SOCK; or NULL */
	const struct sb_zones *zones;
	struct sb_files_options files;
	bool asks; /* also about the repository, unless it lies in one of open: a model named it */
	const char *const *open;
	bool network_off; /* no URL is used */
	bool best_effort; /* git may run where less holds it */
	/* SB_OK: yes.  Else what the act ends with. */
	int (*ask)(void *context, const struct sb_repo_about *about, struct sb_error *err);
	void *context;
};

struct sb_repo_request {
	const char *repo;   /* a path, or a URL; of a staged ID NULL will do */
	const char *branch; /* NULL: the repository's own, of a push the one it was staged for */
	const char *zone;   /* "/workspace", "/workspace/sub" */
	const char *const *paths; /* in both; NULL-terminated; none: all */
	const char *message;
	const char *id;
	bool new_branch; /* push: branch must not be there */
	bool force;      /* push: it need not be a fast-forward */
};

struct sb_repo_result {
	char id[SB_REPO_ID_SIZE];
	char commit[SB_REPO_OID_SIZE];
	char *repo, *branch; /* branch "": HEAD leads to none */
	size_t files;        /* written, or changed by what is staged */
	size_t left_out;
	struct sb_buf text; /* all of it for a person, escaped */
};

void sb_repo_result_init(struct sb_repo_result *result);
void sb_repo_result_done(struct sb_repo_result *result); /* zeroed is fine */

/* Each fills out, which is to be let go after an error, too. */
int sb_repo_pull(const struct sb_repo_session *session, const struct sb_repo_request *request,
		 struct sb_repo_result *out, struct sb_error *err);
int sb_repo_stage(const struct sb_repo_session *session, const struct sb_repo_request *request,
		  struct sb_repo_result *out, struct sb_error *err);
int sb_repo_show(const struct sb_repo_session *session, const struct sb_repo_request *request,
		 struct sb_repo_result *out, struct sb_error *err);
int sb_repo_push(const struct sb_repo_session *session, const struct sb_repo_request *request,
		 struct sb_repo_result *out, struct sb_error *err);
int sb_repo_discard(const struct sb_repo_session *session, const struct sb_repo_request *request,
		    struct sb_repo_result *out, struct sb_error *err);

#endif
