"""tap.py - whole-program tests in Python: a fixture, sandbash() and TAP output.

    from tap import test, skip, run_all, equal, contains, check

    @test("S1 writes inside, not outside", variants=("full", "flat", "nested"))
    def writes_stop(fx):
        equal(fx.run("touch", fx.outside / "x").status, 0)                # works without a sandbox
        check(fx.sandbash("touch", fx.outside / "x").status != 0)         # refused with it
        equal(fx.sandbash("touch", "x").status, 0)                        # the neighbour still works

    run_all()

Each test gets a Fixture of its own: a directory under $SANDBASH_TEST_BASE (default
/var/tmp, since /tmp is special to a sandbox) that is removed afterwards:

    fx.dir/home            $HOME
    fx.dir/home/project    the current directory of sandbash() and run()
    fx.dir/outside         neither in the project nor in $HOME

A variant says on what kind of machine sandbash() runs: "full" this one as it is,
"flat" with every namespace denied (tests/lib/without.c; a static run with --best-effort), "nested"
inside another sandbash.  A test with several variants is run once for each.

$SANDBASH_TEST_FLAGS has flags for every sandbash that a test starts ("--static"), so that one
suite can hold for several kinds of run; FLAGS is that list and SUPERVISED what it means, for
tests that must know.
"""

import contextlib
import errno
import faulthandler
import os
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import NamedTuple

from built import not_there
from terminal import PATIENCE, Terminal

MUST_RUN = os.environ.get("SANDBASH_TEST_MUST_RUN") == "1"
TIMES = os.environ.get("SANDBASH_TEST_TIMES") == "1"
TOP = Path(__file__).resolve().parent.parent.parent
BIN = Path(os.environ.get("SANDBASH_BIN") or TOP / "build" / "sandbash").absolute()
TOOLS = Path(os.environ.get("SANDBASH_TEST_TOOLS") or TOP / "build" / "tests").absolute()
FLAGS = os.environ.get("SANDBASH_TEST_FLAGS", "").split()
SUPERVISED = "--static" not in FLAGS
ALL_VARIANTS = ("full", "flat", "nested")
LOOKING = ("--explain", "--status", "--doctor", "--print-policy", "--list-paths", "--add-path",
           "--remove-path", "--edit", "--help", "--version", "--completion")


# The record of a run, which is written outside and closed to the run (cli/log.py).
RECORD = re.compile(
    r".*/\.local/state/sandbash/(log(/\d{8}T\d{6}-\d+-[0-9a-f]{4}\.jsonl)?|run)")
RECORD_PLACE = re.compile(r".*/(\.local(/state(/sandbash)?)?|\.config(/sandbash(/word)?)?)")


class Result(NamedTuple):
    """How a command ended.  status is negative when a signal killed it (-9: SIGKILL)."""

    status: int
    stdout: str
    stderr: str


class Skip(Exception):
    pass


class Failed(AssertionError):
    pass


def skip(reason):
    """End this test as skipped.  Probe the very thing first, and name it in the reason."""
    raise Skip(reason)


def check(condition, message="check failed"):
    if not condition:
        raise Failed(message)


def equal(got, want, message=""):
    if got != want:
        raise Failed(f"{message + ': ' if message else ''}got {got!r}, want {want!r}")


def contains(text, part, message=""):
    if part not in text:
        raise Failed(f"{message + ': ' if message else ''}{part!r} is not in {text!r}")


def lacks(text, part, message=""):
    if part in text:
        raise Failed(f"{message + ': ' if message else ''}{part!r} is in {text!r}")


def usage_error(result, *parts):
    """One line on stderr (and perhaps a hint), exit 2."""
    equal(result.status, 2, result.stderr)
    equal(result.stdout, "")
    lines = result.stderr.splitlines()
    check(lines and lines[0].startswith("sandbash: "), result.stderr)
    check(all(line.startswith("hint: ") for line in lines[1:]) and len(lines) <= 2, result.stderr)
    for part in parts:
        contains(lines[0], part)


def wait(condition, message):
    """Until condition() is true; returns what it is.  The message may be a function."""
    deadline = time.monotonic() + PATIENCE
    while True:
        found = condition()
        if found:
            return found
        check(time.monotonic() < deadline, message() if callable(message) else message)
        time.sleep(0.02)


def is_record(path):
    """Is this a file that a run leaves on purpose, or the directory of those?"""
    return RECORD.fullmatch(os.fspath(path)) is not None


def with_flags(words):
    """The command line with FLAGS after each word that is sandbash itself: tests start it in
    many ways (under act, under env, inside another one).  A sandbash that looks at its rules
    instead of running something (--explain) is left alone: it has no use for them."""
    found = []
    for position, word in enumerate(words):
        found.append(word)
        rest = words[position + 1:]
        if word == str(BIN) and not (rest and rest[0].startswith(LOOKING)):
            found += [flag for flag in FLAGS if flag not in rest[:len(FLAGS)]]
    return found


class Fixture:
    def __init__(self, variant="full", home_in_tmp=False):
        base = "/tmp" if home_in_tmp else os.environ.get("SANDBASH_TEST_BASE", "/var/tmp")
        self.variant = variant
        # The canonical spelling: what sandbash prints must be comparable with it.
        self.dir = Path(tempfile.mkdtemp(prefix="sandbash-fx-", dir=base)).resolve()
        self.home = self.dir / "home"
        self.project = self.home / "project"
        self.outside = self.dir / "outside"
        self.project.mkdir(parents=True)
        self.outside.mkdir()
        self.history = []  # (argv, Result), shown when the test fails
        self._terminals = []
        self._started = []

    # --- running things -------------------------------------------------------------

    def env(self, changes=None):
        """The environment commands get: small and the same everywhere.  None removes a name."""
        names = {
            "HOME": str(self.home),
            "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "LANG": "C.UTF-8",
            "TERM": "xterm",
            "SHELL": "/bin/bash",
            "USER": os.environ.get("USER", "root"),
            "LOGNAME": os.environ.get("LOGNAME", "root"),
            # Any git in a test must not depend on the machine's or the person's settings.
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "Test",
            "GIT_AUTHOR_EMAIL": "test@example.org",
            "GIT_COMMITTER_NAME": "Test",
            "GIT_COMMITTER_EMAIL": "test@example.org",
        }
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "SANDBASH_TEST_REPORTS"):  # of run.py
            if name in os.environ:
                names[name] = os.environ[name]
        for name, value in (changes or {}).items():
            if value is None:
                names.pop(name, None)
            else:
                names[name] = os.fspath(value)
        return names

    def argv(self, *args, variant=None, without=None, outer=None):
        """The command line of sandbash ARGS on the machine that variant and without describe."""
        variant = variant or self.variant
        words = [os.fspath(word) for word in args]
        lacking = [without] if without else []
        if variant == "flat":
            lacking.append("userns")
            if not SUPERVISED or "--static" in words:
                words.insert(0, "--best-effort")  # which holds less there
        elif variant not in ALL_VARIANTS:
            raise ValueError(f"no variant {variant!r}")
        words.insert(0, str(BIN))
        if variant == "nested":
            # The outer one lets everything of this fixture through, so what is refused
            # inside it is refused by the inner one.  Our programs may lie where it has a directory of its own.
            allow = [f"--allow-write={self.dir}", f"--allow-read={TOP}"] if outer is None else list(outer)
            words = [str(BIN), "--anywhere", "--allow-home", *allow, "--", *words]
        if lacking:
            words = [str(self.tool("without")), ",".join(lacking), "--", *words]
        return words

    def sandbash(self, *args, cwd=None, env=None, input=None, variant=None, without=None,
                 outer=None, timeout=PATIENCE, **popen):
        """Run sandbash ARGS in the project.

        env       changes to the environment (None removes)
        input     text or bytes for stdin; default: empty
        variant   "full", "flat", "nested"; default: the test's
        without   what the machine lacks, as in tests/lib/without.c: "landlock-abi=3"
        outer     flags of the outer sandbash of "nested"
        """
        words = self.argv(*args, variant=variant, without=without, outer=outer)
        return self.run(*words, cwd=cwd, env=env, input=input, timeout=timeout, **popen)

    def run(self, *argv, cwd=None, env=None, input=None, timeout=PATIENCE, **popen):
        """Run argv itself in the same surroundings, with no sandbox: the control."""
        words = with_flags([os.fspath(word) for word in argv])
        data = input.encode("utf-8", "surrogateescape") if isinstance(input, str) else input
        process = subprocess.Popen(
            words,
            cwd=cwd or self.project,
            env=self.env(env),
            stdin=popen.pop("stdin", subprocess.PIPE if data is not None else subprocess.DEVNULL),
            stdout=popen.pop("stdout", subprocess.PIPE),
            stderr=popen.pop("stderr", subprocess.PIPE),
            start_new_session=popen.pop("start_new_session", True),
            **popen,
        )
        try:
            out, err = process.communicate(data, timeout=timeout)
        except subprocess.TimeoutExpired:
            _end_group(process)
            try:
                out, err = process.communicate(timeout=5)
            except subprocess.TimeoutExpired:  # something that left the group holds the pipes
                out = err = None
            self.history.append((words, Result(process.returncode, _text(out), _text(err))))
            raise Failed(f"no end after {timeout} s: {words}") from None
        result = Result(process.returncode, _text(out), _text(err))
        self.history.append((words, result))
        return result

    def start(self, *argv, cwd=None, env=None, **popen):
        """Popen in the same surroundings, for tests that signal or talk to what runs.  Ended
        with the test: one that fails leaves no run that waits for an answer."""
        process = subprocess.Popen(with_flags([os.fspath(word) for word in argv]),
                                   cwd=cwd or self.project, env=self.env(env), **popen)
        self._started.append(process)
        return process

    def terminal(self, *argv, cwd=None, env=None, rows=24, columns=80, replies=False):
        """Run argv on a new terminal of its own; see terminal.py.  Ended with the test."""
        terminal = Terminal(with_flags([os.fspath(word) for word in argv]),
                            cwd=cwd or self.project, env=self.env(env), rows=rows,
                            columns=columns, replies=replies)
        self._terminals.append(terminal)
        return terminal

    def sandbash_terminal(self, *args, variant=None, without=None, outer=None, **where):
        """sandbash ARGS on a terminal."""
        return self.terminal(*self.argv(*args, variant=variant, without=without, outer=outer),
                             **where)

    def settle(self):
        """Let a first run make its directories, so that what a later one changes stands out."""
        equal(self.sandbash("true", variant="full").status, 0, "a first run")
        state = self.home / ".local/state/sandbash"
        if SUPERVISED and state.is_dir():
            (state / "run").mkdir(mode=0o700, exist_ok=True)  # made by a run that takes longer

    def tool(self, name):
        """Path of a helper program that the build made (build/tests/NAME)."""
        path = TOOLS / name
        if not path.exists():
            raise FileNotFoundError(errno.ENOENT, "not built", path)
        return path

    # --- files; a relative path is relative to the project -------------------------------

    def path(self, path):
        return self.project / path

    def write(self, path, text="", mode=None):
        """Make a file, with the directories above it.  Returns its path."""
        path = self.path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        if mode is not None:
            path.chmod(mode)
        return path

    def read(self, path):
        return _text(self.path(path).read_bytes())

    def exists(self, path):
        return os.path.lexists(self.path(path))

    def config(self, text, name="config"):
        """Write a config file of sandbash (name: "config" or "projects/HASH")."""
        return self.write(self.home / ".config" / "sandbash" / name, text)

    def git_project(self):
        """Make the project a git repository with one commit."""
        self.write("README", "hello\n")
        for words in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-q", "-m", "start")):
            result = self.run("git", *words)
            equal(result.status, 0, f"git {words[0]}: {result.stderr}")

    def snapshot(self, top=None):
        """Every name beneath top (default: the fixture) with type, mode, size and content:
        two equal snapshots mean that nothing was changed or left behind but the record and the words."""
        found = {}
        for directory, directories, files in os.walk(top or self.dir):
            for name in directories + files:
                path = os.path.join(directory, name)
                if is_record(path) or RECORD_PLACE.fullmatch(path):
                    continue
                info = os.lstat(path)
                content = None
                if stat.S_ISREG(info.st_mode):
                    try:
                        content = Path(path).read_bytes()
                    except PermissionError:
                        content = info.st_mtime_ns
                elif stat.S_ISLNK(info.st_mode):
                    content = os.readlink(path)
                found[path] = (info.st_mode, info.st_uid, content)
        return found

    def remove(self):
        for terminal in self._terminals:
            terminal.close()
        for process in self._started:
            if process.poll() is None:
                process.kill()
                process.wait()
        # A test may leave directories that cannot be entered.
        for directory, directories, _ in os.walk(self.dir):
            for name in directories:
                path = os.path.join(directory, name)
                if not os.path.islink(path):
                    with contextlib.suppress(FileNotFoundError):  # by a run that is ending
                        os.chmod(path, 0o700)
        shutil.rmtree(self.dir, ignore_errors=True)


def _text(data):
    return "" if data is None else data.decode("utf-8", "surrogateescape")


def _end_group(process):
    """End a command and what it started: its own process group, which run() made."""
    try:
        if os.getpgid(process.pid) == process.pid:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except ProcessLookupError:
        pass


# --- the tests of a program -----------------------------------------------------------

_tests = []


def test(name, variants=("full",), home_in_tmp=False):
    """Register a test: a function of one Fixture."""

    def register(function):
        for variant in variants:
            label = name if len(variants) == 1 and variant == "full" else f"{name} [{variant}]"
            _tests.append((label, function, variant, home_in_tmp))
        return function

    return register


def _diagnose(text):
    for line in text.splitlines():
        printable = "".join(c if c.isprintable() else repr(c)[1:-1] for c in line)
        print(f"#   {printable}")


def _explain(fixture):
    _diagnose(traceback.format_exc())
    for argv, result in fixture.history[-3:] if fixture else []:
        _diagnose(f"$ {' '.join(argv)}\n[status {result.status}]")
        for label, text in (("stdout", result.stdout), ("stderr", result.stderr)):
            if text:
                _diagnose(f"[{label}]\n{text[-4000:]}")


def _bail_out_unless_built(problem):
    """A program of the build tree that is not there is no test's failure: it says so, and nothing more is tried."""
    path = Path(str(problem.filename))
    if path.is_relative_to(TOOLS.parent):
        print(f"Bail out! {not_there(path)}")
        sys.exit(1)


def _busy():
    """Seconds with a processor, of this program and of every child that was waited for."""
    return sum(sum(resource.getrusage(who)[:2])
               for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def run_all():
    """Run what was registered, print TAP, exit.  Arguments: only tests whose name holds one."""
    sys.stdout.reconfigure(errors="backslashreplace", line_buffering=True)
    wanted = [t for t in _tests if not sys.argv[1:] or any(w in t[0] for w in sys.argv[1:])]
    failures = 0
    os.umask(0o022)
    faulthandler.enable()  # SIGABRT, of run.py when this takes too long: where do we stand?
    started, busy = time.monotonic(), _busy()
    print(f"1..{len(wanted)}")
    if not wanted:
        sys.exit(f"{sys.argv[0]}: no test's name holds {' or '.join(map(repr, sys.argv[1:])) or 'anything'}")
    for number, (label, function, variant, home_in_tmp) in enumerate(wanted, 1):
        label = label.replace("#", "\\#")
        fixture = None
        try:
            fixture = Fixture(variant, home_in_tmp)
            function(fixture)
            print(f"ok {number} - {label}")
        except Skip as reason:
            print(f"ok {number} - {label} # SKIP {reason}")
        except Exception as problem:  # whatever went wrong is this test's failure, and the rest goes on
            if isinstance(problem, FileNotFoundError):
                _bail_out_unless_built(problem)
            failures += 1
            print(f"not ok {number} - {label}")
            _explain(fixture)
        finally:
            if fixture:
                fixture.remove()
        if TIMES:
            seconds, now = time.monotonic() - started, _busy()
            print(f"# took {seconds:.2f} s {now - busy:.2f} s {label}")
            started, busy = time.monotonic(), now
    sys.exit(1 if failures else 0)
