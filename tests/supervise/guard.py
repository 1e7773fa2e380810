"""guard.py - names that a program outside would run or obey, and every way to plant them.

tests/lib/plant.py knows the ways.  Each is tried three times at places of the same layout:

    control     without a sandbox: it plants
    inside      at the guarded name: nothing is planted, whatever the attack was told
    neighbour   inside, at a name that nobody obeys: it plants, as without a sandbox
"""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import index
from compare import native
from marked import gone, new_mark
from tap import FLAGS, PATIENCE, Failed, check, contains, equal, lacks, run_all, test

PLANT = Path(__file__).resolve().parent.parent / "lib" / "plant.py"
PYTHON = "python3"
MARK = "planted-by-the-inside"
SCRIPT = f"#!/bin/sh\n# {MARK}\n"

# name: what is planted, something harmless that may stand there
NAMES = {
    ".git/hooks/pre-commit": (SCRIPT, ""),
    ".git/config": (f"[core]\n\tfsmonitor = {MARK}\n", "[user]\n\tname = x\n"),
    ".git/index": (index.make([index.entry(f"../{MARK}")]), index.make([index.entry("file")])),
    ".git/rebase-merge/msgnum": (f"$({MARK})\n", "1\n"),
    ".envrc": (SCRIPT, ""),
    ".vscode/tasks.json": (f'{{"{MARK}": 1}}\n', ""),
    ".claude/settings.json": (f'{{"{MARK}": 1}}\n', ""),
}
PLAIN = "plain.d/sub/file"  # nobody runs that


def hold(fx, refused, allowed, **where):
    """The shell commands that must fail in the sandbox, where nobody is asked, and those that must
    not.  The former work in a copy of the project without one."""
    for script in refused:
        result = fx.sandbash("--consent=deny", "--quiet", "sh", "-c", script, **where)
        check(result.status != 0, script)
    for script in allowed:
        result = fx.sandbash("--consent=deny", "--quiet", "sh", "-c", script, **where)
        equal(result.status, 0, f"{script}: {result.stderr}")
    for script in refused:
        control = fx.run("sh", "-c",
                         f"cp -a . ../c; cd ../c; {script}; s=$?; rm -rf ../c; exit $s")
        equal(control.status, 0, f"the control: {script}")


def attacks():
    source = PLANT.read_text()
    return [line[4:line.index("(")] for before, line in zip(source.splitlines(),
            source.splitlines()[1:]) if before == "@attack"]


def prepare(fx, top, name, exists, alias=True):
    """A place for each attack: the directories around the name, and the file where it exists."""
    template = top.parent / (top.name + "-template")
    template.mkdir(parents=True)
    if name.startswith(".git/"):
        # without the samples of hooks, which nobody runs: forty copies of them took half the test
        equal(fx.run("git", "init", "-q", "--template=", template).status, 0)
    path = template / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if exists and not path.exists():
        path.write_text("harmless\n")
        path.chmod(0o755)
    if not exists and path.exists():
        path.unlink()
    for word in attacks():
        shutil.copytree(template, top / word)
        if exists and alias:
            os.link(top / word / name, top / word / "old-alias")
    shutil.rmtree(template)


def planted(top, name):
    """The attacks after which the name says what they want."""
    found = set()
    for word in attacks():
        path = top / word / name
        if path.is_file() and MARK.encode() in path.read_bytes():
            found.add(word)
    return found


def plant_all(fx, top, name, evil, harmless, boxed, flags=(), **where):
    env = ({"EVIL_HEX": evil.hex(), "HARMLESS_HEX": harmless.hex()} if isinstance(evil, bytes)
           else {"EVIL": evil, "HARMLESS": harmless})
    words = [PYTHON, PLANT, top, name]
    result = (fx.sandbash("--consent=deny", "--quiet", *flags, *words, env=env, timeout=120, **where)
              if boxed else fx.run(*native(*words), env=env, timeout=120))
    equal(result.status, 0, result.stderr)
    return result.stdout


def matrix(name, exists, depth):
    evil, harmless = NAMES[name]
    label = f"{name}, {'there' if exists else 'absent'}, {'at the top' if depth == '.' else 'deep'}"

    @test(f"P3 planting: {label}", variants=("full", "flat"))
    def one(fx):
        top = fx.project / depth / "x"
        prepare(fx, top, name, exists)
        log = plant_all(fx, top, name, evil, harmless, True)
        equal(planted(top, name), set(), f"\n{log}")
        equal([p for p in top.rglob(".sandbash*")], [], "leftovers")
        if fx.variant == "flat":
            return  # natively it is the same machine
        control = fx.dir / "control" / "x"
        prepare(fx, control, name, exists)
        native_log = plant_all(fx, control, name, evil, harmless, False)
        # nearly all of them work where nobody looks; which ones do not, depends on the place
        works = planted(control, name)
        check(len(works) >= 27, f"control: {sorted(works)}\n{native_log}")


for name in NAMES:
    for exists in (True, False):
        for depth in (".",) if name == ".git/index" else (".", "a/b/c"):
            matrix(name, exists, depth)


@test("P3 planting: the neighbour, a name that nobody obeys", variants=("full", "flat"))
def neighbour(fx):
    for exists in (True, False):
        top, control = fx.project / f"in-{exists}", fx.dir / f"control-{exists}"
        for place in (top, control):
            prepare(fx, place, PLAIN, exists, alias=False)
        log = plant_all(fx, top, PLAIN, SCRIPT, "", True)
        plant_all(fx, control, PLAIN, SCRIPT, "", False)
        equal(planted(top, PLAIN), planted(control, PLAIN), log)


@test("P3 a second name from before is a copy once it is written to", variants=("full", "flat"))
def alias_from_before(fx):
    outside = fx.write(fx.outside / "file", "outside\n")
    os.link(outside, fx.path("inside"))
    fx.path("inside").chmod(0o640)
    before = outside.read_text(), outside.stat().st_ino, outside.stat().st_mode
    works = fx.sandbash("--consent=deny", "sh", "-c", "echo more >>inside && ln inside third && "
                        "echo again >>third && cat inside && stat -c %h inside")
    equal(works.status, 0, works.stderr)
    equal(works.stdout, "outside\nmore\nagain\n2\n", "its own links are links")
    equal((outside.read_text(), outside.stat().st_ino, outside.stat().st_mode), before)
    equal(fx.path("inside").stat().st_mode & 0o777, 0o640)
    control = fx.write("one", "x\n")
    os.link(control, fx.path("two"))
    equal(fx.run("sh", "-c", "echo more >>two; cat one").stdout, "x\nmore\n", "control")


@test("P3 a name from before counts, however many of the run's own come and go",
      variants=("full", "flat"))
def alias_counted(fx):
    """Here one of its own links is removed from outside: as many names are left as it knows."""
    outside = fx.write(fx.outside / "file", "outside\n")
    os.link(outside, fx.path("inside"))
    run = fx.start(*fx.argv("--consent=deny", "sh", "-c",
                            "ln inside mine && echo made && read go && echo more >>inside"),
                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    equal(run.stdout.readline(), b"made\n")
    fx.path("mine").unlink()
    run.communicate(b"go\n", timeout=PATIENCE)
    equal(run.returncode, 0)
    equal(fx.read("inside"), "outside\nmore\n")
    equal(outside.read_text(), "outside\n")


@test("P3 planting: in a further project, a writable root and the temp directory",
      variants=("full", "flat"))
def other_roots(fx):
    evil, harmless = NAMES[".git/hooks/pre-commit"]
    for flag, root in (("--project={}", "other"), ("--allow-write={}", "root")):
        top = fx.home / root / "x"
        prepare(fx, top, ".git/hooks/pre-commit", True)
        log = plant_all(fx, top, ".git/hooks/pre-commit", evil, harmless, True,
                        flags=[flag.format(fx.home / root)])
        equal(planted(top, ".git/hooks/pre-commit"), set(), log)
    # prepared in the temp directory, moved into the project
    result = fx.sandbash("--consent=deny", "sh", "-c", f"""
mkdir -p "$TMPDIR/p/hooks"; printf '{SCRIPT}' >"$TMPDIR/p/hooks/pre-commit"
mv "$TMPDIR/p" .git; mv "$TMPDIR/p/hooks/pre-commit" .envrc
mkdir -p q/hooks; printf '{SCRIPT}' >q/hooks/pre-commit; mkdir q/objects q/refs; echo x >q/HEAD
true""", env={"TMPDIR": "/tmp"})
    equal(result.status, 0, result.stderr)
    for path in (".git/hooks/pre-commit", ".envrc"):
        check(not fx.path(path).exists(), path)
    check(not (fx.path("q/hooks/pre-commit").exists() and fx.path("q/HEAD").exists()
               and fx.path("q/refs").exists()), "a bare repository with a hook was completed")


@test("P3 a hook runs outside only if it was there: git itself says", variants=("full", "flat"))
def truly(fx):
    """The control is a hook that runs; planted ones do not."""
    fx.git_project()
    mark = fx.dir / "ran"
    hook = f"#!/bin/sh\ntouch {mark}\n"
    fx.write("evil", hook, 0o755)
    fx.sandbash("--consent=deny", "--quiet", "sh", "-c", f"""
cp evil .git/hooks/pre-commit; mv evil .git/hooks/post-commit
git config core.fsmonitor 'touch {mark}'; git config core.hooksPath "$PWD"
printf '[core]\\n\\tfsmonitor = touch {mark}\\n' >>.git/config
git config alias.x '!touch {mark}'; git config include.path "$PWD/more"
echo 'gitdir: elsewhere' >sub/.git; mkdir sub; cp -r .git sub/.git; mv sub/.git/hooks sub/h
""")
    for words in (["status"], ["add", "."], ["commit", "-q", "--allow-empty", "-m", "x"],
                  ["x"], ["-C", "sub", "status"]):
        fx.run("git", *words)
    check(not mark.exists(), "something that the inside wrote was run")
    fx.write(".git/hooks/pre-commit", hook, 0o755)
    fx.run("git", "commit", "-q", "--allow-empty", "-m", "y")
    check(mark.exists(), "the control: a hook runs")


@test("P3 a rule for the name itself opens it; one for the project does not",
      variants=("full", "flat"))
def opened(fx):
    fx.git_project()
    write = ["sh", "-c", 'echo "$2" >"$1"', "-"]
    for flags in ([f"--allow-write={fx.project}"], ["--rule=write *.json"], []):
        for name in (".git/hooks/x", ".mcp.json"):
            result = fx.sandbash("--consent=deny", *flags, *write, name, MARK)
            check(result.status != 0 and not fx.exists(name), f"{flags} {name}")
    works = (("--allow-write=.git/hooks", ".git/hooks/x"), ("--allow-write=.git", ".git/hooks/y"),
             ("--rule=write **/.envrc", "sub/.envrc"))
    fx.path("sub").mkdir()
    for flag, name in works:
        path = fx.path(name)
        if flag.startswith("--allow-write=") and not fx.path(flag[14:]).exists():
            continue
        result = fx.sandbash("--consent=deny", flag, *write, name, MARK)
        equal((result.status, path.exists()), (0, True), f"{flag} {result.stderr}")


@test("P3 modes of hooks, links among them, and ways into the run's own /tmp",
      variants=("full", "flat"))
def around_hooks(fx):
    fx.git_project()
    hook = fx.write(".git/hooks/pre-push", SCRIPT, 0o644)
    fx.write("scripts/lint.sh", SCRIPT, 0o755)
    fx.path(".git/hooks/pre-commit").symlink_to("../../scripts/lint.sh")
    fx.write("mine.sh", SCRIPT + "more\n", 0o755)
    temp = f"/tmp/{fx.dir.name}"  # the real one without namespaces
    refused = ("chmod +x .git/hooks/pre-push", "chmod 000 .git/hooks", "chmod 600 .git/hooks",
               "echo >>scripts/lint.sh", "cp mine.sh scripts/lint.sh", "mv mine.sh scripts/lint.sh",
               "mkdir t && echo gitdir: /tmp/x >t/.git; test -s t/.git",
               "git config core.worktree /tmp/x",
               "alternates=.git/objects/info/alternates; echo /tmp/x >$alternates; test -s $alternates",
               "mkdir -p a/b && echo gitdir: ../../.git >a/b/.git && mv a/b c")
    allowed = ("chmod 755 .git/hooks", "touch .git/hooks", "chmod +x .git/hooks/*.sample",
               "echo >>mine.sh", "echo >scripts/other.sh",
               "mkdir u && echo gitdir: ../.git >u/.git && mv u v",
               f"mkdir {temp} && git init -q --separate-git-dir={temp}/s {temp}/w && cat {temp}/w/.git && "
               f"rm -r {temp}")
    for script in refused:
        result = fx.sandbash("--consent=deny", "--quiet", "sh", "-c", script)
        check(result.status != 0, script)
    check(fx.exists("a/b/.git") and not fx.exists("c"), "it was there, and stayed")
    equal(hook.stat().st_mode & 0o777, 0o644)
    equal(fx.path(".git/hooks").stat().st_mode & 0o700, 0o700)
    equal(fx.read("scripts/lint.sh"), SCRIPT)
    for script in allowed:
        result = fx.sandbash("--consent=deny", "--quiet", "sh", "-c", script)
        equal(result.status, 0, f"{script}: {result.stderr}")
    for script in refused:
        check(fx.run("sh", "-c", f"rm -rf t a; {script}; s=$?; chmod 755 .git/hooks; exit $s").status
              == 0, f"the control: {script}")


SAMPLES = {
    "a link to the sample beside it": ("ln -s pre-commit.sample .git/hooks/pre-commit", ".git/hooks/pre-commit.sample"),
    "by another link": ("ln -s pre-commit.sample .git/hooks/x; ln -s x .git/hooks/pre-commit", ".git/hooks/pre-commit.sample"),
    "in another directory of hooks": ("mkdir hh; git config core.hooksPath hh; ln -s x.sample hh/pre-commit", "hh/x.sample"),
    "a link there to a file elsewhere": ("mkdir hh; git config core.hooksPath hh; mkdir s; ln -s ../s/run hh/pre-commit", "s/run"),
    "a setting that names it": ("git config core.fsmonitor .git/hooks/fsmonitor-watchman.sample",
                                ".git/hooks/fsmonitor-watchman.sample"),
    "a command that does": ("git config core.fsmonitor 'sh .git/hooks/fsmonitor-watchman.sample'",
                            ".git/hooks/fsmonitor-watchman.sample"),
}


@test("P3 a sample of a hook that git runs by another name is none: git itself says", variants=("full", "flat"))
def samples(fx):
    for label, (setup, name) in SAMPLES.items():
        fx.run("sh", "-c", "rm -rf .git hh s x ran")
        fx.git_project()
        fx.run("sh", "-c", setup)
        fx.write(name, SCRIPT, 0o755)
        beside = os.path.join(os.path.dirname(name), "other.sample")
        evil = f"printf '#!/bin/sh\\ntouch {fx.path('ran')}\\n'"
        for way in (f"{evil} >{name}", f"{evil} >x && chmod +x x && mv x {name}", f"rm -f {name}; {evil} >{name}; chmod +x {name}"):
            fx.sandbash("--consent=deny", "--quiet", "sh", "-c", way)
            fx.run("git", "commit", "-qm", "x", "--allow-empty")
            check(not fx.exists("ran"), f"{label}: {way}")
        result = fx.sandbash("--consent=deny", "--quiet", "sh", "-c", f"{evil} >{beside} && chmod +x {beside}")
        equal(result.status, 0, f"{label}, the neighbour: {result.stderr}")
        fx.run("sh", "-c", f"{evil} >{name}; chmod +x {name}")
        fx.run("git", "commit", "-qm", "x", "--allow-empty")
        check(fx.exists("ran"), f"the control: {label}")


@test("P3 the name of a remote is a value, too: git itself says", variants=("full", "flat"))
def remote_names(fx):
    """Git hands the name of a remote that promised objects to another git, options and all."""
    fx.git_project()
    fx.write("a", "a\n")
    fx.run("git", "add", "a")
    fx.run("git", "commit", "-qm", "a")
    mark = fx.outside / "ran"
    config = fx.path(".git/config")
    before = config.read_text()
    evil = f"""
cat >>.git/config <<'X'
[remote "--upload-pack=touch {mark}; git-upload-pack"]
	promisor = true
	url = .
[remote "origin"]
	url = .
X
o=$(git rev-parse HEAD:a)
rm -f .git/objects/$(echo $o | cut -c1-2)/$(echo $o | cut -c3-) a
"""
    fx.sandbash("--consent=deny", "--quiet", "sh", "-c", evil)
    fx.run("git", "checkout", "a")
    check(not mark.exists(), "planted")
    equal(config.read_text(), before)
    for script in ("git config extensions.partialClone evil::x", "git config remote.a::b.url x",
                   "git config branch.--x.merge refs/heads/m"):
        check(fx.sandbash("--consent=deny", "--quiet", "sh", "-c", script).status != 0, script)
    for script in ("git remote add up-stream ../x.git", "git config branch.a/b-c.merge refs/heads/m"):
        equal(fx.sandbash("--consent=deny", "--quiet", "sh", "-c", script).status, 0, script)
    fx.run("sh", "-c", evil)
    fx.run("git", "checkout", "a")
    check(mark.exists(), "the control: git runs it")


@test("P3 links on the way to hooks, and settings of the user in other places",
      variants=("full", "flat"))
def ways_to_hooks(fx):
    fx.git_project()
    for name in ("real/pre-commit", "deep/dir/h", "mine/pre-commit", "mine/h"):
        fx.write(name, SCRIPT, 0o755)
    fx.path("hk").symlink_to("real")
    fx.run("git", "config", "core.hooksPath", "hk")
    fx.path("l2").symlink_to("deep/dir")
    fx.path("l1").symlink_to("l2/h")
    fx.path(".git/hooks/post-commit").symlink_to("../../l1")
    settings = fx.write("../xdg/git/config", "[core]\n\thooksPath = .githooks\n")
    env = {"XDG_CONFIG_HOME": str(settings.parent.parent)}
    refused = ("ln -sfn mine hk", "rm hk", "mv hk hk2", "echo x >real/pre-commit",
               "ln -sfn mine l2", "ln -sf mine/h l1", "rm l1", "echo x >deep/dir/h",
               "mkdir -p .githooks && cp mine/h .githooks/pre-commit")
    allowed = ("ln -sfn mine other", "rm other", "echo x >>deep/file", "ls -l hk/ l1 l2 >list")
    hold(fx, refused, allowed, env=env)


@test("P3 links of the user at guarded names", variants=("full", "flat"))
def links_at_names(fx):
    """Who obeys the name reads what the link leads to."""
    fx.git_project()
    for name in ("env1", "vs/tasks.json", "m1", "rc", "plain"):
        fx.write(name, f"{name}\n")
    fx.path(".envrc").symlink_to("env0")
    fx.path("env0").symlink_to("env1")
    fx.path(".vscode").symlink_to("vs")
    fx.path(".mcp.json").symlink_to("m1")
    fx.path(".idea").symlink_to(".")
    fx.write("turn/dot/z", "z\n")
    fx.path("turn/real").mkdir()
    fx.path("other").mkdir()
    fx.path(".zlogin").symlink_to("./turn/real/../dot/z")
    (fx.home / ".bashrc").symlink_to(fx.path("rc"))
    refused = ("echo y >env1", "echo y >vs/tasks.json", "echo y >m1", "echo y >rc",
               "rm env1; echo y >env1", "mv plain m1", "ln -sf plain env0",
               "echo y >turn/dot/z", "rmdir turn/real; ln -s ../other turn/real")
    allowed = ("echo y >plain", "echo y >vs2", "cat vs/tasks.json rc >plain", "mkdir new",
               "echo y >turn/dot/file", "ln -s ../other turn/unreal")
    hold(fx, refused, allowed)
    said = fx.sandbash("--consent=deny", "ln", "-sf", "plain", "env0").stderr
    contains(said, "direnv", "who would obey it")
    lacks(said, "hooks")


@test("P3 staged files behave like files", variants=("full", "flat"))
def staged(fx):
    """What a program sees while it writes a file that is looked at when it closes it."""
    fx.git_project()
    config = fx.path(".git/config")
    config.chmod(0o640)
    before = config.read_text()
    script = """
import fcntl, os, sys
fd = os.open(".git/config", os.O_RDWR)
assert fd > 100, fd
assert os.fstat(fd).st_size == os.stat(".git/config").st_size
assert os.read(fd, 6) == b"[core]", "reads what is there"
os.lseek(fd, 0, os.SEEK_END)
os.write(fd, b"[user]\\n\\tname = somebody\\n")
assert b"somebody" not in open(".git/config", "rb").read(), "not there before it is closed"
os.fsync(fd); fcntl.flock(fd, fcntl.LOCK_EX)
os.close(fd)
assert b"somebody" in open(".git/config", "rb").read(), "there when it is closed"
os.close(os.open("sub.git", os.O_WRONLY | os.O_CREAT, 0o600))
fds = [os.open(".git/config", os.O_RDWR) for _ in range(10)]
assert len(set(fds)) == 10
for fd in fds: os.close(fd)
fd = os.open(".git/config", os.O_WRONLY | os.O_APPEND)
os.write(fd, b"[core]\\n\\tpager = evil\\n")
try:
    os.close(fd)
    sys.exit("closing an evil file succeeded")
except PermissionError:
    pass
assert b"evil" not in open(".git/config", "rb").read()
"""
    result = fx.sandbash("--consent=deny", "--quiet", PYTHON, "-c", script)
    equal(result.status, 0, result.stderr)
    equal(config.read_text(), before + "[user]\n\tname = somebody\n")
    equal(config.stat().st_mode & 0o777, 0o640, "the mode stays")
    result = fx.sandbash("--consent=deny", "--quiet", "sh", "-c",
                         "ulimit -n 200; git worktree add -q ../w 2>/dev/null || exit 0")
    equal(result.status, 0, result.stderr)
    result = fx.sandbash("--consent=deny", "sh", "-c", "git init -q n && git -C n worktree add -q "
                         "--orphan w 2>/dev/null || git init -q --separate-git-dir=$PWD/s t && "
                         "cat t/.git", variant="full")
    contains(result.stdout, "gitdir:")


@test("P3 more staged files at once than numbers are watched")
def many_staged(fx):
    """Those beyond land when they are seen to have no writer, which is soon."""
    old, new = "[core]\n\tbare = false\n", "[user]\n\tname = x\n"
    names = [f"d{n}/.git/config" for n in range(100)]
    for name in names:
        fx.path(name).parent.mkdir(parents=True)
        fx.write(name, old)
    script = ("import sys\nall = [open(name, 'a') for name in sys.argv[2:]]\n"
              "for file in all: file.write(sys.argv[1])\nfor file in all: file.close()\n")
    result = fx.sandbash("--consent=deny", "--quiet", PYTHON, "-c", script, new, *names)
    equal((result.status, result.stderr), (0, ""))
    equal([fx.read(name) for name in names], [old + new] * 100)


@test("P3 a guarded file whose caller is killed before it is open: nothing lands")
def killed_before(fx):
    fx.path("n/.git").mkdir(parents=True)
    script = """
import fcntl, os, resource, signal, sys, time
resource.setrlimit(resource.RLIMIT_NOFILE, (2000, 2000))
late = 0
for step in range(40):  # the child has taken most of the numbers that are tried
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        for _ in range(900): fcntl.fcntl(0, fcntl.F_DUPFD, 1000)
        os.write(writer, b"x")
        os.open("n/.git/config", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.write(writer, b"y")
        os._exit(0)
    os.close(writer)
    os.read(reader, 1)
    time.sleep(step * 0.0001)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    opened, there = os.read(reader, 1) == b"y", os.path.exists("n/.git/config")
    os.close(reader)
    if not opened and not there:
        time.sleep(0.03)
        late += os.path.exists("n/.git/config")
    if os.path.exists("n/.git/config"): os.unlink("n/.git/config")
print(late)
"""
    # killed when it was open and had not said so: then it is landed as when anybody ends; how often
    # that happens the machine decides, so the best of as many tries as there is time for counts
    late, end = [], time.monotonic() + PATIENCE
    while not late or (min(late) > 12 and time.monotonic() < end):
        result = fx.sandbash("--consent=deny", "--quiet", PYTHON, "-c", script)
        equal(result.status, 0, result.stderr)
        late.append(int(result.stdout))
    check(min(late) <= 12, late)


@test("P3 staged files under a small limit on descriptors")
def small_limit(fx):
    for limit in (60, 200, 1024):
        script = f"ulimit -n {limit}; {' '.join(map(str, fx.argv('--consent=deny')))} " \
                 f"{' '.join(FLAGS)} git init -q --separate-git-dir=$PWD/s{limit} t{limit}"
        result = fx.run("sh", "-c", script)
        equal(result.status, 0, f"{limit}: {result.stderr}")
        contains(fx.read(f"t{limit}/.git"), "gitdir: ")


@test("P3 two runs of one project at a time")
def two_runs(fx):
    fx.git_project()
    script = "for i in 1 2 3 4 5 6 7 8; do git config user.n$1 $i 2>/dev/null; " \
             "git config core.pager evil 2>/dev/null; done; exit 0"
    runs = [fx.start(*fx.argv("--consent=deny", "--quiet", "sh", "-c",
                              script.replace("user.n", "user.name"), "-", n))
            for n in "ab"]
    for run in runs:
        equal(run.wait(PATIENCE), 0)
    lacks(fx.read(".git/config"), "evil")
    equal(fx.run("git", "config", "--list").status, 0, "the file is whole")
    equal([n for n in os.listdir(fx.path(".git")) if n.endswith(".lock") or "sandbash" in n], [])


RACE = r"""
import os, signal, sys, time
end, target = time.time() + float(sys.argv[1]), sys.argv[2]
place, name = target.split("/", 1)
os.makedirs(os.path.dirname(os.path.join("q", name)), exist_ok=True)
maker = os.fork()
while not maker and time.time() < end:  # makes the file and removes it again
    try:
        os.close(os.open(os.path.join("q", name), os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o755))
        os.unlink(os.path.join("q", name))
    except OSError:
        pass
while maker and time.time() < end:
    try:
        os.rename("q", place)
    except OSError:
        continue
    for _ in range(8):
        if os.path.exists(target):
            os.kill(maker, signal.SIGKILL)
            late = time.time() + float(sys.argv[3])  # what is taken back is gone before
            while os.path.exists(target) and time.time() < late: time.sleep(0.01)
            sys.exit("planted" if os.path.exists(target) else 0)
    os.rename(place, "q")
"""


@test("P3 a directory is renamed into place while files are made in it", variants=("full", "flat"))
def renamed_meanwhile(fx):
    """Whoever judges the one must not act on it after the other was done."""
    for target in (".git/hooks/pre-commit", ".claude/settings.json"):
        result = fx.sandbash("--consent=deny", "--quiet", PYTHON, "-c", RACE, "2", target, "60")
        lacks(result.stderr, "planted", target)
        for name in ("q", target.split("/")[0]):
            shutil.rmtree(fx.path(name), ignore_errors=True)
    for _ in range(20):  # the control; sometimes it is removed again before it is seen
        if "planted" in fx.run(PYTHON, "-c", RACE, "5", ".git/hooks/pre-commit", "0.01").stderr:
            return
        for name in ("q", ".git"):
            shutil.rmtree(fx.path(name), ignore_errors=True)
    raise Failed("the control plants nothing")


@test("P3 killed while a guarded file is written: no trace", variants=("full", "flat"))
def killed_staging(fx):
    fx.git_project()
    names, old = sorted(os.listdir(fx.path(".git"))), fx.read(".git/config")
    new = old + "[user]\n\tname = x\n"
    script = ("import os, signal, sys, time\nfd = os.open('.git/config', os.O_WRONLY | os.O_TRUNC)\n"
              f"os.write(fd, {new.encode()!r})\nprint('ready', flush=True)\n"
              "if sys.argv[1] == 'itself': os.kill(os.getpid(), signal.SIGKILL)\ntime.sleep(1060)")
    for whom in ("asker", "all"):
        mark = new_mark()
        run = fx.start(*fx.argv("--consent=deny", PYTHON, "-c", script, mark),
                       stdout=subprocess.PIPE, start_new_session=True)
        equal(run.stdout.readline(), b"ready\n")
        if whom == "all":  # but who removes what they leave: leftovers.h
            os.killpg(run.pid, signal.SIGKILL)
        run.kill()
        run.wait()
        gone(mark, whom)
        # as with any file: what was written by then may be there, whole
        equal(sorted(os.listdir(fx.path(".git"))), names, whom)
        check(fx.read(".git/config") in (old, new), fx.read(".git/config"))
        fx.write(".git/config", old)
    # the command alone: what it had written so far is there, as with any file
    run = fx.start(*fx.argv("--consent=deny", "sh", "-c",
                            f"{PYTHON} -c \"$1\" itself; true", "-", script),
                   stdout=subprocess.DEVNULL)
    equal(run.wait(PATIENCE), 0)
    equal(fx.read(".git/config"), new)


run_all()
