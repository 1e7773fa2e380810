/* test_escape.c - whatever a name holds, what is shown is one harmless line. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"

static size_t encode(uint32_t point, char out[4])
{
	if (point < 0x80) {
		out[0] = (char)point;
		return 1;
	}
	if (point < 0x800) {
		out[0] = (char)(0xc0 | point >> 6);
		out[1] = (char)(0x80 | (point & 0x3f));
		return 2;
	}
	if (point < 0x10000) {
		out[0] = (char)(0xe0 | point >> 12);
		out[1] = (char)(0x80 | (point >> 6 & 0x3f));
		out[2] = (char)(0x80 | (point & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | point >> 18);
	out[1] = (char)(0x80 | (point >> 12 & 0x3f));
	out[2] = (char)(0x80 | (point >> 6 & 0x3f));
	out[3] = (char)(0x80 | (point & 0x3f));
	return 4;
}

static void every_character_is_well_formed(void **state)
{
	(void)state;
	for (uint32_t point = 0; point <= 0x10ffff; point++) {
		char bytes[4];
		size_t length = encode(point, bytes);
		bool surrogate = point >= 0xd800 && point <= 0xdfff;

		if (sb_utf8_length(bytes, length) != (surrogate ? 0 : length))
			fail_msg("U+%04X", point);
		if (sb_utf8_length(bytes, length - 1) != 0)
			fail_msg("U+%04X cut short", point);
	}
}

/* Together with the test above: as many sequences as characters, so no others are accepted. */
static void nothing_else_is_well_formed(void **state)
{
	unsigned ones = 0, twos = 0, threes = 0, fours = 0;
	char b[4];

	(void)state;
	for (unsigned first = 0; first < 256; first++) {
		b[0] = (char)first;
		ones += sb_utf8_length(b, 1) == 1;
		for (unsigned second = 0; second < 256; second++) {
			b[1] = (char)second;
			twos += sb_utf8_length(b, 2) == 2;
			for (unsigned third = 0x7f; third <= 0xc0; third++) {
				b[2] = (char)third;
				threes += sb_utf8_length(b, 3) == 3;
				for (unsigned fourth = 0x7f; first >= 0xef && fourth <= 0xc0;
				     fourth++) {
					b[3] = (char)fourth;
					fours += sb_utf8_length(b, 4) == 4;
				}
			}
		}
	}
	assert_int_equal(ones, 0x80);
	assert_int_equal(twos, 0x800 - 0x80);
	assert_int_equal(threes, 0x10000 - 0x800 - 0x800);
	assert_int_equal(fours, 0x110000 - 0x10000);
}

static void shows(const char *bytes, size_t length, const char *expected)
{
	SB_AUTO_BUF struct sb_buf out;

	sb_buf_init(&out, 1000);
	sb_escape_append(&out, bytes, length);
	assert_string_equal(out.data, expected);
}

#define SHOWS(bytes, expected) shows(bytes, sizeof(bytes) - 1, expected)

static void text_stays_text(void **state)
{
	(void)state;
	SHOWS("", "");
	SHOWS("plain 'text' \\ #", "plain 'text' \\ #");
	SHOWS("na\xc3\xafve \xe2\x82\xac \xf0\x9f\x98\x80",
	      "na\xc3\xafve \xe2\x82\xac \xf0\x9f\x98\x80");
}

static void controls_are_spelled_out(void **state)
{
	(void)state;
	SHOWS("a\nb\rc\td", "a\\nb\\rc\\td");
	SHOWS("\x1b[31mred\x1b]0;title\x07", "\\e[31mred\\e]0;title\\x07");
	SHOWS("a\0b\x7f", "a\\x00b\\x7f");
	SHOWS("\xc2\x9b"
	      "31m",
	      "\\u{9b}31m"); /* CSI as one C1 character: xterm obeys it */
}

static void bytes_that_are_no_text_are_spelled_out(void **state)
{
	(void)state;
	SHOWS("\xff\xfe", "\\xff\\xfe");
	SHOWS("\xc3", "\\xc3");
	SHOWS("\xc3(", "\\xc3(");
	SHOWS("\xed\xa0\x80", "\\xed\\xa0\\x80");          /* a surrogate */
	SHOWS("\xc0\xaf", "\\xc0\\xaf");                   /* an overlong slash */
	SHOWS("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"); /* above U+10FFFF */
}

/* Unicode's Default_Ignorable_Code_Point, and what turns or breaks the line. */
static void invisible_characters_are_spelled_out(void **state)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{0x80, 0x9f},       {0xad, 0xad},       {0x34f, 0x34f},   {0x61c, 0x61c},
		{0x115f, 0x1160},   {0x17b4, 0x17b5},   {0x180b, 0x180f}, {0x200b, 0x200f},
		{0x2028, 0x202e},   {0x2060, 0x206f},   {0x3164, 0x3164}, {0xfe00, 0xfe0f},
		{0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff0, 0xfffb}, {0x1bca0, 0x1bca3},
		{0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(ranges); i++) {
		for (uint32_t point = ranges[i].first; point <= ranges[i].last; point++) {
			SB_AUTO_BUF struct sb_buf expected;
			char bytes[4];
			size_t length = encode(point, bytes);

			sb_buf_init(&expected, 20);
			sb_buf_printf(&expected, "\\u{%x}", point);
			shows(bytes, length, expected.data);
		}
	}
	SHOWS("evil\xe2\x80\xaegpj.exe", "evil\\u{202e}gpj.exe");
}

static void other_blanks_are_spelled_out(void **state)
{
	static const uint32_t blanks[] = {0xa0,   0x1680, 0x2000, 0x2003, 0x2007,
					  0x200a, 0x202f, 0x205f, 0x2800, 0x3000};

	(void)state;
	for (size_t i = 0; i < COUNT(blanks); i++) {
		char bytes[4], expected[20];
		size_t length = encode(blanks[i], bytes);

		snprintf(expected, sizeof expected, "\\u{%x}", blanks[i]);
		shows(bytes, length, expected);
		assert_int_equal(sb_utf8_plain(bytes, length), 0);
		assert_int_equal(sb_utf8_visible(bytes, length), length); /* JSON keeps it */
	}
	SHOWS("a b  c", "a b  c");
}

static const char *name_of(const char *bytes, size_t length)
{
	static char shown[4096];
	SB_AUTO_BUF struct sb_buf out = SB_BUF(sizeof shown - 1);

	sb_escape_name(&out, bytes, length);
	assert_false(sb_buf_failed(&out));
	memcpy(shown, out.data, out.length + 1);
	return shown;
}

/* What a name was, read back from how it is shown: so no two look alike. */
static size_t read_back(const char *text, char *out)
{
	size_t length = 0;
	unsigned number;
	int used;

	while (*text) {
		if (sscanf(text, "\\x20{%u}%n", &number, &used) == 1 &&
		    strncmp(text, "\\x20{", 5) == 0) {
			memset(out + length, ' ', number);
			length += number;
		} else if (strncmp(text, "\\u{", 3) == 0 &&
			   sscanf(text, "\\u{%x}%n", &number, &used) == 1) {
			length += encode(number, out + length);
		} else if (strncmp(text, "\\x", 2) == 0 &&
			   sscanf(text, "\\x%2x%n", &number, &used) == 1) {
			out[length++] = (char)number;
		} else if (*text == '\\') {
			static const char letters[] = "n\nr\rt\te\033\\\\";

			out[length++] = strchr(letters, text[1])[1];
			used = 2;
		} else {
			out[length++] = *text;
			used = 1;
		}
		text += used;
	}
	return length;
}

static void two_names_never_look_alike(void **state)
{
	static const char *const parts[] = {
		"\n",   "\\", "n", "x",    "20",           "{",        "2",
		"}",    " ",  "u", "202e", "\xe2\x80\xae", "\xc2\xa0", "\xe3\x80\x80",
		"\xff", "\t", "e", "\033", "\xc3\xa9"};

	(void)state;
	assert_string_equal(name_of("a b", 3), "a b");
	assert_string_equal(name_of("a   b", 5), "a\\x20{3}b");
	assert_string_equal(name_of("a\\nb", 4), "a\\\\nb");
	assert_string_equal(name_of("a\nb", 3), "a\\nb");
	unit_seed();
	for (int round = 0; round < 20000; round++) {
		char name[128] = "", back[4096];
		size_t length;

		for (size_t i = unit_below(12); i > 0; i--)
			strncat(name, parts[unit_below(COUNT(parts))],
				sizeof name - strlen(name) - 1);
		length = read_back(name_of(name, strlen(name)), back);
		assert_int_equal(length, strlen(name));
		assert_memory_equal(back, name, length);
	}
}

static void a_value_shows_its_end(void **state)
{
	char value[3000], sign[40];

	(void)state;
	unit_seed();
	for (size_t length = 0; length < sizeof value; length += 1 + unit_below(40)) {
		SB_AUTO_BUF struct sb_buf out = SB_BUF(4096);
		size_t most = 64 + unit_below(300);

		for (size_t i = 0; i < length; i++)
			value[i] = "ab \t\xc3\xa9!"[unit_below(7)];
		sb_escape_value(&out, value, length, most);
		assert_false(sb_buf_failed(&out));
		assert_true(out.length <= most);
		snprintf(sign, sizeof sign, " ... (%zu characters) ... ", length);
		if (length > most)
			assert_true(strstr(out.data, sign) || strstr(out.data, " blanks]"));
		if (length && value[length - 1] == '!')
			assert_int_equal(out.data[out.length - 1], '!');
	}
}

/* No control, no broken character: what sb_escape_append promises of any output. */
static bool is_harmless(const char *text)
{
	size_t length = strlen(text);

	while (length) {
		size_t step = sb_utf8_length(text, length);

		if (step == 0 || (unsigned char)*text < 0x20 || *text == 0x7f)
			return false;
		text += step;
		length -= step;
	}
	return true;
}

static void any_bytes_become_one_harmless_line(void **state)
{
	(void)state;
	unit_seed();
	for (int round = 0; round < 20000; round++) {
		SB_AUTO_BUF struct sb_buf out;
		char bytes[24];
		size_t length = unit_below(sizeof bytes);

		for (size_t i = 0; i < length; i++)
			bytes[i] = (char)(unit_below(2) ? unit_random() : 0x80 + unit_below(0x70));
		sb_buf_init(&out, 4 * sizeof bytes); /* a byte never needs more than four */
		sb_escape_append(&out, bytes, length);
		assert_false(sb_buf_failed(&out));
		assert_true(out.length >= length);
		assert_true(is_harmless(out.data));
	}
}

static void a_line_is_cut_with_dots_between_characters(void **state)
{
	static const char text[] = "ab\xe2\x82\xac\n\xf0\x9f\x98\x80\xff!";
	SB_AUTO_BUF struct sb_buf whole;

	(void)state;
	sb_buf_init(&whole, 100);
	sb_escape_append(&whole, text, strlen(text));
	for (size_t size = 0; size < whole.length + 4; size++) {
		char out[64];
		size_t length;

		memset(out, '#', sizeof out);
		assert_ptr_equal(sb_escape_line(out, size, text), out);
		assert_int_equal(out[size], '#'); /* nothing behind the end */
		if (size == 0)
			continue;
		length = strlen(out);
		assert_true(length < size);
		assert_true(is_harmless(out));
		if (size > whole.length) {
			assert_string_equal(out, whole.data);
		} else if (size >= 4) {
			assert_string_equal(out + length - 3, "...");
			assert_memory_equal(out, whole.data, length - 3);
			assert_true(length + 5 > size); /* no more cut than one character needs */
		}
	}
}

static void a_huge_line_is_cut_as_well(void **state)
{
	char *text = malloc(100001), out[32768];

	(void)state;
	memset(text, '\1', 100000);
	text[100000] = '\0';
	sb_escape_line(out, sizeof out, text);
	assert_true(strlen(out) > 16000);
	assert_string_equal(out + strlen(out) - 3, "...");
	assert_true(is_harmless(out));
	free(text);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(every_character_is_well_formed),
	cmocka_unit_test(nothing_else_is_well_formed),
	cmocka_unit_test(text_stays_text),
	cmocka_unit_test(controls_are_spelled_out),
	cmocka_unit_test(bytes_that_are_no_text_are_spelled_out),
	cmocka_unit_test(invisible_characters_are_spelled_out),
	cmocka_unit_test(other_blanks_are_spelled_out),
	cmocka_unit_test(two_names_never_look_alike),
	cmocka_unit_test(a_value_shows_its_end),
	cmocka_unit_test(any_bytes_become_one_harmless_line),
	cmocka_unit_test(a_line_is_cut_with_dots_between_characters),
	cmocka_unit_test(a_huge_line_is_cut_as_well),
};

UNIT_MAIN("escape")
