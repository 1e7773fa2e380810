/*
 * mcp.c - --mcp: becomes the server, which is a program of its own.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "cli/cli.h"
#include "cli/worker.h"
#include "path/path.h"

const char *const sb_server_places[] = {"sandbash-mcp", "../libexec/sandbash-mcp",
					"../libexec/sandbash/sandbash-mcp", "../bin/sandbash-mcp",
					NULL};

int sb_cli_mcp(const struct sb_command_line *line)
{
	const char *own = sb_own_program();
	SB_AUTO_FREE char *directory = own ? sb_path_parent(own) : NULL;
	struct sb_error err;

	if (sb_around_is_there())
		return sb_end_with(SB_E_UNSUPPORTED,
				   "start it outside: sandbash --mcp --worker=FILE",
				   "inside a worker there is no server for a model");
	for (size_t i = 0; directory && sb_server_places[i]; i++) {
		SB_AUTO_FREE char *program = sb_path_join(directory, sb_server_places[i]);

		if (!program)
			break;
		/* the words as they were given: own begins at argv[1] */
		execve(program, line->own - 1, environ);
		if (errno != ENOENT && errno != ENOTDIR)
			break;
	}
	sb_fail(&err, SB_E_MISSING, errno, "cannot start '%s'", "sandbash-mcp");
	sb_hint(&err, "it belongs beside this program, in '%s'", directory ? directory : "?");
	return sb_report(&err);
}
