/*
 * glob.c - fuzz target: the input is a pattern, a NUL, and a path.
 *
 * A pattern is taken or refused; without braces it matches as the naive matcher does; and
 * where it matches, every directory above may hold a match.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/naive_wildcard.h"
#include "fuzz.h"
#include "base/auto.h"
#include "search/search.h"
#include "tree/wildcard.h"

static void check_wildcard(const char *pattern, const char *path, bool git)
{
	struct sb_wildcard *wild =
		sb_wildcard_new(pattern, strlen(pattern), git ? SB_WILDCARD_GIT : 0);
	bool sure, naive, real;

	CHECK(wild);
	real = sb_wildcard_match(wild, path, strlen(path));
	naive = naive_wildcard(pattern, strlen(pattern), path, strlen(path), git, &sure);
	CHECK(!sure || real == naive);
	for (const char *slash = strchr(path, '/'); real && slash; slash = strchr(slash + 1, '/'))
		CHECK(slash[1] == '\0' ||
		      sb_wildcard_begins(wild, path, (size_t)(slash + 1 - path)));
	sb_wildcard_free(wild);
}

static void check_glob(const char *pattern, const char *path, unsigned flags)
{
	SB_AUTO_FREE char *above = strdup(path);
	struct sb_glob *glob = NULL;
	struct sb_error err = {0};
	int status = sb_glob_new(pattern, flags, &glob, &err);

	if (status != SB_OK) {
		CHECK(status == SB_E_INVALID && err.code == SB_E_INVALID && err.message[0] &&
		      !glob);
		return;
	}
	if (sb_glob_match(glob, path, false)) {
		CHECK(sb_glob_match(glob, path, true) || (flags & SB_GLOB_MINIMATCH));
		for (char *slash; (slash = strrchr(above, '/'));) {
			*slash = '\0';
			CHECK(sb_glob_may_hold(glob, above));
		}
	}
	sb_glob_free(glob);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	SB_AUTO_FREE char *pattern = strndup((const char *)data, size);
	size_t length = strlen(pattern);
	SB_AUTO_FREE char *path =
		length < size ? strndup((const char *)data + length + 1, size - length - 1)
			      : strdup("");

	check_wildcard(pattern, path, true);
	check_wildcard(pattern, path, false);
	for (unsigned flags = 0; flags < 8; flags++)
		check_glob(pattern, path, flags);
	return 0;
}
