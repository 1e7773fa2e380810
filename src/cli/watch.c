/*
 * watch.c - --watch: finds the runs, and hands what happens to a board or to lines.
 */
#include "cli/watch.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/auto.h"
#include "cli/cli.h"
#include "cli/own_tty.h"
#include "config/file.h"
#include "enforce/inside.h"
#include "path/path.h"
#include "sys/directory.h"

#define LOOK_AGAIN_MS 500 /* where the kernel tells nothing of changes, or a run is ending */

#define SETTLE_MS 20 /* a key or a question waits no longer than this for a run that is busy */

struct watch {
	struct sb_watch_runs runs;
	struct sb_board *board; /* NULL: lines */
	struct sb_lines_out lines;
	int signals; /* with lines */
	char *run_dir, *log_dir;
	int run_changes, log_changes; /* sys/directory.h; negative: none */
	struct sb_trail *trail;
};

/* --- what is there ------------------------------------------------------------------- */

/* The directories may not be there before the first run: then there is nothing to miss. */
static void watch_directories(struct watch *watch)
{
	if (watch->run_changes < 0)
		watch->run_changes = sb_sys_watch(watch->run_dir);
	if (watch->log_changes < 0)
		watch->log_changes = sb_sys_watch(watch->log_dir);
}

/* From the beginning of the oldest run that goes on. */
static int64_t since(const struct sb_watch_runs *runs)
{
	time_t first = time(NULL);

	for (const struct sb_watch_run *run = runs->first; run; run = run->next)
		if (run->running.started < first)
			first = run->running.started;
	return (int64_t)(first - 1) * 1000000;
}

static int read_records(struct watch *watch, struct sb_error *err)
{
	const struct sb_record *record = NULL;
	int status = sb_trail_refresh(watch->trail, err);

	while (status == SB_OK && (status = sb_trail_next(watch->trail, &record, err)) == SB_OK &&
	       record)
		watch->runs.tell(
			watch->runs.context,
			&(struct sb_watch_event){.kind = SB_WATCH_RECORD, .record = record});
	return status;
}

static int look(struct watch *watch, struct sb_error *err)
{
	int status = sb_watch_look(&watch->runs, err);

	return status == SB_OK ? read_records(watch, err) : status;
}

/* --- the loop ------------------------------------------------------------------------- */

/* Without a board: until a signal, or nobody reads what is printed. */
static bool goes_on(struct watch *watch, const struct pollfd *fds, size_t count)
{
	if (watch->board)
		return sb_board_handle(watch->board, fds, count);
	return !watch->lines.status && !sb_tty_ended(watch->signals, NULL) &&
	       !(fds[1].revents & POLLERR);
}

static size_t poll_front(const struct watch *watch, struct pollfd *out)
{
	if (watch->board)
		return sb_board_poll(watch->board, out);
	out[0] = (struct pollfd){watch->signals, POLLIN, 0};
	out[1] = (struct pollfd){STDOUT_FILENO, 0, 0};
	return 2;
}

static int loop(struct watch *watch, struct sb_error *err)
{
	int status = look(watch, err);

	while (status == SB_OK) {
		size_t runs = sb_watch_count(&watch->runs), front;
		SB_AUTO_FREE struct pollfd *fds = calloc(2 + SB_BOARD_FDS + runs, sizeof *fds);
		int timeout = watch->board ? sb_board_timeout_ms(watch->board) : -1;
		bool unsettled = sb_watch_unsettled(&watch->runs);

		if (!fds)
			return sb_no_memory(err);
		fds[0] = (struct pollfd){watch->run_changes, POLLIN, 0};
		fds[1] = (struct pollfd){watch->log_changes, POLLIN, 0};
		front = poll_front(watch, fds + 2);
		sb_watch_poll(&watch->runs, fds + 2 + front);
		if ((watch->run_changes < 0 || watch->log_changes < 0 || unsettled) &&
		    (timeout < 0 || timeout > LOOK_AGAIN_MS))
			timeout = LOOK_AGAIN_MS;
		if (poll(fds, 2 + front + runs, timeout) < 0 && errno != EINTR)
			return sb_fail(err, SB_E_SYSTEM, errno, "cannot wait");
		sb_watch_handle(&watch->runs, fds + 2 + front, runs);
		for (size_t i = 0; i < 2; i++)
			if (fds[i].revents)
				sb_sys_watch_clear(fds[i].fd);
		watch_directories(watch);
		if (fds[1].revents) /* a burst of records is read at once */
			poll(NULL, 0, SETTLE_MS);
		if (fds[0].revents || fds[0].fd < 0 || unsettled)
			status = sb_watch_look(&watch->runs, err);
		if (status == SB_OK && (fds[1].revents || fds[1].fd < 0))
			status = read_records(watch, err);
		if (!goes_on(watch, fds + 2, front))
			break;
	}
	return status;
}

/* --- life ------------------------------------------------------------------------------- */

static int begin(struct watch *watch, const struct sb_setup *setup, bool lines,
		 struct sb_error *err)
{
	struct sb_trail_options options = {.size = sizeof options};
	int status;

	watch->run_dir = sb_path_join(setup->home.state_dir, SB_RUNNING_DIRECTORY);
	watch->log_dir = sb_path_join(setup->home.state_dir, "log");
	if (!watch->run_dir || !watch->log_dir)
		return sb_no_memory(err);
	/* as a run makes it: so that the first one is seen at once */
	status = sb_config_make_dirs(watch->run_dir, 0700, err);
	if (status != SB_OK)
		return status;
	watch_directories(watch);
	if (lines) {
		watch->signals = sb_tty_signals();
		watch->runs.role = SB_ATTACH_LOOKS;
		watch->runs.tell = sb_lines_tell;
		watch->runs.context = &watch->lines;
	} else {
		status = sb_board_open(setup, &watch->runs, &watch->board, err);
		watch->runs.role = SB_ATTACH_WATCHES;
		watch->runs.tell = sb_board_tell;
		watch->runs.context = watch->board;
	}
	if (status == SB_OK)
		status = sb_watch_look(&watch->runs, err);
	options.since_us = since(&watch->runs);
	if (status == SB_OK)
		status = sb_trail_new(setup->home.state_dir, &options, &watch->trail, err);
	return status;
}

static void done(struct watch *watch)
{
	sb_board_close(watch->board);
	sb_watch_done(&watch->runs);
	sb_trail_free(watch->trail);
	sb_auto_close(&watch->signals);
	sb_auto_close(&watch->run_changes);
	sb_auto_close(&watch->log_changes);
	free(watch->run_dir);
	free(watch->log_dir);
}

int sb_cli_watch(const struct sb_command_line *line)
{
	struct watch watch = {
		.signals = -1, .run_changes = -1, .log_changes = -1, .lines = {.json = line->json}};
	bool mounts, lines = line->json || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO);
	SB_AUTO_SETUP struct sb_setup setup = {0};
	struct sb_error err;
	int status;

	if (sb_inside(&mounts))
		return sb_end_with(SB_E_REFUSED, NULL,
				   "nobody inside a sandbox can watch the others");
	status = sb_set_up(line, true, &setup);
	if (status)
		return status;
	watch.runs.state_dir = setup.home.state_dir;
	status = begin(&watch, &setup, lines, &err);
	if (status == SB_OK)
		status = loop(&watch, &err);
	done(&watch);
	return status == SB_OK ? watch.lines.status : sb_report(&err);
}
