"""S1, S2, S3: no system call changes content or names outside the writable roots."""

import os
import platform
import socket
import threading

from attack import (ABSENT, CROSSING, act, attack, boxed, killed_or_refused, refused, signature,
                    unchanged,
                    works)
from tap import ALL_VARIANTS, SUPERVISED, check, equal, run_all, test, wait

KEEP = ["--keep-background"] if SUPERVISED else []  # a static run has nobody to end them

WRITES = {
    "open for writing": "open wronly {d}/file",
    "open for reading and writing": "open rdwr {d}/file",
    "open to append": "open wronly+append {d}/file",
    "open truncating": "open wronly+trunc {d}/file",
    "open read-only yet truncating": "open rdonly+trunc {d}/file",
    "open creating": "open wronly+creat {d}/new",
    "open creating exclusively": "open wronly+creat+excl {d}/new",
    "open read-only yet creating": "open rdonly+creat {d}/new",
    "openat2": "openat2 wronly {d}/file",
    "openat2 creating": "openat2 wronly+creat {d}/new",
    "openat through an O_PATH directory": "openat path {d} file",
    "openat through a directory": "openat rdonly {d} new",
    "chdir and a relative name": "cd {d} new",
    "fchdir and a relative name": "fchdir {d} file",
    "truncate": "truncate {d}/file",
    "shared mapping": "mmap {d}/file",
    "fallocate": "fallocate {d}/file",
    "copy_file_range": "copy range {p}/file {d}/file",
    "sendfile": "copy sendfile {p}/file {d}/file",
    "splice": "copy splice {p}/file {d}/file",
    "mkdir": "mkdir {d}/new",
    "rmdir": "rmdir {d}/empty",
    "unlink": "unlink {d}/file",
    "unlink of a symlink": "unlink {d}/link",
    "mknod of a FIFO": "mknod fifo {d}/new",
    "mknod of a socket": "mknod socket {d}/new",
    "mknod of a file": "mknod regular {d}/new",
    "symlink": "symlink file {d}/new",
    "unix socket": "bind {d}/new",
    "nameless file": "open wronly+tmpfile {d}",
    "nameless file and its name": "tmpfile {d} {d}/new",
    "rename": "rename plain {d}/file {d}/new",
    "rename over": "rename plain {d}/second {d}/file",
    "rename of a directory": "rename plain {d}/dir {d}/new",
    "exchange": "rename exchange {d}/file {d}/second",
}

CROSSINGS = {
    "hard link into the project": "link path {d}/file {p}/new",
    "hard link into the project by descriptor": "link proc {d}/file {p}/new",
    "hard link out of the project": "link path {p}/file {d}/new",
    "nameless file of the project named outside": "tmpfile {p} {d}/new",
    "rename into the project": "rename plain {d}/file {p}/new",
    "rename of a directory into the project": "rename plain {d}/dir {p}/new",
    "rename out of the project": "rename plain {p}/file {d}/new",
    "rename of a directory out of the project": "rename plain {p}/dir {d}/new",
    "rename from the project over a file": "rename plain {p}/file {d}/file",
    "rename without replacing": "rename noreplace {p}/file {d}/new",
    "exchange across the border": "rename exchange {p}/file {d}/file",
    "exchange of directories across the border": "rename exchange {p}/dir {d}/dir",
}

SPELLINGS = {
    "dots": "open wronly {p}/../{r}/file",
    "slashes": "open wronly /{d}///file",
    "/proc/self/root": "open wronly+creat /proc/self/root{d}/new",
    "/proc/thread-self/root": "open wronly /proc/thread-self/root{d}/file",
    "/proc/self/cwd": "open wronly+creat /proc/self/cwd/{r}/new",
    "/proc/self/fd of a read-only descriptor": "reopen rdonly /proc/self/fd {d}/file",
    "/proc/self/fd of an O_PATH descriptor": "reopen path /proc/self/fd {d}/file",
    "/proc/thread-self/fd": "reopen rdonly /proc/thread-self/fd {d}/file",
    "/dev/fd": "reopen rdonly /dev/fd {d}/file",
    "symlink as the last component": "open wronly+append {p}/to-file",
    "symlink in the middle": "open wronly {p}/to-dir/file",
    "symlink in the middle of a name that is not there": "open wronly+creat {p}/to-dir/dir/new",
    "dangling symlink": "open wronly+creat {p}/to-new",
    "truncate through a symlink": "truncate {p}/to-file",
    "mkdir through a symlink": "mkdir {p}/to-dir/new",
    "unlink through a symlink": "unlink {p}/to-dir/file",
    "rename through a symlink": "rename plain {p}/to-dir/file {p}/to-dir/new",
}

LEGACY = {
    "open": "open {d}/file {d}",
    "creat": "creat {d}/new {d}",
    "mkdir": "mkdir {d}/new {d}",
    "rmdir": "rmdir {d}/empty {d}",
    "unlink": "unlink {d}/file {d}",
    "mknod": "mknod {d}/new {d}",
    "rename": "rename {d}/file {d}/new",
    "link": "link {d}/file {d}/new",
    "symlink": "symlink file {d}/new",
}


def register(label, words, errors, variants=ALL_VARIANTS):
    @test(label, variants=variants)
    def refusal(fx):
        # As root openat2 is refused everywhere: its mode lies in memory, and may hold a
        # setuid bit.
        if words.startswith("openat2") and os.getuid() == 0:
            attack(fx, words.split(), errors + ABSENT,
                   neighbour=words.replace("at2", "", 1).split())
        else:
            attack(fx, words.split(), errors)


for name, words in WRITES.items():
    register(f"S2 write outside is refused: {name}", words, CROSSING)
for name, words in CROSSINGS.items():
    register(f"S1 nothing crosses the border: {name}", words, CROSSING)
for name, words in SPELLINGS.items():
    register(f"ESCAPES paths: {name}", words, CROSSING, ("full", "flat"))
if platform.machine() == "x86_64":
    for name, words in LEGACY.items():
        register(f"S2 legacy call outside is refused: {name}", "legacy " + words, CROSSING,
                 ("full", "flat"))

    @test("ESCAPES kernel surface: 32-bit system calls", variants=ALL_VARIANTS)
    def i386(fx):
        works(act(fx, "i386", "getpid", "-"), "this kernel runs 32-bit calls")
        for how in ("open", "chmod", "unlink"):
            target = fx.write(fx.outside / how, "x")
            before = signature(fx.outside)
            killed_or_refused(boxed(fx, "i386", how, target), how)
            unchanged(before, fx.outside, how)
            works(act(fx, "i386", how, target), "control")

    @test("ESCAPES kernel surface: x32 system calls", variants=ALL_VARIANTS)
    def x32(fx):
        # Most kernels are built without them, so the control may fail as well.
        killed_or_refused(boxed(fx, "x32", fx.outside / "new"))
        check(not (fx.outside / "new").exists())
        killed_or_refused(boxed(fx, "x32", fx.project / "new"), "even in the project")


@test("ESCAPES kernel surface: io_uring", variants=ALL_VARIANTS)
def io_uring(fx):
    works(act(fx, "uring", "nop", "-"), "this kernel has io_uring")
    for how in ("open", "mkdir", "unlink", "setxattr"):
        name = "new" if how == "mkdir" else how
        target = fx.outside / name
        if how != "mkdir":
            fx.write(target, "x")
        before = signature(fx.outside)
        refused(boxed(fx, "uring", how, target), ("EPERM", "ENOSYS"), how)
        unchanged(before, fx.outside, how)
        works(act(fx, "uring", how, target), f"control {how}")
    works(boxed(fx, "open", "wronly+creat", "inside"), "plain calls in the project")


@test("ESCAPES paths: a planted directory symlink swapped in", variants=ALL_VARIANTS)
def swapped(fx):
    """Check, swap, use: the name is a directory now and a link outside a moment later."""
    script = ('for i in $(seq "$2"); do echo x 2>/dev/null >"$1"/new; '
              'test -e "$3/new" && break; done')

    def race(target, run, times):
        target.mkdir(exist_ok=True)
        name = target.name
        fx.path(name).mkdir()
        fx.path("swap-" + name).symlink_to(target)
        flipper = fx.start(fx.tool("act"), "flip", name, "swap-" + name, "20")
        try:
            run("bash", "-c", script, "-", name, str(times), target)
        finally:
            flipper.kill()
            flipper.wait()
        return os.listdir(target)

    equal(race(fx.outside, fx.sandbash, 400), [])
    equal(race(fx.dir / "control", fx.run, 100000), ["new"], "control")
    works(fx.sandbash("touch", "neighbour"))


@test("ESCAPES paths: a name that only begins like the project", variants=ALL_VARIANTS)
def prefix(fx):
    for sibling in (fx.home / "project-evil", fx.home / "project.d", fx.home / "projec"):
        sibling.mkdir()
        works(act(fx, "open", "wronly+creat", sibling / "control"))
        refused(boxed(fx, "open", "wronly+creat", sibling / "new"))
        check(not (sibling / "new").exists())
    works(boxed(fx, "open", "wronly+creat", fx.project / "new"))


@test("ESCAPES paths: a name that only begins like a granted one", variants=ALL_VARIANTS)
def granted_prefix(fx):
    for name in ("ok", "ok-evil"):
        (fx.dir / name).mkdir()
    flag = f"--allow-write={fx.dir / 'ok'}"
    works(act(fx, "open", "wronly+creat", fx.dir / "ok-evil" / "control"))
    refused(boxed(fx, "open", "wronly+creat", fx.dir / "ok-evil" / "new", flags=[flag]))
    works(boxed(fx, "open", "wronly+creat", fx.dir / "ok" / "new", flags=[flag]))


@test("S2 write outside is refused: a FIFO that somebody reads", variants=ALL_VARIANTS)
def fifo(fx):
    """A read-only mount does not stop writing to a FIFO, and who reads it may obey."""
    path = fx.outside / "fifo"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        refused(boxed(fx, "open", "wronly+nonblock", path))
        try:
            equal(os.read(reader, 1), b"")
        except BlockingIOError:
            pass
        works(act(fx, "open", "wronly+nonblock", path), "control")
        equal(os.read(reader, 1), b"X")
    finally:
        os.close(reader)
    os.mkfifo(fx.project / "fifo")
    # who writes stays until it was read: its end would be a signal in the reader's redirection, which dash
    # does not make again (docs/security.md, "Signals")
    works(fx.sandbash("sh", "-c", "{ echo x; until [ -e read ]; do sleep 0.02; done; } >fifo & read line <fifo; "
                                  "status=$?; : >read; wait; exit $status"),
          "a FIFO in the project")


@test("S3 every descendant is confined", variants=ALL_VARIANTS)
def descendants(fx):
    target = fx.outside / "new"
    nest = ['setsid sh -c "echo x >$1"', '(sh -c "echo x >$1" & wait)',
            'env -i sh -c "echo x >$1"', 'nohup sh -c "echo x >$1" 2>/dev/null',
            'python3 -c "import subprocess as s; '
            's.run([\'touch\', \'$1\'], start_new_session=True)"',
            'perl -e "fork; fork; open F, q(>), q($1)"',
            'cp /bin/sh ./mysh; ./mysh -c "echo x >$1"',
            '/lib64/ld-linux-x86-64.so.2 /bin/sh -c "echo x >$1"'
            if platform.machine() == "x86_64" else 'sh -c "echo x >$1"',
            'find . -maxdepth 0 -exec sh -c "echo x >$1" ";"',
            'echo x | xargs -I{} sh -c "echo x >$1"',
            'tar cf - . 2>/dev/null | tar xf - --to-command="cat >$1" 2>/dev/null',
            'printf x | sed "w $1" ', "awk 'BEGIN { print > ARGV[1] }' \"$1\"",
            'git init -q r && cd r && git -c alias.x="!touch $1" x']
    for words in nest:
        fx.sandbash("sh", "-c", f"{words} 2>/dev/null", "-", target)
        check(not target.exists(), words)
        fx.run("sh", "-c", f"rm -rf r; {words}", "-", target)
        check(target.exists(), f"control: {words}")
        target.unlink()
        fx.sandbash("sh", "-c", f"rm -rf r; {words}", "-", fx.project / "new")
        check(fx.exists("new"), f"neighbour: {words}")
        fx.path("new").unlink()


@test("S3 a background process stays confined after the command has ended", variants=ALL_VARIANTS)
def orphans(fx):
    script = ('(exec >/dev/null 2>&1; sleep 0.3; echo x >"$1"/new; echo x >inside; echo x >done) & '
              'exit 0')

    def boxed_background(*words):
        return fx.sandbash(*KEEP, *words, outer=[f"--allow-write={fx.dir}", *KEEP])

    for where, boxing in ((fx.dir / "control", False), (fx.outside, True)):
        where.mkdir(exist_ok=True)
        (boxed_background if boxing else fx.run)("sh", "-c", script, "-", where)
        wait(lambda: fx.exists("done"), "it does not come to its end")
        equal(os.listdir(where), [] if boxing else ["new"])
        check(fx.exists("inside"))
        fx.path("done").unlink()


if SUPERVISED:
    @test("S3 background processes end with the command", variants=ALL_VARIANTS)
    def background_ends(fx):
        """However they got away from it; --keep-background waits for them instead."""
        def job(name):
            """One that says when it is there, and lives on for a moment when all is over."""
            return f": >{name}.up; until [ -e over ]; do sleep 0.02; done; sleep 0.4; echo x >{name}"

        names = ("plain", "session", "far", "deaf")
        script = (f'exec >/dev/null 2>&1; ({job("plain")}) & setsid sh -c "{job("session")}" & '
                  f'(setsid setsid nohup sh -c "{job("far")}" &) ; (trap "" HUP TERM INT; {job("deaf")}) & '
                  f'for name in {" ".join(names)}; do until [ -e $name.up ]; do sleep 0.02; done; done; echo x >ready')
        works(fx.sandbash("sh", "-c", script))
        check(fx.exists("ready"))
        fx.write("over")
        threading.Event().wait(1)
        equal([name for name in names if fx.exists(name)], [], "after the command's end")
        fx.path("over").unlink()
        works(fx.sandbash(*KEEP, "sh", "-c", f"{script}; : >over", outer=[f"--allow-write={fx.dir}", *KEEP]))
        equal([name for name in names if fx.exists(name)], list(names), "sandbash has waited")


@test("S1 an outside unix socket keeps its name", variants=ALL_VARIANTS)
def socket_name(fx):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.fspath(fx.outside / "s"))
        refused(boxed(fx, "unlink", fx.outside / "s"))
        check((fx.outside / "s").exists())
        works(act(fx, "unlink", fx.outside / "s"), "control")
    works(fx.sandbash("sh", "-c", "touch x && rm x"))


@test("ESCAPES paths: hard links of outside files cannot be made anywhere", variants=ALL_VARIANTS)
def hard_links(fx):
    victim = fx.write(fx.outside / "file", "content")
    for target in (fx.project / "alias", "/tmp/alias", "/dev/shm/alias"):
        refused(boxed(fx, "link", "path", victim, target), CROSSING)
        refused(boxed(fx, "link", "proc", victim, target), CROSSING)
    works(act(fx, "link", "path", victim, fx.project / "control"))
    fx.write("own", "x")
    works(boxed(fx, "link", "path", fx.project / "own", fx.project / "own2"))


@test("S14 granularity: create, modify and delete are granted one by one",
      variants=("full", "flat"))
def granularity(fx):
    def at(name, access, *words):
        top = fx.dir / name
        if not top.exists():
            top.mkdir()
            (top / "old").write_text("old")
        return boxed(fx, *(w.format(top) for w in words), flags=[f"--rule={access} {top}"])

    works(at("c", "read+create", "mkdir", "{}/new"))
    refused(at("c", "read+create", "unlink", "{}/old"))
    refused(at("c", "read+create", "rmdir", "{}/new"))
    refused(at("c", "read+create", "truncate", "{}/old"))
    refused(at("c", "read+create", "rename", "plain", "{}/old", "{}/x"), CROSSING)
    works(at("m", "read+modify", "open", "wronly", "{}/old"))
    refused(at("m", "read+modify", "open", "wronly+creat", "{}/new"))
    refused(at("m", "read+modify", "mkdir", "{}/new"))
    refused(at("m", "read+modify", "unlink", "{}/old"))
    refused(at("d", "read+delete", "truncate", "{}/old"))
    refused(at("d", "read+delete", "mkdir", "{}/new"))
    works(at("d", "read+delete", "unlink", "{}/old"))
    refused(at("r", "read", "open", "wronly", "{}/old"))
    works(at("r", "read", "read", "{}/old"))


run_all()
