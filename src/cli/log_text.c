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

/* A name, between the two. */
static void named(struct sb_buf *out, const char *before, const char *name, const char *after)
{
	if (!name)
		return;
	sb_buf_puts(out, before);
	sb_escape_puts_name(out, name);
	sb_buf_puts(out, after);
}

/* before, text and after, if there is a text */
static void part(struct sb_buf *out, const char *before, const char *text, const char *after)
{
	if (!text)
		return;
	sb_buf_puts(out, before);
	sb_escape_puts(out, text);
	sb_buf_puts(out, after);
}

static void command(struct sb_buf *out, const char *const *words)
{
	SB_AUTO_BUF struct sb_buf quoted = SB_BUF(SB_OUTPUT_LIMIT);

	sb_shell_quote_all(&quoted, words);
	part(out, " ", quoted.length ? quoted.data : NULL, "");
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
	part(out, " ", event->host, "");
	sb_buf_printf(out, ":%lu", event->port);
	part(out, "/", event->protocol, "");
	part(out, " at ", event->address, "");
	part(out, ", TLS for ", event->tls_name, "");
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
	part(out, " '", record->name, "'");
	if (event->command)
		command(out, event->command);
	named(out, " in ", event->directory, "");
	part(out, "; mode ", event->mode, "");
	part(out, "; layers: ", event->layers, "");
	part(out, "; policy ", event->policy_hash, "");
	if (event->question)
		sb_buf_printf(out, " #%lu", event->question);
	part(out, " ", event->op, "");
	part(out, " (", event->act, ")");
	named(out, " ", event->path, "");
	named(out, " (given as ", event->given, ")");
	named(out, " -> ", event->target, "");
	put_host(out, event);
	named(out, ", program ", event->program, "");
	named(out,
	      event->kind == SB_EVENT_START                  ? "; worker "
	      : event->path || event->program || event->host ? ", worker "
							     : " worker ",
	      event->worker, "");
	if (event->process)
		sb_buf_printf(out, ", process %d", (int)event->process);
	part(out, ": ", event->verdict, "");
	part(out, " (", event->answer, ")");
	part(out, ", by ", event->by, "");
	part(out, "; rule: ", event->rule, "");
	part(out, " ", event->note, "");
	if (event->error)
		part(out, "; ", strerror(event->error), "");
	part(out, "; content ", event->content, "");
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
