/*
 * memory.c - a filesystem of its own, in memory: directories, files, symbolic links.
 *
 * One lock for everything; calls are short.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/list.h"
#include "base/lock.h"
#include "base/words.h"
#include "files/memory_tree.h"
#include "files/steps.h"

static struct sb_memory *memory_of(struct sb_files_backend *self)
{
	return (struct sb_memory *)self;
}

/* --- from a path to a place ---------------------------------------------------------------- */

struct walk {
	struct sb_memory *memory;
	unsigned flags;
	struct sb_memory_node *at;
	struct sb_steps steps;
};

static int arrive(struct walk *walk, const char *name, struct sb_memory_node *node,
		  struct sb_place *out)
{
	out->in = sb_node_hold(walk->at);
	out->node = sb_node_hold(node);
	out->exists = node != NULL;
	out->must_be_directory = walk->steps.slash;
	memcpy(out->name, name, strlen(name) + 1);
	sb_node_know(node ? node : walk->at, &out->facts);
	return sb_node_path_in(walk->memory, walk->at, name, out->path);
}

static int arrive_here(struct walk *walk, struct sb_place *out)
{
	out->node = sb_node_hold(walk->at);
	out->exists = true;
	out->must_be_directory = true;
	sb_node_know(walk->at, &out->facts);
	return sb_node_path(walk->memory, walk->at, out->path);
}

static int fail_at(struct walk *walk, const char *name, int error, struct sb_place *out)
{
	out->error = error;
	sb_node_know(walk->at, &out->facts);
	if (*name && sb_node_path_in(walk->memory, walk->at, name, out->path) == 0)
		return 0;
	return sb_node_path(walk->memory, walk->at, out->path);
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
	if (sb_is_dots(name)) {
		if (name[1] && walk->at->parent)
			walk->at = walk->at->parent;
		return last ? arrive_here(walk, out) : 1;
	}
	node = sb_node_child(walk->at, name);
	if (!node && !last && sb_steps_cancel(&walk->steps))
		return 1;
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

static int resolve(struct sb_memory *memory, struct sb_memory_node *start, const char *path,
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
		sb_node_drop(out->in);
		sb_node_drop(out->node);
	}
	return status;
}

/* --- the table ---------------------------------------------------------------------------------- */

static int memory_resolve(struct sb_files_backend *self, const struct sb_root *start,
			  const char *path, unsigned flags, struct sb_place *out)
{
	struct sb_memory *memory = memory_of(self);
	SB_AUTO_LOCK(&memory->lock);

	return resolve(memory, start ? start->node : NULL, path, flags, out);
}

static int memory_open_root(struct sb_files_backend *self, const char *path, struct sb_root *out)
{
	struct sb_memory *memory = memory_of(self);
	SB_AUTO_LOCK(&memory->lock);
	struct sb_place place;
	int status = resolve(memory, NULL, path, SB_RESOLVE_FOLLOW, &place);

	if (status < 0)
		return status;
	if (place.error || !place.exists || place.facts.type != SB_FILES_DIRECTORY)
		status = place.error ? -place.error : !place.exists ? -ENOENT : -ENOTDIR;
	if (status == 0) {
		*out = (struct sb_root){.path = strdup(place.path), .directory = -1, .mount = 1};
		if (out->path)
			out->node = sb_node_hold(place.node);
		else
			status = -ENOMEM;
	}
	sb_node_drop(place.in);
	sb_node_drop(place.node);
	return status;
}

static void memory_close_root(struct sb_files_backend *self, struct sb_root *root)
{
	SB_AUTO_LOCK(&memory_of(self)->lock);

	sb_node_drop(root->node);
	free(root->path);
	root->path = NULL;
}

static int memory_enter(struct sb_files_backend *self, const struct sb_place *dir, const char *name,
			struct sb_place *out)
{
	struct sb_memory *memory = memory_of(self);
	struct walk walk = {.memory = memory, .at = dir->node};
	SB_AUTO_LOCK(&memory->lock);
	int status;

	*out = SB_PLACE_EMPTY;
	status = arrive(&walk, name, sb_node_child(dir->node, name), out);
	if (status < 0) {
		sb_node_drop(out->in);
		sb_node_drop(out->node);
	}
	return status;
}

static void memory_release(struct sb_files_backend *self, struct sb_place *place)
{
	SB_AUTO_LOCK(&memory_of(self)->lock);

	sb_node_drop(place->in);
	sb_node_drop(place->node);
	place->in = place->node = NULL;
}

/* With the lock held: is the directory where it was, and in it what the place holds? */
static int check(const struct sb_memory *memory, const struct sb_place *place)
{
	char now[PATH_MAX];
	int status = place->in ? sb_node_path_in(memory, place->in, place->name, now)
			       : sb_node_path(memory, place->node, now);

	if (status < 0 || strcmp(now, place->path) != 0)
		return -ESTALE;
	return !place->in || sb_node_child(place->in, place->name) == place->node ? 0 : -ESTALE;
}

static int memory_confirm(struct sb_files_backend *self, const struct sb_place *place)
{
	struct sb_memory *memory = memory_of(self);
	SB_AUTO_LOCK(&memory->lock);

	return check(memory, place);
}

static int memory_refresh(struct sb_files_backend *self, struct sb_place *place)
{
	SB_AUTO_LOCK(&memory_of(self)->lock);

	if (!place->in)
		return 0;
	sb_node_drop(place->node);
	place->node = sb_node_hold(sb_node_child(place->in, place->name));
	place->exists = place->node != NULL;
	sb_node_know(place->node ? place->node : place->in, &place->facts);
	return 0;
}

static int memory_open(struct sb_files_backend *self, const struct sb_place *place,
		       struct sb_stream *out)
{
	SB_AUTO_LOCK(&memory_of(self)->lock);

	if (!place->node || place->node->type != SB_FILES_FILE)
		return -EINVAL;
	*out = (struct sb_stream){
		.fd = -1, .node = sb_node_hold(place->node), .bytes = place->node->length};
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
	SB_AUTO_LOCK(&memory_of(self)->lock);

	sb_node_drop(stream->node);
}

/* With the lock held: a new node at place, in the stead of what it holds. */
static int put(struct sb_memory *memory, struct sb_place *place, enum sb_files_type type,
	       const char *data, size_t length)
{
	int status = check(memory, place);
	struct sb_memory_node *node;

	if (status < 0)
		return status;
	/* beside what it replaces, as on a disk: others may still hold that */
	if (!sb_node_fits(memory, length))
		return -ENOSPC;
	node = sb_node_new(memory, type, place->name, data, length);
	if (!node)
		return -ENOMEM;
	if (place->node)
		node->mode = place->node->mode;
	status = sb_node_attach(place->in, node);
	if (status < 0) {
		sb_node_drop(node);
		return status;
	}
	sb_node_drop(place->node);
	place->node = sb_node_hold(node);
	place->exists = true;
	sb_node_know(node, &place->facts);
	return 0;
}

static int memory_replace(struct sb_files_backend *self, struct sb_place *place,
			  const struct sb_replacement *with)
{
	struct sb_memory *memory = memory_of(self);
	const struct sb_memory_node *source = with->source ? with->source->node : NULL;
	SB_AUTO_LOCK(&memory->lock);

	return put(memory, place, SB_FILES_FILE, source ? source->data : with->data,
		   source ? source->length : with->length);
}

static int memory_remove(struct sb_files_backend *self, const struct sb_place *place)
{
	struct sb_memory *memory = memory_of(self);
	SB_AUTO_LOCK(&memory->lock);
	int status = check(memory, place);

	if (status == 0 && place->node->child_count)
		status = -ENOTEMPTY;
	if (status == 0) {
		sb_node_detach(place->node);
		sb_node_drop(place->node);
	}
	return status;
}

static bool is_beneath(const struct sb_memory_node *node, const struct sb_memory_node *top)
{
	for (; node; node = node->parent)
		if (node == top)
			return true;
	return false;
}

static int rename_to(struct sb_memory *memory, struct sb_memory_node *node,
		     const struct sb_place *to, bool replace)
{
	struct sb_memory_node *there = sb_node_child(to->in, to->name);
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
	/* make room first, so that nothing fails half way */
	if (!there && !SB_GROW(to->in->children, to->in->child_count)) {
		free(name);
		return -ENOMEM;
	}
	sb_node_detach(node);
	free(node->name);
	node->name = name;
	clock_gettime(CLOCK_REALTIME, &node->changed);
	status = sb_node_attach(to->in, node);
	if (status < 0) /* no memory to give back the little that was there */
		sb_node_drop(node);
	return status;
}

static int memory_rename(struct sb_files_backend *self, const struct sb_place *from,
			 const struct sb_place *to, bool replace)
{
	struct sb_memory *memory = memory_of(self);
	SB_AUTO_LOCK(&memory->lock);
	int status = check(memory, from);

	return status < 0 ? status : rename_to(memory, from->node, to, replace);
}

static int make(struct sb_files_backend *self, struct sb_place *place, enum sb_files_type type,
		const char *data)
{
	struct sb_memory *memory = memory_of(self);
	SB_AUTO_LOCK(&memory->lock);

	return sb_node_child(place->in, place->name) ? -EEXIST
						     : put(memory, place, type, data, strlen(data));
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
	struct sb_memory *memory = memory_of(self);
	struct sb_place at = *place;
	int status;

	if (place->exists)
		return -EEXIST;
	status = make(self, &at, SB_FILES_LINK, target);
	pthread_mutex_lock(&memory->lock);
	sb_node_drop(at.node); /* held for at, which nobody keeps */
	pthread_mutex_unlock(&memory->lock);
	return status;
}

static int memory_list(struct sb_files_backend *self, const struct sb_place *place, bool details,
		       sb_found_name found, void *context)
{
	struct sb_memory *memory = memory_of(self);
	struct sb_memory_node **all = NULL;
	size_t count;
	int status = 0;

	/* found may call us: hold the names, not the lock */
	pthread_mutex_lock(&memory->lock);
	count = place->node->child_count;
	if (count)
		all = reallocarray(NULL, count, sizeof *all);
	for (size_t i = 0; all && i < count; i++)
		all[i] = sb_node_hold(place->node->children[i]);
	pthread_mutex_unlock(&memory->lock);
	if (count && !all)
		return -ENOMEM;
	for (size_t i = 0; i < count && status == 0; i++) {
		struct sb_found one = {.name = all[i]->name, .type = all[i]->type};

		if (details)
			sb_node_know(all[i], &one.facts);
		if (details && one.type == SB_FILES_LINK)
			one.target = all[i]->data;
		status = found(context, &one);
	}
	pthread_mutex_lock(&memory->lock);
	for (size_t i = 0; i < count; i++)
		sb_node_drop(all[i]);
	pthread_mutex_unlock(&memory->lock);
	free(all);
	return status;
}

static void memory_free(struct sb_files_backend *self)
{
	struct sb_memory *memory = memory_of(self);

	sb_node_drop(memory->root);
	pthread_mutex_destroy(&memory->lock);
	free(memory);
}

/* Whoever fills it is an agent: it ends before the machine's memory does. */
#define LIMIT_BYTES ((uint64_t)256 << 20)
#define LIMIT_NODES ((size_t)1 << 20)

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
	struct sb_memory *memory = calloc(1, sizeof *memory);

	if (!memory)
		return NULL;
	memory->base = (struct sb_files_backend){.ops = &memory_ops, .in_memory = true};
	memory->limit_bytes = LIMIT_BYTES;
	memory->limit_nodes = LIMIT_NODES;
	memory->root = sb_node_new(memory, SB_FILES_DIRECTORY, "", NULL, 0);
	if (!memory->root) {
		free(memory);
		return NULL;
	}
	pthread_mutex_init(&memory->lock, NULL);
	return &memory->base;
}

void sb_files_memory_limit(struct sb_files_backend *backend, uint64_t bytes, size_t nodes)
{
	struct sb_memory *memory = memory_of(backend);
	SB_AUTO_LOCK(&memory->lock);

	memory->limit_bytes = bytes;
	memory->limit_nodes = nodes;
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
