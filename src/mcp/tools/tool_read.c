/* tool_read.c - reading: text, media, several files at once. */
#include <ctype.h>
#include <string.h>

#include "base/auto.h"
#include "base/escape.h"
#include "base/buf.h"
#include "mcp/tools/tools.h"
#include "mcp/wire/rpc.h"

#define READ_MANY_MAX (64 * 1024 * 1024) /* of all files together */

static json_t *read_facts(const struct sb_files_text *text)
{
	json_t *facts = json_pack("{s:s, s:s, s:I, s:b}", "encoding",
				  sb_files_encoding_name(text->encoding), "lineEnds",
				  sb_files_eol_name(text->eol), "fileBytes",
				  (json_int_t)text->file_bytes, "truncated", text->truncated);

	if (text->first_line) {
		json_object_set_new(facts, "firstLine", json_integer((json_int_t)text->first_line));
		json_object_set_new(facts, "lineCount", json_integer((json_int_t)text->line_count));
		if (text->truncated)
			json_object_set_new(facts, "nextOffset",
					    json_integer((json_int_t)text->first_line +
							 (json_int_t)text->line_count));
	}
	if (text->total_lines)
		json_object_set_new(facts, "totalLines",
				    json_integer((json_int_t)text->total_lines));
	return facts;
}

json_t *sb_tool_read(struct sb_tool_call *call)
{
	long offset = sb_arg_int(call->args, "offset", 0),
	     limit = sb_arg_int(call->args, "limit", 0);
	struct sb_files_read_request request = {
		.size = sizeof request,
		.path = sb_get_text(call->args, "path"),
		.head = (uint64_t)sb_arg_int(call->args, "head", 0),
		.tail = (uint64_t)sb_arg_int(call->args, "tail", 0),
		.first_line = (uint64_t)(limit && !offset ? 1 : offset),
		.line_count = (uint64_t)limit,
		.cut = true,
	};
	SB_AUTO_TEXT struct sb_files_text text = {0};

	if ((request.head != 0) + (request.tail != 0) + (request.first_line != 0) > 1)
		return sb_tool_failure(
			"INVALID_ARGUMENT",
			"Cannot specify both head and tail parameters simultaneously",
			"Use one of: head, tail, offset with limit.", false, NULL);
	if (sb_files_read(call->view, call->caller, &request, &text, &call->err) != 0)
		return sb_tool_files_error(&call->err);
	return sb_tool_text(sb_rpc_text(text.data, text.length), read_facts(&text));
}

json_t *sb_tool_read_many(struct sb_tool_call *call)
{
	const json_t *paths = json_object_get(call->args, "paths");
	SB_AUTO_BUF struct sb_buf all = SB_BUF(READ_MANY_MAX);
	json_t *files = json_array();
	size_t i;
	json_t *path;

	json_array_foreach(paths, i, path)
	{
		const char *name = json_string_value(path);
		struct sb_files_read_request request = {
			.size = sizeof request, .path = name, .cut = true};
		SB_AUTO_TEXT struct sb_files_text text = {0};
		struct sb_files_error err;

		if (i)
			sb_buf_puts(&all, "\n---\n");
		if (sb_files_read(call->view, call->caller, &request, &text, &err) == 0) {
			sb_buf_printf(&all, "%s:\n", name);
			json_array_append_new(files, sb_tool_where(call, name));
			sb_buf_append(&all, text.data, text.length);
			sb_buf_puts(&all, text.truncated ? "\n[cut: use read_text_file]\n" : "\n");
		} else {
			/* the first question stops the call; repeated, it goes on from there */
			if (err.code == SB_FILES_NEEDS_CONSENT && !err.violation && !call->err.code)
				call->err = err;
			sb_buf_printf(&all, "%s: Error - %s", name, err.person);
			json_array_append_new(files,
					      json_pack("{s:o, s:s}", "given", sb_rpc_string(name),
							"error", sb_files_code_name(err.code)));
		}
	}
	if (sb_buf_failed(&all)) {
		json_decref(files);
		return sb_tool_failure("TOO_LARGE", "the files are too large together",
				       "Read fewer of them at once.", false, NULL);
	}
	return sb_tool_said(&all, json_pack("{s:o}", "files", files));
}

/* --- media -------------------------------------------------------------------------------------- */

static const char *mime_of(const char *path)
{
	static const struct {
		const char *ending, *type;
	} types[] = {
		{"png", "image/png"},     {"jpg", "image/jpeg"},  {"jpeg", "image/jpeg"},
		{"gif", "image/gif"},     {"webp", "image/webp"}, {"bmp", "image/bmp"},
		{"svg", "image/svg+xml"}, {"mp3", "audio/mpeg"},  {"wav", "audio/wav"},
		{"ogg", "audio/ogg"},     {"flac", "audio/flac"},
	};
	const char *dot = strrchr(path, '.');

	for (size_t i = 0; dot && i < sizeof types / sizeof types[0]; i++)
		if (strcasecmp(dot + 1, types[i].ending) == 0)
			return types[i].type;
	return "application/octet-stream";
}

static json_t *base64(const char *bytes, size_t length)
{
	SB_AUTO_BUF struct sb_buf out = SB_BUF(length / 3 * 4 + 8);

	sb_base64_append(&out, bytes, length);
	return sb_buf_failed(&out) ? NULL : json_stringn_nocheck(out.data, out.length);
}

static json_t *file_uri(const char *path)
{
	SB_AUTO_BUF struct sb_buf uri = SB_BUF(4 * PATH_MAX);

	sb_buf_puts(&uri, "file://");
	for (const char *c = path; *c; c++)
		if (isalnum((unsigned char)*c) || strchr("/-._~!$&'()*+,;=:@", *c))
			sb_buf_putc(&uri, *c);
		else
			sb_buf_printf(&uri, "%%%02X", (unsigned char)*c);
	return json_stringn(uri.data, uri.length);
}

json_t *sb_tool_read_media(struct sb_tool_call *call)
{
	struct sb_files_read_request request = {
		.size = sizeof request, .path = sb_get_text(call->args, "path"), .raw = true};
	SB_AUTO_TEXT struct sb_files_text text = {0};
	const char *mime;
	json_t *block, *data, *result;

	if (sb_files_read(call->view, call->caller, &request, &text, &call->err) != 0) {
		result = sb_tool_files_error(&call->err);
		json_object_set_new(json_object_get(result, "structuredContent"), "content",
				    json_array());
		return result;
	}
	mime = mime_of(text.path);
	data = base64(text.data, text.length);
	if (strncmp(mime, "image/", 6) == 0 || strncmp(mime, "audio/", 6) == 0)
		block = json_pack("{s:s#, s:o, s:s}", "type", mime, 5, "data", data, "mimeType",
				  mime);
	else
		block = json_pack("{s:s, s:{s:o, s:s, s:o}}", "type", "resource", "resource", "uri",
				  file_uri(text.path), "mimeType", mime, "blob", data);
	return json_pack("{s:[O], s:{s:[o]}}", "content", block, "structuredContent", "content",
			 block);
}
