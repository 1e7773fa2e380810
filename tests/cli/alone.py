"""alone.py - S12 without a terminal: environment, streams, status and signals are those of
the command run alone.  Each test compares a sandboxed run with a plain one."""

import os
import resource
import signal
import socket
import subprocess
import time

from tap import ALL_VARIANTS, BIN, PATIENCE, TOP, check, contains, equal, run_all, test, wait

EXIT_OWN_FAILURE, EXIT_CANNOT_EXECUTE, EXIT_NOT_FOUND = 125, 126, 127
ADDED = {"SANDBASH", "SANDBASH_MODE", "SANDBASH_PROJECT", "SANDBASH_FLAGS"}


def names(result):
    """The environment that `env -0` printed."""
    equal(result.status, 0, result.stderr)
    return dict(entry.split("=", 1) for entry in result.stdout.split("\0") if entry)


def same(fx, *argv, **how):
    """Run argv alone and sandboxed: status and stdout must be equal.  Returns stdout."""
    control = fx.run(*argv, **how)
    result = fx.sandbash(*argv, **how)
    equal((result.status, result.stdout), (control.status, control.stdout), result.stderr)
    return result.stdout


def wait_for(path):
    wait(lambda: os.path.exists(path), f"{path} did not appear")


# --- environment --------------------------------------------------------------------------


@test("S12 P7 the environment arrives whole, with nothing added but what P7 names",
      variants=ALL_VARIANTS)
def environment(fx):
    env = {"EMPTY": "", "WITH SPACE": "x y", "NEWLINE": "a\nb", "BYTES": "\udcff\udcfe",
           "EQUALS": "a=b=c", "BASH_FUNC_f%%": "() { echo f; }", "IFS": " ", "LD_BIND_NOW": "1",
           "PS1": "$ "}
    control, result = names(fx.run("env", "-0", env=env)), names(fx.sandbash("env", "-0", env=env))
    added = {name for name in result if name not in control}
    check(added <= ADDED | {"TMPDIR"}, str(added))
    for name, value in control.items():
        equal(result.get(name), value, name)
    equal(result["SANDBASH"], "1")


@test("S12 variables whose names only begin like ours are left alone")
def alike_names(fx):
    env = {"SANDBASHX": "1", "SANDBASH_": "2", "XSANDBASH": "3", "SANDBASH_MODEL": "4"}
    result = names(fx.sandbash("env", "-0", env=env))
    for name, value in env.items():
        equal(result.get(name), value, name)


@test("S12 a small environment is enough")
def small_environment(fx):
    result = fx.run("env", "-i", f"HOME={fx.home}", BIN, "/usr/bin/env")
    equal(result.status, 0, result.stderr)
    got = {line.split("=")[0] for line in result.stdout.splitlines()}
    check(got - {"HOME", "TMPDIR"} <= ADDED, str(got))


@test("S12 a command is found through the caller's PATH")
def path_lookup(fx):
    fx.write("bin/mine", "#!/bin/sh\necho mine\n", mode=0o755)
    equal(fx.sandbash("mine", env={"PATH": f"{fx.project}/bin:/usr/bin:/bin"}).stdout, "mine\n")
    equal(fx.sandbash("mine", env={"PATH": "bin:/usr/bin:/bin"}).stdout, "mine\n")
    equal(fx.sandbash("mine").status, EXIT_NOT_FOUND)
    equal(fx.sandbash("mine", env={"PATH": None}).status,
          fx.run("env", "mine", env={"PATH": None}).status)


# --- streams ------------------------------------------------------------------------------


@test("S12 stdin from a pipe arrives, every byte", variants=ALL_VARIANTS)
def stdin_pipe(fx):
    data = bytes(range(256)) * 4096
    result = fx.sandbash("cat", input=data)
    equal(result.stdout.encode("utf-8", "surrogateescape"), data)
    equal(fx.sandbash("wc", "-c", input=data).stdout.strip(), str(len(data)))


@test("S12 sandbash itself reads nothing of stdin")
def stdin_untouched(fx):
    result = fx.run("sh", "-c", '"$1" true; "$1" head -c 2; cat', "sh", BIN, input="abcdef")
    equal(result.stdout, "abcdef")


@test("S12 a file as stdin keeps its position, as stdout its end")
def stream_positions(fx):
    file = fx.write(fx.outside / "in", "0123456789")
    with open(file, "rb") as stream:
        os.lseek(stream.fileno(), 4, os.SEEK_SET)
        equal(fx.sandbash("cat", stdin=stream).stdout, "456789")
    out = fx.write(fx.outside / "out", "old\n")
    with open(out, "ab") as stream:
        equal(fx.sandbash("echo", "new", stdout=stream).status, 0)
    equal(out.read_text(), "old\nnew\n")


def read_in_turns(fx, file):
    """What the command and its caller, reading one file in turns, see: alone and sandboxed."""
    script = '"$@" sh -c "read line; echo \\$line"; cat'
    seen = []
    for front in ("env", BIN):
        with open(file, "rb") as stream:
            seen.append(fx.run("sh", "-c", script, "sh", front, stdin=stream).stdout)
    return seen


@test("S12 a file of the project as stdin is shared with the caller: what was read is read")
def shared_position(fx):
    alone, sandboxed = read_in_turns(fx, fx.write("in", "first\nsecond\nthird\n"))
    equal(alone, "first\nsecond\nthird\n")
    equal(sandboxed, alone)


@test("S12 so is a file outside, or docs/security.md says that its position is not")
def shared_position_outside(fx):
    alone, sandboxed = read_in_turns(fx, fx.write(fx.outside / "in", "first\nsecond\nthird\n"))
    if sandboxed != alone:
        text = (TOP / "docs" / "security.md").read_text()
        check("position" in text or "offset" in text, "the position is not shared, and not a word")


@test("S12 stdout and stderr may be files outside, opened by the caller", variants=ALL_VARIANTS)
def stdout_outside(fx):
    argv = fx.argv("sh", "-c", "echo out; echo err >&2")
    result = fx.run("sh", "-c", '"$@" > ../../outside/o 2> ../../outside/e', "sh", *argv)
    equal(result.status, 0, result.stderr)
    equal((fx.outside / "o").read_text(), "out\n")
    contains((fx.outside / "e").read_text(), "err\n")


@test("S12 stdout and stderr stay apart and unbuffered by us")
def streams_apart(fx):
    result = fx.sandbash("sh", "-c", "echo out; echo err >&2")
    equal(result, (0, "out\n", "err\n"))


@test("S12 a closed stream is seen closed, and sandbash does not trip over it")
def closed_streams(fx):
    show = ('for fd in 0 1 2; do [ -e /proc/$$/fd/$fd ] && state=open || state=closed; '
            'echo $state >&9; done 9> "$1"')
    for closed in ("0", "1", "2", "0 1", "0 2", "1 2", "0 1 2"):
        redirect = " ".join(f"{fd}{'<' if fd == '0' else '>'}&-" for fd in closed.split())
        for name, argv in (("alone", ()), ("inside", (BIN,))):
            result = fx.run("sh", "-c", f'"$@" {redirect}', "sh", *argv, "sh", "-c", show, "sh",
                            fx.path(name))
            equal(result.status, 0, f"{closed}: {result.stderr}")
        equal(fx.read("inside"), fx.read("alone"), f"closed: {closed}")
        check("closed" in fx.read("alone"), "the control has everything open")


@test("S12 pipes and read-only files above 2 stay open: process substitution works",
      variants=ALL_VARIANTS)
def kept_descriptors(fx):
    argv = fx.argv("diff")
    result = fx.run("bash", "-c", '"$@" <(echo a; echo b) <(echo a; echo c)', "bash", *argv)
    equal(result.status, 1, result.stderr)
    equal(result.stdout, "2c2\n< b\n---\n> c\n")
    fx.write(fx.outside / "file", "text\n")
    argv = fx.argv("sh", "-c", "cat <&7")
    equal(fx.run("bash", "-c", f'"$@" 7< {fx.outside}/file', "bash", *argv).stdout, "text\n")


LIST_FDS = 'for fd in 5 6 7 8 9; do [ -e /proc/$$/fd/$fd ] && echo $fd; done; :'


@test("S12 directories, sockets, devices and writable files above 2 are closed",
      variants=ALL_VARIANTS)
def closed_descriptors(fx):
    left, right = socket.socketpair()
    opened = {5: os.open(fx.outside, os.O_RDONLY), 6: os.open(fx.outside, os.O_PATH),
              7: os.open(fx.outside / "file", os.O_RDWR | os.O_CREAT), 8: left.fileno(),
              9: os.open("/dev/null", os.O_RDWR)}

    def arrange():
        spare = {fd: os.dup2(old, 100 + fd) for fd, old in opened.items()}
        for fd, old in spare.items():
            os.dup2(old, fd)

    control = fx.run("sh", "-c", LIST_FDS, preexec_fn=arrange, close_fds=False)
    equal(control.stdout.split(), ["5", "6", "7", "8", "9"])
    result = fx.sandbash("sh", "-c", LIST_FDS, preexec_fn=arrange, close_fds=False)
    equal(result.stdout.split(), [], result.stderr)
    if fx.variant != "nested":  # the outer one closes them first
        result = fx.sandbash("--keep-fd=7", "--keep-fd", "8", "sh", "-c", LIST_FDS,
                             preexec_fn=arrange, close_fds=False)
        equal(result.stdout.split(), ["7", "8"], result.stderr)
    for fd in (5, 6, 7, 9):
        os.close(opened[fd])
    left.close()
    right.close()


@test("S12 --keep-fd of a descriptor that is not open is refused")
def keep_closed(fx):
    result = fx.sandbash("--keep-fd=77", "touch", "x")
    equal(result.status, EXIT_OWN_FAILURE)
    contains(result.stderr, "77")
    check(not fx.exists("x"))


@test("S12 no descriptor of sandbash's own reaches the command", variants=ALL_VARIANTS)
def no_leaks(fx):
    listing = "ls -l /proc/self/fd | sed 's/.* \\([0-9]* ->.*\\)/\\1/' | grep -vE '^[0-3] |total'"
    result = fx.sandbash("sh", "-c", listing)
    equal(result.stdout, "", result.stderr)


@test("S12 a directory as a standard stream is refused")
def directory_stdio(fx):
    result = fx.run("sh", "-c", '"$1" touch x < .', "sh", BIN)
    equal(result.status, EXIT_OWN_FAILURE, result.stderr)
    contains(result.stderr, "standard input")
    check(not fx.exists("x"))


# --- status -------------------------------------------------------------------------------


@test("S12 the exit status is the command's", variants=ALL_VARIANTS)
def exit_status(fx):
    for status in (0, 1, 2, 3, 77, 124, 125, 126, 127, 128, 137, 255):
        equal(fx.sandbash("sh", "-c", f"exit {status}").status, status)


@test("S12 a command that is not there: 127, with its name")
def not_found(fx):
    for word in ("no-such-command", "./no-such", "/no/such/command"):
        result = fx.sandbash(word)
        equal(result.status, EXIT_NOT_FOUND)
        equal(result.stderr, f"sandbash: cannot run '{word}': No such file or directory\n")


@test("S12 a command that cannot be executed: 126, with the reason")
def cannot_execute(fx):
    fx.write("plain", "text\n", mode=0o644)
    fx.write("bad-interpreter", "#!/no/such/interpreter\n", mode=0o755)
    (fx.project / "dir").mkdir()
    for word in ("./plain", "./dir", "/tmp", "/dev/shm"):
        result = fx.sandbash(word)
        equal((result.status, result.stderr),
              (EXIT_CANNOT_EXECUTE, f"sandbash: cannot run '{word}': Permission denied\n"))
    equal(fx.sandbash("./bad-interpreter").status, fx.run("env", "./bad-interpreter").status)


@test("S12 a script without '#!' runs as it does from env")
def no_shebang(fx):
    fx.write("script", "echo ran \"$@\"\n", mode=0o755)
    same(fx, "env", "./script", "a b")
    result = fx.sandbash("./script", "a b")
    equal((result.status, result.stdout), (0, "ran a b\n"), result.stderr)


@test("S12 a name with control characters is escaped in the error")
def escaped_name(fx):
    result = fx.sandbash("no\nsuch\x1b[31m\udcff")
    equal(result.status, EXIT_NOT_FOUND)
    equal(result.stderr,
          "sandbash: cannot run 'no\\nsuch\\e[31m\\xff': No such file or directory\n")


# --- signals ------------------------------------------------------------------------------


@test("S12 death by a signal is the same signal, and 128+N to a shell", variants=ALL_VARIANTS)
def killed_by_signal(fx):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL, signal.SIGHUP, signal.SIGQUIT,
                   signal.SIGSEGV, signal.SIGABRT, signal.SIGUSR1, signal.SIGPIPE, signal.SIGXCPU):
        script = f"ulimit -c 0; kill -{int(number)} $$; sleep 1010"
        equal(fx.sandbash("sh", "-c", script).status, -number, number.name)
        result = fx.run("sh", "-c", '"$@"; echo $?', "sh", *fx.argv("sh", "-c", script))
        equal(result.stdout, f"{128 + number}\n", number.name)


@test("S12 signals sent to the started process reach the command", variants=("full", "flat"))
def signals_arrive(fx):
    reach_command(fx)


@test("S12 in a static run it is the same process", variants=("full", "flat"))
def same_process(fx):
    reach_command(fx, "--static")


def reach_command(fx, *flags):
    script = ("trap 'echo term; exit 5' TERM; trap 'echo usr1' USR1; echo $$ > ready; "
              "while :; do sleep 0.01; done")
    process = fx.start(*fx.argv(*flags, "bash", "-c", script), stdout=subprocess.PIPE,
                       stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        wait_for(fx.path("ready"))
        while not fx.read("ready"):
            time.sleep(0.005)
        if flags:
            equal(int(fx.read("ready")), process.pid)
        process.send_signal(signal.SIGUSR1)
        time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=PATIENCE)
        equal((process.returncode, out), (5, b"usr1\nterm\n"))
    finally:
        process.kill()
        process.wait()


@test("S12 stop and continue work")
def stop_and_continue(fx):
    process = fx.start(BIN, "sh", "-c", "echo x > ready; until [ -e go ]; do sleep 0.01; done; echo end",
                       stdout=subprocess.PIPE)
    try:
        wait_for(fx.path("ready"))
        process.send_signal(signal.SIGSTOP)
        _, status = os.waitpid(process.pid, os.WUNTRACED)
        check(os.WIFSTOPPED(status))
        fx.write("go")
        process.send_signal(signal.SIGCONT)
        out, _ = process.communicate(timeout=PATIENCE)
        equal((process.returncode, out), (0, b"end\n"))
    finally:
        process.kill()
        process.wait()


@test("S12 SIGPIPE ends a writer whose reader is gone: 141 in PIPESTATUS")
def sigpipe(fx):
    result = fx.run("bash", "-c", '"$1" yes | head -1; echo ${PIPESTATUS[@]}', "bash", BIN)
    equal(result.stdout, "y\n141 0\n")


@test("S12 ignored and blocked signals are inherited as without us", variants=ALL_VARIANTS)
def signal_state(fx):
    def nothing():
        pass

    def ignoring():
        for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGHUP, signal.SIGTSTP, signal.SIGUSR2,
                       signal.SIGCHLD, signal.SIGXFSZ, signal.SIGSYS):
            signal.signal(number, signal.SIG_IGN)

    def blocking():
        signal.pthread_sigmask(signal.SIG_SETMASK, [signal.SIGTERM, signal.SIGUSR1, signal.SIGCHLD,
                                                    signal.SIGPIPE, signal.SIGRTMIN])

    def pending():
        signal.pthread_sigmask(signal.SIG_SETMASK, [signal.SIGTERM])
        os.kill(os.getpid(), signal.SIGTERM)

    for prepare in (nothing, ignoring, blocking, pending):
        # grep itself is the command, so nothing else has changed its signals
        words = ("grep", "-E", "^(SigBlk|SigIgn|SigCgt|SigPnd|ShdPnd):", "/proc/self/status")
        control = fx.run(*words, preexec_fn=prepare)
        result = fx.sandbash(*words, preexec_fn=prepare)
        equal(result.stdout, control.stdout, prepare.__name__)
        equal(result.status, 0, result.stderr)


@test("S12 with SIGCHLD ignored the sandbox is set up all the same", variants=ALL_VARIANTS)
def sigchld_ignored(fx):
    def ignore():
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)

    result = fx.sandbash("sh", "-c", "touch x; echo ran", preexec_fn=ignore)
    equal((result.status, result.stdout), (0, "ran\n"), result.stderr)
    result = fx.sandbash("--version", preexec_fn=ignore)
    equal(result.status, 0, result.stderr)


@test("S12 nohup works")
def nohup(fx):
    result = fx.run("nohup", BIN, "sh", "-c", "kill -HUP $$; echo alive")
    equal(result.stdout, "alive\n", result.stderr)
    result = fx.sandbash("nohup", "sh", "-c", "kill -HUP $$; echo alive")
    equal(result.stdout, "alive\n", result.stderr)


@test("S12 a timer set by the caller still fires")
def alarm(fx):
    result = fx.sandbash("sleep", "1010",
                         preexec_fn=lambda: signal.setitimer(signal.ITIMER_REAL, 0.2))
    equal(result.status, -signal.SIGALRM)


# --- the process --------------------------------------------------------------------------


@test("S12 umask, directory, user, groups and limits are the caller's", variants=ALL_VARIANTS)
def process_state(fx):
    def prepare():
        os.umask(0o027)
        os.nice(3)
        resource.setrlimit(resource.RLIMIT_NOFILE, (333, 444))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    (fx.project / "sub dir").mkdir()
    script = ("umask; pwd; pwd -P; nice; id -u; id -g; ulimit -Sn; ulimit -Hn; ulimit -c; "
              "readlink /proc/self/cwd")
    same(fx, "sh", "-c", script, preexec_fn=prepare, cwd=fx.project / "sub dir")


@test("S12 the supplementary groups stay in force")
def groups(fx):
    equal(fx.sandbash("id", "-G").stdout, fx.run("id", "-G").stdout)


@test("S12 parent, group, session and pid in a static run are what they would be alone",
      variants=("full", "flat"))
def process_place(fx):
    script = "import os; print(os.getpid(), os.getppid(), os.getpgrp(), os.getsid(0))"
    process = fx.start(*fx.argv("--static", "python3", "-c", script), stdout=subprocess.PIPE,
                       stderr=subprocess.DEVNULL, start_new_session=True)
    out, _ = process.communicate(timeout=PATIENCE)
    equal(out.decode().split(),
          [str(n) for n in (process.pid, os.getpid(), process.pid, process.pid)])


@test("S12 PWD through a link stays as the caller wrote it")
def logical_pwd(fx):
    link = fx.home / "link"
    link.symlink_to(fx.project)
    result = fx.sandbash("sh", "-c", "pwd; pwd -P", cwd=link, env={"PWD": link})
    equal(result.stdout, f"{link}\n{fx.project}\n")


@test("S12 sandbash leaves no process behind")
def no_helpers(fx):
    result = fx.sandbash("sh", "-c", "ps -o pid= --ppid $$ | wc -l; cat /proc/$$/task/$$/children")
    # ps and wc are the shell's own children
    children = result.stdout.split()
    check(len(children) <= 2, f"children of the command: {result.stdout!r}")


@test("S12 what the caller started before is no business of the command's wait()")
def foreign_children(fx):
    # bash forks a child, then replaces itself: a static run inherits a child it did not start,
    # which lives until the command looks
    os.mkfifo(fx.path("end"))
    for flags, answer in (("--static", "0\n"), ("", "none\n")):
        result = fx.run("bash", "-c", f"cat end & exec {BIN} {flags} python3 -c 'if 1:\n"
                        "  import os\n"
                        "  open(\"end\", \"w\").close()\n"
                        "  try: print(os.wait()[1])\n"
                        "  except ChildProcessError: print(\"none\")'")
        equal((result.status, result.stdout), (0, answer), result.stderr)


@test("S12 sandbash ends although a child of its caller's lives on")
def foreign_child_lives(fx):
    """It waits for what belongs to the run, not for what it was given."""
    result = fx.run("bash", "-c", f"sleep 1005 >/dev/null 2>&1 & echo $!; exec {BIN} true")
    equal(result.status, 0, result.stderr)
    os.kill(int(result.stdout), signal.SIGKILL)


@test("S12 /dev/stdout, /dev/stderr, /dev/tty-less sessions and here-documents work",
      variants=ALL_VARIANTS)
def dev_files(fx):
    result = fx.sandbash("bash", "-c",
                         "echo out > /dev/stdout; echo err > /dev/stderr; cat <<< here; "
                         "cat < /dev/stdin; echo x > /dev/null", input="in\n")
    equal((result.status, result.stdout), (0, "out\nhere\nin\n"), result.stderr)
    contains(result.stderr, "err\n")


@test("S12 pipelines of sandboxed commands work")
def pipeline(fx):
    result = fx.run("sh", "-c",
                    'seq 5 | "$1" sort -r | "$1" head -2; "$1" sh -c "exit 4" || echo $?', "sh",
                    BIN)
    equal(result.stdout, "5\n4\n4\n")


@test("S12 xargs, find -exec and make-like callers work")
def callers(fx):
    result = fx.run("sh", "-c",
                    'seq 3 | xargs -n1 "$1" echo; find . -maxdepth 0 -exec "$1" echo {} ";"; '
                    'timeout 100 "$1" echo t; env X=1 "$1" sh -c "echo \\$X"', "sh", BIN)
    equal(result.stdout, "1\n2\n3\n.\nt\n1\n", result.stderr)


@test("S12 timeout(1) ends a sandboxed command: 124")
def timeout(fx):
    result = fx.run("timeout", "0.2", BIN, "sleep", "1020")
    equal(result.status, 124)


@test("S12 shared memory, semaphores and multiprocessing work inside", variants=("full", "flat"))
def shared_memory(fx):
    script = ("import multiprocessing as m, tempfile\n"
              "if __name__ == '__main__':\n"
              "    l = m.Lock(); q = m.Queue(); p = m.Process(target=q.put, args=(5,)); p.start()\n"
              "    print(q.get()); p.join(); tempfile.TemporaryFile().write(b'x')\n")
    result = fx.sandbash("python3", "-c", script)
    equal((result.status, result.stdout), (0, "5\n"), result.stderr)


run_all()
