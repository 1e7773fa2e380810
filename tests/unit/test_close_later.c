/* test_close_later.c - descriptors that the kernel closes in its own time are closed, and no others. */
#include "unit.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sys/process.h"

/* Is there nobody left who could write? */
static bool has_ended(int reader, int wait_ms)
{
	struct pollfd end = {reader, POLLIN, 0};

	return poll(&end, 1, wait_ms) == 1 && (end.revents & POLLHUP);
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void are_closed_in_the_end(void **state)
{
	int one[2], other[2], kept[2];

	(void)state;
	assert_int_equal(pipe2(one, O_CLOEXEC), 0);
	assert_int_equal(pipe2(other, O_CLOEXEC), 0);
	assert_int_equal(pipe2(kept, O_CLOEXEC), 0);
	assert_false(has_ended(one[0], 0)); /* the control */
	sb_sys_close_later((const int[]){-1, one[1], other[1]}, 3);
	assert_false(is_open(one[1]));
	assert_false(is_open(other[1]));
	assert_true(has_ended(one[0], 30000)); /* ends the wait at once when it is so */
	assert_true(has_ended(other[0], 30000));
	assert_false(has_ended(kept[0], 0)); /* the neighbour */
	for (int i = 0; i < 2; i++)
		close(kept[i]);
	close(one[0]);
	close(other[0]);
}

/* More than go into one message; and no number free for what it takes. */
static void are_closed_whatever_is_missing(void **state)
{
	struct rlimit whole, none;
	int many[6][2], fds[6];

	(void)state;
	for (size_t i = 0; i < COUNT(many); i++) {
		assert_int_equal(pipe2(many[i], O_CLOEXEC), 0);
		fds[i] = many[i][1];
	}
	getrlimit(RLIMIT_NOFILE, &whole);
	none = whole;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	sb_sys_close_later(fds, 1);
	setrlimit(RLIMIT_NOFILE, &whole);
	assert_true(has_ended(many[0][0], 0)); /* by ourselves */
	sb_sys_close_later(fds + 1, COUNT(fds) - 1);
	for (size_t i = 0; i < COUNT(many); i++) {
		assert_false(is_open(fds[i]));
		assert_true(has_ended(many[i][0], 30000));
		close(many[i][0]);
	}
	sb_sys_close_later((const int[]){-1, -1}, 2);
}

/* Nothing of ours stays behind: the pair that carries them is none that we have. */
static void leave_no_descriptor(void **state)
{
	int lowest = dup(0), ends[2], again;

	(void)state;
	close(lowest);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	sb_sys_close_later(ends, 2);
	again = dup(0);
	assert_int_equal(again, lowest);
	close(again);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(are_closed_in_the_end),
	cmocka_unit_test(are_closed_whatever_is_missing),
	cmocka_unit_test(leave_no_descriptor),
};

UNIT_MAIN("close_later")
