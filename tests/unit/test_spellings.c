/*
 * test_spellings.c - C3: an answer is found again under every spelling of the path, and no other
 * file is taken for the one it was about.
 */
#include "wishes.h"

/*
 * A path to the same place, spelt at random: through links, "..", doubled slashes, relative
 * to a random directory (which becomes the current one).
 */
static void respell(struct fixture *fx, const char *directory, const char *name, char *out,
		    size_t size)
{
	static const char *const noise[] = {"/", "/./", "//", "/.//./"};
	char at[PATH_MAX] = "", *rest, copy[PATH_MAX];

	snprintf(copy, sizeof copy, "%s", directory);
	switch (unit_below(3)) {
	case 0: /* from "/" */
		break;
	case 1: /* from the tree's root, up and down again */
		assert_int_equal(chdir(fx->root), 0);
		snprintf(copy, sizeof copy, "%s", directory + strlen(fx->root) + 1);
		snprintf(at, sizeof at, "%s", unit_below(2) ? "." : "other/..");
		break;
	default: /* from the directory itself */
		assert_int_equal(chdir(directory), 0);
		snprintf(out, size, "%s%s%s", ".", noise[unit_below(COUNT(noise))], name);
		return;
	}
	for (char *part = strtok_r(copy, "/", &rest); part; part = strtok_r(NULL, "/", &rest)) {
		size_t used = strlen(at);

		snprintf(at + used, sizeof at - used, "%s%s", noise[unit_below(COUNT(noise))],
			 part);
		if (unit_below(4) == 0) { /* down and up: by the same way */
			used = strlen(at);
			snprintf(at + used, sizeof at - used, "/../%s", part);
		}
	}
	if (unit_below(3) == 0) { /* a link to the directory, from elsewhere */
		char link[64];

		snprintf(link, sizeof link, "other/link%llu", (unsigned long long)unit_random());
		make_link(fx->root, link, directory);
		snprintf(at, sizeof at, "%s", in(fx->root, link));
	}
	snprintf(out, size, "%s%s%s", at, noise[unit_below(COUNT(noise))], name);
}

enum { DIRECTORIES = 12, ROUNDS = 3000, LONGEST = 1024 };

struct world {
	char directory[DIRECTORIES][LONGEST]; /* current path; [0] holds them all */
	unsigned parent[DIRECTORIES];
	enum sb_answer opened[DIRECTORIES]; /* what was answered, by directory */
};

static void rebase(struct world *world, unsigned from, const char *old, const char *new)
{
	for (unsigned i = 0; i < DIRECTORIES; i++) {
		char moved[2 * LONGEST];

		if (i != from && !sb_path_within(old, world->directory[i]))
			continue;
		snprintf(moved, sizeof moved, "%s%s", new, world->directory[i] + strlen(old));
		assert_true(strlen(moved) < LONGEST);
		memcpy(world->directory[i], moved, strlen(moved) + 1);
	}
}

static bool is_above(const struct world *world, unsigned above, unsigned below)
{
	for (; below; below = world->parent[below])
		if (below == above)
			return true;
	return above == 0;
}

static void move_one(struct world *world, unsigned serial)
{
	unsigned from = 1 + unit_below(DIRECTORIES - 1), to = unit_below(DIRECTORIES);
	char old[LONGEST], new[2 * LONGEST];

	if (is_above(world, from, to))
		return;
	memcpy(old, world->directory[from], LONGEST);
	snprintf(new, sizeof new, "%s/moved%u", world->directory[to], serial);
	assert_true(strlen(new) < LONGEST);
	assert_int_equal(rename(old, new), 0);
	world->parent[from] = to;
	rebase(world, from, old, new);
}

/* What must be found: the nearest answered directory, from the directory itself upward. */
static enum sb_answer expected(const struct world *world, unsigned at)
{
	for (;; at = world->parent[at]) {
		if (world->opened[at] != SB_ANSWER_NONE)
			return world->opened[at];
		if (at == 0)
			return SB_ANSWER_NONE;
	}
}

static void no_spelling_asks_again(void **state)
{
	struct fixture *fx = *state;
	struct world world = {0};
	char name[64], path[2 * PATH_MAX];

	unit_seed();
	snprintf(world.directory[0], LONGEST, "%s", in(fx->root, "home/docs"));
	for (unsigned i = 1; i < DIRECTORIES; i++) {
		world.parent[i] = unit_below(i);
		snprintf(path, sizeof path, "%s/d%u", world.directory[world.parent[i]], i);
		assert_int_equal(mkdir(path, 0755), 0);
		memcpy(world.directory[i], path, strlen(path) + 1);
		assert_int_equal(chdir(path), 0);
		close(open("file", O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
	}
	for (unsigned round = 0; round < ROUNDS; round++) {
		unsigned at = 1 + unit_below(DIRECTORIES - 1);
		enum sb_answer want = expected(&world, at);
		bool fresh = unit_below(2);
		struct held held;

		snprintf(name, sizeof name, fresh ? "new%u" : "file", round);
		respell(fx, world.directory[at], name, path, sizeof path);
		if (path[0] != '/') { /* the kernel would resolve it from the process's cwd */
			char cwd[PATH_MAX], whole[3 * PATH_MAX];

			assert_non_null(getcwd(cwd, sizeof cwd));
			snprintf(whole, sizeof whole, "%s/%s", cwd, path);
			hold_at(fx, whole, fresh ? SB_CREATE : SB_MODIFY, &held);
		} else {
			hold_at(fx, path, fresh ? SB_CREATE : SB_MODIFY, &held);
		}
		held.wish.process = (pid_t)(1000 + round);
		if (sb_grants_find(fx->grants, &held.wish) != want)
			fail_msg("round %u: '%s' gives %s, not %s", round, path,
				 sb_answer_name(sb_grants_find(fx->grants, &held.wish)),
				 sb_answer_name(want));
		if (want == SB_ANSWER_NONE && unit_below(40) == 0) {
			assert_int_equal(sb_grants_remember(fx->grants, &held.wish,
							    SB_ANSWER_DIRECTORY, NULL),
					 SB_OK);
			world.opened[at] = SB_ANSWER_DIRECTORY;
		} else if (want == SB_ANSWER_NONE && unit_below(60) == 0) {
			/* a no to the directory itself, under its own name */
			struct held itself;

			respell(fx, world.directory[at], ".", path, sizeof path);
			hold_at(fx, world.directory[at], SB_DELETE, &itself);
			itself.wish.process = (pid_t)(1000 + round);
			assert_int_equal(
				sb_grants_remember(fx->grants, &itself.wish, SB_ANSWER_DENY, NULL),
				SB_OK);
			let_go(&itself);
			world.opened[at] = SB_ANSWER_DENY;
		}
		let_go(&held);
		if (unit_below(10) == 0)
			move_one(&world, round);
	}
	assert_int_equal(chdir("/"), 0);
}

/* The same for single files: once and deny, under links, hard links and moved directories. */
static void no_spelling_of_a_file_asks_again(void **state)
{
	struct fixture *fx = *state;
	char directory[PATH_MAX], path[2 * PATH_MAX], moved[PATH_MAX];

	unit_seed();
	snprintf(directory, sizeof directory, "%s", in(fx->root, "home/docs/deep"));
	make_file(fx->root, "home/docs/deep/yes");
	make_file(fx->root, "home/docs/deep/no");
	assert_int_equal(answer(fx, "home/docs/deep/yes", SB_MODIFY, SB_ANSWER_ONCE), SB_OK);
	assert_int_equal(answer_as(fx, 7, "home/docs/deep/no", SB_MODIFY, SB_ANSWER_DENY), SB_OK);
	for (unsigned round = 0; round < 500; round++) {
		bool yes = unit_below(2);
		struct held held;

		respell(fx, directory, yes ? "yes" : "no", path, sizeof path);
		if (path[0] != '/') {
			char cwd[PATH_MAX], whole[3 * PATH_MAX];

			assert_non_null(getcwd(cwd, sizeof cwd));
			snprintf(whole, sizeof whole, "%s/%s", cwd, path);
			hold_at(fx, whole, SB_MODIFY, &held);
		} else {
			hold_at(fx, path, SB_MODIFY, &held);
		}
		if (sb_grants_find(fx->grants, &held.wish) !=
		    (yes ? SB_ANSWER_ONCE : SB_ANSWER_DENY))
			fail_msg("round %u: '%s'", round, path);
		let_go(&held);
		if (!yes && unit_below(4) == 0) {
			char link_name[64];

			snprintf(link_name, sizeof link_name, "other/hard%u", round);
			assert_int_equal(link(in(directory, "no"), in(fx->root, link_name)), 0);
			assert_int_equal(find(fx, link_name, SB_MODIFY), SB_ANSWER_DENY);
		}
		if (unit_below(20) == 0) {
			snprintf(moved, sizeof moved, "%s/deep%u", in(fx->root, "other"), round);
			assert_int_equal(chdir("/"), 0);
			assert_int_equal(rename(directory, moved), 0);
			memcpy(directory, moved, sizeof moved);
		}
	}
	assert_int_equal(chdir("/"), 0);
}

/* A directory that takes another's place is another, even with its inode number. */
static void a_new_directory_of_that_name_is_asked_about(void **state)
{
	struct fixture *fx = *state;

	assert_int_equal(answer(fx, "home/docs/deep/x", SB_CREATE, SB_ANSWER_DIRECTORY), SB_OK);
	assert_int_equal(find(fx, "home/docs/deep/y", SB_CREATE), SB_ANSWER_DIRECTORY);
	for (int i = 0; i < 50; i++) {
		assert_int_equal(rmdir(in(fx->root, "home/docs/deep")), 0);
		make_dir(fx->root, "home/docs/deep");
		assert_int_equal(find(fx, "home/docs/deep/y", SB_CREATE), SB_ANSWER_NONE);
	}
}

static void a_directory_itself_is_not_in_it(void **state)
{
	struct fixture *fx = *state;
	struct held held;

	assert_int_equal(answer(fx, "home/docs/deep/x", SB_CREATE, SB_ANSWER_DIRECTORY), SB_OK);
	assert_int_equal(find(fx, "home/docs/deep", SB_DELETE), SB_ANSWER_NONE);
	hold(fx, "home/docs/deep", SB_MODIFY, &held);
	held.wish.metadata = true; /* cp -a and tar set its times when it is filled */
	assert_int_equal(sb_grants_find(fx->grants, &held.wish), SB_ANSWER_DIRECTORY);
	let_go(&held);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

static const struct CMUnitTest tests[] = {
	TEST(no_spelling_asks_again),
	TEST(no_spelling_of_a_file_asks_again),
	TEST(a_new_directory_of_that_name_is_asked_about),
	TEST(a_directory_itself_is_not_in_it),
};

UNIT_MAIN("spellings")
