/*
 * find_outside.c - patterns that name what lies outside the project ("../x", "/etc/x", "C:\\x").
 *
 * Nothing is searched above where a search begins, whatever its pattern says.  But whoever asks for that has tried to, so
 * it is the violation that a path would be (F7), and the answer says how patterns are written.
 */
#include <stdio.h>
#include <string.h>

#include "base/words.h"
#include "files/find_patterns.h"
#include "files/find_source.h"
#include "path/path.h"

static bool is_windows(const char *text)
{
	return (sb_is_letter(text[0]) && text[1] == ':' && (text[2] == '\\' || text[2] == '/')) ||
	       strncmp(text, "..\\", 3) == 0 || strncmp(text, "\\\\", 2) == 0;
}

/* One name up; false: there is none. */
static bool go_up(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || !path[1])
		return false;
	slash[slash == path] = '\0';
	return true;
}

/* Where the names before the first wildcard lead to; links are no matter: nothing is opened there. */
static void lead(const char *start, const char *text, char out[PATH_MAX])
{
	const char *end = text + strcspn(text, "*?[{\\");
	size_t length;

	snprintf(out, PATH_MAX, "%s", text[0] == '/' ? "/" : start);
	for (const char *at = text; (at += strspn(at, "/")) < end; at += length) {
		length = strcspn(at, "/");
		if (at + length > end)
			break; /* a name with a wildcard in it */
		if (length == 2 && memcmp(at, "..", 2) == 0)
			go_up(out);
		else if ((length != 1 || *at != '.') && strlen(out) + length + 2 < PATH_MAX)
			sprintf(out + strlen(out), "%s%.*s", out[1] ? "/" : "", (int)length, at);
	}
}

int sb_patterns_refuse_outside(struct sb_find *find, const char *const *texts)
{
	struct sb_job *job = find->job;

	for (; texts && *texts; texts++) {
		struct sb_place place = SB_PLACE_EMPTY;
		bool windows = is_windows(*texts);

		lead(find->place.path, *texts, place.path);
		if (windows)
			snprintf(place.path, sizeof place.path, "%s", *texts);
		else if (sb_files_root_of(job->view, place.path) ||
			 sb_path_within(find->place.path, place.path))
			continue;
		place.given = *texts;
		sb_gate_outside(job, &place);
		return sb_advise(job->err,
				 "A pattern is relative to 'path', stays beneath it, and has '/' "
				 "between names, as \"src/**/*.ts\": not \"%s\". %s",
				 *texts,
				 windows ? "This one is written as on Windows."
					 : "To search elsewhere, name that directory as 'path'.");
	}
	return 0;
}
