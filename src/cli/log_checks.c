/*
 * log_checks.c - --log --verify: does the record hold?  --log --prune: less of it.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "audit/chain.h"
#include "base/auto.h"
#include "base/escape.h"
#include "cli/cli.h"

#define EXIT_BROKEN 1 /* --verify: a record was changed or removed */

/* --- --verify ---------------------------------------------------------------- */

struct verifier {
	const struct sb_command_line *line;
	const char *state_dir;
	int dir;
	size_t sessions, records, broken;
	struct sb_buf out;
	struct sb_json json;
};

static void say(struct verifier *verifier, const char *session)
{
	sb_escape_puts(&verifier->out, verifier->state_dir);
	sb_buf_printf(&verifier->out, "/log/%s.jsonl", session);
}

static void tell(struct verifier *verifier, const char *session, const struct sb_check *check,
		 bool running)
{
	if (check->bad_line) {
		say(verifier, session);
		sb_buf_printf(&verifier->out, " line %zu: BROKEN: %s\n", check->bad_line,
			      check->what);
		return;
	}
	if (check->lost) {
		say(verifier, session);
		sb_buf_printf(&verifier->out, ": %lu records could not be written (full disk?)\n",
			      check->lost);
	}
	if (check->torn_end && !running) {
		say(verifier, session);
		sb_buf_printf(&verifier->out,
			      " line %zu: torn: the writer was killed or the disk "
			      "was full\n",
			      check->records + check->torn + 1);
	}
	if (!check->exited && !running && !check->unsupervised) {
		say(verifier, session);
		sb_buf_puts(&verifier->out,
			    ": no exit record: the writer was killed, or the end was cut off\n");
	}
}

static void tell_json(struct verifier *verifier, const char *session, const struct sb_check *check,
		      bool running)
{
	struct sb_json *json = &verifier->json;

	sb_json_open(json, '{');
	sb_json_pair(json, "session", session);
	sb_json_pair_int(json, "records", (long)check->records);
	sb_json_pair_bool(json, "holds", !check->bad_line);
	if (check->bad_line) {
		sb_json_pair_int(json, "line", (long)check->bad_line);
		sb_json_pair(json, "what", check->what);
	} else {
		sb_json_pair(json, "state",
			     check->exited         ? "ended"
			     : running             ? "running"
			     : check->unsupervised ? "static"
						   : "no exit record");
		sb_json_pair_int(json, "lost", (long)check->lost);
		sb_json_pair_int(json, "torn", (long)check->torn);
		sb_json_pair_bool(json, "torn_end", check->torn_end && !running);
	}
	sb_json_close(json, '}');
}

static int verify_all(struct verifier *verifier, struct sb_error *err)
{
	SB_AUTO(sb_log_list_done) struct sb_session_list list = {0};
	int status = verifier->dir < 0 ? SB_OK : sb_log_list(verifier->dir, &list, err);

	for (size_t i = 0; i < list.count && status == SB_OK; i++) {
		const char *session = list.sessions[i].id;
		struct sb_check check;
		bool running;

		if (!sb_session_wanted(verifier->dir, session, verifier->line->log_session))
			continue;
		/* asked first: once the writer is gone, the file stays as it is */
		running = sb_log_writer_lives(verifier->dir, session);
		status = sb_check_session(verifier->dir, session, &check, err);
		if (status != SB_OK)
			break;
		verifier->sessions++;
		verifier->records += check.records;
		verifier->broken += check.bad_line != 0;
		if (verifier->line->json)
			tell_json(verifier, session, &check, running);
		else
			tell(verifier, session, &check, running);
	}
	return status;
}

static int verify(struct verifier *verifier)
{
	struct sb_error err;
	int status;

	sb_json_init(&verifier->json, &verifier->out);
	if (verifier->line->json) {
		sb_json_open(&verifier->json, '{');
		sb_json_open_at(&verifier->json, "sessions", '[');
	}
	if (verify_all(verifier, &err) != SB_OK)
		return sb_report(&err);
	if (verifier->line->json) {
		sb_json_close(&verifier->json, ']');
		sb_json_pair_int(&verifier->json, "records", (long)verifier->records);
		sb_json_pair_bool(&verifier->json, "holds", !verifier->broken);
		sb_json_close(&verifier->json, '}');
	} else {
		sb_buf_printf(&verifier->out, "%zu sessions, %zu records: ", verifier->sessions,
			      verifier->records);
		if (verifier->broken)
			sb_buf_printf(&verifier->out, "%zu BROKEN\n", verifier->broken);
		else
			sb_buf_puts(&verifier->out, "every chain holds\n");
	}
	status = sb_print(&verifier->out);
	return status ? status : verifier->broken ? EXIT_BROKEN : 0;
}

int sb_cli_verify(const struct sb_command_line *line)
{
	struct verifier verifier = {.line = line, .dir = -1, .out = SB_BUF(SB_OUTPUT_LIMIT)};
	struct sb_log_request request;
	struct sb_error err;
	int result = sb_log_request(line, &request);

	if (result)
		return result;
	verifier.state_dir = request.home.state_dir;
	if (sb_log_open(verifier.state_dir, &verifier.dir, &err) != SB_OK)
		result = sb_report(&err);
	else
		result = verify(&verifier);
	sb_auto_close(&verifier.dir);
	sb_buf_done(&verifier.out);
	sb_home_done(&request.home);
	return result;
}

/* --- --prune ----------------------------------------------------------------- */

struct pruner {
	bool as_json;
	size_t removed, failed;
	struct sb_buf out;
	struct sb_json json;
};

static void removed(void *context, const struct sb_session_file *session, const char *why,
		    int error)
{
	struct pruner *pruner = context;
	char time[SB_TIME_SIZE];

	if (error) {
		sb_warn("cannot remove the record of session %s: %s", session->id, strerror(error));
		pruner->failed++;
		return;
	}
	pruner->removed++;
	sb_time_print(session->changed_us, time);
	if (pruner->as_json) {
		sb_json_open(&pruner->json, '{');
		sb_json_pair(&pruner->json, "session", session->id);
		sb_json_pair(&pruner->json, "last_written", time);
		sb_json_pair_int(&pruner->json, "bytes", (long)session->bytes);
		sb_json_pair(&pruner->json, "why", why);
		sb_json_close(&pruner->json, '}');
	} else {
		sb_buf_printf(&pruner->out, "removed %s (last written %.10s, %llu bytes): %s\n",
			      session->id, time, (unsigned long long)session->bytes,
			      strcmp(why, "age") == 0 ? "too old" : "too much in all");
	}
}

static int prune(struct pruner *pruner, const struct sb_setup *setup, int dir)
{
	struct sb_prune prune = {.total_bytes = setup->log_keep_megabytes * UINT64_C(1000000),
				 .removed = removed,
				 .context = pruner};
	struct timespec now;
	struct sb_error err;
	int status;

	clock_gettime(CLOCK_REALTIME, &now);
	if (setup->log_keep_days)
		prune.before_us =
			((int64_t)now.tv_sec - (int64_t)setup->log_keep_days * 86400) * 1000000;
	sb_json_init(&pruner->json, &pruner->out);
	if (pruner->as_json) {
		sb_json_open(&pruner->json, '{');
		sb_json_open_at(&pruner->json, "removed", '[');
	}
	if (dir >= 0 && sb_log_prune(dir, &prune, &err) != SB_OK)
		return sb_report(&err);
	if (pruner->as_json) {
		sb_json_close(&pruner->json, ']');
		sb_json_pair_int(&pruner->json, "kept", (long)prune.kept);
		sb_json_pair_int(&pruner->json, "kept_bytes", (long)prune.kept_bytes);
		sb_json_close(&pruner->json, '}');
	} else {
		sb_buf_printf(&pruner->out, "%zu sessions removed, %zu kept (%llu bytes)\n",
			      pruner->removed, prune.kept, (unsigned long long)prune.kept_bytes);
	}
	status = sb_print(&pruner->out);
	return status ? status : pruner->failed ? SB_EXIT_FAILURE : 0;
}

int sb_cli_prune(const struct sb_command_line *line)
{
	struct pruner pruner = {.as_json = line->json, .out = SB_BUF(SB_OUTPUT_LIMIT)};
	SB_AUTO_SETUP struct sb_setup setup = {0};
	SB_AUTO_FD int dir = -1;
	struct sb_error err;
	int result = sb_set_up(line, true, &setup);

	if (result)
		return result;
	if (sb_log_open(setup.home.state_dir, &dir, &err) != SB_OK)
		return sb_report(&err);
	result = prune(&pruner, &setup, dir);
	sb_buf_done(&pruner.out);
	return result;
}
