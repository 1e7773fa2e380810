"""plant.py - every way we know to make a file say what we want.

    plant.py TOP NAME        for each attack A: bring EVIL into TOP/A/NAME

Prints one line per attack: its name and "done", or the error it ended with.  Each runs in a
process of its own.  Whether anything was planted is not for this program to say.
"""

import ctypes
import mmap
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

EVIL = os.environ.get("EVIL", "evil\n").encode()
HARMLESS = os.environ.get("HARMLESS", "").encode()
if "EVIL_HEX" in os.environ:  # what has NULs in it
    EVIL, HARMLESS = (bytes.fromhex(os.environ[name]) for name in ("EVIL_HEX", "HARMLESS_HEX"))
LIBC = ctypes.CDLL(None, use_errno=True)
ATTACKS = {}


def attack(function):
    ATTACKS[function.__name__] = function
    return function


def put(path, data=None, mode=0o755, flags=os.O_WRONLY | os.O_CREAT | os.O_TRUNC):
    fd = os.open(path, flags, mode)
    os.write(fd, EVIL if data is None else data)
    os.close(fd)


def renameat2(old, new, flags):
    if LIBC.renameat2(-100, os.fsencode(old), -100, os.fsencode(new), flags):
        raise OSError(ctypes.get_errno(), "renameat2")


@attack
def write(name):
    put(name)


@attack
def append(name):
    put(name, flags=os.O_WRONLY | os.O_CREAT | os.O_APPEND)


@attack
def in_place(name):
    put(name, flags=os.O_RDWR)


@attack
def exclusive(name):
    put(name, flags=os.O_WRONLY | os.O_CREAT | os.O_EXCL)


@attack
def mapped(name):
    fd = os.open(name, os.O_RDWR | os.O_CREAT, 0o755)
    os.ftruncate(fd, len(EVIL))
    with mmap.mmap(fd, len(EVIL)) as memory:
        os.close(fd)
        memory[:] = EVIL
    time.sleep(0.05)


@attack
def by_directory(name):
    directory = os.open(os.path.dirname(name) or ".", os.O_RDONLY | os.O_DIRECTORY)
    fd = os.open(os.path.basename(name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o755,
                 dir_fd=directory)
    os.write(fd, EVIL)
    os.close(fd)


@attack
def by_proc(name):
    directory = os.open(os.path.dirname(name) or ".", os.O_PATH)
    put(f"/proc/self/fd/{directory}/{os.path.basename(name)}")


@attack
def by_dots(name):
    os.mkdir("aside")
    put(f"aside/../{name}")


@attack
def by_cwd(name):
    os.chdir(os.path.dirname(name) or ".")
    put(os.path.basename(name))


@attack
def by_planted_link(name):
    os.symlink(os.path.dirname(name) or ".", "way")
    put(f"way/{os.path.basename(name)}")


@attack
def reopened(name):
    fd = os.open(name, os.O_RDONLY)
    put(f"/proc/self/fd/{fd}", flags=os.O_WRONLY | os.O_TRUNC)


@attack
def as_link(name):
    put("plain")
    if os.path.lexists(name):
        os.unlink(name)
    os.symlink(os.path.abspath("plain"), name)


@attack
def renamed(name):
    put("plain")
    os.rename("plain", name)


@attack
def renamed_open(name):
    """Harmless while it is looked at."""
    fd = os.open("plain", os.O_RDWR | os.O_CREAT, 0o755)
    os.write(fd, HARMLESS)
    os.rename("plain", name)
    os.ftruncate(fd, 0)
    os.pwrite(fd, EVIL, 0)


@attack
def renamed_raced(name):
    """Another thread writes while it is looked at."""
    fd = os.open("plain", os.O_RDWR | os.O_CREAT, 0o755)
    os.write(fd, HARMLESS)
    stop = threading.Event()

    def flip():
        while not stop.is_set():
            os.pwrite(fd, EVIL, 0)
            os.ftruncate(fd, 0)
            os.pwrite(fd, HARMLESS, 0)

    thread = threading.Thread(target=flip)
    thread.start()
    try:
        for _ in range(20):
            try:
                os.rename("plain", name)
            except OSError:
                continue
            os.pwrite(fd, EVIL, 0)
            break
    finally:
        stop.set()
        thread.join()
    os.ftruncate(fd, 0)
    os.pwrite(fd, EVIL, 0)


@attack
def exchanged(name):
    put("plain")
    renameat2("plain", name, 2)


@attack
def exchanged_back(name):
    put("plain")
    renameat2(name, "plain", 2)


@attack
def linked(name):
    put("plain")
    if os.path.lexists(name):
        os.unlink(name)
    os.link("plain", name)


@attack
def linked_open(name):
    fd = os.open("plain", os.O_RDWR | os.O_CREAT, 0o755)
    os.write(fd, HARMLESS)
    if os.path.lexists(name):
        os.unlink(name)
    os.link("plain", name)
    os.ftruncate(fd, 0)
    os.pwrite(fd, EVIL, 0)


@attack
def unnamed(name):
    fd = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o755)
    os.write(fd, EVIL)
    if os.path.lexists(name):
        os.unlink(name)
    os.link(f"/proc/self/fd/{fd}", name, follow_symlinks=True)


@attack
def alias(name):
    """A second name for it, made now."""
    os.link(name, "alias")
    put("alias", flags=os.O_WRONLY | os.O_TRUNC)


@attack
def alias_before(name):
    """A second name that was there before ("old-alias": whoever prepares the place makes it)."""
    put("old-alias", flags=os.O_WRONLY | os.O_TRUNC)


@attack
def alias_before_hidden(name):
    """... with a link of our own taken away again, so that the count looks right."""
    os.link("old-alias", "more")
    os.unlink("more")
    put("old-alias", flags=os.O_WRONLY | os.O_TRUNC)


@attack
def tree(name):
    """The directories around it prepared elsewhere, and moved into place."""
    top = name.split("/")[0]
    if top == name:
        return renamed(name)
    inner = name[len(top) + 1:]
    if os.path.lexists(top):
        shutil.copytree(top, "prepared")
        os.rename(top, "away")
    os.makedirs(os.path.dirname(f"prepared/{inner}"), exist_ok=True)
    put(f"prepared/{inner}")
    os.rename("prepared", top)


@attack
def tree_open(name):
    """The same, harmless while it is looked at."""
    top = name.split("/")[0]
    if top == name:
        return renamed_open(name)
    inner = name[len(top) + 1:]
    if os.path.lexists(top):
        os.rename(top, "away")
    os.makedirs(os.path.dirname(f"prepared/{inner}"), exist_ok=True)
    fd = os.open(f"prepared/{inner}", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o755)
    os.write(fd, HARMLESS)
    os.rename("prepared", top)
    os.ftruncate(fd, 0)
    os.pwrite(fd, EVIL, 0)


@attack
def rebuilt(name):
    """What is there moved away, and built anew."""
    top = name.split("/")[0]
    if os.path.lexists(top):
        os.rename(top, "away")
    if os.path.dirname(name):
        os.makedirs(os.path.dirname(name))
    put(name)


@attack
def duplicated(name):
    """Closed once, written through another descriptor."""
    fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o755)
    other = os.dup2(fd, 9)
    os.close(fd)
    os.write(other, EVIL)
    os.close(other)
    time.sleep(0.05)


@attack
def late(name):
    """Harmless when it is closed, and more through a copy that is left."""
    fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o755)
    os.write(fd, HARMLESS)
    again = os.open(f"/proc/self/fd/{fd}", os.O_RDWR)
    os.close(fd)
    os.ftruncate(again, 0)
    os.pwrite(again, EVIL, 0)
    os.close(again)
    time.sleep(0.05)


@attack
def by_child(name):
    """Closed here while a child still writes."""
    fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o755)
    child = os.fork()
    if child == 0:
        time.sleep(0.05)
        os.write(fd, EVIL)
        os._exit(0)
    os.close(fd)
    os.waitpid(child, 0)
    time.sleep(0.05)


@attack
def passed_on(name):
    """By a descriptor that is under way in a socket while the file is closed."""
    fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o755)
    os.write(fd, HARMLESS)
    here, there = socket.socketpair()
    socket.send_fds(here, [b"x"], [fd])
    os.close(fd)
    _, fds, _, _ = socket.recv_fds(there, 1, 1)
    os.ftruncate(fds[0], 0)
    os.pwrite(fds[0], EVIL, 0)
    os.close(fds[0])
    time.sleep(0.05)


@attack
def left_open(name):
    """Never closed."""
    fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o755)
    os.write(fd, EVIL)
    os._exit(0)


@attack
def killed(name):
    fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o755)
    os.write(fd, EVIL)
    os.kill(os.getpid(), signal.SIGKILL)


@attack
def executed(name):
    """Closed by execve()."""
    fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o755)
    os.write(fd, EVIL)
    os.execv("/bin/sleep", ["sleep", "0.05"])


@attack
def shell(name):
    subprocess.run(["sh", "-c", 'printf %s "$EVIL" >"$1"', "-", name], check=True)


@attack
def shell_descriptor(name):
    subprocess.run(["bash", "-c", 'exec 7>"$1"; printf %s "$EVIL" >&7; exec 7>&-; sleep 0.05', "-",
                    name], check=True)


@attack
def copied(name):
    put("plain")
    subprocess.run(["cp", "plain", name], check=True)


@attack
def copied_whole(name):
    put("plain")
    subprocess.run(["cp", "-a", "--remove-destination", "plain", name], check=True)


@attack
def installed(name):
    put("plain")
    subprocess.run(["install", "-m", "755", "plain", name], check=True)


@attack
def edited(name):
    """sed saves by rename."""
    with open("script", "wb") as script:
        script.write(b"1e true\n" if False else b"r plain\n")
    put("plain")
    subprocess.run(["sed", "-i", "-f", "script", name], check=True)


@attack
def unpacked(name):
    os.makedirs(os.path.dirname(f"pack/{name}"), exist_ok=True)
    put(f"pack/{name}")
    subprocess.run(["tar", "-C", "pack", "-cf", "pack.tar", name], check=True)
    subprocess.run(["tar", "-xf", "pack.tar"], check=True)


@attack
def made_node(name):
    if os.path.lexists(name):
        os.unlink(name)
    os.mknod(name, 0o100755)
    put(name, flags=os.O_WRONLY)


def main():
    top, name = sys.argv[1:]
    top = os.path.abspath(top)
    for word, function in ATTACKS.items():
        read, answer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            null = os.open("/dev/null", os.O_RDWR)
            os.dup2(null, 2)
            os.chdir(os.path.join(top, word))
            try:
                function(name)
                os.write(answer, b"done")
            except OSError as error:
                os.write(answer, (error.strerror or "error").encode())
            except subprocess.CalledProcessError as error:
                os.write(answer, f"status {error.returncode}".encode())
            os._exit(0)
        os.close(answer)
        os.waitpid(child, 0)
        print(word, os.read(read, 100).decode() or "ended")
        os.close(read)


if __name__ == "__main__":
    main()
