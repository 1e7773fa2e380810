"""A yes to files is none to the services that listen among them (src/judge/sockets.h)."""

import os
import shutil
import socket
import stat
import subprocess
import threading
import time
from pathlib import Path

from person import Person
from tap import check, contains, equal, lacks, run_all, test

WORDS = "a socket that this run has not made"
CONNECT = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"
OWN = """if 1:
    import socket, sys
    server = socket.socket(socket.AF_UNIX)
    server.bind(sys.argv[1])
    server.listen()
    socket.socket(socket.AF_UNIX).connect(sys.argv[1])
    server.accept()
"""


class Service:
    """Somebody outside who listens at a path, which may be longer than an address."""

    def __init__(self, path):
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self.socket = socket.socket(socket.AF_UNIX)
        directory = os.open(path.parent, os.O_PATH)
        self.socket.bind(f"/proc/self/fd/{directory}/{path.name}")
        os.close(directory)
        self.socket.listen(64)
        self.socket.setblocking(False)

    def reached(self):
        """Has anybody connected since the last time?"""
        count = 0
        while True:
            try:
                self.socket.accept()[0].close()
                count += 1
            except BlockingIOError:
                return count > 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
        self.path.unlink(missing_ok=True)


def python(code, *words):
    """At the end of the words: where the path is too long for an address, from its directory."""
    *before, path = words
    return ["sh", "-c", 'cd "$1" && shift && exec "$@"', "-", os.path.dirname(path), "python3", "-c", code, *before,
            os.path.basename(path)]


def connects(fx, service, path=None, code=CONNECT, what=""):
    equal(fx.run(*python(code, str(path or service.path))).status, 0, f"control {what}")
    check(service.reached(), f"control {what}")


def is_refused(fx, service, *flags, what="", words=WORDS):
    result = fx.sandbash(*flags, *python(CONNECT, str(service.path)))
    check(not service.reached(), f"{what} was reached")
    check(result.status != 0, what)
    contains(result.stderr, "PermissionError", what)
    contains(result.stderr, words, what)


def is_reached(fx, service, *flags, what=""):
    result = fx.sandbash(*flags, *python(CONNECT, str(service.path)))
    equal(result.status, 0, f"{what}: {result.stderr}")
    check(service.reached(), what)


@test("P2 a directory that is opened opens no service in it", variants=("full", "flat"))
def directory(fx):
    place = fx.outside / "out"
    with Service(place / "s") as service:
        connects(fx, service)
        for flag in (f"--allow-write={place}", f"--grant={place}", f"--allow-write={place}/*",
                     f"--allow-write={fx.outside}"):
            is_refused(fx, service, flag, what=flag)
            equal(fx.sandbash(flag, "sh", "-c", f"echo x >{place}/file && rm {place}/file").status, 0,
                  f"neighbour: a file, {flag}")
            result = fx.sandbash(flag, *python(OWN, f"{place}/own"))
            equal(result.status, 0, f"neighbour: its own socket, {flag}: {result.stderr}")
            (place / "own").unlink()
        is_reached(fx, service, f"--allow-write={place}/s", what="a rule that names it")
    with Service(fx.project / "s") as service:
        is_reached(fx, service, what="in the project")
        is_reached(fx, service, f"--allow-write={fx.outside}", what="in the project, with a rule for another place")


@test("P2 so in a network of its own, and in a run inside a run, which know their own sockets, too", variants=("full",))
def elsewhere(fx):
    place = fx.outside / "out"
    flag = f"--allow-write={place}"
    with Service(place / "s") as service:
        is_refused(fx, service, flag, "--network=off", what="without a network")
        ways = {"without a network": ((flag, "--network=off"), "full", place), "inside": ((flag,), "nested", place),
                "inside, in /tmp": ((), "nested", Path("/tmp"))}
        for what, (flags, variant, where) in ways.items():
            result = fx.sandbash(*flags, *python(OWN, f"{where}/own"), variant=variant)
            equal(result.status, 0, f"its own, {what}: {result.stderr}")
            if where == place:
                (place / "own").unlink()
        result = fx.sandbash(flag, *python(CONNECT, f"{place}/s"), variant="nested")
        check(result.status != 0 and not service.reached(), "a service, inside")


@test("P2 nobody takes the place of a service: its socket stays where it is", variants=("full", "flat"))
def taken(fx):
    place = fx.outside / "out"
    deep = place / "deep"
    flag = f"--allow-write={place}"
    ways = {"removed": f"rm -f {deep}/s", "moved": f"mv {deep}/s {place}/s", "replaced": f"mv {place}/file {deep}/s",
            "replaced by a link": f"ln -sf x {deep}/s", "moved with its directory": f"mv {deep} {place}/away"}
    for what, way in ways.items():
        with Service(deep / "s"):
            fx.write(place / "file", "x")
            equal(subprocess.run(["sh", "-c", way], check=False).returncode, 0, f"control: {what}")
        shutil.rmtree(place)
        with Service(deep / "s") as service:
            fx.write(place / "file", "x")
            result = fx.sandbash(flag, "sh", "-c", way)
            check(result.status != 0, f"{what}: {result.stderr}")
            check(stat.S_ISSOCK((deep / "s").lstat().st_mode), f"{what}: it is gone")
            connects(fx, service)
        equal(fx.sandbash(flag, "sh", "-c", f"cd {place} && mkdir -p d && : >d/f && mv d e && rm -r e file").status, 0,
              "neighbour: files and directories")
        shutil.rmtree(place)


@test("P2 nor by an answer for the directory", variants=("full", "flat"))
def taken_by_answer(fx):
    place = fx.outside / "out"
    deep = place / "deep"
    ways = {"removed": f"rm -f {deep}/s", "moved": f"mv {deep}/s {place}/s", "moved here": f"mv {deep}/s here",
            "linked": f"ln {deep}/s here", "replaced": f"mv -f {place}/first {deep}/s",
            "moved with its directory": f"mv {deep} {place}/away"}
    for what, way in ways.items():
        with Service(deep / "s") as service:
            person = Person(fx, "sh", "-c", f"echo x >{place}/first; mkdir {place}/d && mv {place}/d {place}/e; {way}")
            person.answer("2", "/out/first")
            person.answer("3", WORDS)
            check(person.end() != 0, what)
            check(stat.S_ISSOCK((deep / "s").lstat().st_mode) and not fx.path("here").exists(), what)
            check((place / "e").is_dir(), "neighbour: files and directories")
            connects(fx, service)
        shutil.rmtree(place)


@test("P2 with the home directory as project, services under a dot in it are none of the run's", variants=("full", "flat"))
def home(fx):
    for name in (".cache/git/credential/socket", ".x.sock"):
        with Service(fx.home / name) as service:
            connects(fx, service)
            result = fx.sandbash("--allow-home", *python(CONNECT, str(service.path)), cwd=fx.home)
            check(result.status != 0 and not service.reached(), f"{name} was reached")
            contains(result.stderr, WORDS)
    with Service(fx.home / "code" / ".x.sock") as service:
        equal(fx.sandbash("--allow-home", *python(CONNECT, str(service.path)), cwd=fx.home).status, 0, "neighbour")
    result = fx.sandbash("--allow-home", *python(OWN, f"{fx.home}/.cache/own"), cwd=fx.home)
    equal(result.status, 0, f"neighbour: its own: {result.stderr}")


@test("P2 what was bound before the run is not its own, whoever bound it", variants=("full", "flat"))
def earlier(fx):
    """A server of an earlier run that goes on is a service outside to the next one."""
    place = fx.outside / "out"
    place.mkdir()
    with Service(place / "s") as service:
        flag = f"--allow-write={place}"
        result = fx.sandbash(flag, "sh", "-c", f'rm {place}/s && exec "$@"', "-", *python(OWN, f"{place}/s"))
        check(result.status != 0, "its name was taken")
        check(not service.reached(), "the old one")
        equal(fx.sandbash(flag, *python(CONNECT, f"{place}/s")).stderr.count("PermissionError"), 1)


MOVES = {
    "renamed": "os.rename(there, here)",
    "linked": "os.link(there, here)",
    "linked by a descriptor": "fd = os.open(there, os.O_PATH); libc.linkat(fd, b'', -100, here.encode(), 0x1000); "
                              "libc.linkat(-100, b'/proc/self/fd/%d' % fd, -100, here.encode(), 0x400)",
    "brought along": "os.rename(os.path.dirname(there), here); here += '/s'",
    "exchanged": "open(here, 'w').close(); assert libc.renameat2(-100, there.encode(), -100, here.encode(), 2) == 0",
    "under a name that a rule means":
        "here = os.path.dirname(os.path.dirname(there)) + '/named'; os.rename(there, here)",
    "removed, and held open":
        "fd = os.open(there, os.O_PATH); os.unlink(there); here = f'/proc/self/fd/{fd}'",
    "in the place of its own":
        "own = socket.socket(socket.AF_UNIX); own.bind(there + '2'); os.rename(there, there + '2'); here = there + '2'",
}
MOVE = """if 1:
    import ctypes, os, socket, sys
    libc = ctypes.CDLL(None)
    there, here = sys.argv[1], sys.argv[2]
    os.chdir(os.path.dirname(here))
    there, here = os.path.relpath(there), os.path.basename(here)
    {how}
    if not here.startswith("/"):
        os.chdir(os.path.dirname(here) or ".")
        here = os.path.basename(here)
    socket.socket(socket.AF_UNIX).connect(here)
"""


@test("P2 nor does it get a name by which it would be reached", variants=("full", "flat"))
def moved(fx):
    place = fx.project.parent / "out"
    here = fx.project / "here"
    flag = f"--allow-write={fx.home}/out"
    for what, how in MOVES.items():
        code = MOVE.format(how=how)
        for boxed in (False, True):
            service = Service(place / "d" / "s")
            words = ["python3", "-c", code, str(service.path), str(here)]
            result = fx.sandbash(flag, f"{flag}/named", *words) if boxed else fx.run(*words)
            equal(service.reached(), not boxed, f"{what}, {'inside' if boxed else 'control'}: {result.stderr}")
            service.socket.close()
            shutil.rmtree(place)
            if here.is_dir():
                shutil.rmtree(here)
            else:
                here.unlink(missing_ok=True)
    (place / "d").mkdir(parents=True)
    equal(fx.sandbash(flag, "mv", place / "d", here).status, 0, "neighbour: a directory without one")


def temporary(fx, *flags):
    top = Path(f"/tmp/sandbash-connects-{os.getpid()}")
    try:
        with Service(top / "s") as service:
            connects(fx, service)
            is_refused(fx, service, *flags, what="from before",
                       words=WORDS if flags else "another program's temporary file")
            result = fx.sandbash(*flags, *python(OWN, "/tmp/" + top.name + "-own"))
            equal(result.status, 0, f"neighbour: its own: {result.stderr}")
        shutil.rmtree(top)
        Path(f"{top}-own").unlink(missing_ok=True)
        later(fx, top, *flags)
    finally:
        shutil.rmtree(top, ignore_errors=True)
        Path(f"{top}-own").unlink(missing_ok=True)


def later(fx, top, *flags):
    """The run makes the directory; then a service outside comes to it."""
    services = []

    def serve():
        while not top.is_dir() and not services:
            time.sleep(0.01)
        services.append(Service(top / "s"))

    thread = threading.Thread(target=serve)
    thread.start()
    wait = f"mkdir {top} && until [ -S {top}/s ]; do sleep 0.05; done; "
    result = fx.sandbash(*flags, "sh", "-c", wait + 'exec "$@"', "-", "python3", "-c", CONNECT, f"{top}/s")
    thread.join()
    with services[0] as service:
        check(not service.reached(), "one that came later")
        contains(result.stderr, WORDS)
        connects(fx, service, what="one that came later")


@test("P2 in the real /tmp a run connects to its own sockets alone", variants=("flat",))
def flat_temporary(fx):
    temporary(fx)


@test("P2 so with --shared-tmp, or a rule for /tmp", variants=("full",))
def shared_temporary(fx):
    temporary(fx, "--shared-tmp")
    temporary(fx, "--allow-write=/tmp")
    result = fx.sandbash(*python(OWN, f"/tmp/own-{os.getpid()}"))
    equal(result.status, 0, f"neighbour: a /tmp of its own: {result.stderr}")


@test("--explain says the same of a socket, and of a file beside it")
def explained(fx):
    place = fx.outside / "out"
    with Service(place / "s"):
        (place / "file").write_text("")
        said = fx.sandbash(f"--allow-write={place}", f"--explain={place}/s").stdout
        contains(said, WORDS)
        lacks(fx.sandbash(f"--allow-write={place}", f"--explain={place}/file").stdout, WORDS)
        lacks(fx.sandbash(f"--allow-write={place}/s", f"--explain={place}/s").stdout, WORDS)
    with Service(fx.project / "s"):
        lacks(fx.sandbash(f"--explain={fx.project}/s").stdout, WORDS)


run_all()
