"""racer.py SECONDS LEAST PATIENCE ATTACK ROLE - one of two that race each other for a name, in the directory they
are in: so long, and until it got its way so often, if that does not take for ever.

The maker puts something where nobody obeys it and takes it away again; the flipper makes that place
one that counts, and ordinary again.  Each is harmless by itself, and what both have done at once
is not.  Whoever sees both waits; what is there after PATIENCE seconds is there for good, and planted: exit
status 3.  Else it says how often it got its way.
"""

import ctypes
import os
import sys
import time

MARK = "planted-by-the-inside"
PLANTED = 3
LINGER = 0.008  # so long the flipper leaves it, for those who are late
FOR_EVER = 60


class Race:
    """q becomes .git while somebody makes a hook in it."""
    place, name = ".git", "hooks/post-commit"

    def __init__(self):
        os.makedirs(os.path.dirname(os.path.join("q", self.name)), exist_ok=True)
        self.target = os.path.join(self.place, self.name)
        self.last = os.path.basename(self.name)

    def begin(self):  # a directory that stays the same whatever it is called
        self.directory = os.open(os.path.dirname(os.path.join("q", self.name)), os.O_PATH)
        with open(f"evil-{os.getpid()}", "w", encoding="utf-8") as file:
            file.write(MARK)
        self.evil = f"evil-{os.getpid()}"

    def both(self):
        return os.path.lexists(self.target)

    def make(self):
        os.close(os.open(self.last, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o755,
                         dir_fd=self.directory))

    def unmake(self):
        os.unlink(self.last, dir_fd=self.directory)

    def flip(self):
        os.rename("q", self.place)

    def flop(self):
        os.rename(self.place, "q")


class Claude(Race):
    place, name = ".claude", "settings.json"


class Fish(Race):
    """Everything beneath counts, whatever it is called."""
    place, name = ".config/fish", "anything"

    def __init__(self):
        super().__init__()
        os.makedirs(".config", exist_ok=True)


class Nobody(Race):
    """The neighbour: a name that nobody obeys."""
    place, name = "plain", "sub/file"

    def both(self):
        return False


class Rename(Race):
    def make(self):
        os.rename(self.evil, self.last, dst_dir_fd=self.directory)

    def unmake(self):
        os.rename(self.last, self.evil, src_dir_fd=self.directory)


class Link(Race):
    def make(self):
        os.link(self.evil, self.last, dst_dir_fd=self.directory)


class Symlink(Race):
    def make(self):
        os.symlink("/bin/true", self.last, dir_fd=self.directory)


class Config(Race):
    """A harmless file that somebody has open for writing when it becomes git's."""
    name = "config"

    def __init__(self):
        super().__init__()
        with open("q/config", "a", encoding="utf-8"):
            pass

    def make(self):
        self.fd = os.open(self.last, os.O_WRONLY, dir_fd=self.directory)

    def unmake(self):
        os.close(self.fd)

    def both(self):
        try:
            there, mine = os.stat(self.target), os.fstat(self.fd)
        except (OSError, AttributeError):  # the flipper has nothing open
            return False
        return (there.st_dev, there.st_ino) == (mine.st_dev, mine.st_ino)


class Structure(Race):
    """q becomes a git directory by what is in it."""
    place = "q"

    def __init__(self):
        super().__init__()
        os.makedirs("q/objects", exist_ok=True)

    def both(self):
        return os.path.isdir("q/refs") and super().both()

    def flip(self):
        os.mkdir("q/refs")

    def flop(self):
        os.rmdir("q/refs")


class Filled(Structure):
    """The same, and what was made cannot simply be removed again."""

    def flip(self):
        os.mkdir("q/refs")

    def make(self):
        super().make()
        try:
            os.mkdir("q/refs/heads")
        except OSError:
            pass

    def flop(self):
        try:
            os.rmdir("q/refs/heads")
        except OSError:
            pass
        os.rmdir("q/refs")


class Halves(Race):
    """Two make the two halves of a git directory around a hook that is there."""

    def __init__(self):
        super().__init__()
        with open("q/hooks/post-commit", "a", encoding="utf-8"):
            pass

    def both(self):
        return os.path.isdir("q/objects") and os.path.isdir("q/refs")

    def make(self):
        os.mkdir("q/objects")

    def unmake(self):
        os.rmdir("q/objects")

    def flip(self):
        os.mkdir("q/refs")

    def flop(self):
        os.rmdir("q/refs")


class Exchange(Race):
    """A directory may be called as a hook; a file takes its place before it is."""

    def __init__(self):
        self.target = ".git/hooks/post-commit"
        self.libc = ctypes.CDLL(None, use_errno=True)
        for name in (".git/hooks", "x1"):
            os.makedirs(name, exist_ok=True)
        os.close(os.open("x2", os.O_CREAT | os.O_WRONLY, 0o755))

    def begin(self):
        pass

    def both(self):
        return os.path.isfile(self.target)

    def make(self):
        os.rename("x1", self.target)

    def unmake(self):
        os.rename(self.target, "x1")

    def flip(self):
        if self.libc.renameat2(-100, b"x1", -100, b"x2", 2) != 0:
            raise OSError(ctypes.get_errno(), "exchange")

    flop = flip


class Landing(Race):
    """What is renamed to git's config is opened by the name it had."""

    def __init__(self):
        os.makedirs(".git", exist_ok=True)
        self.fd = -1

    def begin(self):
        pass

    def both(self):
        try:
            there, mine = os.stat(".git/config"), os.fstat(self.fd)
        except OSError:  # the maker has nothing open
            return False
        return (there.st_dev, there.st_ino) == (mine.st_dev, mine.st_ino)

    def make(self):
        with open(".git/config.lock", "w", encoding="utf-8") as file:
            file.write("[core]\n\tbare = false\n")
        while os.path.exists("seen"):  # nobody is to replace it now
            time.sleep(0.002)
        os.rename(".git/config.lock", ".git/config")

    def unmake(self):
        pass

    def flip(self):
        self.fd = os.open(".git/config.lock", os.O_WRONLY)

    def flop(self):
        os.close(self.fd)


ATTACKS = {one.__name__.lower(): one for one in
           (Race, Claude, Fish, Nobody, Rename, Link, Symlink, Config, Structure, Filled, Halves,
            Exchange, Landing)}


def stays(race, patience):
    if not race.both():
        return False
    try:
        os.close(os.open("seen", os.O_CREAT | os.O_WRONLY, 0o644))  # leave it, both of you
    except OSError:  # whoever stops a supervisor in the middle may get any answer
        pass
    end, found = time.monotonic() + patience, True
    while found and time.monotonic() < end:
        time.sleep(0.002)
        found = race.both()
    try:
        os.unlink("seen")
    except OSError:
        pass
    return found


def linger(race, patience):
    end = time.monotonic() + LINGER
    while time.monotonic() < end:
        if stays(race, patience):
            return True
        while os.path.exists("seen"):
            time.sleep(0.002)
    return False


def run(race, act, undo, end, least, look):
    done = 0
    while time.monotonic() < end or (done < least and time.monotonic() < end + FOR_EVER):
        try:
            act()
        except OSError:
            continue
        done += 1
        if look(race):
            print("planted", flush=True)
            sys.exit(PLANTED)
        late = max(end, time.monotonic()) + (1 if done >= least else FOR_EVER)
        while time.monotonic() < late:  # the other may be in the way for a moment
            try:
                undo()
                break
            except OSError:
                pass
    return done


def main():
    seconds, least, patience, (attack, role) = float(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4:]
    race = ATTACKS[attack]()
    race.begin()
    print("ready", flush=True)
    sys.stdin.readline()  # both begin at a time
    end = time.monotonic() + seconds
    if role == "maker":
        print(run(race, race.make, race.unmake, end, least, lambda race: stays(race, patience)))
    else:
        print(run(race, race.flip, race.flop, end, least, lambda race: linger(race, patience)))


if __name__ == "__main__":
    main()
