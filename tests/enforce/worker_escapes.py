"""Z7: what a worker that obeys a hostile document would try with files and commands, and what it would leave: hostile.py.

Each class of escapes is a script that does what it can think of and prints what worked.  Without a sandbox, beside the
project, nearly all of it works: that is the control.  In a container worker nothing may, and the neighbours still do."""

import ctypes
import json
import os
import select
import shutil
from pathlib import Path

from hostile import HEAD, TAIL, Place
from tap import check, contains, equal, lacks, run_all, test
from workers import INPUT, OUTPUT, declare, run

PLANT = Path(__file__).resolve().parent.parent / "lib" / "plant.py"
MARK = "planted-by-the-inside"
LIBC = ctypes.CDLL(None, use_errno=True)

# --- written now, run later outside --------------------------------------------------------------------------------

def attacks():
    lines = PLANT.read_text().splitlines()
    return [line[4:line.index("(")] for before, line in zip(lines, lines[1:]) if before == "@attack"]


def furnish(fx, top, name):
    """A place for each attack: what lies around the name, not yet the name itself."""
    template = fx.dir / "template"
    template.mkdir()
    if name.startswith(".git/"):
        equal(fx.run("git", "init", "-q", "--template=", template).status, 0)
    (template / name).parent.mkdir(parents=True, exist_ok=True)
    for word in attacks():
        shutil.copytree(template, top / word)
    shutil.rmtree(template)


def planted(top, name):
    return {word for word in attacks() if (top / word / name).is_file() and MARK in (top / word / name).read_text()}


def plant(fx, place, name, evil):
    """By every way that there is, in the zone and beside it: where it lies then."""
    env = {"EVIL": evil, "HARMLESS": ""}
    tops = place.own["output"] / "x", place.beside / "x"
    for top in tops:
        furnish(fx, top, name)
    log = run(fx, "w", "python3", "-c", PLANT.read_text(), "/output/x", name, flags=["--keep-env=EVIL,HARMLESS", "--quiet"],
              env=env).stdout
    fx.run("python3", PLANT, tops[1], name, env=env)
    found = [planted(top, name) for top in tops]
    check(len(found[1]) >= 20, f"control: {found[1]}")
    return found, log


@test("ESCAPES written now, run later outside: hooks of git in a zone")
def hooks(fx):
    found, log = plant(fx, Place(fx), ".git/hooks/pre-commit", f"#!/bin/sh\n# {MARK}\n")
    equal(found[0], set(), log)


@test("ESCAPES written now, run later outside: a worker's file in a zone, which sandbash itself would obey")
def workers(fx):
    found, log = plant(fx, Place(fx), "sub/evil.worker", f"---\nname: {MARK}\n---\n")
    equal(found[0], set(), log)


NAMES = r'''
for name in (".git/config", ".git/index", "repo/.git/hooks/pre-commit", "bare.git/hooks/update", ".envrc", ".vscode/tasks.json",
             ".devcontainer/devcontainer.json", ".claude/settings.json", ".mcp.json", ".cursor/mcp.json",
             ".pre-commit-config.yaml", ".npmrc", "evil.worker", "sandbash.yaml", "golem-forge.config.yaml"):
    path = out + "/" + name
    def made():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(want["evil"])
    attempt(name, made)
    attempt("a link at " + name, lambda: (os.path.lexists(path) and os.unlink(path), os.symlink("/output/notes", path)))
neighbour("notes", lambda: put(out + "/notes"))
'''


@test("ESCAPES written now, run later outside: what git, editors, agents and sandbash obey, at the top of a zone")
def names(fx):
    place = Place(fx)
    place.more["evil"] = "[core]\n\tfsmonitor = evil\n"
    for top in (place.own["output"], place.beside / "output"):
        for words in (("init", "-q", "--template=", top), ("init", "-q", "--template=", top / "repo"),
                      ("init", "-q", "--bare", "--template=", top / "bare.git")):
            equal(fx.run("git", *words).status, 0)
    place.hold(NAMES, {".git/config", "repo/.git/hooks/pre-commit", ".envrc", "evil.worker", "sandbash.yaml"})


@test("ESCAPES written now, run later outside: the neighbour, a name that nobody obeys")
def plain(fx):
    found, log = plant(fx, Place(fx), "plain.d/file", f"# {MARK}\n")
    equal(found[1] - found[0], {"as_link"}, log)  # which leads to a name that is only there inside


# --- paths ------------------------------------------------------------------------------------------------------------

PATHS = r'''
put(out + "/own")
os.mkdir(out + "/dir")
for way in ("", "/proc/self/root", "/proc/1/root", "/proc/self/cwd/../../../..", "/proc/thread-self/root", out + "/../../../..",
            "//", "/proc/self/task/%d/root" % os.getpid()):
    attempt("read " + way, lambda: text(way + secret))
    attempt("write " + way, lambda: put(way + home + "/planted"))
def by_link(target, name, act):
    os.symlink(target, out + "/" + name)
    return act(out + "/" + name)
attempt("link", lambda: by_link(secret, "l1", text))
attempt("link above", lambda: by_link(home, "l2", lambda path: text(path + "/secret")))
attempt("link to what is not there yet", lambda: by_link(home + "/planted", "l3", put))
attempt("link of links", lambda: (os.symlink(out + "/l1", out + "/l4"), text(out + "/l4"))[1])
attempt("relative link", lambda: by_link("../" * 20 + secret[1:], "l5", text))
attempt("cd and relative", lambda: (os.chdir(home), put("planted")))
attempt("list home", lambda: os.listdir(home))
if not want["free"]:
    attempt("chroot", lambda: os.chroot(out))
attempt("held O_PATH", lambda: text("/proc/self/fd/%d" % os.open(secret, os.O_PATH)))
attempt("openat2", lambda: call("openat2", -100, os.fsencode(secret), struct.pack("QQQ", 0, 0, 0), 24))
attempt("handle", lambda: call("open_by_handle_at", os.open(out, os.O_RDONLY), bytes.fromhex(want["handle"]), 0))
# between directories of its own, of which each has rules of its own
for there in (inp, fin):
    old = there + "/old"
    attempt("write " + os.path.basename(there), lambda: put(old))
    attempt("append " + os.path.basename(there), lambda: put(old, os.O_WRONLY | os.O_APPEND))
    attempt("create " + os.path.basename(there), lambda: put(there + "/new"))
    attempt("truncate " + os.path.basename(there), lambda: os.truncate(old, 0))
    attempt("link into " + os.path.basename(there), lambda: os.link(out + "/own", there + "/h"))
    attempt("link from " + os.path.basename(there), lambda: (os.link(old, out + "/h-" + os.path.basename(there)),
                                                          put(out + "/h-" + os.path.basename(there), os.O_WRONLY)))
    attempt("link a descriptor of " + os.path.basename(there),
            lambda: os.link("/proc/self/fd/%d" % os.open(old, os.O_RDONLY), out + "/f-" + os.path.basename(there),
                            follow_symlinks=True))
    attempt("through a link to " + os.path.basename(there), lambda: by_link(there, "to-" + os.path.basename(there),
                                                                    lambda path: put(path + "/new2")))
    attempt("reopen " + os.path.basename(there), lambda: put("/proc/self/fd/%d" % os.open(old, os.O_RDONLY), os.O_WRONLY))
    attempt("reopen O_PATH " + os.path.basename(there), lambda: put("/proc/self/fd/%d" % os.open(old, os.O_PATH), os.O_WRONLY))
    attempt("mode " + os.path.basename(there), lambda: os.chmod(old, 0o600))
    attempt("time " + os.path.basename(there), lambda: os.utime(old))
    attempt("attribute " + os.path.basename(there), lambda: os.setxattr(old, "user.x", b"1"))
    attempt("flags " + os.path.basename(there), lambda: fcntl.ioctl(os.open(old, os.O_RDONLY), 0x40086602, struct.pack("l", 0x40)))
    attempt("fifo " + os.path.basename(there), lambda: put(there + "/fifo", os.O_RDWR))
    attempt("rename into " + os.path.basename(there), lambda: (put(out + "/r"), os.rename(out + "/r", there + "/r")))
    attempt("exchange " + os.path.basename(there),
            lambda: libc.renameat2(-100, os.fsencode(out + "/own"), -100, os.fsencode(old), 2) == 0)
    attempt("rename from " + os.path.basename(there), lambda: os.rename(old, out + "/taken"))
    attempt("delete " + os.path.basename(there), lambda: os.unlink(old))
    attempt("move " + os.path.basename(there), lambda: os.rename(there, there + "-away"))
neighbour("own", lambda: (put(out + "/dir/a"), os.rename(out + "/dir/a", out + "/b"), os.link(out + "/b", out + "/c"),
                          os.symlink("b", out + "/d"), put(out + "/d"), os.unlink(out + "/c"), os.chmod(out + "/b", 0o600)))
neighbour("reading", lambda: want["free"] or [os.listdir(inp), os.listdir(fin), open(fin + "/old").read() == "old\n" or 1 / 0])
neighbour("fifo", lambda: put(out + "/fifo", os.O_RDWR))
'''


def handle_of(path):
    """name_to_handle_at(), as bytes that open_by_handle_at() takes."""
    buffer = ctypes.create_string_buffer(136)
    buffer[0:4] = (128).to_bytes(4, "little")
    mount = ctypes.c_int()
    LIBC.name_to_handle_at(-100, os.fsencode(path), buffer, ctypes.byref(mount), 0)
    return bytes(buffer).hex()


@test("ESCAPES paths: links, hard links, descriptors, handles, names of /proc; from one zone to another")
def paths(fx):
    place = Place(fx)
    for name, path in place.own.items():
        os.mkfifo(path / "fifo")
        os.mkfifo(place.beside / name / "fifo")
    place.more["handle"] = handle_of(place.secret)
    works = {"read ", "write ", "read /proc/self/root", "link", "link above", "link to what is not there yet", "link of links",
             "relative link", "cd and relative", "list home", "held O_PATH", "openat2"}
    for there in ("input", "final"):
        works |= {f"{act} {there}" for act in ("write", "append", "create", "truncate", "link into", "link from",
                                              "through a link to", "reopen", "reopen O_PATH", "mode", "time", "fifo",
                                              "rename into", "exchange", "rename from", "move")}
    place.hold(PATHS, works)


RACE = r'''
os.makedirs(out + "/d")
os.symlink(out + "/d", out + "/l")
others = [(out + "/m", fin), (out + "/k", inp), (out + "/o", home)]
for name, target in others:
    try: os.symlink(target, name)
    except OSError: assert target == home, target  # which a worker does not get to make
over = threading.Event()
def flip(other):
    while not over.is_set():
        libc.renameat2(-100, os.fsencode(out + "/l"), -100, os.fsencode(other), 2)
for name, _ in others:
    threading.Thread(target=flip, args=[name], daemon=True).start()
def tried(act, *words, **more):
    try:
        return act(*words, **more)
    except OSError:
        pass
def changed(there):
    old = there + "/old"
    return (bool(set(os.listdir(there)) - {"old", "data.txt"}) or not os.path.exists(old) or
            open(old).read() != "old\n" or os.stat(old).st_nlink != 1)
end = time.monotonic() + (60 if want["free"] else want["seconds"])
count = 0
while time.monotonic() < end and not (want["free"] and changed(fin) and changed(inp)):
    count += 1
    at = out + "/l/"
    tried(put, at + "new%d" % count)
    tried(put, at + "old", os.O_WRONLY | os.O_TRUNC)
    tried(os.truncate, at + "old", 0)
    tried(os.mkdir, at + "dir%d" % count)
    tried(os.symlink, "/", at + "sym%d" % count)
    tried(os.link, at + "old", out + "/hard%d" % count)
    tried(os.rename, out + "/d", at + "moved%d" % count)
    tried(os.rename, at + "old", out + "/taken%d" % count)
    tried(os.chmod, at + "old", 0o777)
    tried(os.unlink, at + "old")
    if tried(text, at + "secret") and "secret" not in told["worked"]:
        told["worked"].append("secret")
    os.makedirs(out + "/d", exist_ok=True)
over.set()
for name, there in (("final", fin), ("input", inp)):
    attempt(name, lambda: changed(there))
neighbour("own", lambda: put(out + "/after"))
'''


@test("ESCAPES paths: links that are exchanged while they are walked")
def race(fx):
    place = Place(fx)
    place.more["seconds"] = float(os.environ.get("SANDBASH_RACE_SECONDS", "1.5"))
    place.hold(RACE, {"final", "input"})


# --- commands ---------------------------------------------------------------------------------------------------------

COMMANDS = r'''
def ran(*words, **more):
    result = subprocess.run(words, capture_output=True, text=True, **more)
    return "uid=" in result.stdout or "ran" in result.stdout
def exec_fd(fd):
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.dup2(write, 1)
            os.execve(fd, ["id"], {})
        finally:
            os._exit(1)
    os.close(write)
    os.waitpid(child, 0)
    return b"uid=" in os.read(read, 100)
ID = "/usr/bin/id"
loader = (glob.glob("/lib*/ld-linux-*.so*") + glob.glob("/lib/ld-musl*"))[0]
program = open("/usr/bin/python3", "rb").read() if not want["free"] else open(ID, "rb").read()  # id is not even there
def copy(path):
    with open(path, "wb") as file:
        file.write(program)
    os.chmod(path, 0o755)
    return path
def runs(path, *before):
    return ran(*before, path, *(["-c", "print('ran')"] if not want["free"] else []))
attempt("by name", lambda: ran(ID))
attempt("by PATH", lambda: ran("id"))
attempt("shell", lambda: ran("/bin/sh", "-c", "echo ran"))
attempt("through /proc/self/root", lambda: ran("/proc/self/root" + ID))
for place in (out, "/tmp", "/dev/shm", "/var/tmp"):
    file = place + "/copy-%d" % os.getpid()
    attempt("copy in " + os.path.basename(place), lambda: runs(copy(file)))
    attempt("loader and copy in " + os.path.basename(place), lambda: runs(file, loader))
    attempt("descriptor in " + os.path.basename(place), lambda: exec_fd(os.open(file, os.O_RDONLY)))
    attempt("clean " + place, lambda: (os.unlink(file), False)[1])
attempt("loader", lambda: ran(loader, ID))
attempt("loader of its own", lambda: ran(os.path.realpath(loader), "/bin/sh", "-c", "echo ran"))
attempt("link with a name that is allowed", lambda: (os.symlink(ID, out + "/cat"), ran(out + "/cat"))[1])
attempt("script", lambda: (open(out + "/s", "w").write("#!/bin/sh\necho ran\n"), os.chmod(out + "/s", 0o755), ran(out + "/s"))[2])
attempt("script of what is allowed", lambda: (open(out + "/p", "w").write("#!/usr/bin/python3\nprint('ran')\n"),
                                              os.chmod(out + "/p", 0o755), ran(out + "/p"))[2])
def memory():
    fd = os.memfd_create("x", 0)
    os.write(fd, program)
    return exec_fd(fd)
attempt("memfd", memory)
def unnamed():
    fd = os.open(out, os.O_TMPFILE | os.O_RDWR, 0o755)
    os.write(fd, program)
    path = os.open("/proc/self/fd/%d" % fd, os.O_RDONLY)
    os.close(fd)
    return exec_fd(path)
attempt("file without a name", unnamed)
attempt("helper of git", lambda: ran("/usr/lib/git-core/git-shell", "-c", "echo ran") or False)
attempt("find -exec", lambda: ran("find", "/etc/hosts", "-exec", ID, ";"))
attempt("xargs", lambda: ran("xargs", ID, input="\n"))
neighbour("allowed", lambda: subprocess.run(["cat", "/etc/hosts"], check=True, capture_output=True))
neighbour("allowed by its path", lambda: subprocess.run(["/usr/bin/python3", "-c", "0"], check=True))
'''


@test("ESCAPES commands: what the list does not name is not executed, by any name, copy, loader or descriptor")
def commands(fx):
    place = Place(fx, more="commands: [python3, cat]\n")
    place.hold(COMMANDS, {"by name", "by PATH", "shell", "through /proc/self/root", "copy in output", "loader and copy in output",
                          "descriptor in output", "loader", "link with a name that is allowed", "script",
                          "script of what is allowed", "memfd", "find -exec", "xargs"})


@test("ESCAPES commands: words of the model's are the command's, never options of sandbash; sandbash inside opens nothing")
def options(fx):
    place = Place(fx)
    shutil.copy(fx.argv()[0], place.own["output"] / "sb")
    secret = str(place.secret)
    contains(fx.run("cat", secret).stdout, "hush", "control")
    for words in (["--mode=danger-full-access", "cat", secret], ["--allow-read=/", "cat", secret],
                  ["-c", f"cat {secret}"], ["--", "cat", secret]):
        result = run(fx, "w", *words)
        check(result.status != 0, words)
        lacks(result.stdout, "hush", words)
    for words in (["--mode=danger-full-access"], ["--anywhere", f"--allow-write={fx.home}"], ["--static"], ["--best-effort"]):
        lacks(run(fx, "w", "/output/sb", *words, "--", "cat", secret).stdout, "hush", words)
    # nobody inside answers questions, or reads what others did
    for words in (["--attach"], ["--watch", "--json"], ["--log"], ["--git", "push", "0123456789ab"], ["--setup", "--apply"]):
        result = run(fx, "w", "sh", "-c", f"/output/sb {' '.join(words)} < /dev/null; echo over; echo x > /final/x")
        contains(result.stdout, "over")
        check(not (place.own["final"] / "x").exists(), words)
        lacks(result.stdout + result.stderr, secret)
    equal(run(fx, "w", "/output/sb", "--version").status, 0, "neighbour")


# --- what stays -----------------------------------------------------------------------------------------------------------

BOMB = r'''
held = os.open(out + "/held", os.O_WRONLY)
stay = out + "/stay"
def bomb(depth):
    for _ in range(3):
        if os.fork() == 0:
            os.setsid()
            for number in range(1, 65):
                try:
                    signal.signal(number, signal.SIG_IGN)
                except (OSError, ValueError):
                    pass
            os.close(1)
            os.close(2)
            if depth:
                bomb(depth - 1)
            while os.path.exists(stay):
                time.sleep(0.02)
            os._exit(0)
if want["free"]:
    bomb(0)
else:
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    bomb(3)
attempt("leave", lambda: True)
'''


def is_held(fd, wait):
    """Has anybody the other end?  wait: until nobody has, or for long."""
    poll = select.poll()
    poll.register(fd, 0)  # POLLHUP comes by itself
    return not poll.poll(30000 if wait else 0)


@test("ESCAPES a child that outlives the run: a hundred that fork, leave the session and ignore signals")
def bomb(fx):
    place = Place(fx)
    for top in (place.own["output"], place.beside / "output"):
        os.mkfifo(top / "held")
        (top / "stay").touch()
    fd = os.open(place.beside / "output" / "held", os.O_RDONLY | os.O_NONBLOCK)
    place.outside(BOMB)
    check(is_held(fd, False), "control: who was left has it open")
    (place.beside / "output" / "stay").unlink()
    check(not is_held(fd, True), "control: and goes")
    os.close(fd)
    fd = os.open(place.own["output"] / "held", os.O_RDONLY | os.O_NONBLOCK)
    place.inside(BOMB)
    check(not is_held(fd, True), "nobody is left")
    check((place.own["output"] / "stay").exists(), "who would have been")
    os.close(fd)


FLOOD = r'''
def ask(number):
    for i in range(40):
        for path in (fin + "/x%d-%d" % (number, i), inp + "/x", home + "/x", out + "/" + "n" * 255, out + "/" + "d/" * 1900 + "x"):
            try:
                put(path)
                if not path.startswith(out):
                    told["worked"].append(path)
            except OSError:
                pass
threads = [threading.Thread(target=ask, args=[number]) for number in range(16)]
for one in threads:
    one.start()
for one in threads:
    one.join()
neighbour("answers", lambda: put(out + "/after"))
'''


@test("ESCAPES a supervisor flooded: thousands of refused calls from sixteen threads, long names and deep ones")
def flood(fx):
    place = Place(fx)
    done = place.inside(FLOOD)
    equal((done["worked"], done["neighbours"]), ([], []))
    equal(os.listdir(place.own["final"]), ["old"])
    equal(fx.read("out/after"), "evil")


# --- a worker that was called -----------------------------------------------------------------------------------------

CALLER = r"""
import ctypes, json, os, signal, socket, subprocess, sys, threading
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
key = os.getpid() + 1
ctypes.memmove(libc.shmat(libc.shmget(key, 4096, 0o1600), None, 0), b"hush", 4)
libc.msgget(key, 0o1600)
held = open("/final/secret")
open("/dev/shm/caller", "w").write("hush")
open("/tmp/caller", "w").write("hush")
os.chdir("/final")
signalled = []
for number in (signal.SIGUSR1, signal.SIGUSR2):
    signal.signal(number, lambda number, frame: signalled.append(number))
listeners = []
for name in ("\0caller", "/tmp/caller.sock", "/final/caller.sock"):
    listeners.append(socket.socket(socket.AF_UNIX))
    listeners[-1].bind(name)
    listeners[-1].listen()
loopback = socket.create_server(("127.0.0.1", 0))
want = {"caller": os.getpid(), "key": key, "fd": held.fileno(), "port": loopback.getsockname()[1], "input": "/input", "output": "/output",
        "final": "/final", "secret": "/final/secret"}
for before in ([], ["/output/sb", "--worker=kid", "--"]):
    want["free"] = not before
    print(subprocess.run([*before, "python3", "-c", sys.argv[1], json.dumps(want)], env={**os.environ, "SECRET": "hush"},
                         stdout=subprocess.PIPE, text=True).stdout.strip())
    print(json.dumps(sorted(set(signalled))))
    signalled.clear()
    for name in ("secret", "stays"):
        assert open("/final/" + name).read() == "hush\n", name
"""

CALLED = r"""
caller = want["caller"]
at = "/proc/%d/" % caller
def connect(family, address):
    with socket.socket(family) as one:
        one.settimeout(3)
        one.connect(address)
attempt("read", lambda: text(secret))
attempt("read by its root", lambda: text(at + "root" + secret))
attempt("read by its directory", lambda: text(at + "cwd/secret"))
attempt("read by its descriptor", lambda: text(at + "fd/%d" % want["fd"]))
attempt("list", lambda: os.listdir(fin))
attempt("reopen", lambda: text("/proc/self/fd/%d" % os.open(secret, os.O_PATH)))
attempt("map", lambda: os.close(os.open(secret, os.O_RDONLY)))
attempt("create", lambda: (put(fin + "/new"), os.unlink(fin + "/new")))
attempt("mode", lambda: os.chmod(secret, 0o644))
attempt("link", lambda: (os.link(fin + "/stays", fin + "/linked"), os.unlink(fin + "/linked")))
attempt("rename", lambda: (os.rename(fin + "/stays", fin + "/moved"), os.rename(fin + "/moved", fin + "/stays")))
attempt("environ", lambda: b"PATH" in open(at + "environ", "rb").read())
attempt("memory", lambda: os.close(os.open(at + "mem", os.O_RDONLY)))
attempt("maps", lambda: open(at + "maps").read(1) != "")
attempt("signal", lambda: os.kill(caller, signal.SIGUSR1))
for number in (signal.SIGUSR1, signal.SIGUSR2):
    signal.signal(number, signal.SIG_IGN)
try:
    os.killpg(os.getpgid(caller), signal.SIGUSR2)  # oneself is of it
    os.kill(-1, signal.SIGUSR2)
except OSError:
    pass
attempt("attach", lambda: (call("ptrace", 0x4206, caller, 0, 0)))
attempt("take a descriptor", lambda: os.close(call("pidfd_getfd", call("pidfd_open", caller, 0), want["fd"], 0)))
attempt("limit", lambda: resource.prlimit(caller, resource.RLIMIT_CORE, (0, 0)))
attempt("priority", lambda: os.setpriority(os.PRIO_PROCESS, caller, os.getpriority(os.PRIO_PROCESS, 0) + 1))
attempt("own by group", lambda: fcntl.fcntl(0, fcntl.F_SETOWN, -os.getpgid(caller)))
attempt("shared memory", lambda: libc.shmget(want["key"], 0, 0) >= 0)
attempt("messages", lambda: libc.msgget(want["key"], 0) >= 0)
attempt("posix memory", lambda: text("/dev/shm/caller"))
attempt("temporary file", lambda: text("/tmp/caller"))
attempt("abstract socket", lambda: connect(socket.AF_UNIX, "\0caller"))
attempt("socket", lambda: connect(socket.AF_UNIX, "/tmp/caller.sock"))
attempt("socket that it does not have", lambda: connect(socket.AF_UNIX, "/final/caller.sock"))
attempt("loopback", lambda: connect(socket.AF_INET, ("127.0.0.1", want["port"])))
def own():
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("\0own-%d" % os.getpid())
        server.listen()
        connect(socket.AF_UNIX, "\0own-%d" % os.getpid())
neighbour("an abstract socket of its own", own)
neighbour("its directory", lambda: put(out + "/a"))
child = subprocess.Popen(["sleep", "60"])
neighbour("its children", lambda: (child.kill(), child.wait(10)))
"""


@test("ESCAPES a worker that was called gets nothing of its caller: files, processes, memory, sockets")
def called(fx):
    every = [zone.replace("output", name) for zone in (OUTPUT,) for name in ("output", "final")]
    place = Place(fx, more="workers: [kid.worker]\n", zones=(INPUT, *every))
    declare(fx, "kid", OUTPUT)
    for name in ("secret", "stays"):
        fx.write(place.own["final"] / name, "hush\n")
    shutil.copy(fx.argv()[0], place.own["output"] / "sb")
    result = run(fx, "w", "python3", "-c", CALLER, HEAD + CALLED + TAIL)
    check(result.status == 0, result.stderr)
    free, signals, boxed, none = [json.loads(line) for line in result.stdout.splitlines()]
    # who attaches or looks at memory is refused in a worker's world anyway
    equal(set(free["failed"]) - {"attach", "take a descriptor", "memory", "environ", "maps", "limit", "read by its descriptor"}, set(), "control")
    equal((len(signals), free["neighbours"]), (2, []), "control")
    equal((boxed["worked"], boxed["neighbours"], none), ([], [], []))


run_all()
