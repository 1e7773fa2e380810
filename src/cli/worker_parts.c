#include "cli/worker.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/list.h"
#include "cli/shell.h"
#include "path/path.h"

/* Whatever the PATH of the caller is, who may be a worker himself. */
#define WORKER_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* One of the worker's commands as a file; a directory stands for all that is in it. */
static int find_program(const char *name, char **out, struct sb_error *err)
{
	struct stat info;

	*out = *name == '/' ? strdup(name) : sb_shell_find(name);
	if (*out && stat(*out, &info) == 0)
		return SB_OK;
	free(*out);
	*out = NULL;
	return sb_fail(err, SB_E_MISSING, 0, "the worker's command '%s' is not there", name);
}

int sb_worker_programs(const struct sb_worker *worker, struct sb_run *run, struct sb_error *err)
{
	size_t count = sb_list_count(worker->commands);
	int status = SB_OK;

	if (setenv("PATH", WORKER_PATH, 1) != 0)
		return sb_no_memory(err);
	if (!worker->commands)
		return SB_OK;
	run->programs = calloc(count + 1, sizeof *run->programs);
	if (!run->programs)
		return sb_no_memory(err);
	for (size_t i = 0; i < count && status == SB_OK; i++)
		status = find_program(worker->commands[i], &run->programs[i], err);
	return status;
}

int sb_worker_projects(const struct sb_zones *has, enum sb_zone_names names, struct sb_setup *setup,
		       struct sb_error *err)
{
	setup->projects = calloc(has->count + 1, sizeof *setup->projects);
	for (size_t i = 0; setup->projects && i < has->count; i++) {
		setup->projects[i] = names == SB_ZONE_SEEN ? sb_path_join("/", has->all[i].name)
							   : strdup(has->all[i].path);
		if (!setup->projects[i])
			return sb_no_memory(err);
	}
	return setup->projects ? SB_OK : sb_no_memory(err);
}

int sb_worker_command(const struct sb_command_line *line, struct sb_run *run, struct sb_error *err)
{
	bool shell = !line->command[0] || line->for_shell;
	size_t count = sb_list_count(line->command);

	run->argv = calloc(count + 2, sizeof *run->argv);
	if (!run->argv)
		return sb_no_memory(err);
	memcpy(run->argv + shell, line->command, count * sizeof *run->argv);
	if (shell)
		run->argv[0] = access("/bin/bash", X_OK) == 0 ? "bash" : "sh";
	run->file = sb_shell_find(run->argv[0]);
	if (run->file || !run->programs)
		return SB_OK;
	return sb_fail(err, SB_E_REFUSED, 0, "'%s' is not among the worker's commands",
		       run->argv[0]);
}
