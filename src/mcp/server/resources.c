/*
 * resources.c - what is too large for a result, or worth looking at beside it.
 *
 *     sandbash://policy                     the rules in force, with where each comes from
 *     sandbash://audit                      this session's record
 *     sandbash://run/RUN/stdout?offset=N    what a command printed (stderr as well)
 *     sandbash://result/N?offset=N          a result that was cut
 *
 * A worker has not the first two, which name files of this machine.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/buf.h"
#include "mcp/server/server.h"
#include "policy/text.h"

#define PAGE (1024 * 1024) /* bytes of one answer */
#define POLICY_MAX (16 * 1024 * 1024)

static json_t *describe(const char *uri, const char *name, const char *title, const char *type)
{
	return json_pack("{s:s, s:s, s:s, s:s}", "uri", uri, "name", name, "title", title,
			 "mimeType", type);
}

json_t *sb_resources_list(const struct sb_mcp *mcp)
{
	json_t *list = json_array();
	char uri[80], title[400];

	if (!mcp->worker) {
		json_array_append_new(list, describe("sandbash://policy", "policy",
						     "The rules in force", "text/plain"));
		json_array_append_new(list, describe("sandbash://audit", "audit",
						     "What was asked, answered and refused",
						     "application/x-ndjson"));
	}
	for (const struct sb_mcp_run *run = mcp->runs; run; run = run->next)
		for (int i = 0; i < 2; i++) {
			const char *stream = i ? "stderr" : "stdout";
			json_t *entry;

			snprintf(uri, sizeof uri, "sandbash://run/%s/%s", run->id, stream);
			snprintf(title, sizeof title, "%s of %s", stream, run->id);
			entry = describe(uri, title, title, "text/plain");
			json_object_set_new(entry, "description", sb_rpc_string(run->command));
			json_array_append_new(list, entry);
		}
	return json_pack("{s:o}", "resources", list);
}

json_t *sb_resources_templates(const struct sb_mcp *mcp)
{
	(void)mcp;
	return json_pack("{s:[{s:s, s:s, s:s, s:s}, {s:s, s:s, s:s, s:s}]}", "resourceTemplates",
			 "uriTemplate", "sandbash://run/{runId}/{stream}{?offset}", "name",
			 "run-output", "title", "Output of a command (stdout or stderr)",
			 "mimeType", "text/plain", "uriTemplate",
			 "sandbash://result/{number}{?offset}", "name", "result", "title",
			 "A result that was too large", "mimeType", "text/plain");
}

/* --- reading --------------------------------------------------------------------------------------- */

/* One page of text; next: where the following one begins, 0: there is none. */
static json_t *page(const char *uri, const char *type, const char *bytes, size_t length,
		    uint64_t next)
{
	json_t *contents = json_pack("{s:s, s:s, s:o}", "uri", uri, "mimeType", type, "text",
				     sb_rpc_text(bytes, length));

	if (next)
		json_object_set_new(contents, "_meta",
				    json_pack("{s:I}", "sandbash/nextOffset", (json_int_t)next));
	return json_pack("{s:[o]}", "contents", contents);
}

static json_t *read_policy(const struct sb_mcp *mcp, const char *uri)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(POLICY_MAX);

	sb_policy_print(mcp->setup->policy, &text);
	return page(uri, "text/plain", text.data, text.length, 0);
}

static uint64_t offset_of(const char *uri)
{
	const char *query = strstr(uri, "?offset=");

	return query ? strtoull(query + 8, NULL, 10) : 0;
}

static json_t *read_run(const struct sb_mcp *mcp, const char *uri)
{
	SB_AUTO_FREE char *bytes = malloc(PAGE);
	char id[24], stream[8];
	const struct sb_mcp_run *run;
	const struct sb_spool *spool;
	uint64_t at;
	size_t got;

	if (!bytes || sscanf(uri, "sandbash://run/%23[^/]/%7[a-z]", id, stream) != 2)
		return NULL;
	run = sb_run_by_id(mcp, id);
	if (!run || (strcmp(stream, "stdout") != 0 && strcmp(stream, "stderr") != 0))
		return NULL;
	spool = &run->spools[strcmp(stream, "stderr") == 0];
	got = sb_spool_read(spool, offset_of(uri), bytes, PAGE, &at);
	return page(uri, "text/plain", bytes, got, at + got < spool->total ? at + got : 0);
}

static json_t *read_result(const struct sb_mcp *mcp, const char *uri)
{
	const json_t *text;
	uint64_t offset = offset_of(uri);
	char number[24];
	size_t length;

	if (sscanf(uri, "sandbash://result/%23[0-9]", number) != 1)
		return NULL;
	text = json_object_get(mcp->results, number);
	length = json_string_length(text);
	if (!text || offset > length)
		return NULL;
	length = length - offset < PAGE ? length - offset : PAGE;
	/* a page ends between characters */
	while (length && offset + length < json_string_length(text) &&
	       ((unsigned char)json_string_value(text)[offset + length] & 0xc0) == 0x80)
		length--;
	return page(uri, "text/plain", json_string_value(text) + offset, length,
		    offset + length < json_string_length(text) ? offset + length : 0);
}

static void answer(struct sb_mcp *mcp, json_t *id, const char *uri, json_t *result, bool modern)
{
	json_t *message;

	if (result)
		message = sb_rpc_result(id, sb_mcp_finish_result(result, modern, true));
	else
		message = sb_rpc_error(id, modern ? SB_RPC_INVALID_PARAMS : SB_RPC_NOT_FOUND,
				       "there is no such resource",
				       json_pack("{s:o}", "uri", sb_rpc_string(uri)));
	sb_mcp_answer(mcp, mcp->batch, message);
}

/* The record is the keeper's; the request waits as a call without a tool would. */
static void ask_for_log(struct sb_mcp *mcp, json_t *id, bool modern)
{
	struct sb_mcp_call *call = sb_call_new(mcp, id, modern);

	if (!call)
		return;
	call->state = SB_CALL_KEEPER;
	sb_mcp_tell(mcp, sb_rpc_about("log", "call", call->number));
}

void sb_resources_log(struct sb_mcp *mcp, unsigned long number, int fd)
{
	struct sb_mcp_call *call = sb_call_by_number(mcp, number);
	SB_AUTO_FREE char *bytes = malloc(PAGE);
	ssize_t got = 0;
	off_t end = fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;
	const char *text = bytes;
	json_t *result;

	if (!call || call->tool)
		return;
	/* the end of a long one, from a line's beginning */
	if (bytes && fd >= 0)
		got = pread(fd, bytes, PAGE, end > PAGE ? end - PAGE : 0);
	if (got > 0 && end > PAGE) {
		const char *line = memchr(bytes, '\n', (size_t)got);

		text = line ? line + 1 : bytes;
	}
	result = page("sandbash://audit", "application/x-ndjson", text ? text : "",
		      got > 0 ? (size_t)(bytes + got - text) : 0, 0);
	result = sb_mcp_finish_result(result, call->modern, true);
	sb_mcp_answer(mcp, call->batch, sb_rpc_result(call->id, result));
	sb_call_end(mcp, call);
}

void sb_resources_read(struct sb_mcp *mcp, json_t *id, const char *uri, bool modern)
{
	if (strcmp(uri, "sandbash://audit") == 0 && !mcp->worker)
		ask_for_log(mcp, id, modern);
	else if (strcmp(uri, "sandbash://policy") == 0 && !mcp->worker)
		answer(mcp, id, uri, read_policy(mcp, uri), modern);
	else if (strncmp(uri, "sandbash://run/", 15) == 0)
		answer(mcp, id, uri, read_run(mcp, uri), modern);
	else
		answer(mcp, id, uri, read_result(mcp, uri), modern);
}
