/* shorten.c - results that are too large to be sent whole, and are kept as resources (resources.c). */
#include <stdio.h>

#include "base/buf.h"
#include "mcp/server/server.h"

#define RESULT_MAX (4 * 1024 * 1024) /* text of a result that is sent whole */
#define RESULT_SHOWN (256 * 1024)    /* of one that is not */
#define RESULTS 8                    /* that are kept */

static void keep(struct sb_mcp *mcp, json_t *text, char number[24])
{
	if (!mcp->results)
		mcp->results = json_object();
	snprintf(number, 24, "%lu", ++mcp->last_result);
	json_object_set(mcp->results, number, text);
	if (mcp->last_result > RESULTS) {
		char oldest[24];

		snprintf(oldest, sizeof oldest, "%lu", mcp->last_result - RESULTS);
		json_object_del(mcp->results, oldest);
	}
}

static json_t *text_of(const json_t *result)
{
	return json_object_get(json_object_get(result, "structuredContent"), "content");
}

bool sb_resources_must_shorten(const json_t *result)
{
	const json_t *text = text_of(result);

	return json_is_string(text) && json_string_length(text) > RESULT_MAX;
}

json_t *sb_resources_shorten(struct sb_mcp *mcp, json_t *result)
{
	json_t *structured = json_object_get(result, "structuredContent"), *text = text_of(result),
	       *shown;
	SB_AUTO_BUF struct sb_buf cut = SB_BUF(RESULT_SHOWN + 256);
	size_t length = RESULT_SHOWN;
	char number[24], uri[80];

	if (!sb_resources_must_shorten(result))
		return result;
	keep(mcp, text, number);
	snprintf(uri, sizeof uri, "sandbash://result/%s", number);
	while (((unsigned char)json_string_value(text)[length] & 0xc0) == 0x80)
		length--;
	sb_buf_append(&cut, json_string_value(text), length);
	sb_buf_printf(&cut, "\n[cut: %zu of %zu bytes; the rest is in the resource %s?offset=%zu]",
		      length, json_string_length(text), uri, length);
	shown = sb_rpc_buf(&cut);
	json_object_set_new(structured, "truncated", json_true());
	json_object_set(structured, "content", shown);
	json_object_set_new(result, "content",
			    json_pack("[{s:s, s:o}, {s:s, s:s, s:s, s:s}]", "type", "text", "text",
				      shown, "type", "resource_link", "uri", uri, "name", "result",
				      "mimeType", "text/plain"));
	return result;
}
