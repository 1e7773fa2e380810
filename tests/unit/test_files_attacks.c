/*
 * What somebody tries who writes the project's content, runs processes in it at the same time
 * and chooses the arguments of the calls.
 */

#include <linux/fs.h>
#include <linux/mount.h>
#include <pthread.h>
#include <sched.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "search/search.h"
#include "files_view.h"

#if defined(__SANITIZE_ADDRESS__)
#define RUNNING_ON_ASAN 1 /* which reserves more address space than any limit leaves */
#else
#define RUNNING_ON_ASAN 0
#endif

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* --- consent ----------------------------------------------------------------------------------- */

/* A yes to reading out there is none to writing out there. */
static void test_C1_a_yes_to_one_end_is_none_to_the_other(void **state)
{
	struct fixture *fx = *state;

	fx_answers(fx, SB_FILES_ANSWER_YES);
	assert_fine(sb_files_copy(fx->view, NULL, at(fx, "outside/secret.txt"),
				  at(fx, "project-evil/copy"), 0, &fx->err));
	assert_int_equal(fx->asked, 2);
	assert_int_equal(fx->op, SB_CREATE);
	fx->asked = 0;
	assert_fine(sb_files_move(fx->view, NULL, at(fx, "project-evil/copy"),
				  at(fx, "outside/moved"), false, &fx->err));
	assert_int_equal(fx->asked, 2);
	/* a tree is one question at each end, whatever is in it */
	fx_dir(fx, "outside/tree");
	fx_put(fx, "outside/tree/1", "1");
	fx_put(fx, "outside/tree/2", "2");
	fx->asked = 0;
	assert_fine(sb_files_copy(fx->view, NULL, at(fx, "outside/tree"),
				  at(fx, "project-evil/tree"), SB_FILES_RECURSIVE, &fx->err));
	assert_int_equal(fx->asked, 2);
	assert_string_equal(fx_get(fx, "project-evil/tree/2"), "2");
}

/* A yes to moving away what git ignores is none to replacing something else that it ignores. */
static void test_P8_a_yes_to_one_ignored_file_is_none_to_another(void **state)
{
	struct fixture *fx = *state;

	fx_put(fx, "project/.gitignore", "*.log\n");
	fx_put(fx, "project/a.log", "a");
	fx_put(fx, "project/b.log", "b");
	fx_answers(fx, SB_FILES_ANSWER_YES);
	assert_fine(sb_files_move(fx->view, NULL, "a.log", "b.log", true, &fx->err));
	assert_int_equal(fx->asked, 2);
}

static void add_unreadable(struct fixture *fx, const char *pattern, enum sb_verdict reading)
{
	struct sb_access access = sb_access_write;

	sb_policy_free(fx->policy);
	fx->policy = sb_policy_new();
	sb_policy_set(fx->policy, SB_SETTING_MODE, SB_MODE_WORKSPACE_WRITE);
	access.verdict[SB_READ] = (unsigned char)reading;
	fx_rule(fx->policy, &sb_access_write, SB_TIER_BUILTIN, at(fx, "project"));
	fx_rule(fx->policy, &access, SB_TIER_GLOBAL, at(fx, pattern));
	assert_int_equal(sb_policy_seal(fx->policy, NULL), SB_OK);
	fx_open(fx, (struct sb_files_options){0});
}

/* What may not be read gets no name under which it may. */
static void test_F1_a_move_does_not_make_readable(void **state)
{
	struct fixture *fx = *state;

	fx_dir(fx, "project/box");
	fx_put(fx, "project/box/k.pem", "hidden\n");
	add_unreadable(fx, "project/box/k.pem", SB_DENY);
	assert_code(sb_files_move(fx->view, NULL, "box/k.pem", "x", false, &fx->err),
		    SB_FILES_BLOCKED);
	assert_code(sb_files_move(fx->view, NULL, "box", "x", false, &fx->err), SB_FILES_BLOCKED);
	add_unreadable(fx, "project/box/*.pem", SB_DENY);
	assert_code(sb_files_move(fx->view, NULL, "box", "x", false, &fx->err), SB_FILES_BLOCKED);
	add_unreadable(fx, "project/box/*.pem", SB_ASK);
	assert_code(sb_files_move(fx->view, NULL, "box", "x", false, &fx->err),
		    SB_FILES_NEEDS_CONSENT);
	assert_string_equal(fx_get(fx, "project/box/k.pem"), "hidden\n");
	/* the neighbours move */
	assert_fine(sb_files_move(fx->view, NULL, "src", "sources", false, &fx->err));
	assert_fine(sb_files_move(fx->view, NULL, "a.txt", "box/a.txt", false, &fx->err));
}

/* The old text is part of a diff, and of what is told about an edit. */
static void test_F1_a_diff_does_not_tell_what_reading_asks_about(void **state)
{
	struct fixture *fx = *state;
	struct sb_files_write_request request = {.size = sizeof request,
						 .path = "a.txt",
						 .data = "x",
						 .length = 1,
						 .want_diff = true};
	struct sb_files_change change;

	add_unreadable(fx, "project/a.txt", SB_ASK);
	assert_code(sb_files_write(fx->view, NULL, &request, &change, &fx->err),
		    SB_FILES_NEEDS_CONSENT);
	assert_code(fx_edit(fx, "a.txt", "two", "x", &change), SB_FILES_NEEDS_CONSENT);
	/* nor is it replaced unseen */
	assert_code(fx_write(fx, "a.txt", "new"), SB_FILES_NEEDS_CONSENT);
	assert_int_equal(fx->err.op, SB_MODIFY);
	add_unreadable(fx, "project/a.txt", SB_ALLOW);
	assert_fine(fx_write(fx, "a.txt", "new"));
}

/* --- /proc, by every door ---------------------------------------------------------------------- */

static void test_F2_proc_from_the_root_directory(void **state)
{
	struct fixture *fx = *state;
	const char *roots[] = {"/", NULL};
	struct sb_files_options options = {.size = sizeof options, .mounts = SB_FILES_ALLOW};
	struct sb_policy *policy = sb_policy_new();
	struct sb_files_text text;

	sb_policy_set(policy, SB_SETTING_MODE, SB_MODE_WORKSPACE_WRITE);
	fx_rule(policy, &sb_access_write, SB_TIER_GLOBAL, "/");
	assert_int_equal(sb_policy_seal(policy, NULL), SB_OK);
	sb_files_close(fx->view);
	fx->view = NULL;
	assert_int_equal(sb_files_open(policy, roots, &options, &fx->view, &fx->err), 0);
	assert_code(fx_read(fx, "/proc/self/environ", &text), SB_FILES_PATH_OUTSIDE_PROJECT);
	assert_code(fx_read(fx, "proc/1/status", &text), SB_FILES_PATH_OUTSIDE_PROJECT);
	assert_fine(fx_read(fx, at(fx, "outside/secret.txt"), &text));
	sb_files_text_done(&text);
	sb_files_close(fx->view);
	fx->view = NULL;
	sb_policy_free(policy);
}

#define MUST(fact)                                                                                 \
	do {                                                                                       \
		if (!(fact)) {                                                                     \
			fprintf(stderr, "# %s:%d: %s (%s)\n", __FILE__, __LINE__, #fact,           \
				fx->err.person);                                                   \
			return 1;                                                                  \
		}                                                                                  \
	} while (0)

static bool own_mounts(void)
{
	return (syscall(SYS_unshare, CLONE_NEWNS) == 0 ||
		syscall(SYS_unshare, CLONE_NEWUSER | CLONE_NEWNS) == 0) &&
	       syscall(SYS_mount, NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

static size_t grep_for(struct fixture *fx, const char *path, const char *word)
{
	struct sb_files_grep_request request = {.size = sizeof request,
						.path = path,
						.pattern = word,
						.pattern_length = strlen(word),
						.timeout_ms = 300000};
	struct sb_files_matches matches;
	size_t found;

	if (sb_files_grep(fx->view, NULL, &request, &matches, &fx->err) < 0)
		return (size_t)-1;
	found = matches.matches;
	sb_files_matches_done(&matches);
	return found;
}

/* A second /proc inside the project, and one file mounted over another. */
static int check_mounts(struct fixture *fx)
{
	struct sb_files_text text;

	if (!own_mounts() ||
	    syscall(SYS_mount, "/proc", at(fx, "project/src"), NULL, MS_BIND | MS_REC, NULL) != 0 ||
	    syscall(SYS_mount, at(fx, "outside/secret.txt"), at(fx, "project/a.txt"), NULL, MS_BIND,
		    NULL) != 0)
		return 77;
	/* anew: the roots that are open lie in the namespace before */
	fx_open(fx, (struct sb_files_options){0});
	MUST(grep_for(fx, NULL, "the secret of") == 0);
	MUST(grep_for(fx, NULL, "vendor") == 1);
	fx_answers(fx, SB_FILES_ANSWER_YES);
	MUST(fx_read(fx, "src/1/status", &text) == -SB_FILES_PATH_OUTSIDE_PROJECT);
	MUST(fx_read(fx, "src/self/environ", &text) == -SB_FILES_PATH_OUTSIDE_PROJECT);
	MUST(sb_files_copy(fx->view, NULL, "src", "stolen", SB_FILES_RECURSIVE, &fx->err) < 0);
	MUST(access(at(fx, "project/stolen/self"), F_OK) != 0);
	fx_open(fx, (struct sb_files_options){.mounts = SB_FILES_ALLOW});
	/* not this word itself: it stands in the command line of no process */
	MUST(grep_for(fx, NULL, "^VmPeak:") == 0);
	MUST(grep_for(fx, NULL, "the secret of") == 1);
	return 0;
}

static void in_child(struct fixture *fx, int (*check)(struct fixture *fx))
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(check(fx));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_F2_mounts_and_another_proc(void **state)
{
	in_child(*state, check_mounts);
}

static void test_F2_hard_links_that_ask_are_not_searched(void **state)
{
	struct fixture *fx = *state;

	assert_int_equal(link(at(fx, "outside/secret.txt"), at(fx, "project/alias")), 0);
	assert_int_equal(grep_for(fx, NULL, "the secret of"), 1);
	fx_open(fx, (struct sb_files_options){.hard_links = SB_FILES_ASK});
	assert_int_equal(grep_for(fx, NULL, "the secret of"), 0);
	assert_int_equal(grep_for(fx, NULL, "three"), 1);
}

/* --- races ------------------------------------------------------------------------------------- */

struct flipper {
	char a[PATH_MAX], b[PATH_MAX];
	volatile int stop;
};

static void *flip(void *context)
{
	struct flipper *flipper = context;

	while (!flipper->stop)
		syscall(SYS_renameat2, AT_FDCWD, flipper->a, AT_FDCWD, flipper->b, RENAME_EXCHANGE);
	return NULL;
}

static void start_flips(struct fixture *fx, struct flipper *flipper, pthread_t *thread,
			const char *a, const char *b)
{
	flipper->stop = 0;
	snprintf(flipper->a, sizeof flipper->a, "%s", at(fx, a));
	snprintf(flipper->b, sizeof flipper->b, "%s", at(fx, b));
	assert_int_equal(pthread_create(thread, NULL, flip, flipper), 0);
}

/* A directory is by turns a link to one of the same name outside. */
static void test_F1_details_of_a_glob_are_of_the_project(void **state)
{
	struct fixture *fx = *state;
	struct sb_files_glob_request request = {
		.size = sizeof request, .pattern = "spot/f", .details = true};
	struct flipper flipper;
	pthread_t thread;
	double end = seconds() + 2;
	size_t found = 0;

	fx_dir(fx, "project/spot");
	fx_put(fx, "project/spot/f", "four");
	fx_dir(fx, "outside/spot");
	fx_put(fx, "outside/spot/f", "more than four bytes");
	fx_link(fx, "../outside/spot", "project/other");
	start_flips(fx, &flipper, &thread, "project/spot", "project/other");
	while (seconds() < end) {
		struct sb_files_entries entries;

		assert_fine(sb_files_glob(fx->view, NULL, &request, &entries, &fx->err));
		if (entries.count && entries.all[0].bytes) {
			found++;
			assert_int_equal(entries.all[0].bytes, 4);
		}
		sb_files_entries_done(&entries);
	}
	flipper.stop = 1;
	pthread_join(thread, NULL);
	assert_true(found > 0);
}

/*
 * The moment after the listing, when a FIFO or a device stands where a file was: it is not
 * opened, not even for an instant.  inotify(7) tells every open but those with O_PATH.
 */
static void test_F2_what_comes_in_between_is_not_opened(void **state)
{
	struct fixture *fx = *state;
	int root = open(at(fx, "project"), O_PATH | O_DIRECTORY | O_CLOEXEC), events;
	struct sb_search_disk disk = {.root = root, .one_mount = true};
	const struct sb_search_backend *backend = &sb_search_disk_backend;
	sb_search_handle directory, file;
	char event[4096];

	assert_int_equal(mkfifo(at(fx, "project/fifo"), 0600), 0);
	assert_int_equal(backend->open_directory(&disk, "", &directory), 0);
	for (int one_mount = 0; one_mount < 2; one_mount++) {
		disk.one_mount = one_mount;
		events = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
		assert_true(inotify_add_watch(events, at(fx, "project/fifo"), IN_OPEN) >= 0);
		assert_int_equal(backend->open_file(&disk, directory, "fifo", &file), -EINVAL);
		assert_int_equal(read(events, event, sizeof event), -1);
		/* control: an open would have been told */
		close(open(at(fx, "project/fifo"), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
		assert_true(read(events, event, sizeof event) > 0);
		close(events);
		/* the neighbour */
		assert_int_equal(backend->open_file(&disk, directory, "a.txt", &file), 0);
		backend->close_file(&disk, file);
	}
	backend->close_directory(&disk, directory);
	close(root);
}

/* --- what takes no end ------------------------------------------------------------------------- */

static void make_deep(struct fixture *fx, int depth)
{
	int at_fd = open(at(fx, "project/src"), O_PATH | O_DIRECTORY | O_CLOEXEC), next;

	for (int i = 0; i < depth; i++) {
		assert_int_equal(mkdirat(at_fd, "d", 0755), 0);
		next = openat(at_fd, "d", O_PATH | O_DIRECTORY | O_CLOEXEC);
		close(at_fd);
		at_fd = next;
	}
	close(at_fd);
}

struct deep {
	struct fixture *fx;
	int tree, copy, delete;
};

static void *go_deep(void *context)
{
	struct deep *deep = context;
	struct fixture *fx = deep->fx;
	struct sb_files_list_request list = {.size = sizeof list, .path = "."};
	struct sb_files_entries entries;

	deep->tree = sb_files_tree(fx->view, NULL, &list, &entries, &fx->err);
	if (deep->tree == 0)
		sb_files_entries_done(&entries);
	deep->copy = sb_files_copy(fx->view, NULL, "src", "src2", SB_FILES_RECURSIVE, &fx->err);
	deep->delete = sb_files_delete(fx->view, NULL, "src", true, &fx->err);
	return NULL;
}

/* In a thread with a small stack, as servers have; and with many descriptors to spend. */
static int check_deep(struct fixture *fx)
{
	struct rlimit files = {16384, 16384};
	struct deep deep = {.fx = fx};
	pthread_attr_t attributes;
	pthread_t thread;

	if (setrlimit(RLIMIT_NOFILE, &files) != 0) {
		getrlimit(RLIMIT_NOFILE, &files);
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	make_deep(fx, 1500);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, (size_t)1024 * 1024);
	MUST(pthread_create(&thread, &attributes, go_deep, &deep) == 0);
	pthread_join(thread, NULL);
	MUST(deep.tree == 0);
	MUST(deep.copy == -SB_FILES_TOO_LARGE);
	MUST(deep.delete == -SB_FILES_TOO_LARGE);
	return 0;
}

static void test_F1_deep_trees_end(void **state)
{
	in_child(*state, check_deep);
}

/* One .gitignore of a megabyte, linked into each of many nested directories. */
static int check_ignores(struct fixture *fx)
{
	struct rlimit memory = {(rlim_t)768 << 20, (rlim_t)768 << 20};
	size_t length = (size_t)1 << 20;
	char *rules = malloc(length), path[1024];
	size_t end = (size_t)snprintf(path, sizeof path, "project/src");

	for (size_t i = 0; i < length; i++)
		rules[i] = "a*b\n"[i % 4];
	fx_put_bytes(fx, "project/src/.gitignore", rules, length);
	free(rules);
	for (int depth = 0; depth < 40; depth++) {
		end += (size_t)snprintf(path + end, sizeof path - end, "/d");
		fx_dir(fx, path);
		snprintf(path + end, sizeof path - end, "/.gitignore");
		MUST(link(at(fx, "project/src/.gitignore"), at(fx, path)) == 0);
		path[end] = '\0';
	}
	snprintf(path + end, sizeof path - end, "/f");
	fx_put(fx, path, "needle\n");
	MUST(RUNNING_ON_ASAN || setrlimit(RLIMIT_AS, &memory) == 0);
	MUST(grep_for(fx, NULL, "needle") == 1);
	/* too much to know whether git ignores it: a question, and no failure */
	MUST(fx_write(fx, path + strlen("project/"), "x") == -SB_FILES_NEEDS_CONSENT);
	MUST(fx->err.why == SB_FILES_WHY_IGNORED);
	return 0;
}

static void test_F1_ignore_files_without_end(void **state)
{
	in_child(*state, check_ignores);
}

/* The search for text that differs in white space only is for advice: it must not take long. */
static void test_F1_an_edit_that_nearly_matches_everywhere(void **state)
{
	struct fixture *fx = *state;
	size_t length = (size_t)1 << 20;
	char *text = malloc(length + 1), *old = malloc(length / 2 + 2);
	struct sb_files_edit edit = {.old_text = old, .old_length = length / 2 + 1, .new_text = ""};
	struct sb_files_edit_request request = {
		.size = sizeof request, .path = "big", .edits = &edit, .edit_count = 1};
	struct sb_files_change change;
	double begin;

	memset(text, 'a', length);
	memset(old, 'a', length / 2);
	old[length / 2] = 'b';
	fx_put_bytes(fx, "project/big", text, length);
	begin = seconds();
	assert_code(sb_files_edit(fx->view, NULL, &request, &change, &fx->err), SB_FILES_NO_MATCH);
	assert_true(seconds() - begin < 5);
	free(text);
	free(old);
}

static void test_F1_lines_of_a_file_without_end(void **state)
{
	struct fixture *fx = *state;
	struct sb_files_read_request request = {.size = sizeof request, .path = "sparse"};
	struct sb_files_text text;
	char line[65536];
	double begin = seconds();

	memset(line, 'x', sizeof line);
	fx_put_bytes(fx, "project/sparse", line, sizeof line);
	assert_int_equal(truncate(at(fx, "project/sparse"), (off_t)1 << 42), 0);
	request.tail = 3;
	assert_code(sb_files_read(fx->view, NULL, &request, &text, &fx->err), SB_FILES_TOO_LARGE);
	request.tail = 0;
	request.first_line = 1000;
	assert_code(sb_files_read(fx->view, NULL, &request, &text, &fx->err), SB_FILES_TOO_LARGE);
	assert_true(seconds() - begin < 60);
}

struct grower {
	char path[PATH_MAX];
	volatile int stop;
};

#define START ((off_t)4 << 20)
#define END ((off_t)1 << 30)

static void *grow(void *context)
{
	struct grower *grower = context;
	int fd = open(grower->path, O_RDWR | O_CLOEXEC);

	/* faster than anybody copies, and not without end for whom does */
	for (off_t bytes = START; !grower->stop && bytes < END; bytes += 8 << 20) {
		usleep(1000);
		if (ftruncate(fd, bytes) != 0)
			break;
	}
	close(fd);
	return NULL;
}

/* A file that grows while it is copied is copied as long as it was. */
static void test_F1_a_copy_of_a_growing_file_ends(void **state)
{
	struct fixture *fx = *state;
	struct grower grower = {.stop = 0};
	struct stat info;
	pthread_t thread;

	fx_put(fx, "project/grows", "x");
	snprintf(grower.path, sizeof grower.path, "%s", at(fx, "project/grows"));
	assert_int_equal(truncate(grower.path, START), 0);
	assert_int_equal(pthread_create(&thread, NULL, grow, &grower), 0);
	assert_fine(sb_files_copy(fx->view, NULL, "grows", "copy", 0, &fx->err));
	grower.stop = 1;
	pthread_join(thread, NULL);
	assert_int_equal(stat(at(fx, "project/copy"), &info), 0);
	assert_true(info.st_size >= START && info.st_size < END / 2);
}

/* Many alternatives, each costly, on names that nearly match. */
static void test_F1_a_costly_glob_is_refused(void **state)
{
	struct fixture *fx = *state;
	struct sb_files_glob_request request = {.size = sizeof request};
	struct sb_files_entries entries;
	char pattern[4000] = "{", name[256] = "project/src/";
	size_t length = 1;
	double begin = seconds();

	for (int i = 0; i < 900; i++)
		length +=
			(size_t)snprintf(pattern + length, sizeof pattern - length, "%d,", i % 10);
	length += (size_t)snprintf(pattern + length, sizeof pattern - length, "x}");
	while (length + 3 < sizeof pattern)
		length += (size_t)snprintf(pattern + length, sizeof pattern - length, "*a");
	memset(name + strlen(name), 'a', 220);
	for (int i = 0; i < 200; i++) {
		snprintf(name + 220, 8, "%03d", i);
		fx_put(fx, name, "");
	}
	request.pattern = pattern;
	assert_code(sb_files_glob(fx->view, NULL, &request, &entries, &fx->err),
		    SB_FILES_INVALID_PATTERN);
	assert_true(seconds() - begin < 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_BOTH(test_C1_a_yes_to_one_end_is_none_to_the_other),
		ON_BOTH(test_P8_a_yes_to_one_ignored_file_is_none_to_another),
		ON_BOTH(test_F1_a_move_does_not_make_readable),
		ON_BOTH(test_F1_a_diff_does_not_tell_what_reading_asks_about),
		ON_DISK(test_F2_proc_from_the_root_directory),
		ON_DISK(test_F2_mounts_and_another_proc),
		ON_DISK(test_F2_hard_links_that_ask_are_not_searched),
		ON_DISK(test_F1_details_of_a_glob_are_of_the_project),
		ON_DISK(test_F2_what_comes_in_between_is_not_opened),
		ON_DISK(test_F1_deep_trees_end),
		ON_DISK(test_F1_ignore_files_without_end),
		ON_BOTH(test_F1_an_edit_that_nearly_matches_everywhere),
		ON_DISK(test_F1_lines_of_a_file_without_end),
		ON_DISK(test_F1_a_copy_of_a_growing_file_ends),
		ON_BOTH(test_F1_a_costly_glob_is_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("files_attacks", tests, NULL, NULL);
}
