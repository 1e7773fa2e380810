/* test_learn.c - the smallest set of rules: what is joined, what is left out, and that nothing gets lost. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "cli/learn_set.h"
#include "path/path.h"
#include "policy/text.h"

#define READ (1u << SB_READ)
#define MODIFY (READ | 1u << SB_MODIFY)
#define DELETE (READ | 1u << SB_DELETE)
#define WRITE SB_LEARN_ALL

struct fixture {
	struct sb_learned needs;
	const char *closed[4]; /* directories for which there may be no rule */
	unsigned asked;
};

static void need(struct fixture *fx, const char *path, unsigned ops, const char *program)
{
	const struct sb_need one = {.path = (char *)path, .ops = ops, .count = 1, .names = 1};

	assert_int_equal(SB_OK, sb_learned_add(&fx->needs, &one, program, NULL));
}

static bool may_open(void *context, const char *directory, unsigned ops)
{
	struct fixture *fx = context;

	assert_true(ops & READ);
	fx->asked++;
	for (size_t i = 0; i < 4 && fx->closed[i]; i++)
		if (strcmp(fx->closed[i], directory) == 0)
			return false;
	return true;
}

/* All rules, as they would be written, and who needed them. */
static void expect(struct fixture *fx, const char *rules)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(64 * 1024);

	assert_int_equal(SB_OK, sb_learned_group(&fx->needs, may_open, fx, NULL));
	for (size_t i = 0; i < fx->needs.count; i++) {
		const struct sb_need *one = &fx->needs.all[i];
		const struct sb_access access = sb_learned_access(one);

		sb_rule_print(&access, one->path, &text);
		sb_buf_printf(&text, " (%s %lu/%zu)\n", one->programs, one->count, one->names);
	}
	assert_string_equal(rules, text.data);
	sb_learned_done(&fx->needs);
}

static void one_path_is_one_rule(void **state)
{
	struct fixture fx = {0};

	(void)state;
	need(&fx, "/h/u/a", MODIFY, "sed");
	need(&fx, "/h/u/a", DELETE, "rm");
	need(&fx, "/h/u/a", READ, "sed");
	need(&fx, "/h/u/b", READ, NULL);
	expect(&fx, "read+modify+delete /h/u/a (sed, rm 3/1)\nread /h/u/b ( 1/1)\n");
	assert_int_equal(0, fx.asked);
}

static void a_crowd_is_about_its_directory(void **state)
{
	struct fixture fx = {0};

	(void)state;
	need(&fx, "/h/u/d/a", WRITE, "x");
	need(&fx, "/h/u/d/b", WRITE, "x");
	expect(&fx, "write /h/u/d/a (x 1/1)\nwrite /h/u/d/b (x 1/1)\n");
	need(&fx, "/h/u/d/a", WRITE, "x");
	need(&fx, "/h/u/d/b", MODIFY, "y");
	need(&fx, "/h/u/d/c", DELETE, "x");
	need(&fx, "/h/u/d-e", WRITE, "x");
	expect(&fx, "write /h/u/d (x, y 3/3)\nwrite /h/u/d-e (x 1/1)\n");
	/* what is only read gets no more */
	need(&fx, "/h/u/d/a", READ, "x");
	need(&fx, "/h/u/d/b", READ, "x");
	need(&fx, "/h/u/d/c", READ, "x");
	need(&fx, "/h/u/d/c/f", WRITE, "x");
	expect(&fx, "read /h/u/d (x 3/3)\nwrite /h/u/d/c/f (x 1/1)\n");
}

static void a_closed_directory_stays_apart(void **state)
{
	struct fixture fx = {.closed = {"/h/u"}};

	(void)state;
	need(&fx, "/h/u/a", WRITE, "x");
	need(&fx, "/h/u/b", WRITE, "x");
	need(&fx, "/h/u/c", WRITE, "x");
	expect(&fx, "write /h/u/a (x 1/1)\nwrite /h/u/b (x 1/1)\nwrite /h/u/c (x 1/1)\n");
	assert_int_equal(1, fx.asked);
}

static void directories_are_a_crowd_too(void **state)
{
	struct fixture fx = {.closed = {"/h/u"}};
	char path[64];

	(void)state;
	for (int i = 0; i < 9; i++) {
		snprintf(path, sizeof path, "/h/u/cache/%c/%d", 'a' + i / 3, i);
		need(&fx, path, WRITE, "x");
	}
	expect(&fx, "write /h/u/cache (x 9/9)\n");
}

static void what_another_covers_is_left_out(void **state)
{
	struct fixture fx = {0};

	(void)state;
	need(&fx, "/h/u/d", WRITE, "x");
	need(&fx, "/h/u/d/e/f", MODIFY, "y");
	need(&fx, "/h/u/d.txt", READ, "x");
	expect(&fx, "write /h/u/d (x, y 2/2)\nread /h/u/d.txt (x 1/1)\n");
	/* a rule beneath another one decides there alone */
	need(&fx, "/h/u/d", MODIFY, "x");
	need(&fx, "/h/u/d/e", DELETE, "x");
	expect(&fx, "read+modify /h/u/d (x 1/1)\nread+modify+delete /h/u/d/e (x 1/1)\n");
}

static void names_of_programs_are_names(void **state)
{
	struct fixture fx = {0};
	char name[64];

	(void)state;
	need(&fx, "/h/u/a", READ, "a, b\nwrite /");
	expect(&fx, "read /h/u/a (a__b\\nwrite_/ 1/1)\n");
	for (int i = 0; i < 50; i++) {
		snprintf(name, sizeof name, "program%d", i % 25);
		need(&fx, "/h/u/a", READ, name);
	}
	assert_int_equal(SB_OK, sb_learned_group(&fx.needs, may_open, &fx, NULL));
	assert_int_equal(1, fx.needs.count);
	assert_non_null(strstr(fx.needs.all[0].programs, "program0, program1, "));
	assert_non_null(strstr(fx.needs.all[0].programs, ", ..."));
	sb_learned_done(&fx.needs);
}

/* --- whatever is needed -------------------------------------------------------------------- */

/* What the rules allow at path: the one that is nearest says. */
static unsigned allowed_at(const struct sb_learned *needs, const char *path)
{
	const struct sb_need *nearest = NULL;

	for (size_t i = 0; i < needs->count; i++)
		if (sb_path_within(needs->all[i].path, path) &&
		    (!nearest || strlen(needs->all[i].path) > strlen(nearest->path)))
			nearest = &needs->all[i];
	return nearest ? nearest->ops : 0;
}

static void every_need_is_met(void **state)
{
	static const unsigned kinds[] = {READ, MODIFY, DELETE, WRITE};

	(void)state;
	unit_seed();
	for (int round = 0; round < 400; round++) {
		struct fixture fx = {.closed = {"/h/u", "/h/u/a", "/h", "/"}};
		char paths[60][64];
		unsigned ops[60];
		size_t count = 1 + unit_below(60);

		for (size_t i = 0; i < count; i++) {
			size_t length = (size_t)snprintf(paths[i], sizeof paths[i], "/h/u");

			for (unsigned depth = 1 + unit_below(4); depth; depth--)
				length += (size_t)snprintf(paths[i] + length,
							   sizeof paths[i] - length, "/%c",
							   'a' + (char)unit_below(5));
			ops[i] = kinds[unit_below(4)];
			need(&fx, paths[i], ops[i], "x");
		}
		assert_int_equal(SB_OK, sb_learned_group(&fx.needs, may_open, &fx, NULL));
		for (size_t i = 0; i < count; i++)
			assert_int_equal(ops[i], ops[i] & allowed_at(&fx.needs, paths[i]));
		for (size_t i = 0; i < fx.needs.count; i++) {
			bool wanted = false;

			for (size_t j = 0; j < count; j++)
				wanted |= strcmp(paths[j], fx.needs.all[i].path) == 0;
			/* nothing that was closed, but for what was needed itself */
			for (size_t j = 0; j < 4 && !wanted; j++)
				assert_string_not_equal(fx.closed[j], fx.needs.all[i].path);
			assert_true(i == 0 || sb_path_compare(fx.needs.all[i - 1].path,
							      fx.needs.all[i].path) < 0);
		}
		sb_learned_done(&fx.needs);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(one_path_is_one_rule),
	cmocka_unit_test(a_crowd_is_about_its_directory),
	cmocka_unit_test(a_closed_directory_stays_apart),
	cmocka_unit_test(directories_are_a_crowd_too),
	cmocka_unit_test(what_another_covers_is_left_out),
	cmocka_unit_test(names_of_programs_are_names),
	cmocka_unit_test(every_need_is_met),
};

UNIT_MAIN("learn")
