/*
 * test_zones_files.c - what workers see of the files and may do to them, by the library, on the disk and in memory.
 * Tests and examples have the names of the sections of the design that zones come from.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbash/worker.h"
#include "tree.h"

struct fixture {
	bool memory;
	char base[PATH_MAX]; /* canonical; project and home are in it */
	char home[PATH_MAX];
	struct sb_sandbox *sandbox;
	struct sb_files_backend *backend; /* NULL: the disk */
	struct sb_policy *anything;
	struct sb_files *master; /* sees all of the memory */
	struct sb_workshop *workshop;
	struct sb_worker_view *worker, *child;
	/* of the person who is asked */
	enum sb_files_answer answer;
	int asked;
	char shown[PATH_MAX], path[PATH_MAX], directory[PATH_MAX];
	int recorded;
	char recorded_path[PATH_MAX];
	struct sb_error why;
	struct sb_files_error err;
};

static const char project[] = "project"; /* in base */

static const char *at(struct fixture *fx, const char *name)
{
	static char paths[4][2 * PATH_MAX];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof paths[0], "%s/%s/%s", fx->base, project, name);
	return path;
}

/* --- past the workers ------------------------------------------------------------------------------ */

static void put_real(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* A file of the project, which is on the disk in any case. */
static void put_file(struct fixture *fx, const char *name, const char *text)
{
	put_real(at(fx, name), text);
}

/* What lies in the directories that workers share. */
static void put(struct fixture *fx, const char *name, const char *text)
{
	struct sb_files_write_request request = {.size = sizeof request,
						 .path = at(fx, name),
						 .data = text,
						 .length = strlen(text),
						 .parents = true};
	struct sb_files_change change;

	assert_int_equal(sb_files_write(fx->master, NULL, &request, &change, &fx->err), 0);
	sb_files_change_done(&change);
}

static const char *get(struct fixture *fx, const char *name)
{
	static char copy[4096];
	struct sb_files_read_request request = {
		.size = sizeof request, .path = at(fx, name), .raw = true};
	struct sb_files_text text;

	if (sb_files_read(fx->master, NULL, &request, &text, NULL) != 0)
		return NULL;
	snprintf(copy, sizeof copy, "%s", text.data);
	sb_files_text_done(&text);
	return copy;
}

static void put_link(struct fixture *fx, const char *target, const char *name)
{
	if (fx->memory)
		assert_int_equal(sb_files_memory_symlink(fx->backend, target, at(fx, name)), 0);
	else
		assert_int_equal(symlink(target, at(fx, name)), 0);
}

/* --- fixture ---------------------------------------------------------------------------------------- */

static enum sb_files_answer consent(void *context, const struct sb_files_question *question)
{
	struct fixture *fx = context;

	fx->asked++;
	snprintf(fx->shown, sizeof fx->shown, "%s", question->shown);
	snprintf(fx->path, sizeof fx->path, "%s", question->path);
	snprintf(fx->directory, sizeof fx->directory, "%s",
		 question->directory ? question->directory : "");
	return fx->answer;
}

static void audit(void *context, const struct sb_files_event *event)
{
	struct fixture *fx = context;

	fx->recorded++;
	snprintf(fx->recorded_path, sizeof fx->recorded_path, "%s", event->path);
}

static int set_up(void **state)
{
	static const char *const everything[] = {"/", NULL};
	struct fixture *fx = calloc(1, sizeof *fx);
	struct sb_files_options options = {
		.size = sizeof options, .ignored = SB_FILES_ALLOW, .mounts = SB_FILES_ALLOW};
	void *base = NULL;

	fx->memory = *state != NULL;
	if (tree_setup(&base) != 0)
		return -1;
	snprintf(fx->base, sizeof fx->base, "%s", (const char *)base);
	free(base);
	assert_int_equal(mkdir(at(fx, ""), 0755), 0);
	setenv("HOME", fx->base, 1);
	assert_int_equal(chdir(at(fx, "")), 0);
	if (fx->memory)
		fx->backend = options.backend = sb_files_memory_new();
	fx->anything = sb_policy_new();
	sb_policy_set(fx->anything, SB_SETTING_MODE, SB_MODE_DANGER_FULL_ACCESS);
	assert_int_equal(sb_policy_seal(fx->anything, NULL), SB_OK);
	assert_int_equal(sb_files_open(fx->anything, everything, &options, &fx->master, &fx->err),
			 0);
	*state = fx;
	return 0;
}

static void close_all(struct fixture *fx)
{
	sb_worker_close(fx->child);
	sb_worker_close(fx->worker);
	sb_workshop_close(fx->workshop);
	sb_sandbox_close(fx->sandbox);
	fx->child = fx->worker = NULL;
	fx->workshop = NULL;
	fx->sandbox = NULL;
}

static int tear_down(void **state)
{
	struct fixture *fx = *state;

	close_all(fx);
	sb_files_close(fx->master);
	sb_policy_free(fx->anything);
	sb_files_backend_free(fx->backend);
	assert_int_equal(chdir("/"), 0);
	tree_clear(fx->base);
	free(fx);
	return 0;
}

/* Names end with .worker, text is front matter. */
static void put_worker(struct fixture *fx, const char *file, const char *text)
{
	char whole[4096];

	snprintf(whole, sizeof whole, "---\n%s---\nDo it.\n", text);
	put_file(fx, file, whole);
}

static int open_worker(struct fixture *fx, const char *file)
{
	static const struct sb_sandbox_options anywhere = {.size = sizeof anywhere,
							   .anywhere = true};
	const struct sb_files_options options = {.size = sizeof options,
						 .consent = consent,
						 .audit = audit,
						 .context = fx,
						 .no_sync = true};

	close_all(fx);
	assert_int_equal(sb_sandbox_open(&anywhere, &fx->sandbox, &fx->why), SB_OK);
	if (sb_workshop_open(fx->sandbox, NULL, fx->backend, &fx->workshop, &fx->why) != SB_OK)
		fail_msg("%s", fx->why.message);
	return sb_worker_open(fx->workshop, file, &options, &fx->worker, &fx->why);
}

/* The project's file, the worker's front matter: open it. */
static void begin(struct fixture *fx, const char *config, const char *worker)
{
	if (config)
		put_file(fx, "golem-forge.config.yaml", config);
	put_worker(fx, "one.worker", worker);
	if (open_worker(fx, "one.worker") != SB_OK)
		fail_msg("%s", fx->why.message);
}

/* --- what a worker does ------------------------------------------------------------------------------ */

static int write_text(struct fixture *fx, const char *path, const char *text)
{
	return sb_worker_write(fx->worker, path, text, strlen(text), &fx->err);
}

static const char *read_text(struct fixture *fx, const char *path)
{
	static char copy[4096];
	struct sb_files_text text;

	if (sb_worker_read(fx->worker, path, &text, &fx->err) != 0)
		return NULL;
	snprintf(copy, sizeof copy, "%s", text.data);
	sb_files_text_done(&text);
	return copy;
}

/* Names with a blank behind each. */
static const char *list(struct fixture *fx, const char *path)
{
	static char names[4096];
	struct sb_files_entries entries;

	names[0] = '\0';
	if (sb_worker_list(fx->worker, path, &entries, &fx->err) != 0)
		return NULL;
	for (size_t i = 0; i < entries.count; i++)
		snprintf(names + strlen(names), sizeof names - strlen(names), "%s ",
			 entries.all[i].name);
	sb_files_entries_done(&entries);
	return names;
}

static bool exists(struct fixture *fx, const char *path)
{
	bool there = false;

	assert_int_equal(sb_worker_exists(fx->worker, path, &there, &fx->err), 0);
	return there;
}

/* Nothing that a worker hears has a path of this machine in it, or a word that it does not know. */
static void expect_no_leak(struct fixture *fx)
{
	const char *const texts[] = {fx->err.person, fx->err.model, fx->err.path, fx->err.root,
				     fx->err.rule};

	for (size_t i = 0; i < COUNT(texts); i++) {
		if (strstr(texts[i], fx->base) || strstr(texts[i], "zone"))
			fail_msg("a worker hears '%s'", texts[i]);
	}
}

#define expect_code(status, expected)                                                              \
	do {                                                                                       \
		int status_ = (status);                                                            \
                                                                                                   \
		if (status_ != -(int)(expected))                                                   \
			print_message("# %s\n", fx->err.person);                                   \
		assert_string_equal(sb_files_code_name((enum sb_files_code) - status_),            \
				    sb_files_code_name(expected));                                 \
		if (status_)                                                                       \
			expect_no_leak(fx);                                                        \
	} while (0)
#define expect_fine(status) expect_code(status, SB_FILES_OK)

#define PRE_APPROVED "{write: preApproved, delete: preApproved}"

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

#define ON_DISK(test)                                                                              \
	{                                                                                          \
#test " (disk)", test, set_up, tear_down, NULL                                     \
	}
#define IN_MEMORY(test)                                                                            \
	{                                                                                          \
#test " (memory)", test, set_up, tear_down, (void *)"memory"                       \
	}
#define ON_BOTH(test) ON_DISK(test), IN_MEMORY(test)

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

UNIT_MAIN("zones_files")
