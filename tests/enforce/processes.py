"""ESCAPES kernel surface: processes outside are neither signalled, read, changed nor slowed."""

import os
import resource
import subprocess

from attack import DENIED, Victim, act, answer, boxed, refused, works
from tap import ALL_VARIANTS, PATIENCE, SUPERVISED, check, contains, equal, lacks, run_all, test, wait

ROOT = os.getuid() == 0
NOBODY = DENIED + ("ESRCH",)
# A supervised run has pids of its own: of a process outside there is nothing in /proc.
NO_FILE = NOBODY + (("ENOENT",) if SUPERVISED else ())

SIGNALS = ("kill", "group", "tkill", "tgkill", "queue", "tgqueue", "pidfd")
# words after the victim's number; {p} pid, {m} address, {f} a descriptor of it
INTRUSIONS = {
    "ptrace attach": "attach {p}",
    "ptrace seize": "seize {p}",
    "process_vm_readv": "memory readv {p} {m}",
    "process_vm_writev": "memory writev {p} {m}",
    "/proc/PID/mem for reading": "memory mem-read {p} {m}",
    "/proc/PID/mem for writing": "memory mem-write {p} {m}",
    "pidfd_getfd": "getfd {p} {f}",
}
ADJUSTMENTS = ("rlimit", "nice", "nice-group", "affinity", "scheduler", "param", "attr", "ioprio")


def register_signal(how):
    @test(f"ESCAPES processes: signal by {how}", variants=ALL_VARIANTS)
    def signalled(fx):
        with Victim(fx) as victim, Victim(fx) as control:
            for signal in ("USR1", "KILL", "STOP", "0"):
                refused(boxed(fx, "kill", how, str(victim.pid), signal), NOBODY, signal)
            equal(victim.ask(), ("intact", 0))
            works(act(fx, "kill", how, str(control.pid), "USR1"), "control")
            equal(control.ask(), ("intact", 1))
        works(fx.sandbash("bash", "-c", "sleep 9 & kill $!; wait $!; test $? = 143"), "neighbour")


for how in SIGNALS:
    register_signal(how)


def register_owner(how):
    @test(f"ESCAPES processes: signal by the owner of a descriptor, {how}", variants=ALL_VARIANTS)
    def owner(fx):
        """The kernel sends the signal in our name."""
        with Victim(fx) as victim, Victim(fx) as control:
            result = boxed(fx, "kill", how, str(victim.pid), "USR1")
            # Landlock may also let it be set and the signal be lost; without a pid namespace
            # a filter cannot see what lies in memory, and refuses
            if how != "owner" or (SUPERVISED and fx.variant == "flat"):
                refused(result, NOBODY)
            equal(victim.ask(), ("intact", 0))
            works(act(fx, "kill", how, str(control.pid), "USR1"), "control")
            check(control.ask()[1] > 0, "control: it came")
        works(boxed(fx, "kill", "owner-self", "0", "USR1"), "neighbour")


for how in ("owner", "owner-ex", "owner-ioctl", "owner-pgrp"):
    register_owner(how)


def beside_victim(fx, machine, words):
    """What a victim that one shell started saw of a command that the same shell started."""
    script = ('trap "" USR1; export GROUP=$$; rm -f in out; mkfifo in; "$1" victim <in >out & exec 3>in; shift; '
              'until [ -s out ]; do sleep 0.02; done; "$@" 3>&-; exec 3>&-; wait; tail -n1 out')
    return fx.run(*machine, "bash", "-c", script, "-", fx.tool("act"), *words).stdout


@test("ESCAPES processes: the caller's process group is not signalled", variants=ALL_VARIANTS)
def own_group(fx):
    """The command shares the group of what started it, and kill(0) means that group."""
    attack = [fx.tool("act"), "kill", "kill", "0", "USR1"]
    equal(beside_victim(fx, [], fx.argv(*attack)), "intact 0\n")
    equal(beside_victim(fx, [], attack), "intact 1\n", "control")


@test("ESCAPES processes: the caller's process group does not own a descriptor",
      variants=ALL_VARIANTS)
def owning_group(fx):
    """Of a group that one has joined, Landlock looked at one member in some kernels."""
    for how in ("owner-group", "owner-group-ex", "owner-group-ioctl"):
        attack = [fx.tool("act"), "kill", how, "0", "USR1"]
        equal(beside_victim(fx, [], fx.argv(*attack)), "intact 0\n", how)
        check(beside_victim(fx, [], attack) in ("intact 1\n", "intact 2\n"), f"control {how}")
        own = boxed(fx, *attack[1:])  # its own group, which may have others in it
        if fx.variant == "flat" or not SUPERVISED:
            refused(own, ("EPERM",), how)
        else:
            works(own, how)


@test("ESCAPES processes: kill(-1) reaches nobody outside", variants=ALL_VARIANTS)
def everybody(fx):
    """In a pid namespace, so that the control does not end the machine."""
    machine = ["unshare", "-pf"] if ROOT else ["unshare", "-Urpf"]
    attack = [fx.tool("act"), "kill", "kill", "-1", "USR1"]
    equal(beside_victim(fx, machine, fx.argv(*attack)), "intact 0\n")
    equal(beside_victim(fx, machine, attack), "intact 1\n", "control")


# Neither a pid namespace nor Landlock's scope: the broker sends every signal, or does not.
OLD = {"variant": "flat", "without": "landlock-abi=5"}
INSIDE = """
import ctypes, os, signal, subprocess, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
TKILL, TGKILL, QUEUE = map(int, sys.argv[1:])
got = []
signal.signal(signal.SIGUSR1, lambda number, frame: got.append(number))
def until(count):
    while len(got) < count:
        time.sleep(0.001)
def child(act):
    with subprocess.Popen(["sleep", "1060"]) as process:
        act(process.pid)
        return process.wait()
def call(number, *words):
    if libc.syscall(number, *words) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
def queue(pid):
    info = (ctypes.c_int * 32)(signal.SIGTERM, 0, -1)
    call(QUEUE, pid, signal.SIGTERM, ctypes.byref(info))
def other_thread():
    ready, end = threading.Event(), threading.Event()
    thread = threading.Thread(target=lambda: (ready.set(), end.wait()))
    thread.start()
    ready.wait()
    call(TKILL, thread.native_id, signal.SIGUSR1)
    until(2)  # of two that wait the second is lost
    signal.pthread_kill(thread.ident, signal.SIGUSR1)
    until(3)
    end.set()
    thread.join()
def daemon():
    started = subprocess.run(["sh", "-c", "setsid sh -c 'sleep 1060 >&- 2>&- & echo $!'"], stdout=-1)
    pid = int(started.stdout)
    os.kill(pid, signal.SIGKILL)
    return pid > 0
def group():
    with subprocess.Popen("sleep 1060 & sleep 1060", shell=True, process_group=0) as process:
        os.killpg(process.pid, signal.SIGTERM)
        return process.wait()
def own_group():
    os.kill(0, signal.SIGUSR1)
    until(4)
    return len(got)
print("kill", child(lambda pid: os.kill(pid, signal.SIGTERM)))
print("tkill", child(lambda pid: call(TKILL, pid, signal.SIGTERM)))
print("tgkill", child(lambda pid: call(TGKILL, pid, pid, signal.SIGTERM)))
print("queue", child(queue))
print("pidfd", child(lambda pid: signal.pidfd_send_signal(os.pidfd_open(pid), signal.SIGTERM)))
signal.raise_signal(signal.SIGUSR1)
until(1)
other_thread()
print("threads", len(got))
print("daemon", daemon())
print("group", group())
print("own group", own_group())
print("abort", subprocess.run(["sh", "-c", "kill -ABRT $$"]).returncode)
try:
    os.kill(1 << 22, 0)
except OSError as error:
    print("nobody", error.errno)
try:
    os.kill(os.getpid(), 99)
except OSError as error:
    print("nonsense", error.errno)
"""


def register_old(how):
    @test(f"ESCAPES processes: signal by {how}, where the kernel would let it out")
    def signalled(fx):
        with Victim(fx) as victim:
            for signal in ("USR1", "KILL", "STOP", "0"):
                refused(boxed(fx, "kill", how, str(victim.pid), signal, **OLD), NOBODY, signal)
            equal(victim.ask(), ("intact", 0))


def old_groups(fx):
    machine = ["unshare", "-pf"] if ROOT else ["unshare", "-Urpf"]
    for number in ("0", "-1"):
        attack = [fx.tool("act"), "kill", "kill", number, "USR1"]
        equal(beside_victim(fx, machine, fx.argv(*attack, **OLD)), "intact 0\n", number)
    # a group that it has joined
    script = "import os; os.setpgid(0, int(os.environ['GROUP'])); os.kill(0, 10)"
    attack = ["python3", "-c", f"import signal; signal.signal(10, signal.SIG_IGN); {script}"]
    equal(beside_victim(fx, [], attack), "intact 1\n", "control")
    equal(beside_victim(fx, [], fx.argv(*attack, **OLD)), "intact 0\n")


def old_inside(fx):
    fx.write("inside.py", INSIDE)
    numbers = fx.run(fx.tool("act"), "numbers").stdout.split()
    native = fx.run("python3", "inside.py", *numbers)
    contains(native.stdout, "nonsense 22\n", native.stderr)
    inside = fx.sandbash("python3", "inside.py", *numbers, **OLD)
    equal(inside.stdout, native.stdout, inside.stderr)


def old_runs(fx):
    other = fx.start(*fx.argv("sh", "-c", "echo $$; read line", **OLD), stdin=-1, stdout=-1, text=True)
    pid = other.stdout.readline().strip()
    refused(boxed(fx, "kill", "kill", pid, "KILL", **OLD), NOBODY)
    equal(other.poll(), None)
    other.communicate("\n", timeout=PATIENCE)
    sandbash = fx.argv()[0]
    script = f"sleep 1060 & {sandbash} sh -c 'kill -9 '$!' && echo reached'; kill $! && echo own; wait"
    result = fx.sandbash("sh", "-c", script, **OLD)
    equal(result.stdout, "own\n", result.stderr)
    script = f"{sandbash} sh -c 'echo $$ >pid; kill -STOP $$' & until [ -s pid ]; do :; done; kill -9 $(cat pid) && wait; echo done"
    equal(fx.sandbash("sh", "-c", script, **OLD).stdout, "done\n")


if SUPERVISED:
    for how in SIGNALS:
        register_old(how)
    test("ESCAPES processes: groups, where the kernel would let signals out")(old_groups)
    test("ESCAPES processes: signals inside are what they are, where the broker sends them")(old_inside)
    test("ESCAPES processes: another run is outside, a nested one inside, where the broker sends signals")(old_runs)


def register_intrusion(name, words):
    @test(f"ESCAPES processes: {name}", variants=ALL_VARIANTS)
    def intrusion(fx):
        with Victim(fx) as victim, Victim(fx) as control:
            def fill(whom):
                return words.format(p=whom.pid, m=whom.address, f=whom.descriptor).split()

            refused(boxed(fx, *fill(victim)), NO_FILE if name.startswith("/proc") else NOBODY)
            equal(victim.ask(), ("intact", 0))
            works(act(fx, *fill(control)), "control")
        if name == "/proc/PID/mem for writing":
            return  # /proc is read-only inside; debuggers fall back to ptrace
        # Debuggers work on what the run itself has started.
        tool = fx.tool("act")
        result = fx.sandbash("bash", "-c", f'coproc {tool} victim; read p m f <&${{COPROC[0]}}; '
                             f'{tool} {words.format(p="$p", m="$m", f="$f")}; exit $?')
        works(result, "neighbour")


for name, words in INTRUSIONS.items():
    register_intrusion(name, words)


def state(pid):
    return (resource.prlimit(pid, resource.RLIMIT_NOFILE), os.getpriority(os.PRIO_PROCESS, pid),
            os.sched_getaffinity(pid), os.sched_getscheduler(pid))


def register_adjustment(how):
    @test(f"ESCAPES processes: limits and priorities by {how}", variants=ALL_VARIANTS)
    def adjusted(fx):
        with Victim(fx) as victim, Victim(fx) as control:
            before = state(victim.pid)
            refused(boxed(fx, "adjust", how, str(victim.pid)), NOBODY)
            equal(state(victim.pid), before)
            works(act(fx, "adjust", how, str(control.pid)), "control")
        if how != "nice-group":  # whose group may hold processes outside
            works(boxed(fx, "adjust", how, "0"), "on itself")


for how in ADJUSTMENTS:
    register_adjustment(how)


@test("ESCAPES processes: pages of another process", variants=ALL_VARIANTS)
def pages(fx):
    with Victim(fx) as victim:
        control = act(fx, "adjust", "move-pages", str(victim.pid))
        refused(boxed(fx, "adjust", "move-pages", str(victim.pid)), NOBODY + ("ENOSYS",))
        if control.status != 0:
            equal(control.stderr, "ENOSYS\n")  # a kernel without NUMA: nothing to defend


if not ROOT:
    @test("ESCAPES processes: the priority of all the user's processes", variants=ALL_VARIANTS)
    def all_processes(fx):
        refused(boxed(fx, "adjust", "nice-user", str(os.getuid())), NOBODY)
        # EACCES: another test beside us has made one of them nice, which it stays
        control = act(fx, "adjust", "nice-user", str(os.getuid()))
        check(control.status == 0 or answer(control) == "EACCES", f"control: {control.stderr}")


@test("ESCAPES processes: what /proc shows of others", variants=ALL_VARIANTS)
def proc(fx):
    fx.write(fx.outside / "file", "content")
    with Victim(fx) as victim:
        top = f"/proc/{victim.pid}"
        secret = fx.outside / "file"
        attempts = (["read", f"{top}/environ"], ["read", f"{top}/maps"],
                    ["list", f"{top}/root"], ["list", f"{top}/cwd"],
                    ["open", "rdonly", f"{top}/fd/{victim.descriptor}"],
                    ["open", "rdonly", f"{top}/root{secret}"],
                    ["open", "wronly", f"{top}/root{secret}"],
                    ["open", "wronly", f"{top}/cwd/../../outside/file"],
                    ["open", "wronly", f"{top}/fd/{victim.descriptor}"],
                    ["open", "wronly+trunc", f"{top}/clear_refs"])
        for words in attempts:
            refused(boxed(fx, *words), NOBODY + ("ENOENT",), str(words))
        equal(secret.read_text(), "content")
        for words in attempts:
            if words[-1].endswith("clear_refs"):
                continue  # wants a number that clears nothing of interest
            works(act(fx, *words), f"control {words}")
    works(fx.sandbash("sh", "-c",
                      "cat /proc/self/environ /proc/self/maps >/dev/null && ls /proc/self/fd"))


@test("ESCAPES processes: switches in /proc of others and of itself", variants=ALL_VARIANTS)
def switches(fx):
    with Victim(fx) as victim:
        for name in ("oom_score_adj", "comm", "coredump_filter", "timerslack_ns"):
            path = f"/proc/{victim.pid}/{name}"
            refused(boxed(fx, "open", "wronly", path), NO_FILE + ("EINVAL",), name)
            with open(path, "r+"):
                pass  # the control: outside it opens for writing
        with open(f"/proc/{victim.pid}/oom_score_adj") as file:
            equal(file.read(), "0\n")


@test("ESCAPES processes: environment of the caller", variants=ALL_VARIANTS)
def parent(fx):
    script = "cat /proc/$PPID/environ; tr '\\0' '\\n' </proc/$PPID/environ"
    secret = {"SECRET": "in the caller only"}
    inner = fx.argv("env", "-u", "SECRET", "sh", "-c", script)
    result = fx.run("sh", "-c", '"$@"; true', "-", *inner, env=secret)
    lacks(result.stdout, "in the caller only")
    result = fx.run("sh", "-c", '"$@"; true', "-", "env", "-u", "SECRET", "sh", "-c", script,
                    env=secret)
    check("in the caller only" in result.stdout, "control")


# What each call answers without a sandbox: (for root, for others); None: it works.
CALLS = {
    "bpf": (None, "EPERM"),
    "perf_event_open": (None, None),
    "userfaultfd": (None, None),
    "keyctl": (None, None),
    "add_key": (None, None),
    "request_key": ("ENOKEY", "ENOKEY"),
    "fanotify_init": (None, None),
    "open_by_handle_at": ("EINVAL", "EINVAL"),
    "kexec_load": ("EINVAL", "EPERM"),
    "init_module": ("ENOEXEC", "EPERM"),
    "finit_module": ("EBADF", "EPERM"),
    "delete_module": ("ENOENT", "EPERM"),
    "reboot": ("EINVAL", "EPERM"),
    "swapon": ("ENOENT", "EPERM"),
    "swapoff": ("ENOENT", "EPERM"),
    "acct": ("ENOENT", "EPERM"),
    "quotactl": ("ENOENT", "ENOENT"),
    "syslog": (None, None),
    "settimeofday": ("EINVAL", "EINVAL"),
    "clock_settime": ("EINVAL", "EINVAL"),
}


@test("ESCAPES kernel surface: little-used system calls", variants=ALL_VARIANTS)
def calls(fx):
    for name, expected in CALLS.items():
        refused(boxed(fx, "call", name), ("EPERM",), name)
        control = act(fx, "call", name)
        # A kernel may lack the call or be told to refuse it; then there is nothing to defend.
        answer = control.stderr.strip() or None
        check(answer in (expected[0 if ROOT else 1], "ENOSYS", "EPERM", "EACCES"),
              f"control {name}: {answer}")
    for name in ("memfd_create", "inotify"):
        works(boxed(fx, "call", name), f"neighbour {name}")


@test("S12 a signal from outside still reaches the command", variants=ALL_VARIANTS)
def from_outside(fx):
    process = fx.start(*fx.argv("sh", "-c", "touch ready; exec sleep 1020"),
                       stderr=subprocess.DEVNULL)
    try:
        wait(lambda: fx.exists("ready"), "it does not begin")
        process.terminate()
        equal(process.wait(PATIENCE), -15)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


run_all()
