/*
 * tools.h - what a model can call: one table, from which the list, the schemas and the checks
 * of arguments all come.
 *
 * A file tool is a function over a view (sandbash/files.h).  It is the same function in the
 * confined server and in the process that the keeper starts for an approved operation; only the
 * view and its consent callback differ.  Other tools belong to the server (runs, resources).
 */
#ifndef SB_MCP_TOOLS_TOOLS_H
#define SB_MCP_TOOLS_TOOLS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "mcp/tools/tool_worker.h"
#include "mcp/wire/rpc.h"
#include "sandbash/files.h"

enum sb_param_type {
	SB_PARAM_PATH,   /* a string without NUL, not empty */
	SB_PARAM_STRING, /* any text */
	SB_PARAM_INTEGER,
	SB_PARAM_BOOLEAN,
	SB_PARAM_STRINGS,
	SB_PARAM_PATHS, /* at least one */
	SB_PARAM_WORDS, /* at least one of its choices */
	SB_PARAM_EDITS, /* [{oldText, newText, ...}] */
};

struct sb_param {
	const char *name; /* NULL ends the list */
	enum sb_param_type type;
	const char *help;
	bool required;
	const char *choices; /* of a string: words separated by blanks; or NULL */
	long minimum, maximum;
	const char
		*fallback; /* the default as JSON text, for the schema; NULL: false, [] or none */
	bool not_worker;   /* a worker's tool does not have it */
};

enum sb_tool_hint {
	SB_TOOL_READS = 1,      /* changes nothing */
	SB_TOOL_DESTROYS = 2,   /* may overwrite or remove */
	SB_TOOL_IDEMPOTENT = 4, /* twice is as once */
	SB_TOOL_OPEN_WORLD = 8, /* reaches beyond the files */
};

enum sb_tool_kind {
	SB_TOOL_FILES,  /* run() on a view, in a worker */
	SB_TOOL_KEEPER, /* the keeper's: it knows what was granted.  run() on its view, or its own */
	SB_TOOL_SERVER, /* answered by the server itself */
};

/* One call of a file tool. */
struct sb_tool_call {
	struct sb_files *view;
	const struct sb_policy *policy;
	const struct sb_files_caller *caller;
	const json_t *args;
	struct sb_files_error err;           /* code 0: it went well */
	json_t *notes;                       /* what a person should look at; an array, or NULL */
	const struct sb_tool_worker *worker; /* whose view it is; or NULL */
	/* from the keeper; or NULL */
	json_t *grants; /* of this session */
	/* What was answered for the session: 1 is yes, -1 no, 0 nothing. */
	int (*said)(const void *context, enum sb_op op, const char *path);
	const void *context;
};

struct sb_tool {
	const char *name, *title, *description;
	unsigned hints;
	const struct sb_param *params;
	const char *output; /* properties beside "content" and "error", as JSON text; or NULL */
	enum sb_tool_kind kind;
	json_t *(*run)(struct sb_tool_call *call); /* the result; NULL: out of memory */
};

const struct sb_tool *sb_tool_find(const char *name); /* NULL: none */

extern const struct sb_tool sb_git_tools[]; /* tools_git.c; one without a name ends them */
bool sb_tool_is_git(const struct sb_tool *tool);

/*
 * A view of these roots, which are canonical.
 *
 * SECURITY: a root that a link has taken the place of opens nothing.
 *
 * Danger: whoever may write around a root (another project, or what the client's roots were
 * before) renames it and puts a link there.  A view of where that leads would be read without a
 * question, by the keeper's process also outside the projects.
 * Price: until the directory is back, calls that need the view fail.
 * Held by: tests/mcp/hostile.py
 */
int sb_tools_open_view(const struct sb_policy *policy, const char *const *roots,
		       const struct sb_files_options *options, struct sb_files **out,
		       struct sb_files_error *err);

/* Run it; what a person should look at (guard.h: told names, notes) is a part of the result. */
json_t *sb_tool_run(const struct sb_tool *tool, struct sb_tool_call *call,
		    struct sb_files_caller *caller);

/* The result of tools/list: {"tools": [...]}, those that the worker, or NULL, has.  A new reference. */
json_t *sb_tools_list(const struct sb_tool_worker *worker, bool git);

/*
 * Do the arguments (an object, or NULL) fit?  SB_OK, or SB_E_INVALID with a sentence for the
 * model.
 */
int sb_tool_check(const struct sb_tool *tool, const struct sb_tool_worker *worker,
		  const json_t *args, struct sb_error *err);

/* --- arguments that were checked: rpc.h's sb_get_text() and these ------------------------- */

long sb_arg_int(const json_t *args, const char *name, long fallback);

/* NULL-terminated; free() it.  NULL: not there, empty or no memory. */
const char **sb_arg_list(const json_t *args, const char *name);

/* --- results: result.c ------------------------------------------------------------------------ */

/* {"content": [text], "structuredContent": {"content": text, ...more}}; takes both over. */
json_t *sb_tool_text(json_t *text, json_t *more);
json_t *sb_tool_said(const struct sb_buf *text, json_t *more); /* text stays the caller's */

/* F4: isError, with the error as data.  more: further fields of it, or NULL. */
json_t *sb_tool_failure(const char *code, const char *person, const char *model, bool violation,
			json_t *more);
json_t *sb_tool_files_error(const struct sb_files_error *err);
json_t *sb_tool_sb_error(const struct sb_error *err);

/* {"given", "absolutePath", "relativePath"} of a file that a call has used. */
json_t *sb_tool_where(struct sb_tool_call *call, const char *given);

/* Where given is, into facts under these names: absolute, and relative to the project. */
void sb_tool_put_place(struct sb_tool_call *call, json_t *facts, const char *given, bool follow,
		       const char *absolute, const char *relative);

/* What the file tools give ends with its scope. */
#define SB_AUTO_TEXT __attribute__((cleanup(sb_files_text_done)))
#define SB_AUTO_CHANGE __attribute__((cleanup(sb_files_change_done)))
#define SB_AUTO_ENTRIES __attribute__((cleanup(sb_files_entries_done)))
#define SB_AUTO_MATCHES __attribute__((cleanup(sb_files_matches_done)))

/* --- the functions: tool_read.c, tool_write.c, tool_list.c, tool_search.c, tool_policy.c ------- */

json_t *sb_tool_read(struct sb_tool_call *call);
json_t *sb_tool_read_media(struct sb_tool_call *call);
json_t *sb_tool_read_many(struct sb_tool_call *call);
json_t *sb_tool_write(struct sb_tool_call *call);
json_t *sb_tool_edit(struct sb_tool_call *call);
json_t *sb_tool_delete(struct sb_tool_call *call);
json_t *sb_tool_move(struct sb_tool_call *call);
json_t *sb_tool_copy(struct sb_tool_call *call);
json_t *sb_tool_mkdir(struct sb_tool_call *call);
json_t *sb_tool_list(struct sb_tool_call *call);
json_t *sb_tool_list_sizes(struct sb_tool_call *call);
json_t *sb_tool_tree(struct sb_tool_call *call);
json_t *sb_tool_info(struct sb_tool_call *call);
json_t *sb_tool_search(struct sb_tool_call *call);
json_t *sb_tool_glob(struct sb_tool_call *call);
json_t *sb_tool_grep(struct sb_tool_call *call);
json_t *sb_tool_allowed(struct sb_tool_call *call);
json_t *sb_tool_may(struct sb_tool_call *call);

#endif
