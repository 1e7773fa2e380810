"""ignored.py - --protect-ignored: what git ignores and was there before stays as it was (P8).

Every act is tried on an ignored file (refused), on an ordinary one beside it (works), and
without the option (works).
"""

import os
import shutil

from tap import check, contains, equal, lacks, run_all, test

ON = "--protect-ignored"
BOTH = ("full", "flat")
IGNORE = "*.secret\n/top.key\nbuild/\n/dir/named\n!kept.secret\n"
OLD = ("a.secret", "top.key", "build/out.o", "dir/named", "sub/deep/b.secret")
PLAIN = ("plain", "kept.secret", "sub/top.key", "dir/other", "sub/deep/plain")

EXCHANGE = ("python3 -c 'import ctypes, sys; sys.exit(0 != ctypes.CDLL(None).renameat2("
            "-100, sys.argv[1].encode(), -100, sys.argv[2].encode(), 2))'")

# how a file can be changed or lost; $1 is the file, "spare" another one
ACTS = {
    "write": 'echo evil >"$1"',
    "append": 'echo evil >>"$1"',
    "in place": 'dd if=spare of="$1" conv=notrunc 2>/dev/null',
    "truncate": 'truncate -s 1 "$1"',
    "chmod": 'chmod 600 "$1"',
    "touch": 'touch -d 2001-01-01 "$1"',
    "unlink": 'rm -f "$1"',
    "rename away": 'mv "$1" elsewhere',
    "replace": 'cp spare new && mv -f new "$1"',
    "exchange": f'{EXCHANGE} "$1" spare',
    "second name": 'ln "$1" alias && echo evil >alias',
    "link to it": 'ln -sf "$PWD/$1" link && echo evil >link',
}


def project(fx, name="project"):
    top = fx.home / name
    top.mkdir(exist_ok=True)
    fx.run("git", "init", "-q", top)
    (top / ".gitignore").write_text(IGNORE)
    (top / "spare").write_text("evil\n")
    for path in (*OLD, *PLAIN):
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_text("mine\n")
        os.chmod(top / path, 0o644)
    return top


def state(path):
    try:
        info = os.stat(path)
    except FileNotFoundError:
        return None
    return path.read_text(), info.st_mode, info.st_mtime_ns, info.st_ino


def attempt(fx, top, script, *words, flags=(ON,), **more):
    return fx.sandbash("--consent=deny", "--quiet", *flags, "sh", "-c", script, "sh", *words,
                       cwd=top, **more)


@test("P8 ignored files from before cannot be changed by any act; others can", variants=BOTH)
def acts(fx):
    top = project(fx)
    for act, script in ACTS.items():
        for path in OLD:
            before = state(top / path)
            result = attempt(fx, top, script, path)
            check(result.status != 0, f"{act} {path}: {result.stderr}")
            equal(state(top / path), before, f"{act} {path}")
        for flags, path in (((ON,), PLAIN[0]), ((ON,), PLAIN[1]), ((), OLD[0])):
            before = state(top / path)
            result = attempt(fx, top, script, path, flags=flags)
            equal(result.status, 0, f"{act} {path} {flags}: {result.stderr}")
            check(state(top / path) != before, f"{act} {path} {flags}")
            shutil.rmtree(top)
            project(fx)


@test("P8 every kind of pattern, and the neighbour that it does not mean", variants=BOTH)
def patterns(fx):
    top = project(fx)
    for path in OLD:
        attempt(fx, top, 'echo evil >>"$1"', path)
        equal((top / path).read_text(), "mine\n", path)
    for path in PLAIN:
        equal(attempt(fx, top, 'echo fine >>"$1"', path).status, 0, path)
        equal((top / path).read_text(), "mine\nfine\n", path)
    # git agrees about which are which
    said = fx.run("git", "check-ignore", *OLD, *PLAIN, cwd=top).stdout.split()
    equal(sorted(said), sorted(OLD))


MANY = """
for turn in range(200):
    open(f"build/{turn}.o", "w").close(); open(f"build/{turn}.o", "w").close()
"""


@test("P8 what the run makes itself it may change and remove, ignored or not", variants=BOTH)
def own(fx):
    top = project(fx)
    script = """set -e
echo a >new.secret; echo b >>new.secret; mv new.secret other.secret; rm other.secret
echo o >build/new.o; echo p >build/new.o; rm build/new.o
mkdir -p fresh/build; echo x >fresh/build/x; mv fresh moved; rm -r moved
python3 -c "$1"
"""
    result = attempt(fx, top, script, MANY)
    equal(result.status, 0, result.stderr)
    # ... and what an earlier run made is from before
    check(attempt(fx, top, "rm build/1.o").status != 0)
    check((top / "build/1.o").exists())


@test("P8 git works unasked: what is in .git is not ignored, whatever a pattern says", variants=BOTH)
def git_works(fx):
    top = project(fx)
    (top / ".gitignore").write_text(IGNORE + "logs/\nobjects\n*.lock\nHEAD\n")
    for key, value in (("user.name", "x"), ("user.email", "x@x")):
        fx.run("git", "config", key, value, cwd=top)
    script = """set -e
git add -A && git commit -qm one && echo more >>plain && git commit -qam two
git checkout -q -b side HEAD~1 && git checkout -q - && git stash list && git gc -q
echo '*.new' >>.gitignore && git add .gitignore && git commit -qm three
"""
    result = attempt(fx, top, script)
    equal(result.status, 0, result.stderr)
    lacks(result.stderr, "denied")


# each would take the protection off a file
LIFTS = {
    "a negation": "echo '!a.secret' >>.gitignore",
    "an emptied file": ": >.gitignore",
    "a removed line": "grep -v secret .gitignore >n; mv n .gitignore",
    "no file": "rm -f .gitignore",
    "another name for it": "mv .gitignore other",
    "an exchange": f"echo >n; {EXCHANGE} .gitignore n",
    "a repository of its own": "git init -q sub; echo '!b.secret' >sub/.gitignore",
    "no info": "rm -rf .git/info",
    "a nested negation": "echo '!b.secret' >sub/deep/.gitignore",
    "an old directory as .git": "mv dir sub/.git",
    "no repository": "rm -rf .git; mv .git x",
    "no HEAD": "rm .git/HEAD",
    "another info": "mv .git/info .git/i; mkdir .git/info",
    "another name above": "mv sub sub2; echo evil >sub2/deep/b.secret; mv sub2 sub",
    "another name of its own": "mv sub/deep sub/x; echo evil >sub/x/b.secret; mv sub/x sub/deep",
    "an exchanged directory": f"mkdir n; {EXCHANGE} sub n && echo evil >n/deep/b.secret; "
                              f"{EXCHANGE} sub n",
    "a changed ignore file through a link": "ln .gitignore l; : >l; ln -s .gitignore s; : >s",
    "a directory in its place": "rm -f .gitignore; mkdir .gitignore",
}


@test("P8 the protection cannot be taken off from inside", variants=BOTH)
def lifted(fx):
    for how, script in LIFTS.items():
        top = project(fx)
        (top / ".git/info/exclude").write_text("excluded\n")
        (top / "excluded").write_text("mine\n")
        files = [top / path for path in (*OLD, "excluded")]
        result = attempt(fx, top, f"""({script}) 2>/dev/null
for f in a.secret sub/deep/b.secret excluded; do echo evil >"$f"; rm -f "$f"; done""")
        for file in files:
            if how == "an old directory as .git" and "dir/" in str(file):
                continue
            check(file.exists() and file.read_text() == "mine\n",
                  f"{how}: {file} {result.stdout} {result.stderr}")
        # without the option each of them is an ordinary change
        result = attempt(fx, top, f"({script}); echo evil >a.secret", flags=())
        equal((top / "a.secret").read_text(), "evil\n", how)
        shutil.rmtree(top)


@test("P8 a rule for a part of the project reopens it; one for all of it does not", variants=BOTH)
def reopened(fx):
    top = project(fx)
    write = 'echo more >>"$1"'
    for flags in (["--allow-write=."], [f"--allow-write={top}"], [f"--project={fx.outside}"]):
        check(attempt(fx, top, write, "build/out.o", flags=(ON, *flags)).status != 0, str(flags))
    for flag in ("--allow-write=build", "--rule=write **/*.o", f"--allow-write={top}/build/out.o"):
        result = attempt(fx, top, write, "build/out.o", flags=(ON, flag))
        equal(result.status, 0, f"{flag} {result.stderr}")
        check(attempt(fx, top, write, "a.secret", flags=(ON, flag)).status != 0, flag)


@test("P8 beneath a repository that begins above the project, and without any", variants=BOTH)
def where(fx):
    top = project(fx)
    check(attempt(fx, top / "sub", "echo evil >deep/b.secret").status != 0, "beneath")
    equal(attempt(fx, top / "sub", "echo fine >deep/plain").status, 0)
    shutil.rmtree(top / ".git")
    check(attempt(fx, top, "echo evil >a.secret").status != 0, "no repository")
    equal((top / "a.secret").read_text(), "mine\n")
    equal(attempt(fx, top, "echo fine >plain").status, 0)
    # rules of a directory above that is no repository are no rules of git's
    (fx.home / ".gitignore").write_text("*\n")
    equal(attempt(fx, top, "echo fine >plain").status, 0)


@test("P8 rules that cannot be read protect everything that was there", variants=BOTH)
def unreadable(fx):
    top = project(fx)
    (top / ".gitignore").write_text("x\n" * (1024 * 1024))
    check(attempt(fx, top, "echo evil >plain").status != 0, "too large")
    equal(attempt(fx, top, "echo new >brandnew && echo again >brandnew").status, 0)
    (top / ".gitignore").unlink()
    (top / ".gitignore").mkdir()
    equal(attempt(fx, top, "echo fine >plain").status, 0, "no file: git reads none either")


@test("P8 as a setting; --explain and --print-policy know it; a static run refuses")
def told(fx):
    top = project(fx)
    fx.config("protect-ignored on\n")
    check(attempt(fx, top, "echo evil >a.secret", flags=()).status != 0)
    text = fx.sandbash("--print-policy", cwd=top).stdout
    contains(text, "protect-ignored on\n")
    contains(text, "# check .gitignore")
    text = fx.sandbash("--explain", "a.secret", cwd=top).stdout
    contains(text, "git ignores it")
    contains(text, f"--allow-write={top}/a.secret")
    lacks(fx.sandbash("--explain", "plain", cwd=top).stdout, "ignores")
    result = fx.sandbash("--static", "true", cwd=top)
    equal(result.status, 125)
    contains(result.stderr, "cannot protect what git ignores")
    result = fx.sandbash("--static", "--best-effort", "true", cwd=top)
    equal(result.status, 0, result.stderr)
    contains(result.stderr, "is not protected")
    fx.config("")
    lacks(fx.sandbash("--explain", "a.secret", cwd=top).stdout, "ignores")
    lacks(fx.sandbash("--print-policy", cwd=top).stdout, ".gitignore")
    # inside another run there is no second supervisor
    program = fx.argv("true")[0]
    result = attempt(fx, top, f"{program} {ON} true", flags=())
    equal(result.status, 125, result.stderr)


@test("P8 the summary says why, and what would allow it")
def summary(fx):
    top = project(fx)
    result = fx.sandbash("--consent=deny", ON, "sh", "-c", "echo evil >a.secret", cwd=top)
    contains(result.stderr, "git ignores it")
    contains(result.stderr, "--allow-write=")


run_all()
