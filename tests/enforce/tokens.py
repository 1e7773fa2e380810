"""Services on loopback that run code for whoever has a token: the tokens are hidden (the network is on).

The real services, where they are installed: X11 over TCP, and Emacs' server.
"""

import os
import shutil
import subprocess

from attack import works
from tap import check, contains, equal, run_all, skip, test, wait


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            skip(f"{program} is not installed")


def wait_for(state, what):
    wait(state, f"waited for {what}")


class X11:
    """An X server that listens on TCP and wants a cookie, as with ssh -X."""

    def __init__(self, fx):
        need("Xvfb", "xauth", "xdpyinfo")
        self.cookies = fx.home / ".Xauthority"
        wanted = fx.dir / "server.auth"
        reader, writer = os.pipe()
        cookie = "0123456789abcdef0123456789abcdef"
        # The number is the server's choice, so the cookie is filed for it afterwards.
        for number in ("0", "1"):
            subprocess.run(["xauth", "-q", "-f", wanted, "add", f":{number}", ".", cookie],
                           check=True, stderr=subprocess.DEVNULL)
        self.server = subprocess.Popen(["Xvfb", "-displayfd", str(writer), "-listen", "tcp",
                                        "-nolisten", "unix", "-nolisten", "local", "-nolock",
                                        "-auth", wanted, "-screen", "0", "64x64x8"],
                                       pass_fds=[writer], stderr=subprocess.DEVNULL)
        os.close(writer)
        with os.fdopen(reader) as told:
            self.number = told.readline().strip()
        check(self.number, "the X server has started")
        subprocess.run(["xauth", "-q", "-f", self.cookies, "add", f"127.0.0.1:{self.number}", ".",
                        cookie], check=True, stderr=subprocess.DEVNULL)
        self.display = f"127.0.0.1:{self.number}"

    def done(self):
        self.server.terminate()
        self.server.wait()


@test("X11 over TCP: the cookie is hidden, so no window can be typed into", variants=("full", "flat"))
def x11(fx):
    server = X11(fx)
    try:
        for env in ({"DISPLAY": server.display},
                    {"DISPLAY": server.display, "XAUTHORITY": server.cookies}):
            control = fx.run("xdpyinfo", env=env)
            works(control, "control")
            contains(control.stdout, "version number")
            result = fx.sandbash("xdpyinfo", env=env)
            check(result.status != 0, "no connection without the cookie")
            contains(result.stderr, "uthoriz")
            works(fx.sandbash(f"--allow-read={server.cookies}", "xdpyinfo", env=env), "neighbour")
    finally:
        server.done()


@test("X11 over TCP: nor is the cookie readable where XAUTHORITY puts it", variants=("full", "flat"))
def x11_elsewhere(fx):
    server = X11(fx)
    try:
        moved = fx.home / "cookies" / "x"
        moved.parent.mkdir()
        server.cookies.rename(moved)
        env = {"DISPLAY": server.display, "XAUTHORITY": moved}
        works(fx.run("xdpyinfo", env=env), "control")
        check(fx.sandbash("xdpyinfo", env=env).status != 0)
        works(fx.sandbash(f"--allow-read={moved}", "xdpyinfo", env=env), "neighbour")
    finally:
        server.done()


@test("Emacs' server on TCP: its key is hidden, so nothing is evaluated", variants=("full", "flat"))
def emacs(fx):
    need("emacs", "emacsclient")
    (fx.home / ".emacs.d").mkdir()
    env = {"XDG_CONFIG_HOME": fx.home / ".config", "TERM": "dumb"}
    key = fx.home / ".emacs.d/server/server"
    evaluate = ["emacsclient", f"--server-file={key}", "--eval", "(+ 40 2)"]
    start = "(progn (setq server-use-tcp t server-host \"127.0.0.1\") (server-start))"
    server = subprocess.Popen(["emacs", "-Q", "--fg-daemon", "--eval", start],
                              env={**os.environ, "HOME": str(fx.home), "TMPDIR": str(fx.dir)},
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        # control; it takes a while to start
        wait_for(lambda: fx.run(*evaluate, env=env).stdout.strip() == "42", "Emacs' server")
        result = fx.sandbash(*evaluate, env=env)
        check(result.status != 0 and "42" not in result.stdout, "nothing was evaluated")
        opened = fx.sandbash(f"--allow-read={key.parent}", *evaluate, env=env)
        equal((opened.status, opened.stdout.strip()), (0, "42"), "neighbour")
    finally:
        server.terminate()
        server.wait()


run_all()
