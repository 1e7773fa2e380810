/*
 * confine_nothing.c - the server without its own domain, in the place of src/mcp/server/confine.c.
 *
 * Linked into build-asan/tests/mcp-unconfined.  The leak checker stops the process and looks into
 * it through /proc, both of which the domain forbids.  What it finds at the end is the same code
 * with the lock left open, and nothing else.
 *
 * What the sanitizers report goes to files, named in $SANDBASH_TEST_REPORTS: the keeper has no
 * standard error.  Not by ASAN_OPTIONS: a sandboxed command would inherit that, and cannot
 * write there.
 */
#include <sanitizer/common_interface_defs.h>
#include <stdlib.h>

#include "mcp/server/server.h"

__attribute__((constructor)) static void report_to_files(void)
{
	const char *path = getenv("SANDBASH_TEST_REPORTS");

	if (path)
		__sanitizer_set_report_path(path);
}

int sb_mcp_confine(const struct sb_setup *setup, const struct sb_tool_worker *worker,
		   struct sb_error *err)
{
	(void)setup;
	(void)worker;
	(void)err;
	return SB_OK;
}
