#include "files/foreign.h"

#include <stdio.h>
#include <string.h>

#include "base/words.h"
#include "path/grammar.h"

/* --- which names ---------------------------------------------------------------------------------- */

static bool is_word(char c)
{
	return sb_is_letter(c) || sb_is_digit(c) || c == '_' || c == '-' || c == '.' ||
	       (unsigned char)c >= 0x80;
}

/* A backslash before a name; not what systemd writes for a character, nor a shell before a blank. */
static bool has_separator(const char *name, size_t length)
{
	static const char hex[] = "0123456789abcdef";
	const char *end = name + length;

	for (const char *at = name; at < end; at++) {
		if (*at != '\\')
			continue;
		if (end - at > 3 && at[1] == 'x' && strchr(hex, at[2]) && strchr(hex, at[3]))
			at += 3;
		else if (at + 1 == end || at[1] == '\\' || at[1] == '?' || is_word(at[1]))
			return true;
	}
	return false;
}

static bool is_stream(const char *name, size_t length)
{
	const char *colon = memchr(name, ':', length), *dot, *end = name + length;
	const char *word = colon ? colon + 1 : end;

	if (!colon || word == end)
		return false;
	if (*word == '$' || (end - word > 2 && word[0] == ':' && word[1] == '$'))
		return true;
	dot = memrchr(name, '.', (size_t)(colon - name));
	if (!dot || dot == name || !sb_is_letter(dot[1]) || colon - dot > 6)
		return false;
	for (; word < end; word++)
		if (!is_word(*word) && !(word[0] == ':' && word + 1 < end && word[1] == '$'))
			return *word == '$' && word[-1] == ':';
	return true;
}

static bool is_device(const char *name, size_t length)
{
	bool small = false;

	if (memchr(name, '.', length) || memchr(name, ' ', length) ||
	    !sb_windows_is_device(name, length))
		return false;
	for (size_t i = 0; i < length; i++)
		small |= name[i] >= 'a' && name[i] <= 'z';
	return !small || name[length - 1] == ':';
}

size_t sb_foreign_name(const char *path, size_t from)
{
	for (const char *name = path + from + strspn(path + from, "/"); *name;) {
		size_t length = strcspn(name, "/");
		bool drive = name == path && sb_is_letter(path[0]) && path[1] == ':';

		if (drive || has_separator(name, length) || is_stream(name, length) ||
		    is_device(name, length))
			return (size_t)(name - path) + length;
		name += length;
		name += strspn(name, "/");
	}
	return 0;
}

/* --- how to write it ------------------------------------------------------------------------------ */

/*
 * The same path as it is written here; false: there is none.  Under WSL drives are in /mnt, and Windows sees
 * the files of Linux as a share.
 */
static bool translate(const char *path, char out[PATH_MAX])
{
	struct sb_parsed parsed;
	const char *names;

	if (path[0] == '/') {
		snprintf(out, PATH_MAX, "%s", path);
	} else if (sb_path_parse(SB_WINDOWS, path, &parsed, NULL) != SB_OK) {
		return false;
	} else {
		names = parsed.text + parsed.root;
		if (parsed.start == SB_START_HERE)
			snprintf(out, PATH_MAX, "%s", names);
		else if (parsed.start == SB_START_ROOT)
			snprintf(out, PATH_MAX, "/mnt/%c/%s", parsed.text[0] | 0x20, names);
		else if (parsed.start == SB_START_SHARE &&
			 (strncmp(parsed.text + 2, "wsl.localhost\\", 14) == 0 ||
			  strncmp(parsed.text + 2, "wsl$\\", 5) == 0))
			snprintf(out, PATH_MAX, "/%s", names);
		else
			return false;
	}
	for (char *at = out; *at; at++)
		if (*at == '\\')
			*at = '/';
	return true;
}

/* What is at path; false: nothing.  The place is to be released in any case. */
static bool find(struct sb_job *job, const char *path, struct sb_place *out)
{
	const struct sb_files *view = job->view;
	const struct sb_root *start = path[0] == '/' ? sb_files_root_of(view, path)
						     : &view->roots[0];

	*out = SB_PLACE_EMPTY;
	return view->backend->ops->resolve(view->backend, start, path,
					   SB_RESOLVE_FOLLOW | SB_RESOLVE_PARENTS, out) == 0 &&
	       !out->error && out->exists;
}

/* end: how much of path is there up to the end of its first foreign name. */
static int refuse(struct sb_job *job, const char *path, size_t end)
{
	const char *slash = memrchr(path, '/', end);
	size_t before = slash ? (size_t)(slash - path) + 1 : 0;
	const char *name = path + before; /* and all behind it */
	struct sb_place place = SB_PLACE_EMPTY;
	char here[PATH_MAX];
	bool known = translate(path, here), inside;

	if (known)
		find(job, here, &place);
	inside = known && sb_files_root_of(job->view, place.path);
	if (!inside &&
	    (!known || here[0] == '/')) /* a drive or a share, wherever that would be here */
		snprintf(place.path, sizeof place.path, "%s", path);
	place.given = path;
	if (!inside) {
		sb_gate_outside(job, &place);
		sb_advise(job->err,
			  "This is written as on Windows, and it is not in the project. Use a path "
			  "relative to the project root, with '/' between names: \"src/file.ts\" "
			  "instead of \"%s\". If a file has this name, write \"%.*s./%s\".",
			  path, (int)before, path, name);
	} else if (strcmp(here, path) != 0) {
		sb_refuse(job->err, SB_FILES_INVALID_ARGUMENT, 0,
			  "cannot use '%s': it is written as on Windows", path);
		sb_advise(job->err,
			  "Names are separated by '/' here: write \"%s\". If a file has this name, "
			  "write \"%.*s./%s\".",
			  here, (int)before, path, name);
	} else if (is_stream(name, end - before)) {
		sb_refuse(job->err, SB_FILES_INVALID_ARGUMENT, 0,
			  "cannot use '%s': there is no such file, and files have no streams here",
			  path);
		sb_advise(job->err,
			  "Write \"%.*s\" to use that file; a line number is no part of a path. If "
			  "a file has this name, write \"%.*s./%s\".",
			  (int)strcspn(path + before, ":") + (int)before, path, (int)before, path,
			  name);
	} else {
		sb_refuse(job->err, SB_FILES_INVALID_ARGUMENT, 0,
			  "cannot use '%s': a device of Windows, which is not there here", path);
		sb_advise(job->err,
			  "Use another name; what is to be thrown away need not be written. If a "
			  "file has this name, write \"%.*s./%s\".",
			  (int)before, path, name);
	}
	sb_job_release(job, &place);
	return -(int)(job->err ? job->err->code : SB_FILES_INVALID_ARGUMENT);
}

int sb_job_refuse_foreign(struct sb_job *job, const char *path)
{
	size_t end = 0;

	if (strncmp(path, "./", 2) == 0 || strstr(path, "/./"))
		return 0;
	while ((end = sb_foreign_name(path, end)) != 0) {
		struct sb_place place;
		char name[PATH_MAX];
		bool there;

		snprintf(name, sizeof name, "%.*s", (int)end, path);
		there = find(job, name, &place);
		sb_job_release(job, &place);
		if (!there)
			return refuse(job, path, end);
	}
	return 0;
}
