"""watch.py - C9: all runs in one place: their questions, what was answered, and taking it back."""

import fcntl
import json
import os
import select
import signal
import socket
import subprocess
import time

from runs import Run, files, run_dir
from tap import BIN, PATIENCE, check, contains, equal, lacks, run_all, test, wait
from watcher import Watcher

WAIT = "while [ ! -e go ]; do sleep 0.05; done; "


class Lines:
    """sandbash --watch --json, read by a program."""

    def __init__(self, fx, *args):
        self.process = fx.start(BIN, "--watch", *args, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        fx._terminals.append(self)
        self.text = b""
        os.set_blocking(self.process.stdout.fileno(), False)

    def until(self, condition, message):
        def look():
            self.text += self.process.stdout.read() or b""
            lines = self.text.split(b"\n")[:-1]
            return condition([line.decode() for line in lines])
        return wait(look, lambda: f"{message}: {self.text.decode()}")

    def event(self, **fields):
        def look(lines):
            for line in map(json.loads, lines):
                if all(line.get(key) == value for key, value in fields.items()):
                    return line
            return None
        return self.until(look, f"no event with {fields}")

    def close(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.communicate(timeout=PATIENCE)


def write_outside(fx, name="file", then="exit $?"):
    return ("sh", "-c", f"echo landed > {fx.outside}/{name}; {then}")


# --- questions -------------------------------------------------------------------------------------


@test("C9 --consent=watch asks there only, says once where, and what is approved lands")
def approve(fx):
    run = Run(fx, "--consent=watch", "sh", "-c",
              f"echo 1 > {fx.outside}/one; echo 2 > {fx.outside}/two; exit 4")
    check(not fx.exists(fx.outside / "one"), "not before the answer")
    watcher = Watcher(fx)
    screen = watcher.sees("1 run, 1 question", "wants to create", fx.outside / "one", run.session,
                          f"pid {run.process.pid}", "workspace-write", str(fx.project))
    lacks(screen, "Press ")
    watcher.has_focus("wants to create")
    screen = watcher.open(fx.outside / "one")
    contains(screen, "your word: " + (fx.home / ".config/sandbash/word").read_text().strip())
    contains(screen, "Esc: later")
    watcher.answer("1")
    watcher.sees("allowed once: create", fx.outside / "two", "1 question")
    watcher.go_to("wants to create")
    equal(fx.read(fx.outside / "one"), "1\n")
    watcher.open(fx.outside / "two")
    watcher.answer("3")
    status, _, err = run.end()
    equal(status, 4)
    equal(os.listdir(fx.outside), ["one"])
    watcher.sees("0 runs", "ended: sh -c")
    equal(err.count("sandbash --watch"), 1, err)
    watcher.leave()
    equal(files(fx), [])


@test("C9 --consent=watch with nobody there waits, and --ask-timeout ends that")
def nobody(fx):
    run = Run(fx, "--consent=watch", "--ask-timeout=1", *write_outside(fx, then="exit 7"))
    status, _, err = run.end()
    equal(status, 7)
    contains(err, "answer it in another terminal: sandbash --watch")
    check(not fx.exists(fx.outside / "file"), "nothing landed")


@test("C9 --consent=watch leaves the run's own terminal to the command")
def own_terminal(fx):
    term = fx.sandbash_terminal("--consent=watch", "sh", "-c",
                                f"echo x > {fx.outside}/file; echo done", replies=True)
    term.expect("sandbash --watch")
    watcher = Watcher(fx)
    watcher.sees("wants to create")
    term.settle()
    lacks(term.screen(), "wants to create")
    watcher.open()
    watcher.answer("1")
    term.expect("done")
    equal(term.wait(), 0)
    check(fx.exists(fx.outside / "file"), "it landed")


@test("C9 auto: a run with nobody to ask is asked about as soon as somebody watches; not a program")
def auto(fx):
    run = Run(fx, "sh", "-c", WAIT + f"echo x > {fx.outside}/file")
    lines = Lines(fx, "--json")
    lines.event(event="run", session=run.session)
    fx.write("go")
    check(run.end()[0] != 0, "who only looks is nobody to ask")
    os.unlink(fx.path("go"))
    run = Run(fx, "sh", "-c", WAIT + f"echo x > {fx.outside}/file")
    watcher = Watcher(fx)
    watcher.sees(run.session, "workspace-write")
    lines.event(event="run", session=run.session)
    fx.write("go")
    watcher.sees("wants to create")
    question = lines.event(event="question", session=run.session)
    equal(question["path"], str(fx.outside / "file"))
    watcher.open()
    watcher.answer("1")
    equal(run.end()[0], 0)
    lines.event(event="withdrawn", session=run.session, id=question["id"])
    lines.event(event="ended", session=run.session)
    lines.event(event="perform", session=run.session, path=str(fx.outside / "file"))
    check(fx.exists(fx.outside / "file"), "it landed")


@test("C9 the run's own terminal and a watcher: whoever is first, and the other is told")
def both_terminals(fx):
    watcher = Watcher(fx)
    for answers in ("own", "watcher"):
        target = fx.outside / answers
        own = fx.sandbash_terminal("sh", "-c", f"echo x > {target}; echo done", replies=True)
        wait(lambda: own.settle(0.02, 0.1) or "Press " in own.screen(), "it shows on its own")
        watcher.sees(target, "1 question")
        watcher.go_to("wants to create")
        watcher.open(target)
        if answers == "own":
            own.answer("1")
            watcher.sees("answered on the run's own terminal", "sandbash --watch:")
        else:
            watcher.answer("1")
        own.expect("done")
        equal(own.wait(), 0)
        if answers == "watcher":
            contains(own.screen(), "answered on another terminal")
        check(target.exists(), "it landed")
        watcher.sees("0 runs")
    watcher.leave()


@test("C9 several questions of two runs: the focus moves by keys only, and what is gone gives it to nobody")
def focus(fx):
    first = Run(fx, "--consent=watch", *write_outside(fx, "a", WAIT.strip("; ")))
    watcher = Watcher(fx)
    watcher.sees(fx.outside / "a")
    watcher.go_to("/a")
    second = Run(fx, "--consent=watch", *write_outside(fx, "b"))
    third = Run(fx, "--consent=watch", *write_outside(fx, "c"))
    watcher.sees("3 runs, 3 questions")
    watcher.has_focus("/a")
    for key, seen in (("j", "/b"), ("\x1b[B", "/c"), ("k", "/b"), ("\x1bOA", "/a"), ("k", "/a"), ("\t", "/b")):
        watcher.term.send(key)
        watcher.has_focus(seen)
    second.process.kill()
    second.process.communicate()
    watcher.sees("2 runs, 2 questions", "the question is gone")
    wait(lambda: watcher.focus() is None, "something has the focus")
    watcher.press("\r")
    watcher.term.settle()
    lacks(watcher.term.screen(), "sandbash asks you")
    watcher.go_to("/c")
    watcher.open(fx.outside / "c")
    watcher.answer("1")
    watcher.sees("1 question", "allowed once")
    equal(third.end()[0], 0)
    watcher.has_focus("/a")
    watcher.open(fx.outside / "a")
    fourth = Run(fx, "--consent=watch", *write_outside(fx, "d"))  # changes nothing of what shows
    watcher.term.settle(0.3, 1)
    contains(watcher.sees("sandbash asks you"), str(fx.outside / "a"))
    watcher.press("\x1b")  # later
    watcher.sees("2 questions")
    watcher.has_focus("/a")
    equal(sorted(os.listdir(fx.outside)), ["c"])
    equal(first.process.poll(), None)
    equal(files(fx), sorted([first.session, fourth.session]))
    first.stop()
    fourth.stop()


@test("C9 keys typed before a question shows answer nothing, nor does a paste do anything on the list")
def type_ahead(fx):
    run = Run(fx, "--consent=watch", *write_outside(fx))
    watcher = Watcher(fx)
    watcher.sees("wants to create")
    watcher.go_to("wants to create")
    watcher.term.send("1")
    watcher.term.settle()
    watcher.term.send("\r1")  # not alone: it opens nothing
    watcher.term.settle(0.3, 1)
    lacks(watcher.term.screen(), "sandbash asks you")
    for part in ("\x1b[200~", "\r", "q", "\x1b[201~"):  # a paste that comes in pieces
        watcher.term.send(part)
        watcher.term.settle(0.1, 1)
    lacks(watcher.term.screen(), "sandbash asks you")
    watcher.term.send("\r")
    check(select.select([watcher.term.master], [], [], PATIENCE)[0], "it opens")
    watcher.term.send("1")  # before the terminal has told that it shows
    watcher.sees("sandbash asks you")
    for _ in range(10):  # a hand in the middle of typing: no key is alone, however busy the machine
        watcher.term.send("1x")
        watcher.term.settle(0.02, 0.05)
    watcher.sees("too fast")
    equal(run.process.poll(), None)
    check(not fx.exists(fx.outside / "file"), "nothing landed")
    watcher.answer("1")
    equal(run.end()[0], 0)
    watcher.sees("0 runs")
    watcher.leave()


@test("C9 a window too small shows no question, and no key allows it")
def small(fx):
    run = Run(fx, "--consent=watch", *write_outside(fx))
    watcher = Watcher(fx, rows=12)
    watcher.sees("wants to create")
    watcher.go_to("wants to create")
    watcher.term.resize(6, 60)
    watcher.sees("sandbash --watch:")
    watcher.press("\r")
    watcher.sees("enlarge the window")
    watcher.press("1")
    watcher.term.settle(0.5, 1)
    equal(run.process.poll(), None)
    watcher.press("\x1b")
    watcher.sees("sandbash --watch:")
    watcher.term.resize(3, 20)
    watcher.sees("enlarge the window")
    watcher.term.resize(24, 100)
    watcher.open(fx.outside / "file")
    watcher.answer("1")
    equal(run.end()[0], 0)


@test("C9 a watcher killed at a question leaves it open, and a run killed takes it away")
def killed(fx):
    run = Run(fx, "--consent=watch", *write_outside(fx))
    for how in (signal.SIGKILL, None):
        watcher = Watcher(fx)
        watcher.go_to("wants to create")
        watcher.open()
        equal(run.clients(), 1)
        if how:
            watcher.term.process.send_signal(how)
            watcher.term.process.wait()
        else:
            watcher.term.close()
        wait(lambda: run.clients() == 0, "its end is not noticed")
        equal(run.process.poll(), None)
        check(not fx.exists(fx.outside / "file"), "not answered by dying")
    watcher = Watcher(fx)
    watcher.go_to("wants to create")
    watcher.open()
    run.process.kill()
    run.process.communicate()
    watcher.sees("sandbash --watch: 0 runs", "the question is gone: the run has ended", "ended: ")
    wait(lambda: not files(fx), "what it left is removed")
    watcher.leave()


@test("C9 a watcher that goes leaves the question where it was asked otherwise")
def goes_back(fx):
    own = fx.sandbash_terminal("sh", "-c", f"echo x > {fx.outside}/file; echo done", replies=True)
    wait(lambda: own.settle(0.02, 0.1) or "Press " in own.screen(), "it shows on its own")
    watcher = Watcher(fx)
    watcher.go_to("wants to create")
    watcher.open()
    watcher.term.process.kill()
    watcher.term.process.wait()
    contains(own.answer("1"), "wants to create")
    own.expect("done")
    equal(own.wait(), 0)
    check(fx.exists(fx.outside / "file"), "it landed")


@test("C9 the terminal is as it was, however the watcher ends")
def terminal_restored(fx):
    run = Run(fx, "--consent=watch", *write_outside(fx))
    term = fx.terminal("bash", "--noprofile", "--norc", "-i", replies=True, columns=150)
    term.send("PS1='$ '; stty -g > before; echo stands\n")
    term.expect("stands\r\n")
    for key, opened in (("q", False), ("\x03", False), (signal.SIGTERM, False), (signal.SIGTERM, True),
                        (signal.SIGINT, True), (signal.SIGHUP, True)):
        term.send(f"{BIN} --watch; echo status=$?\n")
        wait(lambda: term.settle(0.02, 0.1) or "wants to create" in term.screen(), "it shows")
        if opened:
            term.send("\r")
            wait(lambda: term.settle(0.02, 0.1) or "Press " in term.screen(), "the question shows")
        lacks(term.screen(), "stands")
        if isinstance(key, str):
            term.send(key)
        else:
            os.kill(term.foreground(), key)
        wait(lambda: term.settle(0.02, 0.1) or "status=0" in term.screen(),
             lambda: f"no end by {key!r}:\n{term.screen()}")
        contains(term.screen(), "stands")
        term.send("stty -g | cmp - before && echo sa''me; clear; echo stands\n")
        term.expect("same\r\n")
        term.settle()
    equal(run.process.poll(), None)
    run.stop()


@test("C9 names with escape sequences are shown as text: in the list, in what holds, in lines")
def hostile_names(fx):
    name = "x\x1b[2J\x1b[H 1  deny\r\nallow\u202e"
    fx.write("go.sh", f"echo x > '{fx.outside}/{name}'; {WAIT}exit 3")
    lines = Lines(fx)
    run = Run(fx, "--consent=watch", "sh", "go.sh")
    watcher = Watcher(fx, columns=200)
    shown = "x\\e[2J\\e[H 1\\x20{2}deny\\r\\nallow"
    screen = watcher.sees("wants to create", shown)
    lacks(screen, "\u202e")
    watcher.go_to("wants to create")
    contains(watcher.open(), shown)
    watcher.answer("1")
    screen = watcher.sees("allowed once, to process", "perform")
    equal(screen.count("allowed once"), 2)
    equal(screen.count(shown + "\\u{202e}"), screen.count("\\u{202e}"))
    fx.write("go")
    equal(run.end()[0], 3)
    found = lines.until(lambda all: [line for line in all if " ended: " in line] and all, "no end")
    check(any(shown in line for line in found), found)
    for line in found:
        check(line.isprintable(), line)


# --- answers that hold --------------------------------------------------------------------------------


def steps(fx, *commands):
    """A script that does each as soon as the file of its number is there, and says how it went."""
    body = "".join(f"while [ ! -e go{i} ]; do sleep 0.05; done; {command} 2>/dev/null; echo $? > st.new; "
                   f"mv st.new st{i}\n" for i, command in enumerate(commands))
    fx.write("steps.sh", body + "exit 9")
    return "sh", "steps.sh"


def step(fx, number):
    fx.write(f"go{number}")


def status_of(fx, number):
    wait(lambda: fx.exists(f"st{number}"), f"step {number} does not end")
    return int(fx.read(f"st{number}"))


@test("C9 a directory that was allowed is taken back: the next call asks again; so is a denial")
def take_back(fx):
    out = fx.outside
    run = Run(fx, "--consent=watch", *steps(fx, f"touch {out}/a", f"touch {out}/b", f"touch {out}/c",
                                            f"touch {out}/c", f"touch {out}/c"))
    watcher = Watcher(fx)
    step(fx, 0)
    watcher.sees("wants to create")
    watcher.go_to("wants to create")
    watcher.open()
    watcher.answer("2")
    equal(status_of(fx, 0), 0)
    step(fx, 1)  # covered
    equal(status_of(fx, 1), 0)
    watcher.sees(f"allowed for this run: change everything in {out}")
    watcher.go_to("allowed for this run")
    contains(watcher.term.screen(), "t: take it back")
    watcher.press("t")
    watcher.sees(f"taken back: allowed for this run: change everything in {out}")
    step(fx, 2)
    watcher.sees(out / "c", "1 question")
    watcher.go_to("wants to create")
    watcher.open(out / "c")
    watcher.answer("3")
    check(status_of(fx, 2) != 0, "denied")
    step(fx, 3)
    check(status_of(fx, 3) != 0, "still denied, unasked")
    watcher.sees(f"denied for this run: change {out}/c")
    watcher.go_to("denied for this run")
    watcher.press("t")
    watcher.sees("taken back: denied")
    step(fx, 4)
    watcher.sees("1 question")
    watcher.go_to("wants to create")
    watcher.open(out / "c")
    watcher.answer("1")
    equal(status_of(fx, 4), 0)
    equal(run.end()[0], 9)
    log = fx.sandbash("--log").stdout
    equal(log.count(" revoke "), 2, log)


@test("C9 what is taken back is forgotten by the session that would have kept it")
def take_back_session(fx):
    run = Run(fx, "--session=kept", "--consent=watch", *steps(fx, f"touch {fx.outside}/a"))
    kept = fx.home / ".local/state/sandbash/sessions/kept"
    watcher = Watcher(fx)
    step(fx, 0)
    watcher.sees("wants to create")
    watcher.go_to("wants to create")
    watcher.open()
    watcher.answer("2")
    equal(run.end()[0], 9)
    contains(fx.read(kept), str(fx.outside))
    os.unlink(fx.path("st0"))
    (fx.home / "other").mkdir()
    run = Run(fx, "--session=kept", "--consent=watch", *steps(fx, f"touch {fx.home}/other/a", "true"))
    watcher.sees(run.session, "wants to create", "other")
    watcher.go_to("wants to create")
    watcher.open()
    watcher.answer("2")
    equal(status_of(fx, 0), 0)
    contains(fx.read(kept), "other")
    watcher.go_to("allowed for this run")
    watcher.press("t")
    watcher.sees("taken back")
    lacks(fx.read(kept), "other")
    contains(fx.read(kept), str(fx.outside))
    run.stop()


def type_rule(watcher, text):
    watcher.press("a")
    watcher.sees("rule for ")
    for c in text:
        watcher.term.send(c)
    watcher.sees(text)
    watcher.term.send("\r")
    watcher.loses("rule for ")


@test("C9 a rule is added to a run: what it covers is not asked, a guarded name is; and who waits goes on")
def add(fx):
    out = fx.outside
    run = Run(fx, "--consent=watch", *steps(fx, f"touch {out}/a", f"touch {out}/b",
                                            f"mkdir {out}/.vscode && echo '{{}}' > {out}/.vscode/tasks.json"))
    watcher = Watcher(fx)
    step(fx, 0)
    watcher.sees("wants to create", "1 question")
    watcher.go_to(run.session + "  pid")
    type_rule(watcher, f"write {out}")
    watcher.sees(f"added for this run: write {out}", "0 questions")
    equal(status_of(fx, 0), 0)
    step(fx, 1)
    equal(status_of(fx, 1), 0)
    step(fx, 2)
    watcher.sees("1 question", ".vscode")
    watcher.go_to("wants to")
    watcher.open(".vscode")
    watcher.answer("3")
    check(status_of(fx, 2) != 0, "a guarded name is a question of its own")
    equal(run.end()[0], 9)
    contains(fx.sandbash("--log").stdout, "added for this run")


@test("C9 what a rule added to a run cannot do: open home, what a rule denies or a guard holds, close the project")
def add_refused(fx):
    (fx.home / ".config/autostart").mkdir(parents=True)
    (fx.home / "secret").mkdir()
    run = Run(fx, f"--deny={fx.home}/secret", "--consent=watch",
              *steps(fx, f"touch {fx.home}/x", f"touch {fx.home}/.config/autostart/x.desktop"))
    watcher = Watcher(fx, columns=220)
    watcher.go_to(run.session)
    for rule, answer in ((f"write {fx.home}", "cannot be opened as a whole"),
                         ("write /", "'write', 'read' or 'deny', and a path"),
                         (f"write {fx.home}/secret", "stays closed"),
                         (f"write {fx.home}/.config/autostart", "name by name"),
                         (f"deny {fx.project}", "do not change any more"),
                         (f"write {fx.home}/nothing", "No such file"),
                         (f"write {fx.home}/*", "no wildcards"),
                         ("network on", "not a rule"),
                         (f"write {fx.project}", "say so already")):
        type_rule(watcher, rule)
        watcher.sees(answer)
    watcher.press("a")
    watcher.sees("rule for ")
    watcher.term.send(f"write {fx.outside}\r")  # a paste: its end does not count
    watcher.term.settle(0.3, 1)
    watcher.sees("rule for ")
    watcher.press("\x1b")
    watcher.loses("rule for ")
    watcher.press("a")
    watcher.sees("rule for ")
    for part in ("\x1b[200~", f"write {fx.outside}", "\r", "\x1b[201~"):  # one that comes in pieces
        watcher.term.send(part)
        watcher.term.settle(0.1, 1)
    watcher.sees("rule for ", f"write {fx.outside}")
    lacks(watcher.term.screen(), "added for this run")
    watcher.press("\x1b")
    watcher.loses("rule for ")
    step(fx, 0)
    watcher.sees("1 question")
    watcher.go_to("wants to create")
    watcher.open()
    watcher.answer("3")
    check(status_of(fx, 0) != 0, "denied")
    step(fx, 1)
    watcher.sees("1 question")
    watcher.go_to("wants to create")
    watcher.open()
    watcher.answer("3" if "3  " in watcher.term.screen() else "2")
    check(status_of(fx, 1) != 0, "denied")
    equal(run.end()[0], 9)


# --- who is there ------------------------------------------------------------------------------------------


@test("C9 lines: a run that comes, its refusals and its end; --json the same; nobody there to read ends it")
def lines(fx):
    text, program = Lines(fx), Lines(fx, "--json")
    run = Run(fx, "sh", "-c", WAIT + f"echo x > {fx.outside}/file; exit 3")
    text.until(lambda all: any(f"{run.session} run: sh -c" in line for line in all), "no run")
    event = program.event(event="run", session=run.session)
    equal((event["process"], event["mode"], event["asks"]), (run.process.pid, "workspace-write", True))
    fx.write("go")
    equal(run.end()[0], 3)
    program.event(event="deny", session=run.session, path=str(fx.outside / "file"), by="nobody")
    program.event(event="ended", session=run.session)
    text.until(lambda all: any("deny" in line and "by nobody" in line for line in all), "no refusal")
    text.process.terminate()
    equal(text.process.wait(PATIENCE), 0)
    program.process.stdout.close()
    program.process.wait(PATIENCE)
    check(not fx.exists(fx.outside / "file"), "nobody answered")


@test("C9 a refusal that nobody could be asked about names the way")
def way_out(fx):
    run = Run(fx, *write_outside(fx), listens=False)
    contains(run.end()[2], "sandbash --watch")
    run = Run(fx, "--consent=deny", *write_outside(fx), listens=False)
    lacks(run.end()[2], "sandbash --watch")


def is_locked(path):
    """As long as a run lasts; a file without is what one has left."""
    if not path.exists():
        return False
    with open(path, "rb") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


@test("C9 nobody inside watches; and who listens in a run's place is not believed")
def inside_and_posing(fx):
    result = fx.sandbash(BIN, "--watch")
    check(result.status != 0, "refused")
    contains(result.stderr, "nobody inside a sandbox can watch the others")
    run = Run(fx, "--consent=watch", "sleep", "1060")
    # a file as a run would write it, whose socket is another's
    name = os.urandom(16).hex()
    posing = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    posing.bind("\0sandbash/" + name)
    posing.listen(1)
    text = (run_dir(fx) / run.session).read_text().replace(run.field("socket"), name)
    holder = fx.start("flock", "-x", run_dir(fx) / "false-1", "sleep", "1060",
                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait(lambda: is_locked(run_dir(fx) / "false-1"), "nobody holds the file")
    (run_dir(fx) / "false-1").write_text(text)
    watcher = Watcher(fx)
    watcher.sees(run.session, "somebody else listens in place of 'false-1'")
    posing.close()
    os.killpg(holder.pid, signal.SIGKILL) if os.getpgid(holder.pid) == holder.pid else holder.kill()
    holder.wait()
    watcher.leave()
    run.stop()


SAY = """
import socket, struct, sys
def message(kind, id=0, number=0, text=None):
    lengths = [0xFFFFFFFF if text is None else len(text) + 1] + [0xFFFFFFFF] * 44
    return struct.pack("=IIQiiIII45I", 0x35614253, kind, id, number, 0, 0, 0, 0xFFFFFFFF, *lengths) + (
        b"" if text is None else text + b"\\0")
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.settimeout(120)
try:
    s.connect("\\0" + sys.argv[1])
    s.send(message(0, number=1))
    kinds = [struct.unpack("=II", s.recv(200000)[:8])[1]]
    if kinds == [2]:
        s.send(message(10, text=b"write " + sys.argv[2].encode()))
        kinds.append(struct.unpack("=II", s.recv(200000)[:8])[1])
    print("heard", *kinds)
except OSError as error:
    print("no", type(error).__name__)
"""


@test("C5 nobody inside adds a rule or takes an answer back, by any name of the socket; who is outside does",
      variants=("full", "flat"))
def from_inside(fx):
    fx.write("say.py", SAY)
    run = Run(fx, "--consent=watch", "sh", "-c",
              "while [ ! -e name ]; do sleep 0.05; done; "
              f"python3 say.py $(cat name) {fx.outside} > out.new; mv out.new out; {WAIT}touch {fx.outside}/file")
    fx.write("name.new", run.address()[1:])
    os.rename(fx.path("name.new"), fx.path("name"))
    wait(lambda: fx.exists("out"), "no result")
    check(fx.read("out") in ("no PermissionError\n", "no ConnectionResetError\n", "heard 3\n"), fx.read("out"))
    lacks(fx.sandbash("--log", variant="full").stdout, "added for this run")
    # the same from outside: welcome, and a notice that it was added
    said = fx.run("python3", "say.py", run.address()[1:], fx.outside).stdout
    check(said in ("heard 2 6\n", "heard 2 7\n"), said)
    wait(lambda: "added for this run" in fx.sandbash("--log", variant="full").stdout, "it is not recorded")
    fx.write("go")
    equal(run.end()[0], 0)
    check(fx.exists(fx.outside / "file"), "and what was added holds")


@test("C9 a run that is stopped does not hold up the others")
def stopped(fx):
    first = Run(fx, "--consent=watch", "sleep", "1060")
    first.process.send_signal(signal.SIGSTOP)
    wait(lambda: open(f"/proc/{first.process.pid}/stat", encoding="ascii").read().split(") ")[1][0] == "T",
         "it does not stop")
    second = Run(fx, "--consent=watch", *write_outside(fx))
    watcher = Watcher(fx)
    watcher.sees("does not answer yet", "1 question")
    watcher.go_to("wants to create")
    watcher.open()
    watcher.answer("1")
    equal(second.end()[0], 0)
    first.process.send_signal(signal.SIGCONT)
    watcher.loses("does not answer yet")
    first.stop()


# --- under tmux -------------------------------------------------------------------------------------------------


@test("C9 under tmux: the list, a question, another size of the window, and the screen as it was")
def under_tmux(fx):
    def tmux(*words):
        return subprocess.run(["tmux", "-S", fx.outside / "tmux", *words], cwd=fx.project, env=fx.env(),
                              stdin=subprocess.DEVNULL, check=False, capture_output=True, text=True).stdout

    def shows(*texts):
        wait(lambda: all(str(text) in tmux("capture-pane", "-p", "-J") for text in texts),
             lambda: f"{texts} does not show:\n" + tmux("capture-pane", "-p"))

    run = Run(fx, "--consent=watch", *write_outside(fx, then=WAIT + "exit 5"))
    tmux("-f", "/dev/null", "new-session", "-d", "-x", "200", "-y", "30",
         f"sh -c 'echo before; {BIN} --watch; echo status=$?; sleep 1060'")
    try:
        shows("1 run, 1 question", "> ", fx.outside / "file")
        tmux("resize-window", "-x", "180", "-y", "24")
        shows("1 run, 1 question")
        tmux("send-keys", "Enter")
        shows("sandbash asks you", "Press ", fx.outside / "file")
        tmux("resize-window", "-x", "190", "-y", "28")
        shows("sandbash asks you", "Press ")

        def pressed():  # a key counts only after a moment of quiet, which tmux may break
            tmux("send-keys", "1")
            return wait_a_while(lambda: "0 questions" in tmux("capture-pane", "-p"))
        wait(pressed, "no answer")
        wait(lambda: fx.exists(fx.outside / "file"), "it does not land")
        shows("allowed once: create", "perform")
        fx.write("go")
        shows("0 runs", "ended: ")
        tmux("send-keys", "q")
        shows("before", "status=0")
        equal(run.end()[0], 5)
    finally:
        tmux("kill-server")


def wait_a_while(condition):
    for _ in range(20):
        if condition():
            return True
        time.sleep(0.05)
    return False


run_all()
