"""fast.py - fast roots: the command changes files there by itself, and nothing else.

What is let through is resolved by the kernel a second time, and a thread may have changed the path
meanwhile (swap.c).  So most of this file is about what that gains: nothing outside the root.  The
rest is about the border of a fast root, which is that of a disk of its own, and about programs that
must not notice: links that lead out, a root that is removed, a kernel that cannot hold it.
"""

import os
import shutil
import stat
import time

from attack import DENIED, act, layout, refused, works
from tap import BIN, PATIENCE, check, contains, equal, run_all, test

RULE = "--rule=fast build"
HOOK = ".git/hooks/pre-commit"
LONG_AGO = 1000000000


def prepare(fx):
    fx.git_project()
    layout(fx.project / "build")
    layout(fx.project / "src")
    layout(fx.outside / "tree")


def clear(fx):
    for place in (*os.scandir(fx.project), *os.scandir(fx.outside)):
        if place.is_dir(follow_symlinks=False):
            shutil.rmtree(place.path)
        else:
            os.unlink(place.path)


def boxed(fx, *words, flags=(), **where):
    return fx.sandbash(RULE, *flags, fx.tool("act"), *words, **where)


def shell(fx, script, **where):
    return fx.sandbash(RULE, "bash", "-eu", "-c", script, **where)


def swap(fx, act, good, bad, *flags, seconds="0.4", **where):
    """Run swap in build; how often its act worked, and how often not."""
    result = fx.sandbash(RULE, *flags, "env", "-C", "build", fx.tool("swap"), act, good, bad, seconds,
                         **where)
    equal(result.status, 0, result.stderr)
    check("cannot supervise" not in result.stderr, result.stderr)
    return [int(word) for word in result.stdout.split()]


# --- let through, or not ------------------------------------------------------------------------


@test("a call in a fast root is let through, and Landlock holds it", ("full", "flat"))
def let_through(fx):
    prepare(fx)
    # what is performed is what was seen, and works; what is let through may have been swapped
    worked, failed = swap(fx, "open", "x", "../src/x", seconds="1")
    check(worked > 0 and failed > 0, f"{worked} opens worked, {failed} did not")


@test("where Landlock cannot hold it, it is performed")
def performed(fx):
    prepare(fx)
    worked, failed = swap(fx, "open", "x", "../" + HOOK, "--best-effort", seconds="1",
                          without="landlock")
    check(worked > 0 and failed > 0, f"{worked} opens worked, {failed} did not")
    check(not fx.exists(HOOK), "planted by a path that changed after the look")


@test("who belongs to a nested run is not let through: its rules hold in a fast root")
def nested(fx):
    prepare(fx)
    for flag, status in (("--deny=build/secret", 1), ("--allow-write=src", 0)):
        result = fx.sandbash(RULE, BIN, flag, fx.tool("act"), "open", "wronly+creat",
                             "build/secret")
        equal(result.status, status, f"{flag} ({result.stderr})")
    works(boxed(fx, "open", "wronly+creat", "build/secret"), "without the inner one")


# --- another path at the last moment ------------------------------------------------------------


def state(path):
    """All that an attack could change, the time of the change included; None: nothing is there."""
    try:
        info = os.lstat(path)
    except FileNotFoundError:
        return None
    content = path.read_bytes() if stat.S_ISREG(info.st_mode) else None
    return (info.st_ino, info.st_mode, info.st_nlink, info.st_ctime_ns, content)


# act, the name that may be, the one that may not (from build); {o} is outside
SWAPS = (
    ("open", "x", "../" + HOOK),
    ("open", "x", "{o}/file"),
    ("open", "x", "{o}/new"),
    ("trunc", "x", "../.git/config"),
    ("trunc", "x", "{o}/file"),
    ("truncate", "file", "../.git/config"),
    ("truncate", "file", "{o}/file"),
    ("mkdir", "x", "{o}/new"),
    ("mkdir", "x", "../.vscode/x"),
    ("rmdir", "empty", "{o}/empty"),
    ("unlink", "file", "{o}/file"),
    ("symlink", "x", "../" + HOOK),
    ("symlink", "x", "{o}/new"),
    ("link-from", "file", "../.git/config"),
    ("link-from", "file", "{o}/file"),
    ("link-to", "x", "../" + HOOK),
    ("link-to", "x", "{o}/new"),
    ("rename-from", "file", "{o}/file"),
    ("rename-to", "x", "../" + HOOK),
    ("rename-to", "x", "{o}/new"),
    ("chmod", "file", "{o}/file"),
)


def aim(fx, template):
    """The path that may not be, as it is told to swap, and where that is."""
    bad = template.format(o=fx.outside / "tree")
    place = fx.project / "build" / bad
    return bad, place.parent.resolve() / place.name


def again(fx, name):
    shutil.rmtree(fx.path(name))
    layout(fx.path(name))


@test("a path that is swapped after the look leads nowhere but the root", ("full", "flat"))
def swapped(fx):
    prepare(fx)
    for name, good, template in SWAPS:
        bad, victim = aim(fx, template)
        again(fx, "build")
        before = state(victim)
        worked, _ = swap(fx, name, good, bad, seconds="0.25")
        equal(state(victim), before, f"{name} {bad}")
        check(worked > 0 or name in ("rmdir", "unlink", "rename-from"),
              f"{name} {good}: the harmless half never worked")


@test("the same swaps without a sandbox do it")
def swapped_control(fx):
    for name, good, template in SWAPS:
        prepare(fx)
        (fx.project / ".vscode").mkdir()
        bad, victim = aim(fx, template)
        before = state(victim)
        for _ in range(40):  # it is a race: on a busy machine not won at once
            result = fx.run(fx.tool("swap"), name, good, bad, "0.05", cwd=fx.project / "build")
            equal(result.status, 0, result.stderr)
            if state(victim) != before:
                break
        check(state(victim) != before, f"{name} {bad} did nothing")
        clear(fx)


# --- the border ----------------------------------------------------------------------------------

CROSSING = (
    "rename plain build/file src/new", "rename plain build/file src/second",
    "rename plain build/dir src/new", "rename plain build/link src/new",
    "rename plain src/file build/new", "rename plain src/dir build/new",
    "rename exchange build/file src/file", "rename exchange build/dir src/dir",
    "rename noreplace build/file new", "link path build/file src/new",
    "link path src/file build/new", "tmpfile build src/new", "tmpfile src build/new",
    "rename plain build other", "rename plain src/empty build/empty",
    f"rename plain build/file {HOOK}", f"link path build/file {HOOK}", f"tmpfile build {HOOK}",
    "link path .git/config build/new", "rename exchange build/file .git/config",
)


@test("nothing is renamed or linked across the border", ("full", "flat"))
def border(fx):
    prepare(fx)
    before = fx.snapshot()
    for words in CROSSING:
        refused(boxed(fx, *words.split()), ("EXDEV",), words)
    equal(fx.snapshot(), before, "changed")
    for words in CROSSING:
        works(act(fx, *words.split()), f"control: {words}")
        clear(fx)
        prepare(fx)
    for words in ("rename plain build/file build/dir/new", "rename exchange build/dir build/empty",
                  "link path build/second build/empty/hard", "rename plain build/dir build/dir2",
                  "tmpfile build build/tmp", "rename plain src/file src/new",
                  "link path src/second src/hard"):
        works(boxed(fx, *words.split()), f"neighbour: {words}")


@test("a fast root stays where it is, and so does what is around it")
def stays(fx):
    layout(fx.project / "top" / "sub" / "build")
    flags = ("--rule=fast top/sub/build", fx.tool("act"))
    for words in ("top other", "top/sub other", "top/sub/build other", "top/sub/build top/sub/b"):
        refused(fx.sandbash(*flags, "rename", "plain", *words.split()), ("EXDEV",), words)
        refused(fx.sandbash(*flags, "rename", "exchange", *words.replace("other", "o").split()),
                ("EXDEV",), words)
    works(fx.sandbash(*flags, "mkdir", "top/beside"), "neighbour")
    works(fx.sandbash(*flags, "rename", "plain", "top/beside", "top/sub/beside"), "neighbour")
    for words in ("top/sub/build other", "other top/sub/build", "top other", "other top"):
        works(act(fx, "rename", "plain", *words.split()), f"control: {words}")


@test("programs that move files across the border copy them", ("full", "flat"))
def moved(fx):
    prepare(fx)
    works(shell(fx, "mv build/dir src/moved; mv src/file build/moved; mv build old; mkdir build; "
                    "touch build/again; mv build/again build/twice"))
    equal((fx.read("src/moved/inner"), fx.read("old/moved")), ("inner\n", "content\n"))
    equal(sorted(os.listdir(fx.project / "build")), ["twice"])


@test("what is moved out lands as any file: guarded names stay guarded", ("full", "flat"))
def lands(fx):
    prepare(fx)
    fx.write("build/evil", "#!/bin/sh\n", 0o755)
    for words in (f"mv build/evil {HOOK}", f"cp build/evil {HOOK}", f"ln -s ../../build/evil {HOOK}",
                  "mkdir -p build/v; cp build/evil build/v/tasks.json; mv build/v .vscode"):
        shell(fx, words + " || true")
        check(not fx.exists(HOOK), f"{words}: planted")
        check(not fx.exists(".vscode/tasks.json"), f"{words}: planted")
    works(shell(fx, "mv build/evil src/evil"), "neighbour")


@test("git is not led into a fast root, where nothing is guarded", ("full", "flat"))
def led(fx):
    prepare(fx)
    works(shell(fx, "mkdir -p build/g/hooks; echo evil >build/g/hooks/pre-commit"), "unguarded")
    for words in ("echo 'gitdir: ../../build/g' >src/dir/.git; :",
                  f"echo 'gitdir: {fx.project}/build/g' >src/dir/.git; :",
                  "echo 'gitdir: ../../build/g' >src/dir/x; mv src/dir/x src/dir/.git; :",
                  "ln -s ../../build/g src/dir/.git; :",
                  "echo ../../build/g >.git/commondir; :",
                  "git config core.worktree ../build"):
        shell(fx, words)
        check(not fx.exists("src/dir/.git") or "build" not in fx.read("src/dir/.git"),
              f"{words}: led there")
        check(not fx.exists(".git/commondir"), words)
        check("build" not in fx.read(".git/config"), words)
    works(shell(fx, "echo 'gitdir: ../g' >src/dir/.git"), "neighbour: a guarded place")
    contains(fx.read("src/dir/.git"), "../g")


# --- what a program must not notice ----------------------------------------------------------------


@test("links in a fast root that lead out are followed, as far as the rules go", ("full", "flat"))
def leads_out(fx):
    prepare(fx)
    for name, target in (("to-file", "../src/file"), ("to-new", "../src/new"), ("to-dir", "../src"),
                         ("to-hook", "../" + HOOK), ("to-out", fx.outside / "tree")):
        os.symlink(target, fx.project / "build" / name)
    for words in ("open wronly build/to-file", "open wronly+creat build/to-new",
                  "open wronly+creat+trunc build/to-dir/third", "mkdir build/to-dir/made",
                  "rename plain build/to-dir/second build/to-dir/renamed", "truncate build/to-file",
                  "link path build/to-dir/file build/to-dir/hard", "unlink build/to-dir/hard",
                  "cd build/to-dir fourth", "openat path build/to-dir fifth",
                  "symlink x build/to-dir/symlink", "rmdir build/to-dir/made", "unlink build/link"):
        works(boxed(fx, *words.split()), words)
    equal(sorted(os.listdir(fx.project / "src")),
          ["dir", "empty", "fifth", "file", "fourth", "link", "new", "renamed", "symlink", "third"])
    before = fx.snapshot(fx.outside)
    for words in ("open wronly+creat build/to-hook", "open wronly build/to-out/file",
                  "mkdir build/to-out/new", "unlink build/to-out/file", "cd build/to-out new",
                  "rename plain build/to-out/file build/to-out/new"):
        refused(boxed(fx, *words.split()), DENIED, words)
    equal(fx.snapshot(fx.outside), before)
    check(not fx.exists(HOOK), "planted")


@test("every way to name a file in a fast root works", ("full", "flat", "nested"))
def spelled(fx):
    prepare(fx)
    os.symlink(fx.project, fx.home / "short")
    top = fx.project
    for number, path in enumerate((
            "build/{}", "./build/{}", "build/dir/../{}", "build//{}", "src/../build/{}",
            f"{top}/build/{{}}", f"{top}/build/./dir/../{{}}", f"{fx.home}/short/build/{{}}",
            "/proc/self/cwd/build/{}", f"../{top.name}/build/{{}}")):
        name = path.format(number)
        for words in (("open", "wronly+creat", name), ("rename", "plain", name, name + "-r"),
                      ("link", "path", name + "-r", name + "-l"), ("unlink", name + "-l"),
                      ("truncate", name + "-r"), ("unlink", name + "-r"), ("mkdir", name),
                      ("rmdir", name), ("symlink", "x", name), ("unlink", name)):
            works(boxed(fx, *words), " ".join(words))
    works(shell(fx, f"cd build/dir; touch a ../b ./c ../../build/d {top}/build/e; rm ../b a c; "
                    "cd ../../src; touch ../build/f; cd /; touch $OLDPWD/../build/g"))
    equal({"d", "e", "f", "g"} - set(os.listdir(top / "build")), set())
    equal(os.listdir(top / "build/dir"), ["inner"])


@test("a fast root that is removed and made again is an ordinary directory", ("full", "flat"))
def made_again(fx):
    prepare(fx)
    works(shell(fx, "rm -rf build; mkdir build; cd build; touch a; mkdir b; mv a c; ln c d; rm c; "
                    "rmdir b; ln -s d e; echo x >d"))
    equal(sorted(os.listdir(fx.project / "build")), ["d", "e"])
    # at once, while what was seen of the old one is fresh
    quick = ("import os\nos.close(os.open('q/x', os.O_WRONLY | os.O_CREAT))\nos.unlink('q/x')\n"
             "os.rmdir('q')\nos.mkdir('q')\nos.close(os.open('q/x', os.O_WRONLY | os.O_CREAT))\n"
             "os.unlink('q/x')\n")
    (fx.project / "q").mkdir()
    for _ in range(10):
        works(fx.sandbash("--rule=fast q", "python3", "-c", quick), "removed and made at once")


@test("a fast root that somebody outside replaces is an ordinary directory", ("full", "flat"))
def replaced(fx):
    prepare(fx)
    process = fx.start(*fx.argv(RULE, "bash", "-eu", "-c",
                                "touch build/before; touch ready; until [ -e go ]; do sleep 0.02; done; "
                                "touch build/after; mkdir build/made; rmdir build/made"))
    try:
        until = time.monotonic() + PATIENCE
        while not fx.exists("ready") and time.monotonic() < until:
            time.sleep(0.01)
        check(fx.exists("build/before"), "it does not begin")
        (fx.project / "build").rename(fx.project / "old")
        (fx.project / "build").mkdir()
        fx.write("go")
        equal(process.wait(timeout=PATIENCE), 0)
    finally:
        process.kill()
        process.wait()
    equal(os.listdir(fx.project / "build"), ["after"])


@test("metadata in a fast root is changed, by who may", ("full", "flat"))
def metadata(fx):
    prepare(fx)
    for form in ("chmod", "chown", "utimensat", "setxattr", "removexattr", "fchmod", "futimens"):
        works(boxed(fx, "meta", form, "build/file"), form)
        refused(boxed(fx, "meta", form, fx.outside / "tree/file"), DENIED, form)
    os.utime(fx.project / "build/dir", (LONG_AGO, LONG_AGO))
    works(shell(fx, "chmod 700 build/dir; touch -d @5 build/second"))
    equal(os.stat(fx.project / "build/second").st_mtime, 5)


@test("no device nodes and, for root, no setuid bits in a fast root", ("full", "flat"))
def special(fx):
    prepare(fx)
    for kind in ("char", "block"):
        refused(boxed(fx, "mknod", kind, f"build/{kind}"), DENIED, kind)
    for kind in ("fifo", "socket", "regular"):
        works(boxed(fx, "mknod", kind, f"build/{kind}"), kind)
    works(boxed(fx, "bind", "build/bound"))
    made = ("import os, sys\ntry: os.close(os.open('build/s', os.O_WRONLY | os.O_CREAT, 0o4755))\n"
            "except PermissionError: pass\ntry: os.mknod('build/t', 0o104755)\n"
            "except PermissionError: pass\ntry: os.chmod('build/file', 0o4755)\n"
            "except PermissionError: pass\n")
    works(fx.sandbash(RULE, "python3", "-c", made))
    for name in ("s", "t", "file"):
        path = fx.project / "build" / name
        check(os.geteuid() != 0 or not path.exists() or not path.stat().st_mode & stat.S_ISUID,
              f"{name} is setuid root")


@test("files that rules hide cannot be read by way of a fast root", ("full", "flat"))
def hidden(fx):
    prepare(fx)
    fx.write("src/key.pem", "secret")
    script = "cat src/key.pem; ln -s ../src/key.pem build/k; cat build/k; true >>build/x; cat build/x"
    result = shell(fx, script.replace("; ", " || true; "), variant=fx.variant)
    contains(result.stdout, "secret", "control")
    result = fx.sandbash(RULE, "--deny=src/*.pem", "bash", "-c", script.replace("build/k", "build/l"))
    equal((result.status, result.stdout), (0, ""), result.stderr)


@test("the record counts what is let through")
def counted(fx):
    prepare(fx)
    works(shell(fx, "for i in 1 2 3 4 5; do echo x >build/n$i; done; rm build/n[1-5]"))
    result = fx.run(BIN, "--stats")
    equal(result.status, 0, result.stderr)
    contains(result.stdout, "create")


run_all()
