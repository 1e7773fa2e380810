/* tool_write.c - changing: write, edit, delete, move, copy, make directories; asking ahead. */
#include <stdlib.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/escape.h"
#include "guard/guard.h"
#include "mcp/tools/tools.h"
#include "mcp/wire/rpc.h"

/* "Successfully wrote to X", as the reference server says it. */
static json_t *done(const char *before, const char *path, const char *between, const char *second,
		    json_t *more)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(32 * 1024 * 1024);

	sb_buf_printf(&text, "%s%s%s%s", before, path, between, second);
	return sb_tool_said(&text, more);
}

/* Instructions that an agent follows: nobody is asked, but a person should know. */
static void tell(const struct sb_tool_call *call, const char *path, const char *what)
{
	SB_AUTO_BUF struct sb_buf absolute = SB_BUF(64 * 1024), line = SB_BUF(64 * 1024);
	const char *who;

	sb_buf_printf(&absolute, "/%s", path); /* names count, not where they are */
	who = sb_buf_failed(&absolute) ? NULL : sb_guard_told(absolute.data);
	if (!who)
		return;
	sb_buf_putc(&line, '\'');
	sb_escape_puts_name(&line, path);
	sb_buf_printf(&line, "' was %s; %s follows its instructions", what, who);
	if (!sb_buf_failed(&line))
		call->caller->note(call->caller->note_context, line.data);
}

static json_t *change_facts(const struct sb_files_change *change)
{
	return json_pack("{s:o, s:b, s:b, s:s, s:I}", "path", sb_rpc_string(change->path),
			 "created", change->created, "changed", change->changed, "encoding",
			 sb_files_encoding_name(change->encoding), "bytes",
			 (json_int_t)change->bytes);
}

json_t *sb_tool_write(struct sb_tool_call *call)
{
	struct sb_files_write_request request = {
		.size = sizeof request,
		.path = sb_get_text(call->args, "path"),
		.data = sb_get_text(call->args, "content"),
		.length = sb_get_length(call->args, "content"),
	};
	SB_AUTO_CHANGE struct sb_files_change change = {0};

	if (sb_files_write(call->view, call->caller, &request, &change, &call->err) != 0)
		return sb_tool_files_error(&call->err);
	if (change.changed)
		tell(call, request.path, "changed");
	return done("Successfully wrote to ", request.path, "", "", change_facts(&change));
}

/* A fence longer than any in the text. */
static json_t *fenced(const char *diff, size_t length)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(256 * 1024 * 1024);
	size_t longest = 2, streak = 0;

	for (size_t i = 0; i < length; i++) {
		streak = diff[i] == '`' ? streak + 1 : 0;
		if (streak > longest)
			longest = streak;
	}
	for (size_t i = 0; i <= longest; i++)
		sb_buf_putc(&text, '`');
	sb_buf_puts(&text, "diff\n");
	sb_buf_append(&text, diff, length);
	for (size_t i = 0; i <= longest; i++)
		sb_buf_putc(&text, '`');
	sb_buf_puts(&text, "\n\n");
	return sb_rpc_buf(&text);
}

json_t *sb_tool_edit(struct sb_tool_call *call)
{
	const json_t *list = json_object_get(call->args, "edits");
	size_t count = json_array_size(list);
	SB_AUTO_FREE struct sb_files_edit *edits = calloc(count, sizeof *edits);
	struct sb_files_edit_request request = {
		.size = sizeof request,
		.path = sb_get_text(call->args, "path"),
		.edits = edits,
		.edit_count = count,
		.dry_run = sb_get_true(call->args, "dryRun"),
	};
	SB_AUTO_CHANGE struct sb_files_change change = {0};

	for (size_t i = 0; edits && i < count; i++) {
		const json_t *edit = json_array_get(list, i);

		edits[i] = (struct sb_files_edit){
			.old_text = sb_get_text(edit, "oldText"),
			.old_length = sb_get_length(edit, "oldText"),
			.new_text = sb_get_text(edit, "newText"),
			.new_length = sb_get_length(edit, "newText"),
			.occurrence = sb_get_true(edit, "replaceAll") ? SB_FILES_ALL
								      : SB_FILES_THE_ONLY,
			.line = (uint64_t)sb_arg_int(edit, "insertLine", 0),
		};
	}
	if (!edits)
		return sb_tool_failure("NO_MEMORY", "out of memory", "", false, NULL);
	if (sb_files_edit(call->view, call->caller, &request, &change, &call->err) != 0)
		return sb_tool_files_error(&call->err);
	if (change.changed && !request.dry_run)
		tell(call, request.path, "changed");
	return sb_tool_text(fenced(change.diff ? change.diff : "", change.diff_length),
			    change_facts(&change));
}

json_t *sb_tool_delete(struct sb_tool_call *call)
{
	const char *path = sb_get_text(call->args, "path");

	if (sb_files_delete(call->view, call->caller, path, sb_get_true(call->args, "recursive"),
			    &call->err) != 0)
		return sb_tool_files_error(&call->err);
	tell(call, path, "removed");
	return done("Successfully deleted ", path, "", "", NULL);
}

json_t *sb_tool_move(struct sb_tool_call *call)
{
	const char *from = sb_get_text(call->args, "source"),
		   *to = sb_get_text(call->args, "destination");

	if (sb_files_move(call->view, call->caller, from, to, false, &call->err) != 0)
		return sb_tool_files_error(&call->err);
	tell(call, from, "removed");
	tell(call, to, "changed");
	return done("Successfully moved ", from, " to ", to, NULL);
}

json_t *sb_tool_copy(struct sb_tool_call *call)
{
	const char *from = sb_get_text(call->args, "source"),
		   *to = sb_get_text(call->args, "destination");
	unsigned how = (sb_get_true(call->args, "overwrite") ? SB_FILES_REPLACE : 0) |
		       (sb_get_true(call->args, "recursive") ? SB_FILES_RECURSIVE : 0);

	if (sb_files_copy(call->view, call->caller, from, to, how, &call->err) != 0)
		return sb_tool_files_error(&call->err);
	tell(call, to, "changed");
	return done("Successfully copied ", from, " to ", to, NULL);
}

json_t *sb_tool_mkdir(struct sb_tool_call *call)
{
	const char *path = sb_get_text(call->args, "path");
	bool created;

	if (sb_files_mkdir(call->view, call->caller, path, true, &created, &call->err) != 0)
		return sb_tool_files_error(&call->err);
	return done("Successfully created directory ", path, "", "", NULL);
}
