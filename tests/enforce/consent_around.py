"""consent_around.py - C5, C2, C6: from inside, try to get around a question: by who asks, and by what an answer leaves.

Each attack stands beside what shows that it could work: the same act without a sandbox, or a
harmless neighbour that does."""

import os
import re
import socket

from forger import HEADER, go, inside
from tap import BIN, FLAGS, check, contains, equal, lacks, run_all, test

FLAGS.clear()  # a static run asks nobody: this is about the other one
BOTH = ("full", "flat")


# --- by who asks --------------------------------------------------------------------------


@test("C5 a process that cannot be looked into is refused or asked about, never let through",
      variants=BOTH)
def not_dumpable(fx):
    person = inside(fx, """
libc.prctl(4, 0, 0, 0, 0)
attempt('outside', lambda: open(outside + '/f', 'w').close())
attempt('inside', lambda: open('in', 'w').close())
""")
    while person.term.process.poll() is None:
        person.until(lambda: person.shows() or person.term.process.poll() is not None, "stuck")
        if person.shows():
            contains(person.term.screen(), str(fx.outside / "f"))
            person.answer("3")
    person.end()
    contains(person.term.output, "REFUSED outside")
    check(not fx.exists(fx.outside / "f"))


@test("C5 a thread with descriptors and a directory of its own: its own are meant", variants=BOTH)
def own_tables(fx):
    for name in "ab":
        (fx.outside / name).mkdir()
    person = inside(fx, """
a, b = (os.open(outside + '/' + n, os.O_RDONLY | os.O_DIRECTORY) for n in 'ab')
os.dup2(a, 50)
os.chdir(outside + '/a')
def work():
    if libc.unshare(0x400) or libc.unshare(0x200): return say('cannot unshare')
    os.dup2(b, 50)
    os.chdir(outside + '/b')
    attempt('dirfd', lambda: os.close(os.open('x', os.O_WRONLY | os.O_CREAT, dir_fd=50)))
    attempt('cwd', lambda: os.close(os.open('y', os.O_WRONLY | os.O_CREAT)))
    attempt('proc', lambda: os.close(os.open('/proc/thread-self/fd/50/z',
                                             os.O_WRONLY | os.O_CREAT)))
t = later(work)
t.join()
attempt('main', lambda: os.close(os.open('m', os.O_WRONLY | os.O_CREAT, dir_fd=50)))
""")
    for name in "xyz":
        person.answer("1", fx.outside / "b" / name)
    person.answer("1", fx.outside / "a/m")
    person.end()
    equal((sorted(os.listdir(fx.outside / "a")), sorted(os.listdir(fx.outside / "b"))),
          (["m"], ["x", "y", "z"]))


@test("C5 no way around the question: O_PATH, /proc, io_uring, handles, userfaultfd, mounts",
      variants=BOTH)
def ways_around(fx):
    fx.write(fx.outside / "f", "untouched\n")
    person = inside(fx, """
f = outside + '/f'
def call(number, *args):
    result = libc.syscall(number, *args)
    if result < 0: raise OSError(ctypes.get_errno(), '')
    return result
fd = os.open(f, os.O_PATH)
rd = os.open(f, os.O_RDONLY)
attempt('opath', lambda: os.open('/proc/self/fd/%d' % fd, os.O_WRONLY))
attempt('reopen', lambda: os.open('/proc/self/fd/%d' % rd, os.O_RDWR))
attempt('thread-self', lambda: os.open('/proc/thread-self/fd/%d' % rd, os.O_RDWR | os.O_APPEND))
attempt('root', lambda: os.open('/proc/self/root' + f, os.O_WRONLY))
attempt('fchmod', lambda: os.fchmod(rd, 0o777))
attempt('proc chmod', lambda: os.chmod('/proc/self/fd/%d' % fd, 0o777))
attempt('utime', lambda: os.utime('/proc/self/fd/%d' % rd, (1, 1)))
attempt('io_uring', lambda: call(425, 8, ctypes.create_string_buffer(256)))
attempt('userfaultfd', lambda: call(282 if os.uname().machine == 'aarch64' else 323, 1))
attempt('link', lambda: os.link(f, 'linked'))
attempt('link fd', lambda: os.link('/proc/self/fd/%d' % fd, 'linked2', follow_symlinks=True))
attempt('rename', lambda: os.rename(f, 'moved'))
attempt('exchange', lambda: (open('mine', 'w').close(),
        call(276 if os.uname().machine == 'aarch64' else 316, -100, b'mine', -100, f.encode(), 2)))
attempt('unshare', lambda: libc.unshare(0x10000000) and
        (_ for _ in ()).throw(OSError(ctypes.get_errno(), '')))
attempt('mount', lambda: libc.mount(b'none', b'/mnt', b'tmpfs', 0, None) and
        (_ for _ in ()).throw(OSError(ctypes.get_errno(), '')))
import tempfile
a, b = socket.socketpair()
socket.send_fds(a, [b'x'], [rd])
got = socket.recv_fds(b, 1, 1)[1][0]
attempt('passed', lambda: os.open('/proc/self/fd/%d' % got, os.O_WRONLY))
how = struct.pack('QQQ', os.O_WRONLY, 0, 0)
attempt('openat2', lambda: call(437, -100, f.encode(), how, 24))
attempt('mem', lambda: os.pwrite(os.open('/proc/self/mem', os.O_RDWR), b'', 0) or 'harmless')
say('over')
""")
    asked = 0
    while person.term.process.poll() is None:
        person.until(lambda: person.shows() or person.term.process.poll() is not None, "stuck")
        if person.shows():
            asked += 1
            person.answer("3")
    person.end()
    contains(person.term.output, "over")
    check(asked >= 1)
    done = set(re.findall(r"DONE ([a-z_ 0-9-]+?) ", person.term.output.replace("\r", " ")))
    equal(done - {"mem"}, set(), "let through")
    equal(fx.read(fx.outside / "f"), "untouched\n")
    equal(os.listdir(fx.outside), ["f"])
    equal(os.stat(fx.outside / "f").st_nlink, 1)


@test("C5 a socket put in the place of another while connect is held", variants=BOTH)
def swapped_socket(fx):
    shown, other = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    shown.bind(str(fx.outside / "shown"))
    other.bind(str(fx.outside / "other"))
    shown.listen(9)
    other.listen(9)
    person = inside(fx, """
address = ctypes.create_string_buffer(struct.pack('H108s', 1, (outside + '/shown').encode()))
s1, s2 = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
os.dup2(s1.fileno(), 60)
def act(): say('connect', libc.connect(60, address, 110))
t = later(act)
wait_for('go')
os.dup2(s2.fileno(), 60)
address.raw = struct.pack('H108s', 1, (outside + '/other').encode()) + b'\\0'
open('swapped', 'w').close()
t.join()
for name, s in ('s1', s1), ('s2', s2):
    attempt(name, lambda: s.getpeername())
""")
    person.question("connect to", fx.outside / "shown")
    go(fx)
    person.until(lambda: fx.exists("swapped"), "not swapped")
    person.answer("1", fx.outside / "shown")
    person.end()
    other.setblocking(False)
    try:
        other.accept()
        reached = True
    except BlockingIOError:
        reached = False
    check(not reached, "the other service was reached")


@test("C5 no race from an inet socket to a unix one reaches a service", variants=BOTH)
def family_race(fx):
    service = socket.socket(socket.AF_UNIX)
    service.bind(str(fx.outside / "service"))
    service.listen(100)
    result = fx.sandbash("python3", "-c", HEADER + """
inet = struct.pack('!HH4s8x', 0, 1, bytes([127, 0, 0, 1])); inet = struct.pack('H', 2) + inet[2:]
unix = struct.pack('H108s', 1, (outside + '/service').encode())
address = ctypes.create_string_buffer(110)
stop = False
SOCKETS = []
def flip():
    while not stop:
        s, u = socket.socket(), socket.socket(socket.AF_UNIX)
        SOCKETS[:] = s, u
        for _ in range(20):
            ctypes.memmove(address, inet.ljust(110, b'\\0'), 110); os.dup2(s.fileno(), 60)
            ctypes.memmove(address, unix, 110); os.dup2(u.fileno(), 60)
s = socket.socket()
os.dup2(s.fileno(), 60)
t = later(flip)
end = time.monotonic() + 4
n = 0
while time.monotonic() < end:
    if libc.connect(60, address, 110) == 0:
        for held in SOCKETS:
            try: say('connected', held.family, held.getpeername())
            except OSError: pass
    n += 1
stop = True
say('tries', n)
""", str(fx.outside))
    contains(result.stdout, "tries")
    lacks(result.stdout, "connected", result.stdout)
    service.setblocking(False)
    try:
        service.accept()
        check(False, "the service was reached")
    except BlockingIOError:
        pass


@test("C5 a nested run with looser rules gains nothing, one with stricter rules holds",
      variants=BOTH)
def nested(fx):
    (fx.project / "sub").mkdir()
    fx.write("keep", "untouched\n")
    flag = ["--best-effort"] if fx.variant == "flat" else []
    loose = fx.sandbash(BIN, *flag, f"--allow-write={fx.outside}", "--", "touch",
                        fx.outside / "f")
    check(loose.status != 0, loose)
    check(not fx.exists(fx.outside / "f"))
    strict = fx.sandbash("bash", "-c", f"""
{BIN} {' '.join(flag)} --rule='read keep' -- bash -c 'echo x > keep; echo inner=$?; echo x > other; echo other=$?'
echo x > after; echo after=$?
""")
    contains(strict.stdout, "inner=1", strict.stderr)
    contains(strict.stdout, "other=0", strict.stderr)
    contains(strict.stdout, "after=0")
    equal(fx.read("keep"), "untouched\n")


@test("C5 the mark of a nested run cannot be exchanged for that of another one", variants=BOTH)
def nested_mark(fx):
    fx.write("keep", "untouched\n")
    flag = "--best-effort" if fx.variant == "flat" else ""
    fx.write("inner.py", HEADER + """
for n in range(1, 8):
    def mark():
        number = 261 if os.uname().machine == 'aarch64' else 302
        if libc.syscall(number, 0, 10, struct.pack('QQ', 2**30 - n, 2**30 - n), None) != 0:
            raise OSError(ctypes.get_errno(), '')
    attempt('mark %d' % n, mark)
    attempt('write %d' % n, lambda: open('keep', 'w').write('x'))
attempt('neighbour', lambda: open('other', 'w').write('x'))
""")
    result = fx.sandbash("bash", "-c", f"""
(for n in 1 2 3 4 5 6; do {BIN} {flag} --rule="read no$n" -- sleep 6 & done; wait) &
sleep 0.2
{BIN} {flag} --rule='read keep' -- bash -c 'sleep 2; exec python3 inner.py {fx.outside}'
""")
    contains(result.stdout, "DONE neighbour", result.stderr)
    lacks(result.stdout, "DONE write", result.stdout)
    equal(fx.read("keep"), "untouched\n")


# --- by what is left behind ---------------------------------------------------------------


@test("C2 always and sessions: no name becomes another rule")
def rule_injection(fx):
    names = ["new\nwrite ~", "glob*", "?", "[a-z]", "hash # x", " lead", "trail ", "back\\slash",
             "quote'\"", "\x1b[31m", "\udcff", "!neg", "include x"]
    for number, name in enumerate(names):
        (fx.outside / f"p{number}" / name).mkdir(parents=True)
        fx.write(fx.outside / f"p{number}" / "other" / "f", "")
        program = f"""
path = outside.encode() + b'/p{number}/' + {os.fsencode(name)!r} + b'/f'
attempt('open', lambda: os.close(os.open(path, os.O_WRONLY | os.O_CREAT)))
"""
        person = inside(fx, program, flags=("--session=s",))
        screen = person.question(f"/p{number}/")
        person.answer("4" if "4  " in screen else "1", f"/p{number}/")
        equal(person.end(), 0)
    listed = fx.run(BIN, "--print-policy")
    equal(listed.status, 0, listed.stderr)  # what was written can be read
    person = inside(fx, """
for n in range(%d):
    attempt('other%%d' %% n, lambda: os.close(os.open(outside + '/p%%d/other/f' %% n, os.O_WRONLY)))
attempt('home', lambda: open(os.environ['HOME'] + '/x', 'w').close())
""" % len(names), flags=("--session=s", "--consent=deny"))
    person.end()
    lacks(person.term.output, "DONE")


@test("C6 a remedy with a hostile name is safe to paste")
def remedy_injection(fx):
    for name in ("a'; touch pwned; '", "$(touch pwned)", "`touch pwned`", "a\n touch pwned\n",
                 "\x1b]0;x\x07y", "-rf"):
        result = fx.sandbash("python3", "-c", f"""
import os
try: os.open({str(fx.outside)!r} + '/' + {name!r}, os.O_WRONLY | os.O_CREAT)
except OSError: pass
""")
        lacks(result.stderr, "\x1b")
        flags = re.findall(r"--allow-write=.*", result.stderr)
        for flag in flags:
            fx.run("bash", "-c", f": {flag}")
        check(not fx.exists("pwned"), f"{name!r}: {result.stderr}")
        lacks(result.stderr, "\n touch")


@test("C6 --report is not led elsewhere by the command", variants=BOTH)
def report_link(fx):
    fx.write(fx.outside / "victim", "untouched\n")
    for top in ("", f"{fx.project}/"):
        for make, name in ((f"ln -s {fx.outside}/victim report", "report"),
                           ("mkfifo report", "report"),
                           (f"mv d e; ln -s {fx.outside} d", "d/victim"),
                           ("mv d e; mkdir d", "d/other")):
            fx.run("rm", "-rf", "report", "d", "e")
            fx.path("d").mkdir()
            fx.sandbash(f"--report={top}{name}", "bash", "-c",
                        f"{make}; echo x > {fx.outside}/no")
            equal(fx.read(fx.outside / "victim"), "untouched\n", make)
            equal(os.listdir(fx.outside), ["victim"])
        result = fx.sandbash(f"--report={top}plain", "bash", "-c", f"echo x > {fx.outside}/no")
        contains(fx.read("plain"), "outside", result.stderr)  # the neighbour
        os.unlink(fx.path("plain"))


@test("C2 a directory that was opened is no way out of it", variants=BOTH)
def out_of_directory(fx):
    (fx.outside / "d").mkdir()
    fx.write(fx.outside / "victim", "untouched\n")
    fx.write(fx.outside / "tree/f", "untouched\n")
    person = inside(fx, """
attempt('first', lambda: open(outside + '/d/first', 'w').close())
d, v = outside + '/d/', outside + '/victim'
attempt('neighbour', lambda: os.symlink(v, d + 'link'))
attempt('through link', lambda: open(d + 'link', 'w').close())
attempt('hard link', lambda: os.link(v, d + 'hard'))
attempt('in', lambda: os.rename(v, d + 'moved'))
attempt('out', lambda: os.rename(d + 'first', outside + '/victim'))
attempt('tree', lambda: os.rename(outside + '/tree', d + 'tree'))
attempt('chmod link', lambda: os.chmod(d + 'link', 0o777))
attempt('dots', lambda: open(d + '../new', 'w').close())
attempt('itself', lambda: os.rename(outside + '/d', outside + '/e'))
attempt('gone', lambda: os.rmdir(outside + '/d'))
fd = os.open(d, os.O_RDONLY)
attempt('fd', lambda: os.close(os.open('../new2', os.O_WRONLY | os.O_CREAT, dir_fd=fd)))
""")
    person.answer("2", fx.outside / "d/first")
    while person.term.process.poll() is None:
        person.until(lambda: person.shows() or person.term.process.poll() is not None, "stuck")
        if person.shows():
            person.answer("3")
    person.end()
    done = set(re.findall(r"DONE ([a-z ]+?) None", person.term.output.replace("\r", " ")))
    equal(done, {"first", "neighbour"})
    equal(fx.read(fx.outside / "victim"), "untouched\n")
    equal(fx.read(fx.outside / "tree/f"), "untouched\n")


if __name__ == "__main__":
    run_all()
