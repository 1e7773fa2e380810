#include <string.h>

#include "search/grep_file.h"

struct grep_search {
	const struct sb_search_source *source;
	const struct sb_grep_query *query;
	sb_grep_found found;
	void *to;
	uint64_t results;
	struct sb_grep_worker workers[SB_WALK_WORKERS];
};

static void *visit(void *context, struct sb_walk *walk, unsigned worker,
		   const struct sb_walk_file *file, size_t *out_bytes)
{
	struct grep_search *search = context;

	return sb_grep_file_search(&search->workers[worker], walk, search->source, search->query,
				   file, out_bytes);
}

static void discard(void *visited)
{
	sb_grep_result_free(visited);
}

/* What one file counts toward max_results. */
static uint64_t weight(const struct grep_search *search, const struct sb_grep_result *result)
{
	return search->query->want == SB_GREP_LINES ? result->file.matches : 1;
}

static bool deliver(void *context, const char *path, enum sb_search_kind kind, void *visited)
{
	struct grep_search *search = context;
	struct sb_grep_result *result = visited;
	uint64_t most = search->query->max_results, left = most - search->results;
	bool go_on = true;

	(void)kind;
	if (most && !left) {
		/* One more than was asked for: now it is known that there are more. */
		sb_grep_result_free(result);
		return false;
	}
	if (most && weight(search, result) > left) {
		sb_grep_result_trim(result, left, search->query->after);
		go_on = false;
	}
	if (most && result->file.more && weight(search, result) == left)
		go_on = false;
	search->results += weight(search, result);
	result->file.path = path;
	if (!search->found(search->to, &result->file))
		go_on = false;
	sb_grep_result_free(result);
	return go_on;
}

static bool make_workers(struct grep_search *search, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		search->workers[i].matcher = sb_matcher_new(search->query->grep);
		if (!search->workers[i].matcher)
			return false;
	}
	return true;
}

static void end_workers(struct grep_search *search, struct sb_search_end *end)
{
	end->files = 0;
	for (unsigned i = 0; i < SB_WALK_WORKERS; i++) {
		struct sb_grep_worker *worker = &search->workers[i];

		end->files += worker->files;
		end->bytes += worker->bytes;
		end->binary += worker->binary;
		end->costly += worker->costly;
		end->skipped += worker->skipped;
		sb_matcher_free(worker->matcher);
		sb_input_done(&worker->input);
	}
}

int sb_search_grep(const struct sb_search_source *source, const struct sb_grep_query *query,
		   sb_grep_found found, void *to, struct sb_search_end *out_end,
		   struct sb_error *err)
{
	struct grep_search search = {.source = source, .query = query, .found = found, .to = to};
	struct sb_walk_visitor visitor = {
		.context = &search,
		.kinds = SB_SEARCH_FILE,
		.visit = visit,
		.deliver = deliver,
		.discard = discard,
	};
	struct sb_search_end end = {0};
	int status;

	if (query->size != sizeof(*query) || !query->grep)
		status = sb_fail(err, SB_E_INVALID, 0, "a query of another version");
	else if (!make_workers(&search, sb_walk_workers(&query->scope)))
		status = sb_no_memory(err);
	else
		status = sb_walk(source, &query->scope, &visitor, &end, err);
	end_workers(&search, &end);
	end.results = search.results;
	if (out_end)
		*out_end = end;
	return status;
}
