"""Weird names, planted links and races around the launch: what is granted is what was meant."""

import os
import threading

from attack import CROSSING, act, boxed, refused, signature, unchanged, works
from tap import ALL_VARIANTS, SUPERVISED, check, contains, equal, run_all, test

# As bytes: not every name is text.
NAMES = (b"a b", b" lead", b"trail ", b"new\nline", b"tab\t", b"q\"uote'", b"back\\slash",
         b"dollar$HOME",
         b"*", b"p*", b"p?", b"p[ab]", b"[!a]", b"{a,b}", b"**", b"#hash", b"~", b"-dash", b"--",
         b"\xff\xfe", b"caf\xc3\xa9", b"\xe2\x80\xae", b"\x1b[2J", b"...", b"..x", b"a=b,c:d;e|f&g",
         b"write", b"deny x", b"(1)", b"\x7f")


def where(fx, name):
    top = os.path.join(os.fsencode(fx.home), name)
    os.makedirs(top, exist_ok=True)
    return os.fsdecode(top)


@test("ESCAPES paths: projects with unusual names", variants=("full", "flat"))
def projects(fx):
    """The project is writable, its likely pattern matches are not."""
    siblings = [where(fx, n) for n in (b"pa", b"a", b"backslash", b"new")]
    for name in NAMES:
        cwd = where(fx, name)
        works(boxed(fx, "open", "wronly+creat", "inside", cwd=cwd), repr(name))
        check(os.path.exists(os.path.join(cwd, "inside")), repr(name))
        for sibling in siblings:
            if os.path.samefile(sibling, cwd):
                continue
            refused(boxed(fx, "open", "wronly+creat", os.path.join(sibling, "new"), cwd=cwd),
                    CROSSING,
                    f"{name!r} opens {sibling}")
    works(act(fx, "open", "wronly+creat", os.path.join(siblings[0], "new")), "control")


@test("ESCAPES paths: guarded names in projects with unusual names")
def guarded(fx):
    for name in NAMES:
        cwd = where(fx, name)
        equal(fx.run("git", "init", "-q", ".", cwd=cwd).status, 0, repr(name))
        config = os.path.join(cwd, ".git", "config")
        before = signature(config)
        result = boxed(fx, "open", "wronly", ".git/config", cwd=cwd)
        if SUPERVISED:  # what it writes is looked at when it lets go of it
            refused(boxed(fx, "open", "wronly+creat", ".git/hooks/pre-commit", cwd=cwd), CROSSING,
                    repr(name))
        else:
            refused(result, CROSSING, repr(name))
            refused(boxed(fx, "rename", "plain", ".git", "moved", cwd=cwd), CROSSING, repr(name))
        unchanged(before, config, repr(name))
        works(boxed(fx, "open", "wronly+creat", ".git/COMMIT_EDITMSG", cwd=cwd), repr(name))
        works(act(fx, "open", "wronly+append", ".git/config", cwd=cwd), "control")


@test("ESCAPES paths: secrets in home directories with unusual names", variants=("full", "flat"))
def homes(fx):
    for name in NAMES:
        home = where(fx, name)
        cwd = os.path.join(home, "project")
        os.makedirs(cwd, exist_ok=True)
        with open(os.path.join(home, ".netrc"), "w") as file:
            file.write("password")
        with open(os.path.join(home, "plain"), "w") as file:
            file.write("plain")
        env = {"HOME": home}
        refused(boxed(fx, "read", os.path.join(home, ".netrc"), cwd=cwd, env=env),
                CROSSING + ("ENOENT",),
                repr(name))
        works(boxed(fx, "read", os.path.join(home, "plain"), cwd=cwd, env=env), repr(name))
        works(act(fx, "read", os.path.join(home, ".netrc")), "control")


@test("ESCAPES paths: granted directories with unusual names", variants=("full", "flat"))
def grants(fx):
    """On the command line a path that exists is meant as it stands."""
    sibling = where(fx, b"pa")
    for name in NAMES:
        if b"*" in name or b"?" in name or b"[" in name or b"\\" in name:
            continue  # there it is a pattern, as the manual says
        top = where(fx, name)
        flag = f"--allow-write={top}"
        works(boxed(fx, "open", "wronly+creat", os.path.join(top, "new"), flags=[flag]), repr(name))
        refused(boxed(fx, "open", "wronly+creat", os.path.join(sibling, "new"), flags=[flag]),
                CROSSING,
                repr(name))


@test("ESCAPES paths: a pattern on the command line opens only what it matches",
      variants=("full", "flat"))
def patterns(fx):
    for name in ("out1", "out2", "other"):
        (fx.home / name).mkdir()
    flag = f"--allow-write={fx.home}/out*"
    works(boxed(fx, "open", "wronly+creat", fx.home / "out1" / "new", flags=[flag]))
    works(boxed(fx, "open", "wronly+creat", fx.home / "out2" / "new", flags=[flag]))
    refused(boxed(fx, "open", "wronly+creat", fx.home / "other" / "new", flags=[flag]), CROSSING)
    refused(boxed(fx, "open", "wronly+creat", fx.home / "new", flags=[flag]), CROSSING)


def deep(fx, length):
    """A directory whose path has about that many bytes, made step by step; returns a descriptor."""
    fd = os.open(fx.project, os.O_RDONLY)
    used = len(os.fsencode(fx.project))
    while used + 2 < length:
        name = "d" * min(200, length - used - 1)
        os.mkdir(name, dir_fd=fd)
        inner = os.open(name, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = inner
        used += len(name) + 1
    return fd


@test("ESCAPES paths: very long paths: held, or refused", variants=("full", "flat"))
def long_paths(fx):
    """Also where the project's path fits, but that of a name in it does not."""
    for length in (1000, 3000, 4000, 4060, 4070, 4080, 4085, 4088, 4090, 4093, 4095, 4096, 4097,
                   4200):
        fd = deep(fx, length)
        os.mkdir(".git", dir_fd=fd)
        git = os.open(".git", os.O_RDONLY, dir_fd=fd)
        os.mkdir("hooks", dir_fd=git)
        os.close(os.open("config", os.O_WRONLY | os.O_CREAT, 0o644, dir_fd=git))

        def enter(fd=fd):
            os.fchdir(fd)

        result = fx.sandbash("sh", "-c", f"echo ran >ran; echo evil >>.git/config; mv .git moved; "
                             f"echo x >{fx.outside}/new", preexec_fn=enter, pass_fds=[])
        ran = "ran" in os.listdir(fd)
        if not ran and not SUPERVISED:
            equal(result.status, 125, f"{length}: {result.stderr}")
            contains(result.stderr, "sandbash: ")
        elif fx.variant == "full" or SUPERVISED:
            check(SUPERVISED or ".git" in os.listdir(fd), f"{length}: .git was moved")
            equal(os.stat("config", dir_fd=git).st_size, 0, f"{length}: .git/config was changed")
        equal(os.listdir(fx.outside), [], str(length))
        os.close(git)
        os.close(fd)
        fx.run("sh", "-c", "rm -rf d*")
    works(fx.sandbash("true"))


@test("P9 the project is reached by a symlink", variants=ALL_VARIANTS)
def symlinked_project(fx):
    link = fx.home / "link"
    link.symlink_to(fx.project)
    env = {"PWD": link}
    works(boxed(fx, "open", "wronly+creat", link / "new", cwd=link, env=env))
    works(boxed(fx, "open", "wronly+creat", fx.project / "new2", cwd=link, env=env))
    refused(boxed(fx, "open", "wronly+creat", fx.home / "new", cwd=link, env=env), CROSSING)
    # A symlink in the home directory that leads out of it is not "inside the home directory".
    out = fx.home / "out"
    out.symlink_to(fx.outside)
    result = fx.sandbash("touch", "new", cwd=out, env={"PWD": out})
    equal(result.status, 125)
    equal(os.listdir(fx.outside), [])
    # Nor does a forged PWD make it so.
    result = fx.sandbash("touch", "new", cwd=fx.outside, env={"PWD": fx.project})
    equal(result.status, 125)
    equal(os.listdir(fx.outside), [])


@test("ESCAPES paths: a link planted in the project does not lead a grant outside",
      variants=("full", "flat"))
def planted_grant(fx):
    """What one run leaves in the project must not widen the next: `--allow-write=build` is
    meant for the project's own build, not for what the inside made of that name."""
    fx.path("build").symlink_to(fx.outside)
    fx.path("cache").symlink_to(fx.home)
    for flags in (["--allow-write=build"], ["--allow-write=./build"],
                  [f"--allow-write={fx.project}/build"],
                  ["--allow-write=cache"], ["--rule=write build"], ["--project=build"]):
        fx.sandbash(*flags, "sh", "-c", f"touch {fx.outside}/new {fx.home}/new")
        check(not (fx.outside / "new").exists() and not (fx.home / "new").exists(),
              f"{flags} opened what the link names")
    fx.config("build\n")
    fx.sandbash("touch", fx.outside / "new")
    check(not (fx.outside / "new").exists(), "a relative rule of the config opened it")
    fx.path("build").unlink()
    fx.path("build").mkdir()
    works(fx.sandbash("--allow-write=build", "touch", "build/new"), "neighbour")


@test("ESCAPES paths: a link planted in another writable root does not lead a grant outside",
      variants=("full", "flat"))
def planted_elsewhere(fx):
    root = fx.home / "root"
    root.mkdir()
    (root / "build").symlink_to(fx.outside)
    one, two = f"--allow-write={root}", f"--allow-write={root}/build"
    for flags in ([one, two], [two, one]):
        fx.sandbash(*flags, "touch", fx.outside / "new")
        check(not (fx.outside / "new").exists(), str(flags))
    fx.config("~/root\n")
    fx.sandbash(two, "touch", fx.outside / "new")
    check(not (fx.outside / "new").exists(), "a root of the config file")
    fx.config("")
    works(fx.sandbash(two, "touch", fx.outside / "new"),
          "neighbour: a link that no run can have made leads where it says")


@test("ESCAPES paths: a link planted in the project does not hide a guarded name or open a deny")
def planted_deny(fx):
    fx.write("secret/file", "password")
    fx.write("open/file", "plain")
    fx.path("alias").symlink_to("secret")
    flags = ["--deny=alias"]
    refused(boxed(fx, "read", "secret/file", flags=flags), CROSSING + ("ENOENT",),
            "a denied link denies what it names")
    refused(boxed(fx, "read", "alias/file", flags=flags), CROSSING + ("ENOENT",))
    works(boxed(fx, "read", "open/file", flags=flags))


class Flipper:
    """Somebody inside an earlier run who swaps two names while the next one starts."""

    def __init__(self, fx, a, b, seconds=3):
        self.process = fx.start(fx.tool("act"), "flip", a, b, str(seconds))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


@test("ESCAPES races: a granted directory swapped for a link during the launch",
      variants=("full", "flat"))
def race_grant(fx):
    fx.path("build").mkdir()
    fx.path("swap").symlink_to(fx.outside)
    with Flipper(fx, "build", "swap"):
        for _ in range(60):
            fx.sandbash("--allow-write=build", "touch", fx.outside / "new")
            check(not (fx.outside / "new").exists(), "the link was taken for the directory")
    works(fx.sandbash("touch", "new"))


@test("ESCAPES races: a parent of the project swapped for a link during the launch")
def race_parent(fx):
    """The current directory is a descriptor; its name may belong to something else by now."""
    parent = fx.home / "parent"
    (parent / "p").mkdir(parents=True)
    (fx.outside / "p").mkdir()
    link = fx.home / "swap"
    link.symlink_to(fx.outside)
    with Flipper(fx, parent, link):
        for _ in range(60):
            fd = None
            while fd is None:
                try:
                    fd = os.open(parent / "p", os.O_RDONLY)
                    if os.fstat(fd).st_ino == (fx.outside / "p").stat().st_ino:
                        os.close(fd)
                        fd = None
                except OSError:
                    pass
            result = fx.sandbash("sh", "-c",
                                 f"echo x >{fx.outside}/p/new; echo x >{fx.outside}/new",
                                 preexec_fn=lambda fd=fd: os.fchdir(fd), pass_fds=[])
            os.close(fd)
            equal(os.listdir(fx.outside / "p"), [], str(result))
            check(not (fx.outside / "new").exists())


@test("ESCAPES races: guarded names swapped during the launch")
def race_guard(fx):
    """Whatever the launch saw, .git/config is closed or nothing runs."""
    fx.git_project()
    fx.run("cp", "-r", ".git", "other")
    with Flipper(fx, ".git", "other"):
        for _ in range(40):
            fx.sandbash("sh", "-c", "true")
    # Nothing is left mounted, broken or half-made.
    equal(fx.run("git", "status", "--porcelain").status, 0)
    config = signature(fx.path(".git/config"))
    fx.sandbash("sh", "-c", "echo evil >>.git/config")
    unchanged(config, fx.path(".git/config"))


@test("ESCAPES races: a secret swapped during the launch stays unreadable or absent")
def race_secret(fx):
    """By its owner's editor, say: a run sees a mask or no file, never what is masked."""
    fx.write(fx.home / ".aws" / "credentials", "password")
    fx.write(fx.home / "aws2" / "other", "x")
    stop = threading.Event()

    def churn():
        while not stop.is_set():
            os.rename(fx.home / "aws2", fx.home / "aws3")
            os.rename(fx.home / "aws3", fx.home / "aws2")

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        for _ in range(40):
            result = fx.sandbash("cat", fx.home / ".aws" / "credentials")
            equal(result.stdout, "")
    finally:
        stop.set()
        thread.join()


@test("ESCAPES races: directories renamed in the project while it starts", variants=ALL_VARIANTS)
def race_tree(fx):
    """Moving trees in and around the roots: the launch works, and nothing outside changes."""
    fx.path("a/b/c").mkdir(parents=True)
    fx.path("d/b/c").mkdir(parents=True)
    with Flipper(fx, "a", "d"):
        for _ in range(25):
            result = fx.sandbash("sh", "-c", f"echo x >a/b/c/f; echo x >{fx.outside}/new; exit 0")
            check(result.status in (0, 125), str(result))
            equal(os.listdir(fx.outside), [])


run_all()
