/* session.c - the methods of both eras, and who may call what when. */
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "mcp/server/server.h"
#include "path/path.h"
#include "zones/zones.h"

#define META_VERSION "io.modelcontextprotocol/protocolVersion"
#define META_CAPABILITIES "io.modelcontextprotocol/clientCapabilities"
#define META_CLIENT "io.modelcontextprotocol/clientInfo"

/* Newest first; what a client asks for and we do not know gets the newest. */
static const char *const legacy[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};

#define LEGACY_COUNT (sizeof legacy / sizeof legacy[0])

static const char instructions[] =
	"Files and commands under sandbash's policy. Paths are absolute or relative to the first "
	"allowed directory (list_allowed_directories). Inside the allowed directories work freely; "
	"anything else is asked of the user, who may refuse: read the error, it says how to go on. "
	"what_may_i_do tells the rules beforehand, request_access and open_project ask ahead. Prefer glob and grep to shell commands for "
	"searching, edit_file to rewriting whole files. run_command runs in the same sandbox; what "
	"it was refused is listed in 'refused'.";

/* What there is a worker finds by looking. */
static const char worker_instructions[] =
	"Files under /. List / to see which directories there are; there is nothing else. Some can be "
	"read and not changed, and the user may be asked about changes in others: read the error, it "
	"says how to go on. what_may_i_do tells it beforehand. Prefer glob and grep for searching, "
	"edit_file to rewriting whole files. run_command sees the same directories, and a read-only "
	"system; what it was refused is listed in 'refused'.";

static const char *instructions_for(const struct sb_mcp *mcp)
{
	return mcp->worker ? worker_instructions : instructions;
}

static json_t *capabilities(void)
{
	return json_pack("{s:{}, s:{}}", "tools", "resources");
}

/* --- a request's answer ------------------------------------------------------------------------------ */

struct request {
	struct sb_mcp *mcp;
	json_t *id, *params;
	const char *method;
	bool modern, elicit;
};

static void reply(const struct request *request, json_t *result, bool cacheable)
{
	result = sb_mcp_finish_result(result, request->modern, cacheable);
	sb_mcp_answer(request->mcp, request->mcp->batch, sb_rpc_result(request->id, result));
}

static void refuse(const struct request *request, int code, const char *text, json_t *data)
{
	sb_mcp_answer(request->mcp, request->mcp->batch,
		      sb_rpc_error(request->id, code, text, data));
}

/* --- beginning ----------------------------------------------------------------------------------------- */

/* {} means forms, as it did before there was anything else. */
static bool shows_forms(const json_t *capabilities_given)
{
	const json_t *elicitation = json_object_get(capabilities_given, "elicitation");

	return json_is_object(elicitation) &&
	       (json_object_size(elicitation) == 0 ||
		json_is_object(json_object_get(elicitation, "form")) ||
		!json_object_get(elicitation, "url"));
}

static void initialize(const struct request *request)
{
	struct sb_mcp *mcp = request->mcp;
	const char *wanted = sb_get_text(request->params, "protocolVersion");
	const json_t *given = json_object_get(request->params, "capabilities");

	if (!wanted) {
		refuse(request, SB_RPC_INVALID_PARAMS, "'protocolVersion' is missing", NULL);
		return;
	}
	if (mcp->version) {
		refuse(request, SB_RPC_INVALID_REQUEST, "initialized already", NULL);
		return;
	}
	mcp->version = legacy[0];
	for (size_t i = 0; i < LEGACY_COUNT; i++)
		if (strcmp(legacy[i], wanted) == 0)
			mcp->version = legacy[i];
	mcp->elicit = strcmp(mcp->version, "2025-06-18") >= 0 && shows_forms(given);
	mcp->has_roots = json_is_object(json_object_get(given, "roots"));
	reply(request,
	      json_pack("{s:s, s:o, s:o, s:s}", "protocolVersion", mcp->version, "capabilities",
			capabilities(), "serverInfo", sb_mcp_server_info(), "instructions",
			instructions_for(mcp)),
	      false);
}

static void discover(const struct request *request)
{
	json_t *versions = json_pack("[s]", SB_MCP_MODERN);

	for (size_t i = 0; i < LEGACY_COUNT; i++)
		json_array_append_new(versions, json_string(legacy[i]));
	reply(request,
	      json_pack("{s:o, s:o, s:s}", "supportedVersions", versions, "capabilities",
			capabilities(), "instructions", instructions_for(request->mcp)),
	      true);
}

/* --- the others -------------------------------------------------------------------------------------------- */

/* Lists are short enough for one page, so no cursor is ours. */
static bool has_cursor(const struct request *request)
{
	if (!json_object_get(request->params, "cursor"))
		return false;
	refuse(request, SB_RPC_INVALID_PARAMS, "'cursor' is none of this server's", NULL);
	return true;
}

static void ping(const struct request *request)
{
	reply(request, json_object(), false);
}

/* Are there directories that git's tools could use?  Without a project's file nobody has said so. */
static bool has_zones(const struct sb_mcp *mcp)
{
	if (mcp->worker)
		return mcp->worker->has.count > 0;
	for (size_t i = 0; sb_project_files[i]; i++) {
		SB_AUTO_FREE char *file =
			sb_path_join(mcp->setup->projects[0], sb_project_files[i]);

		if (file && access(file, F_OK) == 0)
			return true;
	}
	return false;
}

static json_t *tools_of(const struct sb_mcp *mcp)
{
	return sb_tools_list(mcp->worker, has_zones(mcp));
}

static void call_tool(const struct request *request)
{
	sb_call_start(request->mcp, request->id, request->params, request->modern, request->elicit);
}

static void read_resource(const struct request *request)
{
	const char *uri = sb_get_text(request->params, "uri");

	if (uri)
		sb_resources_read(request->mcp, request->id, uri, request->modern);
	else
		refuse(request, SB_RPC_INVALID_PARAMS, "'uri' is missing", NULL);
}

static const struct method {
	const char *name;
	void (*serve)(const struct request *request);
	bool legacy, modern;
	json_t *(*list)(const struct sb_mcp *mcp); /* all there is to it */
} methods[] = {
	{"tools/call", call_tool, true, true},
	{"tools/list", NULL, true, true, tools_of},
	{"resources/read", read_resource, true, true},
	{"resources/list", NULL, true, true, sb_resources_list},
	{"resources/templates/list", NULL, true, true, sb_resources_templates},
	{"server/discover", discover, false, true},
	{"initialize", initialize, true, false},
	{"ping", ping, true, false},
};

/* --- dispatching ------------------------------------------------------------------------------------------- */

static json_t *version_data(const char *wanted)
{
	return json_pack("{s:[s], s:s}", "supported", SB_MCP_MODERN, "requested", wanted);
}

/* What every request says about its client since 2026-07-28.  False: it was refused. */
static bool read_envelope(struct request *request, const json_t *meta)
{
	const json_t *version = json_object_get(meta, META_VERSION),
		     *given = json_object_get(meta, META_CAPABILITIES),
		     *client = json_object_get(meta, META_CLIENT);

	request->modern = true;
	if (!json_is_string(version)) {
		refuse(request, SB_RPC_INVALID_PARAMS, "_meta: " META_VERSION " is no string",
		       NULL);
		return false;
	}
	if (strcmp(json_string_value(version), SB_MCP_MODERN) != 0) {
		refuse(request, SB_RPC_VERSION, "unsupported protocol version",
		       version_data(json_string_value(version)));
		return false;
	}
	if (!json_is_object(given) || (client && !json_is_object(client))) {
		refuse(request, SB_RPC_INVALID_PARAMS,
		       "_meta: " META_CAPABILITIES " is missing, or no object", NULL);
		return false;
	}
	request->elicit = shows_forms(given);
	return true;
}

static void serve(struct sb_mcp *mcp, const struct sb_message *message)
{
	struct request request = {.mcp = mcp,
				  .id = message->id,
				  .params = message->params,
				  .method = message->method,
				  .elicit = mcp->elicit};
	const json_t *meta = json_object_get(message->params, "_meta");
	const struct method *method = methods, *end = methods + sizeof methods / sizeof methods[0];

	if (meta && !json_is_object(meta)) {
		refuse(&request, SB_RPC_INVALID_PARAMS, "'_meta' is no object", NULL);
		return;
	}
	if (json_object_get(meta, META_VERSION) && !read_envelope(&request, meta))
		return;
	while (method < end && strcmp(method->name, message->method) != 0)
		method++;
	if (method == end || (request.modern && !method->modern)) {
		refuse(&request, SB_RPC_NO_METHOD, "no such method", NULL);
		return;
	}
	if (!request.modern && !method->legacy) {
		refuse(&request, SB_RPC_INVALID_PARAMS,
		       "_meta: " META_VERSION " and " META_CAPABILITIES " are missing", NULL);
		return;
	}
	if (!request.modern && !mcp->version && method->serve != initialize &&
	    method->serve != ping) {
		refuse(&request, SB_RPC_INVALID_REQUEST,
		       "not initialized: send initialize first, or the _meta of " SB_MCP_MODERN,
		       NULL);
		return;
	}
	/* an answer to this one could be taken for the other's */
	if (sb_call_by_id(mcp, message->id)) {
		request.id = NULL;
		refuse(&request, SB_RPC_INVALID_REQUEST, "the id is in use", NULL);
		return;
	}
	if (method->serve)
		method->serve(&request);
	else if (!has_cursor(&request))
		reply(&request, method->list(mcp), true);
}

static void notified(struct sb_mcp *mcp, const struct sb_message *message)
{
	if (strcmp(message->method, "notifications/cancelled") == 0) {
		sb_call_cancel(mcp, json_object_get(message->params, "requestId"));
	} else if (strcmp(message->method, "notifications/initialized") == 0) {
		if (mcp->version && !mcp->initialized) {
			mcp->initialized = true;
			sb_roots_ask(mcp);
		}
	} else if (strcmp(message->method, "notifications/roots/list_changed") == 0) {
		sb_roots_ask(mcp);
	}
	/* others are none of ours, and a notification is not answered */
}

void sb_mcp_message(struct sb_mcp *mcp, const struct sb_message *message)
{
	switch (message->kind) {
	case SB_MESSAGE_REQUEST:
		serve(mcp, message);
		break;
	case SB_MESSAGE_NOTIFICATION:
		notified(mcp, message);
		break;
	case SB_MESSAGE_ANSWER:
		if (!sb_ask_answered(mcp, message))
			sb_roots_answered(mcp, message);
		break;
	case SB_MESSAGE_BATCH:
	case SB_MESSAGE_BAD:
		sb_mcp_answer(mcp, mcp->batch,
			      sb_rpc_error(message->id, message->code, message->text, NULL));
		break;
	}
}
