"""remedies.py - what sandbash says would allow something does allow it.

Each act works without a sandbox (control), is refused with it, and works with the remedy as it was
printed; the neighbour of what was opened stays closed.  Where nothing is known to help, nothing is
told to.
"""

import re
import shlex
import socket

from tap import BIN, check, contains, equal, lacks, run_all, test

BOTH = ("full", "flat")
LINE = re.compile(r"^  .*\)\n {6}(.*)$", re.M)
HELPS = re.compile(r"(mkdir -p .* && )?sandbash (.*) \.\.\.")


def told(stderr):
    """The remedies of a summary, as printed."""
    return LINE.findall(stderr)


def shell_line(fx, remedies, script, *flags):
    """One command for a shell: the printed options in front of the same act."""
    makes, options = "", []
    for remedy in remedies:
        found = HELPS.fullmatch(remedy)
        check(found, f"no remedy: {script}: {remedy}")
        makes += found[1] or ""
        options.append(found[2])
    command = " ".join(shlex.quote(word) for word in
                       fx.argv("--consent=deny", *flags, "sh", "-c", script))
    binary = shlex.quote(str(BIN))
    check(command.count(binary) == 1, command)
    return makes + command.replace(binary, f"{binary} {' '.join(options)}")


def reset(fx, files):
    fx.run("sh", "-c", "rm -rf ~/a-* ~/area ~/.npm; mkdir -p ~/area/deep")
    for path in files:
        fx.write(fx.home / path, "old\n")


def cure(fx, script, files=(), flags=(), check_after=None):
    """The act is refused, and then done with what was told."""
    reset(fx, files)
    control = fx.run("bash", "-c", script)
    equal(control.status, 0, f"the control: {script}: {control.stderr}")
    reset(fx, files)
    refused = fx.sandbash("--consent=deny", *flags, "sh", "-c", script)
    check(refused.status != 0, f"not refused: {script}")
    remedies = told(refused.stderr)
    check(remedies, f"nothing was told: {script}: {refused.stderr}")
    lacks(refused.stderr, "once it exists")
    line = shell_line(fx, remedies, script, *flags)
    cured = fx.run("bash", "-c", line)
    equal(cured.status, 0, f"{remedies} does not help: {script}: {cured.stderr}")
    if check_after:
        equal(fx.run("sh", "-c", check_after).status, 0, f"{script}: {check_after}")
    beside = fx.run("bash", "-c", shell_line(fx, remedies, "touch ~/a-beside ~/area-beside", *flags))
    check(beside.status != 0, f"{remedies} opens more")
    return remedies


ACTS = (
    # script, what is there before, what shows that it was done
    ("echo x > ~/a-new", (), "test -s ~/a-new"),
    ("echo x > ~/area/new", (), "test -s ~/area/new"),
    ("echo x > ~/area/deep/new", (), "test -s ~/area/deep/new"),
    ("echo x >> ~/a-file", ("a-file",), "grep x ~/a-file"),
    ("echo x > ~/area/file", ("area/file",), "grep x ~/area/file"),
    ("truncate -s 0 ~/a-file", ("a-file",), "! test -s ~/a-file"),
    ("mkdir ~/a-dir", (), "test -d ~/a-dir"),
    ("mkdir -p ~/a-dir/b/c && echo x > ~/a-dir/b/c/d", (), "test -s ~/a-dir/b/c/d"),
    ("rm ~/a-file", ("a-file",), "! test -e ~/a-file"),
    ("rm ~/area/file", ("area/file",), "! test -e ~/area/file"),
    ("mkdir ~/a-dir && rmdir ~/a-dir", (), "! test -e ~/a-dir"),
    ("mv ~/a-file ~/a-other", ("a-file",), "test -e ~/a-other && ! test -e ~/a-file"),
    ("mv ~/a-file ~/a-other", ("a-file", "a-other"), "test -e ~/a-other && ! test -e ~/a-file"),
    ("mv ~/area/file ~/area/deep/other", ("area/file",), "test -e ~/area/deep/other"),
    ("python3 -c 'import os; h = os.environ[\"HOME\"]; os.rename(h + \"/a-file\", h + \"/a-other\")'",
     ("a-file",), "test -e ~/a-other"),
    ("echo x > from-here; mv from-here ~/a-moved", (), "test -e ~/a-moved"),
    ("mv ~/a-file into-here && rm into-here", ("a-file",), "! test -e ~/a-file"),
    ("chmod 640 ~/a-file", ("a-file",), "test $(stat -c %a ~/a-file) = 640"),
    ("touch -d 2001-01-01 ~/a-file", ("a-file",), "test $(stat -c %Y ~/a-file) -lt 1000000000"),
    ("ln -s target ~/area/link", (), "test -L ~/area/link"),
    ("ln ~/area/file ~/area/second", ("area/file",), "test -e ~/area/second"),
    ("sed -i s/old/x/ ~/area/file", ("area/file",), "grep x ~/area/file"),
    ("echo x > ~/a-file.tmp && mv ~/a-file.tmp ~/a-file", ("a-file",), "grep x ~/a-file"),
    ("mkfifo ~/a-fifo", (), "test -p ~/a-fifo"),
    ("python3 -c 'import os, socket; socket.socket(socket.AF_UNIX).bind(os.environ[\"HOME\"] + \"/a-s\")'",
     (), "test -S ~/a-s"),
    ("s=0; for i in 1 2 3 4; do echo x > ~/area/deep/n$i || s=1; done; exit $s", (), "test -e ~/area/deep/n4"),
    ("mkdir -p ~/.npm/_cacache/n4", (), "test -d ~/.npm/_cacache/n4"),
)


@test("the summary's remedies, outside the project", BOTH)
def outside(fx):
    for script, files, after in ACTS:
        cure(fx, script, files, check_after=after)
        fx.run("sh", "-c", "rm -rf ~/.npm")


@test("a link outside: its place is opened, and not what it leads to", BOTH)
def links(fx):
    """A rule for the name of a link is about what that leads to."""
    for script, after in (("rm ~/area/link", "! test -L ~/area/link"),
                          ("mv ~/area/link ~/area/other", "test -L ~/area/other"),
                          ("mv ~/area/link ~/area/deep/other", "test -L ~/area/deep/other"),
                          ("ln -sfn elsewhere ~/area/link", "test $(readlink ~/area/link) = elsewhere")):
        def again():
            reset(fx, ("a-precious",))
            fx.run("ln", "-s", "../a-precious", str(fx.home / "area/link"))
        again()
        equal(fx.run("bash", "-c", script).status, 0, f"the control: {script}")
        again()
        refused = fx.sandbash("--consent=deny", "sh", "-c", script)
        check(refused.status != 0, script)
        remedies = told(refused.stderr)
        equal(remedies, [f"sandbash --allow-write={fx.home}/area ..."], script)
        cured = fx.run("bash", "-c", shell_line(fx, remedies, script + " && ! echo x >> ~/a-precious"))
        equal((cured.status, fx.run("bash", "-c", after).status), (0, 0), f"{script}: {cured.stderr}")
        equal(fx.read(fx.home / "a-precious"), "old\n", "what it leads to")


@test("the remedy for one file is for that file", BOTH)
def narrow(fx):
    reset(fx, ())
    for script in ("echo x > ~/area/new", "mkdir ~/area/dir", "rm ~/area/old"):
        reset(fx, ("area/old",))
        remedies = told(fx.sandbash("--consent=deny", "sh", "-c", script).stderr)
        lacks(" ".join(remedies), f"={fx.home}/area ")
        result = fx.run("bash", "-c", shell_line(fx, remedies, "touch ~/area/beside"))
        check(result.status != 0 and not (fx.home / "area/beside").exists(), remedies)


ODD = ("two words", "it's", 'quo"te', "$(touch pwned)", "a*b", "[x]", "back\\slash", "-dash", "new\nline",
       "esc\x1b[31m", "semi;colon", "~tilde", "q?", "\u00e4\u00f6", "tab\there", "`tick`", "{a,b}", "#hash", "&")


@test("odd names survive the shell", BOTH)
def odd_names(fx):
    for name in ODD:
        for what in ("echo x > ~/area/{}", "rm ~/area/{}"):
            reset(fx, ())
            if what.startswith("rm"):
                fx.write(fx.home / "area" / name, "old")
            script = what.format(shlex.quote(name))
            refused = fx.sandbash("--consent=deny", "sh", "-c", script)
            check(refused.status != 0, script)
            remedies = told(refused.stderr)
            check(remedies and all(c.isprintable() for line in remedies for c in line), repr(name))
            cured = fx.run("bash", "-c", shell_line(fx, remedies, script))
            equal(cured.status, 0, f"{name!r}: {remedies}: {cured.stderr}")
            equal((fx.home / "area" / name).exists(), what.startswith("echo"), repr(name))
            other = fx.run("bash", "-c", shell_line(fx, remedies, "echo x > ~/area/aXXb"))
            check(other.status != 0, f"{name!r}: a wildcard")
    check(not fx.exists("pwned"))


@test("guarded names, git's config, read-only mode", BOTH)
def in_project(fx):
    fx.git_project()
    for script, flags in (
            ("printf '#!/bin/sh\\n' > .git/hooks/pre-commit && test -s .git/hooks/pre-commit", ()),
            ("git config core.pager evil && git config core.pager", ()),
            ("echo x > .envrc && test -s .envrc", ()),
            ("mkdir -p .vscode && echo '{}' > .vscode/tasks.json && test -s .vscode/tasks.json", ()),
            ("echo x > made && test -s made", ("--mode=read-only",)),
            ("rm there", ("--mode=read-only",))):
        fx.write("there", "old")
        refused = fx.sandbash("--consent=deny", *flags, "sh", "-c", script)
        check(refused.status != 0, script)
        remedies = told(refused.stderr)
        check(remedies, f"{script}: {refused.stderr}")
        cured = fx.run("bash", "-c", shell_line(fx, remedies, script, *flags))
        equal(cured.status, 0, f"{script}: {remedies}: {cured.stderr}")


@test("a socket outside")
def sockets(fx):
    path = fx.home / "service"
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    server.listen(5)
    script = ("python3 -c 'import os, socket; s = socket.socket(socket.AF_UNIX); "
              "s.connect(os.environ[\"HOME\"] + \"/service\")'")
    equal(fx.run("sh", "-c", script).status, 0)
    refused = fx.sandbash("--consent=deny", "sh", "-c", script)
    check(refused.status != 0)
    cured = fx.run("bash", "-c", shell_line(fx, told(refused.stderr), script))
    equal(cured.status, 0, f"{told(refused.stderr)}: {cured.stderr}")
    server.close()


@test("git config --global, also where there is none yet")
def global_config(fx):
    for files in ((), (".gitconfig",)):
        for path in files:
            fx.write(fx.home / path, "[user]\n\tname = x\n")
        script = "git config --global user.name y"
        refused = fx.sandbash("--consent=deny", "sh", "-c", script)
        check(refused.status != 0)
        cured = fx.run("bash", "-c", shell_line(fx, told(refused.stderr), script))
        equal(cured.status, 0, f"{told(refused.stderr)}: {cured.stderr}")
        contains((fx.home / ".gitconfig").read_text(), "name = y")
        (fx.home / ".gitconfig").unlink()


@test("where nothing helps, nothing is told to")
def nothing(fx):
    fx.git_project()
    fx.config("")
    fx.write("file", "x")
    for script, files in (("sed -i s/old/x/ ~/a-file", ("a-file",)), ("ln -s x ~/a-link", ()),
                          ("ln file ~/area/second", ()),
                          ("mkdir -p k/objects k/hooks && echo x >k/hooks/pre-commit && mkdir k/refs", ()),
                          ("mkdir -p c/autostart && echo x >c/autostart/x.desktop && mv c .config", ()),
                          ("echo network on > ~/.config/sandbash/config", ())):
        reset(fx, files)
        refused = fx.sandbash("--consent=deny", "sh", "-c", script)
        check(refused.status != 0, script)
        lacks(refused.stderr, "--add-path")
        for remedy in told(refused.stderr):
            lacks(remedy, "sandbash -", f"{script}: {remedy}")
            contains(remedy, "no option allows it", script)
    # what is made in a hidden directory would not be seen
    reset(fx, ())
    fx.config("deny ~/area\n")
    refused = fx.sandbash("--consent=deny", "sh", "-c", "echo x > ~/area/new")
    check(refused.status != 0)
    lacks(" ".join(told(refused.stderr)), "sandbash -")
    # said on the command line
    fx.config("")
    refused = fx.sandbash("--consent=deny", "--deny=later", "sh", "-c", "echo x > later")
    equal(told(refused.stderr), ["leave out --deny=later"])


@test("--report has the same options")
def report(fx):
    import json
    reset(fx, ("a-file",))
    script = "mv ~/a-file ~/a-other"
    path = fx.dir / "report"
    fx.sandbash("--consent=deny", f"--report={path}", "sh", "-c", script)
    entry, = json.loads(path.read_text())["entries"]
    equal(entry["can_be_allowed"], True)
    result = fx.sandbash(entry["option"], entry["second_option"], "--consent=deny", "sh", "-c", script)
    equal(result.status, 0, f"{entry}: {result.stderr}")


def explained(fx, path, *flags):
    """What --explain says to do: {"to allow reading": "sandbash ..."}"""
    lines = fx.sandbash("--explain", path, *flags).stdout.splitlines()
    return {line.split(":")[0]: line.split(":", 1)[1].strip() for line in lines
            if re.match(r"to (allow|hide)", line)}


def run_explained(fx, words, script):
    check(words.startswith("sandbash "), words)
    command = " ".join(shlex.quote(word) for word in fx.argv("--consent=deny", "sh", "-c", script))
    binary = shlex.quote(str(BIN))
    return fx.run("bash", "-c", command.replace(binary, binary + words[len("sandbash"):]))


@test("what --explain says allows or hides a path does", BOTH)
def explains(fx):
    fx.git_project()
    reset(fx, ("a-file", "area/a*b"))
    fx.write(fx.home / ".ssh/id", "key")
    fx.write("file", "x")
    fx.write("a*b", "x")
    fx.write("aXb", "x")
    for path in (fx.home / "a-file", fx.home / "a-missing", fx.home / "area/a*b", fx.home / "area/x*y",
                 fx.project / ".git/hooks/pre-commit", fx.project / ".envrc"):
        words = explained(fx, path)
        script = f"echo x >> {shlex.quote(str(path))}"
        check(fx.sandbash("--consent=deny", "sh", "-c", script).status != 0, path)
        result = run_explained(fx, words["to allow changes"], script)
        equal(result.status, 0, f"{words}: {result.stderr}")
        other = run_explained(fx, words["to allow changes"], "echo x > ~/area/xAy")
        check(other.status != 0, words)
    words = explained(fx, fx.home / ".ssh/id")
    check(fx.sandbash("cat", fx.home / ".ssh/id").status != 0)
    equal(run_explained(fx, words["to allow reading"], "cat ~/.ssh/id").stdout, "key")
    equal(run_explained(fx, words["to allow changes"], "echo x > ~/.ssh/id && cat ~/.ssh/id").stdout, "x\n")
    for name in ("file", "a*b"):
        words = explained(fx, name)
        check(fx.sandbash("cat", name).status == 0)
        check(run_explained(fx, words["to hide it"], f"cat {shlex.quote(name)}").status != 0, words)
        equal(run_explained(fx, words["to hide it"], "cat aXb").status, 0, words)
    for flag in ("--deny=file", "--ask=file", "--allow-read=file", "--rule=read+create file", "--allow-write=file"):
        equal(explained(fx, "file", flag), {}, f"{flag}: another one would contradict it")
        contains(fx.sandbash("--explain=file", flag).stdout, f"leave out {flag}\n")
        for other in ("--deny=file", "--allow-write=file"):
            check(other == flag or fx.sandbash(flag, other, "true").status != 0, "and so it does")
    words = explained(fx, "file", "--deny=f*")
    equal(fx.sandbash("--deny=f*", words["to allow reading"].split(" ", 1)[1], "cat", "file").stdout, "x")
    equal(explained(fx, fx.home / ".ssh/new"), {}, "what is made in a hidden directory is not seen")
    lacks(str(explained(fx, ".")), "--deny", "a run needs its directory")
    contains(fx.sandbash("--explain", fx.home / ".config/sandbash/config").stdout, "no option changes this")


@test("--add-path reaches what is not there yet", BOTH)
def add_path(fx):
    reset(fx, ())
    for path, script in (("~/a-new", "echo x > ~/a-new"), ("~/a-dir", "mkdir -p ~/a-dir/b && echo x > ~/a-dir/b/c"),
                         ("~/area/*.txt", "echo x > ~/area/'*.txt'")):
        check(fx.sandbash("--consent=deny", "sh", "-c", script).status != 0, script)
        equal(fx.run(BIN, "--add-path", path).status, 0)
        result = fx.sandbash("--consent=deny", "sh", "-c", script)
        equal(result.status, 0, result.stderr)


run_all()
