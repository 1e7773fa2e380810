/*
 * grep_file.h - one file searched by one thread.
 */
#ifndef SB_SEARCH_GREP_FILE_H
#define SB_SEARCH_GREP_FILE_H

#include "search/grep_input.h"
#include "search/grep_pattern.h"
#include "search/grep_result.h"
#include "search/walk.h"

/* What a thread keeps from file to file. */
struct sb_grep_worker {
	struct sb_matcher *matcher;
	struct sb_input input;
	uint64_t files, bytes, binary, costly, skipped; /* counted */
};

/* NULL: nothing found.  The file's lines are finished. */
struct sb_grep_result *sb_grep_file_search(struct sb_grep_worker *worker, struct sb_walk *walk,
					   const struct sb_search_source *source,
					   const struct sb_grep_query *query,
					   const struct sb_walk_file *file, size_t *out_bytes);

#endif
