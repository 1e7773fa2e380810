/*
 * agent.c - the four agents, their tools, and the form of an event and its answer.
 */
#include "agent/agent.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/json.h"

struct tool {
	const char *name;
	enum sb_tool_kind kind;
	const char *target;   /* the argument that counts ... */
	const char *other;    /* ... or, in other versions, this one */
	const char *contents; /* SB_TOOL_WRITE: the argument that is the whole new file */
	bool optional; /* it may be left out: nothing is run, or it is the current directory */
	struct sb_tool_search search;
};

#define CHOOSES(...) .search = {.looks = true, .chooses = true, .patterns = {__VA_ARGS__}}
#define LOOKS(...) .search = {.looks = true, .patterns = {__VA_ARGS__}}

/*
 * Names and arguments as the agents' own programs have them (claude-code 2.1, codex 0.169,
 * gemini-cli 0.61, opencode 1.18), and those of earlier versions that did the same.
 */
static const struct tool claude_tools[] = {
	{"Bash", SB_TOOL_SHELL, "command"},
	{"Monitor", SB_TOOL_SHELL, "command", .optional = true},
	{"PowerShell", SB_TOOL_REFUSE},
	{"Edit", SB_TOOL_WRITE, "file_path"},
	{"MultiEdit", SB_TOOL_WRITE, "file_path"},
	{"Write", SB_TOOL_WRITE, "file_path", .contents = "content"},
	{"NotebookEdit", SB_TOOL_WRITE, "notebook_path"},
	{"Read", SB_TOOL_READ, "file_path"},
	{"NotebookRead", SB_TOOL_READ, "notebook_path"},
	{"LSP", SB_TOOL_READ, "filePath", .optional = true},
	{"Glob", SB_TOOL_READ, "path", .optional = true, CHOOSES("pattern")},
	{"Grep", SB_TOOL_READ, "path", .optional = true, LOOKS("glob")},
	{"LS", SB_TOOL_READ, "path", .optional = true, LOOKS(NULL)},
	{NULL},
};

/* The shell tools of all versions call themselves Bash here. */
static const struct tool codex_tools[] = {
	{"Bash", SB_TOOL_SHELL, "command"},
	{"shell", SB_TOOL_SHELL, "command"},
	{"local_shell", SB_TOOL_SHELL, "command"},
	{"shell_command", SB_TOOL_SHELL, "command"},
	{"exec_command", SB_TOOL_SHELL, "cmd", "command"},
	{"js_repl", SB_TOOL_REFUSE},
	{"apply_patch", SB_TOOL_PATCH, "command", "input"},
	{"view_image", SB_TOOL_READ, "path"},
	{"read_file", SB_TOOL_READ, "file_path"},
	{"list_dir", SB_TOOL_READ, "dir_path", .optional = true, LOOKS(NULL)},
	{"grep_files", SB_TOOL_READ, "path", .optional = true, LOOKS("include")},
	{NULL},
};

static const struct tool gemini_tools[] = {
	{"run_shell_command", SB_TOOL_SHELL, "command"},
	{"write_file", SB_TOOL_WRITE, "file_path", .contents = "content"},
	{"replace", SB_TOOL_WRITE, "file_path"},
	{"edit", SB_TOOL_WRITE, "file_path"},
	{"read_file", SB_TOOL_READ, "file_path", "absolute_path"},
	{"list_directory", SB_TOOL_READ, "dir_path", "path", .optional = true},
	{"read_many_files", SB_TOOL_READ, CHOOSES("include", "paths")},
	{"glob", SB_TOOL_READ, "dir_path", "path", .optional = true, CHOOSES("pattern")},
	{"grep_search", SB_TOOL_READ, "dir_path", "path", .optional = true,
	 LOOKS("include", "include_pattern")},
	{"search_file_content", SB_TOOL_READ, "dir_path", "path", .optional = true,
	 LOOKS("include", "include_pattern")},
	{NULL},
};

static const struct tool opencode_tools[] = {
	{"bash", SB_TOOL_SHELL, "command"},
	{"edit", SB_TOOL_WRITE, "filePath"},
	{"multiedit", SB_TOOL_WRITE, "filePath"},
	{"write", SB_TOOL_WRITE, "filePath", .contents = "content"},
	{"patch", SB_TOOL_PATCH, "patchText"},
	{"apply_patch", SB_TOOL_PATCH, "patchText"},
	{"read", SB_TOOL_READ, "filePath"},
	{"lsp", SB_TOOL_READ, "filePath", .optional = true},
	{"list", SB_TOOL_READ, "path", .optional = true, LOOKS(NULL)},
	{"glob", SB_TOOL_READ, "path", .optional = true, CHOOSES("pattern")},
	{"grep", SB_TOOL_READ, "path", .optional = true, LOOKS("include")},
	{NULL},
};

/* How the answer looks. */
enum form {
	FORM_UPDATED,       /* hookSpecificOutput.updatedInput, without a decision */
	FORM_UPDATED_ALLOW, /* codex wants "allow" beside it, and still asks its own question */
	FORM_TOOL_INPUT,    /* hookSpecificOutput.tool_input; decision and reason at the top */
	FORM_OWN,           /* our own plugin: {"tool_input": ...} or {"deny": ...} */
};

struct sb_agent {
	const char *name, *event;
	enum form form;
	bool wanders; /* the model may have a command run in a directory that is not the event's */
	const struct tool *tools;
};

static const struct sb_agent agents[] = {
	{"claude", "PreToolUse", FORM_UPDATED, false, claude_tools},
	{"codex", "PreToolUse", FORM_UPDATED_ALLOW, true, codex_tools},
	{"gemini", "BeforeTool", FORM_TOOL_INPUT, true, gemini_tools},
	{"opencode", "tool.execute.before", FORM_OWN, true, opencode_tools},
};

const struct sb_agent *sb_agent_find(const char *name)
{
	for (size_t i = 0; i < sizeof agents / sizeof agents[0]; i++)
		if (strcmp(agents[i].name, name) == 0)
			return &agents[i];
	return NULL;
}

const char *sb_agent_name(const struct sb_agent *agent)
{
	return agent->name;
}

/* --- events --------------------------------------------------------------------------------- */

static int not_understood(struct sb_error *err, const char *agent, const char *what)
{
	return sb_fail(err, SB_E_INVALID, 0, "this is no event of %s's that sandbash knows: %s",
		       agent, what);
}

static const struct tool *find_tool(const struct sb_agent *agent, const char *name)
{
	for (const struct tool *tool = agent->tools; tool->name; tool++)
		if (strcmp(tool->name, name) == 0)
			return tool;
	return NULL;
}

/* What a known tool is to do. */
static int take_input(const struct tool *tool, struct sb_tool_event *event, struct sb_error *err)
{
	const struct sb_json_text *doc = &event->doc;
	size_t found;

	event->input = sb_json_text_member(doc, SB_JSON_ROOT, "tool_input");
	if (!event->input || doc->values[event->input].kind != '{')
		return not_understood(err, event->agent->name, "no tool_input");
	if (!tool->target)
		return SB_OK;
	found = sb_json_text_member(doc, event->input, tool->target);
	/* both at once: which of them the tool takes is not for us to guess */
	if (tool->other && sb_json_text_member(doc, event->input, tool->other)) {
		if (found)
			return not_understood(err, event->agent->name, "one argument too many");
		found = sb_json_text_member(doc, event->input, tool->other);
	}
	if (!found && tool->optional)
		return SB_OK;
	event->text = found ? sb_json_text_string(doc, found) : NULL;
	if (!event->text)
		return not_understood(err, event->agent->name,
				      "what the tool is to do is missing, or no text");
	if (tool->optional && !*event->text) { /* to JavaScript, "" is nothing */
		free(event->text);
		event->text = NULL;
		return SB_OK;
	}
	event->target = found;
	if (tool->contents) {
		event->contents = sb_json_text_member(doc, event->input, tool->contents);
		if (doc->values[event->contents].kind != '"')
			event->contents = 0;
	}
	return SB_OK;
}

static int take(struct sb_tool_event *event, struct sb_error *err)
{
	const struct sb_json_text *doc = &event->doc;
	const char *agent = event->agent->name;
	const struct tool *tool;

	if (!sb_json_text_is(doc, sb_json_text_member(doc, SB_JSON_ROOT, "hook_event_name"),
			     event->agent->event))
		return not_understood(err, agent, "another hook_event_name, or none");
	event->tool = sb_json_text_string(doc, sb_json_text_member(doc, SB_JSON_ROOT, "tool_name"));
	if (!event->tool || !*event->tool)
		return not_understood(err, agent, "no tool_name");
	event->cwd = sb_json_text_string(doc, sb_json_text_member(doc, SB_JSON_ROOT, "cwd"));
	if (!event->cwd || event->cwd[0] != '/')
		return not_understood(err, agent, "no cwd");
	tool = find_tool(event->agent, event->tool);
	event->kind = tool ? tool->kind : SB_TOOL_OTHER;
	event->search = tool ? tool->search : (struct sb_tool_search){0};
	return tool ? take_input(tool, event, err) : SB_OK;
}

int sb_tool_event_read(const struct sb_agent *agent, const char *text, size_t length,
		       struct sb_tool_event *out, struct sb_error *err)
{
	struct sb_tool_event event = {.agent = agent};
	int status = sb_json_text_read(text, length, SB_JSON_STRICT, &event.doc, err);

	if (status == SB_OK)
		status = take(&event, err);
	if (status != SB_OK) {
		sb_tool_event_done(&event);
		return status;
	}
	*out = event;
	return SB_OK;
}

void sb_tool_event_done(struct sb_tool_event *event)
{
	if (!event)
		return;
	sb_json_text_done(&event->doc);
	free(event->tool);
	free(event->cwd);
	free(event->text);
	*event = (struct sb_tool_event){0};
}

void sb_tool_event_sample(const struct sb_agent *agent, const char *cwd, const char *command,
			  struct sb_buf *out)
{
	struct sb_json json;

	sb_json_init_compact(&json, out);
	sb_json_open(&json, '{');
	sb_json_pair(&json, "hook_event_name", agent->event);
	sb_json_pair(&json, "tool_name", agent->tools[0].name); /* the shell comes first */
	sb_json_pair(&json, "cwd", cwd);
	sb_json_open_at(&json, "tool_input", '{');
	sb_json_pair(&json, agent->tools[0].target, command);
	sb_json_close(&json, '}');
	sb_json_close(&json, '}');
}

/* --- commands ------------------------------------------------------------------------------- */

static void put_quoted(struct sb_buf *out, const char *text, size_t length)
{
	sb_buf_putc(out, '\'');
	for (size_t i = 0; i < length; i++) {
		if (text[i] == '\'')
			sb_buf_puts(out, "'\\''");
		else
			sb_buf_putc(out, text[i]);
	}
	sb_buf_putc(out, '\'');
}

void sb_agent_quote(struct sb_buf *out, const char *text, size_t length)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-+=./:,@%";

	if (length && strspn(text, plain) == length)
		sb_buf_append(out, text, length);
	else
		put_quoted(out, text, length);
}

#define GO_THERE "cd -- \"$1\" && shift || exit; "

/* What stands before the quoted command, and behind it. */
static void around(const struct sb_tool_event *event, const char *program,
		   const char *const *options, struct sb_buf *before, const char **behind)
{
	bool wanders = event->agent->wanders;

	if (wanders) {
		sb_buf_puts(before, "(cd -- ");
		sb_agent_quote(before, event->cwd, strlen(event->cwd));
		sb_buf_puts(before, " && exec ");
	}
	sb_agent_quote(before, program, strlen(program));
	for (size_t i = 0; options && options[i]; i++) {
		sb_buf_putc(before, ' ');
		sb_agent_quote(before, options[i], strlen(options[i]));
	}
	sb_buf_puts(before, " -- bash -c ");
	*behind = wanders ? " bash \"$OLDPWD\")" : "";
}

static void wrap(const struct sb_tool_event *event, const struct sb_buf *before, const char *behind,
		 const char *command, size_t length, struct sb_buf *out)
{
	SB_AUTO_BUF struct sb_buf script = SB_BUF(SB_TOOL_EVENT_LIMIT);

	if (event->agent->wanders)
		sb_buf_puts(&script, GO_THERE);
	sb_buf_append(&script, command, length);
	out->failed |= sb_buf_failed(&script);
	sb_buf_append(out, before->data, before->length);
	/* always quoted, also where a bare word would do: one form is easier to know again */
	put_quoted(out, script.data, script.length);
	sb_buf_puts(out, behind);
}

/* What is between before and behind, its quotes taken off; false: it is not quoted like ours. */
static bool unwrap(const struct sb_tool_event *event, const struct sb_buf *before,
		   const char *behind, struct sb_buf *out)
{
	const char *text = event->text;
	size_t length = strlen(text), tail = strlen(behind);
	size_t go = event->agent->wanders ? strlen(GO_THERE) : 0;

	if (length < before->length + tail + 2 || memcmp(text, before->data, before->length) != 0)
		return false;
	for (size_t i = before->length + 1; i < length - tail - 1;) {
		if (strncmp(text + i, "'\\''", 4) == 0) {
			sb_buf_putc(out, '\'');
			i += 4;
		} else {
			sb_buf_putc(out, text[i++]);
		}
	}
	if (sb_buf_failed(out) || out->length < go || memcmp(out->data, GO_THERE, go) != 0)
		return false;
	memmove(out->data, out->data + go, out->length - go + 1);
	out->length -= go;
	return true;
}

/*
 * SECURITY: a command that was wrapped before (a second hook, a replayed call) need not be
 * wrapped again, but the model writes commands, too, and knows the form.
 *
 * Danger: "sandbash --disable-sandbox -- sh" or "sandbash -- bash -c 'true'; evil" taken for
 * ours. So nothing is looked for in the text: what may be the inner command is wrapped once more,
 * with this run's own options, and only the very same bytes count as ours.  What they run is
 * confined. Price: none; what does not match runs in two sandboxes, one in the other. Held by:
 * tests/cli/hook.py
 */
void sb_agent_wrap(const struct sb_tool_event *event, const char *program,
		   const char *const *options, struct sb_buf *out)
{
	SB_AUTO_BUF struct sb_buf before = SB_BUF(SB_TOOL_EVENT_LIMIT);
	SB_AUTO_BUF struct sb_buf inner = SB_BUF(SB_TOOL_EVENT_LIMIT);
	const char *behind;

	around(event, program, options, &before, &behind);
	if (sb_buf_failed(&before)) {
		out->failed = true;
		return;
	}
	if (unwrap(event, &before, behind, &inner)) {
		SB_AUTO_BUF struct sb_buf again = SB_BUF(SB_TOOL_EVENT_LIMIT * 5UL);

		wrap(event, &before, behind, inner.data, inner.length, &again);
		if (!sb_buf_failed(&again) && strcmp(again.data, event->text) == 0) {
			sb_buf_puts(out, event->text);
			return;
		}
	}
	wrap(event, &before, behind, event->text, strlen(event->text), out);
}

/* --- answers -------------------------------------------------------------------------------- */

void sb_answer_pass(const struct sb_tool_event *event, struct sb_buf *out)
{
	(void)event;
	sb_buf_puts(out, "{}\n");
}

/* The arguments as they came, but for the one. */
static void put_input(const struct sb_tool_event *event, const char *command, size_t length,
		      struct sb_buf *out)
{
	const struct sb_json_place *input = &event->doc.values[event->input];
	const struct sb_json_place *target = &event->doc.values[event->target];
	const char *text = event->doc.text;
	struct sb_json json;

	sb_buf_append(out, text + input->start, target->start - input->start);
	sb_json_init_compact(&json, out);
	sb_json_bytes(&json, command, length);
	sb_buf_append(out, text + target->end, input->end - target->end);
}

void sb_answer_command(const struct sb_tool_event *event, const char *command, size_t length,
		       struct sb_buf *out)
{
	static const char *const before[] = {
		[FORM_UPDATED] = "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\","
				 "\"updatedInput\":",
		[FORM_UPDATED_ALLOW] = "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\","
				       "\"permissionDecision\":\"allow\",\"updatedInput\":",
		[FORM_TOOL_INPUT] = "{\"hookSpecificOutput\":{\"hookEventName\":\"BeforeTool\","
				    "\"tool_input\":",
		[FORM_OWN] = "{\"tool_input\":",
	};

	sb_buf_puts(out, before[event->agent->form]);
	put_input(event, command, length, out);
	sb_buf_puts(out, event->agent->form == FORM_OWN ? "}\n" : "}}\n");
}

void sb_answer_deny(const struct sb_tool_event *event, const char *reason, struct sb_buf *out)
{
	struct sb_json json;

	sb_json_init_compact(&json, out);
	sb_json_open(&json, '{');
	switch (event->agent->form) {
	case FORM_UPDATED:
	case FORM_UPDATED_ALLOW:
		sb_json_open_at(&json, "hookSpecificOutput", '{');
		sb_json_pair(&json, "hookEventName", event->agent->event);
		sb_json_pair(&json, "permissionDecision", "deny");
		sb_json_pair(&json, "permissionDecisionReason", reason);
		sb_json_close(&json, '}');
		break;
	case FORM_TOOL_INPUT:
		sb_json_pair(&json, "decision", "deny");
		sb_json_pair(&json, "reason", reason);
		break;
	case FORM_OWN:
		sb_json_pair(&json, "deny", reason);
		break;
	}
	sb_json_close(&json, '}');
}
