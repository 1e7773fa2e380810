/*
 * test_grants.c - C1, C3: an answer covers what was meant, no more, and under every spelling.
 *
 * Real directories, real inodes.  A program's save is replayed as its traced system calls;
 * every wish that finds no answer is a question, answered as the test says.
 */
#include "tree.h"

#include <dirent.h>
#include <errno.h>

#include "consent/grants.h"
#include "consent/save_names.h"
#include "path/path.h"
#include "policy/text.h"

struct fixture {
	char *root;
	struct sb_grants *grants;
	struct sb_rule rule; /* used by wishes when rule.pattern is set */
	unsigned questions;
};

static int setup(void **state)
{
	struct fixture *fx = calloc(1, sizeof *fx);

	if (!fx || tree_setup((void **)&fx->root) != 0)
		return -1;
	make_dir(fx->root, "home");
	make_dir(fx->root, "home/docs");
	make_dir(fx->root, "home/docs/deep");
	make_dir(fx->root, "other");
	fx->grants = sb_grants_new(in(fx->root, "home"));
	*state = fx;
	return fx->grants ? 0 : -1;
}

static int teardown(void **state)
{
	struct fixture *fx = *state;

	sb_grants_free(fx->grants);
	tree_teardown((void **)&fx->root);
	free(fx);
	return 0;
}

static unsigned open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

/* --- wishes ------------------------------------------------------------------ */

struct held {
	struct sb_wish wish;
	char *path;
	int fd;
};

/* What the supervisor makes of a path that a process named: relative to at, links followed. */
static void hold_at(struct fixture *fx, const char *path, enum sb_op op, struct held *out)
{
	char *parent, *slash;

	assert_int_equal(sb_path_canonical_parent(path, &out->path, NULL), SB_OK);
	parent = sb_path_parent(out->path);
	out->fd = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(out->fd >= 0);
	free(parent);
	slash = strrchr(out->path, '/');
	out->wish = (struct sb_wish){.op = op,
				     .path = out->path,
				     .directory = out->fd,
				     .name = slash + 1,
				     .decision = {SB_ASK, fx->rule.pattern ? &fx->rule : NULL},
				     .process = 100,
				     .started = 1};
}

static void hold(struct fixture *fx, const char *name, enum sb_op op, struct held *out)
{
	hold_at(fx, in(fx->root, name), op, out);
}

static void let_go(struct held *held)
{
	close(held->fd);
	free(held->path);
}

static enum sb_answer find_as(struct fixture *fx, pid_t process, const char *name, enum sb_op op)
{
	struct held held;
	enum sb_answer answer;

	hold(fx, name, op, &held);
	held.wish.process = process;
	answer = sb_grants_find(fx->grants, &held.wish);
	let_go(&held);
	return answer;
}

static enum sb_answer find(struct fixture *fx, const char *name, enum sb_op op)
{
	return find_as(fx, 100, name, op);
}

static int answer_as(struct fixture *fx, pid_t process, const char *name, enum sb_op op,
		     enum sb_answer answer)
{
	struct held held;
	int status;

	hold(fx, name, op, &held);
	held.wish.process = process;
	status = sb_grants_remember(fx->grants, &held.wish, answer, NULL);
	let_go(&held);
	return status;
}

static int answer(struct fixture *fx, const char *name, enum sb_op op, enum sb_answer answer)
{
	return answer_as(fx, 100, name, op, answer);
}

/* --- replaying a save -------------------------------------------------------- */

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

/* Ask what has to be asked; false: denied. */
static bool permitted(struct fixture *fx, const char *name, enum sb_op op, bool metadata,
		      enum sb_answer person)
{
	struct held held;
	enum sb_answer given;

	hold(fx, name, op, &held);
	held.wish.metadata = metadata;
	given = sb_grants_find(fx->grants, &held.wish);
	if (given == SB_ANSWER_NONE) {
		fx->questions++;
		given = person;
		assert_int_equal(sb_grants_remember(fx->grants, &held.wish, person, NULL), SB_OK);
		/* C3: never twice */
		assert_int_equal(sb_grants_find(fx->grants, &held.wish), given);
	}
	let_go(&held);
	return given != SB_ANSWER_DENY;
}

static void made(struct fixture *fx, const char *name)
{
	struct held held;

	hold(fx, name, SB_CREATE, &held);
	sb_grants_made(fx->grants, &held.wish);
	let_go(&held);
}

static bool do_step(struct fixture *fx, const struct step *step, enum sb_answer person)
{
	char name[PATH_MAX], to[PATH_MAX];
	bool there, to_there;

	snprintf(name, sizeof name, "home/docs/%s", step->name);
	snprintf(to, sizeof to, "home/docs/%s", step->to ? step->to : "");
	there = is_there(fx, name);
	to_there = is_there(fx, to);
	switch (step->act) {
	case WRITE:
		if (!permitted(fx, name, there ? SB_MODIFY : SB_CREATE, false, person))
			return false;
		if (!there) {
			make_file(fx->root, name);
			made(fx, name);
		}
		return true;
	case SYMLINK:
		if (!permitted(fx, name, SB_CREATE, false, person))
			return false;
		make_link(fx->root, name, step->to);
		made(fx, name);
		return true;
	case UNLINK:
		if (!there)
			return true; /* a true ENOENT comes before any question */
		if (!permitted(fx, name, SB_DELETE, false, person))
			return false;
		assert_int_equal(unlink(in(fx->root, name)), 0);
		return true;
	case RENAME:
	case LINK:
		if (step->act == RENAME && !permitted(fx, name, SB_DELETE, false, person))
			return false;
		if (!permitted(fx, to, to_there ? SB_MODIFY : SB_CREATE, false, person))
			return false;
		assert_int_equal(step->act == RENAME ? rename(in(fx->root, name), in(fx->root, to))
						     : link(in(fx->root, name), in(fx->root, to)),
				 0);
		if (!to_there)
			made(fx, to);
		return true;
	case CHMOD:
		return permitted(fx, name, SB_MODIFY, true, person);
	}
	return false;
}

#define SAVE(...) ((const struct step[]){__VA_ARGS__, {.name = NULL}})

/* As strace showed them, calls that failed with ENOENT left in. */
static const struct save {
	const char *program;
	unsigned questions; /* 2: its first name tells nothing about the file */
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
	{"emacs", 1,
	 SAVE({SYMLINK, ".#notes.txt", "root@host.1"}, {WRITE, "#notes.txt#"},
	      {RENAME, "notes.txt", "notes.txt~"}, {WRITE, "notes.txt"}, {WRITE, "notes.txt"},
	      {UNLINK, ".#notes.txt"}, {CHMOD, "notes.txt"}, {UNLINK, "#notes.txt#"})},
	{"emacs, precious files", 1,
	 SAVE({SYMLINK, ".#notes.txt", "root@host.1"}, {WRITE, "notes.txt~"}, {CHMOD, "notes.txt~"},
	      {WRITE, "tmp10O8hq"}, {WRITE, "tmp10O8hq"}, {UNLINK, ".#notes.txt"},
	      {RENAME, "tmp10O8hq", "notes.txt"}, {CHMOD, "notes.txt"})},
	{"emacs, numbered backups", 1,
	 SAVE({SYMLINK, ".#notes.txt", "root@host.1"}, {RENAME, "notes.txt", "notes.txt.~1~"},
	      {WRITE, "notes.txt"}, {UNLINK, ".#notes.txt"})},
	{"rsync", 1,
	 SAVE({WRITE, ".notes.txt.BLsbIX"}, {CHMOD, ".notes.txt.BLsbIX"},
	      {RENAME, ".notes.txt.BLsbIX", "notes.txt"})},
	{"rsync -b", 1,
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
	{"install", 1, SAVE({UNLINK, "notes.txt"}, {WRITE, "notes.txt"}, {CHMOD, "notes.txt"})},
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

/* --- how far "once" goes ------------------------------------------------------ */

static void once_opens_no_other_file_that_exists(void **state)
{
	struct fixture *fx = *state;

	make_file(fx->root, "home/docs/a");
	assert_int_equal(answer(fx, "home/docs/a", SB_MODIFY, SB_ANSWER_ONCE), SB_OK);
	assert_int_equal(find(fx, "home/docs/a.bak", SB_CREATE), SB_ANSWER_ONCE);
	assert_int_equal(find(fx, "home/docs/a.k3Xz9a", SB_CREATE), SB_ANSWER_ONCE);
	assert_int_equal(find(fx, "home/docs/a~", SB_CREATE), SB_ANSWER_ONCE);
	assert_int_equal(find(fx, "home/docs/b~", SB_CREATE), SB_ANSWER_NONE);

	/* Somebody else's backup stays; a leftover of the editor's own may be replaced. */
	make_file(fx->root, "home/docs/a.bak");
	make_file(fx->root, "home/docs/a.k3Xz9a");
	make_file(fx->root, "home/docs/a~");
	assert_int_equal(find(fx, "home/docs/a.bak", SB_MODIFY), SB_ANSWER_NONE);
	assert_int_equal(find(fx, "home/docs/a.bak", SB_DELETE), SB_ANSWER_NONE);
	assert_int_equal(find(fx, "home/docs/a.k3Xz9a", SB_DELETE), SB_ANSWER_NONE);
	assert_int_equal(find(fx, "home/docs/a~", SB_MODIFY), SB_ANSWER_ONCE);

	/* unless it is another name of something else, or no file at all */
	assert_int_equal(link(in(fx->root, "home/docs/a~"), in(fx->root, "other/alias")), 0);
	assert_int_equal(find(fx, "home/docs/a~", SB_MODIFY), SB_ANSWER_NONE);
	assert_int_equal(find(fx, "home/docs/a~", SB_DELETE), SB_ANSWER_ONCE);
	make_dir(fx->root, "home/docs/#a#");
	assert_int_equal(find(fx, "home/docs/#a#", SB_DELETE), SB_ANSWER_NONE);
}

static void a_made_name_belongs_until_it_is_another_file(void **state)
{
	struct fixture *fx = *state;

	make_file(fx->root, "home/docs/a");
	assert_int_equal(answer(fx, "home/docs/a", SB_MODIFY, SB_ANSWER_ONCE), SB_OK);
	make_file(fx->root, "home/docs/a.tmp");
	made(fx, "home/docs/a.tmp");
	assert_int_equal(find(fx, "home/docs/a.tmp", SB_MODIFY), SB_ANSWER_ONCE);
	assert_int_equal(find(fx, "home/docs/a.tmp", SB_DELETE), SB_ANSWER_ONCE);
	make_file(fx->root, "home/docs/work");
	assert_int_equal(rename(in(fx->root, "home/docs/work"), in(fx->root, "home/docs/a.tmp")),
			 0);
	assert_int_equal(find(fx, "home/docs/a.tmp", SB_DELETE), SB_ANSWER_NONE);

	/* What has no place in a save is not taken in, whoever says so. */
	make_file(fx->root, "home/docs/b");
	made(fx, "home/docs/b");
	assert_int_equal(find(fx, "home/docs/b", SB_MODIFY), SB_ANSWER_NONE);
}

static void names_made_under_one_grant_are_counted(void **state)
{
	struct fixture *fx = *state;
	unsigned count = 0;

	make_file(fx->root, "home/docs/a");
	assert_int_equal(answer(fx, "home/docs/a", SB_MODIFY, SB_ANSWER_ONCE), SB_OK);
	for (char name[64]; count < 1000; count++) {
		snprintf(name, sizeof name, "home/docs/sed%06u", count);
		if (find(fx, name, SB_CREATE) != SB_ANSWER_ONCE)
			break;
		make_file(fx->root, name);
		made(fx, name);
	}
	assert_in_range(count, 10, 100);
}

static void removing_an_old_backup_is_not_about_the_file(void **state)
{
	struct fixture *fx = *state;

	make_file(fx->root, "home/docs/a");
	make_file(fx->root, "home/docs/a~");
	assert_int_equal(answer(fx, "home/docs/a~", SB_DELETE, SB_ANSWER_ONCE), SB_OK);
	assert_int_equal(find(fx, "home/docs/a~", SB_DELETE), SB_ANSWER_ONCE);
	assert_int_equal(find(fx, "home/docs/a", SB_MODIFY), SB_ANSWER_NONE);
	assert_int_equal(find(fx, "home/docs/a", SB_DELETE), SB_ANSWER_NONE);
}

/* A directory is not saved: a yes to a name beside it moves nothing that is in it. */
static void a_directory_is_nobodys_backup(void **state)
{
	static const char *const names[] = {"home/docs/deep~", "home/docs/.deep.swp",
					    "home/docs/deep.tmp", "home/docs/deep.k3Xz9a"};
	struct fixture *fx = *state;

	for (size_t i = 0; i < COUNT(names); i++) {
		assert_int_equal(answer(fx, names[i], SB_CREATE, SB_ANSWER_ONCE), SB_OK);
		assert_int_equal(find(fx, names[i], SB_CREATE), SB_ANSWER_ONCE);
		assert_int_equal(find(fx, "home/docs/deep", SB_DELETE), SB_ANSWER_NONE);
	}
}

static void reading_modes_and_sockets_are_answered_apart(void **state)
{
	struct fixture *fx = *state;
	struct held held;

	make_file(fx->root, "home/docs/a");
	assert_int_equal(answer(fx, "home/docs/a", SB_READ, SB_ANSWER_ONCE), SB_OK);
	assert_int_equal(find(fx, "home/docs/a", SB_READ), SB_ANSWER_ONCE);
	assert_int_equal(find(fx, "home/docs/a", SB_MODIFY), SB_ANSWER_NONE);
	assert_int_equal(find(fx, "home/docs/.a.swp", SB_CREATE), SB_ANSWER_NONE);

	hold(fx, "home/docs/a", SB_MODIFY, &held);
	held.wish.metadata = true;
	assert_int_equal(sb_grants_remember(fx->grants, &held.wish, SB_ANSWER_ONCE, NULL), SB_OK);
	assert_int_equal(sb_grants_find(fx->grants, &held.wish), SB_ANSWER_ONCE);
	let_go(&held);
	assert_int_equal(find(fx, "home/docs/a", SB_MODIFY), SB_ANSWER_NONE);

	assert_int_equal(mknod(in(fx->root, "home/docs/s"), S_IFSOCK | 0600, 0), 0);
	assert_int_equal(answer(fx, "home/docs/s", SB_MODIFY, SB_ANSWER_ONCE), SB_OK);
	assert_int_equal(find(fx, "home/docs/s", SB_MODIFY), SB_ANSWER_ONCE);
	assert_int_equal(find(fx, "home/docs/s", SB_DELETE), SB_ANSWER_NONE);
	assert_int_equal(find(fx, "home/docs/s~", SB_CREATE), SB_ANSWER_NONE);
}

static void a_process_id_used_again_has_nothing(void **state)
{
	struct fixture *fx = *state;
	struct held held;

	assert_int_equal(answer(fx, "home/docs/a", SB_CREATE, SB_ANSWER_ONCE), SB_OK);
	hold(fx, "home/docs/a", SB_CREATE, &held);
	held.wish.started = 2;
	assert_int_equal(sb_grants_find(fx->grants, &held.wish), SB_ANSWER_NONE);
	let_go(&held);
}

/* --- rules ------------------------------------------------------------------- */

static void stop_by(struct fixture *fx, enum sb_tier tier, const char *pattern)
{
	fx->rule = (struct sb_rule){
		.tier = tier, .access = sb_access_ask, .pattern = pattern, .origin = "test"};
}

static bool may_open(struct fixture *fx, const char *name)
{
	struct held held;
	bool may;

	hold(fx, name, SB_CREATE, &held);
	may = sb_grants_may_open_directory(fx->grants, &held.wish);
	assert_int_equal(sb_grants_remember(fx->grants, &held.wish, SB_ANSWER_DIRECTORY, NULL),
			 may ? SB_OK : SB_E_REFUSED);
	let_go(&held);
	return may;
}

static void a_guarded_name_needs_its_own_yes(void **state)
{
	struct fixture *fx = *state;
	char pattern[PATH_MAX];

	make_file(fx->root, "home/docs/.envrc");
	snprintf(pattern, sizeof pattern, "%s", in(fx->root, "home/docs/.envrc"));
	/* "Yes" to a companion, then to the directory: neither is one to the guarded name. */
	assert_int_equal(answer(fx, "home/docs/.envrc.tmp", SB_CREATE, SB_ANSWER_ONCE), SB_OK);
	assert_int_equal(answer(fx, "home/docs/x", SB_CREATE, SB_ANSWER_DIRECTORY), SB_OK);
	assert_int_equal(find(fx, "home/docs/.envrc", SB_MODIFY), SB_ANSWER_ONCE);
	stop_by(fx, SB_TIER_BUILTIN, pattern);
	assert_int_equal(find(fx, "home/docs/.envrc", SB_MODIFY), SB_ANSWER_NONE);
	assert_false(may_open(fx, "home/docs/.envrc"));

	/* Its removal may be allowed; that is no yes to writing it anew. */
	assert_int_equal(answer(fx, "home/docs/.envrc", SB_DELETE, SB_ANSWER_ONCE), SB_OK);
	assert_int_equal(find(fx, "home/docs/.envrc", SB_DELETE), SB_ANSWER_ONCE);
	assert_int_equal(find(fx, "home/docs/.envrc", SB_CREATE), SB_ANSWER_NONE);

	assert_int_equal(answer(fx, "home/docs/.envrc", SB_MODIFY, SB_ANSWER_ONCE), SB_OK);
	assert_int_equal(find(fx, "home/docs/.envrc", SB_MODIFY), SB_ANSWER_ONCE);
}

static void a_yes_to_bytes_ends_with_them(void **state)
{
	struct fixture *fx = *state;
	struct held held;

	hold(fx, "home/docs/hook", SB_CREATE, &held);
	held.wish.shows_content = true;
	assert_false(sb_grants_may_open_directory(fx->grants, &held.wish));
	assert_int_equal(sb_grants_remember(fx->grants, &held.wish, SB_ANSWER_ONCE, NULL), SB_OK);
	assert_int_equal(sb_grants_find(fx->grants, &held.wish), SB_ANSWER_NONE);
	assert_int_equal(sb_grants_remember(fx->grants, &held.wish, SB_ANSWER_DENY, NULL), SB_OK);
	assert_int_equal(sb_grants_find(fx->grants, &held.wish), SB_ANSWER_DENY);
	let_go(&held);
}

static void a_directory_opens_what_its_question_was_about(void **state)
{
	struct fixture *fx = *state;
	char docs[PATH_MAX], narrow[PATH_MAX], glob[PATH_MAX];

	snprintf(docs, sizeof docs, "%s", in(fx->root, "home/docs"));
	snprintf(narrow, sizeof narrow, "%s", in(fx->root, "home/docs/deep"));
	snprintf(glob, sizeof glob, "%s", in(fx->root, "home/docs/*.key"));

	/* The user's own question about all of it */
	stop_by(fx, SB_TIER_GLOBAL, docs);
	assert_true(may_open(fx, "home/docs/x"));
	assert_int_equal(find(fx, "home/docs/y", SB_CREATE), SB_ANSWER_DIRECTORY);
	assert_int_equal(find(fx, "home/docs/deep/y", SB_CREATE), SB_ANSWER_DIRECTORY);
	/* is not the one about a part of it, nor about some names in it, */
	stop_by(fx, SB_TIER_GLOBAL, narrow);
	assert_int_equal(find(fx, "home/docs/deep/y", SB_CREATE), SB_ANSWER_NONE);
	stop_by(fx, SB_TIER_FLAG, glob);
	assert_false(may_open(fx, "home/docs/a.key"));
	assert_int_equal(find(fx, "home/docs/a.key", SB_CREATE), SB_ANSWER_NONE);
	/* nor the administrator's or ours. */
	stop_by(fx, SB_TIER_SYSTEM, docs);
	assert_int_equal(find(fx, "home/docs/y", SB_CREATE), SB_ANSWER_NONE);
	assert_false(may_open(fx, "home/docs/x"));
	stop_by(fx, SB_TIER_BUILTIN, docs);
	assert_int_equal(find(fx, "home/docs/y", SB_CREATE), SB_ANSWER_NONE);
	assert_false(may_open(fx, "home/docs/x"));
}

static void the_home_directory_is_never_opened_whole(void **state)
{
	struct fixture *fx = *state;
	struct held held;

	assert_false(may_open(fx, "home/x"));
	assert_false(may_open(fx, "x")); /* holds it */
	assert_true(may_open(fx, "other/x"));
	assert_int_equal(find(fx, "home/docs/x", SB_CREATE), SB_ANSWER_NONE);
	hold_at(fx, "/sandbash-no-such-file", SB_CREATE, &held);
	assert_false(sb_grants_may_open_directory(fx->grants, &held.wish));
	let_go(&held);
	/* under its other name neither */
	make_link(fx->root, "alias", "home");
	assert_false(may_open(fx, "alias/x"));
	assert_int_equal(rename(in(fx->root, "home"), in(fx->root, "moved")), 0);
	assert_false(may_open(fx, "moved/x"));
}

static void what_a_rule_denies_stays_denied(void **state)
{
	struct fixture *fx = *state;
	struct held held;

	assert_int_equal(answer(fx, "home/docs/x", SB_CREATE, SB_ANSWER_DIRECTORY), SB_OK);
	hold(fx, "home/docs/x", SB_CREATE, &held);
	held.wish.decision.verdict = SB_DENY;
	assert_int_equal(sb_grants_find(fx->grants, &held.wish), SB_ANSWER_DENY);
	for (int i = SB_ANSWER_NONE; i <= SB_ANSWER_ALWAYS; i++)
		if (i != SB_ANSWER_DENY)
			assert_int_equal(
				sb_grants_remember(fx->grants, &held.wish, (enum sb_answer)i, NULL),
				SB_E_REFUSED);
	let_go(&held);
}

/* --- deny -------------------------------------------------------------------- */

static void a_denial_holds_for_the_file_and_its_name(void **state)
{
	struct fixture *fx = *state;

	make_file(fx->root, "home/docs/a");
	assert_int_equal(answer(fx, "home/docs/a", SB_MODIFY, SB_ANSWER_DENY), SB_OK);
	assert_int_equal(find_as(fx, 7, "home/docs/a", SB_MODIFY), SB_ANSWER_DENY);
	assert_int_equal(find_as(fx, 7, "home/docs/a", SB_DELETE), SB_ANSWER_DENY);
	assert_int_equal(find_as(fx, 7, "home/docs/a", SB_READ), SB_ANSWER_NONE);
	assert_int_equal(find_as(fx, 7, "home/docs/b", SB_CREATE), SB_ANSWER_NONE);
	/* another link to it; its old name when it is gone; its new one */
	assert_int_equal(link(in(fx->root, "home/docs/a"), in(fx->root, "other/l")), 0);
	assert_int_equal(find_as(fx, 7, "other/l", SB_MODIFY), SB_ANSWER_DENY);
	assert_int_equal(rename(in(fx->root, "home/docs/a"), in(fx->root, "other/m")), 0);
	assert_int_equal(find_as(fx, 7, "other/m", SB_MODIFY), SB_ANSWER_DENY);
	assert_int_equal(find_as(fx, 7, "home/docs/a", SB_CREATE), SB_ANSWER_DENY);

	/* A later yes to the directory is none to what was denied in it. */
	make_file(fx->root, "home/docs/a");
	assert_int_equal(answer(fx, "home/docs/c", SB_CREATE, SB_ANSWER_DIRECTORY), SB_OK);
	assert_int_equal(find_as(fx, 7, "home/docs/a", SB_MODIFY), SB_ANSWER_DENY);
	assert_int_equal(find_as(fx, 7, "home/docs/b", SB_CREATE), SB_ANSWER_DIRECTORY);
	/* and the exit of who asked changes nothing */
	sb_grants_exited(fx->grants, 100);
	assert_int_equal(find_as(fx, 7, "home/docs/a", SB_MODIFY), SB_ANSWER_DENY);
}

static void a_denied_directory_denies_what_is_in_it(void **state)
{
	struct fixture *fx = *state;

	assert_int_equal(answer(fx, "home/docs/deep", SB_DELETE, SB_ANSWER_DENY), SB_OK);
	assert_int_equal(find(fx, "home/docs/deep/x", SB_CREATE), SB_ANSWER_DENY);
	assert_int_equal(find_as(fx, 7, "home/docs/x", SB_CREATE), SB_ANSWER_NONE);
	/* The nearer answer counts. */
	make_dir(fx->root, "home/docs/deep/er");
	assert_int_equal(answer(fx, "home/docs/deep/er/x", SB_CREATE, SB_ANSWER_DIRECTORY), SB_OK);
	assert_int_equal(find(fx, "home/docs/deep/er/y", SB_CREATE), SB_ANSWER_DIRECTORY);
	assert_int_equal(find(fx, "home/docs/deep/y", SB_CREATE), SB_ANSWER_DENY);
}

/* A name that cannot be looked at can be denied all the same, and is never granted unseen. */
static void a_barred_name_is_only_ever_denied(void **state)
{
	struct fixture *fx = *state;
	char name[NAME_MAX + 2];
	struct held held;

	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	hold(fx, "home/docs/x", SB_CREATE, &held);
	held.wish.name = name;
	assert_int_equal(sb_grants_find(fx->grants, &held.wish), SB_ANSWER_NONE);
	sb_grants_remember(fx->grants, &held.wish, SB_ANSWER_ONCE, NULL);
	assert_int_equal(sb_grants_find(fx->grants, &held.wish), SB_ANSWER_NONE);
	assert_int_equal(sb_grants_remember(fx->grants, &held.wish, SB_ANSWER_DENY, NULL), SB_OK);
	assert_int_equal(sb_grants_find(fx->grants, &held.wish), SB_ANSWER_DENY);
	let_go(&held);
	assert_int_equal(find_as(fx, 7, "home/docs/other", SB_CREATE), SB_ANSWER_NONE);
}

static void limits_ask_again_but_lose_no_denial(void **state)
{
	struct fixture *fx = *state;
	unsigned before = open_descriptors(), refused = 0;
	char name[64];

	for (unsigned i = 0; i < 300; i++) {
		snprintf(name, sizeof name, "home/docs/once%u", i);
		assert_int_equal(answer(fx, name, SB_CREATE, SB_ANSWER_ONCE), SB_OK);
		assert_int_equal(find(fx, name, SB_CREATE), SB_ANSWER_ONCE);
	}
	assert_int_equal(find(fx, "home/docs/once0", SB_CREATE), SB_ANSWER_NONE);
	for (unsigned i = 0; i < 100; i++) {
		snprintf(name, sizeof name, "other/d%u", i);
		make_dir(fx->root, name);
		snprintf(name, sizeof name, "other/d%u/x", i);
		assert_int_equal(answer(fx, name, SB_CREATE, SB_ANSWER_DIRECTORY), SB_OK);
		assert_int_equal(find(fx, name, SB_CREATE), SB_ANSWER_DIRECTORY);
	}
	assert_int_equal(find(fx, "other/d0/x", SB_CREATE), SB_ANSWER_NONE);
	assert_int_equal(find(fx, "other/fresh", SB_CREATE), SB_ANSWER_NONE);
	for (unsigned i = 0; i < 700; i++) {
		snprintf(name, sizeof name, "home/docs/deny%u", i);
		refused += answer_as(fx, 7, name, SB_CREATE, SB_ANSWER_DENY) != SB_OK;
	}
	assert_true(refused > 0);
	for (unsigned i = 0; i < 700; i++) {
		snprintf(name, sizeof name, "home/docs/deny%u", i);
		assert_int_equal(find_as(fx, 8, name, SB_CREATE), SB_ANSWER_DENY);
	}
	/* No room is left for another no, so all that is not a yes is one. */
	assert_int_equal(find(fx, "other/fresh", SB_CREATE), SB_ANSWER_DENY);
	assert_int_equal(find(fx, "other/d99/y", SB_CREATE), SB_ANSWER_DIRECTORY);
	assert_true(open_descriptors() - before <= SB_GRANTS_DESCRIPTORS);
	sb_grants_free(fx->grants);
	fx->grants = sb_grants_new("/nonexistent");
	assert_true(open_descriptors() <= before);
}

/* --- any spelling ------------------------------------------------------------ */

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

static void names_of_a_save_are_told_apart(void **state)
{
	static const struct {
		const char *file, *name;
		enum sb_save_match match;
	} rows[] = {
		{"a.c", ".a.c.swp", SB_SAVE_OLD},      {"a.c", ".a.c.swo", SB_SAVE_OLD},
		{"a.c", "a.c~", SB_SAVE_OLD},          {"a.c", "a.c.bak", SB_SAVE_NEW},
		{"a.c", "4913", SB_SAVE_NEW},          {"a.c", "5036", SB_SAVE_NEW},
		{"a.c", "5037", SB_SAVE_NOT},          {"a.c", "4914", SB_SAVE_NOT},
		{"a.c", "04913", SB_SAVE_NOT},         {"a.c", "a.h", SB_SAVE_NOT},
		{"a.c", "b.c~", SB_SAVE_NOT},          {"a.c", "a.c.swp", SB_SAVE_NOT},
		{".a", ".a.swp", SB_SAVE_OLD},         {".a", "..a.swp", SB_SAVE_OLD},
		{"a.c", "a.c.~12~", SB_SAVE_NEW},      {"a.c", "a.c.~~", SB_SAVE_NOT},
		{"a.c", "sedabcdef", SB_SAVE_NEW},     {"a.c", "sedabcde", SB_SAVE_NOT},
		{"a.c", "sedabc/ef", SB_SAVE_NOT},     {"a.c", "", SB_SAVE_NOT},
		{"a.c", "a.c", SB_SAVE_NOT},           {"a", "a.123456", SB_SAVE_NEW},
		{"a", "a.12345", SB_SAVE_NOT},         {"a", "a.tmp.4711", SB_SAVE_NEW},
		{"a", "a.1234567890123", SB_SAVE_NOT},
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

static void answers_read_as_rules(void **state)
{
	struct fixture *fx = *state;
	struct sb_access access;
	char path[PATH_MAX];
	struct held held;

	hold(fx, "home/docs/x", SB_CREATE, &held);
	assert_false(sb_grants_as_rule(&held.wish, SB_ANSWER_ONCE, &access, path));
	assert_true(sb_grants_as_rule(&held.wish, SB_ANSWER_DIRECTORY, &access, path));
	assert_string_equal(path, in(fx->root, "home/docs"));
	assert_true(sb_access_equal(&access, &sb_access_write));
	assert_true(sb_grants_as_rule(&held.wish, SB_ANSWER_DENY, &access, path));
	assert_string_equal(path, in(fx->root, "home/docs/x"));
	assert_true(sb_access_equal(&access, &sb_access_read));
	let_go(&held);
	/* A no to writing does not open a file for reading that asks before it is read. */
	stop_by(fx, SB_TIER_GLOBAL, "/");
	fx->rule.access = (struct sb_access){{SB_ASK, SB_ASK, SB_ASK, SB_ASK}};
	hold(fx, "home/docs/x", SB_CREATE, &held);
	assert_true(sb_grants_as_rule(&held.wish, SB_ANSWER_DENY, &access, path));
	assert_int_equal(access.verdict[SB_READ], SB_ASK);
	assert_true(sb_grants_as_rule(&held.wish, SB_ANSWER_DIRECTORY, &access, path));
	assert_int_equal(access.verdict[SB_READ], SB_ASK);
	held.wish.op = SB_READ;
	assert_true(sb_grants_as_rule(&held.wish, SB_ANSWER_DIRECTORY, &access, path));
	assert_int_equal(access.verdict[SB_READ], SB_ALLOW);
	assert_int_equal(access.verdict[SB_MODIFY], SB_ASK);
	let_go(&held);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_save_is_one_question),
	TEST(a_refused_save_is_one_question),
	TEST(once_opens_no_other_file_that_exists),
	TEST(a_made_name_belongs_until_it_is_another_file),
	TEST(names_made_under_one_grant_are_counted),
	TEST(removing_an_old_backup_is_not_about_the_file),
	TEST(a_directory_is_nobodys_backup),
	TEST(reading_modes_and_sockets_are_answered_apart),
	TEST(a_process_id_used_again_has_nothing),
	TEST(a_guarded_name_needs_its_own_yes),
	TEST(a_yes_to_bytes_ends_with_them),
	TEST(a_directory_opens_what_its_question_was_about),
	TEST(the_home_directory_is_never_opened_whole),
	TEST(what_a_rule_denies_stays_denied),
	TEST(a_denial_holds_for_the_file_and_its_name),
	TEST(a_denied_directory_denies_what_is_in_it),
	TEST(a_barred_name_is_only_ever_denied),
	TEST(limits_ask_again_but_lose_no_denial),
	TEST(no_spelling_asks_again),
	TEST(no_spelling_of_a_file_asks_again),
	TEST(a_new_directory_of_that_name_is_asked_about),
	TEST(a_directory_itself_is_not_in_it),
	TEST(names_of_a_save_are_told_apart),
	TEST(answers_read_as_rules),
};

UNIT_MAIN("grants")
