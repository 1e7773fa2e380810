#include "consent/summary.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/escape.h"
#include "base/quote.h"
#include "consent/caches.h"
#include "path/path.h"
#include "path/pattern.h"

/* So many names in one directory are about the directory. */
#define CROWD 3
#define MAX_WRITTEN 32 /* each was a question */

struct entry {
	enum sb_op op; /* of the first refusal */
	bool metadata, read_only;
	bool beneath;      /* path is a directory, and the refusals were in it */
	const char *cache; /* static */
	char *path, *program, *by;
	char *rule;    /* origin; NULL: none covers it */
	bool final;    /* no flag allows it */
	bool own_flag; /* it was said on the command line for this very path */
	unsigned long count;
};

struct sb_summary {
	char *home;
	struct entry entries[SB_SUMMARY_MAX];
	size_t count;
	unsigned long total, beyond;
	struct written { /* by a yes to whatever it is */
		char *path;
		size_t length; /* in the end */
	} written[MAX_WRITTEN];
	size_t written_count;
	unsigned long written_beyond;
};

struct sb_summary *sb_summary_new(const char *home)
{
	struct sb_summary *summary = calloc(1, sizeof *summary);

	if (!summary)
		return NULL;
	summary->home = strdup(home);
	if (!summary->home) {
		free(summary);
		return NULL;
	}
	return summary;
}

static void free_entry(struct entry *entry)
{
	free(entry->path);
	free(entry->program);
	free(entry->by);
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
		sb_escape_append(out, summary->written[i].path, strlen(summary->written[i].path));
		sb_buf_printf(out, "' (%zu byte%s)\n", summary->written[i].length,
			      summary->written[i].length == 1 ? "" : "s");
	}
	if (summary->written_beyond)
		sb_buf_printf(out, "  and %lu more\n", summary->written_beyond);
}

unsigned long sb_summary_count(const struct sb_summary *summary)
{
	return summary->total;
}

/* --- collecting --------------------------------------------------------------- */

static bool same_kind(const struct entry *a, const struct entry *b)
{
	return (a->op == SB_READ) == (b->op == SB_READ) && !a->rule == !b->rule &&
	       (!a->rule || strcmp(a->rule, b->rule) == 0);
}

static bool holds(const struct entry *entry, const struct entry *other)
{
	if (!same_kind(entry, other))
		return false;
	return entry->beneath ? sb_path_within(entry->path, other->path)
			      : strcmp(entry->path, other->path) == 0;
}

static bool is_rule_for(const struct sb_rule *rule, const char *path)
{
	SB_AUTO_FREE char *pattern = sb_pattern_escape(path);

	return pattern && strcmp(pattern, rule->pattern) == 0;
}

static bool fill(const struct sb_summary *summary, const struct sb_refusal *refusal,
		 struct entry *out)
{
	const struct sb_rule *rule = refusal->rule;
	const char *directory;

	*out = (struct entry){.op = refusal->op,
			      .metadata = refusal->metadata,
			      .read_only = refusal->read_only,
			      .count = 1};
	/* A cache is opened as a whole, unless a rule has singled out something in it. */
	if (!rule && refusal->op != SB_READ)
		out->cache = sb_cache_of(summary->home, refusal->path, &directory);
	out->path = out->cache ? sb_path_join(summary->home, directory) : strdup(refusal->path);
	out->beneath = out->cache != NULL;
	if (rule) {
		out->rule = strdup(rule->origin);
		out->final = rule->hard || (rule->tier == SB_TIER_SYSTEM &&
					    rule->access.verdict[refusal->op] == SB_DENY);
		out->own_flag = rule->tier >= SB_TIER_FILE && is_rule_for(rule, refusal->path);
	}
	out->program = refusal->program ? strdup(refusal->program) : NULL;
	out->by = refusal->by ? strdup(refusal->by) : NULL;
	return out->path && !rule == !out->rule && !refusal->program == !out->program &&
	       !refusal->by == !out->by;
}

static bool is_child(const char *directory, const char *path)
{
	size_t length = strlen(directory);

	return sb_path_within(directory, path) && path[length] == '/' &&
	       !strchr(path + length + 1, '/');
}

/* When enough of them stand in one directory, they become one entry about it. */
static void gather(struct sb_summary *summary, const struct entry *last)
{
	SB_AUTO_FREE char *directory = sb_path_parent(last->path);
	SB_AUTO_FREE char *path = directory ? strdup(directory) : NULL;
	struct entry *first = NULL;
	size_t found = 0, kept = 0;

	/* A rule for "/" or the home directory is no advice; one past a rule has to be exact. */
	if (!path || last->rule || last->beneath || last->op == SB_READ ||
	    sb_path_within(directory, summary->home))
		return;
	for (size_t i = 0; i < summary->count; i++) {
		struct entry *entry = &summary->entries[i];

		found += !entry->beneath && same_kind(entry, last) &&
			 is_child(directory, entry->path);
	}
	if (found < CROWD)
		return;
	for (size_t i = 0; i < summary->count; i++) {
		struct entry *entry = &summary->entries[i];

		if (entry->cache || !same_kind(entry, last) ||
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
	struct entry entry;

	summary->total++;
	if (!fill(summary, refusal, &entry)) {
		free_entry(&entry);
		summary->beyond++;
		return;
	}
	for (size_t i = 0; i < summary->count; i++)
		if (holds(&summary->entries[i], &entry)) {
			summary->entries[i].count++;
			free_entry(&entry);
			return;
		}
	if (summary->count == SB_SUMMARY_MAX) {
		free_entry(&entry);
		summary->beyond++;
		return;
	}
	summary->entries[summary->count++] = entry;
	gather(summary, &summary->entries[summary->count - 1]);
}

/* --- telling ------------------------------------------------------------------ */

/* How one entry can be allowed. */
struct way {
	bool none;        /* it cannot */
	const char *flag; /* "--allow-write"; NULL: leave out the flag that forbids it */
	char *path;       /* what the flag is for */
	bool missing;     /* it has to be made first, since a grant for nothing is skipped */
	bool is_directory;
};

static bool exists(const char *path)
{
	struct stat info;

	return lstat(path, &info) == 0;
}

static struct way find_way(const struct sb_summary *summary, const struct entry *entry)
{
	struct way way = {.none = entry->final, .is_directory = entry->beneath};

	if (entry->final || entry->own_flag)
		return way;
	way.flag = entry->op == SB_READ ? "--allow-read" : "--allow-write";
	/*
	 * A new file is let in by its directory; but the home directory is no advice, and
	 * where a rule says no, only one for the exact name is sure to be stronger.
	 */
	if (!entry->beneath && !entry->rule && !exists(entry->path)) {
		SB_AUTO_FREE char *parent = sb_path_parent(entry->path);

		if (parent && exists(parent) && !sb_path_within(parent, summary->home)) {
			way.path = sb_take_ptr(&parent);
			way.is_directory = true;
		}
	}
	if (!way.path)
		way.path = strdup(entry->path);
	way.none = !way.path;
	way.missing = way.path && !exists(way.path);
	return way;
}

static void put_flag(const struct way *way, struct sb_buf *out)
{
	SB_AUTO_FREE char *pattern = sb_pattern_escape(way->path);
	SB_AUTO_BUF struct sb_buf word = SB_BUF(4 * 4096); /* a path, each byte with a backslash */

	if (!pattern) {
		out->failed = true;
		return;
	}
	sb_buf_printf(&word, "%s=%s", way->flag, pattern);
	sb_shell_quote(out, word.data);
}

static void put_way(const struct entry *entry, const struct way *way, struct sb_buf *out)
{
	if (way->none) {
		sb_buf_puts(out, "no option allows it");
		return;
	}
	if (!way->flag) {
		sb_buf_puts(out, "leave out ");
		sb_escape_append(out, entry->rule, strlen(entry->rule));
		return;
	}
	if (way->missing && way->is_directory) {
		sb_buf_puts(out, "mkdir -p ");
		sb_shell_quote(out, way->path);
		sb_buf_puts(out, " && ");
	}
	sb_buf_puts(out, "sandbash ");
	put_flag(way, out);
	sb_buf_puts(out, " ...");
	if (way->missing && !way->is_directory)
		sb_buf_puts(out, " (once it exists)");
}

static const char *verb_of(const struct entry *entry)
{
	static const char *const verbs[] = {"read", "write to", "create", "delete"};

	if (entry->beneath)
		return "change files in";
	return entry->metadata ? "change modes or times of" : verbs[entry->op];
}

static const char *reason_of(const struct entry *entry)
{
	static const struct {
		const char *by, *words;
	} rows[] = {
		{"person", "you said no"},
		{"nobody", "nobody could be asked"},
		{"timeout", "nobody answered"},
		{"flood", "too many questions"},
	};

	for (size_t i = 0; entry->by && i < sizeof rows / sizeof rows[0]; i++)
		if (strcmp(entry->by, rows[i].by) == 0)
			return rows[i].words;
	return NULL;
}

static void put_entry(const struct sb_summary *summary, const struct entry *entry,
		      struct sb_buf *out)
{
	struct way way = find_way(summary, entry);
	const char *reason = reason_of(entry);

	sb_buf_printf(out, "  %s '", verb_of(entry));
	sb_escape_append(out, entry->path, strlen(entry->path));
	sb_buf_puts(out, "' (");
	if (entry->count > 1)
		sb_buf_printf(out, "%lu times; ", entry->count);
	if (entry->cache)
		sb_buf_printf(out, "%s; ", entry->cache);
	if (reason)
		sb_buf_printf(out, "%s; ", reason);
	if (entry->rule)
		sb_escape_append(out, entry->rule, strlen(entry->rule));
	else
		sb_buf_puts(out, entry->read_only ? "read-only mode" : "no rule covers it");
	sb_buf_puts(out, "): ");
	put_way(entry, &way, out);
	sb_buf_putc(out, '\n');
	free(way.path);
}

static int by_count(const void *a, const void *b)
{
	const struct entry *const *first = a, *const *second = b;

	if ((*first)->count != (*second)->count)
		return (*first)->count < (*second)->count ? 1 : -1;
	return *first < *second ? -1 : *first > *second; /* in the order they came */
}

static size_t in_order(const struct sb_summary *summary, const struct entry **out)
{
	for (size_t i = 0; i < summary->count; i++)
		out[i] = &summary->entries[i];
	if (summary->count)
		qsort(out, summary->count, sizeof(const struct entry *), by_count);
	return summary->count;
}

void sb_summary_text(const struct sb_summary *summary, size_t lines, struct sb_buf *out)
{
	const struct entry *entries[SB_SUMMARY_MAX];
	size_t count = in_order(summary, entries);
	unsigned long told = 0;

	put_written(summary, out);
	if (!summary->total)
		return;
	sb_buf_printf(out, "sandbash: %lu %s refused; what was refused, why, and what allows it:\n",
		      summary->total, summary->total == 1 ? "operation was" : "operations were");
	for (size_t i = 0; i < count && i < lines; i++) {
		put_entry(summary, entries[i], out);
		told += entries[i]->count;
	}
	if (told < summary->total)
		sb_buf_printf(out, "  and %lu more\n", summary->total - told);
	sb_buf_puts(out, "to allow a path from now on: sandbash --add-path PATH\n");
}

static void put_json(const struct sb_summary *summary, const struct entry *entry,
		     struct sb_json *json)
{
	struct way way = find_way(summary, entry);
	SB_AUTO_FREE char *pattern = way.path ? sb_pattern_escape(way.path) : NULL;

	sb_json_open(json, '{');
	sb_json_pair(json, "operation", sb_op_name(entry->op));
	if (entry->metadata)
		sb_json_pair_bool(json, "metadata", true);
	sb_json_pair(json, "path", entry->path);
	sb_json_pair_bool(json, "beneath", entry->beneath);
	sb_json_pair_int(json, "count", (long)entry->count);
	if (entry->program)
		sb_json_pair(json, "program", entry->program);
	sb_json_pair(json, "rule", entry->rule);
	if (entry->by)
		sb_json_pair(json, "by", entry->by);
	if (entry->read_only)
		sb_json_pair_bool(json, "read_only_mode", true);
	if (entry->cache)
		sb_json_pair(json, "cache", entry->cache);
	sb_json_pair_bool(json, "can_be_allowed", !way.none);
	if (way.flag && pattern) {
		SB_AUTO_BUF struct sb_buf word = SB_BUF(4 * 4096); /* as in put_flag() */

		sb_buf_printf(&word, "%s=%s", way.flag, pattern);
		sb_json_pair(json, "option", word.data);
		if (way.missing)
			sb_json_pair_bool(json, "make_first", true);
	}
	sb_json_close(json, '}');
	free(way.path);
}

void sb_summary_json(const struct sb_summary *summary, struct sb_json *json)
{
	const struct entry *entries[SB_SUMMARY_MAX];
	size_t count = in_order(summary, entries);

	sb_json_open(json, '{');
	sb_json_pair_int(json, "refused", (long)summary->total);
	sb_json_key(json, "entries");
	sb_json_open(json, '[');
	for (size_t i = 0; i < count; i++)
		put_json(summary, entries[i], json);
	sb_json_close(json, ']');
	sb_json_pair_int(json, "not_listed", (long)summary->beyond);
	sb_json_key(json, "written_unseen");
	sb_json_open(json, '[');
	for (size_t i = 0; i < summary->written_count; i++) {
		sb_json_open(json, '{');
		sb_json_pair(json, "path", summary->written[i].path);
		sb_json_pair_int(json, "bytes", (long)summary->written[i].length);
		sb_json_close(json, '}');
	}
	sb_json_close(json, ']');
	sb_json_close(json, '}');
}
