"""Plain runs of sandbash, on whatever kernel this is: what does damage is refused, everyday work
is not, and --doctor knows.  Short, since it runs on emulated machines (scripts/test-machines).
"""

import os
import select
import socket
import stat
import subprocess

from attack import CROSSING, DENIED, Victim, act, attack, boxed, refused, works
from tap import BIN, FLAGS, check, contains, equal, run_all, skip, test

SLOW = 240  # seconds for a command: an emulated machine is twenty times slower
GONE = DENIED + ("ENOENT", "ESRCH", "ECONNREFUSED", "ENOTDIR", "ENOTSOCK", "EROFS")

DAMAGE = {
    "write": "open wronly {d}/file",
    "make": "open wronly+creat {d}/new",
    "rename": "rename plain {d}/file {d}/new",
    "rename out of the project": "rename plain {p}/file {d}/new",
    "unlink": "unlink {d}/file",
    "truncate": "truncate {d}/file",
    "truncate by a read-only open": "open rdonly+trunc {d}/file",
    "hard link into the project": "link path {d}/file {p}/new",
    "mode": "meta chmod {d}/file",
    "mode through a descriptor": "meta fchmod {d}/file",
    "times": "meta utimensat {d}/file",
}


def register(name, words):
    @test(f"damage: {name}")
    def damage(fx):
        attack(fx, words.split(), errors=CROSSING + ("EROFS",), timeout=SLOW)


for name, words in DAMAGE.items():
    register(name, words)


@test("damage: a hook is not planted, by a shell, a rename or a directory in its place")
def hook(fx):
    ways = ("echo 'touch ran' >.git/hooks/{n} && chmod +x .git/hooks/{n}",
            "echo 'touch ran' >x && chmod +x x && mv x .git/hooks/{n}",
            "mkdir h && cp -r .git/hooks/. h && echo >h/{n} && mv .git/hooks o && mv h .git/hooks")
    fx.git_project()
    for number, way in enumerate(ways):
        works(fx.run("bash", "-c", way.format(n=f"control-{number}"), timeout=SLOW), "control")
        check(fx.exists(f".git/hooks/control-{number}"), "control")
    works(fx.run("rm", "-rf", "o"))
    for number, way in enumerate(ways):
        result = fx.sandbash("bash", "-c", way.format(n="pre-commit"), timeout=SLOW)
        check(result.status != 0, f"way {number} works")
        check(not fx.exists(".git/hooks/pre-commit"), f"way {number} planted it")
    works(fx.sandbash("git", "commit", "-q", "--allow-empty", "-m", "x", timeout=SLOW), "neighbour")


@test("damage: a key in ~/.ssh is not read")
def key(fx):
    secret = fx.write(fx.home / ".ssh/id_ed25519", "secret\n")
    notes = fx.write(fx.home / "notes", "notes\n")
    works(act(fx, "read", secret), "control")
    refused(boxed(fx, "read", secret, timeout=SLOW), GONE)
    works(boxed(fx, "read", notes, timeout=SLOW), "neighbour")


@test("damage: a socket outside is not connected to")
def path_socket(fx):
    with socket.socket(socket.AF_UNIX) as outside, socket.socket(socket.AF_UNIX) as inside:
        for one, path in ((outside, fx.outside / "s"), (inside, fx.project / "s")):
            one.bind(os.fspath(path))
            one.listen(8)
        works(act(fx, "unix", "stream", fx.outside / "s"), "control")
        refused(boxed(fx, "unix", "stream", fx.outside / "s", timeout=SLOW), GONE)
        works(boxed(fx, "unix", "stream", fx.project / "s", timeout=SLOW), "neighbour")


@test("damage: an abstract socket outside is not connected to")
def abstract(fx):
    name = f"sandbash-machines-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"\0{name}")
        server.listen(8)
        works(act(fx, "unix", "stream", f"@{name}"), "control")
        refused(boxed(fx, "unix", "stream", f"@{name}", timeout=SLOW), GONE)


@test("damage: a process outside is not signalled")
def signalled(fx):
    said = fx.sandbash("true", timeout=SLOW).stderr
    if "--best-effort" in FLAGS and "programs outside can be signalled" in said:
        skip("neither pid namespaces nor Landlock's scopes, as sandbash says")
    with Victim(fx) as victim, Victim(fx) as control:
        works(act(fx, "kill", "kill", str(control.pid), "USR1"), "control")
        for way in ("kill", "group", "pidfd"):
            refused(boxed(fx, "kill", way, str(victim.pid), "USR1", timeout=SLOW), GONE, way)
        equal(victim.ask(), ("intact", 0))
        equal(control.ask(), ("intact", 1), "control")
    works(fx.sandbash("bash", "-c", "sleep 99 & kill $!; wait $!; test $? = 143", timeout=SLOW),
          "neighbour")


@test("damage: a device answers no ioctl")
def device(fx):
    size = "0x80081272"  # BLKGETSIZE64
    for name in sorted(os.listdir("/dev")):
        path = f"/dev/{name}"
        if stat.S_ISBLK(os.stat(path).st_mode) and act(fx, "ioctl", path, size).status == 0:
            result = boxed(fx, "ioctl", path, size, timeout=SLOW)
            check(result.status in (1, 2), f"{path}: {result}")  # 2: it cannot be opened
            works(fx.sandbash("bash", "-c", "echo >/dev/null && head -c1 /dev/urandom >x",
                              timeout=SLOW), "neighbour")
            return
    skip("no disk in /dev that can be opened")


# --- work ---------------------------------------------------------------------------------


WORK = {
    "git from init to rebase": """
        git init -q -b main . && echo a >a && git add a && git commit -q -m a
        git checkout -q -b side && echo b >b && git add b && git commit -q -m b
        git checkout -q main && echo c >c && git add c && git commit -q -m c
        git rebase -q main side && test "$(git log --oneline | wc -l)" = 3
        git config user.name Somebody && git gc -q && git stash list && git status --short""",
    "temporary files": """
        t=$(mktemp) && echo x >"$t" && d=$(mktemp -d) && mv "$t" "$d/x" && rm -r "$d"
        t=$(mktemp -p .) && rm "$t"
        t=/dev/shm/sandbash-machines-$$ && : >$t && rm $t""",
    "a pipe with a name": """
        mkfifo p && { echo through >p & } && test "$(cat p)" = through && wait && rm p""",
    "sort, with files of its own": """
        seq 20000 | sort -R -S 64k -T . | sort -n -S 64k | tail -n1 | grep -qx 20000""",
    "a file is saved as editors do": """
        echo 1 >f && cp f f~ && echo 2 >.f.swp && mv .f.swp f && chmod 600 f && touch -d @0 f
        ln -s f l && ln f h && truncate -s 0 h && test ! -s f && rm f f~ l h""",
    "an archive": """
        mkdir -p t/u && echo 1 >t/u/v && tar cf t.tar t && rm -r t
        tar xf t.tar && test -s t/u/v""",
}


def register_work(name, script):
    @test(f"work: {name}")
    def work(fx):
        words = ("bash", "-ec", script)
        works(fx.sandbash(*words, timeout=SLOW))
        for left in fx.project.iterdir():
            works(fx.run("rm", "-rf", left))
        works(fx.run(*words, timeout=SLOW), "control")


for name, script in WORK.items():
    register_work(name, script)


@test("work: a program is compiled and run")
def compile(fx):
    fx.write("hello.c", '#include <stdio.h>\nint main(void) { return puts("hello") < 0; }\n')
    script = "command -v gcc >/dev/null || exit 77; gcc -pipe -o hello hello.c && ./hello"
    if fx.run("bash", "-c", script, timeout=SLOW).status == 77:
        skip("no gcc")
    (fx.project / "hello").unlink()
    equal(fx.sandbash("bash", "-c", script, timeout=SLOW).stdout, "hello\n")


THREADS = """
import socket, socketserver, threading
class Echo(socketserver.StreamRequestHandler):
    def handle(self):
        self.wfile.write(self.rfile.readline())
class Unix(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    request_queue_size = 64
class Inet(socketserver.ThreadingMixIn, socketserver.TCPServer):
    request_queue_size = 64
wrong = []
def ask(family, address, number):
    with socket.socket(family) as client:
        client.connect(address)
        client.sendall(b"%d\\n" % number)
        if client.makefile().readline() != f"{number}\\n":
            wrong.append(number)
for kind, family, address in ((Unix, socket.AF_UNIX, "s"),
                              (Inet, socket.AF_INET, ("127.0.0.1", 0))):
    with kind(address, Echo) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}).start()
        clients = [threading.Thread(target=ask, args=(family, server.server_address, n))
                   for n in range(16)]
        for client in clients: client.start()
        for client in clients: client.join()
        server.shutdown()
print("wrong", len(wrong))
"""


@test("work: threads connect to a server of their own")
def threads(fx):
    equal(fx.sandbash("python3", "-c", THREADS, timeout=SLOW).stdout, "wrong 0\n")
    (fx.project / "s").unlink()
    equal(fx.run("python3", "-c", THREADS, timeout=SLOW).stdout, "wrong 0\n", "control")


@test("what runs in the background does not outlive the run")
def background(fx):
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as output:
        started = fx.start(BIN, "bash", "-c", "sleep 99 & echo started", stdin=subprocess.DEVNULL,
                           stdout=writer, stderr=subprocess.DEVNULL)
        os.close(writer)
        equal(started.wait(SLOW), 0)
        equal(os.read(reader, 99), b"started\n")
        check(select.select([output], [], [], 30)[0], "something still has the pipe")
        equal(output.read(), b"")


@test("--doctor says what a run without flags does")
def doctor(fx):
    fx.write(fx.home / ".ssh/id_ed25519", "secret\n")  # a home with something to hide, as all are
    verdict = fx.run(BIN, "--doctor", timeout=SLOW)
    # one word, so that no flags are added
    plain = fx.run("bash", "-c", f"exec '{BIN}' true", timeout=SLOW)
    print(f"# kernel {os.uname().release}, flags {FLAGS}")
    for line in (verdict.stdout + plain.stderr).splitlines():
        print(f"# {line}")
    if verdict.status == 0:
        equal(plain.status, 0, "--doctor promises a full sandbox")
    if plain.status != 0:
        contains(plain.stderr, "--best-effort", "what helps")
    if not FLAGS:
        equal(plain.status, 0)


run_all()
