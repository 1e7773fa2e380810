"""renamed.py - P2: each row of the table with a directory in it: what is made under other names and then gets
these, is refused like the file itself, in whatever letters."""

import json
import re

from tap import check, contains, equal, run_all, test

BOTH = ("full", "flat")
ODD = "\x01 $(x)\r\n\"'\n"  # harmless to no kind of name

# Each tries every name in every way, and prints those that land; how and names come as JSON.
INSIDE = r"""
import ctypes, json, os, subprocess, sys
odd, names, ways = json.load(open(sys.argv[1]))
libc = ctypes.CDLL(None, use_errno=True)
landed, number = [], 0

def write(path, text=odd):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", newline="") as file:
        file.write(text)

def prefixes(name):
    parts = name.split("/")
    for i in range(1, len(parts)):
        yield "/".join(parts[:i]), "/".join(parts[i:])

def rename(top, first, rest, name):
    write(top + "/t/" + rest)
    os.makedirs(os.path.dirname(top + "/" + first), exist_ok=True)
    os.rename(top + "/t", top + "/" + first)

def exchange(top, first, rest, name):
    write(top + "/t/" + rest)
    os.makedirs(top + "/" + first)
    if libc.renameat2(-100, (top + "/t").encode(), -100, (top + "/" + first).encode(), 2):
        raise OSError(ctypes.get_errno(), first)

def copy(top, first, rest, name):
    write(top + "/t/" + rest)
    os.makedirs(os.path.dirname(top + "/" + first), exist_ok=True)
    subprocess.run(["cp", "-r", top + "/t", top + "/" + first], stderr=subprocess.DEVNULL)

def link(top, first, rest, name):
    write(top + "/f")
    os.makedirs(os.path.dirname(top + "/" + name), exist_ok=True)
    os.link(top + "/f", top + "/" + name)

def write_it(top, first, rest, name):
    write(top + "/" + name)

for name in names:
    for way in ways:
        for first, rest in list(prefixes(name))[:1 if way in ("link", "write_it") else None]:
            number += 1
            top = ".d%d" % number  # hidden, as agents have words in their own directories
            os.mkdir(top)
            try:
                globals()[way](top, first, rest, name)
            except OSError:
                pass
            try:
                if os.path.getsize(top + "/" + name) == len(odd):
                    landed.append([way, first, name])
            except OSError:
                pass
print(json.dumps([number, landed]))
"""


def rows(fx):
    """Of the table, as build/tests/guarded prints it: pattern, who."""
    for line in fx.run(fx.tool("guarded"), "table").stdout.splitlines()[2:]:
        pattern, who, _, harmless = [part.strip() for part in line.strip("|").split(" | ")]
        pattern = pattern.strip("`")
        if "/" not in pattern or pattern.startswith("~") or "index" in pattern or harmless == "anything" \
                or "--protect-ignored" in line or "outside the project" in line:
            continue
        yield pattern, who


def example(pattern):
    name = pattern.replace("<git>", ".git").replace("/**", "/deep/er")
    return re.sub(r"(^|/)\*", r"\1name", name).replace("*", "x")


def attempt(fx, names, ways, sandbox=True):
    fx.write("names.json", json.dumps([ODD, names, ways]))
    fx.write("try.py", INSIDE)
    command = ("python3", "try.py", "names.json")
    result = fx.sandbash("--consent=deny", "--quiet", *command) if sandbox else fx.run(*command)
    equal(result.status, 0, result.stderr[-2000:])
    number, landed = json.loads(result.stdout)
    fx.run("sh", "-c", "rm -rf .d[0-9]*")
    fx.history.clear()
    return number, landed


def spellings(fx):
    names = {}
    for pattern, who in rows(fx):
        name = example(pattern)
        for spelled in (name, name.lower(), name.upper()):
            names[spelled] = (who == "git" and pattern[0] not in ".<")
    return names


def is_on_its_way(way, first, word):
    """Git's words mean something in git's directories, where the whole of them counts."""
    return word and way in ("rename", "exchange") and "/" not in first


@test("P2 a directory that is renamed, or changes places, brings no name of the table, in whatever letters", variants=BOTH)
def renamed(fx):
    names = spellings(fx)
    check(len(names) > 500, len(names))
    some = list(names)[::1 if fx.variant == "full" else 9]
    number, landed = attempt(fx, some, ["rename", "exchange"])
    check(number > 2 * len(some), number)
    equal([one for one in landed if not is_on_its_way(one[0], one[1], names[one[2]])], [])


@test("P2 the same of one that is copied, of a file that is linked there, and of the file itself", variants=("full",))
def copied(fx):
    names = spellings(fx)
    number, landed = attempt(fx, [name for name in names if any(c.isupper() for c in name)][:160],
                             ["copy", "link", "write_it"])
    check(number > 400, number)
    equal(landed, [])


@test("P2 without a sandbox each of them lands; with one their neighbours do")
def controls(fx):
    names = [name for name in spellings(fx) if not name.isupper()][:60]
    for ways in (["rename", "exchange"], ["copy", "link", "write_it"]):
        number, landed = attempt(fx, names, ways, sandbox=False)
        equal(len(landed), number)
    plain = ["CVT/Root", "CVS/Rood", "CVS/Rootx", ".nova/Task/x", ".R/Makevar", ".config/Code/User2/x", ".vagrant.d/Vagrant"]
    number, landed = attempt(fx, plain, ["rename", "copy", "link", "write_it"])
    equal(len(landed), number)


@test("P2 a directory with hundreds of names is asked about none that it has not")
def many(fx):
    script = "mkdir t; for i in $(seq 400); do echo x >t/n$i; done; "
    equal(fx.sandbash("--consent=deny", "sh", "-c", script + "mv t CVS").status, 0)
    fx.run("rm", "-r", "CVS")
    result = fx.sandbash("--consent=deny", "sh", "-c", script + "echo x >t/Root; mv t CVS")
    check(result.status != 0 and not fx.path("CVS").exists(), result.stderr)
    contains(result.stderr, "CVS")


run_all()
