#include "files/memory_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/list.h"

struct sb_memory_node *sb_node_hold(struct sb_memory_node *node)
{
	if (node)
		node->count++;
	return node;
}

void sb_node_drop(struct sb_memory_node *node)
{
	if (!node || --node->count)
		return;
	for (size_t i = 0; i < node->child_count; i++) {
		node->children[i]->parent = NULL;
		sb_node_drop(node->children[i]);
	}
	if (node->memory) {
		node->memory->nodes--;
		node->memory->bytes -= node->length;
	}
	free(node->children);
	free(node->name);
	free(node->data);
	free(node);
}

bool sb_node_fits(const struct sb_memory *memory, size_t length)
{
	return memory->nodes < memory->limit_nodes && memory->bytes <= memory->limit_bytes &&
	       length <= memory->limit_bytes - memory->bytes;
}

struct sb_memory_node *sb_node_new(struct sb_memory *memory, enum sb_files_type type,
				   const char *name, const char *data, size_t length)
{
	struct sb_memory_node *node = calloc(1, sizeof *node);

	if (!node)
		return NULL;
	node->count = 1;
	node->type = type;
	node->name = strdup(name);
	node->data = malloc(length + 1);
	if (!node->name || !node->data) {
		sb_node_drop(node);
		return NULL;
	}
	if (length)
		memcpy(node->data, data, length);
	node->data[length] = '\0';
	node->length = length;
	node->memory = memory;
	memory->nodes++;
	memory->bytes += length;
	node->inode = ++memory->last_inode;
	node->mode = type == SB_FILES_DIRECTORY ? 0755 : type == SB_FILES_LINK ? 0777 : 0644;
	clock_gettime(CLOCK_REALTIME, &node->born);
	node->modified = node->changed = node->born;
	return node;
}

/* Where name is among the children, or belongs. */
static size_t search(const struct sb_memory_node *directory, const char *name, bool *found)
{
	size_t low = 0, high = directory->child_count;

	*found = false;
	while (low < high) {
		size_t middle = (low + high) / 2;
		int order = strcmp(directory->children[middle]->name, name);

		if (order == 0) {
			*found = true;
			return middle;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct sb_memory_node *sb_node_child(const struct sb_memory_node *directory, const char *name)
{
	bool found;
	size_t at = search(directory, name, &found);

	return found ? directory->children[at] : NULL;
}

static void touch(struct sb_memory_node *directory)
{
	clock_gettime(CLOCK_REALTIME, &directory->modified);
	directory->changed = directory->modified;
}

int sb_node_attach(struct sb_memory_node *directory, struct sb_memory_node *node)
{
	bool found;
	size_t at = search(directory, node->name, &found);

	if (found) {
		directory->children[at]->parent = NULL;
		sb_node_drop(directory->children[at]);
	} else {
		struct sb_memory_node **from;

		if (!SB_GROW(directory->children, directory->child_count))
			return -ENOMEM;
		from = directory->children + at;
		memmove(from + 1, from, (directory->child_count - at) * sizeof *from);
		directory->child_count++;
	}
	directory->children[at] = node;
	node->parent = directory;
	touch(directory);
	return 0;
}

void sb_node_detach(struct sb_memory_node *node)
{
	struct sb_memory_node *directory = node->parent;
	bool found;
	size_t at = search(directory, node->name, &found);

	memmove(directory->children + at, directory->children + at + 1,
		(directory->child_count - at - 1) * sizeof *directory->children);
	directory->child_count--;
	node->parent = NULL;
	touch(directory);
}

int sb_node_path(const struct sb_memory *memory, const struct sb_memory_node *node,
		 char out[PATH_MAX])
{
	char path[PATH_MAX];
	size_t at = sizeof path - 1;

	path[at] = '\0';
	for (; node != memory->root; node = node->parent) {
		size_t length = strlen(node->name);

		if (!node->parent)
			return -ESTALE;
		if (length + 1 > at)
			return -ENAMETOOLONG;
		at -= length + 1;
		path[at] = '/';
		memcpy(path + at + 1, node->name, length);
	}
	if (!path[at])
		path[--at] = '/';
	memcpy(out, path + at, sizeof path - at);
	return 0;
}

int sb_node_path_in(const struct sb_memory *memory, const struct sb_memory_node *directory,
		    const char *name, char out[PATH_MAX])
{
	int status = sb_node_path(memory, directory, out);
	size_t head = status == 0 && out[1] ? strlen(out) : 0;

	if (status < 0)
		return status;
	if (head + strlen(name) + 2 > PATH_MAX)
		return -ENAMETOOLONG;
	out[head] = '/';
	memcpy(out + head + 1, name, strlen(name) + 1);
	return 0;
}

void sb_node_know(const struct sb_memory_node *node, struct sb_facts *out)
{
	*out = (struct sb_facts){
		.type = node->type,
		.bytes = node->length,
		.mode = node->mode,
		.uid = geteuid(),
		.gid = getegid(),
		.links = 1,
		.device = 1,
		.inode = node->inode,
		.mount = 1,
		.modified = node->modified,
		.accessed = node->modified,
		.changed = node->changed,
		.born = node->born,
	};
}
