"""services.py - over MCP, too, a yes to files is none to a service that listens among them."""

import os
import shutil
import socket
import stat

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


def holds(fx, server, place, service, what):
    """No file tool takes its name, or brings it to where a command would reach it."""
    here = fx.project / "here"
    for tool, args in (("move_file", {"source": f"{place}/s", "destination": "here"}),
                       ("move_file", {"source": f"{place}/s", "destination": f"{place}/t"}),
                       ("move_file", {"source": str(place), "destination": "here"}),
                       ("copy_file", {"source": f"{place}/s", "destination": "here"}),
                       ("delete_file", {"path": f"{place}/s"}),
                       ("delete_file", {"path": str(place), "recursive": True})):
        reply = server.call(tool, **args)
        check(reply.get("isError"), f"{what}, {tool} {args}: {reply}")
        check(not here.exists() and stat.S_ISSOCK((place / "s").lstat().st_mode), f"{what}, {tool} {args}")
    equal(fx.run("sh", "-c", command(fx, place)).status, 0)
    check(reached(service), f"{what}: it is where it was")


def neighbours(fx, server, place):
    (place / "d").mkdir()
    (place / "d/f").write_text("x")
    os.mkfifo(place / "p")
    for source, name in ((f"{place}/d", "moved"), (f"{place}/p", "pipe"), ("moved/f", f"{place}/f")):
        server.data("move_file", source=source, destination=name)
    server.data("delete_file", path=f"{place}/f")


@test("no file tool moves a service, or takes its place: by an answer for the directory, or a rule")
def tools(fx):
    place = fx.outside / "out"
    service = listen(place)
    here = fx.project / "here"
    os.rename(place / "s", here)
    equal(fx.run("python3", "-c", "import socket; socket.socket(socket.AF_UNIX).connect('here')").status, 0)
    check(reached(service), "control: under another name it is the same service")
    os.rename(here, place / "s")
    server = Server(fx)
    server.answers = lambda params: "directory"
    server.data("request_access", path=str(place), kind="directory", reason="why",
                operations=["read", "create", "modify", "delete"])
    server.answers = deny
    neighbours(fx, server, place)
    equal(len(server.asked), 1, "neighbours: nothing more is asked")
    holds(fx, server, place, service, "an answer")
    shutil.rmtree(fx.project / "moved")
    (fx.project / "pipe").unlink()
    server = Server(fx, f"--allow-write={place}")
    server.answers = deny
    neighbours(fx, server, place)
    equal(len(server.asked), 0, "neighbours: nothing is asked")
    holds(fx, server, place, service, "a rule")


@test("nor does one bring what gives its owner's rights to a directory that was answered")
def bits(fx):
    place = fx.outside / "out"
    place.mkdir()
    held = fx.project / "held"

    def prepare():
        shutil.rmtree(held, ignore_errors=True)
        held.mkdir()
        for name in ("alone", "other", "plain"):
            (held / name).write_text("x")
        (held / "d").mkdir()
        (held / "d/inside").write_text("x")
        for name in ("alone", "other", "d/inside"):
            os.chmod(held / name, 0o6755)

    prepare()
    for name in ("alone", "d"):
        os.rename(held / name, place / name)
    check((place / "d/inside").stat().st_mode & (place / "alone").stat().st_mode & 0o6000, "control")
    shutil.rmtree(place)
    place.mkdir()
    prepare()
    server = Server(fx)
    server.answers = lambda params: "directory"
    server.data("request_access", path=str(place), kind="directory", reason="why",
                operations=["read", "create", "modify", "delete"])
    server.answers = deny
    server.data("move_file", source="held/plain", destination=f"{place}/plain")
    server.data("copy_file", source="held/alone", destination=f"{place}/copy")
    equal((place / "copy").stat().st_mode & 0o6000, 0, "neighbour: a copy has none")
    equal(len(server.asked), 1, "neighbours: nothing more is asked")
    for name in ("alone", "d"):
        check(server.call("move_file", source=f"held/{name}", destination=f"{place}/{name}").get("isError"), name)
        contains(server.asked[-1]["params"]["message"], "whoever runs it may get its owner's rights")
        lacks(str(server.asked[-1]["params"]["requestedSchema"]), "directory")
        check(not (place / name).exists(), name)
    server.answers = lambda params: "once"
    server.data("move_file", source="held/other", destination=f"{place}/other")
    check((place / "other").exists(), "somebody said yes to it")


run_all()
