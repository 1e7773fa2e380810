/* test_session.c - C3: kept answers come back, and only where they mean the same. */
#include "tree.h"

#include <sys/wait.h>

#include "base/buf.h"
#include "config/file.h"
#include "config/place.h"
#include "consent/always.h"
#include "consent/session.h"
#include "consent/session_file.h"
#include "path/path.h"
#include "path/pattern.h"
#include "policy/text.h"

struct fixture {
	char *root;
	char home[PATH_MAX], state_dir[PATH_MAX], docs[PATH_MAX];
	struct sb_grants *grants;
	char warnings[64 * 1024];
};

static int setup(void **state)
{
	struct fixture *fx = calloc(1, sizeof *fx);

	if (!fx || tree_setup((void **)&fx->root) != 0)
		return -1;
	snprintf(fx->home, sizeof fx->home, "%s", in(fx->root, "home"));
	snprintf(fx->state_dir, sizeof fx->state_dir, "%s", in(fx->root, "state"));
	snprintf(fx->docs, sizeof fx->docs, "%s", in(fx->root, "home/docs"));
	make_dir(fx->root, "home");
	make_dir(fx->root, "home/docs");
	make_dir(fx->root, "home/docs/jobs");
	make_file(fx->root, "home/docs/letter");
	fx->grants = sb_grants_new(fx->home);
	*state = fx;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fx = *state;

	sb_grants_free(fx->grants);
	tree_teardown((void **)&fx->root);
	free(fx);
	return 0;
}

static struct sb_session *open_session(struct fixture *fx, const char *name)
{
	struct sb_session *session = NULL;
	struct sb_error err;

	if (sb_session_open(fx->state_dir, name, &session, &err) != SB_OK)
		fail_msg("%s", err.message);
	return session;
}

static struct sb_wish wish_for(const char *path, enum sb_op op)
{
	static char paths[4][PATH_MAX];
	static unsigned next;
	char *copy = paths[next++ % 4], *parent = sb_path_parent(path);
	struct sb_wish wish = {.op = op, .path = copy, .decision = {SB_ASK, NULL}};

	snprintf(copy, PATH_MAX, "%s", path);
	wish.name = strrchr(copy, '/') + 1;
	wish.directory = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(wish.directory >= 0);
	free(parent);
	return wish;
}

static void keep(struct fixture *fx, struct sb_session *session, const char *name, enum sb_op op,
		 enum sb_answer answer)
{
	struct sb_wish wish = wish_for(in(fx->root, name), op);
	struct sb_error err;

	if (sb_session_keep(session, &wish, answer, &err) != SB_OK)
		fail_msg("%s", err.message);
	close(wish.directory);
}

static void warned(void *context, const char *text)
{
	struct fixture *fx = context;
	size_t used = strlen(fx->warnings);

	snprintf(fx->warnings + used, sizeof fx->warnings - used, "%s\n", text);
}

static void add(struct sb_policy *policy, enum sb_tier tier, const struct sb_access *access,
		const char *pattern)
{
	struct sb_rule rule = {
		.tier = tier, .access = *access, .pattern = pattern, .origin = "the user"};

	assert_int_equal(sb_policy_add(policy, &rule, NULL), SB_OK);
}

/* The session on top of what is in policy already; sealed. */
static struct sb_policy *apply(struct fixture *fx, const char *name, struct sb_policy *policy)
{
	struct sb_session *session = open_session(fx, name);
	struct sb_error err;

	fx->warnings[0] = '\0';
	if (sb_session_apply(session, policy, fx->home, warned, fx, &err) != SB_OK)
		fail_msg("%s", err.message);
	assert_int_equal(sb_policy_seal(policy, NULL), SB_OK);
	sb_session_free(session);
	return policy;
}

static enum sb_verdict decide(struct fixture *fx, const struct sb_policy *policy, enum sb_op op,
			      const char *name)
{
	return sb_decide(policy, op, in(fx->root, name)).verdict;
}

static void answers_come_back(void **state)
{
	struct fixture *fx = *state;
	struct sb_session *session = open_session(fx, "work");
	struct sb_policy *policy;

	assert_int_not_equal(access(fx->state_dir, F_OK), 0); /* nothing to keep, nothing made */
	keep(fx, session, "home/docs/x", SB_CREATE, SB_ANSWER_ONCE);
	keep(fx, session, "home/docs/x", SB_CREATE, SB_ANSWER_ALWAYS);
	assert_int_not_equal(access(fx->state_dir, F_OK), 0);
	keep(fx, session, "home/docs/x", SB_CREATE, SB_ANSWER_DIRECTORY);
	keep(fx, session, "home/docs/letter", SB_MODIFY, SB_ANSWER_DENY);
	sb_session_free(session);

	policy = apply(fx, "work", sb_policy_new());
	assert_string_equal(fx->warnings, "");
	assert_int_equal(decide(fx, policy, SB_CREATE, "home/docs/new"), SB_ALLOW);
	assert_int_equal(decide(fx, policy, SB_MODIFY, "home/docs/letter"), SB_DENY);
	assert_int_equal(decide(fx, policy, SB_READ, "home/docs/letter"), SB_ALLOW);
	assert_int_equal(decide(fx, policy, SB_CREATE, "home/new"), SB_ASK);
	assert_string_equal(sb_decide(policy, SB_CREATE, fx->docs).rule->origin, "session work");
	assert_int_equal(sb_decide(policy, SB_CREATE, fx->docs).rule->tier, SB_TIER_SESSION);
	sb_policy_free(policy);

	/* another name is another session */
	policy = apply(fx, "other", sb_policy_new());
	assert_int_equal(decide(fx, policy, SB_CREATE, "home/docs/new"), SB_ASK);
	sb_policy_free(policy);
}

static void dropped(struct fixture *fx, const char *reason)
{
	struct sb_policy *policy = apply(fx, "s", sb_policy_new());

	assert_int_equal(decide(fx, policy, SB_CREATE, "home/docs/x"), SB_ASK);
	if (!strstr(fx->warnings, reason))
		fail_msg("no '%s' in '%s'", reason, fx->warnings);
	sb_policy_free(policy);
}

static void a_grant_is_for_that_directory_alone(void **state)
{
	struct fixture *fx = *state;
	struct sb_session *session = open_session(fx, "s");

	keep(fx, session, "home/docs/x", SB_CREATE, SB_ANSWER_DIRECTORY);
	sb_session_free(session);
	assert_int_equal(rename(fx->docs, in(fx->home, "away")), 0);
	dropped(fx, "it is not there");
	make_link(fx->home, "docs", "away");
	dropped(fx, "a link leads there now");
	assert_int_equal(unlink(fx->docs), 0);
	make_file(fx->home, "docs");
	dropped(fx, "it is no directory");
	assert_int_equal(unlink(fx->docs), 0);
	make_dir(fx->home, "docs");
	dropped(fx, "it is another directory now");
	/* back in its place, it is the one that was meant */
	assert_int_equal(rmdir(fx->docs), 0);
	assert_int_equal(rename(in(fx->home, "away"), fx->docs), 0);
	sb_policy_free(apply(fx, "s", sb_policy_new()));
	assert_string_equal(fx->warnings, "");
}

/* Directories made and removed until one gets the same inode number again, if ever. */
static void a_reused_inode_is_another_directory(void **state)
{
	struct fixture *fx = *state;
	struct sb_kept_file first, again;
	int fd = open(fx->docs, O_PATH | O_CLOEXEC);

	first = sb_kept_file_of(fd);
	close(fd);
	assert_true(sb_kept_same(&first, &first));
	again = first;
	if (first.has_birth) {
		again.device++; /* another boot */
		assert_true(sb_kept_same(&first, &again));
		again.birth_ns ^= 1;
		assert_false(sb_kept_same(&first, &again));
	} else {
		again.device++;
		assert_false(sb_kept_same(&first, &again));
	}
	again = first;
	again.inode++;
	assert_false(sb_kept_same(&first, &again));
	again = (struct sb_kept_file){0};
	assert_false(sb_kept_same(&again, &again));
}

static void a_grant_is_never_stronger_than_a_rule(void **state)
{
	struct fixture *fx = *state;
	struct sb_session *session = open_session(fx, "s");
	struct sb_policy *policy;

	keep(fx, session, "home/docs/x", SB_CREATE, SB_ANSWER_DIRECTORY);

	/* a pattern that reaches into it and would lose against it */
	policy = sb_policy_new();
	add(policy, SB_TIER_FLAG, &sb_access_deny, "/**/.env");
	policy = apply(fx, "s", policy);
	assert_int_equal(decide(fx, policy, SB_READ, "home/docs/.env"), SB_DENY);
	assert_non_null(strstr(fx->warnings, "the user says otherwise"));
	sb_policy_free(policy);
	/* a rule written since */
	policy = sb_policy_new();
	add(policy, SB_TIER_GLOBAL, &sb_access_read, fx->home);
	policy = apply(fx, "s", policy);
	assert_int_equal(decide(fx, policy, SB_MODIFY, "home/docs/letter"), SB_DENY);
	sb_policy_free(policy);
	/* the administrator's question is not the user's to answer for good */
	policy = sb_policy_new();
	add(policy, SB_TIER_SYSTEM, &sb_access_ask, fx->home);
	policy = apply(fx, "s", policy);
	assert_int_equal(decide(fx, policy, SB_MODIFY, "home/docs/letter"), SB_ASK);
	sb_policy_free(policy);
	/* The user's own question is what was answered; a narrower rule holds by itself. */
	policy = sb_policy_new();
	add(policy, SB_TIER_GLOBAL, &sb_access_ask, fx->home);
	add(policy, SB_TIER_GLOBAL, &sb_access_deny, in(fx->root, "home/docs/jobs"));
	policy = apply(fx, "s", policy);
	assert_string_equal(fx->warnings, "");
	assert_int_equal(decide(fx, policy, SB_MODIFY, "home/docs/letter"), SB_ALLOW);
	assert_int_equal(decide(fx, policy, SB_MODIFY, "home/docs/jobs/x"), SB_DENY);
	sb_policy_free(policy);

	/* A denial of changes does not open for reading. */
	keep(fx, session, "home/docs/letter", SB_MODIFY, SB_ANSWER_DENY);
	sb_session_free(session);
	policy = sb_policy_new();
	add(policy, SB_TIER_GLOBAL, &sb_access_deny, "/**/letter");
	policy = apply(fx, "s", policy);
	assert_int_equal(decide(fx, policy, SB_READ, "home/docs/letter"), SB_DENY);
	sb_policy_free(policy);
	policy = sb_policy_new();
	add(policy, SB_TIER_GLOBAL, &sb_access_deny, fx->docs);
	policy = apply(fx, "s", policy);
	assert_int_equal(decide(fx, policy, SB_READ, "home/docs/letter"), SB_DENY);
	sb_policy_free(policy);
}

static void names_are_checked(void **state)
{
	static const char *const good[] = {"a", "work", "2024-01", "a.b_c-d", "A"};
	static const char *const bad[] = {"",    ".",   "..",   "a/b",         ".hidden", "-x",
					  "a b", "a\n", "\xff", "/etc/passwd", "~"};
	struct fixture *fx = *state;
	char longest[SB_SESSION_NAME_MAX + 2];
	struct sb_session *session;

	memset(longest, 'a', sizeof longest);
	longest[SB_SESSION_NAME_MAX] = '\0';
	assert_int_equal(sb_session_check_name(longest, NULL), SB_OK);
	longest[SB_SESSION_NAME_MAX] = 'a';
	longest[SB_SESSION_NAME_MAX + 1] = '\0';
	assert_int_equal(sb_session_check_name(longest, NULL), SB_E_INVALID);
	for (size_t i = 0; i < COUNT(good); i++)
		assert_int_equal(sb_session_check_name(good[i], NULL), SB_OK);
	for (size_t i = 0; i < COUNT(bad); i++) {
		assert_int_equal(sb_session_check_name(bad[i], NULL), SB_E_INVALID);
		assert_int_equal(sb_session_open(fx->state_dir, bad[i], &session, NULL),
				 SB_E_INVALID);
		assert_int_equal(sb_session_forget(fx->state_dir, bad[i], NULL), SB_E_INVALID);
	}
}

static int note(void *context, const char *name, long answers, time_t changed, struct sb_error *err)
{
	char *text = context;
	size_t used = strlen(text);

	(void)err;
	assert_true(changed > 0);
	snprintf(text + used, 1000 - used, "%s:%ld ", name, answers);
	return SB_OK;
}

static void sessions_are_listed_and_forgotten(void **state)
{
	struct fixture *fx = *state;
	char seen[1000] = "";

	assert_int_equal(sb_session_list(fx->state_dir, note, seen, NULL), SB_OK);
	assert_string_equal(seen, "");
	assert_int_equal(sb_session_forget(fx->state_dir, "b", NULL), SB_E_MISSING);
	assert_int_not_equal(access(fx->state_dir, F_OK), 0);
	for (const char *name = "bca"; *name; name++) {
		struct sb_session *session = open_session(fx, (char[]){*name, '\0'});

		keep(fx, session, "home/docs/x", SB_CREATE, SB_ANSWER_DIRECTORY);
		keep(fx, session, "home/docs/x", SB_CREATE, SB_ANSWER_DENY);
		keep(fx, session, "home/docs/x", SB_CREATE, SB_ANSWER_DENY);
		sb_session_free(session);
	}
	make_file(fx->state_dir, "sessions/.hidden");
	make_dir(fx->state_dir, "sessions/dir");
	assert_int_equal(sb_session_list(fx->state_dir, note, seen, NULL), SB_OK);
	assert_string_equal(seen, "a:2 b:2 c:2 ");
	assert_int_equal(sb_session_forget(fx->state_dir, "b", NULL), SB_OK);
	assert_int_equal(sb_session_forget(fx->state_dir, "b", NULL), SB_E_MISSING);
	seen[0] = '\0';
	assert_int_equal(sb_session_list(fx->state_dir, note, seen, NULL), SB_OK);
	assert_string_equal(seen, "a:2 c:2 ");
}

/* Two runs of one name: every answer of both is there in the end. */
static void runs_of_one_name_add_up(void **state)
{
	struct fixture *fx = *state;
	struct sb_session *session;
	char seen[1000] = "";

	for (int child = 0; child < 4; child++) {
		if (fork() == 0) {
			session = open_session(fx, "s");
			for (int i = 0; i < 10; i++) {
				char name[64];

				snprintf(name, sizeof name, "home/docs/f%d-%d", child, i);
				keep(fx, session, name, SB_CREATE, SB_ANSWER_DENY);
			}
			_exit(0);
		}
	}
	for (int child = 0, status; child < 4; child++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(sb_session_list(fx->state_dir, note, seen, NULL), SB_OK);
	assert_string_equal(seen, "s:40 ");
}

static void a_damaged_file_starts_nothing(void **state)
{
	static const char *const bad[] = {
		"include /etc/passwd\n",
		"network on\n",
		"write relative\n",
		"write /a/*\n",
		"gibberish here\n",
		"#@ what\nwrite /a",
		"#@\n",
		"#@ 1 2\n",
		"#@ 1 2 3.9999999999\n",
	};
	struct fixture *fx = *state;
	const char *file = in(fx->state_dir, "sessions/s");

	make_dir(fx->root, "state");
	make_dir(fx->root, "state/sessions");
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct sb_session *session;
		struct sb_error err;
		FILE *stream = fopen(file, "w");

		assert_non_null(stream);
		fprintf(stream, "# fine\n%s", bad[i]);
		fclose(stream);
		assert_int_equal(sb_session_open(fx->state_dir, "s", &session, &err), SB_E_INVALID);
		if (!strstr(err.message, "sessions/s' line 2"))
			fail_msg("%s: %s", bad[i], err.message);
	}
	assert_int_equal(unlink(file), 0);
}

/* What stands there without its file is no grant, whoever wrote it; a denial holds. */
static void a_grant_needs_its_file(void **state)
{
	struct fixture *fx = *state;
	struct sb_policy *policy;
	FILE *stream;

	make_dir(fx->root, "state");
	make_dir(fx->root, "state/sessions");
	stream = fopen(in(fx->state_dir, "sessions/s"), "w");
	assert_non_null(stream);
	fprintf(stream, "%s\n#@ -\nread %s/letter\nwrite /\n", fx->docs, fx->docs);
	fclose(stream);
	policy = apply(fx, "s", sb_policy_new());
	assert_int_equal(decide(fx, policy, SB_CREATE, "home/docs/x"), SB_ASK);
	assert_int_equal(decide(fx, policy, SB_MODIFY, "home/docs/letter"), SB_DENY);
	assert_non_null(strstr(fx->warnings, "it holds the home directory"));
	sb_policy_free(policy);
}

static void strange_names_survive(void **state)
{
	static const char *const names[] = {"a b",  "new\nline", "\x1b[31m", "*", "[x]", "#",
					    "\xff", "\\",        "\"",       "'", "~"};
	struct fixture *fx = *state;
	struct sb_session *session = open_session(fx, "s");
	struct sb_policy *policy;

	for (size_t i = 0; i < COUNT(names); i++) {
		char name[PATH_MAX];

		snprintf(name, sizeof name, "home/%s", names[i]);
		make_dir(fx->root, name);
		snprintf(name, sizeof name, "home/%s/x", names[i]);
		keep(fx, session, name, SB_CREATE, SB_ANSWER_DIRECTORY);
	}
	sb_session_free(session);
	policy = apply(fx, "s", sb_policy_new());
	assert_string_equal(fx->warnings, "");
	for (size_t i = 0; i < COUNT(names); i++) {
		char name[PATH_MAX];

		snprintf(name, sizeof name, "home/%s/y", names[i]);
		assert_int_equal(decide(fx, policy, SB_CREATE, name), SB_ALLOW);
	}
	assert_int_equal(decide(fx, policy, SB_CREATE, "home/docs/y"), SB_ASK);
	sb_policy_free(policy);
}

/* --- always ------------------------------------------------------------------ */

static void always_is_a_rule_of_this_directory(void **state)
{
	struct fixture *fx = *state;
	char config[PATH_MAX], cwd[PATH_MAX];
	struct sb_home home = {.home = fx->home, .cwd = cwd, .config_dir = config};
	SB_AUTO_BUF struct sb_buf text = SB_BUF(SB_CONFIG_LIMIT);
	struct sb_policy *policy = sb_policy_new();
	const struct sb_always always = {.home = &home, .policy = policy, .grants = fx->grants};
	struct sb_wish wish;
	char *file, *rule;
	bool found;

	snprintf(config, sizeof config, "%s", in(fx->root, "config"));
	snprintf(cwd, sizeof cwd, "%s", in(fx->root, "home/project"));
	make_dir(fx->root, "home/project");
	make_dir(fx->root, "home/odd*name");
	wish = wish_for(in(fx->root, "home/odd*name/x"), SB_CREATE);
	for (int twice = 0; twice < 2; twice++) {
		assert_int_equal(sb_always_write(&always, &wish, &file, &rule, NULL), SB_OK);
		assert_non_null(strstr(rule, "odd\\*name"));
		free(rule);
		assert_int_equal(sb_config_read(file, &text, &found, NULL), SB_OK);
		free(file);
	}
	assert_true(found);
	/* read twice, written once */
	assert_int_equal(text.length % 2, 0);
	assert_memory_equal(text.data, text.data + text.length / 2, text.length / 2);
	assert_non_null(strstr(text.data, "/home/odd\\*name\n"));
	close(wish.directory);

	/* not for the home directory, nor for what took the directory's place */
	wish = wish_for(in(fx->root, "home/x"), SB_CREATE);
	assert_int_equal(sb_always_write(&always, &wish, &file, &rule, NULL), SB_E_REFUSED);
	close(wish.directory);
	wish = wish_for(in(fx->root, "home/docs/x"), SB_CREATE);
	assert_int_equal(rename(fx->docs, in(fx->home, "away")), 0);
	assert_int_equal(sb_always_write(&always, &wish, &file, &rule, NULL), SB_E_REFUSED);
	make_link(fx->home, "docs", "away");
	assert_int_equal(sb_always_write(&always, &wish, &file, &rule, NULL), SB_E_REFUSED);
	close(wish.directory);

	/* nor where it would beat a rule of the user's that is broader */
	wish = wish_for(in(fx->root, "home/away/x"), SB_CREATE);
	add(policy, SB_TIER_GLOBAL, &sb_access_deny, "/**/.env");
	assert_int_equal(sb_always_write(&always, &wish, &file, &rule, NULL), SB_E_CONFLICT);
	close(wish.directory);
	sb_policy_free(policy);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

static const struct CMUnitTest tests[] = {
	TEST(answers_come_back),
	TEST(a_grant_is_for_that_directory_alone),
	TEST(a_reused_inode_is_another_directory),
	TEST(a_grant_is_never_stronger_than_a_rule),
	TEST(names_are_checked),
	TEST(sessions_are_listed_and_forgotten),
	TEST(runs_of_one_name_add_up),
	TEST(a_damaged_file_starts_nothing),
	TEST(a_grant_needs_its_file),
	TEST(strange_names_survive),
	TEST(always_is_a_rule_of_this_directory),
};

UNIT_MAIN("session")
