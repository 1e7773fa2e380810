/*
 * find_glob.c - glob on a view.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "files/entries.h"
#include "files/find_patterns.h"
#include "files/find_source.h"

#define GLOB_TIMEOUT_MS 30000 /* as for grep; what was found until then is given */

void sb_patterns_done(struct sb_patterns *patterns)
{
	for (size_t i = 0; i < patterns->count; i++)
		sb_glob_free(patterns->all[i]);
	free(patterns->all);
	*patterns = (struct sb_patterns){0};
}

int sb_patterns_new(struct sb_find *find, const char *const *texts, unsigned flags,
		    struct sb_patterns *out)
{
	size_t count = sb_list_count(texts);
	struct sb_error why;

	*out = (struct sb_patterns){0};
	if (!count)
		return 0;
	out->all = calloc(count, sizeof *out->all);
	if (!out->all)
		return sb_refuse_memory(find->job->err);
	for (size_t i = 0; i < count; i++) {
		int status = sb_glob_new(texts[i], flags, &out->all[i], &why);

		if (status < 0) {
			sb_patterns_done(out);
			return sb_find_fail(find, &why);
		}
		out->count++;
	}
	return 0;
}

struct globbing {
	struct sb_find *find;
	struct sb_entry_list list;
	bool details;
	int error;
};

/* Size and time of one result; what has moved meanwhile has none. */
static void look_closer(const struct globbing *globbing, const char *path, struct sb_found *found)
{
	const struct sb_find *find = globbing->find;
	struct sb_files_backend *backend = find->job->view->backend;
	struct sb_root base = {.path = (char *)find->base,
			       .directory = find->disk.root,
			       .node = find->root ? find->root->node : find->place.node};
	char whole[PATH_MAX];
	struct sb_place place;

	if (backend->ops->resolve(backend, &base, path, 0, &place) < 0)
		return;
	/* exactly there: a link that came in between may lead to the same names elsewhere */
	if (place.exists && !place.error &&
	    (size_t)snprintf(whole, sizeof whole, "%s/%s", find->base[1] ? find->base : "", path) <
		    sizeof whole &&
	    strcmp(place.path, whole) == 0)
		found->facts = place.facts;
	backend->ops->release(backend, &place);
}

static bool add(void *to, const char *path, enum sb_search_kind kind)
{
	struct globbing *globbing = to;
	struct sb_found found = {.name = sb_find_relative(globbing->find, path),
				 .type = kind == SB_SEARCH_FILE        ? SB_FILES_FILE
					 : kind == SB_SEARCH_DIRECTORY ? SB_FILES_DIRECTORY
					 : kind == SB_SEARCH_LINK      ? SB_FILES_LINK
								       : SB_FILES_OTHER};

	if (globbing->details)
		look_closer(globbing, path, &found);
	globbing->error = sb_entry_list_add(&globbing->list, &found, 0);
	return globbing->error == 0;
}

static int search(struct globbing *globbing, const struct sb_files_glob_request *request,
		  const struct sb_patterns *include, const struct sb_patterns *exclude,
		  struct sb_search_end *end)
{
	struct sb_find *find = globbing->find;
	const struct sb_files_options *options = &find->job->view->options;
	struct sb_glob_query query = {.size = sizeof query};
	struct sb_error why;
	int status;

	query.scope.start = find->start;
	query.scope.flags = request->reference   ? SB_SEARCH_IGNORED | SB_SEARCH_GIT
			    : request->no_ignore ? SB_SEARCH_IGNORED
						 : 0;
	query.scope.includes = (const struct sb_glob *const *)include->all;
	query.scope.include_count = include->count;
	query.scope.excludes = (const struct sb_glob *const *)exclude->all;
	query.scope.exclude_count = exclude->count;
	query.scope.cancel = find->job->caller ? find->job->caller->cancel : NULL;
	query.scope.timeout_ms = GLOB_TIMEOUT_MS;
	query.kinds = request->only_files ? SB_SEARCH_FILE : SB_SEARCH_ALL;
	query.max_results = request->limit && request->limit < options->entry_limit
				    ? request->limit
				    : options->entry_limit;
	status = sb_search_glob(&find->source, &query, add, globbing, end, &why);
	if (status < 0)
		return sb_find_fail(find, &why);
	if (globbing->error)
		return sb_refuse_errno(find->job->err, globbing->error, "search", find->place.path);
	if (end->why == SB_SEARCH_CANCELLED)
		return sb_refuse_errno(find->job->err, ECANCELED, "search", find->place.path);
	return 0;
}

static int glob(struct sb_find *find, const struct sb_files_glob_request *request,
		struct sb_files_entries *out)
{
	unsigned flags = (request->reference ? SB_GLOB_MINIMATCH : 0) |
			 (request->ignore_case ? SB_GLOB_NOCASE : 0);
	const char *const wanted[] = {request->pattern, NULL};
	struct globbing globbing = {
		.find = find, .details = request->details || request->sort != SB_FILES_BY_NAME};
	struct sb_patterns include = {0}, exclude = {0};
	struct sb_files_entries entries = {0};
	struct sb_search_end end = {0};
	int status = sb_patterns_refuse_outside(find, wanted);

	if (status == 0)
		status = sb_patterns_new(find, wanted, flags, &include);
	if (status == 0)
		status = sb_patterns_new(find, request->excludes, flags, &exclude);
	sb_entry_list_init(&globbing.list);
	if (status == 0)
		status = search(&globbing, request, &include, &exclude, &end);
	if (status == 0) {
		if (request->sort != SB_FILES_BY_NAME)
			sb_entry_list_sort(&globbing.list, request->sort);
		if (sb_entry_list_finish(&globbing.list, &entries) < 0)
			status = sb_refuse_memory(find->job->err);
	}
	if (status == 0) {
		entries.truncated = end.why != SB_SEARCH_DONE;
		memcpy(entries.path, find->place.path, sizeof entries.path);
		*out = entries;
	}
	sb_entry_list_done(&globbing.list);
	sb_patterns_done(&include);
	sb_patterns_done(&exclude);
	return status;
}

int sb_files_glob(struct sb_files *view, const struct sb_files_caller *caller,
		  const struct sb_files_glob_request *request, struct sb_files_entries *out,
		  struct sb_files_error *err)
{
	struct sb_job job = {view, SB_FILES_GLOB, caller, err};
	struct sb_find find;
	int status = sb_find_open(&job, request->path, &find);

	if (status < 0)
		return status;
	status = glob(&find, request, out);
	sb_find_close(&find);
	return status;
}
