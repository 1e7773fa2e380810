#include "guard/git_index.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "guard/git_index_impl.h"
#include "guard/read.h"
#include "guard/repository.h"
#include "path/path.h"

/* *out_whole: all of it could be read, with hashes of this length. */
static int visit_all(struct sb_guard_bytes bytes, unsigned hash,
		     int (*visit)(void *context, const char *name), void *context, bool *out_whole)
{
	SB_AUTO_FREE struct sb_index_reader *reader = malloc(sizeof *reader);
	struct sb_index_entry entry;
	int status = SB_OK;

	*out_whole = false;
	if (!reader)
		return SB_E_NOMEM;
	if (!sb_index_begin(reader, bytes, hash))
		return SB_OK;
	while (status == SB_OK && reader->left) {
		if (!sb_index_next(reader, &entry))
			return SB_OK;
		if (S_ISLNK(entry.mode))
			status = visit(context, entry.name);
	}
	*out_whole = true;
	return status;
}

int sb_index_links(const char *top, int (*visit)(void *context, const char *name), void *context)
{
	SB_AUTO_FREE char *path = NULL, *text = NULL;
	struct sb_repository repository;
	struct sb_guard_bytes bytes;
	int status;
	bool whole;

	if (!sb_repository_find(top, &repository))
		return SB_OK;
	path = sb_path_join(repository.own, "index");
	sb_repository_done(&repository);
	if (!path)
		return SB_E_NOMEM;
	text = sb_read_text(path, SB_INDEX_LINKS_BYTES, &bytes.length);
	if (!text)
		return SB_OK;
	bytes.bytes = text;
	status = visit_all(bytes, SB_INDEX_SHA1, visit, context, &whole);
	if (status == SB_OK && !whole) /* what was visited by then is looked for on the disk */
		status = visit_all(bytes, SB_INDEX_SHA256, visit, context, &whole);
	return status;
}
