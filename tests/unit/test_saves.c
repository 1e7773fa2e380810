/*
 * test_saves.c - C3: saving a file is one question, by whatever names a program does it.
 *
 * A program's save is replayed as its traced system calls; every wish that finds no answer is a
 * question, answered as the test says.
 */
#include "wishes.h"

#include "consent/save_names.h"

enum act { WRITE, UNLINK, RENAME, LINK, SYMLINK, CHMOD };

struct step {
	enum act act;
	const char *name, *to;
};

static bool is_there(struct fixture *fx, const char *name)
{
	struct stat info;

	return lstat(in(fx->root, name), &info) == 0;
}

/* One operation of a step, as the supervisor makes it. */
struct part {
	const char *name;
	enum sb_op op;
	enum sb_thing thing;
	bool metadata;
	const char *leads_to, *moved_to;
};

static void hold_part(struct fixture *fx, const struct part *part, struct held *held)
{
	hold(fx, part->name, part->op, held);
	held->wish.thing = part->thing;
	held->wish.metadata = part->metadata;
	held->wish.leads_to = part->leads_to;
	held->wish.moved_to = part->moved_to;
}

/* Ask once about all that has to be asked; false: denied. */
static bool permitted(struct fixture *fx, const struct part *parts, size_t count,
		      enum sb_answer person)
{
	enum sb_answer given = SB_ANSWER_ONCE;
	struct held held[2];
	bool asked = false;

	assert_true(count <= COUNT(held));
	for (size_t i = 0; i < count; i++) {
		enum sb_answer one;

		hold_part(fx, &parts[i], &held[i]);
		one = sb_grants_find(fx->grants, &held[i].wish);
		asked |= one == SB_ANSWER_NONE;
		given = one == SB_ANSWER_DENY ? one : given;
	}
	if (asked && given != SB_ANSWER_DENY) {
		fx->questions++;
		given = person;
		for (size_t i = 0; i < count; i++)
			assert_int_equal(
				sb_grants_remember(fx->grants, &held[i].wish, person, NULL), SB_OK);
		/* C3: never twice */
		for (size_t i = 0; i < count; i++)
			assert_int_equal(sb_grants_find(fx->grants, &held[i].wish), given);
	}
	for (size_t i = 0; i < count; i++)
		let_go(&held[i]);
	return given != SB_ANSWER_DENY;
}

static void made_thing(struct fixture *fx, const char *name, enum sb_thing thing)
{
	struct held held;

	hold(fx, name, SB_CREATE, &held);
	held.wish.thing = thing;
	sb_grants_made(fx->grants, &held.wish);
	let_go(&held);
}

static bool do_step(struct fixture *fx, const struct step *step, enum sb_answer person)
{
	char name[PATH_MAX], to[PATH_MAX], to_path[PATH_MAX];
	struct stat info;
	bool there, to_there, link_there;

	snprintf(name, sizeof name, "home/docs/%s", step->name);
	snprintf(to, sizeof to, "home/docs/%s", step->to ? step->to : "");
	snprintf(to_path, sizeof to_path, "%s", in(fx->root, to));
	there = is_there(fx, name);
	to_there = is_there(fx, to);
	link_there = there && lstat(in(fx->root, name), &info) == 0 && S_ISLNK(info.st_mode);
	switch (step->act) {
	case WRITE:
		if (!permitted(fx, &(struct part){name, there ? SB_MODIFY : SB_CREATE}, 1, person))
			return false;
		if (!there) {
			make_file(fx->root, name);
			made(fx, name);
		}
		return true;
	case SYMLINK:
		if (!permitted(fx,
			       &(struct part){name, SB_CREATE, SB_THING_LINK, .leads_to = step->to},
			       1, person))
			return false;
		make_link(fx->root, name, step->to);
		made_thing(fx, name, SB_THING_LINK);
		return true;
	case UNLINK:
		if (!there)
			return true; /* a true ENOENT comes before any question */
		if (!permitted(fx,
			       &(struct part){name, SB_DELETE,
					      link_there ? SB_THING_LINK : SB_THING_FILE},
			       1, person))
			return false;
		assert_int_equal(unlink(in(fx->root, name)), 0);
		return true;
	case RENAME:
		if (!permitted(fx,
			       (struct part[]){{name, SB_DELETE, .moved_to = to_path},
					       {to, to_there ? SB_MODIFY : SB_CREATE}},
			       2, person))
			return false;
		assert_int_equal(rename(in(fx->root, name), in(fx->root, to)), 0);
		if (!to_there)
			made(fx, to);
		return true;
	case LINK:
		if (!permitted(fx,
			       (struct part[]){{name, SB_MODIFY, SB_THING_NAME},
					       {to, SB_CREATE, SB_THING_NAME}},
			       2, person))
			return false;
		assert_int_equal(link(in(fx->root, name), in(fx->root, to)), 0);
		made_thing(fx, to, SB_THING_NAME);
		return true;
	case CHMOD:
		return permitted(fx, &(struct part){name, SB_MODIFY, .metadata = true}, 1, person);
	}
	return false;
}

#define SAVE(...) ((const struct step[]){__VA_ARGS__, {.name = NULL}})

/* As strace showed them, calls that failed with ENOENT left in. */
static const struct save {
	const char *program;
	unsigned questions; /* 2: its first name tells nothing, or it makes more than files */
	const struct step *steps;
} saves[] = {
	{"vim", 1,
	 SAVE({WRITE, ".notes.txt.swp"}, {WRITE, ".notes.txt.swx"}, {UNLINK, ".notes.txt.swx"},
	      {UNLINK, ".notes.txt.swp"}, {WRITE, ".notes.txt.swp"}, {CHMOD, ".notes.txt.swp"},
	      {WRITE, "4913"}, {UNLINK, "4913"}, {UNLINK, "notes.txt~"},
	      {RENAME, "notes.txt", "notes.txt~"}, {WRITE, "notes.txt"}, {CHMOD, "notes.txt"},
	      {UNLINK, "notes.txt~"}, {UNLINK, ".notes.txt.swp"})},
	{"vim, a new file", 1,
	 SAVE({WRITE, ".new.txt.swp"}, {WRITE, ".new.txt.swx"}, {UNLINK, ".new.txt.swx"},
	      {UNLINK, ".new.txt.swp"}, {WRITE, ".new.txt.swp"}, {WRITE, "new.txt"},
	      {UNLINK, ".new.txt.swp"})},
	{"vim, a hidden file", 1,
	 SAVE({WRITE, ".hidden.swp"}, {WRITE, ".hidden.swx"}, {UNLINK, ".hidden.swx"},
	      {WRITE, "4913"}, {UNLINK, "4913"}, {RENAME, ".hidden", ".hidden~"},
	      {WRITE, ".hidden"}, {UNLINK, ".hidden~"}, {UNLINK, ".hidden.swp"})},
	{"vim with backupcopy=yes", 1,
	 SAVE({WRITE, ".notes.txt.swp"}, {UNLINK, "notes.txt~"}, {WRITE, "notes.txt~"},
	      {CHMOD, "notes.txt~"}, {WRITE, "notes.txt"}, {UNLINK, ".notes.txt.swp"})},
	{"nano -B", 1,
	 SAVE({UNLINK, ".notes.txt.swp"}, {WRITE, ".notes.txt.swp"}, {UNLINK, ".notes.txt.swp"},
	      {WRITE, ".notes.txt.swp"}, {UNLINK, "notes.txt~"}, {WRITE, "notes.txt~"},
	      {WRITE, "notes.txt"}, {UNLINK, ".notes.txt.swp"})},
	{"emacs", 2,
	 SAVE({SYMLINK, ".#notes.txt", "root@host.1"}, {WRITE, "#notes.txt#"},
	      {RENAME, "notes.txt", "notes.txt~"}, {WRITE, "notes.txt"}, {WRITE, "notes.txt"},
	      {UNLINK, ".#notes.txt"}, {CHMOD, "notes.txt"}, {UNLINK, "#notes.txt#"})},
	{"emacs, precious files", 2,
	 SAVE({SYMLINK, ".#notes.txt", "root@host.1"}, {WRITE, "notes.txt~"}, {CHMOD, "notes.txt~"},
	      {WRITE, "tmp10O8hq"}, {WRITE, "tmp10O8hq"}, {UNLINK, ".#notes.txt"},
	      {RENAME, "tmp10O8hq", "notes.txt"}, {CHMOD, "notes.txt"})},
	{"emacs, numbered backups", 2,
	 SAVE({SYMLINK, ".#notes.txt", "root@host.1"}, {RENAME, "notes.txt", "notes.txt.~1~"},
	      {WRITE, "notes.txt"}, {UNLINK, ".#notes.txt"})},
	{"rsync", 1,
	 SAVE({WRITE, ".notes.txt.BLsbIX"}, {CHMOD, ".notes.txt.BLsbIX"},
	      {RENAME, ".notes.txt.BLsbIX", "notes.txt"})},
	{"rsync -b", 2,
	 SAVE({WRITE, ".notes.txt.HksUbt"}, {LINK, "notes.txt", "notes.txt~"},
	      {CHMOD, ".notes.txt.HksUbt"}, {RENAME, ".notes.txt.HksUbt", "notes.txt"})},
	{"python, a careful writer", 1,
	 SAVE({WRITE, ".notes.txt.kcfsc1r5"}, {RENAME, ".notes.txt.kcfsc1r5", "notes.txt"})},
	{"git config", 1, SAVE({WRITE, "notes.txt.lock"}, {RENAME, "notes.txt.lock", "notes.txt"})},
	{"patch", 1,
	 SAVE({WRITE, "notes.txt.oOhrJTv"}, {CHMOD, "notes.txt.oOhrJTv"},
	      {RENAME, "notes.txt.oOhrJTv", "notes.txt"})},
	{"gedit", 1,
	 SAVE({WRITE, "notes.txt"}, {WRITE, ".goutputstream-YGE2Y3"},
	      {RENAME, ".goutputstream-YGE2Y3", "notes.txt"})},
	{"VS Code", 1, SAVE({WRITE, "notes.txt"}, {CHMOD, "notes.txt"})},
	{"VS Code, atomic", 1,
	 SAVE({WRITE, "notes.txt.vsctmp"}, {RENAME, "notes.txt.vsctmp", "notes.txt"})},
	{"a JetBrains editor", 1,
	 SAVE({WRITE, "notes.txt___jb_tmp___"}, {RENAME, "notes.txt", "notes.txt___jb_old___"},
	      {RENAME, "notes.txt___jb_tmp___", "notes.txt"}, {UNLINK, "notes.txt___jb_old___"})},
	{"cp -b", 1, SAVE({RENAME, "notes.txt", "notes.txt~"}, {WRITE, "notes.txt"})},
	{"install", 2, SAVE({UNLINK, "notes.txt"}, {WRITE, "notes.txt"}, {CHMOD, "notes.txt"})},
	{"sed -i", 2, SAVE({WRITE, "sed9Pv6rw"}, {RENAME, "sed9Pv6rw", "notes.txt"})},
	{"sed -i.bak", 2,
	 SAVE({WRITE, "sedI5xEHF"}, {RENAME, "notes.txt", "notes.txt.bak"},
	      {RENAME, "sedI5xEHF", "notes.txt"})},
	{"perl -pi", 2, SAVE({WRITE, "XXgL3CQP"}, {RENAME, "XXgL3CQP", "notes.txt"})},
	{"python, mkstemp", 2, SAVE({WRITE, "tmpczmnnojv"}, {RENAME, "tmpczmnnojv", "notes.txt"})},
};

static void a_save_is_one_question(void **state)
{
	for (size_t i = 0; i < COUNT(saves); i++) {
		struct fixture *fx;

		assert_int_equal(setup((void **)&fx), 0);
		make_file(fx->root, "home/docs/notes.txt");
		make_file(fx->root, "home/docs/.hidden");
		make_file(fx->root, "home/docs/precious");
		for (const struct step *step = saves[i].steps; step->name; step++)
			assert_true(do_step(fx, step, SB_ANSWER_ONCE));
		if (fx->questions != saves[i].questions)
			fail_msg("%s: %u questions", saves[i].program, fx->questions);
		/* and nothing else was opened */
		assert_int_equal(find(fx, "home/docs/precious", SB_MODIFY), SB_ANSWER_NONE);
		assert_int_equal(find(fx, "home/docs/fresh", SB_CREATE), SB_ANSWER_NONE);
		assert_int_equal(find(fx, "home/docs/deep/notes.txt", SB_CREATE), SB_ANSWER_NONE);
		assert_int_equal(find_as(fx, 101, "home/docs/notes.txt", SB_MODIFY),
				 SB_ANSWER_NONE);
		sb_grants_exited(fx->grants, 100);
		assert_int_equal(find(fx, "home/docs/notes.txt", SB_MODIFY), SB_ANSWER_NONE);
		teardown((void **)&fx);
	}
	(void)state;
}

static void a_refused_save_is_one_question(void **state)
{
	struct fixture *fx = *state;
	unsigned refused = 0;

	make_file(fx->root, "home/docs/notes.txt");
	for (const struct step *step = saves[0].steps; step->name; step++)
		refused += !do_step(fx, step, SB_ANSWER_DENY);
	assert_int_equal(fx->questions, 1);
	assert_true(refused >= 6);
	assert_true(is_there(fx, "home/docs/notes.txt"));
}

static void names_of_a_save_are_told_apart(void **state)
{
	static const struct {
		const char *file, *name;
		enum sb_save_match match;
	} rows[] = {
		{"a.c", ".a.c.swp", SB_SAVE_SURE},
		{"a.c", ".a.c.swo", SB_SAVE_SURE},
		{"a.c", "a.c~", SB_SAVE_SURE},
		{"a.c", "a.c.bak", SB_SAVE_NEW},
		{"a.c", "4913", SB_SAVE_NEW},
		{"a.c", "5036", SB_SAVE_NEW},
		{"a.c", "5037", SB_SAVE_NOT},
		{"a.c", "4914", SB_SAVE_NOT},
		{"a.c", "04913", SB_SAVE_NOT},
		{"a.c", "a.h", SB_SAVE_NOT},
		{"a.c", "b.c~", SB_SAVE_NOT},
		{"a.c", "a.c.swp", SB_SAVE_NOT},
		{".a", ".a.swp", SB_SAVE_SURE},
		{".a", "..a.swp", SB_SAVE_SURE},
		{"a.c", "a.c.~12~", SB_SAVE_NEW},
		{"a.c", "a.c.~~", SB_SAVE_NOT},
		{"a.c", "sedabcdef", SB_SAVE_NEW},
		{"a.c", "sedabcde", SB_SAVE_NOT},
		{"a.c", "sedabc/ef", SB_SAVE_NOT},
		{"a.c", "", SB_SAVE_NOT},
		{"a.c", "a.c", SB_SAVE_NOT},
		{"a", "a.123456", SB_SAVE_NEW},
		{"a", "a.12345", SB_SAVE_NOT},
		{"a", "a.tmp.4711", SB_SAVE_NEW},
		{"a", "a.1234567890123", SB_SAVE_NOT},
		{"a", "a.k3Xz9a", SB_SAVE_NEW},
		/* what a program outside would take for something of its own */
		{"a", "a.service", SB_SAVE_NOT},
		{"a", "a.desktop", SB_SAVE_NOT},
		{"a", ".a.desktop", SB_SAVE_NOT},
		{"a", "a.tmp.desktop", SB_SAVE_NOT},
		{"a", "a.~one~", SB_SAVE_NOT},
		{"a", ".a.sw9", SB_SAVE_NOT},
	};
	struct fixture *fx = *state;
	char file[NAME_MAX + 1];
	const char *why;
	int docs = open(in(fx->root, "home/docs"), O_PATH | O_DIRECTORY | O_CLOEXEC);

	for (size_t i = 0; i < COUNT(rows); i++)
		if (sb_save_match(rows[i].file, rows[i].name) != rows[i].match)
			fail_msg("'%s' for '%s'", rows[i].name, rows[i].file);

	make_file(fx->root, "home/docs/report");
	assert_false(sb_save_file(docs, "report.backup", file, &why)); /* a word */
	assert_true(sb_save_file(docs, "report.k3Xz9a", file, &why));
	assert_string_equal(file, "report");
	assert_false(sb_save_file(docs, "other.k3Xz9a", file, &why)); /* no such file */
	assert_true(sb_save_file(docs, ".other.swp", file, &why));    /* nothing else looks so */
	assert_string_equal(file, "other");
	assert_string_equal(why, "vim's swap file");
	assert_false(sb_save_file(docs, "movie.swf", file, &why));
	assert_false(sb_save_file(docs, "sedAbCdEf", file, &why));
	assert_false(sb_save_file(docs, "..~", file, &why));
	assert_false(sb_save_file(docs, "~", file, &why));
	close(docs);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_save_is_one_question),
	TEST(a_refused_save_is_one_question),
	TEST(names_of_a_save_are_told_apart),
};

UNIT_MAIN("saves")
