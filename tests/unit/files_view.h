/*
 * files_view.h - a view to test: a project with rules, on disk or in memory.
 *
 *     BASE/project          writable; vendor/ read-only, secret/ denied, notes/ asks
 *     BASE/project-evil     a prefix twin, outside
 *     BASE/outside          outside, holds "secret.txt"
 *     BASE/granted          outside, writable by a rule of the user
 *
 * Each test runs on both backends: ON_BOTH(test).  What is prepared and checked on disk goes
 * past the view, straight to the system.
 */
#ifndef UNIT_FILES_VIEW_H
#define UNIT_FILES_VIEW_H

#include <errno.h>

#include "policy/text.h"
#include "sandbash/files.h"
#include "tree.h"

#define SECRET "the secret of the outside\n"

struct fixture {
	bool memory;
	char base[PATH_MAX]; /* canonical */
	struct sb_policy *policy, *anything;
	struct sb_files_backend *backend; /* NULL: disk */
	struct sb_files *view;
	struct sb_files *master; /* sees and may do everything; for memory */
	enum sb_files_answer answer;
	int asked, recorded;
	struct sb_files_event last; /* without its strings */
	enum sb_files_why why;
	enum sb_op op;
	char path[PATH_MAX], tool[64], directory[PATH_MAX], content[256], reason[400];
	struct sb_files_error err;
};

static inline enum sb_files_answer fx_consent(void *context, const struct sb_files_question *q)
{
	struct fixture *fx = context;

	fx->asked++;
	fx->why = q->why;
	fx->op = q->op;
	snprintf(fx->path, sizeof fx->path, "%s", q->path);
	snprintf(fx->reason, sizeof fx->reason, "%s", q->reason);
	snprintf(fx->directory, sizeof fx->directory, "%s", q->directory ? q->directory : "");
	snprintf(fx->content, sizeof fx->content, "%.*s", (int)q->content_length,
		 q->content ? q->content : "");
	return fx->answer;
}

static inline void fx_audit(void *context, const struct sb_files_event *event)
{
	struct fixture *fx = context;

	fx->recorded++;
	fx->last = *event;
	snprintf(fx->tool, sizeof fx->tool, "%s", event->tool ? event->tool : "");
	snprintf(fx->path, sizeof fx->path, "%s", event->path);
}

static inline const char *at(struct fixture *fx, const char *name)
{
	return in(fx->base, name);
}

static inline void fx_dir(struct fixture *fx, const char *name)
{
	if (fx->memory)
		assert_int_equal(sb_files_memory_mkdir(fx->backend, at(fx, name)), 0);
	else
		assert_true(mkdir(at(fx, name), 0755) == 0 || errno == EEXIST);
}

static inline void fx_link(struct fixture *fx, const char *target, const char *name)
{
	if (fx->memory)
		assert_int_equal(sb_files_memory_symlink(fx->backend, target, at(fx, name)), 0);
	else
		assert_int_equal(symlink(target, at(fx, name)), 0);
}

static inline void fx_put_bytes(struct fixture *fx, const char *name, const char *data,
				size_t length)
{
	if (fx->memory) {
		struct sb_files_write_request request = {.size = sizeof request,
							 .path = at(fx, name),
							 .data = data,
							 .length = length,
							 .raw = true};
		struct sb_files_change change;

		assert_int_equal(sb_files_write(fx->master, NULL, &request, &change, NULL), 0);
	} else {
		int fd = open(at(fx, name), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);

		assert_true(fd >= 0);
		assert_int_equal(write(fd, data, length), (ssize_t)length);
		close(fd);
	}
}

static inline void fx_put(struct fixture *fx, const char *name, const char *text)
{
	fx_put_bytes(fx, name, text, strlen(text));
}

/* What is there, or NULL; in one of a few buffers that take turns. */
static inline const char *fx_get_bytes(struct fixture *fx, const char *name, size_t *length)
{
	static char buffers[4][65536];
	static unsigned next;
	char *data = buffers[next++ % 4];

	if (fx->memory) {
		struct sb_files_read_request request = {
			.size = sizeof request, .path = at(fx, name), .raw = true};
		struct sb_files_text text;

		if (sb_files_read(fx->master, NULL, &request, &text, NULL) < 0)
			return NULL;
		assert_true(text.length < sizeof buffers[0]);
		memcpy(data, text.data, text.length + 1);
		*length = text.length;
		sb_files_text_done(&text);
	} else {
		int fd = open(at(fx, name), O_RDONLY | O_CLOEXEC);
		ssize_t got;

		if (fd < 0)
			return NULL;
		got = read(fd, data, sizeof buffers[0] - 1);
		close(fd);
		assert_true(got >= 0);
		data[got] = '\0';
		*length = (size_t)got;
	}
	return data;
}

static inline const char *fx_get(struct fixture *fx, const char *name)
{
	size_t length;

	return fx_get_bytes(fx, name, &length);
}

static inline void fx_rule(struct sb_policy *policy, const struct sb_access *access,
			   enum sb_tier tier, const char *pattern)
{
	struct sb_rule rule = {
		.access = *access, .tier = tier, .pattern = pattern, .origin = "a rule"};

	assert_int_equal(sb_policy_add(policy, &rule, NULL), SB_OK);
}

static inline struct sb_policy *fx_policy(struct fixture *fx)
{
	struct sb_policy *policy = sb_policy_new();

	sb_policy_set(policy, SB_SETTING_MODE, SB_MODE_WORKSPACE_WRITE);
	fx_rule(policy, &sb_access_write, SB_TIER_BUILTIN, at(fx, "project"));
	fx_rule(policy, &sb_access_read, SB_TIER_GLOBAL, at(fx, "project/vendor"));
	fx_rule(policy, &sb_access_deny, SB_TIER_GLOBAL, at(fx, "project/secret"));
	fx_rule(policy, &sb_access_deny, SB_TIER_GLOBAL, at(fx, "project/**/*.key"));
	fx_rule(policy, &sb_access_ask, SB_TIER_GLOBAL, at(fx, "project/notes"));
	fx_rule(policy, &sb_access_write, SB_TIER_GLOBAL, at(fx, "granted"));
	assert_int_equal(sb_policy_seal(policy, NULL), SB_OK);
	return policy;
}

/* The view anew, with other options. */
static inline void fx_open(struct fixture *fx, struct sb_files_options options)
{
	const char *roots[] = {at(fx, "project"), NULL};

	sb_files_close(fx->view);
	fx->view = NULL;
	options.size = sizeof options;
	options.audit = fx_audit;
	options.context = fx;
	options.backend = fx->backend;
	options.no_sync = true;
	assert_int_equal(sb_files_open(fx->policy, roots, &options, &fx->view, &fx->err), 0);
}

/* From now on there is somebody to ask, who says this. */
static inline void fx_answers(struct fixture *fx, enum sb_files_answer answer)
{
	fx->answer = answer;
	fx_open(fx, (struct sb_files_options){.consent = fx_consent});
}

static inline int fx_setup(void **state)
{
	struct fixture *fx = calloc(1, sizeof *fx);
	const char *everything[] = {"/", NULL};
	void *base = NULL;

	fx->memory = *state != NULL;
	if (fx->memory) {
		struct sb_files_options options = {.size = sizeof options};

		fx->backend = options.backend = sb_files_memory_new();
		snprintf(fx->base, sizeof fx->base, "/some/base");
		assert_int_equal(sb_files_memory_mkdir(fx->backend, fx->base), 0);
		fx->anything = sb_policy_new();
		sb_policy_set(fx->anything, SB_SETTING_MODE, SB_MODE_DANGER_FULL_ACCESS);
		assert_int_equal(sb_policy_seal(fx->anything, NULL), SB_OK);
		assert_int_equal(
			sb_files_open(fx->anything, everything, &options, &fx->master, &fx->err),
			0);
	} else {
		if (tree_setup(&base) != 0)
			return -1;
		snprintf(fx->base, sizeof fx->base, "%s", (const char *)base);
		free(base);
	}
	fx_dir(fx, "project");
	fx_dir(fx, "project/src");
	fx_dir(fx, "project/vendor");
	fx_dir(fx, "project/secret");
	fx_dir(fx, "project/notes");
	fx_dir(fx, "project-evil");
	fx_dir(fx, "outside");
	fx_dir(fx, "granted");
	fx_put(fx, "project/a.txt", "one\ntwo\nthree\n");
	fx_put(fx, "project/vendor/lib.c", "vendor\n");
	fx_put(fx, "project/secret/password", "hidden\n");
	fx_put(fx, "project/notes/n.txt", "note\n");
	fx_put(fx, "project-evil/twin.txt", SECRET);
	fx_put(fx, "outside/secret.txt", SECRET);
	fx_put(fx, "granted/g.txt", "granted\n");
	fx->policy = fx_policy(fx);
	fx_open(fx, (struct sb_files_options){0});
	*state = fx;
	return 0;
}

static inline int fx_teardown(void **state)
{
	struct fixture *fx = *state;

	sb_files_close(fx->view);
	sb_files_close(fx->master);
	sb_policy_free(fx->policy);
	sb_policy_free(fx->anything);
	if (!fx->memory)
		tree_clear(fx->base);
	sb_files_backend_free(fx->backend);
	free(fx);
	return 0;
}

#define ON_DISK(test)                                                                              \
	{                                                                                          \
#test " (disk)", test, fx_setup, fx_teardown, NULL                                 \
	}
#define IN_MEMORY(test)                                                                            \
	{                                                                                          \
#test " (memory)", test, fx_setup, fx_teardown, (void *)"memory"                   \
	}
#define ON_BOTH(test) ON_DISK(test), IN_MEMORY(test)

/* --- calls in short --- */

static inline int fx_read(struct fixture *fx, const char *path, struct sb_files_text *text)
{
	struct sb_files_read_request request = {.size = sizeof request, .path = path};

	return sb_files_read(fx->view, NULL, &request, text, &fx->err);
}

/* The text, or NULL and fx->err. */
static inline const char *fx_text(struct fixture *fx, const char *path)
{
	static char copy[65536];
	struct sb_files_text text;

	if (fx_read(fx, path, &text) < 0)
		return NULL;
	assert_true(text.length < sizeof copy);
	memcpy(copy, text.data, text.length + 1);
	sb_files_text_done(&text);
	return copy;
}

static inline int fx_write(struct fixture *fx, const char *path, const char *data)
{
	struct sb_files_write_request request = {
		.size = sizeof request, .path = path, .data = data, .length = strlen(data)};
	struct sb_files_change change;
	int status = sb_files_write(fx->view, NULL, &request, &change, &fx->err);

	if (status == 0)
		sb_files_change_done(&change);
	return status;
}

static inline int fx_edit(struct fixture *fx, const char *path, const char *old, const char *new,
			  struct sb_files_change *change)
{
	struct sb_files_edit edit = {.old_text = old,
				     .old_length = strlen(old),
				     .new_text = new,
				     .new_length = strlen(new)};
	struct sb_files_edit_request request = {
		.size = sizeof request, .path = path, .edits = &edit, .edit_count = 1};

	return sb_files_edit(fx->view, NULL, &request, change, &fx->err);
}

#define assert_code(status, expected)                                                              \
	do {                                                                                       \
		int status_ = (status);                                                            \
                                                                                                   \
		if (status_ != -(int)(expected))                                                   \
			print_message("# got %s: %s\n",                                            \
				      sb_files_code_name((enum sb_files_code) - status_),          \
				      fx->err.person);                                             \
		assert_string_equal(sb_files_code_name((enum sb_files_code) - status_),            \
				    sb_files_code_name(expected));                                 \
	} while (0)
#define assert_fine(status) assert_code(status, SB_FILES_OK)

/* Every call that could reach path, refused; nothing there changed or told. */
static inline void fx_assert_unreachable(struct fixture *fx, const char *path)
{
	struct sb_files_list_request list = {.size = sizeof list, .path = path};
	struct sb_files_entries entries;
	struct sb_files_change change;
	struct sb_files_info info;
	struct sb_files_text text;
	bool exists;

	assert_code(fx_read(fx, path, &text), SB_FILES_PATH_OUTSIDE_PROJECT);
	assert_true(fx->err.violation);
	assert_code(fx_write(fx, path, "changed\n"), SB_FILES_PATH_OUTSIDE_PROJECT);
	assert_code(fx_edit(fx, path, "secret", "changed", &change), SB_FILES_PATH_OUTSIDE_PROJECT);
	assert_code(sb_files_list(fx->view, NULL, &list, &entries, &fx->err),
		    SB_FILES_PATH_OUTSIDE_PROJECT);
	assert_code(sb_files_stat(fx->view, NULL, path, true, &info, &fx->err),
		    SB_FILES_PATH_OUTSIDE_PROJECT);
	assert_code(sb_files_exists(fx->view, NULL, path, &exists, &fx->err),
		    SB_FILES_PATH_OUTSIDE_PROJECT);
	assert_code(sb_files_copy(fx->view, NULL, path, "stolen", 0, &fx->err),
		    SB_FILES_PATH_OUTSIDE_PROJECT);
	assert_string_equal(fx_get(fx, "outside/secret.txt"), SECRET);
	assert_string_equal(fx_get(fx, "project-evil/twin.txt"), SECRET);
	assert_null(fx_get(fx, "project/stolen"));
}

#endif
