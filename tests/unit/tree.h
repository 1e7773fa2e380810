/*
 * tree.h - a directory of a test's own, with short ways to fill it.
 *
 *     tree_setup / tree_teardown as cmocka's setup and teardown; *state is the
 *     canonical path of an empty directory that is removed afterwards
 */
#ifndef UNIT_TREE_H
#define UNIT_TREE_H

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

static inline int tree_setup(void **state)
{
	const char *base = getenv("TMPDIR");
	char template[PATH_MAX];

	snprintf(template, sizeof template, "%s/sandbash-unit-XXXXXX",
		 base && *base ? base : "/tmp");
	*state = mkdtemp(template) ? realpath(template, NULL) : NULL;
	return *state ? 0 : -1;
}

static inline int tree_remove_one(const char *path, const struct stat *info, int kind,
				  struct FTW *where)
{
	(void)info;
	(void)kind;
	(void)where;
	return remove(path);
}

static inline void tree_clear(const char *root)
{
	nftw(root, tree_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static inline int tree_teardown(void **state)
{
	tree_clear(*state);
	free(*state);
	return 0;
}

/* root + "/" + name, in one of a few buffers that take turns */
static inline const char *in(const char *root, const char *name)
{
	static char paths[8][2 * PATH_MAX];
	static unsigned next;
	char *path = paths[next++ % COUNT(paths)];

	snprintf(path, sizeof paths[0], "%s/%s", root, name);
	return path;
}

static inline void make_dir(const char *root, const char *name)
{
	assert_int_equal(mkdir(in(root, name), 0755), 0);
}

static inline void make_file(const char *root, const char *name)
{
	int fd = open(in(root, name), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	close(fd);
}

static inline void make_link(const char *root, const char *name, const char *target)
{
	assert_int_equal(symlink(target, in(root, name)), 0);
}

#endif
