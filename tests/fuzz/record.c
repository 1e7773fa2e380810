/*
 * record.c - fuzz target: the input is one line of the log.
 *
 * Whatever it holds, it is taken or refused with a harmless sentence; a record that was taken
 * prints to one harmless line, which is taken again and prints the same.
 */
#include "fuzz.h"

#include <string.h>

#include "audit/record.h"
#include "base/buf.h"
#include "base/escape.h"

static bool is_harmless(const char *text, size_t length)
{
	for (size_t step; length; text += step, length -= step) {
		step = sb_utf8_visible(text, length);
		if (!step)
			return false;
	}
	return true;
}

static void print(const struct sb_record *record, struct sb_buf *out)
{
	sb_record_print(record, out);
	sb_record_print_tail(record->hash, out);
	CHECK(!sb_buf_failed(out));
	CHECK(is_harmless(out->data, out->length - 1) && out->data[out->length - 1] == '\n');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* twice what a line may have: an invisible character may become twice as long */
	SB_AUTO_BUF struct sb_buf once = SB_BUF(2 * SB_RECORD_MAX + 4096),
				  twice = SB_BUF(2 * SB_RECORD_MAX + 4096);
	struct sb_record record, again;
	struct sb_error err;
	int status = sb_record_parse((const char *)data, size, &record, &err);

	if (status != SB_OK) {
		CHECK(status == SB_E_INVALID && err.sys_errno == 0);
		CHECK(err.message[0] && is_harmless(err.message, strlen(err.message)));
		return 0;
	}
	CHECK(size <= SB_RECORD_MAX && sb_session_valid(record.session, strlen(record.session)));
	CHECK(record.seq > 0 && record.event.kind < SB_EVENT_COUNT && strlen(record.hash) == 64);
	print(&record, &once);
	if (once.length <= SB_RECORD_MAX) {
		CHECK(sb_record_parse(once.data, once.length - 1, &again, &err) == SB_OK);
		CHECK(again.time_us == record.time_us && again.seq == record.seq);
		print(&again, &twice);
		CHECK(strcmp(once.data, twice.data) == 0);
		sb_record_done(&again);
	}
	sb_record_done(&record);
	return 0;
}
