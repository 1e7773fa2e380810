"""absent.py - rules for what is not there yet: the command makes it, and nothing but that.

Such a rule is not to be led elsewhere: a link in the place that it names would be followed by the
next run with the same rule.
"""

import os

from tap import ALL_VARIANTS, check, contains, equal, lacks, run_all, test

BOTH = ("full", "flat")

# every way that we know to get a link to a name; each in a fresh place
PLANT = r"""
import ctypes, os, sys, threading
name, target = sys.argv[1], sys.argv[2]
libc = ctypes.CDLL(None, use_errno=True)
def renameat2(a, b, flags):
    if libc.renameat2(-100, a.encode(), -100, b.encode(), flags):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
def clean():
    for path in (name, "here", "here2"):
        try: os.rmdir(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)
        except OSError: pass
def plain(): os.symlink(target, name)
def renamed(): os.symlink(target, "here"); os.rename("here", name)
def replaced(): open(name, "w").close(); os.symlink(target, "here"); os.rename("here", name)
def removed(): open(name, "w").close(); os.unlink(name); os.symlink(target, name)
def directory(): os.mkdir(name); os.rmdir(name); os.symlink(target, name)
def linked(): os.symlink(target, "here"); os.link("here", name, follow_symlinks=False)
def exchanged(): open(name, "w").close(); os.symlink(target, "here"); renameat2("here", name, 2)
def exchanged_back(): open(name, "w").close(); os.symlink(target, "here"); renameat2(name, "here", 2)
def swapped():
    # a file that becomes a link while it is moved
    stop = []
    def swap():
        while not stop:
            try:
                os.symlink(target, "here2"); os.rename("here2", "here")
                open("here2", "w").close(); os.rename("here2", "here")
            except OSError: pass
    open("here", "w").close()
    thread = threading.Thread(target=swap); thread.start()
    try:
        for _ in range(60):
            try: os.rename("here", name)
            except OSError: pass
            if os.path.islink(name): return
    finally:
        stop.append(1); thread.join()
    raise OSError(13, "never a link")
for way in (plain, renamed, replaced, removed, directory, linked, exchanged, exchanged_back, swapped):
    clean()
    try: way()
    except OSError as error: pass
    print(way.__name__, "PLANTED" if os.path.islink(name) else "no")
clean()
"""


@test("no way to a link in the place that a rule names", BOTH)
def no_links(fx):
    target = fx.write(fx.home / "mine.txt", "mine\n")
    for place, there in ((fx.home / "new", False), (fx.home / "old", True)):
        control = fx.run("python3", "-c", PLANT, fx.home / "control", target)
        for line in control.stdout.splitlines()[:8]:  # the last is a race, which may be lost
            contains(line, "PLANTED", control.stderr)
        if there:
            fx.write(place, "x")
        result = fx.sandbash("--consent=deny", "--quiet", f"--allow-write={place}", "python3", "-c",
                             PLANT, place, target)
        equal(result.stdout.count(" no"), 9, result.stdout + result.stderr)
        lacks(result.stdout, "PLANTED")
        # the neighbour: inside a directory that a rule opens links are made
        inside = fx.sandbash("--consent=deny", f"--allow-write={fx.home / 'area'}", "sh", "-c",
                             "mkdir ~/area; ln -s ../mine.txt ~/area/link; test -L ~/area/link")
        equal(inside.status, 0, inside.stderr)
        written = fx.sandbash("--consent=deny", f"--allow-write={fx.home / 'area'}", "sh", "-c",
                              "echo planted >> ~/area/link")
        check(written.status != 0, "a rule for a directory is none for what links in it lead to")
        equal(target.read_text(), "mine\n")
        fx.run("rm", "-r", fx.home / "area")


@test("what is made is whole: files, directories, modes, renames, deletions", BOTH)
def made(fx):
    script = ("mkdir -p ~/new/a/b && echo 1 > ~/new/a/b/c && chmod 600 ~/new/a/b/c && "
              "mv ~/new/a/b/c ~/new/a/d && ln ~/new/a/d ~/new/e && ln -s e ~/new/l && echo 2 >> ~/new/l && "
              "rmdir ~/new/a/b && mkfifo ~/new/f && touch -d 2001-01-01 ~/new/e")
    control = fx.run("sh", "-c", script + " && find ~/new -printf '%P %m %y %s %n\\n' | sort")
    equal(control.status, 0, control.stderr)
    fx.run("rm", "-r", fx.home / "new")
    equal(fx.sandbash("--consent=deny", "sh", "-c", script).status, 1)
    result = fx.sandbash("--consent=deny", "--allow-write=~/new", "sh", "-c", script)
    equal(result.status, 0, result.stderr)
    found = fx.run("sh", "-c", "find ~/new -printf '%P %m %y %s %n\\n' | sort")
    equal(found.stdout, control.stdout)
    beside = fx.sandbash("--consent=deny", "--allow-write=~/new", "sh", "-c", "touch ~/newer ~/ne")
    check(beside.status != 0 and not (fx.home / "newer").exists())
    gone = fx.sandbash("--consent=deny", "--allow-write=~/new", "rm", "-r", fx.home / "new")
    equal(gone.status, 0, gone.stderr)
    check(not (fx.home / "new").exists())


@test("what a rule names, that is there, can be removed and made anew", BOTH)
def removed(fx):
    fx.write(fx.home / "file", "old\n")
    fx.write(fx.home / "dir/inner", "old\n")
    script = ("rm ~/file && echo new > ~/file && rm -r ~/dir && mkdir ~/dir && echo new > ~/dir/inner2 && "
              "mv ~/dir/inner2 ~/dir/inner")
    check(fx.sandbash("--consent=deny", "sh", "-c", script).status != 0)
    equal((fx.home / "file").read_text(), "old\n")
    result = fx.sandbash("--consent=deny", "--allow-write=~/file", "--allow-write=~/dir", "sh", "-c", script)
    if fx.variant == "full":
        equal(result.status, 0, result.stderr)
        equal((fx.home / "dir/inner").read_text(), "new\n")
    equal((fx.home / "file").read_text(), "new\n")


@test("the project's own name stays", BOTH)
def project_stays(fx):
    for script in ("rmdir ../project", "mv ../project ../other", "cd .. && mv project other"):
        result = fx.sandbash("--consent=deny", "--allow-write=~/other", "sh", "-c", script)
        check(result.status != 0, script)
        check(fx.project.is_dir() and not (fx.home / "other").exists(), script)
    equal(fx.sandbash("--consent=deny", "sh", "-c", "mkdir a && mv a b && rmdir b").status, 0)


@test("guarded names in it are guarded", BOTH)
def guarded(fx):
    result = fx.sandbash("--consent=deny", "--allow-write=~/new", "sh", "-c",
                         "mkdir -p ~/new/.git/objects ~/new/.git/refs ~/new/.git/hooks; "
                         "echo x > ~/new/.git/hooks/pre-commit; echo x > ~/new/.envrc; echo x > ~/new/plain")
    check((fx.home / "new/plain").exists(), result.stderr)
    check(not (fx.home / "new/.git/hooks/pre-commit").exists(), result.stderr)
    check(not (fx.home / "new/.envrc").exists(), result.stderr)


@test("what cannot be held as it reads is said")
def said(fx):
    dry = fx.sandbash("--dry-run", "--allow-write=~/later", "--allow-write=later", "true").stdout
    contains(dry, f"  may make   {fx.home / 'later'}\n")
    lacks(dry, f"  may make   {fx.project}")
    fx.write(fx.home / "hidden/file", "x")
    result = fx.sandbash("--deny=~/hidden", "--allow-write=~/hidden/new", "true")
    contains(result.stderr, "what is made in a hidden directory cannot be seen: make it first")
    result = fx.sandbash("--allow-write=/tmp/sandbash-absent-test", "true")
    contains(result.stderr, "is gone with its own temp directory")
    equal(fx.sandbash("--allow-write=later", "--allow-write=~/later", "true").stderr, "")
    flat = fx.sandbash("--allow-write=~/later", "true", variant="flat")
    fx.write(fx.home / ".ssh/id", "key")
    flat = fx.sandbash("--allow-write=~/later", "sh", "-c", "echo x >~/later && cat ~/later", variant="flat")
    equal((flat.stdout, flat.stderr), ("x\n", ""))
    (fx.home / "later").unlink()
    fx.write(fx.home / ".local/state/sandbash/spares", "no directory")
    flat = fx.sandbash("--allow-write=~/later", "sh", "-c", "echo x >~/later && cat ~/later", variant="flat")
    contains(flat.stderr, "what is made there cannot be read back")
    equal((flat.stdout, fx.read(fx.home / "later")), ("", "x\n"))


run_all()
