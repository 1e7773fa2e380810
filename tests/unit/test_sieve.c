/* test_sieve.c - what reaches the terminal: programs' sequences whole, everything else not at all. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "terminal/sieve.h"

/* What passes of bytes that come in pieces of so many. */
static struct sb_sieve sift(struct sb_buf *out, const char *bytes, size_t length, size_t piece)
{
	char buffer[8192];
	struct sb_sieve sieve;
	size_t held = 0;

	assert_true(piece + SB_SIEVE_HOLD + 2 < sizeof buffer);
	sb_sieve_init(&sieve);
	for (size_t at = 0; at < length; at += piece) {
		size_t count = length - at < piece ? length - at : piece, passed;

		memcpy(buffer + held, bytes + at, count);
		passed = sb_sieve_run(&sieve, buffer, held + count, &held);
		assert_true(held <= SB_SIEVE_HOLD + 2);
		sb_buf_append(out, buffer, passed);
		memmove(buffer, buffer + passed, held);
	}
	return sieve;
}

static void becomes(const char *bytes, const char *expected)
{
	size_t length = strlen(bytes);

	for (size_t piece = 1; piece <= length; piece += 1 + length / 100) {
		SB_AUTO_BUF struct sb_buf out = SB_BUF(64 * 1024);

		sift(&out, bytes, length, piece);
		if (out.length != strlen(expected) || memcmp(out.data, expected, out.length) != 0)
			fail_msg("in pieces of %zu, %s becomes %s, not %s", piece, bytes, out.data,
				 expected);
	}
}

static void passes(const char *bytes)
{
	becomes(bytes, bytes);
}

static void what_programs_send(void **state)
{
	static const char *const texts[] = {
		"plain text\r\n\ttabs\b\a\f\v",
		"ä€😀 漢字 \302\240",
		"\033[31m\033[1;38;5;123;48;2;1;2;3m\033[4:3m\033[38:2::1:2:3m\033[m",
		"\033[H\033[2J\033[3J\033[K\033[1K\033[5;10H\033[5A\033[3B\033[C\033[D\033[10G\033[3d",
		"\033[3@\033[2P\033[4X\033[2L\033[2M\033[3S\033[3Tx\033[5b\033[2Z\033[3I",
		"\033[2;20r\033[r\033[s\033[u\0337\0338\033D\033E\033M\033H\033[g\033[3g",
		"\033[?1049h\033[?1049l\033[?25l\033[?25h\033[?12l\033[?1h\033=\033>\033[?7l",
		"\033[?1000;1002;1006h\033[?1003h\033[?1004h\033[?2004h\033[?2026h\033[?2026l",
		"\033[34h\033[34l\033[?7727h\033[?69h\033[3;40s\033[4h\033[4l\033[?5h\033[?6h\033[?1034h\033[?9001h",
		"\033[c\033[>c\033[=c\033[6n\033[5n\033[?6n\033[?996n\033[?2026$p\033[4$p\033[>q",
		"\033[>4;2m\033[>4m\033[?4m\033[>4n\033[?u\033[>1u\033[<u\033[=5;1u", /* keys */
		"\033[18t\033[14t\033[22;0;0t\033[23;0;0t\033[8;24;80t\033[2 q\033[!p\033c",
		"\033[32;1;1;5;5$x\033[1;1;5;5$z\033[1;1;2;2;1;3;3;1$v", /* tmux fills so */
		"\033(0lqk\033(B\033)0\016x\017\033*B\033+B\033%G",
		"\033]0;title\a\033]2;title\033\\\033]7;file:///x\033\\\033]133;A\033\\",
		"\033]8;id=1;http://x\033\\link\033]8;;\033\\\033]52;c;QUFB\a",
		"\033]10;?\033\\\033]11;?\a\033]4;1;?\a\033]4;1;?;2;?\a\033]12;#ff0000\a\033]112\a",
		"\033]104\a\033]110\a\033]9;done\a\033]9;4;1;50\a\033]777;notify;a;b\a\033]22;text\a",
		"\033]1337;File=inline=1:QUFB\a\033]1337;SetMark\a\033]50;CursorShape=1\a",
		"\033]633;A\a\033]99;i=1;x\033\\",
		"\033P0;0;0q#0;2;0;0;0#0~~@@vv$-\033\\", /* sixel */
		"\033P$qm\033\\\033P+q544e\033\\",
		"\033_Ga=T,f=24,s=1,v=1;AAAA\033\\\033_Ga=T,t=d,q=2;AAAA\033\\", /* kitty */
		"\033]5522;type=write\033\\",
		"\033ktitle\033\\",
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		passes(texts[i]);
}

static const char *const dropped[] = {
	"\033]52;c;?\a", /* the clipboard */
	"\033]5522;type=read;dGV4dA==\033\\",
	"\033_Ga=T,t=f;L2V0Yy9wYXNzd2Q=\033\\", /* files and shared memory outside */
	"\033_Gt=s,a=q;AAAA\033\\",
	"\033_Ga=q,t=d,t=t;AAAA\033\\",
	"\033]1337;File=name=eA==;inline=0:QUFB\a", /* kept by the terminal */
	"\033]1337;File=inline=1;inline=0:QUFB\a",
	"\033]1337;File=name=eA==:QUFB\a",
	"\033[?2l",
	"\033[?3h",
	"\033[?38h",
	"\033[?42h",
	"\033[?46h",
	"\033[?1001h",
	"\033[?1046l",
	"\033[?34h",
	"\033[?2500h",
	"\033[?65538h",
	"\033[?4294967298l",
	"\033[2h",
	"\033[12l",
	"\033[8h",
	"\033[5i",
	"\033[?5i",
	"\033[4i",
	"\033[1$}",
	"\033[2$~",
	"\033[1\"q",
	"\033[61\"p",
	"\033[#P",
	"\033[#Q",
	"\033[*y",
	"\033[1*x",
	"\033[1;2 k",
	"\033[2 S",
	"\033[12;1]",
	"\033[?1049s",
	"\033[?47r",
	"\033[>2t",
	"\033[>0;1m",
	"\033[1;1;1;1;1T",
	"\033[21t",
	"\033[3;0;0t",
	"\033[30t",
	"\033[?1;3;2S",
	"\033[1;2'z",
	"\033[1:2h",
	"\033[?1:2h",
	"\033[1<2m",
	"\033V",
	"\033W",
	"\033<",
	"\033N",
	"\033O",
	"\033n",
	"\033o",
	"\033|",
	"\033}",
	"\033~",
	"\033l",
	"\033m",
	"\033#3",
	"\033#6",
	"\033#8",
	"\033 G",
	"\033 L",
	"\033%@",
	"\033(K",
	"\033-A",
	"\033( B",
	"\0336",
	"\033F",
	"\033\\",
	"\302\226",
	"\302\227",
	"\302\216",
	"\302\217",
	"\302\200",
	"\033]10;#000\a",
	"\033]11;black;white\a",
	"\033]10;?;red\a",
	"\033]4;1;#000\a",
	"\033]4;1;?;2;red\a",
	"\033]5;0;red\a",
	"\033]12;red;blue\a",
	"\033]17;red\a",
	"\033]21;foreground=red\033\\",
	"\033]50;nil2\a",
	"\033]3;x=y\a",
	"\033]46;/x\a",
	"\033]51;Ex\a",
	"\033]1337;SetColors=fg=000\a",
	"\033]1337;SetProfile=x\a",
	"\033]9;7;\"x\"\a",
	"\033]9;\0017;\"x\"\a",
	"\033]1\0020;red\a",
	"\033P\001tmux;\033\\",
	"\033]66;s=2;x\a",
	"\033]P0000000",
	"\033]R",
	"\033];x\a",
	"\033]l\033\\",
	"\033]7770;1\a",
	"\033Ptmux;x\033\\",
	"\033P@kitty-cmd{}\033\\",
	"\033P1000p\033\\",
	"\033P1;1|17/61\033\\",
	"\033P0;0;0{ @~~\033\\",
	"\033P1$t2\033\\",
	"\033P=1s\033\\",
	"\033P+p544e=1\033\\",
	"\033P0;0;0!zx\033\\",
	"\033Pp[1,1]\033\\",
	"\033^x\033\\",
	"\033Xx\033\\",
	"\033_x\033\\",
	"\302\237x\033\\",
	"\005",
	"\001",
	"\020\021\022\023",
	"\034\035\036\037",
	"\177",
};

static void what_they_do_not(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof dropped / sizeof dropped[0]; i++)
		becomes(dropped[i], "");
	becomes("\033[?2;25l", "\033[?25l");
	becomes("\033[?25;2;001049;38h", "\033[?25;1049h");
	becomes("\033[4;2h", "\033[4h");
	becomes("a\033[?\nb", "a\nb");
	becomes("\033[[A", "A");
	becomes("x\033[5b\033[5b\r\033[5b", "x\033[5b\r");
	becomes("\033c\033]Rtext\033]P0123abctext", "\033ctexttext");
	becomes("a\033[12\033[31mb", "a\033[31mb");
	becomes("\033\033[31m", "\033[31m");
	becomes("\302\23331m\302\2350;t\302\234\302\205", "\033[31m\033]0;t\033\\\033E");
	becomes("a\233?2l\220\234", "a??2l??"); /* controls of one byte */
	becomes("\344\366\374", "???");         /* letters of one byte */
	becomes("\342\202x\300\233\340\200\233", "??x?????");
	/* Strings: no control inside, and an end that all terminals take for one. */
	becomes("\033]0;a\nb\001c\a", "\033]0;abc\a");
	becomes("\033]0;a\030b", "\033]0;a\ab");
	becomes("\033]0;a\302\234b", "\033]0;a\033\\b");
	becomes("\033]0;a\302\233b\a", "\033]0;ab\a");
	becomes("\033]1\033\0010;red\ab", "\033]1\033\\0;red\ab");
	becomes("\033]1\033\0330;red\ab", "\033]1\033\\;red\ab");
	becomes("\033]0;a\033[?25hb", "\033]0;a\033\\b");
	becomes("\033Pq~\030~\a~\033[?2lb", "\033Pq~~~\033\\b");
	becomes("\033Pq~\033]0;x\ab", "\033Pq~\033\\b");
	becomes("\033Ptmux;\033\033]0;x\a\033\\b", "\033]0;x\ab");
}

/* One parameter too many for some terminals; more bytes than we hold. */
static void overlong_sequences(void **state)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(64 * 1024);

	(void)state;
	sb_buf_puts(&text, "a\033[?");
	for (int i = 0; i < 16; i++)
		sb_buf_puts(&text, "25;");
	sb_buf_puts(&text, "2lb");
	becomes(text.data, "ab");
	for (size_t count = 1; count < 2000; count += 61) {
		text.length = 0;
		sb_buf_puts(&text, "a\033[?2");
		for (size_t i = 0; i < count; i++)
			sb_buf_putc(&text, i % 50 == 49 ? ' ' : ';');
		sb_buf_puts(&text, "lb");
		becomes(text.data, "ab");
		text.length = 0;
		sb_buf_puts(&text, "a\033[1");
		for (size_t i = 0; i < count; i++)
			sb_buf_puts(&text, ";1");
		sb_buf_puts(&text, "\033[mb");
		becomes(text.data, "a\033[mb");
	}
}

/* Whatever is in it, a long string flows, and its end is found. */
static void long_strings_flow(void **state)
{
	static const char *const begin[] = {"\033Pq", "\033_Gm=1;", "\033]52;c;",
					    "\033]1337;File=inline=1:"};

	(void)state;
	for (size_t i = 0; i < sizeof begin / sizeof begin[0]; i++) {
		SB_AUTO_BUF struct sb_buf text = SB_BUF(64 * 1024);
		SB_AUTO_BUF struct sb_buf out = SB_BUF(64 * 1024);
		struct sb_sieve sieve;

		sb_buf_puts(&text, begin[i]);
		for (int n = 0; n < 20000; n++)
			sb_buf_putc(&text, (char)('@' + n % 60));
		sieve = sift(&out, text.data, text.length, 1000);
		assert_true(sb_sieve_inside(&sieve));
		assert_int_equal(out.length, text.length);
		out.length = 0;
		sb_buf_puts(&text, "\033\\after");
		sieve = sift(&out, text.data, text.length, 1000);
		assert_false(sb_sieve_inside(&sieve));
		assert_string_equal(out.data, text.data);
	}
	/* and one that must be seen whole does not */
	{
		SB_AUTO_BUF struct sb_buf text = SB_BUF(64 * 1024);

		sb_buf_puts(&text, "\033]10;");
		for (int n = 0; n < 600; n++)
			sb_buf_puts(&text, "?;");
		sb_buf_puts(&text, "red\ab");
		becomes(text.data, "b");
	}
	{
		SB_AUTO_BUF struct sb_buf text = SB_BUF(64 * 1024);

		sb_buf_puts(&text, "\033]52;");
		for (int n = 0; n < 600; n++)
			sb_buf_putc(&text, 'c');
		sb_buf_puts(&text, ";?\ab");
		becomes(text.data, "b");
	}
}

static void what_was_cut_off_is_dropped(void **state)
{
	char buffer[1024] = "\033Pq";
	struct sb_sieve sieve;
	size_t held;

	(void)state;
	memset(buffer + 3, '~', 500);
	sb_sieve_init(&sieve);
	assert_int_equal(sb_sieve_run(&sieve, buffer, 503, &held), 503);
	sb_sieve_cut(&sieve);
	assert_false(sb_sieve_inside(&sieve));
	memcpy(buffer, "~~~~\033\\x", 7);
	assert_int_equal(sb_sieve_run(&sieve, buffer, 7, &held), 1);
	assert_int_equal(buffer[0], 'x');
}

/* However it is cut, the same comes out; and what came out comes out of it again. */
static void any_cut_gives_the_same(void **state)
{
	unsigned seed = 1;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		static const char pieces[] = "\033\033\033[[]P_k\\\a\302\233\235\234;;?>!$q0123h"
					     "lmrsu\342\202\254\030\032 \nx\"(B#i\200\377";
		char text[96];
		SB_AUTO_BUF struct sb_buf whole = SB_BUF(4096);
		SB_AUTO_BUF struct sb_buf again = SB_BUF(4096);
		struct sb_sieve first;

		for (size_t i = 0; i < sizeof text; i++) {
			seed = seed * 1103515245u + 12345u;
			text[i] = pieces[(seed >> 16) % (sizeof pieces - 1)];
		}
		first = sift(&whole, text, sizeof text, sizeof text);
		for (size_t piece = 1; piece < 7; piece++) {
			SB_AUTO_BUF struct sb_buf out = SB_BUF(4096);
			struct sb_sieve sieve = sift(&out, text, sizeof text, piece);

			assert_int_equal(sieve.state, first.state);
			assert_int_equal(sieve.modes.on, first.modes.on);
			assert_int_equal(out.length, whole.length);
			assert_memory_equal(out.data, whole.data, whole.length);
		}
		first = sift(&again, whole.data, whole.length, 64);
		if (!sb_sieve_inside(&first) && first.state == SB_SIEVE_TEXT)
			assert_memory_equal(again.data, whole.data, again.length);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(what_programs_send),          cmocka_unit_test(what_they_do_not),
	cmocka_unit_test(overlong_sequences),          cmocka_unit_test(long_strings_flow),
	cmocka_unit_test(what_was_cut_off_is_dropped), cmocka_unit_test(any_cut_gives_the_same),
};

UNIT_MAIN("sieve")
