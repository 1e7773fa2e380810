#include "mcp/tools/tool_worker.h"

#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/words.h"
#include "mcp/tools/tools.h"
#include "mcp/wire/rpc.h"
#include "zones/rules.h"

int sb_tool_worker_open(const struct sb_setup *setup, const char *file, struct sb_tool_worker *out,
			struct sb_error *err)
{
	SB_AUTO_FREE char *top = NULL;
	int status = sb_project_find(setup->projects[0], setup->home.home, &top, err);

	if (status == SB_OK)
		status = sb_project_load(top, &out->project, err);
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
	static const char more[] = "list_allowed_directories what_may_i_do run_command "
				   "command_status command_stop";

	return !worker || tool->kind == SB_TOOL_FILES || sb_tool_is_git(tool) ||
	       sb_is_word(more, tool->name);
}

/* What the tables of tools say of the directories that a session is about: there are no others here. */
static const char *const phrases[][2] = {
	{"Paths are absolute or relative to the first allowed directory; outside of the allowed "
	 "directories the user is asked first.",
	 "Paths begin with /."},
	{"default: the first allowed directory", "default: /"},
	{"in a sandbox: it can change the allowed directories, reads the rest of the system except "
	 "secrets, and what",
	 "that sees the same directories and a read-only system; what"},
	{"lists what the sandbox stopped", "lists what was stopped"},
	{"The directories that can be used without asking the user, with all beneath them.",
	 "The directories that there are."},
	{"Directories that it changes. In the allowed directories: only these may change. Others: the user "
	 "is asked to open them to this command",
	 "Directories that it changes: only these may change"},
	{" or a repository elsewhere is read", " or a repository is read"},
	{", in its project root", ", in its directory of /"},
	{", relative to their project root", ", relative to their directories of /"},
};

static json_t *reword(const char *text)
{
	SB_AUTO_BUF struct sb_buf out = SB_BUF(64 * 1024);

	while (*text) {
		const char *instead = NULL;

		for (size_t i = 0; !instead && i < sizeof phrases / sizeof phrases[0]; i++)
			if (sb_text_begins(text, phrases[i][0])) {
				instead = phrases[i][1];
				text += strlen(phrases[i][0]);
			}
		if (instead)
			sb_buf_puts(&out, instead);
		else
			sb_buf_putc(&out, *text++);
	}
	return json_string(sb_buf_failed(&out) ? "" : out.data);
}

void sb_tool_worker_describe(json_t *tool)
{
	const char *key;
	json_t *value;
	void *next;

	json_object_foreach_safe(tool, next, key, value)
	{
		if (strcmp(key, "description") == 0 && json_is_string(value))
			json_object_set_new(tool, key, reword(json_string_value(value)));
		else if (json_is_object(value))
			sb_tool_worker_describe(value);
	}
}

json_t *sb_tool_worker_words(const struct sb_tool_worker *worker, const char *text)
{
	SB_AUTO_BUF struct sb_buf words = SB_BUF(1024 * 1024);

	sb_zones_reword(&worker->has, text, &words);
	return sb_buf_failed(&words) ? json_string("?") : sb_rpc_buf(&words);
}
