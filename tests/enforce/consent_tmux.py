"""consent_tmux.py - C5 under a real tmux: the question shows in the pane, whatever the command sends
to the terminal, and the tmux around it is no way to see it, to answer it or to make it go away."""

import re
import subprocess
import time

from tap import FLAGS, PATIENCE, check, contains, equal, lacks, run_all, test

FLAGS.clear()  # a static run asks nobody
BOTH = ("full", "flat")
TITLE = "sandbash asks you"
WORD = object()  # the user's, among the texts of a question

HEADER = """
import fcntl, os, signal, struct, subprocess, sys, termios, threading, time
outside = sys.argv[1]
tty = os.open('/dev/tty', os.O_RDWR)
def put(data): os.write(tty, data)
def ask(name):
    try: open(outside + '/' + name, 'w').close(); return 'done'
    except OSError as e: return 'refused'
def wait_for(name):
    for _ in range(12000):
        if os.path.exists(name): return
        time.sleep(0.01)
    raise SystemExit('nobody made ' + name)
def quietly(act):
    try: return act()
    except (OSError, termios.error) as e: return e
result = {}
def begin(name='f'):
    def work(): result[name] = ask(name)
    t = threading.Thread(target=work, daemon=True); t.start(); return t
"""


class Tmux:
    """A tmux server of its own, with one window in which sandbash runs."""

    def __init__(self, fx, program, *flags, options=()):
        self.fx, self.again = fx, None  # (key, when it is due again, pause)
        self.socket = fx.outside / "tmux"
        fx.write("attack.py", HEADER + program)
        words = fx.argv(*flags, "python3", "-u", "attack.py", fx.outside)
        self.call("-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "30", "sh")
        for option in options:
            self.call("set-option", "-g", *option.split())
        self.call("set-option", "-g", "remain-on-exit", "on")
        command = " ".join(f"'{word}'" for word in words)
        self.call("respawn-window", "-k", command + "; echo status=$?; sleep 1060")

    def call(self, *words):
        return subprocess.run(["tmux", "-S", self.socket, *words], cwd=self.fx.project,
                              env=self.fx.env(), stdin=subprocess.DEVNULL, check=False,
                              capture_output=True, text=True).stdout

    def screen(self):
        return self.call("capture-pane", "-p")

    def all_lines(self):
        """And those that late replies of the terminal, echoed, have pushed off the screen."""
        return self.call("capture-pane", "-p", "-S", "-")

    def until(self, condition, message):
        deadline = time.monotonic() + PATIENCE
        while not condition():
            check(time.monotonic() < deadline, f"{message}:\n{self.screen()}")
            time.sleep(0.05)
            if self.again and time.monotonic() > self.again[1] and "oo fast" in self.screen():
                self.press(self.again[0], 2 * self.again[2])

    def question(self, *texts):
        def shows():
            screen = self.screen()
            return TITLE in screen and "Press " in screen and all(
                (self.word() if t is WORD else str(t)) in screen for t in texts)

        self.until(shows, f"no question with {texts}")

    def press(self, key, pause=0.6):
        """Look first.  Where the machine is so busy that the key does not count, the question says so, and whoever
        waits for something looks longer and presses again."""
        time.sleep(pause)
        self.call("send-keys", key)
        self.again = key, time.monotonic() + pause, pause

    def answer(self, key, text):
        """... and see the question with that text go."""
        self.press(key)
        self.until(lambda: TITLE not in self.screen() or text not in self.screen(), "the question stays")
        self.again = None

    def word(self):
        return (self.fx.home / ".config/sandbash/word").read_text().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.call("kill-server")


# What a command can send while, and just before, the question is open.
SEQUENCES = {
    "a title that does not end": b"\x1bkrenamed",
    "passing through to the outer terminal": b"\x1bPtmux;\x1b\x1b[6n\x1b\x1b[c\x1b\\",
    "a string that does not end": b"\x1bP" + b"x" * 6000,
    "an operating system command that does not end": b"\x1b]52;c;" + b"QUFB" * 2000,
    "leaving and clearing the screen": b"\x1b[?1049l\x1b[?47l\x1b[2J\x1b[3J\x1b[H",
    "a reset": b"\x1bc\x1b[!p",
    "a region and an origin": b"\x1b[5;6r\x1b[?6h\x1b[?69h\x1b[3;4s",
    "held drawing": b"\x1b[?2026h",
    "an imitation": b"\x1b[H\x1b[2J sandbash asks you  your word: x y\r\n Press 1 or 2: ",
    "line drawing letters": b"\x1b(0\x0e\x1b)0",
    "requests for reports": b"\x1b[6n\x1b[c\x1b[>c\x1b[5n\x1b[18t\x05" * 40,
}


def register(name, data):
    @test(f"C5 under tmux: {name}", variants=BOTH)
    def attack(fx):
        with Tmux(fx, f"""
modes = termios.tcgetattr(tty); modes[3] &= ~termios.ECHO; termios.tcsetattr(tty, 0, modes)
data = {data!r}
put(data)
t = begin()
wait_for('go')
def noise():
    end = time.monotonic() + 1.5
    while time.monotonic() < end: put(data); time.sleep(0.01)
threading.Thread(target=noise, daemon=True).start()
time.sleep(1); open('noisy', 'w').close()
t.join()
put(b'\\x18\\x1b\\\\\\x1bc' + result['f'].encode() + b' end\\r\\n')
""", options=("allow-passthrough on", "set-clipboard on")) as tmux:
            tmux.question(fx.outside / "f", WORD)
            fx.write("go", "")
            tmux.until(lambda: fx.exists("noisy"), "it does not get that far")
            tmux.question(fx.outside / "f", WORD)
            check(not fx.exists(fx.outside / "f"), "answered by nobody")
            tmux.press("3")
            tmux.until(lambda: any(end in tmux.all_lines() for end in ("refused end", "status=")),
                       "no end")
            check(not fx.exists(fx.outside / "f"))


for name, data in SEQUENCES.items():
    register(name, data)


@test("C5 under tmux: its socket neither shows the question nor types an answer", variants=BOTH)
def server(fx):
    with Tmux(fx, """
t = begin()
wait_for('go')
sock = os.environ['TMUX'].split(',')[0]
def tmux(*words):
    p = subprocess.run(['tmux', '-S', sock, *words], capture_output=True, text=True, timeout=120)
    return p.returncode, p.stdout
out = []
def work():
    out.append(tmux('capture-pane', '-p'))
    out.append(tmux('send-keys', '1'))
    out.append(tmux('kill-server'))
w = threading.Thread(target=work); w.start()
time.sleep(1); open('tried', 'w').close()
t.join(); w.join()
open('out', 'w').write(repr(out)); print('end', result['f'])
""") as tmux:
        tmux.question(fx.outside / "f")
        fx.write("go", "")
        tmux.until(lambda: fx.exists("tried"), "not tried")
        tmux.question(fx.outside / "f")
        check(not fx.exists(fx.outside / "f"))
        tmux.press("1")
        answered = set()
        while "end " not in tmux.screen():  # each try to reach the server is a question of its own, or refused
            who = re.search(r"process \d+", tmux.screen())
            if "wants to connect" in tmux.screen() and who and who[0] not in answered:
                answered.add(who[0])
                tmux.answer("3", who[0])
            tmux.until(lambda: "wants to connect" in tmux.screen() or "end " in tmux.screen(), "?")
        tmux.until(lambda: "end done" in tmux.screen(), "no end")
        said = fx.read("out")
        lacks(said, "(0,", "no tmux command worked")
        lacks(said, tmux.word())
        contains(tmux.call("list-sessions"), "1 windows", "control: the server is reached outside")


@test("C5 under tmux: the command's own terminal turned against itself", variants=BOTH)
def own_terminal(fx):
    with Tmux(fx, """
t = begin()
wait_for('go')
N_NULL = 27
for _ in range(20):
    quietly(lambda: fcntl.ioctl(tty, termios.TIOCSWINSZ, struct.pack('HHHH', 1, 1, 0, 0)))
    quietly(lambda: fcntl.ioctl(tty, termios.TIOCEXCL))
    quietly(lambda: termios.tcflow(tty, termios.TCIOFF))
    quietly(lambda: termios.tcflow(tty, termios.TCOOFF))
    quietly(lambda: termios.tcsendbreak(tty, 0))
    quietly(lambda: termios.tcflush(tty, termios.TCIOFLUSH))
    quietly(lambda: os.tcsetpgrp(tty, os.getpgid(0)))
    quietly(lambda: os.tcsetpgrp(tty, os.getppid() or 1))
    quietly(lambda: fcntl.fcntl(0, fcntl.F_SETOWN, os.getppid() or 1))
    quietly(lambda: fcntl.fcntl(0, 10, signal.SIGKILL)) # F_SETSIG
    quietly(lambda: fcntl.fcntl(0, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK | os.O_RDWR))
    quietly(lambda: fcntl.ioctl(tty, termios.TIOCSETD, struct.pack('i', N_NULL)))
    quietly(lambda: fcntl.ioctl(tty, 0x5422)) # TIOCNOTTY
    quietly(lambda: fcntl.ioctl(tty, 0x541d)) # TIOCCONS
    quietly(lambda: fcntl.ioctl(tty, 0x5437)) # TIOCVHANGUP
for s in (signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTOU, signal.SIGHUP, signal.SIGKILL):
    for pid in (0, os.getppid() or 1, os.getsid(0) or 1):
        if pid: quietly(lambda: os.kill(pid, s))
open('tried', 'w').close()
t.join()
open('out', 'w').write(result['f'])
""") as tmux:
        tmux.question(fx.outside / "f", WORD)
        fx.write("go", "")
        time.sleep(1)
        tmux.question(fx.outside / "f", WORD)
        check(not fx.exists(fx.outside / "f"))
        tmux.press("1")
        tmux.until(lambda: fx.exists(fx.outside / "f") or "status=" in tmux.screen(), "no end")


@test("C5 a question in the place of another: a key meant for the first does not count",
      variants=BOTH)
def exchanged(fx):
    deadline = time.monotonic() + PATIENCE
    while not exchange(fx):
        check(time.monotonic() < deadline, "this machine is too slow to press a key within a second")
        fx.run("sh", "-c", f"rm -f go *-asked {fx.outside}/*")


def exchange(fx):
    """False: the key came so late that it may count."""
    with Tmux(fx, """
children = []
for name in ('harmless', 'harmful'):
    pid = os.fork()
    if pid == 0:
        ask(name); os._exit(0)
    children.append(pid)
    wait_for(name + '-asked')
wait_for('go')
os.kill(children[0], signal.SIGKILL)
for pid in children: os.waitpid(pid, 0)
print('end')
""") as tmux:
        tmux.question(fx.outside / "harmless")
        fx.write("harmless-asked", "")
        tmux.question("1 of 2")
        fx.write("harmful-asked", "")
        begun = time.monotonic()
        fx.write("go", "")
        while str(fx.outside / "harmful") not in tmux.screen():
            if time.monotonic() - begun > 1:
                return False
        time.sleep(max(0, begun + 0.5 - time.monotonic()))  # to read, decide and press; not to see it anew
        tmux.call("send-keys", "1")
        if time.monotonic() - begun > 1:
            return False
        time.sleep(0.3)
        tmux.question(fx.outside / "harmful")
        check(not fx.exists(fx.outside / "harmful"), "a key for the other question")
        time.sleep(1.2)
        tmux.press("1")
        tmux.until(lambda: fx.exists(fx.outside / "harmful"), "the second key counts")
        return True


@test("C5 a tmux inside, busy: each question stands, and each answer is for what it shows",
      variants=BOTH)
def inside(fx):
    fx.write("flood.sh", "i=0; while [ $i -lt 4000 ]; do echo \"$i sandbash asks you Press 1\"; "
                         "i=$((i+1)); done")
    fx.write("write.sh", f"sleep 1; for n in 1 2 3 4; do echo x > {fx.outside}/n$n; done; "
                         "tmux -L in kill-server")
    with Tmux(fx, """
os.environ['TMUX_TMPDIR'] = os.getcwd(); os.environ.pop('TMUX')
sys.exit(subprocess.call(['tmux', '-L', 'in', '-f', '/dev/null', 'new-session', 'sh write.sh', ';',
                          'split-window', 'while :; do sh flood.sh; done']))
""") as tmux:
        for number, key in ((1, "1"), (2, "3"), (3, "1"), (4, "3")):
            tmux.question(fx.outside / f"n{number}", WORD)
            tmux.answer(key, f"outside/n{number}\n")
        tmux.until(lambda: "status=" in tmux.screen(), "no end")
        equal([fx.exists(fx.outside / f"n{n}") for n in (1, 2, 3, 4)], [True, False, True, False])


run_all()
