"""P3: no answer but one to itself covers the set-user-ID and set-group-ID bits.  A directory that a person has opened,
for this run or for good, gets no such file: not made there, not moved there, not as a second name."""

import os
import shutil

from person import Person
from tap import check, equal, run_all, test

ACTS = r"""
import os, sys
out, bits = sys.argv[1] + "/", int(sys.argv[2], 8)
os.umask(0)

def make(path, mode=0o755):
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, mode))
    os.chmod(path, mode)
    return path

def unnamed(there, mode):
    file = os.open(there, os.O_TMPFILE | os.O_RDWR, mode)
    os.link(f"/proc/self/fd/{file}", out + "unnamed", src_dir_fd=file, follow_symlinks=True)

def unnamed_later():
    file = os.open(out, os.O_TMPFILE | os.O_RDWR, 0o755)
    os.fchmod(file, bits)
    os.link(f"/proc/self/fd/{file}", out + "unnamed-later", src_dir_fd=file, follow_symlinks=True)

def linked():
    os.link(make("s3"), out + "linked")
    os.chmod("s3", bits)

def linked_from_there():
    os.link(make(out + "from"), "from")
    os.chmod("from", bits)

def unnamed_twice():
    file = os.open(out, os.O_TMPFILE | os.O_RDWR, 0o755)
    for name in (out + "twice", "twice"):
        os.link(f"/proc/self/fd/{file}", name, src_dir_fd=file, follow_symlinks=True)
    os.chmod("twice", bits)

def brought():
    os.mkdir("d")
    make("d/s", bits)
    os.rename("d", out + "d")

for name, act in (
        ("chmod", lambda: os.chmod(make(out + "s"), bits)),
        ("fchmod", lambda: os.fchmod(os.open(make(out + "f"), os.O_RDONLY), bits)),
        ("open", lambda: os.close(os.open(out + "o", os.O_CREAT | os.O_WRONLY, bits))),
        ("open anew", lambda: os.close(os.open(out + "e", os.O_CREAT | os.O_EXCL | os.O_WRONLY, bits))),
        ("mknod", lambda: os.mknod(out + "n", 0o100000 | bits)),
        ("unnamed", lambda: unnamed(out, bits)),
        ("unnamed, later", unnamed_later),
        ("rename", lambda: os.rename(make("s1", bits), out + "renamed")),
        ("link", lambda: os.link(make("s2", bits), out + "link")),
        ("link first", linked),
        ("link from there, then here", linked_from_there),
        ("unnamed, then here", unnamed_twice),
        ("in a directory", brought)):
    try:
        act()
    except OSError as error:
        print(name, error)
"""
NEIGHBOURS = r"""set -e; cd "$1"; echo x >a; chmod 755 a; mkdir d; chmod 755 d; echo x >d/b; mv d e; mv e/b c; ln c l
echo x >~/project/p; mv ~/project/p p; mkdir -p ~/project/q/r; echo x >~/project/q/r/s; mv ~/project/q q; cat q/r/s
cd ~/project; echo x >own; chmod "$2" own; mkdir own.d; mv own own.d/; mv own.d own.e; ln own.e/own own.l
echo x >two; ln two too; chmod 700 too; cp -al own.e own.f; mkdir set; chmod g+s set"""


def bits():
    return 0o2755 if os.geteuid() == 0 else 0o6755  # root's runs set no set-user-ID bit at all


def fresh(fx, out):
    for directory in (out, fx.project):
        for entry in directory.iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()


def with_bits(out):
    return sorted(str(p.relative_to(out)) for p in out.rglob("*") if p.is_file() and p.stat().st_mode & 0o6000)


def prepare(fx):
    out = fx.home / "out"
    out.mkdir()
    check(fx.project == fx.home / "project", "the neighbours say so")
    fx.run("python3", "-c", ACTS, out, f"{bits():o}")
    equal(len(with_bits(out)), 13, "control")
    return out


def holds(fx, out, what, *flags):
    fresh(fx, out)
    result = fx.sandbash("--consent=deny", "--quiet", *flags, "python3", "-c", ACTS, out, f"{bits():o}")
    equal((with_bits(out), len(result.stdout.splitlines())), ([], 13), f"{what}: {result.stdout}{result.stderr}")
    fresh(fx, out)
    result = fx.sandbash("--consent=deny", *flags, "sh", "-c", NEIGHBOURS, "-", out, f"{bits():o}")
    equal(result.status, 0, f"{what}, neighbours: {result.stderr}")
    check(fx.path("own.l").stat().st_mode & 0o2000, "in the project as ever")


@test("P3 bits: a directory that was granted, or always is", variants=("full", "flat"))
def granted(fx):
    out = prepare(fx)
    holds(fx, out, "--grant", f"--grant={out}")
    equal(fx.sandbash("--add-path", out).status, 0)
    holds(fx, out, "always")
    for rule in (f"--allow-write={out}/s", f"--allow-write={out}"):  # a rule that somebody writes for this run
        fresh(fx, out)
        script = f"echo x >{out}/s; chmod {bits():o} {out}/s"
        equal(fx.sandbash("--consent=deny", rule, "sh", "-c", script).status, 0, rule)
        equal(with_bits(out), ["s"], rule)
    equal(fx.sandbash("--add-path", out / "s").status, 0)
    equal(fx.sandbash("--consent=deny", "chmod", f"{bits():o}", out / "s").status, 0, "a rule for the file itself")


@test("P3 bits: an answer for a directory, in its run and kept by a session", variants=("full", "flat"))
def answered(fx):
    out = prepare(fx)
    fresh(fx, out)
    fx.write(fx.dir / "acts.py", ACTS)
    person = Person(fx, "sh", "-c", f"echo x >{out}/first; python3 {fx.dir}/acts.py {out} {bits():o} >said")
    person.answer("2", "/out/first")
    asked = 0
    while person.term.process.poll() is None:
        person.until(lambda: person.shows() or person.term.process.poll() is not None, "neither question nor end")
        if person.shows():
            person.answer("3")
            asked += 1
    equal((with_bits(out), asked > 5), ([], True), fx.path("said").read_text())
    fresh(fx, out)
    person = Person(fx, "sh", "-c", f"echo x >{out}/first", flags=("--session=bits",))
    person.answer("2", "/out/first")
    equal(person.end(), 0)
    holds(fx, out, "the session's next run", "--session=bits")


@test("P3 bits: a file with several names gets them by none, whoever has linked it", variants=("full", "flat"))
def several(fx):
    out = fx.outside / "out"
    out.mkdir()
    words = ["chmod", f"{bits():o}", "file"]
    for boxed in (False, True):
        fx.write(out / "file", "x")
        os.link(out / "file", fx.path("file"))
        result = fx.sandbash("--consent=deny", *words) if boxed else fx.run(*words)
        equal((with_bits(out), result.status != 0), ([] if boxed else ["file"], boxed), result.stderr)
        if boxed:
            equal(fx.sandbash("--consent=deny", "chmod", "700", "file").status, 0, "neighbour: other modes")
            equal(fx.sandbash("--consent=deny", f"--allow-write={fx.path('file')}", *words).status, 0, "a rule for it")
        (out / "file").unlink()
        fx.path("file").unlink()
    fx.write("file", "x")
    equal(fx.sandbash("--consent=deny", *words).status, 0, "neighbour: with one name")


run_all()
