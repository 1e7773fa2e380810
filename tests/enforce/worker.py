"""Z7: a hostile script in a worker's world, by the classes of escapes that hit tools like this one.

The script does all it can think of and prints what worked.  Run without a sandbox, beside the project, it shows that its
attempts are real; in the worker's world nothing may work, and what is harmless still does."""

import ctypes
import json
import os
import signal
import socket
import threading

from tap import SUPERVISED, check, contains, equal, lacks, run_all, skip, test
from workers import OUTPUT, declare, project, run

HOSTILE = r'''
import array, ctypes, fcntl, json, os, platform, shutil, signal, socket, struct, subprocess, sys
want = json.loads(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
worked, tried = [], 0
NEW = {"aarch64": dict(io_uring_setup=425, open_by_handle_at=265, bpf=280, userfaultfd=282, keyctl=219, unshare=97, setns=268,
                       pivot_root=41, mount=40, umount2=39, chroot=51, fsopen=430, open_tree=428, process_vm_readv=270,
                       ptrace=117, pidfd_open=434, perf_event_open=241, fanotify_init=262, init_module=105),
       "x86_64": dict(io_uring_setup=425, open_by_handle_at=304, bpf=321, userfaultfd=323, keyctl=250, unshare=272, setns=308,
                      pivot_root=155, mount=165, umount2=166, chroot=161, fsopen=430, open_tree=428, process_vm_readv=310,
                      ptrace=101, pidfd_open=434, perf_event_open=298, fanotify_init=300, init_module=175)}[platform.machine()]
def call(name, *words):
    result = libc.syscall(NEW[name], *words)
    if result < 0:
        raise OSError(ctypes.get_errno(), name)
    return result
def attempt(name, act):
    global tried
    tried += 1
    try:
        if act() is not False:
            worked.append(name)
    except Exception:
        pass
def read(path):
    return lambda: open(path, "rb").read(4) == b"hush"
def write(path):
    return lambda: open(path, "w").write("x")
def kill(pid):
    os.kill(pid, 0)
def connect(family, kind, address):
    with socket.socket(family, kind) as one:
        one.settimeout(2)
        one.connect(address)
secret, zone = want["secret"], want["zone"]
inherited = [name for name in os.listdir("/proc/self/fd") if int(name) > 2 and os.path.exists("/proc/self/fd/" + name)]
attempt("descriptors", lambda: bool(inherited))
# --- paths
for way in ("", "/proc/self/root", "/proc/1/root", "/proc/self/cwd/../../..", "/proc/thread-self/root", zone + "/../../../.."):
    attempt("read " + way, read(way + secret))
    attempt("write " + way, write(way + os.path.dirname(secret) + "/planted"))
attempt("link", lambda: (os.symlink(secret, zone + "/l"), read(zone + "/l")())[1])
attempt("hard link", lambda: os.link(secret, zone + "/h"))
attempt("list home", lambda: os.listdir(os.path.dirname(secret)))
attempt("handle", lambda: call("open_by_handle_at", os.open(zone, os.O_RDONLY), bytes.fromhex(want["handle"]), 0))
attempt("rename out", lambda: (open(zone + "/r", "w").close(), os.rename(zone + "/r", os.path.dirname(secret) + "/r")))
# --- written now, run later outside
os.makedirs(zone + "/repo/.git/hooks", exist_ok=True)
for name in ("objects", "refs"):
    os.makedirs(zone + "/repo/.git/" + name, exist_ok=True)
open(zone + "/repo/.git/HEAD", "w").write("ref: refs/heads/main\n")
for name in ("repo/.git/hooks/pre-commit", ".envrc", ".vscode/tasks.json", "evil.worker", "sandbash.yaml",
             "golem-forge.config.yaml"):
    attempt("plant " + name, lambda: (os.makedirs(os.path.dirname(zone + "/" + name), exist_ok=True),
                                      write(zone + "/" + name)()))
# --- processes
attempt("signal", lambda: kill(want["victim"]))
attempt("memory", lambda: open("/proc/%d/mem" % want["victim"], "rb").close())
attempt("environ", lambda: open("/proc/%d/environ" % want["victim"], "rb").read())
attempt("pidfd", lambda: call("pidfd_open", want["victim"], 0))
attempt("attach", lambda: call("ptrace", 16, want["victim"], 0, 0))
# --- network and services
attempt("tcp", lambda: connect(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", want["port"])))
attempt("abstract", lambda: connect(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + want["abstract"]))
attempt("service", lambda: connect(socket.AF_UNIX, socket.SOCK_STREAM, want["service"]))
attempt("shared memory", lambda: libc.shmget(want["key"], 0, 0) >= 0)
# --- the kernel
for name, words in (("unshare", (0x10020000,)), ("chroot", (b"/tmp",)), ("mount", (b"none", b"/tmp", b"tmpfs", 0, 0)),
                    ("umount2", (b"/proc", 2)), ("pivot_root", (b"/", b"/tmp")), ("fsopen", (b"tmpfs", 0)),
                    ("open_tree", (-100, b"/", 1)), ("io_uring_setup", (4, bytes(120))), ("bpf", (0, bytes(64), 64)),
                    ("userfaultfd", (0,)), ("keyctl", (0, -5, 1)), ("perf_event_open", (bytes(128), 0, -1, -1, 0)),
                    ("fanotify_init", (0, 0)), ("setns", (os.open("/proc/self/ns/mnt", os.O_RDONLY), 0))):
    if name in want["kernel"]:
        attempt(name, lambda: call(name, *words))
for path in ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/sys/kernel/uevent_helper", "/dev/mem", "/dev/kmsg",
             "/dev/vda", "/dev/sda"):
    attempt("open " + path, lambda: open(path, "r+b" if path.startswith("/dev") else "w").close())
attempt("device", lambda: os.mknod(zone + "/disk", 0o60666, os.makedev(254, 0)))
attempt("setuid", lambda: (shutil.copy("/bin/true", zone + "/su"), os.chmod(zone + "/su", 0o4755),
                           os.stat(zone + "/su").st_mode & 0o4000)[2] != 0)
# --- one that stays
child = os.fork()
if child == 0:
    os.setsid()
    for one in range(3):
        os.close(one)
    import time
    while True:
        time.sleep(0.02)
        try:
            open(zone + "/stayed", "w").write(str(time.time()))
        except OSError:
            pass
open(zone + "/harmless", "w").write("done")
print(json.dumps({"worked": worked, "tried": tried, "child": child}))
'''


def handle_of(path):
    """name_to_handle_at(), as bytes that open_by_handle_at() takes."""
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(136)
    buffer[0:4] = (128).to_bytes(4, "little")
    mount = ctypes.c_int()
    libc.name_to_handle_at(-100, os.fsencode(path), buffer, ctypes.byref(mount), 0)
    return bytes(buffer).hex()


class Outside:
    """Somebody whose secrets, processes and services lie outside."""

    def __init__(self, fx, zone):
        self.secret = fx.write(fx.home / "secret", "hush\n")
        self.victim = fx.start("sleep", "600")
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.abstract = socket.socket(socket.AF_UNIX)
        self.name = f"sandbash-test-{os.getpid()}-{os.urandom(4).hex()}"
        self.abstract.bind("\0" + self.name)
        self.abstract.listen()
        self.service = socket.socket(socket.AF_UNIX)
        self.service_path = fx.home / "service"
        self.service.bind(str(self.service_path))
        self.service.listen()
        for one in (self.listener, self.abstract, self.service):
            threading.Thread(target=self.serve, args=[one], daemon=True).start()
        self.key = int.from_bytes(os.urandom(3), "little") + 1
        self.shared = ctypes.CDLL(None).shmget(self.key, 4096, 0o1600)
        self.want = {"secret": str(self.secret), "zone": zone, "handle": handle_of(self.secret), "victim": self.victim.pid,
                     "port": self.listener.getsockname()[1], "abstract": self.name, "service": str(self.service_path),
                     "key": self.key, "kernel": []}

    @staticmethod
    def serve(listener):
        try:
            while True:
                listener.accept()[0].close()
        except OSError:
            pass

    def end(self):
        self.victim.kill()
        self.victim.wait()
        for one in (self.listener, self.abstract, self.service):
            one.close()
        ctypes.CDLL(None).shmctl(self.shared, 0, None)


@test("Z7 nothing that a hostile worker tries gets anywhere; what it was given works")
def hostile(fx):
    if not SUPERVISED:
        skip("a worker needs a supervisor")
    project(fx)
    declare(fx, "w", OUTPUT)
    (fx.project / "out").mkdir()
    beside = fx.home / "beside"
    beside.mkdir()
    outside = Outside(fx, str(beside))
    try:
        control = fx.run("python3", "-c", HOSTILE, json.dumps(outside.want))
        done = json.loads(control.stdout)
        missing = {"read ", "write ", "link", "hard link", "list home", "rename out",
                   "plant repo/.git/hooks/pre-commit", "plant .envrc", "plant evil.worker", "plant sandbash.yaml", "signal", "environ", "pidfd", "tcp", "abstract", "service",
                   "shared memory", "setuid"} - set(done["worked"])
        equal(missing, set(), f"control: {control.stderr}")
        os.kill(done["child"], signal.SIGKILL)
        outside.want["zone"] = "/output"
        outside.want["kernel"] = ["unshare", "chroot", "mount", "umount2", "pivot_root", "fsopen", "open_tree",
                                  "io_uring_setup", "bpf", "userfaultfd", "keyctl", "perf_event_open", "fanotify_init", "setns"]
        for name in ("planted", "r"):
            (fx.home / name).unlink()
        result = run(fx, "w", "python3", "-c", HOSTILE, json.dumps(outside.want))
        check(result.stdout, result.stderr)
        answer = json.loads(result.stdout.splitlines()[0])
        # that of one's own file gives nobody more than one has
        equal(set(answer["worked"]) - ({"setuid"} if os.geteuid() else set()), set(), f"of {answer['tried']}")
        check(answer["tried"] > 50, answer)
        equal(fx.read("out/harmless"), "done")
        equal({"planted", "r"} & set(os.listdir(fx.home)), set())
        equal(outside.victim.poll(), None, "the process outside lives")
        last = fx.read("out/stayed") if fx.exists("out/stayed") else ""
        equal(fx.run("sleep", "0.1").status, 0)
        equal(fx.read("out/stayed") if fx.exists("out/stayed") else "", last, "who stays behind has ended with the run")
    finally:
        outside.end()


@test("Z2 what real paths a worker can see: in mountinfo those of its own directories, nowhere else")
def leaks(fx):
    if not SUPERVISED:
        skip("a worker needs a supervisor")
    project(fx)
    declare(fx, "w", OUTPUT)
    find = ("import glob, sys\nfor name in glob.glob('/proc/self/*') + glob.glob('/proc/*') + glob.glob('/proc/[0-9]*/*') + glob.glob('/etc/**', recursive=True):\n"
            " try: text = open(name, 'rb').read(1 << 20)\n except OSError: continue\n"
            " where = b'/'.join(part.encode() for part in sys.argv[1:])\n"
            " if b'/' + where in text: print(name.split('/')[-1])\n")
    parts = str(fx.project)[1:].split("/")  # in pieces, so that its own arguments do not have it
    found = set(run(fx, "w", "python3", "-c", find, *parts).stdout.split())
    equal(found - {"mountinfo"}, set())


# what all processes here, and this one itself, were started with
WORDS = """
import glob, os, sys
for name in glob.glob("/proc/[0-9]*/cmdline") + glob.glob("/proc/[0-9]*/environ"):
    try: text = open(name, "rb").read()
    except OSError: continue
    own = int(name.split("/")[2]) == os.getpid()
    print("own" if own else "other", name.split("/")[3], text)
print(sys.argv[1:], os.environ.get("NEIGHBOUR"))
"""


@test("what sandbash was started with, and its caller's variables, show in no process of the run")
def words(fx):
    if not SUPERVISED:
        skip("no pid namespace")
    project(fx)
    declare(fx, "w", OUTPUT)
    for flags in ([f"--worker={fx.project}/w.worker"], [f"--deny={fx.outside}/secret-rule"]):
        control = fx.run("python3", "-c", "print(open('/proc/self/cmdline').read())", *flags)
        contains(control.stdout, flags[0], "control: arguments are everybody's to read")
        result = fx.sandbash(*flags, "--", "python3", "-c", WORDS, "one", "two " * 300, env={"NEIGHBOUR": "v" * 500})
        equal(result.status, 0, result.stderr)
        lines = result.stdout.splitlines()
        others = [line for line in lines if line.startswith("other")]
        check(any("b'sandbash" in line for line in others), f"INIT was seen: {others}")
        for line in others:
            for secret in (flags[0].split("=")[1], "NEIGHBOUR", "HOME", "two"):
                lacks(line, secret)
        contains(lines[-1], "'one'", "neighbour: the command has its arguments")
        contains(lines[-1], "two " * 300)
        if "worker" not in flags[0]:
            contains(lines[-1], "v" * 500, "and its variables")


run_all()
