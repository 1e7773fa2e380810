#!/usr/bin/env python3
"""run.py - finds the test programs, runs them side by side, counts their TAP.

    tests/run.py [--suite NAME]... [--only SUBSTRING]... [--as root|user] [--build DIR]
                 [--flags FLAGS]... [--times] [--desktop]

Suites:
    unit      BUILD/tests/unit-*      as root from BUILD-asan, as an ordinary user from BUILD;
                                      one that is alone, from both
    files     tests/files/*.py        as root and as an ordinary user
    enforce   tests/enforce/*.py      as root and as an ordinary user
    supervise tests/supervise/*.py    as root and as an ordinary user; ONCE (lib/programs.py) of them not as root,
                                      of AS_ROOT only some tests as root
    cli       tests/cli/*.py          the same
    mcp       tests/mcp/*.py          the same; and SANITIZED of them
                                      from BUILD-asan
    facts     BUILD/tests/fact-*      as root and as an ordinary user
    replay    BUILD/tests/replay-*    with the directory tests/fuzz/corpus/NAME as argument
    cross     scripts/cross           compiles for the other architecture; one test
              scripts/cross-darwin    the same for macOS, where npm brings a compiler for it
              scripts/windows         the same for Windows, of what is about text
    machines  tests/machines/plain.py as root and as an ordinary user; only when asked for:
                                      scripts/test-machines runs it on other kernels

Started by root, the ordinary user is "sandbash-test", created when missing; started by
anybody else, everything runs as that person.  Each program gets a fresh $HOME and
$SANDBASH_TEST_BASE, and is ended (its process group) when it takes too long.

enforce and supervise are about one kind of run: RUNS (lib/programs.py) says with which flags of sandbash each is
repeated.  --flags= (nothing: the default run), --flags=--static or $SANDBASH_TEST_FLAGS choose
others; --flags may be given twice.

Two lanes: two programs more than there are processors, and beside them those that mostly wait (WAITING).
The programs of LONGEST come first, so that none of them is alone at the end.  --times prints what
these tables are made of: each program's seconds, and those in which it used a processor.  --desktop:
in a private namespace where sockets of a session lie in /tmp and /run/user (lib/desktop.py).

What the caller of this program ignores, blocks or limits is no matter of the tests: signals, umask and
soft limits begin as on a new terminal.

Nothing is built here: make tests does that (BUILD-asan: make test).  A program that is not there, crashes, is too slow, or
prints no plan or less than it planned counts as one failure more, and so does what is left in /, /tmp or the project (lib/places.py).  With SANDBASH_TEST_MUST_RUN=1 a skipped test is a failed one.  The last
line is "N passed, N failed" or "N passed, N failed, N skipped".
"""

import argparse
import os
import platform
import pwd
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(TOP / "tests" / "lib"))

from built import not_there  # noqa: E402 (needs the path)
from own_mounts import disk_in_memory, in_memory, unmount  # noqa: E402
from places import Places  # noqa: E402
from programs import (AS_ROOT, LONGEST, ON_DISK, ONCE, PERSONS, QUICK, RUNS, SANITIZED, SLOW_UNITS,  # noqa: E402
                      SUPERVISED_ONLY, WAITING)

SUITES = ("unit", "files", "enforce", "supervise", "cli", "mcp", "facts", "replay", "cross")
ELSEWHERE = ("machines",)  # only when asked for
BOTH = ("unit", "files", "enforce", "supervise", "cli", "mcp", "facts", "machines")  # run as root and as an ordinary user
USER = "sandbash-test"
MUST_RUN = os.environ.get("SANDBASH_TEST_MUST_RUN") == "1"
TIMEOUT = int(os.environ.get("SANDBASH_TEST_TIMEOUT", "480"))  # seconds for one program that hangs
JOBS = (os.cpu_count() or 1) + 2  # a third of what they do is waiting, too
WAITERS = JOBS + 4  # of WAITING at the same time: they use a processor for a thirtieth of their time
SKIPPED = 77  # exit status of a program without TAP that could not run; its reason is on stderr


@dataclass
class Account:
    """Who runs a program, and from which copy of the tree."""

    label: str  # "root" or "user"
    top: Path
    build: Path
    base: Path  # a directory this account owns, away from /tmp
    disk: Path  # another one, certainly on a disk
    python: str
    entry: pwd.struct_passwd
    prefix: list = field(default_factory=list)  # the words that switch to it


@dataclass
class Job:
    suite: str
    name: str
    argv: list
    account: Account
    build: Path
    needs: list = field(default_factory=list)  # programs of the build tree without which it fails
    tap: bool = True
    flags: str = ""  # for every sandbash that it starts
    sandbash: Path = None  # that it starts; None: of the build tree
    times: bool = False  # of each of its tests, too
    optional: bool = False  # needs a download that not every machine can make


@dataclass
class Outcome:
    passed: int = 0
    skips: list = field(default_factory=list)
    failures: list = field(default_factory=list)
    output: str = ""
    final: bool = False  # another try would find nothing else
    seconds: float = 0.0
    busy: float = 0.0  # with a processor, it and every child that was waited for
    took: list = field(default_factory=list)  # (seconds, busy, name) of its tests


# --- who runs ---------------------------------------------------------------------------


def own_account(top, build, base, disk):
    entry = pwd.getpwuid(os.getuid())
    label = "root" if os.getuid() == 0 else "user"
    return Account(label, top, build, base, disk, python_of_tests([]), entry)


def python_of_tests(words):
    """The system's where there is one: ours may be in a home directory that is closed to others, and one that a person
    compiled starts in four times as long."""
    system = "/usr/bin/python3"
    new = "import sys; sys.exit(sys.version_info < (3, 9))"
    return system if os.access(system, os.X_OK) and succeeds([*words, system, "-c", new]) else sys.executable


def switch_words(entry):
    return ["setpriv", f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}",
            f"--groups={entry.pw_gid},{entry.pw_gid + 1}",  # people are in more groups than one
            "--inh-caps=-all", "--"]


def test_user():
    try:
        return pwd.getpwnam(USER)
    except KeyError:
        subprocess.run(["useradd", "--no-create-home", "--home-dir", "/nonexistent",
                        "--shell", "/bin/bash", USER], check=True)
        return pwd.getpwnam(USER)


def succeeds(argv):
    return subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False).returncode == 0


def is_readable(words, paths):
    """Can the account that words switch to reach and read all of these trees?  A link may lead nowhere."""
    found = subprocess.run([*words, "find", *map(str, paths), "!", "-type", "l", "!", "-readable", "-print", "-quit"],
                           capture_output=True, check=False)
    return found.returncode == 0 and not found.stdout


def tree_of_copies(scratch):
    """Beside scratch, not in it: that cannot be listed, and a run without mounts that hides
    something can only go around it in directories that can."""
    top = scratch.with_name(scratch.name + "-tree")
    top.mkdir(mode=0o755)
    return top


def copy_tree(build, to):
    """What tests look at, and nothing that a compiler left between."""
    for name in ("tests", "share", "man", "docs", "include", "src", "bench", "scripts", "examples"):
        if (TOP / name).is_dir():
            shutil.copytree(TOP / name, to / name, symlinks=True)
    for name in ("README.md", "NEWS", "Makefile", "meson.build"):
        if (TOP / name).is_file():
            shutil.copy(TOP / name, to)
    for tree in (build, asan_tree(build)):
        if tree.is_dir():
            shutil.copytree(tree, to / tree.name, symlinks=True, ignore=shutil.ignore_patterns(
                "*.p", "meson-logs", "meson-private", "*.a", ".ninja*", "compile_commands.json"))
    subprocess.run(["chmod", "-R", "a+rX", str(to)], check=True)
    return to / build.name


def is_temporary(path):
    """A run's private temp hides what lies there, programs under test included."""
    return any(path.is_relative_to(temp) for temp in ("/tmp", "/dev/shm", tempfile.gettempdir()))


def user_account(top, build, scratch, own_mounts):
    entry = test_user()
    words = switch_words(entry)
    base = scratch / "user"
    base.mkdir()
    os.chown(base, entry.pw_uid, entry.pw_gid)
    disk = scratch / "user-disk"
    disk.mkdir()
    os.chown(disk, entry.pw_uid, entry.pw_gid)
    if own_mounts:
        disk_in_memory(scratch / "own" / "ext4", base, entry)
    needed = [top / "tests", build]
    if asan_tree(build).is_dir():
        needed.append(asan_tree(build))
    if not is_readable(words, needed):
        top = tree_of_copies(scratch)
        build = copy_tree(build, top)
    return Account("user", top, build, base, disk, python_of_tests(words), entry, words)


# --- what runs --------------------------------------------------------------------------


def asan_tree(build):
    return build.with_name(build.name + "-asan")


def programs(account, tree, prefix):
    """What a build makes of the sources of a suite, whether it has or not."""
    directory, source = {"unit-": ("unit", "test_"), "fact-": ("facts", ""), "replay-": ("fuzz", "")}[prefix]
    found = (account.top / "tests" / directory).glob(source + "*.c")
    return [tree / "tests" / (prefix + path.stem[len(source):]) for path in sorted(found)]


def sanitized_server(account, needs):
    """A sandbash whose --mcp has the sanitizers in it, and what that starts has not: a command
    in the sandbox would print their warnings."""
    place = account.base / "sanitized"
    place.mkdir(exist_ok=True)
    for program, name in zip(needs, ("sandbash-mcp", "sandbash")):
        if program.exists():
            shutil.copy(program, place / name)
    return place / "sandbash"


def jobs_of(suite, account, privileged, is_alone, runs):
    """The jobs of one suite for one account; privileged: it is the one that started us; is_alone: no
    other one runs the suite."""
    build = account.build
    if suite == "unit":
        for tree, suffix in ((build, ""), (asan_tree(build), " asan")):
            if suffix and not (privileged and tree.is_dir()):
                continue  # the sanitizers see the same code whoever runs it
            if not suffix and privileged and not is_alone and asan_tree(build).is_dir():
                continue  # and what root does in the plain tree, root does in the other
            for program in programs(account, tree, "unit-"):
                yield Job(suite, program.name + suffix, [str(program)], account, tree, [program])
    elif suite in ("files", "enforce", "supervise", "cli", "mcp", "machines"):
        for flags in (runs or RUNS.get(suite, [""])) if suite in RUNS else [""]:
            for script in sorted((account.top / "tests" / suite).glob("*.py")):
                if "--static" in flags and f"{suite}/{script.name}" in SUPERVISED_ONLY:
                    continue
                is_second = privileged and not is_alone
                if is_second and f"{suite}/{script.name}" in ONCE:
                    continue
                words = AS_ROOT.get(f"{suite}/{script.name}", ()) if is_second else ()
                yield Job(suite, f"{suite}/{script.name}{' ' if flags else ''}{flags}",
                          [account.python, str(script), *words], account, build, [build / "sandbash"], flags=flags)
        if suite == "mcp" and privileged and asan_tree(build).is_dir():
            needs = [asan_tree(build) / "tests" / "mcp-unconfined", build / "sandbash"]
            sandbash = sanitized_server(account, needs)
            for name in SANITIZED:
                yield Job(suite, f"{name} asan", [account.python, str(account.top / "tests" / name)],
                          account, asan_tree(build), needs, sandbash=sandbash)
    elif suite == "facts":
        for program in programs(account, build, "fact-"):
            yield Job(suite, program.name, [str(program)], account, build, [program])
    elif suite == "replay" and privileged:
        for program in programs(account, build, "replay-"):
            corpus = account.top / "tests" / "fuzz" / "corpus" / program.name[len("replay-"):]
            yield Job(suite, program.name, [str(program), str(corpus)], account, build, [program])
    elif suite == "cross" and privileged:
        # a copy has no commands to compile with: the tree that was built here
        yield Job(suite, "cross compilation", [str(TOP / "scripts" / "cross"), str(TOP / build.name)],
                  account, build, tap=False)
        yield Job(suite, "cross compilation for macOS", [str(TOP / "scripts" / "cross-darwin"), str(TOP / build.name)],
                  account, build, tap=False, optional=True)
        yield Job(suite, "windows", [str(TOP / "scripts" / "windows"), str(TOP / build.name)],
                  account, build, tap=False)


def is_quick(job):
    return job.name in QUICK or (job.suite in ("unit", "replay") and job.build == job.account.build
                                 and job.name not in SLOW_UNITS)


def sanitizer_options(job):
    """What gcc's library looks for beside what it always does.  Elsewhere than on x86-64, frames
    that are used after their return cost it ten times the rest, and a search for leaks at the end
    of a process four seconds: there a server that is started a hundred times does without."""
    here = platform.machine() == "x86_64"
    leaks = here or job.suite == "unit"
    return f"detect_stack_use_after_return={int(here)}:detect_leaks={int(leaks)}"


def environment(job, home):
    account = job.account
    names = {
        "HOME": str(home),
        "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin",
        "LANG": "C.UTF-8",
        "USER": account.entry.pw_name,
        "LOGNAME": account.entry.pw_name,
        "SHELL": "/bin/bash",
        "TERM": "xterm",
        "SANDBASH_BIN": str(job.sandbash or job.build / "sandbash"),
        "SANDBASH_TEST_TOOLS": str(job.build / "tests"),
        "SANDBASH_TEST_BASE": str(home.parent),
        "SANDBASH_TEST_FLAGS": job.flags,
        "SANDBASH_TEST_REPORTS": f"{home.parent}/sanitizer",
        "SANDBASH_TEST_MUST_RUN": "1" if MUST_RUN else "0",
        "SANDBASH_TEST_TIMES": "1" if job.times else "0",
        "PYTHONPATH": str(account.top / "tests" / "lib"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",  # what was done before a program had to be ended
        "CMOCKA_MESSAGE_OUTPUT": "TAP",
        "ASAN_OPTIONS": sanitizer_options(job),
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    }
    for name in ("SANDBASH_TEST_SEED", "SANDBASH_TEST_SEQUENCES", "SANDBASH_TEST_SPREAD",
                 "SANDBASH_TEST_NATIVE", "SANDBASH_TEST_SOAK", "SANDBASH_TEST_COMMANDS", "SANDBASH_TEST_SCRIPTS"):
        if name in os.environ:
            names[name] = os.environ[name]
    return names


# --- TAP --------------------------------------------------------------------------------

RESULT = re.compile(r"(ok|not ok)\b\s*\d*\s*-?\s*([^#]*)(?:#\s*(skip|todo)\S*\s*(.*))?", re.I)
TOOK = re.compile(r"# took ([\d.]+) s ([\d.]+) s (.*)")  # of tap.py, when it is wanted
PLAN = re.compile(r"1\.\.(\d+)\s*(?:#\s*skip\S*\s*(.*))?$", re.I)


def read_tap(text, outcome):
    """Count the results; returns what is wrong with the whole, or None.

    cmocka prints a plan for each group, so plans add up.
    """
    planned = None
    results = 0
    for line in text.splitlines():
        took = TOOK.match(line)
        if took:
            outcome.took.append((float(took.group(1)), float(took.group(2)), took.group(3)))
        plan = PLAN.match(line)
        if plan:
            planned = (planned or 0) + int(plan.group(1))
            if plan.group(1) == "0":
                outcome.skips.append(plan.group(2) or "the whole program")
            continue
        if line.startswith("Bail out!"):
            outcome.failures.append(line)
            outcome.final = True
            return None
        result = RESULT.match(line)
        if not result:
            continue
        results += 1
        what, name, directive, reason = result.groups()
        if (directive or "").lower() == "skip":  # cmocka writes "not ok 3 # SKIP name"
            outcome.skips.append(f"{name.strip()}: {reason}" if name.strip() else reason)
        elif what.lower() == "ok" or (directive or "").lower() == "todo":
            outcome.passed += 1
        else:
            outcome.failures.append(name.strip() or "a test without a name")
    if planned is None:
        return "no plan was printed"
    if planned != results:
        return f"planned {planned} tests, saw {results}"
    return None


def signal_name(number):
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


running = set()  # groups of the programs that run now
running_lock = threading.Lock()


def ends_within(pid, seconds):
    """Wait for the end of a child but leave it unreaped, so its number stays its own."""
    descriptor = os.pidfd_open(pid)
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(seconds * 1000))
    finally:
        os.close(descriptor)


def end_group(pid):
    """End what a program left: its own group (start_new_session), nothing of anybody else."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def run_job(job):
    outcome = Outcome()
    account = job.account
    outcome.failures += [not_there(program) for program in job.needs if not program.exists()]
    if outcome.failures:
        outcome.final = True
        return outcome
    place = Path(tempfile.mkdtemp(prefix="run-", dir=account.disk if job.name.startswith(ON_DISK) else account.base))
    home = place / "home"
    home.mkdir()
    for directory in (place, home):
        os.chmod(directory, 0o755)
        if account.prefix:
            os.chown(directory, account.entry.pw_uid, account.entry.pw_gid)
    started = time.monotonic()
    late = False
    # Files, not pipes: a process that outlives its test must not hold us up.
    with open(place / "stdout", "w+b") as out, open(place / "stderr", "w+b") as err:
        try:
            process = subprocess.Popen([*account.prefix, *job.argv], stdin=subprocess.DEVNULL,
                                       stdout=out, stderr=err, cwd=account.top,
                                       env=environment(job, home), start_new_session=True)
        except OSError as problem:
            outcome.failures.append(f"cannot be started: {problem}")
            return outcome
        with running_lock:
            running.add(process.pid)
        late = not ends_within(process.pid, TIMEOUT)
        if late:
            os.kill(process.pid, signal.SIGABRT)  # one of tap.py says where it stands
            ends_within(process.pid, 5)
        with running_lock:
            running.discard(process.pid)
        end_group(process.pid)
        _, ended, usage = os.wait4(process.pid, 0)
        status = process.returncode = os.waitstatus_to_exitcode(ended)
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode("utf-8", "backslashreplace"))
    outcome.seconds = time.monotonic() - started
    outcome.busy = usage.ru_utime + usage.ru_stime
    outcome.output = texts[0] + texts[1]
    for report in sorted(place.glob("sanitizer.*")):
        outcome.output += report.read_text(errors="backslashreplace")
        outcome.failures.append(f"{report.name}: a sanitizer's report")
    shutil.rmtree(place, ignore_errors=True)
    broken = read_tap(texts[0], outcome) if job.tap else None
    if late:
        broken = f"not done after {TIMEOUT} s"
    elif status < 0:
        broken = f"killed by {signal_name(-status)}"
    elif not job.tap and status == 0:
        outcome.passed = 1
    elif not job.tap and status == SKIPPED:
        outcome.skips.append(texts[1].strip() or job.name)
    elif status != 0 and not outcome.failures:
        broken = broken or f"exit status {status}"
    if broken:
        outcome.failures.append(broken)
    return outcome


# --- telling ----------------------------------------------------------------------------

told = threading.Lock()


def tell(job, outcome):
    bad = bool(outcome.failures) or (MUST_RUN and outcome.skips and not job.optional)
    counts = f"{outcome.passed} ok"
    if outcome.failures:
        counts += f", {len(outcome.failures)} FAILED"
    if outcome.skips:
        counts += f", {len(outcome.skips)} skipped"
    with told:
        if bad and outcome.output:
            print(f"----- {job.name} ({job.account.label})")
            print(outcome.output.rstrip("\n"))
            print("-----")
        print(f"{'FAIL' if bad else 'ok  '} {job.account.label:4} {job.name:34} {counts:24} "
              f"{outcome.seconds:6.2f} s", flush=True)
        for reason in outcome.skips:
            print(f"       skipped: {reason}", flush=True)
        for failure in outcome.failures:
            print(f"       failed: {failure}", flush=True)


def tell_times(outcomes):
    """What took longest: of the programs all, of their tests the first hundred."""
    print("  seconds  with a processor")
    programs = [(outcome.seconds, outcome.busy, f"{job.account.label:4} {job.name}")
                for job, outcome in outcomes]
    tests = [(seconds, busy, f"{job.account.label:4} {job.name}: {name}")
             for job, outcome in outcomes for seconds, busy, name in outcome.took]
    for seconds, busy, name in sorted(programs, reverse=True) + sorted(tests, reverse=True)[:100]:
        print(f"{seconds:9.2f} {busy:9.2f}  {name}")
    print(f"{sum(p[0] for p in programs):9.2f} {sum(p[1] for p in programs):9.2f}  all programs")


def tell_left(places):
    """What is still where no test should leave anything; how many of it are failures."""
    left = places.left()
    for path, names, counts in left:
        print(f"{'FAIL' if counts else 'note'} left behind: {path} (while these ran: "
              f"{', '.join(names)})", flush=True)
    return sum(one.counts for one in left)


def inherit_nothing():
    """What the suite does must not depend on who typed it, and how.  nohup ignores SIGHUP, the
    background of a shell SIGINT and SIGQUIT; gcc, git and mkdir obey the umask; a program that
    counts its descriptors or fills a disk quota obeys limits."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        # Popen() itself gives a child the two that Python ignores
        if signal.getsignal(number) == signal.SIG_IGN and number not in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    os.umask(0o022)
    least = {resource.RLIMIT_NOFILE: 1024, resource.RLIMIT_STACK: 8 << 20}
    for limit in (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_DATA, resource.RLIMIT_FSIZE,
                  resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC, resource.RLIMIT_STACK):
        soft, hard = resource.getrlimit(limit)
        wanted = least.get(limit, hard)
        if soft != resource.RLIM_INFINITY and (wanted == resource.RLIM_INFINITY or soft < wanted):
            resource.setrlimit(limit, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def on_desktop():
    """This run again, where people work (lib/desktop.py)."""
    again = [word for word in sys.argv if word != "--desktop"]
    os.execvp("unshare", ["unshare", "--mount", "--propagation=private", sys.executable,
                          str(TOP / "tests" / "lib" / "desktop.py"), test_user().pw_name,
                          sys.executable, *again])


def main():
    parser = argparse.ArgumentParser(description="Run the tests of sandbash.")
    parser.add_argument("--suite", action="append", choices=SUITES + ELSEWHERE, help="only this suite")
    parser.add_argument("--only", action="append", metavar="SUBSTRING", help="only programs so named")
    parser.add_argument("--as", dest="account", choices=("root", "user"), help="only as this one")
    parser.add_argument("--build", default="build", metavar="DIR", help="the build tree")
    parser.add_argument("--flags", action="append", metavar="FLAGS",
                        help="of sandbash, in the suites enforce and supervise")
    parser.add_argument("--times", action="store_true", help="what took longest, at the end")
    parser.add_argument("--quick", action="store_true", help="a part of each suite, in under a minute")
    parser.add_argument("--desktop", action="store_true", help="on a furnished machine; needs root")
    options = parser.parse_args()
    if options.desktop:
        on_desktop()
    runs = options.flags
    if runs is None and "SANDBASH_TEST_FLAGS" in os.environ:
        runs = [os.environ["SANDBASH_TEST_FLAGS"]]
    build = (TOP / options.build).resolve()
    sys.stdout.reconfigure(errors="backslashreplace")
    inherit_nothing()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGINT, signal.default_int_handler)

    scratch = Path(tempfile.mkdtemp(prefix="sandbash-test-", dir="/var/tmp"))
    os.chmod(scratch, 0o711)
    try:
        base = scratch / "own"
        base.mkdir(mode=0o755)
        disk = base
        own_mounts = False
        if os.getuid() == 0:
            disk = scratch / "disk"
            disk.mkdir(mode=0o755)
            own_mounts = in_memory(base)
        top = TOP
        if is_temporary(TOP):
            top = tree_of_copies(scratch)
            build = copy_tree(build, top)
        own = own_account(top, build, base, disk)
        accounts = [own]
        if os.getuid() == 0 and options.account != "root" and not options.quick:
            accounts.append(user_account(top, build, scratch, own_mounts))
        accounts = [one for one in accounts if options.account in (None, one.label)]
        jobs = []
        for suite in options.suite or SUITES:
            for account in accounts:
                if account is own or suite in BOTH:
                    jobs += jobs_of(suite, account, account is own, len(accounts) == 1, runs)
        jobs = [job for job in jobs if not options.quick or is_quick(job)]
        unknown = [name for name in options.only or () if not any(name in job.name for job in jobs)]
        jobs = [job for job in jobs if not options.only or any(name in job.name for name in options.only)]
        jobs.sort(key=lambda job: LONGEST.index(job.name) if job.name in LONGEST else len(LONGEST))
        for job in jobs:
            job.times = options.times
        outcomes = []
        places = Places(TOP, MUST_RUN)
        now = []  # the names of the programs that run

        def work(job):
            now.append(job.name)
            outcome = run_job(job)
            places.look(now)
            if outcome.failures and not outcome.final and job.name.startswith(PERSONS):
                tell(job, outcome)
                print(f"     a person's timing on a busy machine: {job.name} once more", flush=True)
                outcome = run_job(job)
                places.look(now)
            now.remove(job.name)
            outcomes.append((job, outcome))
            tell(job, outcome)
            if sys.stdout.isatty():  # the next line is longer, and covers it
                print(f"  {len(outcomes)} of {len(jobs)} programs\r", end="", flush=True)

        started = time.monotonic()
        # what mostly waits goes beside the others
        with ThreadPoolExecutor(JOBS) as pool, ThreadPoolExecutor(WAITERS) as waiters:
            try:
                lanes = [waiters if job.name.startswith(WAITING) and job.build == job.account.build
                         else pool for job in jobs]
                for done in [lane.submit(work, job) for lane, job in zip(lanes, jobs)]:
                    done.result()
            except BaseException:  # Ctrl-C among them: end what runs, start nothing more
                for lane in (pool, waiters):
                    lane.shutdown(wait=False, cancel_futures=True)
                with running_lock:
                    for pid in running:
                        end_group(pid)
                raise
        print(f"{len(jobs)} programs in {time.monotonic() - started:.0f} s")
    finally:
        unmount(scratch / "user", scratch / "own")
        subprocess.run(["chmod", "-R", "u+rwX", str(scratch)], check=False,
                       stderr=subprocess.DEVNULL)
        shutil.rmtree(scratch, ignore_errors=True)
        shutil.rmtree(scratch.with_name(scratch.name + "-tree"), ignore_errors=True)

    if options.times:
        tell_times(outcomes)
    passed = sum(o.passed for _, o in outcomes)
    failed = sum(len(o.failures) for _, o in outcomes) + tell_left(places)
    skipped = sum(len(o.skips) for _, o in outcomes)
    if MUST_RUN:
        missed = sum(len(o.skips) for job, o in outcomes if not job.optional)
        failed, skipped = failed + missed, skipped - missed
    for name in unknown:
        print(f"no test program{' that is quick' if options.quick else ''} has '{name}' in its name")
        failed += 1
    if not jobs and not unknown:
        print("no test program is there")
        failed += 1
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
