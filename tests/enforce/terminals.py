"""ESCAPES terminal: nothing is typed into it from inside; job control and size still work (S12)."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
from pathlib import Path

from attack import act, boxed, refused, works
from marked import running
from tap import ALL_VARIANTS, PATIENCE, SUPERVISED, check, contains, equal, lacks, run_all, test, wait

NO = ("EPERM", "EACCES")


def typed(fx, words):
    """Run words on a terminal whose foreground shell reads a line: what was typed into it."""
    term = fx.terminal("bash", "--norc", "-c", '"$@" 2>err; stty -icanon -echo min 0 time 1; '
                       'printf "<%s>" "$(dd bs=64 count=1 2>/dev/null)"', "-", *words)
    term.expect(r"<.*>")
    status = term.wait()
    return term.output, status


def register(how):
    @test(f"ESCAPES terminal: TIOC{'STI' if 'sti' in how else how.upper()} {how}",
          variants=ALL_VARIANTS)
    def injected(fx):
        attack = [fx.tool("act"), "terminal", how, "fd:0"]
        output, _ = typed(fx, fx.argv(*attack))
        contains(output, "<>", "nothing was typed")
        check(fx.read("err").split()[-1] in NO, fx.read("err"))
        output, _ = typed(fx, attack)
        # A kernel may forbid it to everybody (dev.tty.legacy_tiocsti): nothing to defend then.
        if how.startswith("sti") and "<X>" not in output:
            check(fx.read("err").split()[-1:] in (["EIO"], ["EPERM"]), f"control: {fx.read('err')}")
        output, _ = typed(fx, fx.argv(fx.tool("act"), "terminal", "size", "fd:0"))
        lacks(fx.read("err"), "EPERM", "neighbour: its size")


for how in ("sti", "sti-high", "sti-negative"):
    register(how)


@test("ESCAPES terminal: TIOCSTI on /dev/tty and on the path of the terminal",
      variants=ALL_VARIANTS)
def by_path(fx):
    for path in ("/dev/tty", "$(tty)", "/proc/self/fd/0"):
        script = f"{fx.tool('act')} terminal sti {path}"
        output, _ = typed(fx, fx.argv("sh", "-c", script))
        contains(output, "<>", path)
        check(fx.read("err").split()[-1] in NO, fx.read("err"))


@test("ESCAPES terminal: TIOCLINUX", variants=ALL_VARIANTS)
def linux_console(fx):
    """Paste and screen dumps of the console; on other terminals the kernel knows no such call."""
    output, _ = typed(fx, fx.argv(fx.tool("act"), "terminal", "linux", "fd:0"))
    equal(fx.read("err").split()[-1], "EPERM")
    _, _ = typed(fx, [fx.tool("act"), "terminal", "linux", "fd:0"])
    check(fx.read("err").split()[-1:] != ["EPERM"], "control: not the kernel's answer")


@test("ESCAPES terminal: it cannot be kept from others", variants=ALL_VARIANTS)
def exclusive(fx):
    script = ("import fcntl, os, termios; a, b = os.openpty(); fcntl.ioctl(b, termios.TIOCNXCL); "
              "print('neighbour', flush=True); fcntl.ioctl(b, termios.TIOCEXCL)")
    works(fx.run("python3", "-c", script), "control")
    result = fx.sandbash("python3", "-c", script)
    equal(result.stdout, "neighbour\n")
    contains(result.stderr, "Operation not permitted")


@test("ESCAPES terminal: it goes on showing what is written", variants=ALL_VARIANTS)
def mute(fx):
    script = ("import os, termios, select; a, b = os.openpty(); os.set_blocking(b, False); termios.tcflow(b, termios.TCOON); "
              "print('neighbour', flush=True); termios.tcflow(b, termios.TCOOFF); {}")
    seen = "os.write(b, b'x'); print(select.select([a], [], [], 0.1)[0])"
    result = fx.run("python3", "-c", script.format(f"\ntry: {seen}\nexcept BlockingIOError: print('mute')"))
    check("[]" in result.stdout or "mute" in result.stdout, f"control: {result}")
    result = fx.sandbash("python3", "-c", script.format(seen))
    equal(result.stdout, "neighbour\n")
    contains(result.stderr, "Operation not permitted")


@test("ESCAPES terminal: another line discipline", variants=ALL_VARIANTS)
def line_discipline(fx):
    script = ("import fcntl, os, struct, termios; a, b = os.openpty(); "
              "print(struct.unpack('i', fcntl.ioctl(b, termios.TIOCGETD, b'....'))[0], flush=True); "
              "fcntl.ioctl(b, termios.TIOCSETD, struct.pack('i', 0))")
    works(fx.run("python3", "-c", script), "control")
    result = fx.sandbash("python3", "-c", script)
    check(result.status != 0)
    contains(result.stderr, "Operation not permitted")
    contains(result.stdout, "0", "neighbour: which one it has")


@test("ESCAPES terminal: TIOCSTI on a terminal of its own", variants=ALL_VARIANTS)
def own(fx):
    script = ("import fcntl, os, termios; a, b = os.openpty(); "
              "fcntl.ioctl(b, termios.TIOCSTI, b'X')")
    result = fx.sandbash("python3", "-c", script)
    check(result.status != 0)
    contains(result.stderr, "Operation not permitted")
    works(boxed(fx, "pty"), "neighbour: terminals can be made")


@test("S12 terminals inside: script and new ones work", variants=ALL_VARIANTS)
def new_terminals(fx):
    result = fx.sandbash("script", "-qec", "tty && echo made", "/dev/null")
    works(result)
    contains(result.stdout, "made")
    contains(result.stdout, "/dev/pts/")


def state(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return None


@test("S12 the terminal's size, Ctrl-C and Ctrl-Z reach the command", variants=ALL_VARIANTS)
def controls(fx):
    term = fx.sandbash_terminal("bash", "-c",
                                'trap "echo winch; stty size" WINCH; trap "echo int" INT; '
                                'echo ready; while :; do sleep 0.05; done', rows=30, columns=90)
    term.expect("ready")
    term.resize(40, 100)
    term.expect("winch\r\n40 100")
    term.send("\x03")
    term.expect("int")
    term.close()
    shell = fx.terminal("bash", "--norc", "-i", env={"PS1": "PROMPT> "})
    shell.expect("PROMPT> ")
    seconds = f"1030.{os.getpid()}{ALL_VARIANTS.index(fx.variant)}"  # nobody else sleeps so long
    command = " ".join(fx.argv("sh", "-c", f"'echo started; exec sleep {seconds}'"))
    shell.send(command + "\n")
    shell.expect("started\r\n")
    shell.send("\x1a")
    shell.expect("Stopped")
    shell.expect("PROMPT> ")
    shell.send("fg\n")
    wait(lambda: [state(pid) for pid in running(seconds)] == ["S"], "it does not go on")
    shell.send("\x03")
    shell.expect("PROMPT> ")
    shell.send("echo status $?\n")
    shell.expect("status 130")


@test("ESCAPES terminal: escape sequences in names are shown escaped", variants=("full", "flat"))
def escapes(fx):
    evil = "x\x1b]0;owned\x07\x1b[2J\r\n"
    fx.path(evil).mkdir()
    for words in ([f"--allow-write={evil}missing", "true"], [f"--allow-read=/{evil}", "true"],
                  [f"--policy={evil}no", "true"], [f"--mode={evil}", "true"],
                  [f"--project={evil}no", "true"], [f"--keep-fd={evil}", "true"],
                  [evil + "command"]):
        result = fx.sandbash(*words)
        for text in (result.stderr, result.stdout):
            lacks(text, "\x1b", str(words))
            lacks(text, "\x07", str(words))
            lacks(text, "\r", str(words))
    for flag in ("--dry-run", "--status", "--print-policy", "--list-paths"):
        result = fx.sandbash(flag, cwd=fx.path(evil))
        lacks(result.stdout + result.stderr, "\x1b", flag)


# Without mounts only a supervisor can tell the run's terminals from others.
HELD = ("full", "flat") if SUPERVISED else ("full",)


@test("ESCAPES terminal: another terminal of the user", variants=HELD)
def other_terminal(fx):
    """Reading it would take what the user types into another window."""
    master, slave = pty.openpty()
    try:
        path = os.ttyname(slave)
        for how in ("rdonly+nonblock", "rdwr+nonblock"):
            refused(boxed(fx, "open", how, path), ("EACCES", "EPERM", "ENOENT", "EROFS", "EIO"),
                    how)
        ready, _, _ = select.select([master], [], [], 0.1)
        equal(ready, [], "nothing was written to it")
        works(act(fx, "open", "rdwr+nonblock", path), "control")
        if not SUPERVISED:
            said = fx.sandbash("true", without="userns").stderr
            contains(said, "terminals", "without namespaces it says that it cannot hold this")
    finally:
        os.close(master)
        os.close(slave)
    works(boxed(fx, "pty"), "neighbour")


def later(fx, *flags):
    """Start a run, then open a terminal outside: what opening it by name answers inside."""
    act_ = fx.tool("act")
    script = (f'echo ready; read path; "{act_}" open rdonly+nonblock "$path" 2>&1; echo "r=$?"; '
              f'"{act_}" open rdwr+nonblock "$path" 2>&1; echo "w=$?"; ls /dev/pts; '
              f'"{act_}" pty && echo made')
    run = fx.start(*fx.argv(*flags, "sh", "-c", script), stdin=subprocess.PIPE,
                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    try:
        line = run.stdout.readline()
        while line and line != b"ready\n":
            line = run.stdout.readline()
        check(line, "it did not start")
        # several: a number that is free inside must not lead to one that is taken outside
        pairs = [pty.openpty() for _ in range(3)]
        try:
            path = os.ttyname(pairs[-1][1])
            out, _ = run.communicate(path.encode() + b"\n", timeout=PATIENCE)
            ready, _, _ = select.select([pairs[-1][0]], [], [], 0.1)
            works(act(fx, "open", "rdwr+nonblock", path), "control")
        finally:
            for fd in sum(pairs, ()):
                os.close(fd)
    finally:
        if run.poll() is None:
            run.kill()
        run.wait()
        for stream in (run.stdin, run.stdout, run.stderr):
            stream.close()
    return os.path.basename(path), out.decode(), ready


@test("ESCAPES terminal: one that is opened after the start", variants=HELD)
def opened_later(fx):
    """A /dev/pts of the run's own has nothing of the user's in it, now or later."""
    number, said, written = later(fx)
    equal(written, [], "nothing was written to it")
    contains(said, "r=1", "reading")
    contains(said, "w=1", "writing")
    if fx.variant == "full":
        lacks(said.split(), number, "it has no name inside")
    contains(said, "made", "neighbour: the run makes its own")
    # other terminals, if there are any just now, can then be read where there are no namespaces
    number, said, _ = later(fx, "--best-effort", "--allow-write=/dev/pts")
    contains(said, "w=0", "a rule of the user's for the real ones")


@test("ESCAPES terminal: the caller's own, on which questions are asked", variants=HELD)
def callers(fx):
    """Whoever opens it reads the answer, or draws over the question."""
    fx.write("try.sh", f"""
read path
for how in rdonly+nonblock rdwr+nonblock; do "{fx.tool('act')}" open $how "$path"; echo "$how=$?"; done
"{fx.tool('act')}" open rdwr+nonblock "$(tty)"; echo "own=$?"
""")
    if not SUPERVISED:
        return  # it is the command's own
    first = pty.openpty()  # so that the number means nothing inside
    term = fx.sandbash_terminal("sh", "try.sh")
    for fd in first:
        os.close(fd)
    term.send(f"{term.name}\n")
    term.expect("rdonly.nonblock=1")
    term.expect("rdwr.nonblock=1")
    term.expect("own=0")
    works(act(fx, "open", "rdwr+nonblock", term.name), "control")
    term.wait()


@test("ESCAPES terminal: who else may use the caller's", variants=HELD)
def others_may(fx):
    """Its mode, owner and times, by the descriptors that the command has of it, where it has no terminal of its own."""
    fx.write("try.py", """import os
def tried(act):
    try: return act() or "done"
    except OSError as error: return type(error).__name__
print("mode", *(tried(lambda: os.fchmod(fd, 0o666)) for fd in range(3)), tried(lambda: os.utime(0, (1, 1))),
      "open", tried(lambda: os.close(os.open(os.ttyname(0), os.O_RDWR))), "end")
""")

    def left(term):
        said = term.expect("mode(.*)end").group(1)
        equal(term.wait(), 0)
        return said.split()

    term = fx.terminal("sh", "-c", "python3 try.py; stat -c 'bits %a' $(tty)")
    contains(" ".join(left(term)), "done done done done open done", "control")
    contains(term.output, "bits 666", "control")
    script = 'b=$(stat -c %a "$(tty)"); "$@"; test "$b" = "$(stat -c %a "$(tty)")" && echo same'
    term = fx.terminal("sh", "-c", script, "-", *fx.argv(*(["--consent=deny"] if SUPERVISED else []), "--quiet", "python3", "try.py"))
    equal([word for word in left(term) if word not in ("PermissionError", "OSError")], ["open", "done"])
    contains(term.output, "same")


@test("S12 the command's terminal has a name, and can be opened by it", variants=("full", "flat"))
def named(fx):
    script = ('t=$(tty) && echo "name $t" && echo by-name > "$t" && echo by-tty > /dev/tty && '
              'echo by-link > /dev/stdout && test -c "$t" && exec 3<> /proc/self/fd/0 && '
              'stty -F "$t" size && echo "end"')
    for flags in ((), ("--consent=deny",)):
        term = fx.sandbash_terminal(*flags, "sh", "-c", script, rows=31, columns=91)
        for part in ("name /dev/", "by-name", "by-tty", "by-link", "31 91", "end"):
            term.expect(part)
        equal(term.wait(), 0)


@test("S12 terminals inside terminals: script, python, expect, tmux, vim",
      variants=("full", "flat"))
def programs(fx):
    for words in (["script", "-qec", "test -t 0 && tty && echo made > /dev/tty", "/dev/null"],
                  ["python3", "-c", "import os, pty; pty.spawn(['sh', '-c', 'test -t 0 && tty && "
                   "echo made >/dev/tty'])"],
                  ["expect", "-c", "set timeout -1; spawn sh -c {tty && echo made}; expect made"]):
        term = fx.sandbash_terminal(*words)
        term.expect("/dev/pts/[0-9]")
        term.expect("made")
        equal(term.wait(), 0, words[0])
    term = fx.sandbash_terminal("tmux", "-L", "t", "-f", "/dev/null", "new-session",
                                "tty; echo ma''de; until [ -e seen ]; do sleep 0.05; done",
                                env={"TMUX_TMPDIR": fx.project})
    term.expect("/dev/pts/[0-9]")
    term.expect("made")
    fx.write("seen")
    equal(term.wait(), 0, "tmux")
    term = fx.sandbash_terminal("vim", "-u", "NONE", "-c", "terminal ++curwin tty")
    term.expect("/dev/pts/[0-9]")
    term.close()


@test("ESCAPES terminal: its size and modes are the caller's after the run", variants=ALL_VARIANTS)
def restored(fx):
    """A run without a terminal of its own leaves it as the command left it: nothing is added."""
    master, slave = pty.openpty()
    try:
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 77, 0, 0))
        before = termios.tcgetattr(slave)
        fx.sandbash("true", stdin=slave)
        equal(termios.tcgetattr(slave), before)
        size = struct.unpack("HHHH", fcntl.ioctl(slave, termios.TIOCGWINSZ, b"\0" * 8))
        equal(size[:2], (33, 77))
    finally:
        os.close(master)
        os.close(slave)


run_all()
