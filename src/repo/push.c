/*
 * push.c - what is staged: shown, given to a branch, or let go.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/escape.h"
#include "repo/place.h"
#include "repo/preview.h"
#include "repo/staged.h"

struct staged {
	const struct sb_repo_session *session;
	struct sb_git git;
	struct sb_repo_result *result;
	char ref[64];
};

/* The note says where; without one (a crash) a person may. */
static int find_note(const struct staged *staged, const struct sb_repo_request *request,
		     struct sb_staged *out, struct sb_error *err)
{
	int status = sb_staged_read(staged->session->setup->home.state_dir, request->id, out, err);

	if (status != SB_E_MISSING || !request->repo || staged->session->asks)
		return status;
	out->repo = strdup(request->repo);
	out->branch = strdup(request->branch ? request->branch : "");
	return out->repo && out->branch ? SB_OK : sb_no_memory(err);
}

/*
 * SECURITY: what is pushed is what was staged.
 *
 * Danger: a repository in a project is open to commands in a sandbox, and so is refs/sandbash/ID.  Another commit there
 * would be shown as what the worker has staged.
 * Price: none; the ID is a part of the commit's own name, and the note has all of it.
 * Held by: tests/cli/zone_git.py
 */
static int check_ref(struct staged *staged, const struct sb_staged *note, const char *id,
		     struct sb_error *err)
{
	char *commit = staged->result->commit;
	int status = sb_repo_ref(&staged->git, staged->ref, commit, err);

	if (status != SB_OK)
		return status;
	if (!commit[0]) {
		sb_staged_remove(staged->session->setup->home.state_dir,
				 id); /* it has done its work */
		return sb_fail(err, SB_E_MISSING, 0, "'%s' was pushed or discarded already", id);
	}
	if (strncmp(commit, id, strlen(id)) != 0 ||
	    (note->commit[0] && strcmp(note->commit, commit) != 0))
		return sb_fail(err, SB_E_REFUSED, 0,
			       "%s in the repository is not what was staged any more", staged->ref);
	return SB_OK;
}

static int open_staged(struct staged *staged, const struct sb_repo_request *request,
		       enum sb_repo_use use, struct sb_error *err)
{
	struct sb_repo_result *result = staged->result;
	struct sb_staged note = {0};
	int status = find_note(staged, request, &note, err);

	sb_repo_result_init(result);
	if (status == SB_OK)
		status = sb_repo_open(staged->session, note.repo, use, &staged->git, &result->repo,
				      err);
	if (status == SB_OK) {
		snprintf(result->id, sizeof result->id, "%s", request->id);
		snprintf(staged->ref, sizeof staged->ref, "refs/sandbash/%s", request->id);
		result->branch = strdup(note.branch);
		status = result->branch ? check_ref(staged, &note, request->id, err)
					: sb_no_memory(err);
	}
	sb_staged_done(&note);
	return status;
}

/* The ref first: a note without one is known to be outlived. */
static int forget(const struct staged *staged, struct sb_error *err)
{
	int status = sb_git_say(&staged->git, SB_GIT_SET_REFS,
				(const char *const[]){"update-ref", "--no-deref", "-d", staged->ref,
						      staged->result->commit, NULL},
				NULL, NULL, err);

	if (status == SB_OK)
		sb_staged_remove(staged->session->setup->home.state_dir, staged->result->id);
	return status;
}

static void say(struct staged *staged, const char *verb)
{
	struct sb_repo_result *result = staged->result;

	sb_buf_printf(&result->text, "%s %s", verb, result->id);
	sb_buf_puts(&result->text, *result->branch ? ", for " : "");
	sb_escape_name(&result->text, result->branch, strlen(result->branch));
	if (!staged->session->asks) { /* a model has named it, or need not know */
		sb_buf_puts(&result->text, " of ");
		sb_escape_name(&result->text, result->repo, strlen(result->repo));
	}
	sb_buf_puts(&result->text, "\n");
}

int sb_repo_show(const struct sb_repo_session *session, const struct sb_repo_request *request,
		 struct sb_repo_result *out, struct sb_error *err)
{
	struct staged staged = {.session = session, .result = out};
	int status = open_staged(&staged, request, SB_REPO_READS, err);

	if (status == SB_OK) {
		say(&staged, "staged:");
		status = sb_repo_count(&staged.git, out->commit, &out->files, err);
	}
	if (status == SB_OK)
		status = sb_repo_preview(&staged.git, out->commit, &out->text, err);
	sb_git_close(&staged.git);
	return status;
}

/* --- push ------------------------------------------------------------------------------------------------- */

/* Does what is staged follow it?  Of a URL we have the last commit only: that has to be the one before. */
static int is_forward(const struct staged *staged, const char *old, bool *out, struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf said = SB_BUF(1024), parent = SB_BUF(256);
	const char *commit = staged->result->commit;
	int ended = 1, status;

	sb_buf_printf(&parent, "%s^", commit);
	status = staged->git.url ? sb_git_say(&staged->git, SB_GIT_LOOK,
					      (const char *const[]){"rev-parse", "--quiet",
								    "--verify", parent.data, NULL},
					      &said, &ended, err)
				 : sb_git_say(&staged->git, SB_GIT_LOOK,
					      (const char *const[]){"merge-base", "--is-ancestor",
								    old, commit, NULL},
					      NULL, &ended, err);
	*out = ended == 0 && (!staged->git.url || strcmp(said.data, old) == 0);
	return status;
}

/* What a branch of a URL is at, as its server says. */
static int look_up(const struct staged *staged, const char *ref, char out[SB_REPO_OID_SIZE],
		   struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf said = SB_BUF(64 * 1024);
	size_t length;
	int status;

	if (!staged->git.url)
		return sb_repo_ref(&staged->git, ref, out, err);
	status = sb_git_say(&staged->git, SB_GIT_SEND,
			    (const char *const[]){"ls-remote", "--", staged->git.url, ref, NULL},
			    &said, NULL, err);
	length = strspn(said.data, "0123456789abcdef");
	if (length >= SB_REPO_OID_SIZE || said.data[length] != '\t')
		length = 0;
	memcpy(out, said.data, length);
	out[length] = '\0';
	return status;
}

/* May it go there at all, whatever a person says? */
static int check_target(const struct staged *staged, const struct sb_repo_request *request,
			const char *old, bool *out_forward, struct sb_error *err)
{
	const struct sb_repo_result *result = staged->result;
	bool out = false;
	int status = SB_OK;

	if (old[0] && request->new_branch)
		return sb_fail(err, SB_E_CONFLICT, 0, "there is a branch '%s' already",
			       result->branch);
	if (!staged->git.url)
		status = sb_repo_is_checked_out(&staged->git, result->branch, &out, err);
	if (status == SB_OK && out) {
		sb_fail(err, SB_E_REFUSED, 0, "'%s' is checked out there", result->branch);
		return sb_hint(err, "--branch=NAME --new-branch, or there: git merge %s",
			       staged->ref);
	}
	*out_forward = true;
	if (status == SB_OK && old[0])
		status = is_forward(staged, old, out_forward, err);
	if (status == SB_OK && !*out_forward && !request->force) {
		sb_fail(err, SB_E_CONFLICT, 0, "'%s' has moved since this was staged",
			result->branch);
		return sb_hint(err,
			       "stage again, push with --branch=NAME --new-branch, or --force");
	}
	return status;
}

/* The first line of the message, which whoever staged it has chosen. */
static int quote_message(const struct staged *staged, struct sb_buf *out, struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf said = SB_BUF(SB_PREVIEW_MAX);
	int status =
		sb_git_say(&staged->git, SB_GIT_LOOK,
			   (const char *const[]){"log", "-1", "--no-show-signature", "--no-color",
						 "--format=%s", staged->result->commit, NULL},
			   &said, NULL, err);

	if (said.length && said.data[said.length - 1] == '\n')
		said.length--;
	sb_buf_puts(out, "its message: '");
	sb_escape_value(out, said.data, said.length, 100);
	sb_buf_puts(out, "'");
	return status;
}

static int ask(const struct staged *staged, const char *old, bool forward, struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf diff = SB_BUF(8 * SB_PREVIEW_MAX), branch = SB_BUF(4096),
				  message = SB_BUF(4096);
	char files[128];
	const char *notes[4] = {NULL};
	struct sb_repo_about about = {.op = SB_MODIFY,
				      .verb = "push to",
				      .path = staged->result->repo,
				      .notes = notes,
				      .note_count = 3};
	int status = sb_repo_diff(&staged->git, staged->result->commit, &diff, err);

	if (status == SB_OK)
		status = quote_message(staged, &message, err);
	if (status != SB_OK)
		return status;
	sb_buf_puts(&branch, old[0] ? "to its branch '" : "as a new branch '");
	sb_escape_name(&branch, staged->result->branch, strlen(staged->result->branch));
	sb_buf_puts(&branch, "'");
	notes[0] = branch.data;
	snprintf(files, sizeof files,
		 "files that change: %zu; to see all of it: sandbash --git show %s",
		 staged->result->files, staged->result->id);
	notes[1] = files;
	notes[2] = message.data;
	if (!forward)
		notes[about.note_count++] =
			"commits that the branch has now would be lost from it (--force)";
	about.content = diff.data;
	about.content_length = diff.length;
	return staged->session->ask(staged->session->context, &about, err);
}

static int move_branch(const struct staged *staged, const char *ref, const char *old, bool forward,
		       struct sb_error *err)
{
	const char *commit = staged->result->commit;
	SB_AUTO_BUF struct sb_buf lease = SB_BUF(4096), spec = SB_BUF(4096);
	char none[SB_REPO_OID_SIZE];

	memset(none, '0', sizeof none);
	none[strlen(commit)] = '\0';
	if (!staged->git.url)
		return sb_git_say(&staged->git, SB_GIT_SET_REFS,
				  (const char *const[]){"update-ref", "--no-deref", "-m",
							"sandbash: push", ref, commit,
							old[0] ? old : none, NULL},
				  NULL, NULL, err);
	/* the server moves it only if it is where it was when the person was asked */
	sb_buf_printf(&lease, "--force-with-lease=%s:%s", ref, old);
	sb_buf_printf(&spec, "%s%s:%s", forward ? "" : "+", commit, ref);
	return sb_git_say(&staged->git, SB_GIT_SEND,
			  (const char *const[]){"push", "--quiet", "--no-verify", "--no-signed",
						"--no-follow-tags", "--no-recurse-submodules",
						lease.data, "--", staged->git.url, spec.data, NULL},
			  NULL, NULL, err);
}

static int push(struct staged *staged, const struct sb_repo_request *request, struct sb_error *err)
{
	struct sb_repo_result *result = staged->result;
	SB_AUTO_BUF struct sb_buf ref = SB_BUF(1024);
	char old[SB_REPO_OID_SIZE] = "";
	bool forward = true;
	int status;

	if (request->branch) {
		free(result->branch);
		result->branch = strdup(request->branch);
		if (!result->branch)
			return sb_no_memory(err);
	}
	if (!*result->branch) {
		sb_fail(err, SB_E_INVALID, 0, "it was staged for no branch");
		return sb_hint(err, "--branch=NAME says for which");
	}
	sb_buf_printf(&ref, "refs/heads/%s", result->branch);
	status = sb_repo_check_branch(&staged->git, result->branch, err);
	if (status == SB_OK)
		status = look_up(staged, ref.data, old, err);
	if (status == SB_OK && strcmp(old, result->commit) == 0)
		return SB_OK; /* it was pushed, and not all of the rest was done */
	if (status == SB_OK)
		status = check_target(staged, request, old, &forward, err);
	if (status == SB_OK)
		status = sb_repo_count(&staged->git, result->commit, &result->files, err);
	if (status == SB_OK)
		status = ask(staged, old, forward, err);
	return status == SB_OK ? move_branch(staged, ref.data, old, forward, err) : status;
}

/* What is staged has been pushed, or, without the step that does it, is to be forgotten alone. */
static int end_with(struct staged *staged, const struct sb_repo_request *request,
		    enum sb_repo_use use, struct sb_error *err)
{
	const bool pushes = use == SB_REPO_PUSHES;
	int status = open_staged(staged, request, use, err);

	if (status == SB_OK && pushes)
		status = push(staged, request, err);
	if (status == SB_OK)
		status = forget(staged, err);
	if (status == SB_OK)
		say(staged, pushes ? "pushed" : "discarded");
	sb_git_close(&staged->git);
	return status;
}

int sb_repo_push(const struct sb_repo_session *session, const struct sb_repo_request *request,
		 struct sb_repo_result *out, struct sb_error *err)
{
	return end_with(&(struct staged){.session = session, .result = out}, request,
			SB_REPO_PUSHES, err);
}

int sb_repo_discard(const struct sb_repo_session *session, const struct sb_repo_request *request,
		    struct sb_repo_result *out, struct sb_error *err)
{
	return end_with(&(struct staged){.session = session, .result = out}, request, SB_REPO_DROPS,
			err);
}
