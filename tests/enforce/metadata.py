"""Metadata outside the roots: modes, owners, times, attributes, flags; by path and descriptor.

Landlock does not know these operations (KERNEL facts: tests/facts/landlock_metadata.c), so
they are held by read-only mounts, and in a supervised run by the supervisor as well.  A static
run without namespaces has to say that they are not.
"""

import os
import platform

from attack import DENIED, act, attack, boxed, layout, refused, signature, unchanged, works
from tap import SUPERVISED, check, contains, equal, lacks, run_all, test

BY_PATH = ("chmod", "fchmodat2", "chown", "lchown", "fchownat", "utime", "utimes", "utimensat",
           "touch", "setxattr", "lsetxattr", "setxattrat", "removexattr", "lremovexattr",
           "removexattrat", "acl", "file_setattr")
THROUGH_PROC = ("chmod-proc", "setxattr-proc", "utimensat-proc")
READ_ONLY = ("fchmod", "fchown", "futimens", "fsetxattr", "fremovexattr", "setflags", "fssetxattr",
             "setversion", "setxattrat-empty", "removexattrat-empty", "file_setattr-empty")
O_PATH = ("fchmodat2-empty", "fchownat-empty", "utimensat-empty")
EVERY = BY_PATH + THROUGH_PROC + READ_ONLY + O_PATH
LEGACY = ("chmod", "chown", "lchown", "utime", "utimes", "futimesat")
# Refused everywhere: a filter cannot see which file they would change.
NOWHERE = ("setxattrat", "removexattrat", "file_setattr", "setxattrat-empty",
           "removexattrat-empty", "file_setattr-empty")
# Refused inside as well where a supervisor would have to look what they are about to do.
CHATTR = ("fssetxattr", "setversion")
UNAVAILABLE = NOWHERE + CHATTR if SUPERVISED else NOWHERE
REFUSED = DENIED + ("ENOSYS",)


def register(form, where):
    @test(f"S2 metadata outside is refused: {form}, {where}")
    def refusal(fx):
        neighbour = ["meta", "chmod", "{d}/file"] if form in UNAVAILABLE else True
        attack(fx, ["meta", form, "{d}/file"], REFUSED, neighbour=neighbour)


for forms, where in ((BY_PATH, "by path"), (THROUGH_PROC, "by /proc/self/fd"),
                     (READ_ONLY, "on a read-only descriptor"), (O_PATH, "on an O_PATH descriptor")):
    for form in forms:
        register(form, where)


def register_legacy(form):
    @test(f"S2 metadata outside is refused: {form}, legacy call")
    def refusal(fx):
        attack(fx, ["legacy", form, "{d}/file", "-"])


if platform.machine() == "x86_64":
    for form in LEGACY:
        register_legacy(form)


@test("S2 metadata outside is refused: a directory")
def directory(fx):
    for form in ("chmod", "utimensat", "setxattr", "fchmod", "setflags", "futimens"):
        for top in (fx.outside / form, fx.dir / f"control-{form}", fx.project / form):
            top.mkdir()
        before = signature(fx.outside)
        refused(boxed(fx, "meta", form, fx.outside / form))
        unchanged(before, fx.outside, form)
        works(act(fx, "meta", form, fx.dir / f"control-{form}"))
        inside = boxed(fx, "meta", form, fx.project / form)
        if form in UNAVAILABLE:
            refused(inside, ("EPERM", "EOPNOTSUPP"), form)
        else:
            works(inside, form)


@test("S2 metadata outside is refused: the home directory and what holds the project")
def above(fx):
    fx.settle()
    for top in (fx.home, fx.dir):
        before = signature(fx.dir)
        refused(boxed(fx, "meta", "chmod", top))
        refused(boxed(fx, "meta", "utimensat", top))
        refused(boxed(fx, "meta", "fchmod", top))
        unchanged(before, fx.dir)
        works(act(fx, "meta", "chmod", top))
        os.chmod(top, 0o755)
    works(boxed(fx, "meta", "chmod", fx.project))
    fx.project.chmod(0o755)


@test("S2 metadata outside is refused: through a planted symlink")
def planted(fx):
    target = fx.write(fx.outside / "file", "x")
    fx.path("link").symlink_to(target)
    before = signature(fx.outside)
    for form in ("chmod", "chown", "utime", "setxattr", "fchmod", "acl"):
        refused(boxed(fx, "meta", form, "link"))
    unchanged(before, fx.outside)
    works(act(fx, "meta", "chmod", "link"))
    fx.write("file")
    works(boxed(fx, "meta", "chmod", "file"))


@test("S2 metadata outside is refused: every form in one nested run", variants=("nested",))
def nested(fx):
    """The inner run cannot mount, so here the outer one holds it."""
    layout(fx.outside / "tree")
    layout(fx.project / "tree")
    before = signature(fx.outside)
    for form in EVERY:
        refused(boxed(fx, "meta", form, fx.outside / "tree" / "file", outer=[]), REFUSED, form)
    unchanged(before, fx.outside)
    works(boxed(fx, "meta", "chmod", "tree/file", outer=[]))


def layout_xattr(top):
    """Some forms remove it."""
    os.setxattr(top / "file", "user.act", b"old")


@test("R4 without namespaces it is held, or a static run says that metadata is not")
def weaker(fx):
    result = fx.sandbash("touch", "started", without="userns")
    if SUPERVISED:
        equal((result.status, result.stderr), (0, ""))
    else:
        equal(result.status, 125)
        contains(result.stderr, "modes, owners, times")
        check(not fx.exists("started"))
        result = fx.sandbash("--best-effort", "touch", "started", without="userns")
        equal(result.status, 0)
        contains(result.stderr, "warning")
        contains(result.stderr, "modes, owners, times")
    check(fx.exists("started"))
    result = fx.sandbash("touch", "here")
    equal((result.status, result.stderr), (0, ""))


if SUPERVISED:
    @test("S2 metadata outside is refused: every form, without namespaces", variants=("flat",))
    def held_flat(fx):
        """As with mounts, but the supervisor alone holds it."""
        for top in (fx.outside / "tree", fx.dir / "control", fx.project / "tree"):
            layout(top)
        before = signature(fx.outside)
        for form in EVERY:
            refused(boxed(fx, "meta", form, fx.outside / "tree" / "file"), REFUSED, form)
        unchanged(before, fx.outside)
        for form in EVERY:
            if form in UNAVAILABLE:
                continue
            works(boxed(fx, "meta", form, fx.project / "tree" / "file"), f"neighbour {form}")
            layout_xattr(fx.project / "tree")
            works(act(fx, "meta", form, fx.dir / "control" / "file"), f"control {form}")
            layout_xattr(fx.dir / "control")


if SUPERVISED:
    @test("S2 a mode and an owner that a file has already: set inside, refused outside", variants=("full", "flat"))
    def already(fx):
        for place in (fx.project, fx.outside):
            fx.write(place / "file", "x", mode=0o640)
        before = signature(fx.outside)
        result = fx.sandbash("--consent=deny", "python3", "-c", """
import os, sys
def attempt(act, *words):
    try:
        act(*words)
        return "done"
    except OSError as error:
        return error.strerror
for path in ("file", sys.argv[1]):
    fd = os.open(path, os.O_RDONLY)
    print(attempt(os.chmod, path, 0o640), attempt(os.fchmod, fd, 0o640), attempt(os.chown, path, os.getuid(), os.getgid()),
          attempt(os.fchown, fd, -1, -1), attempt(os.chmod, path, 0o600), oct(os.stat(path).st_mode & 0o7777))
os.chmod("file", 0o2750)  # the kernel takes the bit away with the owner's change: chown(2)
os.chown("file", os.getuid(), os.getgid())
print(oct(os.stat("file").st_mode & 0o7777))
print(attempt(os.chown, "/etc/passwd", -1, -1), attempt(os.chmod, "/etc/passwd", os.stat("/etc/passwd").st_mode & 0o7777))
""", fx.outside / "file")
        denied = "Operation not permitted"
        equal(result.stdout, f"done done done done done 0o600\n{' '.join([denied] * 5)} 0o640\n0o750\n{denied} {denied}\n",
              result.stderr)
        unchanged(before, fx.outside)


@test("R4 the calls that nobody can hold are refused without namespaces too", variants=("flat",))
def flat(fx):
    target = fx.write(fx.outside / "file", "x")
    os.setxattr(target, "user.act", b"old")
    before = signature(fx.outside)
    for form in NOWHERE:
        refused(boxed(fx, "meta", form, target), REFUSED, form)
    unchanged(before, fx.outside)
    works(act(fx, "meta", "setxattrat", target))
    fx.write("file", "x")
    works(boxed(fx, "meta", "chmod", "file"))


@test("S2 in read-only mode the project keeps its metadata")
def read_only(fx):
    fx.write("file", "x")
    os.setxattr(fx.path("file"), "user.act", b"old")
    before = signature(fx.project)
    for form in EVERY:
        refused(boxed(fx, "meta", form, fx.project / "file", flags=["--mode=read-only"]), REFUSED,
                form)
    unchanged(before, fx.project)
    works(act(fx, "meta", "chmod", "file"))
    works(boxed(fx, "read", "file", flags=["--mode=read-only"]))


@test("S2 a read-only part of the project keeps its metadata")
def read_only_part(fx):
    fx.write("vendor/file", "x")
    os.setxattr(fx.path("vendor/file"), "user.act", b"old")
    before = signature(fx.path("vendor"))
    for form in EVERY:
        refused(boxed(fx, "meta", form, fx.project / "vendor/file", flags=["--allow-read=vendor"]),
                REFUSED, form)
    unchanged(before, fx.path("vendor"))
    works(act(fx, "meta", "chmod", "vendor/file"))
    fx.write("file", "x")
    works(boxed(fx, "meta", "chmod", "file", flags=["--allow-read=vendor"]))


LEASE = "import fcntl, os, sys; fcntl.fcntl(os.open(sys.argv[1], os.O_RDONLY), {}, fcntl.F_{})"


@test("ESCAPES processes outside: no lease, which would make whoever opens the file wait")
def lease(fx):
    target = fx.write(fx.outside / "file", "x")
    take = LEASE.format("fcntl.F_SETLEASE", "WRLCK")
    works(fx.run("python3", "-c", take, target), "control")
    result = fx.sandbash("python3", "-c", take, target)
    contains(result.stderr, "PermissionError")
    works(fx.sandbash("python3", "-c", LEASE.format("fcntl.F_GETLEASE", "UNLCK"), target),
          "neighbour")


HINT = """
import fcntl, os, struct, sys
file = os.open(sys.argv[1], os.O_RDONLY)
print(struct.unpack("q", fcntl.fcntl(file, 1035, bytes(8))))   # F_GET_RW_HINT
fcntl.fcntl(file, 1036, struct.pack("q", 5))                   # F_SET_RW_HINT
"""


@test("ESCAPES metadata: no hint about its data is left at a file outside")
def hint(fx):
    target = fx.write(fx.outside / "file", "x")
    works(fx.run("python3", "-c", HINT, target), "control")
    result = fx.sandbash("python3", "-c", HINT, target)
    contains(result.stdout, "(", "neighbour: what hint it has")
    contains(result.stderr, "Invalid argument")


run_all()
