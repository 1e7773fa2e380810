/*
 * pattern.c - fuzz target: the input is a pattern, a NUL, and a path.
 *
 * A pattern is taken or refused; its canonical text is its own canonical text; what
 * it covers, it covers with everything beneath; the policy's index decides by it as
 * sb_pattern_covers does; and a name in plain ASCII matches as fnmatch(3) has it.
 */
#include "fuzz.h"

#include <fnmatch.h>
#include <string.h>

#include "base/auto.h"
#include "path/path.h"
#include "path/pattern.h"
#include "policy/text.h"
#include "sandbash/policy.h"

static void check_text(const struct sb_pattern *pattern)
{
	struct sb_pattern again;

	CHECK(pattern->text[0] == '/' && pattern->prefix[0] == '/');
	CHECK(!pattern->glob == !sb_pattern_is_glob(pattern->text));
	CHECK(sb_pattern_parse(pattern->text, &again, NULL) == SB_OK);
	CHECK(strcmp(again.text, pattern->text) == 0);
	CHECK(strcmp(again.prefix, pattern->prefix) == 0);
	CHECK(!again.glob == !pattern->glob);
	CHECK(!again.glob || strcmp(again.glob, pattern->glob) == 0);
	CHECK(sb_pattern_compare(&again, pattern) == 0);
	sb_pattern_done(&again);
	if (!pattern->glob) {
		SB_AUTO_FREE char *escaped = sb_pattern_escape(pattern->prefix);

		CHECK(strcmp(escaped, pattern->text) == 0);
	}
}

static void check_covering(const struct sb_pattern *pattern, const char *path)
{
	SB_AUTO_FREE char *beneath = sb_path_join(path, "beneath");
	bool covered = sb_pattern_covers(pattern, path);
	struct sb_rule rule = {.access = sb_access_deny,
			       .tier = SB_TIER_GLOBAL,
			       .pattern = pattern->text,
			       .origin = "fuzz"};
	struct sb_policy *policy = sb_policy_new();

	CHECK(!covered || sb_pattern_covers(pattern, beneath));
	CHECK(!covered || sb_path_within(pattern->prefix, path));
	CHECK(pattern->glob || covered == sb_path_within(pattern->prefix, path));
	CHECK(sb_policy_add(policy, &rule, NULL) == SB_OK);
	CHECK(sb_policy_seal(policy, NULL) == SB_OK);
	CHECK((sb_decide(policy, SB_READ, path).verdict == SB_DENY) == covered);
	sb_policy_free(policy);
}

/* The pattern that is this path: it, what is beneath, and no look-alike. */
static void check_escape(const char *path)
{
	SB_AUTO_FREE char *escaped = sb_pattern_escape(path);
	SB_AUTO_FREE char *beneath = sb_path_join(path, "beneath");
	SB_AUTO_FREE char *lookalike = malloc(strlen(path) + 6);
	struct sb_pattern pattern;

	if (sb_pattern_parse(escaped, &pattern, NULL) != SB_OK)
		return; /* too many directories */
	memcpy(lookalike, path, strlen(path));
	memcpy(lookalike + strlen(path), "-evil", 6);
	CHECK(!pattern.glob && strcmp(pattern.prefix, path) == 0);
	CHECK(sb_pattern_covers(&pattern, path) && sb_pattern_covers(&pattern, beneath));
	CHECK(path[1] == '\0' || !sb_pattern_covers(&pattern, lookalike));
	sb_pattern_done(&pattern);
}

static bool is_ascii(const char *text)
{
	for (; *text; text++)
		if (*text & 0x80)
			return false;
	return true;
}

/* fnmatch knows classes such as [[:alpha:]]; ours are plain sets. */
static bool has_class(const char *glob)
{
	for (; (glob = strchr(glob, '[')); glob++)
		if (glob[1] == ':' || glob[1] == '.' || glob[1] == '=')
			return true;
	return false;
}

static void check_names(const char *glob, const char *path)
{
	for (; *glob; glob += *glob == '/') {
		size_t glob_length = strcspn(glob, "/");
		SB_AUTO_FREE char *one = strndup(glob, glob_length);

		for (const char *at = path; *at; at += *at == '/') {
			size_t length = strcspn(at, "/");
			SB_AUTO_FREE char *name = strndup(at, length);

			CHECK(!length || sb_glob_name(glob, glob_length, at, length) ==
						 (fnmatch(one, name, 0) == 0));
			at += length;
		}
		glob += glob_length;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	SB_AUTO_FREE char *text = strndup((const char *)data, size);
	size_t length = strlen(text);
	SB_AUTO_FREE char *written =
		length < size ? strndup((const char *)data + length + 1, size - length - 1)
			      : strdup("");
	SB_AUTO_FREE char *path = NULL;
	struct sb_pattern pattern = {.literals = 42};
	struct sb_error err;
	int status = sb_pattern_parse(text, &pattern, &err);

	if (!*written || *written == '~' ||
	    sb_path_absolute(written, "/", NULL, &path, NULL) != SB_OK)
		path = strdup("/");
	check_escape(path);
	if (status != SB_OK) {
		CHECK(status == SB_E_INVALID && err.code == SB_E_INVALID && err.message[0]);
		CHECK(pattern.literals == 42);
		return 0;
	}
	check_text(&pattern);
	check_covering(&pattern, path);
	check_covering(&pattern, pattern.prefix);
	/* Backtracking makes fnmatch slow on long input. */
	if (size < 200 && is_ascii(text) && is_ascii(path) && !has_class(text))
		check_names(pattern.text + 1, path + 1);
	sb_pattern_done(&pattern);
	return 0;
}
