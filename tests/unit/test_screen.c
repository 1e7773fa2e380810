/*
 * test_screen.c - a question on a real screen (libvterm), after everything a command can write.
 *
 * Each round feeds a terminal what passes the sieve of a random mixture of known tricks,
 * sequences of the right form and bytes, and then a question.  The picture, letter by letter with
 * its attributes and colours, must be that of a question on a fresh terminal.  Lines of ours must be read
 * after the same.
 *
 *     SANDBASH_TEST_SEED=N       repeat a run; the seed is printed
 *     SANDBASH_TEST_ROUNDS=N     longer; each round has up to 24 sequences
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <vterm.h>

#include "base/auto.h"
#include "base/buf.h"
#include "terminal/draw.h"
#include "terminal/sieve.h"

enum { ROWS = 24, COLUMNS = 80 };

static uint64_t state_of_chance;

static unsigned chance(unsigned limit)
{
	state_of_chance = state_of_chance * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state_of_chance >> 33) % limit;
}

/* --- pictures ---------------------------------------------------------------------- */

struct picture {
	VTermScreenCell cells[ROWS][COLUMNS];
	VTermPos cursor;
};

static void feed(VTerm *terminal, const char *bytes, size_t length)
{
	while (length) {
		size_t step = length < 4096 ? length : 4096;

		vterm_input_write(terminal, bytes, step);
		bytes += step;
		length -= step;
	}
}

static VTerm *new_terminal(void)
{
	VTerm *terminal = vterm_new(ROWS, COLUMNS);

	assert_non_null(terminal);
	vterm_set_utf8(terminal, 1);
	vterm_screen_enable_altscreen(vterm_obtain_screen(terminal), 1);
	vterm_screen_reset(vterm_obtain_screen(terminal), 1);
	return terminal;
}

static void take_picture(VTerm *terminal, struct picture *out)
{
	VTermScreen *screen = vterm_obtain_screen(terminal);

	memset(out, 0, sizeof *out);
	for (int row = 0; row < ROWS; row++)
		for (int column = 0; column < COLUMNS; column++)
			vterm_screen_get_cell(screen, (VTermPos){row, column},
					      &out->cells[row][column]);
	vterm_state_get_cursorpos(vterm_obtain_state(terminal), &out->cursor);
}

static bool same_attributes(const VTermScreenCellAttrs *a, const VTermScreenCellAttrs *b)
{
	return a->bold == b->bold && a->underline == b->underline && a->italic == b->italic &&
	       a->blink == b->blink && a->reverse == b->reverse && a->strike == b->strike &&
	       a->font == b->font && a->dwl == b->dwl && a->dhl == b->dhl;
}

static bool same_cell(const VTermScreenCell *a, const VTermScreenCell *b)
{
	uint32_t first = a->chars[0] == ' ' ? 0 : a->chars[0];
	uint32_t second = b->chars[0] == ' ' ? 0 : b->chars[0];

	return first == second && a->width == b->width && same_attributes(&a->attrs, &b->attrs) &&
	       vterm_color_is_equal(&a->fg, &b->fg) && vterm_color_is_equal(&a->bg, &b->bg);
}

static bool same_picture(const struct picture *a, const struct picture *b)
{
	if (a->cursor.row != b->cursor.row || a->cursor.col != b->cursor.col)
		return false;
	for (int row = 0; row < ROWS; row++)
		for (int column = 0; column < COLUMNS; column++)
			if (!same_cell(&a->cells[row][column], &b->cells[row][column]))
				return false;
	return true;
}

static void print_picture(const struct picture *picture)
{
	for (int row = 0; row < ROWS; row++) {
		char line[COLUMNS + 1] = "";

		for (int column = 0; column < COLUMNS; column++) {
			uint32_t c = picture->cells[row][column].chars[0];

			line[column] = c >= ' ' && c < 0x7f ? (char)c : c ? '?' : ' ';
		}
		print_message("# |%s|\n", line);
	}
}

/* --- what a command writes --------------------------------------------------------- */

/* Each of these has hidden or changed a question somewhere. */
static const char *const tricks[] = {
	"\033[?1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;2l",
	"\033[?2l",
	"\033[1\"qprotected\033V also \033W\302\226x",
	"\033]10;#000000\a\033]11;#000000\a",
	"\033]4;0;#fff;7;#fff\033\\",
	"\033[3;5r\033[?6h",
	"\033[?69h\033[10;20s",
	"\033[?5h",
	"\033[4h",
	"\033[20h",
	"\033[?7l",
	"\033[8m",
	"\033[7;5;8;30;40m",
	"\033(0\033)0\016",
	"\033*0\033n",
	"\033N",
	"\033#3",
	"\033#6\n\033#4",
	"\033#8",
	"\033[?3h",
	"\033[?38h",
	"\033[?1046l",
	"\033[?47h",
	"\033[?1047h",
	"\033[?1049h",
	"\033[?1049h\033[?1049l",
	"\033[?2026h",
	"\033P=1s\033\\",
	"\033[5i",
	"\033[2$~\033[1$}",
	"\033[?25l",
	"\033[?42h\033(K",
	"\033P0;0;0;12;0;0;20;0{ @~~~\033\\",
	"\033Ptmux;\033\033[?2l\033\\",
	"\033]0;never ends",
	"\033Pq never ends",
	"\033_G never ends",
	"\033X never ends",
	"\033k never ends",
	"\033[",
	"\033[?12;25;",
	"\033",
	"\302",
	"\342\202",
	"\2332J\220\235",
	"\302\2332J\302\220q",
	"\033]52;c;\302\234\033[?2l",
	"\033]0;\033[?2l\a",
	"\033[61\"p",
	"\033[2h\033[12l",
	"\033%@",
	"\033 L",
	"\033l",
	"\033c",
	"\033[!p",
	"\0337\033[10;10H\0338",
	"\033[2 S\033[1;2 k",
	"\033]8;;http://x\a linked",
	"\033[1;1H sandbash asks you\033[22;3HPress 1, 2, 3 or 4",
	"\033[H\033[2Jx\033[99999b", /* without a letter before it, libvterm 0.1.4 hangs */
	"\033[8;3;3t",
	"\033[?9999h\033[?65538l\033[?4294967298l",
};

static void random_sequence(struct sb_buf *out)
{
	static const unsigned modes[] = {1,  2,    3,    4,    5,    6,    7,    8,   9,  12,
					 18, 25,   34,   38,   40,   42,   45,   47,  66, 69,
					 95, 1000, 1001, 1046, 1047, 1048, 1049, 2026};
	static const char finals[] = "@ABCDEFGHIJKLMPSTXZ^`acdefghijlmnpqrstuvxyz{|}~]";
	unsigned count = chance(3) ? chance(4) : chance(40);

	sb_buf_puts(out, chance(8) ? "\033[" : "\302\233");
	if (chance(2))
		sb_buf_putc(out, "?=?<>"[chance(5)]);
	for (unsigned i = 0; i < count; i++)
		sb_buf_printf(out, "%s%u", i ? chance(12) ? ";" : ":" : "",
			      chance(2) ? modes[chance(sizeof modes / sizeof modes[0])]
					: chance(90));
	if (chance(5) == 0)
		sb_buf_putc(out, " !\"#$%&'*+,-."[chance(13)]);
	if (chance(15) == 0)
		sb_buf_putc(out, "\r\n\033\030\a"[chance(5)]);
	sb_buf_putc(out, chance(2) ? "hl"[chance(2)] : finals[chance(sizeof finals - 1)]);
}

static void random_escape(struct sb_buf *out)
{
	sb_buf_putc(out, '\033');
	if (chance(2))
		sb_buf_putc(out, " #%()*+-./$"[chance(11)]);
	sb_buf_putc(out, (char)('0' + chance(0x4f)));
}

static void random_string(struct sb_buf *out)
{
	unsigned length = chance(4) ? chance(20) : chance(700);

	sb_buf_putc(out, '\033');
	sb_buf_putc(out, "]]]P_^Xk"[chance(8)]);
	if (chance(2))
		sb_buf_printf(out, "%u;", chance(20));
	for (unsigned i = 0; i < length; i++)
		sb_buf_putc(out, chance(60) ? (char)(' ' + chance(95)) : (char)chance(256));
	if (chance(4))
		sb_buf_puts(out, chance(2) ? "\a" : "\033\\");
}

static void random_bytes(struct sb_buf *out)
{
	for (unsigned i = chance(60); i; i--)
		sb_buf_putc(out, (char)(chance(3) ? ' ' + chance(95) : chance(256)));
}

static void random_output(struct sb_buf *out)
{
	for (unsigned i = 1 + chance(24); i; i--) {
		switch (chance(8)) {
		case 0:
		case 1: {
			const char *trick = tricks[chance(sizeof tricks / sizeof tricks[0])];

			sb_buf_puts(out, trick);
			break;
		}
		case 2:
		case 3:
		case 4:
			random_sequence(out);
			break;
		case 5:
			random_escape(out);
			break;
		case 6:
			random_string(out);
			break;
		default:
			random_bytes(out);
		}
	}
}

/* --- rounds ------------------------------------------------------------------------ */

static const struct sb_question question = {.id = 1,
					    .verb = "write to",
					    .path = "/home/anna/ä/漢/.ssh/authorized_keys",
					    .directory = "/home/anna/ä",
					    .program = "vim",
					    .process = 4242,
					    .project = "/home/anna/project",
					    .notes = {"who may log in without a password"},
					    .content = "ssh-rsa AAAA\n\033[2Jx\n",
					    .content_length = 19};
static const struct sb_view view = {
	.rows = ROWS, .columns = COLUMNS, .word = "maple tree", .count = 2, .colour = true};

static void draw(struct sb_buf *out)
{
	assert_true(sb_draw_question(out, &question, &view));
}

/* What reaches the terminal of output that comes in random pieces. */
static void sift(struct sb_sieve *sieve, struct sb_buf *out, const struct sb_buf *output)
{
	char buffer[2048];
	size_t held = 0;

	for (size_t at = 0; at < output->length;) {
		size_t count = 1 + chance(1000), passed;

		if (count > output->length - at)
			count = output->length - at;
		memcpy(buffer + held, output->data + at, count);
		passed = sb_sieve_run(sieve, buffer, held + count, &held);
		sb_buf_append(out, buffer, passed);
		memmove(buffer, buffer + passed, held);
		at += count;
	}
}

static void clean_picture(struct picture *out)
{
	SB_AUTO_BUF struct sb_buf sent = SB_BUF(1 << 20);
	struct sb_sieve sieve;
	VTerm *terminal = new_terminal();

	sb_sieve_init(&sieve);
	sb_modes_enter(&sieve.modes, &sent);
	draw(&sent);
	feed(terminal, sent.data, sent.length);
	take_picture(terminal, out);
	vterm_free(terminal);
}

static void check_round(const struct picture *clean, const struct sb_buf *output)
{
	SB_AUTO_BUF struct sb_buf sent = SB_BUF(1 << 20);
	struct sb_sieve sieve;
	struct picture picture;
	VTerm *terminal = new_terminal();

	sb_sieve_init(&sieve);
	sift(&sieve, &sent, output);
	sb_modes_enter(&sieve.modes, &sent);
	draw(&sent);
	assert_false(sb_buf_failed(&sent));
	feed(terminal, sent.data, sent.length);
	take_picture(terminal, &picture);
	vterm_free(terminal);
	if (same_picture(clean, &picture))
		return;
	print_picture(clean);
	print_picture(&picture);
	print_message("# output:");
	for (size_t i = 0; i < output->length; i++)
		print_message(" %02x", (unsigned char)output->data[i]);
	print_message("\n");
	fail_msg("the question looks different");
}

static unsigned long setting(const char *name, unsigned long usual)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 10) : usual;
}

static void each_trick(void **state)
{
	struct picture clean;

	(void)state;
	clean_picture(&clean);
	for (size_t i = 0; i < sizeof tricks / sizeof tricks[0]; i++) {
		SB_AUTO_BUF struct sb_buf output = SB_BUF(4096);

		sb_buf_puts(&output, tricks[i]);
		check_round(&clean, &output);
	}
}

static void random_mixtures(void **state)
{
	unsigned long seed = setting("SANDBASH_TEST_SEED", (unsigned long)time(NULL));
	unsigned long rounds = setting("SANDBASH_TEST_ROUNDS", 3000);
	struct picture clean;

	(void)state;
	print_message("# seed %lu\n", seed);
	state_of_chance = seed;
	clean_picture(&clean);
	for (unsigned long i = 0; i < rounds; i++) {
		SB_AUTO_BUF struct sb_buf output = SB_BUF(1 << 16);

		random_output(&output);
		check_round(&clean, &output);
	}
}

/* Without what holds it, the same tricks do change the picture: this test can fail. */
static void they_would_change_it(void **state)
{
	static const char
		*const some[] = {"\033[4h",
				 "\033[?5h",
				 "\033[3;5r\033[?6h",
				 "\033(0",
				 "\033[?69h\033[10;20s",
				 "\033]0;never",
				 "\033[?7l",
				 "\033P never ends"}; /* others make libvterm 0.1.4 crash */
	struct picture clean, picture;
	unsigned changed = 0;

	(void)state;
	clean_picture(&clean);
	for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
		SB_AUTO_BUF struct sb_buf sent = SB_BUF(1 << 20);
		VTerm *terminal = new_terminal();

		sb_buf_puts(&sent, some[i]);
		draw(&sent);
		feed(terminal, sent.data, sent.length);
		take_picture(terminal, &picture);
		vterm_free(terminal);
		changed += !same_picture(&clean, &picture);
	}
	assert_true(changed >= 4);
}

/* --- afterwards -------------------------------------------------------------------- */

/* What a program may rely on: it draws the same with a question in between as without. */
static void the_program_goes_on_as_before(void **state)
{
	static const char *const before[] = {
		"text\r\nmore \033[1;31mred",
		"\033[3;10r\033[5;5H",
		"\033[?6h\033[3;10r\033[2;2H",
		"\033[4h",
		"\033[?7l",
		"\033[20h",
		"\033[?5h",
		"\033(0\033)0\016",
		"\033[?69h\033[10;30s\033[4;12H",
		"\033[12;40H\033[7m",
		"\033[?25l",
	};
	static const char after[] =
		"abcdefghijklmnop\nqrstu\r\nvwxyz\b\b\bq\033[Kj\033[2;3Hlmno"
		"\r\n\n\n\n\n\n\n\n\nlast" /* scrolls, where there is a region */
		"0123456789012345678901234567890123456789012345678901234567890"
		"12345678901234567890123456789";

	(void)state;
	for (size_t i = 0; i < sizeof before / sizeof before[0]; i++)
		for (int asked = 0; asked < 2; asked++) {
			static struct picture pictures[2];
			SB_AUTO_BUF struct sb_buf output = SB_BUF(4096);
			SB_AUTO_BUF struct sb_buf sent = SB_BUF(1 << 20);
			VTerm *terminal = new_terminal();
			struct sb_sieve sieve;

			sb_sieve_init(&sieve);
			sb_buf_puts(&output, before[i]);
			sift(&sieve, &sent, &output);
			if (asked) {
				sb_modes_enter(&sieve.modes, &sent);
				draw(&sent);
				sb_modes_leave(&sieve.modes, &sent);
			}
			sb_buf_puts(&sent, after);
			feed(terminal, sent.data, sent.length);
			take_picture(terminal, &pictures[asked]);
			vterm_free(terminal);
			if (asked && !same_picture(&pictures[0], &pictures[1])) {
				print_picture(&pictures[0]);
				print_picture(&pictures[1]);
				fail_msg("after output %zu", i);
			}
		}
}

/* --- lines of ours ------------------------------------------------------------------- */

static const char *const lines[] = {"sandbash: look at it", "  'file' was changed"};

static bool is_plain(const VTermScreenCell *cell, const VTermScreenCell *blank, char letter)
{
	return (cell->chars[0] ? cell->chars[0] : ' ') == (uint32_t)letter && cell->width == 1 &&
	       same_attributes(&cell->attrs, &blank->attrs) &&
	       vterm_color_is_equal(&cell->fg, &blank->fg) &&
	       vterm_color_is_equal(&cell->bg, &blank->bg);
}

/* Do both lines stand one below the other, in plain letters and with nothing beside them? */
static bool are_seen(const struct picture *picture, const VTermScreenCell *blank)
{
	for (int row = 0; row + 1 < ROWS; row++) {
		bool seen = true;

		for (int line = 0; line < 2; line++)
			for (int column = 0; column < COLUMNS; column++)
				seen = seen && is_plain(&picture->cells[row + line][column], blank,
							column < (int)strlen(lines[line])
								? lines[line][column]
								: ' ');
		if (seen)
			return true;
	}
	return false;
}

/* Are lines seen after this output; with the sieve, or as it is?  And if nothing is done for that? */
static bool after_output(const struct sb_buf *output, bool sieved, bool held)
{
	static struct picture picture, empty;
	SB_AUTO_BUF struct sb_buf sent = SB_BUF(1 << 20);
	VTerm *terminal = new_terminal();
	struct sb_sieve sieve;

	take_picture(terminal, &empty);
	sb_sieve_init(&sieve);
	if (sieved) {
		sift(&sieve, &sent, output);
	} else {
		sb_modes_unfollowed(&sieve.modes);
		sb_buf_append(&sent, output->data, output->length);
	}
	if (held)
		sb_modes_seen(&sieve.modes, COLUMNS, &sent);
	sb_buf_printf(&sent, "%s\r\n%s\r\n", lines[0], lines[1]);
	assert_false(sb_buf_failed(&sent));
	feed(terminal, sent.data, sent.length);
	take_picture(terminal, &picture);
	vterm_free(terminal);
	return are_seen(&picture, &empty.cells[0][0]);
}

static void lines_are_seen(void **state)
{
	static const char *const raw[] = {"",
					  "\033[8m\033[30;40m",
					  "\033[4h",
					  "\033[3;5r\033[4;1H",
					  "\033(0",
					  "\033)0\016",
					  "\033[?69h\033[10;20s",
					  "\033]0;never ends",
					  "\033P never ends",
					  "\033[?7l\033[99G",
					  "\033[?1049h\033[5;5H",
					  "no end",
					  "\r\n\n\033[40Cbeside\r\033[2A",
					  "\033[24;1Hlast row"};
	unsigned blinded = 0;

	(void)state;
	for (size_t i = 0; i < sizeof raw / sizeof raw[0]; i++) {
		SB_AUTO_BUF struct sb_buf output = SB_BUF(4096);

		sb_buf_puts(&output, raw[i]);
		if (!after_output(&output, false, true) || !after_output(&output, true, true))
			fail_msg("after output %zu", i);
		blinded += !after_output(&output, false, false);
	}
	if (blinded < 8) /* it can fail */
		fail_msg("%u outputs change something", blinded);
	for (size_t i = 0; i < sizeof tricks / sizeof tricks[0]; i++) {
		SB_AUTO_BUF struct sb_buf output = SB_BUF(4096);

		sb_buf_puts(&output, tricks[i]);
		if (!after_output(&output, true, true))
			fail_msg("after trick %zu", i);
	}
	for (unsigned long i = setting("SANDBASH_TEST_ROUNDS", 1000); i; i--) {
		SB_AUTO_BUF struct sb_buf output = SB_BUF(1 << 16);
		unsigned long long seed = state_of_chance;

		random_output(&output);
		if (!after_output(&output, true, true))
			fail_msg("after what chance has in state %llu", seed);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(each_trick),           cmocka_unit_test(random_mixtures),
	cmocka_unit_test(they_would_change_it), cmocka_unit_test(the_program_goes_on_as_before),
	cmocka_unit_test(lines_are_seen),
};

UNIT_MAIN("screen")
