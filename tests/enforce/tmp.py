"""Temporary files: private, always there, gone afterwards; and no way out by naming them."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from attack import CROSSING, act, boxed, refused, signature, unchanged, works
from tap import ALL_VARIANTS, PATIENCE, SUPERVISED, Failed, check, contains, equal, lacks, run_all, test, wait

ROOT = os.getuid() == 0
OWN_MOUNTS = ["unshare", "-m"] if ROOT else ["unshare", "-Urm"]
MODES = ([], ["--mode=read-only"], ["--no-tmp"], ["--shared-tmp"], ["--no-tmp", "--mode=read-only"])
TRY = 'd=${TMPDIR:-/tmp}; f=$(mktemp) && echo x >"$f" && test -s "$f" && rm "$f" && test -d "$d"'


class Outer:
    """A directory of our own in the real /tmp, or in another one."""

    def __init__(self, temp="/tmp"):
        self.temp = temp

    def __enter__(self):
        self.path = Path(tempfile.mkdtemp(prefix="sandbash-fx-", dir=self.temp))  # not what others take for left behind
        (self.path / "file").write_text("outer")
        return self.path

    def __exit__(self, *_):
        shutil.rmtree(self.path)


@test("P2 /tmp is the run's own: the real one is neither seen nor changed",
      variants=("full", "nested"))
def private(fx):
    is_own(fx, "/tmp")


# (without mounts a static run shares it as it is)
@test("P10 /var/tmp is the run's own, too, unless somebody lives in it",
      variants=("full", "flat") if SUPERVISED else ("full",))
def private_var(fx):
    with Outer("/var/tmp") as outer, Outer() as home:
        before = signature(outer)
        name = f"/var/tmp/sandbash-fx-own-{os.getpid()}"
        work = f"set -e; echo x >{name}; cat {name}; mkdir {name}.d; rm -r {name} {name}.d"
        elsewhere = {"cwd": home / "project", "env": {"HOME": str(home), "TMPDIR": None}}
        (home / "project").mkdir()
        for attack in (f"touch {outer}/new", f"echo x >{outer}/file", f"rm {outer}/file"):
            check(fx.sandbash("sh", "-c", attack, **elsewhere).status != 0, attack)
        seen = fx.sandbash("cat", outer / "file", **elsewhere)
        equal(seen.stdout, "" if fx.variant == "full" else "outer", "without mounts it can be read")
        equal(fx.sandbash("sh", "-c", work, **elsewhere).stdout, "x\n", "neighbour")
        refused(boxed(fx, "open", "wronly+creat", outer / "new"), ("ENOENT", "EACCES", "EROFS"))
        unchanged(before, outer)
        works(act(fx, "open", "wronly+creat", outer / "new"), "control")


def is_own(fx, temp):
    with Outer(temp) as outer:
        before = signature(outer)
        refused(boxed(fx, "read", outer / "file"), ("ENOENT", "EACCES"))
        refused(boxed(fx, "open", "wronly+creat", outer / "new"), ("ENOENT", "EACCES", "EROFS"))
        name = f"sandbash-own-{os.getpid()}"
        works(fx.sandbash("sh", "-c", f"echo x >{temp}/{name} && cat {temp}/{name} && mkdir {temp}/d"))
        check(not os.path.exists(f"{temp}/{name}"), "nothing of it reaches the host")
        unchanged(before, outer)
        works(act(fx, "open", "wronly+creat", outer / "new"), "control")


@test("ESCAPES kernel surface: /dev/shm is the run's own", variants=("full", "nested"))
def shared_memory(fx):
    path = Path(f"/dev/shm/sandbash-test-{os.getpid()}")
    path.write_text("outer")
    try:
        refused(boxed(fx, "read", path), ("ENOENT", "EACCES"))
        works(act(fx, "read", path), "control")
        works(fx.sandbash("sh", "-c", f"echo inner >{path} && cat {path}"), "neighbour")
        equal(path.read_text(), "outer")
        script = ("from multiprocessing import shared_memory as s; "
                  "x = s.SharedMemory(create=True, size=64); x.close(); x.unlink()")
        works(fx.sandbash("python3", "-c", script), "POSIX shared memory")
    finally:
        path.unlink()


IPC = ("shm", "msg", "sem")


@test("ESCAPES kernel surface: System V shared memory, queues and semaphores",
      variants=ALL_VARIANTS)
def system_v(fx):
    for kind in IPC:
        number = act(fx, "ipc", f"make-{kind}", "-").stdout.strip()
        try:
            refused(boxed(fx, "ipc", kind, number), ("EINVAL", "EIDRM", "ENOSYS"), kind)
            refused(boxed(fx, "ipc", f"remove-{kind}", number),
                    ("EINVAL", "EIDRM", "ENOSYS"), kind)
            works(act(fx, "ipc", kind, number), f"control {kind}")
        finally:
            act(fx, "ipc", f"remove-{kind}", number)
    if fx.variant == "flat" and not SUPERVISED:  # where it is shared, nobody has any
        for what in ("own-shm", "make-msg", "make-sem"):
            refused(boxed(fx, "ipc", what, "-"), ("ENOSYS",), what)
    else:
        works(boxed(fx, "ipc", "own-shm", "-"), "neighbour")


@test("ESCAPES kernel surface: POSIX message queues", variants=ALL_VARIANTS)
def queues(fx):
    name = f"/sandbash-test-{os.getpid()}"
    works(act(fx, "ipc", "make-mq", name))
    try:
        refused(boxed(fx, "ipc", "mq", name), ("ENOENT", "EACCES", "EPERM"))
        refused(boxed(fx, "ipc", "remove-mq", name), ("ENOENT", "EACCES", "EPERM"))
        works(act(fx, "ipc", "mq", name), "control")
        if fx.variant == "flat":
            refused(boxed(fx, "ipc", "make-mq", name + "-own"), ("EPERM",), "they would be everybody's")
        elif fx.variant == "full" and SUPERVISED:
            works(boxed(fx, "ipc", "make-mq", name + "-own"), "neighbour: one of its own")
            works(boxed(fx, "ipc", "make-mq", name), "neighbour: one of the same name")
            refused(act(fx, "ipc", "remove-mq", name + "-own"), ("ENOENT",), "which nobody outside has seen")
        script = "from multiprocessing import Lock; Lock()"
        works(fx.sandbash("python3", "-c", script), "neighbour: a POSIX semaphore")
    finally:
        act(fx, "ipc", "remove-mq", name)


@test("R4 without namespaces names of others in /tmp are held, or it says that it is shared")
def weaker(fx):
    result = fx.sandbash("touch", "started", without="userns")
    if SUPERVISED:
        equal((result.status, result.stderr), (0, ""))
        return
    equal(result.status, 125)
    check(not fx.exists("started"))
    contains(result.stderr, "/tmp")
    contains(result.stderr, "/dev/shm")
    lacks(result.stderr, "System V", "that is held by the filter")


@test("USERS TMPDIR is valid and writable in every mode", variants=ALL_VARIANTS)
def modes(fx):
    odd = ("relative", "", "/", "/proc", fx.project, "/tmp/../etc", "/dev", "/usr/bin")
    for flags in MODES:
        for value in (None, "/tmp", "/nonexistent", fx.home, "/etc", *(() if flags else odd)):
            result = fx.sandbash(*flags, "sh", "-c", TRY, env={"TMPDIR": value})
            works(result, f"{flags} TMPDIR={value}")


@test("USERS the real temporary directory stays usable when the user asks for it",
      variants=("full", "flat"))
def shared(fx):
    with Outer() as outer:
        for flags in (["--shared-tmp"], [f"--allow-write={outer}"]):
            works(boxed(fx, "read", outer / "file", flags=flags))
            works(boxed(fx, "open", "wronly+creat", outer / "new", flags=flags))
            check((outer / "new").exists())
            (outer / "new").unlink()


@test("P2 --no-tmp and read-only mode leave /tmp unwritable", variants=ALL_VARIANTS)
def no_tmp(fx):
    for flags in (["--no-tmp"], ["--mode=read-only"]):
        with Outer() as outer:
            before = signature(outer)
            refused(boxed(fx, "open", "wronly+creat", outer / "new", flags=flags),
                    CROSSING + ("ENOENT",))
            result = fx.sandbash(*flags, "sh", "-c", "touch /tmp/sandbash-no-tmp")
            check(result.status != 0, str(flags))
            check(not os.path.exists("/tmp/sandbash-no-tmp"))
            unchanged(before, outer)
    works(fx.sandbash("sh", "-c", TRY))


FILL = """
import os
top = os.environ["TMPDIR"]
os.makedirs(f"{top}/closed/below")
os.symlink(os.getcwd(), f"{top}/link")
os.chdir(top)
for _ in range(300): # longer than a path may be
    os.mkdir("d" * 20)
    os.chdir("d" * 20)
os.mkfifo("fifo")
os.chmod(f"{top}/closed", 0)
print(top, flush=True)
"""


def ended(fx, *how):
    """A run that fills its TMPDIR, and then is ended so: the directory, and whether it is gone."""
    script = FILL + ("" if not how else "import time; time.sleep(600)")
    run = fx.start(*fx.argv("python3", "-c", script), stdout=subprocess.PIPE, start_new_session=True)
    temp = Path(run.stdout.readline().decode().strip())
    check(temp.parent == Path("/tmp") and (not how or temp.is_dir()), temp)
    for act in how:
        act(run.pid)
    run.wait(timeout=PATIENCE)
    last = time.monotonic() + PATIENCE
    while temp.exists() and time.monotonic() < last:
        time.sleep(0.01)
    return temp, not temp.exists()


if SUPERVISED:
    @test("P10 without namespaces a run has a TMPDIR for itself, gone afterwards however it ended", variants=("flat",))
    def own_tmpdir(fx):
        fx.write("kept", "kept")
        for how in ((), (lambda pid: os.kill(pid, signal.SIGTERM),),
                    (lambda pid: os.kill(pid, signal.SIGKILL),),
                    (lambda pid: os.killpg(pid, signal.SIGKILL),)):
            temp, gone = ended(fx, *how)
            check(gone, f"{how}: {temp} is left")
        check(fx.exists("kept"), "no link was followed")
        for mode in ("0", "0300", "0500"):
            closed = fx.sandbash("sh", "-c", f'mkdir "$TMPDIR/d"; echo x >"$TMPDIR/d/f"; chmod {mode} "$TMPDIR"; echo "$TMPDIR"')
            temp = closed.stdout.strip()
            check(temp.startswith("/tmp/sandbash-") and not os.path.lexists(temp), f"mode {mode}: {temp} is left")
        moved = fx.sandbash("sh", "-c", 'mv "$TMPDIR" "$TMPDIR.x" && mkdir "$TMPDIR" && echo "$TMPDIR"')
        temp = moved.stdout.strip()
        check(os.path.isdir(temp) and os.path.isdir(temp + ".x"), "what is somewhere else is the command's business")
        os.rmdir(temp)
        os.rmdir(temp + ".x")


# Directories that TMPDIR may name by mistake or by somebody's .env file.
HIJACKS = ("{home}", "{home}/..", "{home}/.config", "{home}/.config/sandbash", "{home}/.ssh",
           "{project}", "{project}/..", "/", "/etc", "/tmp/../etc", "/var", "/usr", "/usr/bin",
           "/dev", "/proc", "/sys", "/run", "/bin", "/boot", "/proc/self/cwd/..", "{link}")


@test("ESCAPES paths: TMPDIR neither opens nor hides what it names", variants=ALL_VARIANTS)
def hijack(fx):
    fx.config("# mine\n")
    (fx.home / ".ssh").mkdir()
    (fx.home / "data").mkdir()
    fx.write(fx.home / "data" / "file", "content")
    link = fx.dir / "link"
    link.symlink_to(fx.home)
    targets = (fx.home, fx.home / ".config", fx.home / ".config" / "sandbash", fx.home / ".ssh",
               fx.dir, fx.home / "data")
    fx.settle()
    before = signature(fx.dir)
    probe = (" ".join(f'touch "{t}/new" 2>/dev/null;' for t in targets)
             + ' for d in /etc /usr/bin /dev /run /sys /boot /var; do '
               'touch $d/sandbash-hijack 2>/dev/null && test -e /etc/passwd; done; '
               'test -r /etc/passwd && test -x /usr/bin/env && test -c /dev/null && '
               'test -e /proc/self/status && test -d /sys && test -e "$0/data/file" && '
               'echo x >/dev/null')
    try:
        for template in HIJACKS:
            value = template.format(home=fx.home, project=fx.project, link=link)
            # The outer run of "nested" is told less, so that the inner one has to hold it.
            result = fx.sandbash("bash", "-c", probe, fx.home, env={"TMPDIR": value}, outer=[])
            works(result, f"TMPDIR={value}: what is there stays in sight")
            unchanged(before, fx.dir, f"TMPDIR={value}")
            for top in ("/etc", "/usr/bin", "/dev", "/run", "/sys", "/boot", "/var"):
                check(not os.path.exists(f"{top}/sandbash-hijack"), f"TMPDIR={value} opened {top}")
    finally:
        for top in ("/etc", "/usr/bin", "/dev", "/run", "/boot", "/var"):
            if os.path.exists(f"{top}/sandbash-hijack"):
                os.unlink(f"{top}/sandbash-hijack")


@test("USERS a TMPDIR of the user's own works and is private", variants=("full",))
def own_tmpdir(fx):
    own = fx.dir / "mytmp"
    own.mkdir(mode=0o700)
    fx.write(own / "file", "outer")
    before = signature(own)
    result = fx.sandbash("sh", "-c", f'{TRY}; echo "$TMPDIR"; echo x >"$TMPDIR/new"',
                         env={"TMPDIR": own})
    works(result)
    unchanged(before, own, "the real one")


@test("P2 a home directory in /tmp: visible, and closed but for the project",
      variants=ALL_VARIANTS, home_in_tmp=True)
def home_in_tmp(fx):
    fx.write(fx.home / "file", "content")
    fx.write(fx.home / ".netrc", "password")
    fx.config("")
    with Outer() as stranger:
        equal(fx.sandbash("cat", fx.home / "file").stdout, "content")
        before = signature(fx.outside)
        for words in (["open", "wronly+creat", fx.home / "new"],
                      ["open", "wronly", fx.home / "file"],
                      ["unlink", fx.home / "file"], ["mkdir", fx.dir / "new"],
                      ["open", "wronly+creat", fx.home / ".config" / "sandbash" / "config"],
                      ["rename", "plain", fx.project, fx.home / "moved"]):
            if fx.variant == "flat" and not str(words[-1]).startswith(str(fx.home / ".config")):
                continue  # there the real /tmp is granted as a whole, and said to be
            refused(boxed(fx, *words), CROSSING + ("ENOENT",), str(words))
        if fx.variant != "flat":
            unchanged(before, fx.outside)
            refused(boxed(fx, "read", stranger / "file"), ("ENOENT", "EACCES"))
        refused(boxed(fx, "read", fx.home / ".netrc"), CROSSING + ("ENOENT",))
        works(boxed(fx, "open", "wronly+creat", "new"), "the project is writable")
        check(fx.exists("new"), "and it is the real one")
        works(fx.sandbash("sh", "-c", TRY))
        works(act(fx, "open", "wronly", fx.home / "file"), "control")


@test("P2 a granted directory in /tmp is the real one", variants=("full", "flat"))
def granted_in_tmp(fx):
    with Outer() as outer, Outer() as other:
        flags = [f"--allow-write={outer}"]
        works(boxed(fx, "open", "wronly+creat", outer / "new", flags=flags))
        check((outer / "new").exists())
        if fx.variant == "full":
            refused(boxed(fx, "read", other / "file", flags=flags), ("ENOENT", "EACCES"))
        works(fx.sandbash(*flags, "sh", "-c", TRY))


@test("USERS two runs at once do not see each other's temporary files")
def two_runs(fx):
    """Nor do they disturb each other in the project."""
    first = fx.start(*fx.argv("sh", "-c", "echo one >/tmp/x; echo one >/dev/shm/x; touch up; "
                              "until test -e go; do sleep 0.02; done; cat /tmp/x"), stdout=-1)
    try:
        wait(lambda: fx.exists("up"), "it does not begin")
        result = fx.sandbash("sh", "-c", "cat /tmp/x /dev/shm/x; echo two >/tmp/x; touch go")
        equal(result.stdout, "")
        equal(first.communicate(timeout=PATIENCE)[0], b"one\n")
    finally:
        if first.poll() is None:
            first.kill()
            first.wait()
            first.stdout.close()


@test("USERS many runs at once", variants=("full", "flat"))
def many_runs(fx):
    fx.git_project()
    runs = [fx.start(*fx.argv("sh", "-c",
                              f"echo {n} >f{n}; f=$(mktemp); rm $f; git status >/dev/null; "
                              f"touch {fx.outside}/f{n}"), stderr=-3) for n in range(12)]
    for run in runs:
        run.wait(PATIENCE)
    equal(sorted(n for n in os.listdir(fx.project) if n.startswith("f")),
          sorted(f"f{n}" for n in range(12)))
    equal(os.listdir(fx.outside), [])


def machine_state():
    """What a run could leave behind outside its directories."""
    return {
        "mounts": Path("/proc/self/mountinfo").read_text(),
        "/tmp": {n for n in os.listdir("/tmp") if "sandbash" in n and "-fx-" not in n},
        "/dev/shm": {n for n in os.listdir("/dev/shm") if "sandbash" in n
                     and not n.startswith("sandbash-test-")},
        "/var/tmp": {n for n in os.listdir("/var/tmp") if "sandbash" in n
                     and not n.startswith(("sandbash-fx-", "sandbash-test-"))},
    }


@test("USERS nothing is left behind after a normal end", variants=ALL_VARIANTS)
def nothing_left(fx):
    fx.git_project()
    fx.config("~/granted\n")
    (fx.home / "granted").mkdir()
    (fx.home / ".local" / "state" / "sandbash").mkdir(parents=True)
    before, state = fx.snapshot(), machine_state()
    for flags in ([], ["--network=off"], ["--mode=read-only"], ["--no-tmp"], ["--shared-tmp"],
                  [f"--allow-write={fx.outside}"], ["--deny=README"]):
        works(fx.sandbash(*flags, "true"), str(flags))
        equal(fx.snapshot(), before, str(flags))
    for words in (["sh", "-c", "exit 7"], ["nonexistent-command"], ["sh", "-c", "kill -9 $$"]):
        fx.sandbash(*words)
        equal(fx.snapshot(), before, str(words))
    after = machine_state()
    equal(after["mounts"], state["mounts"])
    for place in ("/dev/shm", "/var/tmp"):
        for name in after[place] - state[place]:  # another run's goes when that ends
            wait(lambda there=Path(place, name): not os.path.lexists(there), f"{place}/{name} is left behind")


@test("USERS nothing is left behind after SIGKILL, whenever it comes", variants=ALL_VARIANTS)
def killed(fx):
    fx.git_project()
    fx.config("")
    (fx.home / ".local" / "state" / "sandbash").mkdir(parents=True)
    before, mounts = fx.snapshot(), machine_state()["mounts"]
    for delay in [n * 0.0004 for n in range(16)] + [0.05]:
        process = fx.start(*fx.argv("sleep", "1020"), stderr=-3, start_new_session=True)
        time.sleep(delay)
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            raise Failed("ended by itself") from None
        process.wait(PATIENCE)
        # what says that it ran: the next run removes it (tests/unit/test_socket.c)
        left = {path: what for path, what in fx.snapshot().items() if "/state/sandbash/run/" not in path}
        equal(left, before, f"killed after {delay} s")
    equal(machine_state()["mounts"], mounts)
    works(fx.sandbash("true"), "the next run works")


@test("USERS compilers, editors and interpreters work", variants=ALL_VARIANTS)
def programs(fx):
    fx.write("a.c", "int main(void) { return 0; }\n")
    fx.write("Makefile", "all: a b\na: a.c\n\tcc -pipe -o a a.c\nb: a.c\n\tcc -o b a.c\n")
    for words in (["gcc", "-o", "prog", "a.c"], ["make", "-j2", "-s"], ["./prog"],
                  ["vim", "-es", "-u", "NONE", "-c", "normal ohello", "-c", "wq", "text"],
                  ["node", "-e", "require('fs').writeFileSync('n', 'x')"],
                  ["python3", "-c",
                   "import tempfile as t, sqlite3 as s; t.TemporaryFile().write(b'x'); "
                   "c = s.connect('db'); c.execute('create table t(x)'); c.commit()"],
                  ["bash", "-c", "cat <<END >doc\nhello\nEND\nsort <<<x >/dev/null; test -s doc"],
                  ["sh", "-c", "perl -e 'print 1' >p && sed -i s/1/2/ p && grep -q 2 p"],
                  ["tar", "cf", "x.tar", "a.c"], ["sh", "-c", 'rm "$(mktemp)"']):
        if not shutil.which(words[0]) and not words[0].startswith("."):
            continue
        works(fx.sandbash(*words), words[0])


run_all()
