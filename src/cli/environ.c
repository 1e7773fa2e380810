/*
 * environ.c - --keep-env: a command that sees no more of the environment than it needs.
 *
 * Only the command: sandbash itself looks at all of it, since variables name what has to be
 * protected (SSH_AUTH_SOCK, KUBECONFIG, ...).
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

static bool is_named(const char *names, const char *variable, size_t length)
{
	for (const char *at = names; *at;) {
		size_t width = strcspn(at, ",");
		bool open = width && at[width - 1] == '*';

		if (open ? length >= width - 1 && memcmp(at, variable, width - 1) == 0
			 : width == length && memcmp(at, variable, width) == 0)
			return true;
		at += width;
		at += *at == ',';
	}
	return false;
}

void sb_environ_keep(const char *names)
{
	size_t kept = 0;

	for (size_t i = 0; environ[i]; i++) {
		size_t length = strcspn(environ[i], "=");

		/* P7; the names of these alone make nothing known that --status does not tell */
		if (is_named(names, environ[i], length) ||
		    is_named("SANDBASH*,TMPDIR,PWD", environ[i], length))
			environ[kept++] = environ[i];
	}
	environ[kept] = NULL;
}
