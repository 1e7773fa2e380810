/*
 * tools.c - the table of tools, and their list for the client.
 *
 * The first fourteen have the names, arguments and results of the reference filesystem server,
 * so that it can be swapped for this one.  What they take beyond it is optional.
 */
#include "mcp/tools/tools.h"

#include <string.h>

#include "base/words.h"

#define PATH(help_text)                                                                            \
	{                                                                                          \
		"path", SB_PARAM_PATH, help_text, .required = true                                 \
	}

#define INSIDE SB_TOOL_PATHS
#define LOOKS (SB_TOOL_READS | SB_TOOL_IDEMPOTENT)
#define FROM_TO(least, most) .minimum = (least), .maximum = (most)

static const struct sb_param no_params[] = {{NULL}};
static const struct sb_param path_only[] = {PATH("The file or directory"), {NULL}};

static const struct sb_param read_params[] = {
	PATH("The file to read"),
	{"tail", SB_PARAM_INTEGER, "If provided, returns only the last N lines of the file",
	 FROM_TO(0, 1000000000)},
	{"head", SB_PARAM_INTEGER, "If provided, returns only the first N lines of the file",
	 FROM_TO(0, 1000000000)},
	{"offset", SB_PARAM_INTEGER, "The first line to return, counting from 1; with limit",
	 FROM_TO(1, 1000000000)},
	{"limit", SB_PARAM_INTEGER, "How many lines to return from offset on",
	 FROM_TO(1, 1000000000)},
	{NULL},
};

static const struct sb_param read_many_params[] = {
	{"paths", SB_PARAM_PATHS, "The files to read", .required = true}, {NULL}};

static const struct sb_param write_params[] = {
	PATH("The file to create or overwrite"),
	{"content", SB_PARAM_STRING, "The whole new content, as text", .required = true},
	{NULL},
};

static const struct sb_param edit_params[] = {
	PATH("The file to edit"),
	{"edits", SB_PARAM_EDITS, "Applied in this order, each to the result of those before",
	 .required = true},
	{"dryRun", SB_PARAM_BOOLEAN, "Preview changes using git-style diff format; write nothing"},
	{NULL},
};

static const struct sb_param sizes_params[] = {
	PATH("The directory"),
	{"sortBy", SB_PARAM_STRING, "Sort entries by name or size", .choices = "name size",
	 .fallback = "\"name\""},
	{NULL},
};

static const struct sb_param tree_params[] = {
	PATH("The directory"),
	{"excludePatterns", SB_PARAM_STRINGS, "Glob patterns of what to leave out"},
	{NULL},
};

static const struct sb_param move_params[] = {
	{"source", SB_PARAM_PATH, "What to move", .required = true},
	{"destination", SB_PARAM_PATH, "Its new name; must not exist", .required = true},
	{NULL},
};

static const struct sb_param copy_params[] = {
	{"source", SB_PARAM_PATH, "What to copy", .required = true},
	{"destination", SB_PARAM_PATH, "The name of the copy", .required = true},
	{"overwrite", SB_PARAM_BOOLEAN, "Replace a file that is there"},
	{"recursive", SB_PARAM_BOOLEAN, "Copy a directory with everything in it"},
	{NULL},
};

static const struct sb_param delete_params[] = {
	PATH("The file, symbolic link or directory to delete"),
	{"recursive", SB_PARAM_BOOLEAN, "Delete a directory with everything in it"},
	{NULL},
};

static const struct sb_param search_params[] = {
	PATH("The directory to search in"),
	{"pattern", SB_PARAM_STRING, "A glob, e.g. '**/*.c'", .required = true},
	{"excludePatterns", SB_PARAM_STRINGS, "Globs of what to leave out"},
	{NULL},
};

static const struct sb_param glob_params[] = {
	{"pattern", SB_PARAM_STRING, "A glob relative to path: '*.c', 'src/**/*.{c,h}', '[a-c]?'",
	 .required = true},
	{"path", SB_PARAM_PATH, "Where to start; default: the first allowed directory"},
	{"exclude", SB_PARAM_STRINGS, "Globs of what to leave out"},
	{"sortBy", SB_PARAM_STRING, "name, size (largest first) or time (newest first)",
	 .choices = "name size time", .fallback = "\"name\""},
	{"filesOnly", SB_PARAM_BOOLEAN, "Leave out directories"},
	{"includeIgnored", SB_PARAM_BOOLEAN, "Also what .gitignore files leave out"},
	{"ignoreCase", SB_PARAM_BOOLEAN, "Upper and lower case are the same"},
	{"offset", SB_PARAM_INTEGER, "Skip so many results: the nextOffset of the last page",
	 FROM_TO(0, 100000000), .fallback = "0"},
	{"limit", SB_PARAM_INTEGER, "At most so many results", FROM_TO(1, 10000),
	 .fallback = "1000"},
	{NULL},
};

static const struct sb_param grep_params[] = {
	{"pattern", SB_PARAM_STRING, "A Perl-compatible regular expression", .required = true},
	{"path", SB_PARAM_PATH,
	 "A file, or a directory with everything beneath; default: the "
	 "first allowed directory"},
	{"include", SB_PARAM_STRINGS, "Only files that one of these globs matches"},
	{"exclude", SB_PARAM_STRINGS, "Globs of files to leave out"},
	{"literal", SB_PARAM_BOOLEAN, "The pattern is plain text"},
	{"ignoreCase", SB_PARAM_BOOLEAN, "Upper and lower case are the same"},
	{"word", SB_PARAM_BOOLEAN, "Only whole words"},
	{"includeIgnored", SB_PARAM_BOOLEAN, "Also what .gitignore files leave out"},
	{"filesOnly", SB_PARAM_BOOLEAN, "Only the names of files with a match"},
	{"before", SB_PARAM_INTEGER, "Lines of context before a match", FROM_TO(0, 100),
	 .fallback = "0"},
	{"after", SB_PARAM_INTEGER, "Lines of context after a match", FROM_TO(0, 100),
	 .fallback = "0"},
	{"limitPerFile", SB_PARAM_INTEGER, "At most so many matching lines of one file",
	 FROM_TO(1, 100000)},
	{"limit", SB_PARAM_INTEGER, "At most so many matching lines", FROM_TO(1, 10000),
	 .fallback = "500"},
	{"timeoutMs", SB_PARAM_INTEGER, "Give what was found after so long", FROM_TO(10, 120000),
	 .fallback = "30000"},
	{NULL},
};

static const struct sb_param run_params[] = {
	{"command", SB_PARAM_STRING, "A command line for bash", .required = true},
	{"cwd", SB_PARAM_PATH, "Where to run it; default: the first allowed directory"},
	{"timeoutMs", SB_PARAM_INTEGER, "End it, and all it started, after so long",
	 FROM_TO(10, 86400000), .fallback = "120000"},
	{"background", SB_PARAM_BOOLEAN,
	 "Return at once; see command_status and command_stop (default timeout then: none)"},
	{"stdin", SB_PARAM_STRING, "What the command reads; default: nothing"},
	{"access", SB_PARAM_STRING,
	 "What it may do to files: less than the session's rules is just so, more is asked of the user. "
	 "danger-full-access: no sandbox at all, for this one command, with a reason; always a question, "
	 "and only where the user's configuration lets it be asked",
	 .choices = "read-only workspace-write danger-full-access"},
	{"reason", SB_PARAM_STRING,
	 "With danger-full-access: why, in one sentence for the user, who sees that it is yours"},
	{"writableRoots", SB_PARAM_PATHS,
	 "Directories that it changes. In the allowed directories: only these may change. Others: the "
	 "user is asked to open them to this command"},
	{"network", SB_PARAM_STRING,
	 "off: none but its own loopback; ask: hosts that rules allow, others are asked about; more than "
	 "the session has is asked",
	 .choices = "on ask off"},
	{"askFirst", SB_PARAM_BOOLEAN,
	 "Ask the user once, before it starts, about all that its text shows it would change and that needs "
	 "consent; a yes is for exactly these",
	 .not_worker = true},
	{"outputLimit", SB_PARAM_INTEGER,
	 "Bytes of each stream in the result: the beginning and the end are kept",
	 FROM_TO(200, 1000000), .fallback = "30000"},
	{NULL},
};

static const struct sb_param status_params[] = {
	{"runId", SB_PARAM_STRING, "From run_command; default: list all"},
	{"waitMs", SB_PARAM_INTEGER, "Wait so long for it to end", FROM_TO(0, 600000),
	 .fallback = "0"},
	{"stdoutOffset", SB_PARAM_INTEGER, "Bytes of standard output that were seen before",
	 FROM_TO(0, 1000000000000), .fallback = "0"},
	{"stderrOffset", SB_PARAM_INTEGER, "Bytes of standard error that were seen before",
	 FROM_TO(0, 1000000000000), .fallback = "0"},
	{NULL},
};

static const struct sb_param stop_params[] = {
	{"runId", SB_PARAM_STRING, "From run_command", .required = true}, {NULL}};

static const struct sb_param may_params[] = {
	{"path", SB_PARAM_PATH, "What would happen to calls on this path; default: the policy"},
	{"host", SB_PARAM_STRING, "May a command connect there? As github.com:443"},
	{NULL},
};

static const struct sb_param request_params[] = {
	PATH("What you need to read or change"),
	{"operations", SB_PARAM_WORDS, "What you want to do to it",
	 .choices = "read modify create delete", .required = true},
	{"reason", SB_PARAM_STRING, "Why, in one sentence for the user, who sees that it is yours",
	 .required = true},
	{"kind", SB_PARAM_STRING,
	 "What you would create. Default: file. Links are asked about when they are made",
	 .choices = "file directory"},
	{NULL},
};

static const struct sb_param project_params[] = {
	PATH("The directory"),
	{"reason", SB_PARAM_STRING, "Why, in one sentence for the user, who sees that it is yours"},
	{NULL},
};

#define NUMBER(name, text) "\"" name "\":{\"type\":\"integer\",\"description\":\"" text "\"}"
#define FLAG(name, text) "\"" name "\":{\"type\":\"boolean\",\"description\":\"" text "\"}"
#define WORD(name, text) "\"" name "\":{\"type\":\"string\",\"description\":\"" text "\"}"

/*
 * Each property has one type, never a list of types: clients that know single types only (OpenAPI's
 * subset) drop the constraint, or the tool.  What is not known is left out, not null.
 * Held by: tests/mcp/clients.py, with the Inspector's strict mode.
 *
 * A line for each property, which clang-format would run together.
 */
/* clang-format off */
#define READ_OUTPUT                                                                                \
	"{" WORD("encoding", "Of the file: utf-8, utf-16le, latin-1, ...")                         \
	"," WORD("lineEnds", "none, lf, crlf, cr or mixed")                                        \
	"," NUMBER("firstLine", "Of content")                                                      \
	"," NUMBER("lineCount", "In content")                                                      \
	"," NUMBER("totalLines", "Of the file, if it was read to its end")                         \
	"," NUMBER("fileBytes", "Size of the whole file")                                          \
	"," FLAG("truncated", "There is more behind content")                                      \
	"," NUMBER("nextOffset", "The offset with which to go on") "}"

#define CHANGE_OUTPUT                                                                              \
	"{" WORD("path", "Canonical")                                                              \
	"," FLAG("created", "It did not exist")                                                    \
	"," FLAG("changed", "False: it had this content already")                                  \
	"," WORD("encoding", "Kept from the old file")                                             \
	"," NUMBER("bytes", "Size of the file now") "}"

#define RUN_OUTPUT                                                                                 \
	"{" WORD("runId", "For command_status and command_stop")                                   \
	",\"state\":{\"type\":\"string\",\"enum\":[\"running\",\"exited\",\"failed\"]}"            \
	"," NUMBER("exitCode", "Once it has exited; 128 + N when signal N ended it")               \
	"," FLAG("timedOut", "It was ended because its time was up")                               \
	"," FLAG("stopped", "It was ended on request")                                             \
	"," WORD("stdout", "Standard output: beginning and end")                                   \
	"," WORD("stderr", "Standard error: beginning and end")                                    \
	"," NUMBER("stdoutBytes", "All of it")                                                     \
	"," NUMBER("stderrBytes", "All of it")                                                     \
	"," NUMBER("stdoutOffset", "For the next command_status")                                  \
	"," NUMBER("stderrOffset", "For the next command_status")                                  \
	"," FLAG("truncated", "The middle was left out; the resources have more")                  \
	"," NUMBER("durationMs", "Since its start")                                                \
	"," WORD("session", "For sandbash --log")                                                  \
	"," WORD("attach", "What the user types to be asked, if nobody was")                       \
	"," NUMBER("refusedCount", "Operations that the sandbox refused")                          \
	",\"refused\":{\"type\":\"array\",\"items\":{\"type\":\"object\"},\"description\":"        \
	"\"What the sandbox refused: operation, path, why, and grant: the smallest that would do, as "\
	"arguments of request_access or options for the user\"}"                                   \
	",\"runs\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}}}"

#define AHEAD_OUTPUT                                                                               \
	"{" FLAG("granted", "You may go on")                                                       \
	",\"outcome\":{\"type\":\"string\",\"enum\":[\"granted\",\"denied\",\"nobody\",\"refused\"],"       \
	"\"description\":\"denied: by the user; nobody: nobody was asked; refused: it may not be asked\"}" \
	",\"until\":{\"type\":\"string\",\"enum\":[\"next use\",\"session\",\"rules\"],"                 \
	"\"description\":\"How long it holds; rules: nothing had to be asked\"}"
/* clang-format on */

static const struct sb_tool tools[] = {
	{"read_file", "Read File (Deprecated)",
	 "Read the complete contents of a file as text. DEPRECATED: Use read_text_file instead.",
	 LOOKS, read_params, READ_OUTPUT, SB_TOOL_FILES, sb_tool_read},
	{"read_text_file", "Read Text File",
	 "Read a file as text: all of it, the first (head) or last (tail) N lines, or limit lines "
	 "from line offset on. The encoding is detected (UTF-8, UTF-16, Latin-1). A very large "
	 "result is cut; nextOffset tells where to go on." INSIDE,
	 LOOKS, read_params, READ_OUTPUT, SB_TOOL_FILES, sb_tool_read},
	{"read_media_file", "Read Media File",
	 "Read a file and return it as a base64-encoded content block with its MIME type. Image "
	 "and audio files are returned as image/audio content; any other file type is returned as "
	 "an embedded resource." INSIDE,
	 LOOKS, path_only, NULL, SB_TOOL_FILES, sb_tool_read_media},
	{"read_multiple_files", "Read Multiple Files",
	 "Read several files at once. Each one's content follows its path; a file that cannot be "
	 "read does not stop the others." INSIDE,
	 LOOKS, read_many_params,
	 "{\"files\":{\"type\":\"array\",\"items\":{\"type\":\"object\"},\"description\":"
	 "\"For each path as given: absolutePath and relativePath, or error\"}}",
	 SB_TOOL_FILES, sb_tool_read_many},
	{"write_file", "Write File",
	 "Create a file, or replace all of an existing one, with text. The file is replaced at "
	 "once and keeps its mode, encoding and line ends. Its directory must exist." INSIDE,
	 SB_TOOL_DESTROYS | SB_TOOL_IDEMPOTENT, write_params, CHANGE_OUTPUT, SB_TOOL_FILES,
	 sb_tool_write},
	{"edit_file", "Edit File",
	 "Replace exact pieces of text in a file. Each oldText must be there exactly once (or use "
	 "replaceAll); give enough lines around to make it unique. With insertLine instead of "
	 "oldText, newText is put before that line. All edits are made, or none. Returns a "
	 "git-style diff of the changes made." INSIDE,
	 SB_TOOL_DESTROYS, edit_params, CHANGE_OUTPUT, SB_TOOL_FILES, sb_tool_edit},
	{"create_directory", "Create Directory",
	 "Create a directory, with those above that are missing. One that exists is fine." INSIDE,
	 SB_TOOL_IDEMPOTENT, path_only, NULL, SB_TOOL_FILES, sb_tool_mkdir},
	{"list_directory", "List Directory",
	 "List a directory: one entry a line, with [FILE] or [DIR] before its name." INSIDE, LOOKS,
	 path_only, NULL, SB_TOOL_FILES, sb_tool_list},
	{"list_directory_with_sizes", "List Directory with Sizes",
	 "List a directory with the sizes of its files, and their sum." INSIDE, LOOKS, sizes_params,
	 NULL, SB_TOOL_FILES, sb_tool_list_sizes},
	{"directory_tree", "Directory Tree",
	 "A directory with everything beneath it as JSON: each entry has 'name', 'type' "
	 "(file/directory) and, for directories, 'children'." INSIDE,
	 LOOKS, tree_params, NULL, SB_TOOL_FILES, sb_tool_tree},
	{"move_file", "Move File",
	 "Move or rename a file or directory. The destination must not exist." INSIDE,
	 SB_TOOL_DESTROYS, move_params, NULL, SB_TOOL_FILES, sb_tool_move},
	{"search_files", "Search Files",
	 "Find files and directories whose path relative to 'path' matches a glob: '*.ext' in the "
	 "directory itself, '**/*.ext' in all beneath. Returns full paths." INSIDE,
	 LOOKS, search_params, NULL, SB_TOOL_FILES, sb_tool_search},
	{"get_file_info", "Get File Info",
	 "Size, times, permissions and type of a file or directory." INSIDE, LOOKS, path_only, NULL,
	 SB_TOOL_FILES, sb_tool_info},
	{"list_allowed_directories", "List Allowed Directories",
	 "The directories that can be used without asking the user, with all beneath them.", LOOKS,
	 no_params, NULL, SB_TOOL_KEEPER, sb_tool_allowed},
	{"delete_file", "Delete File",
	 "Delete a file, a symbolic link (not its target) or a directory." INSIDE, SB_TOOL_DESTROYS,
	 delete_params, NULL, SB_TOOL_FILES, sb_tool_delete},
	{"copy_file", "Copy File", "Copy a file, or with recursive a directory." INSIDE,
	 SB_TOOL_DESTROYS | SB_TOOL_IDEMPOTENT, copy_params, NULL, SB_TOOL_FILES, sb_tool_copy},
	{"glob", "Find Files by Name",
	 "Find files by a glob with **, braces and classes. Leaves out what .gitignore files "
	 "ignore. Results come in pages: go on with offset = nextOffset." INSIDE,
	 LOOKS, glob_params,
	 "{\"files\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"description\":"
	 "\"Full paths\"},\"relativeFiles\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},"
	 "\"description\":\"The same, relative to their project root\"}," NUMBER(
		 "nextOffset", "There are more: the offset to go on with") "}",
	 SB_TOOL_FILES, sb_tool_glob},
	{"grep", "Search in Files",
	 "Find lines that match a regular expression, in a file or beneath a directory. Leaves out "
	 "binary files and what .gitignore files ignore." INSIDE,
	 LOOKS, grep_params,
	 "{\"files\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}}," NUMBER("matches", "Matching lines found") "," NUMBER(
		 "filesSearched",
		 "Files looked at") "," FLAG("truncated",
					     "A limit was reached: there may be more") "," FLAG("timedOut",
												"Not everything was searched") "}",
	 SB_TOOL_FILES, sb_tool_grep},
	{"run_command", "Run Command",
	 "Run a command line in a sandbox: " SB_TOOL_REACH
	 ", and what it may not do is refused or asked about while it waits. Output is sent as progress. 'refused' in the result lists what the sandbox "
	 "stopped. Everything the command started ends with it.",
	 SB_TOOL_DESTROYS | SB_TOOL_OPEN_WORLD, run_params, RUN_OUTPUT, SB_TOOL_SERVER, NULL},
	{"command_status", "Command Status",
	 "How a command that run_command started in the background is doing, and its new output.",
	 SB_TOOL_READS, status_params, RUN_OUTPUT, SB_TOOL_SERVER, NULL},
	{"command_stop", "Stop Command", "End a command, and everything it started.",
	 SB_TOOL_DESTROYS | SB_TOOL_IDEMPOTENT, stop_params, RUN_OUTPUT, SB_TOOL_SERVER, NULL},
	{"what_may_i_do", "What May I Do",
	 "The rules you work under and what was granted in this session, in words and as data; with a "
	 "path: what would be allowed, asked about or refused there, and why. Changes nothing and asks "
	 "nobody.",
	 LOOKS, may_params,
	 "{\"policy\":{\"type\":\"object\"},\"decisions\":{\"type\":\"object\"},"
	 "\"grants\":{\"type\":\"array\",\"items\":{\"type\":\"object\"},\"description\":"
	 "\"Answers that hold: path, access, until\"}}",
	 SB_TOOL_KEEPER, sb_tool_may},
	{"request_access", "Request Access",
	 "Ask the user ahead for access to a path that needs their consent, with a reason. Granted once "
	 "it is for the next call or command that does it; granted for the directory, for all of "
	 "them until the session ends.",
	 SB_TOOL_IDEMPOTENT, request_params, AHEAD_OUTPUT "}", SB_TOOL_KEEPER, NULL},
	{"open_project", "Open Project",
	 "Ask the user to open one more directory as a project of this session: file tools and commands "
	 "then work in it as in the others.",
	 SB_TOOL_IDEMPOTENT, project_params,
	 AHEAD_OUTPUT "," WORD("project", "Canonical; where it is open now") "}", SB_TOOL_KEEPER,
	 NULL},
};

#define TOOL_COUNT (sizeof tools / sizeof tools[0])

const struct sb_tool *sb_tool_find(const char *name)
{
	for (size_t i = 0; i < TOOL_COUNT; i++)
		if (strcmp(tools[i].name, name) == 0)
			return &tools[i];
	for (size_t i = 0; sb_git_tools[i].name; i++)
		if (strcmp(sb_git_tools[i].name, name) == 0)
			return &sb_git_tools[i];
	return NULL;
}

static bool is_one_of(const char *const *roots, const char *path)
{
	while (*roots && strcmp(*roots, path) != 0)
		roots++;
	return *roots;
}

int sb_tools_open_view(const struct sb_policy *policy, const char *const *roots,
		       const struct sb_files_options *options, struct sb_files **out,
		       struct sb_files_error *err)
{
	struct sb_files *view;
	int status = sb_files_open(policy, roots, options, &view, err);

	for (size_t i = 0; status == 0 && sb_files_root(view, i); i++)
		if (!is_one_of(roots, sb_files_root(view, i))) {
			sb_files_close(view);
			*err = (struct sb_files_error){
				.code = SB_FILES_CHANGED,
				.person = "an allowed directory was replaced by a link",
				.model = "Put the directory back, or ask the user to."};
			return -SB_FILES_CHANGED;
		}
	if (status == 0)
		*out = view;
	return status;
}

static void keep_note(void *context, const char *line)
{
	struct sb_tool_call *call = context;

	if (!call->notes)
		call->notes = json_array();
	json_array_append_new(call->notes, sb_rpc_string(line));
}

/* Does something with the file that its "path", or "source" and "destination", name? */
static bool has_paths(const struct sb_tool *tool)
{
	if (tool->kind != SB_TOOL_FILES)
		return false;
	for (const struct sb_param *param = tool->params; param->name; param++)
		if (strcmp(param->name, "path") == 0 || strcmp(param->name, "source") == 0)
			return true;
	return false;
}

/* Where it was, into the result: F8 wants the absolute and the relative path in each. */
static void locate(const struct sb_tool *tool, struct sb_tool_call *call, json_t *result)
{
	json_t *structured = json_object_get(result, "structuredContent");
	/* what was removed or moved may have been a link: it is meant itself */
	bool itself = tool->run == sb_tool_delete || tool->run == sb_tool_move;
	const char *source = sb_get_text(call->args, "source"),
		   *destination = sb_get_text(call->args, "destination"),
		   *path = sb_get_text(call->args, "path");

	if (!structured || json_object_get(result, "isError") || call->err.code || !has_paths(tool))
		return;
	if (source)
		sb_tool_put_place(call, structured, source, !itself, "absoluteSource",
				  "relativeSource");
	/* a search may have none, and begins at the root */
	sb_tool_put_place(call, structured,
			  source ? destination
			  : path ? path
				 : ".",
			  !source && !itself, "absolutePath", "relativePath");
}

json_t *sb_tool_run(const struct sb_tool *tool, struct sb_tool_call *call,
		    struct sb_files_caller *caller)
{
	json_t *result, *line;
	size_t i;

	caller->note = keep_note;
	caller->note_context = call;
	call->caller = caller;
	result = tool->run(call);
	locate(tool, call, result);
	/* no option of the server's gives a worker more */
	if (call->worker)
		json_object_del(
			json_object_get(json_object_get(result, "structuredContent"), "error"),
			"allow");
	if (result && call->notes && !json_object_get(result, "isError")) {
		json_array_foreach(call->notes, i, line) json_array_append_new(
			json_object_get(result, "content"),
			json_pack("{s:s, s:O}", "type", "text", "text", line));
		json_object_set(json_object_get(result, "structuredContent"), "notes", call->notes);
	}
	json_decref(call->notes);
	call->notes = NULL;
	return result;
}

/* --- the list ---------------------------------------------------------------------------------- */

static json_t *choices_of(const char *words)
{
	json_t *list = json_array();
	size_t length;

	for (const char *word; (word = sb_words_next(&words, &length));)
		json_array_append_new(list, json_stringn(word, length));
	return list;
}

static json_t *edits_schema(void)
{
	return json_loads(
		"{\"type\":\"array\",\"minItems\":1,\"items\":{\"type\":\"object\",\"properties\":{"
		"\"oldText\":{\"type\":\"string\",\"minLength\":1,\"description\":"
		"\"Text to search for - must match exactly\"},"
		"\"newText\":{\"type\":\"string\",\"description\":\"Text to replace with\"},"
		"\"replaceAll\":{\"type\":\"boolean\",\"default\":false,\"description\":"
		"\"Replace every occurrence\"},"
		"\"insertLine\":{\"type\":\"integer\",\"minimum\":0,\"description\":"
		"\"Instead of oldText: put newText before this line; 0: at the end\"}},"
		"\"required\":[\"newText\"],\"additionalProperties\":false}}",
		0, NULL);
}

static json_t *param_schema(const struct sb_param *param)
{
	json_t *schema;

	switch (param->type) {
	case SB_PARAM_INTEGER:
		schema = json_pack("{s:s, s:I, s:I}", "type", "integer", "minimum",
				   (json_int_t)param->minimum, "maximum",
				   (json_int_t)param->maximum);
		break;
	case SB_PARAM_BOOLEAN:
		schema = json_pack("{s:s, s:b}", "type", "boolean", "default", 0);
		break;
	case SB_PARAM_STRINGS:
	case SB_PARAM_PATHS:
	case SB_PARAM_WORDS:
		schema = json_pack("{s:s, s:{s:s}}", "type", "array", "items", "type", "string");
		if (param->type == SB_PARAM_STRINGS)
			json_object_set_new(schema, "default", json_array());
		else
			json_object_set_new(schema, "minItems", json_integer(1));
		break;
	case SB_PARAM_EDITS:
		schema = edits_schema();
		break;
	default:
		schema = json_pack("{s:s}", "type", "string");
	}
	if (param->choices)
		json_object_set_new(param->type == SB_PARAM_WORDS ? json_object_get(schema, "items")
								  : schema,
				    "enum", choices_of(param->choices));
	if (param->fallback)
		json_object_set_new(schema, "default",
				    json_loads(param->fallback, JSON_DECODE_ANY, NULL));
	json_object_set_new(schema, "description", json_string(param->help));
	return schema;
}

static json_t *input_schema(const struct sb_tool *tool, const struct sb_tool_worker *worker)
{
	json_t *properties = json_object(), *required = json_array();
	json_t *schema = json_pack("{s:s, s:o, s:b}", "type", "object", "properties", properties,
				   "additionalProperties", 0);

	for (const struct sb_param *param = tool->params; param->name; param++) {
		if (worker && param->not_worker)
			continue;
		json_object_set_new(properties, param->name, param_schema(param));
		if (param->required)
			json_array_append_new(required, json_string(param->name));
	}
	if (json_array_size(required))
		json_object_set(schema, "required", required);
	json_decref(required);
	return schema;
}

static void add_path_properties(const struct sb_tool *tool, json_t *properties)
{
	static const char both[] =
		"{" WORD("absolutePath", "Canonical; where there are two, of the destination") "," WORD(
			"relativePath", "Of the same, in its project root") "}";
	static const char source[] =
		"{" WORD("absoluteSource", "Canonical; of the source") "," WORD(
			"relativeSource", "Of the same, in its project root") "}";
	json_t *more = json_loads(both, 0, NULL);

	json_object_update(properties, more);
	json_decref(more);
	if (tool->run == sb_tool_move || tool->run == sb_tool_copy) {
		more = json_loads(source, 0, NULL);
		json_object_update(properties, more);
		json_decref(more);
	}
}

/*
 * "content" is always there, "error" when the call failed: clients hold the structured content
 * of a failed call against this schema too.
 */
static json_t *output_schema(const struct sb_tool *tool)
{
	json_t *more = tool->output ? json_loads(tool->output, 0, NULL) : NULL;
	json_t *properties = json_loads(
		"{\"content\":{\"type\":\"string\",\"description\":\"The result as text\"},"
		"\"notes\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},"
		"\"description\":\"What the user should look at\"},"
		"\"error\":{\"type\":\"object\",\"description\":\"Only when the call failed\","
		"\"properties\":{\"code\":{\"type\":\"string\"},\"person\":{\"type\":\"string\"},"
		"\"model\":{\"type\":\"string\"},\"violation\":{\"type\":\"boolean\"},"
		"\"path\":{\"type\":\"string\"},\"given\":{\"type\":\"string\"},"
		"\"root\":{\"type\":\"string\"},\"operation\":{\"type\":\"string\"},"
		"\"rule\":{\"type\":\"string\"},\"allow\":{\"type\":\"string\"}},"
		"\"required\":[\"code\",\"person\",\"model\",\"violation\"]}}",
		0, NULL);

	if (tool->run == sb_tool_read_media)
		json_object_set_new(
			properties, "content",
			json_loads("{\"type\":\"array\",\"items\":{\"type\":\"object\"}}", 0,
				   NULL));
	json_object_update(properties, more);
	json_decref(more);
	if (has_paths(tool))
		add_path_properties(tool, properties);
	return json_pack("{s:s, s:o, s:[s]}", "type", "object", "properties", properties,
			 "required", "content");
}

static json_t *describe(const struct sb_tool *tool, const struct sb_tool_worker *worker)
{
	return json_pack("{s:s, s:s, s:s, s:o, s:o, s:{s:s, s:b, s:b, s:b, s:b}}", "name",
			 tool->name, "title", tool->title, "description", tool->description,
			 "inputSchema", input_schema(tool, worker), "outputSchema",
			 output_schema(tool), "annotations", "title", tool->title, "readOnlyHint",
			 (tool->hints & SB_TOOL_READS) != 0, "destructiveHint",
			 (tool->hints & SB_TOOL_DESTROYS) != 0, "idempotentHint",
			 (tool->hints & SB_TOOL_IDEMPOTENT) != 0, "openWorldHint",
			 (tool->hints & SB_TOOL_OPEN_WORLD) != 0);
}

json_t *sb_tools_list(const struct sb_tool_worker *worker, bool git)
{
	json_t *list = json_array(), *one;
	size_t at;

	for (size_t i = 0; i < TOOL_COUNT; i++)
		if (sb_tool_worker_has(worker, &tools[i]))
			json_array_append_new(list, describe(&tools[i], worker));
	for (size_t i = 0; git && sb_git_tools[i].name; i++)
		json_array_append_new(list, describe(&sb_git_tools[i], worker));
	json_array_foreach(list, at, one) if (worker) sb_tool_worker_describe(one);
	return json_pack("{s:o}", "tools", list);
}
