"""noticed.py - a write to a guarded name that is refused is noticed by whoever writes.

Where no content is harmless (hooks) the open is asked about, or what a shell makes of it: few
programs look at the answer of close().  A yes is for this open file and this name.
"""

import hashlib
import json

from person import Person
from tap import check, contains, equal, lacks, run_all, test

BOTH = ("full", "flat")
HOOK = ".git/hooks/pre-commit"
OLD = "#!/bin/sh\nexit 0\n"
PYTHON = "python3"

# How programs write, with {} for the name.  Each prints PLANTED where it believes it has.
WAYS = {
    "dash": ("dash", "-c", "printf x >{} && echo PLANTED"),
    "bash": ("bash", "-c", "printf x >{} && echo PLANTED"),
    "append": ("bash", "-c", "printf x >>{} && echo PLANTED"),
    "number": ("bash", "-c", "exec 7>{} && printf x >&7 && exec 7>&- && echo PLANTED"),
    "child": ("bash", "-c", "cat source >{} && echo PLANTED"),
    "cp": ("sh", "-c", "cp source {} && echo PLANTED"),
    "tee": ("sh", "-c", "tee {} <source >/dev/null && echo PLANTED"),
    "dd": ("sh", "-c", "dd if=source of={} status=none && echo PLANTED"),
    "python": (PYTHON, "-c", "with open('{}', 'w') as f: f.write('x')\nprint('PLANTED')"),
    "child of python": (PYTHON, "-c", "import subprocess\n"
                        "subprocess.run(['cat', 'source'], stdout=open('{}', 'w'), check=True)\n"
                        "print('PLANTED')"),
}

TWICE = ("bash", "child", "cp")  # without namespaces as well: a person takes a second to answer


def words(way, name):
    return [word.replace("{}", name) for word in WAYS[way]]


def project(fx, there):
    fx.git_project()
    fx.write("source", "x")
    if there:
        fx.write(HOOK, OLD, 0o755)


def content(fx):
    return fx.read(HOOK) if fx.exists(HOOK) else None


def refused(way, there):
    label = f"{way}, {'there' if there else 'absent'}"

    @test(f"C4 a no is noticed: {label}", variants=BOTH if way in TWICE else ("full",))
    def by_person(fx):
        project(fx, there)
        before = content(fx)
        person = Person(fx, *words(way, HOOK))
        person.answer("3", HOOK)
        check(person.end() != 0, person.term.screen())
        lacks(person.term.screen(), "PLANTED")
        equal(content(fx), before)
        neighbour = fx.sandbash("--consent=deny", *words(way, "plain"))
        equal(neighbour.stdout, "PLANTED\n", f"the neighbour: {neighbour.stderr}")
        control = fx.run(*words(way, HOOK))
        equal(control.stdout, "PLANTED\n", f"the control: {control.stderr}")
        equal(content(fx), (OLD if there and way == "append" else "") + "x")


for way in WAYS:
    for there in (False, True):
        refused(way, there)


@test("C6 with nobody to ask the open fails", variants=BOTH)
def by_nobody(fx):
    for there in (False, True):
        project(fx, there)
        before = content(fx)
        for way in WAYS:
            result = fx.sandbash("--consent=deny", *words(way, HOOK))
            check(result.status != 0 and "PLANTED" not in result.stdout, f"{way}: {result}")
            equal(content(fx), before, way)


def granted(way):
    @test(f"C9 one question, and what is written then lands: {way}",
          variants=BOTH if way in TWICE else ("full",))
    def by_person(fx):
        project(fx, False)
        person = Person(fx, *words(way, HOOK))
        screen = person.answer("1", "create", HOOK, "whatever it writes")
        lacks(screen, "this directory", "never a directory of guarded names")
        equal(person.end(), 0, person.term.screen())
        contains(person.term.screen(), "PLANTED")
        equal(content(fx), "x")
        contains(person.term.screen(), "look at it:", "what nobody was shown is told at the end")
        contains(person.term.screen(), f"{HOOK}' (1 byte)")


for way in WAYS:
    granted(way)


@test("C9 a yes lasts for the process and the file, and no longer", variants=BOTH)
def for_a_process(fx):
    project(fx, False)
    person = Person(fx, "bash", "-c", f"printf 1 >{HOOK} && printf 2 >>{HOOK} && echo first; "
                    f"printf x >.git/hooks/post-commit && echo PLANTED; "
                    f"bash -c 'printf y >>{HOOK} && echo PLANTED'; echo; echo end")
    person.answer("1", HOOK)
    person.answer("3", ".git/hooks/post-commit")
    person.answer("3", HOOK)
    person.end()
    screen = person.term.screen()
    lacks(screen, "PLANTED")
    contains(screen, "first")
    equal(content(fx), "12")
    contains(screen, f"{HOOK}' (2 bytes)")
    counters = json.loads(fx.sandbash("--stats", "--json").stdout)["operations"]
    equal([sum(op[kind] for op in counters.values()) for kind in ("asked", "approved")], [3, 2])
    log = [json.loads(line) for line in
           fx.sandbash("--log", "--json").stdout.splitlines()]
    equal([one["content"] for one in log if one.get("content")],
          [hashlib.sha256(text).hexdigest() for text in (b"1", b"12")], "and is in the record")
    check(not fx.exists(".git/hooks/post-commit"))


@test("C9 a yes to one hook is none to names that look like its backup", variants=BOTH)
def no_save_names(fx):
    project(fx, False)
    person = Person(fx, "bash", "-c", "printf 1 >.git/hooks/pre-pus && "
                    "printf x >.git/hooks/pre-pusABC123 && echo PLANTED; echo end")
    person.answer("1", ".git/hooks/pre-pus")
    person.answer("3", ".git/hooks/pre-pusABC123")
    person.end()
    lacks(person.term.screen(), "PLANTED")
    check(not fx.exists(".git/hooks/pre-pusABC123"))


@test("C9 a yes is none to the same file in a directory that got another name", variants=BOTH)
def renamed_meanwhile(fx):
    project(fx, False)
    fx.path(".claude/commands").mkdir(parents=True)
    fx.path(".git/hooks").rename(fx.path("old-hooks"))
    person = Person(fx, PYTHON, "-c", """
import os
f = open(".claude/commands/pre-commit", "w")
f.write("x")
os.rename(".claude/commands", ".git/hooks")
try:
    f.close()
    print("PLANTED")
except OSError as error:
    print(error.strerror)
""")
    person.answer("1", ".claude/commands/pre-commit")
    person.answer("3", ".git/hooks/pre-commit")
    person.end()
    lacks(person.term.screen(), "PLANTED")
    check(not fx.exists(HOOK))


@test("C3 what is there already may be written again unasked, by whoever closes it", variants=BOTH)
def same_bytes(fx):
    project(fx, True)
    script = (f"with open('{HOOK}', 'w') as f: f.write({OLD!r})\n"
              f"with open('{HOOK}', 'a') as f: pass\n"
              f"with open('{HOOK}', 'w') as f: f.write('other')\n")
    person = Person(fx, PYTHON, "-c", script)
    screen = person.answer("3", HOOK)
    contains(screen, "other", "the bytes are shown")
    check(person.end() != 0, "close fails")
    equal(content(fx), OLD)


@test("C3 names with harmless contents are not asked about when they are opened", variants=BOTH)
def checked(fx):
    project(fx, False)
    before = fx.read(".git/config")
    person = Person(fx, "bash", "-c", "printf '[user]\\n\\tname = y\\n' >>.git/config && echo FINE")
    equal(person.end(), 0)
    contains(person.term.screen(), "FINE")
    equal(fx.read(".git/config"), before + "[user]\n\tname = y\n")


# programs that end without closing what they have written
ENDS = ("exec 3>>.env; echo A=1 >&3; kill -9 $$", "exec 1>>.env; echo B=1; exec true")


@test("P3 what one program wrote is there for the next, also if nobody closed it", variants=BOTH)
def in_order(fx):
    project(fx, False)
    script = "\n".join(f"sh -c '{end}' 2>/dev/null; echo {name}=2 >>.env" for end, name in zip(ENDS, "AB"))
    script += "\nsh -c '/bin/false >.env.local' || echo X=1 >.env.local"
    want = "A=1\nA=2\nB=1\nB=2\n"
    for run in (fx.run, lambda *words: fx.sandbash("--consent=deny", *words)):
        for _ in range(5):
            fx.run("rm", "-f", ".env", ".env.local")
            result = run("sh", "-c", script)
            equal(fx.read(".env"), want, result.stderr)
            equal(fx.read(".env.local"), "X=1\n")


run_all()
