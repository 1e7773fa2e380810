/*
 * json_read.h - a strict JSON reader for bytes that anybody may have written.
 *
 *     sb_json_read(bytes, length, &tree) -> tree.nodes[0] ... -> sb_json_tree_done(&tree)
 *
 * RFC 8259 and no more: no comments, no commas too many, no NaN, UTF-8 only, and no name twice in an object,
 * since readers differ in which of the two counts.  A lone surrogate (\ud800) is taken, as JavaScript
 * writes it.  Depth and the number of values are limited, and nothing takes more than n log n.
 *
 * A tree owns its nodes and texts; raw bytes are the caller's, who keeps them as long as the tree.
 */
#ifndef SB_BASE_JSON_READ_H
#define SB_BASE_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SB_JSON_MAX_DEPTH 64
#define SB_JSON_MAX_NODES (256 * 1024) /* 18 MB */

enum sb_json_type {
	SB_JSON_NULL,
	SB_JSON_FALSE,
	SB_JSON_TRUE,
	SB_JSON_NUMBER,
	SB_JSON_STRING,
	SB_JSON_ARRAY,
	SB_JSON_OBJECT,
};

/* Nodes follow each other as their values do: the first child of a node is right behind it. */
struct sb_json_node {
	enum sb_json_type type;
	uint32_t end;        /* number of the node behind all that is in this one */
	uint32_t count;      /* of children */
	uint32_t ordered;    /* of an object: where in tree.order its members stand, by name */
	const char *key;     /* of a member; without escapes, not terminated */
	size_t key_length;   /* of anything else 0 */
	const char *key_raw; /* as it was written, with its quotes ... */
	size_t key_raw_length;
	const char *text; /* of a string, without escapes, not terminated */
	size_t length;
	const char *raw; /* as it was written, all of it */
	size_t raw_length;
};

struct sb_json_tree {
	struct sb_json_node *nodes; /* the first is the whole */
	uint32_t count;
	uint32_t *order;
	char *texts;
};

/* NULL, or what is wrong with it, in words; then there is no tree. */
const char *sb_json_read(const char *bytes, size_t length, struct sb_json_tree *out);

/* The same of settings that people write: with comments, and a comma behind the last value. */
const char *sb_json_read_settings(const char *bytes, size_t length, struct sb_json_tree *out);

/* Past blanks and comments. */
const char *sb_json_skip(const char *at, const char *end);
void sb_json_tree_done(struct sb_json_tree *tree);

/* The member of that name, or NULL; NULL has none. */
const struct sb_json_node *sb_json_member(const struct sb_json_tree *tree,
					  const struct sb_json_node *object, const char *key,
					  size_t length);

#define SB_EACH_CHILD(child, tree, node)                                                           \
	for (const struct sb_json_node *child = sb_json_first(node); child;                        \
	     child = sb_json_next(tree, node, child))

/* The first thing in an array or object, and the next after one; NULL: no more.  In NULL there is nothing. */
const struct sb_json_node *sb_json_first(const struct sb_json_node *node);
const struct sb_json_node *sb_json_next(const struct sb_json_tree *tree,
					const struct sb_json_node *node,
					const struct sb_json_node *child);

/* Do both mean the same, whatever the order of names?  Numbers that are written otherwise are others. */
bool sb_json_same(const struct sb_json_tree *one, const struct sb_json_node *a,
		  const struct sb_json_tree *other, const struct sb_json_node *b);

#endif
