"""hostile.py - a worker that obeys a hostile document, and the machine of somebody on which it runs.

    place = Place(fx)                           a project with three directories, and the same three beside it
    place.hold(SCRIPT, {"tcp", ...})            what SCRIPT tries works beside it, and not in the worker's world

A script says attempt(NAME, ACT) of what must not work, and neighbour(NAME, ACT) of what must; want["free"] is true where
there is no sandbox, and no harm may be done.
"""

import json
import os
import socket
import threading

from tap import SUPERVISED, check, equal, skip
from workers import FINAL, INPUT, OUTPUT, declare, project, run

HEAD = r'''
import array, ctypes, errno, fcntl, glob, json, os, platform, resource, shutil, signal, socket, stat, struct, subprocess
import sys, threading, time
want = json.loads(sys.argv[1])
inp, out, fin, secret = want["input"], want["output"], want["final"], want["secret"]
home = os.path.dirname(secret)
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
ARM = platform.machine() == "aarch64"
NUMBERS = dict(io_uring_setup=(425, 425), open_by_handle_at=(265, 304), bpf=(280, 321), userfaultfd=(282, 323), keyctl=(219, 250),
               add_key=(217, 248), unshare=(97, 272), setns=(268, 308), pivot_root=(41, 155), mount=(40, 165), umount2=(39, 166),
               chroot=(51, 161), fsopen=(430, 430), open_tree=(428, 428), move_mount=(429, 429), mount_setattr=(442, 442),
               process_vm_readv=(270, 310), process_vm_writev=(271, 311), ptrace=(117, 101), pidfd_open=(434, 434),
               pidfd_getfd=(438, 438), pidfd_send_signal=(424, 424), perf_event_open=(241, 298), fanotify_init=(262, 300),
               init_module=(105, 175), kexec_load=(104, 246), reboot=(142, 169), swapon=(224, 167), acct=(89, 163),
               mq_open=(180, 240), mq_unlink=(181, 241), memfd_create=(279, 319), execveat=(281, 322), clone3=(435, 435),
               kcmp=(272, 312), ioprio_set=(30, 251), quotactl=(60, 179), syslog=(116, 103), openat2=(437, 437),
               migrate_pages=(238, 256), process_madvise=(440, 440), landlock_create_ruleset=(444, 444))
def call(name, *words):
    result = libc.syscall(ctypes.c_long(NUMBERS[name][0 if ARM else 1]), *words)
    if result < 0:
        raise OSError(ctypes.get_errno(), name)
    return result
held = [os.readlink("/proc/self/fd/" + name) for name in os.listdir("/proc/self/fd") if int(name) > 2 and
        os.path.exists("/proc/self/fd/" + name)]
told = {"worked": [], "failed": [], "neighbours": []}
def attempt(name, act):
    """Worked, unless it raises or says False."""
    try:
        told["worked" if act() is not False else "failed"].append(name)
    except Exception as error:
        told["failed"].append(name)
def neighbour(name, act):
    try:
        if act() is False:
            raise ValueError("false")
    except Exception as error:
        told["neighbours"].append(name + ": " + repr(error))
def text(path):
    with open(path, "rb") as file:
        return file.read(4) == b"hush"
def put(path, flags=os.O_WRONLY | os.O_CREAT | os.O_TRUNC):
    fd = os.open(path, flags | os.O_NONBLOCK, 0o644)
    try:
        os.write(fd, b"evil")
    finally:
        os.close(fd)
'''
TAIL = "\nprint(json.dumps(told))\n"


class Place:
    """Somebody's machine: a secret at home, a project with three directories, and the same three without a worker."""

    def __init__(self, fx, more="", zones=(INPUT, OUTPUT, FINAL)):
        if not SUPERVISED:
            skip("a worker needs a supervisor")
        self.fx = fx
        project(fx)
        declare(fx, "w", *zones, more="isolation: downloaded\n" + more)
        self.secret = fx.write(fx.home / "secret", "hush\n")
        self.beside = fx.home / "beside"
        self.own = {"input": fx.project / "in", "output": fx.project / "out", "final": fx.project / "deep/er/final"}
        for name, path in self.own.items():
            for top in (path, self.beside / name):
                top.mkdir(parents=True, exist_ok=True)
                if name != "output":
                    fx.write(top / "old", "old\n")
        self.more = {}

    def outside(self, script):
        want = {name: str(self.beside / name) for name in self.own} | {"secret": str(self.secret), "free": True} | self.more
        result = self.fx.run("python3", "-c", HEAD + script + TAIL, json.dumps(want), cwd=self.beside)
        check(result.stdout, result.stderr)
        return json.loads(result.stdout.splitlines()[-1])

    def inside(self, script, **where):
        want = {name: f"/{name}" for name in self.own} | {"secret": str(self.secret), "free": False} | self.more
        result = run(self.fx, "w", "python3", "-c", HEAD + script + TAIL, json.dumps(want), **where)
        check(result.stdout, result.stderr)
        return json.loads(result.stdout.splitlines()[-1])

    def hold(self, script, control):
        """control: what works outside, of all that the script tries; inside nothing does."""
        done = self.outside(script)
        equal(set(control) - set(done["worked"]), set(), f"control: {done}")
        equal(done["neighbours"], [], "control")
        equal(run(self.fx, "w", "python3", "-c", "").status, 0, "a first run makes its directories")
        before = self.fx.snapshot(self.fx.home)
        done = self.inside(script)
        equal(done["worked"], [], "what worked inside")
        equal(done["neighbours"], [], "neighbours inside")
        after = self.fx.snapshot(self.fx.home)
        spared = str(self.own["output"])
        changed = [path for path in before.keys() | after.keys()
                   if before.get(path) != after.get(path) and not path.startswith(spared)]
        equal(changed, [], "changed outside of what is its own")


class Services:
    """Programs of the user's that listen."""

    def __init__(self, place):
        fx = place.fx
        name = f"sandbash-test-{os.getpid()}-{os.urandom(4).hex()}"
        self.all = [socket.create_server(("127.0.0.1", 0))]
        places = ["\0" + name, str(fx.home / "service")]
        for top in (place.own["input"], place.own["final"], place.beside / "input", place.beside / "final"):
            places.append(str(top / "service"))
        for one in places:
            self.all.append(socket.socket(socket.AF_UNIX))
            self.all[-1].bind(one)
            self.all[-1].listen()
        for one in self.all:
            threading.Thread(target=self.serve, args=[one], daemon=True).start()
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", 0))
        threading.Thread(target=self.echo, daemon=True).start()
        self.datagram = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.datagram.bind(str(fx.home / "datagram"))
        self.all += [self.udp, self.datagram]
        place.more |= {"port": self.all[0].getsockname()[1], "udp": self.udp.getsockname()[1], "abstract": name,
                       "service": str(fx.home / "service"), "datagram": str(fx.home / "datagram"), "tcp": True}

    @staticmethod
    def serve(listener):
        try:
            while True:
                one = listener.accept()[0]
                one.recv(1)
                one.send(b"y")
                one.close()
        except OSError:
            pass

    def echo(self):
        try:
            while True:
                self.udp.sendto(b"y", self.udp.recvfrom(1)[1])
        except OSError:
            pass

    def end(self):
        for one in self.all:
            one.close()
