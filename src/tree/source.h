/*
 * source.h - a tree of files to look through: a root directory seen through a backend (disk or memory)
 * and a sight, what the policy lets the caller see.
 *
 * Every path is relative to that root, with "/" between names, without "." or ".."; "" is the root
 * itself.  Paths are bytes: any encoding.
 */
#ifndef SB_TREE_SOURCE_H
#define SB_TREE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum sb_search_kind { /* bits, so that a query can name several */
		      SB_SEARCH_FILE = 1,
		      SB_SEARCH_DIRECTORY = 2,
		      SB_SEARCH_LINK = 4,
		      SB_SEARCH_OTHER = 8, /* FIFO, socket, device */
		      SB_SEARCH_ALL = 15,
};

/* A directory or file that the backend opened: a descriptor, or a pointer. */
typedef intptr_t sb_search_handle;

/* One name in a directory, never "." or "..", in any order.  Not 0: stop and return it. */
typedef int (*sb_search_listed)(void *to, const char *name, enum sb_search_kind kind);

/*
 * What a walk needs of a filesystem.  Functions return >= 0 or a negative errno, are called
 * from several threads at once and follow no symbolic link in any component (-ELOOP, -ENOTDIR).
 */
struct sb_search_backend {
	int (*open_directory)(void *context, const char *path, sb_search_handle *out);
	int (*list)(void *context, sb_search_handle directory, sb_search_listed listed, void *to);
	void (*close_directory)(void *context, sb_search_handle directory);
	/* A regular file, or an error (-EINVAL: it is something else). */
	int (*open_file)(void *context, sb_search_handle directory, const char *name,
			 sb_search_handle *out);
	/* The next bytes, 0 at the end. */
	ssize_t (*read)(void *context, sb_search_handle file, void *into, size_t length);
	void (*close_file)(void *context, sb_search_handle file);
};

/*
 * May the caller see this name?  Asked once for each directory before it is opened, each
 * file before it is named or read, and for the .gitignore files.  Any thread, several at once;
 * should take a microsecond.  Answer ALL for a directory beneath which nothing is hidden:
 * then it is not asked again there.
 */
enum sb_sight { SB_SIGHT_NONE, SB_SIGHT_THIS, SB_SIGHT_ALL };
typedef enum sb_sight (*sb_search_sight)(void *context, const char *path, enum sb_search_kind kind);

struct sb_search_source {
	const struct sb_search_backend *backend;
	void *context;         /* the backend's */
	sb_search_sight sight; /* NULL: everything */
	void *sight_context;
	/*
	 * For what git ignores: the root is a repository, and no .git beneath it begins another.
	 * Whoever can make one there cannot get rid of the rules above it.
	 */
	bool one_repository;
};

#endif
