/*
 * turned.c - links that go up behind a name.
 *
 * SECURITY: no link leads unasked to what is obeyed or hidden by way of a name that is turned afterwards.
 *
 * Danger: notes is made a link to a/b/../.bashrc, which is the project's own.  Then b is made a link: to ../.., or to a
 * plain directory of the home.  Neither link says where notes leads now: ~/.bashrc.
 * So ".." behind a name may be any directory that has names like what follows; the home, those of the guard's
 * table and those that rules close are tried.  What is said of "as it stands" (followed.c) comes first.
 * Price: milliseconds for such a link; hardly any program makes one.
 * Held by: tests/supervise/followed.py, tests/cli/worker_links.py
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/hash.h"
#include "judge/judge_impl.h"
#include "path/path.h"

static const char *next_of(const char *at)
{
	at += strcspn(at, "/");
	return at + strspn(at, "/");
}

static bool is_up(const char *at)
{
	return strncmp(at, "..", 2) == 0 && (!at[2] || at[2] == '/');
}

const char *sb_behind_turn(const char *text)
{
	const char *behind = NULL;
	bool named = false;

	for (const char *at = text + strspn(text, "/"); *at; at = next_of(at)) {
		if (is_up(at) && named)
			behind = next_of(at);
		named = named || !(is_up(at) || (*at == '.' && strchr("/", at[1])));
	}
	return behind;
}

char *sb_link_rest(const char *text, unsigned *out_up)
{
	char *rest = calloc(1, strlen(text) + 2);
	size_t length = 0;

	*out_up = 0;
	while (rest && *text) {
		size_t width = strcspn(text, "/");

		if (width == 2 && memcmp(text, "..", 2) == 0) {
			const char *slash = memrchr(rest, '/', length);

			*out_up += !slash;
			length = slash ? (size_t)(slash - rest) : 0;
		} else if (width && !(width == 1 && *text == '.')) {
			rest[length++] = '/';
			memcpy(rest + length, text, width);
			length += width;
		}
		text += width;
		text += strspn(text, "/");
	}
	if (rest)
		rest[length] = '\0';
	return rest;
}

bool sb_link_climbs(const char *text, const char *beneath)
{
	SB_AUTO_FREE char *rest = NULL;
	unsigned up;

	rest = sb_link_rest(text, &up);
	for (; *beneath && up; beneath++)
		up -= *beneath == '/' && beneath[1] && beneath[1] != '/';
	return !rest || up || sb_behind_turn(text);
}

#define SLOTS 4096 /* a power of two; as many directories are in no table */

struct turn {
	const struct sb_grounds *grounds;
	const char *behind; /* what the text says behind its last ".." */
	sb_heed_end *heed;
	struct sb_judged *judged;
	uint64_t *
		tried; /* hashes of directories, which rows have in common; 0: free; NULL: no memory */
	size_t count;
};

/* No path of the run's: of tables, the user's rules and the home directory. */
static bool is_tried(struct turn *turn, const char *path, size_t length)
{
	uint64_t hash = sb_fnv(SB_FNV, path, length) | 1;
	size_t at = hash / 2 % SLOTS;

	if (!turn->tried)
		return false;
	for (; turn->tried[at]; at = (at + 1) % SLOTS)
		if (turn->tried[at] == hash)
			return true;
	if (turn->count < SLOTS - 1) {
		turn->tried[at] = hash;
		turn->count++;
	}
	return false;
}

/* Is all of it obeyed, hidden or ours?  Then a link to it, or to what is in it, was asked about, and ".." leads to others. */
static bool is_closed(const struct sb_grounds *grounds, const char *directory)
{
	static const char any[] = "some-name-of-nobody";
	SB_AUTO_FREE char *path = sb_path_join(directory, any);
	const struct sb_guard_place place = {.directory = -1, .path = path, .name = any};
	struct sb_guard_answer answer;
	struct sb_decision change;

	if (!path)
		return true;
	change = sb_decide(grounds->policy, SB_MODIFY, path);
	return (change.verdict == SB_DENY && change.rule && change.rule->hard) ||
	       sb_is_system_end(path) ||
	       sb_decide(grounds->policy, SB_READ, path).verdict != SB_ALLOW ||
	       sb_guard_judge(grounds->guard, SB_GUARD_WRITE, &place, &answer) != SB_GUARD_PLAIN;
}

/* Might ".." be the directory that is the first length bytes of path? */
static bool heed_in(struct turn *turn, const char *path, size_t length)
{
	SB_AUTO_FREE char *directory = NULL, *end = NULL;

	if (is_tried(turn, path, length))
		return false;
	directory = strndup(path, length);
	if (!directory || is_closed(turn->grounds, directory))
		return false;
	end = sb_path_join(length ? directory : "/", turn->behind);
	return end && turn->heed(turn->grounds, end, turn->judged);
}

/* ... or one of those on the way to path, from its byte from on? */
static bool heed_on_the_way(struct turn *turn, const char *path, size_t from)
{
	size_t fixed = strcspn(path + from, "*?[{<") + from;

	for (size_t at = from; at < fixed; at++)
		if (path[at] == '/' && heed_in(turn, path, at))
			return true;
	return false;
}

bool sb_heed_turned(const struct sb_grounds *grounds, const char *behind, sb_heed_end *heed,
		    struct sb_judged *judged)
{
	SB_AUTO_FREE uint64_t *tried = calloc(SLOTS, sizeof *tried); /* threads have small stacks */
	struct turn turn = {.grounds = grounds,
			    .behind = behind,
			    .heed = heed,
			    .judged = judged,
			    .tried = tried};
	const char *home = sb_guard_home_of(grounds->guard);
	size_t count;
	const struct sb_guard_row *rows = sb_guard_rows(&count);

	for (size_t i = 0; home && i < count; i++) {
		SB_AUTO_FREE char *path = sb_path_join(home, rows[i].pattern);

		if (path && heed_on_the_way(&turn, path, strlen(home)))
			return true;
	}
	for (size_t i = 0; sb_system_end(i); i++)
		if (heed_on_the_way(&turn, sb_system_end(i), 0))
			return true;
	count = sb_policy_count(grounds->policy);
	for (size_t i = 0; i < count; i++) {
		const struct sb_rule *rule = sb_policy_rule(grounds->policy, i);

		if (rule->access.verdict[SB_READ] != SB_ALLOW &&
		    heed_on_the_way(&turn, rule->pattern, 0))
			return true;
	}
	return false;
}
