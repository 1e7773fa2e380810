"""terminal_asker.py - C1, C5, C6 on a real terminal: how questions look, come and go between a command and the person."""

import hashlib
import itertools
import os
import re
import select
import shutil
import termios
import time

from asker import PATH, Demo, bash, plain
from tap import PATIENCE, check, contains, equal, lacks, run_all, skip, test


# --- what it looks like ---------------------------------------------------------------------------


@test("C1 a question shows what, who, why and the choices; the screen comes back as it was")
def in_a_shell(fx):
    demo = bash(fx)
    demo.term.send("echo one; echo two\n")
    demo.term.expect(r"two\r\n% $")
    before, state = demo.term.screen(), demo.term.state()
    demo.ask(1, rule="deny ~/work (config line 3)", note="a neighbour", content="int main;\nint x;",
             directory="/home/anna/code")
    demo.shown()
    screen = demo.term.screen()
    for part in ("vim (process 4242) wants to write to", PATH, "deny ~/work (config line 3)",
                 "a neighbour", "| int main;", "| int x;", "maple", "1  allow once (until vim exits)",
                 "3  deny for the rest of this run", "A yes      this file is changed",
                 "2  allow everything in /home/anna/code for the rest of this run",
                 "4  always allow everything in /home/anna/code (written to the config)"):
        contains(screen, part)
    lacks(screen, "echo one")
    demo.answer("1")
    demo.expect("1 once")
    demo.wait(lambda: demo.term.screen() == before, "the screen did not come back")
    equal(demo.term.state(), state)
    demo.term.send("echo th''ree; exit 7\n")
    demo.term.expect(r"three\r\n")
    equal(demo.term.wait(), 7)
    contains(demo.term.screen(), f"sandbash: allowed once: write to {PATH}")


@test("C1 what was answered is told at once while the terminal is the shell's own, not in raw mode")
def told_between_lines(fx):
    demo = Demo(fx, "sh", "-c", "echo begun; read line; stty raw -echo; echo raw; exec cat")
    demo.term.expect("begun")
    demo.ask(1)
    demo.shown()
    demo.answer("1")
    demo.expect("1 once")
    demo.term.expect("allowed once")
    demo.term.send("x\n")
    demo.term.expect("raw")
    demo.term.settle()
    before, cursor = demo.term.screen(), demo.term.cursor()
    demo.ask(2)
    demo.shown()
    demo.answer("3")
    demo.expect("1 once", "2 deny")
    demo.wait(lambda: demo.term.screen() == before, "the screen did not come back")
    demo.pass_time(0.5)
    equal((demo.term.screen(), demo.term.cursor()), (before, cursor))


@test("C1 each key gives its answer; 2 and 4 only where a directory is offered, else 2 is the no")
def keys(fx):
    demo = bash(fx)
    for number, (key, answer) in enumerate(((("1", "once"), ("2", "directory"), ("3", "deny"),
                                             ("4", "always"))), 1):
        demo.ask(number)
        demo.shown()
        demo.answer(key)
        demo.wait(lambda: f"{number} {answer}" in demo.given(), f"no answer {number} {answer}")
    demo.ask(5, directory="")
    demo.shown()
    for key in ("4", "x", "\r", "0", "5", " "):
        demo.press(key)
    demo.silent(0.3)
    lacks(demo.term.screen(), "always")
    contains(demo.term.screen(), "2  deny")
    demo.answer("2")
    demo.expect("1 once", "2 directory", "3 deny", "4 always", "5 deny")


@test("C1 under a full-screen editor: its screen, modes and cursor come back")
def in_vim(fx):
    if not shutil.which("vim"):
        skip("no vim on this machine")
    fx.write("text", "".join(f"line {n} {'x' * (n % 90)}\n" for n in range(100)))
    demo = Demo(fx, "vim", "-u", "NONE", "-N", "-i", "NONE", "--cmd", "set mouse=a ttymouse=sgr",
                "text")
    demo.term.expect("line 10")
    demo.press("G\x0c")
    demo.wait(lambda: "line 99" in demo.term.screen() and '"text"' not in demo.term.screen()
              and demo.term.screen().split("\n")[demo.term.cursor()[0]].startswith("line 99"), "vim does not go to the end")
    demo.term.settle(0.4)
    before, state, cursor = demo.term.screen(), demo.term.state(), demo.term.cursor()
    check(state["alternate"] and {1002, 1006} <= set(state["modes"]), str(state))
    for number in (1, 2):
        demo.ask(number)
        demo.shown()
        check(not {1000, 1002, 1003, 1004} & set(demo.term.state()["modes"]), "the mouse is on")
        demo.answer("3")
        demo.wait(lambda: len(demo.given()) == number, "no answer")
        demo.pass_time(1.2)  # it is drawn twice
        demo.wait(lambda: (demo.term.screen(), demo.term.state(), demo.term.cursor()) == (before, state, cursor),
                  "the screen did not come back")
    demo.term.send(":q!\n")
    equal(demo.term.wait(), 0)
    contains(demo.term.screen(), "denied: write to")


# A program that draws only what has changed, waits for the last of many sizes, and turns something.
LAZY = r"""
import os, select, signal, sys, time, tty
tty.setraw(0)
woken, wakes = os.pipe2(os.O_NONBLOCK)
signal.signal(signal.SIGWINCH, lambda *_: None)
signal.set_wakeup_fd(wakes)
def draw(size):
    lines = [f"line {n} ".ljust(size.columns, "-") for n in range(size.lines - 1)]
    os.write(1, ("\x1b[2J\x1b[H" + "\r\n".join(lines)).encode())
os.write(1, b"\x1b[?1049h")
known = os.get_terminal_size()
draw(known)
turn = waiting = 0
looked = time.monotonic()
while True:
    ready = select.select([0, woken], [], [], 0.05)[0]
    if time.monotonic() - looked > 0.12:
        open("late", "w").close()  # then it may not be done in the second that it gets
    looked = time.monotonic()
    if 0 in ready:
        break
    if woken in ready:
        os.read(woken, 100)
        waiting = 4  # four times 50 ms without another
        continue
    turn += 1
    os.write(1, f"\x1b[{os.get_terminal_size().lines};1H{'|/-'[turn % 3]}".encode())
    if waiting:
        waiting -= 1
        if not waiting and os.get_terminal_size() != known:
            known = os.get_terminal_size()
            draw(known)
os.write(1, b"\x1b[?1049l")
"""


@test("C1 under a program that draws late and only what has changed: its screen comes back")
def in_lazy(fx):
    demo = Demo(fx, "python3", "-c", LAZY)
    demo.term.expect("line 10")

    def lines():
        return demo.term.screen().split("\n")[:20]

    before = [f"line {n} ".ljust(80, "-") for n in range(20)]
    demo.wait(lambda: lines() == before, "it does not draw")
    for number in itertools.count(1):
        fx.path("late").unlink(missing_ok=True)
        demo.ask(number)
        demo.shown()
        demo.answer("3")
        demo.pass_time(1.5)
        if lines() == before:
            break
        check(fx.exists("late") and number < 20, f"the screen did not come back:\n{demo.term.screen()}")
        for columns in (79, 80):  # this machine is busy: the program draws when it gets to it
            demo.term.resize(24, columns)
            demo.wait(lambda: len(lines()[1]) == columns, "it draws no more")
    demo.term.send("q")
    equal(demo.term.wait(), 0)


@test("C1 under a pager, at 80x24 and 40x10, with a new window size in the middle")
def in_less(fx):
    if not shutil.which("less"):
        skip("no less on this machine")
    fx.write("text", "".join(f"line {n}\n" for n in range(500)))
    for rows, columns in ((24, 80), (10, 40)):
        for name in ("orders", "answers"):
            (fx.dir / name).unlink(missing_ok=True)
        demo = Demo(fx, "less", "text", rows=rows, columns=columns)
        demo.term.expect("line 5")
        demo.press(" ")
        demo.wait(lambda: f"line {2 * rows - 3}\n:" in demo.term.screen(), "it does not turn the page")
        before, state = demo.term.screen(), demo.term.state()
        demo.ask(1)
        demo.shown()
        demo.term.resize(12, 60)
        demo.wait(lambda: "4  always allow this directory (in the config)" in demo.term.screen(),
                  "not drawn anew")
        contains(demo.term.screen(), "Directory  /home")
        demo.term.resize(rows, columns)
        demo.pass_time(0.3)
        demo.answer("1")
        demo.expect("1 once")
        demo.wait(lambda: demo.term.screen() == before, "the screen did not come back")
        equal(demo.term.state(), state)
        for _ in range(60):  # less loses a key that comes while it learns of a new size
            demo.pass_time(1.2)
            if demo.term.process.poll() is not None:
                break
            demo.term.send("q")
        equal(demo.term.wait(), 0)


@test("C1 all of a question shows, with the whole path, or nothing of it and what to do about that")
def sizes(fx):
    long = "/home/anna/" + "/".join(f"directory-{n}" for n in range(20)) + "/authorized_keys"
    demo = bash(fx)
    number = 0
    for rows, columns, fits in ((24, 80, True), (19, 40, True), (12, 40, False), (50, 200, True),
                                (3, 40, False), (24, 20, False)):
        number += 1
        demo.term.resize(rows, columns)
        demo.pass_time(0.2)
        demo.ask(number, path=long, directory="/home/anna/directory-0", rule="a rule",
                 note="a note", content="a\nb\nc\nd\ne\nf\ng\nh")
        rest = "|h" if rows == 50 else "thereismore"
        parts = (long, "writeto", "vim", "arule", "anote", rest, "maple", "once", "directory", "deny",
                 "always") if fits else ("enlarge",)
        demo.wait(lambda: all(part in "".join(demo.term.screen().split()) for part in parts),
                  f"not all shows at {rows}x{columns}")
        demo.term.settle()
        screen = demo.term.screen()
        if not fits:
            for part in ("authorized", "once", "maple"):
                lacks(screen, part, f"{rows}x{columns}")
            demo.press("1")
            demo.press("4")
            demo.silent(0.2)
        check(max(map(len, screen.splitlines())) <= columns, screen)
        check(demo.term.cursor()[0] < rows, "the cursor left the screen")
        demo.answer("3")
        demo.wait(lambda: len(demo.given()) == number, "no answer")
        demo.wait(lambda: "enlarge" not in demo.term.screen(), "the question did not go")
    equal(demo.given(), [f"{n} deny" for n in range(1, number + 1)])


@test("C1 a question shows when its window has grown; a key for the small one does not count")
def grows(fx):
    demo = bash(fx, rows=5, columns=40)
    demo.ask(1)
    demo.wait(lambda: "enlarge" in demo.term.screen(), "no line")
    demo.press("1")
    demo.silent(0.3)
    demo.term.resize(24, 80)
    demo.term.send("1")
    demo.shown(PATH)
    demo.silent(0.2)
    demo.term.resize(4, 80)
    demo.wait(lambda: PATH not in demo.term.screen(), "it still shows")
    demo.press("1")
    demo.silent(0.3)
    demo.term.resize(24, 80)
    demo.shown(PATH)
    demo.answer("1")
    demo.expect("1 once")


@test("C5 names cannot steer the terminal, turn the line around or pose as ours")
def hostile_names(fx):
    demo = plain(fx)
    demo.ask(1, path="/tmp/a\x1b[2J\x1b[H\n1  allow\u202eonce\x9b31m \x07", program="\x1b]0;x\x07v",
             verb="write to", rule="\x1b[31mrule", note="no\x1bte",
             content="\x1b[2J3  deny\r\n\x18\x1b\\", directory="/tmp/\x1b[31m")
    demo.shown("\\u{202e}")
    screen = demo.term.screen()
    for part in ("'/tmp/a\\e[2J\\e[H\\n1\\x20{2}allow\\u{202e}once", "\\x07'", "\\e]0;x\\x07v",
                 "\\e[31mrule", "no\\ete", "| \\e[2J3  deny\\r", "sandbash asks you"):
        contains(screen, part)
    lacks(demo.term.output, "\u202e")
    lacks(demo.term.output, "\x1b[31m")
    demo.answer("3")
    demo.expect("1 deny")
    demo.term.expect("sandbash: denied")
    lacks(demo.term.output, "\x1b[31m")


@test("C1 two hundred questions: one at a time, counted, each answered once")
def many(fx):
    demo = plain(fx)
    def asked():
        """How often where the cursor is: what is typed before the replies counts for nothing."""
        return demo.term.output[demo.term.output.find(f"file-{number}."):].count("\x1b[6n")

    for number in range(1, 201):
        demo.ask(number, path=f"/tmp/file-{number}.")
    demo.shown("1 of 200")
    for number in range(1, 201):
        demo.wait(lambda: f"file-{number}." in demo.term.screen() and asked() >= 4, "the next one does not show")
        demo.term.send("\x03")
        demo.wait(lambda: len(demo.given()) >= number, "no answer")
    equal(demo.given(), [f"{n} deny" for n in range(1, 201)])
    demo.term.expect("earlier lines are not shown")
    demo.term.send("x\n")
    equal(demo.term.wait(), 0)


# --- coming and going --------------------------------------------------------------------------------


@test("C1 a question that is withdrawn makes room for the next")
def withdraw(fx):
    demo = bash(fx)
    before = demo.term.screen()
    for number in (1, 2, 3):
        demo.ask(number, path=f"/tmp/file-{number}.")
    demo.shown("1 of 3")
    demo.order("withdraw", "2")
    demo.shown("1 of 2")
    contains(demo.term.screen(), "file-1.")
    demo.order("withdraw", "1")
    demo.shown("file-3.")
    demo.order("withdraw", "17")
    demo.order("withdraw", "3")
    demo.wait(lambda: demo.term.screen() == before, "the screen did not come back")
    demo.term.send("echo al''ive\n")
    demo.term.expect("alive")
    equal(demo.given(), [])


@test("C6 when the terminal hangs up, open questions are denied and the command is told")
def hangup(fx):
    demo = Demo(fx, "sh", "-c", f"trap 'echo hup >{fx.dir}/hup; exit 3' HUP; echo ready; "
                                "while :; do sleep 0.05; done")
    demo.term.expect("ready")
    demo.ask(1)
    demo.ask(2)
    demo.shown()
    os.close(demo.term.master)
    demo.term.master = -1
    demo.term.process.wait(PATIENCE)
    equal(demo.given(), ["1 deny", "2 deny", "gone 3"])
    equal((fx.dir / "hup").read_text(), "hup\n")


@test("C1 suspended and resumed with a question open")
def suspend(fx):
    demo = bash(fx)
    before, raw = demo.term.screen(), termios.tcgetattr(demo.term.master)
    demo.ask(1)
    demo.shown()
    demo.order("suspend")
    demo.wait(lambda: demo.term.screen() == before, "the screen did not come back")
    demo.wait(lambda: termios.tcgetattr(demo.term.master)[3] & termios.ICANON, "still raw")
    demo.ask(2, path="/tmp/second")
    demo.pass_time(0.2)
    demo.order("resume")
    demo.shown("1 of 2")
    equal(termios.tcgetattr(demo.term.master), raw)
    demo.answer("1")
    demo.shown("/tmp/second")
    demo.answer("1")
    demo.expect("1 once", "2 once")


@test("C1 the terminal's settings are as before, also when the command ends under a question")
def settings(fx):
    script = 'stty -g >before; "$@"; echo status=$? >status; stty -g >after'
    demo = Demo(fx, "sh", "-c", "stty raw; read x; exit 9", wrap=("bash", "-c", script, "bash"))
    demo.ask(1)
    demo.shown()
    command = []

    def found():
        for process in os.listdir("/proc"):
            try:
                with open(f"/proc/{process}/cmdline", "rb") as stream:
                    words = stream.read()
                mine = os.readlink(f"/proc/{process}/cwd") == str(fx.project)
            except OSError:
                continue
            if mine and words.startswith(b"sh\0-c\0stty raw"):
                command.append(int(process))
        return command

    # The question may show before the command is the shell: it is another process that starts it.
    demo.wait(found, "the command did not start")
    os.kill(command[0], 9)
    demo.term.wait()
    equal(demo.given(), ["1 deny"])
    equal((fx.project / "status").read_text(), "status=137\n")
    equal((fx.project / "after").read_text(), (fx.project / "before").read_text())
    check(not demo.term.state()["alternate"], "left on the alternate screen")


@test("C1 the command's terminal has the settings and the size of the real one")
def like_the_real_one(fx):
    script = "stty erase ^H -ixon intr ^K; stty -a >real; \"$@\""
    demo = Demo(fx, "sh", "-c", "stty -a >own.new; mv own.new own; ls -l $(tty) >owner; "
                "until [ \"$(stty size)\" = '20 70' ]; do sleep 0.05; done; stty size >size",
                wrap=("bash", "-c", script, "bash"), rows=33, columns=99)
    demo.wait(lambda: (fx.project / "own").exists(), "not started")
    demo.term.resize(20, 70)
    equal(demo.term.wait(), 0)
    equal((fx.project / "own").read_text(), (fx.project / "real").read_text())
    equal((fx.project / "size").read_text(), "20 70\n")
    contains((fx.project / "owner").read_text(), "crw-------")


@test("C1 a notice waits until a full-screen program is out of the way")
def notice(fx):
    demo = Demo(fx, "sh", "-c", "echo start; printf '\\033[?1049hfull'; read x; "
                                "printf '\\033[?1049l'; echo end; read x")
    demo.term.expect("full")
    demo.order("notice", "denied:\x1b[31m x")
    demo.pass_time(0.3)
    lacks(demo.term.screen(), "denied")
    demo.term.send("\n")
    demo.term.expect("denied")
    demo.term.settle()
    demo.wait(lambda: "end" in demo.term.screen(), "the command did not go on")
    contains(demo.term.screen(), "denied:\\e[31m x")


# --- bytes --------------------------------------------------------------------------------------------


@test("C5 a command that stops inside a sequence cannot keep a question from showing")
def inside_a_sequence(fx):
    for size, text in ((0, "left"), (20000, "lost")):
        for name in ("orders", "answers"):
            (fx.dir / name).unlink(missing_ok=True)
        demo = Demo(fx, "sh", "-c", f"printf 'before\\033]0;'; head -c {size} /dev/zero | tr '\\0' x;"
                                    "read x; printf 'title\\aafter'; read x")
        demo.term.expect("before")
        demo.pass_time(0.3)
        demo.ask(1)
        demo.shown()
        demo.answer("1")
        demo.expect("1 once")
        demo.term.send("x\n")  # an Enter alone might be one for the question
        demo.term.expect("after")
        lacks(demo.term.screen(), "title", text)
        contains(demo.term.screen(), "before")
        demo.term.send("\n")
        equal(demo.term.wait(), 0)


@test("C1 output waits under a question and then goes on, in order and whole")
def output_waits(fx):
    demo = Demo(fx, "seq", "-f", "line %.0f ä€😀", "1", "60000", rows=10, columns=40)
    for number in (1, 2, 3):
        demo.term.expect("line")
        demo.ask(number)
        demo.shown()
        demo.wait(lambda: "Press " in demo.term.screen(), "not all of it shows")
        demo.term.settle()
        before = demo.term.screen()
        demo.silent(0.3)
        equal(demo.term.screen(), before)
        demo.answer("3")
        demo.wait(lambda: len(demo.given()) == number, "no answer")
    equal(demo.term.wait(PATIENCE), 0)
    output = re.sub(r"\x18\x1b\\\x1b<\x1b\[4i\x1b\[0\$}\x1b\[4l[^\n]*\x0f(\r\n)?\r\x1b\[Jsandbash: .*?\r\n", "", demo.term.output)
    output = re.sub(r"\x18\x1b\\\x1b<\x1b\[4i.*?\x1b\[\?1049l\x1b\(B\x1b\)B\x0f\x1b\[0m", "", output, flags=re.S)
    want = "".join(f"line {n} ä€😀\r\n" for n in range(1, 60001))
    common = len(os.path.commonprefix((output, want)))
    equal(output[common:][:200], want[common:][:200])


def pump(master, data, want):
    """Write data and read until the other side has closed; returns what came."""
    came, sent = bytearray(), 0
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and len(came) < want:
        readable, writable, _ = select.select([master], [master] if sent < len(data) else [], [], 1)
        if readable:
            try:
                came += os.read(master, 65536)
            except OSError:
                break
        if writable:
            sent += os.write(master, data[sent:sent + 65536])
    equal(sent, len(data))
    return bytes(came)


@test("C1 ten megabytes go through unchanged, both ways")
def bulk(fx):
    block = ("ä€😀 plain text \x1b[31mred\x1b[0m\r\n\x1b[?25l\x1b[5;1H\x1b]8;;http://x\x1b\\link"
             "\x1b]8;;\x1b\\" + "x" * 80).encode()
    picture = b"\x1bPq#0;2;0;0;0" + b"#0~~@@vv$-" * 500 + b"\x1b\\"
    data = b"".join(hashlib.sha256(b"%d" % n).hexdigest().encode() + (block, picture)[n % 64 == 0]
                    for n in range(40 * 1024))
    fx.write("data", data)
    demo = Demo(fx, "sh", "-c", "stty raw -echo; echo ready; exec cat data")
    came = pump(demo.term.master, b"", len(data) + len("ready\n"))
    check(came == b"ready\n" + data, f"{len(came)} bytes of {len(data)}, changed")
    equal(demo.term.wait(), 0)
    for name in ("orders", "answers"):
        (fx.dir / name).unlink()
    demo = Demo(fx, "sh", "-c", f"stty raw -echo; echo ready; head -c {len(data)} | sha256sum")
    demo.term.expect("ready")
    sums = pump(demo.term.master, data, 64)
    equal(sums[:64].decode(), hashlib.sha256(data).hexdigest())


run_all()
