/* Who is asked, what an answer does, what is recorded: F1 (roots bound reading), F7, P8, C. */
#include "files_view.h"

static void test_F1_reading_outside_asks(void **state)
{
	struct fixture *fx = *state;

	fx_assert_unreachable(fx, at(fx, "outside/secret.txt"));
	fx_answers(fx, SB_FILES_ANSWER_NO);
	assert_null(fx_text(fx, "../outside/secret.txt"));
	assert_int_equal(fx->err.code, SB_FILES_DENIED);
	assert_true(fx->err.violation);
	assert_int_equal(fx->asked, 1);
	assert_int_equal(fx->op, SB_READ);
	assert_int_equal(fx->why, SB_FILES_WHY_OUTSIDE);
	assert_string_equal(fx->path, at(fx, "outside/secret.txt"));
	assert_string_equal(fx->directory, at(fx, "outside"));
	fx_answers(fx, SB_FILES_ANSWER_YES);
	assert_string_equal(fx_text(fx, "../outside/secret.txt"), SECRET);
	assert_fine(fx_write(fx, "../outside/secret.txt", "changed\n"));
	assert_int_equal(fx->op, SB_MODIFY);
	assert_string_equal(fx_get(fx, "outside/secret.txt"), "changed\n");
	/* inside nobody is asked */
	fx->asked = 0;
	assert_string_equal(fx_text(fx, "a.txt"), "one\ntwo\nthree\n");
	assert_fine(fx_write(fx, "a.txt", "x"));
	assert_int_equal(fx->asked, 0);
}

static void test_F1_rules_of_the_user_reach_outside(void **state)
{
	struct fixture *fx = *state;

	assert_string_equal(fx_text(fx, at(fx, "granted/g.txt")), "granted\n");
	assert_fine(fx_write(fx, at(fx, "granted/new"), "x"));
	assert_int_equal(fx->recorded, 0);
}

static void test_C1_an_answer_later(void **state)
{
	struct fixture *fx = *state;
	struct sb_files_text text;

	fx_answers(fx, SB_FILES_ANSWER_LATER);
	assert_code(fx_read(fx, "../outside/secret.txt", &text), SB_FILES_NEEDS_CONSENT);
	assert_false(fx->err.violation);
	assert_int_equal(fx->err.op, SB_READ);
	assert_int_equal(fx->err.why, SB_FILES_WHY_OUTSIDE);
	assert_string_equal(fx->err.path, at(fx, "outside/secret.txt"));
	assert_int_equal(fx->recorded, 0);
}

static void test_C4_what_a_rule_denies_is_not_asked(void **state)
{
	struct fixture *fx = *state;

	fx_answers(fx, SB_FILES_ANSWER_YES);
	assert_null(fx_text(fx, "secret/password"));
	assert_int_equal(fx->err.code, SB_FILES_BLOCKED);
	assert_code(fx_write(fx, "secret/new", "x"), SB_FILES_BLOCKED);
	assert_code(fx_write(fx, "vendor/lib.c", "x"), SB_FILES_READ_ONLY);
	assert_code(fx_write(fx, "src/x.key", "x"), SB_FILES_BLOCKED);
	assert_code(sb_files_delete(fx->view, NULL, "vendor", true, &fx->err), SB_FILES_READ_ONLY);
	assert_code(sb_files_move(fx->view, NULL, "a.txt", "vendor/a", false, &fx->err),
		    SB_FILES_READ_ONLY);
	assert_code(sb_files_move(fx->view, NULL, "vendor/lib.c", "l", false, &fx->err),
		    SB_FILES_READ_ONLY);
	assert_int_equal(fx->asked, 0);
	assert_string_equal(fx_get(fx, "project/vendor/lib.c"), "vendor\n");
}

static void test_C1_an_ask_rule_asks(void **state)
{
	struct fixture *fx = *state;

	assert_string_equal(fx_text(fx, "notes/n.txt"), "note\n");
	assert_code(fx_write(fx, "notes/n.txt", "x"), SB_FILES_NEEDS_CONSENT);
	assert_true(fx->err.violation);
	fx_answers(fx, SB_FILES_ANSWER_YES);
	assert_fine(fx_write(fx, "notes/n.txt", "yes\n"));
	assert_int_equal(fx->asked, 1);
	assert_int_equal(fx->why, SB_FILES_WHY_RULE);
	assert_string_equal(fx->content, "yes\n");
	assert_string_equal(fx_get(fx, "project/notes/n.txt"), "yes\n");
}

/* One question for a file in directories that are still to be made; none made after a no. */
static void test_C1_parents_are_one_question(void **state)
{
	struct fixture *fx = *state;
	char path[PATH_MAX];
	struct sb_files_write_request request = {
		.size = sizeof request, .path = path, .data = "x", .length = 1, .parents = true};
	struct sb_files_change change;
	bool exists;

	snprintf(path, sizeof path, "%s", at(fx, "outside/p/q/new"));
	fx_answers(fx, SB_FILES_ANSWER_NO);
	assert_code(sb_files_write(fx->view, NULL, &request, &change, &fx->err), SB_FILES_DENIED);
	fx_answers(fx, SB_FILES_ANSWER_YES);
	assert_fine(sb_files_exists(fx->view, NULL, at(fx, "outside/p"), &exists, &fx->err));
	assert_false(exists);
	fx->asked = 0;
	assert_fine(sb_files_write(fx->view, NULL, &request, &change, &fx->err));
	assert_int_equal(fx->asked, 1);
	assert_string_equal(fx->path, path);
	assert_string_equal(fx_get(fx, "outside/p/q/new"), "x");
}

static void test_F7_violations_are_recorded(void **state)
{
	struct fixture *fx = *state;
	struct sb_files_caller caller = {.size = sizeof caller, .tool = "read_file"};
	struct sb_files_read_request request = {.size = sizeof request,
						.path = "../outside/secret.txt"};
	struct sb_files_text text;

	assert_code(sb_files_read(fx->view, &caller, &request, &text, &fx->err),
		    SB_FILES_PATH_OUTSIDE_PROJECT);
	assert_int_equal(fx->recorded, 1);
	assert_int_equal(fx->last.call, SB_FILES_READ);
	assert_int_equal(fx->last.op, SB_READ);
	assert_int_equal(fx->last.verdict, SB_ASK);
	assert_false(fx->last.done);
	assert_string_equal(fx->last.root, at(fx, "project"));
	assert_string_equal(fx->tool, "read_file");
	assert_string_equal(fx->path, at(fx, "outside/secret.txt"));
	request.path = "secret/password";
	assert_code(sb_files_read(fx->view, &caller, &request, &text, &fx->err), SB_FILES_BLOCKED);
	assert_int_equal(fx->recorded, 2);
	assert_int_equal(fx->last.verdict, SB_DENY);
	assert_non_null(fx->last.root);
	request.path = "none";
	assert_code(sb_files_read(fx->view, &caller, &request, &text, &fx->err),
		    SB_FILES_NOT_FOUND);
	assert_int_equal(fx->recorded, 2);
	fx_answers(fx, SB_FILES_ANSWER_YES);
	request.path = "../outside/secret.txt";
	assert_fine(sb_files_read(fx->view, &caller, &request, &text, &fx->err));
	sb_files_text_done(&text);
	assert_int_equal(fx->recorded, 3);
	assert_true(fx->last.done);
}

static void test_P8_git_ignored_files_ask(void **state)
{
	struct fixture *fx = *state;
	struct sb_files_change change;

	fx_put(fx, "project/.gitignore", "*.log\nbuild/\n!kept.log\n");
	fx_put(fx, "project/x.log", "log\n");
	fx_put(fx, "project/kept.log", "log\n");
	fx_dir(fx, "project/build");
	fx_put(fx, "project/build/out", "out\n");
	assert_string_equal(fx_text(fx, "x.log"), "log\n");
	assert_code(fx_write(fx, "x.log", "changed"), SB_FILES_NEEDS_CONSENT);
	assert_code(fx_edit(fx, "build/out", "out", "x", &change), SB_FILES_NEEDS_CONSENT);
	assert_code(sb_files_delete(fx->view, NULL, "build", true, &fx->err),
		    SB_FILES_NEEDS_CONSENT);
	assert_code(sb_files_move(fx->view, NULL, "x.log", "y", false, &fx->err),
		    SB_FILES_NEEDS_CONSENT);
	assert_code(sb_files_move(fx->view, NULL, "a.txt", "x.log", true, &fx->err),
		    SB_FILES_NEEDS_CONSENT);
	assert_fine(fx_write(fx, "kept.log", "changed"));
	assert_fine(fx_write(fx, "new.log", "nothing is lost"));
	fx_answers(fx, SB_FILES_ANSWER_YES);
	assert_fine(fx_write(fx, "x.log", "changed\n"));
	assert_int_equal(fx->why, SB_FILES_WHY_IGNORED);
	fx->asked = 0;
	assert_fine(sb_files_delete(fx->view, NULL, "build", true, &fx->err));
	assert_int_equal(fx->asked, 1); /* for the whole */
	fx_open(fx, (struct sb_files_options){.ignored = SB_FILES_ALLOW});
	assert_fine(fx_write(fx, "x.log", "again\n"));
}

/* Whoever answers takes time; what was shown must still be what is changed. */
static enum sb_files_answer swap_and_say_yes(void *context,
					     const struct sb_files_question *question)
{
	struct fixture *fx = context;

	(void)question;
	assert_int_equal(rename(at(fx, "project/notes"), at(fx, "project/notes2")), 0);
	assert_int_equal(symlink("../outside", at(fx, "project/notes")), 0);
	return SB_FILES_ANSWER_YES;
}

static void test_F1_a_swap_during_the_question(void **state)
{
	struct fixture *fx = *state;

	fx_open(fx, (struct sb_files_options){.consent = swap_and_say_yes});
	assert_code(fx_write(fx, "notes/secret.txt", "x"), SB_FILES_CHANGED);
	assert_string_equal(fx_get(fx, "outside/secret.txt"), SECRET);
	assert_null(fx_get(fx, "project/notes2/secret.txt"));
}

static void test_P3_guarded_names_ask(void **state)
{
	struct fixture *fx = *state;

	fx_dir(fx, "project/.git");
	fx_dir(fx, "project/.git/hooks");
	fx_dir(fx, "project/.git/objects");
	fx_dir(fx, "project/.git/refs");
	fx_put(fx, "project/.git/HEAD", "ref: refs/heads/main\n");
	fx_put(fx, "project/.git/config", "[core]\n\tbare = false\n");
	fx_put(fx, "project/hook", "#!/bin/sh\nevil\n");
	assert_code(fx_write(fx, ".git/hooks/pre-commit", "#!/bin/sh\n"), SB_FILES_NEEDS_CONSENT);
	assert_code(sb_files_move(fx->view, NULL, "hook", ".git/hooks/pre-commit", false, &fx->err),
		    SB_FILES_NEEDS_CONSENT);
	assert_code(sb_files_copy(fx->view, NULL, "hook", ".git/hooks/pre-commit", 0, &fx->err),
		    SB_FILES_NEEDS_CONSENT);
	assert_code(fx_write(fx, ".git/config", "[core]\n\tpager = evil\n"),
		    SB_FILES_NEEDS_CONSENT);
	assert_code(fx_write(fx, ".envrc", "evil\n"), SB_FILES_NEEDS_CONSENT);
	assert_null(fx_get(fx, "project/.git/hooks/pre-commit"));
	/* harmless neighbours */
	assert_fine(fx_write(fx, ".git/config", "[core]\n\tbare = false\n\tignorecase = true\n"));
	assert_fine(fx_write(fx, "src/pre-commit", "x\n"));
	assert_fine(fx_write(fx, ".git/description", "x\n"));
	fx_answers(fx, SB_FILES_ANSWER_YES);
	assert_fine(
		sb_files_move(fx->view, NULL, "hook", ".git/hooks/pre-commit", false, &fx->err));
	assert_int_equal(fx->why, SB_FILES_WHY_GUARDED);
	assert_string_equal(fx->directory, "");
	assert_string_equal(fx_get(fx, "project/.git/hooks/pre-commit"), "#!/bin/sh\nevil\n");
}

/* Asked once for each name, before anything is made; and again only if the bytes are others. */
static void test_P3_a_tree_is_asked_about_before_it_is_copied(void **state)
{
	struct fixture *fx = *state;

	fx_dir(fx, "project/tree");
	fx_dir(fx, "project/tree/.vscode");
	fx_put(fx, "project/tree/.vscode/tasks.json", "{}\n");
	fx_put(fx, "project/tree/.envrc", "evil\n");
	fx_put(fx, "project/tree/aaa", "plain\n");
	assert_code(sb_files_copy(fx->view, NULL, "tree", "copy", SB_FILES_RECURSIVE, &fx->err),
		    SB_FILES_NEEDS_CONSENT);
	assert_int_equal(access(at(fx, "project/copy"), F_OK), -1);
	fx_answers(fx, SB_FILES_ANSWER_YES);
	assert_fine(sb_files_copy(fx->view, NULL, "tree", "copy", SB_FILES_RECURSIVE, &fx->err));
	assert_int_equal(fx->asked, 2);
	assert_string_equal(fx_get(fx, "project/copy/.envrc"), "evil\n");
	assert_string_equal(fx_get(fx, "project/copy/.vscode/tasks.json"), "{}\n");
}

/* A command that could write there would choose what lands under another name. */
/* A run may put something into it before it has its name, and no tool holds it meanwhile. */
static void test_P3_a_directory_that_gets_a_name_asks(void **state)
{
	struct fixture *fx = *state;

	fx_dir(fx, "project/prepared");
	fx_put(fx, "project/prepared/notes.txt", "harmless\n");
	assert_code(sb_files_move(fx->view, NULL, "prepared", ".vscode", false, &fx->err),
		    SB_FILES_NEEDS_CONSENT);
	assert_int_equal(fx->err.why, SB_FILES_WHY_GUARDED);
	assert_fine(sb_files_move(fx->view, NULL, "prepared", "vscode", false, &fx->err));
	assert_code(sb_files_move(fx->view, NULL, "vscode", ".git", false, &fx->err),
		    SB_FILES_NEEDS_CONSENT);
}

static void test_P3_temporary_names_ask(void **state)
{
	struct fixture *fx = *state;

	assert_code(fx_write(fx, "src/.0.sandbash-write", "x"), SB_FILES_NEEDS_CONSENT);
	assert_int_equal(fx->err.why, SB_FILES_WHY_GUARDED);
	assert_code(sb_files_move(fx->view, NULL, "a.txt", ".1.sandbash-write", false, &fx->err),
		    SB_FILES_NEEDS_CONSENT);
	assert_fine(fx_write(fx, "src/.0.sandbash-writer", "x"));
	assert_null(fx_get(fx, "project/src/.0.sandbash-write"));
}

static void test_F6_check_asks_nobody(void **state)
{
	struct fixture *fx = *state;
	enum sb_verdict verdict;
	bool checked;

	fx_answers(fx, SB_FILES_ANSWER_YES);
	assert_fine(sb_files_check(fx->view, SB_READ, "a.txt", &verdict, &checked, &fx->err));
	assert_int_equal(verdict, SB_ALLOW);
	assert_fine(sb_files_check(fx->view, SB_READ, "../outside/secret.txt", &verdict, &checked,
				   &fx->err));
	assert_int_equal(verdict, SB_ASK);
	assert_fine(sb_files_check(fx->view, SB_CREATE, "vendor/x", &verdict, &checked, &fx->err));
	assert_int_equal(verdict, SB_DENY);
	assert_int_equal(fx->asked + fx->recorded, 0);
}

static void test_P1_modes(void **state)
{
	struct fixture *fx = *state;
	const char *roots[] = {at(fx, "project"), NULL};
	struct sb_files_options options = {.size = sizeof options, .backend = fx->backend};
	struct sb_policy *policy = sb_policy_new();

	sb_policy_set(policy, SB_SETTING_MODE, SB_MODE_READ_ONLY);
	fx_rule(policy, &sb_access_write, SB_TIER_BUILTIN, at(fx, "project"));
	assert_int_equal(sb_policy_seal(policy, NULL), SB_OK);
	sb_files_close(fx->view);
	assert_fine(sb_files_open(policy, roots, &options, &fx->view, &fx->err));
	assert_string_equal(fx_text(fx, "a.txt"), "one\ntwo\nthree\n");
	assert_code(fx_write(fx, "a.txt", "x"), SB_FILES_READ_ONLY);
	assert_code(fx_write(fx, "new", "x"), SB_FILES_READ_ONLY);
	assert_code(sb_files_delete(fx->view, NULL, "a.txt", false, &fx->err), SB_FILES_READ_ONLY);
	sb_files_close(fx->view);
	fx->view = NULL;
	sb_policy_free(policy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_BOTH(test_F1_reading_outside_asks),
		ON_BOTH(test_F1_rules_of_the_user_reach_outside),
		ON_BOTH(test_C1_an_answer_later),
		ON_BOTH(test_C4_what_a_rule_denies_is_not_asked),
		ON_BOTH(test_C1_an_ask_rule_asks),
		ON_BOTH(test_C1_parents_are_one_question),
		ON_BOTH(test_F7_violations_are_recorded),
		ON_BOTH(test_P8_git_ignored_files_ask),
		ON_DISK(test_F1_a_swap_during_the_question),
		ON_DISK(test_P3_guarded_names_ask),
		ON_DISK(test_P3_a_tree_is_asked_about_before_it_is_copied),
		ON_DISK(test_P3_a_directory_that_gets_a_name_asks),
		ON_DISK(test_P3_temporary_names_ask),
		ON_BOTH(test_F6_check_asks_nobody),
		ON_BOTH(test_P1_modes),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("files_gate", tests, NULL, NULL);
}
