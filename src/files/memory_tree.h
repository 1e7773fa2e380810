/*
 * memory_tree.h - the nodes of the filesystem in memory.
 *
 * Nodes are counted: the tree holds one count, each place and stream that is held another; so
 * what is removed stays readable for who holds it, as on disk.  A file never changes: new
 * contents are a new node under the old name.  All of it under the lock of struct sb_memory.
 */
#ifndef SB_FILES_MEMORY_TREE_H
#define SB_FILES_MEMORY_TREE_H

#include <pthread.h>

#include "files/backend.h"

struct sb_memory;

struct sb_memory_node {
	struct sb_memory *memory; /* whose limits it counts for */
	unsigned count;
	enum sb_files_type type;
	char *name;                       /* in parent; "" for the root */
	struct sb_memory_node *parent;    /* NULL: the root, or removed */
	struct sb_memory_node **children; /* of a directory, by name */
	size_t child_count;
	char *data; /* of a file; the target of a link, terminated */
	size_t length;
	uint64_t inode;
	uint32_t mode;
	struct timespec born, modified, changed;
};

struct sb_memory {
	struct sb_files_backend base; /* first: a backend is a memory */
	pthread_mutex_t lock;
	struct sb_memory_node *root;
	uint64_t last_inode;
	/* what all nodes hold, those that were removed and are still held among them */
	uint64_t bytes, limit_bytes;
	size_t nodes, limit_nodes;
};

struct sb_memory_node *sb_node_hold(struct sb_memory_node *node); /* NULL is fine; returns it */
void sb_node_drop(struct sb_memory_node *node);

/* With one count, the caller's; NULL: out of memory. */
struct sb_memory_node *sb_node_new(struct sb_memory *memory, enum sb_files_type type,
				   const char *name, const char *data, size_t length);

/* Is there room for one more with so many bytes? */
bool sb_node_fits(const struct sb_memory *memory, size_t length);

struct sb_memory_node *sb_node_child(const struct sb_memory_node *directory, const char *name);

/* Put node, whose count passes to the tree, into directory; what had the name is dropped. */
int sb_node_attach(struct sb_memory_node *directory, struct sb_memory_node *node);

/* Take node out of its directory; its count passes to the caller. */
void sb_node_detach(struct sb_memory_node *node);

/* The path of a directory that is in the tree, or of a name in it; -ESTALE: it is not. */
int sb_node_path(const struct sb_memory *memory, const struct sb_memory_node *node,
		 char out[PATH_MAX]);
int sb_node_path_in(const struct sb_memory *memory, const struct sb_memory_node *directory,
		    const char *name, char out[PATH_MAX]);

void sb_node_know(const struct sb_memory_node *node, struct sb_facts *out);

#endif
