"""S13: a sandbox that cannot be set up, or does not hold, starts nothing."""

import os
import resource

from attack import act, works
from tap import BIN, check, contains, equal, run_all, test

# System calls that setting up may use, each answering each of these errors.
CALLS = ("unshare", "clone", "clone3", "mount", "umount2", "open_tree", "move_mount", "fsopen",
         "fsconfig", "fsmount", "mount_setattr", "landlock_create_ruleset", "landlock_add_rule",
         "landlock_restrict_self", "seccomp", "capset", "capget", "prctl", "close_range", "openat2",
         "setgroups", "chdir", "fchdir", "getcwd", "readlinkat", "statx", "getdents64", "fcntl")
ERRORS = ("EPERM", "ENOSYS", "EINVAL", "ENOMEM")


def prepare(fx):
    fx.git_project()
    fx.write(fx.home / ".netrc", "password")
    victim = fx.write(fx.outside / "victim", "content")
    victim.chmod(0o644)
    return victim


SCRIPT = ('echo ran >ran; echo x >"$1/new"; echo x >"$1/victim"; chmod 604 "$1/victim"; '
          'cat ~/.netrc; echo evil >>.git/config')


def broken_promises(fx, result):
    """What the run did that a full sandbox never allows."""
    found = []
    victim = fx.outside / "victim"
    if victim.read_text() != "content" or (fx.outside / "new").exists():
        found.append("wrote outside")
        victim.write_text("content")
        (fx.outside / "new").unlink(missing_ok=True)
    if victim.stat().st_mode & 0o777 != 0o644:
        found.append("changed a mode outside")
        victim.chmod(0o644)
    if "password" in result.stdout:
        found.append("read a secret")
    config = fx.path(".git/config")
    if "evil" in config.read_text():
        found.append("changed .git/config")
        config.write_text(config.read_text().replace("evil\n", ""))
    return found


def promised(fx, result, message):
    """Nothing ran, with an error of our own; or it ran and everything held."""
    broken = broken_promises(fx, result)
    equal(broken, [], message)
    if fx.exists("ran"):
        fx.path("ran").unlink()
    else:
        check(result.status != 0, f"{message}: nothing ran, yet status 0")
        check("sandbash: " in result.stderr or result.status < 0 or "error while loading" in
              result.stderr, f"{message}: no message: {result}")


def register(call):
    @test(f"ESCAPES failing open: {call} fails")
    def failing(fx):
        prepare(fx)
        for error in ERRORS:
            result = fx.run(fx.tool("act"), "answer", f"{call}={error}", "--", BIN, "bash", "-c",
                            SCRIPT, "-", fx.outside)
            promised(fx, result, f"{call}={error}")
        result = fx.run(fx.tool("act"), "answer", f"{call}=EPERM", "--", BIN, "--best-effort",
                        "bash",
                        "-c", SCRIPT, "-", fx.outside)
        check("wrote outside" not in broken_promises(fx, result), f"{call} with --best-effort")


for call in CALLS:
    register(call)


@test("ESCAPES failing open: the control")
def control(fx):
    prepare(fx)
    result = fx.run("bash", "-c", SCRIPT, "-", fx.outside)
    equal(broken_promises(fx, result), ["wrote outside", "changed a mode outside", "read a secret",
                                        "changed .git/config"])
    result = fx.sandbash("bash", "-c", SCRIPT, "-", fx.outside)
    check(fx.exists("ran"))
    promised(fx, result, "with nothing in its way")


LIES = {
    "mounts": "mount_setattr=0",
    "mounts, with no Landlock behind them": "mount_setattr=0,landlock_create_ruleset=ENOSYS",
    "Landlock, with no mounts behind it":
        "landlock_restrict_self=0,unshare=EPERM,clone=EPERM,mount=EPERM,open_tree=EPERM",
    "mounts and Landlock": "mount_setattr=0,landlock_restrict_self=0",
    "moving mounts": "move_mount=0",
    "Landlock rules": "landlock_add_rule=0",
    "closing descriptors": "close_range=0",
    "capabilities": "capset=0",
    "prctl": "prctl=0",
    "namespaces": "unshare=0",
}


def register_lie(name, answers):
    @test(f"S13 the probe before the command notices a lie about {name}")
    def lie(fx):
        prepare(fx)
        for flags in ([], ["--best-effort"]):
            result = fx.run(fx.tool("act"), "answer", answers, "--", BIN, *flags, "bash", "-c",
                            SCRIPT, "-", fx.outside)
            broken = broken_promises(fx, result)
            check("wrote outside" not in broken, f"{flags} {result}")
            if not flags:
                equal(broken, [])
            fx.path("ran").unlink(missing_ok=True)
        works(fx.sandbash("true"))


for name, answers in LIES.items():
    register_lie(name, answers)


@test("S13 the probe before the command notices a lie about the filter")
def filter_lie(fx):
    for flags in ([], ["--best-effort"]):
        result = fx.run(fx.tool("act"), "answer", "seccomp=0", "--", BIN, *flags, "touch", "ran")
        equal(result.status, 125)
        contains(result.stderr, "sandbash: ")
        check(not fx.exists("ran"))
    works(fx.sandbash("touch", "ran"))


@test("S13 the probe before the command notices a lie about Landlock's signal scope")
def scope_lie(fx):
    result = fx.run(fx.tool("act"), "answer", "landlock_restrict_self=0", "--", BIN, fx.tool("act"),
                    "kill", "kill", str(os.getpid()), "0")
    check(result.status != 0, "signalled a process outside")
    works(act(fx, "kill", "kill", str(os.getpid()), "0"), "control")


LIMITS = (
    (resource.RLIMIT_NOFILE, (3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 64)),
    (resource.RLIMIT_AS, (1 << 20, 4 << 20, 8 << 20, 16 << 20, 1 << 30)),
    (resource.RLIMIT_FSIZE, (0, 1, 4096)),
    (resource.RLIMIT_STACK, (16 << 10, 64 << 10, 256 << 10)),
    (resource.RLIMIT_CORE, (0,)),
    (resource.RLIMIT_DATA, (1 << 12, 1 << 20)),
)


@test("ESCAPES failing open: small resource limits")
def limits(fx):
    prepare(fx)
    for kind, values in LIMITS:
        for value in values:
            def limit(kind=kind, value=value):
                resource.setrlimit(kind, (value, value))

            result = fx.sandbash("sh", "-c", SCRIPT, "-", fx.outside, preexec_fn=limit)
            broken = broken_promises(fx, result)
            equal(broken, [], f"limit {kind} = {value}")
            fx.path("ran").unlink(missing_ok=True)
    works(fx.sandbash("true"))


@test("ESCAPES failing open: descriptors that fill the table")
def full_table(fx):
    """With a high limit and all low numbers taken, and with none left."""
    prepare(fx)
    kept = [os.open("/dev/null", os.O_RDONLY) for _ in range(40)]
    try:
        for spare in (0, 1, 2, 3, 5, 8):
            def limit(spare=spare):
                top = max(kept) + 1 + spare
                resource.setrlimit(resource.RLIMIT_NOFILE, (top, top))

            result = fx.sandbash("sh", "-c", SCRIPT, "-", fx.outside, preexec_fn=limit,
                                 pass_fds=kept)
            equal(broken_promises(fx, result), [], f"{spare} spare")
            fx.path("ran").unlink(missing_ok=True)
    finally:
        for fd in kept:
            os.close(fd)


@test("S13 a command that cannot start changes nothing and says why")
def no_command(fx):
    before = fx.snapshot()
    for words, status in ((["nonexistent-command"], 127), (["/nonexistent/command"], 127),
                          (["/etc"], 126), (["/etc/passwd"], 126), (["--", ""], 127)):
        result = fx.sandbash(*words)
        equal(result.status, status, str(words))
        contains(result.stderr, "sandbash: ")
    equal(fx.snapshot(), before)


@test("S13 the working directory is gone")
def gone(fx):
    script = f'mkdir d && cd d && rmdir ../d && {BIN} "$@"; echo $?'
    result = fx.run("sh", "-c", script, "-", "touch", fx.outside / "new")
    equal(result.stdout, "125\n")
    check(not (fx.outside / "new").exists())
    result = fx.run("sh", "-c", f'mkdir d && cd d && {BIN} touch x && test -e x; echo $?')
    equal(result.stdout, "0\n", "neighbour")


@test("S5 started outside the home directory, or in it: refused")
def place(fx):
    for cwd, env in ((fx.outside, {}), (fx.home, {}), ("/", {}), (fx.project, {"HOME": None}),
                     (fx.project, {"HOME": ""}), (fx.project, {"HOME": "relative"}),
                     (fx.project, {"HOME": fx.home / "projec"}),
                     (fx.project, {"HOME": "/nonexistent"})):
        result = fx.sandbash("touch", fx.dir / "new", cwd=cwd, env=env)
        equal(result.status, 125, f"{cwd} {env}")
        check(not (fx.dir / "new").exists())
    for cwd in (fx.dir, "/"):  # around the home directory is broader still
        result = fx.sandbash("--anywhere", "touch", fx.dir / "new", cwd=cwd)
        equal(result.status, 125, f"--anywhere in {cwd}")
        check(not (fx.dir / "new").exists())
    works(fx.sandbash("--anywhere", "touch", "new", cwd=fx.outside))
    works(fx.sandbash("true"))


@test("S13 a bad rule starts nothing", variants=("full", "flat"))
def bad_rule(fx):
    for line in ("nonsense: x", "deny", "network maybe", "mode full", "write+read x",
                 "include /nonexistent/file", "read+fly x", '"unfinished', "\x00", "deny [", "tmp"):
        fx.config(f"# fine\n{line}\n")
        result = fx.sandbash("touch", "ran")
        equal(result.status, 125, repr(line))
        contains(result.stderr, "line 2", repr(line))
        check(not fx.exists("ran"), repr(line))
    fx.config("# fine\n")
    works(fx.sandbash("touch", "ran"))


@test("S13 a configuration that cannot be read starts nothing", variants=("full", "flat"))
def unreadable(fx):
    config = fx.config("")
    for make in ("dir", "fifo", "loop", "mode", "device"):
        fx.run("rm", "-rf", config)
        if make == "dir":
            config.mkdir()
        elif make == "fifo":
            os.mkfifo(config)
        elif make == "loop":
            config.symlink_to(config)
        elif make == "device":
            config.symlink_to("/dev/zero")
        elif os.getuid() == 0:
            continue  # root reads it all the same
        else:
            config.write_text("deny ~/x\n")
            config.chmod(0)
        result = fx.sandbash("touch", "ran")
        equal(result.status, 125, make)
        check(not fx.exists("ran"), make)
    config.unlink()
    works(fx.sandbash("touch", "ran"))


run_all()
