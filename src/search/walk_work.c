#include "search/walk_work.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"

enum {
	OPEN_FOLDERS = 128, /* kept open for files that wait; more are opened anew */
	BATCH_FILES = 64,   /* of one directory, looked into by one worker */
	BATCH_NAMES = 4096,
};

/* ---- the list ---- */

void sb_work_insert(struct sb_work *place, struct sb_work *work)
{
	work->next = place;
	work->previous = place->previous;
	place->previous->next = work;
	place->previous = work;
}

void sb_work_unlink(struct sb_work *work)
{
	work->previous->next = work->next;
	work->next->previous = work->previous;
}

static void close_folder(struct sb_walk *walk, struct sb_folder *folder)
{
	if (!folder->open)
		return;
	sb_folder_close(folder);
	atomic_fetch_sub(&walk->open_folders, 1);
}

void sb_work_release_opener(struct sb_walk *walk, struct sb_work *work)
{
	if (work->opener && atomic_fetch_sub(&work->folder->openers, 1) == 1)
		close_folder(walk, work->folder);
	work->opener = false;
}

void sb_work_free(struct sb_walk *walk, struct sb_work *work)
{
	if (!work)
		return;
	for (size_t i = 0; i < work->count; i++)
		if (work->items[i].visited)
			walk->visitor->discard(work->items[i].visited);
	sb_work_release_opener(walk, work);
	sb_folder_drop(work->folder);
	free(work->items);
	free(work->text);
	free(work);
}

struct sb_work *sb_work_new(struct sb_folder *folder, size_t names)
{
	struct sb_work *work = calloc(1, sizeof(*work));

	if (!work)
		return NULL;
	sb_folder_hold(folder);
	work->folder = folder;
	work->items = names ? calloc(names, sizeof(*work->items)) : NULL;
	if (names && !work->items) {
		sb_folder_drop(folder);
		free(work);
		return NULL;
	}
	return work;
}

/* ---- a directory becomes what is in it ---- */

bool sb_work_add_names(struct sb_work_cut *cut, const struct sb_folder_name *from, size_t count)
{
	size_t bytes = 0, wanted = 0;
	struct sb_work *work;
	char *at;

	for (size_t i = 0; i < count; i++) {
		wanted += from[i].wanted;
		bytes += from[i].wanted ? strlen(from[i].name) + 1 : 0;
	}
	if (!wanted)
		return true;
	work = sb_work_new(cut->folder, wanted);
	at = work ? work->text = malloc(bytes) : NULL;
	if (!at) {
		sb_work_free(cut->walk, work);
		return false;
	}
	for (size_t i = 0; i < count; i++) {
		size_t length = strlen(from[i].name) + 1;

		if (!from[i].wanted)
			continue;
		memcpy(at, from[i].name, length);
		work->items[work->count++] =
			(struct sb_work_item){.name = at, .kind = from[i].kind};
		at += length;
	}
	work->state = cut->walk->visitor->visit ? SB_WORK_WAITS : SB_WORK_DONE;
	if (work->state == SB_WORK_DONE) {
		work->bytes = bytes + wanted * sizeof(*work->items);
	} else {
		work->opener = true;
		atomic_fetch_add(&cut->folder->openers, 1);
	}
	sb_work_insert(&cut->first, work);
	return true;
}

static bool add_directory(struct sb_work_cut *cut, const struct sb_folder_name *name)
{
	SB_AUTO_FREE char *path = sb_folder_path(cut->folder->path, name->name);
	struct sb_folder *folder =
		path ? sb_folder_new(cut->walk->source, path, cut->folder->depth + 1,
				     cut->folder->all_seen || name->all_seen, cut->folder->level)
		     : NULL;
	struct sb_work *work = folder ? sb_work_new(folder, 0) : NULL;

	sb_folder_drop(folder); /* the work holds it */
	if (work)
		sb_work_insert(&cut->first, work);
	return work != NULL;
}

static size_t batch_size(const struct sb_walk *walk, size_t files)
{
	size_t share = files / ((size_t)walk->workers * 4) + 1;

	if (!walk->visitor->visit)
		return BATCH_NAMES;
	return share < BATCH_FILES ? share : BATCH_FILES;
}

static bool cut_up(struct sb_work_cut *cut, const struct sb_folder_names *names)
{
	size_t batch = batch_size(cut->walk, names->files), from = 0;

	for (size_t i = 0; i < names->count; i++) {
		bool enter = names->all[i].enter;

		/* A directory's own name comes before what is in it. */
		if (enter || i + 1 - from == batch) {
			if (!sb_work_add_names(cut, names->all + from, i + 1 - from))
				return false;
			from = i + 1;
		}
		if (enter && !add_directory(cut, &names->all[i]))
			return false;
	}
	return sb_work_add_names(cut, names->all + from, names->count - from);
}

void sb_work_drop_all(struct sb_walk *walk, struct sb_work *ring)
{
	while (ring->next != ring) {
		struct sb_work *work = ring->next;

		sb_work_unlink(work);
		sb_work_free(walk, work);
	}
}

/* Put the new list in the place of the directory, whose work ends. */
static void replace(struct sb_walk *walk, struct sb_work *directory, struct sb_work *ring,
		    const struct sb_folder_names *names)
{
	pthread_mutex_lock(&walk->lock);
	for (struct sb_work *work = ring->next; work != ring; work = work->next)
		walk->backlog += work->bytes;
	if (ring->next != ring) {
		ring->next->previous = directory->previous;
		directory->previous->next = ring->next;
		ring->previous->next = directory;
		directory->previous = ring->previous;
	}
	sb_work_unlink(directory);
	walk->end.directories++;
	walk->end.skipped += names->skipped;
	walk->end.files += names->files;
	pthread_cond_broadcast(&walk->more);
	pthread_cond_signal(&walk->front);
	pthread_mutex_unlock(&walk->lock);
}

void sb_walk_list_directory(struct sb_walk *walk, struct sb_work *directory)
{
	struct sb_work_cut cut = {.walk = walk, .folder = directory->folder};
	struct sb_folder_names names = {0};
	bool fine = true;
	int status;

	cut.first.next = cut.first.previous = &cut.first;
	if (sb_folder_open(cut.folder) < 0) {
		names.unreadable = 1;
	} else {
		atomic_fetch_add(&walk->open_folders, 1);
		status = sb_folder_list(cut.folder, &walk->scope, &names);
		fine = status == SB_OK && cut_up(&cut, &names);
	}
	if (!fine) {
		sb_work_drop_all(walk, &cut.first);
		walk->nomem = true;
		sb_walk_stop(walk, SB_SEARCH_DONE);
	}
	atomic_fetch_add(&walk->unreadable, names.unreadable);
	if (!atomic_load(&cut.folder->openers) || atomic_load(&walk->open_folders) > OPEN_FOLDERS)
		close_folder(walk, cut.folder);
	replace(walk, directory, &cut.first, &names);
	sb_work_free(walk, directory);
	sb_folder_names_done(&names);
}

/* The first reason counts. */
void sb_walk_stop(struct sb_walk *walk, enum sb_search_why why)
{
	pthread_mutex_lock(&walk->lock);
	if (!atomic_exchange(&walk->stopped, true))
		walk->end.why = why;
	pthread_cond_broadcast(&walk->more);
	pthread_cond_signal(&walk->front);
	pthread_mutex_unlock(&walk->lock);
}
