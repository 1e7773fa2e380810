/*
 * mcp.c - --mcp: becomes the server, which is a program of its own.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/worker.h"

/* Beside this program, or where a prefix keeps programs that are not typed. */
static const char *const places[] = {"sandbash-mcp", "../libexec/sandbash-mcp",
				     "../libexec/sandbash/sandbash-mcp", "../bin/sandbash-mcp"};

int sb_cli_mcp(const struct sb_command_line *line)
{
	char directory[PATH_MAX], program[PATH_MAX + 64];
	ssize_t length = readlink("/proc/self/exe", directory, sizeof directory - 1);
	struct sb_error err;
	char *slash;

	if (sb_around_is_there()) {
		sb_fail(&err, SB_E_UNSUPPORTED, 0,
			"inside a worker there is no server for a model");
		sb_hint(&err, "start it outside: sandbash --mcp --worker=FILE");
		return sb_report(&err);
	}
	directory[length > 0 ? length : 0] = '\0';
	slash = strrchr(directory, '/');
	if (slash)
		*slash = '\0';
	for (size_t i = 0; slash && i < sizeof places / sizeof places[0]; i++) {
		snprintf(program, sizeof program, "%s/%s", directory, places[i]);
		/* the words as they were given: own begins at argv[1] */
		execve(program, line->own - 1, environ);
		if (errno != ENOENT && errno != ENOTDIR)
			break;
	}
	sb_fail(&err, SB_E_MISSING, errno, "cannot start '%s'", "sandbash-mcp");
	sb_hint(&err, "it belongs beside this program, in '%s'", directory);
	return sb_report(&err);
}
