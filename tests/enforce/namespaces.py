"""S3: no new namespaces, no mounting, no privileges: what is confined cannot unconfine itself."""

import os
import shutil

from attack import DENIED, act, boxed, refused, signature, unchanged, works
from tap import ALL_VARIANTS, SUPERVISED, check, contains, equal, run_all, test

ROOT = os.getuid() == 0
NAMESPACES = ("user", "mount", "pid", "net", "ipc", "uts", "cgroup", "time", "user+mount+pid+net")
NO = DENIED + ("ENOSYS",)
# What makes the control work: a mount namespace of its own, so that this machine keeps its mounts.
OWN_MOUNTS = ["unshare", "-m"] if ROOT else ["unshare", "-Urm"]
OWN_UTS = ["unshare", "-u"] if ROOT else ["unshare", "-Uru"]


def register(how, kind):
    @test(f"S3 no new namespace: {how} {kind}", variants=ALL_VARIANTS)
    def namespace(fx):
        refused(boxed(fx, how, kind), NO)
        if ROOT or "user" in kind:
            works(act(fx, how, kind), "control")
        else:
            works(fx.run("unshare", "-Ur", fx.tool("act"), how, kind), "control")
        works(fx.sandbash("python3", "-c", "import threading as t, subprocess as s; "
                          "x = t.Thread(target=s.run, args=(['true'],)); x.start(); x.join()"))


for how, kinds in (("unshare", NAMESPACES), ("clone", ("user", "mount+user")),
                   ("clone3", ("user", "mount+user"))):
    for kind in kinds:
        register(how, kind)

MOUNTS = ("tmpfs", "bind", "private", "open_tree", "open_tree_attr", "fsopen", "fsmount", "setattr")


@test("ESCAPES kernel surface: mounting, remounting and unmounting", variants=ALL_VARIANTS)
def mounts(fx):
    (fx.project / "m").mkdir()
    for how in MOUNTS + ("proc", "remount", "umount", "fspick", "pivot"):
        for where in (fx.project / "m", "/", fx.home, fx.project, "/tmp"):
            refused(boxed(fx, "mount", how, where), NO + ("EINVAL",), f"{how} {where}")
    for how in MOUNTS:
        if how == "setattr":
            continue  # needs a mount of its own; "bind" shows that mounting works
        if how == "private":
            works(fx.run(*OWN_MOUNTS, fx.tool("act"), "mount", how, "/"), f"control {how}")
        else:
            works(fx.run(*OWN_MOUNTS, fx.tool("act"), "mount", how, fx.project / "m"),
                  f"control {how}")
    works(fx.sandbash("sh", "-c", "df . >/dev/null && cat /proc/self/mountinfo >/dev/null"))


@test("ESCAPES kernel surface: the protection of a guarded name is not unmounted")
def unmount(fx):
    fx.git_project()
    config = fx.path(".git/config")
    before = signature(config)
    for how in ("umount", "remount", "setattr", "bind"):
        refused(boxed(fx, "mount", how, config), NO, how)
    fx.sandbash("sh", "-c",
                "umount .git/config; umount -l .git/hooks; mount -o remount,rw .git/config; "
                "unshare -Urm sh -c 'umount .git/config; echo evil >>.git/config'")
    unchanged(before, config)
    works(boxed(fx, "read", config))
    works(act(fx, "open", "wronly+append", config), "control")


@test("ESCAPES kernel surface: setns", variants=ALL_VARIANTS)
def setns(fx):
    for kind in ("user", "mount", "net", "uts", "ipc", "pid"):
        name = {"mount": "mnt"}.get(kind, kind)
        for pid in ("self", str(os.getpid())):
            # a process outside is not there to be named, where the run has pids of its own
            absent = ("ENOENT",) if SUPERVISED and pid != "self" else ()
            refused(boxed(fx, "setns", f"/proc/{pid}/ns/{name}", kind), NO + ("EINVAL",) + absent,
                    kind)
    works(fx.run(*OWN_UTS, fx.tool("act"), "setns", "/proc/self/ns/uts", "uts"), "control")


@test("ESCAPES paths: chroot", variants=ALL_VARIANTS)
def chroot(fx):
    refused(boxed(fx, "chroot", fx.outside, "new"))
    check(not (fx.outside / "new").exists())
    control = ["unshare", "-Ur"] if not ROOT else []
    works(fx.run(*control, fx.tool("act"), "chroot", fx.outside, "new"), "control")
    works(boxed(fx, "cd", fx.project, "new"))


@test("S3 capabilities are all zero and no privilege can be gained", variants=ALL_VARIANTS)
def capabilities(fx):
    status = fx.sandbash("cat", "/proc/self/status").stdout
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        equal(fields[name], "0000000000000000", name)
    if ROOT or fx.variant != "flat":  # only with privilege can the bounding set be emptied
        equal(fields["CapBnd"], "0000000000000000", "CapBnd")
    equal(fields["NoNewPrivs"], "1")
    equal(fields["Seccomp"], "2")
    check(int(fields["Seccomp_filters"]) > 0)
    control = fx.run("cat", "/proc/self/status").stdout
    contains(control, "Seccomp:\t0")


@test("S3 capabilities do not come back by exec", variants=ALL_VARIANTS)
def across_exec(fx):
    for words in (["cat", "/proc/self/status"], ["sh", "-c", "sh -c 'cat /proc/self/status'"],
                  ["setpriv", "--inh-caps=+all", "--ambient-caps=+all", "cat",
                   "/proc/self/status"]):
        out = fx.sandbash(*words).stdout
        for line in out.splitlines():
            if line.startswith(("CapPrm", "CapEff", "CapAmb")):
                check(line.endswith("\t0000000000000000"), f"{words}: {line}")


@test("ESCAPES kernel surface: setuid and setgid programs", variants=ALL_VARIANTS)
def setuid(fx):
    tool = fx.project / "id"
    shutil.copy(shutil.which("id"), tool)
    fx.dir.chmod(0o755)
    if ROOT:
        os.chown(tool, 65534, 65534)
        tool.chmod(0o6755)
        equal(fx.run("./id", "-u").stdout, "65534\n", "control: the program changes identity")
        equal(fx.sandbash("./id", "-u").stdout, "0\n")
        equal(fx.sandbash("./id", "-g").stdout, "0\n")
    else:
        # It reads the age of the password from /etc/shadow, which only its setuid bit allows.
        control = fx.run("passwd", "-S").stdout
        check(len(control.split()) > 2, f"control: a setuid program at work: {control}")
        check(len(fx.sandbash("passwd", "-S").stdout.split()) <= 2)
        equal(fx.sandbash("./id", "-u").stdout, f"{os.getuid()}\n")
    works(fx.sandbash("./id"))


@test("S12 user and group are the caller's", variants=ALL_VARIANTS)
def identity(fx):
    equal(fx.sandbash("id", "-u").stdout, f"{os.getuid()}\n")
    equal(fx.sandbash("id", "-g").stdout, f"{os.getgid()}\n")
    fx.sandbash("touch", "mine")
    info = os.stat(fx.path("mine"))
    equal((info.st_uid, info.st_gid), (os.getuid(), os.getgid()))
    equal(fx.sandbash("stat", "-c", "%u", "mine").stdout, f"{os.getuid()}\n")


@test("S3 a filesystem mounted below outside is read-only too")
def submount(fx):
    """As with a second disk: the whole tree is closed, not only the root filesystem."""
    (fx.outside / "disk").mkdir()
    (fx.project / "disk").mkdir()
    words = fx.argv(fx.tool("act"), "open", "wronly+creat")
    meta = fx.argv(fx.tool("act"), "meta", "chmod")
    script = ('mount -t tmpfs x "$1/disk" && touch "$1/disk/file" && '
              f'{" ".join(words)} "$1/disk/new"; echo $?; '
              f'{" ".join(meta)} "$1/disk/file"; echo $?; '
              'touch "$1/disk/control" && echo control')
    result = fx.run(*OWN_MOUNTS, "sh", "-c", script, "-", fx.outside)
    equal(result.stdout, "1\n1\ncontrol\n", result.stderr)
    result = fx.run(*OWN_MOUNTS, "sh", "-c", script, "-", fx.project)
    equal(result.stdout, "0\n0\ncontrol\n", "a disk mounted in the project stays writable "
          + result.stderr)


@test("S3 what the machine mounts read-only stays so, also in the project")
def read_only_mounts(fx):
    (fx.project / "disk").mkdir()
    words = " ".join(fx.argv("sh", "-c", "'touch inside && touch disk/new'"))
    granted = " ".join(fx.argv("--allow-write=disk", "touch", "disk/new"))
    script = ("mount --bind disk disk && mount -o remount,ro,bind disk && ! touch disk/new; "
              "echo $?; "
              f"{words}; {granted}; test -e disk/new; echo $?; test -e inside; echo $?")
    result = fx.run(*OWN_MOUNTS, "sh", "-c", script)
    equal(result.stdout, "0\n1\n0\n", result.stderr)


# What containers and rescue systems do without.
ODD = {
    "no /proc": "umount -l /proc 2>/dev/null || mount -t tmpfs x /proc",
    "an empty /proc": "mount -t tmpfs x /proc",
    "no /dev/shm": "umount -l /dev/shm 2>/dev/null; umount -l /dev/shm 2>/dev/null; true",
    "an empty /dev": "mount -t tmpfs x /dev",
    "a read-only /tmp": "mount -t tmpfs -o ro x /tmp",
    "a read-only root": "mount -o remount,ro,bind /",
    "no /sys": "mount -t tmpfs x /sys",
    "an empty /dev/pts": "mount -t tmpfs x /dev/pts",
}


@test("S13 odd machines: everything holds, or nothing starts")
def odd(fx):
    fx.git_project()
    fx.write(fx.home / ".netrc", "password")
    victim = fx.write(fx.outside / "victim", "content")
    victim.chmod(0o644)
    config = fx.read(".git/config")
    attack = ('touch "$1/new"; echo x >"$1/victim"; chmod 604 "$1/victim"; cat ~/.netrc; '
              'echo evil >>.git/config; exit 0')
    words = " ".join(f"'{word}'" for word in fx.argv("sh", "-c", attack, "-", fx.outside))
    for name, change in ODD.items():
        result = fx.run(*OWN_MOUNTS, "sh", "-c", f"{change} && {words}")
        check(result.status in (0, 125), f"{name}: {result}")
        equal((victim.read_text(), victim.stat().st_mode & 0o777), ("content", 0o644), name)
        equal(os.listdir(fx.outside), ["victim"], name)
        check("password" not in result.stdout, name)
        equal(fx.read(".git/config"), config, name)
    works(fx.run("sh", "-c", attack, "-", fx.outside), "control")
    check(fx.read(".git/config") != config and (fx.outside / "new").exists(), "control")


@test("USERS no mount of a run reaches the machine, even when its mounts are shared")
def propagation(fx):
    """systemd shares all mounts; what a run mounts must stay its own."""
    fx.git_project()
    words = " ".join(fx.argv("sh", "-c", "'test -w . && ! test -w /etc'"))
    script = (f"cat /proc/self/mountinfo >before; {words}; echo $?; "
              "cat /proc/self/mountinfo >after; cmp before after")
    result = fx.run(*OWN_MOUNTS, "--propagation", "shared", "sh", "-c", script)
    equal((result.status, result.stdout), (0, "0\n"), result.stderr)
    contains(fx.read("before"), "shared:", "control: they are shared")


@test("S3 a bind mount elsewhere of the project is no way around its protection")
def bind_alias(fx):
    fx.git_project()
    (fx.outside / "alias").mkdir()
    config = fx.outside / "alias" / ".git" / "config"
    before = fx.read(".git/config")
    words = " ".join(fx.argv(fx.tool("act"), "open", "wronly", str(config)))
    read = " ".join(fx.argv("cat", str(config)))
    script = f'mount --bind . "$1/alias" && {words}; echo $?; {read} >/dev/null; echo $?'
    result = fx.run(*OWN_MOUNTS, "sh", "-c", script, "-", fx.outside)
    equal(result.stdout, "1\n0\n", result.stderr)
    equal(fx.read(".git/config"), before)


@test("S3 a bind mount of a secret elsewhere")
def bind_secret(fx):
    """The other name is not ours to know; but the mask must not have been put on it either."""
    fx.write(fx.home / ".netrc", "password")
    fx.write(fx.home / "plain", "plain")
    words = " ".join(fx.argv("cat", str(fx.home / ".netrc")))
    script = f'mount --bind "$HOME/plain" "$HOME/.netrc" && {words}; echo $?'
    result = fx.run(*OWN_MOUNTS, "sh", "-c", script)
    equal(result.stdout, "1\n", result.stderr)


run_all()
