"""File systems' ioctls: past Landlock, past the supervisor, past read-only mounts.

The filter sees a command's number, so most is shown on any file system: outside the kernel looks
what it is about and gives an answer of its own, inside the filter refuses before.  What it is
about is shown on a real btrfs, on a loop device in a mount namespace of this program's own.
"""

import ctypes
import os
import pwd
import shutil
import subprocess

from attack import act, answer, boxed, refused, works
from tap import ALL_VARIANTS, FLAGS, check, equal, run_all, skip, test

ROOT = os.getuid() == 0
CLONE_NEWNS = 0x20000
PEOPLE = ("root", "sandbash-test")  # the second one is made by run.py
HIGH = 0xFFFFFFFF << 32  # bits that the kernel does not look at


def command(direction, kind, number, size):
    return direction << 30 | size << 16 | (ord(kind) if isinstance(kind, str) else kind) << 8 | number


READ, WRITE, BOTH = 2, 1, 3

# One or more of each family, and numbers that nobody has given a meaning yet.
REFUSED = {
    "btrfs snapshot": command(WRITE, 0x94, 1, 4096),
    "btrfs subvolume": command(WRITE, 0x94, 14, 4096),
    "btrfs snapshot 2": command(WRITE, 0x94, 23, 4096),
    "btrfs subvolume 2": command(WRITE, 0x94, 24, 4096),
    "btrfs removal": command(WRITE, 0x94, 15, 4096),
    "btrfs label": command(WRITE, 0x94, 50, 256),
    "btrfs, unknown": command(0, 0x94, 0xEE, 0),
    "bcachefs subvolume": command(WRITE, 0xBC, 16, 32),
    "ext4 swap of contents": command(BOTH, "f", 15, 40),
    "ext4 label and more": command(WRITE, "f", 46, 232),
    "lustre, a striped directory": command(BOTH, "f", 240, 8),
    "encryption policy": command(READ, "f", 19, 12),
    "encryption key": command(BOTH, "f", 23, 80),
    "freeze": command(BOTH, "X", 119, 4),
    "trim": command(BOTH, "X", 121, 24),
    "shutdown": command(READ, "X", 125, 4),
    "XFS swap of contents": command(BOTH, "X", 109, 208),
    "XFS open by handle": command(WRITE, "X", 107, 48),
    "FAT attributes": command(WRITE, "r", 0x11, 4),
    "zfs attributes": command(WRITE, 0x83, 2, 8),
    "autofs": command(0, 0x93, 0x60, 0),
    "ceph layout": command(WRITE, 0x97, 2, 40),
    "reiserfs": command(WRITE, 0xCD, 1, 8),
    "a raw request to a file server": command(BOTH, 0xCF, 7, 24),
    "f2fs, moving contents": command(BOTH, 0xF5, 9, 32),
    "ocfs2, a new name": command(WRITE, "o", 4, 24),
    "nilfs2 checkpoints": command(WRITE, "n", 0x81, 8),
    "HFS+": command(0, "h", 0x80, 0),
    "UDF": command(BOTH, "l", 0x43, 8),
    "the newest of the VFS": command(WRITE, 0x15, 9, 8),
}
ALLOWED = {
    "bytes to read": 0x541B,
    "size of a block": 2,
    "flags": command(READ, "f", 1, 8),
    "flags of XFS": command(READ, "X", 31, 28),
    "version": command(READ, "v", 1, 8),
    "extents": command(BOTH, "f", 11, 32),
    "label": command(READ, 0x94, 49, 256),
    "clone of a range": command(WRITE, 0x94, 13, 32),
    "deduplication": command(BOTH, 0x94, 54, 24),
    "which subvolume": command(READ, 0x94, 25, 8),
    "id of the file system": command(READ, 0x15, 0, 17),
    "attributes of FAT": command(READ, "r", 0x10, 4),
    "features of f2fs": command(READ, 0xF5, 12, 4),
    "a terminal's": 0x5401,
    "a socket's": 0x8905,
    "graphics": command(BOTH, "d", 0, 64),
    "media, of a type that ocfs2 has too": command(READ, "o", 61, 168),
    "KVM": command(0, 0xAE, 0, 0),
    "sound": command(READ, "A", 0, 4),
}


# Harmless for whoever may do everything, whatever the file system makes of it: the control.
TRIED_OUTSIDE = ("btrfs, unknown", "zfs attributes", "a raw request to a file server", "HFS+",
                 "the newest of the VFS")


@test("ESCAPES ioctls: what file systems do by ioctl is refused, whatever it is called on",
      variants=ALL_VARIANTS)
def families(fx):
    fx.write("file", "x")
    # without namespaces what holds something hidden is not opened but as a directory
    top = () if fx.variant == "flat" else ("/",)
    for name, number in REFUSED.items():
        for path in ("file", ".", fx.outside, "/dev/null", *top):
            refused(boxed(fx, "ioctl", path, str(number)), ("EPERM",), f"{name} on {path}")
        refused(boxed(fx, "ioctl", "file", str(number | HIGH)), ("EPERM",), f"{name}, high bits")
    for name in TRIED_OUTSIDE:
        outside = answer(act(fx, "ioctl", "file", str(REFUSED[name])))
        check(outside != "EPERM", f"control {name}: {outside}")


@test("ESCAPES ioctls: queries and copies go on, and so does what is not a file system's",
      variants=ALL_VARIANTS)
def neighbours(fx):
    fx.write("file", "x")
    for name, number in ALLOWED.items():
        if name == "deduplication" and fx.variant != "full":  # a run in a run has no mounts
            refused(boxed(fx, "ioctl", "file", str(number)), ("EOPNOTSUPP",), name)
            continue
        for path in ("file", "."):
            inside, outside = (run(fx, "ioctl", path, str(number)) for run in (boxed, act))
            equal((inside.status, answer(inside)), (outside.status, answer(outside)),
                  f"{name} on {path}")


# --- on a real btrfs -----------------------------------------------------------------------


def own_mounts():
    """From here on mounts are this program's alone, and end with it."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS) != 0:
        skip(f"no mount namespace: {os.strerror(ctypes.get_errno())}")
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)


def make_btrfs(fx):
    """A btrfs at fx.dir/disk; umount it at the end."""
    fx.run("sh", "-c", "modprobe -q btrfs")  # where it is a module, and there is such a program
    with open("/proc/filesystems", encoding="ascii") as known:
        if "btrfs" not in known.read().split():
            skip("this kernel has no btrfs")
    if not shutil.which("mkfs.btrfs", path="/usr/sbin:/sbin:/usr/bin:/bin"):
        skip("no mkfs.btrfs (package btrfs-progs)")
    image, disk = fx.dir / "image", fx.dir / "disk"
    with open(image, "wb") as file:
        file.truncate(256 << 20)
    subprocess.run(["mkfs.btrfs", "-q", image], check=True)
    disk.mkdir()
    subprocess.run(["mount", "-o", "loop", image, disk], check=True)
    return disk


class Disk:
    """A person's home on it, as a subvolume: a project, a prepared tree in it, a secret."""

    def __init__(self, fx, person):
        self.fx, self.person = fx, pwd.getpwnam(person)
        self.disk = make_btrfs(fx)
        fx.dir.chmod(0o755)
        self.home = self.disk / "home"
        self.project = self.home / "project"
        equal(act(fx, "btrfs", "subvolume", self.disk, self.disk, "home").status, 0)
        self.project.mkdir()
        equal(act(fx, "btrfs", "subvolume", self.project, self.project, "prepared").status, 0)
        hooks = self.project / "prepared" / "hooks"
        hooks.mkdir()
        (hooks / "pre-commit").write_text("#!/bin/sh\n")
        (self.home / ".ssh").mkdir(mode=0o700)
        (self.home / ".ssh" / "id_rsa").write_text("SECRET\n")
        (self.project / "file").write_bytes(b"x" * 100000)
        for top, directories, files in os.walk(self.home):
            for name in [".", *directories, *files]:
                os.chown(os.path.join(top, name), self.person.pw_uid, self.person.pw_gid)

    def where(self):
        return {"cwd": self.project, "env": {"HOME": self.home}, "user": self.person.pw_uid,
                "group": self.person.pw_gid, "extra_groups": []}

    def inside(self, *words):
        return self.fx.sandbash(*words, **self.where())

    def outside(self, *words):
        return self.fx.run(*words, **self.where())

    def remove(self, *name):
        """What a control made."""
        subprocess.run(["btrfs", "-q", "subvolume", "delete", self.project.joinpath(*name)],
                       check=True, stdout=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["umount", "-l", self.disk], check=True)


def register(person):
    @test(f"ESCAPES ioctls: a snapshot neither becomes .git nor copies what is hidden, {person}",
          variants=ALL_VARIANTS)
    def snapshots(fx):
        with Disk(fx, person) as disk:
            tool = fx.tool("act")
            for how in ("snapshot", "snapshot2", "subvolume", "subvolume2"):
                refused(disk.inside(tool, "btrfs", how, "prepared", ".", ".git"), ("EPERM",), how)
                check(not (disk.project / ".git").exists(), how)
                works(disk.outside(tool, "btrfs", how, "prepared", ".", ".git"), f"control {how}")
                equal((disk.project / ".git" / "hooks").exists(), how.startswith("snapshot"), how)
                disk.remove(".git")
            for how in ("snapshot", "snapshot2"):
                refused(disk.inside(tool, "btrfs", how, disk.home, ".", "copy"), ("EPERM",), how)
                check(not (disk.project / "copy").exists(), how)
                works(disk.outside(tool, "btrfs", how, disk.home, ".", "copy"), f"control {how}")
                equal((disk.project / "copy/.ssh/id_rsa").read_text(), "SECRET\n")
                disk.remove("copy")
            check(disk.inside("cat", disk.home / ".ssh/id_rsa").status != 0, "it is hidden")
            refused(disk.inside(tool, "btrfs", "destroy", ".", ".", "prepared"), ("EPERM",))
            check((disk.project / "prepared" / "hooks").exists())

    @test(f"ESCAPES ioctls: no file outside gets other blocks by deduplication, {person}",
          variants=ALL_VARIANTS)
    def blocks(fx):
        with Disk(fx, person) as disk:
            tool, other, bytes_ = fx.tool("act"), disk.home / "other", os.urandom(65536)
            for path in (other, disk.project / "same", disk.project / "second"):
                path.write_bytes(bytes_)
                os.chown(path, disk.person.pw_uid, disk.person.pw_gid)

            def shared():
                os.sync()
                return "shared" in fx.run("filefrag", "-v", other).stdout

            mounts = fx.variant == "full"
            refused(disk.inside(tool, "dedupe", "same", other), ("EROFS",) if mounts else ("EOPNOTSUPP",))
            check(not shared(), "it has blocks of its own")
            inside = disk.inside(tool, "dedupe", "same", "second")
            if mounts:
                works(inside)
            else:
                refused(inside, ("EOPNOTSUPP",))
            works(disk.inside("cp", "--reflink=always", "same", "third"))
            equal(other.read_bytes(), bytes_)
            works(disk.outside(tool, "dedupe", "same", other), "control")
            check(shared(), "control: by now it shares them")

    @test(f"ESCAPES ioctls: everyday work on btrfs, {person}", variants=("full", "flat"))
    def work(fx):
        with Disk(fx, person) as disk:
            works(disk.inside("cp", "--reflink=always", "file", "second"))
            equal((disk.project / "second").read_bytes(), b"x" * 100000)
            works(disk.inside("filefrag", "-v", "file"))
            works(disk.inside("lsattr", "file"))
            works(disk.inside("btrfs", "property", "get", "-ts", "prepared", "ro"))
            works(disk.inside("sh", "-c", "mkdir d && echo x >d/f && mv d/f d/g && rm -r d"))
            equal(disk.inside("chattr", "+d", "file").status, 1 if FLAGS == ["--static"] and
                  fx.variant == "flat" else 0, "chattr")


if ROOT:
    own_mounts()
    for who in PEOPLE:
        register(who)

run_all()
