#include "search/walk.h"

/* Names have no contents to look into: the walk's own choice is the result. */
struct glob_search {
	const struct sb_glob_query *query;
	sb_glob_found found;
	void *to;
	uint64_t results;
};

static bool deliver(void *context, const char *path, enum sb_search_kind kind, void *visited)
{
	struct glob_search *search = context;

	(void)visited;
	/* One more than was asked for: now it is known that there are more. */
	if (search->query->max_results && search->results == search->query->max_results)
		return false;
	search->results++;
	return search->found(search->to, path, kind);
}

int sb_search_glob(const struct sb_search_source *source, const struct sb_glob_query *query,
		   sb_glob_found found, void *to, struct sb_search_end *out_end,
		   struct sb_error *err)
{
	struct glob_search search = {.query = query, .found = found, .to = to};
	struct sb_walk_visitor visitor = {
		.context = &search,
		.kinds = query->kinds ? query->kinds : SB_SEARCH_FILE | SB_SEARCH_LINK,
		.deliver = deliver,
	};
	struct sb_search_end end = {0};
	int status;

	if (query->size != sizeof(*query))
		status = sb_fail(err, SB_E_INVALID, 0, "a query of another version");
	else
		status = sb_walk(source, &query->scope, &visitor, &end, err);
	end.results = search.results;
	if (out_end)
		*out_end = end;
	return status;
}
