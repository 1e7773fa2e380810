/*
 * SECURITY: hg update clones what .hgsub names, by itself, and a repository on this machine brings its own hooks.
 *
 * Danger: Mercurial reads .hg/hgrc of the repository that it clones from, if that is the user's.  In a fast root, and in
 * the run's own temporary directory, nobody guards that file.
 * Price: sources that are computed ([subpaths], ~ and $), included (%include) or in a form of their own (bundle:, file:) ask.
 * What lies in a changeset that hg pull brings is not looked at before it is checked out here.
 * Held by: tests/supervise/hg_subs.py
 */
#include <string.h>

#include "base/auto.h"
#include "base/words.h"
#include "guard/check.h"
#include "guard/git_url.h"

static const char blanks[] = " \t\r";

/* In place, without blanks around it. */
static char *trim(char *text)
{
	text += strspn(text, blanks);
	for (size_t length = strlen(text); length && strchr(blanks, text[length - 1]);)
		text[--length] = '\0';
	return text;
}

static bool is_harmless_source(const struct sb_check *check, const char *source)
{
	size_t scheme;

	if (sb_text_begins(source, "[hg]") || sb_text_begins(source, "[git]"))
		source = strchr(source, ']') + 1;
	source += strspn(source, blanks);
	scheme = strcspn(source, ":/");
	if (sb_text_begins(source + scheme, "://"))
		return sb_words_have("https http ssh", source, scheme) &&
		       sb_git_url_is_plain(source);
	return *source && *source != '-' && !strpbrk(source, ":$~#[") &&
	       !sb_leads_to_unguarded(check, source);
}

bool sb_hg_sub_is_harmless(const struct sb_check *check, const char *line, size_t length)
{
	SB_AUTO_FREE char *text = strndup(line, length);
	char *equals = text ? strchr(text, '=') : NULL;

	if (!text || strlen(text) != length)
		return false;
	if (!text[strspn(text, blanks)] || *text == '#' || *text == ';')
		return true;
	/* a section, an include, or what a line before goes on with */
	if (!equals || strchr("[% \t", *text))
		return false;
	*equals = '\0';
	return !sb_leads_to_guarded(check, trim(text)) &&
	       is_harmless_source(check, trim(equals + 1));
}
