/*
 * wishes.h - what tests of answers share: directories, wishes about them, and answers.
 *
 * Real directories, real inodes.  A wish is made as the supervisor makes it, of a path that a
 * process named.
 */
#ifndef UNIT_WISHES_H
#define UNIT_WISHES_H

#include "tree.h"

#include <dirent.h>

#include "consent/grants.h"
#include "path/path.h"

struct fixture {
	char *root;
	struct sb_grants *grants;
	struct sb_rule rule; /* used by wishes when rule.pattern is set */
	unsigned questions;
};

static inline int setup(void **state)
{
	struct fixture *fx = calloc(1, sizeof *fx);

	if (!fx || tree_setup((void **)&fx->root) != 0)
		return -1;
	make_dir(fx->root, "home");
	make_dir(fx->root, "home/docs");
	make_dir(fx->root, "home/docs/deep");
	make_dir(fx->root, "other");
	fx->grants = sb_grants_new(in(fx->root, "home"));
	*state = fx;
	return fx->grants ? 0 : -1;
}

static inline int teardown(void **state)
{
	struct fixture *fx = *state;

	sb_grants_free(fx->grants);
	tree_teardown((void **)&fx->root);
	free(fx);
	return 0;
}

static inline unsigned open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

/* --- wishes ------------------------------------------------------------------ */

struct held {
	struct sb_wish wish;
	char *path;
	int fd;
};

/* What the supervisor makes of a path that a process named: relative to at, links followed. */
static inline void hold_at(struct fixture *fx, const char *path, enum sb_op op, struct held *out)
{
	char *parent, *slash;

	assert_int_equal(sb_path_canonical_parent(path, &out->path, NULL), SB_OK);
	parent = sb_path_parent(out->path);
	out->fd = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(out->fd >= 0);
	free(parent);
	slash = strrchr(out->path, '/');
	out->wish = (struct sb_wish){.op = op,
				     .path = out->path,
				     .directory = out->fd,
				     .name = slash + 1,
				     .decision = {SB_ASK, fx->rule.pattern ? &fx->rule : NULL},
				     .process = 100,
				     .started = 1};
}

static inline void hold(struct fixture *fx, const char *name, enum sb_op op, struct held *out)
{
	hold_at(fx, in(fx->root, name), op, out);
}

static inline void let_go(struct held *held)
{
	close(held->fd);
	free(held->path);
}

static inline enum sb_answer find_as(struct fixture *fx, pid_t process, const char *name,
				     enum sb_op op)
{
	struct held held;
	enum sb_answer answer;

	hold(fx, name, op, &held);
	held.wish.process = process;
	answer = sb_grants_find(fx->grants, &held.wish);
	let_go(&held);
	return answer;
}

static inline enum sb_answer find(struct fixture *fx, const char *name, enum sb_op op)
{
	return find_as(fx, 100, name, op);
}

static inline int answer_as(struct fixture *fx, pid_t process, const char *name, enum sb_op op,
			    enum sb_answer answer)
{
	struct held held;
	int status;

	hold(fx, name, op, &held);
	held.wish.process = process;
	status = sb_grants_remember(fx->grants, &held.wish, answer, NULL);
	let_go(&held);
	return status;
}

static inline int answer(struct fixture *fx, const char *name, enum sb_op op, enum sb_answer answer)
{
	return answer_as(fx, 100, name, op, answer);
}

static inline void made(struct fixture *fx, const char *name)
{
	struct held held;

	hold(fx, name, SB_CREATE, &held);
	sb_grants_made(fx->grants, &held.wish);
	let_go(&held);
}

#endif
