"""hidden.py - P4: a deny rule also hides what appears or is replaced while the run goes on."""

import json
import os
import shutil
import time

from tap import PATIENCE, check, contains, equal, lacks, run_all, test

BOTH = ("full", "flat")
# waits for the file, then tries to read it in every way
READER = r"""
import ctypes, os, sys, time
name = sys.argv[1]
print("waiting", flush=True)
while not os.path.exists("go"):
    time.sleep(0.01)
libc = ctypes.CDLL(None, use_errno=True)
def plain(): return open(name).read()
def by_directory():
    d = os.open(os.path.dirname(name) or ".", os.O_RDONLY)
    return os.read(os.open(os.path.basename(name), os.O_RDONLY, dir_fd=d), 100).decode()
def by_link():
    os.symlink(os.path.abspath(name), "way"); return open("way").read()
def by_proc(): return open(f"/proc/self/cwd/{name}").read()
def by_path_descriptor():
    return open(f"/proc/self/fd/{os.open(name, os.O_PATH)}").read()
def renamed(): os.rename(name, "mine"); return open("mine").read()
def linked(): os.link(name, "mine2"); return open("mine2").read()
def read_write(): return os.read(os.open(name, os.O_RDWR), 100).decode()
def noatime(): return os.read(os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NOATIME), 100).decode()
for way in (plain, by_directory, by_link, by_proc, by_path_descriptor, renamed, linked, read_write,
            noatime):
    try:
        print(way.__name__, "read" if "secret" in way() else "other")
    except OSError as error:
        print(way.__name__, error.strerror)
"""


def read_later(fx, name, *flags, boxed=True):
    """Start the reader, put the file there from outside, and let it try."""
    words = ["python3", "-c", READER, name]
    run = fx.start(*(fx.argv(*flags, *words) if boxed else words), stdout=-1, text=True)
    equal(run.stdout.readline(), "waiting\n")
    fx.write(name, "secret\n")
    fx.write("go")
    out, _ = run.communicate(timeout=PATIENCE)
    for leftover in ("go", "way", "mine", "mine2", name):
        if fx.exists(leftover):
            fx.path(leftover).unlink()
    return out


@test("P4 a file that comes to match a wildcard cannot be read", variants=BOTH)
def appears(fx):
    for name, flag in ((".env", "--deny=**/.env"), ("sub/deep/.env", "--deny=**/.env"),
                       ("keys/a.pem", "--deny=keys/*.pem"), ("later", "--deny=later")):
        fx.path("keys").mkdir(exist_ok=True)
        out = read_later(fx, name, flag)
        lacks(out, " read", f"{name}: {out}")
        contains(out, "plain Permission denied")
        contains(read_later(fx, "other.txt", flag), "plain read", "the neighbour")
    contains(read_later(fx, ".env"), "plain read", "without the rule")
    contains(read_later(fx, ".env", boxed=False), "plain read", "the control")


def read_replaced(fx, name, *flags, boxed=True, whole=None):
    """The same for a file that is there until a program outside replaces it, or all of a directory."""
    fx.write(name, "secret, old\n")
    words = ["python3", "-c", READER, name]
    run = fx.start(*(fx.argv(*flags, *words) if boxed else words), stdout=-1, text=True)
    equal(run.stdout.readline(), "waiting\n")
    if whole:
        fx.path(whole).rename(fx.path("away"))
        fx.write(name, "secret, new\n")
    else:
        fx.write("new", "secret, new\n").rename(fx.path(name))
    fx.write("go")
    out, _ = run.communicate(timeout=PATIENCE)
    for directory in ("away", whole) if whole else ():
        shutil.rmtree(fx.path(directory))
    for leftover in ("go", "way", "mine", "mine2", name):
        fx.path(leftover).unlink(missing_ok=True)
    return out


@test("P4 what a rule names cannot be read when a program outside has replaced it", variants=BOTH)
def replaced(fx):
    outside, absent = str(fx.outside / "sec.txt"), str(fx.outside / "later.txt")
    for name, flag, whole in ((".env", "--deny=.env", None), (outside, f"--deny={outside}", None),
                              ("secd/f", "--deny=secd/f", "secd"),
                              ("secd/f", "--deny=secd", "secd"),
                              (".env", "--rule=ask:read .env", None)):
        out = read_replaced(fx, name, flag, whole=whole)
        lacks(out, " read", f"{flag}: {out}")
        contains(out, "plain Permission denied")
        contains(read_replaced(fx, name, boxed=False, whole=whole), "plain read", "the control")
        contains(read_replaced(fx, name, whole=whole), "plain read", "without the rule")
        contains(read_later(fx, "other.txt", flag), "plain read", "the neighbour")
    contains(read_later(fx, absent, f"--deny={absent}"), "plain Permission denied")
    contains(read_later(fx, absent), "plain read", "the control")


@test("P4 with a rule of the user's, credentials that are replaced outside stay hidden",
      variants=BOTH)
def replaced_credentials(fx):
    name = str(fx.home / ".netrc")
    out = read_replaced(fx, name, "--deny=.env")
    lacks(out, " read", out)
    contains(out, "plain Permission denied")
    contains(read_replaced(fx, name, boxed=False), "plain read", "the control")
    contains(read_later(fx, "other.txt", "--deny=.env"), "plain read", "the neighbour")


MOVE = "mv keys away; cat away/a.pem keys/a.pem; mv other another && cat another/f"


@test("P4 a wildcard's directory cannot be moved away from under it", variants=BOTH)
def moved(fx):
    fx.write("keys/a.pem", "secret\n")
    fx.write("other/f", "harmless\n")
    result = fx.sandbash("--deny=keys/*.pem", "sh", "-c", MOVE)
    lacks(result.stdout, "secret")
    contains(result.stdout, "harmless", "the neighbour")
    fx.path("another").rename(fx.path("other"))
    contains(fx.run("sh", "-c", MOVE).stdout, "secret", "the control")


@test("P4 with reads held, programs work as ever")
def ordinary(fx):
    fx.git_project()
    fx.write("sub/.env", "secret\n")
    result = fx.sandbash("--deny=**/.env", "bash", "-c", """set -e
cat README; ls -l >/dev/null; find . >/dev/null; git status --short; git log --oneline | wc -l
echo int main\\(void\\){return 0\\;} >a.c; gcc -o a a.c; ./a; cat /proc/self/status >/dev/null
head -c 4 /dev/zero | wc -c; mkfifo f; (echo through >f &) ; cat f; cat <(echo substituted)
python3 -c 'import json; print(open("/proc/self/comm").read().strip())'
cat missing 2>/dev/null || echo missing; cat sub/.env 2>&1 || true; tar cf t.tar README; echo done
""")
    equal(result.status, 0, result.stderr)
    for word in ("hello", "through", "substituted", "missing", "Permission denied", "done"):
        contains(result.stdout, word)
    lacks(result.stdout, "secret")


@test("P4 --status tells that reads are held")
def told(fx):
    for rule in ("**/.env", ".env", "/etc/hostname"):
        contains(fx.run(fx.argv()[0], "--status", f"--deny={rule}").stdout, "reading:  held")
    lacks(fx.run(fx.argv()[0], "--status").stdout, "reading:")


@test("S2 what a rule hides is not renamed out of it, by its own name or by that of a directory",
      variants=("full", "flat"))
def renamed_out(fx):
    cases = (("deny **/secrets/*.pem", "mv svc/secrets svc/x", "svc/x/k.pem", "mv svc/other svc/x"),
             ("deny **/svc/secrets/k.pem", "mv svc x", "x/secrets/k.pem", "mv svc/other svc/x"),
             ("create+delete svc/secrets/k.pem", "mv svc/secrets/k.pem m", "m", "mv svc/other m"),
             ("delete svc/secrets/k.pem", "mv svc/secrets/k.pem m", "m", "rm svc/secrets/k.pem"))
    for rule, attack, taken, neighbour in cases:
        for run, words in ((fx.run, ()), (fx.sandbash, (f"--rule={rule}", "--quiet"))):
            shutil.rmtree(fx.project / "svc", ignore_errors=True)
            shutil.rmtree(fx.project / "x", ignore_errors=True)
            (fx.project / "m").unlink(missing_ok=True)
            fx.write("svc/secrets/k.pem", "secret")
            fx.write("svc/other", "other")
            result = run(*(word for word in words), "sh", "-c", attack)
            equal(result.status == 0, run == fx.run, f"{rule}: {attack}")
            equal(fx.exists(taken), run == fx.run, f"{rule}: {taken}")
        equal(fx.sandbash(f"--rule={rule}", "sh", "-c", neighbour).status, 0, f"{rule}: {neighbour}")


@test("P4 the first run of a home: neither the words of questions nor the record can be read in it", variants=("full", "flat"))
def first_run(fx):
    config, state = fx.home / ".config/sandbash", fx.home / ".local/state/sandbash"
    check(not config.exists() and not state.exists(), "nobody has been here")
    script = f"find {state} -type f -exec cat {{}} +; cat {config}/word; ls -d {config} {state}"
    for how in ((), ("--static",)):
        result = fx.sandbash("--quiet", *how, "sh", "-c", script)
        equal(result.stdout.split(), [str(config), str(state)], str(how))
        word = (config / "word").read_text()
        check(word.strip() and list(state.rglob("*.jsonl")), "control: there is something to read")
        shutil.rmtree(config)
        shutil.rmtree(state)


@test("P4 a file that a rule opens in a hidden directory can be changed and not be taken away, as --explain says", variants=BOTH)
def opened_in_hidden(fx):
    area = fx.home / "area"
    rules = [f"--rule=write {area}/f", f"--rule=write {area}/sub"]
    for hides in ([f"--rule=deny {area}"], [f"--rule=ask:read {area}"], []):
        fx.write(area / "f", "old")
        fx.write(area / "sub/g", "old")
        script = f"echo x >{area}/f && rm {area}/sub/g || exit 9; rm {area}/f"
        result = fx.sandbash("--consent=deny", "--quiet", *rules, *hides, "sh", "-c", script)
        equal((fx.exists(area / "f"), fx.exists(area / "sub/g"), result.status == 0), (bool(hides), False, not hides), result.stderr)
        fx.write(area / "f", "old")
        fx.write(area / "sub/g", "old")
        for path, delete in ((area / "f", "deny" if hides else "allow"), (area / "sub/g", "allow")):
            said = json.loads(fx.sandbash(*rules, *hides, "--json", "--explain", path).stdout)["decisions"]
            equal({op: said[op]["verdict"] for op in ("read", "modify", "delete")},
                  {"read": "allow", "modify": "allow", "delete": delete}, f"{hides} {path}")
    equal(fx.run("rm", area / "f").status, 0, "the control")


@test("P4 what a rule hides by naming what may be done instead cannot be changed either", variants=BOTH)
def tightened(fx):
    change = "echo x >> a/f; echo x > a/f; chmod 600 a/f; echo x >> b/f"
    for rules, kept in (((), "x\n"), (("--rule=tighten modify a",), "secret\n"), (("--rule=tighten modify+create a",), "secret\n")):
        for name in "ab":
            fx.write(f"{name}/f", "secret\n")
            fx.path(f"{name}/f").chmod(0o644)
        fx.sandbash(*rules, "--quiet", "bash", "-c", change)
        equal((fx.read("a/f"), fx.path("a/f").stat().st_mode & 0o777), (kept, 0o644 if rules else 0o600), rules)
        equal(fx.read("b/f"), "secret\nx\n", "the neighbour")
        if rules:
            contains(fx.sandbash(*rules, "--explain=a/f").stdout, "modify  deny")


run_all()
