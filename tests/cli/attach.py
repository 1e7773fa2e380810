"""attach.py - C5, C6: a second terminal answers the questions of a run; nobody inside can."""

import errno
import fcntl
import json
import os
import pty
import re
import signal
import socket
import struct
import sys

from runs import Run, files, run_dir, write_others
from tap import BIN, Failed, check, contains, equal, lacks, run_all, test, wait

BOTH = ("full", "flat")

HELLO = struct.pack("=IIQiiIII33I", 0x34614253, 0, 0, 0, 0, 0, 0, 0xFFFFFFFF, *[0xFFFFFFFF] * 33)
WELCOME, REFUSED = 2, 3


class Person:
    """Somebody at a terminal with sandbash --attach."""

    def __init__(self, fx, *args, **where):
        self.term = fx.terminal(BIN, *(args or ["--attach"]), replies=True, **where)

    def sees(self, text):
        def look():
            self.term.settle(0.02, 0.1)
            return text in self.term.screen()
        wait(look, lambda: f"{text!r} does not show; the screen:\n{self.term.screen()}")
        return self.term.screen()

    def here(self):
        self.sees("Ctrl-C detaches")
        return self

    def answer(self, key):
        self.sees("Press ")
        self.term.answer(key)


def write_outside(fx, then="exit $?"):
    return ("sh", "-c", f"echo landed > {fx.outside}/file; {then}")


# --- answering ------------------------------------------------------------------------------------


@test("C5 --consent=ask waits for somebody to attach, and what they approve lands", variants=BOTH)
def approve(fx):
    run = Run(fx, "--consent=ask", *write_outside(fx))
    check(not fx.exists(fx.outside / "file"), "not before the answer")
    person = Person(fx, columns=200)
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
    person = Person(fx)
    person.sees("wants to create")
    person.answer("3")
    check(run.end()[0] != 0, "the write failed")
    check(not fx.exists(fx.outside / "file"), "nothing landed")
    equal(person.term.wait(), 0)


@test("C5 a whole directory, and for always: said to who answered")
def always(fx):
    run = Run(fx, "--consent=ask", "sh", "-c",
              f"echo 1 > {fx.outside}/one && echo 2 > {fx.outside}/two; sleep 1; exit 5")
    person = Person(fx, columns=200)
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
    person = Person(fx).here()
    fx.write("go")
    person.sees("wants to create")
    person.answer("1")
    equal(run.end()[0], 0)
    check(fx.exists(fx.outside / "file"), "it landed")


@test("C6 auto: when the last one leaves, open questions are refused")
def last_leaves(fx):
    run = Run(fx, "sh", "-c", f"while [ ! -e go ]; do sleep 0.05; done; echo x > {fx.outside}/file")
    person = Person(fx).here()
    fx.write("go")
    person.sees("wants to create")
    person.term.process.kill()
    check(run.end()[0] != 0, "refused")
    check(not fx.exists(fx.outside / "file"), "nothing landed")
    contains(fx.sandbash("--log").stdout, "by nobody")


@test("C6 --consent=ask: a client killed at the question leaves it open for the next")
def killed(fx):
    run = Run(fx, "--consent=ask", *write_outside(fx))
    first = Person(fx)
    first.sees("wants to create")
    equal(run.clients(), 1)
    first.term.process.send_signal(signal.SIGKILL)
    first.term.process.wait()
    wait(lambda: run.clients() == 0, "its end is not noticed")
    equal(run.process.poll(), None)
    check(not fx.exists(fx.outside / "file"), "not answered by dying")
    second = Person(fx)
    second.sees("wants to create")
    second.term.close()  # hanging up is no answer either
    wait(lambda: run.clients() == 0, "its end is not noticed")
    equal(run.process.poll(), None)
    third = Person(fx)
    third.sees("wants to create")
    third.answer("1")
    equal(run.end()[0], 0)
    check(fx.exists(fx.outside / "file"), "it landed")


@test("C5 two clients: the first answer counts, the other is told")
def two(fx):
    run = Run(fx, "--consent=ask", *write_outside(fx, "sleep 1"))
    first, second = Person(fx), Person(fx)
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
        other = Person(fx)
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
    person = Person(fx).here()
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
    person = Person(fx)
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
        person = Person(fx)
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
    person = Person(fx, columns=200).here()
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
    Person(fx).here().term.close()
    two_ = Run(fx, "sleep", "1031")
    found = json.loads(fx.sandbash("--sessions", "--json").stdout)
    equal([(s["running"], s["name"], s["command"]) for s in found],
          [(True, "first", "sleep 1030"), (True, None, "sleep 1031")])
    equal([s["process"] for s in found], [one.process.pid, two_.process.pid])
    person = Person(fx)
    equal(person.term.wait(), 2)
    contains(person.term.screen(), "sleep 1031")
    end = two_.session.split("-", 1)[1]
    for name, session in (("first", one.session), (one.session, one.session),
                          (end, two_.session)):
        person = Person(fx, f"--attach={name}").here()
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


# --- nobody inside --------------------------------------------------------------------------------------

INSIDE = r'''
import array, os, socket, struct, sys, time
HELLO = bytes.fromhex("%s")

def say(s):
    s.settimeout(120)
    try:
        s.send(HELLO)
        data = s.recv(65536)
        return "WELCOME" if data and struct.unpack("=II", data[:8])[1] == 2 else "refused"
    except ConnectionResetError:
        return "refused"
    except OSError as error:
        return "refused " + str(error)

def attach(name, kind=socket.SOCK_SEQPACKET):
    s = socket.socket(socket.AF_UNIX, kind)
    try:
        s.connect(name)
    except OSError as error:
        return f"connect: {error.errno}"
    return say(s)

def names():
    """All but those of other runs, which were there before: one may be stuck."""
    with open("/proc/net/unix") as stream:
        found = [line.split("@", 1)[1].strip() for line in stream if "@sandbash/" in line]
    others = open("../../others").read().split("\n")
    return ["\0" + name for name in found if name not in others]

def orphan(name, out):
    """From a daemon whose parents are gone."""
    if os.fork() == 0:
        os.setsid()
        parent = os.getpid()
        if os.fork() == 0:
            while os.getppid() == parent:
                time.sleep(0.02)
            with open(out + ".new", "w") as stream:
                stream.write(attach(name))
            os.rename(out + ".new", out)
            os._exit(0)
        os._exit(0)
    os.wait()
    for _ in range(6000):
        if os.path.exists(out):
            return open(out).read()
        time.sleep(0.02)
    return "nothing"

def thread(name):
    import threading
    found = []
    t = threading.Thread(target=lambda: found.append(attach(name)))
    t.start()
    t.join()
    return found[0]

def datagram(name):
    try:
        s = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0]
        s.sendto(HELLO, name)
        return "WELCOME?"
    except OSError as error:
        return f"connect: {error.errno}"

def received(path):
    """A connection that somebody outside hands in."""
    s = socket.socket(socket.AF_UNIX)
    s.bind(path)
    s.listen(1)
    connection = s.accept()[0]
    data, control, _, _ = connection.recvmsg(1, socket.CMSG_SPACE(4))
    fd = array.array("i", control[0][2][:4])[0]
    return say(socket.socket(fileno=fd))
'''


def inside(fx, body):
    """A script that a run executes; it ends with the results in the file "result"."""
    write_others(fx)
    return fx.write("inside.py", INSIDE % HELLO.hex() + body + """
with open("result.new", "w") as stream:
    stream.write("\\n".join(results))
os.rename("result.new", "result")
time.sleep(1030)
""")


def results(fx, run):
    wait(lambda: fx.exists("result") or run.process.poll() is not None, "no result")
    if not fx.exists("result"):
        raise Failed(f"the run has ended: {run.process.communicate()}")
    found = fx.read("result").split("\n")
    os.unlink(fx.path("result"))
    return found


def hello_from_outside(address):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.settimeout(120)
    s.connect(address)
    s.send(HELLO)
    kind = struct.unpack("=II", s.recv(65536)[:8])[1]
    s.close()
    return kind


def none_is_welcome(found, count):
    equal(len(found), count)
    for line in found:
        check("WELCOME" not in line and line != "nothing", found)


WAYS = """
while not os.path.exists("name"):
    time.sleep(0.02)
name = "\\0" + open("name").read()
results = [attach(name), attach(name, socket.SOCK_STREAM), orphan(name, "daemon"), thread(name),
           datagram(name)]
seen = names()
results.append("refused" if all("WELCOME" not in attach(n) for n in seen) else "WELCOME")
"""


@test("C5 no process of the run can connect, by any way", variants=BOTH)
def from_inside(fx):
    inside(fx, WAYS)
    run = Run(fx, "--consent=ask", "python3", "inside.py")
    equal(hello_from_outside(run.address()), WELCOME)
    fx.write("name", run.address()[1:])
    none_is_welcome(results(fx, run), 6)
    equal(hello_from_outside(run.address()), WELCOME)
    run.stop()


@test("C5 nor where the kernel does not keep abstract names apart")
def from_inside_old(fx):
    inside(fx, WAYS)
    run = Run(fx, "--best-effort", "--consent=ask", "python3", "inside.py", without="landlock")
    equal(hello_from_outside(run.address()), WELCOME)
    fx.write("name", run.address()[1:])
    none_is_welcome(results(fx, run), 6)
    run.stop()


@test("C5 nor a process of another run, supervised or static, even where it can connect",
      variants=BOTH)
def from_another(fx):
    run = Run(fx, "--consent=ask", "sleep", "1060", variant="full")
    fx.write("name", run.address()[1:])
    for flags, how in ((["--consent=ask"], {}), (["--static"], {}),
                       (["--static", "--best-effort"], {"without": "landlock-abi=5"}),
                       (["--static", "--best-effort"], {"without": "landlock"})):
        if how.get("without") == "landlock" and fx.variant == "flat":
            continue  # neither Landlock nor namespaces: that is no run
        inside(fx, WAYS)
        other = Run(fx, *flags, "python3", "inside.py", listens=False, **how)
        found = results(fx, other)
        none_is_welcome(found, 6)
        if how:  # it did reach the run, so what refused it is the look at who connects
            contains(found[0], "refused")
        equal(hello_from_outside(run.address()), WELCOME)
        other.process.kill()
        other.process.communicate()
    run.stop()


@test("C5 nor over a connection that somebody outside made and handed in", variants=BOTH)
def handed_in(fx):
    inside(fx, "results = [received('in')]\n")
    run = Run(fx, "--consent=ask", "python3", "inside.py")
    wait(lambda: fx.exists("in"), "it does not listen")
    here = os.getcwd()
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.connect(run.address())
    way = socket.socket(socket.AF_UNIX)
    os.chdir(fx.project)
    try:
        wait(lambda: way.connect_ex("in") == 0, "it does not accept")
    finally:
        os.chdir(here)
    socket.send_fds(way, [b"x"], [connection.fileno()])
    none_is_welcome(results(fx, run), 1)
    equal(hello_from_outside(run.address()), WELCOME)
    run.stop()


@test("C5 nor with sandbash --attach inside, on a terminal of its own making; the list of runs "
      "is not its to change", variants=BOTH)
def attach_inside(fx):
    fx.write("nested.py", f"""
import os, pty, sys
def spawn(words):
    chunks = []
    def read(fd):
        data = os.read(fd, 1024)
        chunks.append(data)
        return b""
    pid, fd = pty.fork()
    if pid == 0:
        os.execv(words[0], words)
    text = b""
    try:
        while True:
            data = os.read(fd, 1024)
            if not data:
                break
            text += data
    except OSError:
        pass
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), text.decode()
results = []
for words in (["{BIN}", "--attach"], ["{BIN}", "{BIN}", "--attach"], ["{BIN}", "--static", "{BIN}", "--attach"]):
    results.append(repr(spawn(words)))
run = "{run_dir(fx)}"
for act in (lambda: open(run + "/x", "w"), lambda: open(run + "/" + os.environ["S"], "r+"),
            lambda: os.unlink(run + "/" + os.environ["S"]), lambda: os.rename(run, run + "2")):
    try:
        act()
        results.append("done")
    except OSError as error:
        results.append("no")
with open("result.new", "w") as stream:
    stream.write("\\n".join(results))
os.rename("result.new", "result")
import time
time.sleep(1030)
""")
    run = Run(fx, "--consent=ask", "sh", "-c",
              "while [ ! -e name ]; do sleep 0.05; done; S=$(cat name) exec python3 nested.py")
    fx.write("name", run.session)
    found = results(fx, run)
    for line in found[:3]:
        contains(line, "nobody inside a sandbox can answer its questions")
        lacks(line, "(0,")
    equal(found[3:], ["no"] * 4)
    contains(fx.sandbash("--sessions", variant="full").stdout, run.session)
    run.stop()


@test("C5 the terminal of a client cannot be opened from inside, whatever its mode",
      variants=BOTH)
def clients_terminal(fx):
    fx.write("t.py", """
import os, time
results = []
def attempts(name):
    found = []
    for flags in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR):
        try:
            os.close(os.open(name, flags | os.O_NOCTTY | os.O_NONBLOCK))
            found.append("opened")
        except OSError as error:
            found.append("no")
    return found
def wait_for(name):
    while not os.path.exists(name):
        time.sleep(0.02)
    return open(name).read()
results.append(" ".join(attempts(wait_for("before"))))
name = wait_for("after")
results.append(" ".join(attempts(name)))
try:
    os.chmod(name, 0o666)
except OSError:
    pass
results.append(" ".join(attempts(name)))
with open("result.new", "w") as stream:
    stream.write("\\n".join(results))
os.rename("result.new", "result")
time.sleep(1030)
""")
    run = Run(fx, "python3", "t.py")
    control, side = pty.openpty()  # opened while it runs, by nobody in particular
    fx.write("before.new", os.ttyname(side))
    os.rename(fx.path("before.new"), fx.path("before"))
    person = Person(fx).here()
    name = os.readlink(f"/proc/{person.term.process.pid}/fd/0")
    fx.write("after.new", name)
    os.rename(fx.path("after.new"), fx.path("after"))

    def deny_what_it_asks():
        person.term.settle(0.02, 0.1)
        if "wants to change" in person.term.screen():
            person.answer("3")
        return fx.exists("result")

    wait(deny_what_it_asks, "no result")
    found = results(fx, run)
    equal(found[1:], ["no no no"] * 2, f"(another terminal: {found[0]})")
    os.close(control)
    os.close(side)
    run.stop()


@test("C5 a terminal that a process inside has open is none to attach from", variants=BOTH)
def held_terminal(fx):
    fx.write("hold.py", """
import os, time
while not os.path.exists("name"):
    time.sleep(0.02)
fd = os.open(open("name").read(), os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
open("held", "w").close()
while os.path.exists("held"):
    time.sleep(0.02)
os.close(fd)
open("gone", "w").close()
time.sleep(1030)
""")
    # with a rule for the real terminals; otherwise it has no name for this one
    # (and with it those of others, which may be in sight: best effort)
    run = Run(fx, "--best-effort", "--allow-write=/dev/pts", "python3", "hold.py")
    term = fx.terminal("bash", "--noprofile", "--norc", "-i", replies=True)
    fx.write("name.new", os.readlink(f"/proc/{term.process.pid}/fd/0"))
    os.rename(fx.path("name.new"), fx.path("name"))
    wait(lambda: fx.exists("held"), "it opens the terminal")
    term.send(f"{BIN} --attach; echo status=$?\n")
    term.expect("has this terminal open")
    term.expect("attach from another terminal")
    term.expect("status=125")
    person = Person(fx).here()  # another one is fine
    person.term.close()
    os.unlink(fx.path("held"))
    wait(lambda: fx.exists("gone"), "it closes it")
    term.send(f"{BIN} --attach\n")
    term.expect("Ctrl-C detaches")
    run.stop()


@test("C5 a run in the background of a terminal is not attached to from there")
def background(fx):
    term = fx.terminal("bash", "--noprofile", "--norc", "-i", replies=True)
    term.send(f"{BIN} sleep 1030 &\n")
    wait(lambda: files(fx), "it does not listen")
    term.send(f"{BIN} --attach; echo status=$?\n")
    term.expect("has this terminal open")
    term.expect("status=125")
    Person(fx).here()
    term.send("kill %1\n")
    wait(lambda: not files(fx), "it ends")


@test("C5 a client is neither signalled, traced nor looked into from inside", variants=BOTH)
def client_is_out_of_reach(fx):
    fx.write("reach.py", """
import ctypes, os, signal, time
while not os.path.exists("name"):
    time.sleep(0.02)
results = []
libc = ctypes.CDLL(None, use_errno=True)
for pid in map(int, open("name").read().split()):
    for act in (lambda: os.kill(pid, signal.SIGTERM), lambda: os.kill(pid, signal.SIGSTOP),
                lambda: os.readlink(f"/proc/{pid}/fd/0"), lambda: open(f"/proc/{pid}/mem", "rb"),
                lambda: open(f"/proc/{pid}/fd/0", "rb")):
        try:
            act()
            results.append("done")
        except OSError:
            results.append("no")
    results.append("no" if libc.ptrace(16, pid, 0, 0) < 0 else "done")
with open("result.new", "w") as stream:
    stream.write("\\n".join(results))
os.rename("result.new", "result")
time.sleep(1030)
""")
    run = Run(fx, "python3", "reach.py")
    person = Person(fx).here()
    fx.write("name.new", f"{person.term.process.pid} {run.process.pid}")
    os.rename(fx.path("name.new"), fx.path("name"))
    equal(results(fx, run), ["no"] * 12)
    equal(person.term.process.poll(), None)
    # the same works outside
    os.readlink(f"/proc/{person.term.process.pid}/fd/0")
    os.kill(person.term.process.pid, signal.SIGTERM)
    equal(person.term.wait(), 0)
    run.stop()


def another_user(fx):
    run = Run(fx, "--consent=ask", "sleep", "1030")
    script = (f"import os,socket,struct\nos.setuid(65534)\n"
              f"s=socket.socket(socket.AF_UNIX,socket.SOCK_SEQPACKET)\n"
              f"s.connect({run.address()!r})\n"
              f"try: s.send(bytes.fromhex('{HELLO.hex()}'))\nexcept BrokenPipeError: pass\n"
              f"try: d=s.recv(65536)\nexcept ConnectionResetError: d=s.recv(65536)\n"
              f"print(struct.unpack('=II',d[:8])[1])\n")
    equal(fx.run(sys.executable, "-c", script).stdout.strip(), str(REFUSED))
    equal(fx.run(sys.executable, "-c", script.replace("os.setuid(65534)", "pass")).stdout.strip(),
          str(WELCOME))
    run.stop()


if os.getuid() == 0:  # it takes root to be two users
    test("C5 another user cannot attach")(another_user)


run_all()
