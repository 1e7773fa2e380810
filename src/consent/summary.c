#include "consent/summary.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/escape.h"
#include "base/words.h"
#include "consent/question.h"
#include "consent/way.h"
#include "path/path.h"
#include "path/pattern.h"

/* So many names in one directory are about the directory. */
#define CROWD 3
#define MAX_WRITTEN 32 /* each was a question */

struct sb_summary {
	char *home;
	bool of_worker;
	bool apart;
	struct sb_stopped *entries; /* room for most */
	size_t count, most;
	unsigned long total, beyond;
	struct written { /* by a yes to whatever it is */
		char *path;
		size_t length; /* in the end */
	} written[MAX_WRITTEN];
	size_t written_count;
	unsigned long written_beyond;
	struct sb_notes notes;
	struct sb_contact_list contacts;
};

void sb_summary_of_worker(struct sb_summary *summary)
{
	summary->of_worker = true;
}

static struct sb_way way_of(const struct sb_summary *summary, const struct sb_stopped *entry)
{
	return sb_way_find(summary->of_worker ? NULL : summary->home, entry);
}

struct sb_summary *sb_summary_new(const char *home)
{
	struct sb_summary *summary = calloc(1, sizeof *summary);

	if (!summary)
		return NULL;
	summary->most = SB_SUMMARY_MAX;
	summary->entries = calloc(summary->most, sizeof *summary->entries);
	summary->home = strdup(home);
	if (!summary->home || !summary->entries) {
		sb_summary_free(summary);
		return NULL;
	}
	return summary;
}

int sb_summary_keep_apart(struct sb_summary *summary, struct sb_error *err)
{
	struct sb_stopped *grown = calloc(SB_SUMMARY_APART, sizeof *grown);

	if (!grown)
		return sb_no_memory(err);
	free(summary->entries);
	summary->entries = grown;
	summary->most = SB_SUMMARY_APART;
	summary->apart = true;
	return SB_OK;
}

static void free_entry(struct sb_stopped *entry)
{
	free(entry->path);
	free(entry->program);
	free(entry->worker);
	free(entry->by);
	free(entry->other);
	free(entry->rule);
}

void sb_summary_free(struct sb_summary *summary)
{
	if (!summary)
		return;
	for (size_t i = 0; i < summary->count; i++)
		free_entry(&summary->entries[i]);
	for (size_t i = 0; i < summary->written_count; i++)
		free(summary->written[i].path);
	sb_notes_done(&summary->notes);
	sb_contacts_done(&summary->contacts);
	free(summary->entries);
	free(summary->home);
	free(summary);
}

void sb_summary_wrote(struct sb_summary *summary, const char *path, size_t length)
{
	char *copy;

	for (size_t i = 0; i < summary->written_count; i++)
		if (strcmp(summary->written[i].path, path) == 0) {
			summary->written[i].length = length;
			return;
		}
	copy = summary->written_count < MAX_WRITTEN ? strdup(path) : NULL;
	if (copy)
		summary->written[summary->written_count++] = (struct written){copy, length};
	else
		summary->written_beyond++;
}

static void put_written(const struct sb_summary *summary, struct sb_buf *out)
{
	if (!summary->written_count && !summary->written_beyond)
		return;
	sb_buf_puts(out, "sandbash: written by a yes to whatever it would be; look at it:\n");
	for (size_t i = 0; i < summary->written_count; i++) {
		sb_buf_puts(out, "  '");
		sb_escape_name(out, summary->written[i].path, strlen(summary->written[i].path));
		sb_buf_printf(out, "' (%zu byte%s)\n", summary->written[i].length,
			      summary->written[i].length == 1 ? "" : "s");
	}
	if (summary->written_beyond)
		sb_buf_printf(out, "  and %lu more\n", summary->written_beyond);
}

unsigned long sb_summary_count(const struct sb_summary *summary)
{
	return summary->total + summary->contacts.refused;
}

void sb_summary_contact(struct sb_summary *summary, const struct sb_contact *contact)
{
	sb_contacts_add(&summary->contacts, contact);
}

void sb_summary_hosts(const struct sb_summary *summary, bool refused, struct sb_buf *out)
{
	sb_contacts_rules(&summary->contacts, refused, out);
}

bool sb_summary_note(struct sb_summary *summary, enum sb_note_weight weight, const char *line)
{
	return sb_notes_add(&summary->notes, weight, line);
}

bool sb_summary_is_empty(const struct sb_summary *summary)
{
	return !summary->total && !summary->contacts.refused && !summary->notes.known_count &&
	       !summary->written_count && !summary->written_beyond;
}

/* --- collecting --------------------------------------------------------------- */

static bool same_kind(const struct sb_stopped *a, const struct sb_stopped *b)
{
	return (a->op == SB_READ) == (b->op == SB_READ) && !a->rule == !b->rule &&
	       (!a->rule || strcmp(a->rule, b->rule) == 0);
}

static bool holds(const struct sb_summary *summary, const struct sb_stopped *entry,
		  const struct sb_stopped *other)
{
	if (summary->apart &&
	    (entry->approved != other->approved || !sb_text_same(entry->by, other->by)))
		return false;
	/* the file says of writing and of deleting apart what may be done */
	if (summary->of_worker && (entry->op == SB_DELETE) != (other->op == SB_DELETE))
		return false;
	if (!same_kind(entry, other) || !sb_text_same(entry->other, other->other) ||
	    !sb_text_same(entry->worker, other->worker) ||
	    entry->needs_place != other->needs_place || entry->no_place != other->no_place)
		return false;
	return entry->beneath ? sb_path_within(entry->path, other->path)
			      : strcmp(entry->path, other->path) == 0;
}

/* No flag of ours is stronger. */
static bool is_final(const struct sb_rule *rule, enum sb_op op)
{
	return rule && (rule->hard ||
			(rule->tier == SB_TIER_SYSTEM && rule->access.verdict[op] == SB_DENY));
}

/* Does the rule hide the directory that path is in? */
static bool hides_parent(const struct sb_rule *rule, const char *path)
{
	SB_AUTO_FREE char *parent = sb_path_parent(path);
	SB_AUTO(sb_pattern_done) struct sb_pattern pattern = {0};

	if (!parent || rule->access.verdict[SB_READ] == SB_ALLOW ||
	    sb_pattern_parse(rule->pattern, &pattern, NULL) != SB_OK)
		return false;
	return sb_pattern_covers(&pattern, parent);
}

/* Would a rule for the directory of a hard link cover what it is a link to? */
static bool is_beside(const char *linked, const char *path)
{
	SB_AUTO_FREE char *parent = sb_path_parent(path);

	return parent && sb_path_within(parent, linked);
}

static bool fill(const struct sb_summary *summary, const struct sb_refusal *refusal,
		 struct sb_stopped *out)
{
	const struct sb_rule *rule = refusal->rule;
	const char *directory;

	*out = (struct sb_stopped){.op = refusal->op,
				   .ops = 1u << refusal->op,
				   .approved = refusal->approved,
				   .directory = refusal->directory,
				   .metadata = refusal->metadata,
				   .read_only = refusal->read_only,
				   .count = 1};
	/* A cache is opened as a whole, unless a rule has singled out something in it. */
	if (!rule && refusal->op != SB_READ && !summary->apart)
		out->cache = sb_cache_of(summary->home, refusal->path, &directory);
	out->path = out->cache ? sb_path_join(summary->home, directory) : strdup(refusal->path);
	out->beneath = out->cache != NULL;
	if (rule) {
		/* what the mode took away is not the rule's word */
		out->rule = strdup(rule->capped && refusal->op != SB_READ ? "the mode is read-only"
									  : rule->origin);
		out->final = is_final(rule, refusal->op);
		out->in_hidden = hides_parent(rule, refusal->path);
		out->own_flag = rule->tier >= SB_TIER_FILE &&
				sb_pattern_names(rule->pattern, refusal->path);
	}
	out->program = refusal->program ? strdup(refusal->program) : NULL;
	out->worker = refusal->worker ? strdup(refusal->worker) : NULL;
	out->by = refusal->by ? strdup(refusal->by) : NULL;
	out->other = refusal->other ? strdup(refusal->other) : NULL;
	out->final |= refusal->other && is_final(refusal->other_rule, SB_CREATE);
	out->needs_place = refusal->is_link && !out->cache;
	out->no_place = refusal->no_rule ||
			(refusal->linked && !is_beside(refusal->linked, refusal->path));
	return !refusal->other == !out->other && out->path && !rule == !out->rule &&
	       !refusal->program == !out->program && !refusal->by == !out->by &&
	       !refusal->worker == !out->worker;
}

static bool is_child(const char *directory, const char *path)
{
	size_t length = strlen(directory);

	return sb_path_within(directory, path) && path[length] == '/' &&
	       !strchr(path + length + 1, '/');
}

/* When enough of them stand in one directory, they become one entry about it. */
static void gather(struct sb_summary *summary, const struct sb_stopped *last)
{
	SB_AUTO_FREE char *directory = sb_path_parent(last->path);
	SB_AUTO_FREE char *path = directory ? strdup(directory) : NULL;
	struct sb_stopped *first = NULL;
	size_t found = 0, kept = 0;

	/* A rule for "/" or the home directory is no advice; one past a rule has to be exact. */
	if (summary->apart || !path || last->rule || last->beneath || last->other ||
	    last->no_place || last->op == SB_READ || sb_path_within(directory, summary->home))
		return;
	for (size_t i = 0; i < summary->count; i++) {
		struct sb_stopped *entry = &summary->entries[i];

		found += !entry->beneath && !entry->other && !entry->no_place &&
			 same_kind(entry, last) && is_child(directory, entry->path);
	}
	if (found < CROWD)
		return;
	for (size_t i = 0; i < summary->count; i++) {
		struct sb_stopped *entry = &summary->entries[i];

		if (entry->cache || entry->other || entry->no_place || !same_kind(entry, last) ||
		    !sb_path_within(directory, entry->path)) {
			summary->entries[kept++] = *entry;
		} else if (first) {
			first->count += entry->count;
			free_entry(entry);
		} else {
			free(entry->path);
			entry->path = sb_take_ptr(&path);
			entry->beneath = true;
			first = &summary->entries[kept++];
			*first = *entry;
		}
	}
	summary->count = kept;
}

void sb_summary_add(struct sb_summary *summary, const struct sb_refusal *refusal)
{
	struct sb_stopped entry;

	if (refusal->approved && !summary->apart)
		return;
	summary->total += !refusal->approved;
	if (!fill(summary, refusal, &entry)) {
		free_entry(&entry);
		summary->beyond++;
		return;
	}
	for (size_t i = 0; i < summary->count; i++)
		if (holds(summary, &summary->entries[i], &entry)) {
			summary->entries[i].count++;
			summary->entries[i].ops |= entry.ops;
			summary->entries[i].directory |= entry.directory;
			free_entry(&entry);
			return;
		}
	if (summary->count == summary->most) {
		free_entry(&entry);
		summary->beyond++;
		return;
	}
	summary->entries[summary->count++] = entry;
	gather(summary, &summary->entries[summary->count - 1]);
}

/* --- telling ------------------------------------------------------------------ */

static const char *verb_of(const struct sb_stopped *entry)
{
	if (entry->beneath)
		return "change files in";
	return entry->metadata ? "change modes or times of" : sb_question_verb(entry->op);
}

static const char *no_rule(const struct sb_stopped *entry)
{
	return entry->read_only ? "read-only mode" : "no rule covers it";
}

bool sb_summary_nobody(const struct sb_summary *summary)
{
	for (size_t i = 0; i < summary->count; i++)
		if (summary->entries[i].by && strcmp(summary->entries[i].by, "nobody") == 0)
			return true;
	return sb_contacts_nobody(&summary->contacts);
}

/* True: an option allows it. */
static bool put_entry(const struct sb_summary *summary, const struct sb_stopped *entry,
		      struct sb_buf *out)
{
	struct sb_way way = way_of(summary, entry);
	bool helps = !way.none && way.flag;

	sb_buf_printf(out, "  %s '", verb_of(entry));
	sb_escape_name(out, entry->path, strlen(entry->path));
	sb_buf_puts(out, "' (");
	if (entry->count > 1)
		sb_buf_printf(out, "%lu times; ", entry->count);
	if (entry->cache)
		sb_buf_printf(out, "%s; ", entry->cache);
	if (entry->worker) {
		sb_buf_puts(out, "worker ");
		sb_escape_append(out, entry->worker, strlen(entry->worker));
		sb_buf_puts(out, "; ");
	}
	sb_refused_why(entry->by, entry->rule, no_rule(entry), out);
	sb_buf_puts(out, ")\n      ");
	sb_way_put(entry, &way, out);
	sb_buf_putc(out, '\n');
	sb_way_done(&way);
	return helps;
}

static int by_count(const void *a, const void *b)
{
	const struct sb_stopped *const *first = a, *const *second = b;

	if ((*first)->count != (*second)->count)
		return (*first)->count < (*second)->count ? 1 : -1;
	return *first < *second ? -1 : *first > *second; /* in the order they came */
}

static size_t in_order(const struct sb_summary *summary, const struct sb_stopped **out)
{
	size_t count = 0;

	for (size_t i = 0; i < summary->count; i++)
		if (!summary->entries[i].approved)
			out[count++] = &summary->entries[i];
	if (count)
		qsort(out, count, sizeof(const struct sb_stopped *), by_count);
	return count;
}

void sb_summary_text(const struct sb_summary *summary, size_t lines, struct sb_buf *out)
{
	const struct sb_stopped *entries[SB_SUMMARY_APART];
	size_t count = in_order(summary, entries);
	unsigned long told = 0;
	bool helps = false;

	put_written(summary, out);
	sb_notes_text(&summary->notes, out);
	if (!summary->apart)
		sb_contacts_text(&summary->contacts, lines, out);
	if (!summary->total || summary->apart)
		return;
	sb_buf_printf(out, "sandbash: %lu %s refused; what was refused, why, and what allows it:\n",
		      summary->total, summary->total == 1 ? "operation was" : "operations were");
	for (size_t i = 0; i < count && i < lines; i++) {
		helps |= put_entry(summary, entries[i], out);
		told += entries[i]->count;
	}
	if (told < summary->total)
		sb_buf_printf(out, "  and %lu more\n", summary->total - told);
	if (helps)
		sb_buf_puts(out, "to allow a path from now on: sandbash --add-path PATH\n");
}

void sb_summary_each(const struct sb_summary *summary,
		     void (*each)(void *context, const struct sb_refused *refused), void *context)
{
	for (size_t i = 0; i < summary->count; i++) {
		const struct sb_stopped *entry = &summary->entries[i];
		struct sb_way way = way_of(summary, entry);
		SB_AUTO_BUF struct sb_buf words =
			SB_BUF(8 * 4096); /* two options, as in sb_way_put_flag() */
		bool helps = !way.none && way.flag;

		sb_way_put(entry, &way, &words);
		each(context,
		     &(struct sb_refused){
			     .ops = entry->ops,
			     .approved = entry->approved,
			     .directory = entry->directory,
			     .read_only = entry->read_only,
			     .count = entry->count,
			     .path = entry->path,
			     .program = entry->program,
			     .by = entry->by,
			     .rule = entry->rule,
			     .in_hidden = entry->in_hidden,
			     .paths = {helps ? way.paths[0] : NULL, helps ? way.paths[1] : NULL},
			     .verb = verb_of(entry),
			     .way = sb_buf_failed(&words) ? "?" : words.data,
		     });
		sb_way_done(&way);
	}
}

unsigned long sb_summary_beyond(const struct sb_summary *summary)
{
	return summary->beyond;
}

static void put_json(const struct sb_summary *summary, const struct sb_stopped *entry,
		     struct sb_json *json)
{
	struct sb_way way = way_of(summary, entry);
	SB_AUTO_BUF struct sb_buf why = SB_BUF(4 * 4096);

	sb_refused_why(entry->by, entry->rule, no_rule(entry), &why);
	sb_json_open(json, '{');
	sb_json_pair(json, "operation", sb_op_name(entry->op));
	if (entry->metadata)
		sb_json_pair_bool(json, "metadata", true);
	sb_json_pair(json, "path", entry->path);
	if (entry->other)
		sb_json_pair(json, "other", entry->other);
	sb_json_pair_bool(json, "beneath", entry->beneath);
	sb_json_pair_int(json, "count", (long)entry->count);
	if (entry->program)
		sb_json_pair(json, "program", entry->program);
	if (entry->worker)
		sb_json_pair(json, "worker", entry->worker);
	sb_json_pair(json, "why", why.data);
	sb_json_pair(json, "rule", entry->rule);
	if (entry->by)
		sb_json_pair(json, "by", entry->by);
	if (entry->read_only)
		sb_json_pair_bool(json, "read_only_mode", true);
	if (entry->cache)
		sb_json_pair(json, "cache", entry->cache);
	sb_json_pair_bool(json, "can_be_allowed", !way.none);
	for (size_t i = 0; !way.none && way.flag && i < 2 && way.paths[i]; i++) {
		SB_AUTO_BUF struct sb_buf word = SB_BUF(4 * 4096); /* as in sb_way_put_flag() */

		sb_way_put_flag(&way, i, false, &word);
		sb_json_pair(json, i ? "second_option" : "option", word.data);
	}
	if (way.make_first)
		sb_json_pair_bool(json, "make_first", true);
	sb_json_close(json, '}');
	sb_way_done(&way);
}

void sb_summary_json(const struct sb_summary *summary, size_t most, struct sb_json *json)
{
	const struct sb_stopped *entries[SB_SUMMARY_APART];
	size_t count = in_order(summary, entries);
	unsigned long beyond = summary->beyond + summary->contacts.beyond;

	sb_json_open(json, '{');
	sb_json_pair_int(json, "refused", (long)sb_summary_count(summary));
	sb_json_open_at(json, "entries", '[');
	for (size_t i = 0; i < count; i++)
		if (i < most)
			put_json(summary, entries[i], json);
		else
			beyond += entries[i]->count;
	sb_contacts_json(&summary->contacts, json);
	sb_json_close(json, ']');
	sb_json_pair_int(json, "not_listed", (long)beyond);
	sb_json_open_at(json, "written_unseen", '[');
	for (size_t i = 0; i < summary->written_count; i++) {
		sb_json_open(json, '{');
		sb_json_pair(json, "path", summary->written[i].path);
		sb_json_pair_int(json, "bytes", (long)summary->written[i].length);
		sb_json_close(json, '}');
	}
	sb_json_close(json, ']');
	sb_notes_json(&summary->notes, json);
	sb_json_close(json, '}');
}
