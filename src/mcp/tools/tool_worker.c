#include "mcp/tools/tool_worker.h"

#include <string.h>

#include "base/buf.h"
#include "mcp/tools/tools.h"
#include "mcp/wire/rpc.h"
#include "zones/rules.h"

int sb_tool_worker_open(const struct sb_setup *setup, const char *file, struct sb_tool_worker *out,
			struct sb_error *err)
{
	int status = sb_project_load(setup->projects[0], &out->project, err);

	if (status == SB_OK)
		status = sb_worker_load(file, &out->worker, err);
	if (status == SB_OK)
		status = sb_worker_grant(&out->worker, &out->project.zones, NULL, &out->has, err);
	if (status != SB_OK)
		return status;
	sb_zones_tighten(&out->has, setup->policy);
	return sb_zones_see(&out->has, NULL, &out->seen, err);
}

const char *const *sb_tool_worker_view(const struct sb_tool_worker *worker,
				       struct sb_files_options *options)
{
	options->backend = worker->seen;
	options->ignored = SB_FILES_ALLOW; /* its file says what asks */
	return sb_files_mapped_roots(worker->seen);
}

bool sb_tool_worker_has(const struct sb_tool_worker *worker, const struct sb_tool *tool)
{
	static const char *const more[] = {"list_allowed_directories", "what_may_i_do",
					   "run_command", "command_status", "command_stop"};

	if (!worker || tool->kind == SB_TOOL_FILES || sb_tool_is_git(tool))
		return true;
	for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
		if (strcmp(tool->name, more[i]) == 0)
			return true;
	return false;
}

static void reword(json_t *described)
{
	static const char *const words[][2] = {
		{SB_TOOL_PATHS, " Paths begin with /."},
		{SB_TOOL_REACH, "it sees the same directories, and a system that it can read"},
		{"the first allowed directory", "/"},
		{"that can be used without asking the user", "that there are"},
	};

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		const char *text = json_string_value(json_object_get(described, "description"));
		const char *found = text ? strstr(text, words[i][0]) : NULL;

		if (found)
			json_object_set_new(described, "description",
					    json_sprintf("%.*s%s%s", (int)(found - text), text,
							 words[i][1], found + strlen(words[i][0])));
	}
}

void sb_tool_worker_describe(json_t *tool)
{
	json_t *properties = json_object_get(json_object_get(tool, "inputSchema"), "properties");
	const char *name;
	json_t *one;

	reword(tool);
	json_object_foreach(properties, name, one) reword(one);
}

json_t *sb_tool_worker_words(const struct sb_tool_worker *worker, const char *text)
{
	SB_AUTO_BUF struct sb_buf words = SB_BUF(1024 * 1024);

	sb_zones_reword(&worker->has, text, &words);
	return sb_buf_failed(&words) ? json_string("?") : sb_rpc_text(words.data, words.length);
}
