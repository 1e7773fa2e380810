#include "options/environ.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

bool sb_environ_removes(const struct sb_environ_names *names, const char *variable)
{
	size_t length = strcspn(variable, "=");

	if (!names->usual && !names->more)
		return false;
	/* P7; the names of these alone make nothing known that --status does not tell */
	return !is_named("SANDBASH*,TMPDIR,PWD", variable, length) &&
	       !(names->usual && is_named(SB_ENVIRON_USUAL, variable, length)) &&
	       !(names->more && is_named(names->more, variable, length));
}

void sb_environ_keep(const struct sb_environ_names *names)
{
	size_t kept = 0;

	if (!names->usual && !names->more)
		return; /* not even touched: its pages are shared with whoever forked us */
	for (size_t i = 0; environ[i]; i++)
		if (!sb_environ_removes(names, environ[i]))
			environ[kept++] = environ[i];
	environ[kept] = NULL;
}
