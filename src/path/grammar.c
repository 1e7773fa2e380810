#include "path/grammar.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "path/windows.h"

/* A path being parsed: names are put behind the start one by one. */
struct parse {
	struct sb_parsed *out;
	size_t length;  /* of out->text */
	unsigned depth; /* names that ".." takes away again */
	bool windows, verbatim;
};

static void put(struct parse *parse, const char *name, size_t length)
{
	struct sb_parsed *out = parse->out;

	if (parse->length > out->root)
		out->text[parse->length++] = parse->windows ? '\\' : '/';
	memcpy(out->text + parse->length, name, length);
	parse->length += length;
}

static void climb(struct parse *parse)
{
	struct sb_parsed *out = parse->out;
	char separator = parse->windows ? '\\' : '/';

	if (parse->depth) {
		parse->depth--;
		while (parse->length > out->root && out->text[parse->length - 1] != separator)
			parse->length--;
		parse->length -= parse->length > out->root;
		return;
	}
	out->odd |= SB_ODD_CLIMBS;
	if (out->start == SB_START_HERE || out->start == SB_START_DRIVE)
		put(parse, "..", 2);
}

static void take(struct parse *parse, const char *name, size_t length)
{
	bool here = length == 1 && name[0] == '.';
	bool up = length == 2 && name[0] == '.' && name[1] == '.';

	/* where names are taken as they are, these are none that a file can have */
	if ((here || up || length == 0) && parse->verbatim)
		parse->out->odd |= SB_ODD_CHARACTER;
	if (here || length == 0)
		return;
	if (up) {
		climb(parse);
		return;
	}
	if (parse->windows)
		parse->out->odd |= sb_windows_odd(name, length);
	if (parse->windows && !parse->verbatim)
		length = sb_windows_trim(name, length);
	put(parse, name, length);
	parse->depth++;
}

int sb_path_parse(enum sb_grammar grammar, const char *path, struct sb_parsed *out,
		  struct sb_error *err)
{
	struct parse parse = {.out = out, .windows = grammar == SB_WINDOWS};
	const char *separators;
	long start;

	out->start = SB_START_HERE;
	out->odd = 0;
	out->root = 0;
	if (!*path)
		return sb_fail(err, SB_E_INVALID, 0, "the path is empty");
	if (strlen(path) >= PATH_MAX - 8) /* one spelling may be a little longer than another */
		return sb_fail(err, SB_E_INVALID, ENAMETOOLONG, "the path is too long");
	if (parse.windows) {
		start = sb_windows_start(path, out, &parse.verbatim, err);
		if (start < 0)
			return (int)start;
	} else {
		start = path[0] == '/';
		out->start = start ? SB_START_ROOT : SB_START_HERE;
		out->root = (size_t)start;
		out->text[0] = path[0];
	}
	if (parse.verbatim &&
	    strchr(path, '/')) /* no separator there, and no character of a name */
		out->odd |= SB_ODD_CHARACTER;
	parse.length = out->root;
	separators = !parse.windows ? "/" : parse.verbatim ? "\\" : "\\/";
	for (const char *name = path + start; *name;) {
		size_t length = strcspn(name, separators);

		take(&parse, name, length);
		name += length;
		out->odd |= *name == '\\' ? SB_ODD_BACK : 0;
		name += *name != '\0';
	}
	if (parse.length == 0)
		out->text[parse.length++] = '.';
	out->text[parse.length] = '\0';
	/* a\..\C:b is a name with a colon in this directory; without the dot it would be a drive */
	if (parse.windows && out->start == SB_START_HERE && out->text[1] == ':') {
		memmove(out->text + 2, out->text, parse.length + 1);
		memcpy(out->text, ".\\", 2);
	}
	return SB_OK;
}

bool sb_parsed_within(enum sb_grammar grammar, const struct sb_parsed *dir,
		      const struct sb_parsed *path)
{
	size_t length = strlen(dir->text), same;

	if (dir->start != path->start)
		return false;
	if (grammar == SB_WINDOWS)
		same = sb_windows_begins(path->text, dir->text);
	else
		same = strncmp(path->text, dir->text, length) == 0 ? length : 0;
	return same && (length == dir->root || !path->text[same] || path->text[same] == '\\' ||
			path->text[same] == '/');
}

/* Why a path is not taken at its word. */
static int refuse_odd(unsigned odd, const char *path, struct sb_error *err)
{
	static const struct {
		unsigned odd;
		const char *why;
	} all[] = {
		{SB_ODD_RESERVED, "a device has this name in every directory"},
		{SB_ODD_STREAM, "what follows the colon is a stream, which no listing shows"},
		{SB_ODD_SHORT, "a short name may be another name of any file"},
		{SB_ODD_TRIMMED, "dots and blanks at the end of a name are left out"},
		{SB_ODD_CHARACTER, "no file can have this name"},
	};

	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		if (odd & all[i].odd)
			return sb_fail(err, SB_E_INVALID, 0, "cannot use '%s': %s", path,
				       all[i].why);
	return SB_OK;
}

/* path, which has no root of its own, behind the first keep bytes of root. */
static int join(enum sb_grammar grammar, const struct sb_parsed *root, size_t keep,
		const char *path, struct sb_parsed *out, struct sb_error *err)
{
	char joined[2 * PATH_MAX];

	snprintf(joined, sizeof joined, "%.*s%c%s", (int)keep, root->text,
		 grammar == SB_WINDOWS ? '\\' : '/', path);
	return sb_path_parse(grammar, joined, out, err);
}

int sb_path_inside(enum sb_grammar grammar, const char *root, const char *path,
		   struct sb_parsed *out, struct sb_error *err)
{
	struct sb_parsed dir;
	int status = sb_path_parse(grammar, root, &dir, err);

	if (status == SB_OK && dir.start != SB_START_ROOT && dir.start != SB_START_SHARE)
		return sb_fail(err, SB_E_INVALID, 0, "'%s' is no absolute path", root);
	if (status == SB_OK)
		status = sb_path_parse(grammar, path, out, err);
	if (status == SB_OK)
		status = refuse_odd(out->odd, path, err);
	if (status != SB_OK)
		return status;
	if (out->start == SB_START_DEVICE)
		return sb_fail(err, SB_E_INVALID, 0, "cannot use '%s': it names a device", path);
	if (out->start == SB_START_DRIVE)
		return sb_fail(err, SB_E_INVALID, 0,
			       "cannot use '%s': it depends on where that drive stands", path);
	if (out->start == SB_START_HERE)
		status = join(grammar, &dir, strlen(dir.text), path, out, err);
	else if (out->start == SB_START_ROOTED)
		status = join(grammar, &dir, dir.root - 1, path, out, err);
	if (status != SB_OK)
		return status;
	if (!sb_parsed_within(grammar, &dir, out))
		return sb_fail(err, SB_E_INVALID, 0, "'%s' is '%s', which is not in '%s'", path,
			       out->text, dir.text);
	return SB_OK;
}
