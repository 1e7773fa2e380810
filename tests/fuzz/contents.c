/*
 * contents.c - fuzz target: the first byte chooses a kind of guarded file, the second where the bytes that
 * are there end and those that would replace them begin.
 *
 * The same bytes as before never need a question; an answer ends within its room; and a .env that lands
 * unasked holds nothing that a shell runs.
 */
#include "guard.h"

#include <string.h>

#include "guard/dotenv.h"

static void check_dotenv(const char *bytes, size_t length)
{
	for (const char *at = bytes, *end = bytes + length; at < end;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t width = (size_t)((newline ? newline : end) - at);

		if (sb_dotenv_line(at, width) == SB_DOTENV_PLAIN)
			CHECK(!memmem(at, width, "$(", 2) || memchr(at, '\'', width) ||
			      memchr(at, '#', width) || memchr(at, '\\', width));
		at += width + 1;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char why[(SB_GUARD_LINES + 1) * SB_GUARD_DETAIL], note[256];
	struct sb_guard_bytes old, new;
	enum sb_guard_kind kind;
	enum sb_guard_verdict verdict;

	if (size < 2 || size > 65536)
		return 0;
	kind = (enum sb_guard_kind)(data[0] % (SB_GUARD_GIT_STASH + 1));
	old = (struct sb_guard_bytes){(const char *)data + 2, data[1] * (size - 2) / 255};
	new = (struct sb_guard_bytes){old.bytes + old.length, size - 2 - old.length};
	memset(why, 'x', sizeof why);
	verdict = sb_guard_content(guard_in(everywhere),
				   &(struct sb_guard_landing){kind, "/nowhere/.git/x", old, new},
				   why, sizeof why);
	CHECK(memchr(why, 0, sizeof why));
	if (kind == SB_GUARD_SAME)
		CHECK((verdict == SB_GUARD_PLAIN) ==
		      (old.length == new.length &&memcmp(old.bytes, new.bytes, old.length) == 0));
	if (kind == SB_GUARD_DOTENV)
		check_dotenv(new.bytes, new.length);
	if (sb_guard_left(old, new, note, sizeof note))
		CHECK(memchr(note, 0, sizeof note));
	return 0;
}
