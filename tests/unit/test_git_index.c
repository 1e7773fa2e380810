/* test_git_index.c - which indexes are harmless, and what git will not show because of one. */
#include "git_index_made.h"

#include <time.h>

/* --- names -------------------------------------------------------------------------------------- */

static void names_that_git_would_not_write(void **state)
{
	static const char *const bad[] = {
		".git",       ".git/x",       "a/.git",     "a/.git/hooks/x",
		".GIT/x",     ".giT",         "a/.Git/x",   "..",
		"../x",       "a/../b",       "a/..",       ".",
		"./a",        "a/./b",        "a/.",        "/x",
		"a//b",       "a/",           "git~1",      "GIT~1/x",
		".git.",      ".git ",        ".git. . ",   ".git::$INDEX_ALLOCATION/x",
		".git:x",     "git~1:x/y",    "a\\.git",    "a\\git~1/b",
		".git\\x",    ".g\u200cit/x", "\u200c.git", ".git\u200d/x",
		".git\ufeff", "a/.g\u00adit",
	};
	static const char *const good[] = {
		"a",      ".gitignore",    ".gitmodules", ".github/x", ".gitt",
		"git~10", "git~2",         "git",         "...",       "..a",
		".a",     "a..b",          "x.git",       "a/b.git/c", ".git-x",
		"gi",     "\u00e4/\u00f6", "a\\b",        "-a",        " ",
		"a b",    ".gi",           "g",           ".g\u00eft", "a\nb",
	};

	(void)state;
	for (size_t k = 0; k < COUNT(kinds); k++) {
		for (size_t i = 0; i < COUNT(bad) + COUNT(good); i++) {
			bool harmless = i >= COUNT(bad);
			const char *name = harmless ? good[i - COUNT(bad)] : bad[i];
			struct made made = start(kinds[k].version, kinds[k].hash);

			/* many neighbours: so small a file could be read otherwise, too */
			entry(&made, " !1");
			entry(&made, name);
			for (int n = 0; n < 9; n++) {
				char last[16];

				snprintf(last, sizeof last, "\xf8z%d", n);
				entry(&made, last);
			}
			/* '\x20!1' stands before all but " " */
			if (strcmp(name, " ") == 0) {
				free(made.bytes);
				continue;
			}
			expect(&made, harmless, name);
		}
	}
}

static void a_name_is_judged_whole_after_one_that_begins_alike(void **state)
{
	static const char *const pairs[][2] = {
		{".gi", ".git/x"},  {"a/.gi", "a/.git"},  {"a/b/c", "a/b/c/../d"},
		{"x\\", "x\\.git"}, {"x\\a", "x\\git~1"}, {"a/.", "a/.."},
		{".gis", ".git"},   {"a-", "a//b"},
	};

	(void)state;
	for (size_t k = 0; k < COUNT(kinds); k++) {
		for (size_t i = 0; i < COUNT(pairs); i++) {
			struct made made = start(kinds[k].version, kinds[k].hash);

			entry(&made, pairs[i][0]);
			entry(&made, pairs[i][1]);
			expect(&made, false, pairs[i][1]);
		}
	}
}

static void order_and_what_lies_beneath(void **state)
{
	static const struct {
		struct {
			const char *name;
			struct options options;
		} all[4];
		bool harmless;
	} cases[] = {
		{{{"a", {0}}, {"b", {0}}, {"c", {0}}}, true},
		{{{"b", {0}}, {"a", {0}}}, false},
		{{{"a", {0}}, {"a", {0}}}, false},
		{{{"ab", {0}}, {"a", {0}}}, false},
		{{{"a", {.stage = 1}}, {"a", {.stage = 2}}, {"a", {.stage = 3}}}, true},
		{{{"a", {.stage = 2}}, {"a", {.stage = 1}}}, false},
		{{{"a", {.stage = 1}}, {"a", {.stage = 1}}}, false},
		{{{"a", {0}}, {"a", {.stage = 1}}}, false},
		{{{"a", {0}}, {"a/b", {0}}}, false},
		{{{"a", {.mode = LINK_MODE}}, {"a/b", {0}}}, false},
		{{{"a", {.mode = LINK_MODE}}, {"a-b", {0}}, {"a.c", {0}}, {"a/b", {0}}}, false},
		{{{"a", {.mode = MODULE_MODE}}, {"a.b", {0}}, {"a/b", {0}}}, false},
		{{{"a", {.stage = 2}}, {"a/b", {0}}}, true},
		{{{"a", {0}}, {"a/b", {.stage = 3}}}, true},
		{{{"a", {0}}, {"a/b", {.stage = 3}}, {"a/c", {0}}}, false},
		{{{"a", {0}}, {"a/b", {.stage = 3}}, {"b", {0}}}, true},
		{{{"a", {0}}, {"ab/c", {0}}, {"ab/d", {0}}}, true},
		{{{"a/b", {0}}, {"a/b.c", {0}}, {"a/b/c", {0}}}, false},
		{{{"a", {.mode = 0100755}},
		  {"b", {.mode = LINK_MODE}},
		  {"c", {.mode = MODULE_MODE}}},
		 true},
		{{{"a", {.mode = 0100664}}}, false},
		{{{"a", {.mode = 0104755}}}, false},
		{{{"a", {.mode = 010644}}}, false},
		{{{".gitmodules", {.mode = LINK_MODE}}}, false},
		{{{"a/.GITMODULES", {.mode = LINK_MODE}}}, false},
		{{{"a", {.longer = 1}}}, false},
		{{{"abc", {.longer = -1}}}, false},
		{{{"", {0}}}, false},
	};

	(void)state;
	for (size_t k = 0; k < COUNT(kinds); k++) {
		for (size_t i = 0; i < COUNT(cases); i++) {
			struct made made = start(kinds[k].version, kinds[k].hash);
			char title[64];

			for (size_t n = 0; n < 4 && cases[i].all[n].name; n++)
				entry_with(&made, cases[i].all[n].name, cases[i].all[n].options);
			if (cases[i].harmless) /* and not small enough to be read otherwise */
				for (int n = 0; n < 9; n++) {
					char last[16];

					snprintf(last, sizeof last, "z%d", n);
					entry(&made, last);
				}
			snprintf(title, sizeof title, "case %zu, version %u", i, kinds[k].version);
			expect(&made, cases[i].harmless, title);
		}
	}
}

/* --- extensions ------------------------------------------------------------------------------------ */

static void number_at(unsigned char *out, uint32_t number)
{
	for (int i = 0; i < 4; i++)
		out[i] = (unsigned char)(number >> (24 - 8 * i));
}

static struct made plain(unsigned version)
{
	struct made made = start(version, 20);

	for (int n = 0; n < 9; n++) {
		char name[16];

		snprintf(name, sizeof name, "file%d", n);
		entry(&made, name);
	}
	return made;
}

static void extensions_one_by_one(void **state)
{
	static const unsigned char base[20] = {1}, none[20];
	static const char undo[] = "a/b\0000\000100644\000100644\0";
	struct made made;
	unsigned char data[200];

	(void)state;
	made = plain(2);
	extension(&made, "TREE", "anything", 8);
	extension(&made, "ZZZZ", "new", 3);
	extension(&made, "UNTR", "x", 1);
	expect(&made, true, "known and optional ones");
	made = plain(2);
	extension(&made, "zzzz", "new", 3);
	expect(&made, false, "one that has to be known");
	made = plain(2);
	extension(&made, "\0TRE", "new", 3);
	expect(&made, false, "no letter");
	made = plain(2);
	extension(&made, "link", base, 19);
	expect(&made, false, "too short a link");
	made = plain(2);
	extension(&made, "link", base, 20);
	expect(&made, true, "a shared index");
	for (int bad = 0; bad < 2; bad++) {
		made = start(2, 20);
		entry(&made, "");
		entry(&made, "");
		for (int n = 0; n < 9; n++) {
			char name[16];

			snprintf(name, sizeof name, "file%d", n);
			entry(&made, name);
		}
		extension(&made, "link", bad ? none : base, 20);
		expect(&made, !bad, "entries that replace those of a shared index");
	}
	made = plain(2);
	entry(&made, "");
	extension(&made, "link", base, 20);
	expect(&made, false, "no name behind those with one");
	for (int sparse = 0; sparse < 2; sparse++) {
		made = plain(3);
		entry_with(&made, "sub/dir/", (struct options){.mode = TREE_MODE, .skipped = true});
		if (sparse)
			extension(&made, "sdir", "", 0);
		expect(&made, sparse, "directories of a sparse index");
	}
	made = plain(3);
	entry_with(&made, "sub/dir/", (struct options){.mode = TREE_MODE, .skipped = true});
	entry(&made, "sub/dir/x");
	extension(&made, "sdir", "", 0);
	expect(&made, false, "beneath a directory that is left out");
	made = plain(3);
	entry_with(&made, "sub/.git/", (struct options){.mode = TREE_MODE, .skipped = true});
	extension(&made, "sdir", "", 0);
	expect(&made, false, "git's own as such a directory");

	memcpy(data, undo, sizeof undo - 1);
	memset(data + sizeof undo - 1, 7, 40);
	made = plain(2);
	extension(&made, "REUC", data, sizeof undo - 1 + 40);
	expect(&made, true, "resolved");
	made = plain(2);
	extension(&made, "REUC", data, sizeof undo - 1 + 39);
	expect(&made, false, "resolved, cut");
	memcpy(data, "../", 3);
	made = plain(2);
	extension(&made, "REUC", data, sizeof undo - 1 + 40);
	expect(&made, false, "resolved, elsewhere");
}

static void tokens_of_a_monitor(void **state)
{
	static const struct {
		const char *token;
		bool harmless;
	} tokens[] = {{"builtin:0.1234.20240101T000000.123456Z:7", true},
		      {"c:1700000000:123:4:56", true},
		      {"", true},
		      {"$(x)", false},
		      {"a\"b", false},
		      {"a b", false},
		      {"a\nb", false},
		      {"-x", false}};

	(void)state;
	for (size_t i = 0; i < COUNT(tokens); i++) {
		unsigned char data[100] = {0, 0, 0, 2};
		size_t length = strlen(tokens[i].token);
		struct made made = plain(2);

		memcpy(data + 4, tokens[i].token, length);
		extension(&made, "FSMN", data, 4 + length + 1 + 4);
		expect(&made, tokens[i].harmless, tokens[i].token);
	}
}

/* Where the entries end, and where blocks of them begin, in an index of two blocks. */
static void ways_to_other_entries(void **state)
{
	(void)state;
	for (unsigned version = 2; version <= 4; version += 2) {
		for (int bad = 0; bad < 7; bad++) {
			struct made made = start(version, 20);
			unsigned char table[4 + 2 * 8], mark[24] = {0};
			uint32_t middle = 0, stop = 0;

			for (int n = 0; n < 10; n++) {
				char name[16];

				snprintf(name, sizeof name, "file%d", n);
				if (n == 5) {
					middle = (uint32_t)made.length;
					/* version 4: nothing in common, as git writes it */
					if (bad != 1)
						memset(made.before, '\x01', strlen(made.before));
				}
				entry(&made, name);
			}
			stop = (uint32_t)made.length;
			number_at(table, 1);
			number_at(table + 4, 12);
			number_at(table + 8, bad == 2 ? 4 : 5);
			number_at(table + 12, bad == 3 ? middle + 8 : middle);
			number_at(table + 16, bad == 4 ? 6 : 5);
			number_at(mark, bad == 5 ? stop - 8 : stop);
			if (bad == 6) { /* EOIE where git looks, in another extension */
				unsigned char hidden[8 + 24];

				number_at(mark, 12);
				memcpy(hidden, "EOIE", 4);
				number_at(hidden + 4, 24);
				memcpy(hidden + 8, mark, 24);
				extension(&made, "ZZZZ", hidden, sizeof hidden);
			} else {
				extension(&made, "IEOT", table, sizeof table);
				extension(&made, "EOIE", mark, sizeof mark);
			}
			expect(&made, bad == 0 || (bad == 1 && version == 2), "a table");
		}
	}
}

/* --- bytes that are anything ------------------------------------------------------------------------- */

/* What is harmless stays so for whoever reads it as strictly as we: the names are among those. */
static void changed_bytes(void **state)
{
	(void)state;
	unit_seed();
	for (size_t k = 0; k < COUNT(kinds); k++) {
		struct made made = start(kinds[k].version, kinds[k].hash);

		for (int n = 0; n < 20; n++) {
			char name[40];

			snprintf(name, sizeof name, "dir%d/file%02d", n / 5, n);
			entry_with(&made, name,
				   (struct options){.skipped = n % 7 == 3 && made.version > 2});
		}
		extension(&made, "TREE", "x", 1);
		end(&made);
		for (int n = 0; n < 20000; n++) {
			struct sb_guard_bytes bytes = {NULL, made.length};
			char note[300], *copy;

			if (unit_below(4) == 0)
				bytes.length = unit_below((uint32_t)made.length + 1);
			/* as long as it says, so that a sanitizer sees every byte beyond */
			copy = malloc(bytes.length ? bytes.length : 1);
			memcpy(copy, made.bytes, bytes.length);
			for (uint32_t change = unit_below(4); change && bytes.length; change--)
				copy[unit_below((uint32_t)bytes.length)] = (char)unit_below(256);
			bytes.bytes = copy;
			if (sb_git_index_is_harmless(bytes, &facts, why, sizeof why)) {
				sb_git_index_is_ambiguous(bytes, facts.is_long);
				sb_git_index_note(bytes, bytes, false, note, sizeof note);
			}
			sb_git_index_hides(bytes);
			free(copy);
		}
		free(made.bytes);
	}
}

static void random_text(char *out, size_t length)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789._-/";
	size_t i;

	for (i = 0; i < length; i++)
		out[i] = letters[unit_below(i && out[i - 1] != '/' && i + 1 < length ? 40 : 26)];
	out[i] = '\0';
}

/* A repository with one file, or a few, is the smallest there is, and many begin like that. */
static void small_ones_are_not_taken_for_another_kind(void **state)
{
	unsigned unclear[5] = {0}, all = 8000;

	(void)state;
	unit_seed();
	for (unsigned n = 0; n < 5 * all; n++) {
		struct made made = start(2, 20);
		char name[40];

		for (unsigned i = 0; i <= n % 5; i++) {
			size_t at = made.length;

			name[0] = (char)('a' + i);
			random_text(name + 1, 1 + unit_below(24));
			entry(&made, name);
			for (size_t part = 0; part < 24; part++)
				made.bytes[at + part] = (unsigned char)unit_below(256);
			for (size_t part = 40; part < 60; part++)
				made.bytes[at + part] = (unsigned char)unit_below(256);
		}
		if (unit_below(2))
			extension(&made, "TREE", "\0001 0\n0123456789./3456789", 25);
		end(&made);
		assert_true(is_harmless(&made));
		unclear[n % 5] += is_ambiguous(&made);
		free(made.bytes);
	}
	for (unsigned i = 0; i < 5; i++) {
		print_message("# with %u entries %u of %u are not clear\n", i + 1, unclear[i], all);
		assert_true(unclear[i] < all / 50);
	}
}

static void read_as_the_other_kind(void **state)
{
	struct made made = start(2, 20);

	(void)state;
	/* with long hashes the name begins 12 bytes later, behind flags of its own */
	entry(&made, "0123456789\x01\x04../x");
	end(&made);
	assert_true(!is_harmless(&made) || is_ambiguous(&made));
	free(made.bytes);

	made = start(2, 20);
	entry(&made, "0123456789\x01\x04/etc/x");
	end(&made);
	assert_true(is_harmless(&made) && is_ambiguous(&made) && !facts.is_long);
	free(made.bytes);

	made = start(2, 20);
	entry(&made, "abc");
	add(&made, "\0\x0c/etc/planted\0\0\0\0\0", 20); /* in the place of the hash */
	assert_true(is_harmless(&made) && is_ambiguous(&made));
	free(made.bytes);

	made = start(2, 32);
	entry(&made, "abc");
	memcpy(made.bytes + 12 + 40 + 20, "\0\x06/x.d/y", 9); /* in the place of a hash */
	end(&made);
	assert_true(is_harmless(&made) && is_ambiguous(&made) && facts.is_long);
	free(made.bytes);
}

/* --- notes ---------------------------------------------------------------------------------------------- */

static const char *note_of(struct made *before, struct made *after, bool sparse)
{
	static char note[320];
	struct sb_guard_bytes old = {0}, new = {(const char *)after->bytes, after->length};

	if (before)
		old = (struct sb_guard_bytes){(const char *)before->bytes, before->length};
	assert_true(sb_git_index_is_harmless(new, &facts, why, sizeof why));
	if (new.length && !facts.hides)
		assert_true(new.length < 12 || !sb_git_index_hides(new) || after->hash == 32);
	sb_git_index_note(old, new, sparse, note, sizeof note);
	return note;
}

static struct made hidden(unsigned version, unsigned hash, unsigned assumed, unsigned skipped)
{
	struct made made = start(version, hash);

	for (unsigned n = 0; n < 12; n++) {
		char name[16];

		snprintf(name, sizeof name, "src/%c.c", 'a' + (int)n);
		entry_with(
			&made, name,
			(struct options){.assumed = assumed >> n & 1, .skipped = skipped >> n & 1});
	}
	end(&made);
	return made;
}

static void what_git_will_not_show(void **state)
{
	(void)state;
	for (size_t k = 0; k < COUNT(kinds); k++) {
		unsigned version = kinds[k].version, hash = kinds[k].hash;
		struct made none = hidden(version, hash, 0, 0), one = hidden(version, hash, 2, 0);
		struct made more = hidden(version, hash, 0x3e, 0);

		assert_string_equal(note_of(&none, &none, false), "");
		assert_string_equal(note_of(NULL, &none, false), "");
		assert_string_equal(note_of(&one, &one, false), "");
		assert_string_equal(note_of(&one, &none, false), "");
		assert_string_equal(note_of(&none, &one, false),
				    "git will not show changes of 'src/b.c' (assume-unchanged)");
		assert_string_equal(note_of(&one, &more, false),
				    "git will not show changes of 'src/c.c', 'src/d.c', 'src/e.c' "
				    "and 1 more (assume-unchanged)");
		if (version > 2) {
			struct made skipped = hidden(version, hash, 2, 4);

			assert_string_equal(note_of(&none, &skipped, false),
					    "git will not show changes of 'src/b.c', 'src/c.c' "
					    "(assume-unchanged, skip-worktree)");
			assert_string_equal(note_of(&one, &skipped, true),
					    "git will not show changes of 'src/c.c' "
					    "(skip-worktree, in a sparse checkout)");
			free(skipped.bytes);
		}
		free(none.bytes);
		free(one.bytes);
		free(more.bytes);
	}
}

/* --- time ------------------------------------------------------------------------------------------------- */

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* A pass over all bytes that takes each into account: what reading them once costs at least. */
static uint64_t sum_of(const struct made *made)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < made->length; i++)
		sum = (sum ^ made->bytes[i]) * UINT64_C(0x100000001b3);
	return sum;
}

/* Long names of which each has nearly all of the one before cost few bytes in version 4. */
static struct made many(unsigned version, unsigned count, unsigned common)
{
	struct made made = start(version, 20);
	char name[4100];

	memset(name, 'a', common);
	for (unsigned n = 0; n < count; n++) {
		snprintf(name + common, sizeof name - common, "/module%04u/file-number-%06u.c",
			 n / 50, n);
		entry(&made, name);
	}
	end(&made);
	return made;
}

static void half_a_million_entries(void **state)
{
	static volatile uint64_t sink;

	(void)state;
	for (unsigned version = 2; version <= 4; version += 2) {
		struct made made = many(version, 500000, 3), wide = many(version, 50000, 1000);
		double start_at = seconds(), pass, check;

		sink = sum_of(&made);
		pass = seconds() - start_at;
		start_at = seconds();
		assert_true(is_harmless(&made));
		check = seconds() - start_at;
		print_message("# version %u, %zu bytes: %.1f ms, a pass takes %.1f ms\n", version,
			      made.length, 1e3 * check, 1e3 * pass);
		assert_true(check < 3 * pass);
		start_at = seconds();
		sink = sum_of(&wide);
		pass = seconds() - start_at;
		start_at = seconds();
		assert_true(is_harmless(&wide));
		check = seconds() - start_at;
		assert_true(check < 10 * pass);
		free(made.bytes);
		free(wide.bytes);
	}
	(void)sink;
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(names_that_git_would_not_write),
	cmocka_unit_test(a_name_is_judged_whole_after_one_that_begins_alike),
	cmocka_unit_test(order_and_what_lies_beneath),
	cmocka_unit_test(extensions_one_by_one),
	cmocka_unit_test(tokens_of_a_monitor),
	cmocka_unit_test(ways_to_other_entries),
	cmocka_unit_test(changed_bytes),
	cmocka_unit_test(small_ones_are_not_taken_for_another_kind),
	cmocka_unit_test(read_as_the_other_kind),
	cmocka_unit_test(what_git_will_not_show),
	cmocka_unit_test(half_a_million_entries),
};

UNIT_MAIN("git index")
