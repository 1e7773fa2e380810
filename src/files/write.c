/*
 * write.c - new contents for a file: all of them (write), or some (edit).
 *
 *     find -> gate -> read the old -> make the new -> gate its contents -> replace
 *
 * If the file is another one by the time of the replacement, the new contents are made anew
 * from what is there then, a few times: so edits of several callers add up.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "files/content.h"
#include "files/diff.h"
#include "files/edit.h"

struct change {
	struct sb_job *job;
	const void *request;
	/* Makes the new bytes of the old.  Returns 0 or a negative code. */
	int (*make)(struct change *change, const struct sb_place *place,
		    const struct sb_content *old, struct sb_buf *text, struct sb_buf *bytes);
	bool needs_old; /* the old text is part of the new, or is shown */
	bool want_diff, dry_run, exclusive, executable;
	const char *content; /* for the question */
	size_t content_length;
	const struct sb_parents *parents; /* that were made for it; or NULL */
	struct sb_files_change result;
};

/* A yes to the change is one to reading what is changed; a rule that allows it is not. */
static bool must_ask_to_read(const struct sb_job *job, const struct sb_intent *wish,
			     const struct sb_place *place)
{
	const struct sb_intent look = {.op = SB_READ};
	struct sb_job quiet = {job->view, job->call, job->caller, NULL};

	switch (sb_gate_look(&quiet, &look, place)) {
	case SB_ALLOW:
		return false;
	case SB_ASK:
		return sb_gate_look(&quiet, wish, place) == SB_ALLOW;
	default:
		return true;
	}
}

/* May it be done at all; is there what can be changed? */
static int check_place(struct change *change, const struct sb_place *place)
{
	struct sb_job *job = change->job;
	struct sb_intent look = {.op = SB_READ};
	struct sb_intent wish = {.op = place->exists ? SB_MODIFY : SB_CREATE,
				 .deed = SB_DEED_WRITE,
				 .content_later = true,
				 .content = change->content,
				 .content_length = change->content_length};
	int status = 0;

	if (change->needs_old && place->exists && must_ask_to_read(job, &wish, place))
		status = sb_gate(job, &look, place);
	if (status == 0 && change->parents && !place->exists)
		status = sb_parents_pass(job, change->parents, &wish, place);
	else if (status == 0)
		status = sb_gate(job, place->error ? &look : &wish, place);
	if (status < 0)
		return status;
	if (place->error)
		return sb_refuse_errno(job->err, place->error, "write", place->path);
	if (place->must_be_directory)
		return sb_refuse_errno(job->err, EISDIR, "write", place->path);
	if (place->exists && change->exclusive)
		return sb_refuse_errno(job->err, EEXIST, "write", place->path);
	return place->exists ? sb_content_check(job, place, "write") : 0;
}

static int make_diff(struct change *change, const struct sb_place *place,
		     const struct sb_content *old, const struct sb_buf *text)
{
	struct sb_files_change *result = &change->result;
	SB_AUTO_BUF struct sb_buf diff = SB_BUF(2 * (old->text.limit + text->limit) + PATH_MAX);

	if (!change->want_diff || old->encoding == SB_FILES_BINARY_DATA ||
	    memchr(text->data, '\0', text->length))
		return 0;
	if (!sb_diff(place->exists ? place->path : "/dev/null", place->path, &old->text, text,
		     &diff) ||
	    sb_buf_failed(&diff))
		return sb_refuse_memory(change->job->err);
	result->diff_length = diff.length;
	result->diff = diff.length ? sb_buf_take(&diff) : calloc(1, 1);
	return result->diff ? 0 : sb_refuse_memory(change->job->err);
}

static bool is_same(const struct sb_buf *a, const struct sb_buf *b)
{
	return a->length == b->length && memcmp(a->data, b->data, a->length) == 0;
}

static int replace(struct change *change, struct sb_place *place, const struct sb_buf *bytes)
{
	struct sb_files *view = change->job->view;
	struct sb_replacement with = {.data = bytes->data,
				      .length = bytes->length,
				      .sync = !view->options.no_sync,
				      .unchanged = change->needs_old,
				      .mode = change->executable ? 0777 : 0666};

	return sb_files_replace(view, place, &with);
}

/* Once.  -ESTALE as itself: try again; else 0 or a negative code, told by *fatal. */
static int attempt(struct change *change, struct sb_place *place, struct sb_content *old,
		   bool *again)
{
	struct sb_job *job = change->job;
	struct sb_files_change *result = &change->result;
	size_t limit = job->view->options.edit_limit_bytes;
	SB_AUTO_BUF struct sb_buf text = SB_BUF(3 * limit);
	SB_AUTO_BUF struct sb_buf bytes = SB_BUF(3 * limit);
	bool known = false;
	int status;

	if (place->exists && !sb_gate_hides(job->view, place->path)) {
		bool fits = place->facts.bytes <= limit;

		if (fits || change->needs_old) {
			status = sb_content_load(job, place, limit, old);
			if (status < 0)
				return status;
			known = true;
		}
	}
	status = change->make(change, place, old, &text, &bytes);
	if (status == 0)
		status = make_diff(change, place, old, &text);
	if (status < 0)
		return status;
	result->bytes = bytes.length;
	result->created = !place->exists;
	result->changed = !place->exists || !known || !is_same(&old->bytes, &bytes);
	if (!result->changed)
		return 0;
	status = sb_gate_content(
		job, place, NULL,
		(struct sb_guard_bytes){known ? old->bytes.data : NULL, old->bytes.length},
		(struct sb_guard_bytes){bytes.data, bytes.length});
	if (status < 0 || change->dry_run)
		return status;
	if (sb_job_cancelled(job))
		return sb_refuse_errno(job->err, ECANCELED, "write", place->path);
	status = replace(change, place, &bytes);
	*again = status == -ESTALE;
	return status < 0 ? sb_refuse_errno(job->err, status, "write", place->path) : 0;
}

/* Others who write the same file are as quick as we are: whoever has lost often waits longer. */
static void stand_back(int tries)
{
	const struct timespec pause = {0, (tries < 40 ? tries : 40) * 50000L};

	nanosleep(&pause, NULL);
}

static int make_change(struct change *change, struct sb_place *place)
{
	struct sb_job *job = change->job;
	struct sb_files_backend *backend = job->view->backend;
	size_t limit = job->view->options.edit_limit_bytes;
	int status = check_place(change, place);
	bool existed = place->exists;

	for (int tries = 0; status == 0; tries++) {
		struct sb_content old;
		bool again = false;

		sb_content_init(&old, limit);
		status = attempt(change, place, &old, &again);
		sb_content_done(&old);
		if (status == 0 || !again || tries >= SB_FILES_TRIES)
			break;
		stand_back(tries);
		sb_files_change_done(&change->result);
		change->result = (struct sb_files_change){0};
		status = backend->ops->confirm(backend, place) == 0 || place->exists
				 ? backend->ops->refresh(backend, place)
				 : -ESTALE;
		if (status < 0)
			status = sb_refuse_errno(job->err, status, "write", place->path);
		else if (place->exists != existed) /* creating and changing are decided apart */
			status = check_place(change, place);
		else if (place->exists)
			status = sb_content_check(job, place, "write");
		existed = place->exists;
	}
	if (status < 0)
		sb_files_change_done(&change->result);
	else
		memcpy(change->result.path, place->path, sizeof change->result.path);
	return status;
}

/* --- write ------------------------------------------------------------------------------------ */

static bool is_plain(const char *data, size_t length)
{
	return !length || !memchr(data, '\r', length);
}

/*
 * An old file keeps its encoding and, if all its lines end in \r\n and the caller wrote plain
 * ones, its line ends.  What Latin-1 cannot hold is written as UTF-8: it is all new.
 */
static int make_written(struct change *change, const struct sb_place *place,
			const struct sb_content *old, struct sb_buf *text, struct sb_buf *bytes)
{
	const struct sb_files_write_request *request = change->request;
	struct sb_job *job = change->job;
	struct sb_content like = {.encoding = old->encoding, .eol = old->eol};
	bool binary = old->encoding == SB_FILES_BINARY_DATA;
	int status;

	if (request->raw) {
		like.encoding = SB_FILES_UTF8;
		like.eol = SB_FILES_EOL_NONE;
	}
	if (like.eol == SB_FILES_EOL_CRLF && !is_plain(request->data, request->length))
		like.eol = SB_FILES_EOL_NONE;
	if (request->append && (binary || request->raw))
		sb_buf_append(text, old->bytes.data, old->bytes.length);
	else if (request->append)
		sb_buf_append(text, old->text.data, old->text.length);
	sb_buf_append(text, request->data, request->length);
	status = sb_content_encode(job, &like, place->path, text->data, text->length, bytes);
	if (status == -SB_FILES_ENCODING && !request->append) {
		like.encoding = SB_FILES_UTF8;
		sb_buf_done(bytes);
		status =
			sb_content_encode(job, &like, place->path, text->data, text->length, bytes);
	}
	if (status == 0) {
		change->result.encoding = sb_encoding_detect(bytes->data, bytes->length, true);
		change->result.eol = like.eol == SB_FILES_EOL_CRLF
					     ? like.eol
					     : sb_eol_detect(text->data, text->length);
	}
	return sb_buf_failed(text) ? sb_refuse_memory(job->err) : status;
}

/* Directories on the way are missing, too. */
static int write_deep(struct change *change, struct sb_place *place)
{
	const struct sb_intent wish = {.op = SB_CREATE,
				       .deed = SB_DEED_WRITE,
				       .content_later = true,
				       .content = change->content,
				       .content_length = change->content_length};
	struct sb_parents parents;
	int status = sb_parents_gate(change->job, &wish, place, &parents);

	if (status < 0)
		return status;
	if (change->dry_run) {
		change->result.created = change->result.changed = true;
		change->result.bytes = change->content_length;
		memcpy(change->result.path, parents.path, sizeof parents.path);
		return 0;
	}
	status = sb_parents_make(change->job, &parents, place);
	change->parents = &parents;
	if (status == 0)
		status = make_change(change, place);
	change->parents = NULL;
	return status;
}

int sb_files_write(struct sb_files *view, const struct sb_files_caller *caller,
		   const struct sb_files_write_request *request, struct sb_files_change *out,
		   struct sb_files_error *err)
{
	struct sb_job job = {view, SB_FILES_WRITE, caller, err};
	unsigned flags = SB_RESOLVE_FOLLOW | (request->parents ? SB_RESOLVE_PARENTS : 0);
	struct change change = {.job = &job,
				.request = request,
				.make = make_written,
				.needs_old = request->append || request->want_diff,
				.want_diff = request->want_diff,
				.dry_run = request->dry_run,
				.exclusive = request->exclusive,
				.executable = request->executable,
				.content = request->data,
				.content_length = request->length};
	struct sb_place place;
	int status;

	if (request->length > view->options.edit_limit_bytes)
		return sb_refuse(err, SB_FILES_TOO_LARGE, 0,
				 "the new text has %zu bytes; %zu are the limit", request->length,
				 view->options.edit_limit_bytes);
	status = sb_job_find(&job, request->path, flags, &place);
	if (status < 0)
		return status;
	if (*place.rest && !place.error)
		status = write_deep(&change, &place);
	else
		status = make_change(&change, &place);
	sb_job_release(&job, &place);
	if (status == 0)
		*out = change.result;
	return status;
}

/* --- edit ----------------------------------------------------------------------------------------- */

static int make_edited(struct change *change, const struct sb_place *place,
		       const struct sb_content *old, struct sb_buf *text, struct sb_buf *bytes)
{
	const struct sb_files_edit_request *request = change->request;
	struct sb_edited edited = {.path = place->path, .eol = old->eol, .text = text};
	struct sb_job *job = change->job;
	int status;

	if (!place->exists)
		return sb_refuse_errno(job->err, ENOENT, "edit", place->path);
	if (old->encoding == SB_FILES_BINARY_DATA)
		return sb_refuse(job->err, SB_FILES_BINARY, 0,
				 "cannot edit '%s': it is binary, not text", place->path);
	sb_buf_append(text, old->text.data, old->text.length);
	status = sb_edit_apply(job, request->edits, request->edit_count, &edited);
	if (status == 0)
		status = sb_content_encode(job, old, place->path, text->data, text->length, bytes);
	change->result.replacements = edited.count;
	change->result.encoding = old->encoding;
	change->result.eol = old->eol;
	return status;
}

int sb_files_edit(struct sb_files *view, const struct sb_files_caller *caller,
		  const struct sb_files_edit_request *request, struct sb_files_change *out,
		  struct sb_files_error *err)
{
	struct sb_job job = {view, SB_FILES_EDIT, caller, err};
	struct change change = {.job = &job,
				.request = request,
				.make = make_edited,
				.needs_old = true,
				.want_diff = true,
				.dry_run = request->dry_run};
	struct sb_intent look = {.op = SB_READ};
	struct sb_place place;
	int status = sb_job_find(&job, request->path, SB_RESOLVE_FOLLOW, &place);

	if (status < 0)
		return status;
	if (!place.exists) { /* nothing to edit: no question about making it */
		status = sb_gate(&job, &look, &place);
		if (status == 0)
			status = sb_job_must_exist(&job, &place, "edit");
	}
	if (status == 0)
		status = make_change(&change, &place);
	sb_job_release(&job, &place);
	if (status == 0)
		*out = change.result;
	return status;
}

void sb_files_change_done(struct sb_files_change *change)
{
	free(change->diff);
	change->diff = NULL;
}
