"""once.py - C9: a yes is for the process that was shown, and for the kind of thing that was asked about."""

import os

from person import Person
from tap import check, contains, equal, lacks, run_all, test

BOTH = ("full", "flat")

# Does what its arguments say, one after the other, and says how each ended.
ACTS = r"""
import os, sys, time

def wait(path):
    while not os.path.exists(path):
        time.sleep(0.02)
    os.makedirs(path + "-seen", exist_ok=True)

def append(path, text):
    with open(path, "a") as file:
        file.write(text + "\n")

def node(path):
    os.mknod(path, 0o010600)

acts = {"wait": wait, "append": append, "create": lambda path: append(path, "made"), "fifo": node,
        "mkdir": os.mkdir, "rmdir": os.rmdir, "unlink": os.unlink, "symlink": os.symlink,
        "link": os.link, "rename": os.rename, "chmod": lambda path: os.chmod(path, 0o640)}
for number, words in enumerate(" ".join(sys.argv[2:]).split(" , ")):
    name, *args = words.split()
    try:
        acts[name](*args)
        print(f"{number}-{name}=ok", flush=True)
    except OSError as error:
        print(f"{number}-{name}={error.strerror}", flush=True)
"""


def python(fx, marker, *words):
    """What to run: one process that does these acts."""
    fx.write("acts.py", ACTS)
    return ["python3", "acts.py", marker, *(str(word) for word in words)]


def held(marker):
    """The processes with this word in their command line that stand in an open (aarch64, x86-64)."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as line:
                words = line.read().split(b"\0")
            with open(f"/proc/{pid}/syscall") as call:
                if marker.encode() in words and call.read().split()[0] in ("2", "56", "257"):
                    found.append(int(pid))
        except OSError:
            pass
    return found


def waits(fx, marker):
    """It has seen the flag: what it opens by now is no longer a part of Python."""
    return fx.exists("flag-seen") and held(marker)


def two(fx, *more):
    """Two processes that want the same; the second begins when the flag is there."""
    fx.write("acts.py", ACTS)
    first, second = (f"{fx.dir.name}-{name}" for name in ("first", "second"))
    target = fx.outside / "file"
    script = (f"python3 acts.py {first} append {target} first & "
              f"python3 acts.py {second} wait flag , append {target} second {' '.join(more)}; "
              "wait")
    return first, second, Person(fx, "sh", "-c", script)


@test("C9 control: without the sandbox both of two processes write", variants=("full",))
def control(fx):
    for name in ("first", "second"):
        fx.run(*python(fx, name, "append", fx.outside / "file", name))
    equal(fx.read(fx.outside / "file"), "first\nsecond\n")


@test("C9 once is for the process that was shown; who joined its question is asked about next",
      variants=BOTH)
def who_joined(fx):
    first, second, person = two(fx)
    screen = person.question("create", fx.outside / "file")
    (pid,) = held(first)
    contains(screen, f"(process {pid})")
    fx.write("flag", "")
    person.until(lambda: waits(fx, second), "the second does not wait")
    (other,) = held(second)
    person.press("1")
    screen = person.question(f"(process {other})")
    contains(screen, "write to", "by now the file is there")
    equal(fx.read(fx.outside / "file"), "first\n", "only the first has written")
    person.press("3")
    person.term.expect("1-append=Permission denied")
    person.end()
    equal(fx.read(fx.outside / "file"), "first\n")


@test("C9 a no, and a yes to the directory, are for all that wait", variants=BOTH)
def for_all(fx):
    for key, want in (("3", None), ("2", {"first\n", "second\n"})):
        first, second, person = two(fx)
        person.question("create", fx.outside / "file")
        fx.write("flag", "")
        person.until(lambda: waits(fx, second), "the second does not wait")
        person.press(key)
        person.gone(fx.outside / "file")
        person.end()  # no question comes any more
        if want is None:
            check(not fx.exists(fx.outside / "file"))
        else:
            with open(fx.outside / "file") as file:
                equal(set(file), want)
        fx.path("flag").unlink()
        fx.path("flag-seen").rmdir()


@test("C9 when the process that was shown is gone, who waits with it gets its own question",
      variants=BOTH)
def shown_is_gone(fx):
    first, second, person = two(fx)
    person.question("create", fx.outside / "file")
    (pid,) = held(first)
    fx.write("flag", "")
    person.until(lambda: waits(fx, second), "the second does not wait")
    (other,) = held(second)
    os.kill(pid, 9)
    person.question(f"(process {other})")
    person.press("1")
    person.term.expect("1-append=ok")
    person.end()
    equal(fx.read(fx.outside / "file"), "second\n")


KINDS = [
    # what is done where a file was allowed, what the question says
    ("mkdir {o}", ["make the directory"]),
    ("symlink /etc/passwd {o}", ["make the link", "it leads to '/etc/passwd'"]),
    ("fifo {o}", ["create", "a FIFO"]),
    ("link plain {o}", ["give another name to"]),
    ("rename folder {o}", ["rename", "it is a directory, and all that is in it comes along"]),
    ("rename pointer {o}", ["rename", "it is a link, which leads to '/etc/hosts'"]),
]


def prepare(fx):
    fx.write("plain", "plain\n")
    fx.write("folder/file", "inside\n")
    fx.path("pointer").symlink_to("/etc/hosts")


def another_kind(act, words):
    def run(fx):
        prepare(fx)
        target = fx.outside / "x"
        act_text = act.format(o=target)
        fx.run(*python(fx, "control", act_text))
        check(os.path.lexists(target), "control")
        fx.run("rm", "-rf", target)
        prepare_again = not os.path.lexists(fx.path("pointer")) or not fx.exists("folder")
        if prepare_again:
            fx.run("rm", "-rf", "plain", "folder", "pointer")
            prepare(fx)
        # neighbour: the file itself is not asked about again, also when it is changed otherwise
        person = Person(fx, *python(fx, "one", "create", target, ",", "append", target, "more", ",",
                                    "chmod", target, ",", "unlink", target, ",", act_text))
        person.answer("1", "create", target)
        person.term.expect("1-append=ok")
        person.term.expect("2-chmod=ok")
        person.answer("1", "delete", target)
        screen = person.answer("3", *words)
        contains(screen, str(target))
        person.term.expect("4-[a-z]+=Permission denied")
        person.end()
        check(not os.path.lexists(target))
    return run


for kind_act, kind_words in KINDS:
    test(f"C9 a yes to a file is none to: {kind_act.format(o='FILE')}",
         variants=BOTH)(another_kind(kind_act, kind_words))


@test("C9 a link, a directory or a FIFO beside a file that may be saved is a question of its own",
      variants=BOTH)
def no_save(fx):
    target = fx.write(fx.outside / "notes.txt", "notes\n")
    acts = [f"mkdir {target}~", f"symlink /etc/passwd {fx.outside}/.#notes.txt",
            f"fifo {fx.outside}/.notes.txt.swp"]
    person = Person(fx, *python(fx, "one", "append", target, "more", ",", " , ".join(acts), ",",
                                "create", f"{target}.bak"))
    person.answer("1", "write to", target)
    for act in acts:
        screen = person.answer("3", act.split()[-1])
        lacks(screen, "which a yes covers too")
    # a denied directory "X~" is no denial of the next name; a backup copy is part of the save
    person.term.expect("4-create=ok")
    person.end()
    equal(sorted(os.listdir(fx.outside)), ["notes.txt", "notes.txt.bak"])


@test("C9 a backup or a swap file that was there is a question of its own", variants=BOTH)
def old_backups(fx):
    target = fx.write(fx.outside / "notes.txt", "notes\n")
    old = [fx.write(fx.outside / name, "precious\n") for name in ("notes.txt~", ".notes.txt.swp")]
    acts = [f"append {old[0]} x", f"append {old[1]} x", f"unlink {old[0]}"]
    person = Person(fx, *python(fx, "one", "append", target, "more", ",", " , ".join(acts), ",",
                                "create", fx.outside / "#notes.txt#"))
    person.answer("1", "write to", target)
    for words in (["write to", old[0]], ["write to", old[1]]):
        person.answer("3", *words)
    # what is denied is denied altogether; one that was not there is part of the save
    person.term.expect("3-unlink=Permission denied")
    person.term.expect("4-create=ok")
    person.end()
    equal([fx.read(path) for path in old], ["precious\n"] * 2)
    for act in acts[:2]:
        fx.run(*python(fx, "one", act))
    equal([fx.read(path) for path in old], ["precious\nx\n"] * 2, "control")


@test("C9 what was moved away in the meantime is not what was shown", variants=BOTH)
def swapped(fx):
    """The question shows a file; a link has taken its place when the answer comes."""
    fx.write("plain", "plain\n")
    fx.path("pointer").symlink_to("/usr/lib/os-release")
    fx.write("acts.py", ACTS)
    person = Person(fx, "sh", "-c", f"python3 acts.py one rename plain {fx.outside}/x & "
                    "while [ ! -e flag ]; do sleep 0.02; done; mv plain old; mv pointer plain; "
                    "echo swapped; wait")
    person.question("rename", fx.outside / "x")
    fx.write("flag", "")
    person.until(lambda: fx.path("plain").is_symlink(), "it is not swapped")
    person.press("1")
    person.term.expect("0-rename=Permission denied")
    person.end()
    check(not os.path.lexists(fx.outside / "x"))
    check(fx.path("plain").is_symlink(), "it is back")


# --- a question never loses a line ------------------------------------------------------------------


@test("C4 all notes are shown: what moves, what is replaced, what a yes covers, who obeys it",
      variants=BOTH)
def notes(fx):
    fx.path("pointer").symlink_to("/etc/hosts")
    fx.write(fx.outside / "notes.txt~", "old\n")
    fx.write(fx.outside / "notes.txt", "new\n")
    person = Person(fx, *python(fx, "one", "rename", "pointer", fx.outside / "notes.txt~"), rows=40)
    screen = person.answer("3", "rename")
    contains(screen, "it is a link, which leads to '/etc/hosts'")
    contains(screen, "the file that has that name now is replaced")
    person.end()

    (fx.outside / ".git/hooks").mkdir(parents=True)
    person = Person(fx, *python(fx, "one", "symlink", "/srv/evil",
                                fx.outside / ".git/hooks/pre-commit"), rows=40)
    screen = person.answer("3", "make the link")
    contains(screen, "it leads to '/srv/evil'")
    contains(screen, "git runs hooks")
    lacks(screen, "this directory")
    person.end()

    # both ends of a rename are stopped: the rule of the second is not left out
    fx.write(fx.outside / "away", "#!/bin/sh\n")
    person = Person(fx, *python(fx, "one", "rename", fx.outside / "away",
                                fx.outside / ".git/hooks/post-commit"), rows=40)
    screen = person.answer("3", "rename")
    contains(screen, "git runs hooks")
    lacks(screen, "this directory")
    person.end()

    # a save's first name: the note about it stands beside the others
    person = Person(fx, *python(fx, "one", "rename", fx.outside / "away",
                                fx.outside / "notes.txt.bak"), rows=40)
    screen = person.answer("3", "rename")
    contains(screen, "a backup copy of 'notes.txt', which a yes covers too")
    person.end()


run_all()
