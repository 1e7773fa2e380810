"""C7: --preview tells what a shell command would do to files, by its text alone.

Held against bash: which texts are commands (bash -n, and shfmt for how many are in them), and what really happens.
SANDBASH_TEST_COMMANDS=N makes N random commands instead of 100 for each user, SANDBASH_TEST_SCRIPTS=N looks at N scripts,
SANDBASH_TEST_SEED=N makes others.
"""

import json
import os
import random
import re
import shutil
import subprocess

from shell_commands import Maker, copy_tree, judge, look, make_tree, ran_well
from tap import check, contains, equal, lacks, run_all, skip, test

COMMANDS = int(os.environ.get("SANDBASH_TEST_COMMANDS", "100"))
SCRIPTS = int(os.environ.get("SANDBASH_TEST_SCRIPTS", "90"))
SEED = int(os.environ.get("SANDBASH_TEST_SEED", "7"))
SHEBANG = re.compile(rb"#! ?/(usr/)?bin/(env )?(ba|da)?sh\s")


@test("C7 --preview tells files, programs, network and what is unknown, and runs nothing")
def tells(fx):
    command = "cp a b/ && rm *.o; make > log; curl -o f https://example.org/x"
    before = fx.snapshot()
    result = fx.sandbash("--preview", command)
    equal(result.status, 0, result.stderr)
    here = str(fx.project)
    equal(result.stdout.splitlines(), [
        f"read    certain   {here}/a  by: cp a", f"create  certain   {here}/b/a  by: cp b/", f"delete  possible  {here}/*.o  by: rm *.o",
        f"create  certain   {here}/log  by: > log", f"create  certain   {here}/f  by: curl f", "programs: cp, rm, make, curl",
        "network: yes", "unknown: make"])
    equal(json.loads(fx.sandbash("--preview", "rm a; x", "--json").stdout), {
        "files": [{"path": f"{here}/a", "act": "delete", "certainty": "certain", "by": "rm a"}], "programs": ["rm", "x"],
        "network": "unknown", "unknown": ["x"]})
    equal(json.loads(fx.sandbash("--preview=true", "--json").stdout),
          {"files": [], "programs": [], "network": "no", "unknown": []})
    equal(fx.snapshot(), before, "what is there")


@test("C7 --preview knows the variables that a command would see, and shows what steers a terminal as text")
def variables(fx):
    result = fx.sandbash("--preview", 'rm "$MINE" ~/x $UNSET', env={"MINE": "a\033b"})
    contains(result.stdout, f"delete  certain   {fx.project}/a\\eb  by: rm \"$MINE\"")
    contains(result.stdout, f"delete  certain   {fx.home}/x")
    lacks(result.stdout, "unknown:")
    result = fx.sandbash("--preview", "rm 'a")
    contains(result.stdout, "unknown: rm 'a\ncannot be read: line 1: a ' is not closed")
    equal(fx.sandbash("--preview", "rm a", "ls").status, 2, "with a command")
    equal(fx.sandbash("--preview").status, 2, "without one")


def find_scripts(limit):
    """Shell scripts of this machine, the same ones every time; of many some from all over."""
    found = []
    for top in ("/usr/bin", "/usr/sbin", "/usr/lib", "/usr/share", "/etc", "/var/lib/dpkg/info", "/usr/libexec"):
        for directory, directories, files in os.walk(top):
            directories.sort()
            for name in sorted(files):
                path = os.path.join(directory, name)
                try:
                    with open(path, "rb") as stream:
                        text = stream.read(200)
                        if SHEBANG.match(text):
                            text += stream.read()
                            if b"\0" not in text and len(text) < 1 << 20:
                                found.append(path)
                except OSError:
                    pass
    random.Random(SEED).shuffle(found)
    return found[:limit]


def read_all(fx, names):
    lines = fx.run(fx.tool("syntax"), *names).stdout.splitlines()
    return {name: (answer, int(count)) for answer, count, name in (line.split("\t") for line in lines)}


def count_calls(node):
    """Simple commands in what shfmt prints."""
    if isinstance(node, list):
        return sum(map(count_calls, node))
    if not isinstance(node, dict):
        return 0
    own = node.get("Type") in ("CallExpr", "DeclClause", "LetClause") or ("Redirs" in node and "Cmd" not in node)
    return own + sum(count_calls(value) for value in node.values())


@test("C7 what bash reads as a script is read, what it refuses is refused")
def scripts(fx):
    names = find_scripts(SCRIPTS)
    check(len(names) > 20, "no scripts here")
    broken = random.Random(SEED)
    for number, name in enumerate(names[:SCRIPTS // 2]):
        with open(name, "rb") as stream:
            text = stream.read()
        if len(text) > 20000 or b"`" in text or b"<<" in text or b"[" in text:
            continue  # bash looks into these only when it runs them
        at = broken.randrange(len(text))
        text = text[:at] + broken.choice([b"(", b")", b'"', b"'", b" fi ", b" do ", b";;", b"{ ", b" }", b"&", b"|"]) + text[at:]
        path = fx.project / f"broken-{number}"
        path.write_bytes(text)
        names.append(str(path))
    read = read_all(fx, names)
    for name in names:
        bash = subprocess.run(["bash", "-O", "extglob", "-n", name], capture_output=True)
        wanted = bash.returncode == 0 and not bash.stderr
        equal(read[name][0] == "ok", wanted or read[name][0] == "ok" and bash.returncode == 0,
              f"{name}: {read[name][0]}, {bash.stderr[:200]!r}")


@test("C7 as many commands are read as shfmt reads")
def counts(fx):
    if not shutil.which("shfmt"):
        skip("shfmt is not here")
    for name in find_scripts(SCRIPTS // 3):
        with open(name, "rb") as stream:
            done = subprocess.run(["shfmt", "--to-json", "-ln", "bash"], stdin=stream, capture_output=True)
        if done.returncode:
            continue  # another shell's, to shfmt
        equal(read_all(fx, [name])[name][1], count_calls(json.loads(done.stdout)), name)


@test(f"C7 what {COMMANDS} commands change was told, and what was certain happens")
def truth(fx):
    model, top = fx.dir / "model", fx.project / "tree"
    model.mkdir()
    make_tree(model)
    told, missed = 0, []
    for number in range(COMMANDS):
        seed = f"{SEED} {os.getuid() == 0} {number}"
        command = Maker(random.Random(seed)).command()
        copy_tree(model, top)
        home = {"HOME": top}
        found = fx.run(fx.argv("--preview")[0], "--preview", command, "--json", cwd=top, env=home)
        equal(found.status, 0, f"{seed}: {command!r}: {found.stderr}")
        preview = json.loads(found.stdout)
        before = look(top)
        # nobody is asked, and what it would do outside of the tree is refused; "tee -a f <> f" would grow for ever,
        # and "f() { ls; f; }" goes on until its stack is full
        done = fx.sandbash("--static", "--", "env", f"HOME={top}", "prlimit", "--fsize=1000000", "--stack=500000",
                           "bash", "-O", "extglob", "-c", command, cwd=top)
        wrong = list(judge(preview, before, look(top), str(top), ran_well(command, done.status, done.stdout, done.stderr)))
        if wrong:
            missed.append(f"{seed}: {wrong} after {command!r}, stderr {done.stderr!r}, told {preview}")
        told += sum(file["certainty"] == "certain" for file in preview["files"])
        fx.history.clear()
    check(not missed, "\n".join(missed))
    check(told > COMMANDS // 2, f"only {told} were certain")


run_all()
