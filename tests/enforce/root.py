"""ESCAPES as root: uid 0 owns the machine's files, so its kernel switches and devices need care.

For an ordinary user the same acts are refused as well, by the machine itself; only the
control, which needs root, is left out.  Controls open and do not write.
"""

import os
import stat

from attack import CROSSING, act, boxed, refused, works
from tap import ALL_VARIANTS, SUPERVISED, check, contains, equal, run_all, test

ROOT = os.getuid() == 0
NO = CROSSING + ("ENXIO", "ENODEV", "EINVAL")

SWITCHES = ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe",
            "/proc/sys/kernel/hostname",
            "/proc/sys/kernel/randomize_va_space", "/proc/sys/kernel/panic",
            "/proc/sys/vm/overcommit_memory", "/proc/sys/fs/protected_symlinks",
            "/proc/sys/net/ipv4/ip_forward", "/proc/sysrq-trigger", "/proc/sys/kernel/poweroff_cmd",
            "/sys/kernel/uevent_helper", "/sys/kernel/mm/transparent_hugepage/enabled",
            "/sys/power/state", "/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/release_agent",
            "/sys/fs/cgroup/unified/cgroup.procs", "/sys/fs/cgroup/memory/release_agent",
            "/proc/sys/fs/binfmt_misc/register", "/proc/sys/user/max_user_namespaces")


def existing(paths):
    return [path for path in paths if os.path.exists(path)]


@test("ESCAPES root: kernel switches in /proc and /sys", variants=ALL_VARIANTS)
def switches(fx):
    """core_pattern names a program that the kernel runs, outside every sandbox."""
    found = existing(SWITCHES)
    check(len(found) > 3)
    for path in found:
        for spelling in (path, "/proc/self/root" + path):
            result = fx.sandbash("python3", "-c", f"open({spelling!r}, 'r+b', buffering=0)")
            check(result.status != 0, f"{spelling} was opened for writing")
        if ROOT and os.access(path, os.W_OK):
            try:
                os.close(os.open(path, os.O_WRONLY))
            except OSError:
                continue  # a switch that this kernel keeps to itself
    if ROOT:
        os.close(os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY))  # control
    works(fx.sandbash("sh", "-c", "cat /proc/sys/kernel/core_pattern /proc/meminfo >/dev/null && "
                      "ls /sys >/dev/null"), "neighbour: reading")


def devices(kind):
    found = []
    for name in sorted(os.listdir("/dev")):
        path = f"/dev/{name}"
        try:
            mode = os.stat(path).st_mode
        except OSError:
            continue
        if kind(mode):
            found.append(path)
    return found


def openable(path, flags):
    """Can we open it outside?  Nothing is read or written; a busy or absent one says no."""
    try:
        os.close(os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY))
        return True
    except OSError:
        return False


@test("ESCAPES root: block devices, for writing and for reading", variants=ALL_VARIANTS)
def blocks(fx):
    """Who reads the disk reads every secret on it."""
    found = devices(stat.S_ISBLK)
    controlled = 0
    for path in found:
        for flags in ("wronly+nonblock", "rdwr+nonblock", "rdonly+nonblock"):
            if flags == "rdonly+nonblock" or not ROOT:
                result = boxed(fx, "open", flags, path)
            else:
                # act would write a byte where that works; Python only opens.
                how = "os.O_WRONLY" if flags.startswith("w") else "os.O_RDWR"
                result = fx.sandbash("python3", "-c",
                                     f"import os; os.open({path!r}, {how} | os.O_NONBLOCK)")
            if (fx.variant == "flat" and not SUPERVISED and flags == "rdonly+nonblock"
                    and result.status == 0):
                said = fx.sandbash("true", without="userns", variant="full").stderr
                contains(said, "device", "read without namespaces, and nothing says so")
            else:
                check(result.status != 0, f"{path} {flags}")
        controlled += openable(path, os.O_RDONLY)
    if ROOT and found:
        check(controlled > 0, "control: root opens them outside")
    works(fx.sandbash("sh", "-c",
                      "head -c 4 /dev/zero >/dev/null && head -c 4 /dev/urandom >/dev/null"))


# Devices that everybody may use, and that only pass bytes.
PLAIN = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty",
         "/dev/ptmx"}


@test("ESCAPES root: other devices, for writing", variants=ALL_VARIANTS)
def characters(fx):
    found = [path for path in devices(stat.S_ISCHR)
             if path not in PLAIN and os.path.realpath(path) == path]
    found = [path for path in found if not path.startswith(("/dev/tty", "/dev/vcs"))
             or path in ("/dev/tty0", "/dev/tty1", "/dev/ttyS0", "/dev/vcs", "/dev/vcs1")]
    script = ("import os, sys\n"
              "for path in sys.argv[1:]:\n"
              "    try:\n"
              "        os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_NOCTTY)\n"
              "        print(path)\n"
              "    except OSError:\n"
              "        pass\n")
    equal(fx.sandbash("python3", "-c", script, *found).stdout, "", "opened for writing")
    if ROOT:
        check(any(openable(path, os.O_RDWR) for path in ("/dev/kmsg", "/dev/loop-control",
                                                         "/dev/fuse")),
              "control")
    for path in PLAIN - {"/dev/tty"}:
        result = fx.sandbash("python3", "-c",
                             f"import os; os.open({path!r}, os.O_RDWR | os.O_NOCTTY)")
        if path in ("/dev/null", "/dev/zero", "/dev/ptmx"):
            works(result, path)


@test("ESCAPES root: memory of the kernel", variants=ALL_VARIANTS)
def memory(fx):
    for path in existing(("/dev/mem", "/dev/kmem", "/dev/port", "/proc/kcore")):
        result = fx.sandbash("python3", "-c", f"open({path!r}, 'rb', buffering=0).read(8)")
        check(result.status != 0, path)
        if ROOT and path == "/proc/kcore":
            with open(path, "rb", buffering=0) as file:
                equal(len(file.read(8)), 8, "control")
    works(fx.sandbash("cat", "/proc/version"))


@test("ESCAPES root: mknod of devices", variants=ALL_VARIANTS)
def mknod(fx):
    for kind in ("char", "block"):
        for where in (fx.project / kind, "/tmp/" + kind, "/dev/shm/" + kind, fx.outside / kind):
            refused(boxed(fx, "mknod", kind, where), CROSSING, f"{kind} {where}")
        check(not fx.exists(kind))
        if ROOT:
            works(act(fx, "mknod", kind, fx.project / kind), "control")
            if kind == "char":
                os.unlink(fx.project / kind)
    works(boxed(fx, "mknod", "fifo", fx.project / "fifo"), "neighbour")


@test("ESCAPES root: a device node that lies in the project opens nothing", variants=ALL_VARIANTS)
def planted_node(fx):
    if ROOT:
        node = fx.project / "disk"
        major, minor = 7, 0  # the first loop device
        os.mknod(node, stat.S_IFBLK | 0o666, os.makedev(major, minor))
        result = fx.sandbash("python3", "-c",
                             "import os; os.open('disk', os.O_RDWR | os.O_NONBLOCK)")
        if fx.variant == "full":
            check(result.status != 0, "a block device was opened through a node in the project")
        node.unlink()
    works(boxed(fx, "open", "wronly+creat", "plain"))


@test("ESCAPES root: files of other users are not opened by the lost privilege",
      variants=ALL_VARIANTS)
def others(fx):
    """Without capabilities uid 0 is one user among others."""
    if ROOT:
        path = fx.write("theirs", "content")
        os.chown(path, 65534, 65534)
        path.chmod(0o600)
        refused(boxed(fx, "read", path), CROSSING)
        refused(boxed(fx, "meta", "chmod", path), CROSSING)
        works(act(fx, "read", path), "control")
    mine = fx.write("mine", "content")
    works(boxed(fx, "read", mine))


@test("ESCAPES root: changing identity", variants=ALL_VARIANTS)
def identity(fx):
    script = "import os; os.setresuid(65534, 65534, 65534)"
    check(fx.sandbash("python3", "-c", script).status != 0)
    script = "import os; os.setgroups([0])"
    check(fx.sandbash("python3", "-c", script).status != 0)
    if ROOT:
        works(fx.run("python3", "-c", "import os; os.setresuid(65534, 65534, 65534)"), "control")
    works(fx.sandbash("python3", "-c", "import os; os.setresuid(os.getuid(), -1, -1)"), "neighbour")


if ROOT:
    @test("ESCAPES root: no setuid bit on a file of root's", variants=ALL_VARIANTS)
    def setuid_bit(fx):
        """It would wait on the host for another account to run it."""
        tool = fx.write("tool", "#!/bin/sh\n", 0o755)
        for how in ("os.chmod('tool', 0o4755)", "os.fchmod(os.open('tool', os.O_RDONLY), 0o4755)",
                    "os.open('tool2', os.O_CREAT | os.O_WRONLY, 0o4755)",
                    "os.mknod('tool2', 0o104755)",
                    "import ctypes, struct; ctypes.CDLL(None).syscall("
                    "437, -100, b'tool2', struct.pack('QQQ', os.O_CREAT | 1, 0o4755, 0), 24)",
                    "fd = os.open(os.curdir, os.O_TMPFILE | os.O_RDWR, 0o4755); "
                    "os.link(f'/proc/self/fd/{fd}', 'tool2', follow_symlinks=True)"):
            fx.sandbash("python3", "-c", f"import os; {how}")
            check(not tool.stat().st_mode & stat.S_ISUID, how)
            check(not fx.exists("tool2") or not fx.path("tool2").stat().st_mode & stat.S_ISUID, how)
        works(fx.sandbash("chmod", "700", "tool"), "neighbour")
        works(fx.run("chmod", "4755", "tool"), "control")


@test("ESCAPES root: file handles", variants=ALL_VARIANTS)
def handles(fx):
    target = fx.write(fx.outside / "file", "content")
    for mount in ("/", fx.project, fx.outside):
        refused(boxed(fx, "handle", mount, target), CROSSING, str(mount))
    equal(target.read_text(), "content")
    if ROOT:
        works(act(fx, "handle", fx.outside, target), "control")
    inside = fx.write("inside", "content")
    works(boxed(fx, "open", "wronly", inside), "neighbour")


@test("ESCAPES root: system directories stay closed", variants=ALL_VARIANTS)
def system(fx):
    name = f"sandbash-test-{os.getpid()}"  # root and user may run this at the same time
    for top in ("/etc", "/usr/bin", "/root", "/", "/var", "/boot", "/run", "/lib", "/opt",
                "/etc/cron.d", "/var/spool/cron"):
        path = os.path.join(top, name)
        result = fx.sandbash("touch", path)
        check(result.status != 0, path)
        if ROOT and os.path.lexists(path):
            os.unlink(path)
            check(False, f"{path} was made")
    if ROOT:
        works(fx.run("sh", "-c", f"touch /run/{name} && rm /run/{name}"), "control")
    works(fx.sandbash("touch", "inside"))


run_all()
