"""question_screen.py - C5 on real terminals: whatever a command wrote before, a question looks the
same, to the pixel in xterm and to the letter and its attributes in tmux.

The asker runs without a sandbox (tests/lib/ask_demo.c).  A feeder is its command and writes what it
is given: known tricks, random sequences, random bytes.  Then a question is raised and its picture
compared with that of a question on a fresh terminal.

    SANDBASH_TEST_SEED=N       repeat; the seed is printed
    SANDBASH_TEST_PICTURE=FILE xterm's screen goes there (PPM) when it is wrong
    SANDBASH_TEST_SECONDS=N    how long each terminal is tried; 4 without
"""

import mmap
import os
import random
import select
import shutil
import struct
import subprocess
import time

from tap import PATIENCE, check, run_all, skip, test

SECONDS = float(os.environ.get("SANDBASH_TEST_SECONDS") or 4)
SEED = int(os.environ.get("SANDBASH_TEST_SEED") or time.time())
ROWS, COLUMNS = 24, 80
CELL = 6, 13  # of the font "fixed"

FEEDER = """
import os, sys, tty
tty.setraw(0)
while True:
    with open(sys.argv[1], 'rb') as stream: data = stream.read()
    while data: data = data[os.write(1, data):]
    with open(sys.argv[2], 'wb') as stream: stream.write(b'.')
"""

# Each of these has hidden or changed a question somewhere, or could.
TRICKS = [
    b"\x1b[?" + b"1;" * 16 + b"2l", b"\x1b[?2l", b"\x1bVprotected\x1bW", b'\x1b[1"qprotected',
    b"\xc2\x96protected", b"\x1b]10;#000\a\x1b]11;#000\a", b"\x1b]11;white\a\x1b]10;white\a",
    b"\x1b]4;0;#fff;7;#fff;15;#000\x1b\\", b"\x1b]5;0;#fff\a", b"\x1b]50;nil2\a", b"\x1b]50;#3\a",
    b"\x1b[3;5r\x1b[?6h", b"\x1b[?69h\x1b[10;20s", b"\x1b[?5h", b"\x1b[4h", b"\x1b[20h", b"\x1b[?7l",
    b"\x1b[8m", b"\x1b[7;5;8;30;40m", b"\x1b(0\x1b)0\x0e", b"\x1b*0\x1bn", b"\x1bN", b"\x1bO",
    b"\x1b#3", b"\x1b#6\n\x1b#4", b"\x1b#8", b"\x1b[?40h\x1b[?3h", b"\x1b[?38h", b"\x1d", b"\x1b[?1046l",
    b"\x1b[?47h", b"\x1b[?1047h", b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[?1049s\x1b[?1049r",
    b"\x1b[?2026h", b"\x1bP=1s\x1b\\", b"\x1b[5i", b"\x1b[?5i", b"\x1b[2$~\x1b[1$}", b"\x1b[?25l",
    b"\x1b[?42h\x1b(K", b"\x1bP0;0;0;12;0;0;20;0{ @~~~\x1b\\\x1b( @", b"\x1bP1;1|17/61\x1b\\",
    b"\x1bPtmux;\x1b\x1b[?2l\x1b\\", b"\x1b]0;never ends", b"\x1bPq never ends", b"\x1b_Gnever ends",
    b"\x1bX never ends", b"\x1b^ never ends", b"\x1bk never ends", b"\x1b[", b"\x1b[?12;25;", b"\x1b",
    b"\xc2", b"\xe2\x82", b"\x9b2J\x90\x9d", b"\xc2\x9b2J\xc2\x90q", b"\x1b]52;c;\xc2\x9c\x1b[?2l",
    b"\x1b]0;\x1b[?2l\a", b'\x1b[61"p', b"\x1b[2h\x1b[12l", b"\x1b%@", b"\x1b L", b"\x1bl", b"\x1bc",
    b"\x1b[!p", b"\x1b7\x1b[10;10H\x1b8", b"\x1b[2 S\x1b[1;2 k", b"\x1b]8;;http://x\alink",
    b"\x1b[1;1H sandbash asks you\x1b[12;3HPress 1, 2, 3 or 4", b"x\x1b[999b", b"\x1b[3J\x1b[2J",
    b"\x1b[?9999h\x1b[?65538l\x1b[?4294967298l", b"\x1b[#P\x1b[1#Q", b"\x1b[>4;2m\x1b[>1u\x1b[=31u",
    b"\x1b[?1000;1002;1003;1006;1004;2004h", b"\x1b[?30h", b"\x1b[?66h\x1b=", b"\x1b[1;1;24;80;7$r",
    b"\x1b[88;1;1;24;80$x", b"\x1b[2*x\x1b[1;1;9;9;1;5;7$t",
    b'\x1b[1;1H\x1bPq"1;1;400;200#1;2;100;0;0#1' + b"!400~-" * 33 + b"\x1b\\",  # a picture
    b"\x1b[?80h\x1bPq#1;2;0;100;0#1" + b"!480~-" * 60 + b"\x1b\\",
]


def random_sequence(chance):
    modes = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 18, 25, 30, 34, 38, 42, 45, 47, 66, 67, 69, 80, 95, 1000, 1001,
             1003, 1035, 1046, 1047, 1048, 1049, 1060, 1070, 2004, 2026]
    numbers = [str(chance.choice(modes) if chance.random() < 0.5 else chance.randrange(100))
               for _ in range(chance.choice((0, 1, 1, 2, 3, 20)))]
    return (chance.choice(("\x1b[",) * 7 + ("\xc2\x9b",)) + chance.choice(("", "", "?", "?", ">", "="))
            + (":" if chance.random() < 0.05 else ";").join(numbers)
            + (chance.choice(" !\"#$%&'*+,-.") if chance.random() < 0.2 else "")
            + (chance.choice("\r\n\x1b\x18\a") if chance.random() < 0.05 else "")
            + (chance.choice("hl") if chance.random() < 0.5 else chr(chance.randrange(0x40, 0x7f)))
            ).encode("latin-1")


def random_string(chance):
    body = bytes(chance.randrange(0x20, 0x7f) if chance.random() < 0.98 else chance.randrange(256)
                 for _ in range(chance.choice((3, 10, 30, 600))))
    number = b"%d;" % chance.choice((0, 2, 4, 8, 10, 11, 12, 50, 52, 104, 1337))
    return (b"\x1b" + bytes((chance.choice(b"]]]P_^Xk"),)) + chance.choice((b"", number)) + body
            + chance.choice((b"", b"\a", b"\x1b\\", b"\x1b\\")))


def random_output(chance):
    pieces = []
    for _ in range(chance.randrange(1, 24)):
        kind = chance.random()
        if kind < 0.3:
            pieces.append(chance.choice(TRICKS))
        elif kind < 0.6:
            pieces.append(random_sequence(chance))
        elif kind < 0.7:
            pieces.append(b"\x1b" + chance.choice((b"", b"#", b"(", b" ", b"%", b")", b"*", b"-"))
                          + bytes((chance.randrange(0x30, 0x7f),)))
        elif kind < 0.85:
            pieces.append(random_string(chance))
        else:
            pieces.append(bytes(chance.randrange(256) for _ in range(chance.randrange(40))))
    return pieces


class Asker:
    """ask_demo's side that is the same on both terminals."""

    def __init__(self, fx):
        self.fx = fx
        self.number = 0
        self.fifos = {name: fx.dir / name for name in ("orders", "feed", "done")}
        for path in self.fifos.values():
            os.mkfifo(path)
        (fx.dir / "answers").touch()
        fx.write(fx.dir / "feeder.py", FEEDER)
        self.words = [str(fx.tool("ask_demo")), "--word=maple tree", str(self.fifos["orders"]),
                      str(fx.dir / "answers"), "python3", str(fx.dir / "feeder.py"),
                      str(self.fifos["feed"]), str(self.fifos["done"])]

    def _put(self, name, data):
        """Write to a fifo whose reader comes again and again; not for ever."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                fd = os.open(self.fifos[name], os.O_WRONLY | os.O_NONBLOCK)
                break
            except OSError:
                check(time.monotonic() < deadline, f"nobody reads {name}: the terminal is gone")
                time.sleep(0.005)
        os.set_blocking(fd, True)
        with os.fdopen(fd, "wb") as stream:
            stream.write(data)

    def feed(self, data):
        fd = os.open(self.fifos["done"], os.O_RDONLY | os.O_NONBLOCK)
        try:
            self._put("feed", data)
            check(select.select([fd], [], [], PATIENCE)[0], "the feeder is stuck")
        finally:
            os.close(fd)
        time.sleep(0.03)  # it lies in the pty; most of it should be read before a question stops that

    def ask(self):
        self.number += 1
        self._put("orders", b"ask\t%d\twrite to\t/home/anna/.ssh/authorized_keys\t/home/anna/.ssh\tvim\t4242"
                            b"\t\twho may log in\tssh-rsa AAAA\n" % self.number)

    def withdraw(self):
        self._put("orders", b"withdraw\t%d\n" % self.number)

    def until(self, condition):
        deadline = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        return True

    def stable(self):
        """A picture that no longer changes."""
        last, since = self.picture(), time.monotonic()
        while time.monotonic() - since < 1.2:
            time.sleep(0.02)
            now = self.picture()
            if now != last:
                last, since = now, time.monotonic()
        return last

    def clean(self):
        """What a question looks like when nothing was written before; and it is one."""
        before = self.stable()
        self.ask()
        check(self.until(lambda: self.picture() != before), "no question shows")
        self.question = self.stable()
        self.withdraw()
        check(self.until(lambda: self.picture() != self.question), "it stays")

    def round(self, pieces):
        data = b"".join(pieces)
        self.feed(data)
        self.ask()
        if not self.until(lambda: self.picture() == self.question):
            where = self.save()
            check(False, f"the question looks different ({where}); seed {SEED}, written:\n"
                         + "\n".join(map(repr, pieces)))
        self.withdraw()
        check(self.until(lambda: self.picture() != self.question), f"it stays; after {pieces}")

    def reset(self):
        self.feed(b"\x1b\\\x1b\\\x1bc")

    def run(self):
        chance = random.Random(SEED)
        self.clean()
        for trick in TRICKS:
            self.round([trick])
            self.reset()
        deadline = time.monotonic() + SECONDS
        rounds = 0
        while time.monotonic() < deadline:
            self.round(random_output(chance))
            rounds += 1
            if chance.random() < 0.2:  # otherwise one mixture comes on top of the other
                self.reset()
        print(f"# seed {SEED}, {len(TRICKS)} tricks, {rounds} mixtures")


class Xterm(Asker):
    processes = ()
    frame = mask = None

    def start(self):
        fx = self.fx
        for program in ("Xvfb", "xterm"):
            if not shutil.which(program):
                skip(f"no {program}")
        self.processes = []
        ours, theirs = os.pipe()
        # the framebuffer as a file; a socket without a name in the file system
        self._start("Xvfb", "-displayfd", str(theirs), "-screen", "0", "1200x800x24", "-fbdir",
                    str(fx.dir), "-nolisten", "tcp", "-nolisten", "unix", "-noreset", pass_fds=[theirs])
        os.close(theirs)
        with os.fdopen(ours) as stream:
            display = ":" + stream.readline().strip()
        check(display != ":", "Xvfb did not start")
        with open(fx.dir / "Xvfb_screen0", "rb") as stream:
            self.frame = mmap.mmap(stream.fileno(), 0, prot=mmap.PROT_READ)
        header = struct.unpack(">25I", self.frame[:100])
        self.first, self.line = header[0] + header[19] * 12, header[12]
        self._start("xterm", "-u8", "-fn", "fixed", "-b", "0", "-bw", "0", "-geometry", f"{COLUMNS}x{ROWS}+0+0", "-ti",
                    "vt340", "-xrm", "XTerm*allowWindowOps: false", "-e", *self.words,
                    env={**os.environ, "DISPLAY": display, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"})
        self.feed(b"ready")

    def _start(self, *words, **how):
        self.processes.append(subprocess.Popen(words, cwd=self.fx.dir, stdin=subprocess.DEVNULL,
                                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **how))

    def picture(self):
        width, height = COLUMNS * CELL[0] * 4, ROWS * CELL[1]
        rows = [self.frame[self.first + y * self.line:self.first + y * self.line + width]
                for y in range(height)]
        if self.mask:  # the cell with the cursor, whose shape is the command's
            left, top = self.mask
            for y in range(top, top + CELL[1]):
                rows[y] = rows[y][:left * 4] + rows[y][(left + CELL[0]) * 4:]
        return b"".join(rows)

    def clean(self):
        super().clean()
        plain = self.question
        before = self.stable()
        self.feed(b"\x1b[6 q")  # another cursor
        check(self.until(lambda: self.picture() != before), "the cursor stays as it was")
        before = self.stable()
        self.ask()
        check(self.until(lambda: self.picture() != before), "no question shows")
        other = self.stable()
        width = COLUMNS * CELL[0] * 4
        places = [(at % width // 4, at // width) for at in range(len(plain)) if plain[at] != other[at]]
        check(places, "the cursor has no shape")
        cell = {(x // CELL[0], y // CELL[1]) for x, y in places}
        check(len(cell) == 1, f"more than the cursor has changed: {cell}")
        (column, row), = cell
        self.mask = column * CELL[0], row * CELL[1]
        self.question = self.picture()
        self.withdraw()
        check(self.until(lambda: self.picture() != self.question), "it stays")
        self.reset()

    def save(self):
        width, height = COLUMNS * CELL[0], ROWS * CELL[1]
        path = os.environ.get("SANDBASH_TEST_PICTURE")
        if not path:
            return "SANDBASH_TEST_PICTURE=FILE shows it"
        with open(path, "wb") as stream:
            stream.write(b"P6 %d %d 255\n" % (width, height))
            for y in range(height):
                row = self.frame[self.first + y * self.line:self.first + y * self.line + width * 4]
                stream.write(b"".join(bytes((row[x + 2], row[x + 1], row[x])) for x in range(0, len(row), 4)))
        return path

    def close(self):
        for process in reversed(self.processes):
            process.terminate()
            process.wait()
        if self.frame:
            self.frame.close()


class Tmux(Asker):
    def start(self):
        if not shutil.which("tmux"):
            skip("no tmux")
        command = " ".join(f"'{word}'" for word in self.words)
        self.call("-f", "/dev/null", "new-session", "-d", "-x", str(COLUMNS), "-y", str(ROWS), command, ";",
                  "set-option", "-g", "status", "off", ";", "set-option", "-g", "allow-passthrough", "on",
                  ";", "set-option", "-g", "window-size", "manual", ";", "resize-window", "-x", str(COLUMNS),
                  "-y", str(ROWS))
        self.feed(b"ready")

    def call(self, *words):
        return subprocess.run(["tmux", "-u", "-S", self.fx.dir / "tmux", *words], cwd=self.fx.dir,
                              env={**self.fx.env(), "LC_ALL": "C.UTF-8"}, stdin=subprocess.DEVNULL,
                              check=False, capture_output=True).stdout

    def picture(self):
        return self.call("capture-pane", "-p", "-e", ";", "display-message", "-p",
                         "#{cursor_x},#{cursor_y},#{cursor_flag},#{insert_flag},#{wrap_flag}")

    def save(self):
        return "\n" + self.picture().decode("utf-8", "replace")

    def close(self):
        self.call("kill-server")


def register(name, kind):
    @test(f"C5 {name}: after whatever was written, a question looks as on a fresh terminal")
    def screens(fx):
        asker = kind(fx)
        try:
            asker.start()
            asker.run()
        finally:
            asker.close()


register("xterm", Xterm)
register("tmux", Tmux)
run_all()
