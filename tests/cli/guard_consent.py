"""guard_consent.py - C3: a question about a guarded file shows the bytes, and a yes is for these."""

from person import Person
from tap import check, contains, equal, lacks, run_all, test

BOTH = ("full", "flat")
HOOK = "#!/bin/sh\necho the hook ran\n"


@test("C3 a hook that is there is asked about when it is closed, with its bytes; yes, and these land",
      variants=BOTH)
def hook(fx):
    fx.git_project()
    fx.write("source", HOOK, 0o755)
    fx.write(".git/hooks/pre-commit", "old", 0o755)
    person = Person(fx, "sh", "-c", "cp source .git/hooks/pre-commit; echo status=$?; "
                    "test -x .git/hooks/pre-commit && echo executable; sleep 0.3")
    screen = person.answer("1", "overwrite", ".git/hooks/pre-commit")
    contains(screen, "echo the hook ran")
    contains(screen, "git runs hooks")
    lacks(screen, "this directory", "a directory answer never covers guarded names")
    person.term.expect("status=0")
    person.term.expect("executable")
    equal(person.end(), 0)
    equal(fx.read(".git/hooks/pre-commit"), HOOK)
    contains(fx.run("git", "commit", "--allow-empty", "-m", "x").stderr, "the hook ran", "control")


@test("C3 no: opening a new hook fails, and nothing lands", variants=BOTH)
def refused(fx):
    fx.git_project()
    fx.write("source", HOOK, 0o755)
    before = sorted(p.name for p in fx.path(".git/hooks").iterdir())
    person = Person(fx, "sh", "-c", "cp source .git/hooks/pre-commit; echo status=$?; sleep 0.3")
    person.answer("3", "create", ".git/hooks/pre-commit")
    person.term.expect("status=1")
    person.end()
    equal(sorted(p.name for p in fx.path(".git/hooks").iterdir()), before)


@test("C3 a yes to some bytes is none to others", variants=BOTH)
def other_bytes(fx):
    fx.git_project()
    script = ("for n in one two; do git config core.pager $n; echo status-$n=$?; done; "
              "git config user.name harmless; echo status-name=$?; sleep 0.3")
    person = Person(fx, "sh", "-c", script)
    screen = person.answer("1", "core.pager", "one")
    contains(screen, ".git/config")
    person.term.expect("status-one=0")
    person.answer("3", "core.pager", "two")
    person.term.expect("status-two=[1-9]")
    person.term.expect("status-name=0")
    person.end()
    equal(fx.run("git", "config", "core.pager").stdout, "one\n")
    equal(fx.run("git", "config", "user.name").stdout, "harmless\n")


@test("C3 a directory answer outside does not open guarded names in it", variants=BOTH)
def directory_answer(fx):
    (fx.outside / ".git/hooks").mkdir(parents=True)
    person = Person(fx, "sh", "-c", f"cd {fx.outside}; echo a >a; echo b >b; "
                    "echo c >.git/hooks/c; echo status=$?; sleep 0.3")
    person.answer("2", fx.outside / "a")
    person.answer("3", ".git/hooks/c")
    person.term.expect("status=")
    person.end()
    check((fx.outside / "b").exists() and not (fx.outside / ".git/hooks/c").exists())


@test("C3 what a shell writes to a guarded name is there when it goes on", variants=BOTH)
def redirection(fx):
    person = Person(fx, "bash", "-c", "echo 'export A=1' >.envrc; cat .envrc; "
                    "{ echo one; cat /dev/null; echo two; } >.mcp.json; cat .mcp.json; sleep 0.3")
    person.answer("1", "create", ".envrc", "whatever it writes")
    person.answer("1", "create", ".mcp.json")
    person.end()
    equal(fx.read(".envrc"), "export A=1\n")
    equal(fx.read(".mcp.json"), "one\ntwo\n")
    contains(person.term.screen(), "two", "it was there when the shell went on")


run_all()
