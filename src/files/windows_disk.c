/*
 * windows_disk.c - no disk yet: a view on one is SANDBOX_UNAVAILABLE.  Whoever writes it fills struct
 * sb_backend_ops, with places that are held by handles, and paths by path/grammar.h.
 */
#include "files/backend.h"
#include "search/search.h"

const struct sb_search_backend sb_search_disk_backend = {0};

struct sb_files_backend *sb_files_disk(void)
{
	return NULL;
}
