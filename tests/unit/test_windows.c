/*
 * test_windows.c - paths by grammar: a table of spellings, a table of known attacks, and properties that
 * hold for random ones.
 */
#include "unit.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "path/grammar.h"

static struct sb_parsed parse(enum sb_grammar grammar, const char *path)
{
	struct sb_parsed parsed;
	struct sb_error err;

	if (sb_path_parse(grammar, path, &parsed, &err) != SB_OK)
		fail_msg("'%s': %s", path, err.message);
	return parsed;
}

static void F5_every_start_and_spelling(void **state)
{
	static const struct {
		const char *path;
		enum sb_path_start start;
		unsigned odd;
		const char *text;
	} cases[] = {
		{"a", SB_START_HERE, 0, "a"},
		{"a/b", SB_START_HERE, 0, "a\\b"},
		{"a\\b", SB_START_HERE, SB_ODD_BACK, "a\\b"},
		{"a\\/b//c\\", SB_START_HERE, SB_ODD_BACK, "a\\b\\c"},
		{".", SB_START_HERE, 0, "."},
		{"a\\..", SB_START_HERE, SB_ODD_BACK, "."},
		{"..\\up.txt", SB_START_HERE, SB_ODD_BACK | SB_ODD_CLIMBS, "..\\up.txt"},
		{"a\\..\\..\\..\\b", SB_START_HERE, SB_ODD_BACK | SB_ODD_CLIMBS, "..\\..\\b"},
		{"C:\\x", SB_START_ROOT, SB_ODD_BACK, "C:\\x"},
		{"c:/x/y", SB_START_ROOT, 0, "C:\\x\\y"},
		{"C:\\", SB_START_ROOT, SB_ODD_BACK, "C:\\"},
		{"C:\\..\\..\\x", SB_START_ROOT, SB_ODD_BACK | SB_ODD_CLIMBS, "C:\\x"},
		{"C:", SB_START_DRIVE, 0, "C:"},
		{"C:x", SB_START_DRIVE, 0, "C:x"},
		{"C:..\\x", SB_START_DRIVE, SB_ODD_BACK | SB_ODD_CLIMBS, "C:..\\x"},
		{"\\x", SB_START_ROOTED, SB_ODD_BACK, "\\x"},
		{"/x", SB_START_ROOTED, 0, "\\x"},
		{"\\\\server\\share", SB_START_SHARE, SB_ODD_BACK, "\\\\server\\share\\"},
		{"//server/share/a/../b", SB_START_SHARE, 0, "\\\\server\\share\\b"},
		{"\\\\server\\share\\..\\..\\x", SB_START_SHARE, SB_ODD_BACK | SB_ODD_CLIMBS,
		 "\\\\server\\share\\x"},
		{"\\\\?\\C:\\x", SB_START_ROOT, SB_ODD_BACK, "C:\\x"},
		{"\\??\\C:\\x", SB_START_ROOT, SB_ODD_BACK, "C:\\x"},
		{"//?/C:/x", SB_START_ROOT, 0, "C:\\x"},
		{"\\\\.\\C:\\x", SB_START_ROOT, SB_ODD_BACK, "C:\\x"},
		{"\\\\?\\UNC\\server\\share\\a", SB_START_SHARE, SB_ODD_BACK,
		 "\\\\server\\share\\a"},
		{"\\\\?\\unc\\server\\share", SB_START_SHARE, SB_ODD_BACK, "\\\\server\\share\\"},
		{"\\\\.\\PhysicalDrive0", SB_START_DEVICE, SB_ODD_BACK, "\\\\.\\PhysicalDrive0"},
		{"\\\\.\\pipe\\a", SB_START_DEVICE, SB_ODD_BACK, "\\\\.\\pipe\\a"},
		{"\\\\?\\GLOBALROOT\\Device\\X", SB_START_DEVICE, SB_ODD_BACK,
		 "\\\\.\\GLOBALROOT\\Device\\X"},
		{"\\\\?\\Volume{1-2}\\x", SB_START_DEVICE, SB_ODD_BACK, "\\\\.\\Volume{1-2}\\x"},
		{"\\\\?\\C:\\a\\..\\b", SB_START_ROOT, SB_ODD_BACK | SB_ODD_CHARACTER, "C:\\b"},
		{"\\\\?\\C:\\a/b", SB_START_ROOT, SB_ODD_BACK | SB_ODD_CHARACTER, "C:\\a/b"},
		{"\\\\?\\C:\\a.", SB_START_ROOT, SB_ODD_BACK | SB_ODD_TRIMMED, "C:\\a."},
		{"a.txt. .", SB_START_HERE, SB_ODD_TRIMMED, "a.txt"},
		{"a \\b", SB_START_HERE, SB_ODD_BACK | SB_ODD_TRIMMED, "a\\b"},
		{"...", SB_START_HERE, SB_ODD_TRIMMED | SB_ODD_CHARACTER, "..."},
		{".. ", SB_START_HERE, SB_ODD_TRIMMED | SB_ODD_CHARACTER, ".. "},
		{"a.txt:s", SB_START_HERE, SB_ODD_STREAM, "a.txt:s"},
		{"a.txt::$DATA", SB_START_HERE, SB_ODD_STREAM, "a.txt::$DATA"},
		{"PROGRA~1", SB_START_HERE, SB_ODD_SHORT, "PROGRA~1"},
		{"git~12.txt", SB_START_HERE, SB_ODD_SHORT, "git~12.txt"},
		{"x\\..\\C:a", SB_START_HERE, SB_ODD_BACK | SB_ODD_STREAM, ".\\C:a"},
		{"a?b", SB_START_HERE, SB_ODD_CHARACTER, "a?b"},
		{"a\nb", SB_START_HERE, SB_ODD_CHARACTER, "a\nb"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct sb_parsed parsed = parse(SB_WINDOWS, cases[i].path);

		if (parsed.start != cases[i].start || parsed.odd != cases[i].odd ||
		    strcmp(parsed.text, cases[i].text) != 0)
			fail_msg("'%s' is start %d, odd %x, '%s'", cases[i].path, parsed.start,
				 parsed.odd, parsed.text);
	}
}

static void F5_no_path_without_a_share_or_a_name(void **state)
{
	static const char *const bad[] = {"", "\\\\server", "\\\\server\\", "\\\\\\a", "//"};
	char longer[PATH_MAX + 1];
	struct sb_parsed parsed;

	(void)state;
	memset(longer, 'a', PATH_MAX);
	longer[PATH_MAX] = '\0';
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_int_equal(sb_path_parse(SB_WINDOWS, bad[i], &parsed, NULL), SB_E_INVALID);
	assert_int_equal(sb_path_parse(SB_WINDOWS, longer, &parsed, NULL), SB_E_INVALID);
	assert_int_equal(sb_path_parse(SB_POSIX, longer, &parsed, NULL), SB_E_INVALID);
}

static void F5_devices_by_any_extension(void **state)
{
	static const char *const devices[] = {
		"CON",      "con",     "Nul.txt", "aux.tar.gz",  "prn ",
		"nul .txt", "NUL:",    "com1",    "COM9.x",      "LPT0",
		"CONIN$",   "conout$", "CLOCK$",  "COM\xc2\xb9", "lpt\xc2\xb3.log"};
	static const char *const names[] = {"cone",    "co",    "xnul",      "nul1",        "com",
					    "com10",   "lpt",   "auxiliary", "COMa",        "conin",
					    "com\xc2", "comma", "a.nul",     "COM\xc2\xb4", ""};

	(void)state;
	for (size_t i = 0; i < COUNT(devices); i++)
		if (!sb_windows_is_device(devices[i], strlen(devices[i])))
			fail_msg("'%s' is a device", devices[i]);
	for (size_t i = 0; i < COUNT(names); i++)
		if (sb_windows_is_device(names[i], strlen(names[i])))
			fail_msg("'%s' is no device", names[i]);
}

static const char *const attacks[] = {
	"..\\up.txt",
	"../up.txt",
	"src\\..\\..\\up.txt",
	"src/..\\..\\up.txt",
	"..\\proj-evil\\a",
	"C:\\projects\\p-evil\\a",
	"C:\\projects\\p..\\a",
	"C:\\projects\\p \\a",
	"C:\\projects",
	"C:\\",
	"C:",
	"C:a.txt",
	"C:..\\..\\Windows\\win.ini",
	"D:\\projects\\p\\a",
	"D:a",
	"x\\..\\D:\\a",
	"\\Windows\\win.ini",
	"/Windows/win.ini",
	"\\\\localhost\\C$\\Windows\\win.ini",
	"\\\\127.0.0.1\\C$\\projects\\p\\a",
	"//server/share/a",
	"\\\\?\\C:\\Windows\\win.ini",
	"\\\\?\\C:\\projects\\p\\..\\..\\Windows",
	"\\\\?\\C:\\projects\\p\\a/../../b",
	"\\\\?\\UNC\\localhost\\C$\\projects\\p\\a",
	"\\\\?\\GLOBALROOT\\Device\\HarddiskVolume1\\a",
	"\\\\?\\GLOBALROOT\\??\\C:\\projects\\p\\a",
	"\\\\.\\PhysicalDrive0",
	"\\\\.\\C:",
	"\\\\.\\pipe\\docker_engine",
	"\\\\.\\GLOBALROOT\\Device\\Null",
	"//./COM1",
	"\\??\\C:\\Windows\\win.ini",
	"\\??\\UNC\\server\\share\\a",
	"NUL",
	"src\\con.txt",
	"aux.c",
	"COM\xc2\xb9",
	"conin$",
	"prn .txt",
	"a.txt:stream",
	"a.txt::$DATA",
	".git::$INDEX_ALLOCATION\\config",
	".git:x",
	"src:$I30:$INDEX_ALLOCATION",
	"GIT~1\\config",
	"PROGRA~1",
	"LONGFI~2.TXT",
	".git.\\config",
	".git \\hooks\\pre-commit",
	".git...",
	"a\\...\\b",
	"a\\.. \\..\\b",
	". .\\x",
	"a\\b|c",
	"a\\b\x01",
	"a\"b",
};

static const char *const harmless[] = {
	"a.txt",
	"src\\a.txt",
	"src/a.txt",
	"src\\..\\a.txt",
	"..\\p\\a.txt",
	"..\\P\\A.TXT",
	".\\a",
	"C:\\projects\\p",
	"c:/PROJECTS/P/a",
	"\\projects\\p\\a",
	"/Projects/p/a",
	"\\\\?\\C:\\projects\\p\\a",
	"\\\\?\\c:\\Projects\\p\\a",
	"\\\\.\\C:\\projects\\p\\a",
	"C:\\..\\projects\\p\\a",
	"file..txt",
	"..foo",
	".gitignore",
	" a",
	"console.log",
	"a~1b",
	"some.long~1.backup",
	"\xc3\xa4\xe6\x97\xa5.txt",
};

/* What has led somebody out of a directory, past a check of names, or to a device. */
static void F5_known_attacks_do_not_get_in(void **state)
{
	struct sb_parsed parsed;
	struct sb_error err;

	(void)state;
	for (size_t i = 0; i < COUNT(attacks); i++)
		if (sb_path_inside(SB_WINDOWS, "C:\\projects\\p", attacks[i], &parsed, &err) !=
		    SB_E_INVALID)
			fail_msg("'%s' is let in as '%s'", attacks[i], parsed.text);
	for (size_t i = 0; i < COUNT(harmless); i++)
		if (sb_path_inside(SB_WINDOWS, "C:\\projects\\p", harmless[i], &parsed, &err) !=
		    SB_OK)
			fail_msg("'%s': %s", harmless[i], err.message);
}

static void F5_shares_and_roots_of_drives_hold_their_own(void **state)
{
	struct sb_parsed parsed;

	(void)state;
	assert_int_equal(sb_path_inside(SB_WINDOWS, "\\\\s\\h", "\\a", &parsed, NULL), SB_OK);
	assert_string_equal(parsed.text, "\\\\s\\h\\a");
	assert_int_equal(sb_path_inside(SB_WINDOWS, "//S/h/p", "\\\\s\\H\\P\\a", &parsed, NULL),
			 SB_OK);
	assert_int_equal(sb_path_inside(SB_WINDOWS, "//s/h/p", "//s/h2/p/a", &parsed, NULL),
			 SB_E_INVALID);
	assert_int_equal(sb_path_inside(SB_WINDOWS, "C:\\", "..\\a", &parsed, NULL), SB_OK);
	assert_string_equal(parsed.text, "C:\\a");
	assert_int_equal(sb_path_inside(SB_WINDOWS, "p", "a", &parsed, NULL), SB_E_INVALID);
	assert_int_equal(sb_path_inside(SB_WINDOWS, "C:p", "a", &parsed, NULL), SB_E_INVALID);
}

static void F8_case_folds_one_letter_for_one(void **state)
{
	static const struct {
		const char *root, *path;
		bool same;
	} cases[] = {
		{"C:\\Proj", "c:\\pROJ\\a", true},
		{"C:\\\xc3\xa4\xc3\xbf", "C:\\\xc3\x84\xc5\xb8\\a", true}, /* ae, y */
		{"C:\\\xd0\xb6\xd1\x91", "C:\\\xd0\x96\xd0\x81", true},    /* zhe, yo */
		{"C:\\\xce\xac\xcf\x89", "C:\\\xce\x86\xce\xa9", true},    /* alpha, omega */
		{"C:\\\xc5\x82\xc4\x8d", "C:\\\xc5\x81\xc4\x8c", true},    /* l, c */
		{"C:\\\xc3\xb7", "C:\\\xc3\x97", false},                   /* / and x */
		{"C:\\stra\xc3\x9f"
		 "e",
		 "C:\\STRASSE\\a", false},
		{"C:\\k", "C:\\\xe2\x84\xaa\\a", false}, /* Kelvin */
		{"C:\\\xff", "C:\\\xfe\\a", false},
	};
	struct sb_parsed parsed;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		if ((sb_path_inside(SB_WINDOWS, cases[i].root, cases[i].path, &parsed, NULL) ==
		     SB_OK) != cases[i].same)
			fail_msg("'%s' and '%s'", cases[i].root, cases[i].path);
	assert_int_equal(sb_path_inside(SB_POSIX, "/Proj", "/proj/a", &parsed, NULL), SB_E_INVALID);
}

static void the_other_grammar_reads_the_same_interface(void **state)
{
	struct sb_parsed parsed;

	(void)state;
	parsed = parse(SB_POSIX, "//a/./b\\c/../C:/NUL/");
	assert_string_equal(parsed.text, "/a/C:/NUL");
	assert_int_equal(parsed.start, SB_START_ROOT);
	assert_int_equal(parsed.odd, 0);
	parsed = parse(SB_POSIX, "../../a");
	assert_string_equal(parsed.text, "../../a");
	assert_int_equal(parsed.odd, SB_ODD_CLIMBS);
	assert_int_equal(sb_path_inside(SB_POSIX, "/p", "a\\..\\..\\b", &parsed, NULL), SB_OK);
	assert_string_equal(parsed.text, "/p/a\\..\\..\\b");
	assert_int_equal(sb_path_inside(SB_POSIX, "/p", "../b", &parsed, NULL), SB_E_INVALID);
	assert_int_equal(sb_path_inside(SB_POSIX, "/p", "../p/b", &parsed, NULL), SB_OK);
	assert_int_equal(sb_path_inside(SB_POSIX, "/p", "/p-evil", &parsed, NULL), SB_E_INVALID);
}

/* --- properties --------------------------------------------------------------------------------- */

static void random_path(char *out, size_t size)
{
	static const char *const pieces[] = {"\\",        "/",          "\\\\",     "..",
					     ".",         "C:",         "c:\\",     "\\\\?\\",
					     "\\\\.\\",   "\\??\\",     "UNC\\",    "a",
					     "B",         "proj",       "P",        "nul",
					     "com1",      ":s",         "::$DATA",  "~1",
					     " ",         ".",          "\xc3\xa4", "\xff",
					     "?",         "srv\\shr\\", "..\\",     "../",
					     "projects\\"};
	unsigned count = 1 + unit_below(12);

	out[0] = '\0';
	while (count--)
		strncat(out, pieces[unit_below(COUNT(pieces))], size - strlen(out) - 1);
}

/* What is left of text has no name that would lead elsewhere. */
static void assert_no_steps(const struct sb_parsed *parsed, const char *path, bool climbs)
{
	for (const char *name = parsed->text + parsed->root; *name;) {
		size_t length = strcspn(name, "\\");

		if ((length == 2 && memcmp(name, "..", 2) == 0) ? !climbs : length == 0)
			fail_msg("'%s' became '%s'", path, parsed->text);
		climbs = climbs && length == 2 && memcmp(name, "..", 2) == 0;
		name += length + (name[length] != '\0');
	}
}

static void F5_properties_of_random_paths(void **state)
{
	static const char root[] = "C:\\projects\\p";

	(void)state;
	for (int i = 0; i < 50000; i++) {
		struct sb_parsed first, second;
		char path[128], slashes[128];

		random_path(path, sizeof path);
		if (sb_path_parse(SB_WINDOWS, path, &first, NULL) != SB_OK)
			continue;
		/* one spelling: a start, then names; parsed again it stays as it is */
		assert_no_steps(&first, path,
				first.start == SB_START_HERE || first.start == SB_START_DRIVE);
		if (!(first.odd & (SB_ODD_TRIMMED | SB_ODD_CHARACTER)) &&
		    first.start != SB_START_DEVICE &&
		    (first.start == SB_START_HERE || first.text[first.root])) {
			second = parse(SB_WINDOWS, first.text);
			if (second.start != first.start || strcmp(second.text, first.text) != 0)
				fail_msg("'%s' is '%s' is '%s'", path, first.text, second.text);
		}
		/* which separator is written does not matter, but behind \\?\ */
		if (strncmp(path, "\\\\?\\", 4) != 0 && strncmp(path, "\\??\\", 4) != 0) {
			size_t length = strlen(path);

			for (size_t c = 0; c <= length; c++)
				slashes[c] = path[c] == '\\' ? '/' : path[c];
			second = parse(SB_WINDOWS, slashes);
			assert_string_equal(second.text, first.text);
			assert_int_equal(second.odd, first.odd & ~(unsigned)SB_ODD_BACK);
		}
		/* what is let in lies beneath the root by its own text, and is nothing odd */
		if (sb_path_inside(SB_WINDOWS, root, path, &second, NULL) == SB_OK) {
			assert_memory_equal(second.text, "C:\\", 3);
			assert_true(strlen(second.text) >= strlen(root));
			assert_no_steps(&second, path, false);
			assert_null(strchr(second.text + 2, ':'));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(F5_every_start_and_spelling),
		cmocka_unit_test(F5_no_path_without_a_share_or_a_name),
		cmocka_unit_test(F5_devices_by_any_extension),
		cmocka_unit_test(F5_known_attacks_do_not_get_in),
		cmocka_unit_test(F5_shares_and_roots_of_drives_hold_their_own),
		cmocka_unit_test(F8_case_folds_one_letter_for_one),
		cmocka_unit_test(the_other_grammar_reads_the_same_interface),
		cmocka_unit_test(F5_properties_of_random_paths),
	};

	unit_seed();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("windows", tests, NULL, NULL);
}
