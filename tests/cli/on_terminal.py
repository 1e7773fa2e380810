"""on_terminal.py - S12 on a terminal: job control, Ctrl-C, Ctrl-Z, window size, full-screen
programs; and S1, the interactive bash of plain `sandbash`."""

import os
import shutil
from pathlib import Path

from tap import ALL_VARIANTS, BIN, FLAGS, check, contains, equal, lacks, run_all, skip, test, wait

# Here a refusal is one at once, as in a static run: questions are terminal_asker.py's.
FLAGS.append("--consent=deny")

VARIANTS = ("full", "flat")


def shell(fx, **where):
    """A plain interactive bash on a terminal, whose prompt is "% "; sb is sandbash."""
    words = " ".join(fx.argv())
    fx.write(fx.dir / "rc",
             f"PS1='% '\nalias sb='{words}'\nbind 'set enable-bracketed-paste off'\n")
    term = fx.terminal("bash", "--noprofile", "--rcfile", fx.dir / "rc", "-i", **where)
    term.expect(r"% $")
    return term


def plain_env(fx, **changes):
    """The home of a user whose bash prompt is "$ " and who has bracketed paste off."""
    fx.write(fx.home / ".bashrc", "PS1='$ '\nbind 'set enable-bracketed-paste off'\n")
    return changes


def runs(term, *programs):
    """Wait until all of these are in the foreground: only then a key reaches them."""
    def look():
        names = set()
        for path in Path("/proc").glob("[0-9]*/stat"):
            try:
                name, rest = path.read_text().split("(", 1)[1].rsplit(")", 1)
            except OSError:
                continue
            if int(rest.split()[2]) == term.foreground():
                names.add(name)
        return names >= set(programs)
    wait(lambda: term.settle(0.02, 0.1) or look(), lambda: f"not in the foreground: {programs}\n{term.screen()}")


def need(program):
    if not shutil.which(program):
        skip(f"no {program} on this machine")


# --- under the user's shell -----------------------------------------------------------------


@test("S12 Ctrl-C ends the command, and the shell sees 130", variants=VARIANTS)
def ctrl_c(fx):
    term = shell(fx)
    term.send("sb sh -c 'echo rea''dy; exec sleep 1030'\n")
    term.expect("ready\r\n")
    term.send("\x03")
    term.expect(r"% $")
    term.send("echo status=$?\n")
    term.expect(r"status=130\r\n")


@test("S12 Ctrl-\\ ends it with 131")
def ctrl_backslash(fx):
    term = shell(fx)
    term.send("ulimit -c 0; sb sh -c 'echo rea''dy; exec sleep 1030'\n")
    term.expect("ready\r\n")
    term.send("\x1c")
    term.expect(r"% $")
    term.send("echo status=$?\n")
    term.expect(r"status=131\r\n")


@test("S12 Ctrl-C reaches a trap inside")
def ctrl_c_trap(fx):
    term = shell(fx)
    term.send("sb bash -c 'trap \"echo caught; exit 9\" INT; echo rea''dy; "
              "while :; do sleep 0.05; done'\n")
    term.expect("ready\r\n")
    term.send("\x03")
    term.expect("caught")
    term.expect(r"% $")
    term.send("echo status=$?\n")
    term.expect(r"status=9\r\n")


@test("S12 Ctrl-Z stops it, jobs lists it, fg goes on, bg lets it end", variants=VARIANTS)
def ctrl_z(fx):
    term = shell(fx)
    term.send("sb sh -c 'echo rea''dy; read line; echo got $line; exit 6'\n")
    term.expect("ready\r\n")
    term.send("\x1a")
    term.expect(r"Stopped")
    term.expect(r"% $")
    term.send("jobs | wc -l; echo status=$?\n")
    term.expect(r"1\r\n")
    term.send("fg\n")
    term.expect(r"fg\r\n")
    term.send("word\n")
    term.expect("got word\r\n")
    term.expect(r"% $")
    term.send("echo status=$?\n")
    term.expect(r"status=6\r\n")


@test("S12 a stopped command can be sent to the background and waited for")
def background(fx):
    term = shell(fx)
    # no child of the shell is running then: one between vfork and exec would hold up the stop
    os.mkfifo(fx.path("go"))
    term.send("sb sh -c 'echo rea''dy; read line < go; exit 8'\n")
    term.expect("ready\r\n")
    term.send("\x1a")
    term.expect("Stopped")
    term.send("bg; echo > go; wait %1; echo status=$?\n")
    term.expect(r"status=8\r\n")
    term.send("sb sleep 0.1 & wait $!; echo done=$?\n")
    term.expect(r"done=0\r\n")


@test("S12 a background command that reads the terminal is stopped, as alone")
def background_read(fx):
    term = shell(fx)
    term.send("sb cat &\n")
    term.expect(r"% $")
    term.send("until jobs | grep -q Stopped; do sleep 0.05; done; echo is sto''pped\n")
    term.expect(r"is stopped\r\n")
    term.send("kill %1; fg 2>/dev/null; echo end\n")
    term.expect(r"end\r\n")


@test("S12 kill from the shell reaches it: 143")
def kill_job(fx):
    term = shell(fx)
    term.send("sb sleep 1030 &\n")
    term.expect(r"% $")
    term.send("sleep 0.1; kill $!; wait $!; echo status=$?\n")
    term.expect(r"status=143\r\n")


@test("S12 the command is in the foreground group, with the terminal as its own", variants=VARIANTS)
def foreground(fx):
    script = ("import os; print('same', os.tcgetpgrp(0) == os.getpgrp(), "
              "os.ttyname(0) == os.ttyname(1), "
              "os.isatty(2), open('/dev/tty', 'w').write('direct\\n'))")
    term = shell(fx)
    term.send(f'sb python3 -c "{script}"\n')
    term.expect("direct")
    term.expect("same True True True")


@test("S12 a change of the window size arrives", variants=VARIANTS)
def window_size(fx):
    term = shell(fx, rows=24, columns=80)
    term.send("sb bash -c 'stty size; trap \"stty size; exit\" WINCH; echo rea''dy; "
              "while :; do sleep 0.05; done'\n")
    term.expect("24 80\r\n")
    term.expect("ready\r\n")
    term.resize(40, 100)
    term.expect("40 100\r\n")


@test("S12 terminal settings made inside a static run last, as alone")
def terminal_settings(fx):
    term = shell(fx)
    term.send("stty tostop; sb --static stty -echoctl; stty -a | grep -o -- '-echoctl'; stty sane\n")
    term.expect(r"-echoctl\r\n")


@test("S12 input typed ahead of a static run is not lost")
def type_ahead(fx):
    term = shell(fx)
    term.send("sb --static true\necho still''here\n")
    term.expect("stillhere\r\n")
    term.send("sb --static sh -c 'read a; read b; echo \"$a|$b\" > got'\nline one\nline two\necho do''ne\n")
    term.expect("done\r\n")
    equal(fx.read("got"), "line one|line two\n")


@test("S12 a pipeline with static parts is one job")
def pipeline_job(fx):
    term = shell(fx)
    term.send("sb --static yes | sb --static cat > /dev/null\n")
    runs(term, "yes", "cat")
    term.send("\x03")
    term.expect(r"% $")
    term.send("echo ${PIPESTATUS[@]}\n")
    term.expect(r"130 130\r\n")


@test("S10 S12 Ctrl-C belongs to the editor that --edit started, not to sandbash")
def edit_ctrl_c(fx):
    # It gives up by itself: when this test fails, nobody is left to end it.
    fx.write(fx.dir / "editor", "#!/bin/bash\ntrap 'echo got int' INT\necho editor is up\n"
                                "for try in 1 2 3; do read -t 10 -r line && break; done\n"
                                "echo \"# $line\" > \"$1\"\n",
             mode=0o755)
    term = shell(fx, env={"VISUAL": fx.dir / "editor"})
    term.send("sb --edit\n")
    term.expect("editor is up\r\n")
    term.settle(0.1)
    term.send("\x03")
    term.expect("got int")
    term.settle(0.1)
    lacks(term.output, "got int\r\n% ", "sandbash is gone before its editor")
    term.send("typed\n")
    term.expect(r"% $")
    term.send("echo status=$?\n")
    term.expect(r"status=0\r\n")
    directory = fx.home / ".config/sandbash/projects"
    equal([(directory / name).read_text() for name in os.listdir(directory)], ["# typed\n"])


# --- the interactive bash of plain sandbash -------------------------------------------------


@test("S1 S12 plain sandbash is an interactive bash with job control", variants=ALL_VARIANTS)
def interactive(fx):
    env = plain_env(fx)
    term = fx.sandbash_terminal(env=env)
    term.expect(r"\$ $")
    term.send("echo $0 $- ${BASH_VERSION:+is bash}\n")
    term.expect(r"bash [a-zA-Z]*i[a-zA-Z]*m[a-zA-Z]* is bash\r\n|bash \S*m\S*i\S* is bash\r\n")
    term.expect(r"\$ $")
    term.send("sleep 1030\n")
    runs(term, "sleep")
    term.send("\x1a")
    term.expect("Stopped")
    term.send("fg\n")
    term.expect(r"sleep 1030\r\n")
    runs(term, "sleep")
    term.send("\x03")
    term.expect(r"\$ $")
    term.send("echo status=$?\n")
    term.expect(r"status=130\r\n")
    term.expect(r"\$ $")
    term.send(f"touch inside; touch {fx.outside}/x\n")
    term.expect("cannot touch")
    term.expect(r"\$ $")
    check(fx.exists("inside") and not (fx.outside / "x").exists())
    term.send("exit 3\n")
    equal(term.wait(), 3)


@test("S12 the interactive bash complains of nothing", variants=VARIANTS)
def no_complaints(fx):
    env = plain_env(fx)
    term = fx.sandbash_terminal(env=env)
    term.expect(r"\$ $")
    said = "".join(line for line in term.output.splitlines(True)
                   if not line.startswith("sandbash: warning: on this machine "))
    equal(said, "(sandbash) $ ")


@test("S12 Ctrl-D ends it")
def ctrl_d(fx):
    term = fx.sandbash_terminal(env=plain_env(fx))
    term.expect(r"\$ $")
    term.send("\x04")
    equal(term.wait(), 0)


def runs_with(word):
    """Is there a process with this word in its arguments?"""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if word.encode() in path.read_bytes().split(b"\0"):
                return True
        except OSError:
            pass
    return False


@test("S12 hanging up ends it and what it runs")
def hang_up(fx):
    term = fx.sandbash_terminal(env=plain_env(fx))
    term.expect(r"\$ $")
    mark = f"1060.{os.getpid()}"  # known by it: inside it has another pid
    term.send(f"sleep {mark}\n")
    wait(lambda: term.settle(0.02, 0.1) or runs_with(mark), "it does not run")
    term.close()
    check(term.process.returncode is not None)
    wait(lambda: not runs_with(mark), "it lives on")


@test("S12 nested interactive shells: job control works in the inner one")
def nested_shells(fx):
    env = plain_env(fx)
    term = fx.sandbash_terminal(env=env)
    term.expect(r"\$ $")
    term.send(f"{BIN}\n")
    term.expect(r"\$ $")
    term.send("sleep 1030\n")
    runs(term, "sleep")
    term.send("\x1a")
    term.expect("Stopped")
    term.send("fg\n")
    term.expect(r"fg\r\nsleep 1030\r\n")
    runs(term, "sleep")
    term.send("\x03")
    term.expect(r"\$ $")
    term.send("exit 4\n")
    term.expect(r"exit\r\n(?s:.*)\$ $")
    term.send("echo back=$?\n")
    term.expect(r"back=4\r\n")


# --- full-screen programs -------------------------------------------------------------------


@test("S12 vim edits a file of the project, and cannot save outside", variants=VARIANTS)
def vim(fx):
    need("vim")
    fx.write("file.txt", "first line\n")
    fx.write(fx.outside / "other.txt", "other\n")
    term = fx.sandbash_terminal("vim", "-N", "-u", "NONE", "-i", "NONE", "file.txt")
    term.expect("first line")
    term.settle()
    term.send("Osecond line\x1b:wq\r")
    equal(term.wait(), 0)
    equal(fx.read("file.txt"), "second line\nfirst line\n")
    # without a swap file: where it may lie differs, and so does what vim says when it may not
    term = fx.sandbash_terminal("vim", "-n", "-N", "-u", "NONE", "-i", "NONE", fx.outside / "other.txt")
    term.expect("other")
    term.settle()
    term.send("Oevil\x1b:w!\r")
    term.expect(r"E\d+:")  # it forgets what was typed before; "[readonly]" comes earlier
    term.send("\r:q!\r")
    term.wait()
    equal((fx.outside / "other.txt").read_text(), "other\n")


@test("S12 less shows a file and follows the window", variants=VARIANTS)
def less(fx):
    need("less")
    fx.write("long", "".join(f"line {i}\n" for i in range(200)))
    term = fx.sandbash_terminal("less", "long")
    term.expect("line 22")
    term.settle()
    term.resize(10, 60)
    term.settle()
    term.send("G")
    term.expect("line 199")
    term.settle()
    contains(term.screen(), "line 199")
    term.send("q")
    equal(term.wait(), 0)


@test("S12 script, tty and a program that opens its own pty work inside", variants=VARIANTS)
def own_pty(fx):
    program = ("import pty, os, sys; pid, fd = pty.fork()\n"
               "if pid == 0: os.execlp('sh', 'sh', '-c', 'tty; stty size >/dev/null && echo sized')\n"
               "out = b''\n"
               "try:\n    while True:\n        got = os.read(fd, 999)\n        out += got\n"
               "        if not got: break\n" "except OSError: pass\n" "print(out.decode())\n")
    result = fx.sandbash("python3", "-c", program)
    equal(result.status, 0, result.stderr)
    contains(result.stdout, "/dev/pts/")
    contains(result.stdout, "sized")


run_all()
