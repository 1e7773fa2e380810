/* zones_view.h - a project, workers in it, and what they see, on the disk and in memory. */
#ifndef ZONES_VIEW_H
#define ZONES_VIEW_H

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

static inline const char *at(struct fixture *fx, const char *name)
{
	static char paths[4][2 * PATH_MAX];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof paths[0], "%s/%s/%s", fx->base, project, name);
	return path;
}

/* --- past the workers ------------------------------------------------------------------------------ */

static inline void put_real(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* A file of the project, which is on the disk in any case. */
static inline void put_file(struct fixture *fx, const char *name, const char *text)
{
	put_real(at(fx, name), text);
}

/* What lies in the directories that workers share. */
static inline void put(struct fixture *fx, const char *name, const char *text)
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

static inline const char *get(struct fixture *fx, const char *name)
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

static inline void put_link(struct fixture *fx, const char *target, const char *name)
{
	if (fx->memory)
		assert_int_equal(sb_files_memory_symlink(fx->backend, target, at(fx, name)), 0);
	else
		assert_int_equal(symlink(target, at(fx, name)), 0);
}

/* --- fixture ---------------------------------------------------------------------------------------- */

static inline enum sb_files_answer consent(void *context, const struct sb_files_question *question)
{
	struct fixture *fx = context;

	fx->asked++;
	snprintf(fx->shown, sizeof fx->shown, "%s", question->shown);
	snprintf(fx->path, sizeof fx->path, "%s", question->path);
	snprintf(fx->directory, sizeof fx->directory, "%s",
		 question->directory ? question->directory : "");
	return fx->answer;
}

static inline void audit(void *context, const struct sb_files_event *event)
{
	struct fixture *fx = context;

	fx->recorded++;
	snprintf(fx->recorded_path, sizeof fx->recorded_path, "%s", event->path);
}

static inline int set_up(void **state)
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

static inline void close_all(struct fixture *fx)
{
	sb_worker_close(fx->child);
	sb_worker_close(fx->worker);
	sb_workshop_close(fx->workshop);
	sb_sandbox_close(fx->sandbox);
	fx->child = fx->worker = NULL;
	fx->workshop = NULL;
	fx->sandbox = NULL;
}

static inline int tear_down(void **state)
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
static inline void put_worker(struct fixture *fx, const char *file, const char *text)
{
	char whole[4096];

	snprintf(whole, sizeof whole, "---\n%s---\nDo it.\n", text);
	put_file(fx, file, whole);
}

static inline int open_worker(struct fixture *fx, const char *file)
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
static inline void begin(struct fixture *fx, const char *config, const char *worker)
{
	if (config)
		put_file(fx, "golem-forge.config.yaml", config);
	put_worker(fx, "one.worker", worker);
	if (open_worker(fx, "one.worker") != SB_OK)
		fail_msg("%s", fx->why.message);
}

/* --- what a worker does ------------------------------------------------------------------------------ */

static inline int write_text(struct fixture *fx, const char *path, const char *text)
{
	return sb_worker_write(fx->worker, path, text, strlen(text), &fx->err);
}

static inline const char *read_text(struct fixture *fx, const char *path)
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
static inline const char *list(struct fixture *fx, const char *path)
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

static inline bool exists(struct fixture *fx, const char *path)
{
	bool there = false;

	assert_int_equal(sb_worker_exists(fx->worker, path, &there, &fx->err), 0);
	return there;
}

/* Nothing that a worker hears has a path of this machine in it, or a word that it does not know. */
static inline void expect_no_leak(struct fixture *fx)
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

#define ON_DISK(test)                                                                              \
	{                                                                                          \
#test " (disk)", test, set_up, tear_down, NULL                                     \
	}
#define IN_MEMORY(test)                                                                            \
	{                                                                                          \
#test " (memory)", test, set_up, tear_down, (void *)"memory"                       \
	}
#define ON_BOTH(test) ON_DISK(test), IN_MEMORY(test)

#endif
