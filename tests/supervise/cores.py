"""cores.py - core dumps: where the kernel makes a file for a command that dies, and where it may not.

It makes it with the rights of the command, in the current directory, and by no call that could be held.  So a
run leaves cores in temp directories of its own, where nobody outside sees a name, and none in a project: there a
crash at the right place would be a file that git obeys.
"""

import os
import resource

from attack import works
from compare import native
from tap import check, contains, equal, lacks, run_all, skip, test

# Dies in directory $1, twice, since the second core takes the place of the first; then what lies there.
# The lines are in its memory, and so in the core.
CRASH = """
cd "$1" || exit 9
ulimit -S -c unlimited 2>/dev/null || :
lines='
URL: https://elsewhere.example/x
'
sh -c 'kill -SEGV $$' "$lines" 2>/dev/null; echo "$?"
sh -c 'kill -SEGV $$' "$lines" 2>/dev/null; echo "$?"
for name in core*; do
    [ -e "$name" ] && stat -c "%F %a" "$name" && head -c 4 "$name" | od -An -c && grep -aoF -m1 "URL: https" "$name" | uniq
done
true
"""
KEPT = "kept/core"  # a rule says that it is only read
SWAP_SECONDS = "0.5"


def need_cores():
    """The name by which the file is found again, and by which git is led to it."""
    for name, want in (("core_pattern", "core"), ("core_uses_pid", "0")):
        with open(f"/proc/sys/kernel/{name}", encoding="utf-8", errors="replace") as file:
            found = file.read().strip()
        if found != want:
            skip(f"kernel.{name} is '{found}': no plain file 'core'")
    if resource.getrlimit(resource.RLIMIT_CORE)[1] == 0:
        skip("the hard limit of core dumps is 0")


def crash(directory, script=CRASH):
    return ["sh", "-c", script, "sh", os.fspath(directory)]


def cores(directory):
    return sorted(name for name in os.listdir(directory) if name.startswith("core"))


def limited(words):
    """As a person does it who has said `ulimit -c unlimited` before."""
    return ["sh", "-c", 'ulimit -S -c unlimited && exec "$@"', "sh", *map(os.fspath, words)]


def natively(fx):
    place = fx.path("natively")
    place.mkdir(exist_ok=True)
    result = fx.run(*native(*crash(place)))
    works(result, "control")
    check("regular file 600" in result.stdout, result.stdout)
    return result.stdout


@test("core dumps: in a temp directory of its own a run leaves them as natively, and in new ones there")
def own_temp(fx):
    need_cores()
    want = natively(fx)
    for place in ("/tmp", "/dev/shm"):
        result = fx.sandbash(*crash(place))
        equal(result.stdout, want, f"{place}: {result.stderr}")
    result = fx.sandbash("sh", "-c", 'mkdir -p /tmp/a/b && exec "$@"', "sh", *crash("/tmp/a/b"))
    equal(result.stdout, want, f"a directory that it made: {result.stderr}")


@test("core dumps: a fast directory gets them as natively", variants=("full", "flat"))
def fast(fx):
    need_cores()
    want = natively(fx)
    fx.path("build").mkdir()
    equal(fx.sandbash("--rule=fast build", *crash("build")).stdout, want)
    check(cores(fx.path("build")), "the core stays")


@test("core dumps: a static run, which guards by mounts, leaves them in the project")
def static(fx):
    need_cores()
    want = natively(fx)
    fx.path("d").mkdir()
    equal(fx.sandbash("--static", *crash("d")).stdout, want)


def project(fx):
    fx.git_project()
    fx.path(".git/remotes").mkdir()
    fx.path("d").mkdir()
    fx.write(KEPT, "kept")
    fx.write("old/core", "old")


@test("ESCAPES core dumps: none is made in a project, wherever a command dies there", variants=("full", "flat"))
def in_project(fx):
    """git takes .git/remotes/NAME for a remote, line by line; that git config names it, asks nobody."""
    need_cores()
    project(fx)
    before, unruled = fx.snapshot(), "landlock" if fx.variant == "full" else None
    for place in (".", "d", "kept", "old", ".git", ".git/hooks", ".git/remotes", fx.outside):
        words = ["--rule=read kept", *crash(place)]
        for argv in (fx.argv(*words), limited(fx.argv(*words)), fx.argv("--best-effort", *words, without=unruled)):
            result = fx.run(*argv)
            works(result, place)
            lacks(result.stdout, "regular file 600", place)
            equal(fx.snapshot(), before, place)
    if fx.variant == "full":
        contains(fx.sandbash(*crash("/tmp")).stdout, "regular file 600", "neighbour")
    works(fx.run(*native(*crash(".git/remotes"))), "control")
    equal(fx.run("git", "ls-remote", "--get-url", "core").stdout, "https://elsewhere.example/x\n", "control")


@test("ESCAPES core dumps: a project that lies in /tmp is not opened with it", home_in_tmp=True)
def in_temp(fx):
    """Landlock's rights go down through mounts."""
    need_cores()
    project(fx)
    before = fx.snapshot()
    for place in (".", ".git/remotes", "kept"):
        result = fx.sandbash("--rule=read kept", *crash(place))
        works(result, place)
        equal(fx.snapshot(), before, place)
    result = fx.sandbash(fx.tool("swap"), "open", "/dev/tty", ".git/hooks/pre-commit", SWAP_SECONDS)
    works(result)
    equal(fx.snapshot(), before, "a path that is swapped after the look")
    contains(fx.sandbash(*crash("/dev/shm")).stdout, "regular file 600", "neighbour")
    works(fx.run(*native(*crash("d"))), "control")
    check(cores(fx.path("d")), "control")


@test("ESCAPES core dumps: what a nested run only reads in the /tmp of the outer one stays as it is")
def nested(fx):
    need_cores()
    sandbash, made, after = fx.argv()[0], "mkdir /tmp/kept && echo kept >/tmp/kept/file", "cat /tmp/kept/file; ls /tmp/kept"

    def inside(*words):
        result = fx.sandbash("sh", "-c", f'{made}; "$@" >/dev/null; {after}', "sh", *words)
        works(result)
        return result.stdout

    untouched = "kept\nfile\n"
    for rules in (["--rule=read /tmp/kept"], ["--rule=deny /tmp/kept/file"], ["--project=/tmp", "--rule=read /tmp/kept"]):
        run = [sandbash, "--anywhere", *rules]
        equal(inside(*run, fx.tool("swap"), "open", "/dev/tty", "/tmp/kept/file", SWAP_SECONDS), untouched, rules)
        check(inside(sandbash, fx.tool("swap"), "open", "/dev/tty", "/tmp/kept/file", SWAP_SECONDS) != untouched, "control")
        if "read" in rules[-1]:
            equal(inside(*run, *crash("/tmp/kept")), untouched, rules)
    equal(inside(sandbash, *crash("/tmp/kept")), "kept\ncore\nfile\n", "neighbour: no rule about it")


@test("core dumps: with log-allowed none is made, since nobody would have seen it")
def recorded(fx):
    need_cores()
    lacks(fx.sandbash("--log-allowed", *crash("/tmp")).stdout, "regular file")
    contains(fx.sandbash(*crash("/tmp")).stdout, "regular file", "neighbour")


@test("core dumps: that none was left is told where there would be one", variants=("full", "flat"))
def told(fx):
    need_cores()
    line = "no core file was left"
    dies = ["sh", "-c", "kill -SEGV $$"]
    contains(fx.run(*limited(fx.argv(*dies))).stderr, line)
    equal(cores(fx.project), [])
    works(fx.run(*limited(native("sh", "-c", "sh -c 'kill -SEGV $$' || true"))), "control")
    check(cores(fx.project), "control")
    for words in (fx.argv(*dies),  # no limit
                  limited(fx.argv("--quiet", *dies)),
                  limited(fx.argv("sh", "-c", "kill -KILL $$")),
                  limited(fx.argv("true"))):
        lacks(fx.run(*words).stderr, line)
    if fx.variant == "full":
        lacks(fx.run(*limited(fx.argv("sh", "-c", "cd /tmp && kill -SEGV $$"))).stderr, line, "it is there")


run_all()
