/*
 * test_wire.c - what the performer sends is taken apart carefully: it works on hostile requests.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "supervise/wire.h"
#include "unit.h"

static int ends[2];

static int open_ends(void **state)
{
	(void)state;
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends);
}

static int close_ends(void **state)
{
	(void)state;
	close(ends[0]);
	close(ends[1]);
	return 0;
}

/* A request whose memory held anything before. */
static struct sb_wire_request *garbage(void)
{
	struct sb_wire_request *request = malloc(sizeof *request);

	assert_non_null(request);
	memset(request, 0x5a, sizeof *request);
	return request;
}

static void a_request_arrives_as_it_was(void **state)
{
	struct sb_wire_request *sent = calloc(1, sizeof *sent), *got = garbage();
	struct sb_wire_message message;
	int fd = -1;

	(void)state;
	*sent = SB_WIRE_REQUEST_EMPTY;
	sent->call.act = SB_ACT_SETXATTR;
	sent->call.id = 77;
	sent->call.value = strdup("value");
	sent->call.value_length = 5;
	memcpy(sent->call.text, "user.x", 7);
	memcpy(sent->file.path, "/a/b", 5);
	memcpy(sent->file.name, "b", 2);
	sent->file.directory = open("/", O_PATH | O_CLOEXEC);
	assert_int_equal(0, sb_wire_send_request(ends[0], sent));
	assert_int_equal(0, sb_wire_receive(ends[1], &message, got, &fd));
	assert_int_equal(SB_WIRE_REQUEST, message.kind);
	assert_int_equal(77, got->call.id);
	assert_string_equal("/a/b", got->file.path);
	assert_string_equal("b", got->file.name);
	assert_string_equal("user.x", got->call.text);
	assert_int_equal(5, got->call.value_length);
	assert_memory_equal("value", got->call.value, 5);
	assert_true(got->file.directory >= 0 && got->file.object < 0 && got->socket < 0);
	sb_wire_request_done(sent);
	sb_wire_request_done(got);
	free(sent);
	free(got);
}

/* Every shorter message is refused, and leaves nothing that could not be released. */
static void what_is_cut_is_refused(void **state)
{
	struct sb_wire_request *sent = calloc(1, sizeof *sent);
	struct sb_wire_message message;
	char bytes[32 * 1024];
	ssize_t length;

	(void)state;
	*sent = SB_WIRE_REQUEST_EMPTY;
	sent->call.act = SB_ACT_UNLINK;
	memcpy(sent->file.path, "/a/b", 5);
	assert_int_equal(0, sb_wire_send_request(ends[0], sent));
	length = recv(ends[1], bytes, sizeof bytes, 0);
	assert_true(length > 0);
	for (ssize_t cut = 1; cut < length; cut += cut < length - 8 ? 97 : 1) {
		struct sb_wire_request *got = garbage();

		assert_int_equal(cut, send(ends[0], bytes, (size_t)cut, 0));
		assert_int_equal(-EBADMSG, sb_wire_receive(ends[1], &message, got, NULL));
		sb_wire_request_done(got);
		free(got);
	}
	free(sent);
}

/* Who has no place for its descriptors can still answer. */
static void a_full_table_is_told(void **state)
{
	struct sb_wire_request *sent = calloc(1, sizeof *sent), *got = garbage();
	struct rlimit limit, none;
	struct sb_wire_message message;
	int fd = -1;

	(void)state;
	*sent = SB_WIRE_REQUEST_EMPTY;
	sent->call.act = SB_ACT_CLOSE;
	sent->call.replaces = true;
	sent->call.id = 77;
	sent->socket = open("/", O_PATH | O_CLOEXEC);
	assert_int_equal(0, sb_wire_send_request(ends[0], sent));
	assert_int_equal(0, getrlimit(RLIMIT_NOFILE, &limit));
	none = limit;
	none.rlim_cur = 0;
	assert_int_equal(0, setrlimit(RLIMIT_NOFILE, &none));
	assert_int_equal(-EMFILE, sb_wire_receive(ends[1], &message, got, &fd));
	assert_int_equal(0, setrlimit(RLIMIT_NOFILE, &limit));
	assert_int_equal(77, got->call.id);
	assert_int_equal(SB_ACT_CLOSE, got->call.act);
	assert_true(got->call.replaces && got->socket < 0 && fd < 0);
	sb_wire_request_done(sent);
	sb_wire_request_done(got);
	free(sent);
	free(got);
}

static void a_note_arrives_as_it_was(void **state)
{
	struct sb_wire_request *got = garbage();
	struct sb_wire_message message;
	char bytes[65536];
	ssize_t length;

	(void)state;
	assert_int_equal(0, sb_wire_send_note(ends[0], SB_NOTE_LANDED, "a line"));
	assert_int_equal(0, sb_wire_receive(ends[1], &message, got, NULL));
	assert_int_equal(SB_WIRE_NOTE, message.kind);
	assert_int_equal(SB_NOTE_LANDED, sb_wire_weight(&message));
	message.number = -1;
	assert_int_equal(SB_NOTE_GRAVE, sb_wire_weight(&message));
	assert_string_equal("a line", got->call.text);
	sb_wire_request_done(got);
	assert_int_equal(0, sb_wire_send_note(ends[0], SB_NOTE_LANDED, "a line"));
	length = recv(ends[1], bytes, sizeof bytes, 0);
	assert_int_equal(length - 1, send(ends[0], bytes, (size_t)length - 1, 0));
	assert_int_equal(-EBADMSG, sb_wire_receive(ends[1], &message, got, NULL));
	sb_wire_request_done(got);
	memset(bytes, 'x', 10000); /* longer than anything of ours */
	bytes[10000] = '\0';
	assert_int_equal(0, sb_wire_send_note(ends[0], SB_NOTE_TOLD, bytes));
	assert_int_equal(-EBADMSG, sb_wire_receive(ends[1], &message, got, NULL));
	sb_wire_request_done(got);
	free(got);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(a_note_arrives_as_it_was, open_ends, close_ends),
	cmocka_unit_test_setup_teardown(a_full_table_is_told, open_ends, close_ends),
	cmocka_unit_test_setup_teardown(a_request_arrives_as_it_was, open_ends, close_ends),
	cmocka_unit_test_setup_teardown(what_is_cut_is_refused, open_ends, close_ends),
};

UNIT_MAIN("wire")
