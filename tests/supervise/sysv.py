"""sysv.py - System V memory, semaphores and queues are the run's own, also where no namespace makes them so.

Each script runs natively first, then inside; what comes out must be the same.  Then what others have: a key or a
number of theirs leads nowhere, and nothing of the run's is left when it is over.
"""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

from compare import inside, native
from tap import PATIENCE, SUPERVISED, check, equal, run_all, skip, test

LIBC = """if 1:
    import ctypes, os, sys
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_void_p
    CREAT, EXCL, NOWAIT, RMID = 0o1000, 0o2000, 0o4000, 0
    def call(name, *words):
        ctypes.set_errno(0)
        value = getattr(libc, name)(*words)
        return value if ctypes.get_errno() == 0 else -ctypes.get_errno()
"""

USE = LIBC + """
    key = 0x5b000000 + os.getppid() % 0x7fffff * 2 # and the next one; whoever runs beside us has others
    def same(name, *words): return "number" if call(name, *words) >= 0 else call(name, *words)
    for get, more in (("shmget", (4096,)), ("semget", (2,)), ("msgget", ())):
        print(get, same(get, key, *more, 0o600), same(get, key, *more, CREAT | EXCL | 0o600),
              same(get, key, *more, CREAT | EXCL | 0o600), same(get, key, *more, CREAT | 0o600), same(get, key, *more, 0),
              call(get, key, *more, 0) == call(get, key, *more, 0o600))
        new = [call(get, 0, *more, 0o600) for n in range(2)] # each time another
        print(new[0] != new[1], [call(get[:3] + "ctl", one, *([0] if get == "semget" else []), RMID, None) for one in new])
    for get, more in (("shmget", (4096,)), ("semget", (2,)), ("msgget", ())): # of which the owner may do nothing
        print(same(get, key + 1, *more, CREAT), same(get, key + 1, *more, 0o400), same(get, key + 1, *more, 0),
              call(get[:3] + "ctl",
                   call(get, key + 1, *more, 0), *([0] if get == "semget" else []), RMID, None), same(get, key + 1, *more, 0))
    print(same("shmget", key, 8192, 0), same("semget", key, 3, 0), same("shmget", key, 0, 0), call("semget", 0, -1, 0o600))
    memory, semaphore, queue = call("shmget", key, 0, 0), call("semget", key, 0, 0), call("msgget", key, 0)
    at = libc.shmat(memory, None, 0)
    if os.fork() == 0: # another process of the run, which knows the key alone
        where = libc.shmat(call("shmget", key, 0, 0), None, 0)
        ctypes.memmove(where, b"through", 7)
        first = call("semop", call("semget", key, 0, 0), (ctypes.c_short * 3)(0, 1, 0), 1)
        os._exit(first or call("msgsnd", call("msgget", key, 0), (ctypes.c_long * 2)(1, 0x6f6c6c6568), 5, 0))
    print(call("semop", semaphore, (ctypes.c_short * 3)(0, -1, 0), 1), ctypes.string_at(at, 7)) # waits for it
    room = (ctypes.c_long * 2)(); print(call("msgrcv", queue, room, 8, 0, 0), hex(room[1]), os.wait()[1])
    print(call("semctl", semaphore, 1, 16, 7), call("semctl", semaphore, 1, 12), call("semctl", semaphore, 9, 12)) # SETVAL, GETVAL
    print(call("semop", semaphore, (ctypes.c_short * 3)(0, -1, NOWAIT), 1), call("msgrcv", queue, room, 8, 0, NOWAIT))
    print(call("shmctl", memory, RMID, None), call("semctl", semaphore, 0, RMID), call("msgctl", queue, RMID, None))
    ctypes.memset(at, 65, 3); print(ctypes.string_at(at, 4), call("shmdt", ctypes.c_void_p(at)))
    for get, more in (("shmget", (4096,)), ("semget", (2,)), ("msgget", ())): print(call(get, key, *more, 0))
    print(call("semop", semaphore, (ctypes.c_short * 3)(0, 1, 0), 1), call("msgctl", queue, RMID, None), call("shmctl", memory, RMID, None))
    print(call("shmat", 77777777, None, 0), call("semctl", -1, 0, RMID), call("msgsnd", 77777777, room, 1, 0))
"""

# prints what it made by a key: SHM SEM MSG
MAKE = LIBC + """
    key = int(sys.argv[1])
    print(call("shmget", key, 64, CREAT | 0o600), call("semget", key, 1, CREAT | 0o600), call("msgget", key, CREAT | 0o600))
    sys.stdout.flush()
"""

# what somebody else made, by its numbers and by its key
REACH = LIBC + """
    key, memory, semaphore, queue = map(int, sys.argv[1:])
    print(call("shmget", key, 0, 0) >= 0, call("semget", key, 0, 0) >= 0, call("msgget", key, 0) >= 0,
          (libc.shmat(memory, None, 0) or 0) not in (None, 2**64 - 1), call("shmctl", memory, 2, ctypes.create_string_buffer(512)) >= 0,
          call("semctl", semaphore, 0, 12) >= 0, call("semop", semaphore, (ctypes.c_short * 3)(0, 1, 0), 1) >= 0,
          call("msgsnd", queue, (ctypes.c_long * 2)(1, 1), 1, NOWAIT) >= 0, call("msgctl", queue, 2, ctypes.create_string_buffer(512)) >= 0)
    place = ctypes.create_string_buffer(512)
    print(sum(call("shmctl", n, what, place) >= 0 for n in range(64) for what in (13, 15)) > 0,
          sum(call("semctl", n, 0, what, place) >= 0 for n in range(64) for what in (18, 20)) > 0,
          sum(call("msgctl", n, what, place) >= 0 for n in range(64) for what in (11, 13)) > 0)
"""

REMOVE = LIBC + """
    memory, semaphore, queue = map(int, sys.argv[1:])
    print(call("shmctl", memory, RMID, None), call("semctl", semaphore, 0, RMID), call("msgctl", queue, RMID, None))
"""


def objects(fx):
    """What of the user's is there now."""
    found = set()
    for kind in ("shm", "sem", "msg"):
        with open(f"/proc/sysvipc/{kind}", encoding="ascii") as table:
            found |= {(kind, line.split()[1]) for line in list(table)[1:]}
    return found


@test("System V: memory, semaphores and queues work as without a sandbox", variants=("full", "flat"))
def works_alike(fx):
    results = []
    for wrap in (native, lambda *words: inside(fx, *words)):
        results.append(fx.run(*wrap("python3", "-c", USE)))
    equal(results[0].status, 0, results[0].stderr)
    equal(results[1].stdout.splitlines(), results[0].stdout.splitlines(), results[1].stderr)


@test("System V: what others have is not there, by no key and by no number", variants=("full", "flat"))
def others(fx):
    key = 0x5C000000 + os.getpid() % 0xFFFFFF
    made = fx.run("python3", "-c", MAKE, str(key)).stdout.split()
    try:
        equal(fx.run("python3", "-c", REACH, str(key), *made).stdout, "True " * 8 + "True\n" + "True True True\n", "control")
        equal(fx.sandbash("python3", "-c", REACH, str(key), *made).stdout.splitlines()[0], " ".join(["False"] * 9))
        if fx.variant == "flat":  # in a namespace the run's own would be seen, and there is none
            equal(fx.sandbash("python3", "-c", REACH, str(key), *made).stdout.splitlines()[1], "False False False")
        equal(fx.sandbash("python3", "-c", REMOVE, *made).stdout, "-22 -22 -22\n")
        mine = fx.sandbash("python3", "-c", MAKE, str(key))
        check(all(int(number) >= 0 for number in mine.stdout.split()), f"neighbour: {mine}")
    finally:
        equal(fx.run("python3", "-c", REMOVE, *made).stdout, "0 0 0\n", "they are as they were")


@test("System V: nothing is left when the run is over", variants=("full", "flat"))
def left(fx):
    kept = fx.run("python3", "-c", MAKE, "0").stdout.split()
    check({("shm", kept[0]), ("sem", kept[1]), ("msg", kept[2])} <= objects(fx), "control")
    fx.run("python3", "-c", REMOVE, *kept)
    mine = fx.sandbash("python3", "-c", MAKE, "0")
    equal(len(mine.stdout.split()), 3, mine.stderr)
    gone = {("shm", "sem", "msg")[place]: number for place, number in enumerate(mine.stdout.split())}
    equal(set(gone.items()) & objects(fx) if fx.variant == "flat" else set(), set())


def children(pid):
    return [int(word) for task in os.listdir(f"/proc/{pid}/task")
            for word in Path(f"/proc/{pid}/task/{task}/children").read_text().split()]


if SUPERVISED:
    @test("System V: nothing is left when the supervisor was killed, or a part of it", variants=("flat",))
    def killed(fx):
        waits = MAKE + "    import time; time.sleep(600)\n"
        for whom in ("asker", "performer", "both", "group"):
            run = fx.start(*fx.argv("python3", "-c", waits, "0"), stdout=subprocess.PIPE, start_new_session=True)
            made = set(zip(("shm", "sem", "msg"), run.stdout.readline().decode().split()))
            check(len(made) == 3 and made <= objects(fx), f"control: {made}")
            performer = children(run.pid)[0]
            if whom == "group":
                os.killpg(run.pid, signal.SIGKILL)
            else:
                pids = {"asker": [run.pid], "performer": [performer], "both": [performer, run.pid]}[whom]
                for how in (signal.SIGSTOP, signal.SIGKILL):  # none sees the other's end
                    for pid in pids:
                        os.kill(pid, how)
            run.wait(timeout=PATIENCE)
            last = time.monotonic() + PATIENCE
            while made & objects(fx) and time.monotonic() < last:
                time.sleep(0.01)
            equal(made & objects(fx), set(), whom)


@test("System V: fakeroot", variants=("full", "flat"))
def fakeroot(fx):
    if not shutil.which("fakeroot"):
        skip("no program 'fakeroot'")
    script = "touch f; fakeroot sh -c 'id -u; chown 7:8 f; stat -c %u:%g f'"
    for wrap in (native, lambda *words: inside(fx, *words)):
        equal(fx.run(*wrap("sh", "-c", script)).stdout, "0\n7:8\n")


run_all()
