"""confined.py - the server's own Landlock domain: a mistake in path code reaches nothing outside.

build/tests/mcp-ungated is the server with path code that allows everything (gate_nothing.c).
"""

import os
import time

import mcp
from mcp import Server
from tap import check, contains, equal, run_all, test, wait


class Astray(Server):
    """The server that allows everything."""

    def __init__(self, fx, *args, **how):
        # a home that changes under it would have the keeper do what is changed, whose judgement is as ever
        (fx.home / ".local/state/sandbash").mkdir(parents=True, exist_ok=True)
        kept, mcp.BIN = mcp.BIN, fx.tool("mcp-ungated")
        try:
            super().__init__(fx, *args, **how)
        finally:
            mcp.BIN = kept


CHANGES = (("write_file", {"path": "{}/new", "content": "x"}),
           ("write_file", {"path": "{}/file", "content": "x"}),
           ("edit_file", {"path": "{}/file", "edits": [{"oldText": "text", "newText": "x"}]}),
           ("create_directory", {"path": "{}/dir"}),
           ("delete_file", {"path": "{}/file"}),
           ("move_file", {"source": "{}/file", "destination": "{}/moved"}),
           ("move_file", {"source": "own", "destination": "{}/moved"}),
           ("move_file", {"source": "{}/file", "destination": "mine"}),
           ("copy_file", {"source": "own", "destination": "{}/copy"}))
READS = (("read_text_file", {"path": "{}/file"}), ("list_directory", {"path": "{}"}),
         ("directory_tree", {"path": "{}"}), ("copy_file", {"source": "{}/file", "destination": "c"}),
         ("grep", {"pattern": "text", "path": "{}"}))


def at(arguments, place):
    return {key: value.replace("{}", str(place)) if isinstance(value, str) else value
            for key, value in arguments.items()}


def layout(fx, place):
    fx.write(place / "file", "text")
    fx.write("own", "own")


@test("the control: where the gate is the only lock, everything is possible in the project")
def control(fx):
    layout(fx, fx.project / "in")
    server = Astray(fx, "--deny=in")
    for tool, arguments in READS[:3]:
        server.data(tool, **at(arguments, fx.project / "in"))
    server.data("write_file", **at(CHANGES[1][1], fx.project / "in"))
    equal(fx.read("in/file"), "x")


@test("without its gate the server changes nothing outside")
def changes(fx):
    layout(fx, fx.outside)
    before = fx.snapshot(fx.outside)
    server = Astray(fx)
    for tool, arguments in CHANGES:
        error = server.failure(tool, **at(arguments, fx.outside))
        check(error["code"] in ("PERMISSION", "SYSTEM", "NOT_FOUND"), f"{tool}: {error}")
        equal(fx.snapshot(fx.outside), before, tool)
    for tool, arguments in CHANGES[:4]:
        fx.write("file", "text")
        server.data(tool, **at(arguments, fx.project))


@test("without its gate the server reads nothing outside")
def reads(fx):
    layout(fx, fx.outside)
    server = Astray(fx)
    for tool, arguments in READS:
        result = server.call(tool, **at(arguments, fx.outside))
        lacking = "text" not in str(result.get("structuredContent", {}).get("files", ""))
        check(result.get("isError") or (tool == "grep" and lacking), f"{tool}: {result}")
    check(not fx.exists("c"))


@test("in read-only mode the domain has no right to change the project either")
def read_only(fx):
    fx.write("file", "text")
    server = Astray(fx, "--mode=read-only")
    equal(server.data("read_text_file", path="file")["content"], "text")
    server.failure("write_file", path="file", content="x")
    equal(fx.read("file"), "text")


@test("without its gate a worker's server changes what the worker may change, and nothing else")
def worker(fx):
    fx.write("sandbash.yaml", "sandbox: {zones: {input: {mode: ro}, output: {mode: rw}}}\n")
    fx.write("one.worker", "---\nname: one\nsandbox:\n  zones:\n    - {name: input}\n    - {name: output, mode: rw}\n---\n")
    fx.write(".sandbox/input/file", "text")
    server = Astray(fx, "--worker=one.worker")
    equal(server.data("read_text_file", path="/input/file")["content"], "text")
    server.data("write_file", path="/output/new", content="x")  # nobody is asked: there is no gate
    equal(fx.read(".sandbox/output/new"), "x")
    for tool, arguments in CHANGES[:6]:
        equal(server.failure(tool, **at(arguments, "/input"))["code"], "PERMISSION", tool)
    server.failure("move_file", source="/output/new", destination="/input/moved")
    equal(os.listdir(fx.path(".sandbox/input")), ["file"])
    equal(fx.read(".sandbox/input/file"), "text")


@test("without Landlock the server does not start, unless told to go on")
def no_landlock(fx):
    done = fx.sandbash("--mcp", without="landlock", input="")
    equal((done.status, done.stdout), (125, ""))
    contains(done.stderr, "Landlock")
    done = fx.sandbash("--mcp", "--best-effort", without="landlock", input="")
    equal(done.status, 0, done.stderr)


@test("the server's process cannot be looked into, and its keeper is on no pipe of the client")
def processes(fx):
    server = Server(fx)
    server.data("list_allowed_directories")
    children = open(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read().split()
    equal(len(children), 1)
    if os.getuid() != 0:
        try:
            open(f"/proc/{server.process.pid}/mem", "rb").close()
            raise AssertionError("its memory can be read")
        except PermissionError:
            pass
    # it lets go of them in its own time
    wait(lambda: {os.readlink(f"/proc/{children[0]}/fd/{number}") for number in (0, 1, 2)} == {"/dev/null"},
         "it holds the client's pipes")


run_all()
