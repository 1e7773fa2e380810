"""remembered.py - what interactive programs keep for their next time is refused without a word.

Nobody is asked when a pager ends, and nothing that was typed inside is offered outside again.
"""

import os
import shutil
import tempfile
from pathlib import Path

from person import Person
from tap import check, contains, equal, lacks, run_all, skip, test

# A program, what is typed to it when its last words show, and the file that it leaves natively.
PROGRAMS = {
    "python3": (["python3"], [(">>>", "1 + 41\r"), ("42", "exit()\r")], ".python_history"),
    "node": (["node"], [("\n>", "1 + 41\r"), ("42", ".exit\r")], ".node_repl_history"),
    "less": (["less", "/etc/passwd"], [("passwd", "/root\r"), ("root", "q")], ".lesshst"),
    "git": (["git", "-c", "core.pager=less -+F", "log"], [("first", "/fir\r"), ("first", "q")], ".lesshst"),
    "sqlite3": (["sqlite3"], [("sqlite>", "select 41 + 1;\r"), ("42", ".quit\r")], ".sqlite_history"),
    "vim": (["vim", "-u", "NONE", "--cmd", "set nocp viminfo='9 t_RV="], [("~", ":echo 41 + 1\r"), ("42", ":q\r")],
            ".viminfo"),
    "bash": (["bash", "-i"], [("project", "echo $((41 + 1))\r"), ("42", "exit\r")], ".bash_history"),
}


def leave(fx, person, name):
    """Type to it until it ends; its status."""
    for shown, keys in PROGRAMS[name][1]:
        person.until(lambda shown=shown: person.shows() or shown in person.term.screen(),
                     f"{name} does not show {shown!r}")
        check(not person.shows(), f"a question:\n{person.term.screen()}")
        person.term.send(keys)
    return person.end()


def register(name):
    words, _, left = PROGRAMS[name]

    @test(f"{name} comes and goes without a question", variants=("full", "flat"))
    def comes_and_goes(fx):
        if not shutil.which(name):
            skip(f"no program '{name}'")
        if name == "git":
            fx.git_project()
            equal(fx.run("git", "commit", "-q", "--allow-empty", "-m", "first").status, 0)
        env = {"LESS": "", "TERM": "xterm", "SQLITE_HISTORY": f"{fx.home}/.sqlite_history"}
        control = Person.at(fx, fx.terminal(*words, env=env, rows=24, columns=120, replies=True))
        equal(leave(fx, control, name), 0, "without a sandbox")
        check((fx.home / left).exists(), f"control: it leaves no {left}")
        (fx.home / left).unlink()
        person = Person(fx, *words, env=env)
        equal(leave(fx, person, name), 0)
        lacks(person.term.screen(), "refused")
        check(not (fx.home / left).exists(), f"it wrote {left}")


for program in PROGRAMS:
    register(program)

WRITE = 'for f; do { echo x >>"$HOME/$f"; } 2>/dev/null; done'
NAMES = (".python_history", ".lesshsQ", ".psql_history", ".mysql_history.TMP",
         ".local/share/fish/fish_history", ".local/share/nano/search_history", ".config/fish/fish_variables")


@test("what a program remembers is refused quietly; its neighbours are told, and a rule opens it")
def quietly(fx):
    for directory in (".local/share/fish", ".local/share/nano", ".config/fish", ".local/share/other"):
        (fx.home / directory).mkdir(parents=True)
    words = ["sh", "-c", WRITE, "sh", *NAMES]
    fx.run(*words)
    for name in NAMES:
        check(fx.exists(fx.home / name), f"control: {name}")
        (fx.home / name).unlink()
    result = fx.sandbash("--consent=deny", *words)
    equal(result.stderr, "")
    equal([name for name in NAMES if fx.exists(fx.home / name)], [])
    for name in (".profile-of-mine", ".config/fish/config.fish", ".local/share/other/data"):
        result = fx.sandbash("--consent=deny", "sh", "-c", WRITE, "sh", name)
        contains(result.stderr, name, "a neighbour is refused aloud")
        check(not fx.exists(fx.home / name), name)
    fx.sandbash("--consent=deny", f"--allow-write={fx.home}/{NAMES[0]}", *words)
    equal([name for name in NAMES if fx.exists(fx.home / name)], [NAMES[0]], "with a rule")


@test("fish makes the way to its own directories as quietly; others are told", variants=("full", "flat"))
def way(fx):
    if not shutil.which("fish"):
        skip("no program 'fish'")
    control = fx.dir / "control"
    control.mkdir()
    equal(fx.run("fish", "-c", "echo $fish_pid", env={"HOME": control}).status, 0, "control")
    check((control / ".local/share/fish").is_dir() and (control / ".config/fish").is_dir(), "control: it makes them")
    shutil.rmtree(fx.home / ".config", ignore_errors=True)  # it has none of these
    before = {path.name for path in fx.home.iterdir()}
    result = fx.sandbash("--consent=deny", "fish", "-c", "echo through")
    equal(result.stdout, "through\n", result.stderr)
    lacks(result.stderr, "refused")
    equal({path.name for path in fx.home.iterdir()} - before - {".local", ".config"}, set())
    equal([path.name for path in (fx.home / ".config").iterdir()], ["sandbash"])
    check(not (fx.home / ".local/share").exists() and not (fx.home / ".config/fish").exists(), "it made them")
    result = fx.sandbash("--consent=deny", "sh", "-c", "mkdir -p ~/.config/fish")
    contains(result.stderr, ".config/fish", "another program")


@test("in a shared /tmp another program's pipe is refused quietly; its files are told, and the run's own work")
def pipes(fx):
    top = Path(tempfile.mkdtemp(prefix="sandbash-pipe-", dir="/tmp"))
    os.mkfifo(top / "pipe")
    fx.write(top / "file", "theirs")
    use = "exec 3<>\"$0\" && echo through >&3 && read -r line <&3 && echo $line"
    own = "mkfifo /tmp/own-$$; " + use.replace('"$0"', "/tmp/own-$$") + "; rm /tmp/own-$$"
    try:
        equal(fx.run("bash", "-c", use, top / "pipe").stdout, "through\n", "control")
        result = fx.sandbash("--consent=deny", "bash", "-c", f"{{ {use}; }} 2>/dev/null", top / "pipe", variant="flat")
        equal((result.stdout, result.stderr), ("", ""))
        result = fx.sandbash("--consent=deny", "bash", "-c", 'echo >"$0"', top / "file", variant="flat")
        contains(result.stderr, "another program's temporary file")
        equal((top / "file").read_text(), "theirs")
        equal(fx.sandbash("bash", "-c", own, variant="flat").stdout, "through\n", "neighbour")
    finally:
        shutil.rmtree(top)


@test("deny ~ hides histories, too")
def hidden(fx):
    fx.write(fx.home / ".python_history", "typed\n")
    read = ["cat", fx.home / ".python_history"]
    equal(fx.sandbash(*read).stdout, "typed\n", "neighbour")
    result = fx.sandbash(f"--deny={fx.home}", *read)
    check(result.status != 0 and "typed" not in result.stdout, str(result))


run_all()
