"""Names in the real /tmp at which programs outside look for a service: none is planted there."""

import os
import shutil
import subprocess
from pathlib import Path

from tap import check, contains, equal, run_all, test

NAME = f"/tmp/tmux-{4_000_000 + os.getpid()}"  # nobody's number
OTHER = f"/tmp/sandbash-other-{os.getpid()}"
WAYS = {
    "a directory": f"mkdir {NAME}",
    "one that gets the name": f"mkdir {OTHER} && mv {OTHER} {NAME}",
    "a link": f"ln -s . {NAME}",
    "a file": f": >{NAME}",
    "a socket": f"exec python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"{NAME}\")'",
}


def clean():
    for path in (NAME, OTHER):
        if os.path.islink(path) or not os.path.isdir(path):
            Path(path).unlink(missing_ok=True)
        else:
            shutil.rmtree(path)


def try_all(fx, *flags, **options):
    for what, way in WAYS.items():
        clean()
        try:
            equal(subprocess.run(["sh", "-c", way], check=False).returncode, 0, f"{what}, outside")
            check(os.path.lexists(NAME), f"control: {what}")
            clean()
            result = fx.sandbash(*flags, "sh", "-c", way, **options)
            check(result.status != 0, f"{what} was made")
            check(not os.path.lexists(NAME), f"{what} is there")
            contains(result.stderr, "programs outside would take what is there for a service", what)
        finally:
            clean()
    result = fx.sandbash(*flags, "sh", "-c", f"mkdir {OTHER} && : >{OTHER}/x && rm -r {OTHER}", **options)
    equal(result.status, 0, "neighbour: any other name")


@test("P2 where /tmp is everybody's, no service is planted in it", variants=("flat",))
def without_namespaces(fx):
    try_all(fx)
    result = fx.sandbash(f"--allow-write={NAME}", "sh", "-c", f"mkdir {NAME} && rmdir {NAME}")
    equal(result.status, 0, "a rule that means it")


@test("P2 nor with --shared-tmp, as --explain says; in a run's own /tmp any name is fine", variants=("full",))
def shared(fx):
    try_all(fx, "--shared-tmp")
    contains(fx.sandbash("--shared-tmp", f"--explain={NAME}").stdout, "ask", "--explain")
    for what, way in WAYS.items():
        equal(fx.sandbash("sh", "-c", way).status, 0, f"its own: {what}")
    check(not os.path.lexists(NAME), "nothing of it is outside")


run_all()
