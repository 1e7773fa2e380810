/*
 * test_guard_git.c - our reading of config files against the installed git's.
 *
 * Random files, most of them nearly right, go to both; the keys, the values and whether the
 * file is refused must be the same.  SANDBASH_TEST_RUNS sets how many (500).
 */
#include "tree.h"

#include <spawn.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "guard/git_config.h"

#define MAX_FILE 600

static const char *const pieces[] = {
	"[core]",    "[remote \"origin\"]",
	"[a.b]",     "[A \"b\\\"c\"]",
	"[",         "]",
	"[x",        "\"",
	"\\",        "\n",
	"\n",        "\n",
	"\n\t",      " ",
	"\t",        "=",
	" = ",       "bare",
	"URL",       "x-y",
	"true",      "a b",
	"a  b\t c ", ";",
	"#",         " # c",
	"\\\n",      "\\t",
	"\\n",       "\\b",
	"\\\"",      "\\\\",
	"\\x",       "\r\n",
	"\r",        "\"a ; b\"",
	"\"a",       "'",
	"!cmd",      "\xef\xbb\xbf",
	"\xc3\xa4",  "\xff",
	"-",         "1",
	".",         "include",
	"path",      "k = v\n",
	"k\n",       "k =\n",
	"[s]k=v\n",  "_",
	"\v",        "\f",
	"\x7f",
};

static const char *const lines[] = {
	"[core]\n",
	"[remote \"o\"]\n",
	"[a.b]",
	"[A \"b\\\"c\"]\n",
	"k = v\n",
	"Key=a  b ; c\n",
	"k\n",
	"k =\n",
	"\tx = \"a # b\" c\n",
	"y = a\\\n b\\tc\n",
	"# comment\n",
	"\n",
	" \t\r\n",
	"z = \"q\\\"r\"  s\t\n",
	"w = \xc3\xa4 \r\n",
};

/* Whole lines, and now and then a piece of one in between. */
static size_t random_file(char *out)
{
	size_t length = 0;

	if (unit_below(20) == 0) {
		memcpy(out, "\xef\xbb\xbf", 3);
		length = 1 + unit_below(3);
	}
	if (unit_below(2))
		length += (size_t)sprintf(out + length, "[core]\n");
	for (unsigned left = unit_below(20), odd = 2 + unit_below(30); left; left--) {
		const char *piece = unit_below(odd) ? lines[unit_below(COUNT(lines))]
						    : pieces[unit_below(COUNT(pieces))];

		if (length + strlen(piece) >= MAX_FILE)
			break;
		if (unit_below(100) == 0) /* any byte but NUL, which ends a value for git */
			out[length++] = (char)(1 + unit_below(255));
		memcpy(out + length, piece, strlen(piece));
		length += strlen(piece);
	}
	return length;
}

/* What git lists, into out; its exit status. */
static int ask_git(const char *path, struct sb_buf *out)
{
	char *const words[] = {(char *)"git", (char *)"config", (char *)"--file",
			       (char *)path,  (char *)"--list", (char *)"-z",
			       NULL};
	posix_spawn_file_actions_t actions;
	int ends[2], status;
	char bytes[4096];
	ssize_t got;
	pid_t pid;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	if (posix_spawnp(&pid, "git", &actions, NULL, words, environ) != 0)
		skip();
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	while ((got = read(ends[0], bytes, sizeof bytes)) > 0)
		sb_buf_append(out, bytes, (size_t)got);
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Since 2.45 git keeps a tab within a value; before, each space became a blank. */
static void blank(char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] == '\t' || text[i] == '\r')
			text[i] = ' ';
}

static void list(const struct sb_git_config *config, struct sb_buf *out)
{
	for (size_t i = 0; i < config->count; i++) {
		sb_buf_puts(out, config->entries[i].key);
		if (config->entries[i].value) {
			sb_buf_putc(out, '\n');
			sb_buf_puts(out, config->entries[i].value);
		}
		sb_buf_putc(out, '\0');
	}
}

static void show(const char *what, const char *bytes, size_t length)
{
	print_message("# %s:", what);
	for (size_t i = 0; i < length; i++)
		print_message(" %02x", (unsigned char)bytes[i]);
	print_message("\n");
}

static bool compare(const char *path, const char *text, size_t length)
{
	SB_AUTO_BUF struct sb_buf theirs = SB_BUF(64 * 1024);
	SB_AUTO_BUF struct sb_buf ours = SB_BUF(64 * 1024);
	struct sb_git_config config;
	FILE *file = fopen(path, "wb");
	bool refused, same;
	int status;

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, length, file), length);
	fclose(file);
	status = ask_git(path, &theirs);
	sb_git_config_parse(text, length, &config);
	refused = config.failed;
	list(&config, &ours);
	sb_git_config_done(&config);
	blank(ours.data, ours.length);
	blank(theirs.data, theirs.length);
	same = refused == (status != 0) &&
	       (refused ||
		(ours.length == theirs.length && memcmp(ours.data, theirs.data, ours.length) == 0));
	if (!same) {
		show("file", text, length);
		show("git", theirs.data, theirs.length);
		show("we", ours.data, ours.length);
		print_message("# git %d, we %d\n", status, refused);
	}
	return same;
}

static void config_files_read_alike(void **state)
{
	const char *given = getenv("SANDBASH_TEST_RUNS");
	unsigned runs = given ? (unsigned)strtoul(given, NULL, 10) : 500, accepted = 0;
	char text[MAX_FILE + 1], path[PATH_MAX];

	unit_seed();
	snprintf(path, sizeof path, "%s", in(*state, "config"));
	for (unsigned i = 0; i < runs; i++) {
		size_t length = random_file(text);
		struct sb_git_config config;

		assert_true(compare(path, text, length));
		sb_git_config_parse(text, length, &config);
		accepted += !config.failed && config.count;
		sb_git_config_done(&config);
	}
	print_message("# %u of %u files were config files with entries\n", accepted, runs);
	assert_true(accepted * 20 > runs); /* else nothing was compared */
}

/* What random files would take long to find. */
static void known_files_read_alike(void **state)
{
	static const char *const files[] = {
		"",
		"\n",
		"#",
		"[",
		"[]",
		"[]\na=1\n",
		"[a]",
		"[a]b",
		"[a]b=",
		"[a]b=c",
		"[a]\nb c\n",
		"[a \"\"]\nb=1\n",
		"[a \"x\ny\"]\nb=1\n",
		"[a \"x\\\ny\"]\n",
		"[a\t \"x\"]\nb=1\n",
		"[a \"x\" ]\nb=1\n",
		"[a\"x\"]\nb=1\n",
		"[a.B \"C\"]\nd=1\n",
		"[a-b]\nc-d=1\n",
		"[a_b]\nc=1\n",
		"[a]\n1b=1\n",
		"[a]\nb_c=1\n",
		"[a]\nb=\"\"\n",
		"[a]\nb= \"\" \n",
		"[a]\nb=\"x\" y \"z\" \n",
		"[a]\nb=x \\\n  y\n",
		"[a]\nb=x\\",
		"[a]\nb=\"x\\\ny\"\n",
		"[a]\nb=x;y\n",
		"[a]\nb=\"x;y\"\n",
		"[a]\nb=x\r\n",
		"[a]\r\nb=x\r\n",
		"[a]\nb=x\ry\n",
		"\r",
		"\r\n[a]\nb\r\n",
		"[a]b=1\n[c]d=2",
		"\xef\xbb\xbf",
		"\xef\xbb\xbf[a]\nb=1\n",
		"\xef\xbb",
		"\xef",
		"\n\xef\xbb\xbf[a]\n",
		"[a]\nb = \x80\xff\n",
		"[\xc3\xa4]\nb=1\n",
		"[a]\n\xc3\xa4=1\n",
		"[a \"\xc3\xa4\"]\nb=1\n",
		"[a]\nb=1\n[a",
		"[a]\n\fb=1\n",
		"[a]\nb\v=1\n",
		"[a]\nb=\v\n",
		"[a] ; c\nb=1 # d\n",
		"[a]\nb=c # d \\\n e\n",
		"[a]\nb = \\\n\n",
		"[a.]\nb=1\n",
		"[.a]\nb=1\n",
		"[a..b]\nc=1\n",
	};

	for (size_t i = 0; i < COUNT(files); i++)
		assert_true(compare(in(*state, "config"), files[i], strlen(files[i])));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(known_files_read_alike, tree_setup, tree_teardown),
	cmocka_unit_test_setup_teardown(config_files_read_alike, tree_setup, tree_teardown),
};

UNIT_MAIN("guard git")
