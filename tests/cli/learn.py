"""learn.py - --learn: a run that is let through nothing, and rules that would have sufficed for it.

What is learned is used as a person would use it: added to the rules of the directory, or as --policy=FILE.
Then the same works, nobody is asked, and the neighbour is still refused.  Guarded names, credentials, the
home directory and system directories are never in it, whatever a program does.
"""

import os
import random
import re
import shlex
import socket

from person import Person
from tap import BIN, check, contains, equal, lacks, run_all, test

BOTH = ("full", "flat")
RULE = re.compile(r"^(?:write|deny|(?:read|modify|create|delete)(?:\+\w+)*) .*$", re.M)


def rules(text):
    """The rules of a text, as they are written, without what they are for."""
    return [re.sub(r"  # (?:as before|once|\d+ times).*", "", rule) for rule in RULE.findall(text)]


def learn(fx, script, *flags, status=None, env=None):
    """What was learned, from a file outside the project."""
    path = fx.home / "learned.rules"
    result = fx.sandbash(f"--learn={path}", *flags, "sh", "-c", script, env=env)
    if status is not None:
        equal(result.status, status, result.stderr)
    text = path.read_bytes().decode("utf-8", "surrogateescape")
    return text


def anew(fx):
    if (fx.home / "learned.rules").exists():
        (fx.home / "learned.rules").unlink()


def use(fx, script, *flags):
    """The same with the rules, and nobody to ask."""
    return fx.sandbash(f"--policy={fx.home}/learned.rules", "--consent=deny", *flags, "sh", "-c", script)


PROGRAM = """
set -e
mkdir -p ~/.cache/tool
for i in 1 2 3 4; do echo $i > ~/.cache/tool/$i; done
mkdir -p ~/.config/tool && echo setting > ~/.config/tool/config
cat ~/library/a ~/library/b ~/library/c > copy
echo more >> ~/journal
"""


@test("one link opens no directory around it; a file is learned by its name", BOTH)
def one_link(fx):
    (fx.home / "papers").mkdir()
    text = learn(fx, "ln -s /x ~/papers/link; : > ~/papers/file")
    equal(rules(text), [f"write {fx.home}/papers/file"])
    contains(text, "only a rule for its whole directory allows it")


@test("a program that needs much: learned step by step, added, and it works unasked", BOTH)
def real(fx):
    for name in ("a", "b", "c", "d"):
        fx.write(fx.home / "library" / name, name)
    for name in (".cache", ".config"):
        (fx.home / name).mkdir(exist_ok=True)
    fx.write(fx.home / "journal", "old\n")
    fx.config("deny ~/library\ndeny ~/other\n")
    fx.write(fx.home / "other/x", "x")
    before = fx.snapshot()
    equal(fx.run("sh", "-c", PROGRAM).status, 0, "the control")
    fx.run("sh", "-c", "rm -rf ~/.cache/tool ~/.config/tool copy; echo old > ~/journal")
    equal(fx.snapshot().keys(), before.keys(), "as before")
    check(fx.sandbash("--consent=deny", "sh", "-c", PROGRAM).status != 0)
    for _ in range(8):
        text = learn(fx, PROGRAM)
        if "0 of 0 operations" in text:
            break
    found = rules(text)
    equal(sorted(found), sorted([f"write {fx.home}/.cache/tool", f"write {fx.home}/.config/tool",
                                 f"read+modify {fx.home}/journal", f"read {fx.home}/library/a",
                                 f"read {fx.home}/library/b", f"read {fx.home}/library/c"]), text)
    fx.run("sh", "-c", "rm -rf ~/.cache/tool ~/.config/tool copy; echo old > ~/journal")
    # where a person's rules go
    adds = fx.write(fx.dir / "bin/adds", f"#!/bin/sh\ncat {fx.home}/learned.rules >> \"$1\"\n", 0o755)
    equal(fx.sandbash("--edit", env={"VISUAL": adds}, variant="full").status, 0)
    for _ in range(2):
        result = fx.sandbash("--consent=deny", "sh", "-c", PROGRAM)
        said = [line for line in result.stderr.splitlines() if "cannot be read back" not in line or fx.variant == "full"]
        equal((result.status, said), (0, []), "with the rules")
    equal(fx.read("copy"), "abc")
    for neighbour in ("echo x > ~/.cache/other", "echo x > ~/.config/other", "rm ~/journal", "cat ~/library/d",
                      "cat ~/other/x"):
        check(fx.sandbash("--consent=deny", "sh", "-c", neighbour).status != 0, neighbour)


@test("nothing is let through, and the status is the command's", BOTH)
def lets_nothing_through(fx):
    fx.settle()
    script = "echo x > ~/a; rm ~/there; cat ~/.ssh/id; mkdir ~/b; echo x > in; exit 7"
    fx.write(fx.home / "there", "x")
    fx.write(fx.home / ".ssh/id", "key")
    fx.write("in")
    before = fx.snapshot(fx.home)
    result = fx.sandbash("--learn", "sh", "-c", script)
    equal(result.status, 7)
    lacks(result.stdout, "key")
    equal(fx.read("in"), "x\n", "inside it works")
    fx.write("in")
    equal(fx.snapshot(fx.home), before)
    equal(rules(result.stderr),
          [f"write {fx.home}/a", f"write {fx.home}/b", f"read+delete {fx.home}/there"], result.stderr)


NEVER = (
    # script, what is in the reason
    ("echo x > ~/.envrc", "guarded: "),
    ("mkdir -p ~/area; echo x > ~/area/.envrc", "guarded: "),
    ("echo x > .git/hooks/pre-commit", "guarded: "),
    ("mkdir ~/area/.vscode; mkdir ~/area/.git", "guarded: "),
    ("echo x > ~/.bashrc", "guarded: "),
    ("mkdir -p ~/.config/autostart", "guarded: "),
    ("echo x > ~/bin/tool", "guarded: "),
    ("touch ~/area/.mcp.json", "guarded: "),
    ("mkdir ~/.aws", "a credential: "),
    ("mkdir ~/.ssh", "a credential: "),
    ("echo x > ~/.netrc", "a credential: "),
    ("echo x > ~/.codex/auth.json", "a credential: "),
    ("mkdir ~/.gemini", "a credential: "),
    ("echo x > ~/progs/x", "PATH"),
    ("chmod 700 ~/progs", "PATH"),
    ("touch ~", "your home directory itself"),
    ("chmod 700 ~", "your home directory itself"),
    ("touch ~/..", "around your home directory"),
    ("mkdir ~/.cache", "a directory of many programs"),
    ("touch ~/.config", "sandbash's own files lie in it"),
    ("touch ~/.local/share", "a directory of many programs"),
    ("echo network on > ~/.config/sandbash/config", "no option allows it"),
)


@test("guarded names, credentials, the home directory: never learned", BOTH)
def never(fx):
    fx.git_project()
    for name in (".codex", ".config", ".local/share", "bin", "area", "progs"):
        (fx.home / name).mkdir(parents=True, exist_ok=True)
    fx.config("")
    for script, reason in NEVER:
        anew(fx)
        text = learn(fx, script, env={"PATH": f"{fx.env()['PATH']}:{fx.home}/progs"})
        contains(text, reason, script)
        equal(rules(text), [], script)
        contains(text, "# Not learned:")
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(fx.home / "service"))
    server.listen(5)
    anew(fx)
    text = learn(fx, "python3 -c 'import os, socket; socket.socket(socket.AF_UNIX).connect(os.environ[\"HOME\"] + \"/service\")'")
    contains(text, "a service outside")
    equal(rules(text), [])
    server.close()
    # as root nothing else stands in the way
    if os.getuid() == 0:
        for path in ("/usr/local/lib/x", "/etc/x", "/var/lib/x", "/x-not-there"):
            anew(fx)
            text = learn(fx, f"touch {path}")
            equal(rules(text), [], path)


@test("directories that hold programs of one's own are not opened whole, nor made: ~/go, ~/.rustup", BOTH)
def toolchains(fx):
    make = "mkdir -p ~/go/pkg/mod/x ~/.rustup/tmp ~/.bun/install/cache/x"
    text = learn(fx, make)
    for part in (f"create '{fx.home}/go'", "guarded: shell: on the PATH", f"create '{fx.home}/.rustup'"):
        contains(text, part)
    equal([rule for rule in rules(text) if rule.split("/")[-1] in ("go", ".rustup", ".bun")], [])
    for place in ("go/bin", "go/pkg/mod", ".rustup/toolchains", ".rustup/tmp", ".bun/bin", ".bun/install/cache"):
        (fx.home / place).mkdir(parents=True)
    anew(fx)
    text = learn(fx, "cd ~ && for i in 1 2 3 4; do for d in go .rustup .bun go/bin .bun/bin go/pkg/mod .rustup/tmp; do echo x >$d/$i; done; done")
    for name in ("go", ".rustup", ".bun", "go/bin", ".bun/bin"):
        check(f"write {fx.home}/{name}" not in rules(text), f"{name} is opened: {text}")
    check(f"write {fx.home}/go/pkg" in rules(text), text)
    check(f"write {fx.home}/.rustup/tmp" in rules(text), text)
    check(use(fx, "echo x >~/go/bin/tool").status != 0)
    equal(use(fx, "echo x >~/go/pkg/mod/5").status, 0)


@test("many names beside what is closed open no more than themselves", BOTH)
def siblings(fx):
    fx.git_project()
    fx.write(fx.home / ".ssh/id", "key")
    fx.write(fx.home / "other/.git/HEAD")
    places = (fx.home, fx.home / ".config", fx.home / ".local", fx.home / ".local/share", fx.home / ".cargo",
              fx.home / ".cache", fx.home / ".codex", fx.dir)
    for place in places:
        place.mkdir(parents=True, exist_ok=True)
        anew(fx)
        text = learn(fx, f"cd {place} && for i in 1 2 3 4 5 6; do echo x > name$i; done")
        if place.name == ".codex":  # of an agent's directory nothing is
            equal(rules(text), [])
            contains(text, "guarded: ")
        else:
            equal(sorted(rules(text)), [f"write {place}/name{i}" for i in range(1, 7)], str(place))
    # a directory of its own is opened as one; what is guarded in it stays so
    (fx.home / "own").mkdir()
    anew(fx)
    text = learn(fx, "cd ~/own && for i in 1 2 3 4 .envrc; do echo x > $i; done")
    equal(rules(text), [f"write {fx.home}/own"])
    contains(text, "guarded: direnv")
    check(use(fx, "echo x > ~/own/.envrc").status != 0)
    equal(use(fx, "echo x > ~/own/5").status, 0)
    # rules of the user's about something in it are not overruled
    for rule, closed in (("deny ~/own/key", "~/own/key"), ("deny ~/**/*.pem", "~/own/a.pem"), ("ask ~/own/key", "~/own/key")):
        fx.config(rule + "\n")
        anew(fx)
        equal(len(rules(learn(fx, "cd ~/own && for i in 6 7 8 9; do echo x > $i; done"))), 4, rule)
        check(use(fx, f"echo x > {closed}").status != 0, rule)


@test("a rule of the user's for that very path is the user's to change")
def named(fx):
    fx.write(fx.home / "area/file", "x")
    for rule in ("read ~/area/file", "ask ~/area/file", "deny ~/area/file"):
        fx.config(rule + "\n")
        anew(fx)
        text = learn(fx, "echo y > ~/area/file; cat ~/area/file")
        equal(rules(text), [], rule)
        contains(text, "a rule is about it: ")
    # one for a directory around it gets an exception, and says so
    fx.config("read ~/area\n")
    anew(fx)
    text = learn(fx, "echo y > ~/area/file")
    equal(rules(text), [f"read+modify {fx.home}/area/file"])
    contains(text, f"an exception to {fx.home}/.config/sandbash/config line 1")
    equal(use(fx, "echo y > ~/area/file").status, 0)
    check(use(fx, "echo y > ~/area/other").status != 0)
    text = learn(fx, "true", "--mode=read-only")
    anew(fx)
    text = learn(fx, "echo y > made", "--mode=read-only")
    equal(rules(text), [])
    contains(text, "read-only mode")


@test("a home directory that is hidden: what is read, and what is written", BOTH)
def hidden(fx):
    fx.write(fx.home / "data/a", "a")
    fx.write(fx.home / ".ssh/id", "key")
    fx.write(fx.home / "secret/s", "s")
    (fx.home / ".cache/x").mkdir(parents=True)
    fx.config("deny ~\n")
    script = "cat ~/data/a && ls ~/data && echo x > ~/.cache/x/f && cat ~/.cache/x/f; cat ~/.ssh/id"
    check(fx.sandbash("--consent=deny", "sh", "-c", script).stdout == "")
    for _ in range(4):
        text = learn(fx, script)
    equal(sorted(rules(text)), [f"read {fx.home}/data", f"write {fx.home}/.cache/x"], text)
    contains(text, "a credential: SSH keys")
    result = use(fx, script)
    equal(result.stdout, "a" + "a\n" + "x\n", result.stderr)
    check(use(fx, "cat ~/secret/s").status != 0)
    # what is not there, and what nobody could read anyway, needs no rule
    (fx.home / "data/none").write_text("")
    (fx.home / "data/none").chmod(0)
    anew(fx)
    text = learn(fx, "cat ~/other/not-there" + ("" if os.getuid() == 0 else " ~/data/none"))
    equal(rules(text), [], text)


ODD = ["two words", "it's", 'quo"te', "$(touch pwned)", "a*b", "[x]", "back\\slash", "-dash", "new\nline", "esc\x1b[31m",
       "semi;colon", "~tilde", "q?", "\u00e4\u00f6", "tab\there", " lead", "trail ", "#hash", "a # b", "&", "**", "{a,b}",
       "\u202eoverride", "a\n# sandbash --learn\nwrite ", "deny x", "\\", '"', "\udcff\udc80", "read", "\r"]


def random_names(count):
    seed = int(os.environ.get("SANDBASH_TEST_SEED") or random.randrange(1 << 30))
    print(f"# SANDBASH_TEST_SEED={seed} repeats this run")
    draw = random.Random(seed)
    letters = list(b" \t\n\r\\\"'#*?[]!^-{}$a\x01\x1b\x7f\x80\xff\xc3\xa4")
    # no "~", and a plain letter at the end: names of copies ("x~", "~$x", "#x#") are a matter of their directory
    # ... and none at the beginning that makes an option of it: guard/option_name.h
    return [bytes(draw.choice(letters) for _ in range(draw.randrange(1, 9))).decode("utf-8", "surrogateescape").lstrip("-") + "e"
            for _ in range(count)]


@test("whatever a name is made of, its rule means that file", BOTH)
def odd_names(fx):
    (fx.home / "area").mkdir()
    fx.write(fx.home / "area/in-the-way", "x")
    fx.config("deny ~/area/in-the-way\n")  # no rule for the directory: each name for itself
    names = sorted(set(ODD + random_names(40)) - {".", ".."})
    program = fx.write("touch.py", "import os, sys\nfor n in os.fsencode(sys.argv[1]).split(b'/'):\n"
                       "    try: os.close(os.open(os.fsencode(os.environ['HOME']) + b'/area/' + n, 65))\n"
                       "    except OSError as e: print(e.errno)\n")
    script = f"python3 {program} {shlex.quote('/'.join(names))}"
    text = learn(fx, script, status=0)
    equal(len(rules(text)), len(names), text)
    check(all(c.isprintable() or c == "\n" for c in text), "a text that steers no terminal")
    contains(text, f"allow {len(names)} of {len(names)} operations")
    result = use(fx, script)
    equal((result.status, result.stdout), (0, ""), "with the rules")
    equal(sorted(os.listdir(fx.home / "area")), sorted(names + ["in-the-way"]))
    others = [n for n in ("aXb", "aXXb", "x", "qa", "two", "words", "a", "area-x", "XX") if n not in names]
    result = use(fx, f"python3 {program} {shlex.quote('/'.join(others))}")
    equal(result.stdout, "13\n" * len(others), "a wildcard")
    # and once more through the same file
    again = learn(fx, "true")
    equal(sorted(rules(again)), sorted(rules(text)))


@test("a program cannot drown what is said")
def flood(fx):
    program = fx.write("flood.py", "import os\nhome = os.environ['HOME']\n"
                       "for i in range(3000):\n"
                       "    for path in (f'{home}/n{i}', f'{home}/.envrc' if i % 2 else f'{home}/d{i}/.bashrc'):\n"
                       "        try: os.mkdir(path)\n"
                       "        except OSError: pass\n")
    text = learn(fx, f"python3 {program}")
    check(len(rules(text)) <= 300, len(rules(text)))
    check(len(text.splitlines()) < 1200, len(text.splitlines()))
    contains(text, "rules more")
    contains(text, "operations more were refused")
    equal(use(fx, "mkdir ~/n0").status, 0)


@test("links: the rule names what was judged", BOTH)
def links(fx):
    for name in ("area", "work", ".ssh"):
        (fx.home / name).mkdir()
    os.symlink("area", fx.home / "way")
    text = learn(fx, "echo x > ~/way/file")
    equal(rules(text), [f"write {fx.home}/area/file"])
    equal(use(fx, "echo x > ~/way/file").status, 0)
    # one that the command makes itself leads to nothing that is not judged
    anew(fx)
    text = learn(fx, "ln -s ~/.ssh link; echo x > link/id; ln -s ~ top; for i in 1 2 3; do echo x > top/t$i; done")
    equal(rules(text), [f"write {fx.home}/t{i}" for i in (1, 2, 3)])


@test("the file: never over another, never where commands can write, kept from run to run")
def file(fx):
    mine = fx.write(fx.home / "mine", "keep\n")
    for path, words in ((mine, "no file of --learn"), ("in-project", "commands can change"),
                        (fx.project / "in-project", "commands can change"), (fx.home / "no/such", "no such directory"),
                        (fx.home, "")):
        result = fx.sandbash(f"--learn={path}", "touch", "ran")
        equal(result.status, 125, path)
        contains(result.stderr, words)
        check(not fx.exists("ran") and not fx.exists("in-project"))
    equal(mine.read_text(), "keep\n")
    result = fx.sandbash(f"--learn={fx.home}/open", f"--allow-write={fx.home}/open", "touch", "ran")
    check(result.status == 125 and not fx.exists("ran"), "a rule opens that very file")
    os.symlink("mine", fx.home / "to-mine")
    equal(fx.sandbash(f"--learn={fx.home}/to-mine", "true").status, 125)
    first = learn(fx, "echo x > ~/a")
    equal(rules(first), [f"write {fx.home}/a"])
    equal((fx.home / "learned.rules").stat().st_mode & 0o777, 0o600)
    # they count in the next one, and stay; what a person has added, too
    with open(fx.home / "learned.rules", "a") as more:
        more.write("deny ~/d\ndeny ~/x*\nread+modify ~/c\n")
    fx.write(fx.home / "c", "x")
    fx.write(fx.home / "d", "x")
    second = learn(fx, "echo x > ~/a && echo x > ~/b; rm ~/c; cat ~/d; echo x > ~/d")
    contains(second, "a rule is about it: ")
    equal(sorted(rules(second)), ["deny ~/d", "deny ~/x*", f"read+modify+delete {fx.home}/c", f"write {fx.home}/a", f"write {fx.home}/b"])
    check((fx.home / "a").exists())
    equal(use(fx, "echo x > ~/b && rm ~/c").status, 0)
    # "~" and relative paths
    equal(fx.sandbash("--learn=~/tilde", "true").status, 0)
    check((fx.home / "tilde").exists())
    result = fx.sandbash("--learn=../beside", "sh", "-c", "echo x > ~/e")
    contains(result.stderr, "1 rule in '")
    equal(fx.sandbash("--quiet", "--learn=../beside", "true").stderr, "")


@test("--learn goes with a supervised command")
def usage(fx):
    for words, status in ((("--learn", "--explain", "x"), 2), (("--learn", "--status"), 2), (("--learn", "--mcp"), 2),
                          (("--learn", "--static", "true"), 125),
                          (("--learn", "--mode=danger-full-access", "true"), 125)):
        result = fx.sandbash(*words)
        equal(result.status, status, words)
        contains(result.stderr, "learn")
    result = fx.sandbash("--learn", "true", variant="nested")
    equal(result.status, 125)
    contains(result.stderr, "supervised run")
    text = fx.sandbash("--learn", "true").stderr
    equal(rules(text), [])
    contains(text, "0 of 0 operations")
    contains(fx.sandbash("--learn", "--network=off", "true").stderr, "network was off")


@test("with --consent=ask a yes is learned as well, and a no is not", BOTH)
def asked(fx):
    for name in ("area", "more"):
        (fx.home / name).mkdir()
    path = fx.home / "learned.rules"
    person = Person(fx, "sh", "-c", "echo x > ~/area/yes; echo x > ~/more/no; echo x > .envrc",
                    flags=(f"--learn={path}", "--consent=ask"))
    person.answer("1", fx.home / "area/yes")
    person.answer("3", fx.home / "more/no")
    person.answer("1", ".envrc")
    person.end()
    check((fx.home / "area/yes").exists() and not (fx.home / "more/no").exists())
    text = path.read_text()
    equal(rules(text), [f"write {fx.home}/area/yes"], text)
    contains(text, "you said no")
    contains(text, "guarded: direnv")
    contains(text, "refused or asked about")


run_all()
