#include "audit/trail.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"

/* Times of files come from a clock that is a tick behind the one for records. */
#define TICK_US 1000000

struct source {
	char id[SB_SESSION_SIZE];
	struct sb_lines lines;
	struct sb_record record; /* the next to hand out, if has_record */
	bool has_record;
	bool begun;     /* its first line was asked for */
	bool known;     /* whether it is wanted is known: its first record was seen */
	bool unwanted;  /* never look again */
	bool told_torn; /* the torn end was reported */
	int64_t begins_us;
};

struct sb_trail {
	struct sb_trail_options options;
	char *state_dir;
	int dir;                 /* -1: there is no log yet */
	struct source **sources; /* by id, which is by time */
	size_t count;
	size_t begun;           /* so many of them were begun */
	struct source **active; /* those with a record to hand out */
	size_t active_count;
	struct source *current; /* whose record is out */
};

bool sb_session_is(const char *session, const char *name, const char *wanted)
{
	const char *dash = strchr(session, '-');

	return !wanted || strcmp(wanted, session) == 0 || (dash && strcmp(wanted, dash + 1) == 0) ||
	       (name && strcmp(wanted, name) == 0);
}

bool sb_session_wanted(int dir, const char *session, const char *wanted)
{
	enum sb_line_state state;
	struct sb_record record;
	struct sb_lines lines;
	const char *bytes;
	bool found = false;
	size_t length;

	if (sb_session_is(session, NULL, wanted))
		return true;
	sb_lines_open(&lines, dir, session);
	if (sb_lines_next(&lines, &state, &bytes, &length, NULL) == SB_OK &&
	    state == SB_LINES_LINE && sb_record_parse(bytes, length, &record, NULL) == SB_OK) {
		found = sb_session_is(session, record.name, wanted);
		sb_record_done(&record);
	}
	sb_lines_done(&lines);
	return found;
}

static int skip_line(struct sb_trail *trail, const struct source *source, bool torn)
{
	if (trail->options.skipped)
		trail->options.skipped(trail->options.context, source->id,
				       source->lines.number + torn, torn);
	return SB_OK;
}

static int take_line(struct sb_trail *trail, struct source *source, const char *bytes,
		     size_t length, struct sb_error *err)
{
	int status = sb_record_parse(bytes, length, &source->record, err);

	if (status == SB_E_INVALID)
		return skip_line(trail, source, false);
	if (status != SB_OK)
		return status;
	/* the first record tells the name, and so whether the session is wanted */
	if (!source->known)
		source->unwanted =
			!sb_session_is(source->id, source->record.name, trail->options.session);
	source->known = true;
	source->has_record = !source->unwanted && source->record.time_us >= trail->options.since_us;
	if (!source->has_record)
		sb_record_done(&source->record);
	return SB_OK;
}

/*
 * The file ends in the middle of a line.  That is a writer at work, or one that was killed;
 * the writer may also have finished since we looked, which is why we look again.
 */
static int meet_part(struct sb_trail *trail, struct source *source, enum sb_line_state *state,
		     const char **bytes, size_t *length, struct sb_error *err)
{
	int status;

	if (sb_log_writer_lives(trail->dir, source->id)) {
		*state = SB_LINES_END;
		return SB_OK;
	}
	status = sb_lines_next(&source->lines, state, bytes, length, err);
	if (status != SB_OK || *state != SB_LINES_PART)
		return status;
	*state = SB_LINES_END;
	if (!source->told_torn)
		skip_line(trail, source, true);
	source->told_torn = true;
	return SB_OK;
}

/* Read on until there is a record to hand out, or nothing more. */
static int advance(struct sb_trail *trail, struct source *source, struct sb_error *err)
{
	while (!source->has_record && !source->unwanted) {
		enum sb_line_state state;
		const char *bytes;
		size_t length;
		int status = sb_lines_next(&source->lines, &state, &bytes, &length, err);

		if (status == SB_OK && state == SB_LINES_PART)
			status = meet_part(trail, source, &state, &bytes, &length, err);
		if (status == SB_OK && state == SB_LINES_LINE)
			status = take_line(trail, source, bytes, length, err);
		else if (status == SB_OK && state == SB_LINES_LONG)
			status = skip_line(trail, source, false);
		if (status != SB_OK)
			return status;
		if (state == SB_LINES_END)
			break;
	}
	if (source->has_record)
		trail->active[trail->active_count++] = source;
	else if (source->unwanted || source->lines.start == source->lines.length)
		sb_lines_done(&source->lines); /* a buffer for each of thousands is too much */
	return SB_OK;
}

/* --- which sessions there are ------------------------------------------------ */

static int by_id(const void *a, const void *b)
{
	const struct source *const *first = a, *const *second = b;

	return strcmp((*first)->id, (*second)->id);
}

static int as_id(const void *id, const void *source)
{
	return strcmp(id, (*(const struct source *const *)source)->id);
}

static struct source *find(const struct sb_trail *trail, size_t count, const char *id)
{
	struct source **found = bsearch(id, trail->sources, count, sizeof *found, as_id);

	return found ? *found : NULL;
}

static int add_source(struct sb_trail *trail, const struct sb_session_file *file,
		      struct sb_error *err)
{
	struct source *source = calloc(1, sizeof *source);

	if (!source)
		return sb_no_memory(err);
	memcpy(source->id, file->id, sizeof file->id);
	sb_lines_open(&source->lines, trail->dir, file->id);
	source->begins_us = sb_session_begin(file->id);
	trail->sources[trail->count++] = source;
	return SB_OK;
}

/* Sessions that were not there before, and those that have grown. */
static int take_list(struct sb_trail *trail, const struct sb_session_list *list,
		     struct sb_error *err)
{
	size_t before = trail->count, room = before + list->count + 1;
	struct source **sources = reallocarray(trail->sources, room, sizeof(struct source *));
	struct source **active;
	int status = SB_OK;

	if (!sources)
		return sb_no_memory(err);
	trail->sources = sources;
	active = reallocarray(trail->active, room, sizeof(struct source *));
	if (!active)
		return sb_no_memory(err);
	trail->active = active;
	for (size_t i = 0; i < list->count && status == SB_OK; i++) {
		const struct sb_session_file *file = &list->sessions[i];
		struct source *source = find(trail, before, file->id);

		if (!source && file->changed_us + TICK_US >= trail->options.since_us)
			status = add_source(trail, file, err);
		else if (source && source->begun && !source->has_record &&
			 file->bytes > source->lines.offset)
			status = advance(trail, source, err);
	}
	if (trail->count > before) {
		qsort(trail->sources, trail->count, sizeof(struct source *), by_id);
		trail->begun = 0; /* a new one may come before one that was begun */
	}
	return status;
}

int sb_trail_refresh(struct sb_trail *trail, struct sb_error *err)
{
	SB_AUTO(sb_log_list_done) struct sb_session_list list = {0};
	int status = SB_OK;

	if (trail->dir < 0)
		status = sb_log_open(trail->state_dir, &trail->dir, err);
	if (status != SB_OK || trail->dir < 0)
		return status;
	status = sb_log_list(trail->dir, &list, err);
	if (status != SB_OK)
		return status;
	return take_list(trail, &list, err);
}

int sb_trail_new(const char *state_dir, const struct sb_trail_options *options,
		 struct sb_trail **out, struct sb_error *err)
{
	struct sb_trail *trail = calloc(1, sizeof *trail);
	int status = SB_OK;

	if (!trail)
		return sb_no_memory(err);
	trail->dir = -1;
	trail->options = *options;
	trail->state_dir = strdup(state_dir);
	status = trail->state_dir ? sb_trail_refresh(trail, err) : sb_no_memory(err);
	if (status != SB_OK) {
		sb_trail_free(trail);
		return status;
	}
	*out = trail;
	return SB_OK;
}

void sb_trail_free(struct sb_trail *trail)
{
	if (!trail)
		return;
	for (size_t i = 0; i < trail->count; i++) {
		sb_record_done(&trail->sources[i]->record);
		sb_lines_done(&trail->sources[i]->lines);
		free(trail->sources[i]);
	}
	free(trail->sources);
	free(trail->active);
	free(trail->state_dir);
	sb_auto_close(&trail->dir);
	free(trail);
}

/* --- the merge --------------------------------------------------------------- */

/* The place in active of the earliest record; active_count: none. */
static size_t earliest(const struct sb_trail *trail)
{
	size_t best = 0;

	for (size_t i = 1; i < trail->active_count; i++) {
		const struct source *one = trail->active[i], *other = trail->active[best];

		if (one->record.time_us < other->record.time_us ||
		    (one->record.time_us == other->record.time_us && by_id(&one, &other) < 0))
			best = i;
	}
	return best;
}

int sb_trail_next(struct sb_trail *trail, const struct sb_record **out, struct sb_error *err)
{
	size_t best;
	int status = SB_OK;

	if (trail->current) {
		struct source *done = trail->current;

		trail->current = NULL;
		sb_record_done(&done->record);
		done->has_record = false;
		status = advance(trail, done, err);
	}
	best = earliest(trail);
	while (status == SB_OK && trail->begun < trail->count) {
		struct source *next = trail->sources[trail->begun];

		if (!next->begun && trail->active_count &&
		    next->begins_us > trail->active[best]->record.time_us)
			break; /* its time has not come */
		trail->begun++;
		if (next->begun)
			continue;
		next->begun = true;
		status = advance(trail, next, err);
		best = earliest(trail);
	}
	if (status != SB_OK)
		return status;
	if (!trail->active_count) {
		*out = NULL;
		return SB_OK;
	}
	trail->current = trail->active[best];
	trail->active[best] = trail->active[--trail->active_count];
	*out = &trail->current->record;
	return SB_OK;
}
