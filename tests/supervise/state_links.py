"""state_links.py - links in what a profile opens: the agent outside would write through them.

A profile opens directories of an agent's own for its state.  A link in there that leads elsewhere is
followed by the same agent when nothing confines it.
"""

import os

from tap import check, contains, equal, lacks, run_all, test

BOTH = ("full", "flat")

# every way that we know to get a link into the agent's state that leads to ~/victim
PLANT = r"""
import ctypes, os, shutil, sys, threading
home = os.environ["HOME"]
state, victim = home + "/.claude/debug", home + "/victim"
name = state + "/x"
libc = ctypes.CDLL(None, use_errno=True)
def exchange(a, b):
    if libc.renameat2(-100, a.encode(), -100, b.encode(), 2):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
def clean():
    for path in (name, "here", "here2", state + "/deep", state + "/up"):
        try: os.unlink(path)
        except OSError: shutil.rmtree(path, ignore_errors=True)
def found():
    return any(os.path.realpath(os.path.join(top, one)) == victim
               for top, some, more in os.walk(state) for one in some + more)
def absolute(): os.symlink(victim, name)
def relative(): os.symlink("../../victim", name)
def odd(): os.symlink("./..//../victim", name)
def far(): os.mkdir(state + "/deep"); os.symlink("../../../victim", state + "/deep/x")
def another(): os.symlink(home + "/.claude/projects/x", name); os.symlink(victim, home + "/.claude/projects/x")
def renamed(): os.symlink(victim, "here"); os.rename("here", name)
def replaced(): open(name, "w").close(); os.symlink(victim, "here"); os.rename("here", name)
def linked(): os.symlink(victim, "here"); os.link("here", name, follow_symlinks=False)
def held(): os.symlink(victim, "here"); return os.open("here", os.O_PATH | os.O_NOFOLLOW)
def linked_by_descriptor():  # before Linux 6.10 the first way is root's alone
    fd = held()
    libc.linkat(fd, b"", -100, name.encode(), 0x1000)
    libc.linkat(-100, b"/proc/self/fd/%d" % fd, -100, name.encode(), 0x400)
def exchanged(): open(name, "w").close(); os.symlink(victim, "here"); exchange("here", name)
def exchanged_back(): open(name, "w").close(); os.symlink(victim, "here"); exchange(name, "here")
def in_directory(): os.mkdir("here"); os.symlink(victim, "here/x"); os.rename("here", name)
def in_exchanged(): os.mkdir(name); os.mkdir("here"); os.symlink(victim, "here/x"); exchange(name, "here")
def moved_up():
    os.makedirs(state + "/deep/deep/deep")
    os.symlink("../../victim", state + "/deep/deep/deep/x")
    os.rename(state + "/deep/deep/deep", state + "/up")
    os.rename(state + "/up/x", name)
def by_project():
    # a link that leads to the state as it is made, and elsewhere afterwards
    os.symlink(state, "here"); os.symlink(os.getcwd() + "/here/victim", name)
    os.unlink("here"); os.symlink(home, "here")
def by_process():
    # a process that is elsewhere afterwards
    here = os.getcwd(); os.chdir(state)
    try: os.symlink(f"/proc/{os.getpid()}/cwd/victim", name); os.chdir(home); return found()
    finally: os.chdir(here)
def in_steps():
    os.mkdir(state + "/deep"); os.symlink("deep/victim", name)
    os.rmdir(state + "/deep"); os.symlink(home, state + "/deep")
def swapped():
    stop = []
    def swap():
        while not stop:
            try:
                os.symlink(victim, "here2"); os.rename("here2", "here")
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
for way in (absolute, relative, odd, far, another, renamed, replaced, linked, linked_by_descriptor, exchanged, exchanged_back,
            in_directory, in_exchanged, moved_up, by_project, by_process, in_steps, swapped):
    clean()
    try: planted = way()
    except OSError: planted = False
    print(way.__name__, "PLANTED" if planted or found() else "no")
    sys.stdout.flush()
clean()
"""
WAYS = 18


@test("no way to a link in an agent's state that leads out of it", BOTH)
def planted(fx):
    fx.write(fx.home / "victim", "mine\n")
    (fx.home / ".claude/debug").mkdir(parents=True)
    (fx.home / ".claude/projects").mkdir()
    control = fx.run("python3", "-c", PLANT)
    for line in control.stdout.splitlines()[:WAYS - 1]:  # the last is a race, which may be lost
        contains(line, "PLANTED", control.stderr)
    fx.run("rm", "-rf", fx.home / ".claude")
    for flags in ([], ["--static"]):
        result = fx.sandbash(*flags, "--consent=deny", "--quiet", "--profile=claude", "python3", "-c",
                             PLANT)
        equal(result.stdout.count(" no\n"), WAYS, f"{flags} {result.stdout}{result.stderr}")
        fx.run("rm", "-rf", fx.home / ".claude")


@test("links that stay in an agent's state, and links elsewhere, are made unasked", BOTH)
def neighbours(fx):
    script = """set -e
        cd ~/.claude/debug
        echo log > one; ln -s "$PWD/one" latest; ln -sfn "$PWD/two" latest; echo two > latest
        ln -s one next; ln -s later dangling; mv next other; ln other again
        mkdir deep; ln -s . deep/self; mv deep deeper; cat other two
        cd "$OLDPWD"
        ln -s ~/.claude/debug/one out; ln -s ../.. up; mkdir tree; ln -s /usr/share tree/etc
        mkdir files; echo x > files/x; mv files ~/.claude/debug/; cat ~/.claude/debug/files/x"""
    result = fx.sandbash("--consent=deny", "--profile=claude", "sh", "-c", script)
    equal((result.status, result.stdout), (0, "log\ntwo\nx\n"), result.stderr)
    lacks(result.stderr, "refused")
    equal(os.readlink(fx.home / ".claude/debug/latest"), str(fx.home / ".claude/debug/two"))
    opened = fx.sandbash("--consent=deny", "--profile=claude",
                         f"--allow-write={fx.home / '.claude/debug'}",
                         "ln", "-s", fx.home / "victim", fx.home / ".claude/debug/mine")
    equal(opened.status, 0, "a rule of the user's is about all of it: " + opened.stderr)


@test("with state that a link of the user's leads to", BOTH)
def by_link(fx):
    (fx.home / "dotfiles/claude").mkdir(parents=True)
    (fx.home / ".claude").symlink_to("dotfiles/claude")
    script = 'cd ~/.claude/debug; echo x > a; ln -s ~/.claude/debug/a latest; ln -s ~/victim bad'
    result = fx.sandbash("--consent=deny", "--profile=claude", "sh", "-c", script)
    state = fx.home / "dotfiles/claude/debug"
    equal(((state / "latest").is_symlink(), (state / "bad").is_symlink()), (True, False),
          result.stderr)


@test("a static run makes no links in an agent's state, and files as ever", BOTH)
def static(fx):
    script = """ln -s y ~/.claude/debug/x; ln -s /etc here; echo x > ~/.claude/debug/z
        mkdir ~/.claude/debug/d; mv ~/.claude/debug/z ~/.claude/debug/y"""
    result = fx.sandbash("--static", "--profile=claude", "sh", "-c", script)
    equal(result.status, 0, result.stderr)
    check(not (fx.home / ".claude/debug/x").is_symlink(), "a link")
    check(fx.path("here").is_symlink() and (fx.home / ".claude/debug/y").exists(), "the neighbours")


FIFO = {"made": "mkfifo ~/.claude/debug/f", "moved": "mkfifo f; mv f ~/.claude/debug/f",
        "linked": "mkfifo f; ln f ~/.claude/debug/f", "moved along": "mkdir d; mkfifo d/f; mv d ~/.claude/debug/d"}


@test("no FIFO in an agent's state: the agent outside would wait at it", BOTH)
def fifo(fx):
    look = ["find", fx.home / ".claude/debug", "-type", "p"]
    for way, script in FIFO.items():
        for flags in (None, [], ["--static"]):
            fx.run("rm", "-rf", fx.home / ".claude", "f", "d")
            fx.run("mkdir", "-p", fx.home / ".claude/debug")
            if flags is None:
                fx.run("sh", "-c", script)
                equal(fx.run(*look).stdout.count("/f"), 1, f"the control: {way}")
            else:
                fx.sandbash(*flags, "--consent=deny", "--quiet", "--profile=claude", "sh", "-c", script)
                equal(fx.run(*look).stdout, "", f"{way} {flags}")
    # the neighbours: in the project, a socket, and a file by mknod
    script = """rm -rf f d; mkfifo f && python3 -c 'import os, socket
os.chdir(os.path.expanduser("~/.claude/debug")); socket.socket(socket.AF_UNIX).bind("s"); os.mknod("r")'"""
    result = fx.sandbash("--consent=deny", "--profile=claude", "sh", "-c", script)
    equal((result.status, "refused" in result.stderr), (0, False), result.stderr)


@test("the question says why", BOTH)
def says(fx):
    result = fx.sandbash("--consent=deny", "--profile=claude", "ln", "-s", fx.home / "victim",
                         fx.home / ".claude/debug/x")
    check(result.status != 0, "it is made")
    contains(result.stderr, "a link that leads out of a program's state")


if __name__ == "__main__":
    run_all()
