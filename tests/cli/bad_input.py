"""bad_input.py - R5, S13: wrong values, hostile places and broken surroundings.  Each gives a
clear error in the usual form and the right exit code; nothing starts, nothing is half-written."""

import fcntl
import os
import shutil
from pathlib import Path

from tap import BIN, check, contains, equal, run_all, test

EXIT_USAGE, EXIT_OWN_FAILURE = 2, 125
LOOKING = (("--dry-run", "true"), ("--explain", "x"), ("--print-policy",), ("--list-paths",),
           ("--status",))


def error(result, status, *parts):
    equal(result.status, status, result.stderr)
    equal(result.stdout, "")
    lines = result.stderr.splitlines()
    check(1 <= len(lines) <= 2, result.stderr)
    check(lines[0].startswith("sandbash: ") and not lines[0].endswith("."), result.stderr)
    check(len(lines) == 1 or lines[1].startswith("hint: "), result.stderr)
    check(all(c.isprintable() for line in lines for c in line), repr(result.stderr))
    for part in parts:
        contains(result.stderr, part)


# --- values of options ------------------------------------------------------------------------


@test("R5 bad input: a wrong value of an option is a usage mistake that names option and value")
def wrong_values(fx):
    for option, values in (("--mode", ("x", "Read-Only", " ", "\x1b[31m")),
                           ("--network", ("yes", "OFF", "1")),
                           ("--keep-fd", ("x", "-1", "3x", "0x3", "9" * 20, "", "1e3"))):
        for value in values:
            result = fx.sandbash(f"{option}={value}", "touch", "x")
            error(result, EXIT_USAGE, option.strip("-"))
    check(not fx.exists("x"))


@test("R5 bad input: a value that cannot be used is told with its path, and nothing starts")
def unusable_values(fx):
    fx.write("file", "")
    for words in (("--policy=missing",), ("--policy=.",), ("--project=missing",),
                  ("--project=file",), ("--keep-fd=99",)):
        error(fx.sandbash(*words, "touch", "x"), EXIT_OWN_FAILURE)
    check(not fx.exists("x"))


@test("R5 bad input: config commands mixed with a command")
def mixed(fx):
    for words in (("--add-path", "/usr", "touch", "x"), ("--edit", "--", "touch", "x"),
                  ("--remove-path=/usr", "-c", "touch x")):
        error(fx.sandbash(*words, env={"VISUAL": "true"}), EXIT_USAGE, "command")
    check(not fx.exists("x") and not (fx.home / ".config").exists())


# --- paths ------------------------------------------------------------------------------------


@test("R5 bad input: links in a circle are told, and nothing starts")
def looping_path(fx):
    fx.path("loop").symlink_to("loop")
    fx.path("a").symlink_to("b")
    fx.path("b").symlink_to("a/c")
    for words in (("--allow-write=loop", "touch", "x"), ("--allow-read=a/x", "touch", "x"),
                  ("--deny=loop", "touch", "x"), ("--project=loop", "touch", "x"),
                  ("--policy=loop", "touch", "x"), ("--explain", "loop"), ("--add-path", "loop"),
                  ("--add-path", "a/b/c")):
        result = fx.sandbash(*words)
        error(result, EXIT_USAGE if result.status == EXIT_USAGE else EXIT_OWN_FAILURE,
              "symbolic links")
    check(not fx.exists("x") and not (fx.home / ".config").exists())
    file = fx.config("# x\nread loop\n")
    error(fx.sandbash("touch", "x"), EXIT_OWN_FAILURE, f"'{file}' line 2: ")


@test("R5 bad input: links in a circle inside the project keep nobody from working there")
def looping_project(fx):
    for name in (".vscode", ".git", ".env", ".bashrc"):
        fx.path(name).symlink_to(name)
    equal(fx.sandbash("touch", "x").status, 0)
    (fx.home / ".ssh").symlink_to(".ssh")
    equal(fx.sandbash("touch", "x").status, 0)


@test("R5 bad input: paths with newlines, escapes and invalid UTF-8 are escaped in messages")
def odd_paths(fx):
    odd = "a\nb\x1b]0;title\x07\udcff\u202e"
    for words in (("--policy=" + odd, "true"), ("--project=" + odd, "true"), ("--remove-path", odd),
                  (odd,), ("--mode=" + odd,), ("--keep-fd=" + odd, "true"), ("--status", odd),
                  ("--list-paths", odd)):
        result = fx.sandbash(*words)
        check(result.status in (2, 125, 127), f"{words}: {result.status}")
        check(all(c.isprintable() or c == "\n" for c in result.stderr), repr(result.stderr))
        check(len(result.stderr.splitlines()) <= 2, repr(result.stderr))
        contains(result.stderr, "a\\nb\\e]0;title\\x07\\xff", str(words))


LONG = "/".join(["x" * 200] * 30)  # over PATH_MAX
LONG_NAME = "x" * 300  # over NAME_MAX


@test("R5 bad input: over-long paths are told, shortened, and nothing starts")
def long_paths(fx):
    for path in (LONG, "/" + LONG, "x" * 5000, "~/" + LONG):
        for words in (("--allow-write=" + path, "touch", "x"), ("--deny=" + path, "touch", "x"),
                      ("--project=" + path, "touch", "x"), ("--policy=" + path, "touch", "x"),
                      ("--explain", path), ("--add-path", path), ("--remove-path", path)):
            result = fx.sandbash(*words)
            check(result.status in (EXIT_USAGE, EXIT_OWN_FAILURE),
                  f"{words[0][:30]}: {result.status} {result.stderr[:200]}")
            check(result.stderr.startswith("sandbash: "), result.stderr[:200])
            check(len(result.stderr) < 6000, "the whole path is repeated")
    check(not fx.exists("x") and not (fx.home / ".config").exists())
    file = fx.config("deny /" + LONG + "\n")
    error(fx.sandbash("touch", "x"), EXIT_OWN_FAILURE, f"'{file}' line 1: ")


@test("R5 bad input: a name longer than the file system takes is a path that is not there")
def long_name(fx):
    result = fx.sandbash("--allow-write=" + LONG_NAME, "touch", "x")
    check(result.status in (0, EXIT_USAGE, EXIT_OWN_FAILURE), result.stderr)
    check("name too long" in result.stderr.replace("Filename", "File name"), result.stderr)
    equal(fx.exists("x"), result.status == 0)


@test("R5 bad input: a very long rule or very many flags do no harm")
def many_flags(fx):
    flags = [f"--deny=none/{i}" for i in range(9000)]  # more than SANDBASH_FLAGS can hold
    equal(fx.sandbash(*flags, "touch", "x").status, 0)
    check(fx.exists("x"))
    result = fx.sandbash("--rule=read " + "a/" * 60000, "touch", "y")
    check(result.status in (EXIT_USAGE, EXIT_OWN_FAILURE), str(result.status))
    check(not fx.exists("y"))


# --- places -----------------------------------------------------------------------------------


@test("R5 bad input: the current directory was deleted under us")
def deleted_cwd(fx):
    gone = fx.project / "gone"
    script = f'mkdir -p {gone}; cd {gone}; rmdir {gone}; "$@"'
    for words in (("touch", fx.project / "x"), ("--list-paths",), ("--add-path", "/usr"),
                  ("--dry-run", "true"), ("--status",), ("--allow-home", "--anywhere", "true")):
        result = fx.run("sh", "-c", script, "sh", BIN, *words)
        error(result, EXIT_OWN_FAILURE, "current directory", "No such file or directory")
    check(not fx.exists("x") and not (fx.home / ".config").exists())


@test("R5 bad input: the current directory is deeper than PATH_MAX")
def deep_cwd(fx):
    script = ("import os, sys\n"
              "for _ in range(30):\n    os.mkdir('d' * 200)\n    os.chdir('d' * 200)\n"
              "os.execv(sys.argv[1], [sys.argv[1], 'touch', 'x'])\n")
    result = fx.run("python3", "-c", script, BIN)
    # either it can cope or it says why not
    check(result.status in (0, EXIT_OWN_FAILURE), result.stderr[:300])
    if result.status:
        check(result.stderr.startswith("sandbash: "), result.stderr[:300])
    fx.run("sh", "-c", f"rm -rf {'d' * 200}")


@test("R5 bad input: HOME is unset, empty or relative")
def no_home(fx):
    for home in (None, "", "home", "./x", "~"):
        for words in (("touch", "x"), ("--list-paths",), ("--add-path", "/usr"),
                      ("--dry-run", "true"), ("--print-policy",), ("--status",), ("--edit",)):
            result = fx.sandbash(*words, env={"HOME": home, "VISUAL": "true"})
            error(result, EXIT_OWN_FAILURE, "HOME")
    check(not fx.exists("x") and not fx.exists("home") and not fx.exists("~"))


@test("R5 bad input: HOME does not exist, is a file, is a loop")
def strange_home(fx):
    fx.write(fx.outside / "file", "")
    (fx.outside / "loop").symlink_to("loop")
    before = fx.snapshot()
    for home in (fx.outside / "missing", fx.outside / "file", fx.outside / "loop"):
        result = fx.sandbash("touch", "x", env={"HOME": home})
        equal(result.status, EXIT_OWN_FAILURE, result.stderr)
        check(result.stderr.startswith("sandbash: "), result.stderr)
    equal(fx.snapshot(), before)


@test("R5 bad input: HOME is the root directory: still only the project is writable")
def root_home(fx):
    fx.config("")
    # root's record and words would stay in /
    env = {"HOME": "/", "XDG_STATE_HOME": fx.dir / "state", "XDG_CONFIG_HOME": fx.dir / "config"}
    result = fx.sandbash("touch", "x", env=env)
    check(result.status in (0, EXIT_OWN_FAILURE), result.stderr)
    result = fx.sandbash("touch", fx.outside / "x", env=env)
    check(result.status != 0 and not (fx.outside / "x").exists())


@test("R5 bad input: XDG_CONFIG_HOME is a file, a loop or unreachable")
def strange_xdg(fx):
    fx.write(fx.outside / "file", "")
    (fx.outside / "loop").symlink_to("loop")
    for value in (fx.outside / "file", fx.outside / "loop"):
        env = {"XDG_CONFIG_HOME": value}
        result = fx.sandbash("--add-path", "/usr", env=env)
        equal(result.status, EXIT_OWN_FAILURE, result.stderr)
        check(result.stderr.startswith("sandbash: "), result.stderr)
        result = fx.sandbash("touch", "x", env=env)
        check(result.status in (0, EXIT_OWN_FAILURE), result.stderr)


def closed_project(fx):
    (fx.home / "closed").mkdir(mode=0o000)
    result = fx.sandbash("--project=../closed/x", "touch", "x")
    error(result, EXIT_OWN_FAILURE, "Permission denied")
    result = fx.sandbash("--allow-write=../closed/x", "touch", "y")
    check(result.status in (0, EXIT_OWN_FAILURE))
    contains(result.stderr, "Permission denied")


if os.getuid() != 0:  # root enters everything
    test("R5 bad input: a project that cannot be entered is told")(closed_project)


@test("R5 bad input: a project that the user may not write is no reason to fail")
def read_only_project(fx):
    fx.write("file", "text\n")
    fx.project.chmod(0o555)
    result = fx.sandbash("cat", "file")
    if os.getuid() == 0:
        # Root could write it, but not without capabilities: S13, a write inside must work.
        error(result, EXIT_OWN_FAILURE, str(fx.project))
    else:
        equal((result.status, result.stdout), (0, "text\n"), result.stderr)


# --- streams ----------------------------------------------------------------------------------


@test("R5 bad input: with closed streams nothing crashes, and errors have the right code")
def closed_streams(fx):
    for redirect in ("<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"):
        for words, status in (("touch x", 0), ("--mode=x true", EXIT_USAGE),
                              ("no-such-command", 127)):
            result = fx.run("sh", "-c", f'"$1" {words} {redirect}', "sh", BIN)
            equal(result.status, status, f"{words} {redirect}: {result.stderr}")
        check(fx.exists("x"), redirect)
        fx.path("x").unlink()


@test("R5 bad input: a file opened by us never becomes a closed stream of the command")
def stream_reuse(fx):
    config = fx.config("# rules\n")
    fx.run("sh", "-c", f'"$1" sh -c "echo evil; echo evil >&2" <&- >&- 2>&-', "sh", BIN)
    equal(config.read_text(), "# rules\n")


@test("R5 bad input: looking commands with nowhere to print say so")
def nowhere_to_print(fx):
    for words in (*LOOKING, ("--doctor",), ("--help",), ("--version",)):
        for redirect in (">&-", "> /dev/full"):
            result = fx.run("sh", "-c", f'"$@" {redirect}', "sh", BIN, *words)
            equal(result.status, EXIT_OWN_FAILURE, f"{words} {redirect}: {result.stderr}")
            contains(result.stderr, "sandbash: cannot write to standard output: ")


@test("R5 bad input: a reader that goes away ends us by SIGPIPE, as any tool")
def reader_gone(fx):
    reader, writer = os.pipe()
    os.close(reader)
    result = fx.run("bash", "-c", '"$1" --print-policy; echo $? >&2', "bash", BIN, stdout=writer)
    os.close(writer)
    check(result.stderr.strip() in ("141", "125"), result.stderr)


@test("R5 bad input: adding a path with nowhere to print still adds it, or adds nothing")
def add_without_stdout(fx):
    result = fx.run("sh", "-c", '"$1" --global --add-path /usr > /dev/full', "sh", BIN)
    check(result.status in (0, EXIT_OWN_FAILURE))
    contains(result.stderr, "cannot write to standard output")
    equal((fx.home / ".config/sandbash/config").read_text(), "/usr\n")


# --- resources --------------------------------------------------------------------------------


@test("R5 S13 bad input: no descriptors or memory left: told, and nothing runs free")
def no_resources(fx):
    for limit in ("ulimit -n 3", "ulimit -n 5", "ulimit -v 4000"):
        result = fx.run("bash", "-c", f'{limit}; exec "$1" touch "$2"', "bash", BIN,
                        fx.outside / "x")
        check(result.status != 0, limit)
        check(not (fx.outside / "x").exists(), limit)
        result = fx.run("bash", "-c", f'{limit}; exec "$1" /bin/true', "bash", BIN)
        check(result.status in (0, EXIT_OWN_FAILURE, 126, 127, -11),
              f"{limit}: {result.status} {result.stderr}")


@test("R5 bad input: started with no argument vector at all")
def no_argv(fx):
    script = ("import ctypes, sys\nlibc = ctypes.CDLL(None)\nempty = (ctypes.c_char_p * 1)(None)\n"
              "libc.execve(sys.argv[1].encode(), empty, empty)\n")
    result = fx.run("python3", "-c", script, BIN)
    check(result.status in (EXIT_USAGE, EXIT_OWN_FAILURE), f"{result.status} {result.stderr}")


@test("R5 bad input: entries of the environment without '=' or given twice do no harm")
def strange_environment(fx):
    script = ("import ctypes, sys\nlibc = ctypes.CDLL(None)\n"
              "argv = (ctypes.c_char_p * 4)(b'sandbash', b'touch', sys.argv[2].encode(), None)\n"
              "env = (ctypes.c_char_p * 9)(b'NOEQUALS', b'=x', b'', f'HOME={sys.argv[3]}'.encode(),\n"
              "    b'PATH=/usr/bin:/bin', b'HOME=/',\n"
              "    b'SANDBASH_MODE=read-only', b'SANDBASH_MODE=danger-full-access', None)\n"
              "libc.execve(sys.argv[1].encode(), argv, env)\n")
    fx.run("python3", "-c", script, BIN, fx.outside / "x", fx.home)
    check(not (fx.outside / "x").exists())


@test("R5 bad input: a copy of sandbash without its share directory works")
def moved_binary(fx):
    copy = fx.home / "sandbash"
    shutil.copy(BIN, copy)
    result = fx.run(copy, "sh", "-c", "echo ran")
    equal((result.status, result.stdout), (0, "ran\n"), result.stderr)
    result = fx.run(copy, "touch", fx.outside / "x")
    check(result.status != 0)


@test("R5 bad input: hiding the current directory is told as that")
def hidden_cwd(fx):
    for flag in ("--deny=.", f"--deny={fx.project}"):
        result = fx.sandbash(flag, "touch", "x")
        equal(result.status, EXIT_OWN_FAILURE, result.stderr)
        contains(result.stderr, flag, "which rule hides it")
    check(not fx.exists("x"))
    # The project is named by more literal components than a wildcard beside it.
    equal(fx.sandbash(f"--deny={fx.home}/**", "true").status, 0)


@test("R5 bad input: odd directories in the environment do no harm")
def odd_directories(fx):
    fx.write(fx.home / "file", "text\n")
    there = [Path(place) / "sandbash" for place in ("/tmp", "/dev/shm")]  # every run makes them
    tmp = os.open("/tmp", os.O_RDONLY | os.O_CLOEXEC)
    fcntl.flock(tmp, fcntl.LOCK_EX)  # this program as another account, at the same time
    ours = [path for path in there if not path.exists()]
    for name in ("TMPDIR", "XDG_RUNTIME_DIR", "XDG_STATE_HOME"):
        for value in ("/", "/tmp", fx.home, fx.project, fx.project / "sub", "/nonexistent", "relative",
                      "", "/dev/shm", "/dev/null"):
            script = "f=$(mktemp) && rm $f && touch x && cat ../file"
            # a record there would stay behind on this machine
            away = name == "XDG_STATE_HOME" and not str(value).startswith(str(fx.dir))
            fx.config("log-static off\n" if away else "")
            result = fx.sandbash(*(["--static"] if away else []), "sh", "-c", script,
                                 env={name: value})
            equal((result.status, result.stdout), (0, "text\n"), f"{name}={value}: {result.stderr}")
    for path in ours:
        path.rmdir()
    os.close(tmp)


@test("R5 bad input: an unknown completion shell")
def unknown_shell(fx):
    error(fx.sandbash("--completion", "tcsh"), EXIT_USAGE, "tcsh")


run_all()
