/*
 * grep_file.c - grep: each file searched by one thread, what was found delivered in order.
 */
#include "search/grep_input.h"
#include "search/grep_pattern.h"
#include "search/grep_result.h"
#include "search/walk.h"

#include <string.h>

/* What a thread keeps from file to file. */
struct grep_worker {
	struct sb_matcher *matcher;
	struct sb_input input;
	uint64_t files, bytes, binary, costly, skipped; /* counted */
};

enum {
	COSTLY_LINES = 50,         /* given up on in one thread; then the search ends */
	CONTEXT_BYTES = 64 * 1024, /* of lines before, kept when the window moves */
	POLL_LINES = 1024,
};

/* The file under way; places are offsets in the window, which holds whole lines. */
struct search {
	struct grep_worker *worker;
	struct sb_walk *walk;
	const struct sb_grep_query *query;
	struct sb_grep_result *result; /* NULL until something is found */
	const char *data;
	size_t end;        /* of what can be searched */
	enum sb_text kind; /* of all of it */
	bool kind_known;
	size_t counted;  /* up to here lines are counted */
	uint64_t number; /* of the line that begins at counted */
	size_t shown;    /* up to here lines were shown */
	unsigned after;  /* lines of context that are still to be shown */
	uint64_t matches, most;
	bool costly, finished; /* finished: no need to look further */
};

/* A match and the lines that it is in. */
struct hit {
	size_t line, line_end; /* of the first line; of the last, behind its newline */
	struct sb_match match;
};

static size_t line_begin(const struct search *in, size_t at)
{
	const char *newline = at ? memrchr(in->data, '\n', at) : NULL;

	return newline ? (size_t)(newline + 1 - in->data) : 0;
}

/* Behind the newline. */
static size_t line_end(const struct search *in, size_t at)
{
	const char *newline = memchr(in->data + at, '\n', in->end - at);

	return newline ? (size_t)(newline + 1 - in->data) : in->end;
}

/* The line without its end. */
static size_t text_length(const struct search *in, size_t from, size_t to)
{
	size_t length = to - from;

	if (length && in->data[from + length - 1] == '\n')
		length--;
	if (length && in->data[from + length - 1] == '\r')
		length--;
	return length;
}

static uint64_t number_at(struct search *in, size_t line)
{
	in->number += sb_count_lines(in->data + in->counted, line - in->counted);
	in->counted = line;
	return in->number;
}

/* ---- finding ---- */

static void too_costly(struct search *in)
{
	in->costly = true;
	if (++in->worker->costly >= COSTLY_LINES)
		sb_walk_stop(in->walk, SB_SEARCH_COSTLY);
}

static enum sb_text kind_of_window(struct search *in)
{
	if (!in->kind_known)
		in->kind = sb_text_kind(in->data, in->end);
	in->kind_known = true;
	return in->kind;
}

/* Does the line match, given it alone? */
static bool line_matches(struct search *in, size_t line, size_t end, struct hit *hit)
{
	size_t length = text_length(in, line, end);
	const char *text = in->data + line;
	enum sb_text kind =
		in->kind_known && in->kind != SB_TEXT_BYTES ? in->kind : sb_text_kind(text, length);
	enum sb_matched matched =
		sb_matcher_try(in->worker->matcher, kind, text, length, 0, &hit->match);

	if (matched == SB_MATCH_COSTLY)
		too_costly(in);
	if (matched != SB_MATCH_YES)
		return false;
	hit->line = line;
	hit->line_end = end;
	hit->match.start += line;
	hit->match.end += line;
	return true;
}

/* Line after line, from the line at from to the one that ends at to. */
static bool find_by_lines(struct search *in, size_t from, size_t to, struct hit *hit)
{
	for (unsigned i = 1; from < to; i++) {
		size_t end = line_end(in, from);

		if (line_matches(in, from, end, hit))
			return true;
		from = end;
		if (i % POLL_LINES == 0 && sb_walk_stopped(in->walk))
			return false;
	}
	return false;
}

static bool find_by_literal(struct search *in, const struct sb_literal *literal, size_t from,
			    struct hit *hit)
{
	bool pure = sb_grep_is_pure(in->query->grep);

	while (from < in->end && !sb_walk_stopped(in->walk)) {
		size_t at = from + sb_literal_find(literal, in->data + from, in->end - from);
		size_t line, end;

		if (at == in->end)
			return false;
		line = line_begin(in, at);
		end = line_end(in, at);
		if (pure) {
			*hit = (struct hit){line, end, {at, at + literal->length}};
			return true;
		}
		if (line_matches(in, line, end, hit))
			return true;
		from = end;
	}
	return false;
}

/* Behind the last newline there is no line, though an empty match may be found there. */
static bool behind_last_line(const struct search *in, size_t at)
{
	return at >= in->end && in->data[in->end - 1] == '\n';
}

static bool find_by_scan(struct search *in, size_t from, struct hit *hit)
{
	while (from < in->end && !sb_walk_stopped(in->walk)) {
		size_t at, line, end;
		enum sb_matched matched = sb_matcher_scan(in->worker->matcher, kind_of_window(in),
							  in->data + from, in->end - from, &at);

		/* Too much for the block need not be too much for its lines. */
		if (matched == SB_MATCH_COSTLY)
			return find_by_lines(in, from, in->end, hit);
		if (matched == SB_MATCH_NO || behind_last_line(in, from + at))
			return false;
		line = line_begin(in, from + at);
		end = line_end(in, from + at);
		if (line_matches(in, line, end, hit))
			return true;
		from = end;
	}
	return false;
}

static bool find_anywhere(struct search *in, size_t from, struct hit *hit)
{
	enum sb_matched matched = sb_matcher_try(in->worker->matcher, kind_of_window(in), in->data,
						 in->end, from, &hit->match);

	if (matched == SB_MATCH_COSTLY)
		too_costly(in);
	if (matched != SB_MATCH_YES || behind_last_line(in, hit->match.start))
		return false;
	hit->line = line_begin(in, hit->match.start);
	/* A match that ends with a newline does not reach into the next line. */
	hit->line_end = line_end(in, hit->match.end > hit->match.start ? hit->match.end - 1
								       : hit->match.end);
	return true;
}

/* The first line with a match, from the line at from on. */
static bool find(struct search *in, size_t from, struct hit *hit)
{
	const struct sb_literal *literal = sb_grep_literal(in->query->grep);
	bool scans = sb_matcher_can_scan(in->worker->matcher);

	if (from >= in->end)
		return false;
	if (sb_grep_is_multiline(in->query->grep))
		return find_anywhere(in, from, hit);
	/* One byte is in too many lines; the scan has more to go by. */
	if (literal && (literal->length > 1 || !scans || sb_grep_is_pure(in->query->grep)))
		return find_by_literal(in, literal, from, hit);
	/* Where some lines are UTF-8 and some are not, no one way to read them fits all. */
	if (scans && kind_of_window(in) != SB_TEXT_BYTES)
		return find_by_scan(in, from, hit);
	return find_by_lines(in, from, in->end, hit);
}

/* ---- showing ---- */

static void add_line(struct search *in, size_t line, size_t end, const struct hit *hit)
{
	size_t limit = in->query->max_line_bytes ? in->query->max_line_bytes : SB_GREP_LINE;
	struct sb_grep_line added = {.number = number_at(in, line),
				     .text = in->data + line,
				     .length = text_length(in, line, end),
				     .match = hit != NULL};

	if (hit) {
		added.start = hit->match.start > line ? hit->match.start - line : 0;
		added.end = hit->match.end > line ? hit->match.end - line : 0;
		added.end = added.end < added.length ? added.end : added.length;
		added.start = added.start < added.end ? added.start : added.end;
	}
	if (!sb_grep_result_add(in->result, added, limit)) {
		in->result->file.more = true;
		in->finished = true;
	}
	in->shown = end;
}

/* Context behind the last match, as far as the line at limit. */
static void show_after(struct search *in, size_t limit)
{
	while (in->after && in->shown < limit && !in->finished) {
		in->after--;
		add_line(in, in->shown, line_end(in, in->shown), NULL);
	}
}

static void show_before(struct search *in, size_t line)
{
	unsigned want = in->query->before < SB_GREP_CONTEXT ? in->query->before : SB_GREP_CONTEXT;
	size_t from = line;

	for (; want && from > in->shown; want--)
		from = line_begin(in, from - 1);
	while (from < line && !in->finished) {
		size_t end = line_end(in, from);

		add_line(in, from, end, NULL);
		from = end;
	}
}

static void show(struct search *in, const struct hit *hit)
{
	show_before(in, hit->line);
	for (size_t at = hit->line; at < hit->line_end && !in->finished;) {
		size_t end = line_end(in, at);

		add_line(in, at, end, hit);
		at = end;
	}
	in->after = in->query->after < SB_GREP_CONTEXT ? in->query->after : SB_GREP_CONTEXT;
}

/* Count the hit and show it.  What was found is wanted, or there is one too many. */
static void take(struct search *in, const struct hit *hit)
{
	bool lines = in->query->want == SB_GREP_LINES;

	if (!in->result)
		in->result = sb_grep_result_new();
	if (!in->result) {
		in->finished = true;
		sb_walk_unreadable(in->walk);
		return;
	}
	if (lines)
		show_after(in, hit->line);
	if (in->most && in->matches == in->most) {
		in->result->file.more = true;
		in->finished = true;
		return;
	}
	in->matches++;
	if (lines)
		show(in, hit);
	if (in->query->want == SB_GREP_FILES)
		in->finished = true;
}

static void search_window(struct search *in, size_t from)
{
	struct hit hit;

	while (!in->finished && find(in, from, &hit)) {
		take(in, &hit);
		from = hit.line_end;
	}
	if (in->result && in->query->want == SB_GREP_LINES)
		show_after(in, in->end);
}

/* ---- the file ---- */

/* Move the window: its last lines stay, for they may become context. */
static size_t move_window(struct search *in, struct sb_input *input)
{
	unsigned want = in->query->want == SB_GREP_LINES ? in->query->before : 0;
	size_t keep = in->end, oldest = in->end > CONTEXT_BYTES ? in->end - CONTEXT_BYTES : 0;

	want = want < SB_GREP_CONTEXT ? want : SB_GREP_CONTEXT;
	for (; want && keep > in->shown; want--) {
		size_t line = line_begin(in, keep - 1);

		if (line < oldest)
			break;
		keep = line;
	}
	if (in->query->want == SB_GREP_LINES)
		number_at(in, keep);
	in->counted = 0;
	in->shown = in->shown > keep ? in->shown - keep : 0;
	in->kind_known = false;
	sb_input_move(input, keep);
	return in->end - keep;
}

/* The whole file, window after window.  false: it is no text, or cannot be read. */
static bool search_all(struct search *in, struct sb_input *input)
{
	uint64_t limit = in->query->max_file_bytes;
	size_t from = 0;

	for (bool first = true; !in->finished && !sb_walk_stopped(in->walk); first = false) {
		bool binary;

		if (!sb_input_fill(input)) {
			if (input->too_big)
				in->worker->skipped++;
			else
				sb_walk_unreadable(in->walk);
			return false;
		}
		if (limit && input->bytes > limit) {
			in->worker->skipped++;
			return false;
		}
		in->data = input->data;
		in->end = input->usable;
		binary = memchr(in->data, '\0', input->length);
		if (binary && first) {
			in->worker->binary++;
			return false;
		}
		if (binary) {
			if (in->result)
				in->result->file.binary = true;
			return true;
		}
		search_window(in, from);
		if (input->at_end)
			return true;
		from = move_window(in, input);
	}
	return true;
}

static struct sb_grep_result *finish(struct search *in, size_t *out_bytes)
{
	struct sb_grep_result *result = in->result;

	if (!result)
		return NULL;
	result->file.matches = in->matches;
	result->file.costly = in->costly;
	result->file.utf16 = in->worker->input.encoding != SB_INPUT_BYTES;
	*out_bytes = sb_grep_result_finish(result);
	return result;
}

/* How many matching lines of one file could be wanted at most; 0: all. */
static uint64_t most_matches(const struct sb_grep_query *query)
{
	uint64_t most = query->max_per_file;

	if (query->want != SB_GREP_LINES)
		return most;
	if (!most)
		most = SB_GREP_PER_FILE;
	return query->max_results && query->max_results < most ? query->max_results : most;
}

/* NULL: nothing found.  The file's lines are finished. */
static struct sb_grep_result *search_file(struct grep_worker *worker, struct sb_walk *walk,
					  const struct sb_search_source *source,
					  const struct sb_grep_query *query,
					  const struct sb_walk_file *file, size_t *out_bytes)
{
	struct search in = {
		.worker = worker,
		.walk = walk,
		.query = query,
		.number = 1,
		.most = most_matches(query),
	};
	sb_search_handle handle;

	if (source->backend->open_file(source->context, file->directory, file->name, &handle) < 0) {
		sb_walk_unreadable(walk);
		return NULL;
	}
	worker->files++;
	sb_input_begin(&worker->input, source, handle, sb_grep_is_multiline(query->grep));
	if (!search_all(&in, &worker->input) && in.result && query->max_file_bytes) {
		/* Too large is skipped altogether, however much was read before that showed. */
		sb_grep_result_free(in.result);
		in.result = NULL;
	}
	worker->bytes += worker->input.bytes;
	source->backend->close_file(source->context, handle);
	return finish(&in, out_bytes);
}

/* --- all files ---------------------------------------------------------------------------- */

struct grep_search {
	const struct sb_search_source *source;
	const struct sb_grep_query *query;
	sb_grep_found found;
	void *to;
	uint64_t results;
	struct grep_worker workers[SB_WALK_WORKERS];
};

static void *visit(void *context, struct sb_walk *walk, unsigned worker,
		   const struct sb_walk_file *file, size_t *out_bytes)
{
	struct grep_search *search = context;

	return search_file(&search->workers[worker], walk, search->source, search->query, file,
			   out_bytes);
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
		struct grep_worker *worker = &search->workers[i];

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
