"""full.py - a full disk keeps the old file (F6): nothing is lost, nothing is torn, nothing is left.

On a tmpfs of a few pages, in a mount namespace of the test's own.
"""

import os
import subprocess

from tap import TOOLS, check, contains, equal, run_all, skip, test

ACT = TOOLS / "files-act"
OLD = "old " * 3000 + "\n"
LONG = "x" * 100_000  # more than the tmpfs holds; an argument may be no longer than 128 KB


def on_small_disk(fx, script, *words):
    """Run a shell script in a directory with 32 KB of disk; what it prints, or a skip."""
    place = fx.dir / "disk"
    place.mkdir(exist_ok=True)
    names = ["unshare", "--mount"] + ([] if os.getuid() == 0 else ["--map-root-user"])
    if subprocess.run([*names, "true"], capture_output=True, check=False).returncode != 0:
        skip("no mount namespace can be made here")
    return subprocess.run([*names, "sh", "-c",
                           'mount -t tmpfs -o size=32k tmpfs "$1" && cd "$1" && ' + script, "sh",
                           str(place), str(ACT), *words],
                          capture_output=True, text=True, timeout=120, check=False)


def refused(done):
    check("NO_SPACE" in done.stderr or "No space" in done.stderr, done.stderr)


@test("F6 a full disk keeps the file that was to be replaced")
def replacing(fx):
    done = on_small_disk(fx, 'printf %s "$3" >f; "$2" "$PWD" write f "$4"; cat f; ls -A >&2', OLD, LONG)
    equal(done.stdout, OLD)
    refused(done)
    equal(done.stderr.splitlines()[-1], "f", "something is left behind")


@test("F6 a full disk keeps the file that was to be edited")
def editing(fx):
    done = on_small_disk(fx, 'printf %s "$3" >f; "$2" "$PWD" edit f "$4"; cat f; ls -A >&2',
                         OLD.replace("old", "odd") + "old", LONG)
    equal(done.stdout, OLD.replace("old", "odd") + "old")
    refused(done)
    equal(done.stderr.splitlines()[-1], "f", "something is left behind")


@test("F6 on a full disk no new file is begun, and a short one still fits")
def making(fx):
    done = on_small_disk(fx, '"$2" "$PWD" write f "$3"; ls -A; "$2" "$PWD" write f short && cat f', LONG)
    equal(done.stdout, "short")
    refused(done)
    contains(done.stderr, "f")


run_all()
