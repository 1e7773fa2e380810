"""attach_inside.py - C5: a second terminal answers the questions of a run; nobody inside can."""

import os
import pty
import signal
import socket
import struct
import sys

from runs import Attached, Run, files, run_dir, write_others
from tap import BIN, Failed, check, contains, equal, lacks, run_all, test, wait

BOTH = ("full", "flat")

HELLO = struct.pack("=IIQiiIII45I", 0x35614253, 0, 0, 0, 0, 0, 0, 0xFFFFFFFF, *[0xFFFFFFFF] * 45)
WELCOME, REFUSED = 2, 3

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
    person = Attached(fx).here()
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
    person = Attached(fx).here()  # another one is fine
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
    Attached(fx).here()
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
    person = Attached(fx).here()
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
