"""consent_jobs.py - S12: a supervised command is a job of its shell, questions or not; what is typed is whose it was for."""

import re
import shutil

from person import PROMPT, UNTIL, Person, shell
from tap import BIN, check, contains, equal, lacks, run_all, skip, test

BOTH = ("full", "flat")


def outer_shell(fx):
    """A bash outside in which sandbash is a job like any other."""
    fx.write(fx.dir / "outer", "unset HISTFILE; PS1='out> '\nbind 'set enable-bracketed-paste off'\n")
    fx.write(fx.dir / "rc", "unset HISTFILE; PS1='% '\nbind 'set enable-bracketed-paste off'\n")
    person = Person.__new__(Person)
    person.fx = fx
    person.term = fx.terminal("bash", "--noprofile", "--rcfile", fx.dir / "outer", "-i",
                              replies=True, columns=120)
    person.term.expect("out> $")
    return person


def stop(person):
    """Ctrl-Z, until the outer shell is back."""
    person.term.send("\x1a")
    person.term.expect("Stopped")
    person.term.expect("out> $")


@test("S12 Ctrl-Z, fg and bg of a supervised command, and a question afterwards", variants=BOTH)
def suspend(fx):
    person = outer_shell(fx)
    words = " ".join(fx.argv())
    person.term.send(f"{words} bash -c 'echo up; {UNTIL}; echo x > {fx.outside}/f; echo end=$?'\n")
    person.term.expect("\nup")
    stop(person)
    fx.write("go")
    person.term.send("fg\n")
    person.answer("1", fx.outside / "f")
    person.term.expect("end=0")
    person.term.expect("out> $")
    person.term.send("echo rest=$?; stty -a | grep -o -- '-\\?icanon'\n")
    person.term.expect("rest=0")
    person.term.expect("\nicanon")
    equal(fx.read(fx.outside / "f"), "x\n")


@test("S12 bg: what it writes is seen; fg: a question that waits is asked", variants=BOTH)
def to_background(fx):
    person = outer_shell(fx)
    words = " ".join(fx.argv())
    fx.write("job", f"echo up; {UNTIL}; seq 20000; echo x > {fx.outside}/f; echo end=$?; cat\n")
    person.term.send(f"{words} bash job\n")
    person.term.expect("\nup")
    stop(person)
    fx.write("go")
    person.term.send("bg\n")
    person.term.expect("\n20000")
    person.term.send("\necho typed\n")
    person.term.expect("\ntyped")
    check(not person.shows(), "asked from the background")
    person.term.send("fg\n")
    person.answer("1", fx.outside / "f")
    person.term.expect("end=0")
    person.term.send("to the command\n")
    person.term.expect("to the command\r\nto the command")
    person.term.send("\x04")
    person.term.expect("out> $")
    equal(fx.read(fx.outside / "f"), "x\n")


@test("S12 a background job asks nobody while another has the terminal", variants=BOTH)
def background(fx):
    person = outer_shell(fx)
    words = " ".join(fx.argv())
    person.term.send(f"{words} bash -c 'sleep 0.5; echo x > {fx.outside}/f; echo end=$?' &\n")
    person.term.expect("out> ")
    person.term.send("echo typed\n")
    person.term.expect("\ntyped")
    person.term.settle(1.5, 2)
    if not person.shows():  # it stopped for the terminal, or refused: both leave it to the shell
        person.term.send("fg\n")
    person.until(lambda: person.shows() or re.search(r"end=\d", person.term.screen()), "no end")
    if person.shows():
        person.answer("1", fx.outside / "f")
    person.until(lambda: re.search(r"end=\d", person.term.screen()), "no end")
    person.term.send("\necho back\n")
    person.term.expect("\nback")


@test("S12 vim: Ctrl-Z and back, a new size, and a question on its screen", variants=BOTH)
def vim_suspended(fx):
    if not shutil.which("vim"):
        skip("no vim here")
    fx.write("text", "first line\n")
    person = outer_shell(fx)
    words = " ".join(fx.argv())
    person.term.send(f"{words} vim -N -u NONE -i NONE text\n")
    person.until(lambda: "first line" in person.term.screen(), "no vim")
    person.term.settle()
    stop(person)
    check(not person.term.state()["alternate"])
    for rows in (26, 28, 30):
        person.term.resize(rows, 100)
        person.term.send("fg\n")
        person.until(lambda: "first line" in person.term.screen() and
                     person.term.state()["alternate"], "vim is not back")
        person.term.settle(0.3)
        if rows < 30:
            stop(person)
            check(not person.term.state()["alternate"])
    person.term.send(f":w {fx.outside}/copy\r")
    person.answer("1", fx.outside / "copy")
    # of 30 lines one has text and the last is vim's own
    person.until(lambda: "first line" in person.term.screen() and person.term.screen().count("\n~") == 28,
                 "the screen is not back, or of another size")
    person.term.settle(0.3)
    person.term.send(":q\r")
    person.term.expect("out> $")
    equal(fx.read(fx.outside / "copy"), "first line\n")


@test("S12 a window that changes under a question is drawn again", variants=BOTH)
def resized(fx):
    person = Person(fx, "bash", "-c", f"echo x > {fx.outside}/f; stty size")
    person.question(fx.outside / "f")
    person.term.resize(20, 100)
    person.until(lambda: person.shows(fx.outside / "f"), "not drawn again")
    person.answer("1", fx.outside / "f")
    person.term.expect("20 100")
    equal(person.end(), 0)


@test("S12 exit statuses: Ctrl-C in the command, signals, plain", variants=BOTH)
def statuses(fx):
    person = outer_shell(fx)
    words = " ".join(fx.argv())
    person.term.send(f"{words} sh -c 'echo up; exec sleep 1020'\n")
    person.term.expect("\nup")
    person.term.send("\x03")
    person.term.expect("out> $")
    person.term.send("echo status=$?\n")
    person.term.expect("status=130")
    for command, status in (("kill -9 \\$\\$", 137), ("kill -15 \\$\\$", 143), ("exit 3", 3)):
        person.term.send(f'{words} bash -c "{command}"; echo status=$?\n')
        person.term.expect(f"status={status}\r")


@test("S12 what is typed ahead arrives, but for what a question had to drop", variants=BOTH)
def type_ahead(fx):
    person = shell(fx)
    person.term.send("sleep 0.7; echo slept\necho typed ahead\n")
    person.term.expect("\nslept")
    person.term.expect("\ntyped ahead")
    person.term.expect(PROMPT)
    person.term.send(f"{UNTIL}; echo x > {fx.outside}/f; echo status=$?\n")
    person.term.settle(0.2)
    person.term.send("echo before\n")
    person.until(lambda: "echo before" in person.term.screen(), "the command's terminal does not echo it")
    fx.write("go")
    person.answer("1", fx.outside / "f")
    person.term.expect("status=0")
    person.term.expect("\nbefore")  # it came well before the question
    person.term.expect(PROMPT)


@test("S12 what a command has not read is there for the shell afterwards", variants=BOTH)
def unread_input(fx):
    try:
        legacy = open("/proc/sys/dev/tty/legacy_tiocsti").read().strip()
    except OSError:
        legacy = "1"  # before Linux 6.2 nothing forbids it
    person = outer_shell(fx)
    run = " ".join(fx.argv())
    fx.write("typed.py", "import array, fcntl, termios, time\nhere = array.array('i', [0])\n"
             "while not here[0]:\n    time.sleep(0.02)\n    fcntl.ioctl(0, termios.FIONREAD, here)\n")
    for number, words in enumerate(("touch up; python3 typed.py", "stty raw -echo; touch up; python3 typed.py",
                                    "touch up; read a; echo got-$a")):
        up = f"up{number}"
        words = words.replace("up", up)
        person.term.send(f"{run} sh -c '{words}'\n")
        person.until(lambda: fx.exists(up), "it does not begin")
        person.term.send("first\necho ne''xt\n" if "read" in words else "echo ne''xt\n")
        if "read" in words:
            person.term.expect("got-first")
        if legacy == "1":
            person.until(lambda: "\nnext" in person.term.screen(), words)
        person.term.settle(1, 3)
        (contains if legacy == "1" else lacks)(person.term.screen(), "\nnext", words)
        person.term.send("clear\n")
        person.term.expect("out> ")


@test("C5 replies that a command asked for are not typed into the shell", variants=BOTH)
def unread_replies(fx):
    """With plain text before them, which alone would be given back."""
    person = outer_shell(fx)
    run = " ".join(fx.argv())
    fx.write("asks", f"echo up; {UNTIL}; printf '\\033[6n\\033[c\\033[21t'; {UNTIL.replace('go', 'end')}")
    person.term.send(f"{run} sh asks\n")
    person.term.expect("\nup")
    person.term.send("echo ty''ped\n")
    person.until(lambda: "echo ty''ped" in person.term.screen(), "the command's terminal does not echo it")
    fx.write("go")
    person.until(lambda: "^[[?64" in person.term.screen(), "the command's terminal does not echo the replies")
    fx.write("end")
    person.term.settle(1, 3)
    lacks(person.term.screen(), "\ntyped")
    # the command's terminal has echoed them; behind the prompt there is nothing
    check(person.term.screen().splitlines()[-1].rstrip().endswith("out>"), person.term.screen())


@test("S12 a command that ends at once after an answer leaves nothing typed for the shell")
def no_stray_replies(fx):
    person = outer_shell(fx)
    for number in range(3):
        person.term.send(f"{BIN} touch {fx.outside}/{number}\n")
        person.answer("1", fx.outside / str(number))
        person.term.expect("out> ")
        person.term.settle(0.3)
        equal(person.term.screen().splitlines()[-1].rstrip(), "out>")


if __name__ == "__main__":
    run_all()
