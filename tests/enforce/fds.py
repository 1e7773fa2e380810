"""Inherited descriptors: what the caller had open must not lead out of the sandbox."""

import array
import ctypes
import os
import select
import socket
import subprocess
import tempfile

from attack import CROSSING, DENIED, act, boxed, layout, refused, signature, unchanged, works
from tap import ALL_VARIANTS, PATIENCE, SUPERVISED, check, contains, equal, run_all, test

LIBC = ctypes.CDLL(None, use_errno=True)
CLOSED = ("EBADF",)


class Leak:
    """A descriptor that the next program inherits, under a number of our choice."""

    def __init__(self, fd, number=40):
        self.number = number
        if fd == number:
            os.set_inheritable(fd, True)
        else:
            os.dup2(fd, number, inheritable=True)
            os.close(fd)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.number)

    @property
    def where(self):
        return {"pass_fds": [self.number]}

    @property
    def word(self):
        return f"fd:{self.number}"


@test("ESCAPES paths: an inherited directory is closed", variants=ALL_VARIANTS)
def directory(fx):
    for number in (3, 9, 63, 64, 255, 700):
        for flags in (os.O_RDONLY, os.O_PATH):
            with Leak(os.open(fx.outside, flags | os.O_DIRECTORY), number) as leak:
                refused(boxed(fx, "openat", "rdonly", leak.word, "new", **leak.where),
                        CLOSED + DENIED)
                refused(boxed(fx, "fchdir", leak.word, "new", **leak.where), CLOSED + DENIED)
                equal(os.listdir(fx.outside), [])
                works(act(fx, "openat", "rdonly", leak.word, "new", **leak.where), "control")
            (fx.outside / "new").unlink()
    works(fx.sandbash("touch", "neighbour"))


@test("ESCAPES paths: an inherited directory of the project is closed, too", variants=("full",))
def project_directory(fx):
    """It belongs to the host's writable mount, where .git/config is not protected."""
    fx.git_project()
    with Leak(os.open(fx.project / ".git", os.O_RDONLY)) as leak:
        before = signature(fx.project / ".git" / "config")
        refused(boxed(fx, "openat", "rdonly", leak.word, "config", **leak.where), CLOSED + DENIED)
        unchanged(before, fx.project / ".git" / "config")
        works(act(fx, "openat", "rdonly", leak.word, "other", **leak.where), "control")
    works(boxed(fx, "open", "wronly+creat", ".git/COMMIT_EDITMSG"))


@test("ESCAPES paths: an inherited O_PATH file is closed", variants=ALL_VARIANTS)
def path_only(fx):
    target = fx.write(fx.outside / "file", "content")
    with Leak(os.open(target, os.O_PATH)) as leak:
        before = signature(fx.outside)
        refused(boxed(fx, "reopen", "path", "/proc/self/fd", leak.word, **leak.where),
                CLOSED + DENIED + ("ENOENT",))
        refused(boxed(fx, "meta", "fchmodat2-empty", leak.word, **leak.where), CLOSED + DENIED)
        refused(boxed(fx, "link", "proc", leak.word, fx.project / "alias", **leak.where),
                CLOSED + CROSSING + ("ENOENT",))
        unchanged(before, fx.outside)
        works(act(fx, "reopen", "path", "/proc/self/fd", leak.word, **leak.where), "control")
    works(fx.sandbash("touch", "neighbour"))


@test("ESCAPES paths: an inherited writable file is closed", variants=ALL_VARIANTS)
def writable(fx):
    target = fx.write(fx.outside / "file", "content")
    for flags in (os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_APPEND):
        with Leak(os.open(target, flags)) as leak:
            before = signature(fx.outside)
            refused(boxed(fx, "write", str(leak.number), **leak.where), CLOSED)
            unchanged(before, fx.outside)
            works(act(fx, "write", str(leak.number), **leak.where), "control")
    works(fx.sandbash("touch", "neighbour"))


def anonymous():
    """Things without a path; (name, descriptor, what else to close)."""
    parameters = ctypes.create_string_buffer(120)
    pair = socket.socketpair()
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made = [("socket", pair[0].detach()), ("udp socket", udp.detach()),
            ("device", os.open("/dev/null", os.O_RDWR)),
            ("terminal device", os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY)),
            ("memfd", os.memfd_create("act")), ("pidfd", os.pidfd_open(os.getpid())),
            ("io_uring", LIBC.syscall(425, 4, parameters)), ("epoll", select.epoll()),
            ("eventfd", os.eventfd(0))]
    for name, fd in made:
        if name == "epoll":
            yield name, os.dup(fd.fileno())
        elif fd >= 0:
            yield name, fd


@test("ESCAPES paths: inherited sockets, devices and the like are closed", variants=ALL_VARIANTS)
def closed(fx):
    for name, fd in anonymous():
        with Leak(fd) as leak:
            command = ["sh", "-c", f"test -e /proc/self/fd/{leak.number}"]
            equal(fx.sandbash(*command, **leak.where).status, 1, name)
            works(fx.run(*command, **leak.where), f"control {name}")
    works(fx.sandbash("touch", "neighbour"))


@test("ESCAPES paths: inherited pipes and read-only files stay open", variants=ALL_VARIANTS)
def kept(fx):
    target = fx.write(fx.outside / "file", "content")
    with Leak(os.open(target, os.O_RDONLY)) as leak:
        result = fx.sandbash("bash", "-c", f"cat <&{leak.number}", **leak.where)
        equal(result.stdout, "content")
    reader, writer = os.pipe()
    with Leak(writer) as leak:
        works(boxed(fx, "write", str(leak.number), **leak.where))
    equal(os.read(reader, 10), b"X")
    os.close(reader)


@test("ESCAPES paths: a read-only file above 2 keeps its place", variants=ALL_VARIANTS)
def kept_offset(fx):
    target = fx.write(fx.outside / "file", "first second")
    with Leak(os.open(target, os.O_RDONLY)) as leak:
        os.lseek(leak.number, 6, os.SEEK_SET)
        equal(fx.sandbash("bash", "-c", f"cat <&{leak.number}", **leak.where).stdout, "second")


@test("ESCAPES paths: a kept read-only file cannot be opened for writing", variants=ALL_VARIANTS)
def kept_read_only(fx):
    target = fx.write(fx.outside / "file", "content")
    with Leak(os.open(target, os.O_RDONLY)) as leak:
        before = signature(fx.outside)
        for way in ("/proc/self/fd", "/dev/fd"):
            refused(boxed(fx, "reopen", "rdonly", way, leak.word, **leak.where))
        unchanged(before, fx.outside)
        works(act(fx, "reopen", "rdonly", "/proc/self/fd", leak.word, **leak.where), "control")
        works(boxed(fx, "read", leak.word, **leak.where))


DESCRIPTOR_FORMS = ("fchmod", "fchown", "futimens", "fsetxattr", "fremovexattr", "setflags",
                    "fssetxattr", "setversion", "chmod-proc", "setxattr-proc", "utimensat-proc",
                    "fchmodat2-empty", "fchownat-empty", "utimensat-empty")


@test("ESCAPES paths: a kept read-only file keeps its metadata")
def kept_metadata(fx):
    layout(fx.outside / "tree")
    layout(fx.dir / "control")
    with Leak(os.open(fx.outside / "tree" / "file", os.O_RDONLY)) as leak:
        before = signature(fx.outside)
        for form in DESCRIPTOR_FORMS:
            refused(boxed(fx, "meta", form, leak.word, **leak.where), message=form)
            unchanged(before, fx.outside, form)
    with Leak(os.open(fx.dir / "control" / "file", os.O_RDONLY)) as leak:
        for form in DESCRIPTOR_FORMS:
            works(act(fx, "meta", form, leak.word, **leak.where), f"control {form}")
    layout(fx.project / "in")
    works(boxed(fx, "meta", "fchmod", "in/file"))


@test("ESCAPES paths: a file as stdin keeps its metadata")
def stdin_metadata(fx):
    layout(fx.outside / "tree")
    layout(fx.dir / "control")
    for form in DESCRIPTOR_FORMS:
        with open(fx.outside / "tree" / "file", "rb") as stdin:
            before = signature(fx.outside)
            refused(boxed(fx, "meta", form, "fd:0", stdin=stdin), message=form)
            unchanged(before, fx.outside, form)
        with open(fx.dir / "control" / "file", "rb") as stdin:
            works(act(fx, "meta", form, "fd:0", stdin=stdin), f"control {form}")
    with open(fx.outside / "tree" / "file", "rb") as stdin:
        equal(fx.sandbash("cat", stdin=stdin).stdout, "content\n")


@test("ESCAPES paths: a file of outside as stdin that the caller has open for writing is read only", variants=ALL_VARIANTS)
def stdin_writable(fx):
    target = fx.write(fx.outside / "file", "content")
    for flags in (os.O_RDWR, os.O_WRONLY):
        before = signature(fx.outside)
        fd = os.open(target, flags)
        script = "import os; os.write(0, b'PWN')"
        check(fx.sandbash("python3", "-c", script, stdin=fd).status != 0)
        check(fx.sandbash("python3", "-c", "import os; os.ftruncate(0, 0)", stdin=fd).status != 0)
        unchanged(before, fx.outside)
        if flags == os.O_RDWR:
            equal(fx.sandbash("cat", stdin=fd).stdout, "content", "it can be read")
        os.close(fd)
    fd = os.open(target, os.O_RDWR)
    works(fx.run("python3", "-c", "import os; os.write(0, b'PWN')", stdin=fd), "control")
    os.close(fd)
    fd = os.open(fx.write("mine", "content"), os.O_RDWR)
    works(fx.sandbash("python3", "-c", "import os; os.write(0, b'own')", stdin=fd), "one of the project")
    os.close(fd)
    equal(fx.path("mine").read_text(), "owntent")


@test("ESCAPES paths: a handle on something outside is no standard stream", variants=ALL_VARIANTS)
def handles(fx):
    master, slave = os.openpty()
    namespace = os.open("/proc/self/ns/mnt", os.O_RDONLY)
    handle = os.pidfd_open(os.getpid())
    for fd, word in ((master, "types there"), (namespace, "a handle"), (handle, "a handle")):
        result = fx.sandbash("touch", "started", stdin=fd)
        equal((result.status, fx.exists("started")), (125, False))
        contains(result.stderr, word)
        works(fx.run("true", stdin=fd), "control")
    works(fx.sandbash("true", stdin=slave), "a terminal")
    with tempfile.TemporaryFile() as scratch:
        scratch.write(b"text")
        scratch.seek(0)
        equal(fx.sandbash("cat", stdin=scratch).stdout, "text")
    for fd in (master, slave, namespace, handle):
        os.close(fd)


@test("ESCAPES paths: a file as stdin cannot be opened for writing", variants=ALL_VARIANTS)
def stdin_reopened(fx):
    target = fx.write(fx.outside / "file", "content")
    before = signature(fx.outside)
    with open(target, "rb") as stdin:
        for way in ("/proc/self/fd", "/dev/fd"):
            refused(boxed(fx, "reopen", "rdonly", way, "fd:0", stdin=stdin))
        unchanged(before, fx.outside)
        works(act(fx, "reopen", "rdonly", "/proc/self/fd", "fd:0", stdin=stdin), "control")
        works(boxed(fx, "read", "fd:0", stdin=stdin))


@test("ESCAPES run later: a guarded file as stdin cannot be opened for writing")
def stdin_guarded(fx):
    fx.git_project()
    config = fx.path(".git/config")
    for number in (0, 1, 2, 40):
        before = signature(config)
        name = {0: "stdin", 1: "stdout", 2: "stderr"}.get(number)
        fd = os.open(config, os.O_RDONLY)
        with Leak(fd) as leak:
            where = {name: leak.number} if name else leak.where
            script = f"echo evil >>/proc/self/fd/{number}"
            fx.sandbash("bash", "-c", script, **where)
            unchanged(before, config, f"descriptor {number}")
            equal(config.read_text().count("evil"), 0)
    with open(config, "rb") as stdin:
        works(fx.run("bash", "-c", "echo '#' >>/proc/self/fd/0", stdin=stdin), "control")
        works(fx.sandbash("cat", stdin=stdin), "reading it")


@test("ESCAPES run later: a read-only part of the project as stdin cannot be opened for writing")
def stdin_read_only_part(fx):
    target = fx.write("vendor/file", "content")
    before = signature(target)
    with open(target, "rb") as stdin:
        refused(boxed(fx, "reopen", "rdonly", "/proc/self/fd", "fd:0", stdin=stdin,
                      flags=["--allow-read=vendor"]))
        unchanged(before, target)
        works(act(fx, "reopen", "rdonly", "/proc/self/fd", "fd:0", stdin=stdin), "control")
        works(boxed(fx, "read", "fd:0", stdin=stdin, flags=["--allow-read=vendor"]))


@test("ESCAPES paths: a directory or O_PATH descriptor as stdin, stdout or stderr is refused",
      variants=ALL_VARIANTS)
def stdio_directory(fx):
    fx.write(fx.outside / "file")
    for name in ("stdin", "stdout", "stderr"):
        for path, flags in ((fx.outside, os.O_RDONLY), (fx.outside, os.O_PATH),
                            (fx.outside / "file", os.O_PATH)):
            fd = os.open(path, flags)
            try:
                result = fx.sandbash("touch", "started", **{name: fd})
                equal(result.status, 125, f"{name} {path}")
                if name != "stderr":
                    contains(result.stderr, "sandbash: ")
                check(not fx.exists("started"))
            finally:
                os.close(fd)
    works(fx.sandbash("touch", "started"))


SEND = """if 1:
    import socket, sys
    socket.socket(fileno=int(sys.argv[1])).sendto(b"X", eval(sys.argv[2]))
    """


def kinds_that_lead_out(fx):
    """(make a socket, who would hear it, its address, flags of sandbash)"""
    def hear(family, address):
        server = socket.socket(family, socket.SOCK_DGRAM)
        server.bind(address)
        server.settimeout(0.2)
        return server

    def unix(number):
        return lambda: hear(socket.AF_UNIX, os.fspath(fx.outside / f"service-{number}"))

    yield lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM), unix(1), []
    yield lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0], unix(2), []
    yield (lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
           lambda: hear(socket.AF_INET, ("127.0.0.1", 0)), ["--network=off"])


def is_heard(server):
    try:
        return server.recv(9) == b"X"
    except TimeoutError:
        return False


@test("ESCAPES sockets: a socket that can be sent anywhere is no standard stream, and not kept",
      variants=ALL_VARIANTS)
def leading_out(fx):
    for make, listen, flags in kinds_that_lead_out(fx):
        with make() as leak, listen() as server:
            where = repr(server.getsockname())
            for number, name in ((0, "standard input"), (1, "standard output"), (2, ""), (40, "")):
                how = ({"pass_fds": [40]} if number == 40 else
                       {("stdin", "stdout", "stderr")[number]: leak})
                keep = [*flags, "--keep-fd=40"] if number == 40 else flags
                script = ["python3", "-c", SEND, str(number), where]
                if number == 40:
                    os.dup2(leak.fileno(), 40, inheritable=True)
                result = fx.sandbash(*keep, *script, **how)
                equal(result.status, 125, f"{number} {leak}")
                contains(result.stderr, name)
                if name:
                    contains(result.stderr, "hint: ")
                check(not is_heard(server), f"{number} {leak}")
                works(fx.run(*script, **how), "control")
                check(is_heard(server), f"control {number} {leak}")
                if number == 40:
                    os.close(40)


@test("ESCAPES sockets: one without a connection neither; connected and listening ones stay",
      variants=ALL_VARIANTS)
def one_way(fx):
    for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
        with socket.socket(socket.AF_UNIX, kind) as leak:
            result = fx.sandbash("touch", "started", stdin=leak)
            equal((result.status, fx.exists("started")), (125, False))
            contains(result.stderr, "without a connection")
        ours, its = socket.socketpair(socket.AF_UNIX, kind)
        with ours, its:
            ours.send(b"text")
            ours.shutdown(socket.SHUT_WR)
            equal(fx.sandbash("cat", stdin=its).stdout, "text", "a connected one as stdin")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.fspath(fx.outside / "listening"))
        server.listen(1)
        works(fx.sandbash("true", stdin=server), "somebody else's connections")
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = socket.create_connection(server.getsockname())
        peer, _ = server.accept()
        with client, peer:
            peer.send(b"text")
            peer.shutdown(socket.SHUT_WR)
            equal(fx.sandbash("cat", stdin=client).stdout, "text", "a network that is on")
            result = fx.sandbash("--network=off", "touch", "started", stdin=client)
            equal((result.status, fx.exists("started")), (125, False))
            contains(result.stderr, "the network is off")

            # by a socket of the caller's any host could be reached: connect() to nowhere, then elsewhere
            result = fx.sandbash("--network=ask", "touch", "started", stdin=client)
            equal((result.status, fx.exists("started")), (125, False))
            if fx.variant == "full" and SUPERVISED:
                contains(result.stderr, "leads around the rules for hosts")


@test("S12 stdin comes from anywhere: a hidden place, a removed or closed file, /proc",
      variants=ALL_VARIANTS)
def stdin_anywhere(fx):
    secret = fx.write(fx.home / ".netrc", "given by the caller")
    with open(secret, "rb") as stdin:
        equal(fx.sandbash("cat", stdin=stdin).stdout, "given by the caller")
    with tempfile.NamedTemporaryFile(dir="/tmp") as file:
        file.write(b"in the real /tmp")
        file.flush()
        with open(file.name, "rb") as stdin:
            equal(fx.sandbash("cat", stdin=stdin).stdout, "in the real /tmp")
    gone = fx.write(fx.outside / "gone", "removed")
    closed = fx.write(fx.outside / "closed", "first second")
    with open(gone, "rb") as one, open(closed, "rb") as two:
        gone.unlink()
        closed.chmod(0)
        two.seek(6)
        os.lseek(two.fileno(), 6, os.SEEK_SET)
        equal(fx.sandbash("cat", stdin=one).stdout, "removed")
        equal(fx.sandbash("cat", stdin=two).stdout, "second", "and from its place")
    with open("/proc/version", "rb") as stdin:
        contains(fx.sandbash("cat", stdin=stdin).stdout, "Linux")


@test("S12 redirected output is written where the caller wanted it", variants=ALL_VARIANTS)
def output(fx):
    with open(fx.outside / "out", "wb") as out:
        works(fx.sandbash("echo", "hello", stdout=out))
    equal((fx.outside / "out").read_text(), "hello\n")


@test("S12 process substitution and here documents work", variants=ALL_VARIANTS)
def substitution(fx):
    words = " ".join(fx.argv("diff"))
    works(fx.run("bash", "-c", f"{words} <(echo a) <(echo a)"))
    equal(fx.run("bash", "-c", f"{words} <(echo a) <(echo b)").status, 1)
    cat = " ".join(fx.argv("cat"))
    long = "line\n" * 40000  # longer than a pipe: bash takes a file that is gone already
    script = fx.write("script", f"{cat} <<'END'\n{long}END\n")
    equal(fx.run("bash", script).stdout, long)
    equal(fx.run("bash", "-c", f"{cat} <<<short").stdout, "short\n")


@test("S12 --keep-fd leaves one open, and only that one", variants=("full", "flat"))
def keep_fd(fx):
    target = fx.write(fx.outside / "file", "")
    other = fx.write(fx.outside / "other", "")
    with Leak(os.open(target, os.O_WRONLY), 40), Leak(os.open(other, os.O_WRONLY), 41):
        works(boxed(fx, "write", "40", flags=["--keep-fd=40"], pass_fds=[40, 41]))
        refused(boxed(fx, "write", "41", flags=["--keep-fd=40"], pass_fds=[40, 41]), CLOSED)
    equal((target.read_text(), other.read_text()), ("X", ""))


@test("ESCAPES paths: a descriptor received over a socket does not open the way out",
      variants=ALL_VARIANTS)
def received(fx):
    """Somebody outside hands over a directory: names in it are still decided by Landlock."""
    script = """if 1:
        import array, os, socket, sys
        client = socket.socket(socket.AF_UNIX)
        client.connect("s")
        _, rights, _, _ = client.recvmsg(1, socket.CMSG_SPACE(4))
        directory = array.array("i", rights[0][2])[0]
        try:
            os.close(os.open("new", os.O_WRONLY | os.O_CREAT, 0o644, dir_fd=directory))
        except OSError as error:
            sys.exit(f"{error.errno}")
        """
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.fspath(fx.project / "s"))
        server.listen(8)

        def give(run, where):
            process = subprocess.Popen(run, cwd=fx.project, env=fx.env(), stderr=subprocess.PIPE)
            server.settimeout(PATIENCE)
            connection, _ = server.accept()
            fd = os.open(where, os.O_RDONLY)
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))]
            connection.sendmsg([b"x"], rights)
            os.close(fd)
            _, err = process.communicate(timeout=PATIENCE)
            connection.close()
            return process.returncode, err.decode()

        python = ["python3", "-c", script]
        status, err = give(fx.argv(*python), fx.outside)
        equal(status, 1)
        equal(os.listdir(fx.outside), [])
        status, err = give(python, fx.outside)
        equal((status, err), (0, ""), "control")
        status, err = give(fx.argv(*python), fx.project)
        equal(status, 0, f"neighbour {err}")


@test("S12 closed stdin, stdout and stderr: nothing of ours takes their place",
      variants=("full", "flat"))
def closed_stdio(fx):
    script = "ls -l /proc/$$/fd >listing 2>/dev/null; touch started"
    command = " ".join(f"'{word}'" for word in fx.argv("bash", "-c", script))
    for redirection in ("<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"):
        result = fx.run("bash", "-c", f"{command} {redirection}")
        if not fx.exists("started"):
            equal(result.status, 125, redirection)
            continue
        for line in fx.read("listing").splitlines():
            number, arrow, target = line.partition(" -> ")
            number = number.split()[-1] if arrow else ""
            if number in ("0", "1", "2"):
                check(target == "/dev/null" or target.startswith(("pipe:", "/dev/pts")) or
                      target.endswith("listing"), f"{redirection}: {line}")
        fx.path("started").unlink()
        fx.path("listing").unlink()
    works(fx.sandbash("true"))


run_all()
