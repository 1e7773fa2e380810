/*
 * log_text.c - an event as a line for a person, and times as a person writes them.
 *
 * Everything in a record may come from inside a sandbox, so all of it is escaped.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/escape.h"
#include "cli/cli.h"

static void command(struct sb_buf *out, const char *const *words)
{
	SB_AUTO_BUF struct sb_buf quoted = SB_BUF(SB_OUTPUT_LIMIT);

	sb_shell_quote_all(&quoted, words);
	sb_escape_put(out, " ", quoted.length ? quoted.data : NULL, "");
}

static unsigned long sum(const unsigned long numbers[4])
{
	return numbers[0] + numbers[1] + numbers[2] + numbers[3];
}

/* Whom it was about, by which address, and what went to and fro. */
static void put_host(struct sb_buf *out, const struct sb_event *event)
{
	if (!event->host)
		return;
	sb_escape_put(out, " ", event->host, "");
	sb_buf_printf(out, ":%lu", event->port);
	sb_escape_put(out, "/", event->protocol, "");
	sb_escape_put(out, " at ", event->address, "");
	sb_escape_put(out, ", TLS for ", event->tls_name, "");
	if (event->kind == SB_EVENT_CONNECT)
		sb_buf_printf(out, ", %lu bytes sent, %lu received, %lu ms", event->sent,
			      event->received, event->milliseconds);
}

void sb_log_text(const struct sb_record *record, struct sb_buf *out)
{
	const struct sb_event *event = &record->event;
	char time[SB_TIME_SIZE];

	sb_time_print(record->time_us, time);
	time[10] = ' ';
	sb_buf_printf(out, "%s %s %-7s", time, strchr(record->session, '-') + 1,
		      sb_event_name(event->kind));
	if (event->kind == SB_EVENT_START)
		sb_buf_printf(out, " session %s", record->session);
	sb_escape_put(out, " '", record->name, "'");
	if (event->command)
		command(out, event->command);
	sb_escape_put_name(out, " in ", event->directory, "");
	sb_escape_put(out, "; mode ", event->mode, "");
	sb_escape_put(out, "; layers: ", event->layers, "");
	sb_escape_put(out, "; policy ", event->policy_hash, "");
	if (event->question)
		sb_buf_printf(out, " #%lu", event->question);
	sb_escape_put(out, " ", event->op, "");
	sb_escape_put(out, " (", event->act, ")");
	sb_escape_put_name(out, " ", event->path, "");
	sb_escape_put_name(out, " (given as ", event->given, ")");
	sb_escape_put_name(out, " -> ", event->target, "");
	put_host(out, event);
	sb_escape_put_name(out, ", program ", event->program, "");
	sb_escape_put_name(out,
			   event->kind == SB_EVENT_START                  ? "; worker "
			   : event->path || event->program || event->host ? ", worker "
									  : " worker ",
			   event->worker, "");
	if (event->process)
		sb_buf_printf(out, ", process %d", (int)event->process);
	sb_escape_put(out, ": ", event->verdict, "");
	sb_escape_put(out, " (", event->answer, ")");
	sb_escape_put(out, ", by ", event->by, "");
	sb_escape_put(out, "; rule: ", event->rule, "");
	sb_escape_put(out, " ", event->note, "");
	if (event->error)
		sb_escape_put(out, "; ", strerror(event->error), "");
	sb_escape_put(out, "; content ", event->content, "");
	if (event->has_status)
		sb_buf_printf(out, " status %d", event->status);
	if (event->counters)
		sb_buf_printf(out, "; seen %lu, allowed %lu, denied %lu, asked %lu, approved %lu",
			      sum(event->counters->seen), sum(event->counters->allowed),
			      sum(event->counters->denied), sum(event->counters->asked),
			      sum(event->counters->approved));
	if (record->cut)
		sb_buf_printf(out, " [%lu bytes too long for the log]", record->cut);
	if (record->lost)
		sb_buf_printf(out, " [%lu records before this could not be written]", record->lost);
	sb_buf_putc(out, '\n');
}

/* "90s", "15m", "2h", "3d", "1w": so long ago. */
static bool parse_while(const char *text, int64_t *out_seconds)
{
	static const struct {
		char unit;
		int64_t seconds;
	} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 604800}};
	size_t length = strspn(text, "0123456789");

	if (length == 0 || length > 9 || !text[length] || text[length + 1])
		return false;
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		if (text[length] == units[i].unit) {
			*out_seconds = strtoll(text, NULL, 10) * units[i].seconds;
			return true;
		}
	}
	return false;
}

/* "2026-11-15", then perhaps a time of day after a 'T' or a blank, then perhaps a 'Z'. */
static bool parse_time(const char *text, int64_t *out_seconds)
{
	struct tm tm = {0};
	const char *rest = strptime(text, "%Y-%m-%d", &tm);
	int day = tm.tm_mday;

	if (rest && (*rest == 'T' || *rest == ' ')) {
		rest = strptime(rest + 1, "%H:%M", &tm);
		if (rest && *rest == ':')
			rest = strptime(rest + 1, "%S", &tm);
	}
	if (rest && *rest == '.') { /* as the log prints it; a part of a second is not looked at */
		rest++;
		rest += strspn(rest, "0123456789");
	}
	if (rest && *rest == 'Z')
		rest++;
	if (!rest || *rest)
		return false;
	*out_seconds = timegm(&tm);
	return tm.tm_mday == day; /* 30 February became a day in March, which nobody meant */
}

int sb_parse_since(const char *text, int64_t now_us, int64_t *out_us, struct sb_error *err)
{
	int64_t seconds;

	if (parse_while(text, &seconds)) {
		*out_us = now_us - seconds * 1000000;
	} else if (parse_time(text, &seconds)) {
		*out_us = seconds * 1000000;
	} else {
		sb_fail(err, SB_E_USAGE, 0, "--since takes a time or a while, not '%s'", text);
		return sb_hint(err, "for example 2026-11-15, 2026-11-15T18:03 (UTC), 90m, 2h, 3d");
	}
	return SB_OK;
}
