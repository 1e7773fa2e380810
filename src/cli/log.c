/*
 * log.c - --log: the events of all sessions, in order, filtered, and with --follow as they
 * happen.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/auto.h"
#include "cli/cli.h"
#include "path/path.h"
#include "policy/peer.h"
#include "sys/directory.h"

#define FLUSH_BYTES (64 * 1024) /* print what has come together at this size */
#define LOOK_AGAIN_MS 500       /* where changes are not reported; else a second look */
#define SETTLE_MS 20            /* a burst of events is read at once */

static void skipped(void *context, const char *session, size_t line, bool torn)
{
	(void)context;
	if (torn)
		sb_warn("the record of session %s ends in a torn line (%zu), skipped", session,
			line);
	else
		sb_warn("line %zu of session %s is no record, skipped; --log --verify tells more",
			line, session);
}

int sb_log_request(const struct sb_command_line *line, struct sb_log_request *out)
{
	struct sb_setup_request request = sb_request(line, true);
	struct timespec now;
	struct sb_error err;
	int status;

	*out = (struct sb_log_request){.options = {.size = sizeof out->options,
						   .session = line->log_session,
						   .skipped = skipped}};
	clock_gettime(CLOCK_REALTIME, &now);
	status = line->since ? sb_parse_since(line->since,
					      (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000,
					      &out->options.since_us, &err)
			     : SB_OK;
	if (status == SB_OK)
		status = sb_home_find(&request.environment, &out->home, &err);
	return status == SB_OK ? 0 : sb_report(&err);
}

struct viewer {
	const struct sb_command_line *line;
	struct sb_trail *trail;
	char *path;                  /* of --log-path, as it is written, made absolute ... */
	char *canonical;             /* ... and what it leads to now */
	struct sb_peer_pattern host; /* of --log-host */
	char *log_dir;
	struct sb_buf out;
};

/* By its name or its address, as a rule would mean it; ports are not looked at. */
static bool is_about_host(const struct sb_peer_pattern *pattern, const struct sb_event *event)
{
	const char *texts[] = {event->host, event->host ? event->address : NULL};

	for (size_t i = 0; i < 2 && texts[i]; i++) {
		struct sb_peer peer = {.port = 0};

		if (sb_address_parse(texts[i], strlen(texts[i]), &peer.address))
			peer = sb_peer_of_address(SB_TCP, &peer.address, 0);
		else if (sb_host_name(texts[i], strlen(texts[i]), peer.name, NULL) != SB_OK)
			continue;
		if (sb_peer_pattern_means(pattern, &peer))
			return true;
	}
	return false;
}

static bool is_about(const struct viewer *viewer, const char *path)
{
	return path &&
	       (sb_path_within(viewer->canonical, path) || sb_path_within(viewer->path, path));
}

/* What an event decided: "allow", "deny", or NULL when it decided nothing. */
static const char *verdict_of(const struct sb_event *event)
{
	if (event->verdict)
		return event->verdict;
	if (event->kind == SB_EVENT_DENY)
		return "deny";
	return event->kind == SB_EVENT_GRANT || event->kind == SB_EVENT_PERFORM ||
			       event->kind == SB_EVENT_CONNECT || event->kind == SB_EVENT_ALLOW
		       ? "allow"
		       : NULL;
}

static bool is_wanted(const struct viewer *viewer, const struct sb_event *event)
{
	const char *verdict = verdict_of(event);

	if (viewer->path && !is_about(viewer, event->path) && !is_about(viewer, event->target))
		return false;
	if (viewer->line->log_host && !is_about_host(&viewer->host, event))
		return false;
	return !viewer->line->log_verdict ||
	       (verdict && strcmp(verdict, viewer->line->log_verdict) == 0);
}

/* Everything that is there now; the exit status so far. */
static int show(struct viewer *viewer)
{
	const struct sb_record *record;
	struct sb_error err;
	int status = 0;

	while (status == 0) {
		if (sb_trail_next(viewer->trail, &record, &err) != SB_OK)
			return sb_report(&err);
		if (record && is_wanted(viewer, &record->event)) {
			if (viewer->line->json) {
				sb_record_print(record, &viewer->out);
				sb_record_print_tail(record->hash, &viewer->out);
			} else {
				sb_log_text(record, &viewer->out);
			}
		}
		if (!record || viewer->out.length >= FLUSH_BYTES) {
			status = sb_print(&viewer->out);
			sb_buf_done(&viewer->out);
		}
		if (!record)
			break;
	}
	return status;
}

/* Wait until something may have changed; false when nobody reads what we print. */
static bool wait_for_more(int watch)
{
	struct pollfd fds[] = {{.fd = STDOUT_FILENO}, {.fd = watch, .events = POLLIN}};

	if (poll(fds, 2, LOOK_AGAIN_MS) > 0 && (fds[1].revents & POLLIN)) {
		poll(fds, 1, SETTLE_MS);
		sb_sys_watch_clear(watch);
	}
	return !(fds[0].revents & POLLERR);
}

static int follow(struct viewer *viewer)
{
	SB_AUTO_FD int watch = -1;
	struct sb_error err;
	int status;

	for (;;) {
		/* before the look, so that nothing falls between */
		if (watch < 0)
			watch = sb_sys_watch(viewer->log_dir);
		if (sb_trail_refresh(viewer->trail, &err) != SB_OK)
			return sb_report(&err);
		status = show(viewer);
		if (status || !wait_for_more(watch))
			return status;
	}
}

/* --log-path: relative to where we stand; links are followed, as in the record. */
static int find_path(struct viewer *viewer, const struct sb_home *home, struct sb_error *err)
{
	SB_AUTO_FREE char *expanded = NULL;
	const char *text = viewer->line->log_path;
	int status = sb_path_absolute(text, home->cwd, home->home, &viewer->path, err);

	if (status == SB_OK)
		status = sb_path_expand(text, home->cwd, home->home, &expanded, err);
	if (status == SB_OK)
		status = sb_path_canonical(expanded, &viewer->canonical, NULL, err);
	return status;
}

int sb_cli_log(const struct sb_command_line *line)
{
	struct viewer viewer = {.line = line, .out = SB_BUF(SB_OUTPUT_LIMIT)};
	struct sb_log_request request;
	struct sb_error err;
	int result = sb_log_request(line, &request), status = SB_OK;

	if (result)
		return result;
	if (line->log_path)
		status = find_path(&viewer, &request.home, &err);
	if (line->log_host && status == SB_OK)
		status = sb_peer_pattern_parse(line->log_host, &viewer.host, &err);
	viewer.log_dir = sb_path_join(request.home.state_dir, "log");
	if (status == SB_OK && !viewer.log_dir)
		status = sb_no_memory(&err);
	if (status == SB_OK)
		status =
			sb_trail_new(request.home.state_dir, &request.options, &viewer.trail, &err);
	if (status != SB_OK)
		result = sb_report(&err);
	else
		result = line->follow ? follow(&viewer) : show(&viewer);
	sb_trail_free(viewer.trail);
	sb_buf_done(&viewer.out);
	free(viewer.path);
	free(viewer.canonical);
	free(viewer.log_dir);
	sb_home_done(&request.home);
	return result;
}
