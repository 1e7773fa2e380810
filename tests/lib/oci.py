"""oci.py - a container like Docker's, made by runc, with this machine's programs in it.

    status = run("container", top, build)     raises Absent: there is no container here

Docker's documentation says what its default profile takes away; that is the table here, and all
other calls that this machine's headers know are allowed.  The root of the container is an empty
directory with /usr, /etc and the project bound into it, read-only.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

USER, UID = "sandbash-test", 4242

# After "Significant syscalls blocked by the default profile" (Docker's page about seccomp), for a
# container without CAP_SYS_ADMIN and its like, and what came since: the calls that mount by
# descriptors, io_uring, and those that a tracer's capability is asked for.  Not call for call:
# ptrace() and process_vm_readv() are allowed since Linux 4.8; arguments count for clone() alone.
BLOCKED = set("""
    acct add_key bpf clock_adjtime clock_settime create_module delete_module finit_module
    get_kernel_syms get_mempolicy init_module ioperm iopl kcmp kexec_file_load kexec_load keyctl
    lookup_dcookie mbind mount move_pages nfsservctl open_by_handle_at perf_event_open
    pivot_root query_module quotactl quotactl_fd reboot request_key set_mempolicy setns
    settimeofday stime swapon swapoff sysfs _sysctl umount umount2 unshare uselib userfaultfd ustat
    vm86 vm86old
    fanotify_init fsconfig fsmount fsopen fspick io_uring_enter io_uring_register io_uring_setup
    migrate_pages mount_setattr move_mount open_tree pidfd_getfd process_madvise
    set_mempolicy_home_node setdomainname sethostname syslog vhangup
""".split())
# Podman's (containers/common) lets these through, and leaves it to the capabilities: so that there
# can be containers in a container.
OPEN_IN_PODMAN = set("""
    clone clone3 fsconfig fsmount fsopen fspick keyctl mount mount_setattr move_mount open_tree
    pidfd_getfd pivot_root setns sethostname setdomainname umount umount2 unshare
""".split())
NEW_NAMESPACES = 0x7E020000  # the CLONE_NEW* flags that clone() takes
CAPABILITIES = ["CAP_" + name for name in (
    "AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE NET_RAW SETFCAP "
    "SETGID SETPCAP SETUID SYS_CHROOT").split()]
MASKED = ["/proc/acpi", "/proc/asound", "/proc/interrupts", "/proc/kcore", "/proc/keys",
          "/proc/latency_stats", "/proc/sched_debug", "/proc/scsi", "/proc/timer_list",
          "/proc/timer_stats", "/sys/devices/virtual/powercap", "/sys/firmware"]
READ_ONLY = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"]

# null, zero, full, random, urandom, tty, console, ptmx, and terminals (-1: every number)
DEVICES = [(1, 3), (1, 5), (1, 7), (1, 8), (1, 9), (5, 0), (5, 1), (5, 2), (136, -1)]


class Absent(Exception):
    """No container can be had here."""


def calls_of_this_machine():
    words = ["gcc", "-E", "-dM", "-include", "sys/syscall.h", "-x", "c", "/dev/null"]
    found = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"^#define __NR_(\w+) ", found, re.M))


def seccomp(podman):
    allowed = sorted(calls_of_this_machine() - BLOCKED - {"clone", "clone3"})
    if podman:
        return {"defaultAction": "SCMP_ACT_ERRNO", "defaultErrnoRet": 38,
                "syscalls": [{"names": sorted({*allowed, *OPEN_IN_PODMAN}),
                              "action": "SCMP_ACT_ALLOW"},
                             {"names": sorted(BLOCKED - OPEN_IN_PODMAN),
                              "action": "SCMP_ACT_ERRNO", "errnoRet": 1}]}
    no_namespaces = [{"index": 0, "value": NEW_NAMESPACES, "valueTwo": 0,
                      "op": "SCMP_CMP_MASKED_EQ"}]
    return {"defaultAction": "SCMP_ACT_ERRNO", "defaultErrnoRet": 1,
            "syscalls": [{"names": allowed, "action": "SCMP_ACT_ALLOW"},
                         {"names": ["clone"], "action": "SCMP_ACT_ALLOW", "args": no_namespaces},
                         # its flags lie in memory: so that libraries take clone() instead
                         {"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": 38}]}


def bind(source, target, *options):
    return {"destination": str(target), "source": str(source), "type": "bind",
            "options": ["rbind", "nosuid", *options]}


def scratch_mount(target, *options):
    return {"destination": target, "type": "tmpfs", "source": "tmpfs",
            "options": ["nosuid", "nodev", *options]}


def mounts(root, bundle, top):
    found = [{"destination": "/proc", "type": "proc", "source": "proc"},
             {"destination": "/dev", "type": "tmpfs", "source": "tmpfs",
              "options": ["nosuid", "strictatime", "mode=755", "size=65536k"]},
             {"destination": "/dev/pts", "type": "devpts", "source": "devpts",
              "options": ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620",
                          "gid=5"]},
             scratch_mount("/dev/shm", "noexec", "mode=1777", "size=65536k"),
             {"destination": "/dev/mqueue", "type": "mqueue", "source": "mqueue",
              "options": ["nosuid", "noexec", "nodev"]},
             {"destination": "/sys", "type": "sysfs", "source": "sysfs",
              "options": ["nosuid", "noexec", "nodev", "ro"]},
             scratch_mount("/tmp", "mode=1777"), scratch_mount("/run", "mode=755"),
             scratch_mount("/var/tmp", "mode=1777")]
    for name in ("usr", "etc", "bin", "lib", "lib64", "sbin"):
        if os.path.islink(f"/{name}"):
            os.symlink(os.readlink(f"/{name}"), root / name)
        elif os.path.isdir(f"/{name}"):
            found.append(bind(f"/{name}", f"/{name}", "ro"))
    for name in ("passwd", "group"):
        found.append(bind(bundle / name, f"/etc/{name}", "ro"))
    found.append(bind(top, top, "ro"))
    return found


def home(uid):
    return "/root" if uid == 0 else f"/home/{USER}"


def config(root, bundle, top, argv, uid, restricted, podman, extra, cwd):
    capabilities = [] if restricted else CAPABILITIES
    held = capabilities if uid == 0 else []
    return {
        "ociVersion": "1.0.2",
        "root": {"path": str(root), "readonly": False},
        "hostname": "container",
        "process": {
            "user": {"uid": uid, "gid": uid}, "cwd": cwd, "args": [str(word) for word in argv],
            "env": ["PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LANG=C.UTF-8",
                    f"HOME={home(uid)}", "TERM=xterm",
                    "SANDBASH_TEST_TIMEOUT=900"],
            "noNewPrivileges": restricted,
            "capabilities": {"bounding": capabilities, "effective": held, "permitted": held}},
        "mounts": mounts(root, bundle, top) + extra,
        "linux": {
            "namespaces": [{"type": kind} for kind in ("pid", "ipc", "uts", "mount", "network")],
            "maskedPaths": MASKED, "readonlyPaths": READ_ONLY, "seccomp": seccomp(podman),
            "resources": {"devices": [{"allow": False, "access": "rwm"}, *(
                {"allow": True, "type": "c", "major": major, "minor": minor, "access": "rwm"}
                for major, minor in DEVICES)]}}}


class Container:
    """argv in a container of its own; entered, it can be started."""

    def __init__(self, top, argv, uid=0, restricted=False, podman=False, extra=(), cwd="/"):
        if shutil.which("runc") is None:
            raise Absent("there is no runc")
        if os.getuid() != 0:
            raise Absent("a container like Docker's is made by root")
        self.options = (top, argv, uid, restricted, podman, list(extra), cwd)
        self.place = self.name = None

    def __enter__(self):
        self.place = tempfile.TemporaryDirectory(prefix="sandbash-container-", dir="/var/tmp")
        self.name = f"sandbash-{os.path.basename(self.place.name)}"
        os.chmod(self.place.name, 0o755)
        bundle, root = Path(self.place.name), Path(self.place.name) / "root"
        (root / "root").mkdir(parents=True)
        for table, line in (("passwd", f"{USER}:x:{UID}:{UID}::/home/{USER}:/bin/bash"),
                            ("group", f"{USER}:x:{UID}:")):
            others = [entry for entry in Path(f"/etc/{table}").read_text().splitlines()
                      if not entry.startswith(f"{USER}:")]
            (bundle / table).write_text("\n".join([*others, line, ""]))
        (bundle / "config.json").write_text(json.dumps(config(root, bundle, *self.options)))
        return self

    def __exit__(self, *error):
        self.place.cleanup()

    def words(self, verb, *words):
        return ["runc", "--root", f"{self.place.name}/state", verb, *words]

    def run(self, **popen):
        return subprocess.run(self.words("run", "--bundle", self.place.name, self.name),
                              stdin=subprocess.DEVNULL, check=False, **popen)

    def start(self, **popen):
        return subprocess.Popen(self.words("run", "--bundle", self.place.name, self.name),
                                stdin=subprocess.DEVNULL, **popen)

    def enter(self, *argv):
        """Run argv beside what runs there, as "docker exec" does."""
        return subprocess.run(self.words("exec", self.name, *argv), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)

    def signal(self, name):
        subprocess.run(self.words("kill", self.name, name), check=True)


def contain(top, argv, capture_output=False, text=None, **options):
    """Run argv in a container of its own."""
    with Container(top, argv, **options) as container:
        return container.run(capture_output=capture_output, text=text)


FIRST = """
set -e
echo inside >made && mkfifo p && { echo x >p & } && read -r x <p && git init -q . && git add made
if (echo outside >/outside/file) 2>/dev/null; then echo damaged; fi
if chmod 0777 /outside/file 2>/dev/null; then echo damaged; fi
echo "done"
"""


def as_first(top, build):
    """sandbash as the first process, which has no parent and inherits every orphan."""
    status = 0
    for uid in (0, UID):
        with tempfile.TemporaryDirectory(prefix="sandbash-first-", dir="/var/tmp") as name:
            os.chmod(name, 0o755)
            for directory in ("outside", "home", "home/project"):
                (Path(name) / directory).mkdir()
                os.chown(Path(name) / directory, uid, uid)
            file = Path(name) / "outside" / "file"
            file.write_text("content\n")
            os.chown(file, uid, uid)
            extra = [bind(f"{name}/outside", "/outside"), bind(f"{name}/home", home(uid))]
            command = ["bash", "-c", FIRST]
            sandbash = [build / "sandbash", "--"]
            results = [contain(top, words, uid=uid, restricted=uid != 0, extra=extra,
                               cwd=f"{home(uid)}/project", capture_output=True, text=True)
                       for words in ([*sandbash, *command],
                                     ["bash", "-c", "rm -rf .git made p;" + FIRST])]
            inside, control = results
            good = (inside.returncode, inside.stdout) == (0, "done\n")
            good = good and (control.returncode, control.stdout) == (0, "damaged\ndamaged\ndone\n")
            print(f"{'ok  ' if good else 'FAIL'} {'root' if uid == 0 else 'user'} sandbash as the "
                  f"first process", flush=True)
            if not good:
                for result in results:
                    print(f"{result.returncode}\n{result.stdout}{result.stderr}", flush=True)
                status = 1
    return status


def children_of_first(container, state):
    """How many of the first process's children are in this state, by /proc/PID/stat."""
    script = ("cat /proc/[0-9]*/stat 2>/dev/null | sed 's/^.*) //' | "
              f"awk '$1 == \"{state}\" && $2 == 1' | wc -l")
    return int(container.enter("sh", "-c", script).stdout)


def as_init(top, build, uid):
    """It passes a signal on, and waits for orphans of others as every first process has to."""
    script = "trap 'echo told; exit 7' TERM; echo up; while :; do sleep 0.05; done"
    with Container(top, [build / "sandbash", "--anywhere", "--", "bash", "-c", script], uid=uid,
                   restricted=uid != 0, cwd="/tmp") as container:
        with container.start(stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             text=True) as running:
            try:
                first = running.stdout.readline()
                for _ in range(3):
                    container.enter("sh", "-c", "(sleep 0.05 &); (true &)")
                # they end, and one after the other they are gone; never is a sign to wait for
                deadline = time.monotonic() + 60
                while (left := children_of_first(container, "Z") +
                       children_of_first(container, "S") - 1) and time.monotonic() < deadline:
                    time.sleep(0.05)
                container.signal("TERM")
                told = running.stdout.read()
                status = running.wait()
            finally:
                if running.poll() is None:
                    container.signal("KILL")
    good = (first, left, told, status) == ("up\n", 0, "told\n", 7)
    print(f"{'ok  ' if good else 'FAIL'} {'root' if uid == 0 else 'user'} signals and orphans of a "
          "first process", flush=True)
    if not good:
        print(f"{first!r}, {left} left, {told!r}, status {status}", flush=True)
    return not good


def run(kind, top, build):
    tried = contain(top, ["true"], capture_output=True, text=True)
    if tried.returncode != 0:
        raise Absent(f"runc: {tried.stderr.strip() or tried.returncode}")
    if kind == "first":
        return as_first(top, build) | as_init(top, build, 0) | as_init(top, build, UID)
    restricted = kind == "restricted"
    words = ["/usr/bin/python3", top / "tests" / "run.py", "--build", build, "--suite", "machines",
             "--flags="]
    return contain(top, words, uid=UID if restricted else 0, restricted=restricted,
                   podman=kind == "podman").returncode
