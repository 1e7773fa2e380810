"""nameless.py - files that a descriptor leads to, and no name that can be told.

Pipes and removed files have nothing to protect.  A file that only seems to have no name has one
somewhere: in a directory too deep for a path, or one from before that was never ours.
"""

import os

from tap import check, contains, equal, lacks, run_all, test

BOTH = ("full", "flat")
PYTHON = "python3"
HOOK = "#!/bin/sh\nexit 0\n"

TOOLS = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def attempt(what, function):
    try:
        function()
        print('DONE', what, flush=True)
    except OSError as error:
        print('REFUSED', what, error.strerror, flush=True)
def by_number(fd):
    return f'/proc/self/fd/{fd}'
def link(fd, path):  # os.link() does not follow
    if libc.linkat(-100, by_number(fd).encode(), -100, path.encode(), 0x400) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
def append(path):
    fd = os.open(path, os.O_WRONLY | os.O_APPEND)
    os.write(fd, b'EVIL')
    os.close(fd)
"""

# A directory is carried to where the names of its files are longer than a path may be, and back.
DEEP = TOOLS + """
top, inner = os.getcwd(), sys.argv[1]
length = len(top)
while length < 4088:
    name = 'd' * min(250, 4088 - length - 1)
    os.makedirs(name, exist_ok=True)
    os.chdir(name)
    length += len(name) + 1
if sys.argv[2] == 'back':
    os.rename('s', top + '/.git')
    sys.exit()
try:
    os.rename(top + '/.git', 's')
except PermissionError:  # with hooks in it, it stays where it is
    sys.exit('hooks' not in inner)
fd = os.open('s/' + inner, os.O_RDONLY)
for act in sys.argv[2:]:
    if act == 'link':
        attempt(act, lambda: link(fd, top + '/b'))
    elif act == 'truncate':
        attempt(act, lambda: os.truncate(by_number(fd), 0))
    elif act == 'chmod':
        attempt(act, lambda: os.fchmod(fd, 0o777))
    elif act == 'times':
        attempt(act, lambda: os.utime(fd, (1, 1)))
try:
    os.rename('s', top + '/.git')  # whose config cannot be read there
except OSError:
    pass
if os.path.exists(top + '/b'):
    append(top + '/b')
"""


def remove_deep(fx):
    """shutil.rmtree() goes by path, and these are too long for one."""
    fx.run("rm", "-rf", *[name for name in os.listdir(fx.project) if name.startswith("ddd")])


@test("P3 a guarded file in a directory too deep for a path", variants=BOTH)
def too_deep(fx):
    fx.git_project()
    for inner in ("config", "hooks/pre-commit"):
        guarded = fx.path(".git") / inner
        guarded.parent.mkdir(exist_ok=True)
        guarded.write_text(HOOK if "hooks" in inner else guarded.read_text())
        guarded.chmod(0o700)
        before = guarded.read_text(), guarded.stat().st_mode, guarded.stat().st_mtime_ns
        result = fx.sandbash("--consent=deny", "--quiet", PYTHON, "-c", DEEP, inner, "link",
                             "truncate", "chmod", "times")
        if not fx.exists(".git"):
            fx.run(PYTHON, "-c", DEEP, inner, "back")
        remove_deep(fx)
        equal(result.status, 0, result.stderr)
        lacks(result.stdout, "DONE")
        equal((guarded.read_text(), guarded.stat().st_mode, guarded.stat().st_mtime_ns), before)
    result = fx.run(PYTHON, "-c", DEEP, "config", "link")
    remove_deep(fx)
    contains(result.stdout, "DONE link", "the control")
    contains(fx.read(".git/config"), "EVIL", "the control")


# A name from before is removed while the file is open for reading: its other name stays.
LOST = TOOLS + """
fd = os.open('a', os.O_RDONLY)
os.unlink('a')
attempt('open', lambda: append(by_number(fd)))
attempt('link', lambda: (link(fd, 'b'), append('b')))
attempt('truncate', lambda: os.truncate(by_number(fd), 0))
attempt('chmod', lambda: os.fchmod(fd, 0o777))
attempt('times', lambda: os.utime(fd, (1, 1)))
"""


@test("P3 a file whose name here was removed, and that has another from before", variants=BOTH)
def lost(fx):
    fx.git_project()
    fx.path(".git/hooks").mkdir(exist_ok=True)
    for other in (fx.outside / "file", fx.path(".git/hooks/pre-commit")):
        fx.write(other, HOOK)
        other.chmod(0o700)
        before = other.stat().st_mode, other.stat().st_mtime_ns
        os.link(other, fx.path("a"))
        result = fx.sandbash("--consent=deny", "--quiet", PYTHON, "-c", LOST)
        equal(result.status, 0, result.stderr)
        lacks(result.stdout, "DONE", other)
        equal((other.read_text(), other.stat().st_mode, other.stat().st_mtime_ns),
              (HOOK, *before))
        os.link(other, fx.path("a"))
        result = fx.run(PYTHON, "-c", LOST)
        lacks(result.stdout, "REFUSED", "the control")
        check(other.stat().st_size == 0, "the control")
        fx.path("b").unlink()


OWN = TOOLS + """
fd = os.open('own', os.O_RDWR | os.O_CREAT, 0o600)
os.link('own', 'second')
os.unlink('own')
attempt('own: chmod', lambda: os.fchmod(fd, 0o640))
attempt('own: times', lambda: os.utime(fd, (1, 1)))
attempt('own: open', lambda: append(by_number(fd)))
attempt('own: link', lambda: link(fd, 'third'))
fd = os.open('.', os.O_TMPFILE | os.O_RDWR, 0o600)
attempt('unnamed: chmod', lambda: os.fchmod(fd, 0o640))
attempt('unnamed: link', lambda: link(fd, 'fourth'))
attempt('unnamed: times', lambda: os.utime(fd, (1, 1)))
attempt('unnamed: open', lambda: append(by_number(fd)))
fd = os.open('a (deleted)', os.O_RDWR | os.O_CREAT, 0o600)
attempt('odd name: chmod', lambda: os.fchmod(fd, 0o640))
attempt('odd name: open', lambda: append(by_number(fd)))
fd = os.open('gone', os.O_RDWR | os.O_CREAT, 0o600)
os.unlink('gone')
attempt('gone: chmod', lambda: os.fchmod(fd, 0o640))
attempt('gone: open', lambda: append(by_number(fd)))
for fd in os.pipe():
    attempt('pipe: chmod', lambda: os.fchmod(fd, 0o600))
"""


@test("P3 the neighbours: files of the run that have lost a name, or have none")
def own(fx):
    for run in (fx.sandbash, lambda *words: fx.run(*words[2:])):
        result = run("--consent=deny", "--quiet", PYTHON, "-c", OWN)
        equal(result.status, 0, result.stderr)
        lacks(result.stdout, "REFUSED")
        equal([fx.path(name).stat().st_mode & 0o777 for name in ("second", "third", "fourth",
                                                                 "a (deleted)")], [0o640] * 4)
        equal(fx.read("second"), "EVIL")
        for name in ("second", "third", "fourth", "a (deleted)"):
            fx.path(name).unlink()


run_all()
