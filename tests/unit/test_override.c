/* test_override.c - C9: answers are seen and taken back, and a rule added is an answer, no more. */
#include "wishes.h"

#include "consent/override.h"
#include "policy/text.h"

static struct sb_policy *policy_of(struct fixture *fx)
{
	struct sb_policy *policy = sb_policy_new();
	const struct {
		const struct sb_access *access;
		const char *name;
	} rules[] = {{&sb_access_write, "home/project"}, {&sb_access_deny, "home/closed"}};

	assert_non_null(policy);
	for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
		struct sb_rule rule = {.tier = SB_TIER_GLOBAL,
				       .access = *rules[i].access,
				       .pattern = in(fx->root, rules[i].name),
				       .origin = "the user"};

		make_dir(fx->root, rules[i].name);
		assert_int_equal(sb_policy_add(policy, &rule, NULL), SB_OK);
	}
	assert_int_equal(sb_policy_seal(policy, NULL), SB_OK);
	return policy;
}

struct seen {
	unsigned long number;
	size_t count;
	char words[4096];
};

static void see(void *context, const struct sb_standing *standing)
{
	SB_AUTO_BUF struct sb_buf words = SB_BUF(sizeof((struct seen *)0)->words);
	struct seen *seen = context;

	sb_standing_words(standing, &words);
	seen->number = standing->number;
	seen->count++;
	snprintf(seen->words, sizeof seen->words, "%s", words.data);
}

static struct seen look(const struct fixture *fx)
{
	struct seen seen = {0};

	sb_grants_each(fx->grants, see, &seen);
	return seen;
}

static int add(struct fixture *fx, const struct sb_policy *policy, const char *access,
	       const char *name)
{
	SB_AUTO_BUF struct sb_buf line = SB_BUF(65536);
	char home[PATH_MAX], text[PATH_MAX + 16];
	struct sb_home place = {.home = home, .cwd = home};
	struct sb_override override = {.policy = policy, .home = &place, .grants = fx->grants};

	snprintf(home, sizeof home, "%s", in(fx->root, "home"));
	snprintf(text, sizeof text, "%s %s", access, in(fx->root, name));
	return sb_override_add(&override, text, &line, NULL);
}

static int take_back(struct fixture *fx, unsigned long number)
{
	SB_AUTO_BUF struct sb_buf line = SB_BUF(65536);
	struct sb_override override = {.grants = fx->grants};

	return sb_override_take_back(&override, number, &line, NULL);
}

static void each_kind_is_seen_and_taken_back(void **state)
{
	struct fixture *fx = *state;
	const struct {
		enum sb_answer answer;
		const char *words;
	} kinds[] = {{SB_ANSWER_ONCE, "allowed once, to process 100: change "},
		     {SB_ANSWER_DIRECTORY, "allowed for this run: change everything in "},
		     {SB_ANSWER_ALWAYS, "always allowed (configuration): change everything in "},
		     {SB_ANSWER_DENY, "denied for this run: change "}};
	unsigned long last = 0;

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		unsigned long changes = sb_grants_changes(fx->grants);
		struct seen seen;

		assert_int_equal(answer(fx, "home/docs/a", SB_CREATE, kinds[i].answer), SB_OK);
		assert_true(sb_grants_changes(fx->grants) > changes);
		seen = look(fx);
		assert_int_equal(seen.count, 1);
		assert_true(seen.number > last); /* numbers do not come again */
		last = seen.number;
		assert_memory_equal(seen.words, kinds[i].words, strlen(kinds[i].words));
		assert_int_not_equal(find(fx, "home/docs/a", SB_CREATE), SB_ANSWER_NONE);
		assert_int_equal(take_back(fx, seen.number + 1), SB_E_MISSING);
		assert_int_not_equal(find(fx, "home/docs/a", SB_CREATE), SB_ANSWER_NONE);
		assert_int_equal(take_back(fx, seen.number), SB_OK);
		assert_int_equal(find(fx, "home/docs/a", SB_CREATE), SB_ANSWER_NONE);
		assert_int_equal(find(fx, "home/docs/a~", SB_CREATE), SB_ANSWER_NONE);
		assert_int_equal(look(fx).count, 0);
		assert_int_equal(take_back(fx, seen.number), SB_E_MISSING);
	}
}

static void only_that_one_is_taken_back(void **state)
{
	struct fixture *fx = *state;
	unsigned long first;

	assert_int_equal(answer(fx, "home/docs/a", SB_CREATE, SB_ANSWER_DIRECTORY), SB_OK);
	first = look(fx).number;
	assert_int_equal(answer(fx, "other/b", SB_CREATE, SB_ANSWER_DIRECTORY), SB_OK);
	assert_int_equal(answer(fx, "other/c", SB_CREATE, SB_ANSWER_DENY), SB_OK);
	assert_int_equal(take_back(fx, first), SB_OK);
	assert_int_equal(find(fx, "home/docs/a", SB_CREATE), SB_ANSWER_NONE);
	assert_int_equal(find(fx, "other/b", SB_CREATE), SB_ANSWER_DIRECTORY);
	assert_int_equal(find(fx, "other/c", SB_CREATE), SB_ANSWER_DENY);
	assert_int_equal(look(fx).count, 2);
}

static void taking_back_leaves_no_descriptor(void **state)
{
	struct fixture *fx = *state;
	unsigned before = open_descriptors();

	for (int i = 0; i < 10; i++) {
		assert_int_equal(answer(fx, "home/docs/a", SB_CREATE, SB_ANSWER_DIRECTORY), SB_OK);
		assert_int_equal(take_back(fx, look(fx).number), SB_OK);
		assert_int_equal(answer(fx, "home/docs/a", SB_CREATE, SB_ANSWER_DENY), SB_OK);
		assert_int_equal(take_back(fx, look(fx).number), SB_OK);
	}
	assert_int_equal(open_descriptors(), before);
}

static void a_rule_is_an_answer(void **state)
{
	struct fixture *fx = *state;
	struct sb_policy *policy = policy_of(fx);

	make_dir(fx->root, "other/deep");
	assert_int_equal(find(fx, "other/deep/x", SB_CREATE), SB_ANSWER_NONE);
	assert_int_equal(add(fx, policy, "write", "other"), SB_OK);
	assert_int_equal(find(fx, "other/deep/x", SB_CREATE), SB_ANSWER_DIRECTORY);
	assert_int_equal(find(fx, "home/docs/x", SB_CREATE), SB_ANSWER_NONE);
	assert_int_equal(add(fx, policy, "read", "other/deep"), SB_OK);
	assert_int_equal(find(fx, "other/deep/x", SB_CREATE), SB_ANSWER_DENY);
	assert_int_equal(find(fx, "other/x", SB_CREATE), SB_ANSWER_DIRECTORY);
	sb_policy_free(policy);
}

static void what_it_cannot_do_changes_nothing(void **state)
{
	struct fixture *fx = *state;
	struct sb_policy *policy = policy_of(fx);
	const struct {
		const char *access, *name;
		int status;
	} wrong[] = {
		{"write", "home", SB_E_REFUSED},         /* the home directory */
		{"write", "", SB_E_REFUSED},             /* and what holds it */
		{"write", "home/closed", SB_E_CONFLICT}, /* a rule denies it */
		{"deny", "home/project", SB_E_CONFLICT}, /* one allows it */
		{"read", "home/project", SB_E_CONFLICT},
		{"write", "home/nothing", SB_E_MISSING},
		{"write", "home/d*", SB_E_INVALID},
		{"fast", "other", SB_E_INVALID},
		{"ask", "other", SB_E_INVALID},
		{"tighten read", "other", SB_E_INVALID},
		{"include", "other", SB_E_INVALID},
	};

	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		int status = add(fx, policy, wrong[i].access, wrong[i].name);

		if (status != wrong[i].status)
			fail_msg("%s %s: %d", wrong[i].access, wrong[i].name, status);
		assert_int_equal(look(fx).count, 0);
	}
	assert_int_equal(find(fx, "home/docs/x", SB_CREATE), SB_ANSWER_NONE);
	sb_policy_free(policy);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static const struct CMUnitTest tests[] = {
	TEST(each_kind_is_seen_and_taken_back),  TEST(only_that_one_is_taken_back),
	TEST(taking_back_leaves_no_descriptor),  TEST(a_rule_is_an_answer),
	TEST(what_it_cannot_do_changes_nothing),
};

UNIT_MAIN("override")
