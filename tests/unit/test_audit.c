/* test_audit.c - R1: the writer on a full disk and killed; sessions, and which are pruned. */
#include "session_log.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/buf.h"

/* --- a full disk ------------------------------------------------------------- */

static void limit_file(rlim_t bytes)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/*
 * Room runs out at every possible byte of the second record, comes back, and the file holds.
 * twice: it runs out again a few bytes later.
 */
static void full_disk_at_every_byte(void **state)
{
	struct sb_event event = {.kind = SB_EVENT_DENY, .path = "/lost"};
	size_t first = 0, second = 0;

	signal(SIGXFSZ, SIG_IGN);
	for (size_t room = 0; room == 0 || room <= second; room++) {
		struct sb_audit *audit = open_audit(*state, NULL);
		struct sb_check check;
		struct text text;
		struct sb_error err;
		char session[SB_SESSION_SIZE];
		int status;

		snprintf(session, sizeof session, "%s", sb_audit_session(audit));
		deny(audit, "/first");
		load(&text, *state, session);
		first = text.length;
		free(text.bytes);
		limit_file(first + room);
		status = sb_audit_write(audit, &event, &err);
		if (status != SB_OK) {
			assert_int_equal(err.sys_errno, EFBIG);
			/* a little more room, not enough */
			limit_file(first + room + room % 5);
			assert_int_equal(sb_audit_write(audit, &event, NULL), SB_E_SYSTEM);
		}
		limit_file(RLIM_INFINITY);
		deny(audit, "/third");
		leave(audit);
		load(&text, *state, session);
		check = verify(*state, session);
		assert_string_equal(check.what, "");
		assert_true(check.exited);
		assert_int_equal(check.records, status == SB_OK ? 4 : 3);
		assert_int_equal(check.lost, status == SB_OK ? 0 : 2);
		if (room && room % 5 == 0 && status != SB_OK)
			assert_int_equal(check.torn, 1);
		assert_false(check.torn_end);
		if (room == 0) { /* how long it would have been */
			SB_AUTO_BUF struct sb_buf line = SB_BUF(SB_RECORD_MAX);
			struct sb_record record = {.seq = 2, .event = event};

			snprintf(record.session, sizeof record.session, "%s", session);
			sb_record_print(&record, &line);
			second = line.length + SB_RECORD_TAIL + 1;
		}
		/* what a full disk left is covered too */
		if (check.torn) {
			text.line[1][0] ^= 1;
			store(&text, text.bytes, text.length);
			assert_int_not_equal(verify(*state, session).bad_line, 0);
		}
		free(text.bytes);
	}
}

static void a_killed_writer_leaves_one_torn_line(void **state)
{
	static char path[4000];

	unit_seed();
	memset(path, 'p', sizeof path - 1);
	for (int round = 0; round < 30; round++) {
		struct timespec pause = {.tv_nsec = 300000 + unit_below(3000000)};
		struct sb_session_list list;
		struct sb_check check;
		struct sb_error err;
		pid_t child = fork();

		SB_AUTO_FD int dir = -1;

		assert_true(child >= 0);
		if (child == 0) {
			struct sb_audit *audit = open_audit(*state, NULL);

			for (;;)
				deny(audit, path + unit_below(sizeof path));
		}
		nanosleep(&pause, NULL);
		kill(child, SIGKILL);
		assert_int_equal(waitpid(child, NULL, 0), child);
		assert_int_equal(sb_log_open(*state, &dir, &err), SB_OK);
		if (dir < 0)
			continue; /* it had no time */
		assert_int_equal(sb_log_list(dir, &list, &err), SB_OK);
		for (size_t i = 0; i < list.count; i++) {
			check = verify(*state, list.sessions[i].id);
			assert_string_equal(check.what, "");
			assert_int_equal(check.bad_line, 0);
			assert_false(check.exited);
			assert_false(sb_log_writer_lives(dir, list.sessions[i].id));
		}
		sb_log_list_done(&list);
	}
}

/* --- sessions, pruning ------------------------------------------------------- */

static void sessions_are_told_from_other_names(void **state)
{
	static const char *const good[] = {"20261115T180301-1234-9f3c", "00000000T000000-1-0000"};
	static const char *const bad[] = {
		"",
		".",
		"20261115T180301-1234-9f3g",
		"20261115T180301-1234-9F3C",
		"20261115T180301--9f3c",
		"20261115T180301-12-4-9f3c",
		"20261115t180301-1234-9f3c",
		"20261115T180301-1234567890123456-9f3c",
		"20261115T180301-1234-9f3c.jsonl",
	};
	struct sb_session_list list;
	struct sb_audit *audit;
	struct sb_error err;

	SB_AUTO_FD int dir = -1;

	for (size_t i = 0; i < COUNT(good); i++)
		assert_true(sb_session_valid(good[i], strlen(good[i])));
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_false(sb_session_valid(bad[i], strlen(bad[i])));
	assert_int_equal(sb_log_open(*state, &dir, &err), SB_OK);
	assert_int_equal(dir, -1);
	audit = open_audit(*state, NULL);
	assert_true(sb_session_valid(sb_audit_session(audit), strlen(sb_audit_session(audit))));
	make_file(*state, "log/notes.txt");
	make_file(*state, "log/20261115T180301-1234-9f3c");
	make_file(*state, "log/x.jsonl");
	make_link(*state, "log/20261115T180301-1234-9f3c.jsonl", "/etc/passwd");
	make_dir(*state, "log/20261115T180301-1234-9f3d.jsonl");
	assert_int_equal(sb_log_open(*state, &dir, &err), SB_OK);
	assert_int_equal(sb_log_list(dir, &list, &err), SB_OK);
	assert_int_equal(list.count, 1);
	assert_string_equal(list.sessions[0].id, sb_audit_session(audit));
	assert_true(sb_log_writer_lives(dir, sb_audit_session(audit)));
	sb_audit_close(audit);
	assert_false(sb_log_writer_lives(dir, list.sessions[0].id));
	sb_log_list_done(&list);
}

struct removals {
	size_t count;
	char ids[8][SB_SESSION_SIZE];
	char why[8];
};

static void note_removal(void *context, const struct sb_session_file *session, const char *why,
			 int error)
{
	struct removals *removals = context;

	assert_int_equal(error, 0);
	removals->why[removals->count] = why[0];
	snprintf(removals->ids[removals->count++], SB_SESSION_SIZE, "%s", session->id);
}

/* Write n bytes of records in a session that was last written days ago. */
static struct sb_audit *aged(const char *root, int days, bool open)
{
	struct sb_audit *audit = open_audit(root, NULL);
	struct timespec times[2] = {{.tv_sec = 1000000000L - days * 86400L},
				    {.tv_sec = 1000000000L - days * 86400L}};
	char name[128];

	deny(audit, "/x");
	snprintf(name, sizeof name, "log/%s.jsonl", sb_audit_session(audit));
	assert_int_equal(utimensat(AT_FDCWD, in(root, name), times, 0), 0);
	if (!open) {
		sb_audit_close(audit);
		audit = NULL;
	}
	return audit;
}

static void prune_takes_the_oldest_and_spares_the_living(void **state)
{
	struct sb_audit *alive = aged(*state, 100, true);
	struct removals removals = {0};
	struct sb_prune prune = {.before_us = (1000000000L - 50 * 86400L) * 1000000,
				 .removed = note_removal,
				 .context = &removals};
	struct sb_session_list list;
	struct sb_error err;

	SB_AUTO_FD int dir = -1;

	aged(*state, 10, false);
	aged(*state, 60, false);
	aged(*state, 30, false);
	aged(*state, 70, false);
	assert_int_equal(sb_log_open(*state, &dir, &err), SB_OK);
	assert_int_equal(sb_log_prune(dir, &prune, &err), SB_OK);
	assert_int_equal(removals.count, 2);
	assert_memory_equal(removals.why, "aa", 2);
	assert_int_equal(prune.kept, 3);

	assert_int_equal(sb_log_list(dir, &list, &err), SB_OK);
	assert_int_equal(list.count, 3);
	prune.before_us = 0;
	prune.total_bytes = prune.kept_bytes - 1;
	assert_int_equal(sb_log_prune(dir, &prune, &err), SB_OK);
	assert_int_equal(removals.count, 3);
	assert_int_equal(removals.why[2], 's');
	sb_log_list_done(&list);
	assert_int_equal(sb_log_list(dir, &list, &err), SB_OK);
	assert_int_equal(list.count, 2);
	/* of those that may go, the one of 30 days went before the one of 10 */
	for (size_t i = 0; i < list.count; i++)
		assert_string_not_equal(list.sessions[i].id, removals.ids[2]);
	sb_log_list_done(&list);

	prune.total_bytes = 1;
	assert_int_equal(sb_log_prune(dir, &prune, &err), SB_OK);
	assert_int_equal(prune.kept, 1);
	deny(alive, "/still here");
	leave(alive);
	prune.total_bytes = 0;
	assert_int_equal(sb_log_prune(dir, &prune, &err), SB_OK); /* no limit at all */
	assert_int_equal(prune.kept, 1);
	assert_int_equal(removals.count, 4);
}

static void a_place_that_cannot_be_written_is_an_error(void **state)
{
	struct sb_audit *audit = NULL;
	struct sb_error err;

	make_file(*state, "file");
	assert_int_equal(sb_audit_open(in(*state, "file/state"), NULL, &audit, &err), SB_E_SYSTEM);
	assert_int_equal(err.sys_errno, ENOTDIR);
	make_link(*state, "log", "/tmp");
	assert_int_equal(sb_audit_open(*state, NULL, &audit, &err), SB_E_SYSTEM);
	assert_null(audit);
	sb_audit_close(NULL);
}

#define WITH_TREE(test) cmocka_unit_test_setup_teardown(test, tree_setup, tree_teardown)

static const struct CMUnitTest tests[] = {
	WITH_TREE(full_disk_at_every_byte),
	WITH_TREE(a_killed_writer_leaves_one_torn_line),
	WITH_TREE(sessions_are_told_from_other_names),
	WITH_TREE(prune_takes_the_oldest_and_spares_the_living),
	WITH_TREE(a_place_that_cannot_be_written_is_an_error),
};

UNIT_MAIN("audit")
