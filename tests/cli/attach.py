"""attach.py - C5, C6: a second terminal answers the questions of a run."""

import errno
import fcntl
import json
import os
import re
import signal

from runs import Attached, Run, files
from tap import BIN, check, contains, equal, lacks, run_all, test, wait

BOTH = ("full", "flat")


def write_outside(fx, then="exit $?"):
    return ("sh", "-c", f"echo landed > {fx.outside}/file; {then}")


# --- answering ------------------------------------------------------------------------------------


@test("C5 --consent=ask waits for somebody to attach, and what they approve lands", variants=BOTH)
def approve(fx):
    run = Run(fx, "--consent=ask", *write_outside(fx))
    check(not fx.exists(fx.outside / "file"), "not before the answer")
    person = Attached(fx, columns=200)
    screen = person.sees("wants to create")
    contains(screen, str(fx.outside / "file"))
    contains(screen, "your word: " + (fx.home / ".config/sandbash/word").read_text().strip())
    equal(run.process.poll(), None)
    person.answer("1")
    equal(run.end()[0], 0)
    equal(fx.read(fx.outside / "file"), "landed\n")
    contains(person.sees("the run has ended"), "allowed once: create")
    equal(person.term.wait(), 0)
    equal(files(fx), [])
    contains(fx.sandbash("--log").stdout, "by attach")


@test("C5 what they deny does not", variants=BOTH)
def deny(fx):
    run = Run(fx, "--consent=ask", *write_outside(fx))
    person = Attached(fx)
    person.sees("wants to create")
    person.answer("3")
    check(run.end()[0] != 0, "the write failed")
    check(not fx.exists(fx.outside / "file"), "nothing landed")
    equal(person.term.wait(), 0)


@test("C5 a whole directory, and for always: said to who answered")
def always(fx):
    run = Run(fx, "--consent=ask", "sh", "-c",
              f"echo 1 > {fx.outside}/one && echo 2 > {fx.outside}/two; sleep 1; exit 5")
    person = Attached(fx, columns=200)
    person.sees("wants to create")
    person.answer("4")
    person.sees("added 'write ")
    equal(run.end()[0], 5)
    equal(sorted(os.listdir(fx.outside)), ["one", "two"])
    equal(fx.sandbash("touch", fx.outside / "three").status, 0)


@test("C6 auto: with nobody there it is no at once; somebody attached is asked")
def auto(fx):
    run = Run(fx, *write_outside(fx), listens=False)
    check(run.end()[0] != 0, "refused")
    check(not fx.exists(fx.outside / "file"), "nothing landed")
    run = Run(fx, "sh", "-c", f"while [ ! -e go ]; do sleep 0.05; done; echo x > {fx.outside}/file")
    person = Attached(fx).here()
    fx.write("go")
    person.sees("wants to create")
    person.answer("1")
    equal(run.end()[0], 0)
    check(fx.exists(fx.outside / "file"), "it landed")


@test("C6 auto: when the last one leaves, open questions are refused")
def last_leaves(fx):
    run = Run(fx, "sh", "-c", f"while [ ! -e go ]; do sleep 0.05; done; echo x > {fx.outside}/file")
    person = Attached(fx).here()
    fx.write("go")
    person.sees("wants to create")
    person.term.process.kill()
    check(run.end()[0] != 0, "refused")
    check(not fx.exists(fx.outside / "file"), "nothing landed")
    contains(fx.sandbash("--log").stdout, "by nobody")


@test("C6 --consent=ask: a client killed at the question leaves it open for the next")
def killed(fx):
    run = Run(fx, "--consent=ask", *write_outside(fx))
    first = Attached(fx)
    first.sees("wants to create")
    equal(run.clients(), 1)
    first.term.process.send_signal(signal.SIGKILL)
    first.term.process.wait()
    wait(lambda: run.clients() == 0, "its end is not noticed")
    equal(run.process.poll(), None)
    check(not fx.exists(fx.outside / "file"), "not answered by dying")
    second = Attached(fx)
    second.sees("wants to create")
    second.term.close()  # hanging up is no answer either
    wait(lambda: run.clients() == 0, "its end is not noticed")
    equal(run.process.poll(), None)
    third = Attached(fx)
    third.sees("wants to create")
    third.answer("1")
    equal(run.end()[0], 0)
    check(fx.exists(fx.outside / "file"), "it landed")


@test("C5 two clients: the first answer counts, the other is told")
def two(fx):
    run = Run(fx, "--consent=ask", *write_outside(fx, "sleep 1"))
    first, second = Attached(fx), Attached(fx)
    first.sees("wants to create")
    second.sees("wants to create")
    first.answer("3")
    second.sees("answered on another terminal")
    lacks(second.term.screen(), "wants to create")
    run.end()
    check(not fx.exists(fx.outside / "file"), "denied")


@test("C5 the run's own terminal and another: whoever is first")
def both_terminals(fx):
    for answers in ("own", "other"):
        target = fx.outside / answers
        own = fx.sandbash_terminal("sh", "-c", f"echo x > {target}; echo done; sleep 0.5", replies=True)
        wait(lambda: files(fx), "the run does not listen")
        other = Attached(fx)
        other.sees("wants to create")
        wait(lambda: own.settle(0.02, 0.1) or "wants to create" in own.screen(), "it shows on both")
        if answers == "own":
            own.answer("1")
            other.sees("answered on the run's own terminal")
        else:
            other.answer("1")
        own.expect("done")
        equal(own.wait(), 0)
        check(target.exists(), "it landed")
        equal(other.term.wait(), 0)


@test("C6 --ask-timeout ends a question that nobody answers")
def timeout(fx):
    run = Run(fx, "--consent=ask", "--ask-timeout=4", "sh", "-c",
              f"while [ ! -e go ]; do sleep 0.05; done; echo x > {fx.outside}/file; sleep 1; exit 7")
    person = Attached(fx).here()
    fx.write("go")
    person.sees("wants to create")
    person.sees("its time is up")
    equal(run.end()[0], 7)
    check(not fx.exists(fx.outside / "file"), "nothing landed")


@test("C6 the process that asks is gone: the question is withdrawn")
def asker_gone(fx):
    run = Run(fx, "--consent=ask", "sh", "-c",
              f"(echo x > {fx.outside}/file) & while [ ! -e go ]; do sleep 0.05; done; kill -9 $!; "
              "while [ ! -e end ]; do sleep 0.05; done; exit 7")
    person = Attached(fx)
    person.sees("wants to create")
    fx.write("go")
    person.sees("nobody waits for it")
    fx.write("end")
    equal(run.end()[0], 7)


def signals_of(mark):
    """Those that wait for the process with this word in its command line, as a set of bits."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as line:
                words = line.read().split(b"\0")
            with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as status:
                sets = re.findall(r"^(?:SigPnd|ShdPnd):\t(\w+)", status.read(), re.M)
        except OSError:
            continue
        if words[0] == b"python3" and mark.encode() in words:
            return int(sets[0], 16) | int(sets[1], 16)
    return 0


@test("C6 a command at a question is ended by a signal, also when one that it handles waits before that", variants=BOTH)
def ended(fx):
    fx.write("handles.py", "import signal\nsignal.signal(signal.SIGUSR1, lambda *_: None)\n"
                           f"open('{fx.outside}/file', 'w')\n")
    for before in (None, signal.SIGUSR1):
        mark = f"{fx.dir.name}-{before}"
        run = Run(fx, "--consent=ask", "python3", "handles.py", mark)
        person = Attached(fx)
        person.sees("wants to create")
        if before:
            run.process.send_signal(before)
            wait(lambda: signals_of(mark) & 1 << before - 1, "it does not wait for the end of the call")
            equal(run.process.poll(), None)
        run.process.terminate()
        check(run.end()[0] != 0, "ended")
        person.term.wait()
        check(not fx.exists(fx.outside / "file"), "nothing landed")


@test("C5 Ctrl-C detaches between questions, and the terminal is as it was")
def detach(fx):
    run = Run(fx, "sleep", "1030")
    term = fx.terminal("bash", "--noprofile", "--norc", "-c",
                       f"tty; stty -g; {BIN} --attach; echo status=$?; stty -g", replies=True)
    before = term.expect(r"(/dev/pts/\d+)\r\n(\S+:\S+)\r\n")
    term.expect("Ctrl-C detaches")
    term.settle()
    check(is_exclusive(before.group(1)), "nobody else opens it")
    term.send("abc\r")
    term.settle()
    term.send("\x03")
    term.expect("status=0\r\n")
    equal(term.expect(r"(\S+:\S+)\r\n").group(1), before.group(2))
    term.wait()
    # also after a client that was killed
    term = fx.terminal("bash", "--noprofile", "--norc", "-i", replies=True)
    name = os.readlink(f"/proc/{term.process.pid}/fd/0")
    for how in (b"\x03", signal.SIGTERM, signal.SIGKILL):
        term.send(f"{BIN} --attach\n")
        term.expect("Ctrl-C detaches")
        check(is_exclusive(name), "nobody else opens it")
        if isinstance(how, bytes):
            term.send(how)
        else:
            os.kill(term.foreground(), how)
        wait(lambda: not is_exclusive(name), "the terminal can be opened again")
        wait(lambda: term.foreground() == term.process.pid, "the shell is not back")
        term.settle()
        term.send("\n")
    equal(run.process.poll(), None)
    run.stop()


def is_exclusive(name):
    try:
        fd = os.open(name, os.O_RDWR | os.O_NOCTTY)
    except OSError as error:
        equal(error.errno, errno.EBUSY)
        return True
    try:
        state = fcntl.ioctl(fd, 0x80045440, b"\0" * 4)  # TIOCGEXCL: root gets in all the same
        return any(state)
    finally:
        os.close(fd)


@test("C5 names with escape sequences are shown as text, and what was typed before answers nothing")
def hostile_names(fx):
    name = "x\x1b[2J\x1b[H 1  deny\r\nallow\u202e"
    fx.write("go.sh", f"while [ ! -e go ]; do sleep 0.05; done; echo x > '{fx.outside}/{name}'; exit 3")
    run = Run(fx, "--consent=ask", "sh", "go.sh")
    person = Attached(fx, columns=200).here()
    person.term.send("1")  # nothing is asked yet
    fx.write("go")
    for _ in range(20):  # a hand in the middle of typing: no key is alone, however busy the machine
        person.term.send("1x")
        person.term.settle(0.02, 0.05)
    screen = person.sees("wants to create")
    contains(screen, "x\\e[2J\\e[H 1\\x20{2}deny\\r\\nallow")
    lacks(screen, "\u202e")
    person.term.settle(0.3, 1)
    equal(os.listdir(fx.outside), [])
    equal(run.process.poll(), None)
    person.answer("3")
    equal(run.end()[0], 3)
    equal(os.listdir(fx.outside), [])


# --- which one --------------------------------------------------------------------------------------


@test("--sessions lists what runs, and --attach takes the only one or asks which")
def which(fx):
    contains(fx.sandbash("--sessions").stdout, "no session is running")
    equal(fx.terminal(BIN, "--attach").wait(), 2)
    one = Run(fx, "--session=first", "sleep", "1030")
    text = fx.sandbash("--sessions").stdout
    contains(text, one.session)
    contains(text, "--session=first")
    contains(text, "sleep 1030")
    Attached(fx).here().term.close()
    two_ = Run(fx, "sleep", "1031")
    found = json.loads(fx.sandbash("--sessions", "--json").stdout)
    found.sort(key=lambda s: s["command"])  # of one second either may be the first
    equal([(s["running"], s["name"], s["command"]) for s in found],
          [(True, "first", "sleep 1030"), (True, None, "sleep 1031")])
    equal([s["process"] for s in found], [one.process.pid, two_.process.pid])
    person = Attached(fx)
    equal(person.term.wait(), 2)
    contains(person.term.screen(), "sleep 1031")
    end = two_.session.split("-", 1)[1]
    for name, session in (("first", one.session), (one.session, one.session),
                          (end, two_.session)):
        person = Attached(fx, f"--attach={name}").here()
        contains(person.term.screen(), session)
        person.term.close()
    equal(fx.terminal(BIN, "--attach=third").wait(), 2)
    equal(fx.sandbash("--attach=").status, 2)
    equal(fx.sandbash("--attach", "true").status, 2)
    contains(fx.sandbash("--attach").stderr, "needs a terminal")
    # one that was killed is no longer there, and what it left is removed
    one.process.kill()
    one.process.communicate()
    check(one.session in files(fx), "its file is left")
    lacks(fx.sandbash("--sessions").stdout, one.session)
    equal(files(fx), [two_.session])
    two_.stop()
    equal(files(fx), [])


run_all()
