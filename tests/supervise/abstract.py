"""Abstract names of unix sockets: a run has none that programs outside look for."""

import os
import shutil
import subprocess

from tap import check, contains, equal, run_all, skip, test

BIND = """if 1:
    import os, socket, sys
    server = socket.socket(socket.AF_UNIX)
    server.bind(os.fsencode("\\0" + sys.argv[1]) if sys.argv[1] != "-" else b"")
    server.listen()
    name = server.getsockname()
    socket.socket(socket.AF_UNIX).connect(name)
"""
NUMBER = os.getpid()
LOOKED_FOR = (f"/tmp/.X11-unix/X{NUMBER}", f"/tmp/.ICE-unix/{NUMBER}", f"/tmp/dbus-{NUMBER}", f"/{NUMBER}", "/")
OTHERS = (f"sandbash-{NUMBER}", f"tmp/{NUMBER}", f".{NUMBER}/x", "-")


def bind(name):
    return ("python3", "-c", BIND, name)


@test("P2 a run gets no abstract name that is a file's", variants=("full", "flat"))
def looked_for(fx):
    for name in LOOKED_FOR:
        if name != "/":  # whoever runs this at the same time has it for a moment
            equal(fx.run(*bind(name)).status, 0, f"control {name}")
        result = fx.sandbash(*bind(name))
        check(result.status != 0, name)
        contains(result.stderr, "PermissionError", name)
    for name in OTHERS:
        result = fx.sandbash(*bind(name))
        equal(result.status, 0, f"neighbour {name}: {result.stderr}")


@test("P2 with a network of its own a run has all names: nobody outside sees them", variants=("full",))
def own_network(fx):
    for name in LOOKED_FOR + OTHERS:
        result = fx.sandbash("--network=off", *bind(name))
        equal(result.status, 0, f"{name}: {result.stderr}")


SERVE = """if 1:
    import os, socket, sys
    os.mkdir(os.path.dirname(sys.argv[1]))
    server = socket.socket(socket.AF_UNIX)
    server.bind(sys.argv[1])
    server.listen()
    socket.socket(socket.AF_UNIX).connect(sys.argv[1])
"""


@test("in its own /tmp a run has the files of such services", variants=("full",))
def files(fx):
    for place in ("/tmp/.X11-unix", "/tmp/.ICE-unix"):
        result = fx.sandbash("python3", "-c", SERVE, f"{place}/{NUMBER}")
        equal(result.status, 0, f"{place}: {result.stderr}")
        check(not os.path.lexists(f"{place}/{NUMBER}"), "nothing of it is outside")


@test("an X server inside is found by clients inside, and not outside", variants=("full",))
def x_server(fx):
    if not shutil.which("Xvfb") or not shutil.which("xdpyinfo"):
        skip("no X server here")
    display = f":{1000 + NUMBER % 50000}"
    run = fx.start(*fx.argv("sh", "-c", f"""
        Xvfb {display} >/dev/null 2>&1 & server=$!
        until DISPLAY={display} xdpyinfo >/dev/null 2>&1; do kill -0 $server || exit 1; sleep 0.1; done
        echo up; read end"""), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    equal(run.stdout.readline(), "up\n")
    check(fx.run("xdpyinfo", env={"DISPLAY": display}).status != 0, "reached from outside")
    run.stdin.close()
    equal(run.wait(), 1)


run_all()
