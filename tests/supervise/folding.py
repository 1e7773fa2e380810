"""F8: where the case of names does not matter, no other case leads past a rule or a guarded name.

On a file system of the test's own (tests/lib/folding_fs.py), in a mount namespace of its own.
"""

import ctypes
import os
import subprocess
import sys

from attack import works
from tap import PATIENCE, TOP, check, contains, equal, run_all, skip, test

CLONE_NEWNS = 0x20000
RULES = "deny ~/project/secret\nread ~/project/kept\nask ~/project/asked\ndeny ~/project/**/*.Key\n"
# What the rules are about by other names, and what each act leaves when it is let through.
OTHERS = ("echo x >SECRET", "mkdir Secret", "echo x >KEPT", "echo x >Asked", "echo x >sub/new.KEY", "echo x >sub/A.key",
          "mv fine Asked", "ln -s fine KEPT")
GUARDED = ("echo x >.ENVRC", "mkdir -p .VSCODE && echo '{}' >.VSCODE/tasks.json", "echo x >.Bashrc")
NEIGHBOURS = ("echo x >Secrets", "echo x >sub/keys", "mkdir Kept.d", "echo x >FINE", "rm fine")


def refused(fx, words):
    result = fx.sandbash("--consent=deny", "sh", "-c", words)
    check(result.status != 0, f"{words} worked")
    contains(result.stderr, "Permission denied")


def fill(fx):
    fx.config(RULES)
    fx.run("sh", "-c", "mkdir -p sub && echo fine >fine")


@test("where case matters, another case is another name")
def plain(fx):
    fill(fx)
    for words in ("echo x >secret", "echo x >kept", "echo x >asked", "echo x >sub/a.Key"):
        refused(fx, words)
    for words in OTHERS[:6]:
        works(fx.sandbash("--consent=deny", "sh", "-c", f"rm -rf SECRET Secret; {words}"), words)


def mount(fx):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS) != 0:
        skip(f"no mount namespace: {os.strerror(ctypes.get_errno())}")
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    server = subprocess.Popen([sys.executable, TOP / "tests" / "lib" / "folding_fs.py", fx.project], stdout=subprocess.PIPE,
                              cwd="/")
    equal(server.stdout.readline(), b"ready\n")
    return server


def folding(fx):
    if not os.path.exists("/dev/fuse"):
        skip("no /dev/fuse")
    server = mount(fx)
    try:
        fill(fx)
        equal(fx.run("cat", "FINE").stdout, "fine\n")
        for words in OTHERS + GUARDED:
            refused(fx, words)
        equal((sorted(os.listdir(fx.project)), os.listdir(fx.project / ".vscode")), ([".VSCODE", "fine", "sub"], []))
        for words in NEIGHBOURS:
            works(fx.sandbash("--consent=deny", "sh", "-c", words), words)
        for words in OTHERS[:1] + GUARDED:
            works(fx.run("sh", "-c", words), f"control {words}")
        equal(fx.run("cat", "secret").stdout, "x\n")
        check(fx.sandbash("cat", "sEcret").status != 0, "what is denied cannot be read by another name")
    finally:
        subprocess.run(["umount", "-l", fx.project], check=True)
        server.wait(timeout=PATIENCE)


if os.getuid() == 0:
    test("where it does not, no other case leads past a rule or a guarded name", ("full", "flat"))(folding)

run_all()
