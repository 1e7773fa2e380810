/* tool_search.c - finding: files by their names, lines by what is in them. */
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "mcp/tools/tools.h"

#define TEXT_MAX (512 * 1024 * 1024)

static void put_path(struct sb_buf *text, const char *directory, const char *name)
{
	sb_buf_puts(text, directory);
	if (*name) {
		if (strcmp(directory, "/") != 0)
			sb_buf_putc(text, '/');
		sb_buf_puts(text, name);
	}
}

/* F5: whoever separates names as on Windows is told how it is done here. */
static void put_nothing(struct sb_buf *text, const char *pattern)
{
	sb_buf_puts(text, "No matches found");
	if (strchr(pattern, '\\'))
		sb_buf_puts(text,
			    "\n[names are separated by '/', as in src/*.txt; a backslash makes the "
			    "character behind it plain]");
}

json_t *sb_tool_search(struct sb_tool_call *call)
{
	SB_AUTO_FREE const char **excludes = sb_arg_list(call->args, "excludePatterns");
	struct sb_files_glob_request request = {
		.size = sizeof request,
		.path = sb_get_text(call->args, "path"),
		.pattern = sb_get_text(call->args, "pattern"),
		.excludes = excludes,
		.no_ignore = true,
		.reference = true,
	};
	SB_AUTO_BUF struct sb_buf text = SB_BUF(TEXT_MAX);
	SB_AUTO_ENTRIES struct sb_files_entries entries = {0};

	if (sb_files_glob(call->view, call->caller, &request, &entries, &call->err) != 0)
		return sb_tool_files_error(&call->err);
	for (size_t i = 0; i < entries.count; i++) {
		if (i)
			sb_buf_putc(&text, '\n');
		put_path(&text, entries.path, entries.all[i].name);
	}
	if (!entries.count)
		put_nothing(&text, request.pattern);
	if (entries.truncated)
		sb_buf_puts(&text, "\n[cut: there are more; use a narrower pattern]");
	return sb_tool_said(&text, NULL);
}

static enum sb_files_sort sort_of(const char *word)
{
	if (word && strcmp(word, "size") == 0)
		return SB_FILES_BY_SIZE;
	return word && strcmp(word, "time") == 0 ? SB_FILES_BY_TIME : SB_FILES_BY_NAME;
}

/* F8: the same names relative to their project root, for a search that began at start. */
struct inside {
	bool known; /* start lies in a root */
	char start[PATH_MAX];
};

static struct inside find_inside(const struct sb_tool_call *call, const char *start)
{
	struct inside inside;
	char path[PATH_MAX];

	inside.known = sb_files_locate(call->view, start, true, path, inside.start, NULL) == 0 &&
		       inside.start[0];
	if (inside.known && strcmp(inside.start, ".") == 0)
		inside.start[0] = '\0';
	return inside;
}

static json_t *name_inside(const struct inside *inside, const char *name)
{
	SB_AUTO_BUF struct sb_buf path = SB_BUF(2 * PATH_MAX);

	put_path(&path, inside->start, name);
	/* a file that was searched itself has no name beneath the start */
	return sb_rpc_text(path.data + (path.length && path.data[0] == '/'),
			   path.length - (path.length && path.data[0] == '/'));
}

json_t *sb_tool_glob(struct sb_tool_call *call)
{
	SB_AUTO_FREE const char **excludes = sb_arg_list(call->args, "exclude");
	size_t offset = (size_t)sb_arg_int(call->args, "offset", 0),
	       limit = (size_t)sb_arg_int(call->args, "limit", 1000), end;
	struct sb_files_glob_request request = {
		.size = sizeof request,
		.path = sb_get_text(call->args, "path"),
		.pattern = sb_get_text(call->args, "pattern"),
		.excludes = excludes,
		.no_ignore = sb_get_true(call->args, "includeIgnored"),
		.only_files = sb_get_true(call->args, "filesOnly"),
		.ignore_case = sb_get_true(call->args, "ignoreCase"),
		.sort = sort_of(sb_get_text(call->args, "sortBy")),
	};
	SB_AUTO_BUF struct sb_buf text = SB_BUF(TEXT_MAX);
	SB_AUTO_ENTRIES struct sb_files_entries entries = {0};
	json_t *files = json_array(), *relative = json_array(), *more;
	struct inside inside;

	/* in order of name the rest need not be looked for */
	if (request.sort == SB_FILES_BY_NAME)
		request.limit = offset + limit + 1;
	if (sb_files_glob(call->view, call->caller, &request, &entries, &call->err) != 0) {
		json_decref(files);
		json_decref(relative);
		return sb_tool_files_error(&call->err);
	}
	inside = find_inside(call, entries.path);
	end = offset + limit < entries.count ? offset + limit : entries.count;
	for (size_t i = offset; i < end; i++) {
		size_t start;

		if (i > offset)
			sb_buf_putc(&text, '\n');
		start = text.length;
		put_path(&text, entries.path, entries.all[i].name);
		json_array_append_new(files, sb_rpc_text(text.data + start, text.length - start));
		if (inside.known)
			json_array_append_new(relative, name_inside(&inside, entries.all[i].name));
	}
	if (offset >= end)
		put_nothing(&text, request.pattern);
	more = json_pack("{s:o, s:o}", "files", files, "relativeFiles", relative);
	if (entries.count > end) {
		json_object_set_new(more, "nextOffset", json_integer((json_int_t)end));
		sb_buf_printf(&text, "\n[more: go on with offset %zu]", end);
	}
	return sb_tool_said(&text, more);
}

/* --- grep ---------------------------------------------------------------------------------------- */

static json_t *line_facts(const struct sb_files_line *line)
{
	json_t *facts = json_pack("{s:I, s:o}", "line", (json_int_t)line->number, "text",
				  sb_rpc_text(line->text, line->length));

	if (line->match)
		json_object_set_new(facts, "column", json_integer((json_int_t)line->column));
	else
		json_object_set_new(facts, "context", json_true());
	if (line->cut_before || line->cut_after)
		json_object_set_new(facts, "cut", json_true());
	return facts;
}

/* "path:12:text" for matches, "path-13-text" for context, as grep prints them. */
static json_t *file_facts(const struct sb_files_match *match, const char *start,
			  const struct inside *inside, bool names_only, struct sb_buf *text)
{
	SB_AUTO_BUF struct sb_buf path = SB_BUF(2 * PATH_MAX);
	json_t *lines = json_array(), *facts;

	put_path(&path, start, match->path);
	if (names_only)
		sb_buf_printf(text, "%s\n", path.data);
	for (size_t i = 0; !names_only && i < match->line_count; i++) {
		const struct sb_files_line *line = &match->lines[i];
		char mark = line->match ? ':' : '-';

		if (i && match->lines[i - 1].number + 1 != line->number)
			sb_buf_puts(text, "--\n");
		sb_buf_printf(text, "%s%c%llu%c", path.data, mark, (unsigned long long)line->number,
			      mark);
		sb_buf_append(text, line->text, line->length);
		sb_buf_putc(text, '\n');
		json_array_append_new(lines, line_facts(line));
	}
	facts = json_pack("{s:o, s:I}", "path", sb_rpc_buf(&path), "matches",
			  (json_int_t)match->matches);
	if (inside->known)
		json_object_set_new(facts, "relativePath", name_inside(inside, match->path));
	if (names_only)
		json_decref(lines);
	else
		json_object_set_new(facts, "lines", lines);
	return facts;
}

static json_t *matches_result(const struct sb_tool_call *call,
			      const struct sb_files_matches *matches, bool names_only)
{
	const struct inside inside = find_inside(call, matches->path);
	SB_AUTO_BUF struct sb_buf text = SB_BUF(TEXT_MAX);
	json_t *files = json_array();

	for (size_t i = 0; i < matches->file_count; i++)
		json_array_append_new(files, file_facts(&matches->files[i], matches->path, &inside,
							names_only, &text));
	if (!matches->file_count)
		sb_buf_puts(&text, "No matches found\n");
	if (matches->timed_out)
		sb_buf_puts(&text, "[not everything was searched: the time was up]\n");
	else if (matches->truncated)
		sb_buf_puts(&text, "[cut: there may be more; narrow the search]\n");
	return sb_tool_text(sb_rpc_text(text.data, text.length - 1),
			    json_pack("{s:o, s:I, s:I, s:b, s:b}", "files", files, "matches",
				      (json_int_t)matches->matches, "filesSearched",
				      (json_int_t)matches->files_searched, "truncated",
				      matches->truncated, "timedOut", matches->timed_out));
}

json_t *sb_tool_grep(struct sb_tool_call *call)
{
	SB_AUTO_FREE const char **includes = sb_arg_list(call->args, "include");
	SB_AUTO_FREE const char **excludes = sb_arg_list(call->args, "exclude");
	struct sb_files_grep_request request = {
		.size = sizeof request,
		.path = sb_get_text(call->args, "path"),
		.pattern = sb_get_text(call->args, "pattern"),
		.pattern_length = sb_get_length(call->args, "pattern"),
		.globs = includes,
		.excludes = excludes,
		.fixed = sb_get_true(call->args, "literal"),
		.ignore_case = sb_get_true(call->args, "ignoreCase"),
		.word = sb_get_true(call->args, "word"),
		.no_ignore = sb_get_true(call->args, "includeIgnored"),
		.files_only = sb_get_true(call->args, "filesOnly"),
		.before = (uint32_t)sb_arg_int(call->args, "before", 0),
		.after = (uint32_t)sb_arg_int(call->args, "after", 0),
		.limit_per_file = (size_t)sb_arg_int(call->args, "limitPerFile", 0),
		.limit = (size_t)sb_arg_int(call->args, "limit", 500),
		.timeout_ms = (uint32_t)sb_arg_int(call->args, "timeoutMs", 30000),
	};
	SB_AUTO_MATCHES struct sb_files_matches matches = {0};

	if (sb_files_grep(call->view, call->caller, &request, &matches, &call->err) != 0)
		return sb_tool_files_error(&call->err);
	return matches_result(call, &matches, request.files_only);
}
