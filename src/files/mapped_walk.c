#include "files/mapped_walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/words.h"
#include "files/steps.h"
#include "path/path.h"

/* --- names --------------------------------------------------------------------------------------- */

static struct sb_mapped_part *find(const struct sb_mapped_tree *mapped, const char *name,
				   size_t length)
{
	for (size_t i = 0; i < mapped->count; i++)
		if (strlen(mapped->all[i].name) == length &&
		    memcmp(mapped->all[i].name, name, length) == 0)
			return &mapped->all[i];
	return NULL;
}

struct sb_mapped_part *sb_mapped_part_of(const struct sb_mapped_tree *mapped, const char *path)
{
	return path[0] == '/' ? find(mapped, path + 1, strcspn(path + 1, "/")) : NULL;
}

int sb_mapped_join(const char *head, const char *tail, char out[PATH_MAX])
{
	size_t length = strlen(head), more = strlen(tail);

	if (length + more >= PATH_MAX)
		return -ENAMETOOLONG;
	memmove(out, head, length); /* which may be out */
	memcpy(out + length, tail, more + 1);
	return 0;
}

const char *sb_mapped_rest(const struct sb_mapped_part *part, const char *path)
{
	return path + 1 + strlen(part->name); /* "" or "/..." */
}

/* path, which the inner backend tells, as it is called here.  -ESTALE: it has been moved out. */
static int show(const struct sb_mapped_part *part, char path[PATH_MAX])
{
	char shown[PATH_MAX] = "/";
	int status;

	if (!sb_path_within(part->path, path))
		return -ESTALE;
	status = sb_mapped_join("/", part->name, shown);
	if (status == 0)
		status = sb_mapped_join(shown, path + strlen(part->path), shown);
	if (status == 0)
		memcpy(path, shown, strlen(shown) + 1);
	return status;
}

int sb_mapped_inner(const struct sb_mapped_tree *mapped, const struct sb_place *place,
		    struct sb_place *out)
{
	const struct sb_mapped_part *part = sb_mapped_part_of(mapped, place->path);

	if (!part)
		return -EROFS;
	*out = *place;
	return sb_mapped_join(part->path, sb_mapped_rest(part, place->path), out->path);
}

/* --- from a path to a place ------------------------------------------------------------------------ */

struct walk {
	struct sb_mapped_tree *mapped;
	unsigned flags;
	struct sb_mapped_part *part; /* NULL: we stand in "/" */
	struct sb_place at; /* the directory, of the inner backend, by its real name; if part */
	struct sb_steps steps;
};

static void leave(struct walk *walk)
{
	struct sb_files_backend *inner = walk->mapped->inner;

	if (walk->part)
		inner->ops->release(inner, &walk->at);
	walk->part = NULL;
}

int sb_mapped_open(const struct sb_mapped_tree *mapped, const struct sb_mapped_part *part,
		   struct sb_place *out)
{
	int status = mapped->inner->ops->resolve(mapped->inner, &part->root, ".", 0, out);

	if (status < 0)
		return status;
	if (!out->error && strcmp(out->path, part->path) == 0)
		return 0;
	mapped->inner->ops->release(mapped->inner, out);
	return -ESTALE;
}

static int go_to(struct walk *walk, const char *name)
{
	struct sb_files_backend *inner = walk->mapped->inner;
	struct sb_place next;
	int status = inner->ops->enter(inner, &walk->at, name, &next);

	if (status == 0 && (!next.exists || next.facts.type != SB_FILES_DIRECTORY)) {
		inner->ops->release(inner, &next);
		status = -ESTALE;
	}
	if (status == 0) {
		inner->ops->release(inner, &walk->at);
		walk->at = next;
	}
	return status;
}

/*
 * SECURITY: ".." is looked for from above, name by name.
 *
 * Danger: the kernel's own ".." of a directory that somebody moves meanwhile leads to wherever it is moved to.
 * Price: a path with ".." behind a link takes longer.
 * Held by: tests/unit/test_zones_files.c
 */
static int go_up(struct walk *walk)
{
	struct sb_mapped_part *part = walk->part;
	char names[PATH_MAX], *last;
	int status;

	if (!part)
		return 0;
	if (!sb_path_within(part->path, walk->at.path))
		return -ESTALE;
	memcpy(names, walk->at.path + strlen(part->path),
	       strlen(walk->at.path + strlen(part->path)) + 1);
	leave(walk);
	last = strrchr(names, '/');
	if (!last)
		return 0;
	*last = '\0';
	status = sb_mapped_open(walk->mapped, part, &walk->at);
	if (status < 0)
		return status;
	walk->part = part;
	for (const char *at = names; *at && status == 0;) { /* "/a/b" */
		char name[NAME_MAX + 1];
		size_t length = strcspn(++at, "/");

		memcpy(name, at, length);
		name[length] = '\0';
		at += length;
		status = go_to(walk, name);
	}
	return status;
}

/* A place in "/": one of the directories, which has no name that could be acted on, or nothing. */
static int place_in_root(const struct sb_mapped_tree *mapped, const struct sb_mapped_part *part,
			 const char *name, struct sb_place *out)
{
	int status = 0;

	*out = SB_PLACE_EMPTY;
	if (part)
		status = sb_mapped_open(mapped, part, out);
	else
		out->facts.type = SB_FILES_DIRECTORY;
	if (status < 0)
		return status;
	memcpy(out->name, name, strlen(name) + 1);
	return sb_mapped_join("/", name, out->path);
}

static int arrive_here(struct walk *walk, struct sb_place *out)
{
	int status = 0;

	if (!walk->part) {
		*out = SB_PLACE_EMPTY;
		out->exists = true;
		out->facts = (struct sb_facts){.type = SB_FILES_DIRECTORY, .mode = 0555};
		memcpy(out->path, "/", 2);
	} else {
		*out = walk->at;
		status = show(walk->part, out->path);
		if (status == 0 && !strchr(out->path + 1, '/'))
			memcpy(out->name, walk->part->name, strlen(walk->part->name) + 1);
		if (status == 0)
			walk->part = NULL; /* it is the place's now */
	}
	out->must_be_directory = true;
	return status;
}

static int fail_at(struct walk *walk, const char *name, int error, struct sb_place *out)
{
	char tail[NAME_MAX + 2] = "/";
	int status = 0;

	if (error == -ENOMEM || error == -EMFILE || error == -ENFILE)
		return error;
	*out = SB_PLACE_EMPTY;
	out->error = -error;
	if (walk->part) {
		out->facts = walk->at.facts;
		memcpy(out->path, walk->at.path, strlen(walk->at.path) + 1);
		status = show(walk->part, out->path);
	}
	memcpy(tail + 1, name, strlen(name) + 1);
	if (status == 0 && (*name || !walk->part))
		status = sb_mapped_join(out->path, tail, out->path);
	return status;
}

/* The link's text comes next; one that is absolute begins here at "/". */
static int follow(struct walk *walk, const struct sb_place *link)
{
	struct sb_files_backend *inner = walk->mapped->inner;
	char target[PATH_MAX];
	int status = link->facts.procfs ? -EXDEV
					: inner->ops->read_link(inner, link, target, sizeof target);

	if (status == 0)
		status = sb_steps_follow(&walk->steps, target, strlen(target));
	if (status == 0 && target[0] == '/')
		leave(walk);
	return status;
}

/* One name forward from "/".  As step(). */
static int step_from_root(struct walk *walk, const char *name, bool last, struct sb_place *out)
{
	struct sb_mapped_part *part = find(walk->mapped, name, strlen(name));
	int status;

	if (!part && !last && sb_steps_cancel(&walk->steps))
		return 1;
	if (!part && (last || (walk->flags & SB_RESOLVE_PARENTS))) {
		status = place_in_root(walk->mapped, NULL, name, out);
		if (!sb_steps_keep(&walk->steps, out->rest))
			return fail_at(walk, name, -ENOENT, out);
		out->must_be_directory = walk->steps.slash;
		return status;
	}
	if (!part)
		return fail_at(walk, name, -ENOENT, out);
	status = sb_mapped_open(walk->mapped, part, &walk->at);
	if (status < 0)
		return status;
	walk->part = part;
	return last ? arrive_here(walk, out) : 1;
}

/* name is the last one, or nothing is there: next is where we are, and no longer the caller's. */
static int arrive(struct walk *walk, struct sb_place *next, struct sb_place *out)
{
	struct sb_files_backend *inner = walk->mapped->inner;
	int status;

	next->must_be_directory = walk->steps.slash;
	if (!next->exists && !sb_steps_keep(&walk->steps, next->rest)) {
		char name[NAME_MAX + 1];

		memcpy(name, next->name, sizeof name);
		inner->ops->release(inner, next);
		return fail_at(walk, name, -ENOENT, out);
	}
	status = show(walk->part, next->path);
	if (status < 0)
		inner->ops->release(inner, next);
	else
		*out = *next;
	return status;
}

/* One name forward.  1: go on; 0: arrived, or out->error says why not. */
static int step(struct walk *walk, struct sb_place *out)
{
	struct sb_files_backend *inner = walk->mapped->inner;
	char name[NAME_MAX + 1] = "";
	struct sb_place next;
	bool last = false;
	int status = sb_steps_next(&walk->steps, name, &last);

	if (status < 0)
		return fail_at(walk, "", status, out);
	if (status == 0)
		return arrive_here(walk, out);
	if (sb_is_dots(name)) {
		status = name[1] ? go_up(walk) : 0;
		return status < 0 ? status : last ? arrive_here(walk, out) : 1;
	}
	if (!walk->part)
		return step_from_root(walk, name, last, out);
	status = inner->ops->enter(inner, &walk->at, name, &next);
	if (status < 0)
		return fail_at(walk, name, status, out);
	if (!next.exists && !last && sb_steps_cancel(&walk->steps)) {
		inner->ops->release(inner, &next);
		return 1;
	}
	if (!next.exists && (last || (walk->flags & SB_RESOLVE_PARENTS)))
		return arrive(walk, &next, out);
	if (next.exists && next.facts.type == SB_FILES_LINK &&
	    (!last || walk->steps.slash || (walk->flags & SB_RESOLVE_FOLLOW))) {
		status = follow(walk, &next);
		inner->ops->release(inner, &next);
		return status < 0 ? fail_at(walk, name, status, out) : 1;
	}
	if (last)
		return arrive(walk, &next, out);
	if (!next.exists || next.facts.type != SB_FILES_DIRECTORY) {
		status = next.exists ? -ENOTDIR : -ENOENT;
		inner->ops->release(inner, &next);
		return fail_at(walk, name, status, out);
	}
	inner->ops->release(inner, &walk->at);
	walk->at = next;
	return 1;
}

int sb_mapped_resolve(struct sb_files_backend *self, const struct sb_root *start, const char *path,
		      unsigned flags, struct sb_place *out)
{
	SB_AUTO_FREE struct walk *walk =
		malloc(sizeof *walk); /* too large for the stack of a thread */
	char whole[PATH_MAX] = "";
	int status = walk ? 1 : -ENOMEM;

	if (walk && path[0] != '/' && start)
		status = sb_mapped_join(start->path, "/", whole) < 0 ? -ENAMETOOLONG : 1;
	if (status > 0 &&
	    (sb_mapped_join(whole, path, whole) < 0 || sb_steps_init(&walk->steps, whole) < 0))
		status = -ENAMETOOLONG;
	if (status > 0) {
		walk->mapped = (struct sb_mapped_tree *)self;
		walk->flags = flags;
		walk->part = NULL;
		while (status > 0)
			status = step(walk, out);
		leave(walk);
	}
	if (status < 0)
		*out = SB_PLACE_EMPTY;
	return status;
}

int sb_mapped_enter(struct sb_files_backend *self, const struct sb_place *dir, const char *name,
		    struct sb_place *out)
{
	struct sb_mapped_tree *mapped = (struct sb_mapped_tree *)self;
	struct sb_mapped_part *part = sb_mapped_part_of(mapped, dir->path);
	struct sb_place inner;
	int status;

	if (!dir->path[1])
		return place_in_root(mapped, find(mapped, name, strlen(name)), name, out);
	status = sb_mapped_inner(mapped, dir, &inner);
	if (status == 0)
		status = mapped->inner->ops->enter(mapped->inner, &inner, name, out);
	if (status < 0)
		return status;
	status = show(part, out->path);
	if (status < 0)
		mapped->inner->ops->release(mapped->inner, out);
	return status;
}
