/*
 * result.c - what a tool call answers: text for the model, the same as data, and F4's errors.
 */
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/escape.h"
#include "mcp/tools/tools.h"
#include "mcp/wire/rpc.h"
#include "path/pattern.h"

json_t *sb_tool_text(json_t *text, json_t *more)
{
	json_t *structured = more ? more : json_object();

	json_object_set(structured, "content", text);
	return json_pack("{s:[{s:s, s:o}], s:o}", "content", "type", "text", "text", text,
			 "structuredContent", structured);
}

json_t *sb_tool_said(const struct sb_buf *text, json_t *more)
{
	return sb_tool_text(sb_rpc_buf(text), more);
}

json_t *sb_tool_failure(const char *code, const char *person, const char *model, bool violation,
			json_t *more)
{
	json_t *error = json_pack("{s:s, s:o, s:o, s:b}", "code", code, "person",
				  sb_rpc_string(person), "model", sb_rpc_string(model), "violation",
				  violation);
	char text[3000];
	json_t *content;

	snprintf(text, sizeof text, "%s: %s%s%s", code, person, model[0] ? "\n" : "", model);
	content = sb_rpc_string(text);
	json_object_update(error, more);
	json_decref(more);
	return json_pack("{s:[{s:s, s:O}], s:{s:o, s:o}, s:b}", "content", "type", "text", "text",
			 content, "structuredContent", "content", content, "error", error,
			 "isError", 1);
}

/*
 * What allows it: an option of the server (C4).  For the path itself and no more; a rule in the
 * configuration would count only in the directory in which it was written.
 */
static json_t *way_out(const struct sb_files_error *err)
{
	SB_AUTO_FREE char *pattern = sb_pattern_escape(err->path);
	SB_AUTO_BUF struct sb_buf option = SB_BUF(32 * 1024);
	SB_AUTO_BUF struct sb_buf words = SB_BUF(64 * 1024);

	if (!pattern)
		return NULL;
	sb_buf_printf(&option, "%s=%s", err->op == SB_READ ? "--allow-read" : "--allow-write",
		      pattern);
	if (sb_buf_failed(&option))
		return NULL;
	sb_buf_puts(&words, "sandbash --mcp ");
	sb_shell_quote(&words, option.data);
	return sb_buf_failed(&words) ? NULL : sb_rpc_buf(&words);
}

static bool is_refusal(enum sb_files_code code)
{
	return code >= SB_FILES_PATH_OUTSIDE_PROJECT && code <= SB_FILES_NEEDS_CONSENT;
}

json_t *sb_tool_files_error(const struct sb_files_error *err)
{
	json_t *more = json_object();

	if (is_refusal(err->code) && err->path[0]) {
		json_object_set_new(more, "path", sb_rpc_string(err->path));
		sb_put_text(more, "given", err->given);
		sb_put_text(more, "root", err->root);
		json_object_set_new(more, "operation", json_string(sb_op_name(err->op)));
		sb_put_text(more, "rule", err->rule);
		/* no rule opens what is made up by the kernel, or a command's own: gate.c */
		if ((err->code == SB_FILES_PATH_OUTSIDE_PROJECT && err->allowable) ||
		    err->code == SB_FILES_NEEDS_CONSENT)
			json_object_set_new(more, "allow", way_out(err));
	}
	return sb_tool_failure(sb_files_code_name(err->code), err->person, err->model,
			       err->violation, more);
}

void sb_tool_put_place(struct sb_tool_call *call, json_t *facts, const char *given, bool follow,
		       const char *absolute, const char *relative)
{
	char path[PATH_MAX], inside[PATH_MAX];

	if (sb_files_locate(call->view, given, follow, path, inside, NULL) != 0)
		return;
	json_object_set_new(facts, absolute, sb_rpc_string(path));
	sb_put_text(facts, relative, inside);
}

json_t *sb_tool_where(struct sb_tool_call *call, const char *given)
{
	json_t *facts = json_pack("{s:o}", "given", sb_rpc_string(given));

	sb_tool_put_place(call, facts, given, true, "absolutePath", "relativePath");
	return facts;
}

json_t *sb_tool_sb_error(const struct sb_error *err)
{
	char person[1400];

	snprintf(person, sizeof person, "%s%s%s", err->message, err->sys_errno ? ": " : "",
		 err->sys_errno ? strerror(err->sys_errno) : "");
	return sb_tool_failure(err->code == SB_E_INVALID ? "INVALID_ARGUMENT"
							 : sb_code_name(err->code),
			       person, err->hint, false, NULL);
}
