"""oci.py - a container like Docker's, made by runc, with this machine's programs in it.

    status = run("container", top, build, flags)     raises Absent: there is no container here

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


def seccomp():
    allowed = sorted(calls_of_this_machine() - BLOCKED - {"clone", "clone3"})
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


def config(root, bundle, top, argv, uid, restricted, extra, cwd):
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
            "maskedPaths": MASKED, "readonlyPaths": READ_ONLY, "seccomp": seccomp(),
            "resources": {"devices": [{"allow": False, "access": "rwm"}, *(
                {"allow": True, "type": "c", "major": major, "minor": minor, "access": "rwm"}
                for major, minor in DEVICES)]}}}


def contain(top, argv, uid=0, restricted=False, extra=(), cwd="/", **popen):
    """Run argv in a container of its own."""
    if shutil.which("runc") is None:
        raise Absent("there is no runc")
    if os.getuid() != 0:
        raise Absent("a container like Docker's is made by root")
    with tempfile.TemporaryDirectory(prefix="sandbash-container-", dir="/var/tmp") as name:
        os.chmod(name, 0o755)
        bundle, root = Path(name), Path(name) / "root"
        (root / "root").mkdir(parents=True)
        for table, line in (("passwd", f"{USER}:x:{UID}:{UID}::/home/{USER}:/bin/bash"),
                            ("group", f"{USER}:x:{UID}:")):
            others = [entry for entry in Path(f"/etc/{table}").read_text().splitlines()
                      if not entry.startswith(f"{USER}:")]
            (bundle / table).write_text("\n".join([*others, line, ""]))
        (bundle / "config.json").write_text(json.dumps(
            config(root, bundle, top, argv, uid, restricted, list(extra), cwd)))
        words = ["runc", "--root", bundle / "state", "run", "--bundle", bundle,
                 f"sandbash-{os.getpid()}"]
        return subprocess.run(words, stdin=subprocess.DEVNULL, check=False, **popen)


FIRST = """
set -e
echo inside >made && mkfifo p && { echo x >p & } && read -r x <p && git init -q . && git add made
if (echo outside >/outside/file) 2>/dev/null; then echo damaged; fi
if chmod 0777 /outside/file 2>/dev/null; then echo damaged; fi
echo "done"
"""


def as_first(top, build, flags):
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
            sandbash = [build / "sandbash", *flags.split(), "--"]
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


def run(kind, top, build, flags):
    tried = contain(top, ["true"], capture_output=True, text=True)
    if tried.returncode != 0:
        raise Absent(f"runc: {tried.stderr.strip() or tried.returncode}")
    if kind == "first":
        return as_first(top, build, flags)
    restricted = kind == "restricted"
    words = ["/usr/bin/python3", top / "tests" / "run.py", "--build", build, "--suite", "machines",
             f"--flags={flags}"]
    return contain(top, words, uid=UID if restricted else 0, restricted=restricted).returncode
