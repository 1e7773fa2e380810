/*
 * SECURITY: a list of good characters.
 *
 * Danger: prompts show versions, and shells expand prompts; scripts hand them to programs by $(cat .nvmrc), where "-x" is
 * an option; version managers run programs from a path that is given as version, mise fills in templates, and in
 * .tool-versions takes "npm:NAME" for a package to install and "NAME[postinstall=...]" for a command.
 * Price: ranges as ">=20 <21" and paths ask.
 * Held by: tests/supervise/later_names.py, tests/unit/test_guard_content.c
 */
#include "guard/git_forms.h"

#include <ctype.h>
#include <string.h>

#include "base/auto.h"
#include "base/escape.h"

static bool ends_in(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	return strcmp(slash ? slash + 1 : path, name) == 0;
}

/* asdf's "path:DIR", rustup's "path = DIR" */
static bool names_path(const char *text)
{
	for (const char *at = strstr(text, "path"); at; at = strstr(at + 1, "path")) {
		const char *next = at + 4 + strspn(at + 4, " \t\"'");

		if (*next == ':' || *next == '=')
			return true;
	}
	return false;
}

/* more: characters beside those of versions.  An option has its "-" behind none of either. */
static bool are_versions(const char *text, const char *more)
{
	for (const char *at = text; *at; at++) {
		bool starts = at == text || strchr(" \t\"'[,=:", at[-1]);

		if (strncmp(at, "lts/", 4) == 0 && starts) { /* nvm: "lts/iron" */
			at += 3;
			if (at[1] == '-')
				return false;
			continue;
		}
		if (*at == '-' ? starts
			       : !isalnum((unsigned char)*at) && !strchr("._+@*^:= \t", *at) &&
					 !strchr(more, *at))
			return false;
	}
	return !strstr(text, "..") && !names_path(text);
}

/* Nothing that a prompt or a terminal would obey, nor a template. */
static bool is_plain_comment(const char *text)
{
	return sb_utf8_all_visible(text, strlen(text)) && !strpbrk(text, "$`\\;|&<>{");
}

bool sb_version_line_is_plain(const char *path, const char *line, size_t length)
{
	bool is_toml = ends_in(path, "rust-toolchain") || ends_in(path, "rust-toolchain.toml");
	SB_AUTO_FREE char *text = strndup(line, length);
	char *comment = text ? strchr(text, '#') : NULL;

	if (!text || strlen(text) != length || (comment && !is_plain_comment(comment)))
		return false;
	if (comment)
		*comment = '\0';
	if (ends_in(path, ".tool-versions") &&
	    memchr(text, ':', strspn(text, " \t") + strcspn(text + strspn(text, " \t"), " \t")))
		return false;
	return are_versions(text, is_toml ? "[]\"'," : "");
}
