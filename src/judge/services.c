#include "judge/services.h"

#include <stddef.h>
#include <string.h>

/* "#" at the end stands for digits, "*" for anything.  Names with a random part are found by nobody. */
static const char *const names[] = {
	"tmux-#",     "emacs#",    "zellij-#",     "tmate-#",           "screens",
	"uscreens",   ".X*",       ".ICE-unix",    ".s.PGSQL.*",        "hypr",
	"mysql.sock", "runtime-*", "podman-run-*", "containers-user-*",
};

static bool fits(const char *pattern, const char *name, size_t length)
{
	size_t width = strlen(pattern) - 1;

	if (length < width || strncmp(name, pattern, width) != 0)
		return false;
	if (pattern[width] == '*')
		return true;
	if (pattern[width] == '#')
		return length > width && strspn(name + width, "0123456789") >= length - width;
	return length == width + 1 && name[width] == pattern[width];
}

bool sb_temp_is_service(const char *path)
{
	static const char temp[] = "/tmp/";
	bool top =
		true; /* deeper, where TMUX_TMPDIR or TMPDIR may lead, only what has a user's number */

	if (strncmp(path, temp, sizeof temp - 1) != 0)
		return false;
	for (const char *name = path + sizeof temp - 1; *name; top = false) {
		size_t length = strcspn(name, "/");

		for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
			if ((top || names[i][strlen(names[i]) - 1] == '#') &&
			    fits(names[i], name, length))
				return true;
		name += length + (name[length] == '/');
	}
	return false;
}
