/*
 * tool_worker.h - --worker=FILE: whose view the tools work on.
 *
 * A model that works as a worker gets the worker's files under the names that it declares, and no path of this machine
 * in any result: neither do tools that ask for more than it has, nor rules and record as resources.
 */
#ifndef SB_MCP_TOOLS_TOOL_WORKER_H
#define SB_MCP_TOOLS_TOOL_WORKER_H

#include <jansson.h>

#include "config/setup.h"
#include "files/seen.h"
#include "sandbash/files.h"

struct sb_tool;

struct sb_tool_worker {
	struct sb_project project;
	struct sb_worker worker;
	struct sb_zones has;
	struct sb_files_backend *seen;
};

/* The worker of file, in the first project, under the user's rules. */
int sb_tool_worker_open(const struct sb_setup *setup, const char *file, struct sb_tool_worker *out,
			struct sb_error *err);

/* What a view of its files needs; its roots. */
const char *const *sb_tool_worker_view(const struct sb_tool_worker *worker,
				       struct sb_files_options *options);

/* May it be called?  worker NULL: yes. */
bool sb_tool_worker_has(const struct sb_tool_worker *worker, const struct sb_tool *tool);

/* What descriptions say of a project's paths and of what a command reaches; of a worker's there is less to say. */
#define SB_TOOL_PATHS                                                                              \
	" Paths are absolute or relative to the first allowed directory; outside of the allowed "  \
	"directories the user is asked first."
#define SB_TOOL_REACH                                                                              \
	"it can change the allowed directories, reads the rest of the system except secrets"

/* A tool's description in words for who sees nothing but its own directories, and knows of no other. */
void sb_tool_worker_describe(json_t *tool);

/* The text as the model may hear it. */
json_t *sb_tool_worker_words(const struct sb_tool_worker *worker, const char *text);

#endif
