"""Z7: what a worker that obeys a hostile document would try on the network, on processes, on the kernel: hostile.py."""

import ctypes
import os
import socket
from pathlib import Path

from hostile import Place, Services
from tap import check, contains, equal, lacks, run_all, test
from workers import run

LIBC = ctypes.CDLL(None, use_errno=True)


# --- network ------------------------------------------------------------------------------------------------------------

NETWORK = r'''
def connect(family, kind, address, protocol=0):
    with socket.socket(family, kind, protocol) as one:
        one.settimeout(3)
        one.connect(address)
        one.send(b"x")
        return one.recv(1) == b"y"
here = ("127.0.0.1", want["port"])
if want["tcp"]:
    attempt("tcp", lambda: connect(socket.AF_INET, socket.SOCK_STREAM, here))
    attempt("mapped", lambda: connect(socket.AF_INET6, socket.SOCK_STREAM, ("::ffff:127.0.0.1", want["port"])))
    attempt("mptcp", lambda: connect(socket.AF_INET, socket.SOCK_STREAM, here, 262))
    attempt("udp", lambda: connect(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", want["udp"])))
    def fast():
        with socket.socket() as one:
            one.settimeout(3)
            one.sendto(b"x", 0x20000000, here)
            return one.recv(1) == b"y"
    attempt("fast open", fast)
else:
    neighbour("tcp", lambda: connect(socket.AF_INET, socket.SOCK_STREAM, here))
for name, family, kind, protocol in (("packet", 17, 3, 0x300), ("raw", 2, 3, 1), ("vsock", 40, 1, 0), ("alg", 38, 5, 0),
                                     ("xdp", 44, 3, 0), ("audit", 16, 3, 9), ("uevent", 16, 3, 15), ("netfilter", 16, 3, 12)):
    if not want["free"]:
        attempt("socket " + name, lambda: socket.socket(family, kind, protocol).close())
attempt("abstract", lambda: connect(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + want["abstract"]))
attempt("service", lambda: connect(socket.AF_UNIX, socket.SOCK_STREAM, want["service"]))
attempt("service behind a link", lambda: (os.symlink(want["service"], out + "/service"),
                                          connect(socket.AF_UNIX, socket.SOCK_STREAM, out + "/service"))[1])
attempt("service in what is read-only", lambda: connect(socket.AF_UNIX, socket.SOCK_STREAM, inp + "/service"))
attempt("service that asks", lambda: connect(socket.AF_UNIX, socket.SOCK_STREAM, fin + "/service"))
attempt("datagram", lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"x", want["datagram"]))
def pair():
    a, b = socket.socketpair()
    a.send(b"x")
    return b.recv(1) == b"x"
neighbour("pair", pair)
def own():
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind(out + "/own-%d" % os.getpid())
        server.listen()
        client.connect(out + "/own-%d" % os.getpid())
neighbour("a service of its own", own)
def loopback():
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname(), 3).close()
neighbour("its own loopback", loopback)
'''


REACHED = {"abstract", "service", "service behind a link", "service in what is read-only", "service that asks", "datagram"}


@test("ESCAPES network: TCP, UDP, sockets of every other kind, services of the user's by any name")
def network(fx):
    place = Place(fx)
    services = Services(place)
    try:
        place.hold(NETWORK, REACHED | {"tcp", "mapped", "udp"})
    finally:
        services.end()


@test("ESCAPES network: a worker that has the network reaches hosts, and no service of the user's")
def network_on(fx):
    place = Place(fx, more="network: on\n")
    services = Services(place)
    place.more["tcp"] = False
    try:
        place.hold(NETWORK, REACHED)
    finally:
        services.end()


# --- kernel and desktop surface -----------------------------------------------------------------------------------------

PROCESSES = r'''
victim = want["victim"]
def memory(name, pid):
    buffer = ctypes.create_string_buffer(8)
    local = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), 8)
    remote = (ctypes.c_size_t * 2)(want["address"], 8)
    return call(name, pid, local, ctypes.c_ulong(1), remote, ctypes.c_ulong(1), ctypes.c_ulong(0)) == 8
for pid in (victim, 1) if not want["free"] else (victim,):
    who = "victim" if pid == victim else "init"
    attempt("signal " + who, lambda: os.kill(pid, signal.SIGURG))
    attempt("stop " + who, lambda: os.kill(pid, signal.SIGCONT))
    attempt("limit " + who, lambda: resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0)))
    attempt("priority " + who, lambda: os.setpriority(os.PRIO_PROCESS, pid, os.getpriority(os.PRIO_PROCESS, 0) + 1))
    attempt("affinity " + who, lambda: os.sched_setaffinity(pid, {min(os.sched_getaffinity(0))}))
    attempt("scheduler " + who, lambda: os.sched_setscheduler(pid, os.SCHED_BATCH, os.sched_param(0)))
    attempt("ioprio " + who, lambda: call("ioprio_set", 1, pid, 0x6000))
    attempt("attach " + who, lambda: call("ptrace", 0x4206, pid, 0, 0))
    attempt("read memory of " + who, lambda: memory("process_vm_readv", pid))
    attempt("write memory of " + who, lambda: memory("process_vm_writev", pid))
    attempt("take a descriptor of " + who, lambda: call("pidfd_getfd", call("pidfd_open", pid, 0), 0, 0))
    attempt("signal by pidfd " + who, lambda: call("pidfd_send_signal", call("pidfd_open", pid, 0), signal.SIGURG, 0, 0))
    attempt("pages of " + who, lambda: call("migrate_pages", pid, ctypes.c_ulong(8), bytes(8), bytes(8)))
    for name in ("mem", "environ", "maps", "io", "syscall", "auxv", "pagemap", "stack", "personality"):
        attempt("/proc %s %s" % (name, who), lambda: len(open("/proc/%d/%s" % (pid, name), "rb").read(8 if name != "mem" else 0)) > 0 or
                name == "mem")
    for name in ("root", "cwd", "exe", "ns/mnt", "ns/user", "fd/0"):
        attempt("/proc %s %s" % (name, who), lambda: os.readlink("/proc/%d/%s" % (pid, name)))
        attempt("through /proc %s %s" % (name, who), lambda: os.close(os.open("/proc/%d/%s" % (pid, name), os.O_RDONLY)))
    attempt("oom " + who, lambda: open("/proc/%d/oom_score_adj" % pid, "w").write("1000"))
attempt("signal all of the group", lambda: os.killpg(want["group"], signal.SIGURG))
attempt("signals by a descriptor", lambda: fcntl.fcntl(0, fcntl.F_SETOWN, victim))
attempt("see it", lambda: str(victim) in os.listdir("/proc"))
attempt("join its session", lambda: os.setpgid(0, want["group"]))
child = subprocess.Popen(["sleep", "60"])
neighbour("children", lambda: (child.send_signal(signal.SIGSTOP), child.send_signal(signal.SIGCONT), child.kill(), child.wait(10)))
neighbour("itself", lambda: (os.kill(os.getpid(), 0), os.readlink("/proc/self/exe"), open("/proc/self/maps").read(8)))
'''


@test("ESCAPES processes outside: signals, memory, descriptors, limits and /proc of theirs and of the supervisor's")
def processes(fx):
    place = Place(fx)
    victim = fx.start("sleep", "600", start_new_session=True)
    place.more |= {"victim": victim.pid, "group": victim.pid, "address": 4096}
    works = {"signal victim", "stop victim", "limit victim", "priority victim", "affinity victim", "scheduler victim", "ioprio victim",
             "signal by pidfd victim", "/proc environ victim", "/proc cwd victim", "through /proc root victim",
             "signal all of the group", "signals by a descriptor", "see it"}
    place.hold(PROCESSES, works)
    equal(victim.poll(), None, "it lives")


IPC = r'''
attempt("shared memory", lambda: libc.shmget(want["key"], 0, 0) >= 0)
attempt("shared memory by number", lambda: libc.shmctl(want["shm"], 2, ctypes.create_string_buffer(256)) >= 0)
attempt("semaphores", lambda: libc.semget(want["key"], 0, 0) >= 0)
attempt("messages", lambda: libc.msgget(want["key"], 0) >= 0)
attempt("posix memory", lambda: os.close(os.open("/dev/shm/" + want["posix"], os.O_RDWR)))
attempt("queue", lambda: call("mq_open", want["queue"].encode(), 0, 0, 0))
attempt("queue away", lambda: call("mq_unlink", want["queue"].encode()) and False if want["free"] else call("mq_unlink", want["queue"].encode()))
attempt("key", lambda: call("keyctl", 10, -4, b"user", want["keyname"].encode(), 0))
attempt("key by its number", lambda: call("keyctl", 11, want["keyid"], 0, 0))
attempt("names of keys", lambda: want["keyname"] in open("/proc/keys").read())
if not want["free"]:
    attempt("a key of its own", lambda: call("add_key", b"user", b"x", b"x", ctypes.c_size_t(1), -4))
def own():
    import multiprocessing.shared_memory as shared
    one = shared.SharedMemory(create=True, size=100)
    one.close()
    one.unlink()
neighbour("shared memory of its own", own)
'''


@test("ESCAPES shared memory, semaphores, queues and keys of the user's")
def ipc(fx):
    place = Place(fx)
    name = f"sandbash-test-{os.getpid()}-{os.urandom(4).hex()}"
    numbers = {"aarch64": (180, 181, 217, 219)}.get(os.uname().machine, (240, 241, 248, 250))
    key = int.from_bytes(os.urandom(3), "little") + 1
    shm, sem, msg = LIBC.shmget(key, 4096, 0o1600), LIBC.semget(key, 1, 0o1600), LIBC.msgget(key, 0o1600)
    posix = Path("/dev/shm") / name
    posix.write_text("x")
    queue = LIBC.syscall(numbers[0], name.encode(), 0o102, 0o600, None)
    keyid = LIBC.syscall(numbers[2], b"user", name.encode(), b"hush", 4, -4)
    place.more |= {"key": key, "shm": shm, "posix": name, "queue": name, "keyname": name, "keyid": keyid}
    try:
        works = {"shared memory", "shared memory by number", "semaphores", "messages", "posix memory"}
        works |= {"queue"} if queue >= 0 else set()
        works |= {"key", "key by its number", "names of keys"} if keyid >= 0 and os.path.exists("/proc/keys") else set()
        place.hold(IPC, works)
    finally:
        LIBC.shmctl(shm, 0, None)
        LIBC.semctl(sem, 0, 0)
        LIBC.msgctl(msg, 0, None)
        posix.unlink()
        if queue >= 0:
            os.close(queue)
            LIBC.syscall(numbers[1], name.encode())
        if keyid >= 0:
            LIBC.syscall(numbers[3], 21, keyid)  # KEYCTL_INVALIDATE


KERNEL = r'''
attempt("secret", lambda: text(secret))  # for the control: that the script runs
status = dict(line.split(":\t") for line in open("/proc/self/status").read().splitlines() if ":\t" in line)
powers = bool(int(status["CapBnd"], 16) or int(status["CapEff"], 16))
attempt("capabilities", lambda: powers and not want["free"])
if not want["free"] and not powers:  # some of these would do harm
    null = ctypes.c_void_p(0)
    for name, words in (("unshare", (0x10000000,)), ("unshare", (0x10020000,)), ("unshare", (0x20000,)), ("chroot", (b"/tmp",)),
                        ("mount", (b"none", b"/tmp", b"tmpfs", 0, 0)), ("mount", (b"/", out.encode(), null, 0x1000, null)),
                        ("mount", (null, inp.encode(), null, 0x1020, null)), ("umount2", (b"/proc", 2)), ("umount2", (b"/proc/keys", 2)),
                        ("umount2", (inp.encode(), 2)), ("pivot_root", (b"/", b"/tmp")), ("fsopen", (b"tmpfs", 0)),
                        ("open_tree", (-100, b"/", 1)), ("mount_setattr", (-100, inp.encode(), 0, struct.pack("QQQQ", 0, 1, 0, 0), 32)),
                        ("io_uring_setup", (4, ctypes.create_string_buffer(120))), ("bpf", (0, bytes(64), 64)),
                        ("userfaultfd", (0,)), ("userfaultfd", (1,)), ("keyctl", (0, -5, 1)), ("keyctl", (1, null)),
                        ("perf_event_open", (struct.pack("II", 1, 128) + bytes(120), 0, -1, -1, 0)), ("fanotify_init", (0, 0)),
                        ("fanotify_init", (0x200, 0)), ("setns", (os.open("/proc/self/ns/mnt", os.O_RDONLY), 0)),
                        ("init_module", (b"", 0, b"")), ("kexec_load", (0, 0, null, 0)), ("swapon", (b"/output/x", 0)),
                        ("acct", (b"/output/own",)), ("syslog", (3, ctypes.create_string_buffer(100), 100)),
                        ("quotactl", (0x800001 << 8, null, 0, null)), ("reboot", (0xfee1dead, 672274793, 0, null)),
                        ("kcmp", (1, os.getpid(), 0, 0, 0))):
        attempt(name + repr(words)[:40], lambda: call(name, *words))
    def clone(flags):
        child = libc.syscall(ctypes.c_long(220 if ARM else 56), ctypes.c_long(flags | signal.SIGCHLD), 0, 0, 0, 0)
        if child == 0:
            os._exit(0)
        if child < 0:
            raise OSError(ctypes.get_errno(), "clone")
        os.waitpid(child, 0)
    for flag in (0x10000000, 0x20000, 0x20000000, 0x40000000, 0x8000000, 0x2000000):
        attempt("clone %x" % flag, lambda: clone(flag))
    def clone3():
        words = struct.pack("11Q", 0x10000000, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, 0, 0, 0)
        child = call("clone3", words, ctypes.c_size_t(len(words)))
        if child == 0:
            os._exit(0)
    attempt("clone3", clone3)
    for path in ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/kernel/hostname", "/proc/sys/vm/drop_caches",
                 "/proc/sysrq-trigger", "/proc/irq/default_smp_affinity", "/proc/self/uid_map", "/proc/self/oom_score_adj",
                 "/proc/self/loginuid", "/sys/kernel/uevent_helper", "/sys/fs/cgroup/cgroup.procs", "/proc/sys/fs/binfmt_misc/register"):
        attempt("open " + path, lambda: os.close(os.open(path, os.O_WRONLY)))
    for path in ("/proc/kcore", "/proc/kmsg", "/proc/kpagecount", "/proc/kpageflags", "/proc/timer_list", "/proc/slabinfo",
                 "/proc/vmallocinfo", "/proc/keys", "/proc/key-users"):
        attempt("read " + path, lambda: len(open(path, "rb").read(8)) > 0)
    for path in ["/dev/mem", "/dev/kmsg", "/dev/fuse", "/dev/kvm", "/dev/loop-control", "/dev/net/tun", "/dev/console", "/dev/tty1",
                 "/dev/port", "/dev/vda", "/dev/sda", "/dev/nvme0n1", "/dev/dri/card0", "/dev/input/event0", "/dev/uinput", "/dev/vhost-net"]:
        attempt("open " + path, lambda: os.close(os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)))
    for kind, device in ((stat.S_IFBLK, os.makedev(254, 0)), (stat.S_IFBLK, os.makedev(8, 0)), (stat.S_IFCHR, os.makedev(1, 1)),
                         (stat.S_IFCHR, os.makedev(5, 1))):
        attempt("make a device", lambda: os.mknod(out + "/device", kind | 0o666, device))
    put(out + "/own")
    ioctl = lambda path, number, data=0: fcntl.ioctl(os.open(path, os.O_RDONLY), number, data)
    for name, number, data in (("FIFREEZE", 0xC0045877, 0), ("FITHAW", 0xC0045878, 0), ("FITRIM", 0xC0185879, bytes(24)),
                               ("EXT4_IOC_RESIZE_FS", 0x40086610, bytes(8)), ("EXT4_IOC_SHUTDOWN", 0x8004587D, struct.pack("I", 2)),
                               ("EXT4_IOC_SWAP_BOOT", 0x6611, 0), ("FS_IOC_ENABLE_VERITY", 0x40806685, bytes(128)),
                               ("BTRFS_IOC_SNAP_CREATE", 0x50009401, bytes(4096)), ("BTRFS_IOC_SUBVOL_CREATE", 0x5000940E, bytes(4096)),
                               ("BTRFS_IOC_SNAP_DESTROY", 0x5000940F, bytes(4096)), ("immutable", 0x40086602, struct.pack("l", 0x10)),
                               ("append only", 0x40086602, struct.pack("l", 0x20)), ("FS_IOC_SET_ENCRYPTION_POLICY", 0x800C6613, bytes(12)),
                               ("FS_IOC_ADD_ENCRYPTION_KEY", 0xC0506617, bytes(80))):
        for path in (out, out + "/own", inp + "/old"):
            if name == "FITHAW":
                continue
            attempt(name + " " + path, lambda: ioctl(path, number, data))
    attempt("extents", lambda: fcntl.ioctl(os.open(out + "/own", os.O_RDWR), 0xC028660F,
                                           struct.pack("IIQQQQ", 0, os.open(fin + "/old", os.O_RDONLY), 0, 0, 1, 0)))
    attempt("clone over what is read", lambda: ioctl(fin + "/old", 0x40049409, os.open(out + "/own", os.O_RDONLY)))
    attempt("host name", lambda: socket.sethostname("evil"))
    attempt("time", lambda: time.clock_settime(0, time.time()))
    attempt("groups", lambda: os.setgroups([0]))
    attempt("another user", lambda: os.setresuid(12345, 12345, 12345))
    attempt("capabilities of a file", lambda: os.setxattr(out + "/own", "security.capability",
                                                          bytes.fromhex("0100000200040000000000000000000000000000")))
    attempt("trusted attribute", lambda: os.setxattr(out + "/own", "trusted.x", b"1"))
    attempt("owner", lambda: os.chown(out + "/own", 12345, 12345))
    if os.getuid() == 0:
        attempt("setuid root", lambda: (os.chmod(out + "/own", 0o4755), os.stat(out + "/own").st_mode & 0o4000 != 0)[1])
    attempt("setuid programs", lambda: status["NoNewPrivs"] != "1" or powers)
    attempt("descriptors", lambda: bool(held))
neighbour("threads", lambda: (lambda one: (one.start(), one.join()))(threading.Thread(target=lambda: None)))
neighbour("memory in a file", lambda: os.write(os.memfd_create("x"), b"x"))
neighbour("a terminal of its own", lambda: os.openpty())
neighbour("what programs read", lambda: [open(path).read(1) for path in ("/proc/meminfo", "/proc/cpuinfo", "/proc/self/status")])
'''


@test("ESCAPES kernel: namespaces, mounts, io_uring, keys, devices, ioctls, setuid; of root also what root may")
def kernel(fx):
    place = Place(fx)
    place.hold(KERNEL, {"secret"})


@test("ESCAPES terminal: nothing is typed into the person's, and its own works")
def terminal(fx):
    place = Place(fx)
    script = ("import fcntl, os, termios\nfor path in ('/dev/tty', '/proc/self/fd/0'):\n"
              "  for code in (termios.TIOCSTI, 0x541C):\n"
              "    try: fcntl.ioctl(os.open(path, os.O_RDWR), code, b'X'); print('typed')\n"
              "    except OSError: pass\n"
              "print(termios.tcgetattr(0)[6] != [], 'ran')\n")

    def typed(*words):
        term = fx.terminal("bash", "--norc", "-c", '"$@" >said 2>&1 < /dev/tty; stty -icanon -echo min 0 time 1; '
                           'printf "<%s>" "$(dd bs=64 count=1 2>/dev/null)"', "-", *words)
        term.expect(r"<.*>")
        term.wait()
        return term.output, fx.read("said")
    output, said = typed(*fx.argv("--worker=w.worker", "python3", "-c", script))
    contains(output, "<>")
    lacks(said, "typed")
    contains(said, "True ran", "neighbour: settings of the terminal")
    output, said = typed("python3", "-c", script)
    check("<X" in output or "typed" not in said, "control, where the kernel lets anybody")
    del place


# --- learned in November ----------------------------------------------------------------------------------------------------

@test("ESCAPES a socket of the user's as standard input is no way to others of his")
def handed(fx):
    place = Place(fx)
    services = Services(place)
    script = ("import socket, sys\none = socket.socket(fileno=0)\nprint(one.recv(5))\n"
              "try: one.sendto(b'x', sys.argv[1]); print('sent')\nexcept OSError: print('refused')\n")
    try:
        for kind, inside in ((socket.SOCK_DGRAM, False), (socket.SOCK_DGRAM, True), (socket.SOCK_STREAM, True)):
            ours, theirs = socket.socketpair(socket.AF_UNIX, kind)
            ours.send(b"given")
            words = ["python3", "-c", script, place.more["datagram"]]
            result = run(fx, "w", *words, stdin=theirs) if inside else fx.run(*words, stdin=theirs)
            (lacks if inside else contains)(result.stdout, "sent", "the way to another")
            if kind == socket.SOCK_STREAM:
                contains(result.stdout, "given", "neighbour: one that is connected")
    finally:
        services.end()


run_all()
