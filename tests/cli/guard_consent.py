"""guard_consent.py - C3: a question about a guarded file shows the bytes, and a yes is for these."""

import subprocess

from person import Person
from tap import BIN, PATIENCE, check, contains, equal, lacks, run_all, test, wait

BOTH = ("full", "flat")
HOOK = "#!/bin/sh\necho the hook ran\n"


@test("C3 a hook that is there is asked about when it is closed, with its bytes; yes, and these land",
      variants=BOTH)
def hook(fx):
    fx.git_project()
    fx.write("source", HOOK, 0o755)
    fx.write(".git/hooks/pre-commit", "old", 0o755)
    person = Person(fx, "sh", "-c", "cp source .git/hooks/pre-commit; echo status=$?; "
                    "test -x .git/hooks/pre-commit && echo executable")
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
    person = Person(fx, "sh", "-c", "cp source .git/hooks/pre-commit; echo status=$?")
    person.answer("3", "create", ".git/hooks/pre-commit")
    person.term.expect("status=1")
    person.end()
    equal(sorted(p.name for p in fx.path(".git/hooks").iterdir()), before)


@test("C3 a yes to some bytes is none to others", variants=BOTH)
def other_bytes(fx):
    fx.git_project()
    script = ("for n in one two; do git config core.pager $n; echo status-$n=$?; done; "
              "git config user.name harmless; echo status-name=$?")
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


@test("C3 settings that an agent keeps among what it remembers are asked about by name and value", variants=BOTH)
def agent_settings(fx):
    fx.write(".claude.json", '{"numStartups": 1}')
    server = '{"numStartups": 2, "mcpServers": {"x": {"command": "sh"}}}'
    person = Person(fx, "sh", "-c", """echo '{"numStartups": 2}' >.claude.json; echo status-count=$?
echo '%s' >new && mv new .claude.json; echo status-server=$?""" % server)
    person.term.expect("status-count=0")
    screen = person.answer("1", 'mcpServers.x = {"command":"sh"}', ".claude.json")
    contains(screen, "Claude Code")
    person.term.expect("status-server=0")
    equal(person.end(), 0)
    equal(fx.read(".claude.json"), server + "\n")


WRITES = """import sys
with open(sys.argv[1], "a") as file:
    file.write(sys.argv[2].replace("BLANKS", " " * 600))
"""


@test("C3 a question names every setting that made it ask, and shows the lines that are new",
      variants=BOTH)
def every_setting(fx):
    fx.git_project()
    fx.write("writes.py", WRITES)
    fx.write("old", "".join(f"A{n}=1\n" for n in range(20)))
    text = ("[alias]\n\tst = status\n[core]\n\tsshCommand = touch pwned\n"
            '[diff "x"]\n\ttextconv = "trueBLANKS; evil"\n')
    before = fx.read(".git/config")
    person = Person(fx, "python3", "writes.py", ".git/config", text, rows=40)
    screen = person.answer("3", "overwrite", ".git/config")
    for words in ("alias.st = status", "core.sshcommand = touch pwned",
                  "diff.x.textconv = true[600 blanks]; evil", "sshCommand = touch pwned"):
        contains(screen, words)
    lacks(screen, "filemode", "the lines that were there have no place in it")
    person.end()
    equal(fx.read(".git/config"), before)
    # one that is harmless beside it lands unasked; and without the sandbox all of it
    fx.sandbash("python3", "writes.py", ".git/config", "[user]\n\tname = A\n")
    equal(fx.run("git", "config", "user.name").stdout, "A\n", "neighbour")
    fx.run("python3", "writes.py", ".git/config", text)
    equal(fx.run("git", "config", "core.sshCommand").stdout, "touch pwned\n", "control")

    person = Person(fx, "python3", "writes.py", ".env",
                    "A=1\nEDITOR=vim\nB=2\nC=3\nD=4\nE=5\nX=$(id)\n", rows=40)
    screen = person.answer("3", "create", ".env")
    contains(screen, "EDITOR=vim")
    contains(screen, "X=$(id)")
    person.end()
    check(not fx.exists(".env"))


@test("C3 of many settings the question says how many more there are", variants=("full",))
def many_settings(fx):
    fx.git_project()
    fx.write("writes.py", WRITES)
    text = "".join(f"[alias]\n\ta{n} = status\n" for n in range(9)) + "[core]\n\tpager = evil\n"
    person = Person(fx, "python3", "writes.py", ".git/config", text, rows=40)
    screen = person.answer("3", "overwrite", ".git/config")
    contains(screen, "core.pager = evil")
    contains(screen, "and 6 more settings that run something or lead elsewhere")
    person.end()


@test("C4 two names that differ look different, in a question and in the log", variants=("full",))
def names(fx):
    fx.write("makes.py", "import os, sys\nos.open(sys.argv[1].encode().decode('unicode_escape'),"
             "os.O_CREAT | os.O_WRONLY)\n")
    shown = {"a\\nb": "a\\nb", "a\\\\nb": "a\\\\nb", "c     d": "c\\x20{5}d", "c d": "c d",
             "e\\u3000f": "e\\u{3000}f", "e\\u00a0f": "e\\u{a0}f", "g\\u2800h": "g\\u{2800}h"}
    for name, seen in shown.items():
        person = Person(fx, "python3", "makes.py", f"{fx.outside}/{name}", columns=200)
        contains(person.answer("3", "create"), f"{fx.outside}/{seen}")
        person.end()
    text = fx.sandbash("--log", "--log-verdict=deny").stdout
    for seen in shown.values():
        contains(text, f"{fx.outside}/{seen}, program")


@test("C3 a directory answer outside does not open guarded names in it", variants=BOTH)
def directory_answer(fx):
    (fx.outside / ".git/hooks").mkdir(parents=True)
    person = Person(fx, "sh", "-c", f"cd {fx.outside}; echo a >a; echo b >b; "
                    "echo c >.git/hooks/c; echo status=$?")
    person.answer("2", fx.outside / "a")
    person.answer("3", ".git/hooks/c")
    person.term.expect("status=")
    person.end()
    check((fx.outside / "b").exists() and not (fx.outside / ".git/hooks/c").exists())


@test("C3 a question about a directory names what is dangerous in it: some, and how many more", variants=BOTH)
def all_named(fx):
    hooks = [f"{chr(97 + n)}/.git/hooks/pre-commit" for n in range(3)]
    (fx.outside / "out").mkdir()
    for name in hooks:
        fx.write(f"x/{name}", HOOK, 0o755)
    for number in range(7):
        fx.write(f"y/tasks{number}.json", "{}\n")
    person = Person(fx, "sh", "-c", f"echo a >{fx.outside}/out/a; mv -T x {fx.outside}/out/x; echo status=$?; "
                    "mv y .vscode; echo second=$?; sleep 0.3")
    person.answer("2", fx.outside / "out/a")  # for the directory, and not for what a directory brings
    screen = person.answer("3", fx.outside / "out/x")
    for name in hooks:
        contains(screen, name)
    lacks(screen, "this directory")
    lacks(screen, " more")
    person.term.expect("status=[1-9]")
    screen = person.answer("3", ".vscode")
    equal(screen.count(".json"), 4, screen)
    contains(screen, "and 3 more")
    person.term.expect("second=[1-9]")
    person.end()
    check(not (fx.outside / "out/x").exists() and not fx.exists(".vscode"))


@test("C3 names that fill the question push no hook and no setting out of it", variants=BOTH)
def padded(fx):
    for number in range(60):
        fx.write(f"x/hooks/a{number}", HOOK, 0o755)
        fx.write(f"x/refs/heads/$(a{number})", "x\n")
    fx.write("x/hooks/zz/keep", "")
    fx.write("x/hooks/post-checkout", HOOK, 0o755)
    fx.write("x/config", "[core]\n\tfsmonitor = ./evil\n")
    person = Person(fx, "sh", "-c", "mv x .git; echo status=$?; sleep 0.3")
    screen = person.answer("3", ".git")
    contains(screen, "hooks/post-checkout")
    contains(screen, "core.fsmonitor = ./evil")
    contains(screen, "more: ")
    contains(screen, "for prompts")
    person.term.expect("status=[1-9]")
    person.end()
    check(not fx.exists(".git"))


@test("C3 nor where the user's own question about the place is the rule", variants=BOTH)
def own_question(fx):
    """The rule that stops a guarded name is then the one that the answer was about."""
    (fx.outside / "sub").mkdir()
    fx.write("folder/tasks.json", "{}\n")
    person = Person(fx, "sh", "-c", f"cd {fx.outside}; echo a >a; echo b >b; "
                    f"ln -s /srv/evil .vscode; mv {fx.project}/folder sub/.vscode; "
                    "echo status=$?", flags=[f"--ask={fx.outside}"])
    contains(person.answer("2", fx.outside / "a"), "this directory")
    for words in (["make the link", "it leads to '/srv/evil'", "VS Code"],
                  ["rename", "it is a directory", "VS Code"]):
        screen = person.answer("3", *words)
        lacks(screen, "this directory")
        lacks(screen, "Press 1, 2")
    person.term.expect("status=1")
    person.end()
    check((fx.outside / "b").exists(), "neighbour")
    equal(sorted(p.name for p in fx.outside.iterdir()), ["a", "b", "sub"])
    check(fx.exists("folder/tasks.json") and not (fx.outside / "sub/.vscode").exists())


@test("C3 all of ~/.config is not what the desktop starts from there", variants=BOTH)
def settings(fx):
    config = fx.home / ".config"
    (config / "autostart").mkdir(parents=True)
    (config / "autostart/control").write_text("anybody else may\n")
    (config / "autostart/control").unlink()
    person = Person(fx, "sh", "-c", "cd ~/.config; echo a >some.conf; mkdir app; echo b >app/b; "
                    "echo evil >autostart/x.desktop; mkdir -p systemd/user; "
                    "echo evil >systemd/user/x.service; echo done")
    person.answer("2", config / "some.conf")
    for name, words in (("autostart/x.desktop", "run at every desktop login"),
                        ("systemd/user/x.service", "user services")):
        screen = person.answer("3", name, words)
        contains(screen, "a yes is to whatever it writes there")
        contains(screen, "Press 1 or 2")
    person.term.expect("done")
    person.end()
    check((config / "app/b").exists(), "neighbour")
    equal(list((config / "autostart").iterdir()), [])
    equal(list((config / "systemd/user").iterdir()), [])


@test("C3 always, and an answer that a session keeps, open no guarded name of that directory",
      variants=BOTH)
def kept_answers(fx):
    """A rule for X/.vscode would be one about this very name."""
    place = fx.outside / ".vscode"
    place.mkdir()
    script = ("echo x >{0}/tasks.json; echo status=$?; echo n >{0}/more.txt && echo more; "
              "rm {0}/more.txt").format(place)
    for flags, key in (([], "4"), (["--session=kept"], "2"), (["--session=other"], "4")):
        person = Person(fx, "sh", "-c", f"echo n >{place}/notes.txt", flags=flags,
                        columns=200)
        person.answer(key, place / "notes.txt")
        if key == "4":
            person.term.expect("allowed for this session only")
        person.end()
        person = Person(fx, "sh", "-c", script, flags=flags)
        screen = person.answer("3", place / "tasks.json")
        contains(screen, "VS Code")
        lacks(screen, "this directory")
        if not flags:
            person.answer("1", place / "more.txt")
            person.answer("1", "delete", place / "more.txt")
        person.term.expect("more")
        person.end()
        check(not (place / "tasks.json").exists())
    check(not (fx.home / ".config/sandbash/projects").exists(), "nothing was written")


@test("C3 attached: the same question, the same two answers")
def attached(fx):
    (fx.outside / ".git/hooks").mkdir(parents=True)
    run = fx.start(*fx.argv("--consent=ask", "sh", "-c", f"echo a >{fx.outside}/a; "
                            f"ln -s /srv/evil {fx.outside}/.git/hooks/pre-commit"),
                   stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    listed = fx.home / ".local/state/sandbash/run"
    wait(lambda: listed.exists() and [p for p in listed.iterdir() if p.name[0] != "."], "the run does not listen")
    person = Person.at(fx, fx.terminal(BIN, "--attach", replies=True, rows=30, columns=120))
    contains(person.answer("2", fx.outside / "a"), "this directory")
    screen = person.question("make the link")
    contains(screen, "it leads to '/srv/evil'")
    contains(screen, "git runs hooks")
    contains(screen, "Press 1 or 2")
    for key in ("4", "x"):
        person.press(key)
        person.term.settle(0.3, 1)
        check(person.shows("make the link"), "a key that is not offered answers nothing")
    person.press("2")
    person.gone("make the link")
    run.wait(timeout=PATIENCE)
    check((fx.outside / "a").exists())
    equal(list((fx.outside / ".git/hooks").iterdir()), [])


@test("C3 what a shell writes to a guarded name is there when it goes on", variants=BOTH)
def redirection(fx):
    person = Person(fx, "bash", "-c", "echo 'export A=1' >.envrc; cat .envrc; "
                    "{ echo one; cat /dev/null; echo two; } >.mcp.json; cat .mcp.json")
    person.answer("1", "create", ".envrc", "whatever it writes")
    person.answer("1", "create", ".mcp.json")
    person.end()
    equal(fx.read(".envrc"), "export A=1\n")
    equal(fx.read(".mcp.json"), "one\ntwo\n")
    contains(person.term.screen(), "two", "it was there when the shell went on")


run_all()
