"""swapped.py - a path, or flags, that change after the supervisor has looked.

What the kernel carries out itself it reads once more: devices, and names in procfs.  A thread that
writes another path there meanwhile (swap.c) must not empty or make anything by that, and openat2(),
whose flags lie in memory as well, is never left to the kernel.
"""

import os

from attack import works
from tap import check, contains, equal, run_all, test

HOOK = ".git/hooks/pre-commit"
KEPT = "kept/file"  # a rule says that it is only read
NULL, TTY, PROC = "/dev/null", "/dev/tty", "/proc/self/status"

# An act of swap.c, what the supervisor is to see, and what the kernel is to find.
EMPTIES = [(act, good) for act in ("read-trunc", "none-trunc") for good in (NULL, TTY, PROC)] + [
    ("trunc", NULL), ("trunc", TTY)]
BY_HOW = [(act, good) for act in ("how-trunc", "how-none-trunc") for good in (NULL, PROC)]
WRITES = [("open", NULL), ("open", TTY), ("how-write", NULL), ("how-write", PROC),
          ("how-path", NULL), ("how-path", PROC)]
MACHINES = {"": None, ", without user namespaces": "userns", ", without Landlock": "landlock"}


def prepare(fx):
    fx.git_project()
    fx.write(KEPT, "content")
    fx.write(fx.outside / "file", "content")


def state(path):
    if not os.path.lexists(path):
        return None
    info = os.lstat(path)
    return info.st_ino, info.st_mode, info.st_size, info.st_mtime_ns


def swap(fx, act, good, bad, machine, seconds):
    flags = ["--best-effort"] if machine else []
    result = fx.sandbash(*flags, "--rule=read kept", fx.tool("swap"), act, good, bad, seconds, without=machine)
    equal(result.status, 0, result.stderr)
    check("cannot supervise" not in result.stderr, result.stderr)
    return [int(word) for word in result.stdout.split()]


def targets(fx):
    yield from ((act, good, KEPT) for act, good in EMPTIES + BY_HOW)
    yield from ((act, good, HOOK) for act, good in WRITES)
    yield from ((act, good, str(fx.outside / "file")) for act, good in EMPTIES + BY_HOW + WRITES)


def register(label, machine):
    @test(f"ESCAPES races: what is swapped after the look empties and makes nothing{label}")
    def held(fx):
        prepare(fx)
        for act, good, bad in targets(fx):
            before = state(fx.project / bad)
            swap(fx, act, good, bad, machine, "0.25")
            equal(state(fx.project / bad), before, f"{act} {good} {bad}")


for name, what in MACHINES.items():
    register(name, what)


@test("ESCAPES races: the same swaps without a sandbox do it")
def control(fx):
    for act, good, bad in targets(fx):
        prepare(fx)
        before = state(fx.project / bad)
        for _ in range(40):  # it is a race: on a busy machine not won at once
            works(fx.run(fx.tool("swap"), act, good, bad, "0.02"))
            if state(fx.project / bad) != before:
                break
        check(state(fx.project / bad) != before, f"{act} {good} {bad} did nothing")
        fx.run("rm", "-rf", ".git", fx.outside / "file")


@test("R4 without Landlock the devices of every script can be written, and new terminals")
def devices(fx):
    script = """if 1:
        import os, pty, sys
        open("/dev/null", "w").write("x")
        pid, master = pty.fork()
        if pid == 0:
            open(os.ttyname(0), "w").write("by its name\\n")
            os._exit(0)
        print(os.read(master, 99).decode())
        """
    result = fx.sandbash("--best-effort", "python3", "-c", script, without="landlock")
    works(result)
    contains(result.stdout, "by its name")
    for path in ("/dev/tty", "/dev/kmsg"):
        result = fx.sandbash("--best-effort", "sh", "-c", f"echo x >{path}", without="landlock")
        check(result.status != 0, path)
    works(fx.run("python3", "-c", script), "control")


# openat2() of each "PATH FLAGS RESOLVE": what was read, or the error, a line for each.
HOW = """if 1:
    import ctypes, errno, os, struct, sys
    libc = ctypes.CDLL(None, use_errno=True)

    def openat2(path, flags, resolve):
        how = struct.pack("QQQ", flags, 0, resolve)
        fd = libc.syscall(437, -100, path.encode(), how, len(how))
        if fd < 0:
            return errno.errorcode[ctypes.get_errno()]
        text = os.read(fd, 9).decode() if os.path.isfile(path) and not flags & os.O_PATH else "ok"
        os.close(fd)
        return text

    for word in sys.argv[1:]:
        path, flags, resolve = word.split(" ")
        for _ in range(100):  # EAGAIN: somebody renamed something, anywhere, and ".." is not sure
            answer = openat2(path.replace("PPID", str(os.getppid())), int(flags), int(resolve))
            if answer != "EAGAIN":
                break
        print(answer.splitlines()[0])
    """
NO_XDEV, NO_MAGIC, NO_LINKS, BENEATH, IN_ROOT = 1, 2, 4, 8, 16


def how(fx, cases, run=None):
    words = [f"{path} {flags} {resolve}" for path, flags, resolve in cases]
    result = (run or fx.sandbash)("python3", "-c", HOW, *words)
    works(result)
    return dict(zip(cases, result.stdout.splitlines(), strict=True))


@test("ESCAPES the deputy: openat2() does not open the supervisor's own files in /proc",
      variants=("full", "flat"))
def deputy(fx):
    """In procfs it counts who opens."""
    cases = [(f"/proc/PPID/{name}", 0, resolve) for name in ("mem", "environ", "maps", "auxv")
             for resolve in (0, NO_XDEV, NO_MAGIC)]
    said = set(how(fx, cases).values())
    check(said <= {"ENOSYS", "ENOENT", "EXDEV"}, said)
    works(fx.run("python3", "-c", "import os; open(f'/proc/{os.getppid()}/environ').read()"),
          "control")
    equal(how(fx, [(PROC, 0, 0)]), {(PROC, 0, 0): "ENOSYS"}, "a program takes openat() then")
    works(fx.sandbash("cat", PROC, "/proc/self/environ"), "neighbour")


@test("S12 openat2() works for files and directories as without a sandbox",
      variants=("full", "flat"))
def ordinary(fx):
    fx.write("file", "content")
    fx.write("dir/inner", "inner")
    fx.path("link").symlink_to("file")
    fx.path("loop").symlink_to("loop")
    fx.path("out").symlink_to(fx.outside)
    paths = ("file", "dir/inner", "dir/../file", "link", "loop", "nosuch", "nosuch/x", "file/x",
             "out", "dir", "", "/etc/passwd", str(fx.project / "file"), "/nosuch", NULL)
    ways = (0, NO_XDEV, NO_MAGIC, NO_LINKS, BENEATH, IN_ROOT, BENEATH | NO_LINKS)
    cases = [(path, flags, resolve) for path in paths for resolve in ways
             for flags in (0, os.O_DIRECTORY, os.O_NOFOLLOW)
             # the project and /dev are mounts of their own
             if resolve != NO_XDEV or not path.startswith("/")]
    inside, outside = how(fx, cases), how(fx, cases, fx.run)
    for case in cases:
        equal(inside[case], outside[case], case)
    path = [("file", os.O_PATH, 0)]
    equal(how(fx, path), {path[0]: "ENOSYS"}, "O_PATH cannot be handed over")
    equal(how(fx, path, fx.run), {path[0]: "ok"}, "control")


@test("S12 emptying with an access mode that is none is refused, and all else works",
      variants=("full", "flat"))
def no_mode(fx):
    fx.write("file", "content")
    script = "import os, sys; os.close(os.open(sys.argv[1], int(sys.argv[2])))"

    def run(path, flags, box):
        words = ["python3", "-c", script, path, str(flags)]
        return (fx.sandbash if box else fx.run)(*words)

    for path in ("file", NULL):
        result = run(path, 3 | os.O_TRUNC, True)
        equal(result.status, 1)
        contains(result.stderr, "PermissionError")
        works(run(path, 3, True), "neighbour: the mode alone")
        works(run(path, os.O_RDONLY | os.O_TRUNC, True), "neighbour: reading")
        works(run(path, os.O_WRONLY | os.O_TRUNC, True), "neighbour: writing")
        works(run(path, 3 | os.O_TRUNC, False), "control")


run_all()
