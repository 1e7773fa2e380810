/*
 * memory.c - a filesystem of its own, in memory: directories, files, symbolic links.
 *
 * Nodes are counted: the tree holds one count, each place and stream that is held another; so
 * what is removed stays readable for who holds it, as on disk.  A file never changes: new
 * contents are a new node under the old name.  One lock for everything; calls are short.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "files/backend.h"
#include "files/steps.h"

struct sb_memory_node {
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

struct memory {
	struct sb_files_backend base; /* first: a backend is a memory */
	pthread_mutex_t lock;
	struct sb_memory_node *root;
	uint64_t last_inode;
};

static struct memory *memory_of(struct sb_files_backend *self)
{
	return (struct memory *)self;
}

static struct sb_memory_node *hold(struct sb_memory_node *node)
{
	if (node)
		node->count++;
	return node;
}

static void drop(struct sb_memory_node *node)
{
	if (!node || --node->count)
		return;
	for (size_t i = 0; i < node->child_count; i++) {
		node->children[i]->parent = NULL;
		drop(node->children[i]);
	}
	free(node->children);
	free(node->name);
	free(node->data);
	free(node);
}

static struct sb_memory_node *node_new(struct memory *memory, enum sb_files_type type,
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
		drop(node);
		return NULL;
	}
	if (length)
		memcpy(node->data, data, length);
	node->data[length] = '\0';
	node->length = length;
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

static struct sb_memory_node *child(const struct sb_memory_node *directory, const char *name)
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

/* Put node, whose count passes to the tree, into directory; what had the name is dropped. */
static int attach(struct sb_memory_node *directory, struct sb_memory_node *node)
{
	bool found;
	size_t at = search(directory, node->name, &found);

	if (found) {
		directory->children[at]->parent = NULL;
		drop(directory->children[at]);
	} else {
		struct sb_memory_node **grown = reallocarray(
			directory->children, directory->child_count + 1, sizeof *grown);

		if (!grown)
			return -ENOMEM;
		directory->children = grown;
		memmove(grown + at + 1, grown + at, (directory->child_count - at) * sizeof *grown);
		directory->child_count++;
	}
	directory->children[at] = node;
	node->parent = directory;
	touch(directory);
	return 0;
}

/* Take node out of its directory; its count passes to the caller. */
static void detach(struct sb_memory_node *node)
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

/* The path of a directory that is in the tree; -ESTALE: it is not. */
static int path_of(const struct memory *memory, const struct sb_memory_node *node,
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

static int path_in(const struct memory *memory, const struct sb_memory_node *directory,
		   const char *name, char out[PATH_MAX])
{
	int status = path_of(memory, directory, out);
	size_t head = status == 0 && out[1] ? strlen(out) : 0;

	if (status < 0)
		return status;
	if (head + strlen(name) + 2 > PATH_MAX)
		return -ENAMETOOLONG;
	out[head] = '/';
	memcpy(out + head + 1, name, strlen(name) + 1);
	return 0;
}

static void know(const struct sb_memory_node *node, struct sb_facts *out)
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

/* --- from a path to a place ---------------------------------------------------------------- */

struct walk {
	struct memory *memory;
	unsigned flags;
	struct sb_memory_node *at;
	struct sb_steps steps;
};

static int arrive(struct walk *walk, const char *name, struct sb_memory_node *node,
		  struct sb_place *out)
{
	out->in = hold(walk->at);
	out->node = hold(node);
	out->exists = node != NULL;
	out->must_be_directory = walk->steps.slash;
	memcpy(out->name, name, strlen(name) + 1);
	know(node ? node : walk->at, &out->facts);
	return path_in(walk->memory, walk->at, name, out->path);
}

static int arrive_here(struct walk *walk, struct sb_place *out)
{
	out->node = hold(walk->at);
	out->exists = true;
	out->must_be_directory = true;
	know(walk->at, &out->facts);
	return path_of(walk->memory, walk->at, out->path);
}

static int fail_at(struct walk *walk, const char *name, int error, struct sb_place *out)
{
	out->error = error;
	know(walk->at, &out->facts);
	if (*name && path_in(walk->memory, walk->at, name, out->path) == 0)
		return 0;
	return path_of(walk->memory, walk->at, out->path);
}

static int follow(struct walk *walk, const struct sb_memory_node *link)
{
	int status = sb_steps_follow(&walk->steps, link->data, link->length);

	if (status == 0 && link->data[0] == '/')
		walk->at = walk->memory->root;
	return -status;
}

/* One name forward.  1: go on; 0: arrived, or out->error says why not. */
static int step(struct walk *walk, struct sb_place *out)
{
	char name[NAME_MAX + 1] = "";
	struct sb_memory_node *node;
	bool last = false;
	int status = sb_steps_next(&walk->steps, name, &last);

	if (status < 0)
		return fail_at(walk, "", -status, out);
	if (status == 0)
		return arrive_here(walk, out);
	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
		if (name[1] && walk->at->parent)
			walk->at = walk->at->parent;
		return last ? arrive_here(walk, out) : 1;
	}
	node = child(walk->at, name);
	if (!node && (last || (walk->flags & SB_RESOLVE_PARENTS))) {
		if (!sb_steps_keep(&walk->steps, out->rest))
			return fail_at(walk, name, ENOENT, out);
		return arrive(walk, name, NULL, out);
	}
	if (!node)
		return fail_at(walk, name, ENOENT, out);
	if (node->type == SB_FILES_LINK &&
	    (!last || walk->steps.slash || (walk->flags & SB_RESOLVE_FOLLOW))) {
		status = follow(walk, node);
		return status ? fail_at(walk, name, status, out) : 1;
	}
	if (last)
		return arrive(walk, name, node, out);
	if (node->type != SB_FILES_DIRECTORY)
		return fail_at(walk, name, ENOTDIR, out);
	walk->at = node;
	return 1;
}

static int resolve(struct memory *memory, struct sb_memory_node *start, const char *path,
		   unsigned flags, struct sb_place *out)
{
	struct walk walk;
	int status = 1;

	*out = SB_PLACE_EMPTY;
	if (strlen(path) >= PATH_MAX || sb_steps_init(&walk.steps, path) < 0)
		return -ENAMETOOLONG;
	walk.memory = memory;
	walk.flags = flags;
	walk.at = path[0] == '/' || !start ? memory->root : start;
	while (status > 0)
		status = step(&walk, out);
	if (status < 0) {
		drop(out->in);
		drop(out->node);
	}
	return status;
}

/* --- the table ---------------------------------------------------------------------------------- */

static int memory_resolve(struct sb_files_backend *self, const struct sb_root *start,
			  const char *path, unsigned flags, struct sb_place *out)
{
	struct memory *memory = memory_of(self);
	int status;

	pthread_mutex_lock(&memory->lock);
	status = resolve(memory, start ? start->node : NULL, path, flags, out);
	pthread_mutex_unlock(&memory->lock);
	return status;
}

static int memory_open_root(struct sb_files_backend *self, const char *path, struct sb_root *out)
{
	struct sb_place place;
	int status = memory_resolve(self, NULL, path, SB_RESOLVE_FOLLOW, &place);
	struct memory *memory = memory_of(self);

	if (status < 0)
		return status;
	if (place.error || !place.exists || place.facts.type != SB_FILES_DIRECTORY)
		status = place.error ? -place.error : !place.exists ? -ENOENT : -ENOTDIR;
	pthread_mutex_lock(&memory->lock);
	if (status == 0) {
		*out = (struct sb_root){.path = strdup(place.path), .directory = -1, .mount = 1};
		if (out->path)
			out->node = hold(place.node);
		else
			status = -ENOMEM;
	}
	drop(place.in);
	drop(place.node);
	pthread_mutex_unlock(&memory->lock);
	return status;
}

static void memory_close_root(struct sb_files_backend *self, struct sb_root *root)
{
	struct memory *memory = memory_of(self);

	pthread_mutex_lock(&memory->lock);
	drop(root->node);
	pthread_mutex_unlock(&memory->lock);
	free(root->path);
	root->path = NULL;
}

static int memory_enter(struct sb_files_backend *self, const struct sb_place *dir, const char *name,
			struct sb_place *out)
{
	struct memory *memory = memory_of(self);
	struct walk walk = {.memory = memory, .at = dir->node};
	int status;

	*out = SB_PLACE_EMPTY;
	pthread_mutex_lock(&memory->lock);
	status = arrive(&walk, name, child(dir->node, name), out);
	if (status < 0) {
		drop(out->in);
		drop(out->node);
	}
	pthread_mutex_unlock(&memory->lock);
	return status;
}

static void memory_release(struct sb_files_backend *self, struct sb_place *place)
{
	struct memory *memory = memory_of(self);

	pthread_mutex_lock(&memory->lock);
	drop(place->in);
	drop(place->node);
	pthread_mutex_unlock(&memory->lock);
	place->in = place->node = NULL;
}

/* With the lock held: is the directory where it was, and in it what the place holds? */
static int check(const struct memory *memory, const struct sb_place *place)
{
	char now[PATH_MAX];
	int status = place->in ? path_in(memory, place->in, place->name, now)
			       : path_of(memory, place->node, now);

	if (status < 0 || strcmp(now, place->path) != 0)
		return -ESTALE;
	return !place->in || child(place->in, place->name) == place->node ? 0 : -ESTALE;
}

static int memory_confirm(struct sb_files_backend *self, const struct sb_place *place)
{
	struct memory *memory = memory_of(self);
	int status;

	pthread_mutex_lock(&memory->lock);
	status = check(memory, place);
	pthread_mutex_unlock(&memory->lock);
	return status;
}

static int memory_refresh(struct sb_files_backend *self, struct sb_place *place)
{
	struct memory *memory = memory_of(self);

	if (!place->in)
		return 0;
	pthread_mutex_lock(&memory->lock);
	drop(place->node);
	place->node = hold(child(place->in, place->name));
	place->exists = place->node != NULL;
	know(place->node ? place->node : place->in, &place->facts);
	pthread_mutex_unlock(&memory->lock);
	return 0;
}

static int memory_open(struct sb_files_backend *self, const struct sb_place *place,
		       struct sb_stream *out)
{
	struct memory *memory = memory_of(self);

	if (!place->node || place->node->type != SB_FILES_FILE)
		return -EINVAL;
	pthread_mutex_lock(&memory->lock);
	*out = (struct sb_stream){
		.fd = -1, .node = hold(place->node), .bytes = place->node->length};
	pthread_mutex_unlock(&memory->lock);
	return 0;
}

static ssize_t memory_read(struct sb_files_backend *self, struct sb_stream *stream, void *data,
			   size_t size, uint64_t offset)
{
	const struct sb_memory_node *node = stream->node;

	(void)self;
	if (offset >= node->length)
		return 0;
	if (size > node->length - offset)
		size = node->length - offset;
	memcpy(data, node->data + offset, size);
	return (ssize_t)size;
}

static void memory_close(struct sb_files_backend *self, struct sb_stream *stream)
{
	struct memory *memory = memory_of(self);

	pthread_mutex_lock(&memory->lock);
	drop(stream->node);
	pthread_mutex_unlock(&memory->lock);
}

/* With the lock held: a new node at place, in the stead of what it holds. */
static int put(struct memory *memory, struct sb_place *place, enum sb_files_type type,
	       const char *data, size_t length)
{
	int status = check(memory, place);
	struct sb_memory_node *node;

	if (status < 0)
		return status;
	node = node_new(memory, type, place->name, data, length);
	if (!node)
		return -ENOMEM;
	if (place->node)
		node->mode = place->node->mode;
	status = attach(place->in, node);
	if (status < 0) {
		drop(node);
		return status;
	}
	drop(place->node);
	place->node = hold(node);
	place->exists = true;
	know(node, &place->facts);
	return 0;
}

static int memory_replace(struct sb_files_backend *self, struct sb_place *place,
			  const struct sb_replacement *with)
{
	struct memory *memory = memory_of(self);
	const struct sb_memory_node *source = with->source ? with->source->node : NULL;
	int status;

	pthread_mutex_lock(&memory->lock);
	status = put(memory, place, SB_FILES_FILE, source ? source->data : with->data,
		     source ? source->length : with->length);
	pthread_mutex_unlock(&memory->lock);
	return status;
}

static int memory_remove(struct sb_files_backend *self, const struct sb_place *place)
{
	struct memory *memory = memory_of(self);
	int status;

	pthread_mutex_lock(&memory->lock);
	status = check(memory, place);
	if (status == 0 && place->node->child_count)
		status = -ENOTEMPTY;
	if (status == 0) {
		detach(place->node);
		drop(place->node);
	}
	pthread_mutex_unlock(&memory->lock);
	return status;
}

static bool is_beneath(const struct sb_memory_node *node, const struct sb_memory_node *top)
{
	for (; node; node = node->parent)
		if (node == top)
			return true;
	return false;
}

static int rename_to(struct memory *memory, struct sb_memory_node *node, const struct sb_place *to,
		     bool replace)
{
	struct sb_memory_node *there = child(to->in, to->name);
	char *name;
	int status = 0;

	if (there && !replace)
		return -EEXIST;
	if (is_beneath(to->in, node))
		return -EINVAL;
	if (there == node)
		return 0;
	if (there && there->type == SB_FILES_DIRECTORY)
		return -EISDIR;
	if (!is_beneath(to->in, memory->root))
		return -ENOENT;
	name = strdup(to->name);
	if (!name)
		return -ENOMEM;
	if (!there) { /* make room first, so that nothing fails half way */
		struct sb_memory_node **grown =
			reallocarray(to->in->children, to->in->child_count + 1, sizeof *grown);

		if (!grown) {
			free(name);
			return -ENOMEM;
		}
		to->in->children = grown;
	}
	detach(node);
	free(node->name);
	node->name = name;
	clock_gettime(CLOCK_REALTIME, &node->changed);
	status = attach(to->in, node);
	if (status < 0) /* no memory to give back the little that was there */
		drop(node);
	return status;
}

static int memory_rename(struct sb_files_backend *self, const struct sb_place *from,
			 const struct sb_place *to, bool replace)
{
	struct memory *memory = memory_of(self);
	int status;

	pthread_mutex_lock(&memory->lock);
	status = check(memory, from);
	if (status == 0)
		status = rename_to(memory, from->node, to, replace);
	pthread_mutex_unlock(&memory->lock);
	return status;
}

static int make(struct sb_files_backend *self, struct sb_place *place, enum sb_files_type type,
		const char *data)
{
	struct memory *memory = memory_of(self);
	int status;

	pthread_mutex_lock(&memory->lock);
	status = child(place->in, place->name) ? -EEXIST
					       : put(memory, place, type, data, strlen(data));
	pthread_mutex_unlock(&memory->lock);
	return status;
}

static int memory_mkdir(struct sb_files_backend *self, struct sb_place *place, uint32_t mode)
{
	(void)mode;
	return make(self, place, SB_FILES_DIRECTORY, "");
}

static int memory_read_link(struct sb_files_backend *self, const struct sb_place *place, char *out,
			    size_t size)
{
	(void)self;
	if (place->node->type != SB_FILES_LINK || place->node->length >= size)
		return -EINVAL;
	memcpy(out, place->node->data, place->node->length + 1);
	return 0;
}

static int memory_make_link(struct sb_files_backend *self, const struct sb_place *place,
			    const char *target)
{
	struct memory *memory = memory_of(self);
	struct sb_place at = *place;
	int status;

	if (place->exists)
		return -EEXIST;
	status = make(self, &at, SB_FILES_LINK, target);
	pthread_mutex_lock(&memory->lock);
	drop(at.node); /* held for at, which nobody keeps */
	pthread_mutex_unlock(&memory->lock);
	return status;
}

static int memory_list(struct sb_files_backend *self, const struct sb_place *place, bool details,
		       sb_found_name found, void *context)
{
	struct memory *memory = memory_of(self);
	struct sb_memory_node **all = NULL;
	size_t count;
	int status = 0;

	/* found may call us: hold the names, not the lock */
	pthread_mutex_lock(&memory->lock);
	count = place->node->child_count;
	if (count)
		all = reallocarray(NULL, count, sizeof *all);
	for (size_t i = 0; all && i < count; i++)
		all[i] = hold(place->node->children[i]);
	pthread_mutex_unlock(&memory->lock);
	if (count && !all)
		return -ENOMEM;
	for (size_t i = 0; i < count && status == 0; i++) {
		struct sb_found one = {.name = all[i]->name, .type = all[i]->type};

		if (details)
			know(all[i], &one.facts);
		if (details && one.type == SB_FILES_LINK)
			one.target = all[i]->data;
		status = found(context, &one);
	}
	pthread_mutex_lock(&memory->lock);
	for (size_t i = 0; i < count; i++)
		drop(all[i]);
	pthread_mutex_unlock(&memory->lock);
	free(all);
	return status;
}

static void memory_free(struct sb_files_backend *self)
{
	struct memory *memory = memory_of(self);

	drop(memory->root);
	pthread_mutex_destroy(&memory->lock);
	free(memory);
}

static const struct sb_backend_ops memory_ops = {
	.free = memory_free,
	.open_root = memory_open_root,
	.close_root = memory_close_root,
	.resolve = memory_resolve,
	.enter = memory_enter,
	.release = memory_release,
	.confirm = memory_confirm,
	.refresh = memory_refresh,
	.open = memory_open,
	.read = memory_read,
	.close = memory_close,
	.replace = memory_replace,
	.remove = memory_remove,
	.rename = memory_rename,
	.mkdir = memory_mkdir,
	.read_link = memory_read_link,
	.make_link = memory_make_link,
	.list = memory_list,
};

struct sb_files_backend *sb_files_memory_new(void)
{
	struct memory *memory = calloc(1, sizeof *memory);

	if (!memory)
		return NULL;
	memory->base.ops = &memory_ops;
	memory->root = node_new(memory, SB_FILES_DIRECTORY, "", NULL, 0);
	if (!memory->root) {
		free(memory);
		return NULL;
	}
	pthread_mutex_init(&memory->lock, NULL);
	return &memory->base;
}

void sb_files_backend_free(struct sb_files_backend *backend)
{
	if (backend)
		backend->ops->free(backend);
}

int sb_files_memory_mkdir(struct sb_files_backend *memory, const char *path)
{
	struct sb_place place;
	int status = 0;
	bool more = true;

	while (status == 0 && more) {
		status = memory_resolve(memory, NULL, path, SB_RESOLVE_FOLLOW | SB_RESOLVE_PARENTS,
					&place);
		if (status < 0)
			return status;
		more = !place.exists;
		if (place.error)
			status = -place.error;
		else if (more)
			status = memory_mkdir(memory, &place, 0755);
		else if (place.facts.type != SB_FILES_DIRECTORY)
			status = -ENOTDIR;
		memory_release(memory, &place);
	}
	return status;
}

int sb_files_memory_symlink(struct sb_files_backend *memory, const char *target, const char *path)
{
	struct sb_place place;
	int status = memory_resolve(memory, NULL, path, 0, &place);

	if (status < 0)
		return status;
	status = place.error ? -place.error : memory_make_link(memory, &place, target);
	memory_release(memory, &place);
	return status;
}
