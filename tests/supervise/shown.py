"""shown.py - C9: a yes to a question about a directory is for what was in it when it was shown.

While the question waits, another process of the run changes what is in the directory, in every way that
there is.  Without a sandbox the change lands; inside, the person is asked again, and sees it.
"""

import os
import re
import stat

from person import Person
from tap import check, contains, equal, lacks, run_all, test

BOTH = ("full", "flat")
PLAIN = "{}        \n"
EVIL = "{\"evil\":1}\n"  # as long
AGAIN = "it has changed since you said yes"

# One process renames; another waits for the word, changes something, and says so.
SCRIPT = r"""
import mmap, os, subprocess, sys, time

def wait(name):
    while not os.path.exists(name):
        time.sleep(0.01)

def put(name, text):
    with open(name, "w") as file:
        file.write(text)

def over(name, text):  # not emptied in between, and with the times that it had
    old = os.stat(name)
    with open(name, "r+") as file:
        file.write(text)
    os.utime(name, ns=(old.st_atime_ns, old.st_mtime_ns))

def through_map(name, text):
    with open(name, "r+b") as file, mmap.mmap(file.fileno(), 0) as area:
        area[:] = text.encode()

def swap(name, text):
    put("other", text)
    os.rename("other", name)

def exchange(text):
    os.rename("x", "y")
    os.mkdir("x")
    put("x/tasks.json", text)

EVIL = sys.argv[2]
ways = {
    "nothing": lambda: None,
    "another file": lambda: put("x/launch.json", EVIL),
    "another file, deep": lambda: put("x/deep/er/file", EVIL),
    "other bytes": lambda: over("x/tasks.json", EVIL),
    "other bytes, by a mapping": lambda: through_map("x/tasks.json", EVIL),
    "other bytes, deep": lambda: over("x/deep/er/old", EVIL),
    "another file in its place": lambda: swap("x/tasks.json", EVIL),
    "another directory": lambda: exchange(EVIL),
    "a mode": lambda: os.chmod("x/deep/er/old", 0o755),
    "a link that leads elsewhere": lambda: (os.unlink("x/link"), os.symlink("/bin/sh", "x/link")),
    "a file less": lambda: os.unlink("x/deep/er/old"),
    "a directory more": lambda: os.mkdir("x/deep/new"),
    "another name of it": lambda: over("made", EVIL),
    "objects and refs": lambda: put("q/hooks/post-commit", EVIL),
}
way = sys.argv[1]
if way == "another name of it":
    os.link("x/deep/er/old", "made")
if os.fork() == 0:
    wait("go")
    ways[way]()
    put("done", "")
    os._exit(0)
try:
    if way == "objects and refs":
        os.mkdir("q/refs")
    else:
        os.rename("x", ".vscode")
    print("renamed=yes", flush=True)
except OSError as error:
    print("renamed=" + error.strerror.replace(" ", "-"), flush=True)
"""
WAYS = ["another file", "another file, deep", "other bytes", "other bytes, by a mapping", "other bytes, deep",
        "another file in its place", "another directory", "a mode", "a link that leads elsewhere",
        "a file less", "a directory more", "another name of it"]


def prepare(fx, big=0):
    fx.write("script.py", SCRIPT)
    fx.write("x/tasks.json", PLAIN)
    fx.write("x/deep/er/old", PLAIN)
    fx.path("x/link").symlink_to("/bin/true")
    if big:
        fx.write("x/big", "x" * big)
    os.link(fx.path("x/tasks.json"), fx.path("name"))


def again(fx):
    fx.run("rm", "-rf", "x", "y", ".vscode", "name", "made", "go", "done", "q")


def state(top):
    """What lies there, whatever its numbers and times are."""
    found = {}
    for directory, names, files in os.walk(top):
        for name in names + files:
            path = os.path.join(directory, name)
            info = os.lstat(path)
            what = os.readlink(path) if stat.S_ISLNK(info.st_mode) else info.st_mode
            if stat.S_ISREG(info.st_mode):
                with open(path, encoding="utf-8") as file:
                    what = (what, file.read())
            found[os.path.relpath(path, top)] = what
    return found


def change(fx, person, *words):
    """While a question shows, the other process does what it wants."""
    screen = person.question("rename", ".vscode", *words)
    fx.write("go", "")
    person.until(lambda: fx.exists("done"), "the other process does nothing")
    return screen


@test("C9 control: without the sandbox each of them lands", variants=("full",))
def control(fx):
    for way in WAYS:
        prepare(fx)
        before = state(fx.path("x"))
        fx.write("go", "")
        slow = SCRIPT.replace("try:\n", 'wait("done")\ntry:\n')
        fx.write("script.py", slow)
        fx.run("python3", "script.py", way, EVIL)
        check(state(fx.path(".vscode")) != before, way)
        again(fx)


def one_way(way, big=0):
    def run(fx):
        prepare(fx, big)
        before = state(fx.path("x"))
        person = Person(fx, "python3", "script.py", way, EVIL)
        screen = change(fx, person, "it is a directory, and all that is in it comes along: ")
        lacks(screen, AGAIN)
        changed = state(fx.path("x"))
        check(changed != before, "control")
        person.press("1")
        screen = person.question("rename", AGAIN)
        check(not fx.exists(".vscode"), "nothing has landed")
        if way == "another file":
            contains(screen, "launch.json")
        person.press("3")
        person.term.expect("renamed=Permission-denied")
        person.end()
        check(not fx.exists(".vscode"))
        equal(state(fx.path("x")), changed, "it is where it was")
        lacks("\n".join(os.listdir(fx.project)), "sandbash-hold")
    return run


@test("C9 a yes to what has changed is one to that", variants=BOTH)
def yes_again(fx):
    prepare(fx)
    person = Person(fx, "python3", "script.py", "another file", EVIL)
    change(fx, person)
    changed = state(fx.path("x"))
    person.press("1")
    person.question("rename", AGAIN)
    person.press("1")
    person.term.expect("renamed=yes")
    person.end()
    equal(state(fx.path(".vscode")), changed)
    check(not fx.exists("x"))


for each in WAYS:
    test(f"C9 a directory that was shown is changed before the yes: {each}",
         variants=BOTH if each in ("another file", "other bytes") else ("full",))(one_way(each))
for each in ("other bytes", "a link that leads elsewhere", "another file in its place"):
    test(f"C9 the same where it is too large to be read: {each}",
         variants=("full",))(one_way(each, 17 << 20))


@test("C9 neighbour: a directory that nobody changes moves with one yes, whole", variants=BOTH)
def neighbour(fx):
    for big in (0, 17 << 20):
        prepare(fx, big)
        before = state(fx.path("x"))
        person = Person(fx, "python3", "script.py", "nothing", EVIL)
        screen = change(fx, person)
        contains(screen, "comes along: " + ("4 files in 2 directories" if big else "3 files in 2 directories"))
        person.press("1")
        person.term.expect("renamed=yes")
        person.end()
        equal(state(fx.path(".vscode")), before)
        again(fx)


def answered(person, pattern, refused):
    """Yes to every question until the pattern comes, and what it says: a no after three questions, or a yes
    to one that has named what may still be written to."""
    screens = []
    while True:
        person.until(lambda: person.shows("rename") or re.search(pattern, person.term.output), "no end")
        found = re.search(pattern, person.term.output)
        if found:
            break
        screens.append(person.term.screen())
        person.press("1")
        person.until(lambda: person.term.screen() != screens[-1], "the question stays")
    if found[1] == refused:
        equal(len(screens), 3)
        contains(screens[1], AGAIN)
        contains(screens[2], "it has changed again since you said yes")
    else:
        contains(screens[-1], "may still be written to")
    return found[1]


EXCHANGE = r"""
import ctypes, itertools, os, sys

def put(name, text):
    with open(name, "w") as file:
        file.write(text)

if os.fork() == 0:
    while not os.path.exists("go"):
        pass
    for number in itertools.count() if sys.argv[1] == "loop" else (1,):
        try:
            put("x/tasks.json", "%010d\n" % number)
        except OSError:
            pass
        if os.path.exists("stop"):
            break
        if number == 1:
            put("done", "")
    os._exit(0)
if ctypes.CDLL(None, use_errno=True).renameat2(-100, b"x", -100, b".vscode", 2) == 0:
    print("exchanged=yes", flush=True)
else:
    print("exchanged=no", flush=True)
put("stop", "")
"""


@test("C9 two directories that change places are what they were, or asked about again", variants=("full",))
def exchange(fx):
    for way, key, want in (("once", "1", "yes"), ("once", "3", "no"), ("loop", "1", "no")):
        prepare(fx)
        fx.write(".vscode/extension.txt", PLAIN)
        fx.write("exchange.py", EXCHANGE)
        person = Person(fx, "python3", "exchange.py", way, rows=40)
        lacks(person.question("rename", "the two change places"), AGAIN)
        fx.write("go", "")
        person.until(lambda: fx.exists("done"), "the other process does nothing")
        if way == "loop":
            want = answered(person, "exchanged=(yes|no)", want)
        else:
            person.press("1")
            person.question("rename", AGAIN)
            check(fx.exists("x/tasks.json") and not fx.exists(".vscode/tasks.json"))
            person.press(key)
            person.term.expect(f"exchanged={want}")
        person.end()
        equal(fx.exists(".vscode/tasks.json"), want == "yes")
        equal(fx.exists("x/tasks.json"), want == "no")
        fx.run("rm", "-rf", "stop")
        again(fx)


LOOP = r"""
import os, sys
number = 0
if os.fork() == 0:
    while not os.path.exists("stop"):
        number += 1
        try:
            with open("x/tasks.json", "r+") as file:
                file.write("%010d\n" % number)
        except OSError:
            pass
    os._exit(0)
try:
    os.rename("x", ".vscode")
    print("renamed=yes", flush=True)
except OSError as error:
    print("renamed=" + error.strerror.replace(" ", "-"), flush=True)
os.close(os.open("stop", os.O_CREAT | os.O_WRONLY))
"""


@test("C9 one that changes all the time is asked about three times, and then refused", variants=BOTH)
def loop(fx):
    prepare(fx)
    fx.write("loop.py", LOOP)
    person = Person(fx, "python3", "loop.py")
    refused = answered(person, "renamed=(yes|Permission-denied)", "Permission-denied") != "yes"
    person.end()
    equal("(it changed while" in person.term.screen(), refused)
    equal(fx.exists(".vscode"), not refused)
    equal(fx.exists("x/tasks.json"), refused)
    lacks("\n".join(os.listdir(fx.project)), "sandbash-hold")


KEPT = r"""
import mmap, os, sys
file = open("x/tasks.json", "r+b")
area = mmap.mmap(file.fileno(), 0) if sys.argv[1] == "mapping" else None
if area:
    file.close()
    area[0:1] = b"["  # it was there before the question
try:
    os.rename("x", ".vscode")
    print("renamed=yes", flush=True)
except OSError as error:
    print("renamed=no", flush=True)
if area:
    area[0:4] = b"evil"
else:
    file.write(b"evil"); file.close()
"""


@test("C9 a file that somebody has open for writing is one that the question names", variants=BOTH)
def kept_open(fx):
    for way in ("descriptor", "mapping"):
        for key, want in (("1", "evil"), ("3", None)):
            prepare(fx)
            fx.write("kept.py", KEPT)
            person = Person(fx, "python3", "kept.py", way)
            person.answer(key, "rename", "'tasks.json' may still be written to: a yes is to whatever that is")
            person.end()
            if want:
                contains(fx.read(".vscode/tasks.json"), want)
            else:
                check(not fx.exists(".vscode"))
            again(fx)


LINKED = r"""
import os, sys
if sys.argv[2] == "made":
    os.link("x/tasks.json", "made")
os.rename("x", ".vscode")
with open(sys.argv[2], "r+") as file:
    file.write(sys.argv[1])
print("written", flush=True)
"""


@test("C9 other names of a file that moved with its directory do not lead to it", variants=BOTH)
def linked(fx):
    for name in ("name", "made"):  # from before the run, and made in it
        for sandboxed in (False, True):
            prepare(fx)
            fx.write("linked.py", LINKED)
            if name == "made":
                fx.path("name").unlink()
            fx.path("x/tasks.json").chmod(0o640)
            if not sandboxed:
                fx.run("python3", "linked.py", EVIL, name)
                equal(fx.read(".vscode/tasks.json"), EVIL, "control")
                again(fx)
                continue
            person = Person(fx, "python3", "linked.py", EVIL, name)
            person.answer("1", "rename", ".vscode")
            person.term.expect("written")
            person.end()
            equal(fx.read(".vscode/tasks.json"), PLAIN, name)
            equal(stat.S_IMODE(fx.path(".vscode/tasks.json").stat().st_mode), 0o640)
            equal(fx.read(name), EVIL, "neighbour")
            again(fx)


@test("C9 what lies beside objects and refs when they make a git directory is what was shown", variants=BOTH)
def structure(fx):
    fx.write("script.py", SCRIPT)
    for key, planted in (("3", False), ("1", True)):
        fx.write("q/hooks/pre-commit", EVIL, 0o755)
        fx.path("q/objects").mkdir()
        person = Person(fx, "python3", "script.py", "objects and refs", EVIL)
        lacks(person.question("make the directory", "q/refs", "hooks/pre-commit"), "post-commit")
        fx.write("go", "")
        person.until(lambda: fx.exists("done"), "the other process does nothing")
        person.press("1")
        person.question("make the directory", "hooks/post-commit")
        check(not fx.exists("q/refs"))
        person.press(key)
        person.term.expect("renamed=yes" if planted else "renamed=Permission-denied")
        person.end()
        equal(fx.exists("q/refs"), planted)
        again(fx)


@test("C9 a yes to a directory outside is none to the next that takes its name", variants=BOTH)
def next_one(fx):
    target = fx.outside / "there"
    fx.write("two.py", "import os, sys\n"
             "os.mkdir('a'); os.rename('a', sys.argv[1]); os.rmdir(sys.argv[1])\n"
             "try:\n    os.rename('x', sys.argv[1])\n"
             "except OSError:\n    print('refused', flush=True)\n")
    prepare(fx)
    person = Person(fx, "python3", "two.py", target)
    person.answer("1", "rename", target, "comes along: nothing")
    person.answer("1", "delete the directory", target)
    person.answer("3", "rename", target, "3 files")
    person.term.expect("refused")
    person.end()
    check(not target.exists())


run_all()
