"""system.py - C3: where commands are root's, no yes to a directory is one to what the machine obeys in it."""

import ctypes
import os
import pathlib

from mcp import Server
from own_mounts import succeeds, unmount
from person import Person
from tap import check, contains, equal, lacks, run_all, skip, test

BOTH = ("full", "flat")
ROOT = os.geteuid() == 0
TOPS = ("/etc", "/usr/local", "/var/spool", "/var/lib")
# a file of the machine, and the directory around it that somebody may have said yes to
NAMES = (("/etc/cron.d/sandbash-test", "/etc"), ("/etc/profile.d/sandbash-test.sh", "/etc"), ("/etc/ld.so.preload", "/etc"),
         ("/etc/sudoers.d/sandbash-test", "/etc"), ("/etc/systemd/system/sandbash-test.service", "/etc"),
         ("/etc/sudoers.d/commondir", "/etc"),  # a name of git's, whose contents could be harmless
         ("/etc/sandbash-test.conf", "/etc"), ("/etc/gdb/gdbinit", "/etc"), ("/etc/tmux.conf", "/etc"), ("/etc/sandbash-other.d/x", "/etc"),
         ("/usr/local/lib/python3.11/dist-packages/x.pth", "/usr/local"), ("/usr/local/share/sandbash-other", "/usr/local"),
         ("/usr/local/bin/sandbash-test", "/usr/local"), ("/usr/local/lib/systemd/system/x.service", "/usr/local"),
         ("/var/spool/cron/crontabs/root", "/var/spool"), ("/var/lib/dpkg/info/sandbash-test.postinst", "/var/lib"))
PLAIN = (("/etc/sandbash-test.conf", "/etc/sandbash-test.conf"), ("/etc/sandbash-test.d/x", "/etc/sandbash-test.d"),
         ("/etc/sandbash-test.d/y/x", "/etc/sandbash-test.d"), ("/usr/local/share/sandbash-test", "/usr/local/share"),
         ("/usr/local/lib/sandbash-test/x", "/usr/local/lib/sandbash-test"), ("/var/lib/sandbash-test/x", "/var/lib"))


def others(fx):
    """Whoever is not root could not write there without a sandbox either."""
    for path, top in NAMES:
        check(fx.run("touch", path).status != 0, path)
        check(fx.sandbash("--consent=deny", f"--allow-write={top}", "touch", path).status != 0, path)
    equal(fx.sandbash("touch", "neighbour").status, 0)


def own_machine(function):
    """What a test writes to these directories is in memory, and seen by nobody but what it starts."""

    def within(fx):
        if not ROOT:
            return others(fx)
        libc = ctypes.CDLL(None)
        if libc.unshare(0x20000) != 0 or libc.mount(None, b"/", None, 0x44000, None) != 0:  # as own_mounts.py
            skip("needs mounts of its own")
        mounted = []
        try:
            for number, top in enumerate(TOPS):
                place = fx.dir / f"machine-{number}"
                (place / "upper").mkdir(parents=True)
                (place / "work").mkdir()
                if not succeeds(["mount", "-t", "overlay", "overlay", "-o",
                                 f"lowerdir={top},upperdir={place}/upper,workdir={place}/work", top]):
                    skip("needs overlayfs")
                mounted.append(top)
            for path, _ in NAMES + PLAIN:
                pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
            function(fx)
        finally:
            unmount(*mounted)

    return within


def write(fx, path, *flags):
    """Does a command write there?"""
    file = pathlib.Path(path)
    file.unlink(missing_ok=True)
    result = fx.sandbash("--consent=deny", *flags, "sh", "-c", 'echo x >"$1"', "-", path)
    made = file.exists() and file.read_text() == "x\n"
    file.unlink(missing_ok=True)
    return made, result


@test("C3 a rule for a directory is none for what the machine obeys in it; one that names it is", BOTH)
@own_machine
def by_rule(fx):
    for path, top in NAMES:
        equal(fx.run("sh", "-c", 'echo x >"$1" && rm "$1"', "-", path).status, 0, f"the control: {path}")
        made, result = write(fx, path, f"--allow-write={top}")
        check(not made, path)
        contains(result.stderr, f"--allow-write={path}", path)
        explained = fx.sandbash(f"--allow-write={top}", "--explain", path).stdout
        for op in ("modify", "create", "delete"):
            contains(explained, f"  {op:8}ask ", path)
        for opens in (path, os.path.dirname(path)):
            if opens != top:
                check(write(fx, path, f"--allow-write={top}", f"--allow-write={opens}")[0], f"{opens} opens {path}")
        lacks(fx.sandbash(f"--allow-write={path}", "--explain", path).stdout, "ask")
    for path, top in PLAIN:
        check(write(fx, path, f"--allow-write={top}")[0], f"the neighbour: {path}")
        lacks(fx.sandbash(f"--allow-write={top}", "--explain", path).stdout, "ask")


@test("C3 nor by another door", BOTH)
@own_machine
def doors(fx):
    cron = pathlib.Path("/etc/cron.d")
    fx.run("sh", "-c", "mkdir -p /etc/q/w; echo x >/etc/q/x; echo x >/etc/q/w/x; echo x >/etc/cron.d/there; rm -rf /etc/cron.yearly"
           "; mkdir -p /usr/local/q/systemd; rm -rf /usr/local/lib")
    before = sorted(cron.iterdir()), (cron / "there").stat().st_mode
    for door in ("mv /etc/q/x /etc/cron.d/x", "ln /etc/q/x /etc/cron.d/x", "ln -s /etc/q/x /etc/cron.d/x", "mkfifo /etc/cron.d/x",
                 "mv /etc/q/w /etc/cron.yearly", "ln -s q /etc/cron.yearly", "mv /etc/cron.d /etc/elsewhere", "rm /etc/cron.d/there",
                 "chmod 777 /etc/cron.d/there", "ln -s /etc/cron.d/x out", "mv /usr/local/q /usr/local/lib", "ln -s q /usr/local/lib"):
        result = fx.sandbash("--consent=deny", "--allow-write=/etc", "--allow-write=/usr/local", "sh", "-c", door)
        check(result.status != 0, door)
        equal((sorted(cron.iterdir()), (cron / "there").stat().st_mode), before, door)
        check(not os.path.lexists("/etc/cron.yearly") and not os.path.lexists(fx.path("out")), door)
    for door in ("mv /etc/q/x /etc/q/y", "ln /etc/q/y /etc/q/x", "mkdir /etc/cron.d/sub", "mv /etc/q/w /etc/q/v", "rm -r /etc/q/v",
                 "ln -s /usr/bin/env out"):
        result = fx.sandbash("--consent=deny", "--allow-write=/etc/q", "--allow-write=/etc", "sh", "-c", door)
        equal(result.status, 0, f"the neighbour: {door}: {result.stderr}")


@test("C3 a rule that names a directory there opens no git directory in it", BOTH)
@own_machine
def repositories(fx):
    fx.run("sh", "-c", "mkdir -p /etc/q && git init -q /etc/q && git init -q t && echo x >t/.git/hooks/pre-commit && chmod +x t/.git/hooks/pre-commit")
    before = pathlib.Path("/etc/q/.git/config").read_text()
    flags = ("--consent=deny", "--allow-write=/etc/q", "--allow-write=/etc")
    for act in ("git -C /etc/q config core.fsmonitor ./x", "echo x >/etc/q/.git/hooks/pre-commit", "echo x >/etc/q/.git/unknown",
                "mkdir /etc/q/.vscode; echo x >/etc/q/.vscode/tasks.json", "mv t /etc/q/t", "mv /etc/q/.git/hooks /etc/q/.git/x",
                "ln -s /x /etc/q/.git/COMMIT_EDITMSG"):
        check(fx.sandbash(*flags, "sh", "-c", act).status != 0, act)
    equal(pathlib.Path("/etc/q/.git/config").read_text(), before)
    for act in ("git -C /etc/q -c user.name=a -c user.email=a@b commit -q --allow-empty -m x", "git -C /etc/q config user.name a",
                "mkdir m; echo x >m/x; mv m /etc/q/m"):
        result = fx.sandbash(*flags, "sh", "-c", act)
        equal(result.status, 0, f"the neighbour: {act}: {result.stderr}")
    equal(fx.run("sh", "-c", "echo x >/etc/q/.git/hooks/pre-commit").status, 0, "the control")


@test("C3 a project there is worked in, and opens nothing beside it", BOTH)
@own_machine
def project(fx):
    for place in ("/etc/sandbash-test.d", "/usr/local/src/sandbash-test"):
        os.makedirs(place, exist_ok=True)
        words = ("sh", "-c", "echo x >here && mkdir d && mv here d/there && echo x >d/x; echo x >../beside")
        result = fx.sandbash("--anywhere", "--consent=deny", f"--allow-write={os.path.dirname(place)}", *words, cwd=place)
        check(os.path.exists(f"{place}/d/there") and os.path.exists(f"{place}/d/x"), result.stderr)
        equal(os.path.exists(f"{place}/../beside"), place.startswith("/usr"), place)  # /usr/local/src is named, /etc as a whole


@test("C3 an answer for a directory around it is none for it, and the question offers no such answer", BOTH)
@own_machine
def by_answer(fx):
    person = Person(fx, "sh", "-c", "for f in var/lib/foo.conf etc/cron.d/x etc/foo.conf var/lib/dpkg/x var/lib/bar.conf; do echo x >/$f; echo $f=$?; done")
    person.answer("2", "create", "/var/lib/foo.conf")
    person.term.expect("foo.conf=0")
    for path, why in (("/etc/cron.d/x", "commands that cron runs"), ("/etc/foo.conf", "settings of all users' programs"),
                      ("/var/lib/dpkg/x", "scripts of packages")):
        screen = person.answer("3", "create", path)
        contains(screen, why)
        lacks(screen, "this directory")
        person.term.expect(f"{path[1:]}=[1-9]")
    person.term.expect("bar.conf=0")
    person.end()
    check(not os.path.exists("/etc/cron.d/x"))


@test("C3 nor for an agent's file tools")
@own_machine
def by_tool(fx):
    server = Server(fx)
    server.answers = lambda params: "directory"
    server.data("write_file", path="/var/lib/foo.conf", content="1")
    server.asked.clear()
    server.answers = lambda params: "deny"
    server.data("write_file", path="/var/lib/bar.conf", content="2")
    equal(server.asked, [], "the neighbour")
    for path, why in (("/etc/cron.d/x", "cron obeys it later, outside: commands that cron runs"),
                      ("/etc/foo.conf", "everybody obeys it later, outside: settings of all users' programs")):
        server.asked.clear()
        equal(server.failure("write_file", path=path, content="x")["code"], "DENIED")
        equal(server.asked[0]["params"]["requestedSchema"]["properties"]["answer"]["enum"], ["once", "deny"])
        contains(server.asked[0]["params"]["message"], why)
        check(not os.path.exists(path))


@test("C3 a static run holds what is there")
@own_machine
def static(fx):
    pathlib.Path("/etc/cron.d/there").write_text("x\n")
    pathlib.Path("/etc/sandbash-test.conf").write_text("x\n")
    for path in ("/etc/cron.d/x", "/etc/cron.d/there", "/etc/profile", "/etc/sandbash-test.conf"):
        check(fx.sandbash("--static", "--allow-write=/etc", "sh", "-c", 'echo y >>"$1"', "-", path).status != 0, path)
    equal(fx.sandbash("--static", "--allow-write=/etc", "sh", "-c", "echo y >/etc/foo.conf").status, 0, "the neighbour: it is new")
    equal(fx.sandbash("--static", "--allow-write=/etc", "--allow-write=/etc/cron.d", "sh", "-c", "echo y >/etc/cron.d/x").status, 0)


@test("C3 it is no place for a fast root")
def fast(fx):
    result = fx.sandbash("--rule=fast /etc", "true")
    if ROOT:
        contains(result.stderr, "is guarded there (cron: commands that cron runs)")


run_all()
