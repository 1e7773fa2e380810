/*
 * Scripts of sed: does one write no file and run nothing?
 *
 * Only usual commands are read: addresses, s, y, and letters without words.  What is anything else
 * may be "w" or "e", so it is not plain.
 */
#include <string.h>

#include "shell/models.h"

/* Behind the next unescaped end, or NULL; a set may hold it. */
static const char *behind(const char *at, char end)
{
	for (; *at && *at != '\n'; at++) {
		if (*at == '\\' && at[1])
			at++;
		else if (*at == end)
			return at + 1;
	}
	return NULL;
}

static const char *skip_address(const char *at)
{
	if (*at == '/' || *at == '\\') {
		char end = *at == '\\' ? *++at : '/';

		if (!end)
			return NULL;
		at = behind(at + 1, end);
		while (at && (*at == 'I' || *at == 'M'))
			at++;
		return at;
	}
	if (*at == '$')
		return at + 1;
	return at + strspn(at, "0123456789~+");
}

/* s/.../.../flags, y/.../.../ */
static const char *skip_substitution(const char *at, bool flags)
{
	char end = at[0] ? at[1] : '\0';

	if (!end || end == '\n' || end == '\\')
		return NULL;
	at = behind(at + 2, end);
	if (at)
		at = behind(at, end);
	return at && flags ? at + strspn(at, "gpiIM0123456789") : at;
}

bool sb_sed_is_plain(const char *script)
{
	const char *at = script;

	while (at && *at) {
		at += strspn(at, " \t\n;{}");
		if (!*at)
			return true;
		if (*at == '#') {
			at += strcspn(at, "\n");
			continue;
		}
		at = skip_address(at);
		if (at && *at == ',')
			at = skip_address(at + 1);
		if (!at)
			return false;
		at += strspn(at, " \t!");
		if (*at == 's' || *at == 'y')
			at = skip_substitution(at, *at == 's');
		else if (*at && strchr("=dDgGhHlnNpPxqQz", *at))
			at += 1 + strspn(at + 1, "0123456789");
		else if (*at && strchr("aic", *at))
			at += strcspn(at, "\n\\"); /* text to the end of the line, if that is all */
		else if (*at != '{')
			return false;
		if (at && *at && !strchr(" \t\n;{}", *at))
			return false;
	}
	return at != NULL;
}
