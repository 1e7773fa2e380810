"""marked.py - the processes of a run, by a word among their arguments that nobody else has.

    mark = new_mark()
    run = fx.start(*fx.argv("sh", "-c", SCRIPT, mark))
    running(mark)                  their numbers; who is dead and not waited for has no arguments
    gone(mark, "after a kill")     wait until there is none
"""

import itertools
import os
import signal
import time
from pathlib import Path

from tap import PATIENCE, check

_numbers = itertools.count()


def new_mark():
    return f"mark-{os.getpid()}-{next(_numbers)}"


def running(mark):
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
        except OSError:
            pass
    return found


def gone(mark, message):
    deadline = time.monotonic() + PATIENCE
    while left := running(mark):
        if time.monotonic() > deadline:
            for pid in left:
                os.kill(pid, signal.SIGKILL)
            check(False, f"{message}: {len(left)} processes live on")
        time.sleep(0.01)
