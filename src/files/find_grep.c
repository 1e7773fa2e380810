/*
 * find_grep.c - grep on a view.  Part of libsandbash-search: it needs pcre2.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/list.h"
#include "files/find_patterns.h"
#include "files/find_source.h"

#define MAX_TEXT ((size_t)256 << 20) /* of all lines of one result */
#define DEFAULT_MATCHES 1000
#define DEFAULT_TIMEOUT_MS 30000

/* Strings are kept as places in text until no more come. */
struct gathered_line {
	struct sb_files_line line;
	size_t text_at;
};

struct gathered_file {
	size_t path_at, first_line, line_count, matches;
};

struct grepping {
	struct sb_find *find;
	struct sb_buf text;
	struct gathered_line *lines;
	size_t line_count;
	struct gathered_file *files;
	size_t file_count;
	size_t matches;
	bool more;
};

static size_t keep(struct grepping *all, const char *bytes, size_t length)
{
	size_t at = all->text.length;

	sb_buf_append(&all->text, bytes, length);
	sb_buf_putc(&all->text, '\0');
	return at;
}

static bool add_line(struct grepping *all, const struct sb_grep_line *line)
{
	if (!SB_GROW(all->lines, all->line_count))
		return false;
	all->lines[all->line_count++] =
		(struct gathered_line){.line = {.length = line->length,
						.number = line->number,
						.match = line->match,
						.column = line->column,
						.start = line->start,
						.end = line->end,
						.cut_before = line->cut_before,
						.cut_after = line->cut_after},
				       .text_at = keep(all, line->text, line->length)};
	return true;
}

static bool add_file(void *to, const struct sb_grep_file *file)
{
	struct grepping *all = to;
	const char *path = sb_find_relative(all->find, file->path);
	struct gathered_file *mine;

	if (!SB_GROW(all->files, all->file_count)) {
		all->text.failed = true;
		return false;
	}
	mine = &all->files[all->file_count++];
	*mine = (struct gathered_file){.path_at = keep(all, path, strlen(path)),
				       .first_line = all->line_count,
				       .line_count = file->line_count,
				       .matches = file->matches};
	for (size_t i = 0; i < file->line_count; i++)
		if (!add_line(all, &file->lines[i]))
			all->text.failed = true;
	all->matches += file->matches;
	all->more |= file->more;
	return !sb_buf_failed(&all->text);
}

/* One block of memory holds the text, two arrays the rest. */
static bool finish(struct grepping *all, struct sb_files_matches *out)
{
	struct sb_files_match *files = calloc(all->file_count + 1, sizeof *files);
	struct sb_files_line *lines = calloc(all->line_count + 1, sizeof *lines);
	char *text = all->text.length ? sb_buf_take(&all->text) : NULL;

	if (!files || !lines || (all->file_count && !text)) {
		free(files);
		free(lines);
		free(text);
		return false;
	}
	for (size_t i = 0; i < all->line_count; i++) {
		lines[i] = all->lines[i].line;
		lines[i].text = text + all->lines[i].text_at;
	}
	for (size_t i = 0; i < all->file_count; i++)
		files[i] = (struct sb_files_match){.path = text + all->files[i].path_at,
						   .lines = lines + all->files[i].first_line,
						   .line_count = all->files[i].line_count,
						   .matches = all->files[i].matches};
	out->files = files;
	out->file_count = all->file_count;
	out->matches = all->matches;
	out->lines = lines;
	out->memory = text;
	return true;
}

static unsigned grep_flags(const struct sb_files_grep_request *request)
{
	return (request->ignore_case ? SB_GREP_NOCASE : 0) | (request->word ? SB_GREP_WORD : 0) |
	       (request->fixed ? SB_GREP_FIXED : 0) | (request->multiline ? SB_GREP_MULTILINE : 0);
}

static void fill_query(const struct sb_find *find, const struct sb_files_grep_request *request,
		       const struct sb_patterns *include, const struct sb_patterns *exclude,
		       struct sb_grep_query *query)
{
	query->size = sizeof *query;
	query->scope.start = find->start;
	query->scope.flags = request->no_ignore ? SB_SEARCH_IGNORED : 0;
	query->scope.includes = (const struct sb_glob *const *)include->all;
	query->scope.include_count = include->count;
	query->scope.excludes = (const struct sb_glob *const *)exclude->all;
	query->scope.exclude_count = exclude->count;
	query->scope.cancel = find->job->caller ? find->job->caller->cancel : NULL;
	query->scope.timeout_ms = request->timeout_ms ? request->timeout_ms : DEFAULT_TIMEOUT_MS;
	query->want = request->files_only ? SB_GREP_FILES : SB_GREP_LINES;
	query->before = request->before;
	query->after = request->after;
	query->max_per_file = request->limit_per_file;
	query->max_results = request->limit ? request->limit : DEFAULT_MATCHES;
}

static int search(struct grepping *all, const struct sb_grep_query *query,
		  struct sb_files_matches *out)
{
	struct sb_find *find = all->find;
	struct sb_search_end end = {0};
	struct sb_files_matches matches = {0};
	struct sb_error why;
	int status = sb_search_grep(&find->source, query, add_file, all, &end, &why);

	if (status < 0)
		return sb_find_fail(find, &why);
	if (end.why == SB_SEARCH_CANCELLED)
		return sb_refuse_errno(find->job->err, ECANCELED, "search", find->place.path);
	if (sb_buf_failed(&all->text) || !finish(all, &matches))
		return sb_refuse(find->job->err, SB_FILES_NO_MEMORY, 0,
				 "the matches need more memory than there is");
	matches.files_searched = end.files;
	matches.files_skipped = end.binary + end.unreadable + end.skipped;
	matches.truncated = end.why != SB_SEARCH_DONE || all->more;
	matches.timed_out = end.why == SB_SEARCH_TIMEOUT || end.why == SB_SEARCH_COSTLY;
	memcpy(matches.path, find->place.path, sizeof matches.path);
	*out = matches;
	return 0;
}

static int grep(struct sb_find *find, const struct sb_files_grep_request *request,
		struct sb_files_matches *out)
{
	struct grepping all = {.find = find, .text = SB_BUF(MAX_TEXT)};
	struct sb_patterns include = {0}, exclude = {0};
	struct sb_grep_query query = {0};
	struct sb_grep *compiled = NULL;
	struct sb_error why;
	int status = 0;

	if (sb_grep_new(request->pattern, request->pattern_length, grep_flags(request), &compiled,
			&why) < 0)
		status = sb_find_fail(find, &why);
	if (status == 0)
		status = sb_patterns_refuse_outside(find, request->globs);
	if (status == 0)
		status = sb_patterns_new(find, request->globs, SB_GLOB_NAME, &include);
	if (status == 0)
		status = sb_patterns_new(find, request->excludes, SB_GLOB_NAME, &exclude);
	if (status == 0) {
		fill_query(find, request, &include, &exclude, &query);
		query.grep = compiled;
		status = search(&all, &query, out);
	}
	free(all.lines);
	free(all.files);
	sb_buf_done(&all.text);
	sb_patterns_done(&include);
	sb_patterns_done(&exclude);
	sb_grep_free(compiled);
	return status;
}

int sb_files_grep(struct sb_files *view, const struct sb_files_caller *caller,
		  const struct sb_files_grep_request *request, struct sb_files_matches *out,
		  struct sb_files_error *err)
{
	struct sb_job job = {view, SB_FILES_GREP, caller, err};
	struct sb_find find;
	int status = sb_find_open(&job, request->path, &find);

	if (status < 0)
		return status;
	status = grep(&find, request, out);
	sb_find_close(&find);
	return status;
}

void sb_files_matches_done(struct sb_files_matches *matches)
{
	free(matches->files);
	free(matches->lines);
	free(matches->memory);
	*matches = (struct sb_files_matches){0};
}
