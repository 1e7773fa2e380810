"""forger.py - a hostile Python program under sandbash, with somebody at the terminal."""

from person import Person

HEADER = """
import ctypes, errno, fcntl, os, signal, socket, struct, subprocess, sys, termios, threading, time
libc = ctypes.CDLL(None, use_errno=True)
outside, project = sys.argv[1], os.getcwd()
def say(*words): print(*words, flush=True)
def attempt(name, act):
    try: say('DONE', name, act())
    except OSError as e: say('REFUSED', name, errno.errorcode.get(e.errno, e.errno))
def wait_for(name):
    for _ in range(12000):
        if os.path.exists(name): return
        time.sleep(0.01)
    raise SystemExit('nobody made ' + name)
def later(act):
    t = threading.Thread(target=act, daemon=True)
    t.start()
    return t
"""


def inside(fx, program, *words, flags=(), **where):
    """Run a Python program under sandbash, with somebody at the terminal."""
    fx.write("attack.py", HEADER + program)
    return Person(fx, "python3", "-u", "attack.py", fx.outside, *words, flags=flags, **where)


def go(fx, name="go"):
    """Let the program inside go on."""
    fx.write(name, "")
