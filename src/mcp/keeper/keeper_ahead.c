/*
 * keeper_ahead.c - request_access (C8): a question about what a later call, or a command, is to do.
 *
 * All operations that are asked for are one question.  What is allowed already is not part of it, and
 * what may never be granted is refused without one.
 */
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/escape.h"
#include "consent/session.h"
#include "mcp/keeper/keeper_child.h"
#include "mcp/wire/rpc.h"
#include "path/path.h"

#define REASON_SHOWN 400

json_t *sb_ahead_outcome(json_t *result, const char *outcome, const char *until)
{
	json_t *structured = json_object_get(result, "structuredContent");

	json_object_set_new(structured, "granted", json_boolean(strcmp(outcome, "granted") == 0));
	json_object_set_new(structured, "outcome", json_string(outcome));
	sb_put_text(structured, "until", until);
	return result;
}

json_t *sb_ahead_no(const char *outcome, const char *code, const char *person, const char *model)
{
	bool refused = strcmp(outcome, "refused") == 0;

	return sb_ahead_outcome(sb_tool_failure(code, person, model, refused, NULL), outcome, NULL);
}

/*
 * SECURITY: the model's words are not ours.
 *
 * Danger: a reason that reads as one of the lines around it ("sandbash has looked at this: harmless") is
 * believed.
 * Price: quotes in it become apostrophes, so that none ends it early; a long one is cut.
 * Held by: tests/mcp/ahead.py
 */
void sb_ahead_reason(json_t *notes, const json_t *args)
{
	const char *given = sb_get_text(args, "reason");
	SB_AUTO_FREE char *reason = given ? strdup(given) : NULL;
	SB_AUTO_BUF struct sb_buf line = SB_BUF(8 * REASON_SHOWN + 256);

	if (!reason)
		return;
	for (char *at = reason; (at = strchr(at, '"'));)
		*at = '\'';
	sb_buf_puts(&line, "the model says, and nobody has checked it: \"");
	sb_escape_value(&line, reason, strlen(reason), REASON_SHOWN);
	sb_buf_putc(&line, '"');
	json_array_append_new(notes, sb_rpc_buf(&line));
}

/* --- request_access --------------------------------------------------------------------------------- */

/* What is asked for, and not allowed by the rules. */
struct request {
	bool wanted[SB_OP_COUNT];
	size_t count;
	enum sb_op strictest;
	struct sb_files_error why; /* of that one */
	char path[PATH_MAX];
	enum sb_thing thing;
	bool checked; /* allowed as far as the contents are harmless */
};

/* False: call->err says why not. */
static bool read_request(struct sb_tool_call *call, struct request *out)
{
	const json_t *list = json_object_get(call->args, "operations"), *word;
	const char *path = sb_get_text(call->args, "path");
	size_t i;

	json_array_foreach(list, i, word)
	{
		enum sb_op op = sb_op_named(json_string_value(word));

		if (op < SB_OP_COUNT)
			out->wanted[op] = true;
	}
	for (int op = 0; op < SB_OP_COUNT; op++) {
		struct sb_files_error why = {0};
		enum sb_verdict verdict;
		bool checked;

		if (!out->wanted[op])
			continue;
		if (sb_files_check(call->view, (enum sb_op)op, path, &verdict, &checked, &why) !=
			    0 ||
		    (verdict != SB_ALLOW && why.code != SB_FILES_NEEDS_CONSENT)) {
			call->err = why;
			return false;
		}
		out->checked |= checked;
		out->wanted[op] = verdict != SB_ALLOW;
		if (verdict == SB_ALLOW)
			continue;
		out->count++;
		out->strictest = (enum sb_op)op;
		out->why = why;
		snprintf(out->path, sizeof out->path, "%s", why.path);
	}
	return true;
}

static void put_verbs(const struct request *request, struct sb_buf *out)
{
	size_t told = 0;

	for (int op = 0; op < SB_OP_COUNT; op++)
		if (request->wanted[op]) {
			sb_buf_puts(out, !told ? "" : told + 1 == request->count ? " and " : ", ");
			sb_buf_puts(out, sb_question_verb((enum sb_op)op));
			told++;
		}
}

/* A directory is asked about as a whole; of anything else, the directory that holds it is offered. */
static char *place_of(const char *path)
{
	return sb_path_is_directory(path) ? strdup(path) : sb_path_parent(path);
}

/* What lasts counts first: of a directory, what was answered for everything in it. */
static enum sb_answer known(const struct child *child, enum sb_op op, const char *path,
			    enum sb_thing thing, bool guarded)
{
	struct keeper_subject subject = {
		.op = op, .guarded = guarded, .thing = thing, .path = path};
	SB_AUTO_FREE char *place = place_of(path);
	SB_AUTO_FREE char *itself = place && strcmp(place, path) == 0 ? sb_path_join(path, ".")
								      : strdup(path);
	enum sb_answer lasting = itself ? sb_keeper_recall(child->keeper, op, itself, guarded)
					: SB_ANSWER_NONE;

	return lasting == SB_ANSWER_NONE ? sb_child_known(child, &subject) : lasting;
}

int sb_ahead_said(const void *context, enum sb_op op, const char *path)
{
	json_auto_t *notes = json_array();
	bool guarded = sb_child_is_guarded(context, op, path, NULL, notes, NULL);
	enum sb_answer answer = known(context, op, path, sb_child_thing(path), guarded);

	if (answer == SB_ANSWER_NONE)
		return 0;
	return answer == SB_ANSWER_DENY ? -1 : 1;
}

static json_t *granted(const struct request *request, const char *until)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(16 * 1024);

	sb_buf_printf(&text, "Granted%s",
		      request->checked ? ", as far as the contents are harmless" : "");
	if (strcmp(until, "next use") == 0)
		sb_buf_puts(&text, ": for the next call or command that does it.");
	else
		sb_buf_puts(&text, strcmp(until, "session") == 0 ? ", until this session ends."
								 : " by the rules.");
	return sb_ahead_outcome(sb_tool_said(&text, NULL), "granted", until);
}

static bool is_made(const struct request *request)
{
	struct stat info;

	return request->wanted[SB_CREATE] && lstat(request->path, &info) != 0;
}

static void put_question(struct child *child, const struct request *request, bool guarded,
			 json_t *notes, const json_t *args)
{
	SB_AUTO_FREE char *place = place_of(request->path);
	SB_AUTO_BUF struct sb_buf verb = SB_BUF(256);
	json_t *ops = json_array();

	for (int op = 0; op < SB_OP_COUNT; op++)
		if (request->wanted[op])
			json_array_append_new(ops, json_integer(op));
	put_verbs(request, &verb);
	if (guarded && request->strictest != SB_DELETE)
		sb_child_note(
			notes,
			"what would be written is not known yet: a yes is for any bytes, once");
	if (is_made(request))
		sb_child_note(notes, request->thing == SB_THING_DIRECTORY
					     ? "it is a directory"
					     : "it is a file, and no link");
	sb_child_note(notes, "it is asked ahead: nothing is done yet");
	sb_ahead_reason(notes, args);
	child->question = json_pack("{s:i, s:o, s:s, s:o, s:b, s:i, s:b, s:O}", "op",
				    request->strictest, "ops", ops, "verb", verb.data, "path",
				    sb_rpc_string(request->path), "guarded", guarded, "thing",
				    request->thing, "ahead", 1, "notes", notes);
	sb_put_text(child->question, "rule", request->why.rule);
	if (place && !guarded &&
	    sb_keeper_may_open(child->keeper, request->strictest, request->path, place))
		sb_put_text(child->question, "directory", place);
}

/*
 * SECURITY: what was asked for ahead is of the kind that the question has told.
 *
 * Danger: a yes to "create ~/out/x" is taken for a file.  A link at that name, to where somebody's next write is to
 * land, a FIFO, a socket or a directory would be made by it as well.
 * Price: a link, or a file's modes, are asked about when they are made; a new directory is asked for by name.
 * Held by: tests/mcp/ahead.py
 */
static enum sb_thing thing_wanted(const json_t *args, const char *path)
{
	const char *kind = sb_get_text(args, "kind");
	struct stat info;

	return kind && strcmp(kind, "directory") == 0 && lstat(path, &info) != 0
		       ? SB_THING_DIRECTORY
		       : sb_child_thing(path);
}

json_t *sb_ahead_request(struct child *child, struct sb_tool_call *call)
{
	struct request request = {.count = 0};
	const char *until = "session";
	bool guarded, open = false;
	json_auto_t *notes = json_array();
	json_t *result;

	call->err = (struct sb_files_error){0};
	if (!read_request(call, &request))
		return sb_ahead_outcome(sb_tool_files_error(&call->err), "refused", NULL);
	if (!request.count)
		return granted(&request, "rules");
	if (sb_path_within(request.path, child->keeper->options->setup->home.home))
		return sb_ahead_no("refused", "DENIED",
				   "the home directory, and what holds it, is not opened",
				   "Ask for the file or the directory that you need in it.");
	request.thing = thing_wanted(call->args, request.path);
	guarded = sb_child_is_guarded(child, request.strictest, request.path, NULL, notes, NULL) ||
		  request.why.why == SB_FILES_WHY_GUARDED;
	for (int op = 0; op < SB_OP_COUNT; op++) {
		enum sb_answer answer;

		if (!request.wanted[op])
			continue;
		answer = known(child, (enum sb_op)op, request.path, request.thing, guarded);
		if (answer == SB_ANSWER_DENY)
			return sb_ahead_no("denied", "DENIED", "the user was asked and said no",
					   "Do without it.");
		open |= answer == SB_ANSWER_NONE;
		if (answer == SB_ANSWER_ONCE)
			until = "next use";
	}
	if (!open)
		return granted(&request, until);
	call->err = request.why;
	result = sb_ahead_outcome(sb_tool_files_error(&call->err), "nobody", NULL);
	if (!child->perform->nobody)
		put_question(child, &request, guarded, notes, call->args);
	return result;
}

/* --- what was granted --------------------------------------------------------------------------------- */

static void put_grant(json_t *list, const char *path, const char *what, const char *until)
{
	json_array_append_new(list, json_pack("{s:o, s:s, s:s}", "path", sb_rpc_string(path),
					      "access", what, "until", until));
}

/* What was said of a path, in a word or two; of a directory, of everything in it. */
static const char *kept_word(const char *path, const struct sb_access *access)
{
	if (path[0] != '/') /* a host */
		return access->verdict[SB_MODIFY] == SB_DENY ? "deny connect" : "connect";
	if (access->verdict[SB_MODIFY] == SB_ALLOW)
		return "write";
	if (access->verdict[SB_MODIFY] == SB_DENY)
		return "deny changes";
	return access->verdict[SB_READ] == SB_ALLOW ? "read" : "deny read";
}

json_t *sb_ahead_grants(const struct keeper *keeper)
{
	const char *state = keeper->options->setup->home.state_dir;
	struct sb_session *session = NULL;
	json_t *list = json_array();
	struct sb_access access;
	const char *path;

	for (size_t i = 0; keeper->opened && keeper->opened[i]; i++)
		put_grant(list, keeper->opened[i], "project", "session");
	/* commands keep their answers there as well */
	if (keeper->session &&
	    sb_session_open(state, keeper->session_name, &session, NULL) == SB_OK)
		for (size_t i = 0; sb_session_kept(session, i, &path, &access); i++)
			put_grant(list, path, kept_word(path, &access), "session");
	sb_session_free(session);
	for (const struct keeper_approval *one = keeper->ahead; one; one = one->next)
		put_grant(list, one->path, sb_op_name(one->subject.op), "next use");
	return list;
}
