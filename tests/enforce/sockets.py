"""ESCAPES desktop surface: pathname sockets whose servers would act for the sandbox.

No Landlock so far decides about connect() to a path, so known places are masked by mounts.  In a
supervised run every connection to a path outside the roots is decided about; a static run without
namespaces has to say that they are open.
"""

import os
import re
import socket
import tempfile
import threading
import time
from pathlib import Path

from attack import act, boxed, refused, works
from marked import new_mark, running
from tap import SUPERVISED, check, contains, equal, lacks, run_all, test, wait

ROOT = os.getuid() == 0
OWN_MOUNTS = ["unshare", "-m"] if ROOT else ["unshare", "-Urm"]
GONE = ("EACCES", "EPERM", "ENOENT", "ECONNREFUSED", "ENOTDIR", "ENOTSOCK")
WAYS = {socket.SOCK_STREAM: ("stream",), socket.SOCK_SEQPACKET: ("seqpacket",),
        socket.SOCK_DGRAM: ("dgram", "sendto", "pair")}


class Listener:
    """A service outside on a path."""

    def __init__(self, path, kind=socket.SOCK_STREAM):
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path, self.kind = path, kind
        self.socket = socket.socket(socket.AF_UNIX, kind)
        # By way of the directory: a path may be longer than an address.
        directory = os.open(path.parent, os.O_PATH)
        self.socket.bind(f"/proc/self/fd/{directory}/{path.name}")
        os.close(directory)
        if kind != socket.SOCK_DGRAM:
            self.socket.listen(64)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
        self.path.unlink()


def masked(fx, path, env=None, kinds=tuple(WAYS), **where):
    for kind in kinds:
        with Listener(path, kind):
            for way in WAYS[kind]:
                refused(boxed(fx, "unix", way, path, env=env, **where), GONE, f"{way} {path}")
                works(act(fx, "unix", way, path, env=env), f"control {way}")
    with Listener(fx.project / "s"):
        works(boxed(fx, "unix", "stream", fx.project / "s", env=env, **where), "neighbour")


@test("ESCAPES sockets: the session's runtime directory", variants=("full", "nested"))
def runtime(fx):
    run = fx.dir / "run"
    masked(fx, run / "bus", {"XDG_RUNTIME_DIR": run})
    masked(fx, run / "systemd" / "private", {"XDG_RUNTIME_DIR": run}, [socket.SOCK_STREAM])


@test("ESCAPES sockets: the runtime directory reached by another name")
def runtime_alias(fx):
    run = fx.dir / "run"
    with Listener(run / "bus"):
        (fx.dir / "link").symlink_to(run)
        fx.path("plant").symlink_to(run / "bus")
        for named in (run, fx.dir / "link"):
            env = {"XDG_RUNTIME_DIR": named}
            for path in (run / "bus", fx.dir / "link" / "bus", fx.path("plant"),
                         f"/proc/self/root{run}/bus"):
                refused(boxed(fx, "unix", "stream", path, env=env), GONE, f"{named} {path}")
                works(act(fx, "unix", "stream", path), "control")
            refused(boxed(fx, "link", "path", run / "bus", fx.path("alias"), env=env),
                    GONE + ("EXDEV",))
            refused(boxed(fx, "rename", "plain", run / "bus", fx.path("alias"), env=env),
                    GONE + ("EXDEV", "EROFS"))


@test("ESCAPES sockets: the bus that the environment names")
def session_bus(fx):
    path = fx.dir / "bus" / "socket"
    masked(fx, path, {"DBUS_SESSION_BUS_ADDRESS": f"unix:path={path},guid=00"},
           [socket.SOCK_STREAM])


@test("ESCAPES sockets: ssh-agent")
def ssh_agent(fx):
    path = fx.home / "agent" / "s"
    masked(fx, path, {"SSH_AUTH_SOCK": path}, [socket.SOCK_STREAM])


@test("ESCAPES sockets: tmux and docker where the environment says they are")
def named(fx):
    path = fx.dir / "t" / "default"
    masked(fx, path, {"TMUX": f"{path},4711,0"}, [socket.SOCK_STREAM])
    path = fx.dir / "d" / "docker.sock"
    masked(fx, path, {"DOCKER_HOST": f"unix://{path}"}, [socket.SOCK_STREAM])


@test("ESCAPES sockets: gpg-agent in its home directory")
def gpg_agent(fx):
    masked(fx, fx.home / ".gnupg" / "S.gpg-agent", None, [socket.SOCK_STREAM])


SYSTEM = ("/run/docker.sock", "/var/run/docker.sock", "/run/podman/podman.sock",
          "/run/containerd/containerd.sock", "/run/dbus/system_bus_socket",
          "/var/run/dbus/system_bus_socket", "/run/systemd/private", "/run/snapd.socket",
          "/run/libvirt/libvirt-sock", "/run/user/{uid}/bus", "/run/user/{uid}/docker.sock",
          "/run/screen/S-user/1.pts")

SERVE = """if 1:
    import os, socket, sys, subprocess
    kept = []
    for path in sys.argv[1].split(":"):
        path = os.path.realpath(os.path.dirname(path)) + "/" + os.path.basename(path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if not os.path.exists(path):
            server = socket.socket(socket.AF_UNIX)
            server.bind(path)
            server.listen(64)
            kept.append(server)
    sys.exit(subprocess.run(sys.argv[2:]).returncode)
"""


def on_machine(fx, paths, *words, env=None):
    """Run words where those sockets are listened on, in a /run of their own."""
    script = 'mount -t tmpfs run /run && exec "$@"'
    return fx.run(*OWN_MOUNTS, "sh", "-c", script, "-", "python3", "-c", SERVE, ":".join(paths),
                  *words, env=env)


@test("ESCAPES sockets: system services in /run")
def system(fx):
    """In a user namespace of the test the account is 0, whoever started it."""
    paths = [path.format(uid=0) for path in SYSTEM]
    open_ones = []
    for path in paths:
        result = on_machine(fx, paths, *fx.argv(fx.tool("act"), "unix", "stream", path),
                            env={"XDG_RUNTIME_DIR": None})
        check(result.status in (0, 1), f"{path}: {result.stderr}")
        if result.status == 0:
            open_ones.append(path)
        works(on_machine(fx, paths, fx.tool("act"), "unix", "stream", path), f"control {path}")
    equal(open_ones, [], "reached from inside")
    nscd = "/run/nscd/socket"
    result = on_machine(fx, [nscd], *fx.argv(fx.tool("act"), "unix", "stream", nscd))
    if SUPERVISED:
        refused(result, ("EACCES",), "no rule covers it and nobody can be asked")
        contains(result.stderr, f"--allow-write={nscd}")
    result = on_machine(fx, [nscd], *fx.argv(f"--allow-write={nscd}", fx.tool("act"), "unix",
                                             "stream", nscd))
    works(result, "neighbour: name service, if allowed")


@test("ESCAPES sockets: the user's runtime directory when the environment names another one")
def other_runtime(fx):
    for value in (fx.dir / "elsewhere", "relative", "/nonexistent", ""):
        result = on_machine(fx, ["/run/user/0/bus"],
                            *fx.argv(fx.tool("act"), "unix", "stream", "/run/user/0/bus"),
                            env={"XDG_RUNTIME_DIR": value})
        refused(result, GONE, f"XDG_RUNTIME_DIR={value}")


@test("ESCAPES sockets: /tmp, where tmux, X11 and ssh keep theirs")
def private_tmp(fx):
    directory = Path(tempfile.mkdtemp(dir="/tmp", prefix="sandbash-"))
    try:
        with Listener(directory / "s"):
            refused(boxed(fx, "unix", "stream", directory / "s"), GONE)
            works(act(fx, "unix", "stream", directory / "s"), "control")
    finally:
        directory.rmdir()
    works(fx.sandbash("python3", "-c", "import socket; s = socket.socket(socket.AF_UNIX); "
                      "s.bind('/tmp/s'); s.listen(); "
                      "socket.socket(socket.AF_UNIX).connect('/tmp/s')"))


if SUPERVISED:
    @test("S12 who is refused a service that only the real /tmp has begins one of its own", variants=("full",))
    def own_server(fx):
        """As tmux does: it gives up where it may not connect, and begins a server where there is none."""
        directory = Path(tempfile.mkdtemp(dir="/tmp", prefix="sandbash-"))
        script = ("import errno, os, socket\n"
                  f"path = '{directory}/s'\n"
                  "if not os.path.isdir(os.path.dirname(path)): os.mkdir(os.path.dirname(path))\n"
                  "client = socket.socket(socket.AF_UNIX)\n"
                  "error = client.connect_ex(path)\n"
                  "print(errno.errorcode.get(error, error))\n"
                  "if error == errno.ENOENT:\n"
                  "    server = socket.socket(socket.AF_UNIX)\n"
                  "    server.bind(path); server.listen()\n"
                  "    print(client.connect_ex(path))\n")
        try:
            with Listener(directory / "s"):
                equal(fx.run("python3", "-c", script).stdout, "0\n", "control")
                equal(fx.sandbash("--quiet", "python3", "-c", script).stdout, "ENOENT\n0\n")
        finally:
            directory.rmdir()


@test("ESCAPES sockets: tmux and X11 stay closed when /tmp is the real one")
def shared_tmp(fx):
    """In a /tmp of the test's own."""
    # tmux names its directory after the account; in the test's user namespace that is 0.
    paths = ["/tmp/tmux-0/default", "/tmp/.X11-unix/X0", "/tmp/ssh-abcdef/agent.1"]
    script = 'mount -t tmpfs tmp /tmp && exec "$@"'
    opened = []
    for path in paths:
        attack = fx.argv("--shared-tmp", fx.tool("act"), "unix", "stream", path)
        env = {"SSH_AUTH_SOCK": paths[2], "DISPLAY": ":0", "TMUX": paths[0] + ",1,0"}
        result = fx.run(*OWN_MOUNTS, "sh", "-c", script, "-", "python3", "-c", SERVE,
                        ":".join(paths), *attack, env=env)
        check(result.status in (0, 1), f"{path}: {result.stderr}")
        if result.status == 0:
            opened.append(path)
    equal(opened, [])
    works(fx.sandbash("--shared-tmp", "sh", "-c", "f=$(mktemp) && rm $f"), "neighbour")


@test("USERS sockets in the real /tmp close nothing that is made beside them, and stay closed")
def beside_sockets(fx):
    """Without namespaces Landlock can only grant reading beside what is hidden."""
    paths = ["/tmp/.X11-unix/X0", "/tmp/ssh-abcdef/agent.1", "/tmp/own.sock"]
    env = {"SSH_AUTH_SOCK": paths[1], "DISPLAY": ":0", "TMUX": paths[2] + ",1,0"}

    def beside(*words):
        return fx.run(*OWN_MOUNTS, "sh", "-c", 'mount -t tmpfs tmp /tmp && echo old >/tmp/old && exec "$@"',
                      "-", "python3", "-c", SERVE, ":".join(paths), *words, env=env)

    made = ["sh", "-c", "f=$(mktemp) && echo x >$f && cat $f && mkdir /tmp/d && echo y >/tmp/d/f && "
            "cat /tmp/d/f /tmp/old"]
    equal(beside(*made).stdout, "x\ny\nold\n", "control")
    equal(beside(*fx.argv(*made, variant="flat")).stdout, "x\ny\nold\n")
    # nothing stays behind, not even an empty file where a name could be made and not be opened
    work = ["sh", "-c", "d=$(mktemp -d) && rmdir $d && cd / && echo 'int main(void) { return 0; }' | "
            'gcc -x c -o "$0/a" - && cd "$0" && ./a && git init -q g && seq 9999 | sort -R -S 9k | sort -n -S 9k | '
            "tail -n1 && rm -rf a g && ls -A /tmp | grep -vx sandbash-........ ; test -z $TMPDIR || ls -A $TMPDIR", fx.project]
    control = beside(*work)
    equal((control.status, control.stdout.splitlines()[0]), (0, "9999"), control.stderr)
    equal(beside(*fx.argv(*work, variant="flat")).stdout, control.stdout)
    works(beside(*fx.argv("--deny=/tmp/old", "sh", "-c", "! cat /tmp/old", variant="flat")), "hidden")
    for path in paths if SUPERVISED else ():
        attack = [fx.tool("act"), "unix", "stream", path]
        works(beside(*map(str, attack)), f"control {path}")
        check(beside(*fx.argv(*attack, variant="flat")).status == 1, path)


FULL_QUEUE = """
import os, socket, sys, threading, time
server = socket.socket(socket.AF_UNIX)
server.bind("full.sock")
server.listen(0)
first, second = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
first.connect("full.sock")
waited = threading.Thread(target=second.connect, args=("full.sock",))
waited.start()
os.close(os.open("other", os.O_CREAT | os.O_WRONLY))  # a number that was the socket's, for a moment
time.sleep(.1)
assert waited.is_alive(), "it did not wait"
server.accept()
server.accept()
waited.join()
second.getpeername()
third = socket.socket(socket.AF_UNIX)
third.setblocking(False)
fourth = socket.socket(socket.AF_UNIX)
fourth.connect("full.sock")
try:
    third.connect("full.sock")
    sys.exit("the queue was not full")
except BlockingIOError:
    pass
"""


@test("S12 a connection waits while the other side's queue is full", variants=("full", "nested"))
def full_queue(fx):
    works(fx.run("python3", "-c", FULL_QUEUE), "control")
    fx.path("full.sock").unlink()
    works(fx.sandbash("python3", "-c", FULL_QUEUE))


@test("R4 without namespaces it holds sockets outside, or says that they can be reached")
def weaker(fx):
    run = fx.dir / "run"
    env = {"XDG_RUNTIME_DIR": run}
    with Listener(run / "bus"):
        result = fx.sandbash("touch", "started", without="userns", env=env)
        if SUPERVISED:
            equal((result.status, result.stderr), (0, ""))
        else:
            equal(result.status, 125)
            check(not fx.exists("started"))
            contains(result.stderr, "socket")
        inside = boxed(fx, "unix", "stream", run / "bus", env=env, variant="flat")
        if SUPERVISED:
            refused(inside, ("EACCES", "EPERM"))
        elif inside.status == 0:
            contains(result.stderr, "run", "and names it")
        works(act(fx, "unix", "stream", run / "bus"), "control")
        result = fx.sandbash("touch", "started", env=env)
        equal((result.status, result.stderr), (0, ""))


@test("USERS sockets that the user names can be allowed", variants=("full", "flat"))
def allowed(fx):
    run = fx.dir / "run"
    with Listener(run / "bus"), Listener(run / "other"):
        env = {"XDG_RUNTIME_DIR": run}
        flags = [f"--allow-write={run}/bus"]
        works(boxed(fx, "unix", "stream", run / "bus", env=env, flags=flags))
        if fx.variant == "full" or SUPERVISED:
            refused(boxed(fx, "unix", "stream", run / "other", env=env, flags=flags), GONE)
            refused(boxed(fx, "unix", "stream", run / "bus", env=env), GONE)


if SUPERVISED:
    @test("ESCAPES sockets: any service outside, known or not", variants=("full", "flat", "nested"))
    def unknown(fx):
        """Reading is no right to talk to a server."""
        path = fx.outside / "s"
        with Listener(path), Listener(fx.project / "s"):
            for flags in ([], [f"--allow-read={path}"], [f"--allow-read={fx.outside}"]):
                refused(boxed(fx, "unix", "stream", path, flags=flags, outer=[]),
                        ("EACCES", "EPERM"), str(flags))
            works(act(fx, "unix", "stream", path), "control")
            works(boxed(fx, "unix", "stream", fx.project / "s"), "neighbour")


@test("ESCAPES sockets: sandbash leaves none of its own behind",
      variants=("full", "flat", "nested"))
def none_left(fx):
    run = fx.dir / "run"
    run.mkdir()
    mark = new_mark()
    names = set(re.findall(r"\S*sandbash\S*", open("/proc/net/unix").read()))
    fx.sandbash("true", mark, env={"XDG_RUNTIME_DIR": run})
    equal(os.listdir(run), [])
    # other runs on this machine have theirs, and one is there as long as a process of its run: none of ours may stay
    left = set(re.findall(r"\S*sandbash\S*", open("/proc/net/unix").read())) - names
    wait(lambda: not left & set(re.findall(r"\S*sandbash\S*", open("/proc/net/unix").read())) or not running(mark),
         f"still there: {left}")
    lacks(fx.sandbash("env").stdout, "SOCK")


run_all()
