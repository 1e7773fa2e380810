/*
 * Where a repository keeps its objects: one file each, or in packs; and in other repositories that it borrows from.
 */
#include "guard/git_objects.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/inflate.h"
#include "base/words.h"
#include "guard/read.h"
#include "path/path.h"
#include "sys/directory.h"

#define MAX_STORES 8
#define MAX_PACKS 128
#define MAX_FILE (8 * 1024 * 1024)      /* of an object in a file of its own, as it is packed */
#define MAX_UNPACKED (64 * 1024 * 1024) /* of all together: some seconds */
#define MAX_HEAD 32                     /* "commit 1234" */
#define MAX_LIST (64 * 1024)

struct sb_git_objects {
	size_t id_length, left;
	char *stores[MAX_STORES];
	size_t store_count;
	bool packs_opened;
	struct sb_git_pack packs[MAX_PACKS];
	size_t pack_count;
};

static void add_store(struct sb_git_objects *objects, char *path)
{
	if (path && objects->store_count < MAX_STORES)
		objects->stores[objects->store_count++] = path;
	else
		free(path);
}

/* Lines of paths; what is quoted, or one more than there is room for, is not found then. */
static void add_alternates(struct sb_git_objects *objects, const char *store)
{
	SB_AUTO_FREE char *list = sb_path_join(store, "info/alternates");
	size_t size = 0;
	SB_AUTO_FREE char *text = list ? sb_read_text(list, MAX_LIST, &size) : NULL;
	struct sb_text_lines line = sb_text_lines(text, text ? size : 0);

	while (sb_next_line(&line)) {
		SB_AUTO_FREE char *path = strndup(line.text, line.length);

		if (path && *path && *path != '#')
			add_store(objects, sb_read_from(store, path));
	}
}

struct sb_git_objects *sb_git_objects_open(const char *git, size_t id_length)
{
	struct sb_git_objects *objects = calloc(1, sizeof *objects);

	if (!objects)
		return NULL;
	objects->id_length = id_length;
	objects->left = MAX_UNPACKED;
	add_store(objects, sb_path_join(git, "objects"));
	for (size_t i = 0; i < objects->store_count; i++)
		add_alternates(objects, objects->stores[i]);
	return objects;
}

void sb_git_objects_close(struct sb_git_objects *objects)
{
	if (!objects)
		return;
	for (size_t i = 0; i < objects->store_count; i++)
		free(objects->stores[i]);
	for (size_t i = 0; i < objects->pack_count; i++)
		sb_git_pack_close(&objects->packs[i]);
	free(objects);
}

static void open_packs(struct sb_git_objects *objects)
{
	for (size_t i = 0; i < objects->store_count; i++) {
		SB_AUTO_FREE char *directory = sb_path_join(objects->stores[i], "pack");
		const struct dirent64 *entry;
		struct sb_sys_dir dir;

		if (!directory || sb_sys_dir_open(&dir, directory) < 0)
			continue;
		while (objects->pack_count < MAX_PACKS && (entry = sb_sys_dir_next(&dir)))
			objects->pack_count += sb_git_pack_open(
				directory, entry->d_name, &objects->packs[objects->pack_count]);
		sb_sys_dir_close(&dir);
	}
	objects->packs_opened = true;
}

/* "tree 123", a NUL, and 123 bytes: the head comes off. */
static bool take_head(struct sb_git_object *object)
{
	static const char *const types[] = {
		[SB_GIT_COMMIT] = "commit ", [SB_GIT_TREE] = "tree ", [SB_GIT_BLOB] = "blob "};
	const char *end =
		memchr(object->bytes, '\0', object->length < MAX_HEAD ? object->length : MAX_HEAD);
	size_t head = end ? (size_t)(end + 1 - object->bytes) : 0;

	for (size_t i = SB_GIT_COMMIT; head && i < sizeof types / sizeof types[0]; i++) {
		size_t length = strlen(types[i]);

		if (strncmp(object->bytes, types[i], length) != 0)
			continue;
		object->type = (enum sb_git_type)i;
		object->length -= head;
		if (strtoull(object->bytes + length, NULL, 10) != object->length)
			return false;
		memmove(object->bytes, object->bytes + head, object->length + 1);
		return true;
	}
	return false;
}

static bool read_file(struct sb_git_objects *objects, const char *store, const unsigned char *id,
		      struct sb_git_object *out)
{
	char path[PATH_MAX];
	size_t size = 0;
	int end = snprintf(path, sizeof path, "%s/%02x/", store, id[0]);
	SB_AUTO_FREE char *raw = NULL;

	for (size_t i = 1; i < objects->id_length && end < (int)sizeof path; i++)
		end += snprintf(path + end, sizeof path - (size_t)end, "%02x", id[i]);
	if (end >= (int)sizeof path)
		return false;
	raw = sb_read_text(path, MAX_FILE, &size);
	out->bytes = raw ? sb_inflate(raw, size, objects->left, &out->length) : NULL;
	if (!out->bytes)
		return false;
	objects->left -= out->length;
	if (take_head(out))
		return true;
	free(out->bytes);
	return false;
}

/* One more copy, or the first; takes its bytes.  False: another one says something else. */
static bool keep(struct sb_git_object *out, struct sb_git_object *copy)
{
	bool same = !out->bytes || (out->type == copy->type && out->length == copy->length &&
				    memcmp(out->bytes, copy->bytes, copy->length) == 0);

	if (out->bytes)
		free(copy->bytes);
	else
		*out = *copy;
	return same;
}

/*
 * All copies, which have to be the same: which of them git takes hangs on what it read before, and none is held against
 * its hash.
 */
static bool read_any(struct sb_git_objects *objects, const unsigned char *id,
		     struct sb_git_object *out)
{
	struct sb_git_object copy = {0};
	bool good = true;
	uint64_t offset;

	*out = copy;
	if (!objects->packs_opened)
		open_packs(objects);
	for (size_t i = 0; good && i < objects->store_count; i++)
		if (read_file(objects, objects->stores[i], id, &copy))
			good = keep(out, &copy);
	for (size_t i = 0; good && i < objects->pack_count; i++)
		if (sb_git_pack_find(&objects->packs[i], id, objects->id_length, &offset))
			good = sb_git_pack_read(&objects->packs[i], offset, objects->id_length,
						&objects->left, &copy) &&
			       keep(out, &copy);
	if (good && out->bytes)
		return true;
	free(out->bytes);
	return false;
}

bool sb_git_object_read(struct sb_git_objects *objects, const unsigned char *id,
			enum sb_git_type type, size_t limit, struct sb_git_object *out)
{
	struct sb_git_object object = {0};

	if (!read_any(objects, id, &object))
		return false;
	if (object.type == type && object.length <= limit) {
		*out = object;
		return true;
	}
	free(object.bytes);
	return false;
}
