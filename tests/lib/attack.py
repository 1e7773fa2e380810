"""attack.py - what every refusal test of the enforce suite shows, in one call.

A refusal alone proves nothing (a typing mistake is refused too), so an attack runs three
times, in three directories of the same layout:

    control    beside the project, without a sandbox: it works
    outside    beside the project, under sandbash: it is refused, and the host sees nothing changed
    neighbour  in the project, under sandbash: it works

    attack(fx, ["truncate", "{d}/file"])

In the words of an act (tests/enforce/act.c) {d} is the directory of the stage, {p} a directory
in the project that stays writable at every stage, and {r} is {d} as seen from the project.
"""

import os
import re
import signal
import subprocess

from tap import PATIENCE, SUPERVISED, check, equal, is_record

# What a program takes for "Permission denied" (S2).  Mounts alone also answer EROFS; where every
# change goes through the supervisor none does, not even one that it leaves to the kernel.
# EOPNOTSUPP: flags of files (chattr), where the filter refuses them
DENIED = ("EACCES", "EPERM", "EOPNOTSUPP") + (() if SUPERVISED else ("EROFS",))
CROSSING = DENIED + ("EXDEV", "EBUSY")  # for names that would cross the border
ABSENT = ("ENOSYS",)  # a call that is refused everywhere, so that programs take another one
USER = "user.act"


def layout(top):
    """The same little tree at every stage."""
    top.mkdir(parents=True)
    (top / "file").write_text("content\n")
    (top / "second").write_text("second\n")
    (top / "dir").mkdir()
    (top / "dir" / "inner").write_text("inner\n")
    (top / "empty").mkdir()
    (top / "link").symlink_to("file")
    try:
        os.setxattr(top / "file", USER, b"old")
    except OSError:
        pass  # a filesystem without user xattrs: the acts that need one say so


def signature(top):
    """Everything about a tree that a change would show in, the time of the change included."""
    found = {}
    paths = [os.fspath(top)]
    for directory, directories, files in os.walk(top):
        paths += [path for path in (os.path.join(directory, name) for name in directories + files)
                  if not is_record(path)]
    for path in paths:
        info = os.lstat(path)
        try:
            xattrs = [(n, os.getxattr(path, n, follow_symlinks=False))
                      for n in os.listxattr(path, follow_symlinks=False)]
        except OSError:
            xattrs = []
        found[path] = (info.st_ino, info.st_mode, info.st_uid, info.st_gid, info.st_nlink,
                       info.st_size, info.st_mtime_ns, info.st_ctime_ns, xattrs)
    return found


def changes(before, after):
    return [path for path in sorted(before.keys() | after.keys())
            if before.get(path) != after.get(path)]


def unchanged(before, top, message=""):
    found = changes(before, signature(top))
    check(not found, f"{message + ': ' if message else ''}changed from inside: {found}")


def act(fx, *words, **where):
    """An act without a sandbox."""
    return fx.run(fx.tool("act"), *words, **where)


def boxed(fx, *words, flags=(), **where):
    """An act under sandbash FLAGS."""
    return fx.sandbash(*flags, fx.tool("act"), *words, **where)


def works(result, message=""):
    equal(result.status, 0, f"{message or 'should work'} ({(result.stderr or '').strip()!r})")


def answer(result):
    """The name of the error that an act printed, or ""; sandbash's own lines stand around it."""
    names = re.findall(r"^E[A-Z0-9]+$", result.stderr, re.M)
    return names[-1] if names else ""


def refused(result, errors=DENIED, message=""):
    """The act ran and the kernel said no: not killed, not prevented by something else."""
    equal(result.status, 1, f"{message or 'should be refused'} ({result.stderr.strip()!r})")
    word = answer(result)
    check(word in errors,
          f"{message + ': ' if message else ''}answered {word}, not one of {errors}")


def killed_or_refused(result, message=""):
    """For calls of a foreign architecture: the filter may end the caller."""
    check(result.status in (1, -signal.SIGSYS, 128 + signal.SIGSYS),
          f"{message or 'should be refused'}: status {result.status}")


def attack(fx, words, errors=DENIED, prepare=layout, neighbour=True, flags=(), refusal=refused,
           **where):
    """Control, refusal and neighbour of one act; neighbour may be other words, or False."""
    stages = {"control": fx.dir / "control", "outside": fx.outside / "tree",
              "in": fx.project / "in"}
    for stage, top in stages.items():
        prepare(top)
        layout(fx.project / f"p-{stage}")
        links = {"to-file": top / "file", "to-dir": top, "to-new": top / "new"}
        for name, target in links.items():
            os.symlink(target, fx.project / f"p-{stage}" / name)

    def fill(template, stage):
        top = stages[stage]
        return [word.format(d=top, p=fx.project / f"p-{stage}", r=os.path.relpath(top, fx.project))
                for word in template]

    before = signature(fx.outside)
    refusal(boxed(fx, *fill(words, "outside"), flags=flags, **where), *(
        [errors] if refusal is refused else []))
    unchanged(before, fx.outside)
    works(act(fx, *fill(words, "control")), "control without a sandbox")
    if neighbour:
        template = words if neighbour is True else neighbour
        works(boxed(fx, *fill(template, "in"), flags=flags, **where), "neighbour in the project")


class Victim:
    """A process outside that can tell whether it was tampered with."""

    def __init__(self, fx):
        self.process = fx.start(fx.tool("act"), "victim", stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, start_new_session=True)
        pid, address, descriptor = self.process.stdout.readline().split()
        self.pid, self.address, self.descriptor = int(pid), address.decode(), descriptor.decode()

    def ask(self):
        """End it; what it saw: (memory, number of signals), or None when it was killed."""
        out, _ = self.process.communicate(b"", timeout=PATIENCE)
        if self.process.returncode != 0:
            return None
        memory, signals = out.decode().split()
        return memory, int(signals)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            pipe.close()
