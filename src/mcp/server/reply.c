/* reply.c - what goes out: answers to the client, one by one or in a batch, and messages to the keeper. */
#include <stdlib.h>

#include "base/buf.h"
#include "mcp/server/server.h"

#define META_SERVER "io.modelcontextprotocol/serverInfo"

void sb_batch_close(struct sb_mcp *mcp, struct sb_batch *batch)
{
	if (batch->open)
		return;
	if (json_array_size(batch->answers))
		sb_out_send(mcp->out, json_incref(batch->answers));
	json_decref(batch->answers);
	free(batch);
}

void sb_mcp_answer(struct sb_mcp *mcp, struct sb_batch *batch, json_t *answer)
{
	if (!batch) {
		sb_out_send(mcp->out, answer);
		return;
	}
	if (answer)
		json_array_append_new(batch->answers, answer);
	batch->open--;
	sb_batch_close(mcp, batch);
}

json_t *sb_mcp_server_info(void)
{
	return json_pack("{s:s, s:s, s:s}", "name", "sandbash", "title",
			 "sandbash: files and commands in a sandbox", "version", SB_VERSION);
}

json_t *sb_mcp_finish_result(json_t *result, bool modern, bool cacheable)
{
	if (!modern || !result)
		return result;
	if (!json_object_get(result, "resultType"))
		json_object_set_new(result, "resultType", json_string("complete"));
	if (cacheable) {
		json_object_set_new(result, "ttlMs", json_integer(0));
		json_object_set_new(result, "cacheScope", json_string("private"));
	}
	json_object_set_new(result, "_meta", json_pack("{s:o}", META_SERVER, sb_mcp_server_info()));
	return result;
}

json_t *sb_mcp_request_id(unsigned long number)
{
	return json_sprintf("sandbash-%lu", number);
}

void sb_mcp_tell(struct sb_mcp *mcp, json_t *message)
{
	sb_link_send(&mcp->link, message, NULL, 0);
}

void sb_mcp_way_in(struct sb_buf *out, const char *attach, const char *what)
{
	sb_buf_printf(out,
		      " Tell the user: to answer such questions, run 'sandbash --watch' or '%s' in "
		      "another terminal, and let %s be repeated.",
		      attach, what);
}
