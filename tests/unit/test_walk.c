/*
 * The walk: order, sight, limits on both backends; and that nothing outside is ever read.
 */
#include "tree.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/auto.h"
#include "base/buf.h"
#include "memory_source.h"

/* ---- names found, as text ---- */

static bool write_down(void *to, const char *path, enum sb_search_kind kind)
{
	sb_buf_printf(to, "%s%s\n", path, kind == SB_SEARCH_DIRECTORY ? "/" : "");
	return true;
}

static struct sb_search_end glob(const struct sb_search_source *source, struct sb_glob_query query,
				 const char *pattern, struct sb_buf *out)
{
	struct sb_glob *one = NULL;
	struct sb_search_end end;
	struct sb_error err = {0};

	assert_int_equal(sb_glob_new(pattern, 0, &one, &err), SB_OK);
	query.size = sizeof(query);
	query.scope.includes = (const struct sb_glob *const[]){one};
	query.scope.include_count = 1;
	*out = SB_BUF(1 << 26);
	if (sb_search_glob(source, &query, write_down, out, &end, &err) != SB_OK)
		fail_msg("%s", err.message);
	sb_glob_free(one);
	return end;
}

static void expect(const struct sb_search_source *source, struct sb_glob_query query,
		   const char *pattern, const char *expected)
{
	struct sb_buf out;

	glob(source, query, pattern, &out);
	if (strcmp(out.data, expected) != 0)
		fail_msg("'%s':\n%sinstead of\n%s", pattern, out.data, expected);
	sb_buf_done(&out);
}

/* ---- the same tree on both backends ---- */

static const struct memory_file files[] = {
	{".git/HEAD", "ref", 0},
	{".gitignore", "*.o\n/out/\n", 0},
	{".hidden", "x", 0},
	{"a-b/c.c", "x", 0},
	{"a.c", "x needle\n", 0},
	{"a/.gitignore", "!keep.o\n", 0},
	{"a/b/c.c", "needle\n", 0},
	{"a/b/d.o", "needle\n", 0},
	{"a/b/keep.o", "needle\n", 0},
	{"a/z.c", "x", 0},
	{"b.c", "x", 0},
	{"out/x.c", "needle\n", 0},
	{"secret/key.c", "needle", 0},
};

struct both {
	char *root;
	int fd;
	struct sb_search_disk disk;
	struct memory_tree memory;
	struct sb_search_source sources[2];
};

static void make_parents(const char *root, const char *path)
{
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		SB_AUTO_FREE char *directory = strndup(path, (size_t)(slash - path));

		mkdir(in(root, directory), 0755);
	}
}

static void make_text(const char *root, const char *path, const char *text)
{
	SB_AUTO_FILE FILE *out = NULL;

	make_parents(root, path);
	out = fopen(in(root, path), "w");
	assert_non_null(out);
	fputs(text, out);
}

static int both_setup(void **state)
{
	struct both *both = calloc(1, sizeof(*both));
	void *root = NULL;

	if (!both || tree_setup(&root) != 0)
		return -1;
	both->root = root;
	for (size_t i = 0; i < COUNT(files); i++)
		make_text(root, files[i].path, files[i].text);
	both->fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	both->disk = (struct sb_search_disk){.root = both->fd};
	both->memory = (struct memory_tree){.files = files, .count = COUNT(files)};
	both->sources[0] = (struct sb_search_source){.backend = &sb_search_disk_backend,
						     .context = &both->disk};
	both->sources[1] =
		(struct sb_search_source){.backend = &memory_backend, .context = &both->memory};
	*state = both;
	return 0;
}

static int both_teardown(void **state)
{
	struct both *both = *state;
	void *root = both->root;

	close(both->fd);
	free(both);
	return tree_teardown(&root);
}

static void F1_glob_walks_in_order_on_both_backends(void **state)
{
	struct both *both = *state;

	for (size_t i = 0; i < 2; i++) {
		const struct sb_search_source *source = &both->sources[i];

		for (unsigned threads = 1; threads <= 8; threads++) {
			struct sb_glob_query query = {.scope = {.threads = threads}};

			expect(source, query, "**/*.c",
			       "a/b/c.c\na/z.c\na-b/c.c\na.c\nb.c\nsecret/key.c\n");
		}
		expect(source, (struct sb_glob_query){0}, "a/**",
		       "a/.gitignore\na/b/c.c\na/b/keep.o\na/z.c\n");
		expect(source, (struct sb_glob_query){.kinds = SB_SEARCH_ALL}, "{a,a-b}/**",
		       "a/.gitignore\na/b/\na/b/c.c\na/b/keep.o\na/z.c\na-b/c.c\n");
		expect(source, (struct sb_glob_query){.scope.flags = SB_SEARCH_IGNORED},
		       "**/{*.o,x.c}", "a/b/d.o\na/b/keep.o\nout/x.c\n");
		expect(source, (struct sb_glob_query){.scope.flags = SB_SEARCH_GIT}, "**/HEAD",
		       ".git/HEAD\n");
		expect(source, (struct sb_glob_query){0}, ".*", ".gitignore\n.hidden\n");
		expect(source, (struct sb_glob_query){.scope.flags = SB_SEARCH_VISIBLE}, ".*", "");
		expect(source, (struct sb_glob_query){.scope.start = "a"}, "*/*.*",
		       "a/b/c.c\na/b/keep.o\n");
		expect(source, (struct sb_glob_query){.scope.start = "a/b"}, "*",
		       "a/b/c.c\na/b/keep.o\n");
		expect(source, (struct sb_glob_query){.scope.max_depth = 1}, "**",
		       ".gitignore\n.hidden\na.c\nb.c\n");
		expect(source, (struct sb_glob_query){.max_results = 2}, "**/*.c",
		       "a/b/c.c\na/z.c\n");
	}
	assert_int_equal(atomic_load(&both->memory.open), 0);
}

static void excludes_leave_out_what_is_beneath(void **state)
{
	struct both *both = *state;
	struct sb_glob *exclude = NULL;
	struct sb_glob_query query = {.scope.exclude_count = 1};

	assert_int_equal(sb_glob_new("{a,secret}", SB_GLOB_MINIMATCH, &exclude, NULL), SB_OK);
	query.scope.excludes = (const struct sb_glob *const[]){exclude};
	for (size_t i = 0; i < 2; i++)
		expect(&both->sources[i], query, "**/*.c", "a-b/c.c\na.c\nb.c\n");
	sb_glob_free(exclude);
}

static enum sb_sight no_secrets(void *context, const char *path, enum sb_search_kind kind)
{
	atomic_uint *asked = context;

	(void)kind;
	atomic_fetch_add(asked, 1);
	if (strcmp(path, "a") == 0)
		return SB_SIGHT_ALL;
	return strstr(path, "secret") ? SB_SIGHT_NONE : SB_SIGHT_THIS;
}

static bool add_path(void *to, const struct sb_grep_file *file)
{
	sb_buf_printf(to, "%s:%llu\n", file->path, (unsigned long long)file->lines[0].number);
	return true;
}

static void F1_what_the_policy_hides_is_neither_named_nor_read(void **state)
{
	struct both *both = *state;
	struct sb_grep *grep = NULL;
	struct sb_error err = {0};

	assert_int_equal(sb_grep_new("needle", 6, 0, &grep, &err), SB_OK);
	for (size_t i = 0; i < 2; i++) {
		struct sb_search_source source = both->sources[i];
		struct sb_grep_query query = {.size = sizeof(query), .grep = grep};
		SB_AUTO_BUF struct sb_buf seen = SB_BUF(10000);
		SB_AUTO_BUF struct sb_buf hidden = SB_BUF(10000);
		atomic_uint asked = 0;

		assert_int_equal(sb_search_grep(&source, &query, add_path, &seen, NULL, &err),
				 SB_OK);
		assert_string_equal(seen.data, "a/b/c.c:1\na/b/keep.o:1\na.c:1\nsecret/key.c:1\n");
		source.sight = no_secrets;
		source.sight_context = &asked;
		assert_int_equal(sb_search_grep(&source, &query, add_path, &hidden, NULL, &err),
				 SB_OK);
		assert_string_equal(hidden.data, "a/b/c.c:1\na/b/keep.o:1\na.c:1\n");
		assert_true(asked > 0);
		query.scope.start = "secret";
		assert_int_equal(sb_search_grep(&source, &query, add_path, &hidden, NULL, &err),
				 SB_E_MISSING);
		query.scope.start = "a/b/c.c"; /* one file */
		seen.length = 0;
		assert_int_equal(sb_search_grep(&source, &query, add_path, &seen, NULL, &err),
				 SB_OK);
		assert_string_equal(seen.data, "a/b/c.c:1\n");
		query.scope.start = "nothing";
		assert_int_equal(sb_search_grep(&source, &query, add_path, &seen, NULL, &err),
				 SB_E_MISSING);
	}
	sb_grep_free(grep);
	assert_int_equal(atomic_load(&both->memory.open), 0);
}

static void F2_links_and_fifos_are_named_and_not_opened(void **state)
{
	struct both *both = *state;
	struct sb_grep_query query = {.size = sizeof(query), .scope.timeout_ms = 20000};
	struct sb_grep *grep = NULL;
	struct sb_search_end end;
	struct sb_buf out = SB_BUF(10000);

	make_dir(both->root, "links");
	make_link(both->root, "links/etc", "/etc");
	make_link(both->root, "links/file", "../a.c");
	assert_int_equal(mkfifo(in(both->root, "links/fifo"), 0666), 0);
	expect(&both->sources[0], (struct sb_glob_query){.kinds = SB_SEARCH_ALL}, "links/**",
	       "links/etc\nlinks/fifo\nlinks/file\n");
	assert_int_equal(sb_grep_new(".", 1, 0, &grep, NULL), SB_OK);
	query.grep = grep;
	query.scope.start = "links";
	assert_int_equal(sb_search_grep(&both->sources[0], &query, add_path, &out, &end, NULL),
			 SB_OK);
	assert_true(end.files == 0 && end.results == 0 && end.why == SB_SEARCH_DONE);
	/* Nor through a link in the place of the start. */
	query.scope.start = "links/etc";
	assert_int_equal(sb_search_grep(&both->sources[0], &query, add_path, &out, &end, NULL),
			 SB_E_MISSING);
	query.scope.start = "links/etc/ssh";
	assert_true(sb_search_grep(&both->sources[0], &query, add_path, &out, &end, NULL) < 0);
	query.scope.start = "links/file";
	assert_true(sb_search_grep(&both->sources[0], &query, add_path, &out, &end, NULL) < 0 ||
		    end.files == 0);
	query.scope.start = "../";
	assert_true(sb_search_grep(&both->sources[0], &query, add_path, &out, &end, NULL) < 0);
	sb_grep_free(grep);
	sb_buf_done(&out);
}

/* ---- a thread that swaps a directory and a link to outside, a file and a FIFO ---- */

struct swapper {
	const char *root;
	atomic_bool stop;
};

static void *swap(void *argument)
{
	struct swapper *swapper = argument;
	int root = open(swapper->root, O_PATH | O_DIRECTORY | O_CLOEXEC);

	while (!atomic_load(&swapper->stop)) {
		renameat2(root, "inside/dir", root, "inside/link", RENAME_EXCHANGE);
		renameat2(root, "inside/file", root, "inside/fifo", RENAME_EXCHANGE);
		renameat2(root, "inside/plain", root, "inside/out", RENAME_EXCHANGE);
	}
	close(root);
	return NULL;
}

static bool never(void *to, const struct sb_grep_file *file)
{
	*(bool *)to = true;
	print_message("# read outside: %s\n", file->path);
	return true;
}

static void F2_swapped_links_never_lead_out(void **state)
{
	const char *root = *state, *given = getenv("SANDBASH_TEST_SECONDS");
	struct swapper swapper = {.root = root};
	struct sb_search_disk disk;
	struct sb_search_source source = {.backend = &sb_search_disk_backend, .context = &disk};
	struct sb_grep_query query = {.size = sizeof(query)};
	struct sb_grep *outside = NULL;
	time_t end = time(NULL) + (given ? strtol(given, NULL, 10) : 2);
	uint64_t searches = 0, reads = 0;
	bool read_outside = false;
	pthread_t thread;

	make_text(root, "outside/x/secret", "forbidden\n");
	make_text(root, "outside/secret", "forbidden\n");
	make_text(root, "inside/dir/x/secret", "fine\n");
	make_text(root, "inside/file", "fine\n");
	make_text(root, "inside/plain", "fine\n");
	make_link(root, "inside/link", "../outside");
	make_link(root, "inside/out", "../outside/secret");
	assert_int_equal(mkfifo(in(root, "inside/fifo"), 0666), 0);
	disk = (struct sb_search_disk){.root = open(in(root, "inside"), O_PATH | O_CLOEXEC)};
	assert_int_equal(sb_grep_new("forbidden", 9, 0, &outside, NULL), SB_OK);
	query.grep = outside;
	assert_int_equal(pthread_create(&thread, NULL, swap, &swapper), 0);
	while (time(NULL) < end) {
		struct sb_search_end ended;

		assert_int_equal(
			sb_search_grep(&source, &query, never, &read_outside, &ended, NULL), SB_OK);
		searches++;
		reads += ended.files;
	}
	atomic_store(&swapper.stop, true);
	pthread_join(thread, NULL);
	print_message("# %llu searches read %llu files\n", (unsigned long long)searches,
		      (unsigned long long)reads);
	assert_false(read_outside);
	assert_true(searches > 10 && reads > searches); /* the control: what is inside was read */
	sb_grep_free(outside);
	close(disk.root);
}

/* ---- ends ---- */

static int endless_list(void *context, sb_search_handle directory, sb_search_listed listed,
			void *to)
{
	(void)context;
	(void)directory;
	listed(to, "a", SB_SEARCH_FILE);
	return listed(to, "d", SB_SEARCH_DIRECTORY);
}

static int endless_open(void *context, const char *path, sb_search_handle *out)
{
	(void)context;
	(void)path;
	*out = 0;
	return 0;
}

static void endless_close(void *context, sb_search_handle handle)
{
	(void)context;
	(void)handle;
}

static int endless_open_file(void *context, sb_search_handle directory, const char *name,
			     sb_search_handle *out)
{
	(void)directory;
	return name[0] == '.' ? -ENOENT : endless_open(context, name, out);
}

static ssize_t endless_read(void *context, sb_search_handle file, void *into, size_t length)
{
	(void)context;
	(void)file;
	memset(into, 'a', length);
	((char *)into)[length - 1] = '\n';
	return (ssize_t)length;
}

static const struct sb_search_backend endless = {
	.open_directory = endless_open,
	.list = endless_list,
	.close_directory = endless_close,
	.open_file = endless_open_file,
	.read = endless_read,
	.close_file = endless_close,
};

static void *set_later(void *argument)
{
	usleep(50 * 1000);
	atomic_store((atomic_bool *)argument, true);
	return NULL;
}

static void searches_end_on_time_and_when_cancelled(void **state)
{
	struct sb_search_source source = {.backend = &endless};
	struct sb_grep_query query = {.size = sizeof(query), .scope.timeout_ms = 100};
	atomic_bool cancel = false;
	struct sb_search_end end;
	struct sb_grep *grep = NULL;
	struct timespec before, after;
	pthread_t thread;

	(void)state;
	assert_int_equal(sb_grep_new("needle", 6, 0, &grep, NULL), SB_OK);
	query.grep = grep;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
	assert_int_equal(sb_search_grep(&source, &query, never, NULL, &end, NULL), SB_OK);
	assert_true(end.why == SB_SEARCH_TIMEOUT && end.bytes > 0);
	query.scope.timeout_ms = 0;
	query.scope.cancel = &cancel;
	assert_int_equal(pthread_create(&thread, NULL, set_later, (void *)&cancel), 0);
	assert_int_equal(sb_search_grep(&source, &query, never, NULL, &end, NULL), SB_OK);
	assert_true(end.why == SB_SEARCH_CANCELLED);
	pthread_join(thread, NULL);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
	assert_true(after.tv_sec - before.tv_sec < 5);
	sb_grep_free(grep);
}

static void a_tree_without_bottom_ends_at_the_depth(void **state)
{
	struct sb_search_source source = {.backend = &endless};
	struct sb_buf out;
	struct sb_search_end end = glob(&source, (struct sb_glob_query){0}, "**", &out);

	(void)state;
	assert_true(end.why == SB_SEARCH_DONE && end.results == SB_SEARCH_DEPTH &&
		    end.skipped == 1);
	sb_buf_done(&out);
}

static void F3_names_of_every_kind_and_length(void **state)
{
	static const char *const names[] = {"..foo", "a b", "file..txt", "new\nline", "\xc3\xa9",
					    "\xff",  "*",   "[x]",       "-"};
	const char *root = *state;
	struct sb_search_disk disk = {.root = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
	struct sb_search_source source = {.backend = &sb_search_disk_backend, .context = &disk};
	struct sb_search_end end;
	struct sb_buf out;
	char longest[NAME_MAX + 1] = {0};
	int at = openat(disk.root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (size_t i = 0; i < COUNT(names); i++)
		make_file(root, names[i]);
	/* A path of 40 * 255 bytes, longer than the kernel takes at once. */
	memset(longest, 'x', NAME_MAX);
	for (int i = 0; i < 40; i++) {
		int next;

		assert_int_equal(mkdirat(at, longest, 0755), 0);
		next = openat(at, longest, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(at);
		at = next;
	}
	close(openat(at, "bottom", O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
	close(at);
	end = glob(&source, (struct sb_glob_query){0}, "**", &out);
	assert_int_equal(end.results, COUNT(names) + 1);
	assert_int_equal(end.unreadable, 0);
	assert_non_null(strstr(out.data, "x/bottom\n"));
	assert_non_null(strstr(out.data, "new\nline\n"));
	sb_buf_done(&out);
	close(disk.root);
	/* nftw() cannot remove what it cannot name. */
	for (int i = 40; i > 0; i--) {
		int up = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		for (int k = 1; k < i; k++) {
			int next = openat(up, longest, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

			close(up);
			up = next;
		}
		if (i == 40) {
			int last = openat(up, longest, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

			unlinkat(last, "bottom", 0);
			close(last);
		}
		assert_int_equal(unlinkat(up, longest, AT_REMOVEDIR), 0);
		close(up);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(F1_glob_walks_in_order_on_both_backends, both_setup,
					both_teardown),
	cmocka_unit_test_setup_teardown(excludes_leave_out_what_is_beneath, both_setup,
					both_teardown),
	cmocka_unit_test_setup_teardown(F1_what_the_policy_hides_is_neither_named_nor_read,
					both_setup, both_teardown),
	cmocka_unit_test_setup_teardown(F2_links_and_fifos_are_named_and_not_opened, both_setup,
					both_teardown),
	cmocka_unit_test_setup_teardown(F2_swapped_links_never_lead_out, tree_setup, tree_teardown),
	cmocka_unit_test(searches_end_on_time_and_when_cancelled),
	cmocka_unit_test(a_tree_without_bottom_ends_at_the_depth),
	cmocka_unit_test_setup_teardown(F3_names_of_every_kind_and_length, tree_setup,
					tree_teardown),
};

UNIT_MAIN("walk")
