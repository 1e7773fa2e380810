#include "base/list.h"
#include "files/mapped_walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "files/view.h"
#include "path/path.h"

static struct sb_mapped_tree *mapped_of(struct sb_files_backend *self)
{
	return (struct sb_mapped_tree *)self;
}

static struct sb_files_backend *inner_of(struct sb_files_backend *self)
{
	return mapped_of(self)->inner;
}

/* What an act of the inner backend has changed in it. */
static void take_back(struct sb_place *place, const struct sb_place *inner)
{
	char path[PATH_MAX];

	memcpy(path, place->path, sizeof path);
	*place = *inner;
	memcpy(place->path, path, sizeof path);
}

static const struct sb_rule nothing_else = {
	.access = {{SB_ALLOW, SB_DENY, SB_DENY, SB_DENY}},
	.tier = SB_TIER_FILE,
	.capped = true,
	.pattern = "/",
	.origin = "/ is read-only",
};

/* A path that is none on this machine: no rule could be about it. */
static const struct sb_rule too_long = {
	.access = {{SB_DENY, SB_DENY, SB_DENY, SB_DENY}},
	.tier = SB_TIER_FILE,
	.pattern = "/",
	.origin = "the path is too long",
};

static const struct sb_rule *mapped_real(struct sb_files_backend *self, const char *path,
					 char out[PATH_MAX])
{
	const struct sb_mapped_part *part = sb_mapped_part_of(mapped_of(self), path);

	if (part && sb_mapped_join(part->path, sb_mapped_rest(part, path), out) == 0)
		return &part->bound;
	memcpy(out, "/", 2);
	return part ? &too_long : &nothing_else;
}

/* --- acts: what the inner backend does, by its own names -------------------------------------------- */

static void mapped_release(struct sb_files_backend *self, struct sb_place *place)
{
	inner_of(self)->ops->release(inner_of(self), place);
}

static int mapped_confirm(struct sb_files_backend *self, const struct sb_place *place)
{
	struct sb_mapped_tree *mapped = mapped_of(self);
	struct sb_place inner;
	int status;

	/* "/" is always there, and what is not in it is not */
	if (!sb_mapped_part_of(mapped, place->path))
		return 0;
	status = sb_mapped_inner(mapped, place, &inner);
	return status < 0 ? status : mapped->inner->ops->confirm(mapped->inner, &inner);
}

static int mapped_refresh(struct sb_files_backend *self, struct sb_place *place)
{
	struct sb_files_backend *inner = mapped_of(self)->inner;

	return sb_mapped_part_of(mapped_of(self), place->path) ? inner->ops->refresh(inner, place)
							       : 0;
}

static int mapped_open(struct sb_files_backend *self, const struct sb_place *place,
		       struct sb_stream *out)
{
	return inner_of(self)->ops->open(inner_of(self), place, out);
}

static ssize_t mapped_read(struct sb_files_backend *self, struct sb_stream *stream, void *data,
			   size_t size, uint64_t offset)
{
	return inner_of(self)->ops->read(inner_of(self), stream, data, size, offset);
}

static void mapped_close(struct sb_files_backend *self, struct sb_stream *stream)
{
	inner_of(self)->ops->close(inner_of(self), stream);
}

static int mapped_replace(struct sb_files_backend *self, struct sb_place *place,
			  const struct sb_replacement *with)
{
	struct sb_mapped_tree *mapped = mapped_of(self);
	struct sb_place inner;
	int status = sb_mapped_inner(mapped, place, &inner);

	if (status < 0)
		return status;
	status = mapped->inner->ops->replace(mapped->inner, &inner, with);
	take_back(place, &inner);
	return status;
}

static int mapped_remove(struct sb_files_backend *self, const struct sb_place *place)
{
	struct sb_mapped_tree *mapped = mapped_of(self);
	struct sb_place inner;
	int status = sb_mapped_inner(mapped, place, &inner);

	return status < 0 ? status : mapped->inner->ops->remove(mapped->inner, &inner);
}

static int find_ends(const struct sb_mapped_tree *mapped, const struct sb_place *from,
		     const struct sb_place *to, struct sb_place out[2])
{
	int status = sb_mapped_inner(mapped, from, &out[0]);

	return status < 0 ? status : sb_mapped_inner(mapped, to, &out[1]);
}

static int mapped_rename(struct sb_files_backend *self, const struct sb_place *from,
			 const struct sb_place *to, bool replace)
{
	struct sb_place ends[2];
	int status = find_ends(mapped_of(self), from, to, ends);

	return status < 0
		       ? status
		       : inner_of(self)->ops->rename(inner_of(self), &ends[0], &ends[1], replace);
}

static int mapped_rename_sealed(struct sb_files_backend *self, const struct sb_place *from,
				const struct sb_place *to, const struct sb_seal *seal)
{
	struct sb_place ends[2];
	int status = find_ends(mapped_of(self), from, to, ends);

	return status < 0 ? status
			  : inner_of(self)->ops->rename_sealed(inner_of(self), &ends[0], &ends[1],
							       seal);
}

static int mapped_mkdir(struct sb_files_backend *self, struct sb_place *place, uint32_t mode)
{
	struct sb_mapped_tree *mapped = mapped_of(self);
	struct sb_place inner;
	int status = sb_mapped_inner(mapped, place, &inner);

	if (status < 0)
		return status;
	status = mapped->inner->ops->mkdir(mapped->inner, &inner, mode);
	take_back(place, &inner);
	return status;
}

static int mapped_read_link(struct sb_files_backend *self, const struct sb_place *place, char *out,
			    size_t size)
{
	return inner_of(self)->ops->read_link(inner_of(self), place, out, size);
}

static int mapped_make_link(struct sb_files_backend *self, const struct sb_place *place,
			    const char *target)
{
	struct sb_mapped_tree *mapped = mapped_of(self);
	struct sb_place inner;
	int status = sb_mapped_inner(mapped, place, &inner);

	return status < 0 ? status : mapped->inner->ops->make_link(mapped->inner, &inner, target);
}

static int mapped_list(struct sb_files_backend *self, const struct sb_place *place, bool details,
		       sb_found_name found, void *context)
{
	struct sb_mapped_tree *mapped = mapped_of(self);
	int status = 0;

	if (place->path[1])
		return mapped->inner->ops->list(mapped->inner, place, details, found, context);
	for (size_t i = 0; i < mapped->count && status == 0; i++) {
		struct sb_found one = {.name = mapped->all[i].name, .type = SB_FILES_DIRECTORY};
		struct sb_place at;

		if (details && sb_mapped_open(mapped, &mapped->all[i], &at) == 0) {
			one.facts = at.facts;
			mapped->inner->ops->release(mapped->inner, &at);
		}
		status = found(context, &one);
	}
	return status;
}

/* --- life ------------------------------------------------------------------------------------------- */

static int mapped_open_root(struct sb_files_backend *self, const char *path, struct sb_root *out)
{
	const struct sb_mapped_part *part = path[1] ? sb_mapped_part_of(mapped_of(self), path)
						    : NULL;

	if (path[1] && (!part || *sb_mapped_rest(part, path)))
		return -ENOENT;
	*out = (struct sb_root){
		.path = strdup(path), .directory = -1, .mount = part ? part->root.mount : 0};
	return out->path ? 0 : -ENOMEM;
}

static void mapped_close_root(struct sb_files_backend *self, struct sb_root *root)
{
	(void)self;
	free(root->path);
	root->path = NULL;
}

static void mapped_free(struct sb_files_backend *self)
{
	struct sb_mapped_tree *mapped = mapped_of(self);

	for (size_t i = 0; i < mapped->count; i++) {
		struct sb_mapped_part *part = &mapped->all[i];

		if (part->root.path)
			mapped->inner->ops->close_root(mapped->inner, &part->root);
		free(part->name);
		free(part->path);
		free(part->says);
	}
	sb_list_free(mapped->roots);
	free(mapped->all);
	free(mapped);
}

static const struct sb_backend_ops mapped_ops = {
	.free = mapped_free,
	.real = mapped_real,
	.open_root = mapped_open_root,
	.close_root = mapped_close_root,
	.resolve = sb_mapped_resolve,
	.enter = sb_mapped_enter,
	.release = mapped_release,
	.confirm = mapped_confirm,
	.refresh = mapped_refresh,
	.open = mapped_open,
	.read = mapped_read,
	.close = mapped_close,
	.replace = mapped_replace,
	.remove = mapped_remove,
	.rename = mapped_rename,
	.rename_sealed = mapped_rename_sealed,
	.mkdir = mapped_mkdir,
	.read_link = mapped_read_link,
	.make_link = mapped_make_link,
	.list = mapped_list,
};

/* One directory after the other, until path is there.  What a link leads to is not it. */
static int make_directory(struct sb_files_backend *inner, const char *path)
{
	struct sb_place place;
	char whole[PATH_MAX];
	bool more = true;
	int status = 0;

	while (status == 0 && more) {
		status = inner->ops->resolve(inner, NULL, path, SB_RESOLVE_PARENTS, &place);
		if (status < 0)
			return status;
		more = !place.exists;
		if (place.error)
			status = -place.error;
		else if (place.rest[0]
				 ? sb_place_last(&place, whole) < 0 || strcmp(whole, path) != 0
				 : strcmp(place.path, path) != 0)
			status = -ESTALE;
		else if (more)
			status = inner->ops->mkdir(inner, &place, 0777);
		else if (place.facts.type != SB_FILES_DIRECTORY)
			status = -ENOTDIR;
		inner->ops->release(inner, &place);
		if (status == -EEXIST)
			status = 0; /* somebody was faster */
	}
	return status;
}

static int add(struct sb_mapped_tree *mapped, const struct sb_mapped *from)
{
	struct sb_mapped_part *part = &mapped->all[mapped->count];
	int status;

	*part = (struct sb_mapped_part){
		.name = strdup(from->name), .path = strdup(from->path), .says = strdup(from->says)};
	part->bound = (struct sb_rule){.access = from->access,
				       .tier = SB_TIER_FILE,
				       .capped = from->read_only,
				       .pattern = part->path,
				       .origin = part->says};
	mapped->roots[++mapped->count] = part->name ? sb_path_join("/", part->name) : NULL;
	if (!part->name || !part->path || !part->says || !mapped->roots[mapped->count])
		return -ENOMEM;
	status = make_directory(mapped->inner, part->path);
	if (status == 0)
		status = mapped->inner->ops->open_root(mapped->inner, part->path, &part->root);
	return status < 0 ? status : strcmp(part->root.path, part->path) == 0 ? 0 : -ESTALE;
}

int sb_files_mapped_new(struct sb_files_backend *inner, const struct sb_mapped *all, size_t count,
			struct sb_files_backend **out)
{
	struct sb_mapped_tree *mapped = calloc(1, sizeof *mapped);
	int status = mapped ? 0 : -ENOMEM;

	if (!mapped)
		return status;
	mapped->inner = inner ? inner : sb_files_disk();
	mapped->all = calloc(count + 1, sizeof *mapped->all);
	mapped->roots = calloc(count + 2, sizeof *mapped->roots);
	if (mapped->roots)
		mapped->roots[0] = strdup("/");
	if (!mapped->all || !mapped->roots || !mapped->roots[0])
		status = -ENOMEM;
	else if (!mapped->inner)
		status = -EOPNOTSUPP;
	for (size_t i = 0; i < count && status == 0; i++)
		status = add(mapped, &all[i]);
	if (status < 0) {
		mapped_free(&mapped->base);
		return status;
	}
	mapped->base = (struct sb_files_backend){.ops = &mapped_ops,
						 .in_memory = mapped->inner->in_memory};
	*out = &mapped->base;
	return 0;
}

const char *const *sb_files_mapped_roots(const struct sb_files_backend *mapped)
{
	return (const char *const *)((const struct sb_mapped_tree *)mapped)->roots;
}
