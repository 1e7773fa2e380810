"""Without mounts: hidden directories cannot be listed, and those around them can."""

from tap import PATIENCE, check, contains, equal, lacks, run_all, test

# Each way to open a directory, and what it lists: NAMES, or the error.
WAYS = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
path = sys.argv[1]
here = os.getcwd()
def openat2(path, flags, resolve):
    how = (ctypes.c_uint64 * 3)(flags, 0, resolve)
    fd = libc.syscall(437, -100, path.encode(), ctypes.byref(how), 24)
    if fd < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return fd
def from_inside():
    os.chdir(path)
    try:
        return os.listdir(".")
    finally:
        os.chdir(here)
def from_the_parent():
    parent = os.open(os.path.dirname(path), os.O_PATH)
    return os.listdir(os.open(os.path.basename(path), os.O_RDONLY | os.O_DIRECTORY, dir_fd=parent))
def reopened():
    return os.listdir(f"/proc/self/fd/{os.open(path, os.O_PATH)}")
ways = {
    "opendir": lambda: os.listdir(path),
    "beneath": lambda: os.listdir(path + "/inner"),
    "plain": lambda: os.listdir(os.open(path, os.O_RDONLY)),
    "nofollow": lambda: os.listdir(os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)),
    "openat2": lambda: os.listdir(openat2(path, os.O_RDONLY | os.O_DIRECTORY, 0)),
    "openat2 plain": lambda: os.listdir(openat2(path, os.O_RDONLY, 0)),
    "openat2 links": lambda: os.listdir(openat2(path, os.O_RDONLY | os.O_DIRECTORY, 4)),
    "cwd": from_inside,
    "dirfd": from_the_parent,
    "reopened": reopened,
    "root": lambda: os.listdir("/proc/self/root" + path),
    "dots": lambda: os.listdir(path + "/inner/.."),
    "link": lambda: os.listdir("link"),
}
for name, way in ways.items():
    try:
        print(name, "NAMES" if "marked" in way() else "NONE", sep=": ")
    except OSError as error:
        print(name, error.strerror, sep=": ")
"""

def look(fx, path, *flags):
    link = fx.path("link")
    link.unlink(missing_ok=True)
    link.symlink_to(path)
    words = ["python3", "ways.py", str(path)]
    result = fx.sandbash(*flags, *words) if flags else fx.run(*words)
    return dict(line.split(": ") for line in result.stdout.splitlines()), result.stderr


def lay_out(fx):
    fx.write("ways.py", WAYS)
    for place in (fx.home / ".ssh", fx.home / "hidden", fx.home / "shown", fx.path("own")):
        (place / "inner").mkdir(parents=True)
        fx.write(place / "marked", "x")
        fx.write(place / "inner" / "marked", "x")
    fx.write(fx.home / "marked", "x")


def listed(ways, but=()):
    return {name: "Permission denied" if name in but else "NAMES" for name in ways}


@test("hidden directories are not listed, however they are opened", ("flat",))
def hidden(fx):
    lay_out(fx)
    for path in (fx.home / ".ssh", fx.home / "hidden"):
        native, _ = look(fx, path)
        equal(native, listed(native), "the control")
        ways, said = look(fx, path, "--quiet", f"--deny={fx.home / 'hidden'}")
        equal(ways, {name: "Permission denied" for name in native}, f"{path}: {said}")


@test("directories beside hidden ones are listed; those above by programs that say what they open",
      ("flat",))
def around(fx):
    lay_out(fx)
    fx.write(fx.home / "inner" / "marked", "x")
    for path, but in ((fx.home / "shown", ()), (fx.path("own"), ()), (fx.home, ("plain",))):
        ways, said = look(fx, path, "--quiet")
        equal(ways, listed(ways, but), f"{path}: {said}")
        ways, said = look(fx, path, "--quiet", f"--deny={fx.home / 'hidden'}")
        equal(ways, listed(ways), f"{path}, every open being held: {said}")


@test("what is made later is listed, too, and what appears in a hidden directory is not", ("flat",))
def later(fx):
    lay_out(fx)
    script = ("mkdir -p new/deep && touch new/deep/made && find new && ls -R $HOME/hidden; "
              "echo waiting; until [ -e go ]; do sleep 0.02; done; ls $HOME/hidden/later; ls $HOME")
    run = fx.start(*fx.argv("--quiet", f"--deny={fx.home / 'hidden'}", "sh", "-c", script),
                   stdout=-1, stderr=-1, text=True)
    out = ""
    while "waiting\n" not in out:
        line = run.stdout.readline()
        check(line, "it ended early")
        out += line
    equal(out, "new\nnew/deep\nnew/deep/made\nwaiting\n")
    (fx.home / "hidden" / "later").mkdir()
    fx.write(fx.home / "hidden" / "later" / "marked", "x")
    fx.write("go")
    out, err = run.communicate(timeout=PATIENCE)
    lacks(out, "later")
    contains(out, "marked\n", "the home directory is listed")
    equal(err.count("Permission denied"), 2, err)


@test("a rule of a nested run hides names, too", ("flat",))
def nested(fx):
    lay_out(fx)
    result = fx.sandbash("--quiet", fx.argv(variant="full")[0], "--quiet", f"--deny={fx.path('own')}",
                         "sh", "-c", "ls own; ls ../shown")
    contains(result.stderr, "Permission denied")
    equal(result.stdout, "inner\nmarked\n", result.stderr)


run_all()
