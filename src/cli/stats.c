/*
 * stats.c - --stats: how often (R2).
 *
 * A session's exit record has its counters.  One that runs still, or was killed, is counted
 * from its events: what was refused, asked and approved is all there; what was simply
 * allowed is not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/escape.h"
#include "base/list.h"
#include "cli/cli.h"

#define HOSTS_SHOWN 20 /* in the text */

struct host {
	char *name; /* with its port and protocol */
	unsigned long connections, refused, asked, sent, received, milliseconds;
};

struct stats {
	struct host *hosts;
	size_t host_count;
	unsigned long events[SB_EVENT_COUNT];
	struct sb_counters counters;
	size_t sessions, running, unfinished, skipped;
};

static const struct {
	const char *name;
	size_t offset;
} columns[] = {
	{"seen", offsetof(struct sb_counters, seen)},
	{"allowed", offsetof(struct sb_counters, allowed)},
	{"denied", offsetof(struct sb_counters, denied)},
	{"asked", offsetof(struct sb_counters, asked)},
	{"approved", offsetof(struct sb_counters, approved)},
};

#define COLUMNS (sizeof columns / sizeof columns[0])

static unsigned long *cell(struct sb_counters *counters, size_t column, int op)
{
	return (unsigned long *)((char *)counters + columns[column].offset) + op;
}

/* What one event adds to the counters of a session that has no exit record. */
static void count_event(struct sb_counters *counters, const struct sb_event *event)
{
	enum sb_op op = sb_op_named(event->op);

	if (op == SB_OP_COUNT)
		return;
	if (event->kind == SB_EVENT_ASK) {
		counters->seen[op]++;
		counters->asked[op]++;
	} else if (event->kind == SB_EVENT_DENY) {
		counters->seen[op] += event->question == 0; /* else it was seen when it was asked */
		counters->denied[op]++;
	} else if (event->kind == SB_EVENT_PERFORM) {
		counters->approved[op] += event->error == 0;
	} else if (event->kind == SB_EVENT_ALLOW) {
		counters->seen[op]++;
		counters->allowed[op]++;
	}
}

static struct host *find_host(struct stats *stats, const struct sb_event *event)
{
	SB_AUTO_FREE char *name = NULL;
	bool udp = event->protocol && strcmp(event->protocol, "udp") == 0;

	if (asprintf(&name, "%s%s:%lu", udp ? "udp:" : "", event->host, event->port) < 0) {
		name = NULL;
		return NULL;
	}
	for (size_t i = 0; i < stats->host_count; i++)
		if (strcmp(stats->hosts[i].name, name) == 0)
			return &stats->hosts[i];
	if (!SB_GROW(stats->hosts, stats->host_count))
		return NULL;
	stats->hosts[stats->host_count] = (struct host){.name = sb_take_ptr(&name)};
	return &stats->hosts[stats->host_count++];
}

static int count_host(struct stats *stats, const struct sb_event *event, struct sb_error *err)
{
	struct host *host = event->host ? find_host(stats, event) : NULL;

	if (!host)
		return event->host ? sb_no_memory(err) : SB_OK;
	host->connections += event->kind == SB_EVENT_CONNECT && !event->error;
	host->refused += event->kind == SB_EVENT_DENY;
	host->asked += event->kind == SB_EVENT_ASK;
	host->sent += event->sent;
	host->received += event->received;
	host->milliseconds += event->milliseconds;
	return SB_OK;
}

static int by_traffic(const void *a, const void *b)
{
	const struct host *first = a, *second = b;
	unsigned long one = first->sent + first->received, other = second->sent + second->received;

	if (one != other)
		return one < other ? 1 : -1;
	if (first->connections != second->connections)
		return first->connections < second->connections ? 1 : -1;
	return strcmp(first->name, second->name);
}

static int count_session(struct stats *stats, int dir, const char *session, struct sb_error *err)
{
	struct sb_counters counters = {0};
	enum sb_line_state state = SB_LINES_LINE;
	/* asked first: once the writer is gone, the file stays as it is */
	bool exited = false, running = sb_log_writer_lives(dir, session), is_static = false;
	struct sb_lines lines;
	int status = SB_OK;

	sb_lines_open(&lines, dir, session);
	while (status == SB_OK) {
		SB_AUTO(sb_record_done) struct sb_record record = {0};
		const char *bytes;
		size_t length;

		status = sb_lines_next(&lines, &state, &bytes, &length, err);
		if (status != SB_OK || state == SB_LINES_END || state == SB_LINES_PART)
			break;
		if (state == SB_LINES_LONG ||
		    (status = sb_record_parse(bytes, length, &record, err)) == SB_E_INVALID) {
			stats->skipped++;
			status = SB_OK;
			continue;
		}
		if (status != SB_OK)
			break;
		stats->events[record.event.kind]++;
		exited = record.event.kind == SB_EVENT_EXIT;
		if (record.event.kind == SB_EVENT_START)
			is_static = sb_record_is_static(&record);
		if (record.event.counters)
			counters = *record.event.counters;
		else
			count_event(&counters, &record.event);
		status = count_host(stats, &record.event, err);
	}
	sb_lines_done(&lines);
	for (size_t i = 0; i < COLUMNS; i++)
		for (int op = 0; op < SB_OP_COUNT; op++)
			*cell(&stats->counters, i, op) += *cell(&counters, i, op);
	stats->sessions++;
	stats->running += !exited && running;
	stats->unfinished += !exited && !running && !is_static;
	return status;
}

static int count_all(const struct sb_log_request *request, struct stats *stats,
		     struct sb_error *err)
{
	SB_AUTO_FD int dir = -1;
	SB_AUTO(sb_log_list_done) struct sb_session_list list = {0};
	int status = sb_log_open(request->home.state_dir, &dir, err);

	if (status == SB_OK && dir >= 0)
		status = sb_log_list(dir, &list, err);
	for (size_t i = 0; i < list.count && status == SB_OK; i++)
		if (list.sessions[i].changed_us >= request->options.since_us &&
		    sb_session_wanted(dir, list.sessions[i].id, request->options.session))
			status = count_session(stats, dir, list.sessions[i].id, err);
	return status;
}

/* A name comes from inside: it is escaped. */
static void hosts_text(const struct stats *stats, struct sb_buf *out)
{
	if (!stats->host_count)
		return;
	sb_buf_printf(out, "\n%11s %8s %8s %12s %12s  host\n", "connections", "refused", "asked",
		      "sent", "received");
	for (size_t i = 0; i < stats->host_count && i < HOSTS_SHOWN; i++) {
		const struct host *host = &stats->hosts[i];

		sb_buf_printf(out, "%11lu %8lu %8lu %12lu %12lu  ", host->connections,
			      host->refused, host->asked, host->sent, host->received);
		sb_escape_put(out, "", host->name, "\n");
	}
	if (stats->host_count > HOSTS_SHOWN)
		sb_buf_printf(out, "and %zu more hosts\n", stats->host_count - HOSTS_SHOWN);
}

static void hosts_json(const struct stats *stats, struct sb_json *json)
{
	sb_json_open_at(json, "hosts", '[');
	for (size_t i = 0; i < stats->host_count; i++) {
		const struct host *host = &stats->hosts[i];

		sb_json_open(json, '{');
		sb_json_pair(json, "host", host->name);
		sb_json_pair_int(json, "connections", (long)host->connections);
		sb_json_pair_int(json, "refused", (long)host->refused);
		sb_json_pair_int(json, "asked", (long)host->asked);
		sb_json_pair_int(json, "sent", (long)host->sent);
		sb_json_pair_int(json, "received", (long)host->received);
		sb_json_pair_int(json, "milliseconds", (long)host->milliseconds);
		sb_json_close(json, '}');
	}
	sb_json_close(json, ']');
}

static void stats_text(struct stats *stats, struct sb_buf *out)
{
	sb_buf_printf(out, "sessions: %zu", stats->sessions);
	if (stats->running)
		sb_buf_printf(out, ", %zu running", stats->running);
	if (stats->unfinished)
		sb_buf_printf(out, ", %zu without an exit record", stats->unfinished);
	sb_buf_puts(out, "\nevents:  ");
	for (int kind = 0; kind < SB_EVENT_COUNT; kind++)
		sb_buf_printf(out, "%s%s %lu", kind ? ", " : "",
			      sb_event_name((enum sb_event_kind)kind), stats->events[kind]);
	sb_buf_printf(out, "\n\n%-7s", "");
	for (size_t i = 0; i < COLUMNS; i++)
		sb_buf_printf(out, " %10s", columns[i].name);
	sb_buf_putc(out, '\n');
	for (int op = 0; op < SB_OP_COUNT; op++) {
		sb_buf_printf(out, "%-7s", sb_op_name((enum sb_op)op));
		for (size_t i = 0; i < COLUMNS; i++)
			sb_buf_printf(out, " %10lu", *cell(&stats->counters, i, op));
		sb_buf_putc(out, '\n');
	}
	hosts_text(stats, out);
	if (stats->running || stats->unfinished)
		sb_buf_puts(out, "\nwhat was allowed without a question is counted only in "
				 "sessions with an exit record\n");
}

static void stats_json(struct stats *stats, struct sb_buf *out)
{
	struct sb_json json = sb_json_object(out);

	sb_json_pair_int(&json, "sessions", (long)stats->sessions);
	sb_json_pair_int(&json, "running", (long)stats->running);
	sb_json_pair_int(&json, "without_exit", (long)stats->unfinished);
	sb_json_pair_int(&json, "skipped_lines", (long)stats->skipped);
	sb_json_open_at(&json, "events", '{');
	for (int kind = 0; kind < SB_EVENT_COUNT; kind++)
		sb_json_pair_int(&json, sb_event_name((enum sb_event_kind)kind),
				 (long)stats->events[kind]);
	sb_json_close(&json, '}');
	sb_json_open_at(&json, "operations", '{');
	for (int op = 0; op < SB_OP_COUNT; op++) {
		sb_json_open_at(&json, sb_op_name((enum sb_op)op), '{');
		for (size_t i = 0; i < COLUMNS; i++)
			sb_json_pair_int(&json, columns[i].name,
					 (long)*cell(&stats->counters, i, op));
		sb_json_close(&json, '}');
	}
	sb_json_close(&json, '}');
	hosts_json(stats, &json);
	sb_json_close(&json, '}');
}

int sb_cli_stats(const struct sb_command_line *line)
{
	SB_AUTO_BUF struct sb_buf out = SB_BUF(SB_OUTPUT_LIMIT);
	struct stats stats = {0};
	struct sb_log_request request;
	struct sb_error err;
	int result = sb_log_request(line, &request);

	if (result)
		return result;
	if (count_all(&request, &stats, &err) != SB_OK) {
		result = sb_report(&err);
	} else {
		if (stats.host_count)
			qsort(stats.hosts, stats.host_count, sizeof *stats.hosts, by_traffic);
		if (stats.skipped)
			sb_warn("%zu lines are no records, skipped; --log --verify tells more",
				stats.skipped);
		if (line->json)
			stats_json(&stats, &out);
		else
			stats_text(&stats, &out);
		result = sb_print(&out);
	}
	for (size_t i = 0; i < stats.host_count; i++)
		free(stats.hosts[i].name);
	free(stats.hosts);
	sb_home_done(&request.home);
	return result;
}
