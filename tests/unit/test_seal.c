/* test_seal.c - a directory is sealed: what is another one afterwards, and what is not. */
#include "tree.h"

#include <sys/mman.h>

#include "judge/hold.h"
#include "judge/seal.h"

static void put(const char *root, const char *name, const char *text, size_t length)
{
	int fd = open(in(root, name), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, length), length);
	close(fd);
}

static void enlarge(const char *root, const char *name)
{
	assert_int_equal(truncate(in(root, name), (off_t)SB_SEAL_BYTES + 1), 0);
}

static void fill(const char *root, bool large)
{
	make_dir(root, "x");
	make_dir(root, "x/deep");
	put(root, "x/a", "one\n", 4);
	put(root, "x/deep/b", "two\n", 4);
	make_link(root, "x/link", "/bin/true");
	make_file(root, "x/large");
	if (large)
		enlarge(root, "x/large");
}

static struct sb_seal take(const char *root)
{
	struct sb_seal seal;

	sb_seal_take(AT_FDCWD, in(root, "x"), NULL, &seal);
	return seal;
}

static bool is_same(const char *root, const struct sb_seal *shown)
{
	struct sb_seal now = take(root);
	bool same = sb_seal_holds(shown, &now);

	sb_seal_done(&now);
	return same;
}

/* --- what is another one -------------------------------------------------------------------------- */

static void other_bytes(const char *root)
{
	struct stat info;

	assert_int_equal(stat(in(root, "x/deep/b"), &info), 0);
	put(root, "x/deep/b", "six\n", 4);
	assert_int_equal(utimensat(AT_FDCWD, in(root, "x/deep/b"),
				   (struct timespec[]){info.st_atim, info.st_mtim}, 0),
			 0);
}

static void another_file(const char *root)
{
	make_file(root, "x/deep/c");
}

static void a_file_less(const char *root)
{
	assert_int_equal(unlink(in(root, "x/a")), 0);
}

static void another_name(const char *root)
{
	assert_int_equal(rename(in(root, "x/a"), in(root, "x/z")), 0);
}

static void two_swapped(const char *root)
{
	assert_int_equal(rename(in(root, "x/a"), in(root, "x/c")), 0);
	assert_int_equal(rename(in(root, "x/deep/b"), in(root, "x/a")), 0);
	assert_int_equal(rename(in(root, "x/c"), in(root, "x/deep/b")), 0);
}

static void a_mode(const char *root)
{
	assert_int_equal(chmod(in(root, "x/a"), 0755), 0);
}

static void another_link(const char *root)
{
	assert_int_equal(unlink(in(root, "x/link")), 0);
	make_link(root, "x/link", "/bin/sh");
}

static void a_directory_for_a_file(const char *root)
{
	a_file_less(root);
	make_dir(root, "x/a");
}

static void an_empty_directory(const char *root)
{
	make_dir(root, "x/new");
}

static void another_directory(const char *root)
{
	assert_int_equal(rename(in(root, "x"), in(root, "old")), 0);
	fill(root, false);
}

static void bytes_through_a_mapping(const char *root)
{
	int fd = open(in(root, "x/a"), O_RDWR | O_CLOEXEC);
	char *area = mmap(NULL, 4, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	assert_true(area != MAP_FAILED);
	memcpy(area, "six\n", 4);
	munmap(area, 4);
	close(fd);
}

static void whatever_changes_is_seen(void **state)
{
	static void (*const changes[])(const char *root) = {
		other_bytes,       another_file,
		a_file_less,       another_name,
		two_swapped,       a_mode,
		another_link,      a_directory_for_a_file,
		another_directory, an_empty_directory};

	for (int large = 0; large < 2; large++)
		for (size_t i = 0; i < COUNT(changes); i++) {
			struct sb_seal seal;

			fill(*state, large);
			seal = take(*state);
			assert_true(seal.whole);
			assert_int_equal(seal.by_bytes, !large);
			assert_true(is_same(*state, &seal)); /* the neighbour */
			changes[i](*state);
			if (is_same(*state, &seal))
				fail_msg("change %zu, large %d", i, large);
			sb_seal_done(&seal);
			tree_clear(*state);
			assert_int_equal(mkdir(*state, 0755), 0);
		}
}

static void small_ones_are_read(void **state)
{
	struct sb_seal seal;

	fill(*state, false);
	seal = take(*state);
	bytes_through_a_mapping(*state);
	assert_false(is_same(*state, &seal));
	sb_seal_done(&seal);
}

/* What is put on hold gets another name, and other times; and copies are the same bytes. */
static void a_name_is_nothing(void **state)
{
	char name[SB_HOLD_NAME];
	struct sb_seal seal;
	int root = open(*state, O_PATH | O_CLOEXEC);

	for (int large = 0; large < 2; large++) {
		fill(*state, large);
		seal = take(*state);
		assert_int_equal(sb_hold_put(root, "x", root, name), 0);
		sb_hold_settle();
		assert_int_equal(sb_hold_end(root, name, root, "x"), 0);
		assert_true(is_same(*state, &seal));
		sb_seal_done(&seal);
		tree_clear(in(*state, "x"));
	}
	close(root);
}

static void files_that_are_open_are_told(void **state)
{
	char notes[SB_SEAL_NOTES][SB_SEAL_NOTE];
	struct sb_seal seal, closed;
	int fd;

	fill(*state, false);
	fd = open(in(*state, "x/deep/b"), O_WRONLY | O_CLOEXEC);
	seal = take(*state);
	assert_int_equal(seal.open, 1);
	assert_int_equal(sb_seal_notes(&seal, notes), 1);
	assert_string_equal(notes[0], "'b' may still be written to: a yes is to whatever that is");
	assert_int_equal(write(fd, "x", 1), 1);
	assert_true(is_same(*state, &seal)); /* as it was said */
	close(fd);
	assert_false(is_same(*state, &seal));
	closed = take(*state);
	assert_int_equal(sb_seal_notes(&closed, notes), 0);
	sb_seal_done(&seal);
	sb_seal_done(&closed);
}

static void too_much_is_told(void **state)
{
	char notes[SB_SEAL_NOTES][SB_SEAL_NOTE], path[PATH_MAX] = "x", words[SB_SEAL_WORDS];
	struct sb_seal seal;

	make_dir(*state, "x");
	for (int i = 0; i < 200; i++) {
		snprintf(path + strlen(path), sizeof path - strlen(path), "/d");
		make_dir(*state, path);
	}
	seal = take(*state);
	assert_false(seal.whole);
	assert_int_equal(sb_seal_notes(&seal, notes), 1);
	assert_memory_equal(sb_seal_words(&seal, words), "at least ", 9);
	sb_seal_done(&seal);
}

static int break_link(void *context, int directory, const char *name)
{
	unsigned *count = context;

	(void)directory;
	assert_string_equal(name, "a");
	++*count;
	return 0;
}

static void other_names_are_found(void **state)
{
	char notes[SB_SEAL_NOTES][SB_SEAL_NOTE];
	struct sb_seal seal;
	unsigned count = 0;

	fill(*state, false);
	assert_int_equal(link(in(*state, "x/a"), in(*state, "other")), 0);
	seal = take(*state);
	assert_int_equal(seal.linked, 1);
	assert_int_equal(sb_seal_notes(&seal, notes), 0); /* it gets a copy */
	sb_seal_done(&seal);
	assert_int_equal(sb_seal_unshare(AT_FDCWD, in(*state, "x"), break_link, &count), 0);
	assert_int_equal(count, 1);
	enlarge(*state, "x/large");
	seal = take(*state);
	assert_int_equal(sb_seal_notes(&seal, notes), 1);
	sb_seal_done(&seal);
}

static void what_the_act_puts_there_is_left_out(void **state)
{
	struct sb_seal_skip skip = {.name = "refs"};
	struct sb_seal before, after;

	fill(*state, false);
	sb_seal_take(AT_FDCWD, in(*state, "x"), &skip, &before);
	make_dir(*state, "x/refs");
	sb_seal_take(AT_FDCWD, in(*state, "x"), &skip, &after);
	assert_true(sb_seal_holds(&before, &after));
	sb_seal_done(&after);
	make_dir(*state, "x/deep/refs");
	sb_seal_take(AT_FDCWD, in(*state, "x"), &skip, &after);
	assert_false(sb_seal_holds(&before, &after));
	sb_seal_done(&after);
	sb_seal_done(&before);
}

static void single_files_are_found(void **state)
{
	for (int large = 0; large < 2; large++) {
		struct sb_seal seal;
		int fd, link;

		fill(*state, large);
		seal = take(*state);
		fd = open(in(*state, "x/deep/b"), O_RDONLY | O_CLOEXEC);
		link = open(in(*state, "x/link"), O_PATH | O_NOFOLLOW | O_CLOEXEC);
		assert_true(sb_seal_has_file(&seal, "deep/b", fd, "two\n", 4));
		assert_false(sb_seal_has_file(&seal, "b", fd, "two\n", 4));
		assert_int_equal(sb_seal_has_file(&seal, "deep/b", fd, "six\n", 4), large);
		assert_true(sb_seal_has_link(&seal, "link", link, "/bin/true"));
		assert_false(sb_seal_has_link(&seal, "link", link, "/bin/sh"));
		other_bytes(*state);
		assert_int_equal(sb_seal_has_file(&seal, "deep/b", fd, "two\n", 4), !large);
		close(fd);
		close(link);
		sb_seal_done(&seal);
		tree_clear(in(*state, "x"));
	}
}

static void in_words(void **state)
{
	char words[SB_SEAL_WORDS];
	struct sb_seal seal;

	make_dir(*state, "x");
	seal = take(*state);
	assert_string_equal(sb_seal_words(&seal, words), "nothing");
	put(*state, "x/a", "a", 1);
	seal = take(*state);
	assert_string_equal(sb_seal_words(&seal, words), "1 file, 1 byte");
	sb_seal_done(&seal);
	tree_clear(in(*state, "x"));
	fill(*state, false);
	seal = take(*state);
	assert_string_equal(sb_seal_words(&seal, words), "4 files in 1 directory, 8 bytes");
	sb_seal_done(&seal);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(whatever_changes_is_seen, tree_setup, tree_teardown),
	cmocka_unit_test_setup_teardown(small_ones_are_read, tree_setup, tree_teardown),
	cmocka_unit_test_setup_teardown(a_name_is_nothing, tree_setup, tree_teardown),
	cmocka_unit_test_setup_teardown(files_that_are_open_are_told, tree_setup, tree_teardown),
	cmocka_unit_test_setup_teardown(too_much_is_told, tree_setup, tree_teardown),
	cmocka_unit_test_setup_teardown(other_names_are_found, tree_setup, tree_teardown),
	cmocka_unit_test_setup_teardown(what_the_act_puts_there_is_left_out, tree_setup,
					tree_teardown),
	cmocka_unit_test_setup_teardown(single_files_are_found, tree_setup, tree_teardown),
	cmocka_unit_test_setup_teardown(in_words, tree_setup, tree_teardown),
};

UNIT_MAIN("seal")
