"""soak.py - mixed load in one run, round after round: nothing grows.

What half an hour of work does, compressed: shells, compilers' habits, many files, sockets,
FIFOs, refusals, killed processes.  After the first rounds the supervisor's processes, descriptors,
threads and memory are counted; after the last they come to be no more, within what an allocator
keeps.

    SANDBASH_TEST_ROUNDS=N      more rounds (default: 12)
"""

import os
import subprocess
import time

from tap import PATIENCE, check, equal, run_all, test, wait

ROUNDS = int(os.environ.get("SANDBASH_TEST_ROUNDS", "12"))

WORK = r"""
read line
while read round; do
    for i in 1 2 3 4 5 6 7 8; do
        mkdir -p d$i && for j in 1 2 3 4 5 6 7 8 9; do echo $j >d$i/f$j; done
        mv d$i e$i; ln -s e$i l$i; ln e$i/f1 e$i/g; chmod 600 e$i/f2; touch -d 2001-01-01 e$i/f3
        cp -r e$i c$i; rm -rf e$i c$i l$i
    done
    mkfifo p; (echo through >p) & cat p >/dev/null; rm p; wait
    echo no >"$1/refused" ; touch "$1/refused2"; chmod 700 "$1"; rm "$1/victim"
    (sleep 60 & echo $! >pid); kill -9 "$(cat pid)"; rm pid
    python3 -c '
import os, socket, threading
server = socket.socket(socket.AF_UNIX); server.bind("s"); server.listen()
def client(n):
    c = socket.socket(socket.AF_UNIX); c.connect("s"); c.close()
    with open("t%d" % n, "w") as f: f.write("x" * 4096)
    os.rename("t%d" % n, "u%d" % n); os.unlink("u%d" % n)
threads = [threading.Thread(target=client, args=(n,)) for n in range(12)]
[t.start() for t in threads]; [t.join() for t in threads]
os.unlink("s")'
    echo done $round
done 2>/dev/null
"""


def processes(pid):
    """The processes of our own program among pid and its descendants."""
    found, queue = [], [pid]
    while queue:
        one = queue.pop()
        try:
            if os.path.basename(os.readlink(f"/proc/{one}/exe")) != "sandbash":
                continue
            found.append(one)
            for task in os.listdir(f"/proc/{one}/task"):
                with open(f"/proc/{one}/task/{task}/children") as f:
                    queue += map(int, f.read().split())
        except OSError:
            continue
    return found


def state(pid):
    """(processes, threads, descriptors, resident kB) of the supervisor."""
    threads = descriptors = resident = 0
    ours = processes(pid)
    for one in ours:
        try:
            threads += len(os.listdir(f"/proc/{one}/task"))
            with open(f"/proc/{one}/status") as f:
                text = f.read()
            resident += int(text.split("VmRSS:")[1].split()[0])
            descriptors += len(os.listdir(f"/proc/{one}/fd"))
        except (OSError, IndexError):
            continue  # /proc/PID/fd of a process that may not be looked at
    return len(ours), threads, descriptors, resident


def calm(pid):
    """The least of a second, in which threads that waited for somebody end."""
    found = []
    for _ in range(20):
        found.append(state(pid))
        time.sleep(0.05)
    return min(found)


def round_of(process, number):
    process.stdin.write(f"{number}\n")
    process.stdin.flush()
    equal(process.stdout.readline(), f"done {number}\n", "the round")


@test("a long run of mixed work grows in nothing", variants=("full", "flat"))
def soak(fx):
    victim = fx.outside / "victim"
    victim.write_text("kept")
    process = subprocess.Popen(
        fx.argv("--quiet", "--consent=deny", "bash", "-c", WORK, "soak", fx.outside),
        cwd=fx.project, env=fx.env(), text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL)
    try:
        process.stdin.write("go\n")
        for number in range(3):
            round_of(process, number)
        before = calm(process.pid)
        check(before[0] >= 2, f"asker and performer are there: {before}")
        for number in range(3, ROUNDS):
            round_of(process, number)
        after = state(process.pid)

        def settled():
            nonlocal after  # threads that waited for somebody end, sooner or later
            after = state(process.pid)
            return (after[0] <= before[0] and after[1] <= before[1] and after[2] <= before[2] + 2
                    and after[3] <= before[3] * 1.25 + 256)

        wait(settled, lambda: f"processes, threads, descriptors, kB of memory: {before}, then {after}")
    finally:
        process.stdin.close()
        status = process.wait(PATIENCE)
    equal(status, 0)
    equal(victim.read_text(), "kept")
    check(not (fx.outside / "refused").exists() and not (fx.outside / "refused2").exists())
    equal(sorted(os.listdir(fx.project)), [], "nothing is left behind")


run_all()
