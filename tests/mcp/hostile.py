"""hostile.py - a model, a project and a command that want the server stuck, or the person misled."""

import os
import time

from mcp import Server, accept
from tap import BIN, check, contains, equal, run_all, test

QUIET = 0.45  # longer than an asker wants silence before a key


def begin_call(server, name, more=None, **arguments):
    return server.begin("tools/call", {"name": name, "arguments": arguments, **(more or {})})


def parked(server, name, **arguments):
    """A call of the modern era up to its question: its result."""
    result = server.wait(begin_call(server, name, **arguments))["result"]
    equal(result.get("resultType"), "input_required", str(result))
    return result


def resumed(server, result, name, responses, **arguments):
    """The same call with answers: the id of the request."""
    return begin_call(server, name, {"inputResponses": responses,
                                     "requestState": result["requestState"]}, **arguments)


@test("what a grant covered may be a long list: the keeper tells of all of it and goes on")
def long_report(fx):
    server = Server(fx)
    server.answers = lambda params: "directory"
    names = [fx.write(fx.outside / f"file-{number}.txt", "x") for number in range(20)]
    server.data("read_text_file", path=str(names[0]))
    data = server.data("read_multiple_files", paths=[str(name) for name in names] * 200)
    equal(data["content"].count("file-19.txt:"), 200)
    equal(len(server.asked), 1)
    server.answers = lambda params: "once"
    server.data("write_file", path=str(fx.outside / "after.txt"), content="the keeper lives")


@test("a NUL in what would be written is shown, and does not spoil the question")
def nul_content(fx):
    server = Server(fx)
    server.answers = lambda params: "once"
    server.data("write_file", path=str(fx.outside / "nul.txt"), content="be\0fore")
    equal(len(server.asked), 1)
    contains(server.asked[0]["params"]["message"], "be\\x00fore")
    equal(fx.read(fx.outside / "nul.txt"), "be\0fore")


def children(process):
    with open(f"/proc/{process}/task/{process}/children") as file:
        return [int(word) for word in file.read().split()]


def searching(keeper):
    """Processes in which the keeper does a call."""
    try:
        return [child for child in children(keeper)
                if open(f"/proc/{child}/stat").read().rsplit(")", 1)[1].split()[0] != "Z"]
    except OSError:
        return []


@test("a search that the keeper does ends when it is cancelled, and when the client goes")
def cancelled_search(fx):
    first = fx.write(fx.outside / "first.txt", ("x" * 99 + "\n") * 80000)
    for number in range(800):
        os.link(first, fx.outside / f"{number}.txt")
    server = Server(fx)
    server.answers = lambda params: "once"
    keeper = children(server.process.pid)[0]
    slow = {"path": str(fx.outside), "pattern": "(x|y)+[zw]", "timeoutMs": 120000}
    call = begin_call(server, "grep", **slow)
    server.wait_until(lambda: server.asked and searching(keeper), "the search")
    time.sleep(0.5)
    check(searching(keeper), "the search is too quick for this test")
    server.notify("notifications/cancelled", {"requestId": call})
    server.wait_until(lambda: not searching(keeper), "its end", 2)
    begin_call(server, "grep", **slow)
    server.wait_until(lambda: searching(keeper), "the second search")
    second = searching(keeper)[0]
    server.process.kill()
    server.wait_until(lambda: not os.path.exists(f"/proc/{second}"), "the end of the second", 2)


run_all()
