/*
 * write_events.c - a writer of the log, as a supervisor would be one.
 *
 *     write-events STATE-DIR [NAME=VALUE | EVENT]...
 *
 * Writes what its arguments say, in order:
 *     name=TEXT         of the session; before anything else
 *     op= path= target= program= rule= verdict= answer= by= directory= mode= layers=
 *     host= protocol= address= tls_name=
 *     question=N process=N error=N status=N port=N sent=N received=N milliseconds=N
 *                       sets a field of the events to come; an empty value clears it
 *     start ask answer deny grant perform note exit connect
 *                       writes one event with the fields as they are
 *     many=N            N denials of path, each with its number behind it
 *     forever           the same without an end
 *     limit=N           no file may grow beyond N bytes (0: no limit), as on a full disk
 *     wait              prints the session and waits for a line on standard input
 *
 * The session is printed at the end.  A write that fails is told on stderr, and counted in
 * the exit status.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "audit/audit.h"

static const char *const kinds[SB_EVENT_COUNT] = {"start",  "ask",     "answer", "deny",
						  "grant",  "perform", "note",   "exit",
						  "revoke", "connect", "allow"};
static struct sb_audit *audit;
static struct sb_event event;
static struct sb_counters counters;
static int failures;

static void put(enum sb_event_kind kind)
{
	static const char *const command[] = {"make", "a b", "\x1b[31m", NULL};
	struct sb_event now = event;
	struct sb_error err;

	now.kind = kind;
	if (kind == SB_EVENT_START)
		now.command = command;
	if (kind == SB_EVENT_EXIT)
		now = (struct sb_event){.kind = kind,
					.has_status = true,
					.status = event.status,
					.counters = &counters};
	counters.seen[2]++;
	counters.denied[2] += kind == SB_EVENT_DENY;
	if (sb_audit_write(audit, &now, &err) != SB_OK) {
		fprintf(stderr, "%s: %s\n", err.message, strerror(err.sys_errno));
		failures++;
	}
}

static void many(long count)
{
	const char *path = event.path ? event.path : "/";
	char numbered[8192];

	for (long i = 0; count < 0 || i < count; i++) {
		snprintf(numbered, sizeof numbered, "%s%ld", path, i);
		event.path = numbered;
		put(SB_EVENT_DENY);
	}
	event.path = path;
}

static void limit_files(const char *value)
{
	struct rlimit limit;

	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = strtoul(value, NULL, 10);
	if (limit.rlim_cur == 0)
		limit.rlim_cur = RLIM_INFINITY;
	setrlimit(RLIMIT_FSIZE, &limit);
}

static int set(const char *name, const char *value)
{
	const struct {
		const char *name, **text;
	} texts[] = {
		{"op", &event.op},
		{"act", &event.act},
		{"path", &event.path},
		{"target", &event.target},
		{"program", &event.program},
		{"rule", &event.rule},
		{"verdict", &event.verdict},
		{"answer", &event.answer},
		{"by", &event.by},
		{"directory", &event.directory},
		{"mode", &event.mode},
		{"layers", &event.layers},
		{"policy", &event.policy_hash},
		{"host", &event.host},
		{"protocol", &event.protocol},
		{"address", &event.address},
		{"tls_name", &event.tls_name},
	};
	const struct {
		const char *name;
		unsigned long *number;
	} numbers[] = {
		{"question", &event.question},
		{"port", &event.port},
		{"sent", &event.sent},
		{"received", &event.received},
		{"milliseconds", &event.milliseconds},
	};
	long number = strtol(value, NULL, 10);

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		if (strcmp(name, texts[i].name) == 0) {
			*texts[i].text = *value ? value : NULL;
			return 0;
		}
	}
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		if (strcmp(name, numbers[i].name) == 0) {
			*numbers[i].number = (unsigned long)number;
			return 0;
		}
	}
	if (strcmp(name, "process") == 0)
		event.process = (pid_t)number;
	else if (strcmp(name, "error") == 0)
		event.error = (int)number;
	else if (strcmp(name, "status") == 0)
		event.status = (int)number;
	else if (strcmp(name, "many") == 0)
		many(number);
	else if (strcmp(name, "limit") == 0)
		limit_files(value);
	else
		return -1;
	return 0;
}

static int obey(char *word)
{
	char *equals = strchr(word, '=');
	char line[16];

	if (equals) {
		*equals = '\0';
		return set(word, equals + 1);
	}
	for (int kind = 0; kind < SB_EVENT_COUNT; kind++) {
		if (strcmp(word, kinds[kind]) == 0) {
			put((enum sb_event_kind)kind);
			return 0;
		}
	}
	if (strcmp(word, "forever") == 0) {
		many(-1);
	} else if (strcmp(word, "wait") == 0) {
		printf("%s\n", sb_audit_session(audit));
		fflush(stdout);
		if (!fgets(line, sizeof line, stdin))
			return 0;
	} else {
		return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *name = NULL;
	struct sb_error err;
	int i = 2;

	signal(SIGXFSZ, SIG_IGN);
	if (argc < 2)
		return 2;
	if (argc > i && strncmp(argv[i], "name=", 5) == 0)
		name = argv[i++] + 5;
	if (sb_audit_open(argv[1], name, &audit, &err) != SB_OK) {
		fprintf(stderr, "%s: %s\n", err.message, strerror(err.sys_errno));
		return 125;
	}
	for (; i < argc; i++) {
		if (obey(argv[i]) != 0) {
			fprintf(stderr, "what is '%s'?\n", argv[i]);
			return 2;
		}
	}
	printf("%s\n", sb_audit_session(audit));
	sb_audit_close(audit);
	return failures;
}
