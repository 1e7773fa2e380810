/*
 * git_config.c - fuzz target: the input is a git config file.
 *
 * Whatever it holds, it is read or refused; what is read is a list of keys and values; and a
 * file that the check lets pass unasked has only entries that the check lets pass one by one,
 * in a file of their own.  tests/unit/test_guard_git.c compares the list with the installed git's.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guard.h"
#include "base/escape.h"
#include "guard/git_config.h"
#include "guard/git_keys.h"

static bool nowhere(void *context, const char *path)
{
	(void)context;
	CHECK(path[0] == '/' && !strstr(path, "//") && !strstr(path, "/../"));
	return false;
}

static void check_why(const char *why)
{
	for (size_t length = strlen(why), step; length; why += step, length -= step) {
		step = *why == '\n' ? 1 : sb_utf8_visible(why, length); /* between lines */
		/* the line may be cut within a character */
		CHECK(step || length < 4);
		if (!step)
			return;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sb_guard_bytes none = {0}, bytes = {(const char *)data, size};
	struct sb_git_config config;
	enum sb_guard_verdict verdict;
	char why[(SB_GUARD_LINES + 1) * SB_GUARD_DETAIL];

	verdict = sb_guard_content(
		guard_in(nowhere),
		&(struct sb_guard_landing){SB_GUARD_GIT_CONFIG, "/x/.git/config", none, bytes}, why,
		sizeof why);
	CHECK(verdict == SB_GUARD_PLAIN || why[0]);
	check_why(why);
	sb_git_config_parse((const char *)data, size, &config);
	CHECK(!config.no_memory);
	if (verdict == SB_GUARD_PLAIN)
		CHECK(!config.failed);
	for (size_t i = 0; i < config.count; i++) {
		const char *value = config.entries[i].value;

		CHECK(config.entries[i].key && config.entries[i].key[0]);
		if (verdict == SB_GUARD_PLAIN)
			CHECK(sb_git_key_judge(config.entries[i].key, value ? value : "") ==
			      SB_KEY_HARMLESS);
	}
	sb_git_config_done(&config);
	/* the same bytes as before change nothing */
	CHECK(sb_guard_content(guard_in(nowhere),
			       &(struct sb_guard_landing){SB_GUARD_GIT_CONFIG, "/x/.git/config",
							  bytes, bytes},
			       why, sizeof why) == SB_GUARD_PLAIN ||
	      !data);
	for (int kind = SB_GUARD_SAME; kind <= SB_GUARD_GIT_TEXT; kind++) {
		sb_guard_content(guard_in(nowhere),
				 &(struct sb_guard_landing){(enum sb_guard_kind)kind,
							    "/x/worktrees/a/f", none, bytes},
				 why, sizeof why);
		check_why(why);
	}
	return 0;
}
