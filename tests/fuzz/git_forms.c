/*
 * git_forms.c - fuzz target: the first byte chooses a form of git's state files, the rest is the file; and
 * the rest is a name in a git directory.
 *
 * What passes is checked once more in the crudest way: by the bytes that must not be in it.
 */
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "guard.h"
#include "base/auto.h"
#include "guard/git_files.h"
#include "guard/git_url.h"

static bool has_any(const char *data, size_t size, const char *bytes)
{
	for (size_t i = 0; i < size; i++)
		if (data[i] && strchr(bytes, data[i]))
			return true;
	return false;
}

static bool are_all(const char *data, size_t size, int (*is)(int), const char *others)
{
	for (size_t i = 0; i < size; i++)
		if (!is((unsigned char)data[i]) && (!data[i] || !strchr(others, data[i])))
			return false;
	return true;
}

/* What the form promises, whoever reads the file. */
static void check_passed(enum sb_guard_kind kind, const char *data, size_t size)
{
	static const char expanded[] = "$`;|&<>'\"()";

	if (kind != SB_GUARD_ANYTHING && kind != SB_GUARD_GIT_RERERE)
		CHECK(!memchr(data, 0, size) && !memchr(data, '\r', size));
	if (kind == SB_GUARD_GIT_NUMBER)
		CHECK(are_all(data, size, isdigit, "\n"));
	if (kind == SB_GUARD_GIT_IDS)
		CHECK(are_all(data, size, isxdigit, " \n"));
	if (kind == SB_GUARD_GIT_REF || kind == SB_GUARD_GIT_NAMES ||
	    kind == SB_GUARD_GIT_STRATEGY_OPTIONS)
		CHECK(!has_any(data, size,
			       kind == SB_GUARD_GIT_STRATEGY_OPTIONS ? "$`;|&<>()" : expanded));
	if (kind == SB_GUARD_GIT_PACKED && size && !memchr(data, '#', size))
		CHECK(!has_any(data, size, expanded));
	if (kind == SB_GUARD_GIT_AUTHOR)
		CHECK(strncmp(data, "GIT_AUTHOR_", 11) == 0);
	if (kind == SB_GUARD_GIT_TEXT)
		CHECK(!memchr(data, 0x1b, size));
	if (kind == SB_GUARD_GIT_RERERE)
		CHECK(data[size - 1] == '\0' && !strstr(data, "/../") && !strstr(data, "\t/"));
}

static void check_name(const char *text, size_t size)
{
	SB_AUTO_FREE char *path = malloc(size + 16);
	struct sb_guard_place place = {.directory = -1, .path = path};
	struct sb_guard_answer answer;
	const char *inner;

	CHECK(path);
	memcpy(path, "/x/.git/", 8);
	memcpy(path + 8, text, size);
	path[8 + size] = '\0';
	if (strlen(path) != 8 + size || size == 0)
		return;
	inner = sb_git_inner(path + 8);
	CHECK(inner >= path + 8 && inner <= path + 8 + size && sb_git_row_of(inner));
	if (strstr(path, "//") || path[7 + size] == '/')
		return;
	/* a branch that lands unasked has a name that no shell expands */
	if (sb_guard_judge(guard_in(everywhere), SB_GUARD_WRITE, &place, &answer) != SB_GUARD_ASK &&
	    strncmp(inner, "refs/", 5) == 0 &&
	    (size < 5 || strcmp(path + 3 + size, ".lock") != 0) && path[7 + size] != '~' &&
	    !strstr(path, ".sw"))
		CHECK(!has_any(inner, strlen(inner), "$`;|&<>'\"()"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { FORMS = SB_GUARD_GIT_TEXT - SB_GUARD_ANYTHING + 1 };
	char why[(SB_GUARD_LINES + 1) * SB_GUARD_DETAIL];
	enum sb_guard_kind kind;
	struct sb_guard_bytes bytes;
	bool failed;

	if (size < 2)
		return 0;
	kind = (enum sb_guard_kind)(SB_GUARD_ANYTHING + data[0] % FORMS);
	bytes = (struct sb_guard_bytes){(const char *)data + 1, size - 1};
	if (sb_guard_content(guard_in(everywhere),
			     &(struct sb_guard_landing){kind, "/nowhere/.git/x",
							(struct sb_guard_bytes){0}, bytes},
			     why, sizeof why) == SB_GUARD_PLAIN)
		check_passed(kind, bytes.bytes, bytes.length);
	check_name(bytes.bytes, bytes.length);
	if (!memchr(bytes.bytes, 0, bytes.length)) {
		SB_AUTO_FREE char *url = strndup(bytes.bytes, bytes.length);

		CHECK(url);
		if (sb_git_url_is_plain(url))
			CHECK(!strstr(url, "::") && url[0] != '-');
		free(sb_git_url_path(url, "/nowhere/.git/config", &failed));
	}
	return 0;
}
