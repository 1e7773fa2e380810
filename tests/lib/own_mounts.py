"""own_mounts.py - file systems for fixtures, which only the test runner and what it starts can see."""

import ctypes
import os
import subprocess


def succeeds(words):
    return subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def in_memory(place):
    """Fixtures where root can have mounts of its own: thousands of files come and go, and an ext4 without a journal
    looks through those that went in the last minute whenever one is made, a third of all processor time."""
    libc = ctypes.CDLL(None)
    new_mounts, private, nothing = 0x20000, 0x44000, None  # CLONE_NEWNS; MS_REC | MS_PRIVATE
    return (libc.unshare(new_mounts) == 0 and libc.mount(nothing, b"/", nothing, private, nothing) == 0
            and libc.mount(b"sandbash-test", os.fsencode(place), b"tmpfs", 0, b"mode=755") == 0)


def disk_in_memory(image, place, owner):
    """The ordinary user's are on an ext4, so that both kinds of file system are looked at: one with a journal, whose
    disk is a file of root's file system in memory.  Where there is no loop device they stay on the disk."""
    with open(image, "wb") as made:
        made.truncate(4 << 30)
    options = f"root_owner={owner.pw_uid}:{owner.pw_gid},lazy_itable_init=1,lazy_journal_init=1"
    if (succeeds(["mkfs.ext4", "-q", "-F", "-i", "8192", "-E", options, str(image)])
            and succeeds(["mount", "-t", "ext4", "-o", "loop,noinit_itable", str(image), str(place)])):
        (place / "lost+found").rmdir()


def unmount(*places):
    """What a mount lies on cannot be removed; the last one frees its loop device."""
    libc = ctypes.CDLL(None)
    for place in places:
        libc.umount2(os.fsencode(place), 2)  # MNT_DETACH: whatever a test left in it
