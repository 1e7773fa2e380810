/*
 * test_preview.c - C7: what commands would do, as a table; and that long and deep ones stay bounded.
 *
 * Answers in short: R C M D V for read, create, modify, delete and move; "!" certain, "?" possible, "~" unknown; the
 * path, in the project as it stands there.  Then "| programs", "@" and the network where it is not "no", "$" and what
 * is unknown.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "sandbash/preview.h"
#include "shell/models.h"

static const char *const variables[] = {"A=a.txt", "D=dir", "E=", "GLOB=*.c", NULL};

static void put_path(struct sb_buf *out, const char *path)
{
	sb_buf_puts(out, strncmp(path, "/p/", 3) == 0 ? path + 3 : path);
}

static void put_preview(const struct sb_preview *preview, struct sb_buf *out)
{
	for (size_t i = 0; i < preview->file_count; i++) {
		const struct sb_preview_file *file = &preview->files[i];

		sb_buf_printf(out, "%s%c%c", i ? " " : "", "RCMDV"[file->act],
			      "!?~"[file->certainty]);
		put_path(out, file->path);
	}
	for (size_t i = 0; i < preview->program_count; i++)
		sb_buf_printf(out, "%s%s", i ? "," : " | ", preview->programs[i]);
	if (preview->network != SB_PREVIEW_OFFLINE)
		sb_buf_printf(out, " @%s", sb_preview_network_name(preview->network));
	for (size_t i = 0; i < preview->unknown_count; i++)
		sb_buf_printf(out, "%s%s", i ? ", " : " $ ", preview->unknown[i]);
}

static struct sb_preview *preview_of(const char *command, size_t length)
{
	const struct sb_preview_options options = {
		.size = sizeof options, .directory = "/p", .home = "/h", .environment = variables};
	struct sb_preview *preview = NULL;
	struct sb_error err;

	assert_int_equal(SB_OK, sb_preview(command, length, &options, &preview, &err));
	return preview;
}

struct row {
	const char *command, *means;
};

static void check(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct sb_preview *preview = preview_of(rows[i].command, strlen(rows[i].command));
		SB_AUTO_BUF struct sb_buf out = SB_BUF(1 << 20);

		put_preview(preview, &out);
		if (strcmp(out.data, rows[i].means) != 0)
			print_error("%s\n", rows[i].command);
		assert_string_equal(out.data, rows[i].means);
		sb_preview_free(preview);
	}
}

#define CHECK(rows) check(rows, sizeof(rows) / sizeof(rows)[0])

static void redirections(void **state)
{
	static const struct row rows[] = {
		{"", ""},
		{"echo > f", "C!f"},
		{"echo >> f", "M!f"},
		{"echo >| f 2> g", "C!f C!g"},
		{"echo &> f", "C!f"},
		{"echo &>> f", "M!f"},
		{"echo >& f", "C!f"},
		{"echo <> f", "M!f"},
		{"cat < f", "R!f | cat"},
		{"echo 2>&1 >&- <&3 3>&1-", ""},
		{"{fd}> f", "C!f"},
		{"> f", "C!f"},
		{"> /dev/null 2> /dev/stderr", ""},
		{"echo > /dev/tcp/h/80", "C!/dev/tcp/h/80 @yes"},
		{"echo > $RANDOM", "C~$RANDOM"},
		{"echo > *.x", "C?*.x"},
		{"cat <<< $(rm a)", "D!a | rm,cat"},
		{"cat <<E\n$(rm a)\nE\nrm b", "D!a D!b | rm,cat"},
		{"cat <<'E'\n$(rm a)\nE", " | cat"},
		{"cat <<-E\n\tx\n\tE\n", " | cat"},
		{"cat <<A <<B\n$(rm a)\nA\n`rm b`\nB", "D!a D!b | rm,cat"},
		{"{ echo; } > f", "C!f"},
		{"( rm a ) < g", "R!g D!a | rm"},
		{"while false; do :; done < f > g", "R!f C!g"},
		{"cat <(rm a) > >(tee b)", "D?a C?b | rm,tee,cat"},
		{"rm a > \"f g\"'h'\\ i", "C!f gh i D!a | rm"},
	};

	(void)state;
	CHECK(rows);
}

static void words(void **state)
{
	static const struct row rows[] = {
		{"rm \"$A\" $A ${A} ${A%.txt}.c ${A##*.}", "D!a.txt D!a.c D!txt | rm"},
		{"rm $D/x \"$D\"/y '$D'", "D!dir/x D!dir/y D!$D | rm"},
		{"rm ~ ~/x \"~\" $HOME ~other", "D!/h D!/h/x D!~ D~~other | rm"},
		{"rm $GLOB \"$GLOB\"", "D?*.c D!*.c | rm"},
		{"rm {a,b{1,2}} x{1..3} {a} {a,$D}",
		 "D!a D!b1 D!b2 D!x1 D!x2 D!x3 D!{a} D!dir | rm"},
		{"rm $'a\\x41\\n' $\"q\"", "D!aA\n D!q | rm"},
		{"rm ${E:-d} ${E-e} ${A:+alt} ${N:=x} $N", "D!d D!alt D!x | rm"},
		{"x=1; x=$x/2; rm $x", "D!1/2 | rm"},
		{"x='a b'; rm $x \"$x\"", "D!a D!b D!a b | rm"},
		{"x=$(cmd); rm \"$x\"", "D~\"$x\" | cmd,rm @unknown $ cmd, \"$x\""},
		{"rm $(pwd)/x $PWD/y", "D!x D!y | rm"},
		{"read x; rm f$x", "D~f$x | rm $ f$x"},
		{"IFS=:; x=a:b; rm $x", "D~$x | rm $ $x"},
		{"rm [ab] 'a*' a\\* @(a|b) a?", "D?[ab] D!a* D?* D?a? | rm"},
		{"x=(a b); rm ${x[0]}", "D~${x[0]} | rm $ ${x[0]}"},
		{"rm a/./b//c a/../b ../q /x/../y", "D!a/b/c D?b D!/q D?/y | rm"},
		{"set -- a b; rm $1 \"$@\"; shift; rm -r $1", "D!a D!b | rm"},
		{"rm $((1+1))", "D~$((1+1)) | rm $ $((1+1))"},
		{"rm \"\"", " | rm"},
		{"rm \\\na\\\nb", "D!ab | rm"},
		{"rm a # b\nrm c#d", "D!a D!c#d | rm"},
	};

	(void)state;
	CHECK(rows);
}

/* ${x#pattern}: a pattern within quotes, too, unless its own quotes say otherwise. */
static void cuts(void **state)
{
	static const struct row rows[] = {
		{"p=/x/y/z; touch \"${p##*/}.w\" ${p##*/}.v", "C!z.w C!z.v | touch"},
		{"echo > \"out/${PWD##*/}\"", "C!out/p"},
		{"p=a/b; rm \"${p%/*}\" \"${p%'/*'}.1\" \"${p%\"/*\"}.2\" \"${p%/\\*}.3\"",
		 "D!a D!a/b.1 D!a/b.2 D!a/b.3 | rm"},
		{"s='*/'; p=a/b; rm \"${p#$s}\" ${p#$s}.1 \"${p#\"$s\"}.2\"",
		 "D!b D!b.1 D!a/b.2 | rm"},
		{"p=/h/x; rm \"${p#~/}\"", "D!x | rm"},
		{"rm \"${E:-*.c}\"", "D!*.c | rm"},
		{"y=aab; rm ${y##+(a)}_e", "D~${y##+(a)}_e | rm $ ${y##+(a)}_e"},
		{"y=' b'; rm \"${y##[[:space:]]}\"",
		 "D~\"${y##[[:space:]]}\" | rm $ \"${y##[[:space:]]}\""},
		{"x='*.o'; echo > $x", "C?*.o"},
	};

	(void)state;
	CHECK(rows);
}

static void flow(void **state)
{
	static const struct row rows[] = {
		{"rm a; rm b & rm c", "D!a D?b D!c | rm"},
		{"rm a && rm b", "D!a D!b | rm"},
		{"rm a || rm b", "D!a D?b | rm"},
		{"test -f a && rm a", "D?a | rm"},
		{"true && rm a; false && rm b; true || rm c; false || rm d", "D!a D!d | rm"},
		{"make && rm a", "D?a | make,rm @unknown $ make"},
		{"make; rm a", "D!a | make,rm @unknown $ make"},
		{"! rm a && rm b", "D!a D?b | rm"},
		{"if test -f a; then rm a; elif rm b; then rm c; else rm d; fi",
		 "D?a D?b D?c D?d | rm"},
		{"if true; then rm a; else rm b; fi", "D!a | rm"},
		{"for f in a b; do rm $f; done", "D!a D!b | rm"},
		{"for f in a b; do touch $f; cd d; done", "C!a C!d/b C?b | touch"},
		{"cd d && true; touch a", "C!d/a C?a | touch"},
		{"for f in *.c; do mv $f ${f%.c}.o; done",
		 "V?*.c C?*.o C?*.o/** V?*.o C?*.o/*.c | mv"},
		{"for f in $RANDOM; do rm a; done", "D?a | rm"},
		{"for f in a b; do test $f && break; rm $f; done", "D?a D?b | rm"},
		{"for f in a b; do rm $f; break; done; rm c", "D!a D?b D!c | rm"},
		{"for i in 1 2; do for j in x y; do touch $i$j; break 2; done; done; rm c",
		 "C!1x C?2x D!c | touch,rm"},
		{"for i in 1 2; do for j in x y; do continue 2; done; touch o$i; done", ""},
		{"for i in 1 2; do while a; do break 9; done; rm $i; done; rm c",
		 "D?1 D?2 D!c | a,rm @unknown $ a"},
		{"read N; for i in 1; do for j in x; do break $N; done; rm a; done; rm c",
		 "D?a D!c | rm"},
		{"while read f; do rm \"$f\"; done < l", "R!l D~\"$f\" | rm $ \"$f\""},
		{"i=1; while test $i; do rm f$i; i=2; done", "D~f$i | rm $ f$i"},
		{"while true; do rm a; done", "D!a | rm"},
		{"case $A in a*) rm a;; *) rm b;; esac", "D?a D?b | rm"},
		{"f() { rm \"$1\"; }; f a; f b", "D!a D!b | rm"},
		{"function f { local x=1; cd d; }; x=2; f; rm $x", "D!d/2 D?2 | rm"},
		{"f() { f; }; f", " @unknown $ f"},
		{"(cd d; rm a); rm b", "D!d/a D?a D!b | rm"},
		{"cd d | rm a; rm b", "D!a D!b | rm"},
		{"cd d && rm a; cd ..; rm b; cd - ; rm c",
		 "D!d/a D!b D?d/b D~b D!d/c D?c D~c | rm"},
		{"cd d; rm ../a", "D?a D?/a | rm"},
		{"cd $RANDOM; rm a /b", "D~a D!/b | rm $ $RANDOM"},
		{"cd; rm a", "D!/h/a D?a | rm"},
		{"test x && cd d; rm a", "D~a | rm"},
		{"exit; rm a", ""},
		{"x=1 > y || rm a; : > z && rm b", "C!y D?a C!z D!b | rm"},
		{"exit > x; rm a", "C!x D?a | rm"},
		{"test a || exit; rm b", "D?b | rm"},
		{"cd d || exit; rm b", "D!d/b | rm"},
		{"cd d && rm a && rm b", "D!d/a D!d/b | rm"},
		{"cd d; rm a /b *.c", "D!d/a D?a D!/b D?d/*.c D?*.c | rm"},
		{"rm a && cd d; rm b", "D!a D!d/b D?b | rm"},
		{"set -e; cd d; rm a", "D!d/a | rm"},
		{"if cd d; then rm a; fi", "D?d/a | rm"},
		{"cd d; cd e && rm a", "D!d/e/a D~a | rm"},
		{"cd d; cd /e && rm a", "D!/e/a | rm"},
		{"cd d; env -C e rm a; env -C /e rm b", "D!d/e/a D~a D!/e/b | env,rm"},
		{"cd d; rm $PWD/a", "D~$PWD/a | rm $ $PWD/a"},
		{"test a && cd /d; rm b", "D~b | rm"},
		{"cd d || rm a; rm b", "D?a D!d/b D?b | rm"},
		{"rm a && cd d || rm b", "D!a D?b | rm"},
		{"cd d && rm a || rm b; rm c", "D!d/a D~b D!d/c D?c | rm"},
		{"cd d && rm a || cd e; rm c", "D!d/a D~c | rm"},
		{"cd d && make || exit; rm b", "D?d/b | make,rm @unknown $ make"},
		{"! cd d && rm a", "D~a | rm"},
		{"x=a && rm $x & rm b$x", "D?a D!b | rm"},
		{"cd d && rm a & rm b", "D?d/a D!b | rm"},
		{"set -e; grep x f; rm a", "R!f D?a | grep,rm"},
		{"((x=1)); [[ -f a && $(rm b) ]]; rm $x", "D!b D~$x | rm $ $x"},
		{"coproc rm a", "D?a | rm"},
		{"select x in a; do rm b $x; done", "D?b D~$x | rm $ $x"},
		{"$RANDOM a; rm b", "D~b | rm @unknown $ $RANDOM a"},
		{". ./x; rm a", "R!x D~a | rm @unknown $ . ./x"},
		{"alias rm=ls; rm /a", "D?/a | rm $ alias"},
		{"PATH=.; rm a", "D?a | rm"},
	};

	(void)state;
	CHECK(rows);
}

/* Variables before a command, those that change what is assigned, and those that steer others. */
static void variables_of_commands(void **state)
{
	static const struct row rows[] = {
		{"CDPATH=src cd sub; touch x; rm /y", "C~x D!/y | touch,rm"},
		{"CDPATH=src cd ./sub && touch x", "C!sub/x | touch"},
		{"CDPATH=$(a) cd sub && touch x", "C~x | a,touch @unknown $ a"},
		{"CDPATH=src true; cd sub && touch x", "C!sub/x | touch"},
		{"HOME=/k cd && touch x; rm ~/y", "C!/k/x D!/h/y | touch,rm"},
		{"A=b touch $A; rm $A", "C!a.txt D!a.txt | touch,rm"},
		{"A=b bash -c 'touch $A'", "C~$A | bash,touch $ $A"},
		{"IFS=: read x; y='a b'; rm $y", "D!a D!b | rm"},
		{"PATH=x rm a; rm b", "D?a D!b | rm"},
		{"BASH_ENV=f bash -c 'rm a'; rm b", "D~a D!b | bash,rm @unknown $ BASH_ENV"},
		{"export BASH_ENV=f; bash -c :", " | bash @unknown $ BASH_ENV"},
		{"BASH_ENV= bash -c 'rm a'; BASH_ENV=f sh -c 'rm b'", "D!a D!b | bash,rm,sh"},
		{"env BASH_ENV=f bash -c :", " | env,bash @unknown $ BASH_ENV"},
		{"declare -i n=3+4; touch n$n", "C~n$n | touch $ n$n"},
		{"declare -u U; U=up; touch $U; rm x", "C~$U D!x | touch,rm $ $U"},
		{"declare -l \"L=UP\"; touch $L", "C~$L | touch $ $L"},
		{"declare -x v=a; touch $v; declare -i i=1; unset i; i=b; touch $i",
		 "C!a C!b | touch"},
		{"x=a; declare -n r=x; r=b; touch $x", "C~$x | touch $ $x"},
	};

	(void)state;
	CHECK(rows);
}

/* What runs later: with the variables and the directory of then. */
static void traps(void **state)
{
	static const struct row rows[] = {
		{"trap 'rm -rf \"$x\"' EXIT; x=src", "D?src | rm"},
		{"x=build; c() { rm $x; }; trap c EXIT; x=src", "D?src | rm"},
		{"trap c EXIT; c() { rm a; }", "D?a | rm"},
		{"trap 'touch x' EXIT; cd src", "C?src/x | touch"},
		{"trap 'touch x' 0; cd src; echo > f", "C!src/f C?f C?src/x C?x | touch"},
		{"trap 'rm a' EXIT; trap - EXIT", ""},
		{"A=b trap 'rm $A' EXIT", "D~$A | rm $ $A"},
		{"trap 'rm a' EXIT; trap 'rm b' EXIT", "D?b | rm"},
		{"trap 'rm a' EXIT; test x && trap - EXIT", "D?a | rm"},
		{"(trap 'rm $x' EXIT; x=a); x=b; y=$(trap 'rm $x' EXIT; x=c); trap 'rm $x' EXIT & x=d",
		 "D?a D?c D?b | rm"},
		{"trap 'rm $x' EXIT; x=a; if b; then x=c; exit; fi; x=d",
		 "D?c D?d | b,rm @unknown $ b"},
		{"trap 'rm a; exit 1' EXIT; exit", "D?a | rm"},
		{"bash -c 'trap \"rm b\" EXIT; cd s'", "D?s/b | bash,rm"},
		{"set -e; x=a; trap 'rm $x' EXIT; x=b", "D?b D~$x | rm $ $x"},
		{"trap 'touch $x' DEBUG; x=a; x=b", "C~$x | touch $ $x"},
		{"x=a; trap 'touch $x' INT", "C?a | touch"},
		{"trap 'touch y' USR1; cd s", "C?y C~y | touch"},
		{"x=a; trap 'x=b' DEBUG; touch $x", "C~$x | touch $ $x"},
		{"read x; trap \"$x\" EXIT", " @unknown $ \"$x\", \"$x\" EXIT"},
		{"f() { trap 'rm $1' RETURN; }; f a", "D?a | rm"},
	};

	(void)state;
	CHECK(rows);
}

static void programs(void **state)
{
	static const struct row rows[] = {
		{"cp -b a b/", "R!a C?b/a.~*~ C?b/a~ C!b/a | cp"},
		{"cp --backup=numbered a b/", "R!a C?b/a.~*~ C!b/a | cp"},
		{"cp --backup=t -S .z a b/", "R!a C?b/a.~*~ C!b/a | cp"},
		{"cp --backup=simple --suffix=.sv a b/", "R!a C?b/a.sv C!b/a | cp"},
		{"mv -S .zz a b/", "V!a C?b C?b/a.~*~ C?b/a.zz C?b/a | mv"},
		{"VERSION_CONTROL=numbered cp -b a b/", "R!a C?b/a.~*~ C!b/a | cp"},
		{"export SIMPLE_BACKUP_SUFFIX=.o; install -b a b/",
		 "R!a C?b/a.~*~ C?b/a.o C!b/a | install"},
		{"cp -bT a b", "R!a C!b C?b.~*~ C?b~ | cp"},
		{"read s; cp --backup=off -S \"$s\" a b/", "R!a C?b/a* C!b/a | cp"},
		{"ln -sb x/y", "C!y C?y.~*~ C?y~ | ln"},
		{"curl -o s/f --output-dir out http://h/x", "C!out/s/f | curl @yes"},
		{"curl -o /dev/null --output-dir out http://h/x", "C?out/dev/null | curl @yes"},
		{"curl -o /dev/null http://h/x", " | curl @yes"},
		{"cp -P a b", "R!a C?b C?b/a | cp"},
		{"cp --parents a/b c", "R!a/b C?c/** | cp"},
		{"cp a b", "R!a C?b C?b/a | cp"},
		{"cp a b/", "R!a C!b/a | cp"},
		{"cp a b c", "R!a R!b C!c/a C!c/b | cp"},
		{"cp -T a b; cp -t d a x/y", "R!a C!b R!x/y C!d/a C!d/y | cp"},
		{"cp --target-directory=d a", "R!a C!d/a | cp"},
		{"cp -n a b/", "R?a C?b/a | cp"},
		{"cp --strange a b/", "R?a C?b/a | cp $ --strange"},
		{"cp $X b/", " | cp"},
		{"cp *.c", "C?*.c C?*.c/** | cp"},
		{"mv a b/ && mv c .", "V!a C?b C?b/a V!c C!c | mv"},
		{"rm -rf d *.o -- -x", "D!d D?*.o D!-x | rm"},
		{"rm -i a", "D?a | rm"},
		{"rm --help", " | rm"},
		{"ln -s ../t/x; ln -sf a b", "C!x C?b C?b/a | ln"},
		{"mkdir a; mkdir -p b/c; rmdir d", "C!a C?b/c C?b D!d | mkdir,rmdir"},
		{"touch a; touch -c b", "C!a M?b | touch"},
		{"tee a | tee -a b", "C!a M!b | tee"},
		{"dd if=a of=b bs=1", "R!a C!b | dd"},
		{"install -m 755 a b/; install -d c", "R!a C!b/a C?c | install"},
		{"sed -i s/a/b/ f; sed -i.bak -e 1d g; sed s/x/y/ h", "M!f M!g C!g.bak R!h | sed"},
		{"sed 's/a/b/w out' f", "R!f | sed @unknown $ sed 's/a/b/w out' f"},
		{"perl -i -pe s/a/b/ f", "M?f | perl @unknown $ perl f"},
		{"truncate -s 0 f", "C!f | truncate"},
		{"chmod 644 a; chmod -x b; chown u c; chmod --reference=r d",
		 "M!a M!b M!c R!r M!d | chmod,chown"},
		{"tar xf a.tar -C d; tar czf b.tgz x y", "R!a.tar C?d/** C!b.tgz R!x R!y | tar"},
		{"unzip -d d a.zip; zip z f", "R!a.zip C?d C?d/** C!z.zip R!f | unzip,zip"},
		{"gzip a; gunzip b.gz; gzip -c c",
		 "R!a C!a.gz D!a R!b.gz C!b D!b.gz R!c | gzip,gunzip"},
		{"rsync -a --delete s/ d", "R!s C?d C?d/** D?d/** | rsync"},
		{"rsync -a s h:d", "R!s | rsync @yes"},
		{"find . -name '*.o' -delete", "R!/p D?**/*.o | find"},
		{"find d e -exec rm {} \\;", "R!d R!e D?d/** D?e/** | find,rm"},
		{"find . -fprint out", "R!/p C!out | find"},
		{"find -L /x -delete", "R!/x D?/x/** | find"},
		{"ls | xargs rm", "D~(from input) | ls,xargs,rm $ (from input)"},
		{"xargs -I{} cp {} d/ < l",
		 "R!l R~(from input) C~d/(from input) | xargs,cp $ (from input)"},
		{"sort -o out in; uniq a b", "R!in C!out R!a C!b | sort,uniq"},
		{"patch -p1 < x", "R!x M?** | patch @unknown $ patch"},
		{"curl -o f https://h/x; curl -O 'https://h/d/y?z'", "C!f C!y | curl @yes"},
		{"curl https://h/x | sh", " | curl,sh @yes $ sh"},
		{"wget -O f https://h/x", "M?/h/.wget-hsts C!f | wget @yes"},
		{"git clone https://h/x.git", "C?x | git @yes $ git clone https://h/x.git"},
		{"git push", "M?.git | git @yes $ git push"},
		{"split -l 1 a pre", "R!a C?pre* | split"},
		{"mktemp x.XXX", "C?x.??? | mktemp"},
		{"awk '{print}' f; awk '{print > \"x\"}' g",
		 "R!f R!g | awk @unknown $ awk '{print > \"x\"}' g"},
		{"python3 x.py; ./y; /usr/bin/rm a",
		 "D!a | python3,./y,/usr/bin/rm @unknown $ python3 x.py, ./y"},
		{"test a -nt b; [ -f c ]; echo x; printf y; cat d", "R!d | cat"},
		{"grep x f; grep -e x f2; grep -rn y", "R!f R!f2 | grep"},
	};

	(void)state;
	CHECK(rows);
}

static void wrappers(void **state)
{
	static const struct row rows[] = {
		{"sudo -u x timeout 5 env A=1 nice -n 3 rm a", "D!a | sudo,timeout,env,nice,rm"},
		{"nohup rm a", "M?nohup.out M?/h/nohup.out D!a | nohup,rm"},
		{"stdbuf -oL rm a; setsid rm b; time rm c; command rm d; exec rm e",
		 "D!a D!b D!c D!d D!e | stdbuf,rm,setsid"},
		{"env -C d rm a; rm b", "D!d/a D!b | env,rm"},
		{"sh -c 'rm a; cd d; rm \"$1\"' n b; rm c", "D!a D!d/b D?b D!c | sh,rm"},
		{"bash -c \"rm $A\"", "D!a.txt | bash,rm"},
		{"x=1; bash -c 'rm $x'", "D~$x | bash,rm $ $x"},
		{"sh -c \"$X\"", " | sh"},
		{"sh -c \"$(cmd)\"", " | cmd,sh @unknown $ cmd, \"$(cmd)\", sh \"$(cmd)\""},
		{"sh -c 'rm {a,b}'; bash -c 'rm {a,b}'",
		 "D!a D!b | sh,rm,bash @unknown $ sh 'rm {a,b}'"},
		{"sh -c 'rm {a,b}'", "D?a D?b | sh,rm @unknown $ sh 'rm {a,b}'"},
		{"bash x.sh", "R!x.sh | bash @unknown $ bash x.sh"},
		{"eval 'rm a' b; eval \"$(c)\"; rm d",
		 "D!a D!b D~d | rm,c @unknown $ c, eval \"$(c)\""},
		{"flock l rm a", "C?l D!a | flock,rm"},
		{"env | grep x", " | env,grep"},
		{"rm() { :; }; rm a; command rm b; env rm c", "D!b D!c | rm,env"},
	};

	(void)state;
	CHECK(rows);
}

static void mistakes(void **state)
{
	static const struct row rows[] = {
		{"rm a\nif", "D?a | rm @unknown $ rm a\nif"},
		{"rm 'a", " @unknown $ rm 'a"},
		{"rm a; )", "D?a | rm @unknown $ rm a; )"},
		{"echo \"${x\"", " @unknown $ echo \"${x\""},
	};

	(void)state;
	CHECK(rows);
}

static void table_is_in_order(void **state)
{
	const struct sb_model *last = sb_models_row(0);

	(void)state;
	for (size_t i = 1; sb_models_row(i); last = sb_models_row(i++))
		assert_true(strcmp(last->name, sb_models_row(i)->name) < 0);
	assert_non_null(sb_models_find(last->name));
	assert_null(sb_models_find("no such command"));
}

/* head, then part so often that all is so long, then tail */
static char *repeated(const char *head, const char *part, size_t times, const char *tail)
{
	size_t size = strlen(part);
	char *text = malloc(strlen(head) + size * times + strlen(tail) + 1), *out;

	assert_non_null(text);
	out = stpcpy(text, head);
	for (size_t i = 0; i < times; i++, out += size)
		memcpy(out, part, size);
	strcpy(out, tail);
	return text;
}

static double seconds_for(const char *text, const char **out_problem)
{
	struct timespec start, end;
	struct sb_preview *preview;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
	preview = preview_of(text, strlen(text));
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	*out_problem = preview->problem;
	sb_preview_free(preview);
	return (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;
}

static void long_and_deep(void **state)
{
	static const struct {
		const char *head, *part, *tail, *problem;
		size_t times;
	} rows[] = {
		{"", "( ", "", "too deep", 10000},
		{"echo ", "$(", "", "too deep", 10000},
		{"echo ", "\"${x:-", "", "too deep", 10000},
		{"", "if a; then ", "", "too deep", 10000},
		{"", "$((", "", "too deep", 100000},
		{"echo ", "a", "", NULL, 10000000},
		{"echo '", "a ", "'", NULL, 5000000},
		{"cat <<E\n", "line\n", "E\n", NULL, 2000000},
		{"", "rm a;", "", NULL, 200000},
		{"rm ", "x ", "", NULL, 200000},
		{"x=a;", "x=$x$x;", "rm $x", "too long", 10000},
		{"", "for i in 1 2 3 4 5 6 7 8; do ", "a", "'done' is missing", 60},
		{"echo ", "{a,b}", "", NULL, 5000},
		{"", "while a; do ", "", "a command is missing", 60},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char *text = repeated(rows[i].head, rows[i].part, rows[i].times, rows[i].tail);
		const char *problem;

		/* seconds, where something quadratic would take hours */
		assert_true(seconds_for(text, &problem) < 60);
		if (rows[i].problem)
			assert_string_equal(problem, rows[i].problem);
		else
			assert_null(problem);
		free(text);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(redirections),
	cmocka_unit_test(words),
	cmocka_unit_test(cuts),
	cmocka_unit_test(flow),
	cmocka_unit_test(variables_of_commands),
	cmocka_unit_test(traps),
	cmocka_unit_test(programs),
	cmocka_unit_test(wrappers),
	cmocka_unit_test(mistakes),
	cmocka_unit_test(table_is_in_order),
	cmocka_unit_test(long_and_deep),
};

UNIT_MAIN("preview")
