/* test_guard_renamed.c - a directory that gets a name of the table is judged as the file in it would be. */
#include "guarded.h"

#include <ctype.h>

#include "guard/guard_impl.h"

/* Harmless to no kind of name. */
#define ODD "\x01 $(x)\r\n\"'\n"

enum letters { AS_IN_THE_ROW, SMALL, CAPITAL, MIXED, LETTERS };

static void spell(char *name, enum letters letters)
{
	for (size_t i = 0; name[i]; i++)
		if (letters == SMALL || (letters == MIXED && i % 2))
			name[i] = (char)tolower((unsigned char)name[i]);
		else if (letters != AS_IN_THE_ROW)
			name[i] = (char)toupper((unsigned char)name[i]);
}

/* Would the bytes land at this name? */
static bool lands(struct guarded *fx, const char *name)
{
	char path[PATH_MAX], why[(SB_GUARD_LINES + 1) * SB_GUARD_DETAIL];
	enum sb_guard_verdict verdict = judge(fx, SB_GUARD_WRITE, name);
	struct sb_guard_landing landing = {.kind = fx->answer.kind, .path = path};

	snprintf(path, sizeof path, "%s/%s", fx->root, name);
	landing.new_bytes = (struct sb_guard_bytes){ODD, strlen(ODD)};
	return verdict == SB_GUARD_PLAIN ||
	       (verdict == SB_GUARD_CHECK &&
		sb_guard_content(fx->guard, &landing, why, sizeof why) != SB_GUARD_ASK);
}

/* A word that git has in its own directories means that there alone, as long as nothing but a directory gets it. */
static bool is_word(const struct sb_guard_row *row)
{
	return strcmp(row->who, "git") == 0 && row->pattern[0] != '.' && row->pattern[0] != '<';
}

/* The part of name behind slash is in t, which gets what is before it. */
static void try_prefix(struct guarded *fx, const struct sb_guard_row *row, const char *name,
		       const char *slash)
{
	static unsigned number; /* in a hidden directory words of agents count, too */
	char from[64], to[512], path[1024];
	unsigned top = number++;
	bool first = !memchr(name, '/', (size_t)(slash - name));

	snprintf(from, sizeof from, ".r%u/t", top);
	snprintf(path, sizeof path, ".r%u/t%s", top, slash);
	plant(fx, path, ODD);
	snprintf(to, sizeof to, ".r%u/%.*s", top, (int)(slash - name), name);
	snprintf(path, sizeof path, "%.*s", (int)(strrchr(to, '/') + 1 - to), to);
	plant(fx, path, "");
	if (judge_rename(fx, from, to, false) == SB_GUARD_PLAIN && !(first && is_word(row)))
		fail_msg("%s gets the name %s, and brings %s", from, to, name);
}

static void every_row_counts_in_a_directory_that_is_renamed(void **state)
{
	struct guarded *fx = *state;
	size_t count, seen = 0;
	const struct sb_guard_row *rows = sb_guard_rows(&count);

	for (size_t i = 0; i < count; i++)
		for (enum letters letters = 0; letters < LETTERS; letters++) {
			char name[256];

			if ((rows[i].flags &
			     (SB_GUARD_IF_PROTECTING | SB_GUARD_IN_HOME | SB_GUARD_IF_ELSEWHERE)) ||
			    rows[i].kind == SB_GUARD_ANYTHING || !strchr(rows[i].pattern, '/'))
				continue;
			example(rows[i].pattern, name, sizeof name);
			spell(name, letters);
			plant_around(fx, name);
			if (rows[i].kind == SB_GUARD_INDEX)
				continue; /* what git does not take for one may be anything */
			if (lands(fx, name))
				fail_msg("%s lands", name);
			for (const char *at = name; (at = strchr(at, '/')); at++, seen++)
				try_prefix(fx, &rows[i], name, at);
		}
	print_message("# %zu renames\n", seen);
	assert_true(seen > 1000);
}

static const struct CMUnitTest tests[] = {
	WITH_TREE(every_row_counts_in_a_directory_that_is_renamed),
};

UNIT_MAIN("guard renamed")
