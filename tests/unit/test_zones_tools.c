/*
 * test_zones_tools.c - what a worker's tools reach and say, and what nobody gets out by.
 * Tests and examples have the names of the sections of the design that zones come from.
 */
#include "zones_view.h"

/* --- LLM interface ------------------------------------------------------------------------------------ */

static const char two[] = "sandbox: {zones: {input: {mode: ro}, output: {mode: rw}}}\n";
static const char both[] = "name: one\nsandbox: {zones: [{name: input}, {name: output, mode: rw, "
			   "approval: " PRE_APPROVED "}]}\n";

static void discoverable_filesystem(void **state)
{
	struct fixture *fx = *state;

	put(fx, ".sandbox/input/data.pdf", "pdf");
	put(fx, ".sandbox/input/config.json", "{}");
	begin(fx, two, both);
	assert_string_equal(list(fx, "/"), "input output ");
	assert_string_equal(list(fx, "/input"), "config.json data.pdf ");
	expect_code(write_text(fx, "/input/new.txt", "content"), SB_FILES_READ_ONLY);
	assert_string_equal(fx->err.person, "/input is read-only");
	assert_string_equal(fx->err.path, "/input/new.txt");
	/* paths need no slash in front, and have one meaning however they are put */
	assert_string_equal(read_text(fx, "input/config.json"), "{}");
	assert_string_equal(read_text(fx, "/output/../input//./config.json"), "{}");
	assert_string_equal(list(fx, "/.."), "input output ");
}

/* Edit, grep, glob and all: results have names that the worker knows. */
static void standard_tools(void **state)
{
	struct fixture *fx = *state;
	const struct sb_files_edit edit = {
		.old_text = "one", .old_length = 3, .new_text = "two", .new_length = 3};
	const struct sb_files_edit_request edits = {
		.size = sizeof edits, .path = "/output/a.txt", .edits = &edit, .edit_count = 1};
	const struct sb_files_glob_request glob = {
		.size = sizeof glob, .path = "/", .pattern = "**/*.txt"};
	const struct sb_files_list_request tree = {.size = sizeof tree, .path = "/"};
	struct sb_files_entries entries;
	struct sb_files_change change;
	struct sb_files_info info;
	struct sb_files *files;

	put(fx, ".sandbox/input/deep/b.txt", "one\n");
	begin(fx, two, both);
	files = sb_worker_files(fx->worker);
	expect_fine(write_text(fx, "/output/a.txt", "one\n"));
	expect_fine(sb_files_edit(files, NULL, &edits, &change, &fx->err));
	assert_non_null(strstr(change.diff, "+++ /output/a.txt"));
	assert_null(strstr(change.diff, fx->base));
	assert_string_equal(change.path, "/output/a.txt");
	sb_files_change_done(&change);
	expect_fine(sb_worker_stat(fx->worker, "/output/a.txt", &info, &fx->err));
	assert_string_equal(info.path, "/output/a.txt");
	assert_int_equal(info.access.verdict[SB_DELETE], SB_ALLOW);
	expect_fine(sb_worker_stat(fx->worker, "/input", &info, &fx->err));
	assert_int_equal(info.type, SB_FILES_DIRECTORY);
	assert_int_equal(info.access.verdict[SB_CREATE], SB_DENY);
	expect_fine(sb_files_glob(files, NULL, &glob, &entries, &fx->err));
	assert_int_equal(entries.count, 2);
	assert_string_equal(entries.all[0].name, "input/deep/b.txt");
	assert_string_equal(entries.all[1].name, "output/a.txt");
	sb_files_entries_done(&entries);
	expect_fine(sb_files_tree(files, NULL, &tree, &entries, &fx->err));
	assert_int_equal(entries.count, 5);
	assert_string_equal(entries.all[2].name, "b.txt");
	sb_files_entries_done(&entries);
	expect_fine(sb_files_copy(files, NULL, "/input/deep", "/output/deep", SB_FILES_RECURSIVE,
				  &fx->err));
	assert_string_equal(get(fx, ".sandbox/output/deep/b.txt"), "one\n");
	expect_fine(sb_files_move(files, NULL, "/output/deep", "/output/other", false, &fx->err));
	assert_string_equal(list(fx, "/output/other"), "b.txt ");
	expect_fine(sb_files_delete(files, NULL, "/output/other", true, &fx->err));
	assert_string_equal(list(fx, "/output"), "a.txt ");
}

/* What is in "/" is the project's to say. */
static void the_root_is_fixed(void **state)
{
	struct fixture *fx = *state;
	struct sb_files *files;

	begin(fx, two, both);
	files = sb_worker_files(fx->worker);
	expect_code(write_text(fx, "/new", "x"), SB_FILES_READ_ONLY);
	assert_string_equal(fx->err.person, "/ is read-only");
	expect_code(sb_worker_mkdir(fx->worker, "/new/deep", &fx->err), SB_FILES_READ_ONLY);
	expect_code(sb_files_delete(files, NULL, "/output", true, &fx->err), SB_FILES_READ_ONLY);
	expect_code(sb_files_delete(files, NULL, "/", true, &fx->err), SB_FILES_READ_ONLY);
	expect_code(sb_files_move(files, NULL, "/output", "/output2", false, &fx->err),
		    SB_FILES_READ_ONLY);
	expect_code(sb_files_move(files, NULL, "/output", "/input/o", false, &fx->err),
		    SB_FILES_READ_ONLY);
	expect_code(write_text(fx, "/output", "x"), SB_FILES_IS_A_DIRECTORY);
	assert_string_equal(list(fx, "/"), "input output ");
	expect_fine(sb_worker_mkdir(fx->worker, "/output", &fx->err));
	expect_fine(sb_worker_mkdir(fx->worker, "/output/a/b", &fx->err));
}

/* Neither "..", nor links of any kind, nor names of this machine lead out. */
static void nothing_leads_out(void **state)
{
	struct fixture *fx = *state;
	char path[2 * PATH_MAX];
	const char *const ways[] = {"/../../etc/passwd",
				    "/output/../../../../etc/passwd",
				    "/etc/passwd",
				    "/output/absolute",
				    "/output/relative",
				    "/output/up/secret.txt",
				    "/output/real",
				    "/proc/self/environ",
				    "~/project/sandbash.yaml"};

	put(fx, "secret.txt", "secret\n");
	put(fx, ".sandbox/input/a.txt", "inside\n");
	put(fx, ".sandbox/output/sub/b.txt", "b\n");
	put_link(fx, "/etc/passwd", ".sandbox/output/absolute");
	put_link(fx, "../../secret.txt", ".sandbox/output/relative");
	put_link(fx, "../..", ".sandbox/output/up");
	put_link(fx, at(fx, "secret.txt"), ".sandbox/output/real");
	put_link(fx, "/input/a.txt", ".sandbox/output/seen");
	put_link(fx, "../input/a.txt", ".sandbox/output/beside");
	put_link(fx, "sub/../seen", ".sandbox/output/twice");
	put_link(fx, "circle", ".sandbox/output/circle");
	put_link(fx, "/output/sub", ".sandbox/output/directory");
	begin(fx, two, both);
	for (size_t i = 0; i < COUNT(ways); i++) {
		if (read_text(fx, ways[i]))
			fail_msg("'%s' is read", ways[i]);
		expect_code(-(int)fx->err.code, SB_FILES_NOT_FOUND);
		assert_int_not_equal(write_text(fx, ways[i], "changed\n"), 0);
		if (!strstr(ways[i], "real")) /* the text of a link in there is no secret */
			expect_no_leak(fx);
	}
	assert_null(read_text(fx, at(fx, "secret.txt")));
	snprintf(path, sizeof path, "/output/../%s", at(fx, "secret.txt"));
	assert_null(read_text(fx, path));
	/* to write where a link leads is to write there */
	expect_code(write_text(fx, "/output/seen", "x"), SB_FILES_READ_ONLY);
	assert_string_equal(read_text(fx, "/output/seen"), "inside\n");
	assert_string_equal(read_text(fx, "/output/beside"), "inside\n");
	assert_string_equal(read_text(fx, "/output/twice"), "inside\n");
	assert_string_equal(read_text(fx, "/output/directory/b.txt"), "b\n");
	assert_string_equal(read_text(fx, "/output/directory/../sub/b.txt"), "b\n");
	assert_string_equal(read_text(fx, "/output/sub/../../input/a.txt"), "inside\n");
	assert_null(read_text(fx, "/output/circle"));
	expect_code(-(int)fx->err.code, SB_FILES_TOO_MANY_LINKS);
	assert_string_equal(get(fx, "secret.txt"), "secret\n");
	assert_int_equal(fx->asked, 0);
}

/* --- Implementation ----------------------------------------------------------------------------------- */

static void backend_modes_sandboxed(void **state)
{
	struct fixture *fx = *state;

	begin(fx, "sandbox: {mode: sandboxed, root: place, zones: {cache: {mode: rw}}}\n",
	      "name: one\nsandbox: {zones: [{name: cache, mode: rw, approval: " PRE_APPROVED
	      "}]}\n");
	expect_fine(write_text(fx, "/cache/doc.pdf", "1"));
	assert_string_equal(get(fx, "place/cache/doc.pdf"), "1");
}

static void backend_modes_direct(void **state)
{
	struct fixture *fx = *state;

	begin(fx,
	      "sandbox: {mode: direct, zones: {cache: {path: ./downloads, mode: rw}, "
	      "workspace: {path: ./reports, mode: rw}}}\n",
	      "name: one\nsandbox: {zones: [{name: cache, mode: rw, approval: " PRE_APPROVED
	      "}, {name: workspace}]}\n");
	expect_fine(write_text(fx, "/cache/doc.pdf", "1"));
	assert_string_equal(get(fx, "downloads/doc.pdf"), "1");
	assert_string_equal(list(fx, "/workspace"), "");
}

static void sandbox_interface(void **state)
{
	struct fixture *fx = *state;
	struct sb_files_info info;

	begin(fx, two, both);
	expect_fine(write_text(fx, "/output/new/a", "text"));
	assert_string_equal(read_text(fx, "/output/new/a"), "text");
	assert_true(exists(fx, "/output/new/a"));
	assert_true(exists(fx, "/output"));
	assert_true(exists(fx, "/"));
	assert_false(exists(fx, "/output/b"));
	assert_string_equal(list(fx, "/output/new"), "a ");
	expect_fine(sb_worker_stat(fx->worker, "/output/new/a", &info, &fx->err));
	assert_int_equal(info.bytes, 4);
	expect_fine(sb_worker_delete(fx->worker, "/output/new/a", &fx->err));
	assert_false(exists(fx, "/output/new/a"));
	expect_fine(sb_worker_mkdir(fx->worker, "/output/d", &fx->err));
	assert_int_equal(sb_worker_access(fx->worker, "input"), SB_ZONE_ACCESS_RO);
	assert_int_equal(sb_worker_access(fx->worker, "output"), SB_ZONE_ACCESS_RW);
	assert_int_equal(sb_worker_access(fx->worker, "etc"), SB_ZONE_ACCESS_NONE);
	assert_string_equal(sb_worker_zone(fx->worker, 0), "input");
	assert_string_equal(sb_worker_zone(fx->worker, 1), "output");
	assert_null(sb_worker_zone(fx->worker, 2));
}

static void error_types(void **state)
{
	struct fixture *fx = *state;

	begin(fx, two, both);
	assert_null(read_text(fx, "/input/none"));
	expect_code(-(int)fx->err.code, SB_FILES_NOT_FOUND);
	assert_string_equal(fx->err.person, "cannot read '/input/none': No such file or directory");
	assert_null(read_text(fx, "/input"));
	expect_code(-(int)fx->err.code, SB_FILES_IS_A_DIRECTORY);
	expect_code(write_text(fx, "/input/a", "1"), SB_FILES_READ_ONLY);
	assert_true(fx->err.violation);
	expect_fine(write_text(fx, "/output/d/a", "1"));
	expect_code(sb_worker_delete(fx->worker, "/output/d", &fx->err), SB_FILES_NOT_EMPTY);
	assert_null(list(fx, "/output/d/a"));
	expect_code(-(int)fx->err.code, SB_FILES_NOT_A_DIRECTORY);
	assert_null(read_text(fx, "/output/d/a/b"));
	expect_code(-(int)fx->err.code, SB_FILES_NOT_A_DIRECTORY);
}

/* --- one backend alone --------------------------------------------------------------------------------- */

/* What does not fit is answered as a full disk does, and what is there stays. */
static void backend_interface_memory_has_limits(void **state)
{
	struct fixture *fx = *state;

	begin(fx, two, both);
	sb_files_memory_limit(fx->backend, 64, 1000);
	expect_fine(write_text(fx, "/output/a", "fits"));
	expect_code(
		write_text(fx, "/output/a",
			   "this is longer than all that the memory may hold, which is 64 bytes"),
		SB_FILES_NO_SPACE);
	assert_int_equal(fx->err.sys_errno, ENOSPC);
	assert_string_equal(read_text(fx, "/output/a"), "fits");
	sb_files_memory_limit(fx->backend, 64, 1);
	expect_code(write_text(fx, "/output/b", "1"), SB_FILES_NO_SPACE);
	expect_code(sb_worker_mkdir(fx->worker, "/output/d", &fx->err), SB_FILES_NO_SPACE);
}

/* A directory that somebody puts elsewhere is not found there, nor is one in its place. */
static void a_directory_that_moves_is_not_followed(void **state)
{
	struct fixture *fx = *state;

	put(fx, "secret/a", "secret");
	begin(fx, two, both);
	expect_fine(write_text(fx, "/output/a", "1"));
	assert_int_equal(rename(at(fx, ".sandbox/output"), at(fx, "moved")), 0);
	assert_int_equal(symlink("../secret", at(fx, ".sandbox/output")), 0);
	assert_null(read_text(fx, "/output/a"));
	expect_code(-(int)fx->err.code, SB_FILES_CHANGED);
	expect_code(write_text(fx, "/output/a", "2"), SB_FILES_CHANGED);
	assert_string_equal(get(fx, "secret/a"), "secret");
	assert_string_equal(get(fx, "moved/a"), "1");
}

/* What a program outside obeys is asked about, whatever is approved. */
static void guarded_names_ask(void **state)
{
	struct fixture *fx = *state;

	begin(fx, two, both);
	fx->answer = SB_FILES_ANSWER_NO;
	expect_fine(write_text(fx, "/output/plain", "1"));
	expect_code(write_text(fx, "/output/.vscode/tasks.json", "{}"), SB_FILES_DENIED);
	assert_int_equal(fx->asked, 1);
	assert_string_equal(fx->shown, "/output/.vscode/tasks.json");
	assert_string_equal(fx->directory, ""); /* one by one */
	/* what says which files a worker has */
	expect_code(write_text(fx, "/output/other.worker", "---\nname: other\n---\n"),
		    SB_FILES_DENIED);
	expect_code(write_text(fx, "/output/sandbash.yaml", "sandbox: {mode: direct}\n"),
		    SB_FILES_DENIED);
	assert_int_equal(fx->asked, 3);
}

/* A link of the user's leads into what the worker may change: it is asked about as what it is. */
static void what_a_link_at_home_leads_to_asks(void **state)
{
	struct fixture *fx = *state;
	char link[PATH_MAX + 16];

	put(fx, ".sandbox/output/rc", "# mine\n");
	put(fx, ".sandbox/output/neighbour", "# mine\n");
	snprintf(link, sizeof link, "%s/.bashrc", fx->base);
	assert_int_equal(symlink(at(fx, ".sandbox/output/rc"), link), 0);
	begin(fx, two, both);
	fx->answer = SB_FILES_ANSWER_NO;
	expect_fine(write_text(fx, "/output/neighbour", "rm -rf x\n"));
	expect_code(write_text(fx, "/output/rc", "rm -rf x\n"), SB_FILES_DENIED);
	assert_int_equal(fx->asked, 1);
}

/* --- against somebody who changes the directories meanwhile ------------------------------------------- */

struct flipper {
	char dir[PATH_MAX], kept[PATH_MAX], out[PATH_MAX];
	atomic_bool stop;
	atomic_ulong flips;
};

/* A directory of the worker's is now there, now a link that leads out, now moved out itself. */
static void *flip(void *context)
{
	struct flipper *flipper = context;

	while (!atomic_load(&flipper->stop)) {
		rename(flipper->dir, flipper->kept);
		(void)!symlink("../../secret", flipper->dir);
		unlink(flipper->dir);
		rename(flipper->kept, flipper->out);
		(void)!symlink("../../moved", flipper->dir);
		unlink(flipper->dir);
		rename(flipper->out, flipper->dir);
		atomic_fetch_add(&flipper->flips, 1);
	}
	return NULL;
}

static void nothing_leads_out_while_directories_change(void **state)
{
	static const char *const ways[] = {"/output/d/secret.txt", "/output/d/sub/../secret.txt",
					   "/output/d/../d/secret.txt",
					   "/output/d/sub/../../../secret/secret.txt"};
	struct fixture *fx = *state;
	static struct flipper flipper;
	size_t calls = 0, inside = 0;
	pthread_t thread;

	put(fx, "secret/secret.txt", "secret");
	put(fx, "secret/sub/x", "x");
	put(fx, ".sandbox/output/d/secret.txt", "inside");
	put(fx, ".sandbox/output/d/sub/x", "x");
	begin(fx, two, both);
	snprintf(flipper.dir, sizeof flipper.dir, "%s", at(fx, ".sandbox/output/d"));
	snprintf(flipper.kept, sizeof flipper.kept, "%s", at(fx, ".sandbox/output/e"));
	snprintf(flipper.out, sizeof flipper.out, "%s", at(fx, "moved"));
	assert_int_equal(pthread_create(&thread, NULL, flip, &flipper), 0);
	while (calls < 2000 || (atomic_load(&flipper.flips) < 200 && calls < 200000)) {
		const char *text = read_text(fx, ways[calls++ % COUNT(ways)]);

		if (text && strcmp(text, "inside") != 0)
			fail_msg("read '%s'", text);
		inside += text != NULL;
		if (calls % 8 == 0)
			write_text(fx, "/output/d/sub/../new", "new");
	}
	atomic_store(&flipper.stop, true);
	assert_int_equal(pthread_join(thread, NULL), 0);
	print_message("# %zu calls, %zu inside, %lu flips\n", calls, inside,
		      atomic_load(&flipper.flips));
	assert_null(get(fx, "secret/new"));
	assert_string_equal(get(fx, "secret/secret.txt"), "secret");
	assert_string_equal(read_text(fx, ways[0]), "inside");
}

static const struct CMUnitTest tests[] = {
	ON_BOTH(discoverable_filesystem),
	ON_BOTH(standard_tools),
	ON_BOTH(the_root_is_fixed),
	ON_BOTH(nothing_leads_out),
	ON_BOTH(backend_modes_sandboxed),
	ON_BOTH(backend_modes_direct),
	ON_BOTH(sandbox_interface),
	ON_BOTH(error_types),
	IN_MEMORY(backend_interface_memory_has_limits),
	ON_DISK(a_directory_that_moves_is_not_followed),
	ON_DISK(guarded_names_ask),
	ON_DISK(what_a_link_at_home_leads_to_asks),
	ON_DISK(nothing_leads_out_while_directories_change),
};

UNIT_MAIN("zones_tools")
