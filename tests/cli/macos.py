"""R3: the policy as a profile for the sandbox of macOS.

What a profile says is decided by tests/lib/sbpl.scm, which knows the language and nothing of sandbash, and
compared with the judge's own answers for random policies and paths.  20,000 cases:

    SANDBASH_TEST_PROFILES=400 tests/run.py --build build --suite cli --only macos

$SANDBASH_TEST_SEED makes others.  The profiles in tests/cli/macos are made anew by
    build/tests/profile_cases rules < NAME.rules > NAME.sb
"""

import json
import os
import subprocess
import tempfile
from pathlib import Path

from tap import TOOLS, check, contains, equal, lacks, run_all, test

HERE = Path(__file__).resolve().parent
CASES = TOOLS / "profile_cases"
COMPILED = tempfile.TemporaryDirectory()
SEED = os.environ.get("SANDBASH_TEST_SEED", "1")
POLICIES = os.environ.get("SANDBASH_TEST_PROFILES", "60")


def evaluate(text):
    """Exit status and output of the evaluator."""
    names = {**os.environ, "XDG_CACHE_HOME": COMPILED.name}  # where guile keeps what it has compiled
    done = subprocess.run(["guile", "-s", str(HERE.parent / "lib" / "sbpl.scm")], input=text, env=names,
                          capture_output=True, check=False)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def scheme(text):
    plain = set(range(0x20, 0x7f)) - {ord('"'), ord("\\")}
    return b'"' + b"".join(bytes([c]) if c in plain else b"\\x%02x" % c for c in os.fsencode(text)) + b'"'


def on_macos(path):
    """The same path where /tmp, /var and /etc are links."""
    path = str(path)
    return f"/private{path}" if path.startswith(("/tmp/", "/var/", "/etc/")) else path


def decide(profile, cases):
    """Compare a profile that --print-profile --json printed with cases: (operation, path, allowed)."""
    parameters = b"".join(b"(" + scheme(k) + b" . " + scheme(v) + b")" for k, v in profile["parameters"].items())
    wanted = b"".join(b"(%s %s %s)" % (op.encode(), scheme(on_macos(path)), b"#t" if allowed else b"#f")
                      for op, path, allowed in cases)
    status, out, err = evaluate(b'(policy %s "" (%s) (%s))' % (scheme(profile["profile"]), parameters, wanted))
    check(status == 0, f"the evaluator: {out}{err}")


@test("R3 profiles decide as the judge does, for random policies, operations and paths")
def compare(_):
    made = subprocess.run([CASES, SEED, POLICIES, "50"], capture_output=True, check=True)
    status, out, err = evaluate(made.stdout)
    print(f"# seed {SEED}: {out.splitlines()[-1] if out else err}")
    check(status == 0, f"seed {SEED}: {out}{err}")
    cases, allowed = (int(word) for word in out.split()[-6:-2:2])
    equal(cases, int(POLICIES) * 50, "cases")
    check(cases / 10 < allowed < cases * 9 / 10, "cases of both kinds")


@test("R3 the evaluator notices a rule that is missing, another order, and names that it does not know")
def evaluator(_):
    made = subprocess.run([CASES, SEED, "6", "50"], capture_output=True, check=True).stdout
    for old, new in ((b"(deny file-write-data", b"(allow file-write-data"), (b"require-not", b"require-any"),
                     (b"(subpath ", b"(literal ")):
        check(old in made, f"{old} is there")
        status, out, _ = evaluate(made.replace(old, new))
        equal(status, 1, f"status with {new}")
        lacks(out, " 0 differ", f"with {new}")
    equal(evaluate(made.replace(b"file-read*", b"file-raed*"))[0], 2, "an operation that there is not")


@test("R3 profiles are as they were")
def golden(_):
    rules = sorted((HERE / "macos").glob("*.rules"))
    equal(len(rules), 4, "files")
    for file in rules:
        with open(file, "rb") as stream:
            made = subprocess.run([CASES, "rules"], stdin=stream, capture_output=True, check=True)
        equal(made.stdout.decode(), file.with_suffix(".sb").read_text(), file.name)


@test("R3 --print-profile: what a run may do, of this machine's own rules")
def printed(fx):
    home, project = fx.home, fx.project
    found = json.loads(fx.sandbash("--print-profile", "--json", f"--deny={project}/hidden",
                                   f"--allow-read={project}/vendor").stdout)
    decide(found, [
        ("file-write-create", project / "new", True),
        ("file-write-data", project / "sub/old", True),
        ("file-write-unlink", project / "sub/old", True),
        ("file-write-create", f"{project}-evil/new", False),
        ("file-write-create", home / "new", False),
        ("file-write-data", "/private/etc/hosts", False),
        ("file-read-data", "/private/etc/hosts", True),
        ("process-exec", "/bin/sh", True),
        ("file-read-data", home / ".ssh/id_ed25519", False),
        ("file-read-data", home / ".aws/credentials", False),
        ("file-read-data", project / "hidden/x", False),
        ("file-read-data", project / "vendor/x", True),
        ("file-write-data", project / "vendor/x", False),
        ("file-write-unlink", project / "vendor", False),
        ("file-link", home / ".bashrc", False),
        ("file-write-create", home / ".config/sandbash/config", False),
        # what a program outside would run or obey
        ("file-write-create", project / ".git/hooks/pre-commit", False),
        ("file-write-create", project / "sub/.GIT/hooks/pre-commit", False),
        ("file-write-unlink", project / ".git/hooks/pre-commit", False),
        ("file-write-data", project / ".git/config", False),
        ("file-write-create", project / ".git/config.lock", True),
        ("file-write-create", project / ".git/index", True),
        ("file-write-create", project / ".git/objects/ab/cdef", True),
        ("file-write-create", project / ".git/refs/heads/main", True),
        ("file-write-create", project / ".git/rebase-merge", True),
        ("file-write-create", project / ".git/unknown", False),
        ("file-write-create", project / "sub/.vscode/tasks.json", False),
        ("file-write-create", project / "sub/.vscode", False),
        ("file-write-create", project / "sub/.v\u017fcode", False),
        ("file-write-create", project / ".envrc", False),
        ("file-write-create", project / "src/tasks.json", True),
        ("file-write-create", project / "tools", True),
    ])


@test("R3 --print-profile: settings, temporary directories under their real names, rules that open a name")
def settings(fx):
    def profile(*flags):
        return json.loads(fx.sandbash(*flags, "--print-profile", "--json").stdout)

    contains(profile()["profile"], "(remote ip)")
    lacks(profile("--network=off")["profile"], "ip)", "without network")
    decide(profile(), [("file-write-create", "/private/tmp/x", True), ("file-write-create", "/private/y", False)])
    decide(profile("--mode=read-only"), [("file-write-create", fx.project / "x", False),
                                             ("file-read-data", fx.project / "x", True)])
    decide(profile("--allow-write=/tmp/**/.git"), [
        ("file-write-create", "/private/tmp/a/.git", True), ("file-write-create", "/private/tmp/a/.git/config", True),
        ("file-write-create", "/private/tmp/a/.git/hooks", True), ("file-write-create", fx.project / ".git", False),
        ("file-write-create", "/private/tmp/a/.vscode", False)])
    equal(profile("--disable-sandbox")["profile"], "(version 1)\n(allow default)\n", "without a sandbox")
    result = fx.sandbash("--protect-ignored", "--print-profile")
    equal(result.status, 125, "status with what a profile cannot say")
    contains(result.stderr, "a profile cannot protect what git ignores")


@test("R3 --print-profile: no byte of a path is in the text, nor ends a comment")
def bytes_of_paths(fx):
    odd = fx.project / 'a"b\\c\n(allow default)\n;'
    odd.mkdir()
    flag = "--deny=" + str(odd).replace("\\", "\\\\")
    result = fx.sandbash("--print-profile", flag)
    lines = result.stdout.splitlines()
    check("(allow default)" not in lines, "no line of its own")
    found = json.loads(fx.sandbash("--print-profile", "--json", flag).stdout)
    check(on_macos(odd) in found["parameters"].values(), "it is a parameter")
    lacks(found["profile"], "allow default")
    lacks(found["profile"], fx.project.name + "/")
    equal([line for line in lines if not line.startswith("; -D ")], found["profile"].splitlines(), "both forms")
    decide(found, [("file-read-data", odd / "x", False), ("file-read-data", fx.project / "x", True)])


run_all()
