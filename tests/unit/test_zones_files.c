/*
 * test_zones_files.c - what workers see of the files and may do to them, by the library, on the disk and in memory.
 * Tests and examples have the names of the sections of the design that zones come from.
 */
#include "zones_view.h"

/* --- Zone system ------------------------------------------------------------------------------------- */

static const char project_example[] = "sandbox:\n"
				      "  mode: sandboxed\n"
				      "  root: .sandbox\n"
				      "  zones:\n"
				      "    cache:\n"
				      "      path: ./cache\n"
				      "      mode: rw\n"
				      "    workspace:\n"
				      "      path: ./workspace\n"
				      "      mode: rw\n"
				      "    data:\n"
				      "      path: ./data\n"
				      "      mode: ro\n";

static void project_configuration(void **state)
{
	struct fixture *fx = *state;

	put(fx, ".sandbox/data/a.txt", "data\n");
	begin(fx, project_example,
	      "name: all\nsandbox:\n  zones:\n"
	      "    - {name: cache, mode: rw, approval: " PRE_APPROVED "}\n"
	      "    - {name: workspace, mode: rw, approval: " PRE_APPROVED "}\n"
	      "    - {name: data}\n");
	assert_string_equal(sb_workshop_zone(fx->workshop, 0), "cache");
	assert_string_equal(sb_workshop_zone(fx->workshop, 1), "data");
	assert_string_equal(sb_workshop_zone(fx->workshop, 2), "workspace");
	assert_null(sb_workshop_zone(fx->workshop, 3));
	assert_string_equal(list(fx, "/"), "cache data workspace ");
	expect_fine(write_text(fx, "/cache/doc.pdf", "pdf"));
	assert_string_equal(get(fx, ".sandbox/cache/doc.pdf"), "pdf");
	assert_string_equal(read_text(fx, "/data/a.txt"), "data\n");
	expect_code(write_text(fx, "/data/a.txt", "x"), SB_FILES_READ_ONLY);
	assert_string_equal(fx->err.person, "/data is read-only");
	assert_string_equal(get(fx, ".sandbox/data/a.txt"), "data\n");
}

static void worker_declaration(void **state)
{
	struct fixture *fx = *state;

	/* to the letter: the project only has it to read */
	put_file(fx, "golem-forge.config.yaml", project_example);
	put_worker(fx, "formatter.worker",
		   "name: formatter\ndescription: Formats data files\nsandbox:\n  zones:\n"
		   "    - name: data\n      mode: rw\n");
	assert_int_equal(open_worker(fx, "formatter.worker"), SB_E_REFUSED);
	assert_non_null(strstr(fx->why.message,
			       "data: the worker requests 'rw' but the project only has 'ro'"));
	assert_null(fx->worker);
	/* and as the project could have it */
	begin(fx, "sandbox: {zones: {data: {mode: rw}, other: {mode: rw}}}\n",
	      "name: formatter\ndescription: Formats data files\nsandbox:\n  zones:\n"
	      "    - name: data\n      mode: rw\n");
	assert_string_equal(sb_worker_name(fx->worker), "formatter");
	assert_string_equal(sb_worker_text(fx->worker), "Do it.\n");
	assert_string_equal(sb_worker_zone(fx->worker, 0), "data");
	assert_null(sb_worker_zone(fx->worker, 1));
	assert_int_equal(sb_worker_access(fx->worker, "data"), SB_ZONE_ACCESS_RW);
	assert_int_equal(sb_worker_access(fx->worker, "other"), SB_ZONE_ACCESS_NONE);
	assert_string_equal(list(fx, "/"), "data ");
	assert_null(read_text(fx, "/other/x"));
	expect_code(-(int)fx->err.code, SB_FILES_NOT_FOUND);
}

static void default_zones(void **state)
{
	struct fixture *fx = *state;

	begin(fx, NULL,
	      "name: one\nsandbox:\n  zones:\n"
	      "    - {name: cache, mode: rw, approval: " PRE_APPROVED "}\n"
	      "    - {name: workspace, mode: rw, approval: " PRE_APPROVED "}\n");
	assert_string_equal(list(fx, "/"), "cache workspace ");
	expect_fine(write_text(fx, "/workspace/report.md", "# Report\n"));
	assert_string_equal(get(fx, ".sandbox/workspace/report.md"), "# Report\n");
}

/* "Secure by default": no declaration, no files. */
static void core_model_pure_function(void **state)
{
	struct fixture *fx = *state;

	put(fx, ".sandbox/cache/a", "a");
	begin(fx, NULL, "name: pure\n");
	assert_null(sb_worker_zone(fx->worker, 0));
	assert_string_equal(list(fx, "/"), "");
	assert_false(exists(fx, "/cache"));
	assert_false(exists(fx, "/cache/a"));
	assert_false(exists(fx, "/etc/passwd"));
	expect_code(write_text(fx, "/a", "a"), SB_FILES_READ_ONLY);
	assert_string_equal(fx->err.person, "/ is read-only");
	expect_code(sb_worker_mkdir(fx->worker, "/cache/b", &fx->err), SB_FILES_READ_ONLY);
}

/* Downloaded and user-provided documents need a container; who says nothing gets the stricter. */
static void design_principle_isolation_follows_the_source(void **state)
{
	static const struct {
		const char *text;
		bool container;
	} rows[] = {
		{"name: one\n", true},
		{"name: one\nisolation: zones\n", false},
		{"name: one\nisolation: container\n", true},
		{"name: one\nisolation: own\n", false},
		{"name: one\nisolation: collaborators\n", false},
		{"name: one\nisolation: downloaded\n", true},
		{"name: one\nisolation: user-provided\n", true},
	};
	struct fixture *fx = *state;

	for (size_t i = 0; i < COUNT(rows); i++) {
		begin(fx, NULL, rows[i].text);
		assert_int_equal(sb_worker_needs_container(fx->worker), rows[i].container);
	}
}

/* --- Approval system --------------------------------------------------------------------------------- */

static const char three[] = "sandbox: {zones: {input: {mode: ro}, drafts: {mode: rw}, "
			    "final: {mode: rw}}}\n";

static const char approval_example[] = "name: one\n"
				       "sandbox:\n"
				       "  zones:\n"
				       "    - name: input\n"
				       "      mode: ro\n"
				       "      # no approval needed - zone is read-only\n"
				       "    - name: drafts\n"
				       "      mode: rw\n"
				       "      approval:\n"
				       "        write: preApproved    # No prompt\n"
				       "        delete: preApproved\n"
				       "    - name: final\n"
				       "      mode: rw\n"
				       "      approval:\n"
				       "        write: ask            # Prompt user\n"
				       "        delete: blocked       # Prevent entirely\n";

static void approval_system(void **state)
{
	struct fixture *fx = *state;

	begin(fx, three, approval_example);
	expect_fine(write_text(fx, "/drafts/a", "1"));
	expect_fine(write_text(fx, "/drafts/a", "2"));
	expect_fine(sb_worker_delete(fx->worker, "/drafts/a", &fx->err));
	assert_int_equal(fx->asked, 0);

	fx->answer = SB_FILES_ANSWER_YES;
	expect_fine(write_text(fx, "/final/a", "1"));
	assert_int_equal(fx->asked, 1);
	assert_string_equal(fx->shown, "/final/a");
	assert_string_equal(fx->path, at(fx, ".sandbox/final/a"));
	assert_string_equal(fx->directory, at(fx, ".sandbox/final"));
	expect_fine(write_text(fx, "/final/a", "2"));
	assert_int_equal(fx->asked, 2); /* each write */
	assert_int_equal(fx->recorded, 2);
	assert_string_equal(fx->recorded_path, at(fx, ".sandbox/final/a"));
	fx->answer = SB_FILES_ANSWER_NO;
	expect_code(write_text(fx, "/final/a", "3"), SB_FILES_DENIED);
	assert_string_equal(get(fx, ".sandbox/final/a"), "2");

	fx->asked = 0;
	expect_code(sb_worker_delete(fx->worker, "/final/a", &fx->err), SB_FILES_BLOCKED);
	assert_int_equal(fx->asked, 0);
	assert_string_equal(get(fx, ".sandbox/final/a"), "2");
	assert_string_equal(fx->recorded_path, at(fx, ".sandbox/final/a"));
}

/* The wrong file, the wrong directory: nothing that was there is gone, and nobody had to be asked. */
static void what_it_protects_against_mistakes(void **state)
{
	struct fixture *fx = *state;
	struct sb_files *files;

	put(fx, ".sandbox/input/data", "given");
	put(fx, ".sandbox/final/old", "old");
	put(fx, "README", "of the project");
	begin(fx, three, approval_example);
	files = sb_worker_files(fx->worker);
	expect_code(write_text(fx, "/input/data", "x"), SB_FILES_READ_ONLY);
	expect_code(sb_files_delete(files, NULL, "/input", true, &fx->err), SB_FILES_READ_ONLY);
	expect_code(sb_files_delete(files, NULL, "/final/old", true, &fx->err), SB_FILES_BLOCKED);
	expect_code(sb_files_move(files, NULL, "/final/old", "/drafts/old", false, &fx->err),
		    SB_FILES_BLOCKED);
	expect_code(write_text(fx, "/../README", "x"), SB_FILES_READ_ONLY);
	expect_code(sb_worker_delete(fx->worker, "/drafts/../../../README", &fx->err),
		    SB_FILES_NOT_FOUND);
	assert_int_equal(fx->asked, 0);
	assert_string_equal(get(fx, ".sandbox/input/data"), "given");
	assert_string_equal(get(fx, ".sandbox/final/old"), "old");
	assert_string_equal(get(fx, "README"), "of the project");
}

static void approval_types_default_is_ask(void **state)
{
	struct fixture *fx = *state;

	put(fx, ".sandbox/final/a", "1");
	begin(fx, three, "name: one\nsandbox: {zones: [{name: final, mode: rw}]}\n");
	fx->answer = SB_FILES_ANSWER_NO;
	expect_code(write_text(fx, "/final/b", "1"), SB_FILES_DENIED);
	expect_code(sb_worker_delete(fx->worker, "/final/a", &fx->err), SB_FILES_DENIED);
	assert_int_equal(fx->asked, 2);
	fx->answer = SB_FILES_ANSWER_NOBODY;
	expect_code(write_text(fx, "/final/b", "1"), SB_FILES_NEEDS_CONSENT);
	assert_null(get(fx, ".sandbox/final/b"));
	fx->answer = SB_FILES_ANSWER_YES;
	expect_fine(sb_worker_delete(fx->worker, "/final/a", &fx->err));
	assert_null(get(fx, ".sandbox/final/a"));
}

/* A call asks once for a directory with all that is in it, and for the directories on the way to a new file. */
static void approval_is_for_a_call(void **state)
{
	struct fixture *fx = *state;
	struct sb_files *files;

	put(fx, ".sandbox/final/d/a", "1");
	put(fx, ".sandbox/final/d/e/b", "1");
	begin(fx, three, "name: one\nsandbox: {zones: [{name: final, mode: rw}]}\n");
	files = sb_worker_files(fx->worker);
	fx->answer = SB_FILES_ANSWER_YES;
	expect_fine(write_text(fx, "/final/x/y/z", "1"));
	assert_int_equal(fx->asked, 1);
	expect_fine(sb_files_copy(files, NULL, "/final/d", "/final/copy", SB_FILES_RECURSIVE,
				  &fx->err));
	assert_int_equal(fx->asked, 2);
	assert_string_equal(get(fx, ".sandbox/final/copy/e/b"), "1");
	expect_fine(sb_files_delete(files, NULL, "/final/d", true, &fx->err));
	assert_int_equal(fx->asked, 3);
	assert_null(get(fx, ".sandbox/final/d/a"));
	expect_fine(sb_files_move(files, NULL, "/final/copy", "/final/d", false, &fx->err));
	assert_int_equal(fx->asked, 5); /* away from here, and to there */
	fx->answer = SB_FILES_ANSWER_NO;
	expect_code(sb_files_delete(files, NULL, "/final/d", true, &fx->err), SB_FILES_DENIED);
	assert_string_equal(get(fx, ".sandbox/final/d/e/b"), "1");
}

/* "ro" holds whatever is approved; deleting alone can be approved. */
static void why_separate_from_mode(void **state)
{
	struct fixture *fx = *state;

	put(fx, ".sandbox/input/a", "1");
	put(fx, ".sandbox/final/a", "1");
	begin(fx, three,
	      "name: one\nsandbox: {zones: [{name: input, mode: ro, approval: " PRE_APPROVED "}, "
	      "{name: final, mode: rw, approval: {write: blocked, delete: preApproved}}]}\n");
	expect_code(write_text(fx, "/input/a", "2"), SB_FILES_READ_ONLY);
	expect_code(sb_worker_delete(fx->worker, "/input/a", &fx->err), SB_FILES_READ_ONLY);
	assert_string_equal(fx->err.person, "/input is read-only");
	expect_code(write_text(fx, "/final/a", "2"), SB_FILES_BLOCKED);
	expect_code(write_text(fx, "/final/b", "2"), SB_FILES_BLOCKED);
	/* a move is a deletion here and a write there */
	expect_code(sb_files_move(sb_worker_files(fx->worker), NULL, "/final/a", "/final/b", false,
				  &fx->err),
		    SB_FILES_BLOCKED);
	expect_fine(sb_worker_delete(fx->worker, "/final/a", &fx->err));
	assert_int_equal(fx->asked, 0);
	/* blocked both ways it can be changed no more than with "ro", and is another thing */
	put(fx, ".sandbox/final/a", "1");
	begin(fx, three,
	      "name: one\nsandbox: {zones: [{name: final, mode: rw, approval: {write: blocked, "
	      "delete: blocked}}]}\n");
	expect_code(write_text(fx, "/final/a", "2"), SB_FILES_BLOCKED);
	expect_code(write_text(fx, "/final/b", "2"), SB_FILES_BLOCKED);
	expect_code(sb_worker_delete(fx->worker, "/final/a", &fx->err), SB_FILES_BLOCKED);
	assert_string_equal(read_text(fx, "/final/a"), "1");
	assert_int_equal(fx->asked, 0);
}

/* What the user's own configuration says is never loosened. */
static void approval_is_never_looser_than_the_user(void **state)
{
	struct fixture *fx = *state;
	char path[PATH_MAX + 64];

	put(fx, ".sandbox/drafts/kept/a", "1");
	put(fx, ".sandbox/drafts/hidden", "1");
	snprintf(path, sizeof path, "%s/.config", fx->base);
	assert_int_equal(mkdir(path, 0700), 0);
	strcat(path, "/sandbash");
	assert_int_equal(mkdir(path, 0700), 0);
	strcat(path, "/config");
	put_real(path,
		 "read ~/project/.sandbox/drafts/kept\ndeny ~/project/.sandbox/drafts/hidden\n"
		 "write ~/project/.sandbox/input\n");
	begin(fx, three, approval_example);
	expect_fine(write_text(fx, "/drafts/new", "2"));
	expect_code(write_text(fx, "/drafts/kept/a", "2"), SB_FILES_READ_ONLY);
	assert_null(read_text(fx, "/drafts/hidden"));
	expect_code(-(int)fx->err.code, SB_FILES_BLOCKED);
	assert_string_equal(list(fx, "/drafts"), "kept new ");
	expect_code(write_text(fx, "/input/a", "2"), SB_FILES_READ_ONLY);
	put_real(path, "workers ask\n");
	begin(fx, three, approval_example);
	fx->asked = 0;
	fx->answer = SB_FILES_ANSWER_NO;
	expect_code(write_text(fx, "/drafts/other", "2"), SB_FILES_DENIED);
	assert_int_equal(fx->asked, 1);
}

/* --- Worker delegation ------------------------------------------------------------------------------- */

static const char delegation_project[] =
	"sandbox: {zones: {data: {mode: rw}, workspace: {mode: rw}, cache: {mode: rw}}}\n";

static int delegate(struct fixture *fx, const char *text)
{
	put_worker(fx, "child.worker", text);
	sb_worker_close(fx->child);
	fx->child = NULL;
	return sb_worker_delegate(fx->worker, "child.worker", &fx->child, &fx->why);
}

static void delegation_child_gets_what_it_declares(void **state)
{
	struct fixture *fx = *state;

	begin(fx, delegation_project,
	      "name: parent\nsandbox: {zones: [{name: data, mode: rw}, {name: workspace, mode: rw}, "
	      "{name: cache, mode: rw}]}\n");
	assert_int_equal(delegate(fx, "name: child\nsandbox: {zones: [{name: data, mode: rw}]}\n"),
			 SB_OK);
	assert_int_equal(sb_worker_access(fx->child, "data"), SB_ZONE_ACCESS_RW);
	assert_int_equal(sb_worker_access(fx->child, "workspace"), SB_ZONE_ACCESS_NONE);
	assert_string_equal(sb_worker_zone(fx->child, 0), "data");
	assert_null(sb_worker_zone(fx->child, 1));
}

static void delegation_parent_is_ceiling(void **state)
{
	struct fixture *fx = *state;

	begin(fx, delegation_project, "name: parent\nsandbox: {zones: [{name: data}]}\n");
	assert_int_equal(delegate(fx, "name: child\nsandbox: {zones: [{name: data, mode: rw}]}\n"),
			 SB_E_REFUSED);
	assert_non_null(
		strstr(fx->why.message, "data: Child requests 'rw' but parent only has 'ro'"));
	assert_null(fx->child);
	assert_int_equal(delegate(fx, "name: child\nsandbox: {zones: [{name: cache, mode: ro}]}\n"),
			 SB_E_REFUSED);
	assert_non_null(
		strstr(fx->why.message, "cache: Child requests 'ro' but parent does not have it"));
	assert_int_equal(delegate(fx, "name: child\nsandbox: {zones: [{name: data}]}\n"), SB_OK);
}

static void delegation_child_declares_nothing(void **state)
{
	struct fixture *fx = *state;
	struct sb_worker_view *parent;

	put(fx, ".sandbox/data/a", "1");
	begin(fx, delegation_project,
	      "name: parent\nsandbox: {zones: [{name: data, mode: rw}, {name: workspace, mode: "
	      "rw}]}\n");
	assert_int_equal(delegate(fx, "name: child\n"), SB_OK);
	assert_null(sb_worker_zone(fx->child, 0));
	parent = fx->worker;
	fx->worker = fx->child;
	assert_string_equal(list(fx, "/"), "");
	assert_false(exists(fx, "/data/a"));
	fx->worker = parent;
	assert_true(exists(fx, "/data/a"));
}

/* What the parent is asked about, or may not do, is so for the child; it asks the same person. */
static void delegation_approval_is_the_stricter(void **state)
{
	struct fixture *fx = *state;

	begin(fx, delegation_project,
	      "name: parent\nsandbox: {zones: [{name: data, mode: rw, approval: {write: ask, "
	      "delete: blocked}}]}\n");
	assert_int_equal(delegate(fx, "name: child\nsandbox: {zones: [{name: data, mode: rw, "
				      "approval: " PRE_APPROVED "}]}\n"),
			 SB_OK);
	fx->answer = SB_FILES_ANSWER_YES;
	expect_fine(sb_worker_write(fx->child, "/data/a", "1", 1, &fx->err));
	assert_int_equal(fx->asked, 1);
	expect_code(sb_worker_delete(fx->child, "/data/a", &fx->err), SB_FILES_BLOCKED);
}

static void delegation_ten_levels(void **state)
{
	struct fixture *fx = *state;
	struct sb_worker_view *chain[11] = {0};

	begin(fx, delegation_project,
	      "name: parent\nsandbox: {zones: [{name: data, mode: rw, approval: " PRE_APPROVED
	      "}]}\n");
	put_worker(fx, "next.worker",
		   "name: next\nsandbox: {zones: [{name: data, mode: rw, approval: " PRE_APPROVED
		   "}]}\n");
	chain[0] = fx->worker;
	for (size_t i = 0; i < 10; i++)
		assert_int_equal(
			sb_worker_delegate(chain[i], "next.worker", &chain[i + 1], &fx->why),
			SB_OK);
	expect_fine(sb_worker_write(chain[10], "/data/deep", "1", 1, &fx->err));
	assert_string_equal(get(fx, ".sandbox/data/deep"), "1");
	for (size_t i = 10; i > 0; i--)
		sb_worker_close(chain[i]);
}

static const struct CMUnitTest tests[] = {
	ON_BOTH(project_configuration),
	ON_BOTH(worker_declaration),
	ON_BOTH(default_zones),
	ON_BOTH(core_model_pure_function),
	ON_BOTH(design_principle_isolation_follows_the_source),
	ON_BOTH(what_it_protects_against_mistakes),
	ON_BOTH(approval_system),
	ON_BOTH(approval_types_default_is_ask),
	ON_BOTH(approval_is_for_a_call),
	ON_BOTH(why_separate_from_mode),
	ON_BOTH(approval_is_never_looser_than_the_user),
	ON_BOTH(delegation_child_gets_what_it_declares),
	ON_BOTH(delegation_parent_is_ceiling),
	ON_BOTH(delegation_child_declares_nothing),
	ON_BOTH(delegation_approval_is_the_stricter),
	ON_BOTH(delegation_ten_levels),
};

UNIT_MAIN("zones_files")
