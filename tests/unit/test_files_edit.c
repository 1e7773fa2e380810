/* F1: what read, write and edit do to text; encodings and line ends; the errors of F4. */
#include "base/buf.h"
#include "files/diff.h"
#include "files_view.h"

#define TEXT(bytes) bytes, sizeof(bytes) - 1

static void assert_bytes(struct fixture *fx, const char *name, const char *expected, size_t length)
{
	size_t got;
	const char *data = fx_get_bytes(fx, name, &got);

	assert_non_null(data);
	assert_int_equal(got, length);
	assert_memory_equal(data, expected, length);
}

static struct sb_files_text read_part(struct fixture *fx, struct sb_files_read_request request)
{
	struct sb_files_text text = {0};

	request.size = sizeof request;
	assert_fine(sb_files_read(fx->view, NULL, &request, &text, &fx->err));
	return text;
}

#define assert_part(expected, first, total, ...)                                                   \
	do {                                                                                       \
		struct sb_files_text part_ =                                                       \
			read_part(fx, (struct sb_files_read_request){__VA_ARGS__});                \
                                                                                                   \
		assert_string_equal(part_.data, expected);                                         \
		assert_int_equal(part_.length, strlen(expected));                                  \
		assert_int_equal(part_.first_line, first);                                         \
		assert_int_equal(part_.total_lines, total);                                        \
		sb_files_text_done(&part_);                                                        \
	} while (0)

static void test_F1_read_parts(void **state)
{
	struct fixture *fx = *state;
	struct sb_files_read_request both = {
		.size = sizeof both, .path = "a.txt", .head = 1, .tail = 1};
	struct sb_files_text text;

	assert_part("one\ntwo\nthree\n", 1, 3, .path = "a.txt");
	assert_part("two\nthree\n", 2, 3, .path = "a.txt", .first_line = 2);
	assert_part("two\n", 2, 3, .path = "a.txt", .first_line = 2, .line_count = 1);
	assert_part("", 9, 3, .path = "a.txt", .first_line = 9);
	assert_part("one\ntwo\n", 1, 3, .path = "a.txt", .head = 2);
	assert_part("three\n", 3, 3, .path = "a.txt", .tail = 1);
	assert_part("one\ntwo\nthree\n", 1, 3, .path = "a.txt", .tail = 99);
	assert_part("e\ntw", 0, 0, .path = "a.txt", .by_bytes = true, .byte_offset = 2,
		    .byte_count = 4);
	assert_part("one\ntwo\nthree\n", 0, 0, .path = "a.txt", .raw = true);
	fx_put(fx, "project/no-end", "x\ny");
	assert_part("y", 2, 2, .path = "no-end", .tail = 1);
	fx_put(fx, "project/empty", "");
	assert_part("", 1, 0, .path = "empty");
	fx_put(fx, "project/wide", "a\xc3\xa4z");
	assert_part("a", 0, 0, .path = "wide", .by_bytes = true, .byte_count = 2);
	assert_part("z", 0, 0, .path = "wide", .by_bytes = true, .byte_offset = 2);
	assert_code(sb_files_read(fx->view, NULL, &both, &text, &fx->err),
		    SB_FILES_INVALID_ARGUMENT);
}

/* A file over the limit: only its parts can be had, and they are the same parts. */
static void test_F1_read_large(void **state)
{
	struct fixture *fx = *state;
	struct sb_buf lines = SB_BUF(1 << 20);
	struct sb_files_text text;

	for (int i = 1; i <= 9000; i++)
		sb_buf_printf(&lines, "line %d\n", i);
	fx_put_bytes(fx, "project/large", lines.data, lines.length);
	sb_buf_done(&lines);
	fx_open(fx, (struct sb_files_options){.read_limit_bytes = 1000});
	assert_code(fx_read(fx, "large", &text), SB_FILES_TOO_LARGE);
	assert_part("line 8500\nline 8501\n", 8500, 0, .path = "large", .first_line = 8500,
		    .line_count = 2);
	assert_part("line 1\nline 2\n", 1, 0, .path = "large", .head = 2);
	assert_part("line 8999\nline 9000\n", 0, 0, .path = "large", .tail = 2);
	assert_part("", 10000, 0, .path = "large", .first_line = 10000);
	text = read_part(fx, (struct sb_files_read_request){.path = "large", .cut = true});
	assert_int_equal(text.length, 1000);
	assert_true(text.truncated);
	assert_memory_equal(text.data, "line 1\nline 2\n", 14);
	sb_files_text_done(&text);
}

static void test_F1_write(void **state)
{
	struct fixture *fx = *state;
	struct sb_files_write_request request = {.size = sizeof request,
						 .path = "new",
						 .data = "x\n",
						 .length = 2,
						 .want_diff = true};
	struct sb_files_change change;

	request.dry_run = true;
	assert_fine(sb_files_write(fx->view, NULL, &request, &change, &fx->err));
	assert_true(change.created);
	assert_non_null(strstr(change.diff, "+x\n"));
	sb_files_change_done(&change);
	assert_null(fx_get(fx, "project/new"));
	request.dry_run = false;
	assert_fine(sb_files_write(fx->view, NULL, &request, &change, &fx->err));
	assert_true(change.created && change.changed);
	assert_string_equal(change.path, at(fx, "project/new"));
	sb_files_change_done(&change);
	assert_fine(sb_files_write(fx->view, NULL, &request, &change, &fx->err));
	assert_false(change.created || change.changed);
	assert_string_equal(change.diff, "");
	sb_files_change_done(&change);
	request.exclusive = true;
	assert_code(sb_files_write(fx->view, NULL, &request, &change, &fx->err), SB_FILES_EXISTS);
	request.exclusive = false;
	request.append = true;
	assert_fine(sb_files_write(fx->view, NULL, &request, &change, &fx->err));
	sb_files_change_done(&change);
	assert_string_equal(fx_get(fx, "project/new"), "x\nx\n");
	request.path = "none/new";
	assert_code(sb_files_write(fx->view, NULL, &request, &change, &fx->err),
		    SB_FILES_NOT_FOUND);
	request.parents = true;
	request.path = "deep/er/new";
	assert_fine(sb_files_write(fx->view, NULL, &request, &change, &fx->err));
	sb_files_change_done(&change);
	assert_string_equal(fx_get(fx, "project/deep/er/new"), "x\n");
	assert_code(fx_write(fx, "src", "x"), SB_FILES_IS_A_DIRECTORY);
	assert_code(fx_write(fx, "a.txt/x", "x"), SB_FILES_NOT_A_DIRECTORY);
}

static void test_F1_edit(void **state)
{
	struct fixture *fx = *state;
	struct sb_files_change change;

	assert_fine(fx_edit(fx, "a.txt", "two", "2", &change));
	assert_string_equal(fx_get(fx, "project/a.txt"), "one\n2\nthree\n");
	assert_non_null(strstr(change.diff, "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"));
	assert_int_equal(change.replacements, 1);
	sb_files_change_done(&change);
	assert_code(fx_edit(fx, "a.txt", "two", "2", &change), SB_FILES_NO_MATCH);
	assert_code(fx_edit(fx, "a.txt", "e", "E", &change), SB_FILES_AMBIGUOUS_MATCH);
	assert_non_null(strstr(fx->err.model, "3 times"));
	assert_code(fx_edit(fx, "a.txt", "", "E", &change), SB_FILES_INVALID_ARGUMENT);
	assert_code(fx_edit(fx, "none", "a", "b", &change), SB_FILES_NOT_FOUND);
	assert_code(fx_edit(fx, "src", "a", "b", &change), SB_FILES_IS_A_DIRECTORY);
	assert_code(fx_edit(fx, "a.txt", "one\n  2", "b", &change), SB_FILES_NO_MATCH);
	assert_non_null(strstr(fx->err.model, "line 1 with other white space"));
	assert_string_equal(fx_get(fx, "project/a.txt"), "one\n2\nthree\n");
}

static struct sb_files_edit replace(const char *old, const char *new,
				    enum sb_files_occurrence which)
{
	return (struct sb_files_edit){.old_text = old,
				      .old_length = strlen(old),
				      .new_text = new,
				      .new_length = strlen(new),
				      .occurrence = which};
}

static struct sb_files_edit insert(uint64_t line, const char *text)
{
	return (struct sb_files_edit){.new_text = text, .new_length = strlen(text), .line = line};
}

static int edit_all(struct fixture *fx, const char *path, const struct sb_files_edit *edits,
		    size_t count, bool dry_run)
{
	struct sb_files_edit_request request = {.size = sizeof request,
						.path = path,
						.edits = edits,
						.edit_count = count,
						.dry_run = dry_run};
	struct sb_files_change change;
	int status = sb_files_edit(fx->view, NULL, &request, &change, &fx->err);

	if (status == 0)
		sb_files_change_done(&change);
	return status;
}

static void test_F1_edits_all_or_nothing(void **state)
{
	struct fixture *fx = *state;
	const struct sb_files_edit good[] = {
		replace("one", "1", SB_FILES_THE_ONLY),
		replace("1\n", "1\n1\n", SB_FILES_THE_ONLY), /* sees what the first made */
		replace("1", "I", SB_FILES_THE_FIRST),
		replace("e", "E", SB_FILES_ALL),
	};
	const struct sb_files_edit bad[] = {
		replace("two", "2", SB_FILES_THE_ONLY),
		replace("nowhere", "x", SB_FILES_THE_ONLY),
	};

	assert_code(edit_all(fx, "a.txt", bad, 2, false), SB_FILES_NO_MATCH);
	assert_non_null(strstr(fx->err.person, "edit 2"));
	assert_string_equal(fx_get(fx, "project/a.txt"), "one\ntwo\nthree\n");
	assert_fine(edit_all(fx, "a.txt", good, 4, true));
	assert_string_equal(fx_get(fx, "project/a.txt"), "one\ntwo\nthree\n");
	assert_fine(edit_all(fx, "a.txt", good, 4, false));
	assert_string_equal(fx_get(fx, "project/a.txt"), "I\n1\ntwo\nthrEE\n");
}

static void test_F1_insert(void **state)
{
	struct fixture *fx = *state;
	struct sb_files_edit edit = insert(1, "zero");

	assert_fine(edit_all(fx, "a.txt", &edit, 1, false));
	assert_string_equal(fx_get(fx, "project/a.txt"), "zero\none\ntwo\nthree\n");
	edit = insert(3, "one and a half\n");
	assert_fine(edit_all(fx, "a.txt", &edit, 1, false));
	assert_string_equal(fx_get(fx, "project/a.txt"), "zero\none\none and a half\ntwo\nthree\n");
	edit = insert(6, "four");
	assert_fine(edit_all(fx, "a.txt", &edit, 1, false));
	edit = insert(0, "five");
	assert_fine(edit_all(fx, "a.txt", &edit, 1, false));
	assert_string_equal(fx_get(fx, "project/a.txt"),
			    "zero\none\none and a half\ntwo\nthree\nfour\nfive");
	edit = insert(9, "x");
	assert_code(edit_all(fx, "a.txt", &edit, 1, false), SB_FILES_INVALID_ARGUMENT);
	assert_non_null(strstr(fx->err.model, "7 lines"));
	fx_put(fx, "project/empty", "");
	edit = insert(1, "first\n");
	assert_fine(edit_all(fx, "empty", &edit, 1, false));
	assert_string_equal(fx_get(fx, "project/empty"), "first\n");
}

/* --- encodings ------------------------------------------------------------------------------ */

static const struct {
	const char *name;
	enum sb_files_encoding encoding;
	const char *before;
	size_t before_length;
	const char *after;
	size_t after_length;
} encodings[] = {
	{"utf-8", SB_FILES_UTF8, TEXT("\xc3\xa4 old\n"), TEXT("\xc3\xa4 n\xc3\xa9w\n")},
	{"bom", SB_FILES_UTF8_BOM, TEXT("\xef\xbb\xbf\xc3\xa4 old\n"),
	 TEXT("\xef\xbb\xbf\xc3\xa4 n\xc3\xa9w\n")},
	{"utf-16le", SB_FILES_UTF16_LE, TEXT("\xff\xfe\xe4\0 \0o\0l\0d\0\n\0"),
	 TEXT("\xff\xfe\xe4\0 \0n\0\xe9\0w\0\n\0")},
	{"utf-16be", SB_FILES_UTF16_BE, TEXT("\xfe\xff\0\xe4\0 \0o\0l\0d\0\n"),
	 TEXT("\xfe\xff\0\xe4\0 \0n\0\xe9\0w\0\n")},
	{"bare le", SB_FILES_UTF16_LE_BARE, TEXT("\xe4\0 \0o\0l\0d\0\n\0"),
	 TEXT("\xe4\0 \0n\0\xe9\0w\0\n\0")},
	{"latin-1", SB_FILES_LATIN1, TEXT("\xe4 old\n"), TEXT("\xe4 n\xe9w\n")},
	{"crlf", SB_FILES_UTF8, TEXT("\xc3\xa4 old\r\n"), TEXT("\xc3\xa4 n\xc3\xa9w\r\n")},
	{"utf-16 crlf", SB_FILES_UTF16_LE, TEXT("\xff\xfe\xe4\0 \0o\0l\0d\0\r\0\n\0"),
	 TEXT("\xff\xfe\xe4\0 \0n\0\xe9\0w\0\r\0\n\0")},
};

static void test_F1_encoding_is_kept_by_edit(void **state)
{
	struct fixture *fx = *state;

	for (size_t i = 0; i < COUNT(encodings); i++) {
		struct sb_files_change change;
		struct sb_files_text text;

		fx_put_bytes(fx, "project/enc", encodings[i].before, encodings[i].before_length);
		assert_fine(fx_read(fx, "enc", &text));
		assert_int_equal(text.encoding, encodings[i].encoding);
		assert_memory_equal(text.data, "\xc3\xa4 old", 6);
		sb_files_text_done(&text);
		assert_fine(fx_edit(fx, "enc", "old\n", "n\xc3\xa9w\n", &change));
		assert_int_equal(change.encoding, encodings[i].encoding);
		sb_files_change_done(&change);
		assert_bytes(fx, "project/enc", encodings[i].after, encodings[i].after_length);
	}
}

static void test_F1_encoding_is_kept_by_write(void **state)
{
	struct fixture *fx = *state;

	for (size_t i = 0; i < COUNT(encodings); i++) {
		fx_put_bytes(fx, "project/enc", encodings[i].before, encodings[i].before_length);
		assert_fine(fx_write(fx, "enc", "\xc3\xa4 n\xc3\xa9w\n"));
		assert_bytes(fx, "project/enc", encodings[i].after, encodings[i].after_length);
	}
}

static void test_F1_what_an_encoding_cannot_hold(void **state)
{
	struct fixture *fx = *state;
	struct sb_files_change change;

	fx_put_bytes(fx, "project/latin", TEXT("\xe4 old\n"));
	assert_code(fx_edit(fx, "latin", "old", "\xe2\x82\xac", &change), SB_FILES_ENCODING);
	assert_bytes(fx, "project/latin", TEXT("\xe4 old\n"));
	assert_fine(fx_write(fx, "latin", "\xe2\x82\xac\n")); /* all new: UTF-8 */
	assert_bytes(fx, "project/latin", TEXT("\xe2\x82\xac\n"));
}

static void test_F1_binary(void **state)
{
	static const struct {
		const char *bytes;
		size_t length;
	} binaries[] = {{TEXT("\x7f"
			      "ELF\x02\x01\x01\0\0\0\0")},
			{TEXT("\xff\xfe\x00\xd8x")},
			{TEXT("abc\0def")},
			{TEXT("\x89PNG\r\n\x1a\n\x01\x02")}};
	struct fixture *fx = *state;

	for (size_t i = 0; i < COUNT(binaries); i++) {
		struct sb_files_read_request raw = {.size = sizeof raw, .path = "bin", .raw = true};
		struct sb_files_change change;
		struct sb_files_text text;

		fx_put_bytes(fx, "project/bin", binaries[i].bytes, binaries[i].length);
		assert_code(fx_read(fx, "bin", &text), SB_FILES_BINARY);
		assert_code(fx_edit(fx, "bin", "a", "b", &change), SB_FILES_BINARY);
		assert_fine(sb_files_read(fx->view, NULL, &raw, &text, &fx->err));
		assert_int_equal(text.encoding, SB_FILES_BINARY_DATA);
		assert_int_equal(text.length, binaries[i].length);
		assert_memory_equal(text.data, binaries[i].bytes, text.length);
		sb_files_text_done(&text);
	}
}

static void test_F1_mixed_line_ends(void **state)
{
	struct fixture *fx = *state;
	struct sb_files_change change;

	fx_put(fx, "project/mixed", "a\r\nb\nc\r\nd\n");
	assert_fine(fx_edit(fx, "mixed", "a\nb", "A\nB", &change));
	sb_files_change_done(&change);
	assert_string_equal(fx_get(fx, "project/mixed"), "A\r\nB\nc\r\nd\n");
	assert_fine(fx_edit(fx, "mixed", "B\n", "b\n", &change));
	assert_int_equal(change.eol, SB_FILES_EOL_MIXED);
	sb_files_change_done(&change);
	assert_string_equal(fx_get(fx, "project/mixed"), "A\r\nb\nc\r\nd\n");
	/* a caller who writes \r\n himself into a \r\n file gets no doubled ones */
	fx_put(fx, "project/crlf", "a\r\nb\r\n");
	assert_fine(fx_edit(fx, "crlf", "a\r\nb\r\n", "1\r\n2\r\n3\n", &change));
	sb_files_change_done(&change);
	assert_string_equal(fx_get(fx, "project/crlf"), "1\r\n2\r\n3\r\n");
	assert_fine(fx_write(fx, "crlf", "x\r\ny\r\n"));
	assert_string_equal(fx_get(fx, "project/crlf"), "x\r\ny\r\n");
}

/* --- other calls ---------------------------------------------------------------------------------- */

static void test_F1_move_copy_delete(void **state)
{
	struct fixture *fx = *state;
	bool created;

	assert_fine(sb_files_copy(fx->view, NULL, "a.txt", "b.txt", 0, &fx->err));
	assert_string_equal(fx_get(fx, "project/b.txt"), "one\ntwo\nthree\n");
	assert_code(sb_files_copy(fx->view, NULL, "a.txt", "b.txt", 0, &fx->err), SB_FILES_EXISTS);
	fx_put(fx, "project/b.txt", "b\n");
	assert_code(sb_files_move(fx->view, NULL, "b.txt", "a.txt", false, &fx->err),
		    SB_FILES_EXISTS);
	assert_fine(sb_files_move(fx->view, NULL, "b.txt", "a.txt", true, &fx->err));
	assert_string_equal(fx_get(fx, "project/a.txt"), "b\n");
	assert_null(fx_get(fx, "project/b.txt"));
	assert_code(sb_files_move(fx->view, NULL, "b.txt", "c", false, &fx->err),
		    SB_FILES_NOT_FOUND);
	assert_code(sb_files_move(fx->view, NULL, "a.txt", "src", true, &fx->err),
		    SB_FILES_IS_A_DIRECTORY);

	assert_fine(sb_files_mkdir(fx->view, NULL, "t/u/v", true, &created, &fx->err));
	assert_true(created);
	assert_fine(sb_files_mkdir(fx->view, NULL, "t/u/v", true, &created, &fx->err));
	assert_false(created);
	assert_code(sb_files_mkdir(fx->view, NULL, "t/u/v", false, NULL, &fx->err),
		    SB_FILES_EXISTS);
	assert_code(sb_files_mkdir(fx->view, NULL, "w/x", false, NULL, &fx->err),
		    SB_FILES_NOT_FOUND);
	fx_put(fx, "project/t/u/v/f", "f\n");
	fx_link(fx, "v/f", "project/t/u/link");
	assert_code(sb_files_copy(fx->view, NULL, "t", "t2", 0, &fx->err), SB_FILES_IS_A_DIRECTORY);
	assert_fine(sb_files_copy(fx->view, NULL, "t", "t2", SB_FILES_RECURSIVE, &fx->err));
	assert_string_equal(fx_get(fx, "project/t2/u/link"), "f\n");
	assert_code(sb_files_copy(fx->view, NULL, "t", "t/inside", SB_FILES_RECURSIVE, &fx->err),
		    SB_FILES_INVALID_ARGUMENT);
	assert_code(sb_files_move(fx->view, NULL, "t", "t/inside", false, &fx->err),
		    SB_FILES_INVALID_ARGUMENT);
	assert_fine(sb_files_move(fx->view, NULL, "t", "t3", false, &fx->err));
	assert_string_equal(fx_get(fx, "project/t3/u/v/f"), "f\n");
	assert_code(sb_files_delete(fx->view, NULL, "t3", false, &fx->err), SB_FILES_NOT_EMPTY);
	assert_fine(sb_files_delete(fx->view, NULL, "t3", true, &fx->err));
	assert_null(fx_get(fx, "project/t3/u/v/f"));
	assert_fine(sb_files_delete(fx->view, NULL, "a.txt", false, &fx->err));
	assert_code(sb_files_delete(fx->view, NULL, "a.txt", false, &fx->err), SB_FILES_NOT_FOUND);
}

/* A tree with a part that is denied stays whole. */
static void test_F1_delete_all_or_nothing(void **state)
{
	struct fixture *fx = *state;

	fx_dir(fx, "project/tree");
	fx_dir(fx, "project/tree/z");
	fx_put(fx, "project/tree/a", "a");
	fx_put(fx, "project/tree/z/private.key", "k");
	assert_code(sb_files_delete(fx->view, NULL, "tree", true, &fx->err), SB_FILES_BLOCKED);
	assert_string_equal(fx_get(fx, "project/tree/a"), "a");
	assert_code(sb_files_move(fx->view, NULL, "tree/z/private.key", "k", false, &fx->err),
		    SB_FILES_BLOCKED);
	assert_code(sb_files_copy(fx->view, NULL, "tree", "copied", SB_FILES_RECURSIVE, &fx->err),
		    SB_FILES_BLOCKED);
	assert_null(fx_get(fx, "project/copied/z/private.key"));
}

static void join_names(const struct sb_files_entries *entries, char *out, size_t size)
{
	size_t length = 0;

	out[0] = '\0';
	for (size_t i = 0; i < entries->count && length < size; i++)
		length += (size_t)snprintf(out + length, size - length, "%u%s%s ",
					   entries->all[i].depth, entries->all[i].name,
					   entries->all[i].type == SB_FILES_DIRECTORY ? "/" : "");
}

static void test_F1_list_and_tree(void **state)
{
	struct fixture *fx = *state;
	struct sb_files_list_request request = {.size = sizeof request, .path = "."};
	struct sb_files_entries entries;
	char names[1000];

	fx_put(fx, "project/src/m.c", "main\n");
	fx_put(fx, "project/src/x.key", "k");
	fx_link(fx, "../outside", "project/src/out");
	assert_fine(sb_files_list(fx->view, NULL, &request, &entries, &fx->err));
	join_names(&entries, names, sizeof names);
	assert_string_equal(names, "0a.txt 0notes/ 0src/ 0vendor/ "); /* "secret" is denied */
	sb_files_entries_done(&entries);
	assert_fine(sb_files_tree(fx->view, NULL, &request, &entries, &fx->err));
	join_names(&entries, names, sizeof names);
	assert_string_equal(names, "0a.txt 0notes/ 1n.txt 0src/ 1m.c 1out 0vendor/ 1lib.c ");
	sb_files_entries_done(&entries);
	request.limit = 3;
	assert_fine(sb_files_tree(fx->view, NULL, &request, &entries, &fx->err));
	assert_int_equal(entries.count, 3);
	assert_true(entries.truncated);
	sb_files_entries_done(&entries);
	request.limit = 0;
	request.max_depth = 1;
	assert_fine(sb_files_tree(fx->view, NULL, &request, &entries, &fx->err));
	assert_int_equal(entries.count, 4);
	assert_true(entries.all[1].cut);
	sb_files_entries_done(&entries);
	request.path = "src";
	request.details = true;
	request.sort = SB_FILES_BY_SIZE;
	assert_fine(sb_files_list(fx->view, NULL, &request, &entries, &fx->err));
	assert_string_equal(entries.all[0].name, "out");
	assert_string_equal(entries.all[0].target, "../outside");
	assert_int_equal(entries.all[1].bytes, 5);
	sb_files_entries_done(&entries);
	request.path = "a.txt";
	assert_code(sb_files_list(fx->view, NULL, &request, &entries, &fx->err),
		    SB_FILES_NOT_A_DIRECTORY);
}

static void test_F1_glob_and_grep(void **state)
{
	struct fixture *fx = *state;
	struct sb_files_glob_request glob = {.size = sizeof glob, .pattern = "**/*.c"};
	struct sb_files_grep_request grep = {
		.size = sizeof grep, .pattern = "hidden|main|vendor|secret", .pattern_length = 25};
	struct sb_files_entries entries;
	struct sb_files_matches matches;

	fx_put(fx, "project/.gitignore", "ignored.c\n");
	fx_put(fx, "project/src/m.c", "int main\n");
	fx_put(fx, "project/src/ignored.c", "main\n");
	fx_put(fx, "project/src/z.key", "main\n");
	fx_link(fx, "../../outside", "project/src/out");
	assert_fine(sb_files_glob(fx->view, NULL, &glob, &entries, &fx->err));
	assert_int_equal(entries.count, 2);
	assert_string_equal(entries.all[0].name, "src/m.c");
	assert_string_equal(entries.all[1].name, "vendor/lib.c");
	sb_files_entries_done(&entries);
	glob.path = "src";
	glob.no_ignore = true;
	glob.details = true;
	assert_fine(sb_files_glob(fx->view, NULL, &glob, &entries, &fx->err));
	assert_int_equal(entries.count, 2);
	assert_string_equal(entries.all[0].name, "ignored.c");
	assert_int_equal(entries.all[0].bytes, 5);
	sb_files_entries_done(&entries);
	glob.pattern = "../**";
	assert_code(sb_files_glob(fx->view, NULL, &glob, &entries, &fx->err),
		    SB_FILES_INVALID_PATTERN);
	assert_fine(sb_files_grep(fx->view, NULL, &grep, &matches, &fx->err));
	assert_int_equal(matches.file_count, 2);
	assert_string_equal(matches.files[0].path, "src/m.c");
	assert_string_equal(matches.files[0].lines[0].text, "int main");
	assert_int_equal(matches.files[0].lines[0].column, 5);
	assert_string_equal(matches.files[1].path, "vendor/lib.c");
	sb_files_matches_done(&matches);
	grep.path = "src/m.c";
	assert_fine(sb_files_grep(fx->view, NULL, &grep, &matches, &fx->err));
	assert_int_equal(matches.file_count, 1);
	sb_files_matches_done(&matches);
	grep.path = "../outside";
	assert_code(sb_files_grep(fx->view, NULL, &grep, &matches, &fx->err),
		    SB_FILES_PATH_OUTSIDE_PROJECT);
	grep.path = "src/out";
	assert_code(sb_files_grep(fx->view, NULL, &grep, &matches, &fx->err),
		    SB_FILES_PATH_OUTSIDE_PROJECT);
	grep.path = NULL;
	grep.pattern = "(";
	grep.pattern_length = 1;
	assert_code(sb_files_grep(fx->view, NULL, &grep, &matches, &fx->err),
		    SB_FILES_INVALID_PATTERN);
}

static void test_F4_errors_say_what_to_do(void **state)
{
	struct fixture *fx = *state;
	struct sb_files_text text;

	for (int code = 0; code < SB_FILES_CODE_COUNT; code++) {
		const char *name = sb_files_code_name((enum sb_files_code)code);

		assert_true(strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == strlen(name));
	}
	assert_code(fx_read(fx, "none\n\x1b[31m", &text), SB_FILES_NOT_FOUND);
	assert_int_equal(fx->err.sys_errno, ENOENT);
	assert_false(fx->err.violation);
	assert_non_null(strstr(fx->err.person, "none\\n\\e[31m"));
	assert_non_null(strstr(fx->err.model, "list the directory"));
	assert_code(fx_read(fx, "secret/password", &text), SB_FILES_BLOCKED);
	assert_true(fx->err.violation);
	assert_string_equal(fx->err.path, at(fx, "project/secret/password"));
	assert_string_equal(fx->err.rule, "a rule");
	assert_code(fx_read(fx, "../outside/secret.txt", &text), SB_FILES_PATH_OUTSIDE_PROJECT);
	assert_non_null(strstr(fx->err.model, at(fx, "project")));
	assert_code(fx_read(fx, "src", &text), SB_FILES_IS_A_DIRECTORY);
}

/* --- diff: random texts, put together again from the diff ------------------------------------------ */

static void rebuild(const char *old, const char *diff, char *out)
{
	const char *from = old;

	diff = *diff ? strchr(strchr(diff, '\n') + 1, '\n') + 1 : diff;
	while (*diff) {
		const char *end = strchr(diff, '\n') + 1;
		size_t length = (size_t)(end - diff) - 1;

		if (strncmp(diff, "@@ -", 4) == 0) {
			long start = strtol(diff + 4, NULL, 10);
			bool none = strstr(diff, ",0 +") && strstr(diff, ",0 +") < end;
			const char *stop = old;

			for (long line = none ? 0 : 1; line < start; line++)
				stop = strchr(stop, '\n') + 1;
			memcpy(out, from, (size_t)(stop - from));
			out += stop - from;
			from = stop;
		} else {
			bool cut = strncmp(end, "\\ No newline", 12) == 0;

			if (diff[0] != '-') {
				memcpy(out, diff + 1, length - cut);
				out += length - cut;
			}
			if (diff[0] != '+') {
				assert_memory_equal(from, diff + 1, length - cut);
				from += length - cut;
			}
			if (cut)
				end = strchr(end, '\n') + 1;
		}
		diff = end;
	}
	memcpy(out, from, strlen(from) + 1);
}

static void random_text(char *out, unsigned lines)
{
	size_t length = 0;

	for (unsigned count = unit_below(lines + 1); count; count--)
		length += (size_t)sprintf(out + length, "%c\n", 'a' + (int)unit_below(5));
	out[length] = '\0';
	if (length && unit_below(3) == 0)
		out[length - 1] = '\0';
}

static void test_F1_diff_leads_from_old_to_new(void **state)
{
	static char old[10000], new[10000], got[30000];

	(void)state;
	unit_seed();
	for (int i = 0; i < 20000; i++) {
		struct sb_buf diff = SB_BUF(1 << 20);

		random_text(old, i % 100 ? 12 : 2500);
		random_text(new, i % 100 ? 12 : 2500);
		assert_true(sb_diff("old", "new",
				    &(struct sb_buf){.data = old, .length = strlen(old)},
				    &(struct sb_buf){.data = new, .length = strlen(new)}, &diff));
		rebuild(old, diff.data, got);
		assert_string_equal(got, new);
		sb_buf_done(&diff);
	}
}

static void test_F4_the_memory_backend_has_limits(void **state)
{
	struct fixture *fx = *state;
	static char large[5000];

	memset(large, 'x', sizeof large - 1);
	assert_fine(fx_write(fx, "a", "old"));
	sb_files_memory_limit(fx->backend, 4096, 100);
	assert_code(fx_write(fx, "a", large), SB_FILES_NO_SPACE);
	assert_string_equal(fx_get(fx, "project/a"), "old");
	assert_code(fx_write(fx, "b", large), SB_FILES_NO_SPACE);
	assert_null(fx_get(fx, "project/b"));
	/* what is removed counts no more: many times the limit, one after the other */
	for (int i = 0; i < 100; i++) {
		assert_fine(fx_write(fx, "b", "some text that takes some room\n"));
		assert_fine(sb_files_delete(fx->view, NULL, "b", false, &fx->err));
	}
	sb_files_memory_limit(fx->backend, 4096, 1);
	assert_code(fx_write(fx, "b", ""), SB_FILES_NO_SPACE);
	assert_code(sb_files_mkdir(fx->view, NULL, "d", false, NULL, &fx->err), SB_FILES_NO_SPACE);
	sb_files_memory_limit(fx->backend, 10000, 100);
	assert_fine(fx_write(fx, "a", large));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_BOTH(test_F1_read_parts),
		ON_BOTH(test_F1_read_large),
		ON_BOTH(test_F1_write),
		ON_BOTH(test_F1_edit),
		ON_BOTH(test_F1_edits_all_or_nothing),
		ON_BOTH(test_F1_insert),
		ON_BOTH(test_F1_encoding_is_kept_by_edit),
		ON_BOTH(test_F1_encoding_is_kept_by_write),
		ON_BOTH(test_F1_what_an_encoding_cannot_hold),
		ON_BOTH(test_F1_binary),
		ON_BOTH(test_F1_mixed_line_ends),
		ON_BOTH(test_F1_move_copy_delete),
		ON_BOTH(test_F1_delete_all_or_nothing),
		ON_BOTH(test_F1_list_and_tree),
		ON_BOTH(test_F1_glob_and_grep),
		ON_BOTH(test_F4_errors_say_what_to_do),
		IN_MEMORY(test_F4_the_memory_backend_has_limits),
		cmocka_unit_test(test_F1_diff_leads_from_old_to_new),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("files_edit", tests, NULL, NULL);
}
