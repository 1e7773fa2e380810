/* test_grants.c - C1, C3: an answer covers what was meant, and no more. */
#include "wishes.h"

#include "guard/guard.h"
#include "policy/text.h"

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

	/* A backup that is there stays, an editor's own as well. */
	make_file(fx->root, "home/docs/a.bak");
	make_file(fx->root, "home/docs/a.k3Xz9a");
	make_file(fx->root, "home/docs/a~");
	assert_int_equal(find(fx, "home/docs/a.bak", SB_MODIFY), SB_ANSWER_NONE);
	assert_int_equal(find(fx, "home/docs/a.bak", SB_DELETE), SB_ANSWER_NONE);
	assert_int_equal(find(fx, "home/docs/a.k3Xz9a", SB_DELETE), SB_ANSWER_NONE);
	make_file(fx->root, "home/docs/.a.swp");
	assert_int_equal(find(fx, "home/docs/a~", SB_MODIFY), SB_ANSWER_NONE);
	assert_int_equal(find(fx, "home/docs/a~", SB_DELETE), SB_ANSWER_NONE);
	assert_int_equal(find(fx, "home/docs/.a.swp", SB_MODIFY), SB_ANSWER_NONE);
	assert_int_equal(find(fx, "home/docs/.a.swp", SB_DELETE), SB_ANSWER_NONE);
	assert_int_equal(find(fx, "home/docs/.a.swo", SB_CREATE), SB_ANSWER_ONCE);

	/* unless it is the file itself; and nothing but files */
	assert_int_equal(unlink(in(fx->root, "home/docs/a~")), 0);
	assert_int_equal(link(in(fx->root, "home/docs/a"), in(fx->root, "home/docs/a~")), 0);
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

struct kind {
	const char *name;
	enum sb_op op;
	enum sb_thing thing;
	const char *leads_to, *moved_to;
};

static void hold_kind(struct fixture *fx, const struct kind *kind, struct held *held)
{
	hold(fx, kind->name, kind->op, held);
	held->wish.thing = kind->thing;
	held->wish.leads_to = kind->leads_to;
	held->wish.moved_to = kind->moved_to;
}

static enum sb_answer find_kind(struct fixture *fx, const struct kind *kind)
{
	enum sb_answer answer;
	struct held held;

	hold_kind(fx, kind, &held);
	answer = sb_grants_find(fx->grants, &held.wish);
	let_go(&held);
	return answer;
}

#define KIND(...) (&(struct kind){__VA_ARGS__})

/* Every kind asked about, and every kind tried under that yes: only the same one is covered. */
static void a_yes_is_for_its_kind(void **state)
{
	static const struct kind kinds[] = {
		{"home/docs/x", SB_CREATE, SB_THING_FILE},
		{"home/docs/x", SB_CREATE, SB_THING_DIRECTORY},
		{"home/docs/x", SB_CREATE, SB_THING_LINK, .leads_to = "one"},
		{"home/docs/x", SB_CREATE, SB_THING_LINK, .leads_to = "two"},
		{"home/docs/x", SB_CREATE, SB_THING_NODE},
		{"home/docs/x", SB_CREATE, SB_THING_NAME},
		{"home/docs/x", SB_DELETE, SB_THING_FILE},
		{"home/docs/x", SB_DELETE, SB_THING_DIRECTORY},
		{"home/docs/x", SB_DELETE, SB_THING_FILE, .moved_to = "/elsewhere/x"},
		{"home/docs/x", SB_DELETE, SB_THING_FILE, .moved_to = "/elsewhere/y"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(kinds); i++) {
		struct fixture *fx = NULL;
		struct held held;

		assert_int_equal(setup((void **)&fx), 0);
		hold_kind(fx, &kinds[i], &held);
		assert_int_equal(sb_grants_remember(fx->grants, &held.wish, SB_ANSWER_ONCE, NULL),
				 SB_OK);
		let_go(&held);
		for (size_t k = 0; k < COUNT(kinds); k++)
			if (find_kind(fx, &kinds[k]) != (i == k ? SB_ANSWER_ONCE : SB_ANSWER_NONE))
				fail_msg("asked about %zu, tried %zu", i, k);
		teardown((void **)&fx);
	}
}

static void a_yes_to_a_file_is_none_to_its_removal(void **state)
{
	struct fixture *fx = *state;
	char aside[PATH_MAX], elsewhere[PATH_MAX], near[PATH_MAX];

	snprintf(aside, sizeof aside, "%s", in(fx->root, "home/docs/a~"));
	snprintf(elsewhere, sizeof elsewhere, "%s", in(fx->root, "other/a~"));
	snprintf(near, sizeof near, "%s", in(fx->root, "home/docs/deep/a~"));
	make_file(fx->root, "home/docs/a");
	assert_int_equal(answer(fx, "home/docs/a", SB_MODIFY, SB_ANSWER_ONCE), SB_OK);
	assert_int_equal(find(fx, "home/docs/a", SB_MODIFY), SB_ANSWER_ONCE);
	assert_int_equal(find(fx, "home/docs/a", SB_DELETE), SB_ANSWER_NONE);
	/* a save puts it aside, and nobody takes it elsewhere */
	assert_int_equal(find_kind(fx, KIND("home/docs/a", SB_DELETE, .moved_to = aside)),
			 SB_ANSWER_ONCE);
	assert_int_equal(find_kind(fx, KIND("home/docs/a", SB_DELETE, .moved_to = elsewhere)),
			 SB_ANSWER_NONE);
	assert_int_equal(find_kind(fx, KIND("home/docs/a", SB_DELETE, .moved_to = near)),
			 SB_ANSWER_NONE);
	/* nor is a yes to a removal one to writing */
	make_file(fx->root, "home/docs/b");
	assert_int_equal(answer(fx, "home/docs/b", SB_DELETE, SB_ANSWER_ONCE), SB_OK);
	assert_int_equal(find(fx, "home/docs/b", SB_DELETE), SB_ANSWER_ONCE);
	assert_int_equal(find(fx, "home/docs/b", SB_MODIFY), SB_ANSWER_NONE);
	assert_int_equal(find(fx, "home/docs/b", SB_CREATE), SB_ANSWER_NONE);
}

static void what_was_made_empty_may_go_again(void **state)
{
	struct fixture *fx = *state;
	struct kind made_link = {"home/docs/l", SB_CREATE, SB_THING_LINK, .leads_to = "x"};
	struct kind removal = {"home/docs/l", SB_DELETE, SB_THING_LINK};
	struct held held;

	hold_kind(fx, &made_link, &held);
	assert_int_equal(sb_grants_remember(fx->grants, &held.wish, SB_ANSWER_ONCE, NULL), SB_OK);
	make_link(fx->root, "home/docs/l", "x");
	assert_int_equal(find_kind(fx, &removal), SB_ANSWER_NONE);
	sb_grants_made(fx->grants, &held.wish);
	let_go(&held);
	assert_int_equal(find_kind(fx, &removal), SB_ANSWER_ONCE);
	/* not another one in its place; the old one stays, or its number could be given again */
	assert_int_equal(rename(in(fx->root, "home/docs/l"), in(fx->root, "home/docs/old")), 0);
	make_link(fx->root, "home/docs/l", "x");
	assert_int_equal(find_kind(fx, &removal), SB_ANSWER_NONE);
}

/* Links, directories and nodes are nobody's save, under whatever name. */
static void only_files_are_saved(void **state)
{
	static const char *const names[] = {"home/docs/a~", "home/docs/.a.swp", "home/docs/.#a",
					    "home/docs/a.tmp", "home/docs/sedAbCdEf"};
	static const enum sb_thing others[] = {SB_THING_DIRECTORY, SB_THING_LINK, SB_THING_NODE,
					       SB_THING_NAME};
	struct fixture *fx = *state;

	make_file(fx->root, "home/docs/a");
	assert_int_equal(answer(fx, "home/docs/a", SB_MODIFY, SB_ANSWER_ONCE), SB_OK);
	for (size_t i = 0; i < COUNT(names); i++) {
		assert_int_equal(find(fx, names[i], SB_CREATE), SB_ANSWER_ONCE);
		for (size_t k = 0; k < COUNT(others); k++) {
			char file[NAME_MAX + 1];
			struct held held;
			const char *why;

			assert_int_equal(find_kind(fx, KIND(names[i], SB_CREATE, others[k])),
					 SB_ANSWER_NONE);
			/* and a yes to one of them is about that name alone */
			hold_kind(fx, KIND(names[i], SB_CREATE, others[k]), &held);
			sb_grants_subject(&held.wish, file, &why);
			assert_string_equal(file, held.wish.name);
			assert_null(why);
			let_go(&held);
		}
	}
	/* a link that lies where an editor's leftover would is somebody's */
	make_link(fx->root, "home/docs/a~", "../../other/precious");
	assert_int_equal(find(fx, "home/docs/a~", SB_MODIFY), SB_ANSWER_NONE);
	assert_int_equal(find_kind(fx, KIND("home/docs/a~", SB_DELETE, SB_THING_LINK)),
			 SB_ANSWER_NONE);
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

static void no_answer_covers_the_owners_rights(void **state)
{
	static const enum sb_answer answers[] = {SB_ANSWER_ONCE, SB_ANSWER_DIRECTORY};
	struct fixture *fx = *state;
	struct held held;

	make_file(fx->root, "home/docs/a");
	for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
		assert_int_equal(answer(fx, "home/docs/a", SB_MODIFY, answers[i]), SB_OK);
		hold(fx, "home/docs/a", SB_MODIFY, &held);
		held.wish.metadata = true;
		assert_int_not_equal(sb_grants_find(fx->grants, &held.wish), SB_ANSWER_NONE);
		held.wish.sets_id = true;
		assert_int_equal(sb_grants_find(fx->grants, &held.wish), SB_ANSWER_NONE);
		let_go(&held);
	}
	assert_int_equal(answer(fx, "home/docs/a", SB_MODIFY, SB_ANSWER_DENY), SB_OK);
	hold(fx, "home/docs/a", SB_MODIFY, &held);
	held.wish.metadata = held.wish.sets_id = true;
	assert_int_equal(sb_grants_find(fx->grants, &held.wish), SB_ANSWER_DENY);
	let_go(&held);
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

/* Whatever rule stopped it: the user's own question about a place is none about such a name. */
static void no_place_opens_what_somebody_outside_obeys(void **state)
{
	static const struct sb_guard_row row = {.pattern = ".envrc", .who = "direnv"};
	static const struct sb_guard_row other = {.pattern = ".bashrc", .who = "bash"};
	struct fixture *fx = *state;
	char docs[PATH_MAX];
	struct held held;

	snprintf(docs, sizeof docs, "%s", in(fx->root, "home/docs"));
	for (int own = 0; own < 2; own++) {
		if (own)
			stop_by(fx, SB_TIER_GLOBAL, docs);
		assert_int_equal(answer(fx, "home/docs/x", SB_CREATE, SB_ANSWER_DIRECTORY), SB_OK);
		hold(fx, "home/docs/.envrc", SB_CREATE, &held);
		assert_int_equal(sb_grants_find(fx->grants, &held.wish), SB_ANSWER_DIRECTORY);
		held.wish.guard = &row;
		assert_int_equal(sb_grants_find(fx->grants, &held.wish), SB_ANSWER_NONE);
		assert_false(sb_grants_may_open_directory(fx->grants, &held.wish));
		assert_int_equal(
			sb_grants_remember(fx->grants, &held.wish, SB_ANSWER_DIRECTORY, NULL),
			SB_E_REFUSED);
		assert_int_equal(sb_grants_remember(fx->grants, &held.wish, SB_ANSWER_ALWAYS, NULL),
				 SB_E_REFUSED);
		/* a yes is for this call: what lands there next is another thing */
		held.wish.thing = SB_THING_DIRECTORY;
		assert_int_equal(sb_grants_remember(fx->grants, &held.wish, SB_ANSWER_ONCE, NULL),
				 SB_OK);
		assert_int_equal(sb_grants_find(fx->grants, &held.wish), SB_ANSWER_NONE);
		/* but for a file that is opened: what the process writes there was not known yet */
		held.wish.thing = SB_THING_FILE;
		assert_int_equal(sb_grants_remember(fx->grants, &held.wish, SB_ANSWER_ONCE, NULL),
				 SB_OK);
		assert_int_equal(sb_grants_find(fx->grants, &held.wish), SB_ANSWER_ONCE);
		held.wish.shows_content = true;
		assert_int_equal(sb_grants_find(fx->grants, &held.wish), SB_ANSWER_NONE);
		held.wish.shows_content = false;
		/* modes are asked about once, and apart from those of plain names */
		held.wish.metadata = true;
		held.wish.op = SB_MODIFY;
		assert_int_equal(sb_grants_remember(fx->grants, &held.wish, SB_ANSWER_ONCE, NULL),
				 SB_OK);
		assert_int_equal(sb_grants_find(fx->grants, &held.wish), SB_ANSWER_ONCE);
		held.wish.guard = &other;
		assert_int_equal(sb_grants_find(fx->grants, &held.wish), SB_ANSWER_NONE);
		let_go(&held);
		sb_grants_exited(fx->grants, 100);
	}
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
	/* A no to bytes is none to the file. */
	held.wish.shows_content = true;
	assert_false(sb_grants_as_rule(&held.wish, SB_ANSWER_DENY, &access, path));
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
	TEST(once_opens_no_other_file_that_exists),
	TEST(a_made_name_belongs_until_it_is_another_file),
	TEST(names_made_under_one_grant_are_counted),
	TEST(removing_an_old_backup_is_not_about_the_file),
	TEST(a_directory_is_nobodys_backup),
	cmocka_unit_test(a_yes_is_for_its_kind),
	TEST(a_yes_to_a_file_is_none_to_its_removal),
	TEST(what_was_made_empty_may_go_again),
	TEST(only_files_are_saved),
	TEST(reading_modes_and_sockets_are_answered_apart),
	TEST(no_answer_covers_the_owners_rights),
	TEST(a_process_id_used_again_has_nothing),
	TEST(a_guarded_name_needs_its_own_yes),
	TEST(no_place_opens_what_somebody_outside_obeys),
	TEST(a_yes_to_bytes_ends_with_them),
	TEST(a_directory_opens_what_its_question_was_about),
	TEST(the_home_directory_is_never_opened_whole),
	TEST(what_a_rule_denies_stays_denied),
	TEST(a_denial_holds_for_the_file_and_its_name),
	TEST(a_denied_directory_denies_what_is_in_it),
	TEST(a_barred_name_is_only_ever_denied),
	TEST(limits_ask_again_but_lose_no_denial),
	TEST(answers_read_as_rules),
};

UNIT_MAIN("grants")
