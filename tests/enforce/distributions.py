"""R4: the kernels and containers that people have, played by taking away what they lack.

On each a run without any flag starts and says nothing, everyday work works, and what does damage is
refused; --doctor agrees.  Real kernels: scripts/test-machines.
"""

import os
import socket

from attack import Victim, act, signature, unchanged, works
from tap import BIN, check, contains, equal, run_all, test

# In the words of tests/lib/without.c.  What Landlock a distribution has is its own choice, too.
MACHINES = {
    "Ubuntu 22.04 (5.15)": "linux=5.15",
    "Ubuntu 24.04 (6.8, mounts forbidden by AppArmor)": "linux=6.8,mounts",
    "RHEL 9 (5.14, no Landlock)": "landlock,linux=5.14",
    "RHEL 9 (5.14, user namespaces switched off)": "linux=5.14,userns",
    "Debian 12 (6.1)": "linux=6.1",
    "Debian 13 (6.12)": "linux=6.12",
    "Amazon Linux 2023 (6.1, no Landlock)": "landlock,linux=6.1",
    "WSL2 (5.15, no Landlock)": "landlock,linux=5.15",
    "WSL2 (6.6, no Landlock)": "landlock,linux=6.6",
    "Crostini (6.6, no mounts)": "linux=6.6,mounts",
    "Docker on Ubuntu 22.04": "linux=5.15,docker",
    "Docker on Debian 12": "linux=6.1,docker",
}

# Each in a directory {d} of its own outside.
DAMAGE = ("open wronly {d}/file", "open wronly+creat {d}/new", "rename plain {d}/file {d}/new",
          "rename plain own-{n} {d}/new", "unlink {d}/file", "truncate {d}/file",
          "open rdonly+trunc {d}/file", "link path {d}/file own-link-{n}", "meta chmod {d}/file",
          "meta fchmod {d}/file", "meta utimensat {d}/file", "mkdir {d}/new",
          "open wronly+creat .git/hooks/pre-commit", "read {home}/.ssh/id_ed25519",
          "unix stream {home}/service", "unix stream @{abstract}", "kill kill {victim} USR1",
          "kill pidfd {victim} USR1")

WORK = """
git init -q -b main work && cd work && echo a >a && git add a && git commit -q -m a
git checkout -q -b side && git commit -q --allow-empty -m b && git rebase -q main
t=$(mktemp) && echo x >"$t" && d=$(mktemp -d) && mv "$t" "$d/x" && rm -r "$d"
mkfifo p && { echo through >p & } && test "$(cat p)" = through && wait && rm p
mkdir -p x/y && mv a x/y/b && ln x/y/b c && ln -s c l && chmod 600 l && touch -d @0 c
(sleep 1099 & kill $!; wait $! || test $? = 143) && trap 'echo told' USR1 && kill -USR1 $$
python3 -c 'import socket, threading
for family, at in ((socket.AF_UNIX, "s"), (socket.AF_INET, ("127.0.0.1", 0))):
    server = socket.socket(family); server.bind(at); server.listen()
    def ask():
        client = socket.socket(family); client.connect(server.getsockname()); client.send(b"x")
    thread = threading.Thread(target=ask); thread.start()
    assert server.accept()[0].recv(1) == b"x"; thread.join()'
cd .. && rm -rf work && echo worked
"""


def run_acts(fx, top, where, machine=None):
    """The status of each act of DAMAGE; top/N are the directories."""
    lines = []
    for number, words in enumerate(DAMAGE):
        words = words.format(d=top / str(number), n=number, **where)
        fx.write(f"own-{number}", "own")
        lines.append(f"'{fx.tool('act')}' {words} >/dev/null 2>&1; echo $?")
        (top / str(number)).mkdir(parents=True)
        fx.write(top / str(number) / "file", "content")
    before = signature(top)
    script = "\n".join(lines)
    if machine is None:
        result = fx.run("bash", "-c", script)
    else:
        result = fx.sandbash("bash", "-c", script, without=machine, timeout=120)
        unchanged(before, top, machine)
    return result.stdout.split()


def register(title, machine):
    @test(f"R4 {title}")
    def plain(fx):
        result = fx.sandbash("true", without=machine)
        equal((result.status, result.stderr), (0, ""), "it starts")
        result = fx.sandbash("bash", "-ec", WORK, without=machine, timeout=120)
        equal((result.status, result.stdout), (0, "told\nworked\n"), f"work: {result.stderr}")
        fx.git_project()
        fx.write(fx.home / ".ssh/id_ed25519", "secret")
        service, abstract = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
        with service, abstract, Victim(fx) as victim, Victim(fx) as control:
            service.bind(os.fspath(fx.home / "service"))
            name = f"distributions-{os.getpid()}-{fx.dir.name}"
            abstract.bind(f"\0{name}")
            for server in (service, abstract):
                server.listen(8)
            where = {"home": fx.home, "abstract": name}
            got = run_acts(fx, fx.outside / "box", {**where, "victim": victim.pid}, machine)
            equal([words for words, status in zip(DAMAGE, got, strict=True) if status != "1"], [],
                  "damage")
            equal(victim.ask(), ("intact", 0))
            check(not fx.exists(".git/hooks/pre-commit"), "planted")
            native = run_acts(fx, fx.outside / "control", {**where, "victim": control.pid})
            equal([words for words, status in zip(DAMAGE, native, strict=True) if status != "0"],
                  [], "control")
            check(control.ask()[1] > 0, "control")  # two that come at once are one
        doctor = fx.run(fx.tool("without"), machine, "--", BIN, "--doctor")
        equal(doctor.status, 0, doctor.stdout)
        contains(doctor.stdout, "a full sandbox is possible here")


for machine_title, machine_words in MACHINES.items():
    register(machine_title, machine_words)


if os.getuid() == 0:
    @test("R4 root of a container: a run starts, whichever process gives up its capabilities first")
    def root_of_a_container(fx):
        words = [fx.tool("without"), "docker", "--", "setpriv", "--bounding-set=-sys_ptrace,-sys_admin"]
        works(fx.run(*words, "true"), "control")
        for number in range(60):
            result = fx.run(*words, BIN, "sh", "-c", "echo >file && rm file")
            equal((result.status, result.stderr), (0, ""), f"run {number}")


@test("R4 gVisor: refused, and --doctor says why")
def gvisor(fx):
    for flags in ([], ["--best-effort"], ["--static"], ["--static", "--best-effort"]):
        result = fx.sandbash(*flags, "touch", "started", without="gvisor")
        equal(result.status, 125, str(flags))
        check(not fx.exists("started"), str(flags))
    result = fx.run(fx.tool("without"), "gvisor", "--", BIN, "--doctor")
    equal(result.status, 1)
    contains(result.stdout, "not possible here")
    works(fx.sandbash("touch", "started"), "control")
    works(act(fx, "open", "wronly+creat", fx.outside / "new"), "control")


run_all()
