/*
 * guarded.h - a guard over one directory of the test's own, and short ways to ask it.
 */
#ifndef UNIT_GUARDED_H
#define UNIT_GUARDED_H

#include "tree.h"

#include "guard/guard.h"
#include "path/path.h"

struct guarded {
	char *root;
	struct sb_guard *guard;
	struct sb_guard_answer answer, source;
};

static inline bool guarded_in_root(void *context, const char *path)
{
	return sb_path_within(context, path);
}

static inline void guarded_make(struct guarded *fx)
{
	const char *const projects[] = {fx->root, NULL};
	struct sb_guard_options options = {.size = sizeof options,
					   .in_guarded_root = guarded_in_root,
					   .context = fx->root,
					   .projects = projects};

	sb_guard_free(fx->guard);
	assert_int_equal(sb_guard_new(&options, &fx->guard, NULL), SB_OK);
}

static inline int guarded_setup(void **state)
{
	struct guarded *fx = calloc(1, sizeof *fx);

	if (!fx || tree_setup((void **)&fx->root) != 0)
		return -1;
	guarded_make(fx);
	*state = fx;
	return 0;
}

static inline int guarded_teardown(void **state)
{
	struct guarded *fx = *state;

	sb_guard_free(fx->guard);
	tree_teardown((void **)&fx->root);
	free(fx);
	return 0;
}

/* Every directory on the way, then a file with this text; "x/" is a directory. */
static inline void plant(struct guarded *fx, const char *name, const char *text)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof path, "%s/%s", fx->root, name);
	for (char *at = strchr(path + strlen(fx->root) + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		mkdir(path, 0755);
		*at = '/';
	}
	if (path[strlen(path) - 1] == '/')
		return;
	fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* The place of root/name; its directory need not be there.  Ends with guarded_let_go(). */
struct guarded_place {
	char path[PATH_MAX];
	struct sb_guard_place place;
};

static inline struct guarded_place *guarded_hold(struct guarded *fx, const char *name)
{
	struct guarded_place *held = calloc(1, sizeof *held);
	char directory[PATH_MAX];
	struct stat info;

	assert_non_null(held);
	snprintf(held->path, sizeof held->path, "%s/%s", fx->root, name);
	snprintf(directory, sizeof directory, "%s", held->path);
	*strrchr(directory, '/') = '\0';
	held->place = (struct sb_guard_place){
		.directory = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC),
		.path = held->path,
		.name = strrchr(held->path, '/') + 1,
		.mode = lstat(held->path, &info) == 0 ? info.st_mode : 0,
	};
	return held;
}

static inline void guarded_let_go(struct guarded_place *held)
{
	if (held->place.directory >= 0)
		close(held->place.directory);
	free(held);
}

static inline enum sb_guard_verdict judge(struct guarded *fx, enum sb_guard_act act,
					  const char *name)
{
	struct guarded_place *held = guarded_hold(fx, name);
	enum sb_guard_verdict verdict = sb_guard_judge(fx->guard, act, &held->place, &fx->answer);

	assert_int_equal(verdict, fx->answer.verdict);
	assert_int_equal(verdict != SB_GUARD_PLAIN, fx->answer.row != NULL);
	guarded_let_go(held);
	return verdict;
}

/* What the rename does; the answers are in fx->source and fx->answer. */
static inline enum sb_guard_verdict judge_rename(struct guarded *fx, const char *from,
						 const char *to, bool exchange)
{
	struct guarded_place *a = guarded_hold(fx, from), *b = guarded_hold(fx, to);
	enum sb_guard_verdict verdict = sb_guard_rename(fx->guard, &a->place, &b->place, exchange,
							&fx->source, &fx->answer);

	guarded_let_go(a);
	guarded_let_go(b);
	return verdict;
}

/* A path that a pattern means: "<git>" as .git, "*" as a name. */
static inline void example(const char *pattern, char *out, size_t size)
{
	size_t end = 0;

	out[0] = '\0';
	for (const char *at = pattern; *at;) {
		size_t length = strcspn(at, "/");

		if (strncmp(at, "<git>", length) == 0 && length == 5)
			end += (size_t)snprintf(out + end, size - end, ".git");
		else if (strncmp(at, "<option>", length) == 0 && length == 8)
			end += (size_t)snprintf(out + end, size - end, "--exec=sh x");
		else if (length == 2 && at[0] == '*' && at[1] == '*')
			end += (size_t)snprintf(out + end, size - end, "deep/er");
		else if (at[0] == '*')
			end += (size_t)snprintf(out + end, size - end, "name%.*s", (int)length - 1,
						at + 1);
		else
			end += (size_t)snprintf(out + end, size - end, "%.*s", (int)length, at);
		at += length;
		if (*at)
			end += (size_t)snprintf(out + end, size - end, "%c", *at++);
	}
}

/* The directory that name is in: without it there is no structure to look at. */
static inline void plant_around(struct guarded *fx, const char *name)
{
	char directory[512];

	snprintf(directory, sizeof directory, "%s", name);
	if (strrchr(directory, '/')) {
		strrchr(directory, '/')[1] = '\0';
		plant(fx, directory, "");
	}
}

#define WITH_TREE(test) cmocka_unit_test_setup_teardown(test, guarded_setup, guarded_teardown)

#endif
