/*
 * keeper_git.c - git's tools, in the process that does one operation (repo/repo.h).
 *
 * What was answered counts for the call that asked; of writing into a worker's directory it may be for the session.  So
 * no push is ever done that a person has not said yes to.
 */
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/hash.h"
#include "base/words.h"
#include "mcp/keeper/keeper_child.h"
#include "mcp/wire/rpc.h"
#include "repo/repo.h"

struct asking {
	struct child *child;
	bool open; /* a question is, or nobody can be asked */
};

/* The yes is to all that was shown. */
static void hash_of(const struct sb_repo_about *about, char out[SB_SHA256_HEX])
{
	struct sb_sha256 sum;

	sb_sha256_init(&sum);
	sb_sha256_add(&sum, about->verb, strlen(about->verb) + 1);
	for (size_t i = 0; i < about->note_count; i++)
		sb_sha256_add(&sum, about->notes[i], strlen(about->notes[i]) + 1);
	if (about->content)
		sb_sha256_add(&sum, about->content, about->content_length);
	sb_sha256_end(&sum, out);
}

static void put_question(struct child *child, const struct sb_repo_about *about,
			 const struct keeper_subject *subject)
{
	bool lasting = about->directory && child->keeper->options->worker;
	json_t *notes = json_array();

	for (size_t i = 0; i < about->note_count; i++)
		sb_child_note(notes, about->notes[i]);
	child->question = json_pack("{s:i, s:s, s:o, s:b, s:i, s:s, s:b, s:o}", "op", about->op,
				    "verb", about->verb, "path", sb_rpc_string(about->path),
				    "guarded", 0, "thing", subject->thing, "bytes", subject->bytes,
				    "act", !lasting, "notes", notes);
	sb_put_text(child->question, "directory", lasting ? about->directory : NULL);
	sb_child_show(child, NULL, 0, about->content, about->content_length);
}

static int ask(void *context, const struct sb_repo_about *about, struct sb_error *err)
{
	struct asking *asking = context;
	struct child *child = asking->child;
	struct keeper_subject subject = {
		.op = about->op, .thing = SB_THING_DIRECTORY, .path = about->path};
	const struct keeper_approval *said;
	bool yes = false, no = false;

	hash_of(about, subject.bytes);
	if (about->directory && child->keeper->options->worker) {
		enum sb_answer known = sb_keeper_worker_known(child, &subject);

		yes = known == SB_ANSWER_ONCE || known == SB_ANSWER_DIRECTORY;
		no = known == SB_ANSWER_DENY;
	} else {
		said = sb_approvals_find(child->perform->approvals, &subject, false);
		yes = said && said->yes;
		no = said && !said->yes;
	}
	if (yes)
		return SB_OK;
	if (no || child->perform->nobody)
		json_array_append_new(child->refused,
				      json_pack("{s:s, s:o, s:s}", "op", sb_op_name(about->op),
						"path", sb_rpc_string(about->path), "by",
						no ? "answer" : "nobody"));
	if (no)
		return sb_fail(err, SB_E_REFUSED, 0, "the user was asked and said no");
	asking->open = true;
	if (!child->perform->nobody && !child->question)
		put_question(child, about, &subject);
	return sb_fail(err, SB_E_REFUSED, 0, "the user has to be asked, and nobody can be");
}

/* --- the call ------------------------------------------------------------------------------------------- */

static int act(const char *tool, const struct sb_repo_session *session,
	       const struct sb_repo_request *request, struct sb_repo_result *out,
	       struct sb_error *err)
{
	static const struct {
		const char *name;
		int (*run)(const struct sb_repo_session *, const struct sb_repo_request *,
			   struct sb_repo_result *, struct sb_error *);
	} acts[] = {{"git_pull", sb_repo_pull},
		    {"git_stage", sb_repo_stage},
		    {"git_show", sb_repo_show},
		    {"git_push", sb_repo_push},
		    {"git_discard", sb_repo_discard}};

	for (size_t i = 0; i < sizeof acts / sizeof acts[0]; i++)
		if (strcmp(acts[i].name, tool) == 0)
			return acts[i].run(session, request, out, err);
	return sb_fail(err, SB_E_INVALID, 0, "no such act");
}

/* Real paths are not a worker's to know. */
static json_t *words(const struct child *child, const char *text, size_t length)
{
	return child->keeper->options->worker
		       ? sb_tool_worker_words(child->keeper->options->worker, text)
		       : sb_rpc_text(text, length);
}

/* What a directory's mode or approval says has its own code, as from any file tool: repo/zone.c. */
static enum sb_files_code refusal_of(const struct sb_error *err)
{
	if (sb_text_ends(err->message, " is read-only"))
		return SB_FILES_READ_ONLY;
	return sb_text_ends(err->message, ": writing is blocked") ? SB_FILES_BLOCKED
								  : SB_FILES_DENIED;
}

static json_t *failure(struct asking *asking, struct sb_tool_call *call, const struct sb_error *err)
{
	struct child *child = asking->child;
	json_auto_t *person = words(child, err->message, strlen(err->message));
	bool refused = err->code == SB_E_REFUSED, later = asking->open || child->question;

	if (later)
		call->err.code = SB_FILES_NEEDS_CONSENT;
	else if (refused)
		call->err.code = refusal_of(err);
	return sb_tool_failure(later                       ? "NEEDS_CONSENT"
			       : refused                   ? sb_files_code_name(call->err.code)
			       : err->code == SB_E_INVALID ? "INVALID_ARGUMENT"
			       : err->code == SB_E_MISSING ? "NOT_FOUND"
							   : "SYSTEM",
			       json_string_value(person), err->hint, refused, NULL);
}

/* For the record: what was done, to which repository. */
static void tell(struct child *child, const struct sb_repo_request *request,
		 const struct sb_repo_result *result)
{
	enum sb_op op = request->zone && !request->message ? SB_CREATE : SB_MODIFY;
	json_t *used =
		json_pack("{s:s, s:o}", "op", sb_op_name(op), "path", sb_rpc_string(result->repo));

	sb_put_text(used, "to", request->zone);
	json_array_append_new(child->used, used);
}

static json_t *success(struct child *child, const struct sb_repo_result *result)
{
	json_t *more = json_pack("{s:s, s:s, s:I, s:I}", "commit", result->commit, "branch",
				 result->branch, "files", (json_int_t)result->files, "leftOut",
				 (json_int_t)result->left_out);
	SB_AUTO_BUF struct sb_buf text = SB_BUF(result->text.length + sizeof result->id + 8);

	if (result->id[0]) { /* also for a client that shows its model the text alone */
		json_object_set_new(more, "id", json_string(result->id));
		sb_buf_printf(&text, "id: %s\n", result->id);
	}
	sb_buf_append(&text, result->text.data, result->text.length);
	return sb_tool_text(words(child, text.data, text.length), more);
}

static json_t *run(struct child *child, struct sb_tool_call *call, const struct sb_zones *zones,
		   const struct sb_files_options *files)
{
	const struct sb_keeper_options *options = child->keeper->options;
	const struct sb_setup *setup = options->setup;
	const char *into = sb_get_text(call->args, "into"),
		   **paths = sb_arg_list(call->args, "paths");
	struct asking asking = {child, false};
	struct sb_repo_session session = {
		.setup = setup,
		.search = getenv("PATH"),
		.ssh_agent = getenv("SSH_AUTH_SOCK"),
		.zones = zones,
		.files = *files,
		.asks = true,
		.open = options->worker ? NULL : (const char *const *)setup->projects,
		.network_off = options->worker && !options->worker->worker.network,
		.best_effort = options->line->best_effort,
		.ask = ask,
		.context = &asking,
	};
	const struct sb_repo_request request = {
		.repo = sb_get_text(call->args, "repository"),
		.branch = sb_get_text(call->args, "branch"),
		.zone = into ? into : sb_get_text(call->args, "from"),
		.paths = paths,
		.message = sb_get_text(call->args, "message"),
		.id = sb_get_text(call->args, "id"),
		.new_branch = sb_get_true(call->args, "newBranch"),
		.force = sb_get_true(call->args, "force"),
	};
	SB_AUTO(sb_repo_result_done) struct sb_repo_result result = {0};
	struct sb_error err;
	json_t *answer;

	session.files.backend = NULL; /* real files, also of a worker */
	session.files.home = setup->home.home;
	if (act(child->perform->tool, &session, &request, &result, &err) == SB_OK) {
		tell(child, &request, &result);
		answer = success(child, &result);
	} else {
		answer = failure(&asking, call, &err);
	}
	free(paths);
	return answer;
}

json_t *sb_git_request(struct child *child, struct sb_tool_call *call,
		       const struct sb_files_options *files)
{
	const struct sb_tool_worker *worker = child->keeper->options->worker;
	SB_AUTO(sb_project_done) struct sb_project project = {0};
	struct sb_error err;

	if (worker)
		return run(child, call, &worker->has, files);
	if (sb_project_load(child->keeper->options->setup->projects[0], &project, &err) != SB_OK)
		return sb_tool_sb_error(&err);
	return project.file ? run(child, call, &project.zones, files)
			    : sb_tool_failure("UNSUPPORTED",
					      "the project has no file that says which directories "
					      "there are for this",
					      "Use run_command.", false, NULL);
}
