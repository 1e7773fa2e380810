"""consent_forgery.py - C5, S5: from inside, try to answer a question, to forge, see or suppress
one, or to have something else done than what was shown.

Each attack stands beside what shows that it could work: the same act without a sandbox, or a
harmless neighbour that does."""

import os
import re
import signal
import time

from forger import go, inside
from person import Person
from tap import FLAGS, PATIENCE, check, contains, equal, lacks, run_all, test

FLAGS.clear()  # a static run asks nobody: this is about the other one
BOTH = ("full", "flat")


# --- by the terminal ----------------------------------------------------------------------

NOISE = """
tty = os.open('/dev/tty', os.O_RDWR)
modes = termios.tcgetattr(tty)
modes[3] &= ~termios.ECHO # replies would come back as output
termios.tcsetattr(tty, termios.TCSANOW, modes)
t = later(lambda: attempt('open', lambda: open(outside + '/f', 'w').close()))
wait_for('go')
for byte in b'1124\\n':
    attempt('TIOCSTI', lambda: fcntl.ioctl(tty, termios.TIOCSTI, bytes([byte])))
attempt('TIOCLINUX', lambda: fcntl.ioctl(tty, 0x541c, bytes([3, 0])))
end = time.monotonic() + 1
while time.monotonic() < end:
    os.write(tty, NOISE)
    time.sleep(0.01)
open('noisy', 'w').close()
t.join()
"""

SEQUENCES = {
    "cursor reports": b"\x1b[6n" * 50,
    "attributes": b"\x1b[c\x1b[>c\x1b[5n\x1b[=c\x1b[0x",
    "answerback": b"\x05" * 20,
    "settings": b"\x1bP$qm\x1b\\\x1bP$qr\x1b\\\x1bP+q544e\x1b\\",
    "clipboard": b"\x1b]52;c;MQ==\x07\x1b]52;c;?\x07",
    "title": b"\x1b]2;1\x07\x1b[21t\x1b[20t",
    "colours": b"\x1b]4;1;?\x07\x1b]10;?\x07\x1b]11;?\x07",
    "mouse": b"\x1b[?1000h\x1b[?1003h\x1b[?1006h\x1b[?9h",
    "paste": b"\x1b[?2004h\x1b[?2004l",
    "screens": b"\x1b[?1049l\x1b[?1049h\x1b[?47l\x1b[2J\x1b[H",
    "sizes": b"\x1b[8;5;20t\x1b[4;10;10t\x1b[18t\x1b[3;0;0t",
    "reset": b"\x1bc\x1b[!p",
    "open string": b"\x1bPq" + b"1" * 3000,
}


def noise_test(sequence):
    def attack(fx):
        person = inside(fx, NOISE.replace("NOISE", repr(sequence)))
        person.question(fx.outside / "f")
        go(fx)
        # the output of the command waits behind the question; a pty holds only so much
        deadline = time.monotonic() + 3
        while not fx.exists("noisy") and time.monotonic() < deadline:
            person.term.settle(0.05, 0.1)
        check(person.shows(fx.outside / "f"), f"not shown any more:\n{person.term.screen()}")
        check(not fx.exists(fx.outside / "f"), "answered from inside")
        person.answer("3", fx.outside / "f")
        if not sequence.endswith(b"11"):  # else it is part of the string
            person.term.expect("REFUSED open E(ACCES|PERM)")
        person.until(lambda: person.term.process.poll() is not None, "no end")
        lacks(person.term.output, "DONE TIOC")
        check(not fx.exists(fx.outside / "f"))
    return attack


for kind, bytes_ in SEQUENCES.items():
    test(f"C5 terminal noise answers nothing: {kind}")(noise_test(bytes_))


@test("C5 noise before the question does not answer it either", variants=BOTH)
def noise_before(fx):
    person = inside(fx, """
for _ in range(200): sys.stdout.buffer.write(b'\\x1b[6n\\x1b[c\\x1b[5n\\x05')
sys.stdout.buffer.flush()
attempt('open', lambda: open(outside + '/f', 'w').close())
""")
    person.question(fx.outside / "f")
    person.term.send("1")  # in the middle of what the terminal sends
    person.term.settle(0.2)
    person.press("3")
    person.until(lambda: "open E" in person.term.screen() or person.term.process.poll()
                 is not None, "no end")
    contains(person.term.output, "REFUSED open")
    check(not fx.exists(fx.outside / "f"))


@test("C5 a drawn imitation lacks the word: it cannot be found from inside", variants=BOTH)
def word_is_secret(fx):
    person = Person(fx, "touch", fx.outside / "f")
    word = re.search(r"your word: (\S+ \S+|\S+)", person.question())[1].strip()
    person.answer("3")
    person.end()
    holds = [path for path in fx.home.rglob("*") if path.is_file() and word.encode() in path.read_bytes()]
    check(holds, "the word is kept nowhere?")
    for path in holds:
        contains(fx.run("cat", path).stdout, word)  # without a sandbox it can be read
    person = inside(fx, f"""
for path in {[str(p) for p in holds]!r}:
    attempt('read', lambda: open(path).read())
    attempt('link', lambda: os.link(path, 'mine'))
    attempt('rename', lambda: os.rename(path, 'mine'))
    attempt('copy', lambda: os.open(path, os.O_PATH) and open('/proc/self/fd/3').read())
for pid in filter(str.isdigit, os.listdir('/proc')):
    for name in 'environ', 'cmdline', 'maps':
        try: text = open('/proc/%s/%s' % (pid, name), 'rb').read()
        except OSError: continue
        if {word!r}.encode() in text and pid != str(os.getpid()): say('FOUND', pid, name)
say('over')
""")
    while person.term.process.poll() is None:
        person.until(lambda: person.shows() or person.term.process.poll() is not None, "stuck")
        if person.shows():
            person.answer("3")
    person.end()
    contains(person.term.output, "over")
    lacks(person.term.output, "DONE read")
    lacks(person.term.output, "DONE link")
    lacks(person.term.output, "DONE rename")
    lacks(person.term.output, word)
    lacks(person.term.output, "FOUND")


@test("C5 the real terminal is out of reach while a question is open", variants=BOTH)
def real_terminal(fx):
    first = os.openpty()  # so that the real one's number is not that of the run's own
    person = inside(fx, """
t = later(lambda: attempt('open', lambda: open(outside + '/f', 'w').close()))
wait_for('go')
real = open('name').read()
own = os.ttyname(0)
say('own', own)
for path in {real} | {'/dev/pts/' + n for n in os.listdir('/dev/pts') if n.isdigit()} - {own}:
    attempt('read ' + path, lambda: os.open(path, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK))
    attempt('write ' + path, lambda: os.write(os.open(path, os.O_WRONLY | os.O_NOCTTY), b'FORGED'))
for pid in filter(str.isdigit, os.listdir('/proc')):
    for fd in range(12):
        path = '/proc/%s/fd/%d' % (pid, fd)
        try: where = os.readlink(path)
        except OSError: continue
        if where.startswith('/dev/pt') and where != own:
            attempt('write ' + path, lambda: os.write(os.open(path, os.O_RDWR | os.O_NOCTTY),
                                                      b'FORGED'))
open('tried', 'w').close()
t.join()
""")
    person.question(fx.outside / "f")
    fx.write("name", person.term.name)
    go(fx)
    person.until(lambda: fx.exists("tried"), "not tried")
    person.term.settle(0.2)
    lacks(person.term.output, "FORGED")
    person.answer("3", fx.outside / "f")
    person.end()
    lacks(person.term.output, "FORGED")
    lacks(person.term.output, f"DONE read {person.term.name}")
    lacks(person.term.output, f"DONE write {person.term.name}")
    for fd in first:
        os.close(fd)


@test("C5 the supervisor's processes cannot be signalled, stopped, traced or limited from inside",
      variants=BOTH)
def supervisor_processes(fx):
    person = inside(fx, """
t = later(lambda: attempt('open', lambda: open(outside + '/f', 'w').close()))
wait_for('go')
pids = [int(p) for p in open('pids').read().split()]
for pid in pids + [1, os.getppid()]:
    if pid <= 0 or pid == os.getpid(): continue
    for s in (0, signal.SIGSTOP, signal.SIGKILL, signal.SIGWINCH, signal.SIGCONT):
        attempt('kill %d %d' % (pid, s), lambda: os.kill(pid, s))
    attempt('ptrace %d' % pid, lambda: libc.ptrace(16, pid, 0, 0) and
            (_ for _ in ()).throw(OSError(ctypes.get_errno(), '')))
    attempt('mem %d' % pid, lambda: open('/proc/%d/mem' % pid, 'rb+'))
    for n in range(10): # that there are numbers may be seen, not what they are
        attempt('fd %d' % pid, lambda: os.readlink('/proc/%d/fd/%d' % (pid, n)))
    attempt('limit %d' % pid, lambda: __import__('resource').prlimit(pid, 7, (3, 3)))
    attempt('nice %d' % pid, lambda: os.setpriority(os.PRIO_PROCESS, pid, 19))
    attempt('group %d' % pid, lambda: os.killpg(pid, signal.SIGSTOP))
open('tried', 'w').close()
t.join()
""")
    person.question(fx.outside / "f")
    # every process of the run that is not the command: sandbash itself and its children
    found, todo = [], [person.term.process.pid]
    while todo:
        pid = todo.pop()
        found.append(pid)
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as children:
                todo += [int(child) for child in children.read().split()]
    supervisors = []
    for pid in found:
        with open(f"/proc/{pid}/comm", encoding="ascii") as comm:
            if comm.read().strip() in ("sandbash", "without"):
                supervisors.append(pid)
    check(len(supervisors) >= 2, f"{supervisors} of {found}")
    fx.write("pids", " ".join(map(str, supervisors)))
    go(fx)
    person.until(lambda: fx.exists("tried"), "not tried")
    for pid in supervisors:
        os.kill(pid, 0)  # alive
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            check(stat.read().rsplit(")", 1)[1].split()[0] not in "TtZ", f"{pid} is stopped")
    person.answer("1", fx.outside / "f")
    equal(person.end(), 0, person.term.screen())
    contains(person.term.output, "DONE open")  # and everything works on
    for pid in supervisors:
        for act in ("kill", "ptrace", "mem", "fd", "limit", "nice"):
            lacks(person.term.output, f"DONE {act} {pid} ")


# --- by what is shown ---------------------------------------------------------------------


@test("C5 names with control characters, newlines and bidi are shown escaped")
def names(fx):
    names = ["a\x1b[2Jb", "a\nb", "a\rb", "\u202egpj.exe", "a\x9b2Jb", "tab\tx", "\x07bell",
             "\u200b\u2066hidden", "\udcff\udcfe"]
    (fx.outside / "d").mkdir()
    for name in names:
        person = inside(fx, f"""
attempt('open', lambda: os.close(os.open(outside.encode() + b'/d/' +
        {os.fsencode(name)!r}, os.O_WRONLY | os.O_CREAT)))
""")
        person.question(fx.outside / "d")
        shown = person.term.output
        at = shown.index("wants to")
        for bad in ("\x1b[2Jb", "\u202e", "\x9b", "\u2066", "\x07bell", "a\nb", "a\rb"):
            lacks(shown[at:].replace("\x1b[2J\x1b[", ""), bad)
        person.answer("1", fx.outside / "d")
        equal(person.end(), 0, repr(name) + person.term.screen())
        lacks(person.term.output[at:], "\u202e")
    equal(sorted(os.listdir(fx.outside / "d")), sorted(names))


@test("C5 a very long name is shown whole or not at all; what is done is that name")
def long_names(fx):
    deep = fx.outside
    for _ in range(12):
        deep = deep / ("d" * 200)
        deep.mkdir()
    person = inside(fx, f"attempt('open', lambda: open({str(deep)!r} + '/' + 'n' * 250, 'w').close())")
    person.until(lambda: "enlarge the window" in person.term.screen(), "half a name shows")
    person.press("1")
    person.term.settle(0.5, 1)
    equal(os.listdir(deep), [])
    person.term.resize(60, 120)
    screen = person.answer("1", "wants to")
    contains("".join(screen.split()), f"{deep}/{'n' * 250}")
    equal(person.end(), 0)
    equal(os.listdir(deep), ["n" * 250])


@test("C3 a flood of questions ends: limits hold, and the person gets a line", variants=BOTH)
def flood(fx):
    person = inside(fx, """
refused = 0
for n in range(300):
    try: open(outside + '/f%d' % n, 'w').close()
    except OSError: refused += 1
say('refused', refused)
""")
    answered = 0
    while person.term.process.poll() is None:
        person.until(lambda: person.shows() or person.term.process.poll() is not None, "stuck")
        if person.shows():
            answered += 1
            check(answered <= 12, "too many questions")
            person.answer("3")
    person.end()
    contains(person.term.output, "refused 300")
    equal(answered, 10)
    equal(os.listdir(fx.outside), [])
    contains(person.term.output, "in a row")


@test("C3 hundreds that wait for one answer exhaust nobody", variants=BOTH)
def crowd(fx):
    fx.write(fx.outside / "f", "")
    person = inside(fx, """
threading.stack_size(262144)
done = []
def work():
    try:
        os.close(os.open(outside + '/f', os.O_WRONLY)); done.append(1)
    except OSError as e: done.append(e.errno)
threads = [later(work) for _ in range(1500)]
time.sleep(1)
attempt('inside', lambda: open('still', 'w').close())
for t in threads: t.join()
say('all', len(done), 'yes', done.count(1))
attempt('again', lambda: open('again', 'w').close())
attempt('other', lambda: open(outside + '/g', 'w').close())
""")
    person.question(fx.outside / "f")
    person.until(lambda: fx.exists("still"), "the rest of the command hangs")
    person.answer("1", fx.outside / "f")
    while person.term.process.poll() is None:
        person.until(lambda: person.shows() or person.term.process.poll() is not None, "stuck")
        if person.shows():
            person.answer("1")
    equal(person.end(), 0, person.term.screen())
    contains(person.term.output, "all 1500")
    contains(person.term.output, "DONE again")
    contains(person.term.output, "DONE other")


# --- by changing what was shown -----------------------------------------------------------


@test("C5 a path changed in memory while the question is open: what was shown is done",
      variants=BOTH)
def flipped_path(fx):
    fx.write(fx.outside / "target", "untouched\n")
    person = inside(fx, """
path = ctypes.create_string_buffer((outside + '/shown0').encode())
def act():
    fd = libc.openat(-100, path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    say('fd', fd)
    if fd >= 0: os.write(fd, b'written')
t = later(act)
wait_for('go')
path.value = (outside + '/target').encode()
open('flipped', 'w').close()
t.join()
""")
    person.question("shown0")
    go(fx)
    person.until(lambda: fx.exists("flipped"), "not flipped")
    person.answer("1", "shown0")
    person.end()
    equal(fx.read(fx.outside / "shown0"), "written")
    equal(fx.read(fx.outside / "target"), "untouched\n")


@test("C5 a symlink of the project turned elsewhere while the question is open", variants=BOTH)
def turned_link(fx):
    fx.write(fx.outside / "shown", "old\n")
    fx.write(fx.outside / "target", "untouched\n")
    person = inside(fx, """
os.symlink(outside + '/shown', 'link')
t = later(lambda: attempt('write', lambda: open('link', 'w').write('written')))
wait_for('go')
os.symlink(outside + '/target', 'other')
os.rename('other', 'link')
open('turned', 'w').close()
t.join()
""")
    person.question(fx.outside / "shown")
    go(fx)
    person.until(lambda: fx.exists("turned"), "not turned")
    person.answer("1", fx.outside / "shown")
    person.end()
    equal(fx.read(fx.outside / "shown"), "written")
    equal(fx.read(fx.outside / "target"), "untouched\n")


def swapped(how):
    """The place is changed by somebody outside while the question is open."""
    def attack(fx):
        (fx.outside / "d").mkdir()
        fx.write(fx.outside / "victim/f", "untouched\n")
        person = inside(fx, "attempt('write', lambda: open(outside + '/d/f', 'w').write('w'))")
        person.question(fx.outside / "d/f")
        if how == "link":
            (fx.outside / "d/f").symlink_to("../victim/f")
        elif how == "directory":
            (fx.outside / "d").rename(fx.outside / "old")
            (fx.outside / "d").symlink_to("victim")
        elif how == "moved":
            (fx.outside / "d").rename(fx.outside / "victim/d")
        elif how == "fifo":
            os.mkfifo(fx.outside / "d/f")
        elif how == "hard link":
            os.link(fx.outside / "victim/f", fx.outside / "d/f")
        person.answer("1", fx.outside / "d/f")
        person.end()
        equal(fx.read(fx.outside / "victim/f"), "untouched\n")
    return attack


for change in ("link", "directory", "moved", "fifo", "hard link"):
    test(f"C5 the place is changed from outside while the question is open: {change}",
         variants=BOTH)(swapped(change))


@test("C5 the parent exits while its child asks", variants=BOTH)
def parent_exits(fx):
    person = inside(fx, """
if os.fork() == 0:
    os.setsid()
    attempt('write', lambda: open(outside + '/f', 'w').close())
    os._exit(0)
wait_for('go')
os._exit(9)
""")
    person.question(fx.outside / "f")
    go(fx)
    equal(person.term.wait(), 9)
    check(not fx.exists(fx.outside / "f"))
    check(not person.term.state()["alternate"], "the question stays")


@test("C5 a command that stops itself while it asks", variants=BOTH)
def stops_itself(fx):
    person = inside(fx, """
t = later(lambda: attempt('write', lambda: open(outside + '/f', 'w').close()))
wait_for('go')
os.kill(os.getpid(), signal.SIGSTOP)
t.join()
""")
    person.question(fx.outside / "f")
    go(fx)
    time.sleep(0.3)
    # A thread that is held cannot stop, so the process is not stopped yet, and can be answered.
    person.answer("1", fx.outside / "f")
    deadline = time.monotonic() + PATIENCE
    state = ""
    while state != "T" and time.monotonic() < deadline:
        person.term.settle(0.05, 0.1)
        with open(f"/proc/{person.term.process.pid}/stat", encoding="ascii") as stat:
            state = stat.read().rsplit(")", 1)[1].split()[0]
    equal(state, "T", "sandbash stops with its command")
    check(not person.term.state()["alternate"], "the question stays")
    os.kill(person.term.process.pid, signal.SIGCONT)
    equal(person.end(), 0, person.term.screen())
    check(fx.exists(fx.outside / "f"))


@test("C5 what differs beside the path is another question, and is shown", variants=BOTH)
def not_merged(fx):
    fx.write(fx.outside / "f", "")
    person = inside(fx, """
threads = [later(lambda: attempt('chmod', lambda: os.chmod(outside + '/f', 0o600)))]
wait_for('go')
threads += [later(lambda: attempt('setuid', lambda: os.chmod(outside + '/f', 0o6755)))]
threads += [later(lambda: attempt('create', lambda: os.close(os.open(outside + '/n',
                  os.O_WRONLY | os.O_CREAT))))]
wait_for('go2')
threads += [later(lambda: attempt('symlink', lambda: os.symlink('/etc/passwd', outside + '/n')))]
open('asked', 'w').close()
for t in threads: t.join()
""")
    person.question("mode 0600")
    go(fx)
    asked = 2 if os.getuid() == 0 else 3  # root's run cannot set that bit at all
    person.question(f"1 of {asked}")
    go(fx, "go2")
    person.until(lambda: fx.exists("asked"), "not asked")
    person.question(f"1 of {asked + 1}")
    while person.term.process.poll() is None:
        person.until(lambda: person.shows() or person.term.process.poll() is not None, "stuck")
        screen = person.term.screen()
        if person.shows():
            harmless = "mode 0600" in screen
            person.answer("1" if harmless else "3")
    person.end()
    contains(person.term.output, "DONE chmod")
    lacks(person.term.output, "DONE symlink")
    lacks(person.term.output, "DONE create")
    equal(os.listdir(fx.outside), ["f"])


@test("C2 a rename between two directories does not open both for the name of one",
      variants=BOTH)
def two_directories(fx):
    fx.write(fx.outside / "a/x", "")
    (fx.outside / "b").mkdir()
    person = inside(fx, """
attempt('rename', lambda: os.rename(outside + '/a/x', outside + '/b/x'))
for name in 'ab':
    attempt('then ' + name, lambda: open(outside + '/%s/new' % name, 'w').close())
""")
    person.question("wants to rename", fx.outside / "a/x", fx.outside / "b/x", "Press 1 or 2")
    person.press("4")  # not offered
    person.answer("1", "wants to rename")
    for name in "ab":
        person.answer("3", fx.outside / name / "new")
    person.end()
    contains(person.term.output, "DONE rename")
    equal(os.listdir(fx.outside / "a") + os.listdir(fx.outside / "b"), ["x"])


if __name__ == "__main__":
    run_all()
