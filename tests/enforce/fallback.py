"""R4: a lesser machine: another layer holds the same, or it names what is weaker and refuses."""

import os
import shutil
import socket
import tempfile
from pathlib import Path

from attack import CROSSING, Victim, act, boxed, refused, signature, unchanged, works
from tap import SUPERVISED, check, contains, equal, lacks, run_all, test

BEST = ["--best-effort"]
STATIC = ["--static"]
ROOT = os.getuid() == 0
WRITES = ("open wronly {}/file", "open wronly+creat {}/new", "open wronly+trunc {}/file",
          "open rdonly+trunc {}/file", "unlink {}/file", "mkdir {}/new", "rmdir {}/empty",
          "rename plain {}/file {}/new", "rename plain {}/file new", "link path {}/file new",
          "symlink x {}/new", "mknod fifo {}/new", "bind {}/new", "mmap {}/file",
          "tmpfile {} {}/new",
          "rename plain own {}/new", "rename exchange own {}/file", "link path own {}/new",
          "reopen path /proc/self/fd {}/file", "open wronly+creat /proc/self/root{}/new")


def refuses(fx, machine, *sentences, flags=()):
    """Without --best-effort nothing starts, and each weakness is named."""
    result = fx.sandbash(*flags, "touch", "started", without=machine)
    equal(result.status, 125, machine)
    contains(result.stderr, "sandbash: ")
    for sentence in sentences:
        contains(result.stderr, sentence, machine)
    check(not fx.exists("started"))
    return result.stderr


def starts(fx, machine):
    """Nothing is weaker, and nothing is said."""
    result = fx.sandbash("touch", "started", without=machine)
    equal((result.status, result.stderr), (0, ""), machine)


def refuses_static(fx, machine, *sentences):
    """A supervisor holds it all.  Returns what a static run says."""
    if not SUPERVISED:
        return refuses(fx, machine, *sentences)
    starts(fx, machine)
    return ""


def holds_writes(fx, machine, flags=(), but=(), errors=CROSSING):
    """With --best-effort content and names outside are still closed."""
    (fx.outside / "empty").mkdir()
    fx.write(fx.outside / "file", "content")
    fx.write("own", "own")
    before = signature(fx.outside)
    for template in WRITES:
        if template in but:
            continue
        words = template.replace("{}", str(fx.outside)).split()
        refused(boxed(fx, *words, flags=[*BEST, *flags], without=machine), errors,
                f"{machine}: {template}")
    unchanged(before, fx.outside, machine)
    result = boxed(fx, "open", "wronly+creat", "inside", flags=[*BEST, *flags], without=machine)
    works(result, f"{machine}: neighbour")
    works(fx.sandbash(*BEST, "sh", "-c",
                      "mkdir d && echo x >d/f && mv d/f d/g && cat d/g && rm -r d",
                      without=machine), f"{machine}: everyday work")
    works(act(fx, "open", "wronly", fx.outside / "file"), "control")


@test("S13 neither Landlock nor namespaces: refused, always")
def nothing(fx):
    for machine in ("userns,landlock", "mounts,landlock", "userns,landlock,seccomp"):
        for flags in ([], BEST):
            result = fx.sandbash(*flags, "touch", "started", without=machine)
            equal(result.status, 125, f"{machine} {flags}")
            # it is told first what --static would help against
            unsupervised = SUPERVISED and "seccomp" in machine and not flags
            contains(result.stderr, "--static" if unsupervised else "Landlock")
            check(not fx.exists("started"), f"{machine} {flags}")
    works(fx.sandbash("touch", "started"))


# What a machine with namespaces lacks with each Landlock ABI: a supervised run has a pid namespace,
# and a broker that connects its sockets.
SENTENCES = {} if SUPERVISED else {abi: ("signalled", "abstract") for abi in range(1, 6)}


def register_abi(abi):
    @test(f"R4 Landlock ABI {abi} with namespaces")
    def with_namespaces(fx):
        machine = f"landlock-abi={abi}"
        if abi in SENTENCES:
            refuses(fx, machine, *SENTENCES[abi])
        else:
            starts(fx, machine)
        holds_writes(fx, machine)
        for form in ("chmod", "fchmod", "setxattr"):
            refused(boxed(fx, "meta", form, fx.outside / "file", flags=BEST, without=machine))

    @test(f"R4 Landlock ABI {abi} without namespaces")
    def without_namespaces(fx):
        machine = f"userns,landlock-abi={abi}"
        open_truncate = abi < 3 and not SUPERVISED
        said = refuses_static(fx, machine, "/tmp", "modes, owners, times", "your other terminals",
                              *SENTENCES.get(abi, ()))
        (contains if open_truncate else lacks)(said, "truncate")
        # Opening read-only with O_TRUNC is a truncate, too.
        holds_writes(fx, machine, but=["open rdonly+trunc {}/file"] if open_truncate else [])
        truncated = boxed(fx, "truncate", fx.outside / "file", flags=BEST, without=machine)
        equal(truncated.status, 0 if open_truncate else 1, "truncate")


for abi in range(1, 7):
    register_abi(abi)


def register_unsupervised(machine, why):
    @test(f"R4 system calls cannot be held ({machine}): refused, with the way out")
    def cannot_supervise(fx):
        result = fx.sandbash("touch", "started", without=machine)
        equal(result.status, 125)
        equal(result.stdout, "")
        lines = result.stderr.splitlines()
        contains(lines[0], f"sandbash: cannot supervise the command: {why}")
        contains(lines[1], "hint: --static ")
        check(not fx.exists("started"))
        works(fx.sandbash("touch", "started"), "control")

    @test(f"R4 system calls cannot be held ({machine}): --best-effort says so and runs static")
    def runs_static(fx):
        result = fx.sandbash(*BEST, "sh", "-c", "cat /proc/self/stat; touch started",
                             without=machine)
        equal(result.status, 0)
        contains(result.stderr, "sandbash: warning: cannot supervise the command")
        contains(result.stderr, "nobody will be asked")
        check(fx.exists("started"))
        # one process becomes the command: there is no supervisor, nor pids of its own
        check(int(result.stdout.split()[0]) > 2)
        holds_writes(fx, machine, errors=(*CROSSING, "EROFS"))
        fx.git_project()
        for words in (["open", "wronly", ".git/config"], ["meta", "chmod", fx.outside / "file"]):
            refused(boxed(fx, *words, flags=BEST, without=machine), (*CROSSING, "EROFS"))
        works(boxed(fx, "open", "wronly", ".git/HEAD", flags=BEST, without=machine), "neighbour")

    @test(f"R4 system calls cannot be held ({machine}): --static needs none")
    def needs_none(fx):
        said = fx.sandbash(*STATIC, "touch", "started", without=machine).stderr
        lacks(said, "supervise")
        equal(fx.exists("started"), said == "", "refused, and says what else is missing; or runs")


if SUPERVISED:
    register_unsupervised("listener", "another program supervises this one already")
    register_unsupervised("seccomp", "the kernel does not hold system calls")


@test("R4 no Landlock, but namespaces")
def no_landlock(fx):
    if SUPERVISED:
        result = fx.sandbash("touch", "started", without="landlock")
        equal((result.status, result.stderr), (0, ""), "the broker and the mounts hold it all")
    else:
        refuses(fx, "landlock", "Landlock")
    holds_writes(fx, "landlock")
    for form in ("chmod", "fchmod", "setxattr", "utimensat"):
        refused(boxed(fx, "meta", form, fx.outside / "file", flags=BEST, without="landlock"))
    # Its mounts are not left by way of a process that has the host's.
    with Victim(fx) as victim:
        before = signature(fx.outside)
        for words in (["open", "wronly", f"/proc/{victim.pid}/root{fx.outside}/file"],
                      ["open", "wronly+creat", f"/proc/{victim.pid}/cwd/../../outside/new"],
                      ["attach", str(victim.pid)],
                      ["memory", "writev", str(victim.pid), victim.address],
                      ["getfd", str(victim.pid), victim.descriptor]):
            refused(boxed(fx, *words, flags=BEST, without="landlock"),
                    CROSSING + ("ENOENT", "ESRCH"), str(words))
        unchanged(before, fx.outside)


@test("R4 no Landlock, but namespaces: secrets and guarded names are held")
def no_landlock_masks(fx):
    fx.git_project()
    fx.write(fx.home / ".netrc", "password")
    before = signature(fx.path(".git/config"))
    attacks = ([["open", "wronly+creat", ".git/hooks/pre-commit"]] if SUPERVISED else
               [["open", "wronly", ".git/config"], ["rename", "plain", ".git", "moved"]])
    for words in (["read", fx.home / ".netrc"], *attacks):
        refused(boxed(fx, *words, flags=BEST, without="landlock"), CROSSING, str(words))
    unchanged(before, fx.path(".git/config"))
    works(boxed(fx, "open", "wronly+creat", ".git/COMMIT_EDITMSG", flags=BEST, without="landlock"))


@test("R4 namespaces, but no mounts (as AppArmor on Ubuntu has it)")
def no_mounts(fx):
    fx.git_project()
    refuses_static(fx, "mounts", "/tmp", "modes, owners, times", "your other terminals",
                   "inside writable directories can be changed")
    holds_writes(fx, "mounts")
    if SUPERVISED:
        for words in (["meta", "chmod", fx.outside / "file"], 
                      ["open", "wronly+creat", ".git/hooks/pre-commit"]):
            refused(boxed(fx, *words, flags=BEST, without="mounts"), message=str(words))
    result = fx.sandbash(*BEST, "id", "-u", without="mounts")
    equal(result.stdout, f"{os.getuid()}\n", "and it is not left in half a namespace")
    result = fx.sandbash(*BEST, "stat", "-c", "%u", ".", without="mounts")
    equal(result.stdout, f"{os.getuid()}\n")


@test("R4 mounts that fail half way leave nothing behind")
def half_way(fx):
    if SUPERVISED:  # nothing on such a machine tells beforehand that it will fail
        contains(refuses(fx, "tmpfs"), "half way" if not ROOT else "")
    else:
        refuses(fx, "tmpfs", "/tmp", "modes, owners, times")
    holds_writes(fx, "tmpfs")
    for name in ("mnt", "ipc", "user"):
        result = fx.sandbash(*BEST, "readlink", f"/proc/self/ns/{name}", without="tmpfs")
        equal(result.stdout.strip(), os.readlink(f"/proc/self/ns/{name}"), name)
    result = fx.sandbash(*BEST, "sh", "-c", "pwd -P; stat -c %i / .", without="tmpfs")
    equal(result.stdout.split(), [str(fx.project), str(os.stat("/").st_ino),
                                  str(os.stat(fx.project).st_ino)])
    works(fx.sandbash("true"), "control")


def no_seccomp(fx):
    refuses(fx, "seccomp", "seccomp")
    holds_writes(fx, "seccomp")
    # The namespaces that can be made now open nothing.
    attack = (f"unshare -Urm sh -c 'mount -o remount,rw,bind / ; mount --bind / /mnt; "
              f"echo x >{fx.outside}/new; umount -l /; chmod 604 {fx.outside}/file'")
    before = signature(fx.outside)
    fx.sandbash(*BEST, "sh", "-c", attack, without="seccomp")
    unchanged(before, fx.outside)


def no_seccomp_flat(fx):
    refuses(fx, "userns,seccomp", "seccomp", "modes, owners, times")
    holds_writes(fx, "userns,seccomp")


if not SUPERVISED:
    test("R4 no seccomp filter")(no_seccomp)
    test("R4 no seccomp filter and no namespaces")(no_seccomp_flat)


SOCKETS = """
import errno, os, select, socket, sys, threading
def step(name, act):
    try:
        print(name, act(), flush=True)
    except OSError as error:
        print(name, error.strerror, flush=True)
def local(kind=socket.SOCK_STREAM):
    server = socket.socket(socket.AF_INET, kind)
    server.bind(("127.0.0.1", 0))
    if kind == socket.SOCK_STREAM:
        server.listen()
    return server, server.getsockname()
def tcp():
    server, at = local()
    client = socket.socket()
    client.connect(at)
    peer, _ = server.accept()
    client.close()
    ends = peer.recv(1) == b""
    server.close()
    # a copy of the listener that the supervisor gives back a moment later resets what came meanwhile
    return ends, socket.socket().connect_ex(at) in (errno.ECONNREFUSED, errno.ECONNRESET)
def again():
    server, at = local()
    server.close()
    client = socket.socket()
    refused = client.connect_ex(at)
    server = socket.socket()
    server.bind(at)
    server.listen()
    return refused, client.connect_ex(at)
def waiting():
    server, at = local()
    client = socket.socket()
    client.setblocking(False)
    client.connect_ex(at)
    select.select([], [client], [])
    return client.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
def udp():
    server, at = local(socket.SOCK_DGRAM)
    client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for byte in (b"x", b"y"):
        client.connect(at)
        client.send(byte)
        assert server.recv(1) == byte
    server.close()
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(at)
    for i in range(1100):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            other.connect(at)
    return "ok"
def unix():
    server = socket.socket(socket.AF_UNIX)
    server.bind("socket")
    server.listen()
    client = socket.socket(socket.AF_UNIX)
    client.connect("socket")
    peer, _ = server.accept()
    client.close()
    os.unlink("socket")
    return peer.recv(1) == b""
def threads():
    found = []
    for act in (tcp, unix):
        thread = threading.Thread(target=lambda: found.append(act()))
        thread.start()
        thread.join()
    return found
def names():
    return len(socket.if_nameindex()) > 0
for act in (tcp, again, waiting, udp, unix, threads, names):
    step(act.__name__, act)
step("outside", lambda: socket.socket(socket.AF_UNIX).connect(sys.argv[1]))
"""


def register_sockets(machine, what):
    @test(f"R4 {what} ({machine}): sockets work as ever, and none leads outside")
    def connects(fx):
        fx.write("sockets.py", SOCKETS)
        server = socket.socket(socket.AF_UNIX)
        server.bind(str(fx.outside / "service"))
        server.listen()
        words = ["python3", "sockets.py", str(fx.outside / "service")]
        native = fx.run(*words)
        equal(native.stdout.splitlines()[-1], "outside None", "control")
        inside = fx.sandbash(*words, without=machine)
        equal(inside.stdout.splitlines()[:-1], native.stdout.splitlines()[:-1], inside.stderr)
        equal(inside.stdout.splitlines()[-1], "outside Permission denied")
        server.close()


if SUPERVISED:
    register_sockets("pidfd_getfd", "descriptors cannot be copied, as in Docker")
    register_sockets("pidfd-thread", "a thread's descriptors cannot be copied, as before 6.9")
    register_sockets("statx,close_range,process_vm_readv", "newer calls are missing")


ABSTRACT = """
import os, socket, sys, threading
def server(name, kind=socket.SOCK_STREAM):
    made = socket.socket(socket.AF_UNIX, kind)
    made.bind(name)
    made.listen(1)
    return made
def reach(name, kind=socket.SOCK_STREAM):
    client = socket.socket(socket.AF_UNIX, kind)
    error = client.connect_ex(name)
    return os.strerror(error) if error else client.send(b"x")
def echo(made):
    peer, _ = made.accept()
    return peer.recv(1)
name = b"\\0" + sys.argv[1].encode()
for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
    with server(name, kind) as made:
        print("own", reach(name, kind), echo(made))
with server("") as made:
    print("without a name", reach(made.getsockname()), echo(made))
with server(name) as made:
    thread = threading.Thread(target=lambda: print("thread", reach(name)))
    thread.start()
    thread.join()
    child = os.fork()
    if child == 0:
        print("child", reach(name), flush=True)  # its queue is full until the first is taken
        os._exit(0)
    print(echo(made), echo(made))
    os.waitpid(child, 0)
    child = os.fork()
    if child == 0:
        print("inherited", echo(made), flush=True)
        os._exit(0)
print("by another", reach(name))
os.waitpid(child, 0)
print("gone", reach(name))
print("outside", reach(b"\\0" + sys.argv[2].encode()))
"""


@test("R4 a run reaches abstract sockets of its own, and no others")
def abstract_sockets(fx):
    if not SUPERVISED:
        return
    fx.write("abstract.py", ABSTRACT)
    names = [f"fallback-{os.getpid()}-{fx.dir.name}-{place}" for place in ("in", "out")]
    with socket.socket(socket.AF_UNIX) as outside:
        outside.bind(f"\0{names[1]}")
        outside.listen(64)
        native = fx.run("python3", "abstract.py", *names).stdout.splitlines()
        equal(native[-1], "outside 1", "control")
        outside.setblocking(False)
        outside.accept()
        for machine in (None, "landlock-abi=5", "landlock-abi=1", "landlock", "pidfd-thread,landlock-abi=4",
                        "userns,landlock-abi=5", "userns,landlock-abi=1",
                        "wait-killable,userns,landlock-abi=1"):
            inside = fx.sandbash("python3", "abstract.py", *names, without=machine)
            equal(inside.stdout.splitlines()[:-1], native[:-1], f"{machine}: {inside.stderr}")
            lacks(inside.stdout.splitlines()[-1], "outside 1", machine)
            try:
                outside.accept()
                check(False, f"{machine}: somebody came")
            except BlockingIOError:
                pass


@test("R4 where /tmp is everybody's, a run changes only the names that it has made there")
def shared_temp(fx):
    """Of two names that are alike but for who made them."""
    if not SUPERVISED:
        return
    for place in ("/tmp", "/dev/shm"):
        there = Path(tempfile.mkdtemp(prefix="sandbash-fallback-", dir=place))
        try:
            fx.write(there / "file", "theirs")
            script = Path(tempfile.mkstemp(prefix="sandbash-fallback-", dir=place)[1])
            script.write_text("theirs")
            attacks = (f"echo bad >{script}", f"echo bad >>{there}/file", f"rm {script}",
                       f"mv {script} {script}.moved", f"chmod 600 {there}", f"touch {there}/new",
                       f"ln {script} {script}.second", f"rm -r {there}", f"mv own {script}",
                       f"ln -sf own {script}")
            before = (signature(there), signature(script))
            for attack in attacks:
                fx.write("own", "own")
                result = fx.sandbash(*BEST, "sh", "-c", attack, without="userns")
                check(result.status != 0, attack)
                check(fx.exists("own"), attack)
            equal((signature(there), signature(script)), before, place)
            own = f"{place}/sandbash-fallback-own.{os.getpid()}.{fx.dir.name}"
            work = (f"set -e; echo a >{own}; echo b >>{own}; cat {own}; chmod 600 {own}; "
                    f"mv {own} {own}.2; mkdir {own}; echo c >{own}/f; rmdir {own} 2>/dev/null || echo d >{own}/f; mv {own}/f {own}/g; "
                    f"ln -s f {own}/l; rm -r {own} {own}.2; cat {script}")
            result = fx.sandbash(*BEST, "sh", "-c", work, without="userns")
            equal((result.status, result.stdout), (0, "a\nb\ntheirs"), result.stderr)
            check(not os.path.exists(own) and not os.path.exists(own + ".2"))
            works(fx.run("sh", "-c", f"echo x >>{script}"), "control")
        finally:
            shutil.rmtree(there)
            script.unlink()


@test("R4 single calls are missing, each alone: work goes on")
def single_calls(fx):
    script = ("mkdir -p a b && umask 077 && echo x >a/f && mv a/f b/g && cat b/g && stat -c %a b/g && "
              "(cd b && ln -s g l && rm l) && rm -r a b; echo x >$1")
    for machine in ("pidfd_getfd", "pidfd-thread", "statx", "close_range", "process_vm_readv"):
        result = fx.sandbash("sh", "-c", script, "-", fx.outside / "new", without=machine)
        equal(result.stdout, "x\n600\n", f"{machine}: {result.stderr}")
        check(not (fx.outside / "new").exists(), machine)


@test("R4 --network=off on machines that lack what it needs")
def network(fx):
    """Held by other means, or named; never silently open."""
    server = socket.socket()
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        server.bind(("127.0.0.1", 0))
        server.listen(64)
        datagrams.bind(("127.0.0.1", 0))
        datagrams.setblocking(False)
        ports = {"udp-sendto": datagrams.getsockname()[1]}
        for machine in ("net", "userns", "userns,landlock-abi=3", "userns,landlock-abi=1",
                        "landlock,net", "net,landlock-abi=3", "userns,seccomp", "net,seccomp"):
            said = fx.sandbash("--network=off", "true", without=machine).stderr
            for how in ("tcp", "mptcp", "fastopen", "udp-sendto"):
                port = str(ports.get(how, server.getsockname()[1]))
                result = boxed(fx, "reach", how, "127.0.0.1", port, without=machine,
                               flags=[*BEST, "--network=off"])
                reached = result.status == 0
                if how == "udp-sendto":
                    try:
                        datagrams.recv(10)
                    except BlockingIOError:
                        reached = False
                if reached:
                    check("network" in said.replace("network namespace", ""),
                          f"{machine}: {how} got out, and nothing says so")
        for how in ("tcp", "udp-sendto"):
            port = str(ports.get(how, server.getsockname()[1]))
            works(act(fx, "reach", how, "127.0.0.1", port), f"control {how}")
    finally:
        server.close()
        datagrams.close()


@test("R4 --best-effort adds nothing where all is held")
def best_effort(fx):
    result = fx.sandbash(*BEST, "touch", "started")
    equal((result.status, result.stderr), (0, ""))
    holds_writes(fx, None)
    for form in ("chmod", "setxattr"):
        refused(boxed(fx, "meta", form, fx.outside / "file", flags=BEST))


@test("R4 a forged SANDBASH environment does not quiet it")
def forged(fx):
    """Only the kernel is asked whether this is a nested run."""
    env = {"SANDBASH": "1", "SANDBASH_MODE": "workspace-write", "SANDBASH_PROJECT": fx.project,
           "SANDBASH_FLAGS": "--best-effort --disable-sandbox --anywhere"}
    flags = [] if not SUPERVISED else STATIC
    result = fx.sandbash(*flags, "touch", "started", without="userns", env=env)
    equal(result.status, 125)
    check(not fx.exists("started"))
    refused(boxed(fx, "open", "wronly+creat", fx.outside / "new", env=env))
    refused(boxed(fx, "meta", "chmod", fx.outside, env=env))
    works(fx.sandbash("touch", "started", env=env))


@test("P1 the environment can only make it stricter", variants=("full", "flat"))
def environment_mode(fx):
    for value in ("danger-full-access", "workspace-write"):
        refused(boxed(fx, "open", "wronly+creat", fx.outside / "new", env={"SANDBASH_MODE": value}),
                CROSSING, value)
    fx.config("mode read-only\n")
    for value in ("danger-full-access", "workspace-write"):
        result = fx.sandbash("touch", "new", env={"SANDBASH_MODE": value})
        check(result.status != 0 and not fx.exists("new"), value)
    fx.config("")
    check(fx.sandbash("touch", "new", env={"SANDBASH_MODE": "read-only"}).status != 0)
    check(not fx.exists("new"))
    result = fx.sandbash("touch", "new", env={"SANDBASH_MODE": "nonsense"})
    check(result.status != 0 or fx.exists("new"))
    works(fx.sandbash("touch", "new"))


@test("R4 a profile that refuses unshare and leaves clone: mounts hold, and --doctor says the same")
def no_unshare(fx):
    for machine in ("unshare", "unshare,landlock"):
        doctor = fx.sandbash("--doctor", without=machine)
        contains(doctor.stdout, "ok   mount namespace")
        if not SUPERVISED and "landlock" in machine:
            continue  # of which a static run needs the other half
        equal(doctor.status, 0, machine)
        contains(doctor.stdout, "a full sandbox is possible here")
        starts(fx, machine)
        victim = fx.write(fx.outside / "file", "text")
        works(act(fx, "open", "wronly", victim), "control")
        refused(boxed(fx, "open", "wronly", victim, without=machine), (*CROSSING, "EROFS"))
        works(boxed(fx, "open", "wronly+creat", "inside", without=machine), "neighbour")


run_all()
