"""services.py - over MCP, too, a yes to files is none to a service that listens among them."""

import os
import socket

from mcp import Server
from tap import check, contains, equal, lacks, run_all, test

CONNECT = "import os, socket; os.chdir({place!r}); socket.socket(socket.AF_UNIX).connect('s')"


def listen(place):
    place.mkdir()
    service = socket.socket(socket.AF_UNIX)
    directory = os.open(place, os.O_PATH)
    service.bind(f"/proc/self/fd/{directory}/s")
    os.close(directory)
    service.listen(8)
    service.setblocking(False)
    return service


def reached(service):
    try:
        service.accept()[0].close()
    except BlockingIOError:
        return False
    return True


def command(fx, place):
    (fx.project / "connect.py").write_text(CONNECT.format(place=str(place)))
    return "python3 connect.py"


def deny(params):
    return "deny"


@test("an answer for a directory covers its files, and asks about its sockets")
def directory(fx):
    place = fx.outside / "out"
    service = listen(place)
    words = command(fx, place)
    equal(fx.run("sh", "-c", words).status, 0)
    check(reached(service), "control")
    server = Server(fx)
    server.answers = lambda params: "directory"
    equal(server.data("run_command", command=f"echo x > {place}/a")["exitCode"], 0)
    server.answers = deny
    equal(server.data("run_command", command=f"echo x > {place}/b")["exitCode"], 0, "neighbour")
    asked = len(server.asked)
    check(server.data("run_command", command=words)["exitCode"] != 0)
    check(not reached(service), "it was reached")
    equal(len(server.asked), asked + 1, "a question")
    question = server.asked[-1]["params"]
    contains(question["message"], "connect to")
    lacks(str(question["requestedSchema"]), "directory")
    equal(server.data("what_may_i_do", path=f"{place}/s")["decisions"]["modify"]["verdict"], "deny")


@test("so do writableRoots, and a yes to the question is one to the service")
def roots(fx):
    place = fx.outside / "out"
    service = listen(place)
    words = command(fx, place)
    server = Server(fx)
    server.answers = lambda params: "once" if "connect to" not in params["message"] else "deny"
    run = {"command": words, "writableRoots": [str(place)]}
    check(server.data("run_command", **run)["exitCode"] != 0)
    check(not reached(service), "it was reached")
    server = Server(fx)
    server.answers = lambda params: "once"
    equal(server.data("run_command", **run)["exitCode"], 0)
    check(reached(service), "somebody said yes")


run_all()
