/* test_summary.c - C4: every refusal says what, why, and what would allow it. */
#include "tree.h"

#include <sys/wait.h>

#include "base/buf.h"
#include "base/escape.h"
#include "consent/summary.h"
#include "policy/text.h"

struct fixture {
	char *root;
	char home[PATH_MAX];
	struct sb_summary *summary;
	struct sb_buf text;
};

static int setup(void **state)
{
	struct fixture *fx = calloc(1, sizeof *fx);

	if (!fx || tree_setup((void **)&fx->root) != 0)
		return -1;
	snprintf(fx->home, sizeof fx->home, "%s", in(fx->root, "home"));
	make_dir(fx->root, "home");
	make_dir(fx->root, "home/docs");
	make_dir(fx->root, "home/.npm");
	make_file(fx->root, "home/docs/letter");
	fx->summary = sb_summary_new(fx->home);
	sb_buf_init(&fx->text, 1024 * 1024);
	*state = fx;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fx = *state;

	sb_summary_free(fx->summary);
	sb_buf_done(&fx->text);
	tree_teardown((void **)&fx->root);
	free(fx);
	return 0;
}

static void refuse(struct fixture *fx, enum sb_op op, const char *name, const struct sb_rule *rule)
{
	struct sb_refusal refusal = {
		.op = op, .path = in(fx->root, name), .program = "prog", .rule = rule};

	sb_summary_add(fx->summary, &refusal);
}

static const char *told(struct fixture *fx, size_t lines)
{
	sb_buf_done(&fx->text);
	sb_buf_init(&fx->text, 1024 * 1024);
	sb_summary_text(fx->summary, lines, &fx->text);
	assert_false(sb_buf_failed(&fx->text));
	return fx->text.data;
}

static const char *as_json(struct fixture *fx)
{
	struct sb_json json;

	sb_buf_done(&fx->text);
	sb_buf_init(&fx->text, 1024 * 1024);
	sb_json_init(&json, &fx->text);
	sb_summary_json(fx->summary, SB_SUMMARY_MAX, &json);
	assert_false(sb_buf_failed(&fx->text));
	return fx->text.data;
}

/* One line of the text that holds part; fails if there is none.  "~~" stands for the root. */
static void expect(struct fixture *fx, const char *format)
{
	SB_AUTO_BUF struct sb_buf line = SB_BUF(64 * 1024);
	const char *text = told(fx, 20), *at = format;

	for (const char *mark; (mark = strstr(at, "~~")); at = mark + 2) {
		sb_buf_append(&line, at, (size_t)(mark - at));
		sb_buf_puts(&line, fx->root);
	}
	sb_buf_puts(&line, at);
	sb_buf_putc(&line, '\n');
	if (!strstr(text, line.data))
		fail_msg("no\n%s in\n%s", line.data, text);
}

static unsigned lines_of(const char *text)
{
	unsigned lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

static void nothing_refused_says_nothing(void **state)
{
	struct fixture *fx = *state;

	assert_string_equal(told(fx, 20), "");
	assert_int_equal(sb_summary_count(fx->summary), 0);
	assert_non_null(strstr(as_json(fx), "\"refused\": 0"));
}

static void each_line_has_its_flag(void **state)
{
	struct fixture *fx = *state;
	struct sb_rule own = {.hard = true,
			      .access = sb_access_read,
			      .pattern = "/own",
			      .origin = "built-in: sandbash's own files"};
	struct sb_rule key = {
		.access = sb_access_deny, .pattern = "/key", .origin = "built-in: SSH keys"};
	struct sb_rule admin = {.tier = SB_TIER_SYSTEM,
				.access = sb_access_deny,
				.pattern = "/admin",
				.origin = "/etc/sandbash/config line 1"};
	char pattern[PATH_MAX];
	struct sb_rule flag = {.tier = SB_TIER_FLAG,
			       .access = sb_access_deny,
			       .pattern = pattern,
			       .origin = "--deny=docs/letter"};

	/* by its name, whether it exists or is new */
	refuse(fx, SB_MODIFY, "home/docs/letter", NULL);
	expect(fx, "  write to '~~/home/docs/letter' (no rule covers it)\n      "
		   "sandbash --allow-write=~~/home/docs/letter ...");
	refuse(fx, SB_CREATE, "home/docs/new", NULL);
	expect(fx, "  create '~~/home/docs/new' (no rule covers it)\n      "
		   "sandbash --allow-write=~~/home/docs/new ...");
	refuse(fx, SB_CREATE, "home/new", NULL);
	expect(fx, "  create '~~/home/new' (no rule covers it)\n      "
		   "sandbash --allow-write=~~/home/new ...");
	/* a temporary name is another one next time: never the home directory */
	refuse(fx, SB_CREATE, "home/sedAbCdEf", NULL);
	expect(fx, "  create '~~/home/sedAbCdEf' (no rule covers it)\n      no option allows it: "
		   "the name of a temporary file, in a directory that is too much to open");
	/* past a rule */
	refuse(fx, SB_READ, "home/docs/key", &key);
	expect(fx, "  read '~~/home/docs/key' (built-in: SSH keys)\n      "
		   "sandbash --allow-read=~~/home/docs/key ...");
	refuse(fx, SB_CREATE, "home/docs/hook", &key);
	expect(fx, "  create '~~/home/docs/hook' (built-in: SSH keys)\n      "
		   "sandbash --allow-write=~~/home/docs/hook ...");
	/* what cannot be */
	refuse(fx, SB_MODIFY, "home/own", &own);
	expect(fx, "  write to '~~/home/own' (built-in: sandbash's own files)\n      "
		   "no option allows it");
	refuse(fx, SB_MODIFY, "home/admin", &admin);
	expect(fx, "  write to '~~/home/admin' (/etc/sandbash/config line 1)\n      "
		   "no option allows it");
	/* what the user said himself */
	snprintf(pattern, sizeof pattern, "%s", in(fx->root, "home/docs/letter"));
	refuse(fx, SB_READ, "home/docs/letter", &flag);
	expect(fx, "  read '~~/home/docs/letter' (--deny=docs/letter)\n      "
		   "leave out --deny=docs/letter");
	assert_int_equal(sb_summary_count(fx->summary), 9);
	assert_int_equal(lines_of(told(fx, 20)), 20);
}

static void who_refused_is_told(void **state)
{
	struct fixture *fx = *state;
	struct sb_refusal refusal = {.op = SB_MODIFY, .path = "/etc/hosts", .by = "person"};

	sb_summary_add(fx->summary, &refusal);
	refusal.path = "/etc/passwd";
	refusal.by = "nobody";
	refusal.metadata = true;
	sb_summary_add(fx->summary, &refusal);
	refusal.path = "/etc/group";
	refusal.by = NULL;
	refusal.read_only = true;
	refusal.metadata = false;
	refusal.op = SB_READ; /* not a third change in one directory: that would be gathered */
	sb_summary_add(fx->summary, &refusal);
	expect(fx, "  write to '/etc/hosts' (you said no; no rule covers it)\n      "
		   "sandbash --allow-write=/etc/hosts ...");
	expect(fx, "  change modes or times of '/etc/passwd' (nobody could be asked; no rule "
		   "covers it)\n      sandbash --allow-write=/etc/passwd ...");
	expect(fx,
	       "  read '/etc/group' (read-only mode)\n      sandbash --allow-read=/etc/group ...");
}

static void a_package_cache_names_its_one_flag(void **state)
{
	struct fixture *fx = *state;

	for (unsigned i = 0; i < 40; i++) {
		char name[64];

		snprintf(name, sizeof name, "home/.npm/_cacache/tmp/%u", i);
		refuse(fx, SB_CREATE, name, NULL);
		snprintf(name, sizeof name, "home/.cargo/registry/cache/a/%u", i);
		refuse(fx, SB_CREATE, name, NULL);
	}
	refuse(fx, SB_CREATE, "home/.npm", NULL);
	expect(fx,
	       "  change files in '~~/home/.npm' (41 times; npm's cache; no rule covers it)\n      "
	       "sandbash --allow-write=~~/home/.npm ...");
	expect(fx, "  change files in '~~/home/.cargo/registry' (40 times; cargo's cache; no rule "
		   "covers it)\n      mkdir -p ~~/home/.cargo/registry && "
		   "sandbash --allow-write=~~/home/.cargo/registry ...");
	assert_int_equal(lines_of(told(fx, 20)), 6);
	assert_non_null(strstr(as_json(fx), "npm's cache"));
}

static void many_in_one_directory_are_one_line(void **state)
{
	struct fixture *fx = *state;
	struct sb_rule rule = {
		.access = sb_access_ask, .pattern = "/x", .origin = "built-in: guarded"};

	refuse(fx, SB_CREATE, "home/docs/a", NULL);
	refuse(fx, SB_CREATE, "home/docs/a", NULL);
	refuse(fx, SB_CREATE, "home/docs/sub/x", NULL);
	refuse(fx, SB_DELETE, "home/docs/b", NULL);
	assert_int_equal(lines_of(told(fx, 20)), 8);
	refuse(fx, SB_CREATE, "home/docs/c", NULL);
	expect(fx, "  change files in '~~/home/docs' (5 times; no rule covers it)\n      "
		   "sandbash --allow-write=~~/home/docs ...");
	assert_int_equal(lines_of(told(fx, 20)), 4);
	refuse(fx, SB_CREATE, "home/docs/deep/er/d", NULL);
	assert_int_equal(lines_of(told(fx, 20)), 4);
	/* but not what a rule has singled out, nor what is only read, nor the home's own names */
	refuse(fx, SB_CREATE, "home/docs/e", &rule);
	refuse(fx, SB_READ, "home/docs/f", &rule);
	assert_int_equal(lines_of(told(fx, 20)), 8);
	for (unsigned i = 0; i < 5; i++)
		refuse(fx, SB_CREATE,
		       (const char *[]){"home/1", "home/2", "home/3", "home/4", "home/5"}[i], NULL);
	assert_int_equal(lines_of(told(fx, 20)), 18);
	assert_null(strstr(told(fx, 20), "--allow-write=/ "));
}

static void no_more_is_kept_than_can_be(void **state)
{
	struct fixture *fx = *state;

	for (unsigned i = 0; i < 100000; i++) {
		struct sb_refusal refusal = {.op = SB_CREATE};
		char path[64];

		snprintf(path, sizeof path, "/d%u/x", i);
		refusal.path = path;
		sb_summary_add(fx->summary, &refusal);
	}
	assert_int_equal(sb_summary_count(fx->summary), 100000);
	assert_int_equal(lines_of(told(fx, 20)), 43);
	assert_non_null(strstr(told(fx, 20), "  and 99980 more\n"));
	assert_non_null(strstr(as_json(fx), "\"not_listed\": 99744"));
}

static void nothing_steers_the_terminal(void **state)
{
	static const char *const names[] = {
		"\x1b]0;x\x07", "new\nline", "\xe2\x80\xaewords", "\xff", "'; rm -rf ~ #",
		"$(id)",        "*"};
	struct fixture *fx = *state;

	for (size_t i = 0; i < COUNT(names); i++) {
		char name[PATH_MAX];

		snprintf(name, sizeof name, "home/d%zu", i);
		make_dir(fx->root, name);
		snprintf(name, sizeof name, "home/d%zu/%s", i, names[i]);
		make_file(fx->root, name);
		refuse(fx, SB_MODIFY, name, NULL);
	}
	for (const char *at = told(fx, 20); *at;) {
		size_t step = sb_utf8_visible(at, strlen(at));

		assert_true(step || *at == '\n');
		at += step ? step : 1;
	}
	assert_int_equal(lines_of(fx->text.data), 2 + 2 * COUNT(names));
}

/* What a shell makes of the word is the text again. */
static void words_come_back_from_a_shell(void **state)
{
	static const char *const texts[] = {"plain",
					    "",
					    "a b",
					    "it's",
					    "$(id) `id`",
					    "\x1b[m\n\t",
					    "\xe2\x80\xaewords",
					    "\3770",
					    "~",
					    "na\xc3\xafve",
					    "\\*"};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		SB_AUTO_BUF struct sb_buf command = SB_BUF(4096);
		char back[1024] = "";
		int ends[2];
		ssize_t got;

		sb_buf_puts(&command, "printf %s ");
		sb_shell_quote(&command, texts[i]);
		for (const char *at = command.data; *at;) {
			size_t step = sb_utf8_visible(at, strlen(at));

			assert_true(step > 0);
			at += step;
		}
		assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
		if (fork() == 0) {
			dup2(ends[1], 1);
			execlp("bash", "bash", "-c", command.data, (char *)NULL);
			_exit(127);
		}
		close(ends[1]);
		for (size_t used = 0; (got = read(ends[0], back + used, 200)) > 0;)
			used += (size_t)got;
		close(ends[0]);
		assert_true(wait(NULL) > 0);
		assert_string_equal(back, texts[i]);
	}
}

static void count_apart(void *context, const struct sb_refused *refused)
{
	unsigned *seen = context;

	*seen += refused->approved ? 100 : 1;
	assert_non_null(refused->paths[0]);
	assert_string_equal(refused->path, refused->paths[0]);
	if (strstr(refused->path, "letter")) {
		assert_int_equal(1u << SB_MODIFY | 1u << SB_DELETE, refused->ops);
		assert_int_equal(2, refused->count);
	}
}

static void apart_every_path_is_told(void **state)
{
	struct fixture *fx = *state;
	struct sb_refusal yes = {
		.op = SB_CREATE, .path = in(fx->root, "home/docs/y"), .approved = true};
	unsigned seen = 0;

	sb_summary_add(fx->summary, &yes); /* who tells people does not count it */
	assert_true(sb_summary_is_empty(fx->summary));
	assert_string_equal("", told(fx, 20));
	assert_int_equal(SB_OK, sb_summary_keep_apart(fx->summary, NULL));
	refuse(fx, SB_MODIFY, "home/docs/letter", NULL);
	refuse(fx, SB_DELETE, "home/docs/letter", NULL);
	refuse(fx, SB_CREATE, "home/docs/a", NULL);
	refuse(fx, SB_CREATE, "home/docs/b", NULL);
	refuse(fx, SB_CREATE, "home/docs/c", NULL);
	refuse(fx, SB_CREATE, "home/.npm/d", NULL);
	sb_summary_add(fx->summary, &yes);
	sb_summary_each(fx->summary, count_apart, &seen);
	assert_int_equal(105, seen);
	assert_int_equal(6, sb_summary_count(fx->summary));
	assert_string_equal("", told(fx, 20));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

static const struct CMUnitTest tests[] = {
	TEST(nothing_refused_says_nothing),
	TEST(each_line_has_its_flag),
	TEST(who_refused_is_told),
	TEST(a_package_cache_names_its_one_flag),
	TEST(many_in_one_directory_are_one_line),
	TEST(no_more_is_kept_than_can_be),
	TEST(nothing_steers_the_terminal),
	TEST(apart_every_path_is_told),
	cmocka_unit_test(words_come_back_from_a_shell),
};

UNIT_MAIN("summary")
